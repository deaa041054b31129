"""Families of problems that hold every awkwardness we know of."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from aucert.exact import AllPairs, Mean, PairList, Problem, Ridge, Rows, linear_problem
from aucert.exact.losses.registry import get_loss
from aucert.exact.pairs.kinds import group_auc_pairs, query_pairs, survival_pairs

CLASSES = (
    *("plain", "ties", "constant", "duplicates", "one positive", "one of each", "sparse"),
    *("weights", "separable", "pairs", "wide", "correlated", "heavy tails", "levels", "equal"),
)
ORDERED = ("survival", "queries", "gains", "mean over groups")


def awkward(kind: str, lam: float, loss: Any = "hinge", seed: int = 3, n: int = 200) -> Problem:
    """Return a small problem with one difficulty, over two classes or over ordered pairs."""
    rng = np.random.default_rng(seed)
    if kind in ORDERED:
        X = rng.normal(size=(n, 4))
        return Problem(Rows(X), Mean(_ordered(rng, X, kind), get_loss(loss)), Ridge(lam))
    n, d = (40, 90) if kind == "wide" else (2 if kind == "one of each" else n, 4)
    X, y = rng.normal(size=(n, d)), rng.random(n) < 0.4
    changed = {
        "ties": lambda: np.rint(2 * X),
        "levels": lambda: np.clip(np.rint(X), -1, 1),
        "constant": lambda: np.where(np.arange(d) == 1, 7.0, X),
        "equal": lambda: np.ones((n, d)),
        "duplicates": lambda: np.tile(X[: n // 4], (4, 1)),
        "correlated": lambda: X + 30 * X[:, :1],
        "heavy tails": lambda: X * rng.standard_cauchy(size=(n, 1)),
    }
    X = changed.get(kind, lambda: X)()
    y = np.arange(n) == 5 if kind == "one positive" else X[:, 0] > 0.2 if kind == "separable" else y
    y[:2] = (kind != "one positive"), False
    pairs: AllPairs | PairList | None = None
    if kind == "weights":
        pairs = AllPairs(rng.integers(0, 4, n) + (np.arange(n) < 2))
    if kind == "pairs":
        i, j = rng.choice(np.flatnonzero(y), 300), rng.choice(np.flatnonzero(~y), 300)
        pairs = PairList(i, j, rng.uniform(0.5, 2, 300))
    return linear_problem(sp.csr_matrix(X) if kind == "sparse" else X, y, lam, loss, pairs)


def _ordered(rng: np.random.Generator, X: np.ndarray, kind: str) -> Any:
    n, rising = len(X), X @ np.linspace(0, 1, X.shape[1])
    if kind == "survival":
        time = np.round(rng.exponential(size=n) * np.exp(-rising), 3)
        return survival_pairs(time, rng.random(n) < 0.6)
    qid = rng.integers(0, n // 13, n)
    grade = np.clip(np.rint(2 * rising + rng.normal(size=n)), 0, 4)
    if kind == "mean over groups":
        return group_auc_pairs(qid, grade > 0)
    return query_pairs(qid, grade, gain=kind == "gains")


def some_labels(rng: np.random.Generator, n: int) -> np.ndarray:
    positive = np.zeros(n, dtype=bool)
    positive[rng.permutation(n)[: rng.integers(1, n)]] = True
    return positive


def some_pairs(rng: Any, positive: np.ndarray, listed: bool | None = None) -> Any:
    """Return all pairs, by weights of any size or without, or a list with repetitions."""
    plus, minus = np.flatnonzero(positive), np.flatnonzero(~positive)
    if rng.integers(3) == 0 if listed is None else listed:
        m = int(rng.integers(1, 3 * positive.size))
        weight = None if rng.integers(2) else rng.uniform(0.01, 3, m)
        return PairList(rng.choice(plus, m), rng.choice(minus, m), weight)
    whole, far = rng.integers(0, 4, positive.size) + 0.0, 10.0 ** rng.uniform(-9, 9, positive.size)
    weight = [None, whole, far][rng.integers(3)]
    if weight is not None:
        weight[[plus[0], minus[0]]] = 1.5
    return AllPairs(weight)


SCORED = (
    *("plain", "tenths", "far", "outliers", "one positive", "equal", "zeros", "apart"),
    *("separated", "crowded", "nearly tied"),
)


def scored(kind: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Scores and classes of a few rows; by turns no weights, whole ones, and fractions."""
    rng = np.random.default_rng([len(kind), seed])
    n = int(rng.integers(2, 30))
    scores, positive = rng.normal(size=n) * 2, np.arange(n) < rng.integers(1, n)
    rng.shuffle(positive)
    if kind == "tenths":
        scores = np.round(scores, 1)
    elif kind == "far":
        scores += 1e5
    elif kind == "outliers":
        scores[0], scores[-1] = 1e6, -300.0
    elif kind == "one positive":
        positive = np.arange(n) == 0
    elif kind in ("equal", "zeros"):
        scores = np.full(n, 123.25) if kind == "equal" else np.where(positive, -0.0, 0.0)
    elif kind in ("apart", "separated"):
        scores += 50.0 * (positive if kind == "apart" else ~positive)
    elif kind == "crowded":
        scores[1:] = 0.3 + 1e-9 * scores[1:]
    elif kind == "nearly tied":
        scores = np.where(positive, 1.0, 0.0) + 1e-15 * rng.integers(-9, 9, n)
    weights = [None, rng.integers(1, 4, n).astype(float), rng.uniform(0.01, 5, n)]
    return scores, positive, weights[seed % 3]


def thin_rows(n: int = 40, d: int = 25, density: float = 0.3, seed: int = 0):
    """Mostly zero rows of length one at most, the mask of the positive ones; signal in two."""
    rng = np.random.default_rng(seed)
    positive = np.arange(n) % 3 == 0
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < density)
    X[:, :2] += positive[:, None]
    return X / np.linalg.norm(X, axis=1).max(), positive
