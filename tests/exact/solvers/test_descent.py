"""Every route ends at one optimum: parts of solvers, limits, interrupts, starts, and refusals."""

from __future__ import annotations

import itertools
import signal
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from cvxpy.reductions.solvers import defines
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

import aucert.exact as ac
from aucert.exact import solve
from aucert.exact.api import path as path_module
from aucert.exact.api import solve as solve_module
from aucert.exact.certificate.solution import Recorder, Solver, Status
from aucert.exact.errors import OverflowingError
from aucert.exact.formulation.formulation import formulate
from aucert.exact.formulation.request import Request
from aucert.exact.losses.registry import ALL_LOSSES, SQUARE, get_loss
from aucert.exact.problem.problem import Problem
from aucert.exact.problem.risk import Alpha, Marginals, Mean, Weights
from aucert.exact.solvers import choose, closed_form, descent, finish, qp
from aucert.exact.solvers.cutting_plane import CuttingPlane
from aucert.exact.solvers.descent import Descent, Memory, Points, tail_in_bins
from aucert.exact.solvers.finish import ActivePairs
from aucert.exact.solvers.proximal import Proximal, evaluated
from convex_programs import reference, worst_reference
from loops import each, refuses, seeds
from naive import weighted_pairs
from own_parts import GradientDescent, RoundedHinge
from problems import CLASSES, ORDERED, awkward

SMOOTH = ("squared_hinge", "logistic", "smooth_hinge", "exponential")


def dense(problem: Any) -> np.ndarray:
    return problem.space.dense()


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
    step = 1e-6 * np.array([1.0, 2.0, -1.0, 0.5])
    less, more = (space.pull(problem.sums(space.scores(v), used).c) for v in (w - step, w + step))
    assert H @ (2 * step) == pytest.approx(less - more, rel=5e-2)
    if (kind, loss) == ("plain", "hinge"):  # those drawn stand for the window
        y = problem.pairs.positive
        inside = np.abs(1 - (scores[y][:, None] - scores[~y][None, :])) < width / 2
        for size in (10**6, 50):
            i, j, c = problem.pairs.near(ac.HINGE, scores, width, size, rng)
            assert i.size == min(size, inside.sum())
            assert c.sum() == pytest.approx(inside.mean() / width)
            assert (np.abs(1 - scores[i] + scores[j]) < width / 2).all()


def test_the_two_loops_are_the_inverse_of_bfgs() -> None:
    rng, A = np.random.default_rng(0), np.diag([1.0, 3.0, 10.0, 0.5]) + 0.1
    memory = Memory(Points(awkward("plain", 1e-2), Recorder(), 1e-9))
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


def wide(seed: int, n: int = 60, d: int = 90, lam: float = 1e-4) -> ac.Problem:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, d)), np.arange(n) % 3 == 0
    return ac.linear_problem(X + 0.3 * y[:, None], y, lam)


def offered(problem: ac.Problem) -> Recorder:
    recorder = Recorder()
    finish.offer_hard_margin(problem, recorder)
    return recorder


def ended(problem: ac.Problem) -> ac.Solution:
    return offered(problem).finish(problem, 1e-9, ac.Status.STALLED)


def test_the_hard_margin_is_the_optimum_where_lam_is_small_and_says_so_where_not() -> None:
    for seed in range(8):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(5, 150))
        assert ended(wide(seed, n, n + int(rng.integers(0, 50)))).status == ac.Status.CERTIFIED
    problem = wide(1, lam=10.0)  # bounds of pairs matter
    found = ended(problem)
    assert found.status == ac.Status.STALLED and found.certificate.gap > 1e-3
    assert Descent().solve(problem).status == ac.Status.CERTIFIED
    zero = ac.linear_problem(np.zeros((4, 9)), [0, 1, 0, 1], 1.0)
    for other in (wide(0, 60, 20), zero, awkward("plain", 1e-2)):
        assert offered(other).best_w is None


