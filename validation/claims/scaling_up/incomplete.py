"""Claims about incomplete U-statistics [ScalingUp, Section 2]: mean, variance, rates in B."""

from __future__ import annotations

import numpy as np
from scipy import stats

from ....approx.drawn_pairs import draw_pairs
from ....exact.certificate.solution import Solution
from ....exact.pairs.all_pairs import PairList
from ....exact.problem.problem import Problem
from ....exact.spaces.gram import Gram
from ...bounds.exact_answers import hinge_problem, optimum
from ...bounds.kernel import Approximation
from ...bounds.prime import theorem4_prime
from ...data.labelled_data import Dataset
from ..claim import Context, Outcome, Verdict
from ..common import LEVEL, Slope, two_sided, wdbc_sample

# Rows of each class in the tests of mean and variance: 600 pairs, so that drawing half of them with
# and without replacement differ by a factor of two in variance.
SMALL = (20, 30)


def _small(context: Context) -> tuple[Dataset, Problem, np.ndarray]:
    """Return a sample, its problem, and the loss of every pair at the optimum f."""
    data = wdbc_sample(context, *SMALL)
    problem = hinge_problem(data, 1.0)
    scores = problem.space.scores(optimum(problem).w)
    positive = problem.pairs.positive
    margins = scores[positive][:, None] - scores[~positive][None, :]
    return data, problem, problem.loss.value(margins).ravel()


def _draws(context: Context, problem: Problem, B: int, replace: bool) -> np.ndarray:
    """Return U_B(f) for many independent draws of B pairs, f the optimum on all of them."""
    rng = context.rng("pairs")
    scores = problem.space.scores(optimum(problem).w)
    count = 4_000 if context.quick else 100_000
    lists = (draw_pairs(problem.pairs.positive, B, rng, replace) for _ in range(count))
    return np.array([float(problem.loss.value(pairs.margins(scores)).mean()) for pairs in lists])


def incomplete_u_is_unbiased(context: Context) -> Outcome:
    data, problem, losses = _small(context)
    B = 50
    values = _draws(context, problem, B, replace=True)
    away = abs(values.mean() - losses.mean()) / (losses.std() / np.sqrt(B * values.size))
    return Outcome(
        Verdict.HOLDS if away <= two_sided() else Verdict.FAILS,
        f"{away:.2f} standard errors from U(f)",
        details={
            "U(f)": losses.mean(),
            "mean of U_B(f)": values.mean(),
            "B": B,
            "draws": values.size,
        },
        data=(data,),
        tolerance=f"two-sided normal test at level {LEVEL:g} ({two_sided():.2f} standard errors)",
    )


def _variance_outcome(context: Context, replace: bool) -> Outcome:
    """Test var U_B = factor sigma^2 / B by a chi-square interval."""
    data, problem, losses = _small(context)
    pairs, B = losses.size, losses.size // 2
    values = _draws(context, problem, B, replace)
    factor = 1.0 if replace else (pairs - B) / (pairs - 1)
    ratio = float(values.var(ddof=1)) * B / float(losses.var())
    df = values.size - 1
    low, high = (factor * stats.chi2.ppf(q, df) / df for q in (LEVEL / 2, 1 - LEVEL / 2))
    return Outcome(
        Verdict.HOLDS if low <= ratio <= high else Verdict.FAILS,
        f"B var / sigma^2 = {ratio:.3f}, interval {low:.3f} to {high:.3f}",
        details={"sigma^2": losses.var(), "B": B, "pairs": pairs, "draws": values.size}
        | {"B var / sigma^2": ratio, "expected": factor, "interval": [low, high]},
        data=(data,),
        tolerance=f"two-sided chi-square interval at level {LEVEL:g} (U_B is nearly normal)",
    )


def incomplete_u_variance_with_replacement(context: Context) -> Outcome:
    return _variance_outcome(context, replace=True)


def incomplete_u_variance_without_replacement(context: Context) -> Outcome:
    return _variance_outcome(context, replace=False)


def incomplete_u_loss_rate(context: Context) -> Outcome:
    data = wdbc_sample(context)
    problem = hinge_problem(data, 1.0)
    scores = problem.space.scores(optimum(problem).w)
    complete, rng = problem.sums(scores).value, context.rng("pairs")
    sizes = data.X.shape[0] * 2 ** np.arange(7)
    count = 100 if context.quick else 1000

    def error(B: int) -> float:
        margins = draw_pairs(problem.pairs.positive, B, rng).margins(scores)
        return float(problem.loss.value(margins).mean()) - complete

    errors = np.array([[error(int(B)) for _ in range(count)] for B in sizes])
    rms = np.sqrt((errors**2).mean(axis=1))
    slope = Slope.fit(sizes, rms, np.full(sizes.size, 1 / np.sqrt(2 * count)))
    low, high = slope.interval
    return Outcome(
        Verdict.HOLDS if low <= -0.5 <= high else Verdict.FAILS,
        f"exponent of B: {slope}",
        printed="-1/2",
        details={"B": sizes, "root mean square error": rms, "exponent interval": [low, high]}
        | {"draws of each size": count},
        data=(data,),
        tolerance=f"-1/2 lies in the least-squares slope's interval at level {LEVEL:g}",
    )


def incomplete_u_suboptimality_rate(context: Context) -> Outcome:
    data = wdbc_sample(context)
    problem = hinge_problem(data, 1.0)
    exact = optimum(problem, tol=1e-10)
    sizes = data.X.shape[0] * 2 ** np.arange(7)
    count = 12 if context.quick else 50
    excess = _excesses(context, problem, exact, sizes, count)
    mean = excess.mean(axis=1)
    deviation = excess.std(axis=1, ddof=1) / np.sqrt(count) / mean
    slope = Slope.fit(sizes, mean, deviation)
    low, high = slope.interval
    proved = _proved(problem, sizes, LEVEL / excess.size)
    holds = low <= -1.0 and high < -0.5 and bool((excess <= proved[:, None]).all())
    return Outcome(
        Verdict.HOLDS if holds else Verdict.FAILS,
        f"exponent of B: {slope}",
        printed="-1/2 for the loss",
        details={
            "B": sizes,
            "mean of F(f_B) - p*": mean,
            "largest": excess.max(axis=1),
            "bound of Theorem 4' (I), all draws together at level 1e-6": proved,
            "exponent interval": [low, high],
            "draws of each size": count,
        },
        data=(data,),
        tolerance="the slope's interval reaches -1 and stays below -1/2 "
        f"(level {LEVEL:g}); no draw exceeds the proved bound",
    )


def _excesses(
    context: Context, problem: Problem, exact: Solution, sizes: np.ndarray, count: int
) -> np.ndarray:
    """Return F(f_B) - p* of exact minimisers over B drawn pairs: one row a size."""
    rng = context.rng("pairs")

    def excess(B: int) -> float:
        pairs: PairList = draw_pairs(problem.pairs.positive, B, rng, merge=True)
        drawn = problem.with_pairs(pairs)
        return problem.objective(optimum(drawn, tol=1e-8).w) - exact.certificate.dual

    return np.array([[excess(int(B)) for _ in range(count)] for B in sizes])


def _proved(problem: Problem, sizes: np.ndarray, delta: float) -> np.ndarray:
    """Return what F(f_B) - p* exceeds with probability delta at most: Theorem 4' (I), K~ = K."""
    X = problem.space.X  # type: ignore[attr-defined]
    same = Approximation(Gram(X @ X.T), X, problem.pairs.positive)
    bounds = (theorem4_prime(same, problem.lam, int(B), part="I", delta=delta) for B in sizes)
    return np.array([bound.total for bound in bounds])
