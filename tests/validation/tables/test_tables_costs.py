"""The minutes that estimates and the guide to the tables name are those of the evidence."""

from __future__ import annotations

import json
import re
from pathlib import Path

from aucert.validation.tables.registry import tables

ROOT = Path(__file__).parents[3]
EVIDENCE = ROOT / "validation" / "evidence" / "full-seed0"


def measured(name: str) -> tuple[int, float]:
    """Return how many parts of an experiment are in the evidence, and their CPU minutes."""
    lines = (EVIDENCE / f"{name}.jsonl").read_text("utf-8").splitlines()[1:]
    seconds = [json.loads(line)["cpu_seconds"] for line in lines]
    return len(seconds), sum(seconds) / 60


def test_the_guide_names_the_minutes_of_the_evidence() -> None:
    text = (ROOT / "docs" / "tables.md").read_text("utf-8")
    names = [table.experiment.name for table in tables().values()]
    found = {name: measured(name) for name in names}
    parts, minutes = (sum(column) for column in zip(*found.values(), strict=True))
    rows = re.findall(r"^\| `([a-z0-9-]+)` \| (\d+) \| ([\d.]+) \|$", text, re.M)
    assert {name: (int(n), m) for name, n, m in rows} == {
        name: (n, f"{m:.1f}") for name, (n, m) in found.items()
    }
    assert f"| all | {parts:,} | {minutes:.1f} |" in text
    assert f"The first took {minutes:.0f} CPU minutes for its {parts:,} parts" in text
    hours = re.search(r"`full` about (\d+) hours of one processor, (\d+) of two", text)
    assert hours is not None
    assert [int(n) for n in hours.groups()] == [round(minutes / 60), round(minutes / 120)]
