"""The general solver and the certificate against Clarabel on enumerated pairs, every penalty."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aucert.exact import AllPairs, Certificate, Gram, InputError, Minorant, PairList, Ridge, Rows
from aucert.exact.losses.registry import HINGE, LOGISTIC, SQUARE, SQUARED_HINGE
from aucert.exact.problem.penalties import ElasticNet, GroupLasso, Sign, penalty_from
from aucert.exact.problem.problem import Problem
from aucert.exact.problem.risk import Mean
from aucert.exact.solvers.choose import METHODS, choose_solver
from aucert.exact.solvers.proximal import Proximal
from aucert.exact.spaces.factor import rows_of
from convex_programs import reference
from loops import each, first_fast
from own_parts import Box, GradientDescent, Polynomial, RoundedHinge, WeightedL1

LOSSES = [HINGE, SQUARED_HINGE, LOGISTIC, RoundedHinge()]
KINDS = 9


def penalty_of(kind: int, d: int, rng: np.random.Generator) -> Any:
    l2, l1 = float(10.0 ** rng.uniform(-3, 0)), float(10.0 ** rng.uniform(-3, -0.5))
    groups = np.arange(d) // 2
    return [
        Ridge(l2),
        ElasticNet(l2, l1),
        ElasticNet(0.0, l1),
        GroupLasso(l2, l1, groups),
        GroupLasso(0.0, l1, groups),
        Sign(Ridge(l2), np.arange(0, d, 2)),
        Sign(GroupLasso(l2, l1, groups)),
        Box(l2, -l1, 3 * l1),
        WeightedL1(l2, rng.uniform(0, 2 * l1, d)),
    ][kind]


def drawn(seed: int, kind: int) -> tuple[Problem, list[Any]]:
    """Return a problem with ties, duplicates, a constant column, and its pairs."""
    rng = np.random.default_rng([7, seed, kind])
    n, d = int(rng.integers(5, 16)), int(rng.integers(2, 6))
    y = np.arange(n) < max(1, n // 3)
    X = np.round(rng.normal(size=(n, d)) + 0.5 * y[:, None], 1)
    X[rng.integers(n)] = X[rng.integers(n)]
    X[:, rng.integers(d)] = 2.0 if seed % 4 == 0 else X[:, 0]
    plus, minus = np.flatnonzero(y), np.flatnonzero(~y)
    if seed % 3 == 2:
        pairs = PairList(rng.choice(plus, 12), rng.choice(minus, 12), rng.uniform(0.5, 2, 12))
        listed = list(zip(pairs.i.tolist(), pairs.j.tolist(), pairs.c.tolist(), strict=True))
    else:
        weight = rng.integers(1, 4, n) + 0.0 if seed % 3 else None
        pairs = AllPairs(weight)
        a, b = pairs.on(y).normalised()
        listed = [
            (i, j, float(a[k] * b[m])) for k, i in enumerate(plus) for m, j in enumerate(minus)
        ]
    penalty = penalty_of(kind, d, rng)
    loss: Any = LOSSES[(seed + kind) % len(LOSSES)]
    return Problem(Rows(X), Mean(pairs.on(y), loss), penalty), listed


@each("kind", range(KINDS))
@each("seed", first_fast([1, 2, 3, 4, 0, 5, 6, 7], 4))  # each loss with each penalty
def test_the_optimum_is_inside_the_certificate(seed: int, kind: int) -> None:
    problem, pairs = drawn(seed, kind)
    assert isinstance(problem.space, Rows)
    best, w = reference(np.asarray(problem.space.X), pairs, problem.loss.name, problem.penalty)
    tol = 1e-5 if problem.loss == HINGE else 1e-8
    found = Proximal(tol, max_time=20).solve(problem)
    certificate = found.certificate
    slack = 1e-8 * (1 + best)  # what Clarabel leaves
    assert certificate.dual <= best + slack
    assert best - slack <= certificate.primal
    assert found.status == "certified"
    assert certificate.gap <= tol * certificate.primal + 1e-9
    assert (certificate.radius is None) == (problem.penalty.l2 == 0)
    if certificate.radius is not None:
        assert np.linalg.norm(found.w - w) <= certificate.radius + np.sqrt(
            4 * slack / problem.penalty.l2
        )


@each("kind", range(KINDS))
def test_any_weights_and_any_scores_make_a_true_certificate(kind: int) -> None:
    for seed in range(8):
        problem, pairs = drawn(seed, kind)
        rng = np.random.default_rng(seed)
        assert isinstance(problem.space, Rows)
        best, _ = reference(np.asarray(problem.space.X), pairs, problem.loss.name, problem.penalty)
        w = np.abs(rng.normal(size=problem.space.dim))  # signs allow it
        scores = rng.normal(size=problem.n)
        for width in (0.0, 0.5):
            witness = Minorant.from_scores(problem, scores, width)
            found = Certificate.of(problem, w, witness)
            slack = 1e-8 * (1 + best)
            assert found.dual <= best + slack
            assert best - slack <= found.primal


def test_auto_takes_a_specialist_where_there_is_one_and_else_the_general_solver() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(30) % 3 == 0
    space, pairs = Rows(rng.normal(size=(30, 3))), AllPairs().on(y)

    def chosen(loss: Any, penalty: Any) -> str:
        return type(
            choose_solver(Problem(space, Mean(pairs, loss), penalty), "auto", 1e-6, 5)
        ).__name__

    assert chosen(HINGE, Ridge(1e-3)) == "Descent"
    assert chosen(SQUARED_HINGE, Ridge(1e-3)) == "Descent"
    assert chosen(SQUARE, Ridge(1e-3)) == "SquaredLossSolver"
    assert {chosen(loss, ElasticNet(1e-3, 1e-3)) for loss in LOSSES} == {"Proximal"}
    assert chosen(RoundedHinge(), Ridge(1e-3)) == "Descent"
    assert chosen(LOGISTIC, Ridge(1e-3)) == "Descent"


def test_specialists_refuse_a_penalty_that_they_would_leave_out() -> None:
    rng = np.random.default_rng(0)
    space, pairs = Rows(rng.normal(size=(30, 3))), AllPairs().on(np.arange(30) % 3 == 0)
    for name in METHODS:
        for loss in (HINGE, SQUARED_HINGE, SQUARE):
            problem = Problem(space, Mean(pairs, loss), ElasticNet(0.1, 0.1))
            if name == "proximal":
                continue
            with pytest.raises(InputError):
                choose_solver(problem, name, 1e-6, 5).solve(problem)


def test_a_solver_of_a_few_lines_is_certified() -> None:
    problem, pairs = drawn(3, 0)
    problem = Problem(problem.space, Mean(problem.pairs, RoundedHinge()), Ridge(0.1))
    assert isinstance(problem.space, Rows)
    best, _ = reference(np.asarray(problem.space.X), pairs, "rounded hinge", problem.penalty)
    found = GradientDescent().solve(problem)
    assert found.status == "certified" and found.minorant is found.witness
    assert abs(found.certificate.primal - best) <= 1e-6 * best + 1e-8


def test_a_polynomial_kernel_is_certified_in_its_own_space() -> None:
    rng = np.random.default_rng(2)
    X, y = np.round(rng.normal(size=(25, 2)), 1), np.arange(25) % 3 == 0
    space = Gram.of_kernel(Polynomial(2), X)
    meant = Problem(space, Mean(AllPairs().on(y), RoundedHinge()), Ridge(0.05))
    rows, back, _ = rows_of(space)
    solved = Proximal(1e-8).solve(meant.over(rows))
    found = Certificate.of(meant, back(solved.w), solved.witness)
    assert found.reaches(1e-6)
    root2 = np.sqrt(2.0)  # the features of (1 + x'z)^2
    features = np.column_stack([root2 * X, X**2, root2 * X[:, 0] * X[:, 1]])
    a, b = np.flatnonzero(y), np.flatnonzero(~y)
    pairs = [(i, j, 1 / (a.size * b.size)) for i in a for j in b]
    best, _ = reference(features, pairs, "rounded hinge", Ridge(0.05))
    assert found.dual <= best + 1e-8 and best - 1e-8 <= found.primal


def test_limits_of_time_and_steps_are_kept() -> None:
    problem, _ = drawn(4, 1)
    problem = Problem(problem.space, Mean(problem.pairs, HINGE), problem.penalty)
    assert Proximal(1e-14, max_iter=3).solve(problem).status == "iteration_limit"
    assert Proximal(1e-14, max_time=1e-9).solve(problem).status == "time_limit"


def test_separate_parts_of_a_callers_wish_become_one_penalty() -> None:
    assert penalty_from(0.1) == Ridge(0.1)
    assert penalty_from(0.1, 0.2) == ElasticNet(0.1, 0.2)
    assert isinstance(penalty_from(0.0, 0.2, groups=["a", "a", "b"]), GroupLasso)
    assert isinstance(penalty_from(0.1, sign="nonnegative"), Sign)
    assert np.array_equal(np.asarray(penalty_from(0.1, 0.1, sign=[0, 2]).columns), [0, 2])  # type: ignore[union-attr]
    for wrong in (
        {"lam": 0.0},
        {"lam": -1.0},
        {"lam": np.nan},
        {"lam": 0.1, "l1": -1.0},
        {"lam": 0.1, "l1": np.inf},
        {"lam": 0.1, "groups": [0, 1]},
        {"lam": 0.1, "l1": 0.1, "groups": [[0, 1]]},
        {"lam": 0.1, "sign": "positive"},
        {"lam": 0.1, "sign": [-1]},
        {"lam": 0.1, "sign": [0.5]},
    ):
        with pytest.raises(InputError):
            penalty_from(**wrong)  # type: ignore[arg-type]
