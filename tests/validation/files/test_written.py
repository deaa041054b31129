"""Result files: JSON without NaN, vectors that read back bit for bit."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from aucert.exact.errors import InputError
from aucert.validation.files.written import write_json, write_vector
from loops import each


def test_json_takes_numpy_values_and_paths(tmp_path: Path) -> None:
    document = {"gap": np.float64(1e-9), "n": np.int64(3), "w": np.array([1.0, 2.0]), "é": [None]}
    write_json(tmp_path / "a.json", {**document, "path": Path("x")})
    text = (tmp_path / "a.json").read_text(encoding="utf-8")
    assert text.endswith("}\n") and "é" in text
    assert json.loads(text) == {"gap": 1e-9, "n": 3, "w": [1, 2], "é": [None], "path": "x"}


@each("bad", [float("nan"), np.inf, [np.float64("nan")]])
def test_json_holds_no_nan(tmp_path: Path, bad) -> None:
    with pytest.raises(InputError, match="use null instead"):
        write_json(tmp_path / "a.json", {"gap": bad})
    assert os.listdir(tmp_path) == []


@each("bad", [np.array([1.0, np.nan]), np.eye(2)])
def test_only_finite_vectors_are_written(tmp_path: Path, bad) -> None:
    with pytest.raises(InputError, match="one vector of finite numbers"):
        write_vector(tmp_path / "w.csv", bad, "weight")
    assert os.listdir(tmp_path) == []
