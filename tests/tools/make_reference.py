"""Make `validation/reference/problems.json` from its recipes.

    python tests/tools/make_reference.py --out FILE

Rows are awkward on purpose, and the same everywhere: only `random.Random.random` is drawn from, the
one stream that Python promises never to change, and numbers are rounded to a few decimals.

`solve` finds a point and a dual point, the judge evaluates both in fractions, pair by pair, and the
two values are rounded outwards to twelve digits. So an interval is right even if the solver, or the
whole of `aucert.exact`, were wrong.
"""

import argparse
import json
import random
import runpy
import sys
from collections.abc import Callable, Iterator, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from aucert.exact import solve
from aucert.exact.losses.registry import LOSSES
from aucert.validation.reference.problems import FILE

# X (n, d) of float64, y (n,) of 0 and 1, and row weights (n,) or None.
Made = tuple[np.ndarray, np.ndarray, np.ndarray | None]


class Draws:
    def __init__(self, seed: int):
        self._random = random.Random(seed)

    def below(self, k: int) -> int:
        return int(self._random.random() * k)

    def normal(self) -> float:
        """Return a nearly normal number: twelve uniform ones, added up, less six."""
        total = -6.0
        for _ in range(12):  # `sum` adds floats differently since Python 3.12
            total += self._random.random()
        return total

    def labels(self, n: int, n_pos: int) -> np.ndarray:
        y = np.array([1] * n_pos + [0] * (n - n_pos))
        for i in range(n - 1, 0, -1):
            j = self.below(i + 1)
            y[i], y[j] = y[j], y[i]
        return y

    def table(self, n: int, d: int) -> np.ndarray:
        return np.array([[self.normal() for _ in range(d)] for _ in range(n)])

    def integers(self, n: int, d: int, k: int) -> np.ndarray:
        return np.array([[self.below(k) for _ in range(d)] for _ in range(n)], dtype=float)


def _decimals(X: np.ndarray, digits: int = 3) -> np.ndarray:
    """Return X rounded; each number is the double nearest to its decimal form."""
    return np.rint(X * 10**digits) / 10**digits + 0.0  # no negative zeros


