"""Sums from bins against every pair: feasible exactly, and never below the true value."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from aucert.exact.errors import InputError
from aucert.exact.losses.registry import HINGE
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.sums.binned import Extent, Histogram, Marginals
from loops import each, seeds


def binned(
    scores: np.ndarray,
    positive: np.ndarray,
    bins: int,
    half: int,
    weight: np.ndarray | None = None,
    blocks: int = 1,
    widen: float = 0.0,
) -> tuple[Histogram, Marginals, np.ndarray]:
    """Return the histogram, its sums, and the signed marginals, block by block."""
    extent = Extent()
    parts = np.array_split(np.arange(scores.size), blocks)
    for rows in parts:
        extent.add(scores[rows], positive[rows])
    ends = extent.ends + widen * np.array([-1, 1, -1, 1])
    histogram = Histogram(ends, bins, half)
    for rows in parts:
        some = None if weight is None else weight[rows]
        histogram.add(scores[rows], positive[rows], some)
    whole = weight is None or bool((weight == np.floor(weight)).all())
    closed = histogram.close(half, whole)
    c = np.empty(scores.size)
    for rows in parts:
        some = None if weight is None else weight[rows]
        c[rows] = histogram.marginals(scores[rows], positive[rows], closed, some)
    return histogram, closed, c


def by_pairs(
    scores: np.ndarray, positive: np.ndarray, bins: int, half: int, weight: np.ndarray | None
) -> tuple[Fraction, list[Fraction], Fraction]:
    """Return the mean hinge, the signed marginals of the grid's alpha and its mass, exactly."""
    exact = naive.exact(scores)
    steps = [(bins * s).__floor__() for s in exact]
    pairs = naive.weighted_pairs(positive.tolist(), AllPairs(weight))
    value, total, c = Fraction(0), Fraction(0), [Fraction(0)] * scores.size
    for i, j, share in pairs:
        m = steps[j] - steps[i] + bins
        alpha = Fraction(m + half, 2 * half) if half else Fraction(int(m >= 1))
        alpha = min(max(alpha, Fraction(0)), Fraction(1))
        value += share * max(Fraction(0), 1 - exact[i] + exact[j])
        total += share * alpha
        c[i] += share * alpha
        c[j] -= share * alpha
    return value, c, total


def some_case(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, int, int]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    positive = np.zeros(n, dtype=bool)
    positive[rng.permutation(n)[: rng.integers(1, n)]] = True
    scores = rng.normal(size=n) * 10.0 ** rng.uniform(-2, 2) + rng.normal() * rng.choice([0, 50])
    if seed % 3 == 0:
        scores = np.round(scores * 2) / 2
    kinds = [None, rng.integers(1, 4, n).astype(float), rng.uniform(0.01, 5, n)]
    return scores, positive, kinds[seed % 3], 2 ** int(rng.integers(0, 13)), int(rng.integers(0, 7))


@each("seed", seeds(120))
def test_sums_are_those_of_every_pair(seed: int) -> None:
    scores, positive, weight, bins, half = some_case(seed)
    blocks, widen = 1 + seed % 4, [0.0, 0.3][seed % 2]
    histogram, closed, c = binned(scores, positive, bins, half, weight, blocks, widen)
    value, true, total = by_pairs(scores, positive, histogram.bins, half, weight)
    slips = sum(abs(x - y) for x, y in zip(naive.exact(c), true, strict=True))
    assert slips <= Fraction(2 * closed.slip + 1e-15) * total
    assert abs(Fraction(closed.total / closed.mass) - total) <= Fraction(1e-14)
    upper = Fraction(closed.value) + Fraction(closed.value_rounding)
    assert upper >= value * Fraction(closed.mass) * (1 - Fraction(1e-15))
    # Too large by at most the mass of pairs at the margin, a bin's height each.
    near = sum(
        share
        for i, j, share in naive.weighted_pairs(positive.tolist(), AllPairs(weight))
        if np.floor(histogram.bins * scores[j]) - np.floor(histogram.bins * scores[i])
        == -histogram.bins
    )
    slack = Fraction(closed.value) / Fraction(closed.mass) - value
    assert slack <= near / histogram.bins + Fraction(1e-12) * (1 + value)


