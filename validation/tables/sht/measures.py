"""What is measured of weights on the simulated model [SHT, Section IV], where the truth is known.

The score w'x has variance |w|^2 in both classes, and the means differ by 0.3 times the sum of w
over the true features: the AUC of any w on new rows has a closed form.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from ...data.labelled_data import Dataset

SHIFT = 0.3  # Difference of the class means in a true feature.


def true_auc(w: np.ndarray, data: Dataset) -> float:
    """Return the AUC of w on new rows of the model; 1/2 for w = 0."""
    assert data.support is not None
    size = float(np.linalg.norm(w))
    gain = SHIFT * float(w[data.support].sum())
    return float(stats.norm.cdf(gain / (np.sqrt(2) * size))) if size > 0 else 0.5


def f1(w: np.ndarray, data: Dataset) -> float:
    """Return the F1 score of the features of w. [SHT, Section IV]"""
    assert data.support is not None
    found = np.flatnonzero(w)
    return 2 * float(np.isin(found, data.support).sum()) / (found.size + data.support.size)
