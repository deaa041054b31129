"""The square loss over all pairs, minimised over the weights on given features.

With w zero outside the features S, and ``Sigma``, ``delta`` as in `exact/square_loss/moments.py`,

    F(w) = w'M w - 2 w'delta + 1 = w'Sigma w + (1 - w'delta)^2,
    F*(S) = min F = 1 / (1 + q_S),    q_S = delta_S' Sigma_SS^+ delta_S,

where q_S is infinite, and F*(S) zero, unless delta_S lies in the range of Sigma_SS: then some w
on S has w'(x_i - x_j) = 1 for all pairs at once. The minimum on the best k features is the
problem that [SHT, eq. (3)] states. A penalty lam/2 |w|^2 adds lam/2 to the diagonal of Sigma.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from ..pairs.all_pairs import AllPairs
from ..spaces.rows import Rows
from ..tools.checks import check_number
from ..tools.lossless import as_float64
from .moments import Moments, moments
from .support_swaps import UNCLEAR, Factor, Swap, swapped

CONSTANT = 1e-12
"""A feature that varies within the classes by less than this times its size is constant."""

NULL = 1e-13
"""Variances below this count as zero; the features are scaled to variance one."""


@dataclass(frozen=True, eq=False)
class SupportOptimum:
    """The minimum on a support.

    Attributes
    ----------
    support : int array (s,)
        Sorted.
    q : float
        In [0, inf].
    value : float
        F*(S) = 1 / (1 + q), in [0, 1].
    w : array (d,)
        A minimiser, zero outside the support; one of several where features are redundant.
    """

    support: np.ndarray
    q: float
    value: float
    w: np.ndarray


class SupportLoss:
    """F and its minima on supports, from the moments of the two classes.

    F*(S) does not depend on the units of the features where lam is zero, so they are scaled to
    variance one within the classes first. What decides between a small variance and none is
    rounding: `CONSTANT` and `NULL`. A direction of variance below them counts as having none.
    Features that coincide to six digits or so, but not quite, are beyond what moments can tell
    apart, and the minimum on them may come out wrong: nothing here is a bound, see
    `exact/square_loss/support_bounds.py` for those. A penalty settles it.

    Parameters
    ----------
    moments : Moments
        With finite numbers.
    lam : float
        >= 0.

    Raises
    ------
    InputError
        If the moments do not fit together or are not finite, or lam < 0.
    """

    def __init__(self, moments: Moments, lam: float = 0.0):
        delta, sigma = np.asarray(moments.delta), np.asarray(moments.sigma)
        if delta.ndim != 1 or sigma.shape != (delta.size, delta.size):
            raise InputError(f"delta of shape {delta.shape} and Sigma of {sigma.shape} do not fit")
        if not (np.isfinite(delta).all() and np.isfinite(sigma).all()):
            raise InputError("the moments must be finite")
        self.lam = check_number("lam", lam, closed="low")
        self.delta, self.sigma, self.dim = delta, sigma, int(delta.size)
        variance = np.diag(sigma) + self.lam / 2
        size = np.zeros(self.dim) if moments.size is None else moments.size
        varies = variance > (CONSTANT * size) ** 2
        # A constant feature with another constant in each class separates; rounding does not.
        silent = ~varies & (np.abs(delta) <= CONSTANT * size)
        self._scale = np.where(varies, np.sqrt(np.maximum(variance, 0.0)), np.abs(delta))
        self._scale[silent] = 1.0
        self._delta = np.where(silent, 0.0, delta / self._scale)
        ridged = sigma + self.lam / 2 * np.eye(self.dim)
        correlation = ridged / np.outer(self._scale, self._scale)
        self._sigma = np.where(np.outer(varies, varies), correlation, 0.0)
        noise = float((np.finfo(float).eps * size / self._scale)[varies].max(initial=0.0))
        self._informative = varies | (self._delta != 0.0)
        self._null = NULL + noise
        self._slip = 1e-8 + 8 * noise

    @property
    def scale(self) -> np.ndarray:
        """What the features are divided by, to have variance one within the classes: (d,)."""
        return self._scale

    @property
    def scaled_sigma(self) -> np.ndarray:
        """Sigma, with the penalty, of the scaled features: (d, d), its diagonal one or zero."""
        return self._sigma

    @property
    def scaled_delta(self) -> np.ndarray:
        """Difference of the class means of the scaled features: (d,)."""
        return self._delta

    @property
    def informative(self) -> np.ndarray:
        """Which features are not the same constant in both classes: bool (d,)."""
        return self._informative

    def value(self, w: np.ndarray) -> float:
        """Return F(w) = w'Sigma w + (1 - w'delta)^2 + lam/2 |w|^2 at `w` (d,)."""
        w = self._check_weights(w)
        return float(w @ self.sigma @ w + (1 - w @ self.delta) ** 2 + self.lam / 2 * (w @ w))

    def gradient(self, w: np.ndarray) -> np.ndarray:
        """Return 2 M w - 2 delta + lam w at `w`: (d,). [SHT, Prop. 1]"""
        w = self._check_weights(w)
        return 2 * (self.sigma @ w) - 2 * (1 - w @ self.delta) * self.delta + self.lam * w

    def optimum(self, support: Iterable[int]) -> SupportOptimum:
        """Return the minimum of F over the weights on these features.

        Parameters
        ----------
        support : indices of features
            Different ones, in any order; none at all gives F(0) = 1.

        Raises
        ------
        InputError
            If an index is out of range or comes twice.
        """
        factor = self._factor(_check_support(support, self.dim))
        w = np.zeros(self.dim)
        if np.isinf(factor.q):
            scaled = factor.escaping / float(factor.escaping @ factor.escaping)
        else:
            scaled = factor.solved / (1 + factor.q)
        w[factor.support] = scaled / self._scale[factor.support]
        return SupportOptimum(factor.support, factor.q, 1 / (1 + factor.q), w)

    def additions(self, support: Iterable[int], end: float = np.inf) -> np.ndarray:
        """Return F*(S with i) for each feature i: (d,). F*(S) itself where i is in S.

        One more feature adds (delta_i - Sigma_iS Sigma_SS^+ delta_S)^2 to q, divided by what
        remains of its variance when S is known. Features that hardly vary when S is known are
        looked at one by one, up to the time `end` (`time.perf_counter`); then they count as F*(S).
        """
        return self._additions(self._factor(_check_support(support, self.dim)), end)

    def swaps(self, support: Iterable[int], end: float = np.inf) -> np.ndarray:
        """Return F*(S without S_j, with i) for each place j in sorted S and feature i: (s, d).

        NaN where i is already in S, and for places j not evaluated before the deadline `end`
        (`time.perf_counter`); nearly dependent features are slow.
        """
        chosen = _check_support(support, self.dim)
        values, sure = swapped(self._factor(chosen), self._sigma, self._delta)
        for place in np.flatnonzero(~sure):
            values[place] = np.nan
            if time.perf_counter() < end:
                values[place] = self._additions(self._factor(np.delete(chosen, place)), end)
        values[:, chosen] = np.nan
        return values

    def best_swap(self, support: Iterable[int], end: float = np.inf) -> Swap | None:
        """Return the swap after which F*(S) is lowest; None where no swap is possible.

        Whether it lowers F*(S) is for the caller to see; `end` as in `swaps`.
        """
        chosen = _check_support(support, self.dim)
        if chosen.size in (0, self.dim) or time.perf_counter() >= end:
            return None
        values = self.swaps(chosen, end)
        if np.isnan(values).all():
            return None
        place, into = np.unravel_index(int(np.nanargmin(values)), values.shape)
        return Swap(int(chosen[place]), int(into), float(values[place, into]))

    def _factor(self, support: np.ndarray) -> Factor:
        sigma, delta = self._sigma[np.ix_(support, support)], self._delta[support]
        eigenvalues, vectors = np.linalg.eigh(sigma)
        kept = eigenvalues > self._null * max(support.size, 1)
        inside = vectors[:, kept]
        basis = inside / np.sqrt(eigenvalues[kept])
        coordinates = basis.T @ delta
        escaping = delta - inside @ (inside.T @ delta)
        outside = np.linalg.norm(escaping) > self._slip * max(1.0, float(np.linalg.norm(delta)))
        return Factor(
            support,
            basis,
            basis @ coordinates,
            escaping,
            np.inf if outside else float(coordinates @ coordinates),
            float(eigenvalues[kept].min(initial=1.0)),
        )

    def _additions(self, factor: Factor, end: float = np.inf) -> np.ndarray:
        if np.isinf(factor.q):
            return np.zeros(self.dim)
        support, variance = factor.support, np.diag(self._sigma)
        known = factor.basis.T @ self._sigma[support]
        left = variance - (known**2).sum(axis=0)
        news = self._delta - factor.solved @ self._sigma[support]
        clear = left > UNCLEAR / factor.least
        more = np.divide(news**2, left, out=np.zeros(self.dim), where=clear)
        more[(variance == 0) & (self._delta != 0)] = np.inf
        more[support] = 0.0
        values = 1 / (1 + factor.q + more)
        unclear = ~clear & (variance > 0)
        unclear[support] = False
        for i in np.flatnonzero(unclear):
            if time.perf_counter() >= end:
                break
            values[i] = 1 / (1 + self._factor(np.sort(np.append(support, i))).q)
        return values

    def _check_weights(self, w: np.ndarray) -> np.ndarray:
        w = as_float64(w, "w")
        if w.shape != (self.dim,):
            raise InputError(f"w must have {self.dim} entries; its shape is {w.shape}")
        return w


def optimum_on(
    space: Rows,
    positive: np.ndarray,
    support: Iterable[int],
    pairs: AllPairs | None = None,
    lam: float = 0.0,
) -> SupportOptimum:
    """Return the minimum on a support without the moments of the other features.

    Parameters
    ----------
    space : Rows
    positive : bool array (n,)
    support : indices of features
        Few enough that an s x s matrix and their columns fit into memory.
    pairs : AllPairs, optional
        With the row weights.
    lam : float
        >= 0.

    Raises
    ------
    InputError
        As `SupportLoss.optimum`.
    """
    chosen = _check_support(support, space.dim)
    few = SupportLoss(moments(space, positive, pairs or AllPairs(), chosen), lam)
    found = few.optimum(range(chosen.size))
    w = np.zeros(space.dim)
    w[chosen] = found.w
    return SupportOptimum(chosen, found.q, found.value, w)


def _check_support(support: Iterable[int], dim: int) -> np.ndarray:
    given = np.asarray(list(support))
    if given.size == 0:
        return np.empty(0, dtype=np.intp)
    if given.ndim != 1 or not np.issubdtype(given.dtype, np.integer):
        raise InputError("a support is a list of feature indices")
    if given.min() < 0 or given.max() >= dim:
        raise InputError(f"the support names features outside 0 .. {dim - 1}")
    chosen = np.unique(given)
    if chosen.size != given.size:
        raise InputError("the support names a feature twice")
    return chosen
