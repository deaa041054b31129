"""The hinge's sums over some groups of ordered pairs as whole numbers, to be added to others'.

As in `ordered_sums`: with S = floor(2^k s), m_ij = S_j - S_i + 2^k and z_ij = 1 - (s_i - s_j),

    2^k z_ij = m_ij + (f_j - f_i),    f = 2^k s - S in [0, 1).

So z > 0 where m >= 1, z < 0 where m <= -1, and with hard counts u_i, v_j of the pairs m >= 1

    2^k sum a_i b_j max(0, z_ij) = 2^k hard - sum_i (u_i - v_i) S_i - sum_i (u_i - v_i) f_i + rest,

where 0 <= rest <= what the pairs with m = 0 weigh. All but the sum over f are whole numbers: they
are the same bits however whole groups are put together, if all are on the same grid.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...tools.rounding import gamma
from .arrangement import Arrangement
from .ordered_sums import COMPILED_FROM

LIMB = 21  # Bits of a part of a whole number: products of two parts stay below 2^42.

RUN = 1 << 15  # So many such products are added up in 63 bits.

MOST_BITS = 61  # Soft sums stay below two to this power.


@dataclass(eq=False)
class WholeHingeSums:
    """Whole-number sums of the hinge over some groups."""

    soft: int = 0
    hard: int = 0
    ties: int = 0
    moment: int = 0
    fraction: float = 0.0
    fraction_error: float = 0.0

    def merge(self, other: WholeHingeSums) -> WholeHingeSums:
        """Add the sums over other groups."""
        self.soft += other.soft
        self.hard += other.hard
        self.ties += other.ties
        self.moment += other.moment
        self.fraction += other.fraction
        self.fraction_error += other.fraction_error
        return self


def finest_grid(far: float, top: int, width: float) -> tuple[int, int] | None:
    """Return k and the half width in steps, so that no whole number reaches 2^62, or None."""
    size = max(far, 2.0**-900)
    if not (2 * far + width < 2.0**45 and size < 2.0**50):
        return None
    most = MOST_BITS - 1 - top.bit_length() - int(np.frexp(2 * far + 1 + width)[1])
    k = min(51 - int(np.frexp(size)[1]), most)
    if k < 0:
        return None
    return k, max(1, round(float(np.ldexp(width, k - 1)))) if width > 0 else 0


def whole_hinge(
    at: Arrangement, mass: np.ndarray, scores: np.ndarray, k: int, half: int
) -> tuple[np.ndarray, WholeHingeSums]:
    """Return 2 half c (or c at half = 0) in whole numbers, by row: (n,), and the sums."""
    held = mass[at.order]
    scaled = np.ldexp(scores[at.order], k)
    places = np.floor(scaled)
    fraction = scaled - places
    grid = places.astype(np.int64)
    from .merged_compiled import cheaper_hinge_counts, hinge_counts_compiled

    run = hinge_counts_compiled if scores.size >= COMPILED_FROM else cheaper_hinge_counts
    # Only differences count here, and the loops want places >= 0.
    found = run(at, grid - int(grid.min()), held, held, 1 << k, half)
    terms = found.hard.astype(float) * fraction
    size = float(np.abs(terms).sum())
    sums = WholeHingeSums(
        found.total(0),
        found.total(1),
        found.total(2),
        exact_dot(found.hard, grid),
        float(terms.sum()),
        gamma(scores.size + 4) * size * (1 + gamma(scores.size)),
    )
    net = np.empty(scores.size, dtype=np.int64)
    net[at.order] = found.soft if half else found.hard
    return net, sums


def exact_dot(x: np.ndarray, y: np.ndarray) -> int:
    """Return sum x y of whole numbers |x| < 2^41, |y| < 2^53, nothing lost."""
    total = 0
    for e, part in _limbs(x):
        for f, other in _limbs(y):
            products = part * other
            starts = np.arange(0, products.size, RUN)
            total += sum(np.add.reduceat(products, starts).tolist()) << (e + f)
    return total


def _limbs(values: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """Return shifts and parts with values = sum 2^shift part: the first >= 0, the last signed."""
    mask = (1 << LIMB) - 1
    low, middle, high = values & mask, (values >> LIMB) & mask, values >> (2 * LIMB)
    return [(0, low), (LIMB, middle), (2 * LIMB, high)]
