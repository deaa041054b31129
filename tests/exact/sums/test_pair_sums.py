"""Sums over pairs of two classes and ordered ones, in every form, against each pair exactly."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aucert.exact as ac
import naive
from aucert.exact import AllPairs
from aucert.exact.losses.registry import LOSSES, Logistic
from aucert.exact.pairs.all_pairs import enumerated
from aucert.exact.spaces.blocks import added_up
from aucert.exact.sums import convolved, swept, tree
from aucert.exact.sums.binned import Extent, Gathered, closed_hinge, hinge_ruler
from aucert.exact.sums.convolved import EXPONENTIAL_UNITS
from aucert.exact.tools.rounding import UNIT, Pull, gamma, short_chain
from decimal_losses import loss_of, mean_of
from loops import each, refuses, seeds
from ordered_naive import naive_counts
from problems import SCORED, scored

SMOOTH = [Logistic(), ac.SmoothHinge(), ac.SmoothHinge(0.1), ac.SmoothHinge(20.0)]
FORMS = ("auto", "binned")
WIDTHS = (0.0, 1e-6, 0.3, 5.0)

Pairs = list[tuple[int, int, Fraction]]


def of_pairs(positive: np.ndarray, weight: np.ndarray | None) -> Pairs:
    return naive.weighted_pairs(positive.tolist(), AllPairs(weight))


def on_a_grid(scores: Any, pairs: Pairs, steps: int, half: int) -> tuple[list[Fraction], list[int]]:
    """Return the ramp of every pair, from whole numbers m of `steps` a unit, and m itself."""
    places = [steps * s // 1 for s in naive.exact(scores)]
    m = [places[j] - places[i] + steps for i, j, _ in pairs]
    if half == 0:
        return [Fraction(int(k >= 1)) for k in m], m
    return [min(max(Fraction(k + half, 2 * half), Fraction(0)), Fraction(1)) for k in m], m


@each("form", FORMS)
@each("kind", SCORED)
@each("width", WIDTHS)
@each("seed", seeds(3))
def test_a_value_and_its_minorant(form: Any, kind: str, width: float, seed: int, monkeypatch):
    monkeypatch.setattr(convolved, "LARGEST_GRID", 1 << 16)  # far rows make no large grid
    scores, positive, weight = scored(kind, seed)
    pairs = AllPairs(weight, form=form, bins=1 << 10).on(positive)
    every = of_pairs(positive, weight)
    for loss in LOSSES.values() if form == "auto" else (ac.HINGE, *SMOOTH):
        found = pairs.sums(scores, loss, width)
        check(found, scores, every, loss, width, 1 << 10 if form == "binned" else 0)
    m = min(int(seed + 5), positive.sum() * (~positive).sum())
    rng = np.random.default_rng(seed)
    i, j = rng.choice(np.flatnonzero(positive), m), rng.choice(np.flatnonzero(~positive), m)
    listed = ac.PairList(i, j, rng.uniform(0.1, 2, m)).on(positive)
    every = naive.weighted_pairs(positive.tolist(), listed)
    for loss in LOSSES.values() if form == "auto" else SMOOTH:
        check(listed.sums(scores, loss, width), scores, every, loss, width, 0)


def check(found: Any, scores: np.ndarray, pairs: Pairs, loss: Any, width: float, bins: int) -> None:
    corner = Fraction(getattr(loss, "corner", 1.0))

    def mean(s: np.ndarray) -> Fraction:
        return mean_of(loss.name, naive.exact(s), pairs, corner)

    slip, size = Fraction(found.value_rounding), 1 + Fraction(float(np.ptp(scores)))
    bent, excess = loss in SMOOTH, Fraction(found.excess)
    coarse = Fraction(1, bins) if bins and not bent else Fraction(0)
    assert -slip <= naive.exact(found.value) - mean(scores) <= slip + excess + coarse
    if bent and bins and width == 0 and size < 30:
        assert excess <= loss.smoothness / 2 / bins**2 * (1 + 1e-9)
    if not bent:
        assert slip <= 1e-11 * size**2 + (1e-9 if bins else 0)
        assert found.rounding <= 1e-8 * size / (width or 1)
    assert abs(found.c.sum()) <= found.rounding + 1e-15
    rng = np.random.default_rng(len(pairs))
    for k in range(4):
        other = scores + k * rng.normal(size=scores.size) * 10.0 ** (1 - k)
        middle = naive.exact(other[0]) if bent else 0
        paid = found.conjugate_rounding + found.rounding * float(np.ptp(other) + abs(other).max())
        both = zip(naive.exact(found.c), naive.exact(other), strict=True)
        below = Fraction(found.conjugate) - sum(c * (s - middle) for c, s in both) - Fraction(paid)
        at = mean(other)
        assert at >= below - Fraction(1e-15) * size
        if k == 0:  # what smoothing and the grid cost
            apart = 4 * excess if bent else 2 * coarse + Fraction(width * (loss == ac.HINGE))
            assert at - below <= apart + 2 * Fraction(paid) + 2 * slip + Fraction(1e-13) * size**2


@each("kind", SCORED)
@each("seed", seeds(9))
def test_bins_count_every_pair_in_any_blocks(kind: str, seed: int) -> None:
    scores, positive, weight = scored(kind, seed)
    bins, half, blocks = (1, 64, 1 << 12)[seed % 3], (0, 1, 6)[seed // 3 % 3], 1 + seed % 4
    extent, one = Extent(), np.ones(1)
    extent.add(scores, positive)
    ruler = hinge_ruler(extent.ends + seed % 2 * np.array([-0.3, 0.3, -0.3, 0.3]), bins, half)
    gathered = Gathered.over(ruler, 0, 2)
    for rows in np.array_split(np.arange(scores.size)[::-1], blocks):
        some = None if weight is None else weight[rows]
        gathered.add(ruler, (scores[None, rows], positive[rows], some), 0 * one, one)
    whole = weight is None or bool((weight == np.floor(weight)).all())
    closed, pairs = closed_hinge(ruler, gathered, half, whole), of_pairs(positive, weight)
    assert ruler.holds(gathered.ends) and ruler.size < 1 << 23
    alpha, m = on_a_grid(scores, pairs, ruler.bins, half)
    total = sum(a * share for a, (*_, share) in zip(alpha, pairs, strict=True))
    c = ruler.marginals(scores, positive, weight, closed.c)
    slip = Fraction(closed.rounding + 1e-15)
    assert naive.l1(c, naive.marginals(alpha, pairs, scores.size)) <= slip
    assert abs(Fraction(closed.conjugate) - total) <= Fraction(closed.conjugate_rounding + 1e-15)
    true = naive.sums(naive.exact(scores), pairs, "hinge").value
    assert Fraction(closed.value) + Fraction(closed.value_rounding) >= true
    # Too large by at most the mass of pairs at the margin, a bin's height each.
    near = sum(share for x, (*_, share) in zip(m, pairs, strict=True) if x == 0)
    assert Fraction(closed.value) - true <= near / ruler.bins + Fraction(1e-12) * (1 + true)


@each("weighted", [False, True])  # the hinge is then swept, not counted
@each("loss", LOSSES)
def test_equal_scores_cost_one_and_ties_at_the_margin_nothing(weighted: bool, loss: str) -> None:
    positive, alpha = np.arange(7) < 3, 1.0 if loss == "hinge" else 2.0
    pairs, three = (AllPairs(np.ones(n) if weighted else None) for n in (7, 3))
    found = pairs.on(positive).sums(np.full(7, 123.25), LOSSES[loss])
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
    for loss, values in ((ac.HINGE, z), (ac.SQUARED_HINGE, z**2)):
        true = plus @ values @ minus / plus.sum() / minus.sum()
        assert AllPairs().on(positive).sums(scores, loss).value == pytest.approx(true, rel=1e-12)
    moved = scores + 1e-3 * rng.normal(size=n)
    for width in (0.0, 0.05):
        both = AllPairs().on(positive), AllPairs(np.ones(n)).on(positive)
        one, two = (pairs.sums(moved, ac.HINGE, width) for pairs in both)
        assert abs(one.value - two.value) <= one.value_rounding + two.value_rounding
        assert float(np.abs(one.c - two.c).sum()) <= one.rounding + two.rounding


def test_losses_too_small_for_the_grid_are_in_the_rounding() -> None:
    scores, positive = np.array([1.0, 2.0**-52, -3.0, -3.0]), np.arange(4) == 0
    found: Any = swept.counted_hinge(scores, positive, 0.1)  # the only active pair has m = 0
    assert found.value == 0
    assert Fraction(2) ** -52 / 3 <= Fraction(found.value_rounding) <= Fraction(1e-15)
    scores = np.array([1.0, 0.0, 2.0**-45, -3.0])
    order: Any = swept.SortedRows.of(scores, positive, 2.0**20)
    assert order.k < 45 and not order.holds(scores) and order.sums(scores, 0.0) is None
    found = AllPairs().on(positive).sums(scores, ac.HINGE)
    assert abs(found.value - 2.0**-45 / 3) <= found.value_rounding
    for far in (1e13, 1e300):
        assert swept.counted_hinge(np.array([0.0, far, -far]), positive[:3], 0.1) is None
    assert swept.counted_hinge(np.array([0.0, 1.0, 2.0]), positive[:3], 1e-17) is None


@each("power", [0, 14, 20, 40, 62])
@each("offset", [1e8, 1e10, 1e12, 1e15])
def test_scores_far_from_zero_never_give_too_small_a_value(offset: float, power: int) -> None:
    """K s past 2^53 has no exact bin: rows would land in wrong ones, or outside the grid."""
    rng, positive = np.random.default_rng(power), np.arange(16) == 0
    for spread in (1.0, 30.0):
        near, far = offset + spread * rng.normal(size=12), -offset + rng.normal(size=4)
        scores = np.append(near, far)
        found = AllPairs(form="binned", bins=1 << power).on(positive).sums(scores, ac.HINGE)
        true = naive.sums(naive.exact(scores), of_pairs(positive, None), "hinge").value
        assert Fraction(found.value) + Fraction(found.value_rounding) >= true
        assert abs(found.c.sum()) <= found.rounding + 1e-15


def test_the_grid_coarsens_until_it_is_refused() -> None:
    ends, far = np.array([-1.0, 1.0, -1.0, 1.0]), 2.0**53 + 2 * np.arange(5)
    assert hinge_ruler(1e6 * ends, 1 << 20).bins < 1 << 20
    refuses("no grid of bins", hinge_ruler, 1e300 * ends, 1)
    refuses("no grid of bins", AllPairs(form="binned").on(np.arange(5) == 2).sums, far, ac.HINGE)
    refuses("power of two", hinge_ruler, np.array([0.0, 1, 0, 1]), 12)
    refuses("a score is nan", Extent().add, np.array([0.0, np.nan]), np.array([True, False]))


@each("powers", [1, 2])
def test_rows_read_again_are_pulled_within_their_bound(powers: int) -> None:
    rng = np.random.default_rng(powers)
    ruler = hinge_ruler(np.array([-20.0, 20.0, -20.0, 20.0]), 8)
    for m in (0, 1, 300, 70_000):  # none, one sum, several in a group, and more than one chain
        X, positive = rng.normal(size=(3, m)), rng.random(m) < 0.5
        offset, w = rng.normal(size=(2, 3))
        table, pull = rng.normal(size=(2, ruler.size, powers)), Pull.of(3)
        ruler.pull((X, positive, None), offset, w, table, pull)
        c = ruler.marginals(added_up(X, offset, w), positive, None, table)
        true = (c.astype(np.longdouble) * (X - offset[:, None])).sum(axis=1)
        assert np.linalg.norm((pull.value - true).astype(float)) <= pull.bound()


NINE = np.arange(9) % 3 == 0, np.random.default_rng(1).normal(size=9)  # classes and scores


def binned(positive: Any, weight: np.ndarray | None = None, bins: int = 64) -> AllPairs:
    return AllPairs(weight, form="binned", bins=bins).on(np.asarray(positive, dtype=bool))


def test_few_pairs_are_gone_through_and_many_are_convolved() -> None:
    positive, loss, rng = np.arange(3000) % 2 == 0, Logistic(), np.random.default_rng(0)
    for n, width, made in ((40, 0.0, False), (1000, 0.1, True)):
        found = loss.all_pairs(AllPairs().on(positive[:n]), np.linspace(0.0, 1.0, 1000)[:n], width)
        assert (found is not None) == made
    scores, many = rng.normal(size=3000), AllPairs().on(positive)
    found, true = many.sums(scores, loss), enumerated(many, scores, loss, 0.0)
    assert -found.value_rounding <= found.value - true.value <= 1e-10
    assert np.abs(found.c - true.c).sum() <= 1e-4
    refuses("1e\\+150", binned([1, 0]).sums, np.array([1e200, 0.0]), Logistic())


def class_bins(counts: Any, per_unit: float, loss: Any) -> tuple[Any, Any]:
    bins = convolved.Bins(per_unit, round(per_unit * loss.centre), *counts)
    return bins, convolved.class_sums(bins, loss)


@pytest.mark.slow
def test_the_bound_of_the_transforms_rounding_holds_and_is_not_idle() -> None:
    """At most half of it is used on random counts; a hundredth of it would be too little."""
    shares = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        place, side = rng.integers(0, 500, 400), np.arange(400) % 2 == 0
        counts = (np.bincount(place[y], rng.integers(1, 10**8, 200), 500) for y in (side, ~side))
        bins, sums = class_bins(counts, 32.0, Logistic())
        m = np.arange(-bins.size + 1, bins.size)
        step = np.where(m < 0, 1.0, np.where(m > 0, 0.0, 0.5))
        kernel = Logistic().beside_step(m / 32.0, step)[0] + step
        counts_b = bins.count_b.astype(np.longdouble)
        exact = np.convolve(counts_b, kernel)[bins.size - 1 : 2 * bins.size - 1]
        wrong = np.abs(sums.u - exact).astype(float) @ bins.count_a
        shares.append(wrong / (bins.masses[0] * bins.masses[1]) / sums.u_error)
    assert 1e-4 < max(shares) < 0.6


@dataclass(frozen=True)
class Off(Logistic):
    """A logistic loss whose kernels are wrong by nearly all that `KERNEL_UNITS` allows."""

    def beside_step(self, x: np.ndarray, step: np.ndarray) -> Any:
        return np.array(super().beside_step(x, step)) + 15.0 * UNIT

    def bent(self, x: np.ndarray) -> Any:
        return np.array(super().bent(x)) + 15.0 * UNIT


@dataclass(frozen=True)
class Near(Logistic):
    """A logistic loss whose slope is cut off where it is still to be seen."""

    reach: float = field(default=5.0, init=False)


def test_every_error_is_paid(monkeypatch: pytest.MonkeyPatch) -> None:
    found = convolved.convolved(binned([1, 0, 0]), np.array([0.0, 0.0, -200.0]), Logistic(), 0.0)
    assert found.value_rounding >= 100 * found.rounding > 0  # as far as the scores reach
    found = convolved.convolved(binned([1, 0]), np.array([3.0, -3.0]), Near(), 0.0)
    assert max(found.conjugate, found.total) < 1e-15  # no alpha is left, so the tail is paid
    assert found.value >= np.log1p(np.exp(-6.0))
    weight = np.random.default_rng(1).uniform(0.1, 1, 9)
    given = ((binned(NINE[0], r), np.linspace(-1, 1, 9)) for r in (weight, np.ceil(weight)))
    fractions, whole = (convolved.convolved(*of, Logistic(), 0.0).rounding for of in given)
    assert fractions > whole + 8 * UNIT
    for loss in (Logistic(), ac.SmoothHinge(0.3)):
        place = np.floor(64 * (NINE[1] - NINE[1].min())).astype(int)
        counts = (np.bincount(place[y], minlength=400) + 0.0 for y in (NINE[0], ~NINE[0]))
        bins, sums = class_bins(counts, 64.0, loss)
        assert min(sums.u_error, sums.v_error, sums.dual_error) > UNIT
        off = np.abs(sums.u * (1 + 1e-9) - sums.u)  # a thousand times what it rounds is more
        assert float(bins.count_a @ off) / 18 > sums.u_error
    # At margins of 40 alpha is nothing, so that no other bound hides that of the kernels.
    monkeypatch.setattr(convolved, "BUTTERFLY", 0)
    found = convolved.convolved(binned([1, 0]), np.array([20.0, -20.0]), Off(), 0.0)
    planted = found.conjugate + found.excess
    assert np.abs(found.c).sum() > 20 * UNIT and planted > 10 * UNIT
    assert np.abs(found.c).sum() - 1e-17 <= found.rounding
    assert found.conjugate - 2e-16 <= found.conjugate_rounding


@each("part", ["u_error", "v_error", "dual_error"])
def test_what_a_transform_rounds_is_in_every_bound(part: str, monkeypatch) -> None:
    honest, none = convolved.class_sums, {"u_error": 0.0, "v_error": 0.0, "dual_error": 0.0}
    planted = none | {part: 1.0}
    monkeypatch.setattr(convolved, "class_sums", lambda *of: replace(honest(*of), **planted))
    found = convolved.convolved(binned(NINE[0]), NINE[1], Logistic(), 0.0)
    assert (found.conjugate_rounding if part == "dual_error" else found.rounding) >= 1
    assert found.value_rounding >= 0.5


@each("seed", seeds(12))
def test_bounds_of_the_exponential_loss_have_all_their_terms(seed: int) -> None:
    rng, n = np.random.default_rng([5, seed]), 12
    s = rng.normal(size=n) * 10.0 ** rng.integers(-1, 3)
    y, r = np.arange(n) % 3 == 0, rng.integers(0, 3, n) + (np.arange(n) < 2)
    found = AllPairs(r).on(y).sums(s, ac.EXPONENTIAL)
    values, pairs = naive.exact(s), of_pairs(y, r)
    alpha = [loss_of("exponential", values[i] - values[j]) for i, j, _ in pairs]
    value = sum(k * a for (*_, k), a in zip(pairs, alpha, strict=True))
    c = naive.marginals(alpha, pairs, n)
    linear = sum(k * x for k, x in zip(c, values, strict=True))
    assert abs(Fraction(found.value) - value) <= Fraction(found.value_rounding)
    assert naive.l1(found.c, c) <= Fraction(found.rounding)
    assert abs(Fraction(found.conjugate) - (value + linear)) <= Fraction(found.conjugate_rounding)
    used = r > 0
    least, most = s[y & used].min(), s[~y & used].max()
    worst, shifted = abs(most - least), np.abs(np.where(used, s - (most + least) / 2, 0.0))
    chain, unit, size = gamma(2 * short_chain(n) + 4 * EXPONENTIAL_UNITS), 4 * UNIT, np.abs(found.c)
    mass, just = float(size @ (1 + shifted)), 1 - 1e-9
    relative = chain * found.value + unit * (mass + worst * found.value)
    rounding = 2 * (relative + chain * float(size.sum()))
    slips = chain * (found.value + float(size @ shifted)) + (rounding + unit * mass) * (1 + worst)
    assert found.value_rounding >= 2 * relative * just
    assert found.rounding >= rounding * just
    assert found.conjugate_rounding >= 2 * slips * just


@each("h", [0.25, 0.06, 0.02])
def test_what_a_line_of_alpha_costs_is_bounded_and_the_bound_is_not_idle(h: float) -> None:
    loss, t = Logistic(), np.linspace(-12, 12, 241)[:, None]
    e = np.concatenate([-np.geomspace(h, h / 3, 20), np.geomspace(h / 3, h, 20)])[None]
    slope = loss.alpha(t)
    bend, turn = loss.bent(t)
    assert bend == pytest.approx(slope * (1 - slope), rel=1e-10)
    assert turn == pytest.approx(t * bend, rel=1e-12)
    alpha = slope - bend * e
    assert alpha.min() > 0 and alpha.max() < 1
    cubic, quartic = loss.remainders(h)
    series = loss.dual(slope) - t * bend * e - bend * e**2 / 2
    lost = np.abs(loss.dual(alpha) - series) / (cubic * bend * np.abs(e) ** 3)
    left = loss.value(t + e) - loss.dual(alpha) + alpha * (t + e)
    near = bend > 1e-3  # elsewhere less is lost than what doubles round
    assert 0.3 < lost[near[:, 0]].max() <= 1
    assert 0.1 < (left / (quartic * bend * h**4))[near[:, 0]].max() <= 1


ENDS = (2, 6, 3, 3, None)  # of groups, keys, both weights and places
rows = st.lists(st.tuples(*(st.integers(0, end) for end in ENDS)), min_size=1, max_size=60)


@settings(deadline=None, max_examples=60)
@given(rows, st.sampled_from([2, 4, 9, 40, 5000]), st.integers(0, 10), st.integers(0, 60))
def test_counters_count_what_merges_count(drawn, top: int, k: int, half: int) -> None:
    group, key, a, b, places = (np.array(column) for column in zip(*drawn, strict=True))
    group = np.unique(group, return_inverse=True)[1]
    at = tree.Arrangement.of(group, key, a > 0)
    a, b, places = a[at.order], b[at.order], (places % top).astype(np.int64)
    places -= places.min()
    soft, hard, totals = naive_counts(at, places, a, b, 1 << k, half)
    stated = tree.hinge_counts_by_counters(at, places, a, b, 1 << k, half)
    true = tree.hinge_counts(at, places, a, b, 1 << k, half)
    for found in (stated, true):
        assert (half == 0 or np.array_equal(found.soft, soft)) and np.array_equal(found.hard, hard)
        assert [found.total(which) for which in range(half == 0, 3)] == totals[half == 0 :]
    for which in range(3):
        assert np.array_equal(stated.by_group(which), true.by_group(which))


@each("form", [tree.hinge_counts_by_counters, tree.hinge_counts])
@each("half", [0, 1, 3])
@each("groups", [1, 3, 40])
def test_pairs_at_their_margin_are_ties_and_not_active(form, half: int, groups: int) -> None:
    """Scores of few values, so that a third of all pairs has m = 0: >= for > would be seen."""
    rng = np.random.default_rng(half)
    n = 700  # above the size of the ranges that are gone through pair by pair
    group, key, places = rng.integers(0, groups, n), rng.integers(0, 200, n), rng.integers(0, 3, n)
    a, b = rng.integers(0, 4, (2, n))
    at = tree.Arrangement.of(np.unique(group, return_inverse=True)[1], key, a > 0)
    stated, found = naive_counts(at, places, a, b, 1, half), form(at, places, a, b, 1, half)
    assert [found.total(1), found.total(2)] == stated[2][1:]
    assert np.array_equal(found.hard, stated[1])
    assert half == 0 or np.array_equal(found.soft, stated[0])


@each("seed", seeds(4))
def test_the_binned_form_brackets_every_pair(seed: int) -> None:
    rng, n, width = np.random.default_rng(seed), 600, 0.4
    time, event = np.round(rng.exponential(size=n), 2), rng.random(n) < 0.5
    pairs, scores = ac.survival_pairs(time, event), rng.normal(size=n) * 0.05 + 0.3 * time
    key = np.asarray(pairs.key)
    above = (key[:, None] > key[None, :]) & event[:, None]
    stated, fine = (p.sums(scores, ac.HINGE, width) for p in (pairs.by("binned"), pairs))
    z = 1 - (scores[:, None] - scores[None, :])
    value = float(np.maximum(z, 0)[above].mean())
    assert stated.value - 1e-15 <= value <= stated.value + stated.value_rounding
    assert stated.value_rounding <= width**2  # far below what smoothing costs
    # The marginals are those of one alpha in the box: of the scores on the grid.
    k = int(np.ceil(np.log2(2 * tree.STEPS / width)))
    places, half = np.floor(np.ldexp(scores, k)), round(np.ldexp(width, k - 1))
    m = places[None, :] - places[:, None] + 2.0**k
    alpha = np.where(above, np.clip(m + half, 0, 2 * half) / (2 * half), 0.0) / above.sum()
    assert np.abs(stated.c - (alpha.sum(axis=1) - alpha.sum(axis=0))).max() <= 1e-15
    assert stated.total == pytest.approx(alpha.sum(), abs=1e-14)
    assert np.abs(stated.c - fine.c).sum() <= 0.05
