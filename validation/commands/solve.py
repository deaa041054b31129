"""`aucert solve`."""

from __future__ import annotations

import dataclasses
import math
import time
from pathlib import Path
from typing import Any

import click
import numpy as np

from ...exact.api.solve import solve_request
from ...exact.certificate.solution import Solution
from ...exact.certificate.trivial import TRIVIAL, zero_is_optimal
from ...exact.errors import InputError, WriteError
from ...exact.formulation.request import Request
from ...exact.problem.penalties.registry import penalty_from
from ...exact.proof.partitioned_proof import save_partitions, write_partitioned_proof
from ...exact.proof.proof_file import write_proof
from ...exact.spaces.gram import as_meant
from ...exact.spaces.partitions.partitioned_rows import PartitionedRows
from ...exact.tools.atomic_files import write_atomically
from ...exact.tools.wording import at_least, at_most
from ..files.vectors import OF_STANDARDISED
from ..files.written_files import write_json, write_named_vector, write_vector
from .reading.inputs import Data, data_of
from .reading.model_file import write_model
from .reading.requests import request_of
from .reading.scaled_tables import in_units
from .writing.documents import (
    common_keys,
    objective_in_words,
    order_keys,
    pairs_of,
    print_document,
    scores_of,
)
from .writing.outputs import output_folder
from .writing.progress import solver_progress
from .writing.solved_folder import DATA, MODEL, PROOF, SOLUTION, WEIGHTS, check_ours, checksums


def run_solve(name: str, options: dict[str, Any]) -> None:
    """Solve, print, and write what `--out` asks for."""
    penalty_from(options["lam"], options.get("l1", 0.0))  # before a large file is read
    if options.get("proof") and options["out"] is None:
        raise InputError("--proof needs a folder to write to: give --out")
    if options.get("proof") and options["loss"] != "hinge":
        raise InputError("--proof is for the hinge: leave it out, or --loss")
    if options.get("proof_rows") is not None and not options.get("proof"):
        raise InputError("--proof-rows writes what --proof is checked against: give --proof, too")
    with (
        output_folder(options["out"], check_ours, (PROOF, MODEL, DATA)) as folder,
        output_folder(options.get("proof_rows"), _check_empty, option="--proof-rows") as rows,
    ):
        document = _solved(name, options, folder, rows)
    print_document(document, options["as_json"])


def _check_empty(folder: Path) -> None:
    """Raise where the checker would find files that are not of this proof."""
    if any(folder.iterdir()):
        raise InputError(f"--proof-rows {folder}: this folder is not empty: choose another one")


def _solved(
    name: str, options: dict[str, Any], folder: Path | None, rows: Path | None
) -> dict[str, Any]:
    """Solve, write into `folder` and the proof's rows into `rows`, and return what is printed."""
    start = time.perf_counter()
    data = data_of(name, options)
    if rows is not None and not data.partitioned:
        raise InputError("--proof-rows is for a folder of Parquet files: leave it out")
    request = request_of(options, data)
    engine = data.X.engine if data.partitioned else None
    method = options["method"]
    if data.partitioned and options.get("proof") and method == "auto":
        method = "newton"  # whose dual point is made of bins, as the proof file's is
    with solver_progress(options["as_json"], engine) as show:
        solution = solve_request(
            data.X,
            data.labels,
            request,
            method,
            options["tol"],
            options["max_time"],
            show,
        )
    scores = scores_of(data, request, solution.w)
    seconds = time.perf_counter() - start
    document = common_keys(data, options, request)
    document |= _judged(solution, data, request, options, seconds) | order_keys(data, scores)
    if folder is not None:
        linear = request.kernel == "linear"
        title = ("" if data.scaler is None else OF_STANDARDISED) + (
            "weight" if linear else "coefficient"
        )
        if data.columns is None or not linear:
            write_vector(folder / WEIGHTS, solution.w, title)
        else:
            write_named_vector(folder / WEIGHTS, solution.w, data.columns, title)
        asked = bool(options.get("proof"))
        document["proof"] = _proof(folder / PROOF, data, request, solution, asked)
        if document["proof"] and not (data.partitioned or options.get("no_data")):
            columns = data.for_checker
            write_atomically(folder / DATA, lambda file: np.savez(file, X=data.X, **columns))
        if rows is not None:
            save_partitions(data.X, rows)
        _write_model(folder / MODEL, data, options, solution, scores)
        more = {"history": _history(solution), "files": checksums(folder)}
        write_json(folder / SOLUTION, document | more)
    return document


