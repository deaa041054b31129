"""Folders of Parquet files: read and solved as a table is, wherever the rows are cut."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aucert.exact import InputError, solve
from aucert.exact.proof.check_partitions import main
from aucert.validation.files import parquet_folder
from aucert.validation.files.parquet_folder import ParquetFolder, read_parquet_folder
from aucert.validation.files.tables import Selection, read_table
from loops import each, first_fast, refuses
from on_disk import write

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
TARGET = Selection("y")


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
        write(path / f"part-{k}.parquet", whole[start:stop], row_group_size=group)
    (folder / "_metadata").write_text("nothing")
    return folder


def held(found: ParquetFolder) -> tuple[np.ndarray, np.ndarray]:
    blocks = [block for part in found.partitions for block in part.blocks()]
    rows = np.concatenate([block.columns.T for block in blocks])
    return rows, np.concatenate([block.positive for block in blocks])


@each("numbers", [200, 1 << 22])
def test_a_folder_holds_the_numbers_of_a_table(tmp_path: Path, numbers: int, monkeypatch) -> None:
    """Words, truth values, dictionaries and half precision, in small batches or in large ones."""
    monkeypatch.setattr(parquet_folder, "NUMBERS", numbers)
    table, asked = columns(), Selection("y", drop=("w",))
    X, y, meta = read_table(write(tmp_path / "whole.parquet", table), asked)
    found = read_parquet_folder(written(tmp_path / "many", table, [300, 301, 650]), asked)
    assert len(found.partitions) == (4 if numbers > 200 else 11)
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
        folder = written(tmp_path / f"{k}", table, [])
        file = write(tmp_path / "whole.parquet", table)
        for positive in (None, "1"):
            _, y, meta = read_table(file, TARGET, positive)
            found = read_parquet_folder(folder, TARGET, positive)
            assert (found.positive, found.negative) == (meta.positive, meta.negative)
            np.testing.assert_array_equal(held(found)[1], y == 1)
    table["y"] = np.arange(900) % 3
    folder = written(tmp_path / "three", table, [450])
    refuses("3 classes", read_parquet_folder, folder, TARGET)
    assert read_parquet_folder(folder, TARGET, 1).rows(1).facts.n_pos == 300


@pytest.mark.slow
def test_several_processes_find_what_one_finds(tmp_path: Path) -> None:
    found = read_parquet_folder(written(tmp_path, columns(3000), [700, 900]), TARGET, weight="w")
    one, two = (solve(found.rows(jobs), None, 0.1, tol=1e-3) for jobs in (1, 2))
    np.testing.assert_array_equal(one.w, two.w)
    assert one.certificate == two.certificate
    write(tmp_path / "part-1.parquet", columns(200) | {"a": [np.nan] * 200})
    with pytest.raises(InputError, match=r"column 'a'.*--drop a"):
        read_parquet_folder(tmp_path, TARGET, weight="w").rows(2)


# A column of the second file, what its sixth cell or all of it becomes, and what is said.
BAD: list[tuple[str, Any, str]] = [
    ("a", None, r"missing value in column 'a', row 6 .*part-1.parquet"),
    ("a", np.nan, r"missing value in column 'a', row 6 .*part-1.parquet"),
    ("a", np.inf, r"infinite value in column 'a', row 6 .*part-1.parquet"),
    ("d", "maybe", r"text 'maybe' in column 'd', row 6 .*part-1.parquet"),
    ("b", 2**53 + 1, r"9007199254740993 in column 'b', row 6 loses digits.*part-1.parquet"),
    ("w", None, r"part-1.parquet: missing value in column 'w', row 6"),
    ("y", None, r"part-1.parquet, column 'y', row 6: missing"),
    ("w", -1, r"part-1.parquet: the weight in column 'w', row 6"),
    ("b", [], r"no column 'b', which .*part-0.parquet has .*part-1.parquet"),
    ("b", [[1]] * 900, r"column 'b' holds list"),
    ("y", [str(-k) for k in range(900)], r"more than 1000 different"),
]


def test_what_cannot_be_used_is_named(tmp_path: Path) -> None:
    first = columns()
    second = {name: list(np.asarray(column)) for name, column in columns(seed=1).items()}

    def refused(said: str, *tables: dict[str, Any], target: str = "y") -> None:
        for k, table in enumerate(tables):
            write(tmp_path / f"part-{k}.parquet", table)
        with pytest.raises(InputError, match=said):
            read_parquet_folder(tmp_path, Selection(target), weight="w").rows(1)

    refused("no Parquet files in this folder")
    refused("no rows", {name: held[:0] for name, held in first.items()})
    for name, cell, said in BAD:
        part = cell if isinstance(cell, list) else [*second[name][:5], cell, *second[name][6:]]
        one = {"y": list(map(str, range(900)))} if "1000" in said else {}
        refused(said, first | one, {k: x for k, x in (second | {name: part}).items() if x != []})
    many = [{"y": [sign * k for k in range(900)]} for sign in (1, -1)]
    refused(r"more than 1000 different", first | many[0], second | many[1])
    refused("a single class", first | {"y": ["no"] * 900}, second | {"y": ["no"] * 900})
    refused("no column 'z'", first, second, target="z")
    (tmp_path / "part-1.parquet").write_bytes(b"PAR1 and no more")
    refused("damaged, or not a readable Parquet file")


def test_a_file_that_changes_between_passes_is_noticed(tmp_path: Path) -> None:
    rows = read_parquet_folder(written(tmp_path, columns(3000), [1000]), TARGET, weight="w").rows(1)
    table = columns(3000)
    table["a"][1500] += 1
    written(tmp_path, table, [1000])
    refuses("changed while", solve, rows, None, 0.1)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Rows with classes and weights, and in order of 60 queries, in a folder and in one file."""
    monkeypatch.setattr(parquet_folder, "_processors", lambda: 1)
    rng = np.random.default_rng(0)
    y, query = rng.random(4000) < 0.3, np.sort(rng.integers(0, 60, 4000))
    X = rng.normal(size=(4000, 2)) + 0.8 * y[:, None]
    table = {"a": X[:, 0], "b": X[:, 1], "y": np.where(y, "good", "bad")}
    table |= {"w": 1 + np.arange(4000) % 3, "q": query, "grade": y + rng.integers(0, 2, 4000)}
    written(tmp_path / "data", table, np.searchsorted(query, [15, 30, 45]).tolist(), 400)
    write(tmp_path / "whole.parquet", table)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@each("asked", first_fast(["--target y", "--qid q --target grade"]))
