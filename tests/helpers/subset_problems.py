"""Random problems for the best subset, with what makes them awkward."""

from __future__ import annotations

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


AWKWARD = (
    *("plain", "near copy", "near sum", "near copies of both", "scaled copy", "whole numbers"),
    *("one positive", "constants", "few rows", "far away", "large and small", "separating"),
    *("all but constant", "weighted", "ridge", "outlier"),
)


def awkward(seed: int, kind: str):
    """X, the positive rows, k, weights and ridge; up to 6 features, one of the awkward kinds."""
    rng = np.random.default_rng([seed, AWKWARD.index(kind)])
    n, d = int(rng.integers(6, 14)), int(rng.integers(2, 7))
    k = int(rng.integers(1, d + 1))
    positive = rng.permutation(n) < rng.integers(1, n)
    X = rng.normal(size=(n, d)) + 0.7 * positive[:, None] * rng.uniform(size=d)
    near = 10.0 ** -float(rng.integers(1, 17))
    weight, ridge = None, 0.0
    if kind == "near copy":
        X[:, 0] = X[:, -1] + near * rng.normal(size=n)
    elif kind == "near sum":
        X[:, 0] = X[:, 1] - 2 * X[:, -1] + 5 + near * positive * rng.integers(0, 2)
    elif kind == "near copies of both":
        X[:, 0], X[:, 1] = X[:, -1] * (1 + near), X[:, -1] * (1 - near * rng.normal(size=n))
    elif kind == "scaled copy":
        X[:, 0] = X[:, -1] * rng.choice([-3.0, -2.0, 1.8, 1e-30]) + rng.choice([0.0, 32.0])
    elif kind == "whole numbers":
        X = rng.integers(-2, 3, size=(n, d)).astype(float)
    elif kind == "one positive":
        positive = np.arange(n) == rng.integers(n)
        X[:, 0] = X[:, -1] + near * positive
    elif kind == "constants":
        X[:, 0], X[:, -1] = 0.1, 7.3
    elif kind == "few rows":
        X, positive = X[:4], np.arange(4) < 2
    elif kind == "far away":
        X = 10.0 ** rng.integers(3, 16) + X
    elif kind == "large and small":
        X = X * 10.0 ** rng.choice([-150, -100, -20, 0, 20, 90], size=d)
    elif kind == "separating":
        X[:, 0] = np.where(positive, 0.7, 0.1) + near * rng.normal(size=n) * rng.integers(0, 2)
    elif kind == "all but constant":
        X[:, 0] = 1 + 2.0**-52 * rng.integers(0, 3, size=n)
        X[:, -1] = 0.3 + 2.0**-54 * positive
    elif kind == "weighted":
        weight = rng.choice([0.0, 0.1, 1.0, 1e8], size=n) + 1e-3 * (rng.uniform(size=n) < 0.5)
        weight[[np.argmax(positive), np.argmin(positive)]] = 1.0
        X[:, 0] = X[:, -1] + near * rng.normal(size=n)
    elif kind == "ridge":
        ridge = float(10.0 ** rng.integers(-12, 2))
        X[:, 0] = X[:, -1] + near * rng.normal(size=n)
    elif kind == "outlier":
        X[0, 0] = 10.0 ** rng.integers(4, 17)
    return X, positive, k, weight, ridge


def noisy(n: int, d: int, k: int, r: float, share: float, seed: int, mu: float = 0.3):
    """X, y: k features with mean difference mu, all with a common part."""
    rng = np.random.default_rng(seed)
    y = (np.arange(n) < r * n).astype(int)
    X = np.sqrt(1 - share) * rng.normal(size=(n, d)) + np.sqrt(share) * rng.normal(size=(n, 1))
    X[np.ix_(y == 1, rng.choice(d, k, replace=False))] += mu
    return X, y


def with_signal(
    seed: int = 0,
    n: int = 60,
    d: int = 8,
    r: float = 0.25,
    mu: tuple[float, float, float] = (1.0, 0.8, 0.6),
) -> tuple[np.ndarray, np.ndarray]:
    """X and y with the signal in features 0, 1, 2, ever weaker."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) < r * n).astype(int)
    X = rng.normal(size=(n, d))
    X[:, :3] += y[:, None] * np.array(mu)
    return X, y
