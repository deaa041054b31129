"""Dask's collections as rows in partitions, held where the cluster put them.

Work goes to the workers: one task for a stretch of partitions that a worker holds, and more tasks
for the sums of these. What a worker holds is never changed: sums are made in copies. A refusal that
is expected is returned, not raised: a worker would write a traceback into its log.
"""

from __future__ import annotations

import copy
import functools
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, NamedTuple, ParamSpec, TypeVar, cast

import dask
import dask.array as da
import numpy as np
from distributed import Client, Future, KilledWorker, LocalCluster, get_client, wait
from distributed.comm import CommClosedError

from ..errors import CertificateError, InputError, NoRowsError
from ..tools.lossless import as_float64, check_labels, check_one_type, frame_names, why_unsorted
from .groups import GroupedRows
from .partitions import (
    ArrayPartition,
    Engine,
    Partition,
    PartitionedRows,
    Reply,
    Task,
    joined,
    replied_in_order,
)

# Names of dask's errors that say the same as a lost connection; not all versions have them.
LOST = frozenset({"ClosedClientError", "FutureCancelledError", "FuturesCancelledError"})


@contextmanager
def one_sentence() -> Iterator[None]:
    """Turn an error of the cluster into one sentence; let others pass."""
    try:
        yield
    except InputError:
        raise
    except KilledWorker:
        raise InputError(
            "workers of the dask cluster died again and again at the same partition, most often "
            "for want of memory: use smaller partitions, or workers with more memory"
        ) from None
    except (Exception, CancelledError) as error:
        lost = isinstance(error, CancelledError | CommClosedError | OSError | TimeoutError)
        if not (lost or type(error).__name__ in LOST):
            raise
        raise InputError(
            "the dask cluster was lost before its workers had answered: nothing is proved, start "
            "again when it is there"
        ) from None


def threads_of(client: Client) -> dict[str, int]:
    """Return how many threads each worker has, by its address."""
    with one_sentence():
        if client.scheduler is None:  # the client knows it
            raise OSError("no scheduler")
        found: Any = client.nthreads()  # dask's own types fit no use of it
        return dict(found)


There = tuple[Any, np.ndarray]  # a task and the key of the fingerprints

P = ParamSpec("P")
R = TypeVar("R")


REFUSALS = InputError, CertificateError


def refusals_returned(function: Callable[P, R]) -> Callable[P, R]:
    """Let a worker's function return refusals, its own and those that it is given."""

    @functools.wraps(function)
    def run(*words: P.args, **more: P.kwargs) -> Any:
        for word in words:
            if isinstance(word, REFUSALS):
                return word
        try:
            return function(*words, **more)
        except REFUSALS as error:
            return error

    return run


def raised(found: list[R]) -> list[R]:
    """Return what was found, or raise the first refusal in it."""
    for one in found:
        if isinstance(one, REFUSALS):
            raise one from None
    return found


def same(*value: Any) -> tuple[Any, ...]:
    return value


@refusals_returned
def run_here(there: There, places: Sequence[int], *parts: tuple[Any, ...]) -> Reply:
    """Return the sum of a task's answers on some partitions."""
    task, key = there
    here = [held(part, place) for place, part in zip(places, parts, strict=True)]
    return replied_in_order(task, here, places, key)


@refusals_returned
def sums_here(there: There, *some: Reply) -> Reply:
    """Return the sum of what others have found."""
    return in_copies(there[0], some)


def in_copies(task: Task, some: Sequence[Reply]) -> Reply:
    """Return a sum that shares no memory with what it is made of."""
    return functools.reduce(functools.partial(joined, task), copy.deepcopy(list(some)))


def held(part: tuple[Any, ...], place: int) -> Partition:
    """Return the partition of (rows, positive, weight or None), or with groups after these."""
    X, positive, weight, *groups = part
    name = f"partition {place}"
    if not groups:
        return ArrayPartition(X, positive, weight, name)
    return ArrayPartition(X, None, weight, name, groups[0], positive.astype(float))


class Stretch(NamedTuple):
    """Numbers of partitions, in order, and the address of the worker that holds them, if any."""

    places: list[int]
    address: str | None


