"""Stochastic subgradient steps on random pairs: NSAUC, and NSVMSGD2 without its average.

[Nonlinear, Algorithm 3], an averaging variant of Bordes, Bottou and Gallinari's SVMSGD2. Step t
draws one positive and one negative row, x_t = x_i - x_j, and

    w <- w + 1[w'x_t < 1] x_t / (lam (t + t0)),
    every rskip steps    w <- (1 - rskip / (t + t0)) w,
    every askip steps    mean <- mean + (w - mean) / q,    q counting the averaged points,

so that a step costs one pair's nonzeros, and the O(d) of the penalty and the average are rare.
What it minimises is lam/2 |w|^2 + the mean hinge over all pairs. It comes near that optimum only
once lam times the number of steps is well above one, see `docs/online-methods.md`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...exact.certificate.certificate import Witness
from ...exact.certificate.from_scores import WIDTHS
from ...exact.certificate.solution import Callback, Recorder, Solution, Status
from ...exact.certificate.solver import Solver
from ...exact.errors import InputError
from ...exact.losses.registry import HINGE
from ...exact.pairs.all_pairs import PairList
from ...exact.problem.problem import Problem
from ...exact.spaces.rows import Rows
from ...exact.tools.checks import check_choice, check_count, check_number
from ..drawn_pairs.descent import DIVERGED
from ..drawn_pairs.draw_pairs import by_weight
from .pair_steps import Schedule, Walk

T0_RULES = ("scaled", "inverse", "bottou")
AVERAGES = ("all", "half", "none")

CHUNK = 2**18
"""Most steps between two looks at the clock."""

LOOKS = 50
"""Most evaluations of the objective over all pairs in a run; each costs about an epoch."""


def starting_time(rule: str | float, lam: float, size2: float = 1.0) -> float:
    """Return t0, which holds the first steps back. [Nonlinear, Section 4]

    The paper leaves t0 open ("set experimentally").

    Parameters
    ----------
    rule : {"scaled", "inverse", "bottou"} or float
        "inverse" is 1 / lam: the first step has length one, right for rows of length one.
        "scaled" is size2 / lam, the same for rows of any length: multiplying the features by s
        and lam by s^2 then changes nothing but units. "bottou" is lam^(-3/4), what the public
        code of SVMSGD2 comes to; for lam far below one the first steps are then long. A number
        is taken as it is.
    lam : float
        > 0.
    size2 : float
        >= 0, the mean squared distance of a row from the mean; taken as 1 where it is zero.

    Raises
    ------
    InputError
        For another word, or a number that is not > 0.
    """
    if isinstance(rule, str):
        check_choice("t0 (other than a number > 0)", rule, T0_RULES)
        if rule == "bottou":
            return float(lam**-0.75)
        return (size2 if rule == "scaled" and size2 > 0 else 1.0) / lam
    return check_number("t0", rule)


@dataclass(frozen=True)
class PairSGD(Solver):
    """NSAUC, and NSVMSGD2 with ``average="none"``. [Nonlinear, Algorithm 3]

    Differs from the paper: 1. The step follows the hinge's derivative, not the hinge itself (E54
    in `docs/errata.md`). 2. The average is the mean of the points (E55). 3. t0 has a rule. 4. A
    run too short for one averaged point is refused (E56).

    Parameters
    ----------
    max_epochs : int
        Each is n steps.
    average : {"all", "half", "none"}
        The mean of all points, of those in the second half of the run, or no mean: the last
        point, which is NSVMSGD2.
    t0 : {"scaled", "inverse", "bottou"} or float
        See `starting_time`; > 0.
    rskip, askip : int
        >= 1, steps between two penalties and between two averaged points. From 1 to 16 the
        result hardly changes, the time does.
    tol : float
        Certified relative gap at which to stop; 0 for never.
    paper_literal : bool
        Algorithm 3 as printed: the loss in the place of its derivative, and the average with
        harmonic weights. It converges to another point, or runs away.
    seed : int or None
        Draws the pairs.
    max_time : float, optional
        Seconds.
    """

    max_epochs: int = 100
    average: str = "all"
    t0: str | float = "scaled"
    rskip: int = 16
    askip: int = 16
    tol: float = 0.0
    paper_literal: bool = False
    seed: int | None = 0
    max_time: float | None = None

    name: ClassVar[str] = "nsauc"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("max_epochs", "rskip", "askip"):
            check_count(name, getattr(self, name))
        check_choice("average", self.average, AVERAGES)
        starting_time(self.t0, 1.0)

    def check(self, problem: Problem) -> None:
        """Raise `InputError` unless there are rows, the hinge, and steps enough for an average."""
        if not isinstance(problem.space, Rows) or problem.loss != HINGE:
            raise InputError("NSAUC needs the hinge and rows: map a kernel to features first")
        total, start = self.span(problem.n)
        if self.average != "none" and total // self.askip == start // self.askip:
            raise InputError(
                f"{total} steps hold no averaged point: take a smaller askip than {self.askip}, "
                "or more epochs"
            )

    def span(self, n: int) -> tuple[int, int]:
        """Return the steps of a run on `n` rows, and those before the first averaged point."""
        total = self.max_epochs * n
        return total, total // 2 if self.average == "half" else 0

    def start(self, problem: Problem, recorder: Recorder) -> None:
        """Start from `w0` or zero; the method offers only what it has made itself."""
        if recorder.w0 is None:
            recorder.w0 = np.zeros(problem.space.dim)

    def run(self, problem: Problem, recorder: Recorder) -> Status | None:
        """Make the steps from `recorder.w0`.

        The history has a line for each look at the objective over all pairs; `n_iter` counts
        steps. With `paper_literal` or a tiny t0 the objective can leave all bounds. Then the method
        has stalled, and the point is that of the look before, or zero.
        """
        assert recorder.w0 is not None
        return _Run(self, Walk.of(recorder.w0)).go(problem, recorder)

    def solve_walk(
        self, problem: Problem, walk: Walk, callback: Callback | None = None
    ) -> Solution:
        """Do what `solve` does from a walk that has not begun, and leave it where the run ends."""
        return self.solve_by(_Run(self, walk).go, problem, None, callback)

    def point(self, walk: Walk) -> np.ndarray:
        """Return the average of a walk, or its last point if there is none."""
        return walk.w if self.average == "none" or walk.count == 0 else walk.mean

    def advance(
        self,
        walk: Walk,
        X: Any,
        pairs: tuple[np.ndarray, np.ndarray],
        lam: float,
        t0: float,
        start: int = 0,
    ) -> None:
        """Make one step for each of the pairs, and change `walk`.

        Parameters
        ----------
        walk : Walk
        X : array or CSR (n, d)
        pairs : two int arrays (m,)
            The positive and the negative row of each step.
        lam, t0 : float
            Both > 0.
        start : int
            Steps before the first averaged point.
        """
        literal = self.paper_literal
        schedule = Schedule(lam, t0, self.rskip, self.askip, start, literal, literal)
        walk.advance(X, pairs, schedule)


def random_pairs(
    problem: Problem, size: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return `size` pairs drawn with replacement, each with probability c_ij: (size,) twice."""
    pairs = problem.pairs
    if isinstance(pairs, PairList):
        k = by_weight(pairs.c, rng.random(size))
        return pairs.i[k], pairs.j[k]
    sides = np.flatnonzero(problem.pairs.positive), np.flatnonzero(~problem.pairs.positive)
    if pairs.weight is None:
        total = int(sides[0].size) * int(sides[1].size)
        i, j = np.divmod(rng.integers(total, size=size), sides[1].size)
        return sides[0][i], sides[1][j]
    draws = rng.random((size, 2))
    found = [by_weight(pairs.weight[sides[k]], draws[:, k]) for k in (0, 1)]
    return sides[0][found[0]], sides[1][found[1]]


