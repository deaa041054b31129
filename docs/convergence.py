"""Write the numbers and the picture of approximations.md: python docs/convergence.py

Everything is measured against certified optima; a slope is that of log excess against log size,
with Student's interval of 95 % over repetitions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import matplotlib
import numpy as np
from scipy import stats

from aucert.approx.landmarks import choose_landmarks
from aucert.approx.newton.truncated_newton import TruncatedNewton
from aucert.approx.nsauc import PairSGD
from aucert.approx.nystrom import nystrom_map
from aucert.approx.sht import StochasticHardThresholding, sparse_problem
from aucert.approx.subgradient import Adamax
from aucert.exact.losses.registry import SQUARED_HINGE
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.problem.problem import Problem, Ridge, pair_problem
from aucert.exact.spaces.kernels import Gaussian
from aucert.exact.spaces.rows import Rows
from aucert.validation.bounds.exact_answers import hinge_problem, optimum
from aucert.validation.bounds.experiment import EXCESS, NYSTROM, PRINTED, prepare
from aucert.validation.data import datasets
from aucert.validation.data.generators import sparse_mean_shift

HERE = Path(__file__).resolve().parent
BLOCK = re.compile(r"(<!-- measured -->\n).*?(<!-- end -->)", re.DOTALL)
N, LAM, REPEATS = 200, 0.1, 10
KERNEL = Gaussian(0.5)
RULES = ("uniform", "stratified", "kmeans", "pivoted", "leverage")
SMALL = 1e-13

Row = tuple[str, str, str, str]


def slope(sizes: Sequence[float], values: np.ndarray) -> str:
    """Return the mean slope over repetitions (rows of values) and its interval."""
    kept = np.maximum(values, SMALL)
    return interval([np.polyfit(np.log(sizes), np.log(line), 1)[0] for line in kept])


def interval(found: Sequence[float], digits: int = 2) -> str:
    """Return a mean over repetitions and half of Student's interval of 95 %."""
    error = float(np.std(found, ddof=1) / len(found) ** 0.5)
    half = float(stats.t.ppf(0.975, len(found) - 1)) * error
    return f"{float(np.mean(found)):.{digits}f} ± {half:.{digits}f}"


def vacuous(sizes: Sequence[float], bounds: np.ndarray) -> str:
    """Return how far a bound is above 1, and from which size on it is below."""
    middle = np.median(bounds, axis=0)
    below = [size for size, value in zip(sizes, middle, strict=True) if value < 1]
    start = f"{middle[0]:.2g} at {sizes[0]:g}"
    if len(below) == len(sizes):
        return f"{start}, nowhere vacuous"
    return f"{start}, below 1 from {below[0]:g} on" if below else f"{start}, never below 1"


