"""What other interpreters run: about 120 fast tests from all over."""

from __future__ import annotations

import pytest

SMOKE = 120
"""About so many tests run on the other interpreters."""


def left_out(item: pytest.Item) -> bool:
    """Whether a test is left out by default: it is slow, or for a release."""
    return any(item.get_closest_marker(name) for name in ("slow", "release"))


def mark_smoke(items: list[pytest.Item]) -> None:
    """Mark the first fast test of files from all over."""
    first: dict[str, pytest.Item] = {}
    for item in items:
        if not left_out(item):
            first.setdefault(item.nodeid.partition("::")[0], item)
    for item in list(first.values())[:: 1 + len(first) // SMOKE]:
        item.add_marker(pytest.mark.smoke)
