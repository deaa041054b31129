"""Paths and folds of dask arrays on worker processes: those in memory, even if workers end."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from aucert.exact import CVPath, cross_validated_path, regularization_path
from aucert.exact.api.path import PathPoint
from aucert.exact.errors import InputError
from aucert.exact.spaces.partitions import PartitionedRows
from cutting import cut

distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")

# Processes that are killed leave sockets behind, and dask's own end stumbles over them.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.alone,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
CHUNK, LAMS = 4_000, [0.3, 0.03, 0.003]


def some_rows(n: int = 30_000) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.random(n) < 0.3
    return (rng.normal(size=(n, 3)) + 0.6 * y[:, None]).astype(np.float32), y


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    import dask

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with dask.config.set({"distributed.scheduler.allowed-failures": 99}):
        made = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        )
        client = distributed.Client(made)
        try:
            yield made
        finally:
            with suppress(Exception):  # a worker that was killed is not where dask looks for it
                client.close(timeout=10)
                made.close(timeout=10)


def rows_of(X: np.ndarray) -> Any:
    return da.from_array(X, chunks=(CHUNK, 3))


def test_a_path_on_workers_is_that_in_memory(cluster: Any) -> None:
    X, y = some_rows()
    found = regularization_path(rows_of(X), y, LAMS, tol=1e-6)
    held = regularization_path(X, y, LAMS, tol=1e-8)
    assert found.complete
    for one, other in zip(found.points, held.points, strict=True):
        room = sum(p.certificate.gap for p in (one, other))
        assert one.solution.status == "certified"
        assert abs(one.certificate.primal - other.certificate.primal) <= room
        assert one.auc == pytest.approx(other.auc, abs=1e-4)


def folds(X: Any, y: Any) -> CVPath:
    return cross_validated_path(X, y, LAMS[:2], cv=3, seed=2, tol=1e-5)


def test_folds_on_workers_are_those_of_any_other_cut(cluster: Any) -> None:
    X, y = some_rows()
    there = folds(rows_of(X), y)
    here = folds(PartitionedRows(cut(X, y, None, [1, 29_000])), None)
    np.testing.assert_allclose(there.fold_auc, here.fold_auc, atol=1e-4)
    assert (there.fold_low <= here.fold_high).all() and (here.fold_low <= there.fold_high).all()


def test_a_class_with_too_few_rows_is_one_sentence(cluster: Any) -> None:
    X, _ = some_rows()
    y = np.arange(30_000) < 2
    with pytest.raises(InputError, match="of one class only: use fewer folds"):
        folds(rows_of(X), y)


def test_a_worker_that_is_killed_changes_no_fold(cluster: Any) -> None:
    X, y = some_rows()
    calm = folds(rows_of(X), y)
    pid = next(iter(cluster.workers.values())).pid
    killer = threading.Timer(0.5, os.kill, (pid, signal.SIGKILL))
    killer.start()
    found = folds(rows_of(X), y)
    killer.join()
    np.testing.assert_allclose(found.fold_auc, calm.fold_auc, atol=1e-12)
    np.testing.assert_allclose(found.fold_gap, calm.fold_gap, rtol=1e-6, atol=1e-12)


def test_ctrl_c_ends_a_path_with_the_points_so_far(cluster: Any) -> None:
    X, y = some_rows()

    def stop(point: PathPoint) -> None:
        if point.lam == LAMS[0]:
            threading.Timer(0.05, signal.raise_signal, (signal.SIGINT,)).start()

    found = regularization_path(rows_of(X), y, [*LAMS, 1e-4, 1e-5], tol=1e-9, callback=stop)
    assert found.interrupted and not found.complete
    held = regularization_path(X, y, found.lams, tol=1e-9)
    for one, other in zip(found.points, held.points, strict=True):
        a, b = one.certificate, other.certificate
        assert a.dual <= b.primal
        assert b.dual <= a.primal
