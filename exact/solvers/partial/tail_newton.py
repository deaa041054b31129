"""Newton's method for partial AUC: smooth the loss and the row weights, solve, smooth less.

At width h the row weights rise from zero to one over a range h of scores around the boundary, and
a hinge's slope over the same range. With g the pull of the slopes of the weighted pairs, the point
wanted has lam w = g(w); the gap there is what smoothing costs, of order h^2. With A the mean slope
of the pairs at the boundary, the derivative of -g is

    mean of loss''(t_ij) d_ij d_ij' + A / (k h) sum over its window of (x - xbar) (x - xbar)'

over the pairs as they are weighted, d_ij = x_i - x_j; the second part is the rows that change
places. Pairs are drawn for the first. Nothing of this is trusted: every point and every width gives
a minorant, and the certificate is made of the best. Where few rows are at the boundary no smoothed
weights will do for all of them, and cutting planes (`mixtures`) finish.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
import scipy.linalg

from ...certificate.solution import Recorder, Solution, Status
from ...certificate.solver import Solver
from ...errors import InputError
from ...losses.registry import HINGE
from ...pairs.all_pairs import AllPairs
from ...problem.evidence import Scores
from ...problem.minorant import Minorant
from ...problem.penalties.ridge import Ridge
from ...problem.problem import Problem
from ...problem.risk import Mean
from ...problem.tail import Tail
from ...spaces.rows import Rows
from ..general.look import FURTHER, Look, look
from .mixtures import mix_cuts
from .pieces import FEW, factored, mix_pieces

WIDEST = 1.0  # First width: the margin that a loss asks for is one.

NARROWER = 0.3  # Factor from one width to the next: the gap falls by about its square.

NARROWEST = 1e-9  # Least width: below this, smoothing costs less than rounding.

# Cutting planes take over once two widths in a row leave more than this share of the gap.
STALLING = 0.7

STEPS_A_WIDTH = 8  # Newton steps at one width, at most.

SHORTER = 0.4  # Factor of a step that is too long.

FLATTER = 0.3  # Share of the slope along a step that may be left at its end.

SHORTEST = 0.01  # Length of a step at which the slope no longer matters.

LEAST_LENGTH = 1e-8  # Length at which a step along which nothing is finite is given up.

SAMPLE = 20_000  # Rows of the smaller problem that gives a large one its start.

# A class keeps at least the first part of the sample's rows. Its k is a multiple of one over the
# second.
FEWEST_SHARE, PARTS = 10, 1000

START_TOL = 1e-3  # Relative gap to which the smaller problem is solved.

DRAWN = 5_000  # Pairs drawn for a Hessian, at most.

# Half widths, in bins, where the hinge is counted in bins: what bins cost is then a small part of
# what smoothing costs. The second where the first would need more bins a unit than rows.
HALF_WIDTH, LEAST_HALF_WIDTH = 16, 4

NUMBERS = 10_000_000  # Numbers in their differences, at most.

# Least distance over which the second derivative of the loss is averaged, in units of margin.
SPREAD = 0.01

LARGEST_DIMENSION = 3000  # Largest dimension for which a Hessian is formed.


@dataclass(frozen=True)
class TailNewton(Solver):
    """Solve a partial AUC problem with the ridge by smoothing and Newton steps."""

    tol: float = 1e-9
    max_iter: int = 1000
    max_time: float | None = None
    seed: int = 0

    name: ClassVar[str] = "descent"

    def check(self, problem: Problem) -> None:
        """Raise `InputError` unless it is partial AUC with the ridge over rows."""
        if not isinstance(problem.risk, Tail):
            raise InputError(
                "tail-newton solves partial AUC: ask for a part of the ROC curve (fpr_max or "
                "tpr_min), or take the method auto"
            )
        if not (isinstance(problem.space, Rows) and isinstance(problem.penalty, Ridge)):
            raise InputError("tail-newton needs rows and the ridge: take the proximal method")
        if problem.space.dim > LARGEST_DIMENSION:
            raise InputError(
                f"tail-newton forms a Hessian, for up to {LARGEST_DIMENSION} coordinates, not "
                f"{problem.space.dim}: take the proximal method"
            )

    def run(self, problem: Problem, recorder: Recorder) -> Status | None:
        """Improve on `recorder.w0`, for many rows from the solution for some of them."""
        assert recorder.w0 is not None
        w, width = recorder.w0, WIDEST
        if problem.n > 2 * SAMPLE and not w.any():
            small = thinned(problem, SAMPLE)
            part = recorder.part()
            part.w0 = w
            width = self._descend(small, part, w, width, START_TOL)[1]
            w = w if part.best_w is None else part.best_w
        reason, _ = self._descend(problem, recorder, w, width, FURTHER * self.tol)
        if reason != Status.STALLED:
            return reason
        risk = problem.risk
        assert isinstance(risk, Tail)
        few = risk.mean.pairs.n_pos * risk.mean.pairs.n_neg <= FEW
        if few and risk.mean.loss != HINGE:
            mix_pieces(problem, recorder, FURTHER * self.tol)
            if recorder.near(FURTHER * self.tol):
                return None
        return mix_cuts(problem, recorder, FURTHER * self.tol, self.max_iter)

    def conclude(self, problem: Problem, recorder: Recorder, reason: Status | None) -> Solution:
        """Return the solution, certified anew by the form of the sums of the last steps."""
        witness = recorder.best_witness
        if callable(witness):
            witness = recorder.best_witness = witness()
        binned = problem
        if isinstance(witness, Minorant):
            made = witness.evidence
            binned = in_bins(problem, made.width if isinstance(made, Scores) else 0.0)
        found = recorder.finish(binned, self.tol, reason)
        if found.status is Status.CERTIFIED or binned is problem:
            return found
        return recorder.finish(problem, self.tol, reason)

    def _descend(
        self, problem: Problem, recorder: Recorder, w: np.ndarray, width: float, tol: float
    ) -> tuple[Status | None, float]:
        assert recorder.w0 is not None
        rng, left, gap = np.random.default_rng(self.seed), self.max_iter, np.inf
        while width > NARROWEST:
            binned = in_bins(problem, width)
            here = look(binned, recorder, w, width)
            if not here.finite:  # the solution for some of the rows overflows for all of them
                here = look(binned, recorder, recorder.w0, width)
            if recorder.gap > STALLING * gap:
                break
            gap = recorder.gap if np.isfinite(recorder.gap) else np.inf
            for _ in range(STEPS_A_WIDTH):
                if recorder.near(tol):
                    return None, width
                if recorder.out_of_time:
                    return Status.TIME_LIMIT, width
                if left == 0:
                    return Status.ITERATION_LIMIT, width
                gradient = problem.lam * here.w - here.pull
                if float(gradient @ gradient) / (2 * problem.lam) < FURTHER * here.bias:
                    break
                here, left = self._step(binned, recorder, here, width, rng), left - 1
                recorder.step()
            w, width = here.w, width * NARROWER
        return Status.STALLED, width

    def _step(
        self,
        problem: Problem,
        recorder: Recorder,
        here: Look,
        width: float,
        rng: np.random.Generator,
    ) -> Look:
        """Return the point of a Newton step, shortened until the slope along it is small."""
        lam = problem.lam
        gradient = lam * here.w - here.pull
        H = curvature(problem, here.w, width, rng)
        H[np.diag_indices_from(H)] += lam
        factor = factored(H)
        if factor is None:
            return here
        way = -scipy.linalg.cho_solve(factor, gradient)
        slope, length = float(gradient @ way), 1.0
        while True:
            there = look(problem, recorder, here.w + length * way, width)
            flat = float((lam * there.w - there.pull) @ way) <= FLATTER * abs(slope)
            if there.finite and (flat or length < SHORTEST):
                return there
            if length < LEAST_LENGTH:
                return here
            length *= SHORTER


def in_bins(problem: Problem, width: float) -> Problem:
    """Return a large problem with the hinge counted in bins for this width, or as it is."""
    risk = problem.risk
    assert isinstance(risk, Tail)
    bins = 2 ** int(np.ceil(np.log2(2 * HALF_WIDTH / width))) if width > 0 else problem.n
    while bins >= problem.n and width * bins / 2 >= 2 * LEAST_HALF_WIDTH:
        bins //= 2
    pairs, loss = risk.mean.pairs, risk.mean.loss
    if (
        problem.n <= 2 * SAMPLE
        or not 1 <= bins < problem.n
        or loss != HINGE
        or pairs.form != "auto"
    ):
        return problem
    counted = Mean(replace(pairs, form="binned", bins=bins), loss)
    return replace(problem, risk=Tail(counted, risk.kp, risk.kq))


def curvature(
    problem: Problem, w: np.ndarray, width: float, rng: np.random.Generator
) -> np.ndarray:
    """Return an estimate of the derivative of -g at `w`, positive semidefinite."""
    space, risk = problem.space, problem.risk
    assert isinstance(space, Rows) and isinstance(risk, Tail)
    scores = space.scores(w)
    chosen, loss = risk.chosen(scores, width), risk.mean.loss
    size = min(
        max(DRAWN, 40 * space.dim),
        NUMBERS // space.dim,
        4 * risk.mean.pairs.n_pos * risk.mean.pairs.n_neg,
    )
    picks = [_drawn(weights, size, rng) for _, weights in chosen]
    rng.shuffle(picks[1])  # both are ascending: the first rows would meet the first ones only
    i, j = (rows[pick] for (rows, _), pick in zip(chosen, picks, strict=True))
    t = scores[i] - scores[j]
    step = max(width / 2, SPREAD)
    bent = np.maximum(loss.alpha(t - step, width) - loss.alpha(t + step, width), 0.0) / (2 * step)
    used = bent > 0
    apart = _dense(space, i[used]) - _dense(space, j[used])
    H = (apart * bent[used, None]).T @ apart / size
    alpha = loss.alpha(t, width)
    for (rows, weights), pick, k in zip(chosen, picks, (risk.kp, risk.kq), strict=True):
        inside = weights < weights.max()
        window = rows[inside][: NUMBERS // space.dim]
        if window.size < 2:
            continue
        at_edge = inside[pick]
        steep = float(alpha[at_edge].mean() if at_edge.any() else alpha.mean())
        near = _dense(space, window)
        near = near - near.mean(axis=0)
        H += steep / (float(k) * width) * (int(inside.sum()) / window.size) * (near.T @ near)
    return H


def _drawn(weights: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Return `size` places, ascending, drawn by their weight > 0 with replacement."""
    mass = np.cumsum(weights)
    found = np.searchsorted(mass, np.sort(rng.random(size)) * mass[-1], side="right")
    return np.minimum(found, weights.size - 1)


