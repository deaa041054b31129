"""The empirical AUC, ties counted one half."""

from __future__ import annotations

import numpy as np

from ..tools.arrays import as_float64, check_number, check_scores
from .all_pairs import AllPairs


def auc(scores: np.ndarray, positive: np.ndarray, weight: np.ndarray | None = None) -> float:
    """Return the share of positive-negative pairs in the right order, a tie counting one half.

    [ScalingUp, eq. (1), eq. (2); SAUC, eq. (1); SHT, eq. (2); Nonlinear, eq. (1)]

    Differs from the papers: 1. ties. (2) of ScalingUp counts them as errors, (1) of SAUC as zero,
    so a constant score would have an AUC of 0 there; here it has 1/2.
    """
    scores = as_float64(scores, "scores")
    check_scores(scores, positive)
    high, low = scores[positive], scores[~positive]
    if weight is None:  # whole numbers, from sorted scores
        high, low = np.sort(high), np.sort(low)
        sums = [np.searchsorted(low, high, side).sum(dtype=np.int64) for side in ("left", "right")]
        return float(sum(map(int, sums))) / (2 * float(high.size) * float(low.size))
    weight = as_float64(weight, "weight")
    order, plus = np.argsort(low, kind="stable"), weight[positive]
    mass = np.append(0.0, np.cumsum(weight[~positive][order]))
    below, upto = (mass[np.searchsorted(low[order], high, side)] for side in ("left", "right"))
    return float(plus @ (below + upto)) / (2 * float(plus.sum()) * float(mass[-1]))


def partial_auc(
    scores: np.ndarray, positive: np.ndarray, fpr_max: float, corrected: bool = True
) -> float:
    """Return the area under the empirical ROC curve up to a false positive rate.

    [McClish, "Analyzing a portion of the ROC curve", Medical Decision Making 1989]: corrected, it
    is (1 + (area - least) / (most - least)) / 2 with least = fpr_max^2 / 2, the area of chance, and
    most = fpr_max: 1/2 without skill and 1 at best, as scikit-learn's `roc_auc_score(max_fpr=...)`
    and pROC's `partial.auc.correct=TRUE`. The curve is a line where scores tie.

    Parameters
    ----------
    scores : array (n,), finite
    positive : bool array (n,)
    fpr_max : float in (0, 1]
        With 1 it is the AUC.
    corrected : bool
        False for the area itself, at most fpr_max.

    Raises
    ------
    InputError
        If a score is not finite, fpr_max is out of range, or a class has no row.
    """
    scores = as_float64(scores, "scores")
    positive = AllPairs().on(positive).positive
    check_scores(scores, positive)
    most = check_number("fpr_max", fpr_max, 0.0, 1.0, closed="high")
    if most == 1:
        return auc(scores, positive)
    place = np.unique(-scores, return_inverse=True)[1]
    fpr, tpr = (
        np.append(0.0, np.cumsum(np.bincount(place[side], minlength=place.max() + 1)) / side.sum())
        for side in (~positive, positive)
    )
    inside = fpr <= most
    x, y = np.append(fpr[inside], most), np.append(tpr[inside], np.interp(most, fpr, tpr))
    area = float(np.trapezoid(y, x))
    return 0.5 * (1 + (area - most**2 / 2) / (most - most**2 / 2)) if corrected else area
