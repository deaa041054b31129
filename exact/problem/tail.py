"""Maxima of means over pairs: partial AUC, and the worst of several groups.

*Partial AUC* is the mean loss of the worst pairs, a maximum over weights of the rows:

    U(s) = max over 0 <= p, q <= 1, sum p <= kp, sum q <= kq of
           (1 / (kp kq)) sum_ij p_i q_j loss(s_i - s_j)

For a loss that never grows with the margin the maximum is at the kp lowest positives and the kq
highest negatives. U is convex, and any minorant of the mean of the pairs that feasible p, q weigh
is one of U. kp = n_pos is one-way partial AUC, and kq = 1 with it the loss of TopPush.

*The worst group* is the largest of several means over pairs of the same rows,

    U(s) = max over groups g of U_g(s) = max over q >= 0, sum q <= 1 of sum_g q_g U_g(s),

so that for any such q the mixture of the groups' minorants is a minorant. For solvers q is the
projection of U / width onto the simplex, in multiples of 2^-40; the value is never smoothed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np

from ..errors import InputError, brief
from ..losses.registry import Loss
from ..pairs.all_pairs import AllPairs
from ..sums.largest_rows import Chosen, candidates, exact_sum, highest
from ..sums.swept import PairSums
from ..tools.arrays import as_float_scores, check_scores
from ..tools.rounding import UNIT, Bound, float_below, gamma
from .risk import LONG_ROWS, Mean, PairRisk

STEPS = 2**40  # weights of groups are whole multiples of 1 / STEPS


@dataclass(frozen=True, eq=False)
class Tail(PairRisk):
    """The mean loss of the kp lowest positives against the kq highest negatives.

    Parameters
    ----------
    mean : Mean
        Over all pairs of rows without weights, with a nonincreasing loss; else `InputError`.
    kp, kq : Fraction or int
        Positives that count, from 1 to n_pos, and negatives, from 1 to n_neg: the last in part.
    """

    mean: Mean
    kp: Fraction
    kq: Fraction

    def __post_init__(self) -> None:
        pairs = self.mean.pairs
        self.check(pairs, self.mean.loss)
        for name, given, most in (("kp", self.kp, pairs.n_pos), ("kq", self.kq, pairs.n_neg)):
            k = Fraction(given)
            if not 1 <= k <= most:
                raise InputError(f"{name} = {float(k):g}: from 1 to {most} rows of a class count")
            object.__setattr__(self, name, k)

    @staticmethod
    def check(pairs: object, loss: Loss) -> None:
        if not isinstance(pairs, AllPairs):
            raise InputError(
                "partial AUC is over all pairs of two classes: leave out fpr_max and tpr_min, or "
                "qid, time and lists of pairs"
            )
        if pairs.weight is not None:
            raise InputError("partial AUC is over rows without weights: leave sample_weight out")
        if not loss.nonincreasing:
            raise InputError(
                f"partial AUC needs a loss that never grows with the margin: {loss.name} does"
            )

    @property
    def n(self) -> int:
        return self.mean.n

    def __repr__(self) -> str:
        counts = f"{float(self.kp):g} positive and {float(self.kq):g} negative rows"
        return f"partial AUC ({self.loss.name}, the worst {counts})"

    def share(self, p: np.ndarray, q: np.ndarray) -> float:
        """Return the largest s, rounded down, with s (mean over the pairs weighted p, q, in any
        units) <= U: kp' kq' / (kp kq) with kp' = min(kp, sum p / max p)."""
        share = Fraction(1)
        for side, k in ((p, self.kp), (q, self.kq)):
            top = Fraction(float(side.max()))
            share *= min(Fraction(1), exact_sum(side) / (top * k))
        return float_below(share)

    def sums(self, scores: np.ndarray, width: float = 0.0) -> PairSums:
        """Return U and the minorant of the worst rows, or of smoothed slopes and row weights."""
        check_scores(scores, self.mean.pairs.positive)
        scores = as_float_scores(scores)
        if self.kp + self.kq == self.n:
            return self.mean.pairs.sums(scores, self.loss, width)
        wide = max(width, 0.0)
        near = [rows[candidates(sign * scores[rows], k, wide)] for rows, k, sign in self._sides]
        found = self._weighted(scores, self.chosen(scores, 0.0, near), width)
        if width <= 0:
            return found
        smooth = self._weighted(scores, self.chosen(scores, width, near), width)
        exact = {name: getattr(found, name) for name in ("value", "value_rounding", "excess")}
        return replace(smooth, relative=None, **exact)

    @property
    def _sides(self) -> tuple[tuple[np.ndarray, Fraction, int], ...]:
        """The rows of each class, how many count, and the sign that makes large scores worst."""
        up, low = self.mean.pairs.places
        return (up, self.kp, -1), (low, self.kq, 1)

    def chosen(
        self, scores: np.ndarray, width: float, near: list[np.ndarray] | None = None
    ) -> list[Chosen]:
        """Return the rows of each class that weigh something, all in `near`, and their weights,
        smoothed over this range of scores."""
        found = []
        every = [rows for rows, _, _ in self._sides]
        for among, (_, k, sign) in zip(near or every, self._sides, strict=True):
            at, weights = highest(sign * scores[among], k, width)
            found.append((among[at], weights))
        return found

    @property
    def plain(self) -> bool:
        return self.n > LONG_ROWS or self.mean.pairs.form == "binned"

    @property
    def loss(self) -> Loss:
        return self.mean.loss

    def _weighed(self, error: np.ndarray) -> tuple[np.ndarray, int]:
        """Return the mean over the kp positives and the kq negatives of largest error: these can
        take the place of those that count now."""
        mass = np.zeros(self.n)
        for rows, k, _ in self._sides:
            worst, weights = highest(error[rows], k, 0.0)
            mass[rows[worst]] = weights / (weights.sum() * (1 - gamma(self.n + 8)))
        return mass, self.n

    def _weighted(self, scores: np.ndarray, chosen: list[Chosen], width: float) -> PairSums:
        """Return the sums over all pairs of the chosen rows, shared out as a minorant; equal
        weights are summed as counts."""
        (up, p), (low, q) = chosen
        used, share = np.concatenate([up, low]), self.share(p, q)
        whole = all(side.min() == side.max() for side in (p, q))
        form, bins = self.mean.pairs.form, self.mean.pairs.bins
        weights = None if whole else np.concatenate([p, q])
        pairs = AllPairs(weights, form=form, bins=bins).on(np.arange(used.size) < up.size)
        sums = pairs.sums(scores[used], self.loss, width)
        c = np.zeros(self.n)
        c[used] = share * sums.c
        # A boundary row's weight is right to a unit where it is not a whole number.
        value_rounding = sums.value_rounding + 8 * UNIT * sums.value
        rounded = gamma(2) * float(np.abs(c).sum()) if share < 1 else 0.0
        slip = sums.conjugate_rounding + (gamma(2) * abs(sums.conjugate) if share < 1 else 0.0)
        return PairSums(
            sums.value, c, share * sums.conjugate, share * sums.total,
            sums.value_rounding if whole else value_rounding, sums.rounding + rounded, slip,
            excess=sums.excess,
        )  # fmt: skip


