from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from aucert.approx import draw_pairs
from aucert.approx.drawn_pairs import by_weight
from aucert.exact.errors import InputError
from aucert.exact.losses.registry import HINGE
from aucert.exact.pairs.all_pairs import AllPairs
from loops import each, first_fast

POSITIVE = np.array([True, False, True, False, False])  # 2 positive and 3 negative rows: 6 pairs


def as_tuples(pairs) -> list[tuple[int, int]]:
    return list(zip(pairs.i.tolist(), pairs.j.tolist(), strict=True))


def estimates(replace: bool, n_pairs: int, draws: int) -> tuple[np.ndarray, np.ndarray]:
    """U_B of `draws` samples, and the loss of every single pair, for one fixed f."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=POSITIVE.size)
    losses = HINGE.value(np.subtract.outer(scores[POSITIVE], scores[~POSITIVE])).ravel()
    sampled = [
        draw_pairs(POSITIVE, n_pairs, rng, replace).on(POSITIVE).sums(scores, HINGE).value
        for _ in range(draws)
    ]
    return np.array(sampled), losses


@pytest.mark.slow
@each("replace", [True, False])
@each("n_pairs", first_fast([2, 1, 5]))
def test_the_incomplete_statistic_is_unbiased(replace: bool, n_pairs: int) -> None:
    sampled, losses = estimates(replace, n_pairs, 4000)
    error = sampled.std() / np.sqrt(sampled.size)
    assert abs(sampled.mean() - losses.mean()) < 4 * error


@pytest.mark.slow
def test_its_variance_falls_like_one_over_b_with_replacement() -> None:
    sampled, losses = estimates(True, 4, 4000)
    assert sampled.var() == pytest.approx(losses.var() / 4, rel=0.1)


def test_its_variance_is_smaller_without_replacement() -> None:
    sampled, losses = estimates(False, 4, 4000)
    assert sampled.var() == pytest.approx(losses.var() / 4 * (6 - 4) / (6 - 1), rel=0.1)


@each("n_pairs", [2, 4])
def test_every_set_of_different_pairs_is_equally_likely(n_pairs: int) -> None:
    rng, draws = np.random.default_rng(1), 6000
    counts = Counter(
        frozenset(as_tuples(draw_pairs(POSITIVE, n_pairs, rng, replace=False)))
        for _ in range(draws)
    )
    assert len(counts) == 15 and all(len(pairs) == n_pairs for pairs in counts)
    expected = draws / 15
    assert sum((k - expected) ** 2 / expected for k in counts.values()) < 36.1  # chi^2_14, 0.1 %


def test_every_pair_is_equally_likely_and_draws_are_independent() -> None:
    pairs = as_tuples(draw_pairs(POSITIVE, 60_000, 0))
    counts = Counter(pairs)
    assert len(counts) == 6
    assert sum((k - 10_000) ** 2 / 10_000 for k in counts.values()) < 20.5  # chi^2_5, 0.1 %
    following = Counter(zip(pairs[::2], pairs[1::2], strict=True))
    expected = 30_000 / 36
    assert len(following) == 36
    assert sum((k - expected) ** 2 / expected for k in following.values()) < 66.6  # chi^2_35


def test_all_pairs_drawn_once_are_all_pairs() -> None:
    rng = np.random.default_rng(3)
    positive, scores = rng.random(30) < 0.4, rng.normal(size=30)
    total = AllPairs().on(positive).count()
    drawn = draw_pairs(positive, total, 0, replace=False).on(positive).sums(scores, HINGE)
    whole = AllPairs().on(positive).sums(scores, HINGE)
    assert drawn.value == pytest.approx(whole.value, rel=1e-13)
    np.testing.assert_allclose(drawn.c, whole.c, atol=1e-15)


def test_merging_multiplicities_is_the_same_problem() -> None:
    rng = np.random.default_rng(4)
    positive, scores = np.arange(20) < 6, rng.normal(size=20)
    listed = draw_pairs(positive, 200, 0)
    merged = draw_pairs(positive, 200, 0, merge=True)
    assert len(set(as_tuples(listed))) == merged.i.size < 200
    one, other = (p.on(positive).sums(scores, HINGE) for p in (listed, merged))
    assert one.value == pytest.approx(other.value, rel=1e-13)
    np.testing.assert_allclose(one.c, other.c, atol=1e-15)


@each("replace", [True, False])
def test_a_few_of_very_many_pairs_take_little_memory(replace: bool) -> None:
    positive = np.arange(400_000) % 2 == 0  # 4e10 pairs: listing them would take 600 GB
    pairs = draw_pairs(positive, 20_000, 0, replace)
    pairs.check()
    assert pairs.i.size == 20_000
    if not replace:
        assert len(set(as_tuples(pairs))) == 20_000


def test_with_row_weights_a_pair_is_drawn_by_the_product_of_its_two() -> None:
    weight = np.array([3.0, 0.0, 1.0, 2.0, 0.5])
    counts = Counter(as_tuples(draw_pairs(POSITIVE, 60_000, 0, weight=weight)))
    share = {(i, j): weight[i] * weight[j] / 10.0 for i in (0, 2) for j in (1, 3, 4)}
    assert set(counts) == {pair for pair, p in share.items() if p > 0}
    expected = {pair: 60_000 * share[pair] for pair in counts}
    assert sum((counts[k] - e) ** 2 / e for k, e in expected.items()) < 16.3  # chi^2_3, 0.1 %


@pytest.mark.slow
@each("n_pairs", first_fast([5, 1]))
def test_with_row_weights_it_estimates_the_weighted_mean(n_pairs: int) -> None:
    rng, weight = np.random.default_rng(5), np.array([3.0, 0.0, 1.0, 2.0, 0.5])
    scores = np.array([0.2, 0.1, -0.4, 0.3, -1.0])
    whole = AllPairs(weight).on(POSITIVE).sums(scores, HINGE).value
    sampled = np.array(
        [
            draw_pairs(POSITIVE, n_pairs, rng, weight=weight).on(POSITIVE).sums(scores, HINGE).value
            for _ in range(4000)
        ]
    )
    assert abs(sampled.mean() - whole) < 4 * sampled.std() / np.sqrt(sampled.size)
    plain = AllPairs().on(POSITIVE).sums(scores, HINGE).value
    assert abs(sampled.mean() - plain) > 4 * sampled.std() / np.sqrt(sampled.size)


def test_a_draw_by_weight_never_falls_on_a_row_without_weight() -> None:
    nearly_one = np.nextafter(1.0, 0.0)
    for scale in (1.0, *np.random.default_rng(6).uniform(1, 8, size=1000)):
        weight = scale * np.array([0.0, 0.1, 0.0, 0.2, 0.0])
        drawn = by_weight(weight, np.array([0.0, 0.3, 0.34, nearly_one]))
        assert drawn.tolist() == [1, 1, 3, 3]


def test_bad_row_weights_are_refused() -> None:
    with pytest.raises(InputError, match="with replacement"):
        draw_pairs(POSITIVE, 2, 0, replace=False, weight=np.ones(5))
    with pytest.raises(InputError, match="row of positive weight"):
        draw_pairs(POSITIVE, 2, 0, weight=np.array([0.0, 1, 0, 1, 1]))
    with pytest.raises(InputError, match="4 rows"):
        draw_pairs(POSITIVE, 2, 0, weight=np.ones(4))


def test_more_different_pairs_than_there_are_is_refused() -> None:
    with pytest.raises(InputError, match="7 different pairs are wanted, but there are only 6"):
        draw_pairs(POSITIVE, 7, 0, replace=False)
    assert draw_pairs(POSITIVE, 7, 0).i.size == 7


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match="both classes"):
        draw_pairs(np.ones(4, dtype=bool), 2)
    with pytest.raises(InputError, match="boolean"):
        draw_pairs(np.array([0, 1]), 2)
    with pytest.raises(InputError, match="n_pairs"):
        draw_pairs(POSITIVE, 0)
    with pytest.raises(InputError, match="n_pairs"):
        draw_pairs(POSITIVE, 2.0)  # type: ignore[arg-type]
