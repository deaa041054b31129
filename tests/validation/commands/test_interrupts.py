"""Ctrl-C ends every command with status 130 at any moment; `solve` and `path` keep their best."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV

from aucert.approx import NBAUC, Adamax
from aucert.exact import ROCSVM, ROCSVMCV, Status, linear_problem, regularization_path, solve
from aucert.exact.certificate import certificate
from aucert.exact.solvers import cutting_plane
from aucert.exact.solvers.qp import QP
from aucert.validation.claims.claim import Claim, Context, Outcome, Verdict
from aucert.validation.commands import endings as module
from aucert.validation.commands.endings import Stopped, best_point_kept, stopped_at_once
from aucert.validation.data.datasets import load
from aucert.validation.suite import run, run_claim
from loops import each

# Before the code of a command is loaded, and after its results have begun to appear.

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
    *("aucert.validation.cli", "click", "aucert.validation.commands.endings", "numpy"),
    "aucert.validation.commands.problems",
)

APPEARING = {
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


def python(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=120)


@pytest.mark.slow
@each("module", LOADED_LATE)
def test_an_interrupt_while_the_code_is_loaded_is_status_130(module: str, tmp_path: Path) -> None:
    words = ["solve", "linear:60", "--lam", "0.01"]
    code = WHILE_LOADING.format(module=module, words=words)
    done = python(code, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "aucert: interrupted\n")
    closed = "import os, sys; sys.stderr = os.close(2)"
    assert python(f"{closed}\n{code}", tmp_path).returncode == 130


@pytest.mark.slow
@each("name", APPEARING)
def test_a_command_whose_results_appear_ends_as_if_nothing_had_come(name: str, tmp_path) -> None:
    (tmp_path / "zero_solver.py").write_text("def fit(X, y, lam):\n    return X[0] * 0\n")
    words, first, others = APPEARING[name]
    arguments = [*words.split(), "--out", str(tmp_path / "out")]
    done = python(FROM_THE_FIRST_FILE.format(first=first, words=arguments), tmp_path)
    assert done.stderr == "" and done.returncode == (name == "check-solver")
    assert json.loads(done.stdout)
    assert {first, *others} <= {path.name for path in (tmp_path / "out").iterdir()}


def test_a_certificate_that_fails_its_check_is_one_sentence_and_status_2(monkeypatch, command):
    evaluated = certificate.evaluated_with

    def false_bound(*given):
        (primal, dual), made = evaluated(*given)
        return (primal, replace(dual, value=dual.value + 1.0)), made

    monkeypatch.setattr(certificate, "evaluated_with", false_bound)
    said = command.refused("solve linear:60 --lam 0.01")
    assert "please report this" in said and "bound is false" in said


# What runs, and what it must not load: it would take long, or come before interrupts are heard.
UNLOADED = [
    ("import aucert.__main__", "click numpy typing re inspect dataclasses pathlib"),
    (
        "from aucert.validation.cli import aucert, main\n"
        "for name in [[], *([name] for name in aucert.commands)]:\n"
        "    try: main([*name, '--help'])\n    except SystemExit: pass",
        "numpy aucert.exact rich",
    ),
    pytest.param(
        "sys.argv[1:] = 'solve xor --lam 1 --json'.split()\n"
        "try: __import__('aucert.__main__').__main__.program()\nexcept SystemExit: pass",
        "sklearn pandas cvxpy matplotlib",
        marks=pytest.mark.slow,
    ),
]


@pytest.mark.parametrize(("code", "names"), UNLOADED)
def test_what_need_not_be_loaded_is_not(code: str, names: str, tmp_path: Path) -> None:
    look = f"import sys\n{code}\nprint([x for x in {names.split()} if x in sys.modules])"
    done = python(look, tmp_path)
    *said, loaded = done.stdout.splitlines()
    assert (done.returncode, done.stderr, loaded) == (0, "", "[]"), done
    assert "--json" not in code or json.loads("\n".join(said))["status"] == "certified"


SECONDS = 15.0  # for the end: a second or two, more where others use the processors
# What outlives the command's own work is not waited for: `{out}` is a folder that is not there.
COMMANDS = {
    "validate": ("validate --only incomplete-u-suboptimality-rate --json --out {out}", 6.0),
    "validate, two processes": ("validate --jobs 2 --out {out}", 15.0),
    "solve, cutting planes": ("solve linear:20000 --lam 1e-6 --method cutting-plane", 4.0),
    "solve, Clarabel": ("solve linear:400 --lam 1e-5 --method lifted --out {out}", 3.0),
    "solve, a kernel": ("solve linear:1500 --lam 1e-5 --kernel rbf --out {out}", 5.0),
    "path": ("path linear:3000 --cv 3 --tol 1e-10 --out {out}", 6.0),
    "certify": ("certify linear:3000 --lam 1e-3 --kernel rbf --weights {weights}", 4.0),
    "check-solver": ("check-solver slow_solver:fit --out {out}", 8.0),
    "reproduce": ("reproduce scaling-up-table-2 --profile full --out {out}", 10.0),
    "reproduce, two processes": ("reproduce --jobs 2 --out {out}", 12.0),
}


def interrupted(command: str, wait: float, folder: Path, group: bool) -> tuple[int, str, str]:
    """Start the command, interrupt it if it still runs, and return its status and what it said."""
    solver = "import time\ndef fit(X, y, lam):\n    time.sleep(0.2)\n    return X[0] * 0\n"
    (folder / "slow_solver.py").write_text(solver)
    (folder / "weights.csv").write_text("weight\n" + "0.1\n" * 3000)
    words = command.format(out=folder / "out", weights=folder / "weights.csv").split()
    process = subprocess.Popen(
        [sys.executable, "-m", "aucert", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        start_new_session=True,
    )
    try:
        time.sleep(wait)
        # A terminal tells the whole group, a program one process.
        if process.poll() is None:
            (os.killpg if group else os.kill)(process.pid, signal.SIGINT)
        out, said = process.communicate(timeout=SECONDS)
    finally:
        process.kill()
        process.communicate()
    return process.returncode, out, said


@pytest.mark.alone
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize(
    "times", [pytest.param(1, marks=pytest.mark.slow), pytest.param(4, marks=pytest.mark.release)]
)
def test_every_command_ends_with_130_at_every_moment(name: str, times: int, tmp_path: Path) -> None:
    command, longest = COMMANDS[name]
    rng = random.Random(f"moments of {name}")
    turns = heard = 0
    while heard < times:
        folder, turns = tmp_path / str(turns), turns + 1
        folder.mkdir()
        wait, group = rng.uniform(0.6, longest), rng.random() < 0.5
        status, out, said = interrupted(command, wait, folder, group)
        left = [p for p in (folder / "out").rglob("*") if p.is_file()]
        where = f"after {wait:.2f} s: {status}, {said!r}, {left}"
        assert not [p for p in left if p.name.endswith(".tmp")], where
        # OSQP prints that below Python, in one claim.
        kept = name.startswith(("solve", "path")) and status == 130  # the best point so far
        if out.strip() not in ("", "Solver interrupted") and not kept:  # it was through
            longest = max(0.9 * wait, 0.7)
            assert said.strip() in ("", "aucert: interrupted") and turns < 30, where
            continue
        heard += 1
        if not name.startswith(("validate", "reproduce")):
            done = {"solution.json", "weights.csv", "path.json", "check-solver.json"}
            assert not left or done & {p.name for p in left}, where
        assert status == 130 and said.strip() == "aucert: interrupted", where
        for row in rows(folder / "out"):  # judged before, and to the end
            assert row["verdict"] == row["expected_verdict"], where


def rows(out: Path) -> list[dict[str, Any]]:
    path = out / "claims.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    return [json.loads(line)["row"] for line in lines if line]


def keeps_its_best_point(context: Context) -> Outcome:
    """A claim that judges all that its solver returns."""
    data = load("linear:200")

    def stop(step: object) -> None:
        signal.raise_signal(signal.SIGINT)

    problem = linear_problem(data.X, data.y, 1e-3)
    solution = Adamax(max_iter=50, tol=0.0).solve(problem, callback=stop)
    cut = solution.status is Status.INTERRUPTED
    return Outcome(Verdict.FAILS if cut else Verdict.HOLDS, "judged")


def drops_it(context: Context) -> Outcome:
    """A claim in which compiled code makes an error of its own of the interrupt."""
    try:
        signal.raise_signal(signal.SIGINT)
    except BaseException:
        raise SystemError("returned a result with an exception set") from None
    return Outcome(Verdict.HOLDS, "judged")


@each("function", [keeps_its_best_point, drops_it])
def test_a_claim_that_is_interrupted_has_no_verdict_until_it_is_run_again(function, tmp_path):
    moments = iter([True, True, False])

    def sometimes(context: Context) -> Outcome:
        return function(context) if next(moments) else Outcome(Verdict.HOLDS, 1.0)

    claim = Claim("cut", "SAUC", "eq. (2)", "suite", "It holds.", Verdict.HOLDS, sometimes)
    with pytest.raises(KeyboardInterrupt):
        run_claim(claim, 0, "quick")
    with pytest.raises(KeyboardInterrupt):
        run(out=tmp_path, registry={"cut": claim})
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    assert run(out=tmp_path, registry={"cut": claim}).rows[0].verdict == Verdict.HOLDS
    (stored,) = rows(tmp_path)
    assert stored["verdict"] == "holds"


def test_solve_that_is_interrupted_ends_with_130_and_keeps_its_best_point(monkeypatch, command):
    calls, cut = [], cutting_plane.Cuts.add

    def interrupted_cut(*args, **rest):
        calls.append(1)
        if len(calls) == 3:
            signal.raise_signal(signal.SIGINT)
        return cut(*args, **rest)

    monkeypatch.setattr(cutting_plane.Cuts, "add", interrupted_cut)
    words = "linear:200 --method cutting-plane"
    status, out, err = command.run(f"solve {words} --lam 1e-3 --json --out new")
    assert (status, err.strip(), len(calls)) == (130, "aucert: interrupted", 3)
    found = json.loads(out)
    assert found["status"] == "interrupted" and 0 <= found["dual"] < found["primal"]
    kept = json.loads(Path("new/solution.json").read_text())
    assert kept["gap"] == found["gap"] and Path("new/weights.csv").exists()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    calls.clear()
    status, out, _ = command.run(f"path {words} --n-lams 3")
    assert status == 130 and "You stopped it: smaller lam are missing." in out


def interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


def interrupt_after(seconds: float) -> threading.Timer:
    """Send this process an interrupt, from outside the main thread, as a terminal does."""
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.daemon = True
    timer.start()
    return timer


@pytest.mark.alone
@pytest.mark.slow
@pytest.mark.parametrize("guarded", [False, True])
@pytest.mark.parametrize("backend", ["OSQP", "ECOS"])
def test_an_interrupt_inside_a_qp_solver_is_heard_within_seconds(backend, guarded: bool) -> None:
    """OSQP and ECOS put a handler of their own in place of Python's."""
    if backend not in pytest.importorskip("cvxpy").installed_solvers():
        pytest.skip(f"{backend} is not installed")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 40))
    problem = linear_problem(X, np.arange(500) % 2, 1e-6)
    solver = QP("lifted", backend, solver_tol=1e-13)
    solver.solve(linear_problem(X[:20], np.arange(20) % 2, 1.0))  # loads what it needs
    for wait in rng.uniform(0.2, 2.0, 3):
        start = time.monotonic()
        timer = interrupt_after(wait)
        if guarded:
            with pytest.raises(KeyboardInterrupt), stopped_at_once():
                solver.solve(problem)
                time.sleep(20)  # where the solver was done before
        else:
            status = solver.solve(problem).status
            late = timer.is_alive()
            with pytest.raises(KeyboardInterrupt) if late else contextlib.nullcontext():
                timer.join()
                time.sleep(0.2)
            assert status == Status.INTERRUPTED or time.monotonic() - start < wait + 0.5
        assert time.monotonic() - start < wait + 5
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@each("made_of_it", [None, SystemError("result with an exception set")])
def test_an_interrupt_that_was_swallowed_or_turned_ends_the_block(made_of_it) -> None:
    with pytest.raises(KeyboardInterrupt), stopped_at_once():
        try:
            interrupt()
        except Stopped:
            if made_of_it is not None:
                raise made_of_it from None


