"""Rows, dense and sparse, and kernel matrices: the same functions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact import InputError, solve
from aucert.exact.spaces.gram import Gram
from aucert.exact.spaces.rows import Rows, held_rows
from loops import each

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 4)) + 5


def differences(scores: np.ndarray) -> np.ndarray:
    return scores[:, None] - scores[None, :]


@each("make", [np.asarray, sp.csr_matrix, sp.coo_matrix, np.asfortranarray])
def test_scores_are_those_of_the_rows_up_to_one_constant(make) -> None:
    w = RNG.normal(size=4)
    space = Rows(make(X))
    assert (space.n, space.dim) == (30, 4)
    assert differences(space.scores(w)) == pytest.approx(differences(X @ w), abs=1e-12)


@each("make", [np.asarray, sp.csr_matrix])
def test_pull_is_the_adjoint_of_scores(make) -> None:
    space, w, c = Rows(make(X)), RNG.normal(size=4), RNG.normal(size=30)
    c -= c.mean()
    assert float(space.scores(w) @ c) == pytest.approx(float(w @ space.pull(c)), rel=1e-12)
    assert space.pull(c) == pytest.approx(X.T @ c, abs=1e-12)


@each("n", [1, 63, 64, 65, 5000])
def test_pull_by_blocks_leaves_no_row_out(n: int) -> None:
    rows = RNG.normal(size=(n, 2))
    c = RNG.normal(size=n)
    space = Rows(rows)
    assert space.pull(c) == pytest.approx((rows - rows.mean(axis=0)).T @ c, abs=1e-10)
    assert sum(block.stop - block.start for block in space.blocks()) == n


def test_reach_bounds_every_centred_row() -> None:
    longest = np.linalg.norm(X - X.mean(axis=0), axis=1).max()
    assert longest <= Rows(X).reach <= longest * (1 + 1e-12)
    assert Rows(sp.csr_matrix(X)).reach >= longest


def test_the_caller_keeps_their_matrix() -> None:
    mine = X.copy()
    Rows(mine)
    assert np.array_equal(mine, X)
    K = X @ X.T
    before = K.copy()
    Gram(K)
    assert np.array_equal(K, before)


def test_a_kernel_matrix_is_the_same_space_as_its_features() -> None:
    space, plain = Gram(X @ X.T), Rows(X)
    a, b = RNG.normal(size=30), RNG.normal(size=30)
    assert differences(space.scores(a)) == pytest.approx(
        differences(plain.scores(X.T @ a)), abs=1e-9
    )
    assert space.norm2(a) == pytest.approx(float((X.T @ a) @ (X.T @ a)), rel=1e-10)
    assert space.inner(a, b) == pytest.approx(float((X.T @ a) @ (X.T @ b)), rel=1e-9)
    c = a - a.mean()
    assert space.dual_norm2(c) == pytest.approx(plain.dual_norm2(c), rel=1e-9)
    assert space.reach >= np.linalg.norm(X, axis=1).max()


def test_a_kernel_matrix_may_be_sparse_singular_or_zero() -> None:
    assert Gram(sp.identity(3)).norm2(np.ones(3)) == 3.0
    assert Gram(np.ones((3, 3))).norm2(np.array([1.0, -1.0, 0.0])) == 0.0
    assert Gram(np.zeros((2, 2))).reach == 0.0


def test_constant_rows_have_no_reach() -> None:
    assert Rows(np.full((5, 3), 0.1)).reach < 1e-15


def test_many_rows_are_taken_as_they_are_unless_a_mean_is_large(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("aucert.exact.spaces.rows.LARGE", 1)
    X = np.random.default_rng(0).normal(size=(900, 3))
    for far in (np.zeros(3), np.array([0.5, 0, 0])):
        made, squares, offset = held_rows(X + far, False)
        assert not offset.any() and np.array_equal(made, X + far)
        assert squares == pytest.approx(((X + far) ** 2).sum(axis=1))
    for far in (np.array([0, 0, 1.5]), np.array([1e9, 0, 0])):
        made, squares, offset = held_rows(X + far, False)
        assert offset == pytest.approx((X + far).mean(axis=0))
        assert squares == pytest.approx((made**2).sum(axis=1)) and abs(made.mean(axis=0)).max() < 1
    constant = Rows(np.full((5, 3), 0.1))
    assert constant.offset.all() and constant.reach < 1e-15
    rows = Rows(X)
    assert rows.X is X and not Rows(np.zeros((4, 2))).reach
    for large in (1e200, 1e308):
        with pytest.raises(InputError, match="overflow"):
            Rows(np.full((900, 3), large))


def test_rows_as_they_are_prove_what_centred_rows_prove(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(80, 3)) + 0.3, rng.random(80) < 0.4
    for loss in ("logistic", "hinge", "squared_hinge"):
        centred = solve(X, y, lam=0.1, loss=loss, tol=1e-9).certificate
        with monkeypatch.context() as patch:
            patch.setattr("aucert.exact.spaces.rows.LARGE", 1)
            as_given = solve(X, y, lam=0.1, loss=loss, tol=1e-9).certificate
        for one, other in ((centred, as_given), (as_given, centred)):
            assert one.primal is not None
            assert other.dual <= one.primal
        assert as_given.relative_gap is not None and as_given.relative_gap < 1e-8
