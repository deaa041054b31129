"""`aucert validate | check-solver | bench | plot | reproduce`.

What only one of them needs is imported within it.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ... import __version__
from ...exact.errors import InputError
from ...exact.tools.atomic_files import target_of
from ...exact.tools.checks import check_number
from ..files.written import write_atomically, write_json
from .endings import (
    counted_progress,
    named_folder,
    output_folder,
    result_first,
    solver_progress,
)
from .interrupts import finish

if TYPE_CHECKING:
    from ..claims.claim import Claim
    from ..report.document import Report
    from ..report.row import Row
    from ..tables.pages import Shown
    from ..tables.run import Estimate


def _versions(schema: int) -> dict[str, Any]:
    return {"schema_version": schema, "version": __version__}


def _say_json(document: Any) -> None:
    click.echo(json.dumps(document, allow_nan=False, indent=2))


# validate


def run_validate(
    *,
    only: tuple[str, ...],
    profile: str,
    list_only: bool,
    out: str | None,
    jobs: int,
    seed: int,
    as_json: bool,
) -> int:
    """Run the claims, print the table, write the report; return the exit status."""
    from ..suite import claims, run

    if list_only:
        _list_claims(claims(only=only), as_json)
        return 0
    folder = named_folder(out) or "aucert-report"
    asked = {"only": only, "profile": profile, "seed": seed, "jobs": jobs, "out": folder}

    def say(report: Report) -> None:
        _say_json(report.as_json()) if as_json else print_report(report)

    with (
        result_first(say) as found,
        counted_progress("claims", "writing", as_json, lambda row: row.name) as progress,
    ):
        report = run(**asked, progress=progress, first=found.append)
    if not as_json:
        click.echo(f"report: {report.folder}/report.html")
    return report.exit_code


def _list_claims(entries: Sequence[Claim], as_json: bool) -> None:
    if as_json:
        names = ("name", "paper", "place", "kind", "statement", "expected_verdict")
        document = [{name: str(getattr(entry, name)) for name in names} for entry in entries]
        _say_json({"claims": document})
    elif sys.stdout.isatty():
        Console(highlight=False).print(claims_table(entries))
    else:  # one line per claim, so that names can be cut out
        for entry in entries:
            click.echo(f"{entry.name}\t{entry.paper}, {entry.place}\t{entry.statement}")


def claims_table(entries: Sequence[Claim]) -> Table:
    """Return the list of claims that `--list` shows."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("claim", "place", "kind", "recorded", "statement"):
        table.add_column(heading, overflow="fold", vertical="top")
    for one in entries:
        place = f"{one.paper}, {one.place}"
        table.add_row(*map(Text, (one.name, place, one.kind, one.expected_verdict, one.statement)))
    return table


WIDE = 130  # Columns of a terminal from which every claim fits in a line or two of a table.


def report_table(report: Report, width: int = WIDE) -> Table:
    """Return the verdicts next to the expected ones, and what was measured next to the print.

    Below `WIDE` columns the claim, its place and the numbers share a column.
    """
    from ..report.document import shown, shown_seconds

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("verdict", no_wrap=True)
    table.add_column("recorded", no_wrap=True)
    table.add_column("s", justify="right", no_wrap=True)
    if width >= WIDE:
        table.add_column("claim", no_wrap=True)
        table.add_column("place", overflow="fold")
        table.add_column("kind", no_wrap=True)
        table.add_column("measured; printed", overflow="fold")
    else:
        table.add_column("claim; place, kind; measured; printed", overflow="fold")
    for row in report.rows:
        start = (verdict_text(row), Text(row.expected_verdict), Text(shown_seconds(row.seconds)))
        place = f"{row.paper}, {row.place}"
        numbers = shown(row.measured) + ("" if row.printed is None else f"; printed: {row.printed}")
        if width >= WIDE:
            table.add_row(*start, *map(Text, (row.name, place, row.kind, numbers)))
        else:
            name = Text(f"{row.name}\n", style="bold")
            table.add_row(*start, name + Text(f"{place}, {row.kind}\n{numbers}"))
    return table


