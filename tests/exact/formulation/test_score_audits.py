"""What an audit of scores says is true of the scores as given, or it says that there is no gap.

The truth is computed apart, in fractions: the loss of the scores, and the least norm of a function
that has them, or the weights that they were made of.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact import Audit, certify, solve
from aucert.exact.errors import InputError
from aucert.exact.pairs.auc import auc
from loops import each, first_fast
from naive import loss_value
from score_truth import exact_loss, in_fractions, least_norm2, products, squared

LOSSES = ("hinge", "squared_hinge", "square")


def labels(n: int) -> np.ndarray:
    return np.arange(n) % 3 == 0


def is_false(audit: Audit, objective: Fraction, above: Fraction | None = None) -> str:
    """Return what is false in an audit, given the objective and an upper bound of the optimum."""
    room = Fraction(audit.rounding)
    if above is not None and Fraction(audit.dual) - room > above:
        return "the lower bound"
    if audit.primal is None or audit.gap is None or audit.radius is None:
        return ""
    if abs(Fraction(audit.primal) - objective) > room:
        return "the objective"
    if above is not None and objective - above > Fraction(audit.gap) + room:
        return "the gap"
    return ""


def best_known(X, positive, lam, loss, **shape) -> Fraction:
    """An upper bound of the optimum of a linear problem: F of the solver's weights, exactly."""
    w = solve(X, positive, lam, loss=loss, tol=1e-11, **shape).w
    rows = [[Fraction(x) for x in row] for row in X.tolist()]
    weights = [Fraction(x) for x in w.tolist()]
    s = [sum(a * b for a, b in zip(row, weights, strict=True)) for row in rows]
    return exact_objective(s, positive, loss, Fraction(lam), squared(w))


def exact_objective(s, positive, loss, lam: Fraction, norm2: Fraction) -> Fraction:
    plus, minus = np.flatnonzero(positive), np.flatnonzero(~positive)
    total = sum((loss_value(loss, s[i] - s[j]) for i in plus for j in minus), Fraction(0))
    return total / (len(plus) * len(minus)) + lam / 2 * norm2


def true_objective(X, w, positive, lam, loss) -> Fraction:
    """F of the weights that the scores were made of."""
    s = [
        sum((Fraction(a) * Fraction(b) for a, b in zip(row, w.tolist(), strict=True)), Fraction(0))
        for row in X.tolist()
    ]
    return exact_objective(s, positive, loss, Fraction(lam), squared(w))


def far_row(size: float):
    """One positive row far out; all other positives are scored below all negatives."""
    rng = np.random.default_rng(2)
    positive = np.arange(120) % 2 == 0
    X = rng.normal(size=(120, 2))
    X[0] = (size, 0.0)
    scores = np.where(positive, -2.0, 1.0) + 0.1 * rng.random(120)
    scores[0] = size
    return X, positive, scores


@each("size", [1e6, 1e7, 1e8, 1e9, 1e12])
@each("norm2", [None, 1.0])
def test_one_far_row_does_not_make_scores_linear(size: float, norm2: float | None) -> None:
    X, positive, scores = far_row(size)
    assert auc(scores, positive) < 0.02
    audit = certify(X, positive, 0.1, scores=scores, norm2=norm2)
    assert audit.loss_value > 3.9
    assert audit.gap is None and audit.primal is None and audit.n_right is None
    assert audit.status == "no_gap" and "no gap" in audit.statement.lower()


@each("loss", first_fast(LOSSES))
def test_scores_printed_with_ten_digits_get_no_false_audit(loss: str) -> None:
    rng = np.random.default_rng(10)
    stated = 0
    for case in range(40):
        d = 1 + case % 4
        n = d + 2 + int(rng.integers(0, 20))
        X, positive, lam = rng.normal(size=(n, d)), labels(n), 10.0 ** rng.uniform(-3, 0)
        X *= 10.0 ** rng.uniform(-2, 2, size=d)
        w = rng.normal(size=d) / np.abs(X).max(axis=0)
        scores = np.array([float(f"{s:.10g}") for s in X @ w + 3.0])
        audit = certify(X, positive, lam, scores=scores, loss=loss)
        truth = true_objective(X, w, positive, lam, loss)
        assert is_false(audit, truth, best_known(X, positive, lam, loss)) == "", (case, audit)
        stated += audit.gap is not None
    assert stated >= 35  # nearly all are told a gap: the sentence is not bought by silence