def mean_square_size(space: Rows) -> float:
    """Return the mean squared distance of a row from the mean row."""
    if isinstance(space.X, np.ndarray):
        return float(np.einsum("ij,ij->", space.X, space.X) / space.n)
    return float(space.X.multiply(space.X).sum() / space.n - space.offset @ space.offset)


class _Run:
    """One run of `PairSGD`, along a walk."""

    def __init__(self, solver: PairSGD, walk: Walk):
        self.solver, self.walk = solver, walk
        self.rng = np.random.default_rng(solver.seed)
        self.width = len(WIDTHS) // 2

    def go(self, problem: Problem, recorder: Recorder) -> Status | None:
        """Make the steps; return why they ended."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self._go(problem, recorder)

    def _go(self, problem: Problem, recorder: Recorder) -> Status | None:
        solver, walk, space = self.solver, self.walk, problem.space
        assert isinstance(space, Rows)
        total, start = solver.span(problem.n)
        t0 = starting_time(solver.t0, problem.lam, mean_square_size(space))
        every = problem.n * max(1, solver.max_epochs // LOOKS)
        while walk.t < total:
            ahead = min(total - walk.t, every - walk.t % every, CHUNK)
            pairs = random_pairs(problem, ahead, self.rng)
            solver.advance(walk, space.X, pairs, problem.lam, t0, start)
            over = recorder.out_of_time
            if over or walk.t == total or walk.t % every == 0:
                if not self.look(problem, recorder):
                    return Status.STALLED
                if recorder.near(0.9 * solver.tol):
                    return None
            if over:
                return Status.TIME_LIMIT
        return Status.ITERATION_LIMIT

    def look(self, problem: Problem, recorder: Recorder) -> bool:
        """Evaluate the point so far over all pairs; False where it has left all bounds."""
        w = self.solver.point(self.walk).copy()
        scores = problem.space.scores(w)
        if not np.isfinite(scores).all():
            return False
        value = problem.sums(scores).value + problem.lam / 2 * problem.space.norm2(w)
        if not value < DIVERGED:
            return False
        recorder.best_primal = np.inf  # the method's own point is returned, not the best one
        recorder.offer(w, value)
        near = range(self.width - 1, self.width + 2)
        duals = {k: _slope_bound(problem, scores, WIDTHS[k]) for k in near}
        best = max(duals, key=lambda k: duals[k])
        self.width = min(max(best, 1), len(WIDTHS) - 2)
        recorder.offer(
            witness=lambda: Witness.from_scores(problem, scores, WIDTHS[best]), dual=duals[best]
        )
        recorder.step(self.walk.t)
        return True


def _slope_bound(problem: Problem, scores: np.ndarray, width: float) -> float:
    """Return the lower bound that the slopes at `scores` prove, shrunk by their best factor."""
    sums = problem.sums(scores, width)
    norm2 = problem.space.norm2(problem.space.pull(sums.c))
    scale = min(1.0, problem.lam * sums.conjugate / norm2) if norm2 > 0 else 1.0
    return scale * sums.conjugate - scale**2 * norm2 / (2 * problem.lam)
