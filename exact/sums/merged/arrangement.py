"""The order in which sums over ordered pairs visit the rows: by group, larger keys first.

Rows of one group and one key make a block. In a binary tree over the blocks of a group every pair
(i, j) with key_i > key_j lies in exactly one merge, that of its lowest common ancestor, and there
row i stands in the upper half. So the pairs are a disjoint union of products "every row of a run
with every row of the next run", of total size n log2(blocks of a group).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

# Up to this many rows, the pairs of a range are visited one by one: that takes fewer steps than
# merging.
SMALL = 32

MERGE, LIST, SKIP = 0, 1, 2  # What a loop does at a merge; see `Arrangement.turns`.


@dataclass(frozen=True, eq=False)
class Arrangement:
    """The rows by group, larger keys first, and the merges over them."""

    order: np.ndarray
    group: np.ndarray
    group_ends: np.ndarray
    block: np.ndarray
    block_ends: np.ndarray

    @cached_property
    def _tree(self) -> tuple[np.ndarray, np.ndarray]:
        starts = np.concatenate([[0], self.block_ends[:-1]])
        return _merges(starts, self.block_ends, self.group[starts])

    @property
    def merges(self) -> np.ndarray:
        """Places lo, mid, hi of each merge, made when they are first asked for: (m, 3).

        The rows of lo .. mid - 1 are above those of mid .. hi - 1. Both halves of a merge come
        before it.
        """
        return self._tree[0]

    @property
    def merge_group(self) -> np.ndarray:
        """The group of each merge: (m,)."""
        return self._tree[1]

    @cached_property
    def turns(self) -> np.ndarray:
        """What to do at each merge: `MERGE`, `LIST` all pairs of its range, or `SKIP`: (m,).

        Merges within a range of at most `SMALL` rows are left to the largest such range.
        """
        lo, hi = self.merges[:, 0], self.merges[:, 2]
        turns = np.full(lo.size, MERGE, dtype=np.int64)
        small = np.flatnonzero(hi - lo <= SMALL)
        small = small[np.lexsort((-hi[small], lo[small]))]
        # A range comes after all that hold it: if it reaches no further than these it lies within
        # one.
        reached = np.maximum.accumulate(np.concatenate([[0], hi[small]]))[:-1]
        turns[small] = np.where(hi[small] > reached, LIST, SKIP)
        return turns

    @classmethod
    def of(cls, group: np.ndarray, key: np.ndarray, upper: np.ndarray) -> Arrangement:
        """Return the arrangement of rows by group (n,) and key (n,), both whole numbers."""
        # A stable sort by key alone is several times quicker than one by both.
        one = group.size == 0 or int(group.max()) == 0
        order = np.argsort(-key, kind="stable") if one else np.lexsort((-key, group))
        group, key, upper = group[order], key[order], upper[order]
        changed = np.ones(group.size, dtype=bool)
        changed[1:] = group[1:] != group[:-1]
        first_of_group = np.flatnonzero(changed)
        changed[1:] |= key[1:] != key[:-1]
        firsts = np.flatnonzero(changed)
        gives = np.logical_or.reduceat(upper, firsts)
        kept = np.ones(firsts.size, dtype=bool)
        kept[1:] = gives[:-1] | (group[firsts[1:]] != group[firsts[:-1]])
        starts = firsts[kept]
        ends = np.append(starts[1:], group.size)
        block = np.repeat(np.arange(starts.size), ends - starts)
        group_ends = np.append(first_of_group[1:], group.size)
        return cls(order, group, group_ends, block, ends)

    @cached_property
    def below(self) -> np.ndarray:
        """The first place of lower rows, for each place: (n,)."""
        return self.block_ends[self.block]

    @cached_property
    def end(self) -> np.ndarray:
        """The place behind the group, for each place: (n,)."""
        return self.group_ends[self.group]

    def by_score(self, scores: np.ndarray) -> np.ndarray:
        """Return the places of each block, sorted by `scores` (n,), which are given by place."""
        if self.block_ends.size == scores.size:
            return np.arange(scores.size)
        return np.lexsort((scores, self.block))


def _merges(
    starts: np.ndarray, ends: np.ndarray, group: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the merges of a binary tree over the blocks of each group, and their groups."""
    found, groups = [np.empty((0, 3), dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    number = np.arange(starts.size) - np.searchsorted(group, group)
    while starts.size:
        left = np.flatnonzero((number[:-1] % 2 == 0) & (group[:-1] == group[1:]))
        if left.size == 0:
            break
        found.append(np.stack([starts[left], ends[left], ends[left + 1]], axis=1))
        groups.append(group[left])
        ends = ends.copy()
        ends[left] = ends[left + 1]
        kept = np.ones(starts.size, dtype=bool)
        kept[left + 1] = False
        starts, ends, group, number = starts[kept], ends[kept], group[kept], number[kept] // 2
    merges, of = np.concatenate(found), np.concatenate(groups)
    # Halves first, and small ranges of rows together, as in a recursion.
    order = np.lexsort((-merges[:, 0], merges[:, 2]))
    return np.ascontiguousarray(merges[order]), of[order]
