from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aucert.approx.thresholding import hard_threshold, largest
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


def test_no_vector_of_k_nonzeros_is_nearer() -> None:
    rng = np.random.default_rng(0)
    for k in range(1, 7):
        w = rng.normal(size=6)
        distance = np.linalg.norm(w - hard_threshold(w, k))
        for kept in itertools.combinations(range(6), k):
            other = np.where(np.isin(np.arange(6), kept), w, 0.0)
            assert distance <= np.linalg.norm(w - other) + 1e-15


@each("k", [5, 6, 100])
def test_k_of_at_least_d_is_the_identity_and_a_copy(k) -> None:
    w = np.array([0.0, -1.0, 3.0, 2.0, 2.0])
    kept = hard_threshold(w, k)
    np.testing.assert_array_equal(kept, w)
    kept[0] = 7.0
    assert w[0] == 0.0


def test_the_printed_formula_keeps_one_feature_less() -> None:
    w = np.array([5.0, 4.0, 3.0, 2.0, 1.0])
    assert np.count_nonzero(hard_threshold(w, 3)) == 3
    np.testing.assert_array_equal(hard_threshold(w, 3, paper_literal=True), [5, 4, 0, 0, 0])
    assert not hard_threshold(w, 1, paper_literal=True).any()


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
