"""The claims of "Scalable Nonlinear AUC Maximization Methods" [Nonlinear].

What each says stands in nonlinear.toml.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import product
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...approx import nsauc
from ...approx.landmarks import kmeans
from ...approx.newton.nbauc import NBAUC
from ...approx.newton.newton_equation import NewtonPoint, SortedCurvature, direction
from ...approx.newton.truncated_newton import TruncatedNewton
from ...approx.nsauc import PairSGD, Schedule, Walk
from ...approx.nystrom import nystrom_map
from ...exact.certificate.solution import Solution
from ...exact.losses.registry import SQUARED_HINGE
from ...exact.pairs.all_pairs import AllPairs
from ...exact.problem.problem import Problem, Ridge, linear_problem, pair_problem
from ...exact.problem.scalings import lam_from_C
from ...exact.spaces.kernels import Gaussian
from ...exact.spaces.rows import Rows
from ...exact.sums import loops
from ..bounds.exact_answers import hinge_problem, optimum
from ..data import datasets
from ..data.labelled_data import Dataset, make_dataset
from ..data.printed_numbers import numbers
from ..extremes import highest, lowest
from .claim import Context, Outcome, Verdict
from .common import wdbc_sample
from .counting import Cells, Counted, CountedRows, Tally
from .judge import at_most, grows_like, judged, sandwich

# Algorithm 1: the feature map.


def map_error(c: Context, printed: bool) -> Outcome:
    """Judge that the embedding has the Nystrom approximation as its Gram matrix."""
    data, kernel = wdbc_sample(c, 40, 60), Gaussian(1 / 30)
    points = kmeans(data.X, 15, c.draw_seed("landmarks")).rows
    W, E = kernel(points, points), kernel(data.X, points)
    values, U = np.linalg.eigh(W)
    right = E @ np.linalg.pinv(W) @ E.T
    root = np.diag(values**-0.5)
    columns = U @ root @ E.T if printed else root @ U.T @ E.T
    error = float(np.abs(columns.T @ columns - right).max() / np.abs(right).max())
    errors = {"relative error of the Gram matrix": error}
    measured = f"off by {error:.1e} of the largest entry"
    return at_most(errors, 1e-8, (data,), measured=measured)


class CountingKernel(Gaussian):
    """A Gaussian kernel that counts its entries."""

    entries = 0

    def __call__(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        type(self).entries += len(X) * len(Z)
        return super().__call__(X, Z)


def nystrom_cost_is_linear_in_the_rows(c: Context) -> Outcome:
    sizes, mapped, whole = (250, 500, 1000, 2000), [], []
    for n in sizes:
        data, kernel = datasets.load(f"radial:{n}", c.draw_seed(f"{n}")), CountingKernel(0.5)
        CountingKernel.entries = 0
        points = kmeans(data.X, 50, c.draw_seed(f"landmarks {n}")).rows
        nystrom_map(kernel, points).transform(data.X)
        mapped.append(CountingKernel.entries)
        CountingKernel.entries = 0
        kernel(data.X, data.X)
        whole.append(CountingKernel.entries)
    slopes = [grows_like(sizes, counts) for counts in (mapped, whole)]
    return judged(
        slopes[0] <= 1.01 and slopes[1] >= 1.99,
        f"entries grow like n^{slopes[0]:.2f}, those of the kernel matrix like n^{slopes[1]:.2f}",
    )


# Algorithm 2: the gradient, the steps, and the optimum that they reach.

PLUS, MINUS, C = ((3, 1), (-4, 4)), ((-4, 3), (2, 1)), 10  # for which full Newton steps cycle

Point = tuple[Fraction, Fraction]


def fixture() -> Problem:
    """Return [Nonlinear, eq. (5)] with p = 2 on the four rows, in the house's scaling."""
    lam = lam_from_C(float(C), len(PLUS) * len(MINUS), "nonlinear-2")
    return linear_problem(np.array(PLUS + MINUS, float), [1, 1, 0, 0], lam, "squared_hinge")


def differences() -> list[tuple[int, int]]:
    """Return x_i - x_j of all pairs of the four rows."""
    return [(p[0] - m[0], p[1] - m[1]) for p in PLUS for m in MINUS]


def exact_objective(w: Point) -> Fraction:
    """Return 1/2 |w|^2 + C sum max(0, 1 - w'(x_i - x_j))^2."""
    hinges = (highest(Fraction(0), 1 - w[0] * a - w[1] * b) for a, b in differences())
    return (w[0] ** 2 + w[1] ** 2) / 2 + C * sum(hinge**2 for hinge in hinges)


