"""Merges and running counters against every pair."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aucert.exact.losses.registry import HINGE
from aucert.exact.pairs.kinds import survival_pairs
from aucert.exact.pairs.ordered_pairs import OrderedPairs
from aucert.exact.sums import tree
from aucert.exact.sums.tree import Arrangement, hinge_counts, hinge_counts_by_counters
from loops import each, seeds
from ordered_naive import naive_counts

rows = st.lists(
    st.tuples(
        st.integers(0, 2), st.integers(0, 6), st.integers(0, 3), st.integers(0, 3), st.integers(0)
    ),
    min_size=1,
    max_size=60,
)


@settings(deadline=None, max_examples=60)
@given(rows, st.sampled_from([2, 4, 9, 40, 5000]), st.integers(0, 10), st.integers(0, 60))
def test_counters_count_what_merges_count(drawn, top: int, k: int, half: int) -> None:
    group, key, a, b, places = (np.array(column) for column in zip(*drawn, strict=True))
    group = np.unique(group, return_inverse=True)[1]
    at = Arrangement.of(group, key, a > 0)
    a, b, places = a[at.order], b[at.order], (places % top).astype(np.int64)
    places -= places.min()
    soft, hard, totals = naive_counts(at, places, a, b, 1 << k, half)
    stated = hinge_counts_by_counters(at, places, a, b, 1 << k, half)
    true = hinge_counts(at, places, a, b, 1 << k, half)
    for found in (stated, true):
        assert half == 0 or np.array_equal(found.soft, soft)
        assert np.array_equal(found.hard, hard)
        assert [found.total(which) for which in range(half == 0, 3)] == totals[half == 0 :]
    for which in range(3):
        assert np.array_equal(stated.by_group(which), true.by_group(which))


@each("form", [hinge_counts_by_counters, hinge_counts])
@each("half", [0, 1, 3])
@each("groups", [1, 3, 40])
def test_pairs_at_their_margin_are_ties_and_not_active(form, half: int, groups: int) -> None:
    """Scores of few values, so that a third of all pairs has m = 0: >= for > would be seen."""
    rng = np.random.default_rng(half)
    n = 700  # above the size of the ranges that are gone through pair by pair
    group, key, places = rng.integers(0, groups, n), rng.integers(0, 200, n), rng.integers(0, 3, n)
    a, b = rng.integers(0, 4, (2, n))
    at = Arrangement.of(np.unique(group, return_inverse=True)[1], key, a > 0)
    stated, found = naive_counts(at, places, a, b, 1, half), form(at, places, a, b, 1, half)
    assert [found.total(1), found.total(2)] == stated[2][1:]
    assert np.array_equal(found.hard, stated[1])
    assert half == 0 or np.array_equal(found.soft, stated[0])


def counted_pairs(seed: int, n: int = 600) -> tuple[OrderedPairs, np.ndarray, np.ndarray]:
    """Pairs of survival, scores, and which pairs these are."""
    rng = np.random.default_rng(seed)
    time, event = np.round(rng.exponential(size=n), 2), rng.random(n) < 0.5
    pairs = survival_pairs(time, event)
    key = np.asarray(pairs.key)
    above = (key[:, None] > key[None, :]) & event[:, None]
    return pairs, rng.normal(size=n) * 0.05 + 0.3 * time, above


@each("seed", seeds(4))
def test_the_binned_form_brackets_every_pair(seed: int, monkeypatch) -> None:
    pairs, scores, above = counted_pairs(seed)
    taken = []
    true_counts = tree._counts
    monkeypatch.setattr(tree, "_counts", lambda *args: taken.append(args[5:]) or true_counts(*args))
    width = 0.4
    stated, fine = (p.sums(scores, HINGE, width) for p in (pairs.by("binned"), pairs))
    assert taken[0] == (True,)
    assert (True,) not in taken[1:]
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
