from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aucert.approx.thresholding import SAMPLED, hard_threshold, kth_largest
from aucert.exact.errors import InputError
from loops import each


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


def test_thresholding_by_it_keeps_what_hard_thresholding_keeps() -> None:
    w = np.random.default_rng(0).normal(size=2000)
    for k in (1, 7, 500):
        kept = np.where(np.abs(w) >= kth_largest(w, k), w, 0.0)
        np.testing.assert_array_equal(kept, hard_threshold(w, k))


@each(("w", "k"), [([1.0, np.nan], 1), ([1.0, 2.0], 3), ([1.0], 0), ([[1.0]], 1), ([], 1)])
def test_what_has_no_kth_entry_is_refused(w, k) -> None:
    with pytest.raises(InputError):
        kth_largest(np.array(w), k)