def test_more_rows_than_coordinates_have_a_hard_margin() -> None:
    """Equal margins of all rows no w can have."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(120, 80))
        y = X @ rng.normal(size=80) > 0.3
        X -= X.mean(axis=0)
        found: Any = finish.hard_marginals(X @ X.T, y, finish.RIDGES)
        assert (found >= 0).all()
        margins = X @ (X.T @ np.where(y, found, -found))
        assert margins[y].min() - margins[~y].max() == pytest.approx(1.0, abs=1e-6)
        assert Descent().solve(ac.linear_problem(X, y, 1e-7)).status is ac.Status.CERTIFIED, seed


@each("kind", ["weights", "zero weight", "sparse", "text", "duplicates"])
def test_other_forms_of_rows_are_right_or_left_alone(kind: str) -> None:
    problem, weight = wide(4), np.random.default_rng(4).uniform(0.5, 2, 60)
    X, y = dense(problem), problem.pairs.positive
    weight[:10] *= kind != "zero weight"
    pairs = ac.AllPairs(weight if "weight" in kind else None)
    rows = sp.csr_matrix(X) if kind == "sparse" else X
    if kind == "text":  # dense, 20 MB; text has a thousand times as many rows
        rows = sp.random(60, 50_000, 1e-3, format="csr", random_state=0)
    if kind == "duplicates":
        rows, y = np.concatenate([X[:30], X[:30]]), np.concatenate([y[:30], y[:30]])
    problem = ac.linear_problem(rows, y, 1e-4, pairs=pairs)
    recorder = offered(problem)
    assert recorder.near(1e-9) or (kind == "duplicates" and recorder.best_w is None)
    assert Descent().solve(problem).status == ac.Status.CERTIFIED


def test_weighted_rows_are_certified_though_a_narrow_ramp_rounds(monkeypatch) -> None:
    rng = np.random.default_rng(15)
    X, y = np.round(rng.normal(size=(4300, 1))), rng.random(4300) < 0.1
    pairs = ac.AllPairs(rng.integers(1, 9, 4300).astype(float))
    problem = ac.linear_problem(X, y, 0.08, pairs=pairs)
    assert Descent().solve(problem).status == ac.Status.CERTIFIED
    monkeypatch.setattr(Descent, "conclude", Solver.conclude)
    assert Descent().solve(problem).status == ac.Status.STALLED


def of_tail(seed: int, loss: str, lam: float, fpr: float, tpr: float, n: int = 24) -> Any:
    positive = np.arange(n) % 3 == 0
    X = np.random.default_rng(seed).normal(size=(n, 3)) + 1.5 * positive[:, None]
    risk = ac.tail_risk(ac.AllPairs().on(positive), get_loss(loss), fpr, tpr)
    return ac.Problem(ac.Rows(np.round(X, 1)), risk, ac.Ridge(lam))


def test_other_methods_penalties_and_evidence_are_refused_or_suited() -> None:
    problem = of_tail(0, "hinge", 0.1, 0.3, 0.0)
    lasso = replace(problem, penalty=ac.ElasticNet(0.1, 0.1))
    pairs = ac.PairList(np.array([0]), np.array([1])).on(problem.risk.mean.pairs.positive)
    for refuse in (
        *(lambda name=name: choose.choose_solver(problem, name, 1e-6, None).solve(problem)
          for name in ("qp", "lifted", "closed-form")),
        lambda: Descent().solve(lasso),
        lambda: problem.risk.minorant(Alpha(np.ones(3))),
        lambda: problem.risk.minorant(Marginals(np.ones(8), np.ones(16))),
        lambda: problem.pairs,
        lambda: ac.Tail(ac.Mean(pairs, ac.HINGE), Fraction(1), Fraction(1)),
    ):  # fmt: skip
        with pytest.raises(ac.InputError):
            refuse()
    found = choose.choose_solver(problem, "auto", 1e-8, None).solve(problem)
    assert found.status is ac.Status.CERTIFIED and found.method == "descent"
    sparse = replace(of_tail(0, "logistic", 0.1, 0.3, 0.0), penalty=ac.ElasticNet(0.1, 0.05))
    other = choose.choose_solver(sparse, "auto", 1e-3, None).solve(sparse)
    assert other.method == "proximal" and other.certificate.gap <= 2e-3


@each("tpr", [0.0, 0.5])
def test_steps_in_bins_reach_the_same_optimum(tpr: float, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = of_tail(3, "hinge", 1e-2, 0.2, tpr, n=3000)
    plain = Descent(1e-4).solve(problem)
    monkeypatch.setattr(descent, "TAIL_SORTED", 1600)
    binned: Any = tail_in_bins(problem, 0.1)
    assert binned.risk.mean.pairs.form == "binned" and tail_in_bins(problem, 0.0) is problem
    found = Descent(1e-4).solve(problem)
    assert plain.status is found.status is ac.Status.CERTIFIED
    for one, other in ((plain, found), (found, plain)):
        assert one.certificate.dual <= other.certificate.primal
    # The bound is about the problem itself: the finest sums prove nearly as much of the same point.
    assert ac.Certificate.of(problem, found.w, found.witness).reaches(1e-4)


# Loss, rates, rows and features of problems at which smoothing stalls.
UNEQUAL = [
    *(("squared_hinge", 0.1, 0.0, 14, 6), ("squared_hinge", 0.5, 0.6, 59, 7)),
    *(("logistic", 0.1, 0.0, 48, 3), ("squared_hinge", 0.1, 0.3, 74, 7)),
    ("exponential", 0.4, 0.0, 40, 4),
]


@pytest.mark.slow
def test_small_problems_with_features_of_very_unequal_size_are_solved() -> None:
    for case, (loss, fpr, tpr, n, p) in enumerate(UNEQUAL):
        rng = np.random.default_rng([9, case])
        positive = np.arange(n) % 2 == 0
        X = (rng.normal(size=(n, p)) + positive[:, None]) * 10.0 ** rng.uniform(-3, 3, size=p)
        risk = ac.tail_risk(ac.AllPairs().on(positive), get_loss(loss), fpr, tpr)
        problem = ac.Problem(ac.Rows(X), risk, ac.Ridge(1e-4))
        found = Descent(1e-7).solve(problem)
        assert found.status is ac.Status.CERTIFIED and found.n_iter < 200, case
        by_planes = (
            choose.choose_solver(problem, "cutting-plane", 1e-3, None).solve(problem).certificate
        )
        assert by_planes.dual <= found.certificate.primal
        assert found.certificate.dual <= by_planes.primal


@each("sparse", [False, True])
@each(("t", "dim", "few"), [(30, 6, 3), (30, 6, 100), (12, 60, 30), (12, 60, 9)])
@each("way", ["auto", "pairs", "coordinates", "products"])
def test_every_way_solves_the_system(way: str, t: int, dim: int, few: int, sparse: bool) -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(t, dim))
    i, j = rng.integers(0, t // 3, 120), rng.integers(t // 3, t, 120)
    c, lam, sigma = rng.uniform(0.5, 2, 120) / 120, 1e-2, 0.3
    system = finish.OpenPairs(sp.csr_matrix(rows) if sparse else rows, i, j, c, lam, np.zeros(dim))
    active, r = rng.permutation(120)[:few], rng.normal(size=dim)
    D, weight = (rows[i] - rows[j])[active], c[active] / sigma
    expected = np.linalg.solve(lam * np.eye(dim) + D.T @ (weight[:, None] * D), r)
    found = system.solve(active, sigma, r)
    if way == "products":
        found, enough = system._by_products(active, weight, r, 1e-12, 1000)
        assert enough
    elif way != "auto":
        found = getattr(system, f"_by_{way}")(active, weight, r)
    assert found == pytest.approx(expected, rel=1e-7, abs=1e-7 * np.abs(expected).max())


def test_expensive_systems_need_no_matrix_and_overflowing_ones_make_no_step(monkeypatch) -> None:
    monkeypatch.setattr(finish, "EXPENSIVE", 0.0)
    for way in ("_by_pairs", "_by_coordinates"):
        monkeypatch.setattr(
            finish.OpenPairs, way, lambda *given: pytest.fail("a matrix was formed")
        )
    problem = awkward("wide", 1e-2, n=60)
    window: Any = finish.open_window(problem, np.zeros(problem.n), problem.n_pairs, np.inf, None)
    pairs = finish.OpenPairs.of(problem, window)
    point = finish.solve_window(pairs, np.zeros(90), np.full(pairs.c.size, 0.5), 2.0, 1e-4)
    assert point.gap <= 1e-4
    rows = np.array([[1e99, 0.0], [0.0, 1e99], [1e99, 1e99]])
    i, j, c = np.array([0, 1]), np.array([2, 2]), np.array([0.5, 0.5])
    system, r = finish.OpenPairs(rows, i, j, c, 1e-3, np.zeros(2)), np.array([1e99, -3e98])
    step, enough = system._by_products(np.array([0, 1]), c / 1e-9, r, 1e-6, 1000)
    assert np.isfinite(step).all() and not enough


@each("lam", [1e-1, 1e-3, 1e-5])
@each("kind", CLASSES)
def test_the_gap_ends_at_rounding(kind: str, lam: float) -> None:
    problem = awkward(kind, lam, n=1000)
    found = ActivePairs(tol=1e-11).solve(problem)
    certificate = ac.Certificate.of(problem, found.w, found.witness)
    separable = certificate.primal <= 1e-6  # the gap is then absolute, as in `reaches`
    assert certificate.gap <= max(1e-11 * certificate.primal, 1e-12 * separable), found.history


@pytest.mark.slow
@each("sparse", [False, True])
def test_more_features_than_rows_and_kernels_of_nearly_full_rank_are_solved(sparse: bool) -> None:
    rng = np.random.default_rng(4)
    n, d = (400, 2000) if sparse else (160, 800)
    X, y = rng.normal(size=(n, d)) * (rng.uniform(size=(n, d)) < 0.05), np.arange(n) < 40
    X[y, :20] += 0.3
    rows = sp.csr_matrix(X) if sparse else X
    tasks = [formulate(rows, y, Request.of(lam)) for lam in (0.1, 1e-3)]
    assert all(task.work.space.dim <= n for task in tasks)
    if sparse:  # 2,000 rows, a rank of about 1,600, hundreds of thousands of open pairs
        y = np.arange(2000) % 3 == 0
        X = rng.normal(size=(2000, 2)) * 0.39
        X[np.arange(2000), np.where(y, 0, 1)] += 0.8 * rng.choice([-1, 1], 2000)
        tasks += [formulate(X, y, Request.of(lam, kernel="rbf", gamma=30.0)) for lam in (0.1, 1e-3)]
        assert tasks[-1].work.space.dim > 1200
    for task in tasks:
        found = task.judge(ActivePairs(tol=1e-11).solve(task.work), 1e-9)
        assert found.status == ac.Status.CERTIFIED and found.w.shape == (task.meant.space.dim,)


@pytest.mark.slow
def test_more_ties_than_the_first_window_holds_are_no_obstacle() -> None:
    """Tens of thousands of pairs at the margin; of a kernel that is nearly diagonal, thousands."""
    rng = np.random.default_rng(5)
    levels = rng.integers(0, 3, size=(1500, 3)).astype(float)
    y = rng.uniform(size=1500) < 1 / (1 + np.exp(5 - levels.sum(axis=1)))
    problem = ac.linear_problem(levels, y, 1e-3)
    for solver in (ActivePairs(tol=1e-9), CuttingPlane()):
        found = solver.solve(problem)
        assert found.status == ac.Status.CERTIFIED
    s = problem.space.scores(found.w)
    assert (np.abs(1 - s[y][:, None] + s[~y][None, :]) < 1e-6).sum() > 20_000
    X, labels = (part[::3] for part in load_breast_cancer(return_X_y=True))
    train = next(StratifiedKFold(3).split(X, labels))[0]
    asked: Any = {"kernel": "rbf", "gamma": 0.1, "structure": 1.0, "tol": 1e-9}
    kept = solve(StandardScaler().fit_transform(X[train]), 1 - labels[train], 1e-2, **asked)
    assert kept.certificate.reaches(1e-9)


def test_windows_of_tied_pairs_do_not_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 3,000 rows with 216 different ones windows grew; of 20,000 they took a minute."""
    made, rng = Mock(side_effect=finish.open_window), np.random.default_rng(5)
    monkeypatch.setattr(finish, "open_window", made)
    X = rng.integers(0, 6, (3000, 3)).astype(float)
    y = X.sum(axis=1) + 6 * rng.normal(size=3000) > 9
    assert solve(X, y, 1e-2).certificate.reaches(1e-9) and made.called
    assert max(call.args[2] for call in made.call_args_list) <= finish.first_size(3)


