"""One descent: L-BFGS on ever narrower widths, its first inverse the identity or a drawn Hessian.

A loss with a kink is smoothed over a width, and sums of smooth losses have bins of a width; either
costs a bias of the order width^2. With g the pull of the slopes, which prove the lower bound,

    gap = bias + |lam w - g|^2 / (2 lam).

    many rows: descend on a twentieth of them first, roughly, and start from there
    until the gap is inside the tolerance:
        p = the two loops of L-BFGS around the first inverse;  promised = -gradient'p / 2
        if promised is small next to the bias: take p at a narrower width
        else: search along p in score space, where a trial costs the sums and no product
        if the steps since the last draw have cost as much as a draw, and the Hessian was poor:
            draw pairs where the loss is curved, factor their Hessian
    if the gap is open: the hinge's finishers

Sums and gradients are exact; samples and drawn Hessians only say where to look. The certificate
judges. [Liu & Nocedal, Math. Program. 1989, for the two loops]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, Literal

import numpy as np

from ..certificate.certificate import dual_value
from ..certificate.evaluation import Evaluation, Evaluator, sums_at
from ..certificate.solution import INSIDE, STALL, Idle, Recorder, Solution, Solver, Status
from ..errors import InputError, OverflowingError
from ..losses.registry import HINGE, kinked
from ..pairs.all_pairs import AllPairs, PairList
from ..pairs.near import Curved, cholesky_solve, differences_gram, drawn, factored
from ..pairs.ordered_pairs import OrderedPairs
from ..problem.penalties import Ridge
from ..problem.problem import Functions, Problem, held_part, part_of, root_of_slope
from ..problem.risk import LONG_ROWS, Evidence, Mean, Minorant, Scores, Weights
from ..problem.tail import Tail
from ..spaces.factor import rows_of
from ..sums.binned import LARGEST_BIN, half_width
from ..sums.convolved import FEW_PAIRS, WIDEST_BENT, bins_cost
from ..sums.swept import PairSums
from .cutting_plane import CuttingPlane
from .finish import ActivePairs, first_size, offer_hard_margin

LEAST_BITS, PER_WIDTH, MOST_PER_WIDTH = 2, 2.0, 64.0  # bins: a unit at least, a width, most a width
TAIL_SORTED = 40_000  # rows of partial AUC from which the hinge is counted in bins
SHRINK, CAREFUL = 0.02, 0.2  # least factors from one width to the next
MOMENT = 24.0  # a density of pairs at the margin times width^2 / 24 is the bias
BIAS = 0.25  # share of the tolerance that a width may cost
LEAST_F = 1e-7  # the least objective of which a share is aimed at: below it a width only rounds
ROOMY = 35  # pairs a coordinate that a window keeps at the first one
WARM = 0.05  # the widest first width from a sample or a given start


@dataclass(frozen=True, eq=False)
class Point:
    """What is known at f: its scores (n,), the width and the bins per unit (0: sorted) of the sums,
    pull and gradient; `bias` and `far`, the gradient's part, add up to the gap."""

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
    shrink, warm = SHRINK, WARM

    def __init__(self, problem: Problem, recorder: Recorder, tol: float):
        super().__init__(problem.space, tol, lambda: recorder.out_of_time)
        self.problem, self.recorder, self.tol = problem, recorder, tol
        mean = mean_of(problem)
        self.pairs, self.loss = mean.pairs, mean.loss
        self.uses_width = self.loss == HINGE  # whether a width smooths: it does in any tail
        self.classes = isinstance(self.pairs, AllPairs)
        self.far = np.inf  # the gradient's part of the gap, at the last point
        self.rounding = 0.0  # of both sides there
        # How much of the tolerance may be used: sums of smooth losses round, as far as is known.
        self.shares = (INSIDE, INSIDE) if self.uses_width else (0.25, 0.5)
        self.coarsest = np.inf  # a smooth loss's bins never widen: steps would undo one another
        self.density: float | None = None  # of pairs at the margin, as a share of all pairs
        # Whether sums are sorted from now on: a product with a kernel costs more than any sort.
        self.fine = self.product is not None or not (self.uses_width and self.classes)
        self.forms = {0: problem}
        pairs = self.pairs
        # 40_000: rows from which ordered pairs are first summed on a coarser grid
        large = isinstance(pairs, OrderedPairs) and problem.n >= 40_000
        if self.uses_width and large and pairs.form == "auto":
            self.forms[0] = replace(problem, risk=Mean(pairs.by("binned"), self.loss))
        self.per_width, held = PER_WIDTH, problem.space.held
        if held is not None:  # so many that |rough gradient|^2 / (2 lam) is below the bias
            rough = 6 * float(np.square(held.norms).mean()) / (problem.n * problem.lam)
            self.per_width = min(max(np.sqrt(rough), PER_WIDTH), MOST_PER_WIDTH)

    def allowed(self, share: float) -> float:
        """Return the bias that a share of the tolerance leaves room for."""
        return share * self.tol * max(self.recorder.best_primal, LEAST_F)

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
        # 3000: with fewer rows that weigh one each, sorting is as quick as bins, and exact
        if self.fine or (whole and n < 3000):
            return sums_at(self.forms[0], scores, width), width, 0
        bins = 1 << max(LEAST_BITS, int(np.ceil(np.log2(self.per_width / width))))
        # 6: sorting rows with weights costs as much as this many bins per row
        if bins * (float(np.ptp(scores)) + 1.0) > (1 if whole else 6) * n:
            return sums_at(self.forms[0], scores, width), width, 0
        if bins not in self.forms:
            assert isinstance(pairs, AllPairs)
            self.forms[bins] = self.problem.with_pairs(replace(pairs, form="binned", bins=bins))
        return self.forms[bins].risk.sums(scores, width), 2 * half_width(width, bins) / bins, bins

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
        if self.uses_width:
            self.density = MOMENT * bias / width**2
        norm2 = max(self.inner(pull, pull), 0.0)
        # alpha may be shrunk: s V - s^2 |g|^2 / (2 lam) is largest at this s.
        scale = min(1.0, lam * sums.conjugate / norm2) if self.uses_width and norm2 > 0 else 1.0
        dual = scale * sums.conjugate - scale**2 * norm2 / (2 * lam)
        primal = sums.value + lam / 2 * max(self.inner(f, f), 0.0)
        self.recorder.offer(
            self.weights(f), primal, lambda: self.evidence(now, sums, scale), max(dual, 0.0)
        )
        self.recorder.step()
        return now

    def evidence(self, now: Point, sums: PairSums, scale: float) -> Evidence | Minorant:
        """Return what proves the lower bound of a point. The certificate compares the scores of w
        bit by bit with those of the evidence, and those along a line differ by rounding: so they
        are made anew."""
        problem, form, w = self.problem, self.forms[0], self.weights(now.f)
        if now.bins and problem.n > LONG_ROWS:
            return Weights(w, now.bins, half_width(now.width, now.bins), scale)
        if now.bins:  # at the rounded scores the slopes are those that the bins gave
            return Scores(np.floor(now.bins * now.scores) / now.bins, now.width, scale)
        scores = problem.space.scores(w)
        if self.uses_width and self.classes:
            return Scores(scores, now.width, scale)
        if np.array_equal(scores, now.scores):
            return Minorant.from_scores(form, scores, now.width, scale, sums)
        return Minorant.from_scores(form, scores, now.width, scale)

    def finer(self, now: Point) -> Point | None:
        """Evaluate anew with sorted sums, or return None where they are."""
        if self.uses_width and now.bins:
            self.fine = True
            return self.at(now.f, now.width, now.scores)
        if self.uses_width or not self.coarsest or self.pairs.count() > FEW_PAIRS:
            return None
        self.coarsest = 0.0  # few pairs of a smooth loss are visited one by one
        return self.at(now.f, 0.0, now.scores)

    def line(self, now: Point, p: np.ndarray) -> Callable[[float], tuple[float, Any]]:
        """Return a function of a length t of p. It returns the slope along p there, which costs the
        sums and no product, and what `at` takes beyond the point."""
        width = now.width if self.uses_width else self.smooth_width()
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
        """Return the length at which the slope along p is zero if every pair is in the window."""
        length = np.sqrt(max(self.inner(p, p), 0.0))  # squares of longer vectors may overflow
        if not 0 < length < np.inf:
            return 1.0
        p = p / length
        square = float(np.ptp(self.scores(p))) ** 2 / 4
        bent = square / max(now.width, 1.0) + self.problem.lam
        return -self.inner(now.gradient, p) / bent / length

    def hessian(
        self, part: Problem, scores: np.ndarray, width: float, size: int, rng: np.random.Generator
    ) -> np.ndarray:
        """Return the Hessian of about `size` pairs of `part`."""
        assert part.space.held is not None
        i, j, c = part.pairs.near(part.loss, scores, width if self.uses_width else 0.0, size, rng)
        return differences_gram(part.space.held, i, j, c)