def test_what_cleans_up_is_not_disturbed_before_the_third_interrupt(monkeypatch) -> None:
    monkeypatch.setattr(module, "AGAIN", 0.05)
    steps = []
    with pytest.raises(KeyboardInterrupt), stopped_at_once():
        try:
            interrupt()
        finally:
            interrupt()
            time.sleep(0.3)
            steps.append("cleaned up")
            interrupt()
            steps.append("waited for")
    assert steps == ["cleaned up"]


def test_an_ignored_interrupt_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with stopped_at_once():
            interrupt()
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_command_keeps_the_best_point_of_the_first_interrupt_only() -> None:
    def stop(step: object) -> None:
        interrupt()

    data, asked = load("linear:200"), {"method": "cutting-plane", "callback": stop}
    with stopped_at_once(), best_point_kept():
        solution = solve(data.X, data.y, 1e-3, **asked)
    assert solution.status == Status.INTERRUPTED
    with pytest.raises(KeyboardInterrupt), stopped_at_once(), best_point_kept():
        with contextlib.suppress(KeyboardInterrupt):
            interrupt()
        solve(data.X, data.y, 1e-3, **asked)


def test_a_library_call_installs_nothing() -> None:
    seen: list[object] = []
    before = signal.getsignal(signal.SIGINT), sys.unraisablehook, threading.active_count()

    def look(step: object) -> None:
        seen.append((signal.getsignal(signal.SIGINT), sys.unraisablehook, threading.active_count()))

    data = load("linear:200")
    for call in (
        lambda: solve(data.X, data.y, 1e-3, callback=look),
        lambda: ROCSVM(1e-3).fit(data.X, data.y, callback=look),
        lambda: regularization_path(data.X, data.y, [1e-2, 1e-3], callback=look),
    ):
        seen.clear()
        call()
        assert seen and set(seen) == {before}


MODELS = [ROCSVM(method="cutting-plane"), ROCSVMCV(), NBAUC(random_state=0)]


@each("model", MODELS, ids=lambda model: type(model).__name__)
def test_an_interrupt_inside_any_estimator_ends_a_search_over_parameters(model, monkeypatch):
    fits: list[int] = []
    keep = type(model)._check_fit  # type: ignore[attr-defined]

    def interrupted(self: object, *given: object, **named: object) -> object:
        fits.append(1)
        interrupt_after(0.0)
        time.sleep(0.05)
        return keep(self, *given, **named)

    monkeypatch.setattr(type(model), "_check_fit", interrupted)
    X, y = make_classification(200, 5, random_state=0)
    with warnings.catch_warnings(), pytest.raises(KeyboardInterrupt):
        warnings.simplefilter("ignore")
        GridSearchCV(clone(model), {"max_time": [1, 2, 3]}, cv=3).fit(X, y)
    assert len(fits) == 1
