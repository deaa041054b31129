"""The class moments of a square loss over all pairs, with a bound of their rounding.

Rows are summed block by block, so that the chains of additions stay short. A matrix of side d is
formed, of all features or of some.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..tools.rounding import LONG_UNIT, UNIT, gamma
from .moments import Moments
from .row_average import RowAverage


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
        What was subtracted from the features before; the rounding of `Moments.size` includes it.
    """
    return moments_with_losses(average, columns, offset)[0]


@dataclass(frozen=True, eq=False)
class Losses:
    """What the moments of each feature have lost to rounding, in the feature's own units: (d,).

    entry : bound of the error in an entry of the centred rows
    mean : the largest of what the two class means have lost
    """

    entry: np.ndarray
    mean: np.ndarray


def moments_with_losses(
    average: RowAverage, columns: np.ndarray | None = None, offset: np.ndarray | None = None
) -> tuple[Moments, Losses]:
    """Return what `row_moments` returns, and what `moment_error` needs to bound its rounding.

    A difference of two floats is right to one unit of itself. So an entry x less the offset, less
    the computed class mean, is off by a unit of either difference, however large x is; that the
    mean is off too is the same for all rows of a class, and is measured: `Losses.mean`.
    """
    columns = np.arange(average.dim) if columns is None else np.asarray(columns)
    means, n = average.means[:, columns], average.mass.size
    sigma = np.zeros((columns.size, columns.size))
    rest, size, left = np.zeros((2, columns.size)), np.zeros(columns.size), np.zeros(columns.size)
    block = _block(n)
    X = average.X if columns.size == average.dim else average.X[:, columns]
    for start in range(0, n, block):
        some = slice(start, start + block)
        rows = X[some] if isinstance(X, np.ndarray) else X[some].toarray()
        side, mass = average.positive[some], average.mass[some]
        np.maximum(size, np.abs(rows).max(axis=0), out=size)
        rows = rows - means[side.astype(int)]
        np.maximum(left, np.abs(rows).max(axis=0), out=left)
        sigma += (rows.T * mass) @ rows
        rest += np.stack([(mass * ~side) @ rows, (mass * side) @ rows])
    # `rest` is what the class means lost to rounding.
    delta = (means[1] - means[0]) + (rest[1] - rest[0])
    entry = 1.01 * UNIT * (left + (size if isinstance(X, np.ndarray) else 0.0))
    size = size + (0.0 if offset is None else np.abs(offset[columns]))
    losses = Losses(entry, np.abs(rest).max(axis=0))
    return Moments(delta, (sigma + sigma.T) / 2, size), losses


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


def moment_error(n: int, entry: float, mean: float = 0.0, distance: float = 0.0) -> MomentError:
    """Return bounds of the rounding in `row_moments`, after division by the features' scales.

    A sum over rows is off by chain times the sum of the sizes, which is at most one (Cauchy and
    Schwarz; the masses of a class add up to one). An error e of the entries changes Sigma_jk by
    at most e (sum of mass |x_j| + the same of k) + 2 e^2, the sums at most sqrt(2). A class mean
    that is off by s takes s_j s_k off Sigma in each class, and s is in delta already, but for the
    rounding of its own sum.

    Parameters
    ----------
    n : int
        Number of rows.
    entry, mean : float
        The largest entries of `Losses` over the features' scales.
    distance : float
        The largest |delta| over the features' scales.
    """
    block = _block(n)
    # Masses are quotients by a sum in the long format.
    chain = gamma(block + math.ceil(n / block) + 16) + gamma(n + 2, LONG_UNIT) + 2 * UNIT
    shift = mean + 2 * chain + entry
    sigma = 2 * chain + 3 * entry + 2 * entry**2 + 2.01 * shift**2 + 16 * UNIT
    return MomentError(sigma, 2.01 * (chain + entry) + 8 * UNIT * (distance + mean))


def _block(n: int) -> int:
    return max(64, math.isqrt(n))
