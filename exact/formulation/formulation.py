"""From data to problems: the one that is meant, and the one in rows that solvers work on.

A kernel machine is a linear machine in the right features [ScalingUp, Prop. 3], and SAUC-SVM is
AUC-SVM in whitened features. So solvers see rows only, while the certificate is made in the space
that was meant: the true kernel, the structured norm, the original features.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

import numpy as np
import scipy.sparse as sp

from ..certificate.certificate import Certificate
from ..certificate.solution import Solution, Status
from ..errors import InputError
from ..losses.loss import Loss
from ..losses.registry import get_loss
from ..pairs.all_pairs import AllPairs, PairList
from ..problem.problem import Problem, Ridge, pair_problem, split_labels
from ..spaces.gram import BLOCK_BYTES, Gram, StreamedGram, blocked_product
from ..spaces.gram_factor import DENSE_LIMIT, GramFactor, Lift, rows_of
from ..spaces.kernels import Kernel, get_kernel
from ..spaces.rows import Rows, check_matrix
from ..structure.scatter import check_structure, scatter_of
from ..structure.structured_norm import Structured, whitened
from .equal_rows import Groups, Spread, equal_rows

KERNELS = ("linear", "rbf", "laplacian", "precomputed")


@dataclass(frozen=True, eq=False)
class Formulation:
    """The problem meant, the problem solved, and the way back.

    Attributes
    ----------
    meant : Problem
        Over the true space; certificates are made here.
    work : Problem
        Over rows; solvers work here.
    lift : callable
        From coordinates of `work` to coordinates of `meant`.
    evaluate : callable
        From coordinates of `meant` and other rows to the scores of those rows.
    factor : GramFactor or None
        For kernels: the features and their continuation to other rows.
    groups : Groups or None
        Where equal rows are one row of `work`.
    """

    meant: Problem
    work: Problem
    lift: Lift
    evaluate: Callable[[np.ndarray, object], np.ndarray]
    factor: GramFactor | None = None
    groups: Groups | None = None

    def scorer(self, w: np.ndarray) -> Callable[[object], np.ndarray]:
        """Return the function f(x) of the coordinates `w` of `meant`, for any rows.

        On the training rows it returns `meant.space.scores(w)`.

        Parameters
        ----------
        w : array
            For features, their weights (d,): f(x) = w'(x - mean of the training rows). For
            kernels, the coefficients (n,): f(x) = sum_i w_i k(x_i, x).

        Returns
        -------
        callable
            Takes new rows (m, d), or for a precomputed kernel k(x, x_i) (m, n), and returns
            their scores (m,).
        """
        weights = self.meant.check_weights(w)
        return lambda X: self.evaluate(weights, X)

    def judge(self, solution: Solution, tol: float) -> Solution:
        """Return a solution of `work` as one of `meant`, certified there."""
        if self.work is self.meant:
            return solution
        w, witness = self.lift(solution.w), solution.witness
        if self.groups is not None:
            witness = self.groups.witness(self.meant, witness)
        certificate = Certificate.of(self.meant, w, witness)
        status = solution.status
        if certificate.reaches(tol):
            status = Status.CERTIFIED
        elif status == Status.CERTIFIED:
            status = Status.STALLED
        return replace(solution, w=w, witness=witness, certificate=certificate, status=status)


def formulate(
    X: object,
    y: object,
    lam: float,
    loss: str | Loss = "hinge",
    pairs: AllPairs | PairList | None = None,
    positive: object = None,
    kernel: str = "linear",
    gamma: float | None = None,
    structure: float = 0.0,
    structure_source: str = "full",
    collapse: bool = False,
    max_time: float | None = None,
) -> Formulation:
    """Return the formulation of a data matrix (or a Gram matrix) and its labels.

    Parameters
    ----------
    X : array or sparse matrix (n, d), or the Gram matrix (n, n) for a precomputed kernel
    y : array (n,)
        Two kinds of labels.
    lam : float
        > 0.
    loss : {"hinge", "squared_hinge", "square"}
    pairs : AllPairs or PairList, optional
        All pairs by default.
    positive : label, optional
        The larger one by default.
    kernel : {"linear", "rbf", "laplacian", "precomputed"}
    gamma : float, optional
        > 0; 1 / d by default.
    structure : float
        >= 0: the weight of SAUC's structure, 0 for none. [SAUC, eq. (8), eq. (12)]
    structure_source : {"full", "sampled"}
        Whether the structure is that of all data or of the listed pairs.
    collapse : bool
        Whether equal rows of one class may become one row of `work`, whose rows then are not
        those of X. Only with all pairs and a kernel of features, and where it pays.
    max_time : float, optional
        Seconds after which the features of a large kernel are no longer refined: what they leave
        out shows in the gap.

    Raises
    ------
    InputError
        If the input cannot be used.
    """
    if kernel not in KERNELS:
        raise InputError(f"unknown kernel {kernel!r}: choose one of {', '.join(KERNELS)}")
    mask, _, _ = split_labels(y, positive)
    weight, pairs = check_structure(structure), pairs or AllPairs()
    scatter = scatter_of(pairs, mask, structure_source)
    penalty, chosen = Ridge(lam), get_loss(loss)
    base, evaluate = _true_space(X, kernel, gamma)
    meant = pair_problem(base, mask, pairs, chosen, penalty)
    groups = None
    if collapse and isinstance(pairs, AllPairs) and kernel != "precomputed":
        groups = equal_rows(base.raw if isinstance(base, Rows) else check_matrix(X), mask)
    small, few = (base, meant) if groups is None else _grouped(groups, meant, base)
    rows, back, factor = rows_of(small, few=weight > 0, max_time=max_time)
    if groups is not None and factor is not None:
        factor = groups.factor(factor)
        back = factor.coefficients
    if weight == 0:
        work = few if rows is few.space else few.over(rows)
        return Formulation(meant, work, back, evaluate, factor, groups)
    white = whitened(rows, scatter_of(few.pairs, few.pairs.positive, structure_source), weight)

    def lift(w: np.ndarray) -> np.ndarray:
        return back(white.to_input(w))

    seen = white if groups is None else cast(Rows, Spread(white, groups))
    structured = Structured(base, scatter, weight, seen, lift)
    return Formulation(meant.over(structured), few.over(white), lift, evaluate, factor, groups)


def _grouped(
    groups: Groups, meant: Problem, base: Rows | Gram | StreamedGram
) -> tuple[Rows | Gram | StreamedGram, Problem]:
    """Return the space and the problem of one row a group."""
    assert isinstance(meant.pairs, AllPairs)
    space = groups.space(base)
    positive = meant.pairs.positive[groups.first]
    return space, meant.on_rows(space, groups.pairs(meant.pairs).on(positive))


def _true_space(
    X: object, kernel: str, gamma: float | None
) -> tuple[Rows | Gram | StreamedGram, Callable[[np.ndarray, object], np.ndarray]]:
    """Return the space meant, and the scores of other rows."""
    if kernel == "linear":
        rows = Rows(X)
        return rows, partial(_linear_scores, rows)
    if kernel == "precomputed":
        gram = Gram(X)
        return gram, partial(_precomputed_scores, gram.n)
    matrix = check_matrix(X)
    function = get_kernel(kernel, gamma, int(matrix.shape[1]))
    return true_space(function, matrix), partial(_kernel_scores, function, matrix)


def true_space(kernel: Kernel, X: object) -> Gram | StreamedGram:
    """Return the kernel's own space on the rows: held where it fits, else streamed."""
    matrix = check_matrix(X)
    if matrix.shape[0] <= DENSE_LIMIT:
        return Gram.of_kernel(kernel, matrix)
    return StreamedGram(kernel, matrix)


