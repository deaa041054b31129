"""The square loss over all pairs, from the pairs themselves: slow, and plainly right."""

from __future__ import annotations

import itertools

import numpy as np


def differences(X: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """Every x_i - x_j with i positive and j negative: (n_pos n_neg, d)."""
    return np.concatenate([x - X[~positive] for x in X[positive]])


def pair_weights(positive: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
    """Weights of those pairs, adding up to one."""
    row = np.ones(positive.size) if weight is None else weight
    product = np.concatenate([a * row[~positive] for a in row[positive]])
    return product / product.sum()


def mean_square(
    X: np.ndarray, positive: np.ndarray, w: np.ndarray, weight: np.ndarray | None = None
) -> float:
    """The mean of (1 - w'(x_i - x_j))^2 over all pairs, by a double loop."""
    row = np.ones(positive.size) if weight is None else weight
    total = mass = 0.0
    for i in np.flatnonzero(positive):
        for j in np.flatnonzero(~positive):
            total += row[i] * row[j] * (1 - float(w @ (X[i] - X[j]))) ** 2
            mass += row[i] * row[j]
    return total / mass


def least_mean_square(
    X: np.ndarray,
    positive: np.ndarray,
    support: list[int],
    weight: np.ndarray | None = None,
    lam: float = 0.0,
) -> float:
    """The minimum on a support, by least squares over the pairs."""
    root = np.sqrt(pair_weights(positive, weight))[:, None]
    A = np.vstack(
        [root * differences(X, positive)[:, support], np.sqrt(lam / 2) * np.eye(len(support))]
    )
    b = np.concatenate([root.ravel(), np.zeros(len(support))])
    w = np.linalg.lstsq(A, b, rcond=1e-10)[0]
    return float(np.sum((b - A @ w) ** 2))


def best_subset(X: np.ndarray, positive: np.ndarray, k: int) -> tuple[tuple[int, ...], float]:
    """The best k features and the minimum on them, by trying all."""
    found = {
        chosen: least_mean_square(X, positive, list(chosen))
        for chosen in itertools.combinations(range(X.shape[1]), k)
    }
    best = min(found, key=lambda chosen: found[chosen])
    return best, found[best]
