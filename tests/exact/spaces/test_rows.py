"""Rows in memory, dense and sparse: their functions, every bound of rounding, and their storage."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import naive
from aucert.exact import InputError, certify, solve
from aucert.exact.spaces.kernels import Gaussian, Laplacian, Linear
from aucert.exact.spaces.pair_matrices import PairGraph
from aucert.exact.spaces.rows import Rows, check_matrix, held_rows, most_numbers, sparse_norms
from loops import each, seeds

DRAW = np.random.default_rng(3)
DENSE = np.where(DRAW.random((40, 6)) < 0.5, DRAW.integers(-8, 9, (40, 6)) / 4, 0.0)
Y = (DENSE[:, 0] + DRAW.normal(size=40) > 0).astype(int)


def uneven(seed: int, sparse: bool) -> tuple[Rows, list[list[Fraction]], np.random.Generator]:
    """Rows of columns of very different sizes, some empty, and the centred rows in fractions."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 12)), int(rng.integers(1, 6))
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-6, 6, d)
    X[rng.integers(0, n)] *= 1e4
    X[:, 0] = 3.0 if d > 1 else X[:, 0]  # a constant column
    if sparse:
        X[rng.random(X.shape) < rng.choice([0.1, 0.5, 0.95])] = 0.0
        X[0] = rng.normal(size=d)
    space = Rows(sp.csr_matrix(X) if sparse else X)
    offset = naive.exact(space.offset)
    moved = [[x - m for x, m in zip(row, offset, strict=True)] for row in naive.exact(X)]
    return space, moved, rng


@each("sparse", [False, True])
@each("seed", seeds(40))
def test_scores_and_pulls_are_within_their_bounds(seed: int, sparse: bool) -> None:
    space, rows, rng = uneven(seed, sparse)
    w = rng.normal(size=space.dim) / space.sizes.clip(1e-9)
    true = naive.products(rows, naive.exact(w))
    careful, careful_error = space.careful_scores(w)
    for found, error in ((space.scores(w), space.score_error(w)), (careful, careful_error)):
        for one, bound, score in zip(found, error, true, strict=True):
            assert abs(naive.exact(one) - score) <= Fraction(float(bound)) + abs(score) / 2**63
    assert float(space.score_error(w).max()) <= space.score_slip(w) * (1 + 1e-12)
    c = rng.normal(size=space.n) * 10.0 ** rng.integers(-3, 4)
    pull = naive.pulled(rows, naive.exact(c))
    careful, error = space.careful_pull(c)
    for found, bound in ((space.pull(c), space.pull_error(c)), (careful, error)):
        off = [x - y for x, y in zip(naive.exact(found), pull, strict=True)]
        assert naive.norm2(off) <= Fraction(float(bound)) ** 2
    square = space.dual_norm2(c)
    assert abs(Fraction(square.value) - naive.norm2(pull)) <= Fraction(square.error)
    lengths = [Fraction(float(x)) for x in space.norms]
    assert all(naive.norm2(row) <= r * r for row, r in zip(rows, lengths, strict=True))
    assert space.reach == float(space.norms.max())


@each("sparse", [False, True])
@each("seed", seeds(12))
def test_the_norm_of_a_pull_is_bounded_with_all_that_may_be_wrong(seed: int, sparse: bool) -> None:
    space, rows, rng = uneven(seed, sparse)
    c = rng.normal(size=space.n)
    missing, slip, relative = 1e-3, 1e-4, 1e-5
    for first, last in ((0.0, 0.0), (missing, 0.0), (0.0, slip), (missing, slip)):
        moved = naive.exact(c)
        moved[0] += Fraction(first)
        moved[-1] += Fraction(last) * (-1) ** seed
        found = space.careful_norm2(c, missing, slip)
        true = naive.norm2(naive.pulled(rows, moved))
        assert true <= Fraction(found.value) + Fraction(found.error)
    shares = [x * (1 + Fraction(relative)) for x in naive.exact(c)]
    found = space.careful_norm2(c, 0.0, 1e9, relative)
    true = naive.norm2(naive.pulled(rows, shares))
    assert abs(true - Fraction(found.value)) <= Fraction(found.error)


@pytest.mark.long_digits
def test_columns_of_different_sizes_do_not_pay_for_each_other() -> None:
    rng = np.random.default_rng(0)
    scale = 10.0 ** np.linspace(-6, 6, 5)
    space = Rows(rng.normal(size=(50, 5)) * scale)
    w, c = 1 / scale, rng.normal(size=50)
    assert space.careful_scores(w)[1].max() < 1e-15
    assert float(np.linalg.norm(w)) * space.reach > 1e11  # what the norms alone would pay for
    assert space.magnitude(c) == pytest.approx(np.abs(c) @ np.abs(space.dense()), rel=1e-9)


