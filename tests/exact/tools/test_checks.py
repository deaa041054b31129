from __future__ import annotations

import numpy as np
import pytest

from aucert.exact.errors import InputError
from aucert.exact.spaces.kernels import check_gamma
from aucert.exact.structured import check_structure
from aucert.exact.tools.checks import check_choice, check_count, check_number
from loops import each


@each("value", [1, 0.5, np.float32(0.5), np.int64(2)])
def test_numbers_of_every_kind_are_taken(value) -> None:
    assert check_number("step", value) == float(value)


@each("value", [True, "1", None, 1j, [1.0], np.nan, np.inf, 0.0, -1])
def test_what_is_no_positive_finite_number_is_refused(value) -> None:
    with pytest.raises(InputError, match="step must be"):
        check_number("step", value)


@each(
    ("closed", "low_allowed", "high_allowed"),
    [("neither", False, False), ("low", True, False), ("high", False, True), ("both", True, True)],
)
def test_only_closed_ends_are_allowed(closed: str, low_allowed: bool, high_allowed: bool) -> None:
    for value, allowed in ((0, low_allowed), (0.5, True), (1, high_allowed)):
        if allowed:
            assert check_number("beta", value, 0, 1, closed=closed) == value
        else:
            with pytest.raises(InputError, match=r"beta must be >=? 0 and <=? 1"):
                check_number("beta", value, 0, 1, closed=closed)


def test_counts_are_whole_numbers() -> None:
    assert check_count("max_iter", np.int32(3)) == 3
    for bad in (0, 2.0, "3", True, None):
        with pytest.raises(InputError, match="max_iter must be a whole number >= 1"):
            check_count("max_iter", bad)
    with pytest.raises(InputError, match=r"max_iter must be a whole number <= 2\^62"):
        check_count("max_iter", 10**30)


def test_whole_numbers_beyond_all_floats_are_infinite() -> None:
    with pytest.raises(InputError, match="lam must be > 0"):
        check_number("lam", 10**400)
    with pytest.raises(InputError, match="gamma must be > 0 and finite"):
        check_gamma(10**400)
    with pytest.raises(InputError, match="structure must be >= 0"):
        check_structure(10**400)
    check_gamma(10**30)
    assert check_structure(10**30) == 1e30


def test_choices_are_named_in_the_message() -> None:
    assert check_choice("keep", "best", ("best", "last")) == "best"
    for bad in ("first", None, 1, ["best"]):
        with pytest.raises(InputError, match="keep must be one of best, last"):
            check_choice("keep", bad, ("best", "last"))
