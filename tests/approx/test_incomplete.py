"""Drawn pairs, Adamax on them, and the machines, in memory and over partitions."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from aucert.approx import Adamax, GradientDescent, IncompleteROCSVM, IncompleteSAUCSVM, incomplete
from aucert.approx.drawn_pairs import by_weight, draw_pairs
from aucert.approx.incomplete import certificate_over_all
from aucert.exact import PartitionedRows, Problem, Status, linear_problem
from aucert.exact.api.solve import choose_solver, solve
from aucert.exact.formulation.formulation import formulate
from aucert.exact.formulation.request import Request
from aucert.exact.losses.registry import LOSSES
from cutting import cut
from loops import each, refuses


def overlapping(loss: str = "hinge") -> Problem:
    y = (np.arange(40) % 3 == 0).astype(int)
    X = np.random.default_rng(0).normal(size=(40, 3)) + 0.7 * y[:, None]
    return linear_problem(X, y, 0.05, loss)


def one_pair(*x: float) -> Problem:
    """A positive row at x and a negative one at 0: F(w) = |w|^2 / 4 + max(0, 1 - w'x)."""
    return linear_problem(np.array([x, [0.0] * len(x)]), [1, 0], 0.5)


def points(solver, problem: Problem, steps: int) -> list[np.ndarray]:
    """w after 1, 2, ... steps."""
    return [replace(solver, max_iter=k).solve(problem).w for k in range(1, steps + 1)]


def test_three_textbook_steps_by_hand() -> None:
    solver = Adamax(step=0.5, beta1=0.5, beta2=0.5, tol=0, keep="last")
    w1, w2, w3 = (float(w[0]) for w in points(solver, one_pair(1.0), 3))
    # g(w) = w/2 - 1[w < 1].   t = 1: g = -1, m = -1/2, u = 1, bias 1/2.
    assert w1 == pytest.approx(0.5 / (1 / 2) * (1 / 2), rel=1e-14)
    # t = 2: g = -3/4, m = -1/4 - 3/8 = -5/8, u = max(1/2, 3/4) = 3/4, bias 3/4.
    assert w2 == pytest.approx(1 / 2 + 0.5 / (3 / 4) * (5 / 8) / (3 / 4), rel=1e-14)
    # w2 = 19/18 is past the kink. t = 3: g = 19/36, m = -5/16 + 19/72 = -7/144,
    # u = max(3/8, 19/36) = 19/36, bias 7/8.
    assert w3 == pytest.approx(19 / 18 + 0.5 / (7 / 8) * (7 / 144) / (19 / 36), rel=1e-14)
    solver = GradientDescent(step=0.5, decay=1.0, tol=0, keep="last")  # a falling step
    w1, w2 = (float(w[0]) for w in points(solver, one_pair(1.0), 2))
    assert w1 == pytest.approx(0.5, rel=1e-14)
    assert w2 == pytest.approx(0.5 + 0.5 / 2 * (1 - 0.25), rel=1e-14)
    solver = Adamax(step=0.1, beta1=0.5, beta2=0.5, tol=0, keep="last")
    w1, w2 = points(solver, one_pair(2.0, 1.0), 2)  # the textbook: each by its own
    np.testing.assert_allclose(w1, [0.1, 0.1], rtol=1e-14)
    # g = (0.05 - 2, 0.05 - 1), m = (-0.5 - 0.975, -0.25 - 0.475), u = (1.95, 0.95), bias 3/4.
    expected = [0.1 + 0.1 / 0.75 * 1.475 / 1.95, 0.1 + 0.1 / 0.75 * 0.725 / 0.95]
    np.testing.assert_allclose(w2, expected, rtol=1e-14)
    w1, w2 = points(replace(solver, variant="scalar-norm"), one_pair(2.0, 1.0), 2)
    np.testing.assert_allclose(w1, [0.1, 0.05], rtol=1e-14)
    # g = (0.05 - 2, 0.025 - 1), m = (-0.5 - 0.975, -0.25 - 0.4875), u = 1.95, bias 3/4.
    expected = [0.1 + 0.1 / 0.75 * 1.475 / 1.95, 0.05 + 0.1 / 0.75 * 0.7375 / 1.95]
    np.testing.assert_allclose(w2, expected, rtol=1e-14)


def test_best_is_kept_unless_last_is_asked_for() -> None:
    solver = GradientDescent(step=1.9, tol=0, max_iter=4)  # jumps over the optimum w = 1
    best, last = (replace(solver, keep=k).solve(one_pair(1.0)) for k in ("best", "last"))
    assert best.certificate.primal < last.certificate.primal
    least = min(line.primal for line in best.history)
    assert 0 <= best.certificate.primal - least <= best.certificate.rounding
    assert last.certificate.primal == pytest.approx(last.history[-1].primal)


@pytest.mark.slow
def test_the_scalar_variant_stops_by_step_size_and_the_textbook_does_not() -> None:
    more: Any
    for more, status in (
        ({"variant": "scalar-norm"}, Status.STALLED),
        ({}, Status.ITERATION_LIMIT),
        ({"step_tol": 1e-3}, Status.STALLED),
    ):
        found = Adamax(step=0.01, tol=0, max_iter=3000, **more).solve(overlapping())
        assert found.status == status and (found.n_iter < 3000) == (status == Status.STALLED)


def test_an_interrupt_and_a_time_limit_leave_a_certified_best_point() -> None:
    def interrupt(line) -> None:
        if line.n_iter == 3:
            raise KeyboardInterrupt

    stopped = Adamax(tol=0).solve(overlapping(), callback=interrupt)
    assert stopped.status == Status.INTERRUPTED and stopped.n_iter == 3
    timed = Adamax(tol=0, max_iter=10**6, max_time=0.05).solve(overlapping())
    assert timed.status == Status.TIME_LIMIT and timed.certificate.gap > 0


@each("loss", LOSSES)
@each("listed", [False, True])
def test_the_gap_is_never_below_the_true_error_and_reaches_what_is_asked(loss, listed) -> None:
    problem = overlapping(loss=loss)
    if listed:
        problem = problem.with_pairs(draw_pairs(problem.pairs.positive, 60, 0))
    solved = choose_solver(problem, "auto", 1e-9, None).solve(problem).certificate
    for steps in (1, 5, 50, 500):
        certificate = Adamax(step=0.05, max_iter=steps, tol=0).solve(problem).certificate
        assert certificate.gap >= certificate.primal - solved.primal
        assert certificate.dual <= solved.primal
    for solver in (Adamax(step=0.05), *([] if loss == "hinge" else [GradientDescent(step=0.1)])):
        found = replace(solver, decay=0.5, tol=1e-4, max_iter=20_000).solve(problem)
        gap = found.certificate.relative_gap
        assert found.status == Status.CERTIFIED and gap is not None and gap <= 1e-4
        assert found.certificate.primal <= solved.dual * (1 + 1.01e-4)
    if loss != "hinge":  # a step that diverges ends the run with the best point
        found = GradientDescent(step=1e6, max_iter=1000).solve(problem)
        assert found.status == Status.STALLED and found.n_iter < 1000
        assert np.isfinite(found.w).all() and found.certificate.primal <= 1 + 1e-12


POSITIVE = np.array([True, False, True, False, False])  # 2 positive and 3 negative rows: 6 pairs


def test_a_draw_by_weight_never_falls_on_a_row_without_weight() -> None:
    nearly_one = np.nextafter(1.0, 0.0)
    for scale in (1.0, *np.random.default_rng(6).uniform(1, 8, size=1000)):
        weight = scale * np.array([0.0, 0.1, 0.0, 0.2, 0.0])
        drawn = by_weight(weight, np.array([0.0, 0.3, 0.34, nearly_one]))
        assert drawn.tolist() == [1, 1, 3, 3]


RNG = np.random.default_rng(0)
Y = (np.arange(90) % 3 == 0).astype(int)
X = RNG.normal(size=(90, 3)) + 0.8 * Y[:, None]

WRONG: list[tuple[str, Callable[[], object]]] = [
    ("with replacement", lambda: draw_pairs(POSITIVE, 2, 0, replace=False, weight=np.ones(5))),
    ("positive weight", lambda: draw_pairs(POSITIVE, 2, 0, weight=np.array([0.0, 1, 0, 1, 1]))),
    ("4 rows", lambda: draw_pairs(POSITIVE, 2, 0, weight=np.ones(4))),
    ("there are only 6", lambda: draw_pairs(POSITIVE, 7, 0, replace=False)),
    ("both classes", lambda: draw_pairs(np.ones(4, dtype=bool), 2)),
    ("boolean", lambda: draw_pairs(np.array([0, 1]), 2)),
    ("n_pairs", lambda: draw_pairs(POSITIVE, 0)),
    ("n_pairs", lambda: draw_pairs(POSITIVE, 2.0)),  # type: ignore[arg-type]
    ("with replacement", lambda: make(replace=False).fit(X, Y, sample_weight=1.0 + Y)),
    ("whose rows have no weights", lambda: make().fit(in_parts([9], np.ones(800)), None)),
    ("give none", lambda: make().fit(in_parts([9]), some_rows()[1])),
    ("take a sample of the rows", lambda: make_sauc().fit(in_parts([9]), None)),
]


def test_what_cannot_be_drawn_from_is_refused(monkeypatch) -> None:
    for word, call in WRONG:
        refuses(word, call)
    monkeypatch.setattr(incomplete, "MOST_NUMBERS", 300)
    refuses("draw at most 50 pairs", make().fit, in_parts([9]), None)


def make(**parameters) -> IncompleteROCSVM:
    return IncompleteROCSVM(**{"lam": 0.05, "random_state": 0, **parameters})


def test_the_fit_is_adamax_on_the_pairs_of_the_seed() -> None:
    model = make(random_state=5).fit(X, Y)
    problem = linear_problem(X, Y, 0.05).with_pairs(draw_pairs(Y == 1, 90, 5))
    solution = Adamax(step=0.05, tol=1e-3, max_iter=5000).solve(problem)
    np.testing.assert_array_equal(model.coef_[0], solution.w)
    assert model.n_pairs_ == 90 and model.n_iter_ == solution.n_iter
    assert model.incomplete_certificate_ == solution.certificate
    assert model.status_ == Status.CERTIFIED
    with pytest.warns(ConvergenceWarning, match=r"not within tol=0\.001.*raise max_iter"):
        model = make(max_iter=3).fit(X, Y)
    assert model.status_ == Status.ITERATION_LIMIT
    assert not model.incomplete_certificate_.reaches(1e-3)


@each("n_pairs", [5, 90, 2000])
@each("loss", LOSSES)
def test_the_full_certificate_is_never_below_the_true_error(n_pairs: int, loss: str) -> None:
    model = make(n_pairs=n_pairs, loss=loss).fit(X, Y)
    exact = solve(X, Y, 0.05, loss=loss)
    assert exact.status == Status.CERTIFIED
    excess = linear_problem(X, Y, 0.05, loss).objective(model.coef_[0]) - exact.certificate.primal
    assert model.certificate_.gap >= excess
    distance = float(np.linalg.norm(model.coef_[0] - exact.w))
    assert model.certificate_.radius + exact.certificate.radius >= distance


SY = Y == 1
SX = X * [1.0, 2.0, 0.5]
LAM, STRUCTURE = 0.05, 3.0


def make_sauc(**parameters) -> IncompleteSAUCSVM:
    given = {"lam": LAM, "structure": STRUCTURE, "random_state": 0}
    return IncompleteSAUCSVM(**{**given, **parameters})


def objective(w: np.ndarray, i: np.ndarray, j: np.ndarray, structure: float) -> float:
    """SAUC's objective written out, the covariances divided by the size of the class."""
    sigma = np.cov(SX[SY].T, bias=True) + np.cov(SX[~SY].T, bias=True)
    loss = np.maximum(0.0, 1.0 - (SX[i] - SX[j]) @ w).mean()
    return float(LAM / 2 * (w @ w + structure * w @ sigma @ w) + loss)


def test_the_two_certificates_state_saucs_objective_over_all_and_over_the_drawn_pairs() -> None:
    model = make_sauc(n_pairs=40).fit(SX, SY)
    w, drawn = model.coef_[0], draw_pairs(SY, 40, 0)
    i, j = (index.ravel() for index in np.meshgrid(np.flatnonzero(SY), np.flatnonzero(~SY)))
    assert model.certificate_.primal == pytest.approx(objective(w, i, j, STRUCTURE))
    few = objective(w, drawn.i, drawn.j, STRUCTURE)
    assert model.incomplete_certificate_.primal == pytest.approx(few)
    assert model.certificate_.primal != pytest.approx(objective(w, i, j, 0.0))
    model = make_sauc(n_pairs=1800, replace=False).fit(SX, SY)  # every pair drawn once
    best, other = solve(SX, SY, LAM, structure=STRUCTURE), solve(SX, SY, LAM)
    assert model.status_ == Status.CERTIFIED
    assert model.certificate_.primal <= best.certificate.dual * (1 + 1.01e-3)
    assert np.linalg.norm(model.coef_[0] - best.w) < 0.5 * np.linalg.norm(other.w - best.w)


@each("structure", [0.0, 3.0])
def test_row_weights_reach_the_drawn_pairs_and_the_structure(structure: float) -> None:
    weight = (1.0 + 4.0 * (SX[:, 1] > 0)) * (np.arange(90) % 7 > 0)
    model = make_sauc(structure=structure, n_pairs=20_000, tol=1e-4).fit(SX, SY, weight)
    best = solve(SX, SY, LAM, structure=structure, sample_weight=weight)
    w, times = model.coef_[0], weight.astype(int)
    asked = Request.of(LAM, structure=structure)
    stated = formulate(np.repeat(SX, times, 0), np.repeat(SY, times), asked)
    assert model.certificate_.primal == pytest.approx(stated.meant.objective(w), rel=1e-12)
    lost = model.certificate_.primal - best.certificate.primal
    unweighted = stated.meant.objective(solve(SX, SY, LAM, structure=structure).w)
    assert 0 <= lost < 0.2 * (unweighted - best.certificate.primal)
    assert model.certificate_.dual <= best.certificate.primal
    if structure == 0:  # the drawn pairs, by weight among the rows that have one
        kept = weight > 0
        pairs = draw_pairs(SY[kept], 20_000, 0, weight=weight[kept])
        drawn = linear_problem(SX[kept], SY[kept], LAM).with_pairs(pairs)
        assert model.incomplete_certificate_.primal == pytest.approx(drawn.objective(w), rel=1e-12)
    intercept = model.intercept_[0]
    assert model.set_threshold(SX, SY).intercept_[0] != intercept
    assert model.set_threshold(SX, SY, sample_weight=weight).intercept_[0] == intercept


def some_rows(n: int = 800) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.random(n) < 0.3
    return rng.normal(size=(n, 3)) + 0.7 * y[:, None], y


def in_parts(places: list[int], weight: Any = None) -> PartitionedRows:
    return PartitionedRows(cut(*some_rows(), weight, places))


@each("loss", LOSSES)
def test_the_model_is_that_in_memory_and_its_certificate_holds(loss: str) -> None:
    X, y = some_rows()
    words: dict[str, Any] = {"lam": 0.1, "loss": loss, "step": 0.02, "n_pairs": 300}
    apart = IncompleteROCSVM(**words, random_state=1).fit(in_parts([100, 500]), None)
    held = IncompleteROCSVM(**words, random_state=1).fit(X, y)
    np.testing.assert_allclose(apart.coef_, held.coef_, atol=5e-3)
    assert apart.intercept_ == pytest.approx(held.intercept_, abs=0.05)
    assert apart.n_pairs_ == 300
    best = solve(X, y, 0.1, loss=loss).certificate
    stated = apart.certificate_
    assert stated.primal - stated.gap - stated.rounding <= best.primal <= stated.primal
    # In memory the square's and the squared hinge's dual points are shrunk by their own rule.
    assert stated.gap <= (1.3 if loss == "hinge" else 2.0) * held.certificate_.gap + 1e-3
    w = np.array([0.5, 0.1, -0.2])
    stated = certificate_over_all(in_parts([50]), LOSSES[loss], 0.1, w)
    wanted = linear_problem(X, y, 0.1, loss).objective(w)
    assert stated.primal == pytest.approx(wanted, abs=1e-6)
