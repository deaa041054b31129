"""What is read: tables in every format, columns, labels, vectors, models of other programs."""

import csv
import decimal
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from aucert.validation.commands.inputs import row_counters
from aucert.validation.data.datasets import data_sha256
from aucert.validation.files.labels import Labels, two_classes
from aucert.validation.files.tables import Selection, read_raw, read_table
from aucert.validation.files.vectors import read_model_of_another, read_vector
from aucert.validation.files.written import write_json, write_vector
from loops import each, refuses
from on_disk import LIBLINEAR, SVM_RANK, write

X = np.array([[0.5, 2.0], [3.0, 4.0], [5.0, 6.25]])
LABELS = [1, 2, 1]
BIG = 2**53
NAMED = {"a": X[:, 0], "b": X[:, 1], "y": LABELS}
LINES = "".join(f"{k} 1:{a} 2:{b}\n" for (a, b), k in zip(X.tolist(), LABELS, strict=True))
SAME: dict[str, Any] = {
    **dict.fromkeys((".csv", ".csv.gz", ".CSV", ".parquet"), NAMED),
    **dict.fromkeys((".tsv", ".tsv.gz"), "a\tb\ty\n0.5\t2.0\t1\n3.0\t4.0\t2\n5.0\t6.25\t1\n"),
    **dict.fromkeys((".txt", ".libsvm", ".svm", ".svmlight", ".txt.gz", ".svm.gz"), LINES),
    ".npz": {"X": X, "y": LABELS},
}


def dense(rows: Any) -> np.ndarray:
    return rows.toarray() if sp.issparse(rows) else rows


@each("ending", SAME)
def test_every_format_gives_the_same_table(tmp_path: Path, ending: str) -> None:
    path = write(tmp_path / f"data{ending}", SAME[ending])
    rows, y, meta = read_table(path)
    assert np.array_equal(dense(rows), X) and dense(rows).flags.c_contiguous
    assert y.tolist() == [0, 1, 0] and y.dtype == np.int64 and len(meta.columns) == 2
    assert (meta.positive, meta.negative, meta.labels.values) == (2, 1, [1, 2])
    if not sp.issparse(rows):
        assert data_sha256(rows, y) == data_sha256(X, np.array([0, 1, 0]))
    _, y, meta = read_table(path, positive="1")
    assert y.tolist() == [1, 0, 1] and (meta.positive, meta.negative) == (1, 2)
    refuses("no class '3'; the classes are 1, 2", read_table, path, positive="3")
    chosen = read_raw(path, Selection(columns=(meta.columns[1],), labelled=False))
    assert np.array_equal(np.ravel(dense(chosen.X)), X[:, 1])


# Text to the rows, the labels in order of size, and the columns that it holds.
CSV: dict[str, tuple[list[list[float]], list[Any], list[str]]] = {
    "5.1,3.5,setosa\n4.9,3.0,virginica\n":
        ([[5.1, 3.5], [4.9, 3.0]], ["setosa", "virginica"], ["1", "2"]),
    "0,1,y\n5,6,0\n7,8,1\n": ([[5, 6], [7, 8]], [0, 1], ["0", "1"]),
    "a;y\n1.5;0\n2.5;1\n": ([[1.5], [2.5]], [0, 1], ["a"]),
    "a\ty\n1.5\t0\n2.5\t1\n": ([[1.5], [2.5]], [0, 1], ["a"]),
    "\ufeffa,y\r\n\r\n1,0\r\n   \r\n2,1": ([[1], [2]], [0, 1], ["a"]),
    "é,y\r1,0\r2,1\r": ([[1], [2]], [0, 1], ["é"]),
    '"a, b","y\nz"\n"1","p,q"\n2,"r\ns"\n': ([[1], [2]], ["p,q", "r\ns"], ["a, b"]),
    "column 1,column 2\n0,0\n1,1\n": ([[0], [1]], [0, 1], ["column 1"]),
    "a,b,y\n9007199254740994,1.2345678901234568e+20,0\n0.1,1e23,1\n":
        ([[BIG + 2.0, 1.2345678901234568e20], [0.1, 1e23]], [0, 1], ["a", "b"]),
    "a,y\n1,9007199254740993\n2,9007199254740992\n3,9007199254740993.0\n":
        ([[1], [2], [3]], [BIG, BIG + 1], ["a"]),
    "m,y\nyes,no\nNo,yes\nTRUE,no\n": ([[1], [0], [1]], ["no", "yes"], ["m"]),
}  # fmt: skip
SVMLIGHT: dict[str, tuple[list[list[float]], list[Any], list[str]]] = {
    "# made_by hand\n+1 1:2 3:4.5 # x\n\n-1 2:1e-3\n":
        ([[2, 0, 4.5], [0, 1e-3, 0]], [-1, 1], ["1", "2", "3"]),
    "1 1:2 # qid:3\n-1 1:3\n": ([[2], [3]], [-1, 1], ["1"]),
    "1 0:2 1:3\n0 1:4\n": ([[2, 3], [0, 4]], [0, 1], ["0", "1"]),
}  # fmt: skip


