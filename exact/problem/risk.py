"""What is minimised next to the penalty: a convex function U of the scores, here a mean over pairs.

`Risk` says what any U must have. Certificates rest on a minorant of it: U(s) >= V - c's for all
scores s. It carries the evidence that it was made from, and a certificate has the risk make it
again: `Risk.minorant` knows some kinds of evidence and refuses the others.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import InputError, OverflowingError
from ..losses import registry
from ..losses.registry import HINGE, SQUARED_HINGE, Hinge, Loss, SmoothHinge, SquaredHinge
from ..pairs.all_pairs import AllPairs, Labelled, PairList, deficiency, enumerated
from ..pairs.ordered_pairs import WEIGHT_UNITS, OrderedPairs
from ..pairs.partitioned_pairs import PartitionedOrder, PartitionedPairs
from ..sums.convolved import LARGEST_SCORE
from ..sums.swept import PairSums
from ..tools.arrays import check_count, check_number
from ..tools.rounding import UNIT, Bound, gamma, short_chain, short_sum, unit_of

NEGLIGIBLE = 1e-13  # share of U below which the largest error of a score alone bounds the change
LONG_ROWS = 300_000  # rows up to which a certificate evaluates its sums in the long format
NEEDED = ("n", "count", "sums", "row_mass")  # what a set of pairs must have


@dataclass(frozen=True, eq=False)
class Scores:
    """The slopes of the loss at any scores: alpha = -loss'(margin), shrunk."""

    scores: np.ndarray
    width: float = 0.0
    scale: float = 1.0


@dataclass(frozen=True, eq=False)
class Alpha:
    """One dual variable for each listed pair."""

    alpha: np.ndarray


@dataclass(frozen=True, eq=False)
class Marginals:
    """The summed alpha of each row's pairs, for the hinge over all pairs."""

    u: np.ndarray
    v: np.ndarray


@dataclass(frozen=True, eq=False)
class Weights:
    """The slopes at the scores of some weights, rounded down to a grid, for rows read in blocks."""

    w: np.ndarray
    bins: int
    half: int
    scale: float = 1.0


@dataclass(frozen=True, eq=False)
class Mix:
    """A mixture of other evidence: a mixture of minorants is a minorant."""

    parts: tuple[tuple[float, Evidence], ...]


Evidence = Scores | Alpha | Marginals | Weights | Mix


class Risk(ABC):
    """U: a convex function >= 0 of differences of the n rows' scores. `sums` in the last two are
    the risk's own at these very scores, where they are known."""

    @property
    @abstractmethod
    def n(self) -> int: ...

    @property
    def plain(self) -> bool:
        """Whether sums are made of float scores anyway: counts, bins, or many rows."""
        return False

    @property
    def smoothness(self) -> float:
        """A bound of loss''; infinite where U has kinks, which a width then smooths."""
        return np.inf

    @abstractmethod
    def sums(self, scores: np.ndarray, width: float = 0.0) -> PairSums:
        """Return U and the minorant at `scores` (n,), its slopes smoothed over `width`."""

    def careful_sums(self, scores: np.ndarray, width: float = 0.0) -> PairSums:
        """Return the sums that round the least."""
        return self.sums(scores, width)

    def shrunk_dual(self, sums: PairSums) -> tuple[float, float]:
        """Return p, q: the conjugate sum of s alpha is at least s p - s^2 q for s in [0, 1]."""
        return sums.conjugate, 0.0

    @abstractmethod
    def upper(self, scores: np.ndarray, error: np.ndarray, sums: PairSums | None = None) -> Bound:
        """Return U(scores) and what rounding and errors (n,) of the scores can do to it."""

    @abstractmethod
    def minorant(self, evidence: Evidence, sums: PairSums | None = None) -> Minorant:
        """Return the minorant that `evidence` makes, or raise `InputError` for an unknown kind."""


