"""The descent: certified over every loss, set of pairs and place of rows that it is for."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact.certificate.solution import Recorder, Solution, Status, Step
from aucert.exact.errors import InputError
from aucert.exact.losses.registry import HINGE, SQUARED_HINGE, get_loss
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.pairs.kinds import group_auc_pairs, query_pairs, survival_pairs
from aucert.exact.pairs.near import bend, curved_margins
from aucert.exact.pairs.ordered_pairs import OrderedPairs
from aucert.exact.problem import subsample
from aucert.exact.problem.penalties import Ridge
from aucert.exact.problem.problem import Problem, linear_problem
from aucert.exact.problem.risk import Mean
from aucert.exact.solvers.choose import choose_solver
from aucert.exact.solvers.cutting_plane import CuttingPlane
from aucert.exact.solvers.descent import OF_ROWS, Descent, Memory, Run
from aucert.exact.solvers.finish import ActivePairs
from aucert.exact.solvers.hard_margin import RIDGES, marginals, offer_hard_margin
from aucert.exact.solvers.points import KernelPoints, Points
from aucert.exact.solvers.proximal import Proximal
from aucert.exact.spaces.gram import Gram
from aucert.exact.spaces.rows import Rows
from loops import each

SMOOTH = ("squared_hinge", "logistic", "smooth_hinge", "exponential")
KINDS = (
    "plain",
    "ties",
    "constant",
    "duplicates",
    "one positive",
    "sparse",
    "weights",
    "separable",
    "pairs",
    "wide",
    "correlated",
    "heavy tails",
)


def awkward(kind: str, lam: float, loss: str = "hinge", seed: int = 3) -> Problem:
    """A small problem with one difficulty."""
    rng = np.random.default_rng(seed)
    n, d = (40, 90) if kind == "wide" else (200, 4)
    X, y = rng.normal(size=(n, d)), rng.random(n) < 0.4
    pairs = None
    if kind == "ties":
        X = np.rint(2 * X)
    if kind == "constant":
        X[:, 1] = 7.0
    if kind == "duplicates":
        X[100:] = X[:100]
    if kind == "one positive":
        y = np.arange(n) == 5
    if kind == "separable":
        y = X[:, 0] > 0.2
    if kind == "correlated":
        X = X + 30 * X[:, :1]
    if kind == "heavy tails":
        X = X * rng.standard_cauchy(size=(n, 1))
    y[:2] = True, False
    if kind == "weights":
        pairs = AllPairs(rng.integers(0, 4, n) + (np.arange(n) < 2))
    if kind == "pairs":
        i, j = rng.choice(np.flatnonzero(y), 300), rng.choice(np.flatnonzero(~y), 300)
        pairs = PairList(i, j, rng.uniform(0.5, 2, 300))
    rows = sp.csr_matrix(X) if kind == "sparse" else X
    return linear_problem(rows, y, lam, loss, pairs)


def dense(problem: Problem) -> np.ndarray:
    assert isinstance(problem.space, Rows)
    return problem.space.dense()


def meet(*found: Solution) -> None:
    """Intervals of one optimum overlap, rounding included."""
    ends = [(one.certificate, one.certificate.rounding) for one in found]
    least = max(one.dual - rounding for one, rounding in ends)
    assert least <= min(one.primal + rounding for one, rounding in ends)


@each("kind", KINDS)
def test_the_hinge_is_certified_where_cutting_planes_end(kind: str) -> None:
    for lam in (1.0, 1e-3):
        problem = awkward(kind, lam)
        found = Descent().solve(problem)
        assert found.status is Status.CERTIFIED, (kind, lam)
        meet(found, CuttingPlane(1e-8).solve(problem))


@pytest.mark.slow
@each("loss", SMOOTH)
def test_smooth_losses_are_certified_where_the_proximal_method_ends(loss: str) -> None:
    for kind in ("plain", "ties", "one positive", "sparse", "weights", "pairs", "correlated"):
        problem = awkward(kind, 1e-2, loss)
        found = Descent(1e-8).solve(problem)
        assert found.status is Status.CERTIFIED, kind
        meet(found, Proximal(1e-5, max_iter=3000).solve(problem))


def ordered(kind: str, n: int = 400, dim: int = 4) -> tuple[np.ndarray, OrderedPairs]:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, dim))
    if kind == "survival":
        time = np.round(rng.exponential(size=n) * np.exp(-X @ np.linspace(0, 1, dim)), 3)
        return X, survival_pairs(time, rng.random(n) < 0.6)
    qid = rng.integers(0, n // 13, n)
    grade = np.clip(np.rint(X @ np.linspace(1, 0, dim) + rng.normal(size=n)), 0, 4)
    if kind == "mean over groups":
        return X, group_auc_pairs(qid, grade > 0)
    return X, query_pairs(qid, grade, gain=kind == "gains")


@each("kind", ["survival", "queries", "gains", "mean over groups"])
def test_ordered_pairs_are_certified(kind: str) -> None:
    X, pairs = ordered(kind)
    for loss in ("hinge", "squared_hinge", "square"):
        problem = Problem(Rows(X), Mean(pairs, get_loss(loss)), Ridge(1e-3))
        found = choose_solver(problem, "auto", 1e-6, None).solve(problem)
        assert (found.method, found.status) == ("descent", Status.CERTIFIED), loss
        meet(found, Proximal(1e-4).solve(problem))


def test_few_ordered_pairs_a_coordinate_reach_the_last_digits() -> None:
    X, pairs = ordered("survival", 150, 20)
    problem = Problem(Rows(X), Mean(pairs, HINGE), Ridge(1e-4))
    assert Descent(1e-9).solve(problem).status is Status.CERTIFIED
    assert Descent(1e-9, finish=False).solve(problem).status is Status.STALLED


def test_many_rows_start_from_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subsample, "FEWEST", 2000)
    monkeypatch.setattr(subsample, "LEAST_ROWS", 500)
    X, pairs = ordered("survival", 4000)
    y = X[:, 0] + np.random.default_rng(0).normal(size=4000) > 0.3
    for risk in (Mean(pairs, HINGE), Mean(pairs, SQUARED_HINGE), Mean(AllPairs().on(y), HINGE)):
        problem = Problem(Rows(X), risk, Ridge(1e-2))
        found = Descent(1e-5).solve(problem)
        assert found.status is Status.CERTIFIED and found.n_iter <= 8


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


@each("loss", ["hinge", "squared_hinge"])
def test_a_kernel_has_the_optimum_of_its_features(loss: str) -> None:
    problem = awkward("plain", 1e-2, loss)
    X = dense(problem)
    found = Descent(1e-8).solve(problem.over(Gram(X @ X.T)))
    assert found.status is Status.CERTIFIED
    meet(found, Descent(1e-8).solve(problem))


@each("kernel", [False, True])
def test_functions_are_vectors_of_the_space(kernel: bool) -> None:
    problem = awkward("plain", 1e-2)
    if kernel:
        X = dense(problem)
        problem = problem.over(Gram(X @ X.T))
        points = KernelPoints(problem, Recorder(), 1e-9)
    else:
        points = Points(problem, Recorder(), 1e-9)
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
    space, pairs = problem.space, problem.pairs
    used = width if loss == "hinge" else 0.0
    i, j, c = pairs.near(problem.loss, space.scores(w), used, 10**6, np.random.default_rng(0))
    X = dense(problem)
    D = X[i] - X[j]
    H = D.T @ (c[:, None] * D)

    def pull(v: np.ndarray) -> np.ndarray:
        return space.pull(problem.sums(space.scores(v), used).c)

    step = 1e-6 * np.array([1.0, 2.0, -1.0, 0.5])
    assert H @ (2 * step) == pytest.approx(pull(w - step) - pull(w + step), rel=5e-2)


def test_drawn_pairs_stand_for_the_window() -> None:
    rng = np.random.default_rng(0)
    problem = awkward("plain", 1e-2)
    scores = problem.space.scores(np.array([1.0, 0.5, 0.2, -0.4]))
    positive = problem.pairs.positive
    inside = np.abs(1 - (scores[positive][:, None] - scores[~positive][None, :])) < 1.0
    for size in (10**6, 50):
        i, j, c = problem.pairs.near(HINGE, scores, 2.0, size, rng)
        assert i.size == min(size, inside.sum())
        assert c.sum() == pytest.approx(inside.mean() / 2.0)
        assert (np.abs(1 - scores[i] + scores[j]) < 1.0).all()


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
    true = ActivePairs().solve(problem)
    recorder = Recorder()
    with monkeypatch.context() as patch:
        patch.setattr(Rows, "scores", lambda self, w: 1.2 * right(self, w))
        Run(Points(problem, recorder, 1e-8), OF_ROWS, 0).run(np.zeros(4), 4.0, max_iter=60)
    found = recorder.finish(problem, 1e-8, None)
    assert found.status is not Status.CERTIFIED
    meet(found, true)


def test_separable_rows_end_at_their_hard_margin() -> None:
    """More rows than coordinates: equal margins of all rows is what no w can have."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        n, d = 120, 80
        X = rng.normal(size=(n, d))
        y = X @ rng.normal(size=d) > 0.3
        X -= X.mean(axis=0)
        found = marginals(X @ X.T, y, RIDGES)
        assert found is not None and (found >= 0).all()
        margins = X @ (X.T @ np.where(y, found, -found))
        assert margins[y].min() - margins[~y].max() == pytest.approx(1.0, abs=1e-6)
        assert Descent().solve(linear_problem(X, y, 1e-7)).status is Status.CERTIFIED, seed