def test_text_as_it_comes(tmp_path: Path) -> None:
    tables = [("t.csv", CSV), ("t.svm", SVMLIGHT)]
    tables += [("t.tsv", {"a, b\ty\n1\t0\n2\t1\n": ([[1], [2]], [0, 1], ["a, b"])})]
    for name, table in tables:
        for text, (rows, labels, columns) in table.items():
            found = read_raw(write(tmp_path / name, text))
            assert (dense(found.X).tolist(), found.labels.values) == (rows, labels), text
            assert found.columns == columns


FINITE = st.floats(allow_nan=False, allow_infinity=False, width=64)
SHAPES = array_shapes(min_dims=2, max_dims=2, max_side=6)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    X=arrays(np.float64, SHAPES, elements=FINITE),
    header=st.booleans(),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    ends=st.sampled_from(["\n", "\r\n"]),
)
def test_written_text_reads_back_bit_for_bit(tmp_path, X, header, quoting, ends) -> None:
    with open(tmp_path / "data.csv", "w", newline="") as file:
        out = csv.writer(file, lineterminator=ends, quoting=quoting)
        if header:
            out.writerow([*(f"x{k}" for k in range(X.shape[1])), "y"])
        out.writerows([*map(repr, row), k % 2] for k, row in enumerate(X.tolist()))
    pairs = [" ".join(f"{j}:{v!r}" for j, v in enumerate(row, start=1)) for row in X.tolist()]
    write(tmp_path / "data.svm", "\n".join(f"{k % 2} {line}" for k, line in enumerate(pairs)))
    for name in ("data.csv", "data.svm"):
        table = read_raw(tmp_path / name)
        held = table.X.data if sp.issparse(table.X) else table.X  # in full, zeros too
        assert table.X.shape == X.shape and held.tobytes() == X.tobytes()
        assert table.labels.codes.tolist() == [k % 2 for k in range(len(X))]


def test_npz(tmp_path: Path) -> None:
    path = tmp_path / "t.npz"
    for dtype in ("float32", "int8", "uint16", "bool", ">f8", "float64"):
        held = np.asfortranarray(X.astype(dtype))
        table = read_raw(write(path, {"X": held, "y": LABELS, "n_train": 2, "X_test": X}))
        assert table.X.dtype == np.float64 and table.X.flags.c_contiguous
        assert np.array_equal(table.X, held.astype(float))
        assert (table.columns, table.ignored) == (["1", "2"], ["n_train", "X_test"])
    write(path, {"X": np.eye(2), "y": [BIG + 1, BIG], "group": ["u", "v"]})
    assert read_raw(path).labels.values == [BIG, BIG + 1]
    assert read_raw(path, Selection("group")).labels.values == ["u", "v"]
    held = {"X": [[1.0, 7], [2, 7]], "y": [0, 1], "q": [3, 4], "feature_names": ["a", "y"]}
    table = read_raw(write(path, held), Selection(extra=("y", "q")))  # a column of that name
    assert table.labels.values == [0, 1] and table.X.tolist() == [[1], [2]]
    assert {name: x.tolist() for name, x in table.extra.items()} == {"y": [7, 7], "q": [3, 4]}
    assert read_raw(path, Selection(columns=("y", "a"))).X.tolist() == [[7, 1], [7, 2]]


def test_parquet(tmp_path: Path) -> None:
    pa, path = pytest.importorskip("pyarrow"), tmp_path / "t.parquet"
    price = pa.array([decimal.Decimal("1.10"), decimal.Decimal("-2.25")])
    table = read_raw(write(path, {"a": [2**60, 3], "price": price, "y": [BIG, BIG + 1]}))
    assert table.X.tolist() == [[2.0**60, 1.1], [3.0, -2.25]]
    assert table.labels.values == [BIG, BIG + 1]
    for words in (pa.array(["u", "v", "u"]), pa.array(["u", "v", "u"]).dictionary_encode()):
        for kind in (words, words.cast("large_string")):
            held = {"y": kind, "a": [1, 2, 3], "b": [3, 4, 5]}
            table = read_raw(write(path, held), Selection("y"))
            assert (table.columns, table.labels.values) == (["a", "b"], ["u", "v"])
            assert table.labels.codes.tolist() == [0, 1, 0]
    many = np.random.default_rng(0).standard_normal((70_000, 2))
    y = np.arange(70_000) % 3
    table = read_raw(write(path, {"a": many[:, 0], "b": many[:, 1], "y": y}, row_group_size=9_000))
    assert table.X.tobytes() == many.tobytes() and np.array_equal(table.labels.codes, y)


