"""Choosing lam by cross-validated AUC, or concordance, along the path.

The models are proved to be within their radius of the optima, so the AUC on held-out rows that
the exact optima would have is known up to a range: how much of a difference between two lam is
due to the solver is not left open.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from ..classifier.inputs import check_row_weights
from ..errors import InputError
from ..formulation.formulation import Matrix, formulate, kernel_of
from ..formulation.lam_grid import check_lams, lam_grid
from ..formulation.partitioned import beside_rows, dask_too
from ..formulation.penalty_grid import unit_penalty
from ..formulation.request import Request
from ..losses.loss import Loss
from ..pairs.ordered.kinds import as_survival
from ..problem.problem import split_labels
from ..spaces.gram import Gram
from ..spaces.kernel import Kernel
from ..spaces.partitions.partitioned_rows import PartitionedRows
from ..spaces.rows import check_matrix
from ..tools.checks import as_numbers, check_choice, check_tolerance
from ..tools.lossless import check_labels
from .folds import FoldedData, RowOrder, split_rows
from .partitions.folds import judged_partitions
from .paths.judged_folds import FoldedPath, JudgedFold, PairMaker, judged_folds, part_of


@dataclass(frozen=True, eq=False)
class CVPath:
    """Held-out AUC at each lam, by fold; of ordered pairs their concordance, such as Harrell's C.

    Attributes
    ----------
    lams : array (k,)
        Falling.
    fold_auc : array (folds, k)
        AUC of the held-out rows, ties one half.
    fold_low, fold_high : arrays (folds, k)
        Proved bounds of the AUC that the exact optimum has on the same rows; 0 and 1 for the
        lasso, whose optimum may be anywhere.
    fold_gap : array (folds, k)
        Certified relative gaps (NaN where the objective is zero).
    complete : bool
        False where the time ran out: smaller lam are then missing.
    """

    lams: np.ndarray
    fold_auc: np.ndarray
    fold_low: np.ndarray
    fold_high: np.ndarray
    fold_gap: np.ndarray
    complete: bool

    @property
    def mean_auc(self) -> np.ndarray:
        """Mean over the folds: (k,)."""
        return self.fold_auc.mean(axis=0)

    @property
    def standard_error(self) -> np.ndarray:
        """Standard deviation over the folds (divided by folds - 1) over the root of folds: (k,)."""
        folds = self.fold_auc.shape[0]
        return self.fold_auc.std(axis=0, ddof=1) / np.sqrt(folds)

    @property
    def best(self) -> int:
        """Index of the highest mean; of the largest lam where several have it."""
        mean = self.mean_auc
        return int(np.flatnonzero(mean >= mean.max() - 1e-12)[0])

    @property
    def one_standard_error(self) -> int:
        """Index of the largest lam whose mean is within one standard error of the best."""
        least = self.mean_auc[self.best] - self.standard_error[self.best]
        return int(np.flatnonzero(self.mean_auc >= least)[0])

    @property
    def possible(self) -> np.ndarray:
        """Which lam the exact optima could make the best on these folds: bool (k,).

        All others are rejected for certain: their mean is below that of another lam, whatever
        the solver has left open.
        """
        low, high = self.fold_low.mean(axis=0), self.fold_high.mean(axis=0)
        return high >= low.max()

    def lam_of(self, choice: str) -> float:
        """Return the lam of "best" or of "one-se", the one-standard-error rule."""
        chosen = check_choice("choice", choice, CHOICES)
        return float(self.lams[self.best if chosen == "best" else self.one_standard_error])


CHOICES = ("best", "one-se")

# Rows up to which the matrix of a kernel is made once for all folds: 512 MB, and a fold's part.
SHARED_ROWS = 8000


@dask_too
def cross_validated_path(
    X: object,
    y: object,
    lams: object = None,
    *,
    cv: object = 5,
    seed: int = 0,
    n_lams: int = 20,
    pairs: PairMaker | None = None,
    positive: object = None,
    sample_weight: object = None,
    tol: float = 1e-6,
    max_time: float | None = None,
    kernel: str | Kernel = "linear",
    gamma: float | None = None,
    structure: float = 0.0,
    structure_source: str = "full",
    loss: str | Loss = "hinge",
    method: str = "auto",
    qid: object = None,
    time: object = None,
    event: object = None,
    l1_ratio: float = 0.0,
    groups: object = None,
    sign: object = None,
) -> CVPath:
    """Return the AUC of held-out rows at each lam, or the concordance of ordered ones.

    Parameters
    ----------
    X, y, positive
        As in `solve`: two kinds of labels; with `qid` also grades of more kinds; None with `time`.
    lams, n_lams, tol
        As in `regularization_path`; the default grid is that of all rows.
    cv : int, splitter or iterable
        Folds, stratified by the class or by `event`, and shuffled by `seed`; fewer, with a
        warning, where a class or the events have fewer rows; or anything of
        scikit-learn that splits rows; or pairs of index arrays (train, test). Rows in partitions
        take a number of folds: `seed` and the number of a row within its class, or the name of its
        query, tell in which it is, so that the folds are the same however the rows are cut.
    seed : int
        Of the shuffling.
    pairs : callable, optional
        Makes the pairs of a fold from its rows, positive mask and row weights; all pairs by
        default.
    sample_weight : array (n,), optional
        >= 0; a weight means repetition, in training and in the AUC.
    max_time : float, optional
        Seconds for all folds.
    kernel, gamma, structure, structure_source, loss, method, time, event, l1_ratio, groups, sign
        As in `regularization_path`.
    qid : array (n,), optional
        The query of each row: pairs are within a query, in training and in the AUC; a number of
        folds keeps queries whole, and splits that cut one are refused.

    Returns
    -------
    CVPath

    Raises
    ------
    InputError
        If the input cannot be used, or a fold has no pairs.
    KeyboardInterrupt
        After Ctrl-C: some of the folds compare nothing.
    """
    penalty = unit_penalty(l1_ratio, groups, sign)
    parts = (kernel, gamma, structure, structure_source)
    request = Request.of(None, loss, None, None, *parts, penalty=penalty)
    if isinstance(X, PartitionedRows):
        beside_rows(y, positive, sample_weight, pairs)
        if not (qid is None and time is None and event is None):
            raise InputError(
                "what orders rows in partitions lies there: leave qid, time, event out"
            )
        return cross_validate_partitions(X, request, lams, cv, seed, n_lams, method, tol, max_time)
    mask, order = _ordered(y, positive, qid, time, event)
    return cross_validate(
        *(X, mask, request, lams, sample_weight, cv, seed, pairs, n_lams, method, tol, max_time),
        order=order,
    )


def _ordered(
    y: object, positive: object, qid: object, time: object, event: object
) -> tuple[np.ndarray | None, RowOrder | None]:
    """Return the positive rows, where there are two classes, and what orders rows otherwise."""
    if time is None and event is None:
        if qid is None:
            return split_labels(y, positive)[0], None
        queries = check_labels(qid)
        if positive is None and np.unique(check_labels(y)).size > 2:
            return None, RowOrder.of_grades(as_numbers("grade", y), queries)
        mask = split_labels(y, positive)[0]
        return mask, RowOrder.of_classes(mask, queries)
    if time is None:
        raise InputError("event goes with time: give both")
    if not (y is None and qid is None and positive is None):
        raise InputError("survival takes time and event: leave y, qid and positive None")
    times = as_numbers("time", time)
    seen = np.ones(times.shape) if event is None else event
    return None, RowOrder.of_times(*as_survival(times, seen))


def cross_validate(
    X: object,
    positive: np.ndarray | None,
    request: Request,
    lams: object,
    sample_weight: object,
    cv: object,
    seed: int,
    pairs: PairMaker | None,
    n_lams: int = 20,
    method: str = "auto",
    tol: float = 1e-6,
    max_time: float | None = None,
    n_jobs: int | None = None,
    order: RowOrder | None = None,
) -> CVPath:
    """Return what `cross_validated_path` does, for a request at lam = 1 and over any pairs."""
    check_tolerance(tol, max_time)
    start = time.perf_counter()
    rows = check_matrix(X)
    if positive is not None and positive.size != rows.shape[0]:
        raise InputError(f"{rows.shape[0]} rows, but {positive.size} labels")
    weight = check_row_weights(sample_weight, rows.shape[0])
    if order is not None:
        order.check(rows.shape[0])
        if pairs is not None:
            raise InputError("qid makes the pairs: leave pairs out")
    gram = _whole_gram(rows, request)
    if gram is not None and request.gives_matrix:
        rows = gram.K
    data = FoldedData(rows, positive, weight, request.gives_matrix, gram, order)
    splits = split_rows(data, cv, seed)
    for number, (train, test) in enumerate(splits):
        data.check(number, train, test)
    grid = check_lams(lams) if lams is not None else _grid(data, request, pairs, n_lams)
    end = None if max_time is None else start + max_time
    path = FoldedPath(data, request, pairs, grid, method, tol)
    return _collect(grid, judged_folds(splits, path, end, n_jobs))


def _whole_gram(rows: Matrix, request: Request) -> Gram | None:
    """Return the space of the request's kernel on all rows, where its matrix is small enough.

    A matrix that is given is proved to be semidefinite once, and not again in each fold.
    """
    if request.gives_matrix:
        return Gram(rows)
    if request.kernel == "linear" or rows.shape[0] > SHARED_ROWS:
        return None
    return Gram.of_kernel(kernel_of(request, rows), rows)


def cross_validate_partitions(
    rows: PartitionedRows,
    request: Request,
    lams: object,
    cv: object,
    seed: int,
    n_lams: int = 20,
    method: str = "auto",
    tol: float = 1e-6,
    max_time: float | None = None,
) -> CVPath:
    """Return what `cross_validated_path` does for rows in partitions, fold after fold."""
    return _collect(
        *judged_partitions(rows, request, lams, cv, seed, n_lams, method, tol, max_time)
    )


def _collect(grid: np.ndarray, folds: list[JudgedFold]) -> CVPath:
    """Merge the folds, cut to the lam that all of them reached."""
    k = min(fold.auc.size for fold in folds)

    def stacked(name: str) -> np.ndarray:
        return np.array([getattr(fold, name)[:k] for fold in folds])

    auc, low, high, gap = (stacked(name) for name in ("auc", "low", "high", "gap"))
    return CVPath(grid[:k], auc, low, high, gap, complete=k == grid.size)


def _grid(data: FoldedData, request: Request, pairs: PairMaker | None, n_lams: int) -> np.ndarray:
    """Return the default grid of all rows."""
    every = np.arange(data.n)
    rows, labels, asked = part_of(data, every, request, pairs)
    return lam_grid(formulate(rows, labels, asked, held=data.held(every)).work, n_lams)
