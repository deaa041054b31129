"""Kinds of the fuzzer: the best features, against all supports in fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

import naive
from aucert.approx import SHTAUC
from aucert.exact import best_subset
from fuzz_rows import hard_weight
from fuzzing import Found
from subset_problems import trying_all

KINDS_OF_FEATURES = (
    *("plain", "near copy", "near copy", "near copy", "copy", "constant", "sums", "ties"),
    "scales",
)


def subset(rng: np.random.Generator, found: Found) -> None:
    """`best_subset` against all supports in fractions, with near copies and constants."""
    X, y, weight, name = _features(rng)
    d = X.shape[1]
    k = int(rng.integers(1, d + 1))
    ridge = float(10.0 ** rng.uniform(-4, 1)) if rng.integers(2) else 0.0
    method = ["branch-and-bound", "exhaustive"][rng.integers(2)]
    found.name = f"subset, {name}, X {X.shape}, k {k}, ridge {ridge:.2g}, {method}"
    result = best_subset(X, y, k, ridge, sample_weight=weight, method=method, max_time=5.0)
    M, delta = exact_moments(X, y == 1, weight)
    for j in range(d):
        M[j][j] += Fraction(ridge) / 2
    true = Fraction(trying_all(lambda S: least_on(M, delta, S), d, k))
    value, wrong = quadratic(M, delta, result.w), []
    if Fraction(result.upper) < value:
        wrong.append(f"F(w) is {float(value):.17g}, above its bound {result.upper:.17g}")
    if Fraction(result.lower) > true:
        wrong.append(f"the lower bound is {result.lower:.6g}, the optimum {float(true):.6g}")
    if result.proved and value - true > Fraction(1, 10**9) + Fraction(1, 10**15):
        wrong.append(f"proved, but {float(value):.6g} is not the optimum {float(true):.6g}")
    found.judged(wrong)


def sparse_auc(rng: np.random.Generator, found: Found) -> None:
    """`SHTAUC`: its lower bound and `proved_`, also as judged by `best_subset`."""
    X, y, weight, name = _features(rng)
    d = X.shape[1]
    k = int(rng.integers(1, d + 1))
    found.name = f"SHTAUC, {name}, X {X.shape}, k {k}"
    try:
        model = SHTAUC(k=k, random_state=0, max_time=2.0).fit(X, y, weight)
    except ValueError:  # scikit-learn's own checks
        found.refused += 1
        return
    M, delta = exact_moments(X, y == 1, weight)
    true = Fraction(trying_all(lambda S: least_on(M, delta, S), d, k))
    value = quadratic(M, delta, model.coef_[0])
    found.judged(_bound_faults(model, value, true))
    bound = best_subset(X, y, k, sample_weight=weight, max_time=5.0)
    model.judge(bound)
    found.judged([f"judged: {text}" for text in _bound_faults(model, value, true)])


def _bound_faults(model: SHTAUC, value: Fraction, true: Fraction) -> list[str]:
    wrong = []
    if value - true > Fraction(model.gap_):
        wrong.append(f"gap_ is {model.gap_:.6g}, at least {float(value - true):.6g} is true")
    if Fraction(model.lower_bound_) > true:
        wrong.append(f"lower_bound_ {model.lower_bound_:.6g} above the optimum {float(true):.6g}")
    if model.proved_ and value - true > Fraction(1, 10**9) + Fraction(1, 10**15):
        wrong.append(f"proved_, but {float(value):.6g} is not the optimum {float(true):.6g}")
    return wrong


def _features(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, Any, str]:
    """Return few rows and features, some of them near copies, constant or of far sizes."""
    n, d = int(rng.integers(5, 15)), int(rng.integers(2, 6))
    y = rng.permutation(np.arange(n) < rng.integers(1, n)).astype(int)
    X = rng.normal(size=(n, d)) + rng.uniform(0, 1) * y[:, None]
    name = KINDS_OF_FEATURES[rng.integers(len(KINDS_OF_FEATURES))]
    if name == "near copy":
        X[:, 0] = X[:, 1] * (1 + 10.0 ** rng.uniform(-14, -5) * rng.normal(size=n))
    elif name == "copy":
        X[:, 0] = -2 * X[:, 1]
    elif name == "constant":
        X[:, 0] = 0.1
    elif name == "sums":
        X[:, 0] = X.sum(axis=1)
    elif name == "ties":
        X = np.round(X)
    elif name == "scales":
        X = X * 10.0 ** rng.integers(-9, 9, d)
    weight = hard_weight(rng, y) if rng.uniform() < 0.3 else None
    return X, y, weight, name


def exact_moments(
    X: np.ndarray, positive: np.ndarray, weight: np.ndarray | None
) -> tuple[list[list[Fraction]], list[Fraction]]:
    """Return M, the mean of (x_i - x_j)(x_i - x_j)' over the pairs, and the mean of x_i - x_j."""
    rows, d = naive.exact(X), X.shape[1]
    counts = naive.exact(np.ones(len(X)) if weight is None else weight)
    means, seconds = [], []
    for side in (True, False):
        of = [k for k, label in enumerate(positive.tolist()) if label == side]
        mass = sum(counts[k] for k in of)
        share = {k: counts[k] / mass for k in of}
        means.append([sum(share[k] * rows[k][a] for k in of) for a in range(d)])
        seconds.append(
            [[sum(share[k] * rows[k][a] * rows[k][b] for k in of) for b in range(d)]
             for a in range(d)]
        )  # fmt: skip
    (p, q), (P, Q) = means, seconds
    M = [[P[a][b] + Q[a][b] - p[a] * q[b] - q[a] * p[b] for b in range(d)] for a in range(d)]
    return M, [x - z for x, z in zip(p, q, strict=True)]


def least_on(M: list[list[Fraction]], delta: list[Fraction], support: list[int]) -> Fraction:
    """Return the least w'M w - 2 w'delta + 1 over w on the support, by elimination."""
    A = [[M[a][b] for b in support] for a in support]
    right, least = [delta[a] for a in support], Fraction(1)
    for k in range(len(A)):
        if A[k][k] == 0:
            continue  # M is semidefinite: its row is zero then, and so is the right side
        least -= right[k] ** 2 / A[k][k]
        for i in range(k + 1, len(A)):
            factor = A[i][k] / A[k][k]
            right[i] -= factor * right[k]
            A[i] = [x - factor * z for x, z in zip(A[i], A[k], strict=True)]
    return least


def quadratic(M: list[list[Fraction]], delta: list[Fraction], w: np.ndarray) -> Fraction:
    """Return w'M w - 2 w'delta + 1."""
    v = naive.exact(w)
    both = naive.products(M, v)
    return sum((x * (z - 2 * e) for x, z, e in zip(v, both, delta, strict=True)), Fraction(1))
