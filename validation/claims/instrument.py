"""Whether the instrument is calibrated: certificates against optima written out pair by pair. What
each claim says stands in the TOML. Problems are small, with ties; their objectives are sums over
listed pairs, and their optima are what a grid finds that narrows around its best point."""

import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import wraps
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from ...exact import AllPairs, Mean, Problem, Ridge, Rows, Solution, Worst, solve, write_proof
from ...exact.losses.registry import ALL_LOSSES
from ...exact.pairs.concordance import delong
from ...exact.pairs.kinds import cross_group_pairs
from ...exact.proof import check_proof
from ...exact.solvers.choose import choose_solver
from ..extremes import highest, lowest
from .claim import Context, Outcome, Run
from .judge import Errors, at_most, judged

LOSSES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "hinge": lambda t: np.maximum(0.0, 1.0 - t),
    "squared_hinge": lambda t: np.maximum(0.0, 1.0 - t) ** 2,
    "logistic": lambda t: np.logaddexp(0.0, -t),
    "smooth_hinge": lambda t: np.where(t < 0, 0.5 - t, np.maximum(0.0, 1.0 - t) ** 2 / 2),
    "exponential": lambda t: np.exp(-t),
}
SMOOTH = ("hinge", "squared_hinge", "logistic")
SAME = 1e-10  # relative difference up to which two sums of the same few terms count as equal
TIGHT = 1e-5  # largest relative gap of a certificate that is taken for tight
LAM, L1 = 0.05, 0.05
DRAWS = 2  # problems for each case; the full profile takes ten times as many

Objective = Callable[[np.ndarray], np.ndarray]  # of weights (..., 2)
Columns = dict[str, Any]
Pairs = list[tuple[int, int]]
WINDOW = np.stack(np.meshgrid(*[np.linspace(-1, 1, 11)] * 2), axis=-1).reshape(-1, 2)


def right(
    w: np.ndarray, upper: float, lower: float, gap: float, objective: Objective, slack: float = 0.0
) -> bool:
    """Whether the interval is tight and that of the objective F, whose F(w) lies between `upper` -
    `slack` and `upper`."""
    at = least = float(objective(w))
    # F is convex: a window around its best point, which holds w and 0 at first, narrows on it.
    best, width = w, 1.0 + 2 * np.abs(w).max()
    for _ in range(30):
        around = np.vstack([best, best + width * WINDOW])
        values = objective(around)
        best, width = around[np.argmin(values)], 0.6 * width
        least = lowest(least, values.min())
    # The enumerated sums have a rounding of their own, far below SAME.
    low = lower - SAME * 1e-3 * abs(at)
    outside = highest(at - upper, upper - slack - at, 0.0)
    return bool(outside <= SAME * at and low <= least and gap <= TIGHT)


def outcome(cases: Iterable[bool]) -> Outcome:
    found = list(cases)
    wrong = found.count(False)
    measured = f"{wrong} of {len(found)} intervals are wrong"
    return judged(not wrong, measured, details={"cases": len(found)})


def interval(solved: Callable[..., Iterator[tuple[Solution, Objective]]]) -> Run:
    """Return the judge of the claim that each certificate holds the optimum of its objective."""

    def judge(c: Context, *given: Any) -> Iterator[bool]:
        for solution, objective in solved(c, *given):
            found = solution.certificate
            gap = np.inf if found.relative_gap is None else found.relative_gap
            yield right(solution.w, found.primal, found.dual, gap, objective, found.rounding)

    return wraps(solved)(lambda c, *given: outcome(judge(c, *given)))


def draws(c: Context) -> Iterator[tuple[np.ndarray, np.random.Generator]]:
    """Rows (14, 2) with ties, and a generator for labels."""
    for draw in range(DRAWS if c.quick else 10 * DRAWS):
        rng = c.rng(f"draw {draw}")
        yield np.round(2 * rng.normal(size=(14, 2))) / 2, rng


def two_classes(X: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, Pairs]:
    y = rng.permutation(np.arange(len(X)) < 5).astype(int)
    return X + 1.5 * y[:, None], y, pairs_where(lambda i, j: y[i] > y[j])


def pairs_where(above: Callable[[int, int], object], n: int = 14) -> Pairs:
    """All (i, j) of n rows with i above j, one by one."""
    return [(i, j) for i in range(n) for j in range(n) if above(i, j)]


def by_query(rng: np.random.Generator) -> tuple[Columns, Pairs]:
    """Queries and grades: rows above those of the same query and a smaller grade."""
    qid, grade = rng.integers(0, 3, 14), rng.integers(0, 3, 14)
    pairs = pairs_where(lambda i, j: qid[i] == qid[j] and grade[i] > grade[j])
    return {"y": grade, "qid": qid}, pairs


