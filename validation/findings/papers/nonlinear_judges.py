"""How the findings of Nonlinear are judged: what is compared on each set, and with what."""

from __future__ import annotations

import math

from ...tables.nonlinear.sets import overlap
from ..finding import Judge
from ..judging import Judged, above, interval, log_ratio, minus, over_splits
from ..numbers import Cell, Difference, Numbers


def _sets(numbers: Numbers, suffix: str = "") -> list[str]:
    found = dict.fromkeys(row for row, _ in numbers.cells if row.endswith(suffix))
    return [row.removesuffix(suffix) for row in found]


def differences(numbers: Numbers, a: str, b: str, suffix: str = "") -> list[Difference]:
    """Return a minus b on each set: the paired test where there is one, else from the cells."""
    found = []
    for name in _sets(numbers, suffix):
        test = f"{name}: {a} minus {b}"
        if test in numbers.tests:
            found.append(numbers.test(test))
            continue
        cells = (over_splits(numbers.cell(f"{name}{suffix}", m), overlap(name)) for m in (a, b))
        found.append(minus(f"{name}: {a} minus {b}", *cells))
    return found


def faster(slow: str | tuple[str, ...], fast: str, suffix: str = "", factor: float = 1.0) -> Judge:
    """Return the judge that on every set each ratio of seconds is above a factor."""
    slower = (slow,) if isinstance(slow, str) else slow

    def judge(numbers: Numbers) -> Judged:
        found = [
            log_ratio(
                name if isinstance(slow, str) else f"{name}, {rival}",
                *(numbers.cell(f"{name}{suffix}", m) for m in (rival, fast)),
            )
            for rival in slower
            for name in _sets(numbers, suffix)
        ]
        return above(found, math.log10(factor), unit=" in log10 of a ratio of seconds")

    return judge


# Sets that the paper calls large, on which it sees NBAUC clearly faster.
LARGE = ("ijcnn1", "connect-4", "acoustic", "skin", "cod-rna", "covtype")


def hundredfold(numbers: Numbers) -> Judged:
    """Judge that NBAUC trains a hundred times as fast as RBF-RankSVM on most large sets."""
    found = [
        log_ratio(name, *(numbers.cell(name, method) for method in ("RBF-RankSVM", "NBAUC")))
        for name in _sets(numbers)
        if name.startswith(LARGE)
    ]
    return above(found, 2.0, how="most", unit=" in log10 of a ratio of seconds")


AUC = ", AUC %"


def above_both(ours: str, rivals: tuple[str, str], suffix: str = "") -> Judge:
    """Return the judge that a method is above both rivals on most sets: each by its worse one."""

    def judge(numbers: Numbers) -> Judged:
        both = zip(*(differences(numbers, ours, rival, suffix) for rival in rivals), strict=True)
        return above([min(pair, key=_for) for pair in both], how="most", unit=" points")

    return judge


def _for(difference: Difference) -> tuple[bool, float]:
    """Return how a difference speaks: first those wholly below zero, then by the lower end."""
    low, high = interval(difference)
    return high >= 0, low


def epochs(numbers: Numbers, method: str) -> list[Difference]:
    """Return what each set gains from the first epoch to the last."""
    names = (f"{method}, epoch 400", f"{method}, epoch 1")
    return [numbers.test(f"{name}: {' minus '.join(names)}") for name in _sets(numbers)]


def steady(numbers: Numbers) -> Judged:
    """Judge that the AUC of NSAUC falls by less than a point on every set."""
    none = Cell(0.0, 0.0, 1000)
    falls = [
        minus(name, none, over_splits(numbers.cell(name, "NSAUC, largest fall"), overlap(name)))
        for name in _sets(numbers)
    ]
    return above(falls, -1.0, unit=" points")


# Sets on which the paper sees the average ahead; a fourth, acoustic, could not be had.
AVERAGED = ("ijcnn1", "cod-rna", "connect-4")


def averaging(numbers: Numbers) -> Judged:
    """Judge that the mean over the epochs of NSAUC is above that of NSVMSGD2."""
    pair = "mean over the epochs: NSAUC minus NSVMSGD2"
    names = [name for name in _sets(numbers) if name.startswith(AVERAGED)]
    found = [numbers.test(f"{name}, {pair}") for name in names]
    return above(found, unit=" points")
