"""What estimators are given, checked: rows, row weights and the seed."""

from __future__ import annotations

from collections import Counter
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from ..errors import InputError
from ..tools.lossless import as_float64, check_matrix, frame_names

Matrix = np.ndarray | sp.csr_matrix


class TrainingRows(NamedTuple):
    """What a fit is given, checked: rows, the mask of the positive ones, row weights or None."""

    rows: Matrix
    positive: np.ndarray
    weight: np.ndarray | None


def check_rows(estimator: BaseEstimator, X: object, reset: bool = True) -> Matrix:
    """Return the rows as `check_matrix` does, after scikit-learn's own checks."""
    check_column_names(X)
    validate_data(estimator, X, accept_sparse="csr", dtype=np.float64, reset=reset)
    return check_matrix(X)


def check_column_names(X: object) -> None:
    """Raise `InputError` for a data frame in which two columns have one name."""
    repeated = [name for name, times in Counter(frame_names(X)).items() if times > 1]
    if repeated:
        raise InputError(f"X has two columns called {repeated[0]!r}: rename or drop one")


def draw_seed(random_state: Any) -> int:
    """Return `random_state` itself if it is a whole number, else a number drawn from it."""
    if isinstance(random_state, Integral):
        if random_state < 0:
            raise InputError(f"random_state must be >= 0, not {random_state!r}")
        return int(random_state)
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError as error:
        raise InputError(f"random_state: {error}") from None


def check_row_weights(weight: object, n: int) -> np.ndarray | None:
    """Return the row weights as floats, (n,), or None."""
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
