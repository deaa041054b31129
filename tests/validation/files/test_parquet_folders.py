"""Folders of Parquet files: read and solved as a table is, wherever the rows are cut."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from aucert.exact.api.solve import solve
from aucert.exact.certificate.order import counted_scores
from aucert.exact.errors import InputError
from aucert.exact.pairs.auc import auc
from aucert.exact.proof.check_partitions import main
from aucert.validation import cli
from aucert.validation.files import parquet_folder
from aucert.validation.files.parquet_folder import ParquetFolder, read_parquet_folder
from aucert.validation.files.tables import Selection, read_table
from loops import each

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def columns(n: int = 900, seed: int = 0) -> dict[str, Any]:
    """Columns of every type that can be a feature; the labels go with the first."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    return {
        "a": (rng.normal(size=n) + y).astype(np.float32),
        "y": np.where(y, "yes", "no"),
        "b": rng.integers(-5, 5, n).astype(np.int16),
        "c": rng.random(n) < 0.5,
        "d": pa.array(np.where(rng.random(n) < 0.5, "true", "no")).dictionary_encode(),
        "e": rng.normal(size=n).astype(np.float16),
        "w": rng.integers(1, 4, n),
    }


def written(folder: Path, table: dict[str, Any], cuts: list[int], group: int = 100) -> Path:
    """Write the rows between the cuts to files, every other one in a folder below."""
    whole = pa.table(table)
    for k, (start, stop) in enumerate(zip([0, *cuts], [*cuts, whole.num_rows], strict=True)):
        path = folder / f"deep={k}" if k % 2 else folder
        path.mkdir(parents=True, exist_ok=True)
        pq.write_table(whole[start:stop], path / f"part-{k}.parquet", row_group_size=group)
    (folder / "_metadata").write_text("nothing")
    return folder


def in_one_file(folder: Path, table: dict[str, Any]) -> Path:
    pq.write_table(pa.table(table), folder / "whole.parquet")
    return folder / "whole.parquet"


def held(found: ParquetFolder) -> tuple[np.ndarray, np.ndarray]:
    """The rows and labels of all partitions."""
    blocks = [block for part in found.partitions for block in part.blocks()]
    rows = np.concatenate([block.columns.T for block in blocks])
    return rows, np.concatenate([block.positive for block in blocks])


