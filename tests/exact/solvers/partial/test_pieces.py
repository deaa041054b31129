"""The pieces of partial AUC: their sums, and small hard problems solved to the last digits."""

from __future__ import annotations

import numpy as np
import pytest

from aucert.exact.certificate.certificate import dual_value
from aucert.exact.certificate.solution import Recorder, Status
from aucert.exact.losses.registry import get_loss
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.problem.minorant import Minorant
from aucert.exact.problem.penalties.ridge import Ridge
from aucert.exact.problem.problem import Problem
from aucert.exact.problem.rates import tail_risk
from aucert.exact.solvers.partial import tail_newton
from aucert.exact.solvers.partial.pieces import Pieces, mix_pieces
from aucert.exact.solvers.partial.tail_newton import TailNewton
from aucert.exact.spaces.rows import Rows
from loops import each

SMOOTH = ["squared_hinge", "logistic", "exponential"]

HARD = [
    ("squared_hinge", 0.1, 0.0, 14, 6),
    ("squared_hinge", 0.5, 0.6, 59, 7),
    ("logistic", 0.1, 0.0, 48, 3),
    ("squared_hinge", 0.1, 0.3, 74, 7),
    ("exponential", 0.4, 0.0, 40, 4),
]
"""Loss, rates, rows and features of problems at which smoothing stalls."""


def hard(case: int) -> Problem:
    """Return a problem whose features are of very unequal size."""
    loss, fpr, tpr, n, p = HARD[case]
    rng = np.random.default_rng([9, case])
    positive = np.arange(n) % 2 == 0
    X = (rng.normal(size=(n, p)) + positive[:, None]) * 10.0 ** rng.uniform(-3, 3, size=p)
    return Problem(
        Rows(X), tail_risk(AllPairs().on(positive), get_loss(loss), fpr, tpr), Ridge(1e-4)
    )


@each("case", range(len(HARD)))
def test_small_hard_problems_are_solved(case: int, monkeypatch) -> None:
    problem = hard(case)
    found = TailNewton(1e-7).solve(problem)
    assert found.status is Status.CERTIFIED and found.n_iter < 200
    monkeypatch.setattr(tail_newton, "FEW", 0)
    by_planes = TailNewton(1e-3, max_iter=60).solve(problem).certificate
    assert by_planes.dual <= found.certificate.primal
    assert found.certificate.dual <= by_planes.primal


@each("loss", SMOOTH)
def test_a_piece_at_its_own_point_is_the_risk(loss: str) -> None:
    rng = np.random.default_rng(4)
    positive = np.arange(15) % 3 == 0
    risk = tail_risk(AllPairs().on(positive), get_loss(loss), 0.37, 0.2)
    problem, w = Problem(Rows(rng.normal(size=(15, 3))), risk, Ridge(0.1)), rng.normal(size=3)
    scores, pieces = problem.space.scores(w), Pieces(problem)
    assert pieces.add(scores) and not pieces.add(scores)
    assert pieces.add(-scores) and pieces.weights.shape == (2, 15)
    pieces.shares = np.array([1.0, 0.0])
    values, pulls, H = pieces.at(w, scores)
    sums = problem.sums(scores)
    assert values[0] == pytest.approx(sums.value, rel=1e-12) and values[1] < values[0]
    assert np.allclose(pulls[0], problem.space.pull(sums.c), rtol=1e-10, atol=1e-12)
    step = 1e-4
    for k in range(3):
        ahead, behind = w.copy(), w.copy()
        ahead[k], behind[k] = w[k] + step, w[k] - step
        slopes = [pieces.at(v, problem.space.scores(v))[1][0] for v in (behind, ahead)]
        bend = (slopes[0] - slopes[1]) / (2 * step) + 0.1 * np.eye(3)[k]
        assert np.allclose(H[k], bend, rtol=0.02, atol=0.02 * np.abs(H).max())


def test_a_mixture_of_pieces_names_their_rows_where_scores_tie() -> None:
    """At w = 0 all scores tie: the pushed scores must say which rows each piece has."""
    positive, X = np.arange(40) % 2 == 0, np.random.default_rng(2).normal(size=(40, 2))
    risk = tail_risk(AllPairs().on(positive), get_loss("squared_hinge"), 0.2)
    problem = Problem(Rows(X), risk, Ridge(1e-3))
    w, recorder = np.zeros(problem.space.dim), Recorder()
    recorder.offer(w, problem.objective(w))
    mix_pieces(problem, recorder, 1e-9)
    assert isinstance(recorder.best_witness, Minorant)
    dual, rounding = dual_value(problem, recorder.best_witness)
    assert 1 - 1e-8 <= dual - rounding and dual <= 1 + rounding
