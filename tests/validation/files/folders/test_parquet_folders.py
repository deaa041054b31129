"""Folders of Parquet files: read as a table is, wherever the rows are cut."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aucert.exact.api.solve import solve
from aucert.exact.errors import InputError
from aucert.validation.files import parquet_folder
from aucert.validation.files.parquet_folder import read_parquet_folder
from aucert.validation.files.tables import Selection, read_table
from loops import each

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def columns(n: int = 900, seed: int = 0) -> dict[str, Any]:
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
    whole = pa.table(table)
    for k, (start, stop) in enumerate(zip([0, *cuts], [*cuts, whole.num_rows], strict=True)):
        path = folder / f"deep={k}" if k % 2 else folder
        path.mkdir(parents=True, exist_ok=True)
        pq.write_table(whole[start:stop], path / f"part-{k}.parquet", row_group_size=group)
    (folder / "_metadata").write_text("nothing")
    return folder


def in_one_file(folder: Path, table: dict[str, Any]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(table), folder / "whole.parquet")
    return folder / "whole.parquet"


@each("numbers", [1, 1 << 22])
def test_a_folder_holds_the_numbers_of_a_table(
    tmp_path: Path, numbers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words, truth values, dictionaries and half precision, in row groups or in batches."""
    monkeypatch.setattr(parquet_folder, "PARTITION_NUMBERS", numbers)
    monkeypatch.setattr(parquet_folder, "GROUP_NUMBERS", numbers)
    monkeypatch.setattr(parquet_folder, "BATCH_ROWS", 33)
    table = columns()
    asked = Selection("y", drop=("w",))
    X, y, meta = read_table(in_one_file(tmp_path / "one", table), asked)
    found = read_parquet_folder(written(tmp_path / "many", table, [300, 301, 650]), asked)
    assert (found.columns, found.positive, found.negative, found.n) == (
        meta.columns,
        meta.positive,
        meta.negative,
        900,
    )
    blocks = [block for part in found.partitions for block in part.blocks()]
    rows = np.concatenate([block.columns.T for block in blocks])
    labels = np.concatenate([block.positive for block in blocks])
    order = _order_of(found, table)
    np.testing.assert_array_equal(rows, X[order])
    np.testing.assert_array_equal(labels, y[order] == 1)


def _order_of(found: Any, table: dict[str, Any]) -> np.ndarray:
    """Return where the rows of the folder stand in the table: its files are sorted by path."""
    bounds = {"part-0": (0, 300), "part-1": (300, 301), "part-2": (301, 650), "part-3": (650, 900)}
    names = dict.fromkeys(Path(part.path).stem for part in found.partitions)
    return np.concatenate([np.arange(*bounds[name]) for name in names])


def test_columns_and_weights_are_found_by_name(tmp_path: Path) -> None:
    table = columns()
    folder = written(tmp_path, table, [])
    found = read_parquet_folder(folder, Selection("y", columns=("e", "a")), weight="w")
    (first, *_) = [block for part in found.partitions for block in part.blocks()]
    np.testing.assert_array_equal(first.columns[1], table["a"][: first.positive.size])
    assert first.weight is not None
    rows = found.rows(1)
    assert rows.facts.mass.sum() == table["w"].sum()
    assert solve(rows, None, 0.1, tol=1e-3).status == "certified"


@each("labels", ["text", "number", "truth", "float", "dictionary"])
@each("positive", [None, "1"])
def test_labels_mean_what_they_mean_in_a_table(
    tmp_path: Path, labels: str, positive: str | None
) -> None:
    table = columns()
    bits = table["y"] == "yes"
    table["y"] = {
        "text": np.where(bits, "1.0", "0"),
        "number": bits.astype(np.uint8),
        "truth": bits,
        "float": bits.astype(np.float32),
        "dictionary": pa.array(np.where(bits, "1", "0")).dictionary_encode(),
    }[labels]
    _, y, meta = read_table(in_one_file(tmp_path / "one", table), "y", positive)
    found = read_parquet_folder(written(tmp_path / "many", table, []), "y", positive)
    assert (found.positive, found.negative) == (meta.positive, meta.negative)
    blocks = [block for part in found.partitions for block in part.blocks()]
    np.testing.assert_array_equal(np.concatenate([b.positive for b in blocks]), y == 1)


