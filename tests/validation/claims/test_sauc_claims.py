"""The claims of [SAUC]: their verdicts, and that they notice a mistake."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from aucert.exact.estimators.thresholds import threshold_equal_error
from aucert.exact.pairs.nearest_pairs import nearest_pairs
from aucert.exact.solvers.cutting_plane import CuttingPlane
from aucert.exact.structured import PairScatter, deformed_gram, pair_kernel
from aucert.exact.structured import sauc_scores as scores_by_eq_20
from aucert.validation import suite
from aucert.validation.claims.claim import Context
from aucert.validation.claims.sauc import dual as sauc_dual
from aucert.validation.claims.sauc import interpretation as sauc_interpretation
from aucert.validation.claims.sauc import pairs as sauc_pairs
from aucert.validation.claims.sauc import scores as sauc_scores
from aucert.validation.claims.sauc import structure as sauc_structure
from aucert.validation.claims.sauc.common import every_pair, toy
from aucert.validation.report.row import Row
from loops import each

Patch = pytest.MonkeyPatch


def run(name: str, seed: int = 0) -> Row:
    return suite.run([name], seed=seed).rows[0]


# Planted mistakes, and planted repairs: each must turn the verdict round.


@each(
    ("literal", "name", "verdict"),
    [(False, "as-printed", "holds"), (True, "with-the-factor-lambda", "fails")],
)
def test_the_factor_of_eq_20_decides(
    monkeypatch: Patch, literal: bool, name: str, verdict: str
) -> None:
    def scores(*arguments: Any) -> np.ndarray:
        return scores_by_eq_20(*arguments[:5], paper_literal=literal)

    monkeypatch.setattr(sauc_dual, "sauc_scores", scores)
    assert run(f"sauc-eq-20-{name}").verdict == verdict


@each("name", ["sauc-prop-1-covariance-of-differences", "sauc-prop-1-needs-division-by-n"])
def test_the_other_divisor_is_noticed(monkeypatch: Patch, name: str) -> None:
    genuine = sauc_structure.covariance
    monkeypatch.setattr(sauc_structure, "covariance", lambda rows, ddof=0: genuine(rows, 1 - ddof))
    assert run(name).verdict == "fails"


def test_prop_1_would_hold_for_nearest_pairs_if_they_were_all(monkeypatch: Patch) -> None:
    monkeypatch.setattr(
        sauc_structure, "nearest_pairs", lambda X, positive, k: every_pair(positive)
    )
    assert run("sauc-prop-1-needs-all-pairs").verdict == "fails"


def test_a_structure_that_is_not_centred_is_noticed(monkeypatch: Patch) -> None:
    def second_moment(self: PairScatter, values: np.ndarray) -> np.ndarray:
        A = self.pairs.incidence()
        return A.T @ (self.pairs.c[:, None] * (A @ values))

    monkeypatch.setattr(PairScatter, "times", second_moment)
    assert run("sauc-covariance-of-listed-pairs").verdict == "fails"


def test_a_wrong_r_is_noticed(monkeypatch: Patch) -> None:
    genuine = sauc_structure.printed_R
    monkeypatch.setattr(sauc_structure, "printed_R", lambda *n: 1.001 * genuine(*n))
    assert run("sauc-eq-15-structure-as-a-matrix").verdict == "fails"


def test_a_wrong_woodbury_formula_is_noticed(monkeypatch: Patch) -> None:
    genuine = sauc_structure.woodbury
    monkeypatch.setattr(
        sauc_structure, "woodbury", lambda A, U, B, V: genuine(A, U, B, V.copy()[::-1])
    )
    assert run("sauc-eq-16-for-a-nonsingular-b").verdict == "fails"


def test_a_nonsingular_r_would_make_eq_17_hold(monkeypatch: Patch) -> None:
    class Regular:
        def __init__(self, positive: np.ndarray):
            self.positive = positive

        def times(self, values: np.ndarray) -> np.ndarray:
            return values / values.shape[0]

    monkeypatch.setattr(sauc_structure, "class_scatter", Regular)
    assert run("sauc-eq-17-as-printed").verdict == "holds"


def test_another_structure_in_the_deformed_kernel_is_noticed(monkeypatch: Patch) -> None:
    def stronger(K: np.ndarray, scatter: Any, structure: float, *rest: Any) -> np.ndarray:
        return deformed_gram(K, scatter, 1.001 * structure, *rest)

    for module in (sauc_structure, sauc_dual):
        monkeypatch.setattr(module, "deformed_gram", stronger)
    assert run("sauc-eq-17-by-the-root-of-r").verdict == "fails"
    assert run("sauc-eq-19-with-a-generalised-inverse").verdict == "fails"


def test_a_wrong_inner_product_of_pairs_is_noticed(monkeypatch: Patch) -> None:
    monkeypatch.setattr(
        sauc_dual, "pair_kernel", lambda K, i, j: pair_kernel(K, i, j) + K[np.ix_(i, i)]
    )
    assert run("sauc-eq-3-as-printed").verdict == "fails"


def test_a_gap_that_is_not_closed_is_noticed(monkeypatch: Patch) -> None:
    monkeypatch.setattr(sauc_dual, "CuttingPlane", lambda tol: CuttingPlane(tol=1e-3))
    assert run("sauc-dual-equals-primal").verdict == "fails"


def test_a_wrong_difference_of_means_is_noticed(monkeypatch: Patch) -> None:
    genuine = sauc_interpretation._means
    monkeypatch.setattr(sauc_interpretation, "_means", lambda data: 0.99 * genuine(data))
    assert run("sauc-eq-22-slacks-and-means").verdict == "fails"
    assert run("sauc-prop-2-when-every-hinge-is-active").verdict == "fails"


def test_prop_2_would_hold_with_every_hinge_active(monkeypatch: Patch) -> None:
    genuine = sauc_interpretation.hinge_problem
    monkeypatch.setattr(
        sauc_interpretation, "hinge_problem", lambda data, lam: genuine(data, 1e5 * lam)
    )
    assert run("sauc-prop-2-as-printed").verdict == "holds"


def test_a_structure_of_the_wrong_sense_is_noticed(monkeypatch: Patch) -> None:
    genuine = sauc_interpretation.formulate
    monkeypatch.setattr(
        sauc_interpretation,
        "formulate",
        lambda X, y, request: genuine(
            X, y, replace(request, structure=1 / (request.structure + 0.1))
        ),
    )
    assert run("sauc-scatter-falls-with-the-structure").verdict == "fails"


def test_another_distribution_function_is_noticed(monkeypatch: Patch) -> None:
    monkeypatch.setattr(stats.norm, "cdf", stats.logistic.cdf)
    assert run("sauc-eq-23-auc-of-gaussians").verdict == "fails"


@each("factor", [0.9, 1.1])
def test_a_bound_too_high_or_too_low_is_noticed(monkeypatch: Patch, factor: float) -> None:
    genuine = sauc_interpretation.chebyshev
    monkeypatch.setattr(sauc_interpretation, "chebyshev", lambda t: factor * genuine(t))
    assert run("sauc-eq-24-chebyshev").verdict == "fails"


def test_a_threshold_that_withstands_an_outlier_is_noticed(monkeypatch: Patch) -> None:
    monkeypatch.setattr(sauc_scores, "threshold_midpoint", threshold_equal_error)
    assert run("sauc-eq-4-has-no-breakdown-point").verdict == "fails"


def test_a_gain_printed_right_would_hold(monkeypatch: Patch) -> None:
    monkeypatch.setattr(sauc_scores, "PRINTED_GAIN", 2.17)
    assert run("sauc-table-3-gain-over-svm").verdict == "holds"


def test_anchors_of_one_class_would_make_the_printed_counts_hold(monkeypatch: Patch) -> None:
    def one_class(X: np.ndarray, positive: np.ndarray, k: int, *rest: str) -> object:
        return nearest_pairs(X, positive, k, "anchor", "E")

    monkeypatch.setattr(sauc_pairs, "nearest_pairs", one_class)
    assert run("sauc-pair-counts-by-the-printed-rule").verdict == "holds"


@pytest.mark.slow
def test_anchors_that_are_not_dropped_are_noticed(monkeypatch: Patch) -> None:
    def unfiltered(X: np.ndarray, positive: np.ndarray, k: int, *rest: str) -> object:
        return nearest_pairs(X, positive, k, "anchor", "none")

    monkeypatch.setattr(sauc_pairs, "nearest_pairs", unfiltered)
    assert run("sauc-pair-counts-with-anchors-of-one-class").verdict == "fails"


# Helpers.


def test_the_covariance_of_differences_has_the_side_of_the_features() -> None:
    data, _ = toy(Context("a", 0))
    pairs = every_pair(data.is_positive)
    differences = data.X[pairs.i] - data.X[pairs.j]
    d = data.X.shape[1]
    assert np.cov(differences.T, ddof=0).shape == (d, d)
    assert sauc_structure.covariance(data.X).shape == (d, d)
    assert sauc_structure.covariance(differences) == pytest.approx(np.cov(differences.T, ddof=0))


def test_the_dual_of_one_pair_is_known_in_closed_form() -> None:
    # max a - 4 a^2 / 2 on [0, C]: a = 1/4, or C if that is less
    for C, alpha in ((1.0, 0.25), (0.1, 0.1)):
        theta, _ = sauc_dual.solved_dual(np.array([[4.0]]), C)
        assert theta == pytest.approx([alpha], rel=1e-6)
