"""Long parametrizations: a few cases stand for the property in the fast tests."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


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
