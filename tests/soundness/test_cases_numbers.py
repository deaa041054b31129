"""Every number of a certificate is true by itself, and `certified` means the relative gap."""

from __future__ import annotations

import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from aucert.exact import ROCSVM, certify, exact_certificate, lam_from_C, linear_problem, solve
from aucert.exact.certificate.solution import Recorder, Status


def _rows(seed: int, n: int = 30) -> tuple[np.ndarray, np.ndarray]:
    rng, y = np.random.default_rng(seed), np.arange(n) % 2
    X = rng.normal(size=(n, 3))
    X[:, 0] += y
    return X, y


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "square"])
def test_bounds_hold_without_their_rounding(loss: str) -> None:
    for seed in range(12):
        X, y = _rows(seed)
        solution = solve(X, y, 1e-2, loss=loss)
        held = solution.certificate
        true = exact_certificate(linear_problem(X, y, 1e-2, loss), solution)
        upper, lower = Fraction(held.primal), Fraction(held.dual)
        assert lower <= true.primal <= upper <= true.primal + Fraction(held.rounding)
        assert Fraction(held.gap) >= upper - lower
        assert held.relative_gap is not None
        assert Fraction(held.relative_gap) * true.primal >= true.primal - lower
        assert Fraction(held.radius) ** 2 * Fraction(1e-2) >= 2 * (upper - lower)


def test_printed_numbers_stay_bounds_at_any_number_of_digits() -> None:
    X, y = _rows(0)
    held = solve(X, y, 1e-2).certificate
    for digits in (1, 3, 6, 12, 17, 25):
        most, least = (part.split(" ")[-1] for part in f"{held:{digits}}".split(", ")[:2])
        assert Decimal(most) >= Decimal(held.primal) and Decimal(least) <= Decimal(held.dual)
    assert str(held) == f"{held:6}"


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_certified_means_the_relative_gap(loss: str) -> None:
    rng, y = np.random.default_rng(0), np.arange(200) % 2
    X = rng.normal(size=(200, 2)) + 8 * y[:, None]
    solution = solve(X, y, 1e-6, loss=loss, tol=1e-2)
    held = solution.certificate
    assert held.primal < 1e-6 and held.relative_gap is not None
    assert solution.status == Status.CERTIFIED and held.relative_gap <= 1e-2
    audit = certify(X, y, 1e-6, w=3 * solution.w, loss=loss, tol=1e-2)
    assert audit.status != "certified" and (audit.relative_gap or 0) > 0.8


def test_separable_rows_with_a_large_C_are_solved_to_the_hard_margin() -> None:
    rng, y = np.random.default_rng(1), np.arange(60) % 2
    X = np.c_[2.0 * y - 1, rng.normal(size=(60, 3))]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for C in (1e3, 1e15):
            model = ROCSVM(lam=lam_from_C(C, 900)).fit(X, y)
            assert model.status_ == Status.CERTIFIED
            assert (model.certificate_.relative_gap or 0) <= 1e-9
            assert model.coef_[0] == pytest.approx([0.5, 0, 0, 0], abs=1e-4)


def test_an_optimum_of_zero_stalls_with_its_gap() -> None:
    X, y = np.array([[0.0], [1.0]]), np.array([0, 1])
    solution = solve(X, y, 1e-50, loss="squared_hinge")
    assert solution.status == Status.STALLED and solution.certificate.relative_gap == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["logistic", "smooth_hinge"])
def test_the_excess_of_a_smooth_loss_in_bins_is_in_the_rounding(loss: str) -> None:
    rng, n = np.random.default_rng(0), 2200
    y = np.arange(n) % 2 == 1
    for far in (0.0, 1e6):
        x = rng.normal(size=n) + 5 * y
        x[:2], x[2:4] = -far, far
        audit = certify(x[:, None], y.astype(int), 1e-9, w=[1.0], loss=loss, refine=False)
        t = x[y].astype(np.longdouble)[:, None] - x[~y][None, :]
        z = np.maximum(0, 1 - t)
        short = np.minimum(z, 1)
        value = short * short / 2 + z - short
        if loss == "logistic":
            value = np.maximum(0, -t) + np.log1p(np.exp(-np.abs(t)))
        true = float(value.mean()) + 0.5e-9
        assert audit.primal is not None
        assert audit.primal - audit.rounding <= true <= audit.primal


def test_the_excess_of_the_hinge_over_many_rows_is_in_the_rounding() -> None:
    rng, n = np.random.default_rng(0), 300_002
    y = np.arange(n) % 2
    x = rng.normal(size=n) + y
    kept = certify(x[:, None], y, 1e-3, w=[1.0], refine=False)
    up, low = np.sort(x[y == 1]), np.sort(x[y == 0])
    # Sums over pairs with s_j > s_i - 1, by running sums of the sorted scores.
    after = np.concatenate([np.cumsum(low[::-1].astype(np.longdouble))[::-1], [0]])
    at = np.searchsorted(low, up - 1, side="right")
    count = (low.size - at).astype(np.longdouble)
    true = float((count * (1 - up) + after[at]).sum() / (up.size * low.size)) + 0.5e-3
    assert kept.primal is not None
    assert kept.primal - kept.rounding <= true <= kept.primal


def test_a_recorder_without_points_is_near_nothing() -> None:
    recorder = Recorder()
    assert not recorder.near(1e-3) and not recorder.near(np.inf)
