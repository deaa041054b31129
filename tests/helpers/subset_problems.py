"""Random problems for the best subset, with what makes them awkward, and trying all supports."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

KINDS = ("plain", "correlated", "copies", "sums", "constants", "ridge", "weighted", "few rows")


@dataclass(frozen=True)
class Drawn:
    X: np.ndarray
    y: np.ndarray
    k: int
    ridge: float = 0.0
    weight: np.ndarray | None = None


def draw(seed: int, kind: str = "plain", d: int | None = None, n: int | None = None) -> Drawn:
    """A problem with up to 16 features, some of them telling the classes apart."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(5, 17)) if d is None else d
    n = int(rng.integers(40, 200)) if n is None else n
    k = int(rng.integers(1, min(d, 6)))
    y = rng.permutation(np.arange(n) < max(5, 0.3 * n)).astype(int)
    share = 0.6 if kind == "correlated" else 0.0
    X = np.sqrt(1 - share) * rng.normal(size=(n, d)) + np.sqrt(share) * rng.normal(size=(n, 1))
    signal = rng.choice(d, min(d, 4), replace=False)
    X[:, signal] += y[:, None] * rng.uniform(0.2, 0.8, size=signal.size)
    X *= 10.0 ** rng.integers(-2, 3, size=d)
    if kind in ("copies", "sums"):
        X = np.round(X * 2.0**20) / 2.0**20  # then copies and sums are so to the last digit
    if kind == "copies":
        X[:, 0], X[:, 1] = -3 * X[:, -1], X[:, 2]
    if kind == "sums":
        X[:, 0] = X[:, 1] - 2 * X[:, 2] + 5
    if kind == "constants":
        X[:, 0], X[:, 1] = 7.3, 0.1
    if kind == "few rows":
        keep = np.r_[np.flatnonzero(y)[:4], np.flatnonzero(1 - y)[:5]]
        X, y = X[keep], y[keep]
    ridge = float(rng.choice([0.01, 1.0])) if kind == "ridge" else 0.0
    weight = rng.integers(1, 4, size=n).astype(float) if kind == "weighted" else None
    return Drawn(X, y, k, ridge, weight)


def trying_all(F, d: int, k: int) -> float:
    """The least of F over all supports of k features."""
    return min(F(list(S)) for S in itertools.combinations(range(d), min(k, d)))


def noisy(n: int, d: int, k: int, r: float, share: float, seed: int, mu: float = 0.3):
    """X, y: k features with mean difference mu, all with a common part."""
    rng = np.random.default_rng(seed)
    y = (np.arange(n) < r * n).astype(int)
    X = np.sqrt(1 - share) * rng.normal(size=(n, d)) + np.sqrt(share) * rng.normal(size=(n, 1))
    X[np.ix_(y == 1, rng.choice(d, k, replace=False))] += mu
    return X, y
