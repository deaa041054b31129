"""`aucert path`: certified solutions at many lam, and the AUC of held-out rows."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable
from pathlib import Path as FilePath
from typing import Any

import click

from ...exact.api.path import path_of
from ...exact.api.path_selection import CVPath, cross_validated_path
from ...exact.api.paths.points import Path, PathPoint
from ...exact.certificate.solution import Step
from ...exact.errors import InputError
from ...exact.formulation.lam_grid import check_lams
from ...exact.formulation.penalty_grid import unit_penalty
from ...exact.formulation.request import Request
from ...exact.tools.checks import check_count, check_tolerance
from ...exact.tools.interrupts import finish
from ...exact.tools.wording import at_least, at_most
from ..files.written_files import write_atomically, write_json
from .reading.inputs import Data, data_of
from .reading.penalties import penalty_in_words, penalty_options
from .reading.requests import request_of
from .reading.scaled_tables import in_units
from .writing.documents import common_keys
from .writing.outputs import output_folder
from .writing.progress import solver_progress

PATH, WEIGHTS = "path.json", "path-weights.csv"


def run_path(name: str, options: dict[str, Any]) -> None:
    """Follow the path, print it, and write what `--out` asks for.

    Raises
    ------
    InputError
        For bad input: exit status 2.
    """
    _check(options)
    with output_folder(options["out"], instead=(WEIGHTS,)) as folder:
        data = data_of(name, options)
        request = request_of(options | {"lam": None}, data)
        found, folds = _followed(data, request, options)
        document = _document(data, request, options, found, folds)
        if folder is not None:
            write_json(folder / PATH, document)
            if request.kernel == "linear":
                _write_weights(folder / WEIGHTS, data, found)
    finish()
    if options["as_json"]:
        click.echo(json.dumps(document, allow_nan=False, indent=2))
    else:
        click.echo(_table(document))


def _check(options: dict[str, Any]) -> None:
    """Refuse what can be refused before a large file is read."""
    if options["lam"]:
        check_lams(options["lam"])
    check_count("n_lams", options["n_lams"])
    check_tolerance(options["tol"], options["max_time"])
    unit_penalty(options["l1_ratio"])
    if options["cv"] is None:
        return
    check_count("cv", options["cv"], 2)
    if options["pairs"] != "all" or options["fpr_max"] != 1 or options["tpr_min"] != 0:
        raise InputError("--cv is for all pairs: leave --pairs, --fpr-max and --tpr-min out")


def _followed(data: Data, request: Request, options: dict[str, Any]) -> tuple[Path, CVPath | None]:
    """Return the path over all rows, and what the folds give at the same lam."""
    engine = data.X.engine if data.partitioned else None
    limits = {key: options[key] for key in ("method", "tol", "max_time")}
    lams = options["lam"] or None
    with solver_progress(options["as_json"], engine) as show:
        told = _telling(show)
        found = path_of(
            data.X, data.labels, request, lams, options["n_lams"], callback=told, **limits
        )
        if options["cv"] is None:
            return found, None
        penalty = penalty_options(options, data.columns, int(data.X.shape[1]))
        del penalty["l1"]  # it is a share here
        words = {key: options[key] for key in ("gamma", "structure", "cv", "seed", "l1_ratio")}
        rows: dict[str, Any] = {"y": None} if data.partitioned else data.labelled
        folds = cross_validated_path(
            data.X,
            lams=found.lams,
            kernel=request.kernel,
            loss=request.loss,
            **(rows | words | penalty | limits),
        )
    return found, folds


def _telling(show: Callable[[Step], None]) -> Callable[[PathPoint], None]:
    """Return a callback of a path that shows how many lam are done."""
    done: list[PathPoint] = []

    def told(point: PathPoint) -> None:
        done.append(point)
        one = point.certificate
        show(Step(len(done), point.solution.seconds, one.primal, one.dual))

    return told


def _document(
    data: Data, request: Request, options: dict[str, Any], found: Path, folds: CVPath | None
) -> dict[str, Any]:
    """Return what is printed and written."""
    document = common_keys(data, options, request)
    for key in ("lam", "penalty"):  # each point has its own
        del document[key]
    document |= found.to_dict()
    if folds is not None:
        document["cv"] = _of_folds(folds)
    form = penalty_in_words(request.penalty, data.columns)
    if request.structure != 0:
        form = f"1/2 (|f|^2 + {request.structure:g} times the spread of f within each class)"
    document["statement"] = (
        "At each lam the weights have the objective that is shown, and no weights have less than "
        f"its lower bound. The objective is lam ({form}) + mean {request.loss.name} loss over "
        f"{document['n_pairs']} pairs.{in_units(data.scaler)}"
    )
    return document


def _of_folds(folds: CVPath) -> dict[str, Any]:
    """Return what the folds give, as JSON holds it."""
    gaps = [[None if math.isnan(gap) else gap for gap in row] for row in folds.fold_gap.tolist()]
    arrays = ("lams", "mean_auc", "standard_error", "fold_auc", "fold_low", "fold_high", "possible")
    return {
        **{key: getattr(folds, key).tolist() for key in arrays},
        "fold_gap": gaps,
        "best": folds.lam_of("best"),
        "one_se": folds.lam_of("one-se"),
        "complete": folds.complete,
    }


def _write_weights(path: FilePath, data: Data, found: Path) -> None:
    """Write one line a lam: lam, and the weights with the names of their features above them."""
    names = data.columns or [str(k) for k in range(found.weights.shape[1])]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["lam", *names])
    for lam, w in zip(found.lams.tolist(), found.weights.tolist(), strict=True):
        writer.writerow([repr(lam), *map(repr, w)])
    write_atomically(path, lambda file: file.write(text.getvalue().encode()))


def _table(document: dict[str, Any]) -> str:
    """Return a line for each lam, and what is said of all of them."""
    folds, share = document.get("cv"), "C" if document["n_pos"] is None else "AUC"
    scaled = document["parameters"]["standardise"]
    title = f"{'lam':>10} {'objective':>14} {'lower bound':>14} {'relative gap':>12} {share:>8}"
    lines = [title + (f" {'held out':>8} {'+-':>7}" if folds else "") + "  status"]
    for k, point in enumerate(document["path"]):
        most, least = at_most(point["primal"], 9), at_least(point["dual"], 9)
        gap = point["relative_gap"]
        line = f"{point['lam']:10.3g} {most:>14} {least:>14} "
        line += f"{'undefined':>12}" if gap is None else f"{at_most(gap, 2):>12}"
        line += f" {point['auc']:8.5f}"
        if folds:
            known = k < len(folds["mean_auc"])
            pair = ("mean_auc", "standard_error")
            mean, error = (folds[key][k] if known else math.nan for key in pair)
            line += f" {mean:8.5f} {error:7.5f}"
        lines.append(f"{line}  {point['status']}")
    lines.append(document["statement"])
    if not document["complete"]:
        lines.append("The time ran out: smaller lam are missing.")
    if folds:
        count = sum(folds["possible"])
        lines.append(
            f"Of the held-out rows, the best lam is {folds['best']:.6g}, and within one standard "
            f"error of it {folds['one_se']:.6g}; by the proved ranges {count} of "
            f"{len(folds['lams'])} lam may be the best of the exact optima."
            + (" The folds share the means and scales of all rows." if scaled else "")
        )
    return "\n".join(lines)
