"""Hard thresholding of the logistic loss: the step that StoIHT and HSG-HT share.

    w <- H_k(w - step g),   c <- c - step g_c,

g and g_c the gradient of the mean over a batch of log(1 + exp(-y (w'x + c))) in the weights and
in the intercept, which is never thresholded. On sparse rows a step costs O(nonzeros of the
batch + k): a feature that neither the batch nor the weights have stays zero.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ...exact.errors import InputError
from ...exact.problem.problem import split_labels
from ...exact.spaces.rows import check_matrix
from ...exact.tools.checks import check_count, check_number
from ...exact.tools.compiling import compiled
from ..online.row_stream import RowArrays


@dataclass(frozen=True, eq=False)
class LogisticSolution:
    """What StoIHT and HSG-HT return: a local answer, with no certificate.

    Attributes
    ----------
    w : array (d,)
        At most k nonzeros.
    intercept : float
    support : int array
        Places of the nonzero weights, sorted.
    objective : float
        The mean logistic loss over all rows.
    step : float
    n_iter : int
        Steps made.
    n_rows : int
        Rows looked at, with repetition.
    """

    w: np.ndarray
    intercept: float
    support: np.ndarray
    objective: float
    step: float
    n_iter: int
    n_rows: int


class LogisticData:
    """The rows, their signs, and the walk of (w, c) on them.

    Raises
    ------
    InputError
        As `check_matrix` and `split_labels`; if k < 1 or the intercept is neither "log-odds" nor
        a finite number.
    """

    def __init__(self, X: object, y: object, k: int, intercept: str | float, positive: object):
        self.X: np.ndarray | sp.csr_matrix = check_matrix(X)
        self.positive, _, _ = split_labels(y, positive)
        self.n, self.k = int(self.X.shape[0]), check_count("k", k)
        if self.positive.size != self.n:
            raise InputError(f"y has {self.positive.size} labels for {self.n} rows")
        n_pos = int(self.positive.sum())
        if isinstance(intercept, str):
            if intercept != "log-odds":
                raise InputError(f"intercept must be 'log-odds' or a number, not {intercept!r}")
            intercept = math.log(n_pos / (self.n - n_pos))
        start = check_number("intercept", intercept, low=-math.inf)
        self.rows = RowArrays.of(self.X)
        self.w, self.c = np.zeros(int(self.X.shape[1])), np.array([start])
        self.n_iter, self.n_rows = 0, 0

    def take(self, batches: list[np.ndarray], factors: np.ndarray, step: float) -> None:
        """Make one step for each batch, along the sum of its rows' gradients times its factor."""
        cuts = np.cumsum([0, *(batch.size for batch in batches)])
        order = np.concatenate(batches).astype(np.int64)
        signs = np.where(self.positive, 1.0, -1.0)
        factors = np.asarray(factors, dtype=float)
        rows, k, w, c = self.rows, self.k, self.w, self.c
        if rows.dense:
            logistic_dense(rows.data, order, cuts, factors, signs, step, k, w, c)
        else:
            at, ends = rows.indices, rows.indptr
            logistic_sparse(rows.data, at, ends, order, cuts, factors, signs, step, k, w, c)
        self.n_iter += len(batches)
        self.n_rows += order.size

    def solution(self, step: float) -> LogisticSolution:
        """Return what has been reached."""
        scores = np.asarray(self.X @ self.w) + self.c[0]
        loss = float(np.logaddexp(0.0, np.where(self.positive, -scores, scores)).mean())
        support = np.flatnonzero(self.w)
        return LogisticSolution(
            self.w, float(self.c[0]), support, loss, step, self.n_iter, self.n_rows
        )


