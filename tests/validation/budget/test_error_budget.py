"""The terms of an error budget: they add up, and each is what explicit pairs say."""

import functools
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import naive
from aucert import approx
from aucert.approx import NBAUC, NSAUC, IncompleteROCSVM, IncompleteSAUCSVM, Nystrom, RankSVM
from aucert.exact import HINGE, ROCSVM, AllPairs, Certificate, PairList, Ridge
from aucert.exact.pairs.auc import auc
from aucert.exact.pairs.concordance import compare_models
from aucert.exact.spaces.kernels import Gaussian
from aucert.exact.tools.rounding import Bound
from aucert.validation import error_budget
from aucert.validation.budget import terms
from convex_programs import reference
from loops import each, refuses

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
Y = ((X**2).sum(axis=1) + RNG.normal(size=60) > 2.0).astype(int)
X_TEST = RNG.normal(size=(90, 2))
Y_TEST = ((X_TEST**2).sum(axis=1) > 2.0).astype(int)
LAM, GAMMA, SEED = 0.05, 0.5, 3


@functools.cache
def fitted(kind: str) -> Any:
    landmarks = Nystrom(gamma=GAMMA, n_landmarks=6, random_state=0)
    incomplete = IncompleteROCSVM(LAM, n_pairs=300, random_state=SEED, tol=1e-2)
    models = {
        "all three": make_pipeline(StandardScaler(), landmarks, incomplete),
        "no kernel": make_pipeline(StandardScaler(), incomplete),
        "no draw": make_pipeline(
            StandardScaler(), NBAUC(LAM, gamma=GAMMA, n_landmarks=6, random_state=0)
        ),
        "steps": NSAUC(LAM, gamma=GAMMA, n_landmarks=6, random_state=0, max_epochs=1000, tol=1e-2),
        "exact": RankSVM(LAM),
    }
    return models[kind].fit(X, Y)


@functools.cache
def budget(kind: str) -> terms.ErrorBudget:
    return error_budget(fitted(kind), X, Y, X_TEST, Y_TEST)


def parts(kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, str]:
    """Inputs of the kernel, features, weights and loss, read by hand."""
    model = fitted(kind)
    last = model[-1] if isinstance(model, Pipeline) else model
    inputs = model[0].transform(X) if isinstance(model, Pipeline) else X
    features = inputs
    if kind == "all three":
        features = model[1].transform(inputs)
    elif hasattr(last, "nystrom_"):
        features = last.nystrom_.transform(inputs)
    loss = "squared_hinge" if kind in ("no draw", "exact") else "hinge"
    return inputs, features, last.coef_[0], loss


def naive_objective(features: np.ndarray, w: np.ndarray, pairs: Any, loss: str) -> float:
    listed = naive.weighted_pairs((Y == 1).tolist(), pairs, float)
    return naive.primal_value(features, listed, loss, LAM, w)


@each("kind", ["all three", "no kernel", "no draw", "steps", "exact"])
def test_the_terms_add_up_and_are_what_explicit_pairs_and_a_conic_solver_say(kind: str) -> None:
    inputs, features, w, loss = parts(kind)
    everything = naive.weighted_pairs((Y == 1).tolist(), AllPairs(), float)
    pairs: AllPairs | PairList = AllPairs()
    if kind in ("all three", "no kernel"):
        pairs = approx.draw_pairs(Y == 1, 300, SEED)
    drawn = naive.weighted_pairs((Y == 1).tolist(), pairs, float)
    whole = features
    if kind in ("all three", "no draw", "steps"):
        values, vectors = np.linalg.eigh(Gaussian(GAMMA)(inputs, inputs))
        whole = vectors * np.sqrt(np.maximum(values, 0.0))
    best_drawn, w_drawn = reference(features, drawn, loss, Ridge(LAM))
    best_span, _ = reference(features, everything, loss, Ridge(LAM))
    best, _ = reference(whole, everything, loss, Ridge(LAM))
    at_drawn = naive_objective(features, np.asarray(w_drawn), AllPairs(), loss)
    at_model = naive_objective(features, w, AllPairs(), loss)
    expected = [at_model - at_drawn, at_drawn - best_span, best_span - best]
    found = budget(kind)
    # A reference solution is off by the root of its gap, and F with it.
    np.testing.assert_allclose([t.value for t in found.terms], expected, atol=3e-5)
    assert found.objective == pytest.approx(at_model, rel=1e-12)
    assert found.optimum == pytest.approx(best, rel=1e-6)
    own = naive_objective(features, w, pairs, loss) - best_drawn
    assert found.own_gap == pytest.approx(own, abs=1e-6)
    assert [term.name for term in found.terms] == [terms.OPTIMISATION, terms.SAMPLING, terms.KERNEL]
    assert sum(term.value for term in found.terms) == pytest.approx(found.total, abs=1e-14)
    assert found.total == found.objective - found.optimum >= -found.slack
    assert found.test is not None
    lost = sum(term.auc_lost or 0.0 for term in found.terms)
    assert lost == pytest.approx(found.test.auc_lost, abs=1e-14)


def test_the_theorem_stands_beside_the_terms_it_has() -> None:
    found = budget("all three")
    assert found.bound is not None and found.bound.name.startswith("Theorem 4' (I)")
    for term, name in zip(found.terms, ("inexact", "sampling", "nystrom"), strict=True):
        assert term.bound == found.bound.terms[name]
        assert term.bound is not None and term.value <= term.bound
    assert found.bound.total >= found.total
    assert found.bound.quantities["B"] == 300
    steps = budget("steps")
    assert steps.bound is not None and steps.bound.name.startswith("Theorem 4' (A)")
    assert steps.terms[0].bound is None and steps.terms[1].bound is None
    assert steps.terms[2].bound is not None and steps.terms[2].bound >= steps.terms[2].value
    assert budget("no draw").bound is None  # the theorem is about the hinge
    exact, linear, span = budget("exact"), budget("no kernel"), budget("no draw")
    assert abs(exact.total) <= exact.slack
    assert linear.terms[2].value == 0.0 and linear.terms[2].bound is None
    assert span.terms[1].value == 0.0 and span.terms[2].value > 1e-4


