"""Files that are refused: one sentence that names the file, and what is wrong where."""

from __future__ import annotations

import datetime
import gzip
import os
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aucert.exact.errors import InputError
from aucert.validation.files.tables import Selection, read_table
from aucert.validation.files.vectors import read_scores, read_vector

BIG = 2**53 + 1
CSV: dict[str | bytes, str] = {
    "age,y\n1,0\nold,1\n": "'old' in column 'age', row 3",
    "1,2,0\n3,x,1\n": "'x' in column '2', row 2",
    "age,7,y\n1,2,0\n": "'age' in column '1', row 1",
    "0,1,M\n5,6,M\n7,8,B\n": "'M' in row 1",
    "a,y\n1_000,0\n2,1\n": "'1_000' in column 'a', row 2",
    "a,y\n1,0\n１２,1\n": "row 3",
    "a;b;y\n1,5;2;0\n": "'1,5' in column 'a', row 2",
    'a;y\n"1.234,5";0\n2;1\n': "decimal point",
    "a,b,y\n1,2,0\n3,,1\n": "missing value in column 'b', row 3",
    "a,b,y\n1,2,0\n\n3,NA,1\n": "missing value in column 'b', row 4",
    "a,y\n?,0\n": "missing value in column 'a', row 2",
    "a,b,y\n1,-nan,0\n": "missing value in column 'b', row 2",
    "a,b,y\n1,2,0\n-inf,4,1\n": "infinite value in column 'a', row 3",
    "a,b,y\n1,2,0\n3,1e999,1\n": "infinite value in column 'b', row 3",
    f"a,b,y\n1,2,0\n\n2,{BIG},1\n": "column 'b', row 4 loses digits",
    f"a,b,y\n1,2,0\n2,-{BIG}.0,1\n": "column 'b', row 3 loses digits",
    "a,y\n1,0\n2,\n": "column 'y', row 3: missing",
    "a,y\n2,0\nyes,1\n": "words like 'yes'",
    "a,b,y\n1,2,0\n3,1\n": "row 3 has 2 fields",
    "a,b,y\n1,2,0\n3,4,5,1\n": "row 3 has 4 fields",
    "": "empty",
    "\n  \n\n": "empty",
    "a,b,y\n": "no rows",
    "y\n0\n1\n": "no feature columns",
    "a b y\n1 2 0\n": "commas",
    "a,y,\n1,0,\n": "column 3 has no name",
    "a,b,a,y\n1,2,3,0\n": "two columns are called 'a'",
    ",a,y\n0,1,0\n1,2,1\n": "column 1 has no name",
    'a,y\n1,0\n"2,1\n': "row 3 cannot be split",
    'a,y\n"1"5,0\n': "row 2 cannot be split",
    b"a,y\n1,caf\xe9\n": "row 2 is not UTF-8",
    "a,y\n1,0\n".encode("utf-16"): "row 1 is not UTF-8",
    "a,b,y\n1,2,0\n".encode("utf-16-le"): "zero bytes in row 1",
    b"PK\x03\x04\xff\xfe": "row 1 is not UTF-8",
    "a,y\n1,5\n2,5\n": "a single class, 5",
    "a,y\n1,u\n2,v\n3,w\n": "3 classes ('u', 'v', 'w')",
}
SVMLIGHT = {
    "": "empty",
    "\n# only words\n": "empty",
    "1\n0\n": "no feature columns",
    "1 1:2\n\nyes 1:2\n": "row 3 starts with 'yes'",
    "1 1:2\nnan 1:2\n": "row 2 starts with 'nan'",
    "1 1:2\n0 1:x\n": "row 2 holds '1:x'",
    "1 1:2\n0 1:1_0\n": "row 2 holds '1:1_0'",
    "1 1:2\n0 7\n": "row 2 holds '7'",
    "1 1:2\n0 -1:7\n": "row 2 holds '-1:7'",
    "1 1:2\n0 3:7 2:1\n": "row 2: index 2",
    "1 1:2\n0 3:7 3:1\n": "row 2: index 3",
    "1 1:2\n# x\n0 2:nan\n": "missing value in column '2', row 3",
    "1 1:2\n0 1:1 2:inf\n": "infinite value in column '2', row 2",
    "1 1:2\n0 99999999999999:1\n": "damaged",
    "1 1:2 # no qid:3 here\n-1 qid:7 2:1\n": "--qid",
    f"1 1:1\n-1 1:3 2:{BIG}\n": "column '2', row 2 loses digits",
    f"{BIG} 1:1\n1 1:3\n": "column 'label', row 1 loses digits",
}
X = np.array([[1.0, 2], [3, 4], [5, 6]])
Y = np.array([0, 1, 1])
HOLED = np.array([[1.0, 2], [3, 4], [5, np.nan]])
NPZ: list[tuple[dict[str, Any], str]] = [
    ({"x": X, "y": Y}, "no array 'X'"),
    ({"X": X, "label": Y}, "no array 'y'"),
    ({"X": X, "y": Y[:2]}, "(3, 2) and (2,)"),
    ({"X": X.ravel(), "y": Y}, "(6,) and (3,)"),
    ({"X": X, "y": Y[:, None]}, "(3, 2) and (3, 1)"),
    ({"X": X[:0], "y": Y[:0]}, "(0, 2)"),
    ({"X": X[:, :0], "y": Y}, "no feature columns"),
    ({"X": X.astype(str), "y": Y}, "numbers"),
    ({"X": X * 1j, "y": Y}, "numbers"),
    ({"X": X, "y": np.array([0, np.nan, 1])}, "row 2: missing"),
    ({"X": HOLED, "y": Y, "feature_names": ["h", "w"]}, "missing value in column 'w', row 3"),
    ({"X": np.where(X == 6, np.inf, X), "y": Y}, "infinite value in column '2', row 3"),
    ({"X": X, "y": Y, "feature_names": ["h"]}, "X has 2 columns"),
    ({"X": X, "y": Y, "feature_names": ["h", "h"]}, "called 'h'"),
    ({"X": np.array([[1, 2], [3, BIG]]), "y": [0, 1]}, "column '2', row 2 loses digits"),
    ({"X": np.array([[1], [BIG]], dtype="u8"), "y": [0, 1]}, "row 2 loses digits"),
    ({"X": np.array([[None]], dtype=object), "y": [0]}, "Python objects"),
]
DAYS = [datetime.date(2020, 1, 1)] * 2
PARQUET: list[tuple[dict[str, Any], str]] = [
    ({"a": [1, 2], "city": ["x", "y"], "y": [0, 1]}, "'x' in column 'city', row 1"),
    ({"a": [1.0, None], "y": [0, 1]}, "missing value in column 'a', row 2"),
    ({"a": [1.0, np.nan], "y": [0, 1]}, "missing value in column 'a', row 2"),
    ({"a": [1.0, np.inf], "y": [0, 1]}, "infinite value in column 'a', row 2"),
    ({"a": [1.0, 2.0], "y": [0, None]}, "column 'y', row 2: missing"),
    ({"a": [1.0, 2.0], "y": ["p", ""]}, "column 'y', row 2: missing"),
    ({"a": [[1], [2]], "y": [0, 1]}, "column 'a' holds list"),
    ({"day": DAYS, "y": [0, 1]}, "column 'day' holds date"),
    ({"y": [0, 1]}, "no feature columns"),
    ({"a": np.empty(0), "y": np.empty(0)}, "no rows"),
    ({"a": [1, BIG], "y": [0, 1]}, "column 'a', row 2 loses digits"),
    ({"a": np.array([1, BIG], dtype="u8"), "y": [0, 1]}, "column 'a', row 2 loses digits"),
]
CHOICES = {
    Selection(drop=("nme", "x")): "'nme', 'x'",
    Selection(columns=("aeg",)): "'age'",
    Selection(columns=("age", "age")): "twice",
    Selection(drop=("paid",)): "label column",
    Selection(drop=("id", "age")): "no feature columns",
    Selection(target="lable"): "'lable'",
}
VECTORS = {
    "": "no weights",
    "w\n": "no weights",
    "1\nx\n3\n": "'x' in row 2",
    "w\nv\n1\n": "'v' in row 2",
    "w\n1\n?\n": "missing value in row 3",
    "1\n2_0\n": "'2_0' in row 2",
    "1,x,3\n": "'x' in row 1",
    "1\nnan\n": "number 2",
    "w\n1\n-inf\n": "number 2",
    "1,2\n3,4\n": "row 2 is neither",
    "1\n2\n3,4\n": "row 3 is neither",
    "hello\n1\n2\n": "'hello' in row 1",
    "a,b\n1,2,3\n": "'a b' in row 1",
    f"1\n{BIG}\n": "row 2 loses digits",
}
ARRAYS: list[tuple[np.ndarray, str]] = [
    (np.ones((2, 2)), "(2, 2)"),
    (np.array(3.0), "()"),
    (np.array(["a", "b"]), "numbers"),
    (np.array([1j]), "numbers"),
    (np.array([1.0, np.nan]), "number 2"),
    (np.array([]), "no weights"),
    (np.array([1, BIG]), "place 1"),
    (np.array([None, 1], dtype=object), "Python objects"),
]