def exact_newton(w: Point) -> Point:
    """Return the point after one full Newton step, in rational arithmetic.

    The minimiser of the quadratic that F is on the active set of w:
    (I + 2C sum d d') w = 2C sum d over the active pairs' d = x_i - x_j.
    """
    active = [d for d in differences() if w[0] * d[0] + w[1] * d[1] < 1]
    a, b, c = (
        Fraction(unit + 2 * C * sum(d[i] * d[j] for d in active))
        for unit, i, j in ((1, 0, 0), (0, 0, 1), (1, 1, 1))
    )
    right = [Fraction(2 * C * sum(d[i] for d in active)) for i in (0, 1)]
    det = a * c - b * b
    return (c * right[0] - b * right[1]) / det, (a * right[1] - b * right[0]) / det


def certified(problem: Problem, tol: float) -> Solution:
    """Return the answer of truncated Newton with a line search."""
    return TruncatedNewton(tol=tol).solve(problem)


def full_newton_steps_converge(c: Context) -> Outcome:
    path: list[Point] = [(Fraction(0), Fraction(0))]
    while path[-1] not in path[:-1] and len(path) < 100:
        path.append(exact_newton(path[-1]))
    start = path.index(path[-1])
    values = [float(exact_objective(w)) for w in path[start:-1]]
    problem = fixture()  # its objective is lam times that of (5)
    best = certified(problem, 1e-12).certificate.primal / problem.lam
    shown = ", ".join(f"{value:.4f}" for value in values)
    # Of full steps print promises nothing: that they need not converge contradicts nobody.
    return Outcome(
        Verdict.HOLDS if len(values) == 1 and abs(values[0] - best) < 1e-6 else Verdict.VACUOUS,
        f"full steps end in a cycle of length {len(values)}: F = {shown}",
        details={"objectives on the cycle": values, "the optimum, certified": best},
    )


def tied_problems(c: Context) -> list[Problem]:
    """Return random problems of whole numbers: many ties, some of them at the kinks."""
    rng, problems = c.rng("problems"), []
    for _ in range(50 if c.quick else 1000):
        n, d = int(rng.integers(4, 13)), int(rng.integers(1, 4))
        X, y = rng.integers(-4, 5, (n, d)).astype(float), rng.permutation(n) < rng.integers(1, n)
        problems.append(linear_problem(X, y, float(10.0 ** rng.integers(-3, 1)), "squared_hinge"))
    return problems


def newton_with_a_line_search_converges(c: Context) -> Outcome:
    problems = [fixture(), *tied_problems(c)]
    reached = sum(certified(one, 1e-10).certificate.reaches(1e-10) for one in problems)
    measured = f"certified in {reached} of {len(problems)} problems"
    return judged(reached == len(problems), measured)


def nbauc_reaches_its_optimum(c: Context) -> Outcome:
    radial = datasets.load(f"radial:{1000 if c.quick else 20_000}", c.draw_seed("data"))
    sets = ((wdbc_sample(c), 1 / 30), (radial, 0.5))
    holds, worst, steps = True, 0.0, 0
    for (data, gamma), lam in product(sets, (1e-1, 1e-3, 1e-5)):
        model = NBAUC(lam, gamma=gamma, n_landmarks=50, tol=1e-10, random_state=0)
        certificate = model.fit(data.X, data.y).certificate_
        holds &= certificate.reaches(1e-10)
        worst = highest(worst, certificate.gap / certificate.primal)
        steps = highest(steps, model.n_iter_)
    measured = f"relative gap at most {worst:.1e}, {steps} steps at most"
    return judged(holds, measured, [data for data, _ in sets])


def gradient(c: Context, factor: float) -> Outcome:
    """Judge that w - factor C D'A X is the derivative of (5) with p = 2, by differences."""
    data = wdbc_sample(c, 20, 30)
    plus, minus = data.X[data.is_positive], data.X[~data.is_positive]
    pairs = (plus[:, None] - minus[None]).reshape(-1, data.X.shape[1])
    rng, cost, worst = c.rng("points"), 0.01, 0.0

    def objective(w: np.ndarray) -> float:
        return float(w @ w) / 2 + cost * float(np.square(np.maximum(0, 1 - pairs @ w)).sum())

    for _ in range(10):
        w, v = rng.standard_normal((2, data.X.shape[1])) / 10
        found = w - factor * cost * np.maximum(0, 1 - pairs @ w) @ pairs
        # F is piecewise quadratic: central differences are exact but for the kinks they cross.
        slope = (objective(w + 1e-5 * v) - objective(w - 1e-5 * v)) / 2e-5
        worst = highest(worst, abs(float(found @ v) - slope) / abs(slope))
    measured = f"off by up to {worst:.1e} of a directional derivative"
    errors = {"largest relative difference": worst}
    return at_most(errors, 1e-5, (data,), measured=measured)


