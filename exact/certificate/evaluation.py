"""One evaluation at given weights, of rows in blocks or partitions, and notes of the last ones.

Rows are scored and counted into bins; the closed bins give each row its marginal, and the marginals
pull the rows. Where scores are not kept, the sums of each bin's rows are gathered while they are
counted, so that one pass is enough; where these would be too many numbers, rows are read again.

A smoothed hinge of width delta has alpha = clip(z / delta + 1/2, 0, 1). With g its pull the
smoothed objective has gradient lam w - g, and the gap splits into

    primal - dual = bias + |lam w - g|^2 / (2 lam),   bias = mean of max(0, z) - alpha z >= 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from ..errors import CertificateError, InputError, OverflowingError
from ..losses import registry
from ..losses.registry import HINGE, Exponential, Logistic, SmoothHinge, Square, SquaredHinge
from ..pairs.partitioned_pairs import PartitionedPairs, pairs_here
from ..problem.problem import Problem
from ..spaces.blocks import Block
from ..spaces.groups import whole_partition
from ..sums import binned
from ..sums.binned import Extent, Gathered, Ruler, hinge_of_scores
from ..sums.convolved import bins_cost, closed_smooth, smooth_ruler
from ..sums.swept import PairSums
from ..tools.rounding import UNIT, Bound, Pull, above, gamma

EXACT = 2.0**52  # whole weights add up exactly while their sum is below this
CONVOLVED = (Logistic, SmoothHinge)  # losses that are summed by a convolution
SLACK = 0.05  # share by which the range of the last scores grows
OUTWARDS = np.array([-1.0, 1.0, -1.0, 1.0])


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What one evaluation at the weights `w` tells: the mean loss, that of dual(alpha), which is
    `conjugate`, and the pull of alpha. Only the hinge has a width, 2 `half` / `bins`."""

    w: np.ndarray
    loss: float
    conjugate: float
    pull: np.ndarray
    loss_rounding: float
    conjugate_rounding: float
    pull_error: float
    width: float
    bins: int = 0
    half: int = 0
    excess: float = 0.0

    @property
    def bias(self) -> float:
        """The cost of smoothing: the mean of max(0, z) - alpha z, >= 0 up to rounding."""
        return max(self.loss - self.conjugate + float(self.w @ self.pull), 0.0)

    def primal(self, lam: float) -> Bound:
        size = float(self.w @ self.w)
        sums = gamma(self.w.size + 8) * (lam * size + abs(self.loss))
        rounding = (self.loss_rounding + sums) * (1 + gamma(8))
        return Bound(self.loss + lam / 2 * size, rounding, self.excess)

    def scale(self, lam: float) -> float:
        """Return the best factor in [0, 1] by which to shrink alpha."""
        norm2 = float(self.pull @ self.pull)
        return min(1.0, lam * self.conjugate / norm2) if norm2 > 0 else 1.0

    def dual(self, lam: float, scale: float = 1.0) -> Bound:
        """Return the lower bound that scale * alpha proves."""
        value = scale * self.conjugate - scale**2 * float(self.pull @ self.pull) / (2 * lam)
        norm, error = float(np.linalg.norm(self.pull)), self.pull_error
        square = error * (2 * norm + error) + gamma(self.w.size + 8) * norm**2
        size = scale * self.conjugate + scale**2 * norm**2 / (2 * lam)
        rounding = scale * self.conjugate_rounding + scale**2 * square / (2 * lam) + gamma(8) * size
        return Bound(value, rounding * (1 + gamma(16)))


# Notes, so that no certificate makes again what a solver has just made. An evaluation is a function
# of the rows, the labels, w and the grid alone, and has bounds of all its roundings. Each one that
# is made here is written down as a copy, under the bytes of w; what a solver does with the one that
# it was handed changes nothing, and what it claims is never looked at. The same holds for the last
# sums over pairs in memory, under the scores themselves. See `docs/decisions.md`.


