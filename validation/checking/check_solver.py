"""`check_solver`: anybody's fit over the reference problems, judged by certified gaps. Their optima
are known and proved, so judging costs one evaluation of F and no solve. What failed has likely
causes: cheap guesses, each checked against the answers themselves."""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np

from ... import __version__
from ...exact.api.solve import choose_solver
from ...exact.certificate.certificate import careful_primal
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

# "pass": proved to be within the tolerance; "error": the fit raised; "crash": its process ended;
# "skipped": the problem has row weights, which the fit does not take.
VERDICTS = "pass", "fail", "not finite", "wrong shape", "error", "crash", "timeout", "skipped"


@dataclass(frozen=True, eq=False)
class CheckRow:
    problem: ReferenceProblem
    verdict: str
    lower: float
    upper: float
    objective: float | None = None
    gap: float | None = None
    excess: float | None = None
    seconds: float = 0.0
    message: str = ""
    w: Any = field(default=None, repr=False)
    changed: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.problem.name

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold of it; the weights are left out."""
        problem, (n, d) = self.problem, self.problem.X.shape
        names = "verdict objective lower upper gap excess seconds message".split()
        found = {"name": problem.name, "tests": problem.tests, "n": n, "d": d, "lam": problem.lam}
        return found | {k: getattr(self, k) for k in names} | {"changed": list(self.changed)}

    @property
    def cells(self) -> tuple[str, ...]:
        """The line of the table."""
        n, d = self.problem.X.shape
        found = "-" if self.objective is None else f"{self.objective:.8g}"
        excess = "-" if self.excess is None else f"{self.excess:.2g}"
        numbers = (str(n), str(d), f"{self.problem.lam:g}", found, f"{self.upper:.8g}", excess)
        verdict = self.verdict if self.verdict in ("pass", "skipped") else self.verdict.upper()
        return (self.name, *numbers, f"{self.seconds:.2f}", verdict)


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
        return {name: found.count(name) for name in VERDICTS if name in found}

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
        head = ("problem", "n", "d", "lam", "F(w)", "optimum", "excess", "seconds", "verdict")
        lines, text = [head, *(row.cells for row in self.rows)], []
        width, *widths, _ = (max(map(len, column)) for column in zip(*lines, strict=True))
        messages = ["", *(row.message for row in self.rows)]
        for (name, *cells, verdict), message in zip(lines, messages, strict=True):
            text.append("  ".join([name.ljust(width), *map(str.rjust, cells, widths), verdict]))
            text += [f"    {message}"] if message else []
        causes = [f"Likely cause: {sentence}" for sentence in self.diagnosis]
        return "\n".join([*text, "", self.summary, *causes])

    def to_dict(self) -> dict[str, Any]:
        names = "solver loss tol max_time seed isolation passed counts diagnosis seconds".split()
        found = {"schema_version": 1, "version": __version__}
        found |= {name: getattr(self, name) for name in names}
        problems = [row.to_dict() for row in self.rows]
        return found | {"diagnosis": list(self.diagnosis), "problems": problems}

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), allow_nan=False, indent=2)

    def __str__(self) -> str:
        return self.table


def check_solver(
    fit: Callable[..., Any] | str, *, loss: str = "hinge", tol: float = 1e-3,
    max_time: float = 60.0, seed: int = 0, only: str | Iterable[str] | None = None,
    isolate: bool = True, progress: Callable[[int, int, CheckRow], object] | None = None,
) -> CheckReport:  # fmt: skip
    """Run a solver over the reference problems, and tell how far each answer is from the optimum.

    Each problem is to minimise F(w) = lam/2 |w|^2 + mean over pairs of loss(w'x_i - w'x_j).

    Parameters
    ----------
    fit : function (X, y, lam) -> w, or str
        X is an array (n, d), y an array (n,) of 1 and 0, lam a number, w an array (d,) or an object
        with `coef_` or `w`. A fit with an argument `sample_weight` also gets the problems with row
        weights, which mean repetition. A new interpreter imports `"MODULE:FUNCTION"`, from the
        current folder first.
    loss : {"hinge", "squared_hinge", "square"}, that the solver minimises
    tol : float > 0
        A problem is solved if F(w) exceeds the optimum by at most this share of it; where the
        optimum is below 1e-6, if by at most tol / 10: F(0) = 1 is then the only scale.
    max_time : float > 0, seconds for each problem
    seed : int >= 0, set in `random` and `numpy.random` before each fit
    only : name or names, optional, of problems (`overlap:0.1`) or of data (`overlap`)
    isolate : bool
        Run the fit in a process of its own, which can be stopped, cannot print in between, and
        may crash. Otherwise, and where the system cannot fork, it runs in this process, and the
        limit is only checked afterwards; `report.isolation` says what was done.
    progress : function, optional, called with (done, total, row)

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
            row = CheckRow(problem, "skipped", *problem.optimum[loss])
            if weight is None or "sample_weight" in runner.takes:
                request = {"X": problem.X, "y": problem.y, "lam": problem.lam}
                request |= {} if weight is None else {"sample_weight": weight}
                row = judged(problem, loss, tol, runner.ask(request, max_time))
            rows.append(row)
            if progress is not None:
                progress(len(rows), len(problems), row)
    causes = likely_causes(rows, loss, tol)
    name = fit if isinstance(fit, str) else getattr(fit, "__qualname__", type(fit).__name__)
    asked = {"loss": loss, "tol": float(tol), "max_time": float(max_time), "seed": seed}
    took = time.perf_counter() - begin
    return CheckReport(tuple(rows), causes, name, **asked, isolation=runner.how, seconds=took)


