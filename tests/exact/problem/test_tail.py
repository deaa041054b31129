"""Partial AUC against all corners of the row weights, with ties and parts of rows."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from aucert.exact import AllPairs, InputError
from aucert.exact.losses.registry import ALL_LOSSES, HINGE, LOGISTIC, SQUARE, get_loss
from aucert.exact.problem.risk import Mean
from aucert.exact.problem.tail import Tail, tail_risk
from aucert.exact.sums.largest_rows import candidates, highest
from loops import each

FALLING = [loss for loss in ALL_LOSSES.values() if loss.nonincreasing]


def corners(m: int, k: Fraction) -> Iterator[np.ndarray]:
    """Yield every 0 <= p <= 1 with sum k that has at most one fractional entry."""
    whole, left = int(k // 1), float(k - k // 1)
    for chosen in itertools.combinations(range(m), whole):
        p = np.zeros(m)
        p[list(chosen)] = 1
        if left == 0:
            yield p
        for last in (x for x in range(m) if left > 0 and p[x] == 0):
            more = p.copy()
            more[last] = left
            yield more


def naive(s: np.ndarray, positive: np.ndarray, loss, kp: Fraction, kq: Fraction) -> float:
    """Return U as it is defined: the best of all corners."""
    losses = loss.value(np.subtract.outer(s[positive], s[~positive]))
    columns = np.array(list(corners(losses.shape[1], kq)))
    best = max(float((p @ losses @ columns.T).max()) for p in corners(losses.shape[0], kp))
    return best / float(kp * kq)


def drawn(seed: int, n: int = 10) -> tuple[np.random.Generator, AllPairs, np.ndarray]:
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.5
    positive[:2] = True, False
    if seed % 5 == 0:
        positive[:] = np.arange(n) == 0
    scores = np.round(rng.normal(size=n), int(rng.integers(0, 3)))
    return rng, AllPairs().on(positive), scores


def part(rng: np.random.Generator, n: int) -> Fraction:
    """Return a number of rows, often with a fraction."""
    return max(Fraction(int(rng.integers(1, 11)), 10) * n, Fraction(1))


def check(loss, seed: int) -> None:
    """Compare value, minorant and slip with the definition."""
    rng, pairs, s = drawn(seed)
    kp, kq = part(rng, pairs.n_pos), part(rng, pairs.n_neg)
    risk = Tail(Mean(pairs, loss), kp, kq)
    true = naive(s, pairs.positive, loss, kp, kq)
    for width in (0.0, 0.3):
        found = risk.sums(s, width)
        assert abs(found.value - true) <= found.value_rounding + 1e-13 * (1 + true)
        for scale in (0.0, 0.1, 3.0):
            other = s + rng.normal(size=s.size) * scale
            above = naive(other, pairs.positive, loss, kp, kq)
            below = found.conjugate - float(found.c @ other)
            room = 1e-13 * (1 + above + float(np.abs(found.c) @ (1 + np.abs(other))))
            assert below <= above + room
            if width == 0 and scale == 0:
                assert below == pytest.approx(above, abs=room)
            slip = risk.slip(np.abs(other - s), true)
            assert above - true <= slip * (1 + 1e-12) + 1e-13 * (1 + above)


@each("loss", FALLING, ids=lambda loss: loss.name)
def test_value_minorant_and_slip_are_those_of_the_definition(loss) -> None:
    for seed in range(25):
        check(loss, seed)


def test_a_slip_of_the_rows_that_count_now_would_be_too_small() -> None:
    """The row with the error takes the place of the one that counts: the sheet's .064 and more."""
    pairs = AllPairs().on(np.array([True, False, False]))
    risk = Tail(Mean(pairs, HINGE), Fraction(1), Fraction(1))
    s, error = np.array([0.0, 0.0, -0.01]), np.array([0.0, 0.0, 0.5])
    grown = risk.sums(s + error).value - risk.sums(s).value
    (_, _), (now, weights) = risk.chosen(s, 0.0)
    of_those_that_count = float(weights @ error[now])
    assert of_those_that_count < grown <= risk.slip(error, 1.0)