@pytest.mark.slow
def test_widths_of_blocks_end_at_rounding() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 20))
    y = X[:, 0] + rng.normal(size=20_000) > 1
    found = solve(ac.StreamedRows(X), y, 0.1, tol=1e-14)
    assert found.status == ac.Status.STALLED and found.certificate.reaches(1e-11)


# By hand: two rows with the difference 2, and four with the differences 1, 3, -1, 1.
ONE, FOUR = ([[2.0], [0.0]], [1, 0]), ([[2.0], [0.0], [1.0], [-1.0]], [1, 1, 0, 0])
BY_HAND: list[Any] = [  # rows, loss, weights, lam, w, F
    # F = lam w^2 / 2 + max(0, 1 - 2 w): slope zero at 2 / lam, before the kink if lam >= 4.
    (ONE, "hinge", None, 1.0, 1 / 2, 1 / 8),
    (ONE, "hinge", None, 4.0, 1 / 2, 1 / 2),
    (ONE, "hinge", None, 8.0, 1 / 4, 3 / 4),
    # lam w = 4 (1 - 2 w) at w = 4 / (lam + 8): the margin 1/2 is below one.
    (ONE, "squared_hinge", None, 8.0, 1 / 4, 1 / 2),
    (ONE, "square", None, 8.0, 1 / 4, 1 / 2),
    # 1 - w on [0, 1/3], (3 - w) / 4 on [1/3, 1], (1 + w) / 4 beyond: inside, or at a kink.
    (FOUR, "hinge", None, 4.0, 1 / 4, 7 / 8),
    (FOUR, "hinge", None, 2.0, 1 / 3, 7 / 9),
    (FOUR, "hinge", None, 1 / 2, 1 / 2, 11 / 16),
    (FOUR, "hinge", None, 1 / 8, 1.0, 9 / 16),
    # 1 - 2 w + 3 w^2 below 1/3, where all pairs are active: w = 2 / (6 + lam).
    (FOUR, "squared_hinge", None, 2.0, 1 / 4, 3 / 4),
    # Pair weights 3/8, 3/8, 1/8, 1/8: (1 - w) / 2 + (1 + w) / 8 on [1/3, 1], of slope -3/8.
    (FOUR, "hinge", [3.0, 1.0, 5.0, 5.0], 3 / 4, 1 / 2, 17 / 32),
]


