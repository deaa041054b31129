"""What is read of tables: one form for every format, columns chosen and left out, labels."""

from __future__ import annotations

import csv
import decimal
import gzip
import shlex
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from aucert.exact.errors import InputError
from aucert.validation.commands.inputs import row_counters, split_names
from aucert.validation.data.labelled_data import data_sha256
from aucert.validation.files.labels import MAX_CLASSES, LabelColumn, Labels, two_classes
from aucert.validation.files.tables import Selection, read_raw, read_table
from loops import each

X = np.array([[0.5, 2.0], [3.0, 4.0], [5.0, 6.25]])
LABELS = [1, 2, 1]
BIG = 2**53


def write(path: Path, content: Any) -> Path:
    """Write text, the arrays of an npz file, or the columns of a Parquet file."""
    if path.suffix == ".npz":
        np.savez(path, **content)
    elif path.suffix == ".parquet":
        pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        table = pa.table(content) if isinstance(content, dict) else pa.table(*content)
        pq.write_table(table, path, row_group_size=9_000)
    else:
        path.write_bytes(
            gzip.compress(content.encode()) if path.suffix == ".gz" else content.encode()
        )
    return path


def save(folder: Path, ending: str) -> Path:
    """The same small table in the given format."""
    rows = [(*map(repr, row), k) for row, k in zip(X.tolist(), LABELS, strict=True)]
    content: Any = "\n".join(f"{k} 1:{a} 2:{b}" for a, b, k in rows)
    if ending == ".npz":
        content = {"X": X, "y": LABELS}
    elif ending == ".parquet":
        content = {"a": X[:, 0], "b": X[:, 1], "y": LABELS}
    elif "sv" in ending.lower() and "svm" not in ending:
        mark = "\t" if "tsv" in ending else ","
        content = "\n".join(mark.join(map(str, row)) for row in [("a", "b", "y"), *rows])
    return write(folder / f"data{ending}", content)


TEXT = [".csv", ".tsv", ".txt", ".libsvm", ".svm", ".svmlight"]


@each("ending", [*TEXT, *(f"{e}.gz" for e in TEXT), ".CSV", ".npz", ".parquet"])
def test_every_format_gives_the_same_table(tmp_path: Path, ending: str) -> None:
    path = save(tmp_path, ending)
    rows, y, meta = read_table(path)
    dense = rows.toarray() if sp.issparse(rows) else rows
    assert np.array_equal(dense, X) and dense.flags.c_contiguous
    assert y.tolist() == [0, 1, 0] and y.dtype == np.int64 and len(meta.columns) == 2
    assert (meta.positive, meta.negative, meta.labels.counts()) == (2, 1, {1: 2, 2: 1})
    if not sp.issparse(rows):
        assert data_sha256(rows, y) == data_sha256(X, np.array([0, 1, 0]))
    _, y, meta = read_table(path, positive="1")
    assert y.tolist() == [1, 0, 1] and (meta.positive, meta.negative) == (1, 2)
    with pytest.raises(InputError, match="no class '3'; the classes are 1, 2"):
        read_table(path, positive="3")
    # What is left out may be bad, and needs no labels.
    chosen = read_raw(path, Selection(columns=(meta.columns[1],), labelled=False, target=None))
    assert np.array_equal(np.ravel(chosen.X.toarray() if sp.issparse(rows) else chosen.X), X[:, 1])
    if ending.endswith(".gz"):
        path.write_bytes(path.read_bytes()[:-9])
        with pytest.raises(InputError, match="damaged"):
            read_table(path)


# Text to the rows, the labels in order of size, and the columns that it holds.
CSV = {
    "5.1,3.5,setosa\n4.9,3.0,virginica\n": (
        [[5.1, 3.5], [4.9, 3.0]],
        ["setosa", "virginica"],
        ["1", "2"],
    ),
    "0,1,y\n5,6,0\n7,8,1\n": ([[5, 6], [7, 8]], [0, 1], ["0", "1"]),
    "a;y\n1.5;0\n2.5;1\n": ([[1.5], [2.5]], [0, 1], ["a"]),
    "a\ty\n1.5\t0\n2.5\t1\n": ([[1.5], [2.5]], [0, 1], ["a"]),
    "\ufeffa,y\r\n\r\n1,0\r\n   \r\n2,1": ([[1], [2]], [0, 1], ["a"]),
    '"a, b","y\nz"\n"1","p,q"\n2,"r\ns"\n': ([[1], [2]], ["p,q", "r\ns"], ["a, b"]),
    "column 1,column 2\n0,0\n1,1\n": ([[0], [1]], [0, 1], ["column 1"]),
    "a,b,y\n9007199254740994,1.2345678901234568e+20,0\n0.1,1e23,1\n": (
        [[BIG + 2.0, 1.2345678901234568e20], [0.1, 1e23]],
        [0, 1],
        ["a", "b"],
    ),
    "a,y\n1,9007199254740993\n2,9007199254740992\n3,9007199254740993.0\n": (
        [[1], [2], [3]],
        [BIG, BIG + 1],
        ["a"],
    ),
    "m,y\nyes,no\nNo,yes\nTRUE,no\n": ([[1], [0], [1]], ["no", "yes"], ["m"]),
}


