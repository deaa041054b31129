"""A path is the cold solutions at each lam; along it, cross-validation fold by fold."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, StratifiedKFold

import aucert.exact as ac
import aucert.exact.api.cross_validation as path_selection
from aucert.exact import cross_validated_path, regularization_path
from aucert.exact.api.cross_validation import FoldedData, make_splits, split_rows
from aucert.exact.api.path import lam_grid, largest_lam
from aucert.exact.certificate import order as spread
from aucert.exact.formulation.formulation import formulate
from aucert.exact.formulation.request import Request
from aucert.exact.pairs.auc import auc
from cutting import CUTS, cut, cut_groups, queried_rows, some_rows
from loops import each, first_fast, refuses
from ordered_naive import naive_ordered, naive_survival

RNG = np.random.default_rng(11)
Y = (np.arange(90) % 3 == 0).astype(int)
X = RNG.normal(size=(90, 4)) + np.array([0.8, 0.0, 0.0, -0.4]) * Y[:, None]
LAMS = np.geomspace(1.0, 1e-4, 4)
GROUPS = ["a", "a", "b", "b"]
OPTIONS: list[dict[str, Any]] = [
    {"loss": "hinge"},
    {"loss": "squared_hinge"},
    {"loss": "square"},
    {"loss": "hinge", "structure": 4.0},
    {"loss": "squared_hinge", "kernel": "rbf", "gamma": 0.3},
    {"loss": "hinge", "kernel": "laplacian", "structure": 1.0},
    {"loss": "hinge", "sample_weight": 1.0 + np.arange(90) % 3},
    {"loss": "hinge", "positive": 0},
]
PENALTIES: list[dict[str, Any]] = [
    {"l1_ratio": 1.0},
    {"l1_ratio": 0.5, "groups": GROUPS},
    {"l1_ratio": 0.3, "sign": "nonnegative"},
    {"l1_ratio": 0.0, "sign": [0, 3]},
]


def assert_same_optima(one: ac.Path, other: list[Any], room: float = 0.0) -> None:
    """Each optimum is between both bounds: objectives differ by the certified gaps at most."""
    for near, far in zip(one.points, other, strict=True):
        a, b = near.certificate, far.certificate
        assert near.solution.status == ac.Status.CERTIFIED
        assert abs(a.primal - b.primal) <= a.gap + b.gap + room * a.primal
        assert max(a.dual, b.dual) <= min(a.primal, b.primal) + room * a.primal


def asked(lam: float, l1_ratio: float, **more: object) -> dict[str, Any]:
    """What `solve` calls the penalty of a point."""
    return {"lam": lam * (1 - l1_ratio), "l1": lam * l1_ratio, **more}


@each("options", OPTIONS, ids=lambda options: "-".join(options))
def test_each_point_is_the_cold_solution_within_the_certified_gaps(options: dict) -> None:
    path = regularization_path(X, Y, LAMS, tol=1e-7, **options)
    assert path.complete and path.lams.tolist() == LAMS.tolist()
    cold = [ac.solve(X, Y, lam, tol=1e-7, **options) for lam in LAMS]
    assert_same_optima(path, cold)
    shape = {k: v for k, v in options.items() if k != "sample_weight"}
    space = formulate(X, Y, Request.of(1.0, **shape)).meant.space
    for point, other in zip(path.points, cold, strict=True):
        radius = point.certificate.radius + other.certificate.radius
        assert space.norm2(point.solution.w - other.w) ** 0.5 <= radius


@each("case", PENALTIES, ids=str)
def test_so_is_each_point_of_another_penalty_whose_grid_begins_at_zero(case: dict) -> None:
    how: Any = {"loss": "squared_hinge", "tol": 1e-6}
    path = regularization_path(X, Y, [0.02, 0.1], **how, **case)
    assert path.complete and path.lams.tolist() == [0.1, 0.02]
    alone = [ac.solve(X, Y, **how, **asked(lam, **case)) for lam in path.lams]
    assert_same_optima(path, alone, 1e-12)
    for point, other in zip(path.points, alone, strict=True):
        assert (point.solution.zeros_proved is None) == (other.zeros_proved is None)
    if case["l1_ratio"] > 0:  # the grid begins where the weights leave zero
        path = regularization_path(X, Y, n_lams=3, tol=1e-6, **case)
        np.testing.assert_allclose(path.points[0].solution.w, 0, atol=1e-9)
        assert path.lams[-1] == pytest.approx(1e-3 * path.lams[0])
        below = ac.solve(X, Y, tol=1e-7, **asked(0.9 * path.lams[0], **case))
        assert np.abs(below.w).max() > 1e-3


def test_numbers_of_a_path_are_those_of_its_points() -> None:
    path, new = regularization_path(X, Y, LAMS), RNG.normal(size=(7, 4))
    for k, point in enumerate(path.points):
        np.testing.assert_array_equal(path.weights[k], point.solution.w)
        assert path.gaps[k] == point.certificate.gap
        assert path.aucs[k] == auc(X @ point.solution.w, Y == 1)
        expected = pytest.approx((new - X.mean(axis=0)) @ point.solution.w, rel=1e-12, abs=1e-14)
        assert path.scores(new)[k] == expected


@each("listed", [False, True])
@each("structure", [0.0, 2.0])
def test_from_the_largest_lam_on_the_hinge_only_shrinks(listed: bool, structure: float) -> None:
    pairs = ac.PairList(np.array([0, 3, 6]), np.array([1, 2, 4])) if listed else None
    problem = formulate(X, Y, Request.of(1.0, pairs=pairs, structure=structure)).work
    top = largest_lam(problem)
    options = {"pairs": pairs, "structure": structure, "tol": 1e-12}
    at, above = (ac.solve(X, Y, lam, **options) for lam in (top, 3 * top))
    reach = at.certificate.radius + 3 * above.certificate.radius
    assert np.linalg.norm(3 * above.w - at.w) <= reach < 1e-4
    below = ac.solve(X, Y, top / 3, **options).w
    assert np.abs(below - 3 * at.w).max() > 1e-3 * np.abs(at.w).max()


def test_the_default_grid_starts_there_and_falls_evenly_to_a_share() -> None:
    problem = ac.linear_problem(X, Y, 1.0)
    path = regularization_path(X, Y, n_lams=5, loss="squared_hinge")
    np.testing.assert_array_equal(path.lams, lam_grid(problem, 5))
    assert path.lams[0] == largest_lam(problem)
    np.testing.assert_allclose(path.lams[1:] / path.lams[:-1], 10**-1.25, rtol=1e-12)
    mirrored, y = np.concatenate([X, X]), np.arange(180) < 90  # classes of one mean
    path = regularization_path(mirrored, y, n_lams=3)
    assert path.complete and (path.weights == 0).all()
    path = regularization_path(np.ones((6, 2)), [0, 1] * 3, n_lams=3)
    assert path.lams[0] == 1.0 and (path.weights == 0).all()


def test_out_of_time_and_interrupted_the_points_so_far_are_returned_with_valid_gaps(monkeypatch):
    path = regularization_path(X, Y, LAMS, max_time=1e-9)
    assert not path.complete and len(path.points) == 1
    certificate = path.points[0].certificate
    best = ac.solve(X, Y, LAMS[0], tol=1e-10).certificate.primal
    assert certificate.dual <= best <= certificate.primal
    cut = cross_validated_path(CV_X, CV_Y, [1.0, *CV_LAMS], cv=3, max_time=1e-9)
    assert not cut.complete and cut.lams.tolist() == [1.0] and cut.fold_auc.shape == (3, 1)

    def stop_at_second(point: ac.PathPoint) -> None:
        if point.lam == LAMS[1]:
            interrupted = Mock(side_effect=KeyboardInterrupt)
            monkeypatch.setattr("aucert.exact.api.path.choose_solver", interrupted)

    path = regularization_path(X, Y, LAMS, callback=stop_at_second)
    assert path.lams.tolist() == LAMS[:2].tolist() and not path.complete
    with pytest.raises(KeyboardInterrupt):
        regularization_path(X, Y, LAMS)


@each("places", [[], [60, 60, 120]])
@each("weighted", [False, True])
@each("loss", ["hinge", "logistic"])
def test_queries_have_the_path_in_memory(places: list[int], weighted: bool, loss: str) -> None:
    X, query, grade, weight = queried_rows(160, 20, weighted)
    grade[60:120] = 1.0  # a partition without a pair
    X[[64, 100]] += 100.0  # these are in no pair, and the grid knows nothing of them
    rows = ac.GroupedRows(cut_groups(X, query, grade, weight, places))
    how: dict[str, Any] = {"n_lams": 4, "loss": loss}
    apart = regularization_path(rows, None, tol=1e-6, **how)
    held = regularization_path(X, grade, tol=1e-8, qid=query, sample_weight=weight, **how)
    np.testing.assert_allclose(apart.lams, held.lams, rtol=1e-9)
    assert_same_optima(apart, held.points, 1e-8)  # lam differ in the last digits
    np.testing.assert_allclose(apart.aucs, held.aucs, atol=5e-3)  # some 500 pairs: a few may turn


@each("weighted", [False, True])
def test_the_auc_of_many_rows_is_within_a_step(weighted: bool, monkeypatch) -> None:
    X, y = some_rows()
    X = np.round(X)  # many ties
    weight = np.random.default_rng(0).random(1200) if weighted else None
    rows, w = ac.PartitionedRows(cut(X, y, weight, [300, 700])), np.array([1.0, 0.5, -2.0])
    expected = auc(X @ w, y, weight)
    assert spread.auc_of(rows, w) == pytest.approx(expected, abs=1e-13)
    monkeypatch.setattr(spread, "FETCHED_ROWS", 1199)
    low, high = spread.counted_scores(rows, w).auc_range()
    assert low < expected < high and spread.auc_of(rows, w) == (low + high) / 2


CV_RNG = np.random.default_rng(2)
N = 90
CV_Y = (np.arange(N) % 3 == 0).astype(int)
CV_X = CV_RNG.normal(size=(N, 3)) + 0.5 * CV_Y[:, None]
TIME = np.ceil(5 * CV_RNG.exponential(np.exp(-CV_X @ [1.0, 0.5, 0.0]))) / 2
EVENT = CV_RNG.random(N) < 0.7
QID = CV_RNG.permutation(np.repeat(np.arange(9), 10))
GRADE = np.clip(np.round(CV_X[:, 0] + CV_RNG.normal(size=N)) + 1, 0, 3)
CV_LAMS = [0.3, 0.02]
SKSURV = [("status", bool), ("days", float)]  # as scikit-survival has y


def assert_ranges_meet(one: ac.CVPath, other: ac.CVPath, tol: float = 1e-6) -> None:
    """Both say where the AUC of the optimum of each fold is."""
    assert (one.fold_low <= other.fold_high).all() and (other.fold_low <= one.fold_high).all()
    for path in (one, other):
        assert (path.fold_low <= path.fold_auc).all() and (path.fold_auc <= path.fold_high).all()
        assert (path.fold_gap <= tol).all() and path.complete


REPEATED = CV_RNG.integers(1, 4, N)
KINDS: dict[str, dict[str, Any]] = {
    "classes": {"y": CV_Y},
    "weights": {"y": CV_Y, "sample_weight": REPEATED},
    "kernel": {"y": CV_Y, "kernel": "rbf", "gamma": 0.3},
    "survival": {"y": None, "time": TIME, "event": EVENT},
    "queries": {"y": GRADE, "qid": QID},
    "weighted queries": {"y": GRADE, "qid": QID, "sample_weight": REPEATED},
}


def of_rows(asked: dict[str, Any], rows: np.ndarray) -> dict[str, Any]:
    return {k: v[rows] if isinstance(v, np.ndarray) else v for k, v in asked.items()}


def share_right(scores: np.ndarray, held: dict[str, Any]) -> float:
    weight = held.get("sample_weight")
    if "time" in held:
        true = naive_survival(held["time"], held["event"])
    else:
        true = naive_ordered(held.get("qid"), held["y"], weight, weight)
    signs = np.sign(scores[true.i] - scores[true.j])
    return float(np.array(true.weight, dtype=float) @ (1 + signs) / 2)


@each("loss", ["hinge", "squared_hinge"])
@each("kind", KINDS)
def test_the_auc_of_the_optimum_of_each_fold_is_within_its_range(kind: str, loss: str) -> None:
    splits, asked = list(GroupKFold(3).split(CV_X, groups=QID)), KINDS[kind]
    rough = cross_validated_path(CV_X, lams=CV_LAMS, cv=splits, tol=0.05, loss=loss, **asked)
    tight = cross_validated_path(CV_X, lams=CV_LAMS, cv=splits, tol=1e-8, loss=loss, **asked)
    for k, (train, test) in enumerate(splits):
        held = of_rows(asked, test)
        kernel = {k: asked[k] for k in ("kernel", "gamma") if k in asked}
        for at, lam in enumerate(CV_LAMS):
            w = ac.solve(CV_X[train], lam=lam, loss=loss, tol=1e-8, **of_rows(asked, train)).w
            task = formulate(CV_X[train], CV_Y[train], Request.of(lam, **kernel))
            right = share_right(task.evaluate(w, CV_X[test]), held)
            for found in (rough, tight):
                assert found.fold_low[k, at] - 1e-12 <= right <= found.fold_high[k, at] + 1e-12
            assert tight.fold_auc[k, at] == pytest.approx(right, abs=5e-3)
    assert_ranges_meet(rough, tight, 0.05)
    if loss == "hinge":  # the steps of the other one end far below the tolerance
        assert (rough.fold_high > rough.fold_low).any()


def test_best_and_one_standard_error_by_hand() -> None:
    def table(fold_auc: Any, width: float = 0.0) -> ac.CVPath:
        values = np.array(fold_auc, dtype=float)
        lams = np.geomspace(1, 0.1, values.shape[1])
        return ac.CVPath(lams, values, values - width, values + width, values * 0, True)

    # means 0.6, 0.7, 0.75, 0.7; the best has deviations 0.1 of three: se = 0.1 / sqrt(3) = 0.058
    found = table([[0.6, 0.7, 0.65, 0.7], [0.6, 0.7, 0.75, 0.7], [0.6, 0.7, 0.85, 0.7]])
    np.testing.assert_allclose(found.mean_auc, [0.6, 0.7, 0.75, 0.7])
    np.testing.assert_allclose(found.standard_error, [0, 0, 0.1 / np.sqrt(3), 0], atol=1e-15)
    assert (found.best, found.one_standard_error) == (2, 1)
    assert found.lam_of("best") == found.lams[2] and found.lam_of("one-se") == found.lams[1]
    # A lam is rejected only if another is better, for any optimum in its range.
    means = [[0.6, 0.7, 0.75], [0.6, 0.7, 0.75]]
    for width, possible in ((0, [0, 0, 1]), (0.026, [0, 1, 1]), (0.1, [1, 1, 1])):
        assert table(means, width).possible.tolist() == [bool(one) for one in possible]


def test_folds_are_stratified_follow_the_seed_and_share_the_events_out() -> None:
    first, same, other = (make_splits(3, CV_X, CV_Y == 1, seed) for seed in (0, 0, 1))
    for (_, a), (_, b) in zip(first, same, strict=True):
        np.testing.assert_array_equal(a, b)
        assert CV_Y[a].sum() == 10
    assert any(not np.array_equal(a, b) for (_, a), (_, b) in zip(first, other, strict=True))
    for event, even in ((np.arange(N) < 6, True), (np.ones(N, dtype=bool), False)):
        order = ac.survival_pairs(TIME, event)
        data = FoldedData(CV_X, None, Request.of(1.0), order=order, event=event)
        splits = split_rows(data, 3, 0)
        assert sorted(np.concatenate([test for _, test in splits])) == list(range(N))
        assert not even or {int(event[test].sum()) for _, test in splits} == {2}


def test_there_are_no_more_folds_than_events_or_rows_of_a_class() -> None:
    seen = np.isin(np.arange(N), np.argsort(TIME)[:4])
    with pytest.warns(UserWarning, match="4 of them with an event: 4 folds"):
        path = cross_validated_path(CV_X, None, CV_LAMS, time=TIME, event=seen)
    assert path.fold_auc.shape == (4, 2)
    few = np.r_[np.flatnonzero(CV_Y)[:3], np.flatnonzero(1 - CV_Y)]
    with pytest.warns(UserWarning, match="3 rows: 3 folds") as said:
        model = ac.ROCSVMCV(CV_LAMS).fit(CV_X[few], CV_Y[few])
    assert len(said) == 1 and model.cv_path_.fold_auc.shape == (3, 2)
    refuses("no two folds", ac.ROCSVMCV(CV_LAMS).fit, CV_X[few[2:]], CV_Y[few[2:]])


@each("choice", ["best", "one-se"])
def test_lam_is_that_of_a_plain_loop_over_folds_and_grid(choice: str) -> None:
    lams, splits = [1.0, 0.1, 0.001], list(StratifiedKFold(3).split(CV_X, CV_Y))
    model = ac.ROCSVMCV(lams, cv=splits, choice=choice).fit(CV_X, CV_Y)

    def held_out(lam: float, train: np.ndarray, test: np.ndarray, **asked: Any) -> float:
        model = ac.ROCSVM(lam, **asked).fit(CV_X[train], CV_Y[train])
        return roc_auc_score(CV_Y[test], model.decision_function(CV_X[test]))

    table = [[held_out(lam, *both) for lam in lams] for both in splits]
    np.testing.assert_allclose(model.cv_path_.fold_auc, table, rtol=1e-12)
    mean, error = np.mean(table, axis=0), np.std(table, axis=0, ddof=1) / np.sqrt(3)
    best = max(range(3), key=lambda k: mean[k])
    if choice == "one-se":
        best = min(k for k in range(3) if mean[k] >= mean[best] - error[best])
    assert model.lam_ == lams[best]
    np.testing.assert_array_equal(model.coef_, ac.ROCSVM(lams[best]).fit(CV_X, CV_Y).coef_)
    assert model.certificate_.reaches(1e-9)
    near = ac.ROCSVMCV([0.1], cv=splits, pairs="nearest:2").fit(CV_X, CV_Y)  # found in each fold
    expected = held_out(0.1, *splits[0], pairs="nearest:2")
    assert near.cv_path_.fold_auc[0, 0] == pytest.approx(expected, rel=1e-12)


@each("kind", ["survival", "queries"])
def test_the_estimators_choose_the_best_and_are_refitted_with_it(kind: str) -> None:
    how: dict[str, Any] = {"cv": 3, "random_state": 0, "loss": "squared_hinge"}
    if kind == "survival":
        model = ac.SurvivalSVMCV(CV_LAMS, **how).fit(CV_X, TIME, EVENT)
        again = ac.SurvivalSVM(model.lam_, loss="squared_hinge").fit(CV_X, TIME, EVENT)
        y = np.rec.fromarrays([EVENT, TIME], dtype=SKSURV)
        np.testing.assert_array_equal(clone(model).fit(CV_X, y).coef_, model.coef_)
    else:  # whose grades are compared within a query only
        shifted = CV_X + 5.0 * (QID % 3)[:, None]
        model = ac.ROCSVMCV(CV_LAMS, **how).fit(shifted, CV_Y, qid=QID)
        again = ac.ROCSVM(model.lam_, loss="squared_hinge").fit(shifted, CV_Y, qid=QID)
        assert model.cv_path_.mean_auc.min() > 0.55
    assert model.lam_ == CV_LAMS[int(model.cv_path_.mean_auc.argmax())]
    np.testing.assert_allclose(model.coef_, again.coef_, atol=1e-2)


@pytest.mark.slow
def test_several_processes_give_the_same_model() -> None:
    how: dict[str, Any] = {"cv": 2, "random_state": 0}
    one, two = (ac.ROCSVMCV([1.0, 0.1], n_jobs=n, **how).fit(CV_X, CV_Y) for n in (None, 2))
    assert two.lam_ == one.lam_
    np.testing.assert_allclose(two.cv_path_.fold_auc, one.cv_path_.fold_auc)
    np.testing.assert_allclose(two.coef_, one.coef_, rtol=1e-6)


KX = CV_RNG.normal(size=(120, 4))
KY = KX[:, 0] * KX[:, 1] + 0.5 * CV_RNG.normal(size=120) > 0.2
KX[5], KX[17] = KX[6], KX[3]  # equal rows, of one class or of two
KLAMS = [0.3, 0.01, 1e-4]
GAUSSIAN = {"kernel": "rbf", "gamma": 0.4}


@pytest.mark.slow
@each("weighted", [False, True])
@each("structure", first_fast([1.5, 0.0]))
def test_folds_of_one_matrix_are_those_alone(monkeypatch, structure: float, weighted: bool) -> None:
    weight = np.arange(120.0) % 4 if weighted else None
    how: dict[str, Any] = {"cv": 3, "tol": 1e-9, "structure": structure, "sample_weight": weight}
    shared = cross_validated_path(KX, KY, KLAMS, **how, **GAUSSIAN)
    monkeypatch.setattr(path_selection, "SHARED_ROWS", 0)
    alone = cross_validated_path(KX, KY, KLAMS, **how, **GAUSSIAN)
    np.testing.assert_allclose(shared.fold_auc, alone.fold_auc, atol=2e-3)
    assert_ranges_meet(shared, alone, 1e-9)


@each("weighted", [False, True])
@each("queries", first_fast([False, True]))
def test_folds_are_the_same_however_rows_are_cut(queries: bool, weighted: bool) -> None:
    """`parted` of the fuzzer judges each fold in memory, and that no row is on both sides."""

    def parts(places: list[int]) -> Any:
        if not queries:
            (X, y), weight = some_rows(), np.arange(1200) % 3 + 1.0 if weighted else None
            return ac.PartitionedRows(cut(np.round(X, 1), y, weight, places))  # ties
        X, query, y, weight = queried_rows(1200, 15, weighted)
        query = np.array([f"q{one}" for one in query]) if weighted else query
        return ac.GroupedRows(cut_groups(X, query, y, weight, [at // 15 * 15 for at in places]))

    how: Any = {"cv": 3, "seed": 11, "tol": 1e-6}
    whole, *others = (cross_validated_path(parts(places), None, CV_LAMS, **how) for places in CUTS)
    for other in others:
        np.testing.assert_allclose(other.fold_auc, whole.fold_auc, atol=2e-3)
        assert_ranges_meet(other, whole)
    assert (whole.fold_high - whole.fold_low < 0.06).all()
    assert np.ptp(whole.fold_auc, axis=0).min() > 0  # folds of their own
    again = cross_validated_path(parts([]), None, CV_LAMS, **how | {"seed": 12})
    assert (again.fold_auc != whole.fold_auc).any()
