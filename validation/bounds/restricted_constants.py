"""Restricted curvature of the square loss: rho- and rho+ over supports of s features.

The losses of the blocks are f_i(w) = w'M_i w - 2 w'delta + 1 with Hessian 2 M_i, F is their mean,
and [SHT, Assumption 1, Assumption 2] speak of

    rho-_s = 2 min over |S| = s of the least eigenvalue of the mean (M)_SS,
    rho+_s = 2 max over i and |S| = s of the largest eigenvalue of (M_i)_SS.

All supports are tried where they are few. Elsewhere there are bounds: the least value that a search
met is not a lower bound of rho-, so it is never returned.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...exact.errors import InputError, TooLargeError
from ...exact.square_loss.row_average import RowAverage
from ...exact.tools.checks import check_count
from ..extremes import highest, lowest

MOST = 300_000  # Most eigenvalue problems that `restricted_constants_exact` solves.

_CHUNK = 4096


@dataclass(frozen=True)
class RestrictedConstants:
    """The constants of [SHT, Assumption 1, Assumption 2, eq. (7), eq. (8)] for s features.

    minus : rho-_s, twice the least eigenvalue of a mean M_SS, or a lower bound of it
    plus : rho+_s, twice the largest eigenvalue of a block's (M_i)_SS, or an upper bound of it
    exact : whether they are the constants themselves
    """

    s: int
    minus: float
    plus: float
    exact: bool = True

    @property
    def ratio(self) -> float:
        """rho_s = rho+ / rho-, infinite where rho- is zero; an upper bound unless exact."""
        return self.plus / self.minus if self.minus > 0 else math.inf


def block_matrices(blocks: Sequence[RowAverage]) -> np.ndarray:
    """Return the M_i of blocks, half of their Hessians: (m, d, d). [SHT, Prop. 1]"""
    found = []
    for block in blocks:
        X = block.X if isinstance(block.X, np.ndarray) else block.X.toarray()
        rows = X - block.means[block.positive.astype(int)]
        M = (rows.T * block.mass) @ rows + np.outer(block.delta, block.delta)
        found.append(M + block.lam / 2 * np.eye(block.dim))
    return np.stack(found)


def restricted_constants(M_blocks: np.ndarray, s: int) -> RestrictedConstants:
    """Return rho-_s and rho+_s by trying every support, or bounds of them where there are too many.

    The bounds: rho- is at least twice the least eigenvalue of all of M, by interlacing; zero, and
    no information, where features are dependent. For rho+ see `largest_restricted`.
    """
    M_blocks = check_blocks(M_blocks)
    m, d, _ = M_blocks.shape
    s = lowest(check_count("s", s), d)
    if math.comb(d, s) * (m + 1) <= MOST:
        return restricted_constants_exact(M_blocks, s)
    mean = M_blocks.mean(axis=0)
    least = float(np.linalg.eigvalsh(mean)[0]) - _rounding(mean)
    plus = highest(largest_restricted(M, s) for M in M_blocks)
    return RestrictedConstants(s, 2 * highest(least, 0.0), 2 * plus, exact=False)


def restricted_constants_exact(M_blocks: np.ndarray, s: int) -> RestrictedConstants:
    """Return rho-_s and rho+_s by trying every support of s features."""
    M_blocks = check_blocks(M_blocks)
    m, d, _ = M_blocks.shape
    s = lowest(check_count("s", s), d)
    tries = math.comb(d, s) * (m + 1)
    if tries > MOST:
        raise TooLargeError(
            f"{math.comb(d, s)} supports of {s} of {d} features in {m} blocks are too many to try: "
            "keep fewer features or blocks (a search would give no bound)"
        )
    mean = M_blocks.mean(axis=0)
    least, largest = math.inf, 0.0
    for supports in _supports(d, s):
        rows, columns = supports[:, :, None], supports[:, None, :]
        least = lowest(least, float(np.linalg.eigvalsh(mean[rows, columns])[:, 0].min()))
        for some in np.array_split(M_blocks, -(-m * len(supports) // _CHUNK)):
            inside = some[:, rows, columns]
            largest = highest(largest, float(np.linalg.eigvalsh(inside)[..., -1].max()))
    rounding = s * np.finfo(float).eps * largest
    return RestrictedConstants(s, 2 * least if least > rounding else 0.0, 2 * largest)


def largest_restricted(M: np.ndarray, s: int) -> float:
    """Return an upper bound of the largest eigenvalue of M_SS over all S of s features.

    The least of: the largest eigenvalue of M; the sum of the s largest diagonal entries, for the
    trace of M_SS; the largest sum of s absolute values in one row, for the norm of M_SS.
    """
    s = lowest(check_count("s", s), len(M))
    whole = float(np.linalg.eigvalsh(M)[-1])
    trace = float(np.sort(np.diag(M))[len(M) - s :].sum())
    row = float(np.sort(np.abs(M), axis=1)[:, len(M) - s :].sum(axis=1).max())
    return lowest(whole, trace, row) + _rounding(M)


def curvature_from_rows(blocks: Sequence[RowAverage], s: int) -> float:
    """Return an upper bound of rho+_s from the lengths of the rows, with no d x d matrix.

        rho+_s <= 2 max_i (sum over classes of mass_c max_j |H_s(x_j - mean_c)|^2 + |H_s(delta)|^2)

    with mass_c what the rows of class c in block i weigh, and lam added. It replaces
    [SHT, eq. (13)], which is some hundred to thousand times larger and holds for one
    distribution only. Sparse rows are made dense some at a time.
    """
    s, worst = check_count("s", s), 0.0
    for block in blocks:
        total = _longest(block.delta[None], s)
        for side in (True, False):
            rows = np.flatnonzero((block.positive == side) & (block.mass > 0))
            longest = 0.0
            for some in np.array_split(rows, highest(1, rows.size * block.dim // 1_000_000)):
                if some.size:
                    X = block.X[some]
                    X = X if isinstance(X, np.ndarray) else X.toarray()
                    longest = highest(longest, _longest(X - block.means[int(side)], s))
            total += float(block.mass[rows].sum()) * longest
        worst = highest(worst, 2 * total + block.lam)
    return worst * (1 + 1e-12)


def _longest(rows: np.ndarray, s: int) -> float:
    """Return the largest sum of the s largest squares in a row."""
    squares = np.square(rows)
    if s < squares.shape[1]:
        squares = np.partition(squares, squares.shape[1] - s, axis=1)[:, squares.shape[1] - s :]
    return float(squares.sum(axis=1).max())


def _rounding(M: np.ndarray) -> float:
    """Return a generous bound of the error of an eigenvalue of M."""
    return 64 * len(M) * np.finfo(float).eps * float(np.abs(M).sum(axis=1).max())


def _supports(d: int, s: int) -> Iterator[np.ndarray]:
    """Yield all supports in chunks: (chunk, s)."""
    every = itertools.combinations(range(d), s)
    while chunk := list(itertools.islice(every, _CHUNK)):
        yield np.array(chunk)


def check_blocks(M_blocks: np.ndarray) -> np.ndarray:
    """Return the blocks' matrices as floats (m, d, d), or raise `InputError`."""
    M = np.asarray(M_blocks, dtype=float)
    if M.ndim != 3 or M.shape[1] != M.shape[2] or 0 in M.shape:
        raise InputError(f"the blocks' matrices must have shape (m, d, d), not {M.shape}")
    if not np.isfinite(M).all() or not np.allclose(M, M.transpose(0, 2, 1)):
        raise InputError("the blocks' matrices must be finite and symmetric")
    return M
