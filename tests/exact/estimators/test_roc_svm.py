from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from aucert.exact.api.solve import solve
from aucert.exact.certificate.solution import Status
from aucert.exact.errors import InputError
from aucert.exact.estimators.base import check_row_weights
from aucert.exact.estimators.roc_svm import ROCSVM
from aucert.exact.estimators.thresholds import RULES, threshold_for_sensitivity
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.problem.problem import linear_problem
from loops import each

LOSSES = ["hinge", "squared_hinge", "square"]
RNG = np.random.default_rng(0)
Y = (np.arange(60) % 3 == 0).astype(int)
X = RNG.normal(size=(60, 3)) + 0.8 * Y[:, None]


FINE = 1e-12  # some checks compare weights to 1e-7: the distance to the optimum is a root of tol


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


def test_decision_function_is_linear_and_predict_is_its_sign() -> None:
    model = ROCSVM(0.05).fit(X, Y)
    fresh = RNG.normal(size=(20, 3))
    expected = fresh @ model.coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(model.decision_function(fresh), expected, rtol=1e-13)
    np.testing.assert_array_equal(model.predict(fresh), (expected > 0).astype(int))
    assert model.coef_.shape == (1, 3) and model.intercept_.shape == (1,)


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


@each("loss", LOSSES)
@each("kind", [sp.csr_array, sp.csc_matrix])
def test_sparse_input_gives_the_dense_answer(loss: str, kind) -> None:
    thin = np.where(np.abs(X) > 0.7, X, 0.0)
    tol = FINE if loss == "squared_hinge" else 1e-9
    dense = ROCSVM(0.05, loss=loss, tol=tol).fit(thin, Y)
    sparse = ROCSVM(0.05, loss=loss, tol=tol).fit(kind(thin), Y)
    assert sparse.status_ == Status.CERTIFIED
    np.testing.assert_allclose(dense.coef_, sparse.coef_, rtol=1e-6)
    np.testing.assert_allclose(
        dense.decision_function(thin), sparse.decision_function(kind(thin)), rtol=1e-5, atol=1e-7
    )


def test_the_weights_reach_the_fit_through_a_pipeline() -> None:
    weight = 1.0 + (np.arange(60) % 4)
    pipeline = make_pipeline(StandardScaler(), ROCSVM(0.05)).fit(X, Y, rocsvm__sample_weight=weight)
    alone = ROCSVM(0.05).fit(StandardScaler().fit_transform(X), Y, weight)
    np.testing.assert_array_equal(pipeline[-1].coef_, alone.coef_)


def test_columns_with_names_are_remembered() -> None:
    pandas = pytest.importorskip("pandas", reason="column names come with pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    model = ROCSVM(0.05).fit(frame, Y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["b", "a", "c"]])


@each("name", RULES)
def test_the_named_rule_sets_the_intercept(name: str) -> None:
    model = ROCSVM(0.05, threshold=name).fit(X, Y)
    assert model.intercept_[0] == -RULES[name](X @ model.coef_[0], Y == 1, None)


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


@each(
    "bad",
    [
        {"lam": 0.0},
        {"lam": -1.0},
        {"lam": np.nan},
        {"lam": "small"},
        {"lam": None},
        {"loss": "cubic"},
        {"loss": None},
        {"method": "simplex"},
        {"method": None},
        {"tol": 0.0},
        {"tol": "tight"},
        {"max_time": 0},
        {"max_time": "short"},
        {"threshold": "best"},
        {"threshold": None},
        {"method": "quasi-newton"},
    ],
)
def test_bad_parameters_are_refused_at_fit(bad: dict) -> None:
    model = clone(ROCSVM(**bad))
    with pytest.raises(InputError):
        model.fit(X, Y)


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
