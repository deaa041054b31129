"""Functions of a space as arrays that can be added: vectors of weights, or a kernel's two.

Over rows f is the vector of weights (dim,). Of a kernel it is the coefficients and the scores
beneath them, (2, n), so that only a new function takes a product with the kernel matrix.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..spaces.rows import Space


class Functions:
    """The functions of a space of rows."""

    def __init__(self, space: Space):
        self.space = space

    @property
    def zero(self) -> np.ndarray:
        """The function zero."""
        return np.zeros(self.space.dim)

    def of(self, w: np.ndarray) -> np.ndarray:
        """Return the function of the coordinates w."""
        return w

    def weights(self, f: np.ndarray) -> np.ndarray:
        """Return the coordinates of a function."""
        return f

    def inner(self, one: np.ndarray, other: np.ndarray) -> float:
        """Return the inner product of two functions."""
        return float(one @ other)

    def products(self, stack: np.ndarray, f: np.ndarray) -> np.ndarray:
        """Return the inner products of a stack of functions with f."""
        return stack @ f

    def scores(self, f: np.ndarray) -> np.ndarray:
        """Return f at every row."""
        return self.space.scores(f)

    def pull(self, c: np.ndarray) -> np.ndarray:
        """Return the function sum_i c_i k_i."""
        return self.space.pull(c)


class KernelFunctions(Functions):
    """The functions of a kernel matrix; `product` returns K c."""

    def __init__(self, space: Space, product: Callable[[np.ndarray], np.ndarray]):
        super().__init__(space)
        self.product = product

    @property
    def zero(self) -> np.ndarray:
        """The function zero."""
        return np.zeros((2, self.space.n))

    def of(self, w: np.ndarray) -> np.ndarray:
        """Return the function of the coefficients w."""
        return self.pull(w) if w.any() else self.zero

    def weights(self, f: np.ndarray) -> np.ndarray:
        """Return the coefficients of a function."""
        return f[0].copy()

    def inner(self, one: np.ndarray, other: np.ndarray) -> float:
        """Return the inner product of two functions."""
        return float(one[0] @ other[1])

    def products(self, stack: np.ndarray, f: np.ndarray) -> np.ndarray:
        """Return the inner products of a stack of functions with f."""
        return stack[:, 1] @ f[0]

    def scores(self, f: np.ndarray) -> np.ndarray:
        """Return f at every row."""
        return f[1]

    def pull(self, c: np.ndarray) -> np.ndarray:
        """Return the function sum_i c_i k_i."""
        return np.stack([c, self.product(c)])


def functions_of(space: Space, tol: float, stop: Callable[[], bool]) -> Functions:
    """Return the functions of a space; products with a kernel made anew end where `stop` says."""
    if space.gram is not None:
        return KernelFunctions(space, space.gram.product(tol, stop))
    return Functions(space)
