"""Newton on the smoothed hinge against the other solvers, on hard and degenerate problems."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact.certificate.certificate import Certificate
from aucert.exact.certificate.evaluate_rows import InMemory
from aucert.exact.certificate.solution import Recorder, Status, Step
from aucert.exact.errors import InputError
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.problem.evidence import Scores
from aucert.exact.problem.minorant import Minorant
from aucert.exact.problem.problem import Problem, linear_problem
from aucert.exact.problem.subsample import subsample
from aucert.exact.solvers.cutting_plane import CuttingPlane
from aucert.exact.solvers.smoothed_newton import SmoothedNewton
from aucert.exact.solvers.smoothing.evaluations import SORTED_ROWS, Evaluations
from aucert.exact.solvers.smoothing.sampled_hessian import PairHessian, drawn_window
from aucert.exact.sums.counted import SortedRows
from loops import each, seeds


def some_problem(seed: int, n: int = 300, d: int = 4, lam: float = 1e-2) -> Problem:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, d)), rng.random(n) < 0.3
    y[:2] = True, False
    return linear_problem(X + y[:, None] * rng.normal(size=d), y, lam)


def agree(problem: Problem, tol: float = 1e-9) -> None:
    """The two solvers' optima differ by no more than their certified gaps add up to."""
    a = SmoothedNewton(tol=tol).solve(problem).certificate
    b = CuttingPlane(tol=tol).solve(problem).certificate
    assert a.reaches(tol)
    assert abs(a.primal - b.primal) <= a.gap + b.gap


@each("seed", seeds(12))
def test_newton_and_cutting_planes_agree(seed: int) -> None:
    rng = np.random.default_rng(seed)
    agree(
        some_problem(
            seed, int(rng.integers(10, 800)), int(rng.integers(1, 12)), 10.0 ** rng.uniform(-5, 1)
        )
    )


def test_many_rows_start_from_a_sample_and_agree() -> None:
    agree(some_problem(1, 60_000, 2, 1e-3))


@each(
    "kind",
    ["ties", "constant", "duplicates", "one positive", "sparse", "weights", "separable", "pairs"],
)
def test_degenerate_problems_are_solved(kind: str) -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(200, 3)), rng.random(200) < 0.4
    X[y] += 0.7
    pairs: AllPairs | PairList | None = None
    rows: object = X
    if kind == "ties":
        rows = np.round(X)
    elif kind == "constant":
        rows = np.c_[X, np.ones(200)]
    elif kind == "duplicates":
        rows, y = np.repeat(X, 3, axis=0), np.repeat(y, 3)
    elif kind == "one positive":
        y = np.arange(200) == 17
    elif kind == "sparse":
        rows = sp.csr_matrix(np.where(np.abs(X) > 0.5, X, 0))
    elif kind == "weights":
        pairs = AllPairs(rng.uniform(0.1, 3, 200))
    elif kind == "separable":
        rows = np.where(y[:, None], X + 20, X - 20)
    else:
        plus, minus = np.flatnonzero(y), np.flatnonzero(~y)
        pairs = PairList(rng.choice(plus, 500), rng.choice(minus, 500))
    agree(linear_problem(rows, y, 1e-2, pairs=pairs), 1e-8)


