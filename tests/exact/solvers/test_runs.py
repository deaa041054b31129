"""How runs go and end: limits, interrupts, starts, what is seen, and what a solver refuses."""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from cvxpy.reductions.solvers import defines

from aucert.exact import AllPairs, InputError, Ridge, Rows, solve
from aucert.exact.api import solve as solving
from aucert.exact.certificate.certificate import Certificate
from aucert.exact.certificate.solution import Recorder, Status, Step
from aucert.exact.errors import OverflowingError
from aucert.exact.losses.registry import HINGE, LOGISTIC, SQUARE, SQUARED_HINGE, get_loss
from aucert.exact.problem.minorant import Weights
from aucert.exact.problem.penalties import ElasticNet, GroupLasso, Sign, penalty_from
from aucert.exact.problem.problem import Problem, linear_problem
from aucert.exact.problem.risk import Mean
from aucert.exact.problem.tail import Tail
from aucert.exact.solvers.choose import METHODS, choose_solver
from aucert.exact.solvers.closed_form import SquaredLossSolver
from aucert.exact.solvers.cutting_plane import CuttingPlane
from aucert.exact.solvers.descent import Descent
from aucert.exact.solvers.finish import ActivePairs
from aucert.exact.solvers.proximal import Proximal, evaluated
from aucert.exact.solvers.qp import QP
from aucert.exact.spaces.blocks import StreamedRows
from aucert.exact.spaces.gram import Gram
from loops import each
from own_parts import RoundedHinge
from problems import awkward

RNG = np.random.default_rng(0)
X = RNG.normal(size=(110, 5))
Y = X[:, 0] + RNG.normal(size=110) > 0.5
SOLVERS: dict[str, tuple[Any, str]] = {
    "cutting-plane": (CuttingPlane(), "hinge"),
    "active-pairs": (ActivePairs(limit=20_000), "hinge"),
    "descent": (Descent(), "squared_hinge"),
    "closed-form": (SquaredLossSolver(), "square"),
}


def problem_of(loss: str, lam: float = 1e-4) -> Problem:
    return linear_problem(X, Y, lam, loss)


@each("name", SOLVERS)
def test_a_run_says_who_it_is_and_is_the_same_twice(name: str) -> None:
    solver, loss = SOLVERS[name]
    problem, steps = problem_of(loss), []
    found, again = solver.solve(problem, callback=steps.append), solver.solve(problem)
    assert found.status == Status.CERTIFIED and found.certificate.reaches(1e-9)
    assert found.method == name and found.n_iter == len(found.history) > 0 and found.seconds > 0
    assert np.array_equal(found.w, again.w) and np.array_equal(found.witness.c, again.witness.c)
    assert found.certificate == again.certificate and found.n_iter == again.n_iter
    assert Certificate.of(problem, found.w, found.witness, solver.tol) == found.certificate
    careful = Certificate.of(problem, found.w, found.witness)
    assert careful.rounding <= found.certificate.rounding
    slack = careful.rounding + found.certificate.rounding
    assert abs(careful.gap - found.certificate.gap) <= slack
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

    def stop(step: Step) -> None:
        if step.n_iter == after:
            raise KeyboardInterrupt

    try:
        found = solver.solve(problem_of(loss), callback=stop)
    except KeyboardInterrupt:  # it would end the whole test run
        pytest.fail(f"{name} lets the interruption through: its best point is lost")
    assert found.n_iter == after and found.status in (Status.INTERRUPTED, Status.CERTIFIED)
    assert found.status == Status.CERTIFIED or not found.certificate.reaches(1e-9)
    assert found.certificate.dual <= full.certificate.primal
    assert found.certificate.primal >= full.certificate.dual


