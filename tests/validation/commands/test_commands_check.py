"""`aucert check-solver`: exit status, output and files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aucert.exact.errors import InputError
from aucert.validation.commands.check_solver import run_check_solver
from aucert.validation.reference.problems import reference_problems
from loops import each

GIVEN = {
    "solver": "mysolver:right",
    "loss": "hinge",
    "tol": 1e-3,
    "max_time": 20.0,
    "seed": 0,
    "only": ("ties", "two-rows"),
    "list_only": False,
    "out": None,
    "as_json": False,
}


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mysolver.py").write_text(
        "import os\n"
        "from aucert.exact import solve\n"
        "print('imported')\n"
        "def right(X, y, lam):\n"
        "    print('python')\n"
        "    os.write(1, b'C')\n"
        "    return solve(X, y, lam).w\n"
        "def wrong(X, y, lam):\n"
        "    return -right(X, y, lam)\n"
    )
    monkeypatch.chdir(tmp_path)


def test_a_right_solver_is_status_0_and_a_table(capfd) -> None:
    assert run_check_solver(GIVEN) == 0
    out, err = capfd.readouterr()
    assert err == ""
    assert [line.split()[0] for line in out.splitlines()[1:4]] == [
        "two-rows:0.1",
        "two-rows:10",
        "ties",
    ]
    assert "3 of 3 problems solved within 0.001." in out


def test_a_wrong_solver_is_status_1_and_the_cause_is_shown(capfd) -> None:
    assert run_check_solver(GIVEN | {"solver": "mysolver:wrong"}) == 1
    assert "Likely cause: the sign is wrong" in capfd.readouterr().out


def test_json_is_one_document_whatever_the_solver_prints(capfd) -> None:
    assert run_check_solver(GIVEN | {"as_json": True}) == 0
    out, err = capfd.readouterr()
    document = json.loads(out)
    assert err == "" and document["passed"] and document["solver"] == "mysolver:right"
    assert document["counts"] == {"pass": 3}
    row = document["problems"][0]
    assert row["lower"] <= row["objective"] <= row["lower"] + row["gap"]
    assert row["verdict"] == "pass" and row["excess"] <= 1e-9


def test_out_gets_the_table_and_the_document(capfd, tmp_path: Path) -> None:
    assert run_check_solver(GIVEN | {"out": str(tmp_path / "a" / "b")}) == 0
    files = {path.name: path.read_text() for path in (tmp_path / "a" / "b").iterdir()}
    assert sorted(files) == ["check-solver.json", "check-solver.txt"]
    assert files["check-solver.txt"] == capfd.readouterr().out
    assert json.loads(files["check-solver.json"])["passed"]


def test_the_list_names_every_problem(capfd) -> None:
    assert run_check_solver(GIVEN | {"solver": None, "only": (), "list_only": True}) == 0
    lines = capfd.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [p.name for p in reference_problems()]


@each(
    ("change", "words"),
    [
        ({"solver": None}, "which solver"),
        ({"solver": "mysolver"}, "MODULE:FUNCTION"),
        ({"solver": "nosolver:fit"}, "cannot import nosolver"),
        ({"solver": "mysolver:nothing"}, "mysolver has no nothing"),
        ({"only": ("tie",)}, "did you mean ties"),
        ({"tol": float("nan")}, "tol must be"),
    ],
)
def test_bad_input_prints_nothing_and_leaves_no_folder(change, words, capfd, tmp_path) -> None:
    with pytest.raises(InputError, match=words):
        run_check_solver(GIVEN | {"out": str(tmp_path / "out")} | change)
    assert capfd.readouterr().out == ""
    assert not (tmp_path / "out").exists()
