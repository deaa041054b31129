"""R by its definition, the covariance of pair differences: in doubles, or in fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import naive
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.structured import ClassScatter, PairScatter, Scatter


def some_labels(rng: np.random.Generator, n: int) -> np.ndarray:
    positive = np.zeros(n, dtype=bool)
    positive[rng.permutation(n)[: rng.integers(1, n)]] = True
    return positive


def some_pairs(rng: np.random.Generator, positive: np.ndarray) -> AllPairs | PairList:
    """Return all pairs, weighted or not, or a list, with weights and repetitions."""
    kind, n = rng.integers(3), positive.size
    if kind == 0:
        return AllPairs()
    if kind == 1:
        weight = rng.integers(0, 4, n).astype(float)
        weight[[np.flatnonzero(positive)[0], np.flatnonzero(~positive)[0]]] = 1.5
        return AllPairs(weight)
    m = int(rng.integers(1, 3 * n))
    i, j = rng.choice(np.flatnonzero(positive), m), rng.choice(np.flatnonzero(~positive), m)
    return PairList(i, j, rng.uniform(0.1, 2, m))


def dense_scatter(scatter: Scatter, n: int) -> np.ndarray:
    """Return R by its definition as a covariance of pair differences, in doubles."""
    if isinstance(scatter, PairScatter):
        pairs = list(zip(scatter.pairs.i, scatter.pairs.j, scatter.pairs.c, strict=True))
    else:
        assert isinstance(scatter, ClassScatter)
        plus, minus = np.flatnonzero(scatter.positive), np.flatnonzero(~scatter.positive)
        pairs = [
            (i, j, a * b)
            for i, a in zip(plus, scatter.a, strict=True)
            for j, b in zip(minus, scatter.b, strict=True)
        ]
    mean, square = np.zeros(n), np.zeros((n, n))
    for i, j, c in pairs:
        step = np.zeros(n)
        step[i] += 1
        step[j] -= 1
        mean += c * step
        square += c * np.outer(step, step)
    return square - np.outer(mean, mean)


def fraction_solve(matrix, right) -> list[Fraction]:
    """Return the exact solution of a linear system that has one."""
    found = naive.solved(matrix, right)
    assert found is not None
    return found


def exact_scatter(pairs: AllPairs | PairList, positive: np.ndarray) -> list[list[Fraction]]:
    """Return R in fractions, of all pairs with row weights or of a list."""
    n, triples = positive.size, naive.weighted_pairs(positive.tolist(), pairs)
    whole = sum(c for *_, c in triples)
    mean = [Fraction(0)] * n
    R = [[Fraction(0)] * n for _ in range(n)]
    for i, j, c in triples:
        share = c / whole
        mean[i] += share
        mean[j] -= share
        for p, q, sign in ((i, i, 1), (j, j, 1), (i, j, -1), (j, i, -1)):
            R[p][q] += sign * share
    return [[R[p][q] - mean[p] * mean[q] for q in range(n)] for p in range(n)]
