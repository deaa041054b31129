"""A list of few pairs is a problem over the rows it names, next to any other rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.approx import Adamax, GradientDescent, IncompleteSAUCSVM, draw_pairs
from aucert.exact.certificate.certificate import Certificate, Minorant
from aucert.exact.losses.registry import get_loss
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.problem.problem import Problem, Ridge, pair_problem
from aucert.exact.spaces.rows import Rows
from aucert.exact.structured import SparseWhitened
from loops import each, seeds

LOSSES = ["hinge", "squared_hinge", "square"]


def few_pairs(loss: str = "hinge", sparse: bool = False, n: int = 400) -> Problem:
    rng = np.random.default_rng(0)
    y = rng.uniform(size=n) < 0.3
    X = np.where(rng.uniform(size=(n, 4)) < 0.5, rng.normal(size=(n, 4)) + y[:, None], 0.0)
    drawn = draw_pairs(y, 60, 1)
    pairs = PairList(drawn.i, drawn.j, rng.uniform(size=60))
    return pair_problem(
        Rows(sp.csr_array(X) if sparse else X), y, pairs, get_loss(loss), Ridge(0.05)
    )


@each("loss", LOSSES)
@each("sparse", [False, True])
def test_objective_gradient_and_certificate_are_those_of_all_rows(loss: str, sparse: bool) -> None:
    whole = few_pairs(loss, sparse)
    near = whole.named_rows()
    assert near.n <= 120 < whole.n and near.n_pairs == whole.n_pairs
    for seed in range(5):
        w = np.random.default_rng(seed).normal(size=4)
        assert near.objective(w) == pytest.approx(whole.objective(w), rel=1e-12)
        pulls = [p.space.pull(p.sums(p.space.scores(w)).c) for p in (near, whole)]
        np.testing.assert_allclose(*pulls, rtol=1e-10, atol=1e-13)
        one, other = (
            Certificate.of(p, w, Minorant.from_scores(p, p.space.scores(w))) for p in (near, whole)
        )
        assert one.gap == pytest.approx(other.gap, rel=1e-9)


def test_every_pair_keeps_its_rows() -> None:
    whole = few_pairs()
    near = whole.named_rows()
    assert isinstance(near.pairs, PairList) and isinstance(whole.pairs, PairList)
    assert isinstance(near.space, Rows) and isinstance(whole.space, Rows)
    for mine, theirs in ((near.pairs.i, whole.pairs.i), (near.pairs.j, whole.pairs.j)):
        np.testing.assert_array_equal(near.space.raw[mine], whole.space.raw[theirs])  # type: ignore[index]
    np.testing.assert_allclose(near.pairs.c, whole.pairs.c, rtol=1e-15)


def test_all_pairs_and_long_lists_stay_as_they_are() -> None:
    whole = few_pairs()
    assert whole.with_pairs(AllPairs()).named_rows().n == whole.n
    long = whole.with_pairs(draw_pairs(whole.pairs.positive, 4 * whole.n, 0))
    assert long.named_rows() is long


def test_rows_that_are_no_matrix_or_would_be_refused_alone_stay_whole() -> None:
    sparse = few_pairs(sparse=True)
    assert isinstance(sparse.space, Rows)
    whitened = sparse.over(SparseWhitened(sparse.space, np.eye(4)))
    assert whitened.named_rows() is whitened
    X = np.array([[1.0], [-1.0], [2.0], [3.0], [1e-150], [2e-150]])
    pairs, positive = PairList(np.array([4]), np.array([5])), np.array([1, 0, 1, 0, 1, 0]) == 1
    tiny = pair_problem(Rows(X), positive, pairs, get_loss("hinge"), Ridge(0.1))
    assert tiny.named_rows() is tiny


def test_a_structured_descent_over_few_pairs_of_sparse_rows() -> None:
    problem = few_pairs(sparse=True)
    assert isinstance(problem.space, Rows)
    model = IncompleteSAUCSVM(n_pairs=60, random_state=0, max_iter=200, lam=0.1)
    X = sp.csr_array(problem.space.X)
    found = model.fit(X, problem.pairs.positive).certificate_
    dense = model.fit(X.toarray(), problem.pairs.positive).certificate_
    assert found.gap == pytest.approx(dense.gap, rel=1e-3)


@each("seed", seeds(24))
def test_the_dual_that_was_seen_is_the_one_that_is_certified(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 60))
    X, y = rng.integers(-2, 3, size=(n, 2)).astype(float), np.arange(n) % 2 == 0
    pairs = draw_pairs(y, max(1, n // 6), seed)
    problem = pair_problem(Rows(X), y, pairs, get_loss("hinge"), Ridge(0.25))
    for solver in (Adamax(step=0.25, max_iter=40, tol=0), GradientDescent(0.5, max_iter=40)):
        found = solver.solve(problem)
        seen = max((step.dual for step in found.history), default=0.0)
        assert found.certificate.dual >= seen - 1e-12


@each("loss", LOSSES)
@each("sparse", [False, True])
@each("solver", [Adamax(step=0.05, max_iter=60), GradientDescent(max_iter=60)])
def test_a_descent_ends_where_it_did_over_all_rows(
    loss: str, sparse: bool, solver: Adamax, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = few_pairs(loss, sparse)
    quick = solver.solve(problem)
    monkeypatch.setattr(Problem, "named_rows", lambda self: self)
    slow = solver.solve(problem)
    np.testing.assert_allclose(quick.w, slow.w, rtol=1e-8, atol=1e-12)
    assert quick.certificate.gap == pytest.approx(slow.certificate.gap, rel=1e-6, abs=1e-14)
    assert quick.witness.c.shape == (problem.n,)
