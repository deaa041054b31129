"""Ordered pairs against every pair of a few rows: ties everywhere, weights 0 to 3."""

from __future__ import annotations

import numpy as np
import pytest

from aucert.exact.errors import InputError
from aucert.exact.losses.loss import Loss
from aucert.exact.losses.registry import HINGE, LOGISTIC, LOSSES, SQUARE, SQUARED_HINGE
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.pairs.kinds import (
    censoring_weights,
    cross_group_pairs,
    group_auc_pairs,
    ordinal_pairs,
    query_pairs,
    survival_pairs,
    uno_pairs,
)
from aucert.exact.pairs.ordered_pairs import OrderedPairs
from loops import each, seeds
from ordered_naive import Naive, naive_ordered, naive_survival

OURS = (HINGE, SQUARED_HINGE, SQUARE)
KINDS = ("weights", "gain", "share", "fractions", "one group", "two keys", "distinct")


def some_pairs(kind: str, seed: int) -> tuple[OrderedPairs, Naive, np.ndarray]:
    """A pair set, its listed pairs, and scores with ties."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 60))
    group, key = rng.integers(0, 4, n), rng.integers(0, 5, n)
    a, b = rng.integers(0, 4, n), rng.integers(0, 4, n)
    a[:4], b[:4], group[:4], key[:2] = 1, 1, 0, [0, 1]
    gain = share = None
    if kind == "gain":
        gain = np.array([0, 1, 1, 3, 7])[key]
    elif kind == "share":
        share = np.array([0.5, 0.0, 1.25, 3.0])[group]
    elif kind == "fractions":
        a = rng.integers(0, 2048, n) / 1024  # held exactly; others are refused
        b = np.where(b > 0, rng.integers(512, 1025, n) / 1024, 0.0)
    elif kind == "one group":
        group = np.zeros(n, dtype=int)
    elif kind == "two keys":
        key = key % 2
    elif kind == "distinct":
        key = rng.permutation(n)
    scores = np.round(rng.normal(size=n) * 2, int(rng.integers(0, 3)))
    pairs = OrderedPairs(group, key, a, b, gain=gain, share=share)
    held = (a, b)
    if kind == "fractions":  # as the pair set holds them
        back = np.empty((2, n))
        back[:, pairs.arrangement.order] = pairs.a, pairs.b
        assert np.unique(a[back[0] > 0] / back[0][back[0] > 0]).size == 1  # one unit for all
        held = (back[0], back[1])
    return pairs, naive_ordered(group, key, *held, gain, share), scores


def check(pairs: OrderedPairs, naive: Naive, scores: np.ndarray, loss: Loss, width: float) -> None:
    """The sums are those of the listed pairs to 1e-12."""
    found = pairs.sums(scores, loss, width)
    value, c, conjugate, total = naive.sums(scores, loss, width)
    scale = 1e-12 * (1 + np.ptp(scores)) ** 2
    # Weights of many bits are split, and alpha is made on a coarser grid.
    grid = scale if len(pairs.weights.terms) <= 2 or loss != HINGE else 1e-4
    assert abs(found.value - value) <= scale
    assert abs(found.value - value) <= found.value_rounding + 1e-14 * (1 + value)
    if width or loss != HINGE:  # at width 0 the naive margin may round to another side
        assert np.abs(found.c - c).max() <= grid
        assert abs(found.total - total) <= grid
        assert abs(found.conjugate - conjugate) <= grid
    assert abs(float(found.c.sum())) <= found.rounding
    # Weights of more bits leave fewer to the grid of the scores.
    assert 0 < found.value_rounding < 1e-10 and found.rounding < 1e-11


@each("loss", OURS, ids=lambda loss: loss.name)
@each("kind", KINDS)
def test_sums_are_those_of_every_pair(kind: str, loss: Loss) -> None:
    for seed in range(6):
        pairs, naive, scores = some_pairs(kind, seed)
        for width in (0.0, 0.25, 3.0):
            check(pairs, naive, scores, loss, width)


@each("kind", KINDS)
def test_mass_count_and_row_mass(kind: str) -> None:
    for seed in range(20):
        pairs, naive, _ = some_pairs(kind, seed)
        if kind != "share":
            assert pairs.mass == naive.mass
        if kind not in ("gain", "share"):
            assert pairs.count() == len(naive.i)
        mass = np.zeros(pairs.n)
        np.add.at(mass, naive.i, [float(w) for w in naive.weight])
        np.add.at(mass, naive.j, [float(w) for w in naive.weight])
        assert pairs.row_mass() == pytest.approx(mass, abs=1e-14)


def test_two_classes_are_all_pairs() -> None:
    rng = np.random.default_rng(1)
    positive, scores = rng.random(50) < 0.3, rng.normal(size=50)
    pairs = OrderedPairs(None, positive.astype(float))
    plain = AllPairs().on(positive)
    assert pairs.mass == plain.count() == pairs.count()
    for loss in OURS:
        for width in (0.0, 0.5):
            one, other = (p.sums(scores, loss, width) for p in (pairs, plain))
            assert one.value == pytest.approx(other.value, rel=1e-13)
            assert one.c == pytest.approx(other.c, abs=1e-14)
            assert one.conjugate == pytest.approx(other.conjugate, rel=1e-12)


class Exponential:
    """A loss of one's own."""

    name, lipschitz, smoothness, nonincreasing = "exponential_here", np.inf, np.inf, True

    def value(self, t: np.ndarray) -> np.ndarray:
        return np.exp(-t)

    def alpha(self, t: np.ndarray, width: float = 0.0) -> np.ndarray:
        return np.exp(-t)

    def dual(self, alpha: np.ndarray) -> np.ndarray:
        held = np.where(alpha > 0, alpha, 1.0)
        return np.where(alpha > 0, alpha - alpha * np.log(held), 0.0)

    def clip(self, alpha: np.ndarray) -> np.ndarray:
        return np.maximum(alpha, 0.0)


