"""The tables and the figure of Nonlinear."""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
from sklearn.kernel_approximation import RBFSampler
from sklearn.model_selection import train_test_split

from ...approx.bandwidth import gamma_mean_distance
from ...approx.landmarks import kmeans
from ...approx.newton.truncated_newton import TruncatedNewton
from ...approx.nsauc import PairSGD, Walk, mean_square_size, random_pairs, starting_time
from ...approx.nystrom import nystrom_map
from ...approx.oam import OnlineAUC
from ...approx.online import from_rows
from ...approx.solam import StochasticSaddle
from ...exact.api.cross_validation import cross_validated_path, make_splits
from ...exact.pairs.auc import auc
from ...exact.spaces.kernels import get_kernel
from ..data.datasets import TASKS, load_real
from ..data.printed_numbers import printed
from .scaling_up import full_fit
from .table import (
    Budget,
    Curves,
    Features,
    Job,
    Measured,
    Page,
    Part,
    Sample,
    every_part,
    experiment,
    race,
    table,
    timed,
)

# The sets of [Nonlinear, Table 1]: what is printed of them, and their splits here.

PAPER = "Nonlinear"
PRINTED = printed(PAPER, "Table 1")
LABELS = {name: name for name in PRINTED} | {  # two sets are not the paper's row for row
    "covtype": "covtype, sample of 258,565 rows",
    "cod-rna": "cod-rna, without its third file",
}
PUBLISHED = ("usps", "ijcnn1")  # test parts that are used as in the paper; others are drawn
TEST_SHARE = 0.2
SETS = tuple(name for name in PRINTED if name not in ("acoustic", "protein"))  # not to be had


def overlap(name: str) -> float:
    """Return test rows over training rows of random splits; 0 where the parts are given."""
    return TEST_SHARE / (1 - TEST_SHARE) * (name not in PUBLISHED)


def split(job: Job) -> tuple[Sample, Sample]:
    """Return training and test rows, cut to the budget's and standardised by the training rows.
    Where the test part is published, other splits draw other training rows, if there are more."""
    name, budget, folder = job["set"], job.budget, job.run.data_dir
    rng, data = job.rng(f"split {name} {job['rep']}"), load_real(name, folder)
    X, y = data.X, data.is_positive
    if name in PUBLISHED:
        many = load_real(name, folder, "train").y.size
        first, second = rng.permutation(many), many + rng.permutation(y.size - many)
    else:
        asked: Any = {"test_size": TEST_SHARE, "random_state": int(rng.integers(2**31))}
        first, second = train_test_split(np.arange(y.size), stratify=y, **asked)
    first = first[: budget["training rows, at most"]]
    second = second[: budget["test rows, at most"]]
    mean, spread = X[first].mean(axis=0), X[first].std(axis=0)
    kept = spread > 0
    one, two = ((X[rows][:, kept] - mean[kept]) / spread[kept] for rows in (first, second))
    return Sample(one, y[first]), Sample(two, y[second])


@experiment(
    "nonlinear-table-1",
    every_part("{set}", TASKS, set=SETS),
    Budget("share of the test part, where none is published", 0.2, TEST_SHARE, TEST_SHARE),
    quick_minutes=0.1,
)
def count(job: Job) -> Measured:
    data = train = load_real(job["set"], job.run.data_dir)
    size = round((1 - TEST_SHARE) * data.y.size)
    if job["set"] in PUBLISHED:
        train = load_real(job["set"], job.run.data_dir, "train")
        size = train.y.size
    found: Measured = {"columns": data.X.shape[1], "sha256": data.sha256}
    found |= {"train": size, "test": data.y.size - size}
    for name, one in (("ratio", data), ("ratio_train", train)):
        found[name] = max(one.n_pos, one.n_neg) / min(one.n_pos, one.n_neg)
    return found


@table("nonlinear-table-1", "nonlinear-table-1")
def table_1(page: Page) -> None:
    names = (("train", 0), ("test", 0), ("columns", 0), ("ratio_train", 2))
    for name, row in PRINTED.items():
        record = next(page.results.select(set=name), {})
        for (column, shown), (ours, digits) in zip(row.items(), names, strict=True):
            page.enter(LABELS[name], column, shown, record.get(ours), None, 1, digits)


# What [Nonlinear, Tables 2 and 3] run: five batch methods on each set, tuned by 3 folds, all with
# the squared hinge over all pairs [Nonlinear, eq. (5)].

