"""Grouped rows that come to this process: whole groups, or single rows where groups are few."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..chosen.hashing import hashed_names, hashed_numbers

STEPS = 1 << 30  # A share is one of so many steps.


class DrawnGroups(NamedTuple):
    """Rows (m, d) as they are, and the group, the key and the weight of each."""

    rows: np.ndarray
    group: np.ndarray
    key: np.ndarray
    weight: np.ndarray | None


@dataclass(frozen=True, eq=False)
class GroupsTask:
    """Takes a share of the groups, the same ones however the rows are cut; or of the rows."""

    share: float
    whole: bool

    def run(self, blocks: Iterator[Any], index: int) -> list[DrawnGroups]:
        """Return the rows of one partition that are taken."""
        found, start = [], 0
        for block in blocks:
            own = self._taken(block.group, index, start)
            start += block.key.size
            if own.any():
                weight = None if block.weight is None else block.weight[own]
                rows = np.ascontiguousarray(block.columns[:, own].T)
                found.append(DrawnGroups(rows, block.group[own], block.key[own], weight))
        return found

    def _taken(self, group: np.ndarray, index: int, start: int) -> np.ndarray:
        if self.share >= 1:
            return np.ones(group.size, dtype=bool)
        most = int(self.share * STEPS)
        if not self.whole:
            return hashed_numbers(index, start, group.size, 0, STEPS) < most
        names, at = np.unique(group, return_inverse=True)
        return (hashed_names(names, 0) % np.uint64(STEPS) < most)[at]

    def merge(self, first: list[DrawnGroups], second: list[DrawnGroups]) -> list[DrawnGroups]:
        """Return both."""
        return first + second


def assembled_groups(parts: list[DrawnGroups]) -> DrawnGroups:
    """Return rows from several partitions as one set."""
    weights = [part.weight for part in parts if part.weight is not None]
    return DrawnGroups(
        np.concatenate([part.rows for part in parts]),
        np.concatenate([part.group for part in parts]),
        np.concatenate([part.key for part in parts]),
        np.concatenate(weights) if weights else None,
    )
