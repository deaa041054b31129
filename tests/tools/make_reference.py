"""Make `validation/reference/problems.json` from its recipes.

    python tests/tools/make_reference.py --out FILE

`solve` finds a point and a dual point, `rational_bounds` evaluates both in exact arithmetic, and
the two values are rounded outwards to twelve digits. So an interval is right even if the solver,
or the whole of `aucert.exact`, were wrong. Of the hinge, the file has the optimum itself, rounded.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np

from aucert.exact import solve
from aucert.exact.losses.registry import LOSSES
from rational_bounds import ExactProblem
from recipes import RECIPES, SHIPPED, Recipe

DIGITS = 12
SOLVE_TO = 1e-14  # relative gap asked of the solver: below the last digit

# What the numbers mean stands in the file itself.
HEAD = {key: value for key, value in SHIPPED.items() if key not in ("data", "problems")}


def rounded(value: Fraction, way: str) -> str:
    """Return `value` with `DIGITS` significant digits, rounded the way of the `decimal` module."""
    context = Context(prec=DIGITS, rounding=way)
    text = str(context.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize())
    return text.replace("E+", "e").replace("E", "e")


def generate(recipes: Sequence[Recipe] = RECIPES) -> Iterator[str]:
    """Yield the text of the JSON file, piece by piece."""
    yield "{\n" + "".join(f"{json.dumps(key)}: {json.dumps(x)},\n" for key, x in HEAD.items())
    yield '"data": [\n'
    yield ",\n".join(map(_data_text, recipes))
    yield '\n],\n"problems": [\n'
    yield ",\n".join(_problem_text(recipe, lam) for recipe in recipes for lam in recipe.lams)
    yield "\n]\n}\n"


def _data_text(recipe: Recipe) -> str:
    X, y, weight = recipe.data()
    head = {
        "name": recipe.name,
        "tests": recipe.tests,
        "rows": recipe.rows,
        "seed": recipe.seed,
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


def _problem_text(recipe: Recipe, lam: float) -> str:
    X, y, weight = recipe.data()
    name = recipe.name if len(recipe.lams) == 1 else f"{recipe.name}:{lam:g}"
    optimum, at_ones = [], []
    for loss in LOSSES:
        solution = solve(X, y, lam, loss=loss, sample_weight=weight, tol=SOLVE_TO, max_time=60.0)
        problem, w = ExactProblem.of(X, y, weight, lam, loss), solution.w
        hinge = loss == "hinge"
        lower = (
            problem.dual_of_marginals(solution.witness.c) if hinge else problem.dual_of_scores(w)
        )
        low, high = rounded(lower, ROUND_FLOOR), rounded(problem.primal(w), ROUND_CEILING)
        optimum.append(f'"{loss}": [{low}, {high}]')
        at_ones.append(f'"{loss}": {rounded(problem.primal(np.ones(w.size)), ROUND_HALF_EVEN)}')
    return (
        f'{{"name": {json.dumps(name)}, "data": {json.dumps(recipe.name)}, "lam": {lam!r},\n'
        f' "optimum": {{{", ".join(optimum)}}},\n "at_ones": {{{", ".join(at_ones)}}}}}'
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the file that `--out` names; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True, type=Path, help="the file to write")
    parser.parse_args(arguments).out.write_text("".join(generate()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
