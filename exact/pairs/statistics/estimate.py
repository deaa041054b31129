"""A statistic of n rows with its standard error, and the comparison of two of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from ...errors import InputError
from ...tools.checks import check_number


@dataclass(frozen=True, eq=False)
class Estimate:
    """A statistic that is a mean over pairs, with what each row contributes to its variance.

    Attributes
    ----------
    value : float
    influence : array (n,), or one number for each group of rows
        How far each of them moves the statistic; the sum of their squares is its variance. Two
        statistics of the same rows have the sum of the products as covariance.
    """

    value: float
    influence: np.ndarray

    @property
    def standard_error(self) -> float:
        """The square root of the estimated variance."""
        return float(np.linalg.norm(self.influence))

    def interval(self, level: float = 0.95, logit: bool = False) -> tuple[float, float]:
        """Return the confidence interval of the normal approximation, within [0, 1].

        It is one point, and tells nothing of other rows, where the standard error is zero: where
        the scores part the classes, say, or are all equal.

        Parameters
        ----------
        level : float
            In (0, 1).
        logit : bool
            Whether to take it on the scale log(x / (1 - x)), where it never leaves (0, 1).
        """
        z = float(ndtri(0.5 + check_number("level", level, 0.0, 1.0) / 2))
        half = z * self.standard_error
        if not logit or not 0 < self.value < 1:
            return max(0.0, self.value - half), min(1.0, self.value + half)
        middle = np.log(self.value / (1 - self.value))
        half /= self.value * (1 - self.value)
        low, high = (1 / (1 + np.exp(-x)) for x in (middle - half, middle + half))
        return float(low), float(high)


@dataclass(frozen=True)
class Comparison:
    """The difference of two statistics of the same rows.

    Attributes
    ----------
    difference : float
        The first less the second.
    standard_error : float
    z : float
        Difference over standard error; 0 where both are zero, NaN where only the latter is: an
        estimated variance of zero tells nothing of other rows.
    p_value : float
        Two-sided, by the normal approximation; 1 and NaN in these two cases.
    interval : (float, float)
        Confidence interval of the difference; both ends are NaN where `z` is.
    """

    difference: float
    standard_error: float
    z: float
    p_value: float
    interval: tuple[float, float]


def compare_models(first: Estimate, second: Estimate, level: float = 0.95) -> Comparison:
    """Return the comparison of two statistics of the same rows, such as two models' AUC.

    [DeLong, DeLong and Clarke-Pearson, "Comparing the areas under two or more correlated receiver
    operating characteristic curves", Biometrics 1988]

    Parameters
    ----------
    first, second : Estimate
        Of the same kind, on the same rows in the same order.
    level : float
        Of the confidence interval, in (0, 1).

    Raises
    ------
    InputError
        If the numbers of rows differ.
    """
    level = check_number("level", level, 0.0, 1.0)
    if first.influence.shape != second.influence.shape:
        raise InputError(
            f"statistics of {first.influence.size} and of {second.influence.size} rows or groups: "
            "compare two models on the same rows, with the same units"
        )
    difference = first.value - second.value
    error = float(np.linalg.norm(first.influence - second.influence))
    half = float(ndtri(0.5 + level / 2)) * error
    if error > 0:
        z = difference / error
    else:
        z = half = 0.0 if difference == 0 else math.nan
    p_value = float(2 * ndtr(-abs(z)))
    return Comparison(difference, error, z, p_value, (difference - half, difference + half))
