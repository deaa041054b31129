"""`aucert solve`, `aucert path` with held-out AUCs, and `aucert certify`, in fractions too."""

import itertools
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...exact import SQUARE, ExactCertificate, InputError, OrderedPairs, PathPoint, Ridge, Solution
from ...exact.api.certify import INTERCEPTS, certify_request, in_column_order
from ...exact.api.path import Path as FoundPath
from ...exact.api.path import path_of
from ...exact.api.solve import solve_request
from ...exact.certificate.certificate import TRIVIAL, zero_is_optimal
from ...exact.certificate.exact_certificate import check_exact
from ...exact.certificate.solution import Status, Step
from ...exact.errors import WriteError
from ...exact.formulation.request import Request, in_units_of
from ...exact.problem.problem import FEWEST, ROWS_PER_COORDINATE, linear_problem
from ...exact.problem.scalings import convention_loss, convention_name
from ...exact.proof.write import save_partitions, write_partitioned_proof, write_proof
from ...exact.spaces.gram import as_meant
from ...exact.tools.rounding import at_least, at_most
from ..cli import Options
from ..files import vectors
from ..files.tables import may_count_from
from ..files.written import csv_text, write_atomically, write_json, write_text, write_vector
from ..store import file_sha256, plain
from . import endings, inputs
from .inputs import Data
from .predict import SavedModel, write_model

WEIGHTS, PROOF, SOLUTION = "weights.csv", "proof.npz", "solution.json"
MODEL, DATA = "model.npz", "data.npz"
OURS = (WEIGHTS, MODEL, PROOF, DATA)
PATH, PATH_WEIGHTS = "path.json", "path-weights.csv"


def run_solve(name: str, **given: Any) -> None:
    options = Options(**given)

    def check_empty(folder: Path) -> None:
        if any(folder.iterdir()):  # the checker would find files that are not of this proof
            raise InputError(f"--proof-rows {folder}: this folder is not empty: choose another one")

    with (
        endings.result_first(options.as_json) as found,
        endings.output_folder(options.out, _check_ours, (PROOF, MODEL, DATA)) as folder,
        endings.output_folder(options.proof_rows, check_empty, option="--proof-rows") as rows,
    ):
        start = time.perf_counter()
        data = inputs.open_data(name, options)
        request, method = inputs.request_of(options, data), options.method
        if data.partitioned and options.proof and method == "auto":
            method = "descent"  # whose dual point is made of bins, as the proof file's is
        with _progress(data, request, options) as say, endings.best_point_kept():

            def show(step: Step) -> None:
                say(f"step {step.n_iter}  objective {step.primal:.6g}  gap {step.gap:.2g}")

            limits = inputs.limits_of(options, method=method, callback=show)
            solution = solve_request(data.X, data.labels, request, limits)
        if data.partitioned and options.proof and solution.status is Status.STALLED:
            less = "its proof is of binned scores, which limits the gap"
            endings.note(f"{name}: {less}: leave --proof out for a smaller one, or give one file")
        scores = inputs.scores_of(data, request, solution.w)
        seconds = time.perf_counter() - start
        document = inputs.common_keys(data, options, request)
        document |= _judged(solution, data, request, options, document["n_pairs"])
        document |= {"seconds": seconds} | inputs.order_keys(data, scores)
        document = plain(document)
        found.append((document, inputs.text_of(document)))
        if folder is not None:
            title = "weight" if request.is_linear else "coefficient"
            title = title if data.scaler is None else vectors.OF_STANDARDISED + title
            names = data.columns if request.is_linear else None
            write_vector(folder / WEIGHTS, solution.w, title, names)
            if rows is not None:
                save_partitions(data.X, rows)
            proof = folder / PROOF
            if data.partitioned and options.proof:  # it takes two more passes over the rows
                write_partitioned_proof(proof, data.X, request.lam, solution)
            elif request.takes_proof and isinstance(data.X, np.ndarray):
                with _or_said("proof"):
                    if data.scaler is not None:
                        raise InputError(
                            "it would hold standardised columns, not those of the data"
                        )
                    write_proof(proof, data.X, **data.labelled, lam=request.lam, solution=solution)
            document["proof"] = PROOF if proof.exists() else None
            if proof.exists() and not (data.partitioned or options.no_data):
                # Each label is the file's, also where several of them are the other class.
                ordered = {k: x for k, x in data.labelled.items() if isinstance(x, np.ndarray)}
                columns: Any = ordered if data.names is None else {"y": data.names.written()}
                write_atomically(folder / DATA, lambda file: np.savez(file, X=data.X, **columns))
            with _or_said("model"):  # a loss or a kernel of one's own has none
                write_model(folder / MODEL, data, options, solution, scores)
            # What the solver knew on its way, which `aucert plot` draws, is not certified.
            history = [plain(asdict(step)) for step in solution.history]
            files = {n: file_sha256(str(folder / n)) for n in OURS if (folder / n).exists()}
            write_json(folder / SOLUTION, document | {"history": history, "files": files})
    if solution.status is Status.INTERRUPTED:
        endings.interrupted()


