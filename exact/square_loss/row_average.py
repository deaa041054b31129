"""The mean square loss over all pairs as an average over rows, and its moments. [SHT, Prop. 1]

    mean_ij (1 - w'(x_i - x_j))^2 = w'M w - 2 w'delta + 1,   M = Sigma + delta delta',

with delta the difference of the class means and Sigma the sum of the two class covariances (divided
by n, never n - 1). As a sum over rows it needs no d x d matrix.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from ..errors import InputError
from ..losses.registry import SQUARE
from ..pairs.all_pairs import AllPairs, PairList
from ..problem.problem import Problem
from ..spaces.rows import Rows
from ..tools.arrays import check_number
from ..tools.rounding import LONG_UNIT, UNIT, gamma, short_chain, short_sum


class Source(NamedTuple):
    """Rows X, weights (one each without), and what was subtracted: those that bounds refer to."""

    X: np.ndarray | sp.csr_matrix
    weight: np.ndarray | None
    offset: np.ndarray | None


@dataclass(frozen=True, eq=False)
class RowAverage:
    """The mean square loss over all pairs as a sum over rows. [SHT, Prop. 1, eq. (4)]

        F(w) = sum_j mass_j (w'(x_j - mean of the class of j))^2 + (1 - w'delta)^2 + lam/2 |w|^2

    Masses (n,) add up to one in each class: the paper's row loss, of lam = 0, is n times the first
    term, plus the rest. The means (2, d), of the negative and the positive class, are those of all
    rows, unless this is a part. Without a source the numbers here count as the data.
    """

    X: np.ndarray | sp.csr_matrix
    positive: np.ndarray
    mass: np.ndarray
    means: np.ndarray
    share: float
    lam: float = 0.0
    source: Source | None = None

    @classmethod
    def of(
        cls, space: Rows, positive: np.ndarray, pairs: AllPairs | None = None, lam: float = 0.0
    ) -> RowAverage:
        """Return F of all pairs of these rows, with the pairs' row weights."""
        pairs = pairs or AllPairs()
        if getattr(space, "held", None) is None or not isinstance(pairs, AllPairs):
            raise InputError("the average over rows is for all pairs of rows")
        positive = np.asarray(positive)
        if positive.dtype != bool or positive.shape != (space.n,):
            raise InputError(f"positive must be a boolean array, one entry for {space.n} rows")
        if not positive.any() or positive.all():
            raise InputError("the rows are of one class: pairs need both")
        lam = check_number("lam", lam, closed="low")
        pairs = pairs.on(positive)
        plus, minus = (float(side.sum()) for side in pairs.sides)
        mass = pairs.row_mass()
        means = np.stack([space.X.T @ (mass * side) for side in (~positive, positive)])
        source = Source(space.raw, pairs.weight, None if space.is_sparse else space.offset)
        return cls(space.X, positive, mass, means, plus / (plus + minus), float(lam), source)

    @classmethod
    def of_problem(cls, problem: Problem) -> RowAverage:
        if problem.loss != SQUARE:
            raise InputError(f"the square loss is needed here, not {problem.loss.name}")
        if isinstance(problem.pairs, PairList):
            raise InputError("the average over rows is for all pairs, not for a list of pairs")
        if problem.space.held is None:
            raise InputError("the average over rows needs rows: factor the kernel first")
        return cls.of(problem.space.held, problem.pairs.positive, problem.pairs, problem.lam)

    @property
    def dim(self) -> int:
        return int(self.means.shape[1])

    @property
    def delta(self) -> np.ndarray:
        return self.means[1] - self.means[0]

    def part(self, rows: np.ndarray | slice, factor: float) -> RowAverage:
        """Return F with the sum over these rows only, times `factor`: m parts that share out the
        rows, each with the factor m, have F as their mean. The paper has the factor n / b."""
        X, positive, mass = self.X[rows], self.positive[rows], factor * self.mass[rows]
        return RowAverage(X, positive, mass, self.means, self.share, self.lam)

    def among(self, columns: np.ndarray) -> RowAverage:
        """Return F of these features alone, an int array in any order."""
        source = self.source
        if source is not None:
            offset = None if source.offset is None else source.offset[columns]
            source = Source(source.X[:, columns], source.weight, offset)
        X, means = self.X[:, columns], self.means[:, columns]
        return RowAverage(X, self.positive, self.mass, means, self.share, self.lam, source)

    def residuals(self, w: np.ndarray) -> np.ndarray:
        """Return each row's score less the mean score of its class: (n,)."""
        return np.asarray(self.X @ w) - (self.means @ w)[self.positive.astype(int)]

    def value(self, w: np.ndarray) -> float:
        """Return F at `w` (d,)."""
        spread = self.mass @ np.square(self.residuals(w))
        return float(spread + np.square(1 - w @ self.delta) + self.lam / 2 * (w @ w))

    def gradient(self, w: np.ndarray) -> np.ndarray:
        """Return the gradient 2 M w - 2 delta + lam w at `w`: (d,)."""
        pull, delta = self.pull(self.mass * self.residuals(w)), self.delta
        return 2 * pull - 2 * (1 - float(w @ delta)) * delta + self.lam * w

    def pull(self, c: np.ndarray) -> np.ndarray:
        """Return sum_j c_j (x_j - mean of the class of j): (d,)."""
        totals = np.bincount(self.positive, weights=c, minlength=2)
        return np.asarray(self.X.T @ c) - totals @ self.means

    def curvature(self, rng: np.random.Generator) -> float:
        """Return an upper bound of the largest eigenvalue of the Hessian, 2 M + lam I: itself where
        n + 1 or d is small, else by Lanczos' method, raised so far that it fails with a chance of
        1e-9 (Kuczynski and Wozniakowski 1992, theorem 4.2)."""
        n, d = self.X.shape
        if isinstance(self.X, np.ndarray) and min(n + 1, d) <= 500:  # a matrix is formed
            if n + 1 < d:  # the smaller matrix with the nonzero eigenvalues of M
                rows = self.X - self.means[self.positive.astype(int)]
                rows = np.vstack([rows * np.sqrt(self.mass)[:, None], self.delta])
                gram = rows @ rows.T
            else:
                gram = row_moments(self).sigma + np.outer(self.delta, self.delta)
            top = scipy.linalg.eigvalsh(gram, subset_by_index=[len(gram) - 1] * 2)[0]
            return 2 * max(top, 0.0) + self.lam + 2 * gamma(n + 8 * d) * float(np.trace(gram))
        delta = self.delta

        def times(v: np.ndarray) -> np.ndarray:
            return 2 * self.pull(self.mass * self.residuals(v)) + 2 * float(v @ delta) * delta

        return top_eigenvalue(times, d, rng, rank=n + 1) + self.lam


