"""Scores of two classes in bins of one width, with their residuals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import InputError
from ...tools.rounding import LONG_UNIT, UNIT, gamma, short_chain, short_sum
from ..assembled import Whole

# Largest number of bins: the width of a bin is doubled until the scores fit.
LARGEST_GRID = 1 << 21

# Far rows are moved to so many bins beyond the reach of a loss. Rounding moves them by less.
BESIDE = 4.0

LARGEST_SCORE = 1e150  # Largest score: the distances of larger ones leave the range of a grid.


@dataclass(frozen=True, eq=False)
class Bins:
    """Rows of positive weight, by class and bin."""

    per_unit: float
    shift: int
    size: int
    rows_a: np.ndarray
    rows_b: np.ndarray
    idle: np.ndarray
    a: np.ndarray
    b: np.ndarray
    p: np.ndarray
    q: np.ndarray
    count_a: np.ndarray
    count_b: np.ndarray
    moments: np.ndarray
    slip: float
    middle: float

    @classmethod
    def of(
        cls,
        pairs: Whole,
        scores: np.ndarray,
        centre: float,
        per_unit: float,
        reach: float = np.inf,
    ) -> Bins:
        """Return the bins of `scores` (n,), no narrower than 1 / per_unit.

        Where they do not fit, rows further than `reach` beyond all rows of the other class are
        moved there: the slopes of their pairs are 0 or 1 either way. So a few far rows do not make
        all bins coarse.
        """
        if not float(np.abs(scores).max()) <= LARGEST_SCORE:
            raise InputError(f"a score is larger than {LARGEST_SCORE:g}: scale the features")
        side_a, side_b = pairs.sides()
        rows_a, rows_b = np.flatnonzero(pairs.positive), np.flatnonzero(~pairs.positive)
        idle = np.concatenate([rows_a[side_a == 0], rows_b[side_b == 0]])
        rows_a, rows_b = rows_a[side_a > 0], rows_b[side_b > 0]
        a, b = side_a[side_a > 0], side_b[side_b > 0]
        s, r = scores[rows_a], scores[rows_b]
        middle = float(min(s.min(), r.min()) / 2 + max(s.max(), r.max()) / 2)
        wanted, per_unit = per_unit, _fitting(s, r, centre, per_unit)
        if per_unit < wanted:
            nearer = _near(s, r, centre, reach + BESIDE / per_unit)
            finer = _fitting(*nearer, centre, wanted)
            if finer > per_unit:
                (s, r), per_unit = nearer, finer
        low = min(s.min(), r.min())
        shift = round(centre * per_unit)
        base = np.rint(low * per_unit)
        p, theta = _placed(s, per_unit, base)
        q, omega = _placed(r, per_unit, base)
        p -= shift
        least = min(int(p.min()), int(q.min()))
        p -= least
        q -= least
        size = max(int(p.max()), int(q.max())) + 1
        moments = np.array([_moments(a, theta), _moments(b, omega)])
        whole = bool(np.all(a == np.floor(a)) and np.all(b == np.floor(b)))
        whole = whole and max(float(a.sum()), float(b.sum())) < 2.0**50
        # Whole numbers add up exactly, in whatever order.
        slip = 0.0 if whole else gamma(max(a.size, b.size) + size + 8, LONG_UNIT) + 4 * UNIT
        counts = _counted(a, p, size, whole), _counted(b, q, size, whole)
        rows = rows_a, rows_b, idle, a, b, p, q
        return cls(per_unit, shift, size, *rows, *counts, moments, slip, middle)

    @classmethod
    def counted(
        cls, per_unit: float, shift: int, count_a: np.ndarray, count_b: np.ndarray, slip: float
    ) -> Bins:
        """Return bins of which only what they weigh is known, not the rows."""
        none, empty = np.zeros(0), np.zeros(0, dtype=np.int64)
        rows = empty, empty, empty, none, none, empty, empty
        counts, unknown = (count_a, count_b), np.full((2, 2), np.nan)
        return cls(per_unit, shift, count_a.size, *rows, *counts, unknown, slip, np.nan)

    @property
    def masses(self) -> tuple[float, float]:
        """What each class weighs."""
        return float(short_sum(self.count_a)), float(short_sum(self.count_b))

    def mean_a(self, values: np.ndarray) -> float:
        """Return the mean over the positive rows of a value (size,) by bin."""
        return float(short_sum(self.count_a * values) / self.masses[0])

    def mean_square(self) -> tuple[float, float]:
        """Return the mean of e^2 over all pairs, and a bound of its rounding."""
        chain = short_chain(max(self.a.size, self.b.size))
        return mean_of_squares(self.moments, self.per_unit, chain)


def mean_of_squares(moments: np.ndarray, per_unit: float, chain: int) -> tuple[float, float]:
    """Return the mean of e^2 over all pairs, and a bound of its rounding."""
    (first_a, second_a), (first_b, second_b) = moments
    mean = max(float(second_a + second_b - 2 * first_a * first_b), 0.0)
    size = float(second_a + second_b) + 2 * float(np.sqrt(second_a * second_b))
    return mean / per_unit**2, gamma(2 * chain + 24) * size / per_unit**2


def _fitting(s: np.ndarray, r: np.ndarray, centre: float, per_unit: float) -> float:
    """Return the bins a unit with which the scores of both classes fit, at most `per_unit`."""
    spread = max(s.max(), r.max()) - min(s.min(), r.min()) + abs(centre)
    while not spread * per_unit < LARGEST_GRID // 2:
        per_unit /= 2
    return per_unit


def _near(
    s: np.ndarray, r: np.ndarray, centre: float, reach: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores s, r of both classes, each within `reach` of the margins of the other.

    The classes are moved one after the other: moved at once, their rows could pass each other.
    """
    s = np.clip(s, r.min() + centre - reach, r.max() + centre + reach)
    return s, np.clip(r, s.min() - centre - reach, s.max() - centre + reach)


def _placed(scores: np.ndarray, per_unit: float, base: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the bins of scores, counted from `base`, and theta. Each step is exact."""
    scaled = scores * per_unit
    nearest = np.rint(scaled)
    return (nearest - base).astype(np.int64), (scaled - nearest).astype(float)


def _moments(weight: np.ndarray, theta: np.ndarray) -> tuple[float, float]:
    mass = short_sum(weight)
    first = weight * theta
    return float(short_sum(first) / mass), float(short_sum(first * theta) / mass)


def _counted(weight: np.ndarray, places: np.ndarray, size: int, whole: bool) -> np.ndarray:
    """Return the total weight of the rows of each bin; fractions are summed in the long format."""
    if whole:
        return np.bincount(places, weights=weight, minlength=size)
    # `bincount` has no long format, which `reduceat` over sorted places has.
    order = np.argsort(places, kind="stable")
    held = places[order]
    first = np.flatnonzero(np.diff(held, prepend=-1))
    out = np.zeros(size)
    out[held[first]] = np.add.reduceat(weight[order].astype(np.longdouble), first)
    return out
