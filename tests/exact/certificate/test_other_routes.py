"""Small problems on the routes of large ones: claims judged in exact arithmetic, by the fuzzer.

More of them: `python tests/helpers/fuzzing.py routes 0:1000`.
"""

from __future__ import annotations

import pytest

from aucert.exact.certificate import evaluation
from fuzz_core import ROUTES
from fuzzing import run
from loops import each


@pytest.mark.slow
@each("first", [0, 12])
def test_claims_hold_on_the_routes_of_large_problems(first: int) -> None:
    tally = run(range(first, first + 12), ROUTES)
    assert not tally.false, str(tally)
    assert tally.made.total() > 15


@pytest.mark.release
def test_many_claims_hold_on_the_routes_of_large_problems() -> None:
    tally = run(range(3000, 3600), ROUTES)
    assert not tally.false, str(tally)


def test_a_pull_that_is_too_short_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    found = evaluation._assembled

    def short(w, sums, bins, half, pull, slip):  # type: ignore[no-untyped-def]
        return found(w, sums, bins, half, (0.9 * pull[0], *pull[1:]), slip)

    monkeypatch.setattr(evaluation, "_assembled", short)
    in_blocks = range(4, 120, len(ROUTES))
    assert run(in_blocks, ROUTES).false
