"""The right side of [ScalingUp, Theorem 4], term by term."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..extremes import max

DELTA = 0.05
# The exponent of n in the last term: in print, and as (21) put into (18) gives it.
PRINTED, REPAIRED = 1.5, 2.5


@dataclass(frozen=True)
class Theorem4:
    """The quantities in the right side of [ScalingUp, Theorem 4].

    C, C_B, C_tilde bound |f^|^2, |f^_B|^2 and |f~_B|^2; N_max is the largest number of times that
    one row is drawn; E2 the spectral norm of K - K~; lam_min and lam_plus the smallest and the
    smallest nonzero eigenvalue of K and K~; K_max the largest root of K_ii.
    """

    n: float
    B: float
    lam: float
    N_max: float
    E2: float
    lam_min: float
    lam_plus: float
    C: float
    C_B: float
    C_tilde: float
    K_max: float = 1.0
    delta: float = DELTA

    def terms(self, exponent: float = PRINTED, root: float = 0.5) -> tuple[float, float, float]:
        """Return the term of sampling and the two of Nystrom."""
        A1 = (1 + 2 * self.K_max * np.sqrt(max(self.C, self.C_B))) / np.sqrt(2)
        A2 = np.sqrt(self.C_tilde / self.lam_plus)
        norms = np.sqrt(self.C / self.lam_min) + A2
        A3 = self.K_max * np.sqrt(2 / self.lam) * norms**root
        last = A3 * np.sqrt(self.N_max * self.E2 * self.n**exponent / self.B)
        return (
            float(A1 * np.sqrt(np.log(4 / self.delta) / self.B)),
            float(self.N_max / self.B * A2 * self.E2 * np.sqrt(self.n)),
            float(self.N_max / self.B * last),
        )

    def bound(self, exponent: float = PRINTED, root: float = 0.5) -> float:
        """Return the right side."""
        return sum(self.terms(exponent, root))
