"""The exact estimators: the solution of their problem, thresholds, frames, weights with names."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import aucert.exact as ac
from aucert.approx import SPAM, RankSVM
from aucert.exact import ROCSVM
from aucert.exact.api.certify import in_column_order, match_weights
from aucert.exact.estimators.thresholds import (
    RULES,
    all_cuts,
    threshold_accuracy,
    threshold_equal_error,
    threshold_for_sensitivity,
    threshold_for_specificity,
    threshold_youden,
)
from aucert.exact.pairs.concordance import right_share
from loops import each, refuses

LOSSES = ["hinge", "squared_hinge", "square"]
RNG = np.random.default_rng(0)
Y = (np.arange(60) % 3 == 0).astype(int)
X = RNG.normal(size=(60, 3)) + 0.8 * Y[:, None]


@each("loss", LOSSES)
def test_the_model_is_the_certified_solution_of_the_problem(loss: str) -> None:
    weight, exact = RNG.integers(0, 4, size=60), ac.solve(X, Y, 0.05, loss=loss)
    plain, model = (ROCSVM(0.05, loss=loss).fit(X, Y, sample_weight=r) for r in (None, weight))
    np.testing.assert_array_equal(plain.coef_[0], exact.w)
    assert plain.n_iter_ == len(plain.history_) == exact.n_iter
    for one in (plain, model):
        assert one.status_ == ac.Status.CERTIFIED and one.certificate_.reaches(1e-9)
        assert one.solution_.certificate is one.certificate_
    problem = ac.linear_problem(X, Y, 0.05, loss, ac.AllPairs(weight.astype(float)))
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
    scores, before, weight = fresh @ model.coef_[0], model.coef_.copy(), 1.0 + np.arange(50)
    assert model.set_threshold(fresh, labels, "youden") is model
    assert model.intercept_[0] == -RULES["youden"](scores, labels == 1, None)
    model.set_threshold(fresh, labels, sample_weight=weight)
    assert model.intercept_[0] == -RULES["equal-error"](scores, labels == 1, weight)
    np.testing.assert_array_equal(model.coef_, before)
    refuses("label 2", model.set_threshold, fresh, labels + 1)
    rule = partial(threshold_for_sensitivity, sensitivity=0.9)
    share = clone(ROCSVM(0.05, threshold=rule)).fit(X, Y).predict(X)[Y == 1].mean()
    assert 0.9 <= share < 0.9 + 2 / 20


def test_a_gap_that_is_too_large_is_said_with_advice() -> None:
    with pytest.warns(ConvergenceWarning, match=r"not within tol=1e-09.*raise max_time"):
        model = ROCSVM(1e-4, max_time=1e-9).fit(X, Y)
    assert model.status_ == ac.Status.TIME_LIMIT
    assert "max_time" in model.solution_.message and model.certificate_.gap > 0
    rows, time, event = some_data(400)
    with pytest.warns(ConvergenceWarning):
        survival = ac.SurvivalSVM(1e-6, tol=1e-14, max_time=1e-3).fit(rows, time, event)
    assert survival.status_ is not ac.Status.CERTIFIED and np.isfinite(survival.certificate_.gap)


def some_data(n: int = 120, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    time = np.round(rng.exponential(np.exp(-X @ [1.0, 0.5, 0.0])), 1)
    return X, time, rng.random(n) < 0.7


def test_both_forms_of_y_are_one_problem() -> None:
    X, time, event = some_data()
    fields = [("status", bool), ("days", float)]  # as scikit-survival has it
    y = np.rec.fromarrays([event, time], dtype=fields)
    first = ac.SurvivalSVM(0.01).fit(X, time, event)
    second = ac.SurvivalSVM(0.01).fit(sp.csr_matrix(X), y)
    assert first.status_ is ac.Status.CERTIFIED
    assert second.coef_ == pytest.approx(first.coef_, abs=1e-2)
    wanted = ac.concordance_index(time, event, first.predict(X)).value
    assert first.score(X, y) == first.score(X, time, event) == wanted > 0.6
    refuses("leave event out", first.fit, X, y, event)


def test_penalties_make_zeros_that_are_proved() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(120, 6))
    time, event = np.exp(-X[:, 0] + 0.3 * rng.normal(size=120)), rng.random(120) < 0.7

    def fitted(lam: float, **asked: Any) -> Any:
        return ac.SurvivalSVM(lam, loss="squared_hinge", **asked).fit(X, time, event)

    model = fitted(0.0, l1=0.1)
    assert model.solution_.zeros_proved.tolist() == [False] + [True] * 5
    assert np.abs(model.coef_[1:]).max() < 1e-6 < model.coef_[0]
    assert model.certificate_.radius is None
    grouped = fitted(0.01, l1=0.3, groups=[0, 0, 1, 1, 2, 2])
    assert grouped.solution_.zeros_proved.tolist() == [False] * 2 + [True] * 4
    signed = fitted(0.01, sign="nonnegative")
    assert (signed.coef_ >= 0).all() and signed.solution_.zeros_proved is not None
    refuses("lam", ac.SurvivalSVM(0.0).fit, X, time, event)


QID, RX = np.repeat(np.arange(10), 6), RNG.normal(size=(60, 3))
RY = np.digitize(RX @ [1.0, 0.5, 0.0] + 0.3 * RNG.normal(size=60), [-0.5, 0.5])


def test_ranking_is_the_solution_by_query_and_routes_queries(tmp_path: Path) -> None:
    model, best = ac.RankingSVM(0.1).fit(RX, RY, qid=QID), ac.solve(RX, RY, 0.1, qid=QID)
    radii = model.certificate_.radius + best.certificate.radius
    assert np.linalg.norm(model.coef_ - best.w) <= radii
    share = model.score(RX, RY, qid=QID)
    assert share == right_share(ac.query_pairs(QID, RY), model.predict(RX)) > 0.7
    for kept in (model, ac.SurvivalSVM(0.1).fit(RX, np.exp(-RX[:, 0]))):
        ac.save_model(kept, tmp_path / "m.npz")
        np.testing.assert_array_equal(
            ac.load_model(tmp_path / "m.npz").predict(RX), kept.predict(RX)
        )
    with config_context(enable_metadata_routing=True):
        model = ac.RankingSVM(0.1).set_fit_request(qid=True).set_score_request(qid=True)
        params = {"qid": QID, "groups": QID}
        found = cross_validate(model, RX, RY, cv=GroupKFold(2), params=params, error_score="raise")
    assert (found["test_score"] > 0.5).all()
    refuses(r"np\.repeat", ac.RankingSVM().fit, RX, RY, qid=[20, 40])
    refuses("one a row", ac.RankingSVM().fit, RX, RY, qid=[1, 2])


EVERY_RULE = [
    *RULES.values(),
    partial(threshold_for_sensitivity, sensitivity=0.8),
    partial(threshold_for_specificity, specificity=0.8),
]


def rates(scores: Any, positive: Any, threshold: float, weight: Any = None) -> tuple[float, ...]:
    right = (scores > threshold) == positive
    weight = np.ones(len(scores)) if weight is None else weight
    return tuple(float(np.average(right[y], weights=weight[y])) for y in (positive, ~positive))


@st.composite
def samples(draw) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n = draw(st.integers(2, 9))
    scores = draw(st.lists(st.integers(-3, 3), min_size=n, max_size=n))
    positive = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    positive[:2] = [True, False]
    weight = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    weight[:2] = np.maximum(weight[:2], 1)
    return np.array(scores) / 2, positive, weight.astype(float)


@settings(max_examples=50)
@given(samples())
def test_equal_error_is_within_one_score_of_equality(sample) -> None:
    scores, positive, weight = sample
    cut = threshold_equal_error(*sample)
    below, above = (scores[side & (weight > 0)] for side in (scores < cut, scores > cut))
    # At the next cut on either side the difference has changed its sign or is zero.
    lower, upper = below.max(initial=scores.min()) - 0.1, above.min(initial=scores.max()) + 0.1
    for place, sign in ((lower, 1), (upper, -1)):
        sens, spec = rates(scores, positive, place, weight)
        assert sign * (sens - spec) >= -1e-9
    turned = threshold_equal_error(-scores, ~positive, weight)  # exchanging the classes
    assert turned == pytest.approx(-cut, abs=1e-9)


def test_separable_scores_are_cut_halfway_and_neighbouring_floats_told_apart() -> None:
    scores, positive = np.array([0.0, 1.0, 3.0, 7.0]), np.array([False, False, True, True])
    assert [rule(scores, positive, None) for rule in EVERY_RULE[:4]] == pytest.approx([2.0] * 4)
    for low in (1.0, np.nextafter(1.0, 2.0)):  # their middles round differently
        scores, positive = np.array([low, np.nextafter(low, 2)]), np.array([False, True])
        for rule in (threshold_youden, threshold_equal_error, threshold_accuracy):
            assert rates(scores, positive, rule(scores, positive)) == (1.0, 1.0)


def test_no_rule_tells_equal_scores_apart() -> None:
    positive = np.array([True, False, True])
    for value in (0.0, 3.5, 1e20, -1e-300):
        scores = np.full(3, value)
        assert all(np.isfinite(rule(scores, positive, None)) for rule in EVERY_RULE)
        assert value > threshold_for_sensitivity(scores, positive, sensitivity=1.0)
        assert value <= threshold_for_specificity(scores, positive, specificity=1.0)


# Cuts that are equally good, of which the rounding of weights once chose one.
EQUALLY = np.array([0.0, -0.5, 0.0, 0.0, 0.0, 0.0, 0.5]), np.array([1, 0, 0, 0, 1, 1, 1]) > 0


@settings(max_examples=30)
@given(samples())
@example((*EQUALLY, np.array([1.0, 1.0, 0.0, 2.0, 2.0, 3.0, 3.0])))
def test_the_cuts_are_all_there_are_and_the_rules_take_the_best(sample) -> None:
    scores, positive, weight = sample
    outcomes = [rates(scores, positive, cut, weight) for cut in (scores.min() - 1, *scores)]
    cuts = all_cuts(*sample)
    found = list(zip(cuts.sensitivity, cuts.specificity, strict=True))
    counted = [rates(scores, positive, cut, weight) for cut in cuts.at]
    np.testing.assert_allclose(found, counted, atol=1e-12)
    assert {tuple(np.round(r, 9)) for r in counted} == {tuple(np.round(r, 9)) for r in outcomes}
    plus, minus = weight[positive].sum(), weight[~positive].sum()
    for rule, a, b in ((threshold_youden, 1, 1), (threshold_accuracy, plus, minus)):
        sens, spec = rates(scores, positive, rule(*sample), weight)
        assert a * sens + b * spec == pytest.approx(max(a * s + b * t for s, t in outcomes))
    for wanted in (0.1, 0.5, 0.75, 1.0):
        cut = threshold_for_sensitivity(*sample, sensitivity=wanted)
        sens, spec = rates(scores, positive, cut, weight)
        assert sens >= wanted - 1e-9
        assert spec == pytest.approx(max(b for a, b in outcomes if a >= wanted - 1e-9))
        cut = threshold_for_specificity(*sample, specificity=wanted)
        sens, spec = rates(scores, positive, cut, weight)
        assert spec >= wanted - 1e-9
        assert sens == pytest.approx(max(a for a, b in outcomes if b >= wanted - 1e-9))
    times = weight.astype(int)
    for rule in EVERY_RULE:
        repeated = rule(np.repeat(scores, times), np.repeat(positive, times), None)
        assert rule(*sample) == pytest.approx(repeated, abs=1e-9)


FRAMES_RNG = np.random.default_rng(1)
CITY = FRAMES_RNG.choice(["Bern", "Oslo", "Rome"], 60)
AGE = FRAMES_RNG.integers(20, 70, 60)
FRAMES_Y = (AGE + 10 * (CITY == "Rome") + FRAMES_RNG.normal(0, 10, 60) > 50).astype(int)
SCALED = (AGE - AGE.mean()) / AGE.std()
PLAIN = np.column_stack([*(CITY == c for c in ("Bern", "Oslo", "Rome")), SCALED])


def ranks_as_plain(table: Any, other: Any) -> bool:
    """Whether a model of the table ranks as one on columns that were encoded by hand."""
    parts = [("city", OneHotEncoder(), ["city"]), ("age", StandardScaler(), ["age"])]
    model = make_pipeline(ColumnTransformer(parts), ROCSVM(lam=0.01)).fit(table, FRAMES_Y)
    found = model.decision_function(other) - model[-1].intercept_[0]
    return np.allclose(found, PLAIN @ ac.solve(PLAIN, FRAMES_Y, 0.01).w, atol=1e-5)


def test_pandas_categories_and_nullable_columns() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    table = pandas.DataFrame({"city": pandas.Categorical(CITY), "age": AGE})
    assert ranks_as_plain(table, table[["age", "city"]])
    nullable = pandas.DataFrame({"age": AGE, "rome": CITY == "Rome"})
    nullable = nullable.astype({"age": "Int64", "rome": "boolean"})
    assert ROCSVM(lam=0.1).fit(nullable, FRAMES_Y).feature_names_in_.tolist() == ["age", "rome"]
    nullable.loc[3, "age"] = pandas.NA
    refuses(r"NaN|missing|NA", ROCSVM(lam=0.1).fit, nullable, FRAMES_Y, error=ValueError)
    refuses("'city'", ROCSVM().fit, table, FRAMES_Y)


def test_two_columns_of_one_name_are_refused_by_estimators() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    table = pandas.DataFrame(PLAIN, columns=["a", "b", "a", "c"])
    for model in (ROCSVM(), RankSVM(), SPAM()):
        refuses("X has two columns called 'a': rename or drop one", model.fit, table, FRAMES_Y)


def test_polars_frames() -> None:
    polars = pytest.importorskip("polars", reason="polars is not installed")
    table = polars.DataFrame({"city": CITY, "age": AGE})
    assert ranks_as_plain(table, table)
    assert ROCSVM(lam=0.1).fit(table.select("age"), FRAMES_Y).feature_names_in_.tolist() == ["age"]


def test_weights_with_names_are_put_in_the_order_of_the_columns() -> None:
    table, numbered = (SimpleNamespace(columns=names) for names in (["a", "b"], [0, 1]))
    named: Any = match_weights(table, {"Intercept": 9.0, "b": 2.0, "a": 1.0})
    assert named.tolist() == [1, 2]
    assert in_column_order(np.array([1.0, 2.0]), ["a", "bias"], ["bias", "a"]).tolist() == [2, 1]
    w = np.array([1.0, 2.0])  # without names on both sides the order counts
    assert match_weights(table, w) is w and match_weights(numbered, w) is w
    assert match_weights([[1.0]], [1.0]) == [1.0]  # a list has a method called index
    refuses("X is not a frame", match_weights, np.eye(2), {"a": 1.0})


def test_a_permuted_series_is_certified_as_what_it_means() -> None:
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = pandas.DataFrame(rng.normal(size=(30, 3)) * [1, 5, 9], columns=["a", "b", "c"])
    y = (X["a"] + rng.normal(size=30) > 0).to_numpy()
    w = pandas.Series(ac.solve(X, y, 0.1).w, index=X.columns)
    series = [w, w[["c", "a", "b"]], pandas.concat([pandas.Series({"const": 3.0}), w])]
    for named in (*series, w.to_frame().T[["b", "a", "c"]], w.to_frame()):
        assert ac.certify(X, y, 0.1, w=named).relative_gap <= 1e-8  # type: ignore[operator]
    assert ac.certify(X.to_numpy(), y, 0.1, w=w).relative_gap <= 1e-8  # type: ignore[operator]
    refuses("no weight for 'c'", ac.certify, X, y, 0.1, w=w[["a", "b"]])
