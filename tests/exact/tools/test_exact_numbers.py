"""Floats as whole numbers: nothing is lost, and what is rounded is rounded outward."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import scipy.sparse as sp

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
from loops import each

LISTS = {
    "few": [1.5, -3.0, 0.0, 1e-3],
    "far apart": [1e300, -1e-300, 5e-324, 2.0**1000, 0.0],
    "zeros": [0.0, -0.0],
    "one": [-0.1],
    "whole": [3.0, -12.0, 2.0**53],
    "close": list(np.linspace(1, 2, 50)),
}


@each("name", LISTS)
def test_every_float_is_a_whole_number_of_one_unit(name: str) -> None:
    m, e = whole_numbers_of(np.array(LISTS[name]))
    assert all(type(x) is int for x in m.tolist())
    assert [x * power_of_two(e) for x in m.tolist()] == [Fraction(x) for x in LISTS[name]]


@each("sparse", [False, True])
def test_products_with_a_matrix_lose_nothing(sparse: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 4)) * 10.0 ** rng.integers(-100, 100, size=(6, 4))
    X[rng.uniform(size=X.shape) < 0.4] = 0.0
    w = rng.normal(size=4) * 10.0 ** rng.integers(-60, 60, size=4)
    rows = ExactColumns(sp.csr_matrix(X) if sparse else X)
    scores, e = rows.scores(w)
    truth = [sum(Fraction(x) * Fraction(a) for x, a in zip(row, w, strict=True)) for row in X]
    assert e <= 0 and [x * power_of_two(e) for x in scores.tolist()] == truth
    c = np.array([1, -2, 3, 10**30, 0, 7], dtype=object)
    pulled = [m * power_of_two(e) for m, e in rows.pull(c)]
    expected = [sum(Fraction(x) * a for x, a in zip(column, c, strict=True)) for column in X.T]
    assert pulled == expected
    assert sum_of_squares(rows.pull(c)) == sum(x**2 for x in expected)
    assert rows.ranges() == [(Fraction(min(x)), Fraction(max(x))) for x in X.T]


@each("value", [Fraction(1, 3), Fraction(-7, 11), Fraction(5, 4), Fraction(0)])
def test_a_fraction_lies_between_its_neighbours(value: Fraction) -> None:
    low, high = float_below(value), float_above(value)
    assert Fraction(low) <= value <= Fraction(high) and high <= np.nextafter(low, np.inf)
    assert (low == high) == (Fraction(float(value)) == value)
    assert Fraction(decimal_below(value)) <= value <= Fraction(decimal_above(value))
    assert Fraction(decimal_above(value)) - Fraction(decimal_below(value)) <= Fraction(1, 10**24)


@each("value", [Fraction(2), Fraction(1, 10**300), Fraction(9, 4), Fraction(0)])
def test_a_root_is_at_least_the_root_and_next_to_it(value: Fraction) -> None:
    root = root_above(value)
    assert value <= root**2 <= value * (1 + Fraction(1, 2**70))
