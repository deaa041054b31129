"""What methods for sparse weights return, and the record of a run. Neither is a certificate."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Protocol

import numpy as np

from .hard_threshold import hard_threshold, largest

DIVERGED = 10.0
"""The run ends where the objective exceeds this times max(1, the objective at the start)."""


class Smooth(Protocol):
    """A smooth function of d weights."""

    def value(self, w: np.ndarray) -> float:
        """Return the function value at `w`."""
        ...

    def gradient(self, w: np.ndarray) -> np.ndarray:
        """Return the gradient at `w`."""
        ...


class Stop(StrEnum):
    """Why a run stopped. No reason says that the support is the best one."""

    STATIONARY = "stationary"
    EPOCH_LIMIT = "epoch_limit"
    TIME_LIMIT = "time_limit"
    INTERRUPTED = "interrupted"
    DIVERGED = "diverged"

    @property
    def advice(self) -> str:
        """What it means and what to do, in one sentence."""
        return _ADVICE[self]


_ADVICE = {
    Stop.STATIONARY: "A fixed point of hard thresholding: a local answer, maybe not the best.",
    Stop.EPOCH_LIMIT: "The epochs ran out: raise max_epochs; with several blocks the iterates "
    "never settle, take one block for that.",
    Stop.TIME_LIMIT: "The time ran out: raise max_time.",
    Stop.INTERRUPTED: "You stopped it: the point so far is returned.",
    Stop.DIVERGED: 'The step is too long for these features: take step="auto" or scale them.',
}


@dataclass(frozen=True)
class Epoch:
    """One line of history, after n_iter iterations; the first is the start.

    objective is F; stationarity as in `SparseSolution`; changes counts the features that came in
    since the line before.
    """

    n_iter: int
    seconds: float
    objective: float
    stationarity: float
    changes: int


@dataclass(frozen=True, eq=False)
class SparseSolution:
    """What a method for sparse weights returns: a local answer, with no certificate.

    Attributes
    ----------
    w : array (d,)
    support : int array
        Places of the nonzero weights, sorted.
    objective : float
        F(w).
    stationarity : float
        |w - v| / max(|w|, |v|) with v = H_k(w - gradient F(w) / L) and L a bound of the curvature
        of F: zero exactly at the fixed points of full-batch hard thresholding. In [0, 2].
    screening_overlap : float
        Share of the support that is also among the features of largest mean difference: at one,
        the iterations have selected nothing that plain screening would not.
    step : float
        What the gradient of F was multiplied by.
    status : Stop
    n_iter : int
    seconds : float
    history : list of Epoch
    as_saved : bool
        True where it was read from a file: then it is what the file says.
    """

    w: np.ndarray
    support: np.ndarray
    objective: float
    stationarity: float
    screening_overlap: float
    step: float
    status: Stop
    n_iter: int
    seconds: float
    history: list[Epoch] = field(default_factory=list)
    as_saved: bool = field(default=False, init=False, compare=False)


def stationarity(
    w: np.ndarray, gradient: np.ndarray, curvature: float, k: int, paper_literal: bool = False
) -> float:
    """Return how far `w` is from a fixed point of full-batch hard thresholding: in [0, 2].

    |w - v| / max(|w|, |v|) with v = H_k(w - gradient / curvature).

    Parameters
    ----------
    w, gradient : arrays (d,)
    curvature : float
        >= 0, an upper bound of the largest eigenvalue of the Hessian.
    k : int
    paper_literal : bool
        As in `hard_threshold`.
    """
    move = gradient / curvature if curvature > 0 else gradient
    then = hard_threshold(w - move, k, paper_literal)
    scale = max(float(np.linalg.norm(w)), float(np.linalg.norm(then)))
    return float(np.linalg.norm(w - then)) / scale if scale > 0 else 0.0


class SparseRecorder:
    """Evaluates the point after each epoch of a run, and keeps the best or the last.

    Parameters
    ----------
    objective : Smooth
    curvature : float
        As in `stationarity`.
    k : int
    tol : float
        Stationarity at which to stop.
    keep : {"best", "last"}
        A point after which the objective is no number, or past `DIVERGED`, is never kept.
    paper_literal : bool
        As in `hard_threshold`.
    max_time : float, optional
    callback : function of an `Epoch`, optional
    """

    def __init__(
        self,
        objective: Smooth,
        curvature: float,
        k: int,
        tol: float,
        keep: str = "best",
        paper_literal: bool = False,
        max_time: float | None = None,
        callback: Callable[[Epoch], object] | None = None,
    ):
        self.objective, self.curvature = objective, curvature
        self.k, self.tol, self.keep, self.paper_literal = k, tol, keep, paper_literal
        self.max_time, self.callback = max_time, callback
        self.start = time.perf_counter()
        self.history: list[Epoch] = []
        self._last = self._kept = np.zeros(0)
        self._line: Epoch | None = None

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.start

    @property
    def out_of_time(self) -> bool:
        """Whether the time limit has passed."""
        return self.max_time is not None and self.seconds > self.max_time

    def watch(self, run: Callable[[SparseRecorder], Stop]) -> Stop:
        """Return why a run stopped; an interrupt ends it once there is a point to return."""
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                return run(self)
        except KeyboardInterrupt:
            if not self.history:
                raise
            return Stop.INTERRUPTED

    def look(self, w: np.ndarray, n_iter: int) -> Stop | None:
        """Record the point `w`; return the reason to stop, or None to go on."""
        value = self.objective.value(w)
        first = self.history[0].objective if self.history else value
        if not value <= DIVERGED * max(1.0, first):
            return Stop.DIVERGED
        gradient = self.objective.gradient(w)
        residual = stationarity(w, gradient, self.curvature, self.k, self.paper_literal)
        before = self._last if self.history else np.zeros(w.size)
        changes = int(np.count_nonzero((w != 0) & (before == 0)))
        line = Epoch(n_iter, self.seconds, value, residual, changes)
        self.history.append(line)
        self._last = w
        if self._line is None or self.keep == "last" or value < self._line.objective:
            self._line, self._kept = line, w
        if self.callback is not None:
            self.callback(line)
        return Stop.STATIONARY if residual <= self.tol else None

    def improve(self, better: Callable[[np.ndarray], np.ndarray]) -> None:
        """Replace the kept point by what `better` makes of it, unless the objective rises."""
        assert self._line is not None, "a recorder has looked at the start at least"
        w = better(self._kept)
        value = self.objective.value(w)
        if w is self._kept or not value <= self._line.objective:
            return
        gradient = self.objective.gradient(w)
        residual = stationarity(w, gradient, self.curvature, self.k, self.paper_literal)
        self._line = replace(
            self._line, seconds=self.seconds, objective=value, stationarity=residual
        )
        self._kept = w

    def finish(self, status: Stop, step: float, screen: np.ndarray, n_iter: int) -> SparseSolution:
        """Return the kept point; screening ranks the features by the size of `screen` (d,)."""
        assert self._line is not None, "a recorder has looked at the start at least"
        support = np.flatnonzero(self._kept)
        overlap = 0.0
        if support.size:
            overlap = np.isin(support, largest(screen, support.size)).mean()
        return SparseSolution(
            self._kept,
            support,
            self._line.objective,
            self._line.stationarity,
            float(overlap),
            step,
            status,
            n_iter,
            self.seconds,
            self.history,
        )
