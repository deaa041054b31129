"""Rows read in blocks against rows that are held."""

from __future__ import annotations

import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import naive
from aucert.exact.api.certify import certify
from aucert.exact.api.solve import solve
from aucert.exact.certificate.certificate import Certificate, Minorant, evaluated_with
from aucert.exact.certificate.solution import Status
from aucert.exact.errors import InputError
from aucert.exact.losses.registry import HINGE
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.problem.minorant import Weights
from aucert.exact.problem.problem import Ridge, pair_problem
from aucert.exact.solvers.descent import Descent
from aucert.exact.spaces.blocks import StreamedRows
from aucert.exact.spaces.rows import Rows
from loops import each, seeds


def some_rows(n: int = 3000, d: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.3
    return rng.normal(size=(n, d)) + positive[:, None] * 0.5 + 7.0, positive


@each("d", [1, 3, 20])
@each("block", [1, 7, 300, 10**6])
def test_scores_and_pulls_are_those_of_held_rows(d: int, block: int) -> None:
    X, positive = some_rows(600, d)
    streamed, held = StreamedRows(X, block), Rows(X)
    w, c = np.arange(1.0, d + 1), np.where(positive, 1 / positive.sum(), -1 / (~positive).sum())
    shift = streamed.scores(w) - held.scores(w)
    assert np.ptp(shift) < 1e-12 * (1 + np.abs(w).sum())
    assert np.abs(streamed.pull(c) - held.pull(c)).max() < 1e-12
    assert streamed.reach >= np.linalg.norm(X - streamed.offset, axis=1).max()


@each("seed", seeds(10))
def test_pulls_round_no_more_than_they_say(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, c = rng.normal(size=(700, 2)) * 10.0 ** rng.integers(-3, 6, 2), rng.normal(size=700)
    space = StreamedRows(X, 100)
    value, error, _ = space.pulled(c)
    offset = naive.exact(space.offset)
    true = [
        sum(Fraction(a) * (Fraction(x) - o) for a, x in zip(c.tolist(), column, strict=True))
        for column, o in zip(X.T.tolist(), offset, strict=True)
    ]
    slip = sum((Fraction(a) - b) ** 2 for a, b in zip(value.tolist(), true, strict=True))
    assert slip <= Fraction(error + 2.0**-53 * float(np.linalg.norm(value))) ** 2


@each("lam", [1e-1, 1e-4])
@each("weighted", [False, True])
def test_the_certificate_from_blocks_brackets_the_sorted_one(lam: float, weighted: bool) -> None:
    X, positive = some_rows()
    weight = np.random.default_rng(1).uniform(0.5, 2, positive.size) if weighted else None
    streamed = pair_problem(StreamedRows(X, 400), positive, AllPairs(weight), HINGE, Ridge(lam))
    held = streamed.over(Rows(X))
    w = Descent(tol=1e-6).solve(held).w
    witness = Minorant.from_weights(streamed, w, 1 << 14, 3)
    upper, lower = evaluated_with(streamed, w, witness)[0]
    true = Certificate.of(held, w, Minorant.from_scores(held, held.space.scores(w)))
    best = Descent(tol=1e-9).solve(held).certificate
    assert true.primal - true.rounding <= upper.high and upper.low <= true.primal
    assert upper.value <= true.primal + 1e-4 / (1 << 14) + upper.error
    assert lower.low <= best.primal
    # Held rows, the same width of bins: nearly the same numbers.
    again = evaluated_with(held, w, Minorant.from_weights(held, w, 1 << 14, 3))[0]
    assert again[0].value == pytest.approx(upper.value, rel=1e-7)
    assert again[1].value == pytest.approx(lower.value, rel=1e-5)


@each("lam", [1e-1, 1e-3, 1e-5])
def test_a_streamed_problem_is_solved_with_proof(lam: float) -> None:
    X, positive = some_rows(60_000, 2)
    problem = pair_problem(StreamedRows(X, 5000), positive, AllPairs(), HINGE, Ridge(lam))
    solution = Descent(tol=1e-6).solve(problem)
    assert solution.status == Status.CERTIFIED
    assert solution.witness.c.size == 0 and isinstance(solution.witness.evidence, Weights)
    held = Descent(tol=1e-9).solve(problem.over(Rows(X)))
    a, b = solution.certificate, held.certificate
    assert abs(a.primal - b.primal) <= a.gap + b.gap


def test_a_memory_map_is_read_in_blocks(tmp_path: Path) -> None:
    X, positive = some_rows(20_000, 2)
    np.save(tmp_path / "X.npy", X.astype(np.float32))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    problem = pair_problem(StreamedRows(mapped), positive, AllPairs(), HINGE, Ridge(1e-2))
    assert Descent(tol=1e-6).solve(problem).certificate.reaches(1e-6)


def test_values_that_are_not_finite_are_named() -> None:
    X = np.ones((500, 2))
    X[321, 1] = np.nan
    with pytest.raises(InputError, match=r"row 321, column 1"):
        StreamedRows(X, 100)
    X[321, 1] = np.inf
    with pytest.raises(InputError, match=r"row 321, column 1"):
        StreamedRows(X, 100)
    with pytest.raises(InputError, match="overflow"):
        StreamedRows(np.full((4, 2), 1e200) * np.array([1, -1, 1, -1])[:, None])
    with pytest.raises(InputError, match="non-empty matrix"):
        StreamedRows(np.ones(3))
    with pytest.raises(InputError, match="matrix of numbers"):
        StreamedRows(np.array([["a", "b"], ["c", "d"]]))


def test_named_rows_are_returned_centred() -> None:
    X, _ = some_rows(500)
    space = StreamedRows(X, 64)
    index = np.array([0, 3, 63, 64, 400, 499])
    assert np.array_equal(space.rows(index), X[index] - space.offset)


def test_weights_are_audited_over_blocks_as_over_held_rows(tmp_path: Path) -> None:
    X, positive = some_rows(8_000, 2)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    w = np.array([0.5, 0.3])
    streamed = certify(mapped, positive, 1e-2, w=w, tol=1e-7)
    held = certify(X, positive, 1e-2, w=w, tol=1e-7)
    assert streamed.primal == pytest.approx(held.primal, rel=1e-7)
    assert streamed.gap == pytest.approx(held.gap, rel=1e-3)
    assert streamed.loss_value == pytest.approx(held.loss_value, rel=1e-7)
    for name in ("n_right", "n_wrong"):
        seen, true = getattr(streamed, name), getattr(held, name)
        assert 0.9 * true - 1000 <= seen <= true * (1 + 1e-3)
    assert streamed.n_pairs == held.n_pairs


def test_a_dual_point_of_the_audited_weights_needs_no_solver() -> None:
    X, positive = some_rows(6_000, 2)
    solution = solve(StreamedRows(X), positive, 1e-2, tol=1e-6)
    audit = certify(StreamedRows(X), positive, 1e-2, w=solution.w, refine=False)
    assert audit.gap is not None and audit.primal is not None
    assert audit.gap < 1e-3 * audit.primal


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
    same = solve(StreamedRows(X, 50), positive, 0.1, tol=1e-3, n_jobs=1)
    assert found.certificate == same.certificate
