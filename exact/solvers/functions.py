"""Functions of a space as arrays that can be added: vectors of weights, or a kernel's two.

Over rows f is the vector of weights (dim,). Of a kernel it is the coefficients and the scores
beneath them, (2, n), so that only a new function takes a product with the kernel matrix.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..spaces.rows import Space


class Functions:
    """The functions of a space; a kernel's product ends where `stop` says."""

    def __init__(self, space: Space, tol: float, stop: Callable[[], bool]):
        self.space, self.stop = space, stop
        self.product = None if space.gram is None else space.gram.product(tol, stop)  # c to K c
        self.zero = np.zeros(space.dim if space.gram is None else (2, space.n))

    def of(self, w: np.ndarray) -> np.ndarray:
        """Return the function of the coordinates w."""
        if self.product is None:
            return w
        return self.pull(w) if w.any() else self.zero

    def weights(self, f: np.ndarray) -> np.ndarray:
        """Return the coordinates of a function."""
        return f if self.product is None else f[0].copy()

    def products(self, stack: np.ndarray, f: np.ndarray) -> np.ndarray:
        """Return the inner products of a stack of functions with f."""
        return stack @ f if self.product is None else stack[:, 1] @ f[0]

    def inner(self, one: np.ndarray, other: np.ndarray) -> float:
        """Return the inner product of two functions."""
        return float(one @ other if self.product is None else one[0] @ other[1])

    def scores(self, f: np.ndarray) -> np.ndarray:
        """Return f at every row."""
        return self.space.scores(f) if self.product is None else f[1]

    def pull(self, c: np.ndarray) -> np.ndarray:
        """Return the function sum_i c_i k_i."""
        return self.space.pull(c) if self.product is None else np.stack([c, self.product(c)])
