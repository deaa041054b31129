"""Count rows, and pull them, without keeping their scores.

`Histogram.add` and `Histogram.marginals` take scores. Here a block of rows of few columns is scored
and counted in one loop; and scored, looked up and pulled in another. So a block is read twice and
nothing of its size is written. Numbers of float32 are promoted inside the loops.

Residuals are rounded to multiples of `QUANTUM`, so that for whole weights all sums of a histogram
are exact: the same bits in whatever order its rows are counted, and in however many parts.
"""

from __future__ import annotations

import numpy as np

from ...spaces.blocks import Pull
from ..binned import NO_WEIGHT, Histogram, Marginals, raise_for
from . import rows_compiled as loops


def count_rows(
    histogram: Histogram,
    rows: np.ndarray,
    offset: np.ndarray,
    w: np.ndarray,
    positive: np.ndarray,
    weight: np.ndarray | None = None,
) -> None:
    """Count a block of rows by their scores (x_i - offset)'w."""
    chosen = _read_only(weight)
    K, ends = float(histogram.bins), histogram.seen.ends
    grid, limits, over = histogram.grid, histogram.limits, histogram.over
    if not loops.fill(rows, offset, w, positive, chosen, K, limits, grid, ends, over):
        raise_for((rows - offset) @ w)
    histogram.rows += rows.shape[0]


def _read_only(weight: np.ndarray | None) -> np.ndarray:
    """Return the weights as arrays of one kind: the loops would be compiled for each."""
    held = (NO_WEIGHT if weight is None else weight).view()
    held.flags.writeable = False
    return held


def pull_rows(
    histogram: Histogram,
    closed: Marginals,
    rows: np.ndarray,
    offset: np.ndarray,
    w: np.ndarray,
    positive: np.ndarray,
    weight: np.ndarray | None = None,
) -> Pull:
    """Return the sum of c_i (x_i - offset) over a block, c its marginals at the scores of `w`.

    The arguments are those of `count_rows`, and the histogram closed.
    """
    into, size = Pull(w.size), np.zeros(w.size)
    chosen, K = _read_only(weight), float(histogram.bins)
    out = into.total, into.carry, size
    loops.pull(rows, offset, w, positive, chosen, K, histogram.limits, closed.table, *out)
    into.size, into.rows = float(np.linalg.norm(size)), rows.shape[0]
    return into
