"""Lower bounds for sparse AUC without a search: no k features do better than these.

Features are scaled to variance one, Sigma_TT is the matrix of the features T. For a diagonal D >= 0
with Sigma_TT - D positive semidefinite, any w on T and r = delta - Sigma w, each S of k features
that has the features `inside` has

    q_S <= w'(delta + r) - sum over T less S of (D_j w_j^2 + 2 r_j w_j) + sum over S of r_j^2/D_j,

since q_S = max_u 2 delta'u - u'Sigma u over u on S, and u'Sigma u >= w'Sigma w + 2 w'Sigma (u - w)
+ (u - w)'D(u - w). It says F*(S) >= 1 / (1 + that), see `exact/square_loss/support_loss.py`. At w =
Sigma_TT^-1 delta_T the vector r is rounding. This is the relaxation by perspectives at one point.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from ..tools.rounding import UNIT, gamma
from .row_moments import MomentError
from .support_loss import SupportLoss

REGULAR = 1e-8
"""Least entry of D: below it the features count as dependent, and no bound is made from them."""

LARGEST_SIDE = 500
"""Largest number of features for which a bound from all of them is affordable."""


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
        entries = tried - cholesky_slip(rest, tried)
        if not entries.min() >= REGULAR:
            return None
        try:
            np.linalg.cholesky(rest)
        except np.linalg.LinAlgError:
            continue
        return Diagonal(entries, inverse)
    return None


def cholesky_slip(rest: np.ndarray, tried: np.ndarray) -> float:
    """Return how far below zero an eigenvalue of sigma - diag(tried) may be, and what D loses.

    A Cholesky factorisation of `rest` that runs to its end, in floats, proves that its eigenvalues
    are above -c / (1 - c) times its trace, c = gamma_{s+1}. [Rump 2006] The diagonal of `rest` is
    off by a unit of itself, and so is what is left of `tried` by one of that.

    Parameters
    ----------
    rest : array (s, s)
        sigma - diag(tried), computed; its factorisation has run to its end.
    tried : array (s,)
        > 0.
    """
    side, trace = len(rest), float(np.maximum(np.diag(rest), 0.0).sum())
    return 1.001 * gamma(side + 2) * trace + 2 * UNIT * float(tried.max())


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
    w, D, size = diagonal.inverse @ delta, diagonal.entries, len(delta)
    top = float(_whole_ceiling(sigma, delta, w, D))
    dropped = np.sort((D * w * w)[~inside])[: max(size - k, 0)]
    return top - float(dropped.sum()) * (1 - gamma(size + 8))


def _whole_ceiling(
    sigma: np.ndarray, delta: np.ndarray, w: np.ndarray, D: np.ndarray
) -> np.ndarray:
    """Return an upper bound of q on all features (..., s), from any w, with D below sigma."""
    size = delta.shape[-1]
    r = delta - (sigma @ w[..., None])[..., 0]
    length = np.abs(w)
    largest = np.abs(delta).max(axis=-1, initial=0.0, keepdims=True)
    # Entries of sigma are at most one, but for rounding.
    slip = 2 * gamma(size + 4) * (length.sum(axis=-1, keepdims=True) + largest)
    left = np.abs(r) + slip
    spare = left**2 / D + 3 * left * length + gamma(size + 8) * length * (np.abs(delta) + left)
    return (w * (delta + r)).sum(axis=-1) + spare.sum(axis=-1) * (1 + gamma(2 * size + 8))


def whole_ceilings(sigma: np.ndarray, delta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return upper bounds of q on whole supports, and lower bounds of their least eigenvalues.

    With the computed eigenvectors V and values l, G = V'V - I and R = sigma V - V diag(l),

        least eigenvalue of sigma  >=  (min l - |G| max l - |V| |R|) / (1 + |G|)

    where the right side is positive: V'sigma V = diag(l) + G diag(l) + V'R, and |V|^2 <= 1 + |G|.

    Parameters
    ----------
    sigma, delta : arrays (m, s, s) and (m, s)
        Of m supports; the diagonals are one.

    Returns
    -------
    q, least : arrays (m,)
        Infinite and zero where the least eigenvalue is not known to be positive.
    """
    size = delta.shape[-1]
    if size == 0:
        return np.zeros(len(delta)), np.ones(len(delta))
    values, vectors = np.linalg.eigh(sigma)
    gram = vectors.transpose(0, 2, 1) @ vectors - np.eye(size)
    miss = sigma @ vectors - vectors * values[:, None, :]
    # Entries of sigma and V, and lengths of V's columns, are at most one, but for rounding.
    noise = 2.2 * size * gamma(size + 4)
    unlike = np.linalg.norm(gram, axis=(1, 2)) * (1 + 1e-9) + size * noise
    astray = np.linalg.norm(miss, axis=(1, 2)) * (1 + 1e-9) + size * noise
    lost = unlike * np.abs(values).max(axis=1) + (1 + unlike) * astray
    least = (values[:, 0] - lost * (1 + 1e-9)) / (1 + unlike) * (1 - 1e-12)
    sure = (least > 0) & (unlike < 1e-3)
    safe = np.where(sure[:, None], np.maximum(values, 1e-300), 1.0)
    w = (vectors @ ((vectors.transpose(0, 2, 1) @ delta[..., None]) / safe[..., None]))[..., 0]
    q = _whole_ceiling(sigma, delta, w, np.where(sure, least, 1.0)[:, None])
    return np.where(sure, q, np.inf), np.where(sure, least, 0.0)


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
    c, h = rounding_of_floor(k, least, error)
    root = np.sqrt(np.maximum(q, 0.0)) + c
    floor = (1 - 8 * UNIT) / (1 + root * root / (1 - h) * (1 + 8 * UNIT))
    return np.where(h < 0.5, floor, 0.0)


def rounding_of_floor(
    k: int, least: float | np.ndarray, error: MomentError
) -> tuple[np.ndarray, np.ndarray]:
    """Return c and h of `objective_floor`: q of the data is at most (sqrt(q) + c)^2 / (1 - h).

    h is at most one half; there it says that nothing is known.
    """
    least = np.asarray(least, dtype=float)
    h = np.minimum(k * error.sigma / least * (1 + 4 * UNIT), 0.5)
    return np.sqrt(k / least) * error.delta * (1 + 4 * UNIT), h


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
