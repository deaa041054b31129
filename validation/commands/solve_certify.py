"""What `solve` and `certify` do once their options are read."""

from __future__ import annotations

import dataclasses
import math
import time
from pathlib import Path
from typing import Any

import click
import numpy as np
from click.core import ParameterSource

from ... import __version__
from ...exact.api.certify import certify
from ...exact.api.solve import solve
from ...exact.certificate.certificate import Certificate
from ...exact.certificate.solution import Solution
from ...exact.errors import InputError, WriteError
from ...exact.formulation.formulation import true_space
from ...exact.problem.all_pairs import AllPairs, PairList
from ...exact.problem.auc import auc
from ...exact.problem.problem import Ridge
from ...exact.problem.scalings import convention_loss, convention_name
from ...exact.proof.proof_file import write_proof
from ...exact.spaces.gram import AS_STORED
from ...exact.spaces.kernels import get_kernel
from ...exact.tools.checks import check_number
from ...exact.tools.wording import at_least, at_most
from ..files.data_files import read_vector, write_json, write_vector
from .exact_mode import check_exact_options, exact_interval
from .inputs import Data, open_data, read_pairs
from .outputs import output_folder
from .progress import solver_progress
from .solved_folder import PROOF, SOLUTION, WEIGHTS, check_ours, checksums

SCHEMA_VERSION = 1


def run_solve(name: str, options: dict[str, Any]) -> None:
    """Solve, print, and write what `--out` asks for."""
    Ridge(options["lam"])  # before a large file is read
    with output_folder(options["out"], check_ours, (PROOF,)) as folder:
        document = _solved(name, options, folder)
    _print(document, options["as_json"])


def _solved(name: str, options: dict[str, Any], folder: Path | None) -> dict[str, Any]:
    """Solve, write into `folder`, and return what is printed."""
    start = time.perf_counter()
    data = open_data(name, options["target"], options["positive"], options["seed"])
    pairs = read_pairs(options["pairs"], data, options["seed"])
    with solver_progress(quiet=options["as_json"]) as show:
        solution = solve(
            data.X,
            data.y,
            options["lam"],
            positive=1,
            method=options["method"],
            callback=show,
            **_shape(options, pairs),
        )
    certificate = solution.certificate
    scores = _scores(data, options, solution.w)
    document = _common(data, pairs, options, options["lam"]) | {
        "method": solution.method,
        "primal": certificate.primal,
        "dual": certificate.dual,
        "gap": certificate.gap,
        "relative_gap": certificate.relative_gap,
        "radius": certificate.radius,
        "rounding": certificate.rounding,
        "auc": auc(scores, data.positive),
        "status": str(solution.status),
        "message": solution.status.advice,
        "n_iter": solution.n_iter,
        "seconds": time.perf_counter() - start,
        "statement": _statement(certificate, pairs.on(data.positive).count(), options["kernel"]),
    }
    if folder is not None:
        title = "weight" if options["kernel"] == "linear" else "coefficient"
        write_vector(folder / WEIGHTS, solution.w, title)
        document["proof"] = _proof(folder / PROOF, data, options, solution)
        write_json(folder / SOLUTION, document | {"files": checksums(folder)})
    return document


def _statement(certificate: Certificate, n_pairs: int, kernel: str) -> str:
    """Return what was certified, in one sentence, and one more on a matrix that was given."""
    primal, rounding = certificate.primal, certificate.rounding
    near = f", up to {at_most(rounding, 2)}," if rounding > 5e-13 * primal else ""
    least = at_least(max(certificate.dual - rounding, 0.0), 12)
    return (
        f"The weights have objective {primal:.12g}{near} over {n_pairs} pairs, and no weights have "
        f"less than {least}." + (f" {AS_STORED}" if kernel == "precomputed" else "")
    )


def _proof(path: Path, data: Data, options: dict[str, Any], solution: Solution) -> str | None:
    """Write the proof file and return its name, or None where there is none for the problem."""
    plain = options["kernel"] == "linear" and options["structure"] == 0
    if not plain or options["loss"] != "hinge" or options["pairs"] != "all":
        return None
    if not isinstance(data.X, np.ndarray):
        return None
    try:
        write_proof(path, data.X, data.y, options["lam"], solution, positive=1)
    except WriteError:
        raise
    except InputError as problem:  # the solution itself stands, and is written and shown
        click.echo(f"aucert: no proof file: {problem}", err=True)
        return None
    return path.name


def run_certify(name: str, options: dict[str, Any]) -> None:
    """Certify weights or scores, and print."""
    options = options | {"loss": _asked_loss(options)}
    _check_certify_options(options)
    if options["exact"]:
        check_exact_options(options)
    start = time.perf_counter()
    data = open_data(name, options["target"], options["positive"], options["seed"])
    pairs = read_pairs(options["pairs"], data, options["seed"])
    w = scores = None
    if options["weights"] is not None:
        w = _read_weights(options, data)
    else:
        scores = read_vector(options["scores"], data.y.size, "scores")
    audit = certify(
        data.X,
        data.y,
        options["lam"],
        w=w,
        scores=scores,
        norm2=options["norm2"],
        rival=options["convention"],
        C=options["C"],
        positive=1,
        **_shape(options, pairs),
    )
    values = scores if w is None else _scores(data, options, w)
    assert values is not None
    options["loss"] = audit.loss
    share = auc(values, data.positive)
    document = _common(data, pairs, options, audit.lam) | {
        "method": "auto",
        **{key: value for key, value in dataclasses.asdict(audit).items() if key != "statement"},
        "auc": share,
        "status": str(audit.status),
        "message": audit.statement if share >= 0.5 else _turned(share, data),
        "seconds": time.perf_counter() - start,
        "statement": audit.statement,
    }
    if options["exact"]:
        assert w is not None
        document["exact"] = exact_interval(data, w, audit, options, pairs)
        document["seconds"] = time.perf_counter() - start
    _print(document, options["as_json"])


