"""Partial AUC of few rows and a smooth loss: Newton steps on the maximum of pieces.

U is a maximum of pieces U_k(s) = sum_ij p_i q_j loss(s_i - s_j), each smooth, one for every choice
of row weights (p, q). With the pieces met so far, their values and slopes at w, and the curvature H
of their best mixture, each round takes the step d that minimises

    max_k (U_k - g_k'd) + lam w'd + d'(H + lam) d / 2,

a small QP in the shares theta of the pieces. At the optimum a few pieces are equal, and

    gap = (U - sum theta_k U_k) + |lam w - sum theta_k g_k|^2 / (2 lam).

A mixture of these pieces is made of scores that are pushed apart a little where they tie: that
names the rows of each piece, and costs the square of the push.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp

from ...certificate.certificate import dual_value
from ...certificate.solution import Recorder
from ...errors import OverflowingError
from ...problem.evidence import Mix, Scores
from ...problem.minorant import Minorant
from ...problem.problem import Problem
from ...problem.tail import Tail
from ...spaces.rows import Rows
from ...tools.rounding import UNIT
from ..qp_backends import solve_qp
from .mixtures import LEAST_PRIMAL, ROUNDED

FEW = 4_000_000  # Pairs of the classes up to which pieces are taken: each round visits them all.

ROUNDS = 100  # Rounds at most.

# How far tied scores are pushed apart, in units of the margin; the best of them is taken.
PUSHES = (1e-6, 1e-8, 1e-10, 1e-12)

# Distance over which the second derivative of the loss is averaged, in units of margin.
SPREAD = 1e-3

MASTER_TOL = 1e-13  # Tolerance passed to the solver of the shares.

KEPT = 1e-11  # Shares below this are left out of a mixture.

DECREASE = 1e-4  # Share of the predicted decrease that a step must bring.

HALVINGS = 8  # A step is halved so many times at most; then only its piece is kept.

# Shifts of a singular Hessian's diagonal, in units of the rounding of its trace.
SHIFTS = (1e1, 1e3, 1e5)

CLOSER = 1e-14  # Relative decrease below which a prediction is rounding.


def factored(H: np.ndarray) -> tuple[np.ndarray, bool] | None:
    """Return the Cholesky factor of H >= 0, shifted where rounding hides lam, if it is finite."""
    unit = UNIT * float(np.trace(H))
    for shift in (0.0, *SHIFTS):
        try:
            return sla.cho_factor(H + shift * unit * np.eye(len(H)), check_finite=False)
        except np.linalg.LinAlgError:
            pass
    return None


class Pieces:
    """The row weights met so far, and what they make of the loss at a point."""

    def __init__(self, problem: Problem):
        assert isinstance(problem.space, Rows) and isinstance(problem.risk, Tail)
        self.problem, self.risk = problem, problem.risk
        self.up = np.flatnonzero(self.risk.positive)
        self.low = np.flatnonzero(~self.risk.positive)
        rows = problem.space.rows(np.arange(problem.n))
        rows = rows if isinstance(rows, np.ndarray) else rows.toarray()
        # Pairs see differences only, and these keep more digits where the rows are near the origin.
        centred = rows - rows.mean(axis=0)
        self.X, self.Z = centred[self.up], centred[self.low]
        self.weights = np.zeros((0, problem.n))
        self.shares = np.zeros(0)

    def add(self, scores: np.ndarray) -> bool:
        """Add the piece that counts at `scores` (n,), and return whether it is a new one."""
        weights = self.risk.row_weights(scores)
        for side in (self.up, self.low):
            weights[side] /= weights[side].sum()
        if (np.abs(self.weights - weights).max(axis=1, initial=0.0) < KEPT).any():
            return False
        self.weights = np.vstack([self.weights, weights])
        self.shares = np.append(self.shares, 0.0 if self.shares.size else 1.0)
        return True

    def at(self, w: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the pieces' values and pulls at `w`, and lam + the curvature of their mixture."""
        t = np.subtract.outer(scores[self.up], scores[self.low])
        loss, P, Q = self.risk.mean.loss, self.weights[:, self.up], self.weights[:, self.low]
        alpha = np.asarray(loss.alpha(t), dtype=float)
        values = ((P @ np.asarray(loss.value(t))) * Q).sum(axis=1)
        pulls = (P * (Q @ alpha.T)) @ self.X - (Q * (P @ alpha)) @ self.Z
        bend = np.asarray(loss.alpha(t - SPREAD) - loss.alpha(t + SPREAD)) / (2 * SPREAD)
        mass = np.maximum(bend, 0.0) * ((P * self.shares[:, None]).T @ Q)
        H = (self.X * mass.sum(axis=1)[:, None]).T @ self.X
        H += (self.Z * mass.sum(axis=0)[:, None]).T @ self.Z
        # sum m_ij (x_i - z_j)(x_i - z_j)', multiplied out: no difference of a pair is formed.
        cross = self.X.T @ mass @ self.Z
        H -= cross + cross.T
        H[np.diag_indices_from(H)] += self.problem.lam
        return values, pulls, H

    def step(
        self, w: np.ndarray, values: np.ndarray, pulls: np.ndarray, H: np.ndarray, unit: float
    ) -> tuple[np.ndarray, float]:
        """Set the shares; return the step and the value that the model has at its end."""
        factor, penalty = factored(H), self.problem.lam * w
        if factor is None:
            return np.zeros(w.size), np.inf
        leaves = pulls - penalty
        bent = sla.cho_solve(factor, leaves.T)
        size = values.size
        # The product is symmetric but for rounding, and the QP solver reads one triangle.
        P = sp.csc_matrix((leaves @ bent + (leaves @ bent).T) / (2 * unit))
        A = sp.vstack([sp.identity(size), np.ones((1, size))], format="csc")
        low, high = np.append(np.zeros(size), 1.0), np.append(np.full(size, np.inf), 1.0)
        answer = solve_qp(P, -values / unit, A, low, high, "CLARABEL", MASTER_TOL)
        shares = np.maximum(np.nan_to_num(answer.x), 0.0)
        shares[shares < KEPT] = 0.0
        self.shares = shares / max(float(shares.sum()), KEPT)
        step = bent @ self.shares
        bottom = float(self.shares @ values) - float((self.shares @ leaves) @ step) / 2
        return step, bottom

    def minorant(self, scores: np.ndarray, push: float) -> Minorant:
        """Return the mixture of the pieces at `scores`, their ties broken as each piece says."""
        parts = []
        for share, held in zip(self.shares, self.weights, strict=True):
            if share <= 0:
                continue
            pushed = scores.copy()
            # The lowest positives and the highest negatives count: rows are pushed there by their
            # weight.
            pushed[self.up] -= push * held[self.up] / held[self.up].max()
            pushed[self.low] += push * held[self.low] / held[self.low].max()
            parts.append((float(share * (1 - ROUNDED * self.shares.size)), Scores(pushed)))
        return self.risk.minorant(Mix(tuple(parts)))