def in_pairs() -> list[Row]:
    """Return slopes in B, of the excess and of Theorem 4' (I) beside it."""
    sizes = [N * 4**k for k in range(5)]
    truth, bound, printed = (np.empty((REPEATS, len(sizes))) for _ in range(3))
    for at in range(REPEATS):
        data = datasets.load(f"radial:{N}", at)
        made = prepare(data.X, data.y, KERNEL, LAM, N // 5, at)
        rng = np.random.default_rng(at)
        for k, B in enumerate(sizes):
            draw = made.draw(B, rng)
            truth[at, k] = draw.excess - draw.nystrom
            bound[at, k] = draw.bounds[EXCESS].at_least
            printed[at, k] = draw.bounds[PRINTED].at_least
    ratio = np.median(bound / np.maximum(truth, SMALL), axis=0)
    return [
        ("B, pairs drawn", "F(f~_B) - p*_P", slope(sizes, truth), f"{sizes[0]} to {sizes[-1]}"),
        (
            "B",
            "Theorem 4' (I)",
            slope(sizes, bound),
            f"{ratio[0]:.0f} to {ratio[-1]:.0f} times; {vacuous(sizes, bound)}",
        ),
        (
            "B",
            "Theorem 4 as printed",
            slope(sizes, printed),
            f"{np.median(printed[:, 0]):.1e} to {np.median(printed[:, -1]):.1e}; vacuous above 1",
        ),
    ]


def lower_in_pairs() -> Row:
    """Return the slope where every hinge is active, and the closed form tr Cov / (2 lam B)."""
    data, lam = datasets.load(f"linear:{N}", 0), 1e3
    plus, minus = data.X[data.is_positive], data.X[~data.is_positive]
    differences = (plus[:, None] - minus[None]).reshape(-1, data.X.shape[1])
    mean, trace = differences.mean(axis=0), float(differences.var(axis=0).sum())
    sizes, rng = [N * 4**k for k in range(5)], np.random.default_rng(0)
    found = np.array(
        [
            [
                np.square(differences[rng.integers(len(differences), size=B)].mean(0) - mean).sum()
                / (2 * lam)
                for B in sizes
            ]
            for _ in range(200)
        ]
    )
    ratio = found.mean(axis=0) * 2 * lam * np.array(sizes) / trace
    note = f"{ratio.min():.2f} to {ratio.max():.2f} times tr Cov(Delta) / (2 lam B)"
    return ("B, lower bound", "every hinge active", slope(sizes, found), note)


def in_landmarks() -> list[Row]:
    """Return the slope in d of what the span of the landmarks loses, by rule."""
    sizes, rows = [5, 10, 20, 40, 80], []
    for rule in RULES:
        truth, bound = np.empty((5, len(sizes))), np.empty((5, len(sizes)))
        for at in range(5):
            data = datasets.load(f"radial:{N}", at)
            for k, d in enumerate(sizes):
                found = choose_landmarks(rule, data.X, d, KERNEL, data.is_positive, at)
                made = prepare(data.X, data.y, KERNEL, LAM, np.asarray(found.rows))
                truth[at, k] = max(made.nystrom, SMALL)
                draw = made.draw(N, np.random.default_rng(at))
                bound[at, k] = max(draw.bounds[NYSTROM].at_least, SMALL)
        note = f"Theorem 4' (A) {np.median(bound / truth):.1f} times, median; "
        note += vacuous(sizes, bound)
        rows.append(("d, landmarks", rule, slope(sizes, truth), note))
    return [*rows, lower_in_landmarks(sizes)]


def lower_in_landmarks(sizes: list[int]) -> Row:
    """Return the slope where all rows are so far apart that the kernel matrix is the identity."""
    found = np.empty((5, len(sizes)))
    for at in range(5):
        data = datasets.load(f"radial:{N}", at)
        for k, d in enumerate(sizes):
            made = prepare(data.X, data.y, Gaussian(1e8), LAM, d, at)
            found[at, k] = max(made.nystrom, SMALL)
    note = "each row that is no landmark is lost whole"
    return ("d, lower bound", "rows far apart, K = I", slope(sizes, found), note)


def in_lam() -> list[Row]:
    """Return the slopes in lam at B = 10 n, of the excess and of Theorem 4' (I) beside it."""
    lams = [1.0, 0.3, 0.1, 0.03, 0.01]
    truth, bound = (np.empty((REPEATS, len(lams))) for _ in range(2))
    for at in range(REPEATS):
        data = datasets.load(f"radial:{N}", at)
        for k, lam in enumerate(lams):
            made = prepare(data.X, data.y, KERNEL, lam, N // 5, at)
            draw = made.draw(10 * N, np.random.default_rng(at))
            truth[at, k] = draw.excess - draw.nystrom
            bound[at, k] = draw.bounds[EXCESS].at_least
    ratio = np.median(bound / np.maximum(truth, SMALL), axis=0)
    note = f"{ratio[0]:.0f} to {ratio[-1]:.0f} times; {vacuous(lams[::-1], bound[:, ::-1])}"
    return [
        ("lam", "F(f~_B) - p*_P, B = 10 n", slope(lams, truth), "1 to 0.01"),
        ("lam", "Theorem 4' (I), B = 10 n", slope(lams, bound), note),
        ("lam, lower bound", "every hinge active", "-1", "exactly: tr Cov(Delta) / (2 lam B)"),
    ]


def features(at: int, d: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """Return Nyström features of the radial model and the mask of its positive rows."""
    data = datasets.load(f"radial:{N}", at)
    points = choose_landmarks("kmeans", data.X, d, KERNEL, None, at).rows
    return nystrom_map(KERNEL, points).transform(data.X), data.is_positive


def excess(problem: Problem, solve: Callable[[int], np.ndarray], steps: Sequence[int]) -> list:
    """Return the relative excess of the objective after each number of steps."""
    best = optimum(problem, tol=1e-9).certificate.dual
    return [max(problem.objective(solve(k)) / best - 1, SMALL) for k in steps]


def in_iterations() -> list[Row]:
    """Return how each iterative method comes near its optimum."""
    steps, rows, lines = [10, 30, 100, 300, 1000], [], []
    for at in range(5):
        data = datasets.load(f"radial:{N}", at)
        F, _ = features(at)
        problem = hinge_problem(data, LAM, space=Rows(F))
        lines.append(
            excess(problem, lambda k, p=problem: Adamax(tol=0.0, max_iter=k).solve(p).w, steps)
        )
    rows.append(("steps", "Adamax", slope(steps, np.array(lines)), "10 to 1,000"))
    for lam in (1e-1, 1e-2, 1e-3):
        epochs, lines = [1, 4, 16, 64], []
        for at in range(5):
            data = datasets.load(f"radial:{N}", at)
            F, _ = features(at)
            problem = hinge_problem(data, lam, space=Rows(F))
            run = lambda k, p=problem, s=at: PairSGD(max_epochs=k, seed=s).solve(p).w  # noqa: E731
            lines.append(excess(problem, run, epochs))
        note = f"lam T from {lam * N:g} to {lam * N * 64:g}"
        rows.append(("epochs", f"NSAUC, lam = {lam:g}", slope(epochs, np.array(lines)), note))
    return [*rows, newton_order(), contraction()]


def newton_order() -> Row:
    """Return the order of truncated Newton at its end: log of a gap over that of the one before."""
    orders, gaps = [], []
    for at in range(REPEATS):
        F, positive = features(at)
        problem = pair_problem(Rows(F), positive, AllPairs(), SQUARED_HINGE, Ridge(LAM))
        history = TruncatedNewton(1e-13).solve(problem).history
        gaps = [step.gap / step.primal for step in history if step.gap > SMALL]
        orders.append(np.log(gaps[-1]) / np.log(gaps[-2]))
    note = f"relative gaps {', '.join(f'{gap:.0e}' for gap in gaps)}"
    return ("steps", "truncated Newton, order", interval(orders), note)


def contraction() -> Row:
    """Return the factor an epoch by which SHT-AUC comes nearer to where it ends."""
    kappas = []
    for at in range(REPEATS):
        data = sparse_mean_shift(500, at, d=200, k_star=10, r=0.25, normalize=True)
        solver = StochasticHardThresholding(
            10, block_size=50, max_epochs=200, tol=0.0, mode="authors"
        )
        history = solver.solve(sparse_problem(data.X, data.y)).history
        values = np.array([line.objective for line in history])
        left = np.maximum(values[:100] - values.min(), SMALL)
        kappas.append(float(np.exp(np.polyfit(np.arange(left.size), np.log(left), 1)[0])))
    return ("epochs", "SHT-AUC as published, kappa", interval(kappas, 3), "linear, an epoch")


def picture() -> None:
    """Draw the excess over B and d together."""
    pairs, landmarks = [N * 4**k for k in range(5)], [5, 10, 20, 40, 80, 200]
    found = np.empty((len(landmarks), len(pairs)))
    for i, d in enumerate(landmarks):
        for j, B in enumerate(pairs):
            data = datasets.load(f"radial:{N}", 0)
            made = prepare(data.X, data.y, KERNEL, LAM, d, 0)
            draws = [made.draw(B, np.random.default_rng(at)).excess for at in range(5)]
            found[i, j] = float(np.median(draws))
    matplotlib.rcParams["svg.hashsalt"] = "aucert"
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.subplots()
    for line, d in zip(found, landmarks, strict=True):
        axes.plot(pairs, line, marker="o", label=f"d = {d}")
    label = {"xlabel": "drawn pairs, B", "ylabel": "F(f~_B) - p*"}
    axes.set(xscale="log", yscale="log", **label)
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(HERE / "_static" / "convergence.svg", metadata={"Date": None})


def main() -> None:
    """Write the table between the comments, and the picture."""
    rows = [*in_pairs(), lower_in_pairs(), *in_landmarks(), *in_lam(), *in_iterations()]
    lines = ["| in | of | slope | |", "|---|---|---|---|", *(f"| {' | '.join(r)} |" for r in rows)]
    page = HERE / "approximations.md"
    text = page.read_text(encoding="utf-8")
    table = "\n".join(["", *lines, "", ""])
    page.write_text(BLOCK.sub(lambda m: m[1] + table + m[2], text), encoding="utf-8")
    picture()


if __name__ == "__main__":
    main()
