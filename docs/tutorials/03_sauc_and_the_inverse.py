r"""
3. SAUC-SVM, and the inverse that does not exist
================================================

SAUC-SVM [SAUC, eq. (8)] also wants the scores of each class to lie close together. It penalises

.. math:: \frac{\lambda}{2} \left( |w|^2 + \mu\, w'\Sigma w \right), \qquad
          \Sigma = \Sigma_+ + \Sigma_-,

where :math:`\Sigma_\pm` are the covariances of the two classes (divided by the class size) and
:math:`\mu \ge 0` is called ``structure`` here. This tutorial derives the kernel form, shows that
the matrix which the paper inverts is never invertible, and computes the right thing.
"""

import matplotlib.pyplot as plt
import numpy as np

from aucert.exact import solve
from aucert.exact.spaces.kernels import Gaussian
from aucert.exact.structured import class_scatter, deformed_gram, direct_gram
from aucert.validation.data.datasets import load

data = load("xor:120", seed=1)
X, positive = data.X, data.is_positive

# %%
# From features to rows
# ---------------------
# On the rows, :math:`w'\Sigma w` is a quadratic form of the scores :math:`s = Xw`: the variance of
# the positive scores plus that of the negative ones,
#
# .. math:: w'\Sigma w = s'R s, \qquad
#           R = \mathrm{blkdiag}\left( \tfrac{1}{n_+}(I - \tfrac{1}{n_+} 11'),\;
#                                      \tfrac{1}{n_-}(I - \tfrac{1}{n_-} 11') \right)

scatter = class_scatter(positive)
R = scatter.times(np.eye(positive.size))
s = X @ np.array([1.0, 2.0])
assert np.isclose(s @ R @ s, s[positive].var() + s[~positive].var())

# %%
# The structured machine is a plain one with another kernel. Let :math:`\Sigma = X'RX` and
# :math:`M = I + \mu\Sigma`. Minimising :math:`\frac\lambda2 w'Mw + ...` is an ordinary machine in
# :math:`M^{1/2} w`, on rows :math:`M^{-1/2} x`, whose kernel is :math:`G = X M^{-1} X'`. To write
# it with :math:`K = XX'` alone, take a root :math:`R = QQ'`. By the Woodbury identity,
#
# .. math:: (I + \mu X'QQ'X)^{-1} = I - \mu X'Q\,(I + \mu Q'KQ)^{-1} Q'X,
#
# .. math:: G = K - \mu K Q\,(I + \mu Q'KQ)^{-1} Q' K .
#
# Every eigenvalue of the matrix that is inverted is at least 1, for any kernel.

structure = 50.0
G = direct_gram(X, scatter, structure)
assert np.allclose(deformed_gram(X @ X.T, scatter, structure), G)

# %%
# What is printed
# ---------------
# [SAUC, eq. (17)] has, in the place of :math:`Q(I + \mu Q'KQ)^{-1}Q'`,
#
# .. math:: R\,(R + \mu R K R)^{-1} R .
#
# But :math:`R` centres each class. A vector that is constant on the positive rows and zero on the
# others has no spread: :math:`R 1_+ = 0`, hence :math:`(R + \mu RKR) 1_+ = 0` **for every kernel,
# every data set and every** :math:`\mu`. The inverse does not exist. Read as a pseudo-inverse the
# formula is right; read as an inverse it divides by rounding errors. The library has every
# reading, the printed one only on request:
#
# .. literalinclude:: /../exact/structured.py
#    :language: python
#    :pyobject: middle
#
# .. literalinclude:: /../exact/structured.py
#    :language: python
#    :pyobject: _half

K = Gaussian(1.0)(X, X)
inside = R + structure * R @ K @ R
for side in (positive, ~positive):
    assert np.abs(inside @ side.astype(float)).max() < 1e-13
print("smallest singular values:", np.linalg.svd(inside)[1][-3:])

# %%
# How wrong is it, then? These are the differences from the root form:


def error(mu, how, **asked):
    """The largest difference; NaN where NumPy refuses to invert the matrix."""
    try:
        found = deformed_gram(K, scatter, mu, how, **asked)
    except np.linalg.LinAlgError:
        return np.nan
    return np.abs(found - deformed_gram(K, scatter, mu)).max()


strengths = np.geomspace(1e-2, 1e4, 19)
wrong = [error(mu, "inv", paper_literal=True) for mu in strengths]
right = [error(mu, "pinv") for mu in strengths]
figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
axes.loglog(strengths, wrong, "s--", label="inverse, as printed")
axes.loglog(strengths, right, "o-", label="pseudo-inverse")
axes.axhline(1.0, color="black", lw=0.8, ls=":")
axes.set(xlabel="structure", ylabel="largest error in G", title="Entries of the kernel are 0 to 1")
axes.legend()
plt.show()
print(f"printed: errors up to {np.nanmax(wrong):.2g}; pseudo-inverse: up to {max(right):.2g}")

# %%
# What the structure does
# -----------------------
# The library does not form :math:`G` to solve: it whitens features once and runs the ordinary
# solver (``exact/structured.py``). The certificate is made in the original kernel.

figure, panels = plt.subplots(1, 2, figsize=(8.4, 3.4), layout="constrained")
for axes, mu in zip(panels, (0.0, 1000.0), strict=True):
    found = solve(X, positive, lam=1e-2, kernel="rbf", gamma=1.0, structure=mu)
    assert found.certificate.reaches(1e-9)
    scores = K @ found.w
    apart = scores[positive].mean() - scores[~positive].mean()
    spread = np.sqrt(scores @ R @ scores)
    axes.hist([scores[positive], scores[~positive]], bins=20, label=["positive", "negative"])
    axes.set(title=f"structure {mu:g}: spread / distance {spread / apart:.2f}", xlabel="score")
    axes.legend()
plt.show()

# %%
# Exercises
# ---------
# 1. Which scores have :math:`s'Rs = 0`? (Those that are constant on each class; the rank of
#    :math:`R` is :math:`n - 2`.)
# 2. What does :math:`f` tend to, up to its length, as the structure grows? (All hinges become
#    active, and the best direction is :math:`\Sigma^{-1} \delta`: Fisher's discriminant.)