class SmoothHinge(Exponential):
    """Another, with finite constants."""

    name, lipschitz, smoothness = "smooth_here", 1.0, 2.0

    def value(self, t: np.ndarray) -> np.ndarray:
        return np.where(t < 0.5, 0.75 - t, np.maximum(1 - t, 0.0) ** 2)

    def alpha(self, t: np.ndarray, width: float = 0.0) -> np.ndarray:
        return np.clip(2 * (1 - t), 0.0, 1.0)

    def dual(self, alpha: np.ndarray) -> np.ndarray:
        return alpha - alpha**2 / 4

    def clip(self, alpha: np.ndarray) -> np.ndarray:
        return np.clip(alpha, 0.0, 1.0)


@each("kind", KINDS)
def test_a_loss_of_ones_own_is_summed_pair_by_pair(kind: str) -> None:
    for seed in range(5):
        pairs, naive, scores = some_pairs(kind, seed)
        check(pairs, naive, scores, SmoothHinge(), 0.0)


@each("kind", KINDS)
def test_pairs_are_drawn_by_their_weight(kind: str) -> None:
    pairs, naive, _ = some_pairs(kind, 5)
    m = 40_000
    drawn = np.zeros((pairs.n, pairs.n))
    np.add.at(drawn, pairs.draw(m, np.random.default_rng(0)), 1 / m)
    wanted = np.zeros((pairs.n, pairs.n))
    wanted[naive.i, naive.j] = [float(w) for w in naive.weight]
    assert (drawn[wanted == 0] == 0).all()
    assert np.abs(drawn - wanted).max() <= 6 * np.sqrt(wanted.max() / m)


@each("seed", seeds(20))
def test_survival_pairs_are_the_comparable_ones(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 40))
    time, event = rng.integers(0, 8, n).astype(float), rng.random(n) < 0.6
    time[:2], event[:2] = [0, 1], True
    scores = np.round(rng.normal(size=n), 1)
    pairs, naive = survival_pairs(time, event), naive_survival(time, event)
    assert pairs.mass == pairs.count() == len(naive.i)
    for loss in OURS:
        check(pairs, naive, scores, loss, 0.5)
    weight = censoring_weights(time, event, 7.5 if not event[time == 7].any() else 7.0)
    uno = uno_pairs(time, event, 7.5 if not event[time == 7].any() else 7.0)
    check(uno, naive_survival(time, event, weight), scores, HINGE, 0.5)


def test_uno_weights_by_hand() -> None:
    """At time 2 one of three rows at risk is censored, after the event of that time."""
    time, event = np.array([1.0, 2, 2, 3, 4]), np.array([1, 1, 0, 1, 0], dtype=bool)
    weight = censoring_weights(time, event)
    assert weight == pytest.approx([1, 1 / (2 / 3) ** 2, 0, 1 / (2 / 3) ** 2, 0])
    assert censoring_weights(time, event, tau=3)[3] == 0
    with pytest.raises(InputError, match="tau"):
        censoring_weights(time, event, train=([1.0, 2.0], [1, 0]))