@dataclass(eq=False)
class _Notes:
    evaluations: list[tuple[Problem, bytes, Evaluation]] = field(default_factory=list)
    # The last sums by scores and width, and the bytes of w where the scores were made of it.
    last: tuple[Problem, np.ndarray, float, PairSums, bytes | None] | None = None


_NOTES: ContextVar[_Notes | None] = ContextVar("notes", default=None)


@contextmanager
def noting() -> Iterator[None]:
    token = _NOTES.set(_Notes())
    try:
        yield
    finally:
        _NOTES.reset(token)


def within_a_solve() -> bool:
    return _NOTES.get() is not None


def note(problem: Problem, found: Evaluation) -> Evaluation:
    notes = _NOTES.get()
    if notes is not None:
        copy = replace(found, w=_fixed(found.w), pull=_fixed(found.pull))
        notes.evaluations.append((problem, copy.w.tobytes(), copy))
    return found


def noted(problem: Problem, w: np.ndarray, bins: int, half: int | None = None) -> Evaluation | None:
    """Return the evaluation at `w` on grids of `bins`, or None if there is none."""
    notes, point = _NOTES.get(), _bytes(w)
    for about, where, found in () if notes is None else notes.evaluations:
        same = about is problem and where == point and found.bins == bins
        if same and half in (None, found.half):
            return found
    return None


def sums_at(problem: Problem, scores: np.ndarray, width: float, w: Any = None) -> PairSums:
    """Return the risk's sums at `scores` (n,), those of `w` if given, and note them, the last ones
    alone, read-only."""
    notes = _NOTES.get()
    if notes is None:
        return problem.risk.sums(scores, width)
    notes.last = None  # what overflows leaves none
    scores = _fixed(scores)
    found = problem.risk.sums(scores, width)
    found.c.flags.writeable = False
    notes.last = problem, scores, width, found, None if w is None else _bytes(w)
    return found


def noted_scores(problem: Problem, w: np.ndarray) -> np.ndarray | None:
    """Return the scores of `w` if the last sums were made of that very point, or None."""
    notes = _NOTES.get()
    if notes is None or notes.last is None:
        return None
    about, scores, _, _, point = notes.last
    return scores if about is problem and point == _bytes(w) else None


def noted_sums(problem: Problem, scores: np.ndarray, width: float) -> PairSums | None:
    """Return the sums at `scores` if they were the last made of this very problem, or None."""
    notes = _NOTES.get()
    if notes is None or notes.last is None:
        return None
    about, at, wide, sums, _ = notes.last
    return sums if about is problem and wide == width and np.array_equal(at, scores) else None


def _bytes(w: np.ndarray) -> bytes:
    """Return what a point is known by: -0.0 and 0.0 are two points."""
    return np.asarray(w, dtype=float).tobytes()


def _fixed(values: np.ndarray) -> np.ndarray:
    copy = np.array(values, dtype=float)
    copy.flags.writeable = False
    return copy


def binned_at(problem: Problem, w: np.ndarray, bins: int, half: int) -> Evaluation:
    """Return the evaluation at `w` on a grid: the noted one, or a new one."""
    known = noted(problem, w, bins, half if problem.loss == HINGE else None)
    return Evaluator(problem).at(w, bins, half) if known is None else known


def loss_at(problem: Problem, w: np.ndarray, bins: int) -> Evaluation:
    """Return an evaluation at `w` for its loss: any smoothing will do, and a finer grid."""
    known = noted(problem, w, bins)
    return binned_at(problem, w, max(bins, fine_bins(problem)), 0) if known is None else known


def fine_bins(problem: Problem) -> int:
    """Return the bins per unit from which the bound of a loss is close enough for any purpose."""
    if problem.space.grouped is not None:
        return 1  # whole groups have no bins
    smooth = problem.space.apart is not None and problem.loss != HINGE
    # 1 << 14: bins per unit, at least, for the loss of weights that no solver made
    return 1 << 11 if smooth else 1 << 14  # the same for smooth losses: their bins cost less


