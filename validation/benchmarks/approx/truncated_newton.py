"""Truncated Newton for the squared hinge, measured in X@w + argsort + X'g of the same run.

The goal is a gradient norm of 1e-10 over all pairs: in at most 20 such yardsticks at n = 1e6 rows
with 2 features, in at most 100 at n = 1e5 with 300 Nyström features. The certificate is timed
apart: it computes everything again, with bounds of its rounding.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ....approx.newton.truncated_newton import TruncatedNewton
from ....approx.nystrom.landmarks import uniform
from ....approx.nystrom.nystrom import nystrom_map
from ....exact.certificate.solution import Step
from ....exact.losses.registry import SQUARED_HINGE
from ....exact.problem.all_pairs import AllPairs
from ....exact.problem.problem import Ridge, pair_problem
from ....exact.spaces.kernels import Gaussian
from ....exact.spaces.rows import Rows
from ...data.generators import linear
from ..timing import best_cpu, yardstick

LAMS = (1e-1, 1e-3, 1e-5)
GRADIENT = 1e-10
GOALS = {"p = 2": 20.0, "d = 300": 100.0}


@dataclass(frozen=True)
class Cost:
    """What one solution took; times in yardsticks.

    Attributes
    ----------
    to_point, certificate : float
        Up to the point, centred rows and all, and the certificate after it.
    steps : int
        Points looked at over all rows.
    gradient : float
        Norm of the gradient, computed apart from the solver.
    implied, gap, rounding : float
        |gradient|^2 / (2 lam), the certified gap, and its rounding, all over F.
    """

    to_point: float
    certificate: float
    steps: int
    gradient: float
    implied: float
    gap: float
    rounding: float


def radial_features(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return d Nyström features of ten normal columns, labels by their squared norm and noise."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 10))
    radius = (x**2).sum(axis=1)
    positive = radius + 2 * rng.normal(size=n) > np.quantile(radius, 0.8)
    features = nystrom_map(Gaussian(0.1), uniform(x, d, seed).rows).transform(x)
    return features, positive


def measure(X: np.ndarray, positive: np.ndarray, lam: float, seconds: float) -> Cost:
    """Return the cost of one solution.

    Parameters
    ----------
    X : array (n, d)
    positive : bool array (n,)
    lam : float
    seconds : float
        Of one yardstick.
    """
    clock = [time.process_time()]

    def note(step: Step) -> None:
        clock[1:] = [time.process_time()]

    problem = pair_problem(Rows(X), positive, AllPairs(), SQUARED_HINGE, Ridge(lam))
    solution = TruncatedNewton(gradient_tol=GRADIENT).solve(problem, callback=note)
    clock.append(time.process_time())
    spent = np.diff(clock) / seconds
    sums = problem.sums(problem.space.scores(solution.w))
    gradient = float(np.linalg.norm(lam * solution.w - problem.space.pull(sums.c)))
    found = solution.certificate
    return Cost(
        float(spent[0]),
        float(spent[1]),
        solution.n_iter,
        gradient,
        gradient**2 / (2 * lam) / found.primal,
        found.gap / found.primal,
        found.rounding / found.primal,
    )


def cases(rows: int, features: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield name, rows and labels: the linear model with `rows`, and a tenth of them as kernels."""
    data = linear(rows)
    yield "p = 2", data.X, data.is_positive
    yield "d = 300", *radial_features(rows // 10, features)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="truncated Newton, squared hinge, all pairs")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=300, help="of the second case")
    parser.add_argument("--lam", type=float, nargs="+", default=LAMS)
    options = parser.parse_args(arguments)
    print(f"squared hinge over all pairs, down to |gradient| <= {GRADIENT:g}; CPU time in units of")
    print("one X@w + argsort + X'g; |g|^2 / (2 lam), certified gap and its rounding relative to F")
    print(
        f"{'case':>8} {'n':>8} {'lam':>7} {'steps':>5} {'to point':>9} {'proof':>6} {'|g|':>8} "
        f"{'g2/(2 lam)':>10} {'gap':>8} {'rounding':>8}  goal"
    )
    measure(np.ones((6000, 1)), np.arange(6000) % 2 == 0, 1.0, 1.0)  # compiles
    for name, X, positive in cases(options.rows, options.features):
        seconds = best_cpu(yardstick(X, np.ones(X.shape[1])))
        for lam in options.lam:
            cost = measure(X, positive, lam, seconds)
            good = cost.to_point <= GOALS[name] and cost.gradient <= GRADIENT
            print(
                f"{name:>8} {positive.size:8d} {lam:7.0e} {cost.steps:5d} {cost.to_point:8.1f}x "
                f"{cost.certificate:5.1f}x {cost.gradient:8.1e} {cost.implied:10.1e} "
                f"{cost.gap:8.1e} {cost.rounding:8.1e}  "
                f"{GOALS[name]:g}x {'reached' if good else 'missed'}",
                flush=True,
            )


if __name__ == "__main__":
    raise SystemExit(main())
