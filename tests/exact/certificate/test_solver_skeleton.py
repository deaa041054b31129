"""The skeleton that all solvers share, shown on a solver of a few lines."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from aucert.exact.certificate.solution import Recorder, Solver, Status
from aucert.exact.errors import InputError
from aucert.exact.problem.problem import Problem, linear_problem

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))
Y = X[:, 0] + RNG.normal(size=30) > 0


@dataclass(frozen=True)
class Descent(Solver):
    """Gradient steps on the square loss; `word` is what `run` returns."""

    tol: float = 1e-6
    max_iter: int = 1000
    word: Status | None = None
    max_time: float | None = None

    name: ClassVar[str] = "descent"

    def check(self, problem: Problem) -> None:
        if problem.loss.name != "square":
            raise InputError("the square loss only")

    def run(self, problem: Problem, recorder: Recorder) -> Status | None:
        w = recorder.best_w
        assert w is not None
        for _ in range(self.max_iter):
            scores = problem.space.scores(w)
            w = w - 0.1 * (problem.lam * w - problem.space.pull(problem.sums(scores).c))
            recorder.offer(w, problem.objective(w))
            recorder.step()
            if recorder.out_of_time:
                return Status.TIME_LIMIT
        return self.word


PROBLEM = linear_problem(X, Y, 0.1, "square")


def test_the_certificate_decides_where_a_solver_gives_no_reason() -> None:
    arrived = Descent().solve(PROBLEM)
    assert arrived.status == Status.CERTIFIED and arrived.method == "descent"
    assert Descent(max_iter=1).solve(PROBLEM).status == Status.STALLED


def test_a_reason_stands_only_where_the_gap_is_open() -> None:
    assert Descent(word=Status.STALLED).solve(PROBLEM).status == Status.CERTIFIED
    stopped = Descent(max_iter=1, word=Status.ITERATION_LIMIT).solve(PROBLEM)
    assert stopped.status == Status.ITERATION_LIMIT


def test_problems_and_parameters_are_checked_before_the_run() -> None:
    with pytest.raises(InputError, match="square loss only"):
        Descent().solve(linear_problem(X, Y, 0.1, "hinge"))
    bad = [{"tol": -1.0}, {"tol": np.nan}, {"max_iter": 0}, {"max_time": 0.0}]
    for wrong in bad:
        with pytest.raises(InputError, match=next(iter(wrong))):
            Descent(**wrong)  # type: ignore[arg-type]


def test_a_deadline_holds_for_the_parts_too() -> None:
    assert Descent(max_time=1e-9).solve(PROBLEM).status == Status.TIME_LIMIT
    assert Recorder().time_left is None and Recorder().part().max_time is None
    recorder = Recorder(10.0)
    time.sleep(0.01)
    left = recorder.part().max_time
    assert left is not None and 5 < left <= 9.99
    assert Recorder(1e-9).time_left == 1e-3