class Evaluator:
    """The evaluations of one problem, wherever its rows lie. A grid of K bins per unit costs a
    smooth loss 1 / (doubt K^order)."""

    def __init__(self, problem: Problem):
        space, pairs, loss = problem.space, problem.pairs, problem.loss
        self.problem, self.loss, self.hinge = problem, loss, loss == HINGE
        if space.held is None and not space.in_blocks:
            raise InputError("binned dual points are for rows, not for another space")
        self.rows: Any = space.labelled(pairs)
        self.groups = space.grouped is not None
        self.doubt, self.order = np.inf, 1
        if self.groups:
            self.mass, self.whole = self.rows.order.mass, True
            return
        if isinstance(pairs, PartitionedPairs):
            facts = pairs.facts
            self.mass, self.weighted = facts.mass, facts.weighted
            self.whole = facts.whole and float(facts.mass.max()) < EXACT
        else:
            up, weight = pairs.positive, pairs.weight
            sides = pairs.n_neg, pairs.n_pos
            if weight is not None:
                sides = weight[~up].sum(), weight[up].sum()
            self.mass, self.weighted = np.array(sides, dtype=float), weight is not None
            self.whole = binned.whole_numbers(weight) and float(self.mass.max()) < EXACT
        if isinstance(loss, CONVOLVED):
            self.doubt, self.order = bins_cost(loss)
        elif isinstance(loss, SquaredHinge):
            self.doubt, self.order = 9.0, 3
        elif not (self.hinge or isinstance(loss, Square | Exponential)):
            raise InputError(f"rows in blocks have no sums of the loss {loss.name!r} by bin")
        if not self.hinge and space.held is not None:
            raise InputError("binned dual points of rows in memory are for the hinge")

    def at(self, w: np.ndarray, bins: int, half: int = 0) -> Evaluation:
        """Return the evaluation at `w` on a grid of `bins` a unit, a power of two."""
        w = np.ascontiguousarray(w, dtype=float)
        half = half if self.hinge else 0
        if self.groups:
            found = self._grouped(w, bins, half)
        elif self.hinge and self.rows.keeps:
            found = self._kept(w, bins, half)
        elif isinstance(self.loss, Square):
            found = self._squares(w)
        elif isinstance(self.loss, Exponential):
            found = self._exponentials(w)
        else:
            found = self._binned(w, bins, half)
        return note(self.problem, found)

    def _counted(self, found: Any, mass: Any = None) -> Any:
        """Raise `CertificateError` unless every row, or pair, of every partition was counted once.
        A partition that was lost or counted twice would make a bound false, not just loose."""
        rows = self.rows
        wrong = mass is not None and self.whole and not np.array_equal(mass, self.mass)
        if wrong or found.rows != rows.n or found.parts != rows.parts:
            raise CertificateError(
                f"{found.rows} rows of {found.parts} partitions were counted, and there are "
                f"{rows.n} of {rows.parts}: please report this"
            )
        return found

    # Sums by bin over two classes. Hinge and squared hinge are bounded by them. The mean of losses
    # that are convolved is at most V - c's + (L/2) mean e^2 + tail, and c's = w'pull for the true
    # scores s. Computed scores are off by `slip` each: that moves the mean loss by 2 slip lipschitz
    # at most, and c's by slip |c|_1.

    def _kept(self, w: np.ndarray, bins: int, half: int) -> Evaluation:
        pairs, extent, scores = self.problem.pairs, Extent(), self.rows.scores(w)
        extent.add(scores, pairs.positive)
        sums, c = hinge_of_scores(extent.ends, scores, pairs.positive, pairs.weight, bins, half)
        return self._of_lines(w, bins, half, sums, self.rows.pulled(c))

    def _binned(self, w: np.ndarray, bins: int, half: int) -> Evaluation:
        rows, extent = self.rows, score_extent(self.rows, w)
        convolved: Any = self.loss if isinstance(self.loss, CONVOLVED) else None
        while True:
            if self.hinge:
                ruler = binned.hinge_ruler(extent, bins, half)
            elif convolved is None:
                ruler = binned.squared_ruler(extent, bins)
            else:
                ruler = smooth_ruler(extent, bins, convolved)
            kept = 2 * ruler.size * ruler.powers * (rows.dim + 1) <= rows.kept_numbers
            columns = 2 if self.hinge else 4 if self.weighted else 3
            found = rows.total(partial(gather, rows.offset, w, ruler, columns, kept))
            self._counted(found, found.held[..., 0].sum(axis=1))
            rows.last_range = w, found.ends
            if ruler.holds(found.ends):
                break
            extent = widened(found.ends, SLACK)
        if self.hinge:
            sums = binned.closed_hinge(ruler, found, half, self.whole)
        elif convolved is None:
            sums = binned.closed_squared(ruler, found, self.whole)
        else:
            sums = closed_smooth(ruler, found, self.whole, convolved)
        if kept:
            uncounted = self.hinge and not self.whole
            pull = found.weighed(sums.c, found.rows if uncounted else found.longest)
        else:
            offset, table = rows.offset, sums.c

            def by_lines(blocks: Iterator[Block], index: int) -> Pull:
                into = Pull.of(w.size)
                for block in blocks:
                    ruler.pull(block, offset, w, table, into)
                return into

            pull = rows.total(by_lines)
        return self._of_lines(w, ruler.bins, half, sums, (pull.value, pull.bound(), pull.size))

    def _of_lines(
        self, w: np.ndarray, bins: int, half: int, sums: PairSums,
        pulled: tuple[np.ndarray, float, float],
    ) -> Evaluation:  # fmt: skip
        """Return the evaluation of closed sums: the pull comes with its own error and size."""
        slip, (g, error, far) = self.rows.score_slip(w), pulled
        moved = self.rows.reach * sums.rounding
        if self.hinge and sums.conjugate > 0:  # each marginal errs relative to itself
            moved = min(moved, sums.conjugate_rounding / sums.conjugate * far * (1 + 1e-6))
        error += moved + UNIT * float(np.linalg.norm(g))
        error *= 1 + gamma(8)
        value, rounding = sums.value, sums.value_rounding
        if self.hinge:
            rounding += 2 * slip
        elif isinstance(self.loss, SquaredHinge):
            # A margin is off by two slips at most: (z + 2 slip)^2 - z^2, and |z| by its mean.
            upper = value + rounding
            rounding += 2 * slip * (2 * float(np.sqrt(upper)) + 2 * slip) * (1 + gamma(8))
        else:
            size, linear = float(np.linalg.norm(w)), float(w @ g)
            value += sums.conjugate - linear
            rounding += size * error + gamma(w.size + 4) * size * float(np.linalg.norm(g))
            rounding += 2 * slip * (self.loss.lipschitz + sums.total + sums.rounding)
            rounding += gamma(8) * (abs(sums.conjugate) + abs(linear) + abs(value))
            rounding *= 1 + gamma(8)
        return Evaluation(
            w, max(value, 0.0), sums.conjugate, g, rounding, sums.conjugate_rounding, error,
            2 * half / bins, bins, half, sums.excess,
        )  # fmt: skip

    # Losses that need nothing but sums of each class. With M the mass of a class, and means over
    # its rows in brackets,
    #
    #     mean (1 - t)^2 = 1 - 2 ([s]+ - [s]-) + [s^2]+ + [s^2]- - 2 [s]+ [s]-,
    #     pull = 2 ((1 + [s]-) [x]+ - [s x]+) - 2 ((1 - [s]+) [x]- + [s x]-);
    #     mean exp(-t) = exp(r - l) [f]+ [f]-,  f = exp(l - s) of positives, exp(s - r) of others,
    #     pull = mean exp(-t) (sum f x / sum f of positives, less that of negatives),
    #
    # l, r the least score of a positive row and the largest of a negative one, or bounds of them.
    # These are sums at the computed scores, each of which is off by `slip` at most.

    def _squares(self, w: np.ndarray) -> Evaluation:
        found = self._counted(self.rows.total(partial(class_sums, self.rows.offset, w, None)))
        self.rows.last_range = w, found.seen.ends
        mass = found.numbers[:, 0]
        (size_b, size_a), (b, a), (two_b, two_a) = (found.numbers[:, 1:] / mass[:, None]).T
        means, norms = found.vectors / mass[:, None, None], found.norms / mass[:, None]
        value = 1 - 2 * (a - b) + two_a + two_b - 2 * a * b
        conjugate = 2 * (1 - (a - b)) - value
        chain = gamma(found.chain)
        size = 1 + 2 * (size_a + size_b) + two_a + two_b + 2 * size_a * size_b
        rounding = 4 * chain * size * (1 + 8 * chain)
        pull = 2 * ((1 + b) * means[1, 0] - means[1, 1] - (1 - a) * means[0, 0] - means[0, 1])
        parts = 2 * ((1 + size_b) * norms[1, 0] + norms[1, 1])
        parts += 2 * ((1 + size_a) * norms[0, 0] + norms[0, 1])
        error = (8 * chain + gamma(w.size + 16)) * float(parts) * (1 + 8 * chain)
        slip = 2 * self.rows.score_slip(w)
        # (z + slip)^2 - z^2 in the mean, and |z| by the root of the mean of z^2.
        moved = slip * (2 * float(np.sqrt(max(value, 0.0) + rounding)) + slip)
        return Evaluation(
            w, max(value, 0.0), conjugate, pull, rounding + moved * (1 + gamma(8)), 2 * rounding,
            error, 0.0, 1,
        )  # fmt: skip

    def _exponentials(self, w: np.ndarray) -> Evaluation:
        rows, ends = self.rows, score_ends(self.rows, w)
        rows.last_range = w, ends
        levels = float(ends[3]), float(ends[0])
        worst = levels[0] - levels[1]
        if not worst <= registry.LARGEST_EXPONENT:
            raise OverflowingError(
                f"the exponential loss overflows at a margin of {-worst:g}: take smaller weights, "
                "a larger lam or another loss"
            )
        found = self._counted(rows.total(partial(class_sums, rows.offset, w, levels)))
        (_, sum_b, far_b), (_, sum_a, far_a) = found.numbers
        if not min(sum_a, sum_b) > 0:  # the ends may be those of rows without weight
            raise OverflowingError("the scores are so far apart that sums of exponentials vanish")
        mean_b, mean_a = found.numbers[:, 1] / found.numbers[:, 0]
        value = float(np.exp(worst)) * mean_a * mean_b
        pull = value * (found.vectors[1, 0] / sum_a - found.vectors[0, 0] / sum_b)
        # Exponents round by |x| units, exponentials by a few, sums by their chain.
        chain = gamma(found.chain + 32)
        away = 4 * UNIT * (far_a / sum_a + far_b / sum_b + abs(worst)) * (1 + chain)
        relative = 4 * chain + away
        reached = (found.norms[1, 0] / sum_a + found.norms[0, 0] / sum_b) * (1 + 8 * chain)
        share = (8 * chain + gamma(w.size + 16)) * reached + 4 * away * self.rows.reach
        error = value * share
        slip, size = 2 * self.rows.score_slip(w), float(np.linalg.norm(w))
        linear = float(w @ pull)
        rounding = value * relative * (1 + relative)
        slack = size * error + gamma(w.size + 8) * (size * float(np.linalg.norm(pull)) + value)
        moved = value * float(np.expm1(slip)) * (1 + relative) * (1 + 1e-12)
        return Evaluation(
            w, value, value + linear, pull, rounding + moved,
            (rounding + slack + 2 * slip * value) * (1 + relative), error * (1 + relative), 0.0, 1,
        )  # fmt: skip

    def _grouped(self, w: np.ndarray, bins: int, half: int) -> Evaluation:
        """Evaluate ordered pairs: each partition sums over its own groups, at the width alone."""
        rows, mass, width = self.rows, float(self.rows.order.mass), 2 * half / bins
        offset, loss = rows.offset, self.loss

        def group_sums(blocks: Iterator[Any], index: int) -> GroupSums:
            """The sums of one partition, times what its pairs weigh."""
            pull, whole = Pull.of(w.size), whole_partition(blocks)
            pairs = None if whole is None else pairs_here(whole)
            if whole is None or pairs is None:
                return GroupSums(pull, 0 if whole is None else whole.key.size, 0, np.zeros(6))
            sums, mass = pairs.sums(whole.scores(offset, w), loss, width), float(pairs.mass)
            c, start = mass * sums.c, 0
            for columns in whole.columns:
                own = c[start : start + columns.shape[1]]
                start += own.size
                pull.add_columns(columns - offset[:, None], own, np.abs(own))
            pull.slip += 4 * UNIT * pull.size
            size = abs(sums.value) + abs(sums.conjugate) + abs(sums.total)
            errors = sums.value_rounding, sums.conjugate_rounding, sums.rounding
            numbers = mass * np.array([sums.value, sums.conjugate, size, *errors])
            return GroupSums(pull, whole.key.size, pairs.mass, numbers)

        found = rows.total(group_sums)
        self._counted(found, found.mass)
        chain = gamma(rows.parts + 16)
        value, conjugate, size, value_error, conjugate_error, c_error = found.numbers / mass
        upper = value * (1 + chain) + value_error * (1 + chain)
        # Every row has the same bound of its error: two rows of mass one stand for the two sides.
        moved = registry.loss_slip(self.loss, np.ones(2), np.full(2, rows.score_slip(w)), upper)
        g = found.pull.value / mass
        error = found.pull.bound() / mass + rows.reach * c_error
        error += 4 * UNIT * float(np.linalg.norm(g))
        return Evaluation(
            w, value, conjugate, g, above((value_error + moved + chain * value) * (1 + gamma(32))),
            (conjugate_error + chain * size) * (1 + gamma(32)), error * (1 + chain), width, bins,
            half,
        )  # fmt: skip


