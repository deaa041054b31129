"""A fit runs in a process of its own: it may print, crash, change things, and never end."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from aucert.exact import solve
from aucert.exact.errors import InputError
from aucert.validation.checking.check_solver import check_solver
from aucert.validation.checking.worker import load_function
from loops import each


def exact(X, y, lam):
    return solve(X, y, lam, tol=1e-6).w


@pytest.mark.slow
def test_the_next_problem_is_run_after_a_crash_or_a_timeout() -> None:
    def fit(X, y, lam):
        if lam == 1e-3:
            os._exit(7)
        while lam == 0.1:
            time.sleep(1)
        return exact(X, y, lam)

    report = check_solver(fit, only="overlap", max_time=2)
    assert [row.verdict for row in report.rows] == ["pass", "crash", "pass", "timeout", "pass"]
    assert "exit status 7" in report.rows[1].message


def test_no_process_is_left_behind(tmp_path: Path) -> None:
    def fit(X, y, lam):
        child = subprocess.Popen(["sleep", "60"])
        (tmp_path / "pids").write_text(f"{os.getpid()} {child.pid}")
        child.wait()

    check_solver(fit, only="ties", max_time=1)
    deadline = time.monotonic() + 5
    for pid in map(int, (tmp_path / "pids").read_text().split()):
        while alive(pid):
            assert time.monotonic() < deadline
            time.sleep(0.02)


SLEEPS = """
import os, subprocess, time
def fit(X, y, lam):
    child = subprocess.Popen(["sleep", "60"])
    with open("pids.tmp", "w") as file:
        file.write(f"{os.getpid()} {child.pid}")
    os.replace("pids.tmp", "pids")
    time.sleep(60)
"""


@each(
    ("words", "number"),
    [("check-solver sleeps:fit", signal.SIGTERM), ("bench sleeps.py:fit", signal.SIGKILL)],
)
def test_no_process_outlives_a_command_that_is_killed(
    tmp_path: Path, words: str, number: int
) -> None:
    (tmp_path / "sleeps.py").write_text(SLEEPS)
    command = subprocess.Popen([sys.executable, "-m", "aucert", *words.split()], cwd=tmp_path)
    while not (tmp_path / "pids").exists():
        assert command.poll() is None
        time.sleep(0.05)
    command.send_signal(number)
    assert command.wait(10) == -number
    pids = [*map(int, (tmp_path / "pids").read_text().split())]
    deadline = time.monotonic() + 10
    while any(map(alive, pids)):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def alive(pid: int) -> bool:
    """Whether a process runs; an orphan that nobody has waited for yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
    except OSError:
        os.kill(pid, 0)
        return True


def test_what_a_fit_prints_and_breaks_stays_in_its_process(capfd) -> None:
    def fit(X, y, lam):
        print("python", file=sys.stdout)
        os.write(1, b"C\n")
        X[:] = 0.0
        os.environ["AUCERT_TEST_MARK"] = "1"
        return np.zeros(X.shape[1])

    report = check_solver(fit, only=["equal-rows", "mirrored"])
    assert report.passed and "fork" in report.isolation
    assert capfd.readouterr() == ("", "")
    assert "AUCERT_TEST_MARK" not in os.environ


def test_a_seed_makes_a_random_solver_repeatable() -> None:
    def fit(X, y, lam):
        return np.random.normal(size=X.shape[1]) + random.random()  # noqa: NPY002

    found = [check_solver(fit, only="ties", seed=seed).rows[0].objective for seed in (1, 1, 2)]
    assert found[0] == found[1] != found[2]


def test_in_this_process_the_limit_is_checked_afterwards_and_the_seed_is_put_back(capsys) -> None:
    def fit(X, y, lam):
        print("noise")
        np.random.seed(5)  # noqa: NPY002
        time.sleep(0.05)
        return exact(X, y, lam)

    before = np.random.get_state(legacy=False)["state"]["key"].tolist()  # noqa: NPY002
    report = check_solver(fit, only="ties", isolate=False, max_time=0.01)
    assert report.counts == {"timeout": 1} and "cannot be stopped" in report.isolation
    assert np.random.get_state(legacy=False)["state"]["key"].tolist() == before  # noqa: NPY002
    assert check_solver(fit, only="ties", isolate=False).passed
    assert capsys.readouterr().out == ""


