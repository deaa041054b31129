"""The mean square loss with its rounding, and the gap made of it, against exact arithmetic."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.approx import FSAUC, SOLAM, SPAM
from aucert.approx.online import from_rows
from aucert.exact.solvers.convex_reference import convex_reference
from aucert.exact.square_loss.convex_square import ConvexSquare
from aucert.exact.square_loss.row_average import square_parts
from exact_square import ExactSquare
from loops import each

FAR = [0.0, 1e3, 1e8, 1e14]


def draw(seed: int, far: float, size: float = 1.0):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 30))
    positive = np.arange(n) < rng.integers(1, n)
    return size * (rng.normal(size=(n, 3)) + 0.5 * positive[:, None]) + far, positive, rng


def exact_slope(truth: ExactSquare, w: np.ndarray) -> list[Fraction]:
    x = [Fraction(value) for value in w.tolist()]
    line = 1 - sum(a * b for a, b in zip(x, truth.delta, strict=True))
    rows = zip(truth.sigma, truth.delta, strict=True)
    return [2 * sum(a * b for a, b in zip(row, x, strict=True)) - 2 * line * d for row, d in rows]


@each("sparse", [False, True])
@each("far", FAR)
def test_value_line_and_slope_are_within_their_errors(far: float, sparse: bool) -> None:
    for seed in range(12):
        X, positive, rng = draw(seed, far, 10.0 ** (seed % 4 * 5 - 5))
        w = rng.normal(size=3) * 10.0 ** rng.integers(-6, 4) * (seed != 5)
        truth = ExactSquare(X, positive)
        found = square_parts(from_rows(sp.csr_matrix(X) if sparse else X, positive), w)
        assert abs(Fraction(found.square) - truth.value(w)) <= Fraction(found.square_error)
        line = 1 - sum(Fraction(a) * b for a, b in zip(w.tolist(), truth.delta, strict=True))
        assert abs(Fraction(found.line) - line) <= Fraction(found.line_error)
        for a, b, error in zip(found.slope, exact_slope(truth, w), found.slope_error, strict=True):
            assert abs(Fraction(float(a)) - b) <= Fraction(float(error))


@each("far", FAR)
def test_rows_far_from_the_origin_lose_no_digits(far: float) -> None:
    X, positive, rng = draw(3, 0.0)
    X = np.round(X * 8) / 8  # so that the distance is added without rounding
    w = rng.normal(size=3)
    found = square_parts(from_rows(X + far, positive), w)
    near = square_parts(from_rows(X, positive), w)
    assert found.square == pytest.approx(near.square, rel=1e-13)
    assert found.square_error <= 1e-11


@each("sparse", [False, True])
@each("far", FAR)
def test_the_lower_bound_is_below_the_optimum_of_exact_arithmetic(far: float, sparse: bool) -> None:
    """With rows at 1e8 the plain numbers gave bounds that were 1e-8 above it, and gaps of zero."""
    for seed in range(8):
        X, positive, rng = draw(seed, far)
        ridge = float(10.0 ** rng.integers(-9, 2))
        truth = ExactSquare(X, positive, None, ridge)
        loss = from_rows(sp.csr_matrix(X) if sparse else X, positive)
        task = ConvexSquare(replace(loss, lam=ridge))
        near = from_rows(X - far, positive)
        best = convex_reference(ConvexSquare(replace(near, lam=ridge))).w
        for w in (best, best * (1 + 1e-7), np.zeros(3)):
            value, least = truth.value(w), truth.least(range(3))
            assert Fraction(task.lower_bound(w)) <= least
            assert value - least <= Fraction(task.gap(w))
        balls = [ConvexSquare(loss, ball=ball, radius=0.5) for ball in ("l1", "l2")]
        bare = ExactSquare(X, positive)
        for w in 0.5 * rng.dirichlet(np.ones(3), size=5) * (1 - 1e-9):
            lowest = max(ball.lower_bound(w) for ball in balls[:1])
            assert Fraction(lowest) <= min(bare.value(v) for v in (w, 0.5 * np.eye(3)[0]))
            assert Fraction(balls[1].lower_bound(w)) <= bare.value(w)
        lasso = ConvexSquare(loss, l1=0.3)
        penalty = Fraction(0.3) * sum(Fraction(abs(x)) for x in best.tolist())
        assert Fraction(lasso.lower_bound(best)) <= bare.value(best) + penalty


@each("make", [lambda: SPAM(max_passes=3), SOLAM, FSAUC])
def test_what_online_estimators_say_of_their_gap_has_its_rounding(make) -> None:
    X, positive, _ = draw(1, 0.0)
    model = make().set_params(random_state=0).fit(X, positive)
    assert model.lower_bound_ <= model.objective_ - model.gap_
    assert model.proved_ == (model.gap_ <= 1e-9)