@each("size", [1e-3, 1e-6, 1e-9, 1e-12, 1e-15, 1e-17])
def test_a_tiny_column_hides_no_norm(size: float) -> None:
    rng = np.random.default_rng(3)
    X, positive = rng.normal(size=(12, 3)), labels(12)
    X[:, 2] *= size
    w = np.array([0.5, -0.25, 3e5])
    scores = np.array([float(x) for x in X @ w])
    audit = certify(X, positive, 0.1, scores=scores)
    truth = true_objective(X, w, positive, 0.1, "hinge")
    assert truth > 4e9
    assert is_false(audit, truth) == ""
    if audit.gap is not None:
        assert audit.gap > 4e9
    assert (audit.gap is not None) or size < 1e-9  # and where it can be bounded it is


@each("loss", LOSSES)
@each("lam", [1e-3, 1.0])
def test_more_features_than_rows_are_audited_by_the_least_norm(loss: str, lam: float) -> None:
    rng = np.random.default_rng(4)
    stated = 0
    for case in range(12):
        n, d = 6 + case % 3, 6 + case
        X, positive = rng.normal(size=(n, d)), labels(n)
        scores = rng.normal(size=n)
        audit = certify(X, positive, lam, scores=scores, loss=loss)
        least = least_norm2(products(X), scores)
        if least is None:  # d < n - 1 with random scores: no function has them
            assert audit.gap is None
            continue
        truth = exact_loss(scores, positive, loss) + Fraction(lam) / 2 * least
        assert is_false(audit, truth, best_known(X, positive, lam, loss)) == "", (case, audit)
        stated += audit.gap is not None
    assert stated >= 8


def kernel_matrix(X: np.ndarray, gamma: float) -> np.ndarray:
    return np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=2))


@each("loss", LOSSES)
@each("gamma", [3.0, 0.3, 0.03, 0.001, 1e-5])
def test_scores_in_a_kernel_space_get_no_false_audit(loss: str, gamma: float) -> None:
    """A wide kernel is nearly singular: the norm of scores is then told rightly or not at all."""
    rng = np.random.default_rng(5)
    for case in range(6):
        n = 6 + case % 3
        X, positive, lam = rng.normal(size=(n, 2)), labels(n), 10.0 ** rng.uniform(-3, 0)
        K = kernel_matrix(X, gamma)
        K = (K + K.T) / 2
        scores = rng.normal(size=n) if case % 2 else K @ rng.normal(size=n)
        try:
            audit = certify(K, positive, lam, scores=scores, loss=loss, kernel="precomputed")
        except InputError as refused:  # a wide kernel has eigenvalues below zero by rounding
            assert "negative eigenvalue" in str(refused)
            continue
        least = least_norm2(in_fractions(K), scores)
        if least is None or least < 0:
            assert audit.gap is None
            continue
        truth = exact_loss(scores, positive, loss) + Fraction(lam) / 2 * least
        assert is_false(audit, truth) == "", (case, audit, float(truth))
        assert audit.gap is not None or gamma < 0.3


def test_scores_of_a_narrow_gaussian_kernel_get_their_gap() -> None:
    rng = np.random.default_rng(6)
    X, positive = rng.normal(size=(30, 2)), labels(30)
    a = rng.normal(size=30)
    scores = kernel_matrix(X, 2.0) @ a
    shape = {"kernel": "rbf", "gamma": 2.0}
    audit = certify(X, positive, 0.1, scores=scores + 5.0, **shape)
    of_a = certify(X, positive, 0.1, w=a, **shape)
    assert audit.primal is not None and of_a.primal is not None
    # Less than that of a by what the constant, which the scores do not show, has of the norm.
    assert audit.primal <= of_a.primal + audit.rounding + of_a.rounding


@each("structure", [0.0, 2.0])
@each("sparse", [False, True])
def test_a_structure_counts_in_the_norm_of_scores(structure: float, sparse: bool) -> None:
    rng = np.random.default_rng(7)
    X, positive = rng.normal(size=(20, 3)), labels(20)
    w = np.array([0.5, -0.3, 0.1])
    rows = sp.csr_matrix(X) if sparse else X
    scores = np.array([float(f"{s:.9g}") for s in X @ w])
    of_w = certify(rows, positive, 0.1, w=w, structure=structure)
    audit = certify(rows, positive, 0.1, scores=scores, structure=structure)
    assert audit.primal is not None and of_w.primal is not None
    assert abs(audit.primal - of_w.primal) <= audit.rounding + of_w.rounding
    assert audit.rounding < 1e-6 * audit.primal


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


