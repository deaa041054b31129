"""Ordered pairs as scikit-learn estimators: survival, and ranking by query."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..api.cross_validation import FoldedData
from ..api.path import unit_penalty
from ..api.solve import solve_request
from ..certificate.solution import Callback
from ..errors import InputError
from ..formulation.request import Options, Request
from ..losses.registry import Loss
from ..pairs.concordance import concordance_index, right_share
from ..pairs.kinds import as_survival, query_pairs, survival_pairs
from ..pairs.ordered_pairs import OrderedPairs, one_a_row
from ..tools.arrays import check_labels
from .base import Estimator, check_rows, keep_solution, shortfall_of
from .roc_svm import Searched


@dataclass(eq=False, repr=False)
class OrderedModel(Estimator, ABC):
    _: KW_ONLY
    loss: str | Loss = "hinge"
    tol: float = 1e-6
    max_time: float | None = None
    groups: object = None
    sign: object = None

    @abstractmethod
    def _request(self, rows: Any, pairs: OrderedPairs, seen: np.ndarray | None) -> Request:
        """Return the request over the pairs of checked rows, of survival with these events."""

    def _fit(self, X: Any, y: Any, ordered: Callable[[int], Any], callback: Any) -> Self:
        """Solve over the pairs that `ordered` makes of a number of rows, with their events."""
        options = Options(tol=self.tol, max_time=self.max_time, callback=callback)
        if y is None:
            name = type(self).__name__
            raise InputError(f"{name} requires y to be passed, but the target y is None")
        rows = check_rows(self, X)
        if rows.shape[0] < 2:
            raise InputError("pairs need two rows, X has 1 sample")
        request = self._request(rows, *ordered(rows.shape[0]))
        solution = solve_request(rows, None, request, options)
        self.coef_ = np.array(solution.w, dtype=float)
        keep_solution(self, solution)
        self.n_iter_ = max(solution.n_iter, 1)
        return self._warn()

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {"coef_": (self.n_features_in_,)}

    def _shortfall(self) -> str | None:
        return shortfall_of(self.solution_, self.tol)

    def predict(self, X: object) -> np.ndarray:
        """Return the score of each row, larger for a higher grade or risk: (n,)."""
        check_is_fitted(self)
        return np.asarray(check_rows(self, X, reset=False) @ self.coef_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


@dataclass(eq=False, repr=False)
class AtLam(OrderedModel):
    lam: float = 1e-3
    _: KW_ONLY
    l1: float = 0.0

    def _request(self, rows: Any, pairs: OrderedPairs, seen: np.ndarray | None) -> Request:
        parts = {"groups": self.groups, "sign": self.sign, "pairs": pairs}
        return Request.of(self.lam, self.loss, l1=self.l1, **parts)


@dataclass(eq=False, repr=False)
class SurvivalModel(OrderedModel):
    def fit(
        self, X: object, y: object, event: object = None, callback: Callback | None = None
    ) -> Self:
        """Solve the problem of these rows.

        Parameters
        ----------
        X : array or sparse matrix (n, d)
        y : structured array (n,), or array (n,)
            scikit-survival's array of a field with the event and one with the time, or the times.
        event : bool array (n,), optional
            Where y holds times: whether the event was seen; by default all were.
        callback
            As in `solve`.

        Raises
        ------
        InputError
            As in `solve`, or if no two rows are comparable; scikit-learn's checks: `ValueError`.

        Warns
        -----
        ConvergenceWarning
            If the gap is not within `tol`; the gap in `certificate_` is valid all the same.
        """

        def ordered(n: int) -> tuple[OrderedPairs, np.ndarray]:
            times, seen = event_times(y, event)
            return survival_pairs(times, seen), seen

        return self._fit(X, y, ordered, callback)

    def score(self, X: object, y: object, event: object = None) -> float:
        """Return Harrell's C of the scores, as `concordance_index` does; y, event as in `fit`."""
        times, seen = event_times(y, event)
        return concordance_index(times, seen, self.predict(X)).value


