"""What the data make of cuts: their functions, inner products and scores, each made once.

A cut has row weights c; its function is sum_i c_i k_i. Over rows it is kept as g = X'c, and the
scores of a combination take one product X w. Over a kernel it is kept as c and K c: then the scores
of every combination, and all inner products, are sums of what is kept, one product K c a cut.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ...problem.problem import Problem
from ...spaces.gram import Gram, StreamedGram
from ...spaces.rows import Rows

FIRST_ROOM = 64  # Number of cuts that there is room for at first; the room doubles when it is full.


@dataclass(frozen=True, eq=False)
class Place:
    """A function: coordinates w (dim,), scores (n,) and squared norm."""

    w: np.ndarray
    scores: np.ndarray
    norm2: float


class Images(Protocol):
    """The functions of the cuts; number 0 is the zero function, for U >= 0."""

    def add(self, c: np.ndarray) -> np.ndarray:
        """Keep the function of the row weights c (n,); return its products with all, its own
        last."""
        ...

    def keep(self, index: np.ndarray) -> None:
        """Forget all cuts but these."""
        ...

    def combined(self, weights: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the coordinates of the sum of weights (k,) times the functions, and |f|^2."""
        ...

    def place(self, w: np.ndarray, norm2: float, weights: np.ndarray) -> Place:
        """Return what `combined` found for these weights, with its scores."""
        ...

    def inner(self, one: Place, other: Place) -> float:
        """Return the inner product of two functions."""
        ...


class Stack:
    """Vectors of one size as rows of a matrix that grows, the first one zero."""

    def __init__(self, size: int):
        self._held, self.count = np.zeros((FIRST_ROOM, size)), 1

    @property
    def matrix(self) -> np.ndarray:
        """The vectors: (count, size)."""
        return self._held[: self.count]

    def add(self, vector: np.ndarray) -> None:
        """Append a vector."""
        if self.count == len(self._held):
            self._held = np.concatenate([self._held, np.zeros_like(self._held)])
        self._held[self.count] = vector
        self.count += 1

    def keep(self, index: np.ndarray) -> None:
        """Keep the vectors of these ascending numbers."""
        self._held[: index.size] = self._held[index]
        self.count = index.size

    def combined(self, weights: np.ndarray) -> np.ndarray:
        """Return the sum of weights times vectors: (size,)."""
        used = np.flatnonzero(weights)
        # Copying more than half of the vectors costs more than a product with all of them.
        if 2 * used.size > self.count:
            return weights @ self.matrix
        return weights[used] @ self._held[used]


class RowImages:
    """Cuts over rows, or any space that states scores, pull, norm2 and inner."""

    def __init__(self, problem: Problem):
        self.space, self.pulls = problem.space, Stack(problem.space.dim)

    def add(self, c: np.ndarray) -> np.ndarray:
        """See `Images.add`."""
        pull = self.space.pull(c)
        self.pulls.add(pull)
        if isinstance(self.space, Rows):
            return self.pulls.matrix @ pull
        return np.array([self.space.inner(pull, other) for other in self.pulls.matrix])

    def keep(self, index: np.ndarray) -> None:
        """See `Images.keep`."""
        self.pulls.keep(index)

    def combined(self, weights: np.ndarray) -> tuple[np.ndarray, float]:
        """See `Images.combined`."""
        w = self.pulls.combined(weights)
        return w, self.space.norm2(w)

    def place(self, w: np.ndarray, norm2: float, weights: np.ndarray) -> Place:
        """See `Images.place`."""
        return Place(w, self.space.scores(w), norm2)

    def inner(self, one: Place, other: Place) -> float:
        """See `Images.inner`."""
        return self.space.inner(one.w, other.w)


class KernelImages:
    """Cuts over a kernel: coordinates are coefficients, and products with K are kept."""

    def __init__(self, n: int, product: Callable[[np.ndarray], np.ndarray]):
        self.product, self.pulls, self.scores = product, Stack(n), Stack(n)

    def add(self, c: np.ndarray) -> np.ndarray:
        """See `Images.add`."""
        self.pulls.add(c)
        self.scores.add(self.product(c))
        # <f_k, f> = c_k'K c, and K c_k is kept for every cut.
        return self.scores.matrix @ c

    def keep(self, index: np.ndarray) -> None:
        """See `Images.keep`."""
        self.pulls.keep(index)
        self.scores.keep(index)

    def combined(self, weights: np.ndarray) -> tuple[np.ndarray, float]:
        """See `Images.combined`."""
        w = self.pulls.combined(weights)
        return w, max(float(w @ self.scores.combined(weights)), 0.0)

    def place(self, w: np.ndarray, norm2: float, weights: np.ndarray) -> Place:
        """See `Images.place`."""
        return Place(w, self.scores.combined(weights), norm2)

    def inner(self, one: Place, other: Place) -> float:
        """See `Images.inner`."""
        return float(one.w @ other.scores)


def images_of(problem: Problem, tol: float, stop: Callable[[], bool]) -> Images:
    """Return where the cuts of a problem are kept."""
    space = problem.space
    if isinstance(space, Gram):
        return KernelImages(space.n, space.K.__matmul__)
    if isinstance(space, StreamedGram):
        return KernelImages(space.n, space.tiles(tol, stop).product)
    return RowImages(problem)
