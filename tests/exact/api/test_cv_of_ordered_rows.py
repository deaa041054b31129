"""Cross-validation of survival and of grades: each fold against a plain loop; refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from aucert.exact import (
    SurvivalSVM,
    SurvivalSVMCV,
    concordance_index,
    cross_validated_path,
    query_pairs,
    solve,
)
from aucert.exact.api.folds import FoldedData, RowOrder, split_rows
from aucert.exact.errors import InputError
from aucert.exact.pairs.concordance import right_share
from loops import each

RNG = np.random.default_rng(1)
N = 60
X = RNG.normal(size=(N, 3))
TIME = np.ceil(5 * RNG.exponential(np.exp(-X @ [1.0, 0.5, 0.0]))) / 2
EVENT = RNG.random(N) < 0.7
QID = RNG.permutation(np.repeat(np.arange(10), 6))
GRADE = np.clip(np.round(X[:, 0] + RNG.normal(size=N)) + 1, 0, 3)
LAMS = [0.3, 0.02]
SPLITS = list(KFold(3).split(X))


def structured(time: np.ndarray, event: np.ndarray) -> np.ndarray:
    y = np.empty(time.size, dtype=[("status", bool), ("days", float)])
    y["status"], y["days"] = event, time
    return y


@each("loss", ["hinge", "squared_hinge"])
def test_lam_is_that_of_a_plain_loop_over_folds_and_grid(loss: str) -> None:
    model = SurvivalSVMCV(LAMS, cv=SPLITS, loss=loss).fit(X, TIME, EVENT)
    table = np.array(
        [
            [
                SurvivalSVM(lam, loss=loss)
                .fit(X[train], TIME[train], EVENT[train])
                .score(X[test], TIME[test], EVENT[test])
                for lam in LAMS
            ]
            for train, test in SPLITS
        ]
    )
    path = model.cv_path_
    np.testing.assert_allclose(path.fold_auc, table, atol=5e-3)  # pairs within the gap of a tie
    assert (path.fold_low <= table + 1e-12).all() and (table <= path.fold_high + 1e-12).all()
    assert (path.fold_high - path.fold_low).max() < 0.3
    assert model.lam_ == LAMS[int(path.mean_auc.argmax())]
    again = SurvivalSVM(model.lam_, loss=loss).fit(X, TIME, EVENT)
    np.testing.assert_allclose(model.coef_, again.coef_, atol=1e-2)
    assert model.certificate_.reaches(1e-6)
    first = model.fit(X, structured(TIME, EVENT)).coef_
    np.testing.assert_array_equal(first, clone(model).fit(X, TIME, EVENT).coef_)


def test_a_grid_search_of_scikit_learn_chooses_the_same_lam() -> None:
    y = structured(TIME, EVENT)
    model = SurvivalSVMCV(LAMS, cv=SPLITS, loss="squared_hinge").fit(X, y)
    plain = SurvivalSVM(loss="squared_hinge")
    search = GridSearchCV(plain, {"lam": LAMS}, cv=SPLITS).fit(X, y)
    assert search.best_params_["lam"] == model.lam_
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"], model.cv_path_.mean_auc, atol=5e-3
    )
    pipe = make_pipeline(StandardScaler(), SurvivalSVMCV(LAMS, cv=3, random_state=0)).fit(X, y)
    assert pipe.score(X, y) == concordance_index(TIME, EVENT, pipe.predict(X)).value > 0.6


def test_an_l1_makes_zeros_that_are_proved() -> None:
    noisy = np.hstack([X, RNG.normal(size=(N, 6))])
    how: dict[str, Any] = {"loss": "squared_hinge", "cv": SPLITS}
    model = SurvivalSVMCV([0.5], l1_ratio=0.9, **how).fit(noisy, TIME, EVENT)
    zeros = model.solution_.zeros_proved
    assert zeros is not None and zeros.any() and not model.coef_[zeros].any()
    wanted = SurvivalSVM(0.05, l1=0.45, loss="squared_hinge").fit(noisy, TIME, EVENT)
    np.testing.assert_allclose(model.coef_, wanted.coef_, atol=1e-3)
    lasso = SurvivalSVMCV([0.2, 0.1], l1_ratio=1.0, sign="nonnegative", **how)
    path = lasso.fit(noisy, TIME, EVENT).cv_path_
    assert (lasso.coef_ >= 0).all() and lasso.certificate_.radius is None
    assert not path.fold_low.any() and (path.fold_high == 1).all()  # nothing bounds |w - w*|


@each("weight", [None, RNG.integers(0, 3, N)], ids=["plain", "weighted"])
def test_grades_are_cross_validated_within_queries(weight: np.ndarray | None) -> None:
    splits = list(GroupKFold(3).split(X, GRADE, QID))
    how: dict[str, Any] = {"loss": "squared_hinge"}
    found = cross_validated_path(X, GRADE, LAMS, cv=splits, qid=QID, sample_weight=weight, **how)
    r = np.ones(N) if weight is None else weight
    for k, (train, test) in enumerate(splits):
        train, test = train[r[train] > 0], test[r[test] > 0]
        for at, lam in enumerate(LAMS):
            more: dict[str, Any] = {"qid": QID[train], "sample_weight": r[train], "tol": 1e-6}
            s = X[test] @ solve(X[train], GRADE[train], lam, **more, **how).w
            above = (GRADE[test][:, None] > GRADE[test]) & (QID[test][:, None] == QID[test])
            mass = above * np.outer(r[test], r[test])
            right = np.sum(mass * (np.sign(s[:, None] - s) + 1) / 2) / mass.sum()
            assert found.fold_auc[k, at] == pytest.approx(right, abs=1e-12)
            assert found.fold_low[k, at] <= right <= found.fold_high[k, at]


def test_a_number_of_folds_keeps_queries_whole_and_the_default_grid_is_that_of_all_rows() -> None:
    found = cross_validated_path(X, GRADE, n_lams=3, cv=4, qid=QID, loss="squared_hinge")
    assert found.fold_auc.shape == (4, 3) and found.complete
    lam = found.lam_of("best")
    model = solve(X, GRADE, lam, qid=QID, loss="squared_hinge")
    assert right_share(query_pairs(QID, GRADE), X @ model.w) > 0.6


def test_folds_of_survival_share_the_events_out() -> None:
    few = np.arange(N) < 6
    for event, even in ((few, True), (np.ones(N, dtype=bool), False)):
        data = FoldedData(X, None, None, False, order=RowOrder.of_times(TIME, event))
        splits = split_rows(data, 3, 0)
        assert sorted(np.concatenate([test for _, test in splits])) == list(range(N))
        shares = {int(event[test].sum()) for _, test in splits}
        assert not even or shares == {2}


def test_two_kinds_of_grades_are_two_classes() -> None:
    y = (GRADE > 1).astype(int)
    first = cross_validated_path(X, y, LAMS, cv=3, qid=QID, loss="square")
    turned = cross_validated_path(X, y, LAMS, cv=3, qid=QID, loss="square", positive=0)
    np.testing.assert_allclose(first.fold_auc, turned.fold_auc, atol=1e-12)


@each(
    ("y", "more", "why"),
    [
        (GRADE, {"qid": QID, "positive": 2}, "two"),
        (GRADE, {"qid": QID[:-1]}, "qid of shape"),
        (GRADE[:-1], {"qid": QID}, "y of shape"),
        (GRADE, {"qid": QID, "cv": 11}, "10 queries: use at most 10"),
        (GRADE, {"qid": QID, "cv": SPLITS}, "cuts query"),
        (GRADE, {"qid": np.arange(N)}, "no query with rows of different grades"),
        (GRADE, {"qid": QID, "structure": 1.0}, "kinds of rows"),
        (None, {"event": EVENT}, "event goes with time"),
        (GRADE, {"time": TIME, "event": EVENT}, "leave y, qid"),
        (None, {"time": TIME, "event": EVENT, "cv": "five"}, "cv must be"),
        (None, {"time": TIME[:-1], "event": EVENT}, "event"),
        (None, {"time": np.ones(N), "event": TIME > 0, "cv": 4}, "no two comparable rows"),
        (None, {"time": TIME, "event": np.arange(N) < 1}, "no two folds"),
    ],
)
def test_what_makes_no_sense_is_refused(y: Any, more: dict, why: str) -> None:
    asked: dict[str, Any] = {"cv": 3} | more
    with pytest.raises(InputError, match=why):
        cross_validated_path(X, y, LAMS, **asked)


def test_there_are_no_more_folds_than_rows_with_an_event() -> None:
    seen = np.isin(np.arange(N), np.argsort(TIME)[:4])
    with pytest.warns(UserWarning, match="4 of them with an event: 4 folds"):
        path = cross_validated_path(X, None, LAMS, time=TIME, event=seen)
    assert path.fold_auc.shape == (4, len(LAMS))


def test_a_wrong_choice_of_the_estimator_is_refused() -> None:
    for model, why in (
        (SurvivalSVMCV(choice="worst"), "choice must be"),
        (SurvivalSVMCV(cv_tol=-1.0), "cv_tol"),
        (SurvivalSVMCV(groups=[0, 0, 1]), "l1_ratio > 0"),
        (SurvivalSVMCV(l1_ratio=2.0), "l1_ratio"),
    ):
        with pytest.raises(InputError, match=why):
            model.fit(X, TIME, EVENT)
    with pytest.raises(InputError, match="SurvivalSVMCV requires y"):
        SurvivalSVMCV().fit(X, None)
