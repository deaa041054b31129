"""The claims about the printed costs of [Nonlinear], and that they notice dearer code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aucert.approx import nsauc
from aucert.approx.newton.curvature import SortedCurvature
from aucert.approx.nsauc import _scheduled
from aucert.validation import suite
from aucert.validation.claims import nonlinear as costs
from aucert.validation.claims.counting import Counted
from loops import each

PRODUCT, STEP = "hessian-product-cost-without-the-pairs", "sgd-step-costs-its-nonzeros"


def test_operations_of_a_matrix_times_a_vector_are_counted_by_hand() -> None:
    v = np.ones(5).view(Counted)
    Counted.operations = 0.0
    _ = np.ones((3, 5)) @ v
    assert Counted.operations == 15
    np.cumsum(v + 1.0)
    assert Counted.operations == 15 + 5 + 5


def test_a_product_over_the_listed_pairs_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = SortedCurvature.times

    def listed(self: Any, values: np.ndarray) -> np.ndarray:
        plus, minus = self.rows
        _ = values[plus][:, None] - values[minus]
        return right(self, values)

    monkeypatch.setattr(SortedCurvature, "times", listed)
    monkeypatch.setattr(costs, "ROWS", (64, 256, 1024))
    row = suite.run([PRODUCT]).rows[0]
    assert row.verdict == "fails" and "n^1." in str(row.measured), row.measured


def test_a_product_that_sorts_again_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = SortedCurvature.times

    def sorting(self: Any, values: np.ndarray) -> np.ndarray:
        np.argsort(values)
        return right(self, values)

    monkeypatch.setattr(SortedCurvature, "times", sorting)
    assert suite.run([PRODUCT]).rows[0].verdict == "fails"


@each("factor", [-1.0, 0.5])
def test_a_product_with_the_wrong_factor_is_noticed(
    monkeypatch: pytest.MonkeyPatch, factor: float
) -> None:
    right = SortedCurvature.times
    monkeypatch.setattr(SortedCurvature, "times", lambda self, v: factor * right(self, v))
    assert suite.run([PRODUCT]).rows[0].verdict == "fails"


def _over_all_columns(
    data, column, first, i, j, w, mean, t, count, lam, t0, rskip, askip, start, loss, literal
):
    """Make the steps of `_sparse_steps` on rows made dense: every coordinate of w is touched."""
    for k in range(i.size):
        t += 1
        x = [0.0] * w.size
        for row, sign in ((i[k], 1.0), (j[k], -1.0)):
            for p in range(first[row], first[row + 1]):
                x[column[p]] += sign * data[p]
        for p in range(w.size):
            w[p] += x[p] / (lam * (t + t0))
        count = _scheduled(w, mean, count, t, t0, rskip, askip, start, literal)
    return t, count


@pytest.mark.slow
def test_a_step_that_touches_every_coordinate_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nsauc, "_sparse_steps", _over_all_columns)
    row = suite.run([STEP]).rows[0]
    assert row.verdict == "fails" and "d^0.9" in str(row.measured), row.measured
    # As printed, with a factor d, it would then be as tight as it reads.
    assert suite.run(["sgd-step-cost-as-printed"]).rows[0].verdict != "loose"


@pytest.mark.slow
def test_a_penalty_at_every_step_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = costs.touched

    def every(context: Any, n: int, d: int, a: int | None, skip: int) -> float:
        return right(context, n, d, a, 1)

    monkeypatch.setattr(costs, "touched", every)
    assert suite.run([STEP]).rows[0].verdict != "holds"
