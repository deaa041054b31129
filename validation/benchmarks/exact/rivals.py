"""The exact solver and its rivals in one run: what each reaches in what CPU time.

Naive full gradient + Adamax (small n), incomplete U-statistics (as many pairs as rows) + Adamax
over a grid of steps, Clarabel and OSQP on all pairs, and dlib's ranking trainer where it is
installed. Every point is judged by the full objective F, the optimum by the certified lower bound
of the exact solver; judging is not timed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from ....approx.drawn_pairs.descent import Adamax
from ....approx.drawn_pairs.draw_pairs import draw_pairs
from ....exact.api.solve import solve
from ....exact.certificate.solution import Step
from ....exact.errors import InputError
from ....exact.problem.problem import Problem, linear_problem
from ....exact.solvers.qp import QP
from ...extremes import max, min
from ..harness import Lines, Table, benchmark
from ..measuring.timing import timed
from ..problems.samples import radial_features
from ..problems.scale_data import Labelled, naive_gradient, plane

STEPS = (1.0, 0.3, 0.1, 0.03, 0.01)


@dataclass
class Curve:
    """The best excess F / F* - 1 known at each CPU second.

    Attributes
    ----------
    name : str
    seconds, excess : lists
        Of every point that was better than all before it.
    """

    name: str
    seconds: list[float] = field(default_factory=list)
    excess: list[float] = field(default_factory=list)

    def add(self, seconds: float, excess: float) -> None:
        """Enter a point if it is the best so far."""
        if not self.excess or excess < self.excess[-1]:
            self.seconds.append(seconds)
            self.excess.append(excess)

    def at(self, seconds: float) -> float:
        """Return the best excess known after so many CPU seconds."""
        known = [e for s, e in zip(self.seconds, self.excess, strict=True) if s <= seconds]
        return known[-1] if known else np.inf


@dataclass(frozen=True)
class Exact:
    """One run of the exact solver.

    Attributes
    ----------
    points : list of (float, float)
        CPU seconds and relative gap: after each evaluation what the solver knows, at the end
        what the certificate proves, rounding included.
    curve : Curve
        The excess of its best point.
    lower : float
        The certified lower bound of the optimum.
    """

    points: list[tuple[float, float]]
    curve: Curve
    lower: float


def exact(data: Labelled, lam: float, tol: float = 1e-9, repeats: int = 3) -> Exact:
    """Return the fastest of several runs from the data to the certificate."""
    best: Exact | None = None
    for _ in range(repeats):
        steps: list[tuple[float, float, float]] = []
        start = time.process_time()

        def note(step: Step, start: float = start, steps: list[Any] = steps) -> None:
            steps.append((time.process_time() - start, step.primal, step.gap))

        found = solve(*data, lam, tol=tol, callback=note).certificate
        end, lower = time.process_time() - start, found.dual
        if best is not None and end >= best.points[-1][0]:
            continue
        known = [(seconds, gap / primal) for seconds, primal, gap in steps if gap < primal]
        curve = Curve("exact")
        for seconds, primal, _ in steps:
            curve.add(seconds, primal / lower - 1)
        proved = found.gap / found.primal
        best = Exact([*known, (end, proved)], curve, lower)
    assert best is not None
    return best


def descent(
    problem: Problem,
    gradient: Callable[[np.ndarray], np.ndarray],
    name: str,
    step: float,
    budget: float,
    lower: float,
    spent: float = 0.0,
) -> Curve:
    """Run Adamax with steps step / sqrt(t) until `budget` CPU seconds; return its curve.

    `spent` were spent before it.

    Points are looked at after 1, 2, 4, .. steps and a dozen times in between, by the full F.
    """
    curve, t, look = Curve(name), 0, 1
    scaled = Adamax().scaling(problem.space.dim)
    w = np.zeros(problem.space.dim)
    while spent < budget:
        start = time.process_time()
        t += 1
        w = w - step / np.sqrt(t) * scaled(gradient(w))
        spent += time.process_time() - start
        if t >= look:
            look = max(t + 1, int(1.06 * t))
            curve.add(spent, problem.objective(w) / lower - 1)
    return curve


def incomplete(problem: Problem, step: float, budget: float, lower: float, seed: int = 0) -> Curve:
    """Return the curve of Adamax on as many drawn pairs as there are rows, differences stored.

    [ScalingUp, eq. (7), eq. (8)]. Its time counts from the draw.
    """
    start = time.process_time()
    pairs = draw_pairs(problem.pairs.positive, problem.n, seed)
    X: Any = problem.space.rows(np.arange(problem.n))  # type: ignore[attr-defined]
    D = X[pairs.i] - X[pairs.j]
    spent = time.process_time() - start

    def gradient(w: np.ndarray) -> np.ndarray:
        return problem.lam * w - (D @ w < 1.0) @ D / len(D)

    name = f"incomplete-U, step {step:g}"
    return descent(problem, gradient, name, step, budget, lower, spent)


def compare(
    name: str, data: Labelled, lam: float, factor: float, naive: bool
) -> Iterator[tuple[object, ...]]:
    """Yield the exact solver's certificates and the rivals' excess at the same times.

    Parameters
    ----------
    name : str
    data : (X, y)
    lam : float
    factor : float
        Rivals run so many times as long as the exact solver takes to 1e-9.
    naive : bool
        Whether the full gradient through all pair differences runs too.
    """
    found = exact(data, lam)
    problem = linear_problem(*data, lam)
    budget = factor * found.points[-1][0]
    curves = [incomplete(problem, step, budget, found.lower) for step in STEPS]
    if naive:
        gradient = lambda w: naive_gradient(*data, w, lam)  # noqa: E731
        longest = max(budget, 20 * timed(lambda: gradient(np.zeros(problem.space.dim)))[1])
        curves += [descent(problem, gradient, f"naive gradient, step {step:g}", step, longest,
                           found.lower) for step in (1.0, 0.3)]  # fmt: skip
    for row in _report(found, curves):
        yield name, lam, *row


def _report(found: Exact, curves: list[Curve]) -> Iterator[tuple[object, ...]]:
    """Yield, for each evaluation, the best rival of each kind at that time, and at the end."""
    kinds = sorted({curve.name.split(",")[0] for curve in curves})
    rivals = {kind: [c for c in curves if c.name.startswith(kind)] for kind in kinds}
    for seconds, gap in found.points:
        best = {kind: min(c.at(seconds) for c in rivals[kind]) for kind in kinds}
        shown = ", ".join(f"{kind} {excess:.1e}" for kind, excess in best.items())
        yield seconds, gap, found.curve.at(seconds), shown
    for kind in kinds:
        begun = [c for c in rivals[kind] if c.seconds]  # none if the draw took all the time
        if begun:
            last = min(begun, key=lambda curve: curve.excess[-1])
            yield last.seconds[-1], None, last.excess[-1], f"the end of {last.name}"
    yield *ahead_from(found, curves), None, "from here on ahead of all"


def ahead_from(found: Exact, curves: Sequence[Curve]) -> tuple[float, float]:
    """Return the exact solver's first CPU second and gap from which no rival is ever ahead."""
    for at, (first, gap) in enumerate(found.points):
        ends = [seconds for seconds, _ in found.points[at + 1 :]] + [np.inf]
        starts = [first, *ends[:-1]]
        if all(
            found.curve.at(start) <= curve.at(end - 1e-12)
            for curve in curves
            for start, end in zip(starts, ends, strict=True)
        ):
            return first, gap
    return np.inf, np.nan