def test_the_other_kinds() -> None:
    rng = np.random.default_rng(4)
    n = 40
    qid, grade, y = rng.integers(0, 5, n), rng.integers(0, 4, n), rng.integers(0, 2, n)
    scores = np.round(rng.normal(size=n), 1)
    for gain in (False, True):
        naive = naive_ordered(qid, grade, None, None, grade if gain else None)
        check(query_pairs(qid, grade, gain=gain), naive, scores, HINGE, 0.5)
    check(ordinal_pairs(grade), naive_ordered(None, grade, None, None), scores, SQUARE, 0.5)
    member = np.where(rng.random(n) < 0.5, "A", "B")
    naive = naive_ordered(None, y, (y == 1) & (member == "A"), (y == 0) & (member == "B"))
    check(cross_group_pairs(y, member, "A", "B"), naive, scores, HINGE, 0.5)
    for share, weight in (("equal", np.ones(n)), ("rows", np.bincount(qid)[qid])):
        naive = naive_ordered(qid, y, None, None, None, weight)
        check(group_auc_pairs(qid, y, share), naive, scores, SQUARED_HINGE, 0.5)


@each(
    ("arguments", "message"),
    [
        ({"key": [1, 1]}, "no pair is ordered"),
        ({"key": [1, 2], "group": ["a", "b"]}, "no pair is ordered"),
        ({"key": [1, 2], "upper": [1, 0]}, "no pair is ordered"),
        ({"key": [1, np.nan]}, "key of row 1"),
        ({"key": []}, "one number a row"),
        ({"key": [1, 2], "upper": [1, -1]}, "upper of row 1"),
        ({"key": [1, 2], "lower": [1, np.inf]}, "lower of row 1"),
        ({"key": [1, 2], "lower": [1]}, "2 rows"),
        ({"key": [1, 2], "group": [1]}, "2 rows"),
        ({"key": [1, 2], "gain": [1, 0.5]}, "gain must be whole"),
        ({"key": [1, 2], "gain": [1, 0]}, "gain must grow"),
        ({"key": [1, 2], "gain": [1, 1]}, "no pair is ordered"),
        ({"key": [1, 2], "share": "all"}, "share must be"),
        ({"key": [1, 2], "share": [1, 2]}, "differs"),
        ({"key": [1, 2], "share": [0, 0]}, "has a share"),
        ({"key": [1, 2], "share": [1, 1], "gain": [0, 1]}, "not both"),
        ({"key": [1, 2], "form": "quick"}, "form must be"),
    ],
)
def test_bad_input_is_refused(arguments: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        OrderedPairs(arguments.pop("group", None), **arguments)


def test_bad_survival_is_refused() -> None:
    for time, event in (([1, 2], [1]), ([1, np.inf], [1, 0]), ([1, 2], [1, 2]), ([1, 2], [0, 0])):
        with pytest.raises(InputError):
            survival_pairs(time, event)


def test_masses_beyond_63_bits() -> None:
    """Totals are Python integers, weights of many bits are split."""
    n, large = 40, 2**51 - 1
    key, scores = np.arange(n), np.linspace(0, 1, n)
    pairs = OrderedPairs(None, key, np.full(n, large), np.full(n, large))
    assert pairs.mass == n * (n - 1) // 2 * large**2
    plain = OrderedPairs(None, key)
    for loss in LOSSES.values():
        one, other = (p.sums(scores, loss, 0.5) for p in (pairs, plain))
        assert one.c == pytest.approx(other.c, abs=1e-6 if loss == HINGE else 1e-14)
        assert one.value == pytest.approx(other.value, rel=1e-12)


@each("far", [0.0, 1e5, 1e12, 1e30])
def test_scores_far_from_zero(far: float) -> None:
    pairs, naive, scores = some_pairs("weights", 6)
    moved = scores + far
    found = pairs.sums(moved, HINGE, 0.5)
    value = naive.sums(moved, HINGE, 0.5)[0]
    assert abs(found.value - value) <= found.value_rounding + 1e-14 * (1 + value)


def test_scores_of_the_long_format() -> None:
    pairs, _, scores = some_pairs("weights", 6)
    long = scores.astype(np.longdouble) + np.longdouble(2) ** -60
    for loss in OURS:
        one, other = pairs.sums(long, loss), pairs.sums(scores, loss)
        assert abs(one.value - other.value) <= one.value_rounding


def test_gains_whose_products_would_overflow_unseen_are_refused() -> None:
    upper, gain = [2**34 + 1, 1, 0], [2**30, 2**30, 0]  # the first product is 2^30 modulo 2^64
    with pytest.raises(InputError, match="gains times weights are too large"):
        OrderedPairs(None, [2, 1, 0], upper=upper, lower=[0, 0, 1], gain=gain)


def test_gains_that_are_nearly_equal_have_sums_of_any_loss() -> None:
    n = 3000
    gain = 2**20 + np.arange(n) // (n - 2)  # one part in 10^9 of both products is left
    pairs = OrderedPairs(None, gain, upper=np.arange(n) > n - 3, lower=np.arange(n) < 2, gain=gain)
    found = pairs.sums(np.zeros(n), LOGISTIC)
    assert found.value == pytest.approx(np.log(2)) and found.value_rounding < 1e-11
