"""Long parametrizations: a few cases stand for the property in the fast tests."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def first_fast(cases: Iterable[Any], fast: int = 1) -> list[Any]:
    """The cases, all but the first `fast` of them marked `slow`."""
    cases = list(cases)
    assert len(cases) > fast > 0
    return [*cases[:fast], *(pytest.param(case, marks=pytest.mark.slow) for case in cases[fast:])]


def costly_slow(cases: Iterable[Any], costly: Collection[Any]) -> list[Any]:
    """The cases, those in `costly` marked `slow`; each of these must be there."""
    cases = list(cases)
    assert set(costly) < set(cases), f"not there: {set(costly) - set(cases)}"
    return [pytest.param(c, marks=pytest.mark.slow) if c in costly else c for c in cases]