def qp_table(rows: Sequence[int], lam: float) -> Lines:
    """Yield what the QP solvers take on all pairs."""
    exact_columns = ("exact s:8.3f", "proved:8.1e", "times:7.0f")
    yield Table("", "solver:<10", "pairs:9d", "s:9.2f", "gap:8.1e", *exact_columns)
    for n in rows:
        X, y = plane(n)
        problem = linear_problem(X, y, lam)
        seconds, proved = exact((X, y), lam).points[-1]
        for backend in ("CLARABEL", "OSQP"):
            solver = QP("lifted", "direct", backend, max_time=120.0)
            try:
                solution, spent = timed(partial(solver.solve, problem))
            except InputError as error:
                yield f"{backend:<10} {problem.n_pairs:9d} {error}"
                continue
            gap = solution.certificate.relative_gap
            yield backend, problem.n_pairs, spent, gap, seconds, proved, spent / seconds


def dlib_table(rows: Sequence[int], lam: float) -> Lines:
    """Yield what dlib's ranking trainer takes to its epsilon of 1e-6, where it is installed."""
    try:
        import dlib  # type: ignore[import-not-found]
    except ImportError:
        yield "dlib: not installed"
        return
    yield Table("", "rows:7d", "dlib s:8.2f", "excess:8.1e", "exact s:8.3f", "proved:8.1e")
    for n in rows:
        X, y = plane(n)
        problem, mine = linear_problem(X, y, lam), exact((X, y), lam, 1e-6)
        trainer, data = dlib.svm_rank_trainer(), dlib.ranking_pair()
        trainer.c, trainer.epsilon = 1 / lam, 1e-6
        for row, positive in zip(X, y, strict=True):
            (data.relevant if positive else data.nonrelevant).append(dlib.vector(row))
        w, spent = timed(lambda: np.array(trainer.train(data).weights))  # noqa: B023
        yield n, spent, problem.objective(w) / mine.lower - 1, *mine.points[-1]


@benchmark(factor="rivals' time, in exact solves", shrink="divide every size, for a trial")
def main(
    lam: tuple[float, ...] = (1e-1, 1e-3, 1e-5), factor: float = 5.0, shrink: int = 1
) -> Lines:
    """Yield the tables."""
    yield Table(
        "after each evaluation of the exact solver its CPU s, gap and excess F / F* - 1, and the\n"
        "rivals' best excess by then; the gap at the end is certified",
        *("data:<12", "lam:6g", "CPU s:8.3f", "gap:8.1e", "excess:8.1e", "rivals:"),
    )
    for name, data, naive in (
        ("p=2 n=1e4", plane(10_000 // shrink), True),
        ("p=2 n=1e5", plane(100_000 // shrink), False),
        ("d=300 n=1e5", radial_features(100_000 // shrink), False),
    ):
        for one in lam:
            yield from compare(name, data, one, factor, naive)
    yield from qp_table(sorted({max(40, n // shrink) for n in (200, 500, 1000)}), 1e-3)
    yield from dlib_table([1000, 10_000], 1e-3)


if __name__ == "__main__":
    raise SystemExit(main())
