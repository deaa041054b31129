"""Claims about the dual and the score in kernel form: (3), (8)-(14), (18)-(20) of [SAUC]."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ....exact.certificate.solution import Solution
from ....exact.formulation.formulation import Formulation, formulate
from ....exact.formulation.request import Request
from ....exact.losses.registry import HINGE
from ....exact.pairs.all_pairs import AllPairs, PairList
from ....exact.pairs.nearest_pairs import nearest_pairs
from ....exact.problem.problem import Ridge, pair_problem
from ....exact.solvers.cutting_plane import CuttingPlane
from ....exact.solvers.qp import QP
from ....exact.spaces.factor import factor_gram
from ....exact.spaces.kernels import Linear
from ....exact.spaces.rows import Rows
from ....exact.structured import (
    class_scatter,
    deformed_gram,
    literal_pair_kernel,
    pair_kernel,
    sauc_scores,
)
from ...bounds.exact_answers import optimum, solved
from ...data.labelled_data import Dataset
from ...extremes import max
from ..claim import Context, Outcome, Verdict
from ..common import wdbc_sample
from .common import SIGMA, WIDTH, apart, every_pair, toy

GAMMA = 1 / (2 * SIGMA**2)
# Structures at which scores are compared: at 1 the missing factor of (20) does not show.
SCORED = (0.0, 0.3, 1.0, 50.0)
# Relative difference up to which the optima of two forms, each computed in rounding, agree.
OPTIMA = 1e-6


def solved_dual(Q: np.ndarray, C: float, tol: float = 1e-7) -> tuple[np.ndarray, Solution]:
    """Solve max 1'a - a'Q a / 2, 0 <= a <= C; return theta with w = sum_k theta_k phi_k.

    [SAUC, eq. (3)] with the inner products Q (m, m) of whatever stands for the pairs: a problem
    with one row for each pair and one zero row, whose pairs are (k, zero row).
    """
    m = len(Q)
    factor = factor_gram(Q)
    space = Rows(np.concatenate([factor.features, np.zeros((1, factor.features.shape[1]))]))
    pairs = PairList(np.arange(m), np.full(m, m))
    problem = pair_problem(space, np.arange(m + 1) < m, pairs, HINGE, Ridge(1 / (C * m)))
    solution = optimum(problem, tol=tol)
    return factor.coefficients(solution.w), solution


def _difference(first: Solution, second: Solution) -> float:
    """Return the relative difference of two optimal values."""
    best = first.certificate.primal
    return abs(second.certificate.primal - best) / best


def _fit(
    data: Dataset, structure: float, pairs: PairList | None = None
) -> tuple[Solution, Callable[[object], np.ndarray]]:
    """Return the certified optimum at C = 1 in the toy's kernel, and its f."""
    N = pairs.i.size if pairs else data.n_pos * data.n_neg
    request = Request.of(1 / N, pairs=pairs, kernel="rbf", gamma=GAMMA, structure=structure)
    task = formulate(data.X, data.y, request)
    solution = task.judge(optimum(task.work, tol=1e-7), 1e-6)
    return solution, task.scorer(solution.w)


def sauc_eq_3_as_printed(context: Context) -> Outcome:
    train, test = toy(context)
    pairs = nearest_pairs(train.X, train.is_positive, 10)
    K = WIDTH(train.X, train.X)
    theta, dual = solved_dual(pair_kernel(K, pairs.i, pairs.j), 1.0)
    columns = WIDTH(test.X, train.X)
    scores = (columns[:, pairs.i] - columns[:, pairs.j]) @ theta
    solution, scorer = _fit(train, 0.0, pairs)
    moved = float(np.abs(scores - scorer(test.X)).max())
    # |f(x) - g(x)| <= |f - g| sqrt(k(x, x)), and each is within its radius of the optimum.
    radius = dual.certificate.radius + solution.certificate.radius
    linear = Linear()(train.X, train.X)
    same = apart(
        literal_pair_kernel(Linear(), train.X, pairs.i, pairs.j),
        pair_kernel(linear, pairs.i, pairs.j),
    )
    differ = _difference(solution, dual)
    agree = differ <= OPTIMA and moved <= radius and same <= 1e-12
    return Outcome(
        Verdict.HOLDS if agree else Verdict.FAILS,
        f"scores differ by {moved:.1e}, certified {radius:.1e}; linear kernels by {same:.0e}",
        details={
            "largest difference of test scores": moved,
            "sum of the certified radii": radius,
            "optimum": solution.certificate.primal,
            "relative difference of the optima": differ,
            "relative difference of the linear kernels": same,
        },
        data=(train, test),
        tolerance=f"optima {OPTIMA:g}; scores within the certified radii; linear kernels 1e-12",
    )


