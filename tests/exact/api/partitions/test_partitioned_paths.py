"""Paths and cross-validation over partitions, against the same rows in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aucert.exact import ROCSVMCV, cross_validated_path, regularization_path
from aucert.exact.errors import InputError
from aucert.exact.pairs.auc import auc
from aucert.exact.spaces.partitions.engine import LocalEngine
from aucert.exact.spaces.partitions.folds import fold_numbers, fold_of
from aucert.exact.spaces.partitions.partition import cut
from aucert.exact.spaces.partitions.partitioned_rows import PartitionedRows
from aucert.exact.spaces.partitions.work import Reply, Task

PLACES = [100, 100, 350, 800]


def some_rows(n: int = 1200) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    y = rng.random(n) < 0.3
    return rng.normal(size=(n, 3)) + 0.6 * y[:, None] + 4.0, y


def in_parts(X: np.ndarray, y: np.ndarray, weight: np.ndarray | None = None) -> PartitionedRows:
    return PartitionedRows(cut(X, y, weight, PLACES))


def folds_by_hand(n: int, seed: int, folds: int) -> np.ndarray:
    ends = [0, *PLACES, n]
    sizes = np.diff(ends)
    return np.concatenate([fold_numbers(k, 0, int(m), seed, folds) for k, m in enumerate(sizes)])


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_a_path_is_that_in_memory(loss: str) -> None:
    X, y = some_rows()
    lams = [1.0, 0.1, 0.01]
    apart = regularization_path(in_parts(X, y), None, lams, loss=loss, tol=1e-5)
    held = regularization_path(X, y, lams, loss=loss, tol=1e-8)
    assert apart.complete
    for one, other in zip(apart.points, held.points, strict=True):
        certificates = one.certificate, other.certificate
        room = sum(c.gap + c.rounding for c in certificates)
        assert abs(certificates[0].primal - certificates[1].primal) <= room
        assert one.auc == pytest.approx(auc((X @ one.solution.w), y), abs=1e-3)
    np.testing.assert_allclose(apart.scores(X[:5]), held.scores(X[:5]), atol=0.1)
    assert apart.to_dict()["loss"] == loss


def test_the_default_grid_is_that_in_memory() -> None:
    X, y = some_rows()
    apart = regularization_path(in_parts(X, y), None, n_lams=2, tol=1e-2)
    held = regularization_path(X, y, n_lams=2, tol=1e-2)
    np.testing.assert_allclose(apart.lams, held.lams, rtol=1e-10)


def test_folds_are_spread_and_the_same_each_time() -> None:
    numbers = fold_numbers(3, 0, 100_000, 7, 5)
    assert np.abs(np.bincount(numbers) - 20_000).max() < 5 * np.sqrt(16_000)
    np.testing.assert_array_equal(numbers[500:900], fold_numbers(3, 500, 400, 7, 5))
    for other in (fold_numbers(4, 0, 100_000, 7, 5), fold_numbers(3, 0, 100_000, 8, 5)):
        assert abs((numbers == other).mean() - 0.2) < 0.01
    assert abs(np.corrcoef(numbers[1:], numbers[:-1])[0, 1]) < 0.02


def test_a_fold_and_the_rest_are_all_rows() -> None:
    X, y = some_rows()
    weight = np.arange(1200) % 3 + 1.0
    rows, number = in_parts(X, y, weight), folds_by_hand(1200, 5, 4)
    train, test = fold_of(rows, 2, 4, 5)
    for part, own in ((train, number != 2), (test, number == 2)):
        found = part.drawn(1.0, 1.0)
        np.testing.assert_array_equal(found.rows, X[own])
        np.testing.assert_array_equal(found.positive, y[own])
        np.testing.assert_array_equal(found.weight, weight[own])


@pytest.mark.parametrize("weighted", [False, True])
def test_cross_validation_is_that_of_the_same_folds_in_memory(weighted: bool) -> None:
    X, y = some_rows()
    weight = np.random.default_rng(0).integers(1, 4, 1200).astype(float) if weighted else None
    rows, number = in_parts(X, y, weight), folds_by_hand(1200, 11, 3)
    lams = [1.0, 0.01]
    apart = cross_validated_path(rows, None, lams, cv=3, seed=11, tol=1e-5)
    splits = [(np.flatnonzero(number != k), np.flatnonzero(number == k)) for k in range(3)]
    held = cross_validated_path(X, y, lams, cv=splits, tol=1e-6, sample_weight=weight)
    np.testing.assert_allclose(apart.fold_auc, held.fold_auc, atol=2e-3)
    assert (apart.fold_low <= held.fold_high).all() and (held.fold_low <= apart.fold_high).all()
    assert (apart.fold_high - apart.fold_low < 0.05).all() and (apart.fold_gap < 1e-4).all()


def test_an_estimator_chooses_lam() -> None:
    X, y = some_rows()
    model = ROCSVMCV(lams=[1.0, 0.01], cv=3, tol=1e-4, cv_tol=1e-4, random_state=0)
    model.fit(in_parts(X, y), None)
    assert model.lam_ in (1.0, 0.01) and model.coef_.shape == (1, 3)
    assert auc(model.decision_function(X), y) > 0.7


def test_many_lam_draw_one_sample() -> None:
    X, y = some_rows(60_000)
    drawn: list[str] = []

    class Counting(LocalEngine):
        def run(self, task: Task, key: np.ndarray) -> Reply[Any]:
            drawn.append(type(task).__name__)
            return super().run(task, key)

    rows = in_parts(X, y)
    rows.engine = Counting(rows.engine.partitions)
    regularization_path(rows, None, [1.0, 0.3, 0.1], tol=1e-3)
    assert drawn.count("ThinningTask") == 1


def test_what_partitions_cannot_do_is_said() -> None:
    X, y = some_rows()
    rows = in_parts(X, y)
    for words, message in (
        ({"cv": [(np.arange(5), np.arange(5, 9))]}, "take a number of folds"),
        ({"cv": 1}, "cv"),
        ({"kernel": "rbf"}, "take a sample of the rows"),
        ({"sample_weight": np.ones(1200)}, "leave y, positive and sample_weight out"),
        ({"method": "qp"}, "solved by newton"),
    ):
        with pytest.raises(InputError, match=message):
            cross_validated_path(rows, None, [0.1], **words)  # type: ignore[arg-type]
    few = PartitionedRows(cut(X[:9], np.arange(9) == 4, None, [3]))
    with pytest.raises(InputError, match="rows of one class only: use fewer folds"):
        cross_validated_path(few, None, [0.1], cv=3)
    with pytest.raises(InputError, match="solved by newton"):
        regularization_path(rows, None, [0.1], method="qp")
