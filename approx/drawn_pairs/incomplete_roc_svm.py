"""The ROC-SVM on drawn pairs as a scikit-learn classifier."""

from __future__ import annotations

import dataclasses
from dataclasses import KW_ONLY, dataclass

import numpy as np

from ...exact.certificate.from_scores import full_certificate
from ...exact.certificate.solution import Callback, Solution
from ...exact.classifier.base import REPETITION, AUCClassifier, Progress, shortfall_of
from ...exact.classifier.inputs import Matrix, TrainingRows, draw_seed
from ...exact.classifier.partitions import in_partitions, opened, set_linear
from ...exact.classifier.threshold import get_rule
from ...exact.losses.registry import LOSSES, get_loss
from ...exact.pairs.all_pairs import AllPairs, PairList
from ...exact.problem.problem import Problem, Ridge, pair_problem
from ...exact.spaces.rows import Rows
from ...exact.tools.checks import check_choice, check_count
from .descent import Adamax, Descent, GradientDescent
from .draw_pairs import draw_pairs
from .in_partitions import certificate_over_all, named_rows

STEPS = {"adamax": 0.05, "adamax-scalar": 0.002, "gradient": 0.01}
"""Default lengths of the first step. Adamax's was measured: on features of order one it needs 10 to
100 times fewer steps than 0.002. The second is roclab's, the third one of the paper's two."""

STRIDE = 2.0
"""A default step may move a score by about this much. Adamax moves all coordinates at once."""


@dataclass(eq=False, repr=False)
class IncompleteROCSVM(AUCClassifier):
    """The ROC-SVM on randomly drawn pairs, fitted by full-batch descent.

    [ScalingUp, eq. (7), eq. (8), Section 2.2]: minimise lam/2 |w|^2 + mean over B drawn pairs of
    loss(w'x_i - w'x_j). Standardise the features first. In a pipeline after `Nystrom` it is
    [ScalingUp, eq. (12)].

    The result differs from the optimum over all pairs for two reasons. The descent stops early,
    which `incomplete_certificate_` bounds; and the drawn pairs are not all pairs, which
    `certificate_` covers too.

    Of dask collections and `PartitionedRows` without weights, the same pairs are drawn as in
    memory, and only the rows that they name are fetched.

    Parameters
    ----------
    lam : float
        > 0, weight of the penalty against the mean loss.
    n_pairs : "n" or int
        B; "n" draws as many pairs as there are rows (of positive weight), as the paper does.
    replace : bool
        Whether to draw with replacement. Without it, row weights must be equal: with them, each
        pair is drawn with probability proportional to the product of its two weights.
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
        Draws the pairs; the number s draws those of ``draw_pairs(..., seed=s)``.

    Attributes
    ----------
    coef_ : array (1, n_features_in_)
    certificate_ : Certificate
        How far `coef_` is from the optimum over ALL pairs, at most.
    incomplete_certificate_ : Certificate
        How far `coef_` is from the optimum over the drawn pairs, at most.
    solution_ : Solution
        The solution of the problem over the drawn pairs.
    status_ : Status
    n_pairs_ : int
        Pairs drawn.
    n_iter_ : int
    history_ : list of Step
    intercept_, classes_, n_features_in_, feature_names_in_
        As in `ROCSVM`.
    """

    lam: float = 1e-3
    _: KW_ONLY
    n_pairs: str | int = "n"
    replace: bool = True
    loss: str = "hinge"
    optimizer: str = "adamax"
    step: float | None = None
    decay: float = 0.0
    max_iter: int = 5000
    tol: float = 1e-3
    random_state: int | np.random.RandomState | None = None

    @property
    def expected_failed_checks(self) -> dict[str, str]:
        """Which of scikit-learn's checks fail, and why."""
        return dict.fromkeys(REPETITION, "pairs are drawn: weights are repetition on average")

    def _check_parameters(self) -> None:
        self._solver()
        check_choice("loss", self.loss, LOSSES)

    def _fit(self, X: object, y: object, sample_weight: object, callback: Progress | None) -> None:
        if not in_partitions(X):
            super()._fit(X, y, sample_weight, callback)
            return
        self._check_parameters()
        get_rule(self.threshold)
        self._fit_in_partitions(X, y, sample_weight, callback)

    def _fit_in_partitions(
        self, X: object, y: object, sample_weight: object, callback: Progress | None
    ) -> None:
        """Fit to rows in partitions, of which only those that the pairs name are fetched."""
        with opened(X, y, sample_weight) as (rows, self.classes_):
            self.n_pairs_, seed = self._count(rows.n), draw_seed(self.random_state)
            named = named_rows(rows, self.n_pairs_, seed, not self.replace)
            solution, _, _ = self._solve(*named, AllPairs(), callback)
            self._keep_solution(solution)
            self.incomplete_certificate_ = solution.certificate
            loss = get_loss(self.loss)
            self.certificate_ = certificate_over_all(rows, loss, self.lam, solution.w)
            set_linear(self, rows, solution.w)

    def _train(self, data: TrainingRows, callback: Callback | None) -> None:
        rows, positive, weight = data
        if weight is not None and (weight == weight[0]).all():
            weight = None
        self.n_pairs_, seed = self._count(positive.size), draw_seed(self.random_state)
        pairs = draw_pairs(positive, self.n_pairs_, seed, self.replace, weight=weight)
        whole = AllPairs(weight)
        solution, drawn, space = self._solve(rows, positive, pairs, whole, callback)
        self._keep_solution(solution)
        self.incomplete_certificate_ = solution.certificate
        self.certificate_ = full_certificate(drawn.with_pairs(whole), solution.w, space)
        self._set_weights(self.solution_.w, rows, positive, weight)

    def _shortfall(self) -> str | None:
        if self.incomplete_certificate_.gap <= self.tol:  # F(0) = 1
            return None
        return shortfall_of(self.solution_, self.tol, "the objective over the drawn pairs")

    def _solve(
        self,
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
        found = self._solver_for(space).solve(problem, callback=callback)
        return found, problem, space

    def _solver_for(self, space: Rows) -> Descent:
        """Return the solver, its default step no longer than suits the size of the rows."""
        solver = self._solver()
        size = float(np.sqrt(space.dim) * space.norms.mean())
        if self.step is not None or self.optimizer == "gradient" or size == 0:
            return solver
        return dataclasses.replace(solver, step=min(solver.step, STRIDE / size))

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
