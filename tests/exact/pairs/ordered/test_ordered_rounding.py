"""Bounds of rounding of ordered pairs' sums against fractions: none is short, and none is zero."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from aucert.exact.losses.registry import ALL_LOSSES, HINGE
from aucert.exact.pairs.ordered_pairs import OrderedPairs
from decimal_losses import mean_of
from loops import each
from naive import exact, loss_alpha, loss_dual
from ordered_naive import naive_ordered

KINDS = ["plain", "weights", "gain", "share"]


def made(kind: str, rng: np.random.Generator, n: int) -> tuple[OrderedPairs, Any]:
    """Return ordered pairs of a kind, and the same one by one."""
    group, key = rng.integers(0, 3, n), rng.integers(0, 5, n)
    upper = lower = gain = share = None
    if kind == "weights":
        upper, lower = rng.integers(0, 2**30, (2, n))
    elif kind == "gain":
        gain = key + 10**6
    elif kind == "share":
        share = rng.uniform(0.1, 1, 3)[group]
    pairs = OrderedPairs(group, key, upper, lower, gain, share)
    return pairs, naive_ordered(group, key, upper, lower, gain, share)


@each("kind", KINDS)
@each("loss", ["hinge", "squared_hinge", "square"])
def test_bounds_of_rounding_hold_against_fractions(loss: str, kind: str) -> None:
    rng, off = np.random.default_rng(4), np.zeros(3)
    for _ in range(6):
        pairs, true = made(kind, rng, 14)
        s = rng.normal(size=14)
        s[0], s[1] = 4.25, -4.25  # so that no shift of the scores rounds
        found = pairs.sums(s, ALL_LOSSES[loss])
        given, c, conjugate = exact(s), [Fraction(0)] * 14, Fraction(0)
        listed = list(zip(true.i, true.j, true.weight, strict=True))
        for i, j, weight in listed:
            alpha = loss_alpha(loss, given[i] - given[j])
            c[i], c[j] = c[i] + weight * alpha, c[j] - weight * alpha
            conjugate += weight * loss_dual(loss, alpha)
        apart = sum(abs(x - y) for x, y in zip(exact(found.c), c, strict=True))
        value = abs(exact(found.value) - mean_of(loss, given, listed))
        dual = abs(exact(found.conjugate) - conjugate)
        assert apart <= Fraction(found.rounding)
        assert value <= Fraction(found.value_rounding)
        assert dual <= Fraction(found.conjugate_rounding)
        off = np.maximum(off, [float(apart), float(value), float(dual)])
    assert off[0] > 0 and (off[1:].max() > 0 or (loss, kind) == ("hinge", "plain"))


def test_pairs_at_their_margin_are_paid() -> None:
    """On a grid made coarse by a width and large weights, a shortfall of 2^-40 is not seen."""
    pairs = OrderedPairs(None, [1, 0], upper=[2**20 - 1, 1])
    s = np.array([1.0, 2.0**-40])
    found = pairs.sums(s, HINGE, 0.5)
    assert found.value == 0 and found.value_rounding >= 2.0**-40


@pytest.mark.long_digits
def test_rounded_long_scores_are_paid() -> None:
    s = np.array([0.3, 0.1], dtype=np.longdouble) + np.longdouble(2) ** -60 * 3
    found = OrderedPairs(None, [1, 0]).sums(s, HINGE)
    assert abs(exact(found.value) - (1 - exact(s[0]) + exact(s[1]))) <= exact(found.value_rounding)
    far = np.array([2.0**40, -(2.0**40)], dtype=np.longdouble) * np.longdouble(1 + 2.0**-60)
    short = OrderedPairs(None, [1, 0]).sums(-far.astype(float), HINGE).value_rounding
    assert OrderedPairs(None, [1, 0]).sums(-far, HINGE).value_rounding > short


def test_marginals_of_ordered_pairs_pay_for_their_flow() -> None:
    rng = np.random.default_rng(1)
    pairs = OrderedPairs(None, rng.integers(0, 4, 12))
    flow, missing, rounding = pairs.deficiency(*rng.uniform(0, 0.1, (2, 12)))
    assert rounding > 12 * 2.0**-53 * flow and missing > 0
    carried = np.zeros(12)
    carried[np.argmin(pairs.key)] = 0.5  # no row is below it
    assert pairs.deficiency(carried, np.zeros(12))[1] == 0.5
