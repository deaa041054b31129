from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact import CertificateError, InputError, TooLargeError, best_subset
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.spaces.rows import Rows
from aucert.exact.square_loss.row_average import (
    MomentError,
    RowAverage,
    moments,
    row_moments,
)
from aucert.exact.square_loss.support import (
    ceiling,
    certified_diagonal,
    forward,
    good_support,
    objective_ceiling,
    objective_floor,
    sparse_floor,
    support_bounds_of,
    swap_descent,
)
from aucert.exact.subsets.branch_and_bound import SearchStep
from loops import each, seeds
from pairwise import least_mean_square, mean_square
from subset_problems import KINDS, Drawn, draw, noisy, trying_all


def solve(problem: Drawn, method: str = "branch-and-bound", **options):
    options["method"] = method
    return best_subset(
        problem.X, problem.y, problem.k, problem.ridge, sample_weight=problem.weight, **options
    )


def average_of(problem: Drawn) -> RowAverage:
    return RowAverage.of(Rows(problem.X), problem.y == 1, AllPairs(problem.weight), problem.ridge)


@each("kind", [kind for kind in KINDS if kind != "few rows"])
@each("seed", seeds(8))
def test_branch_and_bound_finds_what_trying_all_finds(seed: int, kind: str) -> None:
    problem = draw(seed, kind)
    found, tried = solve(problem, max_time=60), solve(problem, method="exhaustive")
    assert found.proved
    assert tried.proved
    assert found.upper == pytest.approx(tried.upper, abs=2e-9)
    assert found.lower <= tried.upper + 1e-12
    assert tried.lower <= found.upper + 1e-12


@each("method", ["branch-and-bound", "exhaustive"])
@each("kind", KINDS)
def test_the_optimum_is_that_of_least_squares_over_the_pairs(kind: str, method: str) -> None:
    problem = draw(7, kind, d=7, n=24)
    spread = np.ones(7) if problem.ridge else np.maximum(np.abs(problem.X).max(axis=0), 1e-300)

    def F(S: list[int]) -> float:
        X = problem.X / spread  # without a penalty the units do not matter
        return least_mean_square(X, problem.y == 1, S, problem.weight, problem.ridge)

    found = solve(problem, method=method, max_time=60)
    assert found.upper == pytest.approx(trying_all(F, 7, problem.k), abs=1e-8)
    assert found.proved


def test_the_weights_attain_the_upper_value_on_their_support() -> None:
    for seed, kind in enumerate(KINDS):
        problem = draw(seed, kind)
        found = solve(problem, max_time=60)
        value = mean_square(problem.X, problem.y == 1, found.w, problem.weight)
        value += problem.ridge / 2 * found.w @ found.w
        assert found.upper == pytest.approx(value, abs=1e-8)
        assert found.upper >= value - 1e-11
        assert found.support.size <= problem.k
        np.testing.assert_array_equal(found.support, np.flatnonzero(found.w))
        assert found.gap == pytest.approx(found.upper - found.lower, abs=1e-300)


@each("after", [1, 2, 5])
def test_a_search_that_is_interrupted_has_a_valid_lower_bound(after: int) -> None:
    X, y = noisy(300, 30, 6, 0.2, 0.3, seed=2)
    whole = best_subset(X, y, 6)
    lines: list[SearchStep] = []

    def stop(line: SearchStep) -> None:
        lines.append(line)
        if len(lines) == after:
            raise KeyboardInterrupt

    cut = _short_dives(lambda: best_subset(X, y, 6, callback=stop))
    assert cut.status == "interrupted"
    assert not cut.proved
    assert 0 < cut.lower <= whole.upper <= cut.upper + 1e-12
    assert (cut.lower, cut.upper) == (lines[-1].lower, lines[-1].upper)