@compiled
def logistic_dense(data, order, cuts, factors, signs, step, k, w, c):  # pragma: no cover - compiled
    """Make the steps in place on whole rows; batch t has the rows order[cuts[t]:cuts[t + 1]]."""
    d, n_some = w.size, 0
    slope, listed, some = np.empty(d), np.empty(d, np.bool_), np.empty(d, np.int64)
    for j in range(d):
        if w[j] != 0.0:
            some[n_some] = j
            n_some += 1
    for t in range(factors.size):
        whole, slope[:] = 0.0, 0.0
        for place in range(cuts[t], cuts[t + 1]):
            i, score = order[place], c[0]
            row = data[i * d : (i + 1) * d]
            for at in range(n_some):  # the other weights are zero
                score += row[some[at]] * w[some[at]]
            pull = -signs[i] / (1.0 + math.exp(min(signs[i] * score, 700.0))) * factors[t]
            whole += pull
            for j in range(d):
                slope[j] += pull * row[j]
        for j in range(d):
            w[j] -= step * slope[j]
        c[0] -= step * whole
        floor = np.inf if n_some == k else 0.0  # k weights are as large as those kept before
        for at in range(n_some):
            floor = min(floor, abs(w[some[at]]))
        n_some = 0
        for j in range(d):
            if abs(w[j]) < floor:
                w[j] = 0.0
            else:
                some[n_some] = j
                n_some += 1
        n_some = keep_largest(w, some, listed, n_some, k)


@compiled
def logistic_sparse(
    data, indices, indptr, order, cuts, factors, signs, step, k, w, c
):  # pragma: no cover - compiled
    """Make the same steps on CSR rows."""
    d, n_some = w.size, 0
    slope, listed, some = np.zeros(d), np.zeros(d, np.bool_), np.empty(d, np.int64)
    for j in range(d):
        if w[j] != 0.0:
            some[n_some], listed[j] = j, True
            n_some += 1
    for t in range(factors.size):
        whole = 0.0
        for place in range(cuts[t], cuts[t + 1]):
            i, score = order[place], c[0]
            lo, hi = indptr[i], indptr[i + 1]
            for at in range(lo, hi):
                score += data[at] * w[indices[at]]
            pull = -signs[i] / (1.0 + math.exp(min(signs[i] * score, 700.0))) * factors[t]
            whole += pull
            for at in range(lo, hi):
                j = indices[at]
                slope[j] += pull * data[at]
                if not listed[j]:
                    some[n_some], listed[j] = j, True
                    n_some += 1
        for place in range(n_some):
            j = some[place]
            w[j] -= step * slope[j]
            slope[j] = 0.0
        c[0] -= step * whole
        n_some = keep_largest(w, some, listed, n_some, k)


@compiled
def keep_largest(w, some, listed, n_some, k):  # pragma: no cover - compiled
    """Keep the k largest of the listed weights, the first of tied ones; return how many stay."""
    if n_some <= k:
        return n_some
    sizes, room = np.empty(n_some), np.empty(n_some)
    for place in range(n_some):
        sizes[place] = room[place] = abs(w[some[place]])
    bar, above, tied = _smallest(room, n_some, n_some - k), 0, 0
    for place in range(n_some):
        if sizes[place] > bar:
            above += 1
        elif sizes[place] == bar:
            room[tied] = some[place]
            tied += 1
    last = _smallest(room, tied, k - above - 1)
    kept = 0
    for place in range(n_some):
        j = some[place]
        if sizes[place] > bar or (sizes[place] == bar and j <= last):
            some[kept] = j
            kept += 1
        else:
            w[j], listed[j] = 0.0, False
    return kept


@compiled
def _smallest(x, n, k):  # pragma: no cover - compiled
    """Return the k-th smallest (from 0) of the first n numbers, and change their order.

    Hoare's selection: numpy's own takes the compiler seconds.
    """
    left, right = 0, n - 1
    while left < right:
        pivot, i, j = x[(left + right) // 2], left, right
        while i <= j:
            while x[i] < pivot:
                i += 1
            while x[j] > pivot:
                j -= 1
            if i <= j:
                x[i], x[j] = x[j], x[i]
                i, j = i + 1, j - 1
        left, right = (i if k > j else left), (j if k < i else right)
    return x[k]
