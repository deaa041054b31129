"""The exact estimators: the solution of their problem, and scikit-learn's contract."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GroupKFold, cross_validate

from aucert.exact import (
    ROCSVM,
    InputError,
    RankingSVM,
    SurvivalSVM,
    concordance_index,
    load_model,
    query_pairs,
    save_model,
    solve,
)
from aucert.exact.certificate.solution import Status
from aucert.exact.estimators.thresholds import RULES, threshold_for_sensitivity
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.pairs.concordance import right_share
from aucert.exact.problem.problem import linear_problem
from loops import each

LOSSES = ["hinge", "squared_hinge", "square"]
RNG = np.random.default_rng(0)
Y = (np.arange(60) % 3 == 0).astype(int)
X = RNG.normal(size=(60, 3)) + 0.8 * Y[:, None]


@each("loss", LOSSES)
def test_the_model_is_the_certified_solution_of_the_problem(loss: str) -> None:
    weight = RNG.integers(0, 4, size=60)
    for weights in (None, weight):
        model = ROCSVM(0.05, loss=loss).fit(X, Y, sample_weight=weights)
        exact = solve(X, Y, 0.05, loss=loss, sample_weight=weights)
        if weights is None:
            np.testing.assert_array_equal(model.coef_[0], exact.w)
            assert model.n_iter_ == len(model.history_) == exact.n_iter
        assert model.status_ == Status.CERTIFIED and model.certificate_.reaches(1e-9)
        assert model.solution_.certificate is model.certificate_
    repeated = ROCSVM(0.05, loss=loss).fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight))
    reach = model.certificate_.radius + repeated.certificate_.radius
    assert np.linalg.norm(model.coef_ - repeated.coef_) <= reach < 1e-3
    np.testing.assert_allclose(model.intercept_, repeated.intercept_, atol=3 * reach)
    problem = linear_problem(X, Y, 0.05, loss, AllPairs(weight.astype(float)))
    assert model.certificate_.primal == pytest.approx(problem.objective(model.coef_[0]), rel=1e-12)


def test_the_larger_label_is_positive_and_exchange_only_changes_the_sign() -> None:
    labels = np.where(Y == 1, "healthy", "ill")  # "ill" is the larger one
    model, plain = ROCSVM(0.05).fit(X, labels), ROCSVM(0.05).fit(X, Y)
    assert model.classes_.tolist() == ["healthy", "ill"]
    np.testing.assert_allclose(model.coef_, -plain.coef_, rtol=1e-6)
    np.testing.assert_allclose(model.intercept_, -plain.intercept_, rtol=1e-6)
    np.testing.assert_array_equal(model.predict(X) == "healthy", plain.predict(X) == 1)
    # lam/2 w^2 + max(0, 1 - 2w): w = min(2 / lam, 1/2) = 1/2; scores 0 and 1, cut at 1/2.
    model = ROCSVM(1.0).fit([[0.0], [2.0]], ["no", "yes"])
    assert (model.coef_[0, 0], model.intercept_[0]) == (pytest.approx(0.5), pytest.approx(-0.5))
    assert model.predict([[0.9], [1.1]]).tolist() == ["no", "yes"]


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
    rule = partial(threshold_for_sensitivity, sensitivity=0.9)
    share = clone(ROCSVM(0.05, threshold=rule)).fit(X, Y).predict(X)[Y == 1].mean()
    assert 0.9 <= share < 0.9 + 2 / 20


def test_a_gap_that_is_too_large_is_said_with_advice() -> None:
    with pytest.warns(ConvergenceWarning, match=r"not within tol=1e-09.*raise max_time"):
        model = ROCSVM(1e-4, max_time=1e-9).fit(X, Y)
    assert model.status_ == Status.TIME_LIMIT
    assert "max_time" in model.solution_.message and model.certificate_.gap > 0
    rows, time, event = some_data(400)
    with pytest.warns(ConvergenceWarning):
        survival = SurvivalSVM(1e-6, tol=1e-14, max_time=1e-3).fit(rows, time, event)
    assert survival.status_ is not Status.CERTIFIED and np.isfinite(survival.certificate_.gap)


def some_data(n: int = 120, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, times with ties, and events."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    time = np.round(rng.exponential(np.exp(-X @ [1.0, 0.5, 0.0])), 1)
    return X, time, rng.random(n) < 0.7


def test_both_forms_of_y_are_one_problem() -> None:
    X, time, event = some_data()
    y = np.empty(time.size, dtype=[("status", bool), ("days", float)])  # as scikit-survival has it
    y["status"], y["days"] = event, time
    first = SurvivalSVM(0.01).fit(X, time, event)
    second = SurvivalSVM(0.01).fit(sp.csr_matrix(X), y)
    assert first.status_ is Status.CERTIFIED
    assert second.coef_ == pytest.approx(first.coef_, abs=1e-2)
    wanted = concordance_index(time, event, first.predict(X)).value
    assert first.score(X, y) == first.score(X, time, event) == wanted > 0.6
    with pytest.raises(InputError, match="leave event out"):
        first.fit(X, y, event)


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


def test_ranking_is_the_solution_by_query_and_routes_queries(tmp_path: Path) -> None:
    model, best = RankingSVM(0.1).fit(RX, RY, qid=QID), solve(RX, RY, 0.1, qid=QID)
    radii = model.certificate_.radius + best.certificate.radius
    assert np.linalg.norm(model.coef_ - best.w) <= radii
    share = model.score(RX, RY, qid=QID)
    assert share == right_share(query_pairs(QID, RY), model.predict(RX)) > 0.7
    for kept in (model, SurvivalSVM(0.1).fit(RX, np.exp(-RX[:, 0]))):
        save_model(kept, tmp_path / "m.npz")
        np.testing.assert_array_equal(load_model(tmp_path / "m.npz").predict(RX), kept.predict(RX))
    with config_context(enable_metadata_routing=True):
        model = RankingSVM(0.1).set_fit_request(qid=True).set_score_request(qid=True)
        params = {"qid": QID, "groups": QID}
        found = cross_validate(model, RX, RY, cv=GroupKFold(2), params=params, error_score="raise")
    assert (found["test_score"] > 0.5).all()
    with pytest.raises(InputError, match=r"np\.repeat"):
        RankingSVM().fit(RX, RY, qid=[20, 40])
    with pytest.raises(InputError, match="one a row"):
        RankingSVM().fit(RX, RY, qid=[1, 2])
