"""[SHT, Theorem 1, Theorem 2] as bounds: constants by enumeration, figures by hand, runs."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from aucert.approx.sht import StochasticHardThresholding, sparse_problem
from aucert.approx.thresholding import hard_threshold
from aucert.exact.errors import InputError, TooLargeError
from aucert.exact.square_loss.row_average import RowAverage
from aucert.validation.bounds import sht
from aucert.validation.bounds.sht import (
    RestrictedConstants,
    block_matrices,
    largest_restricted,
    least_curvature,
    least_sparsity,
    nu_lemma2,
    nu_printed,
    restricted_constants,
    restricted_constants_exact,
    sht_theorem1,
    sht_theorem2,
)
from loops import each, seeds
from sparse_signal import draw

LOG = math.log(1000)


def blocks_of(m: int = 4, n: int = 4000, d: int = 8, r: float = 0.5) -> list[RowAverage]:
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(n) < r * n).astype(int)
    X = rng.normal(size=(n, d))
    X[:, 0] += y
    solver = StochasticHardThresholding(k=3, n_blocks=m)
    return solver.blocks(sparse_problem(X, y), np.random.default_rng(1))


def drawn_blocks(seed: int, m: int = 3, n: int = 60, d: int = 7) -> list[RowAverage]:
    X, y = draw(seed, n=n, d=d)
    solver = StochasticHardThresholding(k=2, n_blocks=m)
    return solver.blocks(sparse_problem(X, y), np.random.default_rng(seed))


def best_single(blocks: list[RowAverage]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The blocks' matrices, delta, and the best vector with one nonzero, by trying all features."""
    M, delta = block_matrices(blocks), blocks[0].delta
    diagonal = np.diag(M.mean(axis=0))
    at = int((delta**2 / diagonal).argmax())
    return M, delta, delta[at] / diagonal[at] * np.eye(delta.size)[at]


# Restricted curvature.


def test_block_matrices_are_half_the_hessians() -> None:
    blocks, rng = blocks_of(m=3, n=60), np.random.default_rng(2)
    for block, M in zip(blocks, block_matrices(blocks), strict=True):
        w, v = rng.normal(size=(2, 8))
        assert block.gradient(w + v) - block.gradient(w) == pytest.approx(2 * M @ v)
        assert block.gradient(w) == pytest.approx(2 * M @ w - 2 * block.delta)


@each("seed", seeds(12))
@each("m", [1, 3, 6])
def test_constants_are_those_of_all_supports_and_bounds_hold_them(
    monkeypatch: pytest.MonkeyPatch, seed: int, m: int
) -> None:
    blocks = drawn_blocks(seed, m)
    M = block_matrices(blocks)
    for s in (1, 3, 7, 20):
        every = [np.ix_(S, S) for S in itertools.combinations(range(7), min(s, 7))]
        least = min(np.linalg.eigvalsh(M.mean(axis=0)[S])[0] for S in every)
        largest = max(np.linalg.eigvalsh(B[S])[-1] for S in every for B in M)
        exact = restricted_constants(M, s)
        assert exact.exact and exact.s == min(s, 7)
        assert exact.minus == pytest.approx(2 * least)
        assert exact.plus == pytest.approx(2 * largest)
        assert exact.ratio == pytest.approx(largest / least)
        with monkeypatch.context() as patch:
            patch.setattr(sht, "MOST", 0)
            bound = restricted_constants(M, s)
        assert not bound.exact and bound.minus <= exact.minus and bound.plus >= exact.plus
        assert bound.ratio >= exact.ratio


