"""Ordered pairs against every pair of a few rows: sums, their rounding, draws, lists, flows."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

import aucert.exact as ac
from aucert.exact.certificate.solution import Recorder
from aucert.exact.losses.registry import ALL_LOSSES, LOSSES, Loss, steepness
from aucert.exact.pairs import ordered_pairs
from aucert.exact.pairs.all_pairs import largest_flow
from aucert.exact.pairs.kinds import censoring_weights
from aucert.exact.pairs.ordered_pairs import WEIGHT_UNITS, OrderedPairs
from aucert.exact.problem.risk import Alpha
from aucert.exact.solvers.finish import ActivePairs
from aucert.exact.tools.rounding import gamma, short_chain
from decimal_losses import mean_of
from loops import each, refuses, seeds
from naive import exact
from ordered_naive import Naive, naive_ordered

OURS = (ac.HINGE, ac.SQUARED_HINGE, ac.SQUARE)
BY_PAIRS = ac.SmoothHinge(0.5)  # it is summed pair by pair
KINDS = ("weights", "gain", "share", "one group", "two keys", "distinct")


def some_pairs(kind: str, seed: int) -> tuple[OrderedPairs, Naive, np.ndarray]:
    """A pair set, its listed pairs, and scores with ties."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 60))
    group, key = rng.integers(0, 4, n), rng.integers(0, 5, n)
    a, b = rng.integers(0, 4, n), rng.integers(0, 4, n)
    a[:4], b[:4], group[:4], key[:2] = 1, 1, 0, [0, 1]
    group = 0 * group if kind == "one group" else group
    key = {"two keys": key % 2, "distinct": rng.permutation(n)}.get(kind, key)
    gain = np.array([0, 1, 1, 3, 7])[key] if kind == "gain" else None
    share = np.array([0.5, 0.0, 1.25, 3.0])[group] if kind == "share" else None
    scores = np.round(rng.normal(size=n) * 2, int(rng.integers(0, 3)))
    pairs = OrderedPairs(group, key, a, b, gain=gain, share=share)
    return pairs, naive_ordered(group, key, a, b, gain, share), scores


def check(pairs: OrderedPairs, naive: Naive, scores: np.ndarray, loss: Loss, width: float) -> None:
    """The sums are those of the listed pairs to 1e-12."""
    found = pairs.sums(scores, loss, width)
    value, c, conjugate, total = naive.sums(scores, loss, width)
    scale = 1e-12 * (1 + np.ptp(scores)) ** 2
    # Weights of many bits are split, and alpha is made on a coarser grid.
    grid = scale if len(pairs.weights.terms) <= 2 or loss != ac.HINGE else 1e-4
    assert abs(found.value - value) <= scale
    assert abs(found.value - value) <= found.value_rounding + 1e-14 * (1 + value)
    if width or loss != ac.HINGE:  # at width 0 the naive margin may round to another side
        assert np.abs(found.c - c).max() <= grid
        assert abs(found.total - total) <= grid
        assert abs(found.conjugate - conjugate) <= grid
    assert abs(float(found.c.sum())) <= found.rounding
    # Weights of more bits leave fewer to the grid of the scores.
    assert 0 < found.value_rounding < 1e-10 and found.rounding < 1e-11


@each("loss", [*OURS, BY_PAIRS], ids=lambda loss: loss.name)
@each("kind", KINDS)
def test_sums_are_those_of_every_pair(kind: str, loss: Loss) -> None:
    for seed in range(6):
        pairs, naive, scores = some_pairs(kind, seed)
        for width in (0.0, 0.25, 3.0):
            check(pairs, naive, scores, loss, width)


@each("kind", KINDS)
def test_mass_count_and_row_mass(kind: str) -> None:
    most = Fraction(ordered_pairs.WEIGHT_UNITS, 2**53)
    for seed in range(20):
        pairs, naive, _ = some_pairs(kind, seed)
        if kind != "share":
            assert pairs.mass == naive.mass
        true = dict(zip(zip(naive.i, naive.j, strict=True), naive.weight, strict=True))
        both, twice = [*naive.i, *naive.j], np.array(2 * naive.weight, dtype=float)
        mass = np.bincount(both, twice, minlength=pairs.n)
        assert pairs.row_mass() == pytest.approx(mass, abs=1e-14)
        i, j, c = pairs.listed() or pytest.fail("few pairs have a list")
        stated = dict(zip(zip(i.tolist(), j.tolist(), strict=True), c.tolist(), strict=True))
        assert stated.keys() == true.keys() and len(stated) == i.size
        assert kind in ("gain", "share") or pairs.count() == i.size == len(naive.i)
        assert all(abs(Fraction(stated[pair]) - w) <= most * w for pair, w in true.items())


