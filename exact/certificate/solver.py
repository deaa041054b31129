"""The skeleton of every solver: checks, start, deadline, Ctrl-C and finish.

A solver is a frozen dataclass of parameters; it holds no data. It states which problems it is for
(`check`) and how to improve on the recorder's best points (`run`):

    @dataclass(frozen=True)
    class MySolver(Solver):
        tol: float = 1e-9
        max_time: float | None = None
        name: ClassVar[str] = "my-solver"

        def check(self, problem): ...               # raise InputError for a problem of another kind
        def run(self, problem, recorder): ...       # offer points; return why it stopped, or None

`run` returns None where only the certificate can tell: the solver believes that it has arrived.
It returns `Status.STALLED` only where it knows that it has not arrived and makes no progress.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from ..problem.problem import Problem
from ..tools.checks import check_count, check_number
from .notes import noting
from .separated import from_larger_lam
from .solution import Callback, Recorder, Solution, Status

# Solvers aim at this share of the tolerance: the certificate adds rounding to their gap.
INSIDE = 0.5

Run = Callable[[Problem, Recorder], Status | None]


class Solver(ABC):
    """Parameters of a method, and the one `solve` around its `run`."""

    name: ClassVar[str] = ""
    tol: float
    max_iter: int = 1
    max_time: float | None = None

    def __post_init__(self) -> None:
        check_number("tol", self.tol, closed="low")
        check_count("max_iter", self.max_iter)
        if self.max_time is not None:
            check_number("max_time", self.max_time)

    @property
    def method(self) -> str:
        """The name that the solution carries."""
        return self.name

    @abstractmethod
    def check(self, problem: Problem) -> None:
        """Raise `InputError` unless the method is one for `problem`."""

    @abstractmethod
    def run(self, problem: Problem, recorder: Recorder) -> Status | None:
        """Improve on the recorder's points; return why it stopped.

        None means that the certificate decides: certified, or else stalled.
        """

    def start(self, problem: Problem, recorder: Recorder) -> None:
        """Offer the first point: the caller's, or zero. Override it for a better one."""
        if recorder.w0 is None:
            recorder.w0 = np.zeros(problem.space.dim)
        recorder.offer(recorder.w0, problem.objective(recorder.w0))

    def conclude(self, problem: Problem, recorder: Recorder, reason: Status | None) -> Solution:
        """Return the solution, certified anew."""
        return recorder.finish(problem, self.tol, reason)

    def solve(
        self, problem: Problem, w0: np.ndarray | None = None, callback: Callback | None = None
    ) -> Solution:
        """Return the certified solution.

        Parameters
        ----------
        problem : Problem
        w0 : array (dim,), optional
            Where to start; by default the method's own choice, zero for most.
        callback : callable, optional
            Called with each `Step`. If it raises `KeyboardInterrupt`, as Ctrl-C does, the best
            point so far is returned.

        Raises
        ------
        InputError
            If the method is not one for this problem, or `w0` does not fit it.
        """
        return self.solve_by(self.run, problem, w0, callback)

    def solve_by(
        self, run: Run, problem: Problem, w0: np.ndarray | None, callback: Callback | None
    ) -> Solution:
        """Do what `solve` does with another `run`, for methods that carry more from run to run."""
        self.check(problem)
        recorder = Recorder(self.max_time, callback, self.method)
        recorder.w0 = None if w0 is None else problem.check_weights(w0)
        solution = self._once(run, problem, recorder)

        def at(larger: Problem) -> Solution:
            part = recorder.part()
            part.w0 = solution.w
            return self._once(self.run, larger, part)

        return from_larger_lam(problem, solution, self.tol, at)

    def _once(self, run: Run, problem: Problem, recorder: Recorder) -> Solution:
        """Start, run and conclude."""
        with noting():
            try:
                self.start(problem, recorder)
                reason = run(problem, recorder)
            except KeyboardInterrupt:
                reason = Status.INTERRUPTED
            # Still within `noting`: the certificate may look up what was evaluated on the way.
            return self.conclude(problem, recorder, reason)
