"""Row weights that are held as whole numbers: how much of what pairs weigh is lost by that.

Weights that are not whole are rounded to 2^-52 of the largest. That is next to nothing where the
rows of large weight are in pairs with each other. Where they are not, it may be everything.
"""

from __future__ import annotations

import numpy as np

from ...errors import InputError
from ...sums.merged.arrangement import Arrangement
from ...sums.merged.weights import partners
from ...tools.checks import as_numbers
from .columns import scaled_weights

TOLERATED = 1e-6
"""Share of what all pairs weigh that rounding the weights of the rows may change."""


def check_held(
    at: Arrangement,
    given: tuple[object, object],
    held: tuple[np.ndarray, np.ndarray],
    share: np.ndarray | None,
) -> None:
    """Raise `InputError` where weights are so far apart that the whole numbers are others.

    With gains all weights are whole.

    Parameters
    ----------
    at : Arrangement
    given : (upper, lower)
        As the caller has them, by row.
    held : two int arrays (n,)
        The same as whole numbers, by place.
    share : float array (groups,), optional
    """
    off = [_rounded(x, whole, at.order) for x, whole in zip(given, held, strict=True)]
    if not any(side.any() for side in off):
        return
    a, b = (whole.astype(float) for whole in held)
    lost = _by_group(at, off[0], b + off[1], 1) + _by_group(at, a, off[1], 1)
    masses, there = _by_group(at, a, b, 0), lost > 0
    if share is None:
        changed, whole = float(lost.sum()), float(masses.sum())
    else:
        changed = float(
            share[there] @ np.minimum(lost[there] / np.maximum(masses[there], 1.0), 1.0)
        )
        whole = float(share[masses > 0].sum())
    if changed > TOLERATED * whole:
        raise InputError(
            "the weights of the rows are so far apart that those which make the pairs would be "
            "lost: weights that are not whole are held to 2^-52 of the largest, so leave the rows "
            "of the largest or of the smallest ones out"
        )


def _rounded(given: object, whole: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return 1 for each place whose weight is not held exactly, but to one unit: (n,)."""
    if given is None:
        return np.zeros(whole.size)
    weight = as_numbers("weights", given)[order]
    if (weight == whole).all():
        return np.zeros(whole.size)
    return (scaled_weights(weight) != whole).astype(float)


def _by_group(at: Arrangement, a: np.ndarray, b: np.ndarray, up: int) -> np.ndarray:
    """Return sum a_i b_j over the pairs of each group, rounded down or `up`: (groups,)."""
    room = (2 * up - 1) * float(b.sum()) * b.size * 2.0**-52
    there = partners(at, (b > 0).astype(np.int64)) > 0
    below = np.where(there, np.maximum(partners(at, b) + room, 0.0), 0.0)
    return np.add.reduceat(a * below, np.append(0, at.group_ends[:-1]))
