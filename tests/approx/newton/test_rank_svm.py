from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.pipeline import make_pipeline

from aucert.approx.landmarks import LANDMARKS
from aucert.approx.newton.nbauc import NBAUC
from aucert.approx.newton.truncated_newton import RankSVM
from aucert.approx.nystrom import Nystrom
from aucert.exact.api.solve import solve
from aucert.exact.certificate.solution import Status
from aucert.exact.errors import InputError
from aucert.exact.estimators.roc_svm import ROCSVM
from aucert.exact.problem.problem import linear_problem
from aucert.exact.problem.scalings import lam_from_C
from loops import each

RNG = np.random.default_rng(0)
Y = (np.arange(60) % 3 == 0).astype(int)
X = RNG.normal(size=(60, 3)) + 0.8 * Y[:, None]
FRESH = RNG.normal(size=(20, 3))
LAM = 0.01


def make(**parameters) -> NBAUC:
    return NBAUC(**{"lam": LAM, "gamma": 0.3, "n_landmarks": 12, "random_state": 0, **parameters})


def kernel_optimum(**parameters) -> float:
    """Return the optimum over the whole space of the kernel: the certified lower bound."""
    exact = solve(X, Y, LAM, kernel="rbf", gamma=0.3, loss="squared_hinge", **parameters)
    assert exact.status == Status.CERTIFIED
    return exact.certificate.dual


# RankSVM


def test_rank_svm_by_hand_on_one_pair() -> None:
    # lam/2 w^2 + (1 - 2 w)^2 at lam = 1: w = 4 / (1 + 8).
    model = RankSVM(1.0).fit([[0.0], [2.0]], ["no", "yes"])
    assert model.coef_[0, 0] == pytest.approx(4 / 9, rel=1e-9)
    assert model.certificate_.primal == pytest.approx(1 / 9, rel=1e-12)
    assert model.predict([[0.9], [1.1]]).tolist() == ["no", "yes"]


def test_rank_svm_is_the_exact_squared_hinge_machine() -> None:
    model, exact = RankSVM(LAM).fit(X, Y), ROCSVM(LAM, loss="squared_hinge").fit(X, Y)
    assert model.status_ == Status.CERTIFIED and model.certificate_.reaches(1e-9)
    np.testing.assert_allclose(model.coef_, exact.coef_, rtol=1e-4)
    objective = linear_problem(X, Y, LAM, "squared_hinge").objective(model.coef_[0])
    assert model.certificate_.primal == pytest.approx(objective, rel=1e-13)
    assert objective <= exact.certificate_.dual * (1 + 1e-8)
    assert model.n_iter_ == len(model.history_)


def test_rank_svm_minimises_the_printed_sum_at_the_converted_c() -> None:
    C = 0.7
    w = RankSVM(lam_from_C(C, 20 * 40, "nonlinear-2"), tol=1e-10).fit(X, Y).coef_[0]
    D = (X[Y == 1][:, None] - X[Y == 0][None]).reshape(-1, 3)
    gradient = w - 2 * C * D.T @ np.maximum(0, 1 - D @ w)
    assert np.linalg.norm(gradient) <= 1e-5 * np.linalg.norm(w)


def test_rank_svm_takes_a_weight_for_repetition() -> None:
    weight = RNG.integers(0, 4, size=60)
    weighted = RankSVM(LAM, tol=1e-10).fit(X, Y, sample_weight=weight)
    repeated = RankSVM(LAM, tol=1e-10).fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-5)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, rtol=1e-5)


# NBAUC


@each("landmarks", LANDMARKS)
def test_nbauc_is_rank_svm_on_the_nystrom_features(landmarks: str) -> None:
    model = make(landmarks=landmarks).fit(X, Y)
    features = Nystrom(gamma=0.3, n_landmarks=12, landmarks=landmarks, random_state=0)
    plain = make_pipeline(features, RankSVM(LAM)).fit(X, Y)
    np.testing.assert_array_equal(model.coef_, plain[-1].coef_)
    np.testing.assert_allclose(
        model.decision_function(FRESH), plain.decision_function(FRESH), rtol=1e-12
    )
    assert model.certificate_ == plain[-1].certificate_
    assert model.certificate_.reaches(1e-9)


