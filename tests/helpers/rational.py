"""The hinge problem over all pairs of copies of rows in fractions, as tests of proofs ask it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import naive
from aucert.exact.pairs.all_pairs import AllPairs


def rows_of(X: np.ndarray) -> list[list[Fraction]]:
    return naive.exact(np.asarray(X, dtype=float))


def exact_scores(X: np.ndarray, w: np.ndarray) -> list[Fraction]:
    return naive.products(rows_of(X), naive.exact(w))


def _pairs(positive: np.ndarray, r: np.ndarray) -> list[naive.Pair]:
    return naive.weighted_pairs(positive.tolist(), AllPairs(r.astype(float)))


def exact_objective(
    X: np.ndarray, positive: np.ndarray, w: np.ndarray, lam: float, r: np.ndarray
) -> Fraction:
    """Return lam/2 |w|^2 + the mean hinge."""
    pairs = _pairs(positive, r)
    return naive.primal_value(rows_of(X), pairs, "hinge", Fraction(lam), naive.exact(w))


def exact_dual(
    X: np.ndarray, positive: np.ndarray, alpha: list[list[Fraction]], lam: float, r: np.ndarray
) -> Fraction:
    """Return the dual value of alpha: n_pos rows of n_neg numbers in [0, 1]."""
    flat = [share for line in alpha for share in line]
    return naive.dual_value(rows_of(X), _pairs(positive, r), "hinge", Fraction(lam), flat)
