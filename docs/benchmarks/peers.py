"""aucert next to its peers: the same objective, the same AUC, the same piece of work, and goals.

    python docs/benchmarks/peers.py --page docs/benchmarks.md

CPU seconds, one thread, from the data to the certificate. In `peers` everybody is judged by the
lower bound that our certificate proves. A peer gets, for each tolerance, the setting that suits it
best; converting its data is not timed. Where a goal is missed, `rows` says which functions take the
time.
"""

from __future__ import annotations

import cProfile
import os
import pstats
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import scipy.optimize
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, SGDClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC, LinearSVC

import common as c
import pair_problems
import scale
from aucert import exact
from aucert.approx import draw_pairs
from aucert.validation.data.datasets import real_data_folder

TOLERANCES = {"1e-3": 1e-3, "1e-6": 1e-6, "1e-9": 1e-9}
OURS = "aucert, proved"
LEVEL = 1.1  # ours is level where it takes at most so many times what the best peer takes
MOST_NUMBERS = 60_000_000  # up to which differences of pairs are listed: half a gigabyte
HELD_OUT = 20_000  # rows of which the AUC is taken
LONGEST = 60.0  # seconds after which a solve is given up

HINGE, BOTH = ("hinge",), ("hinge", "squared_hinge")
LOSSES = (*BOTH, "logistic")

CASES: tuple[tuple[str, int, Callable[[int], c.Labelled], float, tuple[str, ...]], ...] = (
    ("1e3 x 2", 1000, c.plane, 1e-2, BOTH),
    ("1e4 x 2", 10_000, c.plane, 1e-2, BOTH),
    ("1e5 x 2", 100_000, c.plane, 1e-2, HINGE),
    ("1e5 x 20", 100_000, partial(c.plain, d=20), 1e-2, HINGE),
    ("1e4 x 300", 10_000, partial(c.plain, d=300), 1e-2, BOTH),
    ("1e5 x 300", 100_000, partial(c.plain, d=300), 1e-2, BOTH),
    ("sparse 1e5 x 5e4", 100_000, lambda n: c.sparse(n, round(n / 2.4)), 1e-4, BOTH),
)
"""Name, rows, how they are drawn, lam and losses."""


def solving(X: Any, y: Any, lam: float, tol: float = 1e-6, **asked: Any) -> Callable[[], Any]:
    """Return the call that solves with one thread."""
    return partial(exact.solve, X, y, lam, tol=tol, n_jobs=1, max_time=LONGEST, **asked)


# Peers of one objective. Each takes (X, y, problem, repeats, longest).

Points = Iterator[tuple[float, np.ndarray]]
"""Seconds and weights."""


def each(calls: Iterator[Callable[[], np.ndarray]], repeats: int, longest: float) -> Points:
    """Yield seconds and weights of each call, until one takes longer than `longest`."""
    for call in calls:
        w, seconds = c.timed(call, repeats, enough=1.0)
        yield seconds, w
        if seconds > longest:
            return


def dlib_trainer(
    X: Any, y: np.ndarray, problem: exact.Problem, repeats: int, longest: float
) -> Points:
    """dlib's svm_rank_trainer at ever smaller epsilon."""
    try:
        dlib: Any = import_module("dlib")
    except ImportError:
        raise c.NotRun("not installed: pip install dlib-bin") from None
    dense = isinstance(X, np.ndarray)
    held = dlib.ranking_pair() if dense else dlib.sparse_ranking_pair()
    for k, positive in enumerate(y.tolist()):
        if dense:
            row = dlib.vector(X[k].tolist())
        else:
            row, some = dlib.sparse_vector(), slice(X.indptr[k], X.indptr[k + 1])
            for at, value in zip(X.indices[some].tolist(), X.data[some].tolist(), strict=True):
                row.append(dlib.pair(at, value))
        (held.relevant if positive else held.nonrelevant).append(row)

    def fit(epsilon: float) -> np.ndarray:
        trainer = dlib.svm_rank_trainer() if dense else dlib.svm_rank_trainer_sparse()
        trainer.c, trainer.epsilon = exact.C_from_lam(problem.lam, problem.n_pairs, "dlib"), epsilon
        found = trainer.train(held).weights
        if dense:
            return np.array(found)
        w = np.zeros(X.shape[1])
        for pair in found:
            w[pair.first] += pair.second
        return w

    return each((partial(fit, 10.0**-k) for k in range(2, 12)), repeats, longest)