class TailPoints(Points):
    """The points of partial AUC: a width smooths the row weights at the boundary, and the loss."""

    stall, shrink, warm = STALL.tails, CAREFUL, 0.3

    def __init__(self, problem: Problem, recorder: Recorder, tol: float):
        super().__init__(problem, recorder, tol)
        self.uses_width = self.fine = True
        self.shares = INSIDE, INSIDE

    def inside(self, width: float) -> float:
        """No window is too small: the rows at the boundary are what counts."""
        return np.inf

    def sums(self, scores: np.ndarray, width: float) -> tuple[PairSums, float, int]:
        """Return the sums; those of many rows are counted in bins for this width."""
        return tail_in_bins(self.problem, width).risk.sums(scores, width), width, 0

    def hessian(
        self, part: Problem, scores: np.ndarray, width: float, size: int, rng: np.random.Generator
    ) -> np.ndarray:
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
        return H


def mean_of(problem: Problem) -> Mean:
    """Return the mean over pairs that a problem is about, or partial AUC about a part of."""
    mean = problem.risk.mean if isinstance(problem.risk, Tail) else problem.risk
    assert isinstance(mean, Mean)
    return mean


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
        if self.uses_width:
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
        # 0.1: share of the tolerance that bins may cost
        allowed = 0.1 * self.tol * max(min(self.recorder.best_primal, 1.0), LEAST_F)
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
        bins = 1 << max(LEAST_BITS, int(np.ceil(np.log2(min(PER_WIDTH / width, LARGEST_BIN)))))
        if bins > 1 << LEAST_BITS:  # the same width from half as many bins, where two make it
            bins //= half_width(width, bins)
        bins *= int(self.per_width / PER_WIDTH)
        return bins, half_width(width, bins)

    def evaluation(self, w: np.ndarray, width: float) -> Evaluation:
        """Return the evaluation at w, not offered yet."""
        if self.uses_width:
            return self.evaluator.at(w, *self.grid(width))
        return self.evaluator.at(w, 1 << self.bits)

    def at(self, f: np.ndarray, width: float, scores: Any = None, found: Any = None) -> Point:
        """Evaluate at f, or take what was found there, and offer both sides to the recorder."""
        problem, lam = self.problem, self.problem.lam
        found = self.evaluation(f, width) if found is None else found
        primal, dual = found.primal(lam), found.dual(lam)
        self.found, self.rounding = found, primal.error + dual.error
        scale = found.scale(lam) if self.uses_width and not self.groups else 1.0
        if self.uses_width:
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
        grid = np.empty(0), found.width, found.bins
        return Point(found.w, *grid, found.pull, gradient, found.bias, self.far)

    def finer(self, now: Point) -> Point | None:
        """Evaluate anew with more bins, or return None where they are as many as they get."""
        if self.groups:
            return None
        if not self.uses_width:
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
        if not self.uses_width:
            self.smooth_width()

        def trial(t: float) -> tuple[float, Any]:
            found = self.evaluation(now.f + t * p, width)
            return float(p @ (lam * found.w - found.pull)), (width, None, found)

        return trial

    def first_length(self, now: Point, p: np.ndarray) -> float:
        """Return the length at which no score moves by more than one."""
        length = float(np.linalg.norm(p)) * self.problem.space.reach
        return 1.0 / length if 0 < length < np.inf else 1.0


