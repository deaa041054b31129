"""Constants of restricted curvature, and the lemma and the corrected bounds that use them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from aucert.approx.sht import StochasticHardThresholding, sparse_problem
from aucert.exact.errors import InputError
from aucert.exact.spaces.rows import Rows
from aucert.exact.square_loss.row_average import RowAverage
from aucert.validation.bounds.restricted_constants import (
    block_matrices,
    curvature_from_rows,
    largest_restricted,
    restricted_constants,
    restricted_constants_exact,
)
from loops import each
from sparse_signal import draw

seeds = st.integers(0, 10**6)


def blocks_of(seed: int, m: int = 3, n: int = 60, d: int = 7) -> list[RowAverage]:
    X, y = draw(seed, n=n, d=d)
    solver = StochasticHardThresholding(k=2, n_blocks=m)
    return solver.blocks(sparse_problem(X, y), np.random.default_rng(seed))


@settings(max_examples=25, deadline=None)
@given(seeds, st.integers(1, 7))
def test_few_supports_are_all_tried(seed: int, s: int) -> None:
    M = block_matrices(blocks_of(seed))
    found = restricted_constants(M, s)
    least, largest = math.inf, 0.0
    for S in itertools.combinations(range(7), s):
        grid = np.ix_(S, S)
        least = min(least, 2 * np.linalg.eigvalsh(M.mean(axis=0)[grid])[0])
        largest = max(largest, *(2 * np.linalg.eigvalsh(block[grid])[-1] for block in M))
    assert found.exact
    assert found.minus == pytest.approx(least)
    assert found.plus == pytest.approx(largest)


@settings(max_examples=40, deadline=None)
@given(seeds, st.integers(1, 7), st.sampled_from([1, 3, 6]))
def test_bounds_for_many_supports_hold_those_of_all_supports(seed: int, s: int, m: int) -> None:
    blocks = blocks_of(seed, m)
    M = block_matrices(blocks)
    exact = restricted_constants_exact(M, s)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("aucert.validation.bounds.restricted_constants.MOST", 0)
        bound = restricted_constants(M, s)
    assert not bound.exact
    assert bound.minus <= exact.minus
    assert bound.plus >= exact.plus
    assert bound.ratio >= exact.ratio
    assert curvature_from_rows(blocks, s) >= exact.plus * (1 - 1e-12)


def test_where_trying_is_impossible_rho_minus_is_a_bound_and_no_search() -> None:
    M = block_matrices(blocks_of(0, m=2, n=400, d=40))
    found = restricted_constants(M, 12)
    assert not found.exact
    assert found.minus == pytest.approx(2 * np.linalg.eigvalsh(M.mean(axis=0))[0], rel=1e-9)
    assert restricted_constants(block_matrices(blocks_of(0, 2, 30, 40)), 12).minus == 0.0
    assert restricted_constants(block_matrices(blocks_of(0, 2, 30, 40)), 12).ratio == math.inf


def test_the_bound_of_rho_plus_is_tight_in_each_of_its_three_ways() -> None:
    ones = np.ones((5, 5))
    assert largest_restricted(np.diag([3.0, 1, 1, 1, 1]), 2) == pytest.approx(3.0)  # the whole
    assert largest_restricted(ones, 2) == pytest.approx(2.0)  # the trace
    sparse = np.eye(6) + 0.4 * (np.eye(6, k=1) + np.eye(6, k=-1))
    assert largest_restricted(sparse, 2) == pytest.approx(1.4)  # a row


def test_the_bound_from_rows_is_attained() -> None:
    y = np.arange(6) % 2 == 0
    apart = np.outer(y, [1.0, 2.0, -3.0])  # nothing but a mean difference
    assert curvature_from_rows([RowAverage.of(Rows(apart), y)], 2) == pytest.approx(2 * 13)
    spread = np.outer([1, 1, -1, -1, 0, 0], [2.0, 0.0, 1.0])  # no mean difference
    average = RowAverage.of(Rows(spread), y)
    exact = restricted_constants_exact(block_matrices([average]), 1).plus
    assert exact == pytest.approx(2 * (2 / 3 + 2 / 3) * 4)
    assert exact <= curvature_from_rows([average], 1) <= 2 * 2 * 4 * (1 + 1e-9)


def test_sparse_rows_give_the_same_curvature() -> None:
    X, y = draw(1)
    X[np.abs(X) < 0.7] = 0.0
    dense, sparse = ([RowAverage.of(Rows(Z), y == 1, lam=0.3)] for Z in (X, sp.csr_matrix(X)))
    assert curvature_from_rows(sparse, 3) == pytest.approx(curvature_from_rows(dense, 3))
    M = block_matrices(dense)
    assert curvature_from_rows(dense, 3) >= restricted_constants_exact(M, 3).plus


@each("s", [0, -1, 1.5])
def test_bad_sizes_are_refused(s) -> None:
    M = np.eye(3)[None]
    with pytest.raises(InputError):
        restricted_constants(M, s)
    with pytest.raises(InputError):
        restricted_constants(M[0], 2)
    with pytest.raises(InputError, match="symmetric"):
        restricted_constants(np.triu(np.ones((1, 3, 3))), 2)
