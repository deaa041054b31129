"""What `certify` says about somebody's model is true, and it says nothing it cannot prove."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact import ROCSVM, PairList, certify, solve
from aucert.exact.errors import InputError
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
    plain, longer = certify(X, y, 0.1, w=w), certify(X, y, 0.1, w=[*w, 17.0])
    said = " The last of the 4 numbers was taken as an intercept, which no pair sees."
    assert longer == replace(plain, statement=plain.statement + said)


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


@each(
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


def test_a_model_in_the_place_of_its_weights_is_told_which_attribute_they_are(data):
    X, y = data
    model = ROCSVM(lam=0.1).fit(X, y)
    with pytest.raises(InputError, match=r"give w=model\.coef_"):
        certify(X, y, 0.1, w=model)
    assert certify(X, y, 0.1, w=model.coef_).gap is not None


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


def test_row_weights_count_as_repetitions_in_a_sum_over_pairs(data):
    X, y = data
    weight = 1.0 + np.arange(80) % 3
    whole = np.repeat(np.arange(80), weight.astype(int))
    options = {"w": [0.3, 0.1, 0.2], "rival": "svm-rank", "C": 0.01}
    weighted = certify(X, y, sample_weight=weight, **options)
    repeated = certify(X[whole], y[whole], **options)
    assert weighted.lam == pytest.approx(repeated.lam, rel=1e-13)
    assert weighted.rival_gap == pytest.approx(repeated.rival_gap, rel=1e-7)


def test_a_list_of_pairs_is_counted_by_its_length_if_its_weights_are_equal(data):
    X, y = data
    i, j = np.flatnonzero(y)[:5], np.flatnonzero(y == 0)[:5]
    options = {"w": [0.3, 0.1, 0.2], "rival": "knn", "C": 0.5}
    assert certify(X, y, pairs=PairList(i, j), **options).lam == pytest.approx(1 / (0.5 * 5))
    with pytest.raises(InputError, match="unequal weights"):
        certify(X, y, pairs=PairList(i, j, np.arange(1.0, 6.0)), **options)


def test_the_sentence_says_how_many_pairs_are_ordered_for_certain(data):
    X, y = data
    best = solve(X, y, 0.1, tol=1e-9)
    audit = certify(X, y, 0.1, w=best.w)
    assert audit.n_right is not None and audit.n_wrong is not None
    assert 0 < audit.n_right + audit.n_wrong <= audit.n_pairs == 1200
    assert f"order {audit.n_right + audit.n_wrong} of the pairs as they do" in audit.statement
    worse = certify(X, y, 0.1, w=best.w + 0.2)
    assert worse.n_right is not None and worse.n_right < audit.n_right


def test_a_model_too_far_off_for_the_order_of_any_pair_is_told_so(data):
    X, y = data
    audit = certify(X, y, 1e-6, w=[1e-3, 0.0, 0.0])
    assert audit.n_right == audit.n_wrong == 0
    assert "too far away for the order of any pair to be certain" in audit.statement


def test_the_structure_of_the_listed_pairs_can_be_meant(data):
    X, y = data
    i, j = np.flatnonzero(y)[:9], np.flatnonzero(y == 0)[:9]
    options = {"w": [0.3, 0.1, 0.2], "structure": 5.0, "pairs": PairList(i, j)}
    full = certify(X, y, 0.1, **options)
    sampled = certify(X, y, 0.1, structure_source="sampled", **options)
    differences = X[i] - X[j]
    spread = float(np.var(differences @ np.array([0.3, 0.1, 0.2])))
    value = np.maximum(0, 1 - differences @ np.array([0.3, 0.1, 0.2])).mean()
    assert sampled.primal == pytest.approx(value + 0.05 * (0.14 + 5 * spread), rel=1e-10)
    assert full.primal is not None and sampled.primal is not None
    assert abs(full.primal - sampled.primal) > 1e-3


@each(
    ("options", "message"),
    [
        ({"w": [1.0, 0, 0]}, "give lam, or rival with C"),
        ({"w": [1.0, 0, 0], "rival": "dlib"}, "give lam, or rival with C"),
        ({"w": [1.0, 0, 0], "C": 1.0}, "give lam, or rival with C"),
        ({"w": [1.0, 0, 0], "lam": 1.0, "rival": "dlib", "C": 1.0}, "not both"),
        ({"w": [1.0, 0, 0], "rival": "libfm", "C": 1.0}, "unknown convention 'libfm'"),
        ({"w": [1.0, 0, 0], "rival": "dlib", "C": 0.0}, "C must be > 0"),
        ({"w": [1.0, 0, 0], "rival": "dlib", "C": 1.0, "loss": "square"}, "dlib has the loss"),
    ],
)
def test_a_scaling_that_is_not_clear_is_refused(data, options, message):
    with pytest.raises(InputError, match=message):
        certify(*data, **options)
