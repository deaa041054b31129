"""Stochastic subgradient steps on random pairs: NSAUC, and NSVMSGD2 without its average.

[Nonlinear, Algorithm 3], an averaging variant of Bordes, Bottou and Gallinari's SVMSGD2. Step t
draws one positive and one negative row, x_t = x_i - x_j, and

    w <- w + 1[w'x_t < 1] x_t / (lam (t + t0)),
    every rskip steps    w <- (1 - rskip / (t + t0)) w,
    every askip steps    mean <- mean + (w - mean) / q,    q counting the averaged points,

so that a step costs one pair's nonzeros, and the O(d) of the penalty and the average are rare.
What it minimises is lam/2 |w|^2 + the mean hinge over all pairs. It comes near that optimum only
once lam times the number of steps is well above one, see `docs/approximations.md`.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from ..exact.certificate.certificate import WIDTHS, Minorant
from ..exact.certificate.solution import Callback, Recorder, Solution, Solver, Status
from ..exact.errors import InputError
from ..exact.estimators.base import Matrix, TrainingRows, keep_solution
from ..exact.losses.registry import HINGE
from ..exact.pairs.all_pairs import AllPairs, PairList
from ..exact.problem.problem import Problem, Ridge, pair_problem
from ..exact.spaces.rows import Rows
from ..exact.tools.arrays import check_choice, check_count, check_number
from ..exact.tools.compiling import compiled
from .drawn_pairs import by_weight
from .nystrom import NystromClassifier
from .online import OnlineClassifier
from .subgradient import DIVERGED

T0_RULES = ("scaled", "inverse", "bottou")
AVERAGES = ("all", "half", "none")

CHUNK = 2**18  # most steps between two looks at the clock
LOOKS = 50  # most evaluations of the objective over all pairs in a run: each costs an epoch


def starting_time(rule: str | float, lam: float, size2: float = 1.0) -> float:
    """Return t0, which holds the first steps back. [Nonlinear, Section 4]

    "inverse" is 1 / lam: the first step has length one, right for rows of length one. "scaled" is
    size2 / lam, the same for rows of any length, size2 being their mean squared distance from the
    mean; other units of the features, with lam to match, then change nothing. "bottou" is
    lam^(-3/4), what the public code of SVMSGD2 comes to: for lam far below one the first steps are
    long. The paper leaves t0 open ("set experimentally").
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
        Algorithm 3 as printed: the loss in place of its derivative, and an average with
        harmonic weights. It converges to another point, or diverges.
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
        if problem.space.held is None or problem.loss != HINGE:
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
        """Make the steps from `recorder.w0`; the history has a line for each evaluation of F.

        With `paper_literal` or a tiny t0 the objective can leave all bounds: then the method has
        stalled, and the point is that of the evaluation before, or zero.
        """
        assert recorder.w0 is not None
        return _Run(self, Walk.of(recorder.w0)).go(problem, recorder)

    def solve_walk(
        self, problem: Problem, walk: Walk, callback: Callback | None = None
    ) -> Solution:
        """Do what `solve` does from a walk that has not begun, and leave it where the run ends."""
        return self.solve(problem, None, callback, _Run(self, walk).go)

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
        """Make one step for each of the pairs, and change `walk`."""
        walk.advance(X, pairs, Schedule(lam, t0, self.rskip, self.askip, start, self.paper_literal))


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

    @np.errstate(over="ignore", invalid="ignore")
    def go(self, problem: Problem, recorder: Recorder) -> Status | None:
        """Make the steps; return why they ended."""
        solver, walk, space = self.solver, self.walk, problem.space.held
        assert space is not None
        total, start = solver.span(problem.n)
        t0 = starting_time(solver.t0, problem.lam, mean_square_size(space))
        every = problem.n * max(1, solver.max_epochs // LOOKS)
        while walk.t < total:
            ahead = min(total - walk.t, every - walk.t % every, CHUNK)
            pairs = random_pairs(problem, ahead, self.rng)
            solver.advance(walk, space.X, pairs, problem.lam, t0, start)
            over = recorder.out_of_time
            if over or walk.t == total or walk.t % every == 0:
                if not self.evaluate(problem, recorder):
                    return Status.STALLED
                if recorder.near(0.9 * solver.tol):
                    return None
            if over:
                return Status.TIME_LIMIT
        return Status.ITERATION_LIMIT

    def evaluate(self, problem: Problem, recorder: Recorder) -> bool:
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
            witness=lambda: Minorant.from_scores(problem, scores, WIDTHS[best]), dual=duals[best]
        )
        recorder.step(self.walk.t)
        return True


def _slope_bound(problem: Problem, scores: np.ndarray, width: float) -> float:
    """Return the lower bound that the slopes at `scores` prove, shrunk by their best factor."""
    sums = problem.sums(scores, width)
    norm2 = problem.space.norm2(problem.space.pull(sums.c))
    scale = min(1.0, problem.lam * sums.conjugate / norm2) if norm2 > 0 else 1.0
    return scale * sums.conjugate - scale**2 * norm2 / (2 * problem.lam)


SIDES = ("negative", "positive")
LAST_ROWS = 1000  # of each class, kept for batches of the other one alone


