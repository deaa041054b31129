"""Few rows in partitions, held in this process where the sums over partitions have stalled.

Bins cost more than a small lam allows where rows are few; the pairs at their margin then decide,
and only methods that hold the rows find them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...certificate.solution import Solution
from ...formulation.formulation import Formulation, formulate
from ...formulation.request import Request
from ...pairs.all_pairs import AllPairs
from ...pairs.ordered.ordered_pairs import OrderedPairs
from ...spaces.partitions.grouped.grouped_rows import GroupedRows
from ...spaces.partitions.partitioned_rows import PartitionedRows


def held_rows(
    rows: PartitionedRows, request: Request
) -> tuple[np.ndarray, np.ndarray | None, Request]:
    """Return all rows and their labels, and the request for them: a pass over the partitions.

    The rows come in the order of the partitions. Grouped ones have no labels: the pairs hold their
    order.
    """
    if isinstance(rows, GroupedRows):
        found = rows.all_rows()
        pairs = OrderedPairs(found.group, found.key, found.weight, found.weight)
        return found.rows, None, replace(request, pairs=pairs, positive=None)
    X, positive, weight = rows.drawn(1.0, 1.0)
    return X, positive, replace(request, pairs=AllPairs(weight), positive=True)


def held_formulation(rows: PartitionedRows, request: Request) -> Formulation:
    """Return the problem over the same rows in memory: a pass over the partitions."""
    X, positive, asked = held_rows(rows, request)
    return formulate(X, positive, asked)


def better(one: Solution, other: Solution) -> Solution:
    """Return the solution with the smaller proved gap."""
    return one if one.certificate.gap < other.certificate.gap else other
