"""Theorem 2 of [SHT] and its corrected forms, against figures worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from aucert.exact.errors import InputError
from aucert.validation.bounds.sht_gaussian import (
    least_curvature,
    ratio_coefficients,
    rows_for_curvature,
    sht_theorem2,
)
from loops import each

LOG = math.log(1000)


@each(("r", "expected"), [(0.05, 484.0), (0.5, 43.4)])
def test_eq_12_as_printed_at_the_papers_sizes(r: float, expected: float) -> None:
    assert sht_theorem2(1000, 1000, 60, r, 50).minus == pytest.approx(expected, rel=2e-3)


def test_eq_12_by_hand() -> None:
    share = 60 * LOG / (0.5 * 10**7)
    right = (0.5 - 6 * math.sqrt(2) * math.sqrt(share)) ** 2 - 32 / 3 * share
    assert sht_theorem2(10**7, 1000, 60, 0.5, 50).minus == pytest.approx(right)


def test_eq_13_by_hand_and_corrected() -> None:
    unit = 60 * LOG / 0.05
    printed = sht_theorem2(1000, 1000, 60, 0.05, 50).plus
    assert printed == pytest.approx(16 * unit * (math.log(50) / 2 + LOG))
    right = sht_theorem2(1000, 1000, 60, 0.05, 50, form="corrected").plus
    assert right == pytest.approx(16 * unit * (LOG / 2 + LOG))


def chance_of_a_longer_row(n: int, d: int, s: int, rows: int) -> float:
    """Lemma 4 for n rows and the difference of the means, at (16/3) s log d (log(rows)/2 + log d).

    The lemma's t has t log(2d/s) = (16/3) log d (log(rows)/2 + log d), and its bound is
    (2d/s)^(1 - 3t/8) = (2d/s) exp(-2 log d (log(rows)/2 + log d)).
    """
    log = math.log(d)
    return (n + 1) * 2 * d / s * math.exp(-2 * log * (math.log(rows) / 2 + log))


@each("n", [4, 100, 10**6, 10**12])
@each("d", [3, 10, 1000, 10**6])
def test_eq_13_with_all_rows_has_the_chance_that_the_theorem_states(n: int, d: int) -> None:
    for s in {2, 3, min(d, 60), d}:
        if s <= d:
            assert chance_of_a_longer_row(n, d, s, n) <= s / (2 * d)


def test_eq_13_as_printed_has_its_chance_at_the_papers_sizes_in_spite_of_its_proof() -> None:
    assert chance_of_a_longer_row(1000, 1000, 60, 50) < 1e-40
    # Lemma 4 as the proof applies it, without the superfluous log d, does not give it for s > 1.
    t = 16 * math.log(2 * 50**0.5 * 1000) / (3 * math.log(2000))
    assert (2000 / 60) ** (1 - 3 * t / 8) > 60 / (2 * 50 * 1000)


def test_the_constant_16_of_eq_13_stands() -> None:
    # v'M_B v is at most L (r_i/r + (1 - r_i)/(1 - r) + 1/(rn) + 1/((1 - r)n)), L the longest row in
    # units of (16/3) s log d (log(b)/2 + log d); rho+ is twice that.
    for n in (4, 5, 1000):
        for r in (0.01, 0.3, 0.5):
            for share in (0.0, 0.5, 1.0):
                sides = share / r + (1 - share) / (1 - r) + 1 / (r * n) + 1 / ((1 - r) * n)
                assert 2 * 16 / 3 * sides <= 16 / r * (1 + 1e-12)


def test_a_share_above_one_half_is_refused() -> None:
    with pytest.raises(InputError, match=r"r must be > 0 and <= 0\.5"):
        sht_theorem2(1000, 1000, 60, 0.6, 50)


def test_a_negative_base_is_not_squared_in_the_corrected_form() -> None:
    bound = sht_theorem2(1000, 1000, 60, 0.05, 50, form="corrected")
    assert bound.base < 0 and bound.minus < 0 and bound.ratio == math.inf


def test_thresholds_are_where_the_base_and_the_whole_are_zero() -> None:
    base, whole = rows_for_curvature(1000, 60, 0.05)
    unit = 60 * LOG / 0.05
    assert base == pytest.approx(288 * unit)
    assert whole == pytest.approx(552.4 * unit, rel=1e-4)
    assert sht_theorem2(round(base), 1000, 60, 0.05, 50).base == pytest.approx(0, abs=1e-6)
    assert sht_theorem2(round(whole), 1000, 60, 0.05, 50).minus == pytest.approx(0, abs=1e-6)


def test_the_chances_are_those_of_the_theorem() -> None:
    bound = sht_theorem2(1000, 1000, 60, 0.05, 50)
    assert bound.chance_minus == pytest.approx(1 - math.exp(-50 / 72) - 0.12)
    assert bound.chance_plus == pytest.approx(0.97)


@each("r", [0.05, 0.5])
def test_the_corrected_coefficients_give_the_ratio_of_the_two_bounds(r: float) -> None:
    a, b, c = ratio_coefficients(10**9, 1000, 60, 50, form="corrected")
    bound = sht_theorem2(10**9, 1000, 60, r, 50)
    assert 16 / (a * r + b * math.sqrt(r) + c) == pytest.approx(bound.ratio)


def test_the_least_curvature_by_hand() -> None:
    logs = 60 * math.log(math.e * 1000 / 60) + math.log(20)
    base = 1 - math.sqrt(60 / 949) - math.sqrt(2 * logs / 949)
    assert least_curvature((50, 950), 1000, 60) == pytest.approx(2 * 949 / 950 * base**2)
    assert least_curvature((50, 950), 1000, 60) == pytest.approx(0.005, abs=5e-4)


def test_the_least_curvature_is_below_the_truth_with_a_signal_too() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((3000, 8)), np.arange(3000) < 900
    X[y] += 1.0
    parts = [X[y] - X[y].mean(axis=0), X[~y] - X[~y].mean(axis=0)]
    delta = X[y].mean(axis=0) - X[~y].mean(axis=0)
    M = sum(part.T @ part / len(part) for part in parts) + np.outer(delta, delta)
    assert 0 < least_curvature((900, 2100), 8, 8) < 2 * np.linalg.eigvalsh(M)[0]


@each("wrong", [{"r": 1.0}, {"lam": 0.0}, {"d": 1}, {"form": "other"}, {"n": 0}, {"s": 0}])
def test_arguments_out_of_range_are_refused(wrong: dict[str, object]) -> None:
    right: dict[str, object] = {"n": 100, "d": 10, "s": 2, "r": 0.5, "b": 10}
    with pytest.raises(InputError):
        sht_theorem2(**(right | wrong))  # type: ignore[arg-type]


def test_more_features_in_a_support_than_there_are_are_refused() -> None:
    with pytest.raises(InputError, match="s must lie"):
        least_curvature((10, 10), 3, 4)
