"""What the online methods share: rows, draws, runs, and the estimators with `partial_fit`.

SPAM, SOLAM and FSAUC, which see one row at a time, are not solvers of a `Problem`: theirs is a
`ConvexSquare`; to evaluate a point costs as much as a pass, so the last point is returned; and a
run can go on with rows that come later, so that its state, the walk, outlives the solver.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass, field, fields
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.multiclass import check_classification_targets

from ..exact.certificate.certificate import Certificate
from ..exact.certificate.solution import Status
from ..exact.errors import InputError, OverflowingError
from ..exact.estimators.base import AUCClassifier, Matrix, Progress, TrainingRows, draw_seed
from ..exact.estimators.thresholds import get_rule
from ..exact.spaces.rows import LARGEST_REACH
from ..exact.square_loss.convex_square import ConvexSquare, Judged
from ..exact.square_loss.row_average import RowAverage
from ..exact.tools.arrays import (
    as_float64,
    check_choice,
    check_count,
    check_labels,
    check_number,
    out_of_range,
)
from ..exact.tools.rounding import UNIT, Bound
from ..exact.tools.threads import small_in_one_thread

PROVED = 1e-9  # largest gap at which the features are called proved; the scale is F(0) = 1
LARGEST = 1e60  # number in the rows: steps and proofs for the square loss take fourth powers

Look = Callable[["Pass"], object]


class RowArrays(NamedTuple):
    """Rows for compiled loops: entry k of row i, lo <= k < hi, has column indices[k - base].

    lo and hi are indptr[i] and indptr[i + 1]; base is lo where all rows share one list of columns
    (dense) and zero else (CSR).
    """

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    dense: bool

    @classmethod
    def of(cls, X: np.ndarray | sp.csr_matrix) -> RowArrays:
        """Return the arrays of a checked matrix; duplicate entries of a CSR one are summed."""
        n, d = X.shape
        if isinstance(X, np.ndarray):
            data = np.ascontiguousarray(X, dtype=float).ravel()
            return cls(data, np.arange(d, dtype=np.uint32), np.arange(n + 1) * d, True)
        matrix = sp.csr_matrix(X)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        # Without a sign the compiled loops need not ask whether a column counts from the end.
        columns = matrix.indices.astype(np.uint32)
        return cls(np.asarray(matrix.data), columns, matrix.indptr.astype(np.int64), False)

    @property
    def longest(self) -> float:
        """The largest Euclidean norm of a row."""
        if self.data.size == 0:
            return 0.0
        squares = np.append(np.square(self.data), 0.0)
        sums = np.add.reduceat(squares, self.indptr[:-1])
        return float(np.sqrt(sums[np.diff(self.indptr) > 0].max(initial=0.0)))


def from_rows(X: np.ndarray | sp.csr_matrix, positive: np.ndarray) -> RowAverage:
    """Return the mean square loss over all pairs with the rows as they are, not centred.

    The loss does not depend on the origin, but the path of an online method does, and one that
    sees a row at a time cannot centre.
    """
    n_pos = int(positive.sum())
    if not 0 < n_pos < positive.size:
        raise InputError("the rows are of one class: pairs need both")
    if abs(X).max() > LARGEST:
        raise out_of_range(X, "so large that their powers overflow")
    mass = np.where(positive, 1 / n_pos, 1 / (positive.size - n_pos))
    means = np.stack([np.asarray(X.T @ (mass * side)) for side in (~positive, positive)])
    return RowAverage(X, positive, mass, means, n_pos / positive.size)


def draw_rows(loss: RowAverage, rng: np.random.Generator, size: int) -> np.ndarray:
    """Return `size` rows drawn with replacement, in proportion to their weights."""
    chance = loss.mass * np.where(loss.positive, loss.share, 1 - loss.share)
    if np.ptp(chance) <= 1e-12 * chance.max():
        return rng.integers(chance.size, size=size)
    return rng.choice(chance.size, size=size, p=chance / chance.sum())


def start_at(w0: np.ndarray | None, dim: int) -> np.ndarray:
    """Return a fresh copy of the start, zero by default, or raise `InputError`."""
    if w0 is None:
        return np.zeros(dim)
    w = np.array(as_float64(w0, "w0"))
    if w.shape != (dim,) or not np.isfinite(w).all():
        raise InputError(f"w0 must be {dim} finite numbers")
    return w


@dataclass(frozen=True)
class Pass:
    """One line of history: after n_iter steps; objective and gap as in `OnlineSolution`."""

    n_iter: int
    seconds: float
    objective: float
    gap: float


@dataclass(frozen=True, eq=False)
class OnlineSolution:
    """What an online method returns."""

    w: np.ndarray
    objective: float
    gap: float
    n_iter: int
    seconds: float
    history: list[Pass] = field(default_factory=list)
    status: Status = Status.ITERATION_LIMIT
    certificate: Certificate | None = None
    as_saved: bool = field(default=False, init=False, compare=False)


def run_passes(
    problem: ConvexSquare,
    walk: Iterator[tuple[int, np.ndarray]],
    callback: Look | None,
    max_time: float | None = None,
) -> OnlineSolution:
    """Run a method to its end and judge its answer."""
    history: list[Pass] = []
    certificate: Certificate | None = None
    seconds, n_iter, w = 0.0, 0, np.zeros(problem.loss.dim)
    status = Status.ITERATION_LIMIT
    start = time.perf_counter()
    for n_iter, w in walk:
        seconds += time.perf_counter() - start
        if callback is not None:
            line, certificate = _judge(problem, w, n_iter, seconds)
            history.append(line)
            callback(history[-1])
        if max_time is not None and seconds > max_time:
            status = Status.TIME_LIMIT
            break
        start = time.perf_counter()
    if certificate is None:
        line, certificate = _judge(problem, w, n_iter, seconds)
        history.append(line)
    last = history[-1]
    return OnlineSolution(
        w, last.objective, last.gap, n_iter, seconds, history, status, certificate
    )


def _judge(
    problem: ConvexSquare, w: np.ndarray, n_iter: int, seconds: float
) -> tuple[Pass, Certificate]:
    with np.errstate(over="ignore", invalid="ignore"):
        judged = problem.judged(w)
    if not np.isfinite(judged.value):
        raise OverflowingError("the steps diverged: take a shorter step, or scale the features")
    line = Pass(n_iter, seconds, float(judged.value), judged.gap)
    return line, certificate_of(problem, judged)


def certificate_of(problem: ConvexSquare, judged: Judged) -> Certificate:
    """Return the certificate of weights that were judged; outside a ball its primal is infinite."""
    inside = np.isfinite(judged.error)
    value, error = (judged.value, judged.error) if inside else (np.inf, 0.0)
    l2 = float(problem.loss.lam)
    above, below = Bound(float(value), error * (1 + 2 * UNIT)), Bound(float(judged.lower), 0.0)
    return Certificate.from_bounds(above, below, l2, problem.in_words)


def check_step(step: object) -> None:
    """Raise `InputError` unless `step` is "auto" or a number > 0."""
    if isinstance(step, str):
        check_choice("step (other than a number > 0)", step, ("auto",))
    else:
        check_number("step", step)


class RowWalk(ABC):
    """The state of a run, and its steps on the rows of the loss that it visits."""

    loss: RowAverage
    rows: RowArrays
    n_iter: int

    def visit(self, loss: RowAverage) -> None:
        """Take the rows of another loss from here on."""
        self.loss, self.rows = loss, RowArrays.of(loss.X)

    @abstractmethod
    def take(self, order: np.ndarray) -> None:
        """Make one step for each row of `order`, an int array (m,)."""

    @property
    @abstractmethod
    def answer(self) -> np.ndarray:
        """The weights that the method returns after the steps made so far: (d,)."""


class RowMethod(ABC):
    """Parameters of a method, and the one `solve` around its walk."""

    max_passes: int
    seed: int | None
    max_time: float | None

    def __post_init__(self) -> None:
        check_count("max_passes", self.max_passes)
        if self.max_time is not None:
            check_number("max_time", self.max_time)

    @abstractmethod
    def problem(self, loss: RowAverage) -> ConvexSquare:
        """Return the convex problem that the steps minimise."""

    @abstractmethod
    def begin(self, loss: RowAverage | None, w: np.ndarray, n_steps: int) -> RowWalk:
        """Return a walk that starts at `w` (d,), of which it may keep the array."""

    def solve(
        self, loss: RowAverage, w0: np.ndarray | None = None, callback: Look | None = None
    ) -> OnlineSolution:
        """Return the solution with its proved gap, started from `w0` (d,) or zero.

        The loss is from `from_rows`, or from `sparse_problem`, which centres dense rows; its `lam`
        plays no part, and row weights are the chances of the draws. `callback` hears of each `Pass`
        (stage of FSAUC), which costs about as much as a pass.
        """
        w = start_at(w0, loss.dim)
        return self.run(self.begin(loss, w, self.max_passes * loss.mass.size), callback)

    def run(self, walk: RowWalk, callback: Look | None = None) -> OnlineSolution:
        """Do what `solve` does from a walk that has not begun, and leave it where the run ends."""
        return run_passes(self.problem(walk.loss), self.passes(walk), callback, self.max_time)

    def passes(self, walk: RowWalk) -> Iterator[tuple[int, np.ndarray]]:
        """Make the steps of a run; yield their number and the answer after each pass."""
        rng = np.random.default_rng(self.seed)
        for size in self.sizes(walk):
            walk.take(draw_rows(walk.loss, rng, size))
            answer = walk.answer
            yield walk.n_iter, answer
            if not np.isfinite(answer).all():
                return

    def sizes(self, walk: RowWalk) -> list[int]:
        """Return the numbers of steps between the looks at a run."""
        return [walk.loss.mass.size] * self.max_passes


# Attributes about the weights that `fit` has found: `partial_fit` removes them.
PROVED_BY_FIT = (
    *("solution_", "certificate_", "status_", "history_"),
    *("objective_", "gap_", "lower_bound_", "proved_"),
)


@dataclass(eq=False, repr=False)
class OnlineClassifier(AUCClassifier):
    """Base of the estimators with `partial_fit`.

    `fit` starts anew. `partial_fit` starts with its first call, or goes on after `fit`.
    """

    _: KW_ONLY
    random_state: int | np.random.RandomState | None = None

    def fit(self, X: object, y: object, callback: Progress | None = None) -> Self:
        """Train a new model on these rows."""
        self._fit(X, y, None, callback)
        return self._warn()

    @small_in_one_thread
    def partial_fit(self, X: object, y: object, classes: object = None) -> Self:
        """Train on these rows, after all rows that came before, also those of `fit`.

        What `fit` proved of its weights (certificate, gap, status) is removed, because the rows of
        all batches are not kept; `aucert.exact.certify` judges any weights on any rows.
        """
        self._check_parameters()
        self._check_stream()
        first = not self._begun()
        rows, positive = self._check_batch(X, y, classes)
        for name in PROVED_BY_FIT:
            self.__dict__.pop(name, None)
        self._learn(rows, positive, first)
        return self

    def _check_stream(self) -> None:
        """Raise `InputError` if a parameter needs to know all rows beforehand."""
        return

    @abstractmethod
    def _learn(self, rows: Matrix, positive: np.ndarray, first: bool) -> None:
        """Take the checked rows of a batch, the first of all or a later one; set the weights."""

    def _begun(self) -> bool:
        """Return whether there is something to go on with."""
        return hasattr(self, "classes_")

    def _check_batch(self, X: object, y: object, classes: object) -> tuple[Matrix, np.ndarray]:
        """Return the rows of a batch and the mask of the positive ones; set `classes_`."""
        get_rule(self.threshold)
        first = not self._begun()
        if first and classes is None:
            raise InputError("give both labels as `classes` in the first call of partial_fit")
        if not first and not all(hasattr(self, name) for name in self._unsaved):
            raise InputError("a loaded model of this kind cannot go on: its run was not saved")
        rows, labels = self._check_data(X, y, reset=first)
        check_classification_targets(labels)
        if abs(rows).max() > LARGEST_REACH:
            raise out_of_range(rows, "so large that their squares overflow")
        if classes is not None:
            kinds = np.unique(check_labels(classes, "classes"))
            if kinds.size != 2:
                raise InputError(
                    "Only binary classification is supported: `classes` must be two labels, "
                    f"not {kinds.tolist()}"
                )
            if not first and not np.array_equal(kinds, self.classes_):
                raise InputError(
                    f"the labels are {self.classes_.tolist()} since the first call, "
                    f"`classes` now says {kinds.tolist()}"
                )
        else:
            kinds = self.classes_
        strange = np.setdiff1d(labels, kinds)
        if strange.size:
            raise InputError(f"the label {strange.tolist()[0]!r} is not among {kinds.tolist()}")
        self.classes_ = kinds
        return rows, labels == kinds[1]

    def _draw_seed(self) -> int:
        """Return the seed of this run, and keep it for later batches."""
        self._run_seed = draw_seed(self.random_state)
        return self._run_seed

    def _batch_rng(self) -> np.random.Generator:
        """Return the generator of the next batch: its seed is the run's and the steps so far."""
        return np.random.default_rng([self._run_seed, self.n_iter_])


