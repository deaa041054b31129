"""Claims about Algorithm 3: does NSAUC reach the optimum, and what the average does for it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ....approx.newton.truncated_newton import TruncatedNewton
from ....approx.nystrom.landmarks import kmeans
from ....approx.nystrom.nystrom import nystrom_map
from ....approx.random_pairs.nsauc import PairSGD, mean_square_size, random_pairs, starting_time
from ....approx.random_pairs.pair_steps import Walk
from ....exact.losses.registry import SQUARED_HINGE
from ....exact.pairs.auc import auc
from ....exact.problem.problem import Problem, Ridge, pair_problem
from ....exact.spaces.kernels import Gaussian
from ....exact.spaces.rows import Rows
from ...bounds.exact_answers import hinge_problem, optimum
from ...data import datasets
from ...data.labelled_data import Dataset
from ...extremes import max, min
from ..claim import Context, DataUsed, Outcome, Verdict, claim
from ..sauc.common import LEVEL, Paired
from .batch import PAPER


@dataclass(frozen=True, eq=False)
class Setting:
    """Rows of the radial model as k-means Nystrom features, centred, and test rows."""

    data: Dataset
    rows: np.ndarray
    test_rows: np.ndarray
    test_positive: np.ndarray

    def problem(self, lam: float) -> Problem:
        """Return the hinge over all pairs of the features."""
        return hinge_problem(self.data, lam, space=Rows(self.rows))

    def auc(self, w: np.ndarray) -> float:
        """Return the AUC on the test rows."""
        return auc(self.test_rows @ w, self.test_positive)


@lru_cache(maxsize=1)
def setting(seed: int, profile: str) -> Setting:
    """Return the setting of every claim here: n = 1000, 50 landmarks."""
    context = Context("nsauc", seed, profile)
    n = 1000 if context.quick else 5000
    data = datasets.load(f"radial:{n}", context.draw_seed("data"))
    test = datasets.load("radial:4000", context.draw_seed("test"))
    change = nystrom_map(Gaussian(0.25), kmeans(data.X, 50, context.draw_seed("k")).rows)
    rows = change.transform(data.X)
    mean = rows.mean(axis=0)
    return Setting(data, rows - mean, change.transform(test.X) - mean, test.is_positive)


@lru_cache(maxsize=8)
def _best(seed: int, profile: str, lam: float) -> float:
    """Return a certified lower bound of the optimum, within 1e-6 of it."""
    return optimum(setting(seed, profile).problem(lam), 1e-6).certificate.dual


def _gap(context: Context, lam: float, epochs: int, average: str = "all") -> float:
    """Return the relative excess of NSAUC's objective over the certified optimum."""
    problem = setting(context.seed, context.profile).problem(lam)
    solver = PairSGD(max_epochs=epochs, average=average, seed=context.draw_seed("pairs"))
    found = problem.objective(solver.solve(problem).w)
    return found / _best(context.seed, context.profile, lam) - 1


def _times_as_large(context: Context, lam: float, epochs: int, at: int) -> float:
    """Return the excess of the last point over that of the average, after the same steps."""
    problem = setting(context.seed, context.profile).problem(lam)
    space, best = problem.space, _best(context.seed, context.profile, lam)
    assert isinstance(space, Rows)
    pairs = random_pairs(problem, epochs * problem.n, context.rng(f"pairs {at}"))
    walk = Walk.of(np.zeros(space.dim))
    t0 = starting_time("scaled", lam, mean_square_size(space))
    solver = PairSGD()
    solver.advance(walk, space.X, pairs, lam, t0)
    mean, last = (problem.objective(w) / best - 1 for w in (solver.point(walk), walk.w))
    return last / mean


def _used(context: Context) -> tuple[DataUsed, ...]:
    return (DataUsed.of(setting(context.seed, context.profile).data),)


