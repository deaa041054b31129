"""Many rows, a smooth loss and the ridge: Newton steps from the solution for a part of the rows.

A part of the rows tells the optimum to about dim / rows of it, and its pairs the curvature to a
percent: a step from there, with the gradient of all pairs, leaves a ten thousandth of the gap. So
two or three passes over all rows do what a method that starts from nothing takes ten for.
"""

from __future__ import annotations

import numpy as np

from ...certificate.solution import Recorder
from ...curvature.pair_matrices import differences_gram, factored
from ...pairs.all_pairs import AllPairs
from ...problem.penalties.ridge import Ridge
from ...problem.problem import Problem
from ...problem.risk import Mean
from ...problem.subsample import subsample
from ...spaces.rows import Rows
from ..smoothing.sampled_hessian import PairHessian
from .look import FURTHER, Look, look
from .quasi_newton import bin_width

LARGE = 100_000
"""Rows from which a part of them is solved first."""

THINNING, LEAST, MOST = 20, 20_000, 200_000
"""One row in so many makes the part, but not fewer rows, nor more, than the others say."""

ROWS_A_COORDINATE = 200
"""Least number of rows a coordinate in a part."""

MOST_COORDINATES = 500
"""Coordinates up to which a Hessian is formed."""

DRAWS, DRAWS_A_COORDINATE = 400_000, 4_000
"""Pairs drawn for a Hessian: at least so many, and so many a coordinate."""

DRAWS_A_ROW = 4
"""Pairs a row beyond which the noise is that of the rows; of few rows no more are drawn."""

SPREAD = 1e-2
"""Distance of margins over which the second derivative of a loss is taken."""

STEPS = 12
"""Newton steps at most."""

WORSE = 0.5
"""Share of the gap that a step may leave; a slower run is left to L-BFGS."""

LEFT = 1e-3
"""Share of the gap that a step is expected to leave."""

COARSE = 2.0**-12
"""Width of bins before the last step. What they cost is in the value; the pull hardly feels it."""


def part_of(problem: Problem) -> Problem | None:
    """Return the problem over a part of its rows, or None where that would not pay."""
    space, pairs = problem.space, getattr(problem.risk, "pairs", None)
    dense = isinstance(space, Rows) and isinstance(problem.risk, Mean)
    if not dense or not isinstance(pairs, AllPairs) or not isinstance(problem.penalty, Ridge):
        return None
    size = min(max(problem.n // THINNING, LEAST), MOST)
    size = max(size, ROWS_A_COORDINATE * space.dim)
    if problem.n < LARGE or 4 * size > problem.n or space.dim > MOST_COORDINATES:
        return None
    part = subsample(problem, size)
    return part if part.n < problem.n else None


def newton_from_part(
    problem: Problem, part: Problem, start: np.ndarray, recorder: Recorder, tol: float
) -> None:
    """Offer the points of Newton steps from `start`, the solution for the part of the rows.

    Parameters
    ----------
    problem, part : Problem
    start : array (dim,)
    recorder : Recorder
    tol : float
        Relative gap to reach.
    """
    rng, fine = np.random.default_rng(0), bin_width(problem, recorder, tol)
    coarse = max(fine, COARSE)
    now = look(problem, recorder, start, coarse)
    hessian = PartHessian(part, start, rng)
    for _ in range(STEPS):
        recorder.step()
        if not now.finite or recorder.near(FURTHER * tol) or recorder.out_of_time:
            return
        gradient, far = _gradient(problem, now), _far(problem, now)
        width = fine if LEFT * far <= tol * recorder.best_primal else coarse
        there = look(problem, recorder, now.w - hessian.solve(gradient), width)
        if not there.primal < now.primal:
            return
        if hessian.poor(gradient, _gradient(problem, there)):
            hessian = PartHessian(part, there.w, rng)
        else:
            hessian.learn(there.w - now.w, _gradient(problem, there) - gradient)
        now = there
        if _far(problem, now) > WORSE * far:
            return


def _far(problem: Problem, now: Look) -> float:
    """Return the gap but for what bins cost."""
    gradient = _gradient(problem, now)
    return float(gradient @ gradient) / (2 * problem.lam)


def _gradient(problem: Problem, now: Look) -> np.ndarray:
    return problem.lam * now.w - now.pull


class PartHessian(PairHessian):
    """H at one point, from pairs of a part of the rows drawn by their weight."""

    def __init__(self, part: Problem, w: np.ndarray, rng: np.random.Generator):
        space, loss, pairs = part.space, part.loss, part.pairs
        assert isinstance(space, Rows)
        size = max(min(DRAWS, DRAWS_A_ROW * part.n), DRAWS_A_COORDINATE * space.dim)
        up, low = np.flatnonzero(pairs.positive), np.flatnonzero(~pairs.positive)
        a, b = pairs.normalised()
        # Both draws are ascending: one is shuffled, lest the first rows meet the first rows only.
        i, j = up[_drawn(a, size, rng)], low[rng.permutation(_drawn(b, size, rng))]
        scores = space.scores(w)
        t = scores[i] - scores[j]
        bend = (loss.alpha(t - SPREAD / 2) - loss.alpha(t + SPREAD / 2)) / SPREAD
        H = differences_gram(space, i, j, np.maximum(bend, 0.0) / size)
        H.flat[:: space.dim + 1] += part.lam
        self.pairs, self.secants, self.factor = size, [], factored(H)


def _drawn(mass: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Return `size` places, ascending, drawn by their mass with replacement."""
    upto = np.cumsum(mass)
    found = np.searchsorted(upto, np.sort(rng.random(size)) * upto[-1], side="right")
    return np.minimum(found, mass.size - 1)
