"""The tables of ScalingUp."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from ...approx.drawn_pairs import draw_pairs
from ...approx.landmarks import choose_landmarks, uniform
from ...approx.nystrom import nystrom_map
from ...approx.subgradient import Adamax
from ...exact.api.cross_validation import cross_validated_path
from ...exact.api.solve import choose_solver
from ...exact.certificate.certificate import Certificate, full_certificate
from ...exact.formulation.formulation import formulate
from ...exact.formulation.request import Request
from ...exact.losses.registry import get_loss
from ...exact.pairs.all_pairs import AllPairs
from ...exact.pairs.auc import auc
from ...exact.problem.problem import Problem, Ridge, pair_problem
from ...exact.spaces.blocks import StreamedRows
from ...exact.spaces.kernels import get_kernel
from ...exact.spaces.rows import Rows
from ..data.generators import linear, radial
from ..data.labelled_data import Dataset
from ..data.population import population_auc, share_for_auc
from ..data.printed_numbers import printed
from ..data.real_data import TASKS, load_real
from .table import Budget, Experiment, Job, Page, Part, Results, Sheet, Table, every_part

# What the tables of ScalingUp share: the penalty's grid, and the incomplete fit with its time.

PAPER = "ScalingUp"

STEP = 0.05  # First step of Adamax, for features of order one.

# The optimiser and the stopping rule of the authors' program, to the letter.
AUTHORS = Adamax(variant="scalar-norm", tol=0, keep="last", max_iter=50_000)


@dataclass(frozen=True, eq=False)
class Mapped:
    """Rows in features that are made when they are read, a block at a time: never all there."""

    X: np.ndarray
    transform: Callable[[np.ndarray], np.ndarray]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return self.X.shape[0], self.transform(self.X[:1]).shape[1]

    def __getitem__(self, rows: slice) -> np.ndarray:
        return self.transform(self.X[rows])


@dataclass(frozen=True, eq=False)
class Fit:
    """Weights of one fit, the seconds it took, and its certificate over all pairs."""

    w: np.ndarray
    seconds: float
    certificate: Certificate

    def auc(self, X: Any, positive: np.ndarray) -> float:
        """Return the AUC in per cent of these rows."""
        return auc_percent(X @ self.w, positive)

    def excess(self, best: Fit) -> float | None:
        """Return how far the objective is above the optimum, relatively: a proved upper bound."""
        low = max(best.certificate.dual, self.certificate.dual)
        return (self.certificate.primal - low) / low if low > 0 else None


def numbers_of(
    fits: Mapping[str, Fit], full: str, X: Any, positive: np.ndarray, before: float = 0.0
) -> dict[str, Any]:
    """Return seconds with those before, AUC on these rows, and excess over the full fit."""
    found: dict[str, Any] = {}
    for name, fit in fits.items():
        found[f"{name}_seconds"] = fit.seconds + before
        found[f"{name}_auc"] = fit.auc(X, positive)
        found[f"{name}_excess"] = fit.excess(fits[full])
    return found


PATHS = (
    "In each fold one path of falling lam is followed, each solution certified and started from "
    "the one before; every point of the grid is run."
)


def auc_percent(scores: Any, positive: np.ndarray) -> float:
    """Return the AUC in per cent."""
    return 100 * auc(np.asarray(scores), positive)


def hinge(X: Any, positive: np.ndarray, lam: float) -> Problem:
    """Return the problem over all pairs."""
    space = StreamedRows(X) if isinstance(X, Mapped) else Rows(X)
    return pair_problem(space, positive, AllPairs(), get_loss("hinge"), Ridge(lam))


def full_fit(problem: Problem, tol: float = 1e-6) -> Fit:
    """Return the certified optimum over all pairs."""
    start = time.process_time()
    solution = choose_solver(problem, "auto", tol, None).solve(problem)
    seconds = time.process_time() - start
    return Fit(solution.w, seconds, solution.certificate)


def adamax(max_iter: int) -> Adamax:
    """Return the optimiser of drawn pairs."""
    return Adamax(step=STEP, tol=1e-3, max_iter=max_iter)


def incomplete_fit(problem: Problem, seed: int, solver: Adamax) -> Fit:
    """Draw as many pairs as there are rows and descend. [ScalingUp, eq. (7), eq. (8)]

    The certificate, over all pairs, is made after the clock has stopped.
    """
    start = time.process_time()
    drawn = problem.with_pairs(draw_pairs(problem.pairs.positive, problem.n, seed))
    w = solver.solve(drawn).w
    seconds = time.process_time() - start
    return Fit(w, seconds, full_certificate(problem, w))


def loops(
    X: np.ndarray, positive: np.ndarray, lam: float, seed: int, steps: int
) -> dict[str, tuple[np.ndarray, float, int]]:
    """Return weights, seconds and bytes of one bare loop of Adamax on drawn pairs and on all.

    The full model of the paper sums its pairs one by one. Both take so many steps.
    """
    plus, minus = np.flatnonzero(positive), np.flatnonzero(~positive)
    drawn = draw_pairs(positive, positive.size, seed)

    def few(scores: np.ndarray) -> np.ndarray:
        active = scores[drawn.i] - scores[drawn.j] < 1
        pull = np.bincount(drawn.i, active, scores.size) - np.bincount(drawn.j, active, scores.size)
        return pull / drawn.i.size

    def every(scores: np.ndarray) -> np.ndarray:
        active, pull = scores[plus][:, None] - scores[minus] < 1, np.zeros(scores.size)
        pull[plus], pull[minus] = active.sum(axis=1), -active.sum(axis=0)
        return pull / active.size

    def descended(pull: Callable[[np.ndarray], np.ndarray], steps: int) -> np.ndarray:
        solver, w = Adamax(step=STEP), np.zeros(X.shape[1])
        scaled = solver.scaling(w.size)
        for _ in range(steps):
            w = w - solver.step * scaled(lam * w - pull(X @ w) @ X)
        return w

    found = {}
    for name, pull in (("drawn", few), ("listed", every)):
        start = time.process_time()
        w = descended(pull, steps)
        seconds = time.process_time() - start
        tracemalloc.start()
        descended(pull, 1)
        found[name] = w, seconds, tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return found


def chosen_lam(
    X: np.ndarray, positive: np.ndarray, grid: list[float], folds: int, seed: int
) -> tuple[float, float, float]:
    """Return the lam of the highest held-out AUC along the exact path, the seconds, that AUC."""
    start = time.process_time()
    path = cross_validated_path(
        X, positive.astype(int), grid, cv=folds, seed=seed % 2**31, tol=1e-4
    )
    return path.lam_of("best"), time.process_time() - start, float(path.mean_auc.max())


def chosen_width(
    X: np.ndarray,
    positive: np.ndarray,
    gammas: Iterable[float],
    budget: Mapping[str, Any],
    landmarks: np.ndarray,
    seed: int,
) -> tuple[float, float]:
    """Return gamma and lam of the highest held-out AUC, in Nyström features of some rows."""
    best = (-np.inf, 0.0, 0.0)
    for gamma in gammas:
        rows = nystrom_map(get_kernel("rbf", gamma, X.shape[1]), landmarks).transform(X)
        grid, folds = budget["grid of lam"], budget["folds"]
        lam, _, value = chosen_lam(rows, positive, grid, folds, seed)
        best = max(best, (value, gamma, lam))
    return best[1], best[2]


# [ScalingUp, Table 1]: the full model against the incomplete one, on the linear model.

PRINTED_1 = {int(n): row for n, row in printed(PAPER, "Table 1").items()}

BUDGET_1 = (
    Budget("repetitions", 50, 5, 50),
    Budget("repetitions beyond 100,000 rows", "none", 1, 3),
    Budget("training rows", [*PRINTED_1], [*PRINTED_1], [*PRINTED_1]),
    Budget("training rows beyond the paper's", "none", [10**6, 10**7], [10**6, 10**7]),
    Budget("test rows", 25_000, 25_000, 25_000),
    Budget(
        "grid of lam",
        "not printed",
        [1e-4, 1e-3, 1e-2, 1e-1, 1.0],
        [1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0],
    ),
    Budget("folds", "not printed", 3, 5),
    Budget("rows that choose lam, at most", "all", 10_000, 100_000),
    Budget("steps of Adamax, at most", "not printed", 300, 1000),
    Budget("rows whose pairs are summed one by one, at most", 10_000, None, None, 10_000),
    Budget("steps of the bare loops", "not printed", None, None, 200),
    Budget("repetitions of what is slow", 50, None, None, 10),
)


def draws(budget: Mapping[str, Any], count: Callable[[int], int]) -> list[Part]:
    """Return a part for each draw: first one of each size, the large ones first."""
    sizes = [*budget["training rows"], *budget["training rows beyond the paper's"]]
    return [
        Part(f"n={n},rep={rep}", {"n": n, "rep": rep})
        for rep in range(max(map(count, sizes)))
        for n in reversed(sizes)
        if rep < count(n)
    ]


def parts_1(budget: Mapping[str, Any]) -> list[Part]:
    """Return the draws, few of them beyond the paper's sizes."""
    far = budget["training rows beyond the paper's"]
    few, many = budget["repetitions beyond 100,000 rows"], budget["repetitions"]
    return draws(budget, lambda n: few if n in far else many)


