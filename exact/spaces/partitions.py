"""Rows in partitions, which stay where they lie: work goes to them, and answers come back, with the
fingerprints of their partitions. Answers are added up in the order of the partitions, stretch by
stretch, whoever answered first and however many processes worked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial, reduce
from hashlib import blake2b
from itertools import pairwise
from operator import add, itemgetter
from typing import Any, NamedTuple, NoReturn, Protocol, Self, cast, runtime_checkable

import numpy as np

from ..errors import CertificateError, InputError, NoRowsError
from ..tools.arrays import as_float64, check_count, check_labels
from ..tools.rounding import gamma
from .blocks import BLOCK_NUMBERS, Block, Drawn, Work, fingerprint, merged, new_key
from .rows import Space, check_reach


class Unusable(Exception):
    """A number that cannot be used: row and column (None: the weight) from 0, and the number."""


@runtime_checkable
class Partition(Protocol):
    """A part of the rows, small to send; it yields the same blocks each time, and may be empty."""

    @property
    def name(self) -> str:
        """What to call it in a message."""
        ...

    def blocks(self) -> Iterator[Block]:
        """Yield its rows in order."""
        ...

    def refuse(self, row: int, column: int | None, value: float) -> NoReturn:
        """Raise `InputError` for a number that is not finite, or for a weight (column None)."""
        ...


Source = Sequence[Partition | tuple[Any, ...]]  # Partitions, each as such or as a tuple of arrays.
# Which rows of a block, ascending: of the block, how many negative and positive rows of the
# partition came before, (2,), and the partition's number.
Places = Callable[[Block, np.ndarray, int], np.ndarray]


def block_rows(dim: int) -> int:
    return max(256, BLOCK_NUMBERS // max(dim, 1))


@dataclass(frozen=True, eq=False)
class ArrayPartition:
    """Rows of an array or a frame in memory, with a class, or with a group and a key."""

    X: Any
    positive: np.ndarray | None
    weight: np.ndarray | None = None
    name: str = "a partition"
    group: Any = None
    key: Any = None

    def refuse(self, row: int, column: int | None, value: float) -> NoReturn:
        if column is None:
            raise InputError(
                f"the weight of row {row} of {self.name} (from 0) is {value}: weights are >= 0 and "
                "finite, and of moderate size"
            )
        raise InputError(
            f"X has a value that is not finite in {self.name}, row {row}, column {column} (from "
            "0): remove or impute it first"
        )

    def rows(self, rows: slice) -> np.ndarray:
        """Return rows in a format that float64 holds."""
        held = self.X.iloc[rows] if hasattr(self.X, "iloc") else self.X[rows]
        if type(held) is np.ndarray and held.dtype in (np.float64, np.float32):
            return held
        where = f"{self.name}, from row {rows.start} on,"
        try:
            return as_float64(held, where, "a matrix of numbers")
        except InputError:
            for name in getattr(held, "columns", ()):  # the one that is to blame is named
                as_float64(held[name], f"column {name!r} of {where}")
            raise

    def blocks(self) -> Iterator[Block]:
        n, dim = self.X.shape
        positive = np.zeros(n, dtype=bool) if self.positive is None else self.positive
        weight = group = key = None
        if self.weight is not None:
            weight = as_float64(self.weight, f"the weights of {self.name}")
        if self.group is not None:
            group = named(check_labels(self.group, f"the groups of {self.name}"), self.name)
            key = as_float64(self.key, f"the keys of {self.name}")
        given = np.ascontiguousarray(positive), weight, group, key
        for kind, held in zip(("labels", "weights", "groups", "keys"), given, strict=True):
            if held is not None and held.shape != (n,):
                both = f"{n} rows, but {held.size} {kind}"
                raise InputError(f"{self.name} has {both}: cut all at the same places")
        step = block_rows(dim)
        for some in (slice(start, start + step) for start in range(0, n, step)):
            rows = self.rows(some)
            columns = np.empty((dim, rows.shape[0]))
            columns[...] = rows.T  # converts and turns at once: many times faster than in two steps
            labels = (None if one is None else one[some] for one in given)
            yield Block(columns, *labels)  # type: ignore[arg-type]


def array_partition(
    name: str, X: Any, positive: Any = None, weight: Any = None, group: Any = None, key: Any = None
) -> ArrayPartition:
    """Return a partition of what a caller gave: anything that makes arrays (m, d), (m,), (m,)."""
    X = np.asanyarray(X)
    if X.ndim != 2:
        raise InputError(f"{name}: its rows must be a matrix of numbers (m, d)")
    positive = None if positive is None else np.asarray(positive)
    if group is None and (positive is None or positive.dtype != bool or positive.ndim != 1):
        raise InputError(f"{name}: a bool array (m,) must say which rows are positive (y == 1)")
    weight = None if weight is None else np.asarray(weight)
    return ArrayPartition(X, positive, weight, name, group, key)


def named(group: np.ndarray, where: str) -> np.ndarray:
    """Return groups as an array of numbers or of words."""
    if group.dtype.kind == "O":
        if {type(one) for one in group.tolist()} - {str}:
            raise InputError(f"the groups of {where} must be numbers or words, all of one type")
        return group.astype(str)
    if group.dtype.kind == "f" and not np.isfinite(group).all():
        row = int(np.argmin(np.isfinite(group)))
        raise InputError(f"the group of row {row} of {where} is {group[row]}: groups have a name")
    return group


class Task(NamedTuple):
    """Work on one partition after another, and the sum of two answers, which may change both."""

    run: Work
    merge: Callable[[Any, Any], Any]


@dataclass(eq=False)
class Reply:
    """An answer, and the fingerprint of each partition that it is about, by its number."""

    digests: dict[int, bytes]
    answer: Any


def _marked(blocks: Iterator[Block], key: np.ndarray, digest: Any) -> Iterator[Block]:
    for block in blocks:
        for numbers in (block.columns, block.weight):
            if numbers is not None:
                digest.update(np.array(numbers.shape).tobytes())
                digest.update(fingerprint(numbers, key).tobytes())
        if block.group is None or block.key is None:
            digest.update(np.packbits(block.positive).tobytes())
        else:
            named = block.group.tobytes() + str(block.group.dtype).encode()
            digest.update(block.key.tobytes() + named)
        yield block


def joined(task: Task, first: Reply, second: Reply) -> Reply:
    both = first.digests.keys() & second.digests.keys()
    if both:
        raise CertificateError(f"partition {min(both)} was counted twice: please report this")
    return Reply(first.digests | second.digests, task.merge(first.answer, second.answer))


def replied_in_order(
    task: Task, partitions: Sequence[Partition], places: Sequence[int], key: np.ndarray
) -> Reply:
    """Run a task on some partitions, whose numbers are `places`, and fingerprint what it reads."""

    def replies() -> Iterator[Reply]:
        for partition, index in zip(partitions, places, strict=True):
            digest = blake2b(digest_size=16)
            try:
                answer = task.run(_marked(partition.blocks(), key, digest), index)
            except Unusable as bad:
                partition.refuse(*bad.args)
            yield Reply({index: digest.digest()}, answer)

    return reduce(partial(joined, task), replies())


class Engine:
    """Runs a task on each of `count` partitions; `run(task, key)` returns the `Reply` of all."""

    kept_numbers = 1 << 22  # that a partition may answer with (32 MB); with more, it is read twice

    def telling(self, callback: Callable[[Any], object] | None) -> Any:
        """Return a callback of a solver that also tells whoever watches the engine."""
        return callback

    def close(self) -> None:
        """Let go of what was made for this."""


@dataclass(eq=False)
class LocalEngine(Engine):
    """Partitions read by this process, or by several; `heard` is called with how many are read."""

    partitions: Sequence[Partition]
    jobs: int = 1
    heard: Callable[[int, int], object] | None = None

    def __post_init__(self) -> None:
        check_count("jobs", self.jobs)
        if not self.partitions:
            raise InputError("there are no partitions: at least one is needed")
        self.count = len(self.partitions)

    def run(self, task: Task, key: np.ndarray) -> Reply:
        count, parts, jobs = self.count, self.partitions, min(self.jobs, self.count)
        pieces = min(64, count)  # for any number of processes: so its bits agree
        cuts = [count * k // pieces for k in range(pieces + 1)]
        words = [(task, parts[a:b], range(a, b), key) for a, b in pairwise(cuts)]
        if jobs == 1:
            return self._heard(task, (replied_in_order(*some) for some in words))
        from joblib import Parallel, delayed
        from joblib.externals.loky.process_executor import TerminatedWorkerError

        for _ in range(3):  # where processes die
            run = Parallel(n_jobs=jobs, return_as="generator", batch_size=1)
            try:
                return self._heard(task, run(delayed(replied_in_order)(*some) for some in words))
            except TerminatedWorkerError:
                continue  # the next call starts new processes
        raise InputError(
            "processes that read the partitions died three times, most often for want of "
            "memory: use fewer of them, or smaller partitions"
        )

    def _heard(self, task: Task, found: Iterable[Any]) -> Reply:
        total: Any = None
        for reply in found:
            total = reply if total is None else joined(task, total, reply)
            if self.heard is not None:
                self.heard(len(total.digests), self.count)
        return total


@dataclass(eq=False)
class Facts:
    sizes: dict[int, tuple[int, int]]  # rows, and positive ones, of each partition
    low: np.ndarray
    high: np.ndarray
    total: np.ndarray
    mass: np.ndarray
    used: np.ndarray  # rows of each class that have weight
    whole: bool = True
    weighted: bool = False

    @property
    def n(self) -> int:
        return sum(size for size, _ in self.sizes.values())

    @property
    def n_pos(self) -> int:
        return sum(plus for _, plus in self.sizes.values())

    def merge(self, other: Facts) -> Facts:
        sizes = dict(self.sizes)
        for index, (n, plus) in other.sizes.items():
            held = sizes.get(index, (0, 0))
            sizes[index] = held[0] + n, held[1] + plus
        if self.n == 0 or other.n == 0:
            return replace(other if self.n == 0 else self, sizes=sizes)
        if self.low.size != other.low.size:
            counts = f"{self.low.size} columns, and another one {other.low.size}"
            raise InputError(f"a partition has {counts}")
        if self.weighted != other.weighted:
            raise InputError("some partitions have weights, and others do not")
        ends = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        sums = self.total + other.total, self.mass + other.mass, self.used + other.used
        return Facts(sizes, *ends, *sums, self.whole and other.whole, self.weighted)


def facts_of(blocks: Iterator[Block], index: int) -> Facts:
    """Return the facts of one partition, and refuse what is not a finite number."""
    none = np.zeros(0)
    found = Facts({index: (0, 0)}, none, none, none, np.zeros(2), np.zeros(2, dtype=np.int64))
    for columns, positive, weight, *_ in blocks:
        n, plus, total = positive.size, int(positive.sum()), columns.sum(axis=1)
        if n == 0:
            continue
        if not np.isfinite(total).all():
            bad = np.argwhere(~np.isfinite(columns.T))
            if not bad.size:
                raise InputError("X has values so large that their sums overflow: rescale it")
            row, column = bad[0].tolist()
            raise Unusable(found.n + row, column, float(columns[column, row]))
        used, whole = np.array([n - plus, plus]), True
        mass = used.astype(float)
        if weight is not None:
            fine = (weight == 0) | ((weight >= 1e-50) & (weight <= 1e50))  # none is rescaled
            if not fine.all():
                row = int(np.argmin(fine))
                raise Unusable(found.n + row, None, float(weight[row]))
            sides = weight[~positive], weight[positive]
            mass = np.array([side.sum() for side in sides])
            used = np.array([np.count_nonzero(side) for side in sides])
            whole = bool((weight == np.floor(weight)).all())
        ends = columns.min(axis=1), columns.max(axis=1)
        own = Facts({index: (n, plus)}, *ends, total, mass, used, whole, weight is not None)
        found = found.merge(own)
    return found


def marks(seen: int, more: int, share: float) -> np.ndarray:
    """Return which of a class's `more` rows after `seen` are taken: number floor(m / share)."""
    first, last = int(np.ceil(seen * share)), int(np.ceil((seen + more) * share)) + 1
    at = (np.arange(first, last) / share).astype(np.int64) - seen
    return at[(at >= 0) & (at < more) & (np.diff(at, prepend=-1) > 0)]


