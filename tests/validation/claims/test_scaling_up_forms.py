"""The closed forms that the claims of ScalingUp rest on, by hand and against exact solutions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from aucert.exact.errors import InputError
from aucert.exact.losses.registry import HINGE
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.problem.problem import Ridge, pair_problem
from aucert.exact.spaces.rows import Rows
from aucert.validation.bounds import exact_answers
from aucert.validation.bounds.clusters import ClusterInstance, most_often
from aucert.validation.bounds.exact_answers import optimum
from aucert.validation.claims import common, judge
from aucert.validation.claims.claim import Context
from aucert.validation.claims.judge import Slope, lower_limit, two_sided
from aucert.validation.claims.theorem_4 import two_atoms


def small(lam: float) -> ClusterInstance:
    return ClusterInstance(n=24, m=4, q=0.5, eta_mixed=0.05, eta_pure=0.1, lam=lam)


def test_the_regimes_of_the_closed_form_are_all_met() -> None:
    high = [small(lam).scores[0] for lam in (2.0, 0.6, 0.4, 0.25, 0.15)]
    assert high[0] < 0.5 and 0.5 in high and high[-1] > 0.5


def test_the_closed_form_refuses_where_it_ends() -> None:
    with pytest.raises(InputError, match="raise lam"):
        small(0.01)


def test_the_left_side_on_the_clusters_is_at_least_its_bound() -> None:
    instance, B = small(1.0), 20_000
    K, positive, landmark = instance.dense()
    rng = np.random.default_rng(0)
    bound, _ = instance.left_side(B)
    assert bound > 0.1
    for _ in range(20):
        pairs = PairList(
            rng.choice(np.flatnonzero(positive), B), rng.choice(np.flatnonzero(~positive), B)
        )
        space = Rows(K[:, [landmark]])
        drawn = pair_problem(space, positive, pairs, HINGE, Ridge(instance.lam))
        loss = drawn.sums(space.scores(optimum(drawn).w)).value
        assert abs(instance.loss - loss) >= bound


def test_the_largest_count_of_a_row_is_rarely_above_its_bound() -> None:
    n, B, count = 200, 5000, 400
    t, tail = most_often(n, B)
    assert 0.02 < tail <= 0.1
    rng = np.random.default_rng(1)
    chances = np.full(n // 2, 2 / n)
    largest = np.array(
        [[rng.multinomial(B, chances).max() for _ in range(2)] for _ in range(count)]
    ).max(axis=1)
    share = float((largest > t).mean())
    assert tail / 3 < share < tail + 5 * np.sqrt(tail / count)


def test_two_atoms_in_closed_form_are_the_optimum() -> None:
    p, B = 0.7, 60
    left, constant = two_atoms(p, B, 1, np.random.default_rng(4))
    counts = np.random.default_rng(4).multinomial(B, [p * p, 2 * p * (1 - p), (1 - p) ** 2])
    g = 2 * (2 * p - 1)
    lam = 2 * g / (1 - 4 * np.sqrt(8 * p * (1 - p) / B) / g)
    x = np.array([1.0] * 7 + [-1.0] * 3 + [1.0] * 3 + [-1.0] * 7)
    positive = np.arange(20) < 10
    kinds = [(0, 13), (0, 10), (7, 10)]  # x_i - x_j = 2, 0, -2
    i = np.repeat([a for a, _ in kinds], counts)
    j = np.repeat([b for _, b in kinds], counts)
    pairs = PairList(i, j)
    full = pair_problem(Rows(x[:, None]), positive, AllPairs(), HINGE, Ridge(lam))
    drawn = pair_problem(Rows(x[:, None]), positive, pairs, HINGE, Ridge(lam))
    f, f_B = optimum(full).w, optimum(drawn).w
    U = full.sums(full.space.scores(f)).value
    U_B = drawn.sums(drawn.space.scores(f_B)).value
    assert left[0] == pytest.approx(abs(U - U_B), abs=1e-6)
    assert constant[0] == pytest.approx(1 + 2 * max(abs(f[0]), abs(f_B[0])), abs=1e-6)


def test_the_lower_limit_has_its_level_in_the_binomial_tail() -> None:
    assert lower_limit(0, 100) == 0.0
    limit = lower_limit(40, 100)
    assert stats.binom.sf(39, 100, limit) == pytest.approx(judge.LEVEL)


def test_a_slope_is_found_and_covered() -> None:
    x = 2.0 ** np.arange(8)
    rng = np.random.default_rng(3)
    y = 3 * x**-0.5 * np.exp(0.05 * rng.standard_normal(8))
    slope = Slope.fit(x, y, np.full(8, 0.05))
    low, high = slope.interval
    assert low < -0.5 < high
    assert high - low == pytest.approx(2 * two_sided() * 0.05 / np.log(2) / np.sqrt(42))


def test_overlap_needs_a_common_point() -> None:
    data = common.wdbc_sample(Context("a", 0), 10, 15)
    first, other = (optimum(exact_answers.hinge_problem(data, lam)) for lam in (0.1, 0.2))
    assert exact_answers.overlap(first, first)
    assert not exact_answers.overlap(first, other)
