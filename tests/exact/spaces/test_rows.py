"""Rows in memory, in blocks and in partitions: bounds of rounding, storage, and changes seen."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import naive
from aucert.exact import GroupedRows, PartitionedRows, certify, solve
from aucert.exact.certificate.certificate import Certificate
from aucert.exact.losses.registry import HINGE
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.pairs.near import PairGraph
from aucert.exact.problem.problem import Ridge, pair_problem, split_labels
from aucert.exact.problem.risk import Weights
from aucert.exact.spaces.blocks import STRETCH, Fingerprints, StreamedRows
from aucert.exact.spaces.kernels import Gaussian, Laplacian, Linear
from aucert.exact.spaces.partitions import ArrayPartition, LocalEngine, Task, new_key
from aucert.exact.spaces.rows import Rows, check_matrix
from cutting import Changing, cut, far_rows, meet
from loops import each, refuses, seeds

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
    return space, naive.moved(X, space.offset), rng


@each("sparse", [False, True])
@each("seed", seeds(40))
def test_scores_and_pulls_are_within_their_bounds(seed: int, sparse: bool) -> None:
    space, rows, rng = uneven(seed, sparse)
    w = rng.normal(size=space.dim) / space.sizes.clip(1e-9)
    true = naive.products(rows, naive.exact(w))
    for found, error in ((space.scores(w), space.score_error(w)), space.careful_scores(w)):
        for one, bound, score in zip(found, error, true, strict=True):
            assert abs(naive.exact(one) - score) <= Fraction(float(bound)) + abs(score) / 2**63
    assert float(space.score_error(w).max()) <= space.score_slip(w) * (1 + 1e-12)
    c = rng.normal(size=space.n) * 10.0 ** rng.integers(-3, 4)
    pull = naive.pulled(rows, naive.exact(c))
    for found, bound in ((space.pull(c), space.pull_error(c)), space.careful_pull(c)):
        off = [x - y for x, y in zip(naive.exact(found), pull, strict=True)]
        assert naive.norm2(off) <= Fraction(float(bound)) ** 2
    square = space.dual_norm2(c)
    assert abs(Fraction(square.value) - naive.norm2(pull)) <= Fraction(square.error)
    lengths = naive.exact(space.norms)
    assert all(naive.norm2(row) <= r * r for row, r in zip(rows, lengths, strict=True))
    assert space.reach == space.norms.max()


@pytest.mark.long_digits
def test_columns_of_different_sizes_do_not_pay_for_each_other() -> None:
    rng = np.random.default_rng(0)
    scale = 10.0 ** np.linspace(-6, 6, 5)
    space = Rows(rng.normal(size=(50, 5)) * scale)
    w, c = 1 / scale, rng.normal(size=50)
    assert space.careful_scores(w)[1].max() < 1e-15
    assert float(np.linalg.norm(w)) * space.reach > 1e11  # what the norms alone would pay for
    assert space.magnitude(c) == pytest.approx(np.abs(c) @ np.abs(space.dense()), rel=1e-9)


@each("sparse", [False, True])
@each("seed", seeds(12))
def test_the_norm_of_a_pull_is_bounded_with_all_that_may_be_wrong(seed: int, sparse: bool) -> None:
    space, rows, rng = uneven(seed, sparse)
    c, missing, slip, relative = rng.normal(size=space.n), 1e-3, 1e-4, 1e-5
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


@each("kind", [Rows, StreamedRows, lambda X: Rows(sp.csr_array(X))])
@each(("size", "word"), [(1e200, "overflow"), (1e308, "overflow"), (1e-150, "underflow")])
def test_the_largest_value_is_named_where_squares_are_no_numbers(kind, size, word: str) -> None:
    many = np.full((900, 3), size)
    many[7, 2] *= -1.5
    place = "" if kind is StreamedRows and word == "underflow" else ".* in row 7, column 2"
    refuses(word + place, kind, many)


@each("number", [1e-3, 0.0, -5.0])
def test_rows_that_are_changed_while_computed_with_are_refused(number: float) -> None:
    X = np.random.default_rng(0).normal(size=(300, 3))
    rows, c, y = Rows(X), np.linspace(-1, 1, 300), X[:, 0] > 0
    rows.careful_scores(np.ones(3))
    X[299, 1] = number
    reads = ((rows.dual_norm2, c), (rows.careful_pull, c), (rows.careful_norm2, c, 0.0, 0.0))
    for asked in (*reads, (rows.careful_scores, np.ones(3))):
        refuses("changed while it was computed with", *asked)
    spoiling: Any = {"tol": 1e-13, "callback": lambda step: X[:40].__imul__(0.5)}
    refuses("changed", solve, X, y, 1e-3, **spoiling)


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
    kind = {"kernel": "rbf", "gamma": 0.2, "structure": 0.5}
    every: list[Any] = [{}, {"loss": "squared_hinge"}, kind]
    found: Any = check_matrix(spelled)
    assert np.array_equal(found.toarray(), DENSE) and found.nnz == np.count_nonzero(DENSE)
    assert all((np.diff(row) > 0).all() for row in np.split(found.indices, found.indptr[1:-1]))
    assert not np.shares_memory(found.data, spelled.data)
    assert Rows(spelled).reach >= np.linalg.norm(DENSE - DENSE.mean(axis=0), axis=1).max()
    for kernel in (Linear(), Gaussian(0.2), Laplacian(0.2)) if spelled.format != "coo" else ():
        assert kernel(spelled, spelled) == pytest.approx(kernel(DENSE, DENSE), abs=1e-14)
        assert kernel.diagonal(spelled) == pytest.approx(kernel.diagonal(DENSE), abs=1e-14)
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
    # Truth values stay such, and small numbers do not wrap.
    for few, wanted in ((np.array([True] * 2), 1.0), (np.array([100] * 2, dtype=np.int8), 200.0)):
        assert check_matrix(sp.coo_matrix((few, ([0, 0], [0, 0]))))[0, 0] == wanted
    matrix = sp.csr_matrix(np.eye(3))
    matrix.indices[1] = 17
    refuses("not a valid sparse matrix", check_matrix, matrix, error=ValueError)


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
    graph, apart, sparse = PairGraph(i, j, c, n), X[i] - X[j], sp.csr_matrix(X)
    true = pytest.approx(apart.T @ (c[:, None] * apart), rel=1e-7, abs=1e-13)
    one = pytest.approx(apart.T @ (c * apart[:, 0]), rel=1e-7, abs=1e-13)
    assert X.T @ graph.times(X) == true and X.T @ graph.times(X[:, 0]) == one
    assert (sparse.T @ graph.times(sparse)).toarray() == true


def mapped(path: Path, X: np.ndarray, name: str = "X.npy", mode: Any = "r") -> np.memmap:
    np.save(path / name, X)
    return np.load(path / name, mmap_mode=mode)


@each("seed", seeds(10))
@each("d", [2, 9])
def test_pulls_round_no_more_than_they_say(seed: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    X, c = rng.normal(size=(700, d)) * 10.0 ** rng.integers(-3, 6, d), rng.normal(size=700)
    space = StreamedRows(X, 100)
    value, error, size = space.pulled(c)
    true = naive.pulled(naive.moved(X, space.offset), naive.exact(c))
    slip = naive.norm2([a - b for a, b in zip(naive.exact(value), true, strict=True)])
    assert slip <= Fraction(error + 2.0**-53 * float(np.linalg.norm(value))) ** 2
    assert size >= np.abs(c) @ np.linalg.norm(X - space.offset, axis=1) * (1 - 1e-12)


class Reader:
    """Rows behind a position, as in a file: two threads at once would read each other's."""

    def __init__(self, X: np.ndarray):
        self.X, self.shape, self.at, self.crossed = X, X.shape, 0, 0

    def __getitem__(self, rows: slice) -> np.ndarray:
        self.at = rows.start
        time.sleep(1e-4)  # another thread comes in
        self.crossed += self.at != rows.start
        return self.X[self.at : self.at + rows.stop - rows.start].copy()


