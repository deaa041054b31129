"""Random problems of every awkward kind, each made again from its seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

KINDS = ("plain", "ties", "duplicates", "separable", "wide", "sparse")
"""Ties: few levels a feature. Wide: more features than rows."""

_SHARES = (0.4, 0.15, 0.1, 0.15, 0.1, 0.1)


@dataclass(frozen=True, eq=False)
class Drawn:
    """One problem.

    Attributes
    ----------
    seed : int
    kind : str
        One of `KINDS`.
    X : array or CSR (n, d)
    y : bool array (n,)
    lam : float
        1e-7 to 10.
    scale : float
        0.01 to 100: X is of this size.
    weight : array (n,) or None
        Row weights.
    """

    seed: int
    kind: str
    X: Any
    y: np.ndarray
    lam: float
    scale: float
    weight: np.ndarray | None

    @property
    def whole(self) -> bool:
        """Whether the weights are whole numbers, as a proof file needs them."""
        return self.weight is None or bool((self.weight == np.floor(self.weight)).all())

    @property
    def shape(self) -> str:
        """Kind, size and weights, in a few words."""
        weights = "" if self.weight is None else ", whole weights" if self.whole else ", weights"
        return f"{self.kind} {self.X.shape[0]} x {self.X.shape[1]}{weights}"


def draw(seed: int, rows: tuple[float, float] = (1e2, 2e4)) -> Drawn:
    """Return the problem of that seed.

    Parameters
    ----------
    seed : int
    rows : (float, float)
        Fewest and most rows; their number is log-uniform. Wide problems have 100 to 1000.
    """
    rng = np.random.default_rng([20, seed])
    kind = str(rng.choice(KINDS, p=_SHARES))
    n = round(float(np.exp(rng.uniform(*np.log(rows)))))
    d = int(rng.integers(1, 51))
    lam, scale = 10.0 ** rng.uniform(-7, 1), 10.0 ** rng.uniform(-2, 2)
    share, signal = rng.uniform(0.02, 0.5), float(rng.choice([0.0, 0.5, 2.0]))
    if kind == "wide":
        n = round(float(np.exp(rng.uniform(np.log(100), np.log(1000)))))
        d = int(rng.integers(n + 1, 3 * n))
    y = rng.random(n) < share
    y[:2] = True, False
    X = _rows(kind, n, d, y, signal, rng)
    weight = None
    how = rng.random()
    if how < 0.1:
        weight = rng.integers(1, 10, n).astype(float)
    elif how < 0.2:
        weight = rng.uniform(0.1, 10.0, n)
    return Drawn(seed, kind, X * scale, y, float(lam), float(scale), weight)


def _rows(
    kind: str, n: int, d: int, y: np.ndarray, signal: float, rng: np.random.Generator
) -> np.ndarray | sp.csr_matrix:
    direction = rng.normal(size=d) / np.sqrt(d)
    X = rng.normal(size=(n, d)) + signal * y[:, None] * direction
    if kind == "ties":
        return np.round(X / rng.uniform(0.5, 1.5))
    if kind == "duplicates":
        again = rng.integers(0, max(n // 4, 2), n)
        again[:2] = 0, 1  # both classes keep a row
        return X[again]
    if kind == "separable":
        unit = direction / np.linalg.norm(direction)
        along = X @ unit
        wanted = np.where(y, 1.0, -1.0) * (np.abs(along) + rng.uniform(0.0, 2.0))
        return X + np.outer(wanted - along, unit)
    if kind == "sparse":
        return sp.csr_matrix(np.where(rng.random((n, d)) < rng.uniform(0.02, 0.3), X, 0.0))
    return X
