"""What `solve`, `path` and `certify` share: scores, the keys of a result, and its printing."""

from __future__ import annotations

import json
import math
from typing import Any

import click
import numpy as np

from ... import __version__
from ...exact.certificate.order import group_concordance
from ...exact.formulation.formulation import true_space
from ...exact.formulation.request import Request
from ...exact.losses.registry import HINGE
from ...exact.pairs.auc import auc
from ...exact.pairs.concordance import Estimate, concordance, delong
from ...exact.pairs.ordered_pairs import OrderedPairs
from ...exact.pairs.partitioned_pairs import PartitionedOrder, pairs_in
from ...exact.problem.penalties import Ridge
from ...exact.spaces.kernels import get_kernel, name_of
from ...exact.spaces.rows import space_of
from .inputs import Data, Options, penalty_in_words, penalty_keys
from .interrupts import finish

SCHEMA_VERSION = 1

# From so many queries with a pair on, the concordance has an interval: they are what is drawn.
FEWEST_QUERIES = 10


def scores_of(data: Data, request: Request, w: np.ndarray) -> Any:
    """Return the scores of weights, or of kernel coefficients: (n,).

    Of a folder return their counts; where its rows have queries, their concordance.
    """
    grouped = space_of(data.X).grouped
    if grouped is not None:
        return group_concordance(grouped, w[: data.X.dim])
    if data.partitioned:
        from ...exact.certificate.order import counted_scores

        return counted_scores(data.X, w[: data.X.dim])
    if request.kernel == "linear" or request.gives_matrix:
        return np.asarray(data.X @ w[: data.X.shape[1]])
    kernel = get_kernel(request.kernel, request.gamma, int(data.X.shape[1]))
    return true_space(kernel, data.X).scores(w)


def common_keys(data: Data, options: Options, request: Request) -> dict[str, Any]:
    """Return the keys that every result carries."""
    if data.partitioned:
        n, n_pos = data.X.n, data.X.facts.n_pos if data.has_classes else None
    else:
        n = int(data.y.size)
        n_pos = None if data.ordered is not None else int(data.positive.sum())
    named = {"loss": request.loss.name, "kernel": name_of(request.kernel)}
    return {
        "schema_version": SCHEMA_VERSION,
        "version": __version__,
        "seed": options.seed,
        "parameters": {"data": data.name} | options.parameters | named,
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
    grouped = space_of(data.X).grouped
    if grouped is not None:
        return PartitionedOrder(grouped)
    if data.partitioned:
        return pairs_in(data.X.facts)
    return request.pairs_on(None if data.ordered is not None else data.positive)


def _pairs_name(options: Options) -> str:
    """Return what the pairs are called: as `--pairs` does, or what orders the rows."""
    if options.qid is not None:
        return f"query:{options.qid}"
    if options.time is not None:
        return f"survival:{options.time},{options.event}"
    return options.pairs if options.worst_of is None else f"worst-of:{options.worst_of}"


def order_keys(data: Data, scores: Any) -> dict[str, Any]:
    """Return the AUC and its interval, or the concordance where pairs are ordered.

    Intervals are at 95 %: DeLong's of the AUC, which needs two rows of each class; the
    infinitesimal jackknife's of the concordance, by rows or by queries. There is none where the
    estimated variance is zero: one point would tell nothing of other rows. Of rows in a folder the
    AUC is known from counts, and `auc_within` says how far the true one may be from it.
    """
    none = {"auc": None, "auc_interval": None, "concordance": None, "concordance_interval": None}
    if space_of(data.X).grouped is not None:
        return none | {"concordance": scores}
    if data.partitioned:
        low, high = scores.auc_range()
        return none | {"auc": (low + high) / 2, "auc_within": (high - low) / 2}
    if data.ordered is not None:
        value, interval = _concordance(data.ordered, scores, data.ordered_by == "qid")
        return none | {"concordance": value, "concordance_interval": interval}
    positive, interval = data.positive, None
    if min(int(positive.sum()), int((~positive).sum())) >= 2:
        interval = _interval(delong(scores, positive))
    return none | {"auc": auc(scores, positive), "auc_interval": interval}


def _interval(found: Estimate) -> list[float] | None:
    """Return the interval at 95 %, None where it would be one point."""
    return list(found.interval()) if found.standard_error > 0 else None


def _concordance(
    pairs: OrderedPairs, scores: np.ndarray, by_query: bool
) -> tuple[float, list[float] | None]:
    """Return the concordance and its interval, None where there are few queries."""
    count = pairs.groups_with_pairs if by_query else 1
    found = concordance(pairs, scores, units="groups" if count > 1 else "rows")
    few = 1 < count < FEWEST_QUERIES
    return found.value, None if few else _interval(found)


def objective_in_words(data: Data, request: Request, options: Options) -> str:
    """Return a sentence on the objective, or nothing for the plain one: hinge, ridge, all pairs."""
    plain = request.loss == HINGE and data.has_classes and data.member is None
    ridge = isinstance(request.penalty, Ridge) and request.structure == 0
    if plain and ridge and not request.is_partial:
        return ""
    if options.qid is not None:
        which = f"pairs of one query ('{options.qid}'), the larger grade above"
    elif data.ordered is not None:
        which = f"comparable pairs of '{options.time}', the earlier event above"
    else:
        which = "pairs of a positive and a negative row"
    if data.member is not None:
        count = np.unique(data.member).size
        which += f" of one group ('{options.worst_of}'), in the worst of {count} groups"
    if request.is_partial:
        which += f", false positive rates up to {options.fpr_max:g}"
        which += f" and true positive rates from {options.tpr_min:g}"
    penalty, loss = penalty_in_words(request.penalty, data.columns), request.loss.name
    first, _, last = penalty.partition(" with ")
    if request.structure != 0:  # then the penalty is the ridge
        first = f"{request.lam:g}/2 (|f|^2 + {request.structure:g} times the spread of f within"
        first += " each class)"
    where = f", {last}" if last else ""
    return f" The objective is {first} + mean {loss} loss over {which}{where}."


def print_document(document: dict[str, Any], as_json: bool) -> None:
    """Print a result, lines of text or one JSON document; an interrupt comes too late now."""
    finish()
    if as_json:
        click.echo(json.dumps(_finite(document), allow_nan=False, indent=2, default=_number))
        return
    shown = (
        "n positive n_pos n_neg n_pairs lam loss pairs method primal dual gap relative_gap radius "
        "rounding zeros_proved residual rival_primal rival_gap n_sure_right n_sure_wrong auc "
        "auc_within auc_interval concordance concordance_interval status seconds"
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
    if document.get("n_sure_right") is not None:
        right, wrong, count = (document[key] for key in ("n_sure_right", "n_sure_wrong", "n_pairs"))
        click.echo(
            f"The optimum certainly has {right} of {count} pairs in order, and {wrong} in reverse."
        )
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
        return None if isinstance(plain, float) and not math.isfinite(plain) else plain
    raise TypeError(f"cannot be written as JSON: {type(value)}")
