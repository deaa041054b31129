"""Entries of docs/errata.md that are short algebra, in the order of the papers.

What is printed and what is right stand side by side in numpy, without the library.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import linalg

from loops import each


def test_eq17_of_scaling_up_bounds_the_optimal_values_but_not_the_losses() -> None:
    # one feature, all hinges active: U(f) = 1 - g f, so the optimum is g / lam
    lam, g, g_drawn = 2.0, 0.5, 0.6
    f, f_drawn = g / lam, g_drawn / lam
    largest = max(abs((1 - g * t) - (1 - g_drawn * t)) for t in (f, f_drawn))
    losses = abs((1 - g * f) - (1 - g_drawn * f_drawn))
    optima = abs((1 - g**2 / (2 * lam)) - (1 - g_drawn**2 / (2 * lam)))
    assert losses > 1.5 * largest
    assert optima <= largest


def test_the_printed_growth_of_the_second_term_is_right_if_the_root_covers_both_factors() -> None:
    half, log = Fraction(1, 2), np.array([0, 1])  # powers of n and of log n
    n, N_max = np.array([Fraction(1), Fraction(0)]), np.array([Fraction(0), Fraction(1)])

    def parts(E: np.ndarray, exponent: Fraction) -> list[tuple[Fraction, Fraction]]:
        A2 = N_max - n + E + half * n
        A3 = N_max - n + half * (N_max + E + exponent * n - n)
        return [tuple(A2), tuple(A3)]

    E = n - half * (n - log)  # n / sqrt(d), d = n / log n
    assert tuple(E) == (half, half)
    printed, repaired = Fraction(3, 2), Fraction(5, 2)
    assert max(parts(E, printed)) == (0, Fraction(3, 2))  # as the paper says
    assert max(parts(E, repaired)) == (0, Fraction(7, 4))
    assert max(parts(half * n + log, printed)) == (0, 2)  # the root over n alone


def test_the_kernel_error_is_small_against_n_for_more_landmarks_not_for_few() -> None:
    X = np.random.default_rng(0).normal(size=(800, 2))
    K = np.exp(-5 * ((X[:, None] - X[None]) ** 2).sum(-1))

    def share(n: int, d: int) -> float:
        C = K[:n, :d]
        return (
            float(np.linalg.norm(K[:n, :n] - C @ np.linalg.pinv(C[:d], rcond=1e-12) @ C.T, 2)) / n
        )

    assert share(800, 5) > 0.8 * share(200, 5)  # d = o(n), yet |E| grows like n
    assert share(800, 120) < 0.2 * share(800, 5)


def two_classes(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows X of 7 positives and 11 negatives, incidence A, R and R^(1/2) of (15)."""
    X = np.random.default_rng(seed).normal(size=(18, 3)) + np.repeat([[0.5], [0.0]], [7, 11], 0)
    eye = np.eye(18)
    A = (eye[:7, None] - eye[None, 7:]).reshape(77, 18)
    plus, minus = (np.eye(m) - 1 / m for m in (7, 11))
    half = np.asarray(linalg.block_diag(plus / 7**0.5, minus / 11**0.5))
    return X, A, half @ half, half


def test_the_hessian_of_the_square_loss_has_a_factor_two() -> None:
    X, A, R, _ = two_classes()
    Z = A @ X
    delta, w, step = Z.mean(0), np.array([0.3, -1.0, 0.7]), np.array([0.5, 2.0, -1.0])
    M = Z.T @ Z / len(Z)  # what the supplement prints as the Hessian
    np.testing.assert_allclose(M, X.T @ R @ X + np.outer(delta, delta))
    low, mid, high = (((1 - Z @ (w + t * step)) ** 2).mean() for t in (-1, 0, 1))
    assert low - 2 * mid + high == pytest.approx(2 * step @ M @ step)


def test_restricted_smoothness_needs_the_projection() -> None:
    H, v = np.array([[1.0, 0.9], [0.9, 1.0]]), np.array([1.0, 0.0])
    assert np.linalg.norm(H @ v) > 1.3 * (v @ H @ v)
    assert np.linalg.norm((H @ v)[:1]) == v @ H @ v


@each("rho", [1.2, 2.0, 5.0, 50.0])
def test_the_condition_of_theorem_1_belongs_to_the_nu_of_lemma_2(rho: float) -> None:
    def kappas(mu: float) -> tuple[float, float]:
        lemma = 1 + (mu + np.sqrt((4 + mu) * mu)) / 2
        return tuple(np.sqrt(nu * (1 - 1 / rho)) for nu in (lemma, 1 + mu + np.sqrt(mu)))

    threshold = 1 / (rho**2 - rho)  # of k* / k
    assert kappas(threshold)[0] == pytest.approx(1.0)
    assert kappas(0.99 * threshold)[0] < 1 < kappas(0.99 * threshold)[1]
    own = ((np.sqrt(1 + 4 / (rho - 1)) - 1) / 2) ** 2
    assert kappas(own)[1] == pytest.approx(1.0)