@each(
    ("name", "loss"),
    [
        ("descent", "partial AUC"),
        ("descent", "hinge"),
        ("descent", "logistic"),
        ("cutting-plane", "hinge"),
        ("cutting-plane", "partial AUC"),
    ],
)
def test_one_more_sum_is_taken_when_the_time_is_up(name: str, loss: str, monkeypatch) -> None:
    """The clock here counts sums over pairs, so that it runs out within line searches, too."""
    spent, limit = 0, 10**9

    def counted(sums: Any) -> Any:
        def counting(*arguments: Any) -> Any:
            nonlocal spent
            spent += 1
            return sums(*arguments)

        return counting

    for risk in (Mean, Tail):
        monkeypatch.setattr(risk, "sums", counted(risk.sums))
    monkeypatch.setattr(Recorder, "out_of_time", property(lambda self: spent > limit))
    problem = problem_of("hinge" if loss == "partial AUC" else loss)
    if loss == "partial AUC":
        assert isinstance(problem.risk, Mean)
        problem = replace(problem, risk=Tail(problem.risk, Fraction(20), Fraction(10)))
    solver = Descent() if name == "descent" else CuttingPlane()
    solver.solve(problem)
    for at in range(1, min(spent, 60), 4):
        spent, limit = 0, at
        found = solver.solve(problem)
        mixed = len(getattr(found.witness.evidence, "parts", ()))
        assert spent <= limit + 5 + mixed  # a certificate goes through each part of a mixture


def lasso() -> Problem:
    return replace(problem_of("hinge"), penalty=ElasticNet(1e-4, 1e-2))


TAIL = {"fpr_max": 0.3}
LIMITED: dict[str, tuple[Callable[[], Any], Status, int | None]] = {
    "cuts, time": (
        lambda: CuttingPlane(max_time=1e-9).solve(problem_of("hinge")), Status.TIME_LIMIT, 1,
    ),
    "descent, time": (
        lambda: Descent(max_time=1e-9).solve(problem_of("squared_hinge")), Status.TIME_LIMIT, 1,
    ),
    "a window, time": (
        lambda: ActivePairs(tol=1e-12, max_time=1e-9).solve(awkward("plain", 1e-5, n=4000)),
        Status.TIME_LIMIT, 1,
    ),
    "teaching, time": (
        lambda: QP("teaching", "OSQP", max_time=1e-3).solve(problem_of("hinge")),
        Status.TIME_LIMIT, None,
    ),
    "lifted, time": (
        lambda: QP("lifted", "CLARABEL", max_time=1e-3).solve(problem_of("hinge")),
        Status.TIME_LIMIT, None,
    ),
    "proximal, time": (
        lambda: Proximal(1e-14, max_time=1e-9).solve(lasso()), Status.TIME_LIMIT, None,
    ),
    "blocks, time": (
        lambda: solve(StreamedRows(X), Y, 1e-3, loss="squared_hinge", tol=1e-14, max_time=1e-9),
        Status.TIME_LIMIT, None,
    ),
    "cuts, steps": (
        lambda: CuttingPlane(max_iter=1, finish_from=0).solve(problem_of("hinge")),
        Status.ITERATION_LIMIT, 1,
    ),
    "descent, steps": (  # the start is one
        lambda: Descent(max_iter=1).solve(problem_of("squared_hinge")), Status.ITERATION_LIMIT, 2,
    ),
    "hinge, steps": (
        lambda: Descent(1e-12, max_iter=1, finish=False).solve(problem_of("hinge")),
        Status.ITERATION_LIMIT, None,
    ),
    "proximal, steps": (
        lambda: Proximal(1e-14, max_iter=3).solve(lasso()), Status.ITERATION_LIMIT, None,
    ),
    "a window, too small": (
        lambda: ActivePairs(largest=50).solve(awkward("levels", 1e-3)), Status.STALLED, None,
    ),
    "a window, at rounding": (
        lambda: ActivePairs(tol=1e-18).solve(awkward("plain", 1e-3, n=2000)), Status.STALLED, None,
    ),
}  # fmt: skip


