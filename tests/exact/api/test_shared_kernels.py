"""A kernel's matrix made once and cut into folds gives what each fold alone would give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import aucert.exact.api.cross_validation as path_selection
import aucert.exact.spaces.factor as many_features
from aucert.exact import cross_validated_path, regularization_path, solve
from aucert.exact.api.folds import make_splits
from aucert.exact.formulation.formulation import formulate
from aucert.exact.formulation.request import Request
from aucert.exact.pairs.auc import auc
from aucert.exact.spaces.factor import DENSE_LIMIT
from aucert.exact.spaces.gram import Gram
from aucert.exact.spaces.kernels import Gaussian
from loops import each, first_fast

RNG = np.random.default_rng(7)
X = RNG.normal(size=(120, 4))
Y = X[:, 0] * X[:, 1] + 0.5 * RNG.normal(size=120) > 0.2
X[5], X[17] = X[6], X[3]  # equal rows, of one class or of two
LAMS = [0.3, 0.01, 1e-4]
GAUSSIAN = {"kernel": "rbf", "gamma": 0.4}


class Counting(Gaussian):
    """A Gaussian kernel that counts the values it makes."""

    values = 0

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        Counting.values += X.shape[0] * Z.shape[0]
        return super().__call__(X, Z)


def plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let kernels be left as they are however few rows there are."""
    monkeypatch.setattr(many_features, "PLAIN_FROM", 1)
    monkeypatch.setattr(many_features, "NEARLY_ALL", 0.0)


def test_a_part_is_the_space_of_those_rows_alone() -> None:
    index = np.array([3, 4, 50, 7])
    part, alone = Gram.of_kernel(Gaussian(0.4), X).part(index), Gram(Gaussian(0.4)(X, X)).K
    np.testing.assert_array_equal(part.K, alone[index][:, index])
    own = Gram.of_kernel(Gaussian(0.4), X[index])
    c = RNG.normal(size=4)
    assert part.n == part.dim == 4 and part.reach == own.reach
    np.testing.assert_allclose(part.scores(c), own.scores(c), rtol=1e-13)
    assert part.norm2(c) == pytest.approx(own.norm2(c), rel=1e-13)
    assert part.norm2_error(c) >= own.norm2_error(c) > 0


@each("weighted", [False, True])
@each("structure", first_fast([1.5, 0.0]))
def test_folds_cut_from_one_matrix_are_the_folds_alone(
    monkeypatch: pytest.MonkeyPatch, structure: float, weighted: bool
) -> None:
    weight = np.arange(120.0) % 4 if weighted else None
    how: dict[str, Any] = {"cv": 3, "tol": 1e-9, "structure": structure, "sample_weight": weight}
    shared = cross_validated_path(X, Y, LAMS, **how, **GAUSSIAN)
    monkeypatch.setattr(path_selection, "SHARED_ROWS", 0)
    alone = cross_validated_path(X, Y, LAMS, **how, **GAUSSIAN)
    np.testing.assert_allclose(shared.fold_auc, alone.fold_auc, atol=2e-3)
    for one, other in ((shared, alone), (alone, shared)):
        assert (one.fold_low <= other.fold_high).all()
        assert (one.fold_gap <= 1e-9).all()


@pytest.mark.slow
def test_the_plain_kernel_in_folds_has_the_optimum_of_each_fold_in_its_range(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    splits, exact = make_splits(3, X, Y, 0), []
    for train, test in splits:
        for lam in LAMS:
            w = solve(X[train], Y[train], lam, tol=1e-10, **GAUSSIAN).w
            scorer = formulate(X[train], Y[train], Request.of(lam, **GAUSSIAN)).scorer(w)
            exact.append(auc(scorer(X[test]), Y[test]))
    plainly(monkeypatch)
    found = cross_validated_path(X, Y, LAMS, cv=splits, tol=1e-4, **GAUSSIAN)
    exact = np.reshape(exact, found.fold_auc.shape)
    assert (found.fold_gap <= 1e-4).all()
    assert (found.fold_low <= exact).all() and (exact <= found.fold_high).all()
    assert (found.fold_low <= found.fold_auc).all() and (found.fold_auc <= found.fold_high).all()


@pytest.mark.slow
@each("limit", [DENSE_LIMIT, 0])
def test_a_path_over_a_plain_kernel_is_the_cold_solution_at_each_lam(
    monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    cold = [solve(X, Y, lam, tol=1e-11, **GAUSSIAN).certificate for lam in LAMS]
    plainly(monkeypatch)
    monkeypatch.setattr("aucert.exact.formulation.formulation.DENSE_LIMIT", limit)
    path = regularization_path(X, Y, LAMS, tol=1e-9, **GAUSSIAN)
    for point, known in zip(path.points, cold, strict=True):
        held = point.certificate
        assert held.reaches(1e-9) and point.solution.method == "descent"
        assert held.dual <= known.primal
        assert known.dual <= held.primal
