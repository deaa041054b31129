"""The profile prints shares that add up, of the functions that were called."""

from __future__ import annotations

import time

import pytest

from aucert.validation.benchmarks.exact import profile


def spin(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_shares_add_up_and_name_the_dearest_function_first() -> None:
    found = profile.parts(lambda: spin(0.02), 3)
    assert sum(part.share for part in found) == pytest.approx(1.0)
    assert any(part.name == "test_time_parts.spin" and part.calls == 1 for part in found[:2])
    assert [part.share for part in found] == sorted((p.share for p in found), reverse=True)


def test_all_three_tables_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    profile.main(["--shrink", "100", "--repeats", "1", "--rows", "3"])
    printed = capsys.readouterr().out
    for title in ("solve to 1e-9, n = 100:", "re-check sorted, n = 10000", "re-check binned"):
        assert title in printed
    assert printed.count("all others") == 3
