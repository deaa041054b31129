"""How fast the approximations come to the exact answer: an experiment of our own. Errors are
against certified optima. A slope is that of log error against log size, fitted in each repetition;
its interval is Student's, 95 %, over repetitions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

import numpy as np
from scipy import stats

from ...approx.landmarks import choose_landmarks
from ...approx.newton.truncated_newton import TruncatedNewton
from ...approx.nsauc import PairSGD
from ...approx.nystrom import nystrom_map
from ...approx.sht import StochasticHardThresholding, sparse_problem
from ...approx.subgradient import Adamax
from ...exact.spaces.kernels import Gaussian, Kernel, Laplacian
from ..bounds.experiment import EXCESS, NYSTROM, POSTERIOR, PRINTED, optimum, prepare
from ..claims.claim import Context
from ..claims.common import differences, wdbc_sample
from ..claims.sht import CASES, STEPS, walks
from ..data.datasets import Dataset, sparse_mean_shift
from ..plots import Series
from .table import Budget, Job, Measured, Page, Panel, Part, Results, Sample, experiment, table

N, LAM, TOL = 200, 0.1, 1e-9
SMALL = 1e-12  # below it an error is rounding
KERNELS: dict[str, tuple[str, Kernel]] = {
    "radial-gaussian": ("radial", Gaussian(0.5)),
    "radial-laplacian": ("radial", Laplacian(1.0)),
    "wdbc-gaussian": ("wdbc", Gaussian(0.02)),
    "wdbc-laplacian": ("wdbc", Laplacian(0.1)),
    "identity": ("radial", Gaussian(1e8)),  # rows so far apart that K = I
}
SETS = tuple(KERNELS)[:4]
TWO = (SETS[0], SETS[3])  # two data sets and two kernels
RULES = ("uniform", "stratified", "kmeans", "pivoted", "leverage")
DRAWN = [N * 8**k for k in range(4)]
SHARES = [0.05, 0.2, 1.0]  # d / n
LANDMARKS = [5, 10, 20, 40, 80]
LAMS = [1.0, 0.3, 0.1, 0.03, 0.01]
STEPPED, EPOCHS, TOLERANCES = [10, 30, 100, 300, 1000], [1, 4, 16, 64], [1e-2, 1e-4, 1e-8, 1e-12]
SGD_LAMS = [1e-1, 1e-2, 1e-3]
WALKED = [1, *range(4, STEPS + 1, 4)]


def parts(budget: Mapping[str, Any]) -> list[Part]:
    return [
        Part.of("{kind},{set},rep={rep}", kind=kind, set=name, rep=rep)
        for rep in range(budget["repetitions"])
        for kind, (_, sets) in MEASURES.items()
        for name in sets
    ]


@experiment(
    "convergence",
    parts,
    Budget("repetitions", "none", 3, 10),
    Budget("rows of Newton's problems", "none", [200, 1000], [200, 1000, 5000]),
    tolerance=1e-5,
    quick_minutes=0.7,
)
def compute(job: Job) -> Measured:
    return MEASURES[job["kind"]][0](job, Context(f"convergence {job.part.key}", job.run.seed))


def given(job: Job, c: Context, n: int = N) -> tuple[Dataset, Kernel]:
    """Return the rows and the kernel of a part; of breast cancer 200 rows, or all."""
    name, kernel = KERNELS[job["set"]]
    if name == "wdbc":
        return wdbc_sample(c, *((80, 120) if n == N else (None, None))), kernel
    return c.load(f"{name}:{n}"), kernel


def in_pairs(job: Job, c: Context) -> Measured:
    """Return errors and bounds by landmarks, each set containing the one before, and pairs."""
    (data, kernel), made, found = given(job, c), None, []
    order, rng = c.rng("landmarks").permutation(N), c.rng("pairs")
    for d in (round(share * N) for share in SHARES):
        made = prepare(data.X, data.y, kernel, LAM, data.X[order[:d]], tol=TOL, solved=made)
        draws = [made.draw(B, rng) for B in DRAWN]
        line: dict[str, Any] = {"d": d, "nystrom": made.nystrom}
        line["loss difference"] = [draw.loss_difference for draw in draws]
        line["excess"] = [draw.excess for draw in draws]
        for bound, at in ((EXCESS, "I"), (POSTERIOR, "II"), (PRINTED, "printed")):
            line[f"bound {at}"] = [draw.bounds[bound].at_least for draw in draws]
        found.append(line)
    return {"by d": found}


def in_landmarks(job: Job, c: Context) -> Measured:
    """Return what the span of the landmarks loses, and Theorem 4' (A), by rule."""
    (data, kernel), made, found = given(job, c), None, {}
    for rule in RULES if job["set"] in TWO else RULES[:1]:
        found[rule] = {"loss": [], "bound": []}
        for d in LANDMARKS:
            asked = (data.X, d, kernel, data.is_positive, c.draw_seed(f"{d}"))
            points = np.asarray(choose_landmarks(rule, *asked).rows)
            made = prepare(data.X, data.y, kernel, LAM, points, tol=TOL, solved=made)
            found[rule]["loss"].append(made.nystrom)
            found[rule]["bound"].append(made.draw(N, c.rng("pairs")).bounds[NYSTROM].at_least)
    return found


