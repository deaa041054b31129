"""The tables and the figure of Nonlinear."""

from collections.abc import Callable, Iterator, Mapping, Sequence
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
from ...approx.solam import SaddleWalk, StochasticSaddle
from ...exact.api.cross_validation import cross_validated_path, make_splits
from ...exact.api.solve import choose_solver
from ...exact.pairs.auc import auc
from ...exact.spaces.kernels import get_kernel
from ...exact.spaces.rows import Rows
from ..data.datasets import TASKS, load_real
from ..data.printed_numbers import printed
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
LABELS = {  # of sets that are not the paper's row for row
    "covtype": "covtype, sample of 258,565 rows",
    "cod-rna": "cod-rna, without its third file",
}
PUBLISHED = ("usps", "ijcnn1")  # test parts that are used as in the paper; others are drawn
TEST_SHARE = 0.2
SETS = tuple(name for name in PRINTED if name not in ("acoustic", "protein"))  # not to be had


def label(name: str) -> str:
    return LABELS.get(name, name)


def overlap(name: str) -> float:
    """Return test rows over training rows of random splits; 0 where the parts are given."""
    return TEST_SHARE / (1 - TEST_SHARE) * (name not in PUBLISHED)


def split(job: Job) -> tuple[Sample, Sample]:
    """Return training and test rows, cut to the budget's and standardised by the training rows.
    Where the test part is published, other splits draw other training rows, if there are more."""
    name, rep, budget = job["set"], job["rep"], job.budget
    rng = job.rng(f"split {name} {rep}")
    if name in PUBLISHED:
        train, test = (load_real(name, job.run.data_dir, part) for part in ("train", "test"))
        X, y = np.concatenate([train.X, test.X]), np.concatenate([train.y, test.y]) == 1
        first = rng.permutation(train.y.size)
        second = train.y.size + rng.permutation(test.y.size)
    else:
        data = load_real(name, job.run.data_dir)
        X, y = data.X, data.is_positive
        asked: Any = {"stratify": y, "random_state": int(rng.integers(2**31))}
        first, second = train_test_split(np.arange(y.size), test_size=TEST_SHARE, **asked)
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
    n_train = round((1 - TEST_SHARE) * data.y.size)
    if job["set"] in PUBLISHED:
        train = load_real(job["set"], job.run.data_dir, "train")
        n_train = train.y.size
    found: Measured = {"columns": data.X.shape[1], "sha256": data.sha256}
    found |= {"train": n_train, "test": data.y.size - n_train}
    for name, one in (("ratio", data), ("ratio_train", train)):
        found[name] = max(one.n_pos / one.n_neg, one.n_neg / one.n_pos)
    return found


@table("nonlinear-table-1", "nonlinear-table-1")
def table_1(page: Page) -> None:
    names = (("train", 0), ("test", 0), ("columns", 0), ("ratio_train", 2))
    for name, row in PRINTED.items():
        record = next(page.results.select(set=name), {})
        for (column, shown), (ours, digits) in zip(row.items(), names, strict=True):
            page.enter(label(name), column, shown, record.get(ours), None, 1, digits)


# What [Nonlinear, Tables 2 and 3] run: five batch methods on each set, tuned by 3 folds, all with
# the squared hinge over all pairs [Nonlinear, eq. (5)].

TITLES = {
    "rbf": "RBF-RankSVM",
    "rbf-subsample": "RBF-RankSVM (subsample)",
    "linear": "Linear RankSVM",
    "rfauc": "RFAUC",
    "nbauc": "NBAUC",
}
BATCH_METHODS = tuple(TITLES)
FEWER, ALSO = "-at-rbf-rows", "also at the rows of RBF-RankSVM"
SUBSAMPLE = 5
TOL, PATH_TOL = 1e-6, 1e-3
CLEARLY = 0.3  # points of AUC; a lam so far below the best is clearly worse
BATCH_SEARCH = (
    "For each width one certified path of growing C is followed in each fold, each solution "
    f"started from the one before. It is left once two C in a row are more than {CLEARLY:g} points "
    "below the best: a rule of thumb, not a proof."
)


