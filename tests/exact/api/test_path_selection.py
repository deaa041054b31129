"""Cross-validation along the path: plain means of fold AUC, and honest ranges around them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import StratifiedKFold

from aucert.exact import CVPath, cross_validated_path, solve
from aucert.exact.api.folds import make_splits
from aucert.exact.errors import InputError
from aucert.exact.formulation.formulation import formulate
from aucert.exact.formulation.lam_grid import lam_grid
from aucert.exact.formulation.request import Request
from aucert.exact.pairs.auc import auc
from aucert.exact.problem.problem import linear_problem
from aucert.exact.solvers.choose import choose_solver
from loops import each

RNG = np.random.default_rng(2)
Y = (np.arange(90) % 3 == 0).astype(int)
X = RNG.normal(size=(90, 3)) + 0.5 * Y[:, None]
LAMS = [1.0, 0.03, 0.001]


def exact_auc(train, test, lam, weight=None, **options) -> float:
    """AUC on held-out rows of the optimum, by separate steps."""
    part = None if weight is None else weight[train]
    made = solve(X[train], Y[train], lam, tol=1e-12, sample_weight=part, **options)
    scores = formulate(X[train], Y[train], Request.of(lam, **options)).scorer(made.w)(X[test])
    return auc(scores, Y[test] == 1, None if weight is None else weight[test])


@each(
    "options", [{}, {"loss": "squared_hinge"}, {"kernel": "rbf", "loss": "squared_hinge"}], ids=str
)
@each("weighted", [False, True])
def test_the_exact_optimum_of_each_fold_has_an_auc_within_the_range(options, weighted) -> None:
    weight = 1.0 + np.arange(90) % 4 if weighted else None
    found = cross_validated_path(
        X, Y, LAMS, cv=3, seed=5, tol=0.05, sample_weight=weight, **options
    )
    exact = [
        [exact_auc(train, test, lam, weight, **options) for lam in LAMS]
        for train, test in make_splits(3, X, Y == 1, 5)
    ]
    assert (found.fold_low <= exact).all() and (exact <= found.fold_high).all()
    assert (found.fold_low <= found.fold_auc).all() and (found.fold_auc <= found.fold_high).all()
    assert (found.fold_gap <= 0.05).all() and found.complete
    if options.get("loss") != "squared_hinge":  # whose steps end far below the tolerance
        assert (found.fold_auc != exact).any() and (found.fold_high > found.fold_low).any()


def test_sparse_rows_and_gram_matrices_give_the_numbers_of_dense_rows() -> None:
    splits = list(StratifiedKFold(3).split(X, Y))
    options = {"cv": splits, "loss": "squared_hinge", "tol": 1e-12}
    plain = cross_validated_path(X, Y, LAMS, **options)
    for found in (
        cross_validated_path(sp.csr_matrix(X), Y, LAMS, **options),
        cross_validated_path(X @ X.T, Y, LAMS, kernel="precomputed", **options),
    ):
        np.testing.assert_allclose(found.fold_auc, plain.fold_auc, rtol=1e-12)
        assert (found.fold_low <= plain.fold_auc).all()
        assert (found.fold_high >= plain.fold_auc).all()


def test_weights_are_repetitions_in_given_folds() -> None:
    weight = np.arange(90) % 3
    fold = np.arange(90) % 2
    splits = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(2)]
    whole = np.repeat(np.arange(90), weight)
    again = [(np.flatnonzero(fold[whole] != f), np.flatnonzero(fold[whole] == f)) for f in range(2)]
    y = (RNG.random(90) < 0.4).astype(int)
    options = {"loss": "squared_hinge", "tol": 1e-11}
    weighted = cross_validated_path(X, y, LAMS, cv=splits, sample_weight=weight, **options)
    repeated = cross_validated_path(X[whole], y[whole], LAMS, cv=again, **options)
    np.testing.assert_allclose(weighted.fold_auc, repeated.fold_auc, rtol=1e-10)


def test_the_default_grid_is_that_of_all_rows() -> None:
    found = cross_validated_path(X, Y, cv=3, n_lams=4, loss="squared_hinge")
    np.testing.assert_array_equal(found.lams, lam_grid(linear_problem(X, Y, 1.0), 4))
    assert found.fold_auc.shape == (3, 4)


def table(fold_auc, width=0.0) -> CVPath:
    values = np.array(fold_auc, dtype=float)
    lams = np.geomspace(1, 0.1, values.shape[1])
    return CVPath(lams, values, values - width, values + width, values * 0, True)


def test_best_and_one_standard_error_by_hand() -> None:
    # means 0.6, 0.7, 0.75, 0.7; the best has deviations 0.1 of three: se = 0.1 / sqrt(3) = 0.058
    found = table([[0.6, 0.7, 0.65, 0.7], [0.6, 0.7, 0.75, 0.7], [0.6, 0.7, 0.85, 0.7]])
    np.testing.assert_allclose(found.mean_auc, [0.6, 0.7, 0.75, 0.7])
    np.testing.assert_allclose(found.standard_error, [0, 0, 0.1 / np.sqrt(3), 0], atol=1e-15)
    assert (found.best, found.one_standard_error) == (2, 1)
    assert found.lam_of("best") == found.lams[2] and found.lam_of("one-se") == found.lams[1]


def test_a_lam_is_rejected_only_if_another_is_better_whatever_the_solver_left_open() -> None:
    means = [[0.6, 0.7, 0.75], [0.6, 0.7, 0.75]]
    assert table(means, 0.0).possible.tolist() == [False, False, True]
    assert table(means, 0.026).possible.tolist() == [False, True, True]
    assert table(means, 0.1).possible.tolist() == [True, True, True]


def test_when_the_time_is_over_the_lam_that_all_folds_have_are_kept() -> None:
    found = cross_validated_path(X, Y, LAMS, cv=3, max_time=1e-9)
    assert not found.complete and found.lams.tolist() == [1.0]
    assert found.fold_auc.shape == (3, 1)


def test_an_interrupt_in_a_fold_ends_all_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def once(*arguments: Any) -> Any:
        calls.append(1)
        if len(calls) == 2:  # at the second lam of the first fold
            raise KeyboardInterrupt
        return choose_solver(*arguments)

    monkeypatch.setattr("aucert.exact.api.path.choose_solver", once)
    with pytest.raises(KeyboardInterrupt):
        cross_validated_path(X, Y, LAMS, cv=3)
    assert len(calls) == 2


def test_folds_are_stratified_and_follow_the_seed() -> None:
    first, same, other = (make_splits(3, X, Y == 1, seed) for seed in (0, 0, 1))
    for (_, a), (_, b) in zip(first, same, strict=True):
        np.testing.assert_array_equal(a, b)
        assert Y[a].sum() == 10
    assert any(not np.array_equal(a, b) for (_, a), (_, b) in zip(first, other, strict=True))


HALF = np.arange(90) < 45


@each(
    ("options", "message"),
    [
        ({"cv": True}, "whole number"),
        ({"cv": 2.5}, "cv must be a number of folds"),
        ({"cv": [(np.flatnonzero(HALF), np.flatnonzero(~HALF))]}, "at least two folds"),
        (
            {"cv": [(np.flatnonzero(Y), np.flatnonzero(1 - Y))] * 2},
            "fold 0 has training rows of one class",
        ),
        ({"sample_weight": 1.0 - Y}, "fold 0 has training rows of one class"),
        ({"sample_weight": np.ones(3)}, "shape"),
        ({"y": Y[:-1]}, "90 rows, but 89 labels"),
        ({"tol": -1.0}, "tol must be"),
        ({"lams": [0.0]}, "lam must be > 0"),
    ],
)
def test_bad_input_of_cross_validation_is_refused(options: dict, message: str) -> None:
    arguments = {"y": Y, "lams": LAMS} | options
    with pytest.raises(InputError, match=message):
        cross_validated_path(X, arguments.pop("y"), arguments.pop("lams"), **arguments)