def sauc_dual_equals_primal(context: Context) -> Outcome:
    wdbc, (xor, _) = wdbc_sample(context), toy(context)
    gaps = {}
    for data, kernel, lam in ((wdbc, "linear", 0.1), (xor, "rbf", 1 / 3200)):
        for structure in (0.0, 0.3, 50.0):
            task = _task(data, kernel, lam, structure)
            solution = task.judge(solved(CuttingPlane(tol=1e-9), task.work), 1e-8)
            gap = solution.certificate.relative_gap
            gaps[f"{data.name}, {kernel}, lambda {structure:g}"] = 1.0 if gap is None else gap
    worst = max(gaps.values())
    return Outcome(
        Verdict.HOLDS if worst <= 1e-8 else Verdict.FAILS,
        f"relative gap at most {worst:.1e}",
        details={f"{name}: relative gap with rounding": gap for name, gap in gaps.items()},
        data=(wdbc, xor),
        tolerance="certified relative gap, its rounding included, at most 1e-8",
    )


def _task(data: Dataset, kernel: str, lam: float, structure: float) -> Formulation:
    request = Request.of(lam, kernel=kernel, gamma=GAMMA, structure=structure)
    return formulate(data.X, data.y, request)


def sauc_eq_19_with_a_generalised_inverse(context: Context) -> Outcome:
    data = wdbc_sample(context, 15, 25)
    pairs = every_pair(data.is_positive)
    scatter, lam = class_scatter(data.is_positive), 0.1
    Sigma = data.X.T @ scatter.times(data.X)
    differences = data.X[pairs.i] - data.X[pairs.j]
    K = Linear()(data.X, data.X)
    errors, gaps, apart_by = {}, {}, {}
    for structure in (0.0, 0.3, 50.0):
        inverse = np.linalg.inv(np.eye(len(Sigma)) + structure * Sigma)
        eq_9 = differences @ inverse @ differences.T
        G = deformed_gram(K, scatter, structure, "pinv")
        errors[structure] = apart(pair_kernel(G, pairs.i, pairs.j), eq_9)
        task = _task(data, "linear", lam, structure)
        primal = task.judge(optimum(task.work), 1e-9)
        rows = Rows(factor_gram(G).features)
        plain = pair_problem(rows, data.is_positive, AllPairs(), HINGE, Ridge(lam))
        dual = solved(QP("lifted", "CLARABEL", finish=True), plain)
        gaps[structure] = dual.certificate.gap / dual.certificate.primal
        apart_by[structure] = _difference(primal, dual)
    worst = max(errors.values())
    good = worst <= 1e-9 and max(*gaps.values(), *apart_by.values()) <= OPTIMA
    return Outcome(
        Verdict.HOLDS if good else Verdict.FAILS,
        f"matrices differ by {worst:.1e}, the optima by {max(apart_by.values()):.1e}",
        details={f"lambda {s:g}: relative difference from (9)": x for s, x in errors.items()}
        | {f"lambda {s:g}: relative gap of the dual": x for s, x in gaps.items()}
        | {f"lambda {s:g}: relative difference of the optima": x for s, x in apart_by.items()},
        data=(data,),
        tolerance=f"matrices 1e-9; optima and certified relative gaps {OPTIMA:g}",
    )


def _scored(
    context: Context, paper_literal: bool
) -> tuple[dict[float, float], tuple[Dataset, ...]]:
    """Return how far (20) is from f(x) = w'phi(x), relative, on training and test rows."""
    train, test = toy(context)
    K = WIDTH(train.X, train.X)
    factor, scatter = factor_gram(K), class_scatter(train.is_positive)
    new, F = factor.map(WIDTH(test.X, train.X[factor.pivots])), factor.features
    Sigma = F.T @ scatter.times(F)
    columns = np.concatenate([K, WIDTH(train.X, test.X)], axis=1)
    errors = {}
    for structure in SCORED:
        task = _task(train, "rbf", 1 / 3200, structure)
        beta = optimum(task.work, tol=1e-6).witness.c * 3200
        w = np.linalg.solve(np.eye(len(Sigma)) + structure * Sigma, F.T @ beta)
        scores = sauc_scores(K, columns, beta, scatter, structure, paper_literal)
        errors[structure] = apart(scores, np.concatenate([F, new]) @ w)
    return errors, (train, test)


def sauc_eq_20_as_printed(context: Context) -> Outcome:
    errors, data = _scored(context, paper_literal=True)
    wrong = [structure for structure, error in errors.items() if error > 1e-3]
    shown = ", ".join(f"{errors[s]:.2g} at lambda = {s:g}" for s in SCORED)
    return Outcome(
        Verdict.FAILS if wrong else Verdict.HOLDS,
        f"relative error {shown}",
        printed="no factor lambda",
        details={f"lambda {s:g}: relative error": x for s, x in errors.items()},
        data=data,
        tolerance="refuted by a relative error above 1e-3",
    )


def sauc_eq_20_with_the_factor_lambda(context: Context) -> Outcome:
    errors, data = _scored(context, paper_literal=False)
    worst = max(errors.values())
    return Outcome(
        Verdict.HOLDS if worst <= 1e-7 else Verdict.FAILS,
        f"relative difference at most {worst:.1e}",
        details={f"lambda {s:g}: relative difference": x for s, x in errors.items()},
        data=data,
        tolerance="relative difference at most 1e-7: the root of the factor's cut-off 1e-14",
    )
