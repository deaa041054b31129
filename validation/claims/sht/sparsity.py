"""Claims about sparse solutions, and Table II's own numbers [SHT, Section IV-A]."""

from __future__ import annotations

import numpy as np

from ....approx.hard_thresholding.sht_auc import sparse_problem
from ....exact.solvers.convex_reference import convex_reference
from ....exact.square_loss.convex_square import ConvexSquare
from ...data.generators import sparse_mean_shift
from ...data.printed_numbers import numbers
from ..claim import Context, Outcome, Verdict
from ..papers import SHT

TABLE_2 = numbers(SHT.key, "Table II")
F1, JACCARD = (
    {name: row[part] for name, row in TABLE_2.items()} for part in (slice(4), slice(4, 8))
)


@SHT.theorem(
    "Table II",
    "The mean Jaccard indices go with the mean F1 scores beside them.",
    formula="JI = F1 / (2 - F1) in each run, convex:  mean JI >= F1 / (2 - F1) at the mean F1",
)
def sht_jaccard_column(context: Context) -> Outcome:
    low = {}
    for name, scores in F1.items():
        for k_star, score, index in zip((20, 40, 60, 80), scores, JACCARD[name], strict=True):
            least = (score - 5e-4) / (2 - score + 5e-4)
            if index + 5e-4 < least:
                low[f"{name}, k* = {k_star}: printed, least possible"] = [index, least]
    return Outcome(
        Verdict.FAILS if low else Verdict.HOLDS,
        f"{len(low)} of 28 are too small",
        printed=".200 beside F1 .365 (SHT-AUC, k* = 40)",
        details=low,
        tolerance="rounding of both printed numbers, 0.0005 each",
    )


@SHT.suite(
    "Section IV-A, footnote 2",
    "It is the stochastic steps and not the penalty: the optimum of the same problem has few "
    "weights that are not zero.",
    formula="min F(w) + l1 |w|_1",
)
def sht_l1_optimum_is_sparse(context: Context) -> Outcome:
    seed = Context("sht-l1", context.seed, context.profile).draw_seed("data")
    data = sparse_mean_shift(600, seed, d=200, k_star=20, r=0.25)
    loss = sparse_problem(data.X, data.y)
    l1 = float(np.abs(loss.delta).max())  # half of what makes w = 0 optimal
    size = int(np.count_nonzero(convex_reference(ConvexSquare(loss, l1=l1)).w))
    return Outcome(
        Verdict.HOLDS if size <= 50 else Verdict.FAILS,
        f"{size} of 200 weights are not zero",
        details={"nonzero at the optimum": size},
        data=(data,),
        tolerance="at most a quarter of the weights",
    )
