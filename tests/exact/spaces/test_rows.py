"""Rows in memory, blocks and partitions; kernels held, in tiles or factored: bounds of rounding."""

from __future__ import annotations

import time
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import aucert.exact as ac
import naive
from aucert.exact import GroupedRows, PartitionedRows, certify, solve
from aucert.exact.certificate.certificate import Certificate
from aucert.exact.formulation import formulation
from aucert.exact.losses.registry import HINGE
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.pairs.near import PairGraph
from aucert.exact.problem.problem import Ridge, pair_problem, split_labels
from aucert.exact.problem.risk import Weights
from aucert.exact.spaces import factor, gram
from aucert.exact.spaces.blocks import STRETCH, Fingerprints, StreamedRows
from aucert.exact.spaces.factor import GramFactor, factor_gram, factor_kernel, rows_of
from aucert.exact.spaces.gram import Gram, blocked_product, chain_of, residual_norm, shortfall
from aucert.exact.spaces.kernels import (
    EXP_UNITS,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    get_kernel,
    lengths_of,
)
from aucert.exact.spaces.partitions import ArrayPartition, LocalEngine, Task, new_key
from aucert.exact.spaces.rows import Rows, check_matrix
from aucert.exact.structured import ClassScatter, Structured
from aucert.exact.tools.rounding import LONG_UNIT, gamma
from cutting import Changing, cut, far_rows, meet
from decimal_losses import DIGITS, decimal, true_kernel
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
    assert np.shares_memory(check_matrix(CSR).data, CSR.data)
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


KERNELS: list[Kernel] = [Linear(), Gaussian(0.3), Laplacian(0.4)]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 8))
LABELS = X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * RNG.normal(size=90) > 0.3


def some_rows(rng: np.random.Generator) -> np.ndarray:
    n, d = int(rng.integers(1, 40)), int(rng.integers(1, 5))
    X = np.round(rng.normal(size=(n, d)), int(rng.integers(0, 6)))
    X = X[rng.integers(0, n, n)] if rng.integers(2) else X
    X[0, 0] += 2.0
    return X


def check_bounds(space: Gram, K: list[list[Fraction]], w: np.ndarray) -> None:
    exact, true = naive.exact(w), naive.products(K, naive.exact(w))
    for found, error in (space.careful_scores(w), (space.scores(w), space.score_error(w))):
        for one, bound, score in zip(found, error, true, strict=True):
            assert abs(naive.exact(one) - score) <= naive.exact(bound)
    norm2 = sum(x * s for x, s in zip(exact, true, strict=True))
    assert abs(naive.exact(space.norm2(w)) - norm2) <= naive.exact(space.norm2_error(w))
    dual = space.dual_norm2(w)
    assert (dual.value, dual.error) == (space.norm2(w), space.norm2_error(w))
    assert all(row[k] <= naive.exact(space.lengths[k]) ** 2 for k, row in enumerate(K))


@each("held", [True, False])
@each("seed", seeds(40))
def test_scores_and_norms_are_within_their_stated_rounding(seed: int, held: bool) -> None:
    rng = np.random.default_rng([7, seed])
    n = int(rng.integers(2, 9))
    X = np.round(rng.normal(size=(n, 2)) * 8) / 8 + 1024.0 * (seed % 2)  # K is exact in floats
    space = Gram(X @ X.T) if held else Gram.of_kernel(Linear(), X, held=False)
    null = np.linalg.svd(X.T)[2][-1] * 10.0 ** rng.integers(0, 9)  # cancels in K w
    rows = naive.exact(X)
    check_bounds(space, [naive.products(rows, row) for row in rows], rng.normal(size=n) + null)


def test_blocked_products_bound_their_chain() -> None:
    rng = np.random.default_rng(3)
    K, w = rng.normal(size=(3, 1000)), rng.normal(size=1000)
    for values, unit in ((w, 2.0**-53), (w.astype(np.longdouble), LONG_UNIT)):
        found, sizes = blocked_product(K, values), np.abs(K) @ np.abs(w)
        assert found.dtype == values.dtype
        true = naive.products(naive.exact(K), naive.exact(w))
        for one, score, size in zip(found, true, sizes, strict=True):
            bound = gamma(chain_of(1000), unit) * float(size) * 1.0001
            assert abs(naive.exact(one) - score) <= Fraction(bound)


