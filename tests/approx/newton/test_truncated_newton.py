from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import naive
from aucert.approx.newton.newton_equation import direction
from aucert.approx.newton.points import NewtonPoint
from aucert.approx.newton.truncated_newton import TruncatedNewton
from aucert.exact.certificate.certificate import Minorant, evaluated_with
from aucert.exact.certificate.solution import Status, Step
from aucert.exact.errors import InputError
from aucert.exact.losses.registry import HINGE, SQUARED_HINGE
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.problem.problem import Problem, Ridge, linear_problem, pair_problem
from aucert.exact.solvers.descent import Descent
from aucert.exact.spaces.gram import Gram
from aucert.exact.spaces.rows import Rows
from loops import each, seeds
from problems import Case, random_case
from reference import reference_optimum


def squared_hinge(case: Case) -> Problem:
    return pair_problem(Rows(case.X), case.positive, case.pairs, SQUARED_HINGE, Ridge(case.lam))


@each("seed", seeds(30))
def test_the_gap_is_certified_to_ten_digits_on_awkward_data(seed: int) -> None:
    case = random_case(seed)
    problem = squared_hinge(case)
    solution = TruncatedNewton(tol=1e-10).solve(problem)
    found = solution.certificate
    # Where the optimum is far below F(0) = 1, ten digits of it are below the rounding of F.
    assert found.gap <= 1e-10 * found.primal + found.rounding + 1e-16, case.name
    assert solution.status == (Status.CERTIFIED if found.reaches(1e-10) else Status.STALLED)
    other = Descent(tol=1e-10).solve(problem)
    radius = solution.certificate.radius + other.certificate.radius
    assert np.linalg.norm(solution.w - other.w) <= radius


@each("seed", seeds(10))
def test_it_agrees_with_a_conic_solver_over_explicit_pairs(seed: int) -> None:
    case = random_case(seed)
    best, _ = reference_optimum(
        case.X, naive.weighted_pairs(case.y == 1, case.pairs, float), case.lam, "squared_hinge"
    )
    found = TruncatedNewton(tol=1e-10).solve(squared_hinge(case)).certificate
    slack = 1e-7 * best + 1e-10
    assert found.dual <= best
    assert found.primal <= best + slack


def naive_gradient(problem: Problem, w: np.ndarray) -> np.ndarray:
    """Return lam w - 2 sum c_ij max(0, z_ij) (x_i - x_j), pair by pair."""
    assert isinstance(problem.space, Rows)
    rows, gradient = np.asarray(problem.space.X), problem.lam * w
    for i, j, c in naive.weighted_pairs(problem.pairs.positive.tolist(), problem.pairs, float):
        shortfall = 1 - w @ (rows[i] - rows[j])
        gradient = gradient - 2 * c * max(0.0, shortfall) * (rows[i] - rows[j])
    return gradient


def naive_hessian(problem: Problem, w: np.ndarray) -> np.ndarray:
    """Return lam I + 2 sum over active pairs of c_ij (x_i - x_j)(x_i - x_j)'."""
    assert isinstance(problem.space, Rows)
    rows, hessian = np.asarray(problem.space.X), problem.lam * np.eye(w.size)
    for i, j, c in naive.weighted_pairs(problem.pairs.positive.tolist(), problem.pairs, float):
        difference = rows[i] - rows[j]
        if w @ difference < 1:
            hessian += 2 * c * np.outer(difference, difference)
    return hessian


@each("seed", [0, 1, 4, 5, 9])
def test_the_gap_is_the_squared_gradient_over_twice_lam(seed: int) -> None:
    problem = squared_hinge(random_case(seed))
    w = np.random.default_rng(seed).normal(size=problem.space.dim)
    steps: list[Step] = []
    TruncatedNewton(max_iter=1).solve(problem, w, steps.append)
    gradient = naive_gradient(problem, w)
    gap = float(gradient @ gradient) / (2 * problem.lam)
    assert steps[0].gap == pytest.approx(gap, rel=1e-7)
    witness = Minorant.from_scores(problem, problem.space.scores(w), scale=1.0)
    primal, dual = evaluated_with(problem, w, witness)[0]
    assert primal.value - dual.value == pytest.approx(gap, rel=1e-7)


@each("seed", [0, 3, 4, 8])
@each("rtol", [0.3, 1e-3, 1e-8])
def test_a_step_solves_the_newton_equation_as_exactly_as_asked(seed: int, rtol: float) -> None:
    problem = squared_hinge(random_case(seed))
    w = np.random.default_rng(seed).normal(size=problem.space.dim)
    gradient, hessian = naive_gradient(problem, w), naive_hessian(problem, w)
    step, products = direction(NewtonPoint.at(problem, w), rtol, 1000)
    size = np.linalg.norm(gradient)
    assert np.linalg.norm(hessian @ step + gradient) <= rtol * size * (1 + 1e-6)
    assert gradient @ step < 0 and products >= 1


@each("seed", seeds(5))
def test_every_step_of_the_history_has_the_gap_of_its_own_dual_point(seed: int) -> None:
    problem = squared_hinge(random_case(seed))
    steps: list[Step] = []
    TruncatedNewton(tol=1e-6).solve(problem, callback=steps.append)
    assert len(steps) > 1
    for k in range(1, len(steps) + 1):
        stopped = TruncatedNewton(tol=1e-6, max_iter=k).solve(problem)
        certificate = stopped.certificate
        slack = certificate.rounding + 1e-12 * certificate.primal
        # The certificate takes 0 for a dual value below it.
        known = min(steps[k - 1].gap, steps[k - 1].primal)
        assert certificate.gap == pytest.approx(known, rel=1e-6, abs=slack)


