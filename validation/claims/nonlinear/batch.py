"""The claims of "Scalable Nonlinear AUC Maximization Methods" [Nonlinear].

So far its batch method: the gradient and the steps of Algorithm 2, and the optimum they reach.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from ....approx.newton.nbauc import NBAUC
from ....approx.newton.truncated_newton import TruncatedNewton
from ....exact.certificate.solution import Solution
from ....exact.losses.registry import SQUARED_HINGE
from ....exact.pairs.all_pairs import AllPairs
from ....exact.problem.problem import Problem, Ridge, linear_problem, pair_problem
from ....exact.problem.scalings import lam_from_C
from ....exact.spaces.rows import Rows
from ...data import datasets
from ...data.labelled_data import Dataset
from ...extremes import max
from ..claim import Context, Outcome, Verdict
from ..common import wdbc_sample

# Four rows and a C for which full Newton steps cycle.
PLUS, MINUS, C = ((3, 1), (-4, 4)), ((-4, 3), (2, 1)), 10

PRINTED_FACTOR = 1.0  # What multiplies C in the printed gradient of (5) with p = 2.

Point = tuple[Fraction, Fraction]


def fixture(C: float = C) -> Problem:
    """Return [Nonlinear, eq. (5)] with p = 2 on the four rows, in the house's scaling."""
    lam = lam_from_C(C, len(PLUS) * len(MINUS), "nonlinear-2")
    return linear_problem(np.array(PLUS + MINUS, float), [1, 1, 0, 0], lam, "squared_hinge")


def differences() -> list[tuple[int, int]]:
    """Return x_i - x_j of all pairs of the four rows."""
    return [(p[0] - m[0], p[1] - m[1]) for p in PLUS for m in MINUS]


def exact_objective(w: Point) -> Fraction:
    """Return 1/2 |w|^2 + C sum max(0, 1 - w'(x_i - x_j))^2."""
    hinges = (max(Fraction(0), 1 - w[0] * a - w[1] * b) for a, b in differences())
    return (w[0] ** 2 + w[1] ** 2) / 2 + C * sum(hinge**2 for hinge in hinges)


def exact_newton(w: Point) -> Point:
    """Return the point after one full Newton step, in rational arithmetic.

    The minimiser of the quadratic that F is on the active set of w:
    (I + 2C sum d d') w = 2C sum d over the active pairs' d = x_i - x_j.
    """
    active = [d for d in differences() if w[0] * d[0] + w[1] * d[1] < 1]
    a, b, c = (
        Fraction(unit + 2 * C * sum(d[i] * d[j] for d in active))
        for unit, i, j in ((1, 0, 0), (0, 0, 1), (1, 1, 1))
    )
    right = [Fraction(2 * C * sum(d[i] for d in active)) for i in (0, 1)]
    det = a * c - b * b
    return (c * right[0] - b * right[1]) / det, (a * right[1] - b * right[0]) / det


def full_newton_steps_converge(context: Context) -> Outcome:
    points: list[Point] = [(Fraction(0), Fraction(0))]
    while points[-1] not in points[:-1] and len(points) < 100:
        points.append(exact_newton(points[-1]))
    start = points.index(points[-1])
    cycle = points[start:-1]
    values = [float(exact_objective(w)) for w in cycle]
    problem = fixture()  # its objective is lam times that of (5)
    best = _certified(problem, 1e-12)
    optimum = best.certificate.primal / problem.lam
    stuck = len(cycle) == 1
    return Outcome(
        Verdict.HOLDS if stuck and abs(values[0] - optimum) < 1e-6 else Verdict.FAILS,
        f"cycle of length {len(cycle)}: F = " + ", ".join(f"{value:.4f}" for value in values),
        printed="can be solved using truncated Newton methods",
        details={
            "steps before the cycle": start,
            "length of the cycle": len(cycle),
            "objectives on the cycle": values,
            "the optimum, certified": optimum,
        },
        tolerance="exact: a point that comes back comes back for ever",
    )


def _certified(problem: Problem, tol: float) -> Solution:
    return TruncatedNewton(tol=tol).solve(problem)


def tied_problems(context: Context) -> list[Problem]:
    """Return random problems of whole numbers: many ties, some of them at the kinks."""
    rng, problems = context.rng("problems"), []
    for _ in range(50 if context.quick else 1000):
        n, d = int(rng.integers(4, 13)), int(rng.integers(1, 4))
        X, y = rng.integers(-4, 5, (n, d)).astype(float), rng.permutation(n) < rng.integers(1, n)
        problems.append(linear_problem(X, y, float(10.0 ** rng.integers(-3, 1)), "squared_hinge"))
    return problems


