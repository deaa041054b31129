"""Incomplete U-statistics: some of the pairs, drawn at random.

[ScalingUp, eq. (6), eq. (7)]. With D_B a set of B pairs drawn uniformly from all n_pos n_neg,

    U_B(f) = 1/B sum over (i, j) in D_B of loss(f(x_i) - f(x_j))

estimates the mean over all pairs without bias for every fixed f, whether the draws are with
replacement (as in the paper) or without. The minimiser of eq. (7) for these pairs is that of a
`Problem` with the `PairList` drawn here. Where rows have weights, a pair is drawn with probability
proportional to the product of its two, and U_B estimates the weighted mean.
"""

from __future__ import annotations

import numpy as np

from ..exact.errors import InputError
from ..exact.pairs.all_pairs import AllPairs, PairList
from ..exact.tools.arrays import check_count

# Largest number of pairs that can be numbered; a billion rows in each class have fewer.
LARGEST = 2**62


def draw_pairs(
    positive: np.ndarray,
    n_pairs: int,
    seed: int | np.random.Generator | None = None,
    replace: bool = True,
    merge: bool = False,
    weight: np.ndarray | None = None,
) -> PairList:
    """Return pairs drawn uniformly from all positive-negative pairs. [ScalingUp, eq. (6)]

    Only the drawn pairs take memory.

    Parameters
    ----------
    positive : bool array (n,)
        The positive rows; both classes must occur.
    n_pairs : int
        B, at least 1.
    seed : int, Generator or None
        The same number gives the same pairs.
    replace : bool
        B independent draws; or B different pairs, every such set being equally likely (and sorted).
    merge : bool
        Whether a pair drawn k times becomes one pair of weight k, which is the same problem.
    weight : array (n,), optional
        Row weights >= 0: the pair (i, j) is drawn in proportion to weight_i weight_j. With
        replacement only.

    Raises
    ------
    InputError
        If a class is missing, or more different pairs are wanted than there are.
    """
    positive = np.asarray(positive)
    if positive.ndim != 1 or positive.dtype != bool:
        raise InputError("positive must be a boolean array, True on the positive rows")
    rows_pos, rows_neg = np.flatnonzero(positive), np.flatnonzero(~positive)
    if rows_pos.size == 0 or rows_neg.size == 0:
        raise InputError("pairs need rows of both classes")
    n_pos, n_neg = int(rows_pos.size), int(rows_neg.size)
    if weight is None:
        codes = draw_codes(n_pos, n_neg, n_pairs, seed, replace)
    else:
        _total(n_pos, n_neg, n_pairs)
        a, b = AllPairs(weight).on(positive).sides
        if not replace:
            raise InputError("row weights need draws with replacement: set replace=True")
        rng = np.random.default_rng(seed)
        i, j = by_weight(a, rng.random(n_pairs)), by_weight(b, rng.random(n_pairs))
        codes = i * n_neg + j
    count = None
    if merge:
        codes, count = np.unique(codes, return_counts=True)
    i, j = np.divmod(codes, n_neg)
    return PairList(rows_pos[i], rows_neg[j], count, positive)


def draw_codes(
    n_pos: int, n_neg: int, n_pairs: int, seed: int | np.random.Generator | None, replace: bool
) -> np.ndarray:
    """Return drawn pairs as numbers i n_neg + j, of the i-th positive and the j-th negative row."""
    total = _total(n_pos, n_neg, n_pairs)
    rng = np.random.default_rng(seed)
    if replace:
        return rng.integers(total, size=n_pairs)
    if n_pairs > total:
        raise InputError(
            f"{n_pairs} different pairs are wanted, but there are only {total}: "
            "draw fewer, or with replacement"
        )
    return different_numbers(total, n_pairs, rng)


def _total(n_pos: int, n_neg: int, n_pairs: int) -> int:
    """Return the number of pairs; `InputError` if they cannot be numbered."""
    check_count("n_pairs", n_pairs)
    total = n_pos * n_neg
    if total > LARGEST:
        raise InputError(f"{total} pairs cannot be numbered: at most {LARGEST} can")
    return total


def by_weight(weight: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """Return indices (m,), each drawn in proportion to its weight, from uniform draws (m,)."""
    total = np.cumsum(weight)
    # u < 1 is 1 - 2^-53 at most, and that times the total is below the total, rounded too
    return np.searchsorted(total, uniform * total[-1], side="right")


def different_numbers(total: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """Return `size` different numbers below `total`, sorted: every set is equally likely.

    Draws as many as are missing, drops repetitions, and repeats: the result is distributed as if
    drawn one by one. For more than half of `total` it draws the numbers to leave out.
    """
    if size > total // 2:
        kept = np.ones(total, dtype=bool)
        kept[different_numbers(total, total - size, rng)] = False
        return np.flatnonzero(kept)
    found = np.empty(0, dtype=np.int64)
    while found.size < size:
        more = rng.integers(total, size=size - found.size)
        found = np.unique(np.concatenate([found, more]))
    return found
