"""Kinds of the fuzzer: a risk and its minorants at hard scores, penalties, ordered pairs, routes.

The one fact that certificates rest on is judged without any solver: U(s) >= V - c's, at the scores
that the minorant was made from, where it is tight, and at others. U is summed pair by pair in
fractions, or to 60 digits.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any
from unittest import mock

import numpy as np

import naive
from aucert.exact import (
    AllPairs,
    Certificate,
    InputError,
    Minorant,
    PairList,
    Rows,
    StreamedRows,
    certify,
    solve,
)
from aucert.exact.losses.registry import ALL_LOSSES, SmoothHinge
from aucert.exact.pairs.concordance import concordance, delong
from aucert.exact.pairs.kinds import cross_group_pairs, survival_pairs, uno_pairs
from aucert.exact.pairs.ordered_pairs import OrderedPairs
from aucert.exact.problem.minorant import Alpha, Evidence, Marginals, Mix, Scores
from aucert.exact.problem.penalties import GroupLasso, Ridge, Sign, penalty_from
from aucert.exact.problem.problem import Problem
from aucert.exact.problem.risk import Mean
from aucert.exact.problem.tail import Tail, tail_risk
from aucert.exact.problem.worst import Worst
from aucert.exact.proof import check_proof
from aucert.exact.proof.write import columns_of
from aucert.exact.solvers.choose import choose_solver
from aucert.exact.sums import binned
from aucert.exact.tools.rounding import Bound
from aucert.validation.checking.check_solver import check_solver
from aucert.validation.reference.problems import reference_problems
from decimal_losses import BEYOND, mean_of, root, tail_pairs
from fuzz_kinds import (
    damaged,
    estimator,
    in_blocks,
    kernel,
    linear,
    own_kernel,
    squared_in_blocks,
    structured,
    weights,
)
from fuzzing import (
    TIGHT,
    Found,
    Kind,
    LinearTruth,
    bound_faults,
    hard_labels,
    hard_values,
    hard_weight,
    in_form,
    over,
)
from ordered_naive import naive_ordered, naive_survival
from proofs import Stated, scalars

SMOOTH = ("logistic", "smooth_hinge", "exponential")
QUADRATIC = ("hinge", "squared_hinge", "square")


@dataclass(frozen=True)
class Core:
    """A risk of the library, U of exact scores by its definition, and how `solve` is asked."""

    risk: Any
    truth: Callable[[Sequence[Fraction]], Fraction]
    name: str
    asked: dict[str, Any] = field(default_factory=dict)


def hard_scores(rng: np.random.Generator, n: int, loss: str) -> np.ndarray:
    """Return scores (n,): ties, margins of one, far ones, tiny and huge ones, of long digits."""
    kind = str(rng.choice(["plain", "ties", "edge", "far", "one far", "offset", "tiny", "huge"]))
    s = rng.normal(size=n).astype(np.longdouble)
    if kind == "ties":
        s = np.round(2 * s) / 2
    elif kind == "edge":
        s = np.round(s) + rng.choice([0.0, 2.0**-52, -(2.0**-53), 1e-9], n)
    elif kind == "far":
        s *= np.longdouble(10.0 ** rng.uniform(0, 2.2 if loss == "exponential" else 6))
    elif kind == "one far":
        s[rng.integers(n)] *= 100 if loss == "exponential" else 1e6
    elif kind == "offset":
        s += np.longdouble(10.0 ** rng.integers(1, 9))
    elif kind == "tiny":
        s *= np.longdouble(10.0 ** -rng.integers(3, 150))
    elif kind == "huge" and loss not in ("exponential", "logistic"):
        s *= np.longdouble(10.0 ** rng.integers(7, 150))
    if rng.integers(2):
        return s.astype(float)
    return s + rng.normal(size=n).astype(np.longdouble) * np.abs(s) * np.longdouble(2) ** -58


def judge(rng: np.random.Generator, core: Core, loss: str, found: Found) -> None:
    """Judge the value, its slip, and every kind of minorant that the risk makes."""
    found.name, risk, n = core.name, core.risk, core.risk.n
    s = hard_scores(rng, n, loss)
    width = float(rng.choice([0.0, 0.0, 1e-3, 0.5, 20.0]))
    true = core.truth(naive.exact(s))
    sums = risk.sums(s, width)
    error = np.abs(s).astype(float) * 10.0 ** rng.uniform(-17, -1) * rng.integers(0, 2, n)
    upper = risk.upper(s, error)
    found.judged(value_faults(true, Bound(sums.value, sums.value_rounding, sums.excess)))
    moved = s + (error * rng.choice([-1.0, 1.0, 0.5], n) * (1 - 1e-9)).astype(np.longdouble)
    far = core.truth(naive.exact(moved))
    most = Fraction(upper.value) + Fraction(upper.error)
    found.judged(over("U next to the scores is above `upper`", far * (1 - BEYOND), most))
    scale = float(rng.choice([1.0, 1.0, 0.3, 0.0]))
    short = s.astype(float)
    evidence: list[Evidence] = [Scores(short, width, scale), Scores(-short, 0.0, scale)]
    shares = (0.3, 0.7) if rng.integers(2) else (0.25, 0.5)
    evidence.append(Mix(tuple(zip(shares, evidence, strict=True))))
    evidence += other_evidence(rng, risk, loss)
    others = [naive.exact(x) for x in (short, -short, 2 * short, np.zeros(n), rng.normal(size=n))]
    points = [s for s in others if loss != "exponential" or max(s) - min(s) < 1000]
    values = [core.truth(s) for s in points]
    for one in evidence:
        found.judged(minorant_faults(risk.minorant(one), points, values, type(one).__name__))


def other_evidence(rng: np.random.Generator, risk: Any, loss: str) -> list[Evidence]:
    """Return an alpha a listed pair, or marginals, where the risk makes minorants of them."""
    pairs = getattr(risk, "pairs", None)
    if isinstance(pairs, PairList):
        return [Alpha(rng.normal(size=pairs.i.size) * 10.0 ** rng.uniform(-2, 2))]
    rows = pairs.listed() if isinstance(pairs, OrderedPairs) else None
    if rows is not None and rng.integers(2):
        return [Alpha(rng.normal(size=rows[0].size) * 10.0 ** rng.uniform(-2, 2))]
    weighty = isinstance(pairs, OrderedPairs) and int(max(pairs.a.max(), pairs.b.max())) > 1
    if loss != "hinge" or not isinstance(pairs, OrderedPairs) or weighty or pairs.gain is not None:
        return []
    u, v = rng.exponential(size=(2, pairs.n)) / pairs.n * 10.0 ** rng.uniform(-3, 1)
    net = risk.sums(rng.normal(size=pairs.n), 0.5).c
    return [Marginals(u, v), Marginals(np.maximum(net, 0.0), np.maximum(-net, 0.0))]


def value_faults(true: Fraction, stated: Bound) -> list[str]:
    apart, slack, error = true - Fraction(stated.value), true * BEYOND, Fraction(stated.error)
    wrong = over("U is above its value and error", apart, error + slack)
    most = error + Fraction(stated.excess) + slack
    return wrong + over("U is below its value, error and excess", -apart, most)


def minorant_faults(
    minorant: Any, points: Sequence[Sequence[Fraction]], values: Sequence[Fraction], name: str
) -> list[str]:
    """Return where V - c's exceeds U by more than the minorant's own bounds."""
    c = naive.exact(minorant.c)
    least = Fraction(minorant.value) - Fraction(minorant.value_error)
    apart = Fraction(minorant.c_error) + Fraction(minorant.deficiency)
    wrong = []
    for s, true in zip(points, values, strict=True):
        middle, reach = (max(s) + min(s)) / 2, (max(s) - min(s)) / 2
        below = least - sum(x * (y - middle) for x, y in zip(c, s, strict=True)) - apart * reach
        wrong += over(f"the minorant of {name} is above U", below, true * (1 + BEYOND))
    return wrong


KINDS_OF_ORDER = ("grades", "weights", "floats", "gain", "share", "survival", "uno")


def ordered_core(rng: np.random.Generator, n: int, kind: str, form: str, loss: str) -> Core:
    """Return ordered pairs: by group and grade, with weights, gains or shares, or of survival."""
    asked: dict[str, Any] = {}
    if kind in ("survival", "uno"):
        time = rng.integers(0, max(2, n // 2), n).astype(float) * 0.1
        event = rng.uniform(size=n) < 0.6
        if kind == "uno":
            made = uno_pairs(time, event, float(np.median(time)))
            weight = np.asarray(made.upper)  # deaths from tau on are not upper rows
            true = naive_survival(time, event & (weight > 0), weight, event)
        else:
            made, true = survival_pairs(time, event), naive_survival(time, event)
            asked = {"time": time, "event": event}
        stated = OrderedPairs(made.group, made.key, made.upper, made.lower, form=form)
    else:
        stated, true = grades(rng, n, kind, form)
        asked = {"pairs": stated}
    pairs = list(zip(true.i, true.j, true.weight, strict=True))
    assert stated.count() == len(pairs), f"{stated.count()} pairs are counted, not {len(pairs)}"
    risk = Mean(stated, ALL_LOSSES[loss])
    return Core(risk, lambda s: mean_of(loss, s, pairs), f"{kind}, n {n}, {form}, {loss}", asked)


def ordered(rng: np.random.Generator, found: Found) -> None:
    """Ordered pairs: groups, grades, survival, Uno's weights, gains and shares."""
    n = int(rng.integers(3, 13)) if rng.uniform() < 0.8 else int(rng.integers(40, 60))
    form = str(rng.choice(["auto", "binned"]))
    loss = str(rng.choice(["hinge", "hinge", *QUADRATIC, *SMOOTH]))
    core = ordered_core(rng, n, str(rng.choice(KINDS_OF_ORDER)), form, loss)
    judge(rng, core, loss, found)


