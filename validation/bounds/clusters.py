"""The instance on which [ScalingUp, Theorem 4] as printed is false, in closed form.

n rows, half of each class. A mixed cluster holds a share q of them, half of each class; the others
lie in m pure clusters of equal size, half of these positive. With eta that of the cluster,

    K = (1 - eta) [same cluster] + eta [same row],     K_ii = 1,

is positive definite. One landmark is drawn uniformly; it lies in the mixed cluster with
probability q, and then f~_B can tell no pure cluster from another, while f^ separates them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from ...exact.errors import InputError
from ..extremes import highest, lowest
from .printed import Theorem4


@dataclass(frozen=True)
class ClusterInstance:
    """The instance and what follows from it. By symmetry f^ has two values:

        P on positive rows of pure clusters, Q on positive rows of the mixed one,

    and -P, -Q on the negative rows, so that, with kappa = eta + (1 - eta) (1 - q) n / m,

        F = (1-q)^2 [1-2P]_+ + q^2 [1-2Q]_+ + 2q(1-q) [1-P-Q]_+
            + lam n/2 ((1-q) P^2 / kappa + q Q^2 / eta_mixed).
    """

    n: float
    m: int
    q: float
    eta_mixed: float
    eta_pure: float
    lam: float

    def __post_init__(self) -> None:
        if self.scores[0] + self.scores[1] > 1 or self.scores[1] > 0.5:
            raise InputError(f"lam = {self.lam:g} is too small for the closed form: raise lam")

    @property
    def kappa(self) -> float:
        """The large eigenvalue of K on a pure cluster."""
        return self.eta_pure + (1 - self.eta_pure) * (1 - self.q) * self.n / self.m

    @property
    def scores(self) -> tuple[float, float]:
        """P and Q. While P + Q < 1 they separate; P stays at 1/2 where its hinge has a kink."""
        curvature = self.lam * (1 - self.q) * self.n / self.kappa
        P = 2 * (1 - self.q) / curvature
        if P > 0.5:  # the pure pairs are beyond the margin: only the mixed ones still pull
            P = highest(0.5, 2 * self.q * (1 - self.q) / curvature)
        return P, 2 * self.eta_mixed / (self.lam * self.n)

    @property
    def loss(self) -> float:
        """U(f^)."""
        (P, Q), q = self.scores, self.q
        pure = (1 - q) ** 2 * highest(0.0, 1 - 2 * P)
        return pure + q**2 * (1 - 2 * Q) + 2 * q * (1 - q) * (1 - P - Q)

    @property
    def norm2(self) -> float:
        """|f^|^2."""
        P, Q = self.scores
        return self.n * ((1 - self.q) * P**2 / self.kappa + self.q * Q**2 / self.eta_mixed)

    @property
    def smallest_eigenvalue(self) -> float:
        """That of K."""
        return lowest(self.eta_mixed, self.eta_pure)

    @property
    def landmark_eigenvalue(self) -> float:
        """The nonzero eigenvalue of K~, the landmark in the mixed cluster."""
        return (1 - self.eta_mixed) ** 2 * (self.q * self.n - 1) + 1

    @property
    def kernel_error(self) -> float:
        """The spectral norm of K - K~, the landmark in the mixed cluster."""
        mixed = self.eta_mixed * (1 - self.eta_mixed) * (self.q * self.n - 1) + self.eta_mixed
        return highest(self.kappa, mixed)

    def left_side(self, B: float, missed: float = 1e-6) -> tuple[float, float]:
        """Return a lower bound of |U(f^) - U_B(f~_B)|, and the probability that it does not hold.

        The landmark lies in the mixed cluster, so that f~_B = b v with v the column of K and b
        one number. g = mean over the drawn pairs of v_i - v_j is the mean of B draws in [-1, 1]
        with |E g| <= 2 eta_mixed / n. The loss at b is 1 - g b or more, hence |b| <= |g| / lam and

            1 >= U_B(f~_B) >= 1 - g^2 / lam.

        Hoeffding: |g - E g| <= sqrt(2 log(2 / missed) / B) but with probability `missed`.
        """
        g = 2 * self.eta_mixed / self.n + np.sqrt(2 * np.log(2 / missed) / B)
        return float(1 - g**2 / self.lam - self.loss), missed

    def theorem4(self, B: float, N_max: float, norms: tuple[float, ...] = ()) -> Theorem4:
        """Return the right side of Theorem 4, the landmark in the mixed cluster.

        `norms` are C, C_B and C~_B; 1/lam each by default, which is always valid.
        """
        sizes = (self.kernel_error, self.smallest_eigenvalue, self.landmark_eigenvalue)
        return Theorem4(self.n, B, self.lam, N_max, *sizes, *(norms or (1 / self.lam,) * 3))

    def dense(self) -> tuple[np.ndarray, np.ndarray, int]:
        """Return K (n, n), the mask of the positive rows, and a row of the mixed cluster."""
        n, size = int(self.n), (1 - self.q) * self.n / self.m
        mixed = round(self.q * n)
        if self.m % 2 or mixed % 2 or size != int(size) or mixed != self.q * n:
            raise InputError("m and q n must be even, and (1 - q) n / m a whole number")
        cluster = np.concatenate([np.zeros(mixed, int), 1 + np.arange(n - mixed) // int(size)])
        eta = np.where(cluster == 0, self.eta_mixed, self.eta_pure)
        K = (1 - eta) * (cluster[:, None] == cluster[None, :]) + np.diag(eta)
        positive = np.where(cluster == 0, np.arange(n) % 2 == 0, cluster % 2 == 1)
        return K, positive, 0


def most_often(n: float, B: float, level: float = 0.1) -> tuple[float, float]:
    """Return a t and a bound of P(N_max > t), from the binomial tail of one row.

    Balanced classes: each row is in each drawn pair with probability 2/n, and a union bound over
    the n rows is nearly exact. The tail is exact up to n = 1e12, where the floats of a quantile
    end; beyond it is Chernoff's, P(X >= a) <= exp(a - mean) (mean / a)^a for a > mean.
    """
    if n <= 1e12:
        t = float(stats.binom.isf(level / n, B, 2 / n))
        return t, float(n * stats.binom.sf(t, B, 2 / n))
    mean = 2 * B / n
    a = np.arange(int(mean) + 2, int(10 * mean) + 200, dtype=float)
    tails = n * np.exp(a - mean - a * np.log(a / mean))
    at = int(np.argmax(tails <= level))
    return float(a[at]) - 1, float(tails[at])
