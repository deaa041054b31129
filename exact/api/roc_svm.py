"""The ROC-SVM, solved with proof, as a scikit-learn classifier."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np

from ..certificate.solution import Callback
from ..certificate.trivial import warn_if_trivial
from ..classifier.base import REPETITION, WEIGHTS, AUCClassifier, Progress, shortfall_of
from ..classifier.inputs import Matrix, TrainingRows
from ..classifier.queries import QueryClassifier
from ..errors import InputError
from ..formulation.formulation import Formulation
from ..formulation.request import WHOLE_CURVE, Request
from ..losses.loss import Loss
from ..pairs.all_pairs import AllPairs, PairList
from ..pairs.nearest_pairs import FILTERS, nearest_pairs
from ..pairs.ordered.kinds import ordered_pairs_of
from ..spaces.kernel import Kernel
from ..spaces.kernels import PRECOMPUTED, get_kernel
from ..spaces.rows import Rows
from ..tools.checks import check_choice, check_number
from ..tools.threads import check_jobs
from .partitions.fit import fit_in_partitions, in_partitions
from .solve import METHODS, solve_formulated, solve_large


@dataclass(eq=False, repr=False)
class ExactClassifier(AUCClassifier):
    """Base of the classifiers solved with proof: every parameter but lam, and the fitted
    attributes."""

    _: KW_ONLY
    kernel: str | Kernel = "linear"
    gamma: float | None = None
    loss: str | Loss = "hinge"
    pairs: str = "all"
    anchor_filter: str = "none"
    tol: float = 1e-9
    method: str = "auto"
    n_jobs: int | None = None

    @abstractmethod
    def _request(self) -> Request:
        """Return the request that the parameters make, without the pairs."""

    def _solve(self, request: Request, data: TrainingRows, callback: Callback | None) -> None:
        """Solve the request over these rows, and keep the model."""
        request, rows, labels = self._asked(request, data), data.rows, data.positive
        method, tol, limit, task = self.method, self.tol, self.max_time, None
        found = solve_large(rows, labels, request, method, tol, limit, callback)
        if found is None:
            task, found = solve_formulated(rows, labels, request, method, tol, limit, callback)
        self._keep_solution(found)
        self._keep(task, rows)
        self._cut(rows, labels, data.weight, self.threshold)

    def _asked(self, request: Request, data: TrainingRows) -> Request:
        """Return the request over the pairs of these rows."""
        return replace(request, pairs=self._pairs(data.rows, data.positive, data.weight))

    def _pairs(
        self, rows: Matrix, positive: np.ndarray, weight: np.ndarray | None
    ) -> AllPairs | PairList:
        """Return the pairs that the parameter `pairs` asks for."""
        if self.pairs == "all":
            return AllPairs(weight)
        kind, _, number = str(self.pairs).partition(":")
        if kind != "nearest" or not number.isdigit() or int(number) < 1:
            raise InputError(f"pairs must be 'all' or 'nearest:K' with K >= 1, not {self.pairs!r}")
        if weight is not None:
            raise InputError(
                "sample_weight goes with pairs='all': repeated rows have no neighbours"
            )
        if self.kernel == PRECOMPUTED:
            raise InputError("nearest pairs need features, not a precomputed kernel")
        return nearest_pairs(rows, positive, int(number), anchor_filter=self.anchor_filter)

    def _keep(self, task: Formulation | None, rows: Matrix) -> None:
        """Store what is needed to score new rows: weights, or the rows that span the kernel
        machine."""
        for name in ("coef_", "dual_coef_", "support_", "_support_rows"):
            if hasattr(self, name):
                delattr(self, name)
        if task is None or isinstance(task.base, Rows):
            self.coef_ = np.array(self.solution_.w, dtype=float).reshape(1, -1)
            return
        spanning = np.flatnonzero(self.solution_.w) if task.factor is None else task.factor.pivots
        self.support_ = np.sort(spanning)
        self.dual_coef_ = self.solution_.w[self.support_]
        if self.kernel != PRECOMPUTED:
            self._support_rows = rows[self.support_]

    def _scores(self, X: Matrix) -> np.ndarray:
        """Return f at checked rows, without the intercept."""
        if hasattr(self, "coef_"):
            return np.asarray(X @ self.coef_[0])
        if self.kernel == PRECOMPUTED:
            return np.asarray(X[:, self.support_] @ self.dual_coef_)
        kernel = get_kernel(self.kernel, self.gamma, int(X.shape[1]))
        scores = np.empty(X.shape[0])
        step = max(1, 2**22 // self.support_.size)
        for start in range(0, X.shape[0], step):
            block = slice(start, start + step)
            scores[block] = kernel(X[block], self._support_rows) @ self.dual_coef_
        return scores

    def _shortfall(self) -> str | None:
        return shortfall_of(self.solution_, self.tol)

    def _check_parameters(self) -> None:
        check_choice("method", self.method, METHODS)
        check_choice("anchor_filter", self.anchor_filter, FILTERS)
        check_number("tol", self.tol)
        check_jobs(self.n_jobs)
        if self.max_time is not None:
            check_number("max_time", self.max_time)
        self._request()

    @property
    def expected_failed_checks(self) -> dict[str, str]:
        """Which of scikit-learn's checks fail with these parameters, and why."""
        if self.pairs != "all":
            return dict.fromkeys(WEIGHTS, "nearest pairs refuse weights: repeated rows are nearest")
        if self.tol > 1e-7:  # scikit-learn compares two fits to so many digits
            return dict.fromkeys(REPETITION, "two fits are within tol of the optimum, not equal")
        return super().expected_failed_checks

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == PRECOMPUTED
        return tags


