"""The data of the reference problems: small, awkward on purpose, and the same everywhere.

Only `random.Random.random` is drawn from, the one stream that Python promises never to change,
and every number is rounded to a few decimals; so the rows come out alike on every machine.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Made = tuple[np.ndarray, np.ndarray, np.ndarray | None]
"""X (n, d) of float64, y (n,) of 0 and 1, and row weights (n,) or None."""


@dataclass(frozen=True)
class Recipe:
    """One data set and the values of lam at which it is a reference problem.

    Attributes
    ----------
    name : str
    tests : str
        What a solver can get wrong here, in one sentence.
    seed : int
    lams : tuple of float
    make : function
        From `Draws` to the data.
    """

    name: str
    tests: str
    seed: int
    lams: tuple[float, ...]
    make: Callable[[Draws], Made]

    def data(self) -> Made:
        """Return X, y and the weights, drawn anew."""
        return self.make(Draws(self.seed))


class Draws:
    """Random numbers for the recipes."""

    def __init__(self, seed: int):
        self._random = random.Random(seed)

    def below(self, k: int) -> int:
        """Return a whole number from 0 to k - 1."""
        return int(self._random.random() * k)

    def normal(self) -> float:
        """Return a nearly normal number: twelve uniform ones, added up, less six."""
        total = -6.0
        for _ in range(12):  # `sum` adds floats differently since Python 3.12
            total += self._random.random()
        return total

    def labels(self, n: int, n_pos: int) -> np.ndarray:
        """Return n_pos ones and n - n_pos zeros in random order."""
        y = np.array([1] * n_pos + [0] * (n - n_pos))
        for i in range(n - 1, 0, -1):
            j = self.below(i + 1)
            y[i], y[j] = y[j], y[i]
        return y

    def table(self, n: int, d: int) -> np.ndarray:
        """Return nearly normal numbers (n, d)."""
        return np.array([[self.normal() for _ in range(d)] for _ in range(n)])

    def integers(self, n: int, d: int, k: int) -> np.ndarray:
        """Return whole numbers from 0 to k - 1: (n, d)."""
        return np.array([[self.below(k) for _ in range(d)] for _ in range(n)], dtype=float)


def _decimals(X: np.ndarray, digits: int = 3) -> np.ndarray:
    """Return X rounded; each number is the double nearest to its decimal form."""
    return np.rint(X * 10**digits) / 10**digits


def _shifted(n: int, n_pos: int, d: int, shift: float) -> Callable[[Draws], Made]:
    """Two normal classes whose means differ by `shift` in the first half of the features."""

    def make(draws: Draws) -> Made:
        y, X = draws.labels(n, n_pos), draws.table(n, d)
        X[:, : (d + 1) // 2] += shift * y[:, None]
        return _decimals(X), y, None

    return make


_overlap = _shifted(60, 24, 3, 0.8)


def _units(factor: float) -> Callable[[Draws], Made]:
    def make(draws: Draws) -> Made:
        X, y, _ = _overlap(draws)
        thousandths = np.rint(X * 1000)  # times or over a power of ten: rounded once
        return thousandths * (factor / 1000) if factor > 1 else thousandths / (1000 / factor), y, None

    return make


def _two_rows(draws: Draws) -> Made:
    return np.array([[1.5], [-0.5]]), np.array([1, 0]), None


def _four_rows(draws: Draws) -> Made:
    X = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0], [1.0, 1.0]])
    return X, np.array([1, 1, 0, 1]), None


def _equal_rows(draws: Draws) -> Made:
    return np.tile([2.5, -1.0, 0.75], (12, 1)), draws.labels(12, 5), None


def _mirrored(draws: Draws) -> Made:
    rows = _decimals(draws.table(15, 3))
    return np.repeat(rows, 2, axis=0), np.tile([1, 0], 15), None


def _one_decimal(draws: Draws) -> Made:
    X, y, _ = _shifted(60, 25, 2, 0.6)(draws)
    return _decimals(X, 1), y, None


def _integers(n: int, n_pos: int, d: int, k: int) -> Callable[[Draws], Made]:
    def make(draws: Draws) -> Made:
        y, X = draws.labels(n, n_pos), draws.integers(n, d, k)
        lifted = np.array([draws.below(3) == 0 for _ in range(n)])
        X[:, 0] += y * lifted
        return X, y, None

    return make


def _few_distinct(draws: Draws) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distinct rows, labels, and how often each occurs."""
    X, y, _ = _shifted(20, 8, 3, 0.7)(draws)
    return X, y, np.array([1 + draws.below(4) for _ in range(20)])


