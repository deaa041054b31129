"""The curvature of the smoothed hinge from sampled pairs, and what steps teach about it.

At width delta the smoothed objective has the Hessian

    H = lam I + (1 / delta) sum over the pairs with |z_ij| < delta / 2 of c_ij d_ij d_ij',

d_ij = x_i - x_j. A few pairs a coordinate, drawn from that window, give H well enough: Newton's
method converges at the rate of H's relative error, and secant pairs (L-BFGS around the Cholesky
factor) mend the rest. The draw needs one sort and never lists the window.
"""

from __future__ import annotations

import numpy as np

from ...curvature.pair_matrices import differences_gram, draw_from_ranges, factored, solved
from ...pairs.all_pairs import COMPILED_FROM, AllPairs, PairList
from ...problem.problem import Problem
from ...spaces.rows import Rows
from ...sums.counted import SortedRows

MEMORY = 8
"""Secant pairs kept."""

ALL = 1.01
"""A window this much wider than the range of the margins surely holds all pairs."""

ENOUGH, WIDER = 4, 4
"""The window is widened by the second factor until it holds the wanted number of pairs over the
first."""

LEAST_CURVATURE = 1e-14
"""Secants whose inner product is below this share of their lengths are rounding."""

POOR = 0.4
"""H is drawn anew once a full step leaves more than this share of the gradient."""


def drawn_window(
    problem: Problem,
    scores: np.ndarray,
    width: float,
    size: int,
    rng: np.random.Generator,
    order: SortedRows | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return up to `size` pairs of the window |z| < width / 2, and what each stands for.

    Parameters
    ----------
    problem : Problem
    scores : array (n,)
    width : float
    size : int
    rng : Generator
    order : SortedRows, optional
        The rows in the order of these scores, for all pairs.

    Returns
    -------
    i, j : int arrays (m,)
        Rows; all pairs of the window where it holds no more than `size`.
    share : array (m,)
        Pair weights, scaled so that they add up, in expectation, to the window's.
    """
    if isinstance(problem.pairs, PairList):
        return _listed(problem.pairs, scores, width, size, rng)
    pairs: AllPairs = problem.pairs
    if order is not None:
        i, j, held = order.drawn(width, size, rng)
        mass = pairs.row_mass()
        return i, j, mass[i] * mass[j] * (held / max(i.size, 1))
    plus, minus = np.flatnonzero(problem.pairs.positive), np.flatnonzero(~problem.pairs.positive)
    t, b = scores[plus] - 1.0, scores[minus]
    by_score = np.argsort(b)
    b = b[by_score]
    first = np.searchsorted(b, t - width / 2, side="right")
    counts = np.maximum(np.searchsorted(b, t + width / 2, side="left") - first, 0)
    row, place, share = draw_from_ranges(counts, size, rng)
    column, (a, mass) = by_score[first[row] + place], pairs.normalised()
    return plus[row], minus[column], a[row] * mass[column] * share


def _listed(
    pairs: PairList, scores: np.ndarray, width: float, size: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    inside = np.flatnonzero(np.abs(1.0 - pairs.margins(scores)) < width / 2)
    held = inside.size
    if held > size:
        inside = inside[np.sort(rng.integers(0, held, size))]
    return pairs.i[inside], pairs.j[inside], pairs.c[inside] * (held / max(inside.size, 1))


class PairHessian:
    """H at one point, factored.

    Parameters
    ----------
    problem : Problem
        Over `Rows`: the whole problem, or a sample of its rows.
    scores : array (n,)
        Where.
    width : float
        Window; widened until it holds enough pairs.
    size : int
        Pairs drawn at most.
    rng : Generator
    """

    def __init__(
        self,
        problem: Problem,
        scores: np.ndarray,
        width: float,
        size: int,
        rng: np.random.Generator,
    ):
        space = problem.space
        assert isinstance(space, Rows)
        # |z| is at most the range of the scores and one more, and a window has two sides.
        top = 2.0 * (float(np.ptp(scores)) + 1.0) * ALL
        enough = min(size, problem.n_pairs) // ENOUGH
        # One sort serves every window that is tried below.
        order = None
        if isinstance(problem.pairs, AllPairs) and problem.n >= COMPILED_FROM:
            order = SortedRows.of(scores, problem.pairs.positive, top)
        while True:
            i, j, share = drawn_window(problem, scores, width, size, rng, order)
            if i.size >= enough or width >= top:
                break
            width = min(WIDER * width, top)
        self.pairs = int(i.size)
        self.secants: list[tuple[np.ndarray, np.ndarray, float]] = []
        # Inside the window the slope is a ramp of steepness 1 / width, outside it is constant.
        H = differences_gram(space, i, j, share / width)
        H.flat[:: space.dim + 1] += problem.lam
        self.factor = factored(H)

    def poor(self, before: np.ndarray, after: np.ndarray) -> bool:
        """Whether a full step left more of the gradient, in the norm of H^-1, than it should.

        With secants a step leaves less and less; leaving much says that H has moved away.
        """
        sizes = [float(r @ solved(self.factor, r)) for r in (before, after)]
        return sizes[1] > POOR**2 * sizes[0]

    def learn(self, step: np.ndarray, change: np.ndarray) -> None:
        """Remember that a step changed the gradient so."""
        inner = float(step @ change)
        # Only a step along which the gradient has risen leaves H positive definite.
        if inner > LEAST_CURVATURE * float(np.linalg.norm(step) * np.linalg.norm(change)):
            self.secants = [*self.secants[1 - MEMORY :], (step, change, inner)]

    def solve(self, r: np.ndarray) -> np.ndarray:
        """Return H^-1 r, H corrected by the secants."""
        # The two loops of L-BFGS, around the factor in place of a multiple of the identity.
        q, kept = r.copy(), []
        for step, change, inner in reversed(self.secants):
            a = float(step @ q) / inner
            kept.append(a)
            q -= a * change
        q = solved(self.factor, q)
        for (step, change, inner), a in zip(self.secants, reversed(kept), strict=True):
            q += step * (a - float(change @ q) / inner)
        return q
