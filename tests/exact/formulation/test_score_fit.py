"""What scores tell of their function: the loss, the printed digits, the smallest singular value."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact.api.certify import certify
from aucert.exact.formulation import scores as audits
from aucert.exact.formulation.formulation import formulate
from aucert.exact.formulation.request import Request
from aucert.exact.formulation.scores import fit_scores, printed_error
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.problem.problem import linear_problem
from aucert.exact.spaces.factor import independent_columns
from aucert.exact.spaces.rows import Rows
from loops import each
from naive import loss_value
from score_truth import exact_loss

POSITIVE = np.arange(14) % 3 == 0


@each("few", [0, audits.FEW_PAIRS])
@each("loss", ["hinge", "squared_hinge", "square"])
@pytest.mark.long_digits
def test_the_loss_of_far_scores_is_within_its_rounding(few: int, loss: str, monkeypatch) -> None:
    monkeypatch.setattr(audits, "FEW_PAIRS", few)
    rng = np.random.default_rng(0)
    problem = linear_problem(rng.normal(size=(14, 2)), POSITIVE, 0.1, loss)
    for offset in (0.0, 1e6, 1e12):
        for far in (0.0, 1e5, 1e10):
            scores = rng.normal(size=14) + offset
            scores[0] += far
            found = audits.loss_of(problem, scores)
            value, rounding = found.value, found.error
            exact = exact_loss(scores, POSITIVE, loss)
            assert abs(Fraction(found.value) - exact) <= Fraction(found.error)
            assert few == 0 or rounding <= 1e-14 * (1 + value)


def test_the_loss_of_scores_counts_weights_and_listed_pairs() -> None:
    rng = np.random.default_rng(1)
    scores, weight = rng.normal(size=14), rng.integers(1, 4, size=14).astype(float)
    rows = rng.normal(size=(14, 2))
    repeated = np.repeat(np.arange(14), weight.astype(int))
    weighted = linear_problem(rows, POSITIVE, 0.1, pairs=AllPairs(weight))
    found = audits.loss_of(weighted, scores)
    exact = exact_loss(scores[repeated], POSITIVE[repeated], "hinge")
    assert abs(Fraction(found.value) - exact) <= Fraction(found.error)
    listed = linear_problem(rows, POSITIVE, 0.1, pairs=PairList(np.array([0, 3]), np.array([1, 2])))
    found = audits.loss_of(listed, scores)
    s = [Fraction(x) for x in scores.tolist()]
    exact = (loss_value("hinge", s[0] - s[1]) + loss_value("hinge", s[3] - s[2])) / 2
    assert abs(Fraction(found.value) - exact) <= Fraction(found.error)


@each("digits", [7, 10, 15])
def test_printed_scores_are_off_by_half_a_unit_of_their_last_digit_at_most(digits: int) -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        exact = rng.normal(size=30) * 10.0 ** rng.uniform(-5, 5)
        printed = np.array([float(f"{x:.{digits}g}") for x in exact])
        top = float(np.abs(printed).max())
        assert np.abs(printed - exact).max() <= printed_error(printed) <= 10.0 ** (1 - digits) * top


def test_scores_that_were_not_printed_or_are_whole_numbers_are_as_given() -> None:
    assert printed_error(np.random.default_rng(3).normal(size=30)) == 0.0
    assert printed_error(np.array([3.0, -1.0, 0.0, 0.25])) == 0.0


@each("sparse", [False, True])
def test_the_smallest_singular_value_is_bounded_from_below_and_closely(sparse: bool) -> None:
    rng = np.random.default_rng(4)
    for power in (0, 3, 6):
        X = rng.normal(size=(40, 4)) * 10.0 ** rng.uniform(-power, power, size=4)
        X[:, 3] = X[:, 2] + 10.0**-power * X[:, 3]
        found = independent_columns(Rows(sp.csr_matrix(X) if sparse else X))
        assert found is not None
        least = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[-1]
        assert 1 / (1 + 1e-6) <= found.stretch * least <= 4.0


def test_columns_that_are_near_to_dependent_have_no_bound() -> None:
    X = np.random.default_rng(5).normal(size=(40, 3))
    X[:, 2] = X[:, 0] + X[:, 1]  # up to rounding, which fractions see
    assert independent_columns(Rows(X)) is None
    X = np.round(64 * X[:, :2]) / 64
    found = independent_columns(Rows(np.column_stack([X, X.sum(axis=1), 3 * X[:, 0], X[:, 0] * 0])))
    assert found is not None and found.basis.size == 2 and found.others.size == 3


def test_functions_with_the_same_scores_nearly_are_as_near_as_the_fit_says() -> None:
    rng = np.random.default_rng(6)
    for seed in range(20):
        X = rng.normal(size=(14, 3)) * 10.0 ** rng.uniform(-2, 2, size=3)
        w = rng.normal(size=3) / np.abs(X).max(axis=0)
        scores = X @ w
        fit = fit_scores(formulate(X, POSITIVE, Request.of(0.1)), scores)
        assert np.linalg.norm(fit.w - w) <= fit.moved < 1e-9 * np.linalg.norm(w)
        direction = rng.normal(size=3)
        direction *= fit.apart / np.ptp(X @ direction) / 1.001
        assert np.linalg.norm(fit.w - w - direction) <= 2 * fit.moved, seed


@pytest.mark.filterwarnings("error")
@each("scale", [1e-140, 1e-100, 1e-92, 1e-60, 1e60, 1e90])
def test_rows_of_any_size_are_fitted_without_a_warning(scale: float) -> None:
    """The inverse of their products has squares that overflow."""
    rng, y = np.random.default_rng(3), np.array([0, 1, 0])
    X = scale * rng.normal(size=(3, 5))
    lam = float(np.clip(scale**2, 1e-90, 1e90))
    audit = certify(X, y, lam, scores=rng.normal(size=3))
    assert audit.gap is None or audit.gap >= 0