def grades(rng: np.random.Generator, n: int, kind: str, form: str) -> tuple[OrderedPairs, Any]:
    """Return ordered pairs by group and grade, and the same one by one."""
    group = rng.integers(0, rng.integers(1, 4), n) if rng.integers(2) else None
    key = rng.integers(0, rng.integers(2, 6), n)
    upper: Any = None
    lower = gain = share = None
    if kind == "weights":
        top = int(rng.choice([1, 3, 2**30, 2**51]))
        upper, lower = rng.integers(0, top + 1, (2, n))
    elif kind == "floats":
        upper = rng.integers(1, 2**30, n) * 2.0 ** rng.integers(-15, 6, n)
    elif kind == "gain":
        gain = key * int(rng.choice([1, 3, 10**6])) + int(rng.choice([0, 10**6]))
    elif kind == "share":
        codes = np.zeros(n, dtype=int) if group is None else group
        share = (10.0 ** rng.uniform(-9, 9, 4))[codes]
    stated = OrderedPairs(group, key, upper, lower, gain, share, form)
    return stated, naive_ordered(group, key, upper, lower, gain, share)


def tail_core(
    rng: np.random.Generator, y: np.ndarray, loss: str, rates: Sequence[str], **form: Any
) -> Core:
    """Return partial AUC: parts of rows, less than one row, one row, both ways."""
    fpr, tpr = Fraction(str(rng.choice(rates))), 1 - Fraction(str(rng.choice(rates)))
    pairs = AllPairs(**form).on(y == 1)
    risk = tail_risk(pairs, ALL_LOSSES[loss], fpr, tpr)
    assert isinstance(risk, Tail) or (fpr, tpr) == (1, 0), "a part of the range is not a tail"
    kp, kq = max((1 - tpr) * pairs.n_pos, Fraction(1)), max(fpr * pairs.n_neg, Fraction(1))

    def truth(s: Sequence[Fraction]) -> Fraction:
        return mean_of(loss, s, tail_pairs(s, (y == 1).tolist(), kp, kq))

    name = f"tail, n {y.size}, {loss}, fpr {float(fpr):g}, tpr {float(tpr):g}"
    return Core(risk, truth, name)


