"""`aucert solve`, and `aucert path`: certified solutions at many lam, and held-out AUCs."""

from __future__ import annotations

import csv
import dataclasses
import hashlib
import io
import json
import math
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from ...exact.api.path import Path as FoundPath
from ...exact.api.path import PathPoint, path_of
from ...exact.api.solve import solve_request
from ...exact.certificate.certificate import TRIVIAL, zero_is_optimal
from ...exact.certificate.solution import Solution, Status, Step
from ...exact.errors import InputError, WriteError
from ...exact.formulation.lam_grid import check_lams, unit_penalty
from ...exact.formulation.request import Options as Limits
from ...exact.formulation.request import Request
from ...exact.losses.registry import SQUARE
from ...exact.problem.penalties import Ridge, penalty_from
from ...exact.problem.subsample import FEWEST, ROWS_PER_COORDINATE
from ...exact.proof.write import save_partitions, write_partitioned_proof, write_proof
from ...exact.spaces.gram import as_meant
from ...exact.tools.checks import check_count, check_tolerance
from ...exact.tools.wording import at_least, at_most
from ..files.parquet_folder import is_parquet_folder
from ..files.vectors import OF_STANDARDISED
from ..files.written import write_atomically, write_json, write_vector
from .documents import (
    common_keys,
    objective_in_words,
    order_keys,
    pairs_of,
    print_document,
    scores_of,
)
from .endings import interrupted, output_folder, result_first, solver_progress
from .inputs import (
    Data,
    Options,
    left_out,
    open_data,
    penalty_in_words,
    penalty_options,
    request_of,
)
from .interrupts import best_point_kept, finish
from .predict import write_model

if TYPE_CHECKING:
    from ...exact.api.cross_validation import CVPath

WEIGHTS, PROOF, SOLUTION = "weights.csv", "proof.npz", "solution.json"
MODEL, DATA = "model.npz", "data.npz"
OURS = (WEIGHTS, MODEL, PROOF, DATA)

PATH, PATH_WEIGHTS = "path.json", "path-weights.csv"


# solve


@dataclass(frozen=True, kw_only=True)
class SolveOptions(Options):
    """Those of `solve`."""

    lam: float = 1.0
    method: str = "auto"
    threshold: str = "equal-error"
    no_data: bool = False
    proof: bool = False
    proof_rows: str | None = None


def run_solve(name: str, **given: Any) -> None:
    """Solve, print, and write what `--out` asks for."""
    options = SolveOptions.of(given)
    penalty_from(options.lam, options.l1)  # before a large file is read
    if options.proof and options.out is None:
        raise InputError("--proof needs a folder to write to: give --out")
    if options.proof and options.loss != "hinge":
        raise InputError("--proof is for the hinge: leave it out, or --loss")
    if options.proof and options.qid is not None and is_parquet_folder(name):
        raise InputError(
            "there are no proof files over partitions for the pairs within queries: leave --proof "
            "out, or give one file"
        )
    if options.proof_rows is not None and not options.proof:
        raise InputError("--proof-rows writes what --proof is checked against: give --proof, too")
    with (
        result_first(lambda document: print_document(document, options.as_json)) as found,
        output_folder(options.out, _check_ours, (PROOF, MODEL, DATA)) as folder,
        output_folder(options.proof_rows, _check_empty, option="--proof-rows") as rows,
    ):
        _solve(name, options, folder, rows, found)
    if found[0]["status"] == Status.INTERRUPTED:
        interrupted()


def _check_empty(folder: Path) -> None:
    """Raise where the checker would find files that are not of this proof."""
    if any(folder.iterdir()):
        raise InputError(f"--proof-rows {folder}: this folder is not empty: choose another one")


