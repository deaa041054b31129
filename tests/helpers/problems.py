"""A family of random problems that holds every awkwardness we know of, one a seed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aucert.exact.pairs.all_pairs import AllPairs, PairList

KINDS = (
    "gaussian",
    "noise",
    "separable",
    "integers",
    "levels",
    "duplicates",
    "constant",
    "one_positive",
    "wide",
    "heavy_tails",
)
"""Kinds of features; seed k has kind k modulo their number."""

LARGEST_PAIRS = 5000


@dataclass(frozen=True, eq=False)
class Case:
    """One problem: the arguments of `solve`, and its name for messages."""

    X: np.ndarray
    y: np.ndarray
    lam: float
    loss: str
    pairs: AllPairs | PairList
    name: str

    @property
    def positive(self) -> np.ndarray:
        return self.y == 1


def random_case(seed: int, largest: int = 300) -> Case:
    """Return the problem of that seed.

    n 4..largest (at most 5000 pairs), 1..20 features, 1..50 % positive, lam 1e-5..10, hinge (two
    thirds) or squared hinge, and now and then row weights (some of them zero) or a drawn list of
    pairs with multiplicities.
    """
    rng = np.random.default_rng([20240, seed])
    kind = KINDS[seed % len(KINDS)]
    y = _labels(rng, kind, largest)
    X = _features(rng, kind, y)
    lam = float(10.0 ** rng.uniform(-5, 1))
    loss = "squared_hinge" if seed % 3 == 2 else "hinge"
    pairs = _pairs(rng, y == 1)
    name = f"seed {seed}: {kind}, {loss}, X {X.shape}, lam {lam:.1e}, {type(pairs).__name__}"
    return Case(X, y, lam, loss, pairs, name)


def _labels(rng: np.random.Generator, kind: str, largest: int) -> np.ndarray:
    n = int(np.exp(rng.uniform(np.log(4), np.log(largest))))
    n_pos = 1 if kind == "one_positive" else max(1, round(n * rng.uniform(0.01, 0.5)))
    n_pos = min(n_pos, max(1, LARGEST_PAIRS // n))
    y = np.zeros(n, dtype=int)
    y[rng.permutation(n)[:n_pos]] = 1
    return y


def _features(rng: np.random.Generator, kind: str, y: np.ndarray) -> np.ndarray:
    n = y.size
    d = int(rng.integers(10, 21)) if kind == "wide" else int(rng.integers(1, 9))
    signal = 0.0 if kind == "noise" else 6.0 if kind == "separable" else rng.uniform(0.2, 1.5)
    direction = rng.normal(size=d) / np.sqrt(d)
    X = rng.normal(size=(n, d)) + signal * np.outer(y, direction)
    if kind == "integers":
        X = np.round(2 * X)
    elif kind == "levels":
        X = np.clip(np.round(X), -1, 1)
    elif kind == "duplicates":
        X = X[rng.integers(0, max(2, n // 3), size=n)]
    elif kind == "constant":
        X[:, rng.integers(0, d)] = 3.0
    elif kind == "heavy_tails":
        X = X * np.exp(rng.normal(size=(n, 1)))
    return X


def _pairs(rng: np.random.Generator, positive: np.ndarray) -> AllPairs | PairList:
    choice = rng.uniform()
    if choice < 0.6:
        return AllPairs()
    plus, minus = np.flatnonzero(positive), np.flatnonzero(~positive)
    if choice < 0.8:
        weight = rng.integers(0, 4, size=positive.size).astype(float)
        weight[plus[0]] = weight[minus[0]] = 1.5
        return AllPairs(weight)
    m = int(rng.integers(1, 300))
    return PairList(rng.choice(plus, m), rng.choice(minus, m))
