"""Row weights of very different sizes: sums that hold, or a refusal."""

from fractions import Fraction

import numpy as np
import pytest

from aucert.exact import AllPairs, InputError, PairList
from aucert.exact.losses.registry import ALL_LOSSES
from aucert.exact.problem.risk import Mean
from decimal_losses import mean_of

Y = np.array([True, True, True, False, False])
S = np.array([0.3, -1.7, 2.1, 0.9, -0.4])


def mean(weight: np.ndarray, loss: str) -> Fraction:
    """Return the mean loss over all pairs, in fractions."""
    pairs = [
        (i, j, Fraction(weight[i]) * Fraction(weight[j]))
        for i in np.flatnonzero(Y)
        for j in np.flatnonzero(~Y)
    ]
    mass = sum(c for _, _, c in pairs)
    return mean_of(loss, [Fraction(s) for s in S], [(i, j, c / mass) for i, j, c in pairs])


@pytest.mark.parametrize("form", ["numpy", "compiled", "binned"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("size", [1.0, 1e200, 1e-200])
def test_far_weights_keep_the_bounds(form, loss, size):
    weight = size * np.array([3e-90, 7e-91, 2e-90, 1.0, 0.3])
    sums = Mean(AllPairs(weight, form=form).on(Y), ALL_LOSSES[loss]).sums(S)
    apart = mean(weight, loss) - Fraction(sums.value)
    assert apart <= Fraction(sums.value_rounding)
    assert form == "binned" or -apart <= Fraction(sums.value_rounding)


@pytest.mark.parametrize("least", [3e-322, 1e-290, 1e-101])
def test_weights_too_far_apart_are_refused(least):
    # Their products would be subnormal numbers, of few digits, or zero: U was off by 0.24 of 1.
    with pytest.raises(InputError, match="apart"):
        AllPairs(np.array([3 * least, least, 2 * least, 1.0, 0.3]))
    with pytest.raises(InputError, match="apart"):
        PairList(np.array([0, 1]), np.array([3, 4]), np.array([least, 1.0]))
