"""The search for the root of a slope, on slopes whose roots are known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from aucert.exact.problem.line_search import root_of_slope
from loops import each


def counted(slope: Callable[[float], float]) -> tuple[Callable[[float], float], list[float]]:
    """Return the slope, and the list of its arguments as it grows."""
    calls: list[float] = []

    def seen(t: float) -> float:
        calls.append(t)
        return slope(t)

    return seen, calls


@each("root", [1e-3, 0.3, 1.0, 7.0, 1e4])
def test_it_finds_the_root_loosely(root: float) -> None:
    slope, calls = counted(lambda t: (t - root) * (1 + 3 * (t > root)))
    found = root_of_slope(slope, -root, loose=0.3)
    assert calls[-1] == found and abs(slope(found)) <= 0.3 * root
    assert len(calls) < 16


def test_a_slope_that_does_not_fall_is_left_at_once() -> None:
    slope, calls = counted(lambda t: t)
    assert root_of_slope(slope, 0.0) == root_of_slope(slope, np.nan) == 0.0 and not calls


@each("root", [0.02, 0.5, 0.97])
def test_a_jump_is_closed_in_from_both_sides(root: float) -> None:
    slope, calls = counted(lambda t: 1e9 if t > root else -1.0)
    low = root_of_slope(slope, -1.0, 0.0, 200, limit=1.0, narrow=1e-3)
    assert low <= root <= min(t for t in calls if t > root) <= low / (1 - 1e-3)
    assert len(calls) < 60


def test_the_limit_is_kept_where_the_slope_still_falls() -> None:
    slope, calls = counted(lambda t: t - 50.0)
    assert root_of_slope(slope, -50.0, 0.1, limit=3.0) == 3.0 and max(calls) == 3.0
    assert root_of_slope(slope, -50.0, 0.1, limit=1.0) == 1.0


def test_a_trial_that_is_refused_is_not_the_end() -> None:
    slope, calls = counted(lambda t: t - 0.5)
    found = root_of_slope(slope, -0.5, 1.0, accept=lambda t: t < 0.6)
    assert calls[0] == 1.0 and found < 0.6
