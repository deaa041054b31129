from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import naive
from aucert.approx import truncated_newton
from aucert.approx.truncated_newton import TruncatedNewton, step_length
from aucert.exact.certificate import Witness, evaluated
from aucert.exact.curvature import curvature
from aucert.exact.errors import InputError
from aucert.exact.gram import Gram
from aucert.exact.losses import HINGE, SQUARED_HINGE
from aucert.exact.newton import Newton
from aucert.exact.pairs import AllPairs, PairList
from aucert.exact.problem import Problem, Ridge, linear_problem
from aucert.exact.solution import Status, Step
from aucert.exact.spaces import Rows
from problems import Case, random_case
from reference import reference_optimum


def squared_hinge(case: Case) -> Problem:
    return Problem(Rows(case.X), case.positive, case.pairs, SQUARED_HINGE, Ridge(case.lam))


@pytest.mark.parametrize("seed", range(100))
def test_the_gap_is_certified_to_ten_digits_on_awkward_data(seed: int) -> None:
    case = random_case(seed)
    problem = squared_hinge(case)
    solution = TruncatedNewton(tol=1e-10).solve(problem)
    found = solution.certificate
    # Where the optimum is far below F(0) = 1, ten digits of it are below the rounding of F.
    assert found.gap + found.rounding <= 1e-10 * found.primal + 1e-13, case.name
    assert found.gap <= 1e-10 * found.primal + 1e-16, case.name
    assert solution.status == (Status.CERTIFIED if found.reaches(1e-10) else Status.STALLED)
    other = Newton(tol=1e-10).solve(problem)
    radius = solution.certificate.radius + other.certificate.radius
    assert np.linalg.norm(solution.w - other.w) <= radius


@pytest.mark.parametrize("seed", range(10))
def test_it_agrees_with_a_conic_solver_over_explicit_pairs(seed: int) -> None:
    case = random_case(seed)
    best, _ = reference_optimum(
        case.X, naive.weighted_pairs(case.y == 1, case.pairs, float), case.lam, "squared_hinge"
    )
    found = TruncatedNewton(tol=1e-10).solve(squared_hinge(case)).certificate
    slack = 1e-7 * best + 1e-10
    assert found.dual - found.rounding <= best
    assert found.primal <= best + slack


def naive_gradient(problem: Problem, w: np.ndarray) -> np.ndarray:
    """Return lam w - 2 sum c_ij max(0, z_ij) (x_i - x_j), pair by pair."""
    assert isinstance(problem.space, Rows)
    rows, gradient = np.asarray(problem.space.X), problem.lam * w
    for i, j, c in naive.weighted_pairs(problem.positive.tolist(), problem.pairs, float):
        shortfall = 1 - w @ (rows[i] - rows[j])
        gradient = gradient - 2 * c * max(0.0, shortfall) * (rows[i] - rows[j])
    return gradient


def naive_hessian(problem: Problem, w: np.ndarray) -> np.ndarray:
    """Return lam I + 2 sum over active pairs of c_ij (x_i - x_j)(x_i - x_j)'."""
    assert isinstance(problem.space, Rows)
    rows, hessian = np.asarray(problem.space.X), problem.lam * np.eye(w.size)
    for i, j, c in naive.weighted_pairs(problem.positive.tolist(), problem.pairs, float):
        difference = rows[i] - rows[j]
        if w @ difference < 1:
            hessian += 2 * c * np.outer(difference, difference)
    return hessian


@pytest.mark.parametrize("seed", [0, 1, 4, 5, 9])
def test_the_gap_is_the_squared_gradient_over_twice_lam(seed: int) -> None:
    problem = squared_hinge(random_case(seed))
    w = np.random.default_rng(seed).normal(size=problem.space.dim)
    steps: list[Step] = []
    TruncatedNewton(max_iter=1).solve(problem, w, steps.append)
    gradient = naive_gradient(problem, w)
    gap = float(gradient @ gradient) / (2 * problem.lam)
    assert steps[0].gap == pytest.approx(gap, rel=1e-7)
    witness = Witness.from_scores(problem, problem.space.scores(w), scale=1.0)
    primal, _, dual, _ = evaluated(problem, w, witness)
    assert primal - dual == pytest.approx(gap, rel=1e-7)