def verdict_text(row: Row) -> Text:
    """Return the verdict; one that differs is marked by a sign, capitals and colour."""
    if row.as_expected:
        return Text(f"  {row.verdict}", style="green")
    return Text(f"! {row.verdict.upper()}", style="bold red")


def counts_table(report: Report) -> Table:
    """Return how many statements of each kind stand, fall or are open; it adds up to all."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    found = report.counts()
    for name in ("statements", *found[0][1]):
        table.add_column(name, justify="left" if name == "statements" else "right")
    for kind, columns in found:
        table.add_row(kind, *(str(count or "-") for count in columns.values()))
    return table


def headlines_table(report: Report) -> Table:
    """Return the ten sentences of the report, each with its word and its number."""
    from ..report.headlines import headlines

    table = Table(box=None, pad_edge=False, show_header=False)
    styles = {"good": "green", "bad": "red", "warn": "yellow", "open": "blue"}
    for head in headlines({row.name: row for row in report.rows}, drawn=False):
        number = f"{head.number} {head.what}"
        table.add_row(
            Text(head.word, style=styles[head.colour]), Text(f"{head.sentence}\n{number}")
        )
    return table


def summary_line(report: Report) -> str:
    """Return the last line: whether every verdict is the recorded one, and how long it took."""
    from ..report.document import shown_seconds

    count, wrong = len(report.rows), report.unexpected
    time = f"{shown_seconds(report.seconds)} s"
    if report.taken_over:
        time += f"; {report.taken_over} of them taken over from an earlier run"
    if not wrong:
        return f"All {count} verdicts are the recorded ones ({time})."
    names = ", ".join(row.name for row in wrong)
    return f"{len(wrong)} of {count} verdicts differ from the recorded ones: {names} ({time})."


FEW = 20  # claims that are listed one by one; of more the headlines and the counts are shown


def print_report(report: Report, console: Console | None = None) -> None:
    """Print a few claims one by one, or the headlines and the counts of many; then one line."""
    target = Console(highlight=False) if console is None else console
    if len(report.rows) <= FEW:
        target.print(report_table(report, target.width))
    else:
        target.print(headlines_table(report), "", counts_table(report))
    target.print(Text(summary_line(report), style="" if not report.unexpected else "bold red"))


# check-solver


def run_check_solver(
    *,
    solver: str | None,
    loss: str,
    tol: float,
    max_time: float,
    seed: int,
    only: tuple[str, ...],
    list_only: bool,
    out: str | None,
    as_json: bool,
) -> int:
    """Run the check, print, and write what `--out` asks for; return 1 unless all are solved."""
    from ..checking.check_solver import check_solver
    from ..checking.worker import check_name
    from ..reference.problems import reference_problems

    if list_only:
        listed = reference_problems(only or None)
        width = max(len(problem.name) for problem in listed)
        if as_json:
            click.echo(json.dumps({"problems": [p.name for p in listed]}, indent=2))
        else:
            for p in listed:
                size = f"{p.y.size:4} x {p.X.shape[1]:<3}"
                click.echo(f"{p.name:{width}}  {size}  {p.tests}")
        return 0
    if solver is None:
        raise InputError("which solver? give MODULE:FUNCTION, say mysolver:fit")
    check_name(solver)

    def say(report: Any) -> None:
        finish()
        click.echo(report.to_json() if as_json else report.table)

    with result_first(say) as found, output_folder(out) as folder:
        words = "{0.name}: {0.verdict}".format
        with counted_progress("problems", "looking for the cause", as_json, words) as show:
            report = check_solver(
                solver,
                loss=loss,
                tol=tol,
                max_time=max_time,
                seed=seed,
                only=only or None,
                progress=show,
            )
        found.append(report)
        if folder is not None:
            write_json(folder / "check-solver.json", report.to_dict())
            text = f"{report.table}\n".encode()
            write_atomically(folder / "check-solver.txt", lambda file: file.write(text))
    return 0 if report.passed else 1


# bench


def run_bench(
    *,
    solvers: tuple[str, ...],
    data: tuple[str, ...],
    lam: tuple[float, ...],
    loss: str,
    max_time: float,
    seed: int,
    out: str | None,
    as_json: bool,
    **table: Any,
) -> None:
    """Run all solvers on all problems, print the tables, and write what `--out` asks for."""
    from ..checking.gap_curves import gap_curves, picture
    from ..checking.worker import check_name
    from .inputs import Options, open_data

    for name in solvers:
        check_name(name)
    if len(set(solvers)) < len(solvers):
        raise InputError("a solver is given twice: name each one once")
    for each in lam:
        check_number("lam", each)
    check_number("max_time", max_time)
    fits = {name: name for name in solvers}
    limits: dict[str, Any] = {"max_time": max_time, "loss": loss, "seed": seed}
    options, found = Options(seed=seed, as_json=as_json, **table), []

    def say(document: dict[str, Any]) -> None:
        finish()
        _say_json(document) if as_json else click.echo(text)

    with (
        result_first(say) as done,
        output_folder(out) as folder,
        solver_progress("reading", as_json) as progress,
    ):
        limits["progress"] = progress
        for name in data:
            rows = open_data(name, options)
            if rows.partitioned:
                raise InputError(f"{name} is a folder: a fit takes one matrix, so give one file")
            title = f"{name}, standardised" if options.standardise else name
            for each in lam:
                found.append(gap_curves(fits, rows.X, rows.y, each, data=title, **limits))
        text = "\n\n".join(curves.table for curves in found)
        document = _versions(1) | {"seed": seed, "bench": [curves.to_dict() for curves in found]}
        done.append(document)
        if folder is not None:
            write_json(folder / "bench.json", document)
            write_atomically(folder / "bench.txt", lambda file: file.write(f"{text}\n".encode()))
            drawn = picture(_drawn_curves(found), "svg")
            write_atomically(folder / "bench.svg", lambda file: file.write(drawn))


# plot


def run_plot(result: str, out: str) -> None:
    """Draw what `solve`, `path`, `certify` or `bench` wrote: a picture, whole or not at all."""
    from ..checking.gap_curves import picture
    from ..files.tables import existing_file

    kinds, results = ("svg", "png", "pdf"), ("solution.json", "bench.json", "path.json")
    kind = target_of(out).suffix.lower().removeprefix(".")
    if kind not in kinds:
        raise InputError(f"--out {out}: the name must end in .{', .'.join(kinds)}")
    path = Path(result)
    if path.is_dir():
        there = [path / name for name in results if (path / name).exists()]
        if len(there) != 1:
            what = "no" if not there else "more than one"
            raise InputError(f"{result}: {what} result in this folder: name {' or '.join(results)}")
        path = there[0]
    existing_file(path)
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        held = None
    if not isinstance(held, dict):
        raise InputError(f"{path}: this is not a JSON document of aucert")
    drawn = picture(_figure(path, held), kind)
    write_atomically(out, lambda file: file.write(drawn))
    finish()
    click.echo(f"{path} drawn: {out}")


def _figure(path: Path, held: dict[str, Any]) -> Any:
    """Return the picture of a document of `bench`, `solve` or `certify`, or of a path."""
    from ..checking.gap_curves import GapCurves

    try:
        if "path" in held:
            return _drawn_path(held)
        if "bench" in held:
            return _drawn_curves([GapCurves.from_dict(curves) for curves in held["bench"]])
        if "primal" in held and "dual" in held:
            return _drawn_result(held)
    except (KeyError, TypeError, ValueError, AttributeError):
        pass
    raise InputError(
        f"{path}: nothing in it can be drawn: give what solve --out, path --out, "
        "certify --json or bench wrote, or a path's to_dict()"
    )


def _panels(count: int, height: float, sharex: bool = False) -> tuple[Any, Any]:
    """Return a figure with so many panels below each other; none is a `ValueError`."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, height), layout="constrained")
    return figure, figure.subplots(count, squeeze=False, sharex=sharex)[:, 0]


