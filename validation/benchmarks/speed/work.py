"""Whole pieces of work, to fit, tune and predict, beside scikit-learn's on equal grids."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC, LinearSVC

from ....exact.api.roc_svm import ROCSVM
from ....exact.api.roc_svm_cv import ROCSVMCV
from ....exact.api.solve import solve
from ...extremes import max
from ..exact.first_answers import drawn
from ..exact.hard_regimes import curved
from ..harness import Table
from .cases import Effort
from .race import clocked
from .sheets import Rows, Sheet

LAMS = np.geomspace(1.0, 1e-4, 10)
"""The candidates of the linear search; scikit-learn's C has as many."""

KERNEL_LAMS, GAMMAS, COSTS = (1e-1, 1e-2, 1e-3, 1e-4), (0.05, 0.1, 0.2), (0.1, 1.0, 10.0, 100.0)
"""Twelve points of the kernels' grids."""

FOLDS = 5

Fit = Callable[[np.ndarray, np.ndarray], Callable[[Any], np.ndarray]]
"""Fits and tunes; returns the function that scores rows."""


def sheet() -> Sheet:
    """Return the table without rows."""
    return Sheet(
        "work",
        Table(
            "CPU seconds to fit, tune over 5 folds, and score as many rows again; one thread",
            *("work:<34", "who:<34", "s:9.3g", "ours / theirs:14.2f", "AUC:8.5f", "note:"),
        ),
    )


def rows(effort: Effort) -> Rows:
    """Yield the rows of the table."""
    n = effort.rows(100_000)
    work = f"linear, {n} x 50, 10 values"
    fits = (
        ("aucert ROCSVMCV", _linear),
        ("LogisticRegressionCV", _logistic),
        ("GridSearchCV(LinearSVC)", _linear_svc),
    )
    yield from _compared(work, drawn(2 * n, 50), fits, effort)
    n = effort.rows(5000)
    work = f"Gaussian, {n} x 10, 12 points"
    yield from _compared(
        work,
        curved(2 * n),
        (("aucert ROCSVMCV, a gamma at a time", _kernel), ("GridSearchCV(SVC)", _svc)),
        effort,
    )
    yield from _estimator(effort)


def _compared(
    work: str,
    data: tuple[np.ndarray, np.ndarray],
    fits: tuple[tuple[str, Fit], ...],
    effort: Effort,
) -> Rows:
    """Yield a row for each fit; the second half of the rows is scored."""
    (X, y), half = data, len(data[1]) // 2
    mine: float | None = None
    for name, fit in fits:

        def whole(fit: Fit = fit) -> np.ndarray:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return fit(X[:half], y[:half])(X[half:])

        scores, seconds = clocked(whole, effort.repeats)
        ratio = None if mine is None else mine / seconds
        mine = seconds if mine is None else mine
        yield work, name, seconds, ratio, float(roc_auc_score(y[half:], scores)), ""


def _estimator(effort: Effort) -> Rows:
    """Yield what the estimator costs beside `solve` itself."""
    n = effort.rows(10_000_000)
    X, y = drawn(n, 2)
    work, repeats = f"fit alone, {n} x 2", max(effort.repeats, 2)
    _, fit = clocked(partial(_fitted, X, y), repeats)
    _, solved = clocked(partial(solve, X, y, lam=1e-3, tol=1e-6, n_jobs=1), repeats)
    yield work, "aucert ROCSVM.fit", fit, None, None, ""
    yield work, "aucert solve", solved, fit / solved, None, ""


def _fitted(X: np.ndarray, y: np.ndarray) -> ROCSVM:
    return ROCSVM(lam=1e-3, tol=1e-6, n_jobs=1).fit(X, y)


def _linear(X: np.ndarray, y: np.ndarray) -> Callable[[Any], np.ndarray]:
    model = ROCSVMCV(lams=LAMS, cv=FOLDS, random_state=0, tol=1e-6, n_jobs=1)
    return model.fit(X, y).decision_function


def _logistic(X: np.ndarray, y: np.ndarray) -> Callable[[Any], np.ndarray]:
    model = LogisticRegressionCV(Cs=LAMS.size, cv=FOLDS, scoring="roc_auc")
    return model.fit(X, y).decision_function


def _linear_svc(X: np.ndarray, y: np.ndarray) -> Callable[[Any], np.ndarray]:
    grid = {"C": list(np.geomspace(1e-4, 1e2, LAMS.size))}
    found = GridSearchCV(LinearSVC(dual=False), grid, cv=FOLDS, scoring="roc_auc")
    return found.fit(X, y).decision_function


def _kernel(X: np.ndarray, y: np.ndarray) -> Callable[[Any], np.ndarray]:
    how: dict[str, Any] = {"kernel": "rbf", "cv": FOLDS, "random_state": 0, "tol": 1e-6}
    models = [ROCSVMCV(KERNEL_LAMS, gamma=gamma, n_jobs=1, **how).fit(X, y) for gamma in GAMMAS]
    best = max(models, key=lambda model: float(model.cv_path_.mean_auc.max()))
    return best.decision_function


def _svc(X: np.ndarray, y: np.ndarray) -> Callable[[Any], np.ndarray]:
    grid = {"C": list(COSTS), "gamma": list(GAMMAS)}
    found = GridSearchCV(SVC(cache_size=500), grid, cv=FOLDS, scoring="roc_auc")
    return found.fit(X, y).decision_function
