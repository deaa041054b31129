"""Sums over ordered pairs, pair by pair within each group, for a loss without a quicker way."""

from __future__ import annotations

import numpy as np

from ...errors import TooLargeError
from ...losses.loss import Loss, steepness
from ...sums.assembled import PairSums
from ...sums.tree import Arrangement, PairWeights
from ...tools.rounding import gamma
from ..enumerated import LARGEST

_BLOCK = 1 << 20

LISTED = 2_000_000  # Pairs up to which they are written out as a list.

WEIGHT_UNITS = 16  # Largest relative error of a listed pair's weight, in units in the last place.


def listed_pairs(
    at: Arrangement, weights: PairWeights, most: int | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Return rows i, rows j and weights c of all pairs of some weight, or None where they are
    many."""
    lower = at.end - at.below
    if int(lower.sum()) > (LISTED if most is None else most):
        return None
    i = np.repeat(np.arange(at.order.size), lower)
    first = np.cumsum(lower) - lower
    j = np.arange(i.size) + np.repeat(at.below - first, lower)
    c = np.zeros(i.size)
    for term in weights.whole:
        c += term.coefficient * (term.a[i].astype(float) * term.b[j].astype(float))
    c *= weights.factor[at.group[i]]
    held = c > 0
    return at.order[i[held]], at.order[j[held]], c[held]


def enumerated_ordered(
    at: Arrangement, weights: PairWeights, scores: np.ndarray, loss: Loss, width: float
) -> PairSums:
    """Return the value, signed marginals and conjugate sum, a block of upper rows at a time."""
    n, lower = scores.size, at.end - at.below
    if int(lower.sum()) > LARGEST:
        raise TooLargeError(
            f"the loss {loss.name!r} is summed pair by pair here, and {int(lower.sum())} pairs are "
            f"more than {LARGEST}: take the hinge, the squared hinge or the square, or draw pairs"
        )
    s, net, sums = scores[at.order], np.zeros(n), np.zeros(5)
    start = 0
    while start < n:
        # Rows of one group; those below the first one of them, or of some of them.
        room = start + max(1, _BLOCK // max(1, int(lower[start])))
        stop = min(int(at.end[start]), room)
        first, end = int(at.below[start]), int(at.end[start])
        rows, partners = np.arange(start, stop), np.arange(first, end)
        start = stop
        t = np.subtract.outer(s[rows], s[partners])
        weight = np.zeros(t.shape)
        for term in weights.whole:
            weight += term.coefficient * np.multiply.outer(
                term.a[rows].astype(float), term.b[partners].astype(float)
            )
        weight *= weights.factor[at.group[rows]][:, None] * (partners >= at.below[rows][:, None])
        t[weight == 0] = 0.0  # these are no pairs, and the loss might overflow there
        alpha = np.asarray(loss.clip(loss.alpha(t, width)), dtype=float)
        mass, values = weight * alpha, weight * loss.value(t)
        np.add.at(net, rows, mass.sum(axis=1))
        np.add.at(net, partners, -mass.sum(axis=0))
        slip = gamma(3) * (1.0 + np.abs(t))
        size = np.abs(alpha) * (1.0 + np.abs(t)) + loss.value(t)
        moved = slip * steepness(loss, t, slip)
        duals = weight * loss.dual(alpha)
        parts = (values, duals, mass, weight * moved, weight * size)
        sums += [float(part.sum()) for part in parts]
    value, conjugate, total, slips, whole = sums.tolist()
    c = np.empty(n)
    c[at.order] = net
    # Each weight rounds some ten times. Gains round no more: both of their products are whole
    # numbers below 2^40 (`weights.LARGEST_MASS`), so that they and their difference are exact.
    chain = gamma(2 * n + 64)
    rounding = chain * 2 * whole
    return PairSums(
        value, c, conjugate, total, chain * whole + slips, rounding, chain * whole + slips
    )
