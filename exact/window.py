"""The pairs near their margin, listed; all others frozen at alpha 0 or 1.

Near the optimum of a hinge problem only about as many pairs as there are coordinates sit on the
margin; the rest are decided. A window |z| < h around the margin therefore carries all that is
still open, and is small enough to list.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .pairs import AllPairs, PairList
from .problem import Problem


@dataclass(frozen=True, eq=False)
class Window:
    """The open pairs of a hinge problem.

    Attributes
    ----------
    i, j : int arrays (m,)
        Rows of the open pairs.
    c : array (m,)
        Their weights in the whole problem (they add up to one only if all pairs are open).
    frozen : array (n,)
        Signed marginals of the pairs frozen at alpha = 1.
    frozen_mass : float
        Their weight.
    chosen : int array (m,) or None
        Positions in the pair list, for a `PairList`.
    complete : bool
        Whether every pair is open.
    """

    i: np.ndarray
    j: np.ndarray
    c: np.ndarray
    frozen: np.ndarray
    frozen_mass: float
    complete: bool
    chosen: np.ndarray | None = None
    frozen_alpha: np.ndarray | None = None


def open_window(problem: Problem, scores: np.ndarray, limit: int) -> Window | None:
    """Return the widest window around the margin with at most `limit` pairs.

    None where more than `limit` pairs are tied at the margin itself.
    """
    if isinstance(problem.pairs, PairList):
        return _list_window(problem, problem.pairs, scores, limit)
    return _all_window(problem, problem.pairs, scores, limit)


def _list_window(problem: Problem, pairs: PairList, scores: np.ndarray, limit: int) -> Window:
    z = 1.0 - pairs.margins(scores)
    order = np.argsort(np.abs(z), kind="stable")
    chosen = np.sort(order[:limit])
    alpha = (z > 0).astype(float)
    alpha[chosen] = 0.0
    return Window(
        pairs.i[chosen],
        pairs.j[chosen],
        pairs.c[chosen],
        pairs.marginals(alpha, problem.n),
        float((pairs.c * alpha).sum()),
        chosen.size == z.size,
        chosen,
        alpha,
    )


def _all_window(problem: Problem, pairs: AllPairs, scores: np.ndarray, limit: int) -> Window | None:
    positive = problem.positive
    a, b_weight = pairs.normalised(positive)
    rows_pos, rows_neg = np.flatnonzero(positive), np.flatnonzero(~positive)
    t = scores[rows_pos] - 1.0
    b = scores[rows_neg]
    order = np.argsort(b, kind="stable")
    b_sorted = b[order]
    half = _half_width(t, b_sorted, limit)
    if half is None:
        return None
    low, high = t - half, t + half
    start = np.searchsorted(b_sorted, low, side="right")
    stop = np.maximum(np.searchsorted(b_sorted, high, side="left"), start)
    counts = stop - start
    i_at = np.repeat(np.arange(t.size), counts)
    offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    j_at = order[np.repeat(start, counts) + offsets]
    frozen = np.zeros(problem.n)
    mass_b = np.concatenate([[0.0], np.cumsum(b_weight[order][::-1])])[::-1]
    frozen[rows_pos] = a * mass_b[stop]
    by_high = np.argsort(high, kind="stable")
    mass_t = np.concatenate([[0.0], np.cumsum(a[by_high])])
    frozen[rows_neg] = -b_weight * mass_t[np.searchsorted(high[by_high], b, side="right")]
    return Window(
        rows_pos[i_at],
        rows_neg[j_at],
        a[i_at] * b_weight[j_at],
        frozen,
        float(frozen[rows_pos].sum()),
        bool(counts.sum() == t.size * b.size),
    )


def _half_width(t: np.ndarray, b_sorted: np.ndarray, limit: int) -> float | None:
    """Return a half width whose window holds at most `limit` pairs, and nearly so many."""

    def count(half: float) -> int:
        stop = np.searchsorted(b_sorted, t + half, side="left")
        start = np.searchsorted(b_sorted, t - half, side="right")
        return int(np.maximum(stop - start, 0).sum())

    top = float(max(abs(b_sorted[-1] - t.min()), abs(t.max() - b_sorted[0]))) * 1.01 + 1e-300
    if count(top) <= limit:
        return top
    low, high = 1e-13 * top, top
    if count(low) > limit:
        return None
    for _ in range(60):
        middle = float(np.sqrt(low * high))
        if count(middle) <= limit:
            low = middle
        else:
            high = middle
        if high / low < 1.05:
            break
    return low