def check_rates(fpr_max: float | Fraction, tpr_min: float | Fraction) -> tuple[Fraction, Fraction]:
    above, below = _rate("fpr_max", fpr_max), _rate("tpr_min", tpr_min)
    if not 0 < above <= 1:
        raise InputError(f"fpr_max = {brief(fpr_max)}: it must be above 0 and at most 1")
    if not 0 <= below < 1:
        raise InputError(f"tpr_min = {brief(tpr_min)}: it must be at least 0 and below 1")
    return above, below


def tail_risk(
    pairs: AllPairs, loss: Loss, fpr_max: float | Fraction = 1.0, tpr_min: float | Fraction = 0.0
) -> Mean | Tail:
    """Return the risk of partial AUC: false positive rates up to, true positive rates from.

    kq = fpr_max n_neg and kp = (1 - tpr_min) n_pos, each at least one row. The whole range is the
    mean over all pairs. A rate out of range raises `InputError`.

    Parameters
    ----------
    pairs : AllPairs, with labels
    loss : Loss
    fpr_max : number in (0, 1]
        A float is taken as the decimal number that it prints, so that 0.1 of 10 rows is one row.
    tpr_min : number in [0, 1)
    """
    above, below = check_rates(fpr_max, tpr_min)
    if above == 1 and below == 0:
        return Mean(pairs, loss)
    kp, kq = (1 - below) * pairs.n_pos, above * pairs.n_neg
    return Tail(Mean(pairs, loss), max(kp, Fraction(1)), max(kq, Fraction(1)))


