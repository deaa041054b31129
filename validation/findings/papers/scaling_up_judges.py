"""How the findings of ScalingUp are judged: what is compared at each size and on each set."""

from __future__ import annotations

import math

from ..judging import Judged, above, columns, log_ratio, minus, turned
from ..numbers import Cell, Difference, Numbers

# Points of AUC up to which two models are called comparable: ours. In print drawing costs a
# hundredth of that at most, and Nyström features a quarter.
COMPARABLE = 0.1

# Points of AUC up to which an AUC on a real set is called competitive: ours, none is printed.
COMPETITIVE = 0.5

# Seconds of the full model for 10,000 rows in Table 1, the last size that it is printed for.
PRINTED_SECONDS = 819.1


def auc_kept(numbers: Numbers) -> Judged:
    """Judge that drawn pairs cost little AUC against all pairs, at every size."""
    tests = [test for name, test in numbers.tests.items() if "full minus incomplete" in name]
    return above([turned(test) for test in tests], -COMPARABLE, unit=" points")


def feasible(numbers: Numbers, sign: int = 1) -> Judged:
    """Judge that the full model takes less time than is printed for 10,000 rows; -1: more."""
    limit = Cell(PRINTED_SECONDS, 0.0, 1000)
    rows = ("50,000", "100,000", "1,000,000", "10,000,000")
    found = [log_ratio(f"n = {n}", numbers.cell(n, "s, full"), limit) for n in rows]
    return above([turned(d) if sign == 1 else d for d in found], unit=" in log10 seconds")


def seconds(numbers: Numbers, slow: str, fast: str) -> Judged:
    """Judge that one column takes less time than another in every row."""
    return above(columns(numbers, slow, fast, ratio=True), unit=" in log10 of a ratio of seconds")


def minor_loss(numbers: Numbers) -> Judged:
    """Judge that Nyström features cost little AUC, at every size."""
    pair = ("AUC %, Nyström", "AUC %, without Nyström")
    return above(columns(numbers, *pair), -COMPARABLE, unit=" points")


SETS = ("Skin Segmentation", "Bank Marketing", "Accelerometer")


def kernel_above(numbers: Numbers) -> Judged:
    """Judge that the kernel model has the higher AUC on each real set."""
    tests = [numbers.test(f"{s}: radial, incomplete minus linear, incomplete") for s in SETS]
    return above(tests, unit=" points")


def kernel_faster(numbers: Numbers) -> Judged:
    """Judge that the kernel model takes less time on the two sets of which the paper says it."""
    found = [
        log_ratio(name, numbers.cell(f"{name}, linear", "s"), numbers.cell(f"{name}, radial", "s"))
        for name in (SETS[0], SETS[2])
    ]
    return above(found, unit=" in log10 of a ratio of seconds")


def within_seconds(numbers: Numbers) -> Judged:
    """Judge that each model takes less than a minute on each real set."""
    minute = Cell(60.0, 0.0, 1000)
    rows = [(name, numbers.cell(name, "s")) for name in numbers.rows("s")]
    return above([log_ratio(name, minute, cell) for name, cell in rows])


def competitive(numbers: Numbers, kernel: str) -> Judged:
    """Judge that drawn pairs cost little AUC against all pairs of one kernel, on each real set."""
    pairs = [f"{s}: {kernel}, all pairs minus {kernel}, incomplete" for s in SETS]
    return above([turned(numbers.test(pair)) for pair in pairs], -COMPETITIVE, unit=" points")


def near_best(numbers: Numbers) -> Judged:
    """Judge that the Nyström fit is near the best model of the kernel, and near the true score."""
    rows = ("5,000", "10,000", "50,000", "100,000")
    found = [
        minus(f"n = {n}, {best}", *(numbers.cell(n, f"AUC %, {x}") for x in ("Nyström", best)))
        for best in ("all pairs, whole kernel", "true score")
        for n in rows
    ]
    return above(found, -COMPARABLE, unit=" points")


def flat(numbers: Numbers) -> Judged:
    """Judge that the seconds of the incomplete model grow like n at most."""
    first, last = (numbers.cell(n, "s, incomplete") for n in ("5,000", "100,000"))
    growth = log_ratio("20 times the seconds at n = 5,000 over those at 100,000", last, first)
    linear = Difference(growth.name, growth.estimate - math.log10(20), growth.error, growth.count)
    return above([turned(linear)], margin=-math.log10(1.25), unit=" in log10 of a ratio")