def batch_parts(budget: Mapping[str, Any]) -> list[Part]:
    methods = (*BATCH_METHODS, *(f"{m}{FEWER}" for m in budget.get(ALSO, [])))
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
    Budget("rows that are tuned on, at most", 80_000, 1_500, 6_000),
    Budget("log2 C", "-15 to 10", [*range(-15, 11, 5)], [*range(-15, 11, 2)], [*range(-15, 11)]),
    Budget("log2 C, RBF-RankSVM", list(range(-5, 6)), [-5, 0, 5], list(range(-5, 6))),
    Budget("log2 gamma, RBF-RankSVM", list(range(-6, 0)), [-6, -3], list(range(-6, 0))),
    Budget("width, RFAUC", [1, 10, 100], [1, 10, 100], [1, 10, 100]),
    Budget("rounds of k-means, at most", None, 20, 20),
    Budget(ALSO, "none", None, None, ["nbauc", "rfauc"]),
    search=BATCH_SEARCH,
    quick_minutes=3.3,
    printed_minutes=200,
)
def compute_batch(job: Job) -> Measured:
    (train, test), (method, few_rows, _) = split(job), job["method"].partition(FEWER)
    if few_rows:  # so that seconds are compared at equal numbers of rows
        train = train.part(slice(job.budget["rows of RBF-RankSVM, at most"]))
    if method.startswith("rbf"):
        return _whole_kernel(job, train, test, method == "rbf-subsample")
    if method == "linear":
        return _linear(job, train, test, lambda X: X, 0.0)
    if method == "nbauc":
        return _linear(job, train, test, *timed(lambda: nystrom(job, train)))
    best = (-np.inf, 0.0)
    for width in job.budget["width, RFAUC"]:
        tuning = few(job, train).mapped(_fourier(job, train, width))
        best = max(best, (tuned(job, tuning, train.positive)[1], width))
    fourier = timed(lambda: _fourier(job, train, best[1]))
    return {"width": best[1], **_linear(job, train, test, *fourier)}


def nystrom(job: Job, train: Sample) -> Features:
    """Return the k-means Nyström features of the split. [Nonlinear, Algorithm 1, Section 5.2]"""
    count = min(job.budget["landmarks and Fourier features"], train.positive.size)
    seed = job.draw_seed(f"landmarks {job['set']} {job['rep']}")
    centres = kmeans(train.X, count, seed, max_iter=job.budget["rounds of k-means, at most"])
    kernel = get_kernel("rbf", gamma_mean_distance(train.X), train.X.shape[1])
    return nystrom_map(kernel, centres.rows).transform


def _fourier(job: Job, train: Sample, width: float) -> Features:
    """Return random Fourier features of exp(-d^2 / (2 width^2))."""
    seed = job.draw_seed(f"fourier {job['set']} {job['rep']}") % 2**31
    count = job.budget["landmarks and Fourier features"]
    sampler = RBFSampler(gamma=1 / (2 * width**2), n_components=count, random_state=seed)
    return sampler.fit(train.X[:1]).transform


def few(job: Job, train: Sample) -> Sample:
    """Return the rows that are tuned on; the training rows are in random order."""
    return train.part(slice(job.budget["rows that are tuned on, at most"]))


def lams(job: Job, positive: np.ndarray, powers: str = "log2 C") -> list[float]:
    """Return the grid as weights of the penalty: lam = 1 / (C n_pos n_neg) of these rows."""
    n_pos = int(positive.sum())
    return [1 / (2.0**k * n_pos * (positive.size - n_pos)) for k in job.budget[powers]]


