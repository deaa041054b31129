"""Intervals of DeLong, Harrell and Uno hold the truth as often as they say, in drawn data."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import ndtr

from aucert.exact import (
    Estimate,
    concordance,
    concordance_index,
    delong,
    query_pairs,
    uno_concordance,
)
from loops import each

DRAWS = 2000
ROWS = 150
SLACK = 0.02
"""The share of 2,000 draws is within 4 standard errors, 0.0195, of its chance."""

CENSORING = 0.8
"""Rate of the exponential times of censoring."""

TAU = 1.0

Draw = tuple[Estimate, ...]


def drawn_auc(rng: np.random.Generator) -> Estimate:
    """The AUC of normal scores, 40 rows against 110, whose truth is Phi(1 / sqrt 2)."""
    positive = np.arange(ROWS) < 40
    return delong(rng.normal(size=ROWS) + positive, positive)


def drawn_rounded_auc(rng: np.random.Generator) -> Estimate:
    """The same with scores rounded to halves, so that a tenth of all pairs is tied."""
    positive = np.arange(ROWS) < 40
    return delong(np.round(2 * (rng.normal(size=ROWS) + positive)), positive)


def survival(
    rng: np.random.Generator, n: int, rate: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times, events and risks of exponential deaths, censored at an exponential rate."""
    risk = rng.normal(size=n)
    death = np.exp(-risk) * rng.exponential(size=n)
    end = rng.exponential(size=n) / rate if rate else np.full(n, np.inf)
    return np.minimum(death, end), death <= end, risk


def drawn_queries(rng: np.random.Generator, units: str = "groups") -> Estimate:
    """30 queries of 10 rows; a model orders those of some queries better than those of others."""
    query = np.repeat(np.arange(30), 10)
    merit = rng.normal(size=300)
    slope = rng.normal(1.0, 1.0, size=30)[query]
    pairs = query_pairs(query, np.digitize(merit, [-1.0, 1.0]))
    return concordance(pairs, slope * merit + rng.normal(size=300), units=units)


def drawn_harrell(rng: np.random.Generator) -> Estimate:
    return concordance_index(*survival(rng, ROWS, CENSORING))


def drawn_uno(rng: np.random.Generator) -> Estimate:
    return uno_concordance(*survival(rng, ROWS, CENSORING), tau=TAU)


def harrells_truth() -> float:
    """Harrell's C of very many rows, censored at the same rate."""
    return concordance_index(*survival(np.random.default_rng(1), 1_000_000, CENSORING)).value


def unos_truth() -> float:
    """C of very many rows that all die, for deaths before tau: Uno's weights undo censoring."""
    times, event, risk = survival(np.random.default_rng(2), 1_000_000, 0.0)
    return uno_concordance(times, event, risk, tau=TAU).value


def queries_truth() -> float:
    """The concordance within very many such queries."""
    rng = np.random.default_rng(3)
    query = np.repeat(np.arange(60_000), 10)
    merit = rng.normal(size=query.size)
    slope = rng.normal(1.0, 1.0, size=60_000)[query]
    pairs = query_pairs(query, np.digitize(merit, [-1.0, 1.0]))
    return concordance(pairs, slope * merit + rng.normal(size=query.size)).value


def rounded_truth() -> float:
    """P(a > b) + P(a = b) / 2 of two rounded normals."""
    grid = np.arange(-30, 31)
    cell = lambda mean: ndtr((grid + 0.5) / 2 - mean) - ndtr((grid - 0.5) / 2 - mean)  # noqa: E731
    below = np.cumsum(cell(0.0)) - cell(0.0) / 2
    return float(cell(1.0) @ below)


CASES = [
    pytest.param(drawn_auc, lambda: float(ndtr(np.sqrt(0.5))), id="delong"),
    pytest.param(drawn_rounded_auc, rounded_truth, id="delong-tied"),
    pytest.param(drawn_harrell, harrells_truth, id="harrell"),
    pytest.param(drawn_uno, unos_truth, id="uno"),
    pytest.param(drawn_queries, queries_truth, id="queries"),
]


def judged(
    draw: Callable[[np.random.Generator], Estimate], truth: float, factor: float = 1.0
) -> tuple[float, float]:
    """Coverage of the 95 % intervals, and mean standard error over the standard deviation."""
    rng = np.random.default_rng(0)
    found = [draw(rng) for _ in range(DRAWS)]
    errors = factor * np.array([estimate.standard_error for estimate in found])
    values = np.array([estimate.value for estimate in found])
    inside = np.abs(values - truth) <= 1.959964 * errors
    return float(inside.mean()), float(np.sqrt(np.mean(errors**2)) / values.std(ddof=1))


@pytest.mark.slow
@each(("draw", "truth"), CASES)
def test_intervals_of_95_percent_hold_the_truth_in_95_percent(
    draw: Callable[[np.random.Generator], Estimate], truth: Callable[[], float]
) -> None:
    coverage, ratio = judged(draw, truth())
    assert abs(coverage - 0.95) <= SLACK, (coverage, ratio)
    assert abs(ratio - 1) <= 0.06, (coverage, ratio)  # the deviation itself is known to 1.6 %


@pytest.mark.slow
def test_a_standard_error_a_sixth_too_small_is_seen() -> None:
    coverage, ratio = judged(drawn_auc, float(ndtr(np.sqrt(0.5))), factor=5 / 6)
    assert abs(coverage - 0.95) > SLACK and abs(ratio - 1) > 0.06, (coverage, ratio)


@pytest.mark.slow
def test_rows_of_queries_taken_as_independent_are_seen() -> None:
    coverage, ratio = judged(lambda rng: drawn_queries(rng, "rows"), queries_truth())
    assert abs(coverage - 0.95) > SLACK and abs(ratio - 1) > 0.06, (coverage, ratio)
