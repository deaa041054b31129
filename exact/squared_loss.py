"""The square loss over all pairs in closed form: a function of class means and covariances.

    mean_ij (1 - w'(x_i - x_j))^2 = w'M w - 2 w'delta + 1,   M = Sigma + delta delta',

with delta the difference of the class means and Sigma the sum of the two class covariances
(divided by n, never n - 1). [SHT, Prop. 1] `exact/row_average.py` has the same function as a
sum over rows, which needs no d x d matrix, `exact/support_loss.py` its minimum on given features.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse.linalg

from .errors import InputError
from .pairs import AllPairs
from .problem import Problem
from .solution import Callback, Recorder, Solution, Status
from .spaces import Rows


@dataclass(frozen=True, eq=False)
class Moments:
    """delta (d,) and Sigma (d, d) of the two classes.

    size (d,), where known, is the largest absolute value of each feature before centring: what
    is smaller than its rounding is no information.
    """

    delta: np.ndarray
    sigma: np.ndarray
    size: np.ndarray | None = None

    @property
    def M(self) -> np.ndarray:
        """Sigma + delta delta'; the Hessian of the mean square loss is twice this."""
        return self.sigma + np.outer(self.delta, self.delta)


def moments(
    space: Rows, positive: np.ndarray, pairs: AllPairs, columns: np.ndarray | None = None
) -> Moments:
    """Return delta and Sigma of all pairs, with row weights. [SHT, eq. (4)]

    Parameters
    ----------
    space : Rows
    positive : bool array (n,)
    pairs : AllPairs
    columns : int array (s,), optional
        Only these features, in this order; sparse rows are made dense in them alone.
    """
    a, b = pairs.normalised(positive)
    chosen = space.dense() if columns is None else space.X[:, columns]
    X = chosen if isinstance(chosen, np.ndarray) else chosen.toarray()
    offset = space.offset if columns is None else space.offset[columns]
    size = np.abs(offset) + np.abs(X).max(axis=0, initial=0.0)
    plus, minus = X[positive], X[~positive]
    mean_plus, mean_minus = a @ plus, b @ minus
    plus, minus = plus - mean_plus, minus - mean_minus
    sigma = (plus.T * a) @ plus + (minus.T * b) @ minus
    return Moments(mean_plus - mean_minus, sigma, size)


@dataclass(frozen=True)
class SquaredLossSolver:
    """Solve the ridge problem with the square loss by one linear system.

    (2 M + lam I) w = 2 delta; conjugate gradients where the matrix would be large.

    Parameters
    ----------
    tol : float
        Relative gap to reach.
    dense_limit : int
        Coordinates up to which the matrix is formed.
    max_iter : int
    """

    tol: float = 1e-9
    dense_limit: int = 2000
    max_iter: int = 10_000

    def solve(
        self, problem: Problem, w0: np.ndarray | None = None, callback: Callback | None = None
    ) -> Solution:
        """Return the solution.

        Raises
        ------
        InputError
            If the loss is not the square or the space has no rows.
        """
        if problem.loss.name != "square" or not isinstance(problem.space, Rows):
            raise InputError("the closed form is for the square loss on rows")
        recorder = Recorder(None, callback, "closed-form")
        small = problem.space.dim <= self.dense_limit
        if small and isinstance(problem.pairs, AllPairs):
            found = moments(problem.space, problem.positive, problem.pairs)
            matrix = 2 * found.M + problem.lam * np.eye(problem.space.dim)
            w = _solve_positive(matrix, 2 * found.delta)
        else:
            w = self._iterate(problem)
        recorder.offer(w, problem.objective(w))
        reason = Status.STALLED
        try:
            recorder.step()
        except KeyboardInterrupt:
            reason = Status.INTERRUPTED
        return recorder.finish(problem, self.tol, reason)

    def _iterate(self, problem: Problem) -> np.ndarray:
        """Solve by conjugate gradients: the gradient is affine in w.

        Rows and gradients are taken in a power of two as their unit, which loses nothing; squares
        of tiny gradients would underflow.
        """
        space = problem.space
        unit = 2.0 ** int(np.frexp(space.reach)[1])
        lam = problem.lam / unit**2

        def pulled(w: np.ndarray) -> np.ndarray:
            return space.pull(problem.sums(space.scores(w / unit)).c) / unit

        at_zero = pulled(np.zeros(space.dim))
        operator = scipy.sparse.linalg.LinearOperator(
            (space.dim, space.dim), matvec=lambda w: lam * w + at_zero - pulled(np.ravel(w))
        )
        w, _ = scipy.sparse.linalg.cg(operator, at_zero, rtol=1e-12, maxiter=self.max_iter)
        return w / unit


def _solve_positive(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the solution by Cholesky, or the least-norm one where rounding has made it fail."""
    try:
        return scipy.linalg.cho_solve(scipy.linalg.cho_factor(matrix), right)
    except np.linalg.LinAlgError:
        return np.linalg.lstsq(matrix, right, rcond=None)[0]
