"""The empirical AUC, ties counted one half."""

from __future__ import annotations

import numpy as np

from ..tools.checks import check_scores
from ..tools.lossless import as_float64


def auc(scores: np.ndarray, positive: np.ndarray, weight: np.ndarray | None = None) -> float:
    """Return the share of positive-negative pairs in the right order, a tie counting one half.

    [ScalingUp, eq. (1), eq. (2); SAUC, eq. (1); SHT, eq. (2); Nonlinear, eq. (1)]

    Differs from the papers: 1. ties. (2) of ScalingUp counts them as errors, (1) of SAUC as zero,
    so a constant score would have an AUC of 0 there; here it has 1/2.
    """
    scores = as_float64(scores, "scores")
    check_scores(scores, positive)
    if weight is None:
        return _counted(np.sort(scores[positive]), np.sort(scores[~positive]))
    weight = as_float64(weight, "weight")
    plus, minus = weight[positive], weight[~positive]
    order = np.argsort(scores[~positive], kind="stable")
    ranked = scores[~positive][order]
    mass = np.concatenate([[0.0], np.cumsum(minus[order])])
    below = mass[np.searchsorted(ranked, scores[positive], side="left")]
    upto = mass[np.searchsorted(ranked, scores[positive], side="right")]
    return float(plus @ (below + upto)) / (2 * float(plus.sum()) * float(minus.sum()))


def _counted(plus: np.ndarray, minus: np.ndarray) -> float:
    """Return the AUC of ascending scores of the two classes, from whole numbers."""
    below = np.searchsorted(minus, plus, side="left").sum(dtype=np.int64)
    upto = np.searchsorted(minus, plus, side="right").sum(dtype=np.int64)
    return float(int(below) + int(upto)) / (2 * float(plus.size) * float(minus.size))
