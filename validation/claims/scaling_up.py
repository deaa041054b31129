"""The claims of "Scaling Up ROC-Optimizing Support Vector Machines" [ScalingUp] but Theorem 4."""

from dataclasses import asdict
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from scipy import stats

from ...approx import Adamax, against_true_kernel, draw_pairs, nystrom_map
from ...approx.landmarks import uniform
from ...exact import HINGE, AllPairs, Certificate, Gram, Minorant, Rows, delong, solve
from ...exact.solvers.qp import QP
from ...exact.spaces.factor import factor_gram
from ...exact.spaces.kernels import Gaussian
from .. import reruns
from ..bounds.experiment import certified, hinge_problem, optimum, reached, solved
from ..bounds.kernel import Approximation
from ..bounds.prime import theorem4_prime
from ..data.datasets import Model, make_dataset, population_auc, share_for_auc
from ..data.printed_numbers import numbers
from ..extremes import highest, lowest
from ..tables import convergence
from ..tables.table import EXPERIMENTS, Results
from .claim import Context, Outcome
from .common import apart, bound_data, differences, wdbc_sample
from .judge import LEVEL, Errors, Slope, at_most, judged, two_sided

# The full problem (3): duality, certificates, equivalence.

QP_TOL = 1e-4  # relative gap that every QP solver must reach; OSQP, of first order, is the coarsest


def dual_qp(c: Context, backend: str) -> Outcome:
    problem = hinge_problem(wdbc_sample(c, 20, 30) if c.quick else wdbc_sample(c, 60, 80), 0.1)
    exact = optimum(problem).certificate
    found = [solved(QP(form, backend), problem).certificate for form in ("teaching", "lifted")]
    worst = highest(x.gap for x in found) / exact.primal
    # The certified intervals [dual, primal] have a common point.
    meet = all(highest(exact.dual, x.dual) <= lowest(exact.primal, x.primal) for x in found)
    return judged(worst <= QP_TOL and meet, f"relative gap at most {worst:.1e}")


@at_most(1e-8, "relative gap", "relative gap at most {:.1e}, by one number a row")
def marginals_certify_all_pairs(c: Context) -> Errors:
    data = c.load("wdbc")
    for lam in (0.1, 0.01, 0.001):
        found = optimum(hinge_problem(data, lam))
        assert found.witness.c.size == len(data.y)
        gap = found.certificate.gap / found.certificate.primal
        yield f"lam {lam:g}: relative gap with rounding", gap


def factor_and_kernel_agree(c: Context) -> Outcome:
    data = wdbc_sample(c, 40, 60)
    rows = np.r_[np.arange(100), np.arange(10), np.arange(40, 50)]  # 20 duplicates: K is singular
    data = make_dataset("repeated", data.X[rows], data.y[rows], source=data.source)
    K = Gaussian(0.02)(data.X, data.X)
    factor, off, gaps = factor_gram(K), [], []
    for lam in (0.1, 0.01):
        linear = hinge_problem(data, lam, space=Rows(factor.features))
        kernel = linear.over(Gram(K))
        by_factor, by_kernel = optimum(linear, tol=1e-8), optimum(kernel, tol=1e-8)
        # The same function, written in the coefficients theta of (10).
        carried = kernel.objective(factor.coefficients(by_factor.w))
        one, other = by_factor.certificate, by_kernel.certificate
        off += [abs(x - other.primal) / other.primal for x in (one.primal, carried)]
        gaps += [x.gap / other.primal for x in (one, other)]
    worst = highest(off)
    return judged(highest(worst, *gaps) <= 1e-6, f"optima differ by {worst:.1e}")


# Incomplete U-statistics [Section 2]: mean, variance, rates in B.


