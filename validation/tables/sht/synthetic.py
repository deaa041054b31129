"""[SHT, Tables I and II, Fig. 2]: simulated data, how they are split, and what is measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ....approx.sht import StochasticHardThresholding, sparse_problem
from ....approx.sparse_baselines import oracle_support
from ....approx.thresholding import hard_threshold, largest
from ....exact.api.folds import make_splits
from ....exact.subsets.best_subset import best_subset
from ...data.generators import sparse_mean_shift
from ...data.labelled_data import Dataset
from ..table import Budget, Experiment, Job, Part, Run
from .measures import f1, true_auc
from .methods import DENSE, EXACT, FISHER, SEARCH, TOP, Rows, chosen, exact_auc_svm
from .printed import BOTH, METHODS, STARS

N, D = 1000, 1000
RARE = 0.05
SMALL = 1e-3  # Weights up to this are cut for methods that are not sparse, as in the paper.

ORACLE, SWAPS, SUBSET = "true features known", "SHT-AUC, swaps", "best 8 of 30, proved"
ADDED = (DENSE, TOP, FISHER, EXACT, SWAPS, SUBSET, ORACLE)
CUT = ("SPAM-l1", "SPAM-l2", BOTH, "FSAUC", "SOLAM")

TENS = [*range(10, 101, 10)]
BUDGET = (
    Budget("trials (new data)", 5, 4, 5),
    Budget("folds of a trial", 5, 1, 5),
    Budget("folds of a trial, r above 0.05", 5, 1, 2),
    Budget("r", "0.05, 0.10, ..., 0.50", [0.05, 0.2, 0.5], [0.05, 0.1, 0.2, 0.3, 0.4, 0.5]),
    Budget("inner folds", 5, 2, 3),
    Budget("k", TENS, [20, 40, 80], TENS),
    Budget("blocks", [1, 2, 4, 8, 10], [1, 10], [1, 4, 10]),
    Budget("tau of HSG-HT", "not printed", [1, 100], [1, 10, 100, 1000]),
    Budget("epochs", "50 (programs)", 20, 50),
    Budget("beta", "1e-5, 1e-4, ..., 100", [1e-4, 1e-3], [1e-5, 1e-4, 1e-3, 1e-2]),
    Budget("xi", "1, 10, ..., 100", [1, 10], [1, 10, 55]),
    Budget("R", "0.1, 1, ..., 1e5", [1, 100], [0.1, 1, 10, 100]),
    Budget("eta of FSAUC", "2^-10, 2^-9, ..., 2^10", [0.125, 8], [2**-6, 0.125, 1, 8]),
    Budget("passes", "50 (programs)", 10, 20),
    Budget("lam of AUC-SVM", "none", [1e-4, 1e-2], [1e-5, 1e-4, 1e-3, 1e-2]),
)


def parts(run: Run, budget: Mapping[str, Any]) -> list[Part]:
    """Return a part for each data set and fold: first one fold of each."""
    cases = [(k_star, RARE) for k_star in STARS]
    cases += [(STARS[0], r) for r in budget["r"] if r != RARE]
    rare, common = budget["folds of a trial"], budget["folds of a trial, r above 0.05"]
    return [
        Part(
            f"k={k_star},r={r:g},trial={trial},fold={fold}",
            {"k_star": k_star, "r": r, "trial": trial, "fold": fold},
        )
        for fold in range(max(rare, common))
        for trial in range(budget["trials (new data)"])
        for k_star, r in cases
        if fold < (rare if r == RARE else common)
    ]


def compute(job: Job) -> dict[str, Any]:
    """Fit every method on four fifths of one data set, parameters by inner folds."""
    k_star, r, trial = job["k_star"], job["r"], job["trial"]
    purpose = f"{k_star} {r:g} {trial}"
    data = sparse_mean_shift(N, job.draw_seed(purpose), d=D, k_star=k_star, r=r)
    train, test = make_splits(5, data.X, data.is_positive, job.draw_seed(purpose) % 2**31)[
        job["fold"]
    ]
    mean, spread = data.X[train].mean(axis=0), data.X[train].std(axis=0)
    rows = Rows((data.X - mean) / (spread * np.sqrt(D)), data.is_positive)
    inside = rows.part(train)
    splits = make_splits(job.budget["inner folds"], inside.X, inside.positive, job["fold"])
    methods = [*METHODS, DENSE, TOP, FISHER, *([BOTH] if k_star == STARS[0] else [])]
    weights, found = {}, {}
    for method in methods:
        weights[method], config = chosen(method, inside, splits, job.budget)
        found[f"config {method}"] = list(config)
    k = int(found["config SHT-AUC"][0])
    weights |= _added(inside, data, k, found)
    weights[EXACT], found["gap"] = exact_auc_svm(inside, splits, job.budget["lam of AUC-SVM"])
    for method, w in weights.items():
        found |= _measures(method, w, w / spread, rows.part(test), data)
    return found


def _added(rows: Rows, data: Dataset, k: int, found: dict[str, Any]) -> dict[str, np.ndarray]:
    """Return the weights of what is added, and note their objectives."""
    loss = sparse_problem(rows.X, rows.positive)
    kept = max(k - 1, 1)  # what the published configuration keeps
    swaps = StochasticHardThresholding(kept, max_epochs=100, refine="swaps").solve(loss)
    published = StochasticHardThresholding(k, max_epochs=100, mode="authors").solve(loss)
    refit = StochasticHardThresholding(k, max_epochs=100, mode="authors", refine="refit")
    found["objective published"] = published.objective
    found["objective refit"] = refit.solve(loss).objective
    found["objective swaps"] = swaps.objective
    screened = largest(np.abs(loss.delta), 30)
    best = best_subset(rows.X[:, screened], rows.positive, 8, max_time=20.0)
    found["subset gap"], found["subset proved"] = best.gap, float(best.proved)
    w = np.zeros(loss.dim)
    w[screened] = best.w
    assert data.support is not None
    oracle = oracle_support(rows.X, rows.positive, data.support)
    return {SWAPS: swaps.w, SUBSET: w, ORACLE: oracle}


def _measures(
    method: str, w: np.ndarray, raw: np.ndarray, test: Rows, data: Dataset
) -> dict[str, float]:
    """Return AUC on the test rows and on new ones, F1, Jaccard, and F1 of the k* largest."""
    assert data.support is not None
    cut = np.where(np.abs(w) > SMALL, w, 0.0) if method in CUT else w
    score, top = f1(cut, data), f1(hard_threshold(w, data.support.size), data)
    return {
        f"auc {method}": test.auc(w),
        f"true {method}": true_auc(raw, data),
        f"f1 {method}": score,
        f"ji {method}": score / (2 - score),
        f"top {method}": top,
    }


EXPERIMENT = Experiment("sht-synthetic", BUDGET, parts, compute, SEARCH)
