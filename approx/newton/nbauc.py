"""NBAUC: the squared hinge over all pairs by truncated Newton, on Nyström features.

[Nonlinear, Table 2] compares it with kernel RankSVM on a random fifth of the rows, because on all
of them it took days.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...exact.certificate.certificate import Certificate, Minorant
from ...exact.certificate.solution import Callback
from ...exact.errors import InputError
from ...exact.estimators.base import (
    REPETITION,
    TrainingRows,
    check_row_weights,
    draw_seed,
    keep_solution,
    shortfall_of,
)
from ...exact.losses.registry import SQUARED_HINGE
from ...exact.pairs.all_pairs import AllPairs
from ...exact.problem.problem import Ridge, pair_problem
from ...exact.spaces.rows import Rows
from ...exact.tools.arrays import check_count, check_number
from ..nystrom import NystromClassifier, against_true_kernel
from .truncated_newton import NewtonClassifier


@dataclass(eq=False, repr=False)
class KernelRankSVM(NystromClassifier, NewtonClassifier):
    """Base of the RankSVMs on Nyström features: what is lost against the whole kernel space."""

    def certify_kernel(self, X: object, y: object, sample_weight: object = None) -> Certificate:
        """Return how far the function is from the optimum over the kernel's whole space.

        The optimum is that of the rows and weights given here: pass those of `fit`, because the
        model keeps neither. The lower bound takes the slopes of the loss at the function's scores
        for a dual point, and c'K c with the true kernel: O(n^2) kernel values. With K~ the kernel
        of the features, the gap is about that in the span plus c'(K - K~)c / (2 lam). The true
        distance may be smaller, by a factor that grows as lam falls.
        """
        check_is_fitted(self)
        rows, labels = self._check_data(X, y, reset=False)
        if not np.array_equal(np.unique(labels), self.classes_):
            raise InputError(f"y must have the labels {self.classes_.tolist()}, both and no other")
        pairs = AllPairs(check_row_weights(sample_weight, labels.size))
        features = self.nystrom_.map_.transform(rows)
        positive = labels == self.classes_[1]
        problem = pair_problem(Rows(features), positive, pairs, SQUARED_HINGE, Ridge(self.lam))
        truth = against_true_kernel(problem, self.nystrom_.map_, rows)
        w = self.coef_[0]
        witness = Minorant.from_scores(truth, truth.space.scores(w))
        self.kernel_certificate_ = Certificate.of(truth, w, witness)
        return self.kernel_certificate_


@dataclass(eq=False, repr=False)
class NBAUC(KernelRankSVM):
    """The batch nonlinear AUC machine: Nyström features, then truncated Newton.

    [Nonlinear, Algorithm 1, Algorithm 2, eq. (5)] with p = 2. The function found is the best in
    the span of the landmarks, up to `certificate_`; `certify_kernel` measures how far it is from
    the best in the whole space of the kernel. Standardise the features first: the kernel sees
    distances. Row weights count in the objective only: the landmarks are chosen from the rows of
    positive weight, with any weights.

    Parameters
    ----------
    kernel, gamma, n_landmarks, landmarks, rcond
        As in `Nystrom`.
    lam, tol, max_iter, threshold, max_time
        As in `RankSVM`; gap and seconds are those of the Newton steps, in the span.
    random_state : int, RandomState or None
        Chooses the landmarks.

    Attributes
    ----------
    coef_ : array (1, r)
        Weights of the Nyström features.
    dual_coef_ : array (1, d)
        The same function as a sum of kernel functions of the d landmarks.
    nystrom_ : Nystrom
        The fitted transformer, with `landmarks_`.
    certificate_, kernel_certificate_ : Certificate
        How far `coef_` is from the optimum in the span; the last answer of `certify_kernel`.
    All others as in `RankSVM`.
    """

    _: KW_ONLY
    n_landmarks: int = 100
    landmarks: str = "kmeans"

    @property
    def expected_failed_checks(self) -> dict[str, str]:
        """Which of scikit-learn's checks fail with these parameters, and why."""
        if self.n_landmarks >= 100:  # the checks have fewer rows, and all of them are landmarks
            return {}
        return dict.fromkeys(REPETITION, "landmarks are chosen from other rows where rows repeat")

    def _train(self, data: TrainingRows, callback: Callback | None) -> None:
        chosen: dict[str, Any] = {"n_landmarks": self.n_landmarks, "landmarks": self.landmarks}
        features = self._fit_map(data.rows, data.positive, random_state=self.random_state, **chosen)
        w = self._solve(data._replace(rows=features), callback)
        self._set_function(w, data.rows, data.positive, data.weight)

    def _shortfall(self) -> str | None:
        return shortfall_of(self.solution_, self.tol, "the objective in the span")


