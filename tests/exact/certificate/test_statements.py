"""Words for people: a certificate's statement, a solution's line and its table in a notebook."""

from __future__ import annotations

import inspect
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin

from aucert import approx, exact
from aucert.exact import Certificate, SurvivalSVM, solve
from aucert.exact.tools.rounding import Bound
from loops import each

RNG = np.random.default_rng(5)
X = RNG.normal(size=(30, 3))
Y = (X[:, 0] + RNG.normal(size=30) > 0).astype(int)
SURVIVAL = np.array(
    list(zip(Y == 1, RNG.exponential(size=30), strict=True)), dtype=[("e", bool), ("t", float)]
)

PUBLIC = (getattr(part, name) for part in (exact, approx) for name in part.__all__)
ESTIMATORS = sorted(
    {
        kind
        for kind in PUBLIC
        if inspect.isclass(kind)
        and issubclass(kind, BaseEstimator)
        and not issubclass(kind, TransformerMixin)  # `Nystrom` minimises nothing
    },
    key=lambda kind: kind.__name__,
)


def test_a_statement_has_bounds_rounded_to_the_side_on_which_they_hold() -> None:
    held = Certificate.from_bounds(Bound(1 / 3, 1e-9), Bound(1 / 4, 0.0), 0.1)
    assert "0.333334 at most" in held.statement and "less than 0.25," in held.statement
    assert "at most 0.084 (26 % of it) above" in held.statement
    object.__setattr__(held, "as_saved", True)
    assert held.statement.startswith("The model file says, of data that were not looked at again")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@each("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_every_public_estimator_states_what_is_proved(kind: type) -> None:
    given = {"lams": [0.1, 1.0], "cv": 2, "k": 2, "n_landmarks": 10, "max_epochs": 20, "lam": 0.1}
    known = inspect.signature(kind).parameters
    model = kind(**{name: value for name, value in given.items() if name in known})
    y = SURVIVAL if kind is SurvivalSVM else Y
    statement = model.fit(X, y).certificate_.statement
    assert statement.count(". ") == 0 and statement.endswith("above the optimum.")
    assert statement.startswith("Proved on the training rows")


def test_a_notebook_shows_a_table_without_anybody_elses_markup() -> None:
    shown = replace(solve(X, Y, 0.1), method="<b>mine</b>")._repr_html_()
    assert shown.startswith("<table>") and shown.count("<tr>") == shown.count("</tr>") == 10
    assert "<b>" not in shown and "&lt;b&gt;" in shown and "Proved on the training rows" in shown


def test_broken_constraints_prove_nothing_of_the_distance() -> None:
    broken = Certificate.from_bounds(
        Bound(np.inf, 0.0), Bound(0.25, 0.0), 0.0, "something in a ball"
    )
    assert broken.relative_gap is None and not broken.reaches(1.0)
    assert "no model of this problem has less than 0.25" in broken.statement
    assert "at most inf above" in broken.statement
