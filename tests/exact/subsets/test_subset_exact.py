"""The bounds of the best subset against exact rational arithmetic, where floats tell little."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from aucert.approx import SHTAUC
from aucert.exact import best_subset
from aucert.exact.square_loss.exact_moments import ExactMoments
from exact_square import ExactSquare
from loops import each, seeds

KINDS = (
    "plain",
    "near copy",
    "near sum",
    "near copies of both",
    "scaled copy",
    "whole numbers",
    "one positive",
    "constants",
    "few rows",
    "far away",
    "large and small",
    "separating",
    "all but constant",
    "weighted",
    "ridge",
    "outlier",
)


def draw(seed: int, kind: str):
    """X, the positive rows, k, weights and ridge; up to 6 features, one of the awkward kinds."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    n, d = int(rng.integers(6, 14)), int(rng.integers(2, 7))
    k = int(rng.integers(1, d + 1))
    positive = rng.permutation(n) < rng.integers(1, n)
    X = rng.normal(size=(n, d)) + 0.7 * positive[:, None] * rng.uniform(size=d)
    near = 10.0 ** -float(rng.integers(1, 17))
    weight, ridge = None, 0.0
    if kind == "near copy":
        X[:, 0] = X[:, -1] + near * rng.normal(size=n)
    elif kind == "near sum":
        X[:, 0] = X[:, 1] - 2 * X[:, -1] + 5 + near * positive * rng.integers(0, 2)
    elif kind == "near copies of both":
        X[:, 0], X[:, 1] = X[:, -1] * (1 + near), X[:, -1] * (1 - near * rng.normal(size=n))
    elif kind == "scaled copy":
        X[:, 0] = X[:, -1] * rng.choice([-3.0, -2.0, 1.8, 1e-30]) + rng.choice([0.0, 32.0])
    elif kind == "whole numbers":
        X = rng.integers(-2, 3, size=(n, d)).astype(float)
    elif kind == "one positive":
        positive = np.arange(n) == rng.integers(n)
        X[:, 0] = X[:, -1] + near * positive
    elif kind == "constants":
        X[:, 0], X[:, -1] = 0.1, 7.3
    elif kind == "few rows":
        X, positive = X[:4], np.arange(4) < 2
    elif kind == "far away":
        X = 10.0 ** rng.integers(3, 16) + X
    elif kind == "large and small":
        X = X * 10.0 ** rng.choice([-150, -100, -20, 0, 20, 90], size=d)
    elif kind == "separating":
        X[:, 0] = np.where(positive, 0.7, 0.1) + near * rng.normal(size=n) * rng.integers(0, 2)
    elif kind == "all but constant":
        X[:, 0] = 1 + 2.0**-52 * rng.integers(0, 3, size=n)
        X[:, -1] = 0.3 + 2.0**-54 * positive
    elif kind == "weighted":
        weight = rng.choice([0.0, 0.1, 1.0, 1e8], size=n) + 1e-3 * (rng.uniform(size=n) < 0.5)
        weight[[np.argmax(positive), np.argmin(positive)]] = 1.0
        X[:, 0] = X[:, -1] + near * rng.normal(size=n)
    elif kind == "ridge":
        ridge = float(10.0 ** rng.integers(-12, 2))
        X[:, 0] = X[:, -1] + near * rng.normal(size=n)
    elif kind == "outlier":
        X[0, 0] = 10.0 ** rng.integers(4, 17)
    return X, positive, k, weight, ridge


def check(seed: int, kind: str, method: str, sparse: bool = False) -> tuple[bool, float]:
    X, positive, k, weight, ridge = draw(seed, kind)
    truth = ExactSquare(X, positive, weight, ridge)
    found = best_subset(
        sp.csr_matrix(X) if sparse else X, positive, k, ridge, method=method, sample_weight=weight
    )
    best = truth.best(k)
    assert Fraction(found.lower) <= best
    assert truth.value(found.w) <= Fraction(found.upper)
    assert best <= Fraction(found.upper)
    assert Fraction(found.gap) >= Fraction(found.upper) - Fraction(found.lower)
    assert found.proved == (found.upper - found.lower <= 1e-9)
    assert Fraction(found.gap_of(found.w)) >= truth.value(found.w) - Fraction(found.lower)
    return found.proved, found.upper - float(best)


@each("method", ["branch-and-bound", "exhaustive"])
@each("kind", KINDS)
@each("seed", seeds(8))
def test_no_bound_is_false_in_exact_arithmetic(seed: int, kind: str, method: str) -> None:
    check(seed, kind, method, sparse=seed % 2 == 1)


def near_copy(size: float, seed: int = 0):
    """Two features that tell the classes apart by what little they differ."""
    rng = np.random.default_rng(seed)
    positive = np.arange(40) % 2 == 0
    X = rng.normal(size=(40, 5))
    X[:, 3] = X[:, 1] + size * (positive + 0.3 * rng.normal(size=40))
    return X, positive


@each("method", ["branch-and-bound", "exhaustive"])
@each("size", [1e-3, 1e-6, 3e-9, 1e-10])
def test_what_a_near_copy_tells_by_its_difference_is_found_and_proved(size, method) -> None:
    X, positive = near_copy(size)
    found = best_subset(X, positive, 2, method=method)
    truth = ExactSquare(X, positive)
    assert found.proved
    assert found.support.tolist() == [1, 3]
    assert found.upper == pytest.approx(float(truth.best(2)), abs=1e-9)
    assert found.upper < 0.3


def test_what_no_weights_in_floats_attain_is_not_called_proved() -> None:
    X, positive = near_copy(3e-15)
    found = best_subset(X, positive, 2)
    assert Fraction(found.lower) <= ExactSquare(X, positive).best(2)
    assert not found.proved


@each("kind", KINDS)
def test_what_a_model_says_of_its_gap_holds_in_exact_arithmetic(kind: str) -> None:
    for seed in range(3):
        X, positive, k, weight, _ = draw(seed, kind)
        if not 1e-30 < np.abs(X - X.mean(axis=0)).max() < 1e30:
            continue
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # few epochs
            model = SHTAUC(k=k, max_epochs=50).fit(X, positive, sample_weight=weight)
        truth = ExactSquare(X, positive, weight)
        best = truth.best(k)
        assert Fraction(model.lower_bound_) <= best
        assert Fraction(model.gap_) >= truth.value(model.coef_[0]) - Fraction(model.lower_bound_)
        assert not model.proved_ or truth.value(model.coef_[0]) - best <= 1e-9


# The arithmetic itself.
@each("kind", KINDS)
def test_whole_numbers_give_the_same_optima_as_fractions(kind: str) -> None:
    for seed in range(4):
        X, positive, k, weight, ridge = draw(seed, kind)
        truth = ExactSquare(X, positive, weight, ridge)
        exact = ExactMoments(sp.csr_matrix(X) if seed % 2 else X, positive, weight, ridge)
        rng = np.random.default_rng(seed)
        S = np.sort(rng.permutation(X.shape[1])[:k])
        found = exact.optimum(S)
        assert found.value == truth.least(S.tolist())
        if found.w is not None:
            w = np.zeros(X.shape[1])
            w[S] = found.w
            assert exact.value(w) == truth.value(w) >= found.value
        others = [truth.least(np.delete(S, a).tolist()) for a in range(k)]
        assert found.redundant == (found.value > 0 and found.value in others) or not found.redundant
