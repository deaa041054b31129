"""The orders of the scores of both classes: most of the time of sorted sums."""

from __future__ import annotations

import numpy as np

from ..tools.threads import in_parts, workers

SORTING = 32  # Numbers that a pass over rows takes in the time that sorting takes for one.


def both_orders(t: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what sorts t (p,) and b (q,), from two threads where that pays.

    Values that tie come in any order, which is the same for any number of threads.
    """
    jobs = min(2, workers(SORTING * 2 * min(t.size, b.size)))
    first, second = in_parts(lambda values, worker: np.argsort(values), (t, b), jobs)
    return first, second
