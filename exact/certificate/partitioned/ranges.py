"""The range of the scores of weights over partitions, guessed where that saves a pass."""

from __future__ import annotations

import numpy as np

from ...spaces.partitions import Drawn, PartitionedRows
from ...sums.binned import Extent
from .tasks import ExtentTask

# Ranges that surely hold all scores are taken if they are at most this much wider than a guess.
ROOMIER = 1.5

# A guess is the range of a sample, or of the last weights' scores, widened by these shares.
SAMPLE_SLACK, SLACK = 0.3, 0.05


def score_extent(space: PartitionedRows, w: np.ndarray) -> np.ndarray:
    """Return a range for the scores of `w`: one that surely holds them if it is not wide."""
    outwards = np.array([-1.0, 1.0, -1.0, 1.0])
    size = space.reach * float(np.linalg.norm(w)) * outwards
    before, ends, slack = w, None, SLACK
    if space.last_range is not None:
        before, ends = space.last_range
    elif space.sample is not None:
        ends, slack = _range_of(space.sample, space.offset, w), SAMPLE_SLACK
    if ends is None or not np.isfinite(ends).all():
        ends = space.run(ExtentTask(space.offset, w)).ends
        return widened(ends, SLACK)
    guess = widened(ends, slack)
    sure = size
    if slack == SLACK:
        # No score moves by more than reach |w - before|. Where two ranges hold all scores, so does
        # what they share.
        sure = ends + space.reach * float(np.linalg.norm(w - before)) * outwards
        sure[::2] = np.maximum(sure[::2], size[::2])
        sure[1::2] = np.minimum(sure[1::2], size[1::2])
    wide = (sure[1::2] - sure[::2] > ROOMIER * (guess[1::2] - guess[::2])).any()
    return guess if wide else sure


def widened(ends: np.ndarray, share: float) -> np.ndarray:
    """Return a range, as `Extent.ends`, moved outwards by a share of itself."""
    found = Extent()
    found.ends = ends
    return found.widened(share)


def _range_of(sample: Drawn, offset: np.ndarray, w: np.ndarray) -> np.ndarray | None:
    """Return the range of each class's scores in a sample, or None without rows of a class."""
    scores, positive = (sample.rows - offset) @ w, sample.positive
    if positive.all() or not positive.any():
        return None
    plus, minus = scores[positive], scores[~positive]
    return np.array([plus.min(), plus.max(), minus.min(), minus.max()])
