"""Bounds of the rounding over sparse rows, against exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact.spaces.rows import Rows, most_numbers, sparse_norms
from loops import each, seeds


def drawn(seed: int) -> tuple[sp.csr_matrix, np.random.Generator]:
    """Return sparse rows, some empty and some full, with numbers of very different sizes."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 60)), int(rng.integers(1, 40))
    dense = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-6, 7, size=(n, d))
    dense[rng.uniform(size=(n, d)) < rng.choice([0.0, 0.5, 0.95])] = 0.0
    dense[0] = rng.normal(size=d)
    return sp.csr_matrix(dense), rng


def exactly(numbers: np.ndarray) -> list[Fraction]:
    return [Fraction(float(one)) for one in numbers]


@each("seed", seeds(40))
def test_scores_and_pulls_are_within_their_bounds(seed: int) -> None:
    X, rng = drawn(seed)
    space = Rows(X)
    w, c = rng.normal(size=space.dim) * 10.0 ** rng.integers(-3, 4), rng.normal(size=space.n)
    offset, weights, mass = exactly(space.offset), exactly(w), exactly(c)
    rows = [exactly(row) for row in X.toarray()]
    moved = [[x - m for x, m in zip(row, offset, strict=True)] for row in rows]
    for row, score, error in zip(moved, space.scores(w), space.score_error(w), strict=True):
        exact = sum((x * one for x, one in zip(row, weights, strict=True)), Fraction(0))
        assert abs(exact - Fraction(float(score))) <= Fraction(float(error))
    assert float(space.score_error(w).max()) <= space.score_slip(w) * (1 + 1e-12)
    off = Fraction(0)
    for k, found in enumerate(space.pull(c)):
        exact = sum((one * row[k] for one, row in zip(mass, moved, strict=True)), Fraction(0))
        off += (exact - Fraction(float(found))) ** 2
    assert off <= Fraction(float(space.pull_error(c))) ** 2


@each("seed", seeds(10))
def test_norms_and_counts_are_those_of_the_dense_rows(seed: int) -> None:
    X, _ = drawn(seed)
    dense = X.toarray()
    assert sparse_norms(X) == pytest.approx(np.linalg.norm(dense, axis=1), rel=1e-14)
    counts = (dense != 0).sum(axis=1).max(), (dense != 0).sum(axis=0).max()
    assert most_numbers(X) == counts
    assert Rows(X).offset == pytest.approx(dense.mean(axis=0), rel=1e-12, abs=1e-300)
