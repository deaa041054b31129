"""Long parametrizations: a few cases stand for the property in the fast tests."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest

MANY_CASES, SAMPLE = 3, 2
"""Cases of a test above which about so many of them run by default, and the others as slow ones."""

SMOKE = 120
"""About so many tests run on the other interpreters."""

GOLDEN = (5**0.5 - 1) / 2
"""Its multiples lie evenly in [0, 1) whatever the order of the cases repeats."""


def first_fast(cases: Iterable[Any], fast: int = 1) -> list[Any]:
    """The cases, all but the first `fast` of them marked `slow`."""
    cases = list(cases)
    assert len(cases) > fast > 0
    return [*cases[:fast], *(_slow(case) for case in cases[fast:])]


def _slow(case: Any) -> Any:
    """The case with the mark `slow`, and with those that it has."""
    if hasattr(case, "marks"):
        return pytest.param(*case.values, marks=[*case.marks, pytest.mark.slow], id=case.id)
    return pytest.param(case, marks=pytest.mark.slow)


def costly_slow(cases: Iterable[Any], costly: Collection[Any]) -> list[Any]:
    """The cases, those in `costly` marked `slow`; each of these must be there."""
    cases = list(cases)
    assert set(costly) < set(cases), f"not there: {set(costly) - set(cases)}"
    return [_slow(case) if case in costly else case for case in cases]


def left_out(item: pytest.Item) -> bool:
    """Whether a test is left out by default: it is slow, or for a release."""
    return any(item.get_closest_marker(name) for name in ("slow", "release"))


def mark_smoke(items: list[pytest.Item]) -> None:
    """Mark the first fast test of files from all over: what other interpreters run."""
    first: dict[str, pytest.Item] = {}
    for item in items:
        if not left_out(item):
            first.setdefault(item.nodeid.partition("::")[0], item)
    for item in list(first.values())[:: 1 + len(first) // SMOKE]:
        item.add_marker(pytest.mark.smoke)


def leave_to_slow(items: list[pytest.Item]) -> None:
    """Of a test of many cases, mark all but a sample from all over as slow."""
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if not left_out(item):
            cases.setdefault(item.nodeid.split("[")[0], []).append(item)
    for those in cases.values():
        if len(those) > MANY_CASES:
            for k, item in enumerate(those):
                if k * GOLDEN % 1 >= SAMPLE / len(those):
                    item.add_marker(pytest.mark.slow)
