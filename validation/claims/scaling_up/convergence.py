"""Claims that the approximations converge to the exact answer [ScalingUp, Section 3].

The landmarks are nested: the first d rows in one random order, so that the span only grows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ....approx.nystrom import against_true_kernel, nystrom_map
from ....exact.certificate.certificate import Certificate
from ....exact.spaces.kernels import Kernel
from ....exact.spaces.rows import Rows
from ...bounds.exact_answers import hinge_problem, optimum
from ...bounds.experiment import Draw, Experiment, prepare
from ...data.labelled_data import Dataset
from ...extremes import max
from ..claim import Context, Outcome, Verdict
from ..common import Slope, two_sided
from .theorem_4.prime import bound_data

# Weight of the penalty, certified gap of every optimum, and d / n.
LAM, TOL, SHARES = 0.1, 1e-9, (0.05, 0.1, 0.2, 0.4, 1.0)

ABOUT = 0.25  # How far an exponent may be from -1 to be called about 1/B.


@dataclass(frozen=True, eq=False)
class Ladder:
    """One data set with ever more landmarks, the last step all rows."""

    data: Dataset
    kernel: Kernel
    steps: dict[int, Experiment]

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.data.X.shape[0]

    def draws(self, context: Context, d: int, B: int, count: int) -> list[Draw]:
        """Return draws of B pairs with d landmarks."""
        rng = context.rng(f"{self.data.name}/{d}/{B}")
        return [self.steps[d].draw(B, rng) for _ in range(count)]


@lru_cache(maxsize=1)
def ladders(seed: int, profile: str) -> tuple[Ladder, ...]:
    """Return the three data sets with the optima for every number of landmarks."""
    context = Context("approximations-converge", seed, profile)
    found = []
    for data, kernel in bound_data(context):
        n = data.X.shape[0]
        order = context.rng(f"{data.name}/landmarks").permutation(n)
        sizes = [round(share * n) for share in SHARES]
        steps = {d: prepare(data.X, data.y, kernel, LAM, data.X[order[:d]], tol=TOL) for d in sizes}
        found.append(Ladder(data, kernel, steps))
    return tuple(found)


def nystrom_converges_in_the_landmarks(context: Context) -> Outcome:
    rungs, holds, details, last = ladders(context.seed, context.profile), True, {}, 0.0
    for ladder in rungs:
        losses = np.array([step.nystrom for step in ladder.steps.values()])
        # Both values are certified to TOL; the cut-off of tiny eigenvalues costs about as much.
        holds &= bool((np.diff(losses) <= 4 * TOL).all()) and abs(losses[-1]) <= 1e-8
        last = max(last, abs(float(losses[-1])))
        details[f"{ladder.data.name}: landmarks"] = list(ladder.steps)
        details[f"{ladder.data.name}: p*_P - p*"] = losses
    return Outcome(
        Verdict.HOLDS if holds else Verdict.FAILS,
        f"falls at every step; {last:.1e} with all rows",
        details=details,
        data=[ladder.data for ladder in rungs],
        tolerance="1e-8 for d = n; 4e-9 in the comparison of two optima certified to 1e-9",
    )


def nystrom_with_all_rows_is_the_kernel_machine(context: Context) -> Outcome:
    sets, gap = bound_data(context), 0.0
    for data, kernel in sets:
        made = nystrom_map(kernel, data.X)
        features = made.transform(data.X)
        for lam in (1.0, LAM):
            problem = hinge_problem(data, lam, space=Rows(features))
            near = optimum(problem, tol=1e-11)
            truth = against_true_kernel(problem, made, data.X)
            gap = max(gap, Certificate.of(truth, near.w, near.witness).gap)
    return Outcome(
        Verdict.HOLDS if gap <= 1e-8 else Verdict.FAILS,
        f"gap at most {gap:.1e}",
        details={
            "problems": 2 * len(sets),
            "largest gap against the true kernel, rounding included": gap,
        },
        data=[data for data, _ in sets],
        tolerance="1e-8",
    )


def incomplete_nystrom_converges_in_the_pairs(context: Context) -> Outcome:
    rungs, count = ladders(context.seed, context.profile), 10 if context.quick else 60
    holds, details, slopes = True, {}, []
    for ladder in rungs:
        d, sizes = round(SHARES[2] * ladder.n), ladder.n * 8 ** np.arange(4)
        logs = np.array(
            [
                # A sampling error below the certified gap would be noise.
                [np.log(max(x.excess - x.nystrom, TOL)) for x in ladder.draws(context, d, B, count)]
                for B in sizes.tolist()
            ]
        )
        mean, error = logs.mean(axis=1), logs.std(axis=1, ddof=1) / np.sqrt(count)
        drop = mean[:-1] - mean[1:] - two_sided() * np.hypot(error[:-1], error[1:])
        slope = Slope.fit(sizes.astype(float), np.exp(mean), error)
        slopes.append(slope)
        holds &= bool((drop > 0).all()) and abs(slope.value + 1) <= ABOUT
        details[f"{ladder.data.name}: B"] = sizes
        details[f"{ladder.data.name}: geometric mean of F(f~_B) - p*_P"] = np.exp(mean)
        details[f"{ladder.data.name}: its relative standard error"] = error
        details[f"{ladder.data.name}: slope, interval"] = slope.interval
    return Outcome(
        Verdict.HOLDS if holds else Verdict.FAILS,
        "F(f~_B) - p*_P ~ B^" + ", B^".join(f"{slope.value:.2f}" for slope in slopes),
        details=details | {"draws of each B": count},
        data=[ladder.data for ladder in rungs],
        tolerance="normal intervals of the mean logarithms, two-sided level 1e-6; slope -1 +- 0.25",
    )


def incomplete_nystrom_converges_to_the_exact_answer(context: Context) -> Outcome:
    rungs, count = ladders(context.seed, context.profile), 6 if context.quick else 40
    holds, details, worst = True, {}, 0.0
    for ladder in rungs:
        n, ds = ladder.n, list(ladder.steps)
        path = [(ds[0], n), (ds[2], 16 * n), (ds[4], 256 * n)]
        groups = [ladder.draws(context, d, B, count) for d, B in path]
        excess = np.array([[draw.excess for draw in group] for group in groups])
        errors = np.array([[draw.loss_difference for draw in group] for group in groups])
        # Not one draw of a step may be as bad as the best one of the step before.
        holds &= bool((excess[1:].max(axis=1) < excess[:-1].min(axis=1)).all())
        holds &= bool(np.median(errors[-1]) < 0.2 * np.median(errors[0]))
        worst = max(worst, float(excess[-1].max()))
        details[f"{ladder.data.name}: d, B"] = [list(step) for step in path]
        details[f"{ladder.data.name}: F(f~_B) - p*, least"] = excess.min(axis=1)
        details[f"{ladder.data.name}: F(f~_B) - p*, largest"] = excess.max(axis=1)
        details[f"{ladder.data.name}: |U_B(f~_B) - U(f^)|, median"] = np.median(errors, axis=1)
    return Outcome(
        Verdict.HOLDS if holds and worst < 1e-3 else Verdict.FAILS,
        f"F(f~_B) - p* at most {worst:.1e} with d = n, B = 256 n",
        details=details | {"draws of each": count},
        data=[ladder.data for ladder in rungs],
        tolerance="1e-3 at the end; the excesses of two steps do not overlap in any draw",
    )
