"""Reading linear models of SVM-light and of SVM-rank, which writes the same format.

Eleven lines of head, `value # meaning` each, then a row for each support vector, `alpha index:value
...`, indices from 1. For the linear kernel w is the sum of alpha times the vector.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from ....exact.errors import InputError
from ..file_checks import damage_reported
from ..labels import as_number

_FIRST = re.compile(r"SVM-(light|rank|struct)\b.*Version", re.IGNORECASE)
_KERNEL, _INDEX, _COUNT, _OFFSET = (
    "kernel type",
    "highest feature index",
    "number of support vectors plus 1",
    "threshold b",
)


def is_svm_light(head: str) -> bool:
    """Return whether a text file begins as such a model does."""
    lines = head.splitlines()
    return len(lines) > 1 and bool(_FIRST.match(lines[0])) and _KERNEL in lines[1]


def read_svm_light(path: Path, n_features: int) -> np.ndarray:
    """Return the weights (n_features,) of a linear model.

    Raises
    ------
    InputError
        If the kernel is not linear, the file is damaged, or an index is above `n_features`.
    """
    with damage_reported(path, "UTF-8 text", UnicodeDecodeError):
        lines = path.read_text(encoding="utf-8").splitlines()
    head: dict[str, float] = {}
    rest = iter(lines[1:])
    for line in rest:
        value, _, meaning = line.partition("#")
        number = as_number(value.strip())
        if number is not None:
            head[meaning.split(",")[0].strip()] = number
        if _OFFSET in meaning:
            break
    if not {_KERNEL, _COUNT, _OFFSET} <= head.keys():
        raise InputError(f"{path}: damaged, the head of this SVM-light model is not complete")
    if head[_KERNEL] != 0:
        raise InputError(
            f"{path}: the kernel is not linear, so the model has no weights: "
            "give what it predicts, with --scores"
        )
    rows = [line.partition("#")[0].split() for line in rest]
    rows = [row for row in rows if row]
    if len(rows) != head[_COUNT] - 1:
        raise InputError(
            f"{path}: damaged, {len(rows)} support vectors where {head[_COUNT] - 1:g} are declared"
        )
    weights = np.zeros(n_features)
    for row in rows:
        _add(path, row, weights)
    return weights


def _add(path: Path, row: list[str], weights: np.ndarray) -> None:
    """Add alpha times one support vector."""
    alpha = _number(path, row[0])
    for field in row[1:]:
        index, colon, value = field.partition(":")
        if index in ("qid", "sid", "cost"):
            continue
        if not colon or not index.isdigit() or int(index) < 1:
            raise InputError(f"{path}: {field[:40]!r} is no index:value with an index from 1")
        if int(index) > weights.size:
            raise InputError(
                f"{path}: the model has feature {index}, but the data have {weights.size} features"
            )
        weights[int(index) - 1] += alpha * _number(path, value)


def _number(path: Path, text: str) -> float:
    number = as_number(text)
    if number is None:
        raise InputError(f"{path}: text {text[:40]!r} among the support vectors")
    return number
