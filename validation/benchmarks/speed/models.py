"""Models that minimise something else, judged by the AUC of held-out rows and by their time."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from ....exact.api.solve import solve
from ....exact.pairs.statistics.delong import delong
from ....exact.pairs.statistics.estimate import compare_models
from ..harness import Table
from .cases import Effort, cases
from .race import TOLERANCES, clocked
from .rivals import NotRun, module
from .sheets import Row, Rows, Sheet

Scorer = Callable[[Any], np.ndarray]
"""Takes rows and returns their scores."""

LOGISTIC = "LogisticRegression"

TREES, DEPTH = 50, 3

DENSE_COLUMNS = 1000
"""Columns up to which trees are grown."""


def sheet() -> Sheet:
    """Return the table without rows."""
    return Sheet(
        "models",
        Table(
            "CPU seconds of a fit, one thread, and the AUC of rows held out;\n"
            "ours less theirs on the same rows, with DeLong's 95 % interval",
            *("data:<22", "model:<22", "s:8.3f", "AUC:8.5f", "ours less:9.5f", "low:9.5f"),
            *("high:9.5f", "note:"),
        ),
    )


def rows(effort: Effort) -> Rows:
    """Yield the rows of the table: ours, with the hinge to 1e-6, and then the others."""
    for case in cases():
        X, y, new, told = case.split(effort)
        call = partial(solve, X, y, case.lam, tol=TOLERANCES[1], n_jobs=1)
        found, seconds = clocked(call, effort.repeats)
        mine = delong(np.asarray(new @ found.w).ravel(), told)
        yield case.called(effort), "aucert, hinge", seconds, mine.value, None, None, None, ""
        for name, fit in others():
            yield case.called(effort), name, *_judged(fit, mine, X, y, new, told, effort)


def others() -> Iterator[tuple[str, Callable[[Any, np.ndarray], Scorer]]]:
    """Yield names and fits; a fit returns the function that scores rows."""
    yield LOGISTIC, _logistic
    yield f"XGBoost, {TREES} trees", _xgboost
    yield f"LightGBM, {TREES} trees", _lightgbm


def _judged(
    fit: Callable[[Any, np.ndarray], Scorer],
    mine: Any,
    X: Any,
    y: np.ndarray,
    new: Any,
    told: np.ndarray,
    effort: Effort,
) -> Row:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scorer, seconds = clocked(partial(fit, X, y), effort.repeats)
            theirs = delong(scorer(new), told)
    except NotRun as reason:
        return None, None, None, None, None, str(reason)
    found = compare_models(mine, theirs)
    return seconds, theirs.value, found.difference, *found.interval, ""


def _logistic(X: Any, y: np.ndarray) -> Scorer:
    return LogisticRegression(max_iter=1000).fit(X, y).decision_function


def _xgboost(X: Any, y: np.ndarray) -> Scorer:
    trees = module("xgboost", "xgboost")
    _check_columns(X)
    model = trees.XGBClassifier(n_estimators=TREES, max_depth=DEPTH, n_jobs=1, random_state=0)
    model.fit(X, y.astype(int))
    return lambda rows: model.predict(rows, output_margin=True)


def _lightgbm(X: Any, y: np.ndarray) -> Scorer:
    trees = module("lightgbm", "lightgbm")
    _check_columns(X)
    model = trees.LGBMClassifier(
        n_estimators=TREES, max_depth=DEPTH, n_jobs=1, random_state=0, verbose=-1
    )
    model.fit(X, y.astype(int))
    return lambda rows: model.predict(rows, raw_score=True)


def _check_columns(X: Any) -> None:
    if X.shape[1] > DENSE_COLUMNS:
        raise NotRun(f"trees are not grown on {X.shape[1]} columns")
