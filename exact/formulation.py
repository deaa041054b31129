"""From data to problems: the one that is meant, and the one in rows that solvers work on.

A kernel machine is a linear machine in the right features [ScalingUp, Prop. 3], and SAUC-SVM is
AUC-SVM in whitened features. So solvers see rows only, while the certificate is made in the space
that was meant: the true kernel, the structured norm, the original features.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg

from .certificate import Certificate
from .errors import InputError
from .gram import Gram, StreamedGram
from .gram_factor import DENSE_LIMIT, GramFactor, factor_gram, factor_kernel
from .kernels import Kernel, get_kernel
from .losses import Loss, get_loss
from .pairs import AllPairs, PairList
from .problem import Problem, Ridge, split_labels
from .solution import Solution, Status
from .spaces import Rows, Space, check_matrix
from .structure import check_structure, scatter_of, whitened
from .structured import Structured

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
    factor : GramFactor or None
        For kernels: the features and their continuation to other rows.
    """

    meant: Problem
    work: Problem
    lift: Callable[[np.ndarray], np.ndarray]
    factor: GramFactor | None = None

    def judge(self, solution: Solution, tol: float) -> Solution:
        """Return a solution of `work` as one of `meant`, certified there."""
        if self.work is self.meant:
            return solution
        w = self.lift(solution.w)
        certificate = Certificate.of(self.meant, w, solution.witness)
        status = solution.status
        if certificate.reaches(tol):
            status = Status.CERTIFIED
        elif status == Status.CERTIFIED:
            status = Status.STALLED
        return replace(solution, w=w, certificate=certificate, status=status)


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

    Raises
    ------
    InputError
        If the input cannot be used.
    """
    if kernel not in KERNELS:
        raise InputError(f"unknown kernel {kernel!r}: choose one of {', '.join(KERNELS)}")
    mask, _, _ = split_labels(y, positive)
    weight, pairs = check_structure(structure), pairs or AllPairs()
    penalty, chosen = Ridge(lam), get_loss(loss)
    base, rows, lift, factor = _spaces(X, kernel, gamma)
    plain = Problem(base, mask, pairs, chosen, penalty)
    if weight == 0:
        work = plain if rows is base else plain.over(rows)
        return Formulation(plain, work, lift, factor)
    scatter = scatter_of(pairs, mask, structure_source)
    white = whitened(rows, scatter, weight)
    meant = plain.over(Structured(base, scatter, weight))
    return Formulation(meant, plain.over(white), lambda w: lift(white.to_input(w)), factor)


def _spaces(
    X: object, kernel: str, gamma: float | None
) -> tuple[Space, Rows, Callable[[np.ndarray], np.ndarray], GramFactor | None]:
    """Return the true space, rows to work on, the way back, and the factor of a kernel."""
    if kernel == "linear":
        rows = Rows(X)
        if rows.is_sparse or rows.dim <= rows.n:
            return rows, rows, lambda w: w, None
        basis, triangle = scipy.linalg.qr(rows.X.T, mode="economic")
        return rows, Rows(triangle.T), lambda w: basis @ w, None
    if kernel == "precomputed":
        space = Gram(X)
        factor = factor_gram(space.K)
        return space, Rows(factor.features), factor.coefficients, factor
    matrix = check_matrix(X)
    function = get_kernel(kernel, gamma, int(matrix.shape[1]))
    factor = factor_kernel(function, matrix)
    return true_space(function, matrix), Rows(factor.features), factor.coefficients, factor


def true_space(kernel: Kernel, X: object) -> Gram | StreamedGram:
    """Return the kernel's own space on the rows: held where it fits, else streamed."""
    matrix = check_matrix(X)
    if matrix.shape[0] <= DENSE_LIMIT:
        return Gram(kernel(matrix, matrix), check=False)
    return StreamedGram(kernel, matrix)