def test_small_problems_are_solved_as_by_hand() -> None:
    for rows, loss, weight, lam, w, optimum in BY_HAND:
        found = solve(np.array(rows[0]), np.array(rows[1]), lam, loss=loss, sample_weight=weight)
        assert found.w == pytest.approx([w], rel=1e-5), (loss, lam)
        ends = [found.certificate.primal, found.certificate.dual]
        assert ends == pytest.approx([optimum] * 2, rel=1e-9), (loss, lam)


FALLING = [loss.name for loss in ALL_LOSSES.values() if loss.nonincreasing]


def vertices(rows: np.ndarray, k: Fraction) -> Iterator[list[tuple[int, float]]]:
    """All extreme points of 0 <= p <= 1, sum p = k."""
    rest = float(k - int(k))
    for chosen in itertools.combinations(rows.tolist(), int(k)):
        full = [(i, 1.0) for i in chosen]
        last = sorted(set(rows.tolist()) - set(chosen)) if rest else []
        yield from [[*full, (i, rest)] for i in last] or [full]


@each("way", ["one-way", "two-way"])
@each("seed", seeds(30))
def test_partial_auc_is_the_worst_of_all_subsets_of_rows(seed: int, way: str) -> None:
    """Rows are rounded, so that margins tie; `test_requests` has all other problems."""
    rng = np.random.default_rng([11, seed])
    n, d = int(rng.integers(6, 10)), int(rng.integers(1, 5))
    X, y = np.round(rng.normal(size=(n, d)), 1), rng.permutation(n) < rng.integers(2, n - 1)
    X[rng.integers(n)] = X[rng.integers(n)]
    loss, lam = FALLING[seed % len(FALLING)], float(10.0 ** rng.uniform(-3, 0))
    tpr = Fraction(int(rng.integers(1, 9)), 10) if way == "two-way" else Fraction(0)
    fpr, up, low = Fraction(int(rng.integers(1, 10)), 10), np.flatnonzero(y), np.flatnonzero(~y)
    kp, kq = max((1 - tpr) * up.size, Fraction(1)), max(fpr * low.size, Fraction(1))
    both = itertools.product(vertices(up, kp), vertices(low, kq))
    lists = [[(i, j, p * q / float(kp * kq)) for i, p in ps for j, q in qs] for ps, qs in both]
    try:
        best, _ = worst_reference(X, lists, loss, ac.Ridge(lam))
    except cp.SolverError:  # Clarabel gave up: there is nothing to compare with
        return
    asked: Any = {"loss": loss, "fpr_max": float(fpr), "tpr_min": float(tpr), "tol": 1e-5}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # weights zero may be optimal
        found = solve(X, y, lam, max_time=5.0, **asked).certificate
    room = 1e-7 * (1 + best)
    assert found.dual <= best + room and best - room <= found.primal <= best * (1 + 1e-4) + room


