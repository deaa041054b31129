"""The worst group: the largest of several means over pairs of the same rows.

    U(s) = max over groups g of U_g(s) = max over q >= 0, sum q <= 1 of sum_g q_g U_g(s),

because no loss is negative. So for any such q the mixture of the groups' minorants is a minorant.
For solvers the weights are smoothed: q is the projection of U / width onto the simplex, in whole
multiples of 2^-40, which is feasible exactly. The value is never smoothed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from ..losses.loss import Loss
from ..sums.assembled import PairSums
from ..tools.rounding import Bound, gamma
from .risk import LONG_ROWS, Mean, PairRisk

STEPS = 2**40  # group weights are whole multiples of 1 / STEPS


@dataclass(frozen=True, eq=False)
class Worst(PairRisk):
    """The largest of several means: of groups of rows, say, as fairness asks for.

    Parameters
    ----------
    means : tuple of Mean
        Over pairs of the same rows, with one loss.

    Raises
    ------
    InputError
        If there are none, or they differ in their rows or their loss.
    """

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
        c = np.add.reduce([k * part.c for k, part in zip(q, found, strict=True)])
        size = sum(k * float(np.abs(part.c).sum()) for k, part in zip(q, found, strict=True))

        def mixture(name: str) -> float:
            return float(sum(k * getattr(p, name) for k, p in zip(q, found, strict=True)))

        heavy = sum(k * abs(part.conjugate) for k, part in zip(q, found, strict=True))
        return PairSums(
            value,
            c,
            mixture("conjugate"),
            mixture("total"),
            (top - value) * (1 + gamma(4)) + gamma(4) * abs(value),
            (mixture("rounding") + chain * size) * (1 + gamma(self.n + 8)),
            (mixture("conjugate_rounding") + chain * heavy) * (1 + chain),
            excess=max(value - low, 0.0) * (1 + gamma(4)),
        )

    def upper(self, scores: np.ndarray, error: np.ndarray, sums: PairSums | None = None) -> Bound:
        bounds = [mean.upper(scores, error) for mean in self.means]
        value = max(bound.value for bound in bounds)
        top = max(bound.value + bound.error for bound in bounds)
        low = max(bound.low for bound in bounds)
        above = (top - value) * (1 + gamma(4)) + gamma(4) * abs(top)
        return Bound(value, above, max(value - low, 0.0))


def group_weights(values: np.ndarray, width: float) -> np.ndarray:
    """Return weights >= 0 of sum one, multiples of 1 / `STEPS`, that tend to the largest value.
    They are the projection of values / width onto the simplex, to the rounding down; what is lost
    goes to the largest value, as does all at width 0."""
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
