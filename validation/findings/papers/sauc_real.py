"""Findings of SAUC on real sets: Tables 3 and 4."""

from __future__ import annotations

import math
from dataclasses import replace

from ..capping import Bearing, Deviation
from ..finding import Finding, Judge
from ..judging import Judged, above, columns, minus, over, over_splits, tests_above, within
from ..numbers import Difference, Numbers
from .sauc_toy import LAMBDAS, OPTIMISER, OURS, PAIR_RULE, PLAIN, SVM

# Test rows over training rows: real sets are split into halves, so that splits overlap.
HALVES = 1.0

KERNELS = ("linear", "Gaussian")

POINT = 0.01  # AUC up to which the paper calls two machines comparable: "less than one percent".

ELSEWHERE = Deviation(
    "The paper says this of the four sets of its Fig. 4; all pairs on the sets of Table 3 are our "
    "control.",
    Bearing.EITHER,
)
UNITS = Deviation(
    "Columns are standardised and gaps filled by medians, of which the paper says nothing; in "
    "the units of the files AUC-SVM with the linear kernel comes nearer to print on Table 3.",
    Bearing.EITHER,
)
UNITS_BOTH = Deviation(
    "Columns are standardised and gaps filled by medians, of which the paper says nothing; in the "
    "units of the files, where AUC-SVM is nearer to print, the lead is as large and not clear.",
    Bearing.EITHER,
)
ONE_MISSING = Deviation("One set of eighteen could not be had.", Bearing.EITHER)
ON_BREAST_CANCER = (
    Deviation(
        "The rule of the pairs is read off the printed counts; in the units of the file about as "
        "many pairs are kept as in print.",
        Bearing.NEITHER,
    ),
    Deviation(
        "Columns are standardised, of which the paper says nothing; the two machines are judged "
        "in the units of the file as well.",
        Bearing.NEITHER,
    ),
    Deviation(
        "SAUC-SVM is tuned over four of the seven printed lambda: on the sets of Fig. 5, at its "
        "one C and width, the others add at most 0.004 to its AUC, less than there is room for.",
        Bearing.NEITHER,
        ("grid of lambda",),
    ),
    Deviation(
        "Fewer widths of the Gaussian kernel are tried, which play no part with the linear one.",
        Bearing.NEITHER,
        ("grid of sigma",),
    ),
)
WIDTHS = Deviation(
    "Five widths of the Gaussian kernel are tried, from 2^-1 to 2^5, of the twenty-one that are "
    "printed, from 2^-10 to 2^10; often the best one is at an end of ours.",
    Bearing.EITHER,
    ("grid of sigma",),
)
COMPILED = Deviation(
    "SVM is run by libsvm, compiled, whose steps are others; some of its linear fits stopped at a "
    "million of them.",
    Bearing.EITHER,
)


def halves(numbers: Numbers, name: str, a: tuple[str, str], b: tuple[str, str]) -> Difference:
    """Return the difference of two cells, a minus b, over random halves."""
    return minus(name, *(over_splits(numbers.cell(*cell), HALVES) for cell in (a, b)))


def _most_tasks(numbers: Numbers) -> Judged:
    found = []
    for kernel in KERNELS:
        a, b = f"{OURS} ({kernel})", f"{SVM} ({kernel})"
        rows = [row for row in numbers.rows(a) if row != "average"]
        found += [halves(numbers, f"{row}, {kernel}", (row, a), (row, b)) for row in rows]
    return above(found, how="most")


def _means(a: str, b: str) -> Judge:
    """Return the judge of two columns in the mean of the sets."""
    return lambda numbers: above([over(columns(numbers, a, b), f"{a} minus {b}, mean of the sets")])


def _breast_cancer(numbers: Numbers) -> Judged:
    sides = (f"{OURS} minus {PLAIN}", f"{OURS}, raw units minus {PLAIN}, raw units")
    return within([numbers.test(f"wdbc, linear kernel: {names}") for names in sides], POINT)


def _ratios(numbers: Numbers, slow: str, fast: str, kernel: str) -> list[Difference]:
    """Return the ratios of the seconds of two machines, a set each."""
    sides = (f"s, {machine} ({kernel})" for machine in (slow, fast))
    return columns(numbers, *sides, ratio=True)


RATIO = " in log10 of a ratio of seconds"


def _comparable(numbers: Numbers) -> Judged:
    found = [
        over(_ratios(numbers, PLAIN, OURS, kernel), f"{PLAIN} over {OURS} ({kernel})")
        for kernel in KERNELS
    ]
    return above(found, math.log10(0.5), unit=RATIO)


def _slower_on_most(numbers: Numbers) -> Judged:
    found = [
        replace(each, name=f"{each.name}, {machine} ({kernel})")
        for machine in (PLAIN, OURS)
        for kernel in KERNELS
        for each in _ratios(numbers, machine, SVM, kernel)
    ]
    return above(found, how="most", unit=RATIO)


OUTPERFORM = (
    "both AUC-SVM and SAUC-SVM outperform SVM, as they are designed to directly optimize AUC and "
    "the class distributions are not strictly balanced here"
)