def at_places(
    places: Places, blocks: Iterator[Block], index: int
) -> Iterator[tuple[Block, np.ndarray]]:
    seen = np.zeros(2, dtype=np.int64)
    for block in blocks:
        at, plus = places(block, seen, index), int(block.positive.sum())
        seen += block.positive.size - plus, plus
        if at.size:
            yield block, at


def rows_taken(places: Places, blocks: Iterator[Block], index: int) -> list[tuple[int, Drawn]]:
    """Return the rows at some places, next to the partition's number."""
    found = []
    for block, at in at_places(places, blocks, index):
        rows = np.ascontiguousarray(block.columns[:, at].T)
        with np.errstate(over="ignore"):
            small = rows.astype(np.float32)  # they are sent
        rows = small if np.array_equal(small, rows) else rows
        found.append((index, Drawn(rows, *block.labels_at(at))))
    return found


def rows_kept(places: Places, blocks: Iterator[Block], index: int) -> Iterator[Block]:
    """Yield blocks of the rows at some places alone."""
    for block, at in at_places(places, blocks, index):
        # Taking rows by a mask costs ten times as much.
        yield Block(block.columns.take(at, axis=1), *block.labels_at(at))


def by_class(
    before: np.ndarray, taken: Callable[[int, int, int], np.ndarray], block: Block,
    seen: np.ndarray, index: int,
) -> np.ndarray:  # fmt: skip
    """Return rows by their numbers within their class: `taken(side, seen, more)` says which of a
    class's next `more` rows after `seen`."""
    found = []
    for side, first in enumerate((before[index] + seen).tolist()):
        own = np.flatnonzero(block.positive == bool(side))
        found.append(own[taken(side, first, own.size)])
    return np.sort(np.concatenate(found))


