"""StoIHT: stochastic iterative hard thresholding of the logistic loss. [SHT, section IV]

The method of Nguyen, Needell and Woolf (2017), which knows no pairs.
"""

from __future__ import annotations

import math

import numpy as np

from ...exact.errors import InputError
from ...exact.square_loss.row_average import top_eigenvalue
from ...exact.tools.checks import check_count, check_number
from .logistic_thresholding import LogisticData, LogisticSolution


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
    X, y, k, positive
        As in `hsg_ht`.
    n_blocks : int
        m.
    step : "auto" or float
        > 0; "auto" is 1 / the largest curvature of a block, the intercept included.
    max_epochs : int
        The most epochs, of m steps each.
    intercept : "log-odds" or float
        As in `hsg_ht`.
    seed : int or None
        Draws the blocks and their order.

    Raises
    ------
    InputError
        If the data or a parameter cannot be used.
    """
    data = LogisticData(X, y, k, intercept, positive)
    check_count("max_epochs", max_epochs)
    rng = np.random.default_rng(seed)
    if check_count("n_blocks", n_blocks) > data.n:
        raise InputError(f"{n_blocks} blocks cannot be made of {data.n} rows")
    blocks = np.array_split(rng.permutation(data.n), n_blocks)
    if isinstance(step, str):
        if step != "auto":
            raise InputError(f"step must be 'auto' or a number > 0, not {step!r}")
        step = 1 / max(block_curvature(data, block, n_blocks, rng) for block in blocks)
    length = check_number("step", step)
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
