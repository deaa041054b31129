"""HSG-HT: hard thresholding of the logistic loss with batches that grow. [SHT, section IV]

The method of Zhou, Yuan and Feng (2018), which knows no pairs.
"""

from __future__ import annotations

import math

import numpy as np

from ...exact.errors import InputError
from ...exact.tools.checks import check_count, check_number
from .logistic_thresholding import LogisticData, LogisticSolution

TOGETHER = 2**20
"""About so many rows are handed to the compiled steps at a time."""


def batch_size(t: int, first: float, ratio: float, n: int) -> int:
    """Return the size of batch t = 0, 1, ...: min(n, ceil(first / ratio^t)).

    Parameters
    ----------
    t : int
    first, ratio : float
        tau > 0, and omega in (0, 1).
    n : int
    """
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
    X : array or sparse matrix (n, d)
    y : array (n,)
        Two kinds of labels.
    k : int
        >= 1.
    first : float
        tau > 0.
    ratio : float
        omega in (0, 1); the programs have 1 / 1.033.
    step : "auto" or float
        > 0; "auto" is 1 / (2 L) with L = max (|x|^2 + 1) / 4, the largest curvature of a row, as
        its theory has it. Steps so short seldom leave the first support.
    max_passes : float
        Stop once this many times n rows have been looked at.
    intercept : "log-odds" or float
        The start of the intercept; "log-odds" is log(n_pos / n_neg).
    mode : {"right", "authors"}
    seed : int or None
    positive : label, optional
        The larger one by default.

    Raises
    ------
    InputError
        If the data or a parameter cannot be used.
    """
    data = LogisticData(X, y, k, intercept, positive)
    check_number("first", first)
    check_number("ratio", ratio, high=1.0)
    check_number("max_passes", max_passes)
    if mode not in ("right", "authors"):
        raise InputError(f"mode must be one of right, authors, not {mode!r}")
    if isinstance(step, str):
        if step != "auto":
            raise InputError(f"step must be 'auto' or a number > 0, not {step!r}")
        step = 2 / (data.rows.longest**2 + 1)
    length = check_number("step", step)
    if mode == "authors":
        sizes = _pass_sizes(data.n, first, ratio)
        cuts = np.cumsum(sizes)[:-1]
        for _ in range(check_count("max_passes", int(max_passes))):
            data.take(np.split(np.arange(data.n), cuts), 1 / sizes, length)
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


def _pass_sizes(n: int, first: float, ratio: float) -> np.ndarray:
    sizes, left = [], n
    while left > 0:
        grown = math.floor(first / ratio ** len(sizes))
        sizes.append(min(max(grown, 1), left))
        left -= sizes[-1]
    return np.array(sizes)