def _rate(name: str, value: float | Fraction) -> Fraction:
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real | Decimal):
        raise InputError(f"{name} = {brief(value)} is not a number")
    try:
        return Fraction(value if isinstance(value, Fraction | int) else Decimal(str(value)))
    except (ValueError, ArithmeticError, OverflowError) as error:
        raise InputError(f"{name} = {brief(value)} is not a number") from error


@dataclass(frozen=True, eq=False)
class Worst(PairRisk):
    """The largest of several means: of groups of rows, say, as fairness asks for. The `means` are a
    tuple over pairs of the same rows, with one loss; else `InputError`."""

    means: tuple[Mean, ...]

    def __post_init__(self) -> None:
        if not self.means or not all(isinstance(mean, Mean) for mean in self.means):
            raise InputError("the worst group needs means over pairs: Worst((Mean(...), ...))")
        if len({mean.n for mean in self.means}) > 1:
            raise InputError("all means of the worst group must be over the same rows")
        if any(mean.loss != self.loss for mean in self.means):
            raise InputError("all means of the worst group must have one loss")

    def __repr__(self) -> str:
        return f"the worst of {len(self.means)} groups ({self.loss.name})"

    @property
    def n(self) -> int:
        return self.means[0].n

    @property
    def loss(self) -> Loss:
        return self.means[0].loss

    @property
    def plain(self) -> bool:
        return self.n > LONG_ROWS or all(mean.plain for mean in self.means)

    def sums(self, scores: np.ndarray, width: float = 0.0) -> PairSums:
        """Return U and the minorant of a mixture of the groups, its weights smoothed too."""
        found = [mean.sums(scores, width) for mean in self.means]
        values = np.array([float(part.value) for part in found])
        q = group_weights(values, width)
        top = max(part.value + part.value_rounding for part in found)
        low = max(part.value - part.value_rounding - part.excess for part in found)
        value, chain = float(values.max()), gamma(q.size + 4)

        def mixture(of: Callable[[PairSums], Any]) -> Any:
            return sum(k * of(part) for k, part in zip(q.tolist(), found, strict=True))

        rounding, size = mixture(lambda x: x.rounding), mixture(lambda x: float(np.abs(x.c).sum()))
        slip, heavy = mixture(lambda x: x.conjugate_rounding), mixture(lambda x: abs(x.conjugate))
        c, conjugate = mixture(lambda x: x.c), mixture(lambda x: x.conjugate)
        return PairSums(
            value, c, conjugate, mixture(lambda x: x.total),
            (top - value) * (1 + gamma(4)) + gamma(4) * abs(value),
            (rounding + chain * size) * (1 + gamma(self.n + 8)),
            (slip + chain * heavy) * (1 + chain), excess=max(value - low, 0.0) * (1 + gamma(4)),
        )  # fmt: skip

    def upper(self, scores: np.ndarray, error: np.ndarray, sums: PairSums | None = None) -> Bound:
        bounds = [mean.upper(scores, error) for mean in self.means]
        value = max(bound.value for bound in bounds)
        top = max(bound.value + bound.error for bound in bounds)
        low = max(bound.low for bound in bounds)
        above = (top - value) * (1 + gamma(4)) + gamma(4) * abs(top)
        return Bound(value, above, max(value - low, 0.0))


def group_weights(values: np.ndarray, width: float) -> np.ndarray:
    """Return weights >= 0 of sum one, multiples of 1 / `STEPS`: the projection of values / width
    onto the simplex, rounded down, and the rest at the largest value."""
    top = int(np.argmax(values))
    whole = np.zeros(values.size, dtype=np.int64)
    if width > 0:
        x = np.maximum(values - values[top], -2 * width) / width  # below -1 all weigh nothing
        ranked = np.sort(x)[::-1]
        least = (np.cumsum(ranked) - 1) / np.arange(1, x.size + 1)
        level = least[np.flatnonzero(ranked > least)[-1]]
        whole = np.floor(np.clip(x - level, 0.0, 1.0) * STEPS).astype(np.int64)
        whole[top] = 0
    whole[top] = STEPS - int(whole.sum())
    if whole[top] < 0:  # the others' rounding cannot take more than there is
        whole = np.where(np.arange(values.size) == top, STEPS, 0)
    return whole / STEPS
