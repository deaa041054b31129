"""`gap_curves`: certified suboptimality against time, of anybody's solvers next to ours."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...exact.api.solve import solve
from ...exact.certificate.certificate import careful_primal
from ...exact.certificate.solution import Solution
from ...exact.errors import InputError
from ...exact.losses.registry import ALL_LOSSES
from ...exact.problem.problem import Problem, linear_problem
from ...exact.tools.arrays import check_choice, check_number
from ...exact.tools.rounding import above
from ..report import pictures
from .worker import Point, Request, start


@dataclass(frozen=True)
class Curve:
    """One solver: when it had weights, and how far they were from the optimum at most."""

    name: str
    seconds: Sequence[float]
    gap: Sequence[float]
    relative_gap: Sequence[float]
    ended: str
    way: str


@dataclass(frozen=True)
class GapCurves:
    """The curves of several solvers on one problem."""

    data: str
    n: int
    d: int
    lam: float
    loss: str
    max_time: float
    dual: float
    curves: tuple[Curve, ...]
    isolation: str

    @property
    def table(self) -> str:
        """One line a solver: its best proved gap, F there, when that was, and how it ended."""
        lines = [f"{self.data}: {self.n} x {self.d}, lam {self.lam:g}, {self.loss}"]
        width = max(len(curve.name) for curve in self.curves)
        form = "  {:{}}  {:>9}  {:>11}  {:>9}  {:>6}  {}".format
        lines.append(form("solver", width, "gap / F", "F(w)", "seconds", "points", "ended"))
        for curve in self.curves:
            best = ("-", "-", "-")
            if curve.seconds:
                k = int(np.argmin(curve.relative_gap))
                gap, at, F = curve.relative_gap[k], curve.seconds[k], self.dual + curve.gap[k]
                best = (f"{gap:.2e}", f"{F:.6g}", f"{at:.3g}")
            lines.append(form(curve.name, width, *best, len(curve.seconds), curve.ended))
        once = ", ".join(c.name for c in self.curves if c.way == "once" and c.seconds)
        said = "one point; with an argument callback, max_iter or tol it would be a curve"
        return "\n".join([*lines, f"  {once}: {said}"] if once else lines)

    def __str__(self) -> str:
        return self.table

    def plot(self, axes: Any = None) -> Any:
        """Return a matplotlib Figure of relative gap against seconds, drawn on `axes` if given."""
        figure, axes = pictures.canvas(axes)
        for k, curve in enumerate(c for c in self.curves if c.seconds):
            color, marker, dashes = pictures.STYLES[k % len(pictures.STYLES)]
            at = np.argsort(curve.seconds, kind="stable")
            x, y = np.array(curve.seconds)[at], np.maximum(curve.relative_gap, 1e-16)[at]
            best = y == np.minimum.accumulate(y)
            how = {"color": color, "marker": marker, "ms": 3}
            axes.plot(x[best], y[best], **how, linestyle=dashes, label=curve.name)
            axes.plot(x[~best], y[~best], **how, linestyle="none", alpha=0.35)
        if any(s > 0 for curve in self.curves for s in curve.seconds):
            axes.set(xscale="log", yscale="log")
            pictures.legend_below(axes)
        axes.set(xlabel="seconds", ylabel="relative gap, proved", title=self.table.split("\n")[0])
        axes.grid(alpha=0.3)
        return figure

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, held: dict[str, Any]) -> GapCurves:
        curves: Any = tuple(Curve(**curve) for curve in held["curves"])
        return cls(**held | {"curves": curves})


def picture(figure: Any, kind: str) -> bytes:
    """Return a figure as the bytes of an svg, png or pdf file, the same for the same figure."""
    import matplotlib

    held = io.BytesIO()
    dated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    with matplotlib.rc_context({"svg.hashsalt": "aucert"}):
        figure.savefig(held, format=kind, metadata=dated)
    return held.getvalue()


OURS = "aucert"  # what the library's own solver is called in a table
LARGEST = 5_000_000  # numbers in X that are sent to the processes of the fits at most
WARM_UP_ROWS = 20  # of each class, in a first run that is not timed: it compiles and loads
WARM_UP_SECONDS = 60.0  # that this first run may take, where `max_time` is less
ACCURACY = 1e-10  # relative gap of the lower bound of all, where it can be reached
CONVERGED = 2 * ACCURACY  # a relative gap that this bound cannot tell from none
OUT_OF_TIME = "out of time"
GRACE = 2.0  # seconds beyond the limit that a fit with a callback has to come to its next call
MOST_IN_C = 2**31 - 1  # iterations that a solver written in C may count at most

# The arguments of runs of growing effort.
EFFORTS: dict[str, list[dict[str, Any]]] = {
    "max_iter": [{"max_iter": 1 << k} for k in range(63)],
    "tol": [{"tol": float(f"1e-{k}")} for k in range(1, 13)],
}


def _solved(loss: str, X: np.ndarray, y: np.ndarray, lam: float, tol: float = 1e-9) -> np.ndarray:
    return solve(X, y, lam, loss=loss, tol=tol).w


OWN_FITS = SimpleNamespace(**{loss: partial(_solved, loss) for loss in ALL_LOSSES})


def gap_curves(
    fits: Mapping[str, Callable[..., Any] | str] | Solution | Mapping[str, Solution],
    X: Any = None, y: Any = None, lam: float | None = None, *, max_time: float = 10.0,
    loss: str = "hinge", seed: int = 0, isolate: bool = True, ours: bool = True,
    data: str = "data", by: str = "seconds", axes: Any = None,
    progress: Callable[[str], object] = lambda words: None,
) -> Any:  # fmt: skip
    """Measure solvers against time by proved gaps, or draw the histories of solutions.

    Each is to minimise lam/2 |w|^2 + mean over pairs of loss(w'x_i - w'x_j). A fit with an argument
    `callback` calls it with w as often as it likes; else one with `max_iter` is run with 1, 2, 4,
    ... of them, one with `tol` at 0.1, 0.01, ..., and any other once. First comes a small run that
    is not timed.

    Parameters
    ----------
    fits : mapping of names to functions (X, y, lam) -> w, or to "MODULE:FUNCTION"
        As in `check_solver`. Solutions, without X, are drawn by
        `aucert.validation.report.pictures.gap_curves`.
    X, y : array (n, d), array (n,)
        Two kinds of labels; the fits see 1 for the larger and 0.
    lam : float > 0
    max_time : float
        Seconds inside the fit for each solver, all its runs together. Before, its small run may
        take 60 s to compile, and so may the lower bound, or ten times as long.
    loss : str, a name of `exact.losses.registry.ALL_LOSSES`: "hinge", "logistic", ...
    seed, isolate : as in `check_solver`
    ours : bool, whether the library's own solver runs, too
    data : str, what to call the data
    by, axes : for solutions only
    progress : callable, called with words for each solver before it runs

    Returns
    -------
    GapCurves, or a matplotlib Figure of solutions

    Raises
    ------
    InputError
        If an argument cannot be used, or a function cannot be imported.
    """
    if X is None and y is None and lam is None:
        return pictures.gap_curves(fits, by=by, axes=axes)  # type: ignore[arg-type]
    if X is None or y is None or lam is None:
        raise InputError("give X, y and lam together")
    check_choice("loss", loss, ALL_LOSSES)
    check_number("lam", lam)
    check_number("max_time", max_time)
    if not isinstance(fits, Mapping) or not fits:
        raise InputError("give a mapping of names to fits, {'mine': fit}")
    for name, fit in fits.items():
        if not (callable(fit) or isinstance(fit, str)):
            raise InputError(f"{name}: a fit is a function or 'MODULE:FUNCTION', not {fit!r:.40}")
    if ours and OURS in fits:
        raise InputError(f"'{OURS}' is the name of our own: choose another")
    named: dict[str, Any] = {**fits} | ({OURS: f"{__name__}:OWN_FITS.{loss}"} if ours else {})
    problem = linear_problem(X, y, lam, loss)
    rows = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=float)
    if rows.size > LARGEST:
        raise InputError(f"X has {rows.size:,} numbers, {LARGEST:,} at most: take fewer rows")
    labels, lam, max_time = problem.pairs.positive.astype(int), float(lam), float(max_time)
    whole = {"X": rows, "y": labels, "lam": lam}
    progress(f"{data}, lam {lam:g}: the lower bound")
    limit = max(10 * max_time, WARM_UP_SECONDS)  # it compiles, too
    dual = float(solve(X, y, lam, loss=loss, tol=ACCURACY, max_time=limit).certificate.dual)
    curves, how = [], ""
    for name, fit in named.items():
        progress(f"{data}, lam {lam:g}: {name}, {max_time:g} s at most")
        with closing(start(fit, seed, isolate)) as runner:
            how = runner.how
            way = next((k for k in ("callback", "max_iter", "tol") if k in runner.takes), "once")
            points, ended = _points_of(runner, way, whole, max_time)
        curves.append(_judged(name, problem, dual, points, ended, way))
    n, d = rows.shape
    return GapCurves(data, n, d, lam, loss, max_time, dual, tuple(curves), how)


def _points_of(runner: Any, way: str, whole: Request, max_time: float) -> tuple[list[Point], str]:
    """Return when a fit had which weights, and how it ended; first comes a run of a few rows."""
    few = np.concatenate([np.flatnonzero(whole["y"] == k)[:WARM_UP_ROWS] for k in (0, 1)])
    traced = {"trace": max_time} if way == "callback" else {}
    limit = max(max_time, WARM_UP_SECONDS)
    small = whole | {"X": whole["X"][few], "y": whole["y"][few]} | traced
    if runner.ask(small, limit)["kind"] == "timeout":
        return [], f"its first run, of {few.size} rows, did not come back in {limit:g} s"
    points: list[Point] = []
    left, grace = max_time, GRACE if traced else 0.0
    for arguments in EFFORTS.get(way, [traced]):
        if left <= 0:
            return points, OUT_OF_TIME
        answer = runner.ask(whole | arguments, left + grace)
        kind, left = answer["kind"], left - answer["seconds"]
        if kind == "stopped":
            return answer["points"], OUT_OF_TIME
        if kind == "timeout" and points:
            return points, OUT_OF_TIME
        if kind == "timeout" and traced:
            return [], f"no call came back in {max_time + GRACE:g} s: call callback more often"
        if kind == "timeout":
            return [], f"one fit takes longer than {max_time:g} s: raise --max-time"
        if kind == "error" and arguments.get("max_iter", 0) > MOST_IN_C:
            break
        if kind != "w":
            return points, answer["message"]
        if way == "max_iter" and len(points) > 1 and answer["w"] == points[-1][1]:
            break  # it had come to its end by itself
        points += [*answer["points"], (answer["seconds"], answer["w"])]
    return points, "finished"


def _judged(
    name: str, problem: Problem, dual: float, points: list[Point], ended: str, way: str
) -> Curve:
    """Return the curve of the points; one that is not a set of finite weights ends it."""
    found = []
    for seconds, weights in points:
        w = np.array(weights)
        if w.shape != (problem.space.dim,) or not np.isfinite(w).all():
            ended = f"no finite weights ({problem.space.dim},) after {seconds:.3g} s"
            break
        primal = careful_primal(problem, w).high
        gap = max(float(above(primal - dual)), 0.0)
        found.append((float(seconds), gap, float(above(gap / primal)) if primal > 0 else 0.0))
    times, gaps, shares = zip(*found, strict=True) if found else ((), (), ())
    if ended == OUT_OF_TIME and min(shares, default=1.0) <= CONVERGED:
        ended = "converged"  # the time went to runs that no bound tells from it
    return Curve(name, times, gaps, shares, ended, way)
