"""Whether the instrument is calibrated: certificates against optima written out pair by pair. What
each claim says stands in the TOML. Problems are small, with ties; their objectives are sums over
listed pairs, and their optima are what a grid finds that narrows around its best point."""

import re
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from fractions import Fraction
from functools import wraps
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from ...exact import AllPairs, delong, solve, write_proof
from ...exact.certificate.certificate import TRIVIAL
from ...exact.proof import check_proof
from ..extremes import highest
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


def draws(c: Context) -> Iterator[tuple[np.ndarray, np.random.Generator]]:
    """Rows (14, 2) with ties, and a generator for labels."""
    for draw in range(DRAWS if c.quick else 10 * DRAWS):
        rng = c.rng(f"draw {draw}")
        yield np.round(2 * rng.normal(size=(14, 2))) / 2, rng


Objective = Callable[[np.ndarray], np.ndarray]  # of weights (..., 2)
Columns = dict[str, Any]
Cases = Iterator[tuple[np.ndarray, Columns, Objective]]  # rows, and what else `solve` is given
WINDOW = np.array([*product(np.linspace(-1, 1, 11), repeat=2)])


def right(
    w: np.ndarray, upper: float, lower: float, gap: Any, objective: Objective, slack: float = 0.0
) -> bool:
    """Whether the interval is tight and that of the objective F, whose F(w) lies between `upper` -
    `slack` and `upper`."""
    at = float(objective(w))
    # F is convex: a window around its best point, which holds w and 0 at first, narrows on it.
    best, width = w, 1.0 + 2 * np.abs(w).max()
    for _ in range(30):
        around = best + width * WINDOW
        best, width = around[np.argmin(objective(around))], 0.6 * width
    # The enumerated sums have a rounding of their own, far below SAME.
    holds = lower - SAME * 1e-3 * abs(at) <= float(objective(best))
    outside = highest(at - upper, upper - slack - at, 0.0)
    return bool(holds and outside <= SAME * at and gap is not None and gap <= TIGHT)


def outcome(cases: Iterable[bool]) -> Outcome:
    found = list(cases)
    wrong = found.count(False)
    measured = f"{wrong} of {len(found)} intervals are wrong"
    return judged(not wrong, measured, details={"cases": len(found)})


def interval(cases: Callable[..., Cases]) -> Run:
    """Return the judge of the claim that each certificate holds the optimum of its objective."""

    def judge(c: Context, *given: Any) -> Iterator[bool]:
        for X, rng in draws(c):
            for rows, asked, objective in cases(X, rng, *given):
                with warnings.catch_warnings():
                    warnings.filterwarnings("ignore", re.escape(TRIVIAL))
                    solution = solve(rows, **{"lam": LAM, **asked})
                found = solution.certificate
                numbers = found.primal, found.dual, found.relative_gap
                yield right(solution.w, *numbers, objective, found.rounding)

    return wraps(cases)(lambda c, *given: outcome(judge(c, *given)))


# Pairs are a matrix (n, n): whether row i is above row j.