def test_csv_as_it_comes(tmp_path: Path) -> None:
    for text, (rows, labels, columns) in CSV.items():
        table = read_raw(write(tmp_path / "t.csv", text))
        assert (table.X.tolist(), table.labels.values, table.columns) == (rows, labels, columns)
    path = write(tmp_path / "t.tsv", "a, really\ty\n1\t0\n2\t1\n")
    assert read_raw(path).columns == ["a, really"]


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


def test_svmlight(tmp_path: Path) -> None:
    for text, rows, labels in (
        ("# made_by hand\n+1 1:2 3:4.5 # x\n\n-1 2:1e-3\n", [[2, 0, 4.5], [0, 1e-3, 0]], [-1, 1]),
        ("1 1:2 # qid:3\n-1 1:3\n", [[2], [3]], [-1, 1]),
        ("1 0:2 1:3\n0 1:4\n", [[2, 3], [0, 4]], [0, 1]),
    ):
        table = read_raw(write(tmp_path / "t.svm", text))
        assert table.X.format == "csr" and table.X.toarray().tolist() == rows
        assert table.labels.values == labels
    X, _, meta = read_table(tmp_path / "t.svm", Selection(drop=("0",)))
    assert X.toarray().tolist() == [[3], [4]] and meta.ignored == ["0"]


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
    assert read_raw(path, "group").labels.values == ["u", "v"]
    write(path, {"X": [[1.0, np.nan], [2.0, 1.0]], "y": [0, 1], "feature_names": ["a", "b"]})
    rows, _, meta = read_table(path, Selection(drop=("b",)))
    assert rows.tolist() == [[1], [2]] and meta.columns == ["a"]


def test_parquet(tmp_path: Path) -> None:
    pa, path = pytest.importorskip("pyarrow"), tmp_path / "t.parquet"
    price = pa.array([decimal.Decimal("1.10"), decimal.Decimal("-2.25")])
    table = read_raw(write(path, {"a": [2**60, 3], "price": price, "y": [BIG, BIG + 1]}))
    assert table.X.tolist() == [[2.0**60, 1.1], [3.0, -2.25]]
    assert table.labels.values == [BIG, BIG + 1]
    for words in (pa.array(["u", "v", "u"]), pa.array(["u", "v", "u"]).dictionary_encode()):
        for kind in (words, words.cast("large_string")):
            table = read_raw(write(path, {"y": kind, "a": [1, 2, 3], "b": [3, 4, 5]}), "y")
            assert (table.columns, table.labels.values) == (["a", "b"], ["u", "v"])
            assert table.labels.codes.tolist() == [0, 1, 0]
    held = {"s": ["u", "v"], "m": ["yes", "no"], "b": [True, False], "y": [False, True]}
    rows, y, meta = read_table(write(path, held), Selection(drop=("s",)))
    assert rows.tolist() == [[1, 1], [0, 0]] and y.tolist() == [0, 1] and meta.ignored == ["s"]
    many = np.random.default_rng(0).standard_normal((70_000, 2))
    y = np.arange(70_000) % 3
    table = read_raw(write(path, {"a": many[:, 0], "b": many[:, 1], "y": y}))
    assert table.X.tobytes() == many.tobytes() and np.array_equal(table.labels.codes, y)


def test_columns_are_chosen_left_out_and_ordered(tmp_path: Path) -> None:
    text = "id,member,age,city,paid\nk1,yes,31,Bern,no\nk2,No,44,Rome,yes\nk3,TRUE,0,Bern,no\n"
    path = write(tmp_path / "t.csv", text)
    X, y, meta = read_table(path, Selection(drop=("id", "city")))
    assert X.tolist() == [[1, 31], [0, 44], [1, 0]] and y.tolist() == [0, 1, 0]
    assert meta.columns == ["member", "age"] and meta.ignored == ["id", "city"]
    table = read_raw(path, Selection(columns=("age", "member"), labelled=False))
    assert table.columns == ["age", "member"] and table.X.tolist() == [[31, 1], [44, 0], [0, 1]]
    assert table.ignored == ["id", "city", "paid"]
    X, y, meta = read_table(write(path, "a,b,y\n1,2,0\n3,4,1\n"), target="a")
    assert (X.tolist(), y.tolist(), meta.positive) == ([[2, 0], [4, 1]], [0, 1], 3)
    assert (meta.columns, meta.target) == (["b", "y"], "a")