def _duplicates(draws: Draws) -> Made:
    X, y, times = _few_distinct(draws)
    return np.repeat(X, times, axis=0), np.repeat(y, times), None


def _weights_for_duplicates(draws: Draws) -> Made:
    X, y, times = _few_distinct(draws)
    return X, y, times.astype(float)


def _both_labels(draws: Draws) -> Made:
    X, y, _ = _shifted(40, 20, 2, 0.8)(draws)
    again = np.array([draws.below(3) == 0 for _ in range(40)])
    return np.concatenate([X, X[again]]), np.concatenate([y, 1 - y[again]]), None


def _fractional_weights(draws: Draws) -> Made:
    X, y, _ = _shifted(50, 20, 3, 0.7)(draws)
    return X, y, np.array([(1 + draws.below(40)) / 8 for _ in range(50)])


def _zero_weights(draws: Draws) -> Made:
    X, y, _ = _shifted(50, 20, 3, 0.7)(draws)
    weight = np.array([float(draws.below(3)) for _ in range(50)])
    X[weight == 0.0] *= -10  # rows that do not count point the wrong way
    return _decimals(X), y, weight


def _separable(draws: Draws) -> Made:
    y, X = draws.labels(40, 15), draws.table(40, 2)
    X[:, 0] = np.abs(X[:, 0]) * (2 * y - 1) + 0.3 * (2 * y - 1)
    return _decimals(X), y, None


def _offset(draws: Draws) -> Made:
    X, y, _ = _overlap(draws)
    return np.rint(X * 8) / 8 + 1e6, y, None  # eighths: exact in binary too


def _constant_feature(draws: Draws) -> Made:
    X, y, _ = _overlap(draws)
    return np.insert(X, 1, 7.0, axis=1), y, None


def _near_copies(draws: Draws) -> Made:
    y, X = draws.labels(80, 30), draws.table(80, 4)
    X[:, 0] += 0.8 * y
    return _decimals(np.hstack([X, X[:, :2] + 1e-3 * draws.table(80, 2)]), 5), y, None


def _unequal_columns(draws: Draws) -> Made:
    X, y, _ = _shifted(60, 25, 4, 0.7)(draws)
    return np.rint(X * 1000) * np.array([1.0, 1e-2, 1e-3, 1e-4]), y, None


def _mostly_zero(draws: Draws) -> Made:
    y, X = draws.labels(100, 40), draws.table(100, 30)
    X[:, :5] += 0.8 * y[:, None]
    kept = np.array([[draws.below(10) == 0 for _ in range(30)] for _ in range(100)])
    return _decimals(X * kept), y, None


def _outlier(draws: Draws) -> Made:
    X, y, _ = _overlap(draws)
    X[np.flatnonzero(y == 1)[0]] = [-1000.0, 500.0, 0.0]
    return X, y, None


def _xor(draws: Draws) -> Made:
    X, signs = draws.table(60, 2) * 0.4, draws.integers(60, 2, 2) * 2 - 1
    return _decimals(X + signs), (signs[:, 0] == signs[:, 1]).astype(int), None


def _sorted_rows(draws: Draws) -> Made:
    X, y, _ = _overlap(draws)
    order = np.argsort(y, kind="stable")
    return X[order], y[order], None