def printed_gradient_solves_for_half_of_c(c: Context) -> Outcome:
    data = wdbc_sample(c, 40, 60)
    problem = pair_problem(Rows(data.X), data.is_positive, AllPairs(), SQUARED_HINGE, Ridge(0.1))
    literal = TruncatedNewton(tol=1e-12, paper_literal=True, max_iter=500).solve(problem)
    half = certified(replace(problem, penalty=Ridge(0.2)), 1e-12)
    distance = float(np.linalg.norm(literal.w - half.w) / np.linalg.norm(half.w))
    gap = literal.certificate.relative_gap
    return judged(
        distance <= 1e-5 and (gap is None or gap >= 1e-3),
        f"distance to the optimum for C/2: {distance:.1e}; certified gap for C: {gap:.2g}",
        (data,),
    )


# Printed costs of one product with H and of one random step [Section 4]: operations are counted
# while the library's own code runs on arrays that count what is done with them.

ROWS, COLUMNS = (1 << 8, 1 << 11, 1 << 14), (4, 32, 256)  # rows at 4 columns, columns at 512 rows
STEPS, SKIP = 64, 16
NEVER = STEPS + 1  # a schedule that is never due: the update alone
MARGIN = 0.02  # what an exponent may be off by; a sort added to each product would add 0.04


def normal_rows(c: Context, n: int, d: int) -> Dataset:
    """Return normal rows, a quarter of them positive."""
    rng = c.rng(f"{n} {d}")
    y = rng.permutation(n) < n // 4
    source = "independent normal coordinates, a quarter of the rows positive"
    return make_dataset(f"normal rows, {n} x {d}", rng.normal(size=(n, d)), y, source=source)


def interpreted(module: ModuleType, name: str) -> Any:
    """Return a compiled function of a module as Python runs it, callees too."""
    scope = {key: getattr(value, "__wrapped__", value) for key, value in vars(module).items()}
    return FunctionType(scope[name].__code__, scope)


def hessian_products(c: Context, data: Dataset) -> tuple[float, float]:
    """Return operations a product with H, and the residual of a step against H from the pairs."""
    n, d = data.X.shape
    pairs, lam = AllPairs(), 1e-2
    problem = pair_problem(CountedRows(data.X), data.is_positive, pairs, SQUARED_HINGE, Ridge(lam))
    point = NewtonPoint.at(problem, c.rng(f"point {n} {d}").normal(size=d) / d**0.5)
    slope = np.array(point.gradient)
    for name, value in vars(point.curved).items():  # sorted already; from here on all is counted
        if isinstance(value, np.ndarray):
            setattr(point.curved, name, value.view(Counted))
    Counted.operations = 0.0
    step, products = direction(point, 1e-10, 50)
    curved, loop = point.curved, Tally()  # the compiled loop over the sorted rows, once more
    assert isinstance(curved, SortedCurvature)
    v, *weights, out = (Cells(x, loop) for x in (np.ones(n), *curved.weights, np.empty(n)))
    ends = np.asarray(curved.above), np.asarray(curved.below)
    interpreted(loops, "laplacian")(v, *curved.rows, *weights, *ends, out)
    operations, error = Counted.operations / products + loop.touched, 0.0
    if n <= ROWS[0]:
        X, scores = np.asarray(data.X), np.asarray(data.X @ point.w)
        plus, minus = data.is_positive, ~data.is_positive
        D = (X[plus][:, None] - X[minus][None]).reshape(-1, d)
        active = D[(scores[plus][:, None] - scores[minus][None]).ravel() < 1]
        left = lam * step + 2 * active.T @ (active @ step) / len(D) + slope
        error = float(np.linalg.norm(left) / np.linalg.norm(slope))
    return operations, error


