"""Bounds of rounding column by column: exact arithmetic keeps them, and they are small."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact.spaces.rows import Rows
from loops import each, seeds


def uneven(seed: int, sparse: bool) -> tuple[Rows, np.random.Generator]:
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 12)), int(rng.integers(1, 6))
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-6, 6, d)
    X[rng.integers(0, n)] *= 1e4
    X[:, 0] = 3.0 if d > 1 else X[:, 0]  # a constant column
    return Rows(sp.csr_matrix(np.where(rng.random(X.shape) < 0.6, X, 0.0)) if sparse else X), rng


def exact_pull(space: Rows, c: list[Fraction]) -> list[Fraction]:
    raw = space.raw if isinstance(space.raw, np.ndarray) else space.raw.toarray()
    centred = [
        [Fraction(x) - Fraction(m) for x, m in zip(row, space.offset, strict=True)] for row in raw
    ]
    return [
        sum((a * row[k] for a, row in zip(c, centred, strict=True)), Fraction(0))
        for k in range(space.dim)
    ]


@each("sparse", [False, True])
@each("seed", seeds(12))
def test_the_norm_of_a_pull_is_bounded_with_all_that_may_be_wrong(seed: int, sparse: bool) -> None:
    space, rng = uneven(seed, sparse)
    c = rng.normal(size=space.n)
    missing, slip, relative = 1e-3, 1e-4, 1e-5
    for wrong_by in ("nothing", "missing", "slip", "both"):
        moved = [Fraction(x) for x in c]
        if wrong_by in ("missing", "both"):
            moved[0] += Fraction(missing)
        if wrong_by in ("slip", "both"):
            moved[-1] += Fraction(slip) * (-1 if seed % 2 else 1)
        found = space.careful_norm2(c, missing, slip)
        true = sum(x * x for x in exact_pull(space, moved))
        assert true <= Fraction(found.value) + Fraction(found.error)
    shares = [Fraction(x) * (1 + Fraction(relative)) for x in c]
    found = space.careful_norm2(c, 0.0, 1e9, relative)
    true = sum(x * x for x in exact_pull(space, shares))
    assert abs(true - Fraction(found.value)) <= Fraction(found.error)


@each("sparse", [False, True])
@each("seed", seeds(12))
def test_scores_err_by_no_more_than_their_bound(seed: int, sparse: bool) -> None:
    space, rng = uneven(seed, sparse)
    w = rng.normal(size=space.dim) / space.sizes.clip(1e-9)
    scores, error = space.careful_scores(w)
    raw = space.raw if isinstance(space.raw, np.ndarray) else space.raw.toarray()
    for row, one, bound in zip(raw, scores, error, strict=True):
        true = sum(
            Fraction(a) * (Fraction(x) - Fraction(m))
            for a, x, m in zip(w, row, space.offset, strict=True)
        )
        assert abs(Fraction(float(one)) - true) <= Fraction(float(bound)) + abs(true) / 2**52


@pytest.mark.long_digits
def test_columns_of_different_sizes_do_not_pay_for_each_other() -> None:
    rng = np.random.default_rng(0)
    scale = 10.0 ** np.linspace(-6, 6, 5)
    space = Rows(rng.normal(size=(50, 5)) * scale)
    w, c = 1 / scale, rng.normal(size=50)
    assert space.careful_scores(w)[1].max() < 1e-15
    assert float(np.linalg.norm(w)) * space.reach > 1e11  # what the norms alone would pay for
    assert space.magnitude(c) == pytest.approx(np.abs(c) @ np.abs(space.dense()), rel=1e-9)