def lbfgs(X: Any, y: np.ndarray, problem: exact.Problem, repeats: int, longest: float) -> Points:
    """scipy's L-BFGS on the sums over all pairs, every iterate with its time."""
    lam, space = problem.lam, problem.space

    def value_and_gradient(w: np.ndarray) -> tuple[float, np.ndarray]:
        sums = problem.sums(space.scores(w))
        return sums.value + lam / 2 * float(w @ w), lam * w - space.pull(sums.c)

    for _ in range(repeats):
        points: list[tuple[float, np.ndarray]] = []
        start = time.process_time()
        scipy.optimize.minimize(
            value_and_gradient,
            np.zeros(space.dim),
            jac=True,
            method="L-BFGS-B",
            callback=lambda w, p=points, s=start: p.append((time.process_time() - s, np.copy(w))),
            options={"maxiter": 500, "ftol": 0.0, "gtol": 1e-12},
        )
        yield from points


def on_drawn(
    model: Callable[[int], Any], times: tuple[int, ...], X: Any, y: np.ndarray,
    repeats: int, longest: float,
) -> Points:  # fmt: skip
    """Fit the model of m drawn pairs to their differences, m so many times the rows.

    Every other difference is turned round, so that there are two classes.
    """

    def fit(m: int) -> np.ndarray:
        numbers = m * (X.shape[1] if isinstance(X, np.ndarray) else 2 * X.nnz // len(y))
        if numbers > MOST_NUMBERS:
            raise c.NotRun(f"{numbers:.1e} numbers in the differences of {m} pairs: too many")
        pairs, sign = draw_pairs(y, m, 0), np.where(np.arange(m) % 2 == 0, 1.0, -1.0)
        D = X[pairs.i] - X[pairs.j]
        D = D * sign[:, None] if isinstance(D, np.ndarray) else D.multiply(sign[:, None]).tocsr()
        return np.ravel(model(m).fit(D, sign).coef_)

    return each((partial(fit, k * len(y)) for k in times), repeats, longest)


def linear_svc(
    X: Any, y: np.ndarray, problem: exact.Problem, repeats: int, longest: float
) -> Points:
    """scikit-learn's LinearSVC on differences of drawn pairs."""

    def model(m: int) -> LinearSVC:
        loss = problem.loss.name
        return LinearSVC(C=exact.C_from_lam(problem.lam, m, "scikit-learn"), loss=loss,
                         dual=loss == "hinge" or m < X.shape[1], fit_intercept=False,
                         max_iter=1000, random_state=0)  # fmt: skip

    return on_drawn(model, (1, 10), X, y, repeats, longest)


def sgd(X: Any, y: np.ndarray, problem: exact.Problem, repeats: int, longest: float) -> Points:
    """scikit-learn's averaged SGDClassifier on differences of drawn pairs."""
    model = SGDClassifier(loss=problem.loss.name, alpha=problem.lam, fit_intercept=False,
                          average=True, max_iter=1, tol=None, random_state=0)  # fmt: skip
    return on_drawn(lambda m: model, (1, 5, 20), X, y, repeats, longest)


PEERS = (
    ("dlib svm_rank_trainer", HINGE, dlib_trainer),
    ("L-BFGS on the sums (scipy)", ("squared_hinge",), lbfgs),
    ("LinearSVC on drawn pairs", BOTH, linear_svc),
    ("SGDClassifier on drawn pairs", HINGE, sgd),
)


def peers(quick: bool) -> Iterator[c.Row]:
    """Yield CPU seconds until F is within 1e-3, 1e-6, 1e-9 of the proved lower bound."""
    repeats, longest = (1, 2.0) if quick else (2, 6.0)
    for name, n, draw, lam, losses in (CASES[0], CASES[-1]) if quick else CASES:
        X, y = draw(c.fewer(quick)(n))
        for loss in losses:
            head: c.Row = {"data": name, "loss": loss, "lam": lam}
            yield head | ours(X, y, lam, loss, repeats)
            problem = exact.linear_problem(X, y, lam, loss)
            best = exact.solve(X, y, lam, loss=loss, tol=1e-11, n_jobs=1, max_time=3 * longest)
            lower = best.certificate.dual - best.certificate.rounding
            for who, known, points in PEERS:
                if loss in known:
                    found = partial(points, X, y, problem, repeats, longest)
                    yield head | {"who": who} | judged(found, problem, lower)


def ours(X: Any, y: np.ndarray, lam: float, loss: str, repeats: int) -> c.Row:
    """Return what `solve` takes from the data to the certificate, by tolerance."""
    row: c.Row = {"who": OURS}
    for title, tol in TOLERANCES.items():
        call = partial(exact.solve, X, y, lam, loss=loss, tol=tol, n_jobs=1)
        found, seconds = c.timed(call, repeats)
        row[title] = seconds if found.certificate.reaches(tol) else None
    return row | {"excess": c.proved(found), "note": found.method}


def judged(points: Callable[[], Points], problem: exact.Problem, lower: float) -> c.Row:
    """Return when a peer was within each tolerance, and its least excess F(w) / F* - 1."""
    known: list[tuple[float, float]] = []
    note = ""
    try:
        for seconds, w in points():
            known.append((seconds, problem.objective(w) / lower - 1))
    except c.NotRun as reason:
        note = "" if known else str(reason)
    row: c.Row = {
        title: min((seconds for seconds, excess in known if excess <= tol), default=None)
        for title, tol in TOLERANCES.items()
    }
    return row | {"excess": min((excess for _, excess in known), default=None), "note": note}


# LogisticRegression on the same rows: another objective, judged by the AUC of held-out rows

LOGISTIC: tuple[tuple[int, int, tuple[str, ...], tuple[float, ...], tuple[float, ...]], ...] = (
    (1_000_000, 2, HINGE, (1e-1, 1e-3, 1e-5), (1e-6, 1e-9)),
    (100_000, 20, LOSSES, (1e-3,), (1e-6, 1e-9)),
    (100_000, 300, HINGE, (1e-2,), (1e-6,)),
    (1_000_000, 10, ("logistic",), (1e-3,), (1e-9,)),
    (1_000, 10, LOSSES, (1e-3,), (1e-6,)),
)
"""Rows, columns, losses, lam and tolerances."""


def logistic(quick: bool) -> Iterator[c.Row]:
    """Yield seconds over those of `LogisticRegression().fit`, and AUC less theirs (DeLong)."""
    for n, d, losses, lams, tols in LOGISTIC:
        n, held = c.fewer(quick)(n), c.fewer(quick)(HELD_OUT)
        X, y = c.plane(n + held) if d == 2 else c.plain(n + held, d)
        model, unit = c.timed(partial(LogisticRegression().fit, X[:n], y[:n]), 1 if quick else 3)
        theirs = exact.delong(model.decision_function(X[n:]), y[n:])
        for loss, tol, lam in product(losses, tols, lams):
            call = partial(exact.solve, X[:n], y[:n], lam, loss=loss, tol=tol, n_jobs=1)
            found, seconds = c.timed(call, 1 if quick else 3)
            less = exact.compare_models(exact.delong(X[n:] @ found.w, y[n:]), theirs)
            yield {"n": n, "d": d, "loss": loss, "lam": lam, "tol": tol, "s": seconds,
                   "theirs": unit, "ours / theirs": seconds / unit, "proved": c.proved(found),
                   "AUC less theirs": less.difference, "low": less.interval[0],
                   "high": less.interval[1]}  # fmt: skip


# Whole pieces of work

LAMS = np.geomspace(1.0, 1e-4, 10)
KERNEL_LAMS, GAMMAS, COSTS = (1e-1, 1e-2, 1e-3, 1e-4), (0.05, 0.1, 0.2), (0.1, 1.0, 10.0, 100.0)
PROVED_CV: dict[str, Any] = {"cv": 5, "random_state": 0, "tol": 1e-6, "n_jobs": 1}


def kernel_cv(X: Any, y: np.ndarray) -> Any:
    """Choose lam and gamma, each fold proved."""
    found = [exact.ROCSVMCV(KERNEL_LAMS, kernel="rbf", gamma=gamma, **PROVED_CV).fit(X, y)
             for gamma in GAMMAS]  # fmt: skip
    return max(found, key=lambda model: float(model.cv_path_.mean_auc.max()))


def grid(model: Any, **values: Any) -> Callable[[Any, np.ndarray], Any]:
    """Return a search of scikit-learn by AUC over five folds."""
    return GridSearchCV(model, values, cv=5, scoring="roc_auc").fit


WORK: tuple[tuple[str, int, Callable[[int], c.Labelled], dict[str, Callable[..., Any]]], ...] = (
    ("linear, 10 values, 50 columns", 100_000, partial(c.plain, d=50), {
        "aucert ROCSVMCV": exact.ROCSVMCV(LAMS, **PROVED_CV).fit,
        "LogisticRegressionCV": LogisticRegressionCV(Cs=10, cv=5, scoring="roc_auc").fit,
        "GridSearchCV(LinearSVC)": grid(LinearSVC(dual=False), C=list(np.geomspace(1e-4, 1e2, 10))),
    }),
    ("Gaussian, 12 points, 10 columns", 5_000, c.curved, {
        "aucert ROCSVMCV, a gamma at a time": kernel_cv,
        "GridSearchCV(SVC)": grid(SVC(cache_size=500), C=list(COSTS), gamma=list(GAMMAS)),
    }),
    ("fit alone, 2 columns", 10_000_000, partial(c.plain, d=2), {
        "aucert solve": lambda X, y: exact.solve(X, y, lam=1e-3, tol=1e-6, n_jobs=1),
        "aucert ROCSVM.fit": exact.ROCSVM(lam=1e-3, tol=1e-6, n_jobs=1).fit,
    }),
)  # fmt: skip


def work(quick: bool) -> Iterator[c.Row]:
    """Yield CPU seconds to fit and tune, and the AUC of as many rows again."""
    for name, rows, draw, fits in WORK:
        n, first = c.fewer(quick)(rows), None
        X, y = draw(2 * n)
        for who, fit in fits.items():
            model, seconds = c.timed(partial(fit, X[:n], y[:n]), 1)
            linear = isinstance(model, exact.Solution)
            scores = X[n:] @ model.w if linear else model.decision_function(X[n:])
            yield {"work": name, "n": n, "who": who, "s": seconds,
                   "first / this": None if first is None else first / seconds,
                   "AUC": float(roc_auc_score(y[n:], scores))}  # fmt: skip
            first = seconds if first is None else first


# Goals

Piece = tuple[str, Callable[[], Any], float]
"""A row's name, the call that is timed, and the goal."""


def spent(call: Callable[[], Any]) -> float:
    """Return the least CPU seconds of a call, infinite where it did not prove what was asked."""
    call()  # compiles, for longer than `enough`
    found, seconds = c.timed(call, 3, enough=5.0)
    solution = getattr(found, "status", None)
    return np.inf if solution not in (None, exact.Status.CERTIFIED) else seconds


def profile(call: Callable[[], Any]) -> str:
    """Return the three functions that take most of the time themselves, and their shares."""
    watched, start = cProfile.Profile(), time.process_time()
    while time.process_time() < start + 0.2:
        watched.runcall(call)
    stats: Any = pstats.Stats(watched)
    total = sum(entry[2] for entry in stats.stats.values())
    most = sorted(stats.stats.items(), key=lambda item: -item[1][2])[:3]
    names = (f"{Path(file).stem}.{name.strip('<>')} {entry[2] / total:.0%}"
             for (file, _, name), entry in most)  # fmt: skip
    return ", ".join(name.removeprefix("~.") for name in names)


def row(
    what: str, value: float, unit: str, goal: float, call: Callable[[], Any] | None = None,
    above: bool = False,
) -> c.Row:  # fmt: skip
    """Return one row: `above` where more is better."""
    met = value >= goal if above else value <= goal
    return {"row": what, "measured": float(f"{value:.3g}"), "goal": goal, "unit": unit,
            "met": "yes" if met else "no",
            "most of the time": "" if met or call is None else profile(call)}  # fmt: skip


def of_peers() -> Iterator[c.Row]:
    """Yield what the table of peers says of the goals: our time over that of the best peer."""
    measured, goals = c.MADE.get("peers", []), []
    for mine in (one for one in measured if one["who"] == OURS):
        same = [one for one in measured if one is not mine
                and (one["data"], one["loss"]) == (mine["data"], mine["loss"])]  # fmt: skip
        for tol in TOLERANCES:
            best = min((one[tol] for one in same if one[tol] is not None), default=np.inf)
            goals.append((mine["data"], mine["loss"], tol, (mine[tol] or np.inf) / best))
    if goals:
        level = sum(ratio <= LEVEL for *_, ratio in goals)
        yield row(f"level or ahead of peers, of {len(goals)}", level, "", 30, above=True)
    for data, loss, tol, ratio in goals:
        if (data, loss) == ("1e3 x 2", "hinge") and ratio:  # 0: no peer gets there
            yield row(f"1e3 x 2, hinge, {tol}", ratio, "x best peer", 2.0 if tol == "1e-9" else 1.5,
                      solving(*c.plane(1000), 1e-2, float(tol)))  # fmt: skip


def squared(few: Callable[[int], int]) -> Iterator[c.Row]:
    """Yield the squared hinge next to scipy's L-BFGS on the same sums."""
    for what, X, y in (
        ("1e4 x 20", *c.plain(few(10_000), 20)),
        ("1e4 x 300", *c.plain(few(10_000), 300)),
        ("1e5 x 300", *c.plain(few(100_000), 300)),
        ("sparse 1e5 x 5e4", *c.sparse(few(100_000), few(50_000))),
    ):
        problem = exact.linear_problem(X, y, 1e-2, "squared_hinge")
        lower = exact.solve(X, y, 1e-2, loss="squared_hinge", tol=1e-9).certificate.dual
        theirs = min((seconds for seconds, w in lbfgs(X, y, problem, 2, LONGEST)
                      if problem.objective(w) <= (1 + 1e-6) * lower), default=np.nan)  # fmt: skip
        call = solving(X, y, 1e-2, loss="squared_hinge")
        yield row(f"{what}, squared hinge, 1e-6", spent(call) / theirs, "x L-BFGS", 1.1, call)


def in_seconds(few: Callable[[int], int]) -> Iterator[Piece]:
    """Yield what is to take so many seconds."""
    for n, d, most in ((100_000, 20, 0.1), (1_000_000, 10, 0.25)):
        yield (f"{c.short(n)} x {d}, logistic, 1e-9",
               solving(*c.plain(few(n), d), 1e-3, 1e-9, loss="logistic"), most)  # fmt: skip
    for (n, p, rows, tol), most in zip(pair_problems.QUERIES[:2], (0.05, 0.03), strict=True):
        X, grade, qid = pair_problems.graded(few(n), p, rows)
        yield (f"ranking, {n} x {p}, {rows} rows per query",
               solving(X, grade, 1e-3, tol, qid=qid), most)  # fmt: skip
    X, y, ordered, listed = pair_problems.listed_rows(50_000)
    for loss in LOSSES:
        for what, labels, pairs in (("ordered", None, ordered), ("5e4 listed", y, listed)):
            yield (f"{what} pairs of 1000 rows, {loss}",
                   solving(X, labels, 1e-3, loss=loss, pairs=pairs), 0.05)  # fmt: skip
    W = sp.random(2000, 50_000, density=1e-3, random_state=0, format="csr")
    noise = 0.01 * np.random.default_rng(2).normal(size=2000)
    text = np.asarray(W[:, :50].sum(axis=1)).ravel() + noise > 0.02
    for tol, most in ((1e-3, 3.0), (1e-6, 10.0)):
        yield f"text, 2000 x 50,000, hinge, {c.short(tol)}", solving(W, text, 1e-4, tol), most
    if real_data_folder() is not None:
        yield ("covtype 258,565 x 54, hinge, lam 1e-5, 1e-9",
               solving(*scale.covtype(few(258_565)), 1e-5, 1e-9), 2.0)  # fmt: skip
    yield ("heavy ties, 5e5 x 10, hinge, 1e-9",
           solving(*scale.tailed("whole", few(500_000)), 1e-3, 1e-9), 3.0)  # fmt: skip
    X, y = c.plain(few(2000), 5)
    parts = exact.PartitionedRows([(X[k : k + 5], y[k : k + 5]) for k in range(0, len(X), 5)])
    for loss in ("logistic", "smooth_hinge"):
        yield f"partitions of 5 rows, {loss}, 1e-6", solving(parts, None, 1e-3, loss=loss), 1.0


def of_logistic_regression(few: Callable[[int], int]) -> Iterator[c.Row]:
    """Yield the rows next to `LogisticRegression().fit` on the same rows."""
    X, y = c.plane(few(1_000_000))
    unit = "x LogisticRegression"
    rival = c.timed(partial(LogisticRegression().fit, X, y), 2)[1]
    for tol, goal in ((1e-6, 0.25), (1e-9, 0.6)):
        taken = [(spent(call), call) for lam in scale.LAMS for call in [solving(X, y, lam, tol)]]
        worst, call = max(taken, key=lambda one: one[0])
        yield row(f"1e6 x 2, hinge, worst lam, {tol:g}", worst / rival, unit, goal, call)
    for n, d, goals in ((100_000, 20, (1.5, 1.2, 1.0)), (1000, 10, (2.0, 1.5, 5.0))):
        X, y = c.plain(few(n), d)
        rival = c.timed(partial(LogisticRegression().fit, X, y), 3)[1]
        for loss, goal in zip(LOSSES, goals, strict=True):
            call = solving(X, y, 1e-3, loss=loss)
            yield row(f"{c.short(n)} x {d}, {loss}, 1e-6", spent(call) / rival, unit, goal, call)


def large(few: Callable[[int], int], quick: bool) -> Iterator[c.Row]:
    """Yield a kernel of full rank, a memory map and two threads."""
    X, y = c.curved(few(10_000))
    R = scale.unit(X, scale.RBF)
    call = solving(X, y, 1e-3, **scale.RBF)
    yield row("Gaussian, 1e4 rows of full rank, 1e-6", spent(call) / R, "builds", 2.0, call)
    found = [one["in R"] for one in scale.mapped(quick) if one["threads"] == 1]
    yield row("1e8 mapped rows, worst lam, 1e-6", max(found), "readings", 7.0)
    (two,) = scale.threads(quick, (10_000_000,))
    yield row("two threads, 1e7 x 2, wall clock", two["one / two"], "x", 1.5, above=True)


FIRST = """
import time
clock = time.process_time
start = clock()
from aucert import exact
print(clock() - start)
import numpy as np
{at_once}
rng = np.random.default_rng(0)
def spent(n, loss):
    X = rng.normal(size=(n, 5))
    y = X[:, 0] + rng.normal(size=n) > 0
    start = clock()
    exact.solve(X, y, lam=1e-3, tol=1e-6, loss=loss)
    first = clock()
    exact.solve(X, y, lam=1e-3, tol=1e-6, loss=loss)
    return first - start, 2 * first - start - clock()
one = spent(1000, "hinge")
every = [spent(n, loss) for n in (1000, 100_000) for loss in {losses}]
print(one[0], one[1] + sum(extra for _, extra in every))
"""


def fresh(at_once: bool) -> list[float]:
    """Return seconds of the import, of a first fit, and of all first fits beyond their second."""
    compiling = "from aucert.exact.tools.compiling import compile_at_once; compile_at_once()"
    script = FIRST.format(losses=LOSSES, at_once=compiling if at_once else "")
    with TemporaryDirectory() as cache:
        run = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True,
                             text=True, env={**os.environ, "NUMBA_CACHE_DIR": cache})  # fmt: skip
    return [float(x) for x in run.stdout.split()]


