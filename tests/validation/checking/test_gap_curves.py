"""Anybody's solvers against time: every gap is proved, every limit is kept."""

from __future__ import annotations

import os
import time

import numpy as np
import pytest

from aucert.exact import certify, solve
from aucert.exact.errors import InputError
from aucert.validation import gap_curves
from aucert.validation.checking import gap_curves as module
from aucert.validation.checking.gap_curves import Curve, GapCurves
from aucert.validation.checking.worker import Trace
from loops import each

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)
LAM = 0.1


def steps(X, y, lam, max_iter=100):
    """Subgradient steps."""
    w = np.zeros(X.shape[1])
    p, q = X[y == 1], X[y == 0]
    for t in range(max_iter):
        short = np.subtract.outer(p @ w, q @ w) < 1
        w -= (lam * w - (short.sum(1) @ p - short.sum(0) @ q) / short.size) / (lam * (t + 1))
    return w


def called(X, y, lam, callback):
    for t in range(1000):
        callback(steps(X, y, lam, 2**t))


def best(X, y, lam):
    return solve(X, y, lam).w


def sleeps(X, y, lam):
    time.sleep(30 if len(y) > 40 else 0)
    return np.zeros(3)


def clocked(X, y, lam, max_iter=1):
    start = time.perf_counter()
    time.sleep(0.02)
    with open(os.environ["OWN_CLOCK"], "a") as file:
        file.write(f"{len(y)} {time.perf_counter() - start}\n")
    return np.full(X.shape[1], max_iter * 1e-9)


def wrong(X, y, lam):
    return np.zeros(2)


def raises(X, y, lam):
    raise ValueError("not today")


def never_finite(X, y, lam, callback):
    callback(np.full(3, np.nan))
    return np.zeros(3)


@pytest.fixture(scope="module")
def found() -> GapCurves:
    fits = {f.__name__: f for f in (steps, called, best, sleeps, wrong, raises, never_finite)}
    return gap_curves(fits, X, Y, LAM, max_time=0.5, ours=False)


def curve(found: GapCurves, name: str):
    return next(c for c in found.curves if c.name == name)


@pytest.mark.slow
def test_each_way_gives_proved_points_and_what_goes_wrong_costs_nobody_else(found) -> None:
    (gap,) = curve(found, "best").gap
    assert 0 <= gap <= 1e-8
    first = certify(X, Y, LAM, w=steps(X, Y, LAM, 1))
    assert curve(found, "steps").gap[0] == pytest.approx(first.gap, rel=1e-6)
    assert curve(found, "steps").gap[0] >= (first.gap or 0.0) - first.rounding
    for name, way in (("steps", "max_iter"), ("called", "callback"), ("best", "once")):
        assert curve(found, name).way == way
        if way != "once":
            assert len(curve(found, name).gap) > 3
            assert min(curve(found, name).relative_gap) < curve(found, name).relative_gap[0]
    assert list(curve(found, "called").seconds) == sorted(curve(found, "called").seconds)
    for name, ended in (
        ("called", "out of time"),
        ("sleeps", "--max-time"),
        ("wrong", "shape (2,) returned"),
        ("raises", "not today"),
        ("never_finite", "no finite weights"),
    ):
        assert ended in curve(found, name).ended
    assert curve(found, "sleeps").gap == ()
    (line,) = [row for row in found.table.splitlines() if row.split()[0] == "best"]
    objective = certify(X, Y, LAM, w=best(X, Y, LAM)).primal
    assert float(line.split()[2]) == pytest.approx(objective, rel=1e-5)


def test_the_line_is_the_best_gap_of_so_many_seconds_and_the_rest_are_dots() -> None:
    held = Curve("a", (1.0, 3.0, 2.0, 4.0), (4.0, 2.0, 1.0, 0.5), (0.4, 0.2, 0.1, 0.05), "", "tol")
    curves = GapCurves("d", 9, 2, 0.1, "hinge", 1.0, 5.0, (held,), "here")
    line, dots = curves.plot().axes[0].get_lines()
    assert line.get_xdata().tolist() == [1.0, 2.0, 4.0]
    assert line.get_ydata().tolist() == [0.4, 0.1, 0.05]
    assert dots.get_xdata().tolist() == [3.0] and dots.get_linestyle() == "None"


def test_only_seconds_inside_a_fit_count_and_rows_are_sent_once(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("OWN_CLOCK", str(tmp_path / "seconds"))
    rows = np.tile(X, (300, 2))  # 2 MB as text, at each effort
    (found,) = gap_curves(
        {"clocked": clocked}, rows, np.tile(Y, 300), LAM, max_time=0.3, ours=False
    ).curves
    lines = [line.split() for line in (tmp_path / "seconds").read_text().splitlines()]
    own = [float(seconds) for n, seconds in lines if int(n) == len(rows)]
    assert len(own) >= len(found.seconds) > 8
    # Sending the rows takes a tenth of a second; a busy machine delays one fit or another.
    ratios = np.array(found.seconds) / own[: len(found.seconds)]
    assert 1 <= np.median(ratios) < 1.1


def test_solutions_are_drawn() -> None:
    assert "certified" in gap_curves({"one": solve(X, Y, LAM)}).axes[0].get_title()


@each(
    ("arguments", "words"),
    [
        (({"a": best}, X), "X, y and lam together"),
        (({}, X, Y, LAM), "mapping of names"),
        (({"a": 3}, X, Y, LAM), "a fit is a function"),
        (({"aucert": best}, X, Y, LAM), "choose another"),
        (({"a": best}, X, Y, -1.0), "lam"),
        (({"a": best}, X, np.ones(60), LAM), "class"),
        (({"a": "no_such_module:fit"}, X, Y, LAM), "no_such_module"),
    ],
)
def test_bad_arguments_are_refused(arguments, words: str) -> None:
    with pytest.raises(InputError, match=words):
        gap_curves(*arguments, max_time=0.5)


def test_a_trace_thins_points_and_keeps_the_last() -> None:
    trace = Trace(60.0)
    for k in range(5000):
        trace(np.array([float(k)]))
    points = trace.all_points()
    assert len(points) < 1000 and points[-1][1] == [4999.0]


def never(X, y, lam):
    time.sleep(60)


def test_a_first_run_that_does_not_come_back_is_named(monkeypatch) -> None:
    monkeypatch.setattr(module, "WARM_UP_SECONDS", 0.1)
    (found,) = gap_curves({"never": never}, X, Y, LAM, max_time=0.2, ours=False).curves
    assert found.gap == () and "38 rows" in found.ended and "0.2 s" in found.ended


def goes_on(X, y, lam, callback):
    w = solve(X, y, lam).w
    while True:
        callback(w)


def test_a_solver_whose_time_went_after_it_had_converged_has_converged() -> None:
    heard: list[str] = []
    asked = {"max_time": 0.3, "ours": False, "data": "rows", "progress": heard.append}
    (found,) = gap_curves({"goes_on": goes_on}, X, Y, LAM, **asked).curves
    assert found.ended == "converged" and min(found.relative_gap) < 1e-9
    assert ["rows" in words for words in heard] == [True, True] and "goes_on" in heard[1]
