"""Files that are refused: one sentence that names the file, and what is wrong where."""

import datetime
import importlib.util
import os
import pickle
import shlex
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aucert.exact.errors import InputError
from aucert.validation.commands.inputs import split_names
from aucert.validation.files.labels import MAX_CLASSES
from aucert.validation.files.parquet_folder import read_parquet_folder
from aucert.validation.files.tables import Selection, read_table
from aucert.validation.files.vectors import read_model_of_another, read_scores, read_vector
from loops import each, refuses
from on_disk import LIBLINEAR, SVM_RANK, write

BIG = 2**53 + 1
CSV: dict[str | bytes, str] = {
    "age,y\n1,0\nold,1\n": "'old' in column 'age', row 3",
    "age,7,y\n1,2,0\n": "'age' in column '1', row 1",
    "0,1,M\n5,6,M\n7,8,B\n": "'M' in row 1",
    "a,y\n1_000,0\n2,1\n": "'1_000' in column 'a', row 2",
    "a,y\n1,0\n１２,1\n": "row 3",
    "a;b;y\n1,5;2;0\n": "'1,5' in column 'a', row 2",
    'a;y\n"1.234,5";0\n2;1\n': "decimal point",
    "a,b,y\n1,2,0\n3,,1\n": "missing value in column 'b', row 3",
    "a,b,y\n1,-nan,0\n": "missing value in column 'b', row 2",
    "a,b,y\n1,2,0\n3,1e999,1\n": "infinite value in column 'b', row 3",
    f"a,b,y\n1,2,0\n\n2,{BIG},1\n": "column 'b', row 4 loses digits",
    f"a,b,y\n1,2,0\n2,-{BIG}.0,1\n": "column 'b', row 3 loses digits",
    "a,y\n1,0\n2,\n": "column 'y', row 3: missing",
    "a,y\n1,0\n2,N/A\n": "column 'y', row 3: missing",
    "a,y\n2,0\nyes,1\n": "words like 'yes'",
    "a,b,y\n1,2,0\n3,1\n": "row 3 has 2 fields",
    "": "empty",
    "a,b,y\n": "no rows",
    "y\n0\n1\n": "no feature columns",
    "a b y\n1 2 0\n": "commas",
    "a,y,\n1,0,\n": "--drop 'column 3'",
    "a,b,a,y\n1,2,3,0\n": "two columns are called 'a'",
    ",a,y\n0,1,0\n1,2,1\n": "column 1 has no name",
    ",id,pay,pay,age,y\n0,k,1,2,3,0\n": "--drop 'column 1,pay,id'",
    "a;b;c;y\n1,5;;20.01.93;0\n": "missing value in column 'b', row 2; text '20.01.93'",
    'a,y\n1,0\n"2,1\n': "row 3 cannot be split",
    b"a,y\n1,0\n2,caf\xe9\n": "row 3 is not UTF-8",
    "a,y\n1,0\n".encode("utf-16"): "iconv -f UTF-16",
    "a,b,y\n1,2,0\n".encode("utf-16-le"): "zero bytes in row 1",
    "a,y\n1,0\n".encode("utf-32"): "iconv -f UTF-32",
    b"\x1f\x8b\x08": "let its name end as its kind does",
    b"PK\x03\x04\xff\xfe": "let its name end as its kind does",
    "a,y\n1,u\n2,v\n3,w\n": "3 classes ('u', 'v', 'w')",
    "a,y\n" + "".join(f"1,{k / 7}\n" for k in range(MAX_CLASSES + 1)): "more than 1000 different",
}
SVMLIGHT = {
    "": "empty",
    "1\n0\n": "no feature columns",
    "1 1:2\n\nyes 1:2\n": "row 3 starts with 'yes'",
    "1 1:2\n0 1:x\n": "row 2 holds '1:x'",
    "1 1:2\n0 1:1_0\n": "row 2 holds '1:1_0'",
    "1 1:2\n0 -1:7\n": "row 2 holds '-1:7'",
    "1 1:2\n0 3:7 2:1\n": "row 2: index 2",
    f"1 1:2\n0 {'9' * 5000}:1\n": "row 2 holds",
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
NPZ: list[tuple[Any, str]] = [
    ({"x": X, "y": Y}, "no array 'X'"),
    ({"X": X, "label": Y}, "no array 'y'"),
    ({"X": X, "y": Y[:2]}, "(2,)"),
    ({"X": X.ravel(), "y": Y}, "(6,)"),
    ({"X": X[:0], "y": Y[:0]}, "(0, 2)"),
    ({"X": X[:, :0], "y": Y}, "no feature columns"),
    ({"X": X.astype(str), "y": Y}, "numbers"),
    ({"X": X, "y": np.array([0, np.nan, 1])}, "row 2: missing"),
    ({"X": HOLED, "y": Y, "feature_names": ["h", "w"]}, "missing value in column 'w', row 3"),
    ({"X": np.where(X == 6, np.inf, X), "y": Y}, "infinite value in column '2', row 3"),
    ({"X": X, "y": Y, "feature_names": ["h"]}, "X has 2 columns"),
    ({"X": np.array([[1, 2], [3, BIG]]), "y": [0, 1]}, "column '2', row 2 loses digits"),
    ({"X": np.array([[1], [BIG]], dtype="u8"), "y": [0, 1]}, "row 2 loses digits"),
    ({"X": np.array([["1e3999"]]).astype("g"), "y": [0]}, "row 1 overflows float64: rescale"),
    ({"X": np.array([[None]], dtype=object), "y": [0]}, "Python objects"),
    ({"X": np.ones((1001, 1)), "y": np.arange(1001) / 7}, "more than 1000 different"),
]
PARQUET: list[tuple[Any, str]] = [
    ({"a": [1, 2], "city": ["x", "y"], "y": [0, 1]}, "'x' in column 'city', row 1"),
    ({"a": [1.0, None], "y": [0, 1]}, "missing value in column 'a', row 2"),
    ({"a": [1.0, np.inf], "y": [0, 1]}, "infinite value in column 'a', row 2"),
    ({"a": np.where(np.arange(70_000) == 66_000, np.nan, 1), "y": Y[[0] * 70_000]}, "row 66001"),
    ({"a": [1.0, 2.0], "y": [0, None]}, "column 'y', row 2: missing"),
    ({"a": [[1], [2]], "y": [0, 1]}, "column 'a' holds list"),
    ({"day": [datetime.date(2020, 1, 1)] * 2, "y": [0, 1]}, "column 'day' holds date"),
    ({"y": [0, 1]}, "no feature columns"),
    ({"a": np.empty(0), "y": np.empty(0)}, "no rows"),
    ({"a": [1, BIG], "y": [0, 1]}, "column 'a', row 2 loses digits"),
]
VECTORS = {
    "": "no weights",
    "w\nv\n1\n": "'v' in row 2",
    "w\n1\n?\n": "missing value in row 3",
    "1,x,3\n": "'x' in row 1",
    "1\nnan\n": "number 2",
    "a,1\nb,nan\n": "'b'",
    "1,2\n3,4\n": "row 2 is neither",
    "1\n2\n3,4\n": "row 3 is neither",
    "a,b\n1,2,3\n": "'a b' in row 1",
    f"1\n{BIG}\n": "row 2 loses digits",
}
ARRAYS: list[tuple[Any, str]] = [
    (np.ones((2, 2)), "(2, 2)"),
    (np.array(3.0), "()"),
    (np.array(["a", "b"]), "numbers"),
    (np.array([1.0, np.nan]), "number 2"),
    (np.array([]), "no weights"),
    (np.array([1, BIG]), "place 1"),
    (np.array([None, 1], dtype=object), "Python objects"),
]
XGBOOST = '{"learner": {"gradient_booster": {"model": {"weights": [1.5]}, "name": "gblinear"}}}'
MODELS = {
    LIBLINEAR.replace("w\n", ""): "the line 'w'",
    LIBLINEAR + "4\n": "4 weights where 3 are declared",
    LIBLINEAR.replace("-2 ", "1 2"): "several weights per feature",
    LIBLINEAR.replace("-2 ", "two"): "'two' among the weights",
    LIBLINEAR.replace("-2 ", "nan"): "weight 2 is nan",
    LIBLINEAR.replace("nr_feature 3", "nr_feature inf"): "must be numbers",
    LIBLINEAR.replace("nr_feature 3", "nr_feature 2").replace("-2 \n", ""): "2 features",
    SVM_RANK.replace("0 # kernel type", "2 # kernel type"): "kernel is not linear",
    SVM_RANK.replace("3:1e-3", "4:1"): "feature 4, but the data have 3",
    SVM_RANK.replace("3:1e-3", "0:1"): "not an index:value",
    SVM_RANK + "1 1:2\n": "3 support vectors where 2",
    SVM_RANK.partition("3 # number")[0]: "not complete",
    '{"learner": {"gradient_booster": {"model": {}, "name": "gbtree"}}}': "is gbtree, which has no",
    XGBOOST.replace("1.5", '"1"'): "list",
    XGBOOST.replace("1.5", str(10**400)): "too large",
    SVM_RANK.replace("3:1e-3", "\u00b2:1"): "not an index:value",
    "{}": "not a model of XGBoost",
    "{": "damaged, or not a readable JSON file",
    "tree\nversion=v4\nnum_class=1\n": "LightGBM's models are trees",
}
FIRST = Selection("a")
UNTIDY = "id,age,paid\nk1,31,no\nk2,44,yes\n"
CHOICES = {
    Selection(drop=("nme", "x")): "'nme', 'x'",
    Selection(columns=("aeg",)): "age?",
    Selection(columns=("age", "age")): "twice",
    Selection(drop=("paid",)): "label column",
    Selection(drop=("id", "age")): "no feature columns",
    Selection(target="lable"): "'lable'",
    Selection(extra=("paid",)): "label column",
    Selection(extra=("age",), columns=("age",)): "'age'",
}
OTHERS: list[tuple[str, str | bytes, str]] = [
    ("a.xlsx", "x", ".csv"),
    ("a.npz", pickle.dumps({"X": 1}), "damaged"),
    ("w.npy", "1 2 3\n", "text"),
    ("w.npy", b"PK\x03\x04 and so on", "another name"),
    ("w.npy", b"", "damaged"),
    ("w.json", "[1]", ".npy"),
]


def refused(path: Path, said: str, read: Any = read_table, *more: Any) -> None:
    with pytest.raises(InputError) as error:
        read(path, *more)
    text = str(error.value)
    assert said in text and text.startswith(str(path)) and "\n" not in text, (path, text)
    assert "pickle" not in text


# Files with one good feature, a, and the others that are refused.
SPOILT: dict[str, tuple[Any, str]] = {
    "a.csv": ("a,gap,word,mix,big,gap,,y\n1,,x,yes,9,1,1,0\n2,2,y,3,9007199254740993,1,1,1\n",
              "gap,column 7,word,mix,big"),
    "a.npz": ({"X": [[1, np.nan, np.inf], [2, 3, 4]], "y": [0, 1], "feature_names": list("abc")},
              "b,c"),
    "a.svm": ("0 1:1 2:nan 4:1\n1 1:2 2:1 3:inf 4:9007199254740993\n", "2,3,4"),
    "a.parquet": ({"a": [1.0, 2], "gap": [None, 2.0], "nan": [np.nan, 1], "big": [1, BIG],
                   "list": [[1], [2]], "word": ["x", "y"], "y": [0, 1]}, "list,gap,nan,big,word"),
}  # fmt: skip
WHOLE = {"a": [1.0, 2], "gap": [None, 2.0], "inf": [1.0, 2], "list": [1, 2], "y": [0, 1]}
PARTS = [
    WHOLE | {"gone": [1, 2]},
    {"a": [3.0, 4], "gap": [1.0, None], "inf": [np.inf, 2], "list": [[1], [2]], "y": [0, 1]},
]


def in_a_folder(path: Path, asked: Selection) -> Any:
    found = read_parquet_folder(path, asked)
    return found.rows(1), None, found


@each("name", [*SPOILT, "folder"])
def test_all_bad_columns_are_named_and_the_offered_drop_works(tmp_path: Path, name: str) -> None:
    read, target = read_table, None if name.endswith("svm") else "y"
    if name == "folder":
        read, bad = in_a_folder, "list,gone,gap,inf"
        (tmp_path / name).mkdir()
        for k, part in enumerate(PARTS):
            write(tmp_path / name / f"{k}.parquet", part)
    else:
        content, bad = SPOILT[name]
        write(tmp_path / name, content)
    with pytest.raises(InputError) as error:
        read(tmp_path / name, Selection(target))
    assert "\n" not in str(error.value)
    drop = split_names(shlex.split(str(error.value).partition(" --drop ")[2])[0])
    assert drop is not None and drop == split_names(bad)
    table = read(tmp_path / name, Selection(target, drop=drop))[2]
    assert len(table.columns) == 1


@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("a.csv", CSV.items()),
        ("a.csv.gz", CSV.items()),
        ("a.libsvm", SVMLIGHT.items()),
        ("a.npz", NPZ),
        ("a.parquet", PARQUET),
        ("w.csv", VECTORS.items()),
        ("w.npy", ARRAYS),
        ("m.json", MODELS.items()),
    ],
)
def test_a_bad_file_is_one_sentence(tmp_path: Path, name: str, table: Any) -> None:
    more = (3,) if name[0] == "m" else ()
    read = {"a": read_table, "w": read_vector, "m": read_model_of_another}[name[0]]
    for content, said in table:
        refused(write(tmp_path / name, content), said, read, *more)


