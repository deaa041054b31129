"""docs/formulas.md lists every item of the papers, and its places name their source in turn."""

from __future__ import annotations

import importlib
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from aucert.validation.suite import claims
from aucert.validation.tables.running.registry import tables
from loops import each

PAGE = Path(__file__).resolve().parents[2] / "docs" / "formulas.md"
NONE = "none"
"""The place of what is not in the code; the note says why."""

# How far each paper counts its items. None of the four leaves a number out, but ScalingUp gives
# definitions, propositions and theorems one common count: Def. 1, Def. 2, Prop. 3, Theorem 4.
PRINTED: dict[str, dict[str, range]] = {
    "ScalingUp": {
        "eq.": range(1, 22),
        "Def.": range(1, 3),
        "Prop.": range(3, 4),
        "Theorem": range(4, 5),
        "Table": range(1, 4),
    },
    "SAUC": {
        "eq.": range(1, 26),
        "Prop.": range(1, 3),
        "Table": range(1, 5),
        "Fig.": range(1, 6),
    },
    "SHT": {
        "eq.": range(1, 22),
        "Prop.": range(1, 2),
        "Assumption": range(1, 3),
        "Algorithm": range(1, 3),
        "Theorem": range(1, 3),
        "Lemma": range(1, 5),
        "Table": range(1, 6),
        "Fig.": range(1, 5),
    },
    "Nonlinear": {
        "eq.": range(1, 6),
        "Algorithm": range(1, 4),
        "Table": range(1, 5),
        "Fig.": range(1, 2),
    },
}
SPELLING = re.compile(
    r"eq\. \(\d+\)|(Theorem|Algorithm|Table|Lemma|Assumption|Fig\.|Prop\.|Def\.) \d+"
    r"|Fig\. 2 \(second\)|Section [\w.-]+"
)


@dataclass(frozen=True)
class Row:
    paper: str
    item: str
    targets: tuple[str, ...]
    """Dotted names, `claim:NAME` and `table:NAME`; empty for *none*."""
    note: str = ""


def read_rows(page: str) -> list[Row]:
    """The rows of all tables of a page, each under the heading of its paper."""
    rows: list[Row] = []
    paper = ""
    for line in page.splitlines():
        if line.startswith("## "):
            paper = line[3:].strip()
        if not line.startswith("|") or line.startswith(("| item ", "|---")):
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) != 4:
            raise ValueError(f"four cells expected, {len(cells)} found: {line}")
        place = cells[2]
        names = re.findall(r"`([^`]+)`", place)
        if place != (", ".join(f"`{name}`" for name in names) or NONE):
            raise ValueError(f"the place is neither 'none' nor names in backticks: {line}")
        rows.append(Row(paper, cells[0], tuple(names), cells[3]))
    return rows


def cited(docstring: str) -> set[tuple[str, str]]:
    """The sources a docstring names, as (paper, item).

    Brackets look like ``[ScalingUp, eq. (4), eq. (5); SAUC, eq. (2)]`` and may run over lines;
    other brackets, such as intervals, are passed over.
    """
    found: set[tuple[str, str]] = set()
    for bracket in re.findall(r"\[([^\[\]]+)\]", docstring):
        for source in " ".join(bracket.split()).split(";"):
            paper, *items = (part.strip() for part in source.split(","))
            if paper in PRINTED:
                found.update((paper, item) for item in items)
    return found


def resolve(target: str) -> object:
    """Import a module, or an attribute of one, or of a class in it."""
    parts = target.split(".")
    for cut in range(len(parts), 0, -1):
        name = ".".join(parts[:cut])
        try:
            found: object = importlib.import_module(name)
        except ModuleNotFoundError as error:
            if not f"{name}.".startswith(f"{error.name}."):
                raise  # the module is there, and something it needs is not
            continue
        for part in parts[cut:]:
            found = getattr(found, part)
        return found
    raise ModuleNotFoundError(target)


def about(place: str, item: str) -> bool:
    """Whether the place of a claim or table, in its own spelling, has the item of a row."""
    for roman, digit in {"III": 3, "II": 2, "IV": 4, "I": 1, "V": 5}.items():
        place = re.sub(rf"(Tables?|and) {roman}\b", rf"\g<1> {digit}", place)
    kind, _, number = item.partition(" ")
    if kind == "eq.":
        spans = re.findall(r"\((\d+)\)(?:-\((\d+)\))?", place)
        return any(int(a) <= int(number[1:-1]) <= int(b or a) for a, b in spans)
    number = number.split()[0]
    alone = rf"(?<![\w.-]){re.escape(number)}(?![\w-]|\.\d)"
    return kind[:3] in place and re.search(alone, place) is not None


