"""Penalties, false ones too; risks and their slips; a list of few pairs is over its own rows."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.approx import draw_pairs
from aucert.exact import AllPairs, Certificate, Minorant, Ridge, Rows
from aucert.exact.losses.registry import HINGE, LOGISTIC, SQUARE, SQUARED_HINGE
from aucert.exact.pairs.all_pairs import PairList
from aucert.exact.problem.penalties import ElasticNet, GroupLasso, Sign
from aucert.exact.problem.problem import Problem, pair_problem
from aucert.exact.problem.risk import Mean
from aucert.exact.problem.tail import Tail, group_weights, tail_risk
from aucert.exact.tools.rounding import Bound
from loops import each, refuses
from own_parts import Box, WeightedL1

RNG = np.random.default_rng(5)
X, Y = np.round(RNG.normal(size=(20, 4)), 1), np.arange(20) % 3 == 0
GROUPS = np.array([0, 0, 1, 1])
ALL: list[Any] = [
    Ridge(0.3),
    ElasticNet(0.3, 0.2),
    ElasticNet(0.0, 0.2),
    GroupLasso(0.3, 0.2, GROUPS),
    GroupLasso(0.0, 0.2, np.array(["b", "b", "a", "c"])),
    Sign(ElasticNet(0.3, 0.2), np.array([0, 3])),
    Sign(GroupLasso(0.3, 0.2, GROUPS)),
    Sign(Ridge(0.3)),
]


def problem(penalty: Any, loss: Any = SQUARED_HINGE) -> Problem:
    return Problem(Rows(X), Mean(AllPairs().on(Y), loss), penalty)


@each("penalty", ALL[1:], ids=lambda p: type(p).__name__)
def test_what_is_shrunk_is_inside_for_every_error(penalty: Any) -> None:
    for _ in range(200):
        g, error = RNG.normal(size=4), 10.0 ** RNG.uniform(-12, 0)
        s = getattr(penalty, "shrink", lambda *_: 0.0)(g, error)
        assert 0 <= s <= 1
        for _ in range(5):
            e = RNG.normal(size=4)
            moved = s * (g + error * e / np.linalg.norm(e))
            assert np.abs(penalty.residual(moved)).max() <= 4e-16


def test_a_wrong_sign_costs_infinitely_much_and_is_refused() -> None:
    task = problem(Sign(Ridge(0.1), np.array([1])))
    w = np.array([-1.0, -1e-300, 1.0, 0.0])
    assert task.objective(w) == np.inf and np.isfinite(task.objective(np.abs(w)))
    witness = Minorant.from_scores(task, task.space.scores(np.abs(w)))
    refuses("break its constraint", Certificate.of, task, w, witness)


@each("penalty", ALL, ids=lambda p: type(p).__name__)
@each("loss", [HINGE, SQUARED_HINGE, SQUARE], ids=lambda loss: loss.name)
def test_the_best_scale_is_no_worse_than_others(loss: Any, penalty: Any) -> None:
    if penalty.l2 == 0 and loss != HINGE:
        pytest.skip("the lasso takes the whole dual point, which any shrinking makes valid")
    task = problem(penalty, loss)
    chosen: Any = Minorant.from_scores(task, np.zeros(20), 0.5).evidence
    assert 0 <= chosen.scale <= 1

    def bound(scale: float) -> float:
        given = Minorant.from_scores(task, np.zeros(20), 0.5, scale)
        return Certificate.of(task, np.zeros(4), given).dual

    assert all(bound(chosen.scale) >= bound(s) - 1e-9 for s in np.linspace(0, 1, 21))


HALF = 0.1
FALSE: list[tuple[str, float, dict[str, Any]]] = [
    ("is not the norm", HALF, {
        "quick_distance": lambda self, *of: Bound(Box.quick_distance(self, *of).value / 2, 0.0)}),
    ("the error of its .* is -1e-15", HALF, {
        "distance": lambda self, *of: Bound(Box.distance(self, *of).value, -1e-15)}),
    ("the error of its .* is -1e-15", HALF, {
        "value": lambda self, *of: Bound(Box.value(self, *of).value, -1e-15)}),
    ("proves zeros where", 1.0, {"zeros": lambda self, g, error: np.abs(g) < self.high}),
    ("outside the set", HALF, {"residual": lambda self, g: 0.5 * Box.residual(self, g)}),
    ("not the nearest point", HALF, {
        "residual": lambda self, g: g - 0.9 * np.clip(g, self.low, self.high)}),
    ("outside the set", HALF, {
        "value": lambda self, space, w: Bound(self.l2 / 2 * float(w @ w), 0.0)}),
    ("is not the norm", HALF, {"distance": lambda *_: Bound(0.0, 0.0)}),
]  # fmt: skip


@each(("said", "half", "parts"), FALSE)
def test_a_false_penalty_is_caught(said: str, half: float, parts: dict[str, Any]) -> None:
    refuses(said, problem, type("Faulty", (Box,), parts)(0.1, -half, half))


def test_what_is_no_penalty_is_refused_and_ones_own_is_taken() -> None:
    wrong: dict[str, Any] = {
        "l2 = -0.1": Box(-0.1, -0.1, 0.1),
        "l2 = nan": Box(np.nan, -0.1, 0.1),
        "shrink": Box(0.0, -0.1, 0.1),
        "it lacks l2": object(),
    }
    for said, penalty in wrong.items():
        refuses(said, problem, penalty)
    problem(Box(0.1, -0.1, 0.4))
    problem(WeightedL1(0.1, np.arange(4.0)))


@dataclass(frozen=True)
class Unshrunk(Box):
    """A box whose `shrink` forgets a part of what it must do."""

    factor: float = 1.0
    part: float = 0.0

    def shrink(self, g: np.ndarray, error: float) -> float:
        size = float(np.abs(g).max()) + self.part * error
        return min(self.factor, 0.999 * min(-self.low, self.high) / size)


@each(("factor", "part", "ok"), [(1, 1, True), (1, 0, False), (2, 1, False)])
@each("l2", [0.0, 0.1])
def test_a_false_shrink_is_caught(factor: float, part: float, ok: bool, l2: float) -> None:
    penalty = Unshrunk(l2, -0.2, 0.2, factor, part)
    problem(penalty) if ok else refuses("shrink", problem, penalty)


def test_penalties_tell_where_every_pull_near_one_is_inside() -> None:
    g, error = np.array([0.5, -0.5, 2.0, -2.0]), np.full(4, 0.4)
    assert ElasticNet(1.0, 1.0).zeros(g, error).tolist() == [True, True, False, False]
    assert ElasticNet(1.0, 0.9).zeros(g, error).tolist() == [False] * 4  # at the edge: not proved
    assert Sign(ElasticNet(1.0, 1.0)).zeros(g, error).tolist() == [True, True, False, True]
    assert Sign(Ridge(1.0), np.array([1, 3])).zeros(g, error).tolist() == [False, True, False, True]
    groups = GroupLasso(1.0, 1.0, np.array([0, 0, 1, 1]))
    assert groups.zeros(g, error).tolist() == [True, True, False, False]  # 1.27 < sqrt(2)
    assert groups.zeros(g, error + 0.11).tolist() == [False] * 4  # 1.43 is not
    assert Sign(groups).zeros(g, error + 0.11)[:2].all()  # only 1.01 can pull


def test_errors_of_scores_move_the_hinge_as_far_as_the_slip_says() -> None:
    """Below the margin the hinge is linear, so that the bound is reached."""
    positive = np.arange(12) % 3 == 0
    risk, error = Mean(AllPairs().on(positive), HINGE), np.full(12, 0.01)
    moved = risk.sums(np.where(positive, -0.01, 0.01)).value - risk.sums(np.zeros(12)).value
    assert 0.019 < moved <= risk.slip(error, 1.0) + 1e-15


def test_many_rows_pay_for_the_largest_error_where_it_costs_next_to_nothing(monkeypatch) -> None:
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
    found, square = Ridge(1.0).distance(space, c), space.dual_norm2(c)
    assert square.error > 0
    assert (found.value + found.error) ** 2 >= square.value + square.error


def test_capped_weights_are_feasible_in_exact_arithmetic() -> None:
    """Sums of row weights over the largest are at least k, or the share makes up for it."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        positive = np.arange(200) % 2 == 0
        kq = [Fraction(1, 3) * 100, Fraction("12.3456789012345678"), Fraction(7)][seed % 3]
        risk = Tail(Mean(AllPairs().on(positive), HINGE), Fraction(100), kq)
        scores = np.round(rng.normal(size=200), 1)
        for width in (0.0, 0.2, 50.0):
            (_, p), (_, q) = risk.chosen(scores, width)
            share, q = Fraction(risk.share(p, q)), [Fraction(x) for x in q.tolist()]
            scale = share * kq / sum(q)
            assert scale * max(q) <= 1 and scale * sum(q) <= kq
            assert share > 1 - Fraction(1, 10**12)


