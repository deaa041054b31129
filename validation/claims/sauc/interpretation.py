"""Claims about what SAUC-SVM does: Prop. 2 and (21)-(25) of [SAUC]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from ....exact.certificate.solution import Solution
from ....exact.formulation.formulation import formulate
from ....exact.formulation.request import Request
from ....exact.pairs.statistics.concordance import delong
from ....exact.solvers.cutting_plane import CuttingPlane
from ....exact.structured import ClassScatter, class_scatter
from ...bounds.exact_answers import hinge_problem, optimum, solved
from ...data.labelled_data import Dataset
from ...extremes import max, min
from ..claim import Context, Outcome, Verdict
from ..common import two_sided, wdbc_sample
from .common import every_pair, toy


def _means(data: Dataset) -> np.ndarray:
    """Return u_1 - u_2, the difference of the class means."""
    plus = data.is_positive
    return data.X[plus].mean(axis=0) - data.X[~plus].mean(axis=0)


def _active(data: Dataset, w: np.ndarray) -> bool:
    """Whether no pair has a margin above one."""
    scores = data.X @ w
    return bool(scores[data.is_positive].max() - scores[~data.is_positive].min() <= 1 + 1e-9)


def sauc_eq_22_slacks_and_means(context: Context) -> Outcome:
    data, rng = wdbc_sample(context), context.rng("w")
    step, problem = _means(data), hinge_problem(data, 0.1)
    points = {f"optimum, lam {lam:g}": optimum(hinge_problem(data, lam)).w for lam in (1.0, 0.1)}
    for k, size in enumerate(np.geomspace(1e-3, 1e2, 40)):
        direction = rng.standard_normal(step.size) + step
        points[f"random {k}"] = size * direction / np.linalg.norm(direction)
    excess, active = {}, {}
    for name, w in points.items():
        scores = problem.space.scores(w)
        excess[name] = problem.sums(scores).value - (1 - float(w @ step))
        # The size of what was subtracted, in units of rounding.
        size = 1.0 + float(np.abs(scores).max())
        excess[name] /= size
        active[name] = _active(data, w)
    least, equal = min(excess.values()), sum(active.values())
    agree = all((excess[name] <= 1e-13) == active[name] for name in points)
    return Outcome(
        Verdict.HOLDS if agree and least >= -1e-13 else Verdict.FAILS,
        f"smallest excess {least:.1e} of {len(points)} points; equality at {equal}",
        details={"smallest excess over the bound, in units of 1 + max |f|": least}
        | {f"excess at the {name}": x for name, x in excess.items() if name.startswith("opt")}
        | {"points with every hinge active": equal, "equality there and only there": agree},
        data=(data,),
        tolerance="1e-13 of the scores' size, for the bound and for equality",
    )


@dataclass(frozen=True)
class _Direction:
    """w'(u_1 - u_2) as a share of its largest value for that length, and bounds of it."""

    share: float
    high: float

    @classmethod
    def of(cls, data: Dataset, solution: Solution) -> _Direction:
        w, step = solution.w, _means(data)
        length, radius = float(np.linalg.norm(w)), solution.certificate.radius
        share = float(w @ step) / (length * float(np.linalg.norm(step)))
        # The optimum is a w* within `radius`, so its angle to w is at most arcsin(radius / |w|).
        angle = np.arccos(min(share, 1.0)) - np.arcsin(min(radius / length, 1.0))
        return cls(share, float(np.cos(max(angle, 0.0))))


def sauc_prop_2_as_printed(context: Context) -> Outcome:
    data = wdbc_sample(context)
    found = {}
    for lam in (1.0, 0.1, 0.01):
        problem = hinge_problem(data, lam)
        found[lam] = _Direction.of(data, optimum(problem, tol=1e-8))
    worst = min(found.values(), key=lambda direction: direction.high)
    return Outcome(
        Verdict.FAILS if worst.high < 0.99 else Verdict.HOLDS,
        f"{worst.share:.3f} of the largest value for its length",
        printed="1",
        details={f"C n+ n- = {1 / lam:g}: share": x.share for lam, x in found.items()}
        | {f"C n+ n- = {1 / lam:g}: upper bound": x.high for lam, x in found.items()},
        data=(data,),
        tolerance="refuted by a share below 0.99, the certified radius of the optimum allowed for",
    )


def sauc_prop_2_when_every_hinge_is_active(context: Context) -> Outcome:
    data = wdbc_sample(context)
    scatter, step = class_scatter(data.is_positive), _means(data)
    Sigma = data.X.T @ scatter.times(data.X)
    moved, allowed, excess, active = {}, {}, {}, True
    for structure in (0.0, 0.3, 50.0):
        direction = np.linalg.solve(np.eye(step.size) + structure * Sigma, step)
        scores = data.X @ direction
        widest = scores[data.is_positive].max() - scores[~data.is_positive].min()
        lam = 2.0 * float(widest)  # so that the largest margin of the closed form is one half
        task = formulate(data.X, data.y, Request.of(lam, structure=structure))
        solution = task.judge(optimum(task.work, tol=1e-10), 1e-9)
        closed = direction / lam
        moved[structure] = float(np.linalg.norm(solution.w - closed))
        allowed[structure] = solution.certificate.radius
        at = task.meant.space.scores(closed)
        excess[structure] = abs(task.meant.sums(at).value - 1 + float(closed @ step))
        active &= _active(data, closed)
    good = active and max(excess.values()) <= 1e-13
    good &= all(moved[s] <= allowed[s] for s in moved)
    return Outcome(
        Verdict.HOLDS if good else Verdict.FAILS,
        f"(22) equal to {max(excess.values()):.0e}, w to {max(moved.values()):.1e}",
        details={f"lambda {s:g}: |w - closed form|": x for s, x in moved.items()}
        | {f"lambda {s:g}: certified radius": x for s, x in allowed.items()}
        | {f"lambda {s:g}: excess over (22)": x for s, x in excess.items()},
        data=(data,),
        tolerance="w within the certified radius of the optimum; (22) to 1e-13",
    )