@claim(
    "nsauc-reaches-the-optimum-where-lam-t-is-large",
    paper=PAPER,
    place="Sections 4 and 5.5",
    kind="corrected",
    statement="With the derivative and the average put right, NSAUC converges to the optimum of "
    "its objective where lam T is far above one (lam = 0.01, 100 epochs).",
    formula="F(w) / p* - 1 <= 0.001 at lam T = 1000",
    expected=Verdict.HOLDS,
)
def nsauc_reaches_the_optimum_where_lam_t_is_large(context: Context) -> Outcome:
    gaps = {epochs: _gap(context, 1e-2, epochs) for epochs in (1, 10, 100)}
    return Outcome(
        Verdict.HOLDS if gaps[100] <= 1e-3 and gaps[100] < gaps[10] < gaps[1] else Verdict.FAILS,
        f"relative excess {gaps[1]:.1e}, {gaps[10]:.1e}, {gaps[100]:.1e} after 1, 10, 100 epochs",
        details={f"{epochs} epochs": gap for epochs, gap in gaps.items()},
        data=_used(context),
        tolerance="0.001 against the certified lower bound",
    )


@claim(
    "nsauc-reaches-the-optimum-on-the-papers-grid",
    paper=PAPER,
    place="Sections 5.4 and 5.5",
    kind="paper",
    statement="NSAUC converges to the optimal solution for lam of the paper's grid (1e-8), in 100 "
    "epochs, read as the objective (t0 = lam^(-3/4), the rule of the program it extends).",
    expected=Verdict.FAILS,
)
def nsauc_reaches_the_optimum_on_the_papers_grid(context: Context) -> Outcome:
    made = setting(context.seed, context.profile)
    lam = 1e-8
    problem = made.problem(lam)
    solver = PairSGD(max_epochs=100, t0="bottou", seed=context.draw_seed("pairs"))
    found = solver.solve(problem)
    # Any vector bounds the optimum from above: the certified one for lam = 1e-4.
    above = problem.objective(optimum(made.problem(1e-4), 1e-4).w)
    value = problem.objective(found.w)
    return Outcome(
        Verdict.FAILS if value > 1.1 * above else Verdict.HOLDS,
        f"objective {value:.3f}, where {above:.3f} can be reached and w = 0 has 1; AUC "
        f"{made.auc(found.w):.4f}",
        printed="converges to the optimal solution",
        details={"lam T": lam * found.n_iter, "objective": value, "can be reached": above},
        data=_used(context),
        tolerance="a tenth above a value that a known vector reaches",
    )


@claim(
    "nsauc-auc-on-par-with-the-batch-method",
    paper=PAPER,
    place="Section 5.4, Table 4",
    kind="paper",
    statement="The test AUC of NSAUC after ten epochs is on par with that of the exact optimum of "
    "the batch problem: within half a point, for lam = 0.01, 0.001, 0.0001.",
    expected=Verdict.HOLDS,
)
def nsauc_auc_on_par_with_the_batch_method(context: Context) -> Outcome:
    made, table = setting(context.seed, context.profile), {}
    for lam in (1e-2, 1e-3, 1e-4):
        problem = made.problem(lam)
        batch = pair_problem(
            problem.space, problem.pairs.positive, problem.pairs, SQUARED_HINGE, Ridge(lam)
        )
        exact = TruncatedNewton(tol=1e-8).solve(batch).w
        sgd = PairSGD(max_epochs=10, seed=context.draw_seed("pairs")).solve(problem).w
        table[lam] = (made.auc(sgd), made.auc(exact))
    worst = max(batch - sgd for sgd, batch in table.values())
    return Outcome(
        Verdict.HOLDS if worst <= 0.005 else Verdict.FAILS,
        f"at most {100 * worst:.2f} points below",
        printed="within 0.6 points on six sets",
        details={f"lam = {lam:g}: NSAUC, batch optimum": list(row) for lam, row in table.items()},
        data=_used(context),
        tolerance="half a point of AUC",
    )