def mix_pieces(problem: Problem, recorder: Recorder, tol: float) -> None:
    """Offer points and mixtures of pieces to the recorder, from its best point on."""
    assert recorder.best_w is not None
    pieces, w = Pieces(problem), recorder.best_w
    scores, primal = problem.space.scores(w), recorder.best_primal
    pieces.add(scores)
    for _ in range(ROUNDS):
        values, pulls, H = pieces.at(w, scores)
        unit = max(primal, LEAST_PRIMAL)
        step, bottom = pieces.step(w, values, pulls, H, unit)
        pull = pieces.shares @ pulls
        dual = float(pieces.shares @ (values + pulls @ w)) - float(pull @ pull) / (2 * problem.lam)
        recorder.step()
        last = recorder.out_of_time
        if last or primal - dual <= tol * primal:
            _offer(pieces, recorder, scores)
        if last or recorder.near(tol):
            return
        predicted = primal - bottom - problem.lam / 2 * float(w @ w)
        moved, grown = _walk(pieces, w, step, primal, predicted)
        if moved is None and not grown:
            return _offer(pieces, recorder, scores)
        if moved is not None:
            w, primal = moved
            scores = problem.space.scores(w)
            recorder.offer(w, primal)
            pieces.add(scores)


def _offer(pieces: Pieces, recorder: Recorder, scores: np.ndarray) -> None:
    """Offer the mixture of the pieces at `scores`, for each push of their ties."""
    for push in PUSHES:
        witness = pieces.minorant(scores, push)
        recorder.offer(witness=witness, dual=dual_value(pieces.problem, witness)[0])


def _walk(
    pieces: Pieces, w: np.ndarray, step: np.ndarray, primal: float, predicted: float
) -> tuple[tuple[np.ndarray, float] | None, bool]:
    """Return a better point on the step with its value, and whether there is a new piece."""
    problem, grown, length = pieces.problem, False, 1.0
    for _ in range(HALVINGS):
        there = w + length * step
        scores = problem.space.scores(there)
        grown = pieces.add(scores) or grown
        try:
            value = problem.objective(there)
        except OverflowingError:
            value = np.inf
        if value <= primal - DECREASE * length * max(predicted, 0.0) and value < primal:
            return (there, value), grown
        if predicted <= CLOSER * primal:
            break
        length /= 2
    return None, grown
