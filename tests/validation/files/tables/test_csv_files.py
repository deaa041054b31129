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


def test_large_numbers_that_float64_holds_and_rounded_fractions_are_read(write) -> None:
    path = write("a,b,y\n9007199254740994,1.2345678901234568e+20,0\n0.1,1e23,1\n")
    assert read_csv(path).X.tolist() == [[2.0**53 + 2, 1.2345678901234568e20], [0.1, 1e23]]


def test_large_labels_stay_apart(write) -> None:
    table = read_csv(write("a,y\n1,9007199254740993\n2,9007199254740992\n3,9007199254740993.0\n"))
    assert table.labels.values == [2**53, 2**53 + 1]
    assert table.labels.codes.tolist() == [1, 0, 1]
