"""Parquet files, and what is said without pyarrow."""

from __future__ import annotations

import datetime
import decimal
import sys
from pathlib import Path

import numpy as np
import pytest

from aucert.exact.errors import InputError
from aucert.validation.files.tables import read_parquet
from loops import each


@pytest.fixture
def save(tmp_path: Path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")

    def _save(columns: dict, **options) -> Path:
        pq.write_table(pa.table(columns), tmp_path / "data.parquet", **options)
        return tmp_path / "data.parquet"

    return _save


def test_columns_become_features_and_the_last_one_the_label(save) -> None:
    table = read_parquet(save({"a": [1, 2], "b": [True, False], "y": [0.0, 1.0]}))
    assert table.X.tolist() == [[1, 1], [2, 0]]
    assert (table.columns, table.target) == (["a", "b"], "y")
    assert (table.labels.values, table.labels.codes.tolist()) == ([0, 1], [0, 1])


def test_large_integers_are_kept_and_decimals_become_the_nearest_double(save) -> None:
    import pyarrow as pa

    price = pa.array([decimal.Decimal("1.10"), decimal.Decimal("-2.25")])
    table = read_parquet(save({"a": [2**60, 3], "price": price, "y": [0, 1]}))
    assert table.X.tolist() == [[2.0**60, 1.1], [3.0, -2.25]]


@each("kind", ["int64", "uint64", "decimal128(20, 0)"])
def test_whole_numbers_that_lose_digits_are_refused(save, kind: str) -> None:
    import pyarrow as pa

    made = pa.decimal128(20, 0) if kind[0] == "d" else getattr(pa, kind)()
    held = pa.array([1, 2**53 + 1], pa.int64()).cast(made)
    with pytest.raises(InputError, match="9007199254740993 in column 'a', row 2 loses digits"):
        read_parquet(save({"a": held, "y": [0, 1]}))


def test_large_labels_stay_apart(save) -> None:
    table = read_parquet(save({"a": [1, 2], "y": [2**53, 2**53 + 1]}))
    assert table.labels.values == [2**53, 2**53 + 1]


def test_another_column_can_be_the_target(save) -> None:
    table = read_parquet(save({"y": ["n", "p"], "a": [1.5, 2], "b": [3, 4]}), "y")
    assert table.X.tolist() == [[1.5, 3], [2, 4]]
    assert (table.columns, table.labels.values) == (["a", "b"], ["n", "p"])


def test_many_row_groups_read_back_bit_for_bit(save) -> None:
    X = np.random.default_rng(0).standard_normal((70_000, 2))
    y = np.arange(70_000) % 3
    table = read_parquet(save({"a": X[:, 0], "b": X[:, 1], "y": y}, row_group_size=9_000))
    assert table.X.tobytes() == X.tobytes()
    assert np.array_equal(table.labels.codes, y)


@each("kind", ["large_string", "dictionary", "bool"])
def test_labels_of_these_types_are_read(save, kind: str) -> None:
    import pyarrow as pa

    y = pa.array(["u", "v", "u"])
    if kind == "dictionary":
        y = y.dictionary_encode()
    elif kind == "bool":
        y = pa.array([False, True, False])
    else:
        y = y.cast(kind)
    table = read_parquet(save({"a": [1, 2, 3], "y": y}))
    assert table.labels.values == ([0, 1] if kind == "bool" else ["u", "v"])
    assert table.labels.codes.tolist() == [0, 1, 0]


@each(
    ("columns", "target", "words"),
    [
        ({"a": [1, 2], "city": ["x", "y"], "y": [0, 1]}, None, "text 'x' in column 'city', row 1"),
        ({"a": [1.0, None], "y": [0, 1]}, None, "missing value in column 'a', row 2"),
        ({"a": [1.0, np.nan], "y": [0, 1]}, None, "missing value in column 'a', row 2"),
        ({"a": [1.0, np.inf], "y": [0, 1]}, None, "infinite value in column 'a', row 2"),
        ({"a": [1.0, 2.0], "y": [0, None]}, None, "missing value in column 'y', row 2"),
        ({"a": [1.0, 2.0], "y": ["p", ""]}, None, "column 'y', row 2: missing"),
        ({"a": [[1], [2]], "y": [0, 1]}, None, "column 'a' holds list<.*>, not numbers"),
        (
            {"day": [datetime.date(2020, 1, 1)] * 2, "y": [0, 1]},
            None,
            "column 'day' holds date32.*, not numbers",
        ),
        ({"y": [0, 1]}, None, "no feature columns: 'y' is the only column"),
        ({"a": [1, 2], "label": [0, 1]}, "lable", "no column 'lable'; .* 'label'"),
        ({"a": np.empty(0), "y": np.empty(0)}, None, "no rows"),
    ],
)
def test_bad_columns_are_refused_by_name_and_row(save, columns, target, words: str) -> None:
    path = save(columns)
    with pytest.raises(InputError, match=words) as error:
        read_parquet(path, target)
    assert str(error.value).startswith(str(path))


def test_a_missing_value_in_a_later_batch_has_its_row_in_the_file(save) -> None:
    a = np.ones(150_000)
    a[140_000] = np.nan
    import pyarrow as pa

    holed = pa.array(a, from_pandas=True)  # NaN becomes null
    with pytest.raises(InputError, match="missing value in column 'a', row 140001"):
        read_parquet(save({"a": holed, "y": np.arange(150_000) % 2}))


def test_one_name_twice_is_refused(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table([[1, 2], [3, 4], [0, 1]], names=["a", "a", "y"]), path)
    with pytest.raises(InputError, match="two columns are called 'a'"):
        read_parquet(path)


@each("damage", ["empty", "text", "cut", "flipped"])
def test_a_damaged_file_is_refused(save, damage: str) -> None:
    columns = {"a": np.arange(1000.0), "y": np.arange(1000) % 2}
    path = save(columns, write_page_checksum=True, compression="none")
    content = bytearray(path.read_bytes())
    if damage == "cut":
        content = content[:-20]
    elif damage == "flipped":
        content[len(content) // 2] ^= 0xFF
    else:
        content = bytearray(b"" if damage == "empty" else b"a,y\n1,0\n2,1\n" * 9)
    path.write_bytes(bytes(content))
    with pytest.raises(
        InputError, match=r"data\.parquet: damaged, or not a readable Parquet"
    ) as error:
        read_parquet(path)
    assert "\n" not in str(error.value)


def test_without_pyarrow_the_extra_is_named(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "data.parquet"
    path.write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match=r"needs pyarrow: install aucert\[parquet\]"):
        read_parquet(path)
