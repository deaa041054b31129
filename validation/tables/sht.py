"""The tables and figures of SHT."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
from scipy import stats

from ...approx.fsauc import MultiStageSaddle
from ...approx.logistic_thresholding import hsg_ht, stoiht
from ...approx.sht import StochasticHardThresholding, sparse_problem
from ...approx.solam import StochasticSaddle
from ...approx.spam import StochasticProximal
from ...approx.sparse_baselines import (
    fisher_scores,
    mean_difference,
    oracle_support,
    top_fisher,
    top_mean_difference,
)
from ...approx.thresholding import hard_threshold, largest
from ...exact.api.folds import make_splits
from ...exact.api.path import regularization_path
from ...exact.errors import OverflowingError
from ...exact.pairs.auc import auc
from ...exact.subsets.best_subset import best_subset
from ..data.generators import sparse_mean_shift
from ..data.labelled_data import Dataset
from ..data.printed_numbers import printed
from ..data.real_data import load_real
from ..files.tables import feature_names, read_arrays
from ..plots import Series
from .table import (
    Budget,
    Entry,
    Experiment,
    Job,
    Page,
    Panel,
    Part,
    Results,
    Sheet,
    Table,
    every_part,
)

# The methods of [SHT, Section IV], as its experiments run them, and what is added to them.
#
# Steps are those of the published programs: 1 for SHT-AUC and StoIHT, 3 for HSG-HT, on rows of
# length about one; the logistic methods begin at the intercept 0.

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


def _saddle(
    kind: type[StochasticSaddle] | type[MultiStageSaddle],
) -> Callable[[Rows, Config, Mapping[str, Any]], np.ndarray]:
    def fit(rows: Rows, config: Config, spend: Mapping[str, Any]) -> np.ndarray:
        solver = kind(config[0], step=config[1], max_passes=spend["passes"])
        return solver.solve(sparse_problem(rows.X, rows.positive)).w

    return fit


_FITS: dict[str, Callable[[Rows, Config, Mapping[str, Any]], np.ndarray]] = {
    "SHT-AUC": _sht,
    "SPAM-l1": _spam(True, False),
    "SPAM-l2": _spam(False, True),
    BOTH: _spam(True, True),
    "FSAUC": _saddle(MultiStageSaddle),
    "SOLAM": _saddle(StochasticSaddle),
    "StoIHT": _stoiht,
    "HSG-HT": _hsg_ht,
    DENSE: lambda rows, config, spend: mean_difference(rows.X, rows.positive),
    TOP: lambda rows, config, spend: top_mean_difference(rows.X, rows.positive, int(config[0])),
    FISHER: lambda rows, config, spend: top_fisher(rows.X, rows.positive, int(config[0])),
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
    except OverflowingError:
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


# [SHT, Tables I and II, Fig. 2]: simulated data, how they are split, and what is measured.

N, D = 1000, 1000
RARE = 0.05
SMALL = 1e-3  # Weights up to this are cut for methods that are not sparse, as in the paper.

ORACLE, SWAPS, SUBSET = "true features known", "SHT-AUC, swaps", "best 8 of 30, proved"
ADDED = (DENSE, TOP, FISHER, EXACT, SWAPS, SUBSET, ORACLE)
CUT = ("SPAM-l1", "SPAM-l2", BOTH, "FSAUC", "SOLAM")

TENS = [*range(10, 101, 10)]
DECADES = [1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0]
POWERS = [2.0**power for power in range(-10, 11, 3)]
SYNTHETIC_BUDGET = (
    Budget("trials (new data)", 5, 4, 5),
    Budget("folds of a trial", 5, 1, 5),
    Budget("folds of a trial, r above 0.05", 5, 1, 2, 5),
    Budget("r", "0.05, 0.10, ..., 0.50", [0.05, 0.2, 0.5], [0.05, 0.1, 0.2, 0.3, 0.4, 0.5]),
    Budget("inner folds", 5, 2, 3, 5),
    Budget("k", TENS, [20, 40, 80], TENS),
    Budget("blocks", [1, 2, 4, 8, 10], [1, 10], [1, 4, 10], [1, 2, 4, 8, 10]),
    Budget("tau of HSG-HT", "not printed", [1, 100], [1, 10, 100, 1000]),
    Budget("epochs", "50 (programs)", 20, 50),
    Budget("beta", "1e-5, 1e-4, ..., 100", [1e-4, 1e-3], [1e-5, 1e-4, 1e-3, 1e-2], DECADES[:6]),
    Budget("xi", "1, 10, ..., 100", [1, 10], [1, 10, 55], [1, 10, 55, 100]),
    Budget("R", "0.1, 1, ..., 1e5", [1, 100], [0.1, 1, 10, 100], [0.1, 1, 10, 100, 1e3, 1e4, 1e5]),
    Budget("eta of FSAUC", "2^-10, 2^-9, ..., 2^10", [0.125, 8], [2**-6, 0.125, 1, 8], POWERS),
    Budget("passes", "50 (programs)", 10, 20),
    Budget("lam of AUC-SVM", "none", [1e-4, 1e-2], [1e-5, 1e-4, 1e-3, 1e-2]),
)


def synthetic_parts(budget: Mapping[str, Any]) -> list[Part]:
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


def compute_synthetic(job: Job) -> dict[str, Any]:
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


SYNTHETIC = Experiment(
    "sht-synthetic",
    SYNTHETIC_BUDGET,
    synthetic_parts,
    compute_synthetic,
    SEARCH,
    quick_minutes=1.2,
    printed_minutes=300,
)


FEATURES = printed(PAPER, "Table II")
TOP_F1 = "F1 of the k* largest, k* = {}"
Print = Mapping[str, Mapping[str, str]]


def by_trial(results: Results, name: str, k_star: int, r: float = RARE) -> np.ndarray:
    """Return a number's mean in each trial: folds of one trial share their data."""
    found: dict[int, list[float]] = {}
    for record in results.select(k_star=k_star, r=r):
        if record.get(name) is not None:
            found.setdefault(record["trial"], []).append(record[name])
    return np.array([np.mean(values) for values in found.values()])


