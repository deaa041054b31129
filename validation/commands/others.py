"""`aucert validate | check-solver | bench | plot | reproduce`. What only one needs it imports."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ... import __version__
from ...exact.errors import InputError
from ...exact.tools.arrays import check_number
from ...exact.tools.atomic_files import target_of
from ..files.written import made_folder, write_atomically, write_json, write_text
from . import endings

if TYPE_CHECKING:
    from ..report.document import Report
    from ..tables.pages import Shown

Words = tuple[str, ...]


def run_validate(list_only: bool, out: str | None, as_json: bool, **asked: Any) -> int:
    from ..suite import claims, run

    if list_only:
        entries = claims(only=asked["only"])
        keys = ("name", "paper", "place", "kind", "statement", "expected_verdict")
        listed = [{key: str(getattr(one, key)) for key in keys} for one in entries]
        # A line a claim, so that names can be cut out.
        form = "{0.name}\t{0.paper}, {0.place}\t{0.statement}"
        text = "\n".join(map(form.format, entries))
        if sys.stdout.isatty():
            form = "{0.name}\t{0.paper}, {0.place}\t{0.kind}\t{0.expected_verdict}\t{0.statement}"
            titles = ("claim", "place", "kind", "recorded", "statement")
            text = _printed(_table(titles, [form.format(one).split("\t") for one in entries]))
        endings.say({"claims": listed}, text, as_json)
        return 0
    folder = endings.named_folder(out) or "aucert-report"
    with (
        endings.result_first(as_json) as found,
        endings.counted_progress("claims", "writing", as_json, attrgetter("name")) as progress,
    ):

        def first(report: Report) -> None:
            found.append((report.as_json(), _report_text(report)))

        report = run(**asked, out=folder, progress=progress, first=first)
    if not as_json:
        click.echo(f"report: {report.folder}/report.html")
    return report.exit_code


def _printed(*parts: Table | Text | str) -> str:
    """Return what rich prints, in colour where the output is a terminal."""
    console = Console(highlight=False)
    with console.capture() as held:
        for part in parts:
            console.print(part)
    return held.get().removesuffix("\n")


def _table(titles: Iterable[str], rows: Iterable[Iterable[Text | str]], right: Words = ()) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", show_header=any(titles))
    for k, title in enumerate(titles):
        side = "right" if title in right else "left"
        table.add_column(title, justify=side, overflow="fold", vertical="top", no_wrap=not k)
    for row in rows:
        table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
    return table


FEW = 20  # claims that are listed one by one; of more the headlines and the counts are shown


def _report_text(report: Report) -> str:
    """Return a few claims one by one, or the headlines and the counts of many; then one line."""
    from ..report.document import headlines, shown, shown_seconds

    count, wrong = len(report.rows), report.unexpected
    if count <= FEW:
        rows = []
        for row in report.rows:
            mark, style = ("  ", "green") if row.as_expected else ("! ", "bold red")
            verdict = row.verdict if row.as_expected else row.verdict.upper()
            printed = "" if row.printed is None else f"; printed: {row.printed}"
            said = f"{row.paper}, {row.place}, {row.kind}\n{shown(row.measured)}{printed}"
            claim = Text(f"{row.name}\n", style="bold") + Text(said)
            seconds = shown_seconds(row.seconds)
            rows.append((Text(f"{mark}{verdict}", style), row.expected_verdict, seconds, claim))
        titles = ("verdict", "recorded", "s", "claim; place, kind; measured; printed")
        parts: list[Any] = [_table(titles, rows, right=("s",))]
    else:
        styles = {"good": "green", "bad": "red", "warn": "yellow", "open": "blue"}
        ten = headlines({row.name: row for row in report.rows})
        said = [(Text(h.word, styles[h.colour]), f"{h.sentence}\n{h.number} {h.what}") for h in ten]
        counts = report.counts()
        titles = tuple(counts[0][1])
        numbers = [(kind, *(str(n or "-") for n in of.values())) for kind, of in counts]
        parts = [_table(("", ""), said), "", _table(("statements", *titles), numbers, titles)]
    time = f"{shown_seconds(report.seconds)} s"
    if report.taken_over:
        time += f"; {report.taken_over} of them taken over from an earlier run"
    last = f"All {count} verdicts are the recorded ones ({time})."
    if wrong:
        names = ", ".join(row.name for row in wrong)
        last = f"{len(wrong)} of {count} verdicts differ from the recorded ones: {names} ({time})."
    return _printed(*parts, Text(last, "bold red" if wrong else ""))


def run_check_solver(
    solver: str | None, only: Words, list_only: bool, out: str | None, as_json: bool, **asked: Any
) -> int:
    """Run the check, print, and write what `--out` asks for; return 1 unless all are solved."""
    from ..checking.check_solver import check_solver
    from ..checking.worker import check_name
    from ..reference.problems import reference_problems

    if list_only:
        listed = reference_problems(only or None)
        width = max(len(p.name) for p in listed)
        lines = [f"{p.name:{width}}  {p.y.size:4} x {p.X.shape[1]:<3}  {p.tests}" for p in listed]
        endings.say({"problems": [p.name for p in listed]}, "\n".join(lines), as_json)
        return 0
    if solver is None:
        raise InputError("which solver? give MODULE:FUNCTION, say mysolver:fit")
    check_name(solver)
    with endings.result_first(as_json) as found, endings.output_folder(out) as folder:
        words = "{0.name}: {0.verdict}".format
        with endings.counted_progress("problems", "looking for the cause", as_json, words) as show:
            report = check_solver(solver, only=only or None, progress=show, **asked)
        document = report.to_dict()
        found.append((document, report.table))
        if folder is not None:
            write_json(folder / "check-solver.json", document)
            write_text(folder / "check-solver.txt", f"{report.table}\n")
    return 0 if report.passed else 1


def run_bench(
    solvers: Words, data: Words, lam: Sequence[float], out: str | None, as_json: bool, **asked: Any
) -> None:
    from ..checking.gap_curves import gap_curves
    from ..checking.worker import check_name
    from ..cli import Options
    from .inputs import open_data

    for name in solvers:
        check_name(name)
    if len(set(solvers)) < len(solvers):
        raise InputError("a solver is given twice: name each one once")
    for each in lam:
        check_number("lam", each)
    limits = {key: asked[key] for key in ("max_time", "loss", "seed")}
    options, curves = Options(as_json=as_json, **asked), []
    with (
        endings.result_first(as_json) as found,
        endings.output_folder(out) as folder,
        endings.progress("reading", as_json) as progress,
    ):
        for name in data:
            rows = open_data(name, options)
            if rows.partitioned:
                raise InputError(f"{name} is a folder: a fit takes one matrix, so give one file")
            more = {"data": f"{name}, standardised" if options.standardise else name, **limits}
            for each in lam:
                fits = {solver: solver for solver in solvers}
                curves.append(gap_curves(fits, rows.X, rows.y, each, progress=progress, **more))
        text = "\n\n".join(each.table for each in curves)
        document = {"schema_version": 1, "version": __version__, "seed": options.seed}
        document |= {"bench": [each.to_dict() for each in curves]}
        found.append((document, text))
        if folder is not None:
            write_json(folder / "bench.json", document)
            write_text(folder / "bench.txt", f"{text}\n")
            _write_picture(folder / "bench.svg", _drawn_bench(document))


def run_plot(result: str, out: str) -> None:
    """Draw what `solve`, `path`, `certify` or `bench` wrote: a picture, whole or not at all."""
    from ..files.tables import existing_file

    kinds, results = (".svg", ".png", ".pdf"), ("solution.json", "bench.json", "path.json")
    if target_of(out).suffix.lower() not in kinds:
        raise InputError(f"--out {out}: the name must end in {', '.join(kinds)}")
    path = Path(result)
    if path.is_dir():
        there = [path / name for name in results if (path / name).exists()]
        if len(there) != 1:
            what = "no" if not there else "more than one"
            raise InputError(f"{result}: {what} result in this folder: name {' or '.join(results)}")
        path = there[0]
    held = endings.read_document(existing_file(path))
    if held is None:
        raise InputError(f"{path}: this is not a JSON document of aucert")
    drawings = {"path": _drawn_path, "bench": _drawn_bench, "dual": _drawn_result}
    try:
        figure = next(draw(held) for key, draw in drawings.items() if key in held)
    except (StopIteration, LookupError, TypeError, ValueError, OverflowError, AttributeError):
        do = "give what solve --out, path --out, certify --json or bench wrote, or a path's "
        raise InputError(f"{path}: nothing in it can be drawn: {do}to_dict()") from None
    _write_picture(Path(out), figure)
    endings.say(None, f"{path} drawn: {out}", as_json=False)


def _write_picture(path: Path, figure: Any) -> None:
    from ..checking.gap_curves import picture

    drawn = picture(figure, target_of(path).suffix.lower().removeprefix("."))
    write_atomically(path, lambda file: file.write(drawn))


def _panels(count: int, height: float, sharex: bool = False) -> tuple[Any, Any]:
    """Return a figure with so many panels below each other; none is a `ValueError`."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, height), layout="constrained")
    panels = figure.subplots(count, squeeze=False, sharex=sharex)[:, 0]
    for axes in panels:
        axes.grid(alpha=0.3)
    return figure, panels


