"""Cross-validation along the path: fold by fold against plain loops, and honest ranges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import aucert.exact.api.cross_validation as path_selection
import aucert.exact.spaces.factor as many_features
from aucert.exact import (
    ROCSVM,
    ROCSVMCV,
    CVPath,
    SurvivalSVM,
    SurvivalSVMCV,
    cross_validated_path,
    query_pairs,
    regularization_path,
    solve,
)
from aucert.exact.api.folds import FoldedData, RowOrder, make_splits, split_rows
from aucert.exact.formulation.formulation import formulate
from aucert.exact.formulation.request import Request
from aucert.exact.pairs.auc import auc
from aucert.exact.pairs.concordance import right_share
from aucert.exact.solvers.choose import choose_solver
from aucert.exact.spaces.factor import DENSE_LIMIT
from aucert.exact.spaces.gram import Gram
from aucert.exact.spaces.kernels import Gaussian
from loops import each, first_fast

RNG = np.random.default_rng(2)
Y = (np.arange(90) % 3 == 0).astype(int)
X = RNG.normal(size=(90, 3)) + 0.5 * Y[:, None]
LAMS = [1.0, 0.03, 0.001]


def exact_auc(train, test, lam, weight=None, **options) -> float:
    """AUC on held-out rows of the optimum, by separate steps."""
    part = None if weight is None else weight[train]
    made = solve(X[train], Y[train], lam, tol=1e-12, sample_weight=part, **options)
    scores = formulate(X[train], Y[train], Request.of(lam, **options)).scorer(made.w)(X[test])
    return auc(scores, Y[test] == 1, None if weight is None else weight[test])


@each(
    "options", [{}, {"loss": "squared_hinge"}, {"kernel": "rbf", "loss": "squared_hinge"}], ids=str
)
@each("weighted", [False, True])
def test_the_exact_optimum_of_each_fold_has_an_auc_within_the_range(options, weighted) -> None:
    weight = 1.0 + np.arange(90) % 4 if weighted else None
    found = cross_validated_path(
        X, Y, LAMS, cv=3, seed=5, tol=0.05, sample_weight=weight, **options
    )
    exact = [
        [exact_auc(train, test, lam, weight, **options) for lam in LAMS]
        for train, test in make_splits(3, X, Y == 1, 5)
    ]
    assert (found.fold_low <= exact).all() and (exact <= found.fold_high).all()
    assert (found.fold_low <= found.fold_auc).all() and (found.fold_auc <= found.fold_high).all()
    assert (found.fold_gap <= 0.05).all() and found.complete
    if options.get("loss") != "squared_hinge":  # whose steps end far below the tolerance
        assert (found.fold_auc != exact).any() and (found.fold_high > found.fold_low).any()


def test_weights_are_repetitions_in_given_folds() -> None:
    weight = np.arange(90) % 3
    fold = np.arange(90) % 2
    splits = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(2)]
    whole = np.repeat(np.arange(90), weight)
    again = [(np.flatnonzero(fold[whole] != f), np.flatnonzero(fold[whole] == f)) for f in range(2)]
    y = (RNG.random(90) < 0.4).astype(int)
    options = {"loss": "squared_hinge", "tol": 1e-11}
    weighted = cross_validated_path(X, y, LAMS, cv=splits, sample_weight=weight, **options)
    repeated = cross_validated_path(X[whole], y[whole], LAMS, cv=again, **options)
    np.testing.assert_allclose(weighted.fold_auc, repeated.fold_auc, rtol=1e-10)


def table(fold_auc, width=0.0) -> CVPath:
    values = np.array(fold_auc, dtype=float)
    lams = np.geomspace(1, 0.1, values.shape[1])
    return CVPath(lams, values, values - width, values + width, values * 0, True)


def test_best_and_one_standard_error_by_hand() -> None:
    # means 0.6, 0.7, 0.75, 0.7; the best has deviations 0.1 of three: se = 0.1 / sqrt(3) = 0.058
    found = table([[0.6, 0.7, 0.65, 0.7], [0.6, 0.7, 0.75, 0.7], [0.6, 0.7, 0.85, 0.7]])
    np.testing.assert_allclose(found.mean_auc, [0.6, 0.7, 0.75, 0.7])
    np.testing.assert_allclose(found.standard_error, [0, 0, 0.1 / np.sqrt(3), 0], atol=1e-15)
    assert (found.best, found.one_standard_error) == (2, 1)
    assert found.lam_of("best") == found.lams[2] and found.lam_of("one-se") == found.lams[1]


def test_a_lam_is_rejected_only_if_another_is_better_whatever_the_solver_left_open() -> None:
    means = [[0.6, 0.7, 0.75], [0.6, 0.7, 0.75]]
    assert table(means, 0.0).possible.tolist() == [False, False, True]
    assert table(means, 0.026).possible.tolist() == [False, True, True]
    assert table(means, 0.1).possible.tolist() == [True, True, True]


def test_when_the_time_is_over_the_lam_that_all_folds_have_are_kept() -> None:
    found = cross_validated_path(X, Y, LAMS, cv=3, max_time=1e-9)
    assert not found.complete and found.lams.tolist() == [1.0]
    assert found.fold_auc.shape == (3, 1)


def test_an_interrupt_in_a_fold_ends_all_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def once(*arguments: Any) -> Any:
        calls.append(1)
        if len(calls) == 2:  # at the second lam of the first fold
            raise KeyboardInterrupt
        return choose_solver(*arguments)

    monkeypatch.setattr("aucert.exact.api.path.choose_solver", once)
    with pytest.raises(KeyboardInterrupt):
        cross_validated_path(X, Y, LAMS, cv=3)
    assert len(calls) == 2


def test_folds_are_stratified_and_follow_the_seed() -> None:
    first, same, other = (make_splits(3, X, Y == 1, seed) for seed in (0, 0, 1))
    for (_, a), (_, b) in zip(first, same, strict=True):
        np.testing.assert_array_equal(a, b)
        assert Y[a].sum() == 10
    assert any(not np.array_equal(a, b) for (_, a), (_, b) in zip(first, other, strict=True))


ORNG = np.random.default_rng(1)
N = 60
OX = ORNG.normal(size=(N, 3))
TIME = np.ceil(5 * ORNG.exponential(np.exp(-OX @ [1.0, 0.5, 0.0]))) / 2
EVENT = ORNG.random(N) < 0.7
OQID = ORNG.permutation(np.repeat(np.arange(10), 6))
GRADE = np.clip(np.round(OX[:, 0] + ORNG.normal(size=N)) + 1, 0, 3)
OLAMS = [0.3, 0.02]
SPLITS = list(KFold(3).split(OX))


def structured(time: np.ndarray, event: np.ndarray) -> np.ndarray:
    y = np.empty(time.size, dtype=[("status", bool), ("days", float)])
    y["status"], y["days"] = event, time
    return y


@each("loss", ["hinge", "squared_hinge"])
def test_lam_is_that_of_a_plain_loop_over_folds_and_grid(loss: str) -> None:
    model = SurvivalSVMCV(OLAMS, cv=SPLITS, loss=loss).fit(OX, TIME, EVENT)
    table = np.array(
        [
            [
                SurvivalSVM(lam, loss=loss)
                .fit(OX[train], TIME[train], EVENT[train])
                .score(OX[test], TIME[test], EVENT[test])
                for lam in OLAMS
            ]
            for train, test in SPLITS
        ]
    )
    path = model.cv_path_
    np.testing.assert_allclose(path.fold_auc, table, atol=5e-3)  # pairs within the gap of a tie
    assert (path.fold_low <= table + 1e-12).all() and (table <= path.fold_high + 1e-12).all()
    assert (path.fold_high - path.fold_low).max() < 0.3
    assert model.lam_ == OLAMS[int(path.mean_auc.argmax())]
    again = SurvivalSVM(model.lam_, loss=loss).fit(OX, TIME, EVENT)
    np.testing.assert_allclose(model.coef_, again.coef_, atol=1e-2)
    assert model.certificate_.reaches(1e-6)
    first = model.fit(OX, structured(TIME, EVENT)).coef_
    np.testing.assert_array_equal(first, clone(model).fit(OX, TIME, EVENT).coef_)


@each("weight", [None, ORNG.integers(0, 3, N)], ids=["plain", "weighted"])
def test_grades_are_cross_validated_within_queries(weight: np.ndarray | None) -> None:
    splits = list(GroupKFold(3).split(OX, GRADE, OQID))
    how: dict[str, Any] = {"loss": "squared_hinge"}
    found = cross_validated_path(OX, GRADE, OLAMS, cv=splits, qid=OQID, sample_weight=weight, **how)
    r = np.ones(N) if weight is None else weight
    for k, (train, test) in enumerate(splits):
        train, test = train[r[train] > 0], test[r[test] > 0]
        for at, lam in enumerate(OLAMS):
            more: dict[str, Any] = {"qid": OQID[train], "sample_weight": r[train], "tol": 1e-6}
            s = OX[test] @ solve(OX[train], GRADE[train], lam, **more, **how).w
            above = (GRADE[test][:, None] > GRADE[test]) & (OQID[test][:, None] == OQID[test])
            mass = above * np.outer(r[test], r[test])
            right = np.sum(mass * (np.sign(s[:, None] - s) + 1) / 2) / mass.sum()
            assert found.fold_auc[k, at] == pytest.approx(right, abs=1e-12)
            assert found.fold_low[k, at] <= right <= found.fold_high[k, at]


def test_folds_of_survival_share_the_events_out() -> None:
    few = np.arange(N) < 6
    for event, even in ((few, True), (np.ones(N, dtype=bool), False)):
        data = FoldedData(OX, None, None, False, order=RowOrder.of_times(TIME, event))
        splits = split_rows(data, 3, 0)
        assert sorted(np.concatenate([test for _, test in splits])) == list(range(N))
        shares = {int(event[test].sum()) for _, test in splits}
        assert not even or shares == {2}


def test_there_are_no_more_folds_than_rows_with_an_event() -> None:
    seen = np.isin(np.arange(N), np.argsort(TIME)[:4])
    with pytest.warns(UserWarning, match="4 of them with an event: 4 folds"):
        path = cross_validated_path(OX, None, OLAMS, time=TIME, event=seen)
    assert path.fold_auc.shape == (4, len(OLAMS))


QRNG = np.random.default_rng(3)
QID = QRNG.permutation(np.repeat(np.arange(9), 6))
QY = QRNG.random(54) < 0.4
QX = QRNG.normal(size=(54, 2)) + 0.8 * QY[:, None] + 5.0 * (QID % 3)[:, None]
QLAMS = [0.3, 0.02]


def test_the_estimator_chooses_within_queries_and_keeps_queries_whole() -> None:
    model = ROCSVMCV(QLAMS, cv=3, random_state=0, loss="squared_hinge").fit(QX, QY, qid=QID)
    path = model.cv_path_
    assert path.fold_auc.shape == (3, 2) and path.mean_auc.min() > 0.55
    again = ROCSVM(model.lam_, loss="squared_hinge").fit(QX, QY, qid=QID)
    np.testing.assert_array_equal(model.coef_, again.coef_)
    share = right_share(query_pairs(QID, QY.astype(float)), model.decision_function(QX))
    assert share > right_share(query_pairs(np.zeros(54), QY.astype(float)), QX[:, 0])
    assert not hasattr(model, "_queries") or model._queries is None


def test_metadata_routing_hands_the_queries_on() -> None:
    alone = ROCSVMCV(QLAMS, cv=3, random_state=0, loss="squared_hinge")
    wanted = alone.fit(StandardScaler().fit_transform(QX), QY, qid=QID).coef_
    with sklearn.config_context(enable_metadata_routing=True):
        asked = ROCSVMCV(QLAMS, cv=3, random_state=0, loss="squared_hinge").set_fit_request(
            qid=True
        )
        pipe = make_pipeline(StandardScaler(), asked).fit(QX, QY, qid=QID)
    np.testing.assert_array_equal(pipe[-1].coef_, wanted)


KRNG = np.random.default_rng(7)
KX = KRNG.normal(size=(120, 4))
KY = KX[:, 0] * KX[:, 1] + 0.5 * KRNG.normal(size=120) > 0.2
KX[5], KX[17] = KX[6], KX[3]  # equal rows, of one class or of two
KLAMS = [0.3, 0.01, 1e-4]
GAUSSIAN = {"kernel": "rbf", "gamma": 0.4}


def plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let kernels be left as they are however few rows there are."""
    monkeypatch.setattr(many_features, "PLAIN_FROM", 1)
    monkeypatch.setattr(many_features, "NEARLY_ALL", 0.0)