@pytest.mark.parametrize("seed", [0, 3, 4, 8])
@pytest.mark.parametrize("rtol", [0.3, 1e-3, 1e-8])
def test_a_step_solves_the_newton_equation_as_exactly_as_asked(seed: int, rtol: float) -> None:
    problem = squared_hinge(random_case(seed))
    w = np.random.default_rng(seed).normal(size=problem.space.dim)
    gradient, hessian = naive_gradient(problem, w), naive_hessian(problem, w)
    laplacian = curvature(problem, problem.space.scores(w))
    step = TruncatedNewton()._direction(problem, laplacian, gradient, rtol)
    size = np.linalg.norm(gradient)
    assert np.linalg.norm(hessian @ step + gradient) <= rtol * size * (1 + 1e-6)
    assert gradient @ step < 0


@pytest.mark.parametrize("seed", range(40))
def test_the_line_search_lowers_the_objective_and_flattens_its_slope_to_a_tenth(seed: int) -> None:
    problem = squared_hinge(random_case(seed))
    rng = np.random.default_rng(seed)
    w = rng.normal(size=problem.space.dim)
    gradient = naive_gradient(problem, w)
    for step in (
        -gradient * 10.0 ** rng.uniform(-3, 3),
        -np.linalg.solve(naive_hessian(problem, w), gradient),
    ):
        length = step_length(problem, w, step, problem.space.scores(w), gradient)
        slope = naive_gradient(problem, w + length * step) @ step
        assert length > 0 and abs(slope) <= 0.1000001 * abs(gradient @ step)
        assert problem.objective(w + length * step) < problem.objective(w)


def test_the_line_search_is_exact_where_the_active_pairs_stay() -> None:
    # F = 1/2 w^2 + (1 - w / 10)^2 for w < 10, so w = 0.2 / 1.02 is the optimum: from half of it
    # the slope has halved, and the next trial is the root.
    problem = linear_problem([[0.0], [0.1]], [0, 1], 1.0, "squared_hinge")
    w, step = np.zeros(1), np.array([0.1 / 1.02])
    length = step_length(problem, w, step, np.zeros(2), naive_gradient(problem, w))
    assert length == pytest.approx(2.0, rel=1e-12)


def test_a_step_that_does_not_descend_has_length_zero() -> None:
    problem = squared_hinge(random_case(4))
    w = np.zeros(problem.space.dim)
    gradient = naive_gradient(problem, w)
    assert step_length(problem, w, gradient, np.zeros(problem.n), gradient) == 0.0


# The solver's manners.


def test_only_rows_and_labels_are_held_for_many_pairs() -> None:
    rng = np.random.default_rng(0)
    y = rng.uniform(size=20_000) < 0.3
    problem = linear_problem(
        rng.normal(size=(20_000, 4)) + 0.5 * y[:, None], y, 1e-3, SQUARED_HINGE
    )
    solution = TruncatedNewton(tol=1e-10).solve(problem)
    assert problem.n_pairs > 8e7 and solution.status == Status.CERTIFIED


def test_sparse_rows_give_the_dense_answer() -> None:
    case = random_case(0)
    thin = np.where(np.abs(case.X) > 0.7, case.X, 0.0)
    dense = Problem(Rows(thin), case.positive, AllPairs(), SQUARED_HINGE, Ridge(0.01))
    sparse = dense.over(Rows(sp.csr_array(thin)))
    one, other = (TruncatedNewton(tol=1e-11).solve(p) for p in (dense, sparse))
    np.testing.assert_allclose(one.w, other.w, atol=1e-6)


def test_a_list_of_all_pairs_gives_the_answer_of_all_pairs() -> None:
    case = random_case(0)
    plus, minus = np.flatnonzero(case.positive), np.flatnonzero(~case.positive)
    listed = PairList(np.repeat(plus, minus.size), np.tile(minus, plus.size))
    problem = replace(squared_hinge(case), pairs=AllPairs())
    one, other = (
        TruncatedNewton(tol=1e-12).solve(replace(problem, pairs=p)) for p in (AllPairs(), listed)
    )
    assert one.certificate.primal == pytest.approx(other.certificate.primal, rel=1e-11)