HELD = {"id": ["k", "l"], "m": ["yes", "No"], "age": [31, 0], "paid": ["no", "yes"]}
CHOSEN: list[tuple[dict[str, Any], list[list[float]], str]] = [
    ({"drop": ("id",)}, [[1, 31], [0, 0]], "m,age|id"),
    ({"columns": ("age", "m")}, [[31, 1], [0, 0]], "age,m|id"),
    ({"columns": ("age", "m"), "drop": ("m",)}, [[31], [0]], "age|id,m"),
    ({"columns": ("age",), "labelled": False}, [[31], [0]], "age|id,m,paid"),
    ({"target": "id", "drop": ("paid",)}, [[1, 31], [0, 0]], "m,age|paid"),
    ({"extra": ("id",)}, [[1, 31], [0, 0]], "m,age|"),
    ({"extra": ("age",), "drop": ("id",)}, [[1], [0]], "m|id"),
]


@each("kind", ["csv", "parquet"])
def test_columns_are_chosen_left_out_and_ordered(tmp_path: Path, kind: str) -> None:
    path = write(tmp_path / f"t.{kind}", HELD)
    for asked, rows, columns in CHOSEN:
        table = read_raw(path, Selection(**asked))
        assert table.X.tolist() == rows, asked
        assert f"{','.join(table.columns)}|{','.join(table.ignored)}" == columns, asked
        extra = {name: HELD[name] for name in asked.get("extra", ())}
        assert {name: x.tolist() for name, x in table.extra.items()} == extra


@each("asked", [Selection(columns=("num",)), Selection(drop=("column 1", "pay"))])
@each("kind", ["csv", "parquet"])
def test_what_is_left_out_needs_no_name_of_its_own(tmp_path, asked: Selection, kind: str) -> None:
    content: Any = ",pay,num,pay,bought\n0,1,2,3,no\n1,4,5,6,yes\n"
    if kind == "parquet":
        held = [[0, 1], [1, 4], [2, 5], [3, 6], ["no", "yes"]]
        content = pytest.importorskip("pyarrow").table(held, ["", "pay", "num", "pay", "bought"])
    path = write(tmp_path / f"a.{kind}", content)
    assert read_table(path, asked)[0].tolist() == [[2], [5]]
    for wrong in (Selection(columns=("num", "pay")), Selection(target="pay")):
        refuses("two columns are called 'pay': name each column once", read_table, path, wrong)


def test_a_saved_row_index_with_a_name_is_told() -> None:
    X = np.array([np.arange(5, 30), np.arange(25) ** 2, np.arange(25)[::-1]]).T.astype(float)
    names = ["index", "square", "back"]
    assert row_counters(X, names) == ["index"] and row_counters(X[:19], names) == []
    X[7, 0] = 0  # the ends agree, what lies between does not
    assert row_counters(X, names) == []


def column(*texts: str) -> Labels:
    return Labels.of(texts, "f")


def test_the_positive_label() -> None:
    for texts, positive, wanted in (  # by default the larger one
        (("-1", "1", "1"), 1, [0, 1, 1]),
        (("9", "10", "9"), 10, [0, 1, 0]),  # as text, "9" would be the larger
        (("M", "B", "B"), "M", [1, 0, 0]),
    ):
        labels = column(*texts)
        y, one, zero = two_classes(labels, None, "f")
        assert y.tolist() == wanted and y.dtype == np.int64
        assert (one, zero) == (positive, next(v for v in labels.values if v != positive))
    y, one, zero = two_classes(column("a", "b", "c", "b"), "b", "f")
    assert (y.tolist(), one, zero) == ([0, 1, 0, 1], "b", None)
    for named in ("0", 0, 0.0, " 0.0 ", False, np.int8(0)):
        assert two_classes(column("0", "1", "1"), named, "f")[0].tolist() == [1, 0, 0]
    for held in (np.array([True, False, True]), np.array([1, 0, 1])):
        for named in ("True", True, "1", None):
            assert two_classes(Labels.of(held, "f"), named, "f")[0].tolist() == [1, 0, 1]
        assert two_classes(Labels.of(held, "f"), "false", "f")[0].tolist() == [0, 1, 0]
    labels = column("1", "1.0", " 1", "0", "-0.0")  # equal numbers are one class
    assert labels.values == [0, 1] and labels.codes.tolist() == [1, 1, 1, 0, 0]
    assert column("10", "9", "x", "x").values == ["10", "9", "x"]  # one text makes all of them text
    assert Labels.of(np.array([b"caf\xe9", b"x"]), "f").values == ["caf\\xe9", "x"]
    refuses("labels must be numbers or text", Labels.of, np.array([None, 1], dtype=object), "f")


