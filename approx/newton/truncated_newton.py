"""Truncated Newton for the squared hinge over any number of pairs.

[Nonlinear, Algorithm 2], after Chapelle and Keerthi's primal RankSVM. In this library's scaling,

    F(w) = lam/2 |w|^2 + sum_ij c_ij max(0, z_ij)^2,    z_ij = 1 - w'(x_i - x_j),
    gradient  g = lam w - pull(c),                      c the marginals of alpha = 2 max(0, z),
    Hessian   H = lam I + 2 X'L X,                      L the Laplacian of the active pairs,

each step solves H s = -g by conjugate gradients, more exactly nearer the optimum. A
gradient costs one sort, a product with H running sums in the order already known: O(n d + n
log n) and O(n d) for n rows, for any number of pairs.

Differs from the paper:

1. The printed gradient has C where the derivative of its (5) has 2 C (E50 in `docs/errata.md`).
2. The printed steps are full. F is piecewise quadratic, and full steps can cycle for ever (E52):
   here a length is searched at which F is lower and nearly flat along the step.
3. The printed shapes do not conform (E51).
4. It stops at a gap, not at a criterion left open: at the slope's own dual point the gap is
   |g|^2 / (2 lam), exactly. It also stops where only rounding is left.
5. Conjugate gradients are preconditioned by the H of some sampled pairs, once that pays, and many
   rows are first solved on a few. Neither changes what is solved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from ...exact.certificate.solution import Callback, Recorder, Solution, Solver, Status
from ...exact.errors import InputError, TooLargeError
from ...exact.estimators.base import (
    AUCClassifier,
    QueryClassifier,
    TrainingRows,
    keep_solution,
    shortfall_of,
)
from ...exact.formulation.formulation import formulate
from ...exact.formulation.request import Request
from ...exact.losses.registry import SQUARED_HINGE
from ...exact.pairs.all_pairs import AllPairs, PairList
from ...exact.pairs.ordered_pairs import as_codes
from ...exact.problem.problem import Problem, Ridge
from ...exact.tools.arrays import check_count, check_number
from .newton_equation import (
    SLACK,
    Conditioning,
    NewtonLine,
    NewtonPoint,
    direction,
    sample_problem,
)

PATIENCE = 10  # steps in a row that clearly lower neither F nor the gradient end a run
FURTHER = 1e-5  # share of the tolerance to reach: the missing digits cost one step at most


@dataclass(frozen=True)
class TruncatedNewton(Solver):
    """Solve a squared-hinge problem by truncated Newton steps. [Nonlinear, Algorithm 2]

    Parameters
    ----------
    tol : float
        Relative gap to reach, > 0.
    max_iter : int
        Most points evaluated, the start included.
    forcing : float
        In (0, 1): a step's equation is solved to |H s + g| <= min(forcing, sqrt(|g| / |g_0|)) |g|,
        g_0 being the gradient at w = 0. This makes the convergence superlinear.
    max_cg : int
        Most products with H for one step.
    line_search : bool
        False for full steps, which can cycle. Then the last point is returned, and the history
        shows the objective as it comes and goes.
    paper_literal : bool
        Full steps, and the gradient as printed, with half its second part: it converges to the
        optimum for C / 2, that is 2 lam. It stops by its own gradient; the certificate shows it.
    max_time : float, optional
        Seconds.
    gradient_tol : float
        Norm of the gradient to reach as well, >= 0; 0 for none. Gaps below about 1e-13 of F cannot
        be seen in F, but gradients still can.
    drawn : int
        Pairs a coordinate from which the preconditioner is made, >= 0; 0 for none. It is made once
        the products without it have taken as long as making it takes.
    """

    tol: float = 1e-9
    max_iter: int = 200
    forcing: float = 0.1
    max_cg: int = 1000
    line_search: bool = True
    paper_literal: bool = False
    max_time: float | None = None
    gradient_tol: float = 0.0
    drawn: int = 20

    name: ClassVar[str] = "truncated-newton"

    def __post_init__(self) -> None:
        check_number("tol", self.tol)
        super().__post_init__()
        check_number("forcing", self.forcing, 0.0, 1.0)
        check_count("max_cg", self.max_cg)
        check_number("gradient_tol", self.gradient_tol, closed="low")
        check_count("drawn", self.drawn, 0)

    def check(self, problem: Problem) -> None:
        """Raise `InputError` if the loss is not the squared hinge or the space has no rows."""
        if problem.loss != SQUARED_HINGE:
            raise InputError(f"truncated Newton solves the squared hinge, not {problem.loss.name}")
        if problem.space.held is None:
            raise InputError("truncated Newton needs rows: take Nyström features of the kernel")

    def start(self, problem: Problem, recorder: Recorder) -> None:
        """Start from `w0`, from the solution of a sample of many rows, or from zero."""
        if recorder.w0 is not None:
            return
        recorder.w0 = np.zeros(problem.space.dim)
        sampled = None if self._full_steps else sample_problem(problem, self.tol)
        if sampled is not None:
            sample, tol = sampled
            inner, part = replace(self, tol=tol, gradient_tol=0.0), recorder.part()
            inner.start(sample, part)
            inner.run(sample, part)
            recorder.w0 = part.best_w

    def run(self, problem: Problem, recorder: Recorder) -> Status | None:
        """Take Newton steps from `recorder.w0`."""
        if self._full_steps:
            return self._run_as_printed(problem, recorder)
        return self._search(Conditioning(self.drawn), problem, recorder)

    def path(self, problem: Problem, lams: Sequence[float]) -> Iterator[Solution]:
        """Yield the solutions at falling lam, each started from the one before.

        Parameters
        ----------
        problem : Problem
            Its own lam is not used.
        lams : sequence of float
            > 0; taken from the largest to the smallest.
        """
        w, conditioning = None, Conditioning(self.drawn)

        def run(problem: Problem, recorder: Recorder) -> Status | None:
            if self._full_steps:
                return self._run_as_printed(problem, recorder)
            return self._search(conditioning, problem, recorder)

        for lam in sorted((float(lam) for lam in lams), reverse=True):
            solution = self.solve(replace(problem, penalty=Ridge(lam)), w, run=run)
            w = solution.w
            yield solution

    @property
    def _full_steps(self) -> bool:
        return self.paper_literal or not self.line_search

    def _search(
        self, conditioning: Conditioning, problem: Problem, recorder: Recorder
    ) -> Status | None:
        """Take steps of searched lengths; their equations share what conditions them."""
        assert recorder.w0 is not None
        now, least, idle = NewtonPoint.at(problem, recorder.w0), np.inf, 0
        first = steepness(problem)
        while True:
            now.note(recorder)
            if self._near(now, FURTHER) or now.size <= now.noise:
                return None
            if idle >= PATIENCE:
                return Status.STALLED
            if len(recorder.history) == self.max_iter:
                return Status.ITERATION_LIMIT
            if recorder.out_of_time:
                return Status.TIME_LIMIT
            step = conditioning.step(now, self._rtol(now.size, first), self.max_cg)
            found, least = NewtonLine(now, step).search(), min(least, now.size)
            if found is None:
                return Status.STALLED
            clearly = found.primal < now.primal * (1 - SLACK) or found.size < least
            idle = 0 if clearly else idle + 1
            now = found

    def _run_as_printed(self, problem: Problem, recorder: Recorder) -> Status | None:
        """Take full steps, even if F rises; the last point counts."""
        assert recorder.w0 is not None
        w, first = recorder.w0, steepness(problem)
        for n_iter in range(1, self.max_iter + 1):
            now = NewtonPoint.at(problem, w)
            recorder.best_primal = np.inf
            now.note(recorder)
            if self.paper_literal:
                now = _PrintedPoint(problem, w, now.scores, now.curved)
            if self._near(now, 0.1) or now.size == 0.0:
                return None
            if n_iter < self.max_iter and recorder.out_of_time:
                return Status.TIME_LIMIT
            w = w + direction(now, self._rtol(now.size, first), self.max_cg)[0]
        return Status.ITERATION_LIMIT

    def _near(self, now: NewtonPoint, share: float) -> bool:
        """Whether the gap is within this share of the tolerance, and the gradient as asked."""
        reached = self.gradient_tol == 0 or now.size <= self.gradient_tol
        return reached and now.gap <= share * self.tol * now.primal

    def _rtol(self, size: float, first: float) -> float:
        return min(self.forcing, float(np.sqrt(size / first)) if first > 0 else self.forcing)


class _PrintedPoint(NewtonPoint):
    """A point whose gradient has C where it should have 2 C."""

    @cached_property
    def gradient(self) -> np.ndarray:
        """lam w - pull(c) / 2."""
        return self.problem.lam * self.w - self.problem.space.pull(self.curved.c) / 2


def steepness(problem: Problem) -> float:
    """Return the norm of the gradient at w = 0: twice that of the mean difference of the pairs."""
    mass = problem.pairs.row_mass()
    signed = np.where(problem.pairs.positive, mass, -mass)
    return 2 * float(np.linalg.norm(problem.space.pull(signed)))


MOST_PAIRS = 20_000_000  # the most pairs within queries that are written down


@dataclass(eq=False, repr=False)
class NewtonClassifier(AUCClassifier):
    """Base of the classifiers trained by `TruncatedNewton`."""

    lam: float = 1e-3
    _: KW_ONLY
    tol: float = 1e-9
    max_iter: int = 200

    def _check_parameters(self) -> None:
        self._solver()

    def _shortfall(self) -> str | None:
        return shortfall_of(self.solution_, self.tol)

    def _solver(self) -> TruncatedNewton:
        Ridge(self.lam)
        return TruncatedNewton(self.tol, self.max_iter, max_time=self.max_time)

    def _solve(self, features: TrainingRows, callback: Callback | None) -> np.ndarray:
        """Solve the problem over the rows of features, keep the solution, and return w."""
        rows, positive, weight, queries = features
        pairs = AllPairs(weight) if queries is None else query_list(queries, positive, weight)
        request = Request.of(self.lam, SQUARED_HINGE, pairs=pairs, positive=True)
        task = formulate(rows, positive, request)
        found = self._solver().solve(task.work, callback=callback)
        keep_solution(self, task.judge(found, self.tol))
        return self.solution_.w


@dataclass(eq=False, repr=False)
class RankSVM(QueryClassifier, NewtonClassifier):
    """The linear ranking SVM of two classes, solved in the primal.

    [Nonlinear, eq. (5)] with p = 2 and the rows themselves for features: minimise over w

        lam/2 |w|^2 + mean over all positive-negative pairs of max(0, 1 - w'(x_i - x_j))^2.

    With `fit(X, y, qid=...)` the pairs are those within a query. Standardise the features first.
    Penalties with an l1 or a sign are in `ROCSVM(loss="squared_hinge", l1=..., sign=...)`. The
    paper's sum over the pairs with a factor C means lam = 1 / (C n_pos n_neg).

    Parameters
    ----------
    lam : float
        > 0, weight of the penalty against the mean loss.
    tol : float
        Relative gap to reach, > 0.
    max_iter : int
        As in `TruncatedNewton`.
    threshold, max_time
        As in `ROCSVM`, and so are the attributes.
    """

    def _train(self, data: TrainingRows, callback: Callback | None) -> None:
        self._set_weights(self._solve(data, callback), data.rows, data.positive, data.weight)


def query_list(qid: np.ndarray, positive: np.ndarray, weight: np.ndarray | None = None) -> PairList:
    """Return the pairs of a positive and a negative row of one query, written down."""
    codes = as_codes(qid, positive.size)
    order = np.lexsort((~positive, codes))
    upper = np.bincount(codes, weights=positive).astype(np.int64)
    rows = np.bincount(codes)
    start, lower = np.cumsum(rows) - rows, rows - upper
    total = int(sum((upper * lower).tolist()))
    if total == 0:
        raise InputError("no pair: no query has rows of both classes")
    if total > MOST_PAIRS:
        raise TooLargeError(
            f"{total} pairs within queries are more than {MOST_PAIRS}, which are written down: "
            "take ROCSVM(loss='squared_hinge'), which needs no list"
        )
    i, j, both = [], [], upper * lower > 0
    for first, p, q in zip(start[both], upper[both], lower[both], strict=True):
        i.append(np.repeat(order[first : first + p], q))
        j.append(np.tile(order[first + p : first + p + q], p))
    i, j = np.concatenate(i), np.concatenate(j)
    return PairList(i, j, None if weight is None else weight[i] * weight[j])
