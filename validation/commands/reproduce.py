"""What `reproduce` does once its options are read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from ... import __version__
from ...exact.errors import InputError
from ..claims.verdicts import PAPERS, Verdict
from ..files.written_files import write_json
from ..findings.numbers import EVIDENCE
from ..findings.on_page import said_on
from ..findings.reruns import check, record
from ..tables.pages import Shown
from ..tables.planning import Estimate, duration
from ..tables.running.registry import chosen, tables
from ..tables.running.runner import estimate, limit_of, reproduce
from ..tables.stored import SCHEMA_VERSION
from .writing.outputs import named_folder
from .writing.progress import counted_progress

DEFAULT_OUT = "aucert-tables"


def run_reproduce(options: dict[str, Any]) -> int:
    """Run the tables, write their pages; return the exit status: 1 if a part failed."""
    if options["list_only"]:
        _list(options["names"], options["as_json"])
        return 0
    if options["check_only"]:
        return _check(options)
    out = named_folder(options["out"]) or DEFAULT_OUT
    if options["estimate_only"]:
        names = ("names", "profile", "seed", "data_dir", "evidence")
        asked = {name: options[name] for name in names}
        limit = limit_of(options["profile"], options["max_time"])
        _estimate(estimate(**asked, out=out), options["jobs"], limit, options["as_json"])
        return 0
    with counted_progress("parts", "{} done".format, options["as_json"]) as progress:
        shown = reproduce(
            names=options["names"],
            profile=options["profile"],
            seed=options["seed"],
            data_dir=options["data_dir"],
            out=out,
            jobs=options["jobs"],
            progress=progress,
            max_time=options["max_time"],
            evidence=options["evidence"],
            judge=said_on,
        )
    if options["as_json"]:
        click.echo(json.dumps(_document(shown, options), allow_nan=False, indent=2))
    else:
        for item in shown:
            click.echo(f"{item.table.name}: {item.conclusion}")
            for line in item.missing:
                click.echo(f"  missing: {line}")
        click.echo(f"pages: {out}/index.md")
    return 1 if any(item.results.failed for item in shown) else 0


def _document(shown: list[Shown], options: dict[str, Any]) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "version": __version__,
        "seed": options["seed"],
        "profile": options["profile"],
        "complete": not any(item.results.unfinished for item in shown),
        "tables": [item.as_json() for item in shown],
    }


def _check(options: dict[str, Any]) -> int:
    """Run a sample of the evidence again; return 1 if a number differs.

    With --out the findings are written to FOLDER/checked.json.
    """
    given = [name for name in ("names", "max_time") if options[name]]
    if given or options["jobs"] != 1:
        raise InputError(
            "--check runs all papers in one process: leave out NAME, --jobs and --max-time"
        )
    out = named_folder(options["out"])
    folder = Path(options["evidence"] or EVIDENCE)
    found = {}
    for paper in PAPERS:
        outcome = check(paper, options["profile"], options["seed"], folder, options["data_dir"])
        found[paper] = record(paper, outcome, folder)
        if not options["as_json"]:
            click.echo(f"{paper}: {outcome.verdict}: {outcome.measured}")
            for line in found[paper]["differences"]:
                click.echo(f"  {line}")
    if options["as_json"]:
        click.echo(json.dumps({"schema_version": SCHEMA_VERSION, "checks": found}, indent=2))
    if out is not None:
        Path(out).mkdir(parents=True, exist_ok=True)
        write_json(Path(out) / "checked.json", found)
    return 1 if any(one["verdict"] == Verdict.FAILS for one in found.values()) else 0


def _list(names: tuple[str, ...], as_json: bool) -> None:
    entries = chosen(names, tables())
    if as_json:
        fields = ("name", "paper", "place", "title")
        document = [
            {name: getattr(table, name) for name in fields}
            | {"minutes": dict(table.experiment.minutes)}
            for table in entries
        ]
        click.echo(json.dumps({"tables": document}, indent=2))
        return
    for table in entries:  # one line a table, so that names can be cut out
        times = ", ".join(f"{name} {m:g} min" for name, m in table.experiment.minutes.items())
        place = f"{table.paper}, {table.place}"
        click.echo(f"{table.name}\t{place}\t{table.title}\t{times}")


def _estimate(found: list[Estimate], jobs: int, limit: float | None, as_json: bool) -> None:
    """Say what is left to be run, and how long that takes if the machine is like ours."""
    minutes = sum(item.minutes or 0.0 for item in found)
    hours = minutes / 60 / jobs
    if as_json:
        document = {
            "experiments": [item.as_json() for item in found],
            "cpu_minutes": minutes,
            "jobs": jobs,
            "hours": hours,
            "max_time": limit,
        }
        click.echo(json.dumps(document, allow_nan=False, indent=2))
        return
    for item in found:
        time = "not measured" if item.minutes is None else f"{item.minutes:.1f} CPU min"
        lacking = f", {item.missing} without data" if item.missing else ""
        click.echo(f"{', '.join(item.tables)}\t{item.left} of {item.parts} parts{lacking}\t{time}")
    note = "" if limit is None else f"; nothing is begun after {duration(limit)}"
    in_all = f"{duration(60 * minutes)} of one processor" if minutes else "nothing to run"
    click.echo(f"in all: {in_all}, {duration(3600 * hours)} with {jobs} jobs{note}")
