"""The exact solvers as scikit-learn classifiers."""

from __future__ import annotations

from .certificate import Certificate
from .classifier import AUCClassifier, warn_unless_certified
from .losses import LOSSES, get_loss
from .pairs import AllPairs
from .parameters import check_choice, check_number
from .problem import Problem, Ridge
from .solution import Solution, Status, Step
from .solving import METHODS, choose_solver
from .spaces import Rows
from .threshold import Rule


class ROCSVM(AUCClassifier):
    """The ROC-optimizing support vector machine, solved with a proof of optimality.

    [ScalingUp, eq. (3); SAUC, eq. (2)]: minimise over w

        lam/2 |w|^2 + mean over all positive-negative pairs of loss(w'x_i - w'x_j).

    Standardise the features first, as for any penalised linear model. The larger label is the
    positive class; exchanging the classes only changes the sign of the scores.

    Parameters
    ----------
    lam : float
        > 0, weight of the penalty against the mean loss. A sum over the pairs with a factor C
        means lam = 1 / (C n_pos n_neg).
    loss : {"hinge", "squared_hinge", "square"}
    tol : float
        Relative gap to reach, > 0.
    method : {"auto", "qp", "lifted", "cutting-plane", "newton"}
        As in `solve`.
    threshold : {"equal-error", "midpoint", "youden", "accuracy"} or callable
        The rule that sets the intercept from the training scores, see `aucert.exact.threshold`;
        a callable takes (scores, positive, weight), for instance
        ``functools.partial(threshold_for_sensitivity, sensitivity=0.95)``.
    max_time : float, optional
        Seconds; the best point so far is kept, with its gap.

    Attributes
    ----------
    coef_ : array (1, n_features_in_)
    intercept_ : array (1,)
        Minus the threshold.
    classes_ : array (2,)
        The negative and the positive label.
    certificate_ : Certificate
        How far `coef_` is from the optimum, at most.
    solution_ : Solution
        With the dual point that proves it.
    status_ : Status
    n_iter_ : int
    history_ : list of Step
    n_features_in_ : int
    feature_names_in_ : array of str
        Only where X has column names.
    """

    solution_: Solution
    certificate_: Certificate
    status_: Status
    history_: list[Step]
    n_iter_: int

    def __init__(
        self,
        lam: float = 1e-3,
        *,
        loss: str = "hinge",
        tol: float = 1e-9,
        method: str = "auto",
        threshold: str | Rule = "equal-error",
        max_time: float | None = None,
    ):
        self.lam = lam
        self.loss = loss
        self.tol = tol
        self.method = method
        self.threshold = threshold
        self.max_time = max_time

    def fit(self, X: object, y: object, sample_weight: object = None) -> ROCSVM:
        """Solve the problem of these rows.

        Parameters
        ----------
        X : array or sparse matrix (n, d)
            Finite numbers; sparse input is taken as CSR and stays sparse.
        y : array (n,)
            Labels of two kinds.
        sample_weight : array (n,), optional
            >= 0; a weight means repetition.

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
        self._check_parameters()
        rows, positive, weight = self._check_fit(X, y, sample_weight)
        problem = Problem(
            Rows(rows), positive, AllPairs(weight), get_loss(self.loss), Ridge(self.lam)
        )
        solver = choose_solver(problem, self.method, self.tol, self.max_time)
        self.solution_ = solver.solve(problem)
        self.certificate_ = self.solution_.certificate
        self.status_ = self.solution_.status
        self.history_ = self.solution_.history
        self.n_iter_ = self.solution_.n_iter
        self._set_weights(self.solution_.w, rows, positive, weight)
        warn_unless_certified(self.solution_, self.tol)
        return self

    def _check_parameters(self) -> None:
        check_choice("loss", self.loss, LOSSES)
        check_choice("method", self.method, METHODS)
        check_number("tol", self.tol)
        if self.max_time is not None:
            check_number("max_time", self.max_time)
