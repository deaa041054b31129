"""Choosing lam by held-out AUC, or concordance; the models' radius bounds that of the optima."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np

from ..certificate.order import auc_of, auc_range, auc_within, kernel_lengths, score_range
from ..errors import InputError, NoPairError, NoRowsError, brief, warn_the_user
from ..estimators.base import check_row_weights
from ..formulation.formulation import formulate, kernel_of
from ..formulation.request import Options, Request, beside_rows, check_request, dask_too
from ..losses.registry import Loss
from ..pairs.all_pairs import AllPairs, PairList
from ..pairs.auc import auc
from ..pairs.concordance import right_share, share_between
from ..pairs.kinds import ordered_pairs_of
from ..pairs.ordered_pairs import OrderedPairs
from ..problem.problem import split_labels
from ..spaces.gram import Gram, blocked_product, chain_of
from ..spaces.kernels import Kernel
from ..spaces.partitions import PartitionedRows
from ..spaces.rows import Rows, check_matrix, partitions_of
from ..tools.arrays import as_float64, check_choice, check_count, check_labels
from ..tools.rounding import gamma
from .path import Path, check_lams, lam_grid, partitioned_grid, path_of, unit_penalty

Splits = Sequence[tuple[np.ndarray, np.ndarray]]
PairMaker = Callable[[Any, np.ndarray, np.ndarray | None], AllPairs | PairList]
CHOICES = ("best", "one-se")
SHARED_ROWS = 8000  # rows up to which the matrix of a kernel is made once for all folds: 512 MB


@dataclass(frozen=True, eq=False)
class CVPath:
    """Held-out AUC at each lam, by fold; of ordered pairs their concordance, as Harrell's C.

    Attributes
    ----------
    lams : array (k,), falling
    fold_auc : array (folds, k)
        AUC of the held-out rows, ties one half.
    fold_low, fold_high : arrays (folds, k)
        Proved bounds of the AUC that the exact optimum has there; 0 and 1 for the lasso.
    fold_gap : array (folds, k)
        Certified relative gaps (NaN where the objective is zero).
    complete : bool
        False if the time ran out: smaller lam are then missing.
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
        return self.fold_auc.std(axis=0, ddof=1) / np.sqrt(self.fold_auc.shape[0])

    @property
    def best(self) -> int:
        """Index of the highest mean; of the largest lam if several have it."""
        mean = self.mean_auc
        return int(np.flatnonzero(mean >= mean.max() - 1e-12)[0])

    @property
    def one_standard_error(self) -> int:
        """Index of the largest lam whose mean is within one standard error of the best."""
        least = self.mean_auc[self.best] - self.standard_error[self.best]
        return int(np.flatnonzero(self.mean_auc >= least)[0])

    @property
    def possible(self) -> np.ndarray:
        """Which lam the exact optima could make the best on these folds: bool (k,). For any other,
        some lam has a larger mean wherever the optima lie in their ranges."""
        return self.fold_high.mean(axis=0) >= self.fold_low.mean(axis=0).max()

    def lam_of(self, choice: str) -> float:
        """Return the lam of "best" or of "one-se", the one-standard-error rule."""
        chosen = check_choice("choice", choice, CHOICES)
        return float(self.lams[self.best if chosen == "best" else self.one_standard_error])


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
    X, y, positive, sample_weight, kernel, gamma, structure, loss, method, qid, time, event
        As in `solve`; weights and queries count in the AUC, too.
    lams, n_lams, tol, l1_ratio, groups, sign
        As in `regularization_path`; the default grid is that of all rows.
    cv, seed : int, splitter or iterable; int
        A number of folds, stratified by the class or by `event` and shuffled by `seed`, that keep
        queries whole; a class or events of fewer rows reduce it, with a warning. Or a splitter of
        scikit-learn, or pairs of index arrays (train, test); those that cut a query are refused.
        For rows in partitions only a number; the folds do not depend on how the rows are cut.
    pairs : callable, optional
        Makes a fold's pairs from its rows, positive mask and row weights; all pairs by default.
    max_time : float, optional
        Seconds for all folds.

    Raises
    ------
    InputError
        If the input cannot be used, or a fold has no pairs.
    KeyboardInterrupt
        After Ctrl-C: an incomplete set of folds is not comparable.
    """
    unit = unit_penalty(l1_ratio, groups, sign)
    request = Request.of(None, loss, penalty=unit, kernel=kernel, gamma=gamma, structure=structure)
    options = Options(method=method, tol=tol, max_time=max_time)
    data: Any = partitions_of(X)
    if data is not None:
        beside_rows(y, positive, sample_weight, pairs)
        if not (qid is None and time is None and event is None):
            raise InputError("partitions hold their order: leave qid, time, event out")
    elif qid is None and time is None and event is None:
        mask = split_labels(y, positive)[0]
        data = FoldedData(X, mask, request, sample_weight, pairs)
    else:
        if time is not None and positive is not None:
            raise InputError("survival takes time and event: leave positive None")
        mask, grades, seen = None, y, None
        if qid is not None and (positive is not None or np.unique(check_labels(y)).size <= 2):
            mask = split_labels(y, positive)[0]
            grades = mask.astype(float)
        order = ordered_pairs_of(grades, qid, time, event, sample_weight)
        if time is not None:
            seen = np.ones(order.n) if event is None else as_float64(event, "event")
        data = FoldedData(X, mask, request, sample_weight, pairs, order, seen)
    return cross_validate(data, request, options, lams, n_lams, cv, seed)


def cross_validate(
    data: FoldedData | PartitionedRows,
    request: Request,
    options: Options,
    lams: object,
    n_lams: int,
    cv: object,
    seed: int,
) -> CVPath:
    """Return what `cross_validated_path` does, for a request at lam = 1."""
    from joblib import Parallel, delayed, effective_n_jobs

    end = None if options.max_time is None else time.perf_counter() + options.max_time
    folds: Any
    if isinstance(data, FoldedData):
        folds = [HeldFold(data, *map(data.used, fold)) for fold in split_rows(data, cv, seed)]
        count = len(folds)
        grid = data.grid(request, n_lams) if lams is None else check_lams(lams)
    else:
        check_request(request)
        if not isinstance(cv, int | np.integer):
            raise InputError(f"rows in partitions take a number of folds (cv), not {brief(cv)}")
        count = check_count("cv", cv, 2)
        folds = _parts(data, count, seed)  # each is cut when the one before is done
        grid = partitioned_grid(data, n_lams) if lams is None else check_lams(lams)
    jobs = 1 if options.n_jobs is None else effective_n_jobs(options.n_jobs)

    def asked(number: int) -> Options:
        """One fold after the other has its share of the time that is left."""
        rounds = count - number if jobs == 1 else -(-count // jobs)
        left = None if end is None else max((end - time.perf_counter()) / rounds, 1e-3)
        return replace(options, max_time=left)

    found = Parallel(jobs, pre_dispatch="all")(
        delayed(_judged)(fold, request, grid, asked(number)) for number, fold in enumerate(folds)
    )
    k = min(fold.shape[1] for fold in found)
    shown, low, high, gap = np.array([fold[:, :k] for fold in found]).swapaxes(0, 1)
    return CVPath(grid[:k], shown, low, high, gap, complete=k == grid.size)


def _judged(
    fold: HeldFold | ApartFold, request: Request, grid: np.ndarray, options: Options
) -> np.ndarray:
    """Return AUC, its least and its largest at the optimum, and the gap at each lam: (4, k)."""
    path = fold.path(request, grid, options)
    if path.interrupted:
        raise KeyboardInterrupt  # the other folds could take long
    gaps = np.array([point.certificate.relative_gap for point in path.points], dtype=float)
    return np.vstack([np.array(list(fold.shares(path))).T, gaps])  # None becomes NaN


class ApartFold(NamedTuple):
    """A fold of rows in partitions: the path over the training rows, and what it is worth."""

    train: PartitionedRows
    test: PartitionedRows

    def path(self, request: Request, grid: np.ndarray, options: Options) -> Path:
        return path_of(self.train, None, request, grid, 0, options, judged=False)

    def shares(self, path: Path) -> Iterator[tuple[float, float, float]]:
        """Yield the AUC of the held-out rows at each lam, and its range."""
        for point in path.points:
            w, radius = point.solution.w, point.certificate.radius
            yield auc_of(self.test, w), *auc_within(self.test, w, float(radius))


def _parts(rows: PartitionedRows, folds: int, seed: int) -> Iterator[ApartFold]:
    """Yield the folds; those of two classes have the same number of each, or one less."""
    cut, classes = rows.folds(folds, seed), rows.grouped is None
    lacking = "training or held-out rows of one class only" if classes else "no pair of rows"
    for number in range(folds):
        try:
            train, test = next(cut)
            if classes and not all((part.facts.mass > 0).all() for part in (train, test)):
                raise NoRowsError(lacking)
        except (NoRowsError, NoPairError):
            raise InputError(f"fold {number} has {lacking}: use fewer folds") from None
        yield ApartFold(train, test)


class HeldFold(NamedTuple):
    """The same for rows in memory: the numbers of training and of held-out rows."""

    data: FoldedData
    train: np.ndarray
    test: np.ndarray

    def path(self, request: Request, grid: np.ndarray, options: Options) -> Path:
        asked, held = self.data.asked(self.train, request), self.data.held(self.train)
        return path_of(*asked, grid, 0, options, judged=False, held=held)

    def shares(self, path: Path) -> Iterator[tuple[float, float, float]]:
        data: Any = self.data
        X, positive, weight = data.part(self.test, self.train)
        within = data.pairs(self.test)
        if path.task.base.held is not None:
            rows = Rows(X, check=False)  # at any offset: pairs cancel it
            scorer, lengths, error_of = rows.scores, rows.norms, rows.score_error
        else:
            scorer, lengths, error_of = self._by_kernel(path, X)
        for point in path.points:
            w, radius = point.solution.w, point.certificate.radius
            scores = scorer(w)
            share = auc(scores, positive, weight) if within is None else right_share(within, scores)
            if radius is None:  # without the ridge the optimum may be anywhere
                yield share, 0.0, 1.0
                continue
            ends = score_range(scores, lengths, radius, error_of(w))
            if within is None:
                yield share, *auc_range(*ends, positive, weight)
            else:
                yield share, *share_between(within, *ends)

    def _by_kernel(self, path: Path, X: Any) -> tuple[Any, np.ndarray, Any]:
        """Return what scores the held-out rows X, their |k_x - m|, and what bounds the rounding."""
        base, data = path.task.base.gram, self.data
        assert base is not None
        scorer: Any = partial(path.task.evaluate, X=X)
        if data.gram is not None:
            scorer = partial(blocked_product, data.gram.K[np.ix_(self.test, self.train)])
        even = np.full(base.n, 1 / base.n)
        means, mean = scorer(even), float(base.scores(even).mean())
        if base.kernel is None:
            own, noise, chain = np.diag(data.rows)[self.test], 0.0, base.n
        else:
            own, noise = base.kernel.diagonal(X), max(base.noise, base.kernel.noise(X))
            chain = chain_of(base.n)
        top = max(float(own.max()), base.reach**2)
        error = (gamma(chain + 8) + noise) * (1 + gamma(base.n + 8)) * top
        lengths = kernel_lengths(own, means, mean, base.n, noise * top)
        return scorer, lengths, lambda w: error * float(np.linalg.norm(w, 1))


class FoldedData:
    """Checked rows, labels and weights, to be cut into folds. `order` are the pairs of all rows,
    with `event` those of survival. Parts are named by their rows of positive weight: see `used`."""

    def __init__(
        self,
        X: object,
        positive: np.ndarray | None,
        request: Request,
        sample_weight: object = None,
        pairs: PairMaker | None = None,
        order: OrderedPairs | None = None,
        event: np.ndarray | None = None,
    ):
        rows: Any = check_matrix(X)
        n, self.weight = rows.shape[0], check_row_weights(sample_weight, rows.shape[0])
        if positive is not None and positive.size != n:
            raise InputError(f"{n} rows, but {positive.size} labels")
        if order is not None and order.n != n:
            raise InputError(f"{n} rows, but {order.n} grades or times")
        if order is not None and pairs is not None:
            raise InputError("qid makes the pairs: leave pairs out")
        self.gram: Gram | None = None
        if request.gives_matrix:
            self.gram = Gram(rows)
            rows = self.gram.K
        elif request.kernel != "linear" and n <= SHARED_ROWS:
            self.gram = Gram.of_kernel(kernel_of(request, rows), rows)
        self.rows, self.positive, self.order, self.event = rows, positive, order, event
        self.maker = pairs
        self.queries = None if order is None or event is not None else order.group

    def grid(self, request: Request, n_lams: int) -> np.ndarray:
        every = self.used(np.arange(self.rows.shape[0]))
        task = formulate(*self.asked(every, request), held=self.held(every))
        return lam_grid(task.work, n_lams)

    def part(self, index: np.ndarray, columns: np.ndarray) -> tuple[Any, Any, Any]:
        """Return the named rows, labels and weights; of a Gram matrix these columns."""
        rows = self.rows[index]
        if self.gram is not None and self.gram.kernel is None:
            rows = rows[:, columns]
        positive, weight = (None if x is None else x[index] for x in (self.positive, self.weight))
        return rows, positive, weight

    def held(self, index: np.ndarray) -> Gram | None:
        return None if self.gram is None else self.gram.part(index)

    def used(self, index: np.ndarray) -> np.ndarray:
        """Return the rows of positive weight among `index`."""
        return index if self.weight is None else index[self.weight[index] > 0]

    def pairs(self, index: np.ndarray) -> OrderedPairs | None:
        """Return the ordered pairs of the named rows; None for all pairs of classes."""
        return None if self.order is None else self.order.among(index)

    def asked(self, index: np.ndarray, request: Request) -> tuple[Any, np.ndarray | None, Request]:
        rows, positive, weight = self.part(index, index)
        within = self.pairs(index)
        if within is not None:
            return rows, positive, replace(request, pairs=within, positive=None)
        made = AllPairs(weight) if self.maker is None else self.maker(rows, positive, weight)
        return rows, positive, replace(request, pairs=made)

    def check(self, number: int, train: np.ndarray, test: np.ndarray) -> None:
        train, test = self.used(train), self.used(test)
        if not (train.size and test.size):
            raise InputError(f"fold {number} has no training rows, or none that are held out")
        if self.order is None:
            assert self.positive is not None
            for name, part in (("training", train), ("held-out", test)):
                if np.unique(self.positive[part]).size < 2:
                    raise InputError(
                        f"fold {number} has {name} rows of one class only: use fewer folds, or "
                        "stratified ones"
                    )
            return
        lacking = "two comparable rows"
        if self.queries is not None:
            lacking = "query with rows of different grades"
            cut = np.isin(self.queries[train], self.queries[test])
            if cut.any():
                raise InputError(
                    f"fold {number} splits the query of row {train[int(cut.argmax())]} apart: give "
                    "a splitter that keeps groups whole, or a number of folds"
                )
        try:
            for part in (train, test):
                self.pairs(part)
        except NoPairError:
            raise InputError(f"fold {number} has no {lacking}: use fewer folds") from None


def split_rows(data: FoldedData, cv: object, seed: int) -> Splits:
    if data.event is None:
        splits = make_splits(cv, data.rows, data.positive, seed, data.queries)
    elif not isinstance(cv, int | np.integer):
        splits = _splits(cv, data.rows, data.event.astype(int))
    else:
        splits = _by_events(data, cv, seed)
    for number, (train, test) in enumerate(splits):
        data.check(number, train, test)
    return splits


def _by_events(data: FoldedData, cv: int | np.integer, seed: int) -> Splits:
    """Return at most so many folds, each with comparable rows where fewer folds have them."""
    from sklearn.model_selection import KFold, StratifiedKFold

    assert data.event is not None
    event, splits = data.event.astype(int), []
    seen = int(event.sum())
    why = f"there are {event.size} rows, {seen} of them with an event"
    count = _at_most(cv, min(seen, event.size // 2), why)
    for folds in range(count, 1, -1):
        kind = StratifiedKFold if min(seen, event.size - seen) >= folds else KFold
        splits = _splits(kind(folds, shuffle=True, random_state=seed), data.rows, event)
        try:
            for split in splits:
                data.check(0, *split)
        except InputError:
            continue
        if folds < count:
            warn_the_user(
                f"of {count} folds one would have no two comparable rows: {folds} are made"
            )
        break
    return splits


def make_splits(
    cv: object, X: Any, positive: np.ndarray | None, seed: int, queries: np.ndarray | None = None
) -> Splits:
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    labels = np.zeros(X.shape[0], dtype=int) if positive is None else positive.astype(int)
    if isinstance(cv, int | np.integer):
        if positive is not None:
            smaller = int(min(positive.sum(), (~positive).sum()))
            cv = _at_most(cv, smaller, f"the smaller class has {smaller} rows")
        if queries is not None and (kinds := np.unique(queries).size) < check_count("cv", cv, 2):
            raise InputError(f"cv = {cv}, but there are {kinds} queries: use at most {kinds} folds")
        kind: Any = StratifiedKFold if queries is None else StratifiedGroupKFold
        cv = kind(int(cv), shuffle=True, random_state=seed)
    return _splits(cv, X, labels, queries)


def _at_most(cv: int | np.integer, most: int, why: str) -> int:
    check_count("cv", cv, 2)
    if most < 2:
        raise InputError(f"cv = {cv}, but {why}: they make no two folds")
    if most < cv:
        warn_the_user(f"cv = {cv}, but {why}: {most} folds are made")
    return min(int(cv), most)


def _splits(cv: object, X: Any, labels: np.ndarray, queries: np.ndarray | None = None) -> Splits:
    from sklearn.model_selection import check_cv

    takes = hasattr(cv, "split") or hasattr(cv, "__iter__")
    if cv is None or isinstance(cv, str | np.ndarray) or not takes:
        raise InputError(f"cv must be a number of folds, a splitter or splits, not {brief(cv)}")
    found = check_cv(cast(Iterable[Any], cv)).split(X, labels, queries)
    splits = [(np.asarray(a), np.asarray(b)) for a, b in found]
    if len(splits) < 2:
        raise InputError("cv must give at least two folds")
    return splits