def shifted(n: int, n_pos: int, d: int, shift: float) -> Callable[[Draws], Made]:
    """Two normal classes whose means differ by `shift` in the first half of the features."""

    def make(draws: Draws) -> Made:
        y, X = draws.labels(n, n_pos), draws.table(n, d)
        X[:, : (d + 1) // 2] += shift * y[:, None]
        return _decimals(X), y, None

    return make


overlap = shifted(60, 24, 3, 0.8)


def changed(make: Any, change: Any) -> Callable[[Draws], Made]:
    def made(draws: Draws) -> Made:
        X, y, weight = make(draws)
        return change(X), y, weight

    return made


def mirrored(draws: Draws) -> Made:
    rows = _decimals(draws.table(15, 3))
    return np.repeat(rows, 2, axis=0), np.tile([1, 0], 15), None


def integers(n: int, n_pos: int, d: int, k: int) -> Callable[[Draws], Made]:
    def make(draws: Draws) -> Made:
        y, X = draws.labels(n, n_pos), draws.integers(n, d, k)
        lifted = np.array([draws.below(3) == 0 for _ in range(n)])
        X[:, 0] += y * lifted
        return X, y, None

    return make


def few_distinct(draws: Draws) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X, y, _ = shifted(20, 8, 3, 0.7)(draws)
    return X, y, np.array([1.0 + draws.below(4) for _ in range(20)])


def duplicates(draws: Draws) -> Made:
    X, y, times = few_distinct(draws)
    return np.repeat(X, times.astype(int), axis=0), np.repeat(y, times.astype(int)), None


def both_labels(draws: Draws) -> Made:
    X, y, _ = shifted(40, 20, 2, 0.8)(draws)
    again = np.array([draws.below(3) == 0 for _ in range(40)])
    return np.concatenate([X, X[again]]), np.concatenate([y, 1 - y[again]]), None


def fractional_weights(draws: Draws) -> Made:
    X, y, _ = shifted(50, 20, 3, 0.7)(draws)
    return X, y, np.array([(1 + draws.below(40)) / 8 for _ in range(50)])


def zero_weights(draws: Draws) -> Made:
    X, y, _ = shifted(50, 20, 3, 0.7)(draws)
    weight = np.array([float(draws.below(3)) for _ in range(50)])
    X[weight == 0.0] *= -10  # rows that do not count point the wrong way
    return _decimals(X), y, weight


def separable(draws: Draws) -> Made:
    y, X = draws.labels(40, 15), draws.table(40, 2)
    X[:, 0] = np.abs(X[:, 0]) * (2 * y - 1) + 0.3 * (2 * y - 1)
    return _decimals(X), y, None


def near_copies(draws: Draws) -> Made:
    y, X = draws.labels(80, 30), draws.table(80, 4)
    X[:, 0] += 0.8 * y
    return _decimals(np.hstack([X, X[:, :2] + 1e-3 * draws.table(80, 2)]), 5), y, None


def mostly_zero(draws: Draws) -> Made:
    y, X = draws.labels(100, 40), draws.table(100, 30)
    X[:, :5] += 0.8 * y[:, None]
    kept = np.array([[draws.below(10) == 0 for _ in range(30)] for _ in range(100)])
    return _decimals(X * kept), y, None


def outlier(draws: Draws) -> Made:
    X, y, _ = overlap(draws)
    X[np.flatnonzero(y == 1)[0]] = [-1000.0, -500.0, 250.0]
    return X, y, None


def xor(draws: Draws) -> Made:
    X, signs = draws.table(60, 2) * 0.4, draws.integers(60, 2, 2) * 2 - 1
    return _decimals(X + signs), (signs[:, 0] == signs[:, 1]).astype(int), None


def sorted_rows(draws: Draws) -> Made:
    X, y, _ = overlap(draws)
    order = np.argsort(y, kind="stable")
    return X[order], y[order], None


SQUARE = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0], [1.0, 1.0]])
LARGE = changed(overlap, lambda X: np.rint(X * 1000) * 1000 + 0.0)
# What makes the rows of each data set, in the order of the table.
MAKERS: dict[str, Callable[[Draws], Made]] = {
    "two-rows": lambda draws: (np.array([[1.5], [-0.5]]), np.array([1, 0]), None),
    "four-rows": lambda draws: (SQUARE, np.array([1, 1, 0, 1]), None),
    "overlap": overlap,
    "sorted-rows": sorted_rows,
    "one-feature": shifted(30, 12, 1, 1.0),
    "noise": shifted(80, 30, 5, 0.0),
    "xor": xor,
    "equal-rows": lambda draws: (np.tile([2.5, -1, 0.75], (12, 1)), draws.labels(12, 5), None),
    "mirrored": mirrored,
    "ties": changed(shifted(60, 25, 2, 0.6), lambda X: np.rint(X * 8) / 8 + 0.0),
    "integers": integers(80, 30, 3, 3),
    "binary": integers(60, 20, 8, 2),
    "duplicates": duplicates,
    "both-labels": both_labels,
    "one-positive": shifted(40, 1, 3, 1.0),
    "one-negative": shifted(40, 39, 3, 1.0),
    "imbalance": shifted(400, 8, 5, 0.6),
    "separable": separable,
    "wide": shifted(20, 8, 60, 0.3),
    "large-units": LARGE,
    "large-values": LARGE,
    "small-units": changed(overlap, lambda X: np.rint(X * 1000) / 1e9),
    # eighths: exact in binary too
    "offset": changed(overlap, lambda X: np.rint(X * 8) / 8 + 1e6),
    "constant": changed(overlap, lambda X: np.insert(X, 1, 7.0, axis=1)),
    "near-copies": near_copies,
    "unequal-columns": changed(
        shifted(60, 25, 4, 0.7), lambda X: np.rint(X * 1000) / [1.0, 100.0, 1e3, 1e4] + 0.0
    ),
    "mostly-zero": mostly_zero,
    "outlier": outlier,
    "weights": fractional_weights,
    "zero-weights": zero_weights,
    "weights-for-rows": few_distinct,
    "larger": shifted(2000, 800, 10, 0.4),
}

