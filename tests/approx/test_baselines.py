from __future__ import annotations

import itertools

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
from pairwise import mean_square
from sparse_signal import draw

X, Y = draw(n=200, mu=(2.0, 1.5, 1.2))
KINDS = [np.asarray, sp.csr_matrix]


@each("kind", KINDS)
def test_the_mean_difference_is_that_of_the_pairs(kind) -> None:
    differences = [X[i] - X[j] for i in np.flatnonzero(Y) for j in np.flatnonzero(Y == 0)]
    np.testing.assert_allclose(mean_difference(kind(X), Y), np.mean(differences, axis=0))
    top = top_mean_difference(kind(X), Y, 2)
    np.testing.assert_array_equal(np.flatnonzero(top), [0, 1])
    np.testing.assert_allclose(top[:2], mean_difference(X, Y)[:2])


@each("kind", KINDS)
def test_fisher_scores_are_the_best_that_one_feature_can_do(kind) -> None:
    scores = fisher_scores(kind(X), Y)
    for j in range(8):
        alone = mean_square(X, Y == 1, oracle_support(X, Y, [j]))
        assert 1 / (1 + scores[j]) == pytest.approx(alone, rel=1e-9)


@each("kind", KINDS)
def test_top_fisher_does_not_depend_on_the_units_and_top_mean_difference_does(kind) -> None:
    units = np.array([1.0, 1e-3, 1, 1, 1, 1e3, 1, 1])
    fisher = top_fisher(kind(X * units), Y, 3)
    np.testing.assert_array_equal(np.flatnonzero(fisher), [0, 1, 2])
    np.testing.assert_allclose(fisher * units, top_fisher(X, Y, 3), rtol=1e-8)
    assert 5 in np.flatnonzero(top_mean_difference(kind(X * units), Y, 3))


def test_the_oracle_is_optimal_on_its_support() -> None:
    w, rng = oracle_support(X, Y, [4, 0, 2]), np.random.default_rng(0)
    assert set(np.flatnonzero(w)) == {0, 2, 4}
    best = mean_square(X, Y == 1, w)
    for _, j in itertools.product(range(4), (0, 2, 4)):
        other = w.copy()
        other[j] += rng.normal(scale=0.1)
        assert mean_square(X, Y == 1, other) > best


def test_a_constant_feature_scores_zero_and_one_that_separates_comes_first() -> None:
    both = np.column_stack([X[:, :2], np.full(200, 0.1), np.where(Y == 1, 3.0, 1.0)])
    for kind in KINDS:
        scores = fisher_scores(kind(both), Y)
        assert scores[2] == 0
        assert scores.argmax() == 3


def test_the_positive_class_can_be_chosen_and_bad_input_is_refused() -> None:
    np.testing.assert_allclose(mean_difference(X, Y, positive=0), -mean_difference(X, Y))
    for wrong in (
        lambda: top_fisher(X, Y, 0),
        lambda: oracle_support(X, Y, [9]),
        lambda: oracle_support(X, Y, [0.5]),
        lambda: mean_difference(X, Y[1:]),
    ):
        with pytest.raises(InputError):
            wrong()
