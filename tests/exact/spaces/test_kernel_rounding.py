"""Kernel values and certificates over kernels against 60 digits: the formula is what is meant."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import aucert.exact.formulation.formulation as formulation
import naive
from aucert.exact.api.solve import solve
from aucert.exact.certificate.certificate import Certificate, Minorant, evaluated_with
from aucert.exact.errors import InputError
from aucert.exact.formulation.formulation import true_space
from aucert.exact.losses.registry import LOSSES
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.problem.minorant import Scores
from aucert.exact.problem.problem import Problem, Ridge, pair_problem
from aucert.exact.spaces.gram import Gram
from aucert.exact.spaces.kernels import EXP_UNITS, Gaussian, Kernel, Laplacian, Linear, lengths_of
from loops import each
from true_kernels import DIGITS, decimal, true_kernel

SHAPES = ((1, 1.0), (3, 1e-3), (3, 1e6), (65, 1.0), (65, 1e-3), (200, 1.0), (200, 1e6))


def hard_rows(rng: np.random.Generator, n: int, d: int, scale: float, kind: int) -> np.ndarray:
    """Return rows that are plain, far from the origin, repeated, or two tight clouds far apart."""
    X = rng.normal(size=(n, d))
    if kind == 1:
        X += 1e6
    elif kind == 2:
        X = X[rng.integers(0, max(n // 2, 1), n)]
        X[0] += 1e-7
    elif kind == 3:
        X *= 1e-4
        X[: n // 2] += 1e4
    return X * scale


def kernels_for(X: np.ndarray) -> tuple[Kernel, Kernel]:
    """Return kernels whose values on these rows are neither all one nor all zero."""
    square = max(float(((X - X[:1]) ** 2).sum(axis=1).mean()), 1e-300)
    return Gaussian(1 / square), Laplacian(
        1 / max(float(np.abs(X - X[:1]).sum(axis=1).mean()), 1e-300)
    )


def space_of(kernel: Kernel, X: object, streamed: bool, patch: pytest.MonkeyPatch) -> object:
    patch.setattr(formulation, "DENSE_LIMIT", 0 if streamed else 4000)
    return true_space(kernel, X)


def cases(count: int) -> Iterator[tuple[np.random.Generator, Kernel, np.ndarray, bool, bool]]:
    """Yield a generator, a kernel, rows, whether they are given sparse, and whether streamed."""
    for seed in range(count):
        rng = np.random.default_rng([11, seed])
        d, scale = SHAPES[seed % len(SHAPES)]
        X = hard_rows(rng, int(rng.integers(2, 6)), d, scale, (seed // len(SHAPES)) % 4)
        kernel = (*kernels_for(X), Linear())[(seed // 3) % 3]
        yield rng, kernel, X, bool(rng.integers(4) == 0), bool(rng.integers(2))


def check_certificates(count: int, each: int) -> int:
    """Return how many certificates were inside their rounding: all, or an assertion fails."""
    made = 0
    for number, (rng, kernel, X, sparse, streamed) in enumerate(cases(count)):
        with pytest.MonkeyPatch.context() as patch:
            space = space_of(kernel, sp.csr_matrix(X) if sparse else X, streamed, patch)
        K, n = true_kernel(kernel, X), len(X)
        for _ in range(each):
            positive = np.zeros(n, dtype=bool)
            positive[rng.permutation(n)[: rng.integers(1, n)]] = True
            loss, lam = sorted(LOSSES)[rng.integers(3)], float(10.0 ** rng.uniform(-6, 1))
            problem = pair_problem(space, positive, AllPairs(), LOSSES[loss], Ridge(lam))  # type: ignore[arg-type]
            scores = rng.normal(size=n) * 10.0 ** rng.uniform(-2, 1)
            witness = Minorant.from_scores(problem, scores)
            top = float(max(K[i][i] for i in range(n)))
            w = rng.normal(size=n) * 10.0 ** rng.uniform(-1, 3) / max(top, 1e-300)
            if rng.integers(2):
                w = witness.c / lam
            check_certificate(problem, K, w, witness, f"case {number}: {kernel}, {X.shape}")
            made += 1
    return made


def check_certificate(
    problem: Problem, K: list[list[Decimal]], w: np.ndarray, witness: Minorant, name: str
) -> None:
    """Primal and dual value are within their stated rounding of those in 60 digits."""
    positive, loss, lam = problem.pairs.positive, problem.loss.name, decimal(problem.lam)
    pairs = naive.weighted_pairs(positive.tolist(), AllPairs())
    evidence = witness.evidence
    assert isinstance(evidence, Scores)
    alpha = naive.alphas(naive.exact(evidence.scores), pairs, loss, Fraction(0))
    alpha = [a * Fraction(evidence.scale) for a in alpha]
    c = [decimal(x) for x in naive.marginals(alpha, pairs, problem.n)]
    conjugate = sum(m * naive.loss_dual(loss, a) for (_, _, m), a in zip(pairs, alpha, strict=True))
    with localcontext(DIGITS):
        weights = [decimal(x) for x in w]
        scores = [sum(k * x for k, x in zip(row, weights, strict=True)) for row in K]
        values = [naive.loss_value(loss, scores[i] - scores[j]) for i, j, _ in pairs]
        mean = sum(v * decimal(m) for v, (_, _, m) in zip(values, pairs, strict=True))
        primal = mean + lam / 2 * sum(x * s for x, s in zip(weights, scores, strict=True))
        pulled = [sum(k * x for k, x in zip(row, c, strict=True)) for row in K]
        dual = decimal(conjugate) - sum(x * p for x, p in zip(c, pulled, strict=True)) / (2 * lam)
        upper, lower = evaluated_with(problem, w, witness)[0]
        assert abs(decimal(upper.value) - primal) <= decimal(upper.error), f"{name}: primal"
        assert abs(decimal(lower.value) - dual) <= decimal(lower.error), f"{name}: dual"
        made = Certificate.of(problem, w, witness)
        assert primal - max(dual, Decimal(0)) <= decimal(made.gap), name


@pytest.mark.slow
def test_certificates_over_kernels_hold_for_the_kernel_of_the_rows() -> None:
    assert check_certificates(84, 3) == 252


@pytest.mark.slow
def test_thousands_of_certificates_over_kernels_hold_for_the_kernel_of_the_rows() -> None:
    assert check_certificates(840, 5) == 4200


@each("sparse", [False, True], ids=["dense", "sparse"])
@each(("d", "scale"), SHAPES)
def test_every_kernel_value_is_within_its_noise(d: int, scale: float, sparse: bool) -> None:
    for kind in range(4):
        rng = np.random.default_rng([12, d, kind])
        X = hard_rows(rng, 6, d, scale, kind)
        rows = sp.csr_matrix(X) if sparse else X
        for kernel in (*kernels_for(X), Linear(), Gaussian(1e6), Gaussian(1e-9), Laplacian(1e-9)):
            true, found, noise = true_kernel(kernel, X), kernel(rows, rows), kernel.noise(rows)
            assert noise < 1e-11
            with localcontext(DIGITS):
                for i in range(6):
                    for j in range(6):
                        slip = abs(decimal(found[i, j]) - true[i][j])
                        size = (true[i][i] * true[j][j]).sqrt()
                        assert slip <= decimal(noise) * size, f"{kernel}, {kind}, {(i, j)}"
            lengths = lengths_of(kernel, rows)
            assert all(true[i][i] <= decimal(lengths[i]) ** 2 for i in range(6))


def test_the_exponential_of_numpy_is_as_good_as_is_assumed() -> None:
    rng = np.random.default_rng(13)
    x = -np.concatenate([rng.uniform(0, 1, 2000), 10.0 ** rng.uniform(-9, 2.84, 4000)])
    worst = Decimal(0)
    for exponent, value in zip(x.tolist(), np.exp(x).tolist(), strict=True):
        true = DIGITS.exp(Decimal(exponent))
        worst = max(worst, abs(Decimal(value) - true) / true)
    assert worst <= Decimal(EXP_UNITS) / 2 * Decimal(2) ** -53


def test_rows_too_large_for_a_kernel_are_refused() -> None:
    X = np.array([[1e200], [0.0]])
    for kernel in (Gaussian(1.0), Laplacian(1.0), Linear()):
        with pytest.raises(InputError, match="so large"):
            true_space(kernel, X)


def test_the_part_of_a_kernel_matrix_means_the_same_kernel() -> None:
    X = np.random.default_rng(14).normal(size=(6, 2))
    whole = Gram.of_kernel(Gaussian(0.5), X)
    part = whole.part(np.array([0, 3]))
    assert part.noise == whole.noise > 0 and part.kernel == whole.kernel
    assert np.array_equal(part.lengths, whole.lengths[[0, 3]])


@pytest.mark.filterwarnings("error")
@each("kernel", [Gaussian, Laplacian])
@each("gamma", [1e300, 1e308, 1.7e308])
def test_a_gamma_near_the_largest_float_has_a_bound_that_is_a_number(kernel, gamma) -> None:
    """gamma times a distance overflows, and so did gamma times what underflow takes from one."""
    X = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 5.0], [0.0, 1.0]])
    np.testing.assert_array_equal(kernel(gamma)(X, X), np.eye(4))
    assert 0 < kernel(gamma).noise(X) <= 1
    name = "rbf" if kernel is Gaussian else "laplacian"
    found = solve(X, [0, 1, 1, 0], 0.01, kernel=name, gamma=gamma).certificate
    assert found.dual <= 0.005 <= found.primal
