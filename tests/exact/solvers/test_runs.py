"""How runs go and end: limits, interrupts, starts, what is seen, and what a solver refuses."""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import numpy as np
import pytest
from cvxpy.reductions.solvers import defines

import aucert.exact as ac
from aucert.exact import solve
from aucert.exact.api import path as path_module
from aucert.exact.api import solve as solve_module
from aucert.exact.certificate.solution import Recorder, Status
from aucert.exact.errors import OverflowingError
from aucert.exact.formulation.formulation import formulate
from aucert.exact.formulation.request import Request
from aucert.exact.losses.registry import SQUARE, get_loss
from aucert.exact.problem.problem import Problem
from aucert.exact.problem.risk import Mean, Weights
from aucert.exact.solvers.choose import METHODS, choose_solver
from aucert.exact.solvers.closed_form import SquaredLossSolver
from aucert.exact.solvers.cutting_plane import CuttingPlane
from aucert.exact.solvers.descent import Descent
from aucert.exact.solvers.finish import ActivePairs
from aucert.exact.solvers.proximal import Proximal, evaluated
from aucert.exact.solvers.qp import QP
from loops import each, refuses
from own_parts import RoundedHinge
from problems import awkward

RNG = np.random.default_rng(0)
X = RNG.normal(size=(110, 5))
Y = X[:, 0] + RNG.normal(size=110) > 0.5
SOLVERS: dict[str, tuple[Any, str]] = {
    "cutting-plane": (CuttingPlane(), "hinge"),
    "active-pairs": (ActivePairs(), "hinge"),
    "descent": (Descent(), "squared_hinge"),
    "closed-form": (SquaredLossSolver(), "square"),
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
    "teaching": (TIME, QP("teaching", "OSQP", max_time=1e-3), hinge),
    "lifted": (TIME, QP("lifted", "CLARABEL", max_time=1e-3), hinge),
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
        solution = QP("lifted", "OSQP").solve(ac.linear_problem(X[:24], Y[:24], 1e-2))
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
        return lambda: choose_solver(stated, name, 1e-6, 5).solve(stated)

    lasso = ac.ElasticNet(1e-3, 1e-3)
    for loss in (ac.HINGE, ac.SQUARED_HINGE, ac.LOGISTIC, RoundedHinge(), SQUARE):
        names = "SquaredLossSolver" if loss is SQUARE else "Descent", "Proximal"
        for penalty, name in zip((ac.Ridge(1e-3), lasso), names, strict=True):
            chosen = choose_solver(problem(loss, penalty), "auto", 1e-6, 5)
            assert type(chosen).__name__ == name
    kernel = problem(ac.HINGE, of=ac.Gram(space.dense() @ space.dense().T))
    streamed = problem(ac.SQUARED_HINGE, of=ac.StreamedRows(space.dense()))
    structured = formulate(X, Y, Request.of(0.1, structure=2.0)).meant
    others = [name for name in METHODS if name != "proximal"]
    for refuse in (
        *(solved(name, problem(of, lasso)) for name in others for of in (ac.HINGE, SQUARE)),
        *(solved(name, awkward("survival", 1.0, n=50)) for name in ("pair-newton", "qp")),
        lambda: ac.solve_problem(structured),
        lambda: Descent().solve(problem(Kinked())),
        lambda: Descent().solve(streamed, w0=np.ones(2)),
        lambda: ActivePairs().solve(problem(SQUARE)),
        lambda: ActivePairs().solve(kernel),
        lambda: SquaredLossSolver().solve(problem(ac.SQUARED_HINGE)),
        *(lambda of=of: streamed.risk.minorant(Weights(np.ones(3), 8, *of))
          for of in ((2,), (0, cast(int, 0.5)))),
    ):  # fmt: skip
        with pytest.raises(ac.InputError):
            refuse()
