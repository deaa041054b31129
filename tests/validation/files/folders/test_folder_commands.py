"""`aucert solve` and `aucert certify` on a folder of Parquet files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from aucert.exact.pairs.auc import auc
from aucert.validation import cli
from aucert.validation.files import parquet_folder
from loops import each

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    y = rng.random(4000) < 0.3
    X = rng.normal(size=(4000, 2)) + 0.8 * y[:, None]
    table = pa.table(
        {"a": X[:, 0], "b": X[:, 1], "y": np.where(y, "good", "bad"), "w": 1 + np.arange(4000) % 3}
    )
    (tmp_path / "data").mkdir()
    for k in range(4):
        part = table[1000 * k : 1000 * (k + 1)]
        pq.write_table(part, tmp_path / "data" / f"{k}.parquet", row_group_size=400)
    pq.write_table(table, tmp_path / "whole.parquet")
    return tmp_path


def answer(*words: object) -> dict[str, Any]:
    found = CliRunner().invoke(cli.aucert, [*map(str, words), "--json"])
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout)


def test_a_folder_is_solved_as_its_rows_in_one_file_are(folder: Path) -> None:
    words = ("--target", "y", "--drop", "w", "--lam", "0.1", "--tol", "1e-5")
    many = answer("solve", folder / "data", *words, "--out", folder / "out")
    one = answer("solve", folder / "whole.parquet", *words)
    assert abs(many["primal"] - one["primal"]) <= many["gap"] + one["gap"] + 1e-9
    for key in ("n", "n_pos", "n_neg", "n_pairs", "positive"):
        assert many[key] == one[key]
    assert all("objective of at most" in answered["statement"] for answered in (one, many))
    assert many["data_sha256"] is None and many["proof"] is None
    assert abs(many["auc"] - one["auc"]) <= many["auc_within"] + 1e-3 < 2e-3
    model = ("--model", folder / "out" / "model.npz", "--tol", "1e-5", "--target", "y")
    stated = [answer("certify", folder / name, *model) for name in ("data", "whole.parquet")]
    assert stated[0]["primal"] == pytest.approx(stated[1]["primal"], rel=1e-4)
    assert stated[0]["n_pairs"] == one["n_pairs"]
    assert all("of at most" in one["statement"] for one in stated)
    lines = answer("predict", folder / "out" / "model.npz", folder / "whole.parquet")
    assert {"good", "bad"} == set(lines["labels"])


@each("tol", ["1e-4", "1e-9"])  # the bins reach the first alone
def test_a_folder_has_a_proof_where_it_is_asked_for(folder: Path, tol: str) -> None:
    from aucert.exact.proof.check_partitions import main

    words = ("--target", "y", "--drop", "w", "--lam", "0.1", "--tol", tol, "--proof")
    stated = answer("solve", folder / "data", *words, "--out", folder / "out")
    assert stated["proof"] == "proof.npz"
    assert main([str(folder / "out" / "proof.npz")]) == 0


def test_the_rows_of_a_proof_are_written_for_its_checker(folder: Path) -> None:
    from aucert.exact.proof.check_partitions import main

    words = ("--target", "y", "--lam", "0.1", "--tol", "1e-4")
    data, out, rows = folder / "data", folder / "out", folder / "rows"
    weighed = ("--row-weights", "w", "--proof", "--proof-rows")
    answer("solve", data, *words, "--out", out, *weighed, rows)
    files = sorted(map(str, rows.iterdir()))
    assert main([str(out / "proof.npz"), *files, "--all"]) == 0
    assert main([str(out / "proof.npz"), *files[1:], "--all"]) == 1


def test_weights_of_rows_come_from_the_same_files(folder: Path) -> None:
    words = (folder / "data", "--target", "y", "--lam", "0.1", "--tol", "1e-4")
    weighed = answer("solve", *words, "--row-weights", "w")
    assert weighed["parameters"]["row_weights"] == "w"
    assert weighed["primal"] != answer("solve", *words, "--drop", "w")["primal"]


def test_the_counted_auc_holds_the_true_one(folder: Path) -> None:
    from aucert.exact.certificate.order import counted_scores
    from aucert.validation.files.parquet_folder import read_parquet_folder

    table = pq.read_table(folder / "whole.parquet")
    X = np.column_stack([table["a"].to_numpy(), table["b"].to_numpy()])
    positive = np.array(table["y"].to_pylist()) == "good"
    weight = table["w"].to_numpy()
    w = np.array([1.0, -0.3])
    rows = read_parquet_folder(folder / "data", "y", weight="w").rows(1)
    low, high = counted_scores(rows, w).auc_range()
    assert low <= auc(X @ w, positive, weight) <= high <= low + 1e-3


@pytest.fixture
def ranked(tmp_path: Path) -> Path:
    """Rows of 60 queries in order, in three files cut between queries."""
    rng = np.random.default_rng(0)
    query, grade = np.sort(rng.integers(0, 60, 3000)), rng.integers(0, 3, 3000)
    X = rng.normal(size=(3000, 2)) + 0.5 * grade[:, None]
    table = pa.table({"a": X[:, 0], "q": query, "b": X[:, 1], "grade": grade})
    (tmp_path / "data").mkdir()
    ends = [0, *np.searchsorted(query, [20, 40]).tolist(), 3000]
    for k in range(3):
        part = table[ends[k] : ends[k + 1]]
        pq.write_table(part, tmp_path / "data" / f"{k}.parquet", row_group_size=150)
    pq.write_table(table, tmp_path / "whole.parquet")
    return tmp_path


RANKING = ("--qid", "q", "--target", "grade", "--lam", "0.1", "--tol", "1e-6")


def test_queries_of_a_folder_are_solved_as_those_of_one_file_are(ranked: Path) -> None:
    many = answer("solve", ranked / "data", *RANKING, "--out", ranked / "out")
    one = answer("solve", ranked / "whole.parquet", *RANKING)
    assert abs(many["primal"] - one["primal"]) <= many["gap"] + one["gap"] + 1e-9
    for key in ("n", "n_pos", "n_pairs", "pairs", "positive", "auc"):
        assert many[key] == one[key], key
    assert many["concordance"] == pytest.approx(one["concordance"], abs=1e-3)
    assert many["status"] == "certified" and many["proof"] is None
    model = ("--model", ranked / "out" / "model.npz", *RANKING[:4])
    stated = [answer("certify", ranked / name, *model) for name in ("data", "whole.parquet")]
    assert stated[0]["primal"] == pytest.approx(stated[1]["primal"], rel=1e-9)
    assert stated[0]["n_right"] == pytest.approx(stated[1]["n_right"], abs=3)


def test_a_file_is_cut_only_between_its_queries(
    ranked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_folder, "PARTITION_NUMBERS", 600)
    table = pq.read_table(ranked / "whole.parquet")
    folder = ranked / "sorted"
    folder.mkdir()
    at = np.searchsorted(table["q"].to_numpy(), np.arange(0, 60, 5))
    with pq.ParquetWriter(folder / "a.parquet", table.schema) as file:
        for start, end in zip(at, [*at[1:], 3000], strict=True):
            file.write_table(table[start:end])
    found = parquet_folder.read_parquet_folder(folder, "grade", qid="q")
    assert len(found.partitions) > 5
    rows = found.rows(1)
    assert rows.parts == len(found.partitions) and rows.n == 3000
    split = parquet_folder.read_parquet_folder(ranked / "data", "grade", qid="q")
    assert len(split.partitions) == 3  # row groups of 150 rows cut queries: files stay whole
