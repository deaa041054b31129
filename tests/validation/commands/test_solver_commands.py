"""`aucert bench`, `check-solver` and `plot`: what they print, write and draw."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from aucert.exact import regularization_path
from aucert.validation.reference.problems import reference_problems
from command import Command
from on_disk import write

MINE = """
import os
from aucert.exact import solve
print('imported')
def means(X, y, lam):
    return X[y == 1].mean(0) - X[y == 0].mean(0)
def right(X, y, lam):
    print('python')
    os.write(1, b'C')
    return solve(X, y, lam).w
def wrong(X, y, lam):
    return -right(X, y, lam)
"""
BENCH = "bench mine:means --max-time 20"


@pytest.fixture
def command(capfd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """The command next to a module of solvers, in a folder with one table under two forms."""
    monkeypatch.chdir(tmp_path)
    write("mine.py", MINE)
    write("t.csv", "a,b,y\n1,2,0\n3,1,1\n2,2,1\n0,1,0\n1,1,1\n")
    write("u.csv", "y,name,b,a\nno,x,2,1\nyes,x,1,3\nyes,x,2,2\nno,x,1,0\nyes,x,1,1\n")
    return Command(capfd)


@pytest.mark.slow
def test_bench_writes_a_table_a_picture_and_a_document(command: Command) -> None:
    out = command(f"{BENCH} --data t.csv --lam 0.1 --lam 1 --out b")
    assert out.count("  mine:means  ") == out.count("  aucert  ") == 2
    assert out.count("  mine:means: one point; with an argument") == 2
    held = json.loads(Path("b/bench.json").read_text())
    assert [problem["lam"] for problem in held["bench"]] == [0.1, 1.0]
    ours = [c for problem in held["bench"] for c in problem["curves"] if c["name"] == "aucert"]
    assert all(min(c["relative_gap"]) < 1e-8 for c in ours)
    assert Path("b/bench.txt").read_text() == out and b"<svg" in Path("b/bench.svg").read_bytes()
    command("plot b --out again.svg")
    assert Path("again.svg").read_bytes() == Path("b/bench.svg").read_bytes()
    # A file is read as `solve` reads it, and the loss is one of its own.
    files = "u.csv --target y --positive yes --drop name", "t.csv --columns b,a"
    for loss in ("logistic", "smooth_hinge", "exponential"):
        asked = [f"{BENCH} --data {words} --lam 0.1 --loss {loss}" for words in files]
        (first,), (second,) = (command.json(words)["bench"] for words in asked)
        assert first["dual"] == second["dual"] and first["d"] == 2 and first["loss"] == loss
        gaps = {curve["name"]: curve["relative_gap"] for curve in first["curves"]}
        assert min(gaps["aucert"]) < 1e-8 and gaps["mine:means"][0] > 0.01


@pytest.mark.slow
def test_a_right_solver_is_status_0_and_a_table_which_the_folder_gets_too(command: Command) -> None:
    out = command("check-solver mine:right --only ties --only two-rows --out a/b")
    assert command.notes == "" and "3 of 3 problems solved within 0.001." in out
    names = ["two-rows:0.1", "two-rows:10", "ties"]
    assert [line.split()[0] for line in out.splitlines()[1:4]] == names
    files = {path.name: path.read_text() for path in Path("a/b").iterdir()}
    assert sorted(files) == ["check-solver.json", "check-solver.txt"]
    assert files["check-solver.txt"] == out
    document = json.loads(files["check-solver.json"])
    assert document["passed"] and document["counts"] == {"pass": 3}
    row = document["problems"][0]
    assert row["lower"] <= row["objective"] <= row["lower"] + row["gap"]
    assert row["verdict"] == "pass" and row["excess"] <= 1e-9


def test_a_wrong_solver_is_status_1_and_json_is_one_document_whatever_it_prints(
    command: Command,
) -> None:
    words = "check-solver mine:wrong --only ties --only two-rows --json"
    status, out, err = command.run(words)
    document = json.loads(out)
    assert (status, err, document["passed"], document["solver"]) == (1, "", False, "mine:wrong")
    assert "the sign is wrong" in str(document["diagnosis"])
    lines = command("check-solver --list").splitlines()
    assert [line.split()[0] for line in lines] == [p.name for p in reference_problems()]


@pytest.mark.slow
def test_what_solve_and_certify_wrote_is_drawn(command: Command) -> None:
    command("solve t.csv --lam 0.1 --out s")
    assert "certainly has" in command("certify t.csv --model s/model.npz")
    Path("c.json").write_text(command("certify t.csv --model s/model.npz --json"))
    for result, picture in (("s", "s.svg"), ("c.json", "c.png"), ("s/solution.json", "s.pdf")):
        command(f"plot {result} --out {picture}")
        assert Path(picture).stat().st_size > 1000
    assert b"<svg" in Path("s.svg").read_bytes() and Path("s.pdf").read_bytes()[:4] == b"%PDF"


def test_a_regularization_path_is_drawn(command: Command) -> None:
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 2
    path = regularization_path(X, y, [1.0, 0.1])
    held = path.to_dict()
    assert [point["lam"] for point in held["path"]] == [1.0, 0.1] and held["complete"]
    for point, kept in zip(path.points, held["path"], strict=True):
        assert (kept["primal"], kept["auc"]) == (point.certificate.primal, point.auc)
    for known in (True, False):
        for point in held["path"]:
            point["auc"] = point["auc"] if known else None
        Path("path.json").write_text(json.dumps(held, allow_nan=False))
        command("plot path.json --out path.svg")
        text = Path("path.svg").read_text()
        assert "<svg" in text and ("AUC of the training rows" in text) == known
