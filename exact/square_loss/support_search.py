"""Good supports by local search, from the closed form of F on supports: no bound, no proof."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

import numpy as np

from .support_loss import SupportLoss, SupportOptimum
from .support_swaps import UNCLEAR

IMPROVES = 1e-12
"""A swap that lowers F* by less than this times F* is rounding."""

PAIRS = 8
"""Number of best pairs of features tried as starts."""

_ENTRIES = 1 << 18


def swap_descent(
    loss: SupportLoss, support: Iterable[int], max_swaps: int = 1000, end: float = np.inf
) -> SupportOptimum:
    """Return the minimum on a support after the best swaps, until none lowers it.

    Parameters
    ----------
    loss : SupportLoss
    support : indices of features
        The start; as many features come out.
    max_swaps : int
    end : float
        Reading of `time.perf_counter` after which the search for swaps stops.
    """
    here = loss.optimum(support)
    for _ in range(max_swaps):
        swap = loss.best_swap(here.support, end)
        if swap is None or not swap.value < here.value * (1 - IMPROVES):
            break
        after = loss.optimum({*here.support.tolist(), swap.into} - {swap.out})
        if not after.value < here.value:  # the swap's gain was rounding
            break
        here = after
    return here


def forward(
    loss: SupportLoss, k: int, start: Iterable[int] = (), end: float = np.inf
) -> np.ndarray:
    """Return k features: those of `start`, then greedily the one that lowers F* most.

    Parameters
    ----------
    loss : SupportLoss
    k : int
        At most d, and at least as many as in `start`.
    start : indices of features
    end : float
        As in `swap_descent`; after it the features of largest mean difference are taken.
    """
    chosen = [int(j) for j in start]
    while len(chosen) < k and time.perf_counter() < end:
        values = loss.additions(chosen, end)
        values[chosen] = np.inf
        chosen.append(int(np.argmin(values)))
    if len(chosen) < k:
        rest = [int(j) for j in screened(loss) if int(j) not in set(chosen)]
        chosen += rest[: k - len(chosen)]
    return np.array(sorted(chosen), dtype=np.intp)


def screened(loss: SupportLoss) -> np.ndarray:
    """Return the features, largest mean difference over spread first."""
    return np.argsort(-np.abs(loss.scaled_delta), kind="stable")


def pair_blocks(loss: SupportLoss, used: np.ndarray) -> Iterator[tuple[np.ndarray, ...]]:
    """Yield places a < b in `used`, q of the two features, and 1 - |correlation|, in blocks.

        q = (delta_a^2 + delta_b^2 - 2 rho delta_a delta_b) / (1 - rho^2)

    Where 1 - |rho| is below `UNCLEAR`, or a feature does not vary, q is -inf and the last is zero.

    Parameters
    ----------
    loss : SupportLoss
    used : int array (u,)
        Features.
    """
    delta, varies = loss.scaled_delta[used], np.diag(loss.scaled_sigma)[used] > 0
    step = max(1, _ENTRIES // max(used.size, 1))
    for low in range(0, used.size - 1, step):
        some = np.arange(low, min(low + step, used.size - 1))
        a, b = np.nonzero(np.arange(used.size)[None, :] > some[:, None])
        a = some[a]
        rho = loss.scaled_sigma[used[a], used[b]]
        least = 1 - np.abs(rho)
        clear = (least >= UNCLEAR) & varies[a] & varies[b]
        top = delta[a] ** 2 + delta[b] ** 2 - 2 * rho * delta[a] * delta[b]
        below = (1 - rho) * (1 + rho)
        q = np.divide(top, below, out=np.full(a.size, -np.inf), where=clear)
        yield a, b, q, np.where(clear, least, 0.0)


def best_pairs(loss: SupportLoss, count: int, end: float = np.inf) -> list[np.ndarray]:
    """Return the `count` pairs of features of least F*, as far as time allows.

    Parameters
    ----------
    loss : SupportLoss
    count : int
    end : float
        As in `swap_descent`.
    """
    used = screened(loss)[: int(loss.informative.sum())]  # the likely ones come first
    found: list[tuple[float, int, int]] = []
    for a, b, q, _ in pair_blocks(loss, used):
        top = np.argpartition(-q, min(count, q.size) - 1)[:count]
        found += [(float(q[i]), int(used[a[i]]), int(used[b[i]])) for i in top]
        if time.perf_counter() >= end:
            break
    ranked = sorted(((-q, i, j) for q, i, j in found if np.isfinite(q)))[:count]
    return [np.array([i, j], dtype=np.intp) for _, i, j in ranked]


def good_support(
    loss: SupportLoss, k: int, starts: Iterable[Iterable[int]] = (), end: float = np.inf
) -> SupportOptimum:
    """Return the best result of swaps from several starts, as many as time allows.

    They are those given, the largest mean differences, the greedy choice, and the greedy choices
    that begin with the best pairs.

    Parameters
    ----------
    loss : SupportLoss
    k : int
        At most d.
    starts : lists of at most k features
        Filled up greedily; these are looked at in any case.
    end : float
        As in `swap_descent`.
    """
    best = swap_descent(loss, screened(loss)[:k], end=end)
    ways: list[Iterable[int]] = [*starts]
    sure = len(ways)
    pairs = best_pairs(loss, PAIRS, end) if k >= 2 and time.perf_counter() < end else []
    for at, start in enumerate([*ways, (), *pairs]):
        if at >= sure and time.perf_counter() >= end:
            break
        found = swap_descent(loss, forward(loss, k, start, end), end=end)
        best = found if found.value < best.value else best
    return best
