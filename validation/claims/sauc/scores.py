"""Claims about scores: the AUC (1), the threshold rules of Section 2.2, the averages of Table 3."""

from __future__ import annotations

import numpy as np

from ....exact.estimators.thresholds import (
    Cuts,
    all_cuts,
    threshold_equal_error,
    threshold_midpoint,
)
from ....exact.pairs.auc import auc
from ...bounds.exact_answers import hinge_problem, optimum
from ...data.printed_numbers import numbers
from ...extremes import max, min
from ..claim import Context, Outcome, Verdict
from ..common import wdbc_sample
from .common import toy

TABLE_3 = numbers("SAUC", "Table 3")
TABLE_3.pop("average")
# AUC of SVM, AUC-SVM and SAUC-SVM.
TABLE_3_LINEAR, TABLE_3_GAUSSIAN = (
    {name: row[part] for name, row in TABLE_3.items()} for part in (slice(3), slice(3, 6))
)

# Points by which SAUC-SVM is above SVM on average, Gaussian kernel. [SAUC, Section 4.2.1]
PRINTED_GAIN = 2.07


def printed_auc(scores: np.ndarray, positive: np.ndarray) -> float:
    """Return the share of pairs with f(x_i) > f(x_j), ties as errors. [SAUC, eq. (1)]"""
    above = scores[positive][:, None] > scores[~positive][None, :]
    return float(above.mean())


def sauc_eq_1_of_a_constant_score(context: Context) -> Outcome:
    data, _ = toy(context)
    constant, positive = np.zeros(data.y.size), data.is_positive
    drawn = context.rng("scores").permutation(data.y.size).astype(float)
    mean = (printed_auc(drawn, positive) + printed_auc(-drawn, positive)) / 2
    tied = printed_auc(constant, positive)
    return Outcome(
        Verdict.HOLDS if abs(mean - 0.5) <= 1e-12 else Verdict.FAILS,
        f"{mean:g} without ties, {tied:g} for a constant score",
        printed="0.5",
        details={"without ties": mean, "constant score": tied}
        | {"constant score, ties one half": auc(constant, positive)},
        data=(data,),
        tolerance="1e-12",
    )


def accuracy(scores: np.ndarray, positive: np.ndarray, threshold: float) -> float:
    """Return the share of rows on their side of the threshold; above it is positive."""
    return float(((scores > threshold) == positive).mean())


def sauc_eq_4_has_no_breakdown_point(context: Context) -> Outcome:
    rng = context.rng("scores")
    positive = np.arange(100) < 50
    clean = np.where(positive, 1.0, -1.0) * rng.uniform(1, 2, 100)
    halfway = (clean[positive].min() + clean[~positive].max()) / 2
    rules = {"(4)": threshold_midpoint, "equal error": threshold_equal_error}
    found = {}
    for outlier in (None, -10.0, -1000.0):
        scores = clean.copy()
        if outlier is not None:
            scores[0] = outlier
        found[outlier] = {
            name: (rule(scores, positive), accuracy(scores, positive, rule(scores, positive)))
            for name, rule in rules.items()
        }
    right = found[None]["(4)"] == (halfway, 1.0)
    broken = max(found[outlier]["(4)"][1] for outlier in (-10.0, -1000.0))
    kept = min(found[outlier]["equal error"][1] for outlier in (-10.0, -1000.0))
    return Outcome(
        Verdict.HOLDS if right and broken < 0.5 and kept >= 0.98 else Verdict.FAILS,
        f"accuracy 1 without and {broken:.2f} with one outlier of 100 rows; equal error {kept:.2f}",
        details={
            f"{name}, outlier {outlier}: threshold, accuracy": values
            for outlier, rows in found.items()
            for name, values in rows.items()
        },
        tolerance="(4) below 0.5, equal error at least 0.98; (4) exactly halfway without outlier",
    )


def sauc_diagonal_is_the_best_compromise(context: Context) -> Outcome:
    data = wdbc_sample(context)
    problem = hinge_problem(data, 0.1)
    scores, positive = problem.space.scores(optimum(problem).w), data.is_positive
    cuts = all_cuts(scores, positive)
    youden, least = cuts.sensitivity + cuts.specificity - 1, _worse_rate(cuts)
    # Next to the diagonal: the two corners of the curve around the crossing.
    around = np.searchsorted(cuts.balance, 0.0) + np.array([-1, 0])
    nearest, best = float(least[around].max()), float(least.max())
    return Outcome(
        Verdict.FAILS if best > nearest + 1e-12 else Verdict.HOLDS,
        f"min(TPR, 1 - FPR) {nearest:.4f} on the diagonal, {best:.4f} at its largest; TPR - FPR "
        f"{youden[around].max():.4f} there, {youden.max():.4f} at its largest",
        details={"on the diagonal": nearest, "largest": best}
        | {"TPR - FPR on the diagonal, largest": [youden[around].max(), youden.max()]},
        data=(data,),
        tolerance="1e-12",
    )


def _worse_rate(cuts: Cuts) -> np.ndarray:
    """Return the smaller of the two rates of each cut: (m,)."""
    return np.minimum(cuts.sensitivity, cuts.specificity)


ROUNDED = "0.02 points: what rounding of the entries and of the print can do"


def _near(value: float, printed: float) -> bool:
    return abs(value - printed) <= 0.02


def sauc_table_3_gain_over_svm(context: Context) -> Outcome:
    svm, _, sauc = 100 * np.array(list(TABLE_3_GAUSSIAN.values())).mean(axis=0)
    return Outcome(
        Verdict.HOLDS if _near(sauc - svm, PRINTED_GAIN) else Verdict.FAILS,
        f"{sauc - svm:.2f} points",
        printed=f"{PRINTED_GAIN} points",
        details={"mean of SVM": svm, "mean of SAUC-SVM": sauc, "data sets": len(TABLE_3_GAUSSIAN)},
        tolerance=ROUNDED,
    )


def sauc_table_3_against_auc_svm(context: Context) -> Outcome:
    details: dict[str, object] = {}
    printed = {"linear": (12, 7.09, 2.45), "Gaussian": (15, 4.33, 2.1)}
    right = []
    for name, table in (("linear", TABLE_3_LINEAR), ("Gaussian", TABLE_3_GAUSSIAN)):
        svm, plain, sauc = 100 * np.array(list(table.values())).T
        gain, over_svm = np.round(sauc - plain, 6), float((sauc - svm).mean())
        found = [int((gain >= 1).sum()), float(gain.max()), float(gain.mean())]
        details[f"{name}: sets a point better, largest gain, mean gain over AUC-SVM"] = found
        better = int((svm > sauc).sum())
        details[f"{name}: mean gain over SVM, sets where SVM is better"] = [over_svm, better]
        right += [_near(*pair) for pair in zip(found, printed[name], strict=True)]
        right += [_near(over_svm, 1.24)] if name == "linear" else []
    return Outcome(
        Verdict.HOLDS if all(right) else Verdict.FAILS,
        f"{sum(right)} of {len(right)} numbers of the text agree with the table",
        details=details,
        tolerance=ROUNDED,
    )
