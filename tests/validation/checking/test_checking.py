"""`check_solver` and gap curves: wrong solvers are found out, gaps are proved, limits kept."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from array import array
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from aucert.exact import CertificateError, certify, solve
from aucert.validation import check_solver, gap_curves
from aucert.validation.checking import gap_curves as module
from aucert.validation.checking.check_solver import judged
from aucert.validation.checking.gap_curves import GapCurves
from aucert.validation.checking.worker import load_function
from aucert.validation.reference.problems import ReferenceProblem, reference_problems
from loops import each, first_fast, refuses


def exact(X, y, lam, *, sample_weight=None):
    return solve(X, y, lam, sample_weight=sample_weight).w


def descent(X, y, lam, max_iter=15_000):
    """A quasi-Newton method for the squared hinge."""
    plus, minus = X[y == 1], X[y == 0]

    def value_and_slope(w):
        z = np.maximum(0.0, 1 - (plus @ w)[:, None] + minus @ w)
        slope = -2 / z.size * (plus.T @ z.sum(axis=1) - minus.T @ z.sum(axis=0))
        return lam / 2 * w @ w + (z**2).mean(), lam * w + slope

    options = {"maxiter": max_iter, "ftol": 1e-15, "gtol": 1e-12}
    start = np.zeros(X.shape[1])
    return minimize(value_and_slope, start, jac=True, method="L-BFGS-B", options=options).x


@each("loss", ["hinge", "squared_hinge", "square"])
def test_our_own_solvers_pass_every_problem(loss: str) -> None:
    def fit(X, y, lam, sample_weight=None):
        return solve(X, y, lam, loss=loss, tol=1e-6, sample_weight=sample_weight)

    report = check_solver(fit, loss=loss)
    assert report.passed and report.counts == {"pass": len(reference_problems())}
    assert report.diagnosis == ()


def test_stopping_too_early_is_caught_and_named() -> None:
    def fit(X, y, lam):
        return descent(X, y, lam, max_iter=3)

    asked: dict[str, Any] = {"loss": "squared_hinge", "only": ["overlap", "noise", "ties"]}
    assert check_solver(descent, **asked).passed
    report = check_solver(fit, **asked)
    assert not report.passed and "stop too early" in report.diagnosis[0]
    assert check_solver(fit, loss="squared_hinge", only="overlap", tol=0.1).passed


def distinct(X, y, lam):
    sides = [np.unique(X[y == side], axis=0) for side in (0, 1)]
    return exact(np.vstack(sides), np.repeat([0, 1], [len(side) for side in sides]), lam)


BASIC = ["overlap", "noise", "integers"]
CAUSES: dict[str, tuple[Any, list[str]]] = {
    "ignores lam": (lambda X, y, lam: exact(X, y, 0.01), BASIC),
    "returns zero": (lambda X, y, lam: np.zeros(X.shape[1]), BASIC),
    "sign is wrong": (lambda X, y, lam: -exact(X, y, lam), BASIC),
    "in place of the mean": (lambda X, y, lam: exact(X, y, lam / np.sum(y) / np.sum(1 - y)), BASIC),
    "optimal for 2 lam": (lambda X, y, lam: exact(X, y, 2 * lam), BASIC),
    "the constant C of the mean": (lambda X, y, lam: exact(X, y, 1 / lam), BASIC),
    "divided by the pairs": (lambda X, y, lam: exact(X, y, lam * np.sum(y) * np.sum(1 - y)), BASIC),
    "optimal for about 7": (lambda X, y, lam: exact(X, y, 7 * lam), BASIC),
    "minimises the square loss": (lambda X, y, lam: solve(X, y, lam, loss="square"), BASIC),
    "equal rows in a class": (distinct, ["overlap:0.1", "integers:0.1", "binary", "duplicates"]),
    "not of order one": (
        lambda X, y, lam: exact(X, y, lam) * (1.0 if np.abs(X).max() < 10 else 0.5),
        ["overlap", "ties", "large-units", "outlier"],
    ),
}


@each("cause", first_fast(CAUSES, 3))
def test_a_likely_cause_is_named(cause: str) -> None:
    fit, names = CAUSES[cause]
    report = check_solver(fit, only=names)
    assert not report.passed
    assert [cause in sentence for sentence in report.diagnosis] == [True], report.table


def test_a_step_that_hardly_leaves_zero_is_not_another_scaling() -> None:
    report = check_solver(lambda X, y, lam: 1e-6 * X[0] / lam, only=BASIC)
    assert not any("scaling" in sentence for sentence in report.diagnosis), report.diagnosis


def test_row_weights_are_skipped_without_the_argument_and_checked_with_it() -> None:
    names = ["overlap", "weights", "zero-weights", "weights-for-rows"]
    unweighted = lambda X, y, lam: exact(X, y, lam)  # noqa: E731
    without = check_solver(unweighted, only=names)
    assert without.passed and without.counts == {"pass": 5, "skipped": 3}
    assert "3 skipped" in without.summary
    ignoring = check_solver(lambda X, y, lam, sample_weight=None: exact(X, y, lam), only=names)
    assert ignoring.counts == {"pass": 5, "fail": 3}
    assert "sample_weight" in ignoring.diagnosis[0]
    assert not check_solver(unweighted, only="weights").passed  # nothing was run


def endless(X, y, lam):
    while True:
        pass


def raising(X, y, lam):
    raise RuntimeError(f"bad lam:\n{lam:g}")


BAD = [
    ("not finite", lambda X, y, lam: np.full(X.shape[1], np.nan), "weight 0 is nan"),
    ("error", raising, r"RuntimeError: bad lam: 0.1 \(test_checking.py, line \d+\)"),
    ("error", lambda X, y, lam: sys.exit(3), "SystemExit"),
    ("error", lambda X, y, lam: input(), "EOFError"),
    ("error", lambda X, y, lam: "words", "str"),
    ("error", lambda X, y, lam: [[1.0, 2.0], [3.0]], "list"),
    ("error", lambda X, y, lam: object(), "object"),
    ("wrong shape", lambda X, y, lam: None, "return w"),
    ("wrong shape", lambda X, y, lam: np.zeros(4), r"shape \(4,\).*intercept"),
    ("crash", lambda X, y, lam: os.kill(os.getpid(), signal.SIGSEGV), "SIGSEGV"),
    ("timeout", endless, "stopped after 0.5 s"),
    ("fail", lambda X, y, lam: np.full(X.shape[1], 1e300), "overflows"),
]


@each("bad", BAD, ids=lambda bad: bad[2])
def test_what_is_not_an_answer_gets_its_own_verdict(bad: tuple[str, Any, str]) -> None:
    verdict, fit, message = bad
    report = check_solver(fit, only=["overlap:0.1", "ties"], max_time=0.5)
    assert report.counts == {verdict: 2}
    row = report.rows[0]
    assert row.excess is None and re.search(message, row.message), row.message
    assert verdict.upper() in report.table
    assert json.loads(report.to_json())["counts"] == {verdict: 2}


def test_objects_and_row_vectors_are_read() -> None:
    class Model:
        def __init__(self, w):
            self.coef_ = w[None, :]

    assert check_solver(lambda X, y, lam: Model(exact(X, y, lam)), only="ties").passed
    assert check_solver(lambda X, y, lam: list(exact(X, y, lam)), only="ties").passed


def test_below_1e6_the_optimum_is_no_scale_and_below_a_bound_is_our_defect() -> None:
    def verdict(w: float, best: float) -> str:
        rows = np.array([[1.0], [0.0]]), np.array([1, 0])
        problem = ReferenceProblem("a", "a", "", *rows, None, 1e-8, {"hinge": (best, best)}, {})
        return judged(problem, "hinge", 1e-3, {"kind": "w", "w": [w], "seconds": 0.0}).verdict

    for w, wanted in ((1.0, "pass"), (1 - 9e-5, "pass"), (1 - 1.1e-4, "fail")):
        assert verdict(w, 5e-9) == wanted
    with pytest.raises(CertificateError):
        verdict(1.0, 0.5)


REFUSED: dict[str, list[tuple[Any, str]]] = {
    "check_solver": [
        ({"tol": 0.0}, "tol must be > 0"),
        ({"max_time": -1.0}, "max_time must be > 0"),
        ({"loss": "logistic"}, "loss must be one of"),
        ({"seed": -1}, "seed must be"),
        ({"only": "overlapping"}, "no reference problem"),
        ({"fit": 3}, "fit must be a function"),
        ({"fit": "no_such_module:fit"}, "cannot import no_such_module"),
        ({"fit": "json:no_such_function"}, "json has no no_such_function"),
    ],
    "gap_curves": [
        ({"y": None, "lam": None}, "X, y and lam together"),
        ({"fits": {}}, "mapping of names"),
        ({"fits": {"a": 3}}, "a fit is a function"),
        ({"fits": {"aucert": exact}}, "choose another"),
        ({"lam": -1.0}, "lam"),
        ({"y": np.ones(60)}, "class"),
        ({"fits": {"a": "no_such_module:fit"}}, "no_such_module"),
    ],
}


@each("name", REFUSED)
def test_bad_arguments_are_refused_in_one_sentence(name: str) -> None:
    for change, words in REFUSED[name]:
        if name == "check_solver":
            call, given = check_solver, {"fit": exact, "only": "ties"}
        else:
            call, given = gap_curves, {"fits": {"a": exact}, "X": X, "y": Y, "lam": LAM}
        refuses(words, call, **given | change)


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


def alive(pid: int) -> bool:
    """Whether a process runs; an orphan that nobody has waited for yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
    except OSError:
        os.kill(pid, 0)
        return True


