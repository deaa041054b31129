"""[SHT, Section IV-B, Table III, Figs. 3 and 4]: two gene sets, as published and without leaks.

The published programs bring each array to length one, nothing more. A trial shuffles the rows and
takes 50 for training, 32 or 33 of them positive. Folds of "the" 50 choose all parameters but k;
each fold's choice is trained on the 50 and tested on the rest, which makes 5 results a trial. Two
leaks: by a slip of indices (a permutation applied twice) the folds are cut out of other 50 rows,
test rows among them; and k, of the methods that have one, is that of the best mean AUC on the test
rows. Without them: folds of the training rows choose everything, one result a trial.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ....approx.sparse_baselines import fisher_scores
from ....approx.thresholding import largest
from ....exact.api.folds import make_splits
from ....exact.subsets.best_subset import best_subset
from ...data.real_data import load_real
from ...files.tables import feature_names, read_arrays
from ..table import Budget, Experiment, Job, Part, Run
from .markers import marker_columns, ratios
from .methods import (
    DENSE,
    EXACT,
    FISHER,
    SEARCH,
    TOP,
    Config,
    Rows,
    chosen,
    exact_auc_svm,
    fit,
    fold_aucs,
    grid,
)
from .printed import METHODS, SETS

SPARSE = ("SHT-AUC", "StoIHT", "HSG-HT")
SUBSET = "best 5 of 40, proved"
TRAINING = 50
SHARE = (32, 33)

PAPER_K = [1, *range(5, 51, 5), *range(60, 101, 10), 200, 300, 400, 500]
_TWENTY = {"colon": 20, "leukemia": 20}
BUDGET = (
    Budget("shuffles", _TWENTY, _TWENTY, _TWENTY),
    Budget("folds", 5, 5, 5),
    Budget("k", PAPER_K, [5, 20, 50, 100, 300], PAPER_K),
    Budget("blocks", "rows a block 1 to 39", [1, 4], [1, 2, 4, 10]),
    Budget("tau of HSG-HT", [1, 10, 100, 1000], [1, 100], [1, 10, 100, 1000]),
    Budget("epochs", "100 (programs)", 20, 50),
    Budget("beta", "1e-5 to 0.07", [1e-4, 1e-2], [1e-5, 1e-4, 1e-3, 1e-2, 0.07]),
    Budget("xi", "1e-5, 1e-4, ..., 100", [1, 10], [1e-2, 1, 10, 100]),
    Budget("R", "1e-5 to 1e4", [1, 100], [1e-2, 1, 100, 1e4]),
    Budget("eta of FSAUC", "2^-10, 2^-9, ..., 2^10", [0.125, 8], [2**-6, 0.125, 8, 64]),
    Budget("passes", "100 (programs)", 20, 50),
    Budget("lam of AUC-SVM", "none", [1e-4, 1e-3, 1e-2], [1e-6, 1e-5, 1e-4, 1e-3, 1e-2]),
)  # fmt: skip

Folds = Sequence[tuple[np.ndarray, np.ndarray]]


def parts(run: Run, budget: Mapping[str, Any]) -> list[Part]:
    """Return a part for each shuffle and data set: the shuffles first."""
    counts = budget["shuffles"]
    return [
        Part(f"{name},shuffle={at}", {"set": name, "shuffle": at}, (name,))
        for at in range(max(counts.values()))
        for name in SETS
        if at < counts[name]
    ]


def shuffled(
    positive: np.ndarray, rng: np.random.Generator, folds: int
) -> tuple[np.ndarray, np.ndarray, Folds, Folds]:
    """Return training rows, test rows, the published folds with their slip, and right folds."""
    n = positive.size
    while True:
        order = rng.permutation(n)
        slipped, train, test = order[:TRAINING], order[order[:TRAINING]], order[order[TRAINING:]]
        pieces = np.array_split(np.arange(TRAINING), folds)
        published = [(np.delete(slipped, piece), slipped[piece]) for piece in pieces]
        held = [slipped[piece] for piece in pieces]
        if positive[train].sum() not in SHARE or positive[test].all() or not positive[test].any():
            continue
        if all(2 < (~positive[rows]).sum() < rows.size for rows in held):
            break
        if n - positive.sum() < 3 * folds:
            raise ValueError("too few negative rows for these folds")
    splits = make_splits(folds, np.empty((TRAINING, 0)), positive[train], int(rng.integers(2**31)))
    return train, test, published, [(train[a], train[b]) for a, b in splits]


def unit_rows(X: np.ndarray) -> np.ndarray:
    """Return the rows at length one, which no other row has a part in."""
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def compute(job: Job) -> dict[str, Any]:
    """Run every method on one shuffle, in both protocols."""
    name, at, budget = job["set"], job["shuffle"], job.budget
    data = load_real(name, job.run.data_dir)
    rows = Rows(unit_rows(np.asarray(data.X, dtype=float)), data.is_positive)
    rng = job.rng(f"shuffle {name} {at}")
    train, test, published, right = shuffled(rows.positive, rng, budget["folds"])
    tools = _Trial(rows, train, test, published, right, budget)
    columns = marker_columns(name, _names(job, name, data.X.shape[1]))
    markers = sorted({column for group in columns.values() for column in group})
    found: dict[str, Any] = {"markers": len(markers), "overlap": tools.overlap}
    found["marker columns"] = {str(number): places for number, places in columns.items()}
    for method in METHODS:
        found |= tools.sparse(method, markers) if method in SPARSE else tools.other(method)
    return found | tools.added(budget["lam of AUC-SVM"])


def _names(job: Job, name: str, d: int) -> list[str]:
    return feature_names(read_arrays(job.file(name), ("feature_names",)), d)


class _Trial:
    """One shuffle: rows, folds, and the fits on the training rows made so far."""

    def __init__(
        self,
        rows: Rows,
        train: np.ndarray,
        test: np.ndarray,
        published: Folds,
        right: Folds,
        budget: Mapping[str, Any],
    ):
        places = np.sort(train)
        self.rows, self.inside, self.test = rows, rows.part(places), rows.part(test)
        self.published, self.right, self.budget = published, right, budget
        self.local = [
            (np.searchsorted(places, rest), np.searchsorted(places, held)) for rest, held in right
        ]
        slipped = np.concatenate([held for _, held in published])
        self.overlap = float(np.isin(test, slipped).mean())
        self.made: dict[tuple[str, Config], np.ndarray] = {}

    def weights(self, method: str, config: Config) -> np.ndarray:
        """Return the fit on all training rows."""
        key = (method, config)
        if key not in self.made:
            self.made[key] = fit(method, self.inside, config, self.budget)
        return self.made[key]

    def test_auc(self, method: str, config: Config) -> float:
        """Return its AUC on the test rows."""
        return self.test.auc(self.weights(method, config))

    def other(self, method: str) -> dict[str, Any]:
        """Return the AUC of a method without k: published, mean of five results, and right."""
        configs = grid(method, self.budget)
        leaky = fold_aucs(method, self.rows, self.published, configs, self.budget)
        clean = fold_aucs(method, self.rows, self.right, configs, self.budget).mean(axis=0)
        each = [self.test_auc(method, configs[int(line.argmax())]) for line in leaky]
        return {
            f"published {method}": each,
            f"right {method}": self.test_auc(method, configs[int(clean.argmax())]),
        }

    def sparse(self, method: str, markers: list[int]) -> dict[str, Any]:
        """Return the same of a method with k, and what Figs. 3 and 4 show, by k."""
        configs = grid(method, self.budget)
        leaky = fold_aucs(method, self.rows, self.published, configs, self.budget)
        clean = fold_aucs(method, self.rows, self.right, configs, self.budget)
        published, unslipped, shares = [], [], []
        for k in self.budget["k"]:
            at = [place for place, config in enumerate(configs) if config[0] == k]
            picks = [configs[at[int(line[at].argmax())]] for line in leaky]
            published.append([self.test_auc(method, config) for config in picks])
            better = [configs[at[int(line[at].argmax())]] for line in clean]
            unslipped.append([self.test_auc(method, config) for config in better])
            found = [ratios(np.flatnonzero(self.weights(method, c)), markers) for c in picks]
            shares.append(np.mean(found, axis=0).tolist())
        best = configs[int(clean.mean(axis=0).argmax())]
        return {
            f"published {method}": published,
            f"unslipped {method}": unslipped,
            f"right {method}": self.test_auc(method, best),
            f"k {method}": best[0],
            f"genes {method}": np.flatnonzero(self.weights(method, best)).tolist(),
            f"ratios {method}": shares,
        }

    def added(self, lams: Sequence[float]) -> dict[str, Any]:
        """Return the AUC of what is added, all chosen on the training rows."""
        found: dict[str, Any] = {}
        for method in (DENSE, TOP, FISHER):
            w, _ = chosen(method, self.inside, self.local, self.budget)
            found[f"right {method}"] = self.test.auc(w)
        w, found["gap"] = exact_auc_svm(self.inside, self.local, lams)
        found[f"right {EXACT}"] = self.test.auc(w)
        screened = largest(fisher_scores(self.inside.X, self.inside.positive), 40)
        best = best_subset(self.inside.X[:, screened], self.inside.positive, 5, max_time=20.0)
        w = np.zeros(self.inside.X.shape[1])
        w[screened] = best.w
        found[f"right {SUBSET}"] = self.test.auc(w)
        found[f"genes {SUBSET}"] = screened[best.support].tolist()
        found["subset proved"], found["subset gap"] = float(best.proved), best.gap
        return found


EXPERIMENT = Experiment("sht-genes", BUDGET, parts, compute, SEARCH)
