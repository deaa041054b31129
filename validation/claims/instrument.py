"""Whether the instrument is calibrated: certificates against optima written out pair by pair.

What each claim says stands in the TOML. Problems are small, with ties; their objectives are
sums over listed pairs, and their optima are what Nelder and Mead find.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

from ...exact.api.solve import solve
from ...exact.certificate.solution import Solution
from ...exact.losses.registry import ALL_LOSSES
from ...exact.pairs.all_pairs import AllPairs
from ...exact.pairs.concordance import delong
from ...exact.pairs.kinds import cross_group_pairs
from ...exact.problem.penalties import Ridge
from ...exact.problem.problem import Problem
from ...exact.problem.risk import Mean
from ...exact.problem.worst import Worst
from ...exact.proof import check_proof
from ...exact.proof.write import write_proof
from ...exact.solvers.choose import choose_solver
from ...exact.spaces.rows import Rows
from ..extremes import highest, lowest
from .claim import Context, Outcome, Run, Verdict
from .judge import at_most, judged

LOSSES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "hinge": lambda t: np.maximum(0.0, 1.0 - t),
    "squared_hinge": lambda t: np.maximum(0.0, 1.0 - t) ** 2,
    "logistic": lambda t: np.logaddexp(0.0, -t),
    "smooth_hinge": lambda t: np.where(t < 0, 0.5 - t, np.maximum(0.0, 1.0 - t) ** 2 / 2),
    "exponential": lambda t: np.exp(-t),
}
SAME = 1e-10  # relative difference up to which two sums of the same few terms count as equal
TIGHT = 1e-5  # largest relative gap of a certificate that is taken for tight
LAM, L1 = 0.05, 0.05
DRAWS = 2  # problems for each case; the full profile takes ten times as many

Objective = Callable[[np.ndarray], float]
Drawn = Iterator[tuple[np.ndarray, np.random.Generator]]


@dataclass(frozen=True)
class Case:
    """What one certificate came to."""

    wrong_sum: float
    below: float
    gap: float

    @property
    def right(self) -> bool:
        """Whether the interval is that of the enumerated problem, and tight."""
        return self.wrong_sum <= SAME and self.below <= 0 and self.gap <= TIGHT

    @classmethod
    def of(cls, solution: Solution, objective: Objective) -> Case:
        """Return what a solution's certificate comes to."""
        found = solution.certificate
        gap = np.inf if found.relative_gap is None else found.relative_gap
        w = np.asarray(solution.w)
        return cls.between(w, found.primal, found.dual, gap, objective, found.rounding)

    @classmethod
    def between(
        cls,
        w: np.ndarray,
        upper: float,
        lower: float,
        gap: float,
        objective: Objective,
        rounding: float = 0.0,
    ) -> Case:
        """Return what the bounds come to: F(w) lies between `upper` - `rounding` and `upper`."""
        at = objective(w)
        # F is convex: a second start is only for a search that ends too early.
        options = {"xatol": 1e-7, "fatol": 1e-12, "maxiter": 100}
        least = lowest(
            float(minimize(objective, start, method="Nelder-Mead", options=options).fun)
            for start in (w, np.zeros(w.size))
        )
        # The enumerated sums have a rounding of their own, far below SAME.
        low = lower - SAME * 1e-3 * abs(at)
        outside = highest(at - upper, upper - rounding - at, 0.0)
        return cls(outside / at, (low - lowest(least, at)) / at, gap)


Cases = Callable[..., Iterator[Case]]


def outcome(cases: Iterable[Case]) -> Outcome:
    """Return the verdict over all cases."""
    found = list(cases)
    wrong = sum(not case.right for case in found)
    return judged(
        not wrong,
        f"{wrong} of {len(found)} intervals are wrong",
        {
            "cases": len(found),
            "largest relative difference of the sums": highest(case.wrong_sum for case in found),
            "largest relative gap": highest(case.gap for case in found),
            "largest excess of the lower bound": highest(case.below for case in found),
        },
    )


def interval(cases: Cases) -> Run:
    """Return the judge of the claim that the interval holds the optimum in every case."""
    return wraps(cases)(lambda c, *given: outcome(cases(c, *given)))


