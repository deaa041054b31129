"""The mean square loss over all pairs, written as an average over rows. [SHT, Prop. 1]"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from ..errors import InputError
from ..losses.registry import SQUARE
from ..pairs.all_pairs import AllPairs, PairList
from ..problem.problem import Problem
from ..spaces.rows import Rows
from ..tools.checks import check_number
from ..tools.rounding import gamma

DENSE = 500
"""Largest side of a matrix whose largest eigenvalue is computed rather than bounded."""

SLACK, FAILURE = 0.2, 1e-9
"""A bound is at most 1 / (1 - SLACK) times too large, and too small with chance `FAILURE`."""


@dataclass(frozen=True, eq=False)
class Source:
    """The rows and weights as they were given: bounds that include all rounding refer to them.

    Attributes
    ----------
    X : array or CSR matrix (n, d)
    weight : array (n,) or None for one each
    offset : array (d,) or None
        What was subtracted from the rows.
    """

    X: np.ndarray | sp.csr_matrix
    weight: np.ndarray | None
    offset: np.ndarray | None


@dataclass(frozen=True, eq=False)
class RowAverage:
    """The mean square loss over all pairs as a sum over rows. [SHT, Prop. 1, eq. (4)]

        F(w) = sum_j mass_j (w'(x_j - mean of the class of j))^2 + (1 - w'delta)^2 + lam/2 |w|^2

    One evaluation costs O(n d), and sparse rows stay sparse. With r the share of the positive
    rows, mass_j is 1/(n r) or 1/(n (1 - r)): the paper's row loss is n times the first term, plus
    the rest.

    Attributes
    ----------
    X : array or CSR matrix (n, d)
        From any origin: the loss does not depend on it.
    positive : bool array (n,)
    mass : array (n,)
        >= 0; adds up to one in each class, unless this is a part.
    means : array (2, d)
        Of the negative and of the positive class, of all rows even if this is a part.
    share : float
        r, the share of the positive class in the total weight.
    lam : float
        >= 0; zero in the paper.
    source : Source, optional
        The data from which the average was made; by default the numbers above count as the data.
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
        """Return F of all pairs of these rows, with the pairs' row weights.

        Raises
        ------
        InputError
            If the space has no rows, the pairs are a list, a class is missing, or lam < 0.
        """
        pairs = pairs or AllPairs()
        if not isinstance(space, Rows) or not isinstance(pairs, AllPairs):
            raise InputError("the average over rows is for all pairs of rows")
        positive = np.asarray(positive)
        if positive.dtype != bool or positive.shape != (space.n,):
            raise InputError(f"positive must be a boolean array, one entry for {space.n} rows")
        if not positive.any() or positive.all():
            raise InputError("the rows are of one class: pairs need both")
        lam = check_number("lam", lam, closed="low")
        pairs = pairs.on(positive)
        plus, minus = (float(side.sum()) for side in pairs.sides())
        mass = pairs.row_mass()
        means = np.stack([space.X.T @ (mass * side) for side in (~positive, positive)])
        source = Source(space.raw, pairs.weight, None if space.is_sparse else space.offset)
        return cls(space.X, positive, mass, means, plus / (plus + minus), float(lam), source)

    @classmethod
    def of_problem(cls, problem: Problem) -> RowAverage:
        """Return F of a problem with the square loss, or raise `InputError`."""
        if problem.loss != SQUARE:
            raise InputError(f"the square loss is needed here, not {problem.loss.name}")
        if isinstance(problem.pairs, PairList):
            raise InputError("the average over rows is for all pairs, not for a list of pairs")
        if not isinstance(problem.space, Rows):
            raise InputError("the average over rows needs rows: factor the kernel first")
        return cls.of(problem.space, problem.pairs.positive, problem.pairs, problem.lam)

    @property
    def dim(self) -> int:
        """Number of features."""
        return int(self.means.shape[1])

    @property
    def delta(self) -> np.ndarray:
        """Difference of the class means: (d,)."""
        return self.means[1] - self.means[0]

    def part(self, rows: np.ndarray | slice, factor: float) -> RowAverage:
        """Return F with the sum over these rows only, times `factor`.

        The means and the terms without rows stay those of all rows: m parts that share out the
        rows, each with the factor m, have F as their mean, whatever their sizes and even where
        a part lacks a class. The paper's block of b rows has the factor n / b.
        """
        return RowAverage(
            self.X[rows],
            self.positive[rows],
            factor * self.mass[rows],
            self.means,
            self.share,
            self.lam,
        )

    def among(self, columns: np.ndarray) -> RowAverage:
        """Return F of these features alone, an int array in any order."""
        source = self.source
        if source is not None:
            offset = None if source.offset is None else source.offset[columns]
            source = Source(source.X[:, columns], source.weight, offset)
        return RowAverage(
            self.X[:, columns],
            self.positive,
            self.mass,
            self.means[:, columns],
            self.share,
            self.lam,
            source,
        )

    def residuals(self, w: np.ndarray) -> np.ndarray:
        """Return each row's score less the mean score of its class: (n,)."""
        return np.asarray(self.X @ w) - (self.means @ w)[self.positive.astype(int)]

    def value(self, w: np.ndarray) -> float:
        """Return F at `w` (d,), a sum of terms >= 0."""
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
        """Return an upper bound of the largest eigenvalue of the Hessian, 2 M + lam I.

        Dense rows with n + 1 or d up to `DENSE`: the eigenvalue itself, plus its rounding.
        Otherwise by Lanczos' method from a random start, raised so far that by the theorem of
        Kuczynski and Wozniakowski (1992, theorem 4.2) it is too small with chance `FAILURE` only.

        Parameters
        ----------
        rng : Generator
            Draws the start.
        """
        n, d = self.X.shape
        if isinstance(self.X, np.ndarray) and min(n + 1, d) <= DENSE:
            gram = self._gram()
            top = scipy.linalg.eigvalsh(gram, subset_by_index=[len(gram) - 1] * 2)[0]
            return 2 * max(top, 0.0) + self.lam + 2 * gamma(n + 8 * d) * float(np.trace(gram))
        delta = self.delta

        def times(v: np.ndarray) -> np.ndarray:
            return 2 * self.pull(self.mass * self.residuals(v)) + 2 * float(v @ delta) * delta

        return top_eigenvalue(times, d, rng, rank=n + 1) + self.lam

    def _gram(self) -> np.ndarray:
        """Return a matrix of side n + 1 or d, the smaller, with the nonzero eigenvalues of M."""
        n, d = self.X.shape
        delta = self.delta[None]
        block = n if n + 1 < d else max(DENSE, d)
        total = delta.T @ delta if n + 1 >= d else np.zeros(0)
        for start in range(0, n, block):
            some = slice(start, start + block)
            rows = self.X[some] - self.means[self.positive[some].astype(int)]
            rows *= np.sqrt(self.mass[some])[:, None]
            if n + 1 < d:
                rows = np.vstack([rows, delta])
                return rows @ rows.T
            total = total + rows.T @ rows
        return total