@each("name", LIMITED)
def test_a_limit_returns_the_best_point_with_a_true_interval(name: str) -> None:
    run, status, steps = LIMITED[name]
    found = run()
    assert found.status == status and (steps is None or found.n_iter == steps)
    assert found.certificate.gap >= 0
    assert found.certificate.primal <= 1.0 + 1e-12  # no worse than zero weights
    if name == "a window, at rounding":
        assert found.n_iter < 15 and found.certificate.reaches(1e-12)
    if "cuts" in name or name in ("descent, time", "descent, steps", "hinge, steps"):
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
    problem, w0 = problem_of("hinge"), cold.w * 1.1
    stopped = CuttingPlane(max_iter=1, finish_from=0).solve(problem, w0=w0)
    assert stopped.certificate.primal <= problem.objective(w0)


def test_large_features_at_a_small_lam_end_without_an_error_and_stalls_are_noticed() -> None:
    """The matrix 2 M + lam I is singular to rounding; any certified point will do."""
    features = np.repeat(X[:40, :1], 2, axis=1) * 1e6
    for loss in ("squared_hinge", "square"):
        found = solve(features, Y[:40], 1e-12, loss=loss, max_time=5)
        assert found.certificate.gap >= 0
    gaps: list[float] = []

    def watch(step: Step) -> None:
        gaps.append(step.gap)
        stuck = len(gaps) > 200 and gaps[-1] > 0.99 * gaps[-150]
        assert not stuck, f"150 cuts without progress at a gap of {step.gap:g}, and still cutting"

    rows, y = np.random.default_rng(0).normal(size=(30, 3)) * 1e6, np.arange(30) % 3 == 0
    ended = CuttingPlane().solve(linear_problem(rows, y, 1e-2), callback=watch)
    assert ended.status in (Status.CERTIFIED, Status.STALLED)


def test_looser_is_quicker_and_many_rows_are_read_in_blocks(monkeypatch) -> None:
    """At a small lam the slopes of coarse bins are too rough for any dual point."""
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(4000, 20))
    y = rows[:, 0] + rng.normal(size=4000) > 0.8
    steps = [Descent(tol=tol).solve(linear_problem(rows, y, 1e-4)).n_iter for tol in (1e-3, 1e-9)]
    assert steps[0] <= steps[1]
    monkeypatch.setattr(solving, "HELD_NUMBERS", 1000)
    monkeypatch.setattr(solving, "HELD_ROWS", 1000)
    found = solve(rows, y, lam=1e-1, loss="squared_hinge", tol=1e-7)
    assert found.status == Status.CERTIFIED and isinstance(found.minorant.evidence, Weights)


def test_a_swallowed_interrupt_is_handed_on_without_a_signal(monkeypatch) -> None:
    found = SimpleNamespace(info=SimpleNamespace(status="interrupted"))
    solver = type(defines.SOLVER_MAP_QP["OSQP"])
    monkeypatch.setattr(solver, "solve_via_data", lambda *_, **__: found)
    monkeypatch.delattr(signal, "raise_signal")
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    try:
        solution = QP("lifted", "OSQP").solve(linear_problem(X[:24], Y[:24], 1e-2))
    finally:
        signal.signal(signal.SIGINT, before)
    assert solution.status == Status.INTERRUPTED and heard == [signal.SIGINT]


# Trial steps at which the loss overflows: infinitely bad, and not the caller's mistake.

HARD = {"tail": [9, 30, 37], "ordered": [21, 93, 121]}
"""Seeds at which a trial step overflows: each made the whole solution fail once."""


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
    pairs = AllPairs().on(np.array([True, False, True]))
    rows = Rows(np.array([[0.0], [1e3], [2e3]]))  # scores of +-1 leave the range of exp
    steep, recorder = Problem(rows, Mean(pairs, get_loss("exponential")), Ridge(1.0)), Recorder()
    seen = evaluated(steep, recorder, np.ones(1), 0.0)
    assert not seen.finite and seen.primal == np.inf and seen.dual == -np.inf
    assert recorder.best_w is None and recorder.best_witness is None
    assert evaluated(steep, recorder, np.zeros(1), 0.0).finite and recorder.best_primal == 1.0
    with pytest.raises(InputError, match="overflows at a margin"):
        steep.objective(np.ones(1))
    squared = replace(steep, risk=Mean(steep.pairs, get_loss("squared_hinge")))
    with pytest.raises(OverflowingError, match="its square overflows"):
        squared.sums(np.array([0.0, 1e151, 0.0]))