TITLES = {
    "rbf": "RBF-RankSVM",
    "rbf-subsample": "RBF-RankSVM (subsample)",
    "linear": "Linear RankSVM",
    "rfauc": "RFAUC",
    "nbauc": "NBAUC",
}
FEWER, ALSO = "-at-rbf-rows", "also at the rows of RBF-RankSVM"
TUNED = "rows that are tuned on, at most"
SUBSAMPLE = 5
TOL, PATH_TOL = 1e-6, 1e-3
CLEARLY = 0.3  # points of AUC; a lam so far below the best is clearly worse


def batch_parts(budget: Mapping[str, Any]) -> list[Part]:
    methods = (*TITLES, *(f"{m}{FEWER}" for m in budget.get(ALSO, [])))
    key = "{set},{method},split={rep}"
    return every_part(key, TASKS, rep="splits", set=SETS[::-1], method=methods)(budget)


@experiment(
    "nonlinear-batch",
    batch_parts,
    Budget("splits", None, 3, 3),
    Budget("training rows, at most", 80_000, 4_000, 80_000),
    Budget("test rows, at most", "all", 20_000, 200_000),
    Budget("rows of RBF-RankSVM, at most", 80_000, 1_000, 3_000),
    Budget("landmarks and Fourier features", 1600, 200, 800, 1600),
    Budget("folds", 3, 3, 3),
    Budget(TUNED, 80_000, 1_500, 6_000),
    Budget("log2 C", "-15 to 10", [*range(-15, 11, 5)], [*range(-15, 11, 2)], [*range(-15, 11)]),
    Budget("log2 C, RBF-RankSVM", list(range(-5, 6)), [-5, 0, 5], list(range(-5, 6))),
    Budget("log2 gamma, RBF-RankSVM", list(range(-6, 0)), [-6, -3], list(range(-6, 0))),
    Budget("width, RFAUC", [1, 10, 100], [1, 10, 100], [1, 10, 100]),
    Budget("rounds of k-means, at most", None, 20, 20),
    Budget(ALSO, "none", None, None, ["nbauc", "rfauc"]),
    search="For each width one certified path of growing C is followed in each fold, each solution "
    f"started from the one before. It is left once two C in a row are more than {CLEARLY:g} points "
    "below the best: a rule of thumb, not a proof.",
    quick_minutes=3.3,
    printed_minutes=200,
)
def compute_batch(job: Job) -> Measured:
    (train, test), (method, few_rows, _) = split(job), job["method"].partition(FEWER)
    kernel, chosen, values = method.startswith("rbf"), "", [0.0]
    if method == "rbf-subsample":
        train = train.part(slice(train.positive.size // SUBSAMPLE))
    if kernel or few_rows:  # so that seconds are compared at equal numbers of rows
        train = train.part(slice(job.budget["rows of RBF-RankSVM, at most"]))
    if kernel:
        chosen, values = "gamma", [2.0**k for k in job.budget["log2 gamma, RBF-RankSVM"]]
    elif method == "rfauc":
        chosen, values = "width", job.budget["width, RFAUC"]

    def features(value: float) -> Features:
        if method == "nbauc":
            return nystrom(job, train)
        return fourier(job, train, value) if method == "rfauc" else lambda X: X

    made = {value: timed(lambda value=value: features(value)) for value in values}
    grid, tried = lams(job, train, ", RBF-RankSVM" * kernel), []
    tuning = train.part(slice(job.budget[TUNED]))  # the training rows are in random order
    for value, (mapped, _) in made.items():
        reached, lam = tuned(job, tuning.mapped(mapped), grid, value if kernel else None)
        tried.append((reached, value, lam))
    _, value, lam = max(tried)
    found = certified(train, test, made[value], lam, value if kernel else None)
    return found | ({chosen: value} if chosen else {})


def nystrom(job: Job, train: Sample) -> Features:
    """Return the k-means Nyström features of the split. [Nonlinear, Algorithm 1, Section 5.2]"""
    count = min(job.budget["landmarks and Fourier features"], train.positive.size)
    seed = job.draw_seed(f"landmarks {job['set']} {job['rep']}")
    centres = kmeans(train.X, count, seed, max_iter=job.budget["rounds of k-means, at most"])
    kernel = get_kernel("rbf", gamma_mean_distance(train.X), train.X.shape[1])
    return nystrom_map(kernel, centres.rows).transform


def fourier(job: Job, train: Sample, width: float) -> Features:
    """Return random Fourier features of exp(-d^2 / (2 width^2))."""
    seed = job.draw_seed(f"fourier {job['set']} {job['rep']}") % 2**31
    count = job.budget["landmarks and Fourier features"]
    sampler = RBFSampler(gamma=1 / (2 * width**2), n_components=count, random_state=seed)
    return sampler.fit(train.X[:1]).transform


def lams(job: Job, train: Sample, of: str = "") -> list[float]:
    """Return the grid as weights of the penalty, falling: lam = 1 / (C n_pos n_neg)."""
    pairs = int(train.positive.sum()) * int((~train.positive).sum())
    return sorted((1 / (2.0**k * pairs) for k in job.budget[f"log2 C{of}"]), reverse=True)


def tuned(job: Job, tuning: Sample, grid: list[float], gamma: Any = None) -> tuple[float, float]:
    """Return the highest mean AUC of the held-out rows along one certified path a fold, and its
    lam, the largest of equals. The smallest lam cost most; they are left out once two in a row are
    clearly worse."""

    def fold(rows: np.ndarray, held: np.ndarray) -> Iterator[float]:
        task = tuning.part(rows).kernel_machine("squared_hinge", 1.0, gamma)
        test = tuning.part(held)
        for solution in TruncatedNewton(PATH_TOL).path(task.work, grid):
            yield 100 * auc(task.evaluate(task.lift(solution.w), test.X), test.positive)

    folds = make_splits(job.budget["folds"], tuning.X, tuning.positive, 0)
    best, worse = (-np.inf, 0.0), 0
    for lam, *values in zip(grid, *(fold(*each) for each in folds), strict=True):
        mean = float(np.mean(values))
        worse = worse + 1 if mean < best[0] - CLEARLY else 0
        if mean > best[0]:
            best = (mean, lam)
        if worse == 2:
            break
    return best


def certified(
    train: Sample, test: Sample, made: tuple[Features, float], lam: float, gamma: Any = None
) -> Measured:
    """Fit and test in features, which come with the seconds that they took."""
    features, before = made

    def fit() -> tuple[Any, Any]:
        task = train.mapped(features).kernel_machine("squared_hinge", lam, gamma)
        return task, task.judge(TruncatedNewton(TOL).solve(task.work), TOL)

    (task, solution), seconds = timed(fit)
    value = auc(task.evaluate(solution.w, features(test.X)), test.positive)
    found = {"auc": 100 * value, "seconds": seconds + before, "n_train": train.positive.size}
    return found | {"gap": solution.certificate.relative_gap, "lam": lam}


BATCH_COMPARED = (("nbauc", "rfauc"), ("nbauc", "linear"), ("nbauc", "rbf"), ("rbf", "linear"))


@table("nonlinear-table-2", "nonlinear-batch")
def table_2(page: Page) -> None:
    shown = enter_printed(page, "auc", "Table 2")
    for name in shown:
        page.largest(LABELS[name], "relative gap, all methods", "gap", set=name)
    for name, pair in product(shown, BATCH_COMPARED):
        sides = [("auc", {"set": name, "method": method}) for method in pair]
        values, names = page.results.matched("rep", *sides), [TITLES[method] for method in pair]
        page.paired(values, names, "points of AUC", 3, LABELS[name], overlap(name))


@table("nonlinear-table-3", "nonlinear-batch")
def table_3(page: Page) -> None:
    enter_printed(page, "seconds", "Table 3")


def enter_printed(page: Page, what: str, place: str) -> list[str]:
    shown = printed(PAPER, place)
    for (name, row), (method, title) in product(shown.items(), TITLES.items()):
        page.mean(LABELS[name], title, what, row[title], set=name, method=method)
        column = (f"{title}, at the rows of RBF-RankSVM", what, 2)
        page.means(LABELS[name], [column], set=name, method=f"{method}{FEWER}")
    return list(shown)


# What [Nonlinear, Table 4 and Fig. 1] run: stochastic methods in k-means Nyström features, next to
# the optimum of what NSAUC minimises.

LARGE = tuple(name for name in SETS if name not in ("spambase", "usps", "magic04"))
EPOCHS = [1, 2, 3, 4, 5, 10, 20, 50, 100, 200, 300, 400]
RADII = [0.1, 1.0, 10.0, 1e2, 1e3, 1e4, 1e5]
SMALLEST_LAM = 1e-5  # below it the hinge's optimum is not proved within seconds


@experiment(
    "nonlinear-online",
    every_part("{set},split={rep}", TASKS, rep="splits", set=LARGE[::-1]),
    Budget("splits", None, 3, 3),
    Budget("training rows, at most", "all", 6_000, 80_000),
    Budget("test rows, at most", "all", 20_000, 200_000),
    Budget("landmarks and Fourier features", 1600, 200, 1600),
    Budget("rounds of k-means, at most", None, 20, 20),
    Budget("folds", 3, 3, 3),
    Budget(TUNED, "all", 1_500, 6_000),
    Budget("log2 C", "-15 to 10", [-15, -10, -5, 0, 5, 10], [*range(-15, 11)]),
    Budget("lam, NSAUC", [1e-10, 1e-9, 1e-8, 1e-7], [1e-10, 1e-7], [1e-10, 1e-9, 1e-8, 1e-7]),
    Budget("epochs, NSAUC", None, 5, 5),
    Budget("step, NSOLAM", list(range(1, 101, 9)), [1, 10, 100], list(range(1, 101, 9))),
    Budget("radius, NSOLAM", RADII, [0.1, 10.0, 1e3], RADII),
    Budget("epochs, NSOLAM", 15, 15, 15),
    Budget("log2 C, NOAM", None, [-8, -4, 0], list(range(-10, 11, 2))),
    Budget("buffer, NOAM", 100, 100, 100),
    Budget("epochs of Fig. 1", EPOCHS, EPOCHS[:8], EPOCHS),
    search="A choice of NOAM, NSOLAM or NSAUC is left as soon as an AUC of 100 % on all folds to "
    "come could not bring its mean to the best one: the choice is provably that of the whole grid. "
    "NBAUC and the optimum follow one certified path of lam in each fold.",
    quick_minutes=0.8,
)
def compute_online(job: Job) -> Measured:
    """Tune, fit and test every method on one split, and follow three of them over the epochs."""
    train, test = split(job)
    features, first = timed(lambda: nystrom(job, train))
    train, second = timed(lambda: train.mapped(features))
    test, tuning = test.mapped(features), train.part(slice(job.budget[TUNED]))
    grid = lams(job, train)
    fitted = certified(train, test, (lambda X: X, 0.0), tuned(job, tuning, grid)[1])
    found: Measured = {f"NBAUC_{what}": fitted[what] for what in ("auc", "seconds")}
    found |= {"embedding_seconds": first + second, "epochs": job.budget["epochs of Fig. 1"]}
    # The certified optimum of the hinge.
    y, grid = tuning.positive.astype(int), [lam for lam in grid if lam >= SMALLEST_LAM]
    path = cross_validated_path(tuning.X, y, grid, cv=job.budget["folds"], tol=1e-3)
    lam = path.lam_of("best")
    best, seconds = timed(lambda: full_fit(train.problem("hinge", lam), 1e-4))
    found |= {"optimum_auc": 100 * test.auc(best.w), "optimum_seconds": seconds}
    found |= {"optimum_lam": lam, "optimum_gap": best.certificate.relative_gap}
    for method in WALKS:
        found |= stochastic(job, method, train, tuning, test)
    return found


def stochastic(job: Job, method: str, train: Sample, tuning: Sample, test: Sample) -> Measured:
    """Return what a method reaches with its best choice, and, of Fig. 1, in how many epochs."""
    (walk, *lines), budget = WALKS[method], job.budget
    choices: list[Choice] = list(product(*(budget[line] for line in lines)))
    folds = make_splits(budget["folds"], tuning.X, tuning.positive, 0)

    def fit(train: Sample, choice: Choice, seed: int) -> np.ndarray:
        *_, last = walk(job, train, choice, budget.get(f"epochs, {method}", 1), seed)
        return last[method]

    def values(at: int, fold: int) -> list[float]:
        train, held = (tuning.part(side) for side in folds[fold])
        return [100 * held.auc(fit(train, choices[at], fold))]

    choice = choices[race(len(choices), len(folds), values, 100.0)[0]]
    seed = job.draw_seed(f"steps {job.part.key}")
    w, seconds = timed(lambda: fit(train, choice, seed))
    found: Measured = {f"{method}_auc": 100 * test.auc(w), f"{method}_seconds": seconds}
    found[f"{method}_choice"] = list(choice)
    if method in CURVES:
        looks = budget["epochs of Fig. 1"]
        for epoch, points in enumerate(walk(job, train, choice, max(looks), seed), start=1):
            for name in points if epoch in looks else ():
                found.setdefault(f"{name}_curve", []).append(100 * test.auc(points[name]))
    return found


Choice = tuple[float, ...]
Walked = Iterator[dict[str, np.ndarray]]  # the weights of each method after each epoch


def noam(job: Job, train: Sample, choice: Choice, epochs: int, seed: int) -> Walked:
    """One pass of OAM with buffers. [Nonlinear, Section 5.2]"""
    rng = np.random.default_rng(seed)
    method = OnlineAUC(2.0 ** choice[0], "sequential", job.budget["buffer, NOAM"], None)
    order, stream = rng.permutation(train.positive.size), method.start(train.X.shape[1])
    method.learn(stream, train.X[order], train.positive[order], rng.random(order.size))
    yield {"NOAM": stream.w}


def nsolam(job: Job, train: Sample, choice: Choice, epochs: int, seed: int) -> Walked:
    radius, step = map(float, choice)
    solver = StochasticSaddle(radius, step, max_passes=epochs, seed=seed)
    walk = solver.begin(from_rows(train.X, train.positive), np.zeros(train.X.shape[1]), 0)
    return ({"NSOLAM": w} for _, w in solver.passes(walk))


def nsauc(job: Job, train: Sample, choice: Choice, epochs: int, seed: int) -> Walked:
    """NSAUC is the mean of the walk, NSVMSGD2 its last point."""
    lam, solver, rng = choice[0], PairSGD(max_epochs=epochs), np.random.default_rng(seed)
    problem = train.problem("hinge", lam)
    rows: Any = problem.space
    t0, walk = starting_time("scaled", lam, mean_square_size(rows)), Walk.of(np.zeros(rows.dim))
    for _ in range(epochs):
        solver.advance(walk, rows.X, random_pairs(problem, problem.n, rng), lam, t0)
        yield {"NSAUC": walk.mean, "NSVMSGD2": walk.w}


# Each with the lines of the budget that are its grid.
WALKS: dict[str, tuple[Any, ...]] = {
    "NOAM": (noam, "log2 C, NOAM"),
    "NSOLAM": (nsolam, "radius, NSOLAM", "step, NSOLAM"),
    "NSAUC": (nsauc, "lam, NSAUC"),
}
CURVES = ("NSAUC", "NSVMSGD2", "NSOLAM")  # of Fig. 1
ONLINE_COMPARED = (("NSAUC", "NBAUC"), ("NSAUC", "NSOLAM"), ("NSAUC", "NOAM"), ("NSOLAM", "NOAM"))
OPTIMUM = "hinge optimum, lam ≥ 1e-5"


@table("nonlinear-table-4", "nonlinear-online")
def table_4(page: Page) -> None:
    for name, texts in printed(PAPER, "Table 4").items():
        for what, unit in (("auc", "AUC %"), ("seconds", "s")):
            row = f"{LABELS[name]}, {unit}"
            for method in (*WALKS, "NBAUC"):
                page.mean(row, method, f"{method}_{what}", texts[f"{method}, {unit}"], set=name)
            page.means(row, [(OPTIMUM, f"optimum_{what}", 2)], set=name)
        for names in ONLINE_COMPARED:
            of = LABELS[name], overlap(name)
            page.paired("{}_auc", names, "points of AUC", 3, *of, set=name)
    gaps = page.values("optimum_gap")
    page.known = {"gap": f"{gaps.max():.1e}"} if gaps.size else {}


@table("nonlinear-figure-1", "nonlinear-online")
def figure_1(page: Page) -> None:
    epochs = [float(epoch) for epoch in page.results.budget["epochs of Fig. 1"]]
    for name in LARGE:
        found, title = {m: page.values(f"{m}_curve", set=name) for m in CURVES}, LABELS[name]
        if not found[CURVES[0]].size:
            continue
        curves: Curves = {}
        for method, values in found.items():
            curves[method] = [*zip(epochs, values.mean(axis=0).tolist(), strict=True)]
            for at in (0, -1):
                page.mean(title, f"{method}, epoch {epochs[at]:g}", values[:, at])
            fell = (np.maximum.accumulate(values, axis=1) - values).max(axis=1)
            page.mean(title, f"{method}, largest fall", fell)
        more: Any = {"unit": "points of AUC", "digits": 3, "overlap": overlap(name)}
        means = [found[method].mean(axis=1) for method in CURVES[:2]]
        page.paired(means, CURVES[:2], before=f"{title}, mean over the epochs", **more)
        names = [f"NSOLAM, epoch {epochs[at]:g}" for at in (-1, 0)]
        page.paired(found["NSOLAM"][:, [-1, 0]].T, names, before=title, **more)
        levels = {OPTIMUM: "optimum", "NBAUC": "NBAUC"}
        for line, method in levels.items():
            level = float(page.values(f"{method}_auc", set=name).mean())
            curves[line] = [(epochs[0], level), (epochs[-1], level)]
        page.draw(title, ("epochs", "test AUC %"), curves, levels, log_x=True)
