"""Arrays in memory, cut into partitions before some of their rows, and rows that change."""

from itertools import pairwise
from typing import Any

import numpy as np

from aucert.exact.spaces.partitions import array_partition


def _cut(places: list[int], X: np.ndarray, **labels: Any) -> list[Any]:
    given = {name: held for name, held in labels.items() if held is not None}
    return [
        array_partition(f"partition {k}", X[a:b], **{name: of[a:b] for name, of in given.items()})
        for k, (a, b) in enumerate(pairwise([0, *places, X.shape[0]]))
    ]


def cut(X: Any, positive: Any, weight: Any, places: list[int]) -> list[Any]:
    return _cut(places, X, positive=positive, weight=weight)


def cut_groups(X: Any, group: Any, key: Any, weight: Any, places: list[int]) -> list[Any]:
    return _cut(places, X, group=group, key=key, weight=weight)


CUTS = ([], [300, 700], [50, 51, 51, 400, 1100, 1200])  # one, three and seven, two of them empty


def some_rows() -> tuple[np.ndarray, np.ndarray]:
    """1200 rows far from the origin, and which are positive."""
    rng = np.random.default_rng(3)
    y = rng.random(1200) < 0.3
    return rng.normal(size=(1200, 3)) + 0.6 * y[:, None] + 4.0, y


def queried_rows(n: int, each: int, weighted: bool) -> tuple[Any, ...]:
    """n rows with ties, their queries of so many rows, grades and whole weights (or None)."""
    rng, query = np.random.default_rng(1), np.arange(n) // each * 3 - 20
    grade = rng.integers(0, 4, n).astype(float)
    X = np.round(rng.normal(size=(n, 3)) + 0.3 * grade[:, None] + 5.0, 1)
    return X, query, grade, rng.integers(1, 4, n).astype(float) if weighted else None


def far_rows(n: int, d: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """n rows far from the origin, and which are positive: about three in ten."""
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.3
    positive[:2] = True, False
    return rng.normal(size=(n, d)) + positive[:, None] * 0.5 + 7.0, positive


def short_rows(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.random(n) < 0.3
    return (rng.normal(size=(n, 3)) + 0.6 * y[:, None]).astype(np.float32), y


def meet(one: Any, other: Any) -> None:
    """Both solutions are of one optimum, as far as is proved of either."""
    room = one.certificate.gap + other.certificate.gap
    assert abs(one.certificate.primal - other.certificate.primal) <= room


class Changing:
    """Rows of which the first `after` readings are X, and all later ones another matrix."""

    ndim = 2

    def __init__(self, X: np.ndarray, other: np.ndarray, after: int):
        self.X, self.other, self.after, self.count = X, other, after, 0
        self.shape = X.shape

    def __len__(self) -> int:
        return len(self.X)

    def __getitem__(self, rows: slice, /) -> np.ndarray:
        self.count += 1
        return (self.X if self.count <= self.after else self.other)[rows]
