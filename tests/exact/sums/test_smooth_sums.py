"""Smooth losses over all pairs: convolved sums and products; the faults they could have."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pytest

from aucert.exact import AllPairs, InputError
from aucert.exact.losses.registry import EXPONENTIAL, Logistic, SmoothHinge
from aucert.exact.pairs.all_pairs import enumerated
from aucert.exact.sums import convolved
from aucert.exact.sums.convolved import EXPONENTIAL_UNITS
from aucert.exact.tools.rounding import UNIT, gamma, short_chain
from loops import each, first_fast, seeds

LOSSES = [Logistic(), SmoothHinge(), SmoothHinge(0.1), SmoothHinge(20.0)]
KINDS = ["ties", "duplicates", "one positive", "huge", "tiny", "outlier", "idle outlier", "apart",
         "far both ways"]  # fmt: skip
NINE = np.arange(9) % 3 == 0, np.random.default_rng(1).normal(size=9)  # classes and scores


def binned(positive: Any, weight: np.ndarray | None = None, bins: int = 64) -> AllPairs:
    return AllPairs(weight, form="binned", bins=bins).on(np.asarray(positive, dtype=bool))


def drawn(kind: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return scores, labels and weights of a kind of data."""
    rng = np.random.default_rng(seed)
    n = 40
    positive = rng.random(n) < 0.3
    positive[:2] = True, False
    scores = rng.normal(size=n) + positive
    weight = [None, rng.integers(0, 4, n) + 0.0, rng.uniform(0, 1, n)][seed % 3]
    if kind == "ties":
        scores = np.round(scores * 4) / 4
    elif kind == "duplicates":
        scores = np.repeat(scores[:8], 5)
    elif kind == "one positive":
        positive = np.arange(n) == 0
    elif kind in ("huge", "tiny"):
        scores = scores * (1e6 if kind == "huge" else 1e-12)
    elif kind == "outlier":
        scores[3] = 300.0
    elif kind == "idle outlier":
        weight = np.ones(n)
        weight[3], scores[3] = 0.0, 1e90
    elif kind == "apart":
        scores = np.where(positive, -1e5, 1e5)
    elif kind == "far both ways":
        scores[:4] = -1e6, 2e6, 300.0, 3e6
    if weight is not None:
        weight[:2] = np.maximum(weight[:2], 1.0)
    return scores, positive, weight


def bent(loss: Any) -> bool:
    """Whether alpha follows a line within the bins."""
    return isinstance(loss, Logistic)


def of_bins(
    loss: Any, at: np.ndarray, positive: np.ndarray, weight: Any, K: float
) -> tuple[np.ndarray, float, float]:
    """Return c, the mean of dual(alpha) and that of alpha, pair by pair.

    alpha is that of the lower ends of the bins, or on the line through it.
    """
    mass = np.ones(at.size) if weight is None else weight
    i, j = (each.ravel() for each in np.meshgrid(*map(np.flatnonzero, (positive, ~positive))))
    m = mass[i] * mass[j] / mass[positive].sum() / mass[~positive].sum()
    floors, thetas = np.floor(at * K), at * K - np.floor(at * K)
    alpha = loss.alpha((floors[i] - floors[j]) / K)
    if bent(loss) and K >= 4:
        alpha = alpha - alpha * (1 - alpha) * (thetas[i] - thetas[j]) / K
    c = np.bincount(i, m * alpha, at.size) - np.bincount(j, m * alpha, at.size)
    return c, float(m @ loss.dual(alpha)), float(m @ alpha)