def test_a_source_that_is_no_array_is_asked_by_one_thread_at_a_time() -> None:
    X, positive = far_rows(600)
    source = Reader(X)
    found = solve(StreamedRows(source, 50), positive, 0.1, tol=1e-3, n_jobs=4)
    assert source.crossed == 0
    same = solve(StreamedRows(Reader(X), 50), positive, 0.1, tol=1e-3, n_jobs=1)
    assert found.certificate == same.certificate


def test_a_certificate_is_refused_at_whatever_reading_the_rows_change() -> None:
    X, positive = far_rows(3000)
    other, w = X.copy(), np.ones(3)
    i, j = np.flatnonzero(positive)[0], np.flatnonzero(~positive)[-1]
    other[[i, j]] = X[[j, i]]  # a positive row is exchanged with a negative one

    def certified(source: Changing) -> int:
        space = StreamedRows(source, 1000)
        before, problem = source.count, pair_problem(space, positive, AllPairs(), HINGE, Ridge(0.1))
        Certificate.of(problem, w, problem.risk.minorant(Weights(w, 64, 2)))
        return before

    source = Changing(X, X, 10**9)
    before, whole = certified(source), source.count
    assert whole >= before + 6  # two passes of three blocks at least
    for after in range(before, whole - 1):  # the last block is read with the others' change
        refuses("changed while it was read", certified, Changing(X, other, after))


