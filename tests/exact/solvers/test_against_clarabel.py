"""A thousand drawn problems, pair by pair, by Clarabel: its optimum lies in our interval.

Ordered pairs of every kind, partial AUC one-way and two-way, every loss, every penalty.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from aucert.exact.errors import InputError
from aucert.exact.losses.registry import ALL_LOSSES
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.problem.penalties import penalty_from
from aucert.exact.problem.problem import Problem
from aucert.exact.problem.risk import Mean
from aucert.exact.problem.tail import Tail, tail_risk
from aucert.exact.solvers.choose import choose_solver
from aucert.exact.spaces.rows import Rows
from convex_programs import worst_reference
from fuzz_core import grades
from loops import each, seeds

LOSSES = ("hinge", "squared_hinge", "square", "logistic", "smooth_hinge", "exponential")
KINDS = ("grades", "weights", "gain", "share", "classes", "one-way", "two-way")
PENALTIES = ("ridge", "lasso", "elastic net", "groups", "sign")
NEAR = 1e-7
"""What Clarabel's optimum may err by, as a share of one plus it."""

Pairs = list[tuple[int, int, float]]


def vertices(n: int, k: Fraction) -> Iterator[list[tuple[int, float]]]:
    """All extreme points of 0 <= p <= 1, sum p = k."""
    whole = int(k)
    rest = float(k - whole)
    for chosen in itertools.combinations(range(n), whole):
        full = [(i, 1.0) for i in chosen]
        if rest == 0:
            yield full
            continue
        for last in set(range(n)) - set(chosen):
            yield [*full, (last, rest)]


def drawn(seed: int) -> tuple[str, Problem, np.ndarray, list[Pairs]]:
    """Return a name, a problem, its rows, and the lists of pairs of which the worst counts."""
    rng = np.random.default_rng([11, seed])
    kind, loss = KINDS[seed % len(KINDS)], str(rng.choice(LOSSES))
    tail = kind in ("one-way", "two-way")
    if tail and loss == "square":
        loss = "hinge"
    n = int(rng.integers(6, 10)) if tail else int(rng.integers(5, 16))
    d = int(rng.integers(1, 5))
    X = np.round(rng.normal(size=(n, d)), int(rng.choice([1, 6])))
    penalty = penalty_of(rng, str(rng.choice(PENALTIES[:1] if tail else PENALTIES)), d)
    if kind in ("grades", "weights", "gain", "share"):
        stated, true = ordered(rng, n, kind)
        lists = [[(i, j, float(c)) for i, j, c in zip(true.i, true.j, true.weight, strict=True)]]
        risk: Any = Mean(stated, ALL_LOSSES[loss])
    else:
        y = rng.permutation(np.arange(n) < rng.integers(2, n - 1))
        up, low = np.flatnonzero(y), np.flatnonzero(~y)
        fpr = Fraction(1) if kind == "classes" else Fraction(int(rng.integers(1, 10)), 10)
        tpr = Fraction(int(rng.integers(1, 9)), 10) if kind == "two-way" else Fraction(0)
        kp, kq = max((1 - tpr) * up.size, Fraction(1)), max(fpr * low.size, Fraction(1))
        each = 1 / float(kp * kq)
        lists = [
            [(int(up[i]), int(low[j]), p * q * each) for i, p in ps for j, q in qs]
            for ps in vertices(up.size, kp)
            for qs in vertices(low.size, kq)
        ]
        risk = tail_risk(AllPairs().on(y), ALL_LOSSES[loss], fpr, tpr)
    name = f"{seed}: {kind}, n {n}, {loss}, {penalty!r}"
    return name, Problem(Rows(X), risk, penalty), X, lists


def ordered(rng: np.random.Generator, n: int, kind: str) -> tuple[Any, Any]:
    """Draw ordered pairs until there is one."""
    while True:
        try:
            return grades(rng, n, kind, "auto")
        except InputError:
            continue


def penalty_of(rng: np.random.Generator, kind: str, d: int) -> Any:
    l2, l1 = float(10.0 ** rng.uniform(-3, 0)), float(10.0 ** rng.uniform(-2.5, -0.5))
    if kind == "ridge":
        return penalty_from(l2)
    if kind == "groups":
        return penalty_from(l2 * int(rng.integers(2)), l1, rng.integers(0, 2, d))
    if kind == "sign":
        return penalty_from(l2, l1 * int(rng.integers(2)), None, [int(rng.integers(d))])
    return penalty_from(l2 if kind == "elastic net" else 0.0, l1)


def judged(seed: int, max_time: float = 1.0) -> tuple[str, Any, float]:
    """Return the name of a drawn problem, our certificate and Clarabel's optimum."""
    name, problem, X, lists = drawn(seed)
    loss = problem.risk.mean.loss if isinstance(problem.risk, Tail) else problem.loss
    best, _ = worst_reference(X, lists, loss.name, problem.penalty)
    return name, choose_solver(problem, "auto", 1e-6, max_time).solve(problem).certificate, best


def outside(name: str, found: Any, best: float) -> list[str]:
    """What is wrong with an interval if `best` is the optimum; empty if it holds it."""
    room, wrong = NEAR * (1 + abs(best)), []
    if not found.dual <= best + room:
        wrong.append(f"{name}: dual {found.dual!r} above {best!r}")
    if not best - room <= found.primal:
        wrong.append(f"{name}: primal {found.primal!r} below {best!r}")
    return wrong


@pytest.mark.slow
def test_an_optimum_elsewhere_is_seen() -> None:
    """The comparison can fail: intervals are narrow, and either end is looked at."""
    for seed in range(7):
        name, found, best = judged(seed, 60.0)  # narrow on a busy machine, too
        assert found.primal - found.dual < 1e-3 * best, name
        assert len(outside(name, found, 1.01 * best)) == len(outside(name, found, 0.99 * best)) == 1


@pytest.mark.slow
@each("seed", seeds(140))
def test_the_optimum_lies_in_the_interval(seed: int) -> None:
    try:
        found = judged(seed)
    except cp.SolverError:  # Clarabel gave up: there is nothing to compare with
        return
    assert outside(*found) == []
