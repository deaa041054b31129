"""What an audit of scores says is true of the scores as given, or it says why a gap is missing.

The truth is computed apart, in fractions: the loss of the scores, and the least norm of a function
that has them, or the weights that they were made of.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact import AllPairs, PairList, Rows, certify, linear_problem, solve
from aucert.exact.errors import InputError
from aucert.exact.formulation import scores as audits
from aucert.exact.formulation.formulation import formulate
from aucert.exact.formulation.request import Request
from aucert.exact.formulation.scores import fit_scores, printed_error
from aucert.exact.spaces.factor import independent_columns
from loops import each
from naive import exact, loss_value, sums, weighted_pairs


def labels(n: int) -> np.ndarray:
    return np.arange(n) % 3 == 0


def exact_loss(scores, positive, loss) -> Fraction:
    """The mean loss over all pairs of the scores as given."""
    return sums(exact(scores), weighted_pairs(positive.tolist(), AllPairs()), loss).value


@each("extra", ["constant", "copy", "one-hot"])
def test_columns_that_depend_on_others_exactly_do_not_cost_the_gap(extra: str) -> None:
    rng = np.random.default_rng(8)
    X, positive = rng.normal(size=(30, 3)), labels(30)
    kinds = np.eye(3)[np.arange(30) % 3 - (np.arange(30) % 5 == 0)]
    more = {"constant": np.full((30, 1), 0.1), "copy": X[:, :1], "one-hot": kinds}[extra]
    X = np.hstack([more, X])
    w = rng.normal(size=X.shape[1])
    scores = X @ w
    audit = certify(X, positive, 0.1, scores=scores)
    assert audit.gap is not None and audit.primal is not None
    centred = X - X.mean(axis=0)
    least = float(np.sum((np.linalg.pinv(centred) @ (scores - scores.mean())) ** 2))
    assert audit.primal == pytest.approx(audit.loss_value + 0.05 * least, rel=1e-11)


def test_a_norm_that_no_function_with_this_loss_has_is_refused() -> None:
    """Where nothing else bounds the norm, the optimum does: F of no function is below it."""
    rng = np.random.default_rng(9)
    X, positive = rng.normal(size=(30, 3)), labels(30)
    X[:, 2] = X[:, 1] * (1 + 1e-15 * rng.integers(0, 3, size=30))
    scores = 5.0 * (X @ np.array([1.0, 1.0, 1.0]) + 2.0 * positive)
    w = solve(X, positive, 10.0).w
    with pytest.raises(InputError, match="norm2 = 0 is impossible"):
        certify(X, positive, 10.0, scores=X @ w, norm2=0.0)
    assert certify(X, positive, 10.0, scores=scores, norm2=0.0).gap is None


def test_the_residual_is_what_least_squares_leave_of_the_standard_deviation() -> None:
    """A function that comes nearer in the largest difference does not make the sentence false."""
    rng = np.random.default_rng(12)
    for _ in range(10):
        X, positive = rng.normal(size=(25, 3)), labels(25)
        scores = rng.exponential(size=25) ** 2
        audit = certify(X, positive, 0.1, scores=scores)
        design = np.column_stack([X, np.ones(25)])
        left = scores - design @ np.linalg.lstsq(design, scores, rcond=None)[0]
        direct = float(np.sqrt(np.mean(left**2)) / np.std(scores))
        assert audit.residual == pytest.approx(direct, rel=1e-12)
        assert audit.residual is not None and audit.residual <= 1.0  # zero leaves all of it
        words = "No function of it leaves less than "
        said = float(audit.statement.split(words)[1].split(" ")[0])
        assert 0.99 * direct < said <= direct


# The fit.

POSITIVE = np.arange(14) % 3 == 0


def test_the_loss_of_scores_counts_weights_and_listed_pairs() -> None:
    rng = np.random.default_rng(1)
    scores, weight = rng.normal(size=14), rng.integers(1, 4, size=14).astype(float)
    rows = rng.normal(size=(14, 2))
    repeated = np.repeat(np.arange(14), weight.astype(int))
    weighted = linear_problem(rows, POSITIVE, 0.1, pairs=AllPairs(weight))
    found = audits.loss_of(weighted, scores)
    true = exact_loss(scores[repeated], POSITIVE[repeated], "hinge")
    assert abs(Fraction(found.value) - true) <= Fraction(found.error)
    listed = linear_problem(rows, POSITIVE, 0.1, pairs=PairList(np.array([0, 3]), np.array([1, 2])))
    found = audits.loss_of(listed, scores)
    s = exact(scores)
    true = (loss_value("hinge", s[0] - s[1]) + loss_value("hinge", s[3] - s[2])) / 2
    assert abs(Fraction(found.value) - true) <= Fraction(found.error)


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