def top_eigenvalue(
    times: Callable[[np.ndarray], np.ndarray], dim: int, rng: np.random.Generator, rank: int
) -> float:
    """Return an upper bound of the largest eigenvalue of a semidefinite matrix; see `curvature`."""
    slack = 0.2  # the bound is at most 1 / (1 - slack) times too large
    wanted = (math.log(1.648 * math.sqrt(dim) / 1e-9) / math.sqrt(slack) + 1) / 2
    steps = min(math.ceil(wanted), dim, rank + 1)
    basis = np.zeros((steps, dim))
    diagonal, off_diagonal = np.zeros(steps), np.zeros(steps)
    v = rng.standard_normal(dim)
    for t in range(steps):
        basis[t] = v / np.linalg.norm(v)
        v = times(basis[t])
        diagonal[t] = basis[t] @ v
        for _ in range(2):  # two passes are enough to keep the basis orthogonal
            v = v - basis[: t + 1].T @ (basis[: t + 1] @ v)
        off_diagonal[t] = np.linalg.norm(v)
        if off_diagonal[t] <= 1e-12 * np.abs(diagonal).max():
            steps = t + 1
            break
    top = scipy.linalg.eigvalsh_tridiagonal(diagonal[:steps], off_diagonal[: steps - 1]).max()
    exhausted = off_diagonal[steps - 1] <= 1e-9 * np.abs(diagonal).max()
    return float(top) * (1 + 1e-9 if exhausted else 1 / (1 - slack))


class SquareParts(NamedTuple):
    """F, line and slope at some weights, without a penalty, and bounds of their rounding."""

    square: float
    line: float
    slope: np.ndarray
    square_error: float
    line_error: float
    slope_error: np.ndarray