def by_time(rng: np.random.Generator) -> tuple[Columns, Pairs]:
    """Times: deaths above what comes later, or is censored at the same time."""
    time, event = rng.integers(1, 6, 14).astype(float), rng.random(14) < 0.7

    def above(i: int, j: int) -> bool:
        return event[i] and (time[i] < time[j] or (time[i] == time[j] and not event[j]))

    return {"time": time, "event": event, "y": None}, pairs_where(above)


def mean_loss(X: np.ndarray, pairs: Pairs, loss: str) -> Objective:
    """Return w -> mean over listed pairs of the loss."""
    upper, lower = np.array(pairs).T
    differences = X[upper] - X[lower]
    return lambda w: LOSSES[loss](w @ differences.T).mean(axis=-1)


def worst_loss(X: np.ndarray, y: np.ndarray, kp: float, kq: float, loss: str) -> Objective:
    """Return w -> mean loss of the kp lowest positives against the kq highest negatives."""
    sizes = int((y == 1).sum()), int((y == 0).sum())
    p, q = (np.clip(k - np.arange(m), 0.0, 1.0) / k for k, m in zip((kp, kq), sizes, strict=True))

    def value(w: np.ndarray) -> np.ndarray:
        scores = w @ X.T
        low, high = np.sort(scores[..., y == 1]), np.sort(scores[..., y == 0])[..., ::-1]
        return np.einsum("p,...pq,q", p, LOSSES[loss](low[..., :, None] - high[..., None, :]), q)

    return value


def penalised(value: Objective, l2: float = LAM, l1: float = 0.0, held: Any = ()) -> Objective:
    """Return w -> l2/2 |w|^2 + l1 |w|_1 + value(w), infinite where a weight in `held` is < 0."""

    def objective(w: np.ndarray) -> np.ndarray:
        found = l2 / 2 * np.square(w).sum(axis=-1) + l1 * np.abs(w).sum(axis=-1) + value(w)
        return np.where((w[..., list(held)] >= 0).all(axis=-1), found, np.inf)

    return objective


Solved = Iterator[tuple[Solution, Objective]]


@interval
def ordered_pairs_interval_holds_the_optimum(c: Context) -> Solved:
    for X, rng in draws(c):
        asked = by_query(rng), by_time(rng)
        for loss, (columns, pairs) in product(SMOOTH[:2], asked):
            yield solve(X, lam=LAM, loss=loss, **columns), penalised(mean_loss(X, pairs, loss))


@interval
def partial_auc_interval_holds_the_optimum(c: Context) -> Solved:
    for X, rng in draws(c):
        rows, y, _ = two_classes(X, rng)
        for loss, (fpr, tpr) in product(SMOOTH, ((0.3, 0.0), (0.5, 0.5))):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # that w = 0 is optimal
                found = solve(rows, y, LAM, loss=loss, fpr_max=fpr, tpr_min=tpr, tol=1e-6)
            yield found, penalised(worst_loss(rows, y, (1 - tpr) * 5, fpr * 9, loss))


@interval
def worst_group_interval_holds_the_optimum(c: Context) -> Solved:
    for X, rng in draws(c):
        rows, y, every = two_classes(X, rng)
        member = np.zeros(y.size, dtype=int)  # each group has rows of both classes
        for label, half in ((0, 5), (1, 2)):
            member[rng.permutation(np.flatnonzero(y == label))[:half]] = 1
        parts = [[(i, j) for i, j in every if member[i] == member[j] == k] for k in (0, 1)]
        for loss in SMOOTH:
            means = [mean_loss(rows, part, loss) for part in parts]
            pairs = (cross_group_pairs(y, member, group, group) for group in (0, 1))
            risk = Worst(tuple(Mean(one, ALL_LOSSES[loss]) for one in pairs))
            problem = Problem(Rows(rows), risk, Ridge(LAM))
            found = choose_solver(problem, "auto", 1e-6, 5.0).solve(problem)
            yield found, penalised(lambda w, f=means: np.max([one(w) for one in f], axis=0))


@interval
def penalty_interval_holds_the_optimum(c: Context) -> Solved:
    for X, rng in draws(c):
        rows, y, every = two_classes(X, rng)
        for loss in SMOOTH[1:]:
            more: Any = {"loss": loss, "l1": L1, "tol": 1e-7}
            value = mean_loss(rows, every, loss)
            for lam in (0.0, LAM):
                yield solve(rows, y, lam, **more), penalised(value, lam, L1)

            def grouped(w: np.ndarray, value: Objective = value) -> np.ndarray:
                return L1 * np.sqrt(2 * np.square(w).sum(axis=-1)) + value(w)

            yield solve(rows, y, LAM, groups=[0, 0], **more), penalised(grouped)


