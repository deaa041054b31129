"""Row weights of ordered pairs are held as whole numbers: right, or refused."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from aucert.exact import InputError, solve
from aucert.exact.pairs.ordered.ordered_pairs import OrderedPairs
from decimal_losses import mean_of
from fuzz_pairs import exact_scores
from loops import each
from ordered_naive import naive_ordered

N = 12
RNG = np.random.default_rng(5)
GRADE = np.arange(N) % 2
X = RNG.normal(size=(N, 2)) + GRADE[:, None]
LONE = np.where(np.arange(N) == 0, 0, 1)
"""A query of one row, which is in no pair, and one of all others."""


@each("largest", [1e6, 1e15, 1e17])
def test_pairs_are_refused_where_a_row_in_none_sets_the_unit(largest: float) -> None:
    weight = np.where(LONE == 0, largest, RNG.uniform(0.1, 0.4, N))
    if largest < 1e9:
        held = OrderedPairs(LONE, GRADE, weight, weight)
        true = naive_ordered(LONE, GRADE, weight, weight)
        i, j, c = (np.array(part) for part in held.listed() or ())
        told = dict(zip(zip(i.tolist(), j.tolist(), strict=True), c.tolist(), strict=True))
        for a, b, share in zip(true.i, true.j, true.weight, strict=True):
            assert told[a, b] == pytest.approx(float(share), rel=1e-5)
        return
    with pytest.raises(InputError, match="so far apart"):
        OrderedPairs(LONE, GRADE, weight, weight)
    with pytest.raises(InputError, match="so far apart"):
        solve(X, GRADE, 0.1, qid=LONE, sample_weight=weight)


def test_a_group_with_a_share_is_not_lost() -> None:
    group = np.arange(N) // 6
    weight = np.where(group == 0, 1e16, 1e-16)
    with pytest.raises(InputError, match="so far apart"):
        OrderedPairs(group, GRADE, weight, weight, share="equal")
    apart = np.where(group == 0, 1e3, 1e-3)
    assert OrderedPairs(group, GRADE, apart, apart, share="equal").count() == 18


def test_upper_and_lower_rows_that_meet_only_small_ones_are_not_lost() -> None:
    group = np.arange(N) // 6
    weight = np.where(group == 0, 1.5e8, 4e-8)
    with pytest.raises(InputError, match="so far apart"):
        OrderedPairs(group, GRADE, weight, 1 / weight)


def test_weights_of_usual_spread_are_taken() -> None:
    n = 5000
    weight, key = 10.0 ** RNG.uniform(-3, 3, n), RNG.integers(0, 3, n)
    assert OrderedPairs(RNG.integers(0, n // 4, n), key, weight, weight).mass > 0
    assert OrderedPairs(None, key, weight, weight).mass > 0


@each("far", [1.0, 1e-14])
@each("loss", ["squared_hinge", "square"])
def test_each_of_the_worst_groups_has_weights_of_its_own_size(loss: str, far: float) -> None:
    """Held to 2^-52 of the largest of all rows, those of the worst group were off by 4 %."""
    member = np.arange(N) // 6
    rows = X - 1.5 * (member * GRADE)[:, None]
    weight = RNG.uniform(0.3, 3, N) * np.where(member == 0, 1.0, far)
    lam: Any = 0.1
    asked: Any = {"worst_of": member, "sample_weight": weight, "tol": 1e-4, "max_time": 0.2}
    found = solve(rows, GRADE, lam, loss=loss, **asked)
    scores, values = exact_scores(rows, found.w), []
    for name in (0, 1):
        own = np.where(member == name, weight, 0.0)
        true = naive_ordered(None, GRADE, own, own)
        values.append(mean_of(loss, scores, list(zip(true.i, true.j, true.weight, strict=True))))
    assert values[1] > values[0] / 2
    value = max(values) + Fraction(lam) / 2 * sum(Fraction(x) ** 2 for x in found.w.tolist())
    assert float(value) == pytest.approx(found.certificate.primal, rel=1e-13)


def test_a_group_whose_weights_are_too_far_apart_is_refused_for_that() -> None:
    """It has pairs: to say that it has none would send its reader looking for labels."""
    member, query = np.arange(N) // 6, np.arange(N) // 2
    weight = np.where(np.arange(N) == N - 1, 1e16, 1.1)
    grade = np.where(query == query[-1], 0, GRADE)  # the last query has no pair
    asked: Any = {"qid": query, "worst_of": member}
    assert np.isfinite(solve(X, grade, 0.1, tol=0.1, max_time=0.1, **asked).certificate.gap)
    with pytest.raises(InputError, match="so far apart"):
        solve(X, grade, 0.1, sample_weight=weight, **asked)