def _new_rows(X: object, columns: int, what: str) -> np.ndarray | sp.csr_matrix:
    matrix = check_matrix(X)
    if matrix.shape[1] != columns:
        raise InputError(f"{columns} {what} are needed, but the new rows have {matrix.shape[1]}")
    return matrix


def _linear_scores(space: Rows, w: np.ndarray, X: object) -> np.ndarray:
    rows = _new_rows(X, space.dim, "features")
    if isinstance(rows, np.ndarray):
        return (rows - space.offset) @ w
    return np.asarray(rows @ w) - float(space.offset @ w)


def _precomputed_scores(n: int, w: np.ndarray, X: object) -> np.ndarray:
    rows = _new_rows(X, n, "kernel values, one for each training row,")
    return np.asarray(rows @ w)


def _kernel_scores(
    kernel: Kernel, X: np.ndarray | sp.csr_matrix, w: np.ndarray, new: object
) -> np.ndarray:
    rows = _new_rows(new, int(X.shape[1]), "features")
    used = np.flatnonzero(w)
    scores, m = np.zeros(rows.shape[0]), rows.shape[0]
    if used.size:
        step = max(1, BLOCK_BYTES // (8 * used.size))
        for start in range(0, m, step):
            some = slice(start, start + step)
            scores[some] = blocked_product(kernel(rows[some], X[used]), w[used])
    return scores