def hessian_product_cost_without_the_pairs(c: Context) -> Outcome:
    sets = [normal_rows(c, n, COLUMNS[0]) for n in ROWS]
    wide = [normal_rows(c, 512, d) for d in COLUMNS]
    by_rows, errors = zip(*(hessian_products(c, data) for data in sets), strict=True)
    by_columns = [hessian_products(c, data)[0] for data in wide]
    in_n, in_d = grows_like(ROWS, by_rows), grows_like(COLUMNS, by_columns)
    return judged(
        highest(errors) <= 1e-8 and in_n <= 1 + MARGIN and in_d <= 1 + MARGIN,
        f"operations grow like n^{in_n:.3f} and d^{in_d:.3f}; the pairs grow like n^2",
        (*sets, *wide),
    )


def touched(c: Context, n: int, d: int, a: int | None = None, skip: int = NEVER) -> float:
    """Return the numbers read or written a step; rows have `a` nonzeros, dense without it."""
    rng = c.rng(f"{n} {d} {a}")
    rows = np.stack([rng.choice(d, a or d, replace=False) for _ in range(n)])
    X = sp.csr_matrix((rng.normal(size=rows.size), rows.ravel(), np.arange(n + 1) * (a or d)))
    X.resize(n, d)
    half = n // 2
    i, j = rng.integers(half, size=STEPS), half + rng.integers(n - half, size=STEPS)
    # Steps so short that every margin stays below one: each step makes its update.
    schedule = Schedule(1.0, 1e6, skip, skip)
    compiled = Walk.of(np.zeros(d))
    compiled.advance(X if a else X.toarray(), (i, j), schedule)
    tally, w, mean = Tally(), np.zeros(d), np.zeros(d)
    state = (i, j, Cells(w, tally), Cells(mean, tally), 0, 0, 1.0, 1e6, skip, skip, 0, False)
    if a:
        arrays = (Cells(X.data, tally), X.indices, X.indptr)
        interpreted(nsauc, "_sparse_steps")(*arrays, *state, False)
    else:
        interpreted(nsauc, "_dense_steps")(Cells(X.toarray(), tally), *state, False)
    assert np.allclose(w, compiled.w, rtol=1e-9, atol=0), "what was counted is not what runs"
    return tally.touched / STEPS


def growth(c: Context) -> dict[str, float]:
    """Return exponents of the numbers touched a step, and the largest d a over those of one."""
    rows, nonzeros, columns = (100, 10_000), (8, 512), (1 << 9, 1 << 13)
    by_columns = [touched(c, 100, d, 8) for d in columns]
    whole = [touched(c, 100, d, 8, SKIP) for d in columns]
    due = [both - plain for both, plain in zip(whole, by_columns, strict=True)]
    dense = [touched(c, 100, d, None, SKIP) for d in (16, 512)]
    return {
        "rows": grows_like(rows, [touched(c, n, 512, 8) for n in rows]),
        "nonzeros": grows_like(nonzeros, [touched(c, 100, 1024, a) for a in nonzeros]),
        "columns": grows_like(columns, by_columns),
        "columns, of penalty and average": grows_like(columns, due),
        "columns, dense rows": grows_like((16, 512), dense),
        "d a over the numbers touched, d = 8192": columns[-1] * 16 / by_columns[-1],
    }


def sgd_step_cost(c: Context, as_printed: bool) -> Outcome:
    """Judge that an update costs what print says, a factor d more than its nonzeros, or these."""
    found = growth(c)
    rows, nonzeros, columns, scheduled, dense, spare = found.values()
    bounded = highest(rows, nonzeros - 1, columns - as_printed) <= MARGIN
    if as_printed:
        verdict = sandwich(not bounded, [spare if columns <= MARGIN else 1.0])
    else:
        holds = bounded and highest(scheduled, dense) <= 1 + MARGIN
        verdict = Verdict.HOLDS if holds else Verdict.FAILS
    return Outcome(
        verdict,
        f"an update grows like a^{nonzeros:.2f} d^{columns:.2f} n^{rows:.2f}, penalty and average "
        f"like d^{scheduled:.2f}",
    )


# Algorithm 3: whether NSAUC reaches the optimum, and what the average does for it.

LAM, SNAPSHOTS = 1e-2, 100


@lru_cache(maxsize=1)
def setting(seed: int, profile: str) -> tuple[Dataset, Problem, float]:
    """Return rows, the hinge over all pairs, and a certified lower bound of its optimum."""
    c = Context("nsauc", seed, profile)
    data = datasets.load(f"radial:{1000 if c.quick else 5000}", c.draw_seed("data"))
    change = nystrom_map(Gaussian(0.25), kmeans(data.X, 50, c.draw_seed("k")).rows)
    rows = change.transform(data.X)
    problem = hinge_problem(data, LAM, space=Rows(rows - rows.mean(axis=0)))
    return data, problem, optimum(problem, 1e-6).certificate.dual


