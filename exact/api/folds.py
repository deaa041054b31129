"""Folds of rows for cross-validation, every part with pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from ..errors import InputError, NoPairError, brief
from ..formulation.request import Request
from ..pairs.all_pairs import AllPairs, PairList
from ..pairs.kinds import ordered_pairs_of
from ..pairs.ordered_pairs import OrderedPairs
from ..spaces.gram import Gram
from ..tools.checks import check_count
from ..tools.wording import warn_the_user

Splits = Sequence[tuple[np.ndarray, np.ndarray]]
PairMaker = Callable[[Any, np.ndarray, np.ndarray | None], AllPairs | PairList]


@dataclass(frozen=True, eq=False)
class RowOrder:
    """The order of rows without two classes, or with them in queries; split with the rows."""

    grade: np.ndarray | None = None
    queries: np.ndarray | None = None
    time: np.ndarray | None = None
    event: np.ndarray | None = None
    lacking: str = "pair of rows"

    @classmethod
    def of_classes(cls, positive: np.ndarray, queries: np.ndarray) -> RowOrder:
        """Return positive rows above negative ones of their query."""
        return cls(positive.astype(float), queries, lacking="query with rows of both classes")

    @classmethod
    def of_grades(cls, grade: np.ndarray, queries: np.ndarray) -> RowOrder:
        """Return rows above those of their query with a smaller grade."""
        return cls(grade, queries, lacking="query with rows of different grades")

    @classmethod
    def of_times(cls, time: np.ndarray, event: np.ndarray) -> RowOrder:
        """Return the comparable rows of survival."""
        return cls(time=time, event=event, lacking="two comparable rows")

    def pairs(self, index: np.ndarray, weight: np.ndarray | None) -> OrderedPairs:
        """Return the pairs of the named rows, whose weights are `weight`."""
        columns = (self.grade, self.queries, self.time, self.event)
        y, qid, time, event = (None if x is None else x[index] for x in columns)
        return ordered_pairs_of(y, qid, time, event, weight)

    def check(self, n: int) -> None:
        """Raise `InputError` unless there is one entry a row."""
        for name, column in (("qid", self.queries), ("y", self.grade), ("time", self.time)):
            if column is not None and column.shape != (n,):
                raise InputError(f"{n} rows, but {name} of shape {column.shape}")


@dataclass(frozen=True, eq=False)
class FoldedData:
    """Rows, labels and weights, to be cut into folds; rows of weight zero are left out."""

    rows: Any
    positive: np.ndarray | None
    weight: np.ndarray | None
    square: bool
    gram: Gram | None = None
    order: RowOrder | None = None
    maker: PairMaker | None = None

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.rows.shape[0])

    def part(
        self, index: np.ndarray, columns: np.ndarray
    ) -> tuple[Any, np.ndarray | None, np.ndarray | None]:
        """Return the named rows, labels and weights; of a Gram matrix the used training columns."""
        index = self.used(index)
        rows = self.rows[index]
        if self.square:
            rows = rows[:, self.used(columns)]
        positive, weight = (None if x is None else x[index] for x in (self.positive, self.weight))
        return rows, positive, weight

    def held(self, index: np.ndarray) -> Gram | None:
        """Return the space of the kernel on the named rows, where it is held."""
        return None if self.gram is None else self.gram.part(self.used(index))

    def used(self, index: np.ndarray) -> np.ndarray:
        """Return the rows of positive weight among `index`."""
        return index if self.weight is None else index[self.weight[index] > 0]

    def pairs(self, index: np.ndarray) -> OrderedPairs | None:
        """Return the ordered pairs of the named rows; None where all pairs of classes are meant."""
        if self.order is None:
            return None
        used = self.used(index)
        return self.order.pairs(used, None if self.weight is None else self.weight[used])

    def asked(self, index: np.ndarray, request: Request) -> tuple[Any, np.ndarray | None, Request]:
        """Return the named rows, their labels, and the request over their pairs."""
        rows, positive, weight = self.part(index, index)
        within = self.pairs(index)
        if within is not None:
            return rows, positive, replace(request, pairs=within, positive=None)
        assert positive is not None
        made = AllPairs(weight) if self.maker is None else self.maker(rows, positive, weight)
        return rows, positive, replace(request, pairs=made)

    def check(self, number: int, train: np.ndarray, test: np.ndarray) -> None:
        """Raise `InputError` unless both parts have pairs, and no query is cut."""
        if not all(self.used(part).size for part in (train, test)):
            raise InputError(f"fold {number} has no training rows, or none that are held out")
        order, advice = self.order, "use fewer folds"
        if order is None:
            assert self.positive is not None
            for name, part in (("training", train), ("held-out", test)):
                found = self.positive[self.used(part)]
                if not found.any() or found.all():
                    wrong = f"{name} rows of one class only: {advice}, or stratified ones"
                    raise InputError(f"fold {number} has {wrong}")
            return
        if order.queries is not None:
            cut = np.intersect1d(order.queries[self.used(train)], order.queries[self.used(test)])
            if cut.size:
                raise InputError(
                    f"fold {number} cuts query {cut[0]} apart: give a splitter that keeps groups "
                    "whole, or a number of folds"
                )
        try:
            for part in (train, test):
                self.pairs(part)
        except NoPairError:
            raise InputError(f"fold {number} has no {order.lacking}: {advice}") from None


def split_rows(data: FoldedData, cv: object, seed: int) -> Splits:
    """Return (train, test) row numbers of each fold, as `make_splits` does, for any rows.

    Folds of survival have the same share of events where there are enough.
    """
    order = data.order or RowOrder()
    if order.event is None:
        return make_splits(cv, data.rows, data.positive, seed, order.queries)
    from sklearn.model_selection import KFold, StratifiedKFold

    event = order.event.astype(int)
    if not isinstance(cv, int | np.integer):
        return _splits(cv, data.rows, event)
    seen = int(event.sum())
    why = f"there are {event.size} rows, {seen} of them with an event"
    count = _at_most(cv, min(seen, event.size // 2), why)
    for folds in range(count, 1, -1):
        kind = StratifiedKFold if min(seen, event.size - seen) >= folds else KFold
        splits = _splits(kind(folds, shuffle=True, random_state=seed), data.rows, event)
        if all(_is_whole(data, *split) for split in splits):
            if folds < count:
                warn_the_user(
                    f"of {count} folds one would have no two comparable rows: {folds} are made"
                )
            break
    return splits


def _is_whole(data: FoldedData, train: np.ndarray, test: np.ndarray) -> bool:
    """Return whether both parts of a fold have a pair of rows."""
    try:
        data.check(0, train, test)
    except InputError:
        return False
    return True


def make_splits(
    cv: object, X: Any, positive: np.ndarray | None, seed: int, queries: np.ndarray | None = None
) -> Splits:
    """Return (train, test) row numbers of each fold; a number of folds keeps queries whole.

    Without classes, of grades, there are queries: grades are of too many kinds to have each in
    every fold.
    """
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    labels = np.zeros(X.shape[0], dtype=int) if positive is None else positive.astype(int)
    if isinstance(cv, int | np.integer):
        if positive is not None:
            smaller = int(min(positive.sum(), (~positive).sum()))
            cv = _at_most(cv, smaller, f"the smaller class has {smaller} rows")
        kind: Any = StratifiedKFold
        if queries is not None:
            kinds, kind = np.unique(queries).size, StratifiedGroupKFold
            if kinds < check_count("cv", cv, 2):
                raise InputError(
                    f"cv = {cv}, but there are {kinds} queries: use at most {kinds} folds"
                )
        cv = kind(int(cv), shuffle=True, random_state=seed)
    return _splits(cv, X, labels, queries)


def _at_most(cv: int | np.integer, most: int, why: str) -> int:
    """Return the number of folds, fewer with a warning where the rows do not reach for more."""
    check_count("cv", cv, 2)
    if most < 2:
        raise InputError(f"cv = {cv}, but {why}: they make no two folds")
    if most < cv:
        warn_the_user(f"cv = {cv}, but {why}: {most} folds are made")
    return min(int(cv), most)


def _splits(cv: object, X: Any, labels: np.ndarray, queries: np.ndarray | None = None) -> Splits:
    """Return the splits that anything scikit-learn takes for a splitter makes of these rows."""
    from sklearn.model_selection import check_cv

    takes = hasattr(cv, "split") or hasattr(cv, "__iter__")
    if cv is None or isinstance(cv, str | np.ndarray) or not takes:
        raise InputError(f"cv must be a number of folds, a splitter or splits, not {brief(cv)}")
    splitter = check_cv(cast(Iterable[Any], cv))
    splits = [(np.asarray(a), np.asarray(b)) for a, b in splitter.split(X, labels, queries)]
    if len(splits) < 2:
        raise InputError("cv must give at least two folds")
    return splits
