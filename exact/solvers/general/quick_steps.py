"""Quasi-Newton steps for the squared hinge, from the optimum of the square loss.

At zero every pair is active, and there the squared hinge is the square loss: a parabola, which the
moments of the rows tell,

    F(w) = 1 - g'w + w'S w / 2,    g = 2 mean of (x_i - x_j),
    S = 2 mean of (x_i - x_j)(x_i - x_j)' + lam I.

Its minimum is near that of the squared hinge, and S is above every Hessian. With few coordinates
the steps begin at that minimum, with S for the first curvature; with many at the minimum along g.
A trial of a step is made in score space: it costs the sums and no product.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from ...certificate.solution import Recorder
from ...curvature.line_search import root_of_slope
from ...curvature.pair_matrices import differences_gram, factored, solved
from ...errors import OverflowingError
from ...pairs.all_pairs import AllPairs
from ...problem.evidence import Scores
from ...problem.problem import Problem
from ...spaces.rows import Rows
from ...sums.assembled import PairSums
from ..smoothing.memory import Memory
from .look import FURTHER

FEW_COORDINATES = 100
"""Coordinates up to which S is made: it costs less than an evaluation then."""

SOME, SOME_A_COORDINATE = 2000, 40
"""S is made of every k-th row of a class, or pair, about so many: the steps mend what it lacks."""

FLAT, TRIALS = 0.6, 20
"""A search ends at this share of the first slope, or after so many trials: the next step mends
what is left."""


@dataclass(frozen=True, eq=False)
class Start:
    """A minimum of the parabola.

    Attributes
    ----------
    w : array (dim,)
    scores : array (n,)
        Of w.
    inverse : callable
        Applies the inverse of a curvature.
    everywhere : bool
        Whether this is S's, rather than the curvature along g alone.
    """

    w: np.ndarray
    scores: np.ndarray
    inverse: Callable[[np.ndarray], np.ndarray]
    everywhere: bool


def quick_steps(problem: Problem, recorder: Recorder, tol: float, max_iter: int) -> None:
    """Offer the points of at most `max_iter` steps; end where the gap or the time will do.

    Parameters
    ----------
    problem : Problem
        Squared hinge with the ridge, over `Rows`.
    recorder : Recorder
    tol : float
        Relative gap to reach.
    max_iter : int
    """
    space, lam, memory = problem.space, problem.lam, Memory(lambda x, y: float(x @ y))
    start = parabola(problem)
    if start is None:
        return
    memory.inverse = start.inverse
    with suppress(OverflowingError):
        line = _Line(problem, start.w, np.zeros_like(start.w), start.scores)
        line.slope(0.0)
        before = None
        for _ in range(max_iter):
            pull = space.pull(line.sums.c)
            gradient = lam * line.w - pull
            _offer(problem, recorder, line, pull)
            if recorder.near(FURTHER * tol) or recorder.out_of_time:
                return
            if before is not None:
                memory.remember(line.t * line.p, gradient - before)
                # The curvature along g alone is no better a guess than that of the last step.
                memory.inverse = start.inverse if start.everywhere else None
            line, before = _Line(problem, line.w, memory.direction(gradient), line.scores), gradient
            t = root_of_slope(line.slope, float(gradient @ line.p), FLAT, TRIALS)
            if t == 0.0 or t != line.t:
                return


class _Line:
    """The objective along start + t p; `t`, `w`, `scores` and `sums` are the last trial's."""

    sums: PairSums

    def __init__(self, problem: Problem, start: np.ndarray, p: np.ndarray, scores: np.ndarray):
        self.problem, self.start, self.p, self.first = problem, start, p, scores
        self.shift = problem.space.scores(p) if p.any() else np.zeros_like(scores)
        self.along, self.length2 = float(start @ p), float(p @ p)
        self.t, self.scores = 0.0, scores

    @property
    def w(self) -> np.ndarray:
        """The weights at the last trial."""
        return self.start + self.t * self.p

    def slope(self, t: float) -> float:
        """Return the derivative at t."""
        self.t, self.scores = t, self.first + t * self.shift
        self.sums = self.problem.risk.sums(self.scores)
        ridge = self.problem.lam * (self.along + t * self.length2)
        return ridge - float(self.sums.c @ self.shift)


def _offer(problem: Problem, recorder: Recorder, line: _Line, pull: np.ndarray) -> None:
    """Offer the last trial and its slopes' dual point, and write a line of history."""
    space, w, sums = problem.space, line.w, line.sums
    primal = sums.value + problem.penalty.value(space, w).value
    dual = sums.conjugate - float(pull @ pull) / (2 * problem.lam)
    # At the scores of w itself, so that one evaluation serves both sides of the certificate.
    recorder.offer(w, primal, lambda: Scores(space.scores(w)), max(dual, 0.0))
    recorder.step()


def parabola(problem: Problem) -> Start | None:
    """Return where to start; None where the classes' means are equal, or numbers overflow."""
    space, lam, pairs = problem.space, problem.lam, problem.pairs
    assert isinstance(space, Rows)
    if isinstance(pairs, AllPairs):
        mass = pairs.row_mass()
        g = space.pull(np.where(pairs.positive, 2 * mass, -2 * mass))
    else:
        g = space.pull(2 * pairs.marginals(np.ones(pairs.c.size)))
    steep = float(np.sqrt(space.norm2(g)))
    if not (np.isfinite(steep) and steep > 0):
        return None
    if space.dim <= FEW_COORDINATES and not space.is_sparse:
        S = _second_moments(problem)
        if np.isfinite(S).all():
            factor = factored(S)
            w = solved(factor, g)
            return Start(w, space.scores(w), lambda r: solved(factor, r), True)
    along = space.scores(g / steep)
    bend = 2 * _mean_square(problem, along) + lam
    if not (np.isfinite(bend) and bend > 0):
        return None
    return Start(g / bend, along * (steep / bend), lambda r: r / bend, False)


def _mean_square(problem: Problem, scores: np.ndarray) -> float:
    """Return the mean of (s_i - s_j)^2 over the pairs."""
    pairs = problem.pairs
    if not isinstance(pairs, AllPairs):
        return float(pairs.c @ pairs.margins(scores) ** 2)
    (a, up), (b, low) = _sides(pairs, scores)
    return float(a @ up**2 + b @ low**2 - 2 * (a @ up) * (b @ low))


def _second_moments(problem: Problem) -> np.ndarray:
    """Return S, from some of the rows or pairs."""
    space, pairs = problem.space, problem.pairs
    assert isinstance(space, Rows)
    size = max(SOME, SOME_A_COORDINATE * space.dim)
    if isinstance(pairs, AllPairs):
        (a, up), (b, low) = _sides(pairs, space.X, size)
        above, below = a @ up, b @ low
        S = (up.T * a) @ up + (low.T * b) @ low - np.outer(above, below) - np.outer(below, above)
    else:
        some = slice(None, None, max(1, pairs.c.size // size))
        share = pairs.c[some] / pairs.c[some].sum()
        S = differences_gram(space, pairs.i[some], pairs.j[some], share)
    S = 2 * S
    S.flat[:: space.dim + 1] += problem.lam
    return S


def _sides(
    pairs: AllPairs, values: np.ndarray, size: int | None = None
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the weights of about `size` rows of a class, which add up to one, and their values."""
    mass = pairs.row_mass()
    for side in (pairs.positive, ~pairs.positive):
        rows = np.flatnonzero(side & (mass > 0))
        rows = rows[:: max(1, rows.size // size)] if size else rows
        yield mass[rows] / mass[rows].sum(), values[rows]