def raised(gram: Gram, share: Fraction = Fraction(1)) -> list[list[Fraction]]:
    rows = naive.exact(gram.K)
    for k, row in enumerate(rows):
        row[k] += share * Fraction(gram.shift)
    return rows


@each("seed", seeds(45))
def test_the_matrix_that_is_meant_is_semidefinite_in_exact_arithmetic(seed: int) -> None:
    """Its least eigenvalue is zero to rounding: of either sign."""
    rng = np.random.default_rng([21, seed])
    n = int(rng.integers(3, 12))
    F = rng.normal(size=(n, int(rng.integers(1, n)))) * 10.0 ** rng.integers(-6, 7)
    K = F @ F.T if seed % 3 else Gaussian(0.01)(*[rng.normal(size=(n, 1))] * 2)
    K -= (seed % 3 == 1) * 3e-15 * float(np.abs(K).max()) / 4 * np.eye(n)
    before = K.copy()
    gram = Gram(K)
    assert naive.semidefinite(raised(gram)) and np.array_equal(K, before)
    assert np.array_equal(gram.K, (K + K.T) / 2)
    assert 0 <= gram.shift <= 16 * n * 2.0**-53 * np.abs(K).max()


@each("size", [1.0, 1e5])
@each("share", [Fraction(0), Fraction(1, 2), Fraction(1)])
def test_rounding_covers_every_matrix_up_to_the_shift(share: Fraction, size: float) -> None:
    """K has the eigenvalue -6e-14 along v: lam/2 w'K w would fall to -inf along it."""
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(40, 40)))[0]
    K = (Q * np.concatenate([[-6e-14], rng.uniform(0.5, 30, 39)])) @ Q.T
    gram = Gram((K + K.T) / 2)
    assert np.linalg.eigvalsh(gram.K)[0] < -1e-14 and gram.shift > 0
    v = naive.exact(Q[:, 0])
    products = naive.products(raised(gram), v)
    assert sum(x * y for x, y in zip(v, products, strict=True)) >= 0
    check_bounds(gram, raised(gram, share), Q[:, 0] * size)
    assert Gram(Gaussian(2.0)(X, X) + 1e-6 * np.eye(90)).shift == 0.0


