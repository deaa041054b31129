"""What a finite test set leaves open: standard errors of the AUC and of the mean pairwise loss.

Both are means over pairs of a row of each class, h(s_i, s_j). Their variance is that of their
projection: with the means over partners h_i and h_j,

    se^2 = var over positives of h_i / n_pos + var over negatives of h_j / n_neg.

Of two functions on the same rows the difference has its own, smaller error: put the difference of
the two h in the formula.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...exact.losses.loss import Loss
from ...exact.tools.checks import check_scores

BLOCK_PAIRS = 4_000_000  # Pairs held at a time.


@dataclass(frozen=True, eq=False)
class PairMean:
    """A mean over all pairs of a test set, and the means over each row's partners."""

    plus: np.ndarray
    minus: np.ndarray

    @property
    def value(self) -> float:
        """The mean over all pairs."""
        return float(self.plus.mean())

    @property
    def error(self) -> float:
        """One standard error; NaN for a class of one row."""
        parts = [side.var(ddof=1) / side.size for side in (self.plus, self.minus) if side.size > 1]
        return float(np.sqrt(sum(parts))) if len(parts) == 2 else float("nan")

    def __sub__(self, other: PairMean) -> PairMean:
        return PairMean(self.plus - other.plus, self.minus - other.minus)


def order_mean(scores: np.ndarray, positive: np.ndarray) -> PairMean:
    """Return the AUC, a tie counting one half."""
    return _means(scores, positive, lambda t: (t > 0) + 0.5 * (t == 0))


def loss_mean(scores: np.ndarray, positive: np.ndarray, loss: Loss) -> PairMean:
    """Return the mean loss over the pairs; arguments as in `order_mean`."""
    return _means(scores, positive, loss.value)


def _means(
    scores: np.ndarray, positive: np.ndarray, h: Callable[[np.ndarray], np.ndarray]
) -> PairMean:
    check_scores(scores, positive)
    s, r = scores[positive], scores[~positive]
    plus, minus = np.empty(s.size), np.zeros(r.size)
    step = max(1, BLOCK_PAIRS // max(r.size, 1))
    for start in range(0, s.size, step):
        values = h(s[start : start + step, None] - r)
        plus[start : start + step] = values.mean(axis=1)
        minus += values.sum(axis=0)
    return PairMean(plus, minus / s.size)
