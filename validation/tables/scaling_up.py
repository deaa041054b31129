"""The tables of ScalingUp."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split

from ...approx.drawn_pairs import draw_pairs
from ...approx.landmarks import choose_landmarks
from ...approx.nystrom import nystrom_map
from ...approx.subgradient import Adamax
from ...exact.api.cross_validation import cross_validated_path
from ...exact.api.solve import choose_solver
from ...exact.certificate.certificate import Certificate, full_certificate
from ...exact.pairs.auc import auc
from ...exact.problem.problem import Problem
from ...exact.spaces.kernels import get_kernel
from ..data import datasets
from ..data.printed_numbers import printed
from .table import (
    Budget,
    Features,
    Job,
    Measured,
    Page,
    Part,
    Sample,
    every_part,
    experiment,
    table,
    timed,
)

PAPER = "ScalingUp"
STEP = 0.05  # first step of Adamax, for features of order one
# The optimiser and the stopping rule of the authors' program, to the letter.
AUTHORS = Adamax(variant="scalar-norm", tol=0, keep="last", max_iter=50_000)
PATHS = (
    "In each fold one path of falling lam is followed, each solution certified and started from "
    "the one before; every point of the grid is run."
)


@dataclass(frozen=True, eq=False)
class Mapped:
    """Rows in features that are made when they are read, a block at a time."""

    X: np.ndarray
    transform: Features
    shape: tuple[int, int]

    def __getitem__(self, rows: slice) -> np.ndarray:
        return self.transform(self.X[rows])


class Fit(NamedTuple):
    """Weights of one fit, the seconds it took, and its certificate over all pairs."""

    w: np.ndarray
    seconds: float
    certificate: Certificate


def full_fit(problem: Problem, tol: float = 1e-6) -> Fit:
    solution, seconds = timed(lambda: choose_solver(problem, "auto", tol, None).solve(problem))
    return Fit(solution.w, seconds, solution.certificate)


def compared(
    job: Job, problem: Problem, seed: int, names: Sequence[str],
    auc_of: Callable[[np.ndarray], float], tol: float = 1e-6, before: float = 0.0,
) -> Measured:  # fmt: skip
    """Fit all pairs, then as many drawn ones as there are rows, by our rule and by the authors', as
    far as there are names. [ScalingUp, eq. (7), eq. (8)] Return seconds with those before, AUC in
    per cent, and how far the objective is above the optimum, relatively: a proved upper bound. The
    certificates of drawn pairs, over all pairs, are made after the clock has stopped."""
    full = full_fit(problem, tol)
    fits = [full]
    ours = Adamax(step=STEP, tol=1e-3, max_iter=job.budget["steps of Adamax, at most"])

    def incomplete(solver: Adamax) -> np.ndarray:
        drawn = draw_pairs(problem.pairs.positive, problem.n, seed)
        return solver.solve(problem.with_pairs(drawn)).w

    for solver in (ours, AUTHORS)[: len(names) - 1]:
        w, seconds = timed(lambda solver=solver: incomplete(solver))
        fits.append(Fit(w, seconds, full_certificate(problem, w)))
    found: Measured = {}
    for name, (w, seconds, certificate) in zip(names, fits, strict=True):
        low = max(full.certificate.dual, certificate.dual)
        found |= {f"{name}_seconds": seconds + before, f"{name}_auc": 100 * auc_of(w)}
        found[f"{name}_excess"] = (certificate.primal - low) / low if low > 0 else None
    return found


def loops(
    X: np.ndarray, positive: np.ndarray, lam: float, seed: int, steps: int
) -> dict[str, tuple[np.ndarray, float, int]]:
    """Return weights, seconds and bytes of bare loops of Adamax on drawn pairs, and on all of them,
    which the full model of the paper sums one by one."""
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
        w, seconds = timed(lambda pull=pull: descended(pull, steps))
        tracemalloc.start()
        descended(pull, 1)
        found[name] = w, seconds, tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return found


def loop_numbers(
    name: str, train: Sample, lam: float, seed: int, job: Job, test: Sample
) -> Measured:
    found: Measured = {}
    steps = job.budget["steps of the bare loops"]
    for pairs, (w, seconds, peak) in loops(train.X, train.positive, lam, seed, steps).items():
        found |= {f"{name}_{pairs}_seconds": seconds, f"{name}_{pairs}_bytes": peak}
        found[f"{name}_{pairs}_auc"] = 100 * test.auc(w)
    return found


def mapped(
    job: Job, way: str, train: Sample, gamma: float, seed: int, streamed: bool = False
) -> tuple[Features, Sample, float]:
    """Return a map to Nyström features, the rows in them, and the seconds that both took."""
    X, y = train.X, train.positive.astype(int)
    kernel, count = get_kernel("rbf", gamma, X.shape[1]), min(job.budget["landmarks"], y.size)

    def made() -> tuple[Features, Any]:
        features = nystrom_map(kernel, choose_landmarks(way, X, count, kernel, y, seed).rows)
        transform, shape = features.transform, (y.size, features.rank)
        return transform, Mapped(X, transform, shape) if streamed else transform(X)

    (transform, rows), seconds = timed(made)
    return transform, Sample(rows, train.positive), seconds


def chosen_lam(few: Sample, budget: Mapping[str, Any], seed: int) -> tuple[float, float, float]:
    """Return the lam of the highest held-out AUC along the exact path, the seconds, that AUC."""
    y, asked = few.positive.astype(int), {"cv": budget["folds"], "seed": seed % 2**31}
    lams = budget["grid of lam"]
    path, seconds = timed(lambda: cross_validated_path(few.X, y, lams, tol=1e-4, **asked))
    return path.lam_of("best"), seconds, float(path.mean_auc.max())


CHOOSE = "rows that choose gamma and lam, at most"


def chosen_width(
    job: Job, train: Sample, gammas: Iterable[float], purpose: str, seed: int
) -> tuple[float, float]:
    """Return gamma and lam of the highest held-out AUC, in Nyström features of the first rows."""
    few, best = train.part(slice(job.budget[CHOOSE])), (-np.inf, 0.0, 0.0)
    for gamma in gammas:
        _, rows, _ = mapped(job, "uniform", few, gamma, job.draw_seed(purpose))
        lam, _, value = chosen_lam(rows, job.budget, seed)
        best = max(best, (value, gamma, lam))
    return best[1:]


LARGE = 50_000


def draws(budget: Mapping[str, Any]) -> list[Part]:
    """Return a part for each draw: first one of each size, the large ones first."""
    many = budget["repetitions"]
    few = budget.get(f"repetitions from {LARGE:,} rows on", many)
    count = {n: many if n < LARGE else few for n in budget["training rows"]}
    beyond = budget["training rows beyond the paper's"]
    count |= dict.fromkeys(beyond, budget.get("repetitions beyond 100,000 rows", 1))
    every = product(range(max(count.values())), reversed(count))
    return [Part.of("n={n},rep={rep}", n=n, rep=rep) for rep, n in every if rep < count[n]]


def drawn(job: Job, model: Callable[[int, int], datasets.Dataset]) -> tuple[Sample, Sample, str]:
    """Return training and test rows of a draw, and the fingerprint of the first."""
    data = model(job["n"], job.draw_seed(f"train {job['n']} {job['rep']}"))
    new = model(job.budget["test rows"], job.draw_seed("test"))
    return Sample(data.X, data.is_positive), Sample(new.X, new.is_positive), data.sha256


def population(model: str, place: str) -> Measured:
    """Return the population AUC in per cent, the printed one, and its share of positives."""
    text = printed(PAPER, place)[model]["AUC of the true score"]
    share = datasets.share_for_auc(model, float(text) / 100)
    return {"exact": 100 * datasets.population_auc(model), "population": text, "share": 100 * share}


LAMS = [1e-4, 1e-3, 1e-2, 1e-1, 1.0]
# Weights within a gap of 1e-6 move, and their AUC by 2e-6 between two versions of a solver.
CLOSE = 5e-6

# [ScalingUp, Table 1]: the full model against the incomplete one, on the linear model.

PRINTED_1 = {int(n): row for n, row in printed(PAPER, "Table 1").items()}


@experiment(
    "scaling-up-table-1",
    draws,
    Budget("repetitions", 50, 5, 50),
    Budget("repetitions beyond 100,000 rows", "none", 1, 3),
    Budget("training rows", [*PRINTED_1], [*PRINTED_1], [*PRINTED_1]),
    Budget("training rows beyond the paper's", "none", [10**6, 10**7], [10**6, 10**7]),
    Budget("test rows", 25_000, 25_000, 25_000),
    Budget("grid of lam", None, LAMS, [1e-5, *LAMS]),
    Budget("folds", None, 3, 5),
    Budget("rows that choose lam, at most", "all", 10_000, 100_000),
    Budget("steps of Adamax, at most", None, 300, 1000),
    Budget("rows whose pairs are summed one by one, at most", 10_000, None, None, 10_000),
    Budget("steps of the bare loops", None, None, None, 200),
    Budget("repetitions of what is slow", 50, None, None, 10),
    search=PATHS,
    protocol=2,
    tolerance=CLOSE,
    quick_minutes=0.3,
    printed_minutes=25,
)
def compute_1(job: Job) -> Measured:
    n, rep, budget = job["n"], job["rep"], job.budget
    train, test, sha256 = drawn(job, datasets.linear)
    few = train.part(slice(budget["rows that choose lam, at most"]))
    lam, cv_seconds, _ = chosen_lam(few, budget, rep)
    found: Measured = {"lam": lam, "cv_seconds": cv_seconds, "sha256": sha256}
    problem, seed = train.problem("hinge", lam), job.draw_seed(f"pairs {n} {rep}")
    names = ("full", "incomplete", "authors")[: 3 if n <= max(PRINTED_1) else 1]
    if rep >= budget.get("repetitions of what is slow", 0):
        names = names[:2]
    elif n <= budget["rows whose pairs are summed one by one, at most"]:
        found |= loop_numbers("loop", train, lam, seed, job, test)
    found["true_auc"] = 100 * auc(test.X.sum(axis=1), test.positive)
    return found | compared(job, problem, seed, names, test.auc)


COLUMNS_1 = (
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


@table("scaling-up-table-1", "scaling-up-table-1")
def table_1(page: Page) -> None:
    excess = {"full": "full_excess", "incomplete": "incomplete_excess"}
    by_size(page, COLUMNS_1, PRINTED_1, excess, "{}_auc", ("full", "incomplete"))
    true = page.values("true_auc")
    page.known = population("linear", "below Table 1") | ({"true": true[0]} if true.size else {})


def by_size(
    page: Page, columns: Any, printed: Any, excess: Mapping[str, str], sides: Any, names: Any
) -> None:
    """Enter what is shown of each number of rows, and test all pairs against drawn ones."""
    for n in sorted({part.parameters["n"] for part in page.results.parts}):
        page.means(f"{n:,}", columns, printed.get(n, {}), n=n)
        for name, what in excess.items():
            page.largest(f"{n:,}", f"objective above optimum, {name}", what, n=n)
        page.paired(sides, names, "points of AUC", 4, f"n = {n:,}", n=n)


# [ScalingUp, Table 2]: the incomplete model with and without Nyström features, radial model.

PRINTED_2 = {int(n): row for n, row in printed(PAPER, "Table 2").items()}


@experiment(
    "scaling-up-table-2",
    draws,
    Budget("repetitions", 50, 3, 50),
    Budget(f"repetitions from {LARGE:,} rows on", 50, 1, 20),
    Budget("training rows", [*PRINTED_2], [*PRINTED_2], [*PRINTED_2]),
    Budget("training rows beyond the paper's", "none", [10**6, 10**7], [10**6, 10**7]),
    Budget("test rows", 25_000, 25_000, 25_000),
    Budget("landmarks", 300, 300, 300),
    Budget("landmarks are drawn", "by class", None, ["stratified", "uniform", "kmeans"]),
    Budget("gamma", None, [0.125, 0.5], [0.05, 0.125, 0.5, 2.0]),
    Budget("grid of lam", None, [1e-4, 1e-3, 1e-2], [1e-5, 1e-4, 1e-3, 1e-2, 1e-1]),
    Budget("folds", None, 3, 5),
    Budget(CHOOSE, "all", 2_000, 5_000),
    Budget("steps of Adamax, at most", None, 300, 1000),
    Budget("rows with the whole kernel, at most", 10_000, 100_000, 100_000),
    search=PATHS,
    tolerance=CLOSE,
    quick_minutes=5.8,
)
def compute_2(job: Job) -> Measured:
    """Fit all models to one draw, with the gamma and lam that the exact path chooses."""
    n, rep, budget = job["n"], job["rep"], job.budget
    train, test, sha256 = drawn(job, datasets.radial)
    gamma, lam = chosen_width(job, train, budget["gamma"], "landmarks of the choice", rep)
    found: Measured = {"lam": lam, "gamma": gamma, "sha256": sha256}
    beyond = n > max(PRINTED_2)
    seed, seed_of_landmarks = (job.draw_seed(f"{of} {n} {rep}") for of in ("pairs", "landmarks"))
    first, *others = budget.get("landmarks are drawn", ["uniform"])
    for way in (first, *([] if beyond else others)):
        end = "" if way == first else f" {way}"
        transform, rows, seconds = mapped(job, way, train, gamma, seed_of_landmarks, beyond)
        names = [f"full_nystrom{end}", f"nystrom{end}"][: 1 if beyond else 2]
        new, problem = test.mapped(transform), rows.problem("hinge", lam)
        found |= compared(job, problem, seed, names, new.auc, before=seconds)
    if n <= budget["rows with the whole kernel, at most"]:  # through its factor
        task, factoring = timed(lambda: train.kernel_machine("hinge", lam, gamma))

        def auc_of(w: np.ndarray) -> float:
            return auc(np.asarray(task.evaluate(task.lift(w), test.X)), test.positive)

        names = "full_kernel", "kernel"
        found |= compared(job, task.work, seed, names, auc_of, before=factoring)
        del found["full_kernel_excess"]  # which the evidence does not have
    found["true_auc"] = 100 * auc(np.square(test.X).sum(axis=1), test.positive)
    return found


COLUMNS_2 = (
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


@table("scaling-up-table-2", "scaling-up-table-2")
def table_2(page: Page) -> None:
    sides, names = ("full_nystrom_auc", "nystrom_auc"), ("all pairs", "incomplete, both Nyström")
    by_size(page, COLUMNS_2, PRINTED_2, {"Nyström": "nystrom_excess"}, sides, names)
    ends = {"stratified": "", "uniform": " uniform", "k-means": " kmeans"}
    for n, ways in product(PRINTED_2, combinations(ends, 2)):
        aucs = [f"nystrom{ends[way]}_auc" for way in ways]
        page.paired(aucs, ways, "points of AUC", 4, f"n = {n:,}, landmarks", n=n)
    page.known = population("radial", "below Table 2")


# [ScalingUp, Table 3]: linear and kernel models on the three real data sets.

SETS = {"skin": "Skin Segmentation", "bank": "Bank Marketing", "accelerometer": "Accelerometer"}
TEST_SHARE = 0.2


@experiment(
    "scaling-up-table-3",
    every_part("{set},split={rep}", datasets.TASKS, rep="splits", set=SETS),
    Budget("splits", 30, 3, 30),
    Budget("share of the test part", None, TEST_SHARE, TEST_SHARE),
    Budget("rows of skin", 100_000, 100_000, 100_000),
    Budget("training rows, at most", "all", 20_000, 100_000),
    Budget("landmarks", 300, 300, 300),
    Budget("landmarks are", "centres of k-means", None, None, ["kmeans", "uniform"]),
    Budget("gamma times the number of columns", None, [1.0], [0.25, 1.0, 4.0]),
    Budget("grid of lam", None, [1e-6, 1e-5, *LAMS[:4]], [1e-7, 1e-6, 1e-5, *LAMS]),
    Budget("folds", None, 3, 5),
    Budget(CHOOSE, "all", 3_000, 5_000),
    Budget("steps of Adamax, at most", None, 300, 1000),
    Budget("steps of the bare loops", None, None, None, 200),
    Budget("splits of what is slow", 30, None, None, 3),
    Budget("rows whose pairs are summed one by one, at most", "smaller", None, None, 10_000),
    search=PATHS,
    quick_minutes=0.9,
    printed_minutes=120,
)
def compute_3(job: Job) -> Measured:
    budget, (train, test) = job.budget, _split(job)
    lam, cv_seconds, _ = chosen_lam(train.part(slice(budget[CHOOSE])), budget, 0)
    n, d = train.X.shape
    found = {"n_train": n, "n_test": test.positive.size, "linear_lam": lam}
    found |= _fits(job, "linear", train, test, lam, 0.0)
    gammas = [share / d for share in budget["gamma times the number of columns"]]
    gamma, lam = chosen_width(job, train, gammas, "landmarks", 0)
    found |= {"radial_lam": lam, "gamma": gamma, "linear_cv_seconds": cv_seconds}
    seed = job.draw_seed(f"landmarks {job.part.key}")
    for at, way in enumerate(budget.get("landmarks are", ["uniform"])):
        transform, rows, seconds = mapped(job, way, train, gamma, seed)
        name = f"radial {way}" if at else "radial"
        found |= _fits(job, name, rows, test.mapped(transform), lam, seconds)
    return found


def _split(job: Job) -> tuple[Sample, Sample]:
    """Return training and test rows; columns standardised by the first."""
    data, many = datasets.load_real(job["set"], job.run.data_dir), job.budget["rows of skin"]
    X, y = data.X, data.is_positive
    rows = np.arange(y.size)
    if job["set"] == "skin" and y.size > many:
        seed = job.draw_seed("rows of skin")
        rows, _ = train_test_split(rows, train_size=many, stratify=y, random_state=seed)
    seed = job.draw_seed(f"split {job['set']} {job['rep']}")
    train, test = train_test_split(rows, test_size=TEST_SHARE, stratify=y[rows], random_state=seed)
    train = train[: job.budget["training rows, at most"]]  # in random order
    mean, spread = X[train].mean(axis=0), X[train].std(axis=0)
    scaled = Sample((X - mean) / np.where(spread > 0, spread, 1.0), y)
    return scaled.part(train), scaled.part(test)


def _fits(job: Job, name: str, train: Sample, test: Sample, lam: float, before: float) -> Measured:
    problem, seed = train.problem("hinge", lam), job.draw_seed(f"pairs {job.part.key}")
    slow = job["rep"] < job.budget.get("splits of what is slow", 0) and " " not in name
    names = [f"{name}_{fit}" for fit in ("full", "incomplete", "authors")][: 2 + slow]
    found = compared(job, problem, seed, names, test.auc, 1e-5, before)
    if slow:
        some = train.part(slice(job.budget["rows whose pairs are summed one by one, at most"]))
        found |= loop_numbers(name, some, lam, seed, job, test)
    return found


@table("scaling-up-table-3", "scaling-up-table-3")
def table_3(page: Page) -> None:
    for place, texts in printed(PAPER, "Table 3").items():
        name, kernel = place.split(", ")
        row = f"{SETS[name]}, {kernel}"
        columns = [(column, f"{kernel}_{end}", digits) for column, end, digits in _COLUMNS_3]
        page.means(row, columns, texts, set=name)
        excess = f"{kernel}_incomplete_excess"
        page.largest(row, "objective above optimum, incomplete", excess, set=name)
    # The kernel against the linear model, and all pairs against drawn ones.
    compared = [(f"radial_{pairs}", f"linear_{pairs}") for pairs in ("full", "incomplete")]
    compared += [(f"{kernel}_full", f"{kernel}_incomplete") for kernel in ("linear", "radial")]
    overlap = TEST_SHARE / (1 - TEST_SHARE)
    for (name, title), fits in product(SETS.items(), compared):
        names = [fit.replace("_", ", ").replace("full", "all pairs") for fit in fits]
        sides = [f"{fit}_auc" for fit in fits]
        page.paired(sides, names, "points of AUC", 3, title, overlap, set=name)


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
