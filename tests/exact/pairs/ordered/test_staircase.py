"""The largest flow on a staircase against linear programs."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

from aucert.exact.certificate.certificate import Certificate
from aucert.exact.errors import InputError, TooLargeError
from aucert.exact.losses.registry import HINGE, SQUARED_HINGE
from aucert.exact.pairs import ordered_pairs
from aucert.exact.pairs.marginals import largest_flow
from aucert.exact.pairs.ordered_pairs import OrderedPairs
from aucert.exact.problem.minorant import Marginals, Minorant
from aucert.exact.problem.penalties import Ridge
from aucert.exact.problem.problem import Problem
from aucert.exact.problem.risk import Mean
from aucert.exact.spaces.rows import Rows
from loops import each, seeds
from ordered_naive import Naive, naive_ordered


def some_case(seed: int) -> tuple[OrderedPairs, Naive, np.ndarray, np.ndarray]:
    """Pairs of weights 0 and 1, and marginals that may be infeasible."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 16))
    group, key = rng.integers(0, 1 + seed % 2, n), rng.integers(0, 5, n)
    a, b = rng.integers(0, 2, n), rng.integers(0, 2, n)
    a[:2], b[:2], group[:2], key[:2] = 1, 1, 0, [0, 1]
    share = 1.0 + group if seed % 4 == 1 else None
    naive = naive_ordered(group, key, a, b, None, share)
    alpha = rng.uniform(0, 1, len(naive.i)) if seed % 3 else rng.integers(0, 2, len(naive.i))
    carried = alpha * np.array([float(w) for w in naive.weight])
    u, v = np.zeros(n), np.zeros(n)
    np.add.at(u, naive.i, carried)
    np.add.at(v, naive.j, carried)
    if seed % 5:
        u = rng.permutation(u) if seed % 5 == 1 else u * rng.uniform(0, 2, n)
        v = v + rng.uniform(0, 0.05, n) * rng.integers(0, 2, n)
    return OrderedPairs(group, key, a, b, share=share), naive, u, v


def by_linear_program(naive: Naive, u: np.ndarray, v: np.ndarray) -> float:
    """The largest flow."""
    m, n = len(naive.i), u.size
    columns, ones = np.arange(m), np.ones(m)
    A = sp.vstack(
        [sp.csr_matrix((ones, (side, columns)), shape=(n, m)) for side in (naive.i, naive.j)]
    )
    bounds = [(0, float(w)) for w in naive.weight]
    found = linprog(-ones, A_ub=A, b_ub=np.concatenate([u, v]), bounds=bounds, method="highs")
    return -float(found.fun)


def check(seed: int) -> None:
    """Flow and deficiency are those of the linear program."""
    pairs, naive, u, v = some_case(seed)
    flow, missing, rounding = pairs.deficiency(u, v)
    wanted = by_linear_program(naive, u, v)
    assert flow == pytest.approx(wanted, abs=1e-9)
    assert missing == pytest.approx(max(float(u.sum() + v.sum()) - 2 * wanted, 0.0), abs=2e-9)
    assert 0 <= rounding < 1e-12 and (rounding > 0 or u.sum() + v.sum() == 0)
    if seed % 5 == 0:
        assert missing <= rounding  # they are marginals of the alpha that they were made from


@each("seed", seeds(60))
def test_the_flow_is_that_of_a_linear_program(seed: int) -> None:
    check(seed)


def test_two_levels_are_gale_ryser() -> None:
    rng = np.random.default_rng(0)
    positive = rng.random(30) < 0.4
    u, v = rng.uniform(0, 0.1, 30) * positive, rng.uniform(0, 0.1, 30) * ~positive
    pairs = OrderedPairs(None, positive.astype(float))
    p, q = int(positive.sum()), int((~positive).sum())
    wanted = largest_flow(u[positive], v[~positive], np.full(p, 1 / p), np.full(q, 1 / q))
    assert pairs.deficiency(u, v)[0] == pytest.approx(wanted, rel=1e-13)


def test_marginals_prove_what_scores_prove() -> None:
    """A dual point of the smoothed hinge, told by its marginals alone, gives the same bound."""
    rng = np.random.default_rng(3)
    n = 40
    X, key = rng.normal(size=(n, 3)), rng.integers(0, 6, n)
    pairs, naive = OrderedPairs(None, key), naive_ordered(None, key, None, None)
    problem = Problem(Rows(X), Mean(pairs, HINGE), Ridge(0.1))
    w = np.array([0.3, -0.2, 0.1])
    scores = X @ w
    t = scores[naive.i] - scores[naive.j]
    carried = HINGE.alpha(t, 0.5) * np.array([float(x) for x in naive.weight])
    u, v = np.zeros(n), np.zeros(n)
    np.add.at(u, naive.i, carried)
    np.add.at(v, naive.j, carried)
    evidence = Marginals(u, v)
    stated = Certificate.of(problem, w, problem.risk.minorant(evidence))
    made = Certificate.of(problem, w, Minorant.from_scores(problem, scores, 0.5, 1.0))
    assert stated.dual == pytest.approx(made.dual, abs=1e-12)
    crossed = problem.risk.minorant(Marginals(v, u))
    assert crossed.deficiency > 0.1
    with pytest.raises(InputError, match="40 rows"):
        problem.risk.minorant(Marginals(u[1:], v))
    with pytest.raises(InputError, match="marginals"):
        problem.with_loss(SQUARED_HINGE).risk.minorant(evidence)


def test_weights_and_large_groups_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    key, u = np.arange(5), np.zeros(5)
    with pytest.raises(InputError, match="0 or 1"):
        OrderedPairs(None, key, upper=[0, 1, 2, 1, 1]).deficiency(u, u)
    monkeypatch.setattr(ordered_pairs, "LARGEST_LEVEL", 4)
    with pytest.raises(TooLargeError, match="give the scores"):
        OrderedPairs(None, key).deficiency(u, u)