def test_nbauc_takes_a_weight_for_repetition_where_all_rows_are_landmarks() -> None:
    weight = np.random.default_rng(8).integers(0, 4, size=60)
    given = {"landmarks": "uniform", "n_landmarks": 500, "tol": 1e-10}
    weighted = make(**given).fit(X, Y, sample_weight=weight)
    repeated = make(**given).fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight))
    one, other = weighted.decision_function(FRESH), repeated.decision_function(FRESH)
    np.testing.assert_allclose(one, other, atol=1e-4)
    plain = make(**given).fit(X, Y).decision_function(FRESH)
    assert np.abs(plain - one).max() > 0.05
    judged = weighted.certify_kernel(X, Y, weight)
    assert judged.primal == pytest.approx(kernel_optimum(sample_weight=weight), rel=1e-8)
    assert judged.relative_gap is not None and judged.relative_gap <= 1e-8


def test_nbauc_takes_a_weight_for_repetition_once_the_landmarks_are_chosen() -> None:
    weight = np.random.default_rng(8).integers(1, 4, size=60)
    model = make(tol=1e-10).fit(X, Y, sample_weight=weight)
    features = model.nystrom_.transform(X)
    repeated = RankSVM(LAM, tol=1e-10).fit(np.repeat(features, weight, 0), np.repeat(Y, weight))
    np.testing.assert_allclose(model.coef_, repeated.coef_, rtol=1e-5)
    np.testing.assert_allclose(model.intercept_, repeated.intercept_, rtol=1e-5)
    same = make().fit(X, Y).nystrom_.landmarks_
    np.testing.assert_array_equal(model.nystrom_.landmarks_, same)


@each("landmarks", LANDMARKS)
def test_nbauc_with_all_rows_finds_the_optimum_of_the_kernel(landmarks: str) -> None:
    model = make(landmarks=landmarks, n_landmarks=500).fit(X, Y)
    assert model.certificate_.primal == pytest.approx(kernel_optimum(), rel=1e-8)
    certificate = model.certify_kernel(X, Y)
    assert certificate.relative_gap is not None and certificate.relative_gap <= 1e-8


@each("landmarks", LANDMARKS)
@each("n_landmarks", [3, 12, 30])
def test_the_kernel_certificate_is_never_below_the_true_error(
    landmarks: str, n_landmarks: int
) -> None:
    model = make(landmarks=landmarks, n_landmarks=n_landmarks).fit(X, Y)
    certificate = model.certify_kernel(X, Y)
    best = kernel_optimum()
    assert certificate.dual <= best * (1 + 1e-9)
    assert certificate.gap >= certificate.primal - best * (1 + 1e-9)
    assert certificate.primal == pytest.approx(model.certificate_.primal, rel=1e-12)
    assert certificate.gap > model.certificate_.gap
    assert model.kernel_certificate_ is certificate


def test_the_kernel_certificate_is_made_of_the_gap_in_the_span_and_the_marginals() -> None:
    model = make(n_landmarks=40).fit(X, Y)
    found = model.nystrom_.map_
    c = model.solution_.witness.c
    extra = float(c @ (found.kernel(X, X) - found(X, X)) @ c) / (2 * LAM)
    certificate = model.certify_kernel(X, Y)
    assert certificate.gap <= model.certificate_.gap + extra + certificate.rounding
    assert certificate.gap == pytest.approx(extra, rel=0.1)


def test_more_landmarks_bring_the_certificate_down() -> None:
    gaps = [
        make(n_landmarks=d, landmarks="pivoted").fit(X, Y).certify_kernel(X, Y).gap
        for d in (5, 20, 60)
    ]
    assert gaps[0] > 2 * gaps[1] > 4 * gaps[2]


def test_the_norm_in_the_kernels_space_is_that_of_the_weights() -> None:
    model = make().fit(X, Y)
    theta, points = model.dual_coef_[0], model.nystrom_.landmarks_
    gram = model.nystrom_.map_.kernel(points, points)
    assert theta @ gram @ theta == pytest.approx(model.coef_[0] @ model.coef_[0], rel=1e-9)
    scores = model.nystrom_.map_.kernel(FRESH, points) @ theta + model.intercept_[0]
    np.testing.assert_allclose(model.decision_function(FRESH), scores, rtol=1e-9)


def test_only_the_labels_of_the_model_are_certified() -> None:
    model = make().fit(X, Y)
    with pytest.raises(InputError, match=r"the labels \[0, 1\], both and no other"):
        model.certify_kernel(X, Y + 1)
    with pytest.raises(InputError, match="both and no other"):
        model.certify_kernel(X[Y == 1], Y[Y == 1])
    with pytest.raises(NotFittedError):
        make().certify_kernel(X, Y)


def test_a_gap_in_the_span_that_is_too_large_is_said() -> None:
    with pytest.warns(ConvergenceWarning, match="of the objective in the span"):
        model = make(max_iter=2).fit(X, Y)
    assert model.status_ == Status.ITERATION_LIMIT
