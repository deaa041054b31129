r"""
1. AUC, pairs, and why n squared is not an obstacle
===================================================

The area under the ROC curve is the share of pairs in the right order. Of :math:`n_+` positive and
:math:`n_-` negative rows with scores :math:`s`,

.. math:: \mathrm{AUC} = \frac{1}{n_+ n_-} \sum_{i \in +} \sum_{j \in -}
          \left( [s_i > s_j] + \tfrac12 [s_i = s_j] \right).

It cannot be maximised directly: it is constant between jumps. The methods in this library put a
convex loss of the **margin** :math:`t_{ij} = s_i - s_j` in the place of the error
:math:`[t_{ij} \le 0]`. The hinge :math:`\max(0, 1 - t)` is never below the error, so its mean
bounds :math:`1 - \mathrm{AUC}` from above.
"""

from timeit import repeat

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import scale

from aucert.exact import solve
from aucert.exact.pairs.auc import auc
from aucert.exact.sums.swept import centred, swept

scores = np.array([2.0, 0.5, 0.5, 1.0, 0.5, -1.0])
positive = np.array([True, True, True, False, False, False])

margins = scores[positive][:, None] - scores[~positive]
by_hand = np.mean((margins > 0) + 0.5 * (margins == 0))
hinge = np.mean(np.maximum(0, 1 - margins))
assert np.allclose([auc(scores, positive), roc_auc_score(positive, scores)], by_hand)
assert hinge >= 1 - by_hand
print(f"AUC {by_hand:.4f}, mean hinge {hinge:.4f}")

# %%
# The sum without the pairs
# -------------------------
# A million rows have :math:`2.5 \cdot 10^{11}` pairs. They need not be visited one by one. Let
# :math:`t_i = s_i - 1` for a positive row and :math:`b_j = s_j` for a negative one; then the hinge
# of a pair is :math:`\max(0, b_j - t_i)`, and a positive row contributes
#
# .. math:: \sum_{j:\, b_j > t_i} (b_j - t_i)
#           = \Big( \sum_{j:\, b_j > t_i} b_j \Big) - t_i \cdot \#\{j : b_j > t_i\}.
#
# After sorting the :math:`b_j`, the rows with :math:`b_j > t_i` are the last ones: both sums are
# differences of running sums, and their start is found by bisection. So all pairs cost one sort,
# :math:`O(n \log n)`. The same running sums give the **marginals**, the number of active pairs of
# each row. The gradient needs nothing else: a pair adds its slope to two rows, with signs + and -:
#
# .. math:: \nabla_w \sum_{ij} \max(0, 1 - w'(x_i - x_j)) = -\sum_i u_i x_i + \sum_j v_j x_j .
#
# These are the lines of the library (``width`` is 0 here; it smooths the kink):
#
# .. literalinclude:: /../exact/sums/plain.py
#    :language: python
#    :pyobject: sweep

t, b, _ = centred(scores, (np.flatnonzero(positive), np.flatnonzero(~positive)))
sides = swept(t, b, np.ones(3), np.ones(3))
active = margins < 1
assert np.isclose(float(sides.value), np.maximum(0, 1 - margins).sum())
assert np.array_equal(sides.u, active.sum(axis=1)) and np.array_equal(sides.v, active.sum(axis=0))
print("active pairs of each positive row", sides.u, "and of each negative row", sides.v)

# %%
# How long it takes
# -----------------
# Time and memory of the double sum grow with :math:`n^2`; the other costs hardly more than a sort.

rng = np.random.default_rng(0)


def seconds(function, *arguments):
    """Return the least time of three calls."""
    return min(repeat(lambda: function(*arguments), number=1, repeat=3))


def double_sum(t, b):
    """All pairs, one by one."""
    return np.maximum(0, b - t[:, None]).sum()


sizes, slow, fast = [100, 300, 1000, 3000, 10_000, 100_000, 400_000], [], []
for n in sizes:
    t, b = rng.standard_normal(n // 2) - 1, rng.standard_normal(n // 2)
    ones = np.ones(n // 2)
    fast.append(seconds(swept, t, b, ones, ones))
    if n <= 3000:
        slow.append(seconds(double_sum, t, b))
        assert np.isclose(double_sum(t, b), float(swept(t, b, ones, ones).value))

figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
axes.loglog(sizes[: len(slow)], slow, "s--", label="all pairs, one by one")
axes.loglog(sizes, fast, "o-", label="sorted sums")
axes.set(xlabel="rows", ylabel="seconds", title="One evaluation of the loss over all pairs")
axes.legend()
plt.show()

# %%
# So the exact problem is within reach
# ------------------------------------
# Because a step over *all* pairs costs so little, the problem itself can be solved, and pairs need
# not be drawn. ``solve`` minimises
#
# .. math:: F(w) = \frac{\lambda}{2} |w|^2
#           + \frac{1}{n_+ n_-} \sum_{ij} \max(0, 1 - w'(x_i - x_j))
#
# and proves how near it came. The next tutorial explains that proof.

X, malignant = load_breast_cancer(return_X_y=True)
X, malignant = scale(X), malignant == 0
solution = solve(X, malignant, lam=1e-2)
certificate = solution.certificate
print(f"{malignant.sum() * (~malignant).sum()} pairs in {solution.seconds:.2f} s")
print(f"{certificate:12}")
print(f"AUC on these rows {auc(X @ solution.w, malignant):.5f}")

# %%
# Exercises
# ---------
# 1. What is the AUC of a constant score if ties count one half, as errors, or as successes?
#    (One half, 0 and 1. The library counts one half.)
# 2. Which running sums does :math:`\sum_j \max(0, b_j - t_i)^2` need? Write it in five
#    lines. (Those of :math:`1, b, b^2`, since :math:`(b - t)^2 = b^2 - 2tb + t^2`.)
