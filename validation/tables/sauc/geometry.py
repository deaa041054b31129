"""[SAUC, Figs. 1 and 2]: what the structure does to the line between two Gaussians.

The paper does not give the Gaussians. Here two of one oblique covariance are drawn, far enough
apart that the few training rows are nearly separable: AUC-SVM is then held by few pairs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ....exact.api.path import regularization_path
from ....exact.classifier.threshold import RULES
from ....exact.pairs.all_pairs import AllPairs
from ....exact.pairs.auc import auc
from ..table import Budget, Experiment, Job, Part, Run
from .printed import PLAIN, STRUCTURED

MEANS = ((0.0, 0.0), (1.6, 0.0))
COVARIANCE = ((0.3, 0.45), (0.45, 1.2))

BUDGET = (
    Budget("draws", 1, 40, 400),
    Budget("training rows a class", "not printed", 12, 12),
    Budget("test rows a class", "not printed", 60, 60),
    Budget("C", "not printed", 1.0, 1.0),
    Budget("lambda", "not printed", 100.0, 100.0),
)


def parts(run: Run, budget: Mapping[str, Any]) -> list[Part]:
    """Return a part for each draw."""
    return [Part(f"draw={draw}", {"draw": draw}) for draw in range(budget["draws"])]


def _drawn(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    factor = np.linalg.cholesky(np.array(COVARIANCE))
    X = np.concatenate([m + rng.standard_normal((rows, 2)) @ factor.T for m in np.array(MEANS)])
    return X, np.arange(2 * rows) >= rows


def compute(job: Job) -> dict[str, Any]:
    """Fit both machines to one draw; the first draw keeps its rows for the pictures."""
    rng = job.rng(f"draw {job['draw']}")
    X, positive = _drawn(rng, job.budget["training rows a class"])
    test, test_positive = _drawn(rng, job.budget["test rows a class"])
    lam = 1 / (job.budget["C"] * AllPairs().on(positive).count())
    found: dict[str, Any] = {"gap": 0.0}
    for method, structure in ((PLAIN, 0.0), (STRUCTURED, job.budget["lambda"])):
        path = regularization_path(X, positive.astype(int), [lam], structure=structure, tol=1e-6)
        w = path.points[0].solution.w
        scores, shown = test @ w, X @ w
        found[f"auc {method}"] = auc(scores, test_positive)
        wrong = scores[test_positive][:, None] <= scores[~test_positive][None, :]
        found[f"wrong {method}"] = int(wrong.sum())
        margins = shown[positive][:, None] - shown[~positive][None, :]
        found[f"held {method}"] = int((margins <= 1 + 1e-3).sum())
        found[f"w {method}"] = w.tolist()
        found[f"cut {method}"] = float(RULES["midpoint"](shown, positive, None))
        found["gap"] = max(found["gap"], float(path.points[0].certificate.relative_gap or 0.0))
    if job["draw"] == 0:
        found |= {"train": X.tolist(), "test": test.tolist()}
    return found


# Weights within a gap of 1e-9 move by its root, and by 2e-4 between two versions of a solver.
EXPERIMENT = Experiment("sauc-geometry", BUDGET, parts, compute, tolerance=1e-3)