def refused(path: Path, said: str, *more: Any, read: Any = read_table) -> None:
    with pytest.raises(InputError) as error:
        read(path, *more)
    text = str(error.value)
    assert said in text and text.startswith(str(path)) and "\n" not in text, (path, text)
    assert "pickle" not in text


def test_tables_of_text(tmp_path: Path) -> None:
    for ending, table in (("csv", CSV), ("csv.gz", CSV), ("libsvm", SVMLIGHT)):
        path = tmp_path / f"data.{ending}"
        for text, said in table.items():
            content = text if isinstance(text, bytes) else text.encode()
            path.write_bytes(gzip.compress(content) if ending.endswith("gz") else content)
            refused(path, said)
    path.write_text("1 1:2\n")
    refused(path, "target", "y")
    path = tmp_path / "data.csv"
    path.write_text("y,a,b\n0,1,2\n1,3,inf\n")  # right of its labels
    refused(path, "infinite value in column 'b', row 3", "y")


def test_all_refused_columns_are_named_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a;b;c;d;y\n1,5;20.01.1993;;1'234,50;0\n2;3;4;5;1\n")
    for said in ("'1,5'", "'20.01.1993'", "missing", "--drop", "decimal point"):
        refused(path, said)
    path.write_text(",id,pay,pay,age,bought\n0,k1,1,2,31,no\n1,k2,3,4,,yes\n2,k3,5,6,44,no\n")
    for said in ("column 1 has no name", "called 'pay'", "--drop 'column 1,pay,id,age'"):
        refused(path, said)


