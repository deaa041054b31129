"""Dask arrays and dask dataframes as rows in partitions, held where the cluster put them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, cast

import dask
import dask.array as da
import numpy as np
from distributed import Client, Future, LocalCluster, get_client

from ...errors import InputError, NoRowsError
from ...tools.checks import as_numbers
from ...tools.lossless import check_labels, check_one_type, why_unsorted
from .dask_engine import DaskEngine
from .dask_errors import one_sentence
from .dask_work import raised, told
from .grouped.grouped_rows import GroupedRows
from .partitioned_rows import PartitionedRows

# What is to be done where a group of a dask collection is split.
SHUFFLED = (
    "shuffle the rows by it (`frame.shuffle(column)` of dask dataframes), or sort them by their "
    "group and cut them between groups"
)

# Of distinct labels returns the positive one and the other.
Split = Callable[[np.ndarray], tuple[Any, Any]]


def dask_rows(
    X: Any,
    y: Any,
    weight: Any,
    split: Split | None,
    client: Client | None = None,
    qid: Any = None,
) -> tuple[PartitionedRows, np.ndarray]:
    """Return the rows of a dask collection, and both labels: the negative and the positive one.

    With `qid` they are `GroupedRows`.
    """
    found, close = _client(client)
    cluster: Any = found  # dask's own types fit neither its arguments nor its results
    try:
        blocks = _blocks(X)
        labels = _column(y, X, len(blocks), "y")
        weights = None if weight is None else _column(weight, X, len(blocks), "sample_weight")
        groups = None if qid is None else _column(qid, X, len(blocks), "qid")
        parts, classes = _parts(cluster, blocks, labels, weights, groups, split)
        engine = DaskEngine(cluster, parts, close)
        if qid is not None:
            rows: PartitionedRows = GroupedRows(engine, _names(X), SHUFFLED)
        else:
            rows = PartitionedRows(engine, _names(X))
        engine.numbers = rows.n * rows.dim
        return rows, classes
    except BaseException:
        if close is not None:
            close()
        raise


def _parts(
    cluster: Any,
    blocks: list[Any],
    labels: list[Any],
    weights: list[Any] | None,
    groups: list[Any] | None,
    split: Split | None,
) -> tuple[list[Future], np.ndarray]:
    """Return the partitions on the cluster, and both labels.

    The labels themselves are let go of on return, before the first pass.
    """
    held = cluster.compute(labels)
    positive = other = None
    if split is not None:
        found = [cluster.submit(_distinct, y, k) for k, y in enumerate(held)]
        positive, other = split(_union(_gathered(cluster, found)))
    parts = [
        dask.delayed(_part, pure=False)(
            k,
            block,
            held[k],
            None if weights is None else weights[k],
            positive,
            None if groups is None else groups[k],
        )
        for k, block in enumerate(blocks)
    ]
    return cluster.compute(parts), np.array([other, positive])


def _client(client: Client | None) -> tuple[Client, Callable[[], object] | None]:
    """Return a client, and what ends it if it was made here."""
    if client is not None:
        return client, None
    try:
        return get_client(), None
    except ValueError:
        # Threads: new processes would run a script again that has no `if __name__ == "__main__"`.
        cluster = LocalCluster(processes=False, dashboard_address=":0")
        made = Client(cluster)

        def close() -> None:
            made.close()
            cluster.close()

        return made, close


def _blocks(X: Any) -> list[Any]:
    """Return the blocks of rows of a collection, delayed."""
    if len(getattr(X, "shape", ())) != 2:
        raise InputError("X must be a dask array of two dimensions or a dask dataframe")
    whole: Any = X
    if isinstance(X, da.Array) and X.numblocks[1] > 1:
        whole = whole.rechunk({1: -1})
    # Dask may read few columns in fewer pieces: rows and labels would then be cut differently.
    found = whole.to_delayed(optimize_graph=False)
    return list(np.ravel(found)) if isinstance(found, np.ndarray) else list(found)


def _column(y: Any, X: Any, count: int, name: str) -> list[Any]:
    """Return the blocks of labels or weights, one for each block of rows."""
    if y is None:
        raise InputError(f"{name} is missing: give a dask array or series, cut as X is")
    if not hasattr(y, "__dask_graph__"):
        chunks = X.chunks[0] if isinstance(X, da.Array) else (np.nan,)
        if np.isnan(chunks).any():
            raise InputError(
                f"{name} is in memory, and where X is cut is not known: make {name} a dask array "
                "or series cut at the same rows"
            )
        values = np.asarray(y)
        if values.shape != (int(sum(chunks)),):
            raise InputError(f"{name} has the shape {values.shape}, and X {X.shape[0]} rows")
        arrays: Any = da
        y = arrays.from_array(values, chunks=(chunks,))
    if len(getattr(y, "shape", ())) != 1:
        raise InputError(f"{name} must have one value a row: a dask array of one dimension")
    both = isinstance(X, da.Array) and isinstance(y, da.Array)
    if both and not np.isnan([*X.chunks[0], *y.chunks[0]]).any() and X.chunks[0] != y.chunks[0]:
        if X.shape[0] != y.shape[0]:
            raise InputError(f"{name} has {y.shape[0]} rows, and X {X.shape[0]}")
        y = cast(Any, y).rechunk((X.chunks[0],))
    found = list(np.ravel(np.array(cast(Any, y).to_delayed(optimize_graph=False), dtype=object)))
    if len(found) != count:
        raise InputError(
            f"{name} is in {len(found)} partitions and X in {count}: cut both at the same rows"
        )
    return found


def _names(X: Any) -> list[str] | None:
    columns = getattr(X, "columns", None)
    if columns is None or not all(isinstance(name, str) for name in columns):
        return None
    return list(columns)


def _gathered(client: Client, futures: Iterable[Future]) -> list[Any]:
    with one_sentence():
        found: Any = client.gather(list(futures))
        return raised(found)


@told
def _distinct(y: Any, index: int) -> np.ndarray:
    """Return the distinct labels of a block."""
    labels = check_labels(y, f"y of partition {index}")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        row = int(np.argmin(np.isfinite(labels)))
        raise InputError(
            f"the label of row {row} of partition {index} is {labels[row]}: remove the row or set "
            "a label"
        )
    try:
        return np.unique(labels)
    except TypeError:
        raise InputError(why_unsorted(labels, f" of partition {index}")) from None


def _union(kinds: list[np.ndarray]) -> np.ndarray:
    """Return the distinct labels of all blocks."""
    some = {f"partition {k}": kind for k, kind in enumerate(kinds) if kind.size}
    if not some:
        raise NoRowsError("all partitions are empty: there are no rows")
    check_one_type(some, "the labels")
    every = np.concatenate(list(some.values()))
    try:
        return np.unique(every)
    except TypeError:
        raise InputError(why_unsorted(every)) from None


@told
def _part(
    index: int, X: Any, y: Any, weight: Any, positive: Any, group: Any = None
) -> tuple[Any, ...]:
    """Return a block as it is, the mask of its positive rows, its weights, and perhaps its groups.

    With groups and no positive label, the numbers y stand in the place of the mask.
    """
    own: Any = getattr(X, "index", None)
    for other in (y, weight, group):
        index_of: Any = getattr(other, "index", None)
        if hasattr(own, "equals") and hasattr(index_of, "equals") and not own.equals(index_of):
            raise InputError(
                f"partition {index}: the index of X is not that of its labels or weights: give "
                "columns of one dataframe"
            )
    if (
        len({str(kind) for kind in getattr(X, "dtypes", ())}) == 1
        and X.dtypes.iloc[0].kind in "fiu"
    ):
        X = X.to_numpy()  # a column is then in one piece; without a copy where the frame has it so
    weight = None if weight is None else np.asarray(weight)
    if group is not None and positive is None:
        return X, as_numbers(f"y of partition {index}", y), weight, np.asarray(group)
    mask = np.asarray(check_labels(y, f"y of partition {index}") == positive, dtype=bool)
    return (X, mask, weight) if group is None else (X, mask, weight, np.asarray(group))
