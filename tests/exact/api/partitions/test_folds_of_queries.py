"""Folds of queries over partitions: whole ones, the same for any cut, judged as in memory."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np
import pytest

from aucert.exact import ROCSVMCV, GroupedRows, cross_validated_path
from aucert.exact.errors import InputError
from aucert.exact.spaces.groups import fold_of_groups, starts_of_folds
from aucert.exact.spaces.partitions import hashed_names
from cutting import cut_groups
from loops import each, first_fast

QUERIES, EACH = 40, 15
QID = np.repeat(np.arange(QUERIES) * 3 - 20, EACH)
RNG = np.random.default_rng(0)
GRADE = RNG.integers(0, 4, QID.size).astype(float)
X = np.round(RNG.normal(size=(QID.size, 3)) + 0.3 * GRADE[:, None] + 5.0, 1)  # ties
WEIGHT = RNG.integers(0, 3, QID.size).astype(float)
CUTS = ([], [30, 300], [0, 15, 15, 150, 450, 585])
LAMS = [0.3, 0.02]


def rows_in(places: list[int], weight: Any = None, group: Any = QID, key: Any = GRADE) -> Any:
    return GroupedRows(cut_groups(X, group, key, weight, places))


def scrambled(x: int) -> int:
    """Return splitmix64 of a number, in whole numbers without an end."""
    room = 1 << 64
    x = (x + 1) * 0x9E3779B97F4A7C15 % room
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % room
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % room
    return x ^ (x >> 31)


def naive_hash(name: Any, seed: int) -> int:
    """Return the hash of one name."""
    if isinstance(name, str):
        own = int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little")
    else:
        own = int(np.array([float(name)]).view(np.uint64)[0])
    return scrambled(scrambled(own) ^ scrambled(seed))


def folds_by_hand(group: np.ndarray, folds: int, seed: int) -> np.ndarray:
    """Return the fold of each row: the groups by their hashes, in stretches of the same length."""
    names = sorted(set(group.tolist()), key=lambda name: naive_hash(name, seed))
    starts = [k * len(names) // folds for k in range(folds)]
    number = {name: sum(at >= s for s in starts) - 1 for at, name in enumerate(names)}
    return np.array([number[name] for name in group.tolist()])


@each("words", [False, True])
@each("places", CUTS)
def test_a_fold_is_whole_queries_however_the_rows_are_cut(words: bool, places: list[int]) -> None:
    group = np.array([f"q{one}" for one in QID]) if words else QID
    rows, number = rows_in(places, WEIGHT, group), folds_by_hand(group, 7, 5)
    starts, seen = starts_of_folds(rows, 7, 5), np.zeros(QID.size)
    for fold in range(7):
        train, test = fold_of_groups(rows, starts, fold, 5)
        for part, own in ((train, number != fold), (test, number == fold)):
            found = part.all_rows()
            np.testing.assert_array_equal(found.rows, X[own])
            np.testing.assert_array_equal(found.group, group[own])
            np.testing.assert_array_equal(found.key, GRADE[own])
            np.testing.assert_array_equal(found.weight, WEIGHT[own])
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


@each("weight", first_fast([WEIGHT, None]))
@each("places", first_fast(CUTS))
def test_cross_validation_is_that_of_the_same_folds_in_memory(
    weight: np.ndarray | None, places: list[int]
) -> None:
    number = folds_by_hand(QID, 3, 11)
    splits = [(np.flatnonzero(number != k), np.flatnonzero(number == k)) for k in range(3)]
    found = cross_validated_path(rows_in(places, weight), None, LAMS, cv=3, seed=11, tol=1e-6)
    held = cross_validated_path(X, GRADE, LAMS, cv=splits, qid=QID, sample_weight=weight, tol=1e-8)
    np.testing.assert_allclose(found.fold_auc, held.fold_auc, atol=2e-3)
    for path in (found, held):
        assert (path.fold_low <= path.fold_auc).all() and (path.fold_auc <= path.fold_high).all()
    assert (found.fold_low <= held.fold_high).all() and (held.fold_low <= found.fold_high).all()
    assert (found.fold_gap <= 1e-6).all() and (found.fold_high - found.fold_low < 0.06).all()


def test_an_estimator_chooses_lam_for_two_grades() -> None:
    key = (GRADE > 1).astype(float)
    model = ROCSVMCV(LAMS, cv=3, tol=1e-4, cv_tol=1e-4, random_state=0)
    model.fit(rows_in([150, 450], key=key), None)
    assert model.lam_ in LAMS and model.coef_.shape == (1, 3)
    assert model.cv_path_.mean_auc.min() > 0.55


def test_too_many_folds_are_refused() -> None:
    with pytest.raises(InputError, match="40 queries: use at most 40 folds"):
        cross_validated_path(rows_in([150]), None, [0.1], cv=41)
    with pytest.raises(InputError, match="leave qid, time, event out"):
        cross_validated_path(rows_in([150]), None, [0.1], qid=QID)
    key = np.where(QID == QID[0], GRADE, 1.0)  # one query has pairs
    with pytest.raises(InputError, match="has no pair of rows: use fewer folds"):
        cross_validated_path(rows_in([150], key=key), None, [0.1], cv=3)