@each("numbers", [1, 1 << 22])
def test_a_folder_holds_the_numbers_of_a_table(
    tmp_path: Path, numbers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words, truth values, dictionaries and half precision, in row groups or in batches."""
    monkeypatch.setattr(parquet_folder, "PARTITION_NUMBERS", numbers)
    monkeypatch.setattr(parquet_folder, "GROUP_NUMBERS", numbers)
    monkeypatch.setattr(parquet_folder, "BATCH_ROWS", 33)
    table, asked = columns(), Selection("y", drop=("w",))
    X, y, meta = read_table(in_one_file(tmp_path, table), asked)
    found = read_parquet_folder(written(tmp_path / "many", table, [300, 301, 650]), asked)
    assert (found.columns, found.n) == (meta.columns, 900)
    assert (found.positive, found.negative) == (meta.positive, meta.negative)
    rows, labels = held(found)
    bounds = [(0, 300), (300, 301), (301, 650), (650, 900)]  # the files are sorted by path
    names = dict.fromkeys(Path(part.path).stem for part in found.partitions)
    order = np.concatenate([np.arange(*bounds[int(name[-1])]) for name in names])
    np.testing.assert_array_equal(rows, X[order])
    np.testing.assert_array_equal(labels, y[order] == 1)


def test_columns_and_weights_are_found_by_name(tmp_path: Path) -> None:
    table = columns()
    folder = written(tmp_path, table, [])
    found = read_parquet_folder(folder, Selection("y", columns=("e", "a")), weight="w")
    np.testing.assert_array_equal(held(found)[0][:, 1], table["a"])
    rows = found.rows(1)
    assert rows.facts.mass.sum() == table["w"].sum()
    assert solve(rows, None, 0.1, tol=1e-3).status == "certified"
    pytest.importorskip("fsspec")
    assert read_parquet_folder(f"file://{folder}", "y", weight="w").rows(1).n == 900
    with pytest.raises(InputError, match="reading nonsense:// needs fsspec"):
        read_parquet_folder("nonsense://bucket/folder", "y")


def test_labels_mean_what_they_mean_in_a_table(tmp_path: Path) -> None:
    table = columns()
    bits = table["y"] == "yes"
    for k, labels in enumerate(
        (
            np.where(bits, "1.0", "0"),
            bits.astype(np.uint8),
            bits,
            bits.astype(np.float32),
            pa.array(np.where(bits, "1", "0")).dictionary_encode(),
        )
    ):
        table["y"] = labels
        folder, file = written(tmp_path / f"{k}", table, []), in_one_file(tmp_path, table)
        for positive in (None, "1"):
            _, y, meta = read_table(file, "y", positive)
            found = read_parquet_folder(folder, "y", positive)
            assert (found.positive, found.negative) == (meta.positive, meta.negative)
            np.testing.assert_array_equal(held(found)[1], y == 1)
    table["y"] = np.arange(900) % 3
    folder = written(tmp_path / "three", table, [450])
    with pytest.raises(InputError, match="3 classes"):
        read_parquet_folder(folder, "y")
    assert read_parquet_folder(folder, "y", 1).rows(1).facts.n_pos == 300


@pytest.mark.slow
def test_several_processes_find_what_one_finds(tmp_path: Path) -> None:
    found = read_parquet_folder(written(tmp_path, columns(3000), [700, 900]), "y", weight="w")
    one, two = (solve(found.rows(jobs), None, 0.1, tol=1e-3) for jobs in (1, 2))
    np.testing.assert_array_equal(one.w, two.w)
    assert one.certificate == two.certificate


# A column of the second file, what its sixth cell becomes, and what is said.
CELLS: list[tuple[str, Any, str]] = [
    ("a", None, r"part-1.parquet: missing value in column 'a', row 6"),
    ("a", np.nan, r"part-1.parquet: missing value in column 'a', row 6"),
    ("a", np.inf, r"part-1.parquet: infinite value in column 'a', row 6"),
    ("d", "maybe", r"part-1.parquet: text 'maybe' in column 'd', row 6"),
    ("b", 2**53 + 1, r"9007199254740993 in column 'b', row 6 loses digits"),
    ("y", None, r"part-1.parquet, column 'y', row 6: missing"),
    ("w", -1, r"part-1.parquet: the weight in column 'w', row 6"),
]
# A column, what it is in either file, and what is said.
COLUMNS: list[tuple[str, Any, Any, str]] = [
    ("b", [1] * 900, None, r"part-1.parquet: no column 'b', which .*part-0.parquet has"),
    ("b", [1] * 900, [[1]] * 900, r"column 'b' holds list"),
    ("y", ["yes"] * 900, ["yes"] * 900, r"a single class"),
    ("y", [*map(str, range(900))], [str(-k) for k in range(900)], r"more than 1000 different"),
    ("y", [*range(900)], [-k for k in range(900)], r"more than 1000 different"),
]


def test_what_cannot_be_used_is_named(tmp_path: Path) -> None:
    first = columns()
    second = {name: list(np.asarray(column)) for name, column in columns(seed=1).items()}
    paths = [tmp_path / f"part-{k}.parquet" for k in range(2)]

    def refused(said: str, tables: tuple[dict[str, Any], ...] = (), target: str = "y") -> None:
        for path, table in zip(paths, tables, strict=False):
            pq.write_table(pa.table(table), path)
        with pytest.raises(InputError, match=said):
            read_parquet_folder(tmp_path, target, weight="w").rows(1)

    refused("no Parquet files in this folder")
    refused("no rows", ({name: held[:0] for name, held in first.items()},))
    for name, cell, said in CELLS:
        refused(said, (first, second | {name: [*second[name][:5], cell, *second[name][6:]]}))
    for name, one, two, said in COLUMNS:
        other = {key: column for key, column in second.items() if key != name}
        refused(said, (first | {name: one}, other if two is None else other | {name: two}))
    refused("no column 'z'", (first, second), "z")
    paths[1].write_bytes(paths[1].read_bytes()[:-40])
    refused("damaged, or not a readable Parquet file")


def test_a_file_that_changes_between_passes_is_noticed(tmp_path: Path) -> None:
    rows = read_parquet_folder(written(tmp_path, columns(3000), [1000]), "y", weight="w").rows(1)
    table = columns(3000)
    table["a"][1500] += 1
    written(tmp_path, table, [1000])
    with pytest.raises(InputError, match="changed while"):
        solve(rows, None, 0.1)


# `aucert solve` and `aucert certify`


def answer(*words: object) -> dict[str, Any]:
    found = CliRunner().invoke(cli.aucert, [*map(str, words), "--json"])
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(parquet_folder, "_processors", lambda: 1)
    rng = np.random.default_rng(0)
    y = rng.random(4000) < 0.3
    X = rng.normal(size=(4000, 2)) + 0.8 * y[:, None]
    words, weight = np.where(y, "good", "bad"), 1 + np.arange(4000) % 3
    table = {"a": X[:, 0], "b": X[:, 1], "y": words, "w": weight}
    written(tmp_path / "data", table, [1000, 2000, 3000], 400)
    in_one_file(tmp_path, table)
    return tmp_path


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
    words = ("--target", "y", "--lam", "0.1", "--tol", tol, "--proof", "--row-weights", "w")
    rows, proof = folder / f"rows{tol}", folder / f"out{tol}" / "proof.npz"
    stated = answer("solve", folder / "data", *words, "--out", proof.parent, "--proof-rows", rows)
    assert stated["proof"] == "proof.npz" and stated["parameters"]["row_weights"] == "w"
    assert main([str(proof)]) == 0
    files = sorted(map(str, rows.iterdir()))
    assert main([str(proof), *files, "--all"]) == 0
    assert main([str(proof), *files[1:], "--all"]) == 1
    plain = answer("solve", folder / "data", "--target", "y", "--drop", "w", *words[2:6])
    assert stated["primal"] != plain["primal"]


def test_the_counted_auc_holds_the_true_one(folder: Path) -> None:
    table = pq.read_table(folder / "whole.parquet")
    X = np.column_stack([table["a"].to_numpy(), table["b"].to_numpy()])
    positive = np.array(table["y"].to_pylist()) == "good"
    w = np.array([1.0, -0.3])
    rows = read_parquet_folder(folder / "data", "y", weight="w").rows(1)
    low, high = counted_scores(rows, w).auc_range()
    assert low <= auc(X @ w, positive, table["w"].to_numpy()) <= high <= low + 1e-3


def ranked(tmp_path: Path) -> dict[str, Any]:
    """Rows of 60 queries in order, in three files cut between queries."""
    rng = np.random.default_rng(0)
    query, grade = np.sort(rng.integers(0, 60, 3000)), rng.integers(0, 3, 3000)
    X = rng.normal(size=(3000, 2)) + 0.5 * grade[:, None]
    table = {"a": X[:, 0], "q": query, "b": X[:, 1], "grade": grade}
    written(tmp_path / "data", table, np.searchsorted(query, [20, 40]).tolist(), 150)
    in_one_file(tmp_path, table)
    return table


def test_queries_of_a_folder_are_solved_as_those_of_one_file_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_folder, "_processors", lambda: 1)
    ranked(tmp_path)
    asked = ("--qid", "q", "--target", "grade", "--lam", "0.1", "--tol", "1e-6")
    many = answer("solve", tmp_path / "data", *asked, "--out", tmp_path / "out")
    one = answer("solve", tmp_path / "whole.parquet", *asked)
    assert abs(many["primal"] - one["primal"]) <= many["gap"] + one["gap"] + 1e-9
    for key in ("n", "n_pos", "n_pairs", "pairs", "positive", "auc"):
        assert many[key] == one[key], key
    assert many["concordance"] == pytest.approx(one["concordance"], abs=1e-3)
    assert many["status"] == "certified" and many["proof"] is None
    model = ("--model", tmp_path / "out" / "model.npz", *asked[:4])
    stated = [answer("certify", tmp_path / name, *model) for name in ("data", "whole.parquet")]
    assert stated[0]["primal"] == pytest.approx(stated[1]["primal"], rel=1e-9)
    assert stated[0]["n_sure_right"] == pytest.approx(stated[1]["n_sure_right"], abs=3)


def test_a_file_is_cut_only_between_its_queries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_folder, "PARTITION_NUMBERS", 600)
    table, sorted_rows = pa.table(ranked(tmp_path)), tmp_path / "sorted"
    sorted_rows.mkdir()
    at = np.searchsorted(table["q"].to_numpy(), np.arange(0, 60, 5))
    with pq.ParquetWriter(sorted_rows / "a.parquet", table.schema) as file:
        for start, end in zip(at, [*at[1:], 3000], strict=True):
            file.write_table(table[start:end])
    found = read_parquet_folder(sorted_rows, "grade", qid="q")
    assert len(found.partitions) > 5
    rows = found.rows(1)
    assert rows.parts == len(found.partitions) and rows.n == 3000
    split = read_parquet_folder(tmp_path / "data", "grade", qid="q")
    assert len(split.partitions) == 3  # row groups of 150 rows cut queries: files stay whole


WITHOUT_PANDAS = """
import sys
from aucert.validation.files.parquet_folder import read_parquet_folder
from aucert.validation.files.tables import Selection
rows = read_parquet_folder(sys.argv[1], Selection("y"), None, "w", None).rows()
print(rows.n, "pandas" in sys.modules)
"""


def test_a_folder_is_read_without_pandas(tmp_path: Path) -> None:
    """Loading it would take as long as everything else; pyarrow's `to_numpy` does."""
    command = [sys.executable, "-c", WITHOUT_PANDAS, str(written(tmp_path, columns(), [300]))]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["900", "False"]
