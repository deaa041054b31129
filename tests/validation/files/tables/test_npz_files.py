"""Tables in npz files."""

from __future__ import annotations

import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

from aucert.exact.errors import InputError
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


def test_a_bad_value_is_named_by_its_feature_name(save) -> None:
    holed = X.copy()
    holed[2, 1] = np.nan
    with pytest.raises(InputError, match=r"data\.npz: missing value in column 'w', row 3"):
        read_npz(save(X=holed, y=Y, feature_names=np.array(["h", "w"])))
    holed[2, 1] = -np.inf
    with pytest.raises(InputError, match=r"data\.npz: infinite value in column '2', row 3"):
        read_npz(save(X=holed, y=Y))


@each(("names", "words"), [(["h"], r"shape \(1,\), X has 2 columns"), (["h", "h"], "called 'h'")])
def test_names_that_are_of_no_one_column_are_refused(save, names: list[str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_npz(save(X=X, y=Y, feature_names=np.array(names)))


@each(
    ("arrays", "target", "words"),
    [
        ({"x": X, "y": Y}, None, "no array 'X'; the arrays are 'x', 'y'"),
        ({"X": X, "label": Y}, None, "no array 'y'; the arrays are 'X', 'label'"),
        ({"X": X, "label": Y}, "labels", "no array 'labels'; the nearest names are 'label'"),
        ({"X": X, "y": Y[:2]}, None, r"they have \(3, 2\) and \(2,\)"),
        ({"X": X.ravel(), "y": Y}, None, r"they have \(6,\) and \(3,\)"),
        ({"X": X, "y": Y[:, None]}, None, r"they have \(3, 2\) and \(3, 1\)"),
        ({"X": X[:0], "y": Y[:0]}, None, r"'X' has shape \(0, 2\): there is nothing"),
        ({"X": X[:, :0], "y": Y}, None, r"no feature columns"),
        ({"X": X.astype(str), "y": Y}, None, "'X' must hold numbers, not <U"),
        ({"X": X * 1j, "y": Y}, None, "'X' must hold numbers, not complex"),
        ({"X": X, "y": np.array([0, np.nan, 1])}, None, "array 'y', row 2: missing"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(save, arrays, target, words: str) -> None:
    path = save(**arrays)
    with pytest.raises(InputError, match=words) as error:
        read_npz(path, target)
    assert str(error.value).startswith(str(path))


def test_python_objects_are_never_unpickled(tmp_path: Path) -> None:
    path = tmp_path / "data.npz"
    np.savez(path, X=np.array([[Planted()]], dtype=object), y=[0])
    with pytest.raises(InputError, match="holds Python objects, which are never read"):
        read_npz(path)
    path.write_bytes(pickle.dumps(Planted()))
    with pytest.raises(InputError, match=r"data\.npz: damaged, or not a readable npz file"):
        read_npz(path)
    assert Planted.loaded == 0


class Planted:
    """Counts how often it is unpickled."""

    loaded = 0

    def __setstate__(self, state) -> None:
        Planted.loaded += 1

    def __getstate__(self) -> dict:
        return {"x": 1}


@each("damage", ["empty", "text", "cut", "flipped", "not npy"])
def test_a_damaged_file_is_refused(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "data.npz"
    np.savez_compressed(path, X=np.random.default_rng(0).normal(size=(500, 2)), y=np.arange(500))
    content = bytearray(path.read_bytes())
    if damage == "cut":
        content = content[: len(content) // 2]
    elif damage == "flipped":
        content[len(content) // 4] ^= 0xFF
    elif damage in ("empty", "text"):
        content = bytearray(b"" if damage == "empty" else b"1,2,3\n")
    path.write_bytes(bytes(content))
    if damage == "not npy":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("X.npy", "hello")
            archive.writestr("y.npy", "hello")
    with pytest.raises(
        InputError, match=r"data\.npz: damaged, or not a readable npz file"
    ) as error:
        read_npz(path)
    assert "\n" not in str(error.value)


@each("kind", ["int64", "uint64"])
def test_whole_numbers_that_lose_digits_are_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "data.npz"
    np.savez(path, X=np.array([[1, 2], [3, 2**53 + 1]], dtype=kind), y=[0, 1])
    with pytest.raises(InputError, match="9007199254740993 in column '2', row 2 loses digits"):
        read_npz(path)


def test_large_labels_stay_apart(tmp_path: Path) -> None:
    path = tmp_path / "data.npz"
    np.savez(path, X=np.eye(2), y=np.array([2**53 + 1, 2**53]))
    assert read_npz(path).labels.values == [2**53, 2**53 + 1]