def test_a_choice_or_a_form_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    for asked, said in CHOICES.items():
        refused(write(tmp_path / "untidy.csv", UNTIDY), said, read_table, asked)
    refused(write(tmp_path / "a.csv", "a,b\n0,1\n1,inf\n"), "'b', row 3", read_table, FIRST)
    refused(write(tmp_path / "a.svm", "1 1:2\n"), "target", read_table, Selection("y"))
    refused(write(tmp_path / "s.npy", np.ones(3)), "5", read_scores, 5)
    refused(write(tmp_path / "two.npz", {"a": X, "b": X}), "a, b", read_vector)
    for name, content, said in OTHERS:
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
        refused(tmp_path / name, said, read_vector if name[0] == "w" else read_table)
    with zipfile.ZipFile(tmp_path / "b.npz", "w") as archive:
        archive.writestr("X.npy", "hello")
        archive.writestr("y.npy", "hello")
    refused(tmp_path / "b.npz", "array 'X'")
    os.mkfifo(tmp_path / "pipe.csv")
    for path, said in ((tmp_path / "pipe.csv", "pipe"), ("/dev/null", "device"), ("-", "pipe")):
        refused(Path(path), said)
    pa = pytest.importorskip("pyarrow")
    twice = pa.table([[1, 2], [3, 4], [0, 1]], names=["a", "a", "y"])
    refused(write(tmp_path / "a.parquet", twice), "called 'a'")


