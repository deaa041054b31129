"""Bounds of F on supports of given rows, all rounding included: floats, and whole numbers beyond.

Floats know the moments to a few units of the features' spread. That is no information about what
varies less: the difference of a feature and its near copy, or a feature that is all but constant.
There F*(S) is computed in whole numbers; see `exact_moments.py`. Where that would be too slow the
bound is zero, which holds for any F.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp

from ..tools.rounding import gamma
from .exact_moments import ExactMoments, above, below
from .moments import Moments
from .row_average import RowAverage, Source
from .row_moments import Losses, MomentError, moment_error, moments_with_losses
from .sparse_bounds import (
    LARGEST_SIDE,
    ceiling,
    certified_diagonal,
    objective_ceiling,
    objective_floor,
)
from .square_parts import square_parts
from .support_loss import SupportLoss, SupportOptimum

TOLERANCE = 1e-9
"""Default of the gap to reach; F(0) = 1 sets the scale."""

ANSWERS = 20_000
"""Most supports whose optimum is computed in whole numbers."""

BLUR, DRIFT, FAINT = 1e-6, 1e-3, 1e-290
"""Of floats: largest error of an entry and of a class mean, over the spread; least variance."""

LARGEST_WORK = 1e9
"""Largest rows times features squared for which `sparse_floor` is affordable."""


@dataclass(frozen=True, eq=False)
class SupportBounds:
    """What is proved about F on the supports of given rows.

    Attributes
    ----------
    loss : SupportLoss
        For the search: its conventions about small variances enter no bound.
    error : MomentError
        Of the moments in `loss`, on the features that are neither silent nor blurred.
    exact : ExactMoments
    silent : bool array (d,)
        Features that are constant on all rows: they never help.
    blurred : bool array (d,)
        Features about which floats tell too little.
    tol : float
        The gap that is to be reached: it decides what rounding is too much.
    """

    loss: SupportLoss
    error: MomentError
    exact: ExactMoments
    silent: np.ndarray
    blurred: np.ndarray
    tol: float = TOLERANCE
    _asked: list[int] = field(default_factory=lambda: [0])

    @property
    def slack(self) -> float:
        """Bounds that rounding moves by more are computed in whole numbers, if that is cheap."""
        return self.tol / 4

    @property
    def useful(self) -> np.ndarray:
        """The features that are not silent: int array."""
        return np.flatnonzero(~self.silent)

    @property
    def spent(self) -> bool:
        """Whether the allowance of supports in whole numbers is used up."""
        return self._asked[0] >= ANSWERS

    def ceiling(self, w: np.ndarray, end: float = np.inf) -> float:
        """Return an upper bound of F(w) on the rows; inf where none can be had.

        Parameters
        ----------
        w : array (d,)
            Finite.
        end : float
            Reading of `time.perf_counter`, up to which there is time for whole numbers.
        """
        used, bound, slack = np.flatnonzero(w), np.inf, np.inf
        if not self.blurred[used].any():
            with np.errstate(over="ignore", invalid="ignore"):
                bound = objective_ceiling(self.loss, w, self.error)
                slack = bound - self.loss.value(w)
        if slack <= self.slack:
            return bound
        if self.exact.affordable(used, end):
            return above(self.exact.value(w))
        return bound if np.isfinite(bound) else np.inf

    def leaf(
        self, support: np.ndarray, upper: float = np.inf, end: float = np.inf
    ) -> tuple[SupportOptimum | None, float]:
        """Return good weights on a support, and a lower bound of F* on it.

        Parameters
        ----------
        support : int array (s,)
            Sorted.
        upper : float
            No weights are made where F* is seen to be no lower than this.
        end : float
            As in `ceiling`.
        """
        found, S = self.loss.optimum(support), support[~self.silent[support]]
        if S.size == 0:
            return found, 1.0
        floor, slack = self._floor_by_floats(S)
        if slack <= self.slack or self.spent or not self.exact.affordable(S, end):
            return found, floor
        self._asked[0] += 1
        answer = self.exact.optimum(S, upper)
        value = below(answer.value)
        if value >= upper:
            return None, max(floor, value)
        if answer.w is not None and np.isfinite(answer.w).all():
            w = np.zeros(self.loss.dim)
            w[S] = answer.w
            q = 1 / value - 1 if value > 0 else np.inf
            found = replace(found, q=q, value=value, w=w)
        return found, max(floor, value)

    def redundant(self, support: np.ndarray, end: float = np.inf) -> bool:
        """Return whether a feature is proved to add nothing to the others: no F* is lost by it.

        False where q is infinite, or it would take too long to see.
        """
        if not self.exact.affordable(support, end):
            return False
        return self.exact.optimum(support, 0.0).redundant

    def _floor_by_floats(self, S: np.ndarray) -> tuple[float, float]:
        """Return a lower bound of F* on a support, and what rounding may have taken off it."""
        if self.blurred[S].any():
            return 0.0, np.inf
        sigma, delta = self.loss.scaled_sigma[np.ix_(S, S)], self.loss.scaled_delta[S]
        diagonal = certified_diagonal(sigma)
        if diagonal is None:
            return 0.0, np.inf
        q = ceiling(sigma, delta, diagonal, S.size, np.ones(S.size, dtype=bool))
        floor = float(objective_floor(q, S.size, diagonal.least, self.error))
        return floor, 1 / (1 + max(float(delta @ diagonal.inverse @ delta), 0.0)) - floor


def support_bounds_of(average: RowAverage, tol: float = TOLERANCE) -> SupportBounds:
    """Return the bounds of F on the supports of an average over rows.

    Parameters
    ----------
    average : RowAverage
    tol : float
        > 0, the gap that is to be reached.
    """
    source = average.source or Source(average.X, average.mass, None)
    found, losses = moments_with_losses(average, offset=source.offset)
    silent, flat = _constant(source.X, average.positive, source.weight)
    delta, sigma = np.where(silent, 0.0, found.delta), found.sigma.copy()
    sigma[flat], sigma[:, flat] = 0.0, 0.0
    loss = SupportLoss(Moments(delta, sigma, found.size), average.lam)
    blurred = ~silent & _blurred(loss, losses, flat)
    trusted = ~silent & ~blurred
    scale = loss.scale[trusted]
    error = moment_error(
        average.mass.size,
        float((losses.entry[trusted] / scale).max(initial=0.0)),
        float((losses.mean[trusted] / scale).max(initial=0.0)),
        float(np.abs(loss.scaled_delta[trusted]).max(initial=0.0)),
    )
    exact = ExactMoments(source.X, average.positive, source.weight, average.lam)
    return SupportBounds(loss, error, exact, silent, blurred, tol)


def _blurred(loss: SupportLoss, losses: Losses, flat: np.ndarray) -> np.ndarray:
    """Return the features about which the moments, as floats, tell too little."""
    variance = np.diag(loss.sigma) + loss.lam / 2
    # A feature that floats call constant, while its numbers differ.
    called = ~loss.informative | ((np.diag(loss.scaled_sigma) == 0) & ~flat)
    faint = (variance < FAINT) & ~(flat & (loss.lam == 0) & (np.abs(loss.delta) > FAINT**0.5))
    rough = (losses.entry > BLUR * loss.scale) | (losses.mean > DRIFT * loss.scale)
    return called | faint | rough | ~np.isfinite(loss.scale)


def _constant(
    X: np.ndarray | sp.csr_matrix, positive: np.ndarray, weight: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return which features are constant on all rows that count, and which within each class."""
    counts = np.ones(positive.size, dtype=bool) if weight is None else weight > 0
    ends = []
    for side in (positive & counts, ~positive & counts):
        rows = X[side]
        low, high = rows.min(axis=0), rows.max(axis=0)
        if not isinstance(X, np.ndarray):
            low, high = low.toarray().ravel(), high.toarray().ravel()
        ends.append((low, high))
    (low, high), (other_low, other_high) = ends
    flat = (low == high) & (other_low == other_high)
    return flat & (low == other_low), flat