def test_started_at_the_optimum_it_stays_there() -> None:
    problem = squared_hinge(random_case(0))
    first = TruncatedNewton(tol=1e-12).solve(problem)
    again = TruncatedNewton(tol=1e-9).solve(problem, first.w)
    assert again.n_iter == 1
    np.testing.assert_array_equal(again.w, first.w)


def test_constant_features_are_solved_by_zero() -> None:
    solution = TruncatedNewton().solve(
        linear_problem(np.ones((4, 2)), [0, 1, 0, 1], 0.1, SQUARED_HINGE)
    )
    assert solution.status == Status.CERTIFIED and not solution.w.any()


def test_rounding_ends_it_where_no_tolerance_does() -> None:
    for seed in range(10):
        solution = TruncatedNewton(tol=1e-30).solve(squared_hinge(random_case(seed)))
        assert solution.n_iter < 60
        assert solution.certificate.reaches(1e-11)


@pytest.mark.parametrize("seed", [81, 103, 143])
def test_features_out_of_scale_end_it_too(seed: int) -> None:
    # Here the gap at which only rounding moves is above the gap that is asked for.
    case = random_case(seed)
    case = replace(case, X=1e4 * case.X, lam=1e-6 * case.lam)
    solution = TruncatedNewton(tol=1e-15).solve(squared_hinge(case))
    assert solution.n_iter < 60 and solution.status == Status.STALLED
    assert solution.certificate.gap <= 1e-11 * solution.certificate.primal


def test_it_goes_on_while_the_objective_falls_though_the_gradient_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(truncated_newton, "PATIENCE", 3)
    assert TruncatedNewton().solve(squared_hinge(random_case(78))).status == Status.CERTIFIED


def test_the_limits_of_iterations_and_time_are_kept_and_said() -> None:
    problem = squared_hinge(random_case(4))
    short = TruncatedNewton(tol=1e-12, max_iter=2).solve(problem)
    assert short.status == Status.ITERATION_LIMIT and short.n_iter == len(short.history) == 2
    late = TruncatedNewton(tol=1e-12, max_time=1e-9).solve(problem)
    assert late.status == Status.TIME_LIMIT and late.n_iter == 1


def test_an_interrupt_returns_the_best_point_so_far() -> None:
    def interrupt(step: Step) -> None:
        if step.n_iter == 3:
            raise KeyboardInterrupt

    problem = squared_hinge(random_case(4))
    solution = TruncatedNewton(tol=1e-14).solve(problem, callback=interrupt)
    assert solution.status == Status.INTERRUPTED and solution.n_iter == 3
    best = TruncatedNewton().solve(problem).certificate.dual
    assert solution.certificate.gap + solution.certificate.rounding >= (
        solution.certificate.primal - best
    )


def test_other_losses_and_spaces_are_refused() -> None:
    problem = linear_problem(np.eye(4)[:, :2], [0, 1, 0, 1], 1.0, SQUARED_HINGE)
    with pytest.raises(InputError, match="squared hinge, not hinge"):
        TruncatedNewton().solve(replace(problem, loss=HINGE))
    with pytest.raises(InputError, match="needs rows"):
        TruncatedNewton().solve(problem.over(Gram(np.eye(4))))
    with pytest.raises(InputError, match="2 coordinates"):
        TruncatedNewton().solve(problem, np.zeros(3))


@pytest.mark.parametrize(
    "bad",
    [
        {"tol": 0.0},
        {"max_iter": 0},
        {"forcing": 1.0},
        {"forcing": 0.0},
        {"max_cg": 0},
        {"max_time": -1.0},
    ],
)
def test_parameters_out_of_range_are_refused_at_once(bad: dict) -> None:
    with pytest.raises(InputError, match=next(iter(bad))):
        TruncatedNewton(**bad)
