"""Data with a few features that tell the classes apart."""

from __future__ import annotations

import numpy as np


def draw(
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


def easy(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """The same with a strong signal, every feature scaled to Sigma_jj = 1."""
    X, y = draw(seed, n=300, mu=(2.0, 1.6, 1.0))
    return X / np.sqrt(X[y == 1].var(axis=0) + X[y == 0].var(axis=0)), y
