"""The time limit, the order of the parts, what is left to run, and a kill at any moment."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from aucert.validation.store import Log
from aucert.validation.tables.run import (
    cpu_minutes,
    estimate,
    in_order,
    planned,
    reproduce,
    tables,
)
from aucert.validation.tables.table import Run, Table
from loops import each
from planted_tables import planted


def test_after_the_limit_nothing_is_begun_and_the_page_says_what_and_why(tmp_path: Path) -> None:
    log = tmp_path / "log"
    shown = reproduce(out=tmp_path / "out", registry=planted(log), max_time=1e-9)
    assert not log.exists() and shown[0].page.entries[0].ours is None
    text = (tmp_path / "out" / "one.md").read_text()
    assert "Time limit of 1e-09 s reached: 4 of 4 parts are not done" in text
    assert "They are: rep=0; rep=1; rep=2; rep=3." in text
    assert shown[0].as_json()["unfinished"] == ["rep=0", "rep=1", "rep=2", "rep=3"]


@pytest.mark.slow
def test_a_part_that_runs_at_the_limit_ends_and_the_next_run_goes_on(tmp_path: Path) -> None:
    log = tmp_path / "log"
    shown = reproduce(out=tmp_path / "out", registry=planted(log, slow=0.3), max_time=0.2)
    assert log.read_text().split() == ["rep=0"]
    assert shown[0].page.entries[0].count == 1 and len(shown[0].results.unfinished) == 3
    # What is finished is used after the limit too.
    again = reproduce(out=tmp_path / "out", registry=planted(log, slow=0.3), max_time=1e-9)
    assert again[0].page.entries == shown[0].page.entries
    whole = reproduce(out=tmp_path / "out", registry=planted(log, slow=0.3))
    assert whole[0].page.entries[0].count == 4 and whole[0].missing == []
    assert log.read_text().split() == ["rep=0", "rep=1", "rep=2", "rep=3"]


def named(name: str, minutes: float, count: int) -> tuple[str, Table]:
    """Return an experiment of its own, with its cost."""
    table = planted()["one"]
    budget = (dataclasses.replace(table.experiment.budget[0], quick=count),)
    experiment = dataclasses.replace(
        table.experiment, name=name, budget=budget, quick_minutes=minutes
    )
    return name, dataclasses.replace(table, name=name, experiment=experiment)


def test_cheap_experiments_end_first_and_all_begin_soon() -> None:
    run = Run("quick")
    plan = planned(dict([named("dear", 40.0, 4), named("cheap", 3.0, 3)]).values(), run)
    order = [f"{experiment.name} {part.key}" for experiment, part in in_order(plan, run)]
    assert order[:3] == ["cheap rep=0", "cheap rep=1", "cheap rep=2"]
    plan = planned(dict([named("dear", 40.0, 4), named("middle", 20.0, 2)]).values(), run)
    order = [f"{experiment.name} {part.key}" for experiment, part in in_order(plan, run)]
    ends = ["dear 0", "middle 0", "dear 1", "middle 1", "dear 2", "dear 3"]
    assert order == [end.replace(" ", " rep=") for end in ends]


@each("profile", ["quick", "full"])
def test_the_first_parts_of_an_experiment_have_every_row_once(profile: str) -> None:
    counts = {"rep", "split", "shuffle", "trial", "fold", "draw"}
    for experiment in {t.experiment.name: t.experiment for t in tables().values()}.values():
        run = Run(profile)
        parts = experiment.parts(run, experiment.spent(profile))
        kinds = [
            tuple((k, v) for k, v in part.parameters.items() if k not in counts) for part in parts
        ]
        assert len(set(kinds[: len(set(kinds))])) == len(set(kinds)), experiment.name


def test_the_estimate_counts_what_is_done_and_what_has_no_data(tmp_path: Path) -> None:
    registry = dict([named("dear", 40.0, 4)])
    (before,) = estimate(out=tmp_path, registry=registry)
    assert (before.parts, before.left, before.minutes) == (4, 4, 40.0)
    assert list(tmp_path.iterdir()) == []
    reproduce(out=tmp_path, registry=registry)
    (after,) = estimate(out=tmp_path, registry=registry)
    assert (after.done, after.left, after.minutes) == (4, 0, 0.0)
    (lacking,) = estimate(out=tmp_path, registry=planted(needs=("colon",)), data_dir=tmp_path)
    assert (lacking.missing, lacking.left, lacking.minutes) == (4, 0, None)
    assert lacking.tables == ("one", "two")


def test_every_experiment_is_measured_and_the_profiles_fit_two_processors() -> None:
    experiments = {t.experiment.name: t.experiment for t in tables().values()}.values()
    for profile, hours in (("quick", 1 / 3), ("full", 12.0)):
        minutes = [cpu_minutes(experiment, profile) for experiment in experiments]
        assert sum(m or 1e9 for m in minutes) <= 0.8 * 2 * 60 * hours


def test_after_a_kill_the_same_run_goes_on_and_gives_the_same_numbers(tmp_path: Path) -> None:
    killed, whole, log = tmp_path / "killed", tmp_path / "whole", tmp_path / "log"
    code = (
        "from planted_tables import planted\nfrom aucert.validation.tables.run import reproduce\n"
    )
    code += f"reproduce(out={str(killed)!r}, registry=planted(slow=0.5), profile='full')"
    helpers = str(Path(__file__).parents[2] / "helpers")
    process = subprocess.Popen(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": helpers}
    )
    parts = killed / "parts" / "full-seed0" / "planted.jsonl"
    try:
        deadline = time.monotonic() + 60
        while len(Log(parts)) < 2:
            assert time.monotonic() < deadline and process.poll() is None
            time.sleep(0.01)
    finally:
        process.kill()
        process.wait()
    left, before = len(Log(parts)), parts.read_bytes()
    reproduce(out=killed, registry=planted(log), profile="full")
    assert 2 <= left < 6 and len(log.read_text().split()) == 6 - left
    assert parts.read_bytes().startswith(before) and len(Log(parts)) == 6
    reproduce(out=whole, registry=planted(), profile="full")
    assert (killed / "one.csv").read_bytes() == (whole / "one.csv").read_bytes()
