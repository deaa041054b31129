"""A list of few pairs is a problem over the rows it names, whatever other rows there are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.approx import Adamax, GradientDescent, draw_pairs
from aucert.exact.certificate import Certificate, Witness
from aucert.exact.losses import get_loss
from aucert.exact.pairs import AllPairs, PairList
from aucert.exact.problem import Problem, Ridge
from aucert.exact.spaces import Rows

LOSSES = ["hinge", "squared_hinge", "square"]


def few_pairs(loss: str = "hinge", sparse: bool = False, n: int = 400) -> Problem:
    rng = np.random.default_rng(0)
    y = rng.uniform(size=n) < 0.3
    X = np.where(rng.uniform(size=(n, 4)) < 0.5, rng.normal(size=(n, 4)) + y[:, None], 0.0)
    drawn = draw_pairs(y, 60, 1)
    pairs = PairList(drawn.i, drawn.j, rng.uniform(size=60))
    return Problem(Rows(sp.csr_array(X) if sparse else X), y, pairs, get_loss(loss), Ridge(0.05))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("sparse", [False, True])
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
            Certificate.of(p, w, Witness.from_scores(p, p.space.scores(w))) for p in (near, whole)
        )
        assert one.gap == pytest.approx(other.gap, rel=1e-9)


def test_every_pair_keeps_its_rows() -> None:
    whole = few_pairs()
    near = whole.named_rows()
    assert isinstance(near.pairs, PairList) and isinstance(whole.pairs, PairList)
    assert isinstance(near.space, Rows) and isinstance(whole.space, Rows)
    for mine, theirs in ((near.pairs.i, whole.pairs.i), (near.pairs.j, whole.pairs.j)):
        np.testing.assert_array_equal(near.space.raw[mine], whole.space.raw[theirs])  # type: ignore[index]
    np.testing.assert_array_equal(near.pairs.c, whole.pairs.c)


def test_all_pairs_and_long_lists_stay_as_they_are() -> None:
    whole = few_pairs()
    assert replace(whole, pairs=AllPairs()).named_rows().n == whole.n
    long = replace(whole, pairs=draw_pairs(whole.positive, 4 * whole.n, 0))
    assert long.named_rows() is long


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("solver", [Adamax(step=0.05, max_iter=60), GradientDescent(max_iter=60)])
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


def test_a_descent_over_few_pairs_hardly_reads_the_other_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem, read = few_pairs(n=5000), []
    scores = Rows.scores
    monkeypatch.setattr(Rows, "scores", lambda self, w: (read.append(self.n), scores(self, w))[1])
    Adamax(step=0.05, max_iter=100, tol=0).solve(problem)
    assert sum(read) < 100 * 120 + 3 * problem.n