SHIPPED = json.loads(FILE.read_text(encoding="utf-8"))  # with the words and seed of each data set
RECIPES: list[dict[str, Any]] = SHIPPED["data"]


def made_by(recipe: dict[str, Any]) -> Made:
    return MAKERS[recipe["name"]](Draws(recipe["seed"]))


JUDGE = runpy.run_path(str(Path(__file__).parents[1] / "judge" / "check.py"))
DIGITS = 12
SOLVE_TO = 1e-14  # relative gap asked of the solver: below the last digit

# What the numbers mean stands in the file itself.
HEAD = {key: value for key, value in SHIPPED.items() if key not in ("data", "problems")}


def rounded(value: Fraction, way: str) -> str:
    """Return `value` with `DIGITS` significant digits, rounded the way of the `decimal` module."""
    context = Context(prec=DIGITS, rounding=way)
    text = str(context.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize())
    return text.replace("E+", "e").replace("E", "e")


def generate(recipes: Sequence[dict[str, Any]] = RECIPES) -> Iterator[str]:
    yield "{\n" + "".join(f"{json.dumps(key)}: {json.dumps(x)},\n" for key, x in HEAD.items())
    yield '"data": [\n'
    yield ",\n".join(map(_data_text, recipes))
    yield '\n],\n"problems": [\n'
    stated = [(recipe, p) for recipe in recipes for p in SHIPPED["problems"]]
    yield ",\n".join(_problem_text(*one) for one in stated if one[1]["data"] == one[0]["name"])
    yield "\n]\n}\n"


def _data_text(recipe: dict[str, Any]) -> str:
    X, y, weight = made_by(recipe)
    head = {name: recipe[name] for name in ("name", "tests", "rows", "seed")} | {
        "n": int(y.size),
        "n_pos": int(y.sum()),
        "n_neg": int(y.size - y.sum()),
        "d": int(X.shape[1]),
        "sample_weight": None if weight is None else weight.tolist(),
        "y": y.tolist(),
    }
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    rows = ",\n".join(json.dumps(row, separators=(",", ":")) for row in X.tolist())
    return "{\n" + ",\n".join([*lines, f'"X": [\n{rows}\n]']) + "\n}"


def _problem_text(recipe: dict[str, Any], problem: dict[str, Any]) -> str:
    X, y, weight = made_by(recipe)
    lam, optimum, at_ones = problem["lam"], [], []
    for loss in LOSSES:
        solution = solve(X, y, lam, loss=loss, sample_weight=weight, tol=SOLVE_TO, max_time=60.0)
        stated = {"X": X.tolist(), "y": y.tolist(), "lam": lam, "loss": loss}
        stated |= {} if weight is None else {"weight": weight.tolist()}
        judge, w = JUDGE["Statement"](stated), solution.w.tolist()
        proof = {"points": [w], "mix": [1.0]}
        if loss == "hinge":
            proof = {"marginals": solution.witness.c.tolist()}
        low = rounded(judge.below(None, proof), ROUND_FLOOR)
        high = rounded(judge.above(JUDGE["numbers"](w)), ROUND_CEILING)
        optimum.append(f'"{loss}": [{low}, {high}]')
        ones = judge.above([Fraction(1)] * len(w))
        at_ones.append(f'"{loss}": {rounded(ones, ROUND_HALF_EVEN)}')
    return (
        f'{{"name": {json.dumps(problem["name"])}, "data": {json.dumps(recipe["name"])},'
        f' "lam": {lam!r},\n'
        f' "optimum": {{{", ".join(optimum)}}},\n "at_ones": {{{", ".join(at_ones)}}}}}'
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True, type=Path, help="the file to write")
    parser.parse_args(arguments).out.write_text("".join(generate()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
