"""Likely causes of what failed: cheap guesses, each checked against the answers themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np

from ...exact.api.solve import choose_solver
from ...exact.certificate.solution import Solution
from ...exact.losses.registry import LOSSES
from ...exact.problem.problem import Problem
from ..extremes import highest, lowest
from ..reference.problems import ReferenceProblem
from .report import CheckRow, excess, upper_value, whole_problem

# Data whose features are not of order one.
AWKWARD_UNITS = frozenset(
    "large-units large-values small-units offset unequal-columns outlier".split()
)

NEAR = 0.1  # An excess up to which stopping too early is a likely cause.

Factor = Callable[[ReferenceProblem], float]


def _n_pairs(problem: ReferenceProblem) -> float:
    n_pos = int(problem.y.sum())
    return float(n_pos * (problem.y.size - n_pos))


# What a solver may have in place of lam, and the factor that it is.
SCALINGS: tuple[tuple[str, Factor], ...] = (
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


def likely_causes(rows: Sequence[CheckRow], loss: str, tol: float) -> tuple[str, ...]:
    """Return one sentence for each likely cause of the failures; none if nothing failed."""
    failed = [row for row in rows if row.verdict == "fail" and row.w is not None]
    if not failed:
        return ()
    with np.errstate(all="ignore"):  # the weights may be anything
        found = [
            _stays_at_zero(rows),
            _ignores_lam(rows),
            _wrong_sign(failed, loss, tol),
            _ignores_weights(rows),
        ]
        for cause in (_other_loss, _other_lam):
            if not any(found):
                found.append(cause(failed, loss, tol))
    if not any(found):
        found += [_units(rows), _repeats(rows)]
    if not any(found):
        found.append(_stopped_early(failed))
    return tuple(sentence for sentence in found if sentence)


def _answered(rows: Sequence[CheckRow]) -> list[tuple[CheckRow, np.ndarray]]:
    return [(row, row.w) for row in rows if row.w is not None]


def _stays_at_zero(rows: Sequence[CheckRow]) -> str:
    answers = _answered(rows)
    if len(answers) < 2 or any(w.any() for _, w in answers):
        return ""
    return "it returns zero for every problem, and never leaves its starting point."


def _ignores_lam(rows: Sequence[CheckRow]) -> str:
    """Look at the problems that share their rows: the weights must differ."""
    answers = [(row, w) for row, w in _answered(rows) if w.any()]
    same = [
        np.abs(w - v).max() <= 1e-9 * np.abs(w).max()
        for (row, w), (other, v) in combinations(answers, 2)
        if row.problem.data == other.problem.data and row.problem.lam != other.problem.lam
    ]
    if len(same) < 2 or not all(same):
        return ""
    return "it ignores lam: for the same rows it returns the same weights at every lam."


def _wrong_sign(failed: Sequence[CheckRow], loss: str, tol: float) -> str:
    turned = 0
    for row, w in _answered(failed):
        value = upper_value(row.problem, loss, -w) if w.any() else None
        if value is not None:
            turned += excess(row.problem, loss, value - row.lower) <= tol
    if 2 * turned < len(failed):
        return ""
    return f"the sign is wrong, or the classes are exchanged: -w solves {turned} of {len(failed)}."


def _ignores_weights(rows: Sequence[CheckRow]) -> str:
    verdicts = {
        weighted: {r.verdict for r in rows if (r.problem.sample_weight is not None) == weighted}
        for weighted in (False, True)
    }
    if verdicts[False] != {"pass"} or "fail" not in verdicts[True]:
        return ""
    return "only the problems with row weights fail: sample_weight must mean repetition."


def _other_loss(failed: Sequence[CheckRow], loss: str, tol: float) -> str:
    """Compare with the optima of the other losses, which are known too."""
    solved = {}
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


def _other_lam(failed: Sequence[CheckRow], loss: str, tol: float) -> str:
    """Try what may stand in place of lam on a few small problems that tell lams apart."""
    probes = [
        row
        for row in failed
        if row.problem.y.size <= 100 and row.lower > 0.01 and row.excess is not None
    ]
    probes.sort(key=lambda row: abs(np.log10(row.problem.lam) + 0.5))
    probes = probes[:4]
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


def _worst_at(probes: Sequence[CheckRow], loss: str, factor: Factor) -> float:
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
        _, solution = _solved_at(row, loss, 10**middle)
        if float(np.linalg.norm(solution.w)) > length:
            low = middle
        else:
            high = middle
    return 10 ** ((low + high) / 2)


def _solved_at(row: CheckRow, loss: str, factor: float) -> tuple[Problem, Solution]:
    problem = whole_problem(row.problem, loss, row.problem.lam * factor)
    return problem, choose_solver(problem, "auto", 1e-6, 1.0).solve(problem)


def _units(rows: Sequence[CheckRow]) -> str:
    bad = {row.problem.data for row in rows if row.verdict not in ("pass", "skipped")}
    if not bad <= AWKWARD_UNITS or not any(row.verdict == "pass" for row in rows):
        return ""
    return (
        "only features that are not of order one fail: a step, a tolerance or a starting point "
        "that depends on their units."
    )


def _repeats(rows: Sequence[CheckRow]) -> str:
    """Look whether all that fails has equal rows in a class, and what has none passes."""
    judged = [row for row in rows if row.verdict != "skipped"]
    bad = {row.problem.data for row in judged if row.verdict != "pass"}
    plain = [row for row in judged if not _has_equal_rows(row.problem)]
    if len(bad) < 2 or not plain or any(row.verdict != "pass" for row in plain):
        return ""
    return (
        "only data with equal rows in a class fail: it may count repeated rows once, or go wrong "
        "where scores tie."
    )


def _has_equal_rows(problem: ReferenceProblem) -> bool:
    sides = [problem.X[problem.y == side] for side in (0, 1)]
    return any(len(np.unique(side, axis=0)) < len(side) for side in sides)


def _stopped_early(failed: Sequence[CheckRow]) -> str:
    far = [row for row in failed if row.excess is None or lowest(row.excess, row.gap or 0.0) > NEAR]
    if far:
        return ""
    return (
        "every answer is near its optimum (within a tenth of it, or of F(0) = 1), but "
        f"{len(failed)} not within the tolerance: it may stop too early, or leave a small term out."
    )
