"""What a descent evaluates: points with both sides of their gap, and the slope along a line.

At f, smoothed over a width, the sums give a pull g of the slopes and a bias >= 0, and

    F(f) - dual = bias + |lam f - g|^2 / (2 lam).

Over rows f is the vector of weights (dim,). Of a kernel it is the coefficients and the scores
beneath them, (2, n), so that only a new function takes a product with the kernel matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..certificate.evaluation import Evaluation, Evaluator, sums_at
from ..certificate.solution import INSIDE, STALL, Recorder
from ..losses.registry import HINGE
from ..pairs.all_pairs import AllPairs
from ..pairs.near import drawn
from ..pairs.ordered_pairs import OrderedPairs
from ..problem.minorant import Evidence, Minorant, Scores, Weights
from ..problem.problem import Functions, Problem
from ..problem.risk import LONG_ROWS, Mean
from ..problem.tail import Tail
from ..spaces.pair_matrices import differences_gram
from ..sums.assembled import PairSums
from ..sums.binned import half_width
from ..sums.convolved import FEW_PAIRS, WIDEST_BENT, bins_cost

LEAST_BITS, PER_WIDTH, MOST_PER_WIDTH = 2, 2.0, 64.0  # bins: a unit at least, a width, most a width
TAIL_SORTED = 40_000  # rows of partial AUC from which the hinge is counted in bins
SHRINK, CAREFUL = 0.02, 0.2  # least factors from one width to the next
MOMENT = 24.0  # a density of pairs at the margin times width^2 / 24 is the bias


@dataclass(frozen=True, eq=False)
class Point:
    """What is known at f: its scores (n,), sums at a width, pull, gradient, and what both cost."""

    f: np.ndarray
    scores: np.ndarray  # empty where rows are not held
    width: float
    bins: int
    pull: np.ndarray
    gradient: np.ndarray
    bias: float
    far: float


class Points(Functions):
    """The points of a problem over rows that are held, with the ridge."""

    stall, memory, hessians = STALL.rows, 30, True  # so many secants; whether Hessians are drawn
    # Least factor from one width to the next while its window is roomy; widest one from a sample.
    shrink, warm = SHRINK, 0.05

    def __init__(self, problem: Problem, recorder: Recorder, tol: float):
        super().__init__(problem.space, tol, lambda: recorder.out_of_time)
        self.problem, self.recorder, self.tol = problem, recorder, tol
        mean = mean_of(problem)
        self.pairs, self.loss = mean.pairs, mean.loss
        self.hinge = self.loss == HINGE  # whether a width smooths
        self.classes = isinstance(self.pairs, AllPairs)
        self.far = np.inf  # the gradient's part of the gap, at the last point
        self.rounding = 0.0  # of both sides there
        # How much of the tolerance may be used: sums of smooth losses round, as far as is known.
        self.shares = (INSIDE, INSIDE) if self.hinge else (0.25, 0.5)
        self.coarsest = np.inf  # a smooth loss's bins never widen: steps would undo one another
        self.density: float | None = None  # of pairs at the margin, as a share of all pairs
        self.spread = 2.0  # the range of the scores and one more
        # Whether sums are sorted from now on: a product with a kernel costs more than any sort.
        self.fine = self.product is not None or not (self.hinge and self.classes)
        self.forms = {0: problem}
        pairs = self.pairs
        # 40_000: rows from which ordered pairs are first summed on a coarser grid
        large = isinstance(pairs, OrderedPairs) and problem.n >= 40_000
        if self.hinge and large and pairs.form == "auto":
            self.forms[0] = replace(problem, risk=Mean(pairs.by("binned"), self.loss))
        self.per_width, held = PER_WIDTH, problem.space.held
        if held is not None:  # so many that |rough gradient|^2 / (2 lam) is below the bias
            rough = 6 * float(np.square(held.norms).mean()) / (problem.n * problem.lam)
            self.per_width = float(np.clip(np.sqrt(rough), PER_WIDTH, MOST_PER_WIDTH))

    def inside_share(self) -> float:
        """Return the share of the tolerance to reach: the certificate adds four roundings."""
        spare = 4.0 * self.rounding / (self.tol * max(self.recorder.best_primal, 1e-300))
        return float(np.clip(1 - spare, *self.shares))

    def allowed(self, share: float) -> float:
        """Return the bias that a share of the tolerance leaves room for."""
        return share * self.tol * max(self.recorder.best_primal, 1e-7)

    def inside(self, width: float) -> float:
        """Return about how many pairs a window of this width has."""
        return (self.density or 0.0) * width * float(self.pairs.count())

    def width_of(self, bias: float) -> float:
        """Return the width that costs a bias, as far as is known."""
        return float(np.sqrt(MOMENT * bias / self.density)) if self.density else np.inf

    def smooth_width(self) -> float:
        """Return the width of bins for a smooth loss: only the last steps need the finest."""
        primal = min(self.recorder.best_primal, 1e300)
        # 0.01: before the end they may cost this share of the gradient's part of the gap
        # 1e-16: below this a finer grid gains nothing
        room = max(self.tol * primal, 0.01 * min(self.far, primal), 1e-16)
        doubt, order = bins_cost(self.loss)
        # 0.2: share of the tolerance that bins of a smooth loss may cost
        width = (doubt * 0.2 * min(room, 1e-2)) ** (1 / order)
        self.coarsest = min(self.coarsest, width, WIDEST_BENT if order > 2 else np.inf)
        return float(self.coarsest)

    def sums(self, scores: np.ndarray, width: float) -> tuple[PairSums, float, int]:
        """Return the sums, the width that they have, and the bins per unit (0: sorted)."""
        n, pairs = self.problem.n, self.pairs
        whole = isinstance(pairs, AllPairs) and pairs.weight is None
        bins = 0
        if not self.fine:
            bins = 1 << max(LEAST_BITS, int(np.ceil(np.log2(self.per_width / width))))
        # 3000: with fewer rows that weigh one each, sorting is as quick as bins, and exact
        # 6: sorting rows with weights costs as much as this many bins per row
        if bins * self.spread > (1 if whole else 6) * n or (whole and n < 3000):
            bins = 0
        if not bins:
            return sums_at(self.forms[0], scores, width), width, 0
        if bins not in self.forms:
            assert isinstance(pairs, AllPairs)
            self.forms[bins] = self.problem.with_pairs(replace(pairs, form="binned", bins=bins))
        found = self.forms[bins].risk.sums(scores, width)
        return found, 2 * half_width(width, bins) / bins, bins

    @np.errstate(over="ignore")  # a bound that overflows is infinitely bad
    def at(
        self,
        f: np.ndarray,
        width: float,
        scores: np.ndarray | None = None,
        found: tuple[PairSums, float, int] | None = None,
    ) -> Point:
        """Evaluate at f, and offer both sides to the recorder."""
        lam = self.problem.lam
        scores = self.scores(f) if scores is None else scores
        sums, width, bins = self.sums(scores, width) if found is None else found
        self.rounding = sums.value_rounding + sums.conjugate_rounding
        pull = self.pull(sums.c)
        gradient = lam * f - pull
        bias = max(sums.value - sums.conjugate + self.inner(f, pull), 0.0)
        self.far = max(self.inner(gradient, gradient), 0.0) / (2 * lam)
        now = Point(f, scores, width, bins, pull, gradient, bias, self.far)
        if self.hinge:
            self.density = MOMENT * bias / width**2
        norm2 = max(self.inner(pull, pull), 0.0)
        # alpha may be shrunk: s V - s^2 |g|^2 / (2 lam) is largest at this s.
        scale = min(1.0, lam * sums.conjugate / norm2) if self.hinge and norm2 > 0 else 1.0
        dual = scale * sums.conjugate - scale**2 * norm2 / (2 * lam)
        primal = sums.value + lam / 2 * max(self.inner(f, f), 0.0)
        self.recorder.offer(
            self.weights(f), primal, lambda: self.evidence(now, sums, scale), max(dual, 0.0)
        )
        self.recorder.step()
        return now

    def evidence(self, now: Point, sums: PairSums, scale: float) -> Evidence | Minorant:
        """Return what proves the lower bound of a point."""
        problem, form, w = self.problem, self.forms[0], self.weights(now.f)
        if now.bins and problem.n > LONG_ROWS:
            return Weights(w, now.bins, half_width(now.width, now.bins), scale)
        if now.bins:  # at the rounded scores the slopes are those that the bins gave
            return Scores(np.floor(now.bins * now.scores) / now.bins, now.width, scale)
        scores = problem.space.scores(w)
        if self.hinge and self.classes:
            return Scores(scores, now.width, scale)
        if np.array_equal(scores, now.scores):
            return Minorant.from_scores(form, scores, now.width, scale, sums)
        return Minorant.from_scores(form, scores, now.width, scale)

    def finer(self, now: Point) -> Point | None:
        """Evaluate anew with sorted sums, or return None where they are."""
        if self.hinge and now.bins:
            self.fine = True
            return self.at(now.f, now.width, now.scores)
        if self.hinge or not self.coarsest or self.pairs.count() > FEW_PAIRS:
            return None
        self.coarsest = 0.0  # few pairs of a smooth loss are visited one by one
        return self.at(now.f, 0.0, now.scores)

    def line(self, now: Point, p: np.ndarray) -> Callable[[float], tuple[float, Any]]:
        """Return a trial of a length of p: the slope there, for the sums alone, and what `at` takes
        in addition to the point."""
        width = now.width if self.hinge else self.smooth_width()
        whole = self.scores(now.f + p)
        shift = whole - now.scores
        lam, along, length2 = self.problem.lam, self.inner(now.f, p), self.inner(p, p)

        def trial(t: float) -> tuple[float, Any]:
            # Far beyond a short step, its rounding would be as large as what it moves.
            beyond = t > 4.0  # a trial beyond so many steps takes a product of its own
            scores = whole if t == 1.0 else now.scores + t * shift
            scores = self.scores(now.f + t * p) if beyond else scores
            found = self.sums(scores, width)
            slope = lam * (along + t * length2) - float(found[0].c @ shift)
            return slope, (width, scores, found)

        return trial

    def first_length(self, now: Point, p: np.ndarray) -> float:
        """Return the length at which the slope along p ends if every pair's loss is bent."""
        length = float(np.sqrt(self.inner(p, p)))  # squares of longer vectors may overflow
        if not 0 < length < np.inf:
            return 1.0
        p = p / length
        square = float(np.ptp(self.scores(p))) ** 2 / 4
        bent = square / max(now.width, 1.0) + self.problem.lam
        return -self.inner(now.gradient, p) / bent / length

    def hessian(
        self, part: Problem, scores: np.ndarray, width: float, size: int, rng: np.random.Generator
    ) -> tuple[np.ndarray, int]:
        """Return the Hessian of about `size` pairs of `part`, and how many these are."""
        assert part.space.held is not None
        i, j, c = part.pairs.near(part.loss, scores, width if self.hinge else 0.0, size, rng)
        return differences_gram(part.space.held, i, j, c), i.size