@dataclass(eq=False, repr=False)
class SurvivalSVM(AtLam, SurvivalModel):
    """The linear survival support vector machine, solved with a proof of optimality.

    [Van Belle, Pelckmans, Suykens and Van Huffel, "Support vector machines for survival analysis",
    CIMED 2007; Poelsterl, Navab and Katouzian, ECML PKDD 2015]: minimise over w

        lam/2 |w|^2 + mean over comparable pairs of loss(w'x_i - w'x_j),

    where i is a row whose event was seen before the time of j, or at the time at which j was
    censored: the pairs of Harrell's C. Larger scores mean a higher risk. scikit-survival's
    `FastSurvivalSVM(alpha, rank_ratio=1)` has the squared hinge, alpha = 2 / (lam M) with M the
    number of pairs, and a `coef_` of the opposite sign.

    Parameters
    ----------
    loss : {"hinge", "squared_hinge", "square"} or Loss
    lam, tol, max_time, l1, groups, sign
        As in `solve`; `solution_.zeros_proved` says which weights are zero in every optimal model.

    Attributes
    ----------
    coef_ : array (n_features_in_,)
    certificate_, solution_, status_, n_iter_, history_, n_features_in_, feature_names_in_
        As in `ROCSVM`.
    """


@dataclass(eq=False, repr=False)
class SurvivalSVMCV(Searched, SurvivalModel):
    """`SurvivalSVM` with the lam of the highest cross-validated C, chosen as `ROCSVMCV` does.

    It also has the attributes `lam_` and `cv_path_` of `ROCSVMCV`, the latter of held-out C.

    Parameters
    ----------
    lams, n_lams, l1_ratio, choice, cv_tol, random_state, n_jobs
        As in `ROCSVMCV`.
    loss, tol, max_time, groups, sign
        As in `SurvivalSVM`; groups go with l1_ratio > 0.
    cv : int, splitter or iterable
        As in `cross_validated_path`; a splitter gets the events as y.
    """

    _: KW_ONLY
    n_jobs: int | None = None

    @property
    def expected_failed_checks(self) -> dict[str, str]:
        why = "nine of its ten rows have one time: in any folds, one has no comparable rows"
        return {"check_fit2d_1feature": why}

    def _request(self, rows: Any, pairs: OrderedPairs, seen: np.ndarray | None) -> Request:
        unit = unit_penalty(self.l1_ratio, self.groups, self.sign)
        asked = Request.of(None, self.loss, penalty=unit, pairs=pairs)
        options = Options(max_time=self.max_time, n_jobs=self.n_jobs)
        data = FoldedData(rows, None, asked, order=pairs, event=seen)
        return self._chosen(data, asked, options)


def event_times(y: object, event: object = None) -> tuple[np.ndarray, np.ndarray]:
    array = np.asarray(y)
    if array.dtype.names is None:
        if array.ndim == 2 and array.shape[1] == 1:
            array = array[:, 0]
        return as_survival(array, np.ones(array.shape) if event is None else event)
    if event is not None:
        raise InputError("a structured y contains the events: leave event out")
    kinds = {name: array.dtype[name].kind for name in array.dtype.names}
    events = [name for name, kind in kinds.items() if kind == "b"]
    times = [name for name, kind in kinds.items() if kind in "iuf"]
    if len(kinds) != 2 or len(events) != 1 or len(times) != 1:
        raise InputError(
            "a structured y needs one field of truth values, the event, and one of numbers, the "
            f"time; it has {', '.join(kinds)}"
        )
    return as_survival(array[times[0]], array[events[0]])


@dataclass(eq=False, repr=False)
class RankingSVM(AtLam):
    """The linear ranking SVM for any number of grades, solved with a proof of optimality.

    [Joachims, "Optimizing search engines using clickthrough data", KDD 2002]: minimise over w

        lam/2 |w|^2 + mean over pairs of loss(w'x_i - w'x_j),

    i of the larger grade and j in the same query. `ROCSVM` and `RankSVM` take two grades, too. Here
    lam, loss, tol, max_time, l1, groups, sign and all attributes are as in `SurvivalSVM`.
    """

    def fit(
        self, X: object, y: object, qid: object = None, callback: Callback | None = None
    ) -> Self:
        """Solve the problem of these rows.

        Parameters
        ----------
        X, callback
            As in `SurvivalSVM.fit`, like the errors.
        y : array (n,)
            Grades, the larger the better: some query has two.
        qid : array (n,), optional
            The query of each row, not the sizes of groups; by default all rows are one query.
        """
        return self._fit(X, y, lambda n: (query_pairs(_queries(qid, n), y), None), callback)

    def score(self, X: object, y: object, qid: object = None) -> float:
        """Return the share of the pairs that the scores order rightly, a tie counting one half."""
        scores = self.predict(X)
        return right_share(query_pairs(_queries(qid, scores.size), y), scores)


def _queries(qid: object, n: int) -> np.ndarray:
    return np.zeros(n, int) if qid is None else one_a_row(check_labels(qid, "qid"), n, "qid")
