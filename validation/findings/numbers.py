"""The numbers of a page, as findings read them: its cells and its paired tests.

They come from the evidence of the full reproduction where all parts of the table are in it, else
from the pages recorded by the last full run. Pages are made of the same numbers, so that a finding
cannot contradict its page.

    aucert reproduce --profile full --evidence validation/evidence --out docs/results/full
    python -m aucert.validation.findings.numbers docs/results/full VERSION DATE

makes the pages of the evidence and records them.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from ...exact.errors import InputError
from ..tables.planning import planned
from ..tables.running.evidence import EvidenceFolder
from ..tables.running.registry import tables
from ..tables.table import Entry, Page, Results, Run, Table

EVIDENCE = Path(__file__).resolve().parents[1] / "evidence"
"""Folder of the evidence that the project keeps."""

RECORDED = EVIDENCE / "full-seed0" / "pages.jsonl"
"""Cells and tests of the pages of the last full run, a line a table."""

TEST = re.compile(
    r"(?P<name>.*?): (?P<estimate>[+-][\d.,e-]+)(?P<unit>[^(]*)"
    r"\(standard error (?P<error>[\d.e-]+), p = [\d.e+-]+, (?P<count>\d+) pairs\)"
)
"""A paired test as pages print it."""


@dataclass(frozen=True)
class Difference:
    """A difference in the direction that a finding states, and its standard error.

    `count` is one more than the degrees of freedom: the number of pairs, or that of Welch.
    """

    name: str
    estimate: float
    error: float
    count: float


@dataclass(frozen=True)
class Cell:
    """A mean, its standard error (None of one repetition) and the repetitions behind it."""

    mean: float
    error: float | None
    count: int


@dataclass(frozen=True)
class Numbers:
    """What a page shows.

    Attributes
    ----------
    table : str
    source : str
        Where the numbers come from, in words.
    cells : dict
        (row, column) to `Cell`; only numbers, no text.
    tests : dict
        Name of a paired test, "n = 5,000: full minus incomplete", to its `Difference`.
    """

    table: str
    source: str
    cells: Mapping[tuple[str, str], Cell] = field(default_factory=dict)
    tests: Mapping[str, Difference] = field(default_factory=dict)

    def cell(self, row: str, column: str) -> Cell:
        """Return one cell."""
        if (row, column) not in self.cells:
            raise KeyError(f"{self.table} has no cell ({row!r}, {column!r})")
        return self.cells[row, column]

    def test(self, name: str) -> Difference:
        """Return one paired test."""
        if name not in self.tests:
            raise KeyError(f"{self.table} has no paired test {name!r}")
        return self.tests[name]

    def rows(self, column: str) -> list[str]:
        """Return the rows that have a number in a column, in the order of the page."""
        return [row for row, at in self.cells if at == column]


def of_page(table: str, source: str, page: Page) -> Numbers:
    """Return the numbers of a page."""
    return Numbers(table, source, _cells(page.entries), _tests(page.tests))


def _cells(entries: Iterable[Entry]) -> dict[tuple[str, str], Cell]:
    return {
        (entry.row, entry.column): Cell(float(entry.ours), entry.error, entry.count)
        for entry in entries
        if isinstance(entry.ours, int | float)
    }


def _tests(sentences: Iterable[str]) -> dict[str, Difference]:
    found: dict[str, Difference] = {}
    for match in filter(None, map(TEST.match, sentences)):
        estimate, error = (float(match[part].replace(",", "")) for part in ("estimate", "error"))
        name = match["name"]
        if name in found:  # two quantities of one pair of methods
            name = f"{name}:{match['unit'].rstrip()}"
        found[name] = Difference(name, estimate, error, int(match["count"]))
    return found


@lru_cache(maxsize=64)
def numbers_of(table: str) -> Numbers:
    """Return the numbers of a table in the full reproduction.

    Raises
    ------
    InputError
        If there are none.
    """
    found = from_evidence(tables()[table], EVIDENCE)
    return found if found is not None else recorded(RECORDED)[table]


def from_evidence(table: Table, folder: Path) -> Numbers | None:
    """Return the numbers of a table made of evidence; None if a part is not there."""
    run = Run("full", 0)
    kept = EvidenceFolder(folder, run)
    ((experiment, parts),) = planned([table], run).values()
    done: dict[str, Any] = {}
    for part in parts:
        document = kept.find(experiment, part)
        if document is None:
            return None
        done[part.key] = document["result"]
    results = Results(run, experiment.spent("full"), parts, done)
    source = f"evidence of the full run, protocol {experiment.protocol}, {len(done)} parts"
    return of_page(table.name, source, table.render(results))


@lru_cache(maxsize=8)
def recorded(path: Path) -> dict[str, Numbers]:
    """Return table to numbers, as the last full run left them.

    Raises
    ------
    InputError
        If the file is not there or damaged.
    """
    first, _, rest = path.read_bytes().partition(b"\n")
    head = json.loads(first)
    if head["sha256"] != hashlib.sha256(rest).hexdigest():
        raise InputError(f"{path}: the checksum does not fit: restore the file")
    source = f"page of the full run by version {head['version']}, {head['recorded']}"
    found = {}
    for line in map(json.loads, rest.splitlines()):
        cells = {(row, column): Cell(*cell) for row, column, *cell in line["cells"]}
        found[line["table"]] = Numbers(line["table"], source, cells, _tests(line["tests"]))
    return found


def record(pages: Path, version: str, date: str, path: Path = RECORDED) -> None:
    """Write the numbers of the pages of a full run, as `aucert reproduce` left them in a folder."""
    lines = []
    for name in tables():
        cells, tests = _of_files(pages, name)
        content = {"table": name, "cells": cells, "tests": tests}
        lines.append(json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n")
    rest = "".join(lines).encode()
    head = {
        "recorded": date,
        "version": version,
        "command": "aucert reproduce --profile full --data-dir DIR --jobs 2 --out OUT",
        "sha256": hashlib.sha256(rest).hexdigest(),
    }
    path.write_bytes(json.dumps(head).encode() + b"\n" + rest)


def page_numbers(pages: Path, name: str) -> Numbers:
    """Return the numbers of a table's page, as `aucert reproduce` left it in a folder."""
    cells, tests = _of_files(pages, name)
    return Numbers(name, str(pages), {(r, c): Cell(*cell) for r, c, *cell in cells}, _tests(tests))


def _of_files(pages: Path, name: str) -> tuple[list[list[Any]], list[str]]:
    """Return the cells of a page's CSV and the paired tests of its text."""
    rows = csv.DictReader(io.StringIO((pages / f"{name}.csv").read_text(encoding="utf-8")))
    text = (pages / f"{name}.md").read_text(encoding="utf-8")
    tests = [line[2:] for line in text.splitlines() if "(standard error" in line]
    return [_read(row) for row in rows if _is_number(row["ours"])], tests


def _read(row: Mapping[str, str]) -> list[Any]:
    error = float(row["error"]) if row["error"] else None
    return [row["row"], row["column"], float(row["ours"]), error, int(row["count"] or 0)]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


if __name__ == "__main__":
    record(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
