"""What `solve` and `certify` share: scores, the keys of every result, and its printing."""

from __future__ import annotations

import math
from typing import Any

import click
import numpy as np

from .... import __version__
from ....exact.formulation.formulation import true_space
from ....exact.formulation.request import Request
from ....exact.losses.registry import HINGE
from ....exact.pairs.auc import auc
from ....exact.pairs.partitioned_pairs import pairs_in
from ....exact.pairs.statistics.concordance import right_share
from ....exact.pairs.statistics.delong import delong
from ....exact.problem.penalties import Ridge
from ....exact.spaces.kernels import get_kernel
from ....exact.tools.interrupts import finish
from ..reading.inputs import Data
from ..reading.penalties import penalty_in_words, penalty_keys

SCHEMA_VERSION = 1


def scores_of(data: Data, request: Request, w: np.ndarray) -> Any:
    """Return the scores of weights, or of kernel coefficients: (n,); of a folder their counts."""
    if data.partitioned:
        from ....exact.certificate.partitioned.spread import counted_scores

        return counted_scores(data.X, w[: data.X.dim])
    if request.kernel == "linear" or request.gives_matrix:
        return np.asarray(data.X @ w[: data.X.shape[1]])
    kernel = get_kernel(request.kernel, request.gamma, int(data.X.shape[1]))
    return true_space(kernel, data.X).scores(w)


def common_keys(data: Data, options: dict[str, Any], request: Request) -> dict[str, Any]:
    """Return the keys that every result carries."""
    if data.partitioned:
        n, n_pos = data.X.n, data.X.facts.n_pos
    else:
        n = int(data.y.size)
        n_pos = None if data.ordered is not None else int(data.positive.sum())
    skipped = ("as_json", "out")
    named = {"loss": request.loss.name, "kernel": request.kernel_name}
    return {
        "schema_version": SCHEMA_VERSION,
        "version": __version__,
        "seed": options["seed"],
        "parameters": {"data": data.name}
        | {key: value for key, value in options.items() if key not in skipped}
        | named,
        "data_sha256": data.sha256,
        "n": n,
        "positive": data.label,
        "n_pos": n_pos,
        "n_neg": None if n_pos is None else n - n_pos,
        "n_pairs": pairs_of(data, request).count(),
        "lam": request.penalty.l2,
        "penalty": penalty_keys(request.penalty),
        "loss": named["loss"],
        "pairs": _pairs_name(options),
        "kernel": named["kernel"],
    }


def pairs_of(data: Data, request: Request) -> Any:
    """Return the pairs of the rows, those of all the curve for partial AUC."""
    if data.partitioned:
        return pairs_in(data.X.facts)
    return request.pairs_on(None if data.ordered is not None else data.positive)


def _pairs_name(options: dict[str, Any]) -> str:
    """Return what the pairs are called: as `--pairs` does, or what orders the rows."""
    if options.get("qid") is not None:
        return f"query:{options['qid']}"
    if options.get("time") is not None:
        return f"survival:{options['time']},{options['event']}"
    return options["pairs"]


def order_keys(data: Data, scores: Any) -> dict[str, Any]:
    """Return the AUC and its interval, or the concordance where pairs are ordered.

    The interval is DeLong's at 95 %; it needs two rows of each class. Of rows in a folder the AUC
    is known from counts, and `auc_within` says how far the true one may be from it.
    """
    if data.partitioned:
        low, high = scores.auc_range()
        near = {"auc_interval": None, "auc_within": (high - low) / 2, "concordance": None}
        return {"auc": (low + high) / 2, **near}
    if data.ordered is not None:
        share = right_share(data.ordered, scores)
        return {"auc": None, "auc_interval": None, "concordance": share}
    positive, interval = data.positive, None
    if min(int(positive.sum()), int((~positive).sum())) >= 2:
        interval = list(delong(scores, positive).interval())
    return {"auc": auc(scores, positive), "auc_interval": interval, "concordance": None}


def objective_in_words(data: Data, request: Request, options: dict[str, Any]) -> str:
    """Return a sentence on the objective, or nothing for the plain one: hinge, ridge, all pairs."""
    plain = request.loss == HINGE and data.ordered is None and not request.is_partial
    plain = plain and isinstance(request.penalty, Ridge)
    if plain:
        return ""
    if options.get("qid") is not None:
        which = f"pairs of one query ('{options['qid']}'), the larger grade above"
    elif data.ordered is not None:
        which = f"comparable pairs of '{options['time']}', the earlier event above"
    else:
        which = "pairs of a positive and a negative row"
    if request.is_partial:
        which += f", false positive rates up to {options['fpr_max']:g}"
        which += f" and true positive rates from {options['tpr_min']:g}"
    penalty, loss = penalty_in_words(request.penalty), request.loss.name
    first, _, last = penalty.partition(" with ")
    where = f", {last}" if last else ""
    return f" The objective is {first} + mean {loss} loss over {which}{where}."


def print_document(document: dict[str, Any], as_json: bool) -> None:
    """Print a result, lines of text or one JSON document; an interrupt comes too late now."""
    finish()
    if as_json:
        import json

        click.echo(json.dumps(_finite(document), allow_nan=False, indent=2, default=_number))
        return
    shown = (
        "n positive n_pos n_neg n_pairs lam loss pairs method primal dual gap relative_gap radius "
        "rounding zeros_proved residual rival_primal rival_gap n_right n_wrong auc auc_within "
        "auc_interval concordance status seconds"
    ).split()
    for key in shown:
        value = document.get(key)
        if value is None and key != "relative_gap":
            continue
        if isinstance(value, list):
            text = " to ".join(f"{part:.6g}" for part in value)
        else:
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