def newton_with_a_line_search_converges(context: Context) -> Outcome:
    problems = [fixture(), *tied_problems(context)]
    found = [_certified(problem, 1e-10) for problem in problems]
    reached = sum(solution.certificate.reaches(1e-10) for solution in found)
    # Full steps for comparison: how often they cannot be certified after 100 of them.
    full = TruncatedNewton(tol=1e-10, forcing=1e-10, line_search=False, max_iter=100)
    lost = sum(not full.solve(problem).certificate.reaches(1e-10) for problem in problems)
    return Outcome(
        Verdict.HOLDS if reached == len(problems) else Verdict.FAILS,
        f"certified in {reached} of {len(problems)} problems",
        details={
            "problems": len(problems),
            "certified to 1e-10": reached,
            "steps, most": max(solution.n_iter for solution in found),
            "full steps: not certified": lost,
            "optimum of the four rows": found[0].certificate.primal / problems[0].lam,
        },
        tolerance="certified relative gap 1e-10, rounding included",
    )


def nbauc_reaches_its_optimum(context: Context) -> Outcome:
    n = 1000 if context.quick else 20_000
    sets: list[tuple[Dataset, float]] = [
        (wdbc_sample(context), 1 / 30),
        (datasets.load(f"radial:{n}", context.draw_seed("data")), 0.5),
    ]
    holds, worst, steps = True, 0.0, 0
    for data, gamma in sets:
        for lam in (1e-1, 1e-3, 1e-5):
            model = NBAUC(lam, gamma=gamma, n_landmarks=50, tol=1e-10, random_state=0)
            certificate = model.fit(data.X, data.y).certificate_
            holds &= certificate.reaches(1e-10)
            relative = certificate.gap / certificate.primal
            worst, steps = max(worst, relative), max(steps, model.n_iter_)
    return Outcome(
        Verdict.HOLDS if holds else Verdict.FAILS,
        f"relative gap at most {worst:.1e}, {steps} steps at most",
        details={"problems": 6, "largest relative gap, rounding included": worst, "steps": steps},
        data=[data for data, _ in sets],
        tolerance="certified relative gap 1e-10, rounding included",
    )


def _slope_error(context: Context, factor: float) -> tuple[float, Dataset]:
    """Return how far w - factor C D'A X is from the derivative of (5), relative to that."""
    data = wdbc_sample(context, 20, 30)
    plus, minus = data.X[data.is_positive], data.X[~data.is_positive]
    pairs = (plus[:, None] - minus[None]).reshape(-1, data.X.shape[1])
    rng, cost, worst = context.rng("points"), 0.01, 0.0

    def objective(w: np.ndarray) -> float:
        return float(w @ w) / 2 + cost * float(np.square(np.maximum(0, 1 - pairs @ w)).sum())

    for _ in range(10):
        w, v = rng.standard_normal((2, data.X.shape[1])) / 10
        gradient = w - factor * cost * np.maximum(0, 1 - pairs @ w) @ pairs
        # F is piecewise quadratic: central differences are exact but for the kinks they cross.
        slope = (objective(w + 1e-5 * v) - objective(w - 1e-5 * v)) / 2e-5
        worst = max(worst, abs(float(gradient @ v) - slope) / abs(slope))
    return worst, data


def _gradient(context: Context, factor: float, printed: str | None) -> Outcome:
    error, data = _slope_error(context, factor)
    return Outcome(
        Verdict.HOLDS if error <= 1e-5 else Verdict.FAILS,
        f"off by up to {error:.1e} of a directional derivative",
        printed=printed,
        details={"factor of C": factor, "largest relative difference": error},
        data=(data,),
        tolerance="1e-5, of central differences with step 1e-5",
    )


def gradient_as_printed(context: Context) -> Outcome:
    return _gradient(context, PRINTED_FACTOR, "the gradient")


def gradient_with_the_factor_two(context: Context) -> Outcome:
    return _gradient(context, 2.0, None)


def printed_gradient_solves_for_half_of_c(context: Context) -> Outcome:
    data = wdbc_sample(context, 40, 60)
    problem = pair_problem(Rows(data.X), data.is_positive, AllPairs(), SQUARED_HINGE, Ridge(0.1))
    literal = TruncatedNewton(tol=1e-12, paper_literal=True, max_iter=500).solve(problem)
    half = _certified(replace(problem, penalty=Ridge(0.2)), 1e-12)
    distance = float(np.linalg.norm(literal.w - half.w) / np.linalg.norm(half.w))
    gap = literal.certificate.relative_gap
    believed = gap is not None and gap < 1e-3
    return Outcome(
        Verdict.HOLDS if distance <= 1e-5 and not believed else Verdict.FAILS,
        f"distance to the optimum for C/2: {distance:.1e}; certified gap for C: {gap:.2g}",
        details={"relative distance to the optimum for C/2": distance, "relative gap for C": gap},
        data=(data,),
        tolerance="relative distance 1e-5, gap above 1e-3",
    )
