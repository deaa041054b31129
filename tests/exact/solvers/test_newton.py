"""Newton's method: the known cycle of full steps, and the parts it is made of."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import naive
from aucert.exact.certificate.solution import Status
from aucert.exact.curvature import newton_equation
from aucert.exact.curvature.curvature import curvature
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.problem.problem import linear_problem
from aucert.exact.solvers.newton import Newton
from loops import each, seeds

PLUS, MINUS = np.array([[3.0, 1.0], [-4.0, 4.0]]), np.array([[-4.0, 3.0], [2.0, 1.0]])
C = 10.0
OPTIMUM = 2.570228


def scaled_objective(w: np.ndarray) -> float:
    """Return |w|^2 / 2 + C sum max(0, 1 - w'd)^2, 4 C times the objective at lam = 1 / (4 C)."""
    z = 1 - (PLUS[:, None] - MINUS[None, :]) @ w
    return float(w @ w / 2 + C * (np.maximum(z, 0) ** 2).sum())


def full_newton_step(w: np.ndarray) -> np.ndarray:
    differences = (PLUS[:, None] - MINUS[None, :]).reshape(4, 2)
    active = differences[differences @ w < 1]
    gradient = w - 2 * C * ((1 - active @ w)[:, None] * active).sum(axis=0)
    return w - np.linalg.solve(np.eye(2) + 2 * C * active.T @ active, gradient)


def test_full_steps_cycle_on_four_rows() -> None:
    """The example is a fair one: plain Newton visits three points for ever."""
    w = np.zeros(2)
    values = []
    for _ in range(60):
        w = full_newton_step(w)
        values.append(scaled_objective(w))
    assert values[-3:] == pytest.approx(values[-6:-3], rel=1e-12)
    assert sorted(values[-3:]) == pytest.approx([3.02653, 4.59846, 461.2925], rel=1e-5)


@each("start", [(0.0, 0.0), (1.0, 1.0), (-5.0, 2.0), (0.7, 1.9)])
@each("sparse", [False, True])
def test_searched_steps_do_not_cycle(sparse: bool, start: tuple[float, float]) -> None:
    X, y = np.vstack([PLUS, MINUS]), np.array([1, 1, 0, 0])
    problem = linear_problem(sp.csr_matrix(X) if sparse else X, y, 1 / (4 * C), "squared_hinge")
    solution = Newton().solve(problem, w0=np.array(start))
    assert solution.status == Status.CERTIFIED and solution.n_iter < 30
    assert scaled_objective(solution.w) == pytest.approx(OPTIMUM, abs=5e-7)
    assert solution.certificate.primal * 4 * C == pytest.approx(OPTIMUM, abs=5e-7)


@each("seed", seeds(5))
def test_a_start_far_away_does_no_harm(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 3 == 0
    problem = linear_problem(X, y, 1e-4, "squared_hinge")
    near, far = Newton().solve(problem), Newton().solve(problem, w0=rng.normal(size=3) * 1e4)
    assert far.certificate.reaches(1e-9) and far.n_iter < 60
    reach = near.certificate.radius + far.certificate.radius
    assert np.linalg.norm(near.w - far.w) <= reach


@each("limit", [0, 3000])
def test_plain_and_preconditioned_conjugate_gradients_agree(
    limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(1)
    problem = linear_problem(
        rng.normal(size=(130, 12)), np.arange(130) % 4 == 0, 1e-3, "squared_hinge"
    )
    other = Newton().solve(problem)
    monkeypatch.setattr(newton_equation, "LARGEST_DIM", limit)
    solution = Newton().solve(problem)
    assert solution.certificate.reaches(1e-9)
    assert np.linalg.norm(solution.w - other.w) <= (
        solution.certificate.radius + other.certificate.radius
    )


@each("scale", [1e3, 1e5])
@each("seed", seeds(4))
def test_separable_rows_out_of_scale_end_at_rounding(seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    y = np.arange(60) % 3 == 0
    X = scale * (rng.normal(size=(60, 4)) + 6.0 * y[:, None])
    solution = Newton(tol=1e-15).solve(linear_problem(X, y, 1e-8, "squared_hinge"))
    assert solution.status in (Status.STALLED, Status.CERTIFIED) and solution.n_iter < 80
    assert solution.certificate.gap <= 1e-10


def test_at_the_optimum_rounding_is_known_for_what_it_is() -> None:
    """No step is tried from a point whose gradient has no digits left."""
    tried = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(50, 3)), np.arange(50) % 3 == 0
        problem = linear_problem(X, y, 1e-2, "squared_hinge")
        best = Newton(tol=1e-30).solve(problem)
        again = Newton(tol=1e-30).solve(problem, best.w)
        assert best.n_iter < 30 and again.status in (Status.STALLED, Status.CERTIFIED)
        tried.append(again.n_iter)
    assert tried == [1] * 6


def test_many_rows_start_from_a_sample() -> None:
    rng = np.random.default_rng(0)
    y = rng.uniform(size=50_000) < 0.3
    problem = linear_problem(rng.normal(size=(50_000, 3)) + y[:, None], y, 1e-4, "squared_hinge")
    warm, cold = Newton().solve(problem), Newton().solve(problem, np.zeros(3))
    assert warm.status == cold.status == Status.CERTIFIED
    assert warm.history[0].gap < 1e-2 * cold.history[0].gap and warm.n_iter < cold.n_iter


@each("kind", ["all", "weighted", "listed"])
@each("seed", seeds(6))
def test_curvature_is_the_laplacian_of_the_active_pairs(seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    positive = np.arange(15) % 3 == 0
    pairs: AllPairs | PairList = AllPairs()
    if kind == "weighted":
        pairs = AllPairs(rng.integers(1, 4, 15).astype(float))
    elif kind == "listed":
        pairs = PairList(
            rng.choice(np.flatnonzero(positive), 20), rng.choice(np.flatnonzero(~positive), 20)
        )
    problem = linear_problem(rng.normal(size=(15, 2)), positive, 1.0, "squared_hinge", pairs)
    scores = np.round(rng.normal(size=15) * 2) / 2
    laplacian = np.zeros((15, 15))
    for i, j, c in naive.weighted_pairs(positive.tolist(), pairs, float):
        if 1 - (scores[i] - scores[j]) > 0:
            laplacian[[i, j, i, j], [i, j, j, i]] += np.array([c, c, -c, -c])
    found = curvature(problem, scores)
    many, one = rng.normal(size=(15, 3)), rng.normal(size=15)
    assert found.times(many) == pytest.approx(laplacian @ many, abs=1e-14)
    assert found.times(one) == pytest.approx(laplacian @ one, abs=1e-14)