def compute_1(job: Job) -> dict[str, Any]:
    """Fit both models to one draw, with the lam that cross-validation of the full model chooses."""
    n, rep, budget = job["n"], job["rep"], job.budget
    data = linear(n, job.draw_seed(f"train {n} {rep}"))
    test = linear(budget["test rows"], job.draw_seed("test"))
    first = min(n, budget["rows that choose lam, at most"])
    lam, cv_seconds, _ = chosen_lam(
        data.X[:first], data.is_positive[:first], budget["grid of lam"], budget["folds"], rep
    )
    problem = hinge(data.X, data.is_positive, lam)
    found: dict[str, Any] = {"lam": lam, "cv_seconds": cv_seconds, "sha256": data.sha256}
    solver, seed = adamax(budget["steps of Adamax, at most"]), job.draw_seed(f"pairs {n} {rep}")
    fits = {"full": full_fit(problem)}
    if n <= max(PRINTED_1):
        fits["incomplete"] = incomplete_fit(problem, seed, solver)
        if rep < budget.get("repetitions of what is slow", 0):
            fits["authors"] = incomplete_fit(problem, seed, AUTHORS)
            if n <= budget["rows whose pairs are summed one by one, at most"]:
                same = (data.X, data.is_positive, lam, seed, budget["steps of the bare loops"])
                for name, (w, seconds, peak) in loops(*same).items():
                    found |= {f"loop_{name}_seconds": seconds, f"loop_{name}_bytes": peak}
                    found[f"loop_{name}_auc"] = auc_percent(test.X @ w, test.is_positive)
    found |= numbers_of(fits, "full", test.X, test.is_positive)
    found["true_auc"] = auc_percent(test.X.sum(axis=1), test.is_positive)
    return found


