"""Hard thresholding, and the selection behind it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aucert.approx.thresholding import SAMPLED, hard_threshold, kth_largest, largest
from aucert.exact.errors import InputError
from loops import each

# Few different values, so that ties are common.
vectors = st.lists(st.sampled_from([-2.0, -1.0, 0.0, 1.0, 2.0, 3.5]), min_size=1, max_size=9)


@given(vectors, st.integers(1, 10))
def test_it_keeps_the_k_largest_and_the_lower_index_among_tied_ones(values, k) -> None:
    w = np.array(values)
    order = sorted(range(w.size), key=lambda i: (-abs(w[i]), i))  # by definition, with a sort
    expected = np.zeros(w.size)
    expected[order[:k]] = w[order[:k]]
    np.testing.assert_array_equal(hard_threshold(w, k), expected)
    np.testing.assert_array_equal(largest(w, k), sorted(order[:k]))


@each("k", [5, 6, 100])
def test_k_of_at_least_d_is_the_identity_and_a_copy(k) -> None:
    w = np.array([0.0, -1.0, 3.0, 2.0, 2.0])
    kept = hard_threshold(w, k)
    np.testing.assert_array_equal(kept, w)
    kept[0] = 7.0
    assert w[0] == 0.0


def test_the_printed_formula_keeps_still_fewer_with_ties() -> None:
    w = np.array([3.0, -2.0, 2.0, 2.0, 1.0, 0.0])
    np.testing.assert_array_equal(hard_threshold(w, 3, paper_literal=True), [3, 0, 0, 0, 0, 0])
    np.testing.assert_array_equal(hard_threshold(w, 3), [3, -2, 2, 0, 0, 0])


@each("bad", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_is_refused_and_named(bad) -> None:
    with pytest.raises(InputError, match="entry 1 of w"):
        hard_threshold(np.array([1.0, bad, 2.0]), 2)


@each("k", [0, -1, 1.5, True, "2", None])
def test_a_k_below_one_or_no_number_is_refused(k) -> None:
    with pytest.raises(InputError, match="k must be a whole number"):
        hard_threshold(np.ones(3), k)


@each("w", [np.ones((2, 2)), np.array(1.0), np.array([])])
def test_what_is_no_vector_is_refused(w) -> None:
    with pytest.raises(InputError, match="vector"):
        hard_threshold(w, 1)


def by_argpartition(w: np.ndarray, k: int) -> float:
    size = np.abs(w)
    return float(size[np.argpartition(-size, k - 1)[k - 1]])


@settings(deadline=None)
@given(st.lists(st.sampled_from([-2.0, -1.0, 0.0, 1.0, 2.0, 3.5, np.inf]), min_size=1), st.data())
def test_it_selects_what_argpartition_selects_ties_or_not(values: list[float], data) -> None:
    k = data.draw(st.integers(1, len(values)))
    w = np.array(values)
    assert kth_largest(w, k) == by_argpartition(w, k)
    np.testing.assert_array_equal(w, values)


@each("kind", ["normal", "ties", "sorted", "reversed", "equal", "two values"])
@each("n", [1, 2, 3, 50, SAMPLED, SAMPLED + 1, SAMPLED + 2, 5000, 60_000])
def test_it_is_right_on_long_vectors_of_every_order(n: int, kind: str) -> None:
    rng = np.random.default_rng(n)
    w = {
        "normal": rng.normal(size=n),
        "ties": rng.integers(-4, 5, size=n).astype(float),
        "sorted": np.sort(rng.normal(size=n)),
        "reversed": -np.sort(rng.random(n)),
        "equal": np.full(n, -1.5),
        "two values": rng.choice([-1.0, 2.0], size=n),
    }[kind]
    for k in {1, 2, n // 3 + 1, (n + 1) // 2, max(n - 1, 1), n}:
        if k <= n:
            assert kth_largest(w, k) == by_argpartition(w, k)


@each(("w", "k"), [([1.0, np.nan], 1), ([1.0, 2.0], 3), ([1.0], 0), ([[1.0]], 1), ([], 1)])
def test_what_has_no_kth_entry_is_refused(w, k) -> None:
    with pytest.raises(InputError):
        kth_largest(np.array(w), k)
