"""Claims about the second half of the proof of Theorem 4 [ScalingUp, appendix A.2].

The draws that they judge are those of `drawn_cases`, made once a process.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ....bounds.right_side import DELTA
from ....bounds.steps import Step, eq_18, eq_19, eq_20, eq_21, hoeffding
from ....extremes import above, max
from ...claim import Context, Outcome, Verdict
from ...common import LEVEL, lower_limit
from .drawn import TOL, Case, drawn_cases, three_rows

NOISE = 1e-10  # What rounding can change where an inequality holds for any coefficients.


def _judge(
    context: Context,
    step: Callable[[Case], Step],
    slack: Callable[[Case], float],
    corrected: bool = False,
) -> Outcome:
    """Compare left and right side in every draw; a violation is one beyond the slack.

    A step of a proof is judged by its truth alone; how loose it is stands in the details.
    """
    cases = drawn_cases(context.seed, context.profile)
    steps = [step(case) for case in cases]
    left = np.array([found.left for found in steps])
    right = np.array([found.corrected if corrected else found.right for found in steps], float)
    slacks = np.array([slack(case) for case in cases])
    violated = above(left, right + slacks)
    # Where all rows are landmarks both sides of most steps are rounding.
    shown = np.array([not case.all_rows for case in cases]) & (left > 0)
    ratios = right[shown] / left[shown]
    excess, least = float((left - right).max()), float(ratios.min())
    found = f", by up to {excess:.3f}" if violated.any() else f"; right / left {least:.2g} at least"
    return Outcome(
        Verdict.FAILS if violated.any() else Verdict.HOLDS,
        f"violated in {violated.sum()} of {len(cases)} draws{found}",
        details={
            "draws": len(cases),
            "violated": violated.sum(),
            "largest excess": excess,
            "right side / left side where d < n, least": least,
            "right side / left side where d < n, median": float(np.median(ratios)),
            "largest slack": slacks.max(),
        },
        data=[case.data for case in cases],
        tolerance="a violation must exceed what the certified gaps of 1e-9 can explain",
    )


def theorem_4_hoeffding_step(context: Context) -> Outcome:
    def step(case: Case) -> Step:
        full, pair = case.experiment.full, case.pair
        w, w_B, K_max = case.experiment.f.w, pair.theta_hat, pair.approximation.K_max
        C_max = max(full.space.norm2(w), full.space.norm2(w_B))
        return hoeffding(full, pair.drawn, w, w_B, pair.B, K_max, C_max, DELTA)

    outcome = _judge(context, step, lambda case: case.loss_slack)
    hits, count = int(outcome.details["violated"]), int(outcome.details["draws"])
    return replace(
        outcome,
        verdict=Verdict.FAILS if lower_limit(hits, count) > DELTA else Verdict.HOLDS,
        printed=f"in at most {DELTA:g} of the draws",
        tolerance=f"lower confidence limit of the probability above delta (level {LEVEL:g})",
    )


def eq_18_as_printed(context: Context) -> Outcome:
    return _judge(context, lambda case: eq_18(case.pair), lambda case: NOISE)


def eq_19_strong_convexity(context: Context) -> Outcome:
    def slack(case: Case) -> float:
        # theta^ is the minimiser up to the gap, and off by the radius at most.
        lam, change = case.experiment.lam, float(np.sqrt(2 * eq_19(case.pair).left))
        return TOL + case.radius * (np.sqrt(lam) * change + lam * case.radius)

    return _judge(context, lambda case: eq_19(case.pair), slack)


def eq_20_as_printed(context: Context) -> Outcome:
    step = eq_20(three_rows())
    cases = drawn_cases(context.seed, context.profile)
    shares = [
        float(np.mean([s.left > s.right + c.loss_slack for s, c in zip(steps, cases, strict=True)]))
        for steps in ([eq_20(c.pair) for c in cases], [eq_20(c.dual) for c in cases])
    ]
    return Outcome(
        Verdict.FAILS if above(step.left, step.right + 1e-4) else Verdict.HOLDS,
        f"left side {step.left:.4f}, right side {abs(step.right):.4f}",
        details={
            "left side": step.left,
            "right side": step.right,
            "right side with the penalties": step.corrected,
            "ordinary draws": len(cases),
            "violated in a share of them, theta~ of least norm": shares[0],
            "violated in a share of them, theta~ of the dual point": shares[1],
        },
        tolerance="1e-4, for certified gaps of 1e-9",
    )


def eq_20_with_the_penalties(context: Context) -> Outcome:
    # f~_B minimises the objective with K~ up to its gap; f^_B's is not used.
    first, second = (
        _judge(context, lambda case, at=at: eq_20(getattr(case, at)), lambda case: 2 * TOL, True)
        for at in ("pair", "dual")
    )
    both = {f"theta~ of the dual point: {key}": value for key, value in second.details.items()}
    verdicts = (first.verdict, second.verdict)
    return replace(
        first,
        verdict=Verdict.FAILS if Verdict.FAILS in verdicts else first.verdict,
        details=first.details | both,
    )


def eq_21_for_the_square_root_of_the_norms(context: Context) -> Outcome:
    return _judge(context, lambda case: eq_21(case.pair), lambda case: 2 * case.radius)