def _check_ours(folder: Path) -> None:
    """Raise if a file that would be replaced was not written by `solve`, or has changed since."""
    there = [name for name in (*OURS, SOLUTION) if (folder / name).exists()]
    if not there:
        return
    held, do = endings.read_document(folder / SOLUTION), "choose another folder, or move it away"
    ours = {"schema_version", "version", "primal", "dual", "data_sha256", "files"}
    if held is None or not ours <= held.keys() or not isinstance(held["files"], dict):
        raise InputError(f"--out {folder}: there is a {there[0]} that aucert has not written: {do}")
    for name in there[:-1]:  # the last one is that document
        path = folder / name
        if not (path.is_file() and held["files"].get(name) == file_sha256(str(path))):
            changed = f"{name} is not the one that aucert has written there"
            raise InputError(f"--out {folder}: {changed}: {do}")


def _progress(data: Data, request: Request, options: Options) -> Any:
    (n, d), plain = data.X.shape, request.is_linear and data.member is None
    descends = options.method in ("auto", "descent") and isinstance(request.penalty, Ridge)
    many = n >= max(FEWEST, 4 * ROWS_PER_COORDINATE * d)
    sampled = many and plain and descends and request.loss != SQUARE
    first = f"solving a sample of the {n} rows first" if sampled else f"first step over {n} rows"
    return endings.progress(first, options.as_json, data.X.engine if data.partitioned else None)


@contextmanager
def _or_said(what: str) -> Iterator[None]:
    """Within, a refusal of the file is said, and no error: the solution itself stands."""
    try:
        yield
    except InputError as error:
        if isinstance(error, WriteError):
            raise
        endings.note(f"no {what} file: {error}")


def _judged(
    solution: Solution, data: Data, request: Request, options: Options, n_pairs: int
) -> dict[str, Any]:
    certificate, zeros = solution.certificate, solution.zeros_proved
    trivial = request.is_partial and zero_is_optimal(request.loss, certificate, options.tol)
    part = f"{request.risk(data.positive)!r} of " if request.is_partial else ""
    most, least = at_most(certificate.primal, 12), at_least(certificate.dual, 12)
    statement = f"The weights have an objective of at most {most} over {part}{n_pairs} pairs, and "
    statement += f"no weights have less than {least}.{f' {TRIVIAL}' if trivial else ''}"
    statement += f" {as_meant(certificate.objective)}" if request.gives_matrix else ""
    statement += inputs.objective_in_words(data, request, options) + data.in_units
    keys = ("primal", "dual", "gap", "relative_gap", "radius", "rounding")
    found = {"method": solution.method} | {key: getattr(certificate, key) for key in keys}
    found["zeros_proved"] = None if zeros is None else int(zeros.sum())
    found |= {"status": str(solution.status), "message": solution.message}
    return found | {"n_iter": solution.n_iter, "statement": statement}


