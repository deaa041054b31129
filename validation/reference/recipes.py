"""Which reference problems there are: what each one tests, its rows, and its values of lam."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .rows import (
    Draws,
    Made,
    both_labels,
    constant_feature,
    duplicates,
    eighths,
    equal_rows,
    four_rows,
    fractional_weights,
    integers,
    large_units,
    mirrored,
    mostly_zero,
    near_copies,
    offset,
    outlier,
    overlap,
    separable,
    shifted,
    small_units,
    sorted_rows,
    two_rows,
    unequal_columns,
    weights_for_duplicates,
    xor,
    zero_weights,
)


@dataclass(frozen=True)
class Recipe:
    """One data set and the values of lam at which it is a reference problem."""

    name: str
    tests: str
    rows: str
    seed: int
    lams: tuple[float, ...]
    make: Callable[[Draws], Made]

    def data(self) -> Made:
        """Return X, y and the weights, drawn anew."""
        return self.make(Draws(self.seed))


# All data sets, in the order of the table.
RECIPES: tuple[Recipe, ...] = (
    Recipe("two-rows", "one pair: solvable by hand", "1.5 against -0.5", 0, (0.1, 10.0), two_rows),
    Recipe("four-rows", "margins tie", "three positives around one negative", 0, (0.1,), four_rows),
    Recipe(
        "overlap",
        "plain data, five strengths of the penalty: lam must matter",
        "normal, means 0.8 apart in two of three features",
        1,
        (1e-5, 1e-3, 0.01, 0.1, 10.0),
        overlap,
    ),
    Recipe(
        "sorted-rows",
        "the order of rows must not matter",
        "`overlap`, negatives first",
        1,
        (0.01,),
        sorted_rows,
    ),
    Recipe(
        "one-feature",
        "a single feature",
        "normal, means 1 apart",
        2,
        (0.01,),
        shifted(30, 12, 1, 1.0),
    ),
    Recipe(
        "noise",
        "labels that have nothing to do with the rows",
        "normal",
        3,
        (1e-3, 0.1),
        shifted(80, 30, 5, 0.0),
    ),
    Recipe(
        "xor",
        "classes that no linear function tells apart",
        "four normal clouds, opposite ones of one class",
        4,
        (0.01,),
        xor,
    ),
    Recipe("equal-rows", "the best w is zero", "one row twelve times", 5, (0.1,), equal_rows),
    Recipe(
        "mirrored",
        "the best w is zero, though rows differ",
        "each row once in each class",
        6,
        (1e-3,),
        mirrored,
    ),
    Recipe(
        "ties",
        "some margins tie",
        "normal, means 0.6 apart, in eighths",
        7,
        (0.01,),
        eighths,
    ),
    Recipe(
        "integers",
        "most margins tie",
        "whole numbers 0, 1, 2; some positives 1 higher",
        8,
        (1e-3, 0.1),
        integers(80, 30, 3, 3),
    ),
    Recipe(
        "binary",
        "nearly all margins tie",
        "0 and 1; some positives 1 higher",
        9,
        (0.01,),
        integers(60, 20, 8, 2),
    ),
    Recipe(
        "duplicates", "repeated rows", "20 rows, one to four times each", 10, (0.01,), duplicates
    ),
    Recipe(
        "both-labels",
        "equal rows of both classes",
        "40 rows, a third of them again with the other label",
        11,
        (0.01,),
        both_labels,
    ),
    Recipe(
        "one-positive",
        "a single positive row",
        "normal, means 1 apart",
        12,
        (0.01,),
        shifted(40, 1, 3, 1.0),
    ),
    Recipe(
        "one-negative",
        "a single negative row",
        "normal, means 1 apart",
        13,
        (0.01,),
        shifted(40, 39, 3, 1.0),
    ),
    Recipe(
        "imbalance",
        "8 positive rows of 400",
        "normal, means 0.6 apart",
        14,
        (0.01,),
        shifted(400, 8, 5, 0.6),
    ),
    Recipe(
        "separable",
        "hardly any loss is left",
        "classes at least 0.6 apart in the first feature",
        15,
        (1e-5, 1e-3, 0.1),
        separable,
    ),
    Recipe(
        "wide",
        "more features than rows",
        "normal, means 0.3 apart",
        16,
        (1e-4, 0.01),
        shifted(20, 8, 60, 0.3),
    ),
    Recipe(
        "large-units",
        "`overlap` at 0.01 in other units: the same optimum",
        "`overlap` times a million",
        1,
        (1e10,),
        large_units,
    ),
    Recipe(
        "large-values",
        "large values, hardly penalised",
        "`overlap` times a million",
        1,
        (1e4,),
        large_units,
    ),
    Recipe(
        "small-units",
        "`overlap` at 0.01 in other units: the same optimum",
        "`overlap` over a million",
        1,
        (1e-14,),
        small_units,
    ),
    Recipe(
        "offset",
        "an offset cancels in every pair",
        "normal, means 0.8 apart, in eighths, plus a million",
        17,
        (0.01,),
        offset,
    ),
    Recipe(
        "constant",
        "a feature that says nothing",
        "`overlap` with a feature that is always 7",
        1,
        (0.01,),
        constant_feature,
    ),
    Recipe(
        "near-copies",
        "badly conditioned",
        "normal, and two features that nearly copy others",
        18,
        (1e-5,),
        near_copies,
    ),
    Recipe(
        "unequal-columns",
        "features of very different spread",
        "normal, spreads 1000, 10, 1 and 0.1",
        19,
        (0.01,),
        unequal_columns,
    ),
    Recipe(
        "mostly-zero",
        "a sparse matrix",
        "normal, nine of ten entries zero",
        20,
        (0.01,),
        mostly_zero,
    ),
    Recipe(
        "outlier",
        "one row a thousand times larger",
        "`overlap`, one positive far out on the wrong side",
        1,
        (0.01,),
        outlier,
    ),
    Recipe(
        "weights",
        "fractional row weights",
        "normal, means 0.7 apart; weights in eighths",
        21,
        (0.01,),
        fractional_weights,
    ),
    Recipe(
        "zero-weights",
        "rows of weight zero do not count",
        "normal, means 0.7 apart; those of weight 0 reversed",
        22,
        (0.01,),
        zero_weights,
    ),
    Recipe(
        "weights-for-rows",
        "a weight means repetition: the same optimum as `duplicates`",
        "the 20 rows of `duplicates`, weights 1 to 4",
        10,
        (0.01,),
        weights_for_duplicates,
    ),
    Recipe(
        "larger",
        "960,000 pairs",
        "normal, means 0.4 apart in five of ten features",
        23,
        (1e-5, 1e-3),
        shifted(2000, 800, 10, 0.4),
    ),
)