def test_a_part_is_the_space_of_those_rows_alone() -> None:
    index = np.array([3, 4, 50, 7])
    part, alone = Gram.of_kernel(Gaussian(0.4), KX).part(index), Gram(Gaussian(0.4)(KX, KX)).K
    np.testing.assert_array_equal(part.K, alone[index][:, index])
    own = Gram.of_kernel(Gaussian(0.4), KX[index])
    c = KRNG.normal(size=4)
    assert part.n == part.dim == 4 and part.reach == own.reach
    np.testing.assert_allclose(part.scores(c), own.scores(c), rtol=1e-13)
    assert part.norm2(c) == pytest.approx(own.norm2(c), rel=1e-13)
    assert part.norm2_error(c) >= own.norm2_error(c) > 0


@pytest.mark.slow
@each("weighted", [False, True])
@each("structure", first_fast([1.5, 0.0]))
def test_folds_cut_from_one_matrix_are_the_folds_alone(
    monkeypatch: pytest.MonkeyPatch, structure: float, weighted: bool
) -> None:
    weight = np.arange(120.0) % 4 if weighted else None
    how: dict[str, Any] = {"cv": 3, "tol": 1e-9, "structure": structure, "sample_weight": weight}
    shared = cross_validated_path(KX, KY, KLAMS, **how, **GAUSSIAN)
    monkeypatch.setattr(path_selection, "SHARED_ROWS", 0)
    alone = cross_validated_path(KX, KY, KLAMS, **how, **GAUSSIAN)
    np.testing.assert_allclose(shared.fold_auc, alone.fold_auc, atol=2e-3)
    for one, other in ((shared, alone), (alone, shared)):
        assert (one.fold_low <= other.fold_high).all()
        assert (one.fold_gap <= 1e-9).all()


