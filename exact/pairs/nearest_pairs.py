"""Nearest pairs: each positive anchor with its k nearest negative rows.

The paper leaves the rule open; its pair counts, always divisible by k, fit anchors from one class
with some anchors dropped. Rules:

* filter "none": every positive row is an anchor;
* filter "E": an anchor counts if it is among the k nearest positives of some negative row;
* filter "A": an anchor counts if its k nearest rows of either class hold a negative one;
* rule "union": pairs in which either row is among the other's k nearest of the other class.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from ..errors import InputError, brief
from ..spaces.rows import check_matrix
from ..tools.arrays import check_choice
from .all_pairs import PairList

_BLOCK_BYTES = 32 * 2**20  # of the distances that are held at a time
RULES = ("anchor", "union")
FILTERS = ("none", "E", "A")


def nearest_pairs(
    X: object, positive: np.ndarray, k: int, rule: str = "anchor", anchor_filter: str = "none"
) -> PairList:
    """Return the nearest pairs by Euclidean distance, in order. [SAUC, Section 3.2]

    Differs from the paper: 1. its rule is not stated; see the module for the rules offered.
    """
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise InputError(f"k must be a whole number >= 1, not {brief(k)}")
    check_choice("rule", rule, RULES)
    check_choice("anchor_filter", anchor_filter, FILTERS)
    matrix = check_matrix(X)
    rows = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
    positive = np.asarray(positive, dtype=bool)
    plus, minus = np.flatnonzero(positive), np.flatnonzero(~positive)
    if plus.size == 0 or minus.size == 0:
        raise InputError("nearest pairs need both classes")
    near = _nearest(rows, plus, minus, k)
    if rule == "union":
        back = _nearest(rows, minus, plus, k)
        i = np.concatenate([np.repeat(plus, near.shape[1]), back.ravel()])
        j = np.concatenate([near.ravel(), np.repeat(minus, back.shape[1])])
    else:
        kept = np.ones(plus.size, dtype=bool)
        if anchor_filter == "E":
            kept = np.isin(plus, _nearest(rows, minus, plus, k))
        elif anchor_filter == "A":
            around = _nearest(rows, plus, np.arange(positive.size), k, skip_self=True)
            kept = (~positive[around]).any(axis=1)
        if not kept.any():
            raise InputError(f"filter {anchor_filter} keeps no anchor at k = {k}: raise k")
        i, j = np.repeat(plus[kept], near.shape[1]), near[kept].ravel()
    pairs = np.unique(np.stack([i, j], axis=1), axis=0)
    return PairList(pairs[:, 0], pairs[:, 1], labels=positive)


def _nearest(
    rows: np.ndarray, anchors: np.ndarray, others: np.ndarray, k: int, skip_self: bool = False
) -> np.ndarray:
    """Return the k of `others` nearest to each anchor, by distance, then row number."""
    found, keep = [], min(k, others.size - int(skip_self))
    step = max(1, _BLOCK_BYTES // (8 * others.size))
    for start in range(0, anchors.size, step):
        block = anchors[start : start + step]
        distance = cdist(rows[block], rows[others])
        if skip_self:
            distance[block[:, None] == others] = np.inf
        found.append(others[np.argsort(distance, axis=1, kind="stable")[:, :keep]])
    return np.concatenate(found)
