"""The squared hinge from moments of bins, against every pair in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from aucert.exact.sums.binned import (
    ClosedLines,
    Extent,
    Gathered,
    Ruler,
    closed_squared,
    squared_ruler,
)
from loops import each, seeds

KINDS = ("plain", "tenths", "far", "outliers", "one positive", "equal", "apart", "separated")


def some_scores(kind: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores and classes of a few rows."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    scores, positive = rng.normal(size=n) * 2, np.arange(n) < rng.integers(1, n)
    rng.shuffle(positive)
    if kind == "tenths":
        scores = np.round(scores, 1)
    elif kind == "far":
        scores += 1e5
    elif kind == "outliers":
        scores[0], scores[-1] = 300.0, -300.0
    elif kind == "one positive":
        positive = np.arange(n) == 0
    elif kind == "equal":
        scores[:] = 0.1
    elif kind == "apart":
        scores += 50.0 * positive
    elif kind == "separated":
        scores -= 50.0 * positive
    return scores, positive


def closed(
    scores: np.ndarray, positive: np.ndarray, bins: int, weight: np.ndarray | None
) -> tuple[Ruler, ClosedLines]:
    extent = Extent()
    extent.add(scores, positive)
    ruler = squared_ruler(extent.ends, bins)
    found, one = Gathered.over(ruler, 0, 3 if weight is None else 4), np.ones(1)
    for part in np.array_split(np.arange(scores.size), 3):
        some = None if weight is None else weight[part]
        found.add(ruler, scores[None, part], 0 * one, one, positive[part], some)
    return ruler, closed_squared(ruler, found.moments(2), weight is None)


def naive(
    scores: np.ndarray, positive: np.ndarray, bins: int, weight: np.ndarray | None
) -> tuple[Fraction, Fraction, Fraction, list[Fraction]]:
    """The mean squared hinge, its part with m = 0, the mean of alpha - alpha^2/4, and c."""
    n, one = scores.size, Fraction(1)
    mass = [one] * n if weight is None else [Fraction(float(x)) for x in weight]
    exact = [Fraction(float(s)) for s in scores]
    plus, minus = np.flatnonzero(positive), np.flatnonzero(~positive)
    whole = sum((mass[i] * mass[j] for i in plus for j in minus), Fraction(0))
    value, doubt, conjugate, c = Fraction(0), Fraction(0), Fraction(0), [Fraction(0)] * n
    for i in plus:
        for j in minus:
            share, z = mass[i] * mass[j] / whole, 1 - exact[i] + exact[j]
            m = exact[j] * bins // 1 - exact[i] * bins // 1 + bins
            value += share * max(z, Fraction(0)) ** 2
            if m == 0:
                doubt += share * Fraction(1, bins**2)
            if m >= 1:
                conjugate += share * (2 * z - z**2)
                c[i] += 2 * share * z
                c[j] -= 2 * share * z
    return value, doubt, conjugate, c


@each("kind", KINDS)
@each("seed", seeds(10))
@each("weighted", [False, True])
def test_the_sums_are_those_over_all_pairs(kind: str, seed: int, weighted: bool) -> None:
    scores, positive = some_scores(kind, seed)
    weight = np.random.default_rng(seed).uniform(0.5, 2, scores.size) if weighted else None
    bins = (4, 64, 1024)[seed % 3]
    ruler, found = closed(scores, positive, bins, weight)
    bins = ruler.bins
    value, doubt, conjugate, c = naive(scores, positive, bins, weight)
    upper = Fraction(found.value) + Fraction(found.value_rounding)
    assert value <= upper <= value + doubt + 2 * Fraction(found.value_rounding)
    assert abs(Fraction(found.conjugate) - conjugate) <= Fraction(found.conjugate_rounding)
    got = ruler.marginals(scores, positive, weight, found.table)
    apart = sum(abs(Fraction(float(x)) - y) for x, y in zip(got, c, strict=True))
    assert apart <= Fraction(found.c_error)
    size = float(np.ptp(scores)) + 1
    assert max(found.value_rounding, found.conjugate_rounding) <= 1e-9 * size**2
    assert found.c_error <= 1e-9 * size


def test_the_doubt_falls_with_the_cube_of_the_bins() -> None:
    rng = np.random.default_rng(0)
    scores, positive = rng.normal(size=20_000), rng.random(20_000) < 0.5
    gaps = []
    for bins in (16, 64):
        ruler, found = closed(scores, positive, bins, None)
        c = ruler.marginals(scores, positive, None, found.table)
        gaps.append(found.value - found.conjugate + float(c @ scores))
    assert 0 < gaps[1] < gaps[0] / 40
