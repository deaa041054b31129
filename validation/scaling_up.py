"""The claims of "Scaling Up ROC-Optimizing Support Vector Machines" [ScalingUp].

Importing this module enters all of them:

    scaling_up_exact        duality, certificates, Prop. 3, "infeasible beyond 10,000"
    scaling_up_incomplete   incomplete U-statistics: mean, variance, rates
    scaling_up_population   the population AUC of Tables 1 and 2
    scaling_up_proof        the steps of the proof of Theorem 4
    scaling_up_theorem4     Theorem 4 itself, with scaling_up_bound and scaling_up_clusters
"""

from __future__ import annotations

from . import (
    scaling_up_exact,
    scaling_up_incomplete,
    scaling_up_population,
    scaling_up_proof,
    scaling_up_theorem4,
)

MODULES = (
    scaling_up_exact,
    scaling_up_incomplete,
    scaling_up_population,
    scaling_up_proof,
    scaling_up_theorem4,
)
