"""Claims about Fig. 1: does SHT-AUC converge more slowly the more imbalanced the data are?

The published runs multiply the gradient of F by r (1 - r), as the programs of the authors do;
the full reproduction judges them. Here the step is that of the theory, in units of the curvature.
What is counted are epochs until the run has done 95 % of all the descent it will do, so that
neither the optimum nor the test rows enter.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ....approx.sht import StochasticHardThresholding, sparse_problem
from ....exact.subsets.best_subset import best_subset
from ...bounds.restricted_constants import block_matrices
from ...bounds.sht import sht_theorem1
from ...data.generators import sparse_mean_shift
from ...data.labelled_data import Dataset
from ...extremes import max
from ..claim import Context, Outcome, Verdict

SHARES = (0.05, 0.25, 0.5)
K = 20
DONE = 0.95  # Share of the descent after which a run counts as converged.

SLOWER = 1.5  # Factor in epochs from which one run is called slower than another.

# n, d, k, number of blocks, shift of the means: settings in which kappa < 1 for some share.
SETTINGS = (
    (20_000, 10, 4, 1, 0.3),
    (20_000, 10, 4, 10, 0.3),
    (20_000, 10, 4, 10, 0.0),
    (100_000, 10, 4, 100, 0.0),
    (20_000, 8, 8, 400, 0.3),
)
# Draws of each share; the shares, so far apart that noise does not order their means.
DRAWS, RARE = 5, (0.05, 0.15, 0.5)


def _sets(context: Context) -> dict[float, Dataset]:
    """Return the paper's model at three shares, smaller than there: n = 600, d = 300."""
    shared = Context("sht-fig-1", context.seed, context.profile)
    n, d = (600, 300) if context.quick else (1000, 1000)
    return {r: sparse_mean_shift(n, shared.draw_seed(f"{r}"), d=d, k_star=K, r=r) for r in SHARES}


def _descent(data: Dataset) -> np.ndarray:
    """Return what is left of the descent after each epoch, as a share: from 1 to 0."""
    solver = StochasticHardThresholding(K, block_size=50, max_epochs=150, tol=0.0, keep="last")
    solution = solver.solve(sparse_problem(data.X, data.y))
    values = np.array([line.objective for line in solution.history])
    return (values - values.min()) / (values[0] - values.min())


def sht_fig_1_with_the_step_of_the_theory(context: Context) -> Outcome:
    sets = _sets(context)
    left = {r: _descent(data) for r, data in sets.items()}
    epochs = {r: int(np.argmax(values <= 1 - DONE)) for r, values in left.items()}
    ratio = epochs[SHARES[0]] / max(epochs[SHARES[-1]], 1)
    return Outcome(
        Verdict.HOLDS if ratio >= SLOWER else Verdict.FAILS,
        f"{', '.join(map(str, epochs.values()))} epochs at r = "
        f"{', '.join(f'{r:g}' for r in epochs)}",
        details={f"epochs at r = {r:g}": count for r, count in epochs.items()}
        | {"epochs at the smallest share / at one half": ratio},
        data=sets.values(),
        tolerance=f"slower from a factor {SLOWER:g} in epochs to {DONE:.0%} of the descent",
    )


def sht_tolerance_grows_with_the_imbalance(context: Context) -> Outcome:
    table, falls, finite = {}, 0, 0
    for n, d, k, m, mu in SETTINGS:
        means = []
        for r in RARE:
            seeds = [context.draw_seed(f"{n} {d} {mu} {r} {draw}") for draw in range(DRAWS)]
            found = [
                _tolerance(sparse_mean_shift(n, seed, d=d, k_star=1, r=r, mu=mu), k, m)
                for seed in seeds
            ]
            means.append(float(np.mean(found)))
        steps = [(rare, even) for rare, even in pairwise(means) if even < np.inf]
        falls += sum(rare <= even for rare, even in steps)
        finite += len(steps)
        table[f"n = {n}, d = {d}, k = {k}, m = {m}, mu = {mu}: r = 0.05, 0.15, 0.5"] = [
            mean if mean < np.inf else "infinite" for mean in means
        ]
    judged = Verdict.HOLDS if finite else Verdict.VACUOUS
    return Outcome(
        Verdict.FAILS if falls else judged,
        f"falls with r in {finite - falls} of {finite} steps from one share to the next",
        printed="larger for smaller r",
        details=table,
        tolerance="the order of means of five draws; nu of Lemma 2",
    )


def _tolerance(data: Dataset, k: int, m: int) -> float:
    """Return sigma / (1 - kappa) for the best subset of one feature; infinite without kappa < 1."""
    loss, rng = sparse_problem(data.X, data.y), np.random.default_rng(0)
    M = block_matrices(StochasticHardThresholding(1, n_blocks=m).blocks(loss, rng))
    w = best_subset(data.X, data.y, 1).w
    found = sht_theorem1(M, loss.delta, w, np.zeros(w.size), k, 0, nu="lemma2").quantities
    return found["sigma"] / (1 - found["kappa"]) if found["kappa"] < 1 else np.inf
