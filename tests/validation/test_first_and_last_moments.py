"""Ctrl-C before the code of a command is loaded, and after its results have begun to appear."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from aucert.exact.certificate import certificate
from aucert.validation.cli import main
from loops import each

WHILE_LOADING = """
import os, runpy, signal, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
sys.argv[1:] = {words!r}
runpy.run_module("aucert", run_name="__main__", alter_sys=True)
"""

# From then on an interrupt at every call of a function, up to the end of the process.
FROM_THE_FIRST_FILE = """
import os, signal, sys
import click
replace, echo = os.replace, click.echo
def interrupt(*event):
    if event[1] == "call":
        os.kill(os.getpid(), signal.SIGINT)
def replaced(source, target, **rest):
    if {first!r} and str(target).endswith({first!r}) and ".aucert-" not in str(target):
        sys.setprofile(interrupt)
    return replace(source, target, **rest)
def said(*words, **rest):
    echo(*words, **rest)
    if {first!r} == "":
        sys.setprofile(interrupt)
os.replace, click.echo = replaced, said
from aucert.__main__ import program
sys.argv[1:] = {words!r}
program()
"""

LOADED_LATE = (
    *("aucert.validation.cli", "click", "aucert.validation.commands.interrupts", "numpy"),
    "aucert.validation.commands.solve_path",
)

COMMANDS = {
    "solve": ("solve linear:60 --lam 0.01 --json", "proof.npz", {"solution.json", "weights.csv"}),
    "path": ("path linear:60 --n-lams 3 --json", "path-weights.csv", {"path.json"}),
    "check-solver": (
        "check-solver zero_solver:fit --only ties --json",
        "check-solver.json",
        {"check-solver.txt"},
    ),
    "validate": (
        "validate --only sauc-pair-counts-by-the-printed-rule --json",
        "claims.json",
        {"report.html"},
    ),
    "reproduce": ("reproduce sauc-table-1 --json", "sauc-table-1.md", {"index.md"}),
}


def run(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=120)


@pytest.mark.slow
@each("module", LOADED_LATE)
def test_an_interrupt_while_the_code_is_loaded_is_status_130(module: str, tmp_path: Path) -> None:
    words = ["solve", "linear:60", "--lam", "0.01"]
    done = run(WHILE_LOADING.format(module=module, words=words), tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "aucert: interrupted\n")


@pytest.mark.slow
@each("name", COMMANDS)
def test_a_command_whose_results_appear_ends_as_if_nothing_had_come(name: str, tmp_path) -> None:
    (tmp_path / "zero_solver.py").write_text("def fit(X, y, lam):\n    return X[0] * 0\n")
    words, first, others = COMMANDS[name]
    arguments = [*words.split(), "--out", str(tmp_path / "out")]
    done = run(FROM_THE_FIRST_FILE.format(first=first, words=arguments), tmp_path)
    assert done.stderr == "" and done.returncode == (name == "check-solver")
    assert json.loads(done.stdout)
    assert {first, *others} <= {path.name for path in (tmp_path / "out").iterdir()}


def test_hardly_anything_is_loaded_before_interrupts_are_answered(tmp_path: Path) -> None:
    code = """
import sys
before = set(sys.modules)
import aucert.__main__
print(sorted(name for name in set(sys.modules) - before if not name.startswith("aucert")))
"""
    loaded = set(ast.literal_eval(run(code, tmp_path).stdout))
    assert "signal" in loaded
    assert loaded & {"click", "numpy", "typing", "re", "inspect", "dataclasses", "pathlib"} == set()


def test_a_certificate_that_fails_its_check_is_one_sentence_and_status_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    evaluated = certificate.evaluated_with

    def false_bound(*given):
        (primal, dual), made = evaluated(*given)
        return (primal, replace(dual, value=dual.value + 1.0)), made

    monkeypatch.setattr(certificate, "evaluated_with", false_bound)
    with pytest.raises(SystemExit) as ended:
        main(["solve", "linear:60", "--lam", "0.01"])
    said = capsys.readouterr()
    assert (ended.value.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert "please report this" in said.err and "bound is false" in said.err


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


def test_help_of_no_command_loads_numpy_or_the_solvers(tmp_path: Path) -> None:
    code = "import sys\nfrom aucert.validation.cli import aucert, main\n"
    code += "for name in [[], *([name] for name in aucert.commands)]:\n    try:\n"
    code += "        main([*name, '--help'])\n    except SystemExit:\n        pass\n"
    code += "print([m for m in ('numpy', 'aucert.exact', 'rich') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert run.stdout.splitlines()[-1] == "[]", run.stdout + run.stderr
