"""The claims of "Scaling Up ROC-Optimizing Support Vector Machines" [ScalingUp].

Importing this module enters all of them:

    scaling_up_convergence  the approximations converge to the exact answer
    scaling_up_exact        duality, certificates, Prop. 3, "infeasible beyond 10,000"
    scaling_up_incomplete   incomplete U-statistics: mean, variance, rates
    scaling_up_nystrom      the proof of Theorem 4: Hoeffding, eqs. (18) to (21), on the draws of
                            scaling_up_drawn
    scaling_up_population   the population AUC of Tables 1 and 2
    scaling_up_prime        Theorem 4' and Theorem 4 beside the true errors
    scaling_up_proof        the proof of Theorem 4: eq. (17), its first term
    scaling_up_theorem4     Theorem 4 itself, with scaling_up_bound and scaling_up_clusters
"""

from __future__ import annotations

from . import (
    scaling_up_convergence,
    scaling_up_exact,
    scaling_up_incomplete,
    scaling_up_nystrom,
    scaling_up_population,
    scaling_up_prime,
    scaling_up_proof,
    scaling_up_theorem4,
)

MODULES = (
    scaling_up_convergence,
    scaling_up_exact,
    scaling_up_incomplete,
    scaling_up_nystrom,
    scaling_up_population,
    scaling_up_prime,
    scaling_up_proof,
    scaling_up_theorem4,
)
