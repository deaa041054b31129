"""Lower bounds for sparse AUC that need no search: what the best k features cannot do better.

Features are scaled to variance one, Sigma_TT is the matrix of the features T. For a diagonal D >= 0
with Sigma_TT - D positive semidefinite, any w on T and r = delta - Sigma w, each S of k features
that has the features `inside` has

    q_S <= w'(delta + r) - sum over T less S of (D_j w_j^2 + 2 r_j w_j) + sum over S of r_j^2/D_j,

since q_S = max_u 2 delta'u - u'Sigma u over u on S, and u'Sigma u >= w'Sigma w + 2 w'Sigma (u - w)
+ (u - w)'D(u - w). It says F*(S) >= 1 / (1 + that), see `exact/support_loss.py`. At w =
Sigma_TT^-1 delta_T the vector r is rounding. This is the relaxation by perspectives at one point.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from .rounding import UNIT, gamma
from .row_average import RowAverage
from .row_moments import MomentError, moment_error, row_moments
from .support_loss import SupportLoss

REGULAR = 1e-8
"""An entry of D below this: the features count as dependent, and no bound is made of them."""

LARGEST_SIDE, LARGEST_WORK = 500, 1e9
"""Features, and rows times their square, up to which `sparse_floor` is not too dear."""


@dataclass(frozen=True, eq=False)
class Diagonal:
    """A diagonal below a matrix, proved so, and the inverse of the matrix (not proved).

    Attributes
    ----------
    entries : array (s,)
        At least `REGULAR`.
    inverse : array (s, s)
    """

    entries: np.ndarray
    inverse: np.ndarray

    @property
    def least(self) -> float:
        """Not above the least eigenvalue of the matrix."""
        return float(self.entries.min())


def certified_diagonal(sigma: np.ndarray) -> Diagonal | None:
    """Return D > 0 with sigma - D positive semidefinite, or None where there is next to none.

    D is a multiple of what remains of each variance when the other features are known. That it
    is below sigma is proved by a Cholesky factorisation: where it runs to its end, the matrix is
    above -gamma_{s+1} times its trace. [Rump 2006, "Verification of positive definiteness"]

    Parameters
    ----------
    sigma : array (s, s)
        Symmetric, its diagonal one.
    """
    side = len(sigma)
    try:
        inverse = scipy.linalg.cho_solve(scipy.linalg.cho_factor(sigma), np.eye(side))
    except np.linalg.LinAlgError:
        return None
    shape = 1 / np.diag(inverse)
    if not (np.isfinite(shape).all() and (shape > 0).all()):
        return None
    root = np.sqrt(shape)
    share = scipy.linalg.eigvalsh(sigma / np.outer(root, root), subset_by_index=[0, 0])[0]
    for safety in (1 - 1e-7, 0.99, 0.5):
        tried = safety * share * shape
        rest = sigma - np.diag(tried)
        slip = (2 * gamma(side + 2) + 4 * UNIT) * (float(np.trace(sigma)) + float(tried.sum()))
        entries = tried - slip
        if not entries.min() >= REGULAR:
            return None
        try:
            np.linalg.cholesky(rest)
        except np.linalg.LinAlgError:
            continue
        return Diagonal(entries, inverse)
    return None


def ceiling(
    sigma: np.ndarray, delta: np.ndarray, diagonal: Diagonal, k: int, inside: np.ndarray
) -> float:
    """Return an upper bound of q_S over the S of at most k features, rounding included.

    Parameters
    ----------
    sigma, delta : arrays (s, s) and (s,)
    diagonal : Diagonal
        Of sigma.
    k : int
    inside : bool array (s,)
        Features that S has; at most k.
    """
    w, D = diagonal.inverse @ delta, diagonal.entries
    r, size = delta - sigma @ w, len(delta)
    slip = 2 * gamma(size + 4) * (float(np.abs(w).sum()) + float(np.abs(delta).max(initial=0.0)))
    left, length = np.abs(r) + slip, np.abs(w)
    spare = left**2 / D + 3 * left * length + gamma(size + 8) * length * (np.abs(delta) + left)
    top = float(w @ (delta + r)) + float(spare.sum()) * (1 + gamma(2 * size + 8))
    dropped = np.sort((D * w * w)[~inside])[: max(size - k, 0)]
    return top - float(dropped.sum()) * (1 - gamma(size + 8))


def objective_floor(
    q: float | np.ndarray, k: int, least: float | np.ndarray, error: MomentError
) -> np.ndarray:
    """Return the F* that no support with this bound of q comes below, moments' rounding included.

    Sigma_SS of the data is at least (1 - h) times the computed one, h = k error.sigma / least, and
    delta_S is off by at most sqrt(k) error.delta, so that q_S of the data is at most
    (sqrt(q) + sqrt(k) error.delta / sqrt(least))^2 / (1 - h).

    Parameters
    ----------
    q : float or array
        Upper bounds of q_S, S of at most k features, for the computed moments.
    k : int
    least : float or array
        > 0, not above the least eigenvalue of Sigma_SS.
    error : MomentError

    Returns
    -------
    array like `q`
        In [0, 1].
    """
    q, least = np.maximum(q, 0.0), np.asarray(least, dtype=float)
    h = np.minimum(k * error.sigma / least, 0.5)
    root = np.sqrt(q) + np.sqrt(k / least) * error.delta
    floor = (1 - 8 * UNIT) / (1 + root * root / (1 - h) * (1 + 8 * UNIT))
    return np.where(h < 0.5, floor, 0.0)


def objective_ceiling(loss: SupportLoss, w: np.ndarray, error: MomentError) -> float:
    """Return an upper bound of F(w) on the data, rounding included.

    Parameters
    ----------
    loss : SupportLoss
    w : array (d,)
    error : MomentError
        Of the moments in `loss`.
    """
    length, size = float(np.abs(w * loss.scale).sum()), int(np.count_nonzero(w))
    shift = error.delta * length + gamma(size + 4) * (1 + float(np.abs(w * loss.delta).sum()))
    miss = abs(1 - float(w @ loss.delta))
    spread = (error.sigma + gamma(2 * size + 8)) * length**2
    return loss.value(w) * (1 + 4 * UNIT) + spread + (2 * miss + 3 * shift) * shift


def support_loss_of(
    average: RowAverage, offset: np.ndarray | None = None
) -> tuple[SupportLoss, MomentError]:
    """Return the closed form of F on supports, and what its moments have lost to rounding."""
    found = row_moments(average, offset=offset)
    loss = SupportLoss(found, average.lam)
    return loss, moment_error(average.mass.size, np.asarray(found.size), loss.scale)


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
    loss, error = support_loss_of(average)
    used = np.flatnonzero(loss.informative)
    if used.size == 0:
        return 1.0
    sigma, delta = loss.scaled_sigma[np.ix_(used, used)], loss.scaled_delta[used]
    diagonal = certified_diagonal(sigma)
    if diagonal is None:
        return 0.0
    q = ceiling(sigma, delta, diagonal, k, np.zeros(used.size, dtype=bool))
    return float(objective_floor(q, min(k, used.size), diagonal.least, error))
