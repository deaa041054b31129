"""The right side of [ScalingUp, Theorem 4] on the clusters, and how often a row is drawn."""

from __future__ import annotations

from scipy import stats

from ....bounds.right_side import Theorem4
from .clusters import ClusterInstance


def on_clusters(instance: ClusterInstance, B: float, N_max: float) -> Theorem4:
    """Return the right side with C = C_B = C~_B = 1/lam, which are always valid."""
    C = 1 / instance.lam
    return Theorem4(
        instance.n,
        B,
        instance.lam,
        N_max,
        instance.kernel_error,
        instance.smallest_eigenvalue,
        instance.landmark_eigenvalue,
        C,
        C,
        C,
    )


def most_often(n: float, B: float, level: float = 0.1) -> tuple[float, float]:
    """Return a t and a bound of P(N_max > t), from the exact binomial tail of one row.

    Balanced classes: each row is in each drawn pair with probability 2/n, and a union bound over
    the n rows is nearly exact.
    """
    t = float(stats.binom.isf(level / n, B, 2 / n))
    return t, float(n * stats.binom.sf(t, B, 2 / n))
