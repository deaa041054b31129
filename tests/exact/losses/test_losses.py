"""Losses: value, slope, conjugate and box belong together."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from aucert.exact.errors import InputError
from aucert.exact.losses.loss import check_loss
from aucert.exact.losses.registry import ALL_LOSSES, HINGE, LOSSES, get_loss
from loops import each
from naive import loss_alpha, loss_dual, loss_value

MARGINS = np.concatenate([np.linspace(-3, 4, 57), [1.0, 1 - 1e-12, 1 + 1e-12]])


@each("loss", LOSSES)
def test_value_slope_and_dual_are_the_written_ones(loss: str) -> None:
    chosen = LOSSES[loss]
    for t in MARGINS:
        exact_t = Fraction(float(t))
        assert float(chosen.value(t)) == pytest.approx(float(loss_value(loss, exact_t)), abs=1e-15)
        alpha = float(chosen.alpha(np.asarray(t)))
        assert alpha == pytest.approx(float(loss_alpha(loss, exact_t)), abs=1e-15)
        exact_alpha = Fraction(alpha)
        dual = float(chosen.dual(np.asarray(alpha)))
        assert dual == pytest.approx(float(loss_dual(loss, exact_alpha)), abs=1e-14)


@each("loss", LOSSES)
@each("width", [0.0, 0.1, 3.0])
def test_suggested_alpha_is_in_its_box(loss: str, width: float) -> None:
    chosen = LOSSES[loss]
    alpha = chosen.alpha(MARGINS, width)
    assert np.array_equal(chosen.clip(alpha), alpha)


@each("width", [0.1, 3.0])
def test_smoothed_hinge_slope_is_a_ramp_around_the_margin(width: float) -> None:
    t = np.array([1 - width, 1 - width / 2, 1 - width / 4, 1.0, 1 + width / 4, 1 + width])
    assert HINGE.alpha(t, width) == pytest.approx([1, 1, 0.75, 0.5, 0.25, 0], abs=1e-12)


def test_clipping_is_the_nearest_feasible_alpha() -> None:
    alpha = np.array([-1.0, 0.25, 7.0])
    assert LOSSES["hinge"].clip(alpha).tolist() == [0.0, 0.25, 1.0]
    assert LOSSES["squared_hinge"].clip(alpha).tolist() == [0.0, 0.25, 7.0]
    assert LOSSES["square"].clip(alpha).tolist() == [-1.0, 0.25, 7.0]


@each("loss", ALL_LOSSES)
def test_our_losses_keep_the_contract_of_any_loss(loss: str) -> None:
    assert check_loss(ALL_LOSSES[loss]) is ALL_LOSSES[loss]


def test_losses_by_name() -> None:
    assert get_loss("hinge") is HINGE and get_loss(HINGE) is HINGE
    with pytest.raises(InputError, match="loss must be one of hinge"):
        get_loss("huber")
