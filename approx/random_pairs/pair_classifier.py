"""What NSAUC and NSVMSGD2 share: Nyström features, and steps on random pairs."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np

from ...exact.certificate.solution import Callback, Status
from ...exact.classifier.inputs import Matrix, TrainingRows
from ...exact.errors import InputError
from ...exact.losses.registry import HINGE
from ...exact.pairs.all_pairs import AllPairs
from ...exact.problem.problem import Problem, Ridge, pair_problem
from ...exact.spaces.rows import Rows
from ..nystrom.nystrom_classifier import NystromClassifier
from ..online.online_classifier import OnlineClassifier
from .nsauc import PairSGD, mean_square_size, random_pairs, starting_time
from .pair_steps import Walk


@dataclass(eq=False, repr=False)
class PairSGDClassifier(NystromClassifier, OnlineClassifier):
    """Base of the classifiers trained by `PairSGD`.

    `partial_fit` takes one epoch's steps on the pairs of its rows, which must be of both classes.
    The first call chooses the landmarks, and t0, from its rows; later calls keep them.
    """

    lam: float = 1e-3
    _: KW_ONLY
    n_landmarks: int = 100
    landmarks: str = "kmeans"
    max_epochs: int = 100
    t0: str | float = "scaled"
    rskip: int = 16
    tol: float = 1e-3

    _needs_both = True

    def _solver(self) -> PairSGD:
        Ridge(self.lam)
        names = ("max_epochs", "t0", "rskip", "tol", "max_time")
        common = {name: getattr(self, name) for name in names}
        return PairSGD(**common, **self._averaging())

    def _averaging(self) -> dict[str, Any]:
        """Return the solver's parameters that say what is averaged, and when."""
        return {"average": "none"}

    def _check_parameters(self) -> None:
        self._solver()

    def _check_stream(self) -> None:
        if self._solver().average == "half":
            raise InputError('average="half" needs to know the end: take "all", or fit')

    def _train(self, data: TrainingRows, callback: Callback | None) -> None:
        rows, positive, _ = data
        problem = self._problem(self._begin(rows, positive), positive)
        solver = replace(self._solver(), seed=self._run_seed)
        self._keep_solution(solver.solve_walk(problem, self._walk, callback))
        self.n_iter_ = self._walk.t
        self._set_function(self.solution_.w, rows, positive)

    def _learn(self, rows: Matrix, positive: np.ndarray, first: bool) -> None:
        solver, known = self._solver(), not first
        features = self.nystrom_.map_.transform(rows) if known else self._begin(rows, positive)
        pairs = random_pairs(self._problem(features, positive), positive.size, self._batch_rng())
        solver.advance(self._walk, features, pairs, self.lam, self.t0_)
        self.n_iter_ = self._walk.t
        self._set_function(solver.point(self._walk), rows, positive)

    def _begin(self, rows: Matrix, positive: np.ndarray) -> np.ndarray:
        """Choose landmarks and t0, begin a walk at zero, and return the features of the rows."""
        names = ("n_landmarks", "landmarks")
        chosen = {name: getattr(self, name) for name in names}
        features = self._fit_map(rows, positive, **chosen, random_state=self._draw_seed())
        self._walk, self.n_iter_ = Walk.of(np.zeros(features.shape[1])), 0
        self.t0_ = starting_time(self.t0, self.lam, mean_square_size(Rows(features)))
        return features

    def _problem(self, features: np.ndarray, positive: np.ndarray) -> Problem:
        return pair_problem(Rows(features), positive, AllPairs(), HINGE, Ridge(self.lam))

    def _shortfall(self) -> str | None:
        reach = self.lam * self.n_iter_
        if self.status_ in (Status.TIME_LIMIT, Status.INTERRUPTED, Status.STALLED):
            return self.status_.advice
        if reach >= 1 or self.status_ == Status.CERTIFIED:
            return None
        return (
            f"lam times the number of steps is {reach:.1e}, below 1: the objective is far "
            "from its optimum; raise lam or max_epochs"
        )