@each("kind", KINDS)
def test_pairs_are_drawn_by_their_weight(kind: str) -> None:
    (pairs, naive, _), m = some_pairs(kind, 5), 40_000
    drawn, wanted = np.zeros((2, pairs.n, pairs.n))
    np.add.at(drawn, pairs.draw(m, np.random.default_rng(0)), 1 / m)
    wanted[naive.i, naive.j] = naive.weight
    assert (drawn[wanted == 0] == 0).all()
    assert np.abs(drawn - wanted).max() <= 6 * np.sqrt(wanted.max() / m)


def test_uno_weights_by_hand() -> None:
    """At time 2 one of three rows at risk is censored, after the event of that time."""
    time, event = np.array([1.0, 2, 2, 3, 4]), np.array([1, 1, 0, 1, 0], dtype=bool)
    weight = censoring_weights(time, event)
    assert weight == pytest.approx([1, 1 / (2 / 3) ** 2, 0, 1 / (2 / 3) ** 2, 0])
    assert censoring_weights(time, event, tau=3)[3] == 0
    refuses("tau", censoring_weights, time, event, train=([1.0, 2.0], [1, 0]))


def test_masses_beyond_63_bits() -> None:
    """Totals are Python integers, weights of many bits are split."""
    large, scores = 2**51 - 1, np.linspace(0, 1, 40)
    pairs = OrderedPairs(None, np.arange(40), *np.full((2, 40), large))
    assert pairs.mass == 780 * large**2
    plain = OrderedPairs(None, np.arange(40))
    for loss in LOSSES.values():
        one, other = (p.sums(scores, loss, 0.5) for p in (pairs, plain))
        assert one.c == pytest.approx(other.c, abs=1e-6 if loss == ac.HINGE else 1e-14)
        assert one.value == pytest.approx(other.value, rel=1e-12)


def test_gains_that_are_nearly_equal_have_sums_of_any_loss() -> None:
    n = 3000
    gain = 2**20 + np.arange(n) // (n - 2)  # one part in 10^9 of both products is left
    pairs = OrderedPairs(None, gain, upper=np.arange(n) > n - 3, lower=np.arange(n) < 2, gain=gain)
    found = pairs.sums(np.zeros(n), ac.LOGISTIC)
    assert found.value == pytest.approx(np.log(2)) and found.value_rounding < 1e-11


JUST = 1 - 1e-9


def test_pairs_at_their_margin_are_paid() -> None:
    """On a grid made coarse by a width and large weights, a shortfall of 2^-40 is not seen."""
    pairs = OrderedPairs(None, [1, 0], upper=[2**20 - 1, 1])
    s = np.array([1.0, 2.0**-40])
    found = pairs.sums(s, ac.HINGE, 0.5)
    assert found.value == 0 and found.value_rounding >= 2.0**-40


@pytest.mark.long_digits
def test_rounded_long_scores_are_paid() -> None:
    s = np.array([0.3, 0.1], dtype=np.longdouble) + np.longdouble(2) ** -60 * 3
    pair = OrderedPairs(None, [1, 0])
    found = pair.sums(s, ac.HINGE)
    assert abs(exact(found.value) - (1 - exact(s[0]) + exact(s[1]))) <= exact(found.value_rounding)
    far = np.array([2.0**40, -(2.0**40)], dtype=np.longdouble) * np.longdouble(1 + 2.0**-60)
    long, short = (pair.sums(s, ac.HINGE).value_rounding for s in (-far, -far.astype(float)))
    assert long > short


def test_marginals_of_ordered_pairs_pay_for_their_flow() -> None:
    rng = np.random.default_rng(1)
    pairs = OrderedPairs(None, rng.integers(0, 4, 12))
    flow, missing, rounding = pairs.deficiency(*rng.uniform(0, 0.1, (2, 12)))
    assert rounding > 12 * 2.0**-53 * flow and missing > 0
    carried = 0.5 * (np.arange(12) == np.argmin(pairs.key))  # no row is below it
    assert pairs.deficiency(carried, np.zeros(12))[1] == 0.5


