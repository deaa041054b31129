"""Fitting a classifier to rows in partitions: a dask collection, or `PartitionedRows`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...certificate.partitioned.spread import counted_scores
from ...certificate.solution import Callback
from ...classifier.threshold import get_rule
from ...errors import InputError
from ...formulation.partitioned import check_request, is_dask, rows_of_dask
from ...formulation.request import Request
from ...spaces.partitions.partitioned_rows import PartitionedRows
from ..solve import solve_request


def in_partitions(X: object) -> bool:
    """Return whether `X` is of the kinds that `fit_in_partitions` takes."""
    return is_dask(X) or isinstance(X, PartitionedRows)


def fit_in_partitions(
    model: Any,
    X: Any,
    y: object,
    sample_weight: object,
    callback: Callback | None,
    choose: Callable[[PartitionedRows], Request] | None = None,
) -> None:
    """Fit a classifier whose parameters were checked, and set its attributes.

    The threshold is chosen from counts of the scores on a fine grid. Labels of `PartitionedRows`
    lie with the rows: `classes_` is then False and True. `choose` looks at the rows and returns
    what is asked for, where that is not yet known.

    Raises
    ------
    InputError
        If partitions cannot do what is asked for, or the data cannot be used.
    """
    request = model._request()
    if model.pairs != "all":
        raise InputError(f"rows in partitions go with pairs='all', not {model.pairs!r}")
    check_request(request)
    get_rule(model.threshold)
    if isinstance(X, PartitionedRows):
        if y is not None or sample_weight is not None:
            raise InputError("labels and weights lie with the rows in their partitions: give none")
        rows, model.classes_ = X, np.array([False, True])
    else:
        rows, model.classes_ = rows_of_dask(X, y, sample_weight, None)
        callback = rows.engine.telling(callback)
    try:
        request = request if choose is None else choose(rows)
        found = solve_request(
            rows, None, request.unlabelled(), model.method, model.tol, model.max_time, callback
        )
        spread = counted_scores(rows, found.w)
    finally:
        if rows is not X:
            rows.engine.close()
    model._keep_solution(found)
    model.coef_ = np.array(found.w, dtype=float).reshape(1, -1)
    scores, positive, weight = spread.as_rows()
    model.intercept_ = np.array([0.0 - get_rule(model.threshold)(scores, positive, weight)])
    model.n_features_in_ = rows.dim
    if rows.columns is not None:
        model.feature_names_in_ = np.array(rows.columns, dtype=object)
    elif hasattr(model, "feature_names_in_"):
        del model.feature_names_in_
