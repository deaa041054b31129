"""The cuts of one run: planes below the loss, their best combination, and its dual point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ...pairs.all_pairs import PairList
from ...problem.minorant import Minorant
from ...problem.problem import Problem
from ..qp_backends import BACKENDS, solve_qp
from .images import Images, Place
from .segment import Evaluated
from .simplex import best_weights

ACTIVE_SET = "active-set"  # The name of our own solver of the master problem.

IDLE = 30  # A plane that no master has used for so many cuts is forgotten.

# A plane of at least the first weight is in use. Weights below the second are left out.
USED, COUNTED = 1e-9, 1e-14

# The master problem is solved to this share of the gap: the next cut changes it anyway.
MASTER_SHARE = 1e-3

# The master problem of a QP solver is divided by F, or by this where F is zero.
LEAST_PRIMAL = 1e-300

# Row weights of cuts (1 GB) beyond which those that are out of use go at once.
KEPT_NUMBERS = 2**27


@dataclass(frozen=True, eq=False)
class Cut:
    """The plane U(s) >= mass - c's, made from the slopes at some scores."""

    c: np.ndarray
    mass: float
    alpha: np.ndarray | None

    @classmethod
    def at(cls, problem: Problem, point: Evaluated) -> Cut:
        """Return the cut at an evaluated point."""
        pairs, alpha = problem.pairs, None
        if isinstance(pairs, PairList):
            alpha = problem.loss.alpha(pairs.margins(point.place.scores)) > 0
        return cls(point.sums.c, point.sums.conjugate, alpha)


class Bundle:
    """Cuts, their Gram matrix and the weights of their best combination."""

    def __init__(self, problem: Problem, images: Images, backend: str):
        self.problem, self.images, self.backend = problem, images, backend
        self.cuts: list[Cut | None] = [None]  # the plane U >= 0 needs no numbers
        self.masses, self.gram = np.zeros(1), np.zeros((1, 1))
        self.weights, self.idle = np.ones(1), np.zeros(1, dtype=int)

    def add(self, cut: Cut) -> None:
        """Add a plane."""
        size = self.masses.size
        gram = np.empty((size + 1, size + 1))
        gram[:size, :size] = self.gram
        # Divided by lam, so that half the quadratic form in the weights is their penalty.
        gram[size] = gram[:, size] = self.images.add(cut.c) / self.problem.lam
        self.gram = gram
        self.cuts.append(cut)
        self.masses = np.append(self.masses, cut.mass)
        self.weights, self.idle = np.append(self.weights, 0.0), np.append(self.idle, 0)

    def combine(self, gap: float, primal: float) -> tuple[Place, float]:
        """Find the best combination; return the function that belongs to it, and its dual value."""
        if self.backend == ACTIVE_SET:
            tol = MASTER_SHARE * min(gap, primal)
            self.weights = best_weights(self.gram, self.masses, self.weights, tol)
        else:
            self.weights = self._by_qp(primal)
        self.idle = np.where(self.weights > USED, 0, self.idle + 1)
        lam = self.problem.lam
        w, norm2 = self.images.combined(self.weights / lam)
        place = self.images.place(w, norm2, self.weights / lam)
        return place, float(self.masses @ self.weights) - lam / 2 * norm2

    def _by_qp(self, primal: float) -> np.ndarray:
        """Return the best weights by a QP solver; the problem is scaled by F."""
        size, unit = self.masses.size - 1, max(primal, LEAST_PRIMAL)
        A = sp.vstack([sp.identity(size), np.ones((1, size))], format="csc")
        low, high = np.zeros(size + 1), np.full(size + 1, np.inf)
        low[-1], high[-1] = -np.inf, 1.0
        P, q = sp.csc_matrix(self.gram[1:, 1:] / unit), -self.masses[1:] / unit
        answer = solve_qp(P, q, A, low, high, self.backend, BACKENDS[self.backend].finest)
        x = np.maximum(np.nan_to_num(answer.x), 0.0)
        # Any point of the simplex proves a bound, so the solver's errors are simply cut off.
        x /= max(x.sum(), 1.0)
        return np.concatenate([[max(1.0 - x.sum(), 0.0)], x])

    @property
    def full(self) -> bool:
        """Whether the cuts take more memory than they should."""
        return self.masses.size * self.problem.n > KEPT_NUMBERS

    def drop_idle(self) -> None:
        """Forget the planes that no master has used for a while; where memory is full, at once."""
        stays = self.idle < (1 if self.full else IDLE)
        stays[0] = True
        # Without a plane that has weight the weights would no longer add up to one.
        stays |= self.weights > 0
        kept = np.flatnonzero(stays)
        self.images.keep(kept)
        self.cuts = [self.cuts[k] for k in kept]
        self.masses, self.gram = self.masses[kept], self.gram[np.ix_(kept, kept)]
        self.weights, self.idle = self.weights[kept], self.idle[kept]

    def witness_maker(self) -> Callable[[], Minorant]:
        """Return a function that makes the dual point of the present weights."""
        problem = self.problem
        # Taken now, while weights and cuts belong together. Most dual points are overtaken by the
        # next one, and are never added up.
        parts = [
            (float(x), cut)
            for x, cut in zip(self.weights, self.cuts, strict=True)
            if cut is not None and x > COUNTED
        ]
        return lambda: combined_witness(problem, parts)


def combined_witness(problem: Problem, parts: list[tuple[float, Cut]]) -> Minorant:
    """Return the dual point that is a combination of cuts."""
    if isinstance(problem.pairs, PairList):
        alpha = np.zeros(problem.pairs.i.size)
        for x, cut in parts:
            assert cut.alpha is not None
            alpha += x * cut.alpha
        return Minorant.from_alpha(problem, alpha)
    c = np.zeros(problem.n)
    for x, cut in parts:
        c += x * cut.c
    u, v = c[problem.pairs.positive], -c[~problem.pairs.positive]
    return Minorant.from_marginals(problem, np.maximum(u, 0.0), np.maximum(v, 0.0))
