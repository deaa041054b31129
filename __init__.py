"""Certified AUC maximization: pairwise AUC problems solved with a proof of how close the answer is.

The work is in three sub-packages, each usable alone and importing only to its right:
`aucert.validation` -> `aucert.approx` -> `aucert.exact`.

exact       the problem, stated exactly and solved with a certificate
approx      the approximations of the literature and their rivals
validation  published claims, and anybody's solver, checked against the exact answers

This file imports nothing, so that `import aucert` costs nothing.
"""

__version__ = "0.3.0.dev0"