def test_a_solver_of_ones_own_is_certified() -> None:
    rng = np.random.default_rng(2)
    X, y = np.round(rng.normal(size=(25, 2)), 1), np.arange(25) % 3 == 0
    problem = ac.Problem(ac.Rows(X), ac.Mean(ac.AllPairs().on(y), RoundedHinge()), ac.Ridge(0.1))
    own = GradientDescent().solve(problem)
    assert own.status == "certified" and own.minorant is own.witness
    pairs, held = weighted_pairs(y.tolist(), ac.AllPairs(), float), own.certificate
    best, _ = reference(X, pairs, "rounded hinge", ac.Ridge(0.1))
    assert held.reaches(1e-6) and held.dual <= best + 1e-7 and best - 1e-7 <= held.primal


def meet(found: dict[str, ac.Solution]) -> None:
    """Intervals of one optimum overlap, rounding included."""
    ends = {name: (one.certificate, one.certificate.rounding) for name, one in found.items()}
    least = max(one.dual - rounding for one, rounding in ends.values())
    assert least <= min(one.primal + rounding for one, rounding in ends.values()), ends


def answers(kind: str, lam: float, loss: str) -> Iterator[tuple[str, ac.Solution]]:
    problem = awkward(kind, lam, loss)
    yield "auto", choose.choose_solver(problem, "auto", 1e-8, None).solve(problem)
    if kind in ORDERED:
        yield "descent", Descent(1e-6).solve(problem)
        yield "proximal", Proximal(1e-4).solve(problem)
        return
    held: Any = problem.space
    X = held.dense()
    yield "sparse", Descent(1e-6).solve(problem.over(ac.Rows(sp.csr_matrix(X))))
    yield "kernel", Descent(1e-6).solve(problem.over(ac.Gram(X @ X.T)))
    if loss == "hinge":
        yield "cuts", CuttingPlane(1e-7).solve(problem)
        yield "bundle", CuttingPlane(1e-3).solve(problem)
        yield "window", ActivePairs(1e-10).solve(problem)
    else:
        yield "proximal", Proximal(1e-5, max_iter=2000, max_time=2.0).solve(problem)
    if loss in ("hinge", "squared_hinge") and kind != "pairs":
        tol = 1e-3 if loss == "hinge" else 1e-6
        rows = ac.StreamedRows(X, block=64 if kind == "plain" else 10**15)  # more than there are
        yield "blocks", Descent(tol).solve(problem.over(rows))


@each("loss", ["hinge", "squared_hinge", "square", "logistic", "smooth_hinge", "exponential"])
@each("kind", [*CLASSES, *ORDERED])
def test_every_route_ends_at_the_same_optimum(kind: str, loss: str) -> None:
    for lam in (1.0, 1e-3):
        found = dict(answers(kind, lam, loss))
        meet(found)
        bad = {k: s for k, s in found.items() if s.status is not ac.Status.CERTIFIED}
        # A method that suits is chosen for a caller; in blocks tied margins keep the gap open.
        others = {"proximal"} if kind == "plain" else {"proximal", "bundle", "blocks", "kernel"}
        # Without a Hessian it stops early where lam is small.
        assert set(bad) <= others | ({"sparse"} if kind == "wide" else set()), bad


@each("seed", seeds(4))
def test_newton_steps_end_where_lam_is_tiny_and_classes_are_apart(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 90)) * (rng.random((40, 90)) < 0.1), rng.random(40) < 0.4
    for lam in (1e-4, 1e-5):  # below it rounding is more than 1e-9 of F
        assert solve(X, y, lam, loss="squared_hinge").status is ac.Status.CERTIFIED


# Relative gaps that each solver reaches unaided: they differ, and that is the point.
REACHED = {"CLARABEL": 1e-7, "ECOS": 1e-4, "OSQP": 1e-2}
DRAWN, FEW_Y = np.random.default_rng(0), np.arange(24) % 3 == 0
FEW_X = DRAWN.normal(size=(24, 3)) + 0.7 * FEW_Y[:, None]
UP, LOW = DRAWN.choice(np.flatnonzero(FEW_Y), 40), DRAWN.choice(np.flatnonzero(~FEW_Y), 40)
PAIRS: dict[str, Any] = {
    "all": ac.AllPairs(),
    "weights": ac.AllPairs(DRAWN.integers(0, 3, 24).astype(float)),
    "listed": ac.PairList(UP, LOW, DRAWN.integers(1, 4, 40).astype(float)),
}


