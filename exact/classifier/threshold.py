"""Where to cut the scores: the rules that set the intercept after training.

The pairwise problem has no intercept, because it cancels in every pair. Each rule here takes scores
and labels and returns a threshold. A row is called positive if its score is above the threshold, so
the intercept is minus the threshold. Tied scores always fall on the same side.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np

from ..errors import InputError
from ..pairs.all_pairs import AllPairs
from ..tools.checks import check_number, check_scores
from ..tools.lossless import as_float64

Rule = Callable[[np.ndarray, np.ndarray, np.ndarray | None], float]

SLACK = 1e-12
"""Differences of rates below this are rounding, because rates are sums of weights."""


@dataclass(frozen=True, eq=False)
class Cuts:
    """Every way to cut the scores, from "all rows positive" to "all rows negative".

    Attributes
    ----------
    at : array (k + 1,)
        Thresholds, ascending: below all k distinct scores, halfway between neighbours, above all.
    sensitivity, specificity : arrays (k + 1,)
        Share of the positive rows above the cut, and of the negative rows below it.
    """

    at: np.ndarray
    sensitivity: np.ndarray
    specificity: np.ndarray

    @property
    def balance(self) -> np.ndarray:
        """Specificity minus sensitivity: it rises from -1 to 1."""
        return self.specificity - self.sensitivity

    def best(self, merit: np.ndarray) -> float:
        """Return the cut of the largest merit.

        Among several it is the one nearest to equal errors, and of two as near the lower one.
        """
        tied = np.flatnonzero(merit >= merit.max() - SLACK)
        distance = np.abs(self.balance[tied])
        return float(self.at[tied[np.flatnonzero(distance <= distance.min() + SLACK)[0]]])


def all_cuts(scores: np.ndarray, positive: np.ndarray, weight: np.ndarray | None = None) -> Cuts:
    """Return the cuts of the scores, with the rates that each gives.

    Parameters
    ----------
    scores : array (n,)
        Finite.
    positive : bool array (n,)
        Both classes must occur.
    weight : array (n,), optional
        Row weights, >= 0; a weight means repetition.

    Raises
    ------
    InputError
        If the sizes differ, a score is not finite, or a class is missing.
    """
    scores, mass = _weighed(scores, positive, weight)
    values, place = np.unique(scores[mass > 0], return_inverse=True)
    positive, mass = positive[mass > 0], mass[mass > 0]
    size = values.size
    missed, passed = np.zeros(size + 1), np.zeros(size + 1)
    np.cumsum(np.bincount(place, weights=mass * positive, minlength=size), out=missed[1:])
    np.cumsum(np.bincount(place, weights=mass * ~positive, minlength=size), out=passed[1:])
    beyond = max(1.0, float(values[-1] - values[0]), 1e-6 * float(np.abs(values).max()))
    at = np.empty(size + 1)
    at[0], at[-1] = values[0] - beyond, values[-1] + beyond
    middle = values[:-1] / 2 + values[1:] / 2
    # Between neighbouring floats there is no middle: the lower one itself is still a cut.
    at[1:-1] = np.where((middle >= values[:-1]) & (middle < values[1:]), middle, values[:-1])
    return Cuts(at, 1.0 - missed / missed[-1], passed / passed[-1])


def _weighed(
    scores: np.ndarray, positive: np.ndarray, weight: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores as floats and each row's share of its class, after checking."""
    scores = as_float64(scores, "scores")
    if not isinstance(positive, np.ndarray) or positive.dtype != bool:
        raise InputError("positive must be a boolean array, True on the positive rows")
    check_scores(scores, positive)
    if positive.ndim != 1 or not positive.any() or positive.all():
        raise InputError("a threshold needs rows of both classes")
    return scores, AllPairs(weight).on(positive).row_mass()


def threshold_midpoint(
    scores: np.ndarray, positive: np.ndarray, weight: np.ndarray | None = None
) -> float:
    """Return halfway between the lowest positive and the highest negative score.

    [SAUC, eq. (4)]: (min f(x+) + max f(x-)) / 2. This suits separable data. On other data two rows
    decide, so a single outlier can move the threshold anywhere.

    Parameters
    ----------
    scores : array (n,)
    positive : bool array (n,)
    weight : array (n,), optional
        Only whether it is zero matters here.

    Raises
    ------
    InputError
        As `all_cuts`.
    """
    scores, mass = _weighed(scores, positive, weight)
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

    Parameters
    ----------
    scores, positive, weight : arrays (n,)
        As in `all_cuts`, which also raises the errors.
    """
    cuts = all_cuts(scores, positive, weight)
    balance = cuts.balance
    after = int(np.searchsorted(balance, 0.0))
    if balance[after] == 0.0:
        return float(cuts.at[after])
    share = -balance[after - 1] / (balance[after] - balance[after - 1])
    return float((1 - share) * cuts.at[after - 1] + share * cuts.at[after])


def threshold_youden(
    scores: np.ndarray, positive: np.ndarray, weight: np.ndarray | None = None
) -> float:
    """Return where sensitivity + specificity is largest (Youden's index).

    Parameters
    ----------
    scores, positive, weight : arrays (n,)
        As in `all_cuts`, which also raises the errors.
    """
    cuts = all_cuts(scores, positive, weight)
    return cuts.best(cuts.sensitivity + cuts.specificity)


def threshold_accuracy(
    scores: np.ndarray, positive: np.ndarray, weight: np.ndarray | None = None
) -> float:
    """Return the threshold at which most rows are on their own side.

    With a rare class this may put all rows on one side.

    Parameters
    ----------
    scores, positive, weight : arrays (n,)
        As in `all_cuts`, which also raises the errors.
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

    Parameters
    ----------
    scores, positive, weight : arrays (n,)
        As `all_cuts`.
    sensitivity : float
        In (0, 1].

    Raises
    ------
    InputError
        As `all_cuts`, or for a sensitivity outside its range.
    """
    check_number("sensitivity", sensitivity, 0, 1, closed="high")
    cuts = all_cuts(scores, positive, weight)
    return float(cuts.at[np.flatnonzero(cuts.sensitivity >= sensitivity - SLACK)[-1]])


def threshold_for_specificity(
    scores: np.ndarray,
    positive: np.ndarray,
    weight: np.ndarray | None = None,
    *,
    specificity: float,
) -> float:
    """Return the lowest cut that still calls this share of the negative rows negative.

    [ScalingUp, Section 2.2]. Of all cuts with the wanted specificity it has the best sensitivity.

    Parameters
    ----------
    scores, positive, weight : arrays (n,)
        As `all_cuts`.
    specificity : float
        In (0, 1].

    Raises
    ------
    InputError
        As `all_cuts`, or for a specificity outside its range.
    """
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
    """Return the rule of that name; a function (scores, positive, weight) -> float is one itself.

    Raises
    ------
    InputError
        If there is no rule of that name.
    """
    if callable(rule):
        return cast(Rule, rule)
    if not isinstance(rule, str) or rule not in RULES:
        raise InputError(
            f"threshold must be one of {', '.join(RULES)}, or a function of scores, positive "
            f"and weight, not {rule!r}"
        )
    return RULES[rule]
