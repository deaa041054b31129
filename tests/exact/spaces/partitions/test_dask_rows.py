"""Dask arrays and dataframes against the same rows in memory, on a cluster in this process."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from aucert.exact.api.certify import certify
from aucert.exact.api.cross_validation import cross_validated_path
from aucert.exact.api.path import regularization_path
from aucert.exact.api.solve import solve
from aucert.exact.errors import CertificateError, InputError
from aucert.exact.estimators.roc_svm import ROCSVM, ROCSVMCV
from aucert.exact.formulation.request import rows_of_dask
from aucert.exact.spaces.groups import GroupedRows
from aucert.exact.spaces.partitions import PartitionedRows
from cutting import cut, cut_groups, meet, short_rows
from loops import each, refuses

pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")


@pytest.fixture(scope="module", autouse=True)
def client() -> Iterator[Any]:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as c,
        Client(c) as client,
    ):
        yield client


def frame(names: bool = True) -> Any:
    X, y = short_rows(3000)
    table = pd.DataFrame(X, columns=list("abc"))
    table["a"] = table["a"].astype(float)  # two formats
    table["y"] = np.where(y, "p", "n") if names else y
    return table


def test_arrays_give_what_the_same_cuts_give_in_this_process() -> None:
    X, y = short_rows(3000)
    found = solve(da.from_array(X, chunks=(700, 2)), da.from_array(y, chunks=450), 0.1, tol=1e-4)
    here = solve(PartitionedRows(cut(X, y, None, [700, 1400, 2100, 2800])), None, 0.1, tol=1e-4)
    room = 1e-9
    np.testing.assert_allclose(found.w, here.w, rtol=room)
    assert found.certificate.primal == pytest.approx(here.certificate.primal, rel=room)
    assert found.status == "certified"


@pytest.mark.slow
@each("kept", [True, False])
def test_dataframes_and_their_names(kept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    from aucert.exact.spaces import dask_rows as dask_engine

    if not kept:
        monkeypatch.setattr(dask_engine.DaskEngine, "kept_numbers", 0)
    table = dd.from_pandas(frame(), npartitions=4)
    model = ROCSVM(0.1, tol=1e-4).fit(table[["a", "b", "c"]], table["y"])
    held = ROCSVM(0.1, tol=1e-6).fit(frame()[["a", "b", "c"]], frame()["y"])
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    assert list(model.classes_) == ["n", "p"]
    np.testing.assert_allclose(model.coef_, held.coef_, atol=0.02)
    np.testing.assert_allclose(model.intercept_, held.intercept_, atol=0.02)
    labels: Any = model.predict(table[["a", "b", "c"]])
    np.testing.assert_array_equal(labels.compute(), model.predict(frame()[["a", "b", "c"]]))
    scores: Any = model.decision_function(da.from_array(short_rows(3000)[0], chunks=(500, 2)))
    np.testing.assert_allclose(
        scores.compute(), model.decision_function(frame()[["a", "b", "c"]]), atol=1e-12
    )
    refuses("columns of X are not those", model.predict, table[["b", "a", "c"]])


def test_a_model_of_partitions_with_labels_of_their_own() -> None:
    X, y = short_rows(3000)
    model = ROCSVM(0.1, tol=1e-4).fit(PartitionedRows(cut(X, y, None, [100])), None)
    assert list(model.classes_) == [False, True]
    assert (model.predict(X) == y).mean() > 0.65
    for words in ({"kernel": "rbf"}, {"pairs": "nearest:3"}):
        with pytest.raises(InputError, match="rows in partitions"):
            ROCSVM(0.1, **words).fit(PartitionedRows(cut(X, y, None, [])), None)  # type: ignore[arg-type]


@pytest.mark.slow
def test_partitions_of_unknown_size_of_one_class_and_empty() -> None:
    X, y = short_rows(3000)
    order = np.argsort(y, kind="stable")
    table = dd.from_pandas(pd.DataFrame(X[order]), npartitions=5, sort=False)
    labels = dd.from_pandas(pd.Series(y[order]), npartitions=5, sort=False)
    none = table[0] > 1e9
    none = dd.concat([table[none], table]), dd.concat([labels[none], labels])
    found = solve(*none, 0.1, tol=1e-4)
    assert found.status == "certified"
    assert found.certificate.primal == pytest.approx(solve(X, y, 0.1).certificate.primal, rel=1e-4)


def refused() -> dict[str, tuple[Any, Any, dict[str, Any]]]:
    """Rows, labels and more that cannot be used, by a word of the message."""
    X, y = short_rows(3000)
    table, words_of, marked = frame(), np.where(y, "p", "n").astype(object), y.astype(float)
    held, weight = X.copy(), np.ones(3000)
    held[600, 2] = marked[600] = np.nan
    words_of[601], weight[600] = None, -1

    def cut(array: Any) -> Any:
        return da.from_array(array, chunks=(600, 3)[: array.ndim])

    def parts(of: Any, count: int) -> Any:
        return dd.from_pandas(of, npartitions=count, sort=False)

    rows, labels, few = cut(X), cut(y), table[["a", "b"]]
    return {
        "exactly two classes": (rows, da.ones(3000, chunks=600), {}),
        "y is missing": (rows, None, {}),
        "y has 2000 rows|y has the shape": (rows, labels[:2000], {}),
        "in 3 partitions and X in 5": (parts(few, 5), parts(table["y"], 3), {}),
        "one value per row": (rows, labels[:, None], {}),
        "a value that is not finite in partition 1, row 0, column 2": (cut(held), labels, {}),
        "the label of row 0 of partition 1": (rows, cut(marked), {}),
        "the weight of row 0 of partition 1": (rows, labels, {"sample_weight": cut(weight)}),
        "column 'y' of partition 0, from row 0 on, must be numbers": (
            *(parts(table[["a", "y"]], 5), parts(table["y"], 5), {}),
        ),
        "the label of row 1 of partition 1 is missing": (rows, cut(words_of), {}),
        "the index of X is not that of its labels": (
            *(parts(few, 1), parts(table["y"].iloc[::-1], 1), {}),
        ),
        "take a sample of the rows": (rows, labels, {"kernel": "rbf"}),
    }


@pytest.mark.slow
def test_what_cannot_be_used_is_said() -> None:
    for message, (rows, labels, words) in refused().items():
        refuses(message, solve, rows, labels, 0.1, **words)
    refuses(
        "with weights", certify, rows, labels, 0.1, scores=np.zeros(3000)
    )  # the last ones are valid


def test_a_collection_that_changes_when_it_is_made_again_is_noticed(client: Any) -> None:
    """As after the death of a worker: dask makes its partitions again."""
    X, y = short_rows(3000)
    rows, _ = rows_of_dask(da.from_array(X, chunks=(600, 3)), y, None, None)
    block, mask, weight = rows.engine._parts[2].result()
    block = block.copy()
    block[7, 1] = np.nextafter(block[7, 1], np.float32(9))
    rows.engine._parts[2] = client.submit(lambda: (block, mask, weight), pure=False)
    refuses(r"partition 2 \(from 0\) changed while", rows.drawn, 0.1, 0.1)


@pytest.mark.slow
def test_the_steps_are_events_of_dask(client: Any) -> None:
    X, y = short_rows(3000)
    stated: list[Any] = []
    seen: list[Any] = []
    client.subscribe_topic("aucert", lambda event: stated.append(event[1]))
    while not stated:  # until the scheduler knows of the subscription
        client.log_event("aucert", "are you there?")
        time.sleep(0.05)
    found = solve(da.from_array(X, chunks=(700, 3)), y, 0.1, tol=1e-4, callback=seen.append)
    end, steps = time.monotonic() + 120, [step.n_iter for step in seen]

    def heard() -> list[int]:
        return [event["step"] for event in stated if event != "are you there?"]

    while len(heard()) < len(steps) and time.monotonic() < end:
        time.sleep(0.01)  # events come when they come
    assert heard() == steps
    assert found.status == "certified"
    client.unsubscribe_topic("aucert")


def test_a_partition_that_answers_twice_is_noticed() -> None:
    X, y = short_rows(3000)
    rows, _ = rows_of_dask(da.from_array(X, chunks=(600, 3)), y, None, None)
    for places, match in (
        ([[0, 1], [2, 3, 4], [0]], "partition 0 was counted twice"),
        ([[1, 2], [3, 4]], "partition 0 has not answered"),
    ):
        rows.engine._stretches = lambda places=places: [(some, None) for some in places]
        refuses(match, rows.drawn, 0.1, 0.1, error=CertificateError)


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
    audits: Any = (certify(X, y, 1e-2, w=held.w, tol=1e-4, **more) for X, y, more in asked)
    audit, stated = audits
    assert audit.n_pairs == stated.n_pairs and audit.dual <= stated.primal
    assert stated.primal <= audit.primal * (1 + 1e-9) <= stated.primal * (1 + 1e-4)
    heard: list[Any] = []
    paths = [
        regularization_path(X, y, [0.3, 0.1], tol=1e-4, callback=heard.append, **more)
        for X, y, more in asked
    ]
    assert [point.lam for point in heard] == 2 * [0.3, 0.1] and paths[0].complete
    for one, other in zip(paths[0].points, paths[1].points, strict=True):
        meet(one, other)
    model, same = (ROCSVM(1e-2, tol=1e-6).fit(X, y, **more) for X, y, more in asked)
    np.testing.assert_allclose(model.coef_, same.coef_, atol=5e-3)
    X, y, more = asked[0]
    chosen = ROCSVMCV([0.3, 0.1], cv=2, tol=1e-3, cv_tol=1e-3, random_state=0).fit(X, y, **more)
    assert chosen.lam_ in (0.3, 0.1) and list(chosen.classes_) == [False, True]
    folds = cross_validated_path(X, y, [1e-1], cv=2, seed=7, **more)
    ends = [int(np.flatnonzero(np.diff(whole["q"]))[3]) + 1]
    X, y = whole[["a", "b"]].to_numpy(), whole["better"].to_numpy()
    here: Any = PartitionedRows(cut(X, y, None, ends))
    if queries:
        here = GroupedRows(cut_groups(X, whole["q"].to_numpy(), y * 1.0, None, ends))
    again = cross_validated_path(here, None, [1e-1], cv=2, seed=7)
    np.testing.assert_allclose(folds.fold_auc, again.fold_auc, atol=1e-3)


@pytest.mark.slow
def test_a_query_that_dask_has_split_is_refused() -> None:
    table = dd.from_pandas(ranked(), npartitions=7)
    with pytest.raises(InputError, match=r"group \d+ is split: .* shuffle the rows by it"):
        solve(table[["a", "b"]], table["better"], 1e-2, qid=table["q"])
    shuffled = table.shuffle("q")
    found = solve(shuffled[["a", "b"]], shuffled["better"], 1e-2, qid=shuffled["q"], tol=1e-4)
    assert found.status == "certified"
    with pytest.raises(InputError, match="leave positive out"):
        solve(table[["a", "b"]], table["better"], 1e-2, qid=table["q"], positive=True)


def test_a_refusal_leaves_no_traceback_in_the_workers_log(caplog: pytest.LogCaptureFixture) -> None:
    X, y = short_rows(3000)
    X[600, 2] = np.nan
    with caplog.at_level("DEBUG", logger="distributed.worker"):
        refuses("not finite in partition 1", solve, da.from_array(X, chunks=(600, 3)), y, 0.1)
        mixed: Any = da.from_array(np.array([1.0, np.nan, 2.0]), chunks=1)
        with pytest.raises(InputError, match="the label of row 0 of partition 1"):
            solve(da.from_array(X[:3], chunks=(1, 3)), mixed, 0.1)
    assert "Compute Failed" not in caplog.text and "Traceback" not in caplog.text