@each("weighted", [False, True])
@each("sorted_from", [10, 10**9])
@each("dim", [3, 30])
def test_the_hessian_of_all_window_pairs_is_the_derivative_of_the_gradient(
    weighted: bool, sorted_from: int, dim: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aucert.exact.solvers.smoothing.sampled_hessian.COMPILED_FROM", sorted_from)
    problem = some_problem(5, 120, dim)
    if weighted:
        weight = np.random.default_rng(1).uniform(0.1, 3, 120)
        problem = problem.with_pairs(AllPairs(weight))
    w, width = np.resize([0.4, -0.2, 0.1], dim) * np.sqrt(3 / dim), 0.8 if dim == 3 else 1.6
    scores = problem.space.scores(w)
    rng = np.random.default_rng(0)
    hessian = PairHessian(problem, scores, width, 10**6, rng)
    evaluator = InMemory(problem)

    def gradient(v: np.ndarray) -> np.ndarray:
        return problem.lam * v - evaluator.at(v, width).pull

    step = 1e-7 * np.resize([1.0, 2.0, -1.0], dim)
    change = gradient(w + step) - gradient(w - step)
    assert np.allclose(hessian.solve(change), 2 * step, rtol=1e-4, atol=1e-12)


@each("in_order", [False, True])
def test_drawn_pairs_stand_for_the_window(in_order: bool) -> None:
    problem = some_problem(6, 400, 2)
    scores, rng = problem.space.scores(np.array([1.0, 0.5])), np.random.default_rng(0)
    order = SortedRows.of(scores, problem.pairs.positive, 2.0) if in_order else None
    i, j, share = drawn_window(problem, scores, 0.5, 10**7, rng, order)
    margins = scores[problem.pairs.positive][:, None] - scores[~problem.pairs.positive][None, :]
    inside = np.abs(1 - margins) < 0.25
    assert i.size == inside.sum()
    assert share.sum() == pytest.approx(inside.mean())
    assert (np.abs(1 - scores[i] + scores[j]) < 0.25).all()
    few = drawn_window(problem, scores, 0.5, 50, rng, order)
    assert few[0].size == 50 and few[2].sum() == pytest.approx(inside.mean())


@each("lam", [1e-1, 1e-4])
def test_of_many_rows_a_near_start_is_kept_and_a_far_one_is_not(lam: float) -> None:
    rng = np.random.default_rng(0)
    y = rng.random(60_000) < 0.3
    X = rng.normal(size=(60_000, 20)) + 0.2 * y[:, None]
    before = SmoothedNewton(tol=1e-6).solve(linear_problem(X, y, 1.3 * lam)).w
    problem = linear_problem(X, y, lam)
    near, far, none = (
        SmoothedNewton(tol=1e-6).solve(problem, w) for w in (before, -9 * before, None)
    )
    assert {str(found.status) for found in (near, far, none)} == {"certified"}
    assert near.n_iter < none.n_iter and far.n_iter <= none.n_iter + 1
    assert near.history[0].primal < none.history[0].primal


def test_a_subsample_keeps_both_classes_in_proportion() -> None:
    problem = some_problem(7, 20_000, 2)
    part = subsample(problem, 2000)
    assert part.n == pytest.approx(2000, rel=0.01)
    assert part.n_pos / part.n == pytest.approx(problem.n_pos / problem.n, rel=0.01)
    rare = linear_problem(np.arange(20_000.0)[:, None], np.arange(20_000) % 2000 == 3, 1.0)
    assert subsample(rare, 2000).n_pos == 10


def test_the_time_limit_returns_the_best_point_so_far() -> None:
    solution = SmoothedNewton(tol=1e-12, max_time=1e-9).solve(some_problem(8, 60_000, 3))
    assert solution.status == Status.TIME_LIMIT
    assert solution.certificate.gap >= 0


def test_an_interrupt_returns_the_best_point_so_far() -> None:
    def stop(step: Step) -> None:
        if step.n_iter == 3:
            raise KeyboardInterrupt

    solution = SmoothedNewton(tol=1e-12).solve(some_problem(9), callback=stop)
    assert solution.status == Status.INTERRUPTED
    assert solution.certificate.primal < 1


def test_the_same_seed_gives_the_same_numbers() -> None:
    problem = some_problem(10, 60_000, 3)
    first, second = (SmoothedNewton(tol=1e-8, seed=4).solve(problem) for _ in range(2))
    assert np.array_equal(first.w, second.w)


def test_other_losses_are_refused() -> None:
    with pytest.raises(InputError, match="solves the hinge"):
        SmoothedNewton().solve(linear_problem(np.eye(2), [0, 1], 1.0, "squared_hinge"))


@each("weighted", [False, True])
@each("width", [0.5, 0.02])
def test_the_witness_is_made_in_the_form_that_the_run_stopped_on(
    weighted: bool, width: float
) -> None:
    problem = some_problem(2, n=SORTED_ROWS)  # the fewest that are binned without weights
    if weighted:
        weight = np.random.default_rng(0).integers(1, 4, problem.n).astype(float)
        problem = problem.with_pairs(AllPairs(weight).on(problem.pairs.positive))
    recorder = Recorder()
    seen = Evaluations(problem, recorder)
    w = np.linspace(-1, 1, problem.space.dim)
    found = seen.at(w, width)
    assert found.bins
    witness = recorder.best_witness
    assert callable(witness)
    evidence = witness()
    assert isinstance(evidence, Scores)
    made = problem.risk.minorant(evidence)
    assert np.allclose(problem.space.pull(made.c), found.scale(problem.lam) * found.pull, 0, 1e-13)
    told = found.dual(problem.lam, found.scale(problem.lam))
    kept = Certificate.of(problem, w, made).dual
    assert abs(told - kept) <= 1e-13
    raw = Minorant.from_scores(problem, problem.space.scores(w), found.width, evidence.scale)
    assert abs(Certificate.of(problem, w, raw).dual - kept) > 1e-9  # the test can tell them apart


def test_bins_are_finer_where_their_roughness_would_show() -> None:
    problems = (some_problem(0, 2000, 4, lam) for lam in (1e3, 1e-4, 1e-9))
    widths = [Evaluations(problem, Recorder()).bins_a_width for problem in problems]
    assert widths[0] == 2.0 < widths[1] < widths[2] == 64.0


def test_a_looser_tolerance_takes_no_more_steps() -> None:
    """At a small lam the slopes of coarse bins are too rough for any dual point."""
    problem = some_problem(5, 4000, 20, 1e-4)
    steps = [SmoothedNewton(tol=tol).solve(problem).n_iter for tol in (1e-3, 1e-9)]
    assert steps[0] <= steps[1]
