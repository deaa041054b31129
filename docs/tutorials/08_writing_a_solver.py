r"""
8. Writing a solver against the certificate
===========================================

Anybody can write a solver of

.. math:: F(w) = \frac\lambda2 |w|^2
          + \frac1{n_+n_-} \sum_{ij} \max(0, 1 - w'(x_i - x_j)),

and few can say when it is done. This tutorial writes one in thirty lines, with the certificate as
its stopping rule, and has ``check_solver`` look for what is wrong with it.

The library provides ``problem.sums(scores, width)``, the loss over all pairs and its signed
marginals :math:`c`, and ``space.pull(c)``, which is :math:`\sum_i c_i x_i`, so the gradient is
:math:`\lambda w - \mathrm{pull}(c)`. ``Certificate.of`` judges any point and any dual point.
"""

import matplotlib.pyplot as plt
import numpy as np

from aucert.exact import Certificate, Minorant, linear_problem
from aucert.validation import check_solver

# %%
# First try: subgradient steps
# ----------------------------
# We take steps of length :math:`1/(\lambda t)`, the textbook choice for strongly convex functions.
# The slopes at each step are a dual point, and so is their average: the feasible set is convex.
# Which of the two proves more depends on :math:`\lambda`. If it is small, the points jump about for
# long, and no single one proves much; the average is calmer, but never forgets the bad start.


def subgradient(X, y, lam, steps=1000):
    """Return w and the history of (F, lower bound of the last slopes, of their average)."""
    problem = linear_problem(X, y, lam)
    space, positive = problem.space, problem.pairs.positive
    w, mean, history = np.zeros(space.dim), np.zeros(problem.n), []
    for t in range(1, steps + 1):
        sums = problem.sums(space.scores(w))
        mean += (sums.c - mean) / t
        averaged = Minorant.from_marginals(problem, mean[positive], -mean[~positive])
        last = Certificate.of(problem, w, Minorant.from_scores(problem, space.scores(w)))
        history.append((last.primal, last.dual, Certificate.of(problem, w, averaged).dual))
        w = w - (lam * w - space.pull(sums.c)) / (lam * t)
    return w, np.array(history)


rng = np.random.default_rng(0)
y = np.arange(300) % 3 == 0
X = rng.standard_normal((300, 5)) + 0.7 * y[:, None]
lam = 1e-4
w, slow = subgradient(X, y, lam)
print(f"after {len(slow)} steps: {slow[:, 2].max():.5f} <= optimum <= {slow[:, 0].min():.5f}")

# %%
# Second try: smooth the kink, and follow it down
# -----------------------------------------------
# With a ``width`` the slope is a ramp, :math:`\alpha = \mathrm{clip}((1-t)/\text{width} + \frac12,
# 0, 1)`. Its values are in [0, 1], so they are *feasible for any width*. We solve the smoothed
# problem by accelerated gradient steps and make a minorant from its scores. The certificate, of the
# *unsmoothed* problem, says whether the width was small enough. If not, we shrink it.
#
# .. literalinclude:: /../exact/losses/registry.py
#    :language: python
#    :pyobject: Hinge.alpha


def smoothed(X, y, lam, tol=1e-4, rounds=24, steps=150, history=None):
    """Return w with a certified relative gap of `tol`, or the best that came out."""
    problem = linear_problem(X, y, lam)
    space = problem.space
    size = np.linalg.norm(space.dense(), 2) ** 2 / min(problem.n_pos, problem.n_neg)
    w, width, best = np.zeros(space.dim), 2.0, (np.inf, np.zeros(space.dim))
    for _ in range(rounds):
        step = 1 / (lam + 4 * size / width)
        momentum, previous = (1 - np.sqrt(lam * step)) / (1 + np.sqrt(lam * step)), w
        for _ in range(steps):
            ahead = w + momentum * (w - previous)
            pull = space.pull(problem.sums(space.scores(ahead), width).c)
            w, previous = ahead - step * (lam * ahead - pull), w
        found = Certificate.of(problem, w, Minorant.from_scores(problem, space.scores(w), width))
        best = min(best, (found.primal, w), key=lambda pair: pair[0])
        if history is not None:
            history.append((found.primal, found.dual))
        if found.reaches(tol):
            break
        width /= 1.6
    return best[1]


fast = []
smoothed(X, y, lam, history=fast)
fast = np.array(fast)
figure, axes = plt.subplots(figsize=(6.6, 3.8), layout="constrained")
upper = np.minimum.accumulate(slow[:, 0])
for dual, name in ((slow[:, 1], "last slopes"), (slow[:, 2], "their average")):
    gap = (upper - np.maximum.accumulate(dual)) / upper
    axes.loglog(np.arange(1, len(gap) + 1), gap, label=f"subgradient, {name}")
gap = (fast[:, 0] - fast[:, 1]) / fast[:, 0]
axes.loglog(150 * np.arange(1, len(gap) + 1), gap, "o-", label="smoothed, accelerated")
axes.set(xlabel="evaluations over all pairs", ylabel="certified relative gap")
axes.legend()
plt.show()
assert (fast[:, 0] >= fast[:, 1]).all()

# %%
# Is it right?
# ------------
# On one data set it is: the certificate says so. ``check_solver`` has 43 small problems with proved
# optima, of the kinds on which solvers go wrong: ties, one positive row, outliers, other units.

names = "overlap:0.01 overlap:0.1 ties one-positive separable:0.1 wide:0.01 outlier".split()
print(check_solver(smoothed, only=names, max_time=20).table)

# %%
# Two problems fail: one whose optimum is tiny, since hardly any loss is left, and one with a row a
# thousand times longer than the others. There :math:`\text{rounds} \times \text{steps}` were not
# enough, and the certificate shows it.
#
# Now a slip that everybody makes once: a sum instead of a mean, or a factor of one half. The
# answer is plausible, the AUC is fine, and no stopping rule notices.


def slipped(X, y, lam):
    """Minimise lam |w|^2 + the mean loss."""
    return smoothed(X, y, 2 * lam)  # the half forgotten


report = check_solver(slipped, only=["overlap", "ties"], max_time=20)
assert not report.passed and report.diagnosis
print("\n".join(report.diagnosis))

# %%
# Exercises
# ---------
# 1. Somebody's subgradient has ``margins <= 0`` for ``margins < 1``. What does it minimise? (The
#    mean of :math:`\max(0, -t)` plus the penalty: the answer is always zero, and ``check_solver``
#    says so.)
# 2. Pass ``check_solver`` on ``overlap`` with any QP solver. (In CVXPY: ``cp.sum(cp.pos(1 -
#    margins)) / margins.size + lam / 2 * cp.sum_squares(w)``.)