def assembled(parts: list[tuple[int, Drawn]]) -> Drawn:
    """Return what was drawn from several partitions as one, in their order."""
    every = [drawn for _, drawn in sorted(parts, key=itemgetter(0))]
    each: Any = zip(*every, strict=True)
    rows, *more = (own[0] if own[0] is None else np.concatenate(own) for own in each)
    return Drawn(rows.astype(float, copy=False), *more)


class PartitionedRows(Space):
    """Linear functions f(x) = w'(x - offset) of rows in partitions, which stay where they are.

    Every pass is fingerprinted: each partition must answer once, and hold what it held at first.

    Parameters
    ----------
    source : sequence of tuples, or Engine
        For each partition (X, positive) or (X, positive, weight): numbers (m, d), a bool array
        (m,), true for rows of the positive class, and weights (m,); or, in place of a tuple,
        anything that has the methods of `Partition`. All are read by this process.
    columns : list of str, optional
        Names of the features.

    Attributes
    ----------
    n, dim : int
    offset : array (dim,)
    reach : float, at least |x_i - offset| of every row
    facts : Facts
    sample : Drawn or None
        The smallest sample drawn; and `last_range`, weights with the range of each class's scores:
        both only save a pass that would look for the range of scores.

    Raises
    ------
    InputError
        If the rows are not finite numbers, there are none, or a part is not a partition.
    """

    arrays: tuple[str, ...] = ("X", "positive")  # of a partition that is given as a tuple

    def __init__(self, source: Source | Engine, columns: list[str] | None = None):
        self.engine: Any = source
        if not isinstance(source, Engine):
            parts, names = [], ", ".join(self.arrays)
            for k, part in enumerate(source):
                if not isinstance(part, Partition):
                    if not isinstance(part, tuple) or len(part) - len(self.arrays) not in (0, 1):
                        raise InputError(f"partition {k} must be ({names}) or ({names}, weight)")
                    words = dict(zip((*self.arrays, "weight"), part, strict=False))
                    part = array_partition(f"partition {k}", **words)
                parts.append(part)
            self.engine = LocalEngine(parts)
        self.parts, self.kept_numbers = self.engine.count, self.engine.kept_numbers
        self.columns = columns
        self.chosen: tuple[Callable[[Iterator[Any], int], Iterator[Any]], ...] = ()
        self._key = new_key()
        self._digests: dict[int, bytes] | None = None
        self._measure()

    def _measure(self) -> None:
        facts = self.facts = self.first_pass()
        self.n, self.dim = self.shape = facts.n, facts.low.size
        if self.n == 0:
            raise NoRowsError("all partitions are empty: there are no rows")
        if self.n >= 1 << 50:  # counts, and small multiples of them, are exact in float64
            raise InputError(f"{self.n} rows are more than can be counted exactly: take a part")
        spread = facts.high - facts.low
        # The mean with few digits, 2^-10 of the spread: the same however the rows are cut.
        step = np.ldexp(1.0, np.frexp(spread)[1] - 10)
        mean = np.clip(facts.total / facts.n, facts.low, facts.high)
        near = np.rint(np.where(spread > 0, mean / step, 0.0)) * step
        self.offset = np.where(spread > 0, near, facts.low)
        # The distance from there to the farthest corner of the box of all rows.
        ends = np.maximum(facts.high - self.offset, self.offset - facts.low)
        with np.errstate(over="ignore"):
            reach = float(np.sqrt(np.sum(ends * ends))) * (1 + gamma(self.dim + 8))
        self.reach = check_reach(reach, reach == 0)
        self.sample: Drawn | None = None
        self._drawn: dict[tuple[float, float], Drawn] = {}
        self.last_range: tuple[np.ndarray, np.ndarray] | None = None

    def only(self, chosen: Callable[[Iterator[Any], int], Iterator[Any]]) -> Self:
        """Return the rows that `chosen(blocks, index)` yields of each partition: a pass."""
        some = copy(self)
        some.chosen = (*self.chosen, chosen)
        some._measure()
        return some

    def folds(self, count: int, seed: int) -> Iterator[tuple[Self, Self]]:
        """Yield the rows without each fold, and that fold: two passes when it is asked for."""
        for fold in range(count):
            taken = partial(rows_of_fold, seed, count, fold)
            yield self._split(partial(by_class, self.before(), taken))

    def _split(self, places: Places) -> tuple[Self, Self]:
        """Return the rows that are not at the places, and those that are."""

        def others(block: Block, seen: np.ndarray, index: int) -> np.ndarray:
            return np.delete(np.arange(block.positive.size), places(block, seen, index))

        held_out = self.only(partial(rows_kept, places))
        return self.only(partial(rows_kept, others)), held_out

    def first_pass(self) -> Facts:
        return self.total(facts_of)

    keeps, in_blocks = False, True

    @property
    def apart(self) -> PartitionedRows:
        return self

    def as_classes(self) -> Self:
        return self

    def total(self, work: Work, add: Callable[[Any, Any], Any] = merged) -> Any:
        """Return the sum of `work(blocks, index)` over all partitions; refuse changed ones."""
        run = partial(_on_chosen, work, self.chosen) if self.chosen else work
        reply = self.engine.run(Task(run, add), self._key)
        found = reply.digests
        if found.keys() != set(range(self.parts)):
            missing = min(set(range(self.parts)) ^ found.keys())
            raise CertificateError(f"partition {missing} has not answered: please report this")
        first = self._digests = self._digests or found
        changed = [k for k in found if found[k] != first[k]]
        if changed:
            raise InputError(
                f"partition {min(changed)} (from 0) changed while it was worked with: nothing is "
                "proved, start again when the data are complete"
            )
        return reply.answer

    def drawn(self, share_neg: float, share_pos: float) -> Drawn:
        """Return evenly spread rows of each class, raw: the same ones however they are cut."""
        shares = share_neg, share_pos
        if shares in self._drawn:
            return self._drawn[shares]
        found = self._taken(lambda side, seen, more: marks(seen, more, shares[side]))
        self._drawn = {shares: found}  # the next problem over these rows begins with the same
        if self.sample is None or found.rows.size < self.sample.rows.size:
            self.sample = found
        return found

    def named(self, negative: np.ndarray, positive: np.ndarray) -> Drawn:
        """Return the rows of these numbers within their class, ascending, as they are: a pass."""

        def taken(side: int, seen: int, more: int) -> np.ndarray:
            wanted = (negative, positive)[side]
            first, last = np.searchsorted(wanted, [seen, seen + more])
            return wanted[first:last] - seen

        return self._taken(taken)

    def _taken(self, taken: Callable[[int, int, int], np.ndarray]) -> Drawn:
        places = partial(by_class, self.before(), taken)
        return assembled(self.total(partial(rows_taken, places), add))

    def before(self) -> np.ndarray:
        """Return the negative and positive rows of the partitions before each: (parts, 2)."""
        sizes = (self.facts.sizes[k] for k in range(self.parts))
        held = np.array([(n - plus, plus) for n, plus in sizes])
        return np.cumsum(held, axis=0) - held

    def score_slip(self, w: np.ndarray) -> float:
        """Return gamma_{d+3} max |x_i - offset| |w|."""
        return gamma(self.dim + 3) * self.reach * float(np.linalg.norm(w)) * (1 + gamma(self.dim))

    def scores(self, w: np.ndarray) -> NoReturn:
        raise InputError("the scores of rows in partitions are never held: evaluate the problem")

    careful_scores = pull = dual_norm2 = cast(Any, scores)