@each("seed", seeds(20))
def test_no_accepted_step_raises_the_objective(seed: int) -> None:
    case = random_case(seed)
    problem = squared_hinge(replace(case, X=10.0 ** (seed % 5 - 2) * case.X))
    last = np.inf
    for k in range(1, 12):
        solution = TruncatedNewton(tol=1e-12, max_iter=k).solve(problem)
        value = problem.objective(solution.w)
        assert value <= last * (1 + 2e-13) + solution.certificate.rounding
        last = value


# Many rows: a sample first, sampled pairs for a preconditioner.


def many_rows(n: int = 60_000, d: int = 4, lam: float = 1e-4) -> Problem:
    rng = np.random.default_rng(0)
    y = rng.uniform(size=n) < 0.3
    X = rng.normal(size=(n, d)) * np.geomspace(1, 0.01, d)
    return linear_problem(X + 0.3 * y[:, None], y, lam, SQUARED_HINGE)


def test_a_sample_of_many_rows_spares_steps_and_changes_no_answer() -> None:
    problem = many_rows()
    warm = TruncatedNewton(tol=1e-12, gradient_tol=1e-10).solve(problem)
    cold = TruncatedNewton(tol=1e-12, gradient_tol=1e-10).solve(problem, np.zeros(4))
    assert warm.n_iter < cold.n_iter
    assert warm.history[0].gap < 1e-2 * cold.history[0].gap
    np.testing.assert_allclose(warm.w, cold.w, atol=1e-10 / problem.lam)


def test_the_gradient_is_brought_down_to_what_is_asked() -> None:
    problem = many_rows()
    assert isinstance(problem.space, Rows)
    for asked in (1e-7, 1e-10, 1e-13):
        w = TruncatedNewton(tol=0.5, gradient_tol=asked).solve(problem).w
        sums = problem.sums(problem.space.scores(w).astype(np.longdouble))
        gradient = problem.lam * w - problem.space.pull(sums.c)
        assert np.linalg.norm(gradient) <= 1.01 * asked


def test_a_path_starts_each_solution_from_the_one_before() -> None:
    case = random_case(0)
    problem, lams = squared_hinge(case), np.geomspace(1e-4, 1.0, 9)
    warm = list(TruncatedNewton(tol=1e-9).path(problem, lams.tolist()))
    cold = [
        TruncatedNewton(tol=1e-9).solve(replace(problem, penalty=Ridge(lam)))
        for lam in sorted(lams.tolist(), reverse=True)
    ]
    assert all(solution.status == Status.CERTIFIED for solution in warm)
    assert sum(s.n_iter for s in warm) < 0.8 * sum(s.n_iter for s in cold)
    for one, other in zip(warm, cold, strict=True):
        radius = one.certificate.radius + other.certificate.radius
        assert np.linalg.norm(one.w - other.w) <= radius


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
    dense = pair_problem(Rows(thin), case.positive, AllPairs(), SQUARED_HINGE, Ridge(0.01))
    sparse = dense.over(Rows(sp.csr_array(thin)))
    one, other = (TruncatedNewton(tol=1e-11).solve(p) for p in (dense, sparse))
    np.testing.assert_allclose(one.w, other.w, atol=1e-6)


def test_a_list_of_all_pairs_gives_the_answer_of_all_pairs() -> None:
    case = random_case(0)
    plus, minus = np.flatnonzero(case.positive), np.flatnonzero(~case.positive)
    listed = PairList(np.repeat(plus, minus.size), np.tile(minus, plus.size))
    problem = squared_hinge(case).with_pairs(AllPairs())
    one, other = (
        TruncatedNewton(tol=1e-12).solve(problem.with_pairs(p)) for p in (AllPairs(), listed)
    )
    assert one.certificate.primal == pytest.approx(other.certificate.primal, rel=1e-11)


def test_started_at_the_optimum_it_stays_there() -> None:
    problem = squared_hinge(random_case(0))
    first = TruncatedNewton(tol=1e-12).solve(problem)
    again = TruncatedNewton(tol=1e-9).solve(problem, first.w)
    assert again.n_iter == 1
    np.testing.assert_array_equal(again.w, first.w)


def test_rounding_ends_it_where_no_tolerance_does() -> None:
    for seed in range(10):
        solution = TruncatedNewton(tol=1e-30).solve(squared_hinge(random_case(seed)))
        assert solution.n_iter < 60
        assert solution.certificate.reaches(1e-11)


@each("seed", [81, 103, 143])
def test_features_out_of_scale_end_it_too(seed: int) -> None:
    # Here the gap at which only rounding moves is above the gap that is asked for.
    case = random_case(seed)
    case = replace(case, X=1e4 * case.X, lam=1e-6 * case.lam)
    solution = TruncatedNewton(tol=1e-15).solve(squared_hinge(case))
    held = solution.certificate
    assert solution.n_iter < 60 and solution.status == Status.STALLED
    assert held.gap <= held.rounding + 1e-11 * held.primal


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
    assert solution.certificate.gap >= (solution.certificate.primal - best)


def test_other_losses_and_spaces_are_refused() -> None:
    problem = linear_problem(np.eye(4)[:, :2], [0, 1, 0, 1], 1.0, SQUARED_HINGE)
    with pytest.raises(InputError, match="squared hinge, not hinge"):
        TruncatedNewton().solve(problem.with_loss(HINGE))
    with pytest.raises(InputError, match="needs rows"):
        TruncatedNewton().solve(problem.over(Gram(np.eye(4))))
    with pytest.raises(InputError, match="2 coordinates"):
        TruncatedNewton().solve(problem, np.zeros(3))