def test_few_mapped_rows_are_finished_in_memory(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))  # whose bins stall at 1e-5
    found = solve(mapped(tmp_path, X), X[:, 0] + rng.normal(size=400) > 0, 1e-2)
    assert found.certificate.reaches(1e-9)


@each("kind", [np.float64, np.float32])
@each("call", ["solve", "certify"])
def test_a_file_that_changes_during_a_solve_is_named(tmp_path: Path, kind: Any, call: str) -> None:
    X, positive = far_rows(3000)
    source = mapped(tmp_path, X.astype(kind))
    other = np.load(tmp_path / "X.npy", mmap_mode="r+")

    def change(*_: object) -> None:
        other[[0, -1]] = other[[-1, 0]]
        other.flush()

    class Hooked(np.memmap):
        def __getitem__(self, rows: Any) -> Any:
            self.count = getattr(self, "count", 0) + 1
            if self.count == 150:  # after the first pass, which 64 samples and 1 block make
                change()
            return np.memmap.__getitem__(self, rows)

    said, of = r"X\.npy changed while it was read", (positive, 1e-2)
    if call == "solve":
        refuses(said, solve, source, *of, callback=change)
    else:
        space = StreamedRows(source.view(Hooked), 100)
        refuses(said, certify, space, *of, w=np.ones(3), refine=False)


LONG = np.random.default_rng(0).normal(size=(3 * STRETCH + 7, 1))
LONG[5] = LONG[6]


def negated(*places: Any) -> Callable[[np.ndarray], None]:
    return lambda x: x.__setitem__([*places], -x[[*places]])


CHANGES: dict[str, Callable[[np.ndarray], Any]] = {
    "the first": negated(0),
    "the last": negated(-1),
    "two signs": negated(3, 3 + STRETCH),
    "two signs of a stretch": negated(8, 9),
    "all signs": lambda x: np.negative(x, out=x),
    "two rows swapped": lambda x: x.__setitem__([10, 2000], x[[2000, 10]]),
    "the order": lambda x: x.__setitem__(slice(None), x[::-1].copy()),
    "the last bit": lambda x: x.__setitem__(77, np.nextafter(x[77], np.inf)),
}