def _short_dives(run):
    """Run with dives of a few nodes, so that the heap is used much."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("aucert.exact.subsets.branch_and_bound.WORK", 2e4)
        return run()


@each("kind", ["plain", "correlated", "copies", "ridge"])
def test_all_lower_bounds_on_the_way_are_valid_and_never_fall(kind: str) -> None:
    problem = draw(11, kind, d=16, n=60)
    problem = replace(problem, k=5)
    best = solve(problem, method="exhaustive").upper
    lines: list[SearchStep] = []
    found = _short_dives(lambda: solve(problem, callback=lines.append))
    assert found.proved
    assert max(line.lower for line in lines) <= best + 1e-12
    assert min(line.upper for line in lines) >= best - 1e-9
    for before, after in itertools.pairwise(lines):
        assert before.lower <= after.lower
        assert before.upper >= after.upper
        assert before.n_nodes <= after.n_nodes


def test_a_search_out_of_time_says_so_and_its_interval_holds_the_optimum() -> None:
    X, y = noisy(300, 30, 6, 0.2, 0.3, seed=2)
    whole, cut = best_subset(X, y, 6), best_subset(X, y, 6, max_time=1e-9)
    assert cut.status == "time_limit"
    assert not cut.proved
    assert cut.lower <= whole.upper
    assert whole.lower <= cut.upper
    assert best_subset(X, y, 6, method="exhaustive", max_time=1e-9).lower == 0.0


def test_an_optimum_of_zero_is_found_and_proved() -> None:
    X, y = noisy(60, 12, 3, 0.3, 0.0, seed=3)
    X[:, 5] = 2.0 * y - 7 * X[:, 1]
    found = best_subset(X, y, 2, method="branch-and-bound")
    assert found.support.tolist() == [1, 5]
    assert found.upper == pytest.approx(0.0, abs=1e-10)  # with its rounding; the weights are large
    assert found.lower == 0.0
    assert found.proved


def test_as_many_features_as_rows_less_one_have_an_optimum_of_zero() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(8, 12)), np.arange(8) % 2
    assert best_subset(X, y, 7).proved
    assert best_subset(X, y, 7).upper <= 1e-12
    few = best_subset(X, y, 2, max_time=30, method="branch-and-bound")
    assert few.dependent
    assert few.proved
    assert few.upper == pytest.approx(best_subset(X, y, 2, method="exhaustive").upper, abs=1e-9)


def test_a_ridge_makes_more_features_than_rows_a_regular_problem() -> None:
    X, y = noisy(40, 60, 3, 0.4, 0.0, seed=4, mu=2.0)
    found = best_subset(X, y, 2, ridge=0.5, method="branch-and-bound")
    assert found.proved
    assert not found.dependent
    tried = best_subset(X, y, 2, ridge=0.5, method="exhaustive")
    assert found.upper == pytest.approx(tried.upper, abs=1e-9)


@each("k", [6, 9])
def test_k_of_all_features_is_the_minimum_over_all_weights(k: int) -> None:
    problem = draw(3, d=6)
    found = best_subset(problem.X, problem.y, k)
    assert found.proved
    F = least_mean_square(problem.X / problem.X.std(axis=0), problem.y == 1, list(range(6)))
    assert found.upper == pytest.approx(F, abs=1e-10)


def test_neither_units_nor_origin_nor_order_of_the_features_matter() -> None:
    problem = draw(5, d=12)
    found = solve(problem)
    order = np.random.default_rng(0).permutation(12)
    moved = ((problem.X + problem.X.std(axis=0)) * 10.0 ** np.arange(-6, 6))[:, order]
    other = best_subset(moved, problem.y, problem.k)
    assert other.upper == pytest.approx(found.upper, abs=1e-9)
    np.testing.assert_array_equal(np.sort(order[other.support]), found.support)


def test_sparse_rows_and_repeated_rows_give_the_same_answer() -> None:
    problem = draw(6, "weighted", d=10)
    problem.X[np.abs(problem.X) < 0.5 * problem.X.std(axis=0)] = 0.0
    found = solve(problem)
    sparse = solve(replace(problem, X=sp.csr_matrix(problem.X)))
    assert problem.weight is not None
    times = problem.weight.astype(int)
    repeated = best_subset(
        np.repeat(problem.X, times, axis=0), np.repeat(problem.y, times), problem.k
    )
    for other in (sparse, repeated):
        np.testing.assert_array_equal(other.support, found.support)
        assert other.upper == pytest.approx(found.upper, abs=1e-11)


def test_a_start_counts_and_the_answer_is_the_same_again() -> None:
    X, y = noisy(300, 25, 5, 0.2, 0.3, seed=8)
    first, second = best_subset(X, y, 5), best_subset(X, y, 5)
    np.testing.assert_array_equal(first.w, second.w)
    assert (first.lower, first.n_nodes) == (second.lower, second.n_nodes)
    started = best_subset(X, y, 5, w0=first.w, max_time=1e-9)
    np.testing.assert_array_equal(started.support, first.support)


def test_the_other_class_as_positive_turns_the_weights_round() -> None:
    problem = draw(9, d=8)
    one, other = solve(problem), solve(problem, positive=0)
    np.testing.assert_allclose(one.w, -other.w, rtol=1e-9)


# The gap of anybody's weights.


def test_the_gap_of_weights_is_their_distance_from_the_optimum() -> None:
    problem = draw(12, d=9)
    found = solve(problem)
    w = np.zeros(9)
    w[0] = 0.1 / problem.X[:, 0].std()
    expected = mean_square(problem.X, problem.y == 1, w) - found.upper
    assert found.gap_of(w) == pytest.approx(expected, abs=1e-9)
    assert found.gap_of(found.w) == pytest.approx(found.gap, abs=1e-12)
    assert found.gap_of(np.zeros(9)) == pytest.approx(1 - found.upper, abs=1e-9)


def test_weights_that_are_no_candidates_have_no_gap() -> None:
    problem = draw(12, d=9)
    found = replace(solve(problem), k=1)
    with pytest.raises(InputError, match="nonzeros"):
        found.gap_of(np.ones(9))
    with pytest.raises(InputError, match="finite"):
        found.gap_of(np.ones(8))
    with pytest.raises(CertificateError):
        replace(found, lower=2.0).gap_of(np.zeros(9))


# Bounds and rounding.


@each("seed", seeds(5))
def test_the_diagonal_is_below_the_matrix(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A = (
        rng.normal(size=(40, 12))
        @ np.diag(10.0 ** rng.uniform(-2, 0, 12))
        @ rng.normal(size=(12, 12))
    )
    sigma = np.asarray(np.corrcoef(A.T))
    found = certified_diagonal(sigma)
    assert found is not None
    assert np.linalg.eigvalsh(sigma - np.diag(found.entries))[0] > -1e-15
    assert found.least <= np.linalg.eigvalsh(sigma)[0]
    # It is not a trifle either.
    assert found.entries.sum() >= 0.9 * 12 * np.linalg.eigvalsh(sigma)[0]


def test_a_dependent_matrix_has_no_diagonal() -> None:
    ones = np.ones((3, 3))
    assert certified_diagonal(ones) is None
    assert certified_diagonal(ones + 1e-9 * np.eye(3)) is None
    assert certified_diagonal(2 * np.eye(3) - ones) is None


@each("seed", seeds(20))
def test_the_ceiling_is_above_every_support_in_exact_arithmetic(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(9, 5))
    A[:, 0] = A[:, 1] + 10.0 ** -rng.integers(1, 4) * A[:, 0]
    sigma, delta = np.asarray(np.corrcoef(A.T)), rng.normal(size=5)
    sigma = (sigma + sigma.T) / 2
    diagonal = certified_diagonal(sigma)
    assert diagonal is not None
    k, inside = 3, np.array([False, True, False, False, False])
    bound = ceiling(sigma, delta, diagonal, k, inside)
    for S in itertools.combinations(range(5), k):
        if 1 in S:
            assert exact_q(sigma, delta, S) <= Fraction(bound)
    everything = ceiling(sigma, delta, diagonal, 5, np.zeros(5, dtype=bool))
    assert exact_q(sigma, delta, tuple(range(5))) <= Fraction(everything)


def exact_q(sigma: np.ndarray, delta: np.ndarray, S: tuple[int, ...]) -> Fraction:
    """delta_S'Sigma_SS^-1 delta_S in fractions, by elimination."""
    rows = [[Fraction(sigma[i, j]) for j in S] + [Fraction(delta[i])] for i in S]
    q = Fraction(0)
    for at in range(len(S)):
        q += rows[at][-1] ** 2 / rows[at][at]
        for below in range(at + 1, len(S)):
            factor = rows[below][at] / rows[at][at]
            rows[below] = [a - factor * b for a, b in zip(rows[below], rows[at], strict=True)]
    return q