@each("asked", [Selection(columns=("num",)), Selection(drop=("column 1", "pay"))])
@each("kind", ["csv", "parquet"])
def test_what_is_left_out_needs_no_name_of_its_own(
    tmp_path: Path, asked: Selection, kind: str
) -> None:
    content: Any = ",pay,num,pay,bought\n0,1,2,3,no\n1,4,5,6,yes\n"
    if kind == "parquet":
        held = [[0, 1], [1, 4], [2, 5], [3, 6], ["no", "yes"]]
        content = (held, ["", "pay", "num", "pay", "bought"])
    path = write(tmp_path / f"a.{kind}", content)
    assert read_table(path, asked)[0].tolist() == [[2], [5]]
    assert read_raw(path, Selection(columns=("num",), labelled=False)).X.tolist() == [[2], [5]]
    for wrong in (Selection(columns=("num", "pay")), Selection(target="pay")):
        with pytest.raises(InputError, match="two columns are called 'pay': name each column once"):
            read_table(path, wrong)


def test_the_advice_can_be_pasted_into_a_shell(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", '"when, (UTC)",who\'s,x,y\nnoon,I,1,0\nnight,you,2,1\n')
    with pytest.raises(InputError) as error:
        read_table(path)
    option, value = shlex.split(str(error.value).rpartition("columns out with ")[2])
    assert option == "--drop" and split_names(value) == ("when, (UTC)", "who's")
    assert read_table(path, Selection(drop=split_names(value) or ()))[0].shape[1] == 1


def test_a_saved_row_index_with_a_name_is_told() -> None:
    X = np.array([np.arange(5, 30), np.arange(25) ** 2, np.arange(25)[::-1]]).T.astype(float)
    names = ["index", "square", "back"]
    assert row_counters(X, names) == ["index"] and row_counters(X[:19], names) == []
    X[7, 0] = 0  # the ends agree, what lies between does not
    assert row_counters(X, names) == []


@pytest.mark.slow
def test_memory_stays_below_four_times_the_data(tmp_path: Path) -> None:
    X = np.random.default_rng(0).standard_normal((60_000, 3))
    lines = [",".join(map(repr, [*row, k % 2])) for k, row in enumerate(X.tolist())]
    path = write(tmp_path / "t.csv", "a,b,c,y\n" + "\n".join(lines) + "\n")
    del lines
    tracemalloc.start()
    try:
        table = read_raw(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert np.array_equal(table.X, X)
    assert peak < 4 * X.nbytes


# Labels


def column(*texts: str) -> Labels:
    labels = LabelColumn("f")
    labels.extend(texts, range(1, len(texts) + 1))
    return labels.labels()


@each(
    ("texts", "positive", "y"),
    [
        (("-1", "1", "1"), 1, [0, 1, 1]),
        (("1", "2", "1"), 2, [0, 1, 0]),
        (("9", "10", "9"), 10, [0, 1, 0]),  # as text, "9" would be the larger
        (("M", "B", "B"), "M", [1, 0, 0]),
        (("no", "yes", "no"), "yes", [0, 1, 0]),
    ],
)
def test_the_larger_label_is_positive_by_default(texts, positive, y) -> None:
    labels = column(*texts)
    found, one, zero = two_classes(labels, None, "f")
    assert found.tolist() == y and found.dtype == np.int64
    assert (one, zero) == (positive, next(v for v in labels.values if v != positive))


def test_labels_of_text_and_of_arrays() -> None:
    labels = column("1", "1.0", " 1", "0", "-0.0")  # equal numbers are one class
    assert labels.values == [0, 1] and labels.codes.tolist() == [1, 1, 1, 0, 0]
    assert column("10", "9", "x", "x").values == ["10", "9", "x"]  # one text makes all of them text
    y, one, zero = two_classes(column("a", "b", "c", "b"), "b", "f")
    assert (y.tolist(), one, zero) == ([0, 1, 0, 1], "b", None)
    for positive in ("0", 0, 0.0, " 0.0 ", False, np.int8(0)):
        assert two_classes(column("0", "1", "1"), positive, "f")[0].tolist() == [1, 0, 0]
    for held in (np.array([True, False, True]), np.array([1, 0, 1])):
        for positive in ("True", True, "1", None):
            assert two_classes(Labels.of(held, "f"), positive, "f")[0].tolist() == [1, 0, 1]
        assert two_classes(Labels.of(held, "f"), "false", "f")[0].tolist() == [0, 1, 0]
    assert Labels.of(np.array([b"caf\xe9", b"x"]), "f").values == ["caf\\xe9", "x"]


def test_labels_that_are_refused() -> None:
    many = [k / 7 for k in range(MAX_CLASSES + 1)]
    for make in (lambda: column(*map(str, many)), lambda: Labels.of(np.array(many), "f")):
        with pytest.raises(InputError, match="f: more than 1000 different values"):
            make()
    for text in ("", " ", "NA", "NaN", "?", "null", "None", "N/A"):
        with pytest.raises(InputError, match="f, row 2: missing"):
            column("a", text)
    for bad in (np.nan, np.inf):
        with pytest.raises(InputError, match="f, row 3: missing or infinite"):
            Labels.of(np.array([0, 1, bad]), "f")
    for y in (np.array([1j, 0]), np.array([None, 1], dtype=object)):
        with pytest.raises(InputError, match="labels must be numbers or text"):
            Labels.of(y, "f")
