"""Rows read in blocks: the sums of rows that are held, and a change between readings is seen."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import naive
from aucert.exact.api.certify import certify
from aucert.exact.api.solve import solve
from aucert.exact.certificate.certificate import Certificate
from aucert.exact.certificate.solution import Status
from aucert.exact.errors import InputError
from aucert.exact.losses.registry import HINGE
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.problem.minorant import Weights
from aucert.exact.problem.problem import Ridge, pair_problem, split_labels
from aucert.exact.spaces.blocks import STRETCH, Fingerprints, StreamedRows
from aucert.exact.spaces.rows import Rows
from cutting import Changing
from loops import each, seeds


def some_rows(n: int = 3000, d: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.3
    return rng.normal(size=(n, d)) + positive[:, None] * 0.5 + 7.0, positive


def mapped(path: Path, X: np.ndarray, mode: Any = "r") -> np.memmap:
    np.save(path / "X.npy", X)
    return np.load(path / "X.npy", mmap_mode=mode)


@each("d", [1, 3, 20])
@each("block", [1, 7, 300, 10**6])
@each("far", [0.0, 100.0])
def test_scores_and_pulls_are_those_of_held_rows(d: int, block: int, far: float) -> None:
    X, positive = some_rows(600, d)
    X += far - 7.0
    streamed, held = StreamedRows(X, block), Rows(X)
    w, c = np.arange(1.0, d + 1), np.where(positive, 1 / positive.sum(), -1 / (~positive).sum())
    shift = streamed.scores(w) - held.scores(w)
    assert np.ptp(shift) <= 2 * streamed.score_slip(w) < 1e-9
    assert np.abs(streamed.pull(c) - held.pull(c)).max() < 1e-12 * (1 + far)
    assert streamed.reach >= np.linalg.norm(X - streamed.offset, axis=1).max()
    index = np.array([0, 3, 63, 64, 400, 599])
    assert np.array_equal(streamed.rows(index), X[index] - streamed.offset)


@each("seed", seeds(10))
@each("d", [2, 9])
def test_pulls_round_no_more_than_they_say(seed: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    X, c = rng.normal(size=(700, d)) * 10.0 ** rng.integers(-3, 6, d), rng.normal(size=700)
    space = StreamedRows(X, 100)
    value, error, size = space.pulled(c)
    offset = naive.exact(space.offset)
    moved = [[x - o for x, o in zip(row, offset, strict=True)] for row in naive.exact(X)]
    true = naive.pulled(moved, naive.exact(c))
    slip = naive.norm2([a - b for a, b in zip(naive.exact(value), true, strict=True)])
    assert slip <= Fraction(error + 2.0**-53 * float(np.linalg.norm(value))) ** 2
    assert size >= np.abs(c) @ np.linalg.norm(X - space.offset, axis=1) * (1 - 1e-12)


def test_weights_are_audited_over_blocks_as_over_held_rows(tmp_path: Path) -> None:
    X, positive = some_rows(8_000, 2)
    w, source = np.array([0.5, 0.3]), mapped(tmp_path, X)
    streamed, held = (certify(rows, positive, 1e-2, w=w, tol=1e-7) for rows in (source, X))
    assert streamed.primal == pytest.approx(held.primal, rel=1e-7)
    assert streamed.gap == pytest.approx(held.gap, rel=1e-3)
    assert streamed.loss_value == pytest.approx(held.loss_value, rel=1e-7)
    for name in ("n_sure_right", "n_sure_wrong"):
        seen, true = getattr(streamed, name), getattr(held, name)
        assert 0.9 * true - 1000 <= seen <= true * (1 + 1e-3)
    assert streamed.n_pairs == held.n_pairs
    found, same = (solve(rows, positive, 1e-2, tol=1e-6) for rows in (source, StreamedRows(X)))
    assert found.status == Status.CERTIFIED and found.witness.c.size == 0
    assert isinstance(found.witness.evidence, Weights)
    assert found.certificate == same.certificate
    audit: Any = certify(StreamedRows(X), positive, 1e-2, w=same.w, refine=False)
    assert audit.gap is not None and audit.gap < 1e-3 * audit.primal


@each("value", [np.nan, np.inf])
def test_what_is_no_matrix_of_numbers_is_named(value: float) -> None:
    X = np.ones((500, 2))
    X[321, 1] = value
    far = np.full((4, 2), 1e200) * np.array([1, -1, 1, -1])[:, None]
    for source, match in (
        (X, r"row 321, column 1"),
        (far, "overflow"),
        (np.ones(3), "non-empty matrix"),
        (np.array([["a", "b"], ["c", "d"]]), "matrix of numbers"),
    ):
        with pytest.raises(InputError, match=match):
            StreamedRows(source, 100)


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
    X, positive = some_rows(600)
    source = Reader(X)
    found = solve(StreamedRows(source, 50), positive, 0.1, tol=1e-3, n_jobs=4)
    assert source.crossed == 0
    same = solve(StreamedRows(Reader(X), 50), positive, 0.1, tol=1e-3, n_jobs=1)
    assert found.certificate == same.certificate


def test_a_certificate_is_refused_at_whatever_reading_the_rows_change() -> None:
    X, positive = some_rows()
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
        with pytest.raises(InputError, match="changed while it was read"):
            certified(Changing(X, other, after))


def test_few_mapped_rows_are_finished_in_memory(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))  # whose bins stall at 1e-5
    assert solve(mapped(tmp_path, X), X[:, 0] + rng.normal(size=400) > 0, 1e-2).certificate.reaches(
        1e-9
    )


@each("kind", [np.float64, np.float32])
@each("call", ["solve", "certify"])
def test_a_file_that_changes_during_a_solve_is_named(tmp_path: Path, kind: Any, call: str) -> None:
    X, positive = some_rows()
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

    with pytest.raises(InputError, match=r"X\.npy changed while it was read"):
        if call == "solve":
            solve(source, positive, 1e-2, callback=change)
        else:
            space = StreamedRows(source.view(Hooked), 100)
            certify(space, positive, w=np.ones(3), lam=1e-2, refine=False)


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
        with pytest.raises(InputError, match="it changed while it was read"):
            marks.checked(rows, made)


def test_labels_and_weights_on_disk_are_read_once(tmp_path: Path) -> None:
    positive = some_rows()[1]
    (tmp_path / "weight").mkdir()
    y = mapped(tmp_path, positive.astype(int), "r+")
    weight = mapped(tmp_path / "weight", np.ones(3000), "r+")
    mask, pairs = split_labels(y)[0], AllPairs(weight)
    y[:], weight[:] = 0, 0.0
    assert np.array_equal(mask, positive)
    assert pairs.weight is not None and pairs.weight.all()
