"""Problems over rows in partitions: of `PartitionedRows`, or of dask's collections."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numpy as np

from ..errors import InputError
from ..losses.registry import ALL_LOSSES, OURS
from ..pairs.all_pairs import AllPairs, split_labels
from ..pairs.partitioned_pairs import PartitionedOrder, pairs_in
from ..problem.problem import Problem
from ..problem.risk import Mean
from ..spaces.partitions import PartitionedRows
from ..spaces.rows import space_of
from .request import Request

P = ParamSpec("P")
T = TypeVar("T")


def partitioned_problem(X: object, y: object, request: Request) -> Problem | None:
    """Return the problem over rows in partitions, or None if `X` is anything else."""
    rows = space_of(X).apart
    if rows is None:
        return None
    check_request(request)
    assert isinstance(request.pairs, AllPairs)
    beside_rows(y, request.positive, request.pairs.weight)
    pairs: Any = pairs_in(rows.facts) if rows.grouped is None else PartitionedOrder(rows.grouped)
    return Problem(rows, Mean(pairs, request.loss), request.penalty)


def check_request(request: Request) -> None:
    """Raise `InputError` unless rows in partitions support the request."""
    if not request.is_plain:
        raise InputError(
            "rows in partitions are for linear problems over all pairs, or those within a query, "
            "with the ridge: take a sample of the rows for anything else"
        )
    if type(request.loss) not in OURS:
        raise InputError(
            f"rows in partitions have no sums of the loss {request.loss.name!r}: choose one of "
            f"{', '.join(ALL_LOSSES)}"
        )


def beside_rows(*given: object) -> None:
    """Raise `InputError` if labels or weights are given: they belong to the partitions."""
    if any(one is not None for one in given):
        raise InputError(
            "labels and weights lie with the rows in their partitions: leave y, positive and "
            "sample_weight out"
        )


def refuse_method(X: object, method: str) -> None:
    """Raise `InputError` if `X` is rows in partitions: `method` does not read them."""
    if space_of(X).apart is not None:
        raise InputError(f"rows in partitions are solved by descent, not by {method!r}")


def is_dask(X: object) -> bool:
    """Return whether `X` is a dask array, a dask dataframe or another collection of dask."""
    return hasattr(X, "__dask_graph__") and hasattr(X, "to_delayed")


def rows_of_dask(
    X: Any, y: Any, weight: Any, positive: object, qid: Any = None, graded: bool = False
) -> tuple[PartitionedRows, Any]:
    """Return the rows of a dask collection, and both labels: the negative and the positive one.
    With `qid` their pairs are those within a query; with `graded`, too, y are the grades, and there
    are not labels."""
    try:
        from ..spaces.dask_rows import dask_rows
    except ImportError as error:
        raise InputError(f"dask collections need aucert[dask]: {error}") from None

    def split(labels: np.ndarray) -> tuple[Any, Any]:
        _, one, other = split_labels(labels, positive)
        return one, other

    return dask_rows(X, y, weight, None if graded else split, qid=qid)


def dask_too(work: Callable[P, T]) -> Callable[P, T]:
    """Let `work`, a function of X, y and more, take dask collections as rows in partitions."""
    names = list(inspect.signature(work).parameters)

    @functools.wraps(work)
    def taken(*args: Any, **kwargs: Any) -> T:
        given = dict(zip(names, args, strict=False)) | kwargs
        if not is_dask(given.get("X")):
            return work(*args, **kwargs)
        weight, positive, qid = (given.pop(k, None) for k in ("sample_weight", "positive", "qid"))
        if qid is not None and positive is not None:
            raise InputError("ordered pairs have no positive label: leave positive out")
        rows, _ = rows_of_dask(
            given["X"], given.get("y"), weight, positive, qid, graded=qid is not None
        )
        try:
            given |= {"X": rows, "y": None}
            if "callback" in names and "lams" not in names:  # those of a path hear of each lam
                given["callback"] = rows.engine.telling(given.get("callback"))
            return work(**given)  # type: ignore[call-arg]
        finally:
            rows.engine.close()

    return taken
