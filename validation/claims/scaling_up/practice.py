"""Claims about the method in use [ScalingUp, Sections 2.1 and 5]."""

from __future__ import annotations

import numpy as np

from ....approx.drawn_pairs import draw_pairs
from ....approx.landmarks import choose_landmarks
from ....approx.nystrom import nystrom_map
from ....approx.subgradient import Adamax
from ....exact.spaces.kernels import Gaussian
from ....exact.spaces.rows import Rows
from ...bounds.exact_answers import hinge_problem
from ...data import datasets
from ...extremes import max, min
from ..claim import Context, Outcome, Verdict
from ..common import LEVEL, two_sided


def overall_cost_is_linear_in_n(context: Context) -> Outcome:
    sizes = (250, 500, 1000, 2000, 4000) if context.quick else (1000, 4000, 16_000, 64_000)
    d, work, steps, used = 20, [], [], []
    for n in sizes:
        data = datasets.load(f"radial:{n}", context.draw_seed(f"{n}"))
        used.append(data)
        kernel = Gaussian(0.5)
        points = choose_landmarks("uniform", data.X, d, kernel, None, context.draw_seed(f"d{n}"))
        rows = nystrom_map(kernel, points.rows).transform(data.X)
        pairs = draw_pairs(data.is_positive, n, context.rng(f"{n}"), merge=True)
        problem = hinge_problem(data, 0.1, pairs, Rows(rows))
        found = Adamax(step=0.1, decay=0.5, tol=1e-2, max_iter=5000).solve(problem)
        steps.append(found.n_iter)
        work.append(found.n_iter * n * d + n * d**2 + d**3)
    slope = float(np.polyfit(np.log(sizes), np.log(work), 1)[0])
    return Outcome(
        Verdict.HOLDS if slope <= 1.2 else Verdict.FAILS,
        f"work grows like n^{slope:.2f}; {min(steps)} to {max(steps)} steps",
        printed="n",
        details={"n": list(sizes), "steps to a certified relative gap of 1 %": steps}
        | {"with d = n / log n, as in the remarks, n d^2 alone is n^3 / (log n)^2": "not O(n)"},
        data=used,
        tolerance="exponent 1.2; operations are counted and not timed",
    )


def incomplete_u_constant_at_b_equal_n(context: Context) -> Outcome:
    n, count, rng = 400, 1500 if context.quick else 20_000, context.rng()
    w, full, drawn, spread = np.array([0.5, 0.5]), [], [], []
    for _ in range(count):
        X = rng.standard_normal((n, 2))
        positive = X.sum(axis=1) + rng.standard_normal(n) > 1.457731
        scores = X @ w
        plus, minus = scores[positive], scores[~positive]
        margins = np.maximum(0, 1 - plus[:, None] + minus)
        chosen = margins.ravel()[rng.integers(margins.size, size=n)]
        full.append(margins.mean())
        drawn.append(chosen.mean())
        spread.append(margins.var())
    ratio = float(np.var(drawn) / np.var(full))
    expected = 1 + float(np.mean(spread)) / n / float(np.var(full))
    # Relative sd of a variance is sqrt(2 / count); both ratios share the complete statistic.
    half = two_sided() * 2 / np.sqrt(count)
    agrees = abs(ratio / expected - 1) <= half
    return Outcome(
        Verdict.HOLDS if agrees and expected > 1.25 else Verdict.FAILS,
        f"variance {ratio:.3f} times as large, {expected:.3f} by the formula",
        details={"data sets": count, "n": n, "n var U_n": n * float(np.var(full))},
        tolerance=f"normal interval at level {LEVEL:g}, half width {half:.3f}",
    )
