"""The curvature of a mean over pairs, from pairs drawn by their weight, or all where they are few.

At the margins t of the pairs the objective has the Hessian

    H = lam I + sum c_ij curvature(t_ij) d_ij d_ij',    d_ij = x_i - x_j,

with curvature = -alpha', taken as a difference of alpha over a window. Pairs drawn by their weight
c_ij make its mean; the window is widened until enough of them have any curvature.
"""

from __future__ import annotations

import numpy as np

from ...curvature.pair_matrices import differences_gram, factored
from ...problem.problem import Problem
from ...spaces.rows import Rows
from ..smoothing.sampled_hessian import PairHessian

LEAST_PART = 4
"""Where few pairs are drawn, one in so many with some curvature is enough."""

SMOOTH_WINDOW = 1e-3
"""Window over which the curvature of a loss without a kink is taken."""

WIDER = 2.0
"""Factor by which the window grows while too few of the drawn pairs are inside."""

WIDEST = 4.0
"""Largest window: the margin that a loss asks for is one."""


class DrawnHessian(PairHessian):
    """H at one point, factored; it learns from steps as `PairHessian` does.

    Parameters
    ----------
    problem : Problem
        Over `Rows`, with the ridge and pairs that have `draw(m, rng)`.
    scores : array (n,)
        Where.
    width : float
        Smoothing of the loss; 0 for none.
    size : int
        Pairs drawn; where there are no more and they can be listed, all are taken.
    enough : int
        Pairs that should have some curvature.
    rng : Generator
    drawn : pair of int arrays (size,), optional
        Pairs drawn by their weight, where the pairs have no `draw`.
    """

    def __init__(
        self,
        problem: Problem,
        scores: np.ndarray,
        width: float,
        size: int,
        enough: int,
        rng: np.random.Generator,
        drawn: tuple[np.ndarray, np.ndarray] | None = None,
    ):
        space, loss = problem.space, problem.loss
        assert isinstance(space, Rows)
        i, j, share = _drawn(problem, size, rng) if drawn is None else (*drawn, 1 / size)
        enough = min(enough, i.size // LEAST_PART)
        t, window = scores[i] - scores[j], max(width, SMOOTH_WINDOW)
        while True:
            used = 0.0 if width == 0 else window  # without a kink there is nothing to smooth
            fall = loss.alpha(t - window / 2, used) - loss.alpha(t + window / 2, used)
            curvature = np.maximum(fall, 0.0) / window
            inside = curvature > 0
            if int(inside.sum()) >= enough or window >= WIDEST:
                break
            window *= WIDER
        self.pairs = int(inside.sum())
        self.secants = []
        weight = (curvature * share)[inside]
        H = differences_gram(space, i[inside], j[inside], weight)
        H.flat[:: space.dim + 1] += problem.lam
        self.factor = factored(H)


def _drawn(
    problem: Problem, size: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray | float]:
    """Return rows i and j of pairs drawn by their weight, or of all where they are no more.

    The third is what each stands for: the sum over all pairs is that over these.
    """
    listed = getattr(problem.pairs, "listed", None)
    found = listed(size) if listed is not None else None
    return found if found is not None else (*problem.pairs.draw(size, rng), 1 / size)
