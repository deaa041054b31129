"""Minorants: U(s) >= V - c's for all scores, made from anything."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from aucert.exact import AllPairs, Certificate, CertificateError, InputError, PairList, Ridge, Rows
from aucert.exact.losses.loss import Loss
from aucert.exact.losses.registry import HINGE, LOGISTIC, SQUARE, SQUARED_HINGE
from aucert.exact.problem.minorant import Alpha, Evidence, Marginals, Minorant, Mix, Scores, Weights
from aucert.exact.problem.penalties import ElasticNet
from aucert.exact.problem.problem import Problem
from aucert.exact.problem.risk import Mean
from aucert.exact.sums.assembled import PairSums
from aucert.exact.tools.rounding import Bound
from loops import each

RNG = np.random.default_rng(3)
N, Y = 18, np.arange(18) % 3 == 0
PLUS, MINUS = np.flatnonzero(Y), np.flatnonzero(~Y)
LISTED = PairList(RNG.choice(PLUS, 30), RNG.choice(MINUS, 30), RNG.uniform(0.5, 2, 30)).on(Y)
WEIGHTED = AllPairs(RNG.integers(1, 4, N) + 0.0).on(Y)
LOSSES = [HINGE, SQUARED_HINGE, SQUARE, LOGISTIC]


def made_of(risk: Mean) -> list[Evidence]:
    """Return every kind of evidence that the risk takes."""
    scores = RNG.normal(size=N).round(1)
    kinds: list[Evidence] = [Scores(scores), Scores(-scores, 0.5), Scores(2 * scores, 0.2, 0.3)]
    if isinstance(risk.pairs, PairList):
        kinds.append(Alpha(RNG.uniform(0, 1, 30)))
    elif risk.loss == HINGE:
        kinds.append(Marginals(RNG.uniform(0, 0.3, PLUS.size), RNG.uniform(0, 0.2, MINUS.size)))
    kinds.append(Mix(tuple((0.3, kind) for kind in kinds[:3])))
    kinds.append(Mix(((0.5, kinds[-1]), (0.25, kinds[3]))))
    return kinds


@each("loss", LOSSES, ids=lambda loss: loss.name)
@each("pairs", [AllPairs().on(Y), WEIGHTED, LISTED], ids=["all", "row", "list"])
def test_every_kind_of_evidence_makes_a_minorant(pairs: Any, loss: Any) -> None:
    risk = Mean(pairs, loss)
    for evidence in made_of(risk):
        found = risk.minorant(evidence)
        loose = found.deficiency + found.c_error
        for size in (0.0, 0.1, 1.0, 10.0):
            s = size * RNG.normal(size=N)
            top = float(np.abs(s - s.mean()).max())
            stated = found.value - float(found.c @ s) - loose * (top + abs(s.mean()))
            assert risk.sums(s).value >= stated - found.value_error - 1e-12 * (1 + top)


def test_a_mixture_is_the_mean_of_its_parts() -> None:
    risk = Mean(AllPairs().on(Y), SQUARED_HINGE)
    one, two = Scores(RNG.normal(size=N)), Scores(RNG.normal(size=N), 0.0, 0.5)
    a, b = risk.minorant(one), risk.minorant(two)
    found = risk.minorant(Mix(((0.25, one), (0.75, two))))
    assert found.value == pytest.approx(0.25 * a.value + 0.75 * b.value, rel=1e-15)
    assert found.c == pytest.approx(0.25 * a.c + 0.75 * b.c, rel=1e-14)
    assert found.c_error >= 0.25 * a.c_error + 0.75 * b.c_error


@each(
    ("shares", "said"),
    [
        ((0.5, 0.5000000000000001), "more than one"),
        ((1.0, 2.0**-60), "more than one"),
        ((-0.1, 0.5), "share >= 0"),
        ((np.nan, 0.5), "share >= 0"),
        ((), "needs parts"),
    ],
)
def test_a_mixture_that_is_none_is_refused(shares: tuple[float, ...], said: str) -> None:
    risk = Mean(AllPairs().on(Y), HINGE)
    with pytest.raises(InputError, match=said):
        risk.minorant(Mix(tuple((share, Scores(np.zeros(N))) for share in shares)))


def test_unknown_kinds_of_evidence_are_refused() -> None:
    risk: Any = Mean(AllPairs().on(Y), HINGE)
    for evidence in (None, 3.0, object()):
        with pytest.raises(InputError, match="makes no minorant of"):
            risk.minorant(evidence)
    with pytest.raises(InputError, match="cannot be mixed"):
        risk.minorant(Mix(((1.0, Weights(np.zeros(2), 4, 1)),)))


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
    X = RNG.normal(size=(N, 2))
    problem = Problem(Rows(X), Largest(Y), penalty)
    for _ in range(30):
        w = 0.3 * RNG.normal(size=2)
        witness = Minorant.from_scores(problem, RNG.normal(size=N))
        found = Certificate.of(problem, w, witness)
        lowest = min(problem.objective(v) for v in 0.5 * RNG.normal(size=(200, 2)))
        assert found.dual <= lowest
        assert problem.objective(w) <= found.primal
    with pytest.raises(InputError, match="states no pairs"):
        _ = problem.pairs
    with pytest.raises(InputError, match="scores only"):
        Certificate.of(problem, np.zeros(2), replace(witness, evidence=Alpha(np.zeros(3))))


def test_a_risk_whose_minorants_are_too_high_is_caught_at_the_optimum() -> None:
    X = RNG.normal(size=(N, 2))
    problem = Problem(Rows(X), Largest(Y, boast=0.5), Ridge(100.0))
    witness = Minorant.from_scores(problem, np.zeros(N), scale=1.0)
    with pytest.raises(CertificateError, match="false"):
        Certificate.of(problem, np.zeros(2), witness)


@each("width", [-1.0, np.nan, np.inf, 1e308, np.ones(2)])
@each("loss", [HINGE, SQUARE])
def test_no_minorant_has_a_width_that_is_none(width: Any, loss: Loss) -> None:
    """At a width of 1e308 sums overflowed, and a certificate called its own bound false."""
    pairs = AllPairs(np.array([1.0, 2.0, 3.0])).on(np.array([True, False, True]))
    with pytest.raises(InputError, match="width must be"):
        Mean(pairs, loss).minorant(Scores(np.arange(3.0), width))
    with pytest.raises(InputError, match="scale must be"):
        Mean(pairs, loss).minorant(Scores(np.arange(3.0), 0.0, np.ones(2)))  # type: ignore[arg-type]
