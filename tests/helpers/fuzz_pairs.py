"""Kinds of the fuzzer: what solvers say of ordered pairs and tails, zeros, and statistics."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

import naive
from aucert.exact import AllPairs, Rows, solve
from aucert.exact.losses.registry import ALL_LOSSES
from aucert.exact.pairs.concordance import concordance, delong
from aucert.exact.problem.minorant import Mix, Scores
from aucert.exact.problem.penalties import ElasticNet, Ridge
from aucert.exact.problem.problem import Problem
from aucert.exact.problem.risk import Mean
from aucert.exact.problem.tail import tail_risk
from aucert.exact.solvers.choose import choose_solver
from decimal_losses import mean_of, tail_pairs
from fuzz_core import QUADRATIC, SMOOTH, grades, minorant_faults
from fuzz_penalties import claim_faults, exact_penalty
from fuzz_rows import hard_labels, hard_values
from fuzzing import Found

SHAPES = ("gaussian", "ties", "constant", "duplicates", "equal")


def solved_ordered(rng: np.random.Generator, found: Found) -> None:
    """The general solvers over ordered pairs: the ridge and the elastic net, every loss."""
    n, d = int(rng.integers(4, 20)), int(rng.integers(1, 4))
    loss = str(rng.choice(["hinge", *QUADRATIC, *SMOOTH]))
    told, true = grades(rng, n, str(rng.choice(["grades", "weights", "gain", "share"])), "auto")
    X = hard_values(rng, hard_labels(rng, n), d, str(rng.choice(SHAPES)))
    unit = float(np.abs(X - X[0]).max()) or 1.0
    l2, l1 = float(10.0 ** rng.uniform(-5, 1)) * unit**2, float(10.0 ** rng.uniform(-3, -1)) * unit
    penalty: Any = ElasticNet(l2, l1) if rng.integers(3) == 0 else Ridge(l2)
    found.name = f"n {n}, X {X.shape}, {loss}, {penalty!r}"
    problem = Problem(Rows(X), Mean(told, ALL_LOSSES[loss]), penalty)
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
    told, true = grades(rng, n, kind, form)
    found.name = f"statistics, n {n}, {kind}, {form}"
    half = {1: Fraction(1), 0: Fraction(1, 2), -1: Fraction(0)}
    signs = [int(np.sign(scores[i] - scores[j])) for i, j in zip(true.i, true.j, strict=True)]
    value = sum((w * half[s] for w, s in zip(true.weight, signs, strict=True)), Fraction(0))
    said = concordance(told, scores)
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