def tail(rng: np.random.Generator, found: Found) -> None:
    """Partial AUC at hard scores."""
    y = hard_labels(rng, int(rng.integers(3, 16)))
    loss = str(rng.choice(["hinge", "hinge", "squared_hinge", *SMOOTH]))
    rates = ("0.1", "0.3", "0.05", "0.5", "0.123456789012345678", "1")
    judge(rng, tail_core(rng, y, loss, rates, bins=1 << 12), loss, found)


def smooth(rng: np.random.Generator, found: Found) -> None:
    """Smooth losses: by one convolution of bins, one by one, or as a product; weights 0 and 1e8."""
    n = int(rng.integers(3, 16))
    y = hard_labels(rng, n)
    loss = str(rng.choice(SMOOTH))
    corner = float(rng.choice([1.0, 1.0, 0.001, 0.3, 1000.0]))
    rule: Any = SmoothHinge(corner) if loss == "smooth_hinge" else ALL_LOSSES[loss]
    weight = hard_weight(rng, y) if rng.integers(2) else None
    choice = rng.integers(4)
    if choice == 0:
        plus, minus = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
        m = int(rng.integers(1, 30))
        pairs: Any = PairList(rng.choice(plus, m), rng.choice(minus, m)).on(y == 1)
    else:
        form, bins = ("binned" if choice == 1 else "auto"), 1 << int(rng.integers(0, 14))
        pairs = AllPairs(weight, form=form, bins=bins).on(y == 1)
    listed = naive.weighted_pairs((y == 1).tolist(), pairs)
    name = f"smooth, n {n}, {loss}, corner {corner:g}, way {choice}, weights {weight is not None}"

    def truth(s: Sequence[Fraction]) -> Fraction:
        return mean_of(loss, s, listed, Fraction(corner))

    judge(rng, Core(Mean(pairs, rule), truth, name), loss, found)


