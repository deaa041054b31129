"""Every route ends at one optimum; that of the worst subsets, and of Clarabel pair by pair."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact import AllPairs, Gram, PairList, Rows, solve
from aucert.exact.certificate.solution import Solution, Status
from aucert.exact.losses.registry import ALL_LOSSES
from aucert.exact.problem.penalties import Ridge
from aucert.exact.problem.problem import Problem, linear_problem
from aucert.exact.problem.risk import Mean
from aucert.exact.solvers.choose import choose_solver
from aucert.exact.solvers.cutting_plane import CuttingPlane
from aucert.exact.solvers.descent import Descent
from aucert.exact.solvers.finish import ActivePairs
from aucert.exact.solvers.proximal import Proximal
from aucert.exact.solvers.qp import BACKENDS, LIMITS, QP
from aucert.exact.spaces.blocks import StreamedRows
from convex_programs import reference, worst_reference
from loops import each, seeds
from naive import weighted_pairs
from own_parts import GradientDescent, RoundedHinge
from problems import CLASSES, ORDERED, awkward

FALLING = [loss.name for loss in ALL_LOSSES.values() if loss.nonincreasing]


# `test_requests` compares any pairs, loss and penalty with Clarabel; here is the worst of subsets.


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
    """Rows are rounded, so that margins tie; some come twice."""
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
        best, _ = worst_reference(X, lists, loss, Ridge(lam))
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
    problem = Problem(Rows(X), Mean(AllPairs().on(y), RoundedHinge()), Ridge(0.1))
    own = GradientDescent().solve(problem)
    assert own.status == "certified" and own.minorant is own.witness
    pairs, held = weighted_pairs(y.tolist(), AllPairs(), float), own.certificate
    best, _ = reference(X, pairs, "rounded hinge", Ridge(0.1))
    assert held.reaches(1e-6) and held.dual <= best + 1e-7 and best - 1e-7 <= held.primal


def meet(found: dict[str, Solution]) -> None:
    """Intervals of one optimum overlap, rounding included."""
    ends = {name: (one.certificate, one.certificate.rounding) for name, one in found.items()}
    least = max(one.dual - rounding for one, rounding in ends.values())
    assert least <= min(one.primal + rounding for one, rounding in ends.values()), ends


def answers(kind: str, lam: float, loss: str) -> Iterator[tuple[str, Solution]]:
    """Solve a problem by every method that takes it, and over every place of its rows."""
    problem = awkward(kind, lam, loss)
    yield "auto", choose_solver(problem, "auto", 1e-8, None).solve(problem)
    if kind in ORDERED:
        yield "descent", Descent(1e-6).solve(problem)
        yield "proximal", Proximal(1e-4).solve(problem)
        return
    held: Any = problem.space
    X = held.dense()
    yield "sparse", Descent(1e-6).solve(problem.over(Rows(sp.csr_matrix(X))))
    yield "kernel", Descent(1e-6).solve(problem.over(Gram(X @ X.T)))
    if loss == "hinge":
        yield "cuts", CuttingPlane(1e-7).solve(problem)
        yield "bundle", CuttingPlane(1e-3).solve(problem)
        yield "window", ActivePairs(1e-10).solve(problem)
    else:
        yield "proximal", Proximal(1e-5, max_iter=2000, max_time=2.0).solve(problem)
    if loss in ("hinge", "squared_hinge") and kind != "pairs":
        tol = 1e-3 if loss == "hinge" else 1e-6
        rows = StreamedRows(X, block=64 if kind == "plain" else 10**15)  # more than there are
        yield "blocks", Descent(tol).solve(problem.over(rows))


@each("loss", ["hinge", "squared_hinge", "square", "logistic", "smooth_hinge", "exponential"])
@each("kind", [*CLASSES, *ORDERED])
def test_every_route_ends_at_the_same_optimum(kind: str, loss: str) -> None:
    for lam in (1.0, 1e-3):
        found = dict(answers(kind, lam, loss))
        meet(found)
        bad = {k: s for k, s in found.items() if s.status is not Status.CERTIFIED}
        # A method that suits is chosen for a caller; in blocks tied margins keep the gap open.
        others = {"proximal"} if kind == "plain" else {"proximal", "bundle", "blocks", "kernel"}
        # Without a Hessian it stops early where lam is small.
        assert set(bad) <= others | ({"sparse"} if kind == "wide" else set()), bad


@each("seed", seeds(4))
def test_newton_steps_end_where_lam_is_tiny_and_classes_are_apart(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 90)) * (rng.random((40, 90)) < 0.1), rng.random(40) < 0.4
    for lam in (1e-4, 1e-5):  # below it rounding is more than 1e-9 of F
        assert solve(X, y, lam, loss="squared_hinge").status is Status.CERTIFIED


# Relative gaps that each solver reaches unaided: they differ, and that is the point.
REACHED = {"CLARABEL": 1e-7, "ECOS": 1e-4, "OSQP": 1e-2}
RNG, Y = np.random.default_rng(0), np.arange(24) % 3 == 0
X = RNG.normal(size=(24, 3)) + 0.7 * Y[:, None]
UP, LOW = RNG.choice(np.flatnonzero(Y), 40), RNG.choice(np.flatnonzero(~Y), 40)
PAIRS: dict[str, Any] = {
    "all": AllPairs(),
    "weights": AllPairs(RNG.integers(0, 3, 24).astype(float)),
    "listed": PairList(UP, LOW, RNG.integers(1, 4, 40).astype(float)),
}


@each("kind", PAIRS)
@each("backend", BACKENDS)
@each("form", LIMITS)
def test_every_form_and_backend_has_the_optimum(form: str, backend: str, kind: str) -> None:
    if backend not in cp.installed_solvers():
        pytest.skip(f"{backend} is not installed")
    problem = linear_problem(X, Y, 1e-2, pairs=PAIRS[kind])
    exact = solve(X, Y, 1e-2, pairs=PAIRS[kind]).certificate
    found = QP(form, backend).solve(problem).certificate  # type: ignore[arg-type]
    assert found.dual <= exact.primal and found.primal >= exact.dual
    assert found.reaches(REACHED[backend])