@each("name", [*CHANGES, "the sign of zero"])
def test_every_change_is_seen(name: str) -> None:
    base = LONG * 0 + 0.0 if name == "the sign of zero" else LONG
    made, rows = base.copy(), slice(0, base.size)
    CHANGES.get(name, lambda x: x.__setitem__(11, -0.0))(made)
    for _ in range(20):
        marks, given = Fingerprints("it"), base.copy()
        held = marks.checked(rows, given)
        given[:] = 9.0  # what was checked does not change afterwards
        assert np.array_equal(held, base) and np.array_equal(marks.checked(rows, base), base)
        refuses("it changed while it was read", marks.checked, rows, made)


def test_labels_and_weights_on_disk_are_read_once(tmp_path: Path) -> None:
    positive = far_rows(3000)[1]
    y = mapped(tmp_path, positive.astype(int), "y.npy", "r+")
    weight = mapped(tmp_path, np.ones(3000), "weight.npy", "r+")
    mask, pairs = split_labels(y)[0], AllPairs(weight)
    y[:], weight[:] = 0, 0.0
    assert np.array_equal(mask, positive) and np.all(pairs.weight)


def count_rows(blocks: Any, index: int) -> str:
    return f"{index}:{sum(block.positive.size for block in blocks)}"


ADDING = Task(count_rows, lambda first, second: f"({first} {second})")


@each("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_answers_are_added_up_in_order_and_it_can_be_heard_how_far_a_pass_is(jobs: int) -> None:
    stated: list[tuple[int, int]] = []
    parts = cut(np.zeros((3, 2)), np.zeros(3, dtype=bool), None, [1, 2])
    task = Task(count_rows, add) if jobs > 1 else ADDING  # a lambda is not sent
    engine = LocalEngine(parts, jobs, lambda *far: stated.append(far))
    found = engine.run(task, new_key())
    assert found.answer == ("0:11:12:1" if jobs > 1 else "((0:1 1:1) 2:1)")
    assert stated == [(1, 3), (2, 3), (3, 3)] and set(found.digests) == {0, 1, 2}
    many = cut(np.zeros((200, 2)), np.zeros(200, dtype=bool), None, [*range(1, 150)])
    assert set(LocalEngine(many).run(ADDING, new_key()).digests) == set(range(150))


@each("kind", ["<f4", ">f4", "<f8", ">f8", "f2", "i2", "u1", "?"])
@each("turned", [False, True])
def test_blocks_are_the_columns_in_any_format(kind: str, turned: bool) -> None:
    rng = np.random.default_rng(0)
    X = np.asarray(rng.normal(size=(60_000, 4)) * 10 % 100, dtype=kind)
    given = np.asfortranarray(X) if turned else X
    part = ArrayPartition(given, np.arange(60_000) % 3 == 0, np.arange(60_000.0))
    blocks = [block.columns for block in part.blocks()]
    found = np.concatenate(blocks, axis=1)
    assert len(blocks) > 1 and found.dtype == np.dtype(float)
    assert all(columns.flags.c_contiguous for columns in blocks)
    np.testing.assert_array_equal(found, X.astype(float).T)


def test_tuples_of_arrays_are_partitions() -> None:
    rng = np.random.default_rng(0)
    X, weight, group = rng.normal(size=(60, 2)), np.arange(60) % 3 + 1.0, np.arange(60) // 10
    key, cuts = X[:, 0] + rng.normal(size=60), [slice(0, 30), slice(30, 60)]
    for of in ([], [weight]):
        rows = PartitionedRows([(X[k], key[k] > 0, *(r[k] for r in of)) for k in cuts])
        apart = PartitionedRows(cut(X, key > 0, of[0] if of else None, [30]))
        one, two = (solve(space, None, 1e-1).certificate for space in (rows, apart))
        assert (one.primal, one.dual) == (two.primal, two.dual)
        rows = GroupedRows([(X[k], group[k], key[k], *(r[k] for r in of)) for k in cuts])
        assert (rows.n, rows.parts, rows.groups) == (60, 2, 6)
        kept = {"qid": group, "sample_weight": of[0] if of else None}
        meet(solve(rows, None, 1e-1), solve(X, key, 1e-1, **kept))
