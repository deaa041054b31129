"""What parts of the library refuse when called by themselves: a word of it, and the call."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from aucert.exact import (
    AllPairs,
    ElasticNet,
    Gram,
    GroupedRows,
    GroupLasso,
    InputError,
    OrderedPairs,
    PairList,
    PartitionedRows,
    Ridge,
    Rows,
    Sign,
    StreamedRows,
    TooLargeError,
    concordance,
    concordance_index,
    exact_certificate,
    lam_from_C,
    linear_problem,
    pair_problem,
    partial_auc,
    solve,
    survival_pairs,
)
from aucert.exact.estimators.thresholds import (
    RULES,
    get_rule,
    threshold_for_sensitivity,
    threshold_for_specificity,
)
from aucert.exact.formulation.formulation import formulate
from aucert.exact.formulation.named_weights import in_column_order
from aucert.exact.formulation.request import Request
from aucert.exact.losses.registry import HINGE, SQUARE, SQUARED_HINGE
from aucert.exact.pairs.auc import auc
from aucert.exact.pairs.concordance import compare_models, delong
from aucert.exact.pairs.nearest_pairs import nearest_pairs
from aucert.exact.problem.minorant import Alpha
from aucert.exact.problem.problem import Problem
from aucert.exact.problem.risk import Mean
from aucert.exact.problem.scalings import C_from_lam
from aucert.exact.problem.tail import Tail, tail_risk
from aucert.exact.problem.worst import Worst
from aucert.exact.solvers.closed_form import SquaredLossSolver
from aucert.exact.solvers.qp import LIMITS, QP
from aucert.exact.spaces.factor import factor_gram
from aucert.exact.square_loss.row_average import Moments, RowAverage
from aucert.exact.square_loss.support import SupportLoss
from loops import each
from own_parts import Box

Call = Callable[[], object]
SIX, PLUS = np.zeros(6), np.arange(6) < 3
FOUR, DIED = np.arange(4.0), np.ones(4, dtype=bool)
EYE, Y = np.eye(4), np.array([1, 0, 1, 0])
RNG = np.random.default_rng(5)
X, POSITIVE = RNG.normal(size=(20, 4)), np.arange(20) % 3 == 0
ALL, TWO = AllPairs().on(POSITIVE), Fraction(2)
SQUARED, HINGED = Mean(ALL, SQUARE), Mean(ALL, HINGE)
LINEAR, SOLUTION = linear_problem(EYE, Y, 1.0), solve(EYE, Y, 1.0)
STRUCTURED = formulate(EYE, Y, Request.of(1.0, structure=2.0))
MANY = linear_problem(np.zeros((300, 2)), np.arange(300) % 2, 1.0)
SUPPORT = SupportLoss(Moments(np.ones(2), np.eye(2)))
TINY: Any = np.zeros((2, 2))


def ordered(key: Any, group: Any = None, **words: Any) -> Call:
    return lambda: OrderedPairs(group, key, **words)


def nearest(**words: Any) -> Call:
    return lambda: nearest_pairs(np.zeros((3, 1)), np.array([True, False, False]), **words)


def with_penalty(penalty: Any, space: Any = None) -> Call:
    return lambda: Problem(space or Rows(X), Mean(ALL, SQUARED_HINGE), penalty)


STATISTICS: list[tuple[str, Call]] = [
    ("row 1", lambda: auc(np.array([0.0, np.nan]), np.array([True, False]))),
    ("finite", lambda: concordance_index(FOUR, DIED, [0, 1, np.nan, 2])),
    ("4 rows", lambda: concordance_index(FOUR, DIED, [0, 1])),
    ("tied_tol", lambda: concordance_index(FOUR, DIED, np.zeros(4), -1.0)),
    ("no pair", lambda: concordance_index(FOUR, ~DIED, np.zeros(4))),
    ("gain", lambda: concordance(OrderedPairs(None, FOUR, gain=FOUR), np.zeros(4))),
    ("groups as units", lambda: concordance(OrderedPairs(None, FOUR), FOUR, units="groups")),
    ("units", lambda: concordance(OrderedPairs(None, FOUR), FOUR, units="queries")),
    ("same rows", lambda: compare_models(delong(SIX, PLUS), delong(SIX[1:], PLUS[1:]))),
    ("level", lambda: delong(SIX, PLUS).interval(1.0)),
    ("6 rows", lambda: delong(SIX[1:], PLUS)),
    ("finite", lambda: delong(SIX + np.nan, PLUS)),
    ("two rows", lambda: delong(SIX, np.arange(6) < 1)),
    ("boolean", lambda: delong(SIX, PLUS.astype(int))),
    ("fpr_max", lambda: partial_auc(SIX, PLUS, 0.0)),
]
PAIRS: list[tuple[str, Call]] = [
    ("no pair is ordered", ordered([1, 1])),
    ("no pair is ordered", ordered([1, 2], ["a", "b"])),
    ("no pair is ordered", ordered([1, 2], upper=[1, 0])),
    ("key of row 1", ordered([1, np.nan])),
    ("one number per row", ordered([])),
    ("upper of row 1", ordered([1, 2], upper=[1, -1])),
    ("lower of row 1", ordered([1, 2], lower=[1, np.inf])),
    ("2 rows", ordered([1, 2], lower=[1])),
    ("2 rows", ordered([1, 2], [1])),
    ("gain must be whole", ordered([1, 2], gain=[1, 0.5])),
    ("gain must grow", ordered([1, 2], gain=[1, 0])),
    ("no pair is ordered", ordered([1, 2], gain=[1, 1])),
    ("share must be", ordered([1, 2], share="all")),
    ("differs", ordered([1, 2], share=[1, 2])),
    ("has a share", ordered([1, 2], share=[0, 0])),
    ("not both", ordered([1, 2], share=[1, 1], gain=[0, 1])),
    ("form must be", ordered([1, 2], form="quick")),
    # The first product is 2^30 modulo 2^64.
    ("gains times weights", ordered(
        [2, 1, 0], upper=[2**34 + 1, 1, 0], lower=[0, 0, 1], gain=[2**30, 2**30, 0])),
    ("0 or 1", lambda: OrderedPairs(None, FOUR, upper=[0, 1, 2, 1]).deficiency(FOUR, FOUR)),
    (".", lambda: survival_pairs([1, 2], [1])),
    (".", lambda: survival_pairs([1, np.inf], [1, 0])),
    (".", lambda: survival_pairs([1, 2], [1, 2])),
    (".", lambda: survival_pairs([1, 2], [0, 0])),
    *(("whole number >= 1", nearest(k=k)) for k in (0, 2.0, True)),
    ("rule", nearest(k=1, rule="mutual")),
    ("anchor_filter", nearest(k=1, anchor_filter="B")),
]  # fmt: skip
BOTH = np.array([True, False])
THRESHOLDS: list[tuple[str, Call]] = [
    (word, lambda rule=rule, of=of: rule(*of))
    for rule in (
        *RULES.values(),
        partial(threshold_for_sensitivity, sensitivity=0.8),
        partial(threshold_for_specificity, specificity=0.8),
    )
    for word, of in (
        ("both classes", (np.zeros(2), np.array([True, True]), None)),
        ("boolean", (np.zeros(2), np.array([1, 0]), None)),
        ("finite", (np.array([0.0, np.nan]), BOTH, None)),
        ("2 rows", (np.zeros(3), BOTH, None)),
        ("positive weight", (np.zeros(2), BOTH, np.array([1.0, 0.0]))),
    )
]
for bad in (0.0, 1.1, np.nan, "all", True):
    THRESHOLDS += [
        ("sensitivity", lambda x=bad: threshold_for_sensitivity(SIX, PLUS, sensitivity=x)),
        ("specificity", lambda x=bad: threshold_for_specificity(SIX, PLUS, specificity=x)),
    ]
THRESHOLDS.append(("equal-error, midpoint, youden, accuracy", lambda: get_rule("best")))
RISKS: list[tuple[str, Call]] = [
    ("never grows with the margin: square does", lambda: Tail(SQUARED, TWO, TWO)),
    ("without weights", lambda: Tail(Mean(AllPairs(np.ones(20)).on(POSITIVE), HINGE), TWO, TWO)),
    ("kq = 15", lambda: Tail(HINGED, TWO, Fraction(15))),
    *(
        (r"fpr_max|tpr_min", lambda of=of: tail_risk(ALL, HINGE, *of))
        for of in ((0.0, 0.0), (1.1, 0.0), (0.5, 1.0), (0.5, -0.1), (float("nan"), 0.0))
    ),
    ("needs means", lambda: Worst(())),
    ("needs means", lambda: Worst((HINGED, 3))),  # type: ignore[arg-type]
    ("same rows", lambda: Worst((HINGED, Mean(AllPairs().on(POSITIVE[:-1]), HINGE)))),
    ("one loss", lambda: Worst((HINGED, SQUARED))),
    ("give the scores", lambda: Worst((HINGED,)).minorant(Alpha(np.ones(3)))),
    ("C must be > 0", lambda: lam_from_C(0.0, 10)),
    ("C must be > 0", lambda: lam_from_C(float("nan"), 10)),
    ("n_pairs", lambda: lam_from_C(1.0, 0)),
    ("convention", lambda: lam_from_C(1.0, 10, "libfm")),
    ("share_pos", lambda: lam_from_C(1.0, 10, "sht-authors")),
    ("lam must be > 0", lambda: C_from_lam(-1.0, 10)),
]
PENALTIES: list[tuple[str, Call]] = [
    ("group of feature 1 is nan", lambda: GroupLasso(0.3, 0.2, np.array([0.0, np.nan]))),
    ("mixed types", lambda: GroupLasso(0.3, 0.2, np.array([None, 1]))),
    # A sign is a list of columns: 1, 1, 1 is more likely meant as one number per feature.
    ("named twice", lambda: Sign(Ridge(0.3), np.array([1, 1, 1]))),
    ("flatnonzero", lambda: Sign(Ridge(0.3), np.array([True, False]))),
    *(
        (r"linear rows", with_penalty(penalty, space))
        for penalty in (ElasticNet(0.3, 0.2), GroupLasso(0.3, 0.2, np.array([0, 0, 1, 1])))
        for space in (Gram(X @ X.T), StreamedRows(X))
    ),
    ("linear rows", with_penalty(Sign(Ridge(0.3)), StreamedRows(X))),
    ("4 features", with_penalty(GroupLasso(0.1, 0.1, np.zeros(3)))),
    ("4 features", with_penalty(Sign(Ridge(0.1), np.array([4])))),
    ("4 features", with_penalty(Sign(GroupLasso(0.1, 0.1, np.zeros(5))))),
    ("ridge penalty, not ElasticNet", lambda: with_penalty(ElasticNet(0.1, 0.1))().lam),  # type: ignore[attr-defined]
    ("l1 must be > 0", lambda: ElasticNet(0.0, 0.0)),
    ("goes with", lambda: Sign(Box(0.1, -1, 1))),  # type: ignore[arg-type]
]
OTHERS: list[tuple[str, Call]] = [
    ("hinge", lambda: RowAverage.of_problem(linear_problem(X, POSITIVE, 1.0))),
    ("pairs", lambda: RowAverage.of_problem(
        linear_problem(X, POSITIVE, 1.0, "square", PairList(np.array([0]), np.array([1]))))),
    ("rows", lambda: RowAverage.of_problem(
        linear_problem(X, POSITIVE, 1.0, "square").over(Gram(X @ X.T)))),
    ("one class", lambda: RowAverage.of(Rows(X), POSITIVE | True)),
    ("lam", lambda: RowAverage.of(Rows(X), POSITIVE, None, -1.0)),
    ("boolean", lambda: RowAverage.of(Rows(X), POSITIVE[:-1])),
    ("square loss", lambda: SquaredLossSolver().solve(LINEAR)),
    *(("support", lambda of=of: SUPPORT.optimum(of)) for of in ([0, 6], [-1], [1, 1], [0.5])),
    (".", lambda: SupportLoss(Moments(np.ones(3), np.eye(2)))),
    (".", lambda: SupportLoss(Moments(np.full(2, np.nan), np.eye(2)))),
    ("lam", lambda: SupportLoss(Moments(np.ones(2), np.eye(2)), lam=-1.0)),
    ("w must have 2", lambda: SUPPORT.value(np.ones(3))),
    (rf"22500 pairs .* {LIMITS['teaching']} .*cutting-plane", lambda: QP("teaching").solve(MANY)),
    (".", lambda: QP(form="dense")),  # type: ignore[arg-type]
    (".", lambda: QP(backend="GUROBI")),  # type: ignore[arg-type]
    ("for the hinge", lambda: QP().solve(linear_problem(X, POSITIVE, 1.0, "square"))),
    *(
        (word, lambda problem=problem: exact_certificate(problem, SOLUTION))
        for word, problem in (
            ("kernel", pair_problem(Gram(EYE), Y == 1, AllPairs(), HINGE, Ridge(1.0))),
            ("structure", STRUCTURED.meant),
            ("structure", STRUCTURED.work),
            ("in blocks", LINEAR.over(StreamedRows(EYE))),
            ("the weights shape", linear_problem(EYE[:, :2], Y, 1.0)),
            ("finite scores|are needed", linear_problem(EYE[:3], Y[:3], 1.0)),
        )
    ),
    ("diagonal entry > 0", lambda: factor_gram(np.zeros((3, 3)))),
    ("finite", lambda: factor_gram(np.array([[1.0, np.nan], [np.nan, 1.0]]))),
    ("must be", lambda: PartitionedRows([TINY])),
    ("must be", lambda: PartitionedRows([(TINY,)])),  # type: ignore[list-item]
    ("must be", lambda: GroupedRows([(TINY, [0, 1])])),  # type: ignore[list-item]
    ("bool", lambda: PartitionedRows([(TINY, [0, 1])])),
    ("matrix", lambda: PartitionedRows([(TINY[0], [False, True])])),
    ("matrix", lambda: GroupedRows([(3.0, [0, 1], [0, 1])])),  # type: ignore[list-item]
    ("3 labels", lambda: PartitionedRows([(TINY, [False, True, True])])),
    *(
        (word, lambda names=names: in_column_order(np.ones(len(names)), names, ["a", "b"]))
        for word, names in (
            ("no weight for 'b', and the data have no 'z'", ["a", "z"]),
            ("two are called 'a'", ["a", "a", "b"]),
            ("no weight for 'b'", ["a"]),
        )
    ),
]  # fmt: skip


@each(("word", "call"), STATISTICS + PAIRS + THRESHOLDS + RISKS + PENALTIES + OTHERS)
def test_it_is_refused(word: str, call: Call) -> None:
    with pytest.raises((InputError, TooLargeError), match=word):
        call()
