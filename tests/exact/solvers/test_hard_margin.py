"""The hard-margin point of few rows in many coordinates, and the polish where rounding is left."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact.certificate.solution import Recorder, Solver, Status
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.problem.problem import Problem, linear_problem
from aucert.exact.solvers.descent import Descent
from aucert.exact.solvers.hard_margin import marginals, offer_hard_margin
from loops import each, seeds


def wide(seed: int, n: int = 60, d: int = 90, lam: float = 1e-4, **given: object) -> Problem:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, d)), np.arange(n) % 3 == 0
    return linear_problem(X + 0.3 * y[:, None], y, lam, **given)  # type: ignore[arg-type]


def offered(problem: Problem) -> Recorder:
    recorder = Recorder()
    offer_hard_margin(problem, recorder)
    return recorder


@each("seed", seeds(8))
def test_the_hard_margin_point_is_the_optimum_where_lam_is_small(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 150))
    problem = wide(seed, n, n + int(rng.integers(0, 50)))
    solution = offered(problem).finish(problem, 1e-9, Status.STALLED)
    assert solution.status == Status.CERTIFIED


def test_every_condition_of_optimality_holds() -> None:
    rng = np.random.default_rng(2)
    X, positive = rng.normal(size=(80, 81)), np.arange(80) % 4 == 0
    c = marginals(X @ X.T, positive)
    assert c is not None and (c >= 0).all()
    sign = np.where(positive, 1.0, -1.0)
    assert sign @ c == pytest.approx(0, abs=1e-14)
    scores = X @ (X.T @ (sign * c))
    t = scores[~positive & (c > 0)].mean()
    slack = np.where(positive, scores - t - 1, t - scores)
    assert slack.min() >= -1e-10
    assert np.abs(slack[c > 0]).max() <= 1e-10
    assert 0 < (c > 0).sum() < 80


@each("kind", ["weights", "zero weight", "sparse", "text", "duplicates"])
def test_other_forms_of_rows_are_right_or_left_alone(kind: str) -> None:
    rng = np.random.default_rng(4)
    problem = wide(4)
    X, y, weight = problem.space.dense(), problem.pairs.positive, rng.uniform(0.5, 2, 60)  # type: ignore
    if kind == "zero weight":
        weight[:10] = 0
    pairs = AllPairs(weight if "weight" in kind else None)
    rows = sp.csr_matrix(X) if kind == "sparse" else X
    if kind == "text":  # dense, 20 MB; text has a thousand times as many rows
        rows = sp.random(60, 50_000, 1e-3, format="csr", random_state=0)
    if kind == "duplicates":
        rows = np.concatenate([X[:30], X[:30]])
        y = np.concatenate([y[:30], y[:30]])
    found = linear_problem(rows, y, 1e-4, pairs=pairs)
    recorder = offered(found)
    assert recorder.near(1e-9) or (kind == "duplicates" and recorder.best_w is None)
    assert Descent().solve(found).status == Status.CERTIFIED


def test_nothing_is_offered_for_many_rows_or_constant_ones() -> None:
    assert offered(wide(0, 60, 20)).best_w is None
    zero = linear_problem(np.zeros((4, 9)), [0, 1, 0, 1], 1.0)
    assert offered(zero).best_w is None


def test_where_bounds_of_pairs_matter_the_certificate_says_so() -> None:
    problem = wide(1, lam=10.0)
    solution = offered(problem).finish(problem, 1e-9, Status.STALLED)
    assert solution.status == Status.STALLED and solution.certificate.gap > 1e-3
    assert Descent().solve(problem).status == Status.CERTIFIED


def test_weighted_rows_are_certified_though_a_narrow_ramp_rounds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(15)
    X, y = np.round(rng.normal(size=(4300, 1))), rng.random(4300) < 0.1
    pairs = AllPairs(rng.integers(1, 9, 4300).astype(float))
    problem = linear_problem(X, y, 0.08, pairs=pairs)
    assert Descent().solve(problem).status == Status.CERTIFIED
    monkeypatch.setattr(Descent, "conclude", Solver.conclude)
    assert Descent().solve(problem).status == Status.STALLED
