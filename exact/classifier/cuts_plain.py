"""The plain forms of `cuts_compiled`, a block of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

BLOCK = 1 << 17
"""Rows that are placed at a time."""


def counts(
    scores: np.ndarray, positive: np.ndarray, low: float, scale: float, found: np.ndarray
) -> None:
    """Count the rows of each class in each bin, in found (2, bins)."""
    bins = found.shape[1]
    for rows, place in _places(scores, low, scale, bins):
        code = place + bins * positive[rows]
        found += np.bincount(code, minlength=2 * bins).reshape(2, bins)


def kept(
    scores: np.ndarray,
    low: float,
    scale: float,
    bins: int,
    first: int,
    last: int,
    out: np.ndarray,
) -> None:
    """Fill out with the rows in the bins from `first` to `last`."""
    at = 0
    for rows, place in _places(scores, low, scale, bins):
        found = np.flatnonzero((place >= first) & (place <= last))
        out[at : at + found.size] = found + rows.start
        at += found.size


def _places(
    scores: np.ndarray, low: float, scale: float, bins: int
) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield blocks of rows and their bins, which rise with the score."""
    for start in range(0, scores.size, BLOCK):
        rows = slice(start, min(start + BLOCK, scores.size))
        place = ((scores[rows] - low) * scale).astype(np.int64)
        yield rows, np.minimum(place, bins - 1)
