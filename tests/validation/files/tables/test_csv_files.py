"""Reading CSV: what is accepted, bit for bit, and the sentence for what is not."""

from __future__ import annotations

import csv
import gzip
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from aucert.exact.errors import InputError
from aucert.validation.files.tables import read_csv, read_table
from loops import each


@pytest.fixture
def write(tmp_path: Path):
    def _write(text: str | bytes, name: str = "data.csv") -> Path:
        path = tmp_path / name
        content = text.encode() if isinstance(text, str) else text
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return path

    return _write


FINITE = st.floats(allow_nan=False, allow_infinity=False, width=64)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    X=arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=FINITE),
    header=st.booleans(),
    zipped=st.booleans(),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    ends=st.sampled_from(["\n", "\r\n"]),
)
def test_a_written_table_reads_back_bit_for_bit(tmp_path, X, header, zipped, quoting, ends) -> None:
    path = tmp_path / ("data.csv.gz" if zipped else "data.csv")
    with gzip.open(path, "wt", newline="") if zipped else open(path, "w", newline="") as file:
        out = csv.writer(file, lineterminator=ends, quoting=quoting)
        if header:
            out.writerow([*(f"x{k}" for k in range(X.shape[1])), "y"])
        out.writerows([*map(repr, row), k % 2] for k, row in enumerate(X.tolist()))
    table = read_csv(path)
    assert table.X.tobytes() == X.tobytes()
    assert table.labels.codes.tolist() == [k % 2 for k in range(len(X))]


def test_the_target_is_the_last_column_or_the_named_one(write) -> None:
    path = write("a,b,y\n1,2,0\n3,4,1\n")
    X, y, meta = read_table(path)
    assert (X.tolist(), y.tolist()) == ([[1, 2], [3, 4]], [0, 1])
    assert (meta.columns, meta.target) == (["a", "b"], "y")
    X, y, meta = read_table(path, target="a")
    assert (X.tolist(), y.tolist(), meta.positive) == ([[2, 0], [4, 1]], [0, 1], 3)
    assert (meta.columns, meta.target) == (["b", "y"], "a")


def test_without_names_the_columns_are_counted(write) -> None:
    path = write("1,2,0\n3,4,1\n")
    assert read_csv(path).columns == ["1", "2"]
    assert read_csv(path, target="2").X.tolist() == [[1, 0], [3, 1]]


def test_a_text_label_does_not_turn_the_first_row_into_names(write) -> None:
    table = read_csv(write("5.1,3.5,setosa\n4.9,3.0,virginica\n"))
    assert table.X.tolist() == [[5.1, 3.5], [4.9, 3.0]]
    assert table.labels.values == ["setosa", "virginica"]


def test_names_that_count_from_zero_are_names(write) -> None:
    assert read_csv(write("0,1,y\n5,6,0\n7,8,1\n")).X.tolist() == [[5, 6], [7, 8]]
    with pytest.raises(InputError, match="'M' in row 1 is also a label further down"):
        read_csv(write("0,1,M\n5,6,M\n7,8,B\n"))


@each("mark", [";", "\t"])
def test_semicolons_and_tabs_separate_where_there_is_no_comma(write, mark: str) -> None:
    path = write(f"a{mark}y\n1.5{mark}0\n2.5{mark}1\n")
    assert read_csv(path).X.tolist() == [[1.5], [2.5]]


def test_blank_lines_byte_order_mark_and_a_missing_last_newline_do_no_harm(write) -> None:
    path = write("\ufeffa,y\r\n\r\n1,0\r\n   \r\n2,1")
    table = read_csv(path)
    assert table.X.tolist() == [[1], [2]]
    assert table.columns == ["a"]


def test_quoted_fields_may_hold_commas_and_new_lines(write) -> None:
    table = read_csv(write('"a, b","y\nz"\n"1","p,q"\n2,"r\ns"\n'))
    assert (table.columns, table.target) == (["a, b"], "y\nz")
    assert table.labels.values == ["p,q", "r\ns"]


def test_labels_may_be_text_of_any_kind(write) -> None:
    table = read_csv(write("a,y\n1,class_ä\n2,class_b\n"))
    assert table.labels.values == ["class_b", "class_ä"]


