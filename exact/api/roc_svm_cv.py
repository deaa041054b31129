"""The ROC-SVM that chooses its own lam, as a scikit-learn classifier."""

from __future__ import annotations

from ..certificate.solution import Callback
from ..classifier.base import draw_seed
from ..classifier.threshold import Rule
from ..formulation.request import Request
from ..losses.loss import Loss
from ..spaces.kernel import Kernel
from ..tools.checks import check_choice, check_number
from ..tools.interrupts import ends_on_interrupt
from ..tools.threads import small_in_one_thread
from .path_selection import CHOICES, CVPath, cross_validate
from .roc_svm import ROCSVM


class ROCSVMCV(ROCSVM):
    """A ROC-SVM with the lam of the highest cross-validated AUC, solved with proof.

    [ScalingUp, eq. (3), eq. (10); SAUC, eq. (12)], the penalty's weight chosen: along a path of
    falling lam each fold is solved with warm starts and certificates, the AUC of its held-out rows
    averaged, and the whole problem solved at the chosen lam.

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
    kernel, gamma, loss, pairs, anchor_filter, method, threshold
        As in `ROCSVM`.
    tol, cv_tol : float
        Relative gap to reach, of the model and of those in the folds.
    max_time : float, optional
        Seconds for the folds, and again for the model.
    random_state : int, RandomState or None
        Shuffles the folds.

    Attributes
    ----------
    lam_ : float
        The lam chosen.
    cv_path_ : CVPath
        Held-out AUC of each fold and lam, with proved ranges.
    All others as in `ROCSVM`.
    """

    lam_: float
    cv_path_: CVPath

    def __init__(
        self,
        lams: object = None,
        *,
        n_lams: int = 20,
        cv: object = 5,
        choice: str = "best",
        structure: float = 0.0,
        kernel: str | Kernel = "linear",
        gamma: float | None = None,
        loss: str | Loss = "hinge",
        pairs: str = "all",
        anchor_filter: str = "none",
        tol: float = 1e-9,
        cv_tol: float = 1e-6,
        method: str = "auto",
        threshold: str | Rule = "equal-error",
        max_time: float | None = None,
        random_state: object = None,
    ):
        self.lams = lams
        self.n_lams = n_lams
        self.cv = cv
        self.choice = choice
        self.structure = structure
        self.kernel = kernel
        self.gamma = gamma
        self.loss = loss
        self.pairs = pairs
        self.anchor_filter = anchor_filter
        self.tol = tol
        self.cv_tol = cv_tol
        self.method = method
        self.threshold = threshold
        self.max_time = max_time
        self.random_state = random_state

    @ends_on_interrupt
    @small_in_one_thread
    def fit(
        self,
        X: object,
        y: object,
        sample_weight: object = None,
        callback: Callback | None = None,
    ) -> ROCSVMCV:
        """Choose lam, and solve the problem of these rows.

        Parameters
        ----------
        X, y, sample_weight
            As in `ROCSVM`; a weight means repetition, in training and in the AUC.
        callback : function of a `Step`, optional
            Called after each step of the last fit, that with the chosen lam.

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
            If the gap of the model is not within `tol`.
        """
        request = self._request()
        rows, positive, _ = self._check_fit(X, y)
        self.cv_path_ = cross_validate(
            rows,
            positive,
            request,
            self.lams,
            sample_weight,
            self.cv,
            draw_seed(self.random_state),
            self._pairs,
            self.n_lams,
            self.method,
            self.cv_tol,
            self.max_time,
        )
        self.lam_ = self.cv_path_.lam_of(self.choice)
        rows, positive, weight = self._check_fit(X, y, sample_weight)
        self._solve(request.at(self.lam_), rows, positive, weight, callback)
        return self

    def _request(self) -> Request:
        """Return what the parameters ask for, at no lam in particular."""
        self._check_parameters()
        return Request.of(
            1.0,
            self.loss,
            positive=True,
            kernel=self.kernel,
            gamma=self.gamma,
            structure=self.structure,
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("choice", self.choice, CHOICES)
        check_number("cv_tol", self.cv_tol)