def check(
    loss: Any, scores: np.ndarray, positive: np.ndarray, weight: Any, width: float = 0.0
) -> float:
    """Compare the convolution with the sums pair by pair, at the scores and at their bins.

    Returns by how much the value is too large.
    """
    pairs = binned(positive, weight, 256)
    found = pairs.sums(scores, loss, width)
    used = np.ones(scores.size, bool) if weight is None else weight > 0
    extent = convolved.Extent()
    extent.add(scores[used], positive[used])
    K = float(convolved.smooth_ruler(extent.ends, convolved.bins_for(pairs, width), loss, 0).bins)
    middle = float(scores[used].mean())
    at = np.where(used, scores, middle)
    assert abs(loss.centre - round(loss.centre * K) / K) <= 0.5 / K
    c, conjugate, total = of_bins(loss, at, positive, weight, K)
    slack = 1e-12 * (1 + np.ptp(at))
    assert np.abs(found.c - c).sum() <= found.rounding + slack
    assert abs(found.total - total) <= found.rounding + slack
    # The lower bound is the mean of dual(alpha), or what the remainder of its series leaves.
    below, lost = conjugate - found.conjugate, found.excess if K >= 4 and bent(loss) else 0.0
    assert -slack <= below + found.conjugate_rounding and below <= lost + slack + found.rounding
    # The value is at least the mean loss and too large by the curvature over a bin at most.
    true = enumerated(pairs, at, loss, 0.0)
    slips, order = found.value_rounding + true.value_rounding, 3 if K >= 4 and bent(loss) else 2
    assert -slips <= found.value - true.value <= loss.smoothness / 2 / K**order + slips
    assert found.value - true.value <= found.excess + slips
    for k in range(3):  # it lies below the mean loss at any scores
        other = at + np.random.default_rng(k).normal(size=at.size) * 10.0 ** -(2 * k)
        value = enumerated(pairs, other, loss, 0.0).value
        slack = found.conjugate_rounding + float(np.ptp(other)) * found.rounding
        shifted = np.where(used, other - middle, 0.0)
        assert value >= found.conjugate - found.c @ shifted - slack - 1e-14 * (1 + abs(value))
    return found.value - true.value


@each("loss", LOSSES, ids=str)
@each("kind", KINDS)
@each("first", first_fast([0, 3]))
def test_sums_are_those_of_the_pairs(loss: Any, kind: str, first: int, monkeypatch) -> None:
    if kind in ("apart", "far both ways"):  # far rows do not make all bins coarse
        monkeypatch.setattr(convolved, "LARGEST_GRID", 1 << 16)
    for seed in range(first, first + 3):  # each kind of weights once
        check(loss, *drawn(kind, seed))


@each("loss", LOSSES[:2], ids=str)
def test_bins_are_as_narrow_as_asked(loss: Any) -> None:
    scores, positive, weight = drawn("ties", 1)
    scores = scores + np.random.default_rng(0).uniform(-0.1, 0.1, scores.size)
    excess = [check(loss, scores, positive, weight, width) for width in (0.1, 0.01, 0.001)]
    assert excess[0] > 5 * excess[1] > 25 * excess[2] >= 0


def test_long_scores_and_moved_scores_give_the_same_sums() -> None:
    scores, positive, weight = drawn("ties", 2)
    pairs = binned(positive, weight)
    found = pairs.sums(scores, Logistic())
    for moved in (scores.astype(np.longdouble), scores + 2.0**20):
        other = pairs.sums(moved, Logistic())
        assert other.value == pytest.approx(found.value, rel=1e-13)
        assert other.c == pytest.approx(found.c, abs=1e-15)


def test_few_pairs_are_gone_through_and_many_are_convolved() -> None:
    scores, positive, weight = drawn("ties", 0)
    assert Logistic().all_pairs(AllPairs(weight).on(positive), scores, 0.0) is None
    rough = AllPairs().on(np.arange(1000) % 2 == 0)
    assert Logistic().all_pairs(rough, np.linspace(0.0, 1.0, 1000), 0.1) is not None
    scores, positive = np.random.default_rng(0).normal(size=3000), np.arange(3000) % 2 == 0
    many, loss = AllPairs().on(positive), Logistic()
    found, true = many.sums(scores, loss), enumerated(many, scores, loss, 0.0)
    assert -found.value_rounding <= found.value - true.value <= 1e-10
    assert np.abs(found.c - true.c).sum() <= 1e-4
    with pytest.raises(InputError, match="1e\\+150"):
        binned([1, 0]).sums(np.array([1e200, 0.0]), Logistic())