def stretches(
    count: int, holders: Mapping[int, str], threads: Mapping[str, int], each: int
) -> list[Stretch]:
    """Cut the partitions into stretches, each in the memory of one worker."""
    found = [Stretch([k], None) for k in range(count) if k not in holders]
    of: dict[str, list[int]] = {}
    for k, address in sorted(holders.items()):
        of.setdefault(address, []).append(k)
    for address, places in of.items():
        pieces = min(len(places), each * max(1, threads.get(address, 1)))
        cuts = [len(places) * k // pieces for k in range(pieces + 1)]
        found += [Stretch(places[a:b], address) for a, b in pairwise(cuts)]
    return sorted(found, key=lambda stretch: stretch.places)


KEPT_NUMBERS = 1 << 20  # an answer has at most so many numbers (8 MB): it is sent
FAN = 8  # sums of so many tasks are added up by one more task
ASKED_EVERY = 5.0  # seconds after which a cluster that is silent is asked whether it has workers
NO_WORKERS = 60.0  # seconds without any worker after which a cluster is given up


class DaskEngine(Engine):
    """Partitions that a cluster holds."""

    kept_numbers = KEPT_NUMBERS

    def __init__(
        self, client: Client, parts: Sequence[Future], close: Callable[[], object] | None = None
    ):
        self.client, self._parts, self._close = client, list(parts), close
        self.numbers: int | None = None

    @property
    def count(self) -> int:
        return len(self._parts)

    def close(self) -> None:
        self._parts = []
        if self._close is not None:
            self._close()

    def run(self, task: Task, key: np.ndarray) -> Reply:
        with one_sentence():
            work = task.run.func if isinstance(task.run, functools.partial) else task.run
            name = f"aucert-{work.__name__}"
            # Workers find it there; the scheduler can make it again if one dies.
            there = self._submit("aucert-task", same, task, key)
            last = asked = [
                self._submit(
                    *(name, run_here, there, places),
                    *(self._parts[k] for k in places),
                    address=address,
                )
                for places, address in self._stretches()
            ]
            while len(last) > FAN:
                last = [
                    self._submit(f"{name}-sum", sums_here, there, *last[k : k + FAN])
                    for k in range(0, len(last), FAN)
                ]
            try:
                self._wait_for(last)
                found: Any = self.client.gather(last)
            except KeyboardInterrupt:
                self.client.cancel([*last, *asked], force=True)
                raise
            return in_copies(task, raised(found))

    def telling(self, callback: Callable[[Any], object] | None) -> Callable[[Any], None]:
        """Return a callback of a solver that tells the cluster each step, and then `callback`.
        Steps are events of dask under the name "aucert": `client.subscribe_topic("aucert", print)`
        shows them."""

        def publish(step: Any) -> None:
            with one_sentence():
                self.client.log_event(
                    "aucert", {"step": step.n_iter, "primal": step.primal, "dual": step.dual}
                )
            if callback is not None:
                callback(step)

        return publish

    def _submit(
        self, name: str, function: Callable[..., Any], *words: Any, address: str | None = None
    ) -> Future:
        """Submit a task, to the worker at `address` as long as there is one."""
        key = f"{name}-{uuid.uuid4().hex}"
        if address is None:
            return self.client.submit(function, *words, key=key)
        return self.client.submit(
            function, *words, key=key, workers=[address], allow_other_workers=True
        )

    def _stretches(self) -> list[Stretch]:
        """Return which partitions go together: those that one worker holds."""
        threads = threads_of(self.client)
        who: Any = self.client.who_has(self._parts)  # dask's own types fit no use of it
        holders = {k: min(who[part.key]) for k, part in enumerate(self._parts) if who.get(part.key)}
        many = max(1, sum(threads.values()))
        # 4: tasks of a pass for each thread of the workers, at most
        # 64: about so many tasks are enough for a pass, and more threads get one each
        each = max(1, min(4, 64 // many))
        if self.numbers is not None:
            # 1 << 25: numbers of the rows for which a task more pays: a tenth of a second
            each = min(each, 1 + self.numbers // (many * (1 << 25)))
        return stretches(self.count, holders, threads, each)

    def _wait_for(self, futures: list[Future]) -> None:
        """Wait for results; a cluster whose workers are all gone is not waited for."""
        last = time.monotonic()
        while True:
            try:
                wait(futures, timeout=ASKED_EVERY)
                return
            except TimeoutError:
                pass
            if threads_of(self.client):
                last = time.monotonic()
            elif time.monotonic() - last > NO_WORKERS:
                raise InputError(
                    f"the dask cluster has had no workers for {NO_WORKERS:g} seconds: nothing is "
                    "proved, start again when there are some"
                )


# What is to be done where a group of a dask collection is split.
SHUFFLED = (
    "shuffle the rows by it (`frame.shuffle(column)` of dask dataframes), or sort them by their "
    "group and cut them between groups"
)

# Of distinct labels returns the positive one and the other.
Split = Callable[[np.ndarray], tuple[Any, Any]]


def dask_rows(
    X: Any, y: Any, weight: Any, split: Split | None, client: Client | None = None, qid: Any = None
) -> tuple[PartitionedRows, np.ndarray]:
    """Return the rows of a dask collection, and both labels: the negative and the positive one.
    With `qid` they are `GroupedRows`."""
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
    """Return the partitions on the cluster, and both labels. The labels themselves are let go of on
    return, before the first pass."""
    held = cluster.compute(labels)
    positive = other = None
    if split is not None:
        found = [cluster.submit(_distinct, y, k) for k, y in enumerate(held)]
        with one_sentence():
            kinds = raised(cluster.gather(found))
        some = {f"partition {k}": kind for k, kind in enumerate(kinds) if kind.size}
        if not some:
            raise NoRowsError("all partitions are empty: there are no rows")
        check_one_type(some, "the labels")
        positive, other = split(_sorted(np.concatenate(list(some.values()))))
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
        raise InputError(f"{name} must have one value per row: a dask array of one dimension")
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
    names = frame_names(X)
    return names if names and all(isinstance(name, str) for name in names) else None


@refusals_returned
def _distinct(y: Any, index: int) -> np.ndarray:
    """Return the distinct labels of a block."""
    labels = check_labels(y, f"y of partition {index}")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        row = int(np.argmin(np.isfinite(labels)))
        raise InputError(
            f"the label of row {row} of partition {index} is {labels[row]}: remove the row or set "
            "a label"
        )
    return _sorted(labels, f" of partition {index}")


def _sorted(labels: np.ndarray, where: str = "") -> np.ndarray:
    try:
        return np.unique(labels)
    except TypeError:
        raise InputError(why_unsorted(labels, where)) from None


@refusals_returned
def _part(
    index: int, X: Any, y: Any, weight: Any, positive: Any, group: Any = None
) -> tuple[Any, ...]:
    """Return a block as it is, the mask of its positive rows, its weights, and perhaps its groups.
    With groups and no positive label, the numbers y stand in the place of the mask."""
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
        return X, as_float64(y, f"y of partition {index}"), weight, np.asarray(group)
    mask = np.asarray(check_labels(y, f"y of partition {index}") == positive, dtype=bool)
    return (X, mask, weight) if group is None else (X, mask, weight, np.asarray(group))
