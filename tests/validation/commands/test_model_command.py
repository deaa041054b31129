"""The command line's model is whole: written, read, scored, certified, and matched by names."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from aucert.exact import load_model, recertify
from aucert.validation.cli import main
from loops import each


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    try:
        main([str(word) for word in arguments])
        status = 0
    except SystemExit as ended:
        status = int(ended.code or 0)
    said = capsys.readouterr()
    return status, said.out, said.err


def refused(found: tuple[int, str, str], *words: str) -> None:
    status, out, err = found
    assert (status, out, err.count("\n")) == (2, "", 1), found
    assert err.startswith("aucert: ") and all(word in err for word in words), err


def table(path: Path, order: str = "abcd", rows: slice = slice(None)) -> Path:
    """Write a table with the feature columns a, b, c and the label d, in some order."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(24, 3)) * [1, 50, 0.1]
    held = dict(zip("abc", X.T, strict=True))
    held["d"] = np.where(X[:, 0] + X[:, 1] / 50 + rng.normal(size=24) > 0, "sick", "well")
    lines = [
        ",".join(order),
        *(",".join(map(str, row)) for row in zip(*(held[k] for k in order), strict=True)),
    ]
    path.write_text("\n".join([lines[0], *lines[1:][rows]]) + "\n")
    return path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return table(tmp_path / "data.csv")


def scores_of(text: str) -> np.ndarray:
    return np.array([float(row["score"]) for row in csv.DictReader(io.StringIO(text))])


PROBLEMS = {
    "plain": [],
    "standardised": ["--standardise"],
    "kernel": ["--kernel", "rbf", "--gamma", "0.1", "--standardise"],
    "structure": ["--structure", "0.5", "--standardise"],
    "lasso": ["--l1", "0.01", "--standardise"],
    "drawn": ["--pairs", "drawn:40", "--seed", "3", "--standardise"],
    "partial": ["--fpr-max", "0.5", "--standardise"],
    "positive": ["--positive", "sick"],
}


@each("words", PROBLEMS.values(), ids=list(PROBLEMS))
def test_the_model_of_solve_is_read_scored_and_certified(capsys, data, tmp_path, words) -> None:
    out = tmp_path / "out"
    assert run(capsys, "solve", data, "--lam", "0.1", *words, "--out", out)[0] == 0
    status, text, _ = run(capsys, "certify", data, "--model", out / "model.npz", "--json")
    found, solved = json.loads(text), json.loads((out / "solution.json").read_text())
    assert status == 0 and found["relative_gap"] <= 1e-8
    assert found["primal"] == pytest.approx(solved["primal"], rel=1e-9)
    assert ("standardised" in found["statement"]) == ("--standardise" in words)
    _, text, err = run(capsys, "predict", out / "model.npz", data)
    model = load_model(out / "model.npz")
    assert "columns not used: 'd'" in err
    X = np.loadtxt(data, delimiter=",", skiprows=1, usecols=(0, 1, 2))
    with pytest.warns(UserWarning, match="feature names"):
        expected = model.decision_function(X)
    np.testing.assert_array_equal(scores_of(text), expected)
    labels = [row["label"] for row in csv.DictReader(io.StringIO(text))]
    assert np.mean(np.array(labels) == np.loadtxt(data, str, delimiter=",", skiprows=1)[:, 3]) > 0.5


@pytest.mark.slow
def test_a_process_that_has_imported_nothing_else_reads_the_model(capsys, data, tmp_path) -> None:
    out = tmp_path / "out"
    assert run(capsys, "solve", data, "--lam", "0.1", "--out", out)[0] == 0
    command = [sys.executable, "-m", "aucert", "predict", str(out / "model.npz"), str(data)]
    fresh = subprocess.run(command, capture_output=True, text=True)
    assert (fresh.returncode, fresh.stdout) == run(capsys, *command[3:])[:2], fresh.stderr