REFUSED = {
    "text": ("age,y\n1,0\nold,1\n", r"text 'old' in column 'age', row 3: encode"),
    "text in data without names": ("1,2,0\n3,x,1\n", r"text 'x' in column '2', row 2: encode"),
    "names and numbers mixed": ("age,7,y\n1,2,0\n", r"text 'age' in column '1', row 1 \(a row of"),
    "digits grouped": ("a,y\n1_000,0\n2,1\n", r"text '1_000' in column 'a', row 2"),
    "other digits": ("a,y\n1,0\n１２,1\n", r"text '１２' in column 'a', row 3"),
    "decimal comma": ("a;b;y\n1,5;2;0\n", r"'1,5' in column 'a', row 2"),
    "empty cell": ("a,b,y\n1,2,0\n3,,1\n", r"missing value in column 'b', row 3: fill"),
    "NA": ("a,b,y\n1,2,0\n\n3,NA,1\n", r"missing value in column 'b', row 4"),
    "question mark": ("a,y\n?,0\n", r"missing value in column 'a', row 2"),
    "nan": ("a,b,y\n1,2,0\n\n3,nan,1\n", r"missing value in column 'b', row 4"),
    "-nan": ("a,b,y\n1,-nan,0\n", r"missing value in column 'b', row 2"),
    "inf": ("a,b,y\n1,2,0\n-inf,4,1\n", r"infinite value in column 'a', row 3"),
    "too large": ("a,b,y\n1,2,0\n3,1e999,1\n", r"infinite value in column 'b', row 3"),
    "missing label": ("a,y\n1,0\n2,\n", r"column 'y', row 3: missing"),
    "short row": ("a,b,y\n1,2,0\n3,1\n", r"row 3 has 2 fields, the rows above have 3"),
    "long row": ("a,b,y\n1,2,0\n3,4,5,1\n", r"row 3 has 4 fields"),
    "one field": ("a,y\n1,0\n2\n", r"row 3 has 1 field,"),
    "empty": ("", "the file is empty"),
    "blank": ("\n  \n\n", "the file is empty"),
    "names only": ("a,b,y\n", "no rows below the header"),
    "no features": ("y\n0\n1\n", "no feature columns: 'y' is the only column"),
    "spaces between columns": ("a b y\n1 2 0\n", "commas, semicolons or tabs stand between"),
    "a comma at the end": ("a,y,\n1,0,\n", r"column 3 has no name in row 1"),
    "same name twice": ("a,b,a,y\n1,2,3,0\n", "two columns are called 'a'"),
    "unnamed index": (",a,y\n0,1,0\n1,2,1\n", r"column 1 has no name in row 1"),
    "open quote": ('a,y\n1,0\n"2,1\n', r"row 3 cannot be split: unexpected end of data"),
    "text after a quote": ('a,y\n"1"5,0\n', r"row 2 cannot be split"),
    "not UTF-8": (b"a,y\n1,caf\xe9\n", r"row 2 is not UTF-8"),
    "UTF-16": ("a,y\n1,0\n".encode("utf-16"), r"row 1 is not UTF-8"),
}


@each("name", ["data.csv", "data.csv.gz"])
@each("case", REFUSED)
def test_bad_text_is_refused_naming_file_column_and_row(write, case: str, name: str) -> None:
    text, sentence = REFUSED[case]
    path = write(text, name)
    with pytest.raises(InputError, match=sentence) as error:
        read_csv(path)
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)


def test_a_bad_cell_right_of_an_early_target_is_named_by_its_own_column(write) -> None:
    path = write("y,a,b\n0,1,2\n1,3,inf\n")
    with pytest.raises(InputError, match="infinite value in column 'b', row 3"):
        read_csv(path, target="y")
    path = write("y,a,b\n0,1,2\n1,3,zz\n")
    with pytest.raises(InputError, match="text 'zz' in column 'b', row 3"):
        read_csv(path, target="y")


@each(
    ("target", "words"),
    [("lable", "the nearest names are 'label'"), ("zzz", "the columns are 'height', 'label'")],
)
def test_a_missing_target_gets_the_nearest_names(write, target: str, words: str) -> None:
    path = write("height,label\n1,0\n2,1\n")
    with pytest.raises(InputError, match=f"no column '{target}'; {words}"):
        read_csv(path, target=target)


@each("damage", ["cut", "flipped", "no gzip"])
def test_a_damaged_gzip_file_is_refused(write, damage: str) -> None:
    path = write("a,y\n" + "1.5,0\n2.5,1\n" * 5000, "data.csv.gz")
    content = bytearray(path.read_bytes())
    if damage == "cut":
        content = content[:-30]
    elif damage == "flipped":
        content[len(content) // 2] ^= 0xFF
    path.write_bytes(b"a,y\n1,0\n" if damage == "no gzip" else bytes(content))
    with pytest.raises(InputError, match=r"data\.csv\.gz: (damaged|row|text|missing|infinite)"):
        read_csv(path)


@pytest.mark.slow
def test_memory_stays_below_four_times_the_data(write) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60_000, 3))
    lines = [",".join(map(repr, [*row, k % 2])) for k, row in enumerate(X.tolist())]
    path = write("a,b,c,y\n" + "\n".join(lines) + "\n")
    del lines
    tracemalloc.start()
    try:
        table = read_csv(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert np.array_equal(table.X, X)
    assert peak < 4 * X.nbytes


@each("text", ["9007199254740993", "-9007199254740993.0", " 9007199254740993 "])
def test_a_whole_number_that_loses_digits_is_refused(write, text: str) -> None:
    path = write(f"a,b,y\n1,2,0\n\n9007199254740992,{text},1\n")
    with pytest.raises(InputError, match=f"{text.strip()} in column 'b', row 4 loses digits"):
        read_csv(path)


def test_large_numbers_that_float64_holds_and_rounded_fractions_are_read(write) -> None:
    path = write("a,b,y\n9007199254740994,1.2345678901234568e+20,0\n0.1,1e23,1\n")
    assert read_csv(path).X.tolist() == [[2.0**53 + 2, 1.2345678901234568e20], [0.1, 1e23]]


def test_large_labels_stay_apart(write) -> None:
    table = read_csv(write("a,y\n1,9007199254740993\n2,9007199254740992\n3,9007199254740993.0\n"))
    assert table.labels.values == [2**53, 2**53 + 1]
    assert table.labels.codes.tolist() == [1, 0, 1]