def test_damaged_files_and_files_that_are_none(tmp_path: Path) -> None:
    write(tmp_path / "a.csv.gz", "a,y\n" + "1.5,0\n2.5,1\n" * 5000)
    np.savez_compressed(tmp_path / "a.npz", X=np.random.default_rng(0).random((500, 2)), y=Y)
    write(tmp_path / "w.csv.gz", "1\n" * 5000)
    write(tmp_path / "w.npy", np.ones(3))
    if importlib.util.find_spec("pyarrow"):
        held = {"a": np.arange(1000.0), "y": np.arange(1000) % 2}
        write(tmp_path / "a.parquet", held, write_page_checksum=True)
    for path in sorted(tmp_path.iterdir()):
        read, whole = read_vector if path.name[0] == "w" else read_table, path.read_bytes()
        flipped = bytearray(whole)
        flipped[len(whole) // 2] ^= 0xFF
        damaged = [b"\x01no", whole[: len(whole) // 2]]
        damaged += [bytes(flipped)] if path.name[0] == "a" else []
        for content in damaged:
            path.write_bytes(content)
            refuses(r"damaged|row|text|missing|infinite", read, path)
        path.unlink()
        refused(path, "no such file", read)
        path.mkdir()
        refused(path, "folder", read)


def test_without_pyarrow_the_extra_is_named(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "data.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    refuses(r"aucert\[parquet\]", read_table, tmp_path / "data.parquet")