def _sheet(
    results: Results, methods: Sequence[str], columns: Sequence[tuple[str, str]], print_of: Print
) -> Sheet:
    """Enter each column, named with a `k*` to be filled in, of each method at the four k*."""
    sheet = Sheet()
    for method in methods:
        for column, measure in columns:
            for k_star in STARS:
                name = column.format(k_star)
                values = by_trial(results, f"{measure} {method}", k_star)
                sheet.mean(method, name, values, print_of.get(method, {}).get(name), 3)
    return sheet


def _against(
    sheet: Sheet, results: Results, measure: str, what: str, rivals: Sequence[str]
) -> None:
    """Enter the paired tests of SHT-AUC, the trials of all k* together."""
    for rival in rivals:
        names = ("SHT-AUC", rival)
        sides = (
            np.concatenate([by_trial(results, f"{measure} {m}", k) for k in STARS]) for m in names
        )
        sheet.paired(sides, names, "", before=f"{what}, all four k*")


def render_auc(results: Results) -> Page:
    """Show the AUC of Table I."""
    columns = (("k* = {}", "auc"), ("k* = {}, new rows", "true"))
    sheet = _sheet(results, (*METHODS, *ADDED), columns, AUC)
    _against(sheet, results, "true", "AUC on new rows", (*METHODS[1:], DENSE, TOP, EXACT, SWAPS))
    return sheet.page()


def render_features(results: Results) -> Page:
    """Show F1 and the Jaccard index of Table II."""
    columns = (("F1, k* = {}", "f1"), ("JI, k* = {}", "ji"), (TOP_F1, "top"))
    methods = (*METHODS, *(m for m in ADDED if m != ORACLE))
    sheet = _sheet(results, methods, columns, FEATURES)
    for measure, what in (("f1", "F1"), ("ji", "JI"), ("top", "F1 of the k* largest")):
        _against(sheet, results, measure, what, (*METHODS[1:], DENSE, TOP))
    return sheet.page()