def run_path(name: str, **given: Any) -> None:
    options = Options(**given)

    def check_files(folder: Path) -> None:
        for name in (PATH, PATH_WEIGHTS):
            if (folder / name).is_dir():
                raise InputError(f"--out {folder}: its {name} is a folder: choose another one")

    kept = endings.output_folder(options.out, check_files, (PATH_WEIGHTS,))
    with endings.result_first(options.as_json) as done, kept as folder:
        data = inputs.open_data(name, options)
        request = inputs.request_of(options, data)
        count, numbers, folds = len(options.lams) or options.n_lams, itertools.count(1), None
        with _progress(data, request, options) as say:

            def show(point: PathPoint) -> None:
                most, gap = point.certificate.primal, point.certificate.gap
                say(f"{next(numbers)} of {count} lam done  objective {most:.6g}  gap {gap:.2g}")

            lams, limits = options.lams or None, inputs.limits_of(options, callback=show)
            with endings.best_point_kept():
                found = path_of(data.X, data.labels, request, lams, options.n_lams, limits)
            if options.cv is not None and not found.interrupted:
                say(f"cross-validation in {options.cv} folds")
                folds = _folds(data, request, options, found.lams)
        document = _path_document(data, request, options, found, folds)
        done.append((document, _table(document, found.interrupted)))
        if folder is not None:
            write_json(folder / PATH, document)
            if request.is_linear:
                columns = data.columns or map(str, range(found.weights.shape[1]))
                lines = np.column_stack([found.lams, found.weights]).tolist()
                write_text(folder / PATH_WEIGHTS, csv_text([["lam", *columns], *lines]))
    if found.interrupted:
        endings.interrupted()


def _folds(data: Data, request: Request, options: Options, lams: np.ndarray) -> Any:
    from ...exact.api.cross_validation import cross_validated_path  # loads scikit-learn

    keys = ("gamma", "structure", "cv", "seed", "l1_ratio", "method", "tol", "max_time")
    asked = {key: getattr(options, key) for key in keys} | inputs.penalty_options(options, data)
    del asked["l1"]  # it is a share here
    rows: dict[str, Any] = {"y": None} if data.partitioned else data.labelled
    asked |= {"kernel": request.kernel, "loss": request.loss, "lams": lams}
    return cross_validated_path(data.X, **rows, **asked)


def _path_document(
    data: Data, request: Request, options: Options, found: FoundPath, folds: Any
) -> dict[str, Any]:
    document = inputs.common_keys(data, options, request)
    for key in ("lam", "penalty"):  # each point has its own
        del document[key]
    document |= found.to_dict()
    if folds is not None:
        keys = "lams mean_auc standard_error fold_auc fold_low fold_high possible fold_gap"
        best, one_se = map(folds.lam_of, ("best", "one-se"))
        document["cv"] = plain({key: getattr(folds, key) for key in keys.split()})
        document["cv"] |= {"best": best, "one_se": one_se, "complete": folds.complete}
    form = " with ".join(filter(None, inputs.penalty_in_words(request, data.columns)))
    document["statement"] = (
        "At each lam the weights have the objective that is shown, and no weights have less than "
        f"its lower bound. The objective is lam ({form}) + mean {request.loss.name} loss over "
        f"{document['n_pairs']} pairs.{data.in_units}"
    )
    return document