@dataclass(frozen=True, eq=False)
class Minorant:
    """A number V and a vector c with U(s) >= V - c's for all scores s, and its evidence.

    Risks make them; `from_scores` and `from_marginals` are short forms. A *witness* is the minorant
    of a solution, a *dual point* the alpha or scores that evidence holds: any of them proves a
    lower bound of the optimum.

    Attributes
    ----------
    c : array (n,) of signed marginals, of sum zero up to the deficiency; empty with `Weights`
    value : float, V; for a mean over pairs sum_ij c_ij dual(alpha_ij)
    deficiency : float
        How far (sum of absolute differences) `c` is from that of a true minorant of this value.
        The bound itself pays for it.
    c_error, value_error : float, bounds of the rounding in `c` (sum of absolute errors) and `value`
    evidence : Evidence or None
        None: `c` holds the marginals of a hinge over all pairs, the positive rows' above zero.
    c_relative : float or None, a bound of the relative rounding of each c_i, where known
    """

    c: np.ndarray
    value: float
    deficiency: float = 0.0
    c_error: float = 0.0
    value_error: float = 0.0
    evidence: Evidence | None = None
    c_relative: float | None = None

    @classmethod
    def from_scores(
        cls, problem: Any, scores: np.ndarray, width: float = 0.0, scale: float | None = None,
        sums: PairSums | None = None,
    ) -> Minorant:  # fmt: skip
        """Return the minorant of any scores (n,), by default at the best scale in [0, 1]; `sums`
        are those of the risk there, if known."""
        risk, scores = problem.risk, np.asarray(scores, dtype=float)
        found: PairSums = risk.careful_sums(scores, width) if sums is None else sums
        if scale is None:
            linear, square = risk.shrunk_dual(found)
            scale = float(problem.penalty.best_scale(problem.space, found.c, linear, square))
        return risk.minorant(Scores(scores, width, scale), found)

    @classmethod
    def from_marginals(cls, problem: Any, u: np.ndarray, v: np.ndarray) -> Minorant:
        return problem.risk.minorant(Marginals(u, v))

    def renewed(self, problem: Any, sums: PairSums | None = None) -> Minorant:
        """Return this minorant made again from its evidence: no claim in it is trusted. `sums` are
        those of the risk at the evidence's scores and width."""
        evidence = self.evidence
        if evidence is None:
            if not isinstance(problem.pairs, Labelled):
                raise InputError("a minorant without evidence proves nothing for these pairs")
            positive = problem.pairs.positive
            if self.c.shape != positive.shape:
                sizes = f"{self.c.size} rows does not belong to a problem of {positive.size}"
                raise InputError(f"a witness of {sizes}")
            evidence = Marginals(self.c[positive], -self.c[~positive])
        return problem.risk.minorant(evidence, sums)


def mixed(risk: Risk, mix: Mix) -> Minorant:
    shares = [float(share) for share, _ in mix.parts]
    if not shares or not all(np.isfinite(share) and share >= 0 for share in shares):
        raise InputError("a mixture of minorants needs parts, each with a finite share >= 0")
    if sum(map(Fraction, shares)) > 1:
        raise InputError(f"the shares of a mixture add up to more than one: {sum(shares)!r}")
    if any(isinstance(part, Weights) for _, part in mix.parts):
        raise InputError("binned dual points cannot be mixed: they hold no vector of row weights")
    made = [(float(share), risk.minorant(part)) for share, part in mix.parts]
    up = gamma(len(made) + 8)
    c = sum((share * part.c for share, part in made), np.zeros(risk.n))
    size = sum(share * float(np.abs(part.c).sum()) for share, part in made)
    values = [share * part.value for share, part in made]
    missing = sum(share * part.deficiency for share, part in made)
    c_error = sum(share * part.c_error for share, part in made) + up * (size + missing)
    value_error = sum(share * part.value_error for share, part in made)
    value_error += up * sum(map(abs, values))
    wide = 1 + gamma(risk.n + len(made) + 16)  # the bounds are sums of rounded numbers themselves
    return Minorant(c, sum(values), missing, c_error * wide, value_error * wide, mix)