W = np.array([1.5, -2.0, 1e-300])
TEXTS = [
    "1.5\n-2\n1e-300\n",
    "w\n1.5\n-2\n1e-300",
    "1.5,-2,1e-300\n",
    "a,b,c\n1.5,-2,1e-300\n",
    "1.5 -2 1e-300\n",
    "1.5;-2;1e-300",
    "1.5\t-2\t1e-300\r\n",
    '\ufeff"w"\r\n"1.5"\r\n\r\n"-2"\r\n"1e-300"\r\n',
    "the weights\n1.5,\n-2,\n1e-300,\n",
    "COEF_\n1.5,-2,1e-300\n",
    "decision_function\n1.5\n-2\n1e-300\n",
    "feature,weight\na,1.5\nb,-2\nc,1e-300\n",
    "a,1.5\nb,-2\nc,1e-300\n",
    "0,1,2\n1.5,-2,1e-300\n",
]


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(w=arrays(np.float64, st.integers(1, 20), elements=FINITE))
def test_a_written_vector_reads_back_bit_for_bit(tmp_path: Path, w: np.ndarray) -> None:
    for name in ("w.csv", "w.txt"):
        write_vector(tmp_path / name, w, "weight")
        assert read_vector(tmp_path / name).values.tobytes() == w.tobytes()


def test_one_row_or_column_in_every_form(tmp_path: Path) -> None:
    for text in TEXTS:
        for name in ("w.csv", "w.txt", "w.csv.gz"):
            found = read_vector(write(tmp_path / name, text))
            assert found.values.tolist() == W.tolist(), text
            named = "a,b,c\n" in text or "a,1" in text
            assert found.names == (["a", "b", "c"] if named else None), text
    of_r = write(tmp_path / "r.txt", '"feature" "weight"\n"mean radius" 1.5\n')
    assert read_vector(of_r).names == ["mean radius"]
    for shape in ((3,), (3, 1), (1, 3)):
        for dtype in ("float64", "float32", "int16"):
            w = np.array([1, -2, 3], dtype=dtype).reshape(shape)
            for name, content in (("w.npy", w), ("w.npz", {"any_name": w})):
                found = read_vector(write(tmp_path / name, content)).values
                assert found.tolist() == [1, -2, 3] and found.dtype == np.float64


def test_json_is_plain_and_nothing_is_half_written(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    for bad in (float("nan"), np.inf, [np.float64("nan")]):
        refuses("use null instead", write_json, path, {"gap": bad})
    assert os.listdir(tmp_path) == []
    document = {"gap": np.float64(1e-9), "n": np.int64(3), "w": np.array([1.0, 2.0]), "é": [None]}
    write_json(path, {**document, "path": Path("x")})
    text = path.read_text(encoding="utf-8")
    assert text.endswith("}\n") and "é" in text
    assert json.loads(text) == {"gap": 1e-9, "n": 3, "w": [1, 2], "é": [None], "path": "x"}


def test_the_weights_of_each_format_are_read(tmp_path: Path) -> None:
    booster = {"model": {"weights": [0.5, -2.0, 1e-3, 0.0]}, "name": "gblinear"}
    for file, text, size in (
        ("model", LIBLINEAR, 3),
        ("rank.model", LIBLINEAR.replace("bias -1", "bias 1") + "7\n", 4),
        ("windows.model", LIBLINEAR.replace("\n", "\r\n"), 3),
        ("model.dat", SVM_RANK, 3),
        ("model.json", json.dumps({"learner": {"gradient_booster": booster}}), 4),
    ):
        found: Any = read_model_of_another(write(tmp_path / file, text), 3)
        assert found.w.size == size and found.w[:3].tolist() == [0.5, -2.0, 1e-3]
    assert read_model_of_another(write(tmp_path / "w.txt", "0.5\n-2\n"), 2) is None
