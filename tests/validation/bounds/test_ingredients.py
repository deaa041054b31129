"""What bounds ask of a kernel, and the bounds: never less than in exact arithmetic."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import naive
from aucert.approx.nystrom import nystrom_map
from aucert.exact.errors import InputError
from aucert.exact.spaces.gram import Gram
from aucert.exact.spaces.kernels import Gaussian, Kernel, Laplacian, Linear
from aucert.validation.bounds.kernel import (
    Approximation,
    Interval,
    large_spectral_norm,
    spectral_norm,
)
from aucert.validation.bounds.prime import Projected, sandwich, theorem4_prime
from aucert.validation.bounds.printed import Norms
from decimal_losses import DIGITS, decimal, true_kernel
from loops import each, seeds

SEEDS = seeds(30)
FIXED = (0.05, 0.02, 0.03)  # delta, the gap of the dual point, that of the full problem


def made(seed: int) -> tuple[Approximation, list[list[Decimal]], list[list[Decimal]]]:
    """Return an approximation, the true K, and K~ = V V' of its features, in 60 digits."""
    rng = np.random.default_rng([31, seed])
    n, p = int(rng.integers(5, 9)), int(rng.integers(1, 4))
    X = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-2, 3) + rng.choice([0.0, 100.0])
    square = float(((X - X[0]) ** 2).sum(axis=1).mean())
    kernel: Kernel = [Gaussian(1 / square), Laplacian(1 / np.sqrt(square)), Linear()][seed % 3]
    positive = np.arange(n) < max(n // 3, 1)
    features = nystrom_map(kernel, X[: int(rng.integers(1, n))]).transform(X)
    truth = Gram.of_kernel(kernel, X, held=False) if seed % 2 else Gram.of_kernel(kernel, X)
    V = naive.exact(features)
    near = [[decimal(sum(a * b for a, b in zip(x, z, strict=True))) for z in V] for x in V]
    return Approximation(truth, features, positive), true_kernel(kernel, X), near


def exact_distances(K: list[list[Decimal]], positive: np.ndarray) -> tuple[Decimal, Decimal]:
    """Return the largest distance over pairs, and the root mean square."""
    plus, minus = np.flatnonzero(positive).tolist(), np.flatnonzero(~positive).tolist()
    squares = [K[i][i] + K[j][j] - 2 * K[i][j] for i in plus for j in minus]
    return max(squares).sqrt(), (sum(squares, Decimal(0)) / len(squares)).sqrt()


def form(E: list[list[Decimal]], v: list[Decimal]) -> Decimal:
    rows = [sum(e * x for e, x in zip(row, v, strict=True)) for row in E]
    return sum((x * y for x, y in zip(v, rows, strict=True)), Decimal(0))


def top_of(E: list[list[Decimal]]) -> Decimal:
    """Return a lower bound of the spectral norm, good to nearly all digits of a double."""
    v = np.linalg.eigh(np.array(E, dtype=float))[1]
    vectors = [[Decimal(float(x)) for x in v[:, at]] for at in (0, -1)]
    return max(abs(form(E, x)) / sum(a * a for a in x) for x in vectors)


@each("seed", SEEDS)
def test_distances_and_norms_are_rounded_up(seed: int) -> None:
    a, K, near = made(seed)
    with localcontext(DIGITS):
        assert Decimal(a.R) >= exact_distances(K, a.positive)[0]
        far, mean = exact_distances(near, a.positive)
        assert Decimal(a.Rp) >= far and Decimal(a.R2) >= mean
        E = [[x - y for x, y in zip(p, q, strict=True)] for p, q in zip(K, near, strict=True)]
        assert Decimal(a.E2) >= top_of(E)
        assert Decimal(a.K_max) ** 2 >= max(K[i][i] for i in range(a.n))
        size = max(K[i][i] for i in range(a.n))
        assert Decimal(a.E2) <= top_of(E) + size * Decimal("1e-11"), "and not by much"


@each("seed", SEEDS)
def test_the_cost_of_a_dual_point_lies_in_its_interval(seed: int) -> None:
    a, K, near = made(seed)
    rng = np.random.default_rng(seed)
    share = float(rng.uniform(0, 1))
    c = np.where(a.positive, share / a.sizes[0], -share / a.sizes[1])
    found = a.error_interval(c)
    with localcontext(DIGITS):
        E = [[x - y for x, y in zip(p, q, strict=True)] for p, q in zip(K, near, strict=True)]
        true = form(E, [Decimal(float(x)) for x in c])
        assert Decimal(found.low) <= max(true, Decimal(0)) <= Decimal(found.high)
    low, high = sandwich(a, 0.1, Projected(c, 1e-9), Projected(c, 1e-9))
    with localcontext(DIGITS):
        cost, gap = true / (2 * decimal(0.1)), decimal(1e-9)
        assert Decimal(low) <= max(cost - gap, Decimal(0)) and cost + gap <= Decimal(high)


@each("seed", SEEDS)
@each(("eps", "informed"), [(0.0, False), (1e-3, False), (1e-3, True)])
def test_the_totals_are_at_least_the_right_sides(seed: int, eps: float, informed: bool) -> None:
    """Theorem 4', a priori and not, evaluated in 60 digits from exact ingredients."""
    a, K, near = made(seed)
    rng = np.random.default_rng(seed)
    lam, B, delta, gap, late = (
        float(10.0 ** rng.uniform(-3, 1)),
        int(rng.integers(10, 10**6)),
        *FIXED,
    )
    share = float(rng.uniform(0, 1))
    c = np.where(a.positive, share / a.sizes[0], -share / a.sizes[1])
    sizes = rng.uniform(0, 1, 3)
    known: dict[str, Any] = {"projected": Projected(c, gap)} if informed else {}
    norms = Norms(full=sizes[0], projected=sizes[1], drawn_projected=sizes[2])
    more: dict[str, Any] = {"norms": norms, "gap_full": late} if informed else {}
    found = {
        part: theorem4_prime(
            a, lam, B, part=part, eps=eps, **known, **(more if part == "II" else {})
        )
        for part in ("A", "I", "II")
    }
    with localcontext(DIGITS):
        E = [[x - y for x, y in zip(p, q, strict=True)] for p, q in zip(K, near, strict=True)]
        R, (Rp, R2) = exact_distances(K, a.positive)[0], exact_distances(near, a.positive)
        la, b, e, d = decimal(lam), Decimal(B), decimal(eps), decimal(delta)
        L, n_pos, n_neg = (2 / d).ln(), *map(Decimal, a.sizes)
        z = (R2 + Rp * (2 * L).sqrt()) / b.sqrt()
        S, Sp = (min(1 / la.sqrt(), r / la) for r in (R, Rp))
        nystrom = top_of(E) * (1 / n_pos + 1 / n_neg) / (2 * la)
        full, projected, drawn, full_gap = S, Sp, Sp, Decimal(0)
        if informed:
            true = form(E, [Decimal(float(x)) for x in c])
            nystrom = max(true, Decimal(0)) / (2 * la) + decimal(gap)
            full, projected, drawn = map(decimal, sizes)
            full_gap = decimal(late)
        r = z / la + (2 * e / la).sqrt()
        fast = r * (2 * R2 + Rp * (2 * L).sqrt()) / b.sqrt()
        far = Sp + (2 * e / la).sqrt()
        slow = 2 * far * R2 / b.sqrt() + (2 + Rp * (far + Sp)) * (L / (2 * b)).sqrt()
        one = min(fast, slow) + e + nystrom
        away = (2 * nystrom / la).sqrt()
        slack = Rp * (2 * e / la).sqrt() + R * (2 * full_gap / la).sqrt()
        H = (1 + Rp * projected) * ((4 / d).ln() / (2 * b)).sqrt()
        penalties = max(z * z / (2 * la), nystrom) + (full + drawn) * (z + la * away) / 2
        two = H + slack + min(penalties, R * away + Rp * z / la)
        for part, right in (("A", nystrom), ("I", one), ("II", two)):
            total = Decimal(found[part].total)
            assert right <= total <= right * Decimal("1.0001") + Decimal("1e-5") / la, part


def in_blocks(E: np.ndarray, step: int) -> Any:
    def blocks() -> Iterator[tuple[slice, np.ndarray]]:
        for start in range(0, len(E), step):
            yield slice(start, start + step), E[start : start + step]

    return blocks


@each("seed", seeds(12))
def test_a_norm_of_a_matrix_in_blocks_is_an_upper_bound_and_a_tight_one(seed: int) -> None:
    """Spectra that fall fast, slowly and not at all; more rows than directions."""
    rng = np.random.default_rng([32, seed])
    n = int(rng.integers(60, 140))
    values = [0.5 ** np.arange(n), 1 / (1 + np.arange(n)), np.ones(n)][seed % 3]
    if seed >= 6:
        values = values * rng.choice([-1, 1], n)
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    E = (Q * values) @ Q.T
    E = (E + E.T) / 2
    found = large_spectral_norm(in_blocks(E, 17), n)
    v = naive.exact(np.linalg.eigh(E)[1][:, np.abs(np.linalg.eigvalsh(E)).argmax()])
    image = naive.products(naive.exact(E), v)
    assert naive.norm2(image) <= Fraction(found) ** 2 * naive.norm2(v)
    assert naive.norm2(image) <= Fraction(spectral_norm(E)) ** 2 * naive.norm2(v)
    assert spectral_norm(E) <= 1 + 1e-11
    # Three passes leave the directions of a slow spectrum short of eigenvectors, and of none.
    assert found <= (1 + 1e-6, 1.02, np.sqrt(n))[seed % 3]


# Of rows that floats can hold.

KERNELS = (Linear(), Gaussian(2.0), Laplacian(0.7))


def of_rows(kernel: Kernel, n: int = 14) -> tuple[Approximation, np.ndarray, np.ndarray]:
    """Return the approximation of four landmarks, K and K~."""
    rng = np.random.default_rng(0)
    X, positive = rng.normal(size=(n, 3)), rng.permutation(n) < n // 3
    a = Approximation.of_landmarks(kernel, X, X[:4], positive)
    truth: Any = a.truth
    return a, truth.K, a.features @ a.features.T


def test_the_eigenvalues_are_those_of_numpy() -> None:
    a, K, near = of_rows(KERNELS[1])
    assert a.lam_min.low <= np.linalg.eigvalsh(K)[0] <= a.lam_min.high < a.lam_min.low + 1e-13
    smallest = np.linalg.eigvalsh(near)[-a.features.shape[1]]
    assert a.lam_plus.low == pytest.approx(smallest, rel=1e-9)
    other = Approximation.of_matrices(K, near, a.positive)
    for name in ("E2", "R", "Rp", "R2", "K_max"):
        assert getattr(other, name) == pytest.approx(getattr(a, name), rel=1e-9)
    assert other.lam_plus.low == pytest.approx(a.lam_plus.low, rel=1e-6)


@each("kernel", KERNELS)
def test_a_kernel_in_blocks_gives_the_same_numbers(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, *_ = of_rows(kernel, n=30)
    X, positive = np.random.default_rng(0).normal(size=(30, 3)), held.positive
    monkeypatch.setattr("aucert.validation.bounds.kernel.BLOCK_BYTES", 8 * 20 * 3)
    streamed = Approximation(Gram.of_kernel(kernel, X, held=False), held.features, positive)
    for name in ("R", "Rp", "R2", "K_max"):
        assert getattr(streamed, name) == pytest.approx(getattr(held, name))
    assert held.E2 * (1 - 1e-9) <= streamed.E2 <= held.E2 / 0.79
    assert streamed.lam_min.low == 0.0
    assert held.lam_min.low <= streamed.lam_min.high <= held.lam_min.high + 1e-12
    c = np.where(positive, 1 / positive.sum(), -1 / (~positive).sum())
    costs = (a.error_interval(c).high for a in (streamed, held))
    assert next(costs) == pytest.approx(next(costs), rel=1e-6, abs=1e-9)


def test_marginals_that_are_slightly_infeasible_are_paid_for_and_others_refused() -> None:
    a, *_ = of_rows(KERNELS[1])
    c = np.where(a.positive, 1 / a.sizes[0], -1 / a.sizes[1])
    excess = c + 1e-7 * (np.arange(a.n) == np.flatnonzero(a.positive)[0])
    paid, plain = (np.sqrt(a.error_interval(at).high) for at in (excess, c))
    assert paid >= plain + 0.9e-7
    for wrong, word in ((2 * c, "no alpha"), (-c, "<= 0 on negative"), (c[:3], "14 finite")):
        with pytest.raises(InputError, match=word):
            a.error_interval(wrong)


@each("kernel", KERNELS)
def test_repeated_rows_make_the_kernel_singular(kernel: Kernel) -> None:
    X, positive = np.random.default_rng(0).normal(size=(14, 3)), np.arange(14) % 3 == 0
    assert of_rows(Linear())[0].lam_min == Interval(0.0, 0.0)
    X[3] = X[0]
    a = Approximation.of_landmarks(kernel, X, X[5:8], positive)
    truth: Any = a.truth
    assert a.lam_min == Interval(0.0, 0.0)
    again = Approximation.of_matrices(truth.K, a.features @ a.features.T, positive)
    assert again.lam_min.low == 0.0


def test_matrices_that_do_not_fit_are_refused() -> None:
    a, K, near = of_rows(KERNELS[1])
    X = np.zeros((14, 1))
    for matrices, positive, word in (
        ((K, K + np.eye(14)), a.positive, "from below"),
        ((K, np.eye(3)), a.positive, "rows"),
        ((K, np.zeros((14, 14))), a.positive, "zero"),
        ((K, near), a.positive[:5], "boolean"),
    ):
        with pytest.raises(InputError, match=word):
            Approximation.of_matrices(*matrices, positive)
    with pytest.raises(InputError, match="one class"):
        Approximation.of_landmarks(Gaussian(1.0), X, X[:3], np.ones(14, dtype=bool))
