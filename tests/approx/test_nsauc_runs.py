from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import chisquare

from aucert.approx.nsauc import LOOKS, PairSGD, mean_square_size, random_pairs, starting_time
from aucert.exact.api.solve import solve
from aucert.exact.certificate.solution import Status
from aucert.exact.errors import InputError
from aucert.exact.losses.registry import HINGE, SQUARED_HINGE
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.problem.problem import Ridge, pair_problem
from aucert.exact.spaces.rows import Rows
from loops import each
from pair_walks import RAW, RNG, N, X, Y, problem


def test_every_pair_is_equally_likely() -> None:
    small = pair_problem(Rows(RAW[:8]), np.arange(8) < 3, AllPairs(), HINGE, Ridge(1.0))
    i, j = random_pairs(small, 15_000, np.random.default_rng(1))
    assert (
        chisquare(np.bincount(i * 8 + j, minlength=64).reshape(8, 8)[:3, 3:].ravel()).pvalue > 1e-3
    )


@each("listed", [False, True])
def test_pairs_are_drawn_in_proportion_to_their_weights(listed: bool) -> None:
    positive, weight = np.arange(5) < 2, np.array([1.0, 3.0, 2.0, 0.0, 4.0])
    if listed:
        i, j = np.repeat([0, 1], 3), np.tile([2, 3, 4], 2)
        pairs: AllPairs | PairList = PairList(i, j, np.array([2, 0.5, 4, 6, 1.5, 12]))
        share = np.array([2, 0.5, 4, 6, 1.5, 12]) / 26
    else:
        pairs = AllPairs(weight)
        share = np.outer(weight[:2], weight[2:]).ravel() / 24
    task = pair_problem(Rows(RAW[:5]), positive, pairs, HINGE, Ridge(1.0))
    i, j = random_pairs(task, 20_000, np.random.default_rng(2))
    count = np.bincount(3 * i + (j - 2), minlength=6)
    assert (count[share == 0] == 0).all()
    assert chisquare(count[share > 0], 20_000 * share[share > 0]).pvalue > 1e-3


def test_row_weights_mean_repetition_in_the_objective_that_is_approached() -> None:
    weight = RNG.integers(0, 3, size=N).astype(float)
    task = problem(1e-2, pairs=AllPairs(weight))
    best = solve(X, Y, 1e-2, sample_weight=weight).certificate.dual
    found = PairSGD(200).solve(task).certificate
    assert 0 <= found.primal - best <= 2e-3 * best


# Parameters and running.


def test_rules_for_the_start() -> None:
    assert starting_time("inverse", 1e-4) == pytest.approx(1e4)
    assert starting_time("bottou", 1e-4) == pytest.approx(1e3)
    assert starting_time("scaled", 1e-4, 0.5) == pytest.approx(5e3)
    assert starting_time("scaled", 1e-4, 0.0) == pytest.approx(1e4)
    assert starting_time(7, 1e-4) == 7.0


@each("sparse", [False, True])
def test_the_size_of_the_rows_is_their_spread(sparse: bool) -> None:
    rows = sp.csr_matrix(RAW) if sparse else RAW
    assert mean_square_size(Rows(rows)) == pytest.approx(RAW.var(axis=0).sum(), rel=1e-12)


def test_units_of_the_features_change_units_only() -> None:
    plain = PairSGD(10).solve(problem(1e-2))
    scaled = PairSGD(10).solve(problem(64e-2, rows=8 * X))
    np.testing.assert_allclose(8 * scaled.w, plain.w, rtol=1e-9)
    assert scaled.certificate.primal == pytest.approx(plain.certificate.primal, rel=1e-9)


def test_a_seed_names_the_run() -> None:
    one, again, other = (PairSGD(2, seed=s).solve(problem(1e-2)).w for s in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one, other)


def test_a_run_looks_at_the_objective_now_and_then() -> None:
    lines = []
    found = PairSGD(3 * LOOKS).solve(problem(1e-2), callback=lines.append)
    assert lines == found.history
    assert [line.n_iter for line in lines] == [3 * N * (k + 1) for k in range(LOOKS)]
    assert lines[-1].primal == pytest.approx(found.certificate.primal, rel=1e-12)
    assert lines[-1].dual == pytest.approx(found.certificate.dual, rel=1e-9)


def test_a_run_ends_where_its_gap_is_reached() -> None:
    found = PairSGD(2000, tol=0.02).solve(problem(1e-2))
    assert found.status == Status.CERTIFIED and found.n_iter < 1000 * N


def test_an_interrupted_run_keeps_its_point() -> None:
    def stop(line) -> None:
        if line.n_iter >= 3 * N:
            raise KeyboardInterrupt

    found = PairSGD(50).solve(problem(1e-2), callback=stop)
    assert found.status == Status.INTERRUPTED and found.n_iter == 3 * N
    assert found.certificate.primal < 1


def test_a_run_too_short_for_one_averaged_point_is_refused() -> None:
    with pytest.raises(InputError, match="500 steps hold no averaged point"):
        PairSGD(1, askip=501).solve(problem(1e-2))
    assert PairSGD(1, askip=501, average="none").solve(problem(1e-2)).n_iter == 500


def test_only_the_hinge_over_rows_is_taken() -> None:
    squared = pair_problem(Rows(X), Y, AllPairs(), SQUARED_HINGE, Ridge(1e-2))
    with pytest.raises(InputError, match="needs the hinge and rows"):
        PairSGD().solve(squared)