def sauc_scatter_falls_with_the_structure(context: Context) -> Outcome:
    data, lam = wdbc_sample(context), 0.01
    scatter = class_scatter(data.is_positive)
    grid = (0.0, 0.01, 0.1, 1.0, 10.0, 100.0)
    spread, gap = [], []
    for structure in grid:
        task = formulate(data.X, data.y, Request.of(lam, structure=structure))
        solution = task.judge(solved(CuttingPlane(tol=1e-8), task.work), 1e-7)
        spread.append(_scatter(data, scatter, solution.w))
        gap.append(solution.certificate.gap)
    steps = np.diff(grid) * lam / 2
    # w_1 and w_2 are optimal but for their gaps: adding the two inequalities bounds the rise.
    rise = np.diff(spread)
    slack = (np.array(gap[:-1]) + np.array(gap[1:])) / steps
    return Outcome(
        Verdict.HOLDS if (rise <= slack).all() else Verdict.FAILS,
        f"w'Sigma w from {spread[0]:.3g} at lambda = 0 to {spread[-1]:.2g} at {grid[-1]:g}",
        details={f"lambda {s:g}: w'Sigma w": x for s, x in zip(grid, spread, strict=True)}
        | {"slack for inexact optima": slack},
        data=(data,),
        tolerance="what the certified gaps of two neighbouring optima can explain",
    )


def _scatter(data: Dataset, scatter: ClassScatter, w: np.ndarray) -> float:
    scores = data.X @ w
    return float(scores @ scatter.times(scores))


def sauc_eq_23_auc_of_gaussians(context: Context) -> Outcome:
    rng, d = context.rng("draws"), 4
    n = 20_000 if context.quick else 500_000
    deviations, values = [], []
    for _ in range(8):
        u, w = rng.standard_normal((2, d))
        factors = rng.standard_normal((2, d, d))
        rows = [rng.standard_normal((n, d)) @ factor.T for factor in factors]
        scores = np.concatenate([(rows[0] + u) @ w, rows[1] @ w])
        found = delong(scores, np.arange(2 * n) < n)
        total = sum(float(np.square(factor.T @ w).sum()) for factor in factors)
        values.append(float(stats.norm.cdf(float(u @ w) / np.sqrt(total))))
        deviations.append((found.value - values[-1]) / found.standard_error)
    worst = float(np.abs(deviations).max())
    return Outcome(
        Verdict.HOLDS if worst <= two_sided() else Verdict.FAILS,
        f"off by at most {worst:.1f} standard deviations",
        details={"AUC by (23)": values, "sample minus (23), in standard deviations": deviations}
        | {"rows in each class": n},
        tolerance=f"at most {two_sided():.2f} standard deviations of the sample's AUC",
    )


def chebyshev(t: float) -> float:
    """Return Theta(t) of [SAUC, eq. (25)]."""
    return max(t, 0.0) ** 2 / (1 + max(t, 0.0) ** 2)


def _bound(differences: np.ndarray, w: np.ndarray) -> tuple[float, float]:
    """Return P(w'Z > 0) over the listed differences, and its bound (24)."""
    z = differences @ w
    deviation = float(z.std())
    t = float(z.mean()) / deviation if deviation > 0 else np.inf * np.sign(z.mean())
    return float((z > 0).mean()), chebyshev(t) if np.isfinite(t) else float(t > 0)


def sauc_eq_24_chebyshev(context: Context) -> Outcome:
    wdbc, (xor, _) = wdbc_sample(context, 60, 90), toy(context)
    rng = context.rng("w")
    margin, low = np.inf, np.inf
    for data in (wdbc, xor):
        pairs = every_pair(data.is_positive)
        differences = data.X[pairs.i] - data.X[pairs.j]
        directions = [rng.standard_normal(data.X.shape[1]) for _ in range(50)]
        directions += [_means(data), optimum(hinge_problem(data, 0.1)).w]
        for w in directions:
            share, bound = _bound(differences, w)
            margin, low = min(margin, share - bound), min(low, share)
    # One feature: differences 1 in a quarter of the pairs, else 0. Then t^2 = 1/3.
    attained = _bound(np.array([[1.0], [0.0], [0.0], [0.0]]), np.ones(1))
    tight = abs(attained[0] - attained[1])
    return Outcome(
        Verdict.HOLDS if margin >= -1e-12 and tight <= 1e-12 else Verdict.FAILS,
        f"smallest AUC - bound {margin:.3f} on data, {tight:.0e} where it is attained",
        details={"smallest AUC - bound on data": margin, "smallest AUC": low}
        | {"AUC and bound where it is attained": attained},
        data=(wdbc, xor),
        tolerance="bound not above the AUC, and attained, to 1e-12",
    )
