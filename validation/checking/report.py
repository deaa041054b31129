"""What `check_solver` found: one row per problem, a table, and a JSON document."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from ... import __version__
from ...exact.certificate.certificate import Certificate, Minorant
from ...exact.errors import CertificateError
from ...exact.pairs.all_pairs import AllPairs
from ...exact.problem.problem import Problem, linear_problem
from ...exact.tools.rounding import above
from ..reference.problems import ReferenceProblem
from .worker import Answer

SCHEMA_VERSION = 1

CheckVerdict = Literal[
    "pass",  # proved to be within the tolerance of the optimum
    "fail",
    "not finite",
    "wrong shape",
    "error",  # the fit raised
    "crash",  # the fit's process ended
    "timeout",
    "skipped",  # row weights, which the fit does not take
]


@dataclass(frozen=True, eq=False)
class CheckRow:
    """One problem's result."""

    problem: ReferenceProblem
    verdict: CheckVerdict
    lower: float
    upper: float
    objective: float | None = None
    gap: float | None = None
    excess: float | None = None
    seconds: float = 0.0
    message: str = ""
    w: np.ndarray | None = field(default=None, repr=False)
    changed: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The problem's name."""
        return self.problem.name

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold of it; the weights are left out."""
        problem = self.problem
        shown = ("verdict", "objective", "lower", "upper", "gap", "excess", "seconds", "message")
        return {
            "name": problem.name,
            "tests": problem.tests,
            "n": int(problem.y.size),
            "d": int(problem.X.shape[1]),
            "lam": problem.lam,
            **{name: getattr(self, name) for name in shown},
            "changed": list(self.changed),
        }


@dataclass(frozen=True, eq=False)
class CheckReport:
    """The result of `check_solver`."""

    rows: tuple[CheckRow, ...]
    diagnosis: tuple[str, ...]
    solver: str
    loss: str
    tol: float
    max_time: float
    seed: int
    isolation: str
    seconds: float

    @property
    def counts(self) -> dict[str, int]:
        """How many rows have each verdict that occurs."""
        found = [row.verdict for row in self.rows]
        return {
            verdict: found.count(verdict) for verdict in get_args(CheckVerdict) if verdict in found
        }

    @property
    def passed(self) -> bool:
        """Whether every problem that was not skipped is solved, and there is one."""
        return {row.verdict for row in self.rows} - {"skipped"} == {"pass"}

    @property
    def summary(self) -> str:
        """How many problems are solved, in one sentence."""
        counts, total = self.counts, len(self.rows)
        skipped = counts.get("skipped", 0)
        text = f"{counts.get('pass', 0)} of {total - skipped} problems solved within {self.tol:g}"
        others = [f"{k} {v}" for v, k in counts.items() if v not in ("pass", "skipped")]
        text += f" ({', '.join(others)})" if others else ""
        text += f"; {skipped} skipped: it takes no sample_weight." if skipped else "."
        changed = sorted({name for row in self.rows for name in row.changed})
        if changed:
            text += f" It changes its caller's {' and '.join(changed)}: let it take a copy."
        return text

    @property
    def table(self) -> str:
        """The rows as text, the summary, and the likely causes."""
        head = ("problem", "n", "d", "lam", "F(w)", "optimum", "excess", "seconds", "verdict")
        lines = [head, *(_cells(row) for row in self.rows)]
        widths = [max(len(line[k]) for line in lines) for k in range(len(head))]
        text = []
        for number, line in enumerate(lines):
            cells = [
                cell.ljust(width) if k in (0, 8) else cell.rjust(width)
                for k, (cell, width) in enumerate(zip(line, widths, strict=True))
            ]
            text.append("  ".join(cells).rstrip())
            if number and self.rows[number - 1].message:
                text.append(f"    {self.rows[number - 1].message}")
        causes = [f"Likely cause: {sentence}" for sentence in self.diagnosis]
        return "\n".join([*text, "", self.summary, *causes])

    def to_dict(self) -> dict[str, Any]:
        """Return the whole report as plain values."""
        settings = ("solver", "loss", "tol", "max_time", "seed", "isolation", "passed", "counts")
        return {
            "schema_version": SCHEMA_VERSION,
            "version": __version__,
            **{name: getattr(self, name) for name in settings},
            "diagnosis": list(self.diagnosis),
            "seconds": self.seconds,
            "problems": [row.to_dict() for row in self.rows],
        }

    def to_json(self) -> str:
        """Return the whole report as one JSON document."""
        return json.dumps(self.to_dict(), allow_nan=False, indent=2)

    def __str__(self) -> str:
        return self.table


def _cells(row: CheckRow) -> tuple[str, ...]:
    """Return a row's cells; what is not a pass is written in capitals."""

    def shown(value: float | None, digits: int) -> str:
        return "-" if value is None else f"{value:.{digits}g}"

    problem = row.problem
    return (
        problem.name,
        str(problem.y.size),
        str(problem.X.shape[1]),
        f"{problem.lam:g}",
        shown(row.objective, 8),
        f"{row.upper:.8g}",
        shown(row.excess, 2),
        f"{row.seconds:.2f}",
        row.verdict if row.verdict in ("pass", "skipped") else row.verdict.upper(),
    )


