"""The claims of "Structure-embedded AUC-SVM" [SAUC].

Importing this module enters all of them:

    sauc_structure        Prop. 1 and (15)-(17): the covariance of differences and its inverse
    sauc_dual             (3), (18)-(20): the dual and the score in kernel form
    sauc_interpretation   Prop. 2, (22)-(25): bounds and their reading
    sauc_scores           (1), (4), Table 3: the AUC, thresholds, averages
    sauc_pairs            Table 2: how many nearest pairs
    sauc_toy              Fig. 3: the toy experiment
"""

from __future__ import annotations

from . import (
    sauc_dual,
    sauc_interpretation,
    sauc_pairs,
    sauc_scores,
    sauc_structure,
    sauc_toy,
)

MODULES = (
    sauc_structure,
    sauc_dual,
    sauc_interpretation,
    sauc_scores,
    sauc_pairs,
    sauc_toy,
)
