"""The papers' npz files: their keys, the binary tasks, and the folder they are in."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from aucert.exact.errors import InputError
from aucert.validation.data.real_data import TASKS, load_npz, load_real, real_data_folder
from loops import each
from realdata import require_real

# Rows of each class, from the papers where they print them, else from the files' description.
COUNTS = {
    "skin": (50_859, 194_198),
    "bank": (4_640, 36_548),
    "accelerometer": (571, 31_420),
    "usps": (4_240 + 1_187, 3_051 + 820),  # training part, test part
    "connect-4": (50_922, 16_635),
    "magic04": (12_332, 6_688),
    "spambase": (2_788, 1_813),
    "ijcnn1": (128_126, 13_565),
    "cod-rna": (220_768, 110_384),
    "covtype": (236_128, 22_437),
    "bupa": (200, 145),
    "diabetes": (268, 500),
    "ionosphere": (225, 126),
    "spectf": (212, 55),
    "colon": (40, 22),
    "leukemia": (47, 25),
    "glass1": (70, 144),
    "glass6": (29, 185),
    "tae2": (50, 101),
}


@pytest.fixture
def split_file(tmp_path: Path) -> Path:
    """A file with every key: a published split, integers and their scale, names."""
    path = tmp_path / "toy.npz"
    np.savez(
        path,
        X=np.array([[1, 20], [3, 40], [5, 60]], dtype=np.int16),
        y=np.array([0, 4, 7], dtype=np.int8),
        X_test=np.array([[7, 80]], dtype=np.int16),
        y_test=np.array([4], dtype=np.int8),
        scale=0.5,
        feature_names=np.array(["a", "b"]),
    )
    return path


def test_scale_multiplies_and_the_test_rows_come_last(split_file: Path) -> None:
    data = load_npz(split_file, positive=4)
    assert data.X.tolist() == [[0.5, 10], [1.5, 20], [2.5, 30], [3.5, 40]]
    assert data.y.tolist() == [0, 1, 0, 1]
    assert data.name == "toy"


def test_train_and_test_are_the_published_parts(split_file: Path) -> None:
    assert load_npz(split_file, positive=7, part="train").X.tolist() == [
        [0.5, 10],
        [1.5, 20],
        [2.5, 30],
    ]
    with pytest.raises(InputError, match="a single class, 4"):
        load_npz(split_file, positive=4, part="test")


def test_leading_rows_are_the_training_part(tmp_path: Path) -> None:
    path = tmp_path / "lead.npz"
    np.savez(path, X=np.arange(5.0)[:, None], y=[0, 1, 0, 1, 1], n_train=2)
    assert load_npz(path, part="train").X.ravel().tolist() == [0, 1]
    assert load_npz(path, part="test").X.ravel().tolist() == [2, 3, 4]
    assert load_npz(path).X.ravel().tolist() == [0, 1, 2, 3, 4]


def test_several_labels_count_as_positive_together(split_file: Path) -> None:
    assert load_npz(split_file, positive=(0, 7)).y.tolist() == [1, 0, 1, 0]


def test_columns_can_be_left_out_by_name(split_file: Path) -> None:
    assert load_npz(split_file, positive=4, drop=("a",)).X.ravel().tolist() == [10, 20, 30, 40]
    with pytest.raises(InputError, match=r"no column 'c'; the columns are 'a', 'b'"):
        load_npz(split_file, positive=4, drop=("c",))


def test_missing_values_are_refused_or_their_rows_left_out(tmp_path: Path) -> None:
    path = tmp_path / "holes.npz"
    X = np.array([[1.0, 2], [3, np.nan], [5, 6]])
    np.savez(path, X=X, y=["p", "q", "q"], feature_names=np.array(["a", "b"]))
    with pytest.raises(InputError, match=r"holes.npz: missing value in column 'b', row 2"):
        load_npz(path)
    assert load_npz(path, missing="drop-rows").X.tolist() == [[1, 2], [5, 6]]


@each(
    ("arrays", "options", "words"),
    [
        ({"X": np.eye(2)}, {}, "no arrays 'X' and 'y'"),
        ({"X": np.eye(2), "y": [0, 1]}, {"part": "test"}, "no published split"),
        ({"X": np.eye(2), "y": [0, 1], "n_train": 1}, {"part": "x"}, "part must be one of"),
        ({"X": np.eye(2), "y": [0, 1, 1]}, {}, r"'X' has shape \(2, 2\) and 'y'"),
        ({"X": np.eye(3), "y": [0, 1, 2]}, {}, "3 classes"),
        ({"X": np.eye(2), "y": [0, 1]}, {"positive": (5,)}, "no class 5; the classes are 0, 1"),
        ({"X": np.eye(2), "y": [0, 1], "scale": np.ones(2)}, {}, "'scale' must be one"),
    ],
)
def test_a_file_not_as_described_is_refused(tmp_path, arrays, options, words: str) -> None:
    path = tmp_path / "bad.npz"
    np.savez(path, **arrays)
    with pytest.raises(InputError, match=words):
        load_npz(path, **options)


def test_the_folder_is_the_environment_variable_s(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.delenv("AUCERT_DATA", raising=False)
    assert real_data_folder() is None
    with pytest.raises(InputError, match="set AUCERT_DATA"):
        load_real("skin")
    monkeypatch.setenv("AUCERT_DATA", str(tmp_path))
    assert real_data_folder() == tmp_path
    with pytest.raises(InputError, match=r"skin\.npz: no such file"):
        load_real("skin")
    monkeypatch.setenv("AUCERT_DATA", str(tmp_path / "gone"))
    with pytest.raises(InputError, match="no such folder"):
        real_data_folder()


def test_an_unknown_task_is_refused_with_the_nearest_names() -> None:
    with pytest.raises(InputError, match=r"no real data set 'colonn'; .*'colon'"):
        load_real("colonn", folder=".")


@each("name", COUNTS)
def test_the_class_counts_of_the_papers_tasks(name: str) -> None:
    path = require_real(TASKS[name].file)
    data = load_real(name, folder=path.parent)
    assert (data.n_pos, data.n_neg) == COUNTS[name]
    assert np.isfinite(data.X).all()
