"""Which features are proved to have the weight zero in every optimal model.

A weight is zero where its coordinate of the optimal pull g* lies inside the penalty's set C: |g*_k|
< l1 for the elastic net. So it is enough to know how far g* is from a known pull g.

*A smooth loss.* If loss'' <= L, strong concavity and Cauchy-Schwarz give over all pairs

    sum c_ij (alpha_ij - alpha*_ij)^2 <= 2 L gap,     |g_k - g*_k| <= sqrt(2 L gap S_k),

S_k the mean over the pairs of (x_ik - x_jk)^2.

*The hinge* with l2 > 0: the optimum is within the radius of w, so that each score is in an
interval. A row carries at least the pairs surely below their margin, at most those that may be.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..certificate.certificate import Certificate
from ..certificate.order import score_range
from ..errors import InputError
from ..losses.registry import Hinge
from ..pairs.all_pairs import AllPairs
from ..problem.problem import Problem
from ..problem.risk import Mean, Minorant
from ..spaces.rows import Rows
from ..tools.rounding import UNIT, gamma


def zeros_proved(
    problem: Problem, w: np.ndarray, minorant: Minorant, certificate: Certificate
) -> np.ndarray | None:
    """Return which weights are zero in every optimal model: bool (dim,), or None without a rule."""
    zero = np.zeros(problem.space.dim)
    ours = problem.space.given is not None and isinstance(problem.risk, Mean)
    if not ours or problem.penalty.zeros(zero, zero) is None:  # a caller's own has no rule
        return None
    if np.isfinite(problem.loss.smoothness):
        return _by_strong_concavity(problem, minorant, certificate)
    if isinstance(problem.loss, Hinge) and isinstance(problem.pairs, AllPairs):
        return _by_the_ball(problem, w, certificate)
    return None


def _by_strong_concavity(
    problem: Problem, minorant: Minorant, certificate: Certificate
) -> np.ndarray | None:
    """Apply the rule of smooth losses to the minorant, and to the one that is shrunk into C."""
    space, penalty = problem.space.given, problem.penalty
    assert space is not None
    try:
        made = minorant.renewed(problem)
    except InputError:
        return None
    g, error = space.careful_pull(made.c)
    error += space.reach * (made.deficiency + made.c_error)
    error *= 1 + gamma(8)
    upper = certificate.primal
    spread = np.sqrt(2 * problem.loss.smoothness * pair_spread(problem)) * (1 + gamma(8))
    zeros = np.zeros(space.dim, dtype=bool)
    if penalty.l2 > 0:
        apart = float(np.linalg.norm(penalty.residual(g))) * (1 + gamma(2 * g.size + 32)) + error
        dual = made.value - made.value_error - apart**2 / (2 * penalty.l2) * (1 + gamma(8))
        zeros |= _inside(problem, g, error, spread, upper - dual, upper)
    scale = penalty.shrink(g, error)
    dual = scale * (made.value - made.value_error)
    return zeros | _inside(problem, scale * g, error, spread, upper - dual, upper)


def _inside(
    problem: Problem, g: np.ndarray, error: float, spread: np.ndarray, gap: float, size: float
) -> np.ndarray:
    """Return where C holds g for any error of it and distance to the optimum's pull."""
    whole = max(gap, 0.0) + gamma(16) * (size + abs(gap))
    off = spread * (np.sqrt(whole) * (1 + gamma(4))) + error + 4 * UNIT * np.abs(g)
    zeros: Any = problem.penalty.zeros(g, off * (1 + gamma(4)))
    return zeros


def pair_spread(problem: Problem) -> np.ndarray:
    """Return an upper bound of S_k (dim,): for all pairs mean+ x^2 + mean- x^2 - 2 mean+ x mean- x,
    else twice the mean of the squares by the rows' weight."""
    space, pairs = problem.space.given, problem.pairs
    assert space is not None
    if not isinstance(pairs, AllPairs):
        return 2 * (1 + 1e-6) * _mean(space, pairs.row_mass(), 2)  # sums round by a smaller share
    weight = np.zeros((2, problem.n))
    weight[0, pairs.positive], weight[1, ~pairs.positive] = pairs.normalised()
    squares = _mean(space, weight[0], 2) + _mean(space, weight[1], 2)
    means = _mean(space, weight[0], 1) * _mean(space, weight[1], 1)
    slack = gamma(4 * problem.n + 64) * 4 * squares
    return np.maximum(squares - 2 * means + slack, 0.0)


def _mean(space: Rows, weight: np.ndarray, power: int) -> np.ndarray:
    """Return sum_i weight_i x_ik^power, of rows that are centred where they are dense: (dim,)."""
    X = space.X
    if isinstance(X, np.ndarray):
        return weight @ (X if power == 1 else X**2)
    return np.asarray((X if power == 1 else X.multiply(X)).T @ weight).ravel()


def _by_the_ball(problem: Problem, w: np.ndarray, certificate: Certificate) -> np.ndarray | None:
    space, pairs, radius = problem.space.given, problem.pairs, certificate.radius
    assert space is not None
    if radius is None or not np.isfinite(radius):
        return None
    scores, error = space.careful_scores(w)
    # 1e-9: margins are widened by this share of the scores' range: sums are on a grid
    wide = np.asarray(error, dtype=float) + 1e-9 * (1 + float(np.abs(scores).max()))
    low, high = score_range(scores, space.norms, radius, wide)
    positive = pairs.positive
    most = pairs.sums(np.where(positive, low, high), problem.loss)
    least = pairs.sums(np.where(positive, high, low), problem.loss)
    half = np.maximum(np.abs(most.c) - np.abs(least.c), 0.0) / 2
    g, slip = space.careful_pull((most.c + least.c) / 2)
    X = space.X
    # Sparse rows are not centred: their norms bound every coordinate of a centred row.
    reach = half @ np.abs(X) if isinstance(X, np.ndarray) else np.full(g.size, half @ space.norms)
    slip += space.reach * (most.rounding + least.rounding + gamma(8))
    return problem.penalty.zeros(g, (reach * (1 + gamma(problem.n + 16)) + slip) * (1 + gamma(8)))