def test_choices_of_columns(tmp_path: Path) -> None:
    path = tmp_path / "untidy.csv"
    path.write_text("id,age,paid\nk1,31,no\nk2,44,yes\n")
    for asked, said in CHOICES.items():
        refused(path, said, asked)


def test_arrays_of_npz_and_columns_of_parquet(tmp_path: Path) -> None:
    path = tmp_path / "data.npz"
    for arrays, said in NPZ:
        np.savez(path, **arrays)
        refused(path, said)
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "data.parquet"
    for columns, said in PARQUET:
        pq.write_table(pa.table(columns), path)
        refused(path, said)
    pq.write_table(pa.table([[1, 2], [3, 4], [0, 1]], names=["a", "a", "y"]), path)
    refused(path, "called 'a'")
    late = np.where(np.arange(150_000) == 140_000, np.nan, 1.0)
    held = {"a": pa.array(late, from_pandas=True), "y": np.arange(150_000) % 2}
    pq.write_table(pa.table(held), path)
    refused(path, "row 140001")


def test_vectors(tmp_path: Path) -> None:
    for text, said in VECTORS.items():
        (tmp_path / "w.csv").write_text(text)
        refused(tmp_path / "w.csv", said, read=read_vector)
    for values, said in ARRAYS:
        np.save(tmp_path / "w.npy", values)
        refused(tmp_path / "w.npy", said, read=read_vector)
    np.save(tmp_path / "s.npy", np.ones(3))
    refused(tmp_path / "s.npy", "5", 5, read=read_scores)
    np.savez(tmp_path / "two.npz", a=np.ones(2), b=np.ones(2))
    refused(tmp_path / "two.npz", "a, b", read=read_vector)
    (tmp_path / "text.npy").write_text("1 2 3\n")
    refused(tmp_path / "text.npy", "text", read=read_vector)
    (tmp_path / "renamed.npy").write_bytes((tmp_path / "two.npz").read_bytes())
    refused(tmp_path / "renamed.npy", "another name", read=read_vector)
    (tmp_path / "w.json").write_text("[1]")
    refused(tmp_path / "w.json", ".npy", read=read_vector)


