"""Claims about the AUC, and that of the simulated models [ScalingUp, eq. (2), Tables 1 and 2]."""

from __future__ import annotations

import numpy as np

from ....exact.pairs.statistics.concordance import delong
from ...data import datasets
from ...data.labelled_data import Dataset
from ...data.population import Model, offset_for_share, population_auc, share_for_auc
from ...data.printed_numbers import numbers
from ...extremes import max
from ..claim import Context, Outcome, Verdict
from ..common import LEVEL, two_sided

# AUC_true in per cent, below Table 1 and below Table 2.
PRINTED: dict[str, float] = {
    model: numbers("ScalingUp", f"below {table}")[model][0]
    for model, table in (("linear", "Table 1"), ("radial", "Table 2"))
}

TEST_ROWS = 25_000  # Rows of the paper's test sets.


def population_auc_of_the_linear_model(context: Context) -> Outcome:
    return _against_print("linear", context)


def population_auc_of_the_radial_model(context: Context) -> Outcome:
    return _against_print("radial", context)


def _against_print(model: Model, context: Context) -> Outcome:
    """Find the share of negative responses that gives the printed value: is it about 80 %?"""
    exact, printed = 100 * population_auc(model), PRINTED[model]
    negative = 1 - share_for_auc(model, printed / 100)
    data = datasets.load(f"{model}:{TEST_ROWS}", context.draw_seed("test set"))
    deviation = delong(_true_score(model, data), data.is_positive).standard_error
    apart = abs(exact - printed)
    return Outcome(
        Verdict.HOLDS if round(10 * negative) == 8 else Verdict.FAILS,
        f"{printed} % at {100 * negative:.1f} % negatives; {exact:.4f} % at 80 %",
        printed=f"{printed} %, approximately 80 % negatives",
        details={
            "share of negatives that gives the printed value": negative,
            "offset alpha there": offset_for_share(model, 1 - negative),
            "population AUC in per cent with 80 % negatives, by quadrature": exact,
            "offset alpha with 80 % negatives": offset_for_share(model),
            "points away from print": apart,
            "standard deviation of the AUC of one test set of 25,000, in points": 100 * deviation,
            "points away, in these standard deviations": apart / (100 * deviation),
        },
        data=(data,),
        tolerance="75 to 85 % negatives are called approximately 80 %; the quadrature's error is "
        "below 1e-6 %",
    )


def population_auc_by_monte_carlo(context: Context) -> Outcome:
    n = 200_000 if context.quick else 4_000_000
    details, used, away = {}, [], []
    for model in ("linear", "radial"):
        data = datasets.load(f"{model}:{n}", context.draw_seed(model))
        found = delong(_true_score(model, data), data.is_positive)
        value, deviation = found.value, found.standard_error
        exact = population_auc(model)
        away.append(abs(value - exact) / deviation)
        used.append(data)
        details[f"{model}: by quadrature, per cent"] = 100 * exact
        details[f"{model}: on the sample, per cent"] = 100 * value
        details[f"{model}: standard deviation, points"] = 100 * deviation
    return Outcome(
        Verdict.HOLDS if max(away) <= two_sided() else Verdict.FAILS,
        f"{max(away):.2f} standard deviations apart at most, n = {n}",
        details=details,
        data=used,
        tolerance=f"two-sided normal test of each model at level {LEVEL:g} "
        f"({two_sided():.2f} standard deviations)",
    )


def _true_score(model: str, data: Dataset) -> np.ndarray:
    return data.X.sum(axis=1) if model == "linear" else np.square(data.X).sum(axis=1)


def eq_2_of_a_constant_score(context: Context) -> Outcome:
    rng, differences = context.rng("scores"), []
    for levels in (1, 2, 5, 1000):  # a constant score first, then with fewer and fewer ties
        plus, minus = rng.integers(levels, size=(2, 100))
        of_2 = np.mean(plus[:, None] <= minus)
        differences.append(float(abs(1 - of_2 - np.mean(plus[:, None] > minus))))
    worst = max(differences)
    return Outcome(
        Verdict.HOLDS if worst <= 1e-12 else Verdict.FAILS,
        f"apart by at most {worst:.0e}; a constant score has 1 by (2) and the AUC 0 by (1)",
        details={"one minus (2) minus the AUC by (1), four scores": differences},
        tolerance="1e-12",
    )