@claim(
    "averaging-lowers-the-excess",
    paper=PAPER,
    place="Section 5.5",
    kind="paper",
    statement="The scheduled average is effective: after the same 100 epochs NSAUC is nearer to "
    "the optimum than its last point (NSVMSGD2), where lam T is 100 or more.",
    expected=Verdict.HOLDS,
)
def averaging_lowers_the_excess(context: Context) -> Outcome:
    epochs, count = 100, 20 if context.quick else 100
    table = {
        lam: [_gap(context, lam, epochs, average) for average in ("all", "half", "none")]
        for lam in (1e-2, 1e-3, 1e-4)
    }
    larger = {
        lam: [_times_as_large(context, lam, epochs, at) for at in range(count)]
        for lam in table
        if lam > 1e-4
    }
    judged = {lam: Paired.of(np.log(found), np.zeros(count)) for lam, found in larger.items()}
    every = [ratio for found in larger.values() for ratio in found]
    return Outcome(
        Verdict.HOLDS if all(gain.positive for gain in judged.values()) else Verdict.FAILS,
        f"the last point's excess is {np.exp(np.mean(np.log(every))):.1f} times as large "
        f"({min(every):.2g} to {max(every):.2g})",
        details={
            f"lam = {lam:g}, {epochs} epochs: excess of the average, of the second half's, of the "
            "last point": row
            for lam, row in table.items()
        }
        | {f"lam = {lam:g}: times as large, draw by draw": row for lam, row in larger.items()},
        data=_used(context),
        tolerance=f"Student's interval of the mean logarithm of the ratio ({LEVEL:g} a side, "
        f"{count} draws of the pairs) above 0 for lam = 0.01 and for 0.001; excess over the "
        "certified lower bound",
    )


@claim(
    "algorithm-3-as-printed",
    paper=PAPER,
    place="Algorithm 3",
    kind="paper",
    statement="Algorithm 3 as printed (the loss in the place of its derivative, the average with "
    "harmonic weights) comes within 10 % of the optimum at lam = 0.01 in 100 epochs.",
    formula="l'(z) = max(0, 1 - z),  w~ <- (q w~ + w) / q",
    expected=Verdict.FAILS,
)
def algorithm_3_as_printed(context: Context) -> Outcome:
    problem = setting(context.seed, context.profile).problem(1e-2)
    best = optimum(problem, 1e-6).certificate
    seed, excess = context.draw_seed("pairs"), {}
    for epochs in (10, 100):
        found = PairSGD(max_epochs=epochs, paper_literal=True, seed=seed).solve(problem)
        excess[epochs] = problem.objective(found.w) / best.dual - 1
    return Outcome(
        Verdict.FAILS if excess[100] > 0.1 else Verdict.HOLDS,
        f"{excess[10]:.0%} above the optimum after 10 epochs, {excess[100]:.0%} after 100",
        details={f"relative excess after {epochs} epochs": v for epochs, v in excess.items()},
        data=_used(context),
        tolerance="10 % above the certified lower bound",
    )


@claim(
    "algorithm-3-printed-step-solves-another-problem",
    paper=PAPER,
    place="Section 4, Algorithm 3",
    kind="suite",
    statement="The printed step vanishes on average at the optimum of half the squared hinge, "
    "whose hinge objective is above the optimum by more than 5 %.",
    formula="mean of max(0, 1 - z) x = lam w  at  argmin lam/2 |w|^2 + mean of (1 - z)_+^2 / 2",
    expected=Verdict.HOLDS,
)
def algorithm_3_printed_step_solves_another_problem(context: Context) -> Outcome:
    lam, made = 1e-2, setting(context.seed, context.profile)
    problem = made.problem(lam)
    twice = pair_problem(
        problem.space, problem.pairs.positive, problem.pairs, SQUARED_HINGE, Ridge(2 * lam)
    )
    w = TruncatedNewton(tol=1e-12).solve(twice).w
    plus, minus = made.rows[problem.pairs.positive], made.rows[~problem.pairs.positive]
    active = np.maximum(0, 1 - (plus @ w)[:, None] + minus @ w)
    step = (active.mean(axis=1) @ plus) / len(plus) - (active.mean(axis=0) @ minus) / len(minus)
    off = float(np.linalg.norm(step - lam * w) / np.linalg.norm(lam * w))
    excess = problem.objective(w) / optimum(problem, 1e-6).certificate.primal - 1
    return Outcome(
        Verdict.HOLDS if off <= 1e-4 and excess > 0.05 else Verdict.FAILS,
        f"mean step {off:.1e} of lam |w|; hinge objective {excess:.1%} above the optimum",
        details={"mean step / lam |w|": off, "relative excess of the hinge objective": excess},
        data=_used(context),
        tolerance="1e-4 for the step, 5 % for the excess",
    )