def class_bins(counts: Any, per_unit: float, loss: Any) -> tuple[Any, Any]:
    bins = convolved.Bins(per_unit, round(per_unit * loss.centre), *counts)
    return bins, convolved.class_sums(bins, loss)


@pytest.mark.slow
def test_the_bound_of_the_transforms_rounding_holds_and_is_not_idle() -> None:
    """At most half of it is used on random counts; a hundredth of it would be too little."""
    shares = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        place, side = rng.integers(0, 500, 400), np.arange(400) % 2 == 0
        counts = (np.bincount(place[y], rng.integers(1, 10**8, 200), 500) for y in (side, ~side))
        bins, sums = class_bins(counts, 32.0, Logistic())
        m = np.arange(-bins.size + 1, bins.size)
        step = np.where(m < 0, 1.0, np.where(m > 0, 0.0, 0.5))
        kernel = Logistic().beside_step(m / 32.0, step)[0] + step
        exact = np.zeros(bins.size, dtype=np.longdouble)
        for p, q in itertools.product(range(bins.size), repeat=2):
            exact[p] += np.longdouble(bins.count_b[q]) * kernel[p - q + bins.size - 1]
        wrong = np.abs(sums.u - exact).astype(float) @ bins.count_a
        shares.append(wrong / (bins.masses[0] * bins.masses[1]) / sums.u_error)
    assert 1e-4 < max(shares) < 0.6


