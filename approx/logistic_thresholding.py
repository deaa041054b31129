"""Hard thresholding of the logistic loss: StoIHT and HSG-HT. [SHT, section IV]

The methods of Nguyen, Needell and Woolf (2017) and of Zhou, Yuan and Feng (2018), which has batches
that grow. They use no pairs, and share the step

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

from ..exact.errors import InputError
from ..exact.problem.problem import split_labels
from ..exact.spaces.rows import check_matrix
from ..exact.square_loss.row_average import top_eigenvalue
from ..exact.tools.arrays import check_choice, check_count, check_number
from ..exact.tools.compiling import compiled
from .online import RowArrays, check_step

TOGETHER = 2**20  # about so many rows are handed to the compiled steps at a time


def batch_size(t: int, first: float, ratio: float, n: int) -> int:
    """Return the size of batch t = 0, 1, ...: min(n, ceil(first / ratio^t))."""
    grown = math.log(first) - t * math.log(ratio)
    return n if grown >= math.log(n) else max(1, math.ceil(first / ratio**t))


def hsg_ht(
    X: object,
    y: object,
    k: int,
    *,
    first: float = 1.0,
    ratio: float = 1 / 1.033,
    step: float | str = "auto",
    max_passes: float = 50.0,
    intercept: str | float = "log-odds",
    mode: str = "right",
    seed: int | None = 0,
    positive: object = None,
) -> LogisticSolution:
    """Fit at most k weights and an intercept to the logistic loss by HSG-HT. [SHT, section IV]

    Step t = 0, 1, ... takes the mean gradient of min(n, ceil(first / ratio^t)) rows, drawn
    without replacement within a batch: few rows first, in the end all of them.

    Differs from the paper: its programs, ``mode="authors"``, 1. begin the sizes anew in each
    pass, floor(first / ratio^t), so that from first = 1 batches never grow beyond a few dozen
    rows of some hundred; 2. take the rows of a pass in their order; 3. begin at the intercept 0,
    with the step 3, which `intercept` and `step` can set here. H_k keeps k features, see
    `hard_threshold`.

    Parameters
    ----------
    X, y, positive
        As in `solve`.
    k : int
        >= 1.
    first : float
        tau > 0.
    ratio : float
        omega in (0, 1); the programs have 1 / 1.033.
    step : "auto" or float
        > 0; "auto" is 1 / (2 L) with L = max (|x|^2 + 1) / 4, the largest curvature of a row, as
        in its theory. Such short steps seldom leave the first support.
    max_passes : float
        Stop after this many times n rows.
    intercept : "log-odds" or float
        The start of the intercept; "log-odds" is log(n_pos / n_neg).
    mode : {"right", "authors"}
    seed : int or None
    """
    data = LogisticData(X, y, k, intercept, positive)
    check_number("first", first)
    check_number("ratio", ratio, high=1.0)
    check_number("max_passes", max_passes)
    check_choice("mode", mode, ("right", "authors"))
    check_step(step)
    length = 2 / (data.rows.longest**2 + 1) if isinstance(step, str) else float(step)
    if mode == "authors":
        sizes, left = [], data.n
        while left > 0:
            grown = math.floor(first / ratio ** len(sizes))
            sizes.append(min(max(grown, 1), left))
            left -= sizes[-1]
        cuts = np.cumsum(sizes)[:-1]
        for _ in range(check_count("max_passes", int(max_passes))):
            data.take(np.split(np.arange(data.n), cuts), 1 / np.array(sizes), length)
        return data.solution(length)
    rng = np.random.default_rng(seed)
    while data.n_rows < max_passes * data.n:
        batches, held = [], 0
        while held < TOGETHER and data.n_rows + held < max_passes * data.n:
            size = batch_size(data.n_iter + len(batches), first, ratio, data.n)
            batches.append(rng.choice(data.n, size, replace=False, shuffle=False))
            held += size
        data.take(batches, np.array([1 / batch.size for batch in batches]), length)
    return data.solution(length)


def stoiht(
    X: object,
    y: object,
    k: int,
    *,
    n_blocks: int = 1,
    step: float | str = "auto",
    max_epochs: int = 50,
    intercept: str | float = "log-odds",
    seed: int | None = 0,
    positive: object = None,
) -> LogisticSolution:
    """Fit at most k weights and an intercept to the logistic loss by StoIHT. [SHT, section IV]

    With the rows cut into m blocks of sizes b_i, and a block i drawn uniformly,

        w <- H_k(w - step g),   g = (m / n) sum over block i of the gradients,

    whose mean over the blocks is the gradient of the mean loss.

    Differs from the paper: 1. Its programs begin at the intercept 0 (``intercept=0.0``). The
    first step of one block then goes along r mean_+ - (1 - r) mean_-, the mean of the data mixed
    in; from the log odds it goes along the difference of the class means. 2. They always take the
    step 1. 3. Here a block weighs as much as its rows, as above; there all blocks weigh the same.
    4. H_k keeps k features, see `hard_threshold`.

    Parameters
    ----------
    X, y, k, positive, intercept
        As in `hsg_ht`.
    n_blocks : int
        m; more than there are rows raises `InputError`.
    step : "auto" or float
        > 0; "auto" is 1 / the largest curvature of a block, the intercept included.
    max_epochs : int
        The most epochs, of m steps each.
    seed : int or None
        Draws the blocks and their order.
    """
    data = LogisticData(X, y, k, intercept, positive)
    check_count("max_epochs", max_epochs)
    rng = np.random.default_rng(seed)
    if check_count("n_blocks", n_blocks) > data.n:
        raise InputError(f"{n_blocks} blocks cannot be made of {data.n} rows")
    blocks = np.array_split(rng.permutation(data.n), n_blocks)
    check_step(step)
    if isinstance(step, str):
        step = 1 / max(block_curvature(data, block, n_blocks, rng) for block in blocks)
    length = float(step)
    factors = np.full(n_blocks, n_blocks / data.n)
    for _ in range(max_epochs):
        order = rng.integers(n_blocks, size=n_blocks)
        data.take([blocks[at] for at in order], factors, length)
    return data.solution(length)


def block_curvature(
    data: LogisticData, block: np.ndarray, n_blocks: int, rng: np.random.Generator
) -> float:
    """Return an upper bound of (m / n) times the largest eigenvalue of sum (x, 1)(x, 1)' / 4."""
    rows = data.X[block]

    def times(v: np.ndarray) -> np.ndarray:
        scores = np.asarray(rows @ v[:-1]) + v[-1]
        return np.append(np.asarray(rows.T @ scores), scores.sum()) * n_blocks / (4 * data.n)

    top = top_eigenvalue(times, data.w.size + 1, rng, rank=block.size)
    return max(top, math.ulp(1.0))


