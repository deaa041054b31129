"""The claims of "Stochastic Hard Thresholding Algorithms for AUC Maximization" [SHT].

Importing this package enters all of them:

    basics       Prop. 1, the Hessian, (6), what the published configuration comes to
    theory       Theorem 1, its lemmas and its condition
    gaussian     Theorem 2, (12) and (13)
    lemmas       the lemmas behind it, (17), (18) and (21)
    ratio        what is read from it, (14) and (15)
    imbalance    convergence with the step of the theory, the tolerance
    cost         operations of a stochastic gradient, curvature
    sparsity     the Jaccard indices, l1
"""

from __future__ import annotations

from . import basics, cost, gaussian, imbalance, lemmas, ratio, sparsity, theory

MODULES = (basics, theory, gaussian, lemmas, ratio, imbalance, sparsity, cost)
