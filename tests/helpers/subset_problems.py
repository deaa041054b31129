"""Random problems for the best subset, with what makes them awkward."""

import numpy as np

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


def with_signal(seed: int = 0, n: int = 60, d: int = 8, r: float = 0.25, mu=(1.0, 0.8, 0.6)):
    """X and y with the signal in features 0, 1, 2, ever weaker."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) < r * n).astype(int)
    X = rng.normal(size=(n, d))
    X[:, :3] += y[:, None] * np.array(mu)
    return X, y
