"""What `check-solver` does once its options are read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from ...exact.errors import InputError
from ...exact.tools.interrupts import finish
from ..checking.check_solver import check_solver
from ..checking.naming import check_name
from ..checking.report import CheckReport, CheckRow
from ..files.written_files import write_atomically, write_json
from ..reference.problems import reference_problems
from .writing.outputs import output_folder
from .writing.progress import counted_progress


def run_check_solver(options: dict[str, Any]) -> int:
    """Run the check, print, and write what `--out` asks for; return the exit status.

    Parameters
    ----------
    options : dict
        solver (MODULE:FUNCTION or None), loss, tol, max_time, seed, only (names), list_only,
        out (folder or None), as_json.

    Returns
    -------
    int
        0 if every problem is solved, 1 if not.

    Raises
    ------
    InputError
        For bad input: exit status 2.
    """
    if options["list_only"]:
        if options["as_json"]:
            listed = reference_problems(options["only"] or None)
            click.echo(json.dumps({"problems": [p.name for p in listed]}, indent=2))
        else:
            click.echo(problems_list(options["only"] or None))
        return 0
    if options["solver"] is None:
        raise InputError("which solver? give MODULE:FUNCTION, say mysolver:fit")
    check_name(options["solver"])
    with output_folder(options["out"]) as folder:
        with counted_progress("problems", _judged, options["as_json"]) as show:
            report = check_solver(
                options["solver"],
                loss=options["loss"],
                tol=options["tol"],
                max_time=options["max_time"],
                seed=options["seed"],
                only=options["only"] or None,
                progress=show,
            )
        if folder is not None:
            write_report(report, folder)
    finish()
    click.echo(report.to_json() if options["as_json"] else report.table)
    return 0 if report.passed else 1


def _judged(row: CheckRow) -> str:
    return f"{row.name}: {row.verdict}"


def write_report(report: CheckReport, folder: Path) -> None:
    """Write check-solver.json and check-solver.txt into `folder`, which must exist."""
    write_json(folder / "check-solver.json", report.to_dict())
    text = f"{report.table}\n".encode()
    write_atomically(folder / "check-solver.txt", lambda file: file.write(text))


def problems_list(only: Any = None) -> str:
    """Return the names of the problems and what each one tests, a line each."""
    problems = reference_problems(only)
    width = max(len(problem.name) for problem in problems)
    return "\n".join(
        f"{p.name:{width}}  {p.y.size:4} x {p.X.shape[1]:<3}  {p.tests}" for p in problems
    )
