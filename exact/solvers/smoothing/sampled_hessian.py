"""The curvature of the smoothed hinge from sampled pairs, and what steps teach about it.

At width delta the smoothed objective has the Hessian

    H = lam I + (1 / delta) sum over the pairs with |z_ij| < delta / 2 of c_ij d_ij d_ij',

d_ij = x_i - x_j. A few pairs a coordinate, drawn from that window, give H well enough: Newton's
method converges at the rate of H's relative error, and secant pairs (L-BFGS around the Cholesky
factor) mend the rest. The draw needs one sort and never lists the window.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from ...errors import InputError
from ...pairs.all_pairs import COMPILED_FROM, AllPairs, PairList
from ...problem.problem import Problem
from ...spaces.rows import Rows
from ...sums.counted import SortedRows
from ...sums.pair_graph import PairGraph

MEMORY = 8
"""Secant pairs kept."""

FEW_COORDINATES = 20
"""Coordinates up to which differences of rows are cheaper than finding out which rows recur."""

POOR = 0.4
"""Share of the gradient left by a step at which H is drawn anew."""


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
        Of these scores, for all pairs.

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
    ends = np.cumsum(counts)
    held = int(ends[-1])
    if held == 0:
        return plus[:0], minus[:0], np.zeros(0)
    picks = np.arange(held) if held <= size else np.sort(rng.integers(0, held, size))
    row = np.searchsorted(ends, picks, side="right")
    column = by_score[first[row] + picks - (ends[row] - counts[row])]
    if pairs.weight is None:
        share = np.full(picks.size, held / (picks.size * float(plus.size) * float(minus.size)))
    else:
        a, mass = pairs.normalised()
        share = a[row] * mass[column] * (held / picks.size)
    return plus[row], minus[column], share


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
        Window; widened tenfold until it holds enough pairs.
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
        top = 2.0 * (float(np.ptp(scores)) + 1.0) * 1.01
        enough = min(size, problem.n_pairs) // 4
        order = None
        if isinstance(problem.pairs, AllPairs) and problem.n >= COMPILED_FROM:
            order = SortedRows.of(scores, problem.pairs.positive, top)
        while True:
            i, j, share = drawn_window(problem, scores, width, size, rng, order)
            if i.size >= enough or width >= top:
                break
            width = min(4 * width, top)
        self.pairs = int(i.size)
        self.secants: list[tuple[np.ndarray, np.ndarray, float]] = []
        H = differences_gram(space, i, j, share / width)
        H.flat[:: space.dim + 1] += problem.lam
        self.factor = factored(H)

    def _solved(self, r: np.ndarray) -> np.ndarray:
        """Return H^-1 r, without the secants."""
        return np.asarray(dpotrs(self.factor, r)[0])

    def poor(self, before: np.ndarray, after: np.ndarray) -> bool:
        """Whether a full step left more of the gradient, in the norm of H^-1, than it should.

        With secants a step leaves less and less; leaving much says that H has moved away.
        """
        sizes = [float(r @ self._solved(r)) for r in (before, after)]
        return sizes[1] > POOR**2 * sizes[0]

    def learn(self, step: np.ndarray, change: np.ndarray) -> None:
        """Remember that a step changed the gradient so."""
        inner = float(step @ change)
        if inner > 1e-14 * float(np.linalg.norm(step) * np.linalg.norm(change)):
            self.secants = [*self.secants[1 - MEMORY :], (step, change, inner)]

    def solve(self, r: np.ndarray) -> np.ndarray:
        """Return H^-1 r, H corrected by the secants."""
        q, kept = r.copy(), []
        for step, change, inner in reversed(self.secants):
            a = float(step @ q) / inner
            kept.append(a)
            q -= a * change
        q = self._solved(q)
        for (step, change, inner), a in zip(self.secants, reversed(kept), strict=True):
            q += step * (a - float(change @ q) / inner)
        return q


def factored(H: np.ndarray) -> np.ndarray:
    """Return the Cholesky factor of H, with a ridge where rounding made it indefinite."""
    ridge = 1e-14 * float(np.abs(np.diag(H)).sum())
    while np.isfinite(ridge):
        factor, failed = dpotrf(H)
        if not failed:
            return factor
        H.flat[:: H.shape[0] + 1] += ridge
        ridge = 100 * ridge or 1.0
    raise InputError("the features are so large that their curvature overflows: rescale them")


def differences_gram(space: Rows, i: np.ndarray, j: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Return sum_k share_k d_k d_k' for d_k = x_i - x_j."""
    # Sparse rows are not centred: far from the origin the Laplacian would cancel.
    if space.dim > FEW_COORDINATES and not space.is_sparse:
        touched, place = np.unique(np.concatenate([i, j]), return_inverse=True)
        if 2 * touched.size <= i.size:
            return _laplacian_gram(space, touched, place, share)
    D = space.rows(i) - space.rows(j)
    if isinstance(D, np.ndarray):
        D *= np.sqrt(share)[:, None]
        return D.T @ D
    D = D.multiply(np.sqrt(share)[:, None]).tocsr()
    return np.asarray((D.T @ D).todense())


def _laplacian_gram(
    space: Rows, touched: np.ndarray, place: np.ndarray, share: np.ndarray
) -> np.ndarray:
    """Return the same as X'L X, L the Laplacian of the pairs' graph: few rows, many pairs."""
    X, (i, j) = space.rows(touched), np.split(place, 2)
    return np.asarray(X.T @ PairGraph(i, j, share, touched.size).times(X))
