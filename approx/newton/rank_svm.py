"""RankSVM: the squared hinge over all pairs by truncated Newton, on the rows themselves."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np

from ...exact.certificate.solution import Callback
from ...exact.classifier.base import AUCClassifier, shortfall_of
from ...exact.classifier.inputs import TrainingRows
from ...exact.classifier.queries import QueryClassifier
from ...exact.errors import InputError, TooLargeError
from ...exact.formulation.formulation import formulate
from ...exact.formulation.request import Request
from ...exact.losses.registry import SQUARED_HINGE
from ...exact.pairs.all_pairs import AllPairs, PairList
from ...exact.pairs.ordered.columns import as_codes
from ...exact.problem.problem import Ridge
from .truncated_newton import TruncatedNewton

MOST_PAIRS = 20_000_000
"""The most pairs within queries that are written down."""


@dataclass(eq=False, repr=False)
class NewtonClassifier(AUCClassifier):
    """Base of the classifiers trained by `TruncatedNewton`."""

    lam: float = 1e-3
    _: KW_ONLY
    tol: float = 1e-9
    max_iter: int = 200

    def _check_parameters(self) -> None:
        self._solver()

    def _shortfall(self) -> str | None:
        return shortfall_of(self.solution_, self.tol)

    def _solver(self) -> TruncatedNewton:
        Ridge(self.lam)
        return TruncatedNewton(self.tol, self.max_iter, max_time=self.max_time)

    def _solve(self, features: TrainingRows, callback: Callback | None) -> np.ndarray:
        """Solve the problem over the rows of features, keep the solution, and return w."""
        rows, positive, weight = features
        request = Request.of(self.lam, SQUARED_HINGE, self._pairs(positive, weight), True)
        task = formulate(rows, positive, request)
        found = self._solver().solve(task.work, callback=callback)
        self._keep_solution(task.judge(found, self.tol))
        return self.solution_.w

    def _pairs(self, positive: np.ndarray, weight: np.ndarray | None) -> AllPairs | PairList:
        """Return the pairs of these rows."""
        return AllPairs(weight)


@dataclass(eq=False, repr=False)
class RankSVM(QueryClassifier, NewtonClassifier):
    """The linear ranking SVM of two classes, solved in the primal.

    [Nonlinear, eq. (5)] with p = 2 and the rows themselves for features: minimise over w

        lam/2 |w|^2 + mean over all positive-negative pairs of max(0, 1 - w'(x_i - x_j))^2.

    With `fit(X, y, qid=...)` the pairs are those within a query. Standardise the features first.
    Penalties with an l1 or a sign have no second derivative for these Newton steps: they are in
    `ROCSVM(loss="squared_hinge", l1=..., groups=..., sign=...)`, the same problem.
    The paper's sum over the pairs with a factor C means
    lam = 1 / (C n_pos n_neg); see `aucert.exact.problem.scalings`.

    Parameters
    ----------
    lam : float
        > 0, weight of the penalty against the mean loss.
    tol : float
        Relative gap to reach, > 0.
    max_iter : int
        As in `TruncatedNewton`.
    threshold : {"equal-error", "midpoint", "youden", "accuracy"} or callable
        As in `ROCSVM`.
    max_time : float, optional
        Seconds; the best point so far is kept, with its gap.

    Attributes
    ----------
    coef_ : array (1, n_features_in_)
    certificate_ : Certificate
        How far `coef_` is from the optimum, at most.
    intercept_, classes_, solution_, status_, n_iter_, history_, n_features_in_, feature_names_in_
        As in `ROCSVM`.
    """

    def _train(self, data: TrainingRows, callback: Callback | None) -> None:
        self._set_weights(self._solve(data, callback), data.rows, data.positive, data.weight)

    def _pairs(self, positive: np.ndarray, weight: np.ndarray | None) -> AllPairs | PairList:
        """Return all pairs, or the list of those within a query."""
        if self._queries is None:
            return super()._pairs(positive, weight)
        return query_list(self._queries, positive, weight)


def query_list(qid: np.ndarray, positive: np.ndarray, weight: np.ndarray | None = None) -> PairList:
    """Return the pairs of a positive and a negative row of one query, written down.

    Parameters
    ----------
    qid : array (n,)
    positive : bool array (n,)
    weight : array (n,), optional
        A pair weighs the product of its rows' weights.

    Raises
    ------
    InputError
        If no query has both classes.
    TooLargeError
        Above `MOST_PAIRS` pairs.
    """
    codes = as_codes(qid, positive.size)
    order = np.lexsort((~positive, codes))
    upper = np.bincount(codes, weights=positive).astype(np.int64)
    rows = np.bincount(codes)
    start, lower = np.cumsum(rows) - rows, rows - upper
    total = int(sum((upper * lower).tolist()))
    if total == 0:
        raise InputError("no pair: no query has rows of both classes")
    if total > MOST_PAIRS:
        raise TooLargeError(
            f"{total} pairs within queries are more than {MOST_PAIRS}, which are written down: "
            "take ROCSVM(loss='squared_hinge'), which needs no list"
        )
    i, j = [], []
    for first, p, q in zip(
        start[upper * lower > 0], upper[upper * lower > 0], lower[upper * lower > 0], strict=True
    ):
        i.append(np.repeat(order[first : first + p], q))
        j.append(np.tile(order[first + p : first + p + q], p))
    i, j = np.concatenate(i), np.concatenate(j)
    return PairList(i, j, None if weight is None else weight[i] * weight[j])
