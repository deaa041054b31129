"""Stochastic hard thresholding for sparse AUC: SHT-AUC. [SHT, Algorithm 1]

Minimise the mean square loss over all pairs with at most k nonzero weights, by

    w <- H_k(w - step * gradient of one random block at w).

Best subset selection is NP-hard, so the result need not be a global optimum. The solution says how
near it is to a fixed point, and never carries a certificate, nor does the result of
`refine_weights`: the optimum on its features, after swaps of them. [SHT, eq. (3)]
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..exact.certificate.certificate import Certificate
from ..exact.errors import Advised, InputError
from ..exact.estimators.base import AUCClassifier, TrainingRows, draw_seed
from ..exact.pairs.all_pairs import AllPairs
from ..exact.problem.problem import Problem, split_labels
from ..exact.spaces.rows import Rows
from ..exact.square_loss.row_average import RowAverage, row_moments
from ..exact.square_loss.support import (
    SupportLoss,
    forward,
    objective_above,
    sparse_floor,
    swap_descent,
)
from ..exact.tools.arrays import check_choice, check_count, check_number
from ..exact.tools.rounding import Bound, above
from .online import PROVED, check_step, start_at
from .thresholding import hard_threshold, largest


def sparse_problem(
    X: object,
    y: object,
    weight: np.ndarray | None = None,
    lam: float = 0.0,
    positive: object = None,
) -> RowAverage:
    """Return the square loss over all pairs of a data matrix and its labels. [SHT, eq. (4)]

    Parameters
    ----------
    X, y, weight, positive
        As in `solve`, `weight` its `sample_weight`.
    lam : float
        >= 0, of a penalty lam/2 |w|^2; the paper has none.
    """
    mask, _, _ = split_labels(y, positive)
    return RowAverage.of(Rows(X), mask, AllPairs(weight), lam)


@dataclass(frozen=True)
class StochasticHardThresholding:
    """SHT-AUC. [SHT, Algorithm 1]

    Differs from the paper: 1. H_k keeps k features, not k - 1, see `hard_threshold`. 2. Where n
    is not a multiple of the number m of blocks, the mean of the paper's block losses is not F;
    here each block's sum over rows is multiplied by m, which is the same for equal blocks and
    unbiased for others. 3. The step is found from the data. 4. Of the points after each epoch the
    best one is returned unless ``keep="last"``.

    Class means and class shares are those of all rows in every block: with those of the block,
    the expected step does not vanish at the optimum, and a block without positives has none.

    Parameters
    ----------
    k : int
        Features to keep, >= 1; as many as there are, or more, means no thresholding.
    n_blocks : int, optional
        m; 1 by default, which is deterministic. Give this or `block_size`.
    block_size : int, optional
        Rows per block, at most: m = ceil(n / block_size), the blocks as equal as can be.
    step : "auto" or float
        "auto" is 1 / max L_i, with L_i the largest curvature of block i: no longer than the
        1 / rho+ of the paper's theory. It may well be several times longer in practice.
    max_epochs : int
        Epochs of m iterations each; a block is drawn with replacement in each iteration.
    tol : float
        Stationarity at which to stop, checked after each epoch; 0 for never.
    keep : {"best", "last"}
    mode : {"right", "authors"}
        "authors" is the published experiments' configuration: k - 1 features kept (eq. (6) to the
        letter), blocks cut in the order of the rows with the remainder in the last one, each with
        the mean of its own rows, and `step` (1 if "auto") times r (1 - r) along the gradient;
        the last point is returned. The experiments also bring the rows to length one:
        that is left to the data, and without it the step may be far too long.
    seed : int or None
        Draws the blocks and their order.
    max_time : float, optional
        Seconds for the iterations; bounding the curvature before them, and refining the answer
        after them, are not counted.
    refine : {"none", "refit", "swaps"}
        "none" leaves the answer as it is, as in the paper. "refit" takes the optimum on its
        features. "swaps" also exchanges one feature for another as long as that lowers the
        objective, see `refine_weights`. Refining has no history, and proves nothing.
    """

    k: int
    n_blocks: int | None = None
    block_size: int | None = None
    step: float | str = "auto"
    max_epochs: int = 200
    tol: float = 1e-6
    keep: str = "best"
    mode: str = "right"
    seed: int | None = 0
    max_time: float | None = None
    refine: str = "none"

    def __post_init__(self) -> None:
        check_count("k", self.k)
        if self.n_blocks is not None and self.block_size is not None:
            raise InputError("give n_blocks or block_size, not both")
        for name in ("n_blocks", "block_size"):
            if getattr(self, name) is not None:
                check_count(name, getattr(self, name))
        check_step(self.step)
        check_count("max_epochs", self.max_epochs)
        check_number("tol", self.tol, closed="low")
        check_choice("keep", self.keep, ("best", "last"))
        check_choice("mode", self.mode, ("right", "authors"))
        if self.max_time is not None:
            check_number("max_time", self.max_time)
        check_choice("refine", self.refine, REFINEMENTS)

    @property
    def literal(self) -> bool:
        """Whether this is the published experiments' configuration."""
        return self.mode == "authors"

    def solve(
        self,
        problem: RowAverage | Problem,
        w0: np.ndarray | None = None,
        callback: Callable[[Epoch], object] | None = None,
    ) -> SparseSolution:
        """Return the solution, started from `w0` (d,) with at most k nonzeros, zero by default.

        The problem is from `sparse_problem`, or one over rows with the square loss and all pairs,
        whose penalty then counts. `callback` hears of each `Epoch`.
        """
        loss = RowAverage.of_problem(problem) if isinstance(problem, Problem) else problem
        w = self._start(w0, loss)
        blocks_rng, bound_rng = np.random.default_rng(self.seed).spawn(2)
        blocks = self.blocks(loss, blocks_rng)
        step = self._step(loss, blocks, bound_rng)
        run = _Run(self, loss, loss.curvature(bound_rng), callback)
        return run.finish(run.go(blocks, step, blocks_rng, w), step)

    def blocks(self, loss: RowAverage, rng: np.random.Generator) -> list[RowAverage]:
        """Return the blocks, each as a loss of its own; their mean is F unless mode="authors"."""
        n = loss.mass.size
        m = self.n_blocks or 1
        if m > n:
            raise InputError(f"{m} blocks cannot be made of {n} rows")
        if self.literal:
            size = min(self.block_size or n // m, n)
            cuts = np.append(np.arange(n // size) * size, n)
            pieces = [slice(int(a), int(b)) for a, b in itertools.pairwise(cuts)]
            return [loss.part(rows, n / (rows.stop - rows.start)) for rows in pieces]
        if self.block_size is not None:
            m = math.ceil(n / self.block_size)
        if m == 1:
            return [loss]
        return [loss.part(rows, m) for rows in np.array_split(rng.permutation(n), m)]

    def _start(self, w0: np.ndarray | None, loss: RowAverage) -> np.ndarray:
        w = start_at(w0, loss.dim)
        with np.errstate(over="ignore", invalid="ignore"):
            if w0 is not None and not np.isfinite(loss.value(w)):
                raise InputError("w0 is so large that the objective overflows")
        if np.count_nonzero(w) > self.k:
            raise InputError(f"w0 has {np.count_nonzero(w)} nonzeros, more than k = {self.k}")
        return w

    def _step(self, loss: RowAverage, blocks: list[RowAverage], rng: np.random.Generator) -> float:
        if self.literal:
            factor = 1.0 if isinstance(self.step, str) else float(self.step)
            return factor * loss.share * (1 - loss.share)
        if not isinstance(self.step, str):
            return float(self.step)
        steepest = max(block.curvature(rng) for block in blocks)
        return 1 / steepest if steepest > 0 else 1.0  # without curvature the gradient is zero


REFINEMENTS = ("none", "refit", "swaps")
MAX_ROUNDS = 20  # the most times that the features to swap with are chosen anew


def refine_weights(
    loss: RowAverage, w: np.ndarray, k: int, how: str, pool: int = 300
) -> np.ndarray:
    """Return weights with at most k nonzeros and an objective that is not higher.

    "refit" takes the optimum on the features of `w`. "swaps" then adds features greedily up to k,
    and exchanges single ones as long as that lowers F*. Of more than `pool` features it tries those
    with the largest derivatives in units of their spread, chosen anew after every descent.
    """
    check_choice("refine", how, REFINEMENTS)
    k, pool = min(check_count("k", k), loss.dim), check_count("pool", pool)
    best, value = w, loss.value(w)
    if how == "none":
        return w
    for _ in range(MAX_ROUNDS):
        after = _descend(loss, best, k, pool if how == "swaps" else 0)
        new = loss.value(after)
        if not new < value:
            break
        settled = new >= value * (1 - 1e-9)
        best, value = after, new
        if how == "refit" or settled or loss.dim <= pool + k:
            break
    return best


def _descend(loss: RowAverage, w: np.ndarray, k: int, pool: int) -> np.ndarray:
    """Return the end of one descent; without a pool, the optimum on the features of `w`."""
    support = np.flatnonzero(w)
    columns = support
    if pool:
        columns = np.union1d(support, _promising(loss, w, pool))
    if columns.size == 0:
        return w
    few = SupportLoss(row_moments(loss, columns), loss.lam)
    start = np.searchsorted(columns, support)
    if pool:
        found = swap_descent(few, forward(few, min(k, columns.size), start))
    else:
        found = few.optimum(start)
    after = np.zeros(loss.dim)
    after[columns] = found.w
    return after


def _promising(loss: RowAverage, w: np.ndarray, pool: int) -> np.ndarray:
    """Return the features with which a step from `w` gains most, to second order."""
    if loss.dim <= pool:
        return np.arange(loss.dim)
    X, mass = loss.X, loss.mass
    squares = mass @ np.square(X) if isinstance(X, np.ndarray) else X.multiply(X).T @ mass
    spread = np.asarray(squares).ravel() - np.square(loss.means).sum(axis=0) + loss.lam / 2
    noise = 1e-12 * np.asarray(squares).ravel()
    slope = np.square(loss.gradient(w))
    gain = np.divide(slope, spread, out=np.zeros(loss.dim), where=spread > noise)
    return largest(gain, pool)


DIVERGED = 10.0  # a run ends where F exceeds this times max(1, F at the start)


class Stop(Advised):
    """Why a run stopped. No reason says that the support is the best one."""

    STATIONARY = (
        "stationary", "A fixed point of hard thresholding: a local answer, maybe not the best."
    )  # fmt: skip
    EPOCH_LIMIT = (
        "epoch_limit",
        "The epochs ran out: raise max_epochs; with several blocks the iterates never settle, take "
        "one block for that.",
    )
    TIME_LIMIT = "time_limit", "The time ran out: raise max_time."
    INTERRUPTED = "interrupted", "You stopped it: the point so far is returned."
    DIVERGED = (
        "diverged", 'The step is too long for these features: take step="auto" or scale them.'
    )  # fmt: skip


@dataclass(frozen=True)
class Epoch:
    """One line of history, the first for the start; changes counts features that came in."""

    n_iter: int
    seconds: float
    objective: float
    stationarity: float
    changes: int


@dataclass(frozen=True, eq=False)
class SparseSolution:
    """What SHT-AUC returns: a local answer, with no certificate.

    objective is F; stationarity in [0, 2] says how far w is from a fixed point of full-batch hard
    thresholding; screening_overlap is the share of the support among the largest mean differences.
    """

    w: np.ndarray
    support: np.ndarray
    objective: float
    stationarity: float
    screening_overlap: float
    step: float
    status: Stop
    n_iter: int
    seconds: float
    history: list[Epoch] = field(default_factory=list)
    as_saved: bool = field(default=False, init=False, compare=False)


class _Run:
    """One run: its iterations, the point looked at after each epoch, and the one that is kept."""

    def __init__(
        self,
        solver: StochasticHardThresholding,
        loss: RowAverage,
        curvature: float,
        callback: Callable[[Epoch], object] | None,
    ):
        self.solver, self.loss, self.curvature, self.callback = solver, loss, curvature, callback
        self.begin, self.n_iter = time.perf_counter(), 0
        self.history: list[Epoch] = []
        self._last = self._kept = np.zeros(loss.dim)
        self._line: Epoch | None = None

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.begin

    def go(
        self, blocks: list[RowAverage], step: float, rng: np.random.Generator, w: np.ndarray
    ) -> Stop:
        """Make the iterations from `w`; an interrupt ends them once there is a point to return."""
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                return self._go(blocks, step, rng, w)
        except KeyboardInterrupt:
            if not self.history:
                raise
            return Stop.INTERRUPTED

    def _go(
        self, blocks: list[RowAverage], step: float, rng: np.random.Generator, w: np.ndarray
    ) -> Stop:
        solver, stop, limit = self.solver, self.evaluate(w), self.solver.max_time or math.inf
        for _ in range(solver.max_epochs):
            if stop is not None:
                return stop
            for at in rng.integers(len(blocks), size=len(blocks)):
                moved = w - step * blocks[at].gradient(w)
                if not np.isfinite(moved).all():
                    return Stop.DIVERGED
                w = hard_threshold(moved, solver.k, solver.literal)
                self.n_iter += 1
                if self.seconds > limit:
                    return self.evaluate(w) or Stop.TIME_LIMIT
            stop = self.evaluate(w)
        return stop or Stop.EPOCH_LIMIT

    def evaluate(self, w: np.ndarray) -> Stop | None:
        """Record the point `w`; return the reason to stop, or None to go on."""
        value = self.loss.value(w)
        first = self.history[0].objective if self.history else value
        if not value <= DIVERGED * max(1.0, first):
            return Stop.DIVERGED
        changes = int(np.count_nonzero((w != 0) & (self._last == 0)))
        line = Epoch(self.n_iter, self.seconds, value, self.stationarity(w), changes)
        self.history.append(line)
        self._last = w
        keeps_last = self.solver.literal or self.solver.keep == "last"
        if self._line is None or keeps_last or value < self._line.objective:
            self._line, self._kept = line, w
        if self.callback is not None:
            self.callback(line)
        return Stop.STATIONARY if line.stationarity <= self.solver.tol else None

    def stationarity(self, w: np.ndarray) -> float:
        """Return how far `w` is from a fixed point of full-batch hard thresholding: in [0, 2].

        |w - v| / max(|w|, |v|) with v = H_k(w - gradient / curvature).
        """
        move = self.loss.gradient(w) / (self.curvature if self.curvature > 0 else 1.0)
        then = hard_threshold(w - move, self.solver.k, self.solver.literal)
        scale = max(float(np.linalg.norm(w)), float(np.linalg.norm(then)))
        return float(np.linalg.norm(w - then)) / scale if scale > 0 else 0.0

    def finish(self, status: Stop, step: float) -> SparseSolution:
        """Return the kept point, refined where that was asked for and does not raise F."""
        assert self._line is not None, "a run has looked at the start at least"
        solver, w, line = self.solver, self._kept, self._line
        kept = solver.k - 1 if solver.literal else solver.k
        if solver.refine != "none" and kept > 0:
            refined = refine_weights(self.loss, w, kept, solver.refine)
            value = self.loss.value(refined)
            if value <= line.objective:
                w = refined
                line = replace(line, objective=value, stationarity=self.stationarity(w))
        support = np.flatnonzero(w)
        screened = largest(self.loss.delta, max(support.size, 1))
        overlap = float(np.isin(support, screened).mean()) if support.size else 0.0
        return SparseSolution(
            w, support, line.objective, line.stationarity, overlap, step, status, self.n_iter,
            self.seconds, self.history,
        )  # fmt: skip


@dataclass(eq=False, repr=False)
class SHTAUC(AUCClassifier):
    """A linear model of at most k features for AUC, by stochastic hard thresholding.

    [SHT, eq. (3), Algorithm 1]: minimise over w with at most k nonzeros

        mean over all positive-negative pairs of (1 - w'(x_i - x_j))^2.

    Standardise the features first: the first step goes along the difference of the class means, so
    the features chosen depend on their units. The answer is local: `stationarity_` says how near it
    is to a fixed point. The problem is not convex, so the lower bound in `certificate_` is that of
    a convex relaxation. `StochasticHardThresholding` lists the departures from the paper.

    Parameters
    ----------
    k, step, max_epochs, tol
        As in `StochasticHardThresholding`.
    n_blocks : int
        m; an epoch makes m steps, but with several blocks the iterates never settle. Blocks have
        equally many rows, with any weights.
    mode : {"right", "authors"}
        "authors" is the configuration of the published experiments, which keeps k - 1 features
        and does hardly more than rank them by the difference of the class means.
    refine : {"none", "refit", "swaps"}
        As in `StochasticHardThresholding`; "swaps" mostly ends at the best features.
    threshold, max_time
        As in `ROCSVM`.
    random_state : int, RandomState or None
        Draws the blocks; without effect if there is one.

    Attributes
    ----------
    solution_ : SparseSolution
        `support_`, `objective_`, `stationarity_`, `status_`, `n_iter_`, `history_` are its parts.
    lower_bound_ : float
        No weights with at most k nonzeros have a lower objective. From a relaxation where there
        are few features, else zero; `judge` takes a better one.
    gap_ : float
        At least objective_ - lower_bound_, rounding included. Of a loaded model
        (`solution_.as_saved`) both are what its file says, until `judge` makes them anew.
    certificate_ : Certificate
        Of the same bounds. If the lower bound is zero, its `statement` says no more than that.
    proved_ : bool
        Whether gap_ is at most 1e-9: then no other features are better by more than that.
    coef_, intercept_, classes_, n_features_in_, feature_names_in_
        As in `ROCSVM`.
    """

    k: int = 8
    _: KW_ONLY
    n_blocks: int = 1
    step: float | str = "auto"
    max_epochs: int = 5000
    mode: str = "right"
    tol: float = 1e-4
    refine: str = "none"
    random_state: int | np.random.RandomState | None = None

    def _solver(self, seed: int = 0) -> StochasticHardThresholding:
        names = ("k", "n_blocks", "step", "max_epochs", "tol", "mode", "max_time", "refine")
        return StochasticHardThresholding(**{n: getattr(self, n) for n in names}, seed=seed)

    def _check_parameters(self) -> None:
        self._solver()

    def _train(self, data: TrainingRows, callback: Callable[[Epoch], object] | None) -> None:
        rows, positive, weight, _ = data
        solver = self._solver(draw_seed(self.random_state))
        loss = RowAverage.of(Rows(rows), positive, AllPairs(weight))
        self.solution_ = solver.solve(loss, callback=callback)
        self.support_, self.stationarity_ = self.solution_.support, self.solution_.stationarity
        self.objective_, self.status_ = self.solution_.objective, self.solution_.status
        self.n_iter_, self.history_ = self.solution_.n_iter, self.solution_.history
        self._set_bound(sparse_floor(loss, self.k), objective_above(loss, self.solution_.w))
        self._set_weights(self.solution_.w, rows, positive, weight)

    def judge(self, best: Any) -> Self:
        """Set `lower_bound_`, `gap_` and `proved_` by a bound; the model stays.

        Parameters
        ----------
        best : BestSubset
            Of the data of the training, for this k or a larger one, without a penalty, stopped
            early or not; or what has its `k`, `ridge`, `lower` and `gap_of`.

        Raises
        ------
        InputError
            If the bound is of another problem.
        """
        check_is_fitted(self)
        if best.ridge != 0 or best.k < self.k:
            raise InputError(
                f"the bound is for k = {best.k} and ridge = {best.ridge:g}; "
                f"this model needs one for k = {self.k} and ridge = 0"
            )
        gap = best.gap_of(self.coef_[0])
        if abs(best.lower + gap - self.objective_) > 1e-6 * (1 + self.objective_):
            raise InputError("the bound is of other data than the model was trained on")
        if best.lower > self.lower_bound_ or self.solution_.as_saved:
            self._set_bound(best.lower, above(best.lower + gap))
        return self

    def _set_bound(self, lower: float, upper: float) -> None:
        """Set what is proved by bounds of the optimum and of the objective, rounding included."""
        self.lower_bound_ = lower
        self.gap_ = above((upper if np.isfinite(upper) else self.objective_) - lower)
        # The upper bound is of the rows as given; the objective is of the centred ones.
        error = max(above(upper - self.objective_), 0.0)
        words = f"the mean square loss over all pairs among weights with {self.k} nonzeros at most"
        self.certificate_ = Certificate.from_bounds(
            Bound(self.objective_, error), Bound(lower, 0.0), 0.0, words
        )
        self.proved_ = bool(upper - lower <= PROVED)

    def _shortfall(self) -> str | None:
        awaited = [Stop.STATIONARY]
        if (self.n_blocks or 1) > 1 or self.mode == "authors":
            awaited.append(Stop.EPOCH_LIMIT)  # neither is meant to settle
        if self.status_ in awaited:
            return None
        return (
            f"the stationarity is {self.stationarity_:.1e}, not within tol={self.tol:g}. "
            f"{self.status_.advice}"
        )
