"""What the tables of ScalingUp share: the penalty's grid, and the incomplete fit with its time."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....approx.drawn_pairs import draw_pairs
from ....approx.nystrom import nystrom_map
from ....approx.subgradient import Adamax
from ....exact.api.cross_validation import cross_validated_path
from ....exact.api.solve import choose_solver
from ....exact.certificate.certificate import Certificate, full_certificate
from ....exact.losses.registry import get_loss
from ....exact.pairs.all_pairs import AllPairs
from ....exact.pairs.auc import auc
from ....exact.problem.problem import Problem, Ridge, pair_problem
from ....exact.spaces.blocks import StreamedRows
from ....exact.spaces.kernels import get_kernel
from ....exact.spaces.rows import Rows

PAPER = "ScalingUp"

STEP = 0.05  # First step of Adamax, for features of order one.

# The optimiser and the stopping rule of the authors' program, to the letter.
AUTHORS = Adamax(variant="scalar-norm", tol=0, keep="last", max_iter=50_000)


@dataclass(frozen=True, eq=False)
class Mapped:
    """Rows in features that are made when they are read, a block at a time: never all there."""

    X: np.ndarray
    transform: Callable[[np.ndarray], np.ndarray]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return self.X.shape[0], self.transform(self.X[:1]).shape[1]

    def __getitem__(self, rows: slice) -> np.ndarray:
        return self.transform(self.X[rows])


@dataclass(frozen=True, eq=False)
class Fit:
    """Weights of one fit, the seconds it took, and its certificate over all pairs."""

    w: np.ndarray
    seconds: float
    certificate: Certificate

    def auc(self, X: Any, positive: np.ndarray) -> float:
        """Return the AUC in per cent of these rows."""
        return auc_percent(X @ self.w, positive)

    def excess(self, best: Fit) -> float | None:
        """Return how far the objective is above the optimum, relatively: a proved upper bound."""
        low = max(best.certificate.dual, self.certificate.dual)
        return (self.certificate.primal - low) / low if low > 0 else None


PATHS = (
    "In each fold one path of falling lam is followed, each solution certified and started from "
    "the one before; every point of the grid is run."
)


def auc_percent(scores: Any, positive: np.ndarray) -> float:
    """Return the AUC in per cent."""
    return 100 * auc(np.asarray(scores), positive)


def hinge(X: Any, positive: np.ndarray, lam: float) -> Problem:
    """Return the problem over all pairs."""
    space = StreamedRows(X) if isinstance(X, Mapped) else Rows(X)
    return pair_problem(space, positive, AllPairs(), get_loss("hinge"), Ridge(lam))


def full_fit(problem: Problem, tol: float = 1e-6) -> Fit:
    """Return the certified optimum over all pairs."""
    start = time.process_time()
    solution = choose_solver(problem, "auto", tol, None).solve(problem)
    seconds = time.process_time() - start
    return Fit(solution.w, seconds, solution.certificate)


def adamax(max_iter: int) -> Adamax:
    """Return the optimiser of drawn pairs."""
    return Adamax(step=STEP, tol=1e-3, max_iter=max_iter)


def incomplete_fit(problem: Problem, seed: int, solver: Adamax) -> Fit:
    """Draw as many pairs as there are rows and descend. [ScalingUp, eq. (7), eq. (8)]

    The certificate, over all pairs, is made after the clock has stopped.
    """
    start = time.process_time()
    drawn = problem.with_pairs(draw_pairs(problem.pairs.positive, problem.n, seed))
    w = solver.solve(drawn).w
    seconds = time.process_time() - start
    return Fit(w, seconds, full_certificate(problem, w))


def loops(
    X: np.ndarray, positive: np.ndarray, lam: float, seed: int, steps: int
) -> dict[str, tuple[np.ndarray, float, int]]:
    """Return weights, seconds and bytes of one bare loop of Adamax on drawn pairs and on all.

    The full model of the paper sums its pairs one by one. Both take so many steps.
    """
    plus, minus = np.flatnonzero(positive), np.flatnonzero(~positive)
    drawn = draw_pairs(positive, positive.size, seed)

    def few(scores: np.ndarray) -> np.ndarray:
        active = scores[drawn.i] - scores[drawn.j] < 1
        pull = np.bincount(drawn.i, active, scores.size) - np.bincount(drawn.j, active, scores.size)
        return pull / drawn.i.size

    def every(scores: np.ndarray) -> np.ndarray:
        active, pull = scores[plus][:, None] - scores[minus] < 1, np.zeros(scores.size)
        pull[plus], pull[minus] = active.sum(axis=1), -active.sum(axis=0)
        return pull / active.size

    def descended(pull: Callable[[np.ndarray], np.ndarray], steps: int) -> np.ndarray:
        solver, w = Adamax(step=STEP), np.zeros(X.shape[1])
        scaled = solver.scaling(w.size)
        for _ in range(steps):
            w = w - solver.step * scaled(lam * w - pull(X @ w) @ X)
        return w

    found = {}
    for name, pull in (("drawn", few), ("listed", every)):
        start = time.process_time()
        w = descended(pull, steps)
        seconds = time.process_time() - start
        tracemalloc.start()
        descended(pull, 1)
        found[name] = w, seconds, tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return found


def chosen_lam(
    X: np.ndarray, positive: np.ndarray, grid: list[float], folds: int, seed: int
) -> tuple[float, float, float]:
    """Return the lam of the highest held-out AUC along the exact path, the seconds, that AUC."""
    start = time.process_time()
    path = cross_validated_path(
        X, positive.astype(int), grid, cv=folds, seed=seed % 2**31, tol=1e-4
    )
    return path.lam_of("best"), time.process_time() - start, float(path.mean_auc.max())


def chosen_width(
    X: np.ndarray,
    positive: np.ndarray,
    gammas: Iterable[float],
    budget: Mapping[str, Any],
    landmarks: np.ndarray,
    seed: int,
) -> tuple[float, float]:
    """Return gamma and lam of the highest held-out AUC, in Nyström features of some rows."""
    best = (-np.inf, 0.0, 0.0)
    for gamma in gammas:
        rows = nystrom_map(get_kernel("rbf", gamma, X.shape[1]), landmarks).transform(X)
        grid, folds = budget["grid of lam"], budget["folds"]
        lam, _, value = chosen_lam(rows, positive, grid, folds, seed)
        best = max(best, (value, gamma, lam))
    return best[1], best[2]
