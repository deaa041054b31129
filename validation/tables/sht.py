"""The tables and figures of SHT."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import numpy as np
from scipy import stats

from ...approx import sparse_baselines
from ...approx.fsauc import MultiStageSaddle
from ...approx.logistic_thresholding import hsg_ht, stoiht
from ...approx.sht import StochasticHardThresholding, sparse_problem
from ...approx.solam import StochasticSaddle
from ...approx.spam import StochasticProximal
from ...approx.thresholding import hard_threshold, largest
from ...exact.api.cross_validation import cross_validated_path, make_splits
from ...exact.api.path import regularization_path
from ...exact.errors import OverflowingError
from ...exact.subsets.best_subset import best_subset
from ..data.datasets import TASKS, load_real, sparse_mean_shift
from ..data.printed_numbers import printed
from ..files.tables import feature_names, read_arrays
from .table import (
    Budget,
    Curves,
    Job,
    Measured,
    Page,
    Part,
    Results,
    Sample,
    every_part,
    experiment,
    table,
)

# The methods of [SHT, Section IV], with the steps of the published programs, and what is added.

PAPER = "SHT"

STARS = (20, 40, 60, 80)
OURS = "SHT-AUC"
METHODS = (OURS, "SPAM-l1", "SPAM-l2", "FSAUC", "SOLAM", "StoIHT", "HSG-HT")
BOTH = "SPAM-l1/l2"
SETS = ("colon", "leukemia")
SHIFT = 0.3  # difference of the class means in a true feature


def true_auc(w: np.ndarray, support: np.ndarray) -> float:
    """Return the AUC of w on new rows of the model; 1/2 for w = 0."""
    size, gain = float(np.linalg.norm(w)), SHIFT * float(w[support].sum())
    return float(stats.norm.cdf(gain / (np.sqrt(2) * size))) if size > 0 else 0.5


def f1(w: np.ndarray, support: np.ndarray) -> float:
    found = np.flatnonzero(w)
    return 2 * float(np.isin(found, support).sum()) / (found.size + support.size)


Config = tuple[float, ...]
Folds = Sequence[tuple[np.ndarray, np.ndarray]]
Spend = Mapping[str, Any]

SEARCH = (
    "Every point of the grids is fitted in every fold, and none is left before its folds are done. "
    "AUC-SVM follows one certified path of falling lam in each fold."
)
DENSE, TOP, EXACT = "mean difference", "top-k mean difference", "AUC-SVM, exact"
FISHER = "top-k Fisher"
GRIDS = {  # lines of a budget
    OURS: ("k", "blocks"),
    **dict.fromkeys(("SPAM-l1", "SPAM-l2", BOTH), ("beta", "xi")),
    "FSAUC": ("R", "eta of FSAUC"),
    "SOLAM": ("R", "xi"),
    "StoIHT": ("k", "blocks"),
    "HSG-HT": ("k", "tau of HSG-HT"),
    DENSE: (),
    **dict.fromkeys((TOP, FISHER), ("k",)),
}


def grid(method: str, budget: Spend) -> list[Config]:
    axes = (budget[line] for line in GRIDS[method])
    return [tuple(map(float, point)) for point in product(*axes)]


def fit(method: str, rows: Sample, config: Config, spend: Spend) -> np.ndarray:
    """Return the weights; zero where the steps diverge, as they do for parts of the grids."""
    X, positive = rows.X, rows.positive
    if method == DENSE:
        return sparse_baselines.mean_difference(X, positive)
    first, k, second = config[0], int(config[0]), config[-1]
    if method == TOP:
        return sparse_baselines.top_mean_difference(X, positive, k)
    if method == FISHER:
        return sparse_baselines.top_fisher(X, positive, k)
    epochs, blocks = spend["epochs"], int(second)
    if method == "StoIHT":
        return stoiht(X, positive, k, n_blocks=blocks, step=1.0, max_epochs=epochs, intercept=0.0).w
    if method == "HSG-HT":
        more: Any = {"max_passes": epochs, "intercept": 0.0, "mode": "authors"}
        return hsg_ht(X, positive, k, first=second, step=3.0, **more).w
    loss, more = sparse_problem(X, positive), {"max_passes": spend["passes"]}
    if method == OURS:
        more = {"max_epochs": epochs, "tol": 0.0, "mode": "authors"}
        solver = StochasticHardThresholding(k, n_blocks=blocks, **more)
    elif method in ("FSAUC", "SOLAM"):
        kind = MultiStageSaddle if method == "FSAUC" else StochasticSaddle
        solver = kind(first, step=second, **more)
    else:
        scale = loss.share * (1 - loss.share)  # the programs minimise r (1 - r) F + penalty
        more |= {name: first / scale for name in ("l1", "l2") if name in method}
        solver = StochasticProximal(step=second * scale, **more)
    try:
        return solver.solve(loss).w
    except OverflowingError:
        return np.zeros(X.shape[1])


def fold_aucs(method: str, rows: Sample, folds: Folds, spend: Spend) -> np.ndarray:
    """Return the AUC on the held-out rows of each fold, for each point of the grid."""
    sides, configs = [(rows.part(a), rows.part(b)) for a, b in folds], grid(method, spend)
    return np.array([[held.auc(fit(method, of, c, spend)) for c in configs] for of, held in sides])


def exact_auc_svm(rows: Sample, folds: Folds, lams: Sequence[float]) -> tuple[np.ndarray, float]:
    """Return the certified optimum over all pairs with lam by the folds, and its relative gap. Each
    fold is one path of falling lam."""
    given = rows.X, rows.positive.astype(int)
    lam = cross_validated_path(*given, lams, cv=folds, tol=1e-3).lam_of("best")
    point = regularization_path(*given, [lam], tol=1e-6).points[0]
    return point.solution.w, float(point.certificate.relative_gap or 0.0)


def screened_subset(rows: Sample, by: np.ndarray, many: int, k: int) -> tuple[Any, Measured]:
    """Return the best k of the many features of largest `by`, as weights, and its proof."""
    screened, w = largest(by, many), np.zeros(rows.X.shape[1])
    best = best_subset(rows.X[:, screened], rows.positive, k, max_time=20.0)
    w[screened] = best.w
    return w, {"subset gap": best.gap, "subset proved": float(best.proved)}


# [SHT, Tables I and II, Fig. 2]: simulated data, how they are split, and what is measured.

N, D = 1000, 1000
RARE = 0.05
SMALL = 1e-3  # Weights up to this are cut for methods that are not sparse, as in the paper.

ORACLE, SWAPS, SUBSET = "true features known", "SHT-AUC, swaps", "best 8 of 30, proved"
ADDED = (DENSE, TOP, FISHER, EXACT, SWAPS, SUBSET, ORACLE)
CUT = ("SPAM-l1", "SPAM-l2", BOTH, "FSAUC", "SOLAM")

TENS = [*range(10, 101, 10)]
DECADES = [1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0]
POWERS = [2.0**power for power in range(-10, 11, 3)]


def synthetic_parts(budget: Spend) -> list[Part]:
    """Return a part for each data set and fold: first one fold of each."""
    cases = [(k_star, RARE) for k_star in STARS]
    cases += [(STARS[0], r) for r in budget["r"] if r != RARE]
    rare, common = budget["folds of a trial"], budget["folds of a trial, r above 0.05"]
    every = product(range(5), range(budget["trials (new data)"]), cases)
    key = "k={k_star},r={r:g},trial={trial},fold={fold}"
    return [
        Part.of(key, k_star=k_star, r=r, trial=trial, fold=fold)
        for fold, trial, (k_star, r) in every
        if fold < (rare if r == RARE else common)
    ]


@experiment(
    "sht-synthetic",
    synthetic_parts,
    Budget("trials (new data)", 5, 4, 5),
    Budget("folds of a trial", 5, 1, 5),
    Budget("folds of a trial, r above 0.05", 5, 1, 2, 5),
    Budget("r", "0.05, 0.10, ..., 0.50", [0.05, 0.2, 0.5], [0.05, 0.1, 0.2, 0.3, 0.4, 0.5]),
    Budget("inner folds", 5, 2, 3, 5),
    Budget("k", TENS, [20, 40, 80], TENS),
    Budget("blocks", [1, 2, 4, 8, 10], [1, 10], [1, 4, 10], [1, 2, 4, 8, 10]),
    Budget("tau of HSG-HT", None, [1, 100], [1, 10, 100, 1000]),
    Budget("epochs", 50, 20, 50, programs=True),
    Budget("beta", "1e-5, 1e-4, ..., 100", [1e-4, 1e-3], [1e-5, 1e-4, 1e-3, 1e-2], DECADES),
    Budget("xi", "1, 10, ..., 100", [1, 10], [1, 10, 55], [1, 10, 55, 100]),
    Budget("R", "0.1, 1, ..., 1e5", [1, 100], [0.1, 1, 10, 100], [0.1, 1, 10, 100, 1e3, 1e4, 1e5]),
    Budget("eta of FSAUC", "2^-10, 2^-9, ..., 2^10", [0.125, 8], [2**-6, 0.125, 1, 8], POWERS),
    Budget("passes", 50, 10, 20, programs=True),
    Budget("lam of AUC-SVM", "none", [1e-4, 1e-2], [1e-5, 1e-4, 1e-3, 1e-2]),
    search=SEARCH,
    quick_minutes=1.2,
    printed_minutes=300,
)
def compute_synthetic(job: Job) -> Measured:
    k_star, r, budget = job["k_star"], job["r"], job.budget
    seed = job.draw_seed(f"{k_star} {r:g} {job['trial']}")
    data = sparse_mean_shift(N, seed, d=D, k_star=k_star, r=r)
    assert data.support is not None
    train, test = make_splits(5, data.X, data.is_positive, seed % 2**31)[job["fold"]]
    mean, spread = data.X[train].mean(axis=0), data.X[train].std(axis=0)
    rows = Sample((data.X - mean) / (spread * np.sqrt(D)), data.is_positive)
    inside, new = rows.part(train), rows.part(test)
    splits = make_splits(budget["inner folds"], inside.X, inside.positive, job["fold"])
    methods = [*METHODS, DENSE, TOP, FISHER, *([BOTH] if k_star == STARS[0] else [])]
    weights, found = {}, {}
    for method in methods:
        at = fold_aucs(method, inside, splits, budget).mean(axis=0).argmax()
        best = grid(method, budget)[at]
        weights[method], found[f"config {method}"] = fit(method, inside, best, budget), list(best)
    k = int(found[f"config {OURS}"][0])
    loss, kept = sparse_problem(inside.X, inside.positive), max(k - 1, 1)  # published: k - 1
    swaps = StochasticHardThresholding(kept, max_epochs=100, refine="swaps").solve(loss)
    for name, refine in (("published", "none"), ("refit", "refit")):
        solver = StochasticHardThresholding(k, max_epochs=100, mode="authors", refine=refine)
        found[f"objective {name}"] = solver.solve(loss).objective
    weights[SWAPS], found["objective swaps"] = swaps.w, swaps.objective
    weights[SUBSET], proof = screened_subset(inside, np.abs(loss.delta), 30, 8)
    weights[ORACLE] = sparse_baselines.oracle_support(inside.X, inside.positive, data.support)
    weights[EXACT], found["gap"] = exact_auc_svm(inside, splits, budget["lam of AUC-SVM"])
    for method, w in weights.items():
        cut = np.where(np.abs(w) > SMALL, w, 0.0) if method in CUT else w
        score = f1(cut, data.support)
        found |= {
            f"auc {method}": new.auc(w),
            f"true {method}": true_auc(w / spread, data.support),
            f"f1 {method}": score,
            f"ji {method}": score / (2 - score),
            f"top {method}": f1(hard_threshold(w, data.support.size), data.support),
        }
    return found | proof


def by_trial(results: Results, name: str, k_star: int, r: float = RARE) -> np.ndarray:
    """Return a number's mean in each trial: folds of one trial share their data."""
    trials = dict.fromkeys(part.parameters["trial"] for part in results.parts)
    each = [results.values(name, k_star=k_star, r=r, trial=trial) for trial in trials]
    return np.array([values.mean() for values in each if values.size])


