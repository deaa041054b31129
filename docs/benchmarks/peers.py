"""aucert next to its peers: the same objective, the same AUC, the same piece of work.

    python docs/benchmarks/peers.py --page docs/benchmarks.md

makes the tables of the page on speed anew. CPU seconds, one thread. In `peers` everybody is judged
by the lower bound that our certificate proves; our own time ends when the proof is there. A peer
gets, for each tolerance, the setting that suits it best; converting its data is not timed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from itertools import product
from typing import Any

import numpy as np
import scipy.optimize
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, SGDClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC, LinearSVC

import common as c
import speed_goals
from aucert import exact
from aucert.approx import draw_pairs

TOLERANCES = {"1e-3": 1e-3, "1e-6": 1e-6, "1e-9": 1e-9}

OURS = "aucert, proved"

LEVEL = 1.1
"""Ours is level where it takes at most so many times what the best peer takes."""

MOST_NUMBERS = 60_000_000
"""Numbers up to which differences of pairs are listed: half a gigabyte."""

HELD_OUT = 20_000

HINGE, BOTH = ("hinge",), ("hinge", "squared_hinge")

CASES: tuple[tuple[str, int, Callable[[int], c.Labelled], float, tuple[str, ...]], ...] = (
    ("1e3 x 2", 1000, c.plane, 1e-2, BOTH),
    ("1e4 x 2", 10_000, c.plane, 1e-2, BOTH),
    ("1e5 x 2", 100_000, c.plane, 1e-2, HINGE),
    ("1e5 x 20", 100_000, lambda n: c.plain(n, 20), 1e-2, HINGE),
    ("1e4 x 300", 10_000, lambda n: c.plain(n, 300), 1e-2, BOTH),
    ("1e5 x 300", 100_000, lambda n: c.plain(n, 300), 1e-2, BOTH),
    ("sparse 1e5 x 5e4", 100_000, lambda n: c.sparse(n, round(n / 2.4)), 1e-4, BOTH),
)
"""Name, rows, how they are drawn, lam and losses."""


# Peers of one objective. Each takes (X, y, problem, longest) and yields (seconds, weights).

Points = Iterator[tuple[float, np.ndarray]]


def each(calls: Iterator[Callable[[], np.ndarray]], repeats: int, longest: float) -> Points:
    """Yield seconds and weights of each call, until one takes longer than `longest`."""
    for call in calls:
        w, seconds = c.once(call)
        if seconds < 1.0:
            w, seconds = c.timed(call, repeats)
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


def drawn(X: Any, y: np.ndarray, m: int) -> tuple[Any, np.ndarray]:
    """Return x_i - x_j of m drawn pairs, every other one turned round, and their signs."""
    numbers = m * (X.shape[1] if isinstance(X, np.ndarray) else 2 * X.nnz // len(y))
    if numbers > MOST_NUMBERS:
        raise c.NotRun(f"{numbers:.1e} numbers in the differences of {m} pairs: too many")
    pairs = draw_pairs(y, m, 0)
    sign = np.where(np.arange(m) % 2 == 0, 1.0, -1.0)
    D = X[pairs.i] - X[pairs.j]
    return (D * sign[:, None] if isinstance(D, np.ndarray) else D.multiply(sign[:, None]).tocsr(),
            sign)  # fmt: skip


def linear_svc(
    X: Any, y: np.ndarray, problem: exact.Problem, repeats: int, longest: float
) -> Points:
    """scikit-learn's LinearSVC on differences of drawn pairs."""

    def fit(m: int) -> np.ndarray:
        D, sign = drawn(X, y, m)
        loss = problem.loss.name
        dual = loss == "hinge" or D.shape[0] < D.shape[1]
        model = LinearSVC(C=exact.C_from_lam(problem.lam, m, "scikit-learn"), loss=loss, dual=dual,
                          fit_intercept=False, max_iter=1000, random_state=0)  # fmt: skip
        return np.ravel(model.fit(D, sign).coef_)

    return each((partial(fit, k * len(y)) for k in (1, 10)), repeats, longest)