SHAPES = ("gaussian", "ties", "constant", "duplicates", "equal")
FORMS = ("plain", "float32", "int8", "strided", "read-only", "longdouble", "list")


def penalised(rng: np.random.Generator, found: Found) -> None:
    """Elastic net, lasso, group lasso, signs, over classes or ordered pairs; every loss.

    Solutions, certificates of any weights and scores, and audits; a tight point is their rival.
    """
    n, d = int(rng.integers(4, 14)), int(rng.integers(1, 5))
    y, shape = hard_labels(rng, n), str(rng.choice([*SHAPES, "columns"]))
    values = hard_values(rng, y, d, shape)
    if shape == "columns":
        values = values / np.abs(values).max(axis=0) * 10.0 ** rng.integers(-4, 5, d)
    scale = 10.0 ** float(rng.choice([0, 0, 0, -6, 6, -60, 60]))
    given, X = in_form(values, str(rng.choice(FORMS)))
    if scale != 1:
        given = X = values * scale
    loss = str(rng.choice(["hinge", *QUADRATIC, *SMOOTH]))
    if rng.integers(2):
        kind = str(rng.choice(["grades", "weights", "gain", "share", "survival"]))
        core = ordered_core(rng, n, kind, "auto", loss)
    else:
        pairs = naive.weighted_pairs((y == 1).tolist(), AllPairs())
        risk = Mean(AllPairs().on(y == 1), ALL_LOSSES[loss])
        core = Core(risk, lambda s: mean_of(loss, s, pairs), f"classes, {loss}", {"y": y})
    penalty = hard_penalty(rng, X, d)
    found.name = f"{core.name}, {shape}, X {X.shape}, scale {scale:g}, {penalty!r}"
    objective = whole_of(X, core.truth, penalty)
    asked: Any = {"y": None, "loss": loss, "penalty": penalty, **core.asked}
    tight = solve(given, **asked, tol=1e-8, max_time=0.2)
    rough = solve(given, **asked, tol=1e-2, max_time=0.1)
    rival = both_judged(objective, penalty, rough, tight, found)
    far = tight.w * (1 + 10.0 ** rng.uniform(-6, 0) * rng.normal(size=d))
    if exact_penalty(penalty, naive.exact(far)) is None:
        return
    problem, value = Problem(Rows(given), core.risk, penalty), objective(far)
    near = problem.space.scores(tight.w) * (1 + 10.0 ** rng.uniform(-9, -1))
    width = float(rng.choice([0.0, 1e-3, 0.3]))
    claims: list[Any] = [
        Certificate.of(problem, far, witness)
        for witness in (Minorant.from_scores(problem, near, width), tight.witness)
    ]
    claims.append(certify(given, **asked, w=far, refine=bool(rng.integers(2)), max_time=0.2))
    for claim in claims:
        found.judged(claim_faults(claim, value, rival, penalty.l2))


def hard_penalty(rng: np.random.Generator, X: np.ndarray, d: int) -> Any:
    """Return a penalty in units of the rows."""
    unit = float(np.abs(X - X[0]).max()) or 1.0
    l1 = float(10.0 ** rng.uniform(-4, 0)) * unit
    l2 = float(10.0 ** rng.uniform(-5, 1)) * unit**2 * int(rng.integers(0, 4) > 0)
    if l2 > 0 and rng.integers(4) == 0:
        return Ridge(l2)
    groups = rng.integers(0, 2, d) if rng.integers(3) == 0 else None
    choice = int(rng.integers(3))
    sign = [None, "nonnegative", [int(rng.integers(d))]][choice]
    if l2 > 0 and groups is None and sign is not None and rng.integers(2):
        l1 = 0.0
    return penalty_from(l2, l1, groups, sign)


Objective = Callable[[np.ndarray], Fraction]


