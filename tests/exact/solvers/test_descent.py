"""The parts of the descent: its functions, curvature, memory, starts, and the hard margin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact.certificate.solution import Recorder, Solver, Status
from aucert.exact.losses.registry import HINGE, SQUARED_HINGE, get_loss
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.pairs.near import bend, curved_margins
from aucert.exact.pairs.ordered_pairs import OrderedPairs
from aucert.exact.problem import subsample
from aucert.exact.problem.problem import Problem, linear_problem
from aucert.exact.solvers.descent import OF_ROWS, Descent, Memory, Run
from aucert.exact.solvers.finish import ActivePairs
from aucert.exact.solvers.hard_margin import RIDGES, marginals, offer_hard_margin
from aucert.exact.solvers.points import KernelPoints, Points
from aucert.exact.spaces.gram import Gram
from aucert.exact.spaces.rows import Rows
from loops import each
from problems import awkward

SMOOTH = ("squared_hinge", "logistic", "smooth_hinge", "exponential")


def dense(problem: Problem) -> np.ndarray:
    space: Any = problem.space
    return space.dense()


@each("kernel", [False, True])
def test_functions_are_vectors_of_the_space(kernel: bool) -> None:
    problem = awkward("plain", 1e-2)
    if kernel:
        problem = problem.over(Gram(dense(problem) @ dense(problem).T))
    points = (KernelPoints if kernel else Points)(problem, Recorder(), 1e-9)
    space, rng = problem.space, np.random.default_rng(3)
    c, e = (v - v.mean() for v in rng.normal(size=(2, problem.n)))
    f = 0.5 * points.pull(c) - 2.0 * points.of(space.pull(e))
    w = 0.5 * space.pull(c) - 2.0 * space.pull(e)
    assert points.weights(f) == pytest.approx(w, abs=1e-12)
    assert points.scores(f) == pytest.approx(space.scores(w), abs=1e-9)
    assert points.inner(f, f) == pytest.approx(space.norm2(w), rel=1e-9)


@each("loss", ["hinge", *SMOOTH])
@each("kind", ["plain", "weights", "pairs", "one positive"])
def test_all_near_pairs_make_the_derivative_of_the_gradient(kind: str, loss: str) -> None:
    problem = awkward(kind, 1e-2, loss)
    w, width = np.array([0.4, -0.2, 0.1, 0.3]), 2.0  # a window of more than a quarter
    space, used = problem.space, width if loss == "hinge" else 0.0
    scores, rng = space.scores(w), np.random.default_rng(0)
    i, j, c = problem.pairs.near(problem.loss, scores, used, 10**6, rng)
    D = dense(problem)[i] - dense(problem)[j]
    H = D.T @ (c[:, None] * D)

    def pull(v: np.ndarray) -> np.ndarray:
        return space.pull(problem.sums(space.scores(v), used).c)

    step = 1e-6 * np.array([1.0, 2.0, -1.0, 0.5])
    assert H @ (2 * step) == pytest.approx(pull(w - step) - pull(w + step), rel=5e-2)
    if (kind, loss) == ("plain", "hinge"):  # those drawn stand for the window
        y = problem.pairs.positive
        inside = np.abs(1 - (scores[y][:, None] - scores[~y][None, :])) < width / 2
        for size in (10**6, 50):
            i, j, c = problem.pairs.near(HINGE, scores, width, size, rng)
            assert i.size == min(size, inside.sum())
            assert c.sum() == pytest.approx(inside.mean() / width)
            assert (np.abs(1 - scores[i] + scores[j]) < width / 2).all()


def test_curved_margins_hold_all_curvature() -> None:
    t = np.linspace(-30, 30, 2001)
    for name in SMOOTH:
        loss = get_loss(name)
        low, high = curved_margins(loss, 0.0)
        outside = t[(t < low) | (t > high)]
        assert bend(loss, outside, 0.0).max(initial=0.0) <= 1e-9  # rounding
    assert curved_margins(SQUARED_HINGE, 0.0)[0] == -np.inf
    assert curved_margins(SQUARED_HINGE, 0.0)[1] == pytest.approx(1.0, abs=2e-3)
    assert curved_margins(HINGE, 0.5) == (0.75, 1.25)


def test_the_two_loops_are_the_inverse_of_bfgs() -> None:
    rng = np.random.default_rng(0)
    A = np.diag([1.0, 3.0, 10.0, 0.5]) + 0.1
    memory = Memory(Points(awkward("plain", 1e-2), Recorder(), 1e-9), 30)
    for factor in (None, np.linalg.cholesky(np.diag([2.0, 1.0, 4.0, 1.0])).T):
        memory.factor, memory.kept = factor, []
        inverse = np.eye(4) if factor is None else np.linalg.inv(factor.T @ factor)
        steps = rng.normal(size=(3, 4))
        for s in steps:
            memory.remember(s, A @ s)
        if factor is None:
            s, y = steps[-1], A @ steps[-1]
            inverse = inverse * (s @ y) / (y @ y)
        for s in steps:
            y, rho = A @ s, 1 / (s @ A @ s)
            left = np.eye(4) - rho * np.outer(s, y)
            inverse = left @ inverse @ left.T + rho * np.outer(s, s)
        g = rng.normal(size=4)
        assert memory.direction(g) == pytest.approx(-inverse @ g, rel=1e-10)
    memory.kept = []
    memory.remember(np.ones(4), -np.ones(4))  # the gradient fell: no curvature
    memory.remember(np.full(4, 1e-170), np.full(4, 1e-170))  # squares that are lost to rounding
    assert not memory.kept


def test_correlated_columns_get_a_hessian_and_few_steps() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 30)) @ np.diag(np.geomspace(1, 1e-3, 30)) @ rng.normal(size=(30, 30))
    y = X[:, 0] + 0.3 * rng.normal(size=3000) > 0
    problem, recorder = linear_problem(X, y, 1e-6), Recorder()
    run = Run(Points(problem, recorder, 1e-3), OF_ROWS, 0)
    assert run.run(np.zeros(30), 4.0) is None
    assert run.memory.factor is not None and recorder.history[-1].n_iter < 150


def test_a_wrong_product_is_caught_by_the_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, right = awkward("plain", 1e-2), Rows.scores
    true, recorder = ActivePairs().solve(problem).certificate, Recorder()
    with monkeypatch.context() as patch:
        patch.setattr(Rows, "scores", lambda self, w: 1.2 * right(self, w))
        Run(Points(problem, recorder, 1e-8), OF_ROWS, 0).run(np.zeros(4), 4.0, max_iter=60)
    found = recorder.finish(problem, 1e-8, None)
    assert found.status is not Status.CERTIFIED
    assert found.certificate.dual <= true.primal and found.certificate.primal >= true.dual


# Many rows start from a part of them.


@pytest.mark.slow
def test_many_rows_start_from_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subsample, "FEWEST", 1000)
    monkeypatch.setattr(subsample, "LEAST_ROWS", 300)
    for kind, loss in (("survival", "hinge"), ("survival", "squared_hinge"), ("plain", "hinge")):
        problem = awkward(kind, 1e-2, loss, n=2000)
        found = Descent(1e-5).solve(problem)
        assert found.status is Status.CERTIFIED and found.n_iter <= 10
    few = awkward("survival", 1e-4, n=60)  # few pairs a coordinate: the last digits by windows
    assert Descent(1e-9).solve(few).status is Status.CERTIFIED
    assert Descent(1e-9, finish=False).solve(few).status is Status.STALLED


@each("groups", [1, 400])
def test_a_part_of_ordered_pairs_has_pairs_of_its_rows(groups: int) -> None:
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
    assert OrderedPairs(None, [0] * 50 + [1]).part(2, np.random.default_rng(0)) is None


def test_a_subsample_keeps_both_classes_in_proportion() -> None:
    problem = awkward("plain", 1e-2, n=20_000)
    part = subsample.subsample(problem, 2000)
    assert part.n == pytest.approx(2000, rel=0.01)
    assert part.n_pos / part.n == pytest.approx(problem.n_pos / problem.n, rel=0.01)
    rare = linear_problem(np.arange(20_000.0)[:, None], np.arange(20_000) % 2000 == 3, 1.0)
    assert subsample.subsample(rare, 2000).n_pos == 10


# The hard margin of few rows in many coordinates


def wide(seed: int, n: int = 60, d: int = 90, lam: float = 1e-4) -> Problem:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, d)), np.arange(n) % 3 == 0
    return linear_problem(X + 0.3 * y[:, None], y, lam)


def offered(problem: Problem) -> Recorder:
    recorder = Recorder()
    offer_hard_margin(problem, recorder)
    return recorder


def test_the_hard_margin_is_the_optimum_where_lam_is_small_and_says_so_where_not() -> None:
    for seed in range(8):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(5, 150))
        problem = wide(seed, n, n + int(rng.integers(0, 50)))
        assert offered(problem).finish(problem, 1e-9, Status.STALLED).status == Status.CERTIFIED
    problem = wide(1, lam=10.0)  # bounds of pairs matter
    found = offered(problem).finish(problem, 1e-9, Status.STALLED)
    assert found.status == Status.STALLED and found.certificate.gap > 1e-3
    assert Descent().solve(problem).status == Status.CERTIFIED
    zero = linear_problem(np.zeros((4, 9)), [0, 1, 0, 1], 1.0)
    for other in (wide(0, 60, 20), zero, awkward("plain", 1e-2)):
        assert offered(other).best_w is None


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
    for seed in range(3):  # more rows than coordinates: equal margins of all rows no w can have
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(120, 80))
        y = X @ rng.normal(size=80) > 0.3
        X -= X.mean(axis=0)
        found = marginals(X @ X.T, y, RIDGES)
        assert found is not None and (found >= 0).all()
        margins = X @ (X.T @ np.where(y, found, -found))
        assert margins[y].min() - margins[~y].max() == pytest.approx(1.0, abs=1e-6)
        assert Descent().solve(linear_problem(X, y, 1e-7)).status is Status.CERTIFIED, seed


@each("kind", ["weights", "zero weight", "sparse", "text", "duplicates"])
def test_other_forms_of_rows_are_right_or_left_alone(kind: str) -> None:
    problem, weight = wide(4), np.random.default_rng(4).uniform(0.5, 2, 60)
    X, y = dense(problem), problem.pairs.positive
    if kind == "zero weight":
        weight[:10] = 0
    pairs = AllPairs(weight if "weight" in kind else None)
    rows = sp.csr_matrix(X) if kind == "sparse" else X
    if kind == "text":  # dense, 20 MB; text has a thousand times as many rows
        rows = sp.random(60, 50_000, 1e-3, format="csr", random_state=0)
    if kind == "duplicates":
        rows, y = np.concatenate([X[:30], X[:30]]), np.concatenate([y[:30], y[:30]])
    found = linear_problem(rows, y, 1e-4, pairs=pairs)
    recorder = offered(found)
    assert recorder.near(1e-9) or (kind == "duplicates" and recorder.best_w is None)
    assert Descent().solve(found).status == Status.CERTIFIED


def test_weighted_rows_are_certified_though_a_narrow_ramp_rounds(monkeypatch) -> None:
    rng = np.random.default_rng(15)
    X, y = np.round(rng.normal(size=(4300, 1))), rng.random(4300) < 0.1
    pairs = AllPairs(rng.integers(1, 9, 4300).astype(float))
    problem = linear_problem(X, y, 0.08, pairs=pairs)
    assert Descent().solve(problem).status == Status.CERTIFIED
    monkeypatch.setattr(Descent, "conclude", Solver.conclude)
    assert Descent().solve(problem).status == Status.STALLED
