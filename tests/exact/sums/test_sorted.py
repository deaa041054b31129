"""The swept sums against double loops, and the compiled form against the readable one."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from aucert.exact.losses.registry import HINGE, LOSSES
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.sums.assembled import PairSums
from loops import each, seeds

FORMS = ["numpy", "compiled"]


def random_scores(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return scores (every third time on a grid, so with ties), labels and weights."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    positive = np.zeros(n, dtype=bool)
    positive[rng.permutation(n)[: rng.integers(1, n)]] = True
    scores = rng.normal(size=n) * rng.choice([0.1, 1, 10])
    if seed % 3 == 0:
        scores = np.round(scores * 2) / 2
    weight = rng.integers(0, 4, n).astype(float)
    weight[[np.flatnonzero(positive)[0], np.flatnonzero(~positive)[0]]] = 1
    return scores, positive, weight if seed % 2 else None


def check_against_loops(
    found: PairSums,
    scores: np.ndarray,
    positive: np.ndarray,
    pairs: AllPairs,
    loss: str,
    width: float,
) -> None:
    weighted = naive.weighted_pairs(positive.tolist(), pairs, float)
    true = naive.sums(scores.tolist(), weighted, loss, width)
    size = 1 + float(np.abs(scores).max()) ** 2
    assert found.value == pytest.approx(float(true.value), abs=1e-12 * size)
    assert found.conjugate == pytest.approx(float(true.conjugate), abs=1e-12 * size)
    assert np.allclose(found.c, np.array(true.c, dtype=float), rtol=0, atol=1e-12 * size)


@each("form", FORMS)
@each("width", [0.0, 1e-3, 0.5, 2.0, 100.0])
@each("seed", seeds(24))
def test_hinge_sums_are_those_of_the_double_loop(seed: int, width: float, form: str) -> None:
    scores, positive, weight = random_scores(seed)
    pairs = AllPairs(weight, form=form)
    found = pairs.on(positive).sums(scores, HINGE, width)
    check_against_loops(found, scores, positive, pairs, "hinge", width)


@each("loss", ["squared_hinge", "square"])
@each("seed", seeds(24))
def test_squared_sums_are_those_of_the_double_loop(seed: int, loss: str) -> None:
    scores, positive, weight = random_scores(seed)
    pairs = AllPairs(weight)
    found = pairs.on(positive).sums(scores, LOSSES[loss])
    check_against_loops(found, scores, positive, pairs, loss, 0.0)


@each("loss", LOSSES)
@each("seed", seeds(12))
def test_sums_over_a_list_are_those_of_the_double_loop(seed: int, loss: str) -> None:
    scores, positive, _ = random_scores(seed)
    rng = np.random.default_rng([9, seed])
    m = int(rng.integers(1, 50))
    i, j = rng.choice(np.flatnonzero(positive), m), rng.choice(np.flatnonzero(~positive), m)
    pairs = PairList(i, j, rng.uniform(0.1, 2, m))
    found = pairs.on(positive).sums(scores, LOSSES[loss], 0.4)
    weighted = naive.weighted_pairs(positive.tolist(), pairs, float)
    true = naive.sums(scores.tolist(), weighted, loss, 0.4)
    size = 1 + float(np.abs(scores).max()) ** 2
    assert found.value == pytest.approx(float(true.value), abs=1e-13 * size)
    assert found.conjugate == pytest.approx(float(true.conjugate), abs=1e-13 * size)
    assert np.allclose(found.c, np.array(true.c, dtype=float), rtol=0, atol=1e-13 * size)


@each("loss", LOSSES)
@each("form", FORMS)
def test_equal_scores_cost_one_whatever_the_size(form: str, loss: str) -> None:
    """Every pair has z = 1: the loss is 1 and alpha is 1 or 2."""
    positive = np.arange(7) < 3
    found = AllPairs(form=form).on(positive).sums(np.full(7, 123.25), LOSSES[loss])
    assert found.value == 1.0
    alpha = 1.0 if loss == "hinge" else 2.0
    assert found.c == pytest.approx(np.where(positive, alpha / 3, -alpha / 4), abs=1e-16)


@each("form", FORMS)
def test_a_tie_at_the_margin_counts_on_neither_side(form: str) -> None:
    found = (
        AllPairs(form=form).on(np.array([True, False, True])).sums(np.array([1.0, 0.0, 2.0]), HINGE)
    )
    assert found.value == 0 and not found.c.any()


@each("form", FORMS)
@each("width", [0.0, 1e-17, 1e-12, 0.3])
def test_both_sides_count_the_same_pairs_at_ties(width: float, form: str) -> None:
    """Tenths round: a second comparison on the other side would count other pairs."""
    rng = np.random.default_rng(1)
    scores, positive = rng.integers(-30, 30, 400) / 10, np.arange(400) % 2 == 0
    found = AllPairs(form=form).on(positive).sums(scores, HINGE, width)
    assert abs(found.c.sum()) <= found.rounding
    if width == 0:
        assert found.c.sum() == pytest.approx(0.0, abs=1e-15)


def test_each_pair_list_may_hold_a_pair_twice() -> None:
    positive = np.array([True, False, False])
    scores = np.array([0.5, 0.0, 0.75])
    twice = PairList(np.array([0, 0, 0]), np.array([1, 1, 2]))
    weighted = PairList(np.array([0, 0]), np.array([1, 2]), np.array([2.0, 1.0]))
    for loss in LOSSES.values():
        one, two = (pairs.on(positive).sums(scores, loss) for pairs in (twice, weighted))
        assert one.value == pytest.approx(two.value) and one.c == pytest.approx(two.c)


@each("width", [0.0, 0.05])
def test_the_two_forms_agree_to_rounding_on_many_rows(width: float) -> None:
    rng = np.random.default_rng(2)
    n = 200_000
    scores = np.round(rng.normal(size=n) * 1000) / 1000
    positive = rng.uniform(size=n) < 0.3
    one, two = (AllPairs(form=form).on(positive).sums(scores, HINGE, width) for form in FORMS)
    assert abs(one.value - two.value) <= one.value_rounding + two.value_rounding
    assert float(np.abs(one.c - two.c).sum()) <= one.rounding + two.rounding


def test_many_rows_agree_with_a_histogram_of_pairs() -> None:
    """Scores on a grid of eighths: the pairs are those of the grid's points, with their counts."""
    rng = np.random.default_rng(3)
    n = 200_000
    scores, positive = rng.integers(-40, 41, n) / 8, rng.uniform(size=n) < 0.2
    grid = np.arange(-40, 41) / 8
    plus = np.array([(scores[positive] == g).sum() for g in grid], dtype=float)
    minus = np.array([(scores[~positive] == g).sum() for g in grid], dtype=float)
    z = np.maximum(0, 1 - grid[:, None] + grid[None, :])
    weight = np.outer(plus / plus.sum(), minus / minus.sum())
    for loss, values in (("hinge", z), ("squared_hinge", z**2)):
        found = AllPairs().on(positive).sums(scores, LOSSES[loss])
        assert found.value == pytest.approx(float((weight * values).sum()), rel=1e-12)


def test_small_widths_cost_no_accuracy() -> None:
    """Floating-point sums lose range / width digits; whole numbers lose none."""
    rng = np.random.default_rng(1)
    scores, positive = rng.normal(size=400) * 10, np.arange(400) % 2 == 0
    assert AllPairs().on(positive).sums(scores, HINGE, 1e-6).rounding < 1e-14
    assert AllPairs(form="numpy").on(positive).sums(scores, HINGE, 1e-6).rounding > 1e-12