MYSOLVER = """
import os, numpy as np
print('imported')
class Best:
    @staticmethod
    def fit(X, y, lam):
        os.write(1, b'noise')
        return np.zeros(X.shape[1])
def hidden(X, y, lam):
    print('last words')
    os.abort()
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module of the user's in the current folder."""
    (tmp_path / "mysolver.py").write_text(MYSOLVER)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_a_name_is_imported_from_the_current_folder_by_a_new_interpreter(module, capfd) -> None:
    report = check_solver("mysolver:Best.fit", only=["equal-rows", "mirrored", "ties"])
    assert [row.verdict for row in report.rows] == ["pass", "pass", "fail"]
    assert report.solver == "mysolver:Best.fit" and "new interpreter" in report.isolation
    assert "mysolver" not in sys.modules
    (row,) = check_solver("mysolver:hidden", only="ties").rows
    assert row.verdict == "crash"
    assert row.message == "its process ended (SIGABRT): last words"
    (module / "broken.py").write_text("x = 1\n1 / 0\n")
    with pytest.raises(InputError, match=r"broken: ZeroDivisionError.*\(broken.py, line 2\)"):
        check_solver("broken:fit")
    (module / "quits.py").write_text("import os\nos._exit(4)\n")
    with pytest.raises(InputError, match=r"quits:fit: its process ended \(exit status 4\)"):
        check_solver("quits:fit")
    assert capfd.readouterr() == ("", "")


IN_A_MODULE = "def fit(X, y, lam):\n    return X[0]\ndef two(X, y):\n    return X[0]\nconst = 3\n"
BAD_NAMES = {
    "mine": r"^mine: write MODULE:FUNCTION",
    "mine:": r"^mine:: write MODULE:FUNCTION",
    ":fit": r"^:fit: write MODULE:FUNCTION",
    "./mine:fit": r"^./mine:fit: write MODULE:FUNCTION.* or FILE.py:FUNCTION",
    "minne:fit": r"^cannot import minne: no minne in this folder.*did you mean mine\?",
    "mine:fitt": r"^mine has no fitt \(did you mean fit\?\)",
    "mine:const": r"^mine:const is not a function",
    "needs:fit": r"^cannot import needs: ModuleNotFoundError.*nosuchlib.*\(needs.py, line 1\)",
    "slip:fit": r"^cannot import slip: SyntaxError: .*\(slip.py, line 1\)$",
    "leaves:fit": r"^cannot import leaves: SystemExit: 3 \(leaves.py, line 2\)",
    "none.py:fit": r"^none.py: no such file",
    "folder/json.py:fit": r"another module is called json; rename the file",
}


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Modules that are right and wrong; the path and the modules of Python are put back."""
    (tmp_path / "mine.py").write_text(IN_A_MODULE)
    (tmp_path / "needs.py").write_text("import nosuchlib\n")
    (tmp_path / "slip.py").write_text("def fit(:\n")
    (tmp_path / "leaves.py").write_text("import sys\nsys.exit(3)\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "json.py").write_text(IN_A_MODULE)
    (tmp_path / "folder" / "there.py").write_text("from beside import fit\n")
    (tmp_path / "folder" / "beside.py").write_text(IN_A_MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("mine", "there", "beside"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


def test_a_name_that_is_wrong_is_refused_with_what_may_be_meant(modules) -> None:
    for name, words in BAD_NAMES.items():
        with pytest.raises(InputError, match=words):
            load_function(name)


def test_a_file_in_another_folder_can_be_named_with_what_lies_beside_it(modules) -> None:
    X = np.eye(3)
    for name in ("mine:fit", "mine.py:fit", "folder/there.py:fit"):
        assert load_function(name)(X, None, 1.0).tolist() == [1, 0, 0]


def test_a_fit_that_changes_its_data_is_told_so_and_judged_on_the_data() -> None:
    def fit(X, y, lam):
        w = solve(X, y, lam).w
        X -= X.mean(axis=0)
        return w

    report = check_solver(fit, only=["overlap:0.1", "ties"])
    assert report.passed and "changes its caller's X: let it take a copy" in report.summary
    assert report.to_dict()["problems"][0]["changed"] == ["X"]
    kept = check_solver(lambda X, y, lam: solve(X, y, lam).w, only="ties")
    assert "changes" not in kept.summary


def test_an_interrupt_ends_the_process_too(tmp_path: Path) -> None:
    def fit(X, y, lam):
        (tmp_path / "pid").write_text(str(os.getpid()))
        return np.zeros(X.shape[1])

    def interrupt(done, total, row):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check_solver(fit, only="overlap", progress=interrupt)
    assert not alive(int((tmp_path / "pid").read_text()))


def test_a_large_problem_and_much_output_fit_through_the_pipes() -> None:
    def fit(X, y, lam):
        os.write(2, b"x" * 1_000_000)
        return X.sum(axis=0)

    (row, _) = check_solver(fit, only="larger", max_time=20).rows
    assert row.verdict == "fail"
    assert row.w is not None
    assert np.array_equal(row.w, row.problem.X.copy().sum(axis=0))