def test_counts_add_up_to_the_last_bit() -> None:
    rng = np.random.default_rng(0)
    scores, positive = rng.normal(size=5000), rng.random(5000) < 0.3
    _, closed, _ = binned(scores, positive, 1 << 10, 3)
    assert np.abs(np.round(closed.u * 6) / 6 - closed.u).max() < 1e-10
    K = 1 << 10
    a = np.floor(K * scores[positive]).astype(int)
    b = np.floor(K * scores[~positive]).astype(int)
    m = np.clip(b[None] - a[:, None] + K + 3, 0, 6)
    assert int(m.sum()) == round(closed.total * 6)


def test_blocks_in_any_order_give_the_same_numbers() -> None:
    scores, positive, _, _, _ = some_case(1)
    one = binned(scores, positive, 64, 2)[1]
    flipped = binned(scores[::-1].copy(), positive[::-1].copy(), 64, 2, blocks=5)[1]
    assert one.total == flipped.total
    assert np.array_equal(one.u, flipped.u)


@each("far", [1e3, 1e6])
def test_outliers_are_clipped_without_harm(far: float) -> None:
    """A row far out of the other class's range takes the end bin; the grid stays small."""
    scores = np.array([0.0, 0.3, far, -0.2, 0.1, -far, far, -far])
    positive = np.array([1, 1, 1, 0, 0, 0, 1, 0], dtype=bool)
    histogram, closed, c = binned(scores, positive, 1 << 12, 4)
    assert histogram.ruler.size < 1 << 16
    value, true, _ = by_pairs(scores, positive, 1 << 12, 4, None)
    assert closed.value / closed.mass == pytest.approx(float(value), abs=1e-3)
    assert np.abs(c - np.array(true, dtype=float)).max() < 1e-15


def test_the_grid_coarsens_rather_than_grow_without_bound() -> None:
    scores = np.array([-1e6, 1e6, -1e6, 1e6])
    histogram = Histogram(np.array([-1e6, 1e6, -1e6, 1e6]), 1 << 20)
    assert histogram.bins < 1 << 20
    histogram.add(scores, np.array([True, True, False, False]))
    with pytest.raises(InputError, match="no grid of bins"):
        Histogram(np.array([-1e300, 1e300, -1e300, 1e300]), 1)


@each("power", [0, 14, 20, 40, 62])
@each("offset", [1e8, 1e10, 1e12, 1e15])
def test_scores_far_from_zero_never_give_too_small_a_value(offset: float, power: int) -> None:
    """K s past 2^53 has no exact bin: rows would land in wrong ones, or outside the grid."""
    rng = np.random.default_rng(power)
    for spread in (1.0, 30.0):
        near, far = offset + spread * rng.normal(size=12), -offset + rng.normal(size=4)
        scores, positive = np.append(near, far), np.arange(16) == 0
        found = AllPairs(form="binned", bins=1 << power).on(positive).sums(scores, HINGE)
        true, _, _ = by_pairs(scores, positive, 1, 0, None)
        assert Fraction(found.value) + Fraction(found.value_rounding) >= true
        assert abs(found.c.sum()) <= found.rounding + 1e-15


def test_scores_past_the_last_exact_bin_are_refused() -> None:
    scores, positive = 2.0**53 + 2 * np.arange(5), np.arange(5) == 2
    with pytest.raises(InputError, match="no grid of bins"):
        AllPairs(form="binned").on(positive).sums(scores, HINGE)


def test_bad_numbers_are_refused() -> None:
    with pytest.raises(InputError, match="power of two"):
        Histogram(np.array([0.0, 1, 0, 1]), 12)
    with pytest.raises(InputError, match="a score is nan"):
        Extent().add(np.array([0.0, np.nan]), np.array([True, False]))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 5), st.integers(0, 14))
def test_the_form_binned_bounds_the_sorted_one(seed: int, half: int, power: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 200))
    positive = np.arange(n) % 3 == 0
    positive[-1] = False
    scores = rng.normal(size=n) * 10.0 ** rng.uniform(-2, 1)
    bins, width = 1 << power, 2 * half / (1 << power)
    found = AllPairs(form="binned", bins=bins).on(positive).sums(scores, HINGE, width)
    true = AllPairs().on(positive).sums(scores, HINGE)
    assert found.value + found.value_rounding >= true.value - true.value_rounding
    assert found.value <= true.value + 1 / bins + 1e-12
    assert (found.c[positive] >= 0).all() and (found.c[~positive] <= 0).all()
    assert abs(found.c.sum()) <= found.rounding + 1e-15
