"""The sums over all pairs of a loss of one's own are held to those pair by pair."""

from __future__ import annotations

import numpy as np

from ...errors import InputError
from ...losses.loss import Loss
from ...pairs.all_pairs import AllPairs
from ...pairs.enumerated import enumerated


def check_own_sums(loss: Loss) -> None:
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
