"""Pairs against double loops: ordered ones, flows, all, listed, nearest; AUC and concordance."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

import aucert.exact as ac
import aucert.exact.pairs.nearest_pairs as module
from aucert.exact import AllPairs, PairList
from aucert.exact.certificate.solution import Recorder
from aucert.exact.losses.registry import ALL_LOSSES, LOSSES, Loss, steepness
from aucert.exact.pairs import all_pairs, kinds, ordered_pairs
from aucert.exact.pairs.auc import auc
from aucert.exact.pairs.nearest_pairs import nearest_pairs
from aucert.exact.pairs.ordered_pairs import WEIGHT_UNITS, OrderedPairs
from aucert.exact.problem.risk import Alpha
from aucert.exact.solvers.finish import ActivePairs
from aucert.exact.tools.rounding import gamma, short_chain
from aucert.validation.data.datasets import load
from decimal_losses import mean_of
from loops import each, refuses, seeds
from naive import exact, weighted_pairs
from ordered_naive import Naive, naive_ordered, naive_survival
from problems import some_labels

OURS = (ac.HINGE, ac.SQUARED_HINGE, ac.SQUARE)
BY_PAIRS = ac.SmoothHinge(0.5)  # it is summed pair by pair
KINDS = ("weights", "gain", "share", "one group", "two keys", "distinct")


def some_pairs(kind: str, seed: int) -> tuple[OrderedPairs, Naive, np.ndarray]:
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
    weight = kinds.censoring_weights(time, event)
    assert weight == pytest.approx([1, 1 / (2 / 3) ** 2, 0, 1 / (2 / 3) ** 2, 0])
    assert kinds.censoring_weights(time, event, tau=3)[3] == 0
    refuses("tau", kinds.censoring_weights, time, event, train=([1.0, 2.0], [1, 0]))


def test_masses_beyond_63_bits() -> None:
    """Totals are Python integers, weights of many bits are split."""
    large, scores = 2**51 - 1, np.linspace(0, 1, 40)
    units = np.full(40, large)
    pairs = OrderedPairs(None, np.arange(40), units, units)
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
    assert all_pairs.largest_flow(u, v, a, b) == pytest.approx(wanted, abs=1e-9)


def test_tiny_weights_beside_large_ones_keep_the_flow_accurate() -> None:
    """What is left of the caps is added up: subtracted from the whole it would be lost."""
    a, b = np.ones(10), np.concatenate([[1.0], np.full(1000, 7e-20)])
    flow = all_pairs.largest_flow(1.0 * (np.arange(10) == 0), np.where(b < 1, 0.15 * b, 0.0), a, b)
    assert flow == pytest.approx(1000 * 0.15 * 7e-20, rel=1e-12)


def some_case(seed: int) -> tuple[OrderedPairs, Naive, np.ndarray, np.ndarray]:
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


POSITIVE = np.array([True, False, True, False, False])
WEIGHT = np.array([1.0, 2.0, 3.0, 4.0, 2.0])
LISTED = PairList(np.array([0, 0, 2]), np.array([1, 1, 3]), np.array([1.0, 2.0, 1.0])).on(POSITIVE)


def test_counts_weights_and_incidence_are_those_of_the_pairs() -> None:
    assert AllPairs().on(POSITIVE).count() == 6 and LISTED.count() == 3
    assert AllPairs().on(np.arange(4_000_000) < 2_000_000).count() == 4_000_000_000_000
    pairs = AllPairs(WEIGHT).on(POSITIVE)
    few = AllPairs(WEIGHT).on(np.arange(POSITIVE.size) == 0)
    assert pairs.n_pos > 1 and pairs.mass != few.mass  # both are kept, but not for other labels
    assert pairs.on(few.positive).n_pos == 1 and pairs.on(few.positive).mass == few.mass
    assert [side.tolist() for side in pairs.normalised()] == [[0.25, 0.75], [0.25, 0.5, 0.25]]
    assert pairs.row_mass().tolist() == [0.25, 0.25, 0.75, 0.5, 0.25]
    assert LISTED.row_mass().tolist() == [0.75, 0.75, 0.25, 0.25, 0.0]
    scores, alpha = np.array([3.0, 1.0, 0.0, 5.0, 9.0]), np.array([0.5, 1.0, 0.25])
    A = LISTED.incidence()
    assert A.shape == (3, 5)
    assert (A @ scores).tolist() == LISTED.margins(scores).tolist() == [2.0, 2.0, -5.0]
    assert (A.T @ (LISTED.c * alpha)).tolist() == LISTED.marginals(alpha).tolist()
    assert LISTED.marginals(alpha).tolist() == [0.625, -0.625, 0.0625, -0.0625, 0.0]


@each("form", ["auto", "binned"])
@each("loss", ["hinge", "squared_hinge"])
@each("size", [1.0, 1e200, 1e-200])
def test_far_weights_keep_the_bounds(form: Any, loss: str, size: float) -> None:
    y, scores = np.arange(5) < 3, np.array([0.3, -1.7, 2.1, 0.9, -0.4])
    pairs = AllPairs(size * np.array([3e-90, 7e-91, 2e-90, 1.0, 0.3]), form=form)
    found = ac.Mean(pairs.on(y), ALL_LOSSES[loss]).sums(scores)
    true = mean_of(loss, exact(scores), weighted_pairs(y.tolist(), pairs))
    apart, room = true - exact(found.value), exact(found.value_rounding)
    assert apart <= room and (form == "binned" or -apart <= room)


@each("least", [3e-322, 1e-290, 1e-101])
def test_weights_too_far_apart_are_refused(least: float) -> None:
    # Their products would be subnormal numbers, of few digits, or zero: U was off by 0.24 of 1.
    refuses("apart", AllPairs, np.array([3 * least, least, 2 * least, 1.0, 0.3]))
    refuses("apart", PairList, np.array([0, 1]), np.array([3, 4]), np.array([least, 1.0]))


@each("at", range(1, 9))
def test_weights_that_the_caller_changes_meanwhile_stay_what_they_were(at: int) -> None:
    # Evaluations of two problems met in one certificate: its gap was below minus its rounding.
    rng = np.random.default_rng(at)
    y = np.arange(300) % 3 == 0
    rows = rng.normal(size=(300, 3)) + 0.7 * y[:, None]
    given, steps = rng.integers(1, 4, 300).astype(float), []
    kept = given.copy()

    def change(step: Any) -> None:
        steps.append(step)
        if len(steps) == at:
            given[:] = np.where(np.arange(300) % 2, 5.0, 1.0)

    found = ac.solve(ac.StreamedRows(rows), y, 0.01, sample_weight=given, tol=1e-4, callback=change)
    same = ac.solve(ac.StreamedRows(rows), y, 0.01, sample_weight=kept, tol=1e-4)
    assert found.certificate == same.certificate


def test_lists_and_weights_are_their_own() -> None:
    i, j, weight = np.array([0, 2]), np.array([3, 4]), WEIGHT.copy()
    listed, pairs = PairList(i, j).on(POSITIVE), AllPairs(weight).on(POSITIVE)
    i[:], j[:], weight[:] = 2, 3, 1.0
    assert (listed.i.tolist(), listed.j.tolist()) == ([0, 2], [3, 4])
    np.testing.assert_array_equal(pairs.weight, WEIGHT)


def nearest(X: np.ndarray, anchor: int, others: list[int], k: int) -> list[int]:
    """The k nearest of `others`, ties to the lower row number."""
    return sorted(others, key=lambda j: (sum((X[anchor] - X[j]) ** 2), j))[:k]


def naive_pairs(X: Any, positive: Any, k: int, rule: str, anchor_filter: str) -> set[Any]:
    plus, minus = np.flatnonzero(positive).tolist(), np.flatnonzero(~positive).tolist()
    found = set()
    for i in plus:
        if anchor_filter == "E" and not any(i in nearest(X, j, plus, k) for j in minus):
            continue
        everyone = [r for r in range(len(X)) if r != i]
        if anchor_filter == "A" and not any(j in minus for j in nearest(X, i, everyone, k)):
            continue
        found |= {(i, j) for j in nearest(X, i, minus, k)}
    if rule == "union":
        found |= {(i, j) for j in minus for i in nearest(X, j, plus, k)}
    return found


def as_set(pairs: PairList) -> set[tuple[int, int]]:
    return set(zip(pairs.i.tolist(), pairs.j.tolist(), strict=True))


@given(
    seed=st.integers(0, 2**32),
    rule=st.sampled_from(["none", "E", "A", "union"]),
    grid=st.booleans(),
)
@settings(max_examples=80, deadline=None)
def test_every_rule_is_its_double_loop(seed: int, rule: str, grid: bool) -> None:
    """On a grid of whole numbers distances tie all the time."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 16))
    X = rng.integers(-2, 3, (n, 2)).astype(float) if grid else rng.normal(size=(n, 2))
    positive = some_labels(rng, n)
    k = int(rng.integers(1, n + 2))
    options = {"rule": "union"} if rule == "union" else {"anchor_filter": rule}
    expected = naive_pairs(X, positive, k, options.get("rule", "anchor"), rule)
    if not expected:
        refuses("keeps no anchor", nearest_pairs, X, positive, k, **options)
        return
    found = nearest_pairs(X, positive, k, **options)
    assert as_set(found) == expected
    assert found.i.size == len(expected), "no pair twice"
    order = list(zip(found.i.tolist(), found.j.tolist(), strict=True))
    assert order == sorted(order)
    assert np.array_equal(found.c, np.full(found.i.size, 1 / found.i.size))


