"""Kinds of the fuzzer: a risk and its minorants at hard scores, penalties, ordered pairs, routes.

The one fact that certificates rest on is judged without any solver: U(s) >= V - c's, at the scores
that the minorant was made from, where it is tight, and at others. U is summed pair by pair in
fractions, or to 60 digits.
"""

from __future__ import annotations

import importlib
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import naive
import proofs
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
from aucert.exact.losses.registry import ALL_LOSSES, HINGE, SmoothHinge
from aucert.exact.pairs.concordance import concordance, delong
from aucert.exact.pairs.kinds import cross_group_pairs, survival_pairs, uno_pairs
from aucert.exact.pairs.ordered_pairs import OrderedPairs
from aucert.exact.problem.minorant import Alpha, Evidence, Marginals, Mix, Scores
from aucert.exact.problem.penalties import ElasticNet, GroupLasso, Ridge, Sign, penalty_from
from aucert.exact.problem.problem import Problem
from aucert.exact.problem.risk import Mean
from aucert.exact.problem.tail import Tail, tail_risk
from aucert.exact.problem.worst import Worst
from aucert.exact.proof import check_proof
from aucert.exact.proof.write import columns_of, write_proof, write_proof_of
from aucert.exact.solvers.choose import choose_solver
from aucert.exact.sums.binned import Histogram
from aucert.exact.tools.exact_numbers import float_above, float_below
from aucert.exact.tools.rounding import Bound
from aucert.validation.checking.check_solver import check_solver
from aucert.validation.reference.problems import reference_problems
from decimal_losses import BEYOND, mean_of, root, tail_pairs
from fuzz_kinds import estimator, in_blocks, kernel, linear, mutated, structured, weights
from fuzzing import (
    TIGHT,
    Claim,
    Found,
    Kind,
    LinearTruth,
    NaiveTruth,
    bound_faults,
    faults,
    hard_labels,
    hard_lam,
    hard_loss,
    hard_pairs,
    hard_rows,
    hard_values,
    hard_weight,
    in_form,
)
from ordered_naive import listed, naive_ordered, naive_survival
from own_parts import Polynomial

SMOOTH = ("logistic", "smooth_hinge", "exponential")
QUADRATIC = ("hinge", "squared_hinge", "square")


@dataclass(frozen=True)
class Core:
    """A risk of the library, and U by its definition.

    Attributes
    ----------
    risk : Mean or Tail
    truth : function
        U of exact scores.
    name : str
    """

    risk: Any
    truth: Callable[[Sequence[Fraction]], Fraction]
    name: str


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
    risk, n = core.risk, core.risk.n
    s = hard_scores(rng, n, loss)
    width = float(rng.choice([0.0, 0.0, 1e-3, 0.5, 20.0]))
    true = core.truth(naive.exact(s))
    sums = risk.sums(s, width)
    error = np.abs(s).astype(float) * 10.0 ** rng.uniform(-17, -1) * rng.integers(0, 2, n)
    upper = risk.upper(s, error)
    found.judged(value_faults(true, Bound(sums.value, sums.value_rounding, sums.excess)))
    moved = s + (error * rng.choice([-1.0, 1.0, 0.5], n) * (1 - 1e-9)).astype(np.longdouble)
    far = core.truth(naive.exact(moved))
    excess = far * (1 - BEYOND) - Fraction(upper.value) - Fraction(upper.error)
    found.judged([f"U next to the scores exceeds `upper` by {float(excess):.3g}"] * (excess > 0))
    scale = float(rng.choice([1.0, 1.0, 0.3, 0.0]))
    short = s.astype(float)
    evidence: list[Evidence] = [Scores(short, width, scale), Scores(-short, 0.0, scale)]
    shares = (0.3, 0.7) if rng.integers(2) else (0.25, 0.5)
    evidence.append(Mix(tuple(zip(shares, evidence, strict=True))))
    evidence += other_evidence(rng, risk, loss)
    others = [naive.exact(x) for x in (short, -short, 2 * short, np.zeros(n), rng.normal(size=n))]
    values = [core.truth(other) for other in others if usable(other, loss)]
    for one in evidence:
        minorant = risk.minorant(one)
        points = [other for other in others if usable(other, loss)]
        found.judged(minorant_faults(minorant, points, values, type(one).__name__))


