"""The population AUC against closed forms, another quadrature rule and Monte Carlo."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri, owens_t

from aucert.exact.errors import InputError
from aucert.validation.data.population import offset_for_share, population_auc, share_for_auc
from loops import each

SHARES = (0.05, 0.2, 0.5, 0.9)
NOISES = (0.3, 1.0, 1.573, 4.0)


def radial_share(alpha: float, noise_sd: float) -> float:
    """P(y = 1) of the radial model in closed form, by parts."""
    tail = math.exp(alpha / 2 + noise_sd**2 / 8) * ndtr(-(alpha / noise_sd + noise_sd / 2))
    return float(ndtr(alpha / noise_sd) + tail)


def radial_above(t: np.ndarray, alpha: float, noise_sd: float) -> np.ndarray:
    """P(f > t, y = 1) of the radial model in closed form."""
    z = (t + alpha) / noise_sd
    tail = math.exp(alpha / 2 + noise_sd**2 / 8) * ndtr(-(z + noise_sd / 2))
    return np.exp(-t / 2) * ndtr(z) + tail


def linear_above(t: np.ndarray, alpha: float, noise_sd: float) -> np.ndarray:
    """P(f > t, y = 1) of the linear model: a bivariate normal tail by Owen's T function."""
    total_sd = math.sqrt(2.0 + noise_sd**2)
    h, k, rho = -t / math.sqrt(2.0), alpha / total_sd, math.sqrt(2.0) / total_sd
    root = math.sqrt(1.0 - rho**2)
    owen = owens_t(h, (k / h - rho) / root) + owens_t(k, (h / k - rho) / root)
    return 0.5 * (ndtr(h) + ndtr(k)) - owen - np.where(h * k > 0, 0.0, 0.5)


def gauss_legendre(low: float, high: float, panels: int = 400) -> tuple[np.ndarray, np.ndarray]:
    nodes, weights = np.polynomial.legendre.leggauss(10)
    ends = np.linspace(low, high, panels + 1)
    half = np.diff(ends)[:, None] / 2
    return (ends[:-1, None] + half * (nodes + 1)).ravel(), (half * weights).ravel()


@each("noise_sd", NOISES)
@each("share", SHARES)
def test_the_radial_offset_gives_the_wanted_share(share: float, noise_sd: float) -> None:
    alpha = offset_for_share("radial", share, noise_sd)
    assert radial_share(alpha, noise_sd) == pytest.approx(share, abs=1e-11)


def test_the_printed_values_belong_to_other_shares_of_positives() -> None:
    """[ScalingUp, Section 4.1]: "approximately 80 %" negative allows 76.3 %, and not 56.3 %."""
    linear, radial = share_for_auc("linear", 0.90377), share_for_auc("radial", 0.90985)
    assert population_auc("linear", linear) == pytest.approx(0.90377, abs=1e-8)
    assert population_auc("radial", radial) == pytest.approx(0.90985, abs=1e-8)
    assert linear == pytest.approx(0.237, abs=5e-4) and 0.75 < 1 - linear < 0.85
    assert radial == pytest.approx(0.437, abs=5e-4) and 1 - radial < 0.6


@each("wanted", [0.89, 0.9999])
def test_an_auc_that_no_share_gives_is_refused(wanted: float) -> None:
    with pytest.raises(InputError, match="the AUC of the linear model is in"):
        share_for_auc("linear", wanted)


@each("noise_sd", NOISES)
@each("share", SHARES)
def test_the_linear_auc_agrees_with_owens_t(share: float, noise_sd: float) -> None:
    # alpha = 0 is the singular case of the formula with T; the orthant test below covers it
    alpha = math.sqrt(2.0 + noise_sd**2) * ndtri(share) or 1e-12
    t, weight = gauss_legendre(-12.5, 12.5)
    density = np.exp(-t * t / 4) / (2 * math.sqrt(math.pi))
    inner = linear_above(t, alpha, noise_sd)
    ordered = np.sum(weight * density * ndtr(-(t + alpha) / noise_sd) * inner)
    wanted = ordered / (share * (1 - share))
    assert population_auc("linear", share, noise_sd) == pytest.approx(wanted, abs=1e-8)


@each("noise_sd", NOISES)
@each("share", SHARES)
def test_the_radial_auc_agrees_with_the_closed_inner_integral(share, noise_sd) -> None:
    alpha = brentq(lambda a: radial_share(a, noise_sd) - share, -40, 20, xtol=1e-13)
    t, weight = gauss_legendre(0.0, 90.0, panels=900)
    inner = radial_above(t, alpha, noise_sd)
    negative = 0.5 * np.exp(-t / 2) * ndtr(-(t + alpha) / noise_sd)
    wanted = np.sum(weight * negative * inner) / (share * (1 - share))
    assert population_auc("radial", share, noise_sd) == pytest.approx(wanted, abs=1e-8)


@each(
    ("arguments", "word"),
    [
        (("cubic",), "model"),
        (("linear", 0.0), "share_pos"),
        (("linear", 1.0), "share_pos"),
        (("linear", math.nan), "share_pos"),
        (("radial", 0.2, 0.0), "noise_sd"),
        (("radial", 0.2, math.inf), "noise_sd"),
    ],
)
@each("function", [population_auc, offset_for_share])
def test_arguments_out_of_range_are_named(function, arguments, word) -> None:
    with pytest.raises(InputError, match=word):
        function(*arguments)