def tuned(job: Job, tuning: Sample, positive: np.ndarray) -> tuple[float, float]:
    """Return the lam of the highest held-out AUC along the certified path, and that AUC."""

    def fold(train: np.ndarray, test: np.ndarray) -> Iterator[float]:
        problem, held = tuning.part(train).problem("squared_hinge"), tuning.part(test)
        for solution in TruncatedNewton(PATH_TOL).path(problem, grid):
            yield 100 * held.auc(solution.w)

    grid = lams(job, positive)
    folds = make_splits(job.budget["folds"], tuning.X, tuning.positive, 0)
    return _best(grid, [fold(*each) for each in folds])


def _best(grid: list[float], folds: Sequence[Iterator[float]]) -> tuple[float, float]:
    """Return the lam of the highest mean over the folds, the largest of equals, and that mean. The
    smallest lam cost most; they are left out once two in a row are clearly worse."""
    best, worse = (-np.inf, 0.0), 0
    for lam, values in zip(sorted(grid, reverse=True), zip(*folds, strict=True), strict=False):
        mean = float(np.mean(values))
        worse = worse + 1 if mean < best[0] - CLEARLY else 0
        if mean > best[0]:
            best = (mean, lam)
        if worse == 2:
            break
    return best[1], best[0]


def _linear(job: Job, train: Sample, test: Sample, features: Features, before: float) -> Measured:
    lam, _ = tuned(job, few(job, train).mapped(features), train.positive)

    def fit() -> Any:
        return TruncatedNewton(TOL).solve(train.mapped(features).problem("squared_hinge", lam))

    solution, seconds = timed(fit)
    value, gap = test.mapped(features).auc(solution.w), solution.certificate.relative_gap
    found = {"auc": 100 * value, "seconds": seconds + before, "gap": gap, "lam": lam}
    return found | {"n_train": train.positive.size}


