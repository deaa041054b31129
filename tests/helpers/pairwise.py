"""The square loss over all pairs: from the pairs themselves, and in fractions."""

from __future__ import annotations

import itertools
from fractions import Fraction

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
    """The mean of (1 - w'(x_i - x_j))^2 over all pairs."""
    share = pair_weights(positive, weight)
    return float(share @ (1 - differences(X, positive) @ w) ** 2)


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


class ExactSquare:
    """Sigma with lam/2 on its diagonal, and delta, of rows and their weights."""

    def __init__(self, X, positive, weight=None, lam: float = 0.0):
        X = np.asarray(X, dtype=float)
        weight = np.ones(len(X)) if weight is None else weight
        self.d = X.shape[1]
        self.sigma = [[Fraction(0)] * self.d for _ in range(self.d)]
        means = []
        for side in (True, False):
            rows = [[Fraction(x) for x in row] for row in X[positive == side].tolist()]
            a = [Fraction(x) for x in weight[positive == side].tolist()]
            total = sum(a)
            mean = [
                sum(w * row[j] for w, row in zip(a, rows, strict=True)) / total
                for j in range(self.d)
            ]
            means.append(mean)
            for i, j in itertools.product(range(self.d), repeat=2):
                spread = sum(
                    w * (row[i] - mean[i]) * (row[j] - mean[j])
                    for w, row in zip(a, rows, strict=True)
                )
                self.sigma[i][j] += spread / total
        for j in range(self.d):
            self.sigma[j][j] += Fraction(lam) / 2
        self.delta = [means[0][j] - means[1][j] for j in range(self.d)]

    def least(self, S) -> Fraction:
        """F*(S) = 1 / (1 + q_S), by elimination; zero where delta_S is outside the range."""
        rows = [[self.sigma[i][j] for j in S] + [self.delta[i]] for i in S]
        q = Fraction(0)
        while rows:
            row = rows.pop(0)
            pivot, right = row[0], row[-1]
            if pivot == 0:
                if right != 0:
                    return Fraction(0)
                rows = [other[1:] for other in rows]
                continue
            q += right**2 / pivot
            rows = [
                [a - other[0] / pivot * b for a, b in zip(other[1:], row[1:], strict=True)]
                for other in rows
            ]
        return 1 / (1 + q)

    def value(self, w) -> Fraction:
        """F(w), the penalty included."""
        x = [Fraction(value) for value in np.asarray(w).tolist()]
        used = [j for j in range(self.d) if x[j]]
        spread = sum((x[i] * x[j] * self.sigma[i][j] for i in used for j in used), Fraction(0))
        return spread + (1 - sum(a * b for a, b in zip(x, self.delta, strict=True))) ** 2

    def best(self, k: int) -> Fraction:
        """The least F* over all supports of k features."""
        supports = itertools.combinations(range(self.d), min(k, self.d))
        return min(self.least(S) for S in supports)