def score_extent(rows: Any, w: np.ndarray) -> np.ndarray:
    """Return a range for the scores of `w`: one that surely holds them if it is not wide."""
    size = rows.reach * float(np.linalg.norm(w)) * OUTWARDS
    before, ends, slack = w, None, SLACK
    if rows.last_range is not None:
        before, ends = rows.last_range
    elif rows.sample is not None:
        some, up = rows.sample.rows, rows.sample.positive
        if up.any() and not up.all():
            found = Extent()
            found.add((some - rows.offset) @ w, up)
            ends, slack = found.ends, 0.3  # a sample sees less of the range
    if ends is None or not np.isfinite(ends).all():
        return widened(score_ends(rows, w), SLACK)
    guess, sure = widened(ends, slack), size
    if slack == SLACK:
        # No score moves by more than reach |w - before|. Where two ranges hold all scores, so does
        # what they share.
        sure = ends + rows.reach * float(np.linalg.norm(w - before)) * OUTWARDS
        sure[::2] = np.maximum(sure[::2], size[::2])
        sure[1::2] = np.minimum(sure[1::2], size[1::2])
    # 1.5: a range that surely holds all scores is taken if at most so much wider
    wide = (sure[1::2] - sure[::2] > 1.5 * (guess[1::2] - guess[::2])).any()
    return guess if wide else sure


