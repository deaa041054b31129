"""What the papers print, and their npz files: keys, binary tasks, and the folder they are in."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aucert.exact.errors import InputError
from aucert.validation.data.datasets import TASKS, load_npz, load_real, real_data_folder
from aucert.validation.data.printed_numbers import FILE, number, numbers, printed
from aucert.validation.tables.run import tables as registered
from aucert.validation.tables.table import Results, Run
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


@each("name", COUNTS)
def test_the_class_counts_of_the_papers_tasks(name: str) -> None:
    path = require_real(TASKS[name].file)
    data = load_real(name, folder=path.parent)
    assert (data.n_pos, data.n_neg) == COUNTS[name]
    assert np.isfinite(data.X).all()


def test_every_key_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "toy.npz"
    X = np.array([[1, 20], [3, 40], [5, 60]], dtype=np.int16)
    held: dict[str, Any] = {"X": X, "y": [0, 4, 7], "X_test": X[:1] + 6, "y_test": [4]}
    np.savez(path, **held, scale=0.5, feature_names=["a", "b"])
    data = load_npz(path, positive=4)  # the test rows come last
    assert data.X.tolist() == [[0.5, 10], [1.5, 20], [2.5, 30], [3.5, 13]]
    assert data.y.tolist() == [0, 1, 0, 1] and data.name == "toy"
    assert load_npz(path, positive=7, part="train").X.tolist() == (X / 2).tolist()
    with pytest.raises(InputError, match="a single class, 4"):
        load_npz(path, positive=4, part="test")
    assert load_npz(path, positive=(0, 7)).y.tolist() == [1, 0, 1, 0]
    assert load_npz(path, positive=4, drop=("a",)).X.ravel().tolist() == [10, 20, 30, 13]
    with pytest.raises(InputError, match=r"no column 'c'; the columns are 'a', 'b'"):
        load_npz(path, positive=4, drop=("c",))
    np.savez(path, X=np.arange(5.0)[:, None], y=[0, 1, 0, 1, 1], n_train=2)
    for part, wanted in (("train", [0, 1]), ("test", [2, 3, 4]), ("all", [0, 1, 2, 3, 4])):
        assert load_npz(path, part=part).X.ravel().tolist() == wanted  # type: ignore[arg-type]
    holes = np.array([[1.0, 2], [3, np.nan], [5, 6]])
    np.savez(path, X=holes, y=["p", "q", "q"], feature_names=["a", "b"])
    with pytest.raises(InputError, match=r"toy.npz: missing value in column 'b', row 2"):
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


def test_the_folder_is_that_of_the_environment_variable(tmp_path: Path, monkeypatch) -> None:
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
    with pytest.raises(InputError, match=r"no real data set 'colonn'; .*mean colon"):
        load_real("colonn", folder=".")


def test_no_table_shows_a_number_that_is_not_in_the_list() -> None:
    known: dict[tuple[str, str], set[str]] = {}
    with FILE.open(encoding="utf-8", newline="") as opened:
        for line in csv.DictReader(opened):
            values = known.setdefault((line["paper"], line["table"]), set())
            values |= {line["value"], line["value"].replace("-", "−")}
            if line["value"][-1].isdigit() and line["value"] != "over 300":
                values.add(f"{number(line['value']):g}")
    for name, table in registered().items():  # pages on which nothing has been run
        budget = table.experiment.spent("full")
        parts = tuple(table.experiment.parts(budget))
        page = table.render(Results(Run("full"), budget, parts, {}))
        texts = {cell.printed for cell in page.entries if cell.printed is not None}
        assert texts <= known.get((table.paper, table.place), set()), name


def test_numbers_are_read_from_what_is_printed() -> None:
    assert number(".901 (.0023)") == 0.901 and number("133,270") == 133_270
    assert number("-0.8") == -0.8 and math.isnan(number("-"))
    assert numbers("SHT", "Table I")["SHT-AUC"] == (0.551, 0.675, 0.766, 0.82)
    assert printed("ScalingUp", "Table 1")["50000"]["s, full"] == "-"
    assert numbers("Nonlinear", "Table 1")["covtype"] == (464_809, 116_203, 54, 10.65)
    for names in (
        ("Table 9", "iris", "LS"),
        ("Table 3", "iris", "LS"),
        ("Table 3", "wdbc", "Fisher"),
    ):
        with pytest.raises(KeyError):
            printed("SAUC", names[0])[names[1]][names[2]]
