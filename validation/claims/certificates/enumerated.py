"""Objectives written out pair by pair, and a check of a certificate by them alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

import numpy as np
from scipy.optimize import minimize

from ....exact.certificate.solution import Solution
from ...extremes import max, min
from ..claim import Context, Outcome, Run, Verdict

LOSSES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "hinge": lambda t: np.maximum(0.0, 1.0 - t),
    "squared_hinge": lambda t: np.maximum(0.0, 1.0 - t) ** 2,
    "logistic": lambda t: np.logaddexp(0.0, -t),
    "smooth_hinge": lambda t: np.where(t < 0, 0.5 - t, np.maximum(0.0, 1.0 - t) ** 2 / 2),
    "exponential": lambda t: np.exp(-t),
}

SAME = 1e-10  # Relative difference up to which two sums of the same few terms count as equal.

TIGHT = 1e-5  # Largest relative gap of a certificate that these claims take for tight.

Objective = Callable[[np.ndarray], float]


@dataclass(frozen=True)
class Judged:
    """What one certificate came to."""

    wrong_sum: float
    below: float
    gap: float

    @property
    def right(self) -> bool:
        """Whether the interval is that of the enumerated problem, and tight."""
        return self.wrong_sum <= SAME and self.below <= 0 and self.gap <= TIGHT


Cases = Callable[[Context], Iterator[Judged]]


def judge(solution: Solution, objective: Objective) -> Judged:
    """Return what a solution's certificate comes to, with points that Nelder and Mead find."""
    found = solution.certificate
    gap = np.inf if found.relative_gap is None else found.relative_gap
    return judge_bounds(
        np.asarray(solution.w), found.primal, found.dual, gap, objective, found.rounding
    )


def judge_bounds(
    w: np.ndarray,
    upper: float,
    lower: float,
    gap: float,
    objective: Objective,
    rounding: float = 0.0,
) -> Judged:
    """Return what an upper bound at `w`, a lower bound and a relative gap come to.

    The objective at `w` is to lie between `upper` - `rounding` and `upper`.
    """
    at = objective(w)
    starts = (w, np.zeros(w.size), w + 0.1)
    options = {"xatol": 1e-9, "fatol": 1e-13, "maxiter": 300}
    least = min(
        float(minimize(objective, start, method="Nelder-Mead", options=options).fun)
        for start in starts
    )
    # The enumerated sums have a rounding of their own, far below SAME.
    low = lower - SAME * 1e-3 * abs(at)
    outside = max(at - upper, upper - rounding - at, 0.0)
    return Judged(outside / at, (low - min(least, at)) / at, gap)


def outcome(judged: Iterable[Judged]) -> Outcome:
    """Return the verdict over all cases."""
    cases = list(judged)
    wrong = sum(not case.right for case in cases)
    return Outcome(
        Verdict.FAILS if wrong else Verdict.HOLDS,
        f"{wrong} of {len(cases)} intervals are wrong",
        details={
            "cases": len(cases),
            "largest relative difference of the sums": max(case.wrong_sum for case in cases),
            "largest relative gap": max(case.gap for case in cases),
            "largest excess of the lower bound": max(case.below for case in cases),
        },
        tolerance=f"sums to {SAME:g}, gap at most {TIGHT:g}, no point below the bound",
    )


def interval(cases: Cases) -> Run:
    """Return the judge of the claim that the interval holds the optimum in every case."""
    return wraps(cases)(lambda context: outcome(cases(context)))


def mean_loss(X: np.ndarray, pairs: Sequence[tuple[Any, Any]], loss: str) -> Objective:
    """Return w -> mean over listed pairs of the loss."""
    upper, lower = np.array(pairs).T
    differences = X[upper] - X[lower]
    return lambda w: float(LOSSES[loss](differences @ w).mean())


def worst_loss(X: np.ndarray, y: np.ndarray, kp: float, kq: float, loss: str) -> Objective:
    """Return w -> mean loss of the kp lowest positives against the kq highest negatives."""

    def weights(size: int, k: float) -> np.ndarray:
        return np.clip(k - np.arange(size), 0.0, 1.0)

    def value(w: np.ndarray) -> float:
        scores = X @ w
        low, high = np.sort(scores[y == 1]), np.sort(scores[y == 0])[::-1]
        losses = LOSSES[loss](low[:, None] - high)
        return float(weights(low.size, kp) @ losses @ weights(high.size, kq)) / (kp * kq)

    return value
