"""Reading one vector of numbers (weights, scores), or the weights of another program's model."""

import csv
import io
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...exact.errors import InputError
from ...exact.tools.arrays import as_float64, loses_digits
from . import tables
from .labels import as_number, is_missing

_TEXT_ENDINGS = (".csv", ".csv.gz", ".txt")
# What a line of text above numbers has to say, unless it names each of them.
_TITLE = re.compile(r"weight|coef|score|value|decision|margin|pred|prob|\b(w|f|beta|alpha|theta)\b")

# Opens the title of weights that belong to columns of mean 0 and scale 1.
OF_STANDARDISED = "standardised "


@dataclass(frozen=True, eq=False)
class Vector:
    """Finite numbers (m,), what each belongs to, and the row above them. That row is the first of a
    text where it holds no numbers, or places (0, or 0,1,2)."""

    values: np.ndarray
    names: list[str] | None = None
    title: Sequence[str] = ()

    @property
    def of_standardised(self) -> bool:
        return bool(self.title) and self.title[-1].lower().startswith(OF_STANDARDISED)


def read_vector(
    path: str | Path, sizes: Sequence[int] = (), what: str = "weights", header: bool | None = None
) -> Vector:
    """Read a vector of finite numbers. `header` says whether a first line 0 is a header; where
    nobody says, it is one if the numbers below it are as many as one of `sizes`, and with it they
    are not as many as the first."""
    found, name, endings = tables.existing_file(path), str(path).lower(), ", ".join(_TEXT_ENDINGS)
    if name.endswith((".npy", ".npz")):
        vector = Vector(_from_array(found, what))
    elif name.endswith(_TEXT_ENDINGS):
        vector = _from_text(found, sizes, what, header)
    else:
        raise InputError(f"{path}: {what} are read from .npy, .npz, {endings} files")
    values = vector.values
    if values.size == 0:
        raise InputError(f"{path}: the file holds no {what}")
    if not np.isfinite(values).all():
        k = int(np.argmin(np.isfinite(values)))
        one = f"number {k + 1}" if vector.names is None else f"'{vector.names[k]}'"
        raise InputError(f"{path}: {one} of the {what} is {values[k]}: all must be finite")
    return vector


def read_scores(path: str | Path, n: int, header: bool | None = None) -> np.ndarray:
    """Return one score for each of n rows, (n,): of a table the column `score`, as in `predict`."""
    table = str(path).lower().endswith((".csv", ".csv.gz"))
    first = next(tables.csv_rows(tables.existing_file(path)), (0, []))[1] if table else []
    if len(first) > 1 and "score" in first:
        values = tables.read_raw(path, tables.Selection(columns=("score",), labelled=False)).X[:, 0]
    else:
        values = read_vector(path, (n,), "scores", header).values
    if len(values) != n:
        raise InputError(f"{path}: holds {len(values)} scores where {n} are needed")
    return values


def _from_array(path: Path, what: str) -> np.ndarray:
    if path.suffix.lower() == ".npz":
        arrays = tables.read_arrays(path)
        if len(arrays) != 1:
            names = ", ".join(arrays) or "none"
            raise InputError(f"{path}: must hold a single array of {what}; it holds {names}")
        (held,) = arrays.values()
    else:
        kind = f"npy file: {what} in text or in an npz file need another name"
        errors = (ValueError, EOFError, OSError, MemoryError)
        with tables.damage_reported(path, kind, *errors), open(path, "rb") as file:
            held = np.lib.format.read_array(file, allow_pickle=False)
    if held.dtype.kind not in "biuf":
        raise InputError(f"{path}: {what} must be numbers, not {held.dtype}")
    if held.ndim == 0 or held.size != max(held.shape):
        raise InputError(f"{path}: {what} must be one row or one column; the shape is {held.shape}")
    return np.ascontiguousarray(as_float64(held, f"{path}: {what}")).ravel()


