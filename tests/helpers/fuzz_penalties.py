"""Kinds of the fuzzer: penalties, kernels of one's own, verdicts on other people's solvers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

import naive
from aucert.exact import AllPairs, Certificate, InputError, Minorant, Rows, certify, solve
from aucert.exact.losses.registry import ALL_LOSSES
from aucert.exact.problem.penalties import GroupLasso, Sign, penalty_from
from aucert.exact.problem.problem import Problem
from aucert.exact.problem.risk import Mean
from aucert.validation.checking.check_solver import check_solver
from aucert.validation.reference.problems import reference_problems
from decimal_losses import BEYOND, mean_of, root
from fuzz_core import QUADRATIC, SMOOTH, ordered, smooth, tail
from fuzz_rows import hard_labels, hard_loss, hard_pairs, hard_values, in_form
from fuzz_truth import TIGHT, Claim, LinearTruth, NaiveTruth, bound_faults, faults
from fuzzing import Found, Kind
from own_parts import Polynomial

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
