"""Sums over all pairs of two classes, in every form, against every pair in exact arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import naive
from aucert.exact.errors import InputError
from aucert.exact.losses.registry import HINGE, LOSSES, SQUARED_HINGE
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.spaces.blocks import added_up
from aucert.exact.sums.binned import (
    Extent,
    Gathered,
    closed_hinge,
    closed_squared,
    hinge_ruler,
    squared_ruler,
)
from aucert.exact.sums.swept import SortedRows, counted_hinge
from aucert.exact.tools.rounding import Pull
from loops import each, seeds

KINDS = ("plain", "tenths", "far", "outliers", "one positive", "equal", "apart", "separated",
         "crowded", "nearly tied")  # fmt: skip
FORMS = ("auto", "binned")
WIDTHS = (0.0, 1e-6, 0.3, 5.0)


def scored(kind: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Scores and classes of a few rows; by turns no weights, whole ones, and fractions."""
    rng = np.random.default_rng([len(kind), seed])
    n = int(rng.integers(2, 30))
    scores, positive = rng.normal(size=n) * 2, np.arange(n) < rng.integers(1, n)
    rng.shuffle(positive)
    if kind == "tenths":
        scores = np.round(scores, 1)
    elif kind == "far":
        scores += 1e5
    elif kind == "outliers":
        scores[0], scores[-1] = 1e6, -300.0
    elif kind == "one positive":
        positive = np.arange(n) == 0
    elif kind == "equal":
        scores[:] = 123.25
    elif kind in ("apart", "separated"):
        scores += 50.0 * (positive if kind == "apart" else ~positive)
    elif kind == "crowded":
        scores[1:] = 0.3 + 1e-9 * scores[1:]
    elif kind == "nearly tied":
        scores = np.where(positive, 1.0, 0.0) + 1e-15 * rng.integers(-9, 9, n)
    weights = [None, rng.integers(1, 4, n).astype(float), rng.uniform(0.01, 5, n)]
    return scores, positive, weights[seed % 3]


Pairs = list[tuple[int, int, Fraction]]


def of_pairs(positive: np.ndarray, weight: np.ndarray | None) -> Pairs:
    return naive.weighted_pairs(positive.tolist(), AllPairs(weight))


def distance(found: np.ndarray, true: list[Fraction]) -> Fraction:
    return sum((abs(x - y) for x, y in zip(naive.exact(found), true, strict=True)), Fraction(0))


