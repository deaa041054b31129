r"""
6. Sparse AUC and the best subset
=================================

With at most :math:`k` nonzero weights the problem is not convex: which features? [SHT] takes
the square loss,

.. math:: \min_w\; F(w) = \frac{1}{n_+ n_-} \sum_{ij} \left(1 - w'(x_i - x_j)\right)^2
          \quad \text{with at most } k \text{ nonzeros in } w,

and descends with hard thresholding, to local answers. This tutorial derives the loss on given
features, finds the *best* features with a proof, and shows what the local method missed.
"""

import matplotlib.pyplot as plt
import numpy as np

from aucert.approx import SHTAUC, hard_threshold
from aucert.exact import AllPairs, Rows, best_subset
from aucert.exact.square_loss.row_average import moments
from aucert.exact.square_loss.support import SupportLoss

rng = np.random.default_rng(0)
n, d = 240, 16
y = np.arange(n) % 4 == 0
mixing = np.eye(d) + 0.35 * rng.standard_normal((d, d))
X = rng.standard_normal((n, d)) @ mixing + 0.5 * y[:, None] * (rng.random(d) < 0.5)
X = (X - X.mean(axis=0)) / X.std(axis=0)

# %%
# All pairs in two moments
# ------------------------
# Let :math:`\delta` be the difference of the class means and :math:`\Sigma` the sum of the class
# covariances. A pair difference :math:`x_i - x_j` has mean :math:`\delta` and covariance
# :math:`\Sigma` over all pairs, so [SHT, Prop. 1]
#
# .. math:: F(w) = w'(\Sigma + \delta\delta')w - 2 w'\delta + 1 = w'\Sigma w + (1 - w'\delta)^2 .
#
# Here :math:`n^2` is not an obstacle for another reason than in the first tutorial: the pairs enter
# through :math:`d + d^2` numbers.
#
# .. literalinclude:: /../exact/square_loss/support.py
#    :language: python
#    :pyobject: SupportLoss.value

loss = SupportLoss(moments(Rows(X), y, AllPairs()))
w = rng.standard_normal(d)
differences = (X[y][:, None] - X[~y]).reshape(-1, d)
assert np.isclose(loss.value(w), np.mean((1 - differences @ w) ** 2))

# %%
# The minimum on given features
# -----------------------------
# On a support :math:`S`, set the gradient to zero, :math:`\Sigma w = (1 - w'\delta)\,\delta`. So
# :math:`w = t\, \Sigma^{-1}\delta` with :math:`t = 1 - tq`, where
# :math:`q_S = \delta_S' \Sigma_{SS}^{-1} \delta_S`: then :math:`t = 1/(1+q_S)` and
#
# .. math:: F^*(S) = t^2 q_S + (1 - t q_S)^2 = t^2 q_S + t^2 = \frac{1}{1 + q_S}.
#
# **The best subset is the one with the largest** :math:`q_S`, the squared distance of the classes
# as Mahalanobis measured it. A single feature has :math:`q = \delta_i^2/\Sigma_{ii}`; but the best
# pair need not contain the best single one.
#
# .. literalinclude:: /../exact/square_loss/support.py
#    :language: python
#    :pyobject: SupportLoss.optimum
#    :lines: 1,3-10

chosen = [0, 3, 7]
optimum = loss.optimum(chosen)
sigma, delta = loss.sigma[np.ix_(chosen, chosen)], loss.delta[chosen]
assert np.isclose(optimum.value, 1 / (1 + delta @ np.linalg.solve(sigma, delta)))
assert np.isclose(optimum.value, loss.value(optimum.w))

# %%
# Hard thresholding
# -----------------
# SHT-AUC steps along the gradient and keeps the :math:`k` largest weights, [SHT, eq. (1)]. To the
# letter, eq. (6) keeps those *above* the k-th largest, which are k - 1:

print("kept:     ", hard_threshold(np.array([3.0, -2.0, 1.0, 0.5]), 2))
print("as printed", hard_threshold(np.array([3.0, -2.0, 1.0, 0.5]), 2, paper_literal=True))

# %%
# The method stops where a step changes nothing. That says nothing about other supports: it is a
# *local* answer, and no dual problem bounds it. A search does.
#
# The best subset, with proof
# ---------------------------
# Branch and bound splits the supports into those with feature :math:`j` and the others. A part is
# dropped as soon as a lower bound of :math:`F^*` over its supports is above the best value found.
# The simplest bound: more features can only help, so if :math:`T` are the features still allowed in
# a part, :math:`F^*(S) \ge F^*(T)` for all its supports. The library bounds :math:`q_S` from above,
# which is sharper:
#
# .. literalinclude:: /../exact/square_loss/support.py
#    :language: python
#    :pyobject: ceiling

sparsities = range(1, 9)
screening = np.argsort(-(loss.delta**2) / np.diag(loss.sigma))
rows = []
for k in sparsities:
    best = best_subset(X, y, k, method="branch-and-bound")
    assert best.proved
    local = SHTAUC(k=k, random_state=0).fit(X, y)
    screened = loss.optimum(screening[:k]).value
    rows.append((screened, local.objective_, best.upper, best.lower))
    found = ",".join(map(str, best.support))
    print(f"k = {k}: F in [{best.lower:.6f}, {best.upper:.6f}], {best.n_nodes:4d} nodes, {found}")
screened, local, upper, lower = np.array(rows).T
assert (lower <= upper).all() and (local >= lower).all() and (screened >= lower).all()

# %%
# There are 12,870 supports of eight features, and the proof opened a few nodes. (By default up to
# 10,000 supports are simply tried one by one, which is faster.)

figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
axes.plot(sparsities, screened, "^-.", label="k largest mean differences")
axes.plot(sparsities, local, "s--", label="hard thresholding")
axes.plot(sparsities, upper, "o-", label="best subset, proved")
axes.axhline(loss.optimum(range(d)).value, color="grey", lw=0.8)
axes.set(xlabel="features, k", ylabel="F", title="The line: all features")
axes.legend()
plt.show()

# %%
# How far is somebody's sparse model from the best? The result of one search answers for any
# weights with at most :math:`k` nonzeros:

best = best_subset(X, y, 4)
model = SHTAUC(k=4, random_state=0).fit(X, y)
print(f"hard thresholding at k = 4 is at most {best.gap_of(model.coef_[0]):.2e} from the optimum")
print("its features", model.support_, "the best ones", best.support)

# %%
# Exercises
# ---------
# 1. Show that the best single feature has the largest :math:`\delta_i^2 / \Sigma_{ii}`. (On one
#    feature the optimum is :math:`1 / (1 + q)` with that :math:`q`, which no unit changes.)
# 2. Make data whose best two features do not contain the best one. (Two with equal strong noise
#    of opposite signs, and a third with a little noise.)
