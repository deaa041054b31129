"""The claims of "Scalable Nonlinear AUC Maximization Methods" [Nonlinear]: see nonlinear.toml."""

import math
from fractions import Fraction
from itertools import product
from types import FunctionType, ModuleType
from typing import Any, cast

import numpy as np
import scipy.sparse as sp

from ...approx import NBAUC, PairSGD, TruncatedNewton, nsauc, nystrom_map
from ...approx.landmarks import kmeans
from ...approx.newton.newton_equation import NewtonPoint, direction
from ...approx.nsauc import Schedule, Walk
from ...exact import Problem, Rows, Solution, lam_from_C, linear_problem
from ...exact.spaces.kernels import Gaussian
from ...exact.sums import loops
from ..bounds.experiment import hinge_problem, optimum
from ..data.datasets import make_dataset
from ..data.printed_numbers import numbers
from ..extremes import highest, lowest
from .claim import Context, Outcome
from .common import apart, differences, distance, wdbc_sample
from .counting import Counted, CountedRows
from .judge import Errors, at_most, grows_like, judged, sandwich

# Algorithm 1: the feature map.


@at_most(1e-8, "relative error", "off by {:.1e} of the largest entry")
def map_error(c: Context, printed: bool) -> Errors:
    data, kernel = wdbc_sample(c, 40, 60), Gaussian(1 / 30)
    points = kmeans(data.X, 15, c.draw_seed("landmarks")).rows
    W, E = kernel(points, points), kernel(data.X, points)
    values, U = np.linalg.eigh(W)
    root = np.diag(values**-0.5)
    columns = U @ root @ E.T if printed else root @ U.T @ E.T
    error = apart(columns.T @ columns, E @ np.linalg.pinv(W) @ E.T)
    yield "relative error of the Gram matrix", error


