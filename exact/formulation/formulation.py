"""From data to problems: the one that is meant, and the one in rows that solvers work on.

Solvers see rows only: a kernel machine is linear in the right features [ScalingUp, Prop. 3], and
SAUC-SVM is AUC-SVM in whitened features. The certificate is made in the space that was meant.
Equal rows of one class have equal scores, so a group of them is one row of their weight.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..certificate.certificate import Certificate
from ..certificate.solution import Solution, Status
from ..errors import InputError
from ..losses.registry import HINGE, Loss, get_loss
from ..pairs.all_pairs import AllPairs, PairList
from ..pairs.kinds import ordered_pairs_of
from ..pairs.ordered_pairs import OrderedPairs
from ..problem.penalties import Penalty, Ridge, penalty_from
from ..problem.problem import Problem
from ..problem.risk import Mean, Minorant, Scores, Weights
from ..spaces.factor import DENSE_LIMIT, GramFactor, Lift, rows_of, takes_many_features
from ..spaces.gram import BLOCK_BYTES, Gram, blocked_product
from ..spaces.kernels import Kernel, check_kernel, get_kernel
from ..spaces.rows import Rows, Space
from ..structured import Structured, class_scatter, whitened
from ..tools.arrays import check_matrix
from .request import Request

Matrix = np.ndarray | sp.csr_matrix
WORTH = 0.9  # equal rows are merged if at most this share of the rows is left
SAMPLE = 4000  # rows that are checked first: if no two are equal, few of all rows are


@dataclass(frozen=True, eq=False)
class Formulation:
    """The problem meant, the problem that solvers work on, and the way back."""

    meant: Problem
    work: Problem
    lift: Lift = np.copy  # the coordinates in `meant` of those in `work`; by default the same
    factor: GramFactor | None = None  # the features that `work` has of a kernel matrix
    merged: EqualRows | None = None  # the equal rows that `work` takes as one

    @property
    def base(self) -> Space:
        return self.meant.space.unstructured

    def with_penalty(self, penalty: Penalty) -> Formulation:
        """Return the same with another penalty; factor and whitening are shared."""
        work = replace(self.work, penalty=penalty)
        meant = work if self.work is self.meant else replace(self.meant, penalty=penalty)
        return replace(self, work=work, meant=meant)

    def evaluate(self, w: np.ndarray, X: object) -> np.ndarray:
        """Return f at other rows, (m,), from its coordinates w of `meant`."""
        w = self.meant.check_weights(w)
        base: Any = self.base.held or self.base.apart
        gram: Any = self.base.gram
        if base is not None:
            rows = _new_rows(X, base.dim, "features")
            if isinstance(rows, np.ndarray):
                return (rows - base.offset) @ w
            return np.asarray(rows @ w) - float(base.offset @ w)
        if gram.X is None:
            what = "kernel values, one for each training row,"
            return np.asarray(_new_rows(X, gram.n, what) @ w)
        rows, used = _new_rows(X, gram.X.shape[1], "features"), np.flatnonzero(w)
        return kernel_scores(gram.kernel, rows, gram.X[used], w[used])

    def judge(self, solution: Solution, tol: float) -> Solution:
        """Return a solution of `work` as one of `meant`, certified there."""
        if self.work is self.meant:
            return solution
        w, witness = self.lift(solution.w), solution.witness
        if isinstance(witness.evidence, Weights):
            # Weights of `work` need not be weights of `meant`: their scores tell the same in both.
            of, bins = witness.evidence, witness.evidence.bins
            scores = self.work.space.scores(of.w)
            witness = Minorant.from_scores(self.work, scores, 2 * of.half / bins, of.scale)
        if self.merged is not None:
            witness = self.merged.witness(self.meant, witness)
        certificate = Certificate.of(self.meant, w, witness, tol)
        missed = Status.STALLED if solution.status == Status.CERTIFIED else solution.status
        status = Status.CERTIFIED if certificate.reaches(tol) else missed
        return replace(solution, w=w, witness=witness, certificate=certificate, status=status)


def formulate(
    X: object,
    y: object,
    request: Request,
    collapse: bool = False,
    max_time: float | None = None,
    plain_kernel: bool = False,
    held: Gram | None = None,
) -> Formulation:
    """Return the formulation of a data matrix (or a Gram matrix) and its labels. [SAUC, eq. (8),
    eq. (12); ScalingUp, Prop. 3] With `collapse` equal rows are one, with `plain_kernel` a kernel
    of too many features has none; `max_time` bounds making them, and `held` is a kernel's space."""
    if isinstance(X, Space) and X.in_blocks:
        raise InputError(
            "rows in blocks are for the hinge or the squared hinge over all pairs with the ridge, "
            "solved by descent: for anything else, pass the array itself"
        )
    mask, structure = request.mask(y), request.structure
    base: Any = held
    if base is None and request.gives_matrix:
        base = Gram(X)
    elif base is None and request.is_linear:
        base = Rows(X)
    elif base is None:
        matrix = check_matrix(X)
        base = true_space(kernel_of(request, matrix), matrix)
    work = meant = Problem(base, request.risk(mask), request.penalty)
    merged, rows = None, base.raw if request.is_linear else base.X
    every_pair = isinstance(request.pairs, AllPairs) and not request.is_partial
    one_group = request.worst_of is None  # else equal rows may be of two groups
    if collapse and every_pair and one_group and rows is not None and mask is not None:
        merged = equal_rows(rows, mask)
        if merged is not None:  # one row of each group, with the weight of all
            pairs = meant.pairs
            weight = np.ones(mask.size) if pairs.weight is None else pairs.weight
            few = AllPairs(merged.total(weight), pairs.form).on(mask[merged.first])
            work = meant.on_rows(base.part(merged.first), few)
    features = work.space.held
    narrow = features is not None and features.dim <= features.n
    # A penalty other than the ridge acts on the features, so these must stay.
    if not isinstance(request.penalty, Ridge) or (narrow and structure == 0):
        return Formulation(meant, work, merged=merged)
    hinge = isinstance(meant.risk, Mean) and meant.risk.loss == HINGE and mask is not None
    plain = plain_kernel and structure == 0 and merged is None and hinge
    if plain and isinstance(base, Gram) and takes_many_features(base):
        return Formulation(meant, meant)
    lift, factor = np.copy, None
    if features is None or not narrow:
        features, lift, factor = rows_of(work.space, few=structure > 0, max_time=max_time)
    if merged is not None and factor is not None:
        of_each = factor.features[merged.group]  # the factor of all rows
        factor = replace(factor, pivots=merged.first[factor.pivots], features=of_each)
        lift = factor.coefficients
    if structure == 0:
        work = work if features is work.space else work.over(features)
        return Formulation(meant, work, lift, factor, merged)
    white = whitened(features, class_scatter(*_classes(work.pairs)), structure)

    def unwhitened(w: np.ndarray) -> np.ndarray:
        return lift(white.to_input(w))

    seen: Any = white
    if merged is not None:  # scores and pulls of all rows, by one row of each group
        group, total = merged.group, merged.total
        seen = SimpleNamespace(
            scores=lambda w: white.scores(w)[group], pull=lambda c: white.pull(total(c))
        )
    scatter = class_scatter(*_classes(meant.pairs))
    meant = meant.over(Structured(base, scatter, structure, seen, unwhitened))
    return Formulation(meant, work.over(white), unwhitened, factor, merged)


