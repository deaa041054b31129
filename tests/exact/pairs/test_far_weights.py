"""Row weights of very different sizes, and ones that change meanwhile."""

from fractions import Fraction

import numpy as np
import pytest

from aucert.exact import AllPairs, InputError, PairList, StreamedRows, solve
from aucert.exact.losses.registry import ALL_LOSSES
from aucert.exact.problem.risk import Mean
from decimal_losses import mean_of
from loops import each

Y = np.array([True, True, True, False, False])
S = np.array([0.3, -1.7, 2.1, 0.9, -0.4])


def mean(weight: np.ndarray, loss: str) -> Fraction:
    """Return the mean loss over all pairs, in fractions."""
    pairs = [
        (int(i), int(j), Fraction(weight[i]) * Fraction(weight[j]))
        for i in np.flatnonzero(Y)
        for j in np.flatnonzero(~Y)
    ]
    mass = sum(c for _, _, c in pairs)
    return mean_of(loss, [Fraction(s) for s in S], [(i, j, c / mass) for i, j, c in pairs])


@each("form", ["numpy", "compiled", "binned"])
@each("loss", ["hinge", "squared_hinge"])
@each("size", [1.0, 1e200, 1e-200])
def test_far_weights_keep_the_bounds(form, loss, size):
    weight = size * np.array([3e-90, 7e-91, 2e-90, 1.0, 0.3])
    sums = Mean(AllPairs(weight, form=form).on(Y), ALL_LOSSES[loss]).sums(S)
    apart = mean(weight, loss) - Fraction(sums.value)
    assert apart <= Fraction(sums.value_rounding)
    assert form == "binned" or -apart <= Fraction(sums.value_rounding)


@each("least", [3e-322, 1e-290, 1e-101])
def test_weights_too_far_apart_are_refused(least):
    # Their products would be subnormal numbers, of few digits, or zero: U was off by 0.24 of 1.
    with pytest.raises(InputError, match="apart"):
        AllPairs(np.array([3 * least, least, 2 * least, 1.0, 0.3]))
    with pytest.raises(InputError, match="apart"):
        PairList(np.array([0, 1]), np.array([3, 4]), np.array([least, 1.0]))


@each("at", range(1, 9))
def test_weights_that_the_caller_changes_meanwhile_stay_what_they_were(at):
    # Evaluations of two problems met in one certificate: its gap was below minus its rounding.
    rng = np.random.default_rng(at)
    y = np.arange(300) % 3 == 0
    rows = rng.normal(size=(300, 3)) + 0.7 * y[:, None]
    given, count = rng.integers(1, 4, 300).astype(float), 0
    kept = given.copy()

    def change(step):
        nonlocal count
        count += 1
        if count == at:
            given[:] = np.where(np.arange(300) % 2, 5.0, 1.0)

    found = solve(StreamedRows(rows), y, 0.01, sample_weight=given, tol=1e-4, callback=change)
    same = solve(StreamedRows(rows), y, 0.01, sample_weight=kept, tol=1e-4)
    assert found.certificate == same.certificate


def test_lists_and_weights_are_their_own():
    i, j, weight = np.array([0, 1]), np.array([3, 4]), np.arange(1.0, 6.0)
    listed, pairs = PairList(i, j).on(Y), AllPairs(weight).on(Y)
    i[:], j[:], weight[:] = 2, 3, 1.0
    assert (listed.i.tolist(), listed.j.tolist()) == ([0, 1], [3, 4])
    assert pairs.weight is not None and np.array_equal(pairs.weight, np.arange(1.0, 6.0))
