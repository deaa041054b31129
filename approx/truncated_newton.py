"""Truncated Newton for the squared hinge over any number of pairs.

[Nonlinear, Algorithm 2], after Chapelle and Keerthi's primal RankSVM. In the house's scaling,

    F(w) = lam/2 |w|^2 + sum_ij c_ij max(0, z_ij)^2,    z_ij = 1 - w'(x_i - x_j),
    gradient  g = lam w - pull(c),                      c the marginals of alpha = 2 max(0, z),
    Hessian   H = lam I + 2 X'L X,                      L the Laplacian of the active pairs,

each step solves H s = -g by conjugate gradients, the more exactly the nearer the optimum. A
gradient costs one sort, a product with H running sums in the order already known: O(n d + n
log n) and O(n d) for n rows, whatever the number of pairs.

Differs from the paper:

1. The printed gradient has C where the derivative of its (5) has 2 C (E50 in `docs/errata.md`).
2. The printed steps are full. F is piecewise quadratic, and full steps can cycle for ever (E52):
   here a length is searched at which F is lower and nearly flat along the step.
3. The printed shapes do not conform (E51).
4. It stops at a gap, not at a criterion left open: at the slope's own dual point the gap is
   |g|^2 / (2 lam), exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse.linalg

from ..exact.certificate import Witness
from ..exact.curvature import Curvature, curvature
from ..exact.errors import InputError
from ..exact.parameters import check_count, check_number
from ..exact.problem import Problem
from ..exact.solution import Callback, Recorder, Solution, Status
from ..exact.spaces import Rows

TRIALS = 40
"""Lengths to try in one line search, at most; two or three are usual."""

SLACK = 1e-13
"""Share of F by which a step may raise it: rounding, which its value cannot tell from progress."""

PATIENCE = 10
"""Steps in a row that lower neither F nor the gradient: then only rounding is left."""


@dataclass(frozen=True)
class TruncatedNewton:
    """Solve a squared-hinge problem by truncated Newton steps. [Nonlinear, Algorithm 2]

    Parameters
    ----------
    tol : float
        Relative gap to reach, > 0.
    max_iter : int
        Points to look at, at most, the start included.
    forcing : float
        In (0, 1): a step's equation is solved to |H s + g| <= min(forcing, sqrt(|g| / |g_0|)) |g|,
        g_0 being the gradient at the start. This makes the convergence superlinear.
    max_cg : int
        Products with H for one step, at most.
    line_search : bool
        False for full steps, which can cycle. Then the last point is returned, and the history
        shows the objective as it comes and goes.
    paper_literal : bool
        Full steps, and the gradient as printed, with half its second part: it converges to the
        optimum for C / 2, that is 2 lam. It stops by its own gradient; the certificate tells.
    max_time : float, optional
        Seconds.
    """

    tol: float = 1e-9
    max_iter: int = 200
    forcing: float = 0.1
    max_cg: int = 1000
    line_search: bool = True
    paper_literal: bool = False
    max_time: float | None = None

    def __post_init__(self) -> None:
        check_number("tol", self.tol)
        check_count("max_iter", self.max_iter)
        check_number("forcing", self.forcing, 0.0, 1.0)
        check_count("max_cg", self.max_cg)
        if self.max_time is not None:
            check_number("max_time", self.max_time)

    def solve(
        self, problem: Problem, w0: np.ndarray | None = None, callback: Callback | None = None
    ) -> Solution:
        """Return the solution, started from `w0` (zero by default).

        Parameters
        ----------
        problem : Problem
            Squared hinge, over `Rows`; all pairs or a list.
        w0 : array (dim,), optional
        callback : callable, optional
            Called with each `Step`.

        Raises
        ------
        InputError
            If the loss is not the squared hinge or the space has no rows.
        """
        if problem.loss.name != "squared_hinge":
            raise InputError(f"truncated Newton solves the squared hinge, not {problem.loss.name}")
        if not isinstance(problem.space, Rows):
            raise InputError("truncated Newton needs rows: take Nyström features of the kernel")
        recorder = Recorder(self.max_time, callback, "truncated-newton")
        w = np.zeros(problem.space.dim) if w0 is None else problem.check_weights(w0)
        try:
            reason = self._run(problem, recorder, w)
        except KeyboardInterrupt:
            reason = Status.INTERRUPTED
        return recorder.finish(problem, self.tol, reason)

    def _run(self, problem: Problem, recorder: Recorder, w: np.ndarray) -> Status:
        full_steps = self.paper_literal or not self.line_search
        first, least, since, before = 0.0, np.inf, 0, np.inf
        for n_iter in range(1, self.max_iter + 1):
            if full_steps:
                recorder.best_primal = np.inf  # the last point counts, not the best
            scores, gradient = self._look(problem, recorder, w)
            size = float(np.linalg.norm(gradient))
            first = first or size
            primal = recorder.best_primal
            since = 0 if size < least or primal < before * (1 - SLACK) else since + 1
            least, before = min(size, least), primal
            if size == 0.0 or self._near(recorder, size, problem.lam):
                return Status.STALLED  # until the certificate says better
            if n_iter == self.max_iter:
                break
            if recorder.out_of_time:
                return Status.TIME_LIMIT
            laplacian = curvature(problem, scores)
            rtol = min(self.forcing, float(np.sqrt(size / first)))
            step = self._direction(problem, laplacian, gradient, rtol)
            length = 1.0 if full_steps else step_length(problem, w, step, scores, gradient)
            moved = w + length * step
            if np.array_equal(moved, w) or (since >= PATIENCE and not full_steps):
                return Status.STALLED
            w = moved
        return Status.ITERATION_LIMIT

    def _look(
        self, problem: Problem, recorder: Recorder, w: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores and the gradient (or what is printed for it), and write history."""
        space, lam = problem.space, problem.lam
        scores = space.scores(w)
        sums = problem.sums(scores)
        pull = space.pull(sums.c)
        gradient = lam * w - pull
        primal = sums.value + lam / 2 * space.norm2(w)
        gap = float(gradient @ gradient) / (2 * lam)
        recorder.offer(w, primal, lambda: Witness.from_scores(problem, scores), primal - gap)
        recorder.step()
        return scores, lam * w - pull / 2 if self.paper_literal else gradient

    def _near(self, recorder: Recorder, size: float, lam: float) -> bool:
        """Whether to stop: a little inside the tolerance, for the certificate measures again."""
        if self.paper_literal:
            return size**2 / (2 * lam) <= 0.1 * self.tol * recorder.best_primal
        return recorder.near(0.1 * self.tol)

    def _direction(
        self, problem: Problem, laplacian: Curvature, gradient: np.ndarray, rtol: float
    ) -> np.ndarray:
        """Return s with |H s + g| <= rtol |g|, or the best that `max_cg` products find."""
        space, lam = problem.space, problem.lam

        def times(v: np.ndarray) -> np.ndarray:
            v = np.ravel(v)
            return lam * v + 2 * space.pull(laplacian.times(space.scores(v)))

        operator = scipy.sparse.linalg.LinearOperator((space.dim, space.dim), matvec=times)
        # The first product alone is the steepest descent step: every answer descends.
        step, _ = scipy.sparse.linalg.cg(operator, -gradient, rtol=rtol, maxiter=self.max_cg)
        return step


