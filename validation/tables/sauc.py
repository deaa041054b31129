"""The tables and figures of SAUC."""

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from ...exact.api.cross_validation import make_splits
from ...exact.api.path import regularization_path
from ...exact.estimators.thresholds import RULES
from ...exact.pairs.all_pairs import AllPairs, PairList
from ...exact.pairs.auc import auc
from ...exact.pairs.nearest_pairs import nearest_pairs
from ..data.datasets import Task, load_npz, xor_train_test
from ..data.printed_numbers import number, numbers, printed
from ..files.tables import read_arrays
from ..plots import Series
from .table import (
    Budget,
    Curves,
    Job,
    Measured,
    Page,
    Panel,
    Part,
    Results,
    Sample,
    every_part,
    experiment,
    race,
    table,
    timed,
)

# SVM, AUC-SVM and SAUC-SVM with their parameters chosen by cross-validated AUC. [SAUC, Section 4]

PAPER = "SAUC"
SVM, PLAIN, STRUCTURED, EXACT = "SVM", "AUC-SVM", "SAUC-SVM", "AUC-SVM, all pairs"
RAW, RAW_STRUCTURED = "AUC-SVM, raw units", "SAUC-SVM, raw units"
METHODS, LEAD, RAW_LEAD = (SVM, PLAIN, STRUCTURED), (STRUCTURED, PLAIN), (RAW_STRUCTURED, RAW)
TOY = numbers(PAPER, "Table 1")  # of each Gaussian: mean, two variances, covariance, rows
AUC = printed(PAPER, "Table 3")
PRINTED_TASKS = [name for name in AUC if name != "average"]

TASKS = {  # the labels of the anchors' class
    "automobile": Task("automobile", (1, 2, 3), missing="drop-rows"),
    "arrhythmia": Task("arrhythmia", (1,), drop=("J",), missing="drop-rows"),
    "bupa": Task("bupa", (1,)),
    "diabetes": Task("diabetes", (1,)),
    **{f"glass{k}": Task("glass", (y,)) for k, y in enumerate((1, 2, 3, 5, 6, 7), start=1)},
    "hepatitis": Task("hepatitis", (1,)),
    "ionosphere": Task("ionosphere", ("g",)),
    "spectf": Task("spectf", (0,)),
    **{f"tae{k}": Task("tae", (k,)) for k in (1, 2, 3)},
    "wdbc": Task("wdbc", ("M",)),
}


