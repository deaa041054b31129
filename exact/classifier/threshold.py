"""Where to cut the scores: the rules that set the intercept after training.

The pairwise problem has no intercept, because it cancels in every pair. Each rule here takes scores
and labels and returns a threshold. A row is called positive if its score is above the threshold, so
the intercept is minus the threshold. Tied scores always fall on the same side.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np

from ..errors import InputError
from ..pairs.all_pairs import AllPairs
from ..tools.checks import check_number
from .cuts import SLACK, all_cuts, checked, cuts_near

Rule = Callable[[np.ndarray, np.ndarray, np.ndarray | None], float]


def threshold_midpoint(
    scores: np.ndarray, positive: np.ndarray, weight: np.ndarray | None = None
) -> float:
    """Return halfway between the lowest positive and the highest negative score.

    [SAUC, eq. (4)]: (min f(x+) + max f(x-)) / 2. This suits separable data. On other data two rows
    decide, so a single outlier can move the threshold anywhere.
    """
    scores, positive = checked(scores, positive)
    mass = AllPairs(weight).on(positive).row_mass()
    lowest = float(scores[positive & (mass > 0)].min())
    return lowest / 2 + float(scores[~positive & (mass > 0)].max()) / 2


def threshold_equal_error(
    scores: np.ndarray, positive: np.ndarray, weight: np.ndarray | None = None
) -> float:
    """Return the threshold at which sensitivity equals specificity. [SAUC, Section 2.2, rule 2]

    There the ROC curve meets the diagonal from (0, 1) to (1, 0). The curve is a staircase: where
    it jumps over the diagonal, the threshold is interpolated between the cuts on either side. The
    rule does not depend on how frequent the classes are, and exchanging them only changes its sign.

    Differs from the paper: 1. It calls this the best compromise of true and false positive rate;
    that is `threshold_youden`.
    """
    cuts = cuts_near(scores, positive, weight, lambda cuts: cuts.balance >= 0.0)
    balance = cuts.balance
    after = int(np.searchsorted(balance, 0.0))
    if balance[after] == 0.0:
        return float(cuts.at[after])
    share = -balance[after - 1] / (balance[after] - balance[after - 1])
    return float((1 - share) * cuts.at[after - 1] + share * cuts.at[after])


def threshold_youden(
    scores: np.ndarray, positive: np.ndarray, weight: np.ndarray | None = None
) -> float:
    """Return where sensitivity + specificity is largest (Youden's index)."""
    cuts = all_cuts(scores, positive, weight)
    return cuts.best(cuts.sensitivity + cuts.specificity)


def threshold_accuracy(
    scores: np.ndarray, positive: np.ndarray, weight: np.ndarray | None = None
) -> float:
    """Return the threshold at which most rows are on their own side.

    With a rare class this may put all rows on one side.
    """
    cuts = all_cuts(scores, positive, weight)
    plus, minus = (float(side.sum()) for side in AllPairs(weight).on(positive).sides())
    return cuts.best((plus * cuts.sensitivity + minus * cuts.specificity) / (plus + minus))


def threshold_for_sensitivity(
    scores: np.ndarray,
    positive: np.ndarray,
    weight: np.ndarray | None = None,
    *,
    sensitivity: float,
) -> float:
    """Return the highest cut that still calls this share of the positive rows positive.

    [ScalingUp, Section 2.2]. Of all cuts with the wanted sensitivity it has the best specificity.
    """
    check_number("sensitivity", sensitivity, 0, 1, closed="high")
    least = sensitivity - SLACK
    cuts = cuts_near(scores, positive, weight, lambda cuts: cuts.sensitivity < least)
    return float(cuts.at[np.flatnonzero(cuts.sensitivity >= least)[-1]])


def threshold_for_specificity(
    scores: np.ndarray,
    positive: np.ndarray,
    weight: np.ndarray | None = None,
    *,
    specificity: float,
) -> float:
    """Return the lowest cut that still calls this share of the negative rows negative.

    [ScalingUp, Section 2.2]. Of all cuts with the wanted specificity it has the best sensitivity.
    """
    check_number("specificity", specificity, 0, 1, closed="high")
    least = specificity - SLACK
    cuts = cuts_near(scores, positive, weight, lambda cuts: cuts.specificity >= least)
    return float(cuts.at[np.flatnonzero(cuts.specificity >= least)[0]])


RULES: dict[str, Rule] = {
    "equal-error": threshold_equal_error,
    "midpoint": threshold_midpoint,
    "youden": threshold_youden,
    "accuracy": threshold_accuracy,
}


def get_rule(rule: object) -> Rule:
    """Return the rule of that name; a function (scores, positive, weight) -> float is one
    itself."""
    if callable(rule):
        return cast(Rule, rule)
    if not isinstance(rule, str) or rule not in RULES:
        raise InputError(
            f"threshold must be one of {', '.join(RULES)}, or a function of scores, positive "
            f"and weight, not {rule!r}"
        )
    return RULES[rule]