def await_end(pids: Path) -> None:
    deadline = time.monotonic() + 10
    while any(alive(int(pid)) for pid in pids.read_text().split()):
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


def test_no_process_is_left_behind_by_a_time_limit_or_an_interrupt(tmp_path, monkeypatch) -> None:
    (tmp_path / "sleeps.py").write_text(SLEEPS)
    monkeypatch.chdir(tmp_path)
    check_solver("sleeps:fit", only="ties", max_time=1)
    await_end(tmp_path / "pids")

    def fit(X, y, lam):
        (tmp_path / "pids").write_text(str(os.getpid()))
        return np.zeros(X.shape[1])

    def interrupt(done, total, row):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check_solver(fit, only="overlap", progress=interrupt)
    await_end(tmp_path / "pids")


@pytest.mark.slow
@each(
    ("words", "number", "status"),
    [
        ("check-solver sleeps:fit", signal.SIGTERM, -signal.SIGTERM),
        ("check-solver sleeps:fit --out out", signal.SIGTERM, 143),
        ("bench sleeps.py:fit", signal.SIGKILL, -signal.SIGKILL),
    ],
)
def test_no_process_and_no_file_outlives_a_command_that_is_killed(tmp_path, words, number, status):
    (tmp_path / "sleeps.py").write_text(SLEEPS)
    command = subprocess.Popen([sys.executable, "-m", "aucert", *words.split()], cwd=tmp_path)
    while not (tmp_path / "pids").exists():
        assert command.poll() is None
        time.sleep(0.05)
    command.send_signal(number)
    assert command.wait(10) == status
    assert not (tmp_path / "out").exists()
    await_end(tmp_path / "pids")


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


