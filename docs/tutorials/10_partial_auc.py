r"""
10. Partial AUC
===============

A screening test that calls back one healthy person in two is useless, however good its ROC curve
is on the right. Partial AUC counts only the left part, up to a false positive rate. This tutorial
minimises a convex surrogate of it with a proof, and shows where that surrogate says nothing.
"""

import warnings
from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import roc_auc_score, roc_curve

from aucert.exact import solve

# %%
# A few negatives that look positive
# ----------------------------------
# Feature 0 separates well, but in it one negative in twenty imitates the positives. Feature 1
# exposes these, and misleads about all other negatives.

rng = np.random.default_rng(0)
y = (rng.random(3000) < 0.3).astype(int)
imitates = (y == 0) & (rng.random(3000) < 0.05)
X = rng.normal(size=(3000, 2)) + np.where(y[:, None] == 1, [4.0, 2.0], [0.0, 4.0])
X[imitates] += [4.0, -4.0]
train, test = slice(0, 1500), slice(1500, 3000)

# %%
# Only the worst negatives count
# ------------------------------
# With :math:`k` for the false positive rate times :math:`n_-`, the surrogate is the mean loss over
# the pairs of a positive with one of the :math:`k` *highest* negatives. Which these are depends on
# the scores, and for a loss that never grows with the margin the choice is a maximum:
#
# .. math:: U(s) = \max_{0 \le q \le 1,\; \sum_j q_j \le k} \frac1{n_+ k} \sum_{ij} q_j \,
#           \ell(s_i - s_j)
#
# A maximum of convex functions is convex, so there is one optimum and a bound for it:
#
# .. literalinclude:: /../exact/problem/tail.py
#    :language: python
#    :pyobject: tail_risk

lam, fpr = 1e-2, 0.05
whole = solve(X[train], y[train], lam)
part = solve(X[train], y[train], lam, fpr_max=fpr)
print(fill(part.certificate.statement, 88))
assert part.certificate.relative_gap < 1e-6

# %%
# By hand, pair by pair, the objective is the same number. The last negative may count in part:

scores = X[train] @ part.w
positives, negatives = scores[y[train] == 1], np.sort(scores[y[train] == 0])[::-1]
k = fpr * negatives.size
q = np.clip(k - np.arange(negatives.size), 0, 1)
hinges = np.maximum(0, 1 - (positives[:, None] - negatives))
by_hand = hinges.mean(axis=0) @ q / k + lam / 2 * part.w @ part.w
print(f"{by_hand:.9f} by hand, {part.certificate.primal:.9f} by sorting")
assert np.isclose(by_hand, part.certificate.primal, rtol=1e-10)

# %%
# What changes
# ------------

figure, axes = plt.subplots(figsize=(5.6, 4.2), layout="constrained")
found = {}
for name, solution in (("all of the curve", whole), (f"up to {fpr:g}", part)):
    scores = X[test] @ solution.w
    found[name] = roc_auc_score(y[test], scores), roc_auc_score(y[test], scores, max_fpr=fpr)
    print(f"{name:18} AUC {found[name][0]:.3f}, partial AUC (McClish's scale) {found[name][1]:.3f}")
    axes.plot(*roc_curve(y[test], scores)[:2], label=name)
axes.axvspan(0, fpr, color="0.9")
axes.set(xlabel="false positive rate", ylabel="true positive rate", xlim=(0, 0.3))
axes.legend(title="minimised over")
plt.show()
print(f"weights {np.round(whole.w, 2)} and {np.round(part.w, 2)}")
assert found[f"up to {fpr:g}"][1] > found["all of the curve"][1] + 0.03

# %%
# The second model gives feature 1 more weight: it loses a little of the whole area, and gains in
# the grey part.
#
# Where the surrogate says nothing
# --------------------------------
# No direction separates the positives from the :math:`k` highest negatives if the mean of the
# positives is also a weighted mean of negatives, with no weight above :math:`1/k`. Then the hinge
# has its optimum at :math:`w = 0` for every :math:`\lambda`. A warning says so:

noisy = 0.3 * X[train] + rng.normal(size=(1500, 2))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    trivial = solve(noisy, y[train], lam, fpr_max=0.02)
print(trivial.w, fill(str(caught[0].message), 80))
assert np.abs(trivial.w).max() < 1e-6

# %%
# Exercises
# ---------
# 1. What does the surrogate become at :math:`k = 1`? (Every positive is compared with the highest
#    negative: TopPush.)
# 2. Some weights :math:`0 \le q_j \le 1/k` of sum 1 have :math:`\sum_j q_j x_j = \bar x_+`. Show
#    that :math:`w = 0` is optimal. (A hinge is at least :math:`1 - t`, so :math:`F(w) \ge 1 =
#    F(0)`.)