EXPERIMENT_1 = Experiment(
    "scaling-up-table-1",
    BUDGET_1,
    parts_1,
    compute_1,
    PATHS,
    protocol=2,
    quick_minutes=0.3,
    printed_minutes=25,
)


def _population(model: str, printed: str) -> dict[str, Any]:
    """Return the population AUC in per cent, the printed one, and its share of positives."""
    share = share_for_auc(model, float(printed) / 100)
    return {"exact": 100 * population_auc(model), "population": printed, "share": 100 * share}


POPULATION_1 = printed(PAPER, "below Table 1")["linear"]["AUC of the true score"]


def render_1(results: Results) -> Page:
    """Show times and AUC at every size, the paper's dashes filled."""
    sheet = Sheet()
    sizes = dict.fromkeys(part.parameters["n"] for part in reversed(results.parts))
    for n in sorted(sizes):
        row, shown = f"{n:,}", PRINTED_1.get(n, {})
        sheet.means(results, row, _COLUMNS_1, shown, n=n)
        for column, name in _ADDED_1:
            sheet.largest(row, column, results.values(name, n=n))
        sides = [("full_auc", {"n": n}), ("incomplete_auc", {"n": n})]
        names = ("full", "incomplete")
        pairs = results.matched("rep", *sides)
        sheet.paired(pairs, names, "points of AUC", 4, f"n = {n:,}")
    true = results.values("true_auc")
    known = {"true": true[0]} if true.size else {}
    return sheet.page(**known, **_population("linear", POPULATION_1))


