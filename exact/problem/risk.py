"""What is minimised next to the penalty: a convex function U of the scores, here a mean over pairs.

`minorant.Risk` says what any U must have; `tail.Tail` and `worst.Worst` are the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError, OverflowingError
from ..losses.loss import Loss, loss_slip, shrunk_dual
from ..losses.registry import ALL_LOSSES, HINGE, Hinge, SmoothHinge, SquaredHinge, get_loss
from ..pairs.all_pairs import AllPairs
from ..pairs.pair_list import PairList
from ..sums.assembled import PairSums
from ..tools.rounding import Bound, gamma, unit_of
from .contracts.sums import check_own_sums
from .evidence import Alpha, Evidence, Marginals, Mix, Scores, Weights
from .mean_minorant import check_width, of_alpha, of_marginals, of_scores, of_weights
from .minorant import Minorant, mixed

# If score errors change U by less than this share, the largest error alone bounds the change.
NEGLIGIBLE = 1e-13

LONG_ROWS = 300_000  # Rows up to which a certificate evaluates its sums in the long format.

LARGEST_SCORE = 1e150  # Largest score whose square is representable with room to spare.

# What a set of pairs must have: see `pairs.all_pairs.Pairs`.
NEEDED = ("n", "count", "sums", "row_mass")


@dataclass(frozen=True, eq=False)
class Mean:
    """U(s) = sum_ij c_ij loss(s_i - s_j), sum c_ij = 1. [ScalingUp, eq. (3), eq. (6)]

    Parameters
    ----------
    pairs : Pairs
        AllPairs, a PairList, or any object with n, count(), sums(...) and row_mass().
    loss : Loss
    """

    pairs: Any
    loss: Loss

    def __post_init__(self) -> None:
        held = {*dir(type(self.pairs)), *getattr(self.pairs, "__dict__", {})}
        missing = [name for name in NEEDED if name not in held]
        if missing:
            raise InputError(
                f"pairs must be AllPairs(), a PairList or an object with {', '.join(NEEDED)}, not "
                f"{self.pairs!r} (it lacks {missing[0]})"
            )
        if get_loss(self.loss) not in ALL_LOSSES.values():
            check_own_sums(self.loss)
        check = getattr(self.pairs, "check", None)
        if check is not None:
            check()

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.pairs.n)

    @property
    def plain(self) -> bool:
        """Whether sums are made of float scores anyway: counts of pairs, or many rows."""
        if self.n > LONG_ROWS:
            return True
        whole = isinstance(self.pairs, AllPairs) and self.pairs.weight is None
        return self.loss == HINGE and (whole or getattr(self.pairs, "counted", False))

    @property
    def smoothness(self) -> float:
        """A bound of loss''; infinite where the loss has a kink, which a width then smooths."""
        return float(self.loss.smoothness)

    def sums(self, scores: np.ndarray, width: float = 0.0) -> PairSums:
        """Return value, signed marginals and conjugate sum at `scores` (n,).

        Raises
        ------
        OverflowingError
            With a squared loss, if a score is so large that its square overflows.
        """
        squared = not np.isfinite(self.loss.lipschitz)
        if squared and not float(np.abs(scores).max()) <= LARGEST_SCORE:
            raise OverflowingError(
                f"a score is larger than {LARGEST_SCORE:g}: its square overflows, "
                "take smaller weights or scale the features"
            )
        return self.pairs.sums(scores, self.loss, width)

    def careful_sums(self, scores: np.ndarray, width: float = 0.0) -> PairSums:
        """Return the sums in the long format where they then round less, while n is moderate."""
        width = check_width(width)
        if not self.plain:
            scores = scores.astype(np.longdouble if scores.size <= LONG_ROWS else float)
        return self.sums(scores, width)

    def upper(self, scores: np.ndarray, error: np.ndarray, sums: PairSums | None = None) -> Bound:
        """Return U(scores) and what rounding and errors (n,) of the scores can do to it."""
        sums = self.sums(scores) if sums is None else sums
        if self._surely_zero(scores, error, sums):
            return Bound(0.0, 0.0)
        slip = self.slip(error, sums.value + sums.value_rounding)
        return Bound(sums.value, sums.value_rounding + slip, sums.excess)

    def _surely_zero(self, scores: np.ndarray, error: np.ndarray, sums: PairSums) -> bool:
        """Return whether all margins are at least one, errors included, where the loss is zero."""
        if not isinstance(self.loss, Hinge | SquaredHinge | SmoothHinge):
            return False
        if sums.value > sums.value_rounding + sums.excess:
            return False
        error = error.astype(scores.dtype)
        slack = 8 * unit_of(scores) * (1 + float(np.abs(scores).max()) + float(error.max()))
        return least_margin(self.pairs, scores - error, scores + error) >= 1 + slack

    def slip(self, error: np.ndarray, upper: float) -> float:
        """Return what errors (n,) of the scores can do to U; see `losses.loss.loss_slip`.

        `upper` is at least U without the errors. The sums over rows round too.
        """
        top = 2 * float(error.max()) * (1 + gamma(8))  # no pair's margin moves further
        if self.n > LONG_ROWS and self.loss.lipschitz * top <= NEGLIGIBLE * max(upper, 0.0):
            return self.loss.lipschitz * top * (1 + gamma(8))
        mass = self.pairs.row_mass()
        listed = self.pairs.i.size if isinstance(self.pairs, PairList) else 0
        up = 1 + gamma(self.n + listed + 16)
        slip = loss_slip(self.loss, mass, error * up, max(upper, 0.0) * up)
        return slip * up * (1 + gamma(8))

    def shrunk_dual(self, sums: PairSums) -> tuple[float, float]:
        """Return p, q: the conjugate sum of s alpha is at least s p - s^2 q for s in [0, 1]."""
        return shrunk_dual(self.loss, sums.total, sums.conjugate)

    def minorant(self, evidence: Evidence, sums: PairSums | None = None) -> Minorant:
        """Return the minorant of any kind of evidence; `sums` spares those of `Scores`.

        Raises
        ------
        InputError
            If this loss or these pairs cannot make a minorant of this evidence.
        """
        if isinstance(evidence, Scores):
            width = check_width(evidence.width)
            scores = np.asarray(evidence.scores, dtype=float)
            sums = self.careful_sums(scores, width) if sums is None else sums
            return of_scores(self.loss, evidence, sums)
        if isinstance(evidence, Marginals):
            return of_marginals(self.pairs, self.loss, evidence)
        if isinstance(evidence, Alpha):
            return of_alpha(self.pairs, self.loss, evidence)
        if isinstance(evidence, Weights):
            return of_weights(self.pairs, self.loss, evidence)
        if isinstance(evidence, Mix):
            return mixed(self, evidence)
        raise InputError(f"a mean over pairs makes no minorant of a {type(evidence).__name__}")


def least_margin(pairs: Any, low: np.ndarray, high: np.ndarray) -> float:
    """Return the least low_i - high_j of the pairs (i, j) that count; -inf where pairs are
    others."""
    if isinstance(pairs, PairList):
        counted = pairs.c > 0
        return float((low[pairs.i[counted]] - high[pairs.j[counted]]).min())
    if not isinstance(pairs, AllPairs):
        return -np.inf
    a, b = pairs.sides()
    return float(low[pairs.positive][a > 0].min() - high[~pairs.positive][b > 0].max())
