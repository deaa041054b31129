"""The ridge problem with the square loss, solved by one linear system."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from ..certificate.solution import Recorder, Solver, Status
from ..errors import InputError
from ..losses.registry import SQUARE
from ..pairs.all_pairs import AllPairs, PairList
from ..problem.problem import Problem
from ..spaces.rows import Rows
from ..square_loss.row_average import moments

LISTED_NUMBERS = 2_000_000  # pairs times features up to which lists are one least-squares problem


@dataclass(frozen=True)
class SquaredLossSolver(Solver):
    """Solve the ridge problem with the square loss by one linear system. (2 M + lam I) w = 2 delta;
    least squares for few listed pairs, conjugate gradients where the matrix would be large."""

    tol: float = 1e-9
    dense_limit: int = 2000
    max_iter: int = 10_000

    name: ClassVar[str] = "closed-form"

    def check(self, problem: Problem) -> None:
        """Raise `InputError` if the loss is not the square or the space has no rows."""
        if problem.loss != SQUARE or problem.space.held is None:
            raise InputError("the closed form is for the square loss on rows")

    def start(self, problem: Problem, recorder: Recorder) -> None:
        """Begin with nothing: a linear system needs no start."""

    def run(self, problem: Problem, recorder: Recorder) -> Status | None:
        """Solve the system in the form that suits the pairs and the coordinates."""
        space = problem.space.held
        assert space is not None
        # Rows that are an operator have no entries to take moments of.
        entries = not isinstance(space.X, sp.linalg.LinearOperator)
        dim, pairs = space.dim, problem.pairs
        small = entries and dim <= self.dense_limit
        if small and isinstance(pairs, AllPairs):
            found = moments(space, problem.pairs.positive, pairs)
            matrix = 2 * found.M + problem.lam * np.eye(dim)
            w = _solve_positive(matrix, 2 * found.delta)
        elif isinstance(pairs, PairList) and (pairs.i.size + dim) * dim <= LISTED_NUMBERS:
            w = _least_squares(space, pairs, problem.lam)
        else:
            w = self._iterate(problem)
        recorder.offer(w, problem.objective(w))
        recorder.offer(np.zeros_like(w), 1.0)  # where rounding has spoilt w
        recorder.step()
        return None

    def _iterate(self, problem: Problem) -> np.ndarray:
        """Solve by conjugate gradients: the gradient is affine in w. Rows and gradients are taken
        in a power of two as their unit, which loses nothing; squares of tiny gradients would
        underflow."""
        space = problem.space
        unit = 2.0 ** int(np.frexp(space.reach)[1])
        lam = problem.lam / unit**2

        def pulled(w: np.ndarray) -> np.ndarray:
            return space.pull(problem.sums(space.scores(w / unit)).c) / unit

        at_zero, best = pulled(np.zeros(space.dim)), np.zeros(space.dim)

        def times(w: np.ndarray) -> np.ndarray:
            # Linear in w, but made as a difference that loses a small w: take it at size one.
            size = float(np.abs(w).max(initial=0.0))
            v = np.ravel(w) / size if size > 0 else np.ravel(w)
            return size * (lam * v + at_zero - pulled(v))

        def keep(w: np.ndarray) -> None:
            best[:] = w

        operator = sp.linalg.LinearOperator((space.dim, space.dim), matvec=times)
        # 1e-12: of conjugate gradients: the gap falls with its square
        limits = {"rtol": 1e-12, "maxiter": self.max_iter, "callback": keep}
        try:
            # Where lam is rounding next to the rows, a direction may seem to have no curvature.
            with np.errstate(divide="raise", invalid="raise", over="raise"):
                sp.linalg.cg(operator, at_zero, **limits)
        except FloatingPointError:
            pass
        return best / unit


def _least_squares(space: Rows, pairs: PairList, lam: float) -> np.ndarray:
    """Return the minimiser as one least-squares problem, which squares no condition number."""
    unit = 2.0 ** int(np.frexp(space.reach)[1])
    apart = space.rows(pairs.i) - space.rows(pairs.j)
    apart = apart if isinstance(apart, np.ndarray) else apart.toarray()
    root = np.sqrt(2 * pairs.c)
    ridge = np.sqrt(lam) / unit * np.eye(space.dim)
    right = np.concatenate([root, np.zeros(space.dim)])
    stacked = np.vstack([root[:, None] * (apart / unit), ridge])
    return np.linalg.lstsq(stacked, right, rcond=None)[0] / unit


def _solve_positive(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the solution by Cholesky, or the least-norm one where rounding has made it fail."""
    try:
        return scipy.linalg.cho_solve(scipy.linalg.cho_factor(matrix), right)
    except np.linalg.LinAlgError:
        return np.linalg.lstsq(matrix, right, rcond=None)[0]