def test_where_trying_is_impossible_rho_minus_is_a_bound_and_no_search() -> None:
    M = block_matrices(drawn_blocks(0, m=2, n=400, d=40))
    found = restricted_constants(M, 12)
    assert not found.exact
    assert found.minus == pytest.approx(2 * np.linalg.eigvalsh(M.mean(axis=0))[0], rel=1e-9)
    few = restricted_constants(block_matrices(drawn_blocks(0, 2, 30, 40)), 12)
    assert (few.minus, few.ratio) == (0.0, math.inf)
    with pytest.raises(TooLargeError, match="a search"):
        restricted_constants_exact(np.eye(60)[None], 20)
    rng = np.random.default_rng(6)
    for x in rng.normal(size=(20, 6)):  # dependent features
        single = restricted_constants_exact(np.outer(x, x)[None], 2)
        assert (single.minus, single.ratio) == (0.0, math.inf)


def test_the_bounds_of_rho_plus_are_attained() -> None:
    ones = np.ones((5, 5))
    assert largest_restricted(np.diag([3.0, 1, 1, 1, 1]), 2) == pytest.approx(3.0)  # the whole
    assert largest_restricted(ones, 2) == pytest.approx(2.0)  # the trace
    sparse = np.eye(6) + 0.4 * (np.eye(6, k=1) + np.eye(6, k=-1))
    assert largest_restricted(sparse, 2) == pytest.approx(1.4)  # a row


# Theorem 1.


@each(
    ("rho", "lemma2", "printed"),
    [(1.2, 0.24, 0.312), (1.5, 0.75, 1.0), (2.0, 2.0, 2.618), (5.0, 20.0, 23.31), (10, 90, 98.2)],
)
def test_the_least_k_in_both_readings(rho: float, lemma2: float, printed: float) -> None:
    assert least_sparsity(rho, 1) == pytest.approx(lemma2)
    assert least_sparsity(rho, 1, "printed") == pytest.approx(printed, rel=2e-3)
    for nu in ("lemma2", "printed"):
        k = least_sparsity(rho, 10**6, nu)
        rest = (10**9,) if nu == "lemma2" else ()
        factor = nu_lemma2 if nu == "lemma2" else nu_printed
        for at in (int(k * 1.001), int(k * 0.999)):
            if at >= 10**6:
                assert (factor(at, 10**6, *rest) * (1 - 1 / rho) < 1) == (at > k)
        assert (least_sparsity(1.0, 3, nu), least_sparsity(np.inf, 3, nu)) == (0.0, np.inf)
    for d, k_star in itertools.product((5, 20, 1000), range(1, 6)):
        for at in range(k_star, min(d, 40) + 1):
            assert 1 <= nu_lemma2(at, k_star, d) <= nu_printed(at, k_star) + 1e-15


@each("nu", ["printed", "lemma2"])
def test_the_terms_are_those_of_the_formula(nu: str) -> None:
    blocks = blocks_of()
    M, delta, target = best_single(blocks)
    bound = sht_theorem1(M, delta, target, np.zeros(8), 3, 7, nu=nu)
    constants = restricted_constants_exact(M, 7)
    factor = 1 + 1 / 3 + 3**-0.5 if nu == "printed" else nu_lemma2(3, 1, 8)
    kappa = np.sqrt(factor * (1 - constants.minus / constants.plus))
    tops = [np.sort(np.abs(block.gradient(target)))[-7:] for block in blocks]
    sigma = np.sqrt(factor) / constants.plus * np.mean([np.linalg.norm(top) for top in tops])
    start = np.linalg.norm(target)
    assert kappa < 1 and bound.limit == pytest.approx(start)
    assert bound.terms["start"] == pytest.approx(kappa**7 * start)
    assert bound.terms["tolerance"] == pytest.approx(sigma / (1 - kappa))
    wanted = {"kappa": kappa, "sigma": sigma, "step": 1 / constants.plus}
    assert {name: bound.quantities[name] for name in wanted} == pytest.approx(wanted)
    assert bound.notes[0].endswith("holds")
    assert sht_theorem1(M, delta, target, np.zeros(8), 3, 0).vacuous
    assert not sht_theorem1(M[:1], delta, target, np.ones(8) * np.eye(8)[0] * 9, 3, 60).vacuous


