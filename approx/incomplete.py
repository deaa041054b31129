"""The ROC-SVM and SAUC-SVM on drawn pairs, in memory and in partitions.

No paper has SAUC's structure with drawn pairs. It needs nothing new: [SAUC, eq. (8)] is an ordinary
machine in whitened features, and that machine may have drawn pairs [ScalingUp, eq. (7)] or Nyström
features [ScalingUp, eq. (11)] like any other. The structure is that of all rows.

From rows in partitions, only the rows of the drawn pairs are loaded. The same seed draws the same
pairs in memory and in partitions.
"""

from __future__ import annotations

import dataclasses
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, cast

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from ..exact.certificate.certificate import Certificate, full_certificate
from ..exact.certificate.evaluation import binned_at, noting
from ..exact.certificate.solution import Callback, Solution
from ..exact.errors import InputError, TooLargeError
from ..exact.estimators.base import (
    REPETITION,
    AUCClassifier,
    Matrix,
    Progress,
    TrainingRows,
    draw_seed,
    keep_solution,
    shortfall_of,
)
from ..exact.formulation.formulation import formulate
from ..exact.formulation.request import Request
from ..exact.losses.registry import HINGE, LOSSES, get_loss
from ..exact.pairs.all_pairs import AllPairs, PairList
from ..exact.pairs.partitioned_pairs import pairs_in
from ..exact.problem.problem import Problem, Ridge, pair_problem
from ..exact.problem.risk import Mean, Weights
from ..exact.spaces.partitions import PartitionedRows
from ..exact.spaces.rows import Rows, Space
from ..exact.tools.arrays import check_choice, check_count, check_number
from .drawn_pairs import draw_codes, draw_pairs
from .nystrom import Nystrom
from .subgradient import Adamax, Descent, GradientDescent

# Default lengths of the first step. Adamax's was measured: on features of order one it needs 10 to
# 100 times fewer steps than 0.002. The second is roclab's, the third one of the paper's two.
STEPS = {"adamax": 0.05, "adamax-scalar": 0.002, "gradient": 0.01}
STRIDE = 2.0  # a default step may move a score by about this much