def load_task(name: str, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return rows (n, d), NaN where a value is missing, and the positive mask."""
    task = TASKS[name]
    path = folder / f"{task.file}.npz"
    if name == "hepatitis":
        arrays = read_arrays(path)
        return arrays["X"].astype(float), arrays["y"] == task.positive[0]
    data = load_npz(path, positive=task.positive, drop=task.drop, missing=task.missing)
    return np.asarray(data.X, dtype=float), data.is_positive


def half_split(positive: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of a random training half and of the rest, each class halved. Of an odd class
    one row more goes to training, by a coin."""
    train = []
    for side in (positive, ~positive):
        rows = rng.permutation(np.flatnonzero(side))
        train.append(rows[: (rows.size + int(rng.integers(2))) // 2])
    first = np.sort(np.concatenate(train))
    return first, np.setdiff1d(np.arange(positive.size), first)


def prepared(train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both parts with gaps filled by medians and standardised, both of the training rows."""
    middle = np.nan_to_num(np.nanmedian(train, axis=0))
    parts = [np.where(np.isnan(part), middle, part) for part in (train, test)]
    mean, spread = parts[0].mean(axis=0), parts[0].std(axis=0)
    unit = np.where(spread > 1e-12 * (1 + np.abs(mean)), spread, np.inf)
    return (parts[0] - mean) / unit, (parts[1] - mean) / unit


def unscaled(train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.nan_to_num(train), np.nan_to_num(test)


# Units of the columns and rule of the nearest pairs: the paper's, as far as it says, and others.
READINGS = ("raw, union", "raw, anchor", "standardised, union", "standardised, anchor")
OTHERS = ", other readings"
ALL = 0  # neighbours k that stands for all pairs
SEARCH = (
    "For each width and structure one certified path of falling lam = 1 / (C pairs) serves all C "
    "of a fold. A width and structure, or a C of the SVM, is left as soon as an AUC of 1 on all "
    "folds to come could not bring its mean to the best one: the choice is provably that of the "
    "whole grid."
)

CHOICE_TOL, FINAL_TOL = 1e-3, 1e-6  # relative gaps of the fits that choose and are shown
SVM_STEPS = 1_000_000


class Grid(NamedTuple):
    """What is tried. sigma is that of exp(-d^2 / (2 sigma^2)); the paper has no convention."""

    costs: tuple[float, ...]
    structures: tuple[float, ...]
    sigmas: tuple[float, ...]
    folds: int


def grid_of(budget: Mapping[str, Any], reading: str = "") -> Grid:
    """Return the grid of a budget; of all readings but the paper's own, a coarse one."""
    more = "" if reading in ("", READINGS[0]) else OTHERS
    costs, structures, sigmas = (
        tuple(map(float, budget.get(f"grid of {name}{more}", budget[f"grid of {name}"])))
        for name in ("C", "lambda", "sigma")
    )
    return Grid(costs, structures, sigmas, int(budget["folds"]))


@dataclass(frozen=True, eq=False)
class Sides:
    """Training and test rows, and the rule of the nearest pairs. "anchor" is the rule that fits the
    printed counts, "union" that of the paper's text."""

    train: Sample
    test: Sample
    rule: str = "anchor"

    def pairs(self, k: int) -> AllPairs | PairList:
        kept = "E" if self.rule == "anchor" else "none"
        X, positive = self.train.X, self.train.positive
        return AllPairs() if k == ALL else nearest_pairs(X, positive, k, self.rule, kept)


def pair_machine(
    sides: Sides,
    kernel: str,
    sigma: float,
    structure: float,
    costs: Iterable[float],
    k: int,
    tol: float = CHOICE_TOL,
) -> list[dict[str, float]]:
    """Return test AUC, gap, seconds, steps and pairs of AUC-SVM or SAUC-SVM, in the order of C."""
    pairs, train = sides.pairs(k), sides.train
    count, y = pairs.on(train.positive).count(), train.positive.astype(int)
    asked: dict[str, Any] = {"kernel": kernel, "structure": structure, "pairs": pairs, "tol": tol}
    asked |= {"gamma": None if kernel == "linear" else 1 / (2 * sigma**2), "method": "descent"}
    lams = [1 / (cost * count) for cost in sorted(costs)]
    path, seconds = timed(lambda: regularization_path(train.X, y, lams, positive=1, **asked))
    found = []
    for scores, point in zip(path.scores(sides.test.X), path.points, strict=True):
        gap, value = point.certificate.relative_gap or 0.0, auc(scores, sides.test.positive)
        one = {"auc": value, "gap": float(gap), "seconds": seconds / len(path.points)}
        found.append(one | {"steps": point.solution.n_iter, "pairs": count})
    return found


def svm(sides: Sides, kernel: str, sigma: float, cost: float) -> dict[str, float]:
    machine = SVC(C=cost, kernel=kernel, gamma=1 / (2 * sigma**2), max_iter=SVM_STEPS)
    with warnings.catch_warnings():  # SVM_STEPS is a budget, and the steps are said
        warnings.simplefilter("ignore", ConvergenceWarning)
        _, seconds = timed(lambda: machine.fit(sides.train.X, sides.train.positive))
    value = auc(machine.decision_function(sides.test.X), sides.test.positive)
    return {"auc": value, "seconds": seconds, "steps": int(machine.n_iter_[0])}


def folds_of(sides: Sides, folds: int, seed: int) -> list[Sides]:
    """Return stratified folds of the training rows, as many as the smaller class allows."""
    rows = sides.train
    count = max(min(folds, rows.positive.sum(), (~rows.positive).sum()), 2)
    splits = make_splits(int(count), rows.X, rows.positive, seed % 2**31)
    return [Sides(rows.part(train), rows.part(held), sides.rule) for train, held in splits]


def choice(
    sides: Sides, grid: Grid, seed: int, tried: list[Any], points: Callable[..., Any]
) -> tuple[Any, int]:
    """Return what has the highest mean AUC on held-out folds, and which of its variants."""
    folds = folds_of(sides, grid.folds, seed)

    def values(at: int, fold: int) -> list[float]:
        return [point["auc"] for point in points(folds[fold], *tried[at])]

    at, variant, _ = race(len(tried), len(folds), values)
    return tried[at], variant


def chosen_pair_machine(
    sides: Sides, kernel: str, grid: Grid, structures: Iterable[float], k: int, seed: int
) -> dict[str, float]:
    """Choose sigma, structure and C; fit, and test. sigma plays no part in the linear kernel."""
    costs, widths = sorted(grid.costs), (1.0,) if kernel == "linear" else grid.sigmas

    def points(part: Sides, sigma: float, structure: float) -> list[dict[str, float]]:
        return pair_machine(part, kernel, sigma, structure, costs, k)

    tried = list(product(widths, structures))
    (sigma, structure), variant = choice(sides, grid, seed, tried, points)
    cost = costs[variant]
    final = pair_machine(sides, kernel, sigma, structure, [cost], k, FINAL_TOL)[0]
    return final | {"sigma": sigma, "structure": structure, "cost": cost}


def all_machines(sides: Sides, kernel: str, grid: Grid, k: int, seed: int) -> Measured:
    """Return what SVM, AUC-SVM and SAUC-SVM do, with their parameters chosen alike."""
    tried = list(product((1.0,) if kernel == "linear" else grid.sigmas, sorted(grid.costs)))
    (sigma, cost), _ = choice(sides, grid, seed, tried, lambda part, *at: [svm(part, kernel, *at)])
    return {
        SVM: svm(sides, kernel, sigma, cost) | {"sigma": sigma, "cost": cost},
        PLAIN: chosen_pair_machine(sides, kernel, grid, [0.0], k, seed),
        STRUCTURED: chosen_pair_machine(sides, kernel, grid, grid.structures, k, seed),
    }


def flat(found: Mapping[str, Mapping[str, float]]) -> Measured:
    """Return what all machines gave, "what machine", and the largest gap."""
    named = {f"{what} {m}": value for m, held in found.items() for what, value in held.items()}
    return named | {"gap": max(held.get("gap", 0.0) for held in found.values())}


# [SAUC, Figs. 1 and 2]: what the structure does to the line between two Gaussians. The paper does
# not give them: these are so far apart that AUC-SVM is held by few pairs.

MEANS = ((0.0, 0.0), (1.6, 0.0))
COVARIANCE = ((0.3, 0.45), (0.45, 1.2))


def _drawn(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    root = np.linalg.cholesky(COVARIANCE).T
    X = np.concatenate([mean + rng.standard_normal((rows, 2)) @ root for mean in np.array(MEANS)])
    return X, np.arange(2 * rows) >= rows


# Weights within a gap of 1e-9 move by its root, and by 2e-4 between two versions of a solver.
@experiment(
    "sauc-geometry",
    every_part("draw={draw}", draw="draws"),
    Budget("draws", 1, 40, 400),
    Budget("training rows a class", None, 12, 12),
    Budget("test rows a class", None, 60, 60),
    Budget("C", None, 1.0, 1.0),
    Budget("lambda", None, 100.0, 100.0),
    tolerance=1e-3,
    quick_minutes=0.1,
)
def compute_geometry(job: Job) -> Measured:
    """Fit both machines to one draw; the first draw keeps its rows for the pictures."""
    rng = job.rng(f"draw {job['draw']}")
    X, positive = _drawn(rng, job.budget["training rows a class"])
    test, test_positive = _drawn(rng, job.budget["test rows a class"])
    lam = 1 / (job.budget["C"] * AllPairs().on(positive).count())
    found: Measured = {"gap": 0.0}
    for method, structure in ((PLAIN, 0.0), (STRUCTURED, job.budget["lambda"])):
        path = regularization_path(X, positive.astype(int), [lam], structure=structure, tol=1e-6)
        w = path.points[0].solution.w
        scores, shown = test @ w, X @ w
        found[f"auc {method}"] = auc(scores, test_positive)
        wrong = scores[test_positive][:, None] <= scores[~test_positive][None, :]
        found[f"wrong {method}"] = int(wrong.sum())
        margins = shown[positive][:, None] - shown[~positive][None, :]
        found[f"held {method}"] = int((margins <= 1 + 1e-3).sum())
        found[f"w {method}"] = w.tolist()
        found[f"cut {method}"] = float(RULES["midpoint"](shown, positive, None))
        found["gap"] = max(found["gap"], float(path.points[0].certificate.relative_gap or 0.0))
    if job["draw"] == 0:
        found |= {"train": X.tolist(), "test": test.tolist()}
    return found


@table("sauc-fig-1", "sauc-geometry")
def fig_1(page: Page) -> None:
    _geometry(page, "auc", "Fig. 1", 4, _rows)


@table("sauc-fig-2", "sauc-geometry")
def fig_2(page: Page) -> None:
    _geometry(page, "wrong", "Fig. 2 (the first)", 1, _pairs)


def _geometry(
    page: Page, what: str, place: str, digits: int, drawn: Callable[[dict[str, Any], str], Panel]
) -> None:
    rows = printed(PAPER, place)
    column = next(iter(rows[PLAIN]))
    for method in (PLAIN, STRUCTURED):
        page.mean(method, column, f"{what} {method}", rows[method][column], digits)
        page.mean(method, "training pairs with margin at most 1", f"held {method}", digits=1)
    page.paired(what + " {}", LEAD, column, digits + 1)
    if page.tests:
        axis, angles = np.linalg.eigh(COVARIANCE)[1][:, -1], []  # the clouds' long axis
        for method in LEAD:
            w = np.array([record[f"w {method}"] for record in page.results.select()])
            off = np.abs(w @ axis) / np.linalg.norm(w, axis=1)  # w is normal to the line
            angles.append(np.degrees(np.arcsin(np.minimum(off, 1.0))))
        page.paired(angles, LEAD, "degrees off the long axis", 2)
    for done in page.results.select(draw=0):
        page.panels += [drawn(done, side) for side in NAMED]


def points_of(name: str, X: np.ndarray) -> Series:
    x, y = X.round(4).T
    return Series(name, tuple(x.tolist()), tuple(y.tolist()))


def _lines(done: dict[str, Any], X: np.ndarray, through_origin: bool) -> tuple[Series, ...]:
    """Return the lines w'x = cut of both machines across the rows X, within their heights."""
    found, middle = [], X.mean(axis=0)
    for method in (PLAIN, STRUCTURED):
        w, cut = np.array(done[f"w {method}"]), 0.0 if through_origin else done[f"cut {method}"]
        direction = np.array([-w[1], w[0]]) / np.linalg.norm(w)
        foot = middle + (cut - w @ middle) / (w @ w) * w
        reach = np.abs((X - foot) @ direction).max()
        x, y = (foot + np.outer([-reach, reach], direction)).T.tolist()
        found.append(Series(method, tuple(x), tuple(y)))
    return tuple(found)


def _rows(done: dict[str, Any], side: str) -> Panel:
    X = np.array(done[side])
    points = tuple(map(points_of, ("negative", "positive"), np.split(X, 2)))
    lines = _lines(done, X, False)
    return Panel(f"{NAMED[side]} rows", "x1", "x2", lines, log_x=False, points=points)


def _pairs(done: dict[str, Any], side: str) -> Panel:
    negative, positive = np.split(np.array(done[side]), 2)
    z = (positive[:, None, :] - negative[None]).reshape(-1, 2)
    order = np.argsort(z @ np.array(done[f"w {PLAIN}"]), kind="stable")
    every = np.unique(np.linspace(0, len(z) - 1, 250).astype(int))
    shown = z[order[np.union1d(np.arange(50), every)]]
    lines, points = _lines(done, np.vstack([shown, [0.0, 0.0]]), True), points_of("pairs", shown)
    title, labels = f"{NAMED[side]} pairs", ("difference in x1", "in x2")
    return Panel(title, *labels, lines, log_x=False, points=(points,))


NAMED = {"train": "training", "test": "test"}

# [SAUC, Tables 3 and 4]: three machines on eighteen real tasks, both kernels.

SPLITS, K = "splits into halves", "neighbours k (0: all)"  # lines of budgets
NAMES = {"linear": "linear", "rbf": "Gaussian"}
KERNELS = tuple(NAMES)
POWERS = [1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 1e3]
SIGMAS = "2^-10, 2^-9, ..., 2^10"
WIDTHS = [2.0**power for power in range(-10, 11)]
SEARCHED = (
    Budget("folds", 5, 2, 5),
    Budget("grid of C", POWERS, [0.01, 1.0, 100.0], POWERS),
    Budget("grid of lambda", POWERS, [1.0, 1e3], [1e-3, 0.1, 10.0, 1e3], POWERS),
)
TUNED = (
    Budget("units and pairs", "not said; union", None, None, [*READINGS]),
    *SEARCHED,
    Budget("grid of sigma", WIDTHS, [2.0, 8.0], [0.5, 2.0, 4.0, 8.0, 32.0], WIDTHS),
    Budget(f"repetitions{OTHERS}", 10, None, None, 4),
    Budget(f"grid of lambda{OTHERS}", POWERS, None, None, [1e-3, 0.1, 10.0, 1e3]),
    Budget(f"grid of sigma{OTHERS}", SIGMAS, None, None, [0.5, 2.0, 8.0, 32.0, 128.0, 512.0]),
)


def read(
    key: str, tasks: Mapping[str, Task] | None = None, **axes: Any
) -> Callable[[Mapping[str, Any]], list[Part]]:
    """Return what makes the parts of each reading of a budget that has some, the paper's first."""
    every = every_part(key, tasks, **axes)

    def parts(budget: Mapping[str, Any]) -> list[Part]:
        made, readings = every(budget), budget.get("units and pairs")
        if readings is None:
            return made
        few = budget[f"repetitions{OTHERS}"]
        some = [p for p in made if p.parameters.get("split", p.parameters.get("draw")) < few]
        return [
            Part(f"{p.key},{r.replace(' ', '')}", {**p.parameters, "reading": r}, p.needs)
            for r in readings
            for p in (made if r == readings[0] else some)
        ]

    return parts


def own(results: Results, reading: str | None = None) -> Results:
    reading = reading or results.budget.get("units and pairs", [None])[0]
    kept = (part for part in results.parts if part.parameters.get("reading") == reading)
    return replace(results, parts=tuple(kept))


def reading_of(job: Job) -> str:
    return job.part.parameters.get("reading", "")


def split_sides(job: Job, reading: str = "") -> Sides:
    """Return the split of a task, by default with columns standardised and pairs of anchors."""
    name = job["set"]
    X, positive = load_task(name, job.file(TASKS[name].file).parent)
    train, test = half_split(positive, job.rng(f"split {name} {job['split']}"))
    units, _, rule = (reading or READINGS[-1]).partition(", ")
    left, right = (unscaled if units == "raw" else prepared)(X[train], X[test])
    return Sides(Sample(left, positive[train]), Sample(right, positive[test]), rule)


@experiment(
    "sauc-real",
    read("{set},{kernel},split={split}", TASKS, split=SPLITS, set=TASKS, kernel=KERNELS),
    Budget("splits into halves", 10, 3, 10),
    Budget("neighbours k", 10, 10, 10),
    *TUNED,
    search=SEARCH,
    quick_minutes=1.2,
    printed_minutes=400,
)
def compute_real(job: Job) -> Measured:
    name, kernel, k = job["set"], job["kernel"], job.budget["neighbours k"]
    reading = reading_of(job)
    sides, raw = split_sides(job, reading), split_sides(job, "raw, anchor")
    seed = job.draw_seed(f"folds {name} {job['split']}")
    grid = grid_of(job.budget, reading)
    found = all_machines(sides, kernel, grid, k, seed)
    # The paper does not have it: where there are readings, on the coarse grid.
    coarse = grid_of(job.budget, READINGS[-1]) if reading else grid
    found[EXACT] = chosen_pair_machine(sides, kernel, coarse, [0.0], ALL, seed)
    if kernel == "linear" and not reading:
        found[RAW] = chosen_pair_machine(raw, kernel, grid, [0.0], k, seed)
        found[RAW_STRUCTURED] = chosen_pair_machine(raw, kernel, grid, grid.structures, k, seed)
    rows, pairs = sides.train.positive.size, raw.pairs(k).on(raw.train.positive).count()
    return flat(found) | {"rows": rows, "raw pairs": pairs}


# Columns that the paper does not have.
ADDED = {"linear": (EXACT, RAW, RAW_STRUCTURED), "rbf": (EXACT,)}
PAIRS = (LEAD, (STRUCTURED, SVM), (EXACT, STRUCTURED), (EXACT, PLAIN))


@table("sauc-table-3", "sauc-real")
def table_3(page: Page) -> None:
    results = page.results = own(page.results)
    shown = [(kernel, method) for kernel in KERNELS for method in (*METHODS, *ADDED[kernel])]
    columns = {(kernel, method): f"{method} ({NAMES[kernel]})" for kernel, method in shown}
    for name in PRINTED_TASKS:
        for (kernel, method), column in columns.items():
            values = results.values(f"auc {method}", set=name, kernel=kernel)
            if values.size or method in METHODS:
                page.mean(name, column, values, AUC[name].get(column), 3)
    means = {}
    for kernel, m in columns:
        each = [results.values(f"auc {m}", set=name, kernel=kernel) for name in TASKS]
        means[kernel, m] = np.array([values.mean() for values in each if values.size])
    for at, column in columns.items():
        size, text = means[at].size, AUC["average"].get(column)
        if size or text:
            page.enter("average", column, text, means[at].mean() if size else None, None, size, 4)
    for kernel in KERNELS:
        text = f"{NAMES[kernel]} kernel"
        for names in (*PAIRS, *((RAW_LEAD,) if kernel == "linear" else ())):
            sides = [means[kernel, m] for m in names]
            page.paired(sides, names, before=f"{text}, means of the tasks")
        print_of = [columns[kernel, m] for m in LEAD]
        sides = [np.array([number(AUC[name][at]) for name in PRINTED_TASKS]) for at in print_of]
        page.paired(sides, LEAD, before=f"The printed means, {text}")
    one: dict[str, Any] = {"set": "wdbc", "kernel": "linear"}  # the paper speaks of this set
    for names in (LEAD, RAW_LEAD):
        page.paired("auc {}", names, before="wdbc, linear kernel", overlap=1.0, **one)
    gaps = results.values("gap")
    if gaps.size:
        steps = np.concatenate([results.values(f"steps {SVM}", kernel=k) for k in KERNELS])
        stopped = int((steps >= SVM_STEPS).sum())
        page.known = {"gap": gaps.max(), "stopped": stopped, "fits": steps.size}
        page.known["limit"] = SVM_STEPS


@table("sauc-table-4", "sauc-real")
def table_4(page: Page) -> None:
    page.results = own(page.results)
    counts = {"training rows": "rows", "pairs, standardised": f"pairs {PLAIN}"}
    counts["pairs, raw units"] = "raw pairs"
    for name, row in printed(PAPER, "Table 4").items():
        for column, what in counts.items():
            text = row.get(column, row["pairs"])
            page.mean(name, column, what, text, 0, set=name, kernel="linear")
        for kernel in KERNELS:
            columns = [(f"s, {m} ({NAMES[kernel]})", f"seconds {m}", 3) for m in (*METHODS, EXACT)]
            page.means(name, columns, row, set=name, kernel=kernel)


# [SAUC, Figs. 4 and 5]: four real tasks by the number of neighbours, and by lambda.

SELECTED = {"glass1": "linear", "glass4": "linear", "glass5": "rbf", "hepatitis": "rbf"}

KS = [5, 10, 15, 20, 25, 30, ALL]
LAMBDAS = [0.0, *(10.0**power for power in range(-5, 6))]


@experiment(
    "sauc-neighbours",
    read("{set},split={split},k={k:g}", TASKS, split=SPLITS, set=SELECTED, k=K),
    Budget("splits into halves", 10, 4, 10),
    Budget("neighbours k (0: all)", KS, [5, 10, 20, ALL], KS),
    Budget("units and pairs", None, None, [*READINGS]),
    *(replace(line, full=line.spent("printed"), printed=None) for line in TUNED[1:]),
    search=SEARCH,
    quick_minutes=0.3,
)
def compute_4(job: Job) -> Measured:
    name, reading = job["set"], reading_of(job)
    sides, grid = split_sides(job, reading), grid_of(job.budget, reading)
    seed = job.draw_seed(f"folds {name} {job['split']}")
    found = all_machines(sides, SELECTED[name], grid, job["k"], seed)
    share = found[PLAIN]["pairs"] / AllPairs().on(sides.train.positive).count()
    values = {f"auc {m}": v["auc"] for m, v in found.items()}
    return values | {"share": share, "gap": flat(found)["gap"]}


@experiment(
    "sauc-lambda",
    read("{set},split={split}", TASKS, split=SPLITS, set=SELECTED),
    Budget("splits into halves", 10, 10, 40),
    Budget("neighbours k", 10, 10, 10),
    Budget("units and pairs", None, [*READINGS[:1]], [*READINGS]),
    Budget(f"repetitions{OTHERS}", 10, 10, 40),
    Budget("C", 1.0, 1.0, 1.0),
    Budget("sigma", 256.0, 256.0, 256.0),
    Budget("lambda", LAMBDAS, LAMBDAS, LAMBDAS),
    quick_minutes=0.1,
)
def compute_5(job: Job) -> Measured:
    sides, budget = split_sides(job, reading_of(job)), job.budget
    fixed = (SELECTED[job["set"]], budget["sigma"])
    found: Measured = {}
    for lam in budget["lambda"]:
        point = pair_machine(sides, *fixed, lam, [budget["C"]], budget["neighbours k"], FINAL_TOL)
        found[f"auc {lam:g}"] = point[0]["auc"]
        found["gap"] = max(point[0]["gap"], found.get("gap", 0.0))
    return found


def label(k: int) -> str:
    return "all pairs" if k == ALL else f"k = {k}"


def by_k(page: Page, title: str, row: str, ks: list[int], digits: int, **wanted: Any) -> None:
    """Enter and draw the AUC of each machine over k in equal steps; the SVM's is a grey line."""
    curves: Curves = {method: [] for method in METHODS}
    for (at, k), method in product(enumerate(ks), METHODS):
        mean = page.mean(f"{row}{label(k)}", method, f"auc {method}", None, digits, k=k, **wanted)
        if mean:
            curves[method].append((at, mean[0]) if method == SVM else (at, *mean))
    ticks = tuple("all" if k == ALL else str(k) for k in ks)
    page.draw(title, ("k", "AUC"), curves, (SVM,), ticks)


@table("sauc-fig-4", "sauc-neighbours")
def fig_4(page: Page) -> None:
    results, readings = page.results, page.results.budget.get("units and pairs", [None])
    ks = sorted(results.budget[K], key=lambda k: k or 10**6)
    ends = ks[0], ks[-1]
    for reading, (name, kernel) in product(readings, SELECTED.items()):
        page.results, first = own(results, reading), reading == readings[0]
        before = name if first else f"{name}, {reading}"
        if first:
            by_k(page, f"{name}, {NAMES[kernel]}", f"{name} ({NAMES[kernel]}), ", ks, 3, set=name)
        for k in ks if first else ends:
            page.paired("auc {}", LEAD, before=f"{before}, {label(k)}", overlap=1.0, set=name, k=k)
        _ends_of_k(page, name, before, ends)


def _ends_of_k(page: Page, name: str, before: str, ends: tuple[int, int]) -> None:
    """Enter what the ends of the curves say of one task: each machine's rise, its lead, the SVM."""
    few, every = ({m: page.values(f"auc {m}", set=name, k=k) for m in METHODS} for k in ends)
    labels = (label(ends[1]), label(ends[0]))
    tested: list[Any] = [((every[m], few[m]), labels, m) for m in METHODS[1:]]
    tested += [((every[m], every[SVM]), (m, SVM), labels[0]) for m in METHODS[1:]]
    if len(every[PLAIN]) == len(few[PLAIN]):
        leads = tuple(side[STRUCTURED] - side[PLAIN] for side in (few, every))
        tested.append((leads, labels[::-1], f"lead of {STRUCTURED} over {PLAIN}"))
    for sides, names, what in tested:
        page.paired(sides, names, before=f"{before}, {what}", overlap=1.0)


INSIDE = ("best lambda in [0.001, 1000]", "best one outside")


@table("sauc-fig-5", "sauc-lambda")
def fig_5(page: Page) -> None:
    results, lambdas = page.results, page.results.budget["lambda"]
    # Every other power of ten is named; the first, 0, has none.
    powers = [round(np.log10(lam)) for lam in lambdas[1:]]
    ticks = ("0", *(f"1e{power}" if power % 2 else "" for power in powers))
    readings = results.budget["units and pairs"]
    for reading, (name, kernel) in product(readings, SELECTED.items()):
        first, read = reading == readings[0], own(results, reading)
        found = {lam: read.values(f"auc {lam:g}", set=name) for lam in lambdas}
        if first:
            column = f"{name} ({NAMES[kernel]})"
            rows = [(f"lambda = {lam:g}", values) for lam, values in found.items()]
            means = [page.mean(row, column, values, digits=3) for row, values in rows]
            points = [(at, *mean) for at, mean in enumerate(means) if mean]
            title, labels = f"{name}, {NAMES[kernel]}", ("lambda", "AUC")
            page.draw(title, labels, {STRUCTURED: points}, ticks=ticks)
        if not found[0.0].size:
            continue
        best = max(lambdas[1:], key=lambda lam, found=found: found[lam].mean())
        inside = [lam for lam in lambdas if 1e-3 <= lam <= 1e3]
        parts = (inside, [lam for lam in lambdas if lam not in inside])
        sides = [max((found[lam] for lam in part), key=np.mean) for part in parts]
        before = name if first else f"{name}, {reading}"
        names = (f"lambda = {best:g}", "lambda = 0")
        page.paired((found[best], found[0.0]), names, before=before, overlap=1.0)
        page.paired(sides, INSIDE, before=before, overlap=1.0)


# [SAUC, Tables 1 and 2, Fig. 2 (the second of two), Fig. 3]: the XOR problem.


@experiment(
    "sauc-toy",
    read("draw={draw},k={k}", draw="draws", k=K),
    Budget("draws", 1, 6, 20, 40),
    Budget(f"repetitions{OTHERS}", 1, None, None, 40),
    Budget("neighbours k (0: all)", KS, KS, KS),
    Budget("units and pairs", "union", None, None, [*READINGS[:2]]),
    *SEARCHED,
    Budget("grid of sigma", SIGMAS, [0.5, 1.0], [0.25, 0.5, 1.0, 2.0], WIDTHS[6:14]),
    Budget(f"grid of lambda{OTHERS}", POWERS, None, None, [1e-3, 0.1, 10.0, 1e3]),
    Budget(f"grid of sigma{OTHERS}", SIGMAS, None, None, [0.25, 0.5, 1.0, 2.0]),
    search=SEARCH,
    quick_minutes=0.5,
    printed_minutes=180,
)
def compute_toy(job: Job) -> Measured:
    data = xor_train_test(job.draw_seed(f"draw {job['draw']}"))
    train, test = (Sample(one.X, one.is_positive) for one in data)
    reading, k = reading_of(job), job["k"]
    sides = Sides(train, test, reading.partition(", ")[2] or "anchor")
    seed = job.draw_seed(f"folds {job['draw']}")
    found = all_machines(sides, "rbf", grid_of(job.budget, reading), k, seed)
    whole = 3200 if k == ALL else Sides(train, test, "union").pairs(k).on(train.positive).count()
    return flat(found) | {"pairs by the text": whole}


@experiment(
    "sauc-toy-data",
    lambda budget: [Part("moments", {"draws": budget["draws"]})],
    Budget("draws", 1, 1000, 10_000),
    quick_minutes=0.1,
)
def compute_data(job: Job) -> Measured:
    """Return the moments of each Gaussian over many draws, and the rows of the first."""
    every, seed = defaultdict(list), job.draw_seed("first")
    for draw in range(job["draws"]):
        for name, rows in gaussians(*xor_train_test((seed + draw) % 2**32)).items():
            spread = np.cov(rows.T)
            moments = (*rows.mean(axis=0), spread[0, 0], spread[1, 1], spread[0, 1], len(rows))
            every[name].append(moments)
    found: Measured = {}
    for name, moments in every.items():
        found[name] = np.mean(moments, axis=0).tolist()
        error = np.std(moments, axis=0, ddof=1) / np.sqrt(len(moments))
        found[f"error {name}"] = error.tolist()
    for side, data in zip(("train", "test"), xor_train_test(seed), strict=True):
        found[side] = data.X.tolist()
        found[f"{side} labels"] = data.y.tolist()
    return found


def gaussians(train: Any, test: Any) -> dict[str, np.ndarray]:
    """Return the rows of each Gaussian: a fifth for training, in the order of the table."""
    counts = np.array([int(moments[-1]) for moments in TOY.values()])
    sides = (train, counts // 5), (test, counts - counts // 5)
    parts = (np.split(data.X[: size.sum()], np.cumsum(size)[:-1]) for data, size in sides)
    return dict(zip(TOY, map(np.concatenate, zip(*parts, strict=True)), strict=True))


@table("sauc-table-1", "sauc-toy-data")
def table_1(page: Page) -> None:
    done: dict[str, Any] = next(page.results.select(), {"draws": 0})
    for name, row in printed(PAPER, "Table 1").items():
        ours, errors = (done.get(f"{of}{name}", [None] * 6) for of in ("", "error "))
        for at, (column, value) in enumerate(row.items()):
            error, digits = (errors[at], 4) if at < 5 else (None, 0)  # the last is a count
            text = value.replace("-", "−")
            page.enter(name, column, text, ours[at], error, done["draws"], digits)


@table("sauc-fig-2-toy", "sauc-toy-data")
def fig_2_toy(page: Page) -> None:
    centres = (
        Series("centres of class I", (-0.8, 0.8), (0.0, 0.0), True),
        Series("centres of class II", (0.0, 0.0), (-0.8, 0.8), True),
    )
    for done, side in product(page.results.select(), NAMED):
        X, y = np.array(done[side]), np.array(done[f"{side} labels"])
        points = (points_of("class II", X[y == 0]), points_of("class I", X[y == 1]))
        title = f"{NAMED[side]}: {len(y)} rows"
        page.panels.append(Panel(title, "x1", "x2", centres, log_x=False, points=points))


@table("sauc-table-2", "sauc-toy")
def table_2(page: Page) -> None:
    page.results = own(page.results)
    for k, shown in printed(PAPER, "Table 2").items():
        row, at = ("INF (all pairs)", ALL) if k == "80" else (f"k = {k}", int(k))
        columns = (("s", "seconds", 4), ("rows or pairs", "pairs", 0), ("steps", "steps", 1))
        for method, (title, what, digits) in product(METHODS, columns):
            values, column = page.values(f"{what} {method}", k=at), f"{title}, {method}"
            if method == SVM and what == "pairs":
                values = np.full(page.values(f"seconds {SVM}", k=at).size, 120.0)
            page.mean(row, column, values, f"{number(shown[column]):g}", digits)
        page.mean(row, "pairs by the rule in the text", "pairs by the text", digits=0, k=at)


@table("sauc-fig-3", "sauc-toy")
def fig_3(page: Page) -> None:
    results = page.results = own(page.results)
    ks = results.budget[K]
    by_k(page, "test rows", "", ks, 4)
    for k, names in product(ks, (LEAD, (STRUCTURED, SVM), (PLAIN, SVM))):
        page.paired("auc {}", names, before=label(k), k=k)
    names = ("SAUC-SVM at k = 5", "AUC-SVM with all pairs")
    few, every = (f"auc {STRUCTURED}", {"k": 5}), (f"auc {PLAIN}", {"k": ALL})
    page.paired(results.matched("draw", few, every), names)
    for first, last, ahead in ((5, 30, SVM), (5, ALL, STRUCTURED)):
        sides = [[results.values(f"auc {m}", k=k) for m in (ahead, PLAIN)] for k in (first, last)]
        names, before = (label(first), label(last)), f"lead of {ahead} over {PLAIN}"
        page.paired([one - plain for one, plain in sides], names, before=before)
    values = results.values(f"auc {PLAIN}", k=ALL)
    spread = f" by {values.std(ddof=1):.3f}" if len(values) > 2 else ""
    page.known = {"spread": spread and f"{spread} (standard deviation, all pairs)"}
