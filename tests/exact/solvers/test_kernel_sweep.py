"""Kernel and structured problems against CVXPY in explicit features, on a random family.

Nothing of the library's kernels, factors, structure or solvers is in the answer: kernels are
written out, features come from the eigenvectors of the centred kernel matrix, and the structure is
an explicit covariance, which whitens them.
"""

from __future__ import annotations

import numpy as np
import pytest

from aucert.exact.api.solve import choose_solver
from aucert.exact.certificate.solution import Status
from aucert.exact.formulation.formulation import formulate
from aucert.exact.formulation.request import Request
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.pairs.nearest_pairs import nearest_pairs
from aucert.exact.spaces.gram import Gram
from aucert.exact.structured import Structured
from loops import each, seeds
from naive import weighted_pairs
from problems import random_case
from reference import reference_optimum

KERNELS = ("rbf", "laplacian", "linear", "precomputed")


def true_kernel(X: np.ndarray, kernel: str, gamma: float) -> np.ndarray:
    """Return k(x_i, x_j) of all rows, from their differences."""
    if kernel == "precomputed":
        return X
    if kernel == "linear":
        X = X - X.mean(axis=0)  # a common offset cancels in every pair, but not in rounding
        return X @ X.T
    power = 2 if kernel == "rbf" else 1
    return np.exp(-gamma * (np.abs(X[:, None] - X[None]) ** power).sum(axis=2))


def features_of(K: np.ndarray) -> np.ndarray:
    """Return F (n, r) with F F' the centred kernel matrix, from its eigenvectors."""
    H = np.eye(len(K)) - 1 / len(K)
    values, vectors = np.linalg.eigh(H @ K @ H)
    kept = values > 1e-13 * max(values.max(), 1e-300) * len(K)
    return vectors[:, kept] * np.sqrt(values[kept])


def covariance(F: np.ndarray, y: np.ndarray, pairs: AllPairs | PairList, source: str) -> np.ndarray:
    """Return Sigma: both class covariances, or that of the listed differences."""
    if source == "sampled" and isinstance(pairs, PairList):
        parts = [(F[pairs.i] - F[pairs.j], pairs.c)]
    else:
        weight = pairs.weight if isinstance(pairs, AllPairs) else None
        weight = np.ones(y.size) if weight is None else weight
        parts = [(F[side], weight[side]) for side in (y, ~y)]
    return np.sum([np.atleast_2d(np.cov(Z.T, aweights=c, ddof=0)) for Z, c in parts], axis=0)


def check_case(seed: int) -> None:
    """Solve the problem of that seed twice, independently, and compare the two optima."""
    rng, case = np.random.default_rng([31415, seed]), random_case(seed, 70)
    X, y, pairs, kernel = case.X, case.positive, case.pairs, KERNELS[seed % len(KERNELS)]
    odd = rng.integers(4)
    if odd == 0:
        X = X + 100.0
    elif odd == 1:  # the same row in both classes
        X[np.flatnonzero(y)[0]] = X[np.flatnonzero(~y)[0]]
    elif odd == 2 and isinstance(pairs, AllPairs):  # one positive becomes one negative
        y = ~y
    elif odd == 3:
        pairs = nearest_pairs(X, y, int(rng.integers(1, 4)))
    gamma = float(10.0 ** rng.uniform(-1.5, 0.5))
    if kernel == "precomputed":
        basis = rng.normal(size=(y.size, int(rng.integers(1, max(2, y.size // 2)))))
        X = basis @ basis.T
    structure = float(10.0 ** rng.uniform(-3, 3)) * (rng.uniform() < 0.65)
    source = "sampled" if rng.uniform() < 0.4 else "full"
    task = formulate(
        X,
        y,
        Request.of(
            case.lam,
            case.loss,
            pairs=pairs,
            kernel=kernel,
            gamma=gamma if kernel in ("rbf", "laplacian") else None,
            structure=structure,
            structure_source=source,
        ),
    )
    space = task.meant.space
    base = space.base if isinstance(space, Structured) else space
    assert kernel == "linear" or isinstance(base, Gram), "certified on the true kernel"
    solution = task.judge(choose_solver(task.work, "auto", 1e-9, 60.0).solve(task.work), 1e-8)
    F, expected = features_of(true_kernel(X, kernel, gamma)), 1.0
    if F.size:
        values, axes = np.linalg.eigh(covariance(F, y, pairs, source))
        white = (F @ axes) / np.sqrt(1 + structure * values)
        listed = weighted_pairs(y.tolist(), pairs, float)
        expected, _ = reference_optimum(white, listed, case.lam, case.loss)
    certificate = solution.certificate
    name = f"{case.name}, {kernel}, structure {structure:.1e} ({source}): {certificate}"
    assert solution.status == Status.CERTIFIED and certificate.reaches(1e-8), name
    allowed = 1e-9 if expected < 1e-6 else 1e-7 * expected
    assert abs(certificate.primal - expected) <= allowed, f"{name}, {expected}"
    assert certificate.dual <= expected, name


def test_kernel_and_structured_optima_agree_with_cvxpy() -> None:
    for seed in range(10):
        check_case(seed)


@pytest.mark.slow
@each("seed", seeds(60))
def test_kernel_and_structured_optima_agree_with_cvxpy_on_the_whole_family(seed: int) -> None:
    check_case(seed)