def test_half_of_kappa_would_be_violated() -> None:
    """No noise at w*, which lies along the flattest direction: the error shrinks by 1 - 1/rho."""
    M, target, zero = np.diag([1.0] * 30 + [3.0] * 30), np.eye(60)[0], np.zeros(60)
    delta, w, constants = M @ target, zero, RestrictedConstants(41, 2.0, 6.0)
    for t in range(1, 8):
        w = hard_threshold(w - (2 * M @ w - 2 * delta) / constants.plus, 20)
        error = float(np.linalg.norm(w - target))
        more: dict[str, Any] = {"constants": constants, "left_side": error, "nu": "lemma2"}
        bound = sht_theorem1(M[None], delta, target, zero, 20, t, **more)
        assert bound.violated is False and bound.terms["tolerance"] == 0.0
        assert error == pytest.approx((2 / 3) ** t)
        assert error > (bound.quantities["kappa"] / 2) ** t


def test_where_kappa_is_one_or_more_the_bound_is_infinite() -> None:
    M, delta, target = best_single(blocks_of(n=60, r=0.2))
    bound = sht_theorem1(M, delta, target, np.zeros(8), 3, 5)
    assert bound.quantities["kappa"] >= 1 and bound.notes[0].endswith("does not hold")
    assert bound.total == np.inf and bound.vacuous
    # rho = 2: the printed condition is k > 2 k*, the displayed nu needs k > 2.618 k*.
    M, target = np.diag([1.0] * 60 + [2.0] * 60)[None], np.repeat([1.0, 0.0], [10, 110])
    given = (M, M[0] @ target, target, np.zeros(120), 25, 5)
    constants = RestrictedConstants(60, 2.0, 4.0)
    printed = sht_theorem1(*given, constants=constants)
    assert printed.notes[0].endswith("holds") and printed.total == np.inf
    right = sht_theorem1(*given, constants=constants, nu="lemma2")
    assert right.quantities["kappa"] < 1 and right.total < np.inf


# Theorem 2: figures worked out by hand.


def test_eqs_12_and_13_by_hand() -> None:
    for n, r in ((10**7, 0.5), (1000, 0.05), (1000, 0.5)):
        share, unit = 60 * LOG / (r * n), 60 * LOG / r
        right = (0.5 - 6 * math.sqrt(2) * math.sqrt(share)) ** 2 - 32 / 3 * share
        printed, corrected = (
            sht_theorem2(n, 1000, 60, r, 50, form=form) for form in ("printed", "corrected")
        )
        assert printed.minus == pytest.approx(right)
        assert printed.plus == pytest.approx(16 * unit * (math.log(50) / 2 + LOG))
        assert corrected.plus == pytest.approx(16 * unit * (math.log(n) / 2 + LOG))
        assert printed.chance_minus == pytest.approx(1 - math.exp(-r * n / 72) - 0.12)
        assert printed.chance_plus == pytest.approx(0.97)
        if corrected.base < 0:  # not squared
            assert corrected.minus < 0 < printed.minus and corrected.ratio == math.inf
        else:
            assert corrected.minus == printed.minus
    for r, value in ((0.05, 484.0), (0.5, 43.4)):
        assert sht_theorem2(1000, 1000, 60, r, 50).minus == pytest.approx(value, rel=2e-3)


def chance_of_a_longer_row(n: int, d: int, s: int, rows: int) -> float:
    """Lemma 4 for n rows and the difference of the means, at (16/3) s log d (log(rows)/2 + log d).

    The lemma's t has t log(2d/s) = (16/3) log d (log(rows)/2 + log d), and its bound is
    (2d/s)^(1 - 3t/8) = (2d/s) exp(-2 log d (log(rows)/2 + log d)).
    """
    log = math.log(d)
    return (n + 1) * 2 * d / s * math.exp(-2 * log * (math.log(rows) / 2 + log))


