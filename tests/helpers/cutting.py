"""Arrays in memory, cut into partitions before some of their rows."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from aucert.exact.spaces.partitions import held_rows


def _cut(places: list[int], X: np.ndarray, **labels: Any) -> list[Any]:
    given = {name: held for name, held in labels.items() if held is not None}
    return [
        held_rows(f"partition {k}", X[a:b], **{name: held[a:b] for name, held in given.items()})
        for k, (a, b) in enumerate(pairwise([0, *places, X.shape[0]]))
    ]


def cut(X: Any, positive: Any, weight: Any, places: list[int]) -> list[Any]:
    return _cut(places, X, positive=positive, weight=weight)


def cut_groups(X: Any, group: Any, key: Any, weight: Any, places: list[int]) -> list[Any]:
    return _cut(places, X, group=group, key=key, weight=weight)
