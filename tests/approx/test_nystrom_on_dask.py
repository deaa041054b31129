"""Nyström features of dask collections: the landmarks' sample, the map on workers, a kernel SVM."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from aucert.approx import Nystrom, nystrom
from aucert.exact import ROCSVM
from aucert.exact.errors import InputError
from aucert.exact.estimators.base import drawn_rows

pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")


@pytest.fixture(scope="module", autouse=True)
def client() -> Iterator[Any]:
    from distributed import Client, LocalCluster

    how = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with LocalCluster(**how) as cluster, Client(cluster) as client:
        yield client


def rings(n: int = 900) -> tuple[np.ndarray, np.ndarray]:
    """Return a class around the other one: no line orders them."""
    rng = np.random.default_rng(0)
    y = rng.random(n) < 0.4
    X = rng.normal(size=(n, 2))
    X *= (np.where(y, 1.0, 3.0) + 0.3 * rng.normal(size=n))[:, None] / np.linalg.norm(
        X, axis=1, keepdims=True
    )
    return X, y


def test_the_sample_is_the_same_however_rows_are_cut() -> None:
    X, _ = rings()
    found = [drawn_rows(da.from_array(X, chunks=(m, 1)), 50, 3) for m in (100, 333)]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(drawn_rows(da.from_array(X, chunks=200), 5000, 3), X)
    table = dd.from_pandas(pd.DataFrame(X), npartitions=4)
    np.testing.assert_array_equal(drawn_rows(table, 50, 3), found[0])
    assert all((X == row).all(axis=1).any() for row in found[0])


def test_features_are_those_of_the_map_and_nothing_is_computed_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(nystrom, "LEAST_SAMPLE", 100)
    X, _ = rings()
    model = Nystrom(gamma=0.5, n_landmarks=5, random_state=1).fit(da.from_array(X, chunks=(250, 1)))
    assert model.landmark_indices_ is None
    features: Any = model.transform(da.from_array(X, chunks=(250, 1)))
    assert features.shape == (900, 5) and features.chunks[0] == (250, 250, 250, 150)
    np.testing.assert_allclose(features.compute(), model.transform(X))


@pytest.mark.slow
def test_a_pipeline_takes_dask_and_orders_what_no_line_orders() -> None:
    X, y = rings()
    table = dd.from_pandas(pd.DataFrame(X, columns=["a", "b"]).assign(y=y), npartitions=3)
    model = make_pipeline(
        Nystrom(gamma=0.5, n_landmarks=30, random_state=0), ROCSVM(1e-2, tol=1e-4)
    ).fit(table[["a", "b"]], table["y"])
    held = make_pipeline(model[0], ROCSVM(1e-2, tol=1e-6))
    held[1].fit(model[0].transform(pd.DataFrame(X, columns=["a", "b"])), y)
    certificates = model[1].certificate_, held[1].certificate_
    room = sum(one.gap for one in certificates)
    assert abs(certificates[0].primal - certificates[1].primal) <= room
    labels: Any = model.predict(table[["a", "b"]])
    assert (labels.compute() == y).mean() > 0.95


def test_what_dask_cannot_do_is_said() -> None:
    X, y = rings()
    rows = da.from_array(X, chunks=(300, 2))
    with pytest.raises(InputError, match="stratified landmarks need the labels"):
        Nystrom(landmarks="stratified").fit(rows, y)
    model = Nystrom(n_landmarks=3).fit(dd.from_pandas(pd.DataFrame(X, columns=["a", "b"])))
    with pytest.raises(InputError, match="2 columns, one for each feature"):
        model.transform(da.ones((5, 3)))
    with pytest.raises(InputError, match="not those that were fitted"):
        model.transform(dd.from_pandas(pd.DataFrame(X, columns=["b", "a"])))
    with pytest.raises(InputError, match="not finite"):
        refused: Any = model.transform(da.from_array(np.full((5, 2), np.nan)))
        refused.compute()