def test_no_hard_margin_is_tried_unasked() -> None:
    problem, recorder = awkward("plain", 1e-2), Recorder()
    offer_hard_margin(problem, recorder)
    assert recorder.best_w is None


def test_starts_limits_and_interrupts_leave_a_true_interval() -> None:
    problem = awkward("plain", 1e-2)
    whole = Descent(1e-6).solve(problem)
    warm = Descent(1e-6).solve(problem, w0=whole.w)
    assert warm.status is Status.CERTIFIED and warm.n_iter < whole.n_iter
    timed = Descent(1e-12, max_time=1e-9).solve(problem)
    short = Descent(1e-12, max_iter=1, finish=False).solve(problem)
    assert (timed.status, short.status) == (Status.TIME_LIMIT, Status.ITERATION_LIMIT)

    def stop(step: Step) -> None:
        if step.n_iter == 3:
            raise KeyboardInterrupt

    stopped = Descent(1e-12).solve(problem, callback=stop)
    assert stopped.status is Status.INTERRUPTED and stopped.n_iter == 3
    meet(whole, warm, timed, short, stopped)


def test_problems_of_another_kind_are_refused() -> None:
    X, pairs = ordered("survival", 50)
    with pytest.raises(InputError, match="method"):
        problem = Problem(Rows(X), Mean(pairs, HINGE), Ridge(1.0))
        choose_solver(problem, "pair-newton", 1e-6, None)
    other = awkward("plain", 1.0)
    with pytest.raises(InputError, match="smooths"):
        Descent().solve(Problem(other.space, Mean(other.pairs, _Absolute()), Ridge(1.0)))


