"""The ways to cut scores, with the rates that each cut gives, and the rules that choose one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np

from ..errors import InputError
from ..pairs.all_pairs import AllPairs
from ..tools.arrays import as_float64, check_choice, check_number, check_scores

Weight = np.ndarray | None
Rule = Callable[[np.ndarray, np.ndarray, Weight], float]
SLACK = 1e-12  # Differences of rates below this are rounding, because rates are sums of weights.


@dataclass(frozen=True, eq=False)
class Cuts:
    """Every way to cut the scores, from "all rows positive" to "all rows negative"."""

    at: np.ndarray
    sensitivity: np.ndarray
    specificity: np.ndarray

    @property
    def balance(self) -> np.ndarray:
        return self.specificity - self.sensitivity

    def best(self, merit: np.ndarray) -> float:
        """Return the cut of the largest merit, the nearest to equal errors, the lower of two."""
        tied = np.flatnonzero(merit >= merit.max() - SLACK)
        distance = np.abs(self.balance[tied])
        return float(self.at[tied[np.flatnonzero(distance <= distance.min() + SLACK)[0]]])


def all_cuts(scores: np.ndarray, positive: np.ndarray, weight: Weight = None) -> Cuts:
    scores, positive = checked(scores, positive)
    if weight is None:
        values, times = np.unique(scores, return_counts=True)
        missed = np.append(0, np.searchsorted(np.sort(scores[positive]), values, side="right"))
        passed = np.append(0, np.cumsum(times)) - missed
    else:
        mass = AllPairs(weight).on(positive).row_mass()
        used = mass > 0
        values, place = np.unique(scores[used], return_inverse=True)
        missed, passed = (
            np.append(0.0, np.cumsum(np.bincount(place, (mass * side)[used], values.size)))
            for side in (positive, ~positive)
        )
    beyond = max(1.0, float(values[-1] - values[0]), 1e-6 * float(np.abs(values).max()))
    middle = values[:-1] / 2 + values[1:] / 2
    # Neighbouring floats have no middle: the lower one itself is still a cut.
    middle = np.where((middle >= values[:-1]) & (middle < values[1:]), middle, values[:-1])
    at = np.concatenate([[values[0] - beyond], middle, [values[-1] + beyond]])
    return Cuts(at, 1.0 - missed / missed[-1], passed / passed[-1])


def checked(scores: np.ndarray, positive: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    scores = as_float64(scores, "scores")
    if not isinstance(positive, np.ndarray) or positive.dtype != bool:
        raise InputError("positive must be a boolean array, True on the positive rows")
    check_scores(scores, positive)
    if positive.ndim != 1 or not positive.any() or positive.all():
        raise InputError("a threshold needs rows of both classes")
    return scores, positive


def threshold_midpoint(scores: np.ndarray, positive: np.ndarray, weight: Weight = None) -> float:
    """Return (min f(x+) + max f(x-)) / 2, for separable data. [SAUC, eq. (4)]"""
    scores, positive = checked(scores, positive)
    mass = AllPairs(weight).on(positive).row_mass()
    lowest = float(scores[positive & (mass > 0)].min())
    return lowest / 2 + float(scores[~positive & (mass > 0)].max()) / 2


def threshold_equal_error(scores: np.ndarray, positive: np.ndarray, weight: Weight = None) -> float:
    """Return the threshold at which sensitivity equals specificity, interpolated between cuts.
    [SAUC, Section 2.2, rule 2]

    Differs from the paper: 1. It calls this the best compromise of true and false positive rate;
    that is `threshold_youden`.
    """
    cuts = all_cuts(scores, positive, weight)
    balance = cuts.balance
    after = int(np.searchsorted(balance, 0.0))
    if balance[after] == 0.0:
        return float(cuts.at[after])
    share = -balance[after - 1] / (balance[after] - balance[after - 1])
    return float((1 - share) * cuts.at[after - 1] + share * cuts.at[after])


def threshold_youden(scores: np.ndarray, positive: np.ndarray, weight: Weight = None) -> float:
    """Return where sensitivity + specificity is largest (Youden's index)."""
    cuts = all_cuts(scores, positive, weight)
    return cuts.best(cuts.sensitivity + cuts.specificity)


def threshold_accuracy(scores: np.ndarray, positive: np.ndarray, weight: Weight = None) -> float:
    """Return the threshold at which most rows are on their own side; of a rare class maybe all."""
    cuts = all_cuts(scores, positive, weight)
    plus, minus = (float(side.sum()) for side in AllPairs(weight).on(positive).sides)
    return cuts.best((plus * cuts.sensitivity + minus * cuts.specificity) / (plus + minus))


def threshold_for_sensitivity(
    scores: np.ndarray, positive: np.ndarray, weight: Weight = None, *, sensitivity: float
) -> float:
    """Return the highest cut with at least this sensitivity. [ScalingUp, Section 2.2]"""
    check_number("sensitivity", sensitivity, 0, 1, closed="high")
    cuts = all_cuts(scores, positive, weight)
    return float(cuts.at[np.flatnonzero(cuts.sensitivity >= sensitivity - SLACK)[-1]])


def threshold_for_specificity(
    scores: np.ndarray, positive: np.ndarray, weight: Weight = None, *, specificity: float
) -> float:
    """Return the lowest cut with at least this specificity. [ScalingUp, Section 2.2]"""
    check_number("specificity", specificity, 0, 1, closed="high")
    cuts = all_cuts(scores, positive, weight)
    return float(cuts.at[np.flatnonzero(cuts.specificity >= specificity - SLACK)[0]])


RULES: dict[str, Rule] = {
    "equal-error": threshold_equal_error,
    "midpoint": threshold_midpoint,
    "youden": threshold_youden,
    "accuracy": threshold_accuracy,
}


def get_rule(rule: object) -> Rule:
    """Return the rule of that name; a function (scores, positive, weight) -> float is a rule."""
    return cast(Rule, rule) if callable(rule) else RULES[check_choice("threshold", rule, RULES)]
