"""The claims of "Structure-embedded AUC-SVM" [SAUC].

Importing this package enters all of them:

    structure        Prop. 1 and (15)-(17): the covariance of differences and its inverse
    dual             (3), (18)-(20): the dual and the score in kernel form
    interpretation   Prop. 2, (22)-(25): bounds and their reading
    scores           (1), (4), Table 3: the AUC, thresholds, averages
    pairs            Table 2: how many nearest pairs
    slacks           Section 2.1: misranked pairs, the one-class machine
"""

from __future__ import annotations

from . import dual, interpretation, pairs, practice, scores, slacks, structure

MODULES = (
    structure,
    dual,
    interpretation,
    scores,
    pairs,
    practice,
    slacks,
)
