"""All swaps of one feature at once, from the inverse P of Sigma_SS.

With ``A = P Sigma_S.`` and ``x = P delta_S``, feature j out of S leaves feature i the variance
``left_i + A_ji^2 / P_jj`` and the news ``news_i + x_j A_ji / P_jj``, and q falls by
``x_j^2 / P_jj`` (block inversion). That is O(s^2 d) for all s d swaps together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

WELL = 1e-4
"""Least eigenvalue of Sigma_SS, at variance one a feature, for which the inverse is used."""

UNCLEAR = 1e-8
"""A remaining variance below this, over the least eigenvalue, has lost too many digits."""


@dataclass(frozen=True, eq=False)
class Swap:
    """One feature removed, one added, and the minimum afterwards."""

    out: int
    into: int
    value: float


@dataclass(frozen=True, eq=False)
class Factor:
    """Sigma_SS of scaled features: its eigenvectors with and without variance, and q."""

    support: np.ndarray
    basis: np.ndarray  # (s, rank), divided by the square roots of the eigenvalues
    solved: np.ndarray  # (s,) Sigma_SS^+ delta_S
    escaping: np.ndarray  # (s,) the part of delta_S outside the range of Sigma_SS
    q: float
    least: float  # the smallest eigenvalue that is not zero


def swapped(factor: Factor, sigma: np.ndarray, delta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return F* after each swap, (s, d), and whether each row of it has its digits, bool (s,).

    Parameters
    ----------
    factor : Factor
        Of the support S.
    sigma : array (d, d)
    delta : array (d,)
        Of all scaled features.
    """
    support, s, d = factor.support, factor.support.size, delta.size
    if factor.basis.shape[1] < s or np.isinf(factor.q) or factor.least <= WELL:
        return np.ones((s, d)), np.zeros(s, dtype=bool)
    rows, P, variance = sigma[support], factor.basis @ factor.basis.T, np.diag(sigma)
    A, own = P @ rows, np.diag(P)[:, None]
    x, share = factor.solved[:, None], A / own
    left = variance - ((factor.basis.T @ rows) ** 2).sum(axis=0) + A * share
    news = delta - factor.solved @ rows + x * share
    more = np.divide(news**2, left, out=np.zeros((s, d)), where=left > 0)
    more[:, (variance == 0) & (delta != 0)] = np.inf
    asked = variance > 0
    asked[support] = False
    sure = (left[:, asked] > UNCLEAR / factor.least).all(axis=1)
    return 1 / (1 + np.maximum(factor.q - x**2 / own, 0.0) + more), sure
