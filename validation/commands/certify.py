"""`aucert certify`, and in fractions what `--exact` adds to it."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace
from typing import Any

import click
import numpy as np

from ...exact.api.certify import certify_request
from ...exact.api.solve import solve_request
from ...exact.certificate.audit import Audit
from ...exact.certificate.exact_certificate import ExactCertificate, check_exact
from ...exact.certificate.solution import LEAST_TIME
from ...exact.errors import InputError
from ...exact.formulation.named_weights import INTERCEPTS, in_column_order
from ...exact.formulation.request import Options as Limits
from ...exact.formulation.request import Request, in_units_of
from ...exact.pairs.ordered_pairs import OrderedPairs
from ...exact.problem.penalties import penalty_from
from ...exact.problem.problem import linear_problem
from ...exact.problem.scalings import convention_loss, convention_name
from ...exact.tools.checks import check_number
from ..files.models import LinearModel, read_model_of_another
from ..files.tables import may_count_from
from ..files.vectors import read_scores, read_vector
from .documents import (
    common_keys,
    objective_in_words,
    order_keys,
    print_document,
    scores_of,
)
from .inputs import Data, Options, left_out, open_data, request_of
from .predict import SavedModel, read_model


@dataclass(frozen=True, kw_only=True)
class CertifyOptions(Options):
    """Those of `certify`."""

    convention: str | None = None
    C: float | None = None
    weights: str | None = None
    model: str | None = None
    scores: str | None = None
    norm2: float | None = None
    exact: bool = False


def run_certify(name: str, **given: Any) -> None:
    """Certify weights or scores, and print."""
    options, model = CertifyOptions.of(given), None
    if options.model is not None:
        model, options = _of_model(options)
    options = _checked(options)
    start = time.perf_counter()
    data = open_data(name, options, model, vector=options.model is None)
    if options.exact and data.partitioned:
        raise InputError("--exact is for rows that are held in memory, not for a folder")
    request, rival = request_of(options, data), None
    if options.convention is not None and options.C is not None:
        rival, request = in_units_of(options.convention, options.C, data.labels, request, data.X)
    w, scores = _weights_or_scores(name, options, data, model)
    audit = certify_request(
        data.X,
        data.labels,
        request,
        Limits(tol=options.tol, max_time=options.max_time),
        w,
        scores,
        options.norm2,
        rival,
    )
    values = scores if w is None else scores_of(data, request, w)
    assert values is not None
    document = _document(data, options, request, audit, values)
    if options.exact:
        assert w is not None
        document["exact"] = _exact_interval(data, w, request, options, start)
    document["seconds"] = time.perf_counter() - start
    print_document(document, options.as_json)


def _weights_or_scores(
    name: str, options: CertifyOptions, data: Data, model: SavedModel | None
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return what is to be judged: weights and None, or None and scores."""
    if model is not None:
        return model.weights(data.X), None
    if options.weights is not None:
        return _read_weights(options, data), None
    if data.partitioned:
        raise InputError(f"{name}: rows in a folder are certified with --weights or --model")
    header = options.selection.header
    return None, read_scores(str(options.scores), data.y.size, header)


def _document(
    data: Data, options: CertifyOptions, request: Request, audit: Audit, scores: np.ndarray
) -> dict[str, Any]:
    """Return what is printed, but for the seconds."""
    order = order_keys(data, scores)
    statement = audit.statement + objective_in_words(data, request, options) + data.in_units
    judged = {k: value for k, value in asdict(audit).items() if k != "statement"}
    judged |= {"status": str(audit.status), "message": _turned(order, data) or statement}
    judged |= {"seconds": 0.0, "statement": statement}
    return common_keys(data, options, request) | {"method": "auto"} | judged | order


def _turned(order: dict[str, Any], data: Data) -> str:
    """Return the hint for an AUC below one half, which most often is a mixed-up class."""
    if not data.has_classes:
        share = order["concordance"]
        hint = f"A concordance of {share:.3g} ranks the lower rows higher: if that is what was "
        return "" if share >= 0.5 else f"{hint}meant, change the sign of the scores."
    share = order["auc"]
    if share >= 0.5:
        return ""
    do = "change their sign" if data.label is None else "name that class with --positive"
    return f"An AUC of {share:.3g} ranks the other class higher: if that is what was meant, {do}."