_COLUMNS_1 = (
    ("s, full", "full_seconds", 3),
    ("s, incomplete", "incomplete_seconds", 2),
    ("AUC %, full", "full_auc", 3),
    ("AUC %, incomplete", "incomplete_auc", 3),
    ("s, bare loop, pairs one by one", "loop_listed_seconds", 3),
    ("s, bare loop, drawn pairs", "loop_drawn_seconds", 4),
    ("AUC %, bare loop, pairs one by one", "loop_listed_auc", 3),
    ("AUC %, bare loop, drawn pairs", "loop_drawn_auc", 3),
    ("bytes, bare loop, pairs one by one", "loop_listed_bytes", 0),
    ("bytes, bare loop, drawn pairs", "loop_drawn_bytes", 0),
    ("s, incomplete, the authors' rule", "authors_seconds", 3),
    ("AUC %, incomplete, the authors' rule", "authors_auc", 3),
)
_ADDED_1 = (
    ("objective above optimum, full", "full_excess"),
    ("objective above optimum, incomplete", "incomplete_excess"),
)


TABLE_1 = Table.of("scaling-up-table-1", EXPERIMENT_1, render_1)


# [ScalingUp, Table 2]: the incomplete model with and without Nyström features, radial model.

PRINTED_2 = {int(n): row for n, row in printed(PAPER, "Table 2").items()}
LARGE = 50_000

BUDGET_2 = (
    Budget("repetitions", 50, 3, 20, 50),
    Budget("repetitions from 50,000 rows on", 50, 1, 10, 20),
    Budget("training rows", [*PRINTED_2], [*PRINTED_2], [*PRINTED_2]),
    Budget("training rows beyond the paper's", "none", [10**6, 10**7], [10**6, 10**7]),
    Budget("test rows", 25_000, 25_000, 25_000),
    Budget("landmarks", 300, 300, 300),
    Budget("landmarks are drawn", "by class", None, None, ["stratified", "uniform", "kmeans"]),
    Budget("gamma", "not printed", [0.125, 0.5], [0.05, 0.125, 0.5, 2.0]),
    Budget("grid of lam", "not printed", [1e-4, 1e-3, 1e-2], [1e-5, 1e-4, 1e-3, 1e-2, 1e-1]),
    Budget("folds", "not printed", 3, 5),
    Budget("rows that choose gamma and lam, at most", "all", 2_000, 5_000),
    Budget("steps of Adamax, at most", "not printed", 300, 1000),
    Budget("rows with the whole kernel, at most", 10_000, 100_000, 100_000),
)


def parts_2(budget: Mapping[str, Any]) -> list[Part]:
    """Return the draws, one of each size beyond the paper's."""
    far = budget["training rows beyond the paper's"]
    many, few = budget["repetitions"], budget[f"repetitions from {LARGE:,} rows on"]
    return draws(budget, lambda n: 1 if n in far else many if n < LARGE else few)


