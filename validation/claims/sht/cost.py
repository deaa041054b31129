"""Claims about the cost of SHT-AUC and the curvature of its objective [SHT, Sections I and II]."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ....approx.sht import sparse_problem
from ...data.generators import sparse_mean_shift
from ...extremes import max, min
from ..claim import Context, Outcome, Verdict
from ..nonlinear.counting import Counted


def sht_gradient_costs_o_bd(context: Context) -> Outcome:
    rows, columns = (20, 40, 80, 160), (200, 400, 800)
    table, shares = {}, []
    for d in columns:
        data = sparse_mean_shift(400, context.draw_seed(f"{d}"), d=d, k_star=20, r=0.25)
        loss = sparse_problem(data.X, data.y)
        for b in rows:
            block = loss.part(np.arange(b), 400 / b)
            counted = replace(block, X=np.asarray(block.X).view(Counted))
            Counted.operations = 0.0
            counted.gradient(context.rng(f"{b} {d}").standard_normal(d))
            shares.append(Counted.operations / (b * d))
            table[f"b = {b}, d = {d}: operations"] = Counted.operations
    return Outcome(
        Verdict.HOLDS if max(shares) <= 4 else Verdict.FAILS,
        f"{min(shares):.2f} to {max(shares):.2f} times b d operations",
        details=table,
        tolerance="at most 4 b d; operations are counted and not timed",
    )


def sht_objective_is_not_strongly_convex(context: Context) -> Outcome:
    ratios = []
    for n, d in ((20, 40), (40, 60), (60, 40)):
        data = sparse_mean_shift(n, context.draw_seed(f"{n}"), d=d, k_star=10, r=0.5)
        loss, unit = sparse_problem(data.X, data.y), np.eye(d)
        at_zero = loss.gradient(np.zeros(d))
        hessian = np.array([loss.gradient(row) - at_zero for row in unit])
        values = np.linalg.eigvalsh((hessian + hessian.T) / 2)
        ratios.append(float(values[0] / values[-1]))
    singular = max(abs(ratios[0]), abs(ratios[1])) <= 1e-12
    return Outcome(
        Verdict.HOLDS if singular and ratios[2] > 1e-6 else Verdict.FAILS,
        f"least over largest eigenvalue {ratios[0]:.1e} and {ratios[1]:.1e} for d > n, "
        f"{ratios[2]:.1e} for d < n",
        details={"(n, d) = (20, 40), (40, 60), (60, 40)": ratios},
        tolerance="1e-12; an instance is enough",
    )
