"""Every stated rounding against exact rational arithmetic: |computed - exact| <= stated."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import naive
from aucert.exact.certificate.certificate import Certificate, Minorant, evaluated_with
from aucert.exact.losses.registry import LOSSES
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.problem.minorant import Alpha, Scores
from aucert.exact.problem.problem import Ridge, linear_problem, pair_problem
from aucert.exact.spaces.gram import Gram
from aucert.exact.spaces.rows import Rows
from aucert.exact.sums.counted import SortedRows
from aucert.exact.tools.rounding import gamma, gamma_sum, running_sum
from loops import each, seeds

SEEDS = seeds(40)


def some_labels(rng: np.random.Generator, n: int) -> np.ndarray:
    positive = np.zeros(n, dtype=bool)
    positive[rng.permutation(n)[: rng.integers(1, n)]] = True
    return positive


def some_scores(rng: np.random.Generator, n: int) -> np.ndarray:
    """Scores of any size; or on a dyadic grid, so that ties at the margin are ties exactly."""
    kind = rng.integers(3)
    if kind == 0:
        return np.round(rng.normal(size=n) * 4) / 4
    scores = rng.normal(size=n) * 10.0 ** rng.integers(-8, 9)
    return scores + 1e8 if kind == 1 else scores


def some_pairs(rng: np.random.Generator, positive: np.ndarray, listed: bool) -> AllPairs | PairList:
    if listed:
        m = int(rng.integers(1, 12))
        i, j = rng.choice(np.flatnonzero(positive), m), rng.choice(np.flatnonzero(~positive), m)
        return PairList(i, j, None if rng.integers(2) else rng.uniform(0.01, 3, m))
    weights = [
        None,
        rng.integers(1, 4, positive.size).astype(float),
        10.0 ** rng.uniform(-9, 9, positive.size),
    ]
    return AllPairs(weights[rng.integers(3)], form=["numpy", "compiled"][rng.integers(2)])


def some_width(rng: np.random.Generator) -> float:
    return 0.0 if rng.integers(2) else float(10.0 ** rng.integers(-17, 4))


def exact_sums(
    scores: np.ndarray, positive: np.ndarray, pairs: AllPairs, loss: str, width: float
) -> naive.NaiveSums:
    """Return the exact sums; alpha that of the grid where the scores are rounded to one."""
    weighted = naive.weighted_pairs(positive.tolist(), pairs)
    true = naive.sums(naive.exact(scores), weighted, loss, Fraction(width))
    if loss != "hinge" or width == 0 or pairs.weight is not None or pairs.form == "numpy":
        return true
    order = SortedRows.of(scores, positive, width)
    if order is not None and order.sums(scores, width) is not None:
        places = [(x * 2**order.k).__floor__() for x in naive.exact(scores)]
        grid = [Fraction(x, 2**order.k) for x in places]
        ramps = naive.sums(grid, weighted, loss, Fraction(order.half(width), 2 ** (order.k - 1)))
        return naive.NaiveSums(true.value, ramps.c, ramps.conjugate)
    return true


@each("loss", LOSSES)
@each("seed", SEEDS)
def test_sums_over_all_pairs(seed: int, loss: str) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    positive, scores, width = some_labels(rng, n), some_scores(rng, n), some_width(rng)
    pairs = some_pairs(rng, positive, listed=False)
    assert isinstance(pairs, AllPairs)
    found = pairs.on(positive).sums(scores, LOSSES[loss], width)
    true = exact_sums(scores, positive, pairs, loss, width)
    assert abs(Fraction(found.value) - true.value) <= found.value_rounding
    slips = [abs(x - y) for x, y in zip(naive.exact(found.c), true.c, strict=True)]
    assert sum(slips) <= found.rounding
    assert abs(Fraction(found.conjugate) - true.conjugate) <= found.conjugate_rounding


@each("loss", LOSSES)
@each("seed", seeds(12))
def test_sums_in_the_long_format(seed: int, loss: str) -> None:
    """Many uneven weights, and scores that no float64 holds."""
    rng = np.random.default_rng([5, seed])
    positive, weight = some_labels(rng, 50), rng.uniform(0.1, 3, 50)
    scores = np.where(positive, -1, 1) * 10.0 ** rng.integers(-1, 4) * np.ones(50)
    scores = scores.astype(np.longdouble) + rng.normal(size=50).astype(np.longdouble) * 1e-17
    pairs, width = AllPairs(weight), [0.0, 0.5][seed % 2]
    found = pairs.on(positive).sums(scores, LOSSES[loss], width)
    weighted = naive.weighted_pairs(positive.tolist(), pairs)
    true = naive.sums(naive.exact(scores), weighted, loss, Fraction(width))
    assert abs(Fraction(found.value) - true.value) <= found.value_rounding
    slips = [abs(x - y) for x, y in zip(naive.exact(found.c), true.c, strict=True)]
    assert sum(slips) <= found.rounding
    assert abs(Fraction(found.conjugate) - true.conjugate) <= found.conjugate_rounding


@each("loss", sorted(LOSSES))
@each("form", ["numpy", "compiled", "listed"])
def test_sums_of_scores_in_single_precision_are_made_in_double(form: str, loss: str) -> None:
    """The stated roundings are those of float64: float32 arithmetic would exceed them."""
    rng = np.random.default_rng(3)
    scores, positive = rng.normal(size=20).astype(np.float32), np.arange(20) % 3 == 0
    i, j = rng.choice(np.flatnonzero(positive), 9), rng.choice(np.flatnonzero(~positive), 9)
    pairs = PairList(i, j) if form == "listed" else AllPairs(form=form)
    for width in (0.0, 0.7):
        single = pairs.on(positive).sums(scores, LOSSES[loss], width)
        double = pairs.on(positive).sums(scores.astype(float), LOSSES[loss], width)
        assert single.value == double.value and single.conjugate == double.conjugate
        assert np.array_equal(single.c, double.c)


def list_case(seed: int, loss: str) -> tuple:
    rng = np.random.default_rng([1, seed])
    n = int(rng.integers(2, 9))
    positive, scores, width = some_labels(rng, n), some_scores(rng, n), some_width(rng)
    pairs = some_pairs(rng, positive, listed=True)
    assert isinstance(pairs, PairList)
    found = pairs.on(positive).sums(scores, LOSSES[loss], width)
    # Any alpha in its box will do, so the exact sums are those of the alpha that was rounded.
    alpha = naive.exact(LOSSES[loss].alpha(pairs.margins(scores), width))
    return found, alpha, naive.weighted_pairs(positive.tolist(), pairs), scores


@each("loss", LOSSES)
@each("seed", SEEDS)
def test_sums_over_listed_pairs(seed: int, loss: str) -> None:
    found, alpha, weighted, scores = list_case(seed, loss)
    value = naive.sums(naive.exact(scores), weighted, loss).value
    assert abs(Fraction(found.value) - value) <= found.value_rounding
    true = naive.marginals(alpha, weighted, scores.size)
    slips = [abs(x - y) for x, y in zip(naive.exact(found.c), true, strict=True)]
    assert sum(slips) <= found.rounding
    conjugate = sum(
        c * naive.loss_dual(loss, a) for (_, _, c), a in zip(weighted, alpha, strict=True)
    )
    assert abs(Fraction(found.conjugate) - conjugate) <= found.conjugate_rounding


@each("loss", LOSSES)
def test_value_of_listed_pairs_at_the_margin(loss: str) -> None:
    """The margin 1 - 2^-54 rounds to 1: the loss seems zero, and the bound has to say so."""
    scores = np.array([1.0, 2.0**-54])
    pairs = PairList(np.array([0]), np.array([1]))
    found = pairs.on(np.array([True, False])).sums(scores, LOSSES[loss])
    true = naive.loss_value(loss, Fraction(1) - Fraction(2.0**-54))
    assert abs(Fraction(found.value) - true) <= found.value_rounding


@each("loss", ["squared_hinge", "square"])
@each("alpha", [0.3, 2.0, 4.0 - 1e-3, 4.0 - 1e-8, 1e8])
def test_value_of_a_witness_from_alpha(alpha: float, loss: str) -> None:
    pairs = PairList(np.array([0, 0]), np.array([1, 2]), np.array([1.0, 3.0]))
    problem = linear_problem(np.ones((3, 1)), [1, 0, 0], 1.0, loss, pairs)
    witness = Minorant.from_alpha(problem, np.array([alpha, alpha * 0.999999]))
    assert isinstance(witness.evidence, Alpha)
    true = sum(
        Fraction(c) * naive.loss_dual(loss, Fraction(a))
        for c, a in zip(pairs.c.tolist(), witness.evidence.alpha.tolist(), strict=True)
    )
    assert abs(Fraction(witness.value) - true) <= witness.value_error


@each("sparse", [False, True])
@each("seed", SEEDS)
def test_scores_and_pulls_of_rows(seed: int, sparse: bool) -> None:
    rng = np.random.default_rng([2, seed])
    n, d = int(rng.integers(2, 9)), int(rng.integers(1, 6))
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-6, 7) + rng.choice([0, 1e3, 1e8])
    space, w, c = Rows(sp.csr_matrix(X) if sparse else X), rng.normal(size=d), rng.normal(size=n)
    offset = naive.exact(space.offset)
    moved = [[x - o for x, o in zip(row, offset, strict=True)] for row in naive.exact(X)]
    error = space.score_error(w)
    for k, true in enumerate(naive.products(moved, naive.exact(w))):
        assert abs(Fraction(float(space.scores(w)[k])) - true) <= error[k]
    true_pull = naive.pulled(moved, naive.exact(c))
    slip = [x - y for x, y in zip(naive.exact(space.pull(c)), true_pull, strict=True)]
    assert naive.norm2(slip) <= Fraction(space.pull_error(c)) ** 2
    square = abs(Fraction(space.dual_norm2(c)) - naive.norm2(true_pull))
    assert square <= space.dual_norm2_error(c)
    assert all(naive.norm2(row) <= Fraction(space.reach) ** 2 for row in moved)


@each("seed", SEEDS)
def test_scores_and_pulls_of_a_gram_matrix_without_full_rank(seed: int) -> None:
    rng = np.random.default_rng([3, seed])
    features = np.round(rng.normal(size=(6, 2)) * 8)
    space = Gram(features @ features.T)
    null = np.linalg.svd(features.T)[2][-1] * 10.0 ** rng.integers(0, 9)
    w = rng.normal(size=6) + null
    K, exact_w = naive.exact(features @ features.T), naive.exact(w)
    error, products = space.score_error(w), naive.products(K, exact_w)
    for k, true in enumerate(products):
        assert abs(Fraction(float(space.scores(w)[k])) - true) <= error[k]
    true_norm2 = sum(x * y for x, y in zip(exact_w, products, strict=True))
    assert abs(Fraction(space.dual_norm2(w)) - true_norm2) <= space.dual_norm2_error(w)


@each("listed", [False, True])
@each("loss", LOSSES)
@each("seed", SEEDS)
def test_primal_dual_and_gap(seed: int, loss: str, listed: bool) -> None:
    rng = np.random.default_rng([4, seed])
    n, d = int(rng.integers(2, 8)), int(rng.integers(1, 4))
    positive = some_labels(rng, n)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-6, 7) + rng.choice([0, 1e3, 1e8])
    pairs, lam = some_pairs(rng, positive, listed), float(10.0 ** rng.uniform(-6, 2))
    space = Rows(sp.csr_matrix(X) if rng.integers(2) else X)
    problem = pair_problem(space, positive, pairs, LOSSES[loss], Ridge(lam))
    w = rng.normal(size=d) / float(np.abs(X - X.mean(axis=0)).max())
    scores, width = some_scores(rng, n), some_width(rng)
    witness = Minorant.from_scores(problem, scores, width)
    upper, lower = evaluated_with(problem, w, witness)[0]
    weighted = naive.weighted_pairs(positive.tolist(), pairs)
    alpha = naive.alphas(naive.exact(scores), weighted, loss, Fraction(width))
    if isinstance(pairs, PairList):
        alpha = naive.exact(LOSSES[loss].alpha(pairs.margins(scores), width))
    assert isinstance(witness.evidence, Scores)
    alpha = [a * Fraction(witness.evidence.scale) for a in alpha]
    exact_lam, rows = Fraction(lam), naive.exact(X)
    primal = naive.primal_value(rows, weighted, loss, exact_lam, naive.exact(w))
    dual = naive.dual_value(rows, weighted, loss, exact_lam, alpha)
    assert abs(Fraction(upper.value) - primal) <= upper.error
    assert abs(Fraction(lower.value) - dual) <= lower.error
    found = Certificate.of(problem, w, witness)
    assert primal <= Fraction(found.primal) and Fraction(found.dual) <= max(dual, 0)
    assert primal - max(dual, 0) <= Fraction(found.gap)
    assert found.rounding <= 2 * (upper.error + lower.error) * (1 + 1e-15)


@each("size", [1e4, 1e7, 1e9, 1e12])
def test_primal_where_the_kernel_matrix_cancels(size: float) -> None:
    """Coefficients along the null space of K cancel in w'K w: its rounding is not |f|^2's size."""
    features = np.random.default_rng(0).normal(size=(6, 2))
    space = Gram(features @ features.T)
    positive = np.array([True, True, True, False, False, False])
    problem = pair_problem(space, positive, AllPairs(), LOSSES["hinge"], Ridge(1.0))
    w = np.ones(6) / 10 + size * np.linalg.svd(space.K)[2][-1]
    found = Certificate.of(problem, w, Minorant.from_scores(problem, np.zeros(6)))
    K, exact_w = naive.exact(space.K), naive.exact(w)
    scores = naive.products(K, exact_w)
    loss = naive.sums(scores, naive.weighted_pairs(positive.tolist(), AllPairs()), "hinge").value
    primal = loss + sum(x * y for x, y in zip(exact_w, scores, strict=True)) / 2
    assert abs(Fraction(found.primal) - primal) <= found.rounding


@each("seed", seeds(8))
def test_dual_where_the_pull_cancels(seed: int) -> None:
    """Rows of size 1e9 whose pull is of size one: the rounding of c itself is what counts."""
    rng = np.random.default_rng([6, seed])
    positive, scores = np.arange(7) % 2 == 0, rng.normal(size=7)
    c = np.array(exact_sums(scores, positive, AllPairs(), "hinge", 0.7).c, dtype=float)
    X = rng.normal(size=(7, 1)) * 1e9
    k = int(np.abs(c).argmax())
    X[k] += (1 - c @ X[:, 0]) / c[k]
    problem = linear_problem(X, positive, 1.0)
    witness = Minorant.from_scores(problem, scores, 0.7, scale=1.0)
    _, lower = evaluated_with(problem, np.zeros(1), witness)[0]
    found, rounding = lower.value, lower.error
    true = exact_sums(scores, positive, AllPairs(), "hinge", 0.7)
    pull = naive.pulled(naive.exact(X), true.c)
    assert abs(Fraction(found) - (true.conjugate - naive.norm2(pull) / 2)) <= rounding < 1e-3


def test_gamma_bounds_roundings_in_a_row() -> None:
    assert gamma(1) > 2.0**-53 and gamma(10) >= 10 * gamma(1)
    with pytest.raises(OverflowError, match="roundings"):
        gamma(2.0**53)


def test_running_sums_stay_within_their_bound() -> None:
    values = np.random.default_rng(0).uniform(size=2000)
    found = running_sum(values).astype(float)
    total = Fraction(0)
    assert found[0] == 0
    for k, value in enumerate(values.tolist()):
        total += Fraction(value)
        assert abs(Fraction(float(found[k + 1])) - total) <= gamma_sum(values.size) * total
