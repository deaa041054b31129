"""`aucert solve`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click
import numpy as np

from ...exact.api.solve import solve_request
from ...exact.certificate.certificate import Certificate
from ...exact.certificate.solution import Solution
from ...exact.certificate.trivial import TRIVIAL, zero_is_optimal
from ...exact.errors import InputError, WriteError
from ...exact.formulation.request import Request
from ...exact.problem.penalties import penalty_from
from ...exact.proof.proof_file import write_proof
from ...exact.spaces.gram import AS_STORED
from ...exact.tools.wording import at_least, at_most
from ..files.data_files import write_json, write_vector
from .documents import (
    common_keys,
    objective_in_words,
    order_keys,
    pairs_of,
    print_document,
    scores_of,
)
from .inputs import Data, data_of, request_of
from .outputs import output_folder
from .progress import solver_progress
from .solved_folder import PROOF, SOLUTION, WEIGHTS, check_ours, checksums


def run_solve(name: str, options: dict[str, Any]) -> None:
    """Solve, print, and write what `--out` asks for."""
    penalty_from(options["lam"], options.get("l1", 0.0))  # before a large file is read
    with output_folder(options["out"], check_ours, (PROOF,)) as folder:
        document = _solved(name, options, folder)
    print_document(document, options["as_json"])


def _solved(name: str, options: dict[str, Any], folder: Path | None) -> dict[str, Any]:
    """Solve, write into `folder`, and return what is printed."""
    start = time.perf_counter()
    data = data_of(name, options)
    request = request_of(options, data)
    with solver_progress(quiet=options["as_json"]) as show:
        solution = solve_request(
            data.X,
            data.labels,
            request,
            options["method"],
            options["tol"],
            options["max_time"],
            show,
        )
    certificate = solution.certificate
    scores = scores_of(data, request, solution.w)
    document = (
        common_keys(data, options, request)
        | {
            "method": solution.method,
            "primal": certificate.primal,
            "dual": certificate.dual,
            "gap": certificate.gap,
            "relative_gap": certificate.relative_gap,
            "radius": certificate.radius,
            "rounding": certificate.rounding,
            "status": str(solution.status),
            "message": _message(solution, request, options["tol"]),
            "n_iter": solution.n_iter,
            "seconds": time.perf_counter() - start,
            "statement": _statement(certificate, data, request, options),
        }
        | order_keys(data, scores)
    )
    if folder is not None:
        title = "weight" if request.kernel == "linear" else "coefficient"
        write_vector(folder / WEIGHTS, solution.w, title)
        document["proof"] = _proof(folder / PROOF, data, request, solution)
        write_json(folder / SOLUTION, document | {"files": checksums(folder)})
    return document


def _message(solution: Solution, request: Request, tol: float) -> str:
    """Return the advice of the status, and that the surrogate is trivial where it is."""
    trivial = request.is_partial and zero_is_optimal(request.loss, solution.certificate, tol)
    return solution.status.advice + (f" {TRIVIAL}" if trivial else "")


def _statement(
    certificate: Certificate, data: Data, request: Request, options: dict[str, Any]
) -> str:
    """Return what was certified, in one sentence, and one more on a matrix that was given."""
    primal, rounding = certificate.primal, certificate.rounding
    n_pairs = pairs_of(data, request).count()
    near = f", up to {at_most(rounding, 2)}," if rounding > 5e-13 * primal else ""
    least = at_least(max(certificate.dual - rounding, 0.0), 12)
    part = f"{request.risk(data.positive)!r} of " if request.is_partial else ""
    return (
        f"The weights have objective {primal:.12g}{near} over {part}{n_pairs} pairs, and no "
        f"weights have less than {least}." + (f" {AS_STORED}" if request.gives_matrix else "")
    ) + objective_in_words(data, request, options)


def _proof(path: Path, data: Data, request: Request, solution: Solution) -> str | None:
    """Write the proof file and return its name, or None where there is none for the problem."""
    if not (request.is_linear_hinge and isinstance(data.X, np.ndarray)):
        return None
    try:
        write_proof(path, data.X, data.y, request.lam, solution, positive=1)
    except WriteError:
        raise
    except InputError as problem:  # the solution itself stands, and is written and shown
        click.echo(f"aucert: no proof file: {problem}", err=True)
        return None
    return path.name
