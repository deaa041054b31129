"""The ROC-SVM that chooses its own lam, as a scikit-learn classifier."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace

from ..certificate.solution import Callback
from ..classifier.base import Progress
from ..classifier.inputs import TrainingRows, draw_seed
from ..formulation.penalty_grid import strengthened, unit_penalty
from ..formulation.request import Request
from ..spaces.partitions.partitioned_rows import PartitionedRows
from ..tools.checks import check_choice, check_number
from ..tools.threads import small_in_one_thread
from .folds import RowOrder
from .partitions.fit import fit_in_partitions, in_partitions
from .path_selection import CHOICES, cross_validate, cross_validate_partitions
from .roc_svm import QueriedClassifier


@dataclass(eq=False, repr=False)
class ROCSVMCV(QueriedClassifier):
    """A ROC-SVM with the lam of the highest cross-validated AUC, solved with proof.

    [ScalingUp, eq. (3), eq. (10); SAUC, eq. (12)], the penalty's weight chosen: along a path of
    falling lam each fold is solved with warm starts and certificates, the AUC of its held-out rows
    averaged, and the whole problem solved at the chosen lam. With `fit(X, y, qid=...)` pairs are
    those within a query, in training and held out, and folds keep queries whole.

    Parameters
    ----------
    lams : array (k,), optional
        > 0, the candidates; by default `n_lams` of them, evenly spaced in their logarithm down
        from the lam above which the order of the rows no longer changes.
    n_lams : int
    cv : int, splitter or iterable
        As in `cross_validated_path`.
    choice : {"best", "one-se"}
        The lam of the highest mean, or the largest one within one standard error of it.
    structure : float
        >= 0, as in `SAUCSVM`; 0 for none.
    l1_ratio : float
        In [0, 1]: the penalty is lam ((1 - l1_ratio)/2 |w|^2 + l1_ratio |w|_1), as in
        `regularization_path`; for the linear kernel.
    groups, sign
        As in `ROCSVM`; groups go with l1_ratio > 0.
    kernel, gamma, loss, pairs, anchor_filter, method, threshold
        As in `ROCSVM`.
    tol, cv_tol : float
        Relative gap to reach, of the model and of those in the folds.
    max_time : float, optional
        Seconds for the folds, and again for the model.
    random_state : int, RandomState or None
        Shuffles the folds.
    n_jobs : int, optional
        Folds solved at once, in processes of their own; -1 for one a core. 1 by default. The model
        is then solved with so many threads.

    Attributes
    ----------
    lam_ : float
        The lam chosen.
    cv_path_ : CVPath
        Held-out AUC of each fold and lam, with proved ranges.
    All others as in `ROCSVM`.
    """

    lams: object = None
    _: KW_ONLY
    n_lams: int = 20
    cv: object = 5
    choice: str = "best"
    structure: float = 0.0
    l1_ratio: float = 0.0
    groups: object = None
    sign: object = None
    cv_tol: float = 1e-6
    random_state: object = None

    @small_in_one_thread
    def _fit(self, X: object, y: object, sample_weight: object, callback: Progress | None) -> None:
        """Choose lam, with the weights as they are given, then do what `fit` promises."""
        self._check_parameters()
        if in_partitions(X):
            queries = self._queries
            fit_in_partitions(self, X, y, sample_weight, callback, self._choose, queries)
            return
        rows, positive, _ = self._check_fit(X, y)
        order = None
        if self._queries is not None:
            self._check_queries()
            order = RowOrder.of_classes(positive, self._queries)
        self.cv_path_ = cross_validate(
            rows,
            positive,
            self._request(),
            self.lams,
            sample_weight,
            self.cv,
            draw_seed(self.random_state),
            self._pairs if self._queries is None else None,
            self.n_lams,
            self.method,
            self.cv_tol,
            self.max_time,
            self.n_jobs,
            order,
        )
        self.lam_ = self.cv_path_.lam_of(self.choice)
        super()._fit(X, y, sample_weight, callback)

    def _choose(self, rows: PartitionedRows) -> Request:
        """Choose lam over rows in partitions, and return the request at it."""
        self.cv_path_ = cross_validate_partitions(
            rows,
            self._request().unlabelled(),
            self.lams,
            self.cv,
            draw_seed(self.random_state),
            self.n_lams,
            self.method,
            self.cv_tol,
            self.max_time,
        )
        self.lam_ = self.cv_path_.lam_of(self.choice)
        return self._chosen()

    def _train(self, data: TrainingRows, callback: Callback | None) -> None:
        self._solve(self._chosen(), data, callback)

    def _chosen(self) -> Request:
        """Return what the parameters ask for at the lam chosen."""
        request = self._request()
        return replace(request, penalty=strengthened(request.penalty, self.lam_))

    def _request(self) -> Request:
        """Return what the parameters ask for, at lam = 1."""
        return Request.of(
            None,
            self.loss,
            positive=True,
            kernel=self.kernel,
            gamma=self.gamma,
            structure=self.structure,
            penalty=unit_penalty(self.l1_ratio, self.groups, self.sign),
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("choice", self.choice, CHOICES)
        check_number("cv_tol", self.cv_tol)