FINDINGS = (
    Finding(
        "sauc-table-3-lead-over-auc-svm-linear",
        "sauc-table-3",
        "SAUC-SVM outperforms AUC-SVM by 2.45% with the linear kernel",
        "With the linear kernel SAUC-SVM has the higher AUC than AUC-SVM, in the mean of the sets.",
        tests_above("linear kernel, means of the tasks: SAUC-SVM minus AUC-SVM"),
        "Section 4.2.1, Table 3",
        (LAMBDAS, UNITS_BOTH, ONE_MISSING, PAIR_RULE),
    ),
    Finding(
        "sauc-table-3-lead-over-auc-svm-gaussian",
        "sauc-table-3",
        "and 2.1% with the Gaussian kernel",
        "With the Gaussian kernel SAUC-SVM has the higher AUC than AUC-SVM, in the mean of the "
        "sets.",
        tests_above("Gaussian kernel, means of the tasks: SAUC-SVM minus AUC-SVM"),
        "Section 4.2.1, Table 3",
        (LAMBDAS, UNITS, WIDTHS, ONE_MISSING, PAIR_RULE),
    ),
    Finding(
        "sauc-table-3-lead-over-svm-linear",
        "sauc-table-3",
        "SAUC-SVM outperforms SVM by 1.24% with the linear kernel",
        "With the linear kernel SAUC-SVM has the higher AUC than SVM, in the mean of the sets.",
        tests_above("linear kernel, means of the tasks: SAUC-SVM minus SVM"),
        "Section 4.2.1, Table 3",
        (LAMBDAS, UNITS, ONE_MISSING, PAIR_RULE),
    ),
    Finding(
        "sauc-table-3-lead-over-svm-gaussian",
        "sauc-table-3",
        "and 2.07% with the Gaussian kernel",
        "With the Gaussian kernel SAUC-SVM has the higher AUC than SVM, in the mean of the sets "
        "(by 2.17 % in print: the averages of the table, not the sentence, are right).",
        tests_above("Gaussian kernel, means of the tasks: SAUC-SVM minus SVM"),
        "Section 4.2.1, Table 3",
        (LAMBDAS, UNITS, WIDTHS, ONE_MISSING, PAIR_RULE),
    ),
    Finding(
        "sauc-outperforms-svm-on-most-sets",
        "sauc-table-3",
        "our proposed SAUC-SVM still outperforms SVM on most datasets used here",
        "On most of the real sets, both kernels counted, SAUC-SVM has a higher AUC than SVM.",
        _most_tasks,
        "Section 4.2.1, Table 3",
        (LAMBDAS, UNITS, WIDTHS, ONE_MISSING, PAIR_RULE),
    ),
    Finding(
        "sauc-table-3-on-breast-cancer",
        "sauc-table-3",
        "the difference of individual AUC values is less than one percent",
        "On wdbc, one of the sets of which the paper says it, SAUC-SVM and AUC-SVM with the linear "
        "kernel differ by less than 0.01 in AUC (in print by 0.0034).",
        _breast_cancer,
        "Section 4.2.1, Table 3",
        ON_BREAST_CANCER,
    ),
    Finding(
        "sauc-all-pairs-beat-svm-linear",
        "sauc-table-3",
        OUTPERFORM,
        "What the paper says of four sets, in the mean of those of Table 3: with the linear kernel "
        "AUC-SVM over all pairs has a higher AUC than SVM.",
        _means("AUC-SVM, all pairs (linear)", "SVM (linear)"),
        "Section 4.2.1, on Fig. 4",
        (ELSEWHERE, UNITS, ONE_MISSING),
    ),
    Finding(
        "sauc-all-pairs-beat-svm-gaussian",
        "sauc-table-3",
        OUTPERFORM,
        "What the paper says of four sets, in the mean of those of Table 3: with the Gaussian "
        "kernel AUC-SVM over all pairs has a higher AUC than SVM.",
        _means("AUC-SVM, all pairs (Gaussian)", "SVM (Gaussian)"),
        "Section 4.2.1, on Fig. 4",
        (ELSEWHERE, UNITS, WIDTHS, ONE_MISSING),
    ),
    Finding(
        "sauc-training-time-comparable",
        "sauc-table-4",
        "the time for training SAUC-SVM is comparable to that of AUC-SVM",
        "With either kernel SAUC-SVM takes at most twice the time of AUC-SVM, in the mean of the "
        "sets.",
        _comparable,
        "Section 4.2.3, Table 4",
        (OPTIMISER, UNITS, ONE_MISSING),
    ),
    Finding(
        "sauc-pair-machines-slower-than-svm",
        "sauc-table-4",
        "should be larger than the corresponding numbers of the given samples on most datasets, "
        "naturally their training times will be larger than that of SVM",
        "In most comparisons of AUC-SVM and SAUC-SVM with SVM, on a set and with a kernel, they "
        "take longer.",
        _slower_on_most,
        "Section 4.2.3, Table 4",
        (OPTIMISER, COMPILED, UNITS, ONE_MISSING),
    ),
)
