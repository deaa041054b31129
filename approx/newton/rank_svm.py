"""RankSVM and NBAUC: the squared hinge over all pairs by truncated Newton, linear and Nyström."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...exact.certificate.certificate import Certificate, Witness
from ...exact.certificate.solution import Callback, Solution, Status, Step
from ...exact.classifier.base import AUCClassifier, Matrix, check_row_weights, warn_unless_certified
from ...exact.classifier.threshold import Rule
from ...exact.errors import InputError
from ...exact.formulation.formulation import formulate
from ...exact.formulation.request import Request
from ...exact.losses.registry import SQUARED_HINGE
from ...exact.pairs.all_pairs import AllPairs
from ...exact.problem.problem import Ridge, pair_problem
from ...exact.spaces.rows import Rows
from ...exact.tools.interrupts import ends_on_interrupt
from ..nystrom.nystrom import Nystrom, against_true_kernel
from .truncated_newton import TruncatedNewton


class NewtonClassifier(AUCClassifier):
    """What RankSVM and NBAUC share: the solver, and what is kept of its solution."""

    lam: float
    tol: float
    max_iter: int
    max_time: float | None
    solution_: Solution
    certificate_: Certificate
    status_: Status
    history_: list[Step]
    n_iter_: int

    def _solver(self) -> TruncatedNewton:
        Ridge(self.lam)
        return TruncatedNewton(self.tol, self.max_iter, max_time=self.max_time)

    def _solve(
        self,
        features: Matrix,
        positive: np.ndarray,
        weight: np.ndarray | None = None,
        callback: Callback | None = None,
    ) -> np.ndarray:
        """Solve the problem over the rows of features, keep the solution, and return w."""
        request = Request.of(self.lam, SQUARED_HINGE, AllPairs(weight), True)
        task = formulate(features, positive, request)
        self._keep_solution(
            task.judge(self._solver().solve(task.work, callback=callback), self.tol)
        )
        return self.solution_.w


class RankSVM(NewtonClassifier):
    """The linear ranking SVM of two classes, solved in the primal.

    [Nonlinear, eq. (5)] with p = 2 and the rows themselves for features: minimise over w

        lam/2 |w|^2 + mean over all positive-negative pairs of max(0, 1 - w'(x_i - x_j))^2.

    Standardise the features first. The sum over the pairs with a factor C, as printed, means
    lam = 1 / (C n_pos n_neg); see `aucert.exact.problem.scalings`.

    Parameters
    ----------
    lam : float
        > 0, weight of the penalty against the mean loss.
    tol : float
        Relative gap to reach, > 0.
    max_iter : int
        As in `TruncatedNewton`.
    threshold : {"equal-error", "midpoint", "youden", "accuracy"} or callable
        As in `ROCSVM`.
    max_time : float, optional
        Seconds; the best point so far is kept, with its gap.

    Attributes
    ----------
    coef_ : array (1, n_features_in_)
    certificate_ : Certificate
        How far `coef_` is from the optimum, at most.
    intercept_, classes_, solution_, status_, n_iter_, history_, n_features_in_, feature_names_in_
        As in `ROCSVM`.
    """

    def __init__(
        self,
        lam: float = 1e-3,
        *,
        tol: float = 1e-9,
        max_iter: int = 200,
        threshold: str | Rule = "equal-error",
        max_time: float | None = None,
    ):
        self.lam = lam
        self.tol = tol
        self.max_iter = max_iter
        self.threshold = threshold
        self.max_time = max_time

    @ends_on_interrupt
    def fit(
        self,
        X: object,
        y: object,
        sample_weight: object = None,
        callback: Callback | None = None,
    ) -> RankSVM:
        """Solve the problem of these rows.

        Parameters
        ----------
        X : array or sparse matrix (n, d)
            Finite numbers; sparse input is taken as CSR and stays sparse.
        y : array (n,)
            Labels of two kinds.
        sample_weight : array (n,), optional
            >= 0; a weight means repetition.
        callback : function of a `Step`, optional
            Called after each Newton step.

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
            If the gap is not within `tol`; the gap in `certificate_` is valid all the same.
        """
        self._solver()
        rows, positive, weight = self._check_fit(X, y, sample_weight)
        w = self._solve(rows, positive, weight, callback)
        self._set_weights(w, rows, positive, weight)
        warn_unless_certified(self.solution_, self.tol)
        return self


class NBAUC(NewtonClassifier):
    """The batch nonlinear AUC machine: Nyström features, then truncated Newton.

    [Nonlinear, Algorithm 1, Algorithm 2, eq. (5)] with p = 2. The function found is the best in
    the span of the landmarks, up to `certificate_`; `certify_kernel` measures how far it is from
    the best in the whole space of the kernel. Standardise the features first: the kernel sees
    distances.

    Parameters
    ----------
    kernel : {"rbf", "laplacian", "linear"}
    gamma : float, optional
        > 0; 1 / n_features by default, see `Nystrom`.
    n_landmarks : int
        At most this many; all rows where there are no more of them, which is exact.
    landmarks : {"kmeans", "uniform", "stratified", "pivoted", "leverage"}
        How to choose them, see `aucert.approx.nystrom.landmarks`.
    rcond : float
        In (0, 1), the relative cut-off for eigenvalues, see `nystrom_map`.
    lam, tol, max_iter, threshold, max_time
        As in `RankSVM`; gap and seconds are those of the Newton steps, in the span.
    random_state : int, RandomState or None

    Attributes
    ----------
    coef_ : array (1, r)
        Weights of the Nyström features.
    dual_coef_ : array (1, d)
        The same function as a sum of kernel functions of the d landmarks.
    intercept_ : array (1,)
        Minus the threshold.
    classes_ : array (2,)
        The negative and the positive label.
    nystrom_ : Nystrom
        The fitted transformer, with `landmarks_`.
    certificate_ : Certificate
        How far `coef_` is from the optimum in the span, at most.
    kernel_certificate_ : Certificate
        The last answer of `certify_kernel`.
    solution_, status_, n_iter_, history_, n_features_in_, feature_names_in_
        As in `RankSVM`.
    """

    nystrom_: Nystrom
    dual_coef_: np.ndarray
    kernel_certificate_: Certificate

    def __init__(
        self,
        lam: float = 1e-3,
        *,
        kernel: str = "rbf",
        gamma: float | None = None,
        n_landmarks: int = 100,
        landmarks: str = "kmeans",
        rcond: float = 1e-12,
        tol: float = 1e-9,
        max_iter: int = 200,
        threshold: str | Rule = "equal-error",
        max_time: float | None = None,
        random_state: int | np.random.RandomState | None = None,
    ):
        self.lam = lam
        self.kernel = kernel
        self.gamma = gamma
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.rcond = rcond
        self.tol = tol
        self.max_iter = max_iter
        self.threshold = threshold
        self.max_time = max_time
        self.random_state = random_state

    @ends_on_interrupt
    def fit(
        self,
        X: object,
        y: object,
        sample_weight: object = None,
        callback: Callback | None = None,
    ) -> NBAUC:
        """Choose landmarks and solve the problem in their span.

        Parameters
        ----------
        X, y, sample_weight, callback
            As in `RankSVM`; sparse input is taken as CSR. The landmarks are chosen from the rows
            of positive weight, whatever their weights: these count in the objective alone.

        Returns
        -------
        self

        Raises
        ------
        InputError
            As `RankSVM.fit`.

        Warns
        -----
        ConvergenceWarning
            If the gap in the span is not within `tol`; the gap in `certificate_` is valid.
        """
        self._solver()
        rows, positive, weight = self._check_fit(X, y, sample_weight)
        names = ("kernel", "gamma", "n_landmarks", "landmarks", "rcond", "random_state")
        self.nystrom_ = Nystrom(**{name: getattr(self, name) for name in names})
        features = self.nystrom_.fit(rows, positive).map_.transform(rows)
        w = self._solve(features, positive, weight, callback)
        self.dual_coef_ = self.nystrom_.map_.coefficients(w).reshape(1, -1)
        self._set_weights(w, rows, positive, weight)
        warn_unless_certified(self.solution_, self.tol, "the objective in the span")
        return self

    def certify_kernel(self, X: object, y: object, sample_weight: object = None) -> Certificate:
        """Return how far the function is from the optimum over the kernel's whole space.

        The optimum meant is that of these rows and weights, so give those of `fit`; the model
        keeps neither. The function lies in the span of the landmarks, where its norm is the true
        one, so its objective is exact. The lower bound takes the slopes of the loss at its scores
        for a dual point, and c'K c with the true kernel: O(n^2) kernel values. With K~ the kernel
        of the features, the gap is that in the span plus c'(K - K~)c / (2 lam), or a little less;
        the true distance may be smaller, by a factor that grows as lam falls.

        Parameters
        ----------
        X : array or sparse matrix (n, n_features_in_)
        y : array (n,)
            Labels of both classes.
        sample_weight : array (n,), optional
            >= 0.

        Raises
        ------
        InputError
            If y does not have both labels that the model knows, and no other.
        """
        check_is_fitted(self)
        rows, labels = self._check_data(X, y, reset=False)
        if not np.array_equal(np.unique(labels), self.classes_):
            raise InputError(f"y must have the labels {self.classes_.tolist()}, both and no other")
        pairs = AllPairs(check_row_weights(sample_weight, labels.size))
        features = self.nystrom_.map_.transform(rows)
        positive = labels == self.classes_[1]
        problem = pair_problem(Rows(features), positive, pairs, SQUARED_HINGE, Ridge(self.lam))
        truth = against_true_kernel(problem, self.nystrom_.map_.kernel, rows)
        w = self.coef_[0]
        witness = Witness.from_scores(truth, truth.space.scores(w))
        self.kernel_certificate_ = Certificate.of(truth, w, witness)
        return self.kernel_certificate_

    def _scores(self, X: Matrix) -> np.ndarray:
        """Return f at checked rows, without the intercept."""
        return self.nystrom_.map_.transform(X) @ self.coef_[0]
