"""Few ordered pairs as a list: its weights, the minorants of an alpha each, and the solver."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from aucert.exact.certificate.solution import Recorder, Status
from aucert.exact.errors import InputError
from aucert.exact.losses.registry import HINGE, SQUARED_HINGE
from aucert.exact.pairs import ordered_pairs
from aucert.exact.pairs.ordered_pairs import OrderedPairs
from aucert.exact.problem.minorant import Alpha
from aucert.exact.problem.penalties import Ridge
from aucert.exact.problem.problem import Problem
from aucert.exact.problem.risk import Mean
from aucert.exact.solvers.finish import ActivePairs
from aucert.exact.spaces.rows import Rows
from loops import each, seeds
from ordered_naive import Naive, naive_ordered


def drawn(seed: int) -> tuple[OrderedPairs, Naive]:
    """Return pairs with ties and weights from 0 to 3, with gains or shares at times."""
    rng = np.random.default_rng([3, seed])
    n = int(rng.integers(4, 30))
    group, key = rng.integers(0, 1 + seed % 3, n), rng.integers(0, 5, n)
    a, b = rng.integers(0, 4, n), rng.integers(0, 4, n)
    a[:2], b[:2], group[:2], key[:2] = 1, 1, 0, [0, 1]
    gain = key**2 if seed % 5 == 3 else None
    share = 1.0 + group if seed % 5 == 4 else None
    pairs = OrderedPairs(group, key, a, b, gain=gain, share=share)
    return pairs, naive_ordered(group, key, a, b, gain, share)


@each("seed", seeds(20))
def test_the_list_has_each_pair_once_with_its_weight(seed: int) -> None:
    pairs, naive = drawn(seed)
    found = pairs.listed()
    assert found is not None
    i, j, c = found
    stated = dict(zip(zip(i.tolist(), j.tolist(), strict=True), c.tolist(), strict=True))
    true = dict(zip(zip(naive.i, naive.j, strict=True), naive.weight, strict=True))
    assert stated.keys() == true.keys() and len(stated) == i.size == pairs.count()
    most = Fraction(ordered_pairs.WEIGHT_UNITS, 2**53)
    assert all(
        abs(Fraction(stated[pair]) - weight) <= most * weight for pair, weight in true.items()
    )


@each("loss", [HINGE, SQUARED_HINGE], ids=lambda loss: loss.name)
@each("seed", seeds(8))
def test_an_alpha_a_pair_makes_a_minorant(seed: int, loss) -> None:
    pairs, naive = drawn(seed)
    rng = np.random.default_rng(seed)
    i, j, _ = pairs.listed() or pytest.fail("few pairs have a list")
    alpha = rng.uniform(-0.2, 1.3, i.size)
    minorant = Mean(pairs, loss).minorant(Alpha(alpha))
    inside = np.clip(alpha, 0, 1) if loss == HINGE else np.maximum(alpha, 0)
    by_pair = dict(zip(zip(i.tolist(), j.tolist(), strict=True), inside.tolist(), strict=True))
    value, c = Fraction(0), [Fraction(0)] * pairs.n
    for one, other, weight in zip(naive.i, naive.j, naive.weight, strict=True):
        one_alpha = Fraction(by_pair[one, other])
        value += weight * (one_alpha if loss == HINGE else one_alpha - one_alpha**2 / 4)
        c[one] += weight * one_alpha
        c[other] -= weight * one_alpha
    assert abs(Fraction(minorant.value) - value) <= Fraction(minorant.value_error)
    apart = sum(abs(Fraction(x) - y) for x, y in zip(minorant.c.tolist(), c, strict=True))
    assert apart <= Fraction(minorant.c_error) <= Fraction(1, 10**12)


def test_many_pairs_are_not_listed(monkeypatch) -> None:
    monkeypatch.setattr(ordered_pairs, "LISTED", 3)
    pairs, _ = drawn(0)
    assert pairs.listed() is None
    with pytest.raises(InputError, match="too many pairs for an alpha each"):
        Mean(pairs, HINGE).minorant(Alpha(np.ones(4)))
    problem, recorder = Problem(Rows(np.eye(pairs.n)), Mean(pairs, HINGE), Ridge(1.0)), Recorder()
    assert ActivePairs().run(problem, recorder) is Status.STALLED
    assert recorder.best_w is None