def entry_fault(row: Row, target: str) -> str | None:
    """What is wrong with `claim:NAME` or `table:NAME`; None if it is about the row's item."""
    kind, _, name = target.partition(":")
    known = {"claim": {entry.name: entry for entry in claims()}, "table": tables()}[kind]
    if name not in known:
        return f"{target}: no such {kind}"
    entry: Any = known[name]
    if entry.paper != row.paper or not about(entry.place, row.item):
        return f"{target}: about [{entry.paper}, {entry.place}], not [{row.paper}, {row.item}]"
    return None


def fault(row: Row, target: str) -> str | None:
    """What is wrong with a target of a row; None if it exists and names the row's item."""
    if target.startswith(("claim:", "table:")):
        return entry_fault(row, target)
    if not target.startswith("aucert."):
        return f"{target}: not a name in aucert"
    try:
        found = resolve(target)
    except (ImportError, AttributeError) as error:
        return f"{target}: not found ({error})"
    if (row.paper, row.item) not in cited(getattr(found, "__doc__", None) or ""):
        return f"{target}: its docstring does not name [{row.paper}, {row.item}]"
    return None


ROWS = read_rows(PAGE.read_text(encoding="utf-8"))


def test_each_paper_has_its_table() -> None:
    assert {row.paper for row in ROWS} == set(PRINTED)


def test_every_item_is_listed_once() -> None:
    items = [(row.paper, row.item) for row in ROWS]
    assert sorted(items) == sorted(set(items))


def test_items_are_spelt_in_one_way() -> None:
    assert [row.item for row in ROWS if not SPELLING.fullmatch(row.item)] == []


@each("paper", PRINTED)
def test_the_numbers_have_no_holes_and_no_strangers(paper: str) -> None:
    for kind, numbers in PRINTED[paper].items():
        pattern = re.compile(rf"{re.escape(kind)} \(?(\d+)\)?")
        matches = [pattern.fullmatch(row.item) for row in ROWS if row.paper == paper]
        assert sorted(int(match[1]) for match in matches if match) == list(numbers), kind
    kinds = {row.item.split()[0] for row in ROWS if row.paper == paper}
    assert kinds - {"Section"} == set(PRINTED[paper])


def test_every_place_exists_and_names_its_source() -> None:
    faults = [fault(row, target) for row in ROWS for target in row.targets]
    assert [text for text in faults if text] == []


def test_every_table_that_is_run_again_stands_in_the_rows_that_it_is_about() -> None:
    missing = [
        f"{row.paper}, {row.item}: table:{name}"
        for name, table in tables().items()
        for row in ROWS
        if row.paper == table.paper and printed_as(table.place, row.item)
        if f"table:{name}" not in row.targets
    ]
    assert missing == []


def printed_as(place: str, item: str) -> bool:
    """Whether a table of this place is the item; SAUC prints two figures as Fig. 2."""
    if item.startswith("Fig. 2"):
        return about(place, item) and ("second" in place) == ("second" in item)
    return item.startswith(("Table", "Fig.")) and about(place, item)


def test_the_two_figures_of_one_number_are_told_apart() -> None:
    assert printed_as("Fig. 2 (the second)", "Fig. 2 (second)")
    assert not printed_as("Fig. 2 (the second)", "Fig. 2")
    assert printed_as("Fig. 2 (the first)", "Fig. 2")
    assert not printed_as("Fig. 2 (the first)", "Fig. 2 (second)")


def test_the_remarks_on_theorem_4_stand_where_they_are_judged() -> None:
    (row,) = [r for r in ROWS if (r.paper, r.item) == ("ScalingUp", "Section 3.2")]
    remarks = {f"claim:{entry.name}" for entry in claims() if "remarks on Theorem 4" in entry.place}
    assert set(row.targets) == remarks and len(remarks) > 5


