"""Parquet files, and what is said without pyarrow."""

from __future__ import annotations

import decimal
from pathlib import Path

import numpy as np
import pytest

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


def test_large_integers_are_kept_and_decimals_become_the_nearest_double(save) -> None:
    import pyarrow as pa

    price = pa.array([decimal.Decimal("1.10"), decimal.Decimal("-2.25")])
    table = read_parquet(save({"a": [2**60, 3], "price": price, "y": [0, 1]}))
    assert table.X.tolist() == [[2.0**60, 1.1], [3.0, -2.25]]


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