def _show(page: Page, place: str, methods: Any, columns: Any, tested: Any, rivals: Any) -> None:
    """Enter each column, named with a `k*` to be filled in, of each method at the four k*. SHT-AUC
    is tested against its rivals with the trials of all k* together."""
    for method, (column, measure), k_star in product(methods, columns.items(), STARS):
        name, shown = column.format(k_star), printed(PAPER, place).get(method, {})
        values = by_trial(page.results, f"{measure} {method}", k_star)
        page.mean(method, name, values, shown.get(name), 3)
    for (measure, what), rival in product(tested.items(), rivals):
        each = ([by_trial(page.results, f"{measure} {m}", k) for k in STARS] for m in (OURS, rival))
        page.paired(map(np.concatenate, each), (OURS, rival), "", 3, f"{what}, all four k*")


@table("sht-table-1", "sht-synthetic")
def table_1(page: Page) -> None:
    columns, tested = {"k* = {}": "auc", "k* = {}, new rows": "true"}, {"true": "AUC on new rows"}
    methods, rivals = (*METHODS, *ADDED), (*METHODS[1:], DENSE, TOP, EXACT, SWAPS)
    _show(page, "Table I", methods, columns, tested, rivals)


@table("sht-table-2", "sht-synthetic")
def table_2(page: Page) -> None:
    columns = {"F1, k* = {}": "f1", "JI, k* = {}": "ji", "F1 of the k* largest, k* = {}": "top"}
    tested = {"f1": "F1", "ji": "JI", "top": "F1 of the k* largest"}
    methods = (*METHODS, *(m for m in ADDED if m != ORACLE))
    _show(page, "Table II", methods, columns, tested, (*METHODS[1:], DENSE, TOP))


