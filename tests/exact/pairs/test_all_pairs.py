"""All pairs and listed pairs: counts, weights, incidence."""

from __future__ import annotations

import numpy as np

from aucert.exact.pairs.all_pairs import AllPairs, PairList

POSITIVE = np.array([True, False, True, False, False])


def test_counts_are_whole_numbers_of_any_size() -> None:
    assert AllPairs().on(POSITIVE).count() == 6
    many = np.zeros(4_000_000, dtype=bool)
    many[:2_000_000] = True
    assert AllPairs().on(many).count() == 4_000_000_000_000
    assert PairList(np.array([0, 0, 2]), np.array([1, 1, 3])).on(POSITIVE).count() == 3


def test_weights_add_up_to_one_in_each_class() -> None:
    a, b = AllPairs(np.array([1.0, 2.0, 3.0, 4.0, 2.0])).on(POSITIVE).normalised()
    assert a.tolist() == [0.25, 0.75] and b.tolist() == [0.25, 0.5, 0.25]


def test_row_mass_is_what_the_pairs_of_a_row_weigh() -> None:
    mass = AllPairs(np.array([1.0, 2.0, 3.0, 4.0, 2.0])).on(POSITIVE).row_mass()
    assert mass.tolist() == [0.25, 0.25, 0.75, 0.5, 0.25]
    listed = PairList(np.array([0, 0, 2]), np.array([1, 1, 3]), np.array([1.0, 2.0, 1.0]))
    assert listed.on(POSITIVE).row_mass().tolist() == [0.75, 0.75, 0.25, 0.25, 0.0]


def test_incidence_gives_margins_and_marginals() -> None:
    pairs = PairList(np.array([0, 0, 2]), np.array([1, 1, 3]), np.array([1.0, 2.0, 1.0]))
    scores, alpha = np.array([3.0, 1.0, 0.0, 5.0, 9.0]), np.array([0.5, 1.0, 0.25])
    pairs = pairs.on(POSITIVE)
    A = pairs.incidence()
    assert A.shape == (3, 5)
    assert (A @ scores).tolist() == pairs.margins(scores).tolist() == [2.0, 2.0, -5.0]
    assert (A.T @ (pairs.c * alpha)).tolist() == pairs.marginals(alpha).tolist()
    assert pairs.marginals(alpha).tolist() == [0.625, -0.625, 0.0625, -0.0625, 0.0]
