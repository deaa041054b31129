"""Claims about what is read from Theorem 2: the ratio (14), the tolerance (15) [SHT, III-B]."""

from __future__ import annotations

import math

import numpy as np

from ...bounds.sht_gaussian import ratio_coefficients, sht_theorem2
from ...extremes import max
from ..claim import Context, Outcome, Verdict

SHARES = (0.01, 0.05, 0.1, 0.25, 0.5)


def _quotient(form: str) -> tuple[float, list[float]]:
    """Return the largest relative difference of (14) from (13)/(12), and the three coefficients."""
    n, d, s, b = 10**9, 1000, 60, 50
    a, linear, c = ratio_coefficients(n, d, s, b, form=form)
    worst = 0.0
    for r in np.linspace(0.05, 0.5, 10):
        bound = sht_theorem2(n, d, s, float(r), b)
        ratio = 16 / (a * r + linear * math.sqrt(r) + c)
        worst = max(worst, abs(ratio - bound.ratio) / bound.ratio)
    return worst, [a, linear, c]


def _eq_14(form: str) -> Outcome:
    worst, coefficients = _quotient(form)
    return Outcome(
        Verdict.HOLDS if worst <= 1e-9 else Verdict.FAILS,
        f"off by up to {worst:.1e} of (13) divided by (12)",
        details={"a, b, c": coefficients, "n, d, s, b": [10**9, 1000, 60, 50]},
        tolerance="1e-9, r from 0.05 to 0.5",
    )


def sht_eq_14_as_printed(context: Context) -> Outcome:
    return _eq_14("printed")


def sht_eq_14_with_the_logarithm_outside(context: Context) -> Outcome:
    return _eq_14("corrected")


def sht_eq_14_falls_with_the_share(context: Context) -> Outcome:
    n, d, s = 1000, 1000, 60
    a, axis, under = _denominator(n, d, s)
    large = bool((np.diff(_denominator(10**5 * n, d, s)[2]) > 0).all())
    return Outcome(
        Verdict.HOLDS if large else Verdict.FAILS,
        f"at n = {10**5 * n:,} it {'falls' if large else 'does not fall'}; at n = {n:,}, the size "
        f"of the experiments, its axis is at r = {axis:,.0f}, beyond every share",
        details={"r*": axis, "288 s log d / n": 288 * s * math.log(d) / n, "a": a}
        | {f"denominator at n = {n:,}, r = 0.05, ..., 0.5": under.tolist()}
        | {"rows needed for r* = 0.05": 288 * s * math.log(d) / 0.05},
        tolerance="closed form",
    )


def _denominator(n: int, d: int, s: int) -> tuple[float, float, np.ndarray]:
    """Return a, the share at the minimum, and the denominator of (14) at r = 0.05, ..., 0.5."""
    a, linear, c = ratio_coefficients(n, d, s, 50, form="corrected")
    r = np.linspace(0.05, 0.5, 10)
    return a, (-linear / (2 * a)) ** 2, a * r + linear * np.sqrt(r) + c


def sht_eq_15_grows_with_the_imbalance(context: Context) -> Outcome:
    r = np.linspace(0.01, 0.5, 50)
    table, rising = {}, []
    for c_2 in (0.5, 0.9, 0.99, 1.0, 1.001, 1.1):
        value = r / (1 - c_2 * np.sqrt(1 - r))
        if (np.diff(value[value > 0]) < 0).all():  # elsewhere kappa < 1 does not hold
            rising.append(c_2)
        shown = np.array(SHARES)
        table[f"c_2 = {c_2:g}: r = 0.01, 0.05, 0.1, 0.25, 0.5"] = (
            shown / (1 - c_2 * np.sqrt(1 - shown))
        ).tolist()
    at_one = r / (1 - np.sqrt(1 - r))
    growth = float(at_one[0] / at_one[-1])
    return Outcome(
        Verdict.FAILS if not rising else Verdict.VACUOUS,
        f"for c_2 < 1 it tends to 0 with r; for c_2 >= 1 it rises where it is positive, for 1 by a "
        f"factor {growth:.2f}",
        details=table | {"c_2 for which it rises": rising},
        tolerance="closed form on a grid of c_2; a lower bound that may fall shows no growth",
    )
