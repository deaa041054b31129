"""Vectors of weights and scores, models of other programs, and what is written."""

from __future__ import annotations

import gzip
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from aucert.exact import InputError
from aucert.validation.cli import main
from aucert.validation.files.models import LinearModel, read_model_of_another
from aucert.validation.files.vectors import read_vector
from aucert.validation.files.written import write_json, write_vector
from loops import each

W = np.array([1.5, -2.0, 1e-300])
FINITE = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(w=arrays(np.float64, st.integers(1, 20), elements=FINITE))
def test_a_written_vector_reads_back_bit_for_bit(tmp_path: Path, w: np.ndarray) -> None:
    for name in ("w.csv", "w.txt"):
        write_vector(tmp_path / name, w, "weight")
        assert read_vector(tmp_path / name).values.tobytes() == w.tobytes()


@each(
    "text",
    [
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
    ],
)
def test_one_number_a_line_or_one_row_with_or_without_names(tmp_path: Path, text: str) -> None:
    for name in ("w.csv", "w.txt", "w.csv.gz"):
        content = text.encode()
        (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
        assert read_vector(tmp_path / name).values.tolist() == W.tolist()


def test_npy_and_npz_of_one_row_or_column(tmp_path: Path) -> None:
    for shape in ((3,), (3, 1), (1, 3)):
        for dtype in ("float64", "float32", "int16"):
            w = np.array([1, -2, 3], dtype=dtype).reshape(shape)
            np.save(tmp_path / "w.npy", w)
            np.savez(tmp_path / "w.npz", any_name=w)
            for name in ("w.npy", "w.npz"):
                found = read_vector(tmp_path / name).values
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

LIBLINEAR = (
    "solver_type L2R_L2LOSS_RANKSVM\nnr_class 2\nnr_feature 3\nbias -1\nw\n0.5 \n-2 \n1e-3 \n"
)
SVM_RANK = """SVM-light Version V6.20
0 # kernel type
3 # kernel parameter -d
1 # kernel parameter -g
1 # kernel parameter -s
1 # kernel parameter -r
empty# kernel parameter -u
3 # highest feature index
12 # number of training documents
3 # number of support vectors plus 1
0 # threshold b, each following line is a SV (starting with alpha*y)
1 1:0.25 3:1e-3 #
0.5 qid:1 1:0.5 2:-4 # a comment
"""


def read_model(path: Path, text: str, n_features: int = 3) -> LinearModel:
    path.write_bytes(text.encode())
    found = read_model_of_another(path, n_features)
    assert found is not None
    return found


def xgboost(name: str = "gblinear", weights: Any = (0.5, -2.0, 1e-3, 0.0)) -> str:
    model = {"boosted_rounds": 300, "weights": list(weights)}
    return json.dumps({"learner": {"gradient_booster": {"model": model, "name": name}}})


def test_the_weights_of_each_format_are_read(tmp_path: Path) -> None:
    for file, text, size in (
        ("model", LIBLINEAR, 3),
        ("rank.model", LIBLINEAR.replace("bias -1", "bias 1") + "7\n", 4),
        ("windows.model", LIBLINEAR.replace("\n", "\r\n"), 3),
        ("model.dat", SVM_RANK, 3),
        ("model.json", xgboost(), 4),
    ):
        found = read_model(tmp_path / file, text).w
        assert found.size == size and found[:3].tolist() == [0.5, -2.0, 1e-3]


@each(
    ("file", "text", "words"),
    [
        ("m", LIBLINEAR.replace("w\n", ""), "the line 'w'"),
        ("m", LIBLINEAR + "4\n", "4 weights where 3 are declared"),
        ("m", LIBLINEAR.replace("-2 ", "1 2"), "several weights per feature"),
        ("m", LIBLINEAR.replace("-2 ", "two"), "'two' among the weights"),
        ("m", LIBLINEAR.replace("-2 ", "nan"), "weight 2 is nan"),
        ("m", LIBLINEAR.replace("-2 ", "inf"), "weight 2 is inf"),
        ("m", LIBLINEAR.replace("nr_feature 3", "nr_feature inf"), "must be numbers"),
        ("m", LIBLINEAR.replace("nr_feature 3", "nr_feature 2").replace("-2 \n", ""), "2 features"),
        ("m", SVM_RANK.replace("0 # kernel type", "2 # kernel type"), "kernel is not linear"),
        ("m", SVM_RANK.replace("3:1e-3", "4:1"), "feature 4, but the data have 3"),
        ("m", SVM_RANK.replace("3:1e-3", "0:1"), "not an index:value"),
        ("m", SVM_RANK.replace("3:1e-3", "3:x"), "'x' among"),
        ("m", SVM_RANK + "1 1:2\n", "3 support vectors where 2"),
        ("m", "".join(SVM_RANK.splitlines(True)[:6]), "not complete"),
        ("m.json", xgboost("gbtree"), "the booster is gbtree, which has no weights"),
        ("m.json", xgboost(weights=["1"]), "no list of weights"),
        ("m.json", xgboost(weights=[True, 1, 2]), "no list of weights"),
        ("m.json", "{}", "not a model of XGBoost"),
        ("m.json", "{", "damaged, or not a readable JSON file"),
        ("m.txt", "tree\nversion=v4\nnum_class=1\n", "LightGBM's models are trees"),
    ],
)
def test_what_is_no_linear_model_is_refused(
    tmp_path: Path, file: str, text: str, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        read_model(tmp_path / file, text)


def test_certify_takes_a_model_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(30) % 2
    rows = np.column_stack([rng.normal(size=(30, 3)), y])
    np.savetxt(tmp_path / "d.csv", rows, delimiter=",", header="a,b,c,y", comments="")
    answers = []
    for file, text in (("model", LIBLINEAR), ("w.txt", "0.5\n-2\n1e-3\n"), ("m.json", xgboost())):
        (tmp_path / file).write_text(text, "utf-8")
        stated = ["--weights", str(tmp_path / file), "--from", "liblinear-ranksvm", "--C", "0.1"]
        with suppress(SystemExit):
            main(["certify", str(tmp_path / "d.csv"), *stated, "--json"])
        answers.append(json.loads(capsys.readouterr().out)["primal"])
    assert answers[0] == answers[1] == answers[2]


def test_xgboosts_own_file_is_read(tmp_path: Path) -> None:
    boost = pytest.importorskip("xgboost", reason="xgboost is not installed")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 2, 40)
    options = {"booster": "gblinear", "objective": "rank:pairwise"}
    model = boost.train(options, boost.DMatrix(X, label=y, qid=np.zeros(40, dtype=int)))
    model.save_model(tmp_path / "m.json")
    w = read_model(tmp_path / "m.json", (tmp_path / "m.json").read_text(), 2).w
    scores = model.predict(boost.DMatrix(X, qid=np.zeros(40, dtype=int)), output_margin=True)
    assert np.ptp(X @ w[:2] - scores) < 1e-5