def _draw_bounds(axes: Any, x: str, points: list[dict[str, Any]], primal: str, dual: str) -> None:
    for key, name, mark in (("primal", "objective", primal), ("dual", "lower bound", dual)):
        known = [point for point in points if point[key] is not None]
        places = ([float(point[at]) for point in known] for at in (x, key))
        axes.plot(*places, mark, label=name)
    axes.set_ylabel("objective")
    axes.legend()


def _drawn_bench(held: dict[str, Any]) -> Any:
    from ..checking.gap_curves import GapCurves

    figure, panels = _panels(len(held["bench"]), 4.0 * len(held["bench"]))
    for curves, axes in zip(held["bench"], panels, strict=True):
        GapCurves.from_dict(curves).plot(axes)
    return figure


def _drawn_path(held: dict[str, Any]) -> Any:
    points = held["path"]
    known = [(float(point["lam"]), float(point["auc"])) for point in points if point["auc"]]
    figure, axes = _panels(bool(points) + bool(known), 5.0 if known else 3.4, sharex=True)
    _draw_bounds(axes[0], "lam", points, "o-", "x--")
    axes[0].set(xscale="log", title=f"regularization path, {held['loss']}")
    if known:
        axes[1].plot(*zip(*known, strict=True), "o-", color="#009e73")
        axes[1].set_ylabel("AUC of the training rows")
    axes[-1].set_xlabel("lam")
    return figure