@each("kind", PAIRS)
@each("backend", qp.BACKENDS)
@each("form", qp.LIMITS)
def test_every_form_and_backend_has_the_optimum(form: str, backend: str, kind: str) -> None:
    if backend not in cp.installed_solvers():
        pytest.skip(f"{backend} is not installed")
    problem = ac.linear_problem(FEW_X, FEW_Y, 1e-2, pairs=PAIRS[kind])
    exact = solve(FEW_X, FEW_Y, 1e-2, pairs=PAIRS[kind]).certificate
    found = qp.QP(form, backend).solve(problem).certificate  # type: ignore[arg-type]
    assert found.dual <= exact.primal and found.primal >= exact.dual
    assert found.reaches(REACHED[backend])


RNG = np.random.default_rng(0)
X = RNG.normal(size=(110, 5))
Y = X[:, 0] + RNG.normal(size=110) > 0.5
SOLVERS: dict[str, tuple[Any, str]] = {
    "cutting-plane": (CuttingPlane(), "hinge"),
    "active-pairs": (ActivePairs(), "hinge"),
    "descent": (Descent(), "squared_hinge"),
    "closed-form": (closed_form.SquaredLossSolver(), "square"),
}


def problem_of(loss: str, lam: float = 1e-4) -> Problem:
    return ac.linear_problem(X, Y, lam, loss)


@each("name", SOLVERS)
def test_a_run_says_who_it_is_and_is_the_same_twice(name: str) -> None:
    solver, loss = SOLVERS[name]
    problem, steps = problem_of(loss), []
    found, again = solver.solve(problem, callback=steps.append), solver.solve(problem)
    held = found.certificate
    assert found.status == Status.CERTIFIED and held.reaches(1e-9)
    assert found.method == name and found.n_iter == len(found.history) > 0 and found.seconds > 0
    assert np.array_equal(found.w, again.w) and np.array_equal(found.witness.c, again.witness.c)
    assert held == again.certificate and found.n_iter == again.n_iter
    assert ac.Certificate.of(problem, found.w, found.witness, solver.tol) == held
    careful = ac.Certificate.of(problem, found.w, found.witness)
    assert careful.rounding <= held.rounding
    assert abs(careful.gap - held.gap) <= careful.rounding + held.rounding
    # What a callback sees only improves.
    assert steps == found.history
    assert [step.n_iter for step in steps] == list(range(1, len(steps) + 1))
    for side, turned in (("primal", True), ("dual", False), ("seconds", False)):
        seen = [getattr(step, side) for step in steps]
        assert seen == sorted(seen, reverse=turned)


@each("after", [1, 2])
@each("name", SOLVERS)
def test_an_interruption_returns_a_valid_certificate(name: str, after: int) -> None:
    solver, loss = SOLVERS[name]
    full = solver.solve(problem_of(loss))
    if full.n_iter < after:
        pytest.skip("done before that")
    stop = Mock(side_effect=[*[None] * (after - 1), KeyboardInterrupt])
    try:
        found = solver.solve(problem_of(loss), callback=stop)
    except KeyboardInterrupt:  # it would end the whole test run
        pytest.fail(f"{name} lets the interruption through: its best point is lost")
    assert found.n_iter == after and found.status in (Status.INTERRUPTED, Status.CERTIFIED)
    assert found.status == Status.CERTIFIED or not found.certificate.reaches(1e-9)
    assert found.certificate.dual <= full.certificate.primal
    assert found.certificate.primal >= full.certificate.dual


PARTS = [(X[k::3], Y[k::3]) for k in range(3)]
LAMS = [1.0, 0.1, 1e-2, 1e-3]
ROUTES: dict[str, Callable[..., Any]] = {
    "hinge": partial(solve, X, Y, 1e-4),
    "squared hinge": partial(solve, X, Y, 1e-4, loss="squared_hinge"),
    "logistic": partial(solve, X, Y, 1e-4, loss="logistic"),
    "partial AUC": partial(solve, X, Y, 1e-4, fpr_max=0.5),
    "l1": partial(solve, X, Y, 1e-4, l1=1e-2),
    "cuts": partial(solve, X, Y, 1e-4, method="cutting-plane"),
    "qp": partial(solve, X[:80], Y[:80], 1e-4, method="qp"),
    "lifted": partial(solve, X[:80], Y[:80], 1e-4, method="lifted"),
    "kernel": partial(solve, X, Y, 1e-4, kernel="rbf"),
    "a map": partial(solve, ac.StreamedRows(X), Y, 1e-4),
    "a folder": lambda **asked: solve(ac.PartitionedRows(PARTS), None, 1e-4, **asked),
    "a path": partial(ac.regularization_path, X, Y, LAMS),
    "a path of a folder": partial(ac.regularization_path, ac.PartitionedRows(PARTS), None, LAMS),
}
READ = [(Mean, "sums"), (ac.Tail, "sums"), (ac.PartitionedRows, "total")]
READ += [(ac.StreamedRows, name) for name in ("total", "scores", "pulled")]


