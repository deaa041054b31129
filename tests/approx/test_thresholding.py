"""Hard thresholding, and the selection behind it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
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
    kept = hard_threshold(w, k)
    np.testing.assert_array_equal(kept, expected)
    np.testing.assert_array_equal(largest(w, k), sorted(order[:k]))
    if k <= w.size:
        assert kth_largest(w, k) == abs(w[order[k - 1]])
    kept[:] = 7.0  # a copy, even if it is the identity
    np.testing.assert_array_equal(w, values)


def test_the_printed_formula_keeps_still_fewer_with_ties() -> None:
    w = np.array([3.0, -2.0, 2.0, 2.0, 1.0, 0.0])
    np.testing.assert_array_equal(hard_threshold(w, 3, paper_literal=True), [3, 0, 0, 0, 0, 0])
    np.testing.assert_array_equal(hard_threshold(w, 3), [3, -2, 2, 0, 0, 0])


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
        "two values": rng.choice([-1.0, 2.0, np.inf], size=n),
    }[kind]
    size = -np.sort(-np.abs(w))
    for k in {1, 2, n // 3 + 1, (n + 1) // 2, max(n - 1, 1), n}:
        assert k > n or kth_largest(w, k) == size[k - 1]


def test_what_cannot_be_thresholded_is_refused() -> None:
    wrong: list[tuple[str, Any, Any]] = [
        *(("entry 1 of w", [1.0, bad, 2.0], 2) for bad in (np.nan, np.inf, -np.inf)),
        *(("k must be a whole number", np.ones(3), k) for k in (0, -1, 1.5, True, "2", None)),
        *(("vector", w, 1) for w in (np.ones((2, 2)), np.array(1.0), [])),
    ]
    for match, w, k in wrong:
        with pytest.raises(InputError, match=match):
            hard_threshold(np.array(w), k)
    for w, k in (([1.0, np.nan], 1), ([1.0, 2.0], 3), ([1.0], 0), ([[1.0]], 1), ([], 1)):
        with pytest.raises(InputError):
            kth_largest(np.array(w), k)
