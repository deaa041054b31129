"""Weights are read from the files of other programs; other models are refused in a sentence."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aucert.exact import InputError
from aucert.validation.cli import main
from aucert.validation.files.models import LinearModel, read_model_of_another
from loops import each

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


def read_model(path: Path, n_features: int) -> LinearModel:
    found = read_model_of_another(path, n_features)
    assert found is not None
    return found


def xgboost(name: str = "gblinear", weights: Any = (0.5, -2.0, 1e-3, 0.0)) -> str:
    model = {"boosted_rounds": 300, "weights": list(weights)}
    return json.dumps({"learner": {"gradient_booster": {"model": model, "name": name}}})


@each(
    ("file", "text", "size"),
    [
        ("model", LIBLINEAR, 3),
        ("rank.model", LIBLINEAR.replace("bias -1", "bias 1") + "7\n", 4),
        ("windows.model", LIBLINEAR.replace("\n", "\r\n"), 3),
        ("model.dat", SVM_RANK, 3),
        ("model.json", xgboost(), 4),
    ],
)
def test_the_weights_of_each_format_are_read(
    tmp_path: Path, file: str, text: str, size: int
) -> None:
    path = tmp_path / file
    path.write_bytes(text.encode())
    found = read_model(path, 3).w
    assert found.size == size and found[:3].tolist() == [0.5, -2.0, 1e-3]


@each(
    ("file", "text", "words"),
    [
        ("m", LIBLINEAR.replace("w\n", ""), "the line 'w'"),
        ("m", LIBLINEAR + "4\n", "4 weights where 3 are declared"),
        ("m", LIBLINEAR.replace("-2 ", "1 2"), "several weights a feature"),
        ("m", LIBLINEAR.replace("-2 ", "two"), "'two' among the weights"),
        ("m", LIBLINEAR.replace("-2 ", "nan"), "weight 2 is nan"),
        ("m", LIBLINEAR.replace("-2 ", "inf"), "weight 2 is inf"),
        ("m", LIBLINEAR.replace("nr_feature 3", "nr_feature inf"), "must be numbers"),
        ("m", LIBLINEAR.replace("nr_feature 3", "nr_feature 2").replace("-2 \n", ""), "2 features"),
        ("m", SVM_RANK.replace("0 # kernel type", "2 # kernel type"), "kernel is not linear"),
        ("m", SVM_RANK.replace("3:1e-3", "4:1"), "feature 4, but the data have 3"),
        ("m", SVM_RANK.replace("3:1e-3", "0:1"), "index:value"),
        ("m", SVM_RANK.replace("3:1e-3", "3:x"), "'x' among"),
        ("m", SVM_RANK + "1 1:2\n", "3 support vectors where 2"),
        ("m", "".join(SVM_RANK.splitlines(True)[:6]), "not complete"),
        ("m.json", xgboost("gbtree"), "the booster is gbtree, which has no weights"),
        ("m.json", xgboost(weights=["1"]), "list of weights"),
        ("m.json", xgboost(weights=[True, 1, 2]), "list of weights"),
        ("m.json", "{}", "model of XGBoost"),
        ("m.json", "{", "damaged, or not a readable JSON file"),
        ("m.txt", "tree\nversion=v4\nnum_class=1\n", "LightGBM's models are trees"),
    ],
)
def test_what_is_no_linear_model_is_refused(
    tmp_path: Path, file: str, text: str, words: str
) -> None:
    path = tmp_path / file
    path.write_text(text, "utf-8")
    with pytest.raises(InputError, match=words):
        read_model(path, 3)


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
    model = boost.train(
        {"booster": "gblinear", "objective": "rank:pairwise"},
        boost.DMatrix(X, label=y, qid=np.zeros(40, dtype=int)),
    )
    model.save_model(tmp_path / "m.json")
    w = read_model(tmp_path / "m.json", 2).w
    scores = model.predict(boost.DMatrix(X, qid=np.zeros(40, dtype=int)), output_margin=True)
    assert np.ptp(X @ w[:2] - scores) < 1e-5
