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
