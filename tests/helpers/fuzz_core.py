"""Kinds of the fuzzer: the core itself, a risk's value and its minorants at hard scores.

The one fact that certificates rest on is judged without any solver: U(s) >= V - c's, at the scores
that the minorant was made from, where it is tight, and at others. U is summed pair by pair in
fractions, or to 60 digits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import naive
from aucert.exact import AllPairs, PairList
from aucert.exact.losses.registry import ALL_LOSSES, SmoothHinge
from aucert.exact.pairs.kinds import survival_pairs, uno_pairs
from aucert.exact.pairs.ordered_pairs import OrderedPairs
from aucert.exact.problem.minorant import Alpha, Evidence, Marginals, Mix, Scores
from aucert.exact.problem.risk import Mean
from aucert.exact.problem.tail import Tail, tail_risk
from aucert.exact.tools.rounding import Bound
from decimal_losses import BEYOND, mean_of, tail_pairs
from fuzz_rows import hard_labels, hard_weight
from fuzzing import Found
from ordered_naive import listed, naive_ordered, naive_survival

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
    found.judged([f"U beside the scores exceeds `upper` by {float(excess):.3g}"] * (excess > 0))
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


def value_faults(true: Fraction, told: Bound) -> list[str]:
    """Return what is false in a value of U and what it may be off by."""
    apart, slack = true - Fraction(told.value), true * BEYOND
    off = Fraction(told.error) + Fraction(told.excess)
    wrong = apart > Fraction(told.error) + slack or -apart > off + slack
    return [f"U is off by {float(apart):.3g}: {told}"] * wrong


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
        told = OrderedPairs(made.group, made.key, made.upper, made.lower, form=form)
        seen = event if weight is None else event & (weight > 0)
        if weight is None:
            true = naive_survival(time, event)
        else:  # deaths from tau on are no upper rows, and no censored ones
            true = naive_uno(np.flatnonzero(seen).tolist(), time, event, weight)
    else:
        told, true = grades(rng, n, kind, form)
    pairs = list(zip(true.i, true.j, true.weight, strict=True))
    if told.count() != len(pairs):
        found.judged([f"{told.count()} pairs are counted, not {len(pairs)}"])
    rule = ALL_LOSSES[loss]
    core = Core(Mean(told, rule), lambda s: mean_of(loss, s, pairs), found.name)
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
    told = OrderedPairs(group, key, upper, lower, gain, share, form)
    return told, naive_ordered(group, key, upper, lower, gain, share)


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
