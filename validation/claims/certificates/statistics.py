"""The claim: DeLong's variance from two sorts is that of the pairs, one by one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ....exact.pairs.statistics.concordance import delong
from ...extremes import max
from ..claim import Context, Outcome, Verdict

SAME = 1e-13  # Relative difference up to which a float counts as the fraction that it stands for.


def variance_by_pairs(scores: np.ndarray, positive: np.ndarray) -> tuple[Fraction, Fraction]:
    """Return the AUC and S+ / n+ + S- / n- in fractions, from every pair."""
    above, below = scores[positive].tolist(), scores[~positive].tolist()
    order = [[Fraction((a > b) + (a >= b), 2) for b in below] for a in above]
    rows = [sum(row, Fraction(0)) / len(row) for row in order]
    columns = [sum(column, Fraction(0)) / len(column) for column in zip(*order, strict=True)]
    auc = sum(rows, Fraction(0)) / len(rows)
    parts = (
        sum(((v - auc) ** 2 for v in side), Fraction(0)) / ((len(side) - 1) * len(side))
        for side in (rows, columns)
    )
    return auc, sum(parts, Fraction(0))


def delong_variance_is_that_of_the_pairs(context: Context) -> Outcome:
    worst = 0.0
    for draw in range(20 if context.quick else 200):
        rng = context.rng(f"draw {draw}")
        positive = rng.permutation(np.arange(25) < 2 + draw % 10)
        scores = rng.integers(0, 6, 25) + 1.0 * positive
        found = delong(scores, positive)
        auc, variance = variance_by_pairs(scores, positive)
        for value, exact in ((found.value, auc), (found.standard_error**2, variance)):
            worst = max(worst, abs(value - float(exact)) / max(float(exact), 1e-3))
    return Outcome(
        Verdict.HOLDS if worst <= SAME else Verdict.FAILS,
        f"relative difference at most {worst:.1e}",
        details={"largest relative difference": worst},
        tolerance=f"relative difference at most {SAME:g}",
    )