@pytest.mark.filterwarnings("ignore:The weights zero are optimal")
@each("name", ROUTES)
def test_one_pass_and_a_certificate_are_what_comes_after_the_limit(name: str, monkeypatch) -> None:
    """The clock counts sums over pairs and passes over blocks, so that it runs out in searches."""
    spent, run = 0, ROUTES[name]

    def counted(read: Any) -> Any:
        def counting(*given: Any, **more: Any) -> Any:
            nonlocal spent
            spent += 1
            return read(*given, **more)

        return counting

    for of, read in READ:
        monkeypatch.setattr(of, read, counted(getattr(of, read)))
    began: dict[Any, int] = {}  # by recorder: a solver within another has the time that is left
    seconds = property(lambda self: float(spent - began.setdefault(self, spent)))
    monkeypatch.setattr(Recorder, "seconds", seconds)
    clock = SimpleNamespace(perf_counter=lambda: float(spent), monotonic=lambda: float(spent))
    monkeypatch.setattr(path_module, "time", clock)
    monkeypatch.setattr(solve_module, "clock", clock)
    run()
    for at in range(1, min(spent, 40), 4):
        spent = 0
        found = run(max_time=at + 0.5)
        found = found if isinstance(found, ac.Solution) else found.points[-1].solution
        assert found.status in (Status.TIME_LIMIT, Status.CERTIFIED)
        # The sum that crosses the limit, at most two more, and four of a certificate, which goes
        # through each part of a mixture.
        assert spent <= at + 7 + len(getattr(found.witness.evidence, "parts", ()))


def lasso() -> Problem:
    return replace(problem_of("hinge"), penalty=ac.ElasticNet(1e-4, 1e-2))


hinge, squared = partial(problem_of, "hinge"), partial(problem_of, "squared_hinge")
TIME, STEPS, STALLED = Status.TIME_LIMIT, Status.ITERATION_LIMIT, Status.STALLED
LIMITED: dict[str, tuple[Status, Any, Callable[[], Problem]]] = {
    "descent": (TIME, Descent(max_time=1e-9), squared),
    "a window": (TIME, ActivePairs(1e-12, max_time=1e-9), partial(awkward, "plain", 1e-5, n=4000)),
    "teaching": (TIME, qp.QP("teaching", "OSQP", max_time=1e-3), hinge),
    "lifted": (TIME, qp.QP("lifted", "CLARABEL", max_time=1e-3), hinge),
    "proximal": (TIME, Proximal(1e-14, max_time=1e-9), lasso),
    "cuts, few": (STEPS, CuttingPlane(max_iter=1), hinge),
    "descent, few": (STEPS, Descent(max_iter=1), squared),
    "proximal, few": (STEPS, Proximal(1e-14, max_iter=3), lasso),
    "too small": (STALLED, ActivePairs(largest=50), partial(awkward, "levels", 1e-3)),
    "at rounding": (STALLED, ActivePairs(tol=1e-18), partial(awkward, "plain", 1e-3, n=2000)),
}


@each("name", LIMITED)
def test_a_limit_returns_the_best_point_with_a_true_interval(name: str) -> None:
    status, solver, problem = LIMITED[name]
    found = solver.solve(problem())
    assert found.status == status and found.certificate.gap >= 0
    assert found.n_iter <= {"cuts": 1, "descent": 2}.get(name.split(",")[0], found.n_iter)
    assert found.certificate.primal <= 1.0 + 1e-12  # no worse than zero weights
    if name == "at rounding":
        assert found.n_iter < 15 and found.certificate.reaches(1e-12)
    if name.startswith(("cuts", "descent")):
        loss = "squared_hinge" if name.startswith("descent") else "hinge"
        full = solve(X, Y, 1e-4, loss=loss).certificate
        assert found.certificate.dual <= full.primal <= found.certificate.primal + full.gap


@each("name", ["cutting-plane", "active-pairs", "descent"])
def test_a_warm_start_at_the_optimum_is_kept(name: str) -> None:
    solver, loss = SOLVERS[name]
    cold = solver.solve(problem_of(loss))
    warm = solver.solve(problem_of(loss), w0=cold.w)
    assert warm.status == Status.CERTIFIED and warm.n_iter <= cold.n_iter
    room = warm.certificate.rounding + cold.certificate.rounding  # of two values of one F
    assert warm.certificate.primal <= cold.certificate.primal + room
    stopped = CuttingPlane(max_iter=1).solve(hinge(), w0=1.1 * cold.w)
    assert stopped.certificate.primal <= hinge().objective(1.1 * cold.w)


def test_large_features_at_a_small_lam_end_without_an_error() -> None:
    """The matrix 2 M + lam I is singular to rounding; any certified point will do."""
    features = np.repeat(X[:40, :1], 2, axis=1) * 1e6
    for loss in ("squared_hinge", "square"):
        found = solve(features, Y[:40], 1e-12, loss=loss, max_time=5)
        assert found.certificate.gap >= 0
    apart = np.array([[-2e60], [-1e60], [1e60], [2.5e60]])  # a larger lam might be above the limit
    found = solve(apart, [0, 0, 1, 1], 1e90, tol=1e-17)
    assert found.status in (Status.CERTIFIED, Status.STALLED)
    rows, y = np.random.default_rng(0).normal(size=(30, 3)) * 1e6, np.arange(30) % 3 == 0
    ended = CuttingPlane().solve(ac.linear_problem(rows, y, 1e-2))  # no cuts without progress
    assert ended.status in (Status.CERTIFIED, Status.STALLED) and ended.n_iter < 500


def test_a_swallowed_interrupt_is_handed_on_without_a_signal(monkeypatch) -> None:
    found = SimpleNamespace(info=SimpleNamespace(status="interrupted"))
    solver = type(defines.SOLVER_MAP_QP["OSQP"])
    monkeypatch.setattr(solver, "solve_via_data", lambda *_, **__: found)
    monkeypatch.delattr(signal, "raise_signal")
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    try:
        solution = qp.QP("lifted", "OSQP").solve(ac.linear_problem(X[:24], Y[:24], 1e-2))
    finally:
        signal.signal(signal.SIGINT, before)
    assert solution.status == Status.INTERRUPTED and heard == [signal.SIGINT]


