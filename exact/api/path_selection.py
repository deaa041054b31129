"""Choosing lam by cross-validated AUC along the path.

The models are proved to be within their radius of the optima, so the AUC on held-out rows that
the exact optima would have is known up to a range: how much of a difference between two lam is
due to the solver is not left open.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..certificate.certified_order import auc_range, kernel_lengths, score_range
from ..classifier.inputs import Matrix, check_row_weights
from ..errors import InputError
from ..formulation.formulation import formulate
from ..formulation.request import Request
from ..losses.loss import Loss
from ..pairs.all_pairs import AllPairs, PairList
from ..pairs.auc import auc
from ..problem.problem import split_labels
from ..spaces.gram import chain_of
from ..spaces.kernel import Kernel, Linear
from ..spaces.rows import Rows, check_matrix
from ..tools.checks import check_choice
from ..tools.rounding import gamma
from .folds import FoldedData, make_splits
from .path import Path, check_lams, lam_grid, path_of
from .solve import check_tolerance

PairMaker = Callable[[Matrix, np.ndarray, np.ndarray | None], AllPairs | PairList]


@dataclass(frozen=True, eq=False)
class CVPath:
    """Held-out AUC at each lam, by fold.

    Attributes
    ----------
    lams : array (k,)
        Falling.
    fold_auc : array (folds, k)
        AUC of the held-out rows, ties one half.
    fold_low, fold_high : arrays (folds, k)
        Proved bounds of the AUC that the exact optimum has on the same rows.
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
) -> CVPath:
    """Return the AUC of held-out rows at each lam.

    Parameters
    ----------
    X, y, positive
        As in `solve`.
    lams, n_lams, tol
        As in `regularization_path`; the default grid is that of all rows.
    cv : int, splitter or iterable
        Folds, stratified and shuffled by `seed`; or anything of scikit-learn that splits rows; or
        pairs of index arrays (train, test).
    seed : int
        Of the shuffling.
    pairs : callable, optional
        Makes the pairs of a fold from its rows, positive mask and row weights; all pairs by
        default.
    sample_weight : array (n,), optional
        >= 0; a weight means repetition, in training and in the AUC.
    max_time : float, optional
        Seconds for all folds.
    kernel, gamma, structure, structure_source, loss, method
        As in `regularization_path`.

    Returns
    -------
    CVPath

    Raises
    ------
    InputError
        If the input cannot be used, or a fold lacks a class.
    """
    request = Request.of(1.0, loss, None, None, kernel, gamma, structure, structure_source)
    mask, _, _ = split_labels(y, positive)
    return cross_validate(
        X, mask, request, lams, sample_weight, cv, seed, pairs, n_lams, method, tol, max_time
    )


def cross_validate(
    X: object,
    positive: np.ndarray,
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
) -> CVPath:
    """Return what `cross_validated_path` does, for a request at any lam and over any pairs."""
    check_tolerance(tol, max_time)
    start = time.perf_counter()
    rows = check_matrix(X)
    if positive.size != rows.shape[0]:
        raise InputError(f"{rows.shape[0]} rows, but {positive.size} labels")
    weight = check_row_weights(sample_weight, positive.size)
    data = FoldedData(rows, positive, weight, request.gives_matrix)
    splits = make_splits(cv, data.rows, positive, seed)
    for number, split in enumerate(splits):
        data.check(number, *split)
    grid = check_lams(lams) if lams is not None else _grid(data, request, pairs, n_lams)
    folds: list[_Fold] = []
    for number, (train, test) in enumerate(splits):
        share = None
        if max_time is not None:
            left = max_time - (time.perf_counter() - start)
            share = max(left / (len(splits) - number), 1e-3)
        rows, labels, asked = _part(data, train, request, pairs)
        path = path_of(rows, labels, asked, grid, method=method, tol=tol, max_time=share)
        folds.append(_judge(path, data, train, test))
    return _collect(grid, folds)


def _part(
    data: FoldedData, index: np.ndarray, request: Request, pairs: PairMaker | None
) -> tuple[Matrix, np.ndarray, Request]:
    """Return some of the rows, their labels, and the request over their pairs."""
    rows, positive, weight = data.part(index, index)
    made = AllPairs(weight) if pairs is None else pairs(rows, positive, weight)
    return rows, positive, replace(request, pairs=made)


@dataclass(frozen=True, eq=False)
class _Fold:
    """What one fold gives: (k,) each."""

    auc: np.ndarray
    low: np.ndarray
    high: np.ndarray
    gap: np.ndarray


def _collect(grid: np.ndarray, folds: list[_Fold]) -> CVPath:
    """Return the folds as one, as far as all of them came."""
    k = min(fold.auc.size for fold in folds)
    names = ("auc", "low", "high", "gap")
    stacked = [np.array([getattr(fold, name)[:k] for fold in folds]) for name in names]
    return CVPath(grid[:k], *stacked, complete=k == grid.size)


def _grid(data: FoldedData, request: Request, pairs: PairMaker | None, n_lams: int) -> np.ndarray:
    """Return the default grid of all rows."""
    every = np.arange(data.positive.size)
    return lam_grid(formulate(*_part(data, every, request, pairs)).work, n_lams)


def _judge(path: Path, data: FoldedData, train: np.ndarray, test: np.ndarray) -> _Fold:
    """Return the AUC of the held-out rows along the path, with its range at the optima."""
    X, positive, weight = data.part(test, train)
    used = data.used(test)
    diagonal = np.asarray(data.rows[used, used]).ravel() if data.square else None
    lengths, size = _new_lengths(path, X, diagonal)
    found: list[tuple[float, float, float, float]] = []
    for point, scores in zip(path.points, path.scores(X), strict=True):
        certificate = point.certificate
        error = size * float(np.linalg.norm(point.solution.w, 1))
        low, high = score_range(scores, lengths, certificate.radius, error)
        relative = certificate.relative_gap
        found.append(
            (
                auc(scores, positive, weight),
                *auc_range(low, high, positive, weight),
                np.nan if relative is None else relative,
            )
        )
    return _Fold(*np.array(found).T)


def _new_lengths(
    path: Path, X: Any, diagonal: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray | float]:
    """Return |k_x - m| of new rows, and what |w|_1 is multiplied by to bound their rounding."""
    base = path.task.base
    if isinstance(base, Rows):
        lengths = np.sqrt(Linear().diagonal(X)) + float(np.linalg.norm(base.offset))
        if isinstance(X, np.ndarray):
            centred = X - base.offset
            short = np.linalg.norm(centred, axis=1) * (1 + gamma(base.dim + 8))
        else:
            short = lengths * (1 + gamma(base.dim + 8))
        return short, 2 * gamma(base.dim + 8) * lengths
    even = np.full(base.n, 1 / base.n)
    means, mean = path.task.evaluate(even, X), float(base.scores(even).mean())
    if base.kernel is None:
        assert diagonal is not None
        own, noise, chain = diagonal, 0.0, base.n
    else:
        own, noise = base.kernel.diagonal(X), max(base.noise, base.kernel.noise(X))
        chain = chain_of(base.n)
    top = max(float(own.max()), base.reach**2)
    error = (gamma(chain + 8) + noise) * (1 + gamma(base.n + 8)) * top
    return kernel_lengths(own, means, mean, base.n, noise * top), error