def test_columns_are_matched_by_name(capsys, data, tmp_path) -> None:
    out = tmp_path / "out"
    assert run(capsys, "solve", data, "--lam", "0.1", "--out", out)[0] == 0
    model = out / "model.npz"
    _, text, _ = run(capsys, "predict", model, data)
    turned = table(tmp_path / "turned.csv", "cdba")
    _, again, _ = run(capsys, "predict", model, turned)
    assert again == text
    _, text, _ = run(capsys, "certify", turned, "--target", "d", "--model", model, "--json")
    assert json.loads(text)["relative_gap"] <= 1e-8
    short = tmp_path / "short.csv"
    short.write_text("a,x\n1,2\n")
    refused(run(capsys, "predict", model, short), "columns that are not there: 'b', 'c'")
    plain = tmp_path / "plain.csv"
    plain.write_text("1,2,3,4\n5,6,7,8\n")
    refused(run(capsys, "predict", model, plain), "4 feature columns", "has 3", "--drop")
    assert run(capsys, "predict", model, plain, "--drop", "4")[0] == 0


def test_weights_are_matched_by_name_wherever_the_intercept_stands(capsys, data, tmp_path) -> None:
    out, options = tmp_path / "out", ["--lam", "0.1"]
    assert run(capsys, "solve", data, *options, "--out", out)[0] == 0
    lines = (out / "weights.csv").read_text().splitlines()
    assert lines[0] == "feature,weight" and [line[0] for line in lines[1:]] == ["a", "b", "c"]
    weights = tmp_path / "w.csv"
    for text in (
        "\n".join(["intercept,7", lines[3], lines[1], lines[2]]),
        ",".join(["const", *"cba"]) + "\n" + ",".join(["7", *(k[2:] for k in lines[:0:-1])]),
    ):
        weights.write_text(text + "\n")
        status, said, _ = run(capsys, "certify", data, *options, "--weights", weights, "--json")
        assert status == 0 and json.loads(said)["relative_gap"] <= 1e-8
    weights.write_text("a,1\nb,1\nz,1\n")
    refused(run(capsys, "certify", data, *options, "--weights", weights), "have no 'z'", "for 'c'")


def test_weights_of_standardised_columns_are_not_taken_for_others(capsys, data, tmp_path) -> None:
    out, options = tmp_path / "out", ["--lam", "0.1"]
    assert run(capsys, "solve", data, *options, "--standardise", "--out", out)[0] == 0
    weights = out / "weights.csv"
    assert weights.read_text().startswith("feature,standardised weight\n")
    judged = ["certify", data, *options, "--weights", weights]
    refused(run(capsys, *judged), "of standardised columns", "--standardise", "--model")
    status, said, _ = run(capsys, *judged, "--standardise", "--json")
    assert status == 0 and json.loads(said)["relative_gap"] <= 1e-8


def test_a_number_without_a_name_that_is_taken_as_intercept_is_named(
    capsys, data, tmp_path
) -> None:
    weights = tmp_path / "w.csv"
    weights.write_text("1\n2\n3\n4\n")
    status, said, _ = run(capsys, "certify", data, "--lam", "1", "--weights", weights, "--json")
    assert status in (0, 1)
    assert "The last of the 4 numbers was taken as an intercept" in json.loads(said)["statement"]
    weights.write_text("1\n2\n3\n")
    _, said, _ = run(capsys, "certify", data, "--lam", "1", "--weights", weights, "--json")
    assert "intercept" not in json.loads(said)["statement"]


def test_sparse_rows_are_centred_by_a_model_of_dense_ones(capsys, tmp_path) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.random((30, 3)), np.arange(30) % 2
    np.savez(tmp_path / "d.npz", X=X, y=y)
    dump_svmlight_file(X, y, str(tmp_path / "s.svmlight"), zero_based=False)
    out = tmp_path / "out"
    solved = run(capsys, "solve", tmp_path / "d.npz", "--lam", "0.1", "--standardise", "--out", out)
    assert solved[0] == 0, solved
    scored = [
        run(capsys, "predict", out / "model.npz", tmp_path / name, "--json")
        for name in ("d.npz", "s.svmlight")
    ]
    dense, sparse = (json.loads(said)["scores"] for _, said, _ in scored)
    assert sparse == pytest.approx(dense)


