"""Folds of rows in partitions, and cross-validation over them, against the same rows in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aucert.exact import ROCSVMCV, cross_validated_path, regularization_path
from aucert.exact.errors import InputError
from aucert.exact.pairs.auc import auc
from aucert.exact.spaces.partitions import (
    LocalEngine,
    PartitionedRows,
    Reply,
    Task,
    fold_of,
    rows_of_fold,
)
from cutting import cut
from loops import each

PLACES = [100, 100, 350, 800]


def some_rows(n: int = 1200) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    y = rng.random(n) < 0.3
    return rng.normal(size=(n, 3)) + 0.6 * y[:, None] + 4.0, y


def in_parts(
    X: np.ndarray, y: np.ndarray, weight: np.ndarray | None = None, places: Any = PLACES
) -> PartitionedRows:
    return PartitionedRows(cut(X, y, weight, places))


CUTS = ([], [300, 700], [50, 51, 51, 400, 1100, 1200])
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


def test_a_class_with_a_row_for_each_fold_is_enough() -> None:
    X, y = some_rows()
    y = np.arange(1200) % 400 == 0  # three positive rows
    path = cross_validated_path(in_parts(X, y), None, [0.1], cv=3, tol=1e-3)
    assert path.fold_auc.shape == (3, 1)
    with pytest.raises(InputError, match="of one class only: use fewer folds"):
        cross_validated_path(in_parts(X, y), None, [0.1], cv=4, tol=1e-3)


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


def test_an_estimator_chooses_lam() -> None:
    X, y = some_rows()
    model = ROCSVMCV(lams=[1.0, 0.01], cv=3, tol=1e-4, cv_tol=1e-4, random_state=0)
    model.fit(in_parts(X, y), None)
    assert model.lam_ in (1.0, 0.01) and model.coef_.shape == (1, 3)
    assert auc(model.decision_function(X), y) > 0.7


def test_what_partitions_cannot_do_is_said() -> None:
    X, y = some_rows()
    rows = in_parts(X, y)
    for words, message in (
        ({"cv": [(np.arange(5), np.arange(5, 9))]}, "take a number of folds"),
        ({"cv": 1}, "cv"),
        ({"kernel": "rbf"}, "take a sample of the rows"),
        ({"sample_weight": np.ones(1200)}, "leave y, positive and sample_weight out"),
        ({"method": "qp"}, "solved by descent"),
    ):
        with pytest.raises(InputError, match=message):
            cross_validated_path(rows, None, [0.1], **words)  # type: ignore[arg-type]
    few = PartitionedRows(cut(X[:9], np.arange(9) == 4, None, [3]))
    with pytest.raises(InputError, match="rows of one class only: use fewer folds"):
        cross_validated_path(few, None, [0.1], cv=3)
    with pytest.raises(InputError, match="solved by descent"):
        regularization_path(rows, None, [0.1], method="qp")


def test_the_held_out_auc_is_that_of_models_of_the_other_rows() -> None:
    """By hand: the path of the other rows in memory, and the AUC of the fold, counted exactly."""
    X, y = some_rows()
    number, lams = folds_by_hand(y, 4, 3), [0.3, 0.03]
    path = cross_validated_path(in_parts(X, y), None, lams, cv=3, seed=4, tol=1e-7)
    for fold in range(3):
        own = number == fold
        held = regularization_path(X[~own], y[~own], lams, tol=1e-9)
        expected = [auc(X[own] @ point.solution.w, y[own]) for point in held.points]
        np.testing.assert_allclose(path.fold_auc[fold], expected, atol=3e-4)
        assert (path.fold_low[fold] <= expected).all() and (expected <= path.fold_high[fold]).all()


def test_the_ranges_are_hardly_wider_than_in_memory() -> None:
    """Of many columns too, where the scores fill a small part of what the box of rows allows."""
    rng = np.random.default_rng(0)
    y = rng.random(3000) < 0.3
    X = rng.normal(size=(3000, 40)) + 0.1 * y[:, None]
    number = folds_by_hand(y, 0, 3)
    splits = [(np.flatnonzero(number != k), np.flatnonzero(number == k)) for k in range(3)]
    apart = cross_validated_path(in_parts(X, y), None, [0.1], cv=3, tol=1e-8)
    held = cross_validated_path(X, y, [0.1], cv=splits, tol=1e-8)
    ranges = [path.fold_high - path.fold_low for path in (apart, held)]
    assert (ranges[0] <= 2 * ranges[1] + 2e-3).all()  # gaps of one tolerance, not equal ones


class Interrupted(LocalEngine):
    """Ctrl-C at a pass of some number."""

    passes = 0

    def run(self, task: Task, key: np.ndarray) -> Reply:
        self.passes -= 1
        if self.passes == 0:
            raise KeyboardInterrupt
        return super().run(task, key)


def test_an_interrupt_ends_all_folds() -> None:
    X, y = some_rows()
    for at in (1, 4, 9, 14):
        rows = in_parts(X, y)
        rows.engine = Interrupted(rows.engine.partitions)
        rows.engine.passes = at
        with pytest.raises(KeyboardInterrupt):
            cross_validated_path(rows, None, [0.1, 0.01], cv=3, tol=1e-4)
        assert rows.engine.passes > -6  # the certificate of the point at hand, and no other fold