def starting(repeats: int) -> Iterator[c.Row]:
    """Yield what a fresh process with an empty compiler cache takes."""
    imported, first, waited = map(min, zip(*(fresh(False) for _ in range(repeats)), strict=True))
    yield row("import aucert.exact", imported, "s", 0.3)
    yield row("first fit of a fresh process, 1000 rows", first, "s", 0.05)
    yield row("waiting for compilers: 3 losses, 1e3 and 1e5 rows", waited, "s", 2.0)
    if repeats > 1:
        yield row("the same, if all is compiled at once", fresh(True)[2], "s", 2.0)


def rows(quick: bool) -> Iterator[c.Row]:
    """Yield every goal next to what is measured; those of peers and of work if these were run."""
    few = c.fewer(quick)
    yield from of_peers()
    yield from squared(few)
    for what, call, most in in_seconds(few):
        yield row(what, spent(call), "s", most, call)
    yield from of_logistic_regression(few)
    yield from large(few, quick)
    yield from starting(1 if quick else 3)
    taken = {one["who"]: one["s"] for one in c.MADE.get("work", [])}
    if "aucert ROCSVMCV" in taken:
        ratio = taken["aucert ROCSVMCV"] / taken["LogisticRegressionCV"]
        yield row("ROCSVMCV, 1e5 x 50", ratio, "x LogisticRegressionCV", 1.2)


main = c.command({"peers": peers, "logistic": logistic, "work": work, "rows": rows}, __doc__)

if __name__ == "__main__":
    main()
