"""The hard-margin limit: where all pairs can have margin one, few rows hold the optimum.

With at least about as many coordinates as rows and a small lam, no pair's alpha reaches its bound.
Then the dual over all pairs is one in the n marginals c >= 0 (signs y_i = 1 or -1, K = X X'),

    min  sum_ij y_i y_j c_i c_j K_ij / (2 lam) - sum over positives of c_i,   sum_i y_i c_i = 0,

with the conditions c_i >= 0, slack_i = y_i (s_i - t) - [y_i = 1] >= 0, c_i slack_i = 0, for scores
s = K y c / lam and a threshold t. Block principal pivoting guesses the rows with c_i > 0, solves
for them, moves all rows that break a condition to the other side, and repeats: a few systems of n
equations. This file does not ask whether the bounds of the pairs hold: the certificate finds out.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from ..certificate.certificate import dual_value
from ..certificate.solution import STALL, Idle, Recorder
from ..pairs.all_pairs import AllPairs
from ..problem.problem import Problem
from ..problem.risk import Minorant

RIDGES = (1.0, 0.1, 1e-2, 1e-3, 1e-5, 1e-8, 0.0)  # with fewer coordinates the first is singular
SLACK = 1e-12  # conditions may be broken by so much of their scale: rounding


def offer_hard_margin(problem: Problem, recorder: Recorder, separable: bool = False) -> None:
    """Offer the hard-margin point of a hinge problem over all pairs of few rows, in many
    coordinates or taken for separable, to the recorder."""
    space, pairs = problem.space.held, problem.pairs
    if space is None or not isinstance(pairs, AllPairs):
        return
    if problem.n > 4000:  # rows, whose products are formed and factored
        return
    many = problem.n - 1 <= space.dim
    if not (many or separable):
        return
    # A row without weight is in no pair, so that no margin is asked of it.
    counted = np.flatnonzero(problem.pairs.row_mass() > 0)
    K, positive = space.products(), problem.pairs.positive[counted]
    found = marginals(K[np.ix_(counted, counted)], positive, (0.0,) if many else RIDGES)
    if found is None:
        return
    c = np.zeros(problem.n)
    c[counted] = problem.lam * found
    if not c.max() <= problem.n:
        return  # marginals add up to one at most: far outside, nothing is feasible
    upper = problem.pairs.positive
    witness = Minorant.from_marginals(problem, c[upper], c[~upper])
    # 1e-12: w is made longer by this part: rounding must leave no margin just below one
    w = (1 + 1e-12) * space.pull(witness.c) / problem.lam
    recorder.offer(w, problem.objective(w), witness, dual_value(problem, witness).value)
    recorder.step()


def marginals(
    K: np.ndarray, positive: np.ndarray, ridges: tuple[float, ...] = (0.0,)
) -> np.ndarray | None:
    """Return c / lam (n,), >= 0, of the hard-margin optimum; None where it is not found."""
    n, sign = positive.size, np.where(positive, 1.0, -1.0)
    unit = float(np.trace(K)) / n
    if not unit > 0:
        return None
    # In units of the mean diagonal, which makes ridges and SLACK relative.
    signed = K * (sign[:, None] * sign[None, :]) / unit
    free, x = np.ones(n, dtype=bool), None
    for ridge in ridges:
        signed.flat[:: n + 1] = K.diagonal() / unit + ridge
        x = _pivoted(signed, sign, free)
        if x is None:
            return None
    return None if x is None else x / unit


def _pivoted(signed: np.ndarray, sign: np.ndarray, free: np.ndarray) -> np.ndarray | None:
    """Return x (n,), >= 0, that meets the conditions, or None; `free` is the guess and changes."""
    positive = sign > 0
    idle = Idle(STALL.pivots)
    for _ in range(60):  # the most guesses; runs that succeed need about five
        solved = _equal_margins(signed, sign, free)
        if solved is None:
            return None
        x, t = solved
        slack = signed @ x - sign * t - positive
        broken = (free & (x < -SLACK * np.abs(x).max())) | (~free & (slack < -SLACK))
        count = int(broken.sum())
        if count == 0:
            return np.maximum(x, 0.0)
        idle.after(count)
        if idle.rounds > STALL.pivots.patience:
            # Only the last one moves. Rounds that move one row, always the last, cannot go in
            # circles (Murty's rule).
            broken[: np.flatnonzero(broken)[-1]] = False
        free ^= broken
        # With free rows in one class only, sum y c = 0 would leave nothing but c = 0.
        for side in (positive, ~positive):
            if not free[side].any():
                free[side] = True
    return None


def _equal_margins(
    signed: np.ndarray, sign: np.ndarray, free: np.ndarray
) -> tuple[np.ndarray, float] | None:
    """Return x (n,), zero off the free rows, which all have their margin, and the threshold t."""
    at = np.flatnonzero(free)
    # Along `sign` the matrix of centred rows is singular; there x is fixed at zero anyway.
    G = signed[np.ix_(at, at)] + np.outer(sign[at], sign[at])
    try:
        factor = scipy.linalg.cho_factor(G, lower=True, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError:
        return None
    right = np.column_stack([sign[at] > 0, sign[at]]).astype(float)
    a, b = scipy.linalg.cho_solve(factor, right, check_finite=False).T
    across = float(sign[at] @ b)
    if not across > 0:
        return None
    t = -float(sign[at] @ a) / across
    x = np.zeros(free.size)
    x[at] = a + t * b
    return x, t
