"""Paths over partitions, against the same rows in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aucert.exact import GroupedRows, Path, regularization_path
from aucert.exact.certificate import order as spread
from aucert.exact.errors import InputError
from aucert.exact.pairs.auc import auc
from aucert.exact.spaces.partitions import LocalEngine, PartitionedRows, Reply, Task
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


@pytest.mark.slow
def test_small_lam_on_few_rows_have_the_optima_in_memory() -> None:
    X, y = some_rows()
    lams = [0.1, 1e-5, 1e-6]
    apart = regularization_path(in_parts(X, y), None, lams, tol=1e-8)
    assert_same_optima(apart, regularization_path(X, y, lams, tol=1e-9))


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


@each("loss", ["hinge", "logistic"])
def test_a_path_is_that_in_memory(loss: str) -> None:
    X, y = some_rows()
    lams = [1.0, 0.1, 0.01]
    apart = regularization_path(in_parts(X, y), None, lams, loss=loss, tol=1e-5)
    held = regularization_path(X, y, lams, loss=loss, tol=1e-8)
    assert_same_optima(apart, held)
    np.testing.assert_allclose(apart.scores(X[:5]), held.scores(X[:5]), atol=0.1)
    assert apart.to_dict()["loss"] == loss


def test_the_default_grid_is_that_in_memory() -> None:
    X, y = some_rows()
    apart = regularization_path(in_parts(X, y), None, n_lams=2, tol=1e-2)
    held = regularization_path(X, y, n_lams=2, tol=1e-2)
    np.testing.assert_allclose(apart.lams, held.lams, rtol=1e-10)


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


def test_what_paths_over_partitions_cannot_do_is_said() -> None:
    X, y = some_rows()
    rows = in_parts(X, y)
    for words, message in (
        ({"method": "qp"}, "solved by descent"),
        ({"kernel": "rbf"}, "take a sample of the rows"),
        ({"l1_ratio": 0.5}, "with the ridge"),
        ({"sample_weight": np.ones(1200)}, "leave y, positive and sample_weight out"),
        ({"lams": []}, "give at least one lam"),
        ({"lams": [0.1, -1.0]}, "lam"),
        ({"tol": 0.0}, "tol"),
    ):
        asked: dict[str, Any] = {"lams": [0.1]} | words
        with pytest.raises(InputError, match=message):
            regularization_path(rows, None, **asked)
    with pytest.raises(InputError, match="leave y, positive and sample_weight out"):
        regularization_path(rows, y, [0.1])
