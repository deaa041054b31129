"""What is minimised beside the penalty: a convex function U of the scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from ..losses.loss import Loss
from ..losses.registry import ALL_LOSSES, get_loss
from ..pairs.all_pairs import AllPairs
from ..pairs.enumerated import enumerated
from ..pairs.pair_list import PairList
from ..sums.assembled import PairSums


@dataclass(frozen=True, eq=False)
class Mean:
    """U(s) = sum_ij c_ij loss(s_i - s_j), sum c_ij = 1. [ScalingUp, eq. (3), eq. (6)]

    Parameters
    ----------
    pairs : AllPairs or PairList
        With labels.
    loss : Loss
    """

    pairs: AllPairs | PairList
    loss: Loss

    def __post_init__(self) -> None:
        if not isinstance(self.pairs, PairList | AllPairs):
            raise InputError(f"pairs must be AllPairs() or a PairList, not {self.pairs!r}")
        if get_loss(self.loss) not in ALL_LOSSES.values():
            _check_own_sums(self.loss)
        self.pairs.check()

    def sums(self, scores: np.ndarray, width: float = 0.0) -> PairSums:
        """Return value, signed marginals and conjugate sum at `scores` (n,)."""
        return self.pairs.sums(scores, self.loss, width)


def _check_own_sums(loss: Loss) -> None:
    """Raise `InputError` if a loss's own sums over all pairs differ from those pair by pair."""
    own = getattr(loss, "all_pairs", None)
    if own is None:
        return
    rng = np.random.default_rng(0)
    pairs, scores = AllPairs(rng.uniform(0.5, 2, 9)).on(np.arange(9) % 3 == 0), rng.normal(size=9)
    told, true = own(pairs, scores, 0.0), enumerated(pairs, scores, loss, 0.0)
    if told is None:  # the loss leaves so few pairs to be gone through one by one
        return
    values = [(told.value, true.value), (told.conjugate, true.conjugate), (told.total, true.total)]
    apart = max(abs(one - other) for one, other in values)
    if not max(apart, float(np.abs(told.c - true.c).max())) <= 1e-9 * (1 + true.value):
        raise InputError(f"`all_pairs` of the loss {loss.name!r} is not its sum over the pairs")