def _check_ours(folder: Path) -> None:
    """Raise if a file that would be replaced was not written by `solve`, or has changed since."""
    there = [name for name in (*OURS, SOLUTION) if (folder / name).exists()]
    if not there:
        return
    do = "choose another folder, or move it away"
    try:
        held = json.loads((folder / SOLUTION).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        held = None
    ours = {"schema_version", "version", "primal", "dual", "data_sha256"}
    if not isinstance(held, dict) or not ours <= held.keys():
        raise InputError(f"--out {folder}: there is a {there[0]} that aucert has not written: {do}")
    files = held.get("files")
    if not isinstance(files, dict):  # an early version kept none
        return
    for name in OURS:
        if name in there and files.get(name) != _sha256(folder / name):
            raise InputError(
                f"--out {folder}: {name} is not the one that aucert has written there: {do}"
            )


def _sha256(path: Path) -> str | None:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def _solve(
    name: str, options: SolveOptions, folder: Path | None, rows: Path | None, found: list[Any]
) -> None:
    """Solve, put what is printed into `found`, and write into `folder` and `rows`."""
    start = time.perf_counter()
    data = open_data(name, options)
    if rows is not None and not data.partitioned:
        raise InputError("--proof-rows is for a folder of Parquet files: leave it out")
    request, method = request_of(options, data), options.method
    if data.partitioned and options.proof and method == "auto":
        method = "descent"  # whose dual point is made of bins, as the proof file's is
    limits = {"method": method, "tol": options.tol, "max_time": options.max_time}
    with _progress(data, request, options) as say, best_point_kept():

        def show(step: Step) -> None:
            say(f"step {step.n_iter}  objective {step.primal:.6g}  gap {step.gap:.2g}")

        asked = Limits(**limits, callback=show)
        solution = solve_request(data.X, data.labels, request, asked)
    scores = scores_of(data, request, solution.w)
    seconds = time.perf_counter() - start
    document = common_keys(data, options, request) | _judged(solution, data, request, options)
    document |= {"seconds": seconds} | order_keys(data, scores)
    found.append(document)
    if folder is None:
        return
    linear = request.kernel == "linear"
    title = "weight" if linear else "coefficient"
    title = title if data.scaler is None else OF_STANDARDISED + title
    write_vector(folder / WEIGHTS, solution.w, title, data.columns if linear else None)
    document["proof"] = _proof(folder / PROOF, data, request, solution, options.proof)
    if document["proof"] and not (data.partitioned or options.no_data):
        columns = data.for_checker
        write_atomically(folder / DATA, lambda file: np.savez(file, X=data.X, **columns))
    if rows is not None:
        save_partitions(data.X, rows)
    with _or_said("model"):  # a loss or a kernel of one's own has none
        write_model(folder / MODEL, data, options, solution, scores)
    # What the solver knew on its way, which `aucert plot` draws, is not certified.
    history = [
        {key: x if math.isfinite(x) else None for key, x in dataclasses.asdict(step).items()}
        for step in solution.history
    ]
    files = {path.name: _sha256(path) for n in OURS if (path := folder / n).exists()}
    write_json(folder / SOLUTION, document | {"history": history, "files": files})


def _progress(
    data: Data, request: Request, options: Any
) -> AbstractContextManager[Callable[[str], None]]:
    """Return the progress of a solver, which begins with a sample of many rows."""
    (n, d), plain = data.X.shape, request.kernel == "linear" and data.member is None
    descends = options.method in ("auto", "descent") and isinstance(request.penalty, Ridge)
    many = n >= max(FEWEST, 4 * ROWS_PER_COORDINATE * d)
    sampled = many and plain and descends and request.loss != SQUARE
    first = f"solving a sample of the {n} rows first" if sampled else f"first step over {n} rows"
    return solver_progress(first, options.as_json, data.X.engine if data.partitioned else None)


@contextmanager
def _or_said(what: str) -> Iterator[None]:
    """Within, a refusal of the file is said, and no error: the solution itself stands."""
    try:
        yield
    except WriteError:
        raise
    except InputError as error:
        click.echo(f"aucert: no {what} file: {error}", err=True)


def _judged(solution: Solution, data: Data, request: Request, options: Options) -> dict[str, Any]:
    """Return what the document says of the solution."""
    certificate, zeros = solution.certificate, solution.zeros_proved
    keys = ("primal", "dual", "gap", "relative_gap", "radius", "rounding")
    trivial = request.is_partial and zero_is_optimal(request.loss, certificate, options.tol)
    most, least = at_most(certificate.primal, 12), at_least(certificate.dual, 12)
    part = f"{request.risk(data.positive)!r} of " if request.is_partial else ""
    statement = (
        f"The weights have an objective of at most {most} over {part}"
        f"{pairs_of(data, request).count()} pairs, and no weights have less than {least}."
    )
    statement += f" {TRIVIAL}" if trivial else ""
    statement += f" {as_meant(certificate.objective)}" if request.gives_matrix else ""
    return {
        "method": solution.method,
        **{key: getattr(certificate, key) for key in keys},
        "zeros_proved": None if zeros is None else int(zeros.sum()),
        "status": str(solution.status),
        "message": solution.message,
        "n_iter": solution.n_iter,
        "statement": statement + objective_in_words(data, request, options) + data.in_units,
    }


def _proof(path: Path, data: Data, request: Request, solution: Solution, asked: bool) -> str | None:
    """Write the proof file and return its name, or None where there is none for the problem.

    That of a folder takes two more passes over the rows: it is written if it is asked for.
    """
    if data.partitioned:
        if asked:
            write_partitioned_proof(path, data.X, request.lam, solution)
        return path.name if asked else None
    if not (request.takes_proof and isinstance(data.X, np.ndarray)):
        return None
    with _or_said("proof"):
        if data.scaler is not None:
            raise InputError("it would hold standardised columns, not those of the data")
        write_proof(path, data.X, **data.labelled, lam=request.lam, solution=solution)
        return path.name
    return None


# path


@dataclass(frozen=True, kw_only=True)
class PathOptions(Options):
    """Those of `path`."""

    lams: tuple[float, ...] = ()
    n_lams: int = 20
    cv: int | None = None
    method: str = "auto"
    l1_ratio: float = 0.0

    @property
    def parameters(self) -> dict[str, Any]:
        """What a result says was asked for; many lam are one option."""
        return {"lam" if key == "lams" else key: x for key, x in super().parameters.items()}


def run_path(name: str, **given: Any) -> None:
    """Follow the path, print it, and write what `--out` asks for."""
    options = PathOptions.of(given)
    if options.lams:  # before a large file is read
        check_lams(options.lams)
        if not left_out("n_lams"):
            raise InputError("--lam names the grid: leave --n-lams out")
    check_count("n_lams", options.n_lams)
    check_tolerance(options.tol, options.max_time)
    unit_penalty(options.l1_ratio)
    if options.cv is not None:
        check_count("cv", options.cv, 2)
        if options.pairs != "all" or options.fpr_max != 1 or options.tpr_min != 0:
            raise InputError("--cv is for all pairs: leave --pairs, --fpr-max and --tpr-min out")

    def say(document: dict[str, Any]) -> None:
        finish()
        text = json.dumps(document, allow_nan=False, indent=2) if options.as_json else None
        click.echo(text or _table(document))

    with result_first(say) as done, output_folder(options.out, instead=(PATH_WEIGHTS,)) as folder:
        data = open_data(name, options)
        request = request_of(options, data)
        found, folds = _followed(data, request, options)
        document = _path_document(data, request, options, found, folds)
        done.append(document)
        if folder is not None:
            write_json(folder / PATH, document)
            if request.kernel == "linear":
                _write_path_weights(folder / PATH_WEIGHTS, data, found)
    if found.interrupted:
        interrupted()


def _followed(
    data: Data, request: Request, options: PathOptions
) -> tuple[FoundPath, CVPath | None]:
    """Return the path over all rows, and what the folds give at the same lam."""
    limits: dict[str, Any] = {key: getattr(options, key) for key in ("method", "tol", "max_time")}
    count, done = len(options.lams) or options.n_lams, []
    with _progress(data, request, options) as say:

        def show(point: PathPoint) -> None:
            done.append(point)
            most, gap = point.certificate.primal, point.certificate.gap
            say(f"{len(done)} of {count} lam done  objective {most:.6g}  gap {gap:.2g}")

        lams, asked = options.lams or None, Limits(**limits, callback=show)
        with best_point_kept():
            found = path_of(data.X, data.labels, request, lams, options.n_lams, asked)
        if options.cv is None or found.interrupted:
            return found, None
        say(f"cross-validation in {options.cv} folds")
        penalty = penalty_options(options, data)
        del penalty["l1"]  # it is a share here
        keys = ("gamma", "structure", "cv", "seed", "l1_ratio")
        rows: dict[str, Any] = {"y": None} if data.partitioned else data.labelled
        from ...exact.api.cross_validation import cross_validated_path  # loads scikit-learn

        folds = cross_validated_path(
            data.X,
            lams=found.lams,
            kernel=request.kernel,
            loss=request.loss,
            **(rows | {key: getattr(options, key) for key in keys} | penalty | limits),
        )
    return found, folds


def _path_document(
    data: Data, request: Request, options: PathOptions, found: FoundPath, folds: CVPath | None
) -> dict[str, Any]:
    """Return what is printed and written."""
    document = common_keys(data, options, request)
    for key in ("lam", "penalty"):  # each point has its own
        del document[key]
    document |= found.to_dict()
    if folds is not None:
        gaps = folds.fold_gap.tolist()
        keys = ("lams", "mean_auc", "standard_error", "fold_auc", "fold_low", "fold_high")
        document["cv"] = {key: getattr(folds, key).tolist() for key in (*keys, "possible")} | {
            "fold_gap": [[None if math.isnan(gap) else gap for gap in row] for row in gaps],
            "best": folds.lam_of("best"),
            "one_se": folds.lam_of("one-se"),
            "complete": folds.complete,
        }
    form = penalty_in_words(request.penalty, data.columns)
    if request.structure != 0:
        form = f"1/2 (|f|^2 + {request.structure:g} times the spread of f within each class)"
    document["statement"] = (
        "At each lam the weights have the objective that is shown, and no weights have less than "
        f"its lower bound. The objective is lam ({form}) + mean {request.loss.name} loss over "
        f"{document['n_pairs']} pairs.{data.in_units}"
    )
    return document


def _write_path_weights(path: Path, data: Data, found: FoundPath) -> None:
    """Write one line per lam: lam, and the weights with the names of their features above them."""
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
