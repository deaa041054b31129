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

LOG = math.log(1000)


@pytest.mark.parametrize(("r", "expected"), [(0.05, 484.0), (0.5, 43.4)])
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
    assert right == pytest.approx(32 * unit * (LOG / 2 + LOG))


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


@pytest.mark.parametrize("r", [0.05, 0.5])
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


@pytest.mark.parametrize(
    "wrong", [{"r": 1.0}, {"lam": 0.0}, {"d": 1}, {"form": "other"}, {"n": 0}, {"s": 0}]
)
def test_arguments_out_of_range_are_refused(wrong: dict[str, object]) -> None:
    right: dict[str, object] = {"n": 100, "d": 10, "s": 2, "r": 0.5, "b": 10}
    with pytest.raises(InputError):
        sht_theorem2(**(right | wrong))  # type: ignore[arg-type]


def test_more_features_in_a_support_than_there_are_are_refused() -> None:
    with pytest.raises(InputError, match="s must lie"):
        least_curvature((10, 10), 3, 4)