def test_columns_that_depend_on_others_nearly_cost_the_gap_and_no_more() -> None:
    rng = np.random.default_rng(9)
    X, positive = rng.normal(size=(30, 3)), labels(30)
    X[:, 2] = X[:, 1] * (1 + 1e-15 * rng.integers(0, 3, size=30))
    audit = certify(X, positive, 0.1, scores=X @ np.array([1.0, 1.0, 1.0]))
    assert audit.gap is None and audit.residual is not None and audit.residual < 1e-12
    assert "norm2" in audit.statement and not audit.statement.startswith("Not in this model class")
    stated = certify(X, positive, 0.1, scores=X @ np.array([1.0, 1.0, 1.0]), norm2=3.0)
    assert stated.primal == pytest.approx(stated.loss_value + 0.15, rel=1e-12)


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


@each("loss", LOSSES)
def test_the_loss_is_that_of_the_scores_as_given(loss: str) -> None:
    rng = np.random.default_rng(11)
    X, positive = rng.normal(size=(15, 2)), labels(15)
    for scores in (X @ np.array([2.0, 1.0]), rng.normal(size=15), rng.normal(size=15) * 1e9):
        audit = certify(X, positive, 0.1, scores=scores, loss=loss)
        exact = exact_loss(scores, positive, loss)
        assert abs(Fraction(audit.loss_value) - exact) <= Fraction(1e-14) * exact


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


def test_a_kernel_space_is_never_said_to_lack_a_function_with_given_scores() -> None:
    """A Gaussian kernel has a function for any scores, however large its norm."""
    rng = np.random.default_rng(13)
    X, positive = rng.normal(size=(30, 2)), labels(30)
    scores = rng.normal(size=30)
    audit = certify(X, positive, 0.1, scores=scores, kernel="rbf", gamma=1e-4)
    assert audit.gap is None
    assert "No function" not in audit.statement and "Not in this" not in audit.statement


@each("norm2", [None, 4.0])
def test_all_that_an_audit_of_scores_says_of_numbers_is_on_the_safe_side(norm2) -> None:
    """The sentence itself: what is printed of the gap and the bound holds as printed."""
    rng = np.random.default_rng(14)
    for case in range(8):
        X, positive, lam = rng.normal(size=(20, 3)), labels(20), 10.0 ** rng.uniform(-3, 0)
        w = 0.3 * rng.normal(size=3)
        scores = X @ w
        audit = certify(X, positive, lam, scores=scores, norm2=norm2)
        of_w = true_objective(X, w, positive, lam, "hinge")
        truth = of_w if norm2 is None else of_w + Fraction(lam) / 2 * (4 - squared(w))
        above = best_known(X, positive, lam, "hinge")
        assert is_false(audit, truth, above) == "", case
        words = audit.statement
        least = Fraction(words.split("has less than ")[1].split(": ")[0])
        at_most = Fraction(words.split("at most ")[1].split(" ")[0])
        assert least <= above and truth - above <= at_most
        assert truth - least <= at_most * (1 + Fraction(1, 50)) + Fraction(audit.rounding) * 2
        if norm2 is not None:
            assert "with |f|^2 = 4, as given" in words


def test_the_status_says_whether_the_gap_is_within_the_tolerance() -> None:
    rng = np.random.default_rng(15)
    X, positive = rng.normal(size=(40, 3)), labels(40)
    w = solve(X, positive, 0.1, tol=1e-11).w
    assert certify(X, positive, 0.1, w=w).status == "certified"
    assert certify(X, positive, 0.1, scores=X @ w).status == "certified"
    far = certify(X, positive, 0.1, w=w + 100.0)
    assert far.status == "above_tolerance" and far.relative_gap is not None
    assert far.relative_gap > 0.99
    for tol, status in ((1e-3, "above_tolerance"), (0.5, "certified")):
        audit = certify(X, positive, 0.1, w=w + 0.1, tol=tol)
        assert audit.relative_gap is not None and 1e-3 < audit.relative_gap < 0.5
        assert audit.status == status