def _from_text(path: Path, sizes: Sequence[int], what: str, header: bool | None) -> Vector:
    """Read one number a line, one row, or a name and a number a line, below a title or names."""

    def numbers(lines: list[tuple[int, list[str]]]) -> np.ndarray:
        """Return the numbers of lines of one each, or of a single line."""
        wide = [row for row, fields in lines if len(fields) > 1]
        if wide and len(lines) > 1:
            neither = f"row {max(wide[0], lines[1][0])} is neither"
            raise InputError(f"{path}: {what} are one number per line or one row; {neither}")
        cells = [(row, field, as_number(field)) for row, fields in lines for field in fields]
        for row, field, number in cells:
            if number is None:
                said = tables.fault(field)[0]
                raise InputError(f"{path}: {said} in row {row}: {what} must be numbers")
            if loses_digits(field, number):
                lost = f"{field[:40]} in row {row} loses digits in float64"
                raise InputError(f"{path}: {lost}: round it")
        return np.array([number for _, _, number in cells])

    lines = _fields(path)
    if not lines:
        return Vector(np.empty(0))
    (row, first), below = lines[0], lines[1:]
    titled = len(first) == 2 and (first[0] == "" or as_number(first[1]) is None)
    pairs = below if titled else lines
    if pairs and all(len(x) == 2 and _is_name(x[0]) and not _is_name(x[1]) for _, x in pairs):
        values = numbers([(row, fields[1:]) for row, fields in pairs])
        return Vector(values, [fields[0] for _, fields in pairs], first)
    if all(_is_name(field) and not is_missing(field) for field in first):
        named = len(first) > 1 and bool(below) and len(below[0][1]) == len(first)
        if not (named or _TITLE.search(" ".join(first).lower())):  # a typing error
            do = f"must say what they are, as in '{what.removesuffix('s')}'"
            must = f"{what} must be numbers; a title above them {do}"
            raise InputError(f"{path}: text {' '.join(first)[:40]!r} in row {row}: {must}")
        return Vector(numbers(below), first if named else None, first)
    if header is None:
        header = len(below) in sizes and len(lines) != sizes[0]
    if tables.are_places(first) and (header if len(first) == 1 else below):
        return Vector(numbers(below), None, first)
    return Vector(numbers(lines))


def _is_name(field: str) -> bool:
    return field != "" and as_number(field) is None


def _fields(path: Path) -> list[tuple[int, list[str]]]:
    """Return the row and the fields of each line that is not blank."""
    lines = []
    for row, line in enumerate(tables.text_lines(path), start=1):
        text = line.strip().rstrip(",; \t")
        mark = next((mark for mark in ",;\t" if mark in text), " ")
        fields = text.split()
        if mark != " " or (text.count('"') and text.count('"') % 2 == 0):
            with tables.damage_reported(path, "text file", csv.Error):
                fields = next(csv.reader([text], delimiter=mark, skipinitialspace=True))
        if fields:
            lines.append((row, [field.strip() for field in fields]))
    return lines


# Reading the weights of a linear model from the file that another program saved.
#
# XGBoost's `rank:pairwise` with `booster="gblinear"` has a scaling of its own. With
# `lambdarank_pair_method="topk"`, at least as many pairs per sample as a query has rows, and
# `lambdarank_normalization` and `lambdarank_score_normalization` off it minimises
#
#     reg_lambda n / 2 |w|^2 + sum over the pairs of log(1 + exp(-(w'x_i - w'x_j)))
#
# with n rows. Divided by the number of pairs M this is our objective at lam = reg_lambda n / M and
# the logistic loss. LightGBM has no linear booster: its `linear_tree` puts them into leaves.

_SVM_LIGHT = re.compile(r"SVM-(light|rank|struct)\b.*Version.*\n.*kernel type", re.IGNORECASE)
# What is used of the head of such a model, eleven lines `value # meaning`.
_HEAD = re.compile(
    r"(\S+) *# kernel type.*\n(\d+) *# number of support vectors plus 1.*\n\S+ *# threshold b.*?\n",
    re.DOTALL,
)
RANKING = ("RANKSVM", "SVR")  # How liblinear's solvers end that know no classes, and no `label`.


@dataclass(frozen=True, eq=False)
class LinearModel:
    """The weights (n_features,) of another program's model, one more where an intercept follows."""

    w: np.ndarray
    n_features: int
    labels: tuple[float, float] | None = None
    """The label that it scores high, and the other; None is the larger one, or a ranking."""
    of_times: bool = False  # Whether it predicts times, as XGBoost's `survival:aft` does.


def read_model_of_another(path: str | Path, n_features: int) -> LinearModel | None:
    """Read a linear model of another program, or return None where the file is none. That is a
    model file of liblinear, liblinear-ranksvm, SVM-light or SVM-rank under any name, or a linear
    booster that XGBoost saved as `.json`. What leaves out zeros is filled up to `n_features`."""
    found = tables.existing_file(path)
    with found.open("rb") as file:
        head = file.read(4096).decode("utf-8", errors="replace")
    if head.startswith("solver_type"):
        model = _liblinear(found)
    elif _SVM_LIGHT.match(head):
        model = _svm_light(found, n_features)
    elif head.lstrip().startswith("{") and found.suffix == ".json":
        model = _xgboost(found)
    elif head.startswith(("tree\n", "tree\r")) and "version=" in head:
        raise InputError(f"{path}: LightGBM's models are trees, without weights: use --scores")
    else:
        return None
    if not np.isfinite(model.w).all():
        k = int(np.argmin(np.isfinite(model.w)))
        raise InputError(f"{path}: weight {k + 1} is {model.w[k]}: all must be finite")
    if model.n_features != n_features:
        do = "take those that it was trained on; --zero-based says whether an svmlight file counts "
        both = f"the model has {model.n_features} features, but the data have {n_features}"
        raise InputError(f"{path}: {both}: {do}from 0")
    return model


