"""The claims of "Scalable Nonlinear AUC Maximization Methods" [Nonlinear].

Importing this package enters all of them:

    batch            Algorithms 1 and 2: the gradient, the steps, the optimum they reach
    approximations   the feature maps: k-means, uniform, random Fourier; the printed map
    stochastic       Algorithm 3: convergence, the average, the printed step
    tables           cost, Tables 2 and 3, "protein is linearly separable"
    costs            operations of a product with H and of a random step, counted
"""

from __future__ import annotations

from . import approximations, batch, costs, stochastic, tables

MODULES = (batch, approximations, stochastic, tables, costs)
