"""Ctrl-C while `aucert solve` works: the best point so far, certified."""

from __future__ import annotations

import json
import signal

import pytest

from aucert.exact import cutting_plane
from aucert.exact.problem import linear_problem
from aucert.exact.qp import QP
from aucert.exact.solution import Status, Step
from aucert.validation.cli import main
from aucert.validation.commands.interrupts import stopped_between_steps
from aucert.validation.data.datasets import load

STEP = Step(1, 0.1, 1.0, 0.5)


def interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


def test_an_interrupt_waits_for_the_next_step(capfd) -> None:
    seen = []
    with stopped_between_steps(seen.append) as callback:
        callback(STEP)
        interrupt()
        with pytest.raises(KeyboardInterrupt):
            callback(STEP)
    assert seen == [STEP, STEP]
    assert "stopping after this step" in capfd.readouterr().err


def test_before_the_first_step_and_for_the_second_time_it_does_not_wait(capfd) -> None:
    with stopped_between_steps(lambda step: None) as callback:
        with pytest.raises(KeyboardInterrupt):
            interrupt()
        callback(STEP)
        interrupt()
        with pytest.raises(KeyboardInterrupt):
            interrupt()


def test_afterwards_an_interrupt_means_what_it_meant_before(capfd) -> None:
    with stopped_between_steps(lambda step: None) as callback:
        callback(STEP)
        interrupt()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(KeyboardInterrupt):
        interrupt()


def test_an_ignored_interrupt_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with stopped_between_steps(lambda step: None) as callback:
            callback(STEP)
            interrupt()
            callback(STEP)
    finally:
        signal.signal(signal.SIGINT, before)


def test_solve_interrupted_in_the_middle_of_a_step_returns_its_best_point(
    monkeypatch: pytest.MonkeyPatch, capfd, tmp_path
) -> None:
    calls, search = [], cutting_plane.best_on_segment

    def interrupted(*args, **rest):
        calls.append(1)
        if len(calls) == 3:
            interrupt()
        return search(*args, **rest)

    monkeypatch.setattr(cutting_plane, "best_on_segment", interrupted)
    method = ["--method", "cutting-plane"]
    main(["solve", "linear:200", "--lam", "1e-3", *method, "--json", "--out", str(tmp_path)])
    out, err = capfd.readouterr()
    document = json.loads(out)
    assert len(calls) == 3 and "stopping after this step" in err
    assert document["status"] == "interrupted" and document["n_iter"] == 3
    assert 0 <= document["dual"] < document["primal"] < 1
    assert document["gap"] == document["primal"] - document["dual"]
    weights = str(tmp_path / "weights.csv")
    main(["certify", "linear:200", "--lam", "1e-3", "--weights", weights, "--json"])
    assert json.loads(capfd.readouterr().out)["primal"] == document["primal"]


@pytest.mark.parametrize("form", ["teaching", "lifted"])
def test_a_qp_that_is_interrupted_keeps_its_point(form: str) -> None:
    def stop(step: Step) -> None:
        raise KeyboardInterrupt

    data = load("linear:30")
    solver = QP(form, "cvxpy" if form == "teaching" else "direct", "CLARABEL", finish=True)
    solution = solver.solve(linear_problem(data.X, data.y, 1e-3), callback=stop)
    assert solution.status in (Status.INTERRUPTED, Status.CERTIFIED)
    assert solution.certificate.primal < 1
