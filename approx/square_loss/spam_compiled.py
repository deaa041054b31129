"""The compiled steps of SPAM on dense rows, O(d) each, and on sparse ones without l1.

Without l1 no weight vanishes, and the weights are all shrunk by the same factor: x'mean of each row
is all that is needed to touch those of a row only. `spam_l1_compiled` has the rest.

The arguments data, indices, indptr are those of a CSR matrix, `order` the rows to take, `eta` the
length of each step; w (d,) is changed in place, and each point is added to `total`, (d,) or empty.
"""

from __future__ import annotations

import math

import numpy as np

from ...exact.tools.compiling import compiled


@compiled
def slope(score, positive, minus, plus, share):  # pragma: no cover - compiled
    """Return the factor c of the stochastic gradient c x; minus and plus are w'mean."""
    if positive:
        return 2.0 / share * (score - minus - 1.0)
    return 2.0 / (1.0 - share) * (score - plus + 1.0)


@compiled
def spam_dense(data, order, positive, means, share, l1, l2, eta, w, total):  # pragma: no cover
    """Make one step for each row of `order`; `data` has the rows one after the other."""
    d = w.size
    minus, plus = 0.0, 0.0
    for j in range(d):
        minus += means[0, j] * w[j]
        plus += means[1, j] * w[j]
    for t in range(order.size):
        at, step, score = order[t] * d, eta[t], 0.0
        for j in range(d):
            score += data[at + j] * w[j]
        move = step * slope(score, positive[order[t]], minus, plus, share)
        cut, shrink = step * l1, 1.0 / (1.0 + step * l2)
        minus, plus = 0.0, 0.0
        for j in range(d):
            v = w[j] - move * data[at + j]
            v = math.copysign(max(abs(v) - cut, 0.0), v) * shrink
            w[j] = v
            minus += means[0, j] * v
            plus += means[1, j] * v
        for j in range(total.size):
            total[j] += w[j]


@compiled
def spam_ridge(
    data, indices, indptr, order, positive, means, along, share, l2, eta, w, total
):  # pragma: no cover
    """Make the steps without l1 on CSR rows; along (n, 2) is x'mean of each row."""
    d, P, inverse = w.size, 1.0, 0.0
    missed = np.zeros(total.size)  # what `total` lacks of w * inverse
    for t in range(order.size):
        if t % max(d // 8, 64) == 0 or P > 1e4:  # afresh: no drift, no overflow
            _settle_ridge(w, total, missed, P, inverse)
            P, inverse, minus, plus = 1.0, 0.0, 0.0, 0.0
            for j in range(d):
                minus += means[0, j] * w[j]
                plus += means[1, j] * w[j]
        i, step, score = order[t], eta[t], 0.0
        lo, hi = indptr[i], indptr[i + 1]
        for k in range(lo, hi):
            score += data[k] * w[indices[k]]
        move = step * slope(score / P, positive[i], minus / P, plus / P, share) * P
        for k in range(lo, hi):
            w[indices[k]] -= move * data[k]
        minus -= move * along[i, 0]
        plus -= move * along[i, 1]
        if total.size > 0:
            for k in range(lo, hi):
                missed[indices[k]] -= move * data[k] * inverse
        P *= 1.0 + step * l2
        inverse += 1.0 / P
    _settle_ridge(w, total, missed, P, inverse)


@compiled
def _settle_ridge(w, total, missed, P, inverse):  # pragma: no cover
    for j in range(total.size):
        total[j] += w[j] * inverse - missed[j]
        missed[j] = 0.0
    for j in range(w.size):
        w[j] /= P