def step_cost(n: int, dim: int) -> float:
    """Return what a step costs, in numbers passed: two products, the sums, some Python."""
    return n * (2 * dim + 40) + 1e5


def draw_cost(pairs: int, dim: int, n: int) -> float:
    """Return what a Hessian costs: a product, six times as quick a number, and a sort."""
    return pairs * (dim**2 / 6 + 70) + 40 * n


class Memory:
    """The last steps and changes of the gradient around a first inverse (None: the identity)."""

    def __init__(self, points: Points):
        self.inner, self.most = points.inner, points.memory
        self.factor: np.ndarray | None = None
        self.kept: list[tuple[np.ndarray, np.ndarray, float]] = []

    def remember(self, step: np.ndarray, change: np.ndarray) -> None:
        """Keep a step and the change of the gradient along it, if it shows a curvature."""
        inner = self.inner
        curvature, squares = inner(step, change), inner(step, step) * inner(change, change)
        # 1e-12: a secant is kept from this cosine on: below it is rounding
        if squares > 0 and curvature > 1e-12 * np.sqrt(squares):
            self.kept = [*self.kept[1 - self.most :], (step, change, curvature)]

    def direction(self, gradient: np.ndarray) -> np.ndarray:
        """Return minus the inverse Hessian times the gradient, as far as it is known."""
        p, shares = -gradient, []
        for step, change, curvature in reversed(self.kept):
            shares.append(self.inner(step, p) / curvature)
            p = p - shares[-1] * change
        if self.factor is not None:
            p = cholesky_solve(self.factor, p)
        elif self.kept:
            _, change, curvature = self.kept[-1]
            p = p * (curvature / self.inner(change, change))
        for (step, change, curvature), share in zip(self.kept, reversed(shares), strict=True):
            p = p + (share - self.inner(change, p) / curvature) * step
        return p

    def poor(self, before: np.ndarray, after: np.ndarray) -> bool:
        """Return whether a full step left more of the gradient, in H^-1 norm, than it should."""
        if self.factor is None:
            return True
        sizes = [float(r @ cholesky_solve(self.factor, r)) for r in (before, after)]
        # 0.4: a Hessian is poor once a full step leaves more of the gradient, in its own norm
        return sizes[1] > 0.4**2 * sizes[0]


