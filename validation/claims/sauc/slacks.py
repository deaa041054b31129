"""Claims about the slacks of AUC-SVM and its pairs as one class [SAUC, Section 2.2]."""

from __future__ import annotations

import numpy as np
from sklearn.svm import LinearSVC

from ....exact.losses.registry import HINGE
from ....exact.pairs.all_pairs import AllPairs
from ...bounds.exact_answers import hinge_problem, optimum
from ...extremes import max, min
from ..claim import Context, Outcome, Verdict
from ..common import wdbc_sample

COSTS = (0.001, 0.01, 0.1)  # C of a pair.


def sauc_slacks_bound_the_misranked_pairs(context: Context) -> Outcome:
    data = wdbc_sample(context, 20, 25)
    rng, pairs = context.rng("w"), AllPairs().on(data.is_positive)
    least, details = np.inf, {}
    for k in range(200):
        w = rng.standard_normal(data.X.shape[1]) * 10.0 ** rng.integers(-2, 3)
        scores = data.X @ w
        slacks = pairs.sums(scores, HINGE).value
        gaps = scores[data.is_positive][:, None] - scores[~data.is_positive]
        wrong = float((gaps < 0).mean())
        least = min(least, slacks - wrong)
        details[f"w {k}"] = [slacks, wrong]
    return Outcome(
        Verdict.HOLDS if least >= -1e-12 else Verdict.FAILS,
        f"mean slack less share of misranked pairs at least {least:.3g}",
        details={"draws": len(details), "least difference": least},
        data=(data,),
        tolerance="every draw; a slack is at least one where a margin is not above zero",
    )


def sauc_auc_svm_is_a_one_class_svm(context: Context) -> Outcome:
    data = wdbc_sample(context, 20, 25)
    plus, minus = data.X[data.is_positive], data.X[~data.is_positive]
    Z = (plus[:, None] - minus[None]).reshape(-1, data.X.shape[1])
    both, sides = np.vstack([Z, -Z]), np.repeat([1, -1], len(Z))
    worst = 0.0
    for C in COSTS:
        # A class and its mirror image, at half the cost each: one class against the origin.
        model = LinearSVC(
            C=C / 2,
            loss="hinge",
            fit_intercept=False,
            tol=1e-10,
            max_iter=2_000_000,
            random_state=0,
        ).fit(both, sides)
        problem = hinge_problem(data, 1 / (C * len(Z)))
        best = optimum(problem, tol=1e-10).certificate
        found = problem.objective(model.coef_.ravel())
        worst = max(worst, found / best.dual - 1)
    return Outcome(
        Verdict.HOLDS if worst <= 1e-4 else Verdict.FAILS,
        f"the one-class machine is within {worst:.1e} of the certified optimum",
        details={f"C = {C:g}": C for C in COSTS} | {"pairs": len(Z), "worst excess": worst},
        data=(data,),
        tolerance="relative excess 1e-4 over the certified optimum over all pairs",
    )
