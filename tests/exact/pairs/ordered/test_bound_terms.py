"""Each term of the bounds of ordered pairs' sums is needed, or is as large as its formula says."""

from __future__ import annotations

import numpy as np
import pytest

from aucert.exact.losses.loss import steepness
from aucert.exact.losses.registry import ALL_LOSSES, HINGE, SQUARE, SQUARED_HINGE
from aucert.exact.pairs.ordered_pairs import WEIGHT_UNITS, OrderedPairs
from aucert.exact.problem.minorant import Alpha
from aucert.exact.problem.risk import Mean
from aucert.exact.tools.rounding import gamma, short_chain
from decimal_losses import mean_of
from loops import each
from naive import exact
from ordered_naive import naive_ordered

JUST = 1 - 1e-9


def test_the_shift_of_scores_is_paid_by_the_squared_hinge() -> None:
    """Far rows make the shift round to whole numbers; their own pairs have no loss."""
    key, s = np.array([3, 2, 1, 0]), np.array([2.0**54, 0.3, 0.4, -(2.0**54) / 3])
    pairs, true = OrderedPairs(None, key), naive_ordered(None, key, None, None)
    found = pairs.sums(s, SQUARED_HINGE)
    listed = list(zip(true.i, true.j, true.weight, strict=True))
    value = mean_of("squared_hinge", exact(s), listed)
    apart = abs(float(exact(found.value) - value))
    assert 1e-2 < apart <= found.value_rounding
    assert found.value_rounding >= (gamma(4) * (1 + float(np.ptp(s)))) ** 2 * JUST


def test_the_shift_of_scores_is_paid_by_the_square() -> None:
    s = np.array([0.1, 0.7, -0.2, 30.3])
    found = OrderedPairs(None, [2, 1, 0, 1]).sums(s, SQUARE)
    top = 1 + float(np.ptp(s))
    assert found.value_rounding >= (gamma(64) + 2 * gamma(4)) * top**2 * JUST


@each("loss", [HINGE, SQUARED_HINGE], ids=lambda loss: loss.name)
def test_listed_weights_that_round_are_paid_in_a_minorant(loss) -> None:
    """Beside the sums over the pairs of a row, and over all pairs."""
    rng = np.random.default_rng(0)
    pairs = OrderedPairs(None, rng.integers(0, 4, 12), rng.integers(1, 9, 12))
    i, j, c = pairs.listed() or pytest.fail("few pairs have a list")
    alpha = rng.uniform(0, 1, i.size)
    found = Mean(pairs, loss).minorant(Alpha(alpha))
    inexact, mass = gamma(WEIGHT_UNITS), float((c * alpha).sum())
    size = mass if loss == HINGE else mass + float((c * alpha**2 + c * loss.dual(alpha)).sum())
    longest = max(int(np.bincount(i).max()), int(np.bincount(j).max()))
    assert found.c_error >= 2 * (gamma(longest + 8) + inexact) * mass * JUST
    assert found.value_error >= (gamma(short_chain(i.size) + 16) + inexact) * size * JUST


@each("name", ["logistic", "smooth_hinge", "exponential"])
def test_bounds_of_sums_pair_by_pair_are_as_large_as_their_formula(name: str) -> None:
    """Chains of 2 n + 64 roundings, and what the rounding of a margin does to a steep loss."""
    loss, rng = ALL_LOSSES[name], np.random.default_rng(2)
    key, s = rng.integers(0, 3, 9), 40 * rng.normal(size=9)
    pairs = OrderedPairs(None, key)
    i, j, c = pairs.listed() or pytest.fail("few pairs have a list")
    t = s[i] - s[j]
    alpha, value = loss.clip(loss.alpha(t, 0.0)), loss.value(t)
    whole = float(c @ (np.abs(alpha) * (1 + np.abs(t)) + value))
    slip = gamma(3) * (1 + np.abs(t))
    moved, chain = float(c @ (slip * steepness(loss, t, slip))), gamma(2 * 9 + 64)
    found = pairs.sums(s, loss)
    assert moved > 1e-3 * chain * whole
    assert found.rounding >= 2 * chain * whole * JUST
    assert found.value_rounding >= (chain * whole + moved) * JUST
    assert found.conjugate_rounding >= (chain * whole + moved) * JUST