def test_damaged_files_and_files_that_are_none(tmp_path: Path) -> None:
    names = ["a.csv.gz", "a.npz", "w.csv.gz", "w.npy"]
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"a,y\n" + b"1.5,0\n2.5,1\n" * 5000))
    np.savez_compressed(tmp_path / "a.npz", X=np.random.default_rng(0).random((500, 2)), y=Y)
    (tmp_path / "w.csv.gz").write_bytes(gzip.compress(b"1\n" * 5000))
    np.save(tmp_path / "w.npy", np.ones(3))
    if (pq := _parquet()) is not None:
        names.append("a.parquet")
        pq.write_table(_table(), tmp_path / "a.parquet", write_page_checksum=True)
    for name in names:
        path, read = tmp_path / name, read_vector if name[0] == "w" else read_table
        whole = path.read_bytes()
        flipped = bytearray(whole)
        flipped[len(whole) // 2] ^= 0xFF
        damaged = [b"\x01no", whole[: len(whole) // 2]]
        damaged += [bytes(flipped)] if name[0] == "a" else []
        for content in damaged:
            path.write_bytes(content)
            with pytest.raises(InputError, match=r"damaged|row|text|missing|infinite"):
                read(path)
        path.unlink()
        refused(path, "no such file", read=read)
        path.mkdir()
        refused(path, "folder", read=read)
    with zipfile.ZipFile(tmp_path / "b.npz", "w") as archive:
        archive.writestr("X.npy", "hello")
        archive.writestr("y.npy", "hello")
    refused(tmp_path / "b.npz", "damaged")
    (tmp_path / "b.npz").write_bytes(pickle.dumps({"X": 1}))
    refused(tmp_path / "b.npz", "damaged")
    (tmp_path / "data.xlsx").write_bytes(b"x")
    refused(tmp_path / "data.xlsx", ".csv")
    os.mkfifo(tmp_path / "pipe.csv")
    refused(tmp_path / "pipe.csv", "pipe")
    refused(Path("/dev/null"), "device")
    refused(Path("-"), "pipe")


def _parquet() -> Any:
    try:
        import pyarrow.parquet as pq
    except ImportError:
        return None
    return pq


def _table() -> Any:
    import pyarrow as pa

    return pa.table({"a": np.arange(1000.0), "y": np.arange(1000) % 2})


def test_without_pyarrow_the_extra_is_named(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "data.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(InputError, match=r"aucert\[parquet\]"):
        read_table(tmp_path / "data.parquet")