def test_a_name_that_is_wrong_is_refused_with_what_may_be_meant(tmp_path, monkeypatch) -> None:
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
    for name, words in BAD_NAMES.items():
        refuses(words, load_function, name)
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


def test_a_large_problem_and_much_output_fit_through_the_pipes() -> None:
    def fit(X, y, lam):
        os.write(2, b"x" * 1_000_000)
        return X.sum(axis=0)

    (row, _) = check_solver(fit, only="larger", max_time=20).rows
    assert row.verdict == "fail"
    assert row.w is not None
    assert np.array_equal(row.w, row.problem.X.copy().sum(axis=0))


RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)
LAM = 0.1


def steps(X, y, lam, max_iter=100):
    w = np.zeros(X.shape[1])
    p, q = X[y == 1], X[y == 0]
    for t in range(max_iter):
        short = np.subtract.outer(p @ w, q @ w) < 1
        w -= (lam * w - (short.sum(1) @ p - short.sum(0) @ q) / short.size) / (lam * (t + 1))
    return w


def called(X, y, lam, callback):
    for t in range(1000):
        callback(steps(X, y, lam, 2**t))


def sleeps(X, y, lam):
    time.sleep(30 if len(y) > 40 else 0)
    return np.zeros(3)


def wrong(X, y, lam):
    return np.zeros(2)


