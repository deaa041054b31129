"""The square loss over all pairs: from the pairs themselves, and in fractions."""

import itertools
from fractions import Fraction
from typing import Any

import numpy as np

import naive


def differences(X: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """Every x_i - x_j with i positive and j negative: (n_pos n_neg, d)."""
    return np.concatenate([x - X[~positive] for x in X[positive]])


def pair_weights(positive: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
    row = np.ones(positive.size) if weight is None else weight
    product = np.concatenate([a * row[~positive] for a in row[positive]])
    return product / product.sum()


def mean_square(X: np.ndarray, positive: np.ndarray, w: np.ndarray, weight: Any = None) -> float:
    """The mean of (1 - w'(x_i - x_j))^2 over all pairs."""
    share = pair_weights(positive, weight)
    return float(share @ (1 - differences(X, positive) @ w) ** 2)


def least_mean_square(X: Any, positive: Any, support: list[int], weight=None, lam=0.0) -> float:
    """The minimum on a support, by least squares over the pairs."""
    root = np.sqrt(pair_weights(positive, weight))[:, None]
    ridge = np.sqrt(lam / 2) * np.eye(len(support))
    A = np.vstack([root * differences(X, positive)[:, support], ridge])
    b = np.concatenate([root.ravel(), np.zeros(len(support))])
    w = np.linalg.lstsq(A, b, rcond=1e-10)[0]
    return float(np.sum((b - A @ w) ** 2))


class ExactSquare:
    """Sigma with lam/2 on its diagonal, and delta, of rows and their weights."""

    def __init__(self, X, positive, weight=None, lam: float = 0.0):
        X = np.asarray(X, dtype=float)
        weight = np.ones(len(X)) if weight is None else weight
        self.d = d = X.shape[1]
        self.sigma = [[Fraction(lam) / 2 * (i == j) for j in range(d)] for i in range(d)]
        means = []
        for side in (True, False):
            rows, a = naive.exact(X[positive == side]), naive.exact(weight[positive == side])
            share = [x / sum(a) for x in a]
            mean = naive.pulled(rows, share)
            means.append(mean)
            apart = [[x - m for x, m in zip(row, mean, strict=True)] for row in rows]
            for i, j in itertools.product(range(d), repeat=2):
                each = zip(share, apart, strict=True)
                self.sigma[i][j] += sum(w * row[i] * row[j] for w, row in each)
        self.delta = [x - y for x, y in zip(*means, strict=True)]

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
        x = naive.exact(np.asarray(w))
        used = [j for j in range(self.d) if x[j]]
        spread = sum((x[i] * x[j] * self.sigma[i][j] for i in used for j in used), Fraction(0))
        return spread + (1 - sum(a * b for a, b in zip(x, self.delta, strict=True))) ** 2

    def best(self, k: int) -> Fraction:
        supports = itertools.combinations(range(self.d), min(k, self.d))
        return min(self.least(S) for S in supports)
