"""Better weights from a sparse method's answer: the optimum on its features, and swaps of them.

Everything here uses F* on given features, a closed form, and stays a local search: it has no
lower bound and never sees the best subset. [SHT, eq. (3)] is the problem.
"""

from __future__ import annotations

import numpy as np

from ...exact.square_loss.row_average import RowAverage, row_moments
from ...exact.square_loss.support import SupportLoss, forward, swap_descent
from ...exact.tools.checks import check_choice, check_count
from .hard_threshold import largest

REFINEMENTS = ("none", "refit", "swaps")

MAX_ROUNDS = 20
"""The most times that the features to swap with are chosen anew."""


def refine_weights(
    loss: RowAverage, w: np.ndarray, k: int, how: str, pool: int = 300
) -> np.ndarray:
    """Return weights with at most k nonzeros and an objective that is not higher.

    "refit" takes the optimum on the features of `w`. "swaps" then adds features greedily up to k,
    and exchanges one feature for another as long as that lowers F*, the optimum after the swap. Of
    more than `pool` features it tries those with the largest derivatives in units of their spread,
    and chooses them anew after every descent until none helps.

    Parameters
    ----------
    loss : RowAverage
    w : array (d,)
        At most k nonzeros.
    k : int
    how : {"none", "refit", "swaps"}
    pool : int
        Features tried at a time, beside those of `w`; a matrix of that side is formed.
    """
    check_choice("refine", how, REFINEMENTS)
    k, pool = min(check_count("k", k), loss.dim), check_count("pool", pool)
    best, value = w, loss.value(w)
    if how == "none":
        return w
    for _ in range(MAX_ROUNDS):
        after = _descend(loss, best, k, pool if how == "swaps" else 0)
        new = loss.value(after)
        if not new < value:
            break
        settled = new >= value * (1 - 1e-9)
        best, value = after, new
        if how == "refit" or settled or loss.dim <= pool + k:
            break
    return best


def _descend(loss: RowAverage, w: np.ndarray, k: int, pool: int) -> np.ndarray:
    """Return the end of one descent; without a pool, the optimum on the features of `w`."""
    support = np.flatnonzero(w)
    columns = support
    if pool:
        columns = np.union1d(support, _promising(loss, w, pool))
    if columns.size == 0:
        return w
    few = SupportLoss(row_moments(loss, columns), loss.lam)
    start = np.searchsorted(columns, support)
    if pool:
        found = swap_descent(few, forward(few, min(k, columns.size), start))
    else:
        found = few.optimum(start)
    after = np.zeros(loss.dim)
    after[columns] = found.w
    return after


def _promising(loss: RowAverage, w: np.ndarray, pool: int) -> np.ndarray:
    """Return the features with which a step from `w` gains most, to second order."""
    if loss.dim <= pool:
        return np.arange(loss.dim)
    X, mass = loss.X, loss.mass
    squares = mass @ np.square(X) if isinstance(X, np.ndarray) else X.multiply(X).T @ mass
    spread = np.asarray(squares).ravel() - np.square(loss.means).sum(axis=0) + loss.lam / 2
    noise = 1e-12 * np.asarray(squares).ravel()
    slope = np.square(loss.gradient(w))
    gain = np.divide(slope, spread, out=np.zeros(loss.dim), where=spread > noise)
    return largest(gain, pool)