@table("sht-fig-2", "sht-synthetic")
def fig_2(page: Page) -> None:
    results, shares = page.results, page.results.budget["r"]

    def values(measure: str, method: str, r: Any) -> np.ndarray:
        return by_trial(results, f"{measure} {method}", STARS[0], r)

    for measure, title in (("auc", "AUC"), ("f1", "F1"), ("true", "AUC on new rows")):
        curves: Curves = {m: [] for m in (OURS, "SPAM-l1", "FSAUC", "StoIHT", "HSG-HT", DENSE)}
        for method, r in product((*METHODS, BOTH, DENSE, TOP), shares):
            mean = page.mean(method, f"{title}, r = {r:g}", values(measure, method, r), digits=3)
            if method in curves:
                curves[method].append((float(r), *mean))
        page.draw(title, ("share of positives r", title), curves, (DENSE,))
    last = shares[-1]
    for rival, r in product(("StoIHT", "HSG-HT", "SPAM-l2", "SOLAM", DENSE), (RARE, last)):
        sides = (values("true", m, r) for m in (OURS, rival))
        page.paired(sides, (OURS, rival), "in AUC on new rows", 3, f"r = {r:g}")
    if all(values("true", OURS, r).size for r in (RARE, last)):
        rare, most = (values("true", ORACLE, r).mean() for r in (RARE, last))
        ceiling = stats.norm.cdf(np.sqrt(STARS[0] / 2) * SHIFT)
        page.known = {"ceiling": ceiling, "rare": rare, "most": most, "last": last}


