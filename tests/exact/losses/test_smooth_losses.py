"""Logistic loss, smooth hinge and exponential loss: contract, sums, certificates."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from aucert.exact import AllPairs, Certificate, InputError, Minorant, PairList, linear_problem
from aucert.exact.losses.loss import check_loss, loss_slip, shrunk_dual, steepness
from aucert.exact.losses.registry import ALL_LOSSES, SMOOTH_LOSSES, Exponential, SmoothHinge
from aucert.exact.pairs.all_pairs import enumerated
from aucert.exact.problem.risk import Mean
from decimal_losses import power_of_e
from loops import each
from naive import exact

LOSSES = [*SMOOTH_LOSSES.values(), SmoothHinge(0.25)]
MARGINS = np.concatenate([np.linspace(-30, 40, 141), [0.0, 1.0, 1 - 1e-12, 1e-300, -1e-12]])


def written(loss, t: float) -> float:
    """Return the loss as a reader would write it."""
    if loss.name == "logistic":
        return math.log1p(math.exp(-t))
    if loss.name == "exponential":
        return math.exp(-t)
    if t >= 1:
        return 0.0
    return (1 - t) ** 2 / (2 * loss.corner) if t > 1 - loss.corner else 1 - t - loss.corner / 2


@each("loss", LOSSES, ids=str)
def test_value_slope_and_dual_belong_together(loss) -> None:
    value, alpha = loss.value(MARGINS), loss.alpha(MARGINS)
    assert value == pytest.approx([written(loss, t) for t in MARGINS], rel=1e-14, abs=1e-300)
    step = 1e-6 * (1 + np.abs(MARGINS))
    slope = (loss.value(MARGINS + step) - loss.value(MARGINS - step)) / (2 * step)
    assert -slope == pytest.approx(alpha, rel=1e-4, abs=1e-5)
    assert np.array_equal(loss.clip(alpha), alpha) and (alpha >= 0).all()
    size = 1e-14 * (1 + value + alpha * (1 + np.abs(MARGINS)))
    assert (np.abs(value - (loss.dual(alpha) - alpha * MARGINS)) <= size).all()
    assert float(loss.dual(np.zeros(1))[0]) == 0


@each("loss", [*ALL_LOSSES.values(), SmoothHinge(0.25)], ids=str)
def test_fenchel_holds_for_every_feasible_alpha(loss) -> None:
    """loss(t) >= dual(alpha) - alpha t, which is all that a certificate rests on."""
    alpha = loss.clip(np.linspace(-5, 9, 141))[None, :]
    t = MARGINS[:, None]
    lower = loss.dual(alpha) - alpha * t
    assert (loss.value(t) >= lower - 1e-13 * (1 + np.abs(lower) + loss.value(t))).all()


@each("loss", [loss for loss in LOSSES if np.isfinite(loss.lipschitz)], ids=str)
def test_smoothness_and_slope_are_bounds(loss) -> None:
    t = np.linspace(-5, 5, 20001)
    alpha = loss.alpha(t)
    assert np.abs(alpha).max() <= loss.lipschitz
    steepest = float(np.abs(np.diff(alpha) / np.diff(t)).max())
    assert 0.99 * loss.smoothness <= steepest <= loss.smoothness * (1 + 1e-9)
    check_loss(loss)


@each("loss", LOSSES, ids=str)
def test_a_shrunk_dual_point_is_not_overvalued(loss) -> None:
    alpha, c = loss.alpha(np.linspace(-2, 3, 50)), np.full(50, 0.02)
    p, q = shrunk_dual(loss, float(c @ alpha), float(c @ loss.dual(alpha)))
    for s in np.linspace(0, 1, 21):
        assert float(c @ loss.dual(s * alpha)) >= s * p - s**2 * q - 1e-13


@each("corner", [0.0, -1.0, math.nan, math.inf, 1e-9])
def test_a_corner_out_of_range_is_refused(corner: float) -> None:
    with pytest.raises(InputError, match="corner"):
        SmoothHinge(corner)


def test_steepness_without_bounds_is_that_of_the_ends() -> None:
    t, slip = np.array([0.0, 2.0]), np.array([0.5, 0.1])
    assert steepness(Exponential(), t, slip) == pytest.approx(np.exp(-t + slip))


def test_errors_of_scores_multiply_the_exponential_loss() -> None:
    rng = np.random.default_rng(0)
    s, positive = rng.normal(size=20), np.arange(20) < 7
    pairs = AllPairs().on(positive)
    error = np.full(20, 1e-3)
    value = pairs.sums(s, Exponential()).value
    slip = loss_slip(Exponential(), pairs.row_mass(), error, value)
    worst = pairs.sums(np.where(positive, s - error, s + error), Exponential()).value
    assert 0.999 * slip <= worst - value <= slip
    with pytest.raises(InputError, match="cannot be bounded"):
        loss_slip(Exponential(), pairs.row_mass(), np.full(20, 400.0), value)


@each("scale", [1e-6, 0.3, 5.0, 100.0])
@each("kind", range(3))
def test_the_exponential_loss_factorises(scale: float, kind: int) -> None:
    rng = np.random.default_rng(kind)
    positive = np.arange(40) % 4 == 0
    weight = [None, rng.integers(0, 4, 40) + 0.0, rng.uniform(0, 1, 40)][kind]
    s = np.round(rng.normal(size=40), 1) * scale
    pairs, loss = AllPairs(weight).on(positive), Exponential()
    found, true = pairs.sums(s, loss), enumerated(pairs, s, loss, 0.0)
    assert (
        abs(found.value - true.value) <= found.value_rounding <= 1e-10 * scale * true.value + 1e-12
    )
    assert np.abs(found.c - true.c).sum() <= found.rounding
    assert abs(found.conjugate - true.conjugate) <= found.conjugate_rounding
    assert found.value == pytest.approx(true.value, rel=1e-11)


@each("worst", [3.0, 300.0, 600.0])
def test_long_scores_of_the_exponential_loss_round_as_floats(worst: float) -> None:
    rng, off = np.random.default_rng(5), 0
    risk = Mean(AllPairs().on(np.array([True, False])), SMOOTH_LOSSES["exponential"])
    for third in rng.uniform(0.1, 0.9, 20):
        s = np.array([-worst * third, worst * (1 - third)], dtype=np.longdouble) / 3 * 3.0000001
        found, (upper, lower) = risk.upper(s, np.zeros(2)), exact(s)
        true = power_of_e(lower - upper)
        assert abs(true - Fraction(found.value)) <= Fraction(found.error)
        off = max(off, abs(true / Fraction(found.value) - 1))
    assert worst < 100 or off > 1e-14  # the error is there to be bounded


def test_an_overflow_of_the_exponential_loss_is_refused() -> None:
    pairs = AllPairs().on(np.array([True, False]))
    with pytest.raises(InputError, match="overflows at a margin of -800"):
        pairs.sums(np.array([0.0, 800.0]), Exponential())
    listed = PairList(np.array([0]), np.array([1])).on(np.array([True, False]))
    with pytest.raises(InputError, match="overflows at a margin of -800"):
        listed.sums(np.array([0.0, 800.0]), Exponential())
    assert pairs.sums(np.array([800.0, -800.0]), Exponential()).value == 0


def rows(seed: int, n: int = 36) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = (np.arange(n) % 3 == 0).astype(int)
    return np.round(rng.normal(size=(n, 3)) + 0.4 * y[:, None], 1), y


@each("form", ["auto", "binned"])
@each("lam", [0.001, 0.1, 10.0])
@each("loss", LOSSES, ids=str)
def test_certificates_hold_the_optimum(loss, lam: float, form: str) -> None:
    X, y = rows(int(lam * 10))
    problem = linear_problem(X, y, lam, loss, AllPairs(form=form))
    plain = linear_problem(X, y, lam, loss)

    def with_slope(w: np.ndarray) -> tuple[float, np.ndarray]:
        sums = plain.sums(plain.space.scores(w))
        slope = lam * w - plain.space.pull(sums.c)
        return sums.value + lam / 2 * plain.space.norm2(w), slope

    best = minimize(with_slope, np.zeros(3), jac=True, method="BFGS", options={"gtol": 1e-10})
    witness = Minorant.from_scores(problem, problem.space.scores(best.x))
    found = Certificate.of(problem, best.x, witness)
    assert found.dual <= best.fun <= found.primal
    assert found.gap <= (1e-8 if form == "auto" else 1e-6) * found.primal
    far = Certificate.of(problem, best.x + 0.3, Minorant.from_scores(problem, X @ np.ones(3)))
    assert far.dual <= best.fun <= far.primal
    assert np.linalg.norm(0.3 * np.ones(3)) <= far.radius


@each("form", ["auto", "binned"])
def test_logistic_regression_on_the_pairs_is_within_the_certificate(form: str) -> None:
    X, y = rows(7)
    lam = 0.05
    apart = (X[y == 1][:, None, :] - X[y == 0][None, :, :]).reshape(-1, 3)
    both, sign = np.concatenate([apart, -apart]), np.repeat([1, 0], len(apart))
    model = LogisticRegression(
        C=1 / (2 * lam * len(apart)), fit_intercept=False, tol=1e-12, max_iter=10_000
    ).fit(both, sign)
    w = model.coef_[0]
    optimum = float(np.mean(np.log1p(np.exp(-apart @ w)))) + lam / 2 * float(w @ w)
    problem = linear_problem(X, y, lam, "logistic", AllPairs(form=form))
    found = Certificate.of(problem, w, Minorant.from_scores(problem, X @ w))
    assert found.dual <= optimum <= found.primal
    assert found.gap <= 2e-9