@each("seed", seeds(20))
def test_the_residual_of_a_factor_is_bounded(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng([22, seed])
    n = int(rng.integers(2, 24))
    F = rng.normal(size=(n, n)) * 10.0 ** rng.uniform(-3, 3, n)
    monkeypatch.setattr(gram, "ROWS", int(rng.integers(3, 50)))
    A = (F @ F.T + (F @ F.T).T) / 2
    # A factor that is as good as can be, or one whose residual is clearly seen.
    L = np.tril(np.linalg.cholesky(A + 10.0 ** -rng.integers(8, 16) * np.trace(A) * np.eye(n)))
    exact_L = naive.exact(L)
    left = [
        [a - p for a, p in zip(row, naive.products(exact_L, line), strict=True)]
        for row, line in zip(naive.exact(A), exact_L, strict=True)
    ]
    bound, whole = Fraction(residual_norm(A, L)), sum(map(naive.norm2, left))
    assert whole <= bound**2, "it bounds the Frobenius norm"
    assert float(bound) <= 1.01 * float(whole) ** 0.5 + n * 2.0**-60 * np.trace(A), "and is that"
    L = np.tril(rng.normal(size=(30, 30)) * 10.0 ** rng.uniform(-8, 8, (30, 1)))
    H = gram._rounded(L)
    rows = naive.exact(H)  # products of the rounded factor are exact
    assert naive.exact(gram._exact_product(H, H)) == [naive.products(rows, row) for row in rows]


def test_what_is_missing_is_said_and_no_factor_is_no_proof() -> None:
    A = np.diag([1.0, 1.0, -1e-3])
    missing, spare = shortfall(A, 2e-3), shortfall(np.eye(3), -0.5)
    assert shortfall(A) is None and missing is not None and 0 <= missing < 1e-13
    assert spare is not None and spare < 0.5, "the identity is semidefinite by itself"


@each("rank", [1, 3, 30])
@each("scale", [1e-12, 1.0, 1e12])
def test_a_matrix_without_full_rank_is_accepted_at_any_scale(rank: int, scale: float) -> None:
    features = np.random.default_rng(4).normal(size=(120, rank)) * scale
    assert Gram(features @ features.T).n == 120
    K = features[:40] @ features[:40].T - 1e-9 * scale**2 * np.eye(40)
    if rank < 40 and scale == 1.0:  # an eigenvalue below rounding is refused, and its cure works
        with pytest.raises(ac.InputError, match="negative eigenvalue") as caught:
            Gram(K)
        advised = float(str(caught.value).split("add ")[1].split(" to")[0])
        assert Gram(K + advised * np.eye(40)).n == 40
    assert Gram(sp.identity(3)).norm2(np.ones(3)) == 3.0
    assert Gram(np.ones((3, 3))).norm2(np.array([1.0, -1.0, 0.0])) == 0.0
    assert Gram(np.zeros((2, 2))).reach == 0.0


def test_rounding_stays_small_at_small_lam() -> None:
    """Coefficients are of size 1 / lam there, and their sums cancel."""
    X, positive = np.random.default_rng(6).normal(size=(600, 2)), np.arange(600) % 3 == 0
    problem = ac.linear_problem(X, positive, 1e-6).over(Gram.of_kernel(Gaussian(1.0), X))
    witness = ac.Minorant.from_scores(problem, np.zeros(600), scale=1e-3)
    found = ac.Certificate.of(problem, witness.c / 1e-6, witness)
    assert np.abs(witness.c / 1e-6).sum() > 1000 and found.rounding < 1e-9 * found.primal


@pytest.fixture
def streamed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formulation, "DENSE_LIMIT", 10)
    monkeypatch.setattr(factor, "PLAIN_FROM", 2)
    monkeypatch.setattr(factor, "PLAIN_RANK", 3.0)
    monkeypatch.setattr(gram, "SIDE", 16)
    monkeypatch.setattr(gram, "BLOCK_BYTES", 8 * 90 * 13)


@each("n", [1, 16, 17, 90])
@each("tol", [1e-9, 1e-3])
def test_products_of_tiles_are_those_of_the_matrix(n: int, tol: float, streamed: None) -> None:
    product, c = Gram.of_kernel(Gaussian(0.1), X[:n], held=False).product(tol), RNG.normal(size=n)
    exact = Gaussian(0.1)(X[:n], X[:n]) @ c
    assert product(c) == pytest.approx(exact, abs=1e-13 if tol < 1e-6 else 1e-5)


def test_what_does_not_fit_in_memory_or_time_is_no_matrix(monkeypatch, streamed: None) -> None:
    product = Gram.of_kernel(Gaussian(0.1), X, held=False).product(1e-9, lambda: True)
    assert not product(np.ones(90)).any()
    asked: Any = {"kernel": "rbf", "gamma": 0.1}
    found = solve(X, LABELS, 1e-2, method="cutting-plane", max_time=1e-6, **asked)
    assert found.certificate.gap >= 0 and found.certificate.primal <= 1.0 + 1e-12
    assert gram.free_memory() > 0
    monkeypatch.setattr(gram, "free_memory", lambda: 4 * 0.5 * 90 * 106 / gram.SPARE + 8.0)
    assert gram.format_for(90, 1e-9) is np.float32  # double precision does not fit
    monkeypatch.setattr(gram, "free_memory", lambda: 10_000.0)
    said = r"kernel matrix of 90 rows .* take landmarks"
    refuses(said, solve, X, LABELS, 1e-2, **asked, error=ac.TooLargeError)


@pytest.mark.long_digits
def test_plain_sums_state_their_rounding(streamed: None) -> None:
    rng = np.random.default_rng(4)
    space, whole = Gram.of_kernel(Gaussian(0.1), X, held=False), Gram.of_kernel(Gaussian(0.1), X)
    plain = space.plain()
    for w in rng.normal(size=(2, 90)):
        exact, error = whole.careful_scores(w)
        scores, bound = plain.careful_scores(w)
        assert np.all(np.abs(scores - exact) <= bound + error)
        assert plain.norm2_error(w) > space.norm2_error(w) > 0
        assert plain.norm2(w) == pytest.approx(whole.norm2(w), rel=1e-12)
        assert np.abs(plain.scores(w) * (1 + 1e-9) - whole.scores(w)).max() > bound.max()


