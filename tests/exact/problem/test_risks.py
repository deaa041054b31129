"""Risks: every kind of evidence makes a minorant; the tail, the worst group, and their slips."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from aucert.exact import AllPairs, Certificate, CertificateError, InputError, PairList, Ridge, Rows
from aucert.exact.losses.registry import (
    ALL_LOSSES,
    HINGE,
    LOGISTIC,
    SQUARE,
    SQUARED_HINGE,
)
from aucert.exact.pairs.kinds import cross_group_pairs
from aucert.exact.problem.minorant import Alpha, Evidence, Marginals, Minorant, Mix, Scores
from aucert.exact.problem.penalties import ElasticNet
from aucert.exact.problem.problem import Problem
from aucert.exact.problem.risk import Mean
from aucert.exact.problem.tail import Tail, tail_risk
from aucert.exact.problem.worst import Worst, group_weights
from aucert.exact.sums.assembled import PairSums
from aucert.exact.tools.rounding import Bound
from decimal_losses import mean_of
from loops import each
from naive import exact

MRNG = np.random.default_rng(3)
MN, MY = 18, np.arange(18) % 3 == 0
PLUS, MINUS = np.flatnonzero(MY), np.flatnonzero(~MY)
LISTED = PairList(MRNG.choice(PLUS, 30), MRNG.choice(MINUS, 30), MRNG.uniform(0.5, 2, 30)).on(MY)
WEIGHTED = AllPairs(MRNG.integers(1, 4, MN) + 0.0).on(MY)
LOSSES = [HINGE, SQUARED_HINGE, SQUARE, LOGISTIC]


def made_of(risk: Mean) -> list[Evidence]:
    """Return every kind of evidence that the risk takes."""
    scores = MRNG.normal(size=MN).round(1)
    kinds: list[Evidence] = [Scores(scores), Scores(-scores, 0.5), Scores(2 * scores, 0.2, 0.3)]
    if isinstance(risk.pairs, PairList):
        kinds.append(Alpha(MRNG.uniform(0, 1, 30)))
    elif risk.loss == HINGE:
        kinds.append(Marginals(MRNG.uniform(0, 0.3, PLUS.size), MRNG.uniform(0, 0.2, MINUS.size)))
    kinds.append(Mix(tuple((0.3, kind) for kind in kinds[:3])))
    kinds.append(Mix(((0.5, kinds[-1]), (0.25, kinds[3]))))
    return kinds


@each("loss", LOSSES, ids=lambda loss: loss.name)
@each("pairs", [AllPairs().on(MY), WEIGHTED, LISTED], ids=["all", "row", "list"])
def test_every_kind_of_evidence_makes_a_minorant(pairs: Any, loss: Any) -> None:
    risk = Mean(pairs, loss)
    for evidence in made_of(risk):
        found = risk.minorant(evidence)
        loose = found.deficiency + found.c_error
        for size in (0.0, 0.1, 1.0, 10.0):
            s = size * MRNG.normal(size=MN)
            top = float(np.abs(s - s.mean()).max())
            stated = found.value - float(found.c @ s) - loose * (top + abs(s.mean()))
            assert risk.sums(s).value >= stated - found.value_error - 1e-12 * (1 + top)


def test_a_mixture_is_the_mean_of_its_parts() -> None:
    risk = Mean(AllPairs().on(MY), SQUARED_HINGE)
    one, two = Scores(MRNG.normal(size=MN)), Scores(MRNG.normal(size=MN), 0.0, 0.5)
    a, b = risk.minorant(one), risk.minorant(two)
    found = risk.minorant(Mix(((0.25, one), (0.75, two))))
    assert found.value == pytest.approx(0.25 * a.value + 0.75 * b.value, rel=1e-15)
    assert found.c == pytest.approx(0.25 * a.c + 0.75 * b.c, rel=1e-14)
    assert found.c_error >= 0.25 * a.c_error + 0.75 * b.c_error


@dataclass(frozen=True, eq=False)
class Largest:
    """U(s) = max over the pairs of the hinge: no mean over pairs, no loss, no pairs."""

    positive: np.ndarray
    boast: float = 0.0

    @property
    def n(self) -> int:
        return int(self.positive.size)

    def sums(self, scores: np.ndarray, width: float = 0.0) -> PairSums:
        worst = np.where(self.positive, scores, np.inf).argmin()
        best = np.where(self.positive, -np.inf, scores).argmax()
        value = max(0.0, 1.0 - float(scores[worst] - scores[best]))
        c = np.zeros(self.n)
        if value > 0:
            c[worst], c[best] = 1.0, -1.0
        total = float(value > 0)
        return PairSums(value, c, total, total, 1e-15 * (1 + value), 0.0, 0.0)

    def upper(self, scores: np.ndarray, error: np.ndarray, sums: Any = None) -> Bound:
        value = self.sums(scores).value
        return Bound(value, 2 * float(np.max(error)) + 1e-15 * (1 + value))

    def minorant(self, evidence: Evidence, sums: Any = None) -> Minorant:
        if isinstance(evidence, Scores):
            found = self.sums(evidence.scores)
            value = evidence.scale * found.conjugate + self.boast
            return Minorant(evidence.scale * found.c, value, evidence=evidence)
        raise InputError("scores only")


@each("penalty", [Ridge(0.5), ElasticNet(0.1, 0.2), ElasticNet(0.0, 0.3)])
def test_a_risk_of_another_kind_is_certified_without_pairs_or_loss(penalty: Any) -> None:
    X = MRNG.normal(size=(MN, 2))
    risk: Any = Largest(MY)
    problem = Problem(Rows(X), risk, penalty)
    for _ in range(30):
        w = 0.3 * MRNG.normal(size=2)
        witness = Minorant.from_scores(problem, MRNG.normal(size=MN))
        found = Certificate.of(problem, w, witness)
        lowest = min(problem.objective(v) for v in 0.5 * MRNG.normal(size=(200, 2)))
        assert found.dual <= lowest
        assert problem.objective(w) <= found.primal
    with pytest.raises(InputError, match="states no pairs"):
        _ = problem.pairs
    with pytest.raises(InputError, match="scores only"):
        Certificate.of(problem, np.zeros(2), replace(witness, evidence=Alpha(np.zeros(3))))


def test_a_risk_whose_minorants_are_too_high_is_caught_at_the_optimum() -> None:
    X = MRNG.normal(size=(MN, 2))
    risk: Any = Largest(MY, boast=0.5)
    problem = Problem(Rows(X), risk, Ridge(100.0))
    witness = Minorant.from_scores(problem, np.zeros(MN), scale=1.0)
    with pytest.raises(CertificateError, match="false"):
        Certificate.of(problem, np.zeros(2), witness)


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


FALLING = [loss for loss in ALL_LOSSES.values() if loss.nonincreasing]


def drawn(seed: int, n: int = 10) -> tuple[np.random.Generator, AllPairs, np.ndarray]:
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.5
    positive[:2] = True, False
    if seed % 5 == 0:
        positive[:] = np.arange(n) == 0
    scores = np.round(rng.normal(size=n), int(rng.integers(0, 3)))
    return rng, AllPairs().on(positive), scores


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


def test_the_whole_range_is_the_mean_over_all_pairs_bit_for_bit() -> None:
    _, pairs, s = drawn(3, 40)
    whole = Tail(Mean(pairs, LOGISTIC), Fraction(pairs.n_pos), Fraction(pairs.n_neg)).sums(s, 0.1)
    plain = pairs.sums(s, LOGISTIC, 0.1)
    assert whole.value == plain.value and whole.conjugate == plain.conjugate
    assert np.array_equal(whole.c, plain.c) and whole.rounding == plain.rounding
    assert isinstance(tail_risk(pairs, HINGE, 1.0, 0.0), Mean)


def test_rates_are_the_decimal_numbers_that_are_meant() -> None:
    pairs = AllPairs().on(np.arange(20) < 10)
    risk = tail_risk(pairs, HINGE, 0.3, 0.9)
    assert isinstance(risk, Tail)
    assert risk.kp == 1 and risk.kq == 3  # (1 - 0.9) * 10 is less than one in floats
    part = tail_risk(pairs, HINGE, 0.25, 0.55)
    assert isinstance(part, Tail)
    assert (part.kp, part.kq) == (Fraction(9, 2), Fraction(5, 2))  # the last row counts in part
    push = tail_risk(pairs, HINGE, 0.001)
    assert isinstance(push, Tail) and push.kq == 1 and push.kp == 10


WRNG = np.random.default_rng(6)
N = 24
Y, MEMBER = WRNG.random(N) < 0.5, WRNG.integers(0, 3, N)
X = np.round(WRNG.normal(size=(N, 2)) + Y[:, None] * (MEMBER[:, None] - 0.5), 1)


def lists() -> list[list[tuple[int, int, Fraction]]]:
    """The pairs of each group, one by one."""
    found = []
    for group in range(3):
        inside = [
            (int(i), int(j))
            for i in np.flatnonzero(Y & (MEMBER == group))
            for j in np.flatnonzero(~Y & (MEMBER == group))
        ]
        found.append([(i, j, Fraction(1, len(inside))) for i, j in inside])
    return found


def worst(loss: str) -> Worst:
    pairs = [cross_group_pairs(Y, MEMBER, group, group) for group in range(3)]
    return Worst(tuple(Mean(one, ALL_LOSSES[loss]) for one in pairs))


@each("loss", ["hinge", "squared_hinge", "logistic"])
def test_value_and_minorants_are_those_of_the_pairs(loss: str) -> None:
    risk = worst(loss)
    points = [WRNG.normal(size=N) * 10.0 ** WRNG.integers(-1, 2) for _ in range(8)]
    true = [max(mean_of(loss, exact(s), part) for part in lists()) for s in points]
    for s, value in zip(points, true, strict=True):
        found = risk.sums(s)
        assert abs(Fraction(found.value) - value) <= Fraction(found.value_rounding) + 1e-15 * value
    for width in (0.0, 0.1, 3.0):
        kinds: list[Any] = [Scores(points[0], width), Scores(points[1], width, 0.7)]
        for evidence in (*kinds, Mix(((0.5, kinds[0]), (0.3, kinds[1])))):
            made = risk.minorant(evidence)
            for s, value in zip(points, true, strict=True):
                reach = made.c_error * float(np.abs(s).max()) + made.value_error
                assert value >= made.value - float(made.c @ s) - reach - 1e-12 * (1 + float(value))
    at = risk.upper(points[0], np.full(N, 0.1))
    moved = points[0] + 0.1 * np.where(Y, -1.0, 1.0)
    assert risk.sums(moved).value <= at.value + at.error


def test_group_weights_are_exactly_feasible_and_tend_to_the_worst() -> None:
    for width in (0.0, 1e-300, 1e-3, 1.0, 1e9):
        for values in (WRNG.uniform(size=5), np.zeros(3), np.array([1.0]), np.array([1e200, 0.0])):
            q = group_weights(values, width)
            assert sum(map(Fraction, q.tolist())) == 1 and q.min() >= 0
            assert q[np.argmax(values)] == q.max()
    assert group_weights(np.array([0.2, 0.9, 0.1]), 1e-3).tolist() == [0, 1, 0]
