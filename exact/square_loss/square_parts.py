"""The mean square loss over all pairs, its parts and its slope, with bounds of their rounding.

    F(w) = sum_j mass_j rho_j^2 + line^2,    slope = 2 sum_j mass_j rho_j x_j - 2 line delta,

rho_j the row's score less the mean score of its class, line = 1 - w'delta. Dense rows are taken
relative to their computed class means, and what those have lost is measured, so that rows far from
the origin lose no digits. Sparse rows stay as they are: the bound says what that costs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..tools.rounding import UNIT, gamma, short_chain, short_sum
from .row_average import RowAverage

_NUMBERS, _ROWS = 1 << 20, 2048
"""Most numbers and rows in a block; sums over rows are made block by block."""


@dataclass(frozen=True, eq=False)
class SquareParts:
    """F, line and slope at some weights, without a penalty, and bounds of their rounding.

    Attributes
    ----------
    square, line : float
    slope : array (d,)
    square_error, line_error : float
    slope_error : array (d,)
    """

    square: float
    line: float
    slope: np.ndarray
    square_error: float
    line_error: float
    slope_error: np.ndarray


def square_parts(loss: RowAverage, w: np.ndarray) -> SquareParts:
    """Return the parts of F at `w` (d,); the rows of `loss` count as the data.

    Bounds hold in whatever order a block's sums are added up: m terms lose at most gamma_m of their
    sizes.

    Parameters
    ----------
    loss : RowAverage
        All rows, not a part; its penalty plays no role.
    w : array (d,)
        Finite.
    """
    (n, d), side, size = loss.X.shape, loss.positive.astype(int), np.abs(w)
    score, slip = np.empty(n), np.empty(n)
    shift, far = np.zeros((2, d)), np.zeros((2, d))
    for some, rows, centre in _blocks(loss):
        score[some] = rows @ w - (centre @ w)[side[some]]
        slip[some] = abs(rows) @ size + (np.abs(centre) @ size)[side[some]]
        for c in range(2):
            mass = loss.mass[some] * (side[some] == c)
            shift[c] += np.asarray(rows.T @ mass) - mass.sum() * centre[c]
            far[c] += np.asarray(abs(rows).T @ mass)
    lost = gamma(_chain(loss)) * far
    if not isinstance(loss.X, np.ndarray):  # the means lost no more than this
        lost, shift = gamma(n + 8) * far, np.zeros((2, d))
    moved, moved_error = shift @ w, lost @ size + gamma(d + 4) * (np.abs(shift) @ size)
    rho = score - moved[side]
    error = gamma(d + 6) * slip + moved_error[side] + 2 * UNIT * (np.abs(score) + np.abs(rho))
    delta = (loss.means[1] - loss.means[0]) + (shift[1] - shift[0])
    delta_error = lost.sum(axis=0) + 4 * UNIT * (
        np.abs(loss.means[1] - loss.means[0]) + np.abs(shift).sum(axis=0)
    )
    line = 1 - float(w @ delta)
    line_error = float(size @ delta_error) + gamma(d + 4) * (1 + float(size @ np.abs(delta)))
    spread = float(short_sum(loss.mass * rho**2))
    astray = float(short_sum(loss.mass * error**2)) * (1 + gamma(short_chain(n) + 8))
    spread_error = gamma(short_chain(n) + 8) * spread + 2.01 * np.sqrt(spread * astray) + astray
    pull, pull_error = _pulled(loss, rho, error)
    slope = 2 * pull - 2 * line * delta
    slope_error = 2 * pull_error + 2 * abs(line) * delta_error
    slope_error += 2 * line_error * (np.abs(delta) + delta_error)
    return SquareParts(
        spread + line**2,
        line,
        slope,
        spread_error + 2 * abs(line) * line_error + line_error**2 + gamma(8) * (spread + line**2),
        line_error,
        slope_error + gamma(8) * (np.abs(pull) + abs(line) * np.abs(delta)),
    )


def _pulled(loss: RowAverage, rho: np.ndarray, error: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return sum_j mass_j rho_j (x_j - a centre of its class), and a bound of its rounding."""
    d, chain = loss.dim, _chain(loss)
    pull, rough = np.zeros(d), np.zeros(d)
    c = loss.mass * rho
    noise = gamma(chain) * np.abs(c) + loss.mass * error * (1 + gamma(8))
    for some, rows, centre in _blocks(loss):
        sides = loss.positive[some]
        pull += np.asarray(rows.T @ c[some])
        rough += np.asarray(abs(rows).T @ noise[some])
        for k, chosen in enumerate((~sides, sides)):
            pull -= float(c[some][chosen].sum()) * centre[k]
            rough += float(noise[some][chosen].sum()) * np.abs(centre[k])
    return pull, rough * (1 + gamma(chain))


def _step(loss: RowAverage) -> int:
    return max(64, min(_ROWS, _NUMBERS // loss.dim))


def _chain(loss: RowAverage) -> int:
    """Return the longest chain of roundings in a sum over rows, block by block."""
    n, step = loss.mass.size, _step(loss)
    return min(step, n) + 2 * (n // step + 1) + 12


def _blocks(
    loss: RowAverage,
) -> Iterator[tuple[slice, np.ndarray | sp.csr_matrix, np.ndarray]]:
    """Yield slices, their rows, and what must still be subtracted from the rows of each class."""
    n, d = loss.X.shape
    step = _step(loss)
    for start in range(0, n, step):
        some = slice(start, start + step)
        if isinstance(loss.X, np.ndarray):
            rows = loss.X[some] - loss.means[loss.positive[some].astype(int)]
            yield some, rows, np.zeros((2, d))
        else:
            yield some, loss.X[some], loss.means