# Which method suits, and what each refuses


class Kinked(RoundedHinge):
    """A loss with a kink that is not the hinge's."""

    smoothness = np.inf  # type: ignore[assignment]


def test_the_method_that_suits_is_taken_and_the_others_refuse() -> None:
    rng = np.random.default_rng(0)
    space, pairs = Rows(rng.normal(size=(30, 3))), AllPairs().on(np.arange(30) % 3 == 0)

    def problem(loss: Any, penalty: Any, of: Any = space) -> Problem:
        return Problem(of, Mean(pairs, loss), penalty)

    for loss in (HINGE, SQUARED_HINGE, LOGISTIC, RoundedHinge(), SQUARE):
        names = "SquaredLossSolver" if loss is SQUARE else "Descent", "Proximal"
        for penalty, name in zip((Ridge(1e-3), ElasticNet(1e-3, 1e-3)), names, strict=True):
            chosen = choose_solver(problem(loss, penalty), "auto", 1e-6, 5)
            assert type(chosen).__name__ == name
    kernel = Gram(space.dense() @ space.dense().T)
    streamed = problem(SQUARED_HINGE, Ridge(1.0), StreamedRows(space.dense()))
    survival = awkward("survival", 1.0, n=50)
    for refuse in (
        *(
            lambda name=name, loss=loss: choose_solver(
                problem(loss, ElasticNet(0.1, 0.1)), name, 1e-6, 5
            ).solve(problem(loss, ElasticNet(0.1, 0.1)))
            for name in METHODS
            if name != "proximal"
            for loss in (HINGE, SQUARED_HINGE, SQUARE)
        ),
        lambda: choose_solver(survival, "pair-newton", 1e-6, None),
        lambda: choose_solver(survival, "qp", 1e-6, None),
        lambda: Descent().solve(problem(Kinked(), Ridge(1.0))),
        lambda: Descent().solve(streamed, w0=np.ones(2)),
        lambda: ActivePairs().solve(problem(SQUARE, Ridge(1.0))),
        lambda: ActivePairs().solve(problem(HINGE, Ridge(1.0), kernel)),
        lambda: streamed.risk.minorant(Weights(np.ones(3), 8, 2)),
        lambda: streamed.risk.minorant(Weights(np.ones(3), 8, 0, 0.5)),
    ):
        with pytest.raises(InputError):
            refuse()


def test_separate_parts_of_a_callers_wish_become_one_penalty() -> None:
    assert penalty_from(0.1) == Ridge(0.1)
    assert penalty_from(0.1, 0.2) == ElasticNet(0.1, 0.2)
    assert isinstance(penalty_from(0.0, 0.2, groups=["a", "a", "b"]), GroupLasso)
    assert isinstance(penalty_from(0.1, sign="nonnegative"), Sign)
    signed: Any = penalty_from(0.1, 0.1, sign=[0, 2])
    assert np.array_equal(signed.columns, [0, 2])
    wrong: list[dict[str, Any]] = [
        *({"lam": lam} for lam in (0.0, -1.0, np.nan)),
        *({"lam": 0.1, "l1": l1} for l1 in (-1.0, np.inf)),
        *({"lam": 0.1, "sign": sign} for sign in ("positive", [-1], [0.5])),
        {"lam": 0.1, "groups": [0, 1]},
        {"lam": 0.1, "l1": 0.1, "groups": [[0, 1]]},
    ]
    for asked in wrong:
        with pytest.raises(InputError):
            penalty_from(**asked)
