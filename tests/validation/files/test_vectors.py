"""Vectors of weights and scores, models of other programs, and what is written."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from aucert.exact import InputError
from aucert.validation.files.vectors import LinearModel, read_model_of_another, read_vector
from aucert.validation.files.written import write_json, write_vector
from on_disk import LIBLINEAR, SVM_RANK, write

W = np.array([1.5, -2.0, 1e-300])
FINITE = st.floats(allow_nan=False, allow_infinity=False)
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
    for shape in ((3,), (3, 1), (1, 3)):
        for dtype in ("float64", "float32", "int16"):
            w = np.array([1, -2, 3], dtype=dtype).reshape(shape)
            for name, content in (("w.npy", w), ("w.npz", {"any_name": w})):
                found = read_vector(write(tmp_path / name, content)).values
                assert found.tolist() == [1, -2, 3] and found.dtype == np.float64


def test_json_is_plain_and_nothing_is_half_written(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    for bad in (float("nan"), np.inf, [np.float64("nan")]):
        with pytest.raises(InputError, match="use null instead"):
            write_json(path, {"gap": bad})
    for vector in (np.array([1.0, np.nan]), np.eye(2)):
        with pytest.raises(InputError, match="one vector of finite numbers"):
            write_vector(tmp_path / "w.csv", vector, "weight")
    assert os.listdir(tmp_path) == []
    document = {"gap": np.float64(1e-9), "n": np.int64(3), "w": np.array([1.0, 2.0]), "é": [None]}
    write_json(path, {**document, "path": Path("x")})
    text = path.read_text(encoding="utf-8")
    assert text.endswith("}\n") and "é" in text
    assert json.loads(text) == {"gap": 1e-9, "n": 3, "w": [1, 2], "é": [None], "path": "x"}


# Models of other programs


def read_model(path: Path, text: str, n_features: int = 3) -> LinearModel:
    found = read_model_of_another(write(path, text), n_features)
    assert found is not None
    return found


def test_the_weights_of_each_format_are_read(tmp_path: Path) -> None:
    learner = {
        "gradient_booster": {"model": {"weights": [0.5, -2.0, 1e-3, 0.0]}, "name": "gblinear"}
    }
    for file, text, size in (
        ("model", LIBLINEAR, 3),
        ("rank.model", LIBLINEAR.replace("bias -1", "bias 1") + "7\n", 4),
        ("windows.model", LIBLINEAR.replace("\n", "\r\n"), 3),
        ("model.dat", SVM_RANK, 3),
        ("model.json", json.dumps({"learner": learner}), 4),
    ):
        found = read_model(tmp_path / file, text).w
        assert found.size == size and found[:3].tolist() == [0.5, -2.0, 1e-3]
    assert read_model_of_another(write(tmp_path / "w.txt", "0.5\n-2\n"), 2) is None


def test_xgboosts_own_file_is_read(tmp_path: Path) -> None:
    boost = pytest.importorskip("xgboost", reason="xgboost is not installed")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 2, 40)
    options: dict[str, Any] = {"booster": "gblinear", "objective": "rank:pairwise"}
    model = boost.train(options, boost.DMatrix(X, label=y, qid=np.zeros(40, dtype=int)))
    model.save_model(tmp_path / "m.json")
    w = read_model(tmp_path / "m.json", (tmp_path / "m.json").read_text(), 2).w
    scores = model.predict(boost.DMatrix(X, qid=np.zeros(40, dtype=int)), output_margin=True)
    assert np.ptp(X @ w[:2] - scores) < 1e-5
