"""The approximate methods as scikit-learn classifiers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..exact.certificate import Certificate, Witness, dual_value
from ..exact.classifier import AUCClassifier, draw_seed, warn_unless_certified
from ..exact.losses import LOSSES, get_loss
from ..exact.pairs import AllPairs
from ..exact.parameters import check_choice, check_count
from ..exact.problem import Problem, Ridge
from ..exact.solution import Solution, Status, Step
from ..exact.spaces import Rows
from ..exact.threshold import Rule
from .adamax import Adamax, Descent, GradientDescent
from .incomplete_u import draw_pairs

WIDTHS = (0.0, *np.geomspace(1e-3, 10.0, 13).tolist())

STEPS = {"adamax": 0.05, "adamax-scalar": 0.002, "gradient": 0.01}
"""First steps by default. The first was measured: with features of order one it needs 10 to 100
times fewer steps than 0.002; the second is roclab's, the third one of the paper's two."""


class IncompleteROCSVM(AUCClassifier):
    """The ROC-SVM on randomly drawn pairs, fitted by full-batch descent.

    [ScalingUp, eq. (7), eq. (8)]: minimise lam/2 |w|^2 + mean over B drawn pairs of
    loss(w'x_i - w'x_j). Standardise the features first.

    What comes out differs from the optimum over all pairs for two reasons, and each has its
    certificate: the descent stops early (`incomplete_certificate_`), and the drawn pairs are not
    all pairs (`certificate_` covers both).

    Parameters
    ----------
    lam : float
        > 0, weight of the penalty against the mean loss.
    n_pairs : "n" or int
        B; "n" draws as many pairs as there are rows, as the paper does.
    replace : bool
        Whether to draw with replacement.
    loss : {"hinge", "squared_hinge", "square"}
    optimizer : {"adamax", "adamax-scalar", "gradient"}
        `Adamax`, its variant with one scale for all coordinates (roclab's), `GradientDescent`.
    step : float, optional
        > 0, length of the steps; by default 0.05, 0.002 and 0.01 in this order.
    decay : float
        In [0, 1]: step t has the length step / t^decay.
    max_iter : int
    tol : float
        Relative gap on the drawn pairs at which to stop; 0 for never.
    threshold : {"equal-error", "midpoint", "youden", "accuracy"} or callable
        The rule that sets the intercept from the training scores, see `ROCSVM`.
    random_state : int, RandomState or None
        Draws the pairs; a number s draws those of ``draw_pairs(..., seed=s)``.

    Attributes
    ----------
    coef_ : array (1, n_features_in_)
    intercept_ : array (1,)
        Minus the threshold.
    classes_ : array (2,)
        The negative and the positive label.
    certificate_ : Certificate
        Of `coef_` in the problem over ALL pairs.
    incomplete_certificate_ : Certificate
        Of `coef_` in the problem over the drawn pairs.
    solution_ : Solution
        Of the problem over the drawn pairs.
    status_ : Status
    n_pairs_ : int
        Pairs drawn.
    n_iter_ : int
    history_ : list of Step
    n_features_in_ : int
    feature_names_in_ : array of str
        Only where X has column names.
    """

    solution_: Solution
    certificate_: Certificate
    incomplete_certificate_: Certificate
    status_: Status
    history_: list[Step]
    n_iter_: int
    n_pairs_: int

    def __init__(
        self,
        lam: float = 1e-3,
        *,
        n_pairs: str | int = "n",
        replace: bool = True,
        loss: str = "hinge",
        optimizer: str = "adamax",
        step: float | None = None,
        decay: float = 0.0,
        max_iter: int = 5000,
        tol: float = 1e-3,
        threshold: str | Rule = "equal-error",
        random_state: int | np.random.RandomState | None = None,
    ):
        self.lam = lam
        self.n_pairs = n_pairs
        self.replace = replace
        self.loss = loss
        self.optimizer = optimizer
        self.step = step
        self.decay = decay
        self.max_iter = max_iter
        self.tol = tol
        self.threshold = threshold
        self.random_state = random_state

    def fit(self, X: object, y: object) -> IncompleteROCSVM:
        """Draw the pairs and descend.

        Parameters
        ----------
        X : array or sparse matrix (n, d)
            Finite numbers; sparse input is taken as CSR and stays sparse.
        y : array (n,)
            Labels of two kinds.

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
            If the gap on the drawn pairs is not within `tol`; the gaps shown are valid.
        """
        solver = self._solver()
        check_choice("loss", self.loss, LOSSES)
        rows, positive, _ = self._check_fit(X, y)
        full = Problem(Rows(rows), positive, AllPairs(), get_loss(self.loss), Ridge(self.lam))
        self.n_pairs_ = self._count(positive.size)
        pairs = draw_pairs(positive, self.n_pairs_, draw_seed(self.random_state), self.replace)
        self._keep_solution(solver.solve(replace(full, pairs=pairs)))
        self.incomplete_certificate_ = self.solution_.certificate
        self.certificate_ = full_certificate(full, self.solution_.w)
        self._set_weights(self.solution_.w, rows, positive)
        warn_unless_certified(self.solution_, self.tol, "the objective over the drawn pairs")
        return self

    def _solver(self) -> Descent:
        check_choice("optimizer", self.optimizer, STEPS)
        step = STEPS[self.optimizer] if self.step is None else self.step
        common = {"step": step, "decay": self.decay, "tol": self.tol, "max_iter": self.max_iter}
        if self.optimizer == "gradient":
            return GradientDescent(**common)
        variant = "textbook" if self.optimizer == "adamax" else "scalar-norm"
        return Adamax(**common, variant=variant)

    def _count(self, n: int) -> int:
        if isinstance(self.n_pairs, str) and self.n_pairs == "n":
            return n
        return check_count("n_pairs (other than 'n')", self.n_pairs)


def full_certificate(problem: Problem, w: np.ndarray) -> Certificate:
    """Return how far any `w` is from the optimum, by the best dual point of its own scores.

    The slopes of the loss at the scores are a dual point for any smoothing of the hinge's kink;
    the width that proves most is taken.

    Parameters
    ----------
    problem : Problem
        Over all pairs, usually.
    w : array (dim,)
    """
    scores = problem.space.scores(problem.check_weights(w))
    widths = WIDTHS if problem.loss.name == "hinge" else WIDTHS[:1]
    witnesses = [Witness.from_scores(problem, scores, width) for width in widths]
    best = max(witnesses, key=lambda witness: dual_value(problem, witness)[0])
    return Certificate.of(problem, w, best)