# So few pairs are near the margin that the finisher takes over from the descent.
HAND_OVER: Final = "hand over"
Ending = Status | Literal["hand over"] | None  # why a descent stopped; None: it has arrived


class Run:
    """One run over `points`; its Hessians are drawn from `part`, some of the rows or all. `whole`
    is the number of rows of the largest problem, which a Hessian may serve."""

    def __init__(self, points: Points, whole: int = 0):
        self.points, self.problem = points, points.problem
        self.memory, self.part = Memory(points), points.problem
        self.rng, self.whole = np.random.default_rng(0), whole or points.problem.n
        self.dim = self.problem.space.dim
        # 0.1: the share of what an evaluation costs that is spent on drawing more
        paid = 0.1 * step_cost(self.whole, self.dim) / draw_cost(1, self.dim, 0)
        # 40 a coordinate; at least 5000, or 500 a coordinate if less; more if evaluations pay.
        drawn = max(min(5000, 500 * self.dim), 40 * self.dim, min(paid, 200_000))
        self.size = int(min(drawn, points.pairs.count()))
        self.spent, self.price = 0.0, 1.0
        self.newton = False  # whether each Hessian stands alone, without secants

    def run(self, f: np.ndarray, width: float, rough: bool = False, max_iter: int = 1000) -> Ending:
        """Return why it stopped; None if the gap, which a rough run guesses, is small enough."""
        points, recorder, tol = self.points, self.points.recorder, self.points.tol
        now = self._paid(points.at(f, width if points.uses_width else points.smooth_width()))
        # Whether the next step first draws a Hessian, and whether at the width of the last one.
        due: bool | None = False if self.memory.factor is None else None
        idle, blocks = Idle(points.stall), isinstance(points, BlockPoints)
        wider = np.inf, 1.0  # the last width's bias, and width
        for _ in range(max_iter):
            # The share of the tolerance to reach: the certificate adds four roundings.
            spare = 4.0 * points.rounding / (tol * max(recorder.best_primal, 1e-300))
            if recorder.near(min(max(1 - spare, points.shares[0]), points.shares[1]) * tol):
                return None
            if recorder.out_of_time:
                return Status.TIME_LIMIT
            stalled = idle.after(recorder.gap, now.far, recorder.best_primal)
            finer = points.finer(now) if idle.rounds >= 2 else None
            if finer is not None:
                now, idle.rounds = self._paid(finer), 0
                continue
            if stalled:
                # Secants of pairs that are active no more may undo the steps of a whole Hessian.
                whole = self.memory.factor is not None and self.size >= points.pairs.count()
                if self.newton or not whole:
                    return Status.STALLED
                self.newton, self.memory.kept, idle.rounds, self.price = True, [], 0, 1.0
            if due is not None:
                self._draw(now, same_width=due)
                due = None
            p = self.memory.direction(now.gradient)
            promised = -points.inner(now.gradient, p) / 2
            # A sample's optimum is only a start, so that a promised gain does for a proved one.
            if rough and promised + now.bias <= tol * recorder.best_primal:
                return None
            # 0.3: a width is solved once a step promises less than this share of its bias
            # 0.5: that of a kernel, whose pairs per row are few, once its gradient's part is
            solved = promised <= 0.3 * now.bias if points.hessians else now.far <= 0.5 * now.bias
            if points.uses_width and solved and now.bias > 1.5 * points.allowed(BIAS):
                narrower = self._narrower(now)
                if narrower is None:
                    return HAND_OVER
                # In blocks, a bias that falls with neither the width nor its square is rounding.
                constant = now.bias > wider[0] * np.sqrt(now.width / wider[1])
                if blocks and constant and now.width < wider[1]:
                    return Status.STALLED
                wider = now.bias, now.width
                try:
                    now = points.at(now.f + p, narrower)
                except OverflowingError:
                    now = points.at(now.f, narrower)
                now, due = self._paid(now), False
                continue
            moved, full = self._searched(now, p)
            if moved is None:
                # Old secants, or rough sums, may have misled the direction.
                finer = None if self.memory.kept else points.finer(now)
                if finer is None and not self.memory.kept:
                    return Status.STALLED
                now, self.memory.kept = now if finer is None else self._paid(finer), []
                continue
            self.memory.remember(moved.f - now.f, moved.gradient - now.gradient)
            if not full or self.memory.poor(now.gradient, moved.gradient):
                due = True
            now = moved
        return Status.ITERATION_LIMIT

    def _paid(self, now: Point) -> Point:
        """Count what an evaluation has cost."""
        self.spent += step_cost(self.problem.n, self.dim)
        return now

    def _narrower(self, now: Point) -> float | None:
        """Return the width that the tolerance needs, or the narrowest that one step may take, or
        None where the next window would have so few pairs that the finisher takes them all."""
        points, width = self.points, now.width
        needed = points.width_of(points.allowed(BIAS))
        if self.points.hessians:
            roomy = points.inside(SHRINK * width) > ROOMY * self.dim
            least = self.points.shrink if roomy else CAREFUL
        else:
            # 30: pairs a row that a roomy window keeps; with fewer, a width is halved at most
            roomy = points.inside(CAREFUL * width) > 30 * self.dim
            least = CAREFUL if roomy else 0.5
        narrower = max(needed, least * width)
        # 30: pairs that are few for the finisher; a Hessian's coordinates each allow one more
        # 300: of more columns, its steps cost more
        few = 30 + (min(self.dim, 300) if self._hessians else 0)
        # 10: a window of many more pairs is narrowed once more
        left = points.inside(narrower) < few and points.inside(width) < 10 * few
        return None if self.points.hessians and left else narrower

    @property
    def _hessians(self) -> bool:
        """Whether Hessians are formed: of dense rows that are held, with few enough columns."""
        held = self.part.space.held
        dense = held is not None and not held.is_sparse and self.dim <= 5000  # 200 MB
        return self.points.hessians and dense and isinstance(mean_of(self.part).pairs, Curved)

    def _draw(self, now: Point, same_width: bool) -> None:
        """Draw and factor a Hessian if the steps since the last draw have paid for it. The price
        doubles with each draw at one width: steps must show what drawn pairs miss."""
        if not self._hessians:
            return
        part, space = self.part, self.part.space
        self.price = self.price if same_width else 1.0
        if self.spent < self.price * draw_cost(self.size, self.dim, part.n):
            return
        scores = now.scores if part is self.problem else space.scores(now.f)
        H = self.points.hessian(part, scores, now.width, self.size, self.rng)
        H.flat[:: self.dim + 1] += part.lam
        self.memory.factor, self.spent = factored(H), 0.0
        self.price *= 2.0 if same_width else 1.0
        self.memory.kept = self.memory.kept if same_width and not self.newton else []

    def _searched(self, now: Point, p: np.ndarray) -> tuple[Point | None, bool]:
        """Return the point at a good length of p, and whether that was the full step."""
        first = 1.0
        if self.memory.factor is None and not self.memory.kept:
            first = self.points.first_length(now, p)
            p = first * p
        trial, blocks = self.points.line(now, p), self.problem.space.in_blocks
        tried: dict[float, Any] = {}

        def slope(t: float) -> float:
            if not blocks:  # the scores of one trial are kept, not those of all
                tried.clear()
            try:
                value, tried[t] = trial(t)
            except OverflowingError:
                return np.inf  # so far out that the loss overflows, F rises
            return value

        # 0.6: a search ends at this share of the first slope
        start = self.points.inner(now.gradient, p)
        t = root_of_slope(slope, start, 0.6, 20, stop=self.points.stop)
        if t == 0.0 or np.array_equal(now.f + t * p, now.f):
            return None, False
        # The search may end at a length that it has not tried.
        if t not in tried and not np.isfinite(slope(t)):
            return None, False
        return self._paid(self.points.at(now.f + t * p, *tried[t])), t == first == 1.0