def test_rates_are_the_decimal_numbers_that_are_meant() -> None:
    pairs = AllPairs().on(np.arange(20) < 10)
    for rates, wanted in (
        ((0.3, 0.9), (1, 3)),  # (1 - 0.9) * 10 is less than one in floats
        ((0.25, 0.55), (Fraction(9, 2), Fraction(5, 2))),  # the last row counts in part
        ((0.001,), (10, 1)),
    ):
        risk: Any = tail_risk(pairs, HINGE, *rates)
        assert (risk.kp, risk.kq) == wanted


def test_group_weights_are_exactly_feasible_and_tend_to_the_worst() -> None:
    for width in (0.0, 1e-300, 1e-3, 1.0, 1e9):
        for values in (RNG.uniform(size=5), np.zeros(3), np.array([1.0]), np.array([1e200, 0.0])):
            q = group_weights(values, width)
            assert sum(map(Fraction, q.tolist())) == 1 and q.min() >= 0
            assert q[np.argmax(values)] == q.max()
    assert group_weights(np.array([0.2, 0.9, 0.1]), 1e-3).tolist() == [0, 1, 0]


@each("loss", [HINGE, SQUARED_HINGE, SQUARE], ids=lambda loss: loss.name)
@each("sparse", [False, True])
def test_objective_gradient_and_certificate_are_those_of_all_rows(loss: Any, sparse: bool) -> None:
    rng, n = np.random.default_rng(0), 400
    y = rng.uniform(size=n) < 0.3
    X = np.where(rng.uniform(size=(n, 4)) < 0.5, rng.normal(size=(n, 4)) + y[:, None], 0.0)
    drawn, rows = draw_pairs(y, 60, 1), Rows(sp.csr_array(X) if sparse else X)
    pairs = PairList(drawn.i, drawn.j, rng.uniform(size=60))
    whole = pair_problem(rows, y, pairs, loss, Ridge(0.05))
    near = whole.named_rows()
    assert near.n <= 120 < whole.n and near.n_pairs == whole.n_pairs
    for seed in range(5):
        w = np.random.default_rng(seed).normal(size=4)
        assert near.objective(w) == pytest.approx(whole.objective(w), rel=1e-12)
        pulls = [p.space.pull(p.sums(p.space.scores(w)).c) for p in (near, whole)]
        np.testing.assert_allclose(*pulls, rtol=1e-10, atol=1e-13)
        made = [(p, w, Minorant.from_scores(p, p.space.scores(w))) for p in (near, whole)]
        one, other = (Certificate.of(*of) for of in made)
        assert one.gap == pytest.approx(other.gap, rel=1e-9)