def compute_2(job: Job) -> dict[str, Any]:
    """Fit all models to one draw, with the gamma and lam that the exact path chooses."""
    n, rep, budget = job["n"], job["rep"], job.budget
    data = radial(n, job.draw_seed(f"train {n} {rep}"))
    test = radial(budget["test rows"], job.draw_seed("test"))
    gamma, lam = _choice(job, data)
    found: dict[str, Any] = {"lam": lam, "gamma": gamma, "sha256": data.sha256}
    kernel = get_kernel("rbf", gamma, 2)
    beyond, solver = n > max(PRINTED_2), adamax(budget["steps of Adamax, at most"])
    seed = job.draw_seed(f"pairs {n} {rep}")
    drawn, *others = budget.get("landmarks are drawn", ["uniform"])
    for way in (drawn, *([] if beyond else others)):
        start, end = time.process_time(), "" if way == drawn else f" {way}"
        landmarks = choose_landmarks(
            way, data.X, budget["landmarks"], kernel, data.y, job.draw_seed(f"landmarks {n} {rep}")
        )
        features = nystrom_map(kernel, landmarks.rows)
        rows = Mapped(data.X, features.transform) if beyond else features.transform(data.X)
        problem = hinge(rows, data.is_positive, lam)
        mapping = time.process_time() - start
        fits = {f"full_nystrom{end}": full_fit(problem)}
        if not beyond:
            fits[f"nystrom{end}"] = incomplete_fit(problem, seed, solver)
        new = features.transform(test.X)
        found |= numbers_of(fits, f"full_nystrom{end}", new, test.is_positive, mapping)
    if n <= budget["rows with the whole kernel, at most"]:
        found |= _whole_kernel(data, test, gamma, lam, seed, solver)
    found["true_auc"] = auc_percent(np.square(test.X).sum(axis=1), test.is_positive)
    return found


def _choice(job: Job, data: Dataset) -> tuple[float, float]:
    """Return gamma and lam of the highest held-out AUC, in Nyström features of some rows."""
    budget = job.budget
    some = slice(min(data.y.size, budget["rows that choose gamma and lam, at most"]))
    X, positive = data.X[some], data.is_positive[some]
    count = min(budget["landmarks"], X.shape[0])
    landmarks = uniform(X, count, job.draw_seed("landmarks of the choice")).rows
    return chosen_width(X, positive, budget["gamma"], budget, landmarks, job["rep"])


def _whole_kernel(
    data: Dataset, test: Dataset, gamma: float, lam: float, seed: int, solver: Adamax
) -> dict[str, Any]:
    """Fit the incomplete model and the full one over the whole kernel, through its factor."""
    start = time.process_time()
    task = formulate(data.X, data.y, Request.of(lam, kernel="rbf", gamma=gamma))
    factoring = time.process_time() - start
    fits = {"kernel": incomplete_fit(task.work, seed, solver), "full_kernel": full_fit(task.work)}
    found: dict[str, Any] = {}
    for name, fit in fits.items():
        scores = task.evaluate(task.lift(fit.w), test.X)
        found[f"{name}_seconds"] = fit.seconds + factoring
        found[f"{name}_auc"] = auc_percent(scores, test.is_positive)
    found["kernel_excess"] = fits["kernel"].excess(fits["full_kernel"])
    return found


EXPERIMENT_2 = Experiment(
    "scaling-up-table-2", BUDGET_2, parts_2, compute_2, PATHS, quick_minutes=5.8, printed_minutes=70
)


POPULATION_2 = printed(PAPER, "below Table 2")["radial"]["AUC of the true score"]