def render_imbalance(results: Results) -> Page:
    """Show AUC and F1 by the share of positives, as Fig. 2."""
    sheet, panels = Sheet(), []
    shares = results.budget["r"]
    methods = (*METHODS, BOTH, DENSE, TOP)
    for measure, title in (("auc", "AUC"), ("f1", "F1"), ("true", "AUC on new rows")):
        series, bars = [], {}
        for method in methods:
            points = []
            for r in shares:
                values = by_trial(results, f"{measure} {method}", STARS[0], r)
                mean = sheet.mean(method, f"{title}, r = {r:g}", values, digits=3)
                points += [(float(r), *mean)] if mean else []
            if points and method in ("SHT-AUC", "SPAM-l1", "FSAUC", "StoIHT", "HSG-HT", DENSE):
                x, y, bars[method] = zip(*points, strict=True)
                series.append(Series(method, x, y, method == DENSE))
        if series:
            axis = "share of positives r"
            panels.append(Panel(title, axis, title, tuple(series), log_x=False, errors=bars))
    last = shares[-1]
    for rival in ("StoIHT", "HSG-HT", "SPAM-l2", "SOLAM", DENSE):
        for r in (RARE, last):
            names = ("SHT-AUC", rival)
            sides = (by_trial(results, f"true {m}", STARS[0], r) for m in names)
            sheet.paired(sides, names, "in AUC on new rows", before=f"r = {r:g}")
    low, high = (by_trial(results, "true SHT-AUC", STARS[0], r) for r in (RARE, last))
    if not low.size or not high.size:
        return sheet.page(panels)
    rare, most = (by_trial(results, f"true {ORACLE}", STARS[0], r).mean() for r in (RARE, last))
    ceiling = stats.norm.cdf(np.sqrt(STARS[0] / 2) * SHIFT)
    return sheet.page(panels, ceiling=ceiling, rare=rare, most=most, last=last)


TABLE_1 = Table.of("sht-table-1", SYNTHETIC, render_auc)
TABLE_2 = Table.of("sht-table-2", SYNTHETIC, render_features)
FIG_2 = Table.of("sht-fig-2", SYNTHETIC, render_imbalance)


# [SHT, Section IV-B, Table III, Figs. 3 and 4]: two gene sets, as published and without leaks.
#
# The published programs bring each array to length one, nothing more. A trial shuffles the rows
# and takes 50 for training, 32 or 33 of them positive. Folds of "the" 50 choose all parameters
# but k; each fold's choice is trained on the 50 and tested on the rest, which makes 5 results a
# trial. Two leaks: by a slip of indices (a permutation applied twice) the folds are cut out of
# other 50 rows, test rows among them; and k, of the methods that have one, is that of the best
# mean AUC on the test rows. Without them: folds of the training rows choose everything, one
# result a trial.

# Number in Table IV to probes; 11 (KIAA0220) has none in the programs.
LEUKEMIA = {
    1: "M19507_at", 2: "M22324_at", 3: "M23197_at", 4: "U41813_at", 5: "X13293_at",
    6: "M84371_rna1_s_at", 7: "J03779_at", 8: "X82240_rna1_at", 9: "U22376_cds2_s_at",
    10: "U26266_s_at U79262_at", 12: "M91036_rna1_at", 13: "U01317_cds4_at", 14: "S73591_at",
    15: "M19508_xpt3_s_at", 16: "U66559_at", 17: "D63878_at Z49835_s_at M13560_s_at",
    18: "S53911_at", 19: "L33930_s_at", 20: "D21260_at", 21: "Z83821_cds2_at", 22: "X00274_at",
    23: "U19261_at", 24: "X79536_at", 25: "M96326_rna1_at", 26: "X77737_at", 27: "Z15115_at",
    28: "L06797_s_at", 29: "U62962_at", 30: "K03460_at X68277_at X99325_at X01703_at",
    31: "M11722_at", 32: "U05255_s_at",
}  # fmt: skip

# Number in Table V to columns, the first being 0.
COLON = {
    1: (295, 683, 1235), 2: (451,), 3: (608,), 4: (1041,), 5: (1043,), 6: (1165,), 7: (917, 1279),
    8: (1352,), 9: (1386,), 10: (1393, 1870), 11: (554,), 12: (268,), 13: (146,), 14: (1463,),
    15: (112,), 16: (325,), 17: (137,), 18: (209,), 19: (158, 170, 175), 20: (1143,), 21: (316,),
    22: (225,), 23: (207,), 24: (163,), 25: (701,), 26: (1790,), 27: (534,), 28: (512,),
    29: (1, 2, 282, 613),
}  # fmt: skip


def marker_columns(name: str, names: list[str]) -> dict[int, list[int]]:
    """Return number in the paper's table to columns of the data; without those not found."""
    if name == "colon":
        return {number: list(columns) for number, columns in COLON.items()}
    places = {accession: at for at, accession in enumerate(names)}
    found = {
        number: [places[probe] for probe in probes.split() if probe in places]
        for number, probes in LEUKEMIA.items()
    }
    return {number: columns for number, columns in found.items() if columns}


