"""Functions as vectors with an inner product: of rows their weights, of a kernel two vectors.

A function of a kernel is kept as its coefficients and its scores K w beside them, as two rows of an
array. Sums of such arrays are functions again, so that K is needed only for what is new: one
product for each gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from ...problem.problem import Problem
from ...spaces.gram import Gram, StreamedGram
from ...spaces.rows import Space


class Functions(Protocol):
    """How the functions of a space are kept."""

    def of(self, w: np.ndarray) -> np.ndarray:
        """Return the function of the coordinates w (dim,)."""
        ...

    def pull(self, c: np.ndarray) -> np.ndarray:
        """Return the function sum_i c_i k_i."""
        ...

    def inner(self, one: np.ndarray, other: np.ndarray) -> float:
        """Return the inner product."""
        ...

    def scores(self, f: np.ndarray) -> np.ndarray:
        """Return f at every row: (n,)."""
        ...

    def weights(self, f: np.ndarray) -> np.ndarray:
        """Return the coordinates (dim,)."""
        ...


class RowFunctions:
    """Functions of rows: their weights."""

    def __init__(self, space: Space):
        self.space = space

    def of(self, w: np.ndarray) -> np.ndarray:
        """See `Functions.of`."""
        return w

    def pull(self, c: np.ndarray) -> np.ndarray:
        """See `Functions.pull`."""
        return self.space.pull(c)

    def scores(self, f: np.ndarray) -> np.ndarray:
        """See `Functions.scores`."""
        return self.space.scores(f)

    def inner(self, one: np.ndarray, other: np.ndarray) -> float:
        """See `Functions.inner`."""
        return float(one @ other)

    def weights(self, f: np.ndarray) -> np.ndarray:
        """See `Functions.weights`."""
        return f


class KernelFunctions:
    """Functions of a kernel: coefficients and scores, (2, n).

    Parameters
    ----------
    product : callable
        Returns K c for c (n,).
    """

    def __init__(self, product: Callable[[np.ndarray], np.ndarray]):
        self.product = product

    def of(self, w: np.ndarray) -> np.ndarray:
        """See `Functions.of`."""
        return self.pull(w) if w.any() else np.zeros((2, w.size))

    def pull(self, c: np.ndarray) -> np.ndarray:
        """See `Functions.pull`."""
        return np.stack([c, self.product(c)])

    def inner(self, one: np.ndarray, other: np.ndarray) -> float:
        """See `Functions.inner`."""
        return float(one[0] @ other[1])

    def scores(self, f: np.ndarray) -> np.ndarray:
        """See `Functions.scores`."""
        return f[1]

    def weights(self, f: np.ndarray) -> np.ndarray:
        """See `Functions.weights`."""
        return f[0].copy()


def functions_of(problem: Problem, tol: float, stop: Callable[[], bool]) -> Functions:
    """Return how the functions of a problem are kept.

    Parameters
    ----------
    problem : Problem
    tol : float
        Relative gap to reach: a loose one lets kernel values be held in single precision.
    stop : callable
        Polled while kernel values are made; return True to stop (for example, at the time limit).
    """
    space = problem.space
    if isinstance(space, Gram):
        return KernelFunctions(space.K.__matmul__)
    if isinstance(space, StreamedGram):
        return KernelFunctions(space.tiles(tol, stop).product)
    return RowFunctions(space)
