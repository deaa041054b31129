"""Theorem 4 under other readings of its constants [ScalingUp, Theorem 4]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....bounds.clusters import ClusterInstance, most_often
from ....bounds.right_side import DELTA
from ...claim import Context, Outcome, Verdict

MISSED = 1e-6  # Probability with which Hoeffding's inequality for the drawn scores may not hold.


@dataclass(frozen=True)
class Reading:
    """An instance, B, and what the three constants mean."""

    name: str
    instance: ClusterInstance
    B: float
    constants: str

    @property
    def norms(self) -> tuple[float, float, float]:
        """C, C_B and C~_B; the realised ones as upper bounds, which make the right side larger."""
        lam = self.instance.lam
        if self.constants != "realised":
            factor = 2.0 if self.constants == "2/lam" else 1.0
            return factor / lam, factor / lam, factor / lam
        # |f~_B| = |b| <= |g| / lam, g as in `ClusterInstance.left_side`.
        drift = 2 * self.instance.eta_mixed / self.instance.n
        g = drift + np.sqrt(2 * np.log(2 / MISSED) / self.B)
        return self.instance.norm2, 1 / lam, float(g / lam) ** 2

    def right(self, N_max: float, **form: float) -> float:
        """Return the right side, the landmark in the mixed cluster; `form` as `Theorem4.bound`."""
        return self.instance.theorem4(self.B, N_max, self.norms).bound(**form)

    def judged(self, root: float) -> tuple[float, float, float]:
        """Return left side, right side, and a probability with which left exceeds right."""
        N_max, tail = most_often(self.instance.n, self.B)
        left, missed = self.instance.left_side(self.B, MISSED)
        right = self.right(N_max, root=root)
        return left, right, self.instance.q * (1 - tail - missed) if left > right else 0.0


def _equal(n: float, constants: str) -> Reading:
    """B = n pairs, a tenth of the rows in the mixed cluster, two pure ones."""
    made = ClusterInstance(n=n, m=2, q=0.1, eta_mixed=0.3, eta_pure=0.5, lam=1.0)
    return Reading(f"B = n = {n:g}, {constants}", made, n, constants)


def _many(n: float, B: float, constants: str) -> Reading:
    """Half of the rows in the mixed cluster, forty pure ones."""
    made = ClusterInstance(n=n, m=40, q=0.5, eta_mixed=1 / 40, eta_pure=0.1, lam=0.05)
    return Reading(f"n = {n:g}, B = {B:g}, {constants}", made, B, constants)


def _vast(n: float, m: int, eta: float, lam: float, constants: str) -> Reading:
    """B = n pairs, a fifth of the rows in the mixed cluster, thousands of pure ones."""
    made = ClusterInstance(n=n, m=m, q=0.2, eta_mixed=eta, eta_pure=0.3, lam=lam)
    return Reading(f"B = n = {n:g}, {constants}", made, n, constants)


def theorem_4_under_other_readings(context: Context) -> Outcome:
    cases = (
        (_equal(1e8, "realised"), 0.5),
        (_equal(1e8, "realised"), 1.0),
        (_vast(1e16, 4000, 0.00075, 0.00055, "1/lam"), 0.5),
        (_vast(1e24, 4000, 0.00075, 0.00055, "1/lam"), 1.0),
        (_vast(1e30, 10**5, 1e-5, 2.2e-5, "2/lam"), 0.5),
        (_vast(1e30, 10**5, 1e-5, 2.2e-5, "2/lam"), 1.0),
        (_many(1e9, 1e12, "2/lam"), 0.5),
    )
    details: dict[str, float] = {}
    refuted = []
    for reading, root in cases:
        left, right, chance = reading.judged(root)
        case = f"{reading.name}, power {root:g}"
        details[f"{case}: left side"], details[f"{case}: right side"] = left, right
        details[f"{case}: violated with probability at least"] = chance
        refuted.append(chance > DELTA)
    return Outcome(
        Verdict.FAILS if all(refuted) else Verdict.HOLDS,
        f"{sum(refuted)} of {len(cases)} readings violated more often than delta",
        printed=f"at most {DELTA:g}",
        details=details,
        tolerance="closed form; probabilities of N_max by the binomial tail, of U_B by Hoeffding",
    )
