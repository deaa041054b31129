"""Findings of SAUC on real sets: Figs. 4 and 5."""

from __future__ import annotations

from dataclasses import replace

from ..capping import Bearing, Deviation
from ..finding import Finding
from ..judging import Judged, above
from ..numbers import Numbers
from .sauc_real import UNITS, WIDTHS
from .sauc_toy import KS, LAMBDAS, OURS, PAIR_RULE, PLAIN, SVM

TASKS = ("glass1", "glass4", "glass5", "hepatitis")


def _gain_falls(numbers: Numbers) -> Judged:
    lead = f"lead of {OURS} over {PLAIN}: {KS[0]} minus {KS[-1]}"
    return above([numbers.test(f"{task}, {lead}") for task in TASKS])


def _all_pairs_real(numbers: Numbers) -> Judged:
    machines = [(task, m) for task in TASKS for m in (PLAIN, OURS)]
    return above([numbers.test(f"{task}, {KS[-1]}: {m} minus {SVM}") for task, m in machines])


def _better_at_every_k(numbers: Numbers) -> Judged:
    leads = [(task, k) for task in TASKS for k in KS]
    return above([numbers.test(f"{task}, {k}: {OURS} minus {PLAIN}") for task, k in leads])


def _grows(numbers: Numbers) -> Judged:
    machines = [(task, m) for task in TASKS for m in (PLAIN, OURS)]
    return above([numbers.test(f"{task}, {m}: {KS[-1]} minus {KS[0]}") for task, m in machines])


def _best_inside(numbers: Numbers) -> Judged:
    pair = "best lambda in [0.001, 1000] minus best one outside"
    return above([numbers.test(f"{task}: {pair}") for task in TASKS])


def _best_over_none(numbers: Numbers) -> Judged:
    return above([t for name, t in numbers.tests.items() if name.endswith("minus lambda = 0")])


# What the grid of lambda does where leads, or ends of a curve, are compared.
COARSE = replace(LAMBDAS, bearing=Bearing.EITHER)

PICKED = Deviation(
    "The best lambda is picked on the test halves, here as in the paper, which favours it.",
    Bearing.FOR,
)

FOUR_SETS = Deviation(
    "The four sets of the figure and their kernels are not named; ours are those of Fig. 4.",
    Bearing.EITHER,
)

FINDINGS = (
    Finding(
        "sauc-all-pairs-beat-svm-on-real-sets",
        "sauc-fig-4",
        "both AUC-SVM and SAUC-SVM outperform SVM",
        "With all pairs both machines have a higher AUC than SVM on each of the four sets.",
        _all_pairs_real,
        "Section 4.2.1, Fig. 4",
        (LAMBDAS, UNITS, WIDTHS),
    ),
    Finding(
        "sauc-consistently-better-on-four-sets",
        "sauc-fig-4",
        "With different values of k , SAUC-SVM performs consistently better than AUC-SVM",
        "On each of the four sets SAUC-SVM has a higher AUC than AUC-SVM at every k.",
        _better_at_every_k,
        "Section 4.2.1, Fig. 4",
        (LAMBDAS, UNITS, WIDTHS, PAIR_RULE),
    ),
    Finding(
        "sauc-structure-helps-most-where-few-pairs-are-kept",
        "sauc-fig-4",
        "the smaller k is, the larger the performance improvement from SAUC-SVM is",
        "On each of the four sets the lead of SAUC-SVM over AUC-SVM is larger at k = 5 than with "
        "all pairs.",
        _gain_falls,
        "Section 4.2.1, Fig. 4",
        (COARSE, UNITS, WIDTHS, PAIR_RULE),
    ),
    Finding(
        "sauc-auc-grows-with-k",
        "sauc-fig-4",
        "The performances of both AUC-SVM and SAUC-SVM increase with the increase of k",
        "On each of the four sets both machines have a higher AUC with all pairs than at k = 5.",
        _grows,
        "Section 4.2.1, Fig. 4",
        (COARSE, UNITS, WIDTHS, PAIR_RULE),
    ),
    Finding(
        "sauc-best-structure-in-the-range",
        "sauc-fig-5",
        "the optimal AUC performances are obtained through simultaneously considering the "
        "between-class margin and the within-class compactness",
        "On each of the four sets the best lambda within the range [0.001, 1000], which the paper "
        "tunes over and which we take for both at once, has a higher AUC than the best one "
        "outside: neither no structure nor structure alone is best.",
        _best_inside,
        "Section 4.2.2, Fig. 5",
        (PICKED, UNITS, FOUR_SETS),
    ),
    Finding(
        "sauc-best-structure-beats-none",
        "sauc-fig-5",
        "the optimal AUC performances are obtained through simultaneously considering the "
        "between-class margin and the within-class compactness",
        "On each of the four sets the best lambda above zero has a higher AUC than lambda = 0.",
        _best_over_none,
        "Section 4.2.2, Fig. 5",
        (PICKED, UNITS, FOUR_SETS),
    ),
)