class PairRisk(Risk):
    """Base of the risks made of losses of pairs: what follows from `sums` and the loss."""

    loss: Loss

    def careful_sums(self, scores: np.ndarray, width: float = 0.0) -> PairSums:
        """Return the sums in the long format where they then round less, while n is moderate."""
        width = check_width(width)
        return self.sums(scores.astype(float if self.plain else np.longdouble), width)

    def upper(self, scores: np.ndarray, error: np.ndarray, sums: PairSums | None = None) -> Bound:
        sums = self.sums(scores) if sums is None else sums
        slip = self.slip(error, sums.value + sums.value_rounding)
        return Bound(sums.value, sums.value_rounding + slip, sums.excess)

    def slip(self, error: np.ndarray, upper: float) -> float:
        """Return what errors (n,) of the scores can do to U <= `upper`."""
        mass, terms = self._weighed(error)
        up = 1 + gamma(terms + 16)
        slip = registry.loss_slip(self.loss, mass, error * up, max(upper, 0.0) * up)
        return slip * up * (1 + gamma(8))

    def _weighed(self, error: np.ndarray) -> tuple[np.ndarray, int]:
        """Return what each row weighs where errors (n,) cost the most, and how many terms round."""
        raise InputError(f"{self!r} does not bound errors of scores: give the weights")

    def shrunk_dual(self, sums: PairSums) -> tuple[float, float]:
        return registry.shrunk_dual(self.loss, sums.total, sums.conjugate)

    def minorant(self, evidence: Evidence, sums: PairSums | None = None) -> Minorant:
        if isinstance(evidence, Scores):
            width = check_width(evidence.width)
            scores = np.asarray(evidence.scores, dtype=float)
            sums = self.careful_sums(scores, width) if sums is None else sums
            return of_scores(self.loss, evidence, sums)
        if isinstance(evidence, Mix):
            return mixed(self, evidence)
        kind = type(evidence).__name__
        raise InputError(f"{self!r} makes no minorant of a {kind}: give the scores")


@dataclass(frozen=True, eq=False)
class Mean(PairRisk):
    """U(s) = sum_ij c_ij loss(s_i - s_j), sum c_ij = 1. [ScalingUp, eq. (3), eq. (6)]

    Parameters
    ----------
    pairs : AllPairs, PairList, or any object with n, count(), sums(...) and row_mass()
    loss : Loss
    """

    pairs: Any
    loss: Loss

    def __post_init__(self) -> None:
        missing = [name for name in NEEDED if name not in dir(self.pairs)]
        if missing:
            raise InputError(
                f"pairs must be AllPairs(), a PairList or an object with {', '.join(NEEDED)}, not "
                f"{self.pairs!r} (it lacks {missing[0]})"
            )
        if registry.get_loss(self.loss) not in registry.ALL_LOSSES.values():
            check_own_sums(self.loss)
        if isinstance(self.pairs, Labelled):
            self.pairs.check()

    @property
    def n(self) -> int:
        return int(self.pairs.n)

    @property
    def plain(self) -> bool:
        if self.n > LONG_ROWS:
            return True
        whole = isinstance(self.pairs, AllPairs) and self.pairs.weight is None
        return self.loss == HINGE and (whole or isinstance(self.pairs, OrderedPairs))

    @property
    def smoothness(self) -> float:
        return float(self.loss.smoothness)

    def sums(self, scores: np.ndarray, width: float = 0.0) -> PairSums:
        squared = not np.isfinite(self.loss.lipschitz)
        if squared and not float(np.abs(scores).max()) <= LARGEST_SCORE:
            raise OverflowingError(
                f"a score is larger than {LARGEST_SCORE:g}: its square overflows, "
                "take smaller weights or scale the features"
            )
        return self.pairs.sums(scores, self.loss, width)

    def upper(self, scores: np.ndarray, error: np.ndarray, sums: PairSums | None = None) -> Bound:
        sums = self.sums(scores) if sums is None else sums
        zero = sums.value <= sums.value_rounding + sums.excess
        if zero and isinstance(self.loss, Hinge | SquaredHinge | SmoothHinge):
            # The loss is zero where all margins are at least one, errors included.
            moved = error.astype(scores.dtype)
            # In the format of the scores: in float64, 1 + slack may be 1.
            slack = 8 * unit_of(scores) * (1 + np.abs(scores).max() + moved.max())
            if least_margin(self.pairs, scores - moved, scores + moved) >= 1 + slack:
                return Bound(0.0, 0.0)
        return super().upper(scores, error, sums)

    def slip(self, error: np.ndarray, upper: float) -> float:
        top = 2 * float(error.max()) * (1 + gamma(8))  # no pair's margin moves further
        if self.n > LONG_ROWS and self.loss.lipschitz * top <= NEGLIGIBLE * max(upper, 0.0):
            return self.loss.lipschitz * top * (1 + gamma(8))
        return super().slip(error, upper)

    def _weighed(self, error: np.ndarray) -> tuple[np.ndarray, int]:
        listed = self.pairs.i.size if isinstance(self.pairs, PairList) else 0
        return self.pairs.row_mass(), self.n + listed

    def minorant(self, evidence: Evidence, sums: PairSums | None = None) -> Minorant:
        if isinstance(evidence, Marginals):
            return of_marginals(self.pairs, self.loss, evidence)
        if isinstance(evidence, Alpha):
            return of_alpha(self.pairs, self.loss, evidence)
        if isinstance(evidence, Weights):
            return of_weights(self.pairs, self.loss, evidence)
        return super().minorant(evidence, sums)


