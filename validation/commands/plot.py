"""`aucert plot`: a picture of what `solve`, `certify` or `bench` wrote, or of a path."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import click

from ...exact.errors import InputError
from ...exact.tools.interrupts import finish
from ..checking.curves import GapCurves, picture
from ..files.tables import existing_file
from ..files.written_files import write_atomically
from .bench import drawn_curves
from .writing.solved_folder import SOLUTION

KINDS = ("svg", "png", "pdf")
RESULTS = (SOLUTION, "bench.json", "path.json")
"""Files that are looked for where RESULT is a folder."""


def run_plot(result: str, out: str) -> None:
    """Draw the result and write the picture, whole or not at all.

    Raises
    ------
    InputError
        For a file that is no result, or an unknown kind of picture.
    """
    kind = Path(out).suffix.lower().removeprefix(".")
    if kind not in KINDS:
        raise InputError(f"--out {out}: the name must end in .{', .'.join(KINDS)}")
    path = _found(result)
    drawn = picture(_figure(path, _document(path)), kind)
    write_atomically(out, lambda file: file.write(drawn))
    finish()
    click.echo(f"{path} drawn: {out}")


def _found(result: str) -> Path:
    """Return the file of a result, in the folder if it is one."""
    if not Path(result).is_dir():
        return existing_file(result)
    there = [Path(result) / name for name in RESULTS if (Path(result) / name).exists()]
    if len(there) == 1:
        return there[0]
    what = "no" if not there else "more than one"
    raise InputError(f"{result}: {what} result in this folder: name {' or '.join(RESULTS)}")


def _document(path: Path) -> dict[str, Any]:
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        held = None
    if not isinstance(held, dict):
        raise InputError(f"{path}: this is no JSON document of aucert")
    return held


def _figure(path: Path, held: dict[str, Any]) -> Any:
    """Return the picture of a document of `bench`, `solve` or `certify`, or of a path."""
    try:
        if "path" in held:
            return _path(held)
        if "bench" in held:
            found = [GapCurves.from_dict(curves) for curves in held["bench"]]
            if not found:
                raise ValueError("empty")
            return drawn_curves(found)
        if "primal" in held and "dual" in held:
            return _interval(held) if not held.get("history") else _history(held)
    except (KeyError, TypeError, ValueError, AttributeError):
        pass
    raise InputError(
        f"{path}: nothing in it can be drawn: give what solve --out, path --out, "
        "certify --json or bench wrote, or a path's to_dict()"
    )


def _canvas(held: dict[str, Any]) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.subplots()
    data = held.get("parameters", {}).get("data", "data")
    axes.set_title(f"{data}, lam {float(held['lam']):g}, {held['loss']}")
    axes.grid(alpha=0.3)
    return figure, axes


def _path(held: dict[str, Any]) -> Any:
    """Return objectives, lower bounds and AUCs of a regularization path against lam."""
    from matplotlib.figure import Figure

    points = held["path"]
    if not points:
        raise ValueError("empty")
    lams = [float(point["lam"]) for point in points]
    known = [(lam, float(p["auc"])) for lam, p in zip(lams, points, strict=True) if p["auc"]]
    figure = Figure(figsize=(6.4, 5.0 if known else 3.4), layout="constrained")
    axes = figure.subplots(1 + bool(known), 1, sharex=True, squeeze=False)[:, 0]
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


def _history(held: dict[str, Any]) -> Any:
    """Return the objective and the lower bound of a solution against time."""
    figure, axes = _canvas(held)
    for key, name, mark in (("primal", "objective", "-"), ("dual", "lower bound", "--")):
        known = [step for step in held["history"] if step[key] is not None]
        x, y = [float(s["seconds"]) for s in known], [float(s[key]) for s in known]
        line = axes.plot(x, y, mark, label=name)[0]
        axes.plot([float(held["seconds"])], [float(held[key])], "o", color=line.get_color())
    axes.set(xlabel="seconds (the dots are certified)", ylabel="objective")
    axes.legend()
    return figure


def _interval(held: dict[str, Any]) -> Any:
    """Return the objective of somebody's model beside the lower bound of the optimum."""
    figure, axes = _canvas(held)
    dual, primal = float(held["dual"]), held["primal"]
    axes.barh(["no model has less"], [dual], color="#999999")
    if primal is not None and math.isfinite(float(primal)):
        axes.barh(["this model"], [float(primal)], color="#0072b2")
    axes.set_xlabel("objective")
    return figure
