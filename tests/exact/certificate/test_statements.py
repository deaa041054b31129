"""Words for people: a certificate's statement, a solution's line and its table in a notebook."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from aucert.approx import IncompleteROCSVM
from aucert.exact import ROCSVM, ROCSVMCV, SAUCSVM, Certificate, Status, SurvivalSVM, solve

RNG = np.random.default_rng(5)
X = RNG.normal(size=(30, 3))
Y = (X[:, 0] + RNG.normal(size=30) > 0).astype(int)


def test_a_statement_has_bounds_rounded_to_the_side_on_which_they_hold() -> None:
    held = Certificate.from_bounds(1 / 3, 1 / 4, 1e-9, 0.1)
    assert "0.333334 at most" in held.statement and "less than 0.249999," in held.statement
    assert "at most 0.084 (26 % of it) above" in held.statement
    object.__setattr__(held, "as_saved", True)
    assert held.statement.startswith("The model file says, of data that were not looked at again")


def test_a_statement_at_zero_has_no_share() -> None:
    statement = Certificate.from_bounds(0.0, 0.0, 1e-12, 0.1).statement
    assert "%" not in statement and "above the optimum" in statement


@pytest.mark.parametrize(
    "model",
    [ROCSVM(lam=0.1), SAUCSVM(lam=0.1), ROCSVMCV([0.1, 1.0], cv=2), IncompleteROCSVM(lam=0.1)],
    ids=lambda model: type(model).__name__,
)
def test_every_certificate_of_an_estimator_has_one(model) -> None:
    model.fit(X, Y)
    assert model.certificate_.statement.count(". ") == 0
    assert model.certificate_.statement.startswith("Proved on the training rows")


def test_that_of_survival_too() -> None:
    y = np.array(
        list(zip(Y == 1, RNG.exponential(size=30), strict=True)), dtype=[("e", bool), ("t", float)]
    )
    assert "above the optimum" in SurvivalSVM(lam=0.1).fit(X, y).certificate_.statement


def test_a_solution_is_one_short_line() -> None:
    solution = solve(X, Y, 0.1)
    assert repr(solution).startswith("Solution(certified: objective ")
    assert len(repr(solution)) < 160 and "array" not in repr(solution)
    assert "1 weight, no method named" in repr(replace(solution, w=np.ones(1), method=""))
    assert "time_limit" in repr(replace(solution, status=Status.TIME_LIMIT))


def test_a_notebook_shows_a_table_without_anybody_elses_markup() -> None:
    shown = replace(solve(X, Y, 0.1), method="<b>mine</b>")._repr_html_()
    assert shown.startswith("<table>") and shown.count("<tr>") == shown.count("</tr>") == 10
    assert "<b>" not in shown and "&lt;b&gt;" in shown and "Proved on the training rows" in shown