def test_the_shift_of_scores_is_paid_by_the_squared_hinge_and_the_square() -> None:
    """Far rows make the shift round to whole numbers; their own pairs have no loss."""
    key, s = np.array([3, 2, 1, 0]), np.array([2.0**54, 0.3, 0.4, -(2.0**54) / 3])
    pairs, true = OrderedPairs(None, key), naive_ordered(None, key, None, None)
    found = pairs.sums(s, ac.SQUARED_HINGE)
    listed = list(zip(true.i, true.j, true.weight, strict=True))
    apart = abs(float(exact(found.value) - mean_of("squared_hinge", exact(s), listed)))
    assert 1e-2 < apart <= found.value_rounding
    assert found.value_rounding >= (gamma(4) * (1 + float(np.ptp(s)))) ** 2 * JUST
    s = np.array([0.1, 0.7, -0.2, 30.3])
    found = OrderedPairs(None, [2, 1, 0, 1]).sums(s, ac.SQUARE)
    top2 = (1 + float(np.ptp(s))) ** 2
    assert found.value_rounding >= (gamma(64) + 2 * gamma(4)) * top2 * JUST


@each("loss", [ac.HINGE, ac.SQUARED_HINGE], ids=lambda loss: loss.name)
def test_listed_weights_that_round_are_paid_in_a_minorant(loss) -> None:
    """Next to the sums over the pairs of a row, and over all pairs."""
    rng = np.random.default_rng(0)
    pairs = OrderedPairs(None, rng.integers(0, 4, 12), rng.integers(1, 9, 12))
    i, j, c = pairs.listed() or pytest.fail("few pairs have a list")
    alpha = rng.uniform(0, 1, i.size)
    found = ac.Mean(pairs, loss).minorant(Alpha(alpha))
    inexact, mass = gamma(WEIGHT_UNITS), float(c @ alpha)
    size = mass if loss == ac.HINGE else mass + float(c @ (alpha**2 + loss.dual(alpha)))
    longest = max(int(np.bincount(i).max()), int(np.bincount(j).max()))
    assert found.c_error >= 2 * (gamma(longest + 8) + inexact) * mass * JUST
    assert found.value_error >= (gamma(short_chain(i.size) + 16) + inexact) * size * JUST


@each("name", ["logistic", "smooth_hinge", "exponential"])
def test_bounds_of_sums_pair_by_pair_are_as_large_as_their_formula(name: str) -> None:
    """Chains of 2 n + 64 roundings, and what the rounding of a margin does to a steep loss."""
    loss, rng = ALL_LOSSES[name], np.random.default_rng(2)
    key, s = rng.integers(0, 3, 9), 40 * rng.normal(size=9)
    pairs = OrderedPairs(None, key)
    i, j, c = pairs.listed() or pytest.fail("few pairs have a list")
    t = s[i] - s[j]
    alpha, value = loss.clip(loss.alpha(t, 0.0)), loss.value(t)
    whole = float(c @ (np.abs(alpha) * (1 + np.abs(t)) + value))
    slip = gamma(3) * (1 + np.abs(t))
    moved, chain = float(c @ (slip * steepness(loss, t, slip))), gamma(2 * 9 + 64)
    found = pairs.sums(s, loss)
    assert moved > 1e-3 * chain * whole
    assert found.rounding >= 2 * chain * whole * JUST
    assert found.value_rounding >= (chain * whole + moved) * JUST
    assert found.conjugate_rounding >= (chain * whole + moved) * JUST


def test_many_pairs_are_not_listed(monkeypatch) -> None:
    monkeypatch.setattr(ordered_pairs, "LISTED", 3)
    pairs, *_ = some_pairs("weights", 0)
    assert pairs.listed() is None
    refuses("too many pairs", ac.Mean(pairs, ac.HINGE).minorant, Alpha(np.ones(4)))
    problem, recorder = (
        ac.Problem(ac.Rows(np.eye(pairs.n)), ac.Mean(pairs, ac.HINGE), ac.Ridge(1.0)),
        Recorder(),
    )
    assert ActivePairs().run(problem, recorder) is ac.Status.STALLED
    assert recorder.best_w is None


