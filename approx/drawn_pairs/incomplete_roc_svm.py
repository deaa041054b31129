"""The approximate methods as scikit-learn classifiers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...exact.certificate.certificate import Certificate, Witness
from ...exact.certificate.solution import Callback, Solution, Status, Step
from ...exact.classifier.base import AUCClassifier, Matrix, draw_seed, warn_unless_certified
from ...exact.classifier.threshold import Rule
from ...exact.losses.registry import HINGE, LOSSES, get_loss
from ...exact.pairs.all_pairs import AllPairs, PairList
from ...exact.problem.problem import Problem, Ridge, pair_problem
from ...exact.spaces.rows import Rows, Space
from ...exact.tools.checks import check_choice, check_count
from ...exact.tools.interrupts import ends_on_interrupt
from .descent import Adamax, Descent, GradientDescent
from .draw_pairs import draw_pairs

WIDTHS = (0.0, *np.geomspace(1e-3, 10.0, 13).tolist())

STEPS = {"adamax": 0.05, "adamax-scalar": 0.002, "gradient": 0.01}
"""First steps by default. The first was measured: with features of order one it needs 10 to 100
times fewer steps than 0.002; the second is roclab's, the third one of the paper's two."""

STRIDE = 2.0
"""Adamax moves all coordinates at once: by default no further than a score moves by about this."""


class IncompleteROCSVM(AUCClassifier):
    """The ROC-SVM on randomly drawn pairs, fitted by full-batch descent.

    [ScalingUp, eq. (7), eq. (8), Section 2.2]: minimise lam/2 |w|^2 + mean over B drawn pairs of
    loss(w'x_i - w'x_j). Standardise the features first. In a pipeline after `Nystrom` it is
    [ScalingUp, eq. (12)].

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
        > 0, length of the steps; by default 0.05, 0.002 and 0.01 in this order, the first two
        shorter where the rows are much longer than those of 30 standardised columns.
    decay : float
        In [0, 1]: step t has the length step / t^decay.
    max_iter : int
    tol : float
        Relative gap on the drawn pairs at which to stop; 0 for never.
    threshold : {"equal-error", "midpoint", "youden", "accuracy"} or callable
        The rule that sets the intercept from the training scores, see `ROCSVM`.
    max_time : float, optional
        Seconds for the descent; the best point so far is kept, with its gaps.
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
        max_time: float | None = None,
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
        self.max_time = max_time
        self.random_state = random_state

    @ends_on_interrupt
    def fit(
        self,
        X: object,
        y: object,
        sample_weight: object = None,
        callback: Callback | None = None,
    ) -> IncompleteROCSVM:
        """Draw the pairs and descend.

        Parameters
        ----------
        X : array or sparse matrix (n, d)
            Finite numbers; sparse input is taken as CSR and stays sparse.
        y : array (n,)
            Labels of two kinds.
        sample_weight : array (n,), optional
            >= 0; a weight means repetition: the objective over all pairs is that of the repeated
            rows, and each pair is drawn with probability proportional to the product of its two
            weights. Needs ``replace=True``, unless the weights are equal. "n" pairs are as many
            as there are rows of positive weight.
        callback : function of a `Step`, optional
            Called after each step of the descent, with the objective over the drawn pairs.

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
            If the gap on the drawn pairs is above `tol`, both as it is (the objective of zero
            weights is 1) and as a share of the objective; the gaps shown are valid.
        """
        solver = self._solver()
        check_choice("loss", self.loss, LOSSES)
        rows, positive, weight = self._check_fit(X, y, sample_weight)
        if weight is not None and (weight == weight[0]).all():
            weight = None
        self.n_pairs_, seed = self._count(positive.size), draw_seed(self.random_state)
        pairs = draw_pairs(positive, self.n_pairs_, seed, self.replace, weight=weight)
        whole = AllPairs(weight)
        solution, drawn, space = self._solve(solver, rows, positive, pairs, whole, callback)
        self._keep_solution(solution)
        self.incomplete_certificate_ = solution.certificate
        self.certificate_ = full_certificate(drawn.with_pairs(whole), solution.w, space)
        self._set_weights(self.solution_.w, rows, positive, weight)
        if solution.certificate.gap > self.tol:  # F(0) = 1
            warn_unless_certified(solution, self.tol, "the objective over the drawn pairs")
        return self

    def _solve(
        self,
        solver: Descent,
        rows: Matrix,
        positive: np.ndarray,
        pairs: PairList,
        whole: AllPairs,
        callback: Callback | None,
    ) -> tuple[Solution, Problem, Rows]:
        """Return the solution, the problem that it is one of, and the rows of the descent.

        `pairs` are drawn from `whole`, whose row weights a structure would be made of.
        """
        space = Rows(rows)
        problem = pair_problem(space, positive, pairs, get_loss(self.loss), Ridge(self.lam))
        found = self._shortened(solver, space).solve(problem, callback=callback)
        return found, problem, space

    def _shortened(self, solver: Descent, space: Rows) -> Descent:
        """Return the solver with its default step fit for the size of the rows."""
        size = float(np.sqrt(space.dim) * space.norms.mean())
        if self.step is not None or self.optimizer == "gradient" or size == 0:
            return solver
        return replace(solver, step=min(solver.step, STRIDE / size))

    def _solver(self) -> Descent:
        check_choice("optimizer", self.optimizer, STEPS)
        step = STEPS[self.optimizer] if self.step is None else self.step
        names = ("decay", "tol", "max_iter", "max_time")
        common = {"step": step, **{name: getattr(self, name) for name in names}}
        if self.optimizer == "gradient":
            return GradientDescent(**common)
        variant = "textbook" if self.optimizer == "adamax" else "scalar-norm"
        return Adamax(**common, variant=variant)

    def _count(self, n: int) -> int:
        if isinstance(self.n_pairs, str) and self.n_pairs == "n":
            return n
        return check_count("n_pairs (other than 'n')", self.n_pairs)


def full_certificate(problem: Problem, w: np.ndarray, space: Space | None = None) -> Certificate:
    """Return how far any `w` is from the optimum, by the best dual point of its own scores.

    The slopes of the loss at the scores are a dual point for any smoothing of the hinge's kink;
    the width that proves most is taken.

    Parameters
    ----------
    problem : Problem
        Over all pairs, usually.
    w : array (dim,)
    space : Space, optional
        One of the same functions, where |pull| is cheaper to have: it serves to compare the
        widths, and the certificate is made in the problem's own.
    """
    scores = problem.space.scores(problem.check_weights(w))
    widths = WIDTHS if problem.loss == HINGE else WIDTHS[:1]
    witnesses = [Witness.from_scores(problem, scores, width) for width in widths]
    quick = problem.space if space is None else space

    def bound(witness: Witness) -> float:
        return witness.value - quick.norm2(quick.pull(witness.c)) / (2 * problem.lam)

    return Certificate.of(problem, w, max(witnesses, key=bound))
