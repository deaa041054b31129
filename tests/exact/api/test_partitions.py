"""Paths and folds over partitions, against the same rows in memory."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np
import pytest

from aucert.exact import GroupedRows, Path, cross_validated_path, regularization_path
from aucert.exact.certificate import order as spread
from aucert.exact.pairs.auc import auc
from aucert.exact.spaces.groups import fold_of_groups, starts_of_folds
from aucert.exact.spaces.partitions import (
    LocalEngine,
    PartitionedRows,
    Reply,
    Task,
    fold_of,
    hashed_names,
    rows_of_fold,
)
from cutting import cut, cut_groups
from loops import each, first_fast

CUTS = ([], [300, 700], [50, 51, 51, 400, 1100, 1200])

"""One, three and seven partitions; of the last ones one is empty, and the last one, too."""


def some_rows(n: int = 1200) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    y = rng.random(n) < 0.3
    return rng.normal(size=(n, 3)) + 0.6 * y[:, None] + 4.0, y


def in_parts(
    X: np.ndarray, y: np.ndarray, weight: np.ndarray | None = None, places: Any = CUTS[1]
) -> PartitionedRows:
    return PartitionedRows(cut(X, y, weight, places))


def assert_same_optima(one: Path, other: Path) -> None:
    """Each optimum is between both bounds: objectives differ by the certified gaps at most."""
    assert one.complete and other.complete
    for near, far in zip(one.points, other.points, strict=True):
        assert near.lam == far.lam and near.solution.status == "certified"
        certificates = near.certificate, far.certificate
        room = sum(c.gap for c in certificates)
        assert abs(certificates[0].primal - certificates[1].primal) <= room
        for a, b in (certificates, certificates[::-1]):
            assert a.dual <= b.primal


@pytest.mark.slow
@each("places", first_fast(CUTS))
@each("kind", ["ties", "sorted by class", "weighted"])
def test_however_rows_are_cut_the_optima_are_those_in_memory(places: list[int], kind: str) -> None:
    X, y = some_rows()
    weight = np.arange(1200) % 3 / 2 if kind == "weighted" else None
    if kind == "ties":
        X = np.round(X)
    elif kind == "sorted by class":  # the first partitions have no positive row
        order = np.argsort(y, kind="stable")
        X, y = X[order], y[order]
    lams = [1.0, 0.01, 1e-4]
    apart = regularization_path(in_parts(X, y, weight, places), None, lams, tol=1e-6)
    held = regularization_path(X, y, lams, tol=1e-8, sample_weight=weight)
    assert_same_optima(apart, held)
    for point in apart.points:
        assert point.auc == pytest.approx(auc(X @ point.solution.w, y, weight), abs=1e-12)


@each("weighted", [False, True])
def test_the_auc_of_few_rows_is_exact_and_that_of_many_within_a_step(
    weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = some_rows()
    X = np.round(X)  # many ties
    weight = np.random.default_rng(0).random(1200) if weighted else None
    w = np.array([1.0, 0.5, -2.0])
    expected = auc(X @ w, y, weight)
    low, high = spread.auc_between(in_parts(X, y, weight), w)
    assert low == high == pytest.approx(expected, abs=1e-13)
    monkeypatch.setattr(spread, "FETCHED_ROWS", 1199)
    low, high = spread.auc_between(in_parts(X, y, weight), w)
    assert low < expected < high


class Interrupted(LocalEngine):
    """Ctrl-C while a pass is at work: after so many passes."""

    passes = 1 << 30

    def run(self, task: Task, key: np.ndarray) -> Reply:
        self.passes -= 1
        if self.passes < 0:
            self.passes = 1 << 30
            raise KeyboardInterrupt
        return super().run(task, key)


def test_an_interrupt_ends_the_path_with_the_points_so_far() -> None:
    X, y = some_rows()
    lams = [1.0, 0.1, 0.01]
    optima = [point.certificate for point in regularization_path(X, y, lams, tol=1e-9).points]
    counts = set()
    for passes in range(1, 30, 3):
        rows = in_parts(X, y)
        rows.engine = Interrupted(rows.engine.partitions)
        rows.engine.passes = passes
        try:
            found = regularization_path(rows, None, lams, tol=1e-4)
        except KeyboardInterrupt:
            counts.add(0)
            continue
        counts.add(len(found.points))
        assert found.interrupted != found.complete
        for point, best in zip(found.points, optima, strict=False):
            certificate = point.certificate
            assert certificate.dual <= best.primal
            assert best.dual <= certificate.primal
    assert len(counts) > 2


@each("places", [[], [500, 500, 900]])
@each("weighted", [False, True])
@each("loss", ["hinge", "logistic"])
def test_queries_whole_in_partitions_have_the_path_in_memory(
    places: list[int], weighted: bool, loss: str
) -> None:
    X, _ = some_rows()
    X = np.round(X, 1)
    rng = np.random.default_rng(1)
    query, grade = np.arange(1200) // 20, rng.integers(0, 3, 1200).astype(float)
    grade[500:900] = 1.0  # a partition without a pair
    X[[540, 720]] += 100.0  # these are in no pair, and the grid knows nothing of them
    weight = rng.integers(1, 4, 1200).astype(float) if weighted else None
    rows = GroupedRows(cut_groups(X, query, grade, weight, places))
    asked: dict[str, Any] = {"n_lams": 4, "loss": loss}
    apart = regularization_path(rows, None, tol=1e-6, **asked)
    # A pair weighs the product of the weights of its rows, as repetition has it.
    held = regularization_path(X, grade, tol=1e-8, qid=query, sample_weight=weight, **asked)
    np.testing.assert_allclose(apart.lams, held.lams, rtol=1e-9)
    for one, other in zip(apart.points, held.points, strict=True):
        certificates = one.certificate, other.certificate
        room = sum(c.gap for c in certificates)
        room += 1e-8 * certificates[0].primal  # lam differ in the last digits
        assert abs(certificates[0].primal - certificates[1].primal) <= room
        assert one.solution.status == "certified"
        assert one.auc == pytest.approx(other.auc, abs=2e-3)


"""One, three and seven partitions; two of the last ones are empty, and one may have one class."""


def folds_by_hand(y: np.ndarray, seed: int, folds: int) -> np.ndarray:
    """Return the fold of each row: the rows of a class are numbered from the first one on."""
    found = np.empty(y.size, dtype=int)
    for side in (0, 1):
        found[y == side] = class_folds(side, int((y == side).sum()), seed, folds)
    return found


def class_folds(side: int, count: int, seed: int, folds: int) -> np.ndarray:
    """Return the fold of each of the first rows of a class; each row is in one fold."""
    found = np.full(count, -1)
    for fold in range(folds):
        rows = rows_of_fold(side, 0, count, seed, folds, fold)
        assert (found[rows] == -1).all()
        found[rows] = fold
    assert (found >= 0).all()
    return found


def scrambled(x: int) -> int:
    """Return splitmix64 of a number, in whole numbers without an end."""
    room = 1 << 64
    x = (x + 1) * 0x9E3779B97F4A7C15 % room
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % room
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % room
    return x ^ (x >> 31)


def naive_fold(side: int, number: int, seed: int, folds: int) -> int:
    """Return the fold of one row: the run it is in begins with the fold that a hash tells."""
    run = number // folds
    mixed = scrambled((scrambled(scrambled(seed) ^ side) + run) % (1 << 64))
    turn = (mixed >> 33) * folds >> 31
    return (number % folds - turn) % folds


@each(("seed", "folds"), [(0, 2), (7, 5), (123456789, 11)])
@each("side", [0, 1])
def test_folds_are_those_of_the_naive_form(side: int, seed: int, folds: int) -> None:
    for start, count in ((0, 40), (3, 1), (17, 0), (10**12 + 1, 30)):
        expected = [naive_fold(side, start + k, seed, folds) for k in range(count)]
        for fold in range(folds):
            found = rows_of_fold(side, start, count, seed, folds, fold)
            np.testing.assert_array_equal(found, np.flatnonzero(np.array(expected) == fold))


@each("places", CUTS)
@each("by_class", [False, True])
def test_a_fold_and_the_rest_are_all_rows_however_they_are_cut(
    places: list[int], by_class: bool
) -> None:
    X, y = some_rows()
    y = np.sort(y) if by_class else y  # then the first partitions have one class
    weight = np.arange(1200) % 3 + 1.0
    rows, number = in_parts(X, y, weight, places), folds_by_hand(y, 5, 4)
    train, test = fold_of(rows, 2, 4, 5)
    for part, own in ((train, number != 2), (test, number == 2)):
        found = part.drawn(1.0, 1.0)
        np.testing.assert_array_equal(found.rows, X[own])
        np.testing.assert_array_equal(found.positive, y[own])
        np.testing.assert_array_equal(found.weight, weight[own])


@each("places", CUTS)
@each("weighted", [False, True])
def test_cross_validation_is_that_of_the_same_folds_in_memory(
    weighted: bool, places: list[int]
) -> None:
    X, y = some_rows()
    X = np.round(X, 1)  # ties
    weight = np.random.default_rng(0).integers(1, 4, 1200).astype(float) if weighted else None
    rows, number = in_parts(X, y, weight, places), folds_by_hand(y, 11, 3)
    lams = [1.0, 0.01]
    apart = cross_validated_path(rows, None, lams, cv=3, seed=11, tol=1e-6)
    splits = [(np.flatnonzero(number != k), np.flatnonzero(number == k)) for k in range(3)]
    held = cross_validated_path(X, y, lams, cv=splits, tol=1e-8, sample_weight=weight)
    np.testing.assert_allclose(apart.fold_auc, held.fold_auc, atol=1e-3)
    for path in (apart, held):
        assert (path.fold_low <= path.fold_auc).all() and (path.fold_auc <= path.fold_high).all()
    assert (apart.fold_low <= held.fold_high).all() and (held.fold_low <= apart.fold_high).all()
    assert (apart.fold_high - apart.fold_low < 0.05).all() and (apart.fold_gap <= 1e-6).all()


QUERIES, EACH = 40, 15
QID = np.repeat(np.arange(QUERIES) * 3 - 20, EACH)
QRNG = np.random.default_rng(0)
GRADE = QRNG.integers(0, 4, QID.size).astype(float)
QX = np.round(QRNG.normal(size=(QID.size, 3)) + 0.3 * GRADE[:, None] + 5.0, 1)  # ties
QWEIGHT = QRNG.integers(0, 3, QID.size).astype(float)
QCUTS = ([], [30, 300], [0, 15, 15, 150, 450, 585])
QLAMS = [0.3, 0.02]


def rows_in(places: list[int], weight: Any = None, group: Any = QID, key: Any = GRADE) -> Any:
    return GroupedRows(cut_groups(QX, group, key, weight, places))


def naive_hash(name: Any, seed: int) -> int:
    """Return the hash of one name."""
    if isinstance(name, str):
        own = int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little")
    else:
        own = int(np.array([float(name)]).view(np.uint64)[0])
    return scrambled(scrambled(own) ^ scrambled(seed))


def query_folds_by_hand(group: np.ndarray, folds: int, seed: int) -> np.ndarray:
    """Return the fold of each row: the groups by their hashes, in stretches of the same length."""
    names = sorted(set(group.tolist()), key=lambda name: naive_hash(name, seed))
    starts = [k * len(names) // folds for k in range(folds)]
    number = {name: sum(at >= s for s in starts) - 1 for at, name in enumerate(names)}
    return np.array([number[name] for name in group.tolist()])


@each("words", [False, True])
@each("places", QCUTS)
def test_a_fold_is_whole_queries_however_the_rows_are_cut(words: bool, places: list[int]) -> None:
    group = np.array([f"q{one}" for one in QID]) if words else QID
    rows, number = rows_in(places, QWEIGHT, group), query_folds_by_hand(group, 7, 5)
    starts, seen = starts_of_folds(rows, 7, 5), np.zeros(QID.size)
    for fold in range(7):
        train, test = fold_of_groups(rows, starts, fold, 5)
        for part, own in ((train, number != fold), (test, number == fold)):
            found = part.all_rows()
            np.testing.assert_array_equal(found.rows, QX[own])
            np.testing.assert_array_equal(found.group, group[own])
            np.testing.assert_array_equal(found.key, GRADE[own])
            np.testing.assert_array_equal(found.weight, QWEIGHT[own])
        assert test.groups in (5, 6)
        seen += number == fold
    assert (seen == 1).all()


def test_equal_names_have_the_same_hash_whatever_their_type() -> None:
    names = np.array([-3, 0, 1, 2**40])
    for same in (names.astype(float), names.astype(np.int32) if names.max() < 2**31 else names):
        np.testing.assert_array_equal(hashed_names(names, 3), hashed_names(same, 3))
    assert hashed_names(np.array([-0.0]), 0) == hashed_names(np.array([0.0]), 0)
    many = hashed_names(np.arange(20_000), 1)
    assert np.unique(many).size == 20_000
    assert abs((many > np.uint64(1 << 63)).mean() - 0.5) < 0.02
    assert abs(np.corrcoef(many.astype(float), np.arange(20_000))[0, 1]) < 0.03


@each("weight", first_fast([QWEIGHT, None]))
@each("places", first_fast(QCUTS))
def test_cross_validation_of_queries_is_that_in_memory(
    weight: np.ndarray | None, places: list[int]
) -> None:
    number = query_folds_by_hand(QID, 3, 11)
    splits = [(np.flatnonzero(number != k), np.flatnonzero(number == k)) for k in range(3)]
    found = cross_validated_path(rows_in(places, weight), None, QLAMS, cv=3, seed=11, tol=1e-6)
    held = cross_validated_path(
        QX, GRADE, QLAMS, cv=splits, qid=QID, sample_weight=weight, tol=1e-8
    )
    np.testing.assert_allclose(found.fold_auc, held.fold_auc, atol=2e-3)
    for path in (found, held):
        assert (path.fold_low <= path.fold_auc).all() and (path.fold_auc <= path.fold_high).all()
    assert (found.fold_low <= held.fold_high).all() and (held.fold_low <= found.fold_high).all()
    assert (found.fold_gap <= 1e-6).all() and (found.fold_high - found.fold_low < 0.06).all()
