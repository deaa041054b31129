"""Smoothed marginals in whole numbers, against every pair."""

from __future__ import annotations

import numpy as np
import pytest

from aucert.exact.losses.registry import HINGE
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.sums.grid import COMPILED_FROM, grid_ramps, on_grid
from loops import each, seeds


def loops(T: np.ndarray, B: np.ndarray, half: int) -> tuple[list[int], list[int]]:
    ramp = [[min(max(int(b) - int(t) + half, 0), 2 * half) for b in B] for t in T]
    return [sum(row) for row in ramp], [sum(column) for column in zip(*ramp, strict=True)]


@each("seed", seeds(40))
def test_ramps_are_those_of_every_pair(seed: int) -> None:
    rng = np.random.default_rng(seed)
    t, b = rng.normal(size=rng.integers(1, 20)), rng.normal(size=rng.integers(1, 20))
    if seed % 2:
        t, b = np.round(t, 1), np.round(b, 1)
    width = float(10.0 ** rng.uniform(-6, 1))
    numbers = on_grid(t, b, width)
    found = grid_ramps(t, b, np.argsort(t), np.argsort(b), width)
    assert numbers is not None and found is not None
    T, B, half = numbers
    u, v = loops(T, B, half)
    assert np.allclose(found[0], np.array(u, dtype=float) / (2 * half), rtol=1e-15)
    assert np.allclose(found[1], np.array(v, dtype=float) / (2 * half), rtol=1e-15)


def test_many_rows_are_summed_as_few_are(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    t, b = np.round(rng.normal(size=COMPILED_FROM), 2), rng.normal(size=900)
    orders = np.argsort(t), np.argsort(b)
    compiled = grid_ramps(t, b, *orders, 0.3)
    monkeypatch.setattr("aucert.exact.sums.grid.COMPILED_FROM", 10**9)
    plain = grid_ramps(t, b, *orders, 0.3)
    assert compiled is not None and plain is not None
    assert np.array_equal(compiled[0], plain[0]) and np.array_equal(compiled[1], plain[1])


def test_a_range_too_wide_for_whole_numbers_is_left_to_floats() -> None:
    t, b = np.array([0.0, 1e9]), np.array([-1e9, 0.5])
    assert on_grid(t, b, 1e-12) is None
    scores = np.array([1e9, 0.0, -1e9, 0.5])
    positive = np.array([True, True, False, False])
    found = AllPairs().on(positive).sums(scores, HINGE, 1e-12)
    assert np.isfinite(found.c).all()


def test_small_widths_cost_no_accuracy() -> None:
    """Floating-point sums lose range / width digits; whole numbers lose none."""
    rng = np.random.default_rng(1)
    scores, positive = rng.normal(size=400) * 10, np.arange(400) % 2 == 0
    assert AllPairs().on(positive).sums(scores, HINGE, 1e-6).rounding < 1e-14
    assert AllPairs(form="numpy").on(positive).sums(scores, HINGE, 1e-6).rounding > 1e-12
