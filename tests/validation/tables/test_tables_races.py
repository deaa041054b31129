"""Candidates that cannot win are left, and the winner is that of the whole grid."""

from __future__ import annotations

import numpy as np

from aucert.validation.tables.table import race
from loops import each, seeds


def exhaustive(table: np.ndarray) -> tuple[int, int, float]:
    """Return candidate, variant and mean of the first highest mean: table (n, folds, variants)."""
    means = table.mean(axis=1).round(12)
    candidate, variant = np.unravel_index(int(means.argmax()), means.shape)
    return int(candidate), int(variant), float(means.max())


@each("seed", seeds(40))
def test_the_winner_is_that_of_all_folds_of_all_candidates(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, folds, variants = rng.integers(1, 12), rng.integers(1, 6), rng.integers(1, 4)
    table = rng.beta(8, 1 + seed % 3, (n, folds, variants))
    if seed % 2:  # many ties
        table = np.round(table * 4) / 4
    found = race(int(n), int(folds), lambda k, fold: table[k, fold].tolist())
    assert found == exhaustive(table)


def test_what_cannot_win_is_left_after_one_fold() -> None:
    asked: list[tuple[int, int]] = []

    def values(candidate: int, fold: int) -> list[float]:
        asked.append((candidate, fold))
        return [(98.0, 55.0, 97.5)[candidate]]

    found = race(3, 3, values, highest=100.0)
    assert found[0] == 0 and len(asked) == 7
    assert [fold for candidate, fold in asked if candidate == 1] == [0]  # 85 at best
    assert (2, 2) in asked  # 98.3 at best after one fold: it could have won


def test_a_candidate_is_not_left_while_it_may_draw_level() -> None:
    table = np.array([[[0.5], [1.0]], [[0.75], [0.75]]])
    assert race(2, 2, lambda k, fold: table[k, fold].tolist()) == (0, 0, 0.75)
