"""Bounds that every certificate adds up: each is as large as what it stands for."""

from __future__ import annotations

import numpy as np
import pytest

from aucert.exact.losses.registry import HINGE, LOGISTIC
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.problem.penalties import Ridge
from aucert.exact.problem.risk import Mean
from aucert.exact.spaces.rows import Rows


def test_errors_of_scores_move_the_hinge_as_far_as_the_slip_says() -> None:
    """Below the margin the hinge is linear, so that the bound is reached."""
    positive = np.arange(12) % 3 == 0
    risk, error = Mean(AllPairs().on(positive), HINGE), np.full(12, 0.01)
    moved = risk.sums(np.where(positive, -0.01, 0.01)).value - risk.sums(np.zeros(12)).value
    assert 0.019 < moved <= risk.slip(error, 1.0) + 1e-15


def test_many_rows_pay_for_the_largest_error_where_it_costs_next_to_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    positive, error = np.arange(12) % 3 == 0, 1e-15 * rng.random(12)
    for loss in (HINGE, LOGISTIC):
        risk = Mean(AllPairs().on(positive), loss)
        fine = {upper: risk.slip(error, upper) for upper in (1.0, 1e-3, -1.0)}
        with monkeypatch.context() as patch:
            patch.setattr("aucert.exact.problem.risk.LONG_ROWS", 0)
            assert fine[1.0] < risk.slip(error, 1.0) <= 1e-13
            for upper in (1e-3, -1.0):  # what is not a small share of U is bounded row by row
                assert risk.slip(error, upper) == fine[upper]
            assert risk.slip(1e3 * error, 1.0) < 2e3 * loss.lipschitz * error.max()


@pytest.mark.long_digits
def test_the_distance_of_the_ridge_pays_for_the_norm_it_is_the_root_of() -> None:
    rng = np.random.default_rng(0)
    space, c = Rows(rng.normal(size=(40, 3))), rng.normal(size=40)
    found, error = Ridge(1.0).distance(space, c), space.dual_norm2_error(c)
    assert error > 0 and (found.value + found.error) ** 2 >= space.dual_norm2(c) + error
