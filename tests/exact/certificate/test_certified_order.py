"""A pair counts as certainly ordered only if no function within the radius orders it otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact import certify, solve
from aucert.exact.certificate.order import auc_range, certified_order, row_lengths, score_range
from aucert.exact.errors import InputError
from aucert.exact.formulation.formulation import formulate
from aucert.exact.formulation.request import Request
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.pairs.auc import auc
from aucert.exact.problem.problem import linear_problem
from aucert.exact.spaces.gram import Gram
from aucert.exact.spaces.kernels import Gaussian
from aucert.exact.spaces.rows import Rows
from loops import each

RNG = np.random.default_rng(3)
Y = np.arange(40) % 4 == 0
X = RNG.normal(size=(40, 3)) + 0.7 * Y[:, None] + 5.0
ALL = [(i, j) for i in np.flatnonzero(Y) for j in np.flatnonzero(~Y)]


@each("listed", [False, True])
@each("radius", [0.0, 0.02, 0.1, 0.5])
def test_the_count_is_that_of_each_pair(radius: float, listed: bool) -> None:
    """A pair that is listed twice counts twice."""
    chosen = [(0, 1), (0, 1), (4, 2), (8, 3), (8, 39)] if listed else ALL
    pairs = PairList(*np.array(chosen).T) if listed else AllPairs()
    w, lengths = np.array([0.4, -0.3, 0.5]), np.linalg.norm(X - X.mean(axis=0), axis=1)
    found = certified_order(linear_problem(X, Y, 0.1, pairs=pairs), w, radius)
    scores, right, wrong = X @ w, 0, 0
    for i, j in chosen:
        doubt = radius * (lengths[i] + lengths[j])
        right += scores[i] - scores[j] > doubt
        wrong += scores[j] - scores[i] > doubt
    assert (found.n_sure_right, found.n_sure_wrong) == (right, wrong)
    assert found.n_certified == right + wrong <= found.n_pairs == len(chosen)
    with pytest.raises(InputError, match="radius"):
        certified_order(linear_problem(X, Y, 0.1), w, float("nan"))


@each("kernel", ["linear", "rbf", "precomputed"])
@each("structure", [0.0, 3.0])
def test_the_optimum_orders_every_certified_pair_as_said(kernel: str, structure: float) -> None:
    data = Gaussian(0.2)(X, X) if kernel == "precomputed" else X
    options: dict[str, Any] = {"kernel": kernel, "structure": structure}
    if kernel == "rbf":
        options["gamma"] = 0.2
    space = formulate(data, Y, Request.of(0.1, **options)).meant.space
    rough = solve(data, Y, 0.1, tol=1e-2, **options)
    audit = certify(data, Y, 0.1, w=rough.w, tol=1e-10, **options)
    best = space.scores(solve(data, Y, 0.1, tol=1e-11, **options).w)
    assert audit.radius is not None
    low, high = score_range(space.scores(rough.w), row_lengths(space), audit.radius)
    right = [(i, j) for i, j in ALL if low[i] > high[j]]
    wrong = [(i, j) for i, j in ALL if high[i] < low[j]]
    assert (audit.n_sure_right, audit.n_sure_wrong) == (len(right), len(wrong)) and right
    assert all(best[i] > best[j] for i, j in right)
    assert all(best[i] < best[j] for i, j in wrong)


def test_lengths_are_those_of_the_centred_rows_in_every_space() -> None:
    K, C, thin = Gaussian(0.3)(X, X), np.eye(40) - 1 / 40, np.where(X > 5.2, X, 0.0)
    centred = np.sqrt(np.diag(C @ K @ C))
    of_rows = np.linalg.norm(thin - thin.mean(axis=0), axis=1)
    for space, true in (
        (Gram(K), centred),
        (Gram(K, check=False), centred),
        (Gram.of_kernel(Gaussian(0.3), X, held=False), centred),
        (Rows(thin), of_rows),
        (Rows(sp.csr_matrix(thin)), of_rows),
    ):
        assert (row_lengths(space) >= true * (1 - 1e-15)).all()
        np.testing.assert_allclose(row_lengths(space), true, rtol=1e-6)


@each("weight", [None, 1.0 + np.arange(40) % 3], ids=["plain", "weights"])
def test_the_range_of_the_auc_holds_every_scores_between(weight: np.ndarray | None) -> None:
    scores, doubt = RNG.normal(size=40), 0.4 * RNG.random(40)
    low, high = auc_range(scores - doubt, scores + doubt, Y, weight)
    some = scores + doubt * RNG.uniform(-1, 1, size=(200, 40))
    found = [auc(row, Y, weight) for row in some]
    assert low <= min(found) and max(found) <= high and high - low < 0.5
    assert set(auc_range(scores, scores, Y, weight)) == {auc(scores, Y, weight)}