def whole_of(X: np.ndarray, mean: Callable[[list[Fraction]], Fraction], penalty: Any) -> Objective:
    """Return F by its definition; weights must keep the signs of the penalty."""
    rows = naive.exact(X)

    def objective(w: np.ndarray) -> Fraction:
        extra = exact_penalty(penalty, naive.exact(w))
        assert extra is not None, "a weight has a sign that the penalty forbids"
        return mean(naive.products(rows, naive.exact(w))) + extra

    return objective


def exact_penalty(penalty: Any, w: Sequence[Fraction]) -> Fraction | None:
    """Return the penalty by its definition; None where a sign is broken."""
    inner = penalty.penalty if isinstance(penalty, Sign) else penalty
    l2, l1 = Fraction(penalty.l2), Fraction(getattr(inner, "l1", 0.0))
    groups = inner.groups.tolist() if isinstance(inner, GroupLasso) else list(range(len(w)))
    if isinstance(penalty, Sign):
        bound = range(len(w)) if penalty.columns is None else penalty.columns.tolist()
        if any(w[k] < 0 for k in bound):
            return None
    value = l2 / 2 * Fraction(naive.norm2(w))
    for group in set(groups):
        inside = [x for x, of in zip(w, groups, strict=True) if of == group]
        size = Fraction(len(inside) if isinstance(inner, GroupLasso) else 1)
        value += l1 * root(size * Fraction(naive.norm2(inside)))
    return value


def claim_faults(claim: Any, value: Fraction, rival: Fraction, l2: float) -> list[str]:
    """Return what is false in a claim about weights of objective `value`, known to 50 digits."""
    return bound_faults(claim, value, min(value, rival), l2, value * BEYOND)


def checked_solver(rng: np.random.Generator, found: Found) -> None:
    """`check_solver`: what passes is within the tolerance, and no gap is understated."""
    problems = reference_problems()
    some = [problems[k] for k in rng.choice(len(problems), 3, replace=False)]
    loss, tol = str(rng.choice(QUADRATIC)), float(10.0 ** rng.uniform(-8, -1))
    noise, turn = 10.0 ** rng.uniform(-12, 0), int(rng.integers(8))
    found.name = f"check_solver, {loss}, tol {tol:.2g}, noise {noise:.2g}, {turn}"

    def fit(X: np.ndarray, y: np.ndarray, lam: float, sample_weight: Any = None) -> Any:
        w = solve(X, y, lam, loss=loss, sample_weight=sample_weight, tol=1e-10, max_time=0.3).w
        w = w * (1 + noise * rng.normal(size=w.size))
        if turn == 0:
            w[0] = [np.nan, np.inf, 1e200, -1e99][rng.integers(4)]
        return w.tolist() if turn == 1 else w.astype(np.float32) if turn == 2 else w

    names = [problem.name for problem in some]
    report = check_solver(fit, loss=loss, tol=tol, only=names, isolate=False)
    for row in report.rows:
        problem = row.problem
        if row.w is None:
            found.judged(["a pass without weights"] * (row.verdict == "pass"))
            continue
        pairs = AllPairs(problem.sample_weight)
        try:
            truth = LinearTruth(problem.X, problem.y == 1, problem.lam, loss, pairs)
            value = truth.objective(row.w)
        except InputError:
            found.judged(["weights pass whose F cannot be had"] * (row.verdict == "pass"))
            continue
        best = solve(problem.X, problem.y, problem.lam, loss=loss, pairs=pairs, **TIGHT)
        least = min(truth.objective(best.w), value)
        above, wrong = value - least, over("the lower bound is above F(best)", row.lower, least)
        if row.verdict == "pass":
            most = Fraction(tol) * max(least, Fraction(1, 10**7))
            wrong += over("what passes is above the tolerance", above, most)
        if row.gap is not None:
            most = Fraction(row.gap) * (1 + Fraction(1, 2**50))
            wrong += over("F - F(best) is above the gap", above, most)
        found.judged([f"{problem.name}: {text}" for text in wrong])


CORE: list[Kind] = [
    *(ordered, smooth, tail, ordered, penalised, smooth),
    *(tail, ordered, own_kernel, smooth, tail, checked_solver),
]
"""Twelve in turn: the core types and what is written against them."""