def _judged(
    solution: Solution, data: Data, request: Request, options: dict[str, Any], seconds: float
) -> dict[str, Any]:
    """Return what the document says of the solution."""
    certificate, zeros = solution.certificate, solution.zeros_proved
    return {
        "method": solution.method,
        "primal": certificate.primal,
        "dual": certificate.dual,
        "gap": certificate.gap,
        "relative_gap": certificate.relative_gap,
        "radius": certificate.radius,
        "rounding": certificate.rounding,
        "zeros_proved": None if zeros is None else int(zeros.sum()),
        "status": str(solution.status),
        "message": _message(solution, request, options["tol"]),
        "n_iter": solution.n_iter,
        "seconds": seconds,
        "statement": _statement(solution, data, request, options),
    }


def _history(solution: Solution) -> list[dict[str, float | None]]:
    """Return what the solver knew on its way, which `aucert plot` draws; it is not certified."""
    return [
        {
            key: value if math.isfinite(value) else None
            for key, value in dataclasses.asdict(step).items()
        }
        for step in solution.history
    ]


def _message(solution: Solution, request: Request, tol: float) -> str:
    """Return the advice of the status, and that the surrogate is trivial where it is."""
    trivial = request.is_partial and zero_is_optimal(request.loss, solution.certificate, tol)
    return solution.status.advice + (f" {TRIVIAL}" if trivial else "")


def _statement(solution: Solution, data: Data, request: Request, options: dict[str, Any]) -> str:
    """Return what was certified, in one sentence, and one more on a matrix that was given."""
    certificate, n_pairs = solution.certificate, pairs_of(data, request).count()
    most, least = at_most(certificate.primal, 12), at_least(certificate.dual, 12)
    meant = f" {as_meant(certificate.objective)}" if request.gives_matrix else ""
    part = f"{request.risk(data.positive)!r} of " if request.is_partial else ""
    return (
        f"The weights have an objective of at most {most} over {part}{n_pairs} pairs, "
        f"and no "
        f"weights have less than {least}." + meant
    ) + (objective_in_words(data, request, options) + in_units(data.scaler))


def _write_model(
    path: Path, data: Data, options: dict[str, Any], solution: Solution, scores: Any
) -> None:
    """Write the model file, or say why there is none: a loss or a kernel of one's own has none."""
    try:
        write_model(path, data, options, solution, scores)
    except WriteError:
        raise
    except InputError as problem:
        click.echo(f"aucert: no model file: {problem}", err=True)


def _proof(path: Path, data: Data, request: Request, solution: Solution, asked: bool) -> str | None:
    """Write the proof file and return its name, or None where there is none for the problem.

    That of a folder takes two more passes over the rows: it is written if it is asked for.
    """
    if isinstance(data.X, PartitionedRows):
        if asked:
            write_partitioned_proof(path, data.X, request.lam, solution)
        return path.name if asked else None
    if not (request.takes_proof and isinstance(data.X, np.ndarray)):
        return None
    if data.scaler is not None:
        click.echo("aucert: no proof file: the file's columns are not those solved for", err=True)
        return None
    try:
        write_proof(path, data.X, **data.labelled, lam=request.lam, solution=solution)
    except WriteError:
        raise
    except InputError as problem:  # the solution itself stands, and is written and shown
        click.echo(f"aucert: no proof file: {problem}", err=True)
        return None
    return path.name