def two_classes(X: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    y = rng.permutation(np.arange(len(X)) < 5).astype(int)
    return X + 1.5 * y[:, None], y, y[:, None] > y


def by_query(rng: np.random.Generator) -> tuple[Columns, np.ndarray]:
    """Queries and grades: rows above those of the same query and a smaller grade."""
    qid, grade = rng.integers(0, 3, 14), rng.integers(0, 3, 14)
    return {"y": grade, "qid": qid}, (qid[:, None] == qid) & (grade[:, None] > grade)


def by_time(rng: np.random.Generator) -> tuple[Columns, np.ndarray]:
    """Times: deaths above what comes later, or is censored at the same time."""
    time, event = rng.integers(1, 6, 14).astype(float), rng.random(14) < 0.7
    later = (time[:, None] < time) | ((time[:, None] == time) & ~event)
    return {"time": time, "event": event, "y": None}, event[:, None] & later


def mean_loss(X: np.ndarray, above: np.ndarray, loss: str) -> Objective:
    """Return w -> mean of the loss over the pairs, one by one."""
    i, j = np.nonzero(above)
    return lambda w: LOSSES[loss](w @ (X[i] - X[j]).T).mean(axis=-1)


def worst_loss(X: np.ndarray, y: np.ndarray, kp: float, kq: float, loss: str) -> Objective:
    """Return w -> mean loss of the kp lowest positives against the kq highest negatives."""
    sizes = int((y == 1).sum()), int((y == 0).sum())
    p, q = (np.clip(k - np.arange(m), 0.0, 1.0) / k for k, m in zip((kp, kq), sizes, strict=True))

    def value(w: np.ndarray) -> np.ndarray:
        scores = w @ X.T
        low, high = np.sort(scores[..., y == 1]), np.sort(scores[..., y == 0])[..., ::-1]
        return np.einsum("p,...pq,q", p, LOSSES[loss](low[..., :, None] - high[..., None, :]), q)

    return value


def penalised(
    value: Objective, l2: float = LAM, l1: float = 0.0, held: Any = (), group: float = 0.0
) -> Objective:
    """Return w -> l2/2 |w|^2 + l1 |w|_1 + group sqrt(2) |w| + value(w), infinite where a weight in
    `held` is < 0."""

    def objective(w: np.ndarray) -> np.ndarray:
        norm2 = np.square(w).sum(axis=-1)
        found = l2 / 2 * norm2 + l1 * np.abs(w).sum(axis=-1) + group * np.sqrt(2 * norm2) + value(w)
        return np.where((w[..., list(held)] >= 0).all(axis=-1), found, np.inf)

    return objective


@interval
def ordered_pairs_interval_holds_the_optimum(X: np.ndarray, rng: np.random.Generator) -> Cases:
    asked = by_query(rng), by_time(rng)
    for loss, (columns, pairs) in product(SMOOTH[:2], asked):
        yield X, {"loss": loss, **columns}, penalised(mean_loss(X, pairs, loss))


@interval
def partial_auc_interval_holds_the_optimum(X: np.ndarray, rng: np.random.Generator) -> Cases:
    rows, y, _ = two_classes(X, rng)
    for loss, (fpr, tpr) in product(SMOOTH, ((0.3, 0.0), (0.5, 0.5))):
        asked = {"y": y, "loss": loss, "fpr_max": fpr, "tpr_min": tpr, "tol": 1e-6}
        yield rows, asked, penalised(worst_loss(rows, y, (1 - tpr) * 5, fpr * 9, loss))


@interval
def worst_group_interval_holds_the_optimum(X: np.ndarray, rng: np.random.Generator) -> Cases:
    rows, y, every = two_classes(X, rng)
    member = np.zeros(y.size, dtype=int)  # each group has rows of both classes
    for label, half in ((0, 5), (1, 2)):
        member[rng.permutation(np.flatnonzero(y == label))[:half]] = 1
    own = [every & np.outer(member == k, member == k) for k in (0, 1)]
    for loss in SMOOTH:
        means = [mean_loss(rows, pairs, loss) for pairs in own]
        asked = {"y": y, "loss": loss, "worst_of": member, "tol": 1e-6, "max_time": 5.0}
        yield rows, asked, penalised(lambda w, f=means: np.max([one(w) for one in f], axis=0))


@interval
def penalty_interval_holds_the_optimum(X: np.ndarray, rng: np.random.Generator) -> Cases:
    rows, y, every = two_classes(X, rng)
    for loss in SMOOTH[1:]:
        asked, value = {"y": y, "loss": loss, "l1": L1, "tol": 1e-7}, mean_loss(rows, every, loss)
        for lam in (0.0, LAM):
            yield rows, {"lam": lam, **asked}, penalised(value, lam, L1)
        yield rows, {"groups": [0, 0], **asked}, penalised(value, group=L1)


@interval
def sign_interval_holds_the_optimum(X: np.ndarray, rng: np.random.Generator) -> Cases:
    rows, y, every = two_classes(X * [1.0, -1.0] - [0.0, 2.0], rng)
    rows = rows * [1.0, -1.0]  # so that the second weight wants to be negative
    columns, pairs = by_query(rng)
    signs, penalties = (("nonnegative", [0, 1]), ([1], [1])), ((LAM, 0.0), (0.0, L1))
    for loss in SMOOTH:
        more, value = {"loss": loss, "tol": 1e-7}, mean_loss(rows, every, loss)
        for (sign, held), (l2, l1) in product(signs, penalties):
            asked = {"y": y, "lam": l2, "l1": l1, "sign": sign, **more}
            yield rows, asked, penalised(value, l2, l1, held)
        asked = {"sign": "nonnegative", **columns, **more}
        yield rows, asked, penalised(mean_loss(rows, pairs, loss), held=[0, 1])


# A unit of score: what bins add to the value, L / (12 bins^2), is below the tolerance of sums.
FINE = AllPairs(form="binned", bins=1 << 16)


@interval
def of_a_loss(X: np.ndarray, rng: np.random.Generator, loss: str) -> Cases:
    rows, y, every = two_classes(X, rng)
    ways: list[Columns] = [{}, {"qid": np.zeros(len(y), dtype=int)}]
    if loss != "exponential":
        ways.append({"pairs": FINE})  # convolved only if asked for
    for way in ways:
        yield rows, {"y": y, "loss": loss, **way}, penalised(mean_loss(rows, every, loss))


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
            objective = penalised(mean_loss(X, pairs, "hinge"))
            found.append(right(proof["w"], primal, dual, relative, objective))
            lies = {"gap": 0.0, "dual": dual + 1e-9 * primal, "primal": primal - 1e-9 * primal}
            lies["w"] = proof["w"] * 1.01
            let_pass += sum(verified(proof | {k: lies[k]}, X, kind, columns) for k in lies)
            let_pass += verified(proof, X[::-1], kind, columns)
    shown = f"{let_pass} damaged files are not refused"
    return judged(False, shown) if let_pass else outcome(found)


def verified(proof: Columns, X: np.ndarray, kind: str, columns: Columns) -> bool:
    order = check_proof.ordering(kind, columns, proof, {})
    with suppress(ValueError):
        return bool(check_proof.check(proof, X, order, np.ones(len(X))))
    return False


def variance_by_pairs(scores: np.ndarray, positive: np.ndarray) -> tuple[Fraction, Fraction]:
    """Return the AUC and S+ / n+ + S- / n- in fractions, from every pair."""
    plus, minus = scores[positive][:, None], scores[~positive]
    wins = (plus > minus).astype(int) + (plus >= minus)  # a tie is half of a win, which is two
    auc, variance = Fraction(int(wins.sum()), 2 * wins.size), Fraction(0)
    for side in (wins, wins.T):
        n, others = side.shape
        shares = (Fraction(total, 2 * others) for total in side.sum(axis=1).tolist())
        variance += sum((share - auc) ** 2 for share in shares) / Fraction((n - 1) * n)
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