def solved_tail(rng: np.random.Generator, found: Found) -> None:
    """The general solvers of partial AUC: one-way, two-way, every loss that never grows."""
    n, d = int(rng.integers(4, 20)), int(rng.integers(1, 4))
    y = hard_labels(rng, n)
    X = hard_values(rng, y, d, str(rng.choice(SHAPES)))
    loss = str(rng.choice(["hinge", "squared_hinge", *SMOOTH]))
    core = tail_core(rng, y, loss, ("0.1", "0.3", "0.5", "1"))
    unit = float(np.abs(X - X[0]).max()) or 1.0
    judge_solver(X, core, Ridge(float(10.0 ** rng.uniform(-5, 1)) * unit**2), found)
    shares = 0.999 * rng.dirichlet(np.ones(4))
    widths = rng.choice([0, 0.3], size=4)
    if not isinstance(core.risk, Tail):
        return
    mixed = zip(shares.tolist(), widths.tolist(), strict=True)
    parts = tuple((x, Scores(rng.normal(size=n), width)) for x, width in mixed)
    minorant = core.risk.minorant(Mix(parts))
    points = [naive.exact(rng.normal(size=n) * 10.0 ** rng.integers(-2, 2)) for _ in range(3)]
    found.judged(minorant_faults(minorant, points, [*map(core.truth, points)], "mixture"))


def judge_solver(X: np.ndarray, core: Core, penalty: Any, found: Found) -> None:
    """Judge a rough and a tight solution, each other's rivals, in fractions."""
    found.name = f"{core.name}, X {X.shape}, {penalty!r}"
    problem = Problem(Rows(X), core.risk, penalty)
    rough = choose_solver(problem, "auto", 1e-3, 0.2).solve(problem)
    tight = choose_solver(problem, "auto", 1e-9, 0.3).solve(problem, w0=rough.w)
    both_judged(whole_of(X, core.truth, penalty), penalty, rough, tight, found)


def both_judged(
    objective: Objective, penalty: Any, rough: Any, tight: Any, found: Found
) -> Fraction:
    """Judge two solutions of one problem by each other; return the lesser objective."""
    values = [objective(rough.w), objective(tight.w)]
    for solution, value in zip((rough, tight), values, strict=True):
        found.judged(claim_faults(solution.certificate, value, min(values), penalty.l2))
    return min(values)


def zeros(rng: np.random.Generator, found: Found) -> None:
    """Weights that are proved to be zero: those of a tight solution are, to its radius."""
    n, d = int(rng.integers(5, 40)), int(rng.integers(2, 8))
    y = hard_labels(rng, n)
    X = hard_values(rng, y, d, str(rng.choice(["gaussian", "ties", "duplicates"])))
    loss = str(rng.choice(["hinge", *QUADRATIC, "logistic", "smooth_hinge"]))
    unit = float(np.abs(X - X[0]).max()) or 1.0
    lam = float(10.0 ** rng.uniform(-2, 0)) * unit**2
    l1 = float(10.0 ** rng.uniform(-2, 0)) * unit
    more: dict[str, Any] = {"lam": lam, "l1": l1, "loss": loss}
    if rng.integers(3) == 0:
        more["sign"] = "nonnegative"
    elif rng.integers(2):
        more["groups"] = rng.integers(0, 3, d)
    found.name = f"zeros, X {X.shape}, {more}"
    rough = solve(X, y, tol=float(10.0 ** rng.uniform(-5, -1)), max_time=0.2, **more)
    tight = solve(X, y, tol=1e-8, max_time=0.3, **more)
    assert rough.zeros_proved is not None
    off = np.abs(tight.w[rough.zeros_proved])
    wrong = off > tight.certificate.radius
    text = f"{int(wrong.sum())} weights are not zero, up to {off.max(initial=0):.3g}"
    found.judged([text] * bool(wrong.any()))


