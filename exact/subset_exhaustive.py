"""All supports of k features tried, in batches; two features by the closed form of their q."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator

import numpy as np

from .branch_and_bound import SearchStep
from .errors import TooLargeError
from .row_moments import MomentError
from .subset_bounds import LARGEST_SIDE, objective_ceiling, objective_floor
from .support_loss import SupportLoss, SupportOptimum
from .support_search import pair_blocks
from .support_swaps import UNCLEAR

MOST_SUPPORTS, MOST_PAIRS = 2_000_000, 50_000_000
"""Supports that are tried at most; those of two features are cheap."""

FEW_SUPPORTS = 10_000
"""Up to so many it is not worth while to search."""

_CHUNK = 4096

Found = tuple[SupportOptimum, float, float, bool, str, int]
"""The best, upper, lower, whether features were dependent, status, number tried."""


def count_supports(loss: SupportLoss, k: int) -> int:
    """Return how many supports of k informative features there are."""
    used = int(loss.informative.sum())
    return math.comb(used, min(k, used))


def better_tried(loss: SupportLoss, k: int, n: int) -> bool:
    """Return whether all supports should be tried rather than searched through.

    They are few; or branch and bound has no bound to begin with, as there are n - 1 features or
    more and no penalty, or dear ones, and the supports are not too many.

    Parameters
    ----------
    loss : SupportLoss
    k, n : int
        Nonzeros, and rows.
    """
    supports, used = count_supports(loss, k), int(loss.informative.sum())
    if supports <= FEW_SUPPORTS:
        return True
    hard = used > LARGEST_SIDE or (loss.lam == 0 and used >= n - 1)
    return hard and supports <= (MOST_PAIRS if k == 2 else MOST_SUPPORTS)


def try_all(
    loss: SupportLoss,
    error: MomentError,
    k: int,
    start: SupportOptimum,
    end: float = np.inf,
    callback: Callable[[SearchStep], object] | None = None,
) -> Found:
    """Try all supports of k informative features; the lower bound is zero where it is cut short.

    Parameters
    ----------
    loss : SupportLoss
    error : MomentError
    k : int
    start : SupportOptimum
        The best known one.
    end : float
        Reading of `time.perf_counter` at which to stop.
    callback : function of a `SearchStep`, optional

    Raises
    ------
    TooLargeError
        If there are too many.
    """
    begin, whole = time.perf_counter(), count_supports(loss, k)
    used = np.flatnonzero(loss.informative)
    k = min(k, used.size)
    if whole > (MOST_PAIRS if k == 2 else MOST_SUPPORTS):
        raise TooLargeError(
            f"{k} of {used.size} features make {whole} supports, too many to "
            'try: take method="branch-and-bound"'
        )
    best, upper, lower, tries = start, objective_ceiling(loss, start.w, error), 1.0, 0
    dependent, status = False, "done"
    batches = _pairs(loss, used, error, end) if k == 2 else _batches(loss, used, k, error, end)
    try:
        for support, floor, regular, count in batches:
            tries, lower, dependent = tries + count, min(lower, floor), dependent or not regular
            found = loss.optimum(support)
            if found.value < best.value:
                best, upper = found, objective_ceiling(loss, found.w, error)
            if callback is not None:
                known = min(upper, lower) if tries == whole else 0.0
                seconds = time.perf_counter() - begin
                callback(SearchStep(tries, whole - tries, upper, known, seconds))
            if time.perf_counter() >= end and tries < whole:
                status = "time_limit"
                break
    except KeyboardInterrupt:
        status = "interrupted"
    if tries == whole:
        return best, upper, min(upper, lower), dependent, "done", tries
    return best, upper, 0.0, dependent, "time_limit" if status == "done" else status, tries


Batch = tuple[np.ndarray, float, bool, int]
"""The best support, a lower bound of F* on all, whether none is dependent, how many they are."""


def _batches(
    loss: SupportLoss, used: np.ndarray, k: int, error: MomentError, end: float
) -> Iterator[Batch]:
    every = itertools.combinations(used.tolist(), k)
    while chunk := list(itertools.islice(every, _CHUNK)):
        supports = np.array(chunk, dtype=np.intp).reshape(len(chunk), k)
        sigma = loss.scaled_sigma[supports[:, :, None], supports[:, None, :]]
        delta = loss.scaled_delta[supports]
        values, vectors = np.linalg.eigh(sigma)
        least = values.min(axis=1, initial=1.0)
        parts = np.square(np.einsum("nij,ni->nj", vectors, delta))
        q = np.divide(parts, values, out=np.zeros_like(parts), where=values > 0).sum(axis=1)
        # The computed eigenvectors are those of a matrix within a few k units of Sigma_SS.
        yield _judge(loss, supports, q, least, error, end)


def _pairs(loss: SupportLoss, used: np.ndarray, error: MomentError, end: float) -> Iterator[Batch]:
    for a, b, q, least in pair_blocks(loss, used):
        yield _judge(loss, np.stack([used[a], used[b]], axis=1), q, least, error, end)


def _judge(
    loss: SupportLoss,
    supports: np.ndarray,
    q: np.ndarray,
    least: np.ndarray,
    error: MomentError,
    end: float,
) -> Batch:
    """Bound F* from q and the least eigenvalues, dependent supports one by one while time is."""
    k = supports.shape[1]
    clear = least >= UNCLEAR
    least = np.where(clear, least, 1.0)
    slip = 64 * k**1.5 * np.finfo(float).eps / least
    floors = objective_floor(np.maximum(q, 0.0) * (1 + slip), k, least * (1 - slip), error)
    count = len(supports)
    for i in np.flatnonzero(~clear):
        if time.perf_counter() >= end:
            count -= int((~clear[i:]).sum())
            q[i:][~clear[i:]] = -np.inf
            break
        found = loss.optimum(supports[i])
        q[i], floors[i] = found.q, found.value
    return supports[int(q.argmax())], float(floors.min()), bool(clear.all()), count
