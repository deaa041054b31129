"""A sparse matrix means its canonical form, however its entries are stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.approx import NBAUC, NSAUC, OAM, SHTAUC, SPAM, IncompleteROCSVM, RankSVM
from aucert.exact import ROCSVM, SAUCSVM, certify, solve
from aucert.exact.spaces.kernels import Gaussian, Laplacian, Linear
from aucert.exact.spaces.rows import Rows, check_matrix
from loops import each, first_fast

RNG = np.random.default_rng(3)
DENSE = np.where(RNG.random((40, 6)) < 0.5, RNG.integers(-8, 9, (40, 6)) / 4, 0.0)
Y = (DENSE[:, 0] + RNG.normal(size=40) > 0).astype(int)


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


def cancelling(matrix: Any) -> Any:
    data = matrix.tocoo().data
    return _shuffled(matrix, [data + 1024.0, 0 * data - 1024.0])


def with_zeros(matrix: Any) -> Any:
    rows, columns = (place.ravel() for place in np.indices(matrix.shape))
    return sp.coo_matrix((matrix.toarray().ravel(), (rows, columns)), shape=matrix.shape)


def parts_as_coo(matrix: Any) -> Any:
    return halves(matrix).tocoo()


SPELLINGS: dict[str, Callable[[], Any]] = {
    "csr, v/2 + v/2": lambda: halves(sp.csr_matrix(DENSE)),
    "csr array, v/2 + v/2": lambda: sp.csr_array(halves(sp.csr_matrix(DENSE))),
    "csc, v/2 + v/2": lambda: halves(sp.csc_matrix(DENSE)),
    "coo, v/2 + v/2": lambda: parts_as_coo(sp.csr_matrix(DENSE)),
    "csr, cancelling": lambda: cancelling(sp.csr_matrix(DENSE)),
    "csr, unsorted": lambda: _shuffled(sp.csr_matrix(DENSE), [sp.coo_matrix(DENSE).data]),
    "coo, explicit zeros": lambda: with_zeros(sp.csr_matrix(DENSE)),
}


def stored(matrix: Any) -> list[bytes]:
    names = ("data", "indices", "indptr") if matrix.format != "coo" else ("data", "row", "col")
    return [getattr(matrix, name).tobytes() for name in names]


@pytest.fixture(params=first_fast(SPELLINGS, 2))
def spelled(request):
    """A spelling of DENSE that nobody may write to."""
    matrix = SPELLINGS[request.param]()
    assert np.array_equal(matrix.toarray(), DENSE)
    before = stored(matrix)
    yield matrix
    assert stored(matrix) == before


def test_the_canonical_matrix_is_taken(spelled) -> None:
    found: Any = check_matrix(spelled)
    assert np.array_equal(found.toarray(), DENSE)
    assert found.nnz == np.count_nonzero(DENSE)
    for row in range(40):
        assert (np.diff(found.indices[found.indptr[row] : found.indptr[row + 1]]) > 0).all()
    assert not np.shares_memory(found.data, spelled.data)


def test_a_matrix_that_believes_itself_canonical_is_not_believed() -> None:
    liar = halves(sp.csr_matrix(DENSE))
    liar.has_canonical_format = liar.has_sorted_indices = True
    assert np.array_equal(check_matrix(liar).data, sp.csr_matrix(DENSE).data)


def test_truth_values_stay_such_and_small_numbers_do_not_wrap() -> None:
    at = ([0, 0], [0, 0])
    assert check_matrix(sp.coo_matrix((np.array([True, True]), at), shape=(1, 1)))[0, 0] == 1.0
    few = np.array([100, 100], dtype=np.int8)
    assert check_matrix(sp.coo_matrix((few, at), shape=(1, 1)))[0, 0] == 200.0


@each("entry", [0.0, 2.0])
def test_sparse_rows_that_are_all_the_same_have_the_optimum_one(entry: float) -> None:
    X = sp.csr_array(np.full((12, 30), entry))
    found = solve(X, np.arange(12) % 2, 0.1)
    assert found.status == "certified" and found.certificate.primal == pytest.approx(1.0)
    assert not found.w.any()


def test_indices_out_of_range_are_refused() -> None:
    matrix = sp.csr_matrix(np.eye(3))
    matrix.indices[1] = 17
    with pytest.raises(ValueError, match="X is not a valid sparse matrix: indices must be < 3"):
        check_matrix(matrix)


def test_norms_are_those_of_the_rows(spelled) -> None:
    assert Rows(spelled).reach >= np.linalg.norm(DENSE - DENSE.mean(axis=0), axis=1).max()


@each("kernel", [Linear(), Gaussian(0.2), Laplacian(0.2)])
def test_kernel_values_are_those_of_the_dense_rows(spelled, kernel) -> None:
    if spelled.format == "coo":
        pytest.skip("kernels take rows")
    assert kernel(spelled, spelled) == pytest.approx(kernel(DENSE, DENSE), abs=1e-14)
    assert kernel.diagonal(spelled) == pytest.approx(kernel.diagonal(DENSE), abs=1e-14)


KINDS = [
    {"kernel": "linear"},
    {"kernel": "rbf", "gamma": 0.2},
    {"kernel": "laplacian", "gamma": 0.2},
    {"kernel": "linear", "structure": 0.5},
    {"kernel": "rbf", "gamma": 0.2, "structure": 0.5},
    {"kernel": "linear", "loss": "squared_hinge"},
]


@each("kind", KINDS, ids=str)
def test_solve_and_certify_are_about_the_canonical_matrix(spelled, kind) -> None:
    wanted = solve(sp.csr_matrix(DENSE), Y, 1e-2, tol=1e-7, **kind)
    found = solve(spelled, Y, 1e-2, tol=1e-7, **kind)
    assert found.certificate == wanted.certificate
    assert np.array_equal(found.w, wanted.w)
    audits = [certify(X, Y, w=found.w, lam=1e-2, **kind) for X in (spelled, sp.csr_matrix(DENSE))]
    assert (audits[0].primal, audits[0].dual) == (audits[1].primal, audits[1].dual)
    dense = certify(DENSE, Y, w=found.w, lam=1e-2, **kind)
    assert dense.primal is not None and found.certificate.dual - 1e-9 <= dense.primal
    assert dense.dual <= found.certificate.primal + 1e-9


MODELS = {
    "ROCSVM": lambda: ROCSVM(1e-2, tol=1e-7),
    "ROCSVM, rbf": lambda: ROCSVM(1e-2, kernel="rbf", gamma=0.2, tol=1e-7),
    "ROCSVM, laplacian": lambda: ROCSVM(1e-2, kernel="laplacian", gamma=0.2, tol=1e-7),
    "ROCSVM, nearest": lambda: ROCSVM(1e-2, pairs="nearest:3", tol=1e-7),
    "SAUCSVM": lambda: SAUCSVM(1e-2, tol=1e-7),
    "SAUCSVM, rbf": lambda: SAUCSVM(1e-2, kernel="rbf", gamma=0.2, tol=1e-7),
    "RankSVM": lambda: RankSVM(lam=1e-2),
    "NBAUC": lambda: NBAUC(lam=1e-2, n_landmarks=5, random_state=0),
    "NSAUC": lambda: NSAUC(lam=1e-2, n_landmarks=5, random_state=0),
    "IncompleteROCSVM": lambda: IncompleteROCSVM(lam=1e-2, random_state=0),
    "SHTAUC": lambda: SHTAUC(k=2, random_state=0),
    "SPAM": lambda: SPAM(random_state=0),
    "OAM": lambda: OAM(random_state=0),
}
