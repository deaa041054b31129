r"""
5. What B = n costs: incomplete U-statistics
============================================

A mean over all pairs is a **U-statistic** of order two. Its *incomplete* form is the mean over
:math:`B` pairs drawn at random [ScalingUp, eq. (6)],

.. math:: U_B(f) = \frac1B \sum_{(i,j) \in D_B} \max(0, 1 - (f(x_i) - f(x_j))).

The paper takes :math:`B = n`, as many pairs as rows, so that a step costs :math:`O(n)`. This
tutorial measures what that does to the answer. Since the exact answer is known with a proof, the
cost is a number, not an opinion.
"""

import matplotlib.pyplot as plt
import numpy as np

from aucert.approx import draw_pairs
from aucert.exact import linear_problem, solve
from aucert.exact.pairs.auc import auc
from aucert.validation.data.datasets import load

data = load("linear:600", seed=0)
X, y, positive, lam = data.X, data.y, data.is_positive, 1e-3
problem = linear_problem(X, y, lam)
exact = solve(X, y, lam)
optimum = exact.certificate.primal
print(f"{problem.n} rows, {problem.n_pairs} pairs, optimum {optimum:.9f}")

# %%
# For a fixed function: unbiased, variance :math:`\sigma^2 / B`
# -------------------------------------------------------------
# The draws are independent given the data, so for any :math:`f` that was fixed before,
# :math:`\mathbb E\, U_B(f) = U(f)` and :math:`\mathrm{Var}\, U_B(f) = \sigma^2 / B`, with
# :math:`\sigma^2` the variance of the loss over all pairs. The pairs need not be in memory: a pair
# is a whole number below :math:`n_+ n_-`.
#
# .. literalinclude:: /../approx/drawn_pairs.py
#    :language: python
#    :pyobject: draw_codes

scores = X @ exact.w
losses = np.maximum(0, 1 - (scores[positive][:, None] - scores[~positive]))
B, seeds = problem.n, range(400)
values = [np.maximum(0, 1 - draw_pairs(positive, B, s).margins(scores)).mean() for s in seeds]
print(f"mean of U_B {np.mean(values):.4f}, U {losses.mean():.4f}")
print(f"spread of U_B {np.std(values):.4f}, sigma / sqrt(B) {losses.std() / np.sqrt(B):.4f}")
assert abs(np.mean(values) - losses.mean()) < 4 * losses.std() / np.sqrt(B * len(values))
assert abs(np.std(values) * np.sqrt(B) / losses.std() - 1) < 4 / np.sqrt(2 * len(values))

# %%
# For the function that was fitted to the draw: worse
# ---------------------------------------------------
# The minimiser :math:`f_B` of the drawn problem is chosen by looking at the draw: its own
# :math:`F_B` is too small, and its true objective :math:`F` is too large. Write :math:`\xi` for the
# difference of the two gradients at the optimum, of squared length about :math:`\sigma_g^2 / B`.
# Then, while :math:`F` is about quadratic with Hessian :math:`H`,
#
# .. math:: f_B - \hat f \approx -H^{-1} \xi, \qquad
#    F(f_B) - F(\hat f) \approx \tfrac12\, \xi' H^{-1} \xi = O(1/B),
#
# while the *value* :math:`F_B(f_B)` is off by the :math:`O(1/\sqrt B)` above. So twice as many
# pairs only halve what the model loses.

sizes = [problem.n * factor for factor in (1, 2, 5, 10, 20, 50)]
excess, own, lost_auc = (np.empty((len(sizes), 12)) for _ in range(3))
for row, B in enumerate(sizes):
    for k in range(12):
        pairs = draw_pairs(positive, B, seed=1000 * row + k, merge=True)
        drawn = solve(X, y, lam, pairs=pairs, tol=1e-6)
        excess[row, k] = problem.objective(drawn.w) - optimum
        own[row, k] = drawn.certificate.primal - optimum
        lost_auc[row, k] = auc(scores, positive) - auc(X @ drawn.w, positive)
assert (excess > -1e-9).all()

figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
axes.loglog(sizes, np.abs(own).mean(axis=1), "s--", label=r"$|F_B(f_B) - F(\hat f)|$")
axes.loglog(sizes, excess.mean(axis=1), "o-", label=r"$F(f_B) - F(\hat f)$")
axes.loglog(sizes, excess[0].mean() * sizes[0] / np.array(sizes), "k:", label="slope -1")
half = np.abs(own[0]).mean() * np.sqrt(sizes[0] / np.array(sizes))
axes.loglog(sizes, half, "k-.", lw=0.8, label="slope -1/2")
axes.axvline(problem.n_pairs, color="grey", lw=0.8)
axes.set(xlabel="drawn pairs, B (the line: all pairs)", title="Means of 12 draws; B starts at n")
axes.legend()
plt.show()

# %%
# What it costs
# -------------

print(f"{'B / n':>6} {'excess of the objective':>24} {'AUC lost (training rows)':>26}")
for row, B in enumerate(sizes):
    share = excess[row].mean() / optimum
    print(f"{B // problem.n:6d} {share:23.3%} {lost_auc[row].mean():26.5f}")
slope = np.polyfit(np.log(sizes), np.log(excess.mean(axis=1)), 1)[0]
print(f"slope of the excess {slope:.2f}")
assert -1.5 < slope < -0.6

# %%
# With two features there is little to lose. The loss grows with the number of features, since
# :math:`\xi` has more directions:

rng = np.random.default_rng(0)
for extra in (0, 10, 40):
    wide = np.hstack([X, rng.standard_normal((problem.n, extra))])
    best = solve(wide, y, lam).certificate.primal
    whole = linear_problem(wide, y, lam)
    drawn = [
        solve(wide, y, lam, pairs=draw_pairs(positive, problem.n, s, merge=True), tol=1e-6)
        for s in range(3)
    ]
    loss = np.mean([whole.objective(found.w) - best for found in drawn]) / best
    print(f"{2 + extra:3d} features, B = n: {loss:.1%} above the optimum")

# %%
# **And what was saved?** Little. As the first tutorial shows, a step over all pairs costs one sort,
# :math:`O(n \log n)`: drawing :math:`B = n` of them saves a factor of about two or three. Drawing
# pays if rows come one by one from a stream that cannot be sorted. For data that fits on a disk it
# does not.
#
# Exercises
# ---------
# 1. Show that without replacement the variance is :math:`\frac{\sigma^2}{B} \cdot \frac{N - B}{N
#    - 1}`. (Two draws have the correlation :math:`-1/(N - 1)`, since the sum of all :math:`N` is
#    fixed.)
# 2. Draw :math:`m` rows of each class and take all :math:`m^2` pairs: by how much does the
#    variance grow over :math:`m^2` single pairs? (More than threefold at :math:`m = 15`: pairs of
#    a block share rows.)
