"""The exact estimators: the solution of their problem, and scikit-learn's contract."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, StratifiedKFold, cross_validate
from sklearn.svm import LinearSVC

from aucert.exact import (
    ROCSVM,
    ROCSVMCV,
    SAUCSVM,
    InputError,
    RankingSVM,
    SurvivalSVM,
    certify,
    concordance_index,
    load_model,
    ordered_problem,
    query_pairs,
    save_model,
    solve,
    survival_pairs,
)
from aucert.exact.certificate.solution import Status
from aucert.exact.estimators.base import check_row_weights
from aucert.exact.estimators.thresholds import RULES, threshold_for_sensitivity
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.pairs.concordance import right_share
from aucert.exact.problem.problem import linear_problem
from aucert.exact.spaces.kernels import Gaussian
from loops import each
from ordered_naive import naive_survival

LOSSES = ["hinge", "squared_hinge", "square"]
RNG = np.random.default_rng(0)
Y = (np.arange(60) % 3 == 0).astype(int)
X = RNG.normal(size=(60, 3)) + 0.8 * Y[:, None]


@each("loss", LOSSES)
def test_the_model_is_the_certified_solution_of_the_problem(loss: str) -> None:
    model = ROCSVM(0.05, loss=loss).fit(X, Y)
    exact = solve(X, Y, 0.05, loss=loss)
    np.testing.assert_array_equal(model.coef_[0], exact.w)
    assert model.status_ == Status.CERTIFIED and model.certificate_.reaches(1e-9)
    objective = linear_problem(X, Y, 0.05, loss).objective(model.coef_[0])
    assert model.certificate_.primal == pytest.approx(objective, rel=1e-14)
    assert model.n_iter_ == len(model.history_) == exact.n_iter
    assert model.solution_.certificate is model.certificate_


def test_one_pair_by_hand() -> None:
    # lam/2 w^2 + max(0, 1 - 2w): w = min(2 / lam, 1/2) = 1/2; scores 0 and 1, cut at 1/2.
    model = ROCSVM(1.0).fit([[0.0], [2.0]], ["no", "yes"])
    assert model.coef_[0, 0] == pytest.approx(0.5, rel=1e-9)
    assert model.intercept_[0] == pytest.approx(-0.5, rel=1e-9)
    assert model.predict([[0.9], [1.1]]).tolist() == ["no", "yes"]


def test_the_larger_label_is_positive_and_exchange_only_changes_the_sign() -> None:
    labels = np.where(Y == 1, "healthy", "ill")  # "ill" is the larger one
    model, plain = ROCSVM(0.05).fit(X, labels), ROCSVM(0.05).fit(X, Y)
    assert model.classes_.tolist() == ["healthy", "ill"]
    np.testing.assert_allclose(model.coef_, -plain.coef_, rtol=1e-6)
    np.testing.assert_allclose(model.intercept_, -plain.intercept_, rtol=1e-6)
    np.testing.assert_array_equal(model.predict(X) == "healthy", plain.predict(X) == 1)
    assert roc_auc_score(labels, model.decision_function(X)) > 0.5


@each("loss", LOSSES)
def test_sample_weight_means_repetition(loss: str) -> None:
    weight = RNG.integers(0, 4, size=60)
    weighted = ROCSVM(0.05, loss=loss).fit(X, Y, sample_weight=weight)
    repeated = ROCSVM(0.05, loss=loss).fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight))
    reach = weighted.certificate_.radius + repeated.certificate_.radius
    assert np.linalg.norm(weighted.coef_ - repeated.coef_) <= reach < 1e-3
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, atol=3 * reach)
    problem = linear_problem(X, Y, 0.05, loss, AllPairs(weight.astype(float)))
    assert weighted.certificate_.primal == pytest.approx(
        problem.objective(weighted.coef_[0]), rel=1e-12
    )


def test_columns_with_names_are_remembered() -> None:
    pandas = pytest.importorskip("pandas", reason="column names come with pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    model = ROCSVM(0.05).fit(frame, Y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["b", "a", "c"]])


def test_a_wanted_sensitivity_is_reached() -> None:
    rule = partial(threshold_for_sensitivity, sensitivity=0.9)
    model = clone(ROCSVM(0.05, threshold=rule)).fit(X, Y)
    share = model.predict(X)[Y == 1].mean()
    assert 0.9 <= share < 0.9 + 2 / 20


def test_the_threshold_can_be_set_anew_on_other_rows() -> None:
    model = ROCSVM(0.05).fit(X, Y)
    fresh, labels = RNG.normal(size=(50, 3)), np.arange(50) % 2
    scores = fresh @ model.coef_[0]
    before = model.coef_.copy()
    assert model.set_threshold(fresh, labels, "youden") is model
    assert model.intercept_[0] == -RULES["youden"](scores, labels == 1, None)
    model.set_threshold(fresh, labels, sample_weight=1.0 + np.arange(50))
    expected = -RULES["equal-error"](scores, labels == 1, 1.0 + np.arange(50))
    assert model.intercept_[0] == expected
    np.testing.assert_array_equal(model.coef_, before)
    with pytest.raises(InputError, match="label 2"):
        model.set_threshold(fresh, labels + 1)


def test_a_gap_that_is_too_large_is_said_with_advice() -> None:
    with pytest.warns(ConvergenceWarning, match=r"not within tol=1e-09.*raise max_time"):
        model = ROCSVM(1e-4, max_time=1e-9).fit(X, Y)
    assert model.status_ == Status.TIME_LIMIT
    assert "max_time" in model.solution_.message
    assert model.certificate_.gap > 0


WRONG: dict[Any, dict[str, tuple[Any, ...]]] = {
    ROCSVM: {
        "lam": (0.0, -1.0, np.nan, "small", None),
        "loss": ("cubic", None),
        "method": ("simplex", None, "quasi-newton"),
        "tol": (0.0, "tight"),
        "max_time": (0, "short"),
        "threshold": ("best", None),
    },
    SAUCSVM: {
        "structure": (-1.0, "big"),
        "structure_source": ("half",),
        "kernel": ("poly",),
        "gamma": (0.0,),
        "pairs": ("nearest:0", "some"),
        "anchor_filter": ("B",),
    },
    ROCSVMCV: {
        "lams": ([1.0, 0.0], [], ["a"]),
        "cv": (1, "many", None),
        "choice": ("worst",),
        "n_lams": (0,),
        "cv_tol": (0.0,),
        "structure": (-1.0,),
        "random_state": ("seed",),
    },
}


@each("model", WRONG)
def test_bad_parameters_are_refused_at_fit_by_their_name(model: type) -> None:
    for name, values in WRONG[model].items():
        for value in values:
            more = {"kernel": "rbf"} if name == "gamma" else {}
            with pytest.raises(InputError, match=name if name != "lams" else "lam"):
                clone(model(**{name: value}, **more)).fit(X, Y)


def test_bad_labels_and_weights_are_refused() -> None:
    with pytest.raises(InputError, match="Only binary classification"):
        ROCSVM().fit(X, np.arange(60) % 3)
    with pytest.raises(InputError, match="one class only"):
        ROCSVM().fit(X, np.ones(60))
    with pytest.raises(InputError, match=r"one class only.*positive weight"):
        ROCSVM().fit(X, Y, sample_weight=Y)
    with pytest.raises(InputError, match="of row 3 is -1"):
        check_row_weights([1, 1, 1, -1], 4)
    with pytest.raises(InputError, match="shape"):
        check_row_weights([1.0], 4)
    with pytest.raises(InputError, match="numbers"):
        check_row_weights(["a"], 1)
    with pytest.raises(InputError, match="zero in every row"):
        check_row_weights(np.zeros(4), 4)


NEW = RNG.normal(size=(25, 3))


@each("kernel", ["linear", "rbf", "laplacian"])
@each("structure", [0.0, 0.3, 50.0])
def test_scores_in_sample_equal_scores_out_of_sample(kernel: str, structure: float) -> None:
    model = SAUCSVM(0.02, structure, kernel=kernel, gamma=0.4).fit(X, Y)
    together = model.decision_function(np.vstack([X, NEW]))
    np.testing.assert_allclose(together[:60], model.decision_function(X), atol=1e-12)
    space = solve(X, Y, 0.02, kernel=kernel, gamma=0.4, structure=structure)
    assert model.certificate_.primal == space.certificate.primal
    assert model.status_ == Status.CERTIFIED
    audit = certify(
        X,
        Y,
        0.02,
        scores=model.decision_function(X),
        kernel=kernel,
        gamma=0.4,
        structure=structure,
    )
    assert audit.gap is not None and audit.primal is not None
    assert audit.gap <= 1e-6 * audit.primal


@each("structure", [0.0, 2.0])
def test_a_precomputed_kernel_gives_what_its_name_gives(structure: float) -> None:
    kernel = Gaussian(0.4)
    named = SAUCSVM(0.02, structure, kernel="rbf", gamma=0.4).fit(X, Y)
    given = SAUCSVM(0.02, structure, kernel="precomputed").fit(kernel(X, X), Y)
    np.testing.assert_allclose(
        given.decision_function(kernel(NEW, X)), named.decision_function(NEW), atol=1e-6
    )
    assert given.certificate_.primal == pytest.approx(named.certificate_.primal, rel=1e-9)


LAMS = [1.0, 0.1, 0.001]
SPLITS = list(StratifiedKFold(3).split(X, Y))


@each("choice", ["best", "one-se"])
def test_lam_is_that_of_a_plain_loop_over_folds_and_grid(choice: str) -> None:
    model = ROCSVMCV(LAMS, cv=SPLITS, choice=choice).fit(X, Y)
    table = [
        [
            roc_auc_score(Y[test], ROCSVM(lam).fit(X[train], Y[train]).decision_function(X[test]))
            for lam in LAMS
        ]
        for train, test in SPLITS
    ]
    np.testing.assert_allclose(model.cv_path_.fold_auc, table, rtol=1e-12)
    mean = np.mean(table, axis=0)
    error = np.std(table, axis=0, ddof=1) / np.sqrt(3)
    best = max(range(3), key=lambda k: mean[k])
    if choice == "one-se":
        best = min(k for k in range(3) if mean[k] >= mean[best] - error[best])
    assert model.lam_ == LAMS[best]
    np.testing.assert_array_equal(model.coef_, ROCSVM(LAMS[best]).fit(X, Y).coef_)
    assert model.certificate_.reaches(1e-9)


def test_nearest_pairs_are_found_in_each_fold() -> None:
    model = ROCSVMCV([0.1], cv=SPLITS, pairs="nearest:2").fit(X, Y)
    train, test = SPLITS[0]
    alone = ROCSVM(0.1, pairs="nearest:2").fit(X[train], Y[train])
    expected = roc_auc_score(Y[test], alone.decision_function(X[test]))
    assert model.cv_path_.fold_auc[0, 0] == pytest.approx(expected, rel=1e-12)


def test_there_are_no_more_folds_than_rows_of_a_class() -> None:
    few = np.r_[np.flatnonzero(Y == 1)[:3], np.flatnonzero(Y == 0)]
    with pytest.warns(UserWarning, match="3 rows: 3 folds") as seen:
        model = ROCSVMCV(LAMS).fit(X[few], Y[few])
    assert len(seen) == 1 and model.cv_path_.fold_auc.shape == (3, 3)
    with pytest.raises(InputError, match="no two folds"):
        ROCSVMCV(LAMS).fit(X[few[2:]], Y[few[2:]])


def some_data(n: int = 120, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, times with ties, and events."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    time = np.round(rng.exponential(np.exp(-X @ [1.0, 0.5, 0.0])), 1)
    return X, time, rng.random(n) < 0.7


def structured(time: np.ndarray, event: np.ndarray) -> np.ndarray:
    """As scikit-survival has it."""
    y = np.empty(time.size, dtype=[("status", bool), ("days", float)])
    y["status"], y["days"] = event, time
    return y


def test_both_forms_of_y_are_one_problem() -> None:
    X, time, event = some_data()
    first = SurvivalSVM(0.01).fit(X, time, event)
    second = SurvivalSVM(0.01).fit(sp.csr_matrix(X), structured(time, event))
    assert first.status_ is Status.CERTIFIED
    assert second.coef_ == pytest.approx(first.coef_, abs=1e-2)
    wanted = concordance_index(time, event, first.predict(X)).value
    assert first.score(X, structured(time, event)) == first.score(X, time, event) == wanted > 0.6


def test_the_squared_hinge_is_linear_svc_on_the_differences() -> None:
    X, time, event = some_data(40)
    naive = naive_survival(time, event)
    D = X[naive.i] - X[naive.j]
    lam = 0.1
    signs = np.where(np.arange(len(D)) % 2 == 0, 1, -1)
    svc = LinearSVC(C=1 / (lam * len(D)), fit_intercept=False, tol=1e-10, max_iter=100_000)
    svc.fit(D * signs[:, None], signs)
    model = SurvivalSVM(lam, loss="squared_hinge", tol=1e-10).fit(X, time, event)
    assert model.coef_ == pytest.approx(svc.coef_[0], abs=1e-5)
    assert survival_pairs(time, event).mass == len(D)


def test_a_gap_above_the_tolerance_is_a_warning() -> None:
    X, time, event = some_data(400)
    with pytest.warns(ConvergenceWarning):
        model = SurvivalSVM(1e-6, tol=1e-14, max_time=1e-3).fit(X, time, event)
    assert model.status_ is not Status.CERTIFIED and np.isfinite(model.certificate_.gap)


def test_bad_survival_is_refused() -> None:
    X, time, event = some_data(20)
    wrong = np.zeros(20, dtype=[("a", float), ("b", float)])
    for y, seen, message in (
        (time[1:], None, "rows"),
        (wrong, None, "truth values"),
        (structured(time, event), event, "leave event out"),
        (time, ~event & False, "no pair"),
        (np.where(event, np.nan, time), event, "finite"),
    ):
        with pytest.raises(InputError, match=message):
            SurvivalSVM().fit(X, y, seen)
    refused: list[dict[str, Any]] = [
        {"y": time, "qid": time, "time": time},
        {"y": time, "time": time},
        {"y": None, "event": event},
        {"y": None, "qid": time},
        {"y": time, "qid": time, "kernel": "rbf"},
        {"y": time, "qid": time, "l1": 0.1},
        {"y": time, "qid": time, "fpr_max": 0.1},
        {"y": time, "qid": time, "sample_weight": time},
    ]
    for arguments in refused:
        with pytest.raises(InputError):
            solve(X, lam=1.0, **arguments)
    with pytest.raises(InputError, match="give qid"):
        ordered_problem(X, time, 1.0)
    with pytest.raises(InputError, match="lam"):
        SurvivalSVM(0.0).fit(X, time, event)
    with pytest.raises(InputError, match="tol"):
        SurvivalSVM(tol=0.0).fit(X, time, event)


def test_penalties_make_zeros_that_are_proved() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(120, 6))
    time, event = np.exp(-X[:, 0] + 0.3 * rng.normal(size=120)), rng.random(120) < 0.7
    model = SurvivalSVM(0.0, loss="squared_hinge", l1=0.1).fit(X, time, event)
    zeros = model.solution_.zeros_proved
    assert zeros is not None and zeros[1:].all() and not zeros[0]
    assert np.abs(model.coef_[1:]).max() < 1e-6 < model.coef_[0]
    assert model.certificate_.radius is None
    grouped = SurvivalSVM(0.01, loss="squared_hinge", l1=0.3, groups=[0, 0, 1, 1, 2, 2])
    held = grouped.fit(X, time, event).solution_.zeros_proved
    assert held is not None and held.tolist() == [False, False, True, True, True, True]
    signed = SurvivalSVM(0.01, loss="squared_hinge", sign="nonnegative").fit(X, time, event)
    assert (signed.coef_ >= 0).all() and signed.solution_.zeros_proved is not None
    with pytest.raises(InputError, match="lam"):
        SurvivalSVM(0.0).fit(X, time, event)


RRNG = np.random.default_rng(0)
RX = RRNG.normal(size=(60, 3))
QID = np.repeat(np.arange(10), 6)
RY = np.digitize(RX @ [1.0, 0.5, 0.0] + 0.3 * RRNG.normal(size=60), [-0.5, 0.5])


def test_it_is_the_solution_by_query_and_comes_back_from_a_file(tmp_path: Path) -> None:
    model, best = RankingSVM(0.1).fit(RX, RY, qid=QID), solve(RX, RY, 0.1, qid=QID)
    radii = model.certificate_.radius + best.certificate.radius
    assert np.linalg.norm(model.coef_ - best.w) <= radii
    share = model.score(RX, RY, qid=QID)
    assert share == right_share(query_pairs(QID, RY), model.predict(RX)) > 0.7
    survival = SurvivalSVM(0.1).fit(RX, np.exp(-RX[:, 0]))
    for kept in (model, survival):
        save_model(kept, tmp_path / "m.npz")
        np.testing.assert_array_equal(load_model(tmp_path / "m.npz").predict(RX), kept.predict(RX))


def test_queries_are_routed_and_sizes_of_groups_are_refused() -> None:
    with config_context(enable_metadata_routing=True):
        model = RankingSVM(0.1).set_fit_request(qid=True).set_score_request(qid=True)
        params = {"qid": QID, "groups": QID}
        found = cross_validate(model, RX, RY, cv=GroupKFold(2), params=params, error_score="raise")
    assert (found["test_score"] > 0.5).all()
    with pytest.raises(InputError, match=r"np\.repeat"):
        RankingSVM().fit(RX, RY, qid=[20, 40])
    with pytest.raises(InputError, match="one a row"):
        RankingSVM().fit(RX, RY, qid=[1, 2])
