"""Audits of scores over many random problems, mild and hard, against rational arithmetic."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from aucert.exact import certify
from naive import loss_value
from score_truth import exact_loss, least_norm2, products

KINDS = ("plain", "long row", "near copy", "offset", "quarters", "copy")
LOSSES = ("hinge", "squared_hinge", "square")


def drawn_rows(kind: str, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    sizes = rng.uniform(-rng.choice([0, 3, 8]), rng.choice([0, 3, 8]), size=d)
    X = rng.normal(size=(n, d)) * 10.0**sizes
    if kind == "long row":
        X[0] *= 10.0 ** rng.uniform(2, 9)
    elif kind == "near copy":
        X[:, -1] = X[:, 0] * (1 + 10.0 ** rng.uniform(-16, -2) * rng.normal(size=n))
    elif kind == "offset":
        X += 10.0 ** rng.uniform(0, 9)
    elif kind == "quarters":
        X = np.round(X * 4) / 4
    elif kind == "copy":
        X[:, -1] = X[:, 0]
    return X


def drawn_weights(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Weights of about the columns' sizes, some very long; zero where a column is a constant."""
    size = np.where(np.ptp(X, axis=0) > 0, np.abs(X).max(axis=0), np.inf)
    return rng.normal(size=X.shape[1]) * 10.0 ** rng.uniform(-2, rng.choice([0, 0, 4])) / size


def objective(X, w: list[Fraction], positive, lam: float, loss: str) -> Fraction:
    rows = [[Fraction(x) for x in row] for row in X.tolist()]
    s = [sum((a * b for a, b in zip(row, w, strict=True)), Fraction(0)) for row in rows]
    plus, minus = np.flatnonzero(positive), np.flatnonzero(~positive)
    total = sum((loss_value(loss, s[i] - s[j]) for i in plus for j in minus), Fraction(0))
    norm2 = sum((x**2 for x in w), Fraction(0))
    return total / (len(plus) * len(minus)) + Fraction(lam) / 2 * norm2


def false_words(seed: int) -> str:
    """Return what is false in the audit of one problem, "gap" or "no gap" where nothing is."""
    rng = np.random.default_rng(seed)
    n, d, kind = int(rng.integers(4, 16)), int(rng.integers(2, 6)), KINDS[seed % len(KINDS)]
    X, positive = drawn_rows(kind, n, d, rng), np.arange(n) % 3 == 0
    lam, loss = 10.0 ** rng.uniform(-4, 1), LOSSES[int(rng.integers(3))]
    w, digits = drawn_weights(X, rng), int(rng.choice([7, 8, 10, 12, 15, 17]))
    scores = X @ w + rng.normal() * 10.0 ** rng.uniform(-2, 3)
    scores = np.array([float(f"{s:.{digits}g}") for s in scores])
    audit = certify(X, positive, lam, scores=scores, loss=loss, refine=seed % 4 == 0)
    loss_of_scores = exact_loss(scores, positive, loss)
    if abs(Fraction(audit.loss_value) - loss_of_scores) > Fraction(1e-14) * (1 + loss_of_scores):
        return "loss"
    if audit.primal is None or audit.gap is None:
        return "no gap"
    room = Fraction(audit.rounding)
    least = least_norm2(products(X), scores) if d >= n - 1 else None
    if least is None:
        weights = [Fraction(x) for x in w.tolist()]
        if kind == "copy":  # of least norm: both alike
            weights[0] = weights[-1] = (weights[0] + weights[-1]) / 2
        truth = objective(X, weights, positive, lam, loss)
        if kind == "quarters":  # columns may depend on others: then these are not the shortest
            truth = min(truth, Fraction(audit.primal) + room)
    else:
        truth = loss_of_scores + Fraction(lam) / 2 * least
    if np.ptp(scores) == 0:  # too few digits are left to tell them from those of zero
        truth = loss_of_scores
    # F >= p* >= dual for each f, so the truth is above the bound; and the gap is above primal.
    if truth < Fraction(audit.dual) - room or abs(truth - Fraction(audit.primal)) > room:
        return "objective"
    return "gap"


def tally(seeds: range) -> Counter[str]:
    found = Counter(false_words(seed) for seed in seeds)
    print(dict(found))
    return found


@pytest.mark.slow
def test_no_audit_of_random_scores_is_false() -> None:
    found = tally(range(120))
    assert set(found) == {"gap", "no gap"} and found["gap"] > 60


@pytest.mark.slow
def test_no_audit_of_very_many_random_scores_is_false() -> None:
    found = tally(range(1000, 3000))
    assert set(found) == {"gap", "no gap"} and found["gap"] > 1000