def statistics(rng: np.random.Generator, found: Found) -> None:
    """The concordance with its counts, DeLong's AUC and variance, one by one in fractions."""
    n = int(rng.integers(4, 30))
    scores = np.round(rng.normal(size=n), int(rng.integers(0, 3))) * 10.0 ** rng.integers(-8, 8)
    form, kind = str(rng.choice(["auto", "binned"])), str(rng.choice(["grades", "weights"]))
    stated, true = grades(rng, n, kind, form)
    found.name = f"statistics, n {n}, {kind}, {form}"
    half = {1: Fraction(1), 0: Fraction(1, 2), -1: Fraction(0)}
    signs = [int(np.sign(scores[i] - scores[j])) for i, j in zip(true.i, true.j, strict=True)]
    value = sum((w * half[s] for w, s in zip(true.weight, signs, strict=True)), Fraction(0))
    said = concordance(stated, scores)
    wrong = [f"C is {said.value!r}, not {float(value)!r}"] * (said.value != float(value))
    counts = [signs.count(k) for k in (1, -1, 0)]
    if counts != [said.concordant, said.discordant, said.tied_risk]:
        wrong.append(f"{said} counts, not {counts}")
    found.judged(wrong)
    y = hard_labels(rng, n) == 1
    if min(y.sum(), (~y).sum()) < 2:
        return
    order = np.sign(np.subtract.outer(scores[y], scores[~y]))
    right = (1 + order) / 2
    rows, columns = right.mean(axis=1), right.mean(axis=0)
    variance = rows.var(ddof=1) / rows.size + columns.var(ddof=1) / columns.size
    estimate = delong(scores, y)
    wrong = [f"AUC {estimate.value!r}"] * bool(abs(estimate.value - right.mean()) > 1e-14)
    apart = abs(estimate.standard_error**2 - variance)
    found.judged(wrong + [f"variance off by {apart:.3g}"] * bool(apart > 1e-12))


def worst_group(rng: np.random.Generator, found: Found) -> None:
    """The worst of several groups, each with rows of both classes; every loss and penalty."""
    groups, d = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    n = 2 * groups + int(rng.integers(0, 10))
    y, member = hard_labels(rng, n), rng.integers(0, groups, n)
    y[: 2 * groups], member[: 2 * groups] = np.arange(2 * groups) % 2, np.arange(2 * groups) // 2
    X = hard_values(rng, y, d, str(rng.choice(SHAPES)))
    loss = str(rng.choice(["hinge", "squared_hinge", "square", *SMOOTH]))
    penalty = hard_penalty(rng, X, d)
    means, parts = [], []
    for group in range(groups):
        means.append(Mean(cross_group_pairs(y, member, group, group), ALL_LOSSES[loss]))
        mine = member == group
        i, j = np.nonzero(np.logical_and.outer(mine & (y == 1), mine & (y == 0)))
        parts.append([(int(a), int(b), Fraction(1)) for a, b in zip(i, j, strict=True)])

    def truth(s: Sequence[Fraction]) -> Fraction:
        return max(mean_of(loss, s, part) for part in parts)

    name = f"worst of {groups}, {loss}"
    judge_solver(X, Core(Worst(tuple(means)), truth, name), penalty, found)


def ordered_proof(rng: np.random.Generator, found: Found) -> None:
    """Proof files of ordered pairs: whole ones pass, changed ones are refused, or true."""
    n = int(rng.integers(4, 20)) if rng.uniform() < 0.8 else int(rng.integers(20, 60))
    kind = str(rng.choice(["query", "survival", "ordered"]))
    shape = str(rng.choice(["gaussian", "ties", "duplicates", "constant", "offset", "separable"]))
    X = hard_values(rng, hard_labels(rng, n), int(rng.integers(1, 4)), shape)
    columns = _columns(rng, n, kind)
    r = rng.integers(0, 4, n) if rng.integers(2) else np.ones(n, dtype=int)
    stated = Stated(X, kind, columns, r)
    if kind == "ordered":  # the file is about these columns: a row on no side counts 0 times
        stated = Stated(X, kind, *columns_of(stated.ordered_pairs()))
    unit = float(np.abs(X - X[0]).max()) or 1.0
    lam, tol = float(10.0 ** rng.uniform(-5, 2)) * unit**2, float(10.0 ** rng.uniform(-9, -1))
    found.name = f"proof, {kind}, {shape}, X {X.shape}, lam {lam:.2g}, tol {tol:.0e}"
    solution, tight = stated.solve(lam, tol=tol), stated.solve(lam, tol=1e-9, max_time=0.3).w
    proof = stated.written(lam, solution)
    try:
        found.judged([])
        stated.check(check_proof.check, proof)
    except ValueError as why:
        found.false.append(f"the file that was written is refused: {why}")
    if rng.integers(2):  # the dual point of somebody's scores, rounded to whole numbers
        bins, half = 1 << int(rng.integers(0, 12)), int(rng.integers(0, 40))
        scores = np.floor(bins * (X @ (tight * rng.choice([1.0, 0.9])))).astype(np.int64)
        kept = {name: x for name, x in proof.items() if name not in ("u", "v", "cap")}
        proof = kept | scalars(kind="scores", bins=bins, half=half)
        proof["scores"] = scores if np.abs(X @ tight).max() < 1e12 else 0 * scores
    damaged(rng, found, stated, proof, tight)


