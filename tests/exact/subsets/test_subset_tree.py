"""The search tree itself: no support is lost on the way, however poor the first guess."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aucert.exact import best_subset
from aucert.exact.square_loss.support import SupportLoss, certified_diagonal
from aucert.exact.subsets.branch_and_bound import SubsetSearch
from aucert.exact.subsets.dive import CANDIDATE, IN, OUT, dive
from loops import each
from subset_problems import draw, noisy

D = 9


def matrices(seed: int, common: float) -> tuple[np.ndarray, np.ndarray]:
    """Sigma with ones on its diagonal, and delta."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(25, D)) + common * rng.normal(size=(25, 1))
    return np.asarray(np.corrcoef(A.T)), rng.normal(size=D) * rng.uniform(0.1, 0.5)


def q_of(sigma: np.ndarray, delta: np.ndarray, S: tuple[int, ...]) -> float:
    return float(delta[list(S)] @ np.linalg.solve(sigma[np.ix_(S, S)], delta[list(S)]))


def belongs(S: tuple[int, ...], state: np.ndarray) -> bool:
    """Whether the support is between the features that are in and those that are not out."""
    return all(state[j] != OUT for j in S) and all(j in S for j in np.flatnonzero(state == IN))


@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from([0.0, 1.0, 3.0]),
    st.integers(1, 5),
    st.sampled_from([1, 2, 5, 1000]),
    st.sampled_from([2, 64]),
    st.sampled_from([0.0, 0.5, 0.9, 1.0]),
    st.sampled_from([0.0, 100.0, 1000.0, np.inf]),
    st.sampled_from([(0.0, 0.0), (1e-3, 0.0), (1e-6, 1e-6), (10.0, 0.1)]),
)
def test_every_support_is_ruled_out_looked_at_or_left_over(
    seed, common, k, nodes, slots, known, most, doubt
) -> None:
    sigma, delta = matrices(seed, common)
    rng = np.random.default_rng(seed)
    start = np.full(D, CANDIDATE, dtype=np.uint8)
    start[rng.choice(D, min(k - 1, 1), replace=False)] = IN
    start[rng.choice(np.flatnonzero(start == CANDIDATE), 1)] = OUT
    members = np.flatnonzero(start)
    diagonal = certified_diagonal(sigma[np.ix_(members, members)])
    assert diagonal is not None
    entries = np.ones(D)
    entries[members] = diagonal.entries
    q = {S: q_of(sigma, delta, S) for S in itertools.combinations(range(D), k) if belongs(S, start)}
    best, tol = known * max(q.values()), 1e-9
    data = (sigma, delta, entries)
    found, closed, states, bounds, count = dive(
        data,
        start,
        np.ascontiguousarray(diagonal.inverse),
        k,
        best,
        tol,
        nodes,
        slots,
        most,
        *doubt,
    )
    assert count <= (nodes if most > 0 else 0)
    if found.size:
        assert q[tuple(sorted(found.tolist()))] >= best * (1 - 1e-12)
    for S, value in q.items():
        left = [bound for state, bound in zip(states, bounds, strict=True) if belongs(S, state)]
        assert value <= max([closed, *left]) * (1 + 1e-12)
    if any(doubt):  # what was ruled out cannot be better, the doubt about it included
        top = max([best, *(q[tuple(sorted(found.tolist()))] for _ in range(min(found.size, 1)))])
        assert (np.sqrt(closed) + doubt[0]) ** 2 / (1 - doubt[1]) <= top + 1e-6 or closed == 0
    elif not bounds.size:  # all is done: what was ruled out cannot be better than what was found
        top = max([best, *(q[tuple(sorted(found.tolist()))] for _ in range(min(found.size, 1)))])
        assert top >= max(q.values()) - 1e-6
        assert closed <= top + 1e-6


def worst(loss: SupportLoss, k: int, starts: object, end: float) -> object:
    """Stands in for the local search."""
    used = np.flatnonzero(loss.informative)
    return max(
        map(loss.optimum, itertools.combinations(used.tolist(), k)), key=lambda found: found.value
    )


@each("work", [1.0, 2e4, 4e7])
@each("kind", ["plain", "correlated", "copies", "sums", "ridge", "weighted"])
def test_the_worst_guess_to_start_from_changes_nothing(kind: str, work: float) -> None:
    for seed in range(3):
        problem = draw(seed + 30, kind, d=10)
        options = {"ridge": problem.ridge, "sample_weight": problem.weight}
        tried = best_subset(problem.X, problem.y, problem.k, method="exhaustive", **options)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("aucert.exact.subsets.best_subset.good_support", worst)
            patch.setattr("aucert.exact.subsets.branch_and_bound.WORK", work)
            found = best_subset(
                problem.X, problem.y, problem.k, method="branch-and-bound", **options
            )
        assert found.proved
        assert found.upper == pytest.approx(tried.upper, abs=2e-9)


@each("at", range(2, 5))
def test_a_step_that_is_cut_off_leaves_the_bound_valid(at: int) -> None:
    X, y = noisy(200, 11, 4, 0.2, 0.3, seed=2)
    best = best_subset(X, y, 4)  # by trying all
    push, calls = SubsetSearch._push, []

    def stopped(self: SubsetSearch, floor: float, state: np.ndarray) -> None:
        calls.append(floor)
        if len(calls) == at:
            raise KeyboardInterrupt
        push(self, floor, state)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("aucert.exact.subsets.branch_and_bound.WORK", 1.0)
        patch.setattr("aucert.exact.subsets.best_subset.good_support", worst)
        patch.setattr(SubsetSearch, "_push", stopped)
        cut = best_subset(X, y, 4, method="branch-and-bound")
    assert cut.status == "interrupted"
    assert cut.lower <= best.upper <= cut.upper + 1e-12


def test_dependent_features_that_separate_are_found_from_the_worst_guess() -> None:
    X, y = noisy(60, 9, 3, 0.3, 0.0, seed=3)
    X[:, 5] = 2.0 * y - 7 * X[:, 1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("aucert.exact.subsets.best_subset.good_support", worst)
        found = best_subset(X, y, 3, method="branch-and-bound")
    assert found.proved
    assert found.upper <= 1e-9
    assert {1, 5} <= set(found.support.tolist())