def _drawn_result(held: dict[str, Any]) -> Any:
    """Return a solution's objective and lower bound against time, or a model's next to it."""
    figure, (axes,) = _panels(1, 4.0)
    data, primal = held.get("parameters", {}).get("data", "data"), held["primal"]
    axes.set_title(f"{data}, lam {float(held['lam']):g}, {held['loss']}")
    if held.get("history"):
        _draw_bounds(axes, "seconds", held["history"], "-", "--")
        axes.plot([float(held["seconds"])] * 2, [float(primal), float(held["dual"])], "ko")
        axes.set_xlabel("seconds (the dots are certified)")
    else:
        axes.barh(["no model has less"], [float(held["dual"])], color="#999999")
        if primal is not None:
            axes.barh(["this model"], [float(primal)], color="#0072b2")
        axes.set_xlabel("objective")
    return figure


def run_reproduce(
    names: Words, list_only: bool, checked: bool, estimated: bool, out: str | None, as_json: bool,
    **work: Any,
) -> int:  # fmt: skip
    """Run the tables, write their pages; return 1 if a part failed. `work` goes to `begun`, too."""
    from ..store import SCHEMA_VERSION
    from ..tables.run import chosen, estimate, limit_of, reproduce, tables

    jobs, max_time = work.pop("jobs"), work.pop("max_time")
    if list_only:
        _list_tables(chosen(names, tables()), as_json)
        return 0
    if checked:
        if names or max_time or jobs != 1:
            do = "leave out NAME, --jobs and --max-time"
            raise InputError(f"--check runs all papers in one process: {do}")
        return _check_evidence(out, as_json, **work)
    folder = endings.named_folder(out) or "aucert-tables"
    if estimated:
        left = estimate(names=names, out=folder, **work)
        _say_estimate(left, jobs, limit_of(work["profile"], max_time), as_json)
        return 0
    bar = endings.counted_progress("parts", "writing", as_json)
    with endings.result_first(as_json) as found, bar as progress:

        def first(shown: list[Shown]) -> None:
            document = {"schema_version": SCHEMA_VERSION, "version": __version__}
            document |= {key: work[key] for key in ("seed", "profile")}
            document["complete"] = not any(item.results.unfinished for item in shown)
            document["tables"] = [item.as_json() for item in shown]
            lines = []
            for item in shown:
                lines.append(f"{item.table.name}: {item.conclusion}")
                lines += [f"  missing: {line}" for line in item.missing]
            found.append((document, "\n".join(lines)))

        work |= {"jobs": jobs, "max_time": max_time, "progress": progress}
        shown = reproduce(names=names, out=folder, first=first, **work)
    if not as_json:
        click.echo(f"pages: {folder}/index.md")
    return 1 if any(item.results.failed for item in shown) else 0


