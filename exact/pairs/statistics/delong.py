"""The AUC with DeLong's variance, from whole-number placements: two sorts."""

from __future__ import annotations

import numpy as np

from ...errors import InputError
from ...tools.checks import check_scores
from ...tools.lossless import as_float64
from .estimate import Estimate


def delong(scores: object, positive: object) -> Estimate:
    """Return the AUC, a tie counting one half, with the variance of DeLong et al.

    [DeLong, DeLong and Clarke-Pearson, Biometrics 1988; Sun and Xu, IEEE SPL 2014]

    With V_i the share of the negatives below positive i and V_j that of the positives above
    negative j, the variance is S+ / n+ + S- / n-, the sample variances of the V over the rows of
    each class.

    Parameters
    ----------
    scores : array (n,)
    positive : bool array (n,)

    Returns
    -------
    Estimate
        Its `influence` is (V - AUC) / sqrt(m (m - 1)) for the rows of a class of m.

    Raises
    ------
    InputError
        If a score is not finite, or a class has fewer than two rows.
    """
    values, mask = as_float64(scores, "scores"), np.asarray(positive)
    if mask.dtype != bool or mask.ndim != 1:
        raise InputError("positive must be a boolean array, True on the positive rows")
    check_scores(values, mask)
    n_pos = int(mask.sum())
    n_neg = mask.size - n_pos
    if min(n_pos, n_neg) < 2:
        raise InputError("DeLong's variance needs at least two rows of each class")
    doubled = np.empty(mask.size, dtype=np.int64)  # twice the partners in the right order
    plus, minus = np.flatnonzero(mask), np.flatnonzero(~mask)
    plus, minus = (rows[np.argsort(values[rows], kind="stable")] for rows in (plus, minus))
    high, low = values[plus], values[minus]
    doubled[plus] = np.searchsorted(low, high, "left") + np.searchsorted(low, high, "right")
    doubled[minus] = 2 * n_pos - np.searchsorted(high, low, "left")
    doubled[minus] -= np.searchsorted(high, low, "right")
    right, pairs = sum_of(doubled[plus]), 2 * n_pos * n_neg
    auc = right / pairs
    influence = np.empty(mask.size)
    for rows, m, partners in ((plus, n_pos, n_neg), (minus, n_neg, n_pos)):
        share = doubled[rows] / (2.0 * partners)
        influence[rows] = (share - auc) / np.sqrt(m * (m - 1.0))
    return Estimate(auc, influence)


def sum_of(counts: np.ndarray) -> int:
    """Return the sum of whole numbers >= 0, which may pass 2^63."""
    return (int((counts >> 32).sum()) << 32) + int((counts & 0xFFFFFFFF).sum())