@dataclass(eq=False, repr=False)
class QueriedClassifier(QueryClassifier, ExactClassifier):
    """Base of those that `fit(X, y, qid=...)` trains on the pairs within queries."""

    def _asked(self, request: Request, data: TrainingRows) -> Request:
        """Return the request over these rows' pairs, within their queries if they have any."""
        if self._queries is None:
            return super()._asked(request, data)
        self._check_queries()
        grade = data.positive.astype(float)
        pairs = ordered_pairs_of(grade, self._queries, None, None, data.weight)
        return replace(request, pairs=pairs, positive=None)

    def _check_queries(self) -> None:
        if self.pairs != "all":
            raise InputError(f"qid makes the pairs: leave pairs='all', not {self.pairs!r}")


@dataclass(eq=False, repr=False)
class ROCSVM(QueriedClassifier):
    """The ROC-optimizing support vector machine, solved with a proof of optimality.

    [ScalingUp, eq. (3), eq. (10); SAUC, eq. (2); Nonlinear, eq. (4)]: minimise over f

        lam/2 |f|^2 + mean over all positive-negative pairs of loss(f(x_i) - f(x_j)).

    With `fit(X, y, qid=...)` the pairs are those within a query. X and y may be dask collections,
    for linear problems; so may the rows that are scored, and `qid`, a query of which lies whole in
    one partition.

    Standardise the features first, as for any penalised linear model. The larger label is the
    positive class; exchanging the classes only changes the sign of the scores.

    Parameters
    ----------
    lam : float
        > 0, weight of the penalty against the mean loss. A sum over the pairs with a factor C
        means lam = 1 / (C n_pos n_neg).
    kernel : {"linear", "rbf", "laplacian", "precomputed"} or Kernel
        For "precomputed", X is the kernel matrix with the training rows; or one's own, as in
        `solve`.
    gamma : float, optional
        > 0, of exp(-gamma |x - z|^2) or exp(-gamma |x - z|_1); 1 / d by default.
    loss : {"hinge", "squared_hinge", "square", "logistic", "smooth_hinge", "exponential"} or Loss
    pairs : "all", or "nearest:K"
        All pairs, or each positive row with its K nearest negative ones (without row weights).
    anchor_filter : {"none", "E", "A"}
        Which positive rows count as anchors for nearest pairs, see
        `aucert.exact.pairs.nearest_pairs`.
    tol : float
        Relative gap to reach, > 0.
    method : str
        A name that `solve` takes.
    threshold : {"equal-error", "midpoint", "youden", "accuracy"} or callable
        The rule that sets the intercept from the training scores, see
        `aucert.exact.classifier.threshold`; a callable takes (scores, positive, weight), for
        instance
        ``functools.partial(threshold_for_sensitivity, sensitivity=0.95)``.
    max_time : float, optional
        Seconds, as in `solve`; the best point so far is kept, with its gap.
    l1 : float
        >= 0: adds l1 |w|_1, for the linear kernel; `lam` may then be 0, and `certificate_.radius`
        is None.
    fpr_max : float
        In (0, 1]: partial AUC up to this false positive rate, as in `solve`.
    tpr_min : float
        In [0, 1): partial AUC from this true positive rate on.
    groups : array (n_features_in_,), optional
        The group of each feature, with l1 > 0: the group lasso.
    sign : "nonnegative" or int array, optional
        w >= 0 for all features, or for those columns; for the linear kernel.
    n_jobs : int, optional
        Threads for passes over many rows, as in `solve`.

    Attributes
    ----------
    coef_ : array (1, n_features_in_)
        For the linear kernel.
    dual_coef_, support_ : arrays (r,)
        For other kernels: f is the sum of dual_coef_ k(., x_i) over the training rows support_.
    intercept_ : array (1,)
        Minus the threshold.
    classes_ : array (2,)
        The negative and the positive label.
    certificate_ : Certificate
        How far the model is from the optimum, at most; for kernels in the space of the true one.
    solution_ : Solution
        With the dual point that proves it.
    status_ : Status
    n_iter_ : int
    history_ : list of Step
    n_features_in_ : int
    feature_names_in_ : array of str
        Only where X has column names.
    """

    lam: float = 1e-3
    _: KW_ONLY
    l1: float = 0.0
    fpr_max: float = 1.0
    tpr_min: float = 0.0
    groups: object = None
    sign: object = None

    @property
    def expected_failed_checks(self) -> dict[str, str]:
        """Which of scikit-learn's checks fail with these parameters, and why."""
        if (self.fpr_max, self.tpr_min) == WHOLE_CURVE:
            return super().expected_failed_checks
        return dict.fromkeys(WEIGHTS, "partial AUC refuses weights")

    def _fit(self, X: object, y: object, sample_weight: object, callback: Progress | None) -> None:
        if not in_partitions(X):
            super()._fit(X, y, sample_weight, callback)
            return
        self._check_parameters()
        fit_in_partitions(self, X, y, sample_weight, callback, qid=self._queries)

    def _train(self, data: TrainingRows, callback: Callback | None) -> None:
        request = self._request()
        self._solve(request, data, callback)
        if request.is_partial:
            warn_if_trivial(request.loss, self.solution_.certificate, self.tol)

    def _request(self) -> Request:
        return Request.of(
            self.lam,
            self.loss,
            positive=True,
            kernel=self.kernel,
            gamma=self.gamma,
            l1=self.l1,
            fpr_max=self.fpr_max,
            tpr_min=self.tpr_min,
            groups=self.groups,
            sign=self.sign,
        )
