r"""
2. Duality, and a certificate by hand on four points
====================================================

A **certificate** is a pair of numbers with the optimum between them. The upper one is easy: the
objective at any point. This tutorial derives the lower one, and finds both on four points, first by
hand and then with the library.

Take one feature, positive rows at 2 and 0, negative rows at 1 and -1. The four differences
:math:`x_i - x_j` are

.. math:: 2 - 1 = 1, \qquad 2 + 1 = 3, \qquad 0 - 1 = -1, \qquad 0 + 1 = 1,

so with :math:`(z)_+ = \max(0, z)`

.. math:: F(w) = \frac{\lambda}{2} w^2 + \frac14 \left[ 2\,(1-w)_+ + (1-3w)_+ + (1+w)_+ \right].
"""

import matplotlib.pyplot as plt
import numpy as np

from aucert.exact import Certificate, Minorant, linear_problem, solve

X = np.array([[2.0], [0.0], [1.0], [-1.0]])
y = np.array([1, 1, 0, 0])
differences = np.array([1.0, 3.0, -1.0, 1.0])


def F(w, lam):
    """The objective at numbers w."""
    loss = np.maximum(0, 1 - np.multiply.outer(w, differences)).mean(axis=-1)
    return lam / 2 * np.square(w) + loss


# %%
# Weak duality in one line
# ------------------------
# The hinge is a maximum of straight lines,
# :math:`(1-t)_+ = \max_{0 \le \alpha \le 1} \alpha (1-t)`. So **any** numbers
# :math:`\alpha_{ij}` between 0 and 1 bound the loss from below. With
# :math:`g = \frac14 \sum \alpha_{ij} (x_i - x_j)`,
#
# .. math:: F(w) \ge \frac{\lambda}{2} w^2 + \frac14 \sum \alpha_{ij} - g w
#           \ge \frac14 \sum \alpha_{ij} - \frac{g^2}{2\lambda},
#
# the last step because a parabola is nowhere below its lowest point, at :math:`w = g/\lambda`. Call
# the right side :math:`D(\alpha)`. It does not contain :math:`w`, so for every :math:`\alpha` it is
# at most the optimum.


def D(alpha, lam):
    """The lower bound of alpha, four numbers in [0, 1]."""
    g = np.mean(alpha * differences)
    return np.mean(alpha) - g**2 / (2 * lam)


# %%
# By hand, :math:`\lambda = 1/2`
# ------------------------------
# Suppose :math:`1/3 < w < 1`. Then all pairs but the second are active, and
# :math:`F'(w) = \lambda w - \frac14(1 - 1 + 1) = 0` gives :math:`w = \frac{1}{4\lambda} = \frac12`,
# which is in the assumed range. Here :math:`F = \frac1{16} + \frac58 = \frac{11}{16}`. The slopes
# there are :math:`\alpha = (1, 0, 1, 1)`, and they prove it:
# :math:`D = \frac34 - \frac{1}{16} = \frac{11}{16}`.

assert F(0.5, lam=0.5) == D(np.array([1, 0, 1, 1]), lam=0.5) == 11 / 16

# %%
# By hand, :math:`\lambda = 1/8`: a kink
# --------------------------------------
# Now :math:`\frac{1}{4\lambda} = 2` is out of the range: :math:`w` stops at the kink :math:`w = 1`,
# where the first and the fourth pair have margin exactly 1. Their slope may be any number between
# 0 and 1. Call it :math:`a`: optimality :math:`\lambda w = g = \frac14(2a - 1)` requires
# :math:`a = \frac{4\lambda + 1}{2} = \frac34`, and indeed
# :math:`F(1) = \frac1{16} + \frac24 = \frac9{16} = D(\frac34, 0, 1, \frac34)`.
#
# **The whole difficulty of the hinge is in this number a.** The scores of the optimal :math:`w`
# do not determine it.

lam = 1 / 8
assert F(1.0, lam) == D(np.array([0.75, 0, 1, 0.75]), lam) == 9 / 16