def _table(document: dict[str, Any], interrupted: bool) -> str:
    """Return a line for each lam, and what is said of all of them."""
    folds, share = document.get("cv"), "C" if document["n_pos"] is None else "AUC"
    title = f"{'lam':>10} {'objective':>14} {'lower bound':>14} {'relative gap':>12} {share:>8}"
    lines = [title + (f" {'held out':>8} {'+-':>7}" if folds else "") + "  status"]
    known = (folds["mean_auc"], folds["standard_error"]) if folds else ([], [])
    rows: Any = itertools.zip_longest(document["path"], *known, fillvalue=math.nan)
    for point, mean, error in rows:
        most, least = at_most(point["primal"], 9), at_least(point["dual"], 9)
        gap = "undefined" if point["relative_gap"] is None else at_most(point["relative_gap"], 2)
        line = f"{point['lam']:10.3g} {most:>14} {least:>14} {gap:>12} {point['auc']:8.5f}"
        held_out = f" {mean:8.5f} {error:7.5f}" if folds else ""
        lines.append(f"{line}{held_out}  {point['status']}")
    lines.append(document["statement"])
    if not document["complete"]:
        why = "You stopped it" if interrupted else "The time ran out"
        lines.append(f"{why}: smaller lam are missing.")
    if folds:
        last = f"Of the held-out rows, the best lam is {folds['best']:.6g}, and within one "
        last += f"standard error of it {folds['one_se']:.6g}; by the proved ranges "
        last += f"{sum(folds['possible'])} of {len(folds['lams'])} lam may be the best of the exact"
        scaled = document["parameters"]["standardise"]
        shared = " The folds share the means and scales of all rows." if scaled else ""
        lines.append(f"{last} optima.{shared}")
    return "\n".join(lines)


def run_certify(name: str, **given: Any) -> None:
    model, options = _checked(Options(**given))
    start = time.perf_counter()
    data = inputs.open_data(name, options, model)
    request, rival = inputs.request_of(options, data), None
    if options.convention is not None and options.C is not None:
        rival, request = in_units_of(options.convention, options.C, data.labels, request, data.X)
    w = scores = None
    if model is not None:
        w = model.weights(data.X)
    elif options.weights is not None:
        w = _read_weights(options, data)
    else:
        scores = vectors.read_scores(str(options.scores), data.y.size, inputs.SAID[options.header])
    limits = inputs.limits_of(options)
    audit = certify_request(data.X, data.labels, request, limits, w, scores, options.norm2, rival)
    order = inputs.order_keys(data, scores if w is None else inputs.scores_of(data, request, w))
    statement = audit.statement + inputs.objective_in_words(data, request, options) + data.in_units
    document = inputs.common_keys(data, options, request) | {"method": "auto"}
    document |= asdict(audit) | order | {"status": str(audit.status), "statement": statement}
    document["message"] = _turned(order, data) or statement
    if options.exact:
        assert w is not None and not isinstance(request.pairs, OrderedPairs)
        exact = linear_problem(data.X, data.y, request.lam, request.loss, request.pairs, positive=1)
        check_exact(exact)
        # The dual point is that of the solved problem, which is solved for it once more.
        limits = limits.after(time.perf_counter() - start)
        found = solve_request(data.X, data.y, request, limits)
        fractions = ExactCertificate.of(exact, w[: exact.space.dim], found.witness)
        document["exact"] = fractions.in_digits()  # rounded outward
    document = plain(document | {"seconds": time.perf_counter() - start})
    endings.say(document, inputs.text_of(document), options.as_json)


def _turned(order: dict[str, Any], data: Data) -> str:
    """Return the hint for an AUC below one half, which most often is a mixed-up class."""
    what, which, do = "A concordance", "lower rows", "change the sign of the scores"
    if data.has_classes:
        what, which = "An AUC", "other class"
        do = "change their sign" if data.label is None else "name that class with --positive"
    share = order["auc" if data.has_classes else "concordance"]
    hint = f"{what} of {share:.3g} ranks the {which} higher: if that is what was meant, {do}."
    return "" if share >= 0.5 else hint


