"""`aucert predict`: the scores and labels that a saved model gives to the rows of a table."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import click
import numpy as np

from ... import __version__
from ...exact.errors import InputError
from ...exact.tools.interrupts import finish
from ..files.written_files import write_atomically
from .reading.model_file import read_model, read_rows, scores_and_labels
from .writing.documents import SCHEMA_VERSION

MOST_NAMED = 10
"""Unused columns that are named on standard error at most."""


def run_predict(model_path: str, name: str, options: dict[str, Any]) -> None:
    """Score the rows, and print or write `score,label`, or the score alone, for each of them."""
    model = read_model(model_path)
    X, ignored = read_rows(model, name, options)
    scores, labels = scores_and_labels(model, X)
    if not np.isfinite(scores).all():
        row = int(np.argmin(np.isfinite(scores))) + 1
        raise InputError(f"{name}: the score of data row {row} overflows: are its numbers right?")
    text = _as_csv(scores, labels)
    if options["out"] is not None:
        write_atomically(options["out"], lambda file: file.write(text.encode()))
    finish()
    if ignored:
        more = f" and {len(ignored) - MOST_NAMED} more" if len(ignored) > MOST_NAMED else ""
        shown = ", ".join(f"'{column}'" for column in ignored[:MOST_NAMED])
        click.echo(f"aucert: columns not used: {shown}{more}", err=True)
    if options["as_json"]:
        document = {
            "schema_version": SCHEMA_VERSION,
            "version": __version__,
            "model": model_path,
            "data": name,
            "n": len(scores),
            "classes": model.whole.classes_.tolist() if model.has_classes else None,
            "ignored": ignored,
            "scores": scores.tolist(),
            "labels": None if labels is None else labels.tolist(),
        }
        click.echo(json.dumps(document, allow_nan=False, indent=2))
    elif options["out"] is None:
        click.echo(text, nl=False)
    else:
        click.echo(f"{len(scores)} rows scored{_counts(labels)}; written to {options['out']}")


def _counts(labels: np.ndarray | None) -> str:
    """Return how many rows have each label, in words."""
    if labels is None:
        return ""
    values, counts = np.unique(labels, return_counts=True)
    each = zip(values.tolist(), counts, strict=True)
    return ": " + ", ".join(f"{n} of class {value!r}" for value, n in each)


def _as_csv(scores: np.ndarray, labels: np.ndarray | None) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    columns = {"score": map(repr, scores.tolist())}
    if labels is not None:
        columns["label"] = labels.tolist()
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()
