"""What NSAUC and NSVMSGD2 share: Nyström features, steps on random pairs, what is kept of them."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...exact.certificate.certificate import Certificate
from ...exact.certificate.solution import Callback, Solution, Status, Step
from ...exact.classifier.base import Matrix
from ...exact.errors import InputError
from ...exact.losses.registry import HINGE
from ...exact.pairs.all_pairs import AllPairs
from ...exact.problem.problem import Ridge, pair_problem
from ...exact.spaces.rows import Rows
from ...exact.tools.interrupts import ends_on_interrupt
from ..nystrom.nystrom import Nystrom
from ..online.online_classifier import OnlineClassifier
from .nsauc import PairSGD, mean_square_size, random_pairs, starting_time
from .pair_steps import Walk


class PairSGDClassifier(OnlineClassifier):
    """What NSAUC and NSVMSGD2 share: the features, the walk, and what is kept of it."""

    lam: float
    max_epochs: int
    t0: str | float
    rskip: int
    askip: int
    tol: float
    max_time: float | None
    nystrom_: Nystrom
    dual_coef_: np.ndarray
    solution_: Solution
    certificate_: Certificate
    status_: Status
    history_: list[Step]
    t0_: float
    _walk: Walk

    def _average(self) -> str:
        """Return the parameter `average`."""
        return "none"

    @ends_on_interrupt
    def fit(self, X: object, y: object, callback: Callback | None = None) -> PairSGDClassifier:
        """Choose landmarks and walk.

        Parameters
        ----------
        X : array or sparse matrix (n, d)
            Finite numbers; sparse input is taken as CSR.
        y : array (n,)
            Labels of two kinds.
        callback : function of a `Step`, optional
            Called at most fifty times, whenever the objective over all pairs is evaluated.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If a parameter or the input cannot be used; scikit-learn's own checks of X and y
            raise plain `ValueError`.

        Warns
        -----
        ConvergenceWarning
            If the time ran out, or lam times the steps is below one: then the objective is far
            from its optimum, though the ranking may be good.
        """
        solver = self._solver()
        rows, positive, _ = self._check_fit(X, y)
        features = self._new_features(rows, positive)
        problem = pair_problem(Rows(features), positive, AllPairs(), HINGE, Ridge(self.lam))
        self._walk = Walk.of(np.zeros(features.shape[1]))
        solver = replace(solver, seed=self._run_seed)
        self._keep_solution(solver.run(problem, self._walk, callback))
        self.n_iter_ = self._walk.t
        self.t0_ = starting_time(self.t0, self.lam, mean_square_size(Rows(features)))
        self._keep(self.solution_.w, rows, positive)
        self._warn()
        return self

    def partial_fit(self, X: object, y: object, classes: object = None) -> PairSGDClassifier:
        """Take one epoch's steps on the pairs of these rows.

        The first call chooses the landmarks, and t0, from its rows; later calls keep them. No
        certificate belongs to what comes out: no single problem has been stated.

        Parameters
        ----------
        X : array or sparse matrix (m, d)
            Rows of both classes.
        y : array (m,)
        classes : array (2,), optional
            Both labels; needed in the first call, unless `fit` came before.

        Returns
        -------
        self

        Raises
        ------
        InputError
            As `fit`; if the rows are of one class, and with ``average="half"``, whose half is
            not known.
        """
        solver = self._solver()
        if solver.average == "half":
            raise InputError('average="half" needs to know the end: take "all", or fit')
        first = not self._begun()
        rows, positive = self._check_batch(X, y, classes, both=True)
        if first:
            features = self._new_features(rows, positive)
            self._walk, self.n_iter_ = Walk.of(np.zeros(features.shape[1])), 0
            self.t0_ = starting_time(self.t0, self.lam, mean_square_size(Rows(features)))
        else:
            features = self.nystrom_.map_.transform(rows)
        problem = pair_problem(Rows(features), positive, AllPairs(), HINGE, Ridge(self.lam))
        pairs = random_pairs(problem, positive.size, self._batch_rng())
        solver.advance(self._walk, features, pairs, self.lam, self.t0_)
        self.n_iter_ = self._walk.t
        for name in ("solution_", "certificate_", "status_", "history_"):
            self.__dict__.pop(name, None)
        self._keep(solver.point(self._walk), rows, positive)
        return self

    def _solver(self) -> PairSGD:
        Ridge(self.lam)
        names = ("max_epochs", "t0", "rskip", "askip", "tol", "max_time")
        common = {name: getattr(self, name) for name in names}
        return PairSGD(**common, average=self._average())

    def _new_features(self, rows: Matrix, positive: np.ndarray) -> np.ndarray:
        names = ("kernel", "gamma", "n_landmarks", "landmarks", "rcond")
        chosen = {name: getattr(self, name) for name in names}
        self.nystrom_ = Nystrom(**chosen, random_state=self._draw_seed())
        return self.nystrom_.fit(rows, positive).map_.transform(rows)

    def _keep(self, w: np.ndarray, rows: Matrix, positive: np.ndarray) -> None:
        self.dual_coef_ = self.nystrom_.map_.coefficients(w).reshape(1, -1)
        self._set_weights(w, rows, positive)

    def _warn(self) -> None:
        reach = self.lam * self.n_iter_
        if self.status_ in (Status.TIME_LIMIT, Status.INTERRUPTED, Status.STALLED):
            warnings.warn(self.status_.advice, ConvergenceWarning, stacklevel=3)
        elif reach < 1 and self.status_ != Status.CERTIFIED:
            warnings.warn(
                f"lam times the number of steps is {reach:.1e}, below 1: the objective is far "
                "from its optimum; raise lam or max_epochs",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _scores(self, X: Matrix) -> np.ndarray:
        """Return f at checked rows, without the intercept."""
        return self.nystrom_.map_.transform(X) @ self.coef_[0]