class TailPoints(Points):
    """The points of partial AUC: a width smooths the row weights at the boundary, and the loss."""

    stall, shrink, warm = STALL.tails, CAREFUL, 0.3

    def __init__(self, problem: Problem, recorder: Recorder, tol: float):
        super().__init__(problem, recorder, tol)
        self.hinge = self.fine = True
        self.shares = INSIDE, INSIDE

    def inside(self, width: float) -> float:
        """No window is too small: the rows at the boundary are what counts."""
        return np.inf

    def sums(self, scores: np.ndarray, width: float) -> tuple[PairSums, float, int]:
        """Return the sums; those of many rows are counted in bins for this width."""
        return tail_in_bins(self.problem, width).risk.sums(scores, width), width, 0

    def hessian(
        self, part: Problem, scores: np.ndarray, width: float, size: int, rng: np.random.Generator
    ) -> tuple[np.ndarray, int]:
        """Return the derivative of minus the pull, from pairs drawn as they are weighted. With A
        the mean slope of the pairs at a boundary, of k rows, it is the mean of loss'' d d' over
        pairs plus A / (k width) sum (x - mean x) (x - mean x)' over its window, the rows that
        change places."""
        space, risk, loss = part.space.held, part.risk, self.loss
        assert space is not None and isinstance(risk, Tail)
        chosen = risk.chosen(scores, width)
        picks = [drawn(weights, size, rng, even=False) for _, weights in chosen]
        i, j = (rows[pick] for (rows, _), pick in zip(chosen, picks, strict=True))
        # 0.02: least distance over which the second derivative of the loss is averaged
        t, step = scores[i] - scores[j], max(width, 0.02) / 2
        fall = loss.alpha(t - step, width) - loss.alpha(t + step, width)
        H = differences_gram(space, i, j, np.maximum(fall, 0.0) / (2 * step * size))
        alpha = loss.alpha(t, width)
        for (rows, weights), pick, k in zip(chosen, picks, (risk.kp, risk.kq), strict=True):
            inside = weights < weights.max()
            # 10_000_000: numbers in the rows at a boundary that are looked at
            window = rows[inside][: 10_000_000 // space.dim]
            if window.size < 2:
                continue
            at_edge = inside[pick]
            steep = float(alpha[at_edge].mean() if at_edge.any() else alpha.mean())
            near = np.asarray(space.rows(window))
            near = near - near.mean(axis=0)
            share = int(inside.sum()) / window.size
            H += steep / (float(k) * width) * share * (near.T @ near)
        return H, size


def mean_of(problem: Problem) -> Mean:
    """Return the mean over pairs that a problem is about, or partial AUC about a part of."""
    risk = problem.risk
    if isinstance(risk, Tail):
        return risk.mean
    assert isinstance(risk, Mean)
    return risk


def tail_in_bins(problem: Problem, width: float) -> Problem:
    """Return partial AUC of many rows with the hinge counted in bins for a width, or as it is."""
    risk: Any = problem.risk
    if problem.n <= TAIL_SORTED or risk.mean.loss != HINGE or risk.mean.pairs.form != "auto":
        return problem
    # 32 bins a width, or 16, cost less than the width.
    bins = 2 ** int(np.ceil(np.log2(32 / width))) if width > 0 else problem.n
    while bins >= problem.n and width * bins >= 16:
        bins //= 2
    if not 1 <= bins < problem.n:
        return problem
    counted = Mean(replace(risk.mean.pairs, form="binned", bins=bins), HINGE)
    return replace(problem, risk=Tail(counted, risk.kp, risk.kq))


class KernelPoints(Points):
    """The points of a problem over a kernel matrix."""

    # There are as many coordinates as rows, and no Hessian.
    stall, memory, hessians = STALL.kernels, 60, False

    def evidence(self, now: Point, sums: PairSums, scale: float) -> Evidence | Minorant:
        """Return what proves the lower bound of a point."""
        if self.hinge:
            return Scores(now.scores, now.width, scale)
        return Minorant.from_scores(self.problem, now.scores, now.width, scale, sums)


class BlockPoints(Points):
    """The points of a problem whose rows are read in blocks or lie in partitions: bins alone. An
    evaluation is one or two passes over the rows, and comes with bounds of its rounding."""

    shrink = 0.0

    def __init__(self, problem: Problem, recorder: Recorder, tol: float):
        super().__init__(problem, recorder, tol)
        self.groups = problem.space.grouped is not None
        self.bits, self.shares = 0, (INSIDE, 0.95)  # rounding is known here
        self.found: Evaluation | None = None  # at the last point
        self.evaluator = Evaluator(problem)
        self.doubt, self.order = self.evaluator.doubt, self.evaluator.order

    def smooth_width(self) -> float:
        """Set the bins of a smooth loss: what those of the last point cost says how many."""
        primal = min(self.recorder.best_primal, 1.0)
        allowed = 0.1 * self.tol * max(primal, 1e-7)  # what bins may cost
        bits = -np.log2(allowed * self.doubt) / self.order
        now = self.found
        if now is not None and now.bins >= 1 << self.bits:
            bits = self.bits + np.ceil(np.log2(max(now.bias / allowed, 1.0)) / self.order)
        self.bits = int(np.clip(np.ceil(bits), max(self.bits, 5), 20))
        return 0.0

    def grid(self, width: float) -> tuple[int, int]:
        """Return the hinge's bins per unit for a width, and its half width in bins."""
        if self.groups:  # whole groups have no bins: a unit of 2^-30 says the width
            return 1 << 30, max(1, round(width * (1 << 29)))
        bins = 1 << max(LEAST_BITS, int(np.ceil(np.log2(PER_WIDTH / width))))
        if bins > 1 << LEAST_BITS:  # the same width from half as many bins, where two make it
            bins //= half_width(width, bins)
        bins *= int(self.per_width / PER_WIDTH)
        return bins, half_width(width, bins)

    def evaluation(self, w: np.ndarray, width: float) -> Evaluation:
        """Return the evaluation at w, not offered yet."""
        if self.hinge:
            return self.evaluator.at(w, *self.grid(width))
        return self.evaluator.at(w, 1 << self.bits)

    def at(self, f: np.ndarray, width: float, scores: Any = None, found: Any = None) -> Point:
        """Evaluate at f, or take what was found there, and offer both sides to the recorder."""
        problem, lam = self.problem, self.problem.lam
        found = self.evaluation(f, width) if found is None else found
        primal, dual = found.primal(lam), found.dual(lam)
        self.found, self.rounding = found, primal.error + dual.error
        scale = found.scale(lam) if self.hinge and not self.groups else 1.0
        if self.hinge:
            self.density = MOMENT * found.bias / found.width**2
        self.recorder.offer(
            found.w,
            primal.value,
            lambda: problem.risk.minorant(Weights(found.w, found.bins, found.half, scale)),
            found.dual(lam, scale).value,
        )
        self.recorder.step()
        gradient = lam * found.w - found.pull
        self.far = float(gradient @ gradient) / (2 * lam)
        nothing = np.empty(0)
        return Point(
            found.w, nothing, found.width, found.bins, found.pull, gradient, found.bias, self.far
        )

    def finer(self, now: Point) -> Point | None:
        """Evaluate anew with more bins, or return None where they are as many as they get."""
        if self.groups:
            return None
        if not self.hinge:
            before = self.bits
            self.smooth_width()
            return self.at(now.f, now.width) if self.bits > before else None
        if self.per_width >= MOST_PER_WIDTH:
            return None
        self.per_width = min(4 * self.per_width, MOST_PER_WIDTH)
        return self.at(now.f, now.width)

    def line(self, now: Point, p: np.ndarray) -> Callable[[float], tuple[float, Any]]:
        """Return a trial of a length of p, which is a pass over the rows."""
        lam, width = self.problem.lam, now.width
        if not self.hinge:
            self.smooth_width()

        def trial(t: float) -> tuple[float, Any]:
            found = self.evaluation(now.f + t * p, width)
            return float(p @ (lam * found.w - found.pull)), (width, None, found)

        return trial

    def first_length(self, now: Point, p: np.ndarray) -> float:
        """Return the length at which no score moves by more than one."""
        length = float(np.linalg.norm(p)) * self.problem.space.reach
        return 1.0 / length if 0 < length < np.inf else 1.0
