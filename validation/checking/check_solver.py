"""`check_solver`: anybody's fit over the reference problems, judged by certified gaps. The optimum
of every problem is known and proved (`reference_problems`), so judging a fit costs one evaluation
of F and no solve. What failed has likely causes: cheap guesses, each checked against the answers
themselves."""

import json
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np

from ... import __version__
from ...exact.api.solve import choose_solver
from ...exact.certificate.certificate import Certificate, Minorant
from ...exact.certificate.solution import Solution
from ...exact.errors import CertificateError, InputError
from ...exact.losses.registry import LOSSES
from ...exact.pairs.all_pairs import AllPairs
from ...exact.problem.problem import Problem, linear_problem
from ...exact.tools.arrays import check_choice, check_count, check_number
from ...exact.tools.rounding import above
from ..extremes import highest, lowest
from ..reference.problems import ReferenceProblem, reference_problems
from .worker import Answer, start

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
        return self.problem.name

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold of it; the weights are left out."""
        problem, (n, d) = self.problem, self.problem.X.shape
        shown = ("verdict", "objective", "lower", "upper", "gap", "excess", "seconds", "message")
        found = {"name": problem.name, "tests": problem.tests, "n": n, "d": d, "lam": problem.lam}
        found |= {name: getattr(self, name) for name in shown}
        return found | {"changed": list(self.changed)}


@dataclass(frozen=True, eq=False)
class CheckReport:
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
        found = [row.verdict for row in self.rows]
        return {name: found.count(name) for name in get_args(CheckVerdict) if name in found}

    @property
    def passed(self) -> bool:
        return {row.verdict for row in self.rows} - {"skipped"} == {"pass"}

    @property
    def summary(self) -> str:
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
        lines = [("problem", "n", "d", "lam", "F(w)", "optimum", "excess", "seconds", "verdict")]
        for row in self.rows:
            found = "-" if row.objective is None else f"{row.objective:.8g}"
            excess = "-" if row.excess is None else f"{row.excess:.2g}"
            lam, (n, d), seconds = f"{row.problem.lam:g}", row.problem.X.shape, f"{row.seconds:.2f}"
            verdict = row.verdict if row.verdict in ("pass", "skipped") else row.verdict.upper()
            cells = (str(n), str(d), lam, found, f"{row.upper:.8g}", excess, seconds)
            lines.append((row.name, *cells, verdict))
        name, *widths = (max(map(len, column)) for column in list(zip(*lines, strict=True))[:-1])
        text = []
        for (first, *cells, last), row in zip(lines, (None, *self.rows), strict=True):
            text.append("  ".join([first.ljust(name), *map(str.rjust, cells, widths), last]))
            text += [f"    {row.message}"] if row is not None and row.message else []
        causes = [f"Likely cause: {sentence}" for sentence in self.diagnosis]
        return "\n".join([*text, "", self.summary, *causes])

    def to_dict(self) -> dict[str, Any]:
        settings = ("solver", "loss", "tol", "max_time", "seed", "isolation", "passed", "counts")
        found: dict[str, Any] = {"schema_version": SCHEMA_VERSION, "version": __version__}
        found |= {name: getattr(self, name) for name in settings}
        found |= {"diagnosis": list(self.diagnosis), "seconds": self.seconds}
        return found | {"problems": [row.to_dict() for row in self.rows]}

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), allow_nan=False, indent=2)

    def __str__(self) -> str:
        return self.table


Progress = Callable[[int, int, CheckRow], object]  # of the number done, that in all, and the row


def check_solver(
    fit: Callable[..., Any] | str,
    *,
    loss: str = "hinge",
    tol: float = 1e-3,
    max_time: float = 60.0,
    seed: int = 0,
    only: str | Iterable[str] | None = None,
    isolate: bool = True,
    progress: Progress | None = None,
) -> CheckReport:
    """Run a solver over the reference problems, and tell how far each answer is from the optimum.

    Each problem is to minimise F(w) = lam/2 |w|^2 + mean over pairs of loss(w'x_i - w'x_j).

    Parameters
    ----------
    fit : function (X, y, lam) -> w, or str
        X is an array (n, d), y an array (n,) of 1 and 0, lam a number. It returns w (d,), or an
        object with `coef_` or `w`. If it has an argument `sample_weight`, the problems with row
        weights are run too; weights mean repetition. As `"MODULE:FUNCTION"` it is imported by a
        new interpreter, from the current folder first.
    loss : {"hinge", "squared_hinge", "square"}
        The loss that the solver minimises.
    tol : float
        > 0. A problem is solved if F(w) exceeds the optimum by at most this share of it; where
        the optimum is below 1e-6, if by at most tol / 10: F(0) = 1 is then the only scale.
    max_time : float
        Seconds for each problem.
    seed : int
        >= 0. Set before each fit in the generators of `random` and `numpy.random`.
    only : name or names, optional
        Of problems (`overlap:0.1`) or of data (`overlap`).
    isolate : bool
        Run the fit in a process of its own, which can be stopped, cannot print in between, and
        may crash. Where that is impossible, and with False, it runs in this process, and the
        limit is only checked afterwards; `report.isolation` says what was done.
    progress : function, optional
        Called with (done, total, row).

    Raises
    ------
    InputError
        For a bad argument, or a function that cannot be imported.
    """
    check_choice("loss", loss, LOSSES)
    check_number("tol", tol)
    check_number("max_time", max_time)
    check_count("seed", seed, 0)
    if not (callable(fit) or isinstance(fit, str)):
        raise InputError(f"fit must be a function or 'MODULE:FUNCTION', not {type(fit).__name__}")
    problems = reference_problems(only)
    begin, rows = time.perf_counter(), []
    with closing(start(fit, seed, isolate)) as runner:
        for problem in problems:
            weight = problem.sample_weight
            if weight is not None and "sample_weight" not in runner.takes:
                row = CheckRow(problem, "skipped", *problem.optimum[loss])
            else:
                request = {"X": problem.X.tolist(), "y": problem.y.tolist(), "lam": problem.lam}
                request |= {} if weight is None else {"sample_weight": weight.tolist()}
                row = judged(problem, loss, tol, runner.ask(request, max_time))
            rows.append(row)
            if progress is not None:
                progress(len(rows), len(problems), row)
    name = fit if isinstance(fit, str) else getattr(fit, "__qualname__", type(fit).__name__)
    asked = name, loss, float(tol), float(max_time), seed, runner.how
    causes = likely_causes(rows, loss, tol)
    return CheckReport(tuple(rows), causes, *asked, time.perf_counter() - begin)


SMALL_OPTIMUM = 1e-6  # Below this an optimum is not a scale; F(0) = 1 is.


def judged(problem: ReferenceProblem, loss: str, tol: float, answer: Answer) -> CheckRow:
    row = CheckRow(problem, "fail", *problem.optimum[loss], seconds=float(answer["seconds"]))
    row = replace(row, changed=tuple(answer.get("changed", ())))
    if answer["kind"] != "w":
        return replace(row, verdict=answer["kind"], message=answer["message"])
    w = np.array(answer["w"], dtype=float)
    if not np.isfinite(w).all():
        at = int(np.flatnonzero(~np.isfinite(w))[0])
        return replace(row, verdict="not finite", message=f"weight {at} is {w[at]}")
    value = upper_value(problem, loss, w)
    if value is None:
        return replace(row, message=f"weights up to {np.abs(w).max():.3g}: F(w) overflows", w=w)
    gap = above(value - row.lower)
    share = excess(problem, loss, gap)
    verdict = "pass" if share <= tol else "fail"
    return replace(row, verdict=verdict, objective=value, gap=gap, excess=share, w=w)


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
        below = f"below the proved lower bound {lower!r}: please report"
        raise CertificateError(f"F(w) is at most {own.primal!r}, {below}")
    return own.primal


def whole_problem(problem: ReferenceProblem, loss: str, factor: float = 1.0) -> Problem:
    pairs = AllPairs(problem.sample_weight)
    return linear_problem(problem.X, problem.y, problem.lam * factor, loss, pairs)


AWKWARD_UNITS = frozenset(  # data whose features are not of order one
    "large-units large-values small-units offset unequal-columns outlier".split()
)
NEAR = 0.1  # an excess up to which stopping too early is a likely cause

Rows = Sequence[CheckRow]
Factor = Callable[[ReferenceProblem], float]


def _n_pairs(problem: ReferenceProblem) -> float:
    n_pos = int(problem.y.sum())
    return float(n_pos * (problem.y.size - n_pos))


SCALINGS: tuple[tuple[str, Factor], ...] = (  # what stands in place of lam, and its factor
    ("lam / N, N the pairs: a sum over pairs in place of the mean", lambda p: 1 / _n_pairs(p)),
    ("2 lam: the penalty, or the loss, without or with a factor of one half", lambda p: 2.0),
    ("lam / 2: a factor of one half or two on the penalty or the loss", lambda p: 0.5),
    ("2 lam / N: a sum over pairs, and a penalty without its one half", lambda p: 2 / _n_pairs(p)),
    ("lam n / N: a sum over pairs divided by the rows", lambda p: p.y.size / _n_pairs(p)),
    ("lam n: the penalty counted once a row", lambda p: float(p.y.size)),
    ("lam / n: a sum over rows in place of the mean", lambda p: 1 / p.y.size),
    ("lam N: a mean over pairs divided by the pairs once more", _n_pairs),
    ("1 / lam: lam read as the constant C of the mean", lambda p: p.lam**-2),
    ("1 / (lam N): lam read as the constant C of the sum", lambda p: p.lam**-2 / _n_pairs(p)),
)


def likely_causes(rows: Rows, loss: str, tol: float) -> tuple[str, ...]:
    """Return a sentence for each cause of the first kind that has one; none if nothing failed."""
    with np.errstate(all="ignore"):  # the weights may be anything
        for kind in CAUSES if _failed(rows) else ():
            found = tuple(filter(None, (cause(rows, loss, tol) for cause in kind)))
            if found:
                return found
    return ()


def _answered(rows: Rows) -> list[tuple[CheckRow, np.ndarray]]:
    return [(row, row.w) for row in rows if row.w is not None]


def _failed(rows: Rows) -> list[CheckRow]:
    return [row for row, _ in _answered(rows) if row.verdict == "fail"]


def _stays_at_zero(rows: Rows, loss: str, tol: float) -> str:
    answers = _answered(rows)
    zero = len(answers) >= 2 and not any(w.any() for _, w in answers)
    return "it returns zero for every problem, and never leaves its start." if zero else ""


def _ignores_lam(rows: Rows, loss: str, tol: float) -> str:
    answers = [(row, w) for row, w in _answered(rows) if w.any()]
    same = [
        np.abs(w - v).max() <= 1e-9 * np.abs(w).max()
        for (row, w), (other, v) in combinations(answers, 2)
        if row.problem.data == other.problem.data and row.problem.lam != other.problem.lam
    ]
    said = "it ignores lam: for the same rows it returns the same weights at every lam."
    return said if len(same) >= 2 and all(same) else ""


def _wrong_sign(rows: Rows, loss: str, tol: float) -> str:
    turned, failed = 0, _failed(rows)
    for row, w in _answered(failed):
        value = upper_value(row.problem, loss, -w) if w.any() else None
        if value is not None:
            turned += excess(row.problem, loss, value - row.lower) <= tol
    if 2 * turned < len(failed):
        return ""
    return f"the sign is wrong, or the classes are exchanged: -w solves {turned} of {len(failed)}."


def _ignores_weights(rows: Rows, loss: str, tol: float) -> str:
    plain = {row.verdict for row in rows if row.problem.sample_weight is None}
    weighted = {row.verdict for row in rows if row.problem.sample_weight is not None}
    said = "only the problems with row weights fail: sample_weight must mean repetition."
    return said if plain == {"pass"} and "fail" in weighted else ""


def _other_loss(rows: Rows, loss: str, tol: float) -> str:
    solved, failed = {}, _failed(rows)
    for other in (name for name in LOSSES if name != loss):
        solved[other] = 0
        for row, w in _answered(failed):
            value = upper_value(row.problem, other, w)
            gap = np.inf if value is None else value - row.problem.optimum[other][0]
            solved[other] += excess(row.problem, other, gap) <= tol
    best = highest(solved, key=lambda other: solved[other])
    if 2 * solved[best] < len(failed):
        return ""
    return f"it minimises the {best} loss: of that it solves {solved[best]} of {len(failed)}."


def _other_lam(rows: Rows, loss: str, tol: float) -> str:
    """Try what may stand in place of lam on a few small problems that tell lams apart."""
    probes = [r for r in _failed(rows) if r.problem.y.size <= 100 and r.lower > 0.01]
    probes = [row for row in probes if row.excess is not None]
    probes = sorted(probes, key=lambda row: abs(np.log10(row.problem.lam) + 0.5))[:4]
    if len(probes) < 2:
        return ""
    near = highest(tol, 1e-3)
    worst = {text: _worst_at(probes, loss, factor) for text, factor in SCALINGS}
    best = lowest(worst, key=lambda text: worst[text])
    if worst[best] <= near:
        return f"it minimises another scaling; its answers are optimal for {best}."
    found = [_equivalent_factor(row, loss) for row in probes[:2]]
    factor = float(np.sqrt(found[0] * found[1]))
    if _worst_at(probes, loss, lambda _: factor) > near:
        return ""
    return f"it minimises another scaling; its answers are optimal for about {factor:.3g} lam."


def _worst_at(probes: Rows, loss: str, factor: Factor) -> float:
    """Return the largest excess of the probes' weights at `factor` times lam."""
    worst = 0.0
    for row in probes:
        problem, solution = _solved_at(row, loss, factor(row.problem))
        lower = highest(solution.certificate.dual, 1e-300)
        # Where F(0) = 1 is nearly optimal, any short w has nearly the least F.
        scale = highest(lowest(lower, 10 * (1 - lower)), 1e-300)
        worst = highest(worst, (problem.objective(np.asarray(row.w)) - lower) / scale)
    return worst


