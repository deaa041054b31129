"""`aucert predict`: the scores of a saved model; and the model file that `solve --out` writes.
Estimators, and scikit-learn with them, are imported where one is read: that takes a while."""

import json
import warnings
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ... import __version__
from ...exact import InputError, Solution
from ...exact.tools.atomic_files import target_of
from ..cli import Options
from ..data.datasets import load
from ..files.labels import listed
from ..files.tables import column_names, read_raw
from ..files.written import csv_text, finite_json, write_text
from . import inputs
from .endings import note, result_first
from .inputs import Data, split_names, true_names

# Options of the problem that a model file holds.
ASKED = (
    *("lam", "loss", "gamma", "structure", "l1", "groups", "sign"),
    *("pairs", "fpr_max", "tpr_min", "worst_of", "seed", "kernel"),
)
ORDER = ("qid", "target", "time", "event")  # Of ordered pairs: the columns that they name.
HOW = ("tol", "method", "max_time", "threshold")  # Of the solver, and the rule of the intercept.


def run_predict(path: str, name: str, **given: Any) -> None:
    """Score the rows, and print or write `score,label`, or the score alone, for each of them."""
    options = Options(**given)
    if options.out is not None:
        target = target_of(options.out)
        if any(Path(read).is_file() and target == Path(read).resolve() for read in (path, name)):
            raise InputError(f"--out {options.out}: this file is read: choose another name")
    model = SavedModel(path)
    X, ignored, kept = _read_rows(model, name, options)
    with warnings.catch_warnings():
        # The columns were matched here; scikit-learn cannot see the names of an array.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        scores = np.asarray(model.whole.decision_function(X), dtype=float)
        labels = np.asarray(model.whole.predict(X)).tolist() if model.has_classes else None
    if (bad := np.flatnonzero(~np.isfinite(scores))).size:
        row = bad[0] + 1
        raise InputError(f"{name}: the score of data row {row} overflows: are its numbers right?")
    columns: dict[str, Any] = kept | {"score": scores.tolist()}
    columns |= {} if labels is None else {"label": labels}
    text = csv_text([columns, *zip(*columns.values(), strict=True)])
    document: dict[str, Any] = {"schema_version": inputs.SCHEMA_VERSION, "version": __version__}
    document |= {"model": path, "data": name, "n": len(scores)}
    document["classes"] = model.whole.classes_.tolist() if model.has_classes else None
    document |= {"ignored": ignored, "scores": scores.tolist(), "labels": labels}
    document["kept"] = {key: _for_json(cells) for key, cells in kept.items()}
    with result_first(options.as_json) as found:
        found.append((document, text.removesuffix("\n")))
        if options.out is not None:
            write_text(options.out, text)
            counts = sorted(Counter(labels or ()).items())
            words = ", ".join(f"{n} of class {value!r}" for value, n in counts)
            scored = f"{len(scores)} rows scored{': ' if words else ''}{words}"
            found[0] = document, f"{scored}; written to {options.out}"
        if ignored:  # said before the scores are printed
            note(f"columns not used: {listed(ignored)}")


def _for_json(cells: list[Any]) -> list[Any]:
    """Return a kept column of text as numbers where each cell is one, as JSON writes it."""
    try:
        found = [finite_json(cell) for cell in cells]
    except (TypeError, ValueError):
        found = []
    if found and all(type(value) in (int, float) for value in found):
        return found
    return json.loads(json.dumps([None if cell != cell else cell for cell in cells], default=str))


def write_model(path: Path, data: Data, options: Any, solution: Solution, scores: Any) -> None:
    """Write the solution as a fitted estimator: with a scaler, a `Pipeline` of both."""
    from ...exact.estimators.solved import save_model, solved_model, solved_order

    asked = {key: getattr(options, key) for key in (*ASKED, *HOW)}
    asked |= inputs.penalty_options(options, data)
    model: Any
    if not data.has_classes:
        asked |= {key: getattr(options, key) for key in ORDER}
        model = solved_order(solution, data.X, asked)
    else:
        classes, positive, weight = _classes(data.negative, data.label), data.positive, None
        if data.partitioned:
            scores, positive, weight = scores.as_rows()
        model = solved_model(solution, data.X, scores, positive, classes, asked, weight)
    if data.zero_based is not None:
        model.zero_based_ = data.zero_based
    if data.scaler is not None:
        from sklearn.pipeline import Pipeline

        model = Pipeline([("scaler", data.scaler), ("model", model)])
    elif data.columns is not None:
        model.feature_names_in_ = np.array(data.columns, dtype=object)
    save_model(model, path)


