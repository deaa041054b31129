"""The convolution's sums against the pairs themselves; the faults it could have are planted."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from aucert.exact import AllPairs, InputError
from aucert.exact.losses.registry import Logistic, SmoothHinge
from aucert.exact.pairs.all_pairs import enumerated
from aucert.exact.sums import convolved
from aucert.exact.tools.rounding import UNIT
from loops import each, first_fast

LOSSES = [Logistic(), SmoothHinge(), SmoothHinge(0.1), SmoothHinge(20.0)]
DRAWS = ["ties", "duplicates", "one positive", "huge", "tiny", "outlier", "idle outlier"]


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
    elif kind == "huge":
        scores = scores * 1e6
    elif kind == "tiny":
        scores = scores * 1e-12
    elif kind == "outlier":
        scores[3] = 300.0
    elif kind == "idle outlier":
        weight = np.ones(n)
        weight[3], scores[3] = 0.0, 1e90
    if weight is not None:
        weight[:2] = np.maximum(weight[:2], 1.0)
    return scores, positive, weight


def check(loss, scores, positive, weight, bins: int = 256, width: float = 0.0) -> None:
    """Compare the convolution with the sums pair by pair, at the scores and at their bins."""
    pairs = AllPairs(weight, form="binned", bins=bins).on(positive)
    found = pairs.sums(scores, loss, width)
    used = np.ones(scores.size, bool) if weight is None else weight > 0
    spread = float(np.ptp(scores[used]))
    extent = convolved.Extent()
    extent.add(scores[used], positive[used])
    K = float(convolved.smooth_ruler(extent.ends, convolved.bins_for(pairs, width), loss, 0).bins)
    # The minorant is that of alpha at the lower ends of the bins.
    middle = float(scores[used].mean())
    at = np.where(used, scores, middle)
    binned = np.floor(at * K) / K
    centre = loss.centre - round(loss.centre * K) / K
    assert abs(centre) <= 0.5 / K
    rough = enumerated(pairs, binned, loss, 0.0)
    slack = 1e-12 * (1 + spread)
    assert np.abs(found.c - rough.c).sum() <= found.rounding + slack
    assert abs(found.conjugate - rough.conjugate) <= found.conjugate_rounding + slack
    assert abs(found.total - rough.total) <= found.rounding + slack
    # The value is at least the mean loss and too large by the curvature over a bin at most.
    true = enumerated(pairs, at, loss, 0.0)
    assert found.value + found.value_rounding >= true.value - true.value_rounding
    curved = loss.smoothness / 2 / K**2
    assert found.value <= true.value + curved + true.value_rounding + found.value_rounding
    # It lies below U at any scores.
    for k in range(3):
        other = at + np.random.default_rng(k).normal(size=at.size) * 10.0 ** -(2 * k)
        value = enumerated(pairs, other, loss, 0.0).value
        slack = found.conjugate_rounding + float(np.ptp(other)) * found.rounding
        shifted = np.where(used, other - middle, 0.0)
        assert value >= found.conjugate - found.c @ shifted - slack - 1e-14 * (1 + abs(value))


@each("loss", LOSSES, ids=str)
@each("kind", DRAWS)
@each("first", first_fast([0, 3]))
def test_sums_are_those_of_the_pairs(loss, kind: str, first: int) -> None:
    for seed in range(first, first + 3):  # each kind of weights once
        check(loss, *drawn(kind, seed))


@each("loss", LOSSES[:2], ids=str)
def test_bins_are_as_narrow_as_asked(loss) -> None:
    scores, positive, weight = drawn("ties", 1)
    scores = scores + np.random.default_rng(0).uniform(-0.1, 0.1, scores.size)
    excess = []
    for width in (0.1, 0.01, 0.001):
        check(loss, scores, positive, weight, width=width)
        pairs = AllPairs(weight, form="binned").on(positive)
        found = pairs.sums(scores, loss, width)
        excess.append(found.value - enumerated(pairs, scores, loss, 0.0).value)
    assert excess[0] > 5 * excess[1] > 25 * excess[2] >= 0


def test_long_scores_and_moved_scores_give_the_same_sums() -> None:
    scores, positive, weight = drawn("ties", 2)
    pairs, loss = AllPairs(weight, form="binned").on(positive), Logistic()
    found = pairs.sums(scores, loss)
    longer = pairs.sums(scores.astype(np.longdouble), loss)
    moved = pairs.sums(scores + 2.0**20, loss)
    for other in (longer, moved):
        assert other.value == pytest.approx(found.value, rel=1e-13)
        assert other.c == pytest.approx(found.c, abs=1e-15)


def test_few_pairs_are_gone_through_and_many_are_convolved() -> None:
    scores, positive, weight = drawn("ties", 0)
    few = AllPairs(weight).on(positive)
    assert Logistic().all_pairs(few, scores, 0.0) is None
    rough = AllPairs().on(np.arange(1000) % 2 == 0)
    assert Logistic().all_pairs(rough, np.linspace(0.0, 1.0, 1000), 0.1) is not None
    rng = np.random.default_rng(0)
    scores, positive = rng.normal(size=3000), np.arange(3000) % 2 == 0
    many, loss = AllPairs().on(positive), Logistic()
    found, true = many.sums(scores, loss), enumerated(many, scores, loss, 0.0)
    assert -found.value_rounding <= found.value - true.value <= 1e-10
    assert np.abs(found.c - true.c).sum() <= 1e-4


def test_scores_beyond_any_grid_are_refused() -> None:
    pairs = AllPairs(form="binned").on(np.array([True, False]))
    with pytest.raises(InputError, match="1e\\+150"):
        pairs.sums(np.array([1e200, 0.0]), Logistic())


def direct(counts: np.ndarray, kernel: np.ndarray, half: int) -> np.ndarray:
    """Return the convolution by its definition, in the long format."""
    out = np.zeros(counts.size, dtype=np.longdouble)
    for p, q in itertools.product(range(counts.size), range(counts.size)):
        if abs(p - q) <= half:
            out[p] += np.longdouble(counts[q]) * kernel[p - q + half]
    return out


@pytest.mark.slow
def test_the_bound_of_the_transforms_rounding_holds_and_is_not_idle(monkeypatch) -> None:
    """At most half of it is used on random counts; a hundredth of it would be too little."""
    shares = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        n = 400
        scores, positive = rng.normal(size=n) * 2, np.arange(n) % 2 == 0
        place = np.floor(32 * (scores - scores.min())).astype(int)
        counts = (
            np.bincount(place[y], rng.integers(1, 10**8, n // 2), 500)
            for y in (positive, ~positive)
        )
        bins = convolved.Bins(32.0, 0, *counts)
        sums = convolved.class_sums(bins, Logistic())
        m = np.arange(-bins.size + 1, bins.size)
        step = np.where(m < 0, 1.0, np.where(m > 0, 0.0, 0.5))
        rest = Logistic().beside_step(m / 32.0, step)[0]
        exact = direct(bins.count_b, rest + step, bins.size - 1)
        wrong = np.abs(sums.u - exact).astype(float) @ bins.count_a
        shares.append(wrong / (bins.masses[0] * bins.masses[1]) / sums.u_error)
    assert 1e-4 < max(shares) < 0.6


@dataclass(frozen=True)
class Off(Logistic):
    """A logistic loss whose kernels are wrong by nearly all that `KERNEL_UNITS` allows."""

    units: float = 15.0

    def beside_step(self, x: np.ndarray, step: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return both kernels with the planted error."""
        slopes, duals = super().beside_step(x, step)
        return slopes + self.units * UNIT, duals + self.units * UNIT


