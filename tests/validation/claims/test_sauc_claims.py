"""The claims of [SAUC]: their verdicts, and that they notice a mistake."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aucert.exact.pairs.nearest_pairs import nearest_pairs
from aucert.exact.structured import sauc_scores as scores_by_eq_20
from aucert.validation import suite
from aucert.validation.claims import sauc
from aucert.validation.claims.claim import Context
from aucert.validation.claims.sauc import every_pair, toy
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

    monkeypatch.setattr(sauc, "sauc_scores", scores)
    assert run(f"sauc-eq-20-{name}").verdict == verdict


def test_a_nonsingular_r_would_make_eq_17_hold(monkeypatch: Patch) -> None:
    class Regular:
        def __init__(self, positive: np.ndarray):
            self.positive = positive

        def times(self, values: np.ndarray) -> np.ndarray:
            return values / values.shape[0]

    monkeypatch.setattr(sauc, "class_scatter", Regular)
    assert run("sauc-eq-17-as-printed").verdict == "holds"


def test_prop_2_would_hold_with_every_hinge_active(monkeypatch: Patch) -> None:
    genuine = sauc.hinge_problem
    monkeypatch.setattr(sauc, "hinge_problem", lambda data, lam: genuine(data, 1e5 * lam))
    assert run("sauc-prop-2-as-printed").verdict == "holds"


@each("factor", [0.9, 1.1])
def test_a_bound_too_high_or_too_low_is_noticed(monkeypatch: Patch, factor: float) -> None:
    genuine = sauc.chebyshev
    monkeypatch.setattr(sauc, "chebyshev", lambda t: factor * genuine(t))
    assert run("sauc-eq-24-chebyshev").verdict == "fails"


def test_a_gain_printed_right_would_hold(monkeypatch: Patch) -> None:
    monkeypatch.setattr(sauc, "PRINTED_GAIN", 2.17)
    assert run("sauc-table-3-gain-over-svm").verdict == "holds"


def test_anchors_of_one_class_would_make_the_printed_counts_hold(monkeypatch: Patch) -> None:
    def one_class(X: np.ndarray, positive: np.ndarray, k: int, *rest: str) -> object:
        return nearest_pairs(X, positive, k, "anchor", "E")

    monkeypatch.setattr(sauc, "nearest_pairs", one_class)
    assert run("sauc-pair-counts-by-the-printed-rule").verdict == "holds"


@pytest.mark.slow
def test_anchors_that_are_not_dropped_are_noticed(monkeypatch: Patch) -> None:
    def unfiltered(X: np.ndarray, positive: np.ndarray, k: int, *rest: str) -> object:
        return nearest_pairs(X, positive, k, "anchor", "none")

    monkeypatch.setattr(sauc, "nearest_pairs", unfiltered)
    assert run("sauc-pair-counts-with-anchors-of-one-class").verdict == "fails"


# Helpers.


def test_the_covariance_of_differences_has_the_side_of_the_features() -> None:
    data, _ = toy(Context("a", 0))
    pairs = every_pair(data.is_positive)
    differences = data.X[pairs.i] - data.X[pairs.j]
    d = data.X.shape[1]
    assert np.cov(differences.T, ddof=0).shape == (d, d)
    assert sauc.covariance(data.X).shape == (d, d)
    assert sauc.covariance(differences) == pytest.approx(np.cov(differences.T, ddof=0))


def test_the_dual_of_one_pair_is_known_in_closed_form() -> None:
    # max a - 4 a^2 / 2 on [0, C]: a = 1/4, or C if that is less
    for C, alpha in ((1.0, 0.25), (0.1, 0.1)):
        theta, _ = sauc.solved_dual(np.array([[4.0]]), C)
        assert theta == pytest.approx([alpha], rel=1e-6)
