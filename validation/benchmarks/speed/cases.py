"""The objectives that peers are compared on, and rows held out from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..exact.hard_regimes import plain, sparse
from ..problems.scale_data import plane

HELD_OUT = 20_000
"""Rows held out to judge the AUC on."""

LEAST_ROWS = 300
"""Rows that a shrunk problem keeps."""


@dataclass(frozen=True)
class Effort:
    """How much is measured.

    Attributes
    ----------
    shrink : int
        One row of so many is taken.
    repeats : int
        The better of so many runs counts.
    longest : float
        CPU seconds after which a rival is not run to a finer tolerance.
    """

    shrink: int = 1
    repeats: int = 2
    longest: float = 6.0

    def rows(self, n: int) -> int:
        """Return the number of rows that is taken of n."""
        return max(n // self.shrink, min(n, LEAST_ROWS))


@dataclass(frozen=True)
class Case:
    """One set of rows; `draw(n)` returns n of them with their labels.

    Attributes
    ----------
    name : str
    n : int
    draw : callable
    lam : float
    losses : tuple of str
    """

    name: str
    n: int
    draw: Callable[[int], tuple[Any, np.ndarray]]
    lam: float
    losses: tuple[str, ...]

    def called(self, effort: Effort) -> str:
        """Return the name, with the share of the rows where it is not all."""
        return self.name + (f" / {effort.shrink}" if effort.shrink > 1 else "")

    def split(self, effort: Effort) -> tuple[Any, np.ndarray, Any, np.ndarray]:
        """Return training rows and labels, and those held out."""
        n, held = effort.rows(self.n), effort.rows(HELD_OUT)
        X, y = self.draw(n + held)
        return X[:n], y[:n], X[n:], y[n:]


def wide_sparse(n: int) -> tuple[Any, np.ndarray]:
    """Return sparse rows in as many columns as make 50,000 of 120,000 rows."""
    return sparse(n, round(n / 2.4))


def cases() -> tuple[Case, ...]:
    """Return the sets of the peers' table."""
    hinge, both = ("hinge",), ("hinge", "squared_hinge")

    def linear(d: int) -> Callable[[int], tuple[Any, np.ndarray]]:
        return lambda n: plain(n, d)

    return (
        Case("1e3 x 2", 1000, plane, 1e-2, both),
        Case("1e4 x 2", 10_000, plane, 1e-2, both),
        Case("1e5 x 2", 100_000, plane, 1e-2, hinge),
        Case("1e5 x 20", 100_000, linear(20), 1e-2, hinge),
        Case("1e4 x 300", 10_000, linear(300), 1e-2, both),
        Case("1e5 x 300", 100_000, linear(300), 1e-2, hinge),
        Case("sparse 1e5 x 5e4", 100_000, wide_sparse, 1e-4, both),
    )
