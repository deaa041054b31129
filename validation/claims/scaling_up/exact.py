"""Claims about the full problem [ScalingUp, eq. (3)]: duality, certificates, equivalence, size."""

from __future__ import annotations

import numpy as np

from ....exact.certificate.solution import Solution
from ....exact.losses.registry import HINGE
from ....exact.pairs.all_pairs import AllPairs
from ....exact.problem.problem import Ridge, pair_problem
from ....exact.solvers.qp import QP
from ....exact.spaces.factor import factor_gram
from ....exact.spaces.gram import Gram
from ....exact.spaces.kernels import Gaussian
from ....exact.spaces.rows import Rows
from ...bounds.exact_answers import hinge_problem, optimum, overlap, solved
from ...data import datasets
from ...data.labelled_data import Dataset
from ...extremes import max
from ..claim import Context, Outcome, Verdict
from ..common import wdbc_sample

# Relative gap that every QP solver must reach; OSQP, a first-order method, is the coarsest.
QP_TOL = 1e-4


def _qp(context: Context, backend: str) -> Outcome:
    data = wdbc_sample(context, 20, 30) if context.quick else wdbc_sample(context, 60, 80)
    problem = hinge_problem(data, 0.1)
    exact = optimum(problem)
    found = {f"{form} form": solved(QP(form, backend), problem) for form in ("teaching", "lifted")}
    return _judge_qp(exact, found, data)


def dual_qp_by_osqp(context: Context) -> Outcome:
    return _qp(context, "OSQP")


def dual_qp_by_ecos(context: Context) -> Outcome:
    return _qp(context, "ECOS")


def dual_qp_by_clarabel(context: Context) -> Outcome:
    return _qp(context, "CLARABEL")


def _judge_qp(exact: Solution, found: dict[str, Solution], data: Dataset) -> Outcome:
    gaps = {
        name: solution.certificate.gap / exact.certificate.primal
        for name, solution in found.items()
    }
    agree = all(overlap(exact, solution) for solution in found.values())
    worst = max(gaps.values())
    return Outcome(
        Verdict.HOLDS if agree and worst <= QP_TOL else Verdict.FAILS,
        f"relative gap at most {worst:.1e}",
        details={
            "optimum": exact.certificate.primal,
            "relative gap by cutting planes": exact.certificate.gap / exact.certificate.primal,
            **{f"relative gap, {name}": gap for name, gap in gaps.items()},
            "intervals overlap": agree,
        },
        data=(data,),
        tolerance=f"certified intervals overlap and every relative gap is below {QP_TOL:g}",
    )


def marginals_certify_all_pairs(context: Context) -> Outcome:
    data = datasets.load("wdbc")
    gaps, primals, evidence = {}, {}, 0
    for lam in (0.1, 0.01, 0.001):
        problem = hinge_problem(data, lam)
        solution = optimum(problem, tol=1e-9)
        certificate = solution.certificate
        gaps[lam] = certificate.gap / certificate.primal
        primals[lam] = certificate.primal
        evidence = max(evidence, solution.witness.c.size)
    worst = max(gaps.values())
    return Outcome(
        Verdict.HOLDS if worst <= 1e-8 else Verdict.FAILS,
        f"relative gap at most {worst:.1e}, {evidence} numbers for {problem.n_pairs} pairs",
        details={f"lam {lam:g}: relative gap with rounding": gap for lam, gap in gaps.items()}
        | {f"lam {lam:g}: optimum": primal for lam, primal in primals.items()},
        data=(data,),
        tolerance="certified relative gap, its rounding included, at most 1e-8",
    )


def factor_and_kernel_agree(context: Context) -> Outcome:
    data = wdbc_sample(context, 40, 60)
    rows = np.r_[np.arange(100), np.arange(10), np.arange(40, 50)]  # 20 duplicates: K is singular
    X, positive = data.X[rows], data.is_positive[rows]
    K = Gaussian(0.02)(X, X)
    factor = factor_gram(K)
    details: dict[str, float] = {"rank of K": factor.pivots.size, "rows": rows.size}
    worst, gaps = 0.0, []
    for lam in (0.1, 0.01):
        linear = pair_problem(Rows(factor.features), positive, AllPairs(), HINGE, Ridge(lam))
        kernel = linear.over(Gram(K))
        by_factor, by_kernel = optimum(linear, tol=1e-8), optimum(kernel, tol=1e-8)
        best = by_kernel.certificate.primal
        # The same function, written in the coefficients theta of (10).
        carried = kernel.objective(factor.coefficients(by_factor.w))
        worst = max(worst, *(abs(x - best) / best for x in (by_factor.certificate.primal, carried)))
        gaps += [s.certificate.gap / best for s in (by_factor, by_kernel)]
        details[f"lam {lam:g}: optimum by the factor"] = by_factor.certificate.primal
        details[f"lam {lam:g}: the same f in the kernel problem"] = carried
        details[f"lam {lam:g}: optimum by the kernel"] = best
    return Outcome(
        Verdict.HOLDS if max(worst, *gaps) <= 1e-6 else Verdict.FAILS,
        f"optima differ by {worst:.1e}",
        details=details | {"largest certified relative gap": max(gaps)},
        data=(data,),
        tolerance="relative differences and certified relative gaps at most 1e-6",
    )
