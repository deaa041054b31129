"""The problem over Nyström features against the problem over the true kernel."""

from __future__ import annotations

import numpy as np
import pytest

from aucert.approx.landmarks import LANDMARKS, choose_landmarks
from aucert.approx.nystrom import NystromMap, SpanRows, against_true_kernel, nystrom_map
from aucert.exact.certificate.certificate import Certificate, Minorant
from aucert.exact.certificate.solution import Solution
from aucert.exact.errors import InputError
from aucert.exact.formulation import formulation
from aucert.exact.losses.registry import HINGE
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.problem.problem import Problem, Ridge, pair_problem
from aucert.exact.solvers.cutting_plane import CuttingPlane
from aucert.exact.spaces.gram import Gram
from aucert.exact.spaces.kernels import Gaussian, Kernel, Laplacian
from aucert.exact.spaces.rows import Rows
from loops import each, seeds

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = X[:, 0] * X[:, 1] + 0.3 * RNG.normal(size=60) > 0


def hinge_problem(features: np.ndarray, positive: np.ndarray, lam: float) -> Problem:
    return pair_problem(Rows(features), positive, AllPairs(), HINGE, Ridge(lam))


def exact_features(K: np.ndarray) -> np.ndarray:
    """Return V with V V' = K, by eigenvalues. [ScalingUp, Prop. 3]"""
    values, U = np.linalg.eigh(K)
    return U * np.sqrt(np.maximum(values, 0.0))


def solved(problem: Problem) -> Solution:
    solution = CuttingPlane(tol=1e-10).solve(problem)
    assert solution.certificate.reaches(1e-9)
    return solution


def draw(seed: int) -> tuple[Kernel, np.ndarray, np.ndarray, float, NystromMap]:
    """Return kernel, rows, labels, lam and a map: noise or signal, all methods, duplicates."""
    rng = np.random.default_rng([7, seed])
    n = int(rng.integers(12, 60))
    rows = rng.normal(size=(n, int(rng.integers(1, 5))))
    if seed % 5 == 0:
        rows = np.round(rows)
    positive = rng.permutation(n) < rng.integers(1, n)
    rows = rows + float(rng.uniform(0, 1.5)) * positive[:, None]
    kernel: Kernel = [Gaussian(0.5), Laplacian(0.3), Gaussian(3.0)][seed % 3]
    lam = float(10.0 ** rng.uniform(-3, 0))
    method = LANDMARKS[seed % 4]
    landmarks = choose_landmarks(method, rows, int(rng.integers(2, n)), kernel, positive, seed)
    return kernel, rows, positive, lam, nystrom_map(kernel, landmarks.rows)


@each("seed", [*range(12), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(12, 40))])
def test_the_loss_of_the_approximation_is_between_its_two_marginal_forms(seed: int) -> None:
    # u'Eu / (2 lam) at the true optimum <= p_P - p <= the same at the projected optimum.
    kernel, rows, positive, lam, found = draw(seed)
    K = kernel(rows, rows)
    truth = solved(hinge_problem(exact_features(K), positive, lam))
    approximate = solved(hinge_problem(found.transform(rows), positive, lam))
    E = K - found(rows, rows)
    low, high = (float(s.witness.c @ E @ s.witness.c) / (2 * lam) for s in (truth, approximate))
    slack = sum(s.certificate.gap for s in (truth, approximate)) + 1e-12
    loss = approximate.certificate.primal - truth.certificate.primal
    assert low - slack <= loss <= high + slack


@each("kernel", [Gaussian(0.5), Laplacian(0.3)], ids=str)
@each("lam", [1.0, 1e-2, 1e-3])
def test_with_all_rows_as_landmarks_the_optimum_is_that_of_the_kernel(
    kernel: Kernel, lam: float
) -> None:
    truth = solved(hinge_problem(exact_features(kernel(X, X)), Y, lam)).certificate
    found = solved(hinge_problem(nystrom_map(kernel, X).transform(X), Y, lam)).certificate
    assert found.primal == pytest.approx(truth.primal, rel=1e-8)
    assert found.dual == pytest.approx(truth.dual, rel=1e-8)


@each("seed", seeds(15))
def test_the_certificate_against_the_true_kernel_holds_and_is_what_it_says(seed: int) -> None:
    kernel, rows, positive, lam, found = draw(seed)
    K = kernel(rows, rows)
    truth = solved(hinge_problem(exact_features(K), positive, lam)).certificate
    problem = hinge_problem(found.transform(rows), positive, lam)
    solution = solved(problem)
    meant = against_true_kernel(problem, found, rows)
    judged = Certificate.of(meant, solution.w, solution.witness)
    both = judged.rounding + solution.certificate.rounding
    assert abs(judged.primal - solution.certificate.primal) <= both + 1e-13
    assert judged.primal - judged.gap <= truth.primal + judged.rounding
    c = solution.witness.c
    extra = float(c @ (K - found(rows, rows)) @ c) / (2 * lam)
    expected = min(solution.certificate.gap + extra, judged.primal)  # the bound 0 is always there
    assert judged.gap == pytest.approx(expected, rel=1e-6, abs=1e-11 + 2 * both)


def test_a_streamed_kernel_gives_the_same_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    found = nystrom_map(Gaussian(0.3), X[:10])
    problem = hinge_problem(found.transform(X), Y, 0.01)
    w = solved(problem).w
    answers = []
    for limit in (4000, 10):
        monkeypatch.setattr(formulation, "DENSE_LIMIT", limit)
        meant = against_true_kernel(problem, found, X)
        witness = Minorant.from_scores(meant, meant.space.scores(w))
        answers.append(Certificate.of(meant, w, witness))
        assert isinstance(meant.space, SpanRows)
        truth = meant.space.truth.gram
        assert truth is not None and (truth.K is not None) == (limit == 4000)
    assert answers[1].gap == pytest.approx(answers[0].gap, rel=1e-9)


def test_a_true_kernel_of_other_rows_is_refused() -> None:
    found = nystrom_map(Gaussian(0.3), X[:10])
    problem = hinge_problem(found.transform(X), Y, 0.01)
    with pytest.raises(InputError, match="60 rows of features, but 20 rows of the kernel"):
        against_true_kernel(problem, found, X[:20])
    with pytest.raises(InputError, match="must be over the rows"):
        against_true_kernel(problem.over(Gram(np.eye(60))), found, X)
