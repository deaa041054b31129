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
def test_the_linear_offset_is_the_normal_quantile(share: float, noise_sd: float) -> None:
    wanted = math.sqrt(2.0 + noise_sd**2) * ndtri(share)
    assert offset_for_share("linear", share, noise_sd) == pytest.approx(wanted, abs=1e-9)


@each("noise_sd", NOISES)
@each("share", SHARES)
def test_the_radial_offset_gives_the_wanted_share(share: float, noise_sd: float) -> None:
    alpha = offset_for_share("radial", share, noise_sd)
    assert radial_share(alpha, noise_sd) == pytest.approx(share, abs=1e-11)


def test_the_offsets_of_the_paper_s_models() -> None:
    """The figures of the errata, to all their digits."""
    assert offset_for_share("linear") == pytest.approx(-1.457731, abs=5e-7)
    assert offset_for_share("radial") == pytest.approx(-3.468500, abs=5e-7)


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


def test_the_exact_values_differ_from_the_printed_ones() -> None:
    assert population_auc("linear") == pytest.approx(0.908088, abs=5e-7)
    assert population_auc("radial") == pytest.approx(0.964708, abs=5e-7)
    # [ScalingUp, Tables 1 and 2]: sd of one test set of 25,000 is 0.0020 and 0.0012
    assert population_auc("linear") - 0.90377 > 2 * 0.0020
    assert population_auc("radial") - 0.90985 > 40 * 0.0012


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


@each("noise_sd", NOISES)
def test_the_balanced_linear_auc_is_an_orthant_probability(noise_sd: float) -> None:
    """At share 1/2 the three events f > f', y = 1, y' = -1 are half-spaces through the origin."""
    # correlation of f - f' with f + eps, and with -f' - eps'; the last two are independent
    rho = 1.0 / math.sqrt(2.0 + noise_sd**2)
    orthant = 0.125 + 2.0 * math.asin(rho) / (4.0 * math.pi)
    assert population_auc("linear", 0.5, noise_sd) == pytest.approx(4.0 * orthant, abs=1e-8)


def test_the_linear_auc_is_the_same_with_the_classes_exchanged() -> None:
    """x -> -x and eps -> -eps exchange the classes; only the offset's sign differs."""
    assert population_auc("linear", 0.1) == pytest.approx(population_auc("linear", 0.9), abs=1e-9)


@each("model", ["linear", "radial"])
def test_monte_carlo_agrees_within_four_standard_errors(model: str) -> None:
    n = 2_000_000
    rng = np.random.default_rng(20_240_501)
    x = rng.standard_normal((2, n))
    f = x.sum(axis=0) if model == "linear" else np.square(x).sum(axis=0)
    positive = f + offset_for_share(model) + rng.standard_normal(n) > 0  # type: ignore[arg-type]
    auc, error = empirical_auc(f[positive], f[~positive])
    assert abs(auc - population_auc(model)) < 4 * error  # type: ignore[arg-type]
    assert error < 3e-4


def empirical_auc(above: np.ndarray, below: np.ndarray) -> tuple[float, float]:
    """AUC and its standard error, from the placements of each class (no ties)."""
    above, below = np.sort(above), np.sort(below)
    place_above = np.searchsorted(below, above) / len(below)
    place_below = 1.0 - np.searchsorted(above, below, side="right") / len(above)
    variance = place_above.var() / len(above) + place_below.var() / len(below)
    return float(place_above.mean()), math.sqrt(variance)


@each("model", ["linear", "radial"])
def test_auc_falls_with_the_noise_from_one_to_one_half(model) -> None:
    values = [population_auc(model, 0.2, noise) for noise in (0.02, 0.1, 0.5, 2.0, 10.0, 100.0)]
    assert values == sorted(values, reverse=True)
    assert values[0] > 0.999
    assert 0.5 < values[-1] < 0.53


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
