"""What `solve` and `certify` share: scores, the keys of every result, and its printing."""

from __future__ import annotations

import math
from typing import Any

import click
import numpy as np

from ... import __version__
from ...exact.formulation.formulation import true_space
from ...exact.formulation.request import Request
from ...exact.spaces.kernels import get_kernel
from ...exact.tools.interrupts import finish
from .inputs import Data

SCHEMA_VERSION = 1


def scores_of(data: Data, request: Request, w: np.ndarray) -> np.ndarray:
    """Return the scores of weights, or of kernel coefficients: (n,)."""
    if request.kernel == "linear" or request.gives_matrix:
        return np.asarray(data.X @ w[: data.X.shape[1]])
    kernel = get_kernel(request.kernel, request.gamma, int(data.X.shape[1]))
    return true_space(kernel, data.X).scores(w)


def common_keys(data: Data, options: dict[str, Any], request: Request) -> dict[str, Any]:
    """Return the keys that every result carries."""
    n_pos = int(data.positive.sum())
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
        "n": int(data.y.size),
        "positive": data.label,
        "n_pos": n_pos,
        "n_neg": int(data.y.size) - n_pos,
        "n_pairs": request.pairs.on(data.positive).count(),
        "lam": request.penalty.l2,
        "loss": named["loss"],
        "pairs": options["pairs"],
        "kernel": named["kernel"],
    }


def print_document(document: dict[str, Any], as_json: bool) -> None:
    """Print a result, lines of text or one JSON document; an interrupt comes too late now."""
    finish()
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