def thinned(problem: Problem, size: int) -> Problem:
    """Return the problem over about `size` rows, each class thinned evenly, k in proportion."""
    space, risk = problem.space, problem.risk
    assert isinstance(space, Rows) and isinstance(risk, Tail)
    kept, ks = [], []
    for side, k in _sides(risk):
        rows = np.flatnonzero(side)
        want = min(rows.size, max(size // FEWEST_SHARE, round(size * rows.size / problem.n)))
        chosen = rows[np.linspace(0, rows.size - 1, want).astype(np.int64)]
        kept.append(chosen)
        ks.append(max(Fraction(1), Fraction(round(k * want / rows.size * PARTS), PARTS)))
    index = np.sort(np.concatenate(kept))
    pairs = AllPairs(form=risk.mean.pairs.form).on(risk.positive[index])
    few = Tail(
        Mean(pairs, risk.mean.loss), *(min(k, c.size) for k, c in zip(ks, kept, strict=True))
    )
    return Problem(Rows(space.rows(index)), few, problem.penalty)


def _sides(risk: Tail) -> list[tuple[np.ndarray, Fraction]]:
    return [(risk.positive, risk.kp), (~risk.positive, risk.kq)]


def _dense(space: Rows, index: np.ndarray) -> np.ndarray:
    rows = space.rows(index)
    return rows if isinstance(rows, np.ndarray) else rows.toarray()
