"""Dask arrays and dataframes against the same rows in memory, on a cluster in this process."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import aucert.exact as ac
from aucert.exact.api.solve import solve
from aucert.exact.formulation.request import rows_of_dask
from cutting import cut, cut_groups, meet, short_rows
from loops import each, refuses

distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")


@pytest.fixture(scope="module", autouse=True)
def client() -> Iterator[Any]:
    how: Any = {"processes": False, "dashboard_address": ":0"}
    cluster = distributed.LocalCluster(2, threads_per_worker=1, **how)
    with cluster, distributed.Client(cluster) as client:
        yield client


X, Y = short_rows(3000)
TABLE = pd.DataFrame(X, columns=list("abc"))
TABLE["a"] = TABLE["a"].astype(float)  # two formats
TABLE["y"] = np.where(Y, "p", "n")
ABC = ["a", "b", "c"]


def test_arrays_give_what_the_same_cuts_give_in_this_process() -> None:
    found = solve(da.from_array(X, chunks=(700, 2)), da.from_array(Y, chunks=450), 0.1, tol=1e-4)
    here = solve(ac.PartitionedRows(cut(X, Y, None, [700, 1400, 2100, 2800])), None, 0.1, tol=1e-4)
    np.testing.assert_allclose(found.w, here.w, rtol=1e-9)
    assert found.certificate.primal == pytest.approx(here.certificate.primal, rel=1e-9)
    assert found.status == "certified"


@pytest.mark.slow
@each("kept", [True, False])
def test_dataframes_and_their_names(kept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not kept:
        monkeypatch.setattr("aucert.exact.spaces.dask_rows.DaskEngine.kept_numbers", 0)
    table = dd.from_pandas(TABLE, npartitions=4)
    model = ac.ROCSVM(0.1, tol=1e-4).fit(table[ABC], table["y"])
    held = ac.ROCSVM(0.1, tol=1e-6).fit(TABLE[ABC], TABLE["y"])
    assert list(model.feature_names_in_) == ABC and list(model.classes_) == ["n", "p"]
    np.testing.assert_allclose(model.coef_, held.coef_, atol=0.02)
    np.testing.assert_allclose(model.intercept_, held.intercept_, atol=0.02)
    labels: Any = model.predict(table[ABC])
    np.testing.assert_array_equal(labels.compute(), model.predict(TABLE[ABC]))
    scores: Any = model.decision_function(da.from_array(X, chunks=(500, 2)))
    np.testing.assert_allclose(scores.compute(), model.decision_function(TABLE[ABC]), atol=1e-12)
    refuses("columns of X are not those", model.predict, table[["b", "a", "c"]])


def test_a_model_of_partitions_with_labels_of_their_own() -> None:
    rows = ac.PartitionedRows(cut(X, Y, None, [100]))
    model = ac.ROCSVM(0.1, tol=1e-4).fit(rows, None)
    assert list(model.classes_) == [False, True]
    assert (model.predict(X) == Y).mean() > 0.65
    for other in (ac.ROCSVM(0.1, kernel="rbf"), ac.ROCSVM(0.1, pairs="nearest:3")):
        refuses("rows in partitions", other.fit, rows, None)


@pytest.mark.slow
def test_partitions_of_unknown_size_of_one_class_and_empty() -> None:
    order = np.argsort(Y, kind="stable")
    table = dd.from_pandas(pd.DataFrame(X[order]), npartitions=5, sort=False)
    labels = dd.from_pandas(pd.Series(Y[order]), npartitions=5, sort=False)
    none = table[0] > 1e9
    found = solve(dd.concat([table[none], table]), dd.concat([labels[none], labels]), 0.1, tol=1e-4)
    assert found.status == "certified"
    assert found.certificate.primal == pytest.approx(solve(X, Y, 0.1).certificate.primal, rel=1e-4)


def refused() -> dict[str, tuple[Any, Any, dict[str, Any]]]:
    words_of, marked = np.where(Y, "p", "n").astype(object), Y.astype(float)
    held, weight = X.copy(), np.ones(3000)
    held[600, 2] = marked[600] = np.nan
    words_of[601], weight[600] = None, -1

    def cut(array: Any) -> Any:
        return da.from_array(array, chunks=(600, 3)[: array.ndim])

    def parts(of: Any, count: int) -> Any:
        return dd.from_pandas(of, npartitions=count, sort=False)

    rows, labels, few, y = cut(X), cut(Y), TABLE[["a", "b"]], TABLE["y"]
    named = parts(y, 5)
    return {
        "exactly two classes": (rows, da.ones(3000, chunks=600), {}),
        "y is missing": (rows, None, {}),
        "y has 2000 rows|y has the shape": (rows, labels[:2000], {}),
        "in 3 partitions and X in 5": (parts(few, 5), parts(y, 3), {}),
        "one value per row": (rows, labels[:, None], {}),
        "a value that is not finite in partition 1, row 0, column 2": (cut(held), labels, {}),
        "the label of row 0 of partition 1": (rows, cut(marked), {}),
        "the weight of row 0 of partition 1": (rows, labels, {"sample_weight": cut(weight)}),
        "column 'y' of partition 0, from row 0 on, must be numbers": (parts(TABLE, 5), named, {}),
        "the label of row 1 of partition 1 is missing": (rows, cut(words_of), {}),
        "the index of X is not that of its labels": (parts(few, 1), parts(y.iloc[::-1], 1), {}),
        "take a sample of the rows": (rows, labels, {"kernel": "rbf"}),
    }


@pytest.mark.slow
def test_what_cannot_be_used_is_said() -> None:
    for message, (rows, labels, words) in refused().items():
        refuses(message, solve, rows, labels, 0.1, **words)
    refuses("with weights", ac.certify, rows, labels, 0.1, scores=np.zeros(3000))


def in_dask() -> Any:
    return rows_of_dask(da.from_array(X, chunks=(600, 3)), Y, None, None)[0]


def test_a_collection_that_changes_when_it_is_made_again_is_noticed(client: Any) -> None:
    """As after the death of a worker: dask makes its partitions again."""
    rows = in_dask()
    block, mask, weight = rows.engine._parts[2].result()
    block = block.copy()
    block[7, 1] = np.nextafter(block[7, 1], np.float32(9))
    rows.engine._parts[2] = client.submit(lambda: (block, mask, weight), pure=False)
    refuses(r"partition 2 \(from 0\) changed while", rows.drawn, 0.1, 0.1)


@pytest.mark.slow
def test_the_steps_are_events_of_dask(client: Any) -> None:
    stated: list[Any] = []
    seen: list[Any] = []
    client.subscribe_topic("aucert", lambda event: stated.append(event[1]))
    while not stated:  # until the scheduler knows of the subscription
        client.log_event("aucert", "are you there?")
        time.sleep(0.05)
    found = solve(da.from_array(X, chunks=(700, 3)), Y, 0.1, tol=1e-4, callback=seen.append)
    end, steps = time.monotonic() + 120, [step.n_iter for step in seen]

    def heard() -> list[int]:
        return [event["step"] for event in stated if event != "are you there?"]

    while len(heard()) < len(steps) and time.monotonic() < end:
        time.sleep(0.01)  # events come when they come
    assert heard() == steps
    assert found.status == "certified"
    client.unsubscribe_topic("aucert")


def test_a_partition_that_answers_twice_is_noticed() -> None:
    rows = in_dask()
    for places, match in (
        ([[0, 1], [2, 3, 4], [0]], "partition 0 was counted twice"),
        ([[1, 2], [3, 4]], "partition 0 has not answered"),
    ):
        rows.engine._stretches = lambda places=places: [(some, None) for some in places]
        refuses(match, rows.drawn, 0.1, 0.1, error=ac.CertificateError)


def ranked() -> Any:
    rng = np.random.default_rng(0)
    query, grade = np.sort(rng.integers(0, 100, 3000)), rng.integers(0, 3, 3000)
    X = rng.normal(size=(3000, 2)) + 0.5 * grade[:, None]
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "q": query, "better": grade > 1})


@pytest.mark.slow
@each("queries", [False, True])
def test_what_is_asked_of_dask_is_what_it_is_in_memory(queries: bool) -> None:
    whole = ranked()
    table = dd.from_pandas(whole.set_index("q", drop=False), npartitions=4)  # cuts between queries
    asked: Any = [
        (frame[["a", "b"]], frame["better"], {"qid": frame["q"]} if queries else {})
        for frame in (table, whole)
    ]
    found, held = (solve(X, y, 1e-2, tol=1e-6, **more) for X, y, more in asked)
    assert found.status == held.status == "certified"
    meet(found, held)
    audits: Any = (ac.certify(X, y, 1e-2, w=held.w, tol=1e-4, **more) for X, y, more in asked)
    audit, stated = audits
    assert audit.n_pairs == stated.n_pairs and audit.dual <= stated.primal
    assert stated.primal <= audit.primal * (1 + 1e-9) <= stated.primal * (1 + 1e-4)
    heard: list[Any] = []
    how: Any = {"tol": 1e-4, "callback": heard.append}
    path, same = (ac.regularization_path(X, y, [0.3, 0.1], **how, **more) for X, y, more in asked)
    assert [point.lam for point in heard] == 2 * [0.3, 0.1] and path.complete
    for one, other in zip(path.points, same.points, strict=True):
        meet(one, other)
    models: Any = [ac.ROCSVM(1e-2, tol=1e-6).fit(X, y, **more).coef_ for X, y, more in asked]
    np.testing.assert_allclose(*models, atol=5e-3)
    X, y, more = asked[0]
    chosen = ac.ROCSVMCV([0.3, 0.1], cv=2, tol=1e-3, cv_tol=1e-3, random_state=0).fit(X, y, **more)
    assert chosen.lam_ in (0.3, 0.1) and list(chosen.classes_) == [False, True]
    folds = ac.cross_validated_path(X, y, [1e-1], cv=2, seed=7, **more)
    ends = [int(np.flatnonzero(np.diff(whole["q"]))[3]) + 1]
    X, y = whole[["a", "b"]].to_numpy(), whole["better"].to_numpy()
    here: Any = ac.PartitionedRows(cut(X, y, None, ends))
    if queries:
        here = ac.GroupedRows(cut_groups(X, whole["q"].to_numpy(), y * 1.0, None, ends))
    again = ac.cross_validated_path(here, None, [1e-1], cv=2, seed=7)
    np.testing.assert_allclose(folds.fold_auc, again.fold_auc, atol=1e-3)


@pytest.mark.slow
def test_a_query_that_dask_has_split_is_refused() -> None:
    table = dd.from_pandas(ranked(), npartitions=7)
    asked, split = (
        {"lam": 1e-2, "qid": table["q"]},
        r"group \d+ is split: .* shuffle the rows by it",
    )
    refuses(split, solve, table[["a", "b"]], table["better"], **asked)
    refuses("leave positive out", solve, table[["a", "b"]], table["better"], **asked, positive=True)
    shuffled = table.shuffle("q")
    found = solve(shuffled[["a", "b"]], shuffled["better"], 1e-2, qid=shuffled["q"], tol=1e-4)
    assert found.status == "certified"


def test_a_refusal_leaves_no_traceback_in_the_workers_log(caplog: pytest.LogCaptureFixture) -> None:
    holed, mixed = X.copy(), da.from_array(np.array([1.0, np.nan, 2.0]), chunks=1)
    holed[600, 2] = np.nan
    rows, few = da.from_array(holed, chunks=(600, 3)), da.from_array(X[:3], chunks=(1, 3))
    with caplog.at_level("DEBUG", logger="distributed.worker"):
        refuses("not finite in partition 1", solve, rows, Y, 0.1)
        refuses("the label of row 0 of partition 1", solve, few, mixed, 0.1)
    assert "Compute Failed" not in caplog.text and "Traceback" not in caplog.text