def test_a_folder_is_solved_as_its_rows_in_one_file_are(folder: Path, command, asked: str) -> None:
    words = f"--columns a,b {asked} --lam 0.1 --tol 1e-6"
    many = command.json("solve data --out out", words)
    one = command.json("solve whole.parquet", words)
    assert abs(many["primal"] - one["primal"]) <= many["gap"] + one["gap"] + 1e-9
    for key in ("n", "n_pos", "n_neg", "n_pairs", "pairs", "positive"):
        assert many[key] == one[key], key
    assert many["status"] == "certified" and "objective of at most" in many["statement"]
    assert many["data_sha256"] is None and many["proof"] is None
    share = "concordance" if "qid" in asked else "auc"
    assert many[share] == pytest.approx(one[share], abs=1e-3)
    words = f"--model out/model.npz --tol 1e-5 {asked}"
    many, one = (command.json(f"certify {name} {words}") for name in ("data", "whole.parquet"))
    assert many["primal"] == pytest.approx(one["primal"], rel=1e-9)
    assert many["n_sure_right"] == pytest.approx(one["n_sure_right"], rel=1e-3)
    if "qid" not in asked:
        lines = command.json("predict out/model.npz whole.parquet")
        assert {"good", "bad"} == set(lines["labels"])
        words = f"--columns a,b {asked} --lam 0.3 --lam 0.003 --cv 3 --tol 1e-6"
        many, one = (command.json(f"path {name} {words}") for name in ("data", "whole.parquet"))
        for apart, held in zip(many["path"], one["path"], strict=True):
            assert abs(apart["primal"] - held["primal"]) <= apart["gap"] + held["gap"]
            assert apart["status"] == "certified"
            assert apart["auc"] == pytest.approx(held["auc"], abs=1e-3)
        low, area, high = (np.array(many["cv"][f"fold_{key}"]) for key in ("low", "auc", "high"))
        assert area.shape == (3, 2) and (low <= area).all() and (area <= high).all()
        assert all(many[key] == one[key] for key in ("n", "n_pos", "n_neg", "n_pairs", "positive"))


@each("tol", ["1e-4", "1e-9"])  # the bins reach the first alone
def test_a_folder_has_a_proof_where_it_is_asked_for(folder: Path, command, tol: str) -> None:
    words = f"solve data --columns a,b --target y --lam 0.1 --tol {tol}"
    proved = f"--proof --row-weights w --out out{tol} --proof-rows rows{tol}"
    stated = command.json(words, proved)
    assert stated["proof"] == "proof.npz" and stated["parameters"]["row_weights"] == "w"
    proof, files = f"out{tol}/proof.npz", sorted(map(str, Path(f"rows{tol}").iterdir()))
    assert main([proof]) == 0 and main([proof, *files, "--all"]) == 0
    assert main([proof, *files[1:], "--all"]) == 1
    assert stated["primal"] != command.json(words)["primal"]


def test_a_file_is_cut_only_between_its_queries(folder: Path, monkeypatch) -> None:
    monkeypatch.setattr(parquet_folder, "NUMBERS", 600)
    table, asked = pq.read_table("whole.parquet"), Selection("grade", columns=("a", "b"))
    at = np.searchsorted(table["q"].to_numpy(), np.arange(0, 60, 5))
    Path("sorted").mkdir()
    with pq.ParquetWriter("sorted/a.parquet", table.schema) as file:
        for start, end in zip(at, [*at[1:], 4000], strict=True):
            file.write_table(table[start:end])
    found = read_parquet_folder("sorted", asked, qid="q")
    rows = found.rows(1)
    assert rows.parts == len(found.partitions) > 5 and rows.n == 4000
    split = read_parquet_folder("data", asked, qid="q")
    assert len(split.partitions) == 4  # row groups of 400 rows cut queries: files stay whole


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