@each(
    ("paper", "item", "grid"),
    [
        ("Nonlinear", "Section 5.2", "-15 to 10"),
        ("Nonlinear", "Section 5.2", [1, 10, 100]),
        ("Nonlinear", "Section 5.2", [1e-10, 1e-9, 1e-8, 1e-7]),
        ("Nonlinear", "Section 5.2", list(range(1, 101, 9))),
        ("Nonlinear", "Section 5.2", [10.0**power for power in range(-1, 6)]),
        ("SAUC", "Section 4", [10.0**power for power in range(-3, 4)]),
        ("SAUC", "Section 4", "2^-10, 2^-9, ..., 2^10"),
    ],
)
def test_a_row_of_grids_leads_to_the_printed_grid(paper: str, item: str, grid: object) -> None:
    (row,) = [r for r in ROWS if (r.paper, r.item) == (paper, item)]
    budgets = [getattr(resolve(target), "BUDGET", ()) for target in row.targets]
    assert grid in [entry.paper for budget in budgets for entry in budget]


def test_what_is_not_in_the_code_has_a_note_that_says_why() -> None:
    missing = [row for row in ROWS if not row.targets]
    assert [row.item for row in missing if not row.note] == []


@each(
    ("place", "item", "expected"),
    [
        ("Proposition 1, eqs. (5)-(7)", "eq. (6)", True),
        ("Proposition 1, eqs. (5)-(7)", "Prop. 1", True),
        ("eqs. (24), (25)", "eq. (2)", False),
        ("Tables IV and V", "Table 5", True),
        ("Tables IV and V", "Table 1", False),
        ("Fig. 2 (the second)", "Fig. 2 (second)", True),
        ("Section 4.2.1, Table 3", "Section 4", False),
        ("Section III-B, eq. (15)", "Section III-B", True),
        ("Sections 4 and 5.5", "Section 5.5", True),
    ],
)
def test_places_are_compared_by_number(place: str, item: str, expected: bool) -> None:
    assert about(place, item) is expected


@each("name", ["claim:sauc-eq-24-chebyshev", "claim:missing", "table:missing"])
def test_the_checker_catches_a_claim_or_table_of_something_else(name: str) -> None:
    assert only_fault(f"SAUC | eq. (23) | AUC | `{name}` | |") is not None


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module of aucert with a function and a class whose method has a source."""

    def hinge() -> None:
        """The hinge on [0, 1].  [ScalingUp, eq. (4),
        eq. (13); SAUC, eq. (2)]"""

    class Solver:
        def solve(self) -> None:
            """Solve it. [SAUC, eq. (19)]"""

    module = ModuleType("aucert.made_up", "Made up. [SHT, Algorithm 1]")
    module.__dict__.update(hinge=hinge, Solver=Solver)
    monkeypatch.setitem(sys.modules, "aucert.made_up", module)
    return module


def only_fault(line: str) -> str | None:
    paper, _, rest = line.partition(" ")
    (row,) = read_rows(f"## {paper}\n\n{rest}")
    (target,) = row.targets
    return fault(row, target)


@each(
    "line",
    [
        "ScalingUp | eq. (13) | hinge of a pair | `aucert.made_up.hinge` | |",
        "SAUC | eq. (2) | AUC-SVM | `aucert.made_up.hinge` | |",
        "SAUC | eq. (19) | dual | `aucert.made_up.Solver.solve` | |",
        "SHT | Algorithm 1 | SHT-AUC | `aucert.made_up` | |",
    ],
)
def test_the_checker_accepts_a_place_that_names_its_source(made_up: ModuleType, line: str) -> None:
    assert only_fault(line) is None


@each("name", ["made_up.missing", "missing", "made_up.Solver.missing"])
def test_the_checker_catches_a_missing_target(made_up: ModuleType, name: str) -> None:
    text = only_fault(f"ScalingUp | eq. (4) | loss | `aucert.{name}` | |")
    assert text is not None and "not found" in text


@each("source", ["ScalingUp | eq. (5)", "SAUC | eq. (4)", "SHT | Table 1"])
def test_the_checker_catches_a_missing_source_bracket(made_up: ModuleType, source: str) -> None:
    text = only_fault(f"{source} | something else | `aucert.made_up.hinge` | |")
    assert text is not None and "does not name" in text


def test_the_checker_refuses_names_outside_the_package() -> None:
    assert only_fault("SHT | eq. (1) | threshold | `numpy.sort` | |") is not None


@each("place", ["", "not yet", "aucert.made_up", "`aucert.a` and `aucert.b`"])
def test_a_place_is_none_or_names_in_backticks(place: str) -> None:
    with pytest.raises(ValueError, match="neither"):
        read_rows(f"## SHT\n| eq. (1) | threshold | {place} | |")