def gaussian_bounds(n: float, r: float, s: int, lam: float = 1.0) -> tuple[float, float, float]:
    """The base of (12), (12), and (13), for d = 1000 and b = 50."""
    share = s * np.log(1000) / (r * n)
    base = lam / 2 - 6 * np.sqrt(2 * share)
    smooth = 16 * s * np.log(1000) * (np.log(50) / 2 + np.log(1000)) / r
    return base, base**2 - 32 / 3 * share, smooth


def test_eq12_of_sht_is_largest_where_it_proves_nothing() -> None:
    base, printed, _ = gaussian_bounds(1000, 0.05, 60)
    assert base < 0 and printed > 400  # the Hessian's diagonal is about 4
    for factor, index in ((288.0, 0), ((12 * np.sqrt(2) + 2 * np.sqrt(32 / 3)) ** 2, 1)):
        n = factor * 60 * np.log(1000) / 0.05
        assert gaussian_bounds(0.99 * n, 0.05, 60)[index] < 0 < gaussian_bounds(n + 9, 0.05, 60)[0]
        assert gaussian_bounds(1.01 * n, 0.05, 60)[index] > 0
    assert factor == pytest.approx(552.4, abs=0.05)


def test_the_coefficient_b_of_eq14_of_sht_has_the_logarithm_outside_the_root() -> None:
    n, r, k, lam = 1e6, 0.1, 7, 1.3
    _, convex, smooth = gaussian_bounds(n, r, k, lam)
    log_d, L = np.log(1000), np.log(50) / 2 + np.log(1000)
    a, c = lam**2 / (4 * k * log_d * L), 184 / (3 * n * L)
    right = -6 * np.sqrt(2) * lam / (L * np.sqrt(n * k * log_d))
    printed = -6 * np.sqrt(2) * lam / np.sqrt(n * k * log_d * L)
    assert smooth / convex == pytest.approx(16 / (a * r + right * np.sqrt(r) + c))
    assert 16 / (a * r + printed * np.sqrt(r) + c) < 0
    n, k, lam = 1000, 60, 1.0  # the paper's own: the ratio falls in r beyond 119 only
    a, right = lam**2 / (4 * k * log_d * L), -6 * np.sqrt(2) * lam / (L * np.sqrt(n * k * log_d))
    assert (-right / (2 * a)) ** 2 == pytest.approx(288 * k * log_d / (lam**2 * n))
    assert (-right / (2 * a)) ** 2 == pytest.approx(119, abs=0.5)


def test_section_d_of_sht_uses_another_smoothness_bound_than_eq13() -> None:
    n, k, lam = 1e6, 7, 1.3
    for r in (1e-4, 1e-3):  # n- stands for n in the print, and 1 for 1 - r
        base, convex, smooth = gaussian_bounds(n, r, k, lam)
        log_d, unit = np.log(1000), 32 / 3 * k * np.log(1000)
        printed = 3 * lam**2 * r / (128 * k * log_d) + 27 / (4 * n)
        printed -= (9 * np.sqrt(2) * lam / (16 * np.sqrt(k * log_d * n)) + 1 / n) * np.sqrt(r)
        assert printed == pytest.approx((base**2 - unit / (n * np.sqrt(r))) / (unit / r))
        assert abs(printed) > 5 * abs(convex / smooth)


def test_eleven_jaccard_indices_of_sht_are_impossible() -> None:
    f1 = """.209 .365 .382 .450 .058 .182 .147 .177 .037 .060 .100 .159 .100 .202 .222 .320
            .044 .088 .125 .171 .089 .163 .231 .237 .089 .157 .228 .249"""
    jaccard = """.126 .200 .275 .311 .028 .087 .078 .101 .017 .029 .040 .065 .037 .117 .146 .210
            .024 .049 .073 .100 .051 .093 .122 .146 .046 .096 .127 .171"""
    lowest = np.array(f1.split(), float) - 0.0005  # half a unit for rounding, on both sides
    highest = np.array(jaccard.split(), float) + 0.0005
    assert np.count_nonzero(highest < lowest / (2 - lowest)) == 11


def test_the_printed_nystrom_map_does_not_give_the_nystrom_kernel() -> None:
    X = np.random.default_rng(0).normal(size=(30, 3))
    E = np.exp(-0.5 * ((X[:, None] - X[None, :8]) ** 2).sum(-1))
    values, U = np.linalg.eigh(E[:8])
    np.testing.assert_allclose(E[:8], U @ np.diag(values) @ U.T)
    wanted, root = E @ np.linalg.inv(E[:8]) @ E.T, np.diag(values**-0.5)
    right, printed = root @ U.T @ E.T, U @ root @ E.T
    np.testing.assert_allclose(right.T @ right, wanted, atol=1e-10)
    np.testing.assert_allclose(printed.T @ printed, E @ np.diag(1 / values) @ E.T)
    assert np.abs(printed.T @ printed - wanted).max() > 1
