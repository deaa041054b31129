"""Numbers in sentences stay bounds when they are printed."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from aucert.exact.tools.wording import at_least, at_most
from loops import each


@each("digits", [1, 2, 3, 10, 15, 17, 40])
def test_a_printed_bound_stays_a_bound_and_is_off_by_less_than_a_unit(digits: int) -> None:
    rng = np.random.default_rng(0)
    for value in [*(rng.normal(size=200) * 10.0 ** rng.uniform(-20, 20, size=200)), 1.0, -0.25]:
        low, high = Fraction(at_least(value, digits)), Fraction(at_most(value, digits))
        exact = Fraction(float(value))
        assert low <= exact <= high
        assert high - low <= abs(exact) * Fraction(10) ** (1 - digits)