@dataclass(frozen=True, eq=False)
class LogisticSolution:
    """What StoIHT and HSG-HT return: a local answer, with no certificate."""

    w: np.ndarray
    intercept: float
    support: np.ndarray
    objective: float
    step: float
    n_iter: int
    n_rows: int


class LogisticData:
    """The rows, their signs, and the walk of (w, c) on them."""

    def __init__(self, X: object, y: object, k: int, intercept: str | float, positive: object):
        self.X: np.ndarray | sp.csr_matrix = check_matrix(X)
        self.positive, _, _ = split_labels(y, positive)
        self.n, self.k = int(self.X.shape[0]), check_count("k", k)
        if self.positive.size != self.n:
            raise InputError(f"y has {self.positive.size} labels for {self.n} rows")
        n_pos = int(self.positive.sum())
        if isinstance(intercept, str):
            check_choice("intercept (other than a number)", intercept, ("log-odds",))
            intercept = math.log(n_pos / (self.n - n_pos))
        start = check_number("intercept", intercept, low=-math.inf)
        self.rows = RowArrays.of(self.X)
        self.w, self.c = np.zeros(int(self.X.shape[1])), np.array([start])
        self.n_iter, self.n_rows = 0, 0

    def take(self, batches: list[np.ndarray], factors: np.ndarray, step: float) -> None:
        """Make one step for each batch, along the sum of its rows' gradients times its factor."""
        cuts = np.cumsum([0, *(batch.size for batch in batches)])
        order, signs = np.concatenate(batches).astype(np.int64), np.where(self.positive, 1.0, -1.0)
        factors = np.asarray(factors, dtype=float)
        logistic_steps(*self.rows, order, cuts, factors, signs, step, self.k, self.w, self.c)
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
def logistic_steps(
    data, indices, indptr, dense, order, cuts, factors, signs, step, k, w, c
):  # pragma: no cover - compiled
    """Make the steps in place; batch t has the rows order[cuts[t]:cuts[t + 1]].

    `some` lists the features that the weights or the batch have; of tied weights the first stay.
    """
    d, n_some = w.size, 0
    slope, listed, some = np.zeros(d), np.zeros(d, np.bool_), np.empty(d, np.int64)
    sizes, room = np.empty(d), np.empty(d)
    for j in range(d):
        if w[j] != 0.0:
            some[n_some], listed[j] = j, True
            n_some += 1
    for t in range(factors.size):
        whole, n_old = 0.0, n_some
        for place in range(cuts[t], cuts[t + 1]):
            i, score = order[place], c[0]
            lo, hi = indptr[i], indptr[i + 1]
            base = lo if dense else 0
            if dense:  # the weights not listed are zero
                for at in range(n_old):
                    score += data[lo + some[at]] * w[some[at]]
            else:
                for at in range(lo, hi):
                    score += data[at] * w[indices[at]]
            pull = -signs[i] / (1.0 + math.exp(min(signs[i] * score, 700.0))) * factors[t]
            whole += pull
            if dense and n_some == d:
                for j in range(d):
                    slope[j] += pull * data[lo + j]
                continue
            for at in range(lo, hi):
                j = indices[at - base]
                slope[j] += pull * data[at]
                if not listed[j]:
                    some[n_some], listed[j] = j, True
                    n_some += 1
        floor = np.inf if n_old == k else 0.0  # k weights are as large as those kept before
        for place in range(n_some):
            j = some[place]
            w[j] -= step * slope[j]
            slope[j] = 0.0
            if place < n_old:
                floor = min(floor, abs(w[j]))
        c[0] -= step * whole
        n_left, all_listed = 0, n_some == d
        for place in range(n_some):
            j = place if all_listed else some[place]
            if abs(w[j]) < floor:
                w[j], listed[j] = 0.0, False
            else:
                some[n_left], sizes[n_left], room[n_left] = j, abs(w[j]), abs(w[j])
                n_left += 1
        n_some = n_left
        if n_some <= k:
            continue
        bar, above, tied = _smallest(room, n_some, n_some - k), 0, 0
        for place in range(n_some):
            if sizes[place] > bar:
                above += 1
            elif sizes[place] == bar:
                room[tied] = some[place]
                tied += 1
        last, kept = _smallest(room, tied, k - above - 1), 0
        for place in range(n_some):
            j = some[place]
            if sizes[place] > bar or (sizes[place] == bar and j <= last):
                some[kept] = j
                kept += 1
            else:
                w[j], listed[j] = 0.0, False
        n_some = kept


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