def _last_of_each(rows: Matrix, positive: np.ndarray) -> dict[str, Matrix]:
    """Return the last rows of each class that there is, by its name: model files hold them."""
    places = [np.flatnonzero(positive == side)[-LAST_ROWS:] for side in (False, True)]
    return {name: rows[at] for name, at in zip(SIDES, places, strict=True) if at.size}


@dataclass(eq=False, repr=False)
class PairSGDClassifier(NystromClassifier, OnlineClassifier):
    """Base of the classifiers trained by `PairSGD`.

    `partial_fit` takes one epoch's steps on the pairs of its rows. Those of one class are paired
    with the last rows of the other one; before there are any, no step is made. The first call
    chooses the landmarks, and t0, from its rows; later calls keep them.
    """

    lam: float = 1e-3
    _: KW_ONLY
    n_landmarks: int = 100
    landmarks: str = "kmeans"
    max_epochs: int = 100
    t0: str | float = "scaled"
    rskip: int = 16
    tol: float = 1e-3

    def _solver(self) -> PairSGD:
        Ridge(self.lam)
        names = ("max_epochs", "t0", "rskip", "tol", "max_time")
        return PairSGD(average="none", **{name: getattr(self, name) for name in names})

    def _check_parameters(self) -> None:
        self._solver()

    def _check_stream(self) -> None:
        if self._solver().average == "half":
            raise InputError('average="half" needs to know the end: take "all", or fit')

    def _train(self, data: TrainingRows, callback: Callback | None) -> None:
        rows, positive, *_ = data
        problem = self._problem(self._begin(rows, positive), positive)
        solver = replace(self._solver(), seed=self._run_seed)
        self._last_rows = _last_of_each(rows, positive)
        keep_solution(self, solver.solve_walk(problem, self._walk, callback))
        self.n_iter_ = self._walk.t
        self._set_function(self.solution_.w, rows, positive)

    def _learn(self, rows: Matrix, positive: np.ndarray, first: bool) -> None:
        solver, steps = self._solver(), positive.size
        if first:
            self._begin(rows, positive)
        seen = {} if first else self._last_rows
        self._last_rows = seen | _last_of_each(rows, positive)
        if positive.all() or not positive.any():
            other = seen.get(SIDES[not positive[0]])
            if other is None:  # no pair yet: every score is zero
                self.coef_, self.intercept_ = np.zeros((1, self.nystrom_.map_.rank)), np.zeros(1)
                self.dual_coef_ = self.nystrom_.map_.coefficients(self.coef_[0]).reshape(1, -1)
                return
            positive = np.append(positive, np.full(other.shape[0], not positive[0]))
            both = [rows, other]
            rows = sp.vstack(both, format="csr") if sp.issparse(rows) else np.vstack(both)
        features = self.nystrom_.map_.transform(rows)
        pairs = random_pairs(self._problem(features, positive), steps, self._batch_rng())
        solver.advance(self._walk, features, pairs, self.lam, self.t0_)
        self.n_iter_ = self._walk.t
        self._set_function(solver.point(self._walk), rows, positive)

    def _begin(self, rows: Matrix, positive: np.ndarray) -> np.ndarray:
        """Choose landmarks and t0, begin a walk at zero, and return the features of the rows."""
        chosen: dict[str, Any] = {"n_landmarks": self.n_landmarks, "landmarks": self.landmarks}
        features = self._fit_map(rows, positive, **chosen, random_state=self._draw_seed())
        self._walk, self.n_iter_ = Walk.of(np.zeros(features.shape[1])), 0
        self.t0_ = starting_time(self.t0, self.lam, mean_square_size(Rows(features)))
        return features

    def _problem(self, features: np.ndarray, positive: np.ndarray) -> Problem:
        return pair_problem(Rows(features), positive, AllPairs(), HINGE, Ridge(self.lam))

    def _shortfall(self) -> str | None:
        reach = self.lam * self.n_iter_
        if self.status_ in (Status.TIME_LIMIT, Status.INTERRUPTED, Status.STALLED):
            return self.status_.advice
        if reach >= 1 or self.status_ == Status.CERTIFIED:
            return None
        return (
            f"lam times the number of steps is {reach:.1e}, below 1: the objective is far "
            "from its optimum; raise lam or max_epochs"
        )