SMALL_OPTIMUM = 1e-6  # Below this an optimum is not a scale; F(0) = 1 is.


def judged(problem: ReferenceProblem, loss: str, tol: float, answer: Answer) -> CheckRow:
    given: Any = {"seconds": float(answer["seconds"]), "changed": tuple(answer.get("changed", ()))}
    row = CheckRow(problem, "fail", *problem.optimum[loss], **given)
    if answer["kind"] != "w":
        return replace(row, verdict=answer["kind"], message=answer["message"])
    w = np.array(answer["w"], dtype=float)
    if not np.isfinite(w).all():
        at = int(np.flatnonzero(~np.isfinite(w))[0])
        return replace(row, verdict="not finite", message=f"weight {at} is {w[at]}")
    value, gap, excess = distance(problem, loss, w)
    if excess is None:
        return replace(row, message=f"weights up to {np.abs(w).max():.3g}: F(w) overflows", w=w)
    verdict = "pass" if excess <= tol else "fail"
    return replace(row, verdict=verdict, objective=value, gap=gap, excess=excess, w=w)


def distance(problem: ReferenceProblem, loss: str, w: np.ndarray) -> tuple[Any, Any, Any]:
    """Return F(w), by how much it exceeds the optimum, and by what share of it, or ten times as
    much where that is below 1e-6: upper bounds, rounding included. None where F(w) overflows."""
    whole, (lower, upper) = whole_problem(problem, loss), problem.optimum[loss]
    with np.errstate(all="ignore"):
        scores, norm2 = whole.space.scores(w), whole.space.norm2(w)
        if not (np.isfinite(scores).all() and np.isfinite(norm2 + scores @ scores)):
            return None, None, None
        value = float(careful_primal(whole, w).high)
    if lower > value:
        below = f"below the proved lower bound {lower!r}: please report"
        raise CertificateError(f"F(w) is at most {value!r}, {below}")
    gap = above(value - lower)
    return value, gap, gap / lower if upper >= SMALL_OPTIMUM else 10 * gap


def whole_problem(problem: ReferenceProblem, loss: str, factor: float = 1.0) -> Problem:
    pairs = AllPairs(problem.sample_weight)
    return linear_problem(problem.X, problem.y, problem.lam * factor, loss, pairs)


# Data whose features are not of order one.
AWKWARD_UNITS = {*"large-units large-values small-units offset unequal-columns outlier".split()}
NEAR = 0.1  # an excess up to which stopping too early is a likely cause


def likely_causes(rows: Sequence[CheckRow], loss: str, tol: float) -> tuple[str, ...]:
    """Return the causes of the first kind that has any; none if nothing failed."""
    with np.errstate(all="ignore"):  # the weights may be anything
        for kind in _causes(rows, loss, tol):
            found = tuple(cause for likely, cause in kind if likely)
            if found:
                return found
    return ()


def _causes(rows: Sequence[CheckRow], loss: str, tol: float) -> Iterator[list[tuple[bool, str]]]:
    """Yield kinds of causes: for each whether it is likely, and a sentence."""
    failed = [row for row in rows if row.verdict == "fail"]
    if not failed:
        return

    def solves(row: CheckRow, loss: str, w: np.ndarray) -> bool:
        excess = distance(row.problem, loss, w)[-1]
        return excess is not None and excess <= tol

    answered = [row for row in rows if row.w is not None]
    moved = [row for row in answered if row.w.any()]
    same = [
        np.abs(one.w - other.w).max() <= 1e-9 * np.abs(one.w).max()
        for one, other in combinations(moved, 2)
        if one.problem.data == other.problem.data and one.problem.lam != other.problem.lam
    ]
    stays, ignores = len(answered) >= 2 and not moved, len(same) >= 2 and all(same)
    turned = sum(solves(row, loss, -row.w) for row in failed if row.w.any())
    of, minus = f"of {len(failed)}.", "the sign is wrong, or the classes are exchanged: -w"
    plain = {row.verdict for row in rows if row.problem.sample_weight is None}
    weighted = {row.verdict for row in rows if row.problem.sample_weight is not None}
    weighs = plain == {"pass"} and "fail" in weighted
    yield [
        (stays, "it returns zero for every problem, and never leaves its start."),
        (ignores, "it ignores lam: for the same rows it returns the same weights at every lam."),
        (2 * turned >= len(failed), f"{minus} solves {turned} {of}"),
        (weighs, "only the problems with row weights fail: sample_weight must mean repetition."),
    ]
    others = [other for other in LOSSES if other != loss]
    solved = {other: sum(solves(row, other, row.w) for row in failed) for other in others}
    best = highest(solved, key=lambda other: solved[other])
    said = f"it minimises the {best} loss: of that it solves {solved[best]} {of}"
    yield [(2 * solved[best] >= len(failed), said)]
    scaling = _other_lam(failed, loss, tol)
    said = f"it minimises another scaling; its answers are optimal for {scaling}."
    yield [(scaling is not None, said)]
    ran = [row for row in rows if row.verdict != "skipped"]
    bad = {row.problem.data for row in ran if row.verdict != "pass"}
    labelled = [(row, np.column_stack([row.problem.y, row.problem.X])) for row in ran]
    distinct = {row.verdict for row, both in labelled if len(np.unique(both, axis=0)) == len(both)}
    units = "only features that are not of order one fail: a step, a tolerance or a starting point "
    ties = "only data with equal rows in a class fail: it may count repeated rows once, or go "
    awkward = bad <= AWKWARD_UNITS and any(row.verdict == "pass" for row in ran)
    yield [
        (awkward, f"{units}that depends on their units."),
        (len(bad) >= 2 and distinct == {"pass"}, f"{ties}wrong where scores tie."),
    ]
    near = [row.excess is not None and lowest(row.excess, row.gap) <= NEAR for row in failed]
    said = "every answer is near its optimum (within a tenth of it, or of F(0) = 1), but "
    said += f"{len(failed)} not within the tolerance: it may stop too early, or "
    yield [(all(near), f"{said}leave a small term out.")]