@pytest.mark.slow
@each("limit", [DENSE_LIMIT, 0])
def test_a_path_over_a_plain_kernel_is_the_cold_solution_at_each_lam(
    monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    cold = [solve(KX, KY, lam, tol=1e-11, **GAUSSIAN).certificate for lam in KLAMS]
    plainly(monkeypatch)
    monkeypatch.setattr("aucert.exact.formulation.formulation.DENSE_LIMIT", limit)
    path = regularization_path(KX, KY, KLAMS, tol=1e-9, **GAUSSIAN)
    for point, known in zip(path.points, cold, strict=True):
        held = point.certificate
        assert held.reaches(1e-9) and point.solution.method == "descent"
        assert held.dual <= known.primal
        assert known.dual <= held.primal


FRNG = np.random.default_rng(3)
FX = FRNG.normal(size=(40, 2))
FY = (FX[:, 0] + FRNG.normal(size=40) > 0).astype(int)


@pytest.mark.slow
def test_several_processes_give_the_same_model() -> None:
    one, two = (ROCSVMCV([1.0, 0.1], cv=2, n_jobs=n, random_state=0).fit(FX, FY) for n in (None, 2))
    assert two.lam_ == one.lam_
    np.testing.assert_allclose(two.cv_path_.fold_auc, one.cv_path_.fold_auc)
    np.testing.assert_allclose(two.coef_, one.coef_, rtol=1e-6)