def _drawn_curves(found: Sequence[Any]) -> Any:
    """Return one figure with the curves of each problem below each other."""
    figure, panels = _panels(len(found), 4.0 * len(found))
    for curves, axes in zip(found, panels, strict=True):
        curves.plot(axes)
    return figure


def _drawn_path(held: dict[str, Any]) -> Any:
    """Return objectives, lower bounds and AUCs of a regularization path against lam."""
    points = held["path"]
    lams = [float(point["lam"]) for point in points]
    known = [(lam, float(p["auc"])) for lam, p in zip(lams, points, strict=True) if p["auc"]]
    figure, axes = _panels(bool(points) + bool(known), 5.0 if known else 3.4, sharex=True)
    for key, name, mark in (("primal", "objective", "o-"), ("dual", "lower bound", "x--")):
        axes[0].plot(lams, [float(point[key]) for point in points], mark, label=name)
    axes[0].set(xscale="log", ylabel="objective", title=f"regularization path, {held['loss']}")
    axes[0].legend()
    if known:
        axes[1].plot(*zip(*known, strict=True), "o-", color="#009e73")
        axes[1].set_ylabel("AUC of the training rows")
    axes[-1].set_xlabel("lam")
    for each in axes:
        each.grid(alpha=0.3)
    return figure


