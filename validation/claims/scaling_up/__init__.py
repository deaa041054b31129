"""The claims of "Scaling Up ROC-Optimizing Support Vector Machines" [ScalingUp].

Importing this package enters all of them:

    convergence  the approximations converge to the exact answer
    exact        duality, certificates, Prop. 3, solvers that agree
    growth       the remarks on Theorem 4: N_max, |E|, orders
    incomplete   incomplete U-statistics: mean, variance, rates
    nystrom      the proof of Theorem 4: Hoeffding, eqs. (18) to (21), on the draws of `drawn`
    population   the population AUC of Tables 1 and 2
    practice     cost, the constant at B = n
    prime        Theorem 4' and Theorem 4 beside the true errors
    proof        the proof of Theorem 4: eq. (17), its first term
    rate         the incomplete statistic uniformly over scores
    readings     Theorem 4 under other readings of its constants, refuted and not
    theorem4     Theorem 4 itself, on `clusters`
    wide         Theorem 4' over a wide grid, the duality gap as a bound
"""

from __future__ import annotations

from . import convergence, exact, incomplete, population, practice, rate
from .theorem_4 import growth, nystrom, prime, proof, readings, theorem4, wide

MODULES = (
    convergence,
    exact,
    growth,
    incomplete,
    nystrom,
    population,
    practice,
    prime,
    proof,
    rate,
    readings,
    theorem4,
    wide,
)