class CountingKernel(Gaussian):
    entries = 0

    def __call__(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        CountingKernel.entries += len(X) * len(Z)
        return super().__call__(X, Z)


def nystrom_cost_is_linear_in_the_rows(c: Context) -> Outcome:
    sizes, counts = (250, 500, 1000, 2000), []
    for n in sizes:
        X = c.load(f"radial:{n}", f"{n}").X
        points, CountingKernel.entries = kmeans(X, 50, c.draw_seed(f"landmarks {n}")).rows, 0
        nystrom_map(kernel := CountingKernel(0.5), points).transform(X)
        mapped = CountingKernel.entries
        kernel(X, X)
        counts.append((mapped, CountingKernel.entries - mapped))
    of_map, of_K = (grows_like(sizes, count) for count in zip(*counts, strict=True))
    shown = f"entries grow like n^{of_map:.2f}, those of the kernel matrix like n^{of_K:.2f}"
    return judged(of_map <= 1.01 and of_K >= 1.99, shown)


# Algorithm 2: the gradient, the steps, and the optimum that they reach.

PLUS, MINUS, C = [(3, 1), (-4, 4)], [(-4, 3), (2, 1)], 10  # for which full Newton steps cycle
APART = np.array([np.subtract(*pair) for pair in product(PLUS, MINUS)]).astype(object)  # x_i - x_j


def fixture() -> Problem:
    """Return [Nonlinear, eq. (5)] with p = 2 on the four rows, in the house's scaling."""
    lam = lam_from_C(float(C), len(APART), "nonlinear-2")
    return linear_problem(np.array(PLUS + MINUS, float), [1, 1, 0, 0], lam, "squared_hinge")


def exact_objective(w: Any) -> Fraction:
    """Return 1/2 |w|^2 + C sum max(0, 1 - w'(x_i - x_j))^2."""
    hinges = np.maximum(0, 1 - APART @ w)
    return (w[0] ** 2 + w[1] ** 2) / 2 + C * (hinges @ hinges)


def exact_newton(w: Any) -> tuple[Fraction, Fraction]:
    """Solve (I + 2C sum d d') w = 2C sum d over w's active pairs d = x_i - x_j: a full step."""
    active = APART[APART @ w < 1]
    (a, b), (_, c) = np.eye(2, dtype=object) + 2 * C * active.T @ active
    p, q = 2 * C * active.sum(axis=0)
    det = Fraction(a * c - b * b)
    return (c * p - b * q) / det, (a * q - b * p) / det


def certified(problem: Problem, tol: float) -> Solution:
    return TruncatedNewton(tol=tol).solve(problem)


def full_newton_steps_converge(c: Context) -> Outcome:
    path = [(Fraction(0), Fraction(0))]
    while path[-1] not in path[:-1] and len(path) < 100:
        path.append(exact_newton(path[-1]))
    values = [float(exact_objective(w)) for w in path[path.index(path[-1]) : -1]]
    problem = fixture()  # its objective is lam times that of (5)
    best = certified(problem, 1e-12).certificate.primal / problem.lam
    shown = f"full steps end in a cycle of length {len(values)}: F = "
    shown += ", ".join(f"{value:.4f}" for value in values)
    # Of full steps print promises nothing: that they need not converge contradicts nobody.
    right = len(values) == 1 and abs(values[0] - best) < 1e-6
    return judged(True, shown, empty=not right)


def newton_with_a_line_search_converges(c: Context) -> Outcome:
    rng, problems = c.rng("problems"), [fixture()]
    for _ in range(50 if c.quick else 1000):  # whole numbers: many ties, some at the kinks
        n, d = int(rng.integers(4, 13)), int(rng.integers(1, 4))
        X, y = rng.integers(-4, 5, (n, d)).astype(float), rng.permutation(n) < rng.integers(1, n)
        problems.append(linear_problem(X, y, float(10.0 ** rng.integers(-3, 1)), "squared_hinge"))
    reached = sum(certified(one, 1e-10).certificate.reaches(1e-10) for one in problems)
    return judged(reached == len(problems), f"certified in {reached} of {len(problems)} problems")


def nbauc_reaches_its_optimum(c: Context) -> Outcome:
    radial = c.load(f"radial:{1000 if c.quick else 20_000}")
    sets, found = ((wdbc_sample(c), 1 / 30), (radial, 0.5)), []
    for (data, gamma), lam in product(sets, (1e-1, 1e-3, 1e-5)):
        model = NBAUC(lam, gamma=gamma, n_landmarks=50, tol=1e-10, random_state=0)
        one = model.fit(data.X, data.y).certificate_
        found.append((one.reaches(1e-10), one.gap / one.primal, model.n_iter_))
    reached, gaps, steps = zip(*found, strict=True)
    shown = f"relative gap at most {highest(gaps):.1e}, {highest(steps)} steps at most"
    return judged(all(reached), shown)


@at_most(1e-5, measured="off by up to {:.1e} of a directional derivative")
def gradient(c: Context, factor: float) -> Errors:
    """Yield how far w - factor C D'A X is from the derivative of (5) with p = 2, by differences."""
    pairs, rng, cost = differences(wdbc_sample(c, 20, 30)), c.rng("points"), 0.01

    def objective(w: np.ndarray) -> float:
        return float(w @ w) / 2 + cost * float(np.square(np.maximum(0, 1 - pairs @ w)).sum())

    errors = []
    for _ in range(10):
        w, v = rng.standard_normal((2, pairs.shape[1])) / 10
        found = w - factor * cost * np.maximum(0, 1 - pairs @ w) @ pairs
        # F is piecewise quadratic: central differences are exact but for the kinks they cross.
        slope = (objective(w + 1e-5 * v) - objective(w - 1e-5 * v)) / 2e-5
        errors.append(abs(float(found @ v) - slope) / abs(slope))
    yield "largest relative difference", highest(errors)


def printed_gradient_solves_for_half_of_c(c: Context) -> Outcome:
    data = wdbc_sample(c, 40, 60)
    whole, half = (linear_problem(data.X, data.y, lam, "squared_hinge") for lam in (0.1, 0.2))
    literal = TruncatedNewton(tol=1e-12, paper_literal=True, max_iter=500).solve(whole)
    best = certified(half, 1e-12)
    away, gap = distance(literal.w, best.w), literal.certificate.relative_gap
    shown = f"distance to the optimum for C/2: {away:.1e}; certified gap for C: {gap:.2g}"
    return judged(away <= 1e-5 and (gap is None or gap >= 1e-3), shown)


# Printed costs of one product with H and of one random step [Section 4]: operations are counted
# while the library's own code runs on arrays that count what is done with them.

ROWS, COLUMNS = (1 << 8, 1 << 11, 1 << 14), (4, 32, 256)  # rows at 4 columns, columns at 512 rows
STEPS, SKIP = 64, 16
NEVER = STEPS + 1  # a schedule that is never due: the update alone
MARGIN = 0.02  # what an exponent may be off by; a sort added to each product would add 0.04


def interpreted(module: ModuleType, name: str) -> Any:
    """Return a compiled function of a module as Python runs it, callees too."""
    scope = {key: getattr(value, "__wrapped__", value) for key, value in vars(module).items()}
    return FunctionType(scope[name].__code__, scope)


def hessian_products(c: Context, n: int, d: int) -> tuple[float, float]:
    """Return operations a product with H, and the residual of a step against H from the pairs."""
    rng, lam = c.rng(f"{n} {d}"), 1e-2
    y, X = rng.permutation(n) < n // 4, rng.normal(size=(n, d))
    source = "independent normal coordinates, a quarter of the rows positive"
    data = c.use(make_dataset(f"normal rows, {n} x {d}", X, y, source=source))
    problem = linear_problem(X, y, lam, "squared_hinge").over(CountedRows(X))
    point = NewtonPoint.at(problem, c.rng(f"point {n} {d}").normal(size=d) / d**0.5)
    slope, curved = np.array(point.gradient), vars(point.curved)
    # Sorted already; from here on all is counted.
    curved |= {name: x.view(Counted) for name, x in curved.items() if isinstance(x, np.ndarray)}
    Counted.operations = 0.0
    step, products = direction(point, 1e-10, 50)
    Counted.operations /= products
    v, *weights, out = (x.view(Counted) for x in (np.ones(n), *curved["weights"], np.empty(n)))
    ends = np.asarray(curved["above"]), np.asarray(curved["below"])
    interpreted(loops, "laplacian")(v, *curved["rows"], *weights, *ends, out)  # the compiled loop
    operations, error = Counted.operations, 0.0
    if n <= ROWS[0]:
        D = differences(data)
        active = D[D @ np.asarray(point.w) < 1]
        left = lam * step + 2 * active.T @ (active @ step) / len(D) + slope
        error = float(np.linalg.norm(left) / np.linalg.norm(slope))
    return operations, error


def hessian_product_cost_without_the_pairs(c: Context) -> Outcome:
    tall, errors = zip(*(hessian_products(c, n, COLUMNS[0]) for n in ROWS), strict=True)
    in_n = grows_like(ROWS, tall)
    in_d = grows_like(COLUMNS, [hessian_products(c, 512, d)[0] for d in COLUMNS])
    shown = f"operations grow like n^{in_n:.3f} and d^{in_d:.3f}; the pairs grow like n^2"
    return judged(highest(errors) <= 1e-8 and highest(in_n, in_d) <= 1 + MARGIN, shown)


def touched(c: Context, n: int, d: int, a: int, skip: int = NEVER) -> float:
    """Return the numbers read or written a step on rows of `a` nonzeros, dense if a = d."""
    rng, dense = c.rng(f"{n} {d} {a}"), a == d
    columns = np.concatenate([rng.choice(d, a, replace=False) for _ in range(n)])
    X: Any = sp.csr_matrix((rng.normal(size=n * a), columns, np.arange(n + 1) * a), shape=(n, d))
    i, j = rng.integers([[0], [n // 2]], [[n // 2], [n]], (2, STEPS))
    compiled = Walk.of(np.zeros(d))
    # Steps so short that every margin stays below one: each step makes its update.
    compiled.advance(X.toarray() if dense else X, (i, j), Schedule(1.0, 1e6, skip, skip))
    w, mean = np.zeros((2, d)).view(Counted)
    arrays = (X.toarray().view(Counted),) if dense else (X.data.view(Counted), X.indices, X.indptr)
    Counted.operations = 0.0
    run = interpreted(nsauc, "_dense_steps" if dense else "_sparse_steps")
    run(*arrays, i, j, w, mean, 0, 0, 1.0, 1e6, skip, skip, 0, False, False)
    count = Counted.operations / STEPS
    assert np.allclose(w, compiled.w, rtol=1e-9, atol=0), "what was counted is not what runs"
    return count


def sgd_step_cost(c: Context, as_printed: bool) -> Outcome:
    ns, ds, nonzeros = (100, 10_000), (1 << 9, 1 << 13), (8, 512)
    update = [touched(c, 100, d, 8) for d in ds]
    whole = [touched(c, 100, d, 8, SKIP) for d in ds]  # with penalty and average
    in_n = grows_like(ns, [touched(c, n, 512, 8) for n in ns])
    in_a = grows_like(nonzeros, [touched(c, 100, 1024, a) for a in nonzeros])
    in_d, rest = grows_like(ds, update), grows_like(ds, np.subtract(whole, update))
    bounded = highest(in_n, in_a - 1, in_d - as_printed) <= MARGIN
    shown = f"an update grows like a^{in_a:.2f} d^{in_d:.2f} n^{in_n:.2f}, penalty and "
    shown += f"average like d^{rest:.2f}"
    if as_printed:  # d a over the numbers of an update, at the largest d
        return sandwich(not bounded, [ds[-1] * 16 / update[-1] if in_d <= MARGIN else 1.0], shown)
    dense = grows_like((16, 512), [touched(c, 100, d, d, SKIP) for d in (16, 512)])
    return judged(bounded and highest(rest, dense) <= 1 + MARGIN, shown)


# Algorithm 3: whether NSAUC reaches the optimum, and what the average does for it.

LAM, SNAPSHOTS = 1e-2, 100


def setting(c: Context) -> tuple[Problem, float]:
    """Return the hinge over all pairs, and a certified lower bound of its optimum."""
    shared = Context("nsauc", c.seed, c.profile)
    data = c.use(shared.load(f"radial:{1000 if c.quick else 5000}"))
    points = kmeans(data.X, 50, shared.draw_seed("k")).rows
    rows = nystrom_map(Gaussian(0.25), points).transform(data.X)
    problem = hinge_problem(data, LAM, space=Rows(rows - rows.mean(axis=0)))
    return problem, optimum(problem, 1e-6).certificate.dual


def nsauc_reaches_the_optimum_where_lam_t_is_large(c: Context) -> Outcome:
    (problem, best), gaps = setting(c), {}
    for epochs in (1, 10, 100):
        w = PairSGD(max_epochs=epochs, seed=c.draw_seed("pairs")).solve(problem).w
        gaps[f"{epochs} epochs"] = problem.objective(w) / best - 1
    one, ten, last = gaps.values()
    shown = f"relative excess {one:.1e}, {ten:.1e}, {last:.1e} after 1, 10, 100 epochs"
    return judged(last <= 1e-3 and last < ten < one, shown, gaps)


def algorithm_3_average_as_printed(c: Context) -> Outcome:
    weights = [Fraction(1, q) for q in range(1, SNAPSHOTS + 1)]  # w~ keeps its own, q / q
    total, ratio = sum(weights), float(weights[0] / weights[-1])
    shown = f"the weights of {SNAPSHOTS} snapshots add up to {float(total):.2f}; the first weighs "
    return judged(total == 1, f"{shown}{ratio:.0f} times as much as the last")


def algorithm_3_printed_step_solves_another_problem(c: Context) -> Outcome:
    problem, best = setting(c)
    space, positive = cast(Rows, problem.space), problem.pairs.positive
    w = certified(linear_problem(space.X, positive, 2 * LAM, "squared_hinge"), 1e-12).w
    plus, minus = (space.X[side] for side in (positive, ~positive))
    active = np.maximum(0, 1 - (plus @ w)[:, None] + minus @ w)
    step = (active.mean(axis=1) @ plus) / len(plus) - (active.mean(axis=0) @ minus) / len(minus)
    off, over = distance(step, LAM * w), problem.objective(w) / best - 1
    shown = f"mean step {off:.1e} of lam |w|; hinge objective {over:.1%} above the optimum"
    details = {"relative excess of the hinge objective": over}
    return judged(off <= 1e-4 and over > 0.05, shown, details)


# The paper's own tables, and its data [Section 5.3].

# AUC of RBF-RankSVM, its subsampled variant, linear RankSVM, RFAUC, NBAUC.
TABLE_2 = numbers("Nonlinear", "Table 2")
TABLE_3 = {  # seconds of RBF-RankSVM, "over five days" on connect-4, and of NBAUC
    name: (5 * 86_400.0 if math.isnan(row[0]) else row[0], row[4])
    for name, row in numbers("Nonlinear", "Table 3").items()
}


def nbauc_outperforms_by_table_2(c: Context) -> Outcome:
    behind = [name for name, row in TABLE_2.items() if np.nanmax(row[:4]) > row[4]]
    shown = f"behind on {len(behind)} of {len(TABLE_2)} sets: {', '.join(behind) or 'none'}"
    return judged(2 * len(behind) < len(TABLE_2), shown)


def nbauc_orders_of_magnitude_faster_by_table_3(c: Context) -> Outcome:
    factors = {name: slow / fast for name, (slow, fast) in TABLE_3.items()}
    large = [factors[name] for name in numbers("Nonlinear", "Table 4")]
    enough = sum(factor >= 100 for factor in large)
    shown = f"at least 100 times on {enough} of {len(large)} large sets, {lowest(large):.0f} to "
    shown += f"{highest(large):,.0f}; from {lowest(factors.values()):.1f} times on all"
    return judged(2 * enough > len(large), shown)


def kernel_machines_above_linear_except_on_protein(c: Context) -> Outcome:
    others = (name for name in TABLE_2 if name != "protein")
    below = [name for name in others if np.nanmin(TABLE_2[name][:2]) < TABLE_2[name][2]]
    shown = f"not on {', '.join(below)} (96.02 against 97.47)" if below else "on all"
    return judged(not below, shown)


def protein_is_linearly_separable(c: Context) -> Outcome:
    gain = highest(TABLE_2["protein"]) - TABLE_2["protein"][2]
    return judged(gain <= 0, f"NBAUC is {gain:.2f} points above the linear machine")
