"""The truncated Newton method: its sums, its steps, what is printed, and the machines on it."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import naive
from aucert.approx import RankSVM, SubsampledRankSVM, TruncatedNewton, kernel_svm, linear_svm
from aucert.approx.landmarks import LANDMARKS
from aucert.approx.newton.nbauc import NBAUC, random_part
from aucert.approx.newton.newton_equation import NewtonPoint, curvature, direction, hessian
from aucert.approx.nystrom import Nystrom
from aucert.exact import SQUARED_HINGE, Rows, Status, Step, solve
from aucert.exact.problem.problem import Problem, linear_problem
from aucert.exact.solvers.descent import Descent
from aucert.validation.data.datasets import load
from loops import each, refuses, seeds
from problems import CLASSES, awkward


def some_problem(seed: int) -> Problem:
    return awkward(CLASSES[seed % len(CLASSES)], 10.0 ** -(seed % 4), "squared_hinge", seed, n=60)


@each("seed", seeds(30))
def test_the_gap_is_certified_to_ten_digits_on_awkward_data(seed: int) -> None:
    problem = some_problem(seed)
    solution = TruncatedNewton(tol=1e-10).solve(problem)
    found = solution.certificate
    # Where the optimum is far below F(0) = 1, ten digits of it are below the rounding of F.
    assert found.gap <= 1e-10 * found.primal + found.rounding + 1e-16
    assert solution.status == (Status.CERTIFIED if found.reaches(1e-10) else Status.STALLED)
    other = Descent(tol=1e-10).solve(problem)
    radius = solution.certificate.radius + other.certificate.radius
    assert np.linalg.norm(solution.w - other.w) <= radius


@each("rtol", [0.3, 1e-3, 1e-8])
@each("seed", [0, 3, 4, 8])
def test_a_step_solves_the_newton_equation_as_exactly_as_asked(seed: int, rtol: float) -> None:
    problem = some_problem(seed)
    point = NewtonPoint.at(problem, np.random.default_rng(seed).normal(size=problem.space.dim))
    step, products = direction(point, rtol, 1000)
    left = hessian(problem, point.curved) @ step + point.gradient
    assert np.linalg.norm(left) <= rtol * np.linalg.norm(point.gradient) * (1 + 1e-6)
    assert point.gradient @ step < 0 and products >= 1


@each("kind", ["plain", "weights", "pairs"])
@each("seed", seeds(6))
def test_value_marginals_and_laplacian_are_those_of_the_explicit_pairs(seed, kind: str) -> None:
    problem, n = awkward(kind, 0.01, "squared_hinge", seed, n=24), 24
    rng = np.random.default_rng(seed)
    scores = np.round(rng.normal(size=n) * 2) / 2  # with ties, and pairs exactly at the margin
    laplacian, active = np.zeros((n, n)), np.zeros((n, n))
    listed = naive.weighted_pairs(problem.pairs.positive.tolist(), problem.pairs, float)
    wanted = naive.sums(scores, listed, "squared_hinge")
    for i, j, share in listed:
        if scores[i] - scores[j] < 1:
            laplacian[[i, j, i, j], [i, j, j, i]] += share * np.array([1, 1, -1, -1])
            active[i, j] += share
    found, X = curvature(problem, scores), np.asarray(problem.space.X)  # type: ignore[attr-defined]
    assert found.value == pytest.approx(wanted.value, rel=1e-13)
    np.testing.assert_allclose(found.c, wanted.c, atol=1e-14)
    many = rng.normal(size=(n, 3))
    for values in (many, many[:, 0]):
        np.testing.assert_allclose(found.times(values), laplacian @ values, atol=1e-14)
    whole = 0.01 * np.eye(4) + 2 * X.T @ laplacian @ X
    np.testing.assert_allclose(hessian(problem, found), whole, atol=1e-13)
    i, j, share = found.drawn(10_000, rng)  # all, where they are few
    mass = np.zeros((n, n))
    np.add.at(mass, (i, j), share)
    np.testing.assert_allclose(mass, active, atol=1e-15)


def test_the_gradient_is_brought_down_to_what_is_asked() -> None:
    rng = np.random.default_rng(0)  # many rows: a sample first, then its pairs as preconditioner
    y = rng.uniform(size=60_000) < 0.3
    X = rng.normal(size=(60_000, 4)) * np.geomspace(1, 0.01, 4) + 0.3 * y[:, None]
    problem = linear_problem(X, y, 1e-4, SQUARED_HINGE)
    assert isinstance(problem.space, Rows)
    for asked in (1e-7, 1e-13):
        w = TruncatedNewton(tol=0.5, gradient_tol=asked).solve(problem).w
        sums = problem.sums(problem.space.scores(w).astype(np.longdouble))
        gradient = problem.lam * w - problem.space.pull(sums.c)
        assert np.linalg.norm(gradient) <= 1.01 * asked


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


@each("landmarks", LANDMARKS)
def test_nbauc_is_rank_svm_on_the_nystrom_features(landmarks: str) -> None:
    model = make(landmarks=landmarks).fit(X, Y)
    features = Nystrom(gamma=0.3, n_landmarks=12, landmarks=landmarks, random_state=0)
    plain = make_pipeline(features, RankSVM(LAM)).fit(X, Y)
    np.testing.assert_array_equal(model.coef_, plain[-1].coef_)
    one, other = model.decision_function(FRESH), plain.decision_function(FRESH)
    np.testing.assert_allclose(one, other, rtol=1e-12)
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


@each("landmarks", LANDMARKS)
@each("n_landmarks", [3, 12, 30])
def test_the_kernel_certificate_is_never_below_the_true_error(landmarks, n_landmarks: int) -> None:
    model = make(landmarks=landmarks, n_landmarks=n_landmarks).fit(X, Y)
    certificate = model.certify_kernel(X, Y)
    best = kernel_optimum()
    assert certificate.dual <= best * (1 + 1e-9)
    assert certificate.gap >= certificate.primal - best * (1 + 1e-9)
    assert certificate.primal == pytest.approx(model.certificate_.primal, rel=1e-12)
    assert certificate.gap > model.certificate_.gap
    assert model.kernel_certificate_ is certificate
    for rows, labels in ((X, Y + 1), (X[Y == 1], Y[Y == 1])):
        refuses("both and no other", model.certify_kernel, rows, labels)
    with pytest.raises(NotFittedError):
        make().certify_kernel(X, Y)
    with pytest.warns(ConvergenceWarning, match="in the span"):
        assert make(max_iter=2).fit(X, Y).status_ == Status.ITERATION_LIMIT


DATA = load("radial:300")
DX, DY = DATA.X, DATA.y


def test_it_is_the_certified_kernel_machine_of_the_rows_taken() -> None:
    model = SubsampledRankSVM(lam=1e-2, gamma=0.5, random_state=0).fit(DX, DY)
    part, asked = model.subsample_, {"kernel": "rbf", "gamma": 0.5, "loss": "squared_hinge"}
    assert part.size == 60 and (np.diff(part) > 0).all()
    # It said "on the training rows", on which the objective is another.
    for said in (model.certificate_.statement, model.solution_.certificate.statement):
        assert "all pairs of the 60 rows taken, of 300, + 0.01 |f|^2 / 2" in said
    best = solve(DX[part], DY[part], 1e-2, **asked)
    gap = model.certificate_.relative_gap
    assert gap is not None and gap < 1e-9
    assert model.certificate_.primal == pytest.approx(best.certificate.primal, rel=1e-6)
    gram = np.exp(-0.5 * ((DX[part][:, None] - DX[part][None]) ** 2).sum(axis=2))
    scores, wanted = model.decision_function(DX[part]), gram @ best.w
    np.testing.assert_allclose(scores - scores.mean(), wanted - wanted.mean(), atol=1e-3)
    found, best = model.certify_kernel(DX, DY), solve(DX, DY, 1e-2, **asked).certificate
    assert found.dual <= best.primal <= found.primal  # and what the rows left out cost
    assert found.gap >= found.primal - best.primal > 1e-4


def test_the_classes_keep_their_shares_and_neither_is_missed() -> None:
    positive = np.arange(1000) < 37
    part = random_part(positive, 200, 0)
    assert part.size == 200 == np.unique(part).size and positive[part].sum() == 7
    assert positive[random_part(positive, 5, 0)].sum() == 1
    assert positive[random_part(~positive, 5, 0)].sum() == 1
    assert random_part(np.array([True, False]), 1, 0).tolist() == [0, 1]
    assert random_part(positive, 1000, 3).tolist() == list(range(1000))
    assert (random_part(positive, 200, 0) == part).all()
    assert (random_part(positive, 200, 1) != part).any()


def test_the_ordinary_machines_are_scikit_learns() -> None:
    scaled, chain = StandardScaler().fit_transform(DX), kernel_svm(2.0, gamma=0.7).fit(DX, DY)
    plain = SVC(C=2.0, gamma=0.7).fit(scaled, DY)
    np.testing.assert_allclose(chain.decision_function(DX), plain.decision_function(scaled))
    assert kernel_svm(kernel="linear").fit(DX, DY)[-1].kernel == "linear"
    wide = np.outer(DY, np.ones(30)) + np.random.default_rng(0).normal(size=(300, 30))
    assert linear_svm(0.1, seed=0).fit(wide, DY).score(wide, DY) > 0.95
    sparse = linear_svm(seed=0, with_mean=False).fit(sp.csr_matrix(wide), DY)
    assert sparse.score(sp.csr_matrix(wide), DY) > 0.95


def test_the_limits_of_iterations_and_time_and_an_interrupt_are_kept_and_said() -> None:
    def interrupt(step: Step) -> None:
        if step.n_iter == 3:
            raise KeyboardInterrupt

    problem = awkward("heavy tails", 1e-5, "squared_hinge")
    best = TruncatedNewton().solve(problem).certificate.dual
    for status, n_iter, call in (
        (Status.ITERATION_LIMIT, 2, lambda: TruncatedNewton(1e-12, max_iter=2).solve(problem)),
        (Status.TIME_LIMIT, 1, lambda: TruncatedNewton(1e-12, max_time=1e-9).solve(problem)),
        (Status.INTERRUPTED, 3, lambda: TruncatedNewton(1e-14).solve(problem, callback=interrupt)),
    ):
        found = call()
        assert found.status == status and found.n_iter == n_iter
        assert found.certificate.gap >= found.certificate.primal - best