def _liblinear(path: Path) -> LinearModel:
    """Return the weights below the line `w`. The last one is the intercept where bias >= 0. A
    classifier scores its first label high."""
    lines = [line.strip() for line in tables.text_lines(path)]
    if "w" not in lines:
        raise InputError(f"{path}: damaged, the line 'w' above the weights is missing")
    at = lines.index("w")
    head = {name: value for name, _, value in (line.partition(" ") for line in lines[:at])}
    count, bias = as_number(head.get("nr_feature", "")), as_number(head.get("bias", "-1"))
    if count is None or bias is None or not (count >= 1 and count.is_integer()):
        raise InputError(f"{path}: damaged, nr_feature and bias must be numbers")
    weights = [*filter(None, lines[at + 1 :])]
    if any(len(line.split()) != 1 for line in weights):
        raise InputError(f"{path}: this model has several weights per feature, a ranking has one")
    expected = int(count) + (bias >= 0)
    if len(weights) != expected:
        raise InputError(f"{path}: damaged, {len(weights)} weights where {expected} are declared")
    numbers = [as_number(line) for line in weights]
    if None in numbers:
        text = weights[numbers.index(None)]
        raise InputError(f"{path}: text {text[:40]!r} among the weights")
    w = np.array(numbers)
    labels = [as_number(word) for word in head.get("label", "").split()]
    if head["solver_type"].endswith(RANKING) and not labels:
        return LinearModel(w, int(count))
    if len(labels) != 2 or None in labels:
        raise InputError(f"{path}: the line 'label' must name two classes, the first scored high")
    return LinearModel(w, int(count), (labels[0], labels[1]))  # type: ignore


def _svm_light(path: Path, n_features: int) -> LinearModel:
    """Return the weights (n_features,): the sum of alpha times the vectors. The file has eleven
    lines of head, `value # meaning` each, then `alpha index:value ...` for each support vector."""
    from sklearn.datasets import load_svmlight_file

    text = "".join(tables.text_lines(path))
    head = _HEAD.search(text)
    if head is None:
        raise InputError(f"{path}: damaged, the head of this SVM-light model is not complete")
    if as_number(head[1]) != 0:
        raise InputError(f"{path}: the kernel is not linear, so it has no weights: use --scores")
    vectors = re.sub(r"#.*|\b(qid|sid|cost):\S+", "", text[head.end() :])
    kind = "SVM-light model: what follows alpha is not an index:value, from 1 on"
    with tables.damage_reported(path, kind, ValueError, OverflowError):
        file: Any = io.BytesIO(vectors.encode())
        X, alpha, *_ = load_svmlight_file(file, zero_based=False)  # type: ignore[arg-type]
    count = int(head[2]) - 1
    if len(alpha) != count:
        declared = f"{len(alpha)} support vectors where {count} are declared"
        raise InputError(f"{path}: damaged, {declared}")
    if X.shape[1] > n_features:
        raise InputError(f"{path}: feature {X.shape[1]}, but the data have {n_features}")
    return LinearModel(np.pad(X.T @ alpha, (0, n_features - X.shape[1])), n_features)


def _xgboost(path: Path) -> LinearModel:
    """Return the weights of a linear booster; the last one is its bias."""
    with tables.damage_reported(path, "JSON file", ValueError, RecursionError):
        document = json.loads("".join(tables.text_lines(path)))
    try:
        learner = document["learner"]
        booster = learner["gradient_booster"]
        name, model = booster.get("name"), booster.get("model")
        objective = learner.get("objective", {}).get("name")
    except (KeyError, TypeError, AttributeError):
        raise InputError(f"{path}: this JSON file is not a model of XGBoost") from None
    if name != "gblinear" or not isinstance(model, dict):
        advice = "train with booster='gblinear', or use --scores"
        raise InputError(f"{path}: the booster is {name}, which has no weights: {advice}")
    weights = model.get("weights")
    if not weights or not isinstance(weights, list) or {*map(type, weights)} - {int, float}:
        raise InputError(f"{path}: damaged, the booster has no list of weights")
    with tables.damage_reported(path, "list of weights", OverflowError):
        w = np.array(weights, dtype=float)
    # The prediction of this objective is a time: large where the risk is small.
    return LinearModel(w, w.size - 1, of_times=objective == "survival:aft")
