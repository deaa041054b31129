"""Numbers as parameters, as whole numbers that lose nothing, and as printed bounds."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact.errors import InputError
from aucert.exact.spaces.kernels import Gaussian
from aucert.exact.structured import check_structure
from aucert.exact.tools.checks import check_choice, check_count, check_number
from aucert.exact.tools.exact_numbers import (
    ExactColumns,
    decimal_above,
    decimal_below,
    float_above,
    float_below,
    power_of_two,
    root_above,
    sum_of_squares,
    whole_numbers_of,
)
from aucert.exact.tools.wording import at_least, at_most


def test_numbers_of_every_kind_are_taken_and_nothing_else() -> None:
    for value in (1, 0.5, np.float32(0.5), np.int64(2)):
        assert check_number("step", value) == float(value)
    for value in (True, "1", None, 1j, [1.0], np.nan, np.inf, 0.0, -1):
        with pytest.raises(InputError, match="step must be"):
            check_number("step", value)
    assert check_count("max_iter", np.int32(3)) == 3
    for bad in (0, 2.0, "3", True, None, 10**30):
        with pytest.raises(InputError, match="max_iter must be a whole number"):
            check_count("max_iter", bad)
    assert check_choice("keep", "best", ("best", "last")) == "best"
    for bad in ("first", None, 1, ["best"]):
        with pytest.raises(InputError, match="keep must be one of best, last"):
            check_choice("keep", bad, ("best", "last"))
    for closed in ("neither", "low", "high", "both"):
        ends = (0, closed in ("low", "both")), (1, closed in ("high", "both"))
        for value, allowed in (*ends, (0.5, True)):
            if allowed:
                assert check_number("beta", value, 0, 1, closed=closed) == value
            else:
                with pytest.raises(InputError, match=r"beta must be >=? 0 and <=? 1"):
                    check_number("beta", value, 0, 1, closed=closed)
    # Whole numbers beyond all floats are infinite.
    for check in (lambda x: check_number("lam", x), lambda x: Gaussian(x).gamma, check_structure):
        with pytest.raises(InputError, match="must be >"):
            check(10**400)
        assert check(10**30) == 1e30


def test_a_printed_bound_stays_a_bound_and_is_off_by_less_than_a_unit() -> None:
    rng = np.random.default_rng(0)
    for digits in (1, 2, 3, 10, 15, 17, 40):
        for value in [*(rng.normal(size=99) * 10.0 ** rng.uniform(-20, 20, size=99)), 1.0, -0.25]:
            low, high = Fraction(at_least(value, digits)), Fraction(at_most(value, digits))
            exact = Fraction(float(value))
            assert low <= exact <= high
            assert high - low <= abs(exact) * Fraction(10) ** (1 - digits)


def test_every_float_is_a_whole_number_of_one_unit() -> None:
    for values in (
        [1.5, -3.0, 0.0, 1e-3],
        [1e300, -1e-300, 5e-324, 2.0**1000, 0.0],
        [0.0, -0.0],
        [-0.1],
        [3.0, -12.0, 2.0**53],
        list(np.linspace(1, 2, 50)),
    ):
        m, e = whole_numbers_of(np.array(values))
        assert all(type(x) is int for x in m.tolist())
        assert [x * power_of_two(e) for x in m.tolist()] == [Fraction(x) for x in values]


def test_products_with_a_matrix_lose_nothing() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 4)) * 10.0 ** rng.integers(-100, 100, size=(6, 4))
    X[rng.uniform(size=X.shape) < 0.4] = 0.0
    w = rng.normal(size=4) * 10.0 ** rng.integers(-60, 60, size=4)
    c = np.array([1, -2, 3, 10**30, 0, 7], dtype=object)
    truth = [sum(Fraction(x) * Fraction(a) for x, a in zip(row, w, strict=True)) for row in X]
    expected = [sum(Fraction(x) * a for x, a in zip(column, c, strict=True)) for column in X.T]
    for rows in (ExactColumns(X), ExactColumns(sp.csr_matrix(X))):
        scores, e = rows.scores(w)
        assert e <= 0 and [x * power_of_two(e) for x in scores.tolist()] == truth
        assert [m * power_of_two(e) for m, e in rows.pull(c)] == expected
        assert sum_of_squares(rows.pull(c)) == sum(x**2 for x in expected)
        assert rows.ranges() == [(Fraction(min(x)), Fraction(max(x))) for x in X.T]


def test_a_fraction_lies_between_its_neighbours_and_a_root_is_not_below() -> None:
    for value in (Fraction(1, 3), Fraction(-7, 11), Fraction(5, 4), Fraction(0)):
        low, high = float_below(value), float_above(value)
        assert Fraction(low) <= value <= Fraction(high) and high <= np.nextafter(low, np.inf)
        assert (low == high) == (Fraction(float(value)) == value)
        below, above = Fraction(decimal_below(value)), Fraction(decimal_above(value))
        assert below <= value <= above <= below + Fraction(1, 10**24)
    for value in (Fraction(2), Fraction(1, 10**300), Fraction(9, 4), Fraction(0)):
        assert value <= root_above(value) ** 2 <= value * (1 + Fraction(1, 2**70))