def _classes(pairs: Any) -> tuple[np.ndarray, AllPairs | PairList]:
    """Return the positive rows, and pairs of the classes (or two grades) of the structure."""
    if not isinstance(pairs, OrderedPairs):
        return pairs.positive, pairs
    positive = np.asarray(pairs.key == pairs.key.max())
    sides = [np.ones(pairs.n) if side is None else side for side in (pairs.upper, pairs.lower)]
    return positive, AllPairs(np.where(positive, *sides))


def kernel_of(request: Request, rows: Matrix) -> Kernel:
    kernel = get_kernel(request.kernel, request.gamma, int(rows.shape[1]))
    if kernel is request.kernel:
        check_kernel(kernel, rows)
    return kernel


def true_space(kernel: Kernel, X: object) -> Gram:
    """Return the kernel's own space on the rows: held where it fits, else streamed."""
    matrix = check_matrix(X)
    return Gram.of_kernel(kernel, matrix, held=matrix.shape[0] <= DENSE_LIMIT)


def kernel_scores(kernel: Kernel, X: Matrix, support: Matrix, w: np.ndarray) -> np.ndarray:
    """Return the sums of w k(x, .) over the rows `support`, a block of rows x at a time: (m,)."""
    scores = np.zeros(X.shape[0])
    step = max(1, BLOCK_BYTES // (8 * max(w.size, 1)))
    for start in range(0, X.shape[0] if w.size else 0, step):
        some = slice(start, start + step)
        scores[some] = blocked_product(kernel(X[some], support), w)
    return scores


def _new_rows(X: object, columns: int, what: str) -> Matrix:
    matrix = check_matrix(X)
    if matrix.shape[1] != columns:
        raise InputError(f"{columns} {what} are needed, but the new rows have {matrix.shape[1]}")
    return matrix


def ordered_problem(
    X: object,
    y: object,
    lam: float,
    *,
    loss: str | Loss = "hinge",
    qid: object = None,
    time: object = None,
    event: object = None,
    l1: float = 0.0,
    groups: object = None,
    sign: object = None,
) -> Problem:
    """Return the linear problem over the ordered pairs of these rows.

    Parameters
    ----------
    X : array or sparse matrix (n, d)
    y : array (n,) or None
        Grades, larger is better, for ranking by query; None for survival.
    lam, loss, qid, time, event, l1, groups, sign
        As in `solve`, like the errors; either `qid` or `time`, and all events seen by default.
    """
    pairs = ordered_pairs_of(y, qid, time, event)
    return Problem(Rows(X), Mean(pairs, get_loss(loss)), penalty_from(lam, l1, groups, sign))


@dataclass(frozen=True, eq=False)
class EqualRows:
    first: np.ndarray  # the first row of each group: (k,)
    group: np.ndarray  # the group of each row: (n,)

    def total(self, values: np.ndarray) -> np.ndarray:
        return np.bincount(self.group, values, self.first.size)

    def witness(self, meant: Problem, witness: Minorant) -> Minorant:
        """Return the rows' dual point of one of the groups: marginals are shared out by weight."""
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


def equal_rows(X: Matrix, positive: np.ndarray) -> EqualRows | None:
    """Return the groups of exactly equal rows of one class, or None if merging would not pay."""
    n = positive.size
    if n > 2 * SAMPLE:
        some = np.sort(np.random.default_rng(0).choice(n, SAMPLE, replace=False))
        if np.unique(_hashes(X[some])).size == SAMPLE:
            return None
    few = X[:, :: max(X.shape[1] // 8, 1)] if isinstance(X, np.ndarray) else X  # 8 columns first
    if np.unique(_hashes(few)).size > WORTH * n:
        return None
    hashed = _hashes(X)
    order = np.lexsort((hashed, positive))
    one, other = order[:-1], order[1:]
    # Stable: the first of a run of equal rows is the one with the smallest number.
    same = (hashed[one] == hashed[other]) & (positive[one] == positive[other])
    at, step = np.flatnonzero(same), max(1, 2**22 // X.shape[1])
    for start in range(0, at.size, step):  # equal hashes may be those of different rows
        some = at[start : start + step]
        differs = X[one[some]] != X[other[some]]
        if not isinstance(differs, np.ndarray):
            differs = np.asarray(differs.sum(axis=1)).ravel()[:, None]
        same[some] = ~differs.any(axis=1)
    starts = np.concatenate([[True], ~same])
    if int(starts.sum()) > WORTH * n:
        return None
    first = order[starts]
    by_row = np.argsort(first)
    number = np.argsort(by_row)
    group = np.empty(n, dtype=np.int64)
    group[order] = number[np.cumsum(starts) - 1]
    return EqualRows(first[by_row], group)


def _hashes(X: Matrix) -> np.ndarray:
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