def test_errors_of_the_kernels_are_paid(monkeypatch) -> None:
    """At margins of 40 alpha is nothing, so that no other bound hides that of the kernels."""
    monkeypatch.setattr(convolved, "BUTTERFLY", 0)
    pairs = AllPairs(form="binned", bins=64).on(np.array([True, False]))
    found = convolved.convolved(pairs, np.array([20.0, -20.0]), Off(), 0.0)
    assert np.abs(found.c).sum() > 20 * UNIT and found.conjugate > 10 * UNIT  # it was planted
    assert np.abs(found.c).sum() - 1e-17 <= found.rounding
    assert found.conjugate - 2e-16 <= found.conjugate_rounding


def test_errors_of_the_marginals_move_the_value_as_far_as_the_scores_reach() -> None:
    pairs = AllPairs(form="binned", bins=64).on(np.array([True, False, False]))
    found = convolved.convolved(pairs, np.array([0.0, 0.0, -200.0]), Logistic(), 0.0)
    assert found.value_rounding >= 100 * found.rounding > 0


@each("part", ["u_error", "v_error", "dual_error"])
def test_what_a_transform_rounds_is_in_every_bound(part: str, monkeypatch) -> None:
    pairs = AllPairs(form="binned", bins=64).on(np.arange(9) % 3 == 0)
    scores = np.random.default_rng(1).normal(size=9)
    honest = convolved.class_sums

    def planted(*of):
        none = {"u_error": 0.0, "v_error": 0.0, "dual_error": 0.0}
        return replace(honest(*of), **(none | {part: 1.0}))

    monkeypatch.setattr(convolved, "class_sums", planted)
    found = convolved.convolved(pairs, scores, Logistic(), 0.0)
    assert (found.conjugate_rounding if part == "dual_error" else found.rounding) >= 1
    assert found.value_rounding >= 0.5