@dataclass(frozen=True)
class Off(Logistic):
    """A logistic loss whose kernels are wrong by nearly all that `KERNEL_UNITS` allows."""

    units: float = 15.0

    def beside_step(self, x: np.ndarray, step: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        slopes, duals = super().beside_step(x, step)
        return slopes + self.units * UNIT, duals + self.units * UNIT

    def bent(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        bend, turn = super().bent(x)
        return bend + self.units * UNIT, turn + self.units * UNIT


@dataclass(frozen=True)
class Near(Logistic):
    """A logistic loss whose slope is cut off where it is still to be seen."""

    reach: float = field(default=5.0, init=False)


def test_every_error_is_paid(monkeypatch: pytest.MonkeyPatch) -> None:
    found = convolved.convolved(binned([1, 0, 0]), np.array([0.0, 0.0, -200.0]), Logistic(), 0.0)
    assert found.value_rounding >= 100 * found.rounding > 0  # as far as the scores reach
    found = convolved.convolved(binned([1, 0]), np.array([3.0, -3.0]), Near(), 0.0)
    assert max(found.conjugate, found.total) < 1e-15  # no alpha is left, so the tail is paid
    assert found.value >= np.log1p(np.exp(-6.0))
    weight = np.random.default_rng(1).uniform(0.1, 1, 9)
    fractions, whole = (
        convolved.convolved(binned(NINE[0], given), np.linspace(-1, 1, 9), Logistic(), 0.0).rounding
        for given in (weight, np.ceil(weight))
    )
    assert fractions > whole + 8 * UNIT
    for loss in (Logistic(), SmoothHinge(0.3)):
        place = np.floor(64 * (NINE[1] - NINE[1].min())).astype(int)
        counts = (np.bincount(place[y], minlength=400) + 0.0 for y in (NINE[0], ~NINE[0]))
        bins, sums = class_bins(counts, 64.0, loss)
        assert min(sums.u_error, sums.v_error, sums.dual_error) > UNIT
        off = np.abs(sums.u * (1 + 1e-9) - sums.u)  # a thousand times what it rounds is more
        assert float(bins.count_a @ off) / 18 > sums.u_error
    # At margins of 40 alpha is nothing, so that no other bound hides that of the kernels.
    monkeypatch.setattr(convolved, "BUTTERFLY", 0)
    found = convolved.convolved(binned([1, 0]), np.array([20.0, -20.0]), Off(), 0.0)
    planted = found.conjugate + found.excess
    assert np.abs(found.c).sum() > 20 * UNIT and planted > 10 * UNIT
    assert np.abs(found.c).sum() - 1e-17 <= found.rounding
    assert found.conjugate - 2e-16 <= found.conjugate_rounding


@each("part", ["u_error", "v_error", "dual_error"])
def test_what_a_transform_rounds_is_in_every_bound(part: str, monkeypatch) -> None:
    honest, none = convolved.class_sums, {"u_error": 0.0, "v_error": 0.0, "dual_error": 0.0}
    planted = none | {part: 1.0}
    monkeypatch.setattr(convolved, "class_sums", lambda *of: replace(honest(*of), **planted))
    found = convolved.convolved(binned(NINE[0]), NINE[1], Logistic(), 0.0)
    assert (found.conjugate_rounding if part == "dual_error" else found.rounding) >= 1
    assert found.value_rounding >= 0.5


@each("seed", seeds(12))
def test_bounds_of_the_exponential_loss_have_all_their_terms(seed: int) -> None:
    rng, n = np.random.default_rng([5, seed]), 12
    s = rng.normal(size=n) * 10.0 ** rng.integers(-1, 3)
    y, r = np.arange(n) % 3 == 0, rng.integers(0, 3, n) + (np.arange(n) < 2)
    found = AllPairs(r).on(y).sums(s, EXPONENTIAL)
    with localcontext() as context:
        context.prec = 60
        values, mass = [Decimal(float(x)) for x in s], Decimal(int(r[y].sum() * r[~y].sum()))
        value, c = Decimal(0), [Decimal(0)] * n
        for i, j in itertools.product(np.flatnonzero(y), np.flatnonzero(~y)):
            part = int(r[i] * r[j]) / mass * (values[j] - values[i]).exp()
            value, c[i], c[j] = value + part, c[i] + part, c[j] - part
        apart = sum(abs(Decimal(float(x)) - k) for x, k in zip(found.c, c, strict=True))
        linear = sum(k * x for k, x in zip(c, values, strict=True))
        assert abs(Decimal(found.value) - value) <= Decimal(found.value_rounding)
        assert apart <= Decimal(found.rounding)
        off = abs(Decimal(found.conjugate) - (value + linear))
        assert off <= Decimal(found.conjugate_rounding)
    used = r > 0
    least, most = s[y & used].min(), s[~y & used].max()
    worst, shifted = abs(most - least), np.abs(np.where(used, s - (most + least) / 2, 0.0))
    chain, unit, size = gamma(2 * short_chain(n) + 4 * EXPONENTIAL_UNITS), 4 * UNIT, np.abs(found.c)
    mass, just = float(size @ (1 + shifted)), 1 - 1e-9
    relative = chain * found.value + unit * (mass + worst * found.value)
    rounding = 2 * (relative + chain * float(size.sum()))
    slips = chain * (found.value + float(size @ shifted)) + (rounding + unit * mass) * (1 + worst)
    assert found.value_rounding >= 2 * relative * just
    assert found.rounding >= rounding * just
    assert found.conjugate_rounding >= 2 * slips * just


@each("h", [0.25, 0.06, 0.02])
def test_what_a_line_of_alpha_costs_is_bounded_and_the_bound_is_not_idle(h: float) -> None:
    loss, t = Logistic(), np.linspace(-12, 12, 241)[:, None]
    e = np.concatenate([-np.geomspace(h, h / 3, 20), np.geomspace(h / 3, h, 20)])[None]
    slope = loss.alpha(t)
    bend, turn = loss.bent(t)
    assert bend == pytest.approx(slope * (1 - slope), rel=1e-10)
    assert turn == pytest.approx(t * bend, rel=1e-12)
    alpha = slope - bend * e
    assert alpha.min() > 0 and alpha.max() < 1
    cubic, quartic = loss.remainders(h)
    series = loss.dual(slope) - t * bend * e - bend * e**2 / 2
    lost = np.abs(loss.dual(alpha) - series) / (cubic * bend * np.abs(e) ** 3)
    left = loss.value(t + e) - loss.dual(alpha) + alpha * (t + e)
    near = bend > 1e-3  # elsewhere less is lost than what doubles round
    assert 0.3 < lost[near[:, 0]].max() <= 1
    assert 0.1 < (left / (quartic * bend * h**4))[near[:, 0]].max() <= 1
