"""The library's own solver as fits that `bench` runs next to others: `ours:hinge` and so on."""

from __future__ import annotations

from functools import partial

import numpy as np

from ...exact.api.solve import solve


def _solved(loss: str, X: np.ndarray, y: np.ndarray, lam: float, tol: float = 1e-9) -> np.ndarray:
    """Return the weights that `solve` finds."""
    return solve(X, y, lam, loss=loss, tol=tol).w


hinge = partial(_solved, "hinge")
squared_hinge = partial(_solved, "squared_hinge")
square = partial(_solved, "square")
logistic = partial(_solved, "logistic")
smooth_hinge = partial(_solved, "smooth_hinge")
exponential = partial(_solved, "exponential")