def support_loss_of(average: RowAverage) -> tuple[SupportLoss, MomentError]:
    """Return the closed form of F on supports, and what its moments have lost to rounding.

    The bound is for features that are not `SupportBounds.blurred`.
    """
    bounds = support_bounds_of(average)
    return bounds.loss, bounds.error


def sparse_floor(average: RowAverage, k: int) -> float:
    """Return a lower bound of F over all weights with at most k nonzeros, without a search.

    Zero, which holds for any F, where the features are dependent, or too many: more than 500.

    Parameters
    ----------
    average : RowAverage
    k : int
        >= 1.
    """
    n, d = average.mass.size, average.dim
    if d > LARGEST_SIDE or n * d * d > LARGEST_WORK:
        return 0.0
    bounds = support_bounds_of(average)
    used, loss = bounds.useful, bounds.loss
    if used.size == 0:
        return 1.0
    sigma, delta = loss.scaled_sigma[np.ix_(used, used)], loss.scaled_delta[used]
    diagonal = None if bounds.blurred.any() else certified_diagonal(sigma)
    if diagonal is None:
        return 0.0
    q = ceiling(sigma, delta, diagonal, k, np.zeros(used.size, dtype=bool))
    return float(objective_floor(q, min(k, used.size), diagonal.least, bounds.error))


def objective_above(average: RowAverage, w: np.ndarray) -> float:
    """Return an upper bound of F(w), rounding included, from the features that w uses.

    A looser one, from a single look at each row, where their moments would take too long.

    Parameters
    ----------
    average : RowAverage
    w : array (d,)
    """
    used = np.flatnonzero(w)
    if average.mass.size * used.size**2 > LARGEST_WORK:
        return _above_by_rows(average.among(used), w[used])
    return support_bounds_of(average.among(used)).ceiling(w[used])


def _above_by_rows(average: RowAverage, w: np.ndarray) -> float:
    """Return an upper bound of F(w) from the scores of the rows as they were given."""
    source = average.source or Source(average.X, average.mass, None)
    means = average.means if source.offset is None else average.means + source.offset
    given = RowAverage(source.X, average.positive, average.mass, means, average.share)
    with np.errstate(over="ignore", invalid="ignore"):
        parts = square_parts(given, w)
        square = parts.square + parts.square_error
        whole = (square + average.lam / 2 * float(w @ w)) * (1 + gamma(w.size + 16))
    return float(whole) if np.isfinite(whole) else np.inf
