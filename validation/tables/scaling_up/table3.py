"""[ScalingUp, Table 3]: linear and kernel models on the three real data sets."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from ....approx.landmarks import choose_landmarks, uniform
from ....approx.nystrom import nystrom_map
from ....exact.spaces.kernels import get_kernel
from ...data.printed_numbers import printed
from ...data.real_data import TASKS, load_real
from ..table import Budget, Experiment, Job, Page, Part, Results, Run, Sheet, Table
from .common import (
    AUTHORS,
    PAPER,
    PATHS,
    adamax,
    auc_percent,
    chosen_lam,
    chosen_width,
    full_fit,
    hinge,
    incomplete_fit,
    loops,
)

SETS = {"skin": "Skin Segmentation", "bank": "Bank Marketing", "accelerometer": "Accelerometer"}
TEST_SHARE = 0.2

BUDGET = (
    Budget("splits", 30, 3, 30),
    Budget("share of the test part", "not printed", TEST_SHARE, TEST_SHARE),
    Budget("rows of skin", 100_000, 100_000, 100_000),
    Budget("training rows, at most", "all", 20_000, 100_000),
    Budget("landmarks", 300, 300, 300),
    Budget("landmarks are", "centres of k-means", None, None, ["kmeans", "uniform"]),
    Budget("gamma times the number of columns", "not printed", [1.0], [0.25, 1.0, 4.0]),
    Budget(
        "grid of lam",
        "not printed",
        [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1],
        [1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0],
    ),
    Budget("folds", "not printed", 3, 5),
    Budget("rows that choose gamma and lam, at most", "all", 3_000, 5_000),
    Budget("steps of Adamax, at most", "not printed", 300, 1000),
    Budget("steps of the bare loops", "not printed", None, None, 200),
    Budget("splits of what is slow", 30, None, None, 3),
    Budget("rows whose pairs are summed one by one, at most", "smaller", None, None, 10_000),
)


def parts(run: Run, budget: Mapping[str, Any]) -> list[Part]:
    """Return a part for each split of each set: the splits first, sets within."""
    return [
        Part(f"{name},split={rep}", {"set": name, "rep": rep}, (TASKS[name].file,))
        for rep in range(budget["splits"])
        for name in SETS
    ]


def compute(job: Job) -> dict[str, Any]:
    """Fit both kernels, on drawn pairs and on all, to one split of a set."""
    budget = job.budget
    X, y, new, truth = _split(job)
    lam, cv_seconds, _ = chosen_lam(*_few(job, X, y), budget["grid of lam"], budget["folds"], 0)
    found: dict[str, Any] = {"n_train": y.size, "n_test": truth.size, "linear_lam": lam}
    found |= _fits(job, "linear", X, y, new, truth, lam, 0.0)
    gamma, lam = _width(job, X, y)
    found |= {"radial_lam": lam, "gamma": gamma, "linear_cv_seconds": cv_seconds}
    kernel, count = get_kernel("rbf", gamma, X.shape[1]), min(budget["landmarks"], y.size)
    seed = job.draw_seed(f"landmarks {job.part.key}")
    for at, way in enumerate(budget.get("landmarks are", ["uniform"])):
        start = time.process_time()
        landmarks = choose_landmarks(way, X, count, kernel, y, seed)
        features = nystrom_map(kernel, landmarks.rows)
        mapped = features.transform(X)
        mapping = time.process_time() - start
        name = "radial" if at == 0 else f"radial {way}"
        found |= _fits(job, name, mapped, y, features.transform(new), truth, lam, mapping)
    return found


def _split(job: Job) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return training rows and labels, test rows and labels; columns standardised by the first."""
    data = load_real(job["set"], job.run.data_dir)
    X, y = data.X, data.is_positive
    rows = np.arange(y.size)
    if job["set"] == "skin" and y.size > job.budget["rows of skin"]:
        seed = job.draw_seed("rows of skin")
        rows, _ = train_test_split(
            rows, train_size=job.budget["rows of skin"], stratify=y, random_state=seed
        )
    seed = job.draw_seed(f"split {job['set']} {job['rep']}")
    train, test = train_test_split(rows, test_size=TEST_SHARE, stratify=y[rows], random_state=seed)
    train = train[: job.budget["training rows, at most"]]  # in random order
    mean, spread = X[train].mean(axis=0), X[train].std(axis=0)
    scaled = (X - mean) / np.where(spread > 0, spread, 1.0)
    return scaled[train], y[train], scaled[test], y[test]


