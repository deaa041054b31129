"""Newton's method for the squared hinge over any number of pairs.

The objective is piecewise quadratic with gradient lam w - pull(c); its generalised Hessian is
lam I + 2 X'L X with L the Laplacian of the active pairs. Full steps can cycle (there is a
four-row example in the tests), so each step is searched until the slope along it has clearly
fallen; a test on values would stall in the last digits. At the slope's own dual point the gap is
exactly |gradient|^2 / (2 lam).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse.linalg

from .certificate import Witness, dual_value
from .curvature import Curvature, curvature
from .errors import InputError
from .problem import Problem
from .solution import Callback, Recorder, Solution, Status
from .spaces import Rows


@dataclass(frozen=True)
class Newton:
    """Solve a squared-hinge problem by Newton steps.

    Parameters
    ----------
    tol : float
        Relative gap to reach.
    max_iter : int
    dense_limit : float
        Up to n dim^2 of this the Hessian is formed; above, conjugate gradients.
    max_time : float, optional
        Seconds.
    """

    tol: float = 1e-9
    max_iter: int = 200
    dense_limit: float = 1e9
    max_time: float | None = None

    def solve(
        self, problem: Problem, w0: np.ndarray | None = None, callback: Callback | None = None
    ) -> Solution:
        """Return the solution, started from `w0` (zero by default).

        Raises
        ------
        InputError
            If the loss is not the squared hinge or the space has no rows.
        """
        if problem.loss.name != "squared_hinge":
            raise InputError(f"Newton solves the squared hinge, not {problem.loss.name}")
        if not isinstance(problem.space, Rows):
            raise InputError("Newton needs rows: factor the kernel first")
        recorder = Recorder(self.max_time, callback, "newton")
        w = np.zeros(problem.space.dim) if w0 is None else problem.check_weights(w0)
        recorder.offer(w, problem.objective(w))
        try:
            reason = self._run(problem, recorder, w)
        except KeyboardInterrupt:
            reason = Status.INTERRUPTED
        return recorder.finish(problem, self.tol, reason)

    def _run(self, problem: Problem, recorder: Recorder, w: np.ndarray) -> Status:
        space, lam = problem.space, problem.lam
        scores = space.scores(w)
        for _ in range(self.max_iter):
            sums = problem.sums(scores)
            gradient = lam * w - space.pull(sums.c)
            primal = sums.value + lam / 2 * space.norm2(w)
            witness = Witness.from_scores(problem, scores, scale=1.0)
            recorder.offer(w, primal, witness, dual_value(problem, witness)[0])
            recorder.step()
            if recorder.near(self.tol * 1e-3) or not np.any(gradient):
                return Status.STALLED
            if recorder.out_of_time:
                return Status.TIME_LIMIT
            step = self._direction(problem, curvature(problem, scores), gradient)
            shift = space.scores(step)
            length = _line_search(problem, w, step, scores, shift, gradient)
            if length == 0.0 or np.array_equal(w + length * step, w):
                return Status.STALLED
            w = w + length * step
            scores = space.scores(w)
        return Status.ITERATION_LIMIT

    def _direction(
        self, problem: Problem, laplacian: Curvature, gradient: np.ndarray
    ) -> np.ndarray:
        """Return minus the Hessian's inverse times the gradient."""
        space, lam = problem.space, problem.lam
        assert isinstance(space, Rows)
        if isinstance(space.X, np.ndarray) and space.n * space.dim**2 <= self.dense_limit:
            hessian = 2 * space.X.T @ laplacian.times(space.X)
            hessian.flat[:: space.dim + 1] += lam
            try:
                return -scipy.linalg.cho_solve(scipy.linalg.cho_factor(hessian), gradient)
            except np.linalg.LinAlgError:
                pass  # lost to rounding at tiny lam: conjugate gradients never form the matrix

        def times(v: np.ndarray) -> np.ndarray:
            v = np.ravel(v)
            return lam * v + 2 * space.pull(laplacian.times(space.scores(v)))

        size = float(np.linalg.norm(gradient))
        operator = scipy.sparse.linalg.LinearOperator((space.dim, space.dim), matvec=times)
        found, _ = scipy.sparse.linalg.cg(
            operator, -gradient, rtol=min(0.1, np.sqrt(size) * 0.1), maxiter=500
        )
        return found


def _line_search(
    problem: Problem,
    w: np.ndarray,
    step: np.ndarray,
    scores: np.ndarray,
    shift: np.ndarray,
    gradient: np.ndarray,
) -> float:
    """Return a length at which the slope along `step` has fallen to a tenth, or nearly the root."""
    lam = problem.lam
    along, squared = float(w @ step), float(step @ step)
    start = float(gradient @ step)
    if start >= 0:
        return 0.0

    def slope(length: float) -> float:
        sums = problem.sums(scores + length * shift)
        return lam * (along + length * squared) - float(sums.c @ shift)

    low, high, length = 0.0, np.inf, 1.0
    at_low, at_high = start, np.nan
    for _ in range(60):
        now = slope(length)
        if abs(now) <= 0.1 * abs(start):
            return length
        if now > 0:
            high, at_high = length, now
        else:
            low, at_low = length, now
        if high == np.inf:
            length *= 2
            continue
        root = low - at_low * (high - low) / (at_high - at_low)
        margin = 0.1 * (high - low)
        length = float(np.clip(root, low + margin, high - margin))
    return low if low > 0 else length