# [SHT, Section IV-B, Table III, Figs. 3 and 4]: two gene sets, as published and without leaks.
#
# A published trial shuffles the rows, of length one, and trains on 50, 32 or 33 of them positive.
# Each fold of "the" 50 chooses all parameters but k, which makes 5 results a trial. Two leaks: by a
# permutation applied twice the folds are cut out of other 50 rows, test rows among them; and k is
# that of the best mean AUC on the test rows. Without them the training rows choose everything.


def marker_columns(name: str, names: list[str]) -> dict[str, list[int]]:
    """Return number in the paper's table to columns of the data; without those not found. The
    markers are named by their probes in leukemia, by their columns, the first being 0, in colon."""
    known = names if name == "leukemia" else map(str, range(len(names)))
    places, found = {probe: at for at, probe in enumerate(known)}, {}
    for number, row in printed(PAPER, "Tables IV and V").items():
        if columns := [places[probe] for probe in row.get(name, "").split() if probe in places]:
            found[number] = columns
    return found


SPARSE = (OURS, "StoIHT", "HSG-HT")
GENE_SUBSET, RIGHT = "best 5 of 40, proved", "chosen on training rows"
TRAINING = 50
SHARE = (32, 33)
PAPER_K = [1, *range(5, 51, 5), *range(60, 101, 10), 200, 300, 400, 500]
OF_EACH = dict.fromkeys(SETS, 20)


