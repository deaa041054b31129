"""SAUC's Woodbury forms: four roads to one kernel, in sample and out, and the printed ones."""

from __future__ import annotations

import numpy as np
import pytest

from aucert.exact.api.solve import solve
from aucert.exact.errors import InputError
from aucert.exact.formulation.formulation import formulate
from aucert.exact.formulation.request import Request
from aucert.exact.losses.registry import HINGE
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.problem.problem import Ridge, pair_problem
from aucert.exact.solvers.qp import QP
from aucert.exact.spaces.gram import Gram
from aucert.exact.spaces.kernels import Gaussian, Laplacian, Linear
from aucert.exact.spaces.rows import Rows
from aucert.exact.structured import (
    PairScatter,
    class_scatter,
    deformed_gram,
    direct_gram,
    literal_pair_kernel,
    middle,
    pair_kernel,
    sauc_scores,
    whitened,
)
from loops import each

STRUCTURES = (1e-3, 0.3, 1.0, 50.0, 1e3)
FEW, N = 4, 120
IMBALANCED = np.arange(N) < FEW
X = np.random.default_rng(0).normal(size=(N, 4)) + IMBALANCED[:, None]
LONG = np.longdouble


def long_solve(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the solution by elimination with pivots, in the long format."""
    M, B, n = matrix.astype(LONG), right.astype(LONG), len(matrix)
    for k in range(n):
        p = k + int(np.abs(M[k:, k]).argmax())
        M[[k, p]], B[[k, p]] = M[[p, k]], B[[p, k]]
        factor = M[k + 1 :, k] / M[k, k]
        M[k + 1 :] -= np.outer(factor, M[k])
        B[k + 1 :] -= np.outer(factor, B[k])
    for k in range(n - 1, -1, -1):
        B[k] = (B[k] - M[k, k + 1 :] @ B[k + 1 :]) / M[k, k]
    return B


def long_gram(F: np.ndarray, positive: np.ndarray, structure: float) -> np.ndarray:
    """Return F (I + structure Sigma)^{-1} F' by its definition, [SAUC, eq. (8)], in long."""
    M = np.eye(F.shape[1], dtype=LONG)
    for side in (positive, ~positive):
        centred = F[side].astype(LONG) - F[side].astype(LONG).mean(axis=0)
        M += LONG(structure) * (centred.T @ centred) / LONG(side.sum())
    return F.astype(LONG) @ long_solve(M, F.T)


def error(G: np.ndarray, truth: np.ndarray) -> float:
    """Largest difference, relative to the largest entry of the (small) deformed kernel."""
    return float(np.abs(G - truth).max() / np.abs(truth).max())


@each("structure", STRUCTURES)
@each("n_pos", [FEW, 60])
@each("kernel", ["linear", "rbf"])
def test_four_routes_agree(kernel: str, n_pos: int, structure: float) -> None:
    """Direct, pseudo-inverse, root and whitening, at 4:116 and 60:60."""
    positive = np.arange(N) < n_pos
    scatter = class_scatter(positive)
    if kernel == "linear":
        F = X - X.mean(axis=0)
        K = F @ F.T
    else:
        K = Gaussian(0.5)(X, X)
        values, vectors = np.linalg.eigh(K)
        F = vectors * np.sqrt(np.maximum(values, 0))
    truth = long_gram(F, positive, structure)
    white = whitened(Rows(F), scatter, structure).dense()
    H = np.eye(N) - 1 / N  # whitened rows are centred
    routes = {
        "direct": error(direct_gram(F, scatter, structure), truth),
        "pinv": error(deformed_gram(K, scatter, structure, "pinv"), truth),
        "root": error(deformed_gram(K, scatter, structure), truth),
        "whitening": error(white @ white.T, H @ truth @ H),
    }
    assert max(routes.values()) < 1e-9, routes
    assert routes["root"] < 1e-11 and routes["whitening"] < 1e-13, routes


@each("structure", STRUCTURES)
@each("kernel", [Linear(), Gaussian(0.5)])
def test_the_printed_inverse_fails(kernel: Linear | Gaussian, structure: float) -> None:
    """[SAUC, eq. (17)]: R + structure R K R is singular for every kernel and structure."""
    F = X - X.mean(axis=0)
    K, scatter = kernel(F, F), class_scatter(IMBALANCED)
    R = scatter.times(np.eye(N))
    inside = R + structure * R @ K @ R
    for side in (IMBALANCED, ~IMBALANCED):
        assert np.abs(inside @ side).max() < 1e-12 * max(1.0, structure)
    for match, call in (
        ("singular for every kernel", lambda: deformed_gram(K, scatter, structure, "inv")),
        ("route must be", lambda: middle(K, scatter, structure, "lu")),
        ("structure", lambda: deformed_gram(K, scatter, -1.0)),
    ):
        with pytest.raises(InputError, match=match):
            call()
    right = deformed_gram(K, scatter, structure)
    try:
        printed = deformed_gram(K, scatter, structure, "inv", paper_literal=True)
    except np.linalg.LinAlgError:
        return
    assert error(printed, right) > 1e-5


@each("structure", [0.3, 50.0])
def test_the_deformed_kernel_of_a_pair_list(structure: float) -> None:
    rng = np.random.default_rng(4)
    pairs = PairList(rng.integers(0, FEW, 30), rng.integers(FEW, N, 30), labels=np.arange(N) < FEW)
    scatter = PairScatter(pairs)
    differences = X[pairs.i] - X[pairs.j]
    Sigma = np.cov(differences.T, ddof=0)
    truth = X @ np.linalg.solve(np.eye(4) + structure * Sigma, X.T)
    for route in ("root", "pinv"):
        assert deformed_gram(X @ X.T, scatter, structure, route) == pytest.approx(truth, abs=1e-9)


@each("structure", [0.0, 0.3, 50.0])
@each("kernel", ["linear", "rbf", "laplacian"])
def test_new_rows_are_scored_by_the_deformed_kernel(kernel: str, structure: float) -> None:
    train, y = X[:80], np.arange(80) < 20
    task = formulate(train, y, Request.of(0.01, kernel=kernel, gamma=0.4, structure=structure))
    c = np.random.default_rng(3).normal(size=80)
    c -= c.mean()
    function = {"linear": Linear(), "rbf": Gaussian(0.4), "laplacian": Laplacian(0.4)}[kernel]
    K, scatter = function(train, train), class_scatter(y)
    expected = sauc_scores(K, function(train, X), c, scatter, structure)
    # One function scores training rows and new ones: G on all rows together.
    assert expected[:80] == pytest.approx(deformed_gram(K, scatter, structure) @ c, abs=1e-10)
    found = task.scorer(task.meant.space.pull(c))(X)
    assert found - found[0] == pytest.approx(expected - expected[0], abs=1e-9)


# The optimum


def test_with_every_pair_below_its_margin_the_solution_has_a_closed_form() -> None:
    """All alpha at the bound: lam w = (I + structure Sigma)^{-1} (mean_+ - mean_-)."""
    rows, y = X[:50], np.arange(50) < 15
    Sigma = np.cov(rows[y].T, ddof=0) + np.cov(rows[~y].T, ddof=0)
    delta = rows[y].mean(axis=0) - rows[~y].mean(axis=0)
    for structure in (0.3, 20.0):
        found = solve(rows, y, 100.0, structure=structure, tol=1e-12)
        expected = np.linalg.solve(np.eye(4) + structure * Sigma, delta) / 100.0
        assert np.linalg.norm(found.w - expected) <= found.certificate.radius < 1e-6


# Kernels of pairs


def test_the_kernel_of_differences_is_the_right_one_for_the_linear_kernel_only() -> None:
    """[SAUC, eq. (3)] prints k(x_i - x_j, x_u - x_v)."""
    i, j = np.arange(5), np.arange(5, 10)
    linear, gaussian = Linear(), Gaussian(0.5)
    rows = X[:10]
    assert literal_pair_kernel(linear, rows, i, j) == pytest.approx(
        pair_kernel(linear(rows, rows), i, j), abs=1e-12
    )
    wrong = literal_pair_kernel(gaussian, rows, i, j)
    right = pair_kernel(gaussian(rows, rows), i, j)
    assert np.abs(wrong - right).max() > 0.5


@each("structure", [0.3, 50.0])
def test_eq19_of_sauc_is_the_teaching_dual_over_the_deformed_gram_matrix(structure: float) -> None:
    rows, positive = X[:16], np.arange(16) % 2 == 0
    K = Gaussian(0.2)(rows, rows)
    G = deformed_gram(K, class_scatter(positive), structure)
    printed = pair_problem(Gram(G), positive, AllPairs(), HINGE, Ridge(0.05))
    found = QP("teaching").solve(printed).certificate
    ours = solve(rows, positive, 0.05, kernel="rbf", gamma=0.2, structure=structure).certificate
    assert found.primal == pytest.approx(ours.primal, rel=1e-6)
    assert found.dual == pytest.approx(ours.dual, rel=1e-6)