class _Absolute:
    """A loss with a kink that is not the hinge's: max(0, -t)."""

    name, lipschitz, smoothness, nonincreasing = "perceptron", 1.0, np.inf, True

    def value(self, t: np.ndarray) -> np.ndarray:
        return np.maximum(0.0, -t)

    def alpha(self, t: np.ndarray, width: float = 0.0) -> np.ndarray:
        return np.clip(0.5 - t / width, 0, 1) if width else (t < 0).astype(float)

    def dual(self, alpha: np.ndarray) -> np.ndarray:
        return np.zeros_like(alpha)

    def clip(self, alpha: np.ndarray) -> np.ndarray:
        return np.clip(alpha, 0, 1)


def some_problem(seed: int, n: int = 300, d: int = 4, lam: float = 1e-2) -> Problem:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, d)), rng.random(n) < 0.3
    y[:2] = True, False
    return linear_problem(X + y[:, None] * rng.normal(size=d), y, lam)


def test_a_subsample_keeps_both_classes_in_proportion() -> None:
    problem = some_problem(7, 20_000, 2)
    part = subsample.subsample(problem, 2000)
    assert part.n == pytest.approx(2000, rel=0.01)
    assert part.n_pos / part.n == pytest.approx(problem.n_pos / problem.n, rel=0.01)
    rare = linear_problem(np.arange(20_000.0)[:, None], np.arange(20_000) % 2000 == 3, 1.0)
    assert subsample.subsample(rare, 2000).n_pos == 10


def test_a_looser_tolerance_takes_no_more_steps() -> None:
    """At a small lam the slopes of coarse bins are too rough for any dual point."""
    problem = some_problem(5, 4000, 20, 1e-4)
    steps = [Descent(tol=tol).solve(problem).n_iter for tol in (1e-3, 1e-9)]
    assert steps[0] <= steps[1]
