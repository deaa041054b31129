"""The methods of [SHT, Section IV], as its experiments run them, and what is added to them.

Steps are those of the published programs: 1 for SHT-AUC and StoIHT, 3 for HSG-HT, on rows of
length about one; the logistic methods begin at the intercept 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from scipy import stats

from ....approx.fsauc import MultiStageSaddle
from ....approx.logistic_thresholding import hsg_ht, stoiht
from ....approx.sht import StochasticHardThresholding, sparse_problem
from ....approx.solam import StochasticSaddle
from ....approx.spam import StochasticProximal
from ....approx.sparse_baselines import mean_difference, top_fisher, top_mean_difference
from ....exact.api.path import regularization_path
from ....exact.errors import InputError
from ....exact.pairs.auc import auc
from ...data.labelled_data import Dataset
from ...data.printed_numbers import printed

PAPER = "SHT"

STARS = (20, 40, 60, 80)
METHODS = ("SHT-AUC", "SPAM-l1", "SPAM-l2", "FSAUC", "SOLAM", "StoIHT", "HSG-HT")
BOTH = "SPAM-l1/l2"

AUC = printed(PAPER, "Table I")
GENES = printed(PAPER, "Table III")
SETS = ("colon", "leukemia")


SHIFT = 0.3  # Difference of the class means in a true feature.


def true_auc(w: np.ndarray, data: Dataset) -> float:
    """Return the AUC of w on new rows of the model; 1/2 for w = 0."""
    assert data.support is not None
    size = float(np.linalg.norm(w))
    gain = SHIFT * float(w[data.support].sum())
    return float(stats.norm.cdf(gain / (np.sqrt(2) * size))) if size > 0 else 0.5


def f1(w: np.ndarray, data: Dataset) -> float:
    """Return the F1 score of the features of w. [SHT, Section IV]"""
    assert data.support is not None
    found = np.flatnonzero(w)
    return 2 * float(np.isin(found, data.support).sum()) / (found.size + data.support.size)


Config = tuple[float, ...]

SEARCH = (
    "Every point of the grids is fitted in every fold, and none is left before its folds are done. "
    "AUC-SVM follows one certified path of falling lam in each fold."
)

DENSE, TOP, EXACT = "mean difference", "top-k mean difference", "AUC-SVM, exact"
FISHER = "top-k Fisher"


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows and their positive mask."""

    X: np.ndarray
    positive: np.ndarray

    def part(self, rows: np.ndarray) -> Rows:
        """Return some of the rows."""
        return Rows(self.X[rows], self.positive[rows])

    def auc(self, w: np.ndarray) -> float:
        """Return the AUC of the weights."""
        return auc(self.X @ w, self.positive)


def _sht(rows: Rows, config: Config, spend: Mapping[str, Any]) -> np.ndarray:
    k, blocks = config
    solver = StochasticHardThresholding(
        int(k), n_blocks=int(blocks), max_epochs=spend["epochs"], tol=0.0, mode="authors"
    )
    return solver.solve(sparse_problem(rows.X, rows.positive)).w


def _stoiht(rows: Rows, config: Config, spend: Mapping[str, Any]) -> np.ndarray:
    k, blocks = config
    more: dict[str, Any] = {"step": 1.0, "max_epochs": spend["epochs"], "intercept": 0.0}
    return stoiht(rows.X, rows.positive, int(k), n_blocks=int(blocks), **more).w


def _hsg_ht(rows: Rows, config: Config, spend: Mapping[str, Any]) -> np.ndarray:
    k, first = config
    more: dict[str, Any] = {"step": 3.0, "max_passes": spend["epochs"], "intercept": 0.0}
    return hsg_ht(rows.X, rows.positive, int(k), first=first, mode="authors", **more).w


def _spam(l1: bool, l2: bool) -> Callable[[Rows, Config, Mapping[str, Any]], np.ndarray]:
    def fit(rows: Rows, config: Config, spend: Mapping[str, Any]) -> np.ndarray:
        beta, xi = config
        loss = sparse_problem(rows.X, rows.positive)
        scale = loss.share * (1 - loss.share)  # the programs minimise r (1 - r) F + penalty
        solver = StochasticProximal(
            l1=beta / scale if l1 else 0.0,
            l2=beta / scale if l2 else 0.0,
            step=xi * scale,
            max_passes=spend["passes"],
        )
        return solver.solve(loss).w

    return fit


