"""Reading the weights of a linear model from the file that another program saved.

Read without that program: liblinear and liblinear-ranksvm, SVM-light and SVM-rank (see
`svm_light_models`), and XGBoost's linear booster.

XGBoost's `rank:pairwise` with `booster="gblinear"` has a scaling of its own. With
`lambdarank_pair_method="topk"`, at least as many pairs per sample as a query has rows, and
`lambdarank_normalization` and `lambdarank_score_normalization` off it minimises

    reg_lambda n / 2 |w|^2 + sum over the pairs of log(1 + exp(-(w'x_i - w'x_j))),

where n is the number of rows: the penalty is "normalised to the number of training examples".
Divided by the number of pairs M, this is our objective at lam = reg_lambda n / M and the logistic
loss. LightGBM has no linear booster: its `linear_tree` puts linear models into the leaves of trees.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from ....exact.errors import InputError
from ..file_checks import damage_reported, existing_file
from ..labels import as_number
from ..vector_files import read_vector
from .svm_light_models import is_svm_light, read_svm_light

HEAD = 4096
"""Characters from which a model file is recognized."""

LARGEST_MODEL = 1 << 28
"""Size in bytes beyond which a model file is refused."""


def read_model(path: str | Path, n_features: int) -> np.ndarray:
    """Read the weights of a linear model, or a plain vector of weights.

    Parameters
    ----------
    path : str or Path
        A model file of liblinear, liblinear-ranksvm, SVM-light or SVM-rank under any name, a
        linear booster that XGBoost saved as `.json`, or what `read_vector` reads.
    n_features : int
        Features of the data. Formats that leave out zeros are filled up to this length.

    Returns
    -------
    array (m,) of float64
        m is `n_features`, or one more where an intercept follows; of a plain vector it is free.

    Raises
    ------
    InputError
        If the file is damaged, holds another kind of model, or does not fit the data.
    """
    found = read_model_of_another(path, n_features)
    return read_vector(path, what="weights") if found is None else found


def read_model_of_another(path: str | Path, n_features: int) -> np.ndarray | None:
    """Read the weights of another program's model as `read_model`; None where it is no such file.

    Raises
    ------
    InputError
        As `read_model`.
    """
    found = existing_file(path)
    head = _head(found)
    if head.startswith("solver_type"):
        return _checked(found, _liblinear(found), n_features)
    if is_svm_light(head):
        _check_size(found)
        return _checked(found, read_svm_light(found, n_features), n_features)
    if head.startswith("tree\n") and "version=" in head:
        raise InputError(
            f"{path}: LightGBM's models are trees, which have no weights: "
            "give what they predict, with --scores"
        )
    if head.lstrip().startswith("{") and found.suffix == ".json":
        return _checked(found, _xgboost(found), n_features)
    return None


def _head(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(HEAD).decode("utf-8", errors="replace").replace("\r\n", "\n")


def _checked(path: Path, weights: np.ndarray, n_features: int) -> np.ndarray:
    bad = np.flatnonzero(~np.isfinite(weights))
    if bad.size:
        raise InputError(f"{path}: weight {bad[0] + 1} is {weights[bad[0]]}: all must be finite")
    if weights.size not in (n_features, n_features + 1):
        raise InputError(
            f"{path}: the model has {weights.size} weights, but the data have "
            f"{n_features} features: certify on the data that it was trained on"
        )
    return weights


def _check_size(path: Path) -> None:
    if path.stat().st_size > LARGEST_MODEL:
        raise InputError(f"{path}: larger than {LARGEST_MODEL >> 20} MiB: no linear model")


def _liblinear(path: Path) -> np.ndarray:
    """Return the weights below the line `w`; the last is the intercept where bias >= 0."""
    _check_size(path)
    with damage_reported(path, "UTF-8 text", UnicodeDecodeError):
        lines = path.read_text(encoding="utf-8").splitlines()
    head: dict[str, str] = {}
    rest = iter(lines)
    for line in rest:
        if line.strip() == "w":
            break
        name, _, value = line.strip().partition(" ")
        head[name] = value
    else:
        raise InputError(f"{path}: damaged, the line 'w' above the weights is missing")
    count, bias = as_number(head.get("nr_feature", "")), as_number(head.get("bias", "-1"))
    if count is None or bias is None or not (count >= 1 and count.is_integer()):
        raise InputError(f"{path}: damaged, nr_feature and bias must be numbers")
    columns = [line.split() for line in rest if line.strip()]
    if any(len(column) != 1 for column in columns):
        raise InputError(f"{path}: this model has several weights a feature, a ranking has one")
    expected = int(count) + (bias >= 0)
    if len(columns) != expected:
        raise InputError(f"{path}: damaged, {len(columns)} weights where {expected} are declared")
    return np.array([_number(path, column[0]) for column in columns])


def _number(path: Path, text: str) -> float:
    number = as_number(text)
    if number is None:
        raise InputError(f"{path}: text {text[:40]!r} among the weights")
    return number


def _xgboost(path: Path) -> np.ndarray:
    """Return the weights of a linear booster; the last one is its bias."""
    _check_size(path)
    with damage_reported(path, "JSON", ValueError, RecursionError):
        document = json.loads(path.read_text(encoding="utf-8"))
    booster: object = document
    for key in ("learner", "gradient_booster"):
        booster = booster.get(key) if isinstance(booster, dict) else None
    if not isinstance(booster, dict):
        raise InputError(f"{path}: this JSON file is no model of XGBoost")
    name, model = booster.get("name"), booster.get("model")
    if name != "gblinear" or not isinstance(model, dict):
        raise InputError(
            f"{path}: the booster is {name}, which has no weights: give what it predicts, with "
            "--scores, or train with booster='gblinear'"
        )
    weights = model.get("weights")
    numbers = isinstance(weights, list) and all(type(x) in (int, float) for x in weights)
    if not numbers or not weights:
        raise InputError(f"{path}: damaged, the booster has no list of weights")
    return np.array(weights, dtype=float)