def least_margin(pairs: Any, low: np.ndarray, high: np.ndarray) -> Any:
    """Return the least low_i - high_j of classes' or listed pairs that count, else -inf."""
    if isinstance(pairs, PairList):
        counted = pairs.c > 0
        return (low[pairs.i[counted]] - high[pairs.j[counted]]).min()
    if not isinstance(pairs, AllPairs):
        return -np.inf
    a, b = pairs.sides
    return low[pairs.positive][a > 0].min() - high[~pairs.positive][b > 0].max()


def check_own_sums(loss: Loss) -> None:
    """Raise `InputError` if a loss's own sums over all pairs differ from those pair by pair."""
    own = getattr(loss, "all_pairs", None)
    if own is None:
        return
    rng = np.random.default_rng(0)
    pairs, scores = AllPairs(rng.uniform(0.5, 2, 9)).on(np.arange(9) % 3 == 0), rng.normal(size=9)
    found, true = own(pairs, scores, 0.0), enumerated(pairs, scores, loss, 0.0)
    if found is None:  # the loss leaves so few pairs to be gone through one by one
        return
    apart = max(abs(getattr(found, x) - getattr(true, x)) for x in ("value", "conjugate", "total"))
    if not max(apart, float(np.abs(found.c - true.c).max())) <= 1e-9 * (1 + true.value):
        raise InputError(f"`all_pairs` of the loss {loss.name!r} is not its sum over the pairs")


def check_scale(scale: float) -> float:
    if np.ndim(scale) or not 0 <= scale <= 1:
        raise InputError(f"scale must be between 0 and 1, not {scale}")
    return float(scale)


def check_width(width: float) -> float:
    return check_number("width", width, 0.0, LARGEST_SCORE, closed="both")


def of_scores(loss: Loss, evidence: Scores, sums: PairSums) -> Minorant:
    """Return the minorant of alpha = -loss'(margin), given the sums at its scores."""
    scale = check_scale(evidence.scale)
    linear, quadratic = registry.shrunk_dual(loss, sums.total, sums.conjugate)
    value = scale * linear - scale**2 * quadratic
    size = scale * abs(linear) + scale**2 * abs(quadratic)
    c = sums.c if scale == 1 else scale * sums.c
    c_error = scale * (sums.rounding + UNIT * float(np.abs(sums.c).sum()))
    value_error = scale * (sums.conjugate_rounding + 3 * sums.rounding) + gamma(8) * size
    relative = None if sums.relative is None else (sums.relative + UNIT) * (1 + gamma(4))
    found = {"c_error": c_error, "value_error": value_error, "c_relative": relative}
    return Minorant(c, value, evidence=evidence, **found)


