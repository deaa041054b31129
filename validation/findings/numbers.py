"""The numbers of a page, as findings read them: its cells and its paired tests, in full.

They come from the evidence of the full reproduction, of which the page is made too, so that a
finding cannot contradict its page. Of evidence that lacks a part nothing is judged.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from ...exact.errors import InputError
from ..tables.planning import planned
from ..tables.running.evidence import EvidenceFolder, evidence_path
from ..tables.running.registry import chosen, tables
from ..tables.statistics import NamedTest
from ..tables.table import Entry, Page, Results, Run, Table

# Folder of the evidence that the project keeps.
EVIDENCE = Path(__file__).resolve().parents[1] / "evidence"


@dataclass(frozen=True)
class Difference:
    """A difference in the direction that a finding states, and its standard error.

    `count` is one more than the degrees of freedom: the number of pairs, or that of Welch. An
    infinite error says that there is none.
    """

    name: str
    estimate: float
    error: float
    count: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.estimate) and self.error >= 0 and self.count >= 1):
            raise ValueError(f"{self}: this is no estimate with its standard error")


@dataclass(frozen=True)
class Cell:
    """A mean, its standard error (None of one repetition) and the repetitions behind it."""

    mean: float
    error: float | None
    count: int


@dataclass(frozen=True)
class Numbers:
    """What a page shows."""

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


def _tests(tests: Iterable[NamedTest]) -> dict[str, Difference]:
    found: dict[str, Difference] = {}
    for of_page in tests:
        name, test = of_page.name, of_page.test
        if name in found:  # two quantities of one pair of methods
            name = f"{name}: {of_page.unit}"
        if name in found:
            raise ValueError(f"two tests of a page are called {name!r}")
        found[name] = Difference(name, test.difference, test.error, test.count)
    return found


@lru_cache(maxsize=64)
def numbers_of(table: str) -> Numbers:
    """Return the numbers of a table in the full reproduction."""
    (entry,) = chosen([table], tables())
    return from_evidence(entry, EVIDENCE)


def from_evidence(table: Table, folder: Path) -> Numbers:
    """Return the numbers of a table made of evidence."""
    run = Run("full", 0)
    kept = EvidenceFolder(folder, run)
    ((experiment, parts),) = planned([table], run).values()
    done: dict[str, Any] = {}
    for part in parts:
        document = kept.find(experiment, part)
        if document is None:
            path = evidence_path(folder, experiment.name, run.profile, run.seed)
            raise InputError(
                f"{path}: it has no part {part.key} of protocol {experiment.protocol} and of this "
                "budget: restore the file, or make it by `aucert reproduce "
                f"{table.name} --profile full --evidence {folder}`"
            )
        done[part.key] = document["result"]
    results = Results(run, experiment.spent("full"), parts, done)
    source = f"evidence of the full run, protocol {experiment.protocol}, {len(done)} parts"
    return of_page(table.name, source, table.render(results))