def test_the_result_does_not_depend_on_blocks_or_storage(monkeypatch: pytest.MonkeyPatch) -> None:
    data = load("xor:60", seed=3)
    for options in ({"rule": "union"}, {"anchor_filter": "A"}, {"anchor_filter": "E"}):
        whole = as_set(nearest_pairs(data.X, data.is_positive, 4, **options))
        with monkeypatch.context() as patch:
            patch.setattr(module, "_BLOCK_BYTES", 8 * 100)
            assert as_set(nearest_pairs(data.X, data.is_positive, 4, **options)) == whole
        sparse = sp.csr_matrix(data.X)
        assert as_set(nearest_pairs(sparse, data.is_positive, 4, **options)) == whole


@given(st.lists(st.tuples(st.integers(-2, 2), st.booleans(), st.integers(1, 3)), min_size=2))
def test_auc_is_the_double_loop_with_half_ties(rows):
    scores, positive, weight = (np.array(column) for column in zip(*rows, strict=True))
    if positive.all() or not positive.any():
        return
    pairs = weighted_pairs(positive.tolist(), AllPairs(weight), float)
    right = sum(c * (1 + np.sign(scores[i] - scores[j])) / 2 for i, j, c in pairs)
    assert auc(scores, positive, weight) == pytest.approx(right, abs=1e-12)


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(-2, 2), st.booleans()), min_size=2), st.floats(0.01, 1))
def test_partial_auc_is_that_of_scikit_learn(rows, fpr_max):
    scores, positive = (np.array(column) for column in zip(*rows, strict=True))
    if not positive.all() and positive.any():
        known = roc_auc_score(positive, scores, max_fpr=fpr_max)
        assert ac.partial_auc(scores, positive, fpr_max) == pytest.approx(known, abs=1e-12)


