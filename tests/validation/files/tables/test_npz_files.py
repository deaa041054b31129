"""Tables in npz files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from aucert.validation.files.tables import read_npz
from loops import each

X = np.array([[1.0, 2], [3, 4], [5, 6]])
Y = np.array([0, 1, 1])


@pytest.fixture
def save(tmp_path: Path):
    def _save(**arrays) -> Path:
        np.savez(tmp_path / "data.npz", **arrays)
        return tmp_path / "data.npz"

    return _save


def test_x_and_y_are_read_and_the_rest_is_listed(save) -> None:
    table = read_npz(save(X=X, y=Y, n_train=2, X_test=X))
    assert np.array_equal(table.X, X)
    assert (table.labels.values, table.labels.codes.tolist()) == ([0, 1], [0, 1, 1])
    assert (table.columns, table.target) == (["1", "2"], "y")
    assert table.ignored == ["n_train", "X_test"]


def test_another_array_can_be_the_target(save) -> None:
    table = read_npz(save(X=X, group=np.array(["u", "v", "u"])), target="group")
    assert table.labels.values == ["u", "v"]


@each("dtype", ["float32", "int8", "uint16", "bool", ">f8", "float64"])
def test_numbers_of_any_type_become_float64_in_row_order(save, dtype: str) -> None:
    rows = read_npz(save(X=np.asfortranarray(X.astype(dtype)), y=Y)).X
    assert rows.dtype == np.dtype("float64") and rows.flags.c_contiguous
    assert np.array_equal(rows, X.astype(dtype).astype(float))


def test_large_labels_stay_apart(tmp_path: Path) -> None:
    path = tmp_path / "data.npz"
    np.savez(path, X=np.eye(2), y=np.array([2**53 + 1, 2**53]))
    assert read_npz(path).labels.values == [2**53, 2**53 + 1]
