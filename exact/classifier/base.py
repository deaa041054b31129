"""What all estimators share: labels in, scores, a threshold and labels out. It solves nothing."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from ..certificate.solution import Solution, Status
from ..errors import InputError
from ..spaces.incoming import check_matrix
from ..tools.lossless import as_float64, check_labels
from ..tools.wording import at_most
from .threshold import get_rule

Matrix = np.ndarray | sp.csr_matrix


class AUCClassifier(ClassifierMixin, BaseEstimator):
    """Base of the estimators: a linear score, cut at a threshold.

    The larger label, `classes_[1]`, is the positive one, as everywhere in scikit-learn, and the
    score is high for it. A subclass has a parameter `threshold` and a `fit` that starts with
    `_check_fit` and ends with `_set_weights`; one with another score overrides `_scores`.
    """

    threshold: Any
    classes_: np.ndarray
    n_features_in_: int
    coef_: np.ndarray
    intercept_: np.ndarray

    def decision_function(self, X: object) -> np.ndarray:
        """Return the scores plus the intercept: (n,). Positive where `predict` says `classes_[1]`.

        Parameters
        ----------
        X : array or sparse matrix (n, n_features_in_)
        """
        check_is_fitted(self)
        rows = checked_rows(self, X, reset=False)
        return self._scores(rows) + self.intercept_[0]

    def predict(self, X: object) -> np.ndarray:
        """Return the label of each row: (n,).

        Parameters
        ----------
        X : array or sparse matrix (n, n_features_in_)
        """
        above = self.decision_function(X) > 0
        return self.classes_[above.astype(int)]

    def set_threshold(
        self, X: object, y: object, rule: object = None, sample_weight: object = None
    ) -> AUCClassifier:
        """Set the intercept anew, say on rows that the training has not seen.

        Parameters
        ----------
        X : array or sparse matrix (n, n_features_in_)
        y : array (n,)
            Labels of both classes.
        rule : str or callable, optional
            As the parameter `threshold`, which is the default.
        sample_weight : array (n,), optional
            >= 0; a weight means repetition.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        rows, labels = self._check_data(X, y, reset=False)
        strange = np.setdiff1d(labels, self.classes_)
        if strange.size:
            shown = strange.tolist()[0]
            raise InputError(f"the label {shown!r} was not there when the model was trained")
        weight = check_row_weights(sample_weight, labels.size)
        self._cut(
            rows, labels == self.classes_[1], weight, self.threshold if rule is None else rule
        )
        return self

    def _scores(self, X: Matrix) -> np.ndarray:
        """Return f at checked rows, without the intercept."""
        return np.asarray(X @ self.coef_[0])

    def _check_data(self, X: object, y: object, reset: bool = True) -> tuple[Matrix, np.ndarray]:
        """Return rows, as `checked_rows` does, and their labels."""
        found = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, reset=reset)
        check_labels(y)
        return check_matrix(X), found[1]

    def _check_fit(
        self, X: object, y: object, sample_weight: object = None
    ) -> tuple[Matrix, np.ndarray, np.ndarray | None]:
        """Return the rows, the mask of the positive ones and the row weights; set `classes_`.

        Rows of weight zero are left out: weight means repetition.
        """
        get_rule(self.threshold)
        rows, labels = self._check_data(X, y)
        check_classification_targets(labels)
        kind = type_of_target(labels, input_name="y", raise_unknown=True)
        if kind != "binary":
            raise InputError(
                f"Only binary classification is supported. The type of the target is {kind}."
            )
        weight = check_row_weights(sample_weight, labels.size)
        if weight is not None:
            kept = weight > 0
            rows, labels, weight = rows[kept], labels[kept], weight[kept]
        self.classes_ = np.unique(labels)
        if self.classes_.size < 2:
            raise InputError(
                f"y has one class only, {self.classes_.tolist()}: pairs need rows of two classes"
                + (" of positive weight" if weight is not None else "")
            )
        return rows, labels == self.classes_[1], weight

    def _set_weights(
        self, w: np.ndarray, X: Matrix, positive: np.ndarray, weight: np.ndarray | None = None
    ) -> None:
        """Set `coef_`, and `intercept_` by the parameter `threshold`."""
        self.coef_ = np.array(w, dtype=float).reshape(1, -1)
        self._cut(X, positive, weight, self.threshold)

    def _keep_solution(self, solution: Solution) -> None:
        """Keep a certified solution and its parts as attributes."""
        self.solution_ = solution
        self.certificate_ = solution.certificate
        self.status_ = solution.status
        self.history_ = solution.history
        self.n_iter_ = solution.n_iter

    def _cut(
        self, X: Matrix, positive: np.ndarray, weight: np.ndarray | None, rule: object
    ) -> None:
        self.intercept_ = np.array([0.0 - get_rule(rule)(self._scores(X), positive, weight)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags


def checked_rows(estimator: BaseEstimator, X: object, reset: bool = True) -> Matrix:
    """Return the rows through the one door for data, after scikit-learn's own checks.

    Parameters
    ----------
    estimator : estimator
        Whose number and names of features are set, or compared.
    X : array or sparse matrix (n, d)
    reset : bool
        Whether they are set.
    """
    validate_data(estimator, X, accept_sparse="csr", dtype=np.float64, reset=reset)
    return check_matrix(X)


def draw_seed(random_state: Any) -> int:
    """Return a whole number as it is, and otherwise draw one from the `RandomState`."""
    if isinstance(random_state, Integral):
        if random_state < 0:
            raise InputError(f"random_state must be >= 0, not {random_state!r}")
        return int(random_state)
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError as error:
        raise InputError(f"random_state: {error}") from None


def check_row_weights(weight: object, n: int) -> np.ndarray | None:
    """Return the row weights as floats, (n,), or None.

    Raises
    ------
    InputError
        Unless there is one finite weight >= 0 a row, and one of them is positive.
    """
    if weight is None:
        return None
    array = as_float64(weight, "sample_weight")
    if array.shape != (n,):
        raise InputError(f"sample_weight has the shape {array.shape}, but X has {n} rows")
    bad = np.flatnonzero(~(np.isfinite(array) & (array >= 0)))
    if bad.size:
        raise InputError(
            f"sample_weight of row {bad[0]} is {array[bad[0]]}: weights are finite and >= 0"
        )
    if not array.any():
        raise InputError("sample_weight is zero in every row: nothing is left to train on")
    return array


def warn_unless_certified(solution: Solution, tol: float, of: str = "the objective") -> None:
    """Warn, with the advice of the status, where a solution is not proved to `tol`."""
    if solution.status == Status.CERTIFIED:
        return
    certificate = solution.certificate
    proved, relative = certificate.gap + certificate.rounding, certificate.relative_gap
    shown = at_most(proved, 2)
    if relative is not None:
        shown = f"{at_most(proved / certificate.primal, 2)} of {of}"
    warnings.warn(
        f"the gap and its rounding together are {shown}, not within tol={tol:g}. "
        f"{solution.status.advice}",
        ConvergenceWarning,
        stacklevel=3,
    )
