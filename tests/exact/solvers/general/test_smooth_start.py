"""Newton steps from a part of the rows: at the optimum of L-BFGS, in fewer evaluations."""

from __future__ import annotations

import numpy as np
import pytest

from aucert.exact.certificate.solution import Status
from aucert.exact.losses.registry import LOGISTIC
from aucert.exact.losses.smooth_hinge import SmoothHinge
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.problem.penalties.ridge import Ridge
from aucert.exact.problem.problem import Problem
from aucert.exact.problem.risk import Mean
from aucert.exact.solvers.general import smooth_start
from aucert.exact.solvers.general.proximal import Proximal
from aucert.exact.spaces.rows import Rows
from loops import each


def some_problem(loss, weights: bool = False, n: int = 4000) -> Problem:
    rng = np.random.default_rng(2)
    positive = rng.random(n) < 0.3
    X = rng.normal(size=(n, 5)) + positive[:, None] * np.linspace(0.8, 0.0, 5)
    pairs = AllPairs(rng.integers(0, 3, n).astype(float) if weights else None).on(positive)
    return Problem(Rows(X), Mean(pairs, loss), Ridge(1e-3))


def with_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, rows in (("LARGE", 1000), ("LEAST", 500), ("ROWS_A_COORDINATE", 10)):
        monkeypatch.setattr(smooth_start, name, rows)


@each("weights", [False, True])
@each("loss", [LOGISTIC, SmoothHinge(0.5)], ids=repr)
def test_the_optimum_is_that_of_a_start_from_nothing(loss, weights: bool, monkeypatch) -> None:
    problem = some_problem(loss, weights)
    plain = Proximal(1e-7).solve(problem)
    assert smooth_start.part_of(problem) is None
    with_a_part(monkeypatch)
    part = smooth_start.part_of(problem)
    assert part is not None and part.n < problem.n / 4
    found = Proximal(1e-7).solve(problem)
    assert plain.status is found.status is Status.CERTIFIED
    assert found.n_iter < plain.n_iter
    for one, other in ((plain, found), (found, plain)):
        bound = one.certificate.dual
        assert bound <= other.certificate.primal


def test_a_misleading_part_costs_steps_and_no_proof(monkeypatch) -> None:
    problem = some_problem(LOGISTIC)
    with_a_part(monkeypatch)
    monkeypatch.setattr(Proximal, "_of_part", lambda self, part, recorder: -5.0 * np.ones(5))
    assert Proximal(1e-7).solve(problem).status is Status.CERTIFIED
