"""Sums over all pairs, pair by pair, for a loss that has no quicker way: O(n_pos n_neg) time."""

from __future__ import annotations

import numpy as np

from ..errors import TooLargeError
from ..losses.loss import Loss, steepness
from ..sums.assembled import PairSums, Whole
from ..tools.rounding import gamma, unit_of

LARGEST = 400_000_000  # Most pairs to sum one by one: about ten seconds.

_BLOCK = 1 << 20


def enumerated(pairs: Whole, scores: np.ndarray, loss: Loss, width: float) -> PairSums:
    """Return the value, signed marginals and conjugate sum, a block of positive rows at a time."""
    positive = pairs.positive
    a, b = (side / side.sum() for side in pairs.sides())
    if a.size * b.size > LARGEST:
        raise TooLargeError(
            f"the loss {loss.name!r} is summed pair by pair, and {a.size * b.size} pairs are more "
            f"than {LARGEST}: give the loss an `all_pairs` method, or draw pairs"
        )
    s, r = scores[positive], scores[~positive]
    u, v = np.zeros(a.size), np.zeros(b.size)
    value = conjugate = total = moved = size = 0.0
    step = max(1, _BLOCK // b.size)
    for start in range(0, a.size, step):
        some = slice(start, start + step)
        t = np.subtract.outer(s[some], r)
        weight = np.multiply.outer(a[some], b)
        t[weight == 0] = 0.0  # the loss of rows without weight might overflow
        alpha = np.asarray(loss.clip(loss.alpha(t, width)), dtype=float)
        losses, duals = weight * loss.value(t), weight * loss.dual(alpha)
        mass = weight * alpha
        u[some], v = mass.sum(axis=1), v + mass.sum(axis=0)
        value, conjugate = value + float(losses.sum()), conjugate + float(duals.sum())
        total += float(mass.sum())
        slip = gamma(3, unit_of(scores)) * (1.0 + np.abs(t))
        moved += float((weight * slip * steepness(loss, t, slip)).sum())
        size += float((weight * (np.abs(alpha) * (1.0 + np.abs(t)) + loss.value(t))).sum())
    c = np.empty(positive.size)
    c[positive], c[~positive] = u, -v
    chain = gamma(a.size + b.size + 32)
    rounding = chain * 2 * float(np.abs(c).sum())
    return PairSums(
        value, c, conjugate, total, chain * value + moved, rounding, chain * size + moved
    )
