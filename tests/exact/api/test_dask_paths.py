"""Paths of dask arrays on worker processes: those in memory, and Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from aucert.exact import regularization_path
from aucert.exact.api.path import PathPoint

distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")

# Worker processes leave sockets behind, and dask's own end stumbles over them.
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


@pytest.fixture(scope="module", autouse=True)
def client() -> Iterator[Any]:
    how = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with distributed.LocalCluster(**how) as cluster, distributed.Client(cluster) as client:
        yield client


def rows_of(X: np.ndarray) -> Any:
    return da.from_array(X, chunks=(CHUNK, 3))


def test_a_path_on_workers_is_that_in_memory() -> None:
    X, y = some_rows()
    found = regularization_path(rows_of(X), y, LAMS, tol=1e-6)
    held = regularization_path(X, y, LAMS, tol=1e-8)
    assert found.complete
    for one, other in zip(found.points, held.points, strict=True):
        room = sum(p.certificate.gap for p in (one, other))
        assert one.solution.status == "certified"
        assert abs(one.certificate.primal - other.certificate.primal) <= room
        assert one.auc == pytest.approx(other.auc, abs=1e-4)


def test_ctrl_c_ends_a_path_with_the_points_so_far() -> None:
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
