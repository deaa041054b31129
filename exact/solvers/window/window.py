"""The pairs near their margin, listed; all others frozen at alpha 0 or 1.

Near the optimum of a hinge problem only about as many pairs as there are coordinates sit on the
margin; the rest are decided. A window |z| < h around the margin therefore carries all that is
still open, and is small enough to list.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...pairs.all_pairs import AllPairs, PairList
from ...problem.minorant import Minorant
from ...problem.problem import Problem
from ...tools.rounding import running_sum

# Half widths below this share of the range of the margins are rounding of the scores.
FINEST = 1e-13

BEYOND = 1.01  # A window this much wider than the range of the margins surely holds all pairs.

# The half width is bisected at most so many times, until it is known to this factor.
HALVINGS, NEAR = 60, 1.05


@dataclass(frozen=True, eq=False)
class Window:
    """The open pairs of a hinge problem."""

    i: np.ndarray
    j: np.ndarray
    c: np.ndarray
    frozen: np.ndarray
    frozen_mass: float
    complete: bool
    chosen: np.ndarray | None = None
    frozen_alpha: np.ndarray | None = None

    @property
    def keys(self) -> np.ndarray:
        """A number for each pair, the same in every window: (m,)."""
        if self.chosen is not None:
            return self.chosen
        return self.i.astype(np.int64) * self.frozen.size + self.j

    def witness(self, problem: Problem, alpha: np.ndarray) -> Minorant:
        """Return the dual point of `alpha` (m,) in the window and the frozen pairs outside."""
        if self.chosen is not None and self.frozen_alpha is not None:
            whole = self.frozen_alpha.copy()
            whole[self.chosen] = alpha
            return Minorant.from_alpha(problem, whole)
        mass, n, positive = self.c * alpha, problem.n, problem.pairs.positive
        c = self.frozen + np.bincount(self.i, mass, n) - np.bincount(self.j, mass, n)
        u, v = np.maximum(c[positive], 0), np.maximum(-c[~positive], 0)
        return Minorant.from_marginals(problem, u, v)


def open_window(
    problem: Problem, scores: np.ndarray, limit: int, width: float = np.inf
) -> Window | None:
    """Return the widest window around the margin with at most `limit` pairs.

    None where more than `limit` pairs are tied at the margin itself.
    """
    if isinstance(problem.pairs, PairList):
        return _list_window(problem, problem.pairs, scores, limit, width)
    return _all_window(problem, problem.pairs, scores, limit, width)


def _list_window(
    problem: Problem, pairs: PairList, scores: np.ndarray, limit: int, width: float
) -> Window:
    z = 1.0 - pairs.margins(scores)
    far = np.abs(z)
    chosen = np.flatnonzero((far < width) & (pairs.c > 0))
    if chosen.size > limit:
        chosen = np.sort(chosen[np.argpartition(far[chosen], limit - 1)[:limit]])
    alpha = (z > 0).astype(float)
    alpha[chosen] = 0.0
    return Window(
        pairs.i[chosen],
        pairs.j[chosen],
        pairs.c[chosen],
        pairs.marginals(alpha),
        float((pairs.c * alpha).sum()),
        chosen.size == np.count_nonzero(pairs.c),
        chosen,
        alpha,
    )


def _all_window(
    problem: Problem, pairs: AllPairs, scores: np.ndarray, limit: int, width: float
) -> Window | None:
    positive = problem.pairs.positive
    a, b_weight = pairs.normalised()
    # Rows without weight have no pairs.
    rows_pos, rows_neg = np.flatnonzero(positive)[a > 0], np.flatnonzero(~positive)[b_weight > 0]
    a, b_weight = a[a > 0], b_weight[b_weight > 0]
    # In the order of their scores searches stay in the cache, and the pairs come out in order.
    by_t = np.argsort(scores[rows_pos], kind="stable")
    by_b = np.argsort(scores[rows_neg], kind="stable")
    rows_pos, a = rows_pos[by_t], a[by_t]
    rows_neg, b_weight = rows_neg[by_b], b_weight[by_b]
    t, b = scores[rows_pos] - 1.0, scores[rows_neg]
    half = _half_width(t, b, limit, width)
    if half is None:
        return None
    low, high = t - half, t + half
    start = np.searchsorted(b, low, side="right")
    stop = np.maximum(np.searchsorted(b, high, side="left"), start)
    counts = stop - start
    i_at = np.repeat(np.arange(t.size), counts)
    j_at = np.arange(i_at.size) + np.repeat(start - (np.cumsum(counts) - counts), counts)
    # Long sums: what rounding leaves between the two sides is infeasible, and is paid for.
    mass_b, mass_t = running_sum(b_weight[::-1])[::-1], running_sum(a)
    frozen = np.zeros(problem.n)
    # Pairs beyond the upper end of the window have alpha = 1, those below its lower end 0.
    frozen[rows_pos] = a * mass_b[stop]
    frozen[rows_neg] = -b_weight * mass_t[np.searchsorted(high, b, side="right")]
    return Window(
        rows_pos[i_at],
        rows_neg[j_at],
        a[i_at] * b_weight[j_at],
        frozen,
        float(frozen[rows_pos].sum()),
        bool(i_at.size == t.size * b.size),
    )


def _half_width(t: np.ndarray, b: np.ndarray, limit: int, width: float) -> float | None:
    """Return a half width <= width whose window holds at most `limit` pairs, and nearly so many.

    Both t and b are sorted.
    """

    def count(half: float) -> int:
        stop = np.searchsorted(b, t + half, side="left")
        start = np.searchsorted(b, t - half, side="right")
        return int(np.maximum(stop - start, 0).sum())

    top = float(max(abs(b[-1] - t[0]), abs(t[-1] - b[0]))) * BEYOND + np.finfo(float).tiny
    low, high = FINEST * top, max(min(top, width), 2 * FINEST * top)
    if count(high) <= limit:
        return high
    if count(low) > limit:
        return None
    for _ in range(HALVINGS):
        # Half widths range over many powers of ten, so it is their ratio that is halved.
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if count(middle) <= limit else (low, middle)
        if high / low < NEAR:
            break
    return low