def test_partial_auc_has_the_values_of_proc():
    """NDKA of its data aSAH, 72 against 41 rows; those beyond the first 16 do not matter."""
    positive = np.array([*("PNPNPNPNNPPPPNNN" + 64 * "N" + 33 * "P")]) == "P"
    scores = -np.minimum(np.arange(113.0), 16)
    area = ac.partial_auc(scores, positive, 0.1, corrected=False)
    assert area == pytest.approx(0.0107046070460705, abs=1e-14)
    assert ac.partial_auc(scores, positive, 0.1) == pytest.approx(0.530024247610897, abs=1e-14)


def some_survival(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 60))
    time, event = rng.integers(0, 1 + seed % 12 + n // 4, n).astype(float), rng.random(n) < 0.6
    time, event[0] = time + 1, True
    time[:2] = [0, 1]
    scores = np.round(rng.normal(size=n), seed % 3)
    if seed % 4 == 0:
        scores = scores + 1e-8 * rng.integers(-2, 3, n)
    return time, event, scores


def one_by_one(time, event, scores, tol, weight=None) -> tuple:
    """What scikit-survival documents, pair by pair: index, concordant, discordant, ties."""
    upper = event if weight is None else event & (weight > 0)
    true = naive_survival(time, upper, weight, event)
    apart = scores[true.i] - scores[true.j]
    signs = np.where(np.abs(apart) <= tol, 0, np.sign(apart)).astype(int).tolist()
    value = sum(c * Fraction(1 + s, 2) for c, s in zip(true.weight, signs, strict=True))
    tied_time = int((time[true.i] == time[true.j]).sum())
    return float(value), signs.count(1), signs.count(-1), signs.count(0), tied_time


def counts(found: Any) -> tuple[int, ...]:
    return found.concordant, found.discordant, found.tied_risk, found.tied_time


@each("seed", seeds(60))
def test_harrell_is_that_of_a_double_loop_to_the_last_bit(seed: int) -> None:
    time, event, scores = some_survival(seed)
    for tol in (0.0, 1e-8, 0.3):
        found = ac.concordance_index(time, event, scores, tol)
        assert (found.value, *counts(found)) == one_by_one(time, event, scores, tol)


@each("seed", seeds(20))
def test_uno_is_that_of_a_double_loop(seed: int) -> None:
    time, event, scores = some_survival(seed)
    tau = float(time.max())
    if not (event & (time < tau)).any():
        return
    weight = kinds.censoring_weights(time, event, tau)
    found = ac.uno_concordance(time, event, scores, tau)
    wanted = one_by_one(time, event, scores, 1e-8, weight)
    assert found.value == pytest.approx(wanted[0], rel=1e-14) and counts(found) == wanted[1:]


@each("kind", ["harrell", "uno"])
@each("seed", seeds(4))
def test_influence_is_the_derivative_by_row_weights(kind: str, seed: int) -> None:
    time, event, scores = some_survival(4 * seed + 1)
    tau, weight = float(time.max()), np.ones(time.size)
    found = ac.concordance_index(time, event, scores, 0.0)
    if kind == "uno":
        weight = kinds.censoring_weights(time, event, tau)
        found = ac.uno_concordance(time, event, scores, tau, tied_tol=0.0)
    true = naive_survival(time, event & (weight > 0), weight, event)
    i, j, c = np.array(true.i), np.array(true.j), np.array(true.weight, dtype=float)
    right = 0.5 + 0.5 * np.sign(scores[i] - scores[j])
    for row, step in enumerate(1e-4 * np.eye(time.size)):  # each row counts 1 + step times
        more, less = (c * (1 + s)[i] * (1 + s)[j] for s in (step, -step))
        slope = (more @ right / more.sum() - less @ right / less.sum()) / 2e-4
        assert found.influence[row] == pytest.approx(slope, abs=1e-7)


@each("share", [None, "equal", "rows"])
@each("seed", seeds(6))
def test_groups_as_units_have_the_spread_of_the_groups(seed: int, share: str | None) -> None:
    """The residuals of a ratio of sums over groups, by a double loop."""
    rng = np.random.default_rng(seed)
    n = 60
    group, key, scores = rng.integers(0, 9, n), rng.integers(0, 3, n), rng.normal(size=n).round(1)
    key = np.minimum(key, 1) if share == "rows" else key  # as `group_auc` has it
    key[group == 8] = 1  # a group without a pair
    true = naive_ordered(group, key, None, None)
    i, j = true.i, true.j
    mass = np.bincount(group[i], minlength=9)
    right = np.bincount(group[i], 0.5 + 0.5 * np.sign(scores[i] - scores[j]), minlength=9)
    held = mass > 0
    if share is not None:
        of = np.bincount(group, minlength=9) if share == "rows" else np.ones(9)
        right, mass = of * right / np.where(held, mass, 1.0), of * held
    value = right.sum() / mass.sum()
    wanted = (right - value * mass)[held] / mass.sum()
    wanted *= np.sqrt(held.sum() / (held.sum() - 1))
    per_row = np.bincount(group)[group] if share == "rows" else share
    pairs = ac.OrderedPairs(group, key, share=per_row)
    if share is not None and key.max() == 1:
        whole = ac.group_auc(group, key, scores, share)
        assert whole.value == pytest.approx(value, rel=1e-13)
        assert abs(float(whole.influence.sum())) < 1e-12
    found = ac.concordance(pairs, scores, units="groups")
    assert found.value == ac.concordance(pairs, scores).value == pytest.approx(value, rel=1e-13)
    assert found.influence == pytest.approx(wanted, abs=1e-14)
    assert pairs.groups_with_pairs == held.sum() < 9


def some_scores(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 50))
    positive = rng.random(n) < 0.4
    positive[:4] = [True, True, False, False]
    base = rng.normal(size=n) + positive
    return np.round(base, seed % 3), np.round(base + rng.normal(size=n), 1), positive


