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
from aucert.exact import C_from_lam, PairList, certify, ordinal_pairs, solve, survival_pairs

LAM = 1e-3
WARM = 400_000  # rows of a solve before the first that is timed: it loads or compiles every loop
APART = 2.0  # how far apart the classes of partial AUC are: nearer ones have the optimum zero
GRADES = np.cumsum([0.55, 0.3, 0.1, 0.03])  # shares of grades 0 .. 4, as in learning to rank


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


def excess(found: Any, X: np.ndarray, y: Any, w: np.ndarray, **asked: Any) -> str:
    """Return how far F(w) is above the proved lower bound, in words."""
    value, best = certify(X, y, lam=LAM, w=w, **asked).primal, found.certificate
    assert value is not None
    return f"excess {(value - best.dual) / best.dual:.2g}"


def solved(
    what: str, X: np.ndarray, y: Any, tol: float, R: float | None = None, **asked: Any
) -> tuple[c.Row, Any]:
    """Return the row of a solve with one thread, and the solution."""
    call = partial(solve, X, y, tol=tol, n_jobs=1, **{"lam": LAM} | asked)
    found, seconds = c.timed(call, enough=2.0)
    return {"problem": f"{what}, {c.short(tol)}", "n": X.shape[0], "d": X.shape[1], "s": seconds,
            "in R": None if R is None else seconds / R, "proved": c.proved(found),
            "steps": found.n_iter, "note": ""}, found  # fmt: skip


def rival(what: str, X: np.ndarray, seconds: float | None, note: str) -> c.Row:
    """Return the row of a rival."""
    return {"problem": f"  {what}", "n": X.shape[0], "d": X.shape[1], "s": seconds,
            **dict.fromkeys(("in R", "proved", "steps")), "note": note}  # fmt: skip


def survival(quick: bool) -> Iterator[c.Row]:
    """Yield the hinge and the squared hinge over comparable pairs, and FastSurvivalSVM."""
    for n in (1000, 1_000_000)[: 1 if quick else None]:
        X, time, event = survival_rows(n, 10)
        R = c.timed(c.reading(X))[1]
        yield solved("hinge, comparable pairs", X, None, 1e-6, R, time=time, event=event)[0]
    X, time, event = survival_rows(c.fewer(quick)(100_000), 10, 1)
    asked = {"loss": "squared_hinge", "time": time, "event": event}
    row, found = solved("squared hinge, comparable pairs", X, None, 1e-9, **asked)
    yield row
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
        yield solved(f"hinge, {rows} rows per query", X, grade, tol, qid=qid)[0]


def listed_rows(count: int) -> tuple[Any, ...]:
    """Return a thousand rows of two classes, ordered pairs of them, and a list of so many pairs."""
    X, y = labelled(1000, 10, 2)
    rng = np.random.default_rng(0)
    ordered = ordinal_pairs(np.round(X[:, :3].sum(axis=1) + rng.normal(size=len(X))))
    i, j = (rng.choice(np.flatnonzero(y == k), count) for k in (1, 0))
    return X, y, ordered, PairList(i, j)


def listed(quick: bool) -> Iterator[c.Row]:
    """Yield listed and ordered pairs, and two classes of the same rows next to them."""
    X, y, ordered, pairs = listed_rows(c.fewer(quick)(50_000))
    for loss in ("hinge", "squared_hinge", "logistic"):
        yield solved(f"{loss}, two classes", X, y, 1e-6, loss=loss)[0]
        yield solved(f"{loss}, ordered labels", X, None, 1e-6, loss=loss, pairs=ordered)[0]
        row, found = solved(f"{loss}, listed pairs", X, y, 1e-6, loss=loss, pairs=pairs)
        yield row
    D, side = X[pairs.i] - X[pairs.j], np.arange(len(pairs.i)) % 2
    model = LogisticRegression(C=1 / (LAM * len(D)), fit_intercept=False, tol=1e-10, max_iter=1000)
    _, seconds = c.timed(partial(model.fit, np.where(side[:, None] == 1, D, -D), side))
    note = excess(found, X, y, model.coef_[0], loss="logistic", pairs=pairs)
    yield rival("LogisticRegression on the same pairs", X, seconds, note)


def tails(quick: bool) -> Iterator[c.Row]:
    """Yield one-way and two-way partial AUC."""
    X, y = labelled(c.fewer(quick)(1_000_000), 10, shift=APART)
    R, half = c.timed(c.reading(X))[1], {"fpr_max": 0.1, "tpr_min": 0.5}
    yield solved("one-way partial AUC", X, y, 1e-6, R, fpr_max=0.1)[0]
    yield solved("two-way partial AUC", X, y, 1e-5, max_time=300, **half)[0]
    X, y = labelled(c.fewer(quick)(100_000), 10, 1, APART)
    yield solved("one-way partial AUC", X, y, 1e-6, fpr_max=0.1)[0]


def logistic(quick: bool) -> Iterator[c.Row]:
    """Yield the logistic loss over all pairs of two classes."""
    X, y = labelled(c.fewer(quick)(10_000_000), 10)
    solve(X[:WARM], y[:WARM], lam=LAM, loss="logistic")
    R = c.timed(c.reading(X))[1]
    for tol in (1e-8, 1e-10):
        yield solved("logistic", X, y, tol, R, loss="logistic")[0]


def lasso(quick: bool) -> Iterator[c.Row]:
    """Yield the lasso of the squared hinge, and how many of its zeros are proved."""
    rng = np.random.default_rng(3)
    n, p = c.fewer(quick)(20_000), 100 if quick else 1000
    X = rng.normal(size=(n, p))
    y = (X[:, :10] @ np.linspace(1, 0.2, 10) + rng.normal(size=n) > 0.5).astype(int)
    asked: dict[str, Any] = {"lam": 0.0, "l1": 0.05, "loss": "squared_hinge"}
    row, found = solved("squared hinge, l1 0.05", X, y, 1e-6, **asked)
    zeros, held = int((np.abs(found.w) < 1e-9).sum()), found.zeros_proved
    yield row | {"note": f"{0 if held is None else int(held.sum())} zeros proved of {zeros}"}


PARTS = {"survival": survival, "ranking": ranking, "listed": listed, "partial-auc": tails,
         "logistic-loss": logistic, "lasso": lasso}  # fmt: skip
main = c.command(PARTS, __doc__)

if __name__ == "__main__":
    main()
