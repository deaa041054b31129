"""`aucert bench`: anybody's solvers beside ours, by proved gaps against time."""

from __future__ import annotations

import json
from typing import Any

import click

from ... import __version__
from ...exact.errors import InputError
from ...exact.tools.checks import check_number
from ...exact.tools.interrupts import finish
from ..checking.curves import GapCurves, picture
from ..checking.gap_curves import gap_curves
from ..checking.naming import check_name
from ..files.written_files import write_atomically, write_json
from .reading.inputs import open_data
from .writing.documents import SCHEMA_VERSION
from .writing.outputs import output_folder

DATA, LAM = "wdbc", 1e-3
"""What is run where nothing else is asked for."""


def run_bench(options: dict[str, Any]) -> None:
    """Run all solvers on all problems, print the tables, and write what `--out` asks for.

    Raises
    ------
    InputError
        For bad input: exit status 2.
    """
    fits = _fits(options["solvers"])
    lams = options["lam"] or (LAM,)
    for lam in lams:
        check_number("lam", lam)
    check_number("max_time", options["max_time"])
    found = []
    with output_folder(options["out"]) as folder:
        for name in options["data"] or (DATA,):
            data = open_data(name, {**options, "kernel": "linear", "data": None})
            if data.partitioned:
                raise InputError(f"{name} is a folder: a fit takes one matrix, so give one file")
            shown = f"{name}, standardised" if options["standardise"] else name
            for lam in lams:
                limits = {key: options[key] for key in ("max_time", "loss", "seed")}
                found.append(gap_curves(fits, data.X, data.y, lam, data=shown, **limits))
        text = "\n\n".join(curves.table for curves in found)
        document = {
            "schema_version": SCHEMA_VERSION,
            "version": __version__,
            "seed": options["seed"],
            "bench": [curves.to_dict() for curves in found],
        }
        if folder is not None:
            write_json(folder / "bench.json", document)
            write_atomically(folder / "bench.txt", lambda file: file.write(f"{text}\n".encode()))
            drawn = picture(drawn_curves(found), "svg")
            write_atomically(folder / "bench.svg", lambda file: file.write(drawn))
    finish()
    click.echo(json.dumps(document, allow_nan=False, indent=2) if options["as_json"] else text)


def _fits(names: tuple[str, ...]) -> dict[str, str]:
    """Return the solvers by name."""
    for name in names:
        check_name(name)
    if len(set(names)) < len(names):
        raise InputError("a solver is given twice: name each one once")
    return {name: name for name in names}


def drawn_curves(found: list[GapCurves]) -> Any:
    """Return one figure with the curves of each problem below each other."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.0 * len(found)), layout="constrained")
    panels = figure.subplots(len(found), squeeze=False)
    for curves, axes in zip(found, panels[:, 0], strict=True):
        curves.plot(axes)
    return figure