def drawn_losses(c: Context, B: int, replace: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Return the loss of every pair at the optimum f of a sample, and U_B(f) for many independent
    draws of B pairs."""
    data, rng, count = wdbc_sample(c, 20, 30), c.rng("pairs"), 4_000 if c.quick else 100_000
    problem = hinge_problem(data, 1.0)
    w = optimum(problem).w
    scores, loss = problem.space.scores(w), problem.loss.value
    lists = (draw_pairs(data.is_positive, B, rng, replace) for _ in range(count))
    values = np.array([float(loss(pairs.margins(scores)).mean()) for pairs in lists])
    return loss(differences(data) @ w), values


def incomplete_u_is_unbiased(c: Context) -> Outcome:
    losses, values = drawn_losses(c, B=50)
    away = abs(values.mean() - losses.mean()) / (losses.std() / np.sqrt(50 * values.size))
    return judged(away <= two_sided(), f"{away:.2f} standard errors from U(f)")


def variance(c: Context, replace: bool) -> Outcome:
    """Test var U_B = factor sigma^2 / B by a chi-square interval."""
    B = 150  # a quarter of the pairs
    losses, values = drawn_losses(c, B, replace)
    factor = 1.0 if replace else (losses.size - B) / (losses.size - 1)
    ratio, df = float(values.var(ddof=1)) * B / float(losses.var()), values.size - 1
    low, high = (factor * stats.chi2.ppf(q, df) / df for q in (LEVEL / 2, 1 - LEVEL / 2))
    measured = f"B var / sigma^2 = {ratio:.3f}, at level {LEVEL:g} {low:.3f} to {high:.3f}"
    return judged(low <= ratio <= high, measured)


def rate(what: str, theory: str, slope: Any, agrees: bool, reference: str) -> dict[str, Any]:
    """Return the details of a claim about a rate: a line like those of `convergence`."""
    shown = f"{slope}, level {LEVEL:g}" if isinstance(slope, Slope) else slope
    said = theory, shown.replace("+-", "±"), reference, "", "yes" if agrees else "no"
    return {"rates": [asdict(convergence.Line(what, "", *said))]}


def incomplete_u_loss_rate(c: Context) -> Outcome:
    data = wdbc_sample(c)
    problem = hinge_problem(data, 1.0)
    scores = data.X @ optimum(problem).w
    complete, rng = problem.sums(scores).value, c.rng("pairs")
    sizes, count = data.X.shape[0] * 2 ** np.arange(7), 100 if c.quick else 1000

    def error(B: int) -> float:
        margins = draw_pairs(problem.pairs.positive, B, rng).margins(scores)
        return float(problem.loss.value(margins).mean()) - complete

    errors = np.array([[error(int(B)) for _ in range(count)] for B in sizes])
    rms = np.sqrt((errors**2).mean(axis=1))
    slope = Slope.fit(sizes, rms, np.full(sizes.size, 1 / np.sqrt(2 * count)))
    good = abs(slope.value + 0.5) <= slope.half_width
    said = "−1/2", slope, good, "the loss over all pairs"
    details = rate("one fixed score: its loss over drawn pairs", *said)
    return judged(good, f"exponent of B: {slope}", details)


def incomplete_u_suboptimality_rate(c: Context) -> Outcome:
    data, rng = wdbc_sample(c), c.rng("pairs")
    problem = hinge_problem(data, 1.0)
    exact = optimum(problem, tol=1e-10)
    sizes, count = data.X.shape[0] * 4 ** np.arange(4), 8 if c.quick else 50

    def excess(B: int) -> float:
        """Return F(f_B) - p* of the exact minimiser over B drawn pairs."""
        drawn = problem.with_pairs(draw_pairs(problem.pairs.positive, B, rng, merge=True))
        return problem.objective(certified(drawn, 1e-8).w) - exact.certificate.dual

    found = np.array([[excess(int(B)) for _ in range(count)] for B in sizes])
    mean = found.mean(axis=1)
    slope = Slope.fit(sizes, mean, found.std(axis=1, ddof=1) / np.sqrt(count) / mean)
    low, high = slope.interval
    # What no draw exceeds but with probability LEVEL, all together: Theorem 4' (I) with K~ = K.
    same = Approximation(Gram(data.X @ data.X.T), data.X, data.is_positive)
    asked: Any = {"part": "I", "delta": LEVEL / found.size}
    bounds = [theorem4_prime(same, problem.lam, int(B), **asked).total for B in sizes]
    proved = bool((found <= np.array(bounds)[:, None]).all())
    said = "−1", slope, low <= -1.0 <= high, "certified optimum"
    details = rate("excess of the objective, linear machine", *said)
    return judged(low <= -1.0 and high < -0.5 and proved, f"exponent of B: {slope}", details)


def incomplete_u_constant_at_b_equal_n(c: Context) -> Outcome:
    n, count, rng = 400, 1500 if c.quick else 20_000, c.rng()
    found = []
    for _ in range(count):
        X = rng.standard_normal((n, 2))
        positive = X.sum(axis=1) + rng.standard_normal(n) > 1.457731
        scores = X @ [0.5, 0.5]
        losses = np.maximum(0, 1 - scores[positive][:, None] + scores[~positive])
        drawn = losses.ravel()[rng.integers(losses.size, size=n)]
        found.append([losses.mean(), drawn.mean(), losses.var()])
    full, drawn, spread = np.array(found).T
    ratio = float(drawn.var() / full.var())
    expected = 1 + float(spread.mean()) / n / float(full.var())
    # Relative sd of a variance is sqrt(2 / count); both ratios share the complete statistic.
    half = two_sided() * 2 / np.sqrt(count)
    shown = f"variance {ratio:.3f} times as large, {expected:.3f} by the formula"
    allowed = f"normal interval at level {LEVEL:g}, half width {half:.3f}"
    return judged(abs(ratio / expected - 1) <= half and expected > 1.25, shown, tolerance=allowed)


def incomplete_u_keeps_the_rate_uniformly(c: Context) -> Outcome:
    sizes, repeats, worst = (250, 1000, 4000), 10 if c.quick else 60, []
    angles = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    directions = [s * np.array([np.cos(a), np.sin(a)]) for a in angles for s in (0.3, 1.0, 3.0)]
    for n in sizes:
        found = []
        for at in range(repeats):
            data = c.load(f"linear:{n}", f"{n} {at}")
            drawn = draw_pairs(data.is_positive, n, c.rng(f"pairs {n} {at}"))
            part, whole = (pairs.on(data.is_positive) for pairs in (drawn, AllPairs()))
            scores = (data.X @ w for w in directions)
            errors = (abs(part.sums(s, HINGE).value - whole.sums(s, HINGE).value) for s in scores)
            found.append(highest(errors))
        worst.append(float(np.mean(found)))
    slope = float(np.polyfit(np.log(sizes), np.log(worst), 1)[0])
    ratios = worst / np.sqrt(np.log(sizes) / sizes)
    shown = f"falls like n^{slope:.2f}; {ratios.min():.2f} to {ratios.max():.2f} times "
    good = slope <= -0.35  # log n costs about a tenth of the root
    said = "like √(log n / n)", f"{slope:.2f}, no interval", good, "the loss over all pairs"
    return judged(good, f"{shown}sqrt(log(n) / n)", rate("all linear scores at once, B = n", *said))


# The AUC, and that of the simulated models [eq. (2), Tables 1 and 2].

PRINTED = {  # AUC_true in per cent
    model: numbers("ScalingUp", f"below Table {table}")[model][0]
    for table, model in enumerate(("linear", "radial"), start=1)
}


def against_print(c: Context, model: Model) -> Outcome:
    exact, printed = 100 * population_auc(model), PRINTED[model]
    negative = 1 - share_for_auc(model, printed / 100)
    measured = f"{printed} % at {100 * negative:.1f} % negatives; {exact:.4f} % at 80 %"
    return judged(round(10 * negative) == 8, measured)


def population_auc_by_monte_carlo(c: Context) -> Outcome:
    n, away = 200_000 if c.quick else 4_000_000, {}
    for model in ("linear", "radial"):
        data = c.load(f"{model}:{n}", model)
        # The score that the model's labels follow.
        scores = (data.X if model == "linear" else np.square(data.X)).sum(axis=1)
        found = delong(scores, data.is_positive)
        away[model] = abs(found.value - population_auc(model)) / found.standard_error
    worst = highest(away.values())
    shown = f"{worst:.2f} standard deviations apart at most, n = {n}"
    return judged(worst <= two_sided(), shown, away)


def eq_2_of_a_constant_score(c: Context) -> Outcome:
    rng, worst = c.rng("scores"), 0.0
    for levels in (1, 2, 5, 1000):  # a constant score first, then with fewer and fewer ties
        plus, minus = rng.integers(levels, size=(2, 100))
        of_1, of_2 = np.mean(plus[:, None] > minus), np.mean(plus[:, None] <= minus)
        worst = highest(worst, float(abs(1 - of_2 - of_1)))
    shown = f"apart by at most {worst:.0e}; a constant score has 1 by (2) and the AUC 0 by (1)"
    return judged(worst <= 1e-12, shown)


# The approximations against the exact answer [Section 3], from the evidence of `convergence`.


@lru_cache(maxsize=1)
def kept(seed: int, profile: str) -> tuple[Results, bool, str]:
    """Return the evidence, and whether a drawn part of it repeats when it is run again."""
    experiment = EXPERIMENTS["convergence"]
    known, rng = experiment.recorded(), Context("convergence", seed, profile).rng("part")
    short = [p for p in known.parts if known.documents[p.key]["cpu_seconds"] <= 1.0]
    part = short[rng.integers(len(short))]
    result, now = known.documents[part.key]["result"], experiment.measured(part, known.run)
    wrong = len([*reruns.differences(result, now, experiment.tolerance)])
    shown = f"of the evidence {part.key}, run again, "
    shown += f"differs in {wrong} numbers" if wrong else "repeats"
    return known, not wrong, shown


def from_evidence(c: Context, good: bool, measured: str, details: Any = None) -> Outcome:
    """Judge by the evidence, which counts as far as a drawn part of it repeats."""
    _, repeats, shown = kept(c.seed, c.profile)
    return judged(good and repeats, f"{measured}; {shown}", details=details)


def nystrom_converges_in_the_landmarks(c: Context) -> Outcome:
    results, holds, last = kept(c.seed, c.profile)[0], True, []
    for name in convergence.SETS:
        losses = np.array([convergence.by_d(results, name, at, "nystrom") for at in range(3)])
        # Both values are certified to TOL; the cut-off of tiny eigenvalues costs about as much.
        holds &= bool((np.diff(losses, axis=0) <= 4 * convergence.TOL).all())
        last += [*abs(losses[-1])]
    measured = f"falls at every step; {highest(last):.1e} with all rows"
    return from_evidence(c, holds and highest(last) <= 1e-8, measured)


@at_most(1e-8, "gap")
def nystrom_with_all_rows_is_the_kernel_machine(c: Context) -> Errors:
    for (data, kernel), lam in product(bound_data(c, 100 if c.quick else 200), (1.0, 0.1)):
        made = nystrom_map(kernel, data.X)
        problem = hinge_problem(data, lam, space=Rows(made.transform(data.X)))
        near = optimum(problem, tol=1e-11)
        gap = Certificate.of(against_true_kernel(problem, made, data.X), near.w, near.witness).gap
        yield f"{data.name}, lam {lam:g}: gap against the true kernel with rounding", gap


def incomplete_nystrom_converges_in_the_pairs(c: Context) -> Outcome:
    results, holds, slopes = kept(c.seed, c.profile)[0], True, []
    for name in convergence.SETS:
        logs = np.log(convergence.sampling(results, name)).T
        mean, error = logs.mean(axis=1), logs.std(axis=1, ddof=1) / np.sqrt(logs.shape[1])
        drop = mean[:-1] - mean[1:] - two_sided() * np.hypot(error[:-1], error[1:])
        slope = Slope.fit(np.array(convergence.DRAWN, dtype=float), np.exp(mean), error)
        slopes.append(slope.value)
        holds &= bool((drop > 0).all()) and abs(slope.value + 1) <= 0.25  # about 1/B
    measured = f"F(f~_B) - p*_P ~ {', '.join(f'B^{slope:.2f}' for slope in slopes)}"
    return from_evidence(c, holds, measured, {"exponents": slopes})


def incomplete_nystrom_converges_to_the_exact_answer(c: Context) -> Outcome:
    results, holds, last = kept(c.seed, c.profile)[0], True, []
    names, path = ("excess", "loss difference"), [(0, 0), (1, 1), (2, 3)]  # of d, B: both grow
    for name in convergence.SETS:
        both = ([convergence.by_d(results, name, d, of)[:, B] for d, B in path] for of in names)
        excess, errors = map(np.array, both)
        # Not one draw of a step may be as bad as the best one of the step before.
        holds &= bool((excess[1:].max(axis=1) < excess[:-1].min(axis=1)).all())
        holds &= bool(np.median(errors[-1]) < 0.2 * np.median(errors[0]))
        last += [*excess[-1]]
    worst = highest(last)
    measured = f"F(f~_B) - p* at most {worst:.1e} with d = n, B = 512 n"
    details = {"rates": [*map(asdict, convergence.lines(results))]}
    details["panels"] = [*map(asdict, convergence.panels(results))]
    return from_evidence(c, holds and worst < 1e-3, measured, details)


def overall_cost_is_linear_in_n(c: Context) -> Outcome:
    sizes = (250, 500, 1000, 2000, 4000) if c.quick else (1000, 4000, 16_000, 64_000)
    d, work, steps, kernel = 20, [], [], Gaussian(0.5)
    for n in sizes:
        data = c.load(f"radial:{n}", f"{n}")
        points = uniform(data.X, d, c.draw_seed(f"d{n}")).rows
        rows = nystrom_map(kernel, points).transform(data.X)
        pairs = draw_pairs(data.is_positive, n, c.rng(f"{n}"), merge=True)
        problem = hinge_problem(data, 0.1, pairs, Rows(rows))
        found = Adamax(step=0.1, decay=0.5, tol=1e-2, max_iter=5000).solve(problem)
        steps.append(found.n_iter)
        work.append(found.n_iter * n * d + n * d**2 + d**3)
    slope = float(np.polyfit(np.log(sizes), np.log(work), 1)[0])
    measured = f"work grows like n^{slope:.2f}; {lowest(steps)} to {highest(steps)} steps"
    return judged(slope <= 1.2, measured)


@at_most(1e-9)
def adamax_is_the_published_update(c: Context) -> Errors:
    data, lam, steps = c.load("linear:60"), 0.01, 1000
    D = differences(data)
    w, m, u = np.zeros((3, data.X.shape[1]))
    for t in range(1, steps + 1):
        g = lam * w - D[D @ w < 1].sum(axis=0) / len(D)
        m, u = 0.9 * m + 0.1 * g, np.maximum(0.999 * u, np.abs(g))
        w = w - 0.002 / (1 - 0.9**t) * m / u
    found = Adamax(tol=0.0, keep="last", max_iter=steps).solve(hinge_problem(data, lam)).w
    yield f"weights after {steps:,} steps", apart(found, w)


def duality_gap_bounds_the_loss_of_any_approximation(c: Context) -> Outcome:
    n, kernel, wrong, ratios = 300 if c.quick else 1000, Gaussian(0.5), 0, []
    for name, lam in product(("linear", "radial"), (1.0, 0.1, 0.01)):
        data = c.load(f"{name}:{n}", name)
        best = reached(solve(data.X, data.y, lam, kernel=kernel)).certificate.primal
        for d in (5, 20, 60):
            points = uniform(data.X, d, c.draw_seed(f"{name} {lam} {d}")).rows
            features = nystrom_map(kernel, points)
            full = hinge_problem(data, lam, space=Rows(features.transform(data.X)))
            pairs = draw_pairs(data.is_positive, n, c.rng(f"{name} {d}"), merge=True)
            w = Adamax(step=0.1, decay=0.5, max_iter=100).solve(full.with_pairs(pairs)).w
            # Not `full.objective`: the features' own rounding is up to 1e-7 of |f|^2.
            truth = against_true_kernel(full, features, data.X)
            # The least gap that the slopes at w's own scores prove, the hinge smoothed a little.
            given, widths = (truth, truth.space.scores(w)), (0.0, 0.1, 0.3, 1.0)
            proofs = (Minorant.from_scores(*given, width) for width in widths)
            gap = lowest(Certificate.of(truth, w, proof).gap for proof in proofs)
            lost = truth.objective(w) - best
            wrong += lost > gap + 1e-9
            ratios.append(gap / highest(lost, 1e-12))
    shown = f"gap / true loss from {lowest(ratios):.2f}, median {np.median(ratios):.1f}, "
    return judged(not wrong, f"{shown}in {len(ratios)} solutions")