def _read_weights(options: CertifyOptions, data: Data) -> np.ndarray:
    """Return the weights of `--weights`, of a size that fits."""
    path, (n, d) = str(options.weights), data.X.shape
    linear = options.kernel == "linear"
    model = read_model_of_another(path, d) if linear else None
    if model is not None:
        return model.w * _sign(path, model, data)
    sizes = (d, d + 1) if linear else (n,)
    found = read_vector(path, sizes, header=options.selection.header)
    if list(found.title) == ["0"] and found.values.size + 1 in sizes:
        click.echo(
            f"aucert: {path}: its first line, 0, is read as a header: write 0.0 if it is a weight",
            err=True,
        )
    if data.scaler is None and found.of_standardised:
        raise InputError(
            f"{path}: these weights are of standardised columns: add --standardise "
            "for the same rows, or give the model file next to them with --model"
        )
    w = found.values
    if found.names is not None and linear:
        columns = data.columns
        if columns is None and w.size == d + 1:  # only its name marks an intercept
            columns = [name for name in found.names if name.strip().lower() not in INTERCEPTS]
        if columns is not None:
            w = in_column_order(w, found.names, columns, path)
    if linear and data.assumed and w.size > d:
        raise InputError(may_count_from(data.name, d, w.size))
    if linear and w.size not in (d, d + 1):
        raise InputError(
            f"{path}: {w.size} weights, but the data have {d} features: "
            "give one weight per feature, or one more as intercept"
        )
    if not linear and w.size != n:
        raise InputError(
            f"{path}: {w.size} weights, but the data have {n} rows: "
            "a kernel machine has one coefficient per row"
        )
    return w


def _sign(path: str, model: LinearModel, data: Data) -> int:
    """Return -1 where a model scores high what is meant to be low here, else 1."""
    if data.ordered_by is None:
        built_in = data.label is None and not data.partitioned
        high, low = (1, 0) if built_in else (data.label, data.negative)
        return model.sign(path, high, low)
    if model.of_times and data.ordered_by == "time":
        return -1  # a long life is a small risk
    if model.labels is None:
        return 1
    if data.ordered_by == "time":
        raise InputError(f"{path}: this model tells two classes apart, which times do not have")
    return 1 if model.labels[0] > model.labels[1] else -1  # the larger grade is above


def _checked(options: CertifyOptions) -> CertifyOptions:
    """Return the options with the loss of the rival, if one is named; refuse what does not go."""
    if sum(x is not None for x in (options.weights, options.scores, options.model)) != 1:
        raise InputError("give one of --weights FILE, --scores FILE and --model FILE")
    if options.norm2 is not None and options.scores is None:
        raise InputError("--norm2 goes with --scores")
    if options.exact:
        _check_exact(options)
    convention, C = options.convention, options.C
    if options.lam is not None:
        if convention is not None or C is not None:
            raise InputError("give either --lam, or --from with --C, not both")
        penalty_from(options.lam, options.l1)
        return options
    if convention is None or C is None:
        raise InputError("give --lam, or --from RIVAL with --C")
    check_number("C", C)
    convention = convention_name(convention)
    asked = None if left_out("loss") else options.loss
    its_own = convention_loss(convention, asked)
    return replace(options, convention=convention, loss=asked or its_own)


def _of_model(options: CertifyOptions) -> tuple[SavedModel, CertifyOptions]:
    """Return the model, and the options with the problem that it was solved for.

    What is given on the command line goes before what the model says.
    """
    for key in ("columns", "drop", "standardise"):
        if getattr(options, key):
            raise InputError(f"--{key} does not go with --model: the model says which columns")
    assert options.model is not None
    model = read_model(options.model)
    asked = model.asked()
    if options.convention is not None:
        asked.pop("lam", None)
    if not asked and options.lam is None and options.convention is None:
        kind = type(model.last).__name__
        raise InputError(
            f"{options.model}: a {kind} does not say which problem is meant: give --lam"
        )
    return model, replace(options, **{k: x for k, x in asked.items() if left_out(k)})


def _check_exact(options: CertifyOptions) -> None:
    """Raise `InputError` where the options ask for what the exact mode does not know."""
    given = {
        "--scores": options.scores is not None,
        "--kernel": options.kernel != "linear",
        "--structure": options.structure != 0,
        "--qid, --time and --event": options.ordered,
        "--worst-of": options.worst_of is not None,
        "--fpr-max and --tpr-min": options.fpr_max != 1 or options.tpr_min != 0,
    }
    for words in (option for option, is_given in given.items() if is_given):
        raise InputError(
            "--exact is for linear weights, given by --weights or --model, over all pairs of two "
            f"classes: leave {words} out"
        )


def _exact_interval(
    data: Data, w: np.ndarray, request: Request, options: CertifyOptions, start: float
) -> dict[str, str]:
    """Return the exact primal, dual and gap of the weights, rounded outward in print.

    The dual point is that of the solved problem, which is solved for it once more.
    """
    pairs = request.pairs
    assert not isinstance(pairs, OrderedPairs)
    problem = linear_problem(data.X, data.y, request.lam, request.loss, pairs, positive=1)
    check_exact(problem)
    left = options.max_time
    if left is not None:
        left = max(left - (time.perf_counter() - start), LEAST_TIME)
    limits = Limits(tol=options.tol, max_time=left)
    found = solve_request(data.X, data.y, request, limits)
    return ExactCertificate.of(problem, w[: problem.space.dim], found.witness).in_digits()