RECIPES: tuple[Recipe, ...] = (
    Recipe("two-rows", "one pair: solvable by hand", 0, (0.1, 10.0), _two_rows),
    Recipe("four-rows", "three pairs with integer features: margins tie", 0, (0.1,), _four_rows),
    Recipe(
        "overlap",
        "plain data at five strengths of the penalty, which must matter",
        1,
        (1e-5, 1e-3, 0.01, 0.1, 10.0),
        _overlap,
    ),
    Recipe("one-feature", "a single feature", 2, (0.01,), _shifted(30, 12, 1, 1.0)),
    Recipe("sorted-rows", "negatives first: the order of rows must not matter", 1, (0.01,), _sorted_rows),
    Recipe("noise", "labels that have nothing to do with the rows", 3, (1e-3, 0.1), _shifted(80, 30, 5, 0.0)),
    Recipe("xor", "classes that no linear function tells apart", 4, (0.01,), _xor),
    Recipe("equal-rows", "all rows equal: the best w is zero", 5, (0.1,), _equal_rows),
    Recipe("mirrored", "each row once in each class: the best w is zero", 6, (1e-3,), _mirrored),
    Recipe("ties", "features of one decimal: some margins tie", 7, (0.01,), _one_decimal),
    Recipe("integers", "features 0, 1, 2: most margins tie", 8, (1e-3, 0.1), _integers(80, 30, 3, 3)),
    Recipe("binary", "features 0 and 1: nearly all margins tie", 9, (0.01,), _integers(60, 20, 8, 2)),
    Recipe("duplicates", "rows that repeat", 10, (0.01,), _duplicates),
    Recipe("both-labels", "the same row in both classes", 11, (0.01,), _both_labels),
    Recipe("one-positive", "a single positive row", 12, (0.01,), _shifted(40, 1, 3, 1.0)),
    Recipe("one-negative", "a single negative row", 13, (0.01,), _shifted(40, 39, 3, 1.0)),
    Recipe("imbalance", "eight positive rows among 400", 14, (0.01,), _shifted(400, 8, 5, 0.6)),
    Recipe("separable", "classes apart: hardly any loss is left", 15, (1e-5, 1e-3, 0.1), _separable),
    Recipe("wide", "more features than rows", 16, (1e-4, 0.01), _shifted(20, 8, 60, 0.3)),
    Recipe("large-units", "`overlap` at 0.01 in units a million times smaller", 1, (1e10,), _units(1e6)),
    Recipe("large-values", "the same large values, hardly penalised", 1, (10.0,), _units(1e6)),
    Recipe("small-units", "`overlap` at 0.01 in units a million times larger", 1, (1e-14,), _units(1e-6)),
    Recipe("small-values", "the same small values: the penalty outweighs them", 1, (1e-5,), _units(1e-6)),
    Recipe("offset", "a common offset of a million, which cancels in every pair", 17, (0.01,), _offset),
    Recipe("constant", "`overlap` at 0.01 with a constant feature", 1, (0.01,), _constant_feature),
    Recipe("near-copies", "features that are nearly copies of others", 18, (1e-5,), _near_copies),
    Recipe("unequal-columns", "features of very different spread", 19, (0.01,), _unequal_columns),
    Recipe("mostly-zero", "nine entries of ten are zero", 20, (0.01,), _mostly_zero),
    Recipe("outlier", "one positive row far out on the wrong side", 1, (0.01,), _outlier),
    Recipe("weights", "row weights, fractional", 21, (0.01,), _fractional_weights),
    Recipe("zero-weights", "row weights, some of them zero", 22, (0.01,), _zero_weights),
    Recipe("weights-for-rows", "`duplicates` with weights in place of repetition", 10, (0.01,), _weights_for_duplicates),
    Recipe("larger", "2000 rows, 960,000 pairs", 23, (1e-5, 1e-3), _shifted(2000, 800, 10, 0.4)),
)
"""All data sets, in the order of the table."""
