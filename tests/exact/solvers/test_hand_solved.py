"""Problems small enough to be solved by hand; the derivations are in the docstrings."""

from __future__ import annotations

import numpy as np
import pytest

from aucert.exact.api.solve import solve
from loops import each

ONE_EACH = (np.array([[2.0], [0.0]]), np.array([1, 0]))
TWO_EACH = (np.array([[2.0], [0.0], [1.0], [-1.0]]), np.array([1, 1, 0, 0]))


@each(
    ("lam", "w", "optimum"),
    [(1.0, 1 / 2, 1 / 8), (4.0, 1 / 2, 1 / 2), (8.0, 1 / 4, 3 / 4)],
)
def test_one_pair_with_the_hinge(lam: float, w: float, optimum: float) -> None:
    """One pair with difference d = 2: F(w) = lam w^2 / 2 + max(0, 1 - 2 w).

    Left of the kink at 1/2 the slope is lam w - 2, zero at w = 2 / lam. It is reached before the
    kink if lam >= 4: F = 1 - 2 / lam. Otherwise w = 1/2 and F = lam / 8.
    """
    solution = solve(*ONE_EACH, lam)
    assert solution.w == pytest.approx([w], rel=1e-6)
    assert solution.certificate.primal == pytest.approx(optimum, rel=1e-9)
    assert solution.certificate.dual == pytest.approx(optimum, rel=1e-9)


@each("loss", ["squared_hinge", "square"])
def test_one_pair_with_the_squares(loss: str) -> None:
    """F(w) = lam w^2 / 2 + (1 - 2 w)^2 has slope lam w - 4 (1 - 2 w), zero at w = 4 / (lam + 8).

    lam = 8: w = 1/4, F = 1/4 + 1/4; the margin 1/2 is below one, so both losses are the same.
    """
    solution = solve(*ONE_EACH, 8.0, loss=loss)
    assert solution.w == pytest.approx([1 / 4], rel=1e-9)
    assert solution.certificate.primal == pytest.approx(1 / 2, rel=1e-12)


@each(
    ("lam", "w", "optimum"),
    [
        (4.0, 1 / 4, 7 / 8),
        (2.0, 1 / 3, 7 / 9),
        (1 / 2, 1 / 2, 11 / 16),
        (1 / 8, 1.0, 9 / 16),
    ],
)
def test_four_pairs_with_the_hinge(lam: float, w: float, optimum: float) -> None:
    """Positives 2 and 0, negatives 1 and -1: the differences are 1, 3, -1, 1.

    For w >= 0 the mean hinge is [2 (1-w)+ + (1-3w)+ + (1+w)] / 4:
      1 - w on [0, 1/3], (3 - w) / 4 on [1/3, 1], (1 + w) / 4 beyond.
    lam = 4:   lam w = 1 at w = 1/4, inside the first piece: F = 1/8 + 3/4.
    lam = 2:   at 1/3 the slope jumps from 2/3 - 1 to 2/3 - 1/4: the kink, F = 1/9 + 2/3.
    lam = 1/2: lam w = 1/4 at w = 1/2, inside the second: F = 1/16 + 5/8.
    lam = 1/8: at 1 the slope jumps from 1/8 - 1/4 to 1/8 + 1/4: the kink, F = 1/16 + 1/2.
    """
    solution = solve(*TWO_EACH, lam)
    assert solution.w == pytest.approx([w], rel=1e-5)
    assert solution.certificate.primal == pytest.approx(optimum, rel=1e-9)
    assert solution.certificate.dual == pytest.approx(optimum, rel=1e-9)


def test_four_pairs_with_the_squared_hinge() -> None:
    """The same four differences. While w < 1/3 all pairs are active: the mean is

    [2 (1-w)^2 + (1-3w)^2 + (1+w)^2] / 4 = 1 - 2 w + 3 w^2,

    with slope -2 + 6 w, so lam w = 2 - 6 w at w = 2 / (6 + lam). lam = 2: w = 1/4 and
    F = 1/16 + 1 - 1/2 + 3/16 = 3/4.
    """
    solution = solve(*TWO_EACH, 2.0, loss="squared_hinge")
    assert solution.w == pytest.approx([1 / 4], rel=1e-6)
    assert solution.certificate.primal == pytest.approx(3 / 4, rel=1e-12)


def test_four_pairs_with_weights() -> None:
    """Weights 3 and 1 on the positives 2 and 0: the pair weights are 3/8, 3/8, 1/8, 1/8.

    Differences 1 (3/8), 3 (3/8), -1 (1/8), 1 (1/8). On [1/3, 1] the mean hinge is
    (1-w)/2 + (1+w)/8, of slope -3/8. lam = 3/4: w = 1/2, F = 3/32 + 1/4 + 3/16 = 17/32.
    """
    solution = solve(*TWO_EACH, 3 / 4, sample_weight=np.array([3.0, 1.0, 5.0, 5.0]))
    assert solution.w == pytest.approx([1 / 2], rel=1e-5)
    assert solution.certificate.primal == pytest.approx(17 / 32, rel=1e-9)