def top_eigenvalue(
    times: Callable[[np.ndarray], np.ndarray], dim: int, rng: np.random.Generator, rank: int
) -> float:
    """Return an upper bound of the largest eigenvalue of a semidefinite matrix.

    See `RowAverage.curvature`. Exact to rounding where the steps exhaust the space.

    Parameters
    ----------
    times : function
        Multiplies a vector (dim,) by the matrix.
    dim : int
    rng : Generator
    rank : int
        An upper bound of the matrix's rank.
    """
    wanted = (math.log(1.648 * math.sqrt(dim) / FAILURE) / math.sqrt(SLACK) + 1) / 2
    steps = min(math.ceil(wanted), dim, rank + 1)
    basis = np.zeros((steps, dim))
    diagonal, beside = np.zeros(steps), np.zeros(steps)
    v = rng.standard_normal(dim)
    for t in range(steps):
        basis[t] = v / np.linalg.norm(v)
        v = times(basis[t])
        diagonal[t] = basis[t] @ v
        for _ in range(2):  # two passes are enough to keep the basis orthogonal
            v = v - basis[: t + 1].T @ (basis[: t + 1] @ v)
        beside[t] = np.linalg.norm(v)
        if beside[t] <= 1e-12 * np.abs(diagonal).max():
            steps = t + 1
            break
    top = scipy.linalg.eigvalsh_tridiagonal(diagonal[:steps], beside[: steps - 1]).max()
    exhausted = beside[steps - 1] <= 1e-9 * np.abs(diagonal).max()
    return float(top) * (1 + 1e-9 if exhausted else 1 / (1 - SLACK))