@each("offset", [0.0, 1e3, 1e6])
def test_the_moments_are_within_their_error_of_exact_arithmetic(offset: float) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 3)) * [1, 1e-3, 50] + offset, np.arange(90) % 3 == 0
    space = Rows(X)
    average = RowAverage.of(space, y)
    bounds = support_bounds_of(average)
    loss, error = bounds.loss, bounds.error
    exact_sigma, exact_delta = exact_moments(X, y)
    for i in range(3):
        off = abs(Fraction(loss.delta[i]) - exact_delta[i]) / Fraction(loss.scale[i])
        assert off <= Fraction(error.delta)
        for j in range(3):
            off = abs(Fraction(loss.sigma[i, j]) - exact_sigma[i][j])
            assert off / Fraction(loss.scale[i] * loss.scale[j]) <= Fraction(error.sigma)
    assert error.sigma <= 1e-12  # however far away the rows are


def exact_moments(X: np.ndarray, y: np.ndarray):
    d = X.shape[1]
    sigma, means = [[Fraction(0)] * d for _ in range(d)], []
    for side in (False, True):
        rows = [[Fraction(x) for x in row] for row in X[y == side]]
        mean = [sum(row[j] for row in rows) / len(rows) for j in range(d)]
        means.append(mean)
        for i, j in itertools.product(range(d), repeat=2):
            total = sum((row[i] - mean[i]) * (row[j] - mean[j]) for row in rows)
            sigma[i][j] += total / len(rows)
    return sigma, [means[1][j] - means[0][j] for j in range(d)]


