"""Families of problems that hold every awkwardness we know of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from aucert.exact import AllPairs, PairList, Rows
from aucert.exact.losses.registry import get_loss
from aucert.exact.pairs.kinds import group_auc_pairs, query_pairs, survival_pairs
from aucert.exact.problem.penalties import Ridge
from aucert.exact.problem.problem import Problem, linear_problem
from aucert.exact.problem.risk import Mean
from fuzzing import hard_values

SHAPES = (
    *("gaussian", "noise", "separable", "integers", "levels", "duplicates", "constant"),
    *("one positive", "many features", "heavy"),
)
"""Kinds of features of `random_case`; seed k has kind k modulo their number."""

MOST_PAIRS = 5000


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
    """Return the problem of that seed: n 4..largest, at most `MOST_PAIRS`, lam 1e-5..10.

    The loss is the hinge (two thirds) or the squared hinge; now and then there are row weights,
    some of them zero, or a drawn list of pairs with multiplicities.
    """
    rng = np.random.default_rng([20240, seed])
    kind = SHAPES[seed % len(SHAPES)]
    n = int(np.exp(rng.uniform(np.log(4), np.log(largest))))
    n_pos = 1 if kind == "one positive" else max(1, round(n * rng.uniform(0.01, 0.5)))
    n_pos = min(n_pos, max(1, MOST_PAIRS // n))
    y = rng.permutation(np.arange(n) < n_pos).astype(int)
    d = int(rng.integers(10, 21)) if kind == "many features" else int(rng.integers(1, 9))
    X = hard_values(rng, y * (kind != "noise"), d, kind)
    X = np.round(2 * X) if kind == "integers" else X
    X = np.clip(np.round(X), -1, 1) if kind == "levels" else X
    lam = float(10.0 ** rng.uniform(-5, 1))
    loss = "squared_hinge" if seed % 3 == 2 else "hinge"
    plus, minus, choice = np.flatnonzero(y), np.flatnonzero(1 - y), rng.uniform()
    pairs: AllPairs | PairList = AllPairs()
    if 0.6 < choice < 0.8:
        weight = rng.integers(0, 4, size=n).astype(float)
        weight[plus[0]] = weight[minus[0]] = 1.5
        pairs = AllPairs(weight)
    elif choice > 0.8:
        m = int(rng.integers(1, 300))
        pairs = PairList(rng.choice(plus, m), rng.choice(minus, m))
    name = f"seed {seed}: {kind}, {loss}, X {X.shape}, lam {lam:.1e}, {type(pairs).__name__}"
    return Case(X, y, lam, loss, pairs, name)


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