def test_the_test_part_is_that_of_the_functions_themselves() -> None:
    found, model = budget("all three"), fitted("all three")
    assert found.test is not None
    scores = model.decision_function(X_TEST)
    assert found.test.auc == pytest.approx(auc(scores, Y_TEST == 1), abs=1e-12)
    inputs, new = model[0].transform(X), model[0].transform(X_TEST)
    best = ROCSVM(LAM, kernel="rbf", gamma=GAMMA).fit(inputs, Y)
    lost = auc(best.decision_function(new), Y_TEST == 1) - found.test.auc
    assert found.test.auc_lost == pytest.approx(lost, abs=1e-12)
    s = scores[Y_TEST == 1][:, None] - scores[Y_TEST == 0]
    assert found.test.loss == pytest.approx(np.maximum(0, 1 - s).mean(), rel=1e-10)


@each("block", [1, 50, 10**6])
def test_means_are_those_of_the_explicit_pairs(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terms, "BLOCK_PAIRS", block)
    rng, positive = np.random.default_rng(0), np.arange(40) < 17
    scores = np.round(rng.normal(size=40) + positive, 1)
    apart = np.subtract.outer(scores[positive], scores[~positive])
    every = np.maximum(0, 1 - apart), (1 + np.sign(apart)) / 2
    found = [terms.pair_mean(scores, positive, h) for h in (HINGE.value, terms.in_order)]
    both = compare_models(found[0], found[1])
    for value, error, pairs in (
        *((one.value, one.standard_error, pairs) for one, pairs in zip(found, every, strict=True)),
        (both.difference, both.standard_error, every[0] - every[1]),
    ):
        assert value == pytest.approx(pairs.mean(), rel=1e-12)
        spread = pairs.mean(axis=1).var(ddof=1) / 17 + pairs.mean(axis=0).var(ddof=1) / 23
        assert error == pytest.approx(np.sqrt(spread), rel=1e-12)
    assert found[1].value == pytest.approx(auc(scores, positive), rel=1e-13)
    alone = terms.pair_mean(scores, np.arange(40) < 1, terms.in_order)
    assert np.isnan(alone.standard_error)  # one row of a class has none


def test_what_has_no_budget_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    weight, other = 1.0 + 3.0 * (X[:, 0] > 0), "other rows, with row weights or with a structure"
    given: dict[str, Any] = {"random_state": SEED, "n_pairs": 300}
    few = Nystrom(n_landmarks=5, random_state=0)
    behind = make_pipeline(few, StandardScaler(), RankSVM(LAM)).fit(X, Y)
    twice = make_pipeline(few, NBAUC(LAM, n_landmarks=4, random_state=0)).fit(X, Y)
    exact = fitted("exact")
    for word, model, more in (
        ("no error budget for LogisticRegression", LogisticRegression().fit(X, Y), (X, Y)),
        ("as random_state", IncompleteROCSVM(LAM, random_state=None, tol=0.5).fit(X, Y), (X, Y)),
        ("right before the model", behind, (X, Y)),
        ("two Nystrom maps", twice, (X, Y)),
        ("2 weights, the rows 1 features", exact, (X[:, :1], Y)),
        ("need their labels", exact, (X, Y, X_TEST)),
        ("other rows", exact, (X[::-1], Y)),
        (other, RankSVM(LAM).fit(X, Y, sample_weight=weight), (X, Y)),
        (other, IncompleteROCSVM(LAM, tol=1e-2, **given).fit(X, Y, weight), (X, Y)),
        (other, IncompleteSAUCSVM(LAM, 5.0, tol=1e-2, **given).fit(X, Y), (X, Y)),
        (other, approx.SubsampledRankSVM(LAM, share=0.5, random_state=0).fit(X, Y), (X, Y)),
    ):
        refuses(word, error_budget, model, *more)
    plain = IncompleteSAUCSVM(LAM, 0.0, tol=1e-2, **given).fit(X, Y)
    assert error_budget(plain, X, Y).total > 0
    with pytest.raises(RuntimeError, match="not certified"):
        error_budget(fitted("all three"), X, Y, max_time=1e-9)
    monkeypatch.setattr(terms, "DENSE_LIMIT", 50)
    refuses("too large", error_budget, fitted("no draw"), X, Y)


@each("tol", [1e-6, 1e-3, 1e-2, 0.3])
def test_a_relative_tolerance_promises_an_absolute_one_before_the_draw(tol: float) -> None:
    """The theorem's eps: what reaches a relative tol can be above the optimum by more than tol."""
    worst = Certificate.from_bounds(Bound(1 / (1 - tol), 0.0), Bound(1.0, 0.0), 1.0)
    assert worst.reaches(tol * (1 + 1e-6)) and worst.gap > tol, "p~_B = F_B(0) = 1"
    eps, found = terms.promised(tol), budget("no kernel")
    assert eps is not None and eps >= worst.gap * (1 - 1e-9)
    assert terms.promised(1.0) is None
    if tol == 1e-2:  # that of the model
        assert found.bound is not None and found.own_gap <= eps
        assert found.bound.terms["inexact"] >= eps > 1e-2