def test_more_than_two_classes_and_the_smaller_label(capsys, data, tmp_path) -> None:
    out = tmp_path / "out"
    assert run(capsys, "solve", data, "--lam", "1", "--positive", "sick", "--out", out)[0] == 0
    model = load_model(out / "model.npz")
    assert model.classes_.tolist() == ["well", "sick"]
    X = np.loadtxt(data, delimiter=",", skiprows=1, usecols=(0, 1, 2))
    y = np.loadtxt(data, str, delimiter=",", skiprows=1)[:, 3]
    assert (recertify(model, X, y).relative_gap or 0.0) <= 1e-8
    three = tmp_path / "three.csv"
    three.write_text("a,y\n1,r\n2,g\n3,b\n4,r\n")
    words = ["--lam", "1", "--positive", "r", "--out", tmp_path / "three"]
    assert run(capsys, "solve", three, *words)[0] == 0
    assert load_model(tmp_path / "three" / "model.npz").classes_.tolist() == ["not r", "r"]


def test_predict_writes_a_file_or_nothing(capsys, data, tmp_path) -> None:
    out = tmp_path / "out"
    assert run(capsys, "solve", data, "--lam", "0.1", "--out", out)[0] == 0
    model, scores = out / "model.npz", tmp_path / "scores.csv"
    status, text, _ = run(capsys, "predict", model, data, "--out", scores)
    assert status == 0 and "24 rows scored" in text
    document = json.loads(run(capsys, "predict", model, data, "--json")[1])
    np.testing.assert_array_equal(scores_of(scores.read_text()), document["scores"])
    assert document["classes"] == ["sick", "well"] and document["ignored"] == ["d"]
    before = scores.read_bytes()
    data.write_text("a,b,c,d\n1,2,x,well\n")
    refused(run(capsys, "predict", model, data, "--out", scores), "text 'x' in column 'c'")
    assert scores.read_bytes() == before


@each(
    ("command", "words"),
    [
        ("predict {o}/none.npz {d}", "cannot be read"),
        ("predict {o} {d}", "this is a folder"),
        ("predict {d} {d}", "no model file of aucert"),
        ("predict {o}/model.npz {o}/none.csv", "no such file"),
        ("predict {o}/model.npz {d} --out {o}", "this is a folder"),
        ("predict {o}/model.npz {d} --out {o}/no/s.csv", "there is no folder"),
        ("predict {o}/model.npz {d} --drop ,", "names of columns"),
        ("predict {o}/model.npz wdbc", "30 feature columns"),
        ("certify {d} --model {o}/model.npz --weights {o}/weights.csv", "give one of"),
        ("certify {d} --model {o}/model.npz --standardise", "does not go with --model"),
        ("certify {d} --model {o}/model.npz --drop a", "does not go with --model"),
        ("solve {d} --lam 1 --columns a,,b", "names of columns"),
        ("solve wdbc --lam 1 --drop a", "is built in"),
        ("solve {d} --lam 1 --kernel precomputed --standardise", "--standardise is for"),
    ],
)
def test_bad_input_is_one_sentence(capsys, data, tmp_path, command, words) -> None:
    out = tmp_path / "out"
    assert run(capsys, "solve", data, "--lam", "0.1", "--out", out)[0] == 0
    refused(run(capsys, *command.format(o=out, d=data).split()), words)


def test_a_kernel_machine_is_certified_on_its_own_rows_only(capsys, data, tmp_path) -> None:
    out = tmp_path / "out"
    words = ["--lam", "0.1", "--kernel", "rbf", "--gamma", "0.01", "--out", out]
    assert run(capsys, "solve", data, *words)[0] == 0
    other = table(tmp_path / "other.csv", rows=slice(None, None, -1))
    refused(run(capsys, "certify", other, "--model", out / "model.npz"), "not the rows")
