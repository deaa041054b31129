"""`aucert bench` and `aucert plot`: tables, pictures, and one sentence for what cannot be done."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from aucert.exact import regularization_path
from command import Command
from loops import each, first_fast

SOLVER = (
    "import numpy as np\ndef fit(X, y, lam):\n    return X[y == 1].mean(0) - X[y == 0].mean(0)\n"
)
DATA = "a,b,y\n1,2,0\n3,1,1\n2,2,1\n0,1,0\n1,1,1\n"


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    return Command(capsys).run(*words)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("benched.py").write_text(SOLVER)
    Path("t.csv").write_text(DATA)
    return tmp_path


@pytest.mark.slow
def test_bench_writes_a_table_a_picture_and_a_document(capsys, folder) -> None:
    words = "bench benched:fit --data t.csv --lam 0.1 --lam 1 --max-time 20 --out b".split()
    status, out, _ = run(capsys, *words)
    assert status == 0 and out.count("  benched:fit  ") == 2 and out.count("  aucert  ") == 2
    assert out.count("  benched:fit: one point; with an argument") == 2
    held = json.loads(Path("b/bench.json").read_text())
    assert [problem["lam"] for problem in held["bench"]] == [0.1, 1.0]
    ours = [c for problem in held["bench"] for c in problem["curves"] if c["name"] == "aucert"]
    assert all(min(c["relative_gap"]) < 1e-8 for c in ours)
    assert Path("b/bench.txt").read_text() == out and b"<svg" in Path("b/bench.svg").read_bytes()
    assert run(capsys, "plot", "b", "--out", "again.svg")[0] == 0
    assert Path("again.svg").read_bytes() == Path("b/bench.svg").read_bytes()


@pytest.mark.slow
def test_bench_reads_a_file_as_solve_does(capsys, folder) -> None:
    Path("u.csv").write_text(
        "y,name,b,a\n" + "no,x,2,1\nyes,x,1,3\nyes,x,2,2\nno,x,1,0\nyes,x,1,1\n"
    )
    asked = "--target y --positive yes --drop name --lam 0.1 --json".split()
    status, out, err = run(capsys, "bench", "benched.py:fit", "--data", "u.csv", *asked)
    assert (status, err) == (0, "")
    words = "bench benched:fit --data t.csv --columns b,a --lam 0.1 --json".split()
    plain = json.loads(run(capsys, *words)[1])
    (first,), (second,) = json.loads(out)["bench"], plain["bench"]
    assert first["dual"] == second["dual"] and first["d"] == 2
    status, out, err = run(capsys, *"bench benched:fit --target y".split())
    assert (status, out) == (2, "") and "wdbc is built in" in err


@pytest.mark.slow
@each("loss", first_fast(["logistic", "smooth_hinge", "exponential"]))
def test_bench_knows_the_smooth_losses(capsys, folder, loss: str) -> None:
    words = f"bench benched:fit --data t.csv --lam 0.1 --max-time 20 --loss {loss} --json".split()
    status, out, _ = run(capsys, *words)
    assert status == 0
    (problem,) = json.loads(out)["bench"]
    curves = {curve["name"]: curve for curve in problem["curves"]}
    assert problem["loss"] == loss and min(curves["aucert"]["relative_gap"]) < 1e-8
    assert curves["benched:fit"]["relative_gap"][0] > 0.01


@pytest.mark.slow
def test_what_solve_and_certify_wrote_is_drawn(capsys, folder) -> None:
    assert run(capsys, "solve", "t.csv", "--lam", "0.1", "--out", "s")[0] == 0
    status, out, _ = run(capsys, *"certify t.csv --model s/model.npz --json".split())
    Path("c.json").write_text(out)
    assert status == 0
    for result, picture in (("s", "s.svg"), ("c.json", "c.png"), ("s/solution.json", "s.pdf")):
        assert run(capsys, "plot", result, "--out", picture)[0] == 0
        assert Path(picture).stat().st_size > 1000
    assert b"<svg" in Path("s.svg").read_bytes() and Path("s.pdf").read_bytes()[:4] == b"%PDF"


def test_a_regularization_path_is_drawn(capsys, folder) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), np.arange(20) % 2
    path = regularization_path(X, y, [1.0, 0.1])
    held = path.to_dict()
    assert [point["lam"] for point in held["path"]] == [1.0, 0.1] and held["complete"]
    for point, kept in zip(path.points, held["path"], strict=True):
        assert (kept["primal"], kept["auc"]) == (point.certificate.primal, point.auc)
    Path("path.json").write_text(json.dumps(held, allow_nan=False))
    assert run(capsys, *"plot path.json --out path.svg".split())[0] == 0
    text = Path("path.svg").read_text()
    assert "<svg" in text and "AUC of the training rows" in text
    for point in held["path"]:
        point["auc"] = None
    Path("path.json").write_text(json.dumps(held))
    assert run(capsys, *"plot path.json --out path.svg".split())[0] == 0
    assert "AUC" not in Path("path.svg").read_text()
    Path("path.json").write_text('{"path": []}')
    status, out, err = run(capsys, *"plot path.json --out none.svg".split())
    assert (status, out, err.count("\n")) == (2, "", 1) and "nothing in it can be drawn" in err
