from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.approx.sparse_baselines import (
    fisher_scores,
    mean_difference,
    oracle_support,
    top_fisher,
    top_mean_difference,
)
from aucert.exact.errors import InputError
from loops import each
from pairwise import differences, least_mean_square, mean_square
from sparse_signal import draw

X, Y = draw(n=200, mu=(2.0, 1.5, 1.2))
KINDS = [np.asarray, sp.csr_matrix]


@each("kind", KINDS)
def test_the_mean_difference_is_that_of_the_pairs(kind) -> None:
    wanted = differences(X, Y == 1).mean(axis=0)
    np.testing.assert_allclose(mean_difference(kind(X), Y), wanted)
    np.testing.assert_allclose(mean_difference(kind(X), Y, positive=0), -wanted)
    top = top_mean_difference(kind(X), Y, 2)
    np.testing.assert_array_equal(np.flatnonzero(top), [0, 1])
    np.testing.assert_allclose(top[:2], wanted[:2])
    for wrong in (
        lambda: top_fisher(X, Y, 0),
        lambda: oracle_support(X, Y, [9]),
        lambda: oracle_support(X, Y, [0.5]),
        lambda: mean_difference(X, Y[1:]),
    ):
        with pytest.raises(InputError):
            wrong()


@each("kind", KINDS)
def test_fisher_scores_are_the_best_that_one_feature_can_do(kind) -> None:
    scores = fisher_scores(kind(X), Y)
    for support in (*([j] for j in range(8)), [4, 0, 2]):
        w = oracle_support(X, Y, support)
        best, value = least_mean_square(X, Y == 1, support), mean_square(X, Y == 1, w)
        assert set(np.flatnonzero(w)) == set(support) and value == pytest.approx(best, rel=1e-9)
        assert len(support) > 1 or 1 / (1 + scores[support[0]]) == pytest.approx(best, rel=1e-9)
    both = np.column_stack([X[:, :2], np.full(200, 0.1), np.where(Y == 1, 3.0, 1.0)])
    scores = fisher_scores(kind(both), Y)  # of a constant feature, and of one that separates
    assert scores[2] == 0 and scores.argmax() == 3


@each("kind", KINDS)
def test_top_fisher_does_not_depend_on_the_units_and_top_mean_difference_does(kind) -> None:
    units = np.array([1.0, 1e-3, 1, 1, 1, 1e3, 1, 1])
    fisher = top_fisher(kind(X * units), Y, 3)
    np.testing.assert_array_equal(np.flatnonzero(fisher), [0, 1, 2])
    np.testing.assert_allclose(fisher * units, top_fisher(X, Y, 3), rtol=1e-8)
    assert 5 in np.flatnonzero(top_mean_difference(kind(X * units), Y, 3))
