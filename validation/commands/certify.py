"""`aucert certify`."""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import click
import numpy as np
from click.core import ParameterSource

from ...exact.api.certify import certify_request
from ...exact.certificate.audit import Audit
from ...exact.errors import InputError
from ...exact.formulation.named_weights import INTERCEPTS, in_column_order
from ...exact.formulation.request import Request
from ...exact.formulation.rival_units import in_units_of
from ...exact.problem.penalties.registry import penalty_from
from ...exact.problem.scalings import convention_loss, convention_name
from ...exact.tools.checks import check_number
from ..files.models import LinearModel, read_model_of_another
from ..files.tables import may_count_from
from ..files.vectors import Vector, read_scores, read_vector
from .exact_mode import check_exact_options, exact_interval
from .reading.inputs import Data, data_of
from .reading.model_file import SavedModel, read_model
from .reading.requests import request_of
from .reading.scaled_tables import in_units, selection_of
from .writing.documents import (
    common_keys,
    objective_in_words,
    order_keys,
    print_document,
    scores_of,
)


def run_certify(name: str, options: dict[str, Any]) -> None:
    """Certify weights or scores, and print."""
    model = None
    if options.get("model") is not None:
        model, options = _of_model(options)
    options = options | {"loss": _asked_loss(options)}
    _check_certify_options(options)
    if options["exact"]:
        check_exact_options(options)
    start = time.perf_counter()
    data = data_of(name, options, model)
    if options["exact"] and data.partitioned:
        raise InputError("--exact is for rows that are held in memory, not for a folder")
    request, rival = request_of(options, data), None
    if options["convention"] is not None:
        rival, request = in_units_of(
            options["convention"], options["C"], data.labels, request, data.X
        )
    w, scores = _weights_or_scores(name, options, data, model)
    audit = certify_request(
        data.X,
        data.labels,
        request,
        w,
        scores,
        options["norm2"],
        rival,
        tol=options["tol"],
        max_time=options["max_time"],
    )
    values = scores if w is None else scores_of(data, request, w)
    assert values is not None
    document = _document(data, options, request, audit, values)
    document["seconds"] = time.perf_counter() - start
    if options["exact"]:
        assert w is not None
        document["exact"] = exact_interval(data, w, request, options)
        document["seconds"] = time.perf_counter() - start
    print_document(document, options["as_json"])


def _weights_or_scores(
    name: str, options: dict[str, Any], data: Data, model: SavedModel | None
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return what is to be judged: weights and None, or None and scores."""
    if model is not None:
        return model.weights(data.X), None
    if options["weights"] is not None:
        return _read_weights(options, data), None
    if data.partitioned:
        raise InputError(f"{name}: rows in a folder are certified with --weights or --model")
    header = selection_of(options).header
    return None, read_scores(options["scores"], data.y.size, header)


def _document(
    data: Data, options: dict[str, Any], request: Request, audit: Audit, scores: np.ndarray
) -> dict[str, Any]:
    """Return what is printed, but for the seconds."""
    order = order_keys(data, scores)
    statement = audit.statement + objective_in_words(data, request, options) + in_units(data.scaler)
    judged = {k: value for k, value in dataclasses.asdict(audit).items() if k != "statement"}
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


def _read_weights(options: dict[str, Any], data: Data) -> np.ndarray:
    """Return the weights of `--weights`, of a size that fits."""
    path, (n, d) = options["weights"], data.X.shape
    linear = options["kernel"] == "linear"
    model = read_model_of_another(path, d) if linear else None
    if model is not None:
        return model.w * _sign(path, model, data)
    found = _read_vector(path, (d, d + 1) if linear else (n,), selection_of(options).header)
    if data.scaler is None and found.of_standardised:
        raise InputError(
            f"{path}: these weights are of standardised columns: add --standardise "
            "for the same rows, or give the model file beside them with --model"
        )
    w = found.values
    if found.names is not None and linear:
        columns = data.columns
        if columns is None and w.size == d + 1:  # an intercept is told by its name alone
            columns = [name for name in found.names if name.strip().lower() not in INTERCEPTS]
        if columns is not None:
            w = in_column_order(w, found.names, columns, path)
    if linear and data.assumed and w.size > d:
        raise InputError(may_count_from(data.name, d, w.size))
    if linear and w.size not in (d, d + 1):
        raise InputError(
            f"{path}: {w.size} weights, but the data have {d} features: "
            "give one weight a feature, or one more as intercept"
        )
    if not linear and w.size != n:
        raise InputError(
            f"{path}: {w.size} weights, but the data have {n} rows: "
            "a kernel machine has one coefficient a row"
        )
    return w


def _read_vector(path: str, sizes: tuple[int, ...], header: bool | None) -> Vector:
    """Return the vector of a file; say on standard error where its header may be a weight."""
    found = read_vector(path, sizes, header=header)
    if list(found.title) == ["0"] and found.values.size + 1 in sizes:
        click.echo(
            f"aucert: {path}: its first line, 0, is read as a header: write 0.0 if it is a weight",
            err=True,
        )
    return found


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


def _check_certify_options(options: dict[str, Any]) -> None:
    given = [key for key in ("weights", "scores", "model") if options.get(key) is not None]
    if len(given) != 1:
        raise InputError("give one of --weights FILE, --scores FILE and --model FILE")
    if options["norm2"] is not None and options["scores"] is None:
        raise InputError("--norm2 goes with --scores")
    if options["lam"] is not None:
        if options["convention"] is not None or options["C"] is not None:
            raise InputError("give either --lam, or --from with --C, not both")
        penalty_from(options["lam"], options.get("l1", 0.0))
        return
    if options["convention"] is None or options["C"] is None:
        raise InputError("give --lam, or --from RIVAL with --C")
    check_number("C", options["C"])
    options["convention"] = convention_name(options["convention"])
    its_own = convention_loss(options["convention"], options["loss"])
    options["loss"] = options["loss"] or its_own


def _of_model(options: dict[str, Any]) -> tuple[SavedModel, dict[str, Any]]:
    """Return the model, and the options with the problem that it was solved for.

    What is given on the command line goes before what the model says.
    """
    for key in ("columns", "drop", "standardise"):
        if options.get(key):
            raise InputError(f"--{key} does not go with --model: the model says which columns")
    model = read_model(options["model"])
    context = click.get_current_context(silent=True)
    asked = model.asked()
    if options["convention"] is not None:
        asked.pop("lam", None)
    if not asked and options["lam"] is None and options["convention"] is None:
        kind = type(model.last).__name__
        raise InputError(
            f"{options['model']}: a {kind} does not say which problem is meant: give --lam"
        )
    for key, value in asked.items():
        source = None if context is None else context.get_parameter_source(key)
        if source in (None, ParameterSource.DEFAULT):
            options = options | {key: value}
    return model, options


def _asked_loss(options: dict[str, Any]) -> str | None:
    """Return `--loss`, or None where it was left out and a rival sets it."""
    context = click.get_current_context(silent=True)
    source = None if context is None else context.get_parameter_source("loss")
    left_out = source in (None, ParameterSource.DEFAULT)
    return None if left_out and options["convention"] is not None else options["loss"]
