"""What one step of a certificate rounds is paid by that step, and errors planted before it go on.

Every input is given without an error, so that no slack of another bound can hide a missing one; or
with one large error, which must come out at the other end.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from aucert.exact import AllPairs, Minorant, PairList, Rows
from aucert.exact.certificate import certificate as module
from aucert.exact.losses.registry import HINGE, LOGISTIC, SQUARED_HINGE
from aucert.exact.pairs.ordered_pairs import OrderedPairs
from aucert.exact.problem.minorant import Alpha, Marginals, Mix, Scores, mixed
from aucert.exact.problem.penalties import ElasticNet, GroupLasso, Ridge
from aucert.exact.problem.problem import Problem
from aucert.exact.problem.risk import Mean, of_alpha, of_scores
from aucert.exact.problem.tail import Tail
from aucert.exact.sums.assembled import PairSums
from aucert.exact.tools.rounding import Bound
from decimal_losses import root
from loops import each
from naive import exact, norm2

RNG = np.random.default_rng(3)
Y = np.array([True, False, True, False, False])


def planted(n: int = 5, **errors: float) -> PairSums:
    """Sums of awkward numbers and no errors but those that are named."""
    value, conjugate, total = RNG.uniform(0.1, 1, 3).tolist()
    none = {"value_rounding": 0.0, "rounding": 0.0, "conjugate_rounding": 0.0}
    return PairSums(value, RNG.normal(size=n), conjugate, total, **(none | errors))


def l1(a: Any, b: Any) -> Fraction:
    """Return the sum of absolute differences."""
    return sum((abs(x - y) for x, y in zip(a, b, strict=True)), Fraction(0))


@each("loss", [HINGE, SQUARED_HINGE, LOGISTIC], ids=lambda loss: loss.name)
def test_shrinking_a_minorant_pays_for_its_own_rounding(loss: Any) -> None:
    for _ in range(50):
        sums, scale = planted(), float(RNG.uniform(0.1, 1))
        found = of_scores(loss, Scores(np.zeros(5), 0.0, scale), sums)
        p, q = exact(sums.conjugate), Fraction(0)
        if loss == SQUARED_HINGE:
            p, q = exact(sums.total), exact(sums.total) - exact(sums.conjugate)
        s = Fraction(scale)
        assert abs(exact(found.value) - (s * p - s * s * q)) <= Fraction(found.value_error)
        assert l1(exact(found.c), [s * x for x in exact(sums.c)]) <= Fraction(found.c_error)


def test_errors_of_sums_reach_their_minorant() -> None:
    evidence = Scores(np.zeros(5), 0.0, 0.5)
    assert of_scores(HINGE, evidence, planted(rounding=1.0)).c_error >= 0.5
    assert of_scores(LOGISTIC, evidence, planted(conjugate_rounding=1.0)).value_error >= 0.5
    assert of_scores(HINGE, evidence, planted(rounding=1.0)).value_error >= 0.25  # of the total


class Given:
    """A risk whose minorants are given."""

    n = 5

    def __init__(self, *made: Minorant):
        self.made = iter(made)

    def minorant(self, evidence: Any) -> Minorant:
        """Return the next one."""
        return next(self.made)


def test_a_mixture_pays_for_its_own_rounding_and_shares_errors_out() -> None:
    mix: Any = Mix(tuple((share, Scores(np.zeros(5))) for share in (0.3, 0.69)))
    for _ in range(50):
        parts = [Minorant(RNG.normal(size=5), float(RNG.normal())) for _ in range(2)]
        found = mixed(Given(*parts), mix)  # type: ignore[arg-type]
        shares = [Fraction(share) for share, _ in mix.parts]
        value = sum(s * exact(part.value) for s, part in zip(shares, parts, strict=True))
        c = [
            sum(s * exact(part.c[k]) for s, part in zip(shares, parts, strict=True))
            for k in range(5)
        ]
        assert abs(exact(found.value) - value) <= Fraction(found.value_error)
        assert l1(exact(found.c), c) <= Fraction(found.c_error)
    part = Minorant(np.zeros(5), 0.0)
    for name in ("deficiency", "c_error", "value_error"):
        found = mixed(Given(replace(part, **{name: 1.0}), part), mix)  # type: ignore[arg-type]
        assert getattr(found, name) >= 0.3
    wide = Minorant(np.zeros(5), 0.0, deficiency=1.0 / 3)
    found = mixed(Given(wide, wide), mix)  # type: ignore[arg-type]
    true = sum(map(Fraction, (0.3, 0.69))) * Fraction(1.0 / 3)
    assert true <= Fraction(found.deficiency) + Fraction(found.c_error)
    assert found.c_error > 0


def test_listed_alphas_pay_for_their_sums() -> None:
    m = 40
    i, j = RNG.choice(np.flatnonzero(Y), m), RNG.choice(np.flatnonzero(~Y), m)
    pairs = PairList(i, j, RNG.uniform(0.1, 1, m)).on(Y)
    for _ in range(20):
        alpha = RNG.uniform(-0.2, 1.2, m)
        found = of_alpha(pairs, HINGE, Alpha(alpha))
        true, inside = [Fraction(0)] * 5, exact(np.clip(alpha, 0, 1))
        for a, b, weight, x in zip(i, j, exact(pairs.c), inside, strict=True):
            true[a], true[b] = true[a] + weight * x, true[b] - weight * x
        value = sum(weight * x for weight, x in zip(exact(pairs.c), inside, strict=True))
        assert l1(exact(found.c), true) <= Fraction(found.c_error)
        assert abs(exact(found.value) - value) <= Fraction(found.value_error)


@each("part", ["l2", "l2 small", "shrunk"])
def test_a_lower_bound_pays_for_each_of_its_steps(part: str, monkeypatch) -> None:
    class ByDistance(Ridge):
        """The ridge, for which rows have bounds by columns, without them."""

    space, penalty = Rows(RNG.normal(size=(5, 3))), ByDistance(0.3)
    problem = Problem(space, Mean(AllPairs().on(Y), HINGE), penalty)
    if part == "shrunk":
        problem = Problem(space, problem.risk, ElasticNet(0.0, 0.2))
        monkeypatch.setattr(ElasticNet, "shrink", lambda self, g, error: 0.7)
    for _ in range(50):
        far, value = float(RNG.uniform(0.1, 1)), float(RNG.uniform(0.5, 1))
        monkeypatch.setattr(Ridge, "distance", lambda self, space, c, far=far: Bound(far, 0.0))
        dual, rounding = module._dual(problem, Minorant(np.zeros(5), value), careful=True)
        true = Fraction(value) - Fraction(far) ** 2 / (2 * Fraction(0.3))
        if part == "shrunk":
            true = Fraction(0.7) * Fraction(value)
        assert abs(Fraction(dual) - true) <= Fraction(rounding)
    for name in ("value_error", "c_error", "deficiency"):
        if part == "shrunk" and name != "value_error":
            continue
        large = replace(Minorant(np.zeros(5), 0.9), **{name: 1.0})
        found, rounding = module._dual(problem, large, careful=True)
        paid = far + (space.reach if name != "value_error" else 0.0)
        most = 0.9 - (name == "value_error") - paid**2 / 0.6
        if part == "shrunk":
            most = 0.7 * (0.9 - 1.0)
        assert found - rounding <= most + 1e-12
    if part != "shrunk":
        monkeypatch.setattr(Ridge, "distance", lambda self, space, c: Bound(0.5, 0.25))
        found, rounding = module._dual(problem, Minorant(np.zeros(5), 0.9), careful=True)
        assert found - rounding <= 0.9 - 0.75**2 / 0.6 + 1e-12


def test_shrinking_is_told_of_every_error(monkeypatch) -> None:
    stated: list[float] = []
    space = Rows(RNG.normal(size=(5, 3)))
    problem = Problem(space, Mean(AllPairs().on(Y), HINGE), ElasticNet(0.0, 0.2))
    monkeypatch.setattr(Rows, "careful_pull", lambda self, c: (np.ones(3), 0.125))
    monkeypatch.setattr(ElasticNet, "shrink", lambda self, g, error: stated.append(error) or 0.5)
    module._dual(problem, Minorant(np.zeros(5), 0.9, 2.0, 3.0), careful=True)
    assert stated[0] >= 0.125 + 5 * space.reach


def test_an_objective_pays_for_its_sum_and_takes_both_errors() -> None:
    w, problem = np.ones(3), Problem(Rows(np.eye(5, 3)), Mean(AllPairs().on(Y), HINGE), Ridge(0.3))
    for _ in range(50):
        value = float(RNG.uniform(0.1, 1))
        found = module._primal(problem, w, Bound(value, 0.0))
        primal, rounding = found.value, found.error
        penalty = Fraction(problem.penalty.value(problem.space, w).value)
        assert abs(Fraction(primal) - Fraction(value) - penalty) <= Fraction(rounding)
        assert rounding >= problem.penalty.value(problem.space, w).error + 2.0**-53 * primal
    assert module._primal(problem, w, Bound(value, 1.0)).error >= 1


@each("kind", ["elastic", "group"])
def test_a_penalty_pays_for_its_own_rounding(kind: str) -> None:
    groups = np.array([0, 0, 1])
    for _ in range(50):
        l2, weight = RNG.uniform(0.1, 1, 2).tolist()
        g, w = RNG.normal(size=(2, 3))
        inner: Any = ElasticNet(l2, weight) if kind == "elastic" else GroupLasso(l2, weight, groups)
        sets, sizes = ([[0], [1], [2]], [1, 1, 1]) if kind == "elastic" else ([[0, 1], [2]], [2, 1])
        found = inner.value(Rows(np.eye(5, 3)), w)
        true, far2 = Fraction(l2) / 2 * norm2(exact(w)), Fraction(0)
        for chosen, size in zip(sets, sizes, strict=True):
            radius = Fraction(weight) * root(Fraction(size))
            true += radius * root(Fraction(norm2(exact(w[chosen]))))
            far2 += max(root(Fraction(norm2(exact(g[chosen])))) - radius, Fraction(0)) ** 2
        assert abs(exact(found.value) - true) <= Fraction(found.error)
        apart = inner._apart(g, 0.0)
        assert abs(exact(apart.value) - root(far2)) <= Fraction(apart.error)
        assert inner._apart(g, 1.0).error >= 1
        scale, error = inner.shrink(g, 0.0), 0.5
        for chosen, size in zip(sets, sizes, strict=True):
            length = Fraction(scale) * root(Fraction(norm2(exact(g[chosen]))))
            assert length <= Fraction(weight) * root(Fraction(size)) * (1 + Fraction(1, 2**70))
            much = inner.shrink(g, error) * (float(np.linalg.norm(g[chosen])) + error)
            assert much <= weight * np.sqrt(size) * (1 + 1e-12)


def test_a_tail_pays_for_sharing_out_and_keeps_what_its_sums_round(monkeypatch) -> None:
    positive = np.arange(12) % 2 == 0
    risk = Tail(Mean(AllPairs().on(positive), HINGE), Fraction(23, 10), Fraction(17, 10))
    weights = RNG.uniform(0.5, 1, 12)
    for errors in ({}, {"rounding": 1.0, "conjugate_rounding": 2.0, "value_rounding": 3.0}):
        sums = planted(12, **errors)
        monkeypatch.setattr(AllPairs, "sums", lambda self, *of, sums=sums: sums)
        small = weights * np.where(np.arange(12) < 2, 1.0, 0.01)
        up, low = np.flatnonzero(positive), np.flatnonzero(~positive)
        sides = [(up, small[up]), (low, small[low])]
        share = Fraction(risk.share(sides[0][1], sides[1][1]))
        assert share < 1
        found = risk._weighted(RNG.normal(size=12), sides, 0.0)
        c = found.c[np.concatenate([up, low])]
        assert l1(exact(c), [share * x for x in exact(sums.c)]) <= Fraction(found.rounding)
        off = abs(exact(found.conjugate) - share * exact(sums.conjugate))
        assert off <= Fraction(found.conjugate_rounding)
        assert found.rounding > sums.rounding * 0.99
        assert found.conjugate_rounding >= sums.conjugate_rounding
        assert found.value_rounding >= sums.value_rounding + 2.0**-50 * sums.value


def test_what_the_flow_of_ordered_marginals_rounds_reaches_both_numbers(monkeypatch) -> None:
    pairs = OrderedPairs(None, [2, 1, 0, 0, 1])
    u, v = RNG.uniform(0, 0.1, (2, 5))
    monkeypatch.setattr(OrderedPairs, "deficiency", lambda self, u, v: (0.2, 0.3, 0.0))
    found = Mean(pairs, HINGE).minorant(Marginals(u, v))
    assert (found.value, found.deficiency) == (0.2, 0.3)
    true = [x - y for x, y in zip(exact(u), exact(v), strict=True)]
    assert l1(exact(found.c), true) <= Fraction(found.c_error)
    monkeypatch.setattr(OrderedPairs, "deficiency", lambda self, u, v: (0.2, 0.3, 1.0))
    found = Mean(pairs, HINGE).minorant(Marginals(u, v))
    assert min(found.c_error, found.value_error) >= 1
