"""The library's own solver as a fit that `bench` runs beside others."""

from __future__ import annotations

import numpy as np

from ...exact.api.solve import solve


def hinge(X: np.ndarray, y: np.ndarray, lam: float, tol: float = 1e-9) -> np.ndarray:
    """Return the weights that `solve` finds for the hinge."""
    return solve(X, y, lam, tol=tol).w


def squared_hinge(X: np.ndarray, y: np.ndarray, lam: float, tol: float = 1e-9) -> np.ndarray:
    """Return the weights that `solve` finds for the squared hinge."""
    return solve(X, y, lam, loss="squared_hinge", tol=tol).w


def square(X: np.ndarray, y: np.ndarray, lam: float, tol: float = 1e-9) -> np.ndarray:
    """Return the weights that `solve` finds for the square loss."""
    return solve(X, y, lam, loss="square", tol=tol).w


def logistic(X: np.ndarray, y: np.ndarray, lam: float, tol: float = 1e-9) -> np.ndarray:
    """Return the weights that `solve` finds for the logistic loss."""
    return solve(X, y, lam, loss="logistic", tol=tol).w


def smooth_hinge(X: np.ndarray, y: np.ndarray, lam: float, tol: float = 1e-9) -> np.ndarray:
    """Return the weights that `solve` finds for the smooth hinge."""
    return solve(X, y, lam, loss="smooth_hinge", tol=tol).w


def exponential(X: np.ndarray, y: np.ndarray, lam: float, tol: float = 1e-9) -> np.ndarray:
    """Return the weights that `solve` finds for the exponential loss."""
    return solve(X, y, lam, loss="exponential", tol=tol).w
