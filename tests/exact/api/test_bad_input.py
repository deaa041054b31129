"""Bad input is refused by one clear sentence that names the thing and the place."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact import best_subset, regularization_path
from aucert.exact.api.certify import certify
from aucert.exact.api.solve import solve
from aucert.exact.errors import InputError
from aucert.exact.losses.registry import HINGE
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.problem.penalties import ElasticNet
from aucert.exact.problem.problem import Problem, Ridge, linear_problem, pair_problem, split_labels
from aucert.exact.solvers.closed_form import SquaredLossSolver
from aucert.exact.solvers.cutting_plane import CuttingPlane
from aucert.exact.solvers.descent import Descent
from aucert.exact.solvers.finish import ActivePairs
from aucert.exact.spaces.gram import Gram
from aucert.exact.spaces.rows import Rows
from loops import each

X = np.array([[1.0, 0.0], [0.0, 2.0], [0.5, 1.0], [-1.0, 0.0]])
Y = np.array([1, 0, 1, 0])


def with_entry(value: float) -> np.ndarray:
    matrix = X.copy()
    matrix[2, 1] = value
    return matrix


MATRICES: dict[str, tuple[Any, str]] = {
    "nan": (with_entry(np.nan), "X .* row 2, column 1"),
    "infinity": (with_entry(np.inf), "X .* row 2, column 1"),
    "nan in CSR": (sp.csr_matrix(with_entry(np.nan)), "X .* row 2, column 1"),
    "strings": ([["a", "b"]] * 4, "X must be a matrix of numbers"),
    "none": (None, "X"),
    "ragged": ([[1.0, 2.0], [1.0]], "X must be a matrix of numbers"),
    "one dimension": (X[:, 0], "X must be a matrix.*not one row of numbers"),
    "three dimensions": (X[:, :, None], "X must be a matrix.*3 dimension"),
    "no rows": (np.zeros((0, 2)), "X is empty"),
    "no columns": (np.zeros((4, 0)), "X is empty"),
    "complex": (X + 1j, "X must be a matrix of numbers"),
    "too large": (X * 1e200, "X has values"),
    "too few rows": (X[:3], "3 rows, but labels of shape"),
}


@each("case", MATRICES)
def test_bad_matrix(case: str) -> None:
    matrix, message = MATRICES[case]
    with pytest.raises(InputError, match=message):
        solve(matrix, Y, 1.0)


LABELS: dict[str, tuple[Any, str]] = {
    "one class": ([1, 1, 1, 1], "two classes, it has 1"),
    "three classes": ([0, 1, 2, 0], "two classes, it has 3: 0, 1, 2"),
    "nan": ([0, 1, np.nan, 0], "label of row 2"),
    "empty": ([], "two classes, it has 0"),
    "matrix": (np.zeros((4, 1)), "one label a row"),
    "missing": (np.array(["a", "b", None, "a"], dtype=object), "label of row 2 is missing"),
    "mixed": (np.array([0, "a", None, 0], dtype=object), "mixed types"),
    "none": (None, "y must have one label a row"),
}


@each("case", LABELS)
def test_bad_labels(case: str) -> None:
    labels, message = LABELS[case]
    with pytest.raises(InputError, match=message):
        solve(X, labels, 1.0)


def test_a_positive_label_that_does_not_occur() -> None:
    with pytest.raises(InputError, match="positive label 7 does not occur"):
        solve(X, Y, 1.0, positive=7)


@each(
    "labels",
    [
        ["b", "a", "b", "a"],
        np.array(["b", "a", "b", "a"], dtype=object),
        np.array(["b", "a", "b", "a"]),
        np.array([True, False, True, False]),
        np.array([2.0, -1.0, 2.0, -1.0]),
    ],
    ids=["list", "objects", "strings", "booleans", "floats"],
)
def test_labels_of_every_type_are_taken(labels: Any) -> None:
    mask, chosen, other = split_labels(labels)
    assert mask.tolist() == [True, False, True, False]
    assert chosen == np.asarray(labels)[0] and other == np.asarray(labels)[1]


@each("lam", [0, -1.0, np.nan, np.inf, "1", None, True, np.array([1.0]), 1j], ids=repr)
def test_bad_lam(lam: Any) -> None:
    with pytest.raises(InputError, match="lam must be"):
        solve(X, Y, lam)


ARGUMENTS: dict[str, tuple[dict[str, Any], str]] = {
    "tol 0": ({"tol": 0.0}, "tol must be > 0"),
    "tol negative": ({"tol": -1e-9}, "tol must be > 0"),
    "tol nan": ({"tol": np.nan}, "tol must be > 0"),
    "tol text": ({"tol": "small"}, "tol must be"),
    "tol none": ({"tol": None}, "tol must be"),
    "max_time 0": ({"max_time": 0}, "max_time must be > 0"),
    "max_time nan": ({"max_time": np.nan}, "max_time must be > 0"),
    "max_time text": ({"max_time": "1s"}, "max_time must be"),
    "loss": ({"loss": "cubic"}, "loss must be one of hinge"),
    "loss none": ({"loss": None}, "unknown loss"),
    "method": ({"method": "magic"}, "method must be one of auto"),
    "method none": ({"method": None}, "method must be"),
    "an old name": ({"method": "quasi-newton"}, "descent"),
    "cuts for the square": (
        {"method": "cutting-plane", "loss": "square"},
        "cutting planes solve the hinge",
    ),
    "callback": ({"callback": "show"}, "callback must be a function or None, not 'show'"),
    "both weights": ({"pairs": AllPairs(), "sample_weight": np.ones(4)}, "not both"),
    "pairs text": ({"pairs": "all"}, "pairs must be"),
}


def test_a_callback_that_cannot_be_called_is_refused_before_the_work() -> None:
    for work in (regularization_path, partial(best_subset, k=1)):
        with pytest.raises(InputError, match="callback must be a function or None"):
            work(X, Y, callback=3)  # type: ignore[operator]


@each("case", ARGUMENTS)
def test_bad_argument(case: str) -> None:
    arguments, message = ARGUMENTS[case]
    with pytest.raises(InputError, match=message):
        solve(X, Y, 1.0, **arguments)


WEIGHTS: dict[str, tuple[Any, str]] = {
    "negative": ([1, 1, -1, 1], "weight of row 2 is -1"),
    "nan": ([1, 1, np.nan, 1], "weight of row 2 is nan"),
    "infinite": ([1, np.inf, 1, 1], "weight of row 1 is inf"),
    "too few": ([1, 1, 1], "weight has 3 rows"),
    "matrix": (np.ones((4, 1)), "weight must have one number a row"),
    "text": (["a"] * 4, "weight"),
    "a class of none": ([0, 1, 0, 1], "each class needs a row of positive weight"),
}


@each("case", WEIGHTS)
def test_bad_row_weights(case: str) -> None:
    weight, message = WEIGHTS[case]
    with pytest.raises(InputError, match=message):
        solve(X, Y, 1.0, sample_weight=weight)


LISTS: dict[str, tuple[Any, Any, Any, str]] = {
    "row too large": ([0, 2], [1, 4], None, r"rows outside 0 \.\. 3"),
    "row negative": ([0, -2], [1, 3], None, r"rows outside 0 \.\. 3"),
    "not a positive": ([0, 1], [1, 3], None, r"pair 1 = \(1, 3\)"),
    "not a negative": ([0, 2], [1, 0], None, r"pair 1 = \(2, 0\)"),
    "empty": ([], [], None, "one length > 0"),
    "two lengths": ([0, 2], [1], None, "one length > 0"),
    "matrix": ([[0]], [[1]], None, "one length > 0"),
    "fractions": ([0.5], [1.0], None, "whole numbers"),
    "weights too few": ([0, 2], [1, 3], [1.0], "2 pairs, but weights of shape"),
    "weight negative": ([0, 2], [1, 3], [1.0, -1.0], "pair weights must be finite, >= 0"),
    "weight nan": ([0, 2], [1, 3], [1.0, np.nan], "pair weights must be finite, >= 0"),
    "weights zero": ([0, 2], [1, 3], [0.0, 0.0], "not all zero"),
    "weights text": ([0, 2], [1, 3], ["a", "b"], "weights"),
}


@each("case", LISTS)
def test_bad_pair_list(case: str) -> None:
    i, j, weight, message = LISTS[case]
    with pytest.raises(InputError, match=message):
        solve(X, Y, 1.0, pairs=PairList(np.array(i), np.array(j), weight))


GRAMS: dict[str, tuple[Any, str]] = {
    "not square": (np.ones((2, 3)), "K must be square"),
    "not symmetric": (np.array([[1.0, 0.5], [0.2, 1.0]]), r"K is not symmetric.*\((0, 1|1, 0)\)"),
    "indefinite": (np.array([[1.0, 2.0], [2.0, 1.0]]), "K has a negative eigenvalue"),
    "negative": (-np.eye(3), "K has a negative eigenvalue"),
    "nan": (np.array([[1.0, np.nan], [np.nan, 1.0]]), "K .* row 0, column 1"),
    "empty": (np.zeros((0, 0)), "K is empty"),
}


@each("case", GRAMS)
def test_bad_kernel_matrix(case: str) -> None:
    matrix, message = GRAMS[case]
    with pytest.raises(InputError, match=message):
        Gram(matrix)


@each(
    ("w", "message"),
    [
        (np.zeros(3), "2 coordinates, the weights shape"),
        (np.array([0.0, np.nan]), "weight 1 is nan"),
        (np.array([np.inf, 0.0]), "weight 0 is inf"),
        (["a", "b"], "weights must be numbers"),
        (None, "2 coordinates"),
    ],
)
def test_bad_weights_of_the_model(w: Any, message: str) -> None:
    problem = linear_problem(X, Y, 1.0)
    with pytest.raises(InputError, match=message):
        problem.check_weights(w)
    if w is not None:
        with pytest.raises(InputError, match=message):
            CuttingPlane().solve(problem, w0=w)


@each("positive", [np.array([1, 0, 1, 0]), np.array([True, False])], ids=repr)
def test_bad_mask_of_the_positives(positive: np.ndarray) -> None:
    with pytest.raises(InputError, match=r"positive|labels"):
        pair_problem(Rows(X), positive, AllPairs(), HINGE, Ridge(1.0))


@each("everywhere", [True, False])
def test_a_mask_of_one_class(everywhere: bool) -> None:
    with pytest.raises(InputError, match=r"all 4 rows are (positive|negative)"):
        pair_problem(Rows(X), np.full(4, everywhere), AllPairs(), HINGE, Ridge(1.0))


def test_bad_choice_of_form_or_backend() -> None:
    with pytest.raises(InputError, match="form must be auto, numpy, compiled or binned"):
        AllPairs(form="fortran")


def test_solvers_refuse_problems_that_are_not_theirs() -> None:
    kernel = pair_problem(Gram(X @ X.T), Y == 1, AllPairs(), HINGE, Ridge(1.0))
    squared = linear_problem(X, Y, 1.0, "squared_hinge")
    with pytest.raises(InputError, match="ridge"):
        Descent().solve(Problem(squared.space, squared.risk, ElasticNet(0.1, 0.1)))
    with pytest.raises(InputError, match="rows"):
        ActivePairs().solve(kernel)
    with pytest.raises(InputError, match="active pairs solve the hinge"):
        ActivePairs().solve(squared)
    with pytest.raises(InputError, match="square loss on rows"):
        SquaredLossSolver().solve(squared)


@each("loss", ["squared_hinge", "square"])
@each("pairs", [None, PairList(np.array([0, 0]), np.array([1, 2]))])
def test_scores_whose_squares_overflow_are_refused(loss: str, pairs: PairList | None) -> None:
    X, y = np.array([[1e100, 0.0], [0.0, 1.0], [1.0, 1.0]]), [1, 0, 0]
    with pytest.raises(InputError, match="a score is larger"):
        certify(X, y, 1.0, w=np.array([1e100, 0.0]), loss=loss, pairs=pairs)
    with pytest.raises(InputError, match="a score is larger"):
        certify(np.eye(3), y, 1.0, scores=np.array([1e300, 0.0, 1.0]), loss=loss, pairs=pairs)
