"""The rate of the incomplete statistic, uniformly over scores [ScalingUp, Section 2.1]."""

from __future__ import annotations

import numpy as np

from ....approx.drawn_pairs import draw_pairs
from ....exact.losses.registry import HINGE
from ....exact.pairs.all_pairs import AllPairs
from ...data import datasets
from ...extremes import max, min
from ..claim import Context, Outcome, Verdict

DIRECTIONS = 24
# An exponent of n up to which the supremum is said to fall like the root: log n costs a tenth.
ALLOWED = -0.35


def incomplete_u_keeps_the_rate_uniformly(context: Context) -> Outcome:
    sizes, repeats = (250, 1000, 4000), 10 if context.quick else 60
    angles = np.linspace(0, 2 * np.pi, DIRECTIONS, endpoint=False)
    scores_of = [s * np.array([np.cos(a), np.sin(a)]) for a in angles for s in (0.3, 1.0, 3.0)]
    worst, used = [], []
    for n in sizes:
        found = []
        for at in range(repeats):
            data = datasets.load(f"linear:{n}", context.draw_seed(f"{n} {at}"))
            whole = AllPairs().on(data.is_positive)
            drawn = draw_pairs(data.is_positive, n, context.rng(f"pairs {n} {at}"))
            part = drawn.on(data.is_positive)
            errors = [
                abs(part.sums(data.X @ w, HINGE).value - whole.sums(data.X @ w, HINGE).value)
                for w in scores_of
            ]
            found.append(max(errors))
        used.append(data)
        worst.append(float(np.mean(found)))
    slope = float(np.polyfit(np.log(sizes), np.log(worst), 1)[0])
    ratios = [w / float(np.sqrt(np.log(n) / n)) for w, n in zip(worst, sizes, strict=True)]
    return Outcome(
        Verdict.HOLDS if slope <= ALLOWED else Verdict.FAILS,
        f"falls like n^{slope:.2f}; {min(ratios):.2f} to {max(ratios):.2f} times sqrt(log(n) / n)",
        details={"n": list(sizes), "mean of the largest error": worst, "times the rate": ratios},
        data=used,
        tolerance=f"exponent at most {ALLOWED:g}",
    )