def _classes(negative: Any, positive: Any) -> np.ndarray:
    """Return both labels; "not X" for the rest against X."""
    if positive is None:
        return np.array([0, 1])
    if negative is None:
        return np.array([f"not {positive}", str(positive)])
    same = type(negative) is type(positive)
    return np.array([negative, positive] if same else [str(negative), str(positive)])


class SavedModel:
    """A model of a file of `solve --out` or `save_model`: the whole of it, its scaler if there is
    one, and its last step. An `exact` one is of `aucert.exact`, which says for which problem it
    was solved."""

    def __init__(self, path: str):
        if Path(path).is_dir():
            do = f"the model file in it is needed: {path}/model.npz"
            raise InputError(f"{path}: this is a folder, {do}")
        from ...approx.saved_models import load_model
        from ...exact.estimators.solved import ROCSVM  # the import makes its estimators known

        if path.endswith(".csv"):
            raise InputError(f"{path}: this is not a model file: weights go with certify --weights")
        self.path, self.whole = path, load_model(path)
        if not hasattr(self.whole, "decision_function"):
            raise InputError(f"{path}: a {type(self.whole).__name__} gives no scores")
        steps = [step for _, step in getattr(self.whole, "steps", [("", self.whole)])]
        self.scaler = steps[0] if len(steps) == 2 and hasattr(steps[0], "scale_") else None
        self.last, self.exact = steps[-1], isinstance(steps[-1], ROCSVM)
        self.scales_only = len(steps) == 1 + (self.scaler is not None)
        names = getattr(self.whole, "feature_names_in_", None)
        self.columns = None if names is None else tuple(map(str, names))
        self.zero_based = getattr(self.last, "zero_based_", None)
        self.has_classes = hasattr(self.last, "classes_")
        # The positive label, as `--positive` takes it.
        self.label = str(self.whole.classes_[1]) if self.has_classes else None

    def asked(self) -> dict[str, Any]:
        """Return the options of the problem that the model was solved for; none of other models."""
        found = {name: getattr(self.last, name, None) for name in (*ASKED, *ORDER)}
        return {name: x for name, x in found.items() if self.exact and x is not None}

    def weights(self, X: Any) -> np.ndarray:
        """Return the weights of the features, or the coefficients of these rows."""
        if not (self.exact or hasattr(self.last, "coef_")):
            none = f"a {type(self.last).__name__} has no weights to certify"
            raise InputError(f"{self.path}: {none}: certify its scores with --scores")
        if not self.scales_only:
            changed = "the weights of this pipeline are not those of the columns"
            raise InputError(f"{self.path}: {changed}: certify its scores with --scores")
        from ...exact.estimators.solved import weights_on

        try:
            return weights_on(self.last, X)
        except InputError as error:
            raise InputError(f"{self.path}: {error}") from None


def _read_rows(
    model: SavedModel, name: str, options: Options
) -> tuple[Any, list[str], dict[str, list[Any]]]:
    """Return the features that the model needs, in its order, what was not used, and what is kept.
    Columns are found by their names where both have some, else by their place and number."""
    drop, keep = split_names(options.drop) or (), split_names(options.keep) or ()
    if taken := [one for one in keep if one in ("score", "label")]:
        raise InputError(f"--keep {taken[0]}: the output has a column of this name: rename yours")
    kind, d = inputs.kind_of(name, options), int(model.whole.n_features_in_)
    if kind == "built in":
        X, columns, ignored, kept = load(name, 0).X, None, list[str](), dict[str, list[Any]]()
    else:
        if kind == "folder":
            raise InputError(f"{name}: predict takes one file: score those of a folder one by one")
        asked = inputs.selection_of(options, model)
        asked = replace(asked, labelled=False, columns=None, extra=keep)
        held, wanted = column_names(name, asked.header), model.columns
        if held is not None and wanted is not None:
            if drop:
                takes = f"the model {model.path} takes its columns by their names"
                raise InputError(f"{name}: {takes}: leave --drop out")
            if missing := [column for column in wanted if column not in held]:
                needs = f"the model {model.path} needs columns that are not there"
                raise InputError(f"{name}: {needs}: {listed(missing)}")
            asked = replace(asked, columns=wanted)
        with inputs.needed(asked.columns):
            table = read_raw(name, asked)
        X, columns = table.X, true_names(table.columns)
        ignored = [k for k in table.ignored if k not in drop]
        kept = {key: table.extra[key] for key in keep}
    if X.shape[1] != d:
        hint = "" if columns is None else f" ({', '.join(columns[:5])}, ...)"
        fewer = ": leave out others, such as the label, with --drop"
        do = fewer if X.shape[1] > d and kind == "file" else ""
        found = f"{X.shape[1]} feature columns{hint}"
        raise InputError(f"{name}: {found}, the model {model.path} has {d}{do}")
    return inputs.dense_for(model.scaler, X, name), ignored, kept