def sgd(X: Any, y: np.ndarray, problem: exact.Problem, repeats: int, longest: float) -> Points:
    """scikit-learn's averaged SGDClassifier on differences of drawn pairs."""

    def fit(m: int) -> np.ndarray:
        D, sign = drawn(X, y, m)
        model = SGDClassifier(loss=problem.loss.name, alpha=problem.lam, fit_intercept=False,
                              average=True, max_iter=1, tol=None, random_state=0)  # fmt: skip
        return np.ravel(model.fit(D, sign).coef_)

    return each((partial(fit, k * len(y)) for k in (1, 5, 20)), repeats, longest)


PEERS = (
    ("dlib svm_rank_trainer", HINGE, dlib_trainer),
    ("L-BFGS on the sums (scipy)", ("squared_hinge",), lbfgs),
    ("LinearSVC on drawn pairs", BOTH, linear_svc),
    ("SGDClassifier on drawn pairs", HINGE, sgd),
)


def peers(quick: bool) -> Iterator[c.Row]:
    """Yield CPU seconds until F is within 1e-3, 1e-6, 1e-9 of the proved lower bound."""
    repeats, longest = (1, 2.0) if quick else (2, 6.0)
    MEASURED.clear()
    for name, n, draw, lam, losses in (CASES[0], CASES[-1]) if quick else CASES:
        X, y = draw(c.fewer(quick)(n))
        for loss in losses:
            head: c.Row = {"data": name, "loss": loss, "lam": lam}
            yield kept(head | ours(X, y, lam, loss, repeats))
            problem = exact.linear_problem(X, y, lam, loss)
            best = exact.solve(X, y, lam, loss=loss, tol=1e-11, n_jobs=1, max_time=3 * longest)
            lower = best.certificate.dual - best.certificate.rounding
            for who, known, points in PEERS:
                if loss in known:
                    found = partial(points, X, y, problem, repeats, longest)
                    yield kept(head | {"who": who} | judged(found, problem, lower))


MEASURED: list[c.Row] = []
"""The rows of `peers`, from which `goals` is made."""


def kept(row: c.Row) -> c.Row:
    """Keep a row, and return it."""
    MEASURED.append(row)
    return row


def ours(X: Any, y: np.ndarray, lam: float, loss: str, repeats: int) -> c.Row:
    """Return what `solve` takes from the data to the certificate, by tolerance."""
    row: c.Row = {"who": OURS}
    for title, tol in TOLERANCES.items():
        call = partial(exact.solve, X, y, lam, loss=loss, tol=tol, n_jobs=1)
        found, seconds = c.timed(call, repeats)
        row[title] = seconds if found.certificate.reaches(tol) else None
        row |= {"excess": c.proved(found), "note": found.method}
    return {key: row[key] for key in ("who", *TOLERANCES, "excess", "note")}


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


def goals(quick: bool) -> Iterator[c.Row]:
    """Yield ours over the best peer, goal by goal; None where no peer gets there."""
    for mine in (row for row in MEASURED if row["who"] == OURS):
        theirs = [row for row in MEASURED if row is not mine
                  and (row["data"], row["loss"]) == (mine["data"], mine["loss"])]  # fmt: skip
        for tol in TOLERANCES:
            there = [row for row in theirs if row[tol] is not None]
            best = min(there, key=lambda row: row[tol]) if there else None
            ratio = None
            if best is not None:
                ratio = np.inf if mine[tol] is None else mine[tol] / best[tol]
            level = ratio is None or ratio <= LEVEL
            yield {"data": mine["data"], "loss": mine["loss"], "to": tol,
                   "best peer": best["who"] if best else None, "ours / theirs": ratio,
                   "level or ahead": "yes" if level else "no"}  # fmt: skip


# LogisticRegression on the same rows: another objective, judged by the AUC of held-out rows

ALL = ("hinge", "squared_hinge", "logistic")