def score_ends(rows: Any, w: np.ndarray) -> np.ndarray:
    """Return the range of each class's scores, as `Extent.ends`: a pass over the rows."""
    offset = rows.offset

    def extent(blocks: Iterator[Block], index: int) -> np.ndarray:
        found = Extent()
        for columns, positive, *_ in blocks:
            found.add(w @ (columns - offset[:, None]), positive)
        return found.ends * OUTWARDS  # of several the maximum is the widest

    return rows.total(extent, np.maximum) * OUTWARDS


def widened(ends: np.ndarray, share: float) -> np.ndarray:
    """Return a range, as `Extent.ends`, moved outwards by a share of itself."""
    low, high = ends[[0, 2]], ends[[1, 3]]
    margin = share * (high - low) + 1e-9
    return np.ravel(np.column_stack([low - margin, high + margin]))


def gather(
    offset: np.ndarray, w: np.ndarray, ruler: Ruler, moments: int, kept: bool,
    blocks: Iterator[Block], index: int,
) -> Gathered:  # fmt: skip
    """Count rows and sum so many moments by bin; where `kept`, keep the sums of each bin's rows."""
    found = Gathered.over(ruler, w.size if kept else 0, moments)
    for block in blocks:
        found.add(ruler, block, offset, w)
    return found