@dataclass(eq=False, repr=False)
class IncompleteROCSVM(AUCClassifier):
    """The ROC-SVM on randomly drawn pairs, fitted by full-batch descent.

    [ScalingUp, eq. (7), eq. (8), Section 2.2]: minimise lam/2 |w|^2 + mean over B drawn pairs of
    loss(w'x_i - w'x_j). Standardise the features first. In a pipeline after `Nystrom` it is
    [ScalingUp, eq. (12)].

    The descent stops early, which `incomplete_certificate_` bounds; and the drawn pairs are not all
    pairs, which `certificate_` covers too. From dask collections and `PartitionedRows`, without
    weights, only the rows of the drawn pairs are loaded.

    Parameters
    ----------
    lam : float
        > 0, weight of the penalty against the mean loss.
    n_pairs : "n" or int
        B; "n" means as many pairs as there are rows (of positive weight), as in the paper.
    replace : bool
        As in `draw_pairs`.
    loss : {"hinge", "squared_hinge", "square"}
    optimizer : {"adamax", "adamax-scalar", "gradient"}
        `Adamax`, its variant with one scale for all coordinates (roclab's), `GradientDescent`.
    step : float, optional
        > 0, length of the steps; by default 0.05, 0.002 and 0.01 for the three optimizers, the
        first two shorter if the rows are much longer than those of 30 standardised columns.
    decay : float
        In [0, 1]: step t has the length step / t^decay.
    max_iter : int
    tol : float
        Relative gap on the drawn pairs at which to stop; 0 for never.
    threshold, max_time
        As in `ROCSVM`.
    random_state : int, RandomState or None
        Draws the pairs; the number s draws those of ``draw_pairs(..., seed=s)``.

    Attributes
    ----------
    certificate_ : Certificate
        An upper bound of the distance of `coef_` from the optimum over ALL pairs.
    incomplete_certificate_ : Certificate
        An upper bound of the distance of `coef_` from the optimum over the drawn pairs.
    solution_ : Solution
        The solution of the problem over the drawn pairs.
    n_pairs_ : int
        Pairs drawn.
    All others as in `ROCSVM`.
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

    def _train_apart(self, rows: PartitionedRows, callback: Progress | None) -> np.ndarray:
        """Train on rows in partitions, of which only those that the pairs name are fetched."""
        self.n_pairs_, seed = self._count(rows.n), draw_seed(self.random_state)
        named = named_rows(rows, self.n_pairs_, seed, not self.replace)
        solution, _, _ = self._solve(*named, AllPairs(), callback)
        keep_solution(self, solution)
        self.incomplete_certificate_ = solution.certificate
        self.certificate_ = certificate_over_all(rows, get_loss(self.loss), self.lam, solution.w)
        return solution.w

    def _train(self, data: TrainingRows, callback: Callback | None) -> None:
        rows, positive, weight, _ = data
        if weight is not None and (weight == weight[0]).all():
            weight = None
        self.n_pairs_, seed = self._count(positive.size), draw_seed(self.random_state)
        pairs = draw_pairs(positive, self.n_pairs_, seed, self.replace, weight=weight)
        whole = AllPairs(weight)
        solution, drawn, space = self._solve(rows, positive, pairs, whole, callback)
        keep_solution(self, solution)
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


@dataclass(eq=False, repr=False)
class IncompleteSAUCSVM(IncompleteROCSVM):
    """SAUC-SVM on randomly drawn pairs, fitted by full-batch descent in whitened features.

    [SAUC, eq. (8); ScalingUp, eq. (7)]: minimise over w

        lam/2 (|w|^2 + structure w'Sigma w) + mean over B drawn pairs of loss(w'x_i - w'x_j),

    Sigma = Sigma_+ + Sigma_-, the covariances of the two classes (divided by n) of ALL rows.
    Standardise the features first. For a kernel put `Nystrom` in front, as `incomplete_sauc` does.

    Parameters
    ----------
    lam : float
        > 0, weight of the penalty against the mean loss.
    structure : float
        >= 0, weight of the structure relative to |w|^2, the paper's lambda; 0 gives
        `IncompleteROCSVM`, reached by other steps if there are more features than rows.

    All other parameters are those of `IncompleteROCSVM`, and so are the attributes. The steps are
    made in the whitened coordinates, and the certificates are of SAUC's problem.
    """

    structure: float = 1.0

    def _check_parameters(self) -> None:
        check_number("structure", self.structure, closed="low")
        super()._check_parameters()

    def _train_apart(self, rows: PartitionedRows, callback: Progress | None) -> np.ndarray:
        raise InputError(
            "the structure of rows in partitions is not known: take a sample of the rows, or "
            "IncompleteROCSVM, which has none"
        )

    def _solve(
        self,
        rows: Matrix,
        positive: np.ndarray,
        pairs: PairList,
        whole: AllPairs,
        callback: Callback | None,
    ) -> tuple[Solution, Problem, Rows]:
        asked = {"pairs": whole, "positive": True, "structure": self.structure}
        task = formulate(rows, positive, Request.of(self.lam, self.loss, **asked))
        meant = task.meant.with_pairs(pairs)
        work = meant if task.work is task.meant else task.work.with_pairs(pairs)
        solved = work.space.held
        assert solved is not None
        found = self._solver_for(solved).solve(work, callback=callback)
        return replace(task, meant=meant, work=work).judge(found, self.tol), meant, solved


def incomplete_sauc(
    lam: float = 1e-3,
    structure: float = 1.0,
    gamma: float | None = None,
    n_landmarks: int = 100,
    n_pairs: str | int = "n",
    seed: int | None = None,
    with_mean: bool = True,
) -> Pipeline:
    """Return SAUC-SVM with a Gaussian kernel, approximated twice: Nyström features, drawn pairs.

    [SAUC, eq. (12); ScalingUp, eq. (7), eq. (11)]. The structure is that of the scores, so it is
    the same in the features and in the kernel's own space.

    Parameters
    ----------
    lam, structure, n_pairs
        Of `IncompleteSAUCSVM`.
    gamma, n_landmarks
        Of `Nystrom`, with k-means centres.
    seed : int or None
        Chooses the landmarks and draws the pairs; anything else raises `InputError`.
    with_mean : bool
        Whether to centre the columns; False for sparse input.
    """
    check_count("seed", 0 if seed is None else seed, 0)
    chosen = Nystrom(gamma=gamma, n_landmarks=n_landmarks, landmarks="kmeans", random_state=seed)
    return Pipeline(
        [
            ("scale", StandardScaler(with_mean=with_mean)),
            ("nystrom", chosen),
            ("sauc", IncompleteSAUCSVM(lam, structure, n_pairs=n_pairs, random_state=seed)),
        ]
    )


MOST_NUMBERS = 1 << 28  # numbers in the rows that are fetched, at most (2 GB)
BINS, SMOOTH_BINS = 1 << 10, 1 << 9  # bins per unit of score of the certificate over all pairs
WIDTHS = (0.01, 0.1, 0.5, 2.0, 8.0)  # of the hinge's dual points compared: a pass each


def named_rows(
    rows: PartitionedRows, n_pairs: int, seed: int, different: bool
) -> tuple[np.ndarray, np.ndarray, PairList]:
    """Return the rows (m, d) that drawn pairs name, which of them are positive, and the pairs."""
    facts = rows.facts
    if facts.weighted:
        raise InputError(
            "pairs are drawn from partitions whose rows have no weights: leave them out"
        )
    pairs_in(facts)
    n_pos, n_neg = facts.n_pos, facts.n - facts.n_pos
    if min(2 * n_pairs, facts.n) * rows.dim > MOST_NUMBERS:
        raise TooLargeError(
            f"{n_pairs} drawn pairs name up to {min(2 * n_pairs, facts.n)} rows of {rows.dim} "
            f"columns, which are fetched: draw at most {MOST_NUMBERS // (2 * rows.dim)} pairs "
            "(n_pairs)"
        )
    i, j = np.divmod(draw_codes(n_pos, n_neg, n_pairs, seed, not different), n_neg)
    plus, at_i = np.unique(i, return_inverse=True)
    minus, at_j = np.unique(j, return_inverse=True)
    found = rows.named(minus, plus)
    positive = found.positive
    listed = PairList(
        np.flatnonzero(positive)[at_i], np.flatnonzero(~positive)[at_j], None, positive
    )
    return found.rows, positive, listed


def certificate_over_all(
    rows: PartitionedRows, loss: Any, lam: float, w: np.ndarray
) -> Certificate:
    """Return how far `w` is from the optimum over all pairs, by a dual point of its scores.

    The point is shrunk by the rule that holds for any loss; in memory some have a better one.
    """
    problem = Problem(cast(Space, rows), Mean(pairs_in(rows.facts), loss), Ridge(lam))
    with noting():
        grids = [(SMOOTH_BINS, 0)]
        if loss == HINGE:
            grids = [(BINS, max(1, round(width * BINS / 2))) for width in WIDTHS]
        found = []
        for bins, half in grids:
            sums = binned_at(problem, w, bins, half)
            point = problem.risk.minorant(Weights(w, sums.bins, half, sums.scale(problem.lam)))
            found.append(Certificate.of(problem, w, point))
    return max(found, key=lambda one: one.dual)