def ratios(support: np.ndarray, markers: list[int]) -> tuple[float, float]:
    """Return the share of markers among the genes found, and of the markers that were found."""
    if support.size == 0:
        return 0.0, 0.0
    hits = float(np.isin(support, markers).sum())
    return hits / support.size, hits / len(markers)


SPARSE = ("SHT-AUC", "StoIHT", "HSG-HT")
GENE_SUBSET = "best 5 of 40, proved"
TRAINING = 50
SHARE = (32, 33)

PAPER_K = [1, *range(5, 51, 5), *range(60, 101, 10), 200, 300, 400, 500]
_TWENTY = {"colon": 20, "leukemia": 20}
GENE_BUDGET = (
    Budget("shuffles", _TWENTY, _TWENTY, _TWENTY),
    Budget("folds", 5, 5, 5),
    Budget("k", PAPER_K, [5, 20, 50, 100, 300], PAPER_K),
    Budget("blocks", "rows a block 1 to 39", [1, 4], [1, 2, 4, 10], [1, 2, 4, 10, 20, 40]),
    Budget("tau of HSG-HT", [1, 10, 100, 1000], [1, 100], [1, 10, 100, 1000]),
    Budget("epochs", "100 (programs)", 20, 50, 100),
    Budget("beta", "1e-5 to 0.07", [1e-4, 1e-2], [1e-5, 1e-4, 1e-3, 1e-2, 0.07]),
    Budget("xi", "1e-5, 1e-4, ..., 100", [1, 10], [1e-2, 1, 10, 100]),
    Budget("R", "1e-5 to 1e4", [1, 100], [1e-2, 1, 100, 1e4]),
    Budget("eta of FSAUC", "2^-10, 2^-9, ..., 2^10", [0.125, 8], [2**-6, 0.125, 8, 64]),
    Budget("passes", "100 (programs)", 20, 50),
    Budget("lam of AUC-SVM", "none", [1e-4, 1e-3, 1e-2], [1e-6, 1e-5, 1e-4, 1e-3, 1e-2]),
)  # fmt: skip

Folds = Sequence[tuple[np.ndarray, np.ndarray]]


def gene_parts(budget: Mapping[str, Any]) -> list[Part]:
    """Return a part for each shuffle and data set: the shuffles first."""
    shuffles = range(max(budget["shuffles"].values()))
    return every_part("{set},shuffle={shuffle}", str, shuffle=shuffles, set=SETS)


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


def compute_genes(job: Job) -> dict[str, Any]:
    """Run every method on one shuffle, in both protocols."""
    name, at, budget = job["set"], job["shuffle"], job.budget
    data = load_real(name, job.run.data_dir)
    X = np.asarray(data.X, dtype=float)
    rows = Rows(X / np.linalg.norm(X, axis=1, keepdims=True), data.is_positive)
    rng = job.rng(f"shuffle {name} {at}")
    train, test, published, right = shuffled(rows.positive, rng, budget["folds"])
    tools = _Trial(rows, train, test, published, right, budget)
    names = feature_names(read_arrays(job.file(name), ("feature_names",)), data.X.shape[1])
    columns = marker_columns(name, names)
    markers = sorted({column for group in columns.values() for column in group})
    found: dict[str, Any] = {"markers": len(markers), "overlap": tools.overlap}
    found["marker columns"] = {str(number): places for number, places in columns.items()}
    for method in METHODS:
        found |= tools.sparse(method, markers) if method in SPARSE else tools.other(method)
    return found | tools.added(budget["lam of AUC-SVM"])


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
        found[f"right {GENE_SUBSET}"] = self.test.auc(w)
        found[f"genes {GENE_SUBSET}"] = screened[best.support].tolist()
        found["subset proved"], found["subset gap"] = float(best.proved), best.gap
        return found


GENE_FITS = Experiment(
    "sht-genes",
    GENE_BUDGET,
    gene_parts,
    compute_genes,
    SEARCH,
    quick_minutes=4.1,
    printed_minutes=100,
)


GENE_ADDED = (DENSE, TOP, FISHER, EXACT, GENE_SUBSET)
SIZES = {"colon": 62, "leukemia": 72}


