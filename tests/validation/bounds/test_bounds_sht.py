"""[SHT, Theorem 1] as a bound: constants by enumeration, both readings of nu, runs against it."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from aucert.approx.sht import StochasticHardThresholding, sparse_problem
from aucert.approx.thresholding import hard_threshold
from aucert.exact.errors import InputError, TooLargeError
from aucert.exact.square_loss.row_average import RowAverage
from aucert.validation.bounds.restricted_constants import (
    RestrictedConstants,
    block_matrices,
    restricted_constants_exact,
)
from aucert.validation.bounds.sht import least_sparsity, nu_lemma2, nu_printed, sht_theorem1
from loops import each


def blocks_of(m: int = 4, n: int = 4000, d: int = 8, r: float = 0.5) -> list[RowAverage]:
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(n) < r * n).astype(int)
    X = rng.normal(size=(n, d))
    X[:, 0] += y
    solver = StochasticHardThresholding(k=3, n_blocks=m)
    return solver.blocks(sparse_problem(X, y), np.random.default_rng(1))


def best_single(blocks: list[RowAverage]) -> np.ndarray:
    """The best vector with one nonzero, by trying all features."""
    mean, delta = block_matrices(blocks).mean(axis=0), blocks[0].delta
    gains = delta**2 / np.diag(mean)
    at = int(gains.argmax())
    w = np.zeros(delta.size)
    w[at] = delta[at] / mean[at, at]
    return w


# Constants.


def test_block_matrices_are_half_the_hessians() -> None:
    blocks = blocks_of(m=3, n=60)
    rng = np.random.default_rng(2)
    for block, M in zip(blocks, block_matrices(blocks), strict=True):
        w, v = rng.normal(size=8), rng.normal(size=8)
        change = block.gradient(w + v) - block.gradient(w)
        assert change == pytest.approx(2 * M @ v)
        assert block.gradient(w) == pytest.approx(2 * M @ w - 2 * block.delta)


@each("s", [1, 3, 8, 20])
def test_restricted_constants_are_those_of_all_supports(s: int) -> None:
    M = block_matrices(blocks_of(m=3, n=60))
    found = restricted_constants_exact(M, s)
    every = [list(S) for S in itertools.combinations(range(8), min(s, 8))]
    mean = M.mean(axis=0)
    least = min(np.linalg.eigvalsh(mean[np.ix_(S, S)])[0] for S in every)
    largest = max(np.linalg.eigvalsh(B[np.ix_(S, S)])[-1] for S in every for B in M)
    assert found.minus == pytest.approx(2 * least)
    assert found.plus == pytest.approx(2 * largest)
    assert restricted_constants_exact(M[::-1], s).plus == pytest.approx(found.plus)
    assert found.ratio == pytest.approx(largest / least) and found.s == min(s, 8)


def test_a_random_vector_with_s_nonzeros_is_never_outside_the_constants() -> None:
    M = block_matrices(blocks_of(m=3, n=60))
    found = restricted_constants_exact(M, 3)
    rng = np.random.default_rng(3)
    for _ in range(300):
        v = hard_threshold(rng.normal(size=8), 3)
        v /= np.linalg.norm(v)
        assert 2 * v @ M.mean(axis=0) @ v >= found.minus - 1e-12
        assert max(2 * v @ B @ v for B in M) <= found.plus + 1e-12


def test_a_singular_support_gives_an_infinite_ratio() -> None:
    rng = np.random.default_rng(6)
    for _ in range(20):
        x = rng.normal(size=6)
        found = restricted_constants_exact(np.outer(x, x)[None], 2)
        assert found.minus == 0.0 and found.ratio == np.inf


def test_too_many_supports_are_refused() -> None:
    with pytest.raises(TooLargeError, match="a search would give no bound"):
        restricted_constants_exact(np.eye(60)[None], 20)


# nu and the condition on k.


def test_the_nu_of_lemma_2_is_at_most_the_printed_one() -> None:
    for d in (5, 20, 1000):
        for k_star in range(1, 6):
            for k in range(k_star, min(d, 40) + 1):
                assert 1 <= nu_lemma2(k, k_star, d) <= nu_printed(k, k_star) + 1e-15


@each(
    ("rho", "lemma2", "printed"),
    [(1.2, 0.24, 0.312), (1.5, 0.75, 1.0), (2.0, 2.0, 2.618), (5.0, 20.0, 23.31), (10, 90, 98.2)],
)
def test_the_least_k_in_both_readings(rho: float, lemma2: float, printed: float) -> None:
    assert least_sparsity(rho, 1) == pytest.approx(lemma2)
    assert least_sparsity(rho, 1, "printed") == pytest.approx(printed, rel=2e-3)
    k_star = 10**6
    for name, factor in (("lemma2", nu_lemma2), ("printed", nu_printed)):
        k = least_sparsity(rho, k_star, name)
        if k >= k_star:
            above, below = int(k * 1.001), max(int(k * 0.999), k_star)
            arguments = (k_star, 10**9) if name == "lemma2" else (k_star,)
            assert factor(above, *arguments) * (1 - 1 / rho) < 1
            if below < k:
                assert factor(below, *arguments) * (1 - 1 / rho) > 1


def test_no_condition_without_curvature_differences_and_none_that_helps_a_singular_one() -> None:
    for nu in ("lemma2", "printed"):
        assert least_sparsity(1.0, 3, nu) == 0.0
        assert least_sparsity(np.inf, 3, nu) == np.inf


# The bound.


@each("nu", ["printed", "lemma2"])
def test_the_terms_are_those_of_the_formula(nu: str) -> None:
    blocks = blocks_of()
    M, delta, target = block_matrices(blocks), blocks[0].delta, best_single(blocks)
    bound = sht_theorem1(M, delta, target, np.zeros(8), 3, 7, nu=nu)
    constants = restricted_constants_exact(M, 7)
    factor = 1 + 1 / 3 + 3**-0.5 if nu == "printed" else nu_lemma2(3, 1, 8)
    kappa = np.sqrt(factor * (1 - constants.minus / constants.plus))
    tops = [np.sort(np.abs(block.gradient(target)))[-7:] for block in blocks]
    sigma = np.sqrt(factor) / constants.plus * np.mean([np.linalg.norm(top) for top in tops])
    start = np.linalg.norm(target)
    assert kappa < 1
    assert bound.terms["start"] == pytest.approx(kappa**7 * start)
    assert bound.terms["tolerance"] == pytest.approx(sigma / (1 - kappa))
    assert bound.limit == pytest.approx(start)
    assert bound.quantities["kappa"] == pytest.approx(kappa)
    assert bound.quantities["sigma"] == pytest.approx(sigma)
    assert bound.quantities["step"] == pytest.approx(1 / constants.plus)
    assert bound.notes[0].endswith("holds")


def test_the_theorem_and_its_recursion_hold_in_runs() -> None:
    blocks = blocks_of()
    M, delta, target = block_matrices(blocks), blocks[0].delta, best_single(blocks)
    bound = sht_theorem1(M, delta, target, np.zeros(8), 3, 0, nu="lemma2")
    kappa, sigma, step = (bound.quantities[name] for name in ("kappa", "sigma", "step"))
    rng = np.random.default_rng(5)
    w = np.zeros((200, 8))
    means = [float(np.linalg.norm(target))]
    for _ in range(25):
        drawn = rng.integers(len(blocks), size=200)
        w = np.array(
            [
                hard_threshold(x - step * blocks[i].gradient(x), 3)
                for x, i in zip(w, drawn, strict=True)
            ]
        )
        means.append(float(np.linalg.norm(w - target, axis=1).mean()))
    for t in range(25):
        assert means[t + 1] <= kappa * means[t] + sigma
        found = sht_theorem1(
            M, delta, target, np.zeros(8), 3, t + 1, nu="lemma2", left_side=means[t + 1]
        )
        assert found.violated is False


def test_half_of_kappa_would_be_violated() -> None:
    """No noise at w*, which lies along the flattest direction: the error shrinks by 1 - 1/rho."""
    M, target = np.diag([1.0] * 30 + [3.0] * 30), np.eye(60)[0]
    delta, w, constants = M @ target, np.zeros(60), RestrictedConstants(41, 2.0, 6.0)
    for t in range(1, 8):
        w = hard_threshold(w - (2 * M @ w - 2 * delta) / constants.plus, 20)
        error = float(np.linalg.norm(w - target))
        bound = sht_theorem1(
            M[None],
            delta,
            target,
            np.zeros(60),
            20,
            t,
            constants=constants,
            left_side=error,
            nu="lemma2",
        )
        assert bound.violated is False and bound.terms["tolerance"] == 0.0
        assert error == pytest.approx((2 / 3) ** t)
        assert error > (bound.quantities["kappa"] / 2) ** t


def test_where_kappa_is_one_or_more_the_bound_is_infinite() -> None:
    blocks = blocks_of(n=60, r=0.2)
    M, delta, target = block_matrices(blocks), blocks[0].delta, best_single(blocks)
    bound = sht_theorem1(M, delta, target, np.zeros(8), 3, 5)
    assert bound.quantities["kappa"] >= 1
    assert bound.total == np.inf and bound.vacuous
    assert bound.notes[0].endswith("does not hold")


def test_between_the_readings_the_condition_holds_and_the_bound_is_infinite() -> None:
    """rho = 2: the printed condition is k > 2 k*, the displayed nu needs k > 2.618 k*."""
    M, target = np.diag([1.0] * 60 + [2.0] * 60)[None], np.zeros(120)
    target[:10] = 1.0
    arguments = (M, M[0] @ target, target, np.zeros(120), 25, 5)
    constants = RestrictedConstants(60, 2.0, 4.0)
    printed = sht_theorem1(*arguments, constants=constants)
    assert printed.notes[0].endswith("holds") and printed.total == np.inf
    right = sht_theorem1(*arguments, constants=constants, nu="lemma2")
    assert right.quantities["kappa"] < 1 and right.total < np.inf


def test_a_bound_beyond_the_start_is_vacuous() -> None:
    blocks = blocks_of()
    M, delta, target = block_matrices(blocks), blocks[0].delta, best_single(blocks)
    assert sht_theorem1(M, delta, target, np.zeros(8), 3, 0).vacuous
    assert not sht_theorem1(M[:1], delta, target, np.ones(8) * np.eye(8)[0] * 9, 3, 60).vacuous


@each(
    ("change", "match"),
    [
        ({"M_blocks": np.eye(3)}, r"shape \(m, d, d\)"),
        ({"M_blocks": np.triu(np.ones((1, 3, 3)))}, "finite and symmetric"),
        ({"M_blocks": np.zeros((1, 3, 3))}, "no curvature"),
        ({"delta": np.ones(4)}, "must each be 3 finite numbers"),
        ({"w_star": np.ones(3)}, "k = 1 must be at least"),
        ({"w0": np.ones(3)}, "k = 1 must be at least"),
        ({"k": 0}, "k must be a whole number"),
        ({"n_iter": -1}, "n_iter must be a whole number >= 0"),
        ({"nu": "other"}, "nu must be one of"),
        ({"constants": RestrictedConstants(2, 1.0, 1.0)}, "s = 2k \\+ k\\* = 3 is needed"),
    ],
)
def test_bad_input_is_refused(change: dict[str, Any], match: str) -> None:
    good: dict[str, Any] = {
        "M_blocks": np.eye(3)[None],
        "delta": np.ones(3),
        "w_star": np.eye(3)[0],
        "w0": np.zeros(3),
        "k": 1,
        "n_iter": 3,
    }
    with pytest.raises(InputError, match=match):
        sht_theorem1(**(good | change))