def _solam(rows: Rows, config: Config, spend: Mapping[str, Any]) -> np.ndarray:
    radius, xi = config
    solver = StochasticSaddle(radius, step=xi, max_passes=spend["passes"])
    return solver.solve(sparse_problem(rows.X, rows.positive)).w


def _fsauc(rows: Rows, config: Config, spend: Mapping[str, Any]) -> np.ndarray:
    radius, eta = config
    solver = MultiStageSaddle(radius, step=eta, max_passes=spend["passes"])
    return solver.solve(sparse_problem(rows.X, rows.positive)).w


def _dense(rows: Rows, config: Config, spend: Mapping[str, Any]) -> np.ndarray:
    return mean_difference(rows.X, rows.positive)


def _top(rows: Rows, config: Config, spend: Mapping[str, Any]) -> np.ndarray:
    return top_mean_difference(rows.X, rows.positive, int(config[0]))


def _fisher(rows: Rows, config: Config, spend: Mapping[str, Any]) -> np.ndarray:
    return top_fisher(rows.X, rows.positive, int(config[0]))


_FITS: dict[str, Callable[[Rows, Config, Mapping[str, Any]], np.ndarray]] = {
    "SHT-AUC": _sht,
    "SPAM-l1": _spam(True, False),
    "SPAM-l2": _spam(False, True),
    BOTH: _spam(True, True),
    "FSAUC": _fsauc,
    "SOLAM": _solam,
    "StoIHT": _stoiht,
    "HSG-HT": _hsg_ht,
    DENSE: _dense,
    TOP: _top,
    FISHER: _fisher,
}


def grid(method: str, budget: Mapping[str, Any]) -> list[Config]:
    """Return what is tried for a method, out of the lines of a budget."""
    ks = budget["k"]
    axes: dict[str, Sequence[Iterable[float]]] = {
        "SHT-AUC": (ks, budget["blocks"]),
        "StoIHT": (ks, budget["blocks"]),
        "HSG-HT": (ks, budget["tau of HSG-HT"]),
        "FSAUC": (budget["R"], budget["eta of FSAUC"]),
        "SOLAM": (budget["R"], budget["xi"]),
        DENSE: (),
        TOP: (ks,),
        FISHER: (ks,),
    }
    chosen = axes.get(method, (budget["beta"], budget["xi"]))
    return [tuple(map(float, point)) for point in product(*chosen)]


def fit(method: str, rows: Rows, config: Config, spend: Mapping[str, Any]) -> np.ndarray:
    """Return the weights; zero where the steps diverge, as they do for parts of the grids."""
    try:
        return _FITS[method](rows, config, spend)
    except InputError as error:
        if "diverge" not in str(error) and "overflow" not in str(error):
            raise
        return np.zeros(rows.X.shape[1])


def fold_aucs(
    method: str,
    rows: Rows,
    folds: Sequence[tuple[np.ndarray, np.ndarray]],
    configs: Sequence[Config],
    spend: Mapping[str, Any],
) -> np.ndarray:
    """Return the AUC on the held-out rows of each fold, for each parameter: (folds, configs)."""
    found = [
        [rows.part(held).auc(fit(method, rows.part(train), c, spend)) for c in configs]
        for train, held in folds
    ]
    return np.array(found)


def chosen(
    method: str,
    rows: Rows,
    folds: Sequence[tuple[np.ndarray, np.ndarray]],
    budget: Mapping[str, Any],
) -> tuple[np.ndarray, Config]:
    """Return the weights on all rows with the parameters of the best mean AUC on the folds."""
    configs = grid(method, budget)
    best = 0
    if len(configs) > 1:
        best = int(fold_aucs(method, rows, folds, configs, budget).mean(axis=0).argmax())
    return fit(method, rows, configs[best], budget), configs[best]


def exact_auc_svm(
    rows: Rows, folds: Sequence[tuple[np.ndarray, np.ndarray]], lams: Sequence[float]
) -> tuple[np.ndarray, float]:
    """Return the certified optimum over all pairs with lam by the folds, and its relative gap.

    Each fold is one path of falling lam.
    """
    total = np.zeros(len(lams))
    for train, held in folds:
        part, rest = rows.part(train), rows.part(held)
        path = regularization_path(part.X, part.positive.astype(int), lams, positive=1, tol=1e-3)
        total += [auc(scores, rest.positive) for scores in path.scores(rest.X)]
    lam = float(sorted(lams, reverse=True)[int(total.argmax())])
    path = regularization_path(rows.X, rows.positive.astype(int), [lam], positive=1, tol=1e-6)
    point = path.points[0]
    return point.solution.w, float(point.certificate.relative_gap or 0.0)