def excess(c: Context, epochs: int) -> float:
    """Return how far NSAUC's objective is above the certified optimum, relatively."""
    _, problem, best = setting(c.seed, c.profile)
    w = PairSGD(max_epochs=epochs, seed=c.draw_seed("pairs")).solve(problem).w
    return problem.objective(w) / best - 1


def nsauc_reaches_the_optimum_where_lam_t_is_large(c: Context) -> Outcome:
    gaps = {epochs: excess(c, epochs) for epochs in (1, 10, 100)}
    return judged(
        gaps[100] <= 1e-3 and gaps[100] < gaps[10] < gaps[1],
        f"relative excess {gaps[1]:.1e}, {gaps[10]:.1e}, {gaps[100]:.1e} after 1, 10, 100 epochs",
        setting(c.seed, c.profile)[:1],
        {f"{epochs} epochs": gap for epochs, gap in gaps.items()},
    )


def algorithm_3_average_as_printed(c: Context) -> Outcome:
    weights = [Fraction(1, q) for q in range(1, SNAPSHOTS + 1)]  # w~ keeps its own, q / q
    total = sum(weights)
    return judged(
        total == 1,
        f"the weights of {SNAPSHOTS} snapshots add up to {float(total):.2f}; the first weighs "
        f"{float(weights[0] / weights[-1]):.0f} times as much as the last",
    )


def algorithm_3_printed_step_solves_another_problem(c: Context) -> Outcome:
    data, problem, best = setting(c.seed, c.profile)
    positive = problem.pairs.positive
    twice = pair_problem(problem.space, positive, problem.pairs, SQUARED_HINGE, Ridge(2 * LAM))
    w = TruncatedNewton(tol=1e-12).solve(twice).w
    plus, minus = (problem.space.X[side] for side in (positive, ~positive))  # type: ignore[attr-defined]
    active = np.maximum(0, 1 - (plus @ w)[:, None] + minus @ w)
    step = (active.mean(axis=1) @ plus) / len(plus) - (active.mean(axis=0) @ minus) / len(minus)
    off = float(np.linalg.norm(step - LAM * w) / np.linalg.norm(LAM * w))
    over = problem.objective(w) / best - 1
    return judged(
        off <= 1e-4 and over > 0.05,
        f"mean step {off:.1e} of lam |w|; hinge objective {over:.1%} above the optimum",
        (data,),
        {"relative excess of the hinge objective": over},
    )


# The paper's own tables, and its data [Section 5.3].

# AUC of RBF-RankSVM, its subsampled variant, linear RankSVM, RFAUC, NBAUC.
TABLE_2 = numbers("Nonlinear", "Table 2")
TABLE_3 = {  # seconds of RBF-RankSVM, "over five days" on connect-4, and of NBAUC
    name: (5 * 86_400.0 if math.isnan(row[0]) else row[0], row[4])
    for name, row in numbers("Nonlinear", "Table 3").items()
}


def nbauc_outperforms_by_table_2(c: Context) -> Outcome:
    behind = [name for name, row in TABLE_2.items() if np.nanmax(row[:4]) > row[4]]
    return judged(
        2 * len(behind) < len(TABLE_2),
        f"behind on {len(behind)} of {len(TABLE_2)} sets: {', '.join(behind) or 'none'}",
    )


def nbauc_orders_of_magnitude_faster_by_table_3(c: Context) -> Outcome:
    factors = {name: slow / fast for name, (slow, fast) in TABLE_3.items()}
    large = [factors[name] for name in numbers("Nonlinear", "Table 4")]
    enough = sum(factor >= 100 for factor in large)
    return judged(
        2 * enough > len(large),
        f"at least 100 times on {enough} of {len(large)} large sets, {lowest(large):.0f} to "
        f"{highest(large):,.0f}; from {lowest(factors.values()):.1f} times on all",
    )


def kernel_machines_above_linear_except_on_protein(c: Context) -> Outcome:
    others = (name for name in TABLE_2 if name != "protein")
    below = [name for name in others if np.nanmin(TABLE_2[name][:2]) < TABLE_2[name][2]]
    shown = f"not on {', '.join(below)} (96.02 against 97.47)" if below else "on all"
    return judged(not below, shown)


def protein_is_linearly_separable(c: Context) -> Outcome:
    linear = TABLE_2["protein"][2]
    gain = highest(TABLE_2["protein"]) - linear
    return judged(gain <= 0, f"NBAUC is {gain:.2f} points above the linear machine")