def test_eq_13_has_the_chance_that_the_theorem_states() -> None:
    for n, d in itertools.product((4, 100, 10**6, 10**12), (3, 10, 1000, 10**6)):
        for s in {2, 3, min(d, 60), d}:
            if s <= d:
                assert chance_of_a_longer_row(n, d, s, n) <= s / (2 * d)
    assert chance_of_a_longer_row(1000, 1000, 60, 50) < 1e-40
    # Lemma 4 as the proof applies it, without the superfluous log d, does not give it for s > 1.
    t = 16 * math.log(2 * 50**0.5 * 1000) / (3 * math.log(2000))
    assert (2000 / 60) ** (1 - 3 * t / 8) > 60 / (2 * 50 * 1000)
    # The constant 16: v'M_B v is at most L (r_i/r + (1 - r_i)/(1 - r) + 1/(rn) + 1/((1 - r)n)), L
    # the longest row in units of (16/3) s log d (log(b)/2 + log d); rho+ is twice that.
    for n, r, share in itertools.product((4, 5, 1000), (0.01, 0.3, 0.5), (0.0, 0.5, 1.0)):
        sides = share / r + (1 - share) / (1 - r) + 1 / (r * n) + 1 / ((1 - r) * n)
        assert 2 * 16 / 3 * sides <= 16 / r * (1 + 1e-12)


def test_the_least_curvature_by_hand_and_below_the_truth_with_a_signal() -> None:
    logs = 60 * math.log(math.e * 1000 / 60) + math.log(20)
    base = 1 - math.sqrt(60 / 949) - math.sqrt(2 * logs / 949)
    found = least_curvature((50, 950), 1000, 60)
    assert found == pytest.approx(2 * 949 / 950 * base**2) == pytest.approx(0.005, abs=5e-4)
    X, y = np.random.default_rng(0).standard_normal((3000, 8)), np.arange(3000) < 900
    X[y] += 1.0
    M = block_matrices([sparse_problem(X, y)])[0]
    assert 0 < least_curvature((900, 2100), 8, 8) < 2 * np.linalg.eigvalsh(M)[0]


ROUND = {"delta": np.ones(3), "w_star": np.eye(3)[0], "w0": np.zeros(3)}
REFUSALS: list[tuple[Any, dict[str, Any], list[tuple[dict[str, Any], str]]]] = [
    (
        restricted_constants,
        {"M_blocks": np.eye(3)[None], "s": 2},
        [
            *(({"s": s}, "s must be") for s in (0, -1, 1.5)),
            ({"M_blocks": np.eye(3)}, r"shape \(m, d, d\)"),
            ({"M_blocks": np.triu(np.ones((1, 3, 3)))}, "symmetric"),
        ],
    ),
    (
        sht_theorem1,
        {"M_blocks": np.eye(3)[None], "k": 1, "n_iter": 3, **ROUND},
        [
            ({"M_blocks": np.eye(3)}, r"shape \(m, d, d\)"),
            ({"M_blocks": np.zeros((1, 3, 3))}, "no curvature"),
            ({"delta": np.ones(4)}, "must each be 3 finite numbers"),
            *(({name: np.ones(3)}, "k = 1 must be at least") for name in ("w_star", "w0")),
            ({"k": 0}, "k must be a whole number"),
            ({"n_iter": -1}, "n_iter must be a whole number >= 0"),
            ({"nu": "other"}, "nu must be one of"),
            ({"constants": RestrictedConstants(2, 1.0, 1.0)}, "s = 2k \\+ k\\* = 3 is needed"),
        ],
    ),
    (
        sht_theorem2,
        {"n": 100, "d": 10, "s": 2, "r": 0.5, "b": 10},
        [
            ({name: value}, f"{name} must be")
            for name, value in (("r", 0.6), ("r", 1), ("lam", 0.0), ("d", 1), ("form", "a"))
        ],
    ),
    (least_curvature, {"sizes": (10, 10), "d": 3}, [({"s": 4}, "s must lie")]),
]


def test_bad_arguments_are_refused() -> None:
    for call, good, cases in REFUSALS:
        for change, match in cases:
            with pytest.raises(InputError, match=match):
                call(**(good | change))