def table_of(results: Results, kind: str, method: str, name: str) -> np.ndarray:
    """Return the AUC by shuffle and k, averaged over the folds: (shuffles, k), k = 1 without."""
    found = [record[f"{kind} {method}"] for record in results.select(set=name)]
    if not found:
        return np.empty((0, 1))
    array = np.array(found, dtype=float).mean(axis=-1)
    return array.reshape(len(found), -1)


BEST = ("best k from 30 to 100", "best other k")


def by_test_k(results: Results, kind: str, method: str, name: str) -> np.ndarray:
    """Return the AUC of each shuffle at the k of the best mean on the test rows."""
    table = table_of(results, kind, method, name)
    return table[:, int(table.mean(axis=0).argmax())] if len(table) else np.empty(0)


def overlap(name: str) -> float:
    """Return test rows over training rows."""
    return (SIZES[name] - TRAINING) / TRAINING


def render_gene_auc(results: Results) -> Page:
    """Show Table III, as published and without the leaks."""
    sheet = Sheet()
    for method in (*METHODS, *GENE_ADDED):
        for name in SETS:
            printed = GENES[method][name] if method in GENES else None
            if method in METHODS:
                values = by_test_k(results, "published", method, name)
                sheet.mean(method, f"{name}, as published", values, printed, 4)
            values = results.values(f"right {method}", set=name)
            sheet.mean(method, f"{name}, chosen on training rows", values, digits=4)
            if method in SPARSE:
                leak = by_test_k(results, "unslipped", method, name)
                sheet.mean(method, f"{name}, only k on test rows", leak, digits=4)
    for name in SETS:
        right = {m: results.values(f"right {m}", set=name) for m in (*METHODS, *GENE_ADDED)}
        more: dict[str, Any] = {"unit": "in AUC", "digits": 4, "overlap": overlap(name)}
        for method in (*SPARSE, "SPAM-l1", "FSAUC"):
            published = by_test_k(results, "published", method, name)
            names = ("as published", "chosen on training rows")
            sheet.paired((published, right[method]), names, before=f"{name}, {method}", **more)
        for rival in [method for method in right if method != "SHT-AUC"]:
            sides, before = (right["SHT-AUC"], right[rival]), f"{name}, chosen on training rows"
            sheet.paired(sides, ("SHT-AUC", rival), before=before, **more)
    proved, gaps = results.values("subset proved"), results.values("gap")
    if not proved.size:
        return sheet.page()
    return sheet.page(proved=int(proved.sum()), tried=proved.size, gap=gaps.max())


def render_by_k(results: Results) -> Page:
    """Show the AUC by k, as Fig. 3."""
    ks = [float(k) for k in results.budget["k"]]
    sheet, panels = Sheet(), []
    for name in SETS:
        series, bars = [], {}
        for method in SPARSE:
            table = table_of(results, "published", method, name)
            columns = table.T if len(table) else [np.empty(0)] * len(ks)
            means = [
                sheet.mean(f"{name}, {method}", f"k = {k:g}", values, digits=3)
                for k, values in zip(ks, columns, strict=True)
            ]
            if len(table):
                heights, bars[method] = zip(*filter(None, means), strict=True)
                series.append(Series(method, tuple(ks), heights))
            if 500 in ks and len(table):
                near = np.array([30 <= k <= 100 for k in ks])
                best = [table[:, (table.mean(axis=0) * some).argmax()] for some in (near, ~near)]
                ends, more = [columns[ks.index(k)] for k in (500, 300)], ("in AUC", 4)
                for sides, names in ((ends, ("k = 500", "k = 300")), (best, BEST)):
                    sheet.paired(sides, names, *more, f"{name}, {method}", overlap(name))
        for method in ("SPAM-l1", "SOLAM"):
            values = by_test_k(results, "published", method, name)
            if values.size:
                level = float(values.mean())
                series.append(Series(method, (ks[0], ks[-1]), (level, level), True))
        if series:
            panels.append(Panel(name, "k", "AUC", tuple(series), log_x=True, errors=bars))
    return sheet.page(panels)


TABLE_3 = Table.of("sht-table-3", GENE_FITS, render_gene_auc)
FIG_3 = Table.of("sht-fig-3", GENE_FITS, render_by_k)