# Seeds at which a trial step overflows: each made the whole solution fail once.
HARD = {"tail": [9, 30, 37], "ordered": [21, 93, 121]}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The weights zero are optimal")
@each("scale", [1e-3, 1e3])
@each("asked", ["plain", "lasso", "tail", "ordered"])
def test_any_problem_and_any_scale_are_solved(asked: str, scale: float) -> None:
    certified = 0
    for seed in [*range(2), *HARD.get(asked, [])]:
        rng = np.random.default_rng([11, seed])
        n, p = int(rng.integers(4, 40)), int(rng.integers(1, 5))
        y = np.arange(n) % 3 == 0
        rows = rng.normal(size=(n, p)) + rng.uniform(0, 4) * y[:, None]
        rows *= scale * (10.0 ** rng.uniform(-2, 2, size=p) if seed % 3 == 0 else np.ones(p))
        if asked == "ordered":
            rows *= np.exp(rng.uniform(0, 3) * rng.normal(size=(n, 1)))
        more: dict[str, Any] = {
            "plain": {},
            "lasso": {"l1": 1e-3 * scale},
            "tail": {"fpr_max": 0.4},
            "ordered": {"qid": np.arange(n) % 2},
        }[asked]
        lam = float(10.0 ** rng.uniform(-12, 0)) * scale**2
        found = solve(rows, y, lam=lam, loss="exponential", tol=1e-4, max_time=2, **more)
        assert found.certificate.primal <= 1 + 1e-9
        certified += found.status == "certified"
    assert certified >= 2


def test_an_overflowing_point_is_infinite_and_never_the_best_and_a_callers_is_refused() -> None:
    pairs = ac.AllPairs().on(np.array([True, False, True]))
    rows = ac.Rows(np.array([[0.0], [1e3], [2e3]]))  # scores of +-1 leave the range of exp
    steep, recorder = Problem(rows, Mean(pairs, get_loss("exponential")), ac.Ridge(1.0)), Recorder()
    seen = evaluated(steep, recorder, np.ones(1), 0.0)
    assert (seen.primal, seen.dual) == (np.inf, -np.inf)
    assert recorder.best_w is None and recorder.best_witness is None
    assert evaluated(steep, recorder, np.zeros(1), 0.0).primal == recorder.best_primal == 1.0
    refuses("overflows at a margin", steep.objective, np.ones(1))
    squared = replace(steep, risk=Mean(steep.pairs, get_loss("squared_hinge")))
    with pytest.raises(OverflowingError, match="its square overflows"):
        squared.sums(np.array([0.0, 1e151, 0.0]))


class Kinked(RoundedHinge):
    """A loss with a kink that is not the hinge's."""

    smoothness = np.inf  # type: ignore[assignment]


def test_the_method_that_suits_is_taken_and_the_others_refuse() -> None:
    rng = np.random.default_rng(0)
    space, pairs = ac.Rows(rng.normal(size=(30, 3))), ac.AllPairs().on(np.arange(30) % 3 == 0)

    def problem(loss: Any, penalty: Any = ac.Ridge(1.0), of: Any = space) -> Problem:  # noqa: B008
        return Problem(of, Mean(pairs, loss), penalty)

    def solved(name: str, stated: Problem) -> Any:
        return lambda: choose.choose_solver(stated, name, 1e-6, 5).solve(stated)

    lasso = ac.ElasticNet(1e-3, 1e-3)
    for loss in (ac.HINGE, ac.SQUARED_HINGE, ac.LOGISTIC, RoundedHinge(), SQUARE):
        names = "SquaredLossSolver" if loss is SQUARE else "Descent", "Proximal"
        for penalty, name in zip((ac.Ridge(1e-3), lasso), names, strict=True):
            chosen = choose.choose_solver(problem(loss, penalty), "auto", 1e-6, 5)
            assert type(chosen).__name__ == name
    kernel = problem(ac.HINGE, of=ac.Gram(space.dense() @ space.dense().T))
    streamed = problem(ac.SQUARED_HINGE, of=ac.StreamedRows(space.dense()))
    structured = formulate(X, Y, Request.of(0.1, structure=2.0)).meant
    others = [name for name in choose.METHODS if name != "proximal"]
    for refuse in (
        *(solved(name, problem(of, lasso)) for name in others for of in (ac.HINGE, SQUARE)),
        *(solved(name, awkward("survival", 1.0, n=50)) for name in ("pair-newton", "qp")),
        lambda: ac.solve_problem(structured),
        lambda: Descent().solve(problem(Kinked())),
        lambda: Descent().solve(streamed, w0=np.ones(2)),
        lambda: ActivePairs().solve(problem(SQUARE)),
        lambda: ActivePairs().solve(kernel),
        lambda: closed_form.SquaredLossSolver().solve(problem(ac.SQUARED_HINGE)),
        *(lambda of=of: streamed.risk.minorant(Weights(np.ones(3), 8, *of))
          for of in ((2,), (0, cast(int, 0.5)))),
    ):  # fmt: skip
        with pytest.raises(ac.InputError):
            refuse()
