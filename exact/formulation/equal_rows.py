"""Equal rows as one row with a weight, and the way back for dual points.

Rows of one class that are equal have equal scores for any f, so a group of them is one row
whose weight is the sum of theirs: the objective is the same function of f. A dual point of the
groups gives one of the rows: alpha_ij depends on the groups alone, so a group's marginal is shared
out by weight. Many equal rows also mean many pairs tied at the margin; in groups the ties are gone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..pairs.all_pairs import AllPairs
from ..problem.problem import Problem
from ..problem.risk import Minorant, Scores
from ..spaces.factor import GramFactor
from ..spaces.gram import Gram
from ..spaces.rows import Rows

WORTH = 0.9  # groups are used if their number is at most this share of the rows
SAMPLE = 4000  # rows that are checked first: if no two are equal, few of all rows are


@dataclass(frozen=True, eq=False)
class Groups:
    """Equal rows of one class."""

    first: np.ndarray
    group: np.ndarray

    def total(self, values: np.ndarray) -> np.ndarray:
        """Return the sums over the groups: (k,), from values (n,)."""
        return np.bincount(self.group, values, self.first.size)

    def problem(self, meant: Problem, space: Rows | Gram) -> Problem:
        """Return the problem of one row per group, with the weights that its rows have together."""
        pairs: AllPairs = meant.pairs
        weight = np.ones(self.group.size) if pairs.weight is None else pairs.weight
        few = AllPairs(self.total(weight), pairs.form).on(pairs.positive[self.first])
        return meant.on_rows(space.part(self.first), few)

    def factor(self, factor: GramFactor) -> GramFactor:
        """Return the factor of the groups' kernel matrix as one of all rows."""
        features = factor.features[self.group]
        return GramFactor(self.first[factor.pivots], factor.L, features, factor.residual)

    def witness(self, meant: Problem, witness: Minorant) -> Minorant:
        """Return the rows' dual point of a dual point of the groups. Scores go to every row of a
        group; marginals are shared out in proportion to weights."""
        evidence = witness.evidence
        if isinstance(evidence, Scores):
            scores = evidence.scores[self.group]
            return Minorant.from_scores(meant, scores, evidence.width, evidence.scale)
        mass = meant.pairs.row_mass()
        whole = self.total(mass)[self.group]
        share = np.divide(mass, whole, out=np.zeros_like(mass), where=whole > 0)
        c = witness.c[self.group] * share
        u, v = c[meant.pairs.positive], -c[~meant.pairs.positive]
        return Minorant.from_marginals(meant, np.maximum(u, 0.0), np.maximum(v, 0.0))


class Spread:
    """Scores and pulls of all rows, computed by a space that holds one row of each group."""

    def __init__(self, space: Rows, groups: Groups):
        self.space, self.groups = space, groups
        self.n, self.dim = groups.group.size, space.dim

    def scores(self, w: np.ndarray) -> np.ndarray:
        """Return the scores: (n,)."""
        return self.space.scores(w)[self.groups.group]

    def pull(self, c: np.ndarray) -> np.ndarray:
        """Return the pull of row weights c (n,): (dim,)."""
        return self.space.pull(self.groups.total(c))


def equal_rows(X: np.ndarray | sp.csr_matrix, positive: np.ndarray) -> Groups | None:
    """Return the groups of exactly equal rows of one class, or None if merging would not pay."""
    n = positive.size
    if n > 2 * SAMPLE:
        some = np.sort(np.random.default_rng(0).choice(n, SAMPLE, replace=False))
        if np.unique(_hashes(X[some])).size == SAMPLE:
            return None
    # 8: columns hashed first: rows that differ there differ
    few = X[:, :: max(X.shape[1] // 8, 1)] if isinstance(X, np.ndarray) else X
    if np.unique(_hashes(few)).size > WORTH * n:
        return None
    hashed = _hashes(X)
    order = np.lexsort((hashed, positive))
    one, other = order[:-1], order[1:]
    # Stable: the first of a run of equal rows is the one with the smallest number.
    same = (hashed[one] == hashed[other]) & (positive[one] == positive[other])
    at = np.flatnonzero(same)
    same[at] = _equal(X, one[at], other[at])
    starts = np.concatenate([[True], ~same])
    if int(starts.sum()) > WORTH * n:
        return None
    first = order[starts]
    by_row = np.argsort(first)
    number = np.argsort(by_row)
    group = np.empty(n, dtype=np.int64)
    group[order] = number[np.cumsum(starts) - 1]
    return Groups(first[by_row], group)


def _hashes(X: np.ndarray | sp.csr_matrix) -> np.ndarray:
    """Return one number per row, the same for equal rows: a product, its sums in one order."""
    factors = np.random.default_rng(7).normal(size=X.shape[1])
    if not isinstance(X, np.ndarray):
        return np.asarray(X @ factors)
    hashed = np.zeros(X.shape[0])
    with np.errstate(over="ignore", invalid="ignore"):
        # Not by a matrix product, which adds up as it likes.
        for column, factor in zip(X.T, factors, strict=True):
            hashed += column * factor
    return hashed


def _equal(X: np.ndarray | sp.csr_matrix, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return whether the named rows are equal, pair by pair."""
    if one.size == 0:
        return np.zeros(0, dtype=bool)
    found = np.empty(one.size, dtype=bool)
    step = max(1, 2**22 // X.shape[1])
    for start in range(0, one.size, step):
        some = slice(start, start + step)
        differs = X[one[some]] != X[other[some]]
        if not isinstance(differs, np.ndarray):
            differs = np.asarray(differs.sum(axis=1)).ravel()[:, None]
        found[some] = ~differs.any(axis=1)
    return found