def _drawn_result(held: dict[str, Any]) -> Any:
    """Return a solution's objective and lower bound against time, or a model's next to it."""
    figure, (axes,) = _panels(1, 4.0)
    data = held.get("parameters", {}).get("data", "data")
    axes.set_title(f"{data}, lam {float(held['lam']):g}, {held['loss']}")
    axes.grid(alpha=0.3)
    if not held.get("history"):
        primal = held["primal"]
        axes.barh(["no model has less"], [float(held["dual"])], color="#999999")
        if primal is not None and math.isfinite(float(primal)):
            axes.barh(["this model"], [float(primal)], color="#0072b2")
        axes.set_xlabel("objective")
        return figure
    for key, name, mark in (("primal", "objective", "-"), ("dual", "lower bound", "--")):
        known = [step for step in held["history"] if step[key] is not None]
        x, y = [float(s["seconds"]) for s in known], [float(s[key]) for s in known]
        line = axes.plot(x, y, mark, label=name)[0]
        axes.plot([float(held["seconds"])], [float(held[key])], "o", color=line.get_color())
    axes.set(xlabel="seconds (the dots are certified)", ylabel="objective")
    axes.legend()
    return figure


# reproduce


def run_reproduce(
    *,
    names: tuple[str, ...],
    list_only: bool,
    estimate_only: bool,
    check_only: bool,
    out: str | None,
    jobs: int,
    max_time: float | None,
    as_json: bool,
    **work: Any,
) -> int:
    """Run the tables, write their pages; return 1 if a part failed.

    `work` is the profile, the seed, and the folders of the data and of the evidence.
    """
    from ..effects import said_on
    from ..store import SCHEMA_VERSION
    from ..tables.run import chosen, estimate, limit_of, reproduce, tables

    if list_only:
        _list_tables(chosen(names, tables()), as_json)
        return 0
    if check_only:
        if names or max_time or jobs != 1:
            raise InputError(
                "--check runs all papers in one process: leave out NAME, --jobs and --max-time"
            )
        return _check_evidence(out, as_json, **work)
    folder = named_folder(out) or "aucert-tables"
    if estimate_only:
        left = estimate(names=names, out=folder, **work)
        _say_estimate(left, jobs, limit_of(work["profile"], max_time), as_json)
        return 0

    def say(shown: list[Shown]) -> None:
        if as_json:
            whole = not any(item.results.unfinished for item in shown)
            head = {"seed": work["seed"], "profile": work["profile"], "complete": whole}
            _say_json(
                _versions(SCHEMA_VERSION) | head | {"tables": [item.as_json() for item in shown]}
            )
            return
        for item in shown:
            click.echo(f"{item.table.name}: {item.conclusion}")
            for line in item.missing:
                click.echo(f"  missing: {line}")

    work |= {"jobs": jobs, "max_time": max_time, "judge": said_on}
    with (
        result_first(say) as found,
        counted_progress("parts", "writing", as_json) as progress,
    ):
        shown = reproduce(names=names, out=folder, progress=progress, first=found.append, **work)
    if not as_json:
        click.echo(f"pages: {folder}/index.md")
    return 1 if any(item.results.failed for item in shown) else 0


