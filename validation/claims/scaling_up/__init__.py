"""The claims of "Scaling Up ROC-Optimizing Support Vector Machines" [ScalingUp].

Importing this package enters all of them:

    convergence  the approximations converge to the exact answer
    exact        duality, certificates, Prop. 3, "infeasible beyond 10,000"
    incomplete   incomplete U-statistics: mean, variance, rates
    nystrom      the proof of Theorem 4: Hoeffding, eqs. (18) to (21), on the draws of `drawn`
    population   the population AUC of Tables 1 and 2
    prime        Theorem 4' and Theorem 4 beside the true errors
    proof        the proof of Theorem 4: eq. (17), its first term
    theorem4     Theorem 4 itself, with `theorem4_cases` and `clusters`
"""

from __future__ import annotations

from . import convergence, exact, incomplete, nystrom, population, prime, proof, theorem4

MODULES = (
    convergence,
    exact,
    incomplete,
    nystrom,
    population,
    prime,
    proof,
    theorem4,
)
