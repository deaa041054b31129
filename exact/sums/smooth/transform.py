"""The convolution of binned counts with a loss's slope and dual part.

**Rounding.** Let a fast Fourier transform of length N = 2^l be made of butterflies each of which
is right to eta, relative to the size of its terms. Every intermediate number is a sum of inputs
times numbers of modulus one, so that by induction over the l stages

    |error of F x, any entry| <= f |x|_1,    |error of F x|_2 <= f sqrt(N) |x|_2,    f = l eta,

up to factors 1 + f. With X = F x, R = F r and z = F^-1 (X R), the product errs by at most
|dX|_inf |R|_2 + |X|_inf |dR|_2 <= 2 f |x|_1 sqrt(N) |r|_2, and the inverse adds as much once more:

    |error of x * r|_2 <= (3 f + few units) |x|_1 |r|_2.

The weighted sum of absolute errors follows by the Cauchy-Schwarz inequality. The two more stages
in f pay for the product X R, which errs by sqrt(5) units of each entry, and for the scaling by 1/N.

Eta: a butterfly is a complex product with a twiddle factor, which errs by sqrt(5) units and by the
error of the factor, and a complex sum, which errs by one: below 3.3 units and the factor's error
[Higham, Accuracy and Stability of Numerical Algorithms, sections 3.6 and 24.1]. Stages of higher
radix do no more operations in a row than the stages of radix 2 that they stand for. So `BUTTERFLY`
holds for any factors right to 4 units. That numpy's are is not proved here: they are tabulated in a
longer format and rounded once, and tests measure how much of the bound is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ...tools.rounding import gamma
from .bins import Bins
from .contract import Smooth

BUTTERFLY = 8  # Largest error of one stage of a Fourier transform, in units in the last place.


@dataclass(frozen=True, eq=False)
class ClassSums:
    """Sums over the other class, by bin."""

    u: np.ndarray
    v: np.ndarray
    duals: np.ndarray
    stepped: float
    u_error: float
    v_error: float
    dual_error: float


def class_sums(bins: Bins, loss: Smooth) -> ClassSums:
    """Return alpha and dual(alpha) of each bin, summed over the other class."""
    half = min(int(np.ceil(loss.reach * bins.per_unit)) + 1, bins.size - 1)
    length = linear_length(bins.size, half)
    slopes, duals, norm, dual_norm = _kernels(loss, bins.per_unit, bins.shift, half, length)
    seen_a, seen_b = np.fft.rfft(bins.count_a, length), np.fft.rfft(bins.count_b, length)
    rest_u = np.fft.irfft(seen_b * slopes, length)[: bins.size]
    rest_v = np.fft.irfft(seen_a * np.conj(slopes), length)[: bins.size]
    rest_dual = np.fft.irfft(seen_b * duals, length)[: bins.size]
    mass_a, mass_b = bins.masses
    step_u = _sum_above(bins.count_b) + bins.count_b / 2
    step_v = _sum_above(bins.count_a[::-1])[::-1] + bins.count_a / 2
    top = float(np.asarray(loss.dual(np.ones(1)))[0])
    error = 3 * gamma(BUTTERFLY * (length.bit_length() + 2)) * (1 + 1e-9)
    spread_a = float(np.linalg.norm(bins.count_a)) / mass_a
    spread_b = float(np.linalg.norm(bins.count_b)) / mass_b
    return ClassSums(
        # The true sums lie in this range, so clipping cannot make the computed ones worse.
        np.clip(step_u + rest_u, 0.0, mass_b),
        np.clip(step_v + rest_v, 0.0, mass_a),
        top * step_u + rest_dual,
        bins.mean_a(step_u) / mass_b,
        error * spread_a * norm,
        error * spread_b * norm,
        error * spread_a * dual_norm,
    )


def linear_length(size: int, half: int) -> int:
    """Return a power of two so long that `size` bins and offsets up to `half` do not wrap."""
    return 1 << (size + half - 1).bit_length()


@lru_cache(maxsize=2)
def _kernels(
    loss: Smooth, per_unit: float, shift: int, half: int, length: int
) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Return the transforms of alpha - step and of its dual part, and the norms of both."""
    m = np.arange(-half, half + 1)
    step = np.where(m < 0, 1.0, np.where(m > 0, 0.0, 0.5))
    x = (m + shift) / per_unit - loss.centre
    out = []
    for rest in loss.beside_step(x, step):
        around = np.zeros(length)
        around[m] = rest
        out.append((np.fft.rfft(around), float(np.linalg.norm(rest)) * (1 + 1e-9)))
    (slopes, norm), (duals, dual_norm) = out
    return slopes, duals, norm, dual_norm


def _sum_above(counts: np.ndarray) -> np.ndarray:
    """Return the sum strictly above each bin; exact for whole numbers."""
    upwards = np.cumsum(counts[::-1], dtype=np.longdouble)[::-1]
    return np.append(upwards[1:], 0.0).astype(float)