def _check_evidence(
    out: str | None,
    as_json: bool,
    profile: str,
    seed: int,
    evidence: str | None,
    data_dir: str | None,
) -> int:
    """Run a sample of the evidence again; return 1 if a number differs.

    With --out the findings are written to FOLDER/checked.json.
    """
    from ..claims.claim import FILED, Verdict
    from ..reruns import check, record
    from ..store import EVIDENCE, SCHEMA_VERSION

    target, folder, found = named_folder(out), Path(evidence or EVIDENCE), {}
    for paper in FILED:
        outcome = check(paper, profile, seed, folder, data_dir)
        found[paper] = record(paper, outcome, folder)
        if not as_json:
            click.echo(f"{paper}: {outcome.verdict}: {outcome.measured}")
            for line in found[paper]["differences"]:
                click.echo(f"  {line}")
    if as_json:
        click.echo(json.dumps({"schema_version": SCHEMA_VERSION, "checks": found}, indent=2))
    if target is not None:
        target.mkdir(parents=True, exist_ok=True)
        write_json(target / "checked.json", found)
    return 1 if any(one["verdict"] == Verdict.FAILS for one in found.values()) else 0


def _list_tables(entries: Sequence[Any], as_json: bool) -> None:
    from ..tables.run import cpu_minutes
    from ..tables.table import PROFILES

    lines = []
    for table in entries:
        each = {profile: cpu_minutes(table.experiment, profile) for profile in PROFILES}
        minutes = {profile: round(m, 1) for profile, m in each.items() if m is not None}
        fields = ("name", "paper", "place", "title")
        lines.append({name: getattr(table, name) for name in fields} | {"minutes": minutes})
    if as_json:
        _say_json({"tables": lines})
        return
    for line in lines:  # one line per table, so that names can be cut out
        times = ", ".join(f"{name} {m:g} min" for name, m in line["minutes"].items())
        click.echo(f"{line['name']}\t{line['paper']}, {line['place']}\t{line['title']}\t{times}")


def _say_estimate(found: list[Estimate], jobs: int, limit: float | None, as_json: bool) -> None:
    """Say what is left to be run, and how long that takes if the machine is like ours."""
    from ..tables.pages import duration

    minutes = sum(item.cpu_minutes or 0.0 for item in found)
    hours = minutes / 60 / jobs
    if as_json:
        document = {"experiments": [*map(asdict, found)], "cpu_minutes": minutes}
        _say_json(document | {"jobs": jobs, "hours": hours, "max_time": limit})
        return
    for item in found:
        time = "not measured" if item.cpu_minutes is None else f"{item.cpu_minutes:.1f} CPU min"
        lacking = f", {item.missing} without data" if item.missing else ""
        click.echo(f"{', '.join(item.tables)}\t{item.left} of {item.parts} parts{lacking}\t{time}")
    note = "" if limit is None else f"; nothing is begun after {duration(limit)}"
    in_all = f"{duration(60 * minutes)} of one processor" if minutes else "nothing to run"
    click.echo(f"in all: {in_all}, {duration(3600 * hours)} with {jobs} jobs{note}")
