"""Make `validation/reference/problems.json` from its recipes.

    python tests/tools/make_reference.py --out FILE

`solve` finds a point and a dual point, the judge evaluates both in fractions, pair by pair, and the
two values are rounded outwards to twelve digits. So an interval is right even if the solver, or the
whole of `aucert.exact`, were wrong.
"""

import argparse
import json
import runpy
import sys
from collections.abc import Iterator, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from aucert.exact import solve
from aucert.exact.losses.registry import LOSSES
from recipes import RECIPES, SHIPPED, made_by

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
    """Yield the text of the JSON file, piece by piece."""
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
    """Write the file that `--out` names; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True, type=Path, help="the file to write")
    parser.parse_args(arguments).out.write_text("".join(generate()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