def _columns(rng: np.random.Generator, n: int, kind: str) -> dict[str, Any]:
    """Return what orders n rows, with ties; some pair there is in most."""
    names = np.array(["b", "a", "c"])[rng.integers(0, int(rng.integers(1, 4)), n)]
    if kind == "survival":
        return {"time": rng.integers(0, 6, n) / 2, "event": rng.random(n) < 0.7}
    key = rng.integers(0, int(rng.integers(2, 7)), n) / 2
    if kind == "query":
        return {"y": key, "qid": names if rng.integers(2) else rng.integers(0, 3, n)}
    group = np.unique(names, return_inverse=True)[1]
    columns: dict[str, Any] = {"key": key, "group": group}
    if rng.integers(2):
        columns |= {"upper": rng.random(n) < 0.8, "lower": rng.random(n) < 0.8}
    if rng.integers(2):
        columns["share"] = (10.0 ** rng.uniform(-6, 6, 3))[group]
    return columns


PAIRS: list[Kind] = [
    *(penalised, solved_tail, statistics, penalised, zeros),
    *(penalised, ordered_proof, worst_group, penalised, ordered_proof),
]
"""Ten in turn."""


EXACT = "aucert.exact."
THREADS = 3


def lowered(rng: np.random.Generator) -> dict[str, Any]:
    """Return thresholds by name: each way is taken in some problems, alone or with others."""
    found: dict[str, Any] = {}
    if rng.integers(2):
        found |= {"api.solve.HELD_ROWS": 1, "api.solve.HELD_NUMBERS": 1}
        found["api.solve.MOSTLY_DIFFERENT"] = float(rng.integers(2))
    if rng.integers(2):
        found["spaces.rows.LARGE"] = 1
        found |= {"problem.risk.LONG_ROWS": 0, "problem.risk.NEGLIGIBLE": 1.0}
    if rng.integers(2):
        found["spaces.blocks.FEW_COLUMNS"] = int(rng.integers(1, 8))
    if rng.integers(2):
        found["spaces.blocks.STRETCH_NUMBERS"] = int(rng.integers(1, 60))
        found["spaces.blocks.workers"] = lambda numbers: THREADS
    if rng.integers(2):
        found |= {"tools.compiling.IMPORT_PRICE": np.inf, "tools.compiling.COMPILE_PRICE": np.inf}
    if rng.integers(2):
        found |= {f"spaces.factor.{k}": v for k, v in
                  (("PLAIN_FROM", 2), ("PLAIN_RANK", 0.7), ("NEARLY_ALL", -1.0))}  # fmt: skip
    if rng.integers(2):
        found |= {
            "formulation.formulation.DENSE_LIMIT": 1,
            "spaces.gram.COLUMN_BLOCK": int(rng.integers(1, 5)),
            "spaces.gram.BLOCK_BYTES": 8 * int(rng.integers(1, 40)),
            "spaces.gram.PAGE": int(rng.integers(1, 5)),
        }
    if rng.integers(2):
        found["sums.convolved.FEW_PAIRS"] = 0
        found["sums.convolved.LARGEST_GRID"] = 1 << int(rng.integers(4, 16))
    return found


@contextmanager
def forced(rng: np.random.Generator) -> Iterator[None]:
    """Within, small problems take the routes of large ones."""
    block, grid = int(rng.integers(1, 40)), 1 << int(rng.integers(10, 23))

    def made(self: StreamedRows, source: Any, rows: int | None = None) -> None:
        init(self, source, rows or block)

    init = StreamedRows.__init__
    with ExitStack() as stack:
        for name, value in lowered(rng).items():
            module, _, attribute = name.rpartition(".")
            at = importlib.import_module(EXACT + module)
            stack.enter_context(mock.patch.object(at, attribute, value))
        stack.enter_context(mock.patch.object(StreamedRows, "__init__", made))
        stack.enter_context(mock.patch.object(binned, "LARGEST_GRID", grid))
        yield


def on_other_routes(kind: Kind) -> Kind:

    def routed(rng: np.random.Generator, found: Found) -> None:
        with forced(rng):
            kind(rng, found)

    routed.__name__ = kind.__name__
    return routed


PLAIN: list[Callable[..., object]] = [
    *(linear, squared_in_blocks, smooth, kernel, in_blocks, estimator),
    *(linear, squared_in_blocks, tail, kernel, weights, structured),
]

ROUTES: list[Kind] = [on_other_routes(kind) for kind in PLAIN]
"""Twelve in turn."""
