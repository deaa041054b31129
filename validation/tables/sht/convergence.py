"""[SHT, Fig. 1]: AUC of SHT-AUC by epochs, at three shares of positives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ....approx.sht import StochasticHardThresholding, sparse_problem
from ....approx.sparse_baselines import top_mean_difference
from ....exact.api.folds import make_splits
from ....exact.pairs.auc import auc
from ...data.generators import sparse_mean_shift
from ..table import Budget, Experiment, Job, Part, Run
from .printed import STARS

SHARES = [0.05, 0.25, 0.5]
PUBLISHED, COMMON = "step r (1 - r), as published", "one step for all r"
STEP = 0.0475  # r (1 - r) at r = 0.05.

DONE = 0.95

BUDGET = (
    Budget("trials", 1, 1, 5),
    Budget("epochs", 300, 300, 300),
    Budget("epochs between looks", "1", 20, 5),
    Budget("r", SHARES, SHARES, SHARES),
    Budget("rows of a batch", 50, 50, 50),
)


def parts(run: Run, budget: Mapping[str, Any]) -> list[Part]:
    """Return a part for each data set."""
    return [
        Part(f"k={k},r={r:g},trial={trial}", {"k_star": k, "r": r, "trial": trial})
        for trial in range(budget["trials"])
        for k in STARS
        for r in budget["r"]
    ]


def compute(job: Job) -> dict[str, Any]:
    """Run SHT-AUC with k = k* and both steps, looking at AUC and objective on the way.

    The weights at the end are compared with the k features of largest mean difference.
    """
    k, r = job["k_star"], job["r"]
    seed = job.draw_seed(f"{k} {r:g} {job['trial']}")
    data = sparse_mean_shift(1000, seed, d=1000, k_star=k, r=r, normalize=True)
    train, test = make_splits(5, data.X, data.is_positive, seed % 2**31)[0]
    loss = sparse_problem(data.X[train], data.y[train])
    found: dict[str, Any] = {}
    for name, factor in ((PUBLISHED, 1.0), (COMMON, STEP / (r * (1 - r)))):
        w, values, curve, held = np.zeros(1000), [1.0], [], []
        looks = job.budget["epochs"] // job.budget["epochs between looks"]
        for look in range(looks):
            solver = StochasticHardThresholding(
                k + 1,  # of which the published configuration keeps one less
                block_size=job.budget["rows of a batch"],
                step=factor,
                max_epochs=job.budget["epochs between looks"],
                tol=0.0,
                mode="authors",
                seed=look,
            )
            solution = solver.solve(loss, w)
            w = solution.w
            values += [line.objective for line in solution.history[1:]]
            curve.append(auc(data.X[train] @ w, data.is_positive[train]))
            held.append(auc(data.X[test] @ w, data.is_positive[test]))
        descent = np.array(values)
        goal = descent[0] - DONE * (descent[0] - descent.min())
        found |= {
            f"train {name}": curve,
            f"test {name}": held,
            f"epochs {name}": int(np.argmax(descent <= goal)),
            f"last {name}": float(descent[-1]),
            f"descent {name}": descent[:: job.budget["epochs between looks"]].tolist(),
            f"cosine with screening {name}": _cosine(
                w, top_mean_difference(loss.X, loss.positive, k)
            ),
        }
    return found


def _cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / max(np.linalg.norm(a) * np.linalg.norm(b), 1e-300))


EXPERIMENT = Experiment("sht-convergence", BUDGET, parts, compute)
