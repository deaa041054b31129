"""The objective of given scores in rational arithmetic: slow, and right to the last bit."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from naive import loss_value


def exact_loss(scores: np.ndarray, positive: np.ndarray, loss: str) -> Fraction:
    """The mean loss over all pairs of the scores as given, by a double loop."""
    s = [Fraction(x) for x in scores.tolist()]
    plus, minus = np.flatnonzero(positive), np.flatnonzero(~positive)
    total = sum((loss_value(loss, s[i] - s[j]) for i in plus for j in minus), Fraction(0))
    return total / (len(plus) * len(minus))


def solved(matrix: list[list[Fraction]], right: list[Fraction]) -> list[Fraction] | None:
    """The solution of a square system, or None where it is singular."""
    rows = [[*line, value] for line, value in zip(matrix, right, strict=True)]
    for k in range(len(rows)):
        pivot = next((i for i in range(k, len(rows)) if rows[i][k] != 0), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(len(rows)):
            if i != k and rows[i][k] != 0:
                factor = rows[i][k] / rows[k][k]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[-1] / row[k] for k, row in enumerate(rows)]


def least_norm2(K: list[list[Fraction]], scores: np.ndarray) -> Fraction | None:
    """The least |f|^2 with these scores up to one constant, from inner products K (n, n).

    With differences to the first row it is t'G^{-1} t; None where G is singular.
    """
    n = len(K)
    s = [Fraction(x) for x in scores.tolist()]
    t = [s[i] - s[0] for i in range(1, n)]
    G = [[K[i][j] - K[i][0] - K[0][j] + K[0][0] for j in range(1, n)] for i in range(1, n)]
    a = solved(G, t)
    return None if a is None else sum((x * y for x, y in zip(a, t, strict=True)), Fraction(0))


def products(X: np.ndarray) -> list[list[Fraction]]:
    """X X' in fractions."""
    rows = [[Fraction(x) for x in row] for row in X.tolist()]
    return [
        [sum((a * b for a, b in zip(r, q, strict=True)), Fraction(0)) for q in rows] for r in rows
    ]


def in_fractions(K: np.ndarray) -> list[list[Fraction]]:
    """A matrix of floats as fractions."""
    return [[Fraction(x) for x in row] for row in K.tolist()]


def squared(w: np.ndarray) -> Fraction:
    """w'w."""
    return sum((Fraction(x) ** 2 for x in w.tolist()), Fraction(0))
