"""Equal rows as one row with a weight, and the way back for dual points.

Many equal rows also mean many pairs tied at the margin; in groups the ties are gone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..pairs.all_pairs import AllPairs
from ..problem.minorant import Alpha, Minorant, Scores
from ..problem.problem import Problem
from ..spaces.factor import GramFactor
from ..spaces.gram import Gram
from ..spaces.rows import Rows

Matrix = np.ndarray | sp.csr_matrix
WORTH = 0.9  # groups are used if their number is at most this share of the rows
SAMPLE = 4000  # rows that are checked first: if no two are equal, few of all rows are


@dataclass(frozen=True, eq=False)
class Groups:
    """Equal rows of one class, which have equal scores for any f: a group of them is one row whose
    weight is the sum of theirs. A dual point of the groups gives one of the rows: alpha_ij depends
    on the groups alone, so a group's marginal is shared out by weight."""

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
        if isinstance(evidence, Alpha) or not isinstance(meant.pairs, AllPairs):
            raise InputError("groups of rows have no dual points of pair lists")
        if isinstance(evidence, Scores):
            scores = evidence.scores[self.group]
            return Minorant.from_scores(meant, scores, evidence.width, evidence.scale)
        mass = meant.pairs.row_mass()
        whole = self.total(mass)[self.group]
        share = np.divide(mass, whole, out=np.zeros_like(mass), where=whole > 0)
        c = witness.c[self.group] * share
        u, v = c[meant.pairs.positive], -c[~meant.pairs.positive]
        return Minorant.from_marginals(meant, np.maximum(u, 0.0), np.maximum(v, 0.0))


def equal_rows(X: Matrix, positive: np.ndarray) -> Groups | None:
    """Return the groups of exactly equal rows of one class, or None if merging would not pay."""
    n, some = positive.size, X
    if n > 2 * SAMPLE:
        some = X[np.sort(np.random.default_rng(0).choice(n, SAMPLE, replace=False))]
    different = np.unique(_hashes(some)).size
    if different == SAMPLE if n > 2 * SAMPLE else different > WORTH * n:
        return None
    known: dict[tuple[bool, bytes], int] = {}
    names = zip(positive.tolist(), _digests(X), strict=True)
    group = np.array([known.setdefault(name, len(known)) for name in names])
    if len(known) > WORTH * n:
        return None
    return Groups(np.unique(group, return_index=True)[1], group)


def _hashes(X: Matrix) -> np.ndarray:
    """Return one number per row, nearly always the same for equal rows."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(X @ np.random.default_rng(7).normal(size=X.shape[1]))


def _digests(X: Matrix) -> Iterator[bytes]:
    """Yield what a row is known by; a zero counts as one, of whichever sign."""
    if isinstance(X, np.ndarray):
        for row in X:
            yield blake2b(row + 0.0, digest_size=16).digest()
    else:
        for a, b in pairwise(X.indptr.tolist()):
            held = X.indices[a:b].tobytes() + X.data[a:b].tobytes()
            yield blake2b(held, digest_size=16).digest()
