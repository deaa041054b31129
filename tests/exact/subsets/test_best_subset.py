"""The best subset of features: what the search proves, in fractions too, and what prunes it."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple
from unittest.mock import Mock

import numpy as np
import pytest
import scipy.sparse as sp

import naive
from aucert.exact import CertificateError, Rows, best_subset
from aucert.exact.square_loss.row_average import MomentError, RowAverage
from aucert.exact.square_loss.support import (
    SupportLoss,
    ceiling,
    certified_diagonal,
    objective_ceiling,
    objective_floor,
    support_bounds_of,
)
from aucert.exact.subsets.branch_and_bound import SearchStep, SubsetSearch
from loops import each, refuses, seeds
from pairwise import ExactSquare, mean_square
from subset_problems import AWKWARD, awkward

SEARCH = "aucert.exact.subsets"
METHODS = ["branch-and-bound", "exhaustive"]
KINDS = ("plain", "correlated", "copies", "sums", "constants", "ridge", "weighted")


class Drawn(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    k: int
    ridge: float = 0.0
    weight: np.ndarray | None = None


def draw(seed: int, kind: str = "plain", d: int | None = None, n: int | None = None) -> Drawn:
    """A problem with up to 16 features, some of them telling the classes apart."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(5, 17)) if d is None else d
    n = int(rng.integers(40, 200)) if n is None else n
    k = int(rng.integers(1, min(d, 6)))
    y = rng.permutation(np.arange(n) < max(5, 0.3 * n)).astype(int)
    share = 0.6 if kind == "correlated" else 0.0
    X = np.sqrt(1 - share) * rng.normal(size=(n, d)) + np.sqrt(share) * rng.normal(size=(n, 1))
    signal = rng.choice(d, min(d, 4), replace=False)
    X[:, signal] += y[:, None] * rng.uniform(0.2, 0.8, size=signal.size)
    X *= 10.0 ** rng.integers(-2, 3, size=d)
    if kind in ("copies", "sums"):
        X = np.round(X * 2.0**20) / 2.0**20  # then copies and sums are so to the last digit
        copies = -3 * X[:, -1], X[:, 2]
        X[:, 0], X[:, 1] = copies if kind == "copies" else (X[:, 1] - 2 * X[:, 2] + 5, X[:, 1])
    if kind == "constants":
        X[:, 0], X[:, 1] = 7.3, 0.1
    ridge = float(rng.choice([0.01, 1.0])) if kind == "ridge" else 0.0
    weight = rng.integers(1, 4, size=n).astype(float) if kind == "weighted" else None
    return Drawn(X, y, k, ridge, weight)


def solve(problem: Drawn, method: str = "branch-and-bound", **options: Any):
    of: Any = problem[:4]
    return best_subset(*of, method=method, sample_weight=problem.weight, **options)


def worst(loss: SupportLoss, k: int, starts: object, end: float) -> object:
    """Stands in for the local search."""
    used = np.flatnonzero(loss.informative).tolist()
    return max(map(loss.optimum, itertools.combinations(used, k)), key=lambda found: found.value)


