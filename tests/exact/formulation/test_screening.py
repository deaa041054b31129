"""Weights proved to be zero: against the optimum itself, and against planted faults."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact import solve
from aucert.exact.certificate.certificate import Certificate
from aucert.exact.formulation import screening
from aucert.exact.formulation.screening import pair_spread, zeros_proved
from aucert.exact.losses.registry import SQUARED_HINGE, get_loss
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.pairs.kinds import ordinal_pairs
from aucert.exact.problem.minorant import Minorant
from aucert.exact.problem.penalties import ElasticNet, GroupLasso, Ridge, Sign
from aucert.exact.problem.problem import Problem
from aucert.exact.problem.risk import Mean
from aucert.exact.spaces.rows import Rows
from loops import each

LOSSES = ["squared_hinge", "square", "logistic", "smooth_hinge", "hinge"]
KINDS: dict[str, dict[str, Any]] = {
    "l1": {},
    "groups": {"groups": np.arange(9) // 3},
    "sign": {"sign": "nonnegative"},
    "both": {"groups": np.arange(9) // 2, "sign": np.arange(4)},
}


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of unequal features, of which the first tell the labels."""
    rng = np.random.default_rng([21, seed])
    n = int(rng.integers(12, 50))
    X = rng.normal(size=(n, 9)) * 10.0 ** rng.uniform(-0.5, 0.5, size=9) + 3.0
    y = (X[:, 0] - X[:, 1] + rng.normal(size=n) > np.median(X[:, 0] - X[:, 1])).astype(int)
    return X, y


def false_zeros(
    loss: str, kind: str, sparse: bool = False, ordered: bool = False
) -> tuple[int, int]:
    """Return how many zeros are proved, and how many of them are none."""
    proved = false = 0
    for seed in range(3):
        X, y = drawn(seed)
        lam = [0.01, 0.1, 0.0][seed] or (0.05 if loss == "hinge" else 0.0)
        more = {**KINDS[kind], "loss": loss, "lam": lam, "l1": 0.05 * 3**seed}
        if ordered:
            more["qid"] = np.arange(y.size) % 2
        rows = sp.csr_matrix(X) if sparse else X
        rough = solve(rows, y, tol=1e-2 if loss == "hinge" else 1e-4, **more)
        fine = solve(rows, y, tol=1e-3 if loss == "hinge" else 1e-8, **more)
        assert rough.zeros_proved is not None and fine.zeros_proved is not None
        proved += int(rough.zeros_proved.sum()) + int(fine.zeros_proved.sum())
        nonzero = np.abs(fine.w) > 1e-3 * np.abs(fine.w).max()
        false += int((rough.zeros_proved & nonzero).sum() + (fine.zeros_proved & nonzero).sum())
    return proved, false


@each("kind", KINDS)
@each("loss", LOSSES)
def test_what_is_proved_is_zero(loss: str, kind: str) -> None:
    proved, false = false_zeros(loss, kind)
    assert false == 0 and (proved > 0 or loss == "hinge")


@pytest.mark.slow
def test_sparse_rows_and_ordered_pairs_have_zeros_too() -> None:
    for sparse, ordered in ((True, False), (False, True), (True, True)):
        proved, false = false_zeros("squared_hinge", "l1", sparse, ordered)
        assert proved > 0 and false == 0


@pytest.mark.slow
@each("loss", ["squared_hinge", "hinge"])
def test_points_far_from_the_optimum_prove_nothing_false(loss: str) -> None:
    """A rule that takes a smaller gap, ball or spread proves zeros there that are none."""
    X, y = drawn(1)
    problem = Problem(Rows(X), Mean(AllPairs().on(y == 1), get_loss(loss)), ElasticNet(0.01, 0.1))
    best = solve(X, y, lam=0.01, l1=0.1, loss=loss, tol=1e-8)
    for k in range(60):
        w = best.w * np.random.default_rng(k).uniform(-1, 2, size=9) * (k % 4) / 3
        minorant = Minorant.from_scores(problem, problem.space.scores(w))
        stated = zeros_proved(problem, w, minorant, Certificate.of(problem, w, minorant))
        assert stated is not None and not (stated & (np.abs(best.w) > 1e-3)).any()


