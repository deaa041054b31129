"""Losses, ours and one's own: value, slope, conjugate and box belong together, and certify."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from aucert.exact import AllPairs, Certificate, Minorant, PairList, linear_problem
from aucert.exact.errors import InputError, TooLargeError
from aucert.exact.losses.registry import (
    ALL_LOSSES,
    HINGE,
    LOSSES,
    SMOOTH_LOSSES,
    Exponential,
    Hinge,
    SmoothHinge,
    check_loss,
    get_loss,
    loss_slip,
    shrunk_dual,
    steepness,
)
from aucert.exact.pairs import all_pairs
from aucert.exact.problem.risk import Mean
from decimal_losses import loss_of, power_of_e
from loops import each, refuses
from naive import exact, loss_alpha, loss_dual
from own_parts import RoundedHinge

SMOOTH = [*SMOOTH_LOSSES.values(), SmoothHinge(0.25)]
EVERY = [*ALL_LOSSES.values(), SmoothHinge(0.25)]
MARGINS = np.concatenate([np.linspace(-30, 40, 141), [0.0, 1.0, 1 - 1e-12, 1e-300, -1e-12]])


@each("loss", EVERY, ids=str)
def test_value_slope_and_dual_belong_together(loss: Any) -> None:
    value, alpha = loss.value(MARGINS), loss.alpha(MARGINS)
    corner = Fraction(getattr(loss, "corner", 1))
    true = [float(loss_of(loss.name, Fraction(t), corner)) for t in MARGINS]
    assert value == pytest.approx(true, rel=1e-14, abs=1e-300)
    size = 1e-14 * (1 + value + np.abs(alpha) * (1 + np.abs(MARGINS)))
    assert (np.abs(value - (loss.dual(alpha) - alpha * MARGINS)) <= size).all()
    assert float(loss.dual(np.zeros(1))[0]) == 0 and check_loss(loss) is loss
    for width in (0.0, 0.1, 3.0):
        assert np.array_equal(loss.clip(loss.alpha(MARGINS, width)), loss.alpha(MARGINS, width))
    # loss(t) >= dual(alpha) - alpha t for all that is feasible: all that a certificate rests on.
    feasible = loss.clip(np.linspace(-5, 9, 141))[None, :]
    lower = loss.dual(feasible) - feasible * MARGINS[:, None]
    assert (value[:, None] >= lower - 1e-13 * (1 + np.abs(lower) + value[:, None])).all()
    p, q = shrunk_dual(loss, float(alpha.sum()), float(loss.dual(alpha).sum()))
    for s in np.linspace(0, 1, 21):
        assert float(loss.dual(s * alpha).sum()) >= s * p - s**2 * q - 1e-10 * (1 + abs(q))
    if loss.name in LOSSES:
        for t, a in zip(MARGINS.tolist(), alpha.tolist(), strict=True):
            assert a == pytest.approx(float(loss_alpha(loss.name, Fraction(t))), abs=1e-14)
            dual = float(loss_dual(loss.name, Fraction(a)))
            assert float(loss.dual(np.asarray(a))) == pytest.approx(dual, rel=1e-14)
    else:
        step = 1e-6 * (1 + np.abs(MARGINS))
        slope = (loss.value(MARGINS + step) - loss.value(MARGINS - step)) / (2 * step)
        assert -slope == pytest.approx(alpha, rel=1e-4, abs=1e-5) and (alpha >= 0).all()
    if np.isfinite(loss.smoothness) and np.isfinite(loss.lipschitz):
        t = np.linspace(-5, 5, 20001)
        alpha = loss.alpha(t)
        steepest = float(np.abs(np.diff(alpha) / np.diff(t)).max())
        assert np.abs(alpha).max() <= loss.lipschitz
        assert 0.99 * loss.smoothness <= steepest <= loss.smoothness * (1 + 1e-9)


def test_ramps_boxes_names_and_steepness() -> None:
    for width in (0.1, 3.0):
        t = 1 + width * np.array([-1, -0.5, -0.25, 0, 0.25, 1])
        assert HINGE.alpha(t, width) == pytest.approx([1, 1, 0.75, 0.5, 0.25, 0], abs=1e-12)
    alpha = np.array([-1.0, 0.25, 7.0])
    boxes = {"hinge": [0.0, 0.25, 1.0], "squared_hinge": [0.0, 0.25, 7.0], "square": [-1, 0.25, 7]}
    assert {name: LOSSES[name].clip(alpha).tolist() for name in boxes} == boxes
    assert get_loss("hinge") is HINGE and get_loss(HINGE) is HINGE
    for corner in (0.0, -1.0, np.nan, np.inf, 1e-9):
        refuses("corner", SmoothHinge, corner)
    t, slip = np.array([0.0, 2.0]), np.array([0.5, 0.1])
    assert steepness(Exponential(), t, slip) == pytest.approx(np.exp(-t + slip))


def test_errors_of_scores_multiply_the_exponential_loss_and_overflows_are_refused() -> None:
    s, positive = np.random.default_rng(0).normal(size=20), np.arange(20) < 7
    pairs, error = AllPairs().on(positive), np.full(20, 1e-3)
    value = pairs.sums(s, Exponential()).value
    slip = loss_slip(Exponential(), pairs.row_mass(), error, value)
    worst = pairs.sums(np.where(positive, s - error, s + error), Exponential()).value
    assert 0.999 * slip <= worst - value <= slip
    with pytest.raises(InputError, match="cannot be bounded"):
        loss_slip(Exponential(), pairs.row_mass(), np.full(20, 400.0), value)
    two = np.array([True, False])
    for some in (AllPairs().on(two), PairList(np.array([0]), np.array([1])).on(two)):
        refuses("overflows at a margin of -800", some.sums, np.array([0.0, 800.0]), Exponential())
        assert some.sums(np.array([800.0, -800.0]), Exponential()).value == 0


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


@dataclass(frozen=True)
class Own(RoundedHinge):
    name: str = field(default="own_smooth_hinge", init=False)


# max(0, 1/2 - t): the best scale of a dual point is not that of the hinge.
LATE: dict[str, Any] = {
    "smoothness": np.inf,
    "value": lambda self, t: np.maximum(0.0, 0.5 - t),
    "alpha": lambda self, t, width=0.0: (t < 0.5).astype(float),
    "dual": lambda self, alpha: alpha / 2,
}
LateHinge = type("LateHinge", (Own,), LATE)


def rows(n: int = 36) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = (np.arange(n) % 3 == 0).astype(int)
    return np.round(rng.normal(size=(n, 3)) + 0.4 * y[:, None], 1), y


@each("form", ["auto", "binned"])
@each("lam", [0.001, 0.1, 10.0])
@each("loss", [*SMOOTH, Own(), Own(0.05), LateHinge()], ids=str)
def test_no_scale_of_a_dual_point_makes_the_bound_false(loss: Any, lam: float, form: str) -> None:
    """Along the way to the point of the slopes at zero it once was above the objective."""
    X, y = rows()
    form = "auto" if isinstance(loss, Own) else form  # one's own has no bins
    problem = linear_problem(X, y, lam, loss, AllPairs(form=form))
    plain = linear_problem(X, y, lam, loss, AllPairs())
    for scores in (np.zeros(len(y)), X @ np.ones(3), 5 * X[:, 0]):
        start = Minorant.from_scores(problem, scores)
        along = [problem.space.pull(s * start.c) / lam for s in np.linspace(0, 1, 50)]
        found = Certificate.of(problem, along[-1], start)
        assert found.dual <= min(plain.objective(w) for w in along) * (1 + 1e-12)
        assert plain.objective(along[-1]) <= found.primal


BROKEN: dict[str, dict[str, Any]] = {
    "breaks loss": {"dual": lambda self, alpha: alpha - self.r * alpha**2 / 4},
    "value >= 0": {"value": lambda self, t: Own.value(self, t) - 0.1},
    "not nonincreasing": {
        "value": lambda self, t: t**2,
        "alpha": lambda self, t, width=0.0: -2 * t,
        "dual": lambda self, alpha: -(alpha**2) / 4,
        "clip": lambda self, alpha: alpha,
    },
    "is not its sum over the pairs": {"all_pairs": lambda self, *of: HINGE.all_pairs(*of)},
}
REFUSED: dict[str, Any] = {said: type("Broken", (Own,), parts)() for said, parts in BROKEN.items()}
REFUSED["child of one of ours"] = type("Child", (Hinge,), {})()
REFUSED |= {"it lacks name": object(), "loss must be": "logistics"}


@each(("words", "loss"), REFUSED.items())
def test_a_loss_that_breaks_the_contract_is_refused(loss: Any, words: str) -> None:
    X, y = rows()
    refuses(words, linear_problem, X, y, 1.0, loss)


def test_more_pairs_than_can_be_gone_through_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(all_pairs, "LARGEST", 100)
    X, y = rows()
    refuses("all_pairs", linear_problem(X, y, 1.0, Own()).sums, np.zeros(36), error=TooLargeError)