@dataclass(eq=False, repr=False)
class NSAUC(PairSGDClassifier):
    """The stochastic nonlinear AUC machine: Nyström features, then averaged steps on random pairs.

    [Nonlinear, Algorithm 1, Algorithm 3]: over the features, approach the minimum of

        lam/2 |w|^2 + mean over all positive-negative pairs of max(0, 1 - w'(x_i - x_j)).

    It comes near only once lam times the number of steps is well above one. Below that the AUC
    may be good, but the objective stays far from its optimum, and with ``t0="bottou"``, the
    choice of the public code, even above that of w = 0: see `docs/approximations.md`.
    `certificate_` says what is proved. Standardise the features first. The departures from the
    paper are listed at `aucert.approx.nsauc.PairSGD`.

    Parameters
    ----------
    lam : float
        > 0, weight of the penalty against the mean loss.
    kernel, gamma, n_landmarks, landmarks, rcond
        As in `Nystrom`; see `aucert.approx.bandwidth` for the paper's rule for gamma.
    max_epochs, t0, rskip, askip, tol
        As in `PairSGD`.
    average : {"all", "half"}
        The mean of all points, as in the paper, or of those in the second half of the run, which
        forgets the start.
    threshold, max_time
        As in `ROCSVM`; `partial_fit` cuts the scores of the batch.
    random_state : int, RandomState or None
        Draws the landmarks and the pairs.

    Attributes
    ----------
    certificate_, solution_, status_, history_
        After `fit`: how far `coef_` is at most from the optimum in the span of the landmarks, the
        dual point that proves it, why the run ended, and the objective on the way.
    t0_ : float
    n_iter_ : int
        Steps made.
    All others as in `NBAUC`.
    """

    _: KW_ONLY
    average: str = "all"
    askip: int = 16

    def _solver(self) -> PairSGD:
        check_choice("average", self.average, ("all", "half"))
        return replace(super()._solver(), average=self.average, askip=self.askip)


@dataclass(eq=False, repr=False)
class NSVMSGD2(PairSGDClassifier):
    """NSAUC without the average: its last point. [Nonlinear, Section 5.5]

    Its parameters are those of `NSAUC` but `average` and `askip`, and so are its attributes.
    """


@compiled
def _scheduled(w, mean, count, t, t0, rskip, askip, start, literal):  # pragma: no cover - compiled
    """Do what is due after step t: shrink w, average it. Return the number of averaged points."""
    if t % rskip == 0:
        keep = 1.0 - rskip / (t + t0)
        for p in range(w.size):
            w[p] *= keep
    if t > start and t % askip == 0:
        count += 1
        for p in range(w.size):
            if literal:
                mean[p] = (count * mean[p] + w[p]) / count
            else:
                mean[p] += (w[p] - mean[p]) / count
    return count


@compiled
def _dense_steps(
    X, i, j, w, mean, t, count, lam, t0, rskip, askip, start, literal_slope, literal_mean
):  # pragma: no cover - compiled
    """Make a step for each pair of rows (i, j); return the steps and averaged points so far."""
    for k in range(i.size):
        t += 1
        a, b = X[i[k]], X[j[k]]
        z = 0.0
        for p in range(w.size):
            z += w[p] * (a[p] - b[p])
        if z < 1.0:
            slope = 1.0 - z if literal_slope else 1.0
            step = slope / (lam * (t + t0))
            for p in range(w.size):
                w[p] += step * (a[p] - b[p])
        count = _scheduled(w, mean, count, t, t0, rskip, askip, start, literal_mean)
    return t, count


@compiled
def _sparse_steps(
    data,
    column,
    first,
    i,
    j,
    w,
    mean,
    t,
    count,
    lam,
    t0,
    rskip,
    askip,
    start,
    literal_slope,
    literal_mean,
):  # pragma: no cover - compiled
    """Do what `_dense_steps` does, on the arrays of a CSR matrix."""
    for k in range(i.size):
        t += 1
        z = 0.0
        for p in range(first[i[k]], first[i[k] + 1]):
            z += w[column[p]] * data[p]
        for p in range(first[j[k]], first[j[k] + 1]):
            z -= w[column[p]] * data[p]
        if z < 1.0:
            slope = 1.0 - z if literal_slope else 1.0
            step = slope / (lam * (t + t0))
            for p in range(first[i[k]], first[i[k] + 1]):
                w[column[p]] += step * data[p]
            for p in range(first[j[k]], first[j[k] + 1]):
                w[column[p]] -= step * data[p]
        count = _scheduled(w, mean, count, t, t0, rskip, askip, start, literal_mean)
    return t, count


@dataclass(frozen=True)
class Schedule:
    """What is done when, in one run."""

    lam: float
    t0: float
    rskip: int = 16
    askip: int = 16
    start: int = 0
    literal_slope: bool = False
    literal_mean: bool = False


@dataclass(eq=False)
class Walk:
    """Where a run stands: w and the mean of the averaged points (d,), t steps, count points."""

    w: np.ndarray
    mean: np.ndarray
    t: int = 0
    count: int = 0

    @classmethod
    def of(cls, w: np.ndarray) -> Walk:
        """Return a walk that starts at `w`, of which it makes a copy."""
        return cls(np.array(w, dtype=float), np.zeros(w.size))

    def advance(self, X: Any, pairs: tuple[np.ndarray, np.ndarray], schedule: Schedule) -> None:
        """Make one step for each of the pairs."""
        i, j = pairs
        lengths = float(schedule.lam), float(schedule.t0), schedule.rskip, schedule.askip
        run = (i, j, self.w, self.mean, self.t, self.count, *lengths, schedule.start)
        run = (*run, schedule.literal_slope, schedule.literal_mean)
        if isinstance(X, np.ndarray):
            self.t, self.count = _dense_steps(np.ascontiguousarray(X), *run)
        else:
            self.t, self.count = _sparse_steps(X.data, X.indices, X.indptr, *run)
