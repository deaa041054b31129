"""The objective of given scores in fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import naive
from aucert.exact.pairs.all_pairs import AllPairs

in_fractions = naive.exact


def exact_loss(scores: np.ndarray, positive: np.ndarray, loss: str) -> Fraction:
    """Return the mean loss over all pairs of the scores as given."""
    pairs = naive.weighted_pairs(positive.tolist(), AllPairs())
    return naive.sums(naive.exact(scores), pairs, loss).value


def least_norm2(K: list[list[Fraction]], scores: np.ndarray) -> Fraction | None:
    """Return the least |f|^2 with these scores up to one constant, from inner products K (n, n).

    With differences to the first row it is t'G^{-1} t; None where G is singular.
    """
    s, rest = naive.exact(scores), range(1, len(K))
    t = [s[i] - s[0] for i in rest]
    G = [[K[i][j] - K[i][0] - K[0][j] + K[0][0] for j in rest] for i in rest]
    a = naive.solved(G, t)
    return None if a is None else sum((x * y for x, y in zip(a, t, strict=True)), Fraction(0))


def products(X: np.ndarray) -> list[list[Fraction]]:
    rows = naive.exact(X)
    return [naive.products(rows, row) for row in rows]


def squared(w: np.ndarray) -> Fraction:
    return naive.norm2(naive.exact(w))
