"""Running sums in numpy with the bits of a loop: `numpy.cumsum` adds one number after the other.

They are what the plain forms of compiled loops are made of; see `compiling`.
"""

from __future__ import annotations

import numpy as np


def running(x: np.ndarray, start: float = 0.0) -> np.ndarray:
    """Return start, start + x_0, (start + x_0) + x_1, and so on: (n + 1,)."""
    return np.cumsum(np.concatenate([[start], x]))


def plain_sum(x: np.ndarray, start: float = 0.0) -> float:
    """Return start + x_0 + x_1 + ..., added from left to right."""
    return float(running(x, start)[-1])


def two_sums(x: np.ndarray, start: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Return `running(x, start)` (n + 1,) and what each addition rounded off (n,), by Knuth."""
    total = running(x, start)
    old, new = total[:-1], total[1:]
    part = new - old
    return total, (old - (new - part)) + (x - part)


def neumaier(x: np.ndarray, start: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Return the same sums and errors, by Neumaier's comparison of the magnitudes."""
    total = running(x, start)
    old, new = total[:-1], total[1:]
    swap = np.abs(old) < np.abs(x)
    big, small = np.where(swap, x, old), np.where(swap, old, x)
    return total, (big - new) + small


def compensated(x: np.ndarray) -> float:
    """Return the sum of x and of what its additions rounded off."""
    total, slips = two_sums(x)
    return float(total[-1]) + plain_sum(slips)