def by_definition(scores: list[np.ndarray], positive: np.ndarray) -> np.ndarray:
    """The covariance matrix of the models' AUC, by the placements of a double loop."""
    apart = [np.subtract.outer(s[positive], s[~positive]) for s in scores]
    right = np.array([(1 + np.sign(t)) / 2 for t in apart])
    plus, minus = np.cov(right.mean(axis=2)), np.cov(right.mean(axis=1))
    return plus / positive.sum() + minus / (~positive).sum()


@each("seed", seeds(40))
def test_variance_and_covariance_are_those_of_the_definition(seed: int) -> None:
    first, second, positive = some_scores(seed)
    wanted = by_definition([first, second], positive)
    one, other = ac.delong(first, positive), ac.delong(second, positive)
    assert one.value == pytest.approx(auc(first, positive), rel=1e-15)
    assert one.standard_error**2 == pytest.approx(wanted[0, 0], rel=1e-12, abs=1e-15)
    assert one.influence @ other.influence == pytest.approx(wanted[0, 1], rel=1e-10, abs=1e-15)
    found, same = ac.compare_models(one, other), ac.compare_models(one, one)
    assert found.difference == one.value - other.value
    assert (same.difference, same.standard_error, same.z, same.p_value) == (0, 0, 0, 1)
    if found.standard_error > 0:
        assert found.z == found.difference / found.standard_error
        assert found.p_value == pytest.approx(2 * norm.sf(abs(found.z)), rel=1e-9)
        ends = norm.interval(0.95, found.difference, found.standard_error)
        assert found.interval == pytest.approx(ends, abs=1e-12)
    for logit in (False, True):
        inner, outer = (one.interval(level, logit) for level in (0.95, 0.99))
        assert 0 <= outer[0] <= inner[0] <= one.value <= inner[1] <= outer[1] <= 1
        assert inner[0] < inner[1] or one.value in (0, 1)
    variance = wanted[0, 0] + wanted[1, 1] - 2 * wanted[0, 1]
    assert found.standard_error**2 == pytest.approx(variance, rel=1e-9, abs=1e-14)


def test_two_models_without_variance_are_not_said_to_differ() -> None:
    """One parts the classes, one is constant: z was infinite and p = 0, on four rows too."""
    positive = np.array([True, True, False, False])
    apart, flat = ac.delong(np.array([2.0, 2, 1, 1]), positive), ac.delong(np.ones(4), positive)
    found = ac.compare_models(apart, flat)
    assert (found.difference, found.standard_error) == (0.5, 0.0)
    assert np.isnan([found.z, found.p_value, *found.interval]).all()
