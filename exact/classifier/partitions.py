"""What fitting to rows in partitions shares: opening them, and a linear model's attributes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..certificate.partitioned.spread import counted_scores
from ..errors import InputError
from ..formulation.partitioned import is_dask, rows_of_dask
from ..spaces.partitions.grouped.grouped_rows import GroupedRows
from ..spaces.partitions.partitioned_rows import PartitionedRows
from .threshold import get_rule


def in_partitions(X: object) -> bool:
    """Return whether `X` is a dask collection or `PartitionedRows`."""
    return is_dask(X) or isinstance(X, PartitionedRows)


@contextmanager
def opened(
    X: Any, y: object, sample_weight: object, qid: object = None
) -> Iterator[tuple[PartitionedRows, np.ndarray]]:
    """Yield rows in partitions and both labels; what was made for a dask collection ends after.

    Labels of `PartitionedRows` lie with the rows: they are then False and True.
    """
    if isinstance(X, PartitionedRows):
        if not (y is None and sample_weight is None and qid is None):
            raise InputError("labels and weights lie with the rows in their partitions: give none")
        if isinstance(X, GroupedRows):
            X.as_classes()
        yield X, np.array([False, True])
        return
    rows, classes = rows_of_dask(X, y, sample_weight, None, qid)
    try:
        yield rows, classes
    finally:
        rows.engine.close()


def set_linear(model: Any, rows: PartitionedRows, w: np.ndarray) -> None:
    """Set the weights of a model, its intercept from counts of the scores, and its features."""
    spread = counted_scores(rows, w)
    model.coef_ = np.array(w, dtype=float).reshape(1, -1)
    scores, positive, weight = spread.as_rows()
    model.intercept_ = np.array([0.0 - get_rule(model.threshold)(scores, positive, weight)])
    model.n_features_in_ = rows.dim
    if rows.columns is not None:
        model.feature_names_in_ = np.array(rows.columns, dtype=object)
    elif hasattr(model, "feature_names_in_"):
        del model.feature_names_in_