@dataclass(eq=False, repr=False)
class SquareClassifier(OnlineClassifier):
    """Base of the estimators for the square loss over all pairs with a convex penalty.

    `fit` makes `max_passes` n steps on rows drawn at random, `partial_fit` one on each of its rows
    in their order. A subclass names its solver, all of whose parameters but the seed are its own.
    """

    _: KW_ONLY
    step: float | str = "auto"
    max_passes: int = 20

    _method: ClassVar[type[Any]]
    _unsaved = ("_walk",)

    def _solver(self, seed: int = 0) -> RowMethod:
        names = [field.name for field in fields(self._method) if field.name != "seed"]
        return self._method(**{name: getattr(self, name) for name in names}, seed=seed)

    def _check_parameters(self) -> None:
        self._solver()

    def _train(self, data: TrainingRows, callback: Look | None) -> None:
        rows, positive, *_ = data
        solver, loss = self._solver(self._draw_seed()), from_rows(rows, positive)
        self._walk = solver.begin(loss, np.zeros(loss.dim), self.max_passes * positive.size)
        self.solution_ = solver.run(self._walk, callback)
        self.objective_, self.gap_ = self.solution_.objective, self.solution_.gap
        self.lower_bound_ = float(np.nextafter(self.objective_ - self.gap_, -np.inf))
        self.certificate_ = self.solution_.certificate
        self.proved_ = bool(self.gap_ <= PROVED)
        self.history_, self.n_iter_ = self.solution_.history, self.solution_.n_iter
        self.status_ = self.solution_.status
        self._set_weights(self.solution_.w, rows, positive)
        self.support_ = np.flatnonzero(self.coef_[0])

    def _shortfall(self) -> str | None:
        if self.status_ != Status.TIME_LIMIT:
            return None
        return "the time ran out before the last pass: raise max_time"

    def _learn(self, rows: Matrix, positive: np.ndarray, first: bool) -> None:
        loss = self._batch(rows, positive, first)
        if first:
            steps = self._stream_steps(positive.size)
            self._walk = self._solver().begin(loss, np.zeros(rows.shape[1]), steps)
        elif loss is not None:
            self._walk.visit(loss)
        if loss is not None:
            self._walk.take(np.arange(positive.size))
        self.n_iter_ = self._walk.n_iter
        self._keep_batch(self._walk.answer, rows, positive)

    def _batch(self, rows: Matrix, positive: np.ndarray, first: bool) -> RowAverage | None:
        """Return the rows of a batch as the method wants them; None where it has to wait."""
        # These methods look neither at masses nor at the means and the share.
        return RowAverage(rows, positive, np.zeros(0), np.zeros((2, 0)), 0.5)

    def _stream_steps(self, n: int) -> int:
        """Return the steps that a stream is laid out for, whose first batch has `n` rows."""
        return self.max_passes * n

    def _keep_batch(self, w: np.ndarray, rows: Matrix, positive: np.ndarray) -> None:
        """Set the weights after a batch; the intercept stays where the batch has one class."""
        if not np.isfinite(w).all():
            raise OverflowingError("the steps diverged: take a shorter step, or scale the features")
        if positive.any() and not positive.all():
            self._set_weights(w, rows, positive)
        else:
            self.coef_ = np.array(w, dtype=float).reshape(1, -1)
            self.intercept_ = getattr(self, "intercept_", np.zeros(1))
        self.support_ = np.flatnonzero(self.coef_[0])
