"""The class moments of a square loss over all pairs, with a bound of their rounding.

The sums over rows are made block by block, so that the chains of additions stay short. A matrix of
side d is formed, of all features or of some.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .rounding import UNIT, gamma
from .row_average import RowAverage
from .squared_loss import Moments


def row_moments(
    average: RowAverage, columns: np.ndarray | None = None, offset: np.ndarray | None = None
) -> Moments:
    """Return delta and Sigma of a loss that is given as an average over rows. [SHT, eq. (4)]

    Parameters
    ----------
    average : RowAverage
        Its penalty plays no part. Only the features in `columns` are made dense.
    columns : int array (s,), optional
        Only these features, in this order.
    offset : array (d,), optional
        What was taken off the features before; it counts for the rounding of `Moments.size`.
    """
    columns = np.arange(average.dim) if columns is None else np.asarray(columns)
    means, n = average.means[:, columns], average.mass.size
    sigma = np.zeros((columns.size, columns.size))
    rest, size = np.zeros((2, columns.size)), np.zeros(columns.size)
    block = _block(n)
    X = average.X if columns.size == average.dim else average.X[:, columns]
    for start in range(0, n, block):
        some = slice(start, start + block)
        rows = X[some] if isinstance(X, np.ndarray) else X[some].toarray()
        side, mass = average.positive[some], average.mass[some]
        np.maximum(size, np.abs(rows).max(axis=0), out=size)
        rows = rows - means[side.astype(int)]
        sigma += (rows.T * mass) @ rows
        rest += np.stack([(mass * ~side) @ rows, (mass * side) @ rows])
    # `rest` is what the class means have lost to rounding.
    delta = (means[1] - means[0]) + (rest[1] - rest[0])
    size += 0.0 if offset is None else np.abs(offset[columns])
    return Moments(delta, (sigma + sigma.T) / 2, size)


@dataclass(frozen=True)
class MomentError:
    """How far the computed moments may be from those of the data, features at variance one.

    Attributes
    ----------
    sigma : float
        Of each entry of Sigma.
    delta : float
        Of each entry of delta.
    """

    sigma: float
    delta: float


def moment_error(n: int, size: np.ndarray, scale: np.ndarray) -> MomentError:
    """Return bounds of the rounding in `row_moments`, after division by the features' scales.

    With t the largest ratio of a feature's size to its spread, a row's entry is off by a few units
    of t, a class mean by gamma_n t at first, which enters Sigma by its square only.

    Parameters
    ----------
    n : int
        Number of rows.
    size : array (d,)
        As `Moments.size`.
    scale : array (d,)
        Square roots of the diagonal of Sigma; features of scale zero carry no information.
    """
    block = _block(n)
    chain = gamma(block + math.ceil(n / block) + 16)
    used = scale > 0
    t = float(np.max(size[used] / scale[used], initial=1.0))
    entry = 8 * UNIT * t
    return MomentError(2 * chain + 4 * entry + (gamma(n + 8) * t) ** 2, 2 * (chain + 2 * entry))


def _block(n: int) -> int:
    return max(64, math.isqrt(n))