def patched(run: Any, work: float, poor: bool = False) -> Any:
    """Run with dives of little work, so that the heap is used much, and perhaps a poor start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"{SEARCH}.branch_and_bound.WORK", work)
        if poor:
            patch.setattr(f"{SEARCH}.best_subset.good_support", worst)
        return run()


@each("kind", KINDS)
@each("seed", seeds(8))
def test_branch_and_bound_finds_what_trying_all_finds(seed: int, kind: str) -> None:
    problem = draw(seed + 30, kind, d=10) if seed < 3 else draw(seed, kind)
    tried, found = solve(problem, method="exhaustive"), [solve(problem, max_time=60)]
    if seed < 3:  # from the worst start, with dives of any length
        found += [patched(lambda: solve(problem), work, poor=True) for work in (1.0, 2e4, 4e7)]
    assert tried.proved
    for one in found:
        assert one.proved and one.status == "done"
        assert one.upper == pytest.approx(tried.upper, abs=2e-9)
        assert one.lower <= tried.upper + 1e-12 and tried.lower <= one.upper + 1e-12


@each("method", METHODS)
@each("kind", AWKWARD)
@each("seed", seeds(8))
def test_no_bound_is_false_in_exact_arithmetic(seed: int, kind: str, method: str) -> None:
    X, positive, k, weight, ridge = awkward(seed, kind)
    truth = ExactSquare(X, positive, weight, ridge)
    rows = sp.csr_matrix(X) if seed % 2 else X
    found = best_subset(rows, positive, k, ridge, method=method, sample_weight=weight)
    best, value = truth.best(k), truth.value(found.w)
    assert Fraction(found.lower) <= best <= Fraction(found.upper)
    assert value <= Fraction(found.upper)
    assert Fraction(found.gap) >= Fraction(found.upper) - Fraction(found.lower)
    assert found.proved == (found.upper - found.lower <= 1e-9)
    assert Fraction(found.gap_of(found.w)) >= value - Fraction(found.lower)


@each("method", METHODS)
@each("size", [1e-3, 1e-6, 3e-9, 1e-10, 3e-15])
def test_what_a_near_copy_tells_by_its_difference_is_found_and_proved(size, method) -> None:
    rng, positive = np.random.default_rng(0), np.arange(40) % 2 == 0
    X = rng.normal(size=(40, 5))
    X[:, 3] = X[:, 1] + size * (positive + 0.3 * rng.normal(size=40))
    found, truth = best_subset(X, positive, 2, method=method), ExactSquare(X, positive)
    assert Fraction(found.lower) <= truth.best(2)
    assert found.proved == (size > 1e-14)  # below, no weights in floats attain it
    if found.proved:
        assert found.support.tolist() == [1, 3] and found.upper < 0.3
        assert found.upper == pytest.approx(float(truth.best(2)), abs=1e-9)


def test_the_gap_of_weights_is_their_distance_from_the_optimum() -> None:
    problem = draw(12, d=9)
    found, w = solve(problem), 0.1 * np.eye(9)[0] / problem.X[:, 0].std()
    expected = mean_square(problem.X, problem.y == 1, w) - found.upper
    assert found.gap_of(w) == pytest.approx(expected, abs=1e-9)
    assert found.gap_of(found.w) == pytest.approx(found.gap, abs=1e-12)
    assert found.gap_of(np.zeros(9)) == pytest.approx(1 - found.upper, abs=1e-9)
    refuses("nonzeros", replace(found, k=1).gap_of, np.ones(9))
    refuses("finite", found.gap_of, np.ones(8))
    with pytest.raises(CertificateError):
        replace(found, lower=2.0).gap_of(np.zeros(9))


@each("kind", ["plain", "correlated", "copies", "ridge"])
def test_all_lower_bounds_on_the_way_are_valid_and_never_fall(kind: str) -> None:
    problem = draw(11, kind, d=16, n=60)._replace(k=5)
    best = solve(problem, method="exhaustive").upper
    lines: list[SearchStep] = []
    assert patched(lambda: solve(problem, callback=lines.append), 2e4).proved
    assert max(line.lower for line in lines) <= best + 1e-12
    assert min(line.upper for line in lines) >= best - 1e-9
    for before, after in itertools.pairwise(lines):
        assert before.lower <= after.lower and before.upper >= after.upper
        assert before.n_nodes <= after.n_nodes


@each("after", [1, 2, 5])
def test_a_search_that_is_cut_short_has_a_valid_lower_bound(after: int) -> None:
    X, y, *_ = draw(2, "correlated", d=30, n=300)
    whole, stop = best_subset(X, y, 6), Mock(side_effect=[*[None] * (after - 1), KeyboardInterrupt])
    cut = patched(lambda: best_subset(X, y, 6, callback=stop), 2e4)
    assert cut.status == "interrupted" and not cut.proved
    assert 0 < cut.lower <= whole.upper <= cut.upper + 1e-12
    last: SearchStep = stop.call_args.args[0]
    assert (cut.lower, cut.upper) == (last.lower, last.upper)
    cut = best_subset(X, y, 6, max_time=1e-9)
    assert cut.status == "time_limit" and not cut.proved
    assert cut.lower <= whole.upper and whole.lower <= cut.upper
    assert best_subset(X, y, 6, method="exhaustive", max_time=1e-9).lower == 0.0


@each("at", range(2, 5))
def test_a_step_that_is_cut_off_leaves_the_bound_valid(at: int, monkeypatch) -> None:
    X, y, *_ = draw(2, "correlated", d=11, n=200)
    push, calls = SubsetSearch._push, []

    def stopped(self: SubsetSearch, floor: float, state: np.ndarray) -> None:
        calls.append(floor)
        if len(calls) == at:
            raise KeyboardInterrupt
        push(self, floor, state)

    monkeypatch.setattr(SubsetSearch, "_push", stopped)
    cut = patched(lambda: best_subset(X, y, 4, method="branch-and-bound"), 1.0, poor=True)
    assert cut.status == "interrupted"
    assert cut.lower <= best_subset(X, y, 4).upper <= cut.upper + 1e-12  # by trying all


@each("k", [2, 3])
def test_trying_all_has_the_bound_zero_until_the_end(k: int) -> None:
    X, y, *_ = draw(0, d=150 if k == 2 else 45, n=20)
    lines: list[SearchStep] = []
    found = best_subset(X, y, k, callback=lines.append)
    assert lines[-1].n_nodes == found.n_nodes == math.comb(X.shape[1], k)
    assert lines[-1].n_open == 0 and lines[-1].lower == found.lower > 0
    assert all(line.lower == 0 for line in lines[:-1])


@each("seed", seeds(20))
def test_the_ceiling_is_above_every_support_in_exact_arithmetic(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(9, 5))
    A[:, 0] = A[:, 1] + 10.0 ** -rng.integers(1, 4) * A[:, 0]
    sigma, delta = np.asarray(np.corrcoef(A.T)), rng.normal(size=5)
    sigma = (sigma + sigma.T) / 2
    truth = ExactSquare(np.eye(5)[:2], np.arange(2) < 1)
    truth.sigma, truth.delta = naive.exact(sigma), naive.exact(delta)
    diagonal: Any = certified_diagonal(sigma)
    left = naive.exact(sigma)
    for j in range(5):
        left[j][j] -= Fraction(diagonal.entries[j])
    assert naive.semidefinite(left)
    least = np.linalg.eigvalsh(sigma)[0]
    assert diagonal.least <= least and diagonal.entries.sum() >= 0.9 * 5 * least
    for k in (3, 5):
        bound = Fraction(ceiling(sigma, delta, diagonal, k))
        assert all(1 / truth.least(S) - 1 <= bound for S in itertools.combinations(range(5), k))


@each("offset", [0.0, 1e3, 1e6])
def test_the_moments_are_within_their_error_of_exact_arithmetic(offset: float) -> None:
    rng, y = np.random.default_rng(0), np.arange(90) % 3 == 0
    X = rng.normal(size=(90, 3)) * [1, 1e-3, 50] + offset
    bounds, truth = support_bounds_of(RowAverage.of(Rows(X), y)), ExactSquare(X, y)
    loss, error = bounds.loss, bounds.error
    for i in range(3):
        off = abs(Fraction(loss.delta[i]) - truth.delta[i]) / Fraction(loss.scale[i])
        assert off <= Fraction(error.delta)
        for j in range(3):
            off = abs(Fraction(loss.sigma[i, j]) - truth.sigma[i][j])
            assert off / Fraction(loss.scale[i] * loss.scale[j]) <= Fraction(error.sigma)
    assert error.sigma <= 1e-12  # however far away the rows are
    worse = MomentError(1e-3, 1e-3)
    assert objective_floor(1.0, 3, 0.5, worse) < objective_floor(1.0, 3, 0.5, error) <= 0.5
    assert objective_floor(1.0, 3, 0.5, error) == pytest.approx(0.5, abs=1e-11)
    assert objective_floor(1.0, 3, 1e-3, MomentError(1e-3, 0.0)) == 0.0
    assert objective_floor(np.inf, 3, 0.5, error) == 0.0
    w = loss.optimum([0, 1]).w
    assert objective_ceiling(loss, w, error) == pytest.approx(loss.value(w), abs=1e-11)
    assert objective_ceiling(loss, w, worse) > loss.value(w) + 1e-4
