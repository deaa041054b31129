"""The best k features for AUC with the square loss, proved: certified sparse AUC. [SHT, eq. (3)]"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..errors import CertificateError, InputError
from ..pairs.all_pairs import AllPairs
from ..problem.problem import split_labels
from ..spaces.rows import Rows
from ..square_loss.row_average import RowAverage
from ..square_loss.support import SupportBounds, good_support, support_bounds_of
from ..tools.checks import check_callback, check_choice, check_count, check_number
from ..tools.exact_numbers import float_above
from ..tools.lossless import as_float64
from ..tools.threads import small_in_one_thread
from .branch_and_bound import SearchStep, SubsetSearch, run
from .dive import compile_dive
from .exhaustive import better_tried, try_all

METHODS = ("auto", "branch-and-bound", "exhaustive")
START_SHARE = 0.3  # share of the time that is spent on good supports to start from


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
        Whether nearly dependent features were met, which floats cannot bound: up to 20,000 supports
        with them are decided in whole numbers, and the rest have the bound of those around them.
    status : {"done", "time_limit", "interrupted"}
    k : int
    ridge : float
    n_nodes : int
        Nodes opened, or supports tried.
    seconds : float
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
        """Return a bound of how far F(w) is from the optimum, on the data of this result.

        Parameters
        ----------
        w : array (d,)
            Anybody's weights, with at most k nonzeros.

        Raises
        ------
        InputError
            If w does not fit the features or has more than k nonzeros.
        CertificateError
            If F(w) is below the lower bound: one of the two would be wrong.
        """
        w = _weights("w", w, self.w.size, self.k)
        upper = self._bounds.ceiling(w)
        if upper < self.lower:
            short = self.lower - upper
            raise CertificateError(f"F(w) is below the lower bound, by {short:.3g}")
        return _apart(upper, self.lower)


def _apart(upper: float, lower: float) -> float:
    """Return the least float that is not below upper - lower >= 0."""
    return float_above(Fraction(upper) - Fraction(lower)) if np.isfinite(upper) else upper


@small_in_one_thread
def best_subset(
    X: object,
    y: object,
    k: int,
    ridge: float = 0.0,
    *,
    max_time: float | None = None,
    callback: Callable[[SearchStep], object] | None = None,
    tol: float = 1e-9,
    method: str = "auto",
    w0: np.ndarray | None = None,
    positive: object = None,
    sample_weight: np.ndarray | None = None,
) -> BestSubset:
    """Minimise the square loss over all pairs with at most k features, with proof. [SHT, eq. (3)]

        F(w) = mean over pairs of (1 - w'(x_i - x_j))^2 + ridge/2 |w|^2

    On given features the minimum is a closed form; the features are found by branch and bound,
    which has a valid lower bound whenever it is stopped. The bounds are about the rows as they are
    stored, in exact arithmetic.

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
        Seconds, > 0. The moments of the classes, O(n d^2), and the compilation the first time on a
        machine come on top: they are made in any case.
    callback : function of a `SearchStep`, optional
        Called every few hundredths of a second. Ctrl-C ends the search with what there is.
    tol : float
        Stop when upper - lower is at most this; F(0) = 1 is the scale.
    method : {"auto", "branch-and-bound", "exhaustive"}
        "exhaustive" tries all supports, 2,000,000 at most, 50,000,000 for k = 2; "auto" does so
        where they are up to 10,000, or where branch and bound would have no bound to begin with:
        without ridge for n - 1 features or more, and for more than 500.
    w0 : array (d,), optional
        Weights with at most k nonzeros to start from, next to those found here.
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
    k = check_count("k", k)
    check_callback(callback)
    ridge = check_number("ridge", ridge, closed="low")
    check_number("tol", tol)
    check_choice("method", method, METHODS)
    if max_time is not None:
        check_number("max_time", max_time)
    begin = time.perf_counter()
    space = Rows(X)
    mask, _, _ = split_labels(y, positive)
    if mask.size != space.n:
        raise InputError(f"y has {mask.size} labels for {space.n} rows")
    average = RowAverage.of(space, mask, AllPairs(sample_weight), ridge)
    bounds = support_bounds_of(average, tol)
    loss, k = bounds.loss, min(k, average.dim)
    starts = [] if w0 is None else [np.flatnonzero(_weights("w0", w0, loss.dim, k))]
    if method == "auto":
        method = "exhaustive" if better_tried(bounds, k, mask.size) else "branch-and-bound"
    if method == "branch-and-bound":
        compile_dive()  # before the clock of the search starts
    ready, limit = time.perf_counter(), np.inf if max_time is None else max_time
    start = good_support(loss, k, starts, ready + START_SHARE * limit)
    if method == "exhaustive":
        found = try_all(bounds, k, start, ready + limit, callback)
    else:
        search = SubsetSearch(bounds, k, start, tol, ready + limit)
        status = run(search, callback)
        found = (search.best, search.upper, search.lower, search.dependent, status, search.n_nodes)
    best, upper, lower, dependent, status, n_nodes = found
    seconds = time.perf_counter() - begin
    return BestSubset(
        np.flatnonzero(best.w), best.w, upper, lower, upper - lower <= tol, dependent, status,
        k, ridge, n_nodes, seconds, bounds,
    )  # fmt: skip


def _weights(name: str, w: object, dim: int, k: int) -> np.ndarray:
    """Return w as `dim` finite floats with at most k nonzeros, or refuse it."""
    w = as_float64(w, name)
    if w.shape != (dim,) or not np.isfinite(w).all():
        raise InputError(f"{name} must be {dim} finite numbers; its shape is {w.shape}")
    if np.count_nonzero(w) > k:
        raise InputError(f"{name} has {np.count_nonzero(w)} nonzeros, more than k = {k}")
    return w