def test_worse_moments_lower_the_floor_and_raise_the_ceiling() -> None:
    problem = draw(4, d=8)
    bounds = support_bounds_of(average_of(problem))
    loss, error = bounds.loss, bounds.error
    worse = MomentError(1e-3, 1e-3)
    assert objective_floor(1.0, 3, 0.5, worse) < objective_floor(1.0, 3, 0.5, error) <= 0.5
    assert objective_floor(1.0, 3, 0.5, error) == pytest.approx(0.5, abs=1e-11)
    assert objective_floor(1.0, 3, 1e-3, MomentError(1e-3, 0.0)) == 0.0
    assert objective_floor(np.inf, 3, 0.5, error) == 0.0
    w = loss.optimum([0, 1]).w
    assert objective_ceiling(loss, w, error) == pytest.approx(loss.value(w), abs=1e-11)
    assert objective_ceiling(loss, w, worse) > loss.value(w) + 1e-4


def test_moments_of_the_average_are_those_of_the_pairs() -> None:
    for kind in ("weighted", "copies"):
        problem = draw(1, kind)
        columns = np.array([3, 0])
        expected = moments(Rows(problem.X), problem.y == 1, AllPairs(problem.weight), columns)
        for X in (problem.X, sp.csr_matrix(problem.X)):
            found = row_moments(average_of(replace(problem, X=X)), columns)
            np.testing.assert_allclose(found.sigma, expected.sigma, rtol=1e-9)
            np.testing.assert_allclose(found.delta, expected.delta, rtol=1e-9)


@each("kind", ["plain", "correlated", "ridge", "weighted"])
@each("seed", seeds(4))
def test_the_floor_without_a_search_is_below_the_optimum(seed: int, kind: str) -> None:
    problem = draw(seed, kind)
    floor = sparse_floor(average_of(problem), problem.k)
    best = solve(problem)
    assert 0 < floor <= best.upper
    dense = solve(replace(problem, k=problem.X.shape[1]))
    assert floor >= dense.lower - 1e-12


def test_the_floor_of_dependent_features_is_zero() -> None:
    problem = draw(1, "copies")
    assert sparse_floor(average_of(problem), 2) == 0.0


# Local search.


@each("seed", seeds(5))
def test_after_the_descent_no_swap_helps(seed: int) -> None:
    problem = draw(seed, d=12)
    loss = support_bounds_of(average_of(problem)).loss
    start = np.arange(4)
    end = swap_descent(loss, start)
    assert end.value <= loss.optimum(start).value
    assert end.support.size == 4
    for out, into in itertools.product(end.support, range(12)):
        if into not in end.support:
            other = [j for j in end.support if j != out] + [into]
            assert loss.optimum(other).value >= end.value * (1 - 1e-9)


def test_the_greedy_choice_takes_the_best_next_feature() -> None:
    problem = draw(2, d=9)
    loss = support_bounds_of(average_of(problem)).loss
    chosen = forward(loss, 2, [4])
    best = min((j for j in range(9) if j != 4), key=lambda j: loss.optimum([4, j]).value)
    assert chosen.tolist() == sorted([4, best])
    assert good_support(loss, 3).value <= loss.optimum(forward(loss, 3)).value


# Refusals.


@each(
    ("change", "match"),
    [
        ({"k": 0}, "k must"),
        ({"ridge": -1.0}, "ridge"),
        ({"tol": 0.0}, "tol"),
        ({"max_time": 0.0}, "max_time"),
        ({"method": "fast"}, "method"),
        ({"w0": np.ones(3)}, "w0"),
        ({"w0": np.ones(6)}, "nonzeros"),
        ({"y": np.zeros(40)}, "classes"),
        ({"y": np.arange(39) % 2}, "39 labels for 40 rows"),
        ({"X": np.full((40, 6), np.nan)}, "finite"),
    ],
)
def test_bad_input_is_refused(change: dict, match: str) -> None:
    X, y = noisy(40, 6, 2, 0.5, 0.0, seed=0)
    with pytest.raises(InputError, match=match):
        best_subset(**{"X": X, "y": y, "k": 2, **change})


def test_too_many_supports_to_try_are_refused() -> None:
    X, y = noisy(100, 60, 2, 0.5, 0.0, seed=0)
    with pytest.raises(TooLargeError, match="branch-and-bound"):
        best_subset(X, y, 10, method="exhaustive")
