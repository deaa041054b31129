"""The two passes of `cuts_near` over all rows, compiled."""

from __future__ import annotations

from ..tools.compiling import compiled_later
from . import cuts_plain as plain


@compiled_later(plain.counts)
def counts(scores, positive, low, scale, found):  # pragma: no cover - compiled
    """Count the rows of each class in each bin, in found (2, bins)."""
    for k in range(scores.size):
        place = min(int((scores[k] - low) * scale), found.shape[1] - 1)
        found[int(positive[k]), place] += 1


@compiled_later(plain.kept)
def kept(scores, low, scale, bins, first, last, out):  # pragma: no cover - compiled
    """Fill out with the rows in the bins from `first` to `last`."""
    at = 0
    for k in range(scores.size):
        place = min(int((scores[k] - low) * scale), bins - 1)
        if place >= first and place <= last:
            out[at] = k
            at += 1
