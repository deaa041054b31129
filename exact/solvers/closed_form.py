"""The ridge problem with the square loss by one linear system, (2 M + lam I) w = 2 delta; by least
squares for few listed pairs, and by the descent where the matrix would be large."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from ..certificate.solution import Recorder, Solver, Status
from ..errors import InputError
from ..losses.registry import SQUARE
from ..pairs.all_pairs import AllPairs, PairList
from ..problem.problem import Problem
from ..square_loss.row_average import moments
from .descent import Descent

LISTED_NUMBERS = 2_000_000  # pairs times features up to which lists are one least-squares problem


@dataclass(frozen=True)
class SquaredLossSolver(Solver):
    tol: float = 1e-9
    name = "closed-form"

    def check(self, problem: Problem) -> None:
        if problem.loss != SQUARE or problem.space.held is None:
            raise InputError("the closed form is for the square loss on rows")

    def run(self, problem: Problem, recorder: Recorder) -> Status | None:
        space: Any = problem.space.held
        dim, pairs = space.dim, problem.pairs
        if dim <= 2000 and isinstance(pairs, AllPairs):  # the matrix is formed
            found = moments(space, pairs.positive, pairs)
            matrix, right = 2 * found.M + problem.lam * np.eye(dim), 2 * found.delta
            try:
                w = scipy.linalg.cho_solve(scipy.linalg.cho_factor(matrix), right)
            except np.linalg.LinAlgError:  # lost to rounding: the least-norm solution
                w = np.linalg.lstsq(matrix, right, rcond=None)[0]
        elif isinstance(pairs, PairList) and (pairs.i.size + dim) * dim <= LISTED_NUMBERS:
            # One least-squares problem, which squares no condition number.
            unit = 2.0 ** int(np.frexp(space.reach)[1])
            apart = space.rows(pairs.i) - space.rows(pairs.j)
            apart = apart if isinstance(apart, np.ndarray) else apart.toarray()
            root, ridge = np.sqrt(2 * pairs.c), np.sqrt(problem.lam) / unit * np.eye(dim)
            stacked = np.vstack([root[:, None] * (apart / unit), ridge])
            right = np.concatenate([root, np.zeros(dim)])
            w = np.linalg.lstsq(stacked, right, rcond=None)[0] / unit
        else:
            return Descent(self.tol, max_time=recorder.time_left).run(problem, recorder)
        recorder.offer(w, problem.objective(w))  # zero stays the best where rounding has spoilt it
        recorder.step()
        return None
