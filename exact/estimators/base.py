"""Base classes of the estimators, and checks of what they are given."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from ..certificate.order import counted_scores
from ..certificate.solution import Solution, Status
from ..errors import InputError, brief, warn_the_user
from ..formulation.request import is_dask, rows_of_dask
from ..pairs.all_pairs import kinds_of
from ..pairs.ordered_pairs import one_a_row
from ..spaces.partitions import PartitionedRows
from ..spaces.rows import partitions_of
from ..tools.arrays import as_float64, check_labels, check_matrix, frame_names
from ..tools.rounding import at_most
from ..tools.threads import small_in_one_thread
from .thresholds import Rule, Weight, get_rule

Matrix = np.ndarray | sp.csr_matrix


class TrainingRows(NamedTuple):
    rows: Matrix
    positive: np.ndarray
    weight: Weight
    queries: np.ndarray | None = None


def check_rows(estimator: BaseEstimator, X: object, reset: bool = True) -> Matrix:
    _validated(estimator, X, reset=reset)
    return check_matrix(X)


def _validated(estimator: BaseEstimator, X: Any, *y: object, reset: bool) -> Any:
    """Return what scikit-learn's `validate_data` does; a column of text is named."""
    repeated = [name for name, times in Counter(frame_names(X)).items() if times > 1]
    if repeated:
        raise InputError(f"X has two columns called {repeated[0]!r}: rename or drop one")
    try:
        return validate_data(estimator, X, *y, accept_sparse="csr", dtype=np.float64, reset=reset)
    except ValueError:
        for name in frame_names(X):
            if any(isinstance(value, str) for value in X[name]):
                raise InputError(f"column {name!r} of X holds text: encode or drop it") from None
        raise


def draw_seed(random_state: Any) -> int:
    if isinstance(random_state, Integral):
        if random_state < 0:
            raise InputError(f"random_state must be >= 0, not {brief(random_state)}")
        return int(random_state)
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError as error:
        raise InputError(f"random_state: {error}") from None


def check_row_weights(weight: object, n: int) -> np.ndarray | None:
    if weight is None:
        return None
    array = as_float64(weight, "sample_weight")
    if array.shape != (n,):
        raise InputError(f"sample_weight has the shape {array.shape}, but X has {n} rows")
    bad = np.flatnonzero(~(np.isfinite(array) & (array >= 0)))
    if bad.size:
        raise InputError(f"sample_weight of row {bad[0]} is {array[bad[0]]}, not finite and >= 0")
    if not array.any():
        raise InputError("sample_weight is zero in every row: nothing is left to train on")
    return array


Progress = Callable[[Any], object]  # called with each `Step`, `Pass` or `Epoch` of a run
REPETITION = (  # scikit-learn's checks that a weight means repetition, and those that one is taken
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)
TAKEN = "pandas_series not_an_array list shape not_overwritten".split()
WEIGHTS = (*REPETITION, *(f"check_sample_weights_{kind}" for kind in TAKEN))