@dataclass(eq=False, repr=False)
class SubsampledRankSVM(KernelRankSVM):
    """Kernel RankSVM on a random part of the rows, the others left out.

    [Nonlinear, Section 5.2, Table 2]: minimise over f, with the pairs of the chosen rows only,

        lam/2 |f|^2 + mean over all positive-negative pairs of max(0, 1 - f(x_i) + f(x_j))^2.

    This is `NBAUC` with all of these rows for landmarks, and `certify_kernel` says what leaving out
    the others costs. Standardise the features first: the kernel sees distances.

    Differs from the paper: 1. Both classes keep their shares, so that neither can be missed. 2. At
    most `max_rows` are taken, because the method needs the eigenvalues of their kernel matrix.

    Parameters
    ----------
    share : float
        In (0, 1], the part of the rows to take; a fifth in the paper.
    max_rows : int
        Rows to take at most, >= 2.

    All other parameters are those of `NBAUC`; the threshold is chosen on the rows taken.

    Attributes
    ----------
    subsample_ : int array (m,)
        The rows taken, sorted.
    certificate_ : Certificate
        An upper bound of the distance from the optimum over the rows taken.
    All others as in `NBAUC`.
    """

    _: KW_ONLY
    share: float = 0.2
    max_rows: int = 2000

    def fit(self, X: object, y: object, callback: Callback | None = None) -> Self:
        """Draw the rows and solve their problem."""
        self._fit(X, y, None, callback)
        return self._warn()

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("share", self.share, 0.0, 1.0, closed="high")
        check_count("max_rows", self.max_rows, 2)

    def _train(self, data: TrainingRows, callback: Callback | None) -> None:
        size = min(self.max_rows, math.ceil(self.share * data.positive.size))
        self.subsample_ = random_part(data.positive, size, draw_seed(self.random_state))
        some, side = data.rows[self.subsample_], data.positive[self.subsample_]
        features = self._fit_map(some, side, n_landmarks=side.size, random_state=0)
        self._set_function(self._solve(TrainingRows(features, side, None), callback), some, side)
        words = (
            f"the mean squared hinge over all pairs of the {side.size} rows taken, of "
            f"{data.positive.size}, + {float(self.lam)!r} |f|^2 / 2"
        )
        found = replace(self.solution_.certificate, objective=words)
        keep_solution(self, replace(self.solution_, certificate=found))


def random_part(positive: np.ndarray, size: int, seed: int) -> np.ndarray:
    """Return `size` rows drawn without replacement, sorted, the classes in their proportion."""
    rng = np.random.default_rng(seed)
    n, n_pos = positive.size, int(positive.sum())
    size = min(max(size, 2), n)
    wanted = round(size * n_pos / n)
    wanted = min(max(wanted, 1, size - (n - n_pos)), n_pos, size - 1)
    chosen = [
        rng.choice(np.flatnonzero(side), number, replace=False)
        for side, number in ((positive, wanted), (~positive, size - wanted))
    ]
    return np.sort(np.concatenate(chosen))