def render_ratio(results: Results) -> Page:
    """Show the share of marker genes by k, as Fig. 4, both ways."""
    ks = [float(k) for k in results.budget["k"]]
    sheet, panels = Sheet(), []
    for name, d in (("colon", 2000), ("leukemia", 7129)):
        series, shares = [], {}
        for method in SPARSE:
            records = np.array([r[f"ratios {method}"] for r in results.select(set=name)])
            if not len(records):
                continue
            for at, k in enumerate(ks):
                for side, what in enumerate(("of those found", "of the markers")):
                    values, column = records[:, at, side], f"{what}, k = {k:g}"
                    sheet.mean(f"{name}, {method}", column, values, digits=3)
            series.append(Series(method, tuple(ks), tuple(records.mean(axis=0)[:, 0].tolist())))
            shares[method] = records[:, ks.index(30), 0] if 30 in ks else np.empty(0)
        for names in [(SPARSE[0], rival) for rival in SPARSE[1:] if rival in shares]:
            a, b = (shares[method] for method in names)
            sheet.paired((a, b), names, "", 4, f"{name}, k = 30", 1 / overlap(name))
        if series:
            chance = float(results.values("markers", set=name)[0]) / d
            level = (chance, chance)
            series.append(Series("chance", (ks[0], ks[-1]), level, True))
            panels.append(Panel(name, "k", "markers / genes found", tuple(series)))
    return sheet.page(panels)


def render_lists(results: Results) -> Page:
    """Show which genes were selected most often, and which of them are markers."""
    entries = []
    for name in SETS:
        for method in ("SHT-AUC", GENE_SUBSET):
            counts: Counter[int] = Counter()
            total, marks = 0, {}
            for record in results.select(set=name):
                counts.update(record[f"genes {method}"])
                total, marks = total + 1, _markers(record)
            for rank, (column, times) in enumerate(counts.most_common(8), start=1):
                text = f"{column + 1} ({times} of {total}){marks.get(column, '')}"
                entries.append(Entry(f"{name}, {method}", f"no. {rank}", None, text))
    shared = _shared(results)
    return Page(tuple(entries), values={} if shared is None else {"shared": shared})


def _shared(results: Results) -> float | None:
    """Return how many of the best five two shuffles of a set share on average, if there are two."""
    common = [
        len(set(a) & set(b))
        for name in SETS
        for a, b in combinations([r[f"genes {GENE_SUBSET}"] for r in results.select(set=name)], 2)
    ]
    return float(np.mean(common)) if common else None


def _markers(record: dict[str, Any]) -> dict[int, str]:
    """Return column to the text that marks it."""
    return {
        column: f", marker {number}"
        for number, columns in record["marker columns"].items()
        for column in columns
    }


FIG_4 = Table.of("sht-fig-4", GENE_FITS, render_ratio)
LISTS = Table.of("sht-tables-4-5", GENE_FITS, render_lists)


# [SHT, Fig. 1]: AUC of SHT-AUC by epochs, at three shares of positives.

SHARES = [0.05, 0.25, 0.5]
PUBLISHED, COMMON = "step r (1 - r), as published", "one step for all r"
STEP = 0.0475  # r (1 - r) at r = 0.05.

DONE = 0.95

EPOCH_BUDGET = (
    Budget("trials", 1, 1, 5),
    Budget("epochs", 300, 300, 300),
    Budget("epochs between looks", "1", 20, 5),
    Budget("r", SHARES, SHARES, SHARES),
    Budget("rows of a batch", 50, 50, 50),
)


def epoch_parts(budget: Mapping[str, Any]) -> list[Part]:
    """Return a part for each data set."""
    trials, key = range(budget["trials"]), "k={k_star},r={r:g},trial={trial}"
    return every_part(key, trial=trials, k_star=STARS, r=budget["r"])