def check_factor(factor: GramFactor, K: np.ndarray) -> None:
    top, F, P = float(np.diag(K).max()), factor.features, factor.pivots
    assert F @ F.T == pytest.approx(K, abs=1e-12 * top)
    assert F[P] @ F[P].T == pytest.approx(factor.L @ factor.L.T, abs=1e-12 * top)
    assert np.array_equal(factor.L, np.tril(factor.L)) and len(set(P.tolist())) == P.size
    assert (np.diag(K) - (F**2).sum(axis=1)).max() <= 1e-12 * top


@each("seed", seeds(60))
def test_the_factor_gives_the_kernel_back(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    X, kernel = some_rows(rng), KERNELS[seed % 3]
    K, held = kernel(X, X), factor_gram(kernel(X, X))
    check_factor(held, K)
    assert held.pivots.size <= len(np.unique(X, axis=0)), "a repeated row adds no feature"
    # Features of new rows continue those of the old ones.
    again, top = held.map(kernel(X, X[held.pivots])), float(np.diag(K).max())
    assert again @ again.T == pytest.approx(K, abs=1e-11 * top)
    # A function w of the features is a sum of kernels at the pivots, with the same norm.
    w = held.features.T @ rng.normal(size=len(X))
    theta = held.coefficients(w)
    size = float(np.abs(theta).sum()) * top + 1e-9
    assert np.flatnonzero(theta).size <= held.pivots.size
    assert K @ theta == pytest.approx(held.features @ w, abs=1e-11 * size)
    within = 1e-11 * size * np.abs(theta).max()
    assert theta @ K @ theta == pytest.approx(float(w @ w), abs=within)
    monkeypatch.setattr(factor, "DENSE_LIMIT", 0)  # a column at a time
    made = factor_kernel(kernel, X if seed % 2 else sp.csr_matrix(X))
    check_factor(made, K)
    assert np.array_equal(made.L, made.features[made.pivots])


def test_the_rank_can_be_bounded_and_many_columns_fit(monkeypatch) -> None:
    X = np.random.default_rng(1).normal(size=(270, 6))
    K, residuals = Gaussian(2.0)(X[:60, :2], X[:60, :2]), []
    for rank in (5, 10, 20):
        F = factor_gram(K, max_rank=rank).features
        assert F.shape == (60, rank)
        residuals.append(np.diag(K - F @ F.T).max())
    assert residuals[0] > residuals[1] > residuals[2] > 0
    monkeypatch.setattr(factor, "DENSE_LIMIT", 0)
    F = factor_kernel(Gaussian(2.0), X[:60, :2], max_rank=10).features
    assert np.diag(K - F @ F.T).max() == pytest.approx(residuals[1])
    full = factor_kernel(Laplacian(1.0), X)  # more than the 256 that are made room for at first
    check_factor(full, Laplacian(1.0)(X, X))
    assert full.pivots.size == 270
    refuses("zero on every row", factor_kernel, Linear(), np.zeros((3, 2)))


def test_sparse_rows_stay_where_dense_ones_would_be_many_more_numbers(monkeypatch) -> None:
    given: Any = {"format": "csr", "random_state": 1}
    sparse, fuller = (ac.Rows(sp.random(600, 2000, density, **given)) for density in (2e-3, 0.1))
    assert rows_of(sparse)[0] is sparse
    assert rows_of(sparse, few=True)[0].dim <= 600 and rows_of(fuller)[0].dim <= 600
    scatter = ClassScatter(np.arange(15) < 5, np.full(5, 0.2), np.full(10, 0.1))
    refuses("Structured has neither", rows_of, Structured(ac.Rows(X[:15]), scatter, 1.0))
    monkeypatch.setattr(factor, "SQUARE_LIMIT", 11)
    refuses("600 sparse rows of 2000 features", rows_of, sparse, error=ac.TooLargeError, few=True)


SHAPES = ((1, 1.0), (3, 1e-3), (3, 1e6), (65, 1.0), (65, 1e-3), (200, 1.0), (200, 1e6))


def hard_rows(rng: np.random.Generator, n: int, d: int, scale: float, kind: int) -> np.ndarray:
    """Return rows that are plain, far from the origin, repeated, or two tight clouds far apart."""
    X = rng.normal(size=(n, d))
    X[rng.random((n, d)) < 0.2] = 0.0
    near, first = rng.integers(0, max(n // 2, 1), n), (np.arange(n) < n // 2)[:, None]
    copies = X[near] + 1e-7 * (np.arange(n) == 0)[:, None]
    return scale * (X, X + 1e6, copies, 1e-4 * X + 1e4 * first)[kind]


def kernels_for(X: np.ndarray) -> tuple[Kernel, ...]:
    """Return kernels, whose values on these rows are neither all one nor all zero."""
    square = max(float(((X - X[:1]) ** 2).sum(axis=1).mean()), 1e-300)
    length = max(float(np.abs(X - X[:1]).sum(axis=1).mean()), 1e-300)
    return Gaussian(1 / square), Laplacian(1 / length), Linear()


@each("sparse", [False, True], ids=["dense", "sparse"])
@each(("d", "scale"), SHAPES)
def test_every_kernel_value_is_within_its_noise(d: int, scale: float, sparse: bool) -> None:
    for kind in range(4):
        X = hard_rows(np.random.default_rng([12, d, kind]), 6, d, scale, kind)
        rows = sp.csr_matrix(X) if sparse else X
        for kernel in (*kernels_for(X), Gaussian(1e6), Gaussian(1e-9), Laplacian(1e-9)):
            true, found, noise = true_kernel(kernel, X), kernel(rows, rows), kernel.noise(rows)
            assert noise < 1e-11
            diagonal, lengths = kernel.diagonal(rows), lengths_of(kernel, rows)
            with localcontext(DIGITS):
                for i in range(6):
                    assert abs(decimal(diagonal[i]) - true[i][i]) <= decimal(noise) * true[i][i]
                    assert true[i][i] <= decimal(lengths[i]) ** 2
                    for j in range(6):
                        slip = abs(decimal(found[i, j]) - true[i][j])
                        size = (true[i][i] * true[j][j]).sqrt()
                        assert slip <= decimal(noise) * size, f"{kernel}, {kind}, {(i, j)}"


def test_the_exponential_of_numpy_is_as_good_as_is_assumed() -> None:
    rng = np.random.default_rng(13)
    x = -np.concatenate([rng.uniform(0, 1, 2000), 10.0 ** rng.uniform(-9, 2.84, 4000)])
    for exponent, value in zip(x.tolist(), np.exp(x).tolist(), strict=True):
        true = DIGITS.exp(Decimal(exponent))
        assert abs(Decimal(value) - true) / true <= Decimal(EXP_UNITS) / 2 * Decimal(2) ** -53


def test_kernels_have_names_and_a_width_above_zero() -> None:
    assert get_kernel("linear") == Linear() and get_kernel("rbf", 2.0) == Gaussian(2.0)
    assert get_kernel("laplacian", dim=5) == Laplacian(0.2)
    bad: Any
    for bad in (0.0, -1.0, np.nan, np.inf, True, "1", None):
        for kind in (Gaussian, Laplacian):
            refuses("gamma must be", kind, bad)
    refuses("needs a gamma", get_kernel, "rbf")
    for kernel in (Gaussian(1.0), Laplacian(1.0), Linear()):
        refuses("so large", formulation.true_space, kernel, np.array([[1e200], [0.0]]))


@pytest.mark.filterwarnings("error")
@each("kernel", [Gaussian, Laplacian])
@each("gamma", [1e300, 1e308, 1.7e308])
def test_a_gamma_near_the_largest_float_has_a_bound(kernel: type, gamma: float) -> None:
    """gamma times a distance overflows, and so did gamma times what underflow takes from one."""
    X = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 5.0], [0.0, 1.0]])
    np.testing.assert_array_equal(kernel(gamma)(X, X), np.eye(4))
    assert 0 < kernel(gamma).noise(X) <= 1
    name = "rbf" if kernel is Gaussian else "laplacian"
    found = solve(X, [0, 1, 1, 0], 0.01, kernel=name, gamma=gamma).certificate
    assert found.dual <= 0.005 <= found.primal
