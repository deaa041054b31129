"""Newton's method over ordered pairs: certified, and at the same optimum as the general solver."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from aucert.exact.certificate.solution import Status
from aucert.exact.errors import InputError
from aucert.exact.losses.registry import HINGE, SQUARE, SQUARED_HINGE
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.pairs.ordered.kinds import group_auc_pairs, query_pairs, survival_pairs
from aucert.exact.pairs.ordered.ordered_pairs import OrderedPairs
from aucert.exact.problem.penalties.ridge import Ridge
from aucert.exact.problem.problem import Problem
from aucert.exact.problem.risk import Mean
from aucert.exact.solvers.choose import choose_solver
from aucert.exact.solvers.general import pair_newton
from aucert.exact.solvers.general.pair_newton import PairNewton
from aucert.exact.solvers.general.proximal import Proximal
from aucert.exact.spaces.rows import Rows
from loops import each

OURS = (HINGE, SQUARED_HINGE, SQUARE)


def some_rows(n: int, dim: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, times and events."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, dim))
    time = rng.exponential(size=n) * np.exp(-X @ np.linspace(0, 1, dim))
    return X, np.round(time, 3), rng.random(n) < 0.6


@each("loss", OURS, ids=lambda loss: loss.name)
def test_survival_is_certified(loss) -> None:
    X, time, event = some_rows(3000)
    problem = Problem(Rows(X), Mean(survival_pairs(time, event), loss), Ridge(1e-3))
    solution = PairNewton(1e-6).solve(problem)
    assert solution.status is Status.CERTIFIED
    other = Proximal(1e-6).solve(problem)
    assert solution.certificate.dual <= other.certificate.primal
    assert other.certificate.dual <= solution.certificate.primal
    chosen = choose_solver(problem, "auto", 1e-6, None)
    assert isinstance(chosen, PairNewton)


@each("kind", ["queries", "gains", "mean over groups"])
def test_groups_are_certified(kind: str) -> None:
    rng = np.random.default_rng(1)
    n = 4000
    X, qid = rng.normal(size=(n, 3)), rng.integers(0, 300, n)
    grade = np.clip(np.rint(X @ [1, 0.5, 0] + rng.normal(size=n)), 0, 4)
    if kind == "mean over groups":
        pairs = group_auc_pairs(qid, grade > 0)
    else:
        pairs = query_pairs(qid, grade, gain=kind == "gains")
    problem = Problem(Rows(X), Mean(pairs, HINGE), Ridge(1e-2))
    assert PairNewton(1e-6).solve(problem).status is Status.CERTIFIED


def test_many_rows_start_from_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair_newton, "LARGE", 2000)
    X, time, event = some_rows(6000, 2)
    problem = Problem(Rows(X), Mean(survival_pairs(time, event), HINGE), Ridge(1e-2))
    solution = PairNewton(1e-5).solve(problem)
    assert solution.status is Status.CERTIFIED and solution.n_iter <= 8


@each("groups", [1, 400])
def test_a_part_of_the_pairs_are_pairs_of_its_rows(groups: int) -> None:
    rng = np.random.default_rng(2)
    group, key = rng.integers(0, groups, 4000), rng.integers(0, 5, 4000)
    pairs = OrderedPairs(group, key, key % 3, 1 + key % 2, share="equal" if groups > 1 else None)
    found = pairs.part(400, rng)
    assert found is not None
    rows, part = found
    assert 200 < rows.size == part.n < 600
    i, j = part.draw(500, rng)
    i, j = rows[i], rows[j]
    assert (group[i] == group[j]).all() and (key[i] > key[j]).all() and (key[i] % 3 > 0).all()
    alone = OrderedPairs(None, [0] * 50 + [1]).part(2, np.random.default_rng(0))
    assert alone is None


def test_time_runs_out_with_a_valid_gap() -> None:
    X, time, event = some_rows(2000)
    problem = Problem(Rows(X), Mean(survival_pairs(time, event), HINGE), Ridge(1e-4))
    solution = PairNewton(1e-12, max_time=1e-3).solve(problem)
    assert solution.status is Status.TIME_LIMIT and np.isfinite(solution.certificate.gap)


def test_problems_of_another_kind_are_refused() -> None:
    X, time, event = some_rows(50)
    risk = Mean(AllPairs().on(event), HINGE)
    with pytest.raises(InputError, match="drawn"):
        PairNewton().solve(Problem(Rows(X), risk, Ridge(1.0)))
    wide = Problem(Rows(np.ones((50, 5001))), Mean(survival_pairs(time, event), HINGE), Ridge(1.0))
    with pytest.raises(InputError, match="proximal"):
        PairNewton().solve(wide)


@pytest.mark.slow
@each("loss", [HINGE, SQUARED_HINGE], ids=lambda loss: loss.name)
def test_two_hundred_thousand_rows_take_a_few_steps(loss) -> None:
    X, time, event = some_rows(200_000, 10)
    problem = Problem(Rows(X), Mean(survival_pairs(time, event), loss), Ridge(1e-3))
    solution = PairNewton(1e-6).solve(problem)
    assert solution.status is Status.CERTIFIED and solution.n_iter <= 10


@pytest.mark.slow
@each("tol", [1e-3, 1e-5, 1e-9])
def test_steps_on_a_coarse_grid_reach_the_same_optimum(tol: float, monkeypatch) -> None:
    X, time, event = some_rows(4000)
    problem = Problem(Rows(X), Mean(survival_pairs(time, event), HINGE), Ridge(1e-3))
    plain = PairNewton(tol).solve(problem)
    monkeypatch.setattr(pair_newton, "LARGE", 2000)
    monkeypatch.setattr(PairNewton, "_of_part", lambda *_: None)
    assert pair_newton.in_bins(problem).pairs.form == "binned"
    found = PairNewton(tol).solve(problem)
    assert plain.status is found.status is Status.CERTIFIED
    for one, other in ((plain, found), (found, plain)):
        bound = one.certificate.dual
        assert bound <= other.certificate.primal


def test_where_a_coarse_grid_leads_nowhere_the_finest_one_is_taken(monkeypatch) -> None:
    X, time, event = some_rows(3000)
    problem = Problem(Rows(X), Mean(survival_pairs(time, event), HINGE), Ridge(1e-3))
    monkeypatch.setattr(pair_newton, "LARGE", 2000)
    monkeypatch.setattr(PairNewton, "_of_part", lambda *_: None)
    forms, newton = [], PairNewton._newton

    def stalled_in_bins(self, problem, recorder, w):
        forms.append(problem.pairs.form)
        reason = newton(replace(self, max_iter=1), problem, recorder, w)
        return newton(self, problem, recorder, w) if len(forms) > 1 else reason and Status.STALLED

    monkeypatch.setattr(PairNewton, "_newton", stalled_in_bins)
    assert PairNewton(1e-6).solve(problem).status is Status.CERTIFIED
    assert forms == ["binned", "auto"]