@each("make", [np.asarray, sp.csr_matrix, sp.coo_matrix, np.asfortranarray])
@each("n", [1, 63, 64, 65, 5000])
def test_scores_are_those_of_the_rows_and_pulls_their_adjoint(make: Any, n: int) -> None:
    rng = np.random.default_rng(n)
    X, w, c = rng.normal(size=(n, 4)) + 5, rng.normal(size=4), rng.normal(size=n)
    space, before, c = Rows(make(X)), X.copy(), c - c.mean()
    assert (space.n, space.dim) == (n, 4)
    shift = space.scores(w) - X @ w
    assert np.ptp(shift) < 1e-11
    assert space.pull(c) == pytest.approx(X.T @ c, abs=1e-10)
    assert sum(block.stop - block.start for block in space.blocks()) == n
    longest = np.linalg.norm(X - X.mean(axis=0), axis=1).max()
    assert longest <= space.reach and (sp.issparse(make(X)) or space.reach <= longest + 1e-12)
    held: Any = space.X
    dense = held.toarray() if sp.issparse(held) else X
    assert np.array_equal(X, before)
    if sp.issparse(space.X):
        assert sparse_norms(space.X) == pytest.approx(np.linalg.norm(dense, axis=1), rel=1e-14)
        counts = (dense != 0).sum(axis=1).max(), (dense != 0).sum(axis=0).max()
        assert most_numbers(space.X) == counts


def test_many_rows_are_taken_as_they_are_unless_a_mean_is_large(monkeypatch) -> None:
    rng = np.random.default_rng(1)
    y = rng.random(80) < 0.4
    X = rng.normal(size=(80, 3)) + 0.3
    centred = [solve(X, y, 0.1, loss=loss).certificate for loss in ("logistic", "squared_hinge")]
    monkeypatch.setattr("aucert.exact.spaces.rows.LARGE", 1)
    given = [solve(X, y, 0.1, loss=loss).certificate for loss in ("logistic", "squared_hinge")]
    for one, other in zip(centred, given, strict=True):
        assert other.dual <= one.primal and one.dual <= other.primal and other.gap < 1e-8
    X = np.random.default_rng(0).normal(size=(900, 3))
    for far in ([0, 0, 0], [0.5, 0, 0]):
        made, squares, offset = held_rows(X + np.array(far), False)
        assert not offset.any() and np.array_equal(made, X + np.array(far))
        assert squares == pytest.approx((made**2).sum(axis=1))
    for far in ([0, 0, 1.5], [1e9, 0, 0]):
        made, squares, offset = held_rows(X + np.array(far), False)
        assert offset == pytest.approx((X + np.array(far)).mean(axis=0))
        assert squares == pytest.approx((made**2).sum(axis=1)) and abs(made.mean(axis=0)).max() < 1
    constant = Rows(np.full((5, 3), 0.1))
    assert constant.offset.all() and constant.reach < 1e-15
    assert Rows(X).X is X and not Rows(np.zeros((4, 2))).reach
    for large in (1e200, 1e308):
        with pytest.raises(InputError, match="overflow"):
            Rows(np.full((900, 3), large))


@each("number", [1e-3, 0.0, -5.0])
def test_rows_that_are_changed_while_computed_with_are_refused(number: float) -> None:
    X = np.random.default_rng(0).normal(size=(300, 3))
    rows, c, y = Rows(X), np.linspace(-1, 1, 300), X[:, 0] > 0
    rows.careful_scores(np.ones(3))
    X[299, 1] = number
    for asked in (
        *(rows.dual_norm2, rows.careful_pull, lambda c: rows.careful_norm2(c, 0.0, 0.0)),
        lambda c: rows.careful_scores(np.ones(3)),
    ):
        with pytest.raises(InputError, match="changed while it was computed with"):
            asked(c)
    spoiling = lambda step: X[:40].__imul__(0.5)  # noqa: E731
    with pytest.raises(InputError, match="changed"):
        solve(X, y, 1e-3, tol=1e-13, callback=spoiling)


def _shuffled(matrix: Any, parts: list[np.ndarray]) -> Any:
    """A CSR or CSC matrix with its entries in several parts, in no order within a row."""
    coo = matrix.tocoo()
    along, across = (coo.row, coo.col) if matrix.format == "csr" else (coo.col, coo.row)
    values = np.concatenate([coo.data * 0 + part for part in parts])
    major, minor = np.tile(along, len(parts)), np.tile(across, len(parts))
    order = np.lexsort((np.random.default_rng(5).random(major.size), major))
    start = np.searchsorted(major[order], np.arange(matrix.indptr.size))
    return type(matrix)((values[order], minor[order], start), shape=matrix.shape)


def halves(matrix: Any) -> Any:
    return _shuffled(matrix, [matrix.tocoo().data / 2] * 2)


def with_zeros(matrix: Any) -> Any:
    rows, columns = (place.ravel() for place in np.indices(matrix.shape))
    return sp.coo_matrix((matrix.toarray().ravel(), (rows, columns)), shape=matrix.shape)


