"""The best k features for AUC with the square loss, proved: certified sparse AUC. [SHT, eq. (3)]

By branch and bound, or by trying all supports of k features in batches.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..errors import CertificateError, InputError, TooLargeError
from ..pairs.all_pairs import AllPairs
from ..problem.problem import split_labels
from ..spaces.rows import Rows
from ..square_loss import support as bounding
from ..square_loss.row_average import RowAverage
from ..square_loss.support import SupportBounds, SupportOptimum, good_support
from ..tools import arrays
from ..tools.rounding import UNIT, float_above
from ..tools.threads import small_in_one_thread
from .branch_and_bound import Search, SearchStep, SubsetSearch, compile_dive

MOST_SUPPORTS, MOST_PAIRS = 2_000_000, 50_000_000  # most that are tried; pairs are cheap


@dataclass(frozen=True, eq=False)
class BestSubset:
    """The best weights found with at most k nonzeros, and a bound of what any such can reach.

    Attributes
    ----------
    support : int array
        Places of the nonzero weights, sorted.
    w : array (d,)
        The minimiser on the support.
    upper, lower : float
        The optimum is between them, rounding included; upper is F(w) with its rounding.
    proved : bool
        Whether upper - lower <= tol. F(0) = 1 is the scale.
    dependent : bool
        Whether nearly dependent features were met: floats cannot bound them, so up to 20,000 of
        their supports are decided in whole numbers; the rest have the bound of those around them.
    status : {"done", "time_limit", "interrupted"}
    k, n_nodes : int
        n_nodes are the nodes opened, or the supports tried.
    ridge, seconds : float
    """

    support: np.ndarray
    w: np.ndarray
    upper: float
    lower: float
    proved: bool
    dependent: bool
    status: str
    k: int
    ridge: float
    n_nodes: int
    seconds: float
    _bounds: SupportBounds

    @property
    def gap(self) -> float:
        """upper - lower, rounded up: it bounds how far F(w) is from the optimum."""
        return _apart(self.upper, self.lower)

    def gap_of(self, w: np.ndarray) -> float:
        """Return a bound of how far F(w) is from the optimum, on the data of this result, for any w
        (d,) with at most k nonzeros; raise `InputError` for others, and `CertificateError` if F(w)
        is below the lower bound: one of the two would be wrong."""
        w = _weights("w", w, self.w.size, self.k)
        upper = self._bounds.ceiling(w)
        if upper < self.lower:
            raise CertificateError(f"F(w) is below the lower bound, by {self.lower - upper:.3g}")
        return _apart(upper, self.lower)


def _apart(upper: float, lower: float) -> float:
    """Return the least float that is not below upper - lower >= 0."""
    return float_above(Fraction(upper) - Fraction(lower)) if np.isfinite(upper) else upper


@small_in_one_thread
def best_subset(
    X: object, y: object, k: int, ridge: float = 0.0, *, max_time: float | None = None,
    callback: Callable[[SearchStep], object] | None = None, tol: float = 1e-9,
    method: str = "auto", w0: np.ndarray | None = None, positive: object = None,
    sample_weight: np.ndarray | None = None,
) -> BestSubset:  # fmt: skip
    """Minimise the square loss over all pairs with at most k features, with proof. [SHT, eq. (3)]

        F(w) = mean over pairs of (1 - w'(x_i - x_j))^2 + ridge/2 |w|^2

    On given features the minimum is a closed form; the search for the features has a valid lower
    bound whenever it is stopped. Bounds are about the rows as they are stored, in exact arithmetic.
    Without ridge F* is zero as soon as some k features separate all pairs by the same margin, as
    n - 1 features together do: take a ridge, or few features, for a proof.

    Parameters
    ----------
    X : array or sparse matrix (n, d)
        Finite numbers; d x d numbers must fit into memory.
    y : array (n,)
        Labels of two kinds.
    k : int
        >= 1; more than d counts as d.
    ridge : float
        >= 0. With it the units of the features matter.
    max_time : float, optional
        Seconds, > 0, on top of the moments of the classes, O(n d^2), and of a first compilation.
    callback : function of a `SearchStep`, optional
        Called every few hundredths of a second. Ctrl-C ends the search with what there is.
    tol : float
        Stop when upper - lower is at most this; F(0) = 1 is the scale.
    method : {"auto", "branch-and-bound", "exhaustive"}
        "exhaustive" tries all supports, 2,000,000 at most, 50,000,000 for k = 2; "auto" does so
        where they are up to 10,000, or where branch and bound would have no bound to begin with:
        without ridge for n - 1 features or more, and for more than 500.
    w0 : array (d,), optional
        More weights to start from, with at most k nonzeros.
    positive : label, optional
        The larger one by default.
    sample_weight : array (n,), optional
        >= 0; a weight means repetition.

    Raises
    ------
    InputError
        If the input cannot be used.
    TooLargeError
        If there are too many supports to try.
    """
    k = arrays.check_count("k", k)
    arrays.check_callback(callback)
    ridge = arrays.check_number("ridge", ridge, closed="low")
    arrays.check_tolerance(tol, max_time)
    arrays.check_choice("method", method, ("auto", "branch-and-bound", "exhaustive"))
    begin = time.perf_counter()
    space, (mask, _, _) = Rows(X), split_labels(y, positive)
    if mask.size != space.n:
        raise InputError(f"y has {mask.size} labels for {space.n} rows")
    average = RowAverage.of(space, mask, AllPairs(sample_weight), ridge)
    bounds = bounding.support_bounds_of(average, tol)
    loss, k = bounds.loss, min(k, average.dim)
    starts = [] if w0 is None else [np.flatnonzero(_weights("w0", w0, loss.dim, k))]
    if method == "auto":  # all are tried where that is quicker, or no bound begins a search
        used = bounds.useful.size  # constant features are left out
        hard = used > bounding.LARGEST_SIDE or (loss.lam == 0 and used >= mask.size - 1)
        most = (MOST_PAIRS if k == 2 else MOST_SUPPORTS) if hard else 10_000
        few = math.comb(used, min(k, used)) <= most
        method = "exhaustive" if few else "branch-and-bound"
    if method == "branch-and-bound":
        compile_dive()  # before the clock of the search starts
    ready, limit = time.perf_counter(), np.inf if max_time is None else max_time
    start = good_support(loss, k, starts, ready + 0.3 * limit)  # 0.3: of the time
    kind = TryAll if method == "exhaustive" else SubsetSearch
    search = kind(bounds, k, start, ready + limit)
    status = search.run(callback)
    best, upper, lower = search.best.w, search.upper, search.lower
    return BestSubset(
        np.flatnonzero(best), best, upper, lower, upper - lower <= tol, search.dependent, status,
        k, ridge, search.n_nodes, time.perf_counter() - begin, bounds,
    )  # fmt: skip


def _weights(name: str, w: object, dim: int, k: int) -> np.ndarray:
    w = arrays.as_float64(w, name)
    if w.shape != (dim,) or not np.isfinite(w).all():
        raise InputError(f"{name} must be {dim} finite numbers; its shape is {w.shape}")
    if np.count_nonzero(w) > k:
        raise InputError(f"{name} has {np.count_nonzero(w)} nonzeros, more than k = {k}")
    return w


class TryAll(Search):
    """All supports of k features, in batches; the lower bound is zero until all are tried."""

    def __init__(self, bounds: SupportBounds, k: int, start: SupportOptimum, end: float = np.inf):
        used = bounds.useful
        k = min(k, used.size)
        self.whole, self._least = math.comb(used.size, k), 1.0
        if self.whole > (MOST_PAIRS if k == 2 else MOST_SUPPORTS):
            raise TooLargeError(f"{self.whole} supports are too many to try: take branch-and-bound")
        self._batches = _pairs(bounds, used) if k == 2 else _batches(bounds, used, k)
        super().__init__(bounds, k, start, end)

    @property
    def lower(self) -> float:
        return min(self.upper, self._least) if self.done else 0.0

    @property
    def done(self) -> bool:
        return self.n_nodes == self.whole

    def step(self) -> int:
        """Bound F* on a batch by floats, and one by one where these tell too little."""
        bounds, (supports, q, least) = self.bounds, next(self._batches)
        clear = (least >= bounding.UNCLEAR) & ~bounds.blurred[supports].any(axis=1)
        q, least = np.where(clear, q, 0.0), np.where(clear, least, 1.0)
        floors = bounding.objective_floor(q, supports.shape[1], least, bounds.error)
        # Where rounding has made a good support seem better than it can be.
        clear &= (floors >= self.upper - bounds.tol / 2) | (1 / (1 + q) - floors <= bounds.slack)
        upper, count, judged = self.upper, len(supports), None
        if clear.any():
            some = np.flatnonzero(clear)
            self._least = min(self._least, float(floors[some].min()))
            self._offer(self.loss.optimum(supports[some[int(q[some].argmax())]]))
        for at, i in enumerate(unclear := np.flatnonzero(~clear)):
            if time.perf_counter() >= self.end:
                count -= unclear.size - at
                break
            if self._least > 0:
                one, floor = bounds.leaf(supports[i], upper, self.end)
                self._least = min(self._least, floor)
            else:
                one = self.loss.optimum(supports[i])
            if one is not None and (judged is None or one.value < judged.value):
                judged = one
        self._offer(judged)
        self.dependent |= not clear.all()
        self.n_nodes += count
        return self.whole - self.n_nodes


def _batches(bounds: SupportBounds, used: np.ndarray, k: int) -> Iterator[tuple[np.ndarray, ...]]:
    """Yield supports (m, k), upper bounds of q, and lower bounds of their least eigenvalues."""
    loss, every = bounds.loss, itertools.combinations(used.tolist(), k)
    while chunk := list(itertools.islice(every, 4096)):  # their matrices fit into the cache
        supports = np.array(chunk, dtype=np.intp).reshape(len(chunk), k)
        sigma = loss.scaled_sigma[supports[:, :, None], supports[:, None, :]]
        yield supports, *bounding.whole_ceilings(sigma, loss.scaled_delta[supports])


def _pairs(bounds: SupportBounds, used: np.ndarray) -> Iterator[tuple[np.ndarray, ...]]:
    for a, b, q, least in bounding.pair_blocks(bounds.loss, used):
        supports = np.stack([used[a], used[b]], axis=1)
        # The numerator, at least |delta|^2 (1 - |rho|), rounds by ten units of 2 |delta|^2.
        # 32, 4: units that rounding takes off q for a least eigenvalue of one, and off that
        slip = 32 * UNIT / np.where(least > 0, least, 1.0)
        yield supports, np.where(least > 0, q * (1 + slip), np.inf), least * (1 - 4 * UNIT)
