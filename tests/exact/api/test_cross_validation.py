"""Cross-validation along the path: fold by fold against plain loops, and honest ranges."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, StratifiedKFold

import aucert.exact.api.cross_validation as path_selection
from aucert.exact import (
    ROCSVM,
    ROCSVMCV,
    CVPath,
    GroupedRows,
    InputError,
    PartitionedRows,
    SurvivalSVM,
    SurvivalSVMCV,
    cross_validated_path,
    solve,
    survival_pairs,
)
from aucert.exact.api.cross_validation import FoldedData, make_splits, split_rows
from aucert.exact.formulation.formulation import formulate
from aucert.exact.formulation.request import Request
from aucert.exact.solvers.choose import choose_solver
from aucert.exact.spaces.partitions import hashed_names
from cutting import CUTS, cut, cut_groups, queried_rows, some_rows
from loops import each, first_fast
from ordered_naive import naive_ordered, naive_survival

RNG = np.random.default_rng(2)
N = 90
Y = (np.arange(N) % 3 == 0).astype(int)
X = RNG.normal(size=(N, 3)) + 0.5 * Y[:, None]
TIME = np.ceil(5 * RNG.exponential(np.exp(-X @ [1.0, 0.5, 0.0]))) / 2
EVENT = RNG.random(N) < 0.7
QID = RNG.permutation(np.repeat(np.arange(9), 10))
GRADE = np.clip(np.round(X[:, 0] + RNG.normal(size=N)) + 1, 0, 3)
LAMS = [0.3, 0.02]


def assert_ranges_meet(one: CVPath, other: CVPath, tol: float = 1e-6) -> None:
    """Both say where the AUC of the optimum of each fold is."""
    assert (one.fold_low <= other.fold_high).all() and (other.fold_low <= one.fold_high).all()
    for path in (one, other):
        assert (path.fold_low <= path.fold_auc).all() and (path.fold_auc <= path.fold_high).all()
        assert (path.fold_gap <= tol).all() and path.complete


REPEATED = RNG.integers(1, 4, N)
KINDS: dict[str, dict[str, Any]] = {
    "classes": {"y": Y},
    "weights": {"y": Y, "sample_weight": REPEATED},
    "kernel": {"y": Y, "kernel": "rbf", "gamma": 0.3},
    "survival": {"y": None, "time": TIME, "event": EVENT},
    "queries": {"y": GRADE, "qid": QID},
    "weighted queries": {"y": GRADE, "qid": QID, "sample_weight": REPEATED},
}


def of_rows(asked: dict[str, Any], rows: np.ndarray) -> dict[str, Any]:
    return {k: v[rows] if isinstance(v, np.ndarray) else v for k, v in asked.items()}


def share_right(scores: np.ndarray, held: dict[str, Any]) -> float:
    """The share of the pairs of some rows in the right order, one by one."""
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
    splits, asked = list(GroupKFold(3).split(X, groups=QID)), KINDS[kind]
    rough = cross_validated_path(X, lams=LAMS, cv=splits, tol=0.05, loss=loss, **asked)
    tight = cross_validated_path(X, lams=LAMS, cv=splits, tol=1e-6, loss=loss, **asked)
    for k, (train, test) in enumerate(splits):
        held, kernel = (
            of_rows(asked, test),
            {k: asked[k] for k in ("kernel", "gamma") if k in asked},
        )
        for at, lam in enumerate(LAMS):
            w = solve(X[train], lam=lam, loss=loss, tol=1e-8, **of_rows(asked, train)).w
            scores = X[test] @ w if kernel == {} else np.zeros(0)
            if kernel:
                request = Request.of(lam, **kernel)
                scores = formulate(X[train], Y[train], request).scorer(w)(X[test])
            right = share_right(scores, held)
            for found in (rough, tight):
                assert found.fold_low[k, at] - 1e-12 <= right <= found.fold_high[k, at] + 1e-12
            assert tight.fold_auc[k, at] == pytest.approx(right, abs=5e-3)
    assert_ranges_meet(rough, tight, 0.05)
    if loss == "hinge":  # the steps of the other one end far below the tolerance
        assert (rough.fold_high > rough.fold_low).any()


def test_best_and_one_standard_error_by_hand() -> None:
    def table(fold_auc: Any, width: float = 0.0) -> CVPath:
        values = np.array(fold_auc, dtype=float)
        lams = np.geomspace(1, 0.1, values.shape[1])
        return CVPath(lams, values, values - width, values + width, values * 0, True)

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


def test_out_of_time_what_all_folds_have_is_kept_and_an_interrupt_ends_all(monkeypatch) -> None:
    found = cross_validated_path(X, Y, [1.0, *LAMS], cv=3, max_time=1e-9)
    assert not found.complete and found.lams.tolist() == [1.0] and found.fold_auc.shape == (3, 1)
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


def test_folds_are_stratified_follow_the_seed_and_share_the_events_out() -> None:
    first, same, other = (make_splits(3, X, Y == 1, seed) for seed in (0, 0, 1))
    for (_, a), (_, b) in zip(first, same, strict=True):
        np.testing.assert_array_equal(a, b)
        assert Y[a].sum() == 10
    assert any(not np.array_equal(a, b) for (_, a), (_, b) in zip(first, other, strict=True))
    for event, even in ((np.arange(N) < 6, True), (np.ones(N, dtype=bool), False)):
        order = survival_pairs(TIME, event)
        data = FoldedData(X, None, None, False, order=order, event=event)
        splits = split_rows(data, 3, 0)
        assert sorted(np.concatenate([test for _, test in splits])) == list(range(N))
        assert not even or {int(event[test].sum()) for _, test in splits} == {2}


def test_there_are_no_more_folds_than_events_or_rows_of_a_class() -> None:
    seen = np.isin(np.arange(N), np.argsort(TIME)[:4])
    with pytest.warns(UserWarning, match="4 of them with an event: 4 folds"):
        path = cross_validated_path(X, None, LAMS, time=TIME, event=seen)
    assert path.fold_auc.shape == (4, 2)
    few = np.r_[np.flatnonzero(Y == 1)[:3], np.flatnonzero(Y == 0)]
    with pytest.warns(UserWarning, match="3 rows: 3 folds") as said:
        model = ROCSVMCV(LAMS).fit(X[few], Y[few])
    assert len(said) == 1 and model.cv_path_.fold_auc.shape == (3, 2)
    with pytest.raises(InputError, match="no two folds"):
        ROCSVMCV(LAMS).fit(X[few[2:]], Y[few[2:]])


# The estimators that choose lam.


@each("choice", ["best", "one-se"])
def test_lam_is_that_of_a_plain_loop_over_folds_and_grid(choice: str) -> None:
    lams, splits = [1.0, 0.1, 0.001], list(StratifiedKFold(3).split(X, Y))
    model = ROCSVMCV(lams, cv=splits, choice=choice).fit(X, Y)
    table = [
        [
            roc_auc_score(Y[test], ROCSVM(lam).fit(X[train], Y[train]).decision_function(X[test]))
            for lam in lams
        ]
        for train, test in splits
    ]
    np.testing.assert_allclose(model.cv_path_.fold_auc, table, rtol=1e-12)
    mean, error = np.mean(table, axis=0), np.std(table, axis=0, ddof=1) / np.sqrt(3)
    best = max(range(3), key=lambda k: mean[k])
    if choice == "one-se":
        best = min(k for k in range(3) if mean[k] >= mean[best] - error[best])
    assert model.lam_ == lams[best]
    np.testing.assert_array_equal(model.coef_, ROCSVM(lams[best]).fit(X, Y).coef_)
    assert model.certificate_.reaches(1e-9)
    near, (train, test) = ROCSVMCV([0.1], cv=splits, pairs="nearest:2").fit(X, Y), splits[0]
    alone = ROCSVM(0.1, pairs="nearest:2").fit(X[train], Y[train])  # found in each fold
    expected = roc_auc_score(Y[test], alone.decision_function(X[test]))
    assert near.cv_path_.fold_auc[0, 0] == pytest.approx(expected, rel=1e-12)


@each("kind", ["survival", "queries"])
def test_the_estimators_choose_the_best_and_are_refitted_with_it(kind: str) -> None:
    how: dict[str, Any] = {"cv": 3, "random_state": 0, "loss": "squared_hinge"}
    y = np.empty(N, dtype=[("status", bool), ("days", float)])  # as scikit-survival has it
    y["status"], y["days"] = EVENT, TIME
    if kind == "survival":
        model = SurvivalSVMCV(LAMS, **how).fit(X, TIME, EVENT)
        again = SurvivalSVM(model.lam_, loss="squared_hinge").fit(X, TIME, EVENT)
        np.testing.assert_array_equal(clone(model).fit(X, y).coef_, model.coef_)
    else:  # whose grades are compared within a query only
        shifted = X + 5.0 * (QID % 3)[:, None]
        model = ROCSVMCV(LAMS, **how).fit(shifted, Y, qid=QID)
        again = ROCSVM(model.lam_, loss="squared_hinge").fit(shifted, Y, qid=QID)
        assert model.cv_path_.mean_auc.min() > 0.55
    assert model.lam_ == LAMS[int(model.cv_path_.mean_auc.argmax())]
    np.testing.assert_allclose(model.coef_, again.coef_, atol=1e-2)


@pytest.mark.slow
def test_several_processes_give_the_same_model() -> None:
    one, two = (ROCSVMCV([1.0, 0.1], cv=2, n_jobs=n, random_state=0).fit(X, Y) for n in (None, 2))
    assert two.lam_ == one.lam_
    np.testing.assert_allclose(two.cv_path_.fold_auc, one.cv_path_.fold_auc)
    np.testing.assert_allclose(two.coef_, one.coef_, rtol=1e-6)


# Kernels, whose folds are cut from one matrix.

KX = RNG.normal(size=(120, 4))
KY = KX[:, 0] * KX[:, 1] + 0.5 * RNG.normal(size=120) > 0.2
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


# Rows in partitions: folds by their numbers in the class, or by the names of their queries.


def scrambled(x: int) -> int:
    """Return splitmix64 of a number, in whole numbers without an end."""
    room = 1 << 64
    x = (x + 1) * 0x9E3779B97F4A7C15 % room
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % room
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % room
    return x ^ (x >> 31)


def naive_fold(side: int, number: int, seed: int, folds: int) -> int:
    """Return the fold of one row: the run it is in begins with the fold that a hash tells."""
    run = number // folds
    mixed = scrambled((scrambled(scrambled(seed) ^ side) + run) % (1 << 64))
    turn = (mixed >> 33) * folds >> 31
    return (number % folds - turn) % folds


def folds_by_hand(y: np.ndarray, seed: int, folds: int) -> np.ndarray:
    """Return the fold of each row: the rows of a class are numbered from the first one on."""
    found = np.empty(y.size, dtype=int)
    for side in (0, 1):
        count = int((y == side).sum())
        found[y == side] = [naive_fold(side, k, seed, folds) for k in range(count)]
    return found


def naive_hash(name: Any, seed: int) -> int:
    """Return the hash of one name."""
    if isinstance(name, str):
        own = int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little")
    else:
        own = int(np.array([float(name)]).view(np.uint64)[0])
    return scrambled(scrambled(own) ^ scrambled(seed))


def query_folds_by_hand(group: np.ndarray, folds: int, seed: int) -> np.ndarray:
    """Return the fold of each row: the groups by their hashes, in stretches of the same length."""
    names = sorted(set(group.tolist()), key=lambda name: naive_hash(name, seed))
    starts = [k * len(names) // folds for k in range(folds)]
    number = {name: sum(at >= s for s in starts) - 1 for at, name in enumerate(names)}
    return np.array([number[name] for name in group.tolist()])


def test_equal_names_have_the_same_hash_whatever_their_type() -> None:
    names = np.array([-3, 0, 1, 2**20])
    for kind in (float, np.int32):
        np.testing.assert_array_equal(hashed_names(names, 3), hashed_names(names.astype(kind), 3))
    assert hashed_names(np.array([-0.0]), 0) == hashed_names(np.array([0.0]), 0)
    assert np.unique(hashed_names(np.arange(20_000), 1)).size == 20_000


@each("places", first_fast(CUTS))
@each("weighted", [False, True])
@each("queries", [False, True])
def test_folds_are_those_in_memory(queries: bool, weighted: bool, places: list[int]) -> None:
    how: dict[str, Any] = {}
    if queries:
        X, query, y, weight = queried_rows(1200, 15, weighted)
        query = np.array([f"q{one}" for one in query]) if weighted else query
        places = [place // 15 * 15 for place in places]
        rows: Any = GroupedRows(cut_groups(X, query, y, weight, places))
        number, how["qid"] = query_folds_by_hand(query, 3, 11), query
    else:
        X, y = some_rows()
        X, weight = np.round(X, 1), np.arange(1200) % 3 + 1.0 if weighted else None  # ties
        rows, number = PartitionedRows(cut(X, y, weight, places)), folds_by_hand(y, 11, 3)
    apart = cross_validated_path(rows, None, LAMS, cv=3, seed=11, tol=1e-6)
    splits = [(np.flatnonzero(number != k), np.flatnonzero(number == k)) for k in range(3)]
    how |= {"cv": splits, "tol": 1e-8, "sample_weight": weight}
    held = cross_validated_path(X, y, LAMS, **how)
    np.testing.assert_allclose(apart.fold_auc, held.fold_auc, atol=2e-3)
    assert_ranges_meet(apart, held)
    assert (apart.fold_high - apart.fold_low < 0.06).all()