def shuffled(positive: np.ndarray, rng: np.random.Generator, folds: int) -> tuple[Any, ...]:
    """Return training rows, test rows, the published folds with their slip, and right folds."""
    pieces = np.array_split(np.arange(TRAINING), folds)
    if np.count_nonzero(~positive) < 3 * folds:
        raise ValueError("too few negative rows for these folds")
    while True:
        order = rng.permutation(positive.size)
        slipped, train, test = order[:TRAINING], order[order[:TRAINING]], order[order[TRAINING:]]
        published = [(np.delete(slipped, piece), slipped[piece]) for piece in pieces]
        shared = positive[train].sum() in SHARE and 0 < positive[test].sum() < test.size
        if shared and all(2 < (~positive[held]).sum() < held.size for _, held in published):
            break
    splits = make_splits(folds, np.empty((TRAINING, 0)), positive[train], int(rng.integers(2**31)))
    return train, test, published, [(train[a], train[b]) for a, b in splits]


@experiment(
    "sht-genes",
    every_part("{set},shuffle={shuffle}", TASKS, shuffle=range(20), set=SETS),
    Budget("shuffles", OF_EACH, OF_EACH, OF_EACH),
    Budget("folds", 5, 5, 5),
    Budget("k", PAPER_K, [5, 20, 50, 100, 300], PAPER_K),
    Budget("blocks", "rows a block 1 to 39", [1, 4], [1, 2, 4, 10], [1, 2, 4, 10, 20, 40]),
    Budget("tau of HSG-HT", [1, 10, 100, 1000], [1, 100], [1, 10, 100, 1000]),
    Budget("epochs", 100, 20, 50, 100, programs=True),
    Budget("beta", "1e-5 to 0.07", [1e-4, 1e-2], [1e-5, 1e-4, 1e-3, 1e-2, 0.07]),
    Budget("xi", "1e-5, 1e-4, ..., 100", [1, 10], [1e-2, 1, 10, 100]),
    Budget("R", "1e-5 to 1e4", [1, 100], [1e-2, 1, 100, 1e4]),
    Budget("eta of FSAUC", "2^-10, 2^-9, ..., 2^10", [0.125, 8], [2**-6, 0.125, 8, 64]),
    Budget("passes", 100, 20, 50, programs=True),
    Budget("lam of AUC-SVM", "none", [1e-4, 1e-3, 1e-2], [1e-6, 1e-5, 1e-4, 1e-3, 1e-2]),
    search=SEARCH,
    quick_minutes=4.1,
    printed_minutes=100,
)
def compute_genes(job: Job) -> Measured:
    name, budget = job["set"], job.budget
    data = load_real(name, job.run.data_dir)
    X = np.asarray(data.X, dtype=float)
    rows = Sample(X / np.linalg.norm(X, axis=1, keepdims=True), data.is_positive)
    rng = job.rng(f"shuffle {name} {job['shuffle']}")
    train, test, published, right = shuffled(rows.positive, rng, budget["folds"])
    path = job.run.file(name)
    names = feature_names(read_arrays(path, ("feature_names",)), data.X.shape[1], path)
    columns = marker_columns(name, names)
    markers = sorted({column for group in columns.values() for column in group})
    found: Measured = {"markers": len(markers), "marker columns": columns}
    found["overlap"] = np.isin(test, np.concatenate([held for _, held in published])).mean()
    places = np.sort(train)
    inside, new = rows.part(places), rows.part(test)

    def tried(method: str) -> Measured:
        """Return the AUC with all chosen on the training rows; of the paper's methods, too, as
        published, one for each fold. That is by k where there is one, with what Figs. 3 and 4
        show."""
        configs = grid(method, budget)
        ks = len(budget["k"]) if method in SPARSE else 1  # k changes slowest in a grid
        starts = np.arange(ks)[:, None] * (len(configs) // ks)
        weights = np.array([fit(method, inside, config, budget) for config in configs])
        aucs = np.array([new.auc(w) for w in weights])

        def of_each_k(held: np.ndarray) -> np.ndarray:
            """Return the places of the configurations that are best on each fold: (k, folds)."""
            return held.reshape(len(held), ks, -1).argmax(axis=2).T + starts

        clean = fold_aucs(method, rows, right, budget)
        best = clean.mean(axis=0).argmax()
        found: Measured = {f"right {method}": aucs[best]}
        if method not in METHODS:
            return found
        leaky = of_each_k(fold_aucs(method, rows, published, budget))
        if method not in SPARSE:
            return found | {f"published {method}": aucs[leaky[0]]}
        genes = weights != 0
        hits = genes[:, markers].sum(axis=1)  # of those found, and of the markers
        shares = np.array([hits / np.maximum(genes.sum(axis=1), 1), hits / len(markers)])
        return found | {
            f"published {method}": aucs[leaky],
            f"unslipped {method}": aucs[of_each_k(clean)],
            f"k {method}": configs[best][0],
            f"genes {method}": np.flatnonzero(genes[best]),
            f"ratios {method}": shares[:, leaky].mean(axis=2).T,
        }

    for method in (*METHODS, DENSE, TOP, FISHER):
        found |= tried(method)
    local = [(np.searchsorted(places, a), np.searchsorted(places, b)) for a, b in right]
    w, found["gap"] = exact_auc_svm(inside, local, budget["lam of AUC-SVM"])
    found[f"right {EXACT}"] = new.auc(w)
    fisher = sparse_baselines.fisher_scores(inside.X, inside.positive)
    w, proof = screened_subset(inside, fisher, 40, 5)
    found[f"genes {GENE_SUBSET}"] = np.flatnonzero(w)
    return found | proof | {f"right {GENE_SUBSET}": new.auc(w)}


OVERLAP = {"colon": (62 - TRAINING) / TRAINING, "leukemia": (72 - TRAINING) / TRAINING}
COLUMNS = {"colon": 2000, "leukemia": 7129}


def table_of(results: Results, kind: str, method: str, name: str) -> np.ndarray:
    """Return the AUC by shuffle and k, averaged over the folds: (shuffles, k), k = 1 without."""
    found = results.values(f"{kind} {method}", set=name)
    many = len(results.budget["k"]) if method in SPARSE else 1
    return found.mean(axis=-1).reshape(len(found), many) if found.size else np.empty((0, many))


def by_test_k(results: Results, kind: str, method: str, name: str) -> np.ndarray:
    """Return the AUC of each shuffle at the k of the best mean on the test rows."""
    table = table_of(results, kind, method, name)
    return table[:, int(table.mean(axis=0).argmax())] if len(table) else np.empty(0)


@table("sht-table-3", "sht-genes")
def table_3(page: Page) -> None:
    genes, results = printed(PAPER, "Table III"), page.results
    methods = (*METHODS, DENSE, TOP, FISHER, EXACT, GENE_SUBSET)
    for method, name in product(methods, SETS):
        if method in METHODS:
            values = by_test_k(results, "published", method, name)
            page.mean(method, f"{name}, as published", values, genes[method][name], 4)
        page.mean(method, f"{name}, {RIGHT}", f"right {method}", digits=4, set=name)
        if method in SPARSE:
            leak = by_test_k(results, "unslipped", method, name)
            page.mean(method, f"{name}, only k on test rows", leak, digits=4)
    for name in SETS:
        more: dict[str, Any] = {"overlap": OVERLAP[name], "set": name}
        for method in (*SPARSE, "SPAM-l1", "FSAUC"):
            sides = (by_test_k(results, "published", method, name), f"right {method}")
            page.paired(sides, ("as published", RIGHT), before=f"{name}, {method}", **more)
        for rival in methods[1:]:
            page.paired("right {}", (OURS, rival), before=f"{name}, {RIGHT}", **more)
    proved = page.values("subset proved")
    if proved.size:
        page.known = {"proved": int(proved.sum()), "tried": proved.size}
        page.known["gap"] = page.values("gap").max()


@table("sht-fig-3", "sht-genes")
def fig_3(page: Page) -> None:
    ks = [float(k) for k in page.results.budget["k"]]
    for name in SETS:
        curves: Curves = {}
        for method in SPARSE:
            row, found = f"{name}, {method}", table_of(page.results, "published", method, name)
            at_k = zip(ks, found.T, strict=True)
            curves[method] = [(k, *page.mean(row, f"k = {k:g}", at, digits=3)) for k, at in at_k]
            if 500 in ks and len(found):
                near = np.array([30 <= k <= 100 for k in ks])
                best = [found[:, (found.mean(axis=0) * some).argmax()] for some in (near, ~near)]
                ends = [found[:, ks.index(k)] for k in (500, 300)]
                more: Any = {"before": row, "overlap": OVERLAP[name]}
                page.paired(ends, ("k = 500", "k = 300"), **more)
                page.paired(best, ("best k from 30 to 100", "best other k"), **more)
        levels = ("SPAM-l1", "SOLAM")
        for method in levels:
            if (values := by_test_k(page.results, "published", method, name)).size:
                curves[method] = [(k, float(values.mean())) for k in (ks[0], ks[-1])]
        page.draw(name, ("k", "AUC"), curves, levels, log_x=True)


@table("sht-fig-4", "sht-genes")
def fig_4(page: Page) -> None:
    ks = [float(k) for k in page.results.budget["k"]]
    for name in SETS:
        markers, curves = page.values("markers", set=name), Curves()
        if not markers.size:
            continue
        shares = {m: page.values(f"ratios {m}", set=name) for m in SPARSE}  # shuffles, k, sides
        for method, found in shares.items():
            sides = product(enumerate(ks), enumerate(("of those found", "of the markers")))
            for (at, k), (side, what) in sides:
                page.mean(f"{name}, {method}", f"{what}, k = {k:g}", found[:, at, side], digits=3)
            curves[method] = [*zip(ks, found.mean(axis=0)[:, 0].tolist(), strict=True)]
        for rival in SPARSE[1:]:
            sides = [shares[m][:, [k == 30 for k in ks], 0].ravel() for m in (OURS, rival)]
            page.paired(sides, (OURS, rival), "", 4, f"{name}, k = 30", 1 / OVERLAP[name])
        chance = markers[0] / COLUMNS[name]
        curves["chance"] = [(k, chance) for k in (ks[0], ks[-1])]
        page.draw(name, ("k", "markers / genes found"), curves, ("chance",), log_x=True)


@table("sht-tables-4-5", "sht-genes")
def lists(page: Page) -> None:
    shared = []  # of the best five of two shuffles of a set
    for name in SETS:
        records = list(page.results.select(set=name))
        for method in (OURS, GENE_SUBSET) if records else ():
            counts = Counter(gene for record in records for gene in record[f"genes {method}"])
            markers = records[-1]["marker columns"].items()
            marks = {at: f", marker {number}" for number, places in markers for at in places}
            for rank, (column, times) in enumerate(counts.most_common(8), start=1):
                text = f"{column + 1} ({times} of {len(records)}){marks.get(column, '')}"
                page.enter(f"{name}, {method}", f"no. {rank}", None, text)
        best = [set(record[f"genes {GENE_SUBSET}"]) for record in records]
        shared += [len(a & b) for a, b in combinations(best, 2)]
    if shared:
        page.known = {"shared": float(np.mean(shared))}


# [SHT, Fig. 1]: AUC of SHT-AUC by epochs, at three shares of positives.

SHARES = [0.05, 0.25, 0.5]
PUBLISHED, COMMON = "step r (1 - r), as published", "one step for all r"


@experiment(
    "sht-convergence",
    every_part("k={k_star},r={r:g},trial={trial}", trial="trials", k_star=STARS, r="r"),
    Budget("trials", 1, 1, 5),
    Budget("epochs", 300, 300, 300),
    Budget("epochs between looks", "1", 20, 5),
    Budget("r", SHARES, SHARES, SHARES),
    Budget("rows of a batch", 50, 50, 50),
    quick_minutes=0.3,
)
def compute_epochs(job: Job) -> Measured:
    """Run SHT-AUC with k = k* and both steps, looking at AUC and objective on the way. The weights
    at the end are compared with the k features of largest mean difference."""
    k, r, each = job["k_star"], job["r"], job.budget["epochs between looks"]
    seed = job.draw_seed(f"{k} {r:g} {job['trial']}")
    data = sparse_mean_shift(1000, seed, d=1000, k_star=k, r=r, normalize=True)
    split = make_splits(5, data.X, data.is_positive, seed % 2**31)[0]
    train, test = map(Sample(data.X, data.is_positive).part, split)
    loss = sparse_problem(train.X, train.positive)
    screened = sparse_baselines.top_mean_difference(loss.X, loss.positive, k)
    found: Measured = {}
    for name, factor in ((PUBLISHED, 1.0), (COMMON, 0.0475 / (r * (1 - r)))):  # that of r = 0.05
        w, values, curve, held = np.zeros(1000), [1.0], [], []
        options: Any = {"block_size": job.budget["rows of a batch"], "step": factor, "tol": 0.0}
        # The published configuration keeps one feature less than it is given.
        solver = StochasticHardThresholding(k + 1, mode="authors", max_epochs=each, **options)
        for look in range(job.budget["epochs"] // each):
            solution = replace(solver, seed=look).solve(loss, w)
            w = solution.w
            values += [line.objective for line in solution.history[1:]]
            curve.append(train.auc(w))
            held.append(test.auc(w))
        lengths = np.linalg.norm(w) * np.linalg.norm(screened)
        descent = np.array(values)
        goal = descent[0] - 0.95 * (descent[0] - descent.min())
        found |= {
            f"train {name}": curve,
            f"test {name}": held,
            f"epochs {name}": np.argmax(descent <= goal),
            f"last {name}": descent[-1],
            f"descent {name}": descent[::each],
            f"cosine with screening {name}": w @ screened / max(lengths, 1e-300),
        }
    return found


@table("sht-fig-1", "sht-convergence")
def fig_1(page: Page) -> None:
    results, text = page.results, printed(PAPER, "Fig. 1")
    for k, name, r in product(STARS, (PUBLISHED, COMMON), SHARES):
        shown = text.get(f"r = {r:g}", {}).get("epochs") if name == PUBLISHED else None
        column = f"epochs, r = {r:g}, {name}"
        page.mean(f"k* = {k}", column, f"epochs {name}", shown, 0, k_star=k, r=r)
    for name in (PUBLISHED, COMMON):
        what = f"epochs {name}"
        ends = ([(what, {"k_star": k, "r": SHARES[at]}) for at in (0, -1)] for k in STARS)
        sides = zip(*(results.matched("trial", *pair) for pair in ends), strict=True)
        page.paired(map(np.concatenate, sides), ("epochs at r = 0.05", "at r = 0.5"), "", 0, name)
    for r in (SHARES[0], SHARES[-1]):
        curves = [record[f"train {PUBLISHED}"] for record in results.select(r=r)]
        late = (np.array([c[len(c) * third // 3 - 1] for c in curves]) for third in (3, 2))
        names = ("training AUC after 300 epochs", "after 200")
        page.paired(late, names, "", 5, f"r = {r:g}, {PUBLISHED}")
    panels = [(f"k* = {k}, published step", k, f"train {PUBLISHED}") for k in STARS]
    panels.append(("k* = 20, one step", STARS[0], f"train {COMMON}"))
    panels.append(("k* = 20, test rows", STARS[0], f"test {PUBLISHED}"))
    gap = float(results.budget["epochs between looks"])
    for title, k, name in panels:
        curves = {}
        for r in SHARES:
            if lines := [record[name] for record in results.select(k_star=k, r=r)]:
                mean = np.mean(lines, axis=0)
                heights = enumerate((mean / mean.max()).tolist(), start=1)
                curves[f"r = {r:g}"] = [(gap * at, y) for at, y in heights]
        page.draw(title, ("epochs", "AUC / its maximum"), curves)
