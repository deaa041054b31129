"""Means with their errors, and tests of paired differences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from ...exact.errors import InputError


def mean_error(values: Sequence[float] | np.ndarray) -> tuple[float | None, float | None]:
    """Return the mean and its standard error; None where there are too few values."""
    numbers = np.asarray(values, dtype=float)
    if numbers.size == 0:
        return None, None
    if numbers.size == 1:
        return float(numbers[0]), None
    mean, spread = float(numbers.mean()), float(numbers.std(ddof=1))
    rounding = spread <= 1e-12 * max(1.0, abs(mean))
    return mean, 0.0 if rounding else spread / float(np.sqrt(numbers.size))


def as_numbers(name: str, values: list[object]) -> np.ndarray:
    """Return results of parts as an array (k,), or raise `InputError` where one is none."""
    try:
        found = np.array(values, dtype=float)
    except (TypeError, ValueError):
        found = np.array([np.nan])
    if not np.isfinite(found).all():
        raise InputError(f"a result {name!r} is no number: restore the evidence, or its parts")
    return found


@dataclass(frozen=True)
class Paired:
    """The mean of paired differences, its standard error, and a two-sided p-value."""

    difference: float
    error: float
    p: float
    count: int


@dataclass(frozen=True)
class NamedTest:
    """A paired test as pages print it and findings read it; its name is "n = 5: a minus b"."""

    name: str
    test: Paired
    unit: str = ""
    digits: int = 3

    def __str__(self) -> str:
        """Return the sentence, with digits enough for two of the error."""
        test = self.test
        digits = max(self.digits, 1 - math.floor(math.log10(test.error or 1.0)))
        unit = self.unit and f" {self.unit}"
        return (
            f"{self.name}: {test.difference:+.{digits}f}{unit} (standard error "
            f"{test.error:.{digits}f}, p = {test.p:.2g}, {test.count} pairs)."
        )


def paired_test(
    a: Sequence[float] | np.ndarray, b: Sequence[float] | np.ndarray, overlap: float = 0.0
) -> Paired | None:
    """Return Student's paired t test of a against b; None for fewer than three pairs."""
    differences = np.asarray(a, dtype=float) - np.asarray(b, dtype=float)
    count = differences.size
    if count < 3:
        return None
    mean = float(differences.mean())
    error = float(np.sqrt(differences.var(ddof=1) * (1 / count + overlap)))
    if error <= 1e-12 * max(1.0, float(np.abs(a).max())):
        return Paired(mean, 0.0, 1.0 if abs(mean) <= 1e-12 else 0.0, count)
    return Paired(mean, error, float(2 * stats.t.sf(abs(mean / error), count - 1)), count)