def test_the_transforms_own_bounds_are_above_zero() -> None:
    pairs = AllPairs(form="binned", bins=64).on(np.arange(9) % 3 == 0)
    scores = np.random.default_rng(1).normal(size=9)
    for loss in (Logistic(), SmoothHinge(0.3)):
        place, y = np.floor(64 * (scores - scores.min())).astype(int), pairs.positive
        counts = (np.bincount(place[side], minlength=400) + 0.0 for side in (y, ~y))
        bins = convolved.Bins(64.0, round(64 * loss.centre), *counts)
        sums = convolved.class_sums(bins, loss)
        assert min(sums.u_error, sums.v_error, sums.dual_error) > UNIT
        off = np.abs(sums.u * (1 + 1e-9) - sums.u)  # a thousand times what it rounds is more
        assert float(bins.count_a @ off) / 18 > sums.u_error


FAR = {
    "above": ([400.0], []),
    "below": ([-3e4], []),
    "both": ([-1e6, 300.0], [2e6, 3e6]),
    "apart": ([-1e5] * 20, [1e5] * 19),
}


@each("loss", [Logistic(), SmoothHinge(), SmoothHinge(0.1)], ids=repr)
@each("kind", FAR)
def test_far_rows_do_not_make_all_bins_coarse(kind: str, loss, monkeypatch) -> None:
    rng = np.random.default_rng(0)
    positive = np.arange(40) % 2 == 0
    scores = rng.normal(size=40)
    for rows, far in zip(
        (np.flatnonzero(positive), np.flatnonzero(~positive)), FAR[kind], strict=True
    ):
        scores[rows[: len(far)]] = far
    monkeypatch.setattr(convolved, "LARGEST_GRID", 1 << 16)
    pairs = AllPairs(form="binned", bins=256).on(positive)
    found, true = pairs.sums(scores, loss), enumerated(pairs, scores, loss, 0.0)
    slack = found.value_rounding + true.value_rounding
    assert true.value - slack <= found.value <= true.value * (1 + 1e-12) + loss.smoothness * 5e-4
    for k in range(4):
        other = scores + rng.normal(size=40) * 10.0 ** (2 - k)
        at = enumerated(pairs, other, loss, 0.0)
        below = found.conjugate - float(found.c.astype(np.longdouble) @ other)
        paid = found.conjugate_rounding + found.rounding * float(np.abs(other).max())
        assert at.value + at.value_rounding >= below - paid


@dataclass(frozen=True)
class Near(Logistic):
    """A logistic loss whose slope is cut off where it is still to be seen."""

    reach: float = field(default=5.0, init=False)


def test_pairs_beyond_the_reach_pay_the_tail() -> None:
    pairs = AllPairs(form="binned", bins=64).on(np.array([True, False]))
    found = convolved.convolved(pairs, np.array([3.0, -3.0]), Near(), 0.0)
    assert max(found.conjugate, found.total) < 1e-15  # no alpha is left
    assert found.value >= np.log1p(np.exp(-6.0))


def test_fractions_of_weights_are_paid() -> None:
    weight = np.random.default_rng(1).uniform(0.1, 1, 9)
    positive, scores = np.arange(9) % 3 == 0, np.linspace(-1, 1, 9)
    of = {
        whole: convolved.convolved(
            AllPairs(given, form="binned", bins=64).on(positive), scores, Logistic(), 0.0
        ).rounding
        for whole, given in ((True, np.ceil(weight)), (False, weight))
    }
    assert of[False] > of[True] + 8 * UNIT


@each("loss", [Logistic(), SmoothHinge(0.1)], ids=repr)
@each("width", [0.0, 0.3])
def test_loops_over_many_rows_make_the_same_sums(loss, width: float, monkeypatch) -> None:
    rng = np.random.default_rng(5)
    positive = rng.random(1500) < 0.3
    pairs = AllPairs(bins=256).on(positive)
    scores = 2 * rng.normal(size=1500) + positive
    plain = convolved.convolved(pairs, scores, loss, width)
    monkeypatch.setattr(convolved, "MANY", 1000)
    quick = convolved.convolved(pairs, scores, loss, width)
    assert np.array_equal(quick.c, plain.c)
    assert quick.conjugate == plain.conjugate and quick.total == plain.total
    assert quick.value == pytest.approx(plain.value, rel=1e-14)
    true = enumerated(pairs, scores, loss, 0.0)
    assert true.value <= quick.value + quick.value_rounding + true.value_rounding
