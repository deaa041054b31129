"""Numbers, counts and words that are given as parameters, and how bounds are printed."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from aucert.exact.errors import InputError
from aucert.exact.spaces.kernels import check_gamma
from aucert.exact.structured import check_structure
from aucert.exact.tools.checks import check_choice, check_count, check_number
from aucert.exact.tools.wording import at_least, at_most
from loops import each


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


@each("closed", ["neither", "low", "high", "both"])
def test_only_closed_ends_are_allowed(closed: str) -> None:
    ends = (0, closed in ("low", "both")), (1, closed in ("high", "both"))
    for value, allowed in (*ends, (0.5, True)):
        if allowed:
            assert check_number("beta", value, 0, 1, closed=closed) == value
        else:
            with pytest.raises(InputError, match=r"beta must be >=? 0 and <=? 1"):
                check_number("beta", value, 0, 1, closed=closed)


def test_whole_numbers_beyond_all_floats_are_infinite() -> None:
    for name, check in (
        ("lam", lambda x: check_number("lam", x)),
        ("gamma", check_gamma),
        ("structure", check_structure),
    ):
        with pytest.raises(InputError, match=f"{name} must be >"):
            check(10**400)
        assert check(10**30) == 1e30


@each("digits", [1, 2, 3, 10, 15, 17, 40])
def test_a_printed_bound_stays_a_bound_and_is_off_by_less_than_a_unit(digits: int) -> None:
    rng = np.random.default_rng(0)
    for value in [*(rng.normal(size=200) * 10.0 ** rng.uniform(-20, 20, size=200)), 1.0, -0.25]:
        low, high = Fraction(at_least(value, digits)), Fraction(at_most(value, digits))
        exact = Fraction(float(value))
        assert low <= exact <= high
        assert high - low <= abs(exact) * Fraction(10) ** (1 - digits)
