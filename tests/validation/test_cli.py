"""`aucert solve` and `aucert certify`, as a user meets them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from aucert.exact import solve
from aucert.validation.cli import main
from loops import each

KEYS = """schema_version version seed parameters data_sha256 n n_pos n_neg n_pairs lam loss pairs
kernel method primal dual gap relative_gap radius auc status message seconds""".split()


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3 == 0
    X = rng.normal(size=(60, 2)) + y[:, None]
    path = tmp_path / "data.csv"
    lines = ["height,weight,ill"]
    lines += [f"{a!r},{b!r},{int(c)}" for (a, b), c in zip(X.tolist(), y, strict=True)]
    path.write_text("\n".join(lines) + "\n")
    return path


def run(capsys, *arguments: object) -> tuple[int, str, str]:
    """Run the command line in this process; return exit status, output and errors."""
    try:
        main([str(a) for a in arguments])
        status = 0
    except SystemExit as stop:
        status = int(stop.code or 0)
    out, err = capsys.readouterr()
    return status, out, err


def test_solve_prints_the_contract_and_the_same_numbers_as_python(capsys, table):
    status, out, err = run(capsys, "solve", table, "--lam", 0.01, "--json")
    document = json.loads(out)
    assert (status, err) == (0, "")
    assert set(KEYS) <= set(document)
    raw = np.loadtxt(table, delimiter=",", skiprows=1)
    expected = solve(raw[:, :2], raw[:, 2], 0.01).certificate
    assert document["primal"] == expected.primal
    assert document["relative_gap"] <= 1e-9
    assert document["status"] == "certified"
    assert document["n_pairs"] == 20 * 40


def test_the_same_seed_gives_the_same_document(capsys):
    documents = []
    for _ in range(2):
        _, out, _ = run(capsys, "solve", "linear:200", "--lam", 0.1, "--seed", 3, "--json")
        document = json.loads(out)
        del document["seconds"]
        documents.append(document)
    assert documents[0] == documents[1]


@each("loss", ["hinge", "squared_hinge", "square"])
def test_weights_written_by_solve_are_certified_by_certify(capsys, table, tmp_path, loss):
    out = tmp_path / "out"
    options = ["--lam", 0.01, "--loss", loss]
    assert run(capsys, "solve", table, *options, "--out", out)[0] == 0
    weights = out / "weights.csv"
    status, text, _ = run(capsys, "certify", table, *options, "--weights", weights, "--json")
    assert status == 0
    assert json.loads(text)["relative_gap"] <= 1e-8
    assert json.loads((out / "solution.json").read_text())["loss"] == loss
    proof = ["proof.npz", "data.npz"] if loss == "hinge" else []
    written = {path.name for path in out.iterdir()}
    assert written == {"model.npz", *proof, "solution.json", "weights.csv"}


def test_weights_far_from_the_optimum_are_not_called_certified(capsys, table, tmp_path):
    np.save(tmp_path / "w.npy", np.array([300.0, -200.0]))
    common = ["certify", table, "--lam", 0.1, "--weights", tmp_path / "w.npy"]
    document = json.loads(run(capsys, *common, "--json")[1])
    assert document["relative_gap"] > 0.99
    assert document["status"] == "above_tolerance"
    assert "certified" not in run(capsys, *common)[1]
    # A tolerance that the gap is within makes the same weights "certified" to it.
    assert json.loads(run(capsys, *common, "--tol", 1, "--json")[1])["status"] == "certified"


def test_drawn_pairs_are_solved(capsys):
    _, out, _ = run(capsys, "solve", "wdbc", "--lam", 0.1, "--pairs", "drawn:500", "--json")
    document = json.loads(out)
    assert document["pairs"] == "drawn:500"
    assert document["relative_gap"] <= 1e-9


def test_scores_of_a_tree_get_no_gap(capsys, table, tmp_path):
    raw = np.loadtxt(table, delimiter=",", skiprows=1)
    np.save(tmp_path / "scores.npy", (raw[:, 0] > 0.3) * 1.0 + (raw[:, 1] > 0) * (raw[:, 0] > 0))
    arguments = ["certify", table, "--lam", 1, "--scores", tmp_path / "scores.npy", "--json"]
    document = json.loads(run(capsys, *arguments)[1])
    assert document["gap"] is None and document["primal"] is None
    assert "Not in this model class" in document["message"]


def test_somebody_elses_scaling_is_converted(capsys, table, tmp_path):
    np.save(tmp_path / "w.npy", np.array([0.5, 0.2]))
    common = ["certify", table, "--weights", tmp_path / "w.npy", "--json"]
    theirs = json.loads(run(capsys, *common, "--from", "auc-svm", "--C", 0.125)[1])
    ours = json.loads(run(capsys, *common, "--lam", 0.01)[1])
    assert theirs["lam"] == pytest.approx(1 / (0.125 * 800))
    assert theirs["gap"] == pytest.approx(ours["gap"])


BAD = [
    (["solve", "{table}", "--lam", "0"], "lam must be > 0"),
    (["solve", "{table}", "--lam", "-1"], "lam must be > 0"),
    (["solve", "{table}", "--lam", "nan"], "lam must be > 0"),
    (["solve", "{table}", "--lam", "inf"], "lam must be > 0"),
    (["solve", "{table}", "--lam", "one"], "one"),
    (["solve", "{table}"], "--lam"),
    (["solve"], "DATA"),
    (["solve", "missing.csv", "--lam", "1"], "missing.csv"),
    (["solve", "wdcb", "--lam", "1"], "wdbc"),
    (["solve", "wdbc", "--lam", "1", "--target", "x"], "built in"),
    (["solve", "linear:1", "--lam", "1"], "linear"),
    (["solve", "linear:x", "--lam", "1"], "linear"),
    (["solve", "{folder}", "--lam", "1"], "folder"),
    (["solve", "{table}", "--lam", "1", "--target", "il"], "ill"),
    (["solve", "{table}", "--lam", "1", "--positive", "7"], "7"),
    (["solve", "{table}", "--lam", "1", "--tol", "0"], "tol must be > 0"),
    (["solve", "{table}", "--lam", "1", "--max-time", "-3"], "max_time must be > 0"),
    (["solve", "{table}", "--lam", "1", "--pairs", "drawn:0"], "drawn:B"),
    (["solve", "{table}", "--lam", "1", "--pairs", "near"], "drawn:B"),
    (["solve", "{table}", "--lam", "1", "--loss", "cubic"], "cubic"),
    (["solve", "{table}", "--lam", "1", "--loss", "square", "--method", "lifted"], "square"),
    (["solve", "wdbc", "--lam", "1", "--method", "qp"], "cutting-plane"),
    (["solve", "{nan}", "--lam", "1"], "row 3"),
    (["solve", "{inf}", "--lam", "1"], "row 2"),
    (["solve", "{one}", "--lam", "1"], "class"),
    (["solve", "{empty}", "--lam", "1"], "empty"),
    (["solve", "{damaged}", "--lam", "1"], "damaged.npz"),
    (["certify", "{table}", "--lam", "1"], "--weights"),
    (["certify", "{table}", "--weights", "{w3}"], "--lam"),
    (["certify", "{table}", "--lam", "1", "--weights", "{w5}"], "5 weights"),
    (["certify", "{table}", "--lam", "1", "--scores", "{w5}"], "60"),
    (["certify", "{table}", "--lam", "1", "--weights", "{w3}", "--norm2", "1"], "--norm2"),
    (["certify", "{table}", "--from", "libfm", "--C", "1", "--weights", "{w3}"], "libfm"),
    (["certify", "{table}", "--from", "dlib", "--C", "0", "--weights", "{w3}"], "C must be > 0"),
    (["certify", "{table}", "--lam", "1", "--from", "dlib", "--weights", "{w3}"], "not both"),
    (["certify", "{table}", "--lam", "1", "--weights", "nowhere.npy"], "nowhere.npy"),
    (["solve", "", "--lam", "1"], "names no data"),
    (["solve", "{table}", "--lam", "1", "--method", "tail-newton"], "descent"),
    (["frobnicate"], "frobnicate"),
    (["solve", "{table}", "--lam", "1", "--frob"], "--frob"),
]


@each(("arguments", "words"), BAD, ids=lambda value: str(value)[:60])
def test_bad_input_gets_one_sentence_and_exit_status_2(capsys, tmp_path, table, arguments, words):
    files = {
        "table": table,
        "folder": tmp_path / "folder.csv",
        "nan": tmp_path / "nan.csv",
        "inf": tmp_path / "inf.csv",
        "one": tmp_path / "one.csv",
        "empty": tmp_path / "empty.csv",
        "damaged": tmp_path / "damaged.npz",
        "w3": tmp_path / "w3.npy",
        "w5": tmp_path / "w5.npy",
    }
    files["folder"].mkdir()
    files["nan"].write_text("a,b,y\n1,2,0\n3,,1\n")
    files["inf"].write_text("a,b,y\n1,inf,0\n3,4,1\n")
    files["one"].write_text("a,b,y\n1,2,0\n3,4,0\n")
    files["empty"].write_text("")
    files["damaged"].write_bytes(b"PK\x03\x04 not really")
    np.save(files["w3"], np.ones(3))
    np.save(files["w5"], np.ones(5))
    status, out, err = run(capsys, *[a.format(**files) for a in arguments])
    assert status == 2
    assert out == ""
    assert err.count("\n") == 1 and err.startswith("aucert: ")
    assert words in err


def test_a_failing_run_leaves_nothing_half_written(capsys, table, tmp_path):
    out = tmp_path / "out"
    arguments = ["solve", table, "--lam", 1, "--out", out, "--loss", "square", "--method", "lifted"]
    status, _, _ = run(capsys, *arguments)
    assert status == 2
    assert not out.exists()


def test_an_output_folder_that_cannot_be_made_is_one_sentence(capsys, table, tmp_path):
    (tmp_path / "file").write_text("")
    status, _, err = run(capsys, "solve", table, "--lam", 1, "--out", tmp_path / "file")
    assert status == 2
    assert "file" in err and err.count("\n") == 1


SLOW_TO_LOAD = ("sklearn", "pandas", "cvxpy", "matplotlib")


@pytest.mark.slow
def test_the_module_runs_and_standard_error_stays_empty_with_json():
    """And it needs none of the libraries that would double the time until it starts."""
    code = f"""
import runpy, sys
sys.modules.update(dict.fromkeys({SLOW_TO_LOAD}))  # importing one of them is an error
sys.argv[1:] = ["solve", "xor", "--lam", "1", "--json"]
runpy.run_module("aucert", run_name="__main__", alter_sys=True)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["status"] == "certified"


def test_help_loads_neither_numpy_nor_the_solvers(tmp_path: Path) -> None:
    code = "import sys\nfrom aucert.validation.cli import main\ntry:\n    main(['--help'])\n"
    code += "except SystemExit:\n    pass\n"
    code += "print([m for m in ('numpy', 'aucert.exact', 'rich') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert run.stdout.splitlines()[-1] == "[]", run.stdout + run.stderr