def descend(
    problem: Problem,
    recorder: Recorder,
    tol: float,
    start: np.ndarray | None = None,
    rough: bool = False,
    max_iter: int = 1000,
    whole: int = 0,
) -> tuple[Run, Ending]:
    """Return a run, many rows from the solution for a part of them, and why it stopped."""
    space, dim = problem.space, problem.space.dim
    kind = BlockPoints if space.in_blocks else KernelPoints if space.gram is not None else Points
    points = (TailPoints if isinstance(problem.risk, Tail) else kind)(problem, recorder, tol)
    run = Run(points, whole)
    blocks, tail = isinstance(points, BlockPoints), isinstance(points, TailPoints)
    part = held_part(problem) if blocks else part_of(problem)
    f, width = points.zero if start is None else points.of(start), WARM
    if part is not None and not (blocks and start is not None):
        silent = recorder.part()  # what is best on a sample proves nothing of all rows
        # 1e-3: a sample is solved to this relative gap, or to 20 dim / its rows
        enough = max(tol, min(1e-3, 20 * dim / part.n))
        inner, _ = descend(part, silent, enough, start, True, max_iter, run.whole)
        width = points.warm
        f = f if silent.best_w is None else silent.best_w
        if inner.points.density and not tail:
            # The width that the tolerance needs, while its window is roomy.
            points.density = inner.points.density
            needed = points.width_of(BIAS * tol * max(silent.best_primal, LEAST_F))
            # 2.5e-6: relative bias of the first width over blocks, where much less is needed
            coarse = points.width_of(2.5e-6 * silent.best_primal)
            if blocks and needed < 0.1 * coarse:
                needed = coarse  # costs less to count on
            width = float(np.clip(needed, min(ROOMY * dim / points.inside(1.0), WARM), WARM))
        # Of fewer rows of a class the pairs are too alike for a Hessian of all.
        if type(points) is Points and not (
            points.classes and min(part.n_pos, part.n_neg) < 100 * dim
        ):
            run.part, run.memory.factor = part, None if points.uses_width else inner.memory.factor
    if blocks and part is not None:
        run.part, run.spent = part, np.inf  # a Hessian of rows that are held costs no pass
    # 4.0: at zero all pairs have z = 1, inside a window |z| < 2
    return run, run.run(f, width if f.any() else 4.0, rough, max_iter)


