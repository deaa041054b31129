"""The ROC-SVM and SAUC-SVM as classifiers of scikit-learn, solved with a proof of optimality."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np

from ..api.cross_validation import CHOICES, FoldedData, cross_validate
from ..api.path import strengthened, unit_penalty
from ..api.solve import formulate_and_solve, solve_request
from ..certificate.certificate import warn_if_trivial
from ..certificate.solution import Callback
from ..errors import InputError, brief
from ..formulation.formulation import kernel_scores
from ..formulation.request import WHOLE_CURVE, Options, Request
from ..losses.registry import Loss
from ..pairs.all_pairs import AllPairs, PairList
from ..pairs.kinds import ordered_pairs_of
from ..pairs.nearest_pairs import FILTERS, nearest_pairs
from ..pairs.ordered_pairs import OrderedPairs
from ..solvers.choose import check_method
from ..spaces.kernels import LINEAR, PRECOMPUTED, Kernel, get_kernel
from ..spaces.partitions import PartitionedRows
from ..tools.arrays import check_choice, check_number
from ..tools.threads import small_in_one_thread
from . import base
from .base import REPETITION, WEIGHTS, Matrix, QueryClassifier, TrainingRows
from .thresholds import Weight


@dataclass(eq=False, repr=False)
class ExactClassifier(QueryClassifier):
    _: KW_ONLY
    kernel: str | Kernel = "linear"
    gamma: float | None = None
    loss: str | Loss = "hinge"
    pairs: str = "all"
    anchor_filter: str = "none"
    tol: float = 1e-9
    method: str = "auto"
    groups: object = None
    sign: object = None
    n_jobs: int | None = None

    @abstractmethod
    def _request(self) -> Request:
        """Return the request that the parameters make, without the pairs; at lam = 1 for a path."""

    def _train(self, data: TrainingRows, callback: Callback | None) -> None:
        rows, labels, weight, queries = data
        request = self._final()
        if queries is None:
            request = replace(request, pairs=self._pairs(rows, labels, weight))
        else:
            pairs = self._ordered(labels, queries, weight)
            request = replace(request, pairs=pairs, positive=None)
        task, found = formulate_and_solve(rows, labels, request, self._options(callback))
        base.keep_solution(self, found)
        factor = None if task is None else task.factor
        self._keep(rows, None if factor is None else factor.pivots)
        self._cut(self._scores(rows), labels, weight, self.threshold)
        if request.is_partial:
            warn_if_trivial(request.loss, found.certificate, self.tol)

    def _final(self, rows: PartitionedRows | None = None) -> Request:
        """Return what is solved in the end, of rows in partitions if these are given."""
        return self._request()

    def _options(self, callback: Callback | None = None) -> Options:
        asked = {name: getattr(self, name) for name in ("method", "tol", "max_time", "n_jobs")}
        return Options(callback=callback, **asked)

    def _train_apart(self, rows: PartitionedRows, callback: Callback | None) -> np.ndarray:
        if self.pairs != "all":
            raise InputError(f"rows in partitions go with pairs='all', not {brief(self.pairs)}")
        request = replace(self._final(rows), positive=None)
        options = self._options(rows.engine.telling(callback))
        base.keep_solution(self, solve_request(rows, None, request, options))
        return self.solution_.w

    def _ordered(self, positive: np.ndarray, queries: np.ndarray, weight: object) -> OrderedPairs:
        if self.pairs != "all":
            raise InputError(f"qid makes the pairs: leave pairs='all', not {brief(self.pairs)}")
        return ordered_pairs_of(positive.astype(float), queries, None, None, weight)

    def _pairs(self, rows: Matrix, positive: np.ndarray, weight: Weight) -> AllPairs | PairList:
        if self.pairs == "all":
            return AllPairs(weight)
        kind, _, number = str(self.pairs).partition(":")
        if kind != "nearest" or not number.isdigit() or int(number) < 1:
            raise InputError(
                f"pairs must be 'all' or 'nearest:K' with K >= 1, not {brief(self.pairs)}"
            )
        if weight is not None:
            raise InputError("sample_weight needs pairs='all': repeated rows have no neighbours")
        if self.kernel == PRECOMPUTED:
            raise InputError("nearest pairs need features, not a precomputed kernel")
        return nearest_pairs(rows, positive, int(number), anchor_filter=self.anchor_filter)

    def _keep(self, rows: Matrix, spanning: np.ndarray | None = None) -> None:
        """Store what scores new rows: weights, or the rows that span the kernel machine."""
        for name in ("coef_", "dual_coef_", "support_", "_support_rows"):
            self.__dict__.pop(name, None)
        if self.kernel == LINEAR:
            self.coef_ = np.array(self.solution_.w, dtype=float).reshape(1, -1)
            return
        self.support_ = np.flatnonzero(self.solution_.w) if spanning is None else np.sort(spanning)
        self.dual_coef_ = self.solution_.w[self.support_]
        if self.kernel != PRECOMPUTED:
            self._support_rows = rows[self.support_]

    def _scores(self, X: Matrix) -> np.ndarray:
        if hasattr(self, "coef_"):
            return np.asarray(X @ self.coef_[0])
        if self.kernel == PRECOMPUTED:
            return np.asarray(X[:, self.support_] @ self.dual_coef_)
        kernel = get_kernel(self.kernel, self.gamma, int(X.shape[1]))
        return kernel_scores(kernel, X, self._support_rows, self.dual_coef_)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        shapes = super()._shapes()
        if self.kernel == LINEAR or hasattr(self, "coef_"):
            return shapes
        del shapes["coef_"]
        size = np.size(self.support_)
        if self.kernel != PRECOMPUTED:
            shapes["_support_rows"] = (size, self.n_features_in_)
        return {**shapes, "support_": (size,), "dual_coef_": (size,)}

    def _shortfall(self) -> str | None:
        return base.shortfall_of(self.solution_, self.tol)

    def _check_parameters(self) -> None:
        check_method(self.method)
        check_choice("anchor_filter", self.anchor_filter, FILTERS)
        self._options()
        self._request()

    @property
    def expected_failed_checks(self) -> dict[str, str]:
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
class ROCSVM(ExactClassifier):
    """The ROC-optimizing support vector machine, solved with a proof of optimality.

    [ScalingUp, eq. (3), eq. (10); SAUC, eq. (2); Nonlinear, eq. (4)]: minimise over f

        lam/2 |f|^2 + mean over all positive-negative pairs of loss(f(x_i) - f(x_j)).

    With `fit(X, y, qid=...)` the pairs are those within a query. For linear problems X, y, `qid`
    and the rows that are scored may be dask collections, each query in one partition.

    Standardise the features first, as for any penalised linear model. The larger label is the
    positive class; exchanging the classes only changes the sign of the scores.

    Parameters
    ----------
    lam : float
        > 0, weight of the penalty against the mean loss. A sum over the pairs with a factor C
        means lam = 1 / (C n_pos n_neg).
    kernel, gamma, loss, method, tol, max_time, l1, fpr_max, tpr_min, groups, sign, n_jobs
        As in `solve`; for "precomputed", rows to score hold their kernel values with the training
        rows. With lam = 0 `certificate_.radius` is None.
    pairs : "all", or "nearest:K"
        All pairs, or each positive row with its K nearest negative ones (without row weights).
    anchor_filter : {"none", "E", "A"}
        Which positive rows are anchors of nearest pairs, see `aucert.exact.pairs.nearest_pairs`.
    threshold : {"equal-error", "midpoint", "youden", "accuracy"} or callable
        The rule of `aucert.exact.estimators.thresholds` that makes the intercept of the training
        scores, or a function of (scores, positive, weight), say
        ``functools.partial(threshold_for_sensitivity, sensitivity=0.95)``.

    Attributes
    ----------
    coef_ : array (1, n_features_in_), for the linear kernel
    dual_coef_, support_ : arrays (r,)
        For other kernels: f is the sum of dual_coef_ k(., x_i) over the training rows support_.
    intercept_, classes_ : arrays (1,), (2,)
        Minus the threshold; the negative and the positive label.
    certificate_ : Certificate
        How far the model is from the optimum, at most; for kernels in the space of the true one.
    solution_, status_, n_iter_, history_
        The `Solution`, with the dual point that proves it, and its parts.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.
    """

    lam: float = 1e-3
    _: KW_ONLY
    l1: float = 0.0
    fpr_max: float = 1.0
    tpr_min: float = 0.0

    @property
    def expected_failed_checks(self) -> dict[str, str]:
        if (self.fpr_max, self.tpr_min) == WHOLE_CURVE:
            return super().expected_failed_checks
        return dict.fromkeys(WEIGHTS, "partial AUC refuses weights")

    def _request(self) -> Request:
        names = ("kernel", "gamma", "l1", "fpr_max", "tpr_min", "groups", "sign")
        asked: dict[str, Any] = {name: getattr(self, name) for name in names}
        return Request.of(self.lam, self.loss, positive=True, **asked)


@dataclass(eq=False, repr=False)
class SAUCSVM(ROCSVM):
    """SAUC-SVM: the ROC-SVM that also keeps the scores of each class close together.

    [SAUC, eq. (8), eq. (12)]: minimise over f

        lam/2 (|f|^2 + structure f'Sigma f) + mean over the pairs of loss(f(x_i) - f(x_j)),

    Sigma = Sigma_+ + Sigma_-, the covariances of the two classes (divided by n). The scores of
    new rows are [SAUC, eq. (11)], and (20) made right for a kernel. The certificate is in the
    structured norm, of the true kernel.

    Differs from the paper: 1. lam = 1 / (C N), N the number of pairs; the paper's lambda is
    `structure`. 2. The printed inverse (17) does not exist and (20) lacks a factor; neither is
    used. 3. The pairs are all pairs by default.

    Parameters
    ----------
    structure : float
        >= 0, weight of the structure relative to |f|^2; 0 gives `ROCSVM`.

    All others, and the attributes, are those of `ROCSVM`; fpr_max, tpr_min, l1, groups and sign go
    with structure = 0 only: the structured norm turns the features, and what acts on single weights
    has no bound there.
    """

    structure: float = 1.0

    def _request(self) -> Request:
        return replace(super()._request(), structure=self.structure)


@dataclass(eq=False, repr=False)
class Searched:
    """The parameters by which cross-validation chooses lam, for any model."""

    lams: object = None
    _: KW_ONLY
    n_lams: int = 20
    cv: object = 5
    choice: str = "best"
    l1_ratio: float = 0.0
    cv_tol: float = 1e-6
    random_state: object = None

    def _chosen(
        self, data: FoldedData | PartitionedRows, request: Request, options: Options
    ) -> Request:
        check_choice("choice", self.choice, CHOICES)
        options = replace(options, tol=check_number("cv_tol", self.cv_tol), callback=None)
        given = self.lams, self.n_lams, self.cv, base.draw_seed(self.random_state)
        self.cv_path_ = cross_validate(data, request, options, *given)
        self.lam_ = self.cv_path_.lam_of(self.choice)
        return self._at_lam(request)

    def _at_lam(self, request: Request) -> Request:
        return replace(request, penalty=strengthened(request.penalty, self.lam_))


@dataclass(eq=False, repr=False)
class ROCSVMCV(Searched, ExactClassifier):
    """A ROC-SVM with the lam of the highest cross-validated AUC, solved with proof.

    [ScalingUp, eq. (3), eq. (10); SAUC, eq. (12)]: along a path of falling lam each fold is solved
    with certificates, the AUC of its held-out rows averaged, and the whole problem solved at the
    chosen lam. With `fit(X, y, qid=...)` pairs are those within a query, in training and held out.

    Parameters
    ----------
    lams, n_lams, l1_ratio
        The candidates and the penalty, as in `regularization_path`; l1_ratio > 0 with the linear
        kernel only.
    cv : int, splitter or iterable
        As in `cross_validated_path`.
    choice : {"best", "one-se"}
        The lam of the highest mean, or the largest one within one standard error of it.
    kernel, gamma, loss, pairs, anchor_filter, method, threshold, groups, sign, structure
        As in `SAUCSVM`, with structure = 0 by default; groups go with l1_ratio > 0.
    tol, cv_tol : float
        Relative gap to reach, of the model and of those in the folds.
    max_time : float, optional
        Seconds for the folds, and again for the model.
    random_state : int, RandomState or None
        Shuffles the folds.
    n_jobs : int, optional
        Folds solved at once, in processes of their own, and threads for the model; -1 for one per
        core, 1 by default.

    Attributes
    ----------
    lam_, cv_path_ : float, CVPath
        The lam chosen, and the held-out AUC of each fold and lam, with proved ranges; all others as
        in `ROCSVM`.
    """

    _: KW_ONLY
    structure: float = 0.0

    @small_in_one_thread
    def _fit(self, X: Any, y: Any, sample_weight: Any, callback: Any, qid: Any = None) -> None:
        """Choose lam, with the weights as they are given, then do what `fit` promises."""
        if not base.in_partitions(X):
            self._check_parameters()
            rows, positive, _, queries = self._check_fit(X, y, None, qid)
            request, pairs, order = self._request(), self._pairs, None
            if queries is not None:
                pairs, order = None, self._ordered(positive, queries, sample_weight)
            data = FoldedData(rows, positive, request, sample_weight, pairs, order)
            self._chosen(data, request, self._options())
        super()._fit(X, y, sample_weight, callback, qid)

    def _final(self, rows: PartitionedRows | None = None) -> Request:
        if rows is None:
            return self._at_lam(self._request())
        return self._chosen(rows, replace(self._request(), positive=None), self._options())

    def _request(self) -> Request:
        asked = {"kernel": self.kernel, "gamma": self.gamma, "structure": self.structure}
        unit = unit_penalty(self.l1_ratio, self.groups, self.sign)
        return Request.of(None, self.loss, positive=True, penalty=unit, **asked)