def in_lam(job: Job, c: Context) -> Measured:
    """Return the excess of B = 10 n pairs, and Theorem 4' (I), by lam."""
    (data, kernel), found = given(job, c), {"excess": [], "bound": []}
    for lam in LAMS:
        made = prepare(data.X, data.y, kernel, lam, N // 5, c.draw_seed("landmarks"), TOL)
        draw = made.draw(10 * N, c.rng("pairs"))
        found["excess"].append(draw.excess - draw.nystrom)
        found["bound"].append(draw.bounds[EXCESS].at_least)
    return found


def all_active(job: Job, c: Context) -> Measured:
    """Return the mean excess where every hinge is active, over tr Cov(Delta) / (2 lam B)."""
    lam, rng = 1e3, c.rng("pairs")
    apart = differences(c.load(f"linear:{N}"))
    trace, mean = float(apart.var(axis=0).sum()), apart.mean(axis=0)

    def excess(B: int) -> float:
        return float(np.square(apart[rng.integers(len(apart), size=B)].mean(0) - mean).sum())

    found = [np.mean([excess(B) for _ in range(50)]) / (2 * lam) for B in DRAWN]
    return {"excess": found, "trace": trace / (2 * lam)}


def in_features(job: Job, c: Context, n: int = N) -> Sample:
    data, kernel = given(job, c, n)
    points = choose_landmarks("kmeans", data.X, 40, kernel, None, c.draw_seed("landmarks")).rows
    return Sample(nystrom_map(kernel, points).transform(data.X), data.is_positive)


def in_steps(job: Job, c: Context) -> Measured:
    """Return the relative excess of Adamax by steps, and of NSAUC by lam and epochs."""
    sample, seed, found = in_features(job, c), c.draw_seed("pairs"), {}
    tried: dict[str, Any] = {"Adamax": (LAM, [Adamax(tol=0.0, max_iter=k) for k in STEPPED])}
    for lam in SGD_LAMS:
        tried[f"NSAUC {lam:g}"] = lam, [PairSGD(max_epochs=k, seed=seed) for k in EPOCHS]
    for name, (lam, solvers) in tried.items():
        problem = sample.problem("hinge", lam)
        best = optimum(problem, tol=TOL).certificate.dual
        found[name] = [problem.objective(s.solve(problem).w) / best - 1 for s in solvers]
    return found


def in_newton(job: Job, c: Context) -> Measured:
    """Return the relative gaps of truncated Newton step by step, by rows."""
    found = {}
    for n in job.budget["rows of Newton's problems"] if job["set"] == TWO[0] else [569]:
        problem = in_features(job, c, n).problem("squared_hinge", LAM)
        history = TruncatedNewton(TOLERANCES[-1]).solve(problem).history
        found[str(n)] = [max(step.gap / step.primal, 0.0) for step in history]
    return found


def in_theory(job: Job, c: Context) -> Measured:
    """Return the distance of Theorem 1's own walk to the exact sparse optimum, and its bound."""
    runs, bounds = walks(c, "data", *CASES[1])
    return {
        "distance": runs.mean(axis=0)[WALKED],
        "bound": [bounds[t].total for t in WALKED],
        "plateau": bounds[0].terms["tolerance"],
        "kappa": bounds[0].quantities["kappa"],
    }


def as_published(job: Job, c: Context) -> Measured:
    """Return what SHT-AUC's objective is above its end, by epoch."""
    data = sparse_mean_shift(500, c.draw_seed("data"), d=200, k_star=10, r=0.25, normalize=True)
    solver = StochasticHardThresholding(10, block_size=50, max_epochs=200, tol=0.0, mode="authors")
    solution = solver.solve(sparse_problem(data.X, data.y))
    values = np.array([line.objective for line in solution.history])
    return {"excess": values[:100] - values.min()}


# What is measured, and on which sets.
MEASURES: dict[str, tuple[Callable[[Job, Context], Measured], tuple[str, ...]]] = {
    "pairs": (in_pairs, SETS),
    "landmarks": (in_landmarks, (*TWO, "identity")),
    "lam": (in_lam, TWO),
    "steps": (in_steps, TWO),
    "newton": (in_newton, TWO),
    "active": (all_active, ("own",)),
    "theory": (in_theory, ("own",)),
    "published": (as_published, ("own",)),
}


@dataclass(frozen=True)
class Line:
    """What converges, where, what theory has, what was measured, and against what."""

    what: str
    where: str
    theory: str
    measured: str
    reference: str
    note: str = ""
    agrees: str = ""


def half(values: Sequence[float] | np.ndarray) -> float:
    """Return half of Student's interval of 95 % of a mean over repetitions; 0 for one."""
    count = len(values)
    return float(stats.sem(values) * stats.t.ppf(0.975, count - 1)) if count > 1 else 0.0


def interval(values: Sequence[float] | np.ndarray, digits: int = 2) -> str:
    error = f" ± {half(values):.{digits}f}" if len(values) > 1 else ""
    return f"{np.mean(values):.{digits}f}{error}"


def exponent(
    what: str, where: str, theory: str, one: float, values: np.ndarray, reference: str, note: str
) -> Line:
    """Return a line of an exponent of which theory has this one."""
    away = float(np.mean(values)) - one
    agrees = "yes" if abs(away) <= half(values) else "faster" if away < 0 else "slower"
    return Line(what, where, theory, interval(values), reference, note, agrees)


def slopes(x: Sequence[float], values: Any) -> np.ndarray:
    """Return the slope of log y against log x of each repetition."""
    return np.polyfit(np.log(x), np.log(np.maximum(np.array(values), SMALL)).T, 1)[0]


def times(bound: Any, truth: Any) -> str:
    """Return how far above the truth a bound is at both ends, at the median."""
    ratio = np.median(np.array(bound) / np.maximum(np.array(truth), SMALL), axis=0)
    return f"{ratio[0]:.2g} to {ratio[-1]:.2g} times"


def by_d(results: Results, where: str, at: int, name: str) -> np.ndarray:
    """Return a number of `pairs` at one number of landmarks: (repetitions, B), or (repetitions)."""
    made = results.select(kind="pairs", set=where)
    return np.array([record["by d"][at][name] for record in made], dtype=float)


def sampling(results: Results, where: str) -> np.ndarray:
    """Return F(f~_B) - p*_P, (repetitions, B); below the certified gap it would be noise."""
    excess = by_d(results, where, 1, "excess") - by_d(results, where, 1, "nystrom")[:, None]
    return np.maximum(excess, TOL)


def lines(results: Results) -> Iterator[Line]:
    agrees = {True: "yes", False: "no"}
    for where in SETS:
        lost = by_d(results, where, -1, "loss difference")
        if not lost.size:
            continue
        floor = np.median(by_d(results, where, 0, "loss difference")[:, -1])
        above = times(by_d(results, where, -1, "bound II"), lost)
        what = "loss difference U(f^) − U_B(f~_B) in B, all landmarks"
        note = f"d = n/20 stops at {floor:.2g}; Theorem 4′ (II) {above}"
        yield exponent(what, where, "−1/2", -0.5, slopes(DRAWN, lost), "certified f^", note)
        found, bound = sampling(results, where), by_d(results, where, 1, "bound I")
        what = "F(f~_B) − p*_P in B, d = n/5"
        note = f"Theorem 4′ (I) {interval(slopes(DRAWN, bound))}, {times(bound, found)}"
        yield exponent(what, where, "−1", -1, slopes(DRAWN, found), "certified p*_P", note)
    if (found := results.values("excess", kind="active")).size:
        scaled = found * DRAWN / results.values("trace", kind="active")[:, None]
        ends = scaled.mean(axis=0).min(), scaled.mean(axis=0).max()
        what, note = "the same, every hinge active", "{:.2f} to {:.2f} times it".format(*ends)
        yield exponent(what, "linear", "−1", -1, slopes(DRAWN, found), "tr Cov Δ / (2 λB)", note)
    for where, rule in product((*TWO, "identity"), RULES):
        made = results.select(kind="landmarks", set=where)
        if found := [record[rule] for record in made if rule in record]:
            lost = np.maximum([one["loss"] for one in found], SMALL)
            per_ten = interval(-1 / np.polyfit(LANDMARKS, np.log10(lost).T, 1)[0], 0)
            above = np.median(np.array([one["bound"] for one in found]) / lost)
            slope, note = f"{per_ten} landmarks for a factor of 10", f"Theorem 4′ (A) {above:.2g}"
            slope = "no rate" if where == "identity" else slope
            what = f"p*_P − p* in d, {rule}"
            yield Line(what, where, "no power of d", slope, "both certified", f"{note} times")
    for where in TWO:
        if (found := results.values("excess", kind="lam", set=where)).size:
            slope, bound = slopes(LAMS, found), results.values("bound", kind="lam", set=where)
            note = f"Theorem 4′ (I) {interval(slopes(LAMS, bound))}, {times(bound, found)}"
            said = interval(slope), "certified p*_P", note, agrees[min(slope) > -1]
            yield Line("F(f~_B) − p*_P in λ, B = 10 n", where, "−1 at worst", *said)
    for where in TWO:
        if made := [*results.select(kind="steps", set=where)]:
            slope = interval(slopes(STEPPED, [r["Adamax"] for r in made]))
            yield Line("excess in steps, Adamax", where, "not in print", slope, "certified optimum")
        for lam in SGD_LAMS if made else ():
            slope = slopes(EPOCHS, [r[f"NSAUC {lam:g}"] for r in made])
            what, theory = f"excess in epochs, NSAUC {lam:g}", "−1 where λT ≫ 1"
            note = f"λT from {lam * N:g} to {lam * N * EPOCHS[-1]:g}"
            yield exponent(what, where, theory, -1, slope, "certified optimum", note)
        made = [*results.select(kind="newton", set=where)]
        for n in filter(str.isdigit, made[0] if made else ()):
            gaps = [np.array(r[n]) for r in made]
            steps = [max(np.flatnonzero(one <= tol)[0] for one in gaps) for tol in TOLERANCES]
            ends = [np.log(one[one > 1e-13][-2:]) for one in gaps]
            orders = [last / before for before, last in ends]
            note = f"{', '.join(map(str, steps))} steps to gaps of 1e-2, 1e-4, 1e-8, 1e-12"
            said = interval(orders), "its own certificate", note, agrees[min(orders) > 1]
            yield Line(f"truncated Newton, order, n = {n}", where, "above 1", *said)
    if (kappa := results.values("kappa", kind="theory")).size:
        each = (results.values(name, kind="theory") for name in ("distance", "bound"))
        ends, allowed = (found[:, -1] for found in each)
        theory, measured = f"at most {allowed.mean():.3f}", f"plateau {interval(ends, 3)}"
        note = f"kappa {kappa.mean():.2f} a step"
        said = measured, "exact sparse optimum", note, agrees[max(ends) < min(allowed)]
        yield Line("SHT, distance to w*, Theorem 1’s step", "20,000 × 10", theory, *said)
    if (excess := results.values("excess", kind="published")).size:
        left = np.maximum(excess, SMALL)
        rate = np.exp(np.polyfit(np.arange(left.shape[1]), np.log(left).T, 1)[0])
        said = interval(rate, 3), "where it ends", "", agrees[rate.max() < 1]
        yield Line("SHT-AUC as published, factor an epoch", "500 × 200", "below 1", *said)


def panel(
    title: str, labels: tuple[str, str], curves: Any, log_x: bool = True, low: float = SMALL
) -> Iterator[Panel]:
    """Yield a panel of medians over the repetitions, if some have been run."""
    medians = [(name, at, np.median(values, axis=0)) for name, at, values in curves if len(values)]
    series = (Series.of(name, at, np.maximum(median, low)) for name, at, median in medians)
    if medians:
        yield Panel(title, *labels, tuple(series), log_x, log_y=True)


def panels(results: Results) -> Iterator[Panel]:
    for where in TWO:
        for y, name in (("|U(f^) − U_B(f~_B)|", "loss difference"), ("F(f~_B) − p*", "excess")):
            each = enumerate(SHARES)
            ds = [(f"d = {N * d:.0f}", DRAWN, by_d(results, where, k, name)) for k, d in each]
            yield from panel(where, ("drawn pairs, B", y), ds)
        made = [*results.select(kind="landmarks", set=where)]
        rules = [(rule, LANDMARKS, [one[rule]["loss"] for one in made]) for rule in RULES]
        yield from panel(where, ("landmarks, d", "p*_P − p*"), rules, log_x=False)
    sets = [(where, LAMS, results.values("excess", kind="lam", set=where)) for where in TWO]
    yield from panel("B = 10 n", ("λ", "F(f~_B) − p*_P"), sets)
    walked = [(lam, results.values(f"NSAUC {lam:g}", kind="steps", set=TWO[0])) for lam in SGD_LAMS]
    lams = [(f"λ = {lam:g}", [lam * N * k for k in EPOCHS], gaps) for lam, gaps in walked]
    yield from panel("NSAUC", ("λT", "relative excess"), lams)
    if first := next(results.select(kind="newton", set=TWO[0]), None):
        gaps = {n: (*first[n], *[0.0] * 5)[:5] for n in first if n.isdigit()}
        sizes = [(f"n = {n}", range(1, 6), [of_n]) for n, of_n in gaps.items()]
        yield from panel("truncated Newton", ("step", "relative gap"), sizes, False, low=0.0)
    names = (("SHT", "distance"), ("Theorem 1", "bound"))
    both = [(label, WALKED, results.values(name, kind="theory")) for label, name in names]
    yield from panel("SHT and the exact w*", ("step", "|w_t − w*|"), both, log_x=False)


@table("convergence", "convergence")
def convergence(page: Page) -> None:
    for line in lines(page.results):
        shown = asdict(line)
        row = f"{shown.pop('what')}; {shown.pop('where')}"
        for column, text in shown.items():
            page.enter(row, column.replace("reference", "exact reference"), None, text)
    page.panels = [*panels(page.results)]
