"""The plain form is kept where it proves what was asked for."""

from __future__ import annotations

import numpy as np
import pytest

from aucert.exact import AllPairs, Certificate, Mean, Minorant, Problem, Ridge, Rows, solve
from aucert.exact.certificate import certificate as two_sides
from aucert.exact.losses.registry import Logistic
from aucert.exact.tools.rounding import Bound

RNG = np.random.default_rng(0)
Y = RNG.random(400) < 0.4
X = RNG.normal(size=(400, 3)) + 0.8 * Y[:, None]
LAM = 1e-3


@pytest.fixture
def problem(monkeypatch: pytest.MonkeyPatch) -> Problem:
    for module in (two_sides, __import__("aucert.exact.problem.risk", fromlist=["risk"])):
        monkeypatch.setattr(module, "LONG_ROWS", 100)
    return Problem(Rows(X), Mean(AllPairs().on(Y), Logistic()), Ridge(LAM))


def test_the_long_format_is_taken_where_the_plain_one_does_not_prove_enough(
    problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []
    right = two_sides.careful_primal

    def counted(*args: object) -> Bound:
        calls.append(1)
        return right(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(two_sides, "careful_primal", counted)
    w = solve(X, Y, LAM, loss="logistic", tol=1e-13).w
    calls.clear()
    witness = Minorant.from_scores(problem, problem.space.scores(w))
    careful = Certificate.of(problem, w, witness)
    assert len(calls) == 1
    plain = Certificate.of(problem, w, witness, 1e-10)
    assert len(calls) == 1 and plain.reaches(1e-10)
    assert plain.dual <= careful.primal and careful.dual <= plain.primal
    assert plain.rounding > careful.gap / 2  # or it would have been taken without a tolerance
    tight = plain.gap
    again = Certificate.of(problem, w, witness, 1.05 * tight / plain.primal)
    assert len(calls) == 2 and again == careful  # too near to what was asked for