def square_parts(loss: RowAverage, w: np.ndarray) -> SquareParts:
    """Return the parts of F at `w` (d,); in any order m terms lose at most gamma_m."""
    (n, d), side, size = loss.X.shape, loss.positive.astype(int), np.abs(w)
    step = max(64, min(2048, (1 << 20) // d))  # most numbers and rows in a block
    chain = min(step, n) + 2 * (n // step + 1) + 12  # the longest of roundings in a sum over rows
    score, slip = np.empty(n), np.empty(n)
    shift, far = np.zeros((2, d)), np.zeros((2, d))
    for some, rows, centre in _blocks(loss, step):
        score[some] = rows @ w - (centre @ w)[side[some]]
        slip[some] = abs(rows) @ size + (np.abs(centre) @ size)[side[some]]
        for c in range(2):
            mass = loss.mass[some] * (side[some] == c)
            shift[c] += np.asarray(rows.T @ mass) - mass.sum() * centre[c]
            far[c] += np.asarray(abs(rows).T @ mass)
    lost = gamma(chain) * far
    if not isinstance(loss.X, np.ndarray):  # the means lost no more than this
        lost, shift = gamma(n + 8) * far, np.zeros((2, d))
    moved, moved_error = shift @ w, lost @ size + gamma(d + 4) * (np.abs(shift) @ size)
    rho = score - moved[side]
    error = gamma(d + 6) * slip + moved_error[side] + 2 * UNIT * (np.abs(score) + np.abs(rho))
    delta = loss.delta + (shift[1] - shift[0])
    delta_error = lost.sum(axis=0) + 4 * UNIT * (np.abs(loss.delta) + np.abs(shift).sum(axis=0))
    line = 1 - float(w @ delta)
    line_error = float(size @ delta_error) + gamma(d + 4) * (1 + float(size @ np.abs(delta)))
    spread = float(short_sum(loss.mass * rho**2))
    astray = float(short_sum(loss.mass * error**2)) * (1 + gamma(short_chain(n) + 8))
    spread_error = gamma(short_chain(n) + 8) * spread + 2.01 * np.sqrt(spread * astray) + astray
    c = loss.mass * rho
    noise = gamma(chain) * np.abs(c) + loss.mass * error * (1 + gamma(8))
    pull, rough = np.zeros(d), np.zeros(d)  # sum_j c_j (x_j - a centre of its class), and its error
    for some, rows, centre in _blocks(loss, step):
        pull += np.asarray(rows.T @ c[some])
        rough += np.asarray(abs(rows).T @ noise[some])
        for k in range(2):
            chosen = side[some] == k
            pull -= float(c[some][chosen].sum()) * centre[k]
            rough += float(noise[some][chosen].sum()) * np.abs(centre[k])
    slope_error = 2 * rough * (1 + gamma(chain)) + 2 * abs(line) * delta_error
    slope_error += 2 * line_error * (np.abs(delta) + delta_error)
    slope_error += gamma(8) * (np.abs(pull) + abs(line) * np.abs(delta))
    square, slope = spread + line**2, 2 * pull - 2 * line * delta
    square_error = spread_error + 2 * abs(line) * line_error + line_error**2 + gamma(8) * square
    return SquareParts(square, line, slope, square_error, line_error, slope_error)


def _blocks(loss: RowAverage, step: int) -> Iterator[tuple[slice, Any, np.ndarray]]:
    """Yield slices, their rows, and what must still be subtracted from the rows of each class."""
    for start in range(0, loss.mass.size, step):
        some = slice(start, start + step)
        if isinstance(loss.X, np.ndarray):
            rows = loss.X[some] - loss.means[loss.positive[some].astype(int)]
            yield some, rows, np.zeros_like(loss.means)
        else:
            yield some, loss.X[some], loss.means


class Moments(NamedTuple):
    """delta (d,) and Sigma (d, d) of the two classes; size (d,) the largest absolute value of each
    feature. Entry (d,) bounds the error in an entry of the centred rows, mean (d,) what the class
    means have lost. The Hessian of the mean square loss is 2 M."""

    delta: np.ndarray
    sigma: np.ndarray
    size: np.ndarray
    entry: np.ndarray
    mean: np.ndarray

    @property
    def M(self) -> np.ndarray:
        return self.sigma + np.outer(self.delta, self.delta)


def moments(
    space: Rows, positive: np.ndarray, pairs: AllPairs, columns: np.ndarray | None = None
) -> Moments:
    """Return delta and Sigma of all pairs, with row weights, of all or some features."""
    average = RowAverage.of(space, positive, pairs)
    return row_moments(average, columns, None if space.is_sparse else space.offset)


def row_moments(
    average: RowAverage, columns: np.ndarray | None = None, offset: np.ndarray | None = None
) -> Moments:
    """Return delta and Sigma of a loss that is given as an average over rows. [SHT, eq. (4)] An
    entry less the computed class mean is off by a unit of either difference; that the mean is off
    too is the same for all rows of a class, and is measured: `Moments.mean`."""
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
    return Moments(delta, (sigma + sigma.T) / 2, size, entry, np.abs(rest).max(axis=0))


class MomentError(NamedTuple):
    """How far the computed moments may be from those of the data, features at variance one."""

    sigma: float
    delta: float


def moment_error(n: int, entry: float, mean: float, distance: float) -> MomentError:
    """Return bounds of the rounding in `row_moments`, after division by the features' scales. A sum
    over rows is off by chain times at most one. An error e of the entries changes Sigma_jk by at
    most 2 sqrt(2) e + 2 e^2; a mean off by s takes s_j s_k off it in each class, and s is in delta,
    but for the rounding of its own sum."""
    block = _block(n)
    # Masses are quotients by a sum in the long format.
    chain = gamma(block + math.ceil(n / block) + 16) + gamma(n + 2, LONG_UNIT) + 2 * UNIT
    shift = mean + 2 * chain + entry
    sigma = 2 * chain + 3 * entry + 2 * entry**2 + 2.01 * shift**2 + 16 * UNIT
    return MomentError(sigma, 2.01 * (chain + entry) + 8 * UNIT * (distance + mean))


def _block(n: int) -> int:
    return max(64, math.isqrt(n))