def compute_epochs(job: Job) -> dict[str, Any]:
    """Run SHT-AUC with k = k* and both steps, looking at AUC and objective on the way.

    The weights at the end are compared with the k features of largest mean difference.
    """
    k, r = job["k_star"], job["r"]
    seed = job.draw_seed(f"{k} {r:g} {job['trial']}")
    data = sparse_mean_shift(1000, seed, d=1000, k_star=k, r=r, normalize=True)
    train, test = make_splits(5, data.X, data.is_positive, seed % 2**31)[0]
    loss = sparse_problem(data.X[train], data.y[train])
    found: dict[str, Any] = {}
    for name, factor in ((PUBLISHED, 1.0), (COMMON, STEP / (r * (1 - r)))):
        w, values, curve, held = np.zeros(1000), [1.0], [], []
        looks = job.budget["epochs"] // job.budget["epochs between looks"]
        for look in range(looks):
            solver = StochasticHardThresholding(
                k + 1,  # of which the published configuration keeps one less
                block_size=job.budget["rows of a batch"],
                step=factor,
                max_epochs=job.budget["epochs between looks"],
                tol=0.0,
                mode="authors",
                seed=look,
            )
            solution = solver.solve(loss, w)
            w = solution.w
            values += [line.objective for line in solution.history[1:]]
            curve.append(auc(data.X[train] @ w, data.is_positive[train]))
            held.append(auc(data.X[test] @ w, data.is_positive[test]))
        screened = top_mean_difference(loss.X, loss.positive, k)
        lengths = np.linalg.norm(w) * np.linalg.norm(screened)
        descent = np.array(values)
        goal = descent[0] - DONE * (descent[0] - descent.min())
        found |= {
            f"train {name}": curve,
            f"test {name}": held,
            f"epochs {name}": int(np.argmax(descent <= goal)),
            f"last {name}": float(descent[-1]),
            f"descent {name}": descent[:: job.budget["epochs between looks"]].tolist(),
            f"cosine with screening {name}": float(w @ screened / max(lengths, 1e-300)),
        }
    return found


CONVERGENCE = Experiment(
    "sht-convergence", EPOCH_BUDGET, epoch_parts, compute_epochs, quick_minutes=0.3
)


EPOCHS = printed(PAPER, "Fig. 1")


def render_epochs(results: Results) -> Page:
    """Show epochs to nearly all of the descent, and the curves."""
    sheet = Sheet()
    for k in STARS:
        for name in (PUBLISHED, COMMON):
            for r in SHARES:
                values = results.values(f"epochs {name}", k_star=k, r=r)
                text = EPOCHS.get(f"r = {r:g}", {}).get("epochs") if name == PUBLISHED else None
                sheet.mean(f"k* = {k}", f"epochs, r = {r:g}, {name}", values, text, 0)
    names = ("epochs at r = 0.05", "at r = 0.5")
    for name in (PUBLISHED, COMMON):
        sheet.paired(_ends(results, name), names, "", 0, name)
    for r in (SHARES[0], SHARES[-1]):
        curves = [record[f"train {PUBLISHED}"] for record in results.select(r=r)]
        late = (np.array([c[len(c) * third // 3 - 1] for c in curves]) for third in (3, 2))
        names = ("training AUC after 300 epochs", "after 200")
        sheet.paired(late, names, "", 5, f"r = {r:g}, {PUBLISHED}")
    return sheet.page(_panels(results))


def _ends(results: Results, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the epochs at the smallest and at the largest share, of the same trials."""
    what = f"epochs {name}"
    ends = ([(what, {"k_star": k, "r": SHARES[at]}) for at in (0, -1)] for k in STARS)
    sides = [results.matched("trial", *pair) for pair in ends]
    rare, even = (np.concatenate(side) for side in zip(*sides, strict=True))
    return rare, even


def _panels(results: Results) -> list[Panel]:
    gap = results.budget["epochs between looks"]
    curves = [(f"k* = {k}, published step", k, f"train {PUBLISHED}") for k in STARS]
    curves.append(("k* = 20, one step", STARS[0], f"train {COMMON}"))
    curves.append(("k* = 20, test rows", STARS[0], f"test {PUBLISHED}"))
    panels = (_panel(results, *curve, gap) for curve in curves)
    return [panel for panel in panels if panel.series]


def _panel(results: Results, title: str, k: int, name: str, gap: int) -> Panel:
    series = []
    for r in SHARES:
        curves = [record[name] for record in results.select(k_star=k, r=r)]
        if curves:
            mean = np.mean(curves, axis=0)
            x = tuple(float(gap * (at + 1)) for at in range(mean.size))
            series.append(Series(f"r = {r:g}", x, tuple((mean / mean.max()).tolist())))
    return Panel(title, "epochs", "AUC / its maximum", tuple(series), log_x=False)


FIG_1 = Table.of("sht-fig-1", CONVERGENCE, render_epochs)