def usable(s: Sequence[Fraction], loss: str) -> bool:
    """Whether the loss of these scores can be written down."""
    return loss != "exponential" or max(s) - min(s) < 1000


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
    """Return what is false in a value of U and what it may be off by."""
    apart, slack = true - Fraction(stated.value), true * BEYOND
    off = Fraction(stated.error) + Fraction(stated.excess)
    wrong = apart > Fraction(stated.error) + slack or -apart > off + slack
    return [f"U is off by {float(apart):.3g}: {stated}"] * wrong


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
        if below > true * (1 + BEYOND):
            excess = float((below - true) / max(true, Fraction(1, 10**300)))
            wrong.append(f"the minorant of {name} exceeds U by {excess:.3g} of it")
    return wrong


def ordered(rng: np.random.Generator, found: Found) -> None:
    """Ordered pairs: groups, grades, survival, Uno's weights, gains and shares."""
    n = int(rng.integers(3, 13)) if rng.uniform() < 0.8 else int(rng.integers(40, 60))
    form = str(rng.choice(["auto", "binned"]))
    loss = str(rng.choice(["hinge", "hinge", *QUADRATIC, *SMOOTH]))
    kind = str(rng.choice(["grades", "weights", "floats", "gain", "share", "survival", "uno"]))
    found.name = f"{kind}, n {n}, {form}, {loss}"
    if kind in ("survival", "uno"):
        time = rng.integers(0, max(2, n // 2), n).astype(float) * 0.1
        event = rng.uniform(size=n) < 0.6
        tau = float(np.median(time)) if kind == "uno" else None
        made = survival_pairs(time, event) if tau is None else uno_pairs(time, event, tau)
        weight = None if tau is None else np.asarray(made.upper)
        stated = OrderedPairs(made.group, made.key, made.upper, made.lower, form=form)
        seen = event if weight is None else event & (weight > 0)
        if weight is None:
            true = naive_survival(time, event)
        else:  # deaths from tau on are not upper rows, and no censored ones
            true = naive_uno(np.flatnonzero(seen).tolist(), time, event, weight)
    else:
        stated, true = grades(rng, n, kind, form)
    pairs = list(zip(true.i, true.j, true.weight, strict=True))
    if stated.count() != len(pairs):
        found.judged([f"{stated.count()} pairs are counted, not {len(pairs)}"])
    rule = ALL_LOSSES[loss]
    core = Core(Mean(stated, rule), lambda s: mean_of(loss, s, pairs), found.name)
    judge(rng, core, loss, found)


def naive_uno(rows: list[int], time: Any, event: Any, weight: Any) -> Any:
    """Return the comparable pairs whose upper row is one of `rows`."""
    later = [
        (i, j, Fraction(float(weight[i])))
        for i in rows
        for j in range(len(time))
        if i != j and (time[i] < time[j] or (time[i] == time[j] and not event[j]))
    ]
    return listed(later)


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


def tail(rng: np.random.Generator, found: Found) -> None:
    """Partial AUC: parts of rows, less than one row, one row, both ways."""
    n = int(rng.integers(3, 16))
    positive = hard_labels(rng, n) == 1
    loss = str(rng.choice(["hinge", "hinge", "squared_hinge", *SMOOTH]))
    rates = ("0.1", "0.3", "0.05", "0.5", "0.123456789012345678", "1")
    fpr = Fraction(str(rng.choice(rates)))
    tpr = 1 - Fraction(str(rng.choice(rates)))
    pairs = AllPairs().on(positive)
    found.name = f"tail, n {n}, {loss}, fpr {float(fpr):g}, tpr {float(tpr):g}"
    kp, kq = max((1 - tpr) * pairs.n_pos, Fraction(1)), max(fpr * pairs.n_neg, Fraction(1))
    form, bins = str(rng.choice(["auto", "numpy"])), 1 << 12
    risk = tail_risk(AllPairs(form=form, bins=bins).on(positive), ALL_LOSSES[loss], fpr, tpr)
    if not isinstance(risk, Tail) and (fpr, tpr) != (1, 0):
        found.judged(["a part of the range is not a tail"])

    def truth(s: Sequence[Fraction]) -> Fraction:
        return mean_of(loss, s, tail_pairs(s, positive.tolist(), kp, kq))

    judge(rng, Core(risk, truth, found.name), loss, found)


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
    found.name = f"smooth, n {n}, {loss}, corner {corner:g}, {type(pairs).__name__}"
    if isinstance(pairs, AllPairs):
        found.name += f", {pairs.form}, bins {pairs.bins}, weights {weight is not None}"

    def truth(s: Sequence[Fraction]) -> Fraction:
        return mean_of(loss, s, listed, Fraction(corner))

    judge(rng, Core(Mean(pairs, rule), truth, found.name), loss, found)


FORMS = ("plain", "float32", "int8", "strided", "read-only", "longdouble", "list")


def penalised(rng: np.random.Generator, found: Found) -> None:
    """Elastic net, lasso, group lasso, signs; every loss; certificates of any weights and scores.

    F is summed in fractions, or to 60 digits; a solver's point shows a lower bound to be false.
    """
    n, d = int(rng.integers(3, 13)), int(rng.integers(1, 5))
    y = hard_labels(rng, n)
    shape = str(rng.choice(["gaussian", "ties", "constant", "duplicates", "equal", "columns"]))
    values = hard_values(rng, y, d, shape)
    if shape == "columns":
        values = values / np.abs(values).max(axis=0) * 10.0 ** rng.integers(-4, 5, d)
    scale = 10.0 ** float(rng.choice([0, 0, 0, -6, 6, -60, 60]))
    given, X = in_form(values, str(rng.choice(FORMS)))
    if scale != 1:
        given = X = values * scale
    penalty = hard_penalty(rng, X, d)
    loss = str(rng.choice([*QUADRATIC, *SMOOTH]))
    found.name = f"{shape}, X {X.shape}, scale {scale:g}, {loss}, {penalty!r}"
    shape_of: Any = {"loss": loss, "penalty": penalty}
    tight = solve(given, y, **shape_of, tol=1e-8, max_time=0.1)
    objective = whole_of(X, y == 1, loss, penalty)
    problem = Problem(Rows(given), Mean(AllPairs().on(y == 1), ALL_LOSSES[loss]), penalty)
    rival = objective(tight.w)
    assert rival is not None
    claim = tight.certificate
    found.judged(claim_faults(claim, rival, rival, penalty.l2))
    far = tight.w * (1 + 10.0 ** rng.uniform(-6, 0) * rng.normal(size=d))
    with_sign = objective(far)
    if with_sign is None:
        return
    near = problem.space.scores(tight.w) * (1 + 10.0 ** rng.uniform(-9, -1))
    width = float(rng.choice([0.0, 1e-3, 0.3]))
    for witness in (Minorant.from_scores(problem, near, width), tight.witness):
        found.judged(
            claim_faults(Certificate.of(problem, far, witness), with_sign, rival, penalty.l2)
        )
    audit = certify(given, y, w=far, refine=False, **shape_of)
    found.judged(claim_faults(audit, with_sign, rival, penalty.l2))


def hard_penalty(rng: np.random.Generator, X: np.ndarray, d: int) -> Any:
    """Return a penalty in units of the rows."""
    unit = float(np.abs(X - X[0]).max()) or 1.0
    l1 = float(10.0 ** rng.uniform(-4, 0)) * unit
    l2 = float(10.0 ** rng.uniform(-5, 1)) * unit**2 * int(rng.integers(0, 4) > 0)
    groups = rng.integers(0, 2, d) if rng.integers(3) == 0 else None
    choice = int(rng.integers(3))
    sign = [None, "nonnegative", [int(rng.integers(d))]][choice]
    if l2 > 0 and groups is None and sign is not None and rng.integers(2):
        l1 = 0.0
    return penalty_from(l2, l1, groups, sign)


def whole_of(
    X: np.ndarray, positive: np.ndarray, loss: str, penalty: Any
) -> Callable[[np.ndarray], Fraction | None]:
    """Return F by its definition; None where a sign is broken."""
    rows = naive.exact(X)
    pairs = naive.weighted_pairs(positive.tolist(), AllPairs())

    def objective(weights: np.ndarray) -> Fraction | None:
        w = naive.exact(weights)
        extra = exact_penalty(penalty, w)
        return None if extra is None else mean_of(loss, naive.products(rows, w), pairs) + extra

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
    """Return what is false in a claim about weights of objective `value`."""
    wrong = bound_faults(claim, value, min(value, rival), value * BEYOND)
    apart = Fraction(claim.primal) - Fraction(claim.dual)
    if (claim.radius is None) != (l2 == 0):
        wrong.append("a radius without l2, or none with it")
    elif l2 and Fraction(claim.radius) ** 2 * Fraction(l2) < 2 * apart:
        wrong.append(f"the radius {claim.radius:.17g} is below sqrt(2 (primal - dual) / l2)")
    return wrong


def own_kernel(rng: np.random.Generator, found: Found) -> None:
    """A polynomial kernel of one's own, judged by its values in fractions."""
    n = int(rng.integers(3, 11))
    y = hard_labels(rng, n)
    shape = str(rng.choice(["gaussian", "ties", "duplicates", "constant"]))
    X = hard_values(rng, y, int(rng.integers(1, 4)), shape) * 10.0 ** float(rng.integers(-2, 3))
    degree = int(rng.integers(1, 4))
    rows = naive.exact(X)
    K = [
        [(1 + sum(a * b for a, b in zip(x, z, strict=True))) ** degree for z in rows] for x in rows
    ]
    lam, loss = float(10.0 ** rng.uniform(-5, 1)), hard_loss(rng)
    pairs = hard_pairs(rng, X, y)
    found.name = f"polynomial of degree {degree}, {shape}, X {X.shape}, {loss}, lam {lam:.2g}"
    asked: Any = {"kernel": Polynomial(degree), "loss": loss, "pairs": pairs}
    solution = solve(X, y, lam, tol=float(10.0 ** rng.integers(-11, -1)), **asked)
    tight = solve(X, y, lam, **asked, **TIGHT)
    truth = NaiveTruth(K, True, y == 1, lam, loss, pairs)
    claim = Claim.of(solution.w, solution.certificate)
    found.judged(faults(claim, truth, tight.w, tight.certificate.radius))


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
        above, wrong = value - least, []
        if row.verdict == "pass" and above > Fraction(tol) * max(least, Fraction(1, 10**7)):
            wrong.append(f"{problem.name} passes, {float(above):.3g} above {float(least):.6g}")
        if row.gap is not None and above > Fraction(row.gap) * (1 + Fraction(1, 2**50)):
            wrong.append(f"{problem.name}: the gap is {float(above):.6g}, not {row.gap:.6g}")
        if Fraction(row.lower) > least:
            wrong.append(f"{problem.name}: the optimum is not above {row.lower!r}")
        found.judged(wrong)


CORE: list[Kind] = [
    *(ordered, smooth, tail, ordered, penalised, smooth),
    *(tail, ordered, own_kernel, smooth, tail, checked_solver),
]
"""Twelve in turn: the core types and what is written against them."""


SHAPES = ("gaussian", "ties", "constant", "duplicates", "equal")


def solved_ordered(rng: np.random.Generator, found: Found) -> None:
    """The general solvers over ordered pairs: the ridge and the elastic net, every loss."""
    n, d = int(rng.integers(4, 20)), int(rng.integers(1, 4))
    loss = str(rng.choice(["hinge", *QUADRATIC, *SMOOTH]))
    stated, true = grades(rng, n, str(rng.choice(["grades", "weights", "gain", "share"])), "auto")
    X = hard_values(rng, hard_labels(rng, n), d, str(rng.choice(SHAPES)))
    unit = float(np.abs(X - X[0]).max()) or 1.0
    l2, l1 = float(10.0 ** rng.uniform(-5, 1)) * unit**2, float(10.0 ** rng.uniform(-3, -1)) * unit
    penalty: Any = ElasticNet(l2, l1) if rng.integers(3) == 0 else Ridge(l2)
    found.name = f"n {n}, X {X.shape}, {loss}, {penalty!r}"
    problem = Problem(Rows(X), Mean(stated, ALL_LOSSES[loss]), penalty)
    pairs = list(zip(true.i, true.j, true.weight, strict=True))

    def objective(w: np.ndarray) -> Fraction:
        return mean_of(loss, exact_scores(X, w), pairs) + of_penalty(penalty, w)

    judge_solver(rng, problem, objective, found)


def solved_tail(rng: np.random.Generator, found: Found) -> None:
    """The general solvers of partial AUC: one-way, two-way, every loss that never grows."""
    n, d = int(rng.integers(4, 20)), int(rng.integers(1, 4))
    y = hard_labels(rng, n)
    X = hard_values(rng, y, d, str(rng.choice(SHAPES)))
    loss = str(rng.choice(["hinge", "squared_hinge", *SMOOTH]))
    fpr = Fraction(str(rng.choice(["0.1", "0.3", "0.5"])))
    tpr = Fraction(str(rng.choice(["0", "0.3", "0.6"])))
    unit = float(np.abs(X - X[0]).max()) or 1.0
    penalty = Ridge(float(10.0 ** rng.uniform(-5, 1)) * unit**2)
    found.name = f"tail, X {X.shape}, {loss}, fpr {float(fpr):g}, tpr {float(tpr):g}, {penalty!r}"
    pairs = AllPairs().on(y == 1)
    problem = Problem(Rows(X), tail_risk(pairs, ALL_LOSSES[loss], fpr, tpr), penalty)
    kp, kq = max((1 - tpr) * pairs.n_pos, Fraction(1)), max(fpr * pairs.n_neg, Fraction(1))

    def objective(w: np.ndarray) -> Fraction:
        s = exact_scores(X, w)
        worst = tail_pairs(s, (y == 1).tolist(), kp, kq)
        return mean_of(loss, s, worst) + of_penalty(penalty, w)

    judge_solver(rng, problem, objective, found)
    shares = 0.999 * rng.dirichlet(np.ones(4))
    widths = rng.choice([0, 0.3], size=4)
    mixed = zip(shares.tolist(), widths.tolist(), strict=True)
    parts = tuple((x, Scores(rng.normal(size=n), width)) for x, width in mixed)
    minorant = problem.risk.minorant(Mix(parts))
    points = [naive.exact(rng.normal(size=n) * 10.0 ** rng.integers(-2, 2)) for _ in range(3)]
    lists = [tail_pairs(s, (y == 1).tolist(), kp, kq) for s in points]
    values = [mean_of(loss, s, worst) for s, worst in zip(points, lists, strict=True)]
    found.judged(minorant_faults(minorant, points, values, "mixture"))


def judge_solver(rng: np.random.Generator, problem: Problem, objective: Any, found: Found) -> None:
    """Judge a rough and a tight solution, each other's rivals, in fractions."""
    rough = choose_solver(problem, "auto", 1e-3, 0.2).solve(problem)
    tight = choose_solver(problem, "auto", 1e-9, 0.3).solve(problem, w0=rough.w)
    values = [objective(rough.w), objective(tight.w)]
    found.judged(claim_faults(rough.certificate, values[0], values[1], problem.penalty.l2))
    found.judged(claim_faults(tight.certificate, values[1], values[0], problem.penalty.l2))


def exact_scores(X: np.ndarray, w: np.ndarray) -> Sequence[Fraction]:
    """Return X w in fractions."""
    v = naive.exact(w)
    rows = naive.exact(X)
    return [sum((a * b for a, b in zip(row, v, strict=True)), Fraction(0)) for row in rows]


def of_penalty(penalty: Any, w: np.ndarray) -> Fraction:
    """Return the penalty of weights that keep its signs."""
    value = exact_penalty(penalty, naive.exact(w))
    assert value is not None, "a weight has a sign that the penalty forbids"
    return value


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


Columns = dict[str, Any]
Objective = Callable[[np.ndarray], Fraction]


def penalised_ordered(rng: np.random.Generator, found: Found) -> None:
    """Group lasso, signs and the elastic net over ordered pairs: solutions, and audits of others.

    The pairs are by group and grade, with weights, gains and shares, or those of survival.
    """
    n, d = int(rng.integers(4, 16)), int(rng.integers(1, 5))
    scale = 10.0 ** float(rng.choice([0, 0, 0, -6, 6, -60, 60]))
    X = hard_values(rng, hard_labels(rng, n), d, str(rng.choice(SHAPES))) * scale
    loss = str(rng.choice(["hinge", *QUADRATIC, *SMOOTH]))
    kind = str(rng.choice(["grades", "weights", "gain", "share", "survival"]))
    stated: Any
    if kind == "survival":
        time, event = rng.integers(0, max(2, n // 2), n) * 0.1, rng.uniform(size=n) < 0.7
        asked: Any = {"y": None, "time": time, "event": event}
        true = naive_survival(time, event)
    else:
        stated, true = grades(rng, n, kind, "auto")
        asked = {"y": None, "pairs": stated}
    penalty = hard_penalty(rng, X, d)
    found.name = f"{kind}, X {X.shape}, scale {scale:g}, {loss}, {penalty!r}"
    pairs = list(zip(true.i, true.j, true.weight, strict=True))

    def mean(w: np.ndarray) -> Fraction:
        return mean_of(loss, exact_scores(X, w), pairs)

    asked |= {"loss": loss, "penalty": penalty}
    rough = solve(X, **asked, tol=1e-2, max_time=0.1)
    tight = solve(X, **asked, tol=1e-8, max_time=0.2)
    points = [rough.w, tight.w]
    values = [mean(w) + of_penalty(penalty, w) for w in points]
    rival = min(values)
    for solution, value in zip((rough, tight), values, strict=True):
        found.judged(claim_faults(solution.certificate, value, rival, penalty.l2))
    far = tight.w * (1 + 10.0 ** rng.uniform(-6, 0) * rng.normal(size=d))
    extra = exact_penalty(penalty, naive.exact(far))
    if extra is not None:
        audit = certify(X, **asked, w=far, refine=bool(rng.integers(2)), max_time=0.2)
        found.judged(claim_faults(audit, mean(far) + extra, rival, penalty.l2))


def worst_group(rng: np.random.Generator, found: Found) -> None:
    """The worst of several groups, each with rows of both classes; every loss and penalty."""
    groups, d = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    n = 2 * groups + int(rng.integers(0, 10))
    y, member = hard_labels(rng, n), rng.integers(0, groups, n)
    y[: 2 * groups], member[: 2 * groups] = np.arange(2 * groups) % 2, np.arange(2 * groups) // 2
    X = hard_values(rng, y, d, str(rng.choice(SHAPES)))
    loss = str(rng.choice(["hinge", "squared_hinge", "square", *SMOOTH]))
    penalty = hard_penalty(rng, X, d)
    found.name = f"worst of {groups}, X {X.shape}, {loss}, {penalty!r}"
    means, parts = [], []
    for group in range(groups):
        means.append(Mean(cross_group_pairs(y, member, group, group), ALL_LOSSES[loss]))
        mine = member == group
        parts.append(
            [
                (int(i), int(j), Fraction(1))
                for i in np.flatnonzero(mine & (y == 1))
                for j in np.flatnonzero(mine & (y == 0))
            ]
        )

    def objective(w: np.ndarray) -> Fraction:
        s = exact_scores(X, w)
        return max(mean_of(loss, s, part) for part in parts) + of_penalty(penalty, w)

    judge_solver(rng, Problem(Rows(X), Worst(tuple(means)), penalty), objective, found)


def ordered_proof(rng: np.random.Generator, found: Found) -> None:
    """Proof files of ordered pairs: whole ones pass, changed ones are refused, or true."""
    n = int(rng.integers(4, 20)) if rng.uniform() < 0.8 else int(rng.integers(20, 60))
    kind = str(rng.choice(["query", "survival", "ordered"]))
    shape = str(rng.choice(["gaussian", "ties", "duplicates", "constant", "offset", "separable"]))
    X = hard_values(rng, hard_labels(rng, n), int(rng.integers(1, 4)), shape)
    columns = _columns(rng, n, kind)
    r = rng.integers(0, 4, n) if rng.integers(2) else np.ones(n, dtype=int)
    if kind == "ordered":  # the file is about these columns: a row on no side counts 0 times
        columns, r = columns_of(_pairs(columns, r))
    unit = float(np.abs(X - X[0]).max()) or 1.0
    lam, tol = float(10.0 ** rng.uniform(-5, 2)) * unit**2, float(10.0 ** rng.uniform(-9, -1))
    found.name = f"proof, {kind}, {shape}, X {X.shape}, lam {lam:.2g}, tol {tol:.0e}"
    proof, tight = _written(X, kind, columns, r, lam, tol)
    found.judged(_pass_or_fault(proof, X, kind, columns, r))
    if rng.integers(2):  # the dual point of somebody's scores, rounded to whole numbers
        bins, half = 1 << int(rng.integers(0, 12)), int(rng.integers(0, 40))
        scores = np.floor(bins * (X @ (tight * rng.choice([1.0, 0.9])))).astype(np.int64)
        kept = {name: x for name, x in proof.items() if name not in ("u", "v", "cap")}
        proof = kept | proofs.scalars(kind="scores", bins=bins, half=half)
        proof["scores"] = scores if np.abs(X @ tight).max() < 1e12 else 0 * scores
    for _ in range(6):
        changed, text = mutated(rng, proof)
        stated, weight = columns, r
        if rng.integers(3) == 0:
            stated, weight, text = _damaged(rng, columns, r, text)
        try:
            if rng.uniform() < 0.7:  # whoever changes a field claims what can be verified then
                _claim_all(changed, X, kind, stated, weight)
                text += ", claims as tight as can be"
            verdict = _verdict(changed, X, kind, stated, weight)
        except ValueError:
            found.refused += 1
            continue
        wrong = _verified(changed, X, kind, stated, weight, verdict, tight)
        found.judged([f"{text}: {fault}" for fault in wrong])


def _columns(rng: np.random.Generator, n: int, kind: str) -> Columns:
    """Return what orders n rows, with ties; some pair there is in most."""
    names = np.array(["b", "a", "c"])[rng.integers(0, int(rng.integers(1, 4)), n)]
    if kind == "survival":
        return {"time": rng.integers(0, 6, n) / 2, "event": rng.random(n) < 0.7}
    key = rng.integers(0, int(rng.integers(2, 7)), n) / 2
    if kind == "query":
        return {"y": key, "qid": names if rng.integers(2) else rng.integers(0, 3, n)}
    group = np.unique(names, return_inverse=True)[1]
    columns: Columns = {"key": key, "group": group}
    if rng.integers(2):
        columns |= {"upper": rng.random(n) < 0.8, "lower": rng.random(n) < 0.8}
    if rng.integers(2):
        columns["share"] = (10.0 ** rng.uniform(-6, 6, 3))[group]
    return columns


def _pairs(columns: Columns, r: np.ndarray) -> OrderedPairs:
    """Return the pairs of the columns "ordered"."""
    n = r.size
    sides = [np.asarray(columns.get(side, np.ones(n))) * r for side in ("upper", "lower")]
    return OrderedPairs(columns["group"], columns["key"], *sides, share=columns.get("share"))


def _written(
    X: np.ndarray, kind: str, columns: Columns, r: np.ndarray, lam: float, tol: float
) -> tuple[Columns, np.ndarray]:
    """Return the fields of a proof file, and weights near the optimum."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "proof.npz"
        if kind == "ordered":
            problem = Problem(Rows(X), Mean(_pairs(columns, r), HINGE), Ridge(lam))
            asked: Columns = {"y": None, "lam": lam, "pairs": problem.pairs}
            solution = solve(X, **asked, tol=tol)
            write_proof_of(problem, solution, path)
        else:
            asked = {"y": None, "lam": lam, "sample_weight": r, **columns}
            solution = solve(X, **asked, tol=tol)
            write_proof(path, X, solution=solution, **asked)
        with np.load(path) as file:
            return dict(file), solve(X, **asked, tol=1e-9, max_time=0.3).w


def _verdict(proof: Columns, X: np.ndarray, kind: str, columns: Columns, r: np.ndarray) -> str:
    return check_proof.check(proof, X, check_proof.ordering(kind, columns, proof, {}), r)


def _pass_or_fault(
    proof: Columns, X: np.ndarray, kind: str, columns: Columns, r: np.ndarray
) -> list[str]:
    """Return what is wrong where the checker refuses the file that was written."""
    try:
        _verdict(proof, X, kind, columns, r)
    except ValueError as why:
        return [f"the file that was written is refused: {why}"]
    return []


def _damaged(
    rng: np.random.Generator, columns: Columns, r: np.ndarray, text: str
) -> tuple[Columns, np.ndarray, str]:
    """Return the columns with one permuted or one row's weight changed, and what was done."""
    name = str(rng.choice([*columns, "weight"]))
    if name == "weight":
        other = r.copy()
        other[rng.integers(r.size)] += 1
        return columns, other, f"{text}, a weight raised"
    return columns | {name: rng.permutation(columns[name])}, r, f"{text}, {name} permuted"


def _claim_all(proof: Columns, X: np.ndarray, kind: str, columns: Columns, r: np.ndarray) -> None:
    """Claim the bounds that the checker finds in the changed fields, and no less."""
    order = check_proof.ordering(kind, columns, proof, {})
    upper, lower, digest = check_proof.bounds(proof, X, order, r)
    claims = {"primal": float_above(upper), "dual": float_below(lower)}
    proof |= proofs.scalars(**claims, gap=float_above(upper - lower), sha256=digest)


def _verified(
    proof: Columns,
    X: np.ndarray,
    kind: str,
    columns: Columns,
    r: np.ndarray,
    verdict: str,
    tight: np.ndarray,
) -> list[str]:
    """Return what is false in a verdict and in the claims that it let pass."""
    match = re.match(r"verified gap <= (\S+)", verdict)
    assert match is not None, verdict
    lam, w = float(proof["lam"]), np.asarray(proof["w"])
    pairs = _enumerated(kind, columns, r)

    def objective(w: np.ndarray) -> Fraction:
        return mean_of("hinge", exact_scores(X, w), pairs) + of_penalty(Ridge(lam), w)

    asked: Columns = {"y": None, "lam": lam, "tol": 1e-9, "max_time": 0.2}
    asked |= {"pairs": _pairs(columns, r)} if kind == "ordered" else {"sample_weight": r, **columns}
    value = objective(w)
    least = min(value, objective(tight), objective(solve(X, **asked).w))
    wrong = []
    for name, gap in (("verified", float(match[1])), ("claimed", float(proof["gap"]))):
        if value - least > Fraction(gap):
            wrong.append(f"a gap of {gap:.6g} {name}, it is {float(value - least):.6g}")
    if value > Fraction(float(proof["primal"])):
        wrong.append("F(w) is above the primal claimed")
    if least < Fraction(float(proof["dual"])):
        wrong.append("F of other weights is below the dual claimed")
    return wrong


def _enumerated(kind: str, columns: Columns, r: np.ndarray) -> list[tuple[int, int, Fraction]]:
    """Return the pairs one by one, with weights that add up to one."""
    n = r.size
    if kind == "survival":
        plain = naive_survival(columns["time"], columns["event"])
        held = [(i, j, Fraction(int(r[i] * r[j]))) for i, j in zip(plain.i, plain.j, strict=True)]
        return [pair for pair in held if pair[2] > 0]
    if kind == "query":
        true = naive_ordered(columns["qid"], columns["y"], r, r)
    else:
        sides = [np.asarray(columns.get(side, np.ones(n))) * r for side in ("upper", "lower")]
        true = naive_ordered(columns["group"], columns["key"], *sides, share=columns.get("share"))
    return list(zip(true.i, true.j, true.weight, strict=True))


PAIRS: list[Kind] = [
    *(solved_ordered, solved_tail, statistics, solved_ordered, zeros),
    *(penalised_ordered, ordered_proof, worst_group, penalised_ordered, ordered_proof),
]
"""Ten in turn; `python tests/helpers/fuzzing.py pairs 0:300` runs three hundred."""


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
            "spaces.gram.SIDE": int(rng.integers(1, 5)),
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
        stack.enter_context(mock.patch.object(Histogram.__init__, "__defaults__", (0, grid)))
        yield


def on_other_routes(kind: Kind) -> Kind:
    """Return the kind that makes the problems of another, by lowered thresholds."""

    def routed(rng: np.random.Generator, found: Found) -> None:
        with forced(rng):
            kind(rng, found)

    routed.__name__ = kind.__name__
    return routed


def squared_in_blocks(rng: np.random.Generator, found: Found) -> None:
    """The squared hinge over rows that are read a few at a time, with row weights or without."""
    hard = hard_rows(rng, 60, form="plain")
    lam, weight = hard_lam(rng, hard.true), hard_weight(rng, hard.y) if rng.integers(2) else None
    pairs, tol = AllPairs(weight), float(10.0 ** rng.integers(-9, 0))
    found.name = f"squared in blocks, {hard.name}, lam {lam:.2g}, weights {weight is not None}"
    rows = StreamedRows(hard.true, int(rng.integers(1, 40)))
    loss: Any = {"loss": "squared_hinge", "pairs": pairs}
    solution = solve(rows, hard.y, lam, tol=tol, **loss)
    truth = LinearTruth(hard.true, hard.positive, lam, "squared_hinge", pairs)
    tight = solve(hard.true, hard.y, lam, **loss, **TIGHT)
    claim = Claim.of(solution.w, solution.certificate)
    found.judged(faults(claim, truth, tight.w))


PLAIN: list[Callable[..., object]] = [
    *(linear, squared_in_blocks, smooth, kernel, in_blocks, estimator),
    *(linear, squared_in_blocks, tail, kernel, weights, structured),
]

ROUTES: list[Kind] = [on_other_routes(kind) for kind in PLAIN]
"""Twelve in turn."""
