"""Folds of rows for cross-validation, every part with both classes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ..errors import InputError
from ..pairs.ordered.asked import ordered_pairs_of
from ..pairs.ordered.ordered_pairs import OrderedPairs
from ..spaces.gram import Gram
from ..tools.checks import check_count

Splits = Sequence[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True, eq=False)
class FoldedData:
    """Rows, labels and weights, to be cut into folds; rows of weight zero are left out.

    Attributes
    ----------
    rows : array or CSR (n, d), or the Gram matrix (n, n)
    positive : bool array (n,)
    weight : array (n,) or None
    square : bool
        Whether the rows are those of a Gram matrix, whose columns are rows too.
    gram : Gram or None
        The space of a kernel on all rows, whose matrix is then cut and not made again in each fold.
    queries : array (n,), optional
        The query of each row, where pairs are within one; folds then keep queries whole.
    """

    rows: Any
    positive: np.ndarray
    weight: np.ndarray | None
    square: bool
    gram: Gram | None = None
    queries: np.ndarray | None = None

    def part(
        self, index: np.ndarray, columns: np.ndarray
    ) -> tuple[Any, np.ndarray, np.ndarray | None]:
        """Return the named rows; of a kernel matrix only the columns of used training rows."""
        index = self.used(index)
        rows = self.rows[index]
        if self.square:
            rows = rows[:, self.used(columns)]
        return rows, self.positive[index], None if self.weight is None else self.weight[index]

    def held(self, index: np.ndarray) -> Gram | None:
        """Return the space of the kernel on the named rows, where it is held."""
        return None if self.gram is None else self.gram.part(self.used(index))

    def used(self, index: np.ndarray) -> np.ndarray:
        """Return the rows of positive weight among `index`."""
        return index if self.weight is None else index[self.weight[index] > 0]

    def pairs(self, index: np.ndarray) -> OrderedPairs | None:
        """Return the pairs within the queries of the named rows; None without queries."""
        if self.queries is None:
            return None
        used = self.used(index)
        grade = self.positive[used].astype(float)
        weight = None if self.weight is None else self.weight[used]
        return ordered_pairs_of(grade, self.queries[used], None, None, weight)

    def check(self, number: int, train: np.ndarray, test: np.ndarray) -> None:
        """Raise `InputError` unless both parts have both classes, in one query and cutting none."""
        if self.queries is not None:
            cut = np.intersect1d(self.queries[self.used(train)], self.queries[self.used(test)])
            if cut.size:
                raise InputError(
                    f"fold {number} cuts query {cut[0]} apart: give a splitter that keeps groups "
                    "whole, or a number of folds"
                )
            for part in (train, test):
                self._has_pairs(number, part)
        for name, part in (("training", train), ("held-out", test)):
            found = self.positive[self.used(part)]
            if not found.any() or found.all():
                raise InputError(
                    f"fold {number} has {name} rows of one class only: use fewer folds, or "
                    "stratified ones"
                )

    def _has_pairs(self, number: int, part: np.ndarray) -> None:
        try:
            self.pairs(part)
        except InputError:
            raise InputError(
                f"fold {number} has no query with rows of both classes: use fewer folds"
            ) from None


def make_splits(
    cv: object, X: Any, positive: np.ndarray, seed: int, queries: np.ndarray | None = None
) -> Splits:
    """Return (train, test) row numbers of each fold; a number of folds keeps queries whole.

    Raises
    ------
    InputError
        If the smaller class has fewer rows, or the data fewer queries, than there are folds, or
        `cv` does not split rows.
    """
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, check_cv

    if isinstance(cv, int | np.integer):
        check_count("cv", cv, 2)
        smaller = int(min(positive.sum(), (~positive).sum()))
        if smaller < cv:
            raise InputError(
                f"cv = {cv}, but the smaller class has {smaller} rows: use at most {smaller} folds"
            )
        kinds = None if queries is None else np.unique(queries).size
        if kinds is not None and kinds < cv:
            raise InputError(f"cv = {cv}, but there are {kinds} queries: use at most {kinds} folds")
        kind = StratifiedKFold if queries is None else StratifiedGroupKFold
        splitter = kind(int(cv), shuffle=True, random_state=seed)
    elif cv is None or isinstance(cv, str) or not (hasattr(cv, "split") or hasattr(cv, "__iter__")):
        raise InputError(f"cv must be a number of folds, a splitter or splits, not {cv!r}")
    else:
        splitter = check_cv(cast(Iterable[Any], cv))
    labels = positive.astype(int)
    splits = [(np.asarray(a), np.asarray(b)) for a, b in splitter.split(X, labels, queries)]
    if len(splits) < 2:
        raise InputError("cv must give at least two folds")
    return splits
