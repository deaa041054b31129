"""L-BFGS on smoothed sums: the optimum of other solvers, awkward rows, lists of pairs, tails."""

from __future__ import annotations

import numpy as np
import pytest

from aucert.exact.api.solve import solve
from aucert.exact.certificate.solution import Recorder, Status
from aucert.exact.errors import InputError
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.problem.problem import Problem, linear_problem
from aucert.exact.solvers.active_pairs import ActivePairs
from aucert.exact.solvers.cutting_plane import CuttingPlane
from aucert.exact.solvers.hard_margin import RIDGES, marginals, offer_hard_margin
from aucert.exact.solvers.smoothing.functions import functions_of
from aucert.exact.solvers.smoothing.limited_memory import LimitedMemory
from aucert.exact.solvers.smoothing.quasi_newton import QuasiNewton
from aucert.exact.spaces.rows import Rows
from loops import each, seeds

KINDS = ("plain", "ties", "one positive", "constant", "duplicates", "weighted", "listed")


def awkward(kind: str, lam: float) -> Problem:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 4))
    y = X[:, 0] + rng.normal(size=80) > 0.4
    pairs: AllPairs | PairList = AllPairs()
    if kind == "ties":
        X = np.round(X)
    elif kind == "one positive":
        y = np.arange(80) == 3
    elif kind == "constant":
        X[:, 1] = 7.0
    elif kind == "duplicates":
        X, y = X[np.arange(80) // 4], y[np.arange(80) // 4]
    elif kind == "weighted":
        pairs = AllPairs(rng.integers(0, 4, 80).astype(float))
    elif kind == "listed":
        i, j = rng.choice(np.flatnonzero(y), 300), rng.choice(np.flatnonzero(~y), 300)
        pairs = PairList(i, j, rng.uniform(0.5, 2, 300))
    return linear_problem(X, y, lam, "hinge", pairs)


@each("kind", KINDS)
@each("lam", [1.0, 1e-3])
def test_all_routes_agree_within_their_gaps(kind: str, lam: float) -> None:
    problem = awkward(kind, lam)
    found = [s.solve(problem).certificate for s in (QuasiNewton(), CuttingPlane(), ActivePairs())]
    assert all(one.reaches(1e-9) for one in found)
    least = max(one.dual for one in found)
    assert least <= min(one.primal for one in found)


def test_another_loss_is_refused() -> None:
    with pytest.raises(InputError, match="solves the hinge"):
        QuasiNewton().solve(linear_problem(np.eye(4), np.arange(4) % 2, 1.0, "square"))


def test_a_warm_start_is_used() -> None:
    problem = awkward("plain", 1e-2)
    first = QuasiNewton(tol=1e-6).solve(problem)
    again = QuasiNewton(tol=1e-6).solve(problem, w0=first.w)
    assert again.status == Status.CERTIFIED and again.n_iter < first.n_iter


def test_a_wrong_product_is_caught_by_the_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, right = awkward("plain", 1e-2), Rows.scores
    true = ActivePairs().solve(problem).certificate
    calls = []

    def wrong(self: Rows, w: np.ndarray) -> np.ndarray:
        calls.append(1)
        return 1.2 * right(self, w)

    with monkeypatch.context() as patch:
        patch.setattr(Rows, "scores", wrong)
        solver = QuasiNewton(tol=1e-8, max_iter=60)

        recorder = Recorder()
        recorder.offer(np.zeros(4), 1.0)
        functions = functions_of(problem, 1e-8, lambda: False)
        LimitedMemory(problem, functions, recorder, 1e-8).run(60)
    assert calls
    held = recorder.finish(problem, solver.tol, None).certificate
    assert not held.reaches(1e-8) and held.gap >= 0
    assert held.dual <= true.primal
    assert held.primal >= true.dual


@each("seed", seeds(6))
def test_separable_rows_end_at_their_hard_margin(seed: int) -> None:
    """More rows than coordinates: equal margins of all rows is what no w can have."""
    rng = np.random.default_rng(seed)
    n, d = 120, 80
    X = rng.normal(size=(n, d))
    y = X @ rng.normal(size=d) > 0.3
    X -= X.mean(axis=0)
    found = marginals(X @ X.T, y, RIDGES)
    assert found is not None and (found >= 0).all()
    signed = np.where(y, found, -found)
    margins = X @ (X.T @ signed)
    assert margins[y].min() - margins[~y].max() == pytest.approx(1.0, abs=1e-6)
    solution = QuasiNewton().solve(linear_problem(X, y, 1e-7))
    assert solution.status == Status.CERTIFIED


def test_no_hard_margin_is_tried_unasked() -> None:
    problem, recorder = awkward("plain", 1e-2), Recorder()
    offer_hard_margin(problem, recorder)
    assert recorder.best_w is None


def tailed(kind: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(n, 6))
    y = Z @ np.linspace(1, 0.1, 6) + rng.normal(size=n) > 1
    if kind == "lognormal":
        return np.exp(2 * Z), y
    if kind == "cauchy":
        return rng.standard_cauchy((n, 6)) + y[:, None], y
    if kind == "unscaled":
        return Z * 10.0 ** np.linspace(-6, 6, 6), y
    X = Z.copy()
    X[rng.integers(0, n, 5), 0] *= 1e8
    return X, y


@each("kind", ["lognormal", "cauchy", "unscaled", "outliers"])
@each("lam", [1e-2, 1e-8])
def test_heavy_tails_and_unscaled_columns_are_proved(kind: str, lam: float) -> None:
    found = solve(*tailed(kind, 6000), lam=lam, tol=1e-6, max_time=60)
    assert found.status == Status.CERTIFIED