class Estimator(BaseEstimator):
    """Base of all estimators here: a run that fell short of what was asked for says so."""

    _unsaved: ClassVar[tuple[str, ...]] = ()  # attributes with training rows, not in model files

    @property
    def expected_failed_checks(self) -> dict[str, str]:
        """Which of scikit-learn's checks fail with these parameters, and why."""
        return {}

    @abstractmethod
    def _shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the fields that score rows, and their shapes."""

    @abstractmethod
    def _shortfall(self) -> str | None:
        """Return what the run fell short of and what to do, as a warning says it, or None."""

    def _warn(self) -> Self:
        """Warn the caller of `fit` if the run fell short; raise the interrupt that ended it."""
        if vars(self).get("status_") == Status.INTERRUPTED:
            raise KeyboardInterrupt
        shortfall = self._shortfall()
        if shortfall is not None:
            warn_the_user(shortfall, ConvergenceWarning)
        return self


@dataclass(eq=False, repr=False)
class AUCClassifier(ClassifierMixin, Estimator, ABC):
    """Base of the estimators: a score and a cut. The larger label, `classes_[1]`, is positive."""

    _train_apart: ClassVar[Any] = None  # trains on rows in partitions, and returns the weights
    _: KW_ONLY
    threshold: str | Rule = "equal-error"
    max_time: float | None = None

    def fit(
        self, X: object, y: object, sample_weight: object = None, callback: Progress | None = None
    ) -> Self:
        """Train the model on these rows."""
        self._fit(X, y, sample_weight, callback)
        return self._warn()

    @small_in_one_thread
    def _fit(self, X: Any, y: Any, sample_weight: Any, callback: Any, qid: Any = None) -> None:
        self._check_parameters()
        if self._train_apart is None or not in_partitions(X):
            self._train(self._check_fit(X, y, sample_weight, qid), callback)
            return
        get_rule(self.threshold)
        with opened(X, y, sample_weight, qid) as (rows, self.classes_):
            w = self._train_apart(rows, callback)
            scores, positive, weight = counted_scores(rows, w).as_rows()
            self.coef_ = np.array(w, dtype=float).reshape(1, -1)
            self._cut(scores, positive, weight, self.threshold)
            self.n_features_in_ = rows.dim
            self.__dict__.pop("feature_names_in_", None)
            if rows.columns is not None:
                self.feature_names_in_ = np.array(rows.columns, dtype=object)

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise `InputError` unless all parameters can be used; the threshold is checked later."""

    @abstractmethod
    def _train(self, data: TrainingRows, callback: Progress | None) -> None:
        """Train on the checked rows and set all attributes."""

    def decision_function(self, X: object) -> np.ndarray:
        """Return the scores plus the intercept: (n,); > 0 where `predict` says `classes_[1]`."""
        check_is_fitted(self)
        if hasattr(X, "__dask_graph__"):
            blocks = in_blocks(X, self.n_features_in_, getattr(self, "feature_names_in_", None))
            scored = blocks.map_blocks(partial(of_numbers, self._scores), drop_axis=1, dtype=float)
            return scored + float(self.intercept_[0])
        return self._scores(check_rows(self, X, reset=False)) + self.intercept_[0]

    def predict(self, X: object) -> np.ndarray:
        """Return the label of each row: (n,)."""
        above: Any = self.decision_function(X) > 0
        if hasattr(above, "__dask_graph__"):
            named = partial(np.take, self.classes_)
            return above.astype(int).map_blocks(named, dtype=self.classes_.dtype)
        return self.classes_[above.astype(int)]

    def set_threshold(
        self, X: object, y: object, rule: object = None, sample_weight: object = None
    ) -> Self:
        """Choose the intercept again, for example on rows held out from the training."""
        check_is_fitted(self)
        rows, labels = self._check_data(X, y, reset=False)
        strange = np.setdiff1d(labels, self.classes_)
        if strange.size:
            label = strange.tolist()[0]
            raise InputError(f"the label {label!r} was not there when the model was trained")
        weight = check_row_weights(sample_weight, labels.size)
        chosen = self.threshold if rule is None else rule
        self._cut(self._scores(rows), labels == self.classes_[1], weight, chosen)
        return self

    def _scores(self, X: Matrix) -> np.ndarray:
        return np.asarray(X @ self.coef_[0])

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {"coef_": (1, self.n_features_in_), "intercept_": (1,), "classes_": (2,)}

    def _check_data(self, X: object, y: object, reset: bool = True) -> tuple[Matrix, np.ndarray]:
        found = _validated(self, X, y, reset=reset)
        check_labels(y)
        return check_matrix(X), found[1]

    def _check_fit(self, X: Any, y: Any, weight: Any = None, qid: Any = None) -> TrainingRows:
        """Return what to train on, without rows of weight zero, and set `classes_`."""
        get_rule(self.threshold)
        rows, labels = self._check_data(X, y)
        # One label of each kind where there are two: scikit-learn's checks sort their input.
        plain = labels.ndim == 1 and labels.dtype.kind != "O"
        kinds = kinds_of(labels) if plain else labels
        kinds = kinds if kinds.size == 2 else labels
        check_classification_targets(kinds)
        kind = type_of_target(kinds, input_name="y", raise_unknown=True)
        if kind != "binary":
            raise InputError(
                f"Only binary classification is supported. The type of the target is {kind}."
            )
        weight = check_row_weights(weight, labels.size)
        queries = None if qid is None else one_a_row(check_labels(qid), labels.size, "qid")
        if weight is not None:
            kept = weight > 0
            rows, labels, weight = rows[kept], labels[kept], weight[kept]
            queries = None if queries is None else queries[kept]
        self.classes_ = kinds_of(labels)
        if self.classes_.size < 2:
            raise InputError(
                f"y has one class only, {self.classes_.tolist()}: pairs need rows of two classes"
                + (" of positive weight" if weight is not None else "")
            )
        return TrainingRows(rows, labels == self.classes_[1], weight, queries)

    def _set_weights(
        self, w: np.ndarray, X: Matrix, positive: np.ndarray, weight: np.ndarray | None = None
    ) -> None:
        self.coef_ = np.array(w, dtype=float).reshape(1, -1)
        self._cut(self._scores(X), positive, weight, self.threshold)

    def _cut(self, scores: np.ndarray, positive: np.ndarray, weight: Weight, rule: object) -> None:
        self.intercept_ = np.array([0.0 - get_rule(rule)(scores, positive, weight)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags


def keep_solution(model: Any, solution: Solution) -> None:
    model.solution_, model.certificate_ = solution, solution.certificate
    model.status_, model.n_iter_ = solution.status, solution.n_iter
    model.history_ = solution.history


def shortfall_of(solution: Solution, tol: float, of: str = "the objective") -> str | None:
    """Return how far a solution is from being proved to `tol`, with advice; None where it is."""
    if solution.status == Status.CERTIFIED:
        return None
    gap, share = solution.certificate.gap, solution.certificate.relative_gap
    shown = at_most(gap, 2) if share is None else f"{at_most(share, 2)} of {of}"
    return f"the gap is {shown}, not within tol={tol:g}. {solution.status.advice}"


@dataclass(eq=False, repr=False)
class QueryClassifier(AUCClassifier):
    def fit(
        self,
        X: object,
        y: object,
        sample_weight: object = None,
        callback: Progress | None = None,
        qid: object = None,
    ) -> Self:
        self._fit(X, y, sample_weight, callback, qid)
        return self._warn()


def in_partitions(X: object) -> bool:
    return is_dask(X) or partitions_of(X) is not None


@contextmanager
def opened(
    X: Any, y: object, sample_weight: object, qid: object = None
) -> Iterator[tuple[PartitionedRows, np.ndarray]]:
    """Yield rows in partitions and both labels: False and True where they lie with the rows."""
    own = partitions_of(X)
    if own is not None:
        if not (y is None and sample_weight is None and qid is None):
            raise InputError("labels and weights lie with the rows in their partitions: give none")
        own.as_classes()
        yield own, np.array([False, True])
        return
    rows, classes = rows_of_dask(X, y, sample_weight, None, qid)
    try:
        yield rows, classes
    finally:
        rows.engine.close()


def in_blocks(X: Any, dim: int | None = None, names: Sequence[str] | None = None) -> Any:
    """Return a collection as a dask array (n, d) whose blocks have all columns."""
    blocks = X.to_dask_array() if hasattr(X, "to_dask_array") else X
    if len(blocks.shape) != 2 or (dim is not None and blocks.shape[1] != dim):
        wanted = "two dimensions" if dim is None else f"{dim} columns, one for each feature,"
        raise InputError(f"X has the shape {X.shape}: {wanted} are needed")
    if names is not None and hasattr(X, "columns") and list(X.columns) != list(names):
        raise InputError("the columns of X are not those that were fitted")
    return blocks.rechunk({1: -1})


def of_numbers(function: Callable[[np.ndarray], np.ndarray], rows: np.ndarray) -> np.ndarray:
    """Return the function of some rows, checked; a partial of this is sent to workers."""
    numbers = as_float64(rows, "X", "a matrix of numbers")
    if not np.isfinite(numbers).all():
        raise InputError("X has a value that is not finite: remove or impute it first")
    return function(numbers)
