"""What `certify` says about somebody's model is true, and it says nothing it cannot prove."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from aucert.exact import PairList, PartitionedRows, StreamedRows, certify, solve
from aucert.exact.errors import InputError
from aucert.exact.spaces.gram import AS_STORED, Gram
from cutting import cut
from fuzzing import LinearTruth
from loops import each


@pytest.fixture
def data():
    rng = np.random.default_rng(5)
    y = np.arange(80) % 4 == 0
    return rng.normal(size=(80, 3)) + 0.6 * y[:, None], y.astype(int)


@each("loss", ["hinge", "squared_hinge", "square"])
def test_the_gap_is_the_true_distance_to_the_optimum(data, loss):
    X, y = data
    best = solve(X, y, 1e-2, loss=loss, tol=1e-11)
    w = best.w + np.array([0.1, -0.2, 0.05])
    audit = certify(X, y, 1e-2, w=w, loss=loss)
    assert audit.primal is not None and audit.radius is not None
    assert audit.gap == pytest.approx(audit.primal - best.certificate.primal, rel=1e-6)
    assert audit.radius >= np.linalg.norm(w - best.w)
    loose = certify(X, y, 1e-2, w=w, loss=loss, refine=False)
    assert loose.dual <= best.certificate.primal
    assert loose.gap is not None and audit.gap is not None
    assert loose.gap >= audit.gap - audit.rounding - loose.rounding
    longer = certify(X, y, 1e-2, w=[*w, 17.0], loss=loss)  # an intercept, which no pair sees
    assert "intercept" in longer.statement
    assert replace(longer, statement=audit.statement) == audit


def test_scores_outside_the_class_get_a_lower_bound_and_no_gap(data):
    X, y = data
    audit = certify(X, y, 0.1, scores=np.sin(9 * X[:, 0]))
    assert audit.gap is None and audit.primal is None and audit.radius is None
    assert audit.residual is not None and audit.residual > 1e-3
    assert audit.dual == pytest.approx(solve(X, y, 0.1).certificate.primal, rel=1e-8)
    assert audit.statement.startswith("Not in this model class: no gap")
    w = np.array([0.3, 0.1, 0.2])
    of_w, of_scores = certify(X, y, 0.1, w=w), certify(X, y, 0.1, scores=X @ w + 4.0)
    assert of_scores.gap == pytest.approx(of_w.gap, rel=1e-9)
    assert of_scores.residual is not None and of_scores.residual < 1e-12
    F = np.random.default_rng(0).normal(size=(12, 3))  # a matrix on which F has no minimum
    K, y = F @ F.T - 6e-14 * np.eye(12), np.arange(12) % 2
    assert np.linalg.eigvalsh(K)[0] < -5e-14 and Gram(K).shift > 5e-14
    w = solve(K, y, 0.1, kernel="precomputed").w
    judged: dict[str, Any]
    for judged in ({"w": w}, {"scores": K @ w}):
        assert certify(K, y, 0.1, kernel="precomputed", **judged).statement.endswith(AS_STORED)
    assert AS_STORED not in certify(K, y, 0.1, w=np.zeros(12)).statement


RIVALS = {
    "liblinear-ranksvm": ("squared_hinge", lambda C, N: 1 / (C * N), lambda C, N: C * N),
    "dlib": ("hinge", lambda C, N: 1 / C, lambda C, N: C),
    "roclab": ("hinge", lambda C, N: C, lambda C, N: 1.0),
    "svm-rank": ("hinge", lambda C, N: 1 / (C * N), lambda C, N: C * N),
    "scikit-learn": ("squared_hinge", lambda C, N: 1 / (C * N), lambda C, N: C * N),
    "torch": ("hinge", lambda C, N: C, lambda C, N: 1.0),
}


@each("rival", RIVALS)
def test_a_rivals_constant_names_the_problem_its_loss_included(data, rival):
    X, y = data
    loss, lam, scale = RIVALS[rival]
    w, C, N = [0.3, 0.1, 0.2], 0.02, 20 * 60
    theirs = certify(X, y, w=w, rival=rival, C=C)
    ours = certify(X, y, lam(C, N), w=w, loss=loss)
    assert (theirs.lam, theirs.loss) == (pytest.approx(lam(C, N), rel=1e-14), loss)
    assert theirs.gap == pytest.approx(ours.gap, rel=1e-7)
    assert theirs.rival_primal == pytest.approx(scale(C, N) * ours.primal, rel=1e-12)
    assert theirs.rival_gap == pytest.approx(scale(C, N) * ours.gap, rel=1e-7)
    assert f"in the units of {rival} at C = 0.02" in theirs.statement
    assert ours.rival_primal is None and "units" not in ours.statement


def test_a_list_of_pairs_is_counted_by_its_length_if_its_weights_are_equal(data):
    X, y = data
    i, j = np.flatnonzero(y)[:5], np.flatnonzero(y == 0)[:5]
    options = {"w": [0.3, 0.1, 0.2], "rival": "knn", "C": 0.5}
    assert certify(X, y, pairs=PairList(i, j), **options).lam == pytest.approx(1 / (0.5 * 5))
    with pytest.raises(InputError, match="unequal weights"):
        certify(X, y, pairs=PairList(i, j, np.arange(1.0, 6.0)), **options)
    weight = 1.0 + np.arange(80) % 3  # row weights count as repetitions in a sum over pairs
    whole, options["rival"] = np.repeat(np.arange(80), weight.astype(int)), "svm-rank"
    weighted = certify(X, y, sample_weight=weight, **options)
    repeated = certify(X[whole], y[whole], **options)
    assert weighted.lam == pytest.approx(repeated.lam, rel=1e-13)
    assert weighted.rival_gap == pytest.approx(repeated.rival_gap, rel=1e-7)


@each("refine", [False, True])
@each("parted", [False, True])
@each("loss", ["hinge", "squared_hinge"])
def test_an_audit_takes_a_finer_grid_than_the_solver(loss: str, parted: bool, refine: bool) -> None:
    """That of the solver's grid was 1e-3 above F, and was called "up to 4e-9"."""
    rng, y = np.random.default_rng(3), np.arange(300) % 3 == 0
    X = rng.normal(size=(300, 2)) + y[:, None]
    rows = PartitionedRows(cut(X, y, None, [150])) if parted else StreamedRows(X, 16)
    labels, lam = None if parted else y, 1e-2
    rough = solve(rows, labels, lam, loss=loss, method="descent", tol=0.3)
    truth = LinearTruth(X, y, lam, loss).objective(rough.w)
    assert rough.certificate.primal - truth > 1e-7
    found: Any = certify(rows, labels, lam, w=rough.w, loss=loss, refine=refine, tol=0.3)
    assert truth <= Fraction(found.primal)
    assert found.primal == pytest.approx(float(truth), rel=1e-8)
    said = re.search(r"have an objective of at most (\S+) over", found.statement)
    assert said is not None and truth <= float(said[1]) <= float(truth) * (1 + 1e-8)
    best: Any = certify(X, y, lam, w=rough.w, loss=loss)
    assert found.dual <= best.dual + best.gap
    assert not refine or found.dual == pytest.approx(best.dual, rel=0.3)


def test_an_objective_that_rounding_hides_is_said_with_its_rounding() -> None:
    """Rows a hundred million from the origin, and long weights: eight digits are gone."""
    rng, y = np.random.default_rng(1), np.arange(20) % 2
    X = rng.normal(size=(20, 2))
    X[0] = 1e15
    audit = certify(X, y, 1e-3, w=np.array([1e3, -1e3]), refine=False)
    assert audit.primal is not None and audit.rounding > 1e-10 * audit.primal
    true = LinearTruth(X, y == 1, 1e-3, "hinge").objective(np.array([1e3, -1e3]))
    assert audit.primal >= true >= Fraction(audit.primal) - Fraction(audit.rounding)
