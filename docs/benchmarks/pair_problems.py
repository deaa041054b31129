"""What the other pair problems cost: survival, queries, lists, partial AUC, logistic loss, lasso.

    python docs/benchmarks/pair_problems.py --page docs/benchmarks.md

CPU seconds, one thread, from the data to the certificate, next to rivals where they are installed.
R is one blocked reading X'(X w) of the same rows in the same run. lam is 0.001.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

import common as c
from aucert.exact import (
    C_from_lam,
    PairList,
    certify,
    ordinal_pairs,
    solve,
    survival_pairs,
)

LAM = 1e-3

WARM = 400_000
"""Rows of a solve before the first that is timed: it loads or compiles every loop of many rows."""

APART = 2.0
"""How far apart the classes of partial AUC are: nearer ones have the optimum zero."""

GRADES = np.cumsum([0.55, 0.3, 0.1, 0.03])
"""Shares of the grades 0 .. 4, as in sets of learning to rank."""


# Rows


def labelled(n: int, p: int, seed: int = 0, shift: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    """Return rows (n, p) of which one in five is positive, `shift` apart, and labels 0 and 1."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.2).astype(int)
    y[:2] = 0, 1
    X = rng.normal(size=(n, p))
    X += shift * y[:, None] / np.sqrt(np.arange(1, p + 1))
    return X, y


