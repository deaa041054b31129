"""What `certify` says about somebody's model is true, and it says nothing it cannot prove."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact import certify, solve
from aucert.exact.errors import InputError


@pytest.fixture
def data():
    rng = np.random.default_rng(5)
    y = np.arange(80) % 4 == 0
    return rng.normal(size=(80, 3)) + 0.6 * y[:, None], y.astype(int)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "square"])
def test_the_gap_is_the_true_distance_to_the_optimum(data, loss):
    X, y = data
    best = solve(X, y, 1e-2, loss=loss, tol=1e-11)
    w = best.w + np.array([0.1, -0.2, 0.05])
    audit = certify(X, y, 1e-2, w=w, loss=loss)
    assert audit.primal is not None and audit.radius is not None
    assert audit.gap == pytest.approx(audit.primal - best.certificate.primal, rel=1e-6)
    assert audit.radius >= np.linalg.norm(w - best.w)


def test_without_refining_the_gap_is_valid_but_looser(data):
    X, y = data
    w = np.array([0.3, 0.1, 0.0])
    tight, loose = certify(X, y, 1e-2, w=w), certify(X, y, 1e-2, w=w, refine=False)
    assert loose.gap is not None and tight.gap is not None
    assert loose.gap >= tight.gap - tight.rounding - loose.rounding
    assert loose.dual <= solve(X, y, 1e-2).certificate.primal


def test_an_intercept_does_not_matter(data):
    X, y = data
    w = np.array([0.3, 0.1, 0.2])
    assert certify(X, y, 0.1, w=[*w, 17.0]) == certify(X, y, 0.1, w=w)


def test_scores_in_the_span_give_the_gap_of_their_weights(data):
    X, y = data
    w = np.array([0.3, 0.1, 0.2])
    of_w, of_scores = certify(X, y, 0.1, w=w), certify(X, y, 0.1, scores=X @ w + 4.0)
    assert of_scores.gap == pytest.approx(of_w.gap, rel=1e-9)
    assert of_scores.residual is not None and of_scores.residual < 1e-12


def test_sparse_scores_in_the_span_give_the_gap_too(data):
    X, y = data
    w = np.array([0.3, 0.1, 0.2])
    of_w = certify(sp.csr_matrix(X), y, 0.1, w=w)
    assert certify(sp.csr_matrix(X), y, 0.1, scores=X @ w).gap == pytest.approx(of_w.gap, rel=1e-6)


def test_scores_outside_the_class_get_a_lower_bound_and_no_gap(data):
    X, y = data
    audit = certify(X, y, 0.1, scores=np.sin(9 * X[:, 0]))
    assert audit.gap is None and audit.primal is None and audit.radius is None
    assert audit.residual is not None and audit.residual > 1e-3
    assert audit.dual == pytest.approx(solve(X, y, 0.1).certificate.primal, rel=1e-8)
    assert audit.statement.startswith("Not in this model class: no gap")


def test_a_norm_given_for_scores_enters_the_primal(data):
    X, y = data
    w = np.array([0.3, 0.1, 0.2])
    with_norm = certify(X, y, 0.1, scores=X @ w, norm2=2.0)
    assert with_norm.primal == pytest.approx(with_norm.loss_value + 0.05 * 2.0, rel=1e-12)


def test_a_norm_smaller_than_the_scores_allow_is_refused(data):
    X, y = data
    with pytest.raises(InputError, match="impossible"):
        certify(X, y, 0.1, scores=X @ np.ones(3), norm2=0.5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "either weights"),
        ({"w": [1.0, 2, 3], "scores": np.zeros(80)}, "either weights"),
        ({"w": [1.0, 2.0]}, "3 coordinates"),
        ({"w": [1.0, np.nan, 0.0]}, "weight 1 is nan"),
        ({"w": ["a", "b", "c"]}, "must be numbers"),
        ({"scores": np.zeros(7)}, "80 rows"),
        ({"scores": np.full(80, np.inf)}, "score of row 0"),
        ({"w": [1.0, 0, 0], "norm2": 1.0}, "goes with scores"),
        ({"scores": np.zeros(80), "norm2": -1.0}, "norm2"),
        ({"w": [1.0, 0, 0], "tol": 0.0}, "tol must be"),
        ({"w": [1.0, 0, 0], "max_time": -1.0}, "max_time must be"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(data, options, message):
    X, y = data
    with pytest.raises(InputError, match=message):
        certify(X, y, 0.1, **options)


def test_constant_scores_are_the_zero_function(data):
    X, y = data
    assert certify(X, y, 0.1, scores=np.full(80, 3.0)).primal == pytest.approx(1.0)
