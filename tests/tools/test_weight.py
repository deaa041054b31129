"""No room is heavier than its limit: the larger of its budget and its last submission."""

from __future__ import annotations

import pytest

from weight import ROOMS, limits, net_lines, weigh


@pytest.mark.slow
def test_no_room_is_heavier_than_its_limit() -> None:
    found = {name: weigh(ROOMS[name]) for name in limits()}
    heavy = {
        f"{name}: {key}": (found[name][key], most)
        for name, limit in limits().items()
        for key, most in limit.items()
        if found[name][key] > most
    }
    assert heavy == {}


def test_every_room_has_a_limit() -> None:
    assert limits().keys() == ROOMS.keys()


def test_blanks_comments_docstrings_and_imports_are_no_net_lines() -> None:
    source = '"""What.\n\nMore."""\n\nimport os\n# why\nA = 1  # one\n\n\ndef f():\n    """F."""\n'
    source += "    from a import (\n        b,\n    )\n\n    return '''x\ny'''\n"
    assert net_lines(source) == 4  # A, def, return and the end of its string