def of_marginals(pairs: Any, loss: Loss, evidence: Marginals) -> Minorant:
    """Return the minorant of given marginals, corrected for what is infeasible in them."""
    ordered = isinstance(pairs, OrderedPairs)
    if loss != HINGE or not (ordered or isinstance(pairs, AllPairs)):
        raise InputError("marginals prove a bound only for the hinge over all pairs: give scores")
    u, v = np.asarray(evidence.u, dtype=float), np.asarray(evidence.v, dtype=float)
    sizes = (pairs.n, pairs.n) if ordered else (pairs.n_pos, pairs.n_neg)
    if u.shape != sizes[:1] or v.shape != sizes[1:]:
        raise InputError(
            f"marginals of {sizes[0]} rows as upper or positive ones and of {sizes[1]} rows as "
            f"lower or negative ones are needed, not of shapes {u.shape} and {v.shape}"
        )
    for name, side in (("u", u), ("v", v)):
        if not np.isfinite(side).all() or (side < 0).any():
            at = int(np.flatnonzero(~(np.isfinite(side) & (side >= 0)))[0])
            raise InputError(f"marginal {name}[{at}] is {side[at]}: marginals are >= 0")
        # 1e100: marginals add up to one at most: squares of such large ones could overflow
        if side.max(initial=0.0) > 1e100:
            raise InputError(f"a marginal {name} is {side.max():g}: all of them add up to one")
    if ordered:
        flow, missing, rounding = pairs.deficiency(u, v)
        c = u - v
        c_error = rounding + UNIT * float(np.abs(c).sum()) * (1 + gamma(pairs.n))
    else:
        flow, missing, rounding = deficiency(u, v, *pairs.normalised())
        c, c_error = np.empty(pairs.n), rounding
        c[pairs.positive], c[~pairs.positive] = u, -v
    return Minorant(c, flow, missing, c_error, rounding, Marginals(u, v))


def of_alpha(pairs: Any, loss: Loss, evidence: Alpha) -> Minorant:
    """Return the minorant of one alpha for each listed pair, clipped into its box first."""
    if isinstance(pairs, PairList):
        i, j, c, inexact = pairs.i, pairs.j, pairs.c, 0.0
    elif isinstance(pairs, OrderedPairs):
        if (found := pairs.listed()) is None:
            raise InputError("too many pairs to hold one alpha per pair: pass scores instead")
        (i, j, c), inexact = found, gamma(WEIGHT_UNITS)  # of the weights, relatively
    else:
        raise InputError("alpha belongs to a pair list; all pairs take scores or marginals")
    alpha = np.asarray(evidence.alpha, dtype=float)
    if alpha.shape != i.shape:
        raise InputError(f"{i.size} pairs, but alpha of shape {alpha.shape}")
    if not np.isfinite(alpha).all():
        at = int(np.flatnonzero(~np.isfinite(alpha))[0])
        raise InputError(f"alpha of pair {at} is {alpha[at]}: it must be finite")
    inside = loss.clip(alpha)
    duals, mass = c * loss.dual(inside), c * inside
    size = np.abs(mass) if loss == HINGE else np.abs(mass) + mass * inside + np.abs(duals)
    m, n = i.size, pairs.n
    signed = np.bincount(i, weights=mass, minlength=n) - np.bincount(j, weights=mass, minlength=n)
    longest = max(int(np.bincount(i).max()), int(np.bincount(j).max()))  # terms of a row's sum
    c_error = 2 * (gamma(longest + 8) + inexact) * float(short_sum(np.abs(mass)))
    value_error = (gamma(short_chain(m) + 16) + inexact) * float(short_sum(size))
    found = {"c_error": c_error, "value_error": value_error}
    return Minorant(signed, float(short_sum(duals)), evidence=Alpha(inside), **found)


def of_weights(pairs: Any, loss: Loss, evidence: Weights) -> Minorant:
    """Return the evidence alone: its vector is as long as the data and is never held."""
    apart = isinstance(pairs, PartitionedPairs | PartitionedOrder) and type(loss) in registry.OURS
    held = isinstance(pairs, AllPairs) and loss in (HINGE, SQUARED_HINGE)
    if not (held or apart):
        raise InputError("binned dual points are for the hinge over all pairs, or for its square")
    scale = check_scale(evidence.scale)
    bins, half = check_count("bins", evidence.bins), check_count("half", evidence.half, 0)
    # A dual part is concave with dual(0) >= 0: s alpha has at least s times the conjugate sum.
    if loss != HINGE and (half or (scale != 1.0 and not apart)):
        raise InputError("only the hinge over all pairs has dual points with a width or scale")
    return Minorant(np.zeros(0), np.nan, evidence=Weights(evidence.w, bins, half, scale))
