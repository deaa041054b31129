"""Ctrl-C past solvers, compiled code and searches over parameters."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
import warnings
from contextlib import nullcontext

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV

from aucert.approx import NBAUC
from aucert.exact import ROCSVM, ROCSVMCV, linear_problem, regularization_path, solve
from aucert.exact.certificate.solution import Status
from aucert.exact.solvers.qp import QP
from aucert.validation.commands import endings as module
from aucert.validation.commands.endings import (
    Stopped,
    best_point_kept,
    stopped_at_once,
)
from aucert.validation.data.datasets import load
from loops import each


def interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


def interrupt_after(seconds: float) -> threading.Timer:
    """Send this process an interrupt, from outside the main thread, as a terminal does."""
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.daemon = True
    timer.start()
    return timer


@each("made_of_it", [None, SystemError("result with an exception set")])
def test_an_interrupt_that_was_swallowed_or_turned_ends_the_block(
    made_of_it: Exception | None,
) -> None:
    with pytest.raises(KeyboardInterrupt), stopped_at_once():
        try:
            interrupt()
        except Stopped:
            if made_of_it is not None:
                raise made_of_it from None


def test_what_cleans_up_is_not_disturbed_before_the_third_interrupt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
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


@each("form", ["teaching", "lifted"])
def test_a_qp_that_is_interrupted_keeps_its_point(form: str) -> None:
    def stop(step: object) -> None:
        raise KeyboardInterrupt

    data = load("linear:30")
    solver = QP(form, "CLARABEL", finish=True)
    solution = solver.solve(linear_problem(data.X, data.y, 1e-3), callback=stop)
    assert solution.status in (Status.INTERRUPTED, Status.CERTIFIED)
    assert solution.certificate.primal < 1


MODELS = [ROCSVM(method="cutting-plane"), ROCSVMCV(), NBAUC(random_state=0)]


@each("model", MODELS, ids=lambda model: type(model).__name__)
def test_an_interrupt_inside_any_estimator_ends_a_search_over_parameters(
    model: object, monkeypatch: pytest.MonkeyPatch
) -> None:
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


@pytest.mark.alone
@pytest.mark.slow
@pytest.mark.parametrize("guarded", [False, True])
@pytest.mark.parametrize("backend", ["OSQP", "ECOS"])
def test_an_interrupt_inside_a_qp_solver_is_heard_within_seconds(
    backend: str, guarded: bool
) -> None:
    """OSQP and ECOS put a handler of their own in place of Python's."""
    cvxpy = pytest.importorskip("cvxpy")
    if backend not in cvxpy.installed_solvers():
        pytest.skip(f"{backend} is not installed")
    rng = np.random.default_rng(json.dumps(["lifted", backend]).encode()[0])
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
            with pytest.raises(KeyboardInterrupt) if timer.is_alive() else nullcontext():
                timer.join()
                time.sleep(0.2)
            assert status == Status.INTERRUPTED or time.monotonic() - start < wait + 0.5
        assert time.monotonic() - start < wait + 5
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