def render_2(results: Results) -> Page:
    """Show times and AUC at every size, with the certified optima next to them."""
    sheet = Sheet()
    sizes = [*results.budget["training rows"], *results.budget["training rows beyond the paper's"]]
    for n in sizes:
        row, shown = f"{n:,}", PRINTED_2.get(n, {})
        sheet.means(results, row, _COLUMNS_2, shown, n=n)
        sheet.largest(row, _EXCESS, results.values("nystrom_excess", n=n))
        sides = [(name, {"n": n}) for name in ("full_nystrom_auc", "nystrom_auc")]
        names = ("all pairs", "incomplete, both Nyström")
        pairs = results.matched("rep", *sides)
        sheet.paired(pairs, names, "points of AUC", 4, f"n = {n:,}")
    return sheet.page(**_population("radial", POPULATION_2))


_COLUMNS_2 = (
    ("s, without Nyström", "kernel_seconds", 2),
    ("s, Nyström", "nystrom_seconds", 2),
    ("AUC %, without Nyström", "kernel_auc", 3),
    ("AUC %, Nyström", "nystrom_auc", 3),
    ("s, all pairs, Nyström", "full_nystrom_seconds", 2),
    ("AUC %, all pairs, Nyström", "full_nystrom_auc", 3),
    ("AUC %, all pairs, whole kernel", "full_kernel_auc", 3),
    ("AUC %, true score", "true_auc", 3),
    ("AUC %, Nyström, uniform landmarks", "nystrom uniform_auc", 3),
    ("AUC %, Nyström, k-means", "nystrom kmeans_auc", 3),
)
_EXCESS = "objective above optimum, Nyström"


TABLE_2 = Table.of("scaling-up-table-2", EXPERIMENT_2, render_2)


# [ScalingUp, Table 3]: linear and kernel models on the three real data sets.

SETS = {"skin": "Skin Segmentation", "bank": "Bank Marketing", "accelerometer": "Accelerometer"}
TEST_SHARE = 0.2

BUDGET_3 = (
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


def parts_3(budget: Mapping[str, Any]) -> list[Part]:
    """Return a part for each split of each set: the splits first, sets within."""
    splits = range(budget["splits"])
    return every_part("{set},split={rep}", lambda name: TASKS[name].file, rep=splits, set=SETS)


def compute_3(job: Job) -> dict[str, Any]:
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
    fits = {f"{name}_incomplete": incomplete_fit(problem, seed, solver)}
    fits[f"{name}_full"] = full_fit(problem, 1e-5)
    found: dict[str, Any] = {}
    if job["rep"] < job.budget.get("splits of what is slow", 0) and " " not in name:
        fits[f"{name}_authors"] = incomplete_fit(problem, seed, AUTHORS)
        some = slice(job.budget["rows whose pairs are summed one by one, at most"])
        steps = job.budget["steps of the bare loops"]
        for model, (w, seconds, peak) in loops(X[some], y[some], lam, seed, steps).items():
            found |= {f"{name}_{model}_seconds": seconds, f"{name}_{model}_bytes": peak}
            found[f"{name}_{model}_auc"] = auc_percent(new @ w, truth)
    return found | numbers_of(fits, f"{name}_full", new, truth, before)


EXPERIMENT_3 = Experiment(
    "scaling-up-table-3",
    BUDGET_3,
    parts_3,
    compute_3,
    PATHS,
    quick_minutes=0.9,
    printed_minutes=120,
)


PRINTED_3 = printed(PAPER, "Table 3")


def render_3(results: Results) -> Page:
    """Show times and AUC on each set, with the optima over all pairs next to them."""
    sheet = Sheet()
    for place, texts in PRINTED_3.items():
        name, kernel = place.split(", ")
        row = f"{SETS[name]}, {kernel}"
        columns = [(column, f"{kernel}_{end}", digits) for column, end, digits in _COLUMNS_3]
        sheet.means(results, row, columns, texts, set=name)
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
    return sheet.page()


def _named(fit: str) -> str:
    return fit.replace("_", ", ").replace("full", "all pairs")


KERNELS = ("linear", "radial")
OVERLAP = TEST_SHARE / (1 - TEST_SHARE)
_COLUMNS_3 = (
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


TABLE_3 = Table.of("scaling-up-table-3", EXPERIMENT_3, render_3)