def random_flow(seed: int) -> tuple[np.ndarray, ...]:
    """Return u, v, a, b: ties, zeros, marginals of a true alpha, or nearly, or not at all."""
    rng = np.random.default_rng(seed)
    p, q = int(rng.integers(1, 9)), int(rng.integers(1, 9))
    a, b = rng.uniform(0.1, 1, p), rng.uniform(0.1, 1, q)
    if seed % 3 == 0:  # whole numbers: many ties and zeros
        a, b = rng.integers(0, 3, p).astype(float), rng.integers(0, 3, q).astype(float)
        a[0], b[0] = 1.0, 1.0
    a, b = a / a.sum(), b / b.sum()
    alpha = np.clip(rng.normal(0.5, 0.6, size=(p, q)), 0, 1) * np.outer(a, b)
    u, v = alpha.sum(axis=1), alpha.sum(axis=0)
    if seed % 4 == 1:
        u = u * rng.uniform(0.5, 2, p)
    elif seed % 4 == 2:
        u, v = rng.permutation(u), rng.permutation(v)
    elif seed % 4 == 3:
        u, v = rng.integers(0, 3, p) / 2 * a, rng.integers(0, 3, q) / 2 * b
    return u, v, a, b


def by_linear_program(i: Any, j: Any, caps: Any, u: np.ndarray, v: np.ndarray) -> float:
    """The largest sum of 0 <= flow <= caps over the pairs, with row sums <= u, column sums <= v."""
    m, columns = len(i), np.arange(len(i))
    sides = [sp.csr_matrix((np.ones(m), (k, columns)), (w.size, m)) for k, w in ((i, u), (j, v))]
    bounds, limits = [(0, float(cap)) for cap in caps], np.concatenate([u, v])
    found = linprog(-np.ones(m), A_ub=sp.vstack(sides), b_ub=limits, bounds=bounds, method="highs")
    return -float(found.fun)


@each("seed", seeds(150))
def test_largest_flow_is_that_of_the_linear_programme(seed: int) -> None:
    u, v, a, b = random_flow(seed)
    i, j = (k.ravel() for k in np.indices((u.size, v.size)))
    wanted = by_linear_program(i, j, a[i] * b[j], u, v)
    assert largest_flow(u, v, a, b) == pytest.approx(wanted, abs=1e-9)


def test_tiny_weights_beside_large_ones_keep_the_flow_accurate() -> None:
    """What is left of the caps is added up: subtracted from the whole it would be lost."""
    a, b = np.ones(10), np.concatenate([[1.0], np.full(1000, 7e-20)])
    flow = largest_flow(1.0 * (np.arange(10) == 0), np.where(b < 1, 0.15 * b, 0.0), a, b)
    assert flow == pytest.approx(1000 * 0.15 * 7e-20, rel=1e-12)


def some_case(seed: int) -> tuple[OrderedPairs, Naive, np.ndarray, np.ndarray]:
    """Pairs of weights 0 and 1, and marginals that may be infeasible."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 16))
    group, key = rng.integers(0, 1 + seed % 2, n), rng.integers(0, 5, n)
    a, b = rng.integers(0, 2, n), rng.integers(0, 2, n)
    a[:2], b[:2], group[:2], key[:2] = 1, 1, 0, [0, 1]
    share = 1.0 + group if seed % 4 == 1 else None
    naive = naive_ordered(group, key, a, b, None, share)
    alpha = rng.uniform(0, 1, len(naive.i)) if seed % 3 else rng.integers(0, 2, len(naive.i))
    carried = alpha * np.array(naive.weight, dtype=float)
    u, v = (np.bincount(side, carried, minlength=n) for side in (naive.i, naive.j))
    if seed % 5:
        u = rng.permutation(u) if seed % 5 == 1 else u * rng.uniform(0, 2, n)
        v = v + rng.uniform(0, 0.05, n) * rng.integers(0, 2, n)
    return OrderedPairs(group, key, a, b, share=share), naive, u, v


@each("seed", seeds(60))
def test_flow_and_deficiency_of_ordered_pairs_are_those_of_the_linear_program(seed: int) -> None:
    pairs, naive, u, v = some_case(seed)
    flow, missing, rounding = pairs.deficiency(u, v)
    wanted = by_linear_program(naive.i, naive.j, naive.weight, u, v)
    assert flow == pytest.approx(wanted, abs=1e-9)
    assert missing == pytest.approx(max(float(u.sum() + v.sum()) - 2 * wanted, 0.0), abs=2e-9)
    assert 0 <= rounding < 1e-12 and (rounding > 0 or u.sum() + v.sum() == 0)
    if seed % 5 == 0:
        assert missing <= rounding  # they are marginals of the alpha that they were made from
