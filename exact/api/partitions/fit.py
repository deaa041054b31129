"""Fitting a classifier to rows in partitions: a dask collection, or `PartitionedRows`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...certificate.solution import Callback
from ...classifier.partitions import in_partitions, opened, set_linear
from ...classifier.threshold import get_rule
from ...errors import InputError
from ...formulation.partitioned import check_request
from ...formulation.request import Request
from ...spaces.partitions.partitioned_rows import PartitionedRows
from ..solve import solve_request


def fit_in_partitions(
    model: Any,
    X: Any,
    y: object,
    sample_weight: object,
    callback: Callback | None,
    choose: Callable[[PartitionedRows], Request] | None = None,
    qid: object = None,
) -> None:
    """Fit a classifier whose parameters were checked, and set its attributes.

    The threshold is chosen from counts of the scores on a fine grid. Labels of `PartitionedRows`
    lie with the rows: `classes_` is then False and True. `choose` looks at the rows and returns
    what is asked for, where that is not yet known. With `qid` the pairs are those within a query.
    """
    request = model._request()
    if model.pairs != "all":
        raise InputError(f"rows in partitions go with pairs='all', not {model.pairs!r}")
    check_request(request)
    get_rule(model.threshold)
    with opened(X, y, sample_weight, qid) as (rows, model.classes_):
        telling = getattr(rows.engine, "telling", None)
        callback = callback if telling is None else telling(callback)
        request = request if choose is None else choose(rows)
        found = solve_request(
            rows, None, request.unlabelled(), model.method, model.tol, model.max_time, callback
        )
        set_linear(model, rows, found.w)
    model._keep_solution(found)


__all__ = ["fit_in_partitions", "in_partitions"]