@dataclass(eq=False)
class ClassSums:
    """Sums over the rows of each class, the negatives first."""

    numbers: np.ndarray
    vectors: np.ndarray
    norms: np.ndarray
    seen: Extent
    rows: int = 0
    parts: int = 1
    most: int = 0
    blocks: int = 0

    def merge(self, other: ClassSums) -> ClassSums:
        for name in ("numbers", "vectors", "norms", "rows", "parts", "blocks"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.seen.merge(other.seen)
        self.most = max(self.most, other.most)
        return self

    @property
    def chain(self) -> int:
        """How many roundings a number passes at most, but for those of its own factors."""
        return self.most + self.blocks + self.parts + 16


def class_sums(
    offset: np.ndarray, w: np.ndarray, levels: tuple[float, float] | None, blocks: Iterator[Block],
    index: int,
) -> ClassSums:  # fmt: skip
    """Sum numbers of each class and, with other factors, its rows. Without `levels` mass, mass |s|,
    mass s and mass s^2, and the rows times mass and mass s; with them mass, f and f |x|, f = mass
    exp(x): x = level - s of positives, s - level of others."""
    k, m = (4, 2) if levels is None else (3, 1)
    found = ClassSums(np.zeros((2, k)), np.zeros((2, m, w.size)), np.zeros((2, m)), Extent())
    for columns, positive, weight, *_ in blocks:
        centred = columns - offset[:, None]
        scores = w @ centred
        found.seen.add(scores, positive)
        norms = np.sqrt(np.einsum("ij,ij->j", centred, centred))
        for side in (0, 1):
            own = positive == bool(side)
            mass = np.ones(int(own.sum())) if weight is None else weight[own]
            s = scores[own]
            if levels is None:
                first = mass * s
                numbers = np.stack([mass, np.abs(first), first, first * s])
                vectors = np.stack([mass, first])
            else:
                x = levels[1] - s if side else s - levels[0]
                factor = mass * np.exp(np.where(mass > 0, x, 0.0))
                numbers, vectors = np.stack([mass, factor, factor * np.abs(x)]), factor[None]
            found.numbers[side] += numbers.sum(axis=1)
            found.vectors[side] += vectors @ centred[:, own].T
            found.norms[side] += np.abs(vectors) @ norms[own]
        found.rows += positive.size
        found.most = max(found.most, positive.size)
        found.blocks += 1
    return found


@dataclass(eq=False)
class GroupSums:
    pull: Pull
    rows: int
    mass: int
    numbers: np.ndarray
    parts: int = 1

    def merge(self, other: GroupSums) -> GroupSums:
        self.pull.merge(other.pull)
        for name in ("rows", "mass", "numbers", "parts"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self