def _check_evidence(
    out: str | None, as_json: bool, evidence: str | None, data_dir: str | None, **asked: Any
) -> int:
    """Run a sample of the evidence again; return 1 if a number differs."""
    from ..claims.claim import FILED, Verdict
    from ..reruns import check
    from ..store import EVIDENCE, SCHEMA_VERSION

    target, folder, found = endings.named_folder(out), Path(evidence or EVIDENCE), {}
    for paper in FILED:
        found[paper] = check(paper, folder=folder, data=data_dir, **asked)
        if not as_json:
            click.echo("{}: {verdict}: {measured}".format(paper, **found[paper]))
            for line in found[paper]["differences"]:
                click.echo(f"  {line}")
    if as_json:
        endings.say({"schema_version": SCHEMA_VERSION, "checks": found}, "", as_json)
    if target is not None:
        write_json(made_folder(target) / "checked.json", found)
    return 1 if any(one["verdict"] == Verdict.FAILS for one in found.values()) else 0


def _list_tables(entries: Sequence[Any], as_json: bool) -> None:
    from ..tables.run import cpu_minutes
    from ..tables.table import PROFILES

    listed, lines = [], []  # a line a table, so that names can be cut out
    for table in entries:
        each = {profile: cpu_minutes(table.experiment, profile) for profile in PROFILES}
        minutes = {profile: round(m, 1) for profile, m in each.items() if m is not None}
        fields = ("name", "paper", "place", "title")
        listed.append({name: getattr(table, name) for name in fields} | {"minutes": minutes})
        times = ", ".join(f"{name} {m:g} min" for name, m in minutes.items())
        lines.append(f"{table.name}\t{table.paper}, {table.place}\t{table.title}\t{times}")
    endings.say({"tables": listed}, "\n".join(lines), as_json)


def _say_estimate(found: list[Any], jobs: int, limit: float | None, as_json: bool) -> None:
    """Say what is left to be run, and how long that takes if the machine is like ours."""
    from ..tables.pages import duration

    minutes, lines = sum(item["cpu_minutes"] or 0.0 for item in found), []
    hours = minutes / 60 / jobs
    for item in found:
        known, lacking = item["cpu_minutes"], item["missing"]
        left = f"{item['parts'] - item['done'] - lacking} of {item['parts']} parts"
        left += f", {lacking} without data" if lacking else ""
        time = "not measured" if known is None else f"{known:.1f} CPU min"
        lines.append(f"{', '.join(item['tables'])}\t{left}\t{time}")
    note = "" if limit is None else f"; nothing is begun after {duration(limit)}"
    in_all = f"{duration(60 * minutes)} of one processor" if minutes else "nothing to run"
    lines.append(f"in all: {in_all}, {duration(3600 * hours)} with {jobs} jobs{note}")
    document = {"experiments": found, "cpu_minutes": minutes, "jobs": jobs}
    endings.say(document | {"hours": hours, "max_time": limit}, "\n".join(lines), as_json)
