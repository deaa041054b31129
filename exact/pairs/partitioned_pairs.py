"""All pairs of rows whose labels lie with the rows, in partitions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ..errors import InputError
from ..spaces.partitions.facts import Facts
from .all_pairs import AllPairs


@dataclass(frozen=True, eq=False)
class PartitionedPairs(AllPairs):
    """All pairs, known by their numbers alone; the labels stay in the partitions."""

    facts: Any = None

    def check(self) -> None:
        """Raise `InputError` unless both classes have rows, and some of their weight."""
        facts: Facts = self.facts
        if facts.n_pos in (0, facts.n):
            present = "positive" if facts.n_pos else "negative"
            raise InputError(f"all {facts.n} rows are {present}: pairs need both classes")
        if not (facts.mass > 0).all():
            raise InputError("each class needs a row of positive weight")
        if not np.isfinite(facts.mass).all():
            raise InputError("the row weights are so large that their sum overflows: rescale them")

    @property
    def positive(self) -> np.ndarray:
        """Refuse: the labels are as long as the data, and never come here."""
        raise InputError("this needs the labels of all rows, which stay in their partitions")

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.facts.n

    @property
    def n_pos(self) -> int:
        """Number of positive rows."""
        return self.facts.n_pos

    def on(self, positive: np.ndarray) -> Self:
        """Return the same pairs; labels cannot be given beside those of the partitions."""
        raise InputError("the labels of rows in partitions lie with the rows: give no others")

    def sides(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the summed weight of each class, as one row of it."""
        minus, plus = self.facts.mass
        return np.array([plus]), np.array([minus])


def pairs_in(facts: Facts) -> PartitionedPairs:
    """Return all pairs of the partitions that have these facts."""
    pairs = replace(PartitionedPairs(), facts=facts)
    pairs.check()
    return pairs