def test_half_of_the_ball_of_a_smooth_loss_would_prove_what_is_false(monkeypatch) -> None:
    """One feature and the square loss: alpha - alpha* is a multiple of x_i - x_j there.

    So |g - g*| is the whole of 2 sqrt(gap S), up to what the penalty adds to the gap. The weight is
    not zero, for l1 is a little below the pull at zero.
    """
    X, y = np.random.default_rng(2).normal(size=(40, 1)), np.arange(40) % 2
    X[:, 0] += 0.4 * y
    pairs, loss = AllPairs().on(y == 1), get_loss("square")
    rows = Rows(X)
    at_zero = float(np.abs(rows.pull(pairs.sums(np.zeros(40), loss).c))[0])
    problem = Problem(rows, Mean(pairs, loss), ElasticNet(0.01, 0.999 * at_zero))
    best = solve(X, y, lam=0.01, l1=0.999 * at_zero, loss="square", tol=1e-10)
    assert abs(best.w[0]) > 1e-5

    def proved() -> int:
        found = 0
        for size in np.linspace(0.01, 0.2, 20):
            minorant = Minorant.from_scores(problem, rows.scores(size * np.sign(best.w)))
            judged = Certificate.of(problem, best.w, minorant)
            stated = zeros_proved(problem, best.w, minorant, judged)
            assert stated is not None
            found += int(stated.sum())
        return found

    assert proved() == 0
    monkeypatch.setattr(screening, "pair_spread", lambda problem: pair_spread(problem) / 4)
    assert proved() > 0


@each("weighted", [False, True])
def test_the_spread_is_at_least_that_of_the_pairs(weighted: bool) -> None:
    X, y = drawn(0)
    weight = np.random.default_rng(0).uniform(0, 2, y.size) if weighted else None
    pairs = AllPairs(weight).on(y == 1)
    a, b = pairs.normalised()
    apart = (X[y == 1][:, None] - X[y == 0][None]) ** 2
    true = np.einsum("i,j,ijk->k", a, b, apart)
    for rows in (X, sp.csr_matrix(X)):
        stated = pair_spread(Problem(Rows(rows), Mean(pairs, SQUARED_HINGE), ElasticNet(1.0, 1.0)))
        assert (true <= stated).all() and np.allclose(stated, true, rtol=1e-9)
    ordered = ordinal_pairs(y)
    stated = pair_spread(Problem(Rows(X), Mean(ordered, SQUARED_HINGE), ElasticNet(1.0, 1.0)))
    plain = np.einsum("ijk->k", apart) / apart.shape[0] / apart.shape[1]
    assert (plain <= stated).all() and (stated <= 8 * plain).all()


def test_penalties_tell_where_every_pull_near_one_is_inside() -> None:
    g, error = np.array([0.5, -0.5, 2.0, -2.0]), np.full(4, 0.4)
    assert ElasticNet(1.0, 1.0).zeros(g, error).tolist() == [True, True, False, False]
    assert ElasticNet(1.0, 0.9).zeros(g, error).tolist() == [False] * 4  # at the edge: not proved
    assert Sign(ElasticNet(1.0, 1.0)).zeros(g, error).tolist() == [True, True, False, True]
    assert Sign(Ridge(1.0), np.array([1, 3])).zeros(g, error).tolist() == [False, True, False, True]
    groups = GroupLasso(1.0, 1.0, np.array([0, 0, 1, 1]))
    assert groups.zeros(g, error).tolist() == [True, True, False, False]  # 1.27 < sqrt(2)
    assert groups.zeros(g, error + 0.11).tolist() == [False] * 4  # 1.43 is not
    assert Sign(groups).zeros(g, error + 0.11)[:2].all()  # only 1.01 can pull


def test_where_no_rule_is_known_nothing_is_said() -> None:
    X, y = drawn(0)
    assert solve(X, y, lam=0.1, tol=1e-4).zeros_proved is None
    assert solve(X, y, lam=0.1, l1=0.1, loss="exponential", tol=1e-4).zeros_proved is None
    partial = solve(X, y, lam=0.1, l1=0.01, fpr_max=0.5, loss="logistic", tol=1e-2)
    assert partial.zeros_proved is None
