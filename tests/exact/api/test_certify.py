"""What an audit of weights or scores says is true of them, and it says nothing it cannot prove."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from aucert.exact import PairList, PartitionedRows, StreamedRows, certify, lam_from_C, solve
from aucert.exact.formulation.scores import printed_error
from aucert.exact.problem.scalings import convention_loss, objective_scale
from aucert.exact.spaces.gram import AS_STORED, Gram
from cutting import cut
from fuzzing import LinearTruth
from loops import each, refuses


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
    audit: Any = certify(X, y, 1e-2, w=w, loss=loss)
    assert audit.gap == pytest.approx(audit.primal - best.certificate.primal, rel=1e-6)
    assert audit.radius >= np.linalg.norm(w - best.w)
    loose: Any = certify(X, y, 1e-2, w=w, loss=loss, refine=False)
    assert loose.dual <= best.certificate.primal
    assert loose.gap >= audit.gap - audit.rounding - loose.rounding
    longer = certify(X, y, 1e-2, w=[*w, 17.0], loss=loss)  # an intercept, which no pair sees
    assert "intercept" in longer.statement
    assert replace(longer, statement=audit.statement) == audit


def test_scores_outside_the_class_get_a_lower_bound_and_no_gap(data):
    X, y = data
    audit: Any = certify(X, y, 0.1, scores=np.sin(9 * X[:, 0]))
    assert audit.gap is audit.primal is audit.radius is None and audit.residual > 1e-3
    assert audit.dual == pytest.approx(solve(X, y, 0.1).certificate.primal, rel=1e-8)
    assert audit.statement.startswith("Not in this model class: no gap")
    w = np.array([0.3, 0.1, 0.2])
    of_w, of_scores = certify(X, y, 0.1, w=w), certify(X, y, 0.1, scores=X @ w + 4.0)
    assert of_scores.gap == pytest.approx(of_w.gap, rel=1e-9)
    assert (of_scores.residual or 0.0) < 1e-12
    F = np.random.default_rng(0).normal(size=(12, 3))  # a matrix on which F has no minimum
    K, y = F @ F.T - 6e-14 * np.eye(12), np.arange(12) % 2
    assert np.linalg.eigvalsh(K)[0] < -5e-14 and Gram(K).shift > 5e-14
    kind: Any = {"kernel": "precomputed"}
    w = solve(K, y, 0.1, **kind).w
    for judged in (certify(K, y, 0.1, w=w, **kind), certify(K, y, 0.1, scores=K @ w, **kind)):
        assert judged.statement.endswith(AS_STORED)
    assert AS_STORED not in certify(K, y, 0.1, w=np.zeros(12)).statement


@each("rival", ["liblinear-ranksvm", "dlib", "roclab", "svm-rank", "scikit-learn", "torch"])
def test_a_rivals_constant_names_the_problem_its_loss_included(data, rival):
    """`test_scalings` has the formulas."""
    (X, y), w, of = data, [0.3, 0.1, 0.2], (0.02, 20 * 60, rival)
    lam, loss, scale = lam_from_C(*of), convention_loss(rival), objective_scale(*of)
    theirs = certify(X, y, w=w, rival=rival, C=0.02)
    ours: Any = certify(X, y, lam, w=w, loss=loss)
    assert (theirs.lam, theirs.loss) == (lam, loss)
    assert theirs.gap == pytest.approx(ours.gap, rel=1e-7)
    assert theirs.rival_primal == pytest.approx(scale * ours.primal, rel=1e-12)
    assert theirs.rival_gap == pytest.approx(scale * ours.gap, rel=1e-7)
    assert f"in the units of {rival} at C = 0.02" in theirs.statement
    assert ours.rival_primal is None and "units" not in ours.statement


def test_a_list_of_pairs_is_counted_by_its_length_if_its_weights_are_equal(data):
    X, y = data
    i, j = np.flatnonzero(y)[:5], np.flatnonzero(y == 0)[:5]
    options = {"w": [0.3, 0.1, 0.2], "rival": "knn", "C": 0.5}
    assert certify(X, y, pairs=PairList(i, j), **options).lam == pytest.approx(1 / (0.5 * 5))
    refuses("unequal weights", certify, X, y, pairs=PairList(i, j, np.arange(1.0, 6.0)), **options)
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
    said = found.statement.split("have an objective of at most ")[1].split(" over")[0]
    assert truth <= float(said) <= float(truth) * (1 + 1e-8)
    best: Any = certify(X, y, lam, w=rough.w, loss=loss)
    assert found.dual <= best.dual + best.gap
    assert not refine or found.dual == pytest.approx(best.dual, rel=0.3)


THIRD = np.arange(30) % 3 == 0


@each("extra", ["constant", "copy", "one-hot"])
def test_columns_that_depend_on_others_exactly_do_not_cost_the_gap(extra: str) -> None:
    rng = np.random.default_rng(8)
    X, kinds = rng.normal(size=(30, 3)), np.eye(3)[np.arange(30) % 3 - (np.arange(30) % 5 == 0)]
    more = {"constant": np.full((30, 1), 0.1), "copy": X[:, :1], "one-hot": kinds}[extra]
    X = np.hstack([more, X])
    scores = X @ rng.normal(size=X.shape[1])
    audit: Any = certify(X, THIRD, 0.1, scores=scores)
    assert audit.gap is not None
    centred = X - X.mean(axis=0)
    least = float(np.sum((np.linalg.pinv(centred) @ (scores - scores.mean())) ** 2))
    assert audit.primal == pytest.approx(audit.loss_value + 0.05 * least, rel=1e-11)


def test_a_norm_that_no_function_with_this_loss_has_is_refused() -> None:
    """Where nothing else bounds the norm, the optimum does: F of no function is below it."""
    rng = np.random.default_rng(9)
    X = rng.normal(size=(30, 3))
    X[:, 2] = X[:, 1] * (1 + 1e-15 * rng.integers(0, 3, size=30))
    scores, best = 5.0 * (X.sum(axis=1) + 2.0 * THIRD), X @ solve(X, THIRD, 10.0).w
    refuses("norm2 = 0 is impossible", certify, X, THIRD, 10.0, scores=best, norm2=0.0)
    assert certify(X, THIRD, 10.0, scores=scores, norm2=0.0).gap is None


def test_the_residual_is_what_least_squares_leave_of_the_standard_deviation() -> None:
    """A function that comes nearer in the largest difference does not make the sentence false."""
    rng = np.random.default_rng(12)
    for _ in range(10):
        X, scores = rng.normal(size=(25, 3)), rng.exponential(size=25) ** 2
        audit: Any = certify(X, THIRD[:25], 0.1, scores=scores)
        design = np.column_stack([X, np.ones(25)])
        left = scores - design @ np.linalg.lstsq(design, scores, rcond=None)[0]
        direct = float(np.sqrt(np.mean(left**2)) / np.std(scores))
        assert audit.residual == pytest.approx(direct, rel=1e-12)
        assert audit.residual <= 1.0  # zero leaves all of it
        said = float(audit.statement.split("No function of it leaves less than ")[1].split(" ")[0])
        assert 0.99 * direct < said <= direct


@each("digits", [7, 10, 15])
def test_printed_scores_are_off_by_half_a_unit_of_their_last_digit_at_most(digits: int) -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        given = rng.normal(size=30) * 10.0 ** rng.uniform(-5, 5)
        printed = np.array([float(f"{x:.{digits}g}") for x in given])
        top = float(np.abs(printed).max())
        assert np.abs(printed - given).max() <= printed_error(printed) <= 10.0 ** (1 - digits) * top
    assert printed_error(np.random.default_rng(3).normal(size=30)) == 0.0  # not printed
    assert printed_error(np.array([3.0, -1.0, 0.0, 0.25])) == 0.0


@pytest.mark.filterwarnings("error")
@each("scale", [1e-140, 1e-100, 1e-92, 1e-60, 1e60, 1e90])
def test_rows_of_any_size_are_fitted_without_a_warning(scale: float) -> None:
    """The inverse of their products has squares that overflow."""
    rng, y = np.random.default_rng(3), np.array([0, 1, 0])
    X = scale * rng.normal(size=(3, 5))
    lam = float(np.clip(scale**2, 1e-90, 1e90))
    audit = certify(X, y, lam, scores=rng.normal(size=3))
    assert audit.gap is None or audit.gap >= 0


def test_pairs_without_weight_are_not_counted() -> None:
    X, y = np.random.default_rng(0).normal(size=(8, 2)), np.arange(8) % 7 < 3
    weight = np.array([1.0, 0, 3, 1, 0, 2, 1, 0])
    i, j = np.nonzero(y)[0].repeat(4), np.tile(np.nonzero(~y)[0], 4)
    w, weighted = solve(X, y, 0.1, sample_weight=weight).w, {"sample_weight": weight}
    for rows, labels, words in (
        (X, y, weighted),
        (StreamedRows(X), y, weighted),
        (PartitionedRows(cut(X, y, weight, [3])), None, {}),
        (X, y, {"pairs": PairList(i, j, weight[i] * weight[j])}),
    ):
        audit = certify(rows, labels, 0.1, w=w, **words)  # type: ignore[arg-type]
        assert (audit.n_pairs, audit.n_sure_right, audit.n_sure_wrong) == (6, 4, 2)
        assert " over 6 pairs" in audit.statement