def survival_rows(n: int, p: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, untied times and events: proportional hazards, half of them censored."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    death = rng.exponential(size=n) * np.exp(-X @ np.linspace(1.0, 0.1, p) / np.sqrt(p))
    censored = rng.exponential(size=n)
    return X, np.minimum(death, censored), death <= censored


def graded(n: int, p: int, rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows (n, p), grades 0 .. 4 and the query of each row, about `rows` rows per query."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    merit = X[:, : max(2, p // 10)].sum(axis=1) / np.sqrt(p // 10 + 1) + rng.normal(size=n)
    queries = np.sort(rng.integers(0, max(1, n // rows), n))
    return X, np.searchsorted(np.quantile(merit, GRADES), merit), queries


def row(what: str, X: np.ndarray, found: Any, seconds: float, R: float | None = None) -> c.Row:
    """Return the row of a solve."""
    return {"problem": what, "n": X.shape[0], "d": X.shape[1], "s": seconds,
            "in R": None if R is None else seconds / R, "proved": c.proved(found),
            "steps": found.n_iter, "method": found.method, "note": ""}  # fmt: skip


def rival(what: str, X: np.ndarray, seconds: float | None, note: str) -> c.Row:
    """Return the row of a rival."""
    empty = dict.fromkeys(("in R", "proved", "steps", "method"))
    return {"problem": f"  {what}", "n": X.shape[0], "d": X.shape[1], "s": seconds, **empty,
            "note": note}  # fmt: skip


def excess(found: Any, X: np.ndarray, y: Any, w: np.ndarray, **asked: Any) -> str:
    """Return how far F(w) is above the proved lower bound, in words."""
    value, best = certify(X, y, lam=LAM, w=w, **asked).primal, found.certificate
    assert value is not None
    return f"excess {(value - best.dual) / best.dual:.2g}"


# Problems


def survival(quick: bool) -> Iterator[c.Row]:
    """Yield the hinge and the squared hinge over comparable pairs, and FastSurvivalSVM."""
    for n in (1000, 1_000_000)[: 1 if quick else None]:
        X, time, event = survival_rows(n, 10)
        asked: dict[str, Any] = {"lam": LAM, "tol": 1e-6, "time": time, "event": event}
        found, seconds = c.timed(partial(solve, X, None, n_jobs=1, **asked))
        yield row("hinge, comparable pairs, 1e-6", X, found, seconds, c.timed(c.reading(X))[1])
    X, time, event = survival_rows(c.fewer(quick)(100_000), 10, 1)
    asked = {"loss": "squared_hinge", "time": time, "event": event}
    found, seconds = c.timed(partial(solve, X, None, lam=LAM, tol=1e-9, n_jobs=1, **asked), 3)
    yield row("squared hinge, comparable pairs, 1e-9", X, found, seconds)
    try:
        svm, util = import_module("sksurv.svm"), import_module("sksurv.util")
    except ImportError:
        yield rival("FastSurvivalSVM", X, None, "not installed: pip install scikit-survival")
        return
    alpha = C_from_lam(LAM, survival_pairs(time, event).mass, "scikit-survival")
    model = svm.FastSurvivalSVM(alpha=alpha, rank_ratio=1.0, max_iter=200, tol=1e-9, random_state=0)
    _, seconds = c.once(partial(model.fit, X, util.Surv.from_arrays(event, time)))
    yield rival("FastSurvivalSVM", X, seconds, excess(found, X, None, -model.coef_, **asked))


QUERIES = ((10_000, 20, 50, 1e-6), (1000, 50, 50, 1e-6), (3005, 300, 15, 1e-9),
           (1_200_000, 136, 120, 1e-6))  # fmt: skip
"""Rows, columns, rows per query, tolerance. The third has the shape of LightGBM's example."""


def ranking(quick: bool) -> Iterator[c.Row]:
    """Yield sets of queries."""
    for n, p, rows, tol in QUERIES[: 2 if quick else None]:
        X, grade, qid = graded(c.fewer(quick)(n), p, rows)
        call = partial(solve, X, grade, lam=LAM, tol=tol, qid=qid, n_jobs=1)
        found, seconds = c.timed(call)
        yield row(f"hinge, {rows} rows per query, {tol:g}", X, found, seconds)


def listed(quick: bool) -> Iterator[c.Row]:
    """Yield listed and ordered pairs, and two classes of the same rows next to them."""
    X, y = labelled(1000, 10, 2)
    rng = np.random.default_rng(0)
    ordered = np.round(X[:, :3].sum(axis=1) + rng.normal(size=len(X)))
    i, j = (rng.choice(np.flatnonzero(y == k), c.fewer(quick)(50_000)) for k in (1, 0))
    for loss in ("hinge", "squared_hinge", "logistic"):
        asked: dict[str, Any] = {"lam": LAM, "loss": loss, "tol": 1e-6, "n_jobs": 1}
        for what, call in {
            "two classes": partial(solve, X, y, **asked),
            "ordered labels": partial(solve, X, None, pairs=ordinal_pairs(ordered), **asked),
            "listed pairs": partial(solve, X, y, pairs=PairList(i, j), **asked),
        }.items():
            found, seconds = c.timed(call)
            yield row(f"{loss}, {what}, 1e-6", X, found, seconds)
    D, side = X[i] - X[j], np.arange(len(i)) % 2
    model = LogisticRegression(C=1 / (LAM * len(i)), fit_intercept=False, tol=1e-10, max_iter=1000)
    _, seconds = c.timed(partial(model.fit, np.where(side[:, None] == 1, D, -D), side))
    note = excess(found, X, y, model.coef_[0], loss="logistic", pairs=PairList(i, j))
    yield rival("LogisticRegression on the same pairs", X, seconds, note)


def tails(quick: bool) -> Iterator[c.Row]:
    """Yield one-way and two-way partial AUC."""
    X, y = labelled(c.fewer(quick)(1_000_000), 10, shift=APART)
    asked: dict[str, Any] = {"lam": LAM, "fpr_max": 0.1, "n_jobs": 1}
    found, seconds = c.timed(partial(solve, X, y, tol=1e-6, **asked))
    yield row("one-way partial AUC, 1e-6", X, found, seconds, c.timed(c.reading(X))[1])
    found, seconds = c.timed(partial(solve, X, y, tpr_min=0.5, tol=1e-5, max_time=300, **asked))
    yield row("two-way partial AUC, 1e-5", X, found, seconds)
    X, y = labelled(c.fewer(quick)(100_000), 10, 1, APART)
    found, seconds = c.timed(partial(solve, X, y, tol=1e-6, **asked))
    yield row("one-way partial AUC, 1e-6", X, found, seconds)


def logistic(quick: bool) -> Iterator[c.Row]:
    """Yield the logistic loss over all pairs of two classes."""
    X, y = labelled(c.fewer(quick)(10_000_000), 10)
    solve(X[:WARM], y[:WARM], lam=LAM, loss="logistic")
    R = c.timed(c.reading(X))[1]
    for tol in (1e-8, 1e-10):
        found, seconds = c.once(partial(solve, X, y, lam=LAM, loss="logistic", tol=tol, n_jobs=1))
        yield row(f"logistic, {tol:g}", X, found, seconds, R)


def lasso(quick: bool) -> Iterator[c.Row]:
    """Yield the lasso of the squared hinge, and how many of its zeros are proved."""
    rng = np.random.default_rng(3)
    n, p = c.fewer(quick)(20_000), 100 if quick else 1000
    X = rng.normal(size=(n, p))
    y = (X[:, :10] @ np.linspace(1, 0.2, 10) + rng.normal(size=n) > 0.5).astype(int)
    asked: dict[str, Any] = {"lam": 0.0, "l1": 0.05, "loss": "squared_hinge", "tol": 1e-6}
    found, seconds = c.timed(partial(solve, X, y, n_jobs=1, **asked))
    zeros, held = int((np.abs(found.w) < 1e-9).sum()), found.zeros_proved
    note = f"{0 if held is None else int(held.sum())} zeros proved of {zeros}"
    yield row("squared hinge, l1 0.05, 1e-6", X, found, seconds) | {"note": note}


main = c.command(
    {
        "survival": survival,
        "ranking": ranking,
        "listed": listed,
        "partial-auc": tails,
        "logistic-loss": logistic,
        "lasso": lasso,
    },
    __doc__,
)

if __name__ == "__main__":
    main()