@dataclass(frozen=True)
class Descent(Solver):
    """Solve for a mean of any loss over pairs, or partial AUC, with the ridge."""

    tol: float = 1e-9
    max_iter: int = 1000
    max_time: float | None = None

    name: ClassVar[str] = "descent"

    def check(self, problem: Problem) -> None:
        """Raise `InputError` unless it is a mean over pairs of any rows or kernel, or partial AUC
        over rows that are held, with the ridge; of losses with a kink the hinge alone."""
        if not isinstance(problem.risk, Mean | Tail) or not isinstance(problem.penalty, Ridge):
            raise InputError("the descent takes means or partial AUC with the ridge: take proximal")
        if isinstance(problem.risk, Tail):
            if problem.space.held is None:
                raise InputError("partial AUC is descended over rows: factor the kernel first")
        elif kinked(problem.loss) and problem.loss != HINGE:
            raise InputError("the descent smooths the hinge alone: take the proximal method")

    def start(self, problem: Problem, recorder: Recorder) -> None:
        """Leave the start to `run`: a sample shows more than a point."""

    def run(self, problem: Problem, recorder: Recorder) -> Status | None:
        """Descend, and finish with other solvers where that does not arrive."""
        if isinstance(problem.risk, Mean) and problem.loss == HINGE:
            # With so many coordinates all pairs can have margin one: that may be the optimum.
            offer_hard_margin(problem, recorder)
            if recorder.best_w is not None and recorder.near(INSIDE * self.tol):
                return None
        _, ending = descend(problem, recorder, self.tol, recorder.w0, max_iter=self.max_iter)
        # Without a finisher that takes over, the descent has stalled.
        reason = Status.STALLED if ending == HAND_OVER else ending
        if recorder.near(self.tol) or reason is Status.TIME_LIMIT:
            return reason
        return self._run_finishers(problem, recorder, self.tol, reason)

    def _run_finishers(
        self, problem: Problem, recorder: Recorder, tol: float, reason: Status | None
    ) -> Status | None:
        """Go on with the hinge over classes: with windows of the pairs near the margin, and then
        with cutting planes, which take stalled partial AUC, too. Return why the last one stopped,
        or `reason` where none was run."""
        space, few = problem.space, problem.n <= 2000  # rows over which windows always help
        if isinstance(problem.risk, Mean):
            # No window grows: of more pairs, tied at the margin, cutting planes see sums only.
            largest = first_size(space.dim)
            windows = ActivePairs(tol, largest, max_rounds=12, max_time=recorder.time_left)
            if problem.loss != HINGE or not (space.held or space.gram):
                return reason
            if not isinstance(problem.pairs, AllPairs | PairList):
                if space.held is not None:
                    ActivePairs(tol, max_time=recorder.time_left).run(problem, recorder)
                return reason
            w, primal = recorder.best_w, recorder.best_primal
            assert w is not None
            if space.held is None:
                if few:  # the factor of a kernel makes rows of it
                    rows, lift, _ = rows_of(space)
                    found = windows.solve(problem.over(rows), rows.pull(w))
                    w, witness = lift(found.w), found.witness
                    dual = dual_value(problem, witness).value
                    recorder.offer(w, problem.objective(w), witness, dual)
                    recorder.step()
            else:
                # 0.1: rows are taken for separable if the loss is less than this share of F
                if primal - problem.lam / 2 * space.norm2(w) <= 0.1 * primal:
                    offer_hard_margin(problem, recorder, separable=True)
                    if recorder.near(INSIDE * tol):
                        return None
                # 0.5: share of F from which a gap of many rows is left to cuts; infinite it is
                # where `conclude` has forgotten the lower bound
                if few or not 0.5 * primal < recorder.gap < np.inf:
                    reason = windows.run(problem, recorder)
            if recorder.near(tol) or recorder.out_of_time:
                return reason
        elif reason is not Status.STALLED:
            return reason
        return CuttingPlane(tol, max_time=recorder.time_left).run(problem, recorder)

    def conclude(self, problem: Problem, recorder: Recorder, reason: Status | None) -> Solution:
        """Return the solution; where only rounding is missing, with a better dual point: marginals
        of a narrow ramp round more than those of single pairs."""
        tail, space, form = isinstance(problem.risk, Tail), problem.space, problem
        if tail and recorder.best_witness is not None:
            made = recorder.best_witness
            made = recorder.best_witness = made() if callable(made) else made
            # The form of the sums that the last steps had.
            form = tail_in_bins(problem, made.width) if isinstance(made, Scores) else problem
        solution = recorder.finish(form, self.tol, reason)
        if form is not problem and solution.status is not Status.CERTIFIED:
            solution = recorder.finish(problem, self.tol, reason)
        classes = tail or isinstance(problem.pairs, AllPairs | PairList)
        hinge = not tail and problem.loss == HINGE and bool(space.held or space.gram)
        ends = classes and (tail or hinge)
        if not (ends and solution.status is Status.STALLED and recorder.near(self.tol)):
            return solution
        # Forgotten, so that a dual point that rounds too much cannot keep out a better one.
        recorder.best_dual, recorder.best_witness = -np.inf, None
        try:  # 0.25: share of the tolerance to aim at where only rounding was missing
            reason = self._run_finishers(problem, recorder, 0.25 * self.tol, Status.STALLED)
        except KeyboardInterrupt:
            reason = Status.INTERRUPTED
        again = recorder.finish(problem, self.tol, reason)
        return min(solution, again, key=lambda one: one.certificate.gap)
