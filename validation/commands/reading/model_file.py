"""The model file of `solve --out`, and what `predict` and `certify --model` take from one.

Estimators, and with them scikit-learn, are imported where a model is written or read: a command
without one starts in half the time.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ....exact.certificate.solution import Solution
from ....exact.errors import InputError
from ...data.datasets import load, names
from ...files.tables import Selection, column_names, read_raw
from ...memory import check_room
from .inputs import Data, check_told
from .penalties import penalty_options
from .scaled_tables import selection_of, split_names, true_names

ASKED = (
    *("lam", "loss", "gamma", "structure", "l1", "groups", "sign"),
    *("pairs", "fpr_max", "tpr_min", "worst_of", "seed"),
)
ORDER = ("qid", "target", "time", "event")
"""Options of a problem over ordered pairs, and the columns that they name."""

"""Options of the problem that a model file holds, beside the kernel."""

HOW = ("tol", "method", "max_time", "threshold")
"""Options of the solver, and the rule of the intercept."""


def write_model(
    path: Path, data: Data, options: dict[str, Any], solution: Solution, scores: Any
) -> None:
    """Write the solution as a fitted estimator: with a scaler, a `Pipeline` of both.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    from ....exact.api.saved_models import save_model, solved_model, solved_order

    asked = {key: options[key] for key in (*ASKED, "kernel", *HOW) if key in options}
    asked |= penalty_options(options, data.columns, int(data.X.shape[1]))
    model: Any
    if not data.has_classes:
        model = solved_order(solution, data.X, asked | {key: options.get(key) for key in ORDER})
    else:
        classes = _classes(data.negative, data.label)
        if data.partitioned:
            scores, positive, weight = scores.as_rows()
        else:
            positive, weight = data.positive, None
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


@dataclass(frozen=True)
class SavedModel:
    """A model read from a file: the whole of it, its scaler if there is one, and its last step."""

    path: str
    whole: Any
    scaler: Any
    last: Any
    exact: bool
    """Whether the last step is one of `aucert.exact`, which tells the problem it was solved for."""

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Names of the features, where the model has them."""
        held = getattr(self.whole, "feature_names_in_", None)
        return None if held is None else tuple(map(str, held))

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.whole.n_features_in_)

    def read_as(self, asked: Selection) -> Selection:
        """Return how its rows are read: of an svmlight file as those that it was trained on."""
        base = getattr(self.last, "zero_based_", None)
        base = base if asked.zero_based is None else asked.zero_based
        return replace(asked, zero_based=base, width=self.n_features)

    def asked(self) -> dict[str, Any]:
        """Return the options of the problem that the model was solved for; none of other models."""
        if not self.exact:
            return {}
        found = {name: getattr(self.last, name, None) for name in (*ASKED, *ORDER, "kernel")}
        return {name: value for name, value in found.items() if value is not None}

    @property
    def label(self) -> str | None:
        """The positive label, as `--positive` takes it; None of a model of ordered pairs."""
        return str(self.whole.classes_[1]) if self.has_classes else None

    @property
    def has_classes(self) -> bool:
        """Whether the model tells two classes apart; one of ordered pairs only gives scores."""
        return hasattr(self.last, "classes_")

    def weights(self, X: Any) -> np.ndarray:
        """Return the weights of the features, or the coefficients of these rows."""
        if not (self.exact or hasattr(self.last, "coef_")):
            raise InputError(
                f"{self.path}: a {type(self.last).__name__} has no weights to certify: certify "
                "its scores with --scores"
            )
        from ....exact.api.saved_models import weights_on

        try:
            return weights_on(self.last, X)
        except InputError as error:
            raise InputError(f"{self.path}: {error}") from None


def read_model(path: str) -> SavedModel:
    """Return the model of a file of `solve --out` or `save_model`.

    Raises
    ------
    InputError
        If it is none, or a kind of model that gives no scores.
    """
    if Path(path).is_dir():
        raise InputError(
            f"{path}: this is a folder, the model file in it is needed: {path}/model.npz"
        )
    from ....approx.saved_models import load_model
    from ....exact.api.saved_models import ROCSVM  # the import makes its estimators known

    whole = load_model(path)
    steps = [step for _, step in whole.steps] if hasattr(whole, "steps") else [whole]
    if not hasattr(whole, "decision_function"):
        raise InputError(f"{path}: a {type(whole).__name__} gives no scores")
    plain = len(steps) == 2 and hasattr(steps[0], "scale_")
    return SavedModel(
        path, whole, steps[0] if plain else None, steps[-1], isinstance(steps[-1], ROCSVM)
    )


def read_rows(model: SavedModel, name: str, options: dict[str, Any]) -> tuple[Any, list[str]]:
    """Return the features of the data that the model needs, in its order, and what was not used.

    Columns are found by their names where both have some, and refused where they disagree; else
    by their place, and then their number must agree. Of an svmlight file zeros are left out.

    Raises
    ------
    InputError
    """
    check_told(name, options)
    drop = split_names(options.get("drop")) or ()
    if name.split(":")[0] in names() and not Path(name).exists():
        X, columns, ignored = load(name, 0).X, None, []
    else:
        asked = replace(selection_of(options), labelled=False)
        if model.columns is not None and (wanted := _present(model, name, asked.header)):
            asked, drop = replace(asked, columns=wanted, drop=()), ()
        table = read_raw(name, model.read_as(asked))
        X, columns = table.X, true_names(table.columns)
        ignored = [k for k in table.ignored if k not in drop]
    d = model.n_features
    if X.shape[1] != d:
        hint = "" if columns is None else f" ({', '.join(columns[:5])}, ...)"
        raise InputError(
            f"{name}: {X.shape[1]} feature columns{hint}, the model {model.path} has {d}: leave "
            "out others, such as the label, with --drop"
        )
    return _centrable(model, X, name), ignored


def _centrable(model: SavedModel, X: Any, name: str) -> Any:
    """Return sparse rows as dense ones where the model takes means off its columns.

    Raises
    ------
    InputError
        If they do not fit into the memory.
    """
    if not sp.issparse(X) or not getattr(model.scaler, "with_mean", False):
        return X
    what = f"{name}: the rows as a dense table, since the model takes means off its columns"
    check_room(what, 8 * X.shape[0] * X.shape[1], "give fewer rows at a time")
    return X.toarray()


def _present(model: SavedModel, name: str, header: bool | None) -> tuple[str, ...] | None:
    """Return the model's columns if the data have names, None where they have none."""
    held, wanted = column_names(name, header), model.columns
    assert wanted is not None
    if held is None:
        return None
    missing = [column for column in wanted if column not in held]
    if missing:
        shown = ", ".join(f"'{column}'" for column in missing[:10])
        more = f" and {len(missing) - 10} more" if len(missing) > 10 else ""
        raise InputError(
            f"{name}: the model {model.path} needs columns that are not there: {shown}{more}"
        )
    return wanted


def scores_and_labels(model: SavedModel, X: Any) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the score of each row, with the intercept, and its label if there are classes."""
    with warnings.catch_warnings():
        # The columns were matched here; scikit-learn cannot see the names of an array.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        scores = np.asarray(model.whole.decision_function(X), dtype=float)
        return scores, np.asarray(model.whole.predict(X)) if model.has_classes else None