def test_capped_weights_are_feasible_in_exact_arithmetic() -> None:
    """Sums of row weights over the largest are at least k, or the share makes up for it."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        positive = np.arange(200) % 2 == 0
        kq = [Fraction(1, 3) * 100, Fraction("12.3456789012345678"), Fraction(7)][seed % 3]
        risk = Tail(Mean(AllPairs().on(positive), HINGE), Fraction(100), kq)
        scores = np.round(rng.normal(size=200), 1)
        for width in (0.0, 0.2, 50.0):
            (_, p), (_, q) = risk.chosen(scores, width)
            share, q = Fraction(risk.share(p, q)), [Fraction(x) for x in q.tolist()]
            scale = share * kq / sum(q)
            assert scale * max(q) <= 1 and scale * sum(q) <= kq
            assert share > 1 - Fraction(1, 10**12)


def test_only_candidates_can_weigh_something() -> None:
    """The weights of the largest are the same among the candidates and among all rows."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        values = np.round(rng.normal(size=80), int(rng.integers(0, 4)))
        k = [Fraction(7), Fraction("12.25"), Fraction(1), Fraction(79)][seed % 4]
        width = [1e-6, 0.1, 3.0][seed % 3]
        some = candidates(values, k, width)
        for h in (0.0, width):
            rows, weights = highest(values, k, h)
            fewer, same = highest(values[some], k, h)
            whole = np.zeros((2, 80))
            whole[0, rows], whole[1, some[fewer]] = weights, same
            assert np.abs(whole[0] / weights.max() - whole[1] / same.max()).max() <= 2.0**-20
            assert (weights > 0).all()
            assert weights.sum() >= float(k) * weights.max() * (1 - 1e-7)


def test_the_whole_range_is_the_mean_over_all_pairs_bit_for_bit() -> None:
    _, pairs, s = drawn(3, 40)
    whole = Tail(Mean(pairs, LOGISTIC), Fraction(pairs.n_pos), Fraction(pairs.n_neg)).sums(s, 0.1)
    plain = pairs.sums(s, LOGISTIC, 0.1)
    assert whole.value == plain.value and whole.conjugate == plain.conjugate
    assert np.array_equal(whole.c, plain.c) and whole.rounding == plain.rounding
    assert isinstance(tail_risk(pairs, HINGE, 1.0, 0.0), Mean)


def test_rates_are_the_decimal_numbers_that_are_meant() -> None:
    pairs = AllPairs().on(np.arange(20) < 10)
    risk = tail_risk(pairs, HINGE, 0.3, 0.9)
    assert isinstance(risk, Tail)
    assert risk.kp == 1 and risk.kq == 3  # (1 - 0.9) * 10 is less than one in floats
    part = tail_risk(pairs, HINGE, 0.25, 0.55)
    assert isinstance(part, Tail)
    assert (part.kp, part.kq) == (Fraction(9, 2), Fraction(5, 2))  # the last row counts in part
    push = tail_risk(pairs, HINGE, 0.001)
    assert isinstance(push, Tail) and push.kq == 1 and push.kp == 10


def test_one_negative_is_the_loss_of_toppush() -> None:
    _, pairs, s = drawn(4, 30)
    found = Tail(Mean(pairs, get_loss("squared_hinge")), Fraction(pairs.n_pos), Fraction(1)).sums(s)
    worst = s[~pairs.positive].max()
    written = np.mean(np.maximum(0, 1 - s[pairs.positive] + worst) ** 2)
    assert found.value == pytest.approx(written, rel=1e-13)


def test_what_cannot_be_is_refused() -> None:
    pairs = AllPairs().on(np.arange(8) < 4)
    two = Fraction(2)
    with pytest.raises(InputError, match="never grows with the margin: square does"):
        Tail(Mean(pairs, SQUARE), two, two)
    with pytest.raises(InputError, match="without weights"):
        Tail(Mean(AllPairs(np.ones(8)).on(pairs.positive), HINGE), two, two)
    with pytest.raises(InputError, match="kq = 5"):
        Tail(Mean(pairs, HINGE), two, Fraction(5))
    for fpr, tpr in ((0.0, 0.0), (1.1, 0.0), (0.5, 1.0), (0.5, -0.1), (float("nan"), 0.0)):
        with pytest.raises(InputError, match=r"fpr_max|tpr_min"):
            tail_risk(pairs, HINGE, fpr, tpr)
