"""The best k features for AUC with the square loss, proved: certified sparse AUC. [SHT, eq. (3)]"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .branch_and_bound import SearchStep, SubsetSearch, run
from .errors import CertificateError, InputError, TooLargeError
from .pairs import AllPairs
from .parameters import check_choice, check_count, check_number
from .problem import split_labels
from .row_average import RowAverage
from .row_moments import MomentError
from .spaces import Rows
from .subset_bounds import objective_ceiling, objective_floor, support_loss_of
from .support_loss import UNCLEAR, SupportLoss, SupportOptimum
from .support_search import good_support

MOST_SUPPORTS = 2_000_000
"""Supports that exhaustive search tries at most."""

_CHUNK = 4096


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
        Whether dependent features were met. The lower bound then takes what varies less than
        rounding for constant, see `aucert.exact.support_loss`; otherwise it needs no convention.
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
    _loss: SupportLoss
    _error: MomentError

    @property
    def gap(self) -> float:
        """upper - lower, which bounds how far F(w) is from the optimum."""
        return self.upper - self.lower

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
        w = np.asarray(w, dtype=float)
        if w.shape != self.w.shape or not np.isfinite(w).all():
            raise InputError(f"w must be {self.w.size} finite numbers; its shape is {w.shape}")
        if np.count_nonzero(w) > self.k:
            raise InputError(
                f"w has {np.count_nonzero(w)} nonzeros: the bound is for at most k = {self.k}"
            )
        gap = objective_ceiling(self._loss, w, self._error) - self.lower
        if gap < 0:
            raise CertificateError(f"F(w) is below the lower bound, by {-gap:.3g}")
        return gap


def best_subset(
    X: object,
    y: object,
    k: int,
    ridge: float = 0.0,
    *,
    max_time: float | None = None,
    callback: Callable[[SearchStep], object] | None = None,
    tol: float = 1e-9,
    method: str = "branch-and-bound",
    w0: np.ndarray | None = None,
    positive: object = None,
    sample_weight: np.ndarray | None = None,
) -> BestSubset:
    """Minimise the square loss over all pairs with at most k features, with proof. [SHT, eq. (3)]

        F(w) = mean over pairs of (1 - w'(x_i - x_j))^2 + ridge/2 |w|^2

    On given features the minimum is a closed form; the features are found by branch and bound,
    which can be stopped at any time and has a valid lower bound then. Without ridge, F* is zero as
    soon as some k features separate all pairs by the same margin; where there are n - 1 features
    or more, all of them together do so, and the lower bound stays zero until features are out:
    take a ridge, or few features, for a proof.

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
        Seconds for the search, > 0.
    callback : function of a `SearchStep`, optional
        Called every few hundredths of a second. Ctrl-C ends the search with what there is.
    tol : float
        Stop when upper - lower is at most this; F(0) = 1 is the scale.
    method : {"branch-and-bound", "exhaustive"}
        "exhaustive" tries all supports, 2,000,000 at most.
    w0 : array (d,), optional
        Weights with at most k nonzeros to start from, beside those found here.
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
    ridge = check_number("ridge", ridge, closed="low")
    check_number("tol", tol)
    check_choice("method", method, ("branch-and-bound", "exhaustive"))
    if max_time is not None:
        check_number("max_time", max_time)
    begin = time.perf_counter()
    mask, _, _ = split_labels(y, positive)
    space = Rows(X)
    average = RowAverage.of(space, mask, AllPairs(sample_weight), ridge)
    loss, error = support_loss_of(average, None if space.is_sparse else space.offset)
    k = min(k, loss.dim)
    starts = [] if w0 is None else [_start(w0, loss.dim, k)]
    if method == "exhaustive":
        found = _exhaustive(loss, error, k, tol, max_time)
    else:
        search = SubsetSearch(loss, error, k, good_support(loss, k, starts), tol)
        status = run(search, max_time, callback)
        found = (search.best, search.upper, search.lower, search.dependent, status, search.n_nodes)
    best, upper, lower, dependent, status, n_nodes = found
    seconds = time.perf_counter() - begin
    return BestSubset(
        np.flatnonzero(best.w), best.w, upper, lower, upper - lower <= tol, dependent, status,
        k, ridge, n_nodes, seconds, loss, error,
    )  # fmt: skip


def _start(w0: np.ndarray, dim: int, k: int) -> np.ndarray:
    w0 = np.asarray(w0, dtype=float)
    if w0.shape != (dim,) or not np.isfinite(w0).all():
        raise InputError(f"w0 must be {dim} finite numbers; its shape is {w0.shape}")
    if np.count_nonzero(w0) > k:
        raise InputError(f"w0 has {np.count_nonzero(w0)} nonzeros, more than k = {k}")
    return np.flatnonzero(w0)


def _exhaustive(
    loss: SupportLoss, error: MomentError, k: int, tol: float, max_time: float | None
) -> tuple[SupportOptimum, float, float, bool, str, int]:
    """Try all supports of k informative features: best, upper, lower, dependent, status, tries."""
    used = np.flatnonzero(loss.informative)
    k = min(k, used.size)
    if math.comb(used.size, k) > MOST_SUPPORTS:
        raise TooLargeError(
            f"{k} of {used.size} features make {math.comb(used.size, k)} supports, too many to "
            'try: take method="branch-and-bound"'
        )
    every = itertools.combinations(used.tolist(), k)
    best_q, best, lower = -1.0, np.empty(0, dtype=np.intp), 1.0
    dependent, status, tries = False, "done", 0
    end = np.inf if max_time is None else time.perf_counter() + max_time
    try:
        while chunk := list(itertools.islice(every, _CHUNK)):
            supports = np.array(chunk, dtype=np.intp).reshape(len(chunk), k)
            q, floors, regular = _batch(loss, supports, error)
            tries += len(chunk)
            dependent, lower = dependent or not regular, min(lower, float(floors.min()))
            if q.max() > best_q:
                best_q, best = float(q.max()), supports[int(q.argmax())]
            if time.perf_counter() >= end:
                status = "time_limit"
                break
    except KeyboardInterrupt:
        status = "interrupted"
    found = loss.optimum(best)
    upper = objective_ceiling(loss, found.w, error)
    whole = status == "done" or tries == math.comb(used.size, k)
    lower = min(upper, lower) if whole else 0.0
    return found, upper, lower, dependent, "done" if whole else status, tries


def _batch(
    loss: SupportLoss, supports: np.ndarray, error: MomentError
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return q of many supports, lower bounds of their F*, and whether all are regular."""
    sigma = loss.scaled_sigma[supports[:, :, None], supports[:, None, :]]
    delta, k = loss.scaled_delta[supports], supports.shape[1]
    values, vectors = np.linalg.eigh(sigma)
    least = values.min(axis=1, initial=1.0)
    clear = least >= UNCLEAR
    parts = np.square(np.einsum("nij,ni->nj", vectors, delta))
    q = np.divide(parts, values, out=np.zeros_like(parts), where=values > 0).sum(axis=1)
    # The computed eigenvectors are those of a matrix within a few k units of Sigma_SS.
    least = np.where(clear, least, 1.0)
    slip = 64 * k**1.5 * np.finfo(float).eps / least
    floors = objective_floor(q * (1 + slip), k, least * (1 - slip), error)
    for i in np.flatnonzero(~clear):
        found = loss.optimum(supports[i])
        q[i], floors[i] = found.q, found.value
    return q, floors, bool(clear.all())
