"""All supports of k features tried, in batches; two features by the closed form of their q.

for each batch of supports:
    bound F* on all of them by floats
    where floats tell too little, decide one support after the other
    keep the best support, and the lowest bound
all tried: the lowest bound holds; cut short: zero does
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator

import numpy as np

from ..errors import TooLargeError
from ..square_loss.support import (
    LARGEST_SIDE,
    UNCLEAR,
    SupportBounds,
    SupportOptimum,
    objective_floor,
    pair_blocks,
    whole_ceilings,
)
from ..tools.rounding import UNIT
from .branch_and_bound import SearchStep

MOST_SUPPORTS, MOST_PAIRS = 2_000_000, 50_000_000  # most that are tried; pairs are cheap
FEW_SUPPORTS = 10_000  # up to this many supports, trying all of them is quicker than a search
CHUNK = 4096  # supports in one batch: their matrices fit into the cache
PAIR_SLIP = 32 * UNIT  # what rounding takes off the q of two features of least eigenvalue one
LEAST_SLIP = 4 * UNIT  # what it takes off that eigenvalue

# The best, upper, lower, whether features were dependent, status, number tried.
Found = tuple[SupportOptimum, float, float, bool, str, int]
# Supports (m, k), upper bounds of q on them, and lower bounds of their least eigenvalues.
Batch = tuple[np.ndarray, np.ndarray, np.ndarray]


def count_supports(bounds: SupportBounds, k: int) -> int:
    """Return how many supports of k features there are, constant ones left out."""
    used = bounds.useful.size
    return math.comb(used, min(k, used))


def better_tried(bounds: SupportBounds, k: int, n: int) -> bool:
    """Return whether all supports should be tried: few, or with no bound to begin a search with."""
    supports, used = count_supports(bounds, k), bounds.useful.size
    if supports <= FEW_SUPPORTS:
        return True
    hard = used > LARGEST_SIDE or (bounds.loss.lam == 0 and used >= n - 1)
    return hard and supports <= (MOST_PAIRS if k == 2 else MOST_SUPPORTS)


def try_all(
    bounds: SupportBounds,
    k: int,
    start: SupportOptimum,
    end: float = np.inf,
    callback: Callable[[SearchStep], object] | None = None,
) -> Found:
    """Try all supports of k features; the lower bound is zero where it is cut short."""
    begin, whole = time.perf_counter(), count_supports(bounds, k)
    used = bounds.useful
    k = min(k, used.size)
    if whole > (MOST_PAIRS if k == 2 else MOST_SUPPORTS):
        raise TooLargeError(
            f"{k} of {used.size} features make {whole} supports, too many to "
            'try: take method="branch-and-bound"'
        )
    best, upper, lower, tries = start, bounds.ceiling(start.w, end), 1.0, 0
    dependent, status = False, "done"
    try:
        for batch in _pairs(bounds, used) if k == 2 else _batches(bounds, used, k):
            found, floor, regular, count = _judge(bounds, batch, (lower, upper), end)
            tries, lower, dependent = tries + count, min(lower, floor), dependent or not regular
            for other in found:
                top = bounds.ceiling(other.w, end)
                if top < upper:
                    best, upper = other, top
            if callback is not None:
                # What was not tried may be as low as zero, for any result of the others.
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


def _batches(bounds: SupportBounds, used: np.ndarray, k: int) -> Iterator[Batch]:
    loss, every = bounds.loss, itertools.combinations(used.tolist(), k)
    while chunk := list(itertools.islice(every, CHUNK)):
        supports = np.array(chunk, dtype=np.intp).reshape(len(chunk), k)
        sigma = loss.scaled_sigma[supports[:, :, None], supports[:, None, :]]
        yield supports, *whole_ceilings(sigma, loss.scaled_delta[supports])


def _pairs(bounds: SupportBounds, used: np.ndarray) -> Iterator[Batch]:
    loss = bounds.loss
    for a, b, q, least in pair_blocks(loss, used):
        supports = np.stack([used[a], used[b]], axis=1)
        # The numerator, at least |delta|^2 (1 - |rho|), rounds by ten units of 2 |delta|^2.
        slip = PAIR_SLIP / np.where(least > 0, least, 1.0)
        yield supports, np.where(least > 0, q * (1 + slip), np.inf), least * (1 - LEAST_SLIP)


def _judge(
    bounds: SupportBounds, batch: Batch, known: tuple[float, float], end: float
) -> tuple[list[SupportOptimum], float, bool, int]:
    """Bound F* on a batch by floats, and one by one where these tell too little."""
    (supports, q, least), (lower, upper) = batch, known
    clear = (least >= UNCLEAR) & ~bounds.blurred[supports].any(axis=1)
    q, least = np.where(clear, q, 0.0), np.where(clear, least, 1.0)
    floors = objective_floor(q, supports.shape[1], least, bounds.error)
    # Where rounding has made a good support seem better than it can be.
    clear &= (floors >= upper - bounds.tol / 2) | (1 / (1 + q) - floors <= bounds.slack)
    found, count = [], len(supports)
    if clear.any():
        some = np.flatnonzero(clear)
        lower = min(lower, float(floors[some].min()))
        found.append(bounds.loss.optimum(supports[some[int(q[some].argmax())]]))
    judged: SupportOptimum | None = None
    for at, i in enumerate(unclear := np.flatnonzero(~clear)):
        if time.perf_counter() >= end:
            count -= unclear.size - at
            break
        if lower > 0:
            one, floor = bounds.leaf(supports[i], upper, end)
            lower = min(lower, floor)
        else:
            one = bounds.loss.optimum(supports[i])
        if one is not None and (judged is None or one.value < judged.value):
            judged = one
    return found + ([] if judged is None else [judged]), lower, bool(clear.all()), count
