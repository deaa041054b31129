"""Dask's collections as rows in partitions, held where the cluster put them. Each stretch of
partitions that a worker holds is a task, and more tasks sum these, in copies. A refusal that is
expected is returned, not raised: a worker would log a traceback."""

from __future__ import annotations

import copy
import functools
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from itertools import pairwise
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, Future, KilledWorker, LocalCluster, get_client, wait
from distributed.comm import CommClosedError

from ..errors import CertificateError, InputError, NoRowsError
from ..tools.arrays import as_float64, check_labels, check_one_type, frame_names, why_unsorted
from . import partitions
from .groups import GroupedRows
from .partitions import ArrayPartition, Engine, PartitionedRows, Reply, Task

# Names of dask's errors that say the same as a lost connection; not all versions have them.
LOST = frozenset({"ClosedClientError", "FutureCancelledError", "FuturesCancelledError"})
REFUSALS = InputError, CertificateError
FAN = 8  # sums of so many tasks are added up by one more task
ASKED_EVERY = 5.0  # seconds after which a cluster that is silent is asked whether it has workers
NO_WORKERS = 60.0  # seconds without any worker after which a cluster is given up


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


def refusals_returned(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a worker's function return refusals, its own and those that it is given."""

    @functools.wraps(function)
    def run(*words: Any) -> Any:
        try:
            return function(*raised(words))
        except REFUSALS as error:
            return error

    return run


def raised(found: Sequence[Any]) -> Sequence[Any]:
    """Return what was found, or raise the first refusal in it."""
    for one in found:
        if isinstance(one, REFUSALS):
            raise one from None
    return found


@refusals_returned
def run_here(there: tuple[Task, np.ndarray], places: Sequence[int], *parts: Any) -> Reply:
    """Return the sum of a task's answers on what `_part` returned of partitions."""
    here = []
    for place, (X, positive, weight, *groups) in zip(places, parts, strict=True):
        key = positive.astype(float) if groups else None
        own = (None, weight) if groups else (positive, weight)
        here.append(ArrayPartition(X, *own, f"partition {place}", *groups, key=key))
    return partitions.replied_in_order(there[0], here, places, there[1])


@refusals_returned
def sums_here(there: tuple[Task, np.ndarray], *some: Reply) -> Reply:
    """Return the sum of what others have found, in memory of its own."""
    join = functools.partial(partitions.joined, there[0])
    return functools.reduce(join, copy.deepcopy(list(some)))


class DaskEngine(Engine):
    """Partitions that a cluster holds; `numbers` are those of the rows, once they are known."""

    kept_numbers = 1 << 20  # an answer has at most so many numbers (8 MB): it is sent
    numbers: int | None = None

    # Any: dask's own types fit no use of a client
    def __init__(self, client: Any, parts: Sequence[Future], close: Callable[[], object]):
        self.client, self._parts, self._close = client, list(parts), close
        self.count = len(parts)

    def close(self) -> None:
        self._parts = []
        self._close()

    def run(self, task: Task, key: np.ndarray) -> Reply:
        with one_sentence():
            work = task.run.func if isinstance(task.run, functools.partial) else task.run
            name = f"aucert-{work.__name__}"
            # Workers find it there; the scheduler can make it again if one dies.
            there = self._submit("aucert-task", None, lambda *given: given, task, key)
            last = asked = [
                self._submit(name, at, run_here, there, places, *(self._parts[k] for k in places))
                for places, at in self._stretches()
            ]
            while len(last) > FAN:
                some = [last[k : k + FAN] for k in range(0, len(last), FAN)]
                last = [self._submit(f"{name}-sum", None, sums_here, there, *few) for few in some]
            try:
                self._wait_for(last)
                found = self.client.gather(last)
            except KeyboardInterrupt:
                self.client.cancel([*last, *asked], force=True)
                raise
            return raised([sums_here((task, key), *found)])[0]

    def telling(self, callback: Callable[[Any], object] | None) -> Callable[[Any], None]:
        """Return a callback that also tells the cluster each step, as events "aucert":
        `client.subscribe_topic("aucert", print)` shows them."""

        def publish(step: Any) -> None:
            seen = {"step": step.n_iter, "primal": step.primal, "dual": step.dual}
            with one_sentence():
                self.client.log_event("aucert", seen)
            if callback is not None:
                callback(step)

        return publish

    def _submit(self, name: str, address: str | None, work: Callable[..., Any], *words: Any) -> Any:
        """Submit a task, to the worker at `address` as long as there is one."""
        at = {} if address is None else {"workers": [address], "allow_other_workers": True}
        return self.client.submit(work, *words, key=f"{name}-{uuid.uuid4().hex}", **at)

    def _threads(self) -> dict[str, int]:
        """Return the threads of each worker, by its address."""
        if self.client.scheduler is None:  # the client knows it
            raise OSError("no scheduler")
        return dict(self.client.nthreads())

    def _stretches(self) -> list[tuple[list[int], str | None]]:
        """Return which partitions go together, in order: those that one worker holds."""
        threads, who = self._threads(), self.client.who_has(self._parts)
        many = max(1, sum(threads.values()))
        # 4: most tasks of a pass for each thread; 64: about enough for a pass, or one a thread
        each = max(1, min(4, 64 // many))
        if self.numbers is not None:
            # 1 << 25: numbers of the rows for which a task more pays: a tenth of a second
            each = min(each, 1 + self.numbers // (many * (1 << 25)))
        found: list[tuple[list[int], str | None]] = []
        held: dict[str, list[int]] = {}
        for k, part in enumerate(self._parts):
            if who.get(part.key):
                held.setdefault(min(who[part.key]), []).append(k)
            else:
                found.append(([k], None))
        for address, places in held.items():
            pieces = min(len(places), each * max(1, threads.get(address, 1)))
            cuts = [len(places) * k // pieces for k in range(pieces + 1)]
            found += [(places[a:b], address) for a, b in pairwise(cuts)]
        return sorted(found, key=lambda stretch: stretch[0])

    def _wait_for(self, futures: list[Future]) -> None:
        """Wait for results; a cluster whose workers are all gone is not waited for."""
        last = time.monotonic()
        while True:
            with suppress(TimeoutError):
                wait(futures, timeout=ASKED_EVERY)
                return
            if self._threads():
                last = time.monotonic()
            elif time.monotonic() - last > NO_WORKERS:
                raise InputError(
                    f"the dask cluster has had no workers for {NO_WORKERS:g} seconds: nothing is "
                    "proved, start again when there are some"
                )


def dask_rows(
    X: Any, y: Any, weight: Any, split: Callable[[np.ndarray], tuple[Any, Any]] | None, qid: Any
) -> tuple[PartitionedRows, np.ndarray]:
    """Return the rows of a dask collection (`GroupedRows` with `qid`), and both labels: `split`
    returns the positive one of distinct labels, and the other."""
    client, close = _client()
    try:
        if len(getattr(X, "shape", ())) != 2:
            raise InputError("X must be a dask array of two dimensions or a dask dataframe")
        whole: Any = X  # dask's own types fit no use of it
        if isinstance(X, da.Array) and X.numblocks[1] > 1:
            whole = whole.rechunk({1: -1})
        # Dask may read few columns in fewer pieces: rows and labels would then be cut differently.
        found = whole.to_delayed(optimize_graph=False)
        blocks = list(np.ravel(found)) if isinstance(found, np.ndarray) else list(found)
        held = client.compute(_column(y, X, len(blocks), "y"))
        weights, groups = (
            [None] * len(blocks) if one is None else _column(one, X, len(blocks), name)
            for one, name in ((weight, "sample_weight"), (qid, "qid"))
        )
        positive = other = None
        if split is not None:
            positive, other = split(_kinds(client, held))
        made = dask.delayed(_part, pure=False)
        each = enumerate(zip(blocks, held, weights, groups, strict=True))
        parts = client.compute([made(k, positive, *part) for k, part in each])
        del held, each  # the labels are let go of before the first pass
        engine = DaskEngine(client, parts, close)
        given = frame_names(X)
        names = given if given and all(isinstance(name, str) for name in given) else None
        advice = (
            "shuffle the rows by it (`frame.shuffle(column)` of dask dataframes), or sort them by "
            "their group and cut them between groups"
        )
        rows = PartitionedRows(engine, names) if qid is None else GroupedRows(engine, names, advice)
        engine.numbers = rows.n * rows.dim
        return rows, np.array([other, positive])
    except BaseException:
        close()
        raise


def _kinds(client: Any, labels: list[Future]) -> np.ndarray:
    with one_sentence():
        asked = [client.submit(_distinct, y, k) for k, y in enumerate(labels)]
        found = raised(client.gather(asked))
    some = {f"partition {k}": kind for k, kind in enumerate(found) if kind.size}
    if not some:
        raise NoRowsError("all partitions are empty: there are no rows")
    check_one_type(some, "the labels")
    return _sorted(np.concatenate(list(some.values())))


def _client() -> tuple[Any, Callable[[], object]]:
    """Return a client, and what ends it where it was made here."""
    try:
        return get_client(), lambda: None
    except ValueError:
        # Threads: new processes would run a script again that has no `if __name__ == "__main__"`.
        cluster = LocalCluster(processes=False, dashboard_address=":0")
        made = Client(cluster)
        return made, lambda: (made.close(), cluster.close())


def _column(y: Any, X: Any, count: int, name: str) -> list[Any]:
    """Return the blocks of labels or weights, one for each block of rows."""
    if y is None:
        raise InputError(f"{name} is missing: give a dask array or series, cut as X is")
    chunks = X.chunks[0] if isinstance(X, da.Array) else (np.nan,)
    known = not np.isnan(chunks).any()
    if not hasattr(y, "__dask_graph__"):
        if not known:
            raise InputError(
                f"{name} is in memory, and where X is cut is not known: make {name} a dask array "
                "or series cut at the same rows"
            )
        y = np.asarray(y)
        if y.shape != (int(sum(chunks)),):
            raise InputError(f"{name} has the shape {y.shape}, and X {X.shape[0]} rows")
        y = da.from_array(y, chunks=(chunks,))  # type: ignore[attr-defined]
    if len(getattr(y, "shape", ())) != 1:
        raise InputError(f"{name} must have one value per row: a dask array of one dimension")
    column: Any = y
    if known and isinstance(y, da.Array) and not np.isnan(y.chunks[0]).any():
        if X.shape[0] != y.shape[0]:
            raise InputError(f"{name} has {y.shape[0]} rows, and X {X.shape[0]}")
        column = column.rechunk((chunks,))
    found = list(np.ravel(np.array(column.to_delayed(optimize_graph=False), dtype=object)))
    if len(found) != count:
        raise InputError(f"{name} is in {len(found)} partitions and X in {count}: cut both alike")
    return found


@refusals_returned
def _distinct(y: Any, index: int) -> np.ndarray:
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
def _part(index: int, positive: Any, X: Any, y: Any, weight: Any, group: Any) -> tuple[Any, ...]:
    """Return a block, its mask of positive rows (or numbers y), weights, and perhaps groups."""
    own: Any = getattr(X, "index", None)
    for other in (y, weight, group):
        index_of: Any = getattr(other, "index", None)
        if hasattr(own, "equals") and hasattr(index_of, "equals") and not own.equals(index_of):
            raise InputError(
                f"partition {index}: the index of X is not that of its labels or weights: give "
                "columns of one dataframe"
            )
    kinds = getattr(X, "dtypes", None)
    if kinds is not None and kinds.nunique() == 1 and kinds.iloc[0].kind in "fiu":
        X = X.to_numpy()  # a column is then in one piece; without a copy where the frame has it so
    weight = None if weight is None else np.asarray(weight)
    graded = group is not None and positive is None
    where = f"y of partition {index}"
    mask = as_float64(y, where) if graded else np.asarray(check_labels(y, where) == positive, bool)
    return (X, mask, weight) if group is None else (X, mask, weight, np.asarray(group))