@interval
def sign_interval_holds_the_optimum(c: Context) -> Solved:
    for X, rng in draws(c):
        rows, y, every = two_classes(X * [1.0, -1.0] - [0.0, 2.0], rng)
        rows = rows * [1.0, -1.0]  # so that the second weight wants to be negative
        columns, pairs = by_query(rng)
        for loss in SMOOTH:
            value = mean_loss(rows, every, loss)
            more: Any = {"loss": loss, "tol": 1e-7}
            signs: Any = ("nonnegative", [0, 1]), ([1], [1])
            for (sign, held), (l2, l1) in product(signs, ((LAM, 0.0), (0.0, L1))):
                yield solve(rows, y, l2, l1=l1, sign=sign, **more), penalised(value, l2, l1, held)
            found = solve(rows, lam=LAM, sign="nonnegative", **columns, **more)
            yield found, penalised(mean_loss(rows, pairs, loss), held=[0, 1])


# A unit of score: what bins add to the value, L / (12 bins^2), is below the tolerance of sums.
FINE = AllPairs(form="binned", bins=1 << 16)


@interval
def of_a_loss(c: Context, loss: str) -> Solved:
    for X, rng in draws(c):
        rows, y, every = two_classes(X, rng)
        ways: list[Any] = [{}, {"pairs": FINE}, {"qid": np.zeros(len(y), dtype=int)}]
        for way in ways:
            if way.get("pairs") is None or loss != "exponential":  # convolved only if asked for
                yield solve(rows, y, LAM, loss=loss, **way), penalised(mean_loss(rows, every, loss))


def proof_file_of_ordered_pairs_holds_the_optimum(c: Context) -> Outcome:
    found, let_pass = [], 0
    for X, rng in draws(c):
        for kind, (columns, pairs) in (("query", by_query(rng)), ("survival", by_time(rng))):
            solution = solve(X, lam=LAM, tol=1e-9, **columns)
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "proof.npz"
                write_proof(path, X, lam=LAM, solution=solution, **columns)
                with np.load(path) as file:
                    proof = dict(file)
            primal, dual, gap = (float(proof[name]) for name in ("primal", "dual", "gap"))
            # What is not verified proves nothing.
            relative = gap / primal if verified(proof, X, kind, columns) else 1.0
            value = penalised(mean_loss(X, pairs, "hinge"))
            found.append(right(proof["w"], primal, dual, relative, value))
            damaged = [
                (proof | {"gap": np.asarray(0.0)}, X),
                (proof | {"dual": np.asarray(dual + 1e-9 * primal)}, X),
                (proof | {"primal": np.asarray(primal - 1e-9 * primal)}, X),
                (proof | {"w": proof["w"] * 1.01}, X),
                (proof, X[::-1].copy()),
            ]
            let_pass += sum(verified(p, x, kind, columns) for p, x in damaged)
    shown = f"{let_pass} damaged files are not refused"
    return judged(False, shown) if let_pass else outcome(found)


def verified(proof: Columns, X: np.ndarray, kind: str, columns: Columns) -> bool:
    order = check_proof.ordering(kind, columns, proof, {})
    try:
        check_proof.check(proof, X, order, np.ones(len(X)))
    except ValueError:
        return False
    return True


def variance_by_pairs(scores: np.ndarray, positive: np.ndarray) -> tuple[Fraction, Fraction]:
    """Return the AUC and S+ / n+ + S- / n- in fractions, from every pair."""
    above, below = scores[positive].tolist(), scores[~positive].tolist()
    order = [[Fraction((a > b) + (a >= b), 2) for b in below] for a in above]
    both = order, list(zip(*order, strict=True))
    rows, columns = ([sum(side) / Fraction(len(side)) for side in table] for table in both)
    auc = sum(rows) / Fraction(len(rows))
    variance = Fraction(0)
    for side in (rows, columns):
        variance += sum((v - auc) ** 2 for v in side) / Fraction((len(side) - 1) * len(side))
    return auc, variance


@at_most(1e-13)
def delong_variance_is_that_of_the_pairs(c: Context) -> Errors:
    errors = []
    for draw in range(20 if c.quick else 200):
        rng = c.rng(f"draw {draw}")
        positive = rng.permutation(np.arange(25) < 2 + draw % 10)
        scores = rng.integers(0, 6, 25) + 1.0 * positive
        found = delong(scores, positive)
        both = found.value, found.standard_error**2
        for value, exact in zip(both, map(float, variance_by_pairs(scores, positive)), strict=True):
            errors.append(abs(value - exact) / highest(exact, 1e-3))
    yield "largest relative difference", highest(errors)
