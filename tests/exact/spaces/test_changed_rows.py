"""Rows are not copied: an array that is changed while it is computed with is noticed."""

from __future__ import annotations

import numpy as np
import pytest

from aucert.exact import solve
from aucert.exact.errors import InputError
from aucert.exact.spaces.rows import Rows
from loops import each


@each("number", [1e-3, 0.0, -5.0])
def test_careful_sums_refuse_rows_that_have_changed(number: float) -> None:
    X = np.random.default_rng(0).normal(size=(300, 3))
    rows, c = Rows(X), np.linspace(-1, 1, 300)
    rows.careful_scores(np.ones(3))
    X[299, 1] = number
    with pytest.raises(InputError, match="changed while it was computed with"):
        rows.careful_scores(np.ones(3))
    for asked in (rows.dual_norm2, rows.careful_pull, lambda c: rows.careful_norm2(c, 0.0, 0.0)):
        with pytest.raises(InputError, match="hand over a copy"):
            asked(c)


def test_a_callback_that_changes_the_rows_gets_no_certificate_of_two_matrices() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 4))
    y = X[:, 0] + rng.normal(size=80) > 0

    def spoiling(step: object) -> None:
        X[:40] *= 0.5

    with pytest.raises(InputError, match="changed"):
        solve(X, y, 1e-3, tol=1e-13, callback=spoiling)