SMALL_OPTIMUM = 1e-6  # Below this an optimum is not a scale; F(0) = 1 is.


def judged(problem: ReferenceProblem, loss: str, tol: float, answer: Answer) -> CheckRow:
    """Return the row of an answer."""
    lower, upper = problem.optimum[loss]
    seconds = float(answer["seconds"])
    if answer["kind"] != "w":
        kind: CheckVerdict = answer["kind"]
        return CheckRow(problem, kind, lower, upper, seconds=seconds, message=answer["message"])
    w = np.array(answer["w"], dtype=float)
    if not np.isfinite(w).all():
        at = int(np.flatnonzero(~np.isfinite(w))[0])
        message = f"weight {at} is {w[at]}"
        return CheckRow(problem, "not finite", lower, upper, seconds=seconds, message=message)
    value = upper_value(problem, loss, w)
    if value is None:
        message = f"weights up to {np.abs(w).max():.3g}: F(w) overflows"
        return CheckRow(problem, "fail", lower, upper, seconds=seconds, message=message, w=w)
    gap = above(value - lower)
    share = excess(problem, loss, gap)
    verdict: CheckVerdict = "pass" if share <= tol else "fail"
    return CheckRow(problem, verdict, lower, upper, value, gap, share, seconds, "", w)


def excess(problem: ReferenceProblem, loss: str, gap: float) -> float:
    """Return the gap over the optimum, or ten times the gap where the optimum is below 1e-6."""
    lower, upper = problem.optimum[loss]
    return gap / lower if upper >= SMALL_OPTIMUM else 10 * gap


def upper_value(problem: ReferenceProblem, loss: str, w: np.ndarray) -> float | None:
    """Return an upper bound of F(w), rounding included; None where it overflows."""
    whole = whole_problem(problem, loss)
    with np.errstate(all="ignore"):
        scores, norm2 = whole.space.scores(w), whole.space.norm2(w)
        if not (np.isfinite(scores).all() and np.isfinite(norm2 + scores @ scores)):
            return None
        own = Certificate.of(whole, w, Minorant.from_scores(whole, 0 * scores, scale=0.0))
    lower = problem.optimum[loss][0]
    if lower > own.primal:
        raise CertificateError(
            f"F(w) is at most {own.primal!r}, below the proved lower bound {lower!r}: please report"
        )
    return own.primal


def whole_problem(problem: ReferenceProblem, loss: str, lam: float | None = None) -> Problem:
    """Return the problem as the library states it, perhaps at another lam."""
    pairs = AllPairs(problem.sample_weight)
    return linear_problem(problem.X, problem.y, problem.lam if lam is None else lam, loss, pairs)