def on_a_grid(
    scores: np.ndarray, pairs: Pairs, steps: int, alpha: Callable[[int, Fraction], Fraction]
) -> tuple[list[Fraction], list[int]]:
    """Return alpha(m, z) of every pair, from whole numbers m of `steps` a unit, and m itself."""
    exact = naive.exact(scores)
    places = [steps * s // 1 for s in exact]
    m = [places[j] - places[i] + steps for i, j, _ in pairs]
    z = [1 - exact[i] + exact[j] for i, j, _ in pairs]
    return [alpha(*both) for both in zip(m, z, strict=True)], m


def ramp(half: int) -> Callable[[int, Fraction], Fraction]:
    if half == 0:
        return lambda m, _: Fraction(int(m >= 1))
    return lambda m, _: min(max(Fraction(m + half, 2 * half), Fraction(0)), Fraction(1))


@each("form", FORMS)
@each("kind", KINDS)
@each("width", WIDTHS)
@each("seed", seeds(3))
def test_a_value_and_its_minorant(form: str, kind: str, width: float, seed: int) -> None:
    scores, positive, weight = scored(kind, seed)
    for name, loss in LOSSES.items() if form == "auto" else [("hinge", HINGE)]:
        pairs = AllPairs(weight, form=form, bins=1 << 10).on(positive)
        found, every = pairs.sums(scores, loss, width), of_pairs(positive, weight)
        check(found, scores, every, name, width if name == "hinge" else 0.0, form == "binned")
    m = min(int(seed + 5), positive.sum() * (~positive).sum())
    rng = np.random.default_rng(seed)
    i, j = rng.choice(np.flatnonzero(positive), m), rng.choice(np.flatnonzero(~positive), m)
    listed = PairList(i, j, rng.uniform(0.1, 2, m)).on(positive)
    for name, loss in LOSSES.items():
        every = naive.weighted_pairs(positive.tolist(), listed)
        check(listed.sums(scores, loss, width), scores, every, name, width, False)


def check(
    found: Any, scores: np.ndarray, pairs: Pairs, loss: str, width: float, binned: bool
) -> None:
    true = naive.sums(naive.exact(scores), pairs, loss, Fraction(0)).value
    slip, size = Fraction(found.value_rounding), 1 + Fraction(float(np.ptp(scores)))
    assert -slip <= found.value - true <= slip + (Fraction(1, 1 << 10) if binned else 0)
    assert found.value_rounding <= 1e-11 * size**2 + (1e-9 if binned else 0)
    assert found.rounding <= 1e-8 * size / (width or 1)
    assert abs(found.c.sum()) <= found.rounding + 1e-15
    rng = np.random.default_rng(len(pairs))
    for k in range(4):  # the first time at the scores themselves
        other = scores + k * rng.normal(size=scores.size) * 10.0 ** (1 - k)
        at = naive.sums(naive.exact(other), pairs, loss, Fraction(0)).value
        paid = found.conjugate_rounding + found.rounding * float(np.abs(other).max())
        linear = sum(naive.exact(c) * naive.exact(s) for c, s in zip(found.c, other, strict=True))
        below = Fraction(found.conjugate) - linear - Fraction(paid)
        assert at >= below - Fraction(1e-15) * size
        if k == 0:  # what smoothing and the grid cost
            apart = Fraction(width) + Fraction(int(binned), 1 << 9)
            assert at - below <= apart + 2 * Fraction(paid) + Fraction(1e-13) * size**2


@each("kind", KINDS)
@each("seed", seeds(6))
@each("width", WIDTHS)
def test_counted_marginals_are_those_of_the_grid(kind: str, seed: int, width: float) -> None:
    scores, positive, _ = scored(kind, seed)
    order = SortedRows.of(scores, positive, width)
    assert order is not None
    found, half = order.sums(scores, width), order.half(width)
    if found is None:
        assert kind in ("tenths", "nearly tied", "crowded", "outliers")
        return
    pairs = of_pairs(positive, None)
    alpha, _ = on_a_grid(scores, pairs, 1 << order.k, ramp(half))
    true = [float(x) for x in naive.marginals(alpha, pairs, scores.size)]
    assert found.c == pytest.approx(true, rel=1e-15, abs=0)
    total = sum(a * share for a, (*_, share) in zip(alpha, pairs, strict=True))
    assert abs(Fraction(found.conjugate) - total) <= Fraction(found.conjugate_rounding)


@each("kind", KINDS)
@each("seed", seeds(9))
def test_bins_count_every_pair_in_any_blocks(kind: str, seed: int) -> None:
    scores, positive, weight = scored(kind, seed)
    bins, half, blocks = (1, 64, 1 << 12)[seed % 3], (0, 1, 6)[seed // 3 % 3], 1 + seed % 4
    extent = Extent()
    extent.add(scores, positive)
    ends = extent.ends + seed % 2 * np.array([-0.3, 0.3, -0.3, 0.3])
    ruler, one = hinge_ruler(ends, bins, half), np.ones(1)
    gathered = Gathered.over(ruler, 0, 2)
    for rows in np.array_split(np.arange(scores.size)[::-1], blocks):
        some = None if weight is None else weight[rows]
        gathered.add(ruler, (scores[None, rows], positive[rows], some), 0 * one, one)
    whole = weight is None or bool((weight == np.floor(weight)).all())
    closed, pairs = closed_hinge(ruler, gathered, half, whole), of_pairs(positive, weight)
    assert ruler.holds(gathered.ends) and ruler.size < 1 << 23
    alpha, m = on_a_grid(scores, pairs, ruler.bins, ramp(half))
    total = sum(a * share for a, (*_, share) in zip(alpha, pairs, strict=True))
    c = ruler.marginals(scores, positive, weight, closed.c)
    slip = Fraction(closed.rounding + 1e-15)
    assert distance(c, naive.marginals(alpha, pairs, scores.size)) <= slip
    assert abs(Fraction(closed.conjugate) - total) <= Fraction(closed.conjugate_rounding + 1e-15)
    true = naive.sums(naive.exact(scores), pairs, "hinge").value
    assert Fraction(closed.value) + Fraction(closed.value_rounding) >= true
    # Too large by at most the mass of pairs at the margin, a bin's height each.
    near = sum(share for x, (*_, share) in zip(m, pairs, strict=True) if x == 0)
    assert Fraction(closed.value) - true <= near / ruler.bins + Fraction(1e-12) * (1 + true)


@each("kind", KINDS)
@each("seed", seeds(9))
def test_moments_of_bins_bound_the_squared_hinge(kind: str, seed: int) -> None:
    scores, positive, weight = scored(kind, seed)
    extent, one = Extent(), np.ones(1)
    extent.add(scores, positive)
    ruler = squared_ruler(extent.ends, (4, 64, 1024)[seed // 3 % 3])
    gathered = Gathered.over(ruler, 0, 3 if weight is None else 4)
    for part in np.array_split(np.arange(scores.size), 3):
        some = None if weight is None else weight[part]
        gathered.add(ruler, (scores[None, part], positive[part], some), 0 * one, one)
    found, pairs = closed_squared(ruler, gathered, weight is None), None
    pairs = of_pairs(positive, weight)
    alpha, m = on_a_grid(scores, pairs, ruler.bins, lambda m, z: 2 * z if m >= 1 else Fraction(0))
    true = naive.sums(naive.exact(scores), pairs, "squared_hinge").value
    doubt = sum(share for x, (*_, share) in zip(m, pairs, strict=True) if x == 0)
    upper = Fraction(found.value) + Fraction(found.value_rounding)
    slack = doubt / ruler.bins**2 + 2 * Fraction(found.value_rounding)
    assert true <= upper <= true + slack
    shares = [share for *_, share in pairs]
    conjugate = sum((a - a * a / 4) * c for a, c in zip(alpha, shares, strict=True))
    assert abs(Fraction(found.conjugate) - conjugate) <= Fraction(found.conjugate_rounding)
    c = ruler.marginals(scores, positive, weight, found.c)
    assert distance(c, naive.marginals(alpha, pairs, scores.size)) <= Fraction(found.rounding)
    size = float(np.ptp(scores)) + 1
    assert max(found.value_rounding, found.conjugate_rounding) <= 1e-9 * size**2
    assert found.rounding <= 1e-9 * size


@each("weighted", [False, True])  # the hinge is then swept, not counted
@each("loss", LOSSES)
def test_equal_scores_cost_one_and_ties_at_the_margin_nothing(weighted: bool, loss: str) -> None:
    positive = np.arange(7) < 3
    pairs, three = (AllPairs(np.ones(n) if weighted else None) for n in (7, 3))
    found = pairs.on(positive).sums(np.full(7, 123.25), LOSSES[loss])
    alpha = 1.0 if loss == "hinge" else 2.0
    assert found.value == 1.0
    assert found.c == pytest.approx(np.where(positive, alpha / 3, -alpha / 4), abs=1e-16)
    if loss != "square":
        tied = three.on(np.array([True, False, True]))
        found = tied.sums(np.array([1.0, 0.0, 2.0]), LOSSES[loss])
        assert found.value == 0 and not found.c.any()


def test_many_rows_agree_with_a_histogram_of_pairs() -> None:
    """Scores on a grid of eighths: the pairs are those of the grid's points, with their counts."""
    rng = np.random.default_rng(3)
    n, grid = 200_000, np.arange(-40, 41) / 8
    scores, positive = rng.integers(-40, 41, n) / 8, rng.uniform(size=n) < 0.2
    plus, minus = (np.bincount((8 * scores[y] + 40).astype(int)) for y in (positive, ~positive))
    z = np.maximum(0, 1 - grid[:, None] + grid[None, :])
    weight = np.outer(plus / plus.sum(), minus / minus.sum())
    for loss, values in ((HINGE, z), (SQUARED_HINGE, z**2)):
        found = AllPairs().on(positive).sums(scores, loss)
        assert found.value == pytest.approx(float((weight * values).sum()), rel=1e-12)
    moved = scores + 1e-3 * rng.normal(size=n)
    for width in (0.0, 0.05):
        both = AllPairs().on(positive), AllPairs(np.ones(n)).on(positive)
        one, two = (pairs.sums(moved, HINGE, width) for pairs in both)
        assert abs(one.value - two.value) <= one.value_rounding + two.value_rounding
        assert float(np.abs(one.c - two.c).sum()) <= one.rounding + two.rounding


def test_small_widths_cost_no_accuracy() -> None:
    """Floating-point sums lose range / width digits; whole numbers lose none."""
    rng = np.random.default_rng(1)
    scores, positive = rng.normal(size=400) * 10, np.arange(400) % 2 == 0
    assert AllPairs().on(positive).sums(scores, HINGE, 1e-6).rounding < 1e-14
    assert AllPairs(np.ones(400)).on(positive).sums(scores, HINGE, 1e-6).rounding > 1e-12


def test_losses_too_small_for_the_grid_are_in_the_rounding(monkeypatch) -> None:
    scores, positive = np.array([1.0, 2.0**-52, -3.0, -3.0]), np.arange(4) == 0
    found = counted_hinge(scores, positive, 0.1)  # the only active pair has m = 0
    assert found is not None and found.value == 0
    assert Fraction(2) ** -52 / 3 <= Fraction(found.value_rounding) <= Fraction(1e-15)
    scores = np.array([1.0, 0.0, 2.0**-45, -3.0])
    order = SortedRows.of(scores, positive, 2.0**20)
    assert order is not None and order.k < 45 and not order.holds(scores)
    assert order.sums(scores, 0.0) is None
    found = AllPairs().on(positive).sums(scores, HINGE)
    assert abs(found.value - 2.0**-45 / 3) <= found.value_rounding
    monkeypatch.setattr(SortedRows, "holds", lambda *_: True)  # a fault: all lie on the grid
    found = order.sums(scores, 0.0)
    assert found is not None and abs(found.value - 2.0**-45 / 3) > found.value_rounding
    for far in (1e13, 1e300):
        assert counted_hinge(np.array([0.0, far, -far]), positive[:3], 0.1) is None
    assert counted_hinge(np.array([0.0, 1.0, 2.0]), positive[:3], 1e-17) is None


@each("half_width", [0.0, 0.02, 0.7])
def test_windows_hold_the_pairs_near_the_margin(half_width: float) -> None:
    rng = np.random.default_rng(3)
    scores, positive = rng.normal(size=500), rng.random(500) < 0.3
    order = SortedRows.of(scores, positive, 2.0)
    assert order is not None
    margins = scores[positive][:, None] - scores[~positive][None, :]
    plus, minus, first, counts = order.windows(2 * half_width)
    i = np.repeat(plus, counts)
    j = np.concatenate([minus[f : f + k] for f, k in zip(first, counts, strict=True)])
    assert np.unique(i * 500 + j).size == (np.abs(1 - margins) < half_width).sum()
    assert positive[plus].all() and not positive[minus].any()
    assert (np.abs(1 - scores[i] + scores[j]) < half_width).all()


@each("power", [0, 14, 20, 40, 62])
@each("offset", [1e8, 1e10, 1e12, 1e15])
def test_scores_far_from_zero_never_give_too_small_a_value(offset: float, power: int) -> None:
    """K s past 2^53 has no exact bin: rows would land in wrong ones, or outside the grid."""
    rng = np.random.default_rng(power)
    for spread in (1.0, 30.0):
        near, far = offset + spread * rng.normal(size=12), -offset + rng.normal(size=4)
        scores, positive = np.append(near, far), np.arange(16) == 0
        found = AllPairs(form="binned", bins=1 << power).on(positive).sums(scores, HINGE)
        true = naive.sums(naive.exact(scores), of_pairs(positive, None), "hinge").value
        assert Fraction(found.value) + Fraction(found.value_rounding) >= true
        assert abs(found.c.sum()) <= found.rounding + 1e-15


def test_the_grid_coarsens_until_it_is_refused() -> None:
    scores = np.array([-1e6, 1e6, -1e6, 1e6])
    assert hinge_ruler(scores, 1 << 20).bins < 1 << 20
    with pytest.raises(InputError, match="no grid of bins"):
        hinge_ruler(np.array([-1e300, 1e300, -1e300, 1e300]), 1)
    with pytest.raises(InputError, match="no grid of bins"):
        positive = np.arange(5) == 2
        AllPairs(form="binned").on(positive).sums(2.0**53 + 2 * np.arange(5), HINGE)
    with pytest.raises(InputError, match="power of two"):
        hinge_ruler(np.array([0.0, 1, 0, 1]), 12)
    with pytest.raises(InputError, match="a score is nan"):
        Extent().add(np.array([0.0, np.nan]), np.array([True, False]))


def test_the_doubt_falls_with_the_cube_of_the_bins() -> None:
    rng, gaps = np.random.default_rng(0), []
    scores, positive = rng.normal(size=20_000), rng.random(20_000) < 0.5
    for bins in (16, 64):
        extent, one = Extent(), np.ones(1)
        extent.add(scores, positive)
        ruler = squared_ruler(extent.ends, bins)
        gathered = Gathered.over(ruler, 0, 3)
        gathered.add(ruler, (scores[None], positive, None), 0 * one, one)
        found = closed_squared(ruler, gathered, True)
        c = ruler.marginals(scores, positive, None, found.c)
        gaps.append(found.value - found.conjugate + float(c @ scores))
    assert 0 < gaps[1] < gaps[0] / 40


@each("powers", [1, 2])
def test_rows_read_again_are_pulled_within_their_bound(powers: int) -> None:
    rng = np.random.default_rng(powers)
    ruler = hinge_ruler(np.array([-20.0, 20.0, -20.0, 20.0]), 8)
    for m in (0, 1, 300, 70_000):  # none, one sum, several in a group, and more than one chain
        X, positive, (offset, w) = (
            rng.normal(size=(3, m)),
            rng.random(m) < 0.5,
            rng.normal(size=(2, 3)),
        )
        table, pull = rng.normal(size=(2, ruler.size, powers)), Pull.of(3)
        ruler.pull((X, positive, None), offset, w, table, pull)
        c = ruler.marginals(added_up(X, offset, w), positive, None, table)
        true = (c.astype(np.longdouble) * (X - offset[:, None])).sum(axis=1)
        assert np.linalg.norm((pull.value - true).astype(float)) <= pull.bound()