def _turned(share: float, data: Data) -> str:
    """Return the hint for an AUC below one half, which most often is a mixed-up class."""
    do = "change their sign" if data.label is None else "name that class with --positive"
    return f"An AUC of {share:.3g} ranks the other class higher: if that is what was meant, {do}."


def _shape(options: dict[str, Any], pairs: AllPairs | PairList) -> dict[str, Any]:
    """Return the keywords that `solve` and `certify` share."""
    if options["gamma"] is not None and options["kernel"] in ("linear", "precomputed"):
        raise InputError(f"--gamma is not for the {options['kernel']} kernel")
    names = ("kernel", "gamma", "structure", "loss", "tol", "max_time")
    return {name: options[name] for name in names} | {"pairs": pairs}


def _scores(data: Data, options: dict[str, Any], w: np.ndarray) -> np.ndarray:
    """Return the scores of weights, or of kernel coefficients: (n,)."""
    if options["kernel"] == "linear":
        return np.asarray(data.X @ w[: data.X.shape[1]])
    if options["kernel"] == "precomputed":
        return np.asarray(data.X @ w)
    kernel = get_kernel(options["kernel"], options["gamma"], int(data.X.shape[1]))
    return true_space(kernel, data.X).scores(w)


def _read_weights(options: dict[str, Any], data: Data) -> np.ndarray:
    """Return the weights of `--weights`, of a size that fits."""
    w = read_vector(options["weights"], what="weights")
    n, d = data.X.shape
    if options["kernel"] == "linear" and w.size not in (d, d + 1):
        raise InputError(
            f"{options['weights']}: {w.size} weights, but the data have {d} features: "
            "give one weight a feature, or one more as intercept"
        )
    if options["kernel"] != "linear" and w.size != n:
        raise InputError(
            f"{options['weights']}: {w.size} weights, but the data have {n} rows: "
            "a kernel machine has one coefficient a row"
        )
    return w


def _check_certify_options(options: dict[str, Any]) -> None:
    if (options["weights"] is None) == (options["scores"] is None):
        raise InputError("give either --weights FILE or --scores FILE")
    if options["norm2"] is not None and options["scores"] is None:
        raise InputError("--norm2 goes with --scores")
    if options["lam"] is not None:
        if options["convention"] is not None or options["C"] is not None:
            raise InputError("give either --lam, or --from with --C, not both")
        Ridge(options["lam"])
        return
    if options["convention"] is None or options["C"] is None:
        raise InputError("give --lam, or --from RIVAL with --C")
    check_number("C", options["C"])
    options["convention"] = convention_name(options["convention"])
    convention_loss(options["convention"], options["loss"])


def _asked_loss(options: dict[str, Any]) -> str | None:
    """Return `--loss`, or None where it was left out and a rival sets it."""
    context = click.get_current_context(silent=True)
    source = None if context is None else context.get_parameter_source("loss")
    left_out = source in (None, ParameterSource.DEFAULT)
    return None if left_out and options["convention"] is not None else options["loss"]


def _common(
    data: Data, pairs: AllPairs | PairList, options: dict[str, Any], lam: float
) -> dict[str, Any]:
    """Return the keys that every result carries."""
    n_pos = int(data.positive.sum())
    skipped = ("as_json", "out")
    return {
        "schema_version": SCHEMA_VERSION,
        "version": __version__,
        "seed": options["seed"],
        "parameters": {"data": data.name}
        | {key: value for key, value in options.items() if key not in skipped},
        "data_sha256": data.sha256,
        "n": int(data.y.size),
        "positive": data.label,
        "n_pos": n_pos,
        "n_neg": int(data.y.size) - n_pos,
        "n_pairs": pairs.on(data.positive).count(),
        "lam": lam,
        "loss": options["loss"],
        "pairs": options["pairs"],
        "kernel": options["kernel"],
    }


def _print(document: dict[str, Any], as_json: bool) -> None:
    if as_json:
        import json

        click.echo(json.dumps(_finite(document), allow_nan=False, indent=2, default=_number))
        return
    shown = (
        "n positive n_pos n_neg n_pairs lam loss pairs method primal dual gap relative_gap radius "
        "rounding residual rival_primal rival_gap n_right n_wrong auc status seconds"
    ).split()
    for key in shown:
        value = document.get(key)
        if value is None and key != "relative_gap":
            continue
        text = f"{value:.12g}" if isinstance(value, float) else str(value)
        click.echo(f"{key:13} {'undefined' if value is None else text}")
    for key, value in document.get("exact", {}).items():
        click.echo(f"{'exact ' + key:13} {value}")
    click.echo(document["statement"])
    if document["message"] != document["statement"]:
        click.echo(document["message"])


def _finite(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document with null for numbers that JSON cannot hold."""
    return {
        key: None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in document.items()
    }


def _number(value: object) -> object:
    """Return numpy numbers as Python's; anything else is a defect."""
    if isinstance(value, np.generic):
        plain = value.item()
        if isinstance(plain, float) and not math.isfinite(plain):
            return None
        return plain
    raise TypeError(f"cannot be written as JSON: {type(value)}")