def step_length(
    problem: Problem, w: np.ndarray, step: np.ndarray, scores: np.ndarray, gradient: np.ndarray
) -> float:
    """Return a length t where F is lower and its slope at most a tenth of that at t = 0.

    The slope is increasing and piecewise linear in t. Its root is searched by Newton's method in
    one variable, between the best bounds so far, from t = 1 on. Near the optimum all values of F
    are equal to rounding, while slopes still have digits: there F may rise by `SLACK`. A small
    slope alone would not do: far beyond the root of a long step it can be small too.

    Parameters
    ----------
    problem : Problem
        Squared hinge.
    w, step : arrays (dim,)
    scores : array (n,)
        Those of `w`.
    gradient : array (dim,)
        That at `w`.
    """
    lam, space = problem.lam, problem.space
    shift = space.scores(step)
    along, squared = space.inner(w, step), space.norm2(step)

    def look(t: float) -> tuple[float, float]:
        """Return F less lam/2 |w|^2, and its slope."""
        sums = problem.sums(scores + t * shift)
        value = sums.value + lam * (t * along + t**2 / 2 * squared)
        return value, lam * (along + t * squared) - float(sums.c @ shift)

    start, before = float(gradient @ step), look(0.0)[0]
    if start >= 0:
        return 0.0  # no descent left: rounding
    allowed = before + SLACK * (before + lam / 2 * space.norm2(w))
    low, high, t = 0.0, np.inf, 1.0
    for _ in range(TRIALS):
        value, slope = look(t)
        if abs(slope) <= 0.1 * abs(start) and value <= allowed:
            return t
        low, high = (t, high) if slope < 0 else (low, t)
        laplacian = curvature(problem, scores + t * shift)
        bend = lam * squared + 2 * float(shift @ laplacian.times(shift))
        margin = 0.1 * (high - low) if high < np.inf else 0.0
        t = float(np.clip(t - slope / bend, low + margin, min(high - margin, 10 * t)))
    return low if low > 0 else t
