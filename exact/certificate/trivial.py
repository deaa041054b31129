"""Whether a problem is trivial: f = 0 is optimal whatever the rows are."""

from __future__ import annotations

import numpy as np

from ..losses.loss import Loss
from ..tools.warned import warn_the_user
from .certificate import Certificate

TRIVIAL = (
    "The weights zero are optimal here: the worst positive and the worst negative rows overlap so "
    "much that this surrogate tells nothing of the partial AUC. Raise fpr_max, lower tpr_min, or "
    "give other features."
)


def zero_is_optimal(loss: Loss, certificate: Certificate, tol: float) -> bool:
    """Return whether any certificate of the problem proves f = 0 optimal to `tol`.

    At f = 0 every margin is 0, so that F(0) = loss(0) for every mean over pairs and every tail. For
    partial AUC with a loss that falls at 0 zero is optimal, whatever lam is, exactly if the reduced
    convex hulls of the classes meet: the means of the positives with weights at most 1 / kp, and of
    the negatives with weights at most 1 / kq.
    """
    at_zero = float(np.asarray(loss.value(np.zeros(1)))[0])
    return at_zero - certificate.dual <= tol * at_zero


def warn_if_trivial(loss: Loss, certificate: Certificate, tol: float) -> None:
    """Warn, in the line of the user's call, where the surrogate says nothing: zero is optimal."""
    if zero_is_optimal(loss, certificate, tol):
        warn_the_user(TRIVIAL)