def draws(c: Context) -> Drawn:
    """Rows (14, 2) with ties, and a generator for labels."""
    for draw in range(DRAWS if c.quick else 10 * DRAWS):
        rng = c.rng(f"draw {draw}")
        yield np.round(2 * rng.normal(size=(14, 2))) / 2, rng


def two_classes(X: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows moved apart by class, and labels of five positives."""
    y = rng.permutation(np.arange(len(X)) < 5).astype(int)
    return X + 1.5 * y[:, None], y


def every_pair(y: np.ndarray) -> list[tuple[int, int]]:
    """Positives above negatives, one by one."""
    return [(int(i), int(j)) for i in np.flatnonzero(y == 1) for j in np.flatnonzero(y == 0)]


def graded_pairs(qid: np.ndarray, grade: np.ndarray) -> list[tuple[int, int]]:
    """Rows above rows of the same query and a smaller grade, one by one."""
    n = range(len(qid))
    return [(i, j) for i in n for j in n if qid[i] == qid[j] and grade[i] > grade[j]]


def timed_pairs(time: np.ndarray, event: np.ndarray) -> list[tuple[int, int]]:
    """Deaths above what comes later, or is censored at the same time, one by one."""
    n = range(len(time))
    return [
        (i, j)
        for i in n
        for j in n
        if event[i] and (time[i] < time[j] or (time[i] == time[j] and not event[j]))
    ]


def mean_loss(X: np.ndarray, pairs: Sequence[tuple[Any, Any]], loss: str) -> Objective:
    """Return w -> mean over listed pairs of the loss."""
    upper, lower = np.array(pairs).T
    differences = X[upper] - X[lower]
    return lambda w: float(LOSSES[loss](differences @ w).mean())


def worst_loss(X: np.ndarray, y: np.ndarray, kp: float, kq: float, loss: str) -> Objective:
    """Return w -> mean loss of the kp lowest positives against the kq highest negatives."""
    sizes = int((y == 1).sum()), int((y == 0).sum())
    p, q = (np.clip(k - np.arange(m), 0.0, 1.0) / k for k, m in zip((kp, kq), sizes, strict=True))

    def value(w: np.ndarray) -> float:
        scores = X @ w
        low, high = np.sort(scores[y == 1]), np.sort(scores[y == 0])[::-1]
        return float(p @ LOSSES[loss](low[:, None] - high) @ q)

    return value


def with_ridge(value: Objective) -> Objective:
    """Return w -> LAM/2 |w|^2 + value(w)."""
    return lambda w: LAM / 2 * float(w @ w) + value(w)


def with_l1(value: Objective) -> Objective:
    """Return w -> L1 |w|_1 + value(w)."""
    return lambda w: L1 * float(np.abs(w).sum()) + value(w)


def above_zero(value: Objective, held: list[int]) -> Objective:
    """Return the objective where the weights in `held` are >= 0, and infinity elsewhere."""
    return lambda w: value(w) if (w[held] >= 0).all() else np.inf


@interval
def ordered_pairs_interval_holds_the_optimum(c: Context) -> Iterator[Case]:
    for X, rng in draws(c):
        qid, grade = rng.integers(0, 3, 14), rng.integers(0, 3, 14)
        time, event = rng.integers(1, 6, 14).astype(float), rng.random(14) < 0.7
        graded, timed = graded_pairs(qid, grade), timed_pairs(time, event)
        for loss in ("hinge", "squared_hinge"):
            by_query = solve(X, grade, LAM, loss=loss, qid=qid)
            yield Case.of(by_query, with_ridge(mean_loss(X, graded, loss)))
            survival = solve(X, None, LAM, loss=loss, time=time, event=event)
            yield Case.of(survival, with_ridge(mean_loss(X, timed, loss)))


@interval
def partial_auc_interval_holds_the_optimum(c: Context) -> Iterator[Case]:
    for X, rng in draws(c):
        rows, y = two_classes(X, rng)
        for loss in ("hinge", "squared_hinge", "logistic"):
            for fpr, tpr in ((0.3, 0.0), (0.5, 0.5)):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)  # that w = 0 is optimal
                    found = solve(rows, y, LAM, loss=loss, fpr_max=fpr, tpr_min=tpr, tol=1e-6)
                yield Case.of(found, with_ridge(worst_loss(rows, y, (1 - tpr) * 5, fpr * 9, loss)))


@interval
def worst_group_interval_holds_the_optimum(c: Context) -> Iterator[Case]:
    for X, rng in draws(c):
        rows, y = two_classes(X, rng)
        member = np.zeros(y.size, dtype=int)  # each group has rows of both classes
        for label, half in ((0, 5), (1, 2)):
            member[rng.permutation(np.flatnonzero(y == label))[:half]] = 1
        parts = [
            [(i, j) for i, j in every_pair(y) if member[i] == member[j] == group]
            for group in (0, 1)
        ]
        for loss in ("hinge", "squared_hinge", "logistic"):
            means = [mean_loss(rows, part, loss) for part in parts]
            pairs = (cross_group_pairs(y, member, group, group) for group in (0, 1))
            risk = Worst(tuple(Mean(one, ALL_LOSSES[loss]) for one in pairs))
            problem = Problem(Rows(rows), risk, Ridge(LAM))
            found = choose_solver(problem, "auto", 1e-6, 5.0).solve(problem)
            yield Case.of(found, with_ridge(lambda w, f=means: highest(one(w) for one in f)))


@interval
def penalty_interval_holds_the_optimum(c: Context) -> Iterator[Case]:
    for X, rng in draws(c):
        rows, y = two_classes(X, rng)
        for loss in ("squared_hinge", "logistic"):
            more: Any = {"loss": loss, "l1": L1, "tol": 1e-7}
            value = mean_loss(rows, every_pair(y), loss)
            yield Case.of(solve(rows, y, 0.0, **more), with_l1(value))
            yield Case.of(solve(rows, y, LAM, **more), with_ridge(with_l1(value)))

            def grouped(w: np.ndarray, value: Objective = value) -> float:
                return L1 * float(np.sqrt(2)) * float(np.sqrt(w @ w)) + value(w)

            yield Case.of(solve(rows, y, LAM, groups=[0, 0], **more), with_ridge(grouped))


@interval
def sign_interval_holds_the_optimum(c: Context) -> Iterator[Case]:
    for X, rng in draws(c):
        rows, y = two_classes(X * [1.0, -1.0] - [0.0, 2.0], rng)
        rows = rows * [1.0, -1.0]  # so that the second weight wants to be negative
        qid, grade = rng.integers(0, 3, 14), rng.integers(0, 3, 14)
        for loss in ("hinge", "squared_hinge", "logistic"):
            value = mean_loss(rows, every_pair(y), loss)
            for sign, held in (("nonnegative", [0, 1]), ([1], [1])):
                more: Any = {"loss": loss, "sign": sign, "tol": 1e-7}
                found = solve(rows, y, LAM, **more)
                yield Case.of(found, above_zero(with_ridge(value), held))
                found = solve(rows, y, 0.0, l1=L1, **more)
                yield Case.of(found, above_zero(with_l1(value), held))
            graded = mean_loss(rows, graded_pairs(qid, grade), loss)
            found = solve(rows, grade, LAM, qid=qid, loss=loss, sign="nonnegative", tol=1e-7)
            yield Case.of(found, above_zero(with_ridge(graded), [0, 1]))


# A unit of score: what bins add to the value, L / (12 bins^2), is below the tolerance of sums.
FINE = AllPairs(form="binned", bins=1 << 16)


@interval
def of_a_loss(c: Context, loss: str) -> Iterator[Case]:
    """Judge each way of summing the loss over all pairs: listed, convolved, as one query."""
    for X, rng in draws(c):
        rows, y = two_classes(X, rng)
        value = with_ridge(mean_loss(rows, every_pair(y), loss))
        yield Case.of(solve(rows, y, LAM, loss=loss), value)
        if loss != "exponential":  # so few pairs are convolved only where that is asked for
            yield Case.of(solve(rows, y, LAM, loss=loss, pairs=FINE), value)
        yield Case.of(solve(rows, y, LAM, loss=loss, qid=np.zeros(len(y), dtype=int)), value)


# Proof files of ordered pairs.

Columns = dict[str, np.ndarray]


def proof_file_of_ordered_pairs_holds_the_optimum(c: Context) -> Outcome:
    found = []
    for X, rng in draws(c):
        qid, grade = rng.integers(0, 3, 14), rng.integers(0, 3, 14)
        found.append(one_proof(X, "query", {"y": grade, "qid": qid}, graded_pairs(qid, grade)))
        time, event = rng.integers(1, 6, 14).astype(float), rng.random(14) < 0.7
        timed = timed_pairs(time, event)
        found.append(one_proof(X, "survival", {"time": time, "event": event}, timed))
    let_pass = [name for _, names in found for name in names]
    whole = outcome(case for case, _ in found)
    if not let_pass:
        return whole
    details = {**whole.details, "damaged files that were not refused": let_pass}
    measured = f"{len(let_pass)} damaged files are not refused"
    return replace(whole, verdict=Verdict.FAILS, measured=measured, details=details)


def one_proof(X: np.ndarray, kind: str, columns: Columns, pairs: list) -> tuple[Case, list[str]]:
    """Return what a file comes to, and which damage to it the checker lets pass."""
    asked: dict[str, Any] = {"y": None, **columns}
    solution = solve(X, lam=LAM, tol=1e-9, **asked)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "proof.npz"
        write_proof(path, X, lam=LAM, solution=solution, **asked)
        with np.load(path) as file:
            proof = dict(file)
    primal, dual, gap = (float(proof[name]) for name in ("primal", "dual", "gap"))
    # What is not verified proves nothing.
    relative = gap / primal if verified(proof, X, kind, columns) else 1.0
    value = with_ridge(mean_loss(X, pairs, "hinge"))
    case = Case.between(proof["w"], primal, dual, relative, value)
    better = 1e-9 * primal
    damaged = {
        "no gap": (proof | {"gap": np.asarray(0.0)}, X),
        "a larger lower bound": (proof | {"dual": np.asarray(dual + better)}, X),
        "a smaller upper bound": (proof | {"primal": np.asarray(primal - better)}, X),
        "other weights": (proof | {"w": proof["w"] * 1.01}, X),
        "rows in another order": (proof, X[::-1].copy()),
    }
    return case, [name for name, (p, x) in damaged.items() if verified(p, x, kind, columns)]


def verified(proof: Columns, X: np.ndarray, kind: str, columns: Columns) -> bool:
    """Whether the checker verifies the file against these rows and columns."""
    order = check_proof.ordering(kind, columns, proof, {})
    try:
        check_proof.check(proof, X, order, np.ones(len(X)))
    except ValueError:
        return False
    return True


# DeLong's variance.


def variance_by_pairs(scores: np.ndarray, positive: np.ndarray) -> tuple[Fraction, Fraction]:
    """Return the AUC and S+ / n+ + S- / n- in fractions, from every pair."""
    above, below = scores[positive].tolist(), scores[~positive].tolist()
    order = [[Fraction((a > b) + (a >= b), 2) for b in below] for a in above]
    rows = [sum(row, Fraction(0)) / len(row) for row in order]
    columns = [sum(column, Fraction(0)) / len(column) for column in zip(*order, strict=True)]
    auc = sum(rows, Fraction(0)) / len(rows)
    parts = (
        sum(((v - auc) ** 2 for v in side), Fraction(0)) / ((len(side) - 1) * len(side))
        for side in (rows, columns)
    )
    return auc, sum(parts, Fraction(0))


def delong_variance_is_that_of_the_pairs(c: Context) -> Outcome:
    worst = 0.0
    for draw in range(20 if c.quick else 200):
        rng = c.rng(f"draw {draw}")
        positive = rng.permutation(np.arange(25) < 2 + draw % 10)
        scores = rng.integers(0, 6, 25) + 1.0 * positive
        found = delong(scores, positive)
        auc, variance = variance_by_pairs(scores, positive)
        for value, exact in ((found.value, auc), (found.standard_error**2, variance)):
            worst = highest(worst, abs(value - float(exact)) / highest(float(exact), 1e-3))
    return at_most({"largest relative difference": worst}, 1e-13)
