"""Ranking by query as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np

from ..certificate.solution import Callback
from ..formulation.formulation import ordered_problem
from ..pairs.concordance import right_share
from ..pairs.kinds import query_pairs
from ..pairs.ordered_pairs import one_a_row
from ..problem.problem import Problem
from ..tools.lossless import check_labels
from .survival import OrderedModel


@dataclass(eq=False, repr=False)
class RankingSVM(OrderedModel):
    """The linear ranking SVM for any number of grades, solved with a proof of optimality.

    [Joachims, "Optimizing search engines using clickthrough data", KDD 2002]: minimise over w

        lam/2 |w|^2 + mean over pairs of loss(w'x_i - w'x_j),

    i of the larger grade and j in the same query; see `solve(qid=...)`. Two grades are also what
    `ROCSVM` and `RankSVM` take.

    Parameters
    ----------
    lam, loss, tol, max_time, l1, groups, sign
        As in `SurvivalSVM`.

    Attributes
    ----------
    coef_ : array (n_features_in_,)
    certificate_, solution_, status_, n_iter_, history_, n_features_in_, feature_names_in_
        As in `ROCSVM`.
    """

    lam: float = 1e-3
    _: KW_ONLY
    l1: float = 0.0

    def fit(
        self, X: object, y: object, qid: object = None, callback: Callback | None = None
    ) -> Self:
        """Solve the problem of these rows.

        Parameters
        ----------
        X : array or sparse matrix (n, d)
            Finite numbers.
        y : array (n,)
            Grades, the larger the better.
        qid : array (n,), optional
            The query of each row, not the sizes of groups; by default all rows are one query.
        callback : function of a `Step`, optional
            Called after each step of the solver.

        Raises
        ------
        InputError
            If a parameter or the input cannot be used, or no query has two grades.
        """
        names = ("loss", "l1", "groups", "sign")
        parts: dict[str, Any] = {name: getattr(self, name) for name in names}

        def stated(rows: Any) -> Problem:
            return ordered_problem(rows, y, self.lam, qid=_queries(qid, rows.shape[0]), **parts)

        return self._fit(X, y, stated, callback)

    def score(self, X: object, y: object, qid: object = None) -> float:
        """Return the share of the pairs that the scores order rightly, a tie counting one half."""
        scores = self.predict(X)
        return right_share(query_pairs(_queries(qid, scores.size), y), scores)


def _queries(qid: object, n: int) -> np.ndarray:
    return np.zeros(n, int) if qid is None else one_a_row(check_labels(qid, "qid"), n, "qid")