def _whole_kernel(job: Job, train: Sample, test: Sample, subsample: bool) -> Measured:
    """Tune, fit and test RBF-RankSVM, on a fifth of the rows or all, as far as the budget goes."""
    budget, n = job.budget, train.positive.size
    n = min(n // SUBSAMPLE if subsample else n, budget["rows of RBF-RankSVM, at most"])
    train = train.part(slice(n))
    grid, tuning = lams(job, train.positive, "log2 C, RBF-RankSVM"), few(job, train)
    folds, best = make_splits(budget["folds"], tuning.X, tuning.positive, 0), (-np.inf, 0.0, 0.0)

    def fold(gamma: float, rows: np.ndarray, held: np.ndarray) -> Iterator[float]:
        task = tuning.part(rows).kernel_machine("squared_hinge", 1.0, gamma)
        test = tuning.part(held)
        for solution in TruncatedNewton(PATH_TOL).path(task.work, grid):
            yield 100 * auc(task.evaluate(task.lift(solution.w), test.X), test.positive)

    for power in budget["log2 gamma, RBF-RankSVM"]:
        lam, value = _best(grid, [fold(2.0**power, *each) for each in folds])
        best = max(best, (value, 2.0**power, lam))
    _, gamma, lam = best

    def fit() -> tuple[Any, Any]:
        task = train.kernel_machine("squared_hinge", lam, gamma)
        return task, task.judge(TruncatedNewton(TOL).solve(task.work), TOL)

    (task, solution), seconds = timed(fit)
    value, gap = auc(task.evaluate(solution.w, test.X), test.positive), solution.certificate
    found = {"auc": 100 * value, "seconds": seconds, "gap": gap.relative_gap, "lam": lam}
    return found | {"gamma": gamma, "n_train": n}


BATCH_COMPARED = (("nbauc", "rfauc"), ("nbauc", "linear"), ("nbauc", "rbf"), ("rbf", "linear"))


@table("nonlinear-table-2", "nonlinear-batch")
def table_2(page: Page) -> None:
    shown = enter_printed(page, "auc", "Table 2")
    for name in shown:
        page.largest(label(name), "relative gap, all methods", "gap", set=name)
    for name, pair in product(shown, BATCH_COMPARED):
        sides = [("auc", {"set": name, "method": method}) for method in pair]
        values, names = page.results.matched("rep", *sides), [TITLES[method] for method in pair]
        page.paired(values, names, "points of AUC", 3, label(name), overlap(name))


@table("nonlinear-table-3", "nonlinear-batch")
def table_3(page: Page) -> None:
    enter_printed(page, "seconds", "Table 3")


def enter_printed(page: Page, what: str, place: str) -> list[str]:
    shown = printed(PAPER, place)
    for (name, row), (method, title) in product(shown.items(), TITLES.items()):
        page.mean(label(name), title, what, row[title], set=name, method=method)
        column = (f"{title}, at the rows of RBF-RankSVM", what, 2)
        page.means(label(name), [column], set=name, method=f"{method}{FEWER}")
    return list(shown)


# What [Nonlinear, Table 4 and Fig. 1] run: stochastic methods in k-means Nyström features, next to
# the optimum of what NSAUC minimises.

LARGE = tuple(name for name in SETS if name not in ("spambase", "usps", "magic04"))
ONLINE_METHODS = ("NOAM", "NSOLAM", "NSAUC", "NBAUC")
EPOCHS = [1, 2, 3, 4, 5, 10, 20, 50, 100, 200, 300, 400]
RADII = [0.1, 1.0, 10.0, 1e2, 1e3, 1e4, 1e5]
ONLINE_SEARCH = (
    "A choice of NOAM, NSOLAM or NSAUC is left as soon as an AUC of 100 % on all folds to come "
    "could not bring its mean to the best one: the choice is provably that of the whole grid. "
    "NBAUC and the optimum follow one certified path of lam in each fold."
)

Fitted = tuple[np.ndarray, float]  # Weights and seconds.
Choice = tuple[float, ...]


@experiment(
    "nonlinear-online",
    every_part("{set},split={rep}", TASKS, rep="splits", set=LARGE[::-1]),
    Budget("splits", None, 3, 3),
    Budget("training rows, at most", "all", 6_000, 80_000),
    Budget("test rows, at most", "all", 20_000, 200_000),
    Budget("landmarks and Fourier features", 1600, 200, 1600),
    Budget("rounds of k-means, at most", None, 20, 20),
    Budget("folds", 3, 3, 3),
    Budget("rows that are tuned on, at most", "all", 1_500, 6_000),
    Budget("log2 C", "-15 to 10", [-15, -10, -5, 0, 5, 10], [*range(-15, 11)]),
    Budget("lam, NSAUC", [1e-10, 1e-9, 1e-8, 1e-7], [1e-10, 1e-7], [1e-10, 1e-9, 1e-8, 1e-7]),
    Budget("epochs, NSAUC", None, 5, 5),
    Budget("step, NSOLAM", list(range(1, 101, 9)), [1, 10, 100], list(range(1, 101, 9))),
    Budget("radius, NSOLAM", RADII, [0.1, 10.0, 1e3], RADII),
    Budget("epochs, NSOLAM", 15, 15, 15),
    Budget("log2 C, NOAM", None, [-8, -4, 0], list(range(-10, 11, 2))),
    Budget("buffer, NOAM", 100, 100, 100),
    Budget("epochs of Fig. 1", EPOCHS, EPOCHS[:8], EPOCHS),
    search=ONLINE_SEARCH,
    quick_minutes=0.8,
)
def compute_online(job: Job) -> Measured:
    """Tune, fit and test every method on one split, and follow three of them over the epochs."""
    (train, test), budget = split(job), job.budget

    def embedded() -> tuple[Features, Sample]:
        features = nystrom(job, train)
        return features, train.mapped(features)

    (features, learnt), seconds = timed(embedded)
    test, tuning = test.mapped(features), few(job, learnt)
    found: Measured = {"embedding_seconds": seconds}
    fitted = _linear(job, learnt, test, lambda X: X, 0.0)
    found |= {f"NBAUC_{what}": fitted[what] for what in ("auc", "seconds")}
    found |= _optimum(job, learnt, tuning, test)
    seed = job.draw_seed(f"steps {job.part.key}")
    chosen: dict[str, Choice] = {}
    folds = make_splits(budget["folds"], tuning.X, tuning.positive, 0)
    for method, (fit, grid) in FITS.items():
        choices = list(product(*(budget[name] for name in grid)))

        def values(at: int, fold: int, fit: Fit = fit, tried: Any = choices) -> list[float]:
            train, held = (tuning.part(side) for side in folds[fold])
            return [100 * held.auc(fit(job, train, tried[at], fold)[0])]

        chosen[method] = choices[race(len(choices), len(folds), values, 100.0)[0]]
        w, seconds = fit(job, learnt, chosen[method], seed)
        found |= {f"{method}_auc": 100 * test.auc(w), f"{method}_seconds": seconds}
        found[f"{method}_choice"] = list(chosen[method])
    return found | _curves(job, learnt, test, chosen, seed)


def _optimum(job: Job, train: Sample, tuning: Sample, test: Sample) -> Measured:
    """Return the AUC of the hinge's certified optimum in the features, lam tuned by its path."""
    grid = [lam for lam in lams(job, train.positive) if lam >= SMALLEST_LAM]
    y = tuning.positive.astype(int)
    lam = cross_validated_path(tuning.X, y, grid, cv=job.budget["folds"], tol=1e-3).lam_of("best")

    def fit() -> Any:
        problem = train.problem("hinge", lam)
        return choose_solver(problem, "auto", 1e-4, None).solve(problem)

    solution, seconds = timed(fit)
    found = {"auc": 100 * test.auc(solution.w), "seconds": seconds, "lam": lam}
    found["gap"] = solution.certificate.relative_gap
    return {f"optimum_{name}": value for name, value in found.items()}


SMALLEST_LAM = 1e-5  # below it the hinge's optimum is not proved within seconds
Fit = Callable[[Job, Sample, Choice, int], Fitted]


def _noam(job: Job, train: Sample, choice: Choice, seed: int) -> Fitted:
    """One pass of OAM with buffers. [Nonlinear, Section 5.2]"""
    rng = np.random.default_rng(seed)
    method = OnlineAUC(2.0 ** choice[0], "sequential", job.budget["buffer, NOAM"], None)
    order = rng.permutation(train.positive.size)

    def fit() -> np.ndarray:
        stream = method.start(train.X.shape[1])
        method.learn(stream, train.X[order], train.positive[order], rng.random(order.size))
        return stream.w.copy()

    return timed(fit)


def _nsolam(job: Job, train: Sample, choice: Choice, seed: int) -> Fitted:
    return timed(lambda: list(saddle(train, choice, job.budget["epochs, NSOLAM"], seed))[-1])


def _nsauc(job: Job, train: Sample, choice: Choice, seed: int) -> Fitted:
    epochs = job.budget["epochs, NSAUC"]
    return timed(lambda: list(pair_steps(train, choice[0], epochs, seed))[-1].mean)


FITS: dict[str, tuple[Fit, tuple[str, ...]]] = {  # each with the lines of a budget of its grid
    "NOAM": (_noam, ("log2 C, NOAM",)),
    "NSOLAM": (_nsolam, ("radius, NSOLAM", "step, NSOLAM")),
    "NSAUC": (_nsauc, ("lam, NSAUC",)),
}


def saddle(train: Sample, choice: Choice, epochs: int, seed: int) -> Iterator[np.ndarray]:
    """Yield SOLAM's answer after each epoch."""
    radius, step = map(float, choice)
    solver = StochasticSaddle(radius, step, max_passes=epochs, seed=seed)
    walk = SaddleWalk(solver, from_rows(train.X, train.positive), np.zeros(train.X.shape[1]))
    return (w for _, w in solver.passes(walk))


def pair_steps(train: Sample, lam: float, epochs: int, seed: int) -> Iterator[Walk]:
    """Yield the walk after each epoch: NSAUC is its mean, NSVMSGD2 its last point."""
    solver, problem, rows = PairSGD(max_epochs=epochs), train.problem("hinge", lam), Rows(train.X)
    t0 = starting_time("scaled", lam, mean_square_size(rows))
    walk, rng = Walk.of(np.zeros(rows.dim)), np.random.default_rng(seed)
    for _ in range(epochs):
        solver.advance(walk, rows.X, random_pairs(problem, problem.n, rng), lam, t0)
        yield walk


def _curves(job: Job, train: Sample, test: Sample, best: dict[str, Choice], seed: int) -> Measured:
    """Return test AUC of three methods at the epochs of the figure."""
    epochs, lam = job.budget["epochs of Fig. 1"], best["NSAUC"][0]
    curves: dict[str, list[float]] = {method: [] for method in CURVES}
    for epoch, walk in enumerate(pair_steps(train, lam, max(epochs), seed), start=1):
        if epoch in epochs:
            curves["NSAUC"].append(100 * test.auc(walk.mean))
            curves["NSVMSGD2"].append(100 * test.auc(walk.w))
    for epoch, w in enumerate(saddle(train, best["NSOLAM"], max(epochs), seed), start=1):
        if epoch in epochs:
            curves["NSOLAM"].append(100 * test.auc(w))
    return {"epochs": epochs} | {f"{method}_curve": curve for method, curve in curves.items()}


ONLINE_COMPARED = (("NSAUC", "NBAUC"), ("NSAUC", "NSOLAM"), ("NSAUC", "NOAM"), ("NSOLAM", "NOAM"))
OPTIMUM = "hinge optimum, lam ≥ 1e-5"


@table("nonlinear-table-4", "nonlinear-online")
def table_4(page: Page) -> None:
    for name, texts in printed(PAPER, "Table 4").items():
        for what, unit in (("auc", "AUC %"), ("seconds", "s")):
            row = f"{label(name)}, {unit}"
            for method in ONLINE_METHODS:
                page.mean(row, method, f"{method}_{what}", texts[f"{method}, {unit}"], set=name)
            page.means(row, [(OPTIMUM, f"optimum_{what}", 2)], set=name)
        for names in ONLINE_COMPARED:
            more: Any = ("points of AUC", 3, label(name), overlap(name))
            page.paired("{}_auc", names, *more, set=name)
    gaps = page.values("optimum_gap")
    if gaps.size:
        page.known = {"gap": f"{gaps.max():.1e}"}


CURVES = ("NSAUC", "NSVMSGD2", "NSOLAM")
MEAN = "mean over the epochs"


@table("nonlinear-figure-1", "nonlinear-online")
def figure_1(page: Page) -> None:
    for name in LARGE:
        records, title = list(page.results.select(set=name)), label(name)
        if not records:
            continue
        epochs = [float(epoch) for epoch in records[0]["epochs"]]
        curves: Curves = {}
        means, ends = {}, {}
        for method in CURVES:
            found = np.array([record[f"{method}_curve"] for record in records])
            curves[method] = [*zip(epochs, found.mean(axis=0).tolist(), strict=True)]
            means[method] = found.mean(axis=1)
            ends = {f"{method}, epoch {epochs[at]:g}": found[:, at] for at in (0, -1)}
            for column, values in ends.items():
                page.mean(title, column, values)
            fell = (np.maximum.accumulate(found, axis=1) - found).max(axis=1)
            page.mean(title, f"{method}, largest fall", fell)
        more: Any = {"unit": "points of AUC", "digits": 3, "overlap": overlap(name)}
        sides, (first, last) = [means[method] for method in CURVES[:2]], ends  # of NSOLAM
        page.paired(sides, CURVES[:2], before=f"{title}, {MEAN}", **more)
        page.paired((ends[last], ends[first]), (last, first), before=title, **more)
        levels = {OPTIMUM: "optimum", "NBAUC": "NBAUC"}
        for line, method in levels.items():
            level = float(page.values(f"{method}_auc", set=name).mean())
            curves[line] = [(epochs[0], level), (epochs[-1], level)]
        page.draw(title, ("epochs", "test AUC %"), curves, levels, log_x=True)