w, a = np.linspace(-0.5, 2.0, 400), np.linspace(0, 1, 200)
figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.6), layout="constrained", sharey=True)
left.plot(w, F(w, lam))
left.axhline(9 / 16, color="black", lw=0.8, ls=":")
left.plot(1, 9 / 16, "ko")
left.set(xlabel="w", title="F(w): every point is an upper bound")
right.plot(a, [D(np.array([s, 0, 1, s]), lam) for s in a], "C1")
right.axhline(9 / 16, color="black", lw=0.8, ls=":")
right.plot(0.75, 9 / 16, "ko")
right.set(xlabel="a", title="D(a, 0, 1, a): every point is a lower bound")
plt.show()

# %%
# Four pairs, but also: four numbers
# ----------------------------------
# :math:`D` needs only the row sums :math:`u_i = \frac14 \sum_j \alpha_{ij}` and the column sums
# :math:`v_j = \frac14 \sum_i \alpha_{ij}`: the mean of :math:`\alpha` is :math:`\sum u_i`, and
# :math:`g = \sum u_i x_i - \sum v_j x_j`. A proof over :math:`n_+ n_-` pairs is :math:`n` numbers.
# Whether some :math:`\alpha` has given sums is a question of network flow, and this is the answer:
#
# .. literalinclude:: /../exact/pairs/all_pairs.py
#    :language: python
#    :pyobject: largest_flow
#
# Marginals that no :math:`\alpha` has are not refused: the bound is lowered by what is missing.
# A lower bound of the loss, with the evidence for it, is called a ``Minorant``.

problem = linear_problem(X, y, lam)
u, v = np.array([0.75, 1.75]) / 4, np.array([1.75, 0.75]) / 4
minorant = Minorant.from_marginals(problem, u, v)
certificate = Certificate.of(problem, np.array([1.0]), minorant)
print("by hand:      ", certificate)
assert certificate.gap <= certificate.rounding

impossible = Minorant.from_marginals(problem, u + np.array([0.02, 0]), v)
worse = Certificate.of(problem, np.array([1.0]), impossible)
print("infeasible:   ", worse, f"deficiency {impossible.deficiency:.2f}")
assert worse.dual < certificate.dual

lazy = Certificate.of(problem, np.array([1.0]), Minorant.from_scores(problem, X[:, 0]))
print("from scores:  ", lazy, "(slopes 1 or 0 at the kink)")

found = solve(X, y, lam).certificate
print("by the solver:", found)
assert found.reaches(1e-9) and np.isclose(found.primal, 9 / 16)

# %%
# What the gap says about w
# -------------------------
# :math:`F` curves at least as much as its penalty, so
# :math:`\frac{\lambda}{2} |w - w^*|^2 \le F(w) - F(w^*) \le` gap, and
# :math:`|w - w^*| \le \sqrt{2\,\mathrm{gap}/\lambda}`. The library calls this the ``radius``:

trial = np.array([1.4])
certificate = Certificate.of(problem, trial, minorant)
print("at w = 1.4, true distance 0.4:", certificate)
assert certificate.radius >= 0.4

# %%
# Exercises
# ---------
# 1. One positive row :math:`x` and one negative row :math:`z`, :math:`d = x - z > 0`: solve it by
#    hand. (:math:`w = \min(d / \lambda, 1 / d)`; the form changes at :math:`\lambda = d^2`.)
# 2. Which bound does :math:`\alpha_{ij} = s` prove, the same :math:`s` for all pairs, with
#    :math:`m` the difference of the class means? (:math:`s - s^2 |m|^2 / (2 \lambda)`, best at
#    :math:`s = \min(1, \lambda / |m|^2)`.)
# 3. Give marginals of no :math:`\alpha` for which :math:`\sum u_i - |g|^2 / (2 \lambda)` is above
#    the optimum. (Positives 0 and 4, negatives 0 and 4: the optimum is 1 at :math:`w = 0`, and
#    :math:`u = v = (3/2, 0)` gives 3/2. The library finds that only 1/4 can flow.)

X = np.array([[0.0], [4.0], [0.0], [4.0]])
by_hand = linear_problem(X, np.array([1, 1, 0, 0]), lam=1.0)
false = Minorant.from_marginals(by_hand, np.array([1.5, 0.0]), np.array([1.5, 0.0]))
assert (false.value, false.deficiency) == (0.25, 2.5)