def test_one_class_against_the_rest(tmp_path: Path) -> None:
    table = columns()
    table["y"] = np.arange(900) % 3
    folder = written(tmp_path, table, [450])
    with pytest.raises(InputError, match="3 classes"):
        read_parquet_folder(folder, "y")
    found = read_parquet_folder(folder, "y", 1)
    assert found.rows(1).facts.n_pos == 300


@pytest.mark.slow
def test_several_processes_find_what_one_finds(tmp_path: Path) -> None:
    found = read_parquet_folder(written(tmp_path, columns(3000), [700, 900]), "y", weight="w")
    one, two = (solve(found.rows(jobs), None, 0.1, tol=1e-3) for jobs in (1, 2))
    np.testing.assert_array_equal(one.w, two.w)
    assert one.certificate == two.certificate


@each(
    ("what", "message"),
    [
        ("missing", r"part-1.parquet: missing value in column 'a', row 6"),
        ("nan", r"part-1.parquet: missing value in column 'a', row 6"),
        ("infinite", r"part-1.parquet: infinite value in column 'a', row 6"),
        ("text", r"part-1.parquet: text 'maybe' in column 'd', row 6"),
        ("digits", r"9007199254740993 in column 'b', row 6 loses digits"),
        ("label", r"part-1.parquet, column 'y', row 6: missing"),
        ("weight", r"part-1.parquet: the weight in column 'w', row 6"),
        ("column", r"part-1.parquet: no column 'b', which .*part-0.parquet has"),
        ("list", r"column 'b' holds list"),
        ("classes", r"1 class|a single class"),
        ("many", r"more than 1000 different values"),
        ("damaged", r"damaged, or not a readable Parquet file"),
        ("target", r"no column 'z'"),
        ("empty", r"no rows"),
        ("files", r"no Parquet files in this folder"),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path: Path, what: str, message: str) -> None:
    folder, table = tmp_path / "data", columns()
    second = {name: list(np.asarray(column)) for name, column in columns(seed=1).items()}
    if what == "missing":
        second["a"][5] = None
    if what in ("nan", "infinite"):
        second["a"][5] = np.nan if what == "nan" else np.inf
    if what == "text":
        second["d"][5] = "maybe"
    if what == "digits":
        second["b"][5] = 2**53 + 1
    if what == "label":
        second["y"][5] = None
    if what == "weight":
        second["w"][5] = -1
    if what == "column":
        del second["b"]
    if what == "list":
        second["b"] = [[1]] * 900
    if what == "classes":
        table["y"] = second["y"] = ["yes"] * 900
    if what == "many":
        second["y"] = [str(k) for k in range(900)]
        table["y"] = [str(-k) for k in range(900)]
    folder.mkdir()
    if what != "files":
        pq.write_table(pa.table(table)[: 0 if what == "empty" else 900], folder / "part-0.parquet")
        if what != "empty":
            pq.write_table(pa.table(second), folder / "part-1.parquet")
    if what == "damaged":
        path = folder / "part-1.parquet"
        path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InputError, match=message):
        read_parquet_folder(folder, "z" if what == "target" else "y", weight="w").rows(1)


def test_a_file_that_changes_between_passes_is_noticed(tmp_path: Path) -> None:
    rows = read_parquet_folder(written(tmp_path, columns(3000), [1000]), "y", weight="w").rows(1)
    table = columns(3000)
    table["a"][1500] += 1
    written(tmp_path, table, [1000])
    with pytest.raises(InputError, match="changed while it was worked with"):
        solve(rows, None, 0.1)


def test_paths_of_fsspec_are_read_where_it_is_installed(tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    folder = written(tmp_path, columns(), [300])
    found = read_parquet_folder(f"file://{folder}", "y", weight="w")
    assert found.rows(1).n == 900
    with pytest.raises(InputError, match="reading nonsense:// needs fsspec"):
        read_parquet_folder("nonsense://bucket/folder", "y")