def hashed_numbers(place: int, start: int, count: int, seed: int, kinds: int) -> np.ndarray:
    """Return numbers below `kinds` for rows `start` and on of partition `place`: (count,)."""
    offset = scrambled(np.array([scrambled(np.array([seed], np.uint64))[0] ^ np.uint64(place)]))
    mixed = scrambled(offset + np.arange(start, start + count, dtype=np.uint64))
    return ((mixed >> np.uint64(33)) * np.uint64(kinds) >> np.uint64(31)).astype(np.int64)


def scrambled(x: np.ndarray) -> np.ndarray:
    """Return a bijection of 64-bit numbers that looks random: splitmix64."""
    with np.errstate(over="ignore"):
        x = (x + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def hashed_names(names: np.ndarray, seed: int) -> np.ndarray:
    """Return a 64-bit hash of each name: uint64 (k,)."""
    start = scrambled(np.array([seed], np.uint64))
    if names.dtype.kind in "US":
        digests = [blake2b(str(x).encode(), digest_size=8).digest() for x in names.tolist()]
        own = np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)
    else:
        own = (names.astype(float) + 0.0).view(np.uint64)  # 0.0: minus zero is zero
    return scrambled(scrambled(own) ^ start)


def _on_chosen(run: Any, chosen: Any, blocks: Iterator[Any], index: int) -> Any:
    for choose in chosen:
        blocks = choose(blocks, index)
    return run(blocks, index)


def rows_of_fold(seed: int, folds: int, fold: int, side: int, start: int, count: int) -> np.ndarray:
    """Return which of the rows number `start` to `start + count - 1` of a class a fold has."""
    first, last = start // folds, -(-(start + count) // folds)
    turns = hashed_numbers(side, first, last - first, seed, folds)
    at = np.arange(first, last) * folds - start + (turns + fold) % folds
    return at[(at >= 0) & (at < count)]
