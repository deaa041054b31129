"""The hinge problem over all pairs in rational arithmetic: slow, and right to the last bit."""

from __future__ import annotations

from fractions import Fraction

import numpy as np


def rows_of(X: np.ndarray) -> list[list[Fraction]]:
    """The rows as fractions."""
    return [[Fraction(x) for x in row] for row in np.asarray(X, dtype=float).tolist()]


def exact_scores(X: np.ndarray, w: np.ndarray) -> list[Fraction]:
    """w'x of every row."""
    weights = [Fraction(x) for x in w.tolist()]
    return [
        sum((a * b for a, b in zip(row, weights, strict=True)), Fraction(0)) for row in rows_of(X)
    ]


def exact_objective(
    X: np.ndarray, positive: np.ndarray, w: np.ndarray, lam: float, r: np.ndarray
) -> Fraction:
    """lam/2 |w|^2 + the mean hinge over all pairs of copies, by a double loop."""
    s, total, mass = exact_scores(X, w), Fraction(0), 0
    for i in np.flatnonzero(positive):
        for j in np.flatnonzero(~positive):
            copies = int(r[i]) * int(r[j])
            total += copies * max(Fraction(0), 1 - s[i] + s[j])
            mass += copies
    return total / mass + Fraction(lam) / 2 * sum(Fraction(x) ** 2 for x in w.tolist())


def exact_dual(
    X: np.ndarray, positive: np.ndarray, alpha: list[list[Fraction]], lam: float, r: np.ndarray
) -> Fraction:
    """The dual value of alpha (n_pos rows of n_neg numbers in [0, 1]), by a double loop."""
    rows, plus, minus = rows_of(X), np.flatnonzero(positive), np.flatnonzero(~positive)
    mass = int(r[plus].sum()) * int(r[minus].sum())
    total, pull = Fraction(0), [Fraction(0)] * X.shape[1]
    for i, line in zip(plus, alpha, strict=True):
        for j, share in zip(minus, line, strict=True):
            part = Fraction(int(r[i]) * int(r[j]), mass) * share
            total += part
            pull = [g + part * (a - b) for g, a, b in zip(pull, rows[i], rows[j], strict=True)]
    return total - sum(g**2 for g in pull) / (2 * Fraction(lam))
