"""The reference problems: the same everywhere, with optima that are proved and known otherwise."""

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from aucert.exact import AllPairs, linear_problem, solve
from aucert.exact.losses.registry import LOSSES
from aucert.validation.reference.problems import FILE, reference_problems
from loops import each, refuses
from make_reference import RECIPES, generate, made_by, main

PROBLEMS = {problem.name: problem for problem in reference_problems()}
DATA = {entry["name"]: entry for entry in json.loads(FILE.read_text())["data"]}


@each("recipe", RECIPES, ids=lambda recipe: recipe["name"])
def test_the_recipes_make_the_rows_of_the_file(recipe) -> None:
    X, y, weight = made_by(recipe)
    assert X.tolist() == recipe["X"] and y.tolist() == recipe["y"]
    assert (None if weight is None else weight.tolist()) == recipe["sample_weight"]


def meets(again: dict[str, Any], shipped: dict[str, Any]) -> None:
    """The same rows, and intervals that meet."""
    assert again["data"] == shipped["data"]
    for new, old in zip(again["problems"], shipped["problems"], strict=True):
        assert {**new, "optimum": None} == {**old, "optimum": None}
        for loss, (lower, upper) in new["optimum"].items():
            low, high = map(Fraction, old["optimum"][loss])
            assert Fraction(lower) <= high and low <= Fraction(upper), (old["name"], loss)


@each("name", ["two-rows", "overlap", "ties", "binary", "zero-weights"])
def test_making_a_part_of_the_file_again_gives_the_same(name: str) -> None:
    (recipe,) = (recipe for recipe in RECIPES if recipe["name"] == name)
    problems = [p for p in json.loads(FILE.read_text())["problems"] if p["data"] == name]
    meets(json.loads("".join(generate([recipe]))), {"data": [DATA[name]], "problems": problems})


@pytest.mark.release
def test_making_the_file_again_gives_the_same(tmp_path) -> None:
    assert main(["--out", str(tmp_path / "again.json")]) == 0
    meets(*(json.loads(f.read_text()) for f in (tmp_path / "again.json", FILE)))


def test_intervals_are_narrow_and_hold_the_decimal_numbers_of_the_file() -> None:
    document = json.loads(FILE.read_text(encoding="utf-8"), parse_float=Fraction)
    for problem, entry in zip(reference_problems(), document["problems"], strict=True):
        for loss, (low, high) in entry["optimum"].items():
            lower, upper = problem.optimum[loss]
            # one unit of the twelfth digit is at most 1e-11 of the number
            assert 0 < lower <= upper <= lower * (1 + 1.001e-11)
            assert Fraction(lower) <= low <= high <= Fraction(upper)
    # Two rows 2 apart: min lam/2 w^2 + loss(2 w); w = 1/2, or the root of a linear equation.
    for lam, name in ((0.1, "two-rows:0.1"), (10.0, "two-rows:10")):
        w_hinge = min(0.5, 2 / lam)
        hinge = lam / 2 * w_hinge**2 + max(0.0, 1 - 2 * w_hinge)
        square = lam / (lam + 8)
        for loss, optimum in (("hinge", hinge), ("squared_hinge", square), ("square", square)):
            lower, upper = PROBLEMS[name].optimum[loss]
            assert lower * (1 - 1e-15) <= optimum <= upper * (1 + 1e-15)


@each("loss", LOSSES)
def test_optima_known_otherwise_lie_in_their_intervals(loss: str) -> None:
    for name in ("equal-rows", "mirrored"):  # the best w is zero
        lower, upper = PROBLEMS[name].optimum[loss]
        assert lower <= 1 <= upper
    same = dict.fromkeys(("large-units", "small-units", "sorted-rows", "constant"), "overlap:0.01")
    for one, other in (same | {"duplicates": "weights-for-rows"}).items():
        a, b = PROBLEMS[one].optimum[loss], PROBLEMS[other].optimum[loss]
        assert max(a[0], b[0]) <= min(a[1], b[1]), (one, other)
    for name in ("ties", "one-negative", "weights", "mostly-zero"):
        p = PROBLEMS[name]
        found = solve(p.X, p.y, p.lam, loss=loss, sample_weight=p.sample_weight).certificate
        lower, upper = p.optimum[loss]
        assert found.dual <= upper and lower <= found.primal
    for p in PROBLEMS.values():
        problem = linear_problem(p.X, p.y, p.lam, loss, AllPairs(p.sample_weight))
        # twelve digits are kept, and running sums lose a few of sixteen
        found = problem.objective(np.ones(p.X.shape[1]))
        assert found == pytest.approx(p.at_ones[loss], rel=1e-11)


def test_names_choose_problems_or_all_lams_of_their_data() -> None:
    assert [p.name for p in reference_problems("overlap:0.1")] == ["overlap:0.1"]
    assert [p.lam for p in reference_problems(["overlap"])] == [1e-5, 1e-3, 0.01, 0.1, 10.0]
    refuses("did you mean overlap", reference_problems, "overlapp")
