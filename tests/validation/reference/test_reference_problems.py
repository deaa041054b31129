"""The reference problems: the same everywhere, with optima that are proved and known otherwise."""

from __future__ import annotations

import json
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction

import numpy as np
import pytest

from aucert.exact import AllPairs, linear_problem, solve
from aucert.exact.errors import InputError
from aucert.exact.losses.registry import LOSSES
from aucert.validation.reference.problems import FILE, reference_problems
from loops import each
from make_reference import generate, main, rounded
from recipes import RECIPES

PROBLEMS = {problem.name: problem for problem in reference_problems()}
DATA = {entry["name"]: entry for entry in json.loads(FILE.read_text())["data"]}


@each("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_the_recipes_make_the_rows_of_the_file(recipe) -> None:
    X, y, weight = recipe.data()
    entry = DATA[recipe.name]
    assert X.tolist() == entry["X"] and y.tolist() == entry["y"]
    assert (None if weight is None else weight.tolist()) == entry["sample_weight"]


def test_every_interval_is_narrow() -> None:
    for problem in PROBLEMS.values():
        for lower, upper in problem.optimum.values():
            # one unit of the twelfth digit is at most 1e-11 of the number
            assert 0 < lower <= upper <= lower * (1 + 1.001e-11)


@each("name", ["two-rows", "overlap", "ties", "binary", "zero-weights"])
def test_making_a_part_of_the_file_again_gives_the_same_text(name: str) -> None:
    (recipe,) = (recipe for recipe in RECIPES if recipe.name == name)
    data, problems = "".join(generate([recipe])).split('"problems": [\n')
    shipped = FILE.read_text()
    assert data.split('"data": [\n')[1].removesuffix("\n],\n") in shipped
    assert problems.removesuffix("\n]\n}\n") in shipped


@pytest.mark.release
def test_making_the_file_again_gives_the_same_rows_and_intervals_that_meet(tmp_path) -> None:
    assert main(["--out", str(tmp_path / "again.json")]) == 0
    again, shipped = (json.loads(f.read_text()) for f in (tmp_path / "again.json", FILE))
    assert again["data"] == shipped["data"]
    for new, old in zip(again["problems"], shipped["problems"], strict=True):
        assert {**new, "optimum": None} == {**old, "optimum": None}
        for loss, (lower, upper) in new["optimum"].items():
            low, high = map(Fraction, old["optimum"][loss])
            assert Fraction(lower) <= high and low <= Fraction(upper), (old["name"], loss)


def test_optima_known_by_hand_lie_in_their_intervals() -> None:
    """Two rows 2 apart: min lam/2 w^2 + loss(2 w); w = 1/2, or the root of a linear equation."""
    for lam, name in ((0.1, "two-rows:0.1"), (10.0, "two-rows:10")):
        w_hinge = min(0.5, 2 / lam)
        hinge = lam / 2 * w_hinge**2 + max(0.0, 1 - 2 * w_hinge)
        square = lam / (lam + 8)
        for loss, optimum in (("hinge", hinge), ("squared_hinge", square), ("square", square)):
            lower, upper = PROBLEMS[name].optimum[loss]
            assert lower * (1 - 1e-15) <= optimum <= upper * (1 + 1e-15)


@each("name", ["equal-rows", "mirrored"])
@each("loss", LOSSES)
def test_where_the_best_w_is_zero_the_optimum_is_one(name: str, loss: str) -> None:
    lower, upper = PROBLEMS[name].optimum[loss]
    assert lower <= 1 <= upper


SAME_OPTIMUM = [
    ("overlap:0.01", "large-units"),
    ("overlap:0.01", "small-units"),
    ("overlap:0.01", "sorted-rows"),
    ("overlap:0.01", "constant"),
    ("duplicates", "weights-for-rows"),
]


@each(("one", "other"), SAME_OPTIMUM)
@each("loss", LOSSES)
def test_problems_that_are_the_same_have_the_same_optimum(one, other, loss) -> None:
    a, b = PROBLEMS[one].optimum[loss], PROBLEMS[other].optimum[loss]
    assert max(a[0], b[0]) <= min(a[1], b[1])


@each("loss", LOSSES)
def test_the_solver_agrees_by_its_own_certificate(loss: str) -> None:
    for name in ("ties", "one-negative", "weights", "mostly-zero"):
        p = PROBLEMS[name]
        found = solve(p.X, p.y, p.lam, loss=loss, sample_weight=p.sample_weight).certificate
        lower, upper = p.optimum[loss]
        assert found.dual <= upper and lower <= found.primal


def test_f_at_ones_is_the_librarys_f() -> None:
    for p in PROBLEMS.values():
        for loss, value in p.at_ones.items():
            problem = linear_problem(p.X, p.y, p.lam, loss, AllPairs(p.sample_weight))
            found = problem.objective(np.ones(p.X.shape[1]))
            # twelve digits are kept, and running sums lose a few of sixteen
            assert found == pytest.approx(value, rel=1e-11)


def test_names_choose_problems_or_all_lams_of_their_data() -> None:
    assert [p.name for p in reference_problems("overlap:0.1")] == ["overlap:0.1"]
    assert [p.lam for p in reference_problems(["overlap"])] == [1e-5, 1e-3, 0.01, 0.1, 10.0]
    with pytest.raises(InputError, match="did you mean overlap"):
        reference_problems("overlapp")


@each("value", [Fraction(1, 3), Fraction(2, 3) / 10**7, Fraction(10**15, 7)])
def test_rounding_goes_outwards_and_stays_there_as_a_double(value: Fraction) -> None:
    low, high = float(rounded(value, ROUND_FLOOR)), float(rounded(value, ROUND_CEILING))
    assert Fraction(low) < value < Fraction(high)
    assert high - low < 2e-11 * high


def test_the_floats_of_an_interval_hold_the_decimal_numbers_of_the_file() -> None:
    document = json.loads(FILE.read_text(encoding="utf-8"), parse_float=Fraction)
    for problem, entry in zip(reference_problems(), document["problems"], strict=True):
        for loss, (low, high) in entry["optimum"].items():
            lower, upper = problem.optimum[loss]
            assert Fraction(lower) <= low <= high <= Fraction(upper)
