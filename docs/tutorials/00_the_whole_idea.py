r"""
0. The whole idea in one file
=============================

The ROC-SVM, solved and proved to be solved, in numpy alone. Rows :math:`x_i` have labels, True or
False. We want weights :math:`w` whose scores put positives above negatives by a margin of 1. Each
pair of a positive :math:`i` and a negative :math:`j` pays for what it lacks:

.. math:: F(w) = \frac\lambda2 |w|^2 + \text{mean over pairs of } \max(0, z_{ij}), \qquad
          z_{ij} = 1 - (x_i - x_j)'w.

A million rows make 250 billion pairs. They are never listed. With each :math:`F(w)` comes
a lower bound that no weights can beat.
"""

import matplotlib.pyplot as plt
import numpy as np

# %%
# The objective by sorting
# ------------------------
# With :math:`t_i = s_i - 1` and :math:`b_j = s_j` we have :math:`z_{ij} = b_j - t_i`. A positive
# pays for the negatives above its :math:`t_i`. In sorted order these are neighbours, and a sum
# over neighbours is a difference of prefix sums.


def prefix(a):
    """Return 0, a_0, a_0 + a_1, ...: the sum of a[k:m] is prefix(a)[m] - prefix(a)[k]."""
    return np.concatenate((np.zeros_like(a[:1]), np.cumsum(a, axis=0)))


def objective(X, y, lam, w):
    """Return F(w) in O(n log n)."""
    scores = X @ w
    t, b = np.sort(scores[y] - 1), np.sort(scores[~y])
    k, sums = np.searchsorted(b, t), prefix(b)
    return lam / 2 * w @ w + np.mean(sums[-1] - sums[k] - (len(b) - k) * t) / len(b)


# %%
# The gradient
# ------------
# The slope of the hinge jumps from 0 to 1 at z = 0. Let it climb a ramp, :math:`\alpha =
# \text{clip}(z / \text{width} + 1/2, 0, 1)`. The gradient of this smoothed F is :math:`\lambda w
# - g`, where g is the mean of :math:`\alpha_{ij} (x_i - x_j)`. It needs only the row sums and the
# column sums of :math:`\alpha`. The scores are first rounded to multiples of a tiny unit, so that
# all sums are of whole numbers: the two kinds of sums then belong to one :math:`\alpha`, exactly.


def ramp_sums(t, b, half):
    """Return for each i the sum over j of clip(b_j - t_i + half, 0, 2 half); t and b are sorted."""
    low, high, sums = np.searchsorted(b, t - half), np.searchsorted(b, t + half), prefix(b)
    on_the_ramp = sums[high] - sums[low] - (high - low) * (t - half)
    return on_the_ramp + 2 * half * (len(b) - high), low, high


def marginals(scores, y, width):
    """Return c with g = X'c, >= 0 on positives and <= 0 on negatives, and who is on a ramp."""
    unit = 2.0 ** (np.ceil(np.log2(len(y) * (np.ptp(scores) + width + 2))) - 61)
    whole = np.rint((scores - scores.min()) / unit).astype(np.int64)
    one, half = round(1 / unit), max(1, round(width / 2 / unit))
    i, j = (rows[np.argsort(whole[rows])] for rows in (np.flatnonzero(y), np.flatnonzero(~y)))
    t, b, c = whole[i] - one, whole[j], np.zeros(len(y))
    u, low, high = ramp_sums(t, b, half)
    v, first, last = ramp_sums(-b[::-1], -t[::-1], half)  # the same sweep, mirrored
    c[i], c[j] = u, -v[::-1]
    return c / (2.0 * half * len(i) * len(j)), (i, j, low, high, (last - first)[::-1])


def hessian(X, lam, width, ramp):
    """Return lam I + sum of (x_i - x_j)(x_i - x_j)' over pairs on the ramp / (width n_pairs)."""
    i, j, low, high, met = ramp
    P, N, sums = X[i], X[j], prefix(X[j])
    cross = P.T @ (sums[high] - sums[low])
    scatter = (P.T * (high - low)) @ P + (N.T * met) @ N - cross - cross.T
    return lam * np.eye(X.shape[1]) + scatter / (width * len(i) * len(j))


# %%
# The dual: every alpha between 0 and 1 is a proof
# ------------------------------------------------
# A hinge is nowhere below a line of slope alpha: :math:`\max(0, z) \ge \alpha z` if :math:`0 \le
# \alpha \le 1`. Put such a line in place of each hinge. With V the mean of :math:`\alpha_{ij}`,
# every w has
#
# .. math:: F(w) \ge \frac\lambda2 |w|^2 + V - g'w \ge V - \frac{|g|^2}{2 \lambda},
#
# because a parabola is nowhere below its lowest point. No w is left on the right, so it is below
# the minimum. It needs :math:`V = \sum u_i` and :math:`g = X'c`: n numbers stand for all pairs. A
# clip is in [0, 1] for any scores, so poor scores make a low bound, never a false one.


def lower_bound(X, y, lam, c):
    """Return V - |X'c|^2 / (2 lam), which no F(w) is below, up to the rounding of these sums."""
    g = X.T @ c
    return np.sum(c[y]) - g @ g / (2 * lam)


# %%
# Newton's method on narrower and narrower ramps
# ----------------------------------------------
# The gap has two parts: the ramp costs the mean of :math:`\max(0, z) - \alpha z`, and Newton's
# method has :math:`|\text{gradient}|^2 / (2 \lambda)` left. We attend to the larger one.


def solve(X, y, lam, tol=1e-9, max_steps=1000):
    """Yield (width, w, primal, dual) for one width after another, until the gap is tol * primal."""
    w, width = np.zeros(X.shape[1]), 10.0
    for _ in range(max_steps):
        c, ramp = marginals(X @ w, y, width)
        primal, dual = objective(X, y, lam, w), lower_bound(X, y, lam, c)
        gap, gradient = primal - dual, lam * w - X.T @ c
        if gap > tol * primal and gradient @ gradient / (2 * lam) > gap / 2:
            step = -np.linalg.solve(hessian(X, lam, width, ramp), gradient)
            while True:
                at = w + step
                slope = (lam * at - X.T @ marginals(X @ at, y, width)[0]) @ step
                if slope <= -gradient @ step / 2:
                    break
                step = step / 2  # too far: F climbs again
            w = w + step
            continue
        yield width, w, primal, dual
        if gap <= tol * primal:
            return
        width /= 10


# %%
# Does it work, and does it notice what does not?
# -----------------------------------------------

if __name__ == "__main__":
    from sklearn.datasets import load_breast_cancer
    from sklearn.linear_model import LogisticRegression

    X, y = load_breast_cancer(return_X_y=True)
    X, y, lam = (X - X.mean(axis=0)) / X.std(axis=0), y == 1, 0.01
    steps = [*solve(X, y, lam)]
    for width, _, primal, dual in steps:
        print(f"{width:8.0e}  F {primal:.11f}  minimum at least {dual:.11f}")
    theirs = objective(X, y, lam, LogisticRegression().fit(X, y).coef_[0])
    print(f"logistic regression is {theirs / steps[-1][3] - 1:.0%} above the minimum")
    assert steps[-1][2] - steps[-1][3] <= 1e-9 * steps[-1][2]
    axes = plt.subplots(figsize=(6.4, 3.4), layout="constrained")[1]
    axes.loglog([s[0] for s in steps], [(s[2] - s[3]) / s[2] for s in steps], marker="o")
    axes.set(xlabel="width of the ramp", ylabel="relative gap", xlim=(20, None))
    plt.show()