def _read_weights(options: Options, data: Data) -> np.ndarray:
    """Return the weights of `--weights`, of a size that fits."""
    path, (n, d), linear = str(options.weights), data.X.shape, options.kernel == "linear"
    model = vectors.read_model_of_another(path, d) if linear else None
    if model is not None:
        return model.w * _sign(path, model, data)
    sizes = (d, d + 1) if linear else (n,)
    found = vectors.read_vector(path, sizes, header=inputs.SAID[options.header])
    w, names, columns = found.values, found.names, data.columns
    if list(found.title) == ["0"] and w.size + 1 in sizes:
        header = "its first line, 0, is read as a header: write 0.0 if it is a weight"
        endings.note(f"{path}: {header}")
    if data.scaler is None and found.of_standardised:
        do = "add --standardise for the same rows, or give the model file next to them with --model"
        raise InputError(f"{path}: these weights are of standardised columns: {do}")
    if names is not None and linear:
        if columns is None and w.size == d + 1:  # only its name marks an intercept
            columns = [name for name in names if name.strip().lower() not in INTERCEPTS]
        if columns is not None:
            w = in_column_order(w, names, columns, path)
    if linear and data.assumed and w.size > d:
        raise InputError(may_count_from(data.name, d, w.size))
    if w.size not in sizes:
        held, do = f"{n} rows", "a kernel machine has one coefficient per row"
        if linear:
            held, do = f"{d} features", "give one weight per feature, or one more as intercept"
        raise InputError(f"{path}: {w.size} weights, but the data have {held}: {do}")
    return w


def _sign(path: str, model: vectors.LinearModel, data: Data) -> int:
    """Return -1 where a model scores high what is meant to be low here, else 1."""
    high, low = data.label, data.negative
    if high is None and data.ordered_by is None and not data.partitioned:
        high, low = 1, 0  # built in
    numbers = isinstance(high, int | float) and isinstance(low, int | float | None)
    if data.ordered_by == "time":
        if model.labels is not None:
            raise InputError(f"{path}: this model tells two classes apart, which times do not have")
        return -1 if model.of_times else 1  # a long life is a small risk
    if model.labels is None:
        return -1 if numbers and low is not None and high < low else 1  # type: ignore[operator]
    if data.ordered_by == "qid":
        return 1 if model.labels[0] > model.labels[1] else -1  # the larger grade is above
    for sign, (up, down) in ((1, model.labels), (-1, model.labels[::-1])):
        other = low is None or down == low or {down, low} == {0, -1}
        if numbers and up == high and other:
            return sign
    order = f"the model scores {model.labels[0]:g} above {model.labels[1]:g}"
    do = "name another with --positive, or give plain weights"
    raise InputError(f"{path}: {order}, and the positive label is {high!r}: {do}")


def _checked(options: Options) -> tuple[SavedModel | None, Options]:
    """Return the model, if one is named, and the options with what it, or the convention of a
    rival, says of the problem; what does not go together is refused."""
    model, convention = None, options.convention
    if sum(x is not None for x in (options.weights, options.scores, options.model)) != 1:
        raise InputError("give one of --weights FILE, --scores FILE and --model FILE")
    if options.model is not None:
        for key in ("columns", "drop", "standardise"):
            if getattr(options, key):
                raise InputError(f"--{key} does not go with --model: the model says which columns")
        model = SavedModel(options.model)
        stated = model.asked()
        if convention is not None:
            stated.pop("lam", None)
        elif not stated and options.lam is None:
            lacks = f"a {type(model.last).__name__} does not say which problem is meant"
            raise InputError(f"{options.model}: {lacks}: give --lam")
        # What is given on the command line goes before what the model says.
        options = replace(options, **{k: x for k, x in stated.items() if inputs.left_out(k)})
    if options.lam is not None:
        return model, options
    if convention is None or options.C is None:
        raise InputError("give --lam, or --from RIVAL with --C")
    loss = convention_loss(convention, None if inputs.left_out("loss") else options.loss)
    return model, replace(options, convention=convention_name(convention), loss=loss)