CSR = sp.csr_matrix(DENSE)
SPELLINGS: dict[str, Callable[[], Any]] = {
    "csr, v/2 + v/2": lambda: halves(CSR),
    "csr array, v/2 + v/2": lambda: sp.csr_array(halves(CSR)),
    "csc, v/2 + v/2": lambda: halves(sp.csc_matrix(DENSE)),
    "coo, v/2 + v/2": lambda: halves(CSR).tocoo(),
    "csr, cancelling": lambda: _shuffled(CSR, [CSR.tocoo().data + 1024.0, 0 * CSR.data - 1024.0]),
    "csr, unsorted": lambda: _shuffled(CSR, [CSR.tocoo().data]),
    "coo, explicit zeros": lambda: with_zeros(CSR),
}


def stored(matrix: Any) -> list[bytes]:
    names = ("data", "indices", "indptr") if matrix.format != "coo" else ("data", "row", "col")
    return [getattr(matrix, name).tobytes() for name in names]


@each("spelling", SPELLINGS)
def test_a_sparse_matrix_means_its_canonical_form(spelling: str) -> None:
    spelled = SPELLINGS[spelling]()
    before = stored(spelled)
    kind: Any = {"kernel": "rbf", "gamma": 0.2, "structure": 0.5}
    found: Any = check_matrix(spelled)
    assert np.array_equal(found.toarray(), DENSE) and found.nnz == np.count_nonzero(DENSE)
    for row in range(40):
        assert (np.diff(found.indices[found.indptr[row] : found.indptr[row + 1]]) > 0).all()
    assert not np.shares_memory(found.data, spelled.data)
    assert Rows(spelled).reach >= np.linalg.norm(DENSE - DENSE.mean(axis=0), axis=1).max()
    for kernel in (Linear(), Gaussian(0.2), Laplacian(0.2)) if spelled.format != "coo" else ():
        assert kernel(spelled, spelled) == pytest.approx(kernel(DENSE, DENSE), abs=1e-14)
        assert kernel.diagonal(spelled) == pytest.approx(kernel.diagonal(DENSE), abs=1e-14)
    every: tuple[dict[str, Any], ...] = ({}, {"loss": "squared_hinge"}, kind)
    for options in every:
        wanted, solved = (solve(X, Y, 1e-2, tol=1e-7, **options) for X in (CSR, spelled))
        assert solved.certificate == wanted.certificate and np.array_equal(solved.w, wanted.w)
        one, other = (certify(X, Y, w=wanted.w, lam=1e-2, **options) for X in (CSR, spelled))
        assert (one.primal, one.dual) == (other.primal, other.dual)
    assert stored(spelled) == before


def test_a_matrix_that_believes_itself_canonical_is_not_believed() -> None:
    liar = halves(CSR)
    liar.has_canonical_format = liar.has_sorted_indices = True
    assert np.array_equal(check_matrix(liar).data, CSR.data)
    at = ([0, 0], [0, 0])  # truth values stay such, and small numbers do not wrap
    assert check_matrix(sp.coo_matrix((np.array([True, True]), at), shape=(1, 1)))[0, 0] == 1.0
    few = np.array([100, 100], dtype=np.int8)
    assert check_matrix(sp.coo_matrix((few, at), shape=(1, 1)))[0, 0] == 200.0
    matrix = sp.csr_matrix(np.eye(3))
    matrix.indices[1] = 17
    with pytest.raises(ValueError, match="not a valid sparse matrix"):
        check_matrix(matrix)


@each("entry", [0.0, 2.0])
def test_sparse_rows_that_are_all_the_same_have_the_optimum_one(entry: float) -> None:
    found = solve(sp.csr_array(np.full((12, 30), entry)), np.arange(12) % 2, 0.1)
    assert found.status == "certified" and found.certificate.primal == pytest.approx(1.0)
    assert not found.w.any()


@each("seed", seeds(10))
def test_the_laplacian_of_pairs_is_the_sum_over_the_pairs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, m, d = int(rng.integers(2, 9)), int(rng.integers(1, 30)), int(rng.integers(1, 5))
    i, j, c = rng.integers(n, size=m), rng.integers(n, size=m), rng.random(m)  # pairs come again
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)
    graph, true, sparse = PairGraph(i, j, c, n), np.zeros((d, d)), sp.csr_matrix(X)
    for a, b, share in zip(i, j, c, strict=True):
        true += share * np.outer(X[a] - X[b], X[a] - X[b])
    np.testing.assert_allclose(X.T @ graph.times(X), true, atol=1e-13)
    np.testing.assert_allclose(X.T @ graph.times(X[:, 0]), true[:, 0], atol=1e-13)
    np.testing.assert_allclose((sparse.T @ graph.times(sparse)).toarray(), true, atol=1e-13)