LOGISTIC: tuple[tuple[int, int, tuple[str, ...], tuple[float, ...], tuple[float, ...]], ...] = (
    (1_000_000, 2, HINGE, (1e-1, 1e-3, 1e-5), (1e-6, 1e-9)),
    (100_000, 20, ALL, (1e-3,), (1e-6, 1e-9)),
    (100_000, 300, HINGE, (1e-2,), (1e-6,)),
    (1_000_000, 10, ("logistic",), (1e-3,), (1e-9,)),
    (1_000, 10, ALL, (1e-3,), (1e-6,)),
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


def linear_cv(X: Any, y: np.ndarray) -> Any:
    """Choose lam by cross-validation, each fold proved."""
    return exact.ROCSVMCV(lams=LAMS, cv=5, random_state=0, tol=1e-6, n_jobs=1).fit(X, y)


def kernel_cv(X: Any, y: np.ndarray) -> Any:
    """Choose lam and gamma."""
    found = [exact.ROCSVMCV(KERNEL_LAMS, kernel="rbf", gamma=gamma, cv=5, random_state=0, tol=1e-6,
                      n_jobs=1).fit(X, y) for gamma in GAMMAS]  # fmt: skip
    return max(found, key=lambda model: float(model.cv_path_.mean_auc.max()))


def grid(model: Any, **values: Any) -> Callable[[Any, np.ndarray], Any]:
    """Return a search of scikit-learn by AUC over five folds."""
    return GridSearchCV(model, values, cv=5, scoring="roc_auc").fit


WORK: tuple[tuple[str, int, Callable[[int], c.Labelled], dict[str, Callable[..., Any]]], ...] = (
    ("linear, 10 values, 50 columns", 100_000, lambda n: c.plain(n, 50), {
        "aucert ROCSVMCV": linear_cv,
        "LogisticRegressionCV": LogisticRegressionCV(Cs=10, cv=5, scoring="roc_auc").fit,
        "GridSearchCV(LinearSVC)": grid(LinearSVC(dual=False), C=list(np.geomspace(1e-4, 1e2, 10))),
    }),
    ("Gaussian, 12 points, 10 columns", 5_000, c.curved, {
        "aucert ROCSVMCV, a gamma at a time": kernel_cv,
        "GridSearchCV(SVC)": grid(SVC(cache_size=500), C=list(COSTS), gamma=list(GAMMAS)),
    }),
    ("fit alone, 2 columns", 10_000_000, lambda n: c.plain(n, 2), {
        "aucert solve": lambda X, y: exact.solve(X, y, lam=1e-3, tol=1e-6, n_jobs=1),
        "aucert ROCSVM.fit": exact.ROCSVM(lam=1e-3, tol=1e-6, n_jobs=1).fit,
    }),
)  # fmt: skip


WORKED: list[c.Row] = []
"""What each piece of work took, for the goals."""


def work(quick: bool) -> Iterator[c.Row]:
    """Yield CPU seconds to fit and tune, and the AUC of as many rows again."""
    for name, rows, draw, fits in WORK:
        n, first = c.fewer(quick)(rows), None
        X, y = draw(2 * n)
        for who, fit in fits.items():
            model, seconds = c.timed(partial(fit, X[:n], y[:n]), 1)
            linear = isinstance(model, exact.Solution)
            scores = X[n:] @ model.w if linear else model.decision_function(X[n:])
            WORKED.append({"who": who, "s": seconds})
            yield {"work": name, "n": n, "who": who, "s": seconds,
                   "first / this": None if first is None else first / seconds,
                   "AUC": float(roc_auc_score(y[n:], scores))}  # fmt: skip
            first = seconds if first is None else first


def rows(quick: bool) -> Iterator[c.Row]:
    """Yield every goal next to what is measured; those of peers and of work if these were run."""
    yield from speed_goals.rows(quick, list(goals(quick)), lbfgs, WORKED)


main = c.command(
    {
        "peers": peers,
        "goals": goals,
        "logistic": logistic,
        "work": work,
        "rows": rows,
    },
    __doc__,
)

if __name__ == "__main__":
    main()
