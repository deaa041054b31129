"""`aucert check-solver`: exit status, output and files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aucert.validation.commands.others import run_check_solver
from aucert.validation.reference.problems import reference_problems

GIVEN: dict[str, Any] = {
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


def run(**changed: Any) -> int:
    return run_check_solver(**(GIVEN | changed))


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


def test_a_right_solver_is_status_0_and_a_table_which_the_folder_gets_too(capfd, tmp_path) -> None:
    assert run(**{"out": str(tmp_path / "a" / "b")}) == 0
    out, err = capfd.readouterr()
    assert err == ""
    names = ["two-rows:0.1", "two-rows:10", "ties"]
    assert [line.split()[0] for line in out.splitlines()[1:4]] == names
    assert "3 of 3 problems solved within 0.001." in out
    files = {path.name: path.read_text() for path in (tmp_path / "a" / "b").iterdir()}
    assert sorted(files) == ["check-solver.json", "check-solver.txt"]
    assert files["check-solver.txt"] == out
    document = json.loads(files["check-solver.json"])
    assert document["passed"] and document["counts"] == {"pass": 3}
    row = document["problems"][0]
    assert row["lower"] <= row["objective"] <= row["lower"] + row["gap"]
    assert row["verdict"] == "pass" and row["excess"] <= 1e-9


def test_a_wrong_solver_is_status_1_and_json_is_one_document_whatever_it_prints(capfd) -> None:
    assert run(**{"solver": "mysolver:wrong", "as_json": True}) == 1
    out, err = capfd.readouterr()
    document = json.loads(out)
    assert err == "" and not document["passed"] and document["solver"] == "mysolver:wrong"
    assert "the sign is wrong" in str(document["diagnosis"])


def test_the_list_names_every_problem(capfd) -> None:
    assert run(**{"solver": None, "only": (), "list_only": True}) == 0
    lines = capfd.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [p.name for p in reference_problems()]