# What stands in place of lam, and the factor that it is of lam: of n rows and N pairs.
SCALINGS: dict[str, Callable[[float, int, int], float]] = {
    "lam / N, N the pairs: a sum over pairs in place of the mean": lambda lam, n, N: 1 / N,
    "2 lam: the penalty, or the loss, without or with a factor of one half": lambda lam, n, N: 2.0,
    "lam / 2: a factor of one half or two on the penalty or the loss": lambda lam, n, N: 0.5,
    "2 lam / N: a sum over pairs, and a penalty without its one half": lambda lam, n, N: 2 / N,
    "lam n / N: a sum over pairs divided by the rows": lambda lam, n, N: n / N,
    "lam n: the penalty counted once a row": lambda lam, n, N: n,
    "lam / n: a sum over rows in place of the mean": lambda lam, n, N: 1 / n,
    "lam N: a mean over pairs divided by the pairs once more": lambda lam, n, N: N,
    "1 / lam: lam read as the constant C of the mean": lambda lam, n, N: lam**-2,
    "1 / (lam N): lam read as the constant C of the sum": lambda lam, n, N: lam**-2 / N,
}


def _other_lam(failed: Sequence[CheckRow], loss: str, tol: float) -> str | None:
    """Try what may stand in place of lam on a few small problems that tell lams apart."""
    small = [row for row in failed if row.problem.y.size <= 100 and row.lower > 0.01]
    probes = [(row.problem, row.w) for row in small if row.excess is not None]
    probes = sorted(probes, key=lambda probe: abs(np.log10(probe[0].lam) + 0.5))[:4]
    if len(probes) < 2:
        return None

    def solved_at(problem: ReferenceProblem, factor: float) -> tuple[Problem, Solution]:
        scaled = whole_problem(problem, loss, factor)
        return scaled, choose_solver(scaled, "auto", 1e-6, 1.0).solve(scaled)

    def worst_at(factor_of: Callable[[float, int, int], float]) -> float:
        """Return the largest excess of the probes' weights at a factor of lam."""
        worst = 0.0
        for problem, w in probes:
            n, n_pos = problem.y.size, int(problem.y.sum())
            scaled, best = solved_at(problem, factor_of(problem.lam, n, n_pos * (n - n_pos)))
            lower = highest(best.certificate.dual, 1e-300)
            # Where F(0) = 1 is nearly optimal, any short w has nearly the least F.
            scale = highest(lowest(lower, 10 * (1 - lower)), 1e-300)
            worst = highest(worst, (scaled.objective(w) - lower) / scale)
        return worst

    def exponent_of(problem: ReferenceProblem, w: np.ndarray) -> float:
        """Return the power of ten, between -6 and 6, of the factor at which the optimum is as long
        as w: its length falls with lam."""
        low, high = -6.0, 6.0
        for _ in range(14):
            middle = (low + high) / 2
            length = np.linalg.norm(solved_at(problem, 10**middle)[1].w)
            low, high = (low, middle) if length <= np.linalg.norm(w) else (middle, high)
        return (low + high) / 2

    worst = {text: worst_at(factor_of) for text, factor_of in SCALINGS.items()}
    best, near = lowest(worst, key=lambda text: worst[text]), highest(tol, 1e-3)
    if worst[best] <= near:
        return best
    factor = 10.0 ** float(np.mean([exponent_of(*probe) for probe in probes[:2]]))
    return f"about {factor:.3g} lam" if worst_at(lambda *_: factor) <= near else None
