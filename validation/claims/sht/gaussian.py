"""Claims about Theorem 2, restricted curvature of Gaussian rows [SHT, (12), (13)]."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats

from ....approx.sht import StochasticHardThresholding, sparse_problem
from ...bounds.restricted_constants import (
    block_matrices,
    largest_restricted,
    restricted_constants_exact,
)
from ...bounds.sht_gaussian import least_curvature, rows_for_curvature, sht_theorem2
from ...extremes import above, max, min
from ..claim import Context, Outcome, Verdict
from ..common import LEVEL, lower_limit
from .theory import diagonal

# Features and support size: 220 supports can be tried; Sigma = I, so that lam = rho(Sigma) = 1.
D, S, LAM, EPS = 12, 3, 1.0, 0.05

BLOCK = 50


@dataclass(frozen=True)
class _Drawn:
    """The exact restricted curvature of one draw of centred Gaussian rows."""

    n_pos: int
    n_neg: int
    minus: float
    plus: float
    plus_bound: float
    """From the data, `largest_restricted` of every block."""


def _draw(n: int, r: float, rng: np.random.Generator) -> _Drawn:
    X, positive = rng.standard_normal((n, D)), np.arange(n) < round(r * n)
    loss = sparse_problem(X, positive)
    solver = StochasticHardThresholding(1, block_size=BLOCK)
    M = block_matrices(solver.blocks(loss, rng))
    whole = block_matrices([loss])
    minus = restricted_constants_exact(whole, S).minus
    plus = restricted_constants_exact(M, S).plus
    bound = 2 * max(largest_restricted(block, S) for block in M)
    return _Drawn(int(positive.sum()), int((~positive).sum()), minus, plus, bound)


def _draws(context: Context, n: int, r: float) -> list[_Drawn]:
    """Return the same draws for every claim of this module."""
    rng = Context("sht-theorem-2", context.seed, context.profile).rng(f"{n} {r}")
    return [_draw(n, r, rng) for _ in range(10 if context.quick else 100)]


def sht_theorem_2_eq_12_as_printed(context: Context) -> Outcome:
    n, rng = 100_000, context.rng("rows")
    bound, paper = sht_theorem2(n, D, S, 0.5, BLOCK), sht_theorem2(1000, 1000, 60, 0.5, BLOCK)
    least = []
    for _ in range(10 if context.quick else 100):
        loss = sparse_problem(rng.standard_normal((n, D)), np.arange(n) < n / 2)
        least.append(restricted_constants_exact(block_matrices([loss]), S).minus)
    # A support's curvature is no more than that of its flattest feature alone.
    most = diagonal(sparse_problem(rng.standard_normal((1000, 1000)), np.arange(1000) < 500))
    missed = lower_limit(sum(value < bound.minus for value in least), len(least))
    loose = Verdict.LOOSE if min(least) >= 10 * bound.minus else Verdict.HOLDS
    return Outcome(
        Verdict.FAILS if missed > 1 - bound.chance_minus else loose,
        f"(12) is {bound.minus:.3f}, rho- at least {min(least):.2f} at n = {n:,}; at the paper's "
        f"sizes {paper.minus:.1f} and at most {2 * float(most.min()):.2f}",
        printed=f"with probability at least {bound.chance_minus:.2f}",
        details={"n, d, s, r": [n, D, S, 0.5], "(12)": bound.minus, "rho-": least}
        | {"what is squared, here and at the paper's sizes": [bound.base, paper.base]}
        | {"missed with probability at least": missed},
        tolerance=f"lower confidence limit of the probability (exact, level {LEVEL:g}) above what "
        "is allowed; rho- by trying all supports; loose from ten times",
    )


def sht_theorem_2_eq_12_with_the_positive_part(context: Context) -> Outcome:
    wrong = 0
    for n, r in ((200, 0.05), (200, 0.5), (4000, 0.5)):
        bound = sht_theorem2(n, D, S, r, BLOCK, form="corrected").minus
        wrong += sum(draw.minus < bound for draw in _draws(context, n, r))
    paper = {r: sht_theorem2(1000, 1000, 60, r, 50, form="corrected") for r in (0.05, 0.25, 0.5)}
    needed = {r: rows_for_curvature(1000, 60, r) for r in paper}
    useful = any(bound.minus > 0 for bound in paper.values())
    # At the threshold itself the printed and the corrected form are zero.
    at = max(abs(sht_theorem2(math.ceil(needed[r][1]), 1000, 60, r, 50).minus) for r in paper)
    verdict = Verdict.HOLDS if useful else Verdict.VACUOUS
    return Outcome(
        Verdict.FAILS if wrong or at > 1e-3 else verdict,
        f"n = 1000 where {needed[0.5][1]:,.0f} rows are needed at r = 0.5, {needed[0.05][1]:,.0f} "
        "at r = 0.05",
        details={f"rows needed at r = {r:g}: base, whole": list(needed[r]) for r in paper}
        | {f"lower bound at r = {r:g}": bound.minus for r, bound in paper.items()}
        | {"draws below the bound": wrong, "(12) at its threshold": at},
        tolerance="rho- by trying all supports in the draws; the thresholds in closed form",
    )


def sht_theorem_2_by_both_classes(context: Context) -> Outcome:
    details, hits, count, least = {}, 0, 0, math.inf
    for n, r in ((200, 0.5), (4000, 0.05), (4000, 0.5)):
        draws = _draws(context, n, r)
        bound = least_curvature((draws[0].n_pos, draws[0].n_neg), D, S, LAM, EPS)
        hits += sum(above(bound, draw.minus) for draw in draws)
        count += len(draws)
        least = min(least, bound)
        details[f"n = {n}, r = {r:g}: bound, least true rho-"] = [
            bound,
            min(draw.minus for draw in draws),
        ]
    chance = float(stats.binom.sf(hits - 1, count, 2 * EPS)) if hits else 1.0
    paper = least_curvature((50, 950), 1000, 60)
    return Outcome(
        Verdict.FAILS if chance < LEVEL else Verdict.HOLDS,
        f"violated in {hits} of {count} draws, bound at least {least:.2f}; {paper:.3f} at the "
        "paper's sizes with r = 0.05",
        details=details | {"violated": hits, "draws": count},
        tolerance=f"exact binomial test of 2 eps = {2 * EPS:g} at level {LEVEL:g}",
    )


def _smoothness(context: Context, form: str) -> Outcome:
    ratios, below, details, allowed = [], 0, {}, S / (2 * D)
    for n, r in ((200, 0.5), (4000, 0.05), (4000, 0.5)):
        draws = _draws(context, n, r)
        bound = sht_theorem2(n, D, S, r, BLOCK, form=form).plus
        below += sum(draw.plus > bound for draw in draws)
        ratios += [bound / draw.plus for draw in draws]
        details[f"n = {n}, r = {r:g}: bound, largest true rho+"] = [
            bound,
            max(draw.plus for draw in draws),
        ]
    loose = Verdict.LOOSE if min(ratios) >= 10 else Verdict.HOLDS
    chance = float(stats.binom.sf(below - 1, len(ratios), allowed))
    return Outcome(
        Verdict.FAILS if chance < LEVEL else loose,
        f"never violated in {len(ratios)} draws; {min(ratios):.0f} to {max(ratios):.0f} times the "
        "true value"
        if not below
        else f"violated in {below} of {len(ratios)} draws",
        details=details | {"draws": len(ratios), "violated": below},
        tolerance=f"rho+ of the blocks by trying all supports; exact binomial test of s/(2d) = "
        f"{allowed:g} at level {LEVEL:g}; loose from ten times",
    )


def sht_theorem_2_eq_13_as_printed(context: Context) -> Outcome:
    return _smoothness(context, "printed")


def sht_theorem_2_eq_13_as_its_proof_gives_it(context: Context) -> Outcome:
    return _smoothness(context, "corrected")


def sht_smoothness_from_the_data(context: Context) -> Outcome:
    sets = ((200, 0.5), (4000, 0.05), (4000, 0.5))
    draws = [draw for n, r in sets for draw in _draws(context, n, r)]
    ratios = np.array([draw.plus_bound / draw.plus for draw in draws])
    return Outcome(
        Verdict.HOLDS if ratios.min() >= 1 - 1e-12 and ratios.max() <= 3 else Verdict.FAILS,
        f"bound / rho+ from {ratios.min():.2f} to {ratios.max():.2f} in {len(draws)} draws",
        details={"draws": len(draws), "bound / rho+, median": float(np.median(ratios))},
        tolerance="1e-12 below, factor 3 above",
    )
