"""A table's page in Markdown, its numbers in CSV, its pictures, and the index of a run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from operator import attrgetter
from pathlib import Path
from typing import Any

from ... import __version__
from ..effects import said_on
from ..files.written import csv_text, write_text
from .table import Entry, Results, Table, picture_svg, shown_value

KEY = (
    "A cell shows what is printed / what came out here ± the standard error of its mean. A dash is "
    "the paper's own; columns in *italics* have no printed numbers."
)

NOTHING = "Nothing has been run yet. Nothing can be concluded."
TOO_LITTLE = "Too little has been run to conclude anything. The table shows what there is."

_FIELDS: tuple[str, ...] = ("row", "column", "printed", "ours", "error", "count", "note")
NAMED = 24  # parts that a page names in one list, at most; the JSON has all
FATES = {"borne-out": "Borne out", "contradicted": "Contradicted", "undecided": "Undecided"}


class Shown:
    """A table, its page, and what its parts took and were made with."""

    def __init__(self, table: Table, results: Results):
        found = list(results.documents.values())
        self.table, self.results, self.page = table, results, table.render(results)
        self.said = said_on(table, self.page, results) if found else ()
        self.seconds = sum(float(document["seconds"]) for document in found)
        self.cpu_seconds = sum(float(document["cpu_seconds"]) for document in found)
        self.environment = found[0]["environment"] if found else {}
        sums = {k: v for document in found for k, v in document["key"]["data_sha256"].items()}
        self.data_sha256 = dict(sorted(sums.items()))

    @property
    def conclusion(self) -> str:
        if not self.results.documents:
            return NOTHING
        found = []
        for verdict, word in FATES.items():
            if of_it := [item.statement for item in self.said if item.verdict == verdict]:
                found += [f"{word}:", *of_it]
        return " ".join(filter(None, [*found, self.page.conclusion])) or TOO_LITTLE

    @property
    def missing(self) -> list[str]:
        """Data that could not be had, each with why, and parts that failed or were not reached."""
        results, found = self.results, [f"{n}: {why}." for n, why in self.table.unavailable.items()]
        lacking, stopped = defaultdict(list), defaultdict(list)  # each reason once
        for part in results.parts:
            if part.key in results.missing:
                lacking[results.missing[part.key]] += part.needs
        for key, why in results.failed.items():
            stopped[why].append(key)
        found += [f"{', '.join(dict.fromkeys(names))}: {why}." for why, names in lacking.items()]
        for why, keys in stopped.items():
            parts = "A part failed:" if len(keys) == 1 else f"{len(keys)} parts failed,"
            found.append(f"{parts} {_named(keys)}: {why}")
        if keys := results.unfinished:
            limit = results.limit
            why = "Interrupted" if limit is None else f"Time limit of {duration(limit)} reached"
            why += f": {len(keys)} of {len(results.parts)} parts are not done; the same command "
            found.append(f"{why}goes on from here. They are: {_named(keys)}.")
        return found

    def as_json(self) -> dict[str, Any]:
        page, made = self.page, self.table.experiment
        found = {key: getattr(self.table, key) for key in ("name", "paper", "place", "title")}
        found |= {"conclusion": self.conclusion, "findings": [*map(asdict, self.said)]}
        found["entries"] = [{name: getattr(e, name) for name in _FIELDS} for e in page.entries]
        found |= {"tests": [*map(str, page.tests)], "differences": page.differences}
        found |= {"missing": self.missing, "unfinished": list(self.results.unfinished)}
        spent = made.lines(self.results.run.profile)
        found["budget"] = [{"what": b.what, "paper": b.theirs, "spent": x} for b, x in spent]
        found |= {"search": made.search, "data_sha256": self.data_sha256}
        return found | {"seconds": self.seconds, "cpu_seconds": self.cpu_seconds}


def duration(seconds: float) -> str:
    """Return a time in words: "12 h", "1.5 min", "20 s"."""
    for unit, size in (("h", 3600.0), ("min", 60.0)):
        if seconds >= size:
            return f"{seconds / size:.4g} {unit}"
    return f"{seconds:.4g} s"


def _named(keys: Sequence[str]) -> str:
    more = f" and {len(keys) - NAMED} more" if len(keys) > NAMED else ""
    return f"{'; '.join(keys[:NAMED])}{more}"


def write_pages(folder: Path, shown: Sequence[Shown]) -> None:
    """Write NAME.md, NAME.csv and NAME.svg of each table, and index.md, a line a table."""
    index = "# Tables and figures of the papers, run again\n\n"
    index += "| table | place | in short |\n|---|---|---|\n"
    texts: dict[str, str] = {}
    for item in shown:
        (table, page), gaps, name = (item.table, item.page), len(item.missing), item.table.name
        if page.panels:
            texts[f"{name}.svg"] = picture_svg(name, page.said.get("picture", ""), page.panels)
        texts |= {f"{name}.csv": as_csv(page.entries), f"{name}.md": markdown(item)}
        left = f" ({gaps} {'thing' if gaps == 1 else 'things'} missing)" if gaps else ""
        place = f"{table.paper}, {table.place}"
        index += f"| [{name}]({name}.md) | {place} | {item.conclusion}{left} |\n"
    for file, text in (texts | {"index.md": index}).items():
        write_text(folder / file, text)


def markdown(shown: Shown) -> str:
    table, page, run = shown.table, shown.page, shown.results.run
    lines = [f"# {table.title}", "", f"{table.paper}, {table.place}. {shown.conclusion}", ""]
    more = f" --seed {run.seed}" * bool(run.seed)
    more += " --data-dir DIR" * any(part.needs for part in shown.results.parts)
    lines += [f"```text\naucert reproduce {table.name} --profile {run.profile}{more}\n```", ""]
    if page.entries:
        lines += [KEY, "", *_pivot(page.entries), ""]
    if page.panels:
        picture, caption = (page.said.get(key, "") for key in ("picture", "caption"))
        lines += [f"![{picture}]({table.name}.svg)", "", caption, ""]
    lines += _section("The paper's findings, as they are tested here", shown.said)
    lines += _section("Paired tests", page.tests)
    lines += _section("Where print and ours differ", page.differences)
    lines += _section("Missing", shown.missing)
    made, experiment = shown.environment, table.experiment
    lines += ["## Budget", "", "| | paper | here | |", "|---|---|---|---|"]
    for line, spent in experiment.lines(run.profile):
        values = f"{shown_value(line.theirs)} | {shown_value(spent)}"
        lines.append(f"| {line.what} | {values} | {'differs' if spent != line.paper else ''} |")
    lines += ["", experiment.search, ""] if experiment.search else [""]
    sums = [f"{name}.npz: `{digest}`" for name, digest in shown.data_sha256.items()]
    lines += _section("Data files, SHA-256", sums)
    names = ("python", "numpy", "scipy", "scikit-learn", "numba", "system", "machine")
    versions = ", ".join(f"{name} {made[name]}" for name in names if name in made)
    text = f"Made by aucert {__version__}, seed {run.seed}, profile {run.profile}: "
    text += f"{len(shown.results.documents)} parts in {shown.cpu_seconds:,.0f} s of one processor "
    text += f"({versions or 'nothing was run'}). All seconds are of that processor, with one "
    return "\n".join([*lines, f"{text}thread, not of the clock.", ""])


def _section(title: str, items: Sequence[object]) -> list[str]:
    return [f"## {title}", "", *(f"- {item}" for item in items), ""] if items else []


def _pivot(entries: Sequence[Entry]) -> list[str]:
    columns = list(dict.fromkeys(entry.column for entry in entries))
    cells = {(entry.row, entry.column): cell(entry) for entry in entries}
    printed = {entry.column for entry in entries if entry.printed is not None}
    heads = [column if column in printed else f"*{column}*" for column in columns]
    lines = [f"| | {' | '.join(heads)} |", "|---" * (len(columns) + 1) + "|"]
    for row in dict.fromkeys(entry.row for entry in entries):
        shown = (cells.get((row, column), "") for column in columns)
        lines.append(f"| {row} | {' | '.join(shown)} |")
    return lines


def cell(entry: Entry) -> str:
    """Return `printed / ours ± error`, as far as there is each."""
    ours = entry.ours
    if ours is None:
        ours = "missing" if entry.printed != "-" else "not run"
    elif not isinstance(ours, str):
        known = (number(x, entry.digits) for x in (ours, entry.error) if x is not None)
        ours = " ± ".join(known)
    return ours if entry.printed is None else f"{entry.printed.replace('-', '–')} / {ours}"


def number(value: float, digits: int) -> str:
    """Return a number with so many decimals; a small one that would vanish, in powers of ten."""
    text = f"{value:,.{digits}f}"
    return f"{value:.1e}" if value != 0 and float(text.replace(",", "")) == 0 else text


def as_csv(entries: Sequence[Entry]) -> str:
    return csv_text([_FIELDS, *(attrgetter(*_FIELDS)(entry) for entry in entries)])
