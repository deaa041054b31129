"""Good supports by local search, from the closed form of F on supports: no bound, no proof."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .support_loss import SupportLoss, SupportOptimum

IMPROVES = 1e-12
"""A swap that lowers F* by less than this times F* is rounding."""


def swap_descent(
    loss: SupportLoss, support: Iterable[int], max_swaps: int = 1000
) -> SupportOptimum:
    """Return the minimum on a support after the best swaps, made until none lowers it.

    Parameters
    ----------
    loss : SupportLoss
    support : indices of features
        The start; as many features come out.
    max_swaps : int
    """
    here = loss.optimum(support)
    for _ in range(max_swaps):
        swap = loss.best_swap(here.support)
        if swap is None or not swap.value < here.value * (1 - IMPROVES):
            break
        kept = here.support[here.support != swap.out]
        after = loss.optimum(np.append(kept, swap.into))
        if not after.value < here.value:  # the swap's value was the rounding's
            break
        here = after
    return here


def forward(loss: SupportLoss, k: int, start: Iterable[int] = ()) -> np.ndarray:
    """Return k features: those of `start`, and greedily the one that lowers F* most.

    Parameters
    ----------
    loss : SupportLoss
    k : int
        At most d, and at least as many as in `start`.
    start : indices of features
    """
    chosen = [int(j) for j in start]
    while len(chosen) < k:
        values = loss.additions(chosen)
        values[chosen] = np.inf
        chosen.append(int(np.argmin(values)))
    return np.array(sorted(chosen), dtype=np.intp)


def good_support(loss: SupportLoss, k: int, starts: Iterable[Iterable[int]] = ()) -> SupportOptimum:
    """Return the best end of swaps from several starts: screening, greedy, and those given.

    Parameters
    ----------
    loss : SupportLoss
    k : int
        At most d.
    starts : lists of at most k features
        Filled up greedily.
    """
    screened = np.argsort(-np.abs(loss.scaled_delta), kind="stable")[:k]
    ends = [swap_descent(loss, start) for start in (screened, forward(loss, k))]
    ends += [swap_descent(loss, forward(loss, k, start)) for start in starts]
    return min(ends, key=lambda end: end.value)