def _few(job: Job, X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    count = job.budget["rows that choose gamma and lam, at most"]
    return X[:count], y[:count]


def _width(job: Job, X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Return gamma and lam of the highest held-out AUC, in Nyström features of some rows."""
    budget, (few, labels) = job.budget, _few(job, X, y)
    landmarks = uniform(few, min(budget["landmarks"], labels.size), job.draw_seed("landmarks"))
    gammas = [share / X.shape[1] for share in budget["gamma times the number of columns"]]
    return chosen_width(few, labels, gammas, budget, landmarks.rows, 0)


def _fits(
    job: Job,
    name: str,
    X: np.ndarray,
    y: np.ndarray,
    new: np.ndarray,
    truth: np.ndarray,
    lam: float,
    before: float,
) -> dict[str, Any]:
    """Return seconds, AUC and excess of the incomplete and the full model."""
    problem = hinge(X, y, lam)
    seed = job.draw_seed(f"pairs {job.part.key}")
    solver = adamax(job.budget["steps of Adamax, at most"])
    fits = {"incomplete": incomplete_fit(problem, seed, solver), "full": full_fit(problem, 1e-5)}
    found: dict[str, Any] = {}
    if job["rep"] < job.budget.get("splits of what is slow", 0) and " " not in name:
        fits["authors"] = incomplete_fit(problem, seed, AUTHORS)
        some = slice(job.budget["rows whose pairs are summed one by one, at most"])
        steps = job.budget["steps of the bare loops"]
        for model, (w, seconds, peak) in loops(X[some], y[some], lam, seed, steps).items():
            found |= {f"{name}_{model}_seconds": seconds, f"{name}_{model}_bytes": peak}
            found[f"{name}_{model}_auc"] = auc_percent(new @ w, truth)
    for model, fit in fits.items():
        found[f"{name}_{model}_seconds"] = fit.seconds + before
        found[f"{name}_{model}_auc"] = fit.auc(new, truth)
        found[f"{name}_{model}_excess"] = fit.excess(fits["full"])
    return found


EXPERIMENT = Experiment(
    "scaling-up-table-3", BUDGET, parts, compute, PATHS, quick_minutes=0.9, printed_minutes=120
)


PRINTED = printed(PAPER, "Table 3")


def render(results: Results) -> Page:
    """Show times and AUC on each set, with the optima over all pairs next to them."""
    sheet = Sheet()
    for place, texts in PRINTED.items():
        name, kernel = place.split(", ")
        row = f"{SETS[name]}, {kernel}"
        for column, end, digits in _COLUMNS:
            values = results.values(f"{kernel}_{end}", set=name)
            if values.size or column in texts:
                sheet.mean(row, column, values, texts.get(column), digits)
        excess = results.values(f"{kernel}_incomplete_excess", set=name)
        sheet.largest(row, "objective above optimum, incomplete", excess)
    # The kernel against the linear model, and all pairs against drawn ones.
    compared = [(f"radial_{pairs}", f"linear_{pairs}") for pairs in ("full", "incomplete")]
    compared += [(f"{kernel}_full", f"{kernel}_incomplete") for kernel in KERNELS]
    for name, title in SETS.items():
        for fits in compared:
            sides = (results.values(f"{fit}_auc", set=name) for fit in fits)
            names = (_named(fits[0]), _named(fits[1]))
            sheet.paired(sides, names, "points of AUC", before=title, overlap=OVERLAP)
    return sheet.page(_DIFFERENCES)


def _named(fit: str) -> str:
    return fit.replace("_", ", ").replace("full", "all pairs")


KERNELS = ("linear", "radial")
OVERLAP = TEST_SHARE / (1 - TEST_SHARE)
_COLUMNS = (
    ("s", "incomplete_seconds", 2),
    ("AUC %", "incomplete_auc", 2),
    ("s, all pairs", "full_seconds", 2),
    ("AUC %, all pairs", "full_auc", 2),
    ("s, the authors' rule", "authors_seconds", 2),
    ("AUC %, the authors' rule", "authors_auc", 2),
    ("s, bare loop of 10,000 rows, pairs one by one", "listed_seconds", 2),
    ("s, bare loop of 10,000 rows, drawn pairs", "drawn_seconds", 3),
    ("AUC %, bare loop of 10,000 rows, pairs one by one", "listed_auc", 2),
    ("AUC %, bare loop of 10,000 rows, drawn pairs", "drawn_auc", 2),
    ("bytes, bare loop of 10,000 rows, pairs one by one", "listed_bytes", 0),
)
_DIFFERENCES = (
    "The paper says neither the share of the test part nor the width, the grid of lam or whether "
    "columns were standardised: ours are, by the training part's mean and deviation.",
    "Bank: which columns were dropped is not said (19 in the text, 18 in the table); here all but "
    "`duration`, categories as codes.",
    "The printed errors are in units of 0.001 of AUC, by the table's own note; ours are standard "
    "errors of the mean, in points. Tests allow for the overlap of the splits.",
    "All pairs with the radial kernel are fitted in the same Nyström features as the drawn ones: "
    "the two columns differ by the drawing alone. Landmarks are drawn uniformly; in print they are "
    "the centres of k-means, and the results are called not overly sensitive to the choice.",
    "The printed seconds are of another machine and may hold the cross-validation; ours hold the "
    "landmarks' features and one fit.",
)


TABLE_3 = Table(
    "scaling-up-table-3",
    PAPER,
    "Table 3",
    "Linear and kernel ROC-SVM on three real data sets",
    EXPERIMENT,
    render,
)
