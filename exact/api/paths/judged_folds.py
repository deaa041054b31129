"""What one fold of a cross-validation gives: AUC of held-out rows along a path, with its range."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...certificate.certified_order import auc_range, kernel_lengths, score_range
from ...classifier.inputs import Matrix
from ...formulation.request import Request
from ...pairs.all_pairs import AllPairs, PairList
from ...pairs.auc import auc
from ...pairs.ordered.ordered_pairs import OrderedPairs
from ...pairs.statistics.concordance import right_share, share_between
from ...spaces.gram import blocked_product, chain_of
from ...spaces.kernels import Linear
from ...spaces.rows import Rows
from ...tools.rounding import gamma
from ...tools.threads import check_jobs
from ..folds import FoldedData, Splits
from ..path import path_of
from .points import Path

PairMaker = Callable[[Matrix, np.ndarray, np.ndarray | None], AllPairs | PairList]


@dataclass(frozen=True, eq=False)
class FoldedPath:
    """One path, to be solved on each fold."""

    data: FoldedData
    request: Request
    pairs: PairMaker | None
    grid: np.ndarray
    method: str
    tol: float

    def judged(
        self, train: np.ndarray, test: np.ndarray, max_time: float | None = None
    ) -> JudgedFold:
        """Return what the fold of these rows gives, within its share of the time."""
        rows, labels, asked = part_of(self.data, train, self.request, self.pairs)
        path = path_of(
            rows,
            labels,
            asked,
            self.grid,
            method=self.method,
            tol=self.tol,
            max_time=max_time,
            judged=False,
            held=self.data.held(train),
        )
        raise_if_interrupted(path)
        return _judge(path, self.data, train, test)


def judged_folds(
    splits: Splits, path: FoldedPath, end: float | None, n_jobs: int | None
) -> list[JudgedFold]:
    """Return what the folds give, one after another or in several processes."""
    check_jobs(n_jobs)
    if n_jobs is not None and n_jobs != 1:
        return _folds_at_once(splits, path, end, n_jobs)
    folds = []
    for number, (train, test) in enumerate(splits):
        left = None if end is None else end - time.perf_counter()
        share = None if left is None else max(left / (len(splits) - number), 1e-3)
        folds.append(path.judged(train, test, share))
    return folds


@dataclass(frozen=True, eq=False)
class JudgedFold:
    """What one fold gives: (k,) each."""

    auc: np.ndarray
    low: np.ndarray
    high: np.ndarray
    gap: np.ndarray


def raise_if_interrupted(path: Path) -> None:
    """Raise `KeyboardInterrupt` if it ended a fold: the other folds could take long."""
    if path.interrupted:
        raise KeyboardInterrupt


def _folds_at_once(
    splits: Splits, path: FoldedPath, end: float | None, n_jobs: int
) -> list[JudgedFold]:
    """Return what the folds give, solved in several processes."""
    from joblib import Parallel, delayed, effective_n_jobs

    share = None
    if end is not None:
        rounds = -(-len(splits) // effective_n_jobs(n_jobs))
        share = max((end - time.perf_counter()) / rounds, 1e-3)
    judged = delayed(path.judged)
    return list(Parallel(n_jobs)(judged(train, test, share) for train, test in splits))


def part_of(
    data: FoldedData, index: np.ndarray, request: Request, pairs: PairMaker | None
) -> tuple[Matrix, np.ndarray | None, Request]:
    """Return some of the rows, their labels, and the request over their pairs."""
    rows, positive, weight = data.part(index, index)
    within = data.pairs(index)
    if within is not None:
        return rows, positive, replace(request, pairs=within, positive=None)
    assert positive is not None
    made = AllPairs(weight) if pairs is None else pairs(rows, positive, weight)
    return rows, positive, replace(request, pairs=made)


def _judge(path: Path, data: FoldedData, train: np.ndarray, test: np.ndarray) -> JudgedFold:
    """Return the AUC of the held-out rows along the path, with its range at the optima."""
    X, positive, weight = data.part(test, train)
    used = data.used(test)
    diagonal = np.asarray(data.rows[used, used]).ravel() if data.square else None
    scorer, within = _scorer(path, X, data, train, used), data.pairs(test)
    lengths, size = _new_lengths(path, X, diagonal, scorer)
    found = []
    for point in path.points:
        certificate, scores = point.certificate, scorer(point.solution.w)
        error = size * float(np.linalg.norm(point.solution.w, 1))
        ends = None  # without the ridge the optimum may be anywhere
        if certificate.radius is not None:
            ends = score_range(scores, lengths, certificate.radius, error)
        relative = certificate.relative_gap
        gap = np.nan if relative is None else relative
        found.append((*_shares(within, scores, ends, positive, weight), gap))
    shown, least, most, gap = np.array(found).T
    return JudgedFold(shown, least, most, gap)


def _scorer(
    path: Path, X: Any, data: FoldedData, train: np.ndarray, used: np.ndarray
) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function from coordinates to scores of the held-out rows X, numbered `used`."""
    base = path.task.base
    if isinstance(base, Rows) and isinstance(X, np.ndarray):
        centred = X - base.offset  # once for all lam
        return lambda w: centred @ w
    if data.gram is None:
        return lambda w: path.task.evaluate(w, X)
    across = data.gram.K[np.ix_(used, data.used(train))]
    return lambda w: blocked_product(across, w)


def _shares(
    within: OrderedPairs | None,
    scores: np.ndarray,
    ends: tuple[np.ndarray, np.ndarray] | None,
    positive: np.ndarray | None,
    weight: np.ndarray | None,
) -> tuple[float, float, float]:
    """Return the share of right pairs, all or ordered ones, and its bounds between the `ends`."""
    if within is not None:
        share = right_share(within, scores)
        return share, *((0.0, 1.0) if ends is None else share_between(within, *ends))
    assert positive is not None
    share = auc(scores, positive, weight)
    return share, *((0.0, 1.0) if ends is None else auc_range(*ends, positive, weight))


def _new_lengths(
    path: Path, X: Any, diagonal: np.ndarray | None, scorer: Callable[[np.ndarray], np.ndarray]
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
    means, mean = scorer(even), float(base.scores(even).mean())
    if base.kernel is None:
        assert diagonal is not None
        own, noise, chain = diagonal, 0.0, base.n
    else:
        own, noise = base.kernel.diagonal(X), max(base.noise, base.kernel.noise(X))
        chain = chain_of(base.n)
    top = max(float(own.max()), base.reach**2)
    error = (gamma(chain + 8) + noise) * (1 + gamma(base.n + 8)) * top
    return kernel_lengths(own, means, mean, base.n, noise * top), error
