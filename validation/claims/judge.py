"""How claims are judged: named measures against what is allowed, hits against a probability. A
measure that is NaN is not an answer: `highest` and `lowest` refuse it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

import numpy as np
from scipy import stats

from ..extremes import has_nan, highest, lowest
from .claim import Context, Outcome, Run, Verdict

LEVEL = 1e-6  # probability of a false alarm of each test by chance: any seed should do
TEN = 10.0  # a bound is loose from so many times the quantity that it bounds

Errors = Iterator[tuple[str, float]]  # each with its name
Numbers = Sequence[float] | np.ndarray


def judged(
    good: bool, measured: str, details: Any = None, empty: bool = False, **more: Any
) -> Outcome:
    """Return that a claim holds where `good`, or says nothing (`empty`), else that it fails."""
    held = Verdict.VACUOUS if empty else Verdict.HOLDS
    return Outcome(held if good else Verdict.FAILS, measured, details=dict(details or {}), **more)


def at_most(
    tol: float, what: str = "relative difference", measured: str = ""
) -> Callable[[Callable[..., Errors]], Run]:
    """Decorate what yields named errors: the claim holds where all are at most tol."""

    def decorate(errors: Callable[..., Errors]) -> Run:
        def run(c: Context, *given: Any) -> Outcome:
            found = dict(errors(c, *given))
            worst = highest(found.values())
            shown = (measured or f"{what} at most {{:.1e}}").format(worst)
            return judged(worst <= tol, shown, found, tolerance=f"{what} at most {tol:g}")

        return wraps(errors)(run)

    return decorate


def differ(
    errors: Mapping[str, float], more_than: float, same: Mapping[str, float], tol: float
) -> Outcome:
    """Judge that two sides differ where they are said to, and agree where they are said to."""
    least, worst = lowest(errors.values()), highest(same.values())
    shown = f"relative difference from {least:.2g}; {worst:.0e} where the sides agree"
    allowed = f"above {more_than:g}; at most {tol:g} where the sides agree"
    return judged(least > more_than and worst <= tol, shown, {**errors, **same}, tolerance=allowed)


def arithmetic(numbers: Mapping[str, Numbers], within: float, measured: str = "") -> Outcome:
    """Judge that numbers computed from a paper's own are the printed ones: found, printed."""
    right = [abs(found - printed) <= within for found, printed in numbers.values()]
    text = f"{sum(right)} of {len(right)} numbers of the text agree with the table"
    details = {f"{name}: found, printed": list(pair) for name, pair in numbers.items()}
    return judged(all(right), measured or text, details)


def chance(hits: int, draws: int, p: float) -> float:
    """Return the probability of so many hits or more where each has probability p."""
    if has_nan(p):
        raise ValueError("a probability is NaN")
    return float(stats.binom.sf(hits - 1, draws, p))


def no_more_often(hits: int, draws: int, p: float) -> bool:
    """Whether so many hits leave it open that each has probability p at most (exact binomial)."""
    return chance(hits, draws, p) >= LEVEL


def sandwich(
    false: bool, ratios: Numbers, measured: str, empty: bool = False, **more: Any
) -> Outcome:
    """Judge a bound: it fails, is empty, is loose where it is ten times the truth, or holds."""
    held = Verdict.LOOSE if lowest(ratios) >= TEN else Verdict.HOLDS
    verdict = Verdict.FAILS if false else Verdict.VACUOUS if empty else held
    return Outcome(verdict, measured, **more)


def two_sided() -> float:
    """Return the normal quantile z with P(|Z| > z) = `LEVEL`."""
    return float(stats.norm.isf(LEVEL / 2))


def upper_limit(hits: int, count: int, level: float = LEVEL) -> float:
    """Return the upper confidence limit of a probability (Clopper and Pearson)."""
    return float(stats.beta.isf(level, hits + 1, count - hits)) if hits < count else 1.0


def lower_limit(hits: int, count: int) -> float:
    """Return the lower confidence limit of a probability (Clopper and Pearson) at `LEVEL`."""
    return float(stats.beta.ppf(LEVEL, hits, count - hits + 1)) if hits else 0.0


def grows_like(sizes: Numbers, counts: Numbers) -> float:
    """Return p with counts like sizes^p, from the first to the last."""
    return float(np.log(counts[-1] / counts[0]) / np.log(sizes[-1] / sizes[0]))


@dataclass(frozen=True)
class Slope:
    """A least-squares slope of log y against log x, and half the width of its interval."""

    value: float
    half_width: float

    @classmethod
    def fit(cls, x: np.ndarray, y: np.ndarray, sd_log_y: np.ndarray) -> Slope:
        """Fit with weights 1 / sd^2; the half width is that of the normal interval at `LEVEL`."""
        (slope, _), cov = np.polyfit(np.log(x), np.log(y), 1, w=1 / sd_log_y, cov="unscaled")
        return cls(float(slope), two_sided() * float(np.sqrt(cov[0, 0])))

    @property
    def interval(self) -> list[float]:
        return [self.value - self.half_width, self.value + self.half_width]

    def __str__(self) -> str:
        return f"{self.value:.3f} +- {self.half_width:.3f}"