def _equivalent_factor(row: CheckRow, loss: str) -> float:
    """Return the factor of lam at which the optimum is as long as w: its length falls with lam."""
    length = float(np.linalg.norm(np.asarray(row.w)))
    low, high = -6.0, 6.0
    for _ in range(14):
        middle = (low + high) / 2
        longer = float(np.linalg.norm(_solved_at(row, loss, 10**middle)[1].w)) > length
        low, high = (middle, high) if longer else (low, middle)
    return 10 ** ((low + high) / 2)


def _solved_at(row: CheckRow, loss: str, factor: float) -> tuple[Problem, Solution]:
    problem = whole_problem(row.problem, loss, factor)
    return problem, choose_solver(problem, "auto", 1e-6, 1.0).solve(problem)


def _units(rows: Rows, loss: str, tol: float) -> str:
    bad = {row.problem.data for row in rows if row.verdict not in ("pass", "skipped")}
    said = "only features that are not of order one fail: a step, a tolerance or a starting point "
    said += "that depends on their units."
    return said if bad <= AWKWARD_UNITS and any(row.verdict == "pass" for row in rows) else ""


def _repeats(rows: Rows, loss: str, tol: float) -> str:
    judged = [row for row in rows if row.verdict != "skipped"]
    bad = {row.problem.data for row in judged if row.verdict != "pass"}
    sides = [(row, [row.problem.X[row.problem.y == y] for y in (0, 1)]) for row in judged]
    plain = [row for row, both in sides if all(len(np.unique(X, axis=0)) == len(X) for X in both)]
    said = "only data with equal rows in a class fail: it may count repeated rows once, or go "
    said += "wrong where scores tie."
    return said if len(bad) >= 2 and plain and {r.verdict for r in plain} == {"pass"} else ""


def _stopped_early(rows: Rows, loss: str, tol: float) -> str:
    failed = _failed(rows)
    if any(row.excess is None or lowest(row.excess, row.gap or 0.0) > NEAR for row in failed):
        return ""
    said = "every answer is near its optimum (within a tenth of it, or of F(0) = 1), but "
    said += f"{len(failed)} not within the tolerance: it may stop too early, or "
    return f"{said}leave a small term out."


# A kind is asked where no cause of an earlier one was found.
CAUSES: tuple[tuple[Callable[[Rows, str, float], str], ...], ...] = (
    (_stays_at_zero, _ignores_lam, _wrong_sign, _ignores_weights),
    (_other_loss,),
    (_other_lam,),
    (_units, _repeats),
    (_stopped_early,),
)
