"""When the Newton equation is preconditioned: once its price has been spent without."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.approx.newton import newton_equation
from aucert.approx.newton.newton_equation import MANY_PRODUCTS, Conditioning, costs
from aucert.approx.newton.points import NewtonPoint
from aucert.approx.newton.truncated_newton import TruncatedNewton
from aucert.exact.certificate.solution import Status
from aucert.exact.losses.registry import SQUARED_HINGE
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.problem.problem import Problem, Ridge, pair_problem
from aucert.exact.solvers.descent import Descent
from aucert.exact.spaces.rows import Rows
from aucert.exact.structured import SparseWhitened
from loops import each


def problem_of(n: int, dim: int, lam: float = 1e-6) -> Problem:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, dim)) * np.geomspace(1, 0.03, dim), rng.uniform(size=n) < 0.3
    X[:, 0] += y
    return pair_problem(Rows(X), y, AllPairs(), SQUARED_HINGE, Ridge(lam))


def at_zero(problem: Problem) -> NewtonPoint:
    return NewtonPoint.at(problem, np.zeros(problem.space.dim))


def price(problem: Problem) -> float:
    """Return what a preconditioner costs, in products."""
    product, made, _ = costs(problem, 20)
    return made / product


def left(point: NewtonPoint, step: np.ndarray) -> float:
    """Return |H s + g| / |g|."""
    problem = point.problem
    H_step = 2 * problem.space.pull(point.curved.times(problem.space.scores(step)))
    return float(np.linalg.norm(H_step + problem.lam * step + point.gradient)) / point.size


def test_a_cheap_one_is_made_at_once() -> None:
    problem = problem_of(2000, 20)
    assert price(problem) <= MANY_PRODUCTS
    conditioning = Conditioning(20)
    conditioning.step(at_zero(problem), 0.5, 100)
    assert conditioning.held is not None


def test_a_dear_one_is_made_when_as_much_has_been_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_of(400, 600, 1e-9)
    cost, now, taken = price(problem), at_zero(problem), []
    assert cost > 2 * MANY_PRODUCTS
    direction = newton_equation.direction

    def counted(*args: Any) -> tuple[np.ndarray, int]:
        step, products = direction(*args)
        taken.append((products, args[3] is not None))
        return step, products

    monkeypatch.setattr(newton_equation, "direction", counted)
    conditioning = Conditioning(20)
    for _ in range(50):
        assert left(now, conditioning.step(now, 0.5, 1000)) <= 0.5
    assert conditioning.spent == MANY_PRODUCTS  # so few products never add up
    taken.clear()
    assert left(now, conditioning.step(now, 1e-7, 1000)) <= 1.01e-7
    held = conditioning.held
    assert held is not None and [with_it for _, with_it in taken] == [False, True]
    assert taken[0][0] <= cost + 1 and taken[1][0] < MANY_PRODUCTS
    conditioning.step(now, 1e-7, 1000)
    assert conditioning.held is held


@each("most", [1, 7, 40, 100, 140])
def test_no_more_products_than_allowed(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    now, taken, direction = at_zero(problem_of(400, 600, 1e-9)), [], newton_equation.direction

    def counted(*args: Any) -> tuple[np.ndarray, int]:
        step, products = direction(*args)
        taken.append(products)
        return step, products

    monkeypatch.setattr(newton_equation, "direction", counted)
    step = Conditioning(20).step(now, 1e-13, most)
    assert sum(taken) <= most + 2  # a start costs one more, the last look another
    assert step @ now.gradient < 0  # it descends all the same


def test_what_was_found_before_the_change_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    now, starts, direction = at_zero(problem_of(400, 600, 1e-9)), [], newton_equation.direction

    def noted(*args: Any) -> tuple[np.ndarray, int]:
        starts.append(args[4])
        return direction(*args)

    monkeypatch.setattr(newton_equation, "direction", noted)
    Conditioning(20).step(now, 1e-7, 1000)
    assert len(starts) == 2 and starts[0] is None
    assert 1e-7 < left(now, starts[1]) < 0.1


def test_none_is_made_where_none_is_wanted_or_the_columns_are_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, conditioning, none = at_zero(problem_of(100, 30)), Conditioning(20), Conditioning(0)
    none.step(now, 1e-8, 1000)
    assert none.held is None
    monkeypatch.setattr(newton_equation, "LARGEST_DIM", 29)
    assert left(now, conditioning.step(now, 1e-8, 1000)) <= 1.01e-8
    assert conditioning.held is None


def test_sparse_and_whitened_rows_have_prices_of_their_own() -> None:
    dense = problem_of(3000, 400)
    assert isinstance(dense.space, Rows) and isinstance(dense.space.X, np.ndarray)
    thin = Rows(sp.csr_array(np.where(np.abs(dense.space.X) > 2, dense.space.X, 0.0)))
    empty = Rows(sp.csr_array((3000, 400)))
    whitened = SparseWhitened(thin, np.eye(400))
    product, made, used = costs(dense, 20)
    for space, cheaper in ((thin, True), (empty, True), (whitened, False)):
        its_product, its_made, its_use = costs(dense.over(space), 20)
        assert 0 < its_product < product and its_use == used
        assert (its_made < made) == cheaper


@each("scale", [1e-40, 1.0, 1e40])
@each("solver", [TruncatedNewton(), TruncatedNewton(drawn=0), Descent()])
def test_rows_of_any_size_are_solved(scale: float, solver: Any) -> None:
    problem = problem_of(200, 500, 1e-3)
    assert isinstance(problem.space, Rows)
    scaled = replace(problem.over(Rows(scale * problem.space.X)), penalty=Ridge(1e-3 * scale**2))
    assert solver.solve(scaled).status == Status.CERTIFIED


@each("scale", [1e77, 1e90])
def test_rows_that_are_long_for_their_penalty_are_solved(scale: float) -> None:
    problem = problem_of(200, 500, 1e-3)
    assert isinstance(problem.space, Rows)
    for solver in (TruncatedNewton(1e-9), Descent()):
        found = solver.solve(problem.over(Rows(scale * problem.space.X)))
        assert found.certificate.gap <= 1e-9


def test_many_rows_make_it_cheaper() -> None:
    prices = [price(problem_of(n, 30)) for n in (5000, 10_000, 20_000)]
    assert prices[0] > prices[1] > prices[2]


@pytest.mark.slow
def test_a_path_keeps_it_and_spares_products(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, lams = problem_of(600, 250), np.geomspace(1e-5, 1e-2, 11).tolist()
    made, products = [], 0
    direction, preconditioner = newton_equation.direction, newton_equation.Preconditioner

    def counted(*args: Any) -> tuple[np.ndarray, int]:
        nonlocal products
        step, taken = direction(*args)
        products += taken
        return step, taken

    def noted(*args: Any) -> newton_equation.Preconditioner:
        made.append(args)
        return preconditioner(*args)

    monkeypatch.setattr(newton_equation, "direction", counted)
    monkeypatch.setattr(newton_equation, "Preconditioner", noted)
    plain = list(TruncatedNewton(1e-6, drawn=0).path(problem, lams))
    alone, products = products, 0
    assert not made
    kept = list(TruncatedNewton(1e-6).path(problem, lams))
    assert 1 <= len(made) < len(lams) and products < alone / 2
    for one, other in zip(plain, kept, strict=True):
        assert one.status == other.status == Status.CERTIFIED
        assert np.linalg.norm(one.w - other.w) <= one.certificate.radius + other.certificate.radius


def test_a_path_agrees_with_single_solutions() -> None:
    problem, lams = problem_of(150, 80), [1e-2, 1e-4, 1e-6]
    for lam, one in zip(lams, TruncatedNewton(1e-9).path(problem, lams), strict=True):
        other = TruncatedNewton(1e-9).solve(replace(problem, penalty=Ridge(lam)))
        assert np.linalg.norm(one.w - other.w) <= one.certificate.radius + other.certificate.radius