def never_finite(X, y, lam, callback):
    callback(np.full(3, np.nan))
    return np.zeros(3)


def curves_of(*fits: Any, max_time: float) -> tuple[GapCurves, dict[str, Any]]:
    found = gap_curves({f.__name__: f for f in fits}, X, Y, LAM, max_time=max_time, ours=False)
    return found, {curve.name: curve for curve in found.curves}


@pytest.mark.slow
def test_each_way_gives_proved_points_and_what_goes_wrong_costs_nobody_else() -> None:
    fits = (steps, called, exact, sleeps, wrong, raising, never_finite)
    found, curves = curves_of(*fits, max_time=0.5)
    (gap,) = curves["exact"].gap
    assert 0 <= gap <= 1e-8
    first = certify(X, Y, LAM, w=steps(X, Y, LAM, 1))
    assert curves["steps"].gap[0] == pytest.approx(first.gap, rel=1e-6)
    assert curves["steps"].gap[0] >= (first.gap or 0.0) - first.rounding
    for name, way in (("steps", "max_iter"), ("called", "callback"), ("exact", "once")):
        assert curves[name].way == way
        if way != "once":
            assert len(curves[name].gap) > 3
            assert min(curves[name].relative_gap) < curves[name].relative_gap[0]
    assert list(curves["called"].seconds) == sorted(curves["called"].seconds)
    for name, ended in (
        ("called", "out of time"),
        ("sleeps", "--max-time"),
        ("wrong", "shape (2,) returned"),
        ("raising", "bad lam"),
        ("never_finite", "no finite weights"),
    ):
        assert ended in curves[name].ended
    assert curves["sleeps"].gap == ()
    (line,) = [row for row in found.table.splitlines() if row.split()[0] == "exact"]
    objective = certify(X, Y, LAM, w=exact(X, Y, LAM)).primal
    assert float(line.split()[2]) == pytest.approx(objective, rel=1e-5)


def idle(X, y, lam, max_iter=1):
    return np.array([max_iter * 1e-6, 0.0, 0.0])


def in_c(X, y, lam, max_iter=1):
    return idle(X, y, lam, array("i", [max_iter])[0])


def waits(X, y, lam, max_iter=1):
    time.sleep(5e-4 * max_iter)
    return idle(X, y, lam, max_iter)


@pytest.mark.slow
@pytest.mark.alone
def test_points_come_until_the_time_is_up_by_the_fits_own_clock() -> None:
    _, curves = curves_of(waits, idle, in_c, max_time=1.0)
    seconds = np.array(curves["waits"].seconds)
    own = 5e-4 * 2.0 ** np.arange(seconds.size)
    assert curves["waits"].ended == "out of time" and seconds.size > 8
    assert 3.5 * seconds[-1] + sum(seconds) > 1.0
    np.testing.assert_allclose(seconds, own, rtol=0.05, atol=2e-3)
    # Efforts that cost nothing end where no number counts them: 2^62, or 2^30 in C.
    for name, count in (("idle", 63), ("in_c", 31)):
        assert (curves[name].ended, len(curves[name].seconds)) == ("finished", count)


def test_a_first_run_that_does_not_come_back_is_named(monkeypatch) -> None:
    monkeypatch.setattr(module, "WARM_UP_SECONDS", 0.1)
    (found,) = gap_curves({"never": endless}, X, Y, LAM, max_time=0.2, ours=False).curves
    assert found.gap == () and "38 rows" in found.ended and "0.2 s" in found.ended


def goes_on(X, y, lam, callback):
    w = solve(X, y, lam).w
    while True:
        callback(w)
        time.sleep(1e-3)


def test_a_solver_whose_time_went_after_it_had_converged_has_converged() -> None:
    heard: list[str] = []
    asked = {"max_time": 0.3, "ours": False, "data": "rows", "progress": heard.append}
    (found,) = gap_curves({"goes_on": goes_on}, X, Y, LAM, **asked).curves
    assert found.ended == "converged" and min(found.relative_gap) < 1e-9
    assert ["rows" in words for words in heard] == [True, True] and "goes_on" in heard[1]
