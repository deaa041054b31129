"""A pair counts as certainly ordered only if no function within the radius orders it otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact import certify, solve
from aucert.exact.certificate.order import (
    auc_range,
    certified_order,
    row_lengths,
    score_range,
)
from aucert.exact.errors import InputError
from aucert.exact.formulation.formulation import formulate
from aucert.exact.formulation.request import Request
from aucert.exact.pairs.all_pairs import PairList
from aucert.exact.pairs.auc import auc
from aucert.exact.problem.problem import linear_problem
from aucert.exact.spaces.gram import Gram
from aucert.exact.spaces.kernels import Gaussian
from aucert.exact.spaces.rows import Rows
from loops import each

RNG = np.random.default_rng(3)
Y = (np.arange(40) % 4 == 0).astype(int)
X = RNG.normal(size=(40, 3)) + 0.7 * Y[:, None] + 5.0


def counted(scores, lengths, radius, pairs):
    """Pairs above and below for certain, by the definition, one after the other."""
    right = wrong = 0
    for i, j in pairs:
        doubt = radius * (lengths[i] + lengths[j])
        right += scores[i] - scores[j] > doubt
        wrong += scores[j] - scores[i] > doubt
    return right, wrong


ALL = [(i, j) for i in np.flatnonzero(Y == 1) for j in np.flatnonzero(Y == 0)]


@each("radius", [0.0, 0.03, 0.1, 0.5])
def test_the_count_is_that_of_a_double_loop(radius):
    problem = linear_problem(X, Y, 0.1)
    w = np.array([0.4, -0.3, 0.5])
    lengths = [np.sqrt(sum((x - X.mean(axis=0)) ** 2)) for x in X]
    found = certified_order(problem, w, radius)
    assert (found.n_sure_right, found.n_sure_wrong) == counted(X @ w, lengths, radius, ALL)
    assert found.n_certified == found.n_sure_right + found.n_sure_wrong <= found.n_pairs == len(ALL)


def test_a_list_of_pairs_is_counted_pair_by_pair_and_with_its_multiplicities():
    i, j = np.array([0, 0, 4, 8, 8]), np.array([1, 1, 2, 3, 39])
    problem = linear_problem(X, Y, 0.1, pairs=PairList(i, j))
    w, lengths = np.array([0.4, -0.3, 0.5]), np.linalg.norm(X - X.mean(axis=0), axis=1)
    found = certified_order(problem, w, 0.02)
    expected = counted(X @ w, lengths, 0.02, list(zip(i, j, strict=True)))
    assert (found.n_sure_right, found.n_sure_wrong) == expected and found.n_certified > 0


@each("kernel", ["linear", "rbf", "precomputed"])
@each("structure", [0.0, 3.0])
def test_the_optimum_orders_every_certified_pair_as_said(kernel, structure):
    data = np.exp(-0.2 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    data = data if kernel == "precomputed" else X
    options: dict[str, Any] = {"kernel": kernel, "structure": structure}
    if kernel == "rbf":
        options["gamma"] = 0.2
    task = formulate(data, Y, Request.of(0.1, **options))
    rough = solve(data, Y, 0.1, tol=1e-2, **options)
    audit = certify(data, Y, 0.1, w=rough.w, tol=1e-10, **options)
    best = task.meant.space.scores(solve(data, Y, 0.1, tol=1e-11, **options).w)
    assert audit.radius is not None
    scores = task.meant.space.scores(rough.w)
    low, high = score_range(scores, row_lengths(task.meant.space), audit.radius)
    right = [(i, j) for i, j in ALL if low[i] > high[j]]
    wrong = [(i, j) for i, j in ALL if high[i] < low[j]]
    assert (audit.n_sure_right, audit.n_sure_wrong) == (len(right), len(wrong)) and right
    assert all(best[i] > best[j] for i, j in right)
    assert all(best[i] < best[j] for i, j in wrong)


def test_lengths_are_those_of_the_centred_rows_in_every_space():
    K = Gaussian(0.3)(X, X)
    C = np.eye(40) - 1 / 40
    centred = np.sqrt(np.diag(C @ K @ C))
    for space in (Gram(K), Gram(K, check=False), Gram.of_kernel(Gaussian(0.3), X, held=False)):
        found = row_lengths(space)
        assert (found >= centred * (1 - 1e-15)).all()
        np.testing.assert_allclose(found, centred, rtol=1e-6)
    thin = np.where(X > 5.2, X, 0.0)
    lengths = np.linalg.norm(thin - thin.mean(axis=0), axis=1)
    for rows in (Rows(thin), Rows(sp.csr_matrix(thin))):
        assert (row_lengths(rows) >= lengths * (1 - 1e-15)).all()
        np.testing.assert_allclose(row_lengths(rows), lengths, rtol=1e-6)


def test_the_range_of_the_auc_holds_every_scores_between():
    scores, doubt = RNG.normal(size=40), 0.4 * RNG.random(40)
    weight = 1.0 + np.arange(40) % 3
    for w in (None, weight):
        low, high = auc_range(scores - doubt, scores + doubt, Y == 1, w)
        some = scores + doubt * RNG.uniform(-1, 1, size=(200, 40))
        found = [auc(row, Y == 1, w) for row in some]
        assert low <= min(found) and max(found) <= high and high - low < 0.5
    exact = auc_range(scores, scores, Y == 1)
    assert exact == (auc(scores, Y == 1), auc(scores, Y == 1))


def test_a_radius_that_is_none_is_refused():
    with pytest.raises(InputError, match="radius"):
        certified_order(linear_problem(X, Y, 0.1), np.zeros(3), float("nan"))
