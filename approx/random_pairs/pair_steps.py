"""The compiled steps of NSAUC on given pairs, dense and sparse; `nsauc.py` draws the pairs.

[Nonlinear, Algorithm 3]. Functions that call each other stay in this one file: the on-disk cache
does not notice a changed callee elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...exact.tools.compiling import compiled


@compiled
def _scheduled(w, mean, count, t, t0, rskip, askip, start, literal):  # pragma: no cover - compiled
    """Do what is due after step t: shrink w, average it. Return the number of averaged points."""
    if t % rskip == 0:
        keep = 1.0 - rskip / (t + t0)
        for p in range(w.size):
            w[p] *= keep
    if t > start and t % askip == 0:
        count += 1
        for p in range(w.size):
            if literal:
                mean[p] = (count * mean[p] + w[p]) / count
            else:
                mean[p] += (w[p] - mean[p]) / count
    return count


@compiled
def _dense_steps(
    X, i, j, w, mean, t, count, lam, t0, rskip, askip, start, literal_slope, literal_mean
):  # pragma: no cover - compiled
    """Make a step for each pair of rows (i, j); return the steps and averaged points so far."""
    for k in range(i.size):
        t += 1
        a, b = X[i[k]], X[j[k]]
        z = 0.0
        for p in range(w.size):
            z += w[p] * (a[p] - b[p])
        if z < 1.0:
            slope = 1.0 - z if literal_slope else 1.0
            step = slope / (lam * (t + t0))
            for p in range(w.size):
                w[p] += step * (a[p] - b[p])
        count = _scheduled(w, mean, count, t, t0, rskip, askip, start, literal_mean)
    return t, count


@compiled
def _sparse_steps(
    data,
    column,
    first,
    i,
    j,
    w,
    mean,
    t,
    count,
    lam,
    t0,
    rskip,
    askip,
    start,
    literal_slope,
    literal_mean,
):  # pragma: no cover - compiled
    """Do what `_dense_steps` does, on the arrays of a CSR matrix."""
    for k in range(i.size):
        t += 1
        z = 0.0
        for p in range(first[i[k]], first[i[k] + 1]):
            z += w[column[p]] * data[p]
        for p in range(first[j[k]], first[j[k] + 1]):
            z -= w[column[p]] * data[p]
        if z < 1.0:
            slope = 1.0 - z if literal_slope else 1.0
            step = slope / (lam * (t + t0))
            for p in range(first[i[k]], first[i[k] + 1]):
                w[column[p]] += step * data[p]
            for p in range(first[j[k]], first[j[k] + 1]):
                w[column[p]] -= step * data[p]
        count = _scheduled(w, mean, count, t, t0, rskip, askip, start, literal_mean)
    return t, count


@dataclass(frozen=True)
class Schedule:
    """What is done when, in one run.

    Attributes
    ----------
    lam, t0 : float
        > 0: step t has the length 1 / (lam (t + t0)).
    rskip, askip : int
        >= 1, steps between two penalties and between two averaged points.
    start : int
        Steps before the first averaged point.
    literal_slope, literal_mean : bool
        The loss in the place of its derivative, and the average with the weights 1, 1/2, 1/3,
        ..., both as printed and both wrong (E54 and E55 in `docs/errata.md`).
    """

    lam: float
    t0: float
    rskip: int = 16
    askip: int = 16
    start: int = 0
    literal_slope: bool = False
    literal_mean: bool = False


@dataclass(eq=False)
class Walk:
    """Where a run stands: w and the mean of the averaged points (d,), t steps, count points."""

    w: np.ndarray
    mean: np.ndarray
    t: int = 0
    count: int = 0

    @classmethod
    def of(cls, w: np.ndarray) -> Walk:
        """Return a walk that starts at `w`, of which it makes a copy."""
        return cls(np.array(w, dtype=float), np.zeros(w.size))

    def advance(self, X: Any, pairs: tuple[np.ndarray, np.ndarray], schedule: Schedule) -> None:
        """Make one step for each of the pairs.

        Parameters
        ----------
        X : array or CSR (n, d)
        pairs : two int arrays (m,)
            The positive and the negative row of each step.
        schedule : Schedule
        """
        i, j = pairs
        run = (
            i,
            j,
            self.w,
            self.mean,
            self.t,
            self.count,
            float(schedule.lam),
            float(schedule.t0),
            schedule.rskip,
            schedule.askip,
            schedule.start,
            schedule.literal_slope,
            schedule.literal_mean,
        )
        if isinstance(X, np.ndarray):
            self.t, self.count = _dense_steps(np.ascontiguousarray(X), *run)
        else:
            self.t, self.count = _sparse_steps(X.data, X.indices, X.indptr, *run)
