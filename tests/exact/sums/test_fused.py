"""Rows that are scored and counted, or scored and pulled, in one loop: against one step a loop."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import naive
from aucert.exact.errors import InputError
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.spaces.blocks import Pull
from aucert.exact.sums.binned import Extent, Histogram, Marginals
from aucert.exact.sums.fused import rows as fused
from aucert.exact.sums.fused import rows_compiled
from aucert.exact.sums.fused.rows import count_rows, pull_rows
from aucert.exact.sums.fused.rows_compiled import CHUNK, GROUP, QUANTUM
from loops import each

BINS, HALF = 1 << 6, 2


class Case:
    """Rows of a kind: their scores, and a grid that holds them."""

    def __init__(self, kind: str, n: int = 700, d: int = 2, seed: int = 0):
        rng = np.random.default_rng(seed)
        X, self.positive = rng.normal(size=(n, d)), rng.random(n) < 0.3
        self.positive[:2] = True, False
        if kind == "ties":
            X = np.round(X)
        if kind == "float32":
            X = X.astype(np.float32)
        if kind == "outliers":
            X[::97] *= 1e4
        if kind == "tiny class":
            self.positive[:] = False
            self.positive[n // 2] = True
        weights = {"whole": rng.integers(0, 4, n).astype(float), "weighted": rng.uniform(0.1, 2, n)}
        self.X, self.weight = X, weights.get(kind)
        self.w, self.offset = rng.normal(size=d), rng.normal(size=d)
        self.scores = np.zeros(n)
        for k in range(d):
            self.scores += (X[:, k].astype(float) - self.offset[k]) * self.w[k]
        extent = Extent()
        extent.add(self.scores, self.positive)
        self.grid = Histogram(extent.ends, BINS, HALF)

    def part(self, rows: slice) -> tuple[Any, ...]:
        weight = None if self.weight is None else self.weight[rows]
        return self.X[rows], self.offset, self.w, self.positive[rows], weight

    def counted(self, *parts: slice) -> Histogram:
        """The fused histogram, of parts that are merged in this order."""
        whole = self.grid.empty()
        for rows in parts or (slice(None),):
            one = self.grid.empty()
            count_rows(one, *self.part(rows))
            whole.merge(one)
        return whole

    def plain(self) -> Histogram:
        """The histogram of the scores."""
        histogram = self.grid.empty()
        histogram.add(self.scores, self.positive, self.weight)
        return histogram


KINDS = ["plain", "ties", "float32", "outliers", "tiny class", "whole", "weighted"]


def whole(case: Case) -> bool:
    return case.weight is None or bool((case.weight == np.floor(case.weight)).all())


def check_counts(case: Case) -> tuple[Histogram, Marginals]:
    """Masses, ends and marginals to the bit; residuals to half a quantum a row."""
    histogram, plain = case.counted(), case.plain()
    masses = histogram.grid[:, :, 0], plain.grid[:, :, 0]
    if whole(case):
        assert np.array_equal(*masses)
    else:
        np.testing.assert_allclose(*masses, rtol=1e-13)
    assert np.array_equal(histogram.seen.ends, plain.seen.ends) and histogram.fits
    closed, other = histogram.close(HALF, whole(case)), plain.close(HALF, whole(case))
    if whole(case):
        assert np.array_equal(closed.table, other.table) and closed.total == other.total
    room = QUANTUM * closed.mass / BINS + other.value_rounding
    assert abs(closed.value - other.value) <= room
    return histogram, closed


def check_value(case: Case) -> None:
    """The value is at least the sum over all pairs, and too large by the pairs at the margin."""
    closed = case.counted().close(HALF, whole(case))
    exact = naive.exact(case.scores)
    pairs = naive.weighted_pairs(case.positive.tolist(), AllPairs(case.weight))
    true = sum(c * max(Fraction(0), 1 - exact[i] + exact[j]) for i, j, c in pairs)
    upper = Fraction(closed.value) + Fraction(closed.value_rounding)
    assert upper >= true * Fraction(closed.mass) * (1 - Fraction(1e-15))
    assert float(upper) <= float(true) * closed.mass * (1 + 1e-9) + closed.mass / BINS


def lanes(products: np.ndarray) -> np.ndarray:
    """Sum (m, d) products as the loop does: lane by lane, `GROUP` chunks, halved, compensated."""
    total, carry = np.zeros((2, products.shape[1]))
    for start in range(0, max(len(products), 1), CHUNK * GROUP):
        group = products[start : start + CHUNK * GROUP]
        held = np.zeros((CHUNK, products.shape[1]))
        for at in range(0, len(group), CHUNK):
            part = group[at : at + CHUNK]
            held[: len(part)] += part
        while len(held) > 1:
            held = held[: len(held) // 2] + held[len(held) // 2 :]
        part, new = held[0], total + held[0]
        swap = np.abs(total) < np.abs(part)
        carry += np.where(swap, (part - new) + total, (total - new) + part)
        total = new
    return total + carry


def check_pull(case: Case) -> Pull:
    """The marginals of the scores one by one, their pull summed in the same order: to the bit."""
    histogram, closed = check_counts(case)
    found = pull_rows(histogram, closed, *case.part(slice(None)))
    c = histogram.marginals(case.scores, case.positive, closed, case.weight)
    centred = case.X.astype(float) - case.offset
    assert np.array_equal(found.value, lanes(c[:, None] * centred))
    exact = [
        [Fraction(x) - Fraction(o) for x, o in zip(row, case.offset.tolist(), strict=True)]
        for row in case.X.astype(float).tolist()
    ]
    true = [
        sum(Fraction(a) * row[k] for a, row in zip(c.tolist(), exact, strict=True))
        for k in range(case.w.size)
    ]
    off = [float(Fraction(x) - y) for x, y in zip(found.value.tolist(), true, strict=True)]
    assert float(np.linalg.norm(off)) <= found.error + 2.0**-53 * float(np.linalg.norm(found.value))
    return found


@each("kind", KINDS)
@each("d", [1, 2, 3, 8])
def test_the_fused_loops_do_what_the_steps_do(kind: str, d: int) -> None:
    case = Case(kind, d=d)
    check_pull(case)


@each("kind", KINDS)
def test_the_value_is_that_of_every_pair(kind: str) -> None:
    check_value(Case(kind, n=60))


@each("n", [1, 2, CHUNK - 1, CHUNK, CHUNK + 1, GROUP * CHUNK + 5])
def test_any_number_of_rows_fills_the_lanes(n: int) -> None:
    case = Case("plain", n=max(n, 2))
    case.X, case.scores, case.positive = case.X[:n], case.scores[:n], case.positive[:n]
    histogram = case.counted()
    assert histogram.rows == n == int(histogram.grid[:, :, 0].sum())
    closed = case.plain().close(HALF, True)
    if closed.mass:
        check_pull(case)


@each("kind", ["plain", "ties", "outliers", "whole"])
def test_parts_merge_to_the_same_bits_in_any_order(kind: str) -> None:
    case = Case(kind)
    cuts = [slice(0, 100), slice(100, 101), slice(101, 650), slice(650, None)]
    one, other = case.counted(), case.counted(*cuts[::-1])
    assert np.array_equal(one.grid, other.grid) and np.array_equal(one.over, other.over)
    a, b = one.close(HALF, True), other.close(HALF, True)
    assert (a.value, a.total, a.mass) == (b.value, b.total, b.mass)
    assert (a.value_rounding, a.slip) == (b.value_rounding, b.slip)


def test_merged_pulls_pay_for_every_part() -> None:
    case = Case("plain", n=3000)
    histogram, closed = check_counts(case)
    parts = [
        pull_rows(histogram, closed, *case.part(slice(k, k + 100))) for k in range(0, 3000, 100)
    ]
    into = Pull(2)
    for part in parts:
        into.merge(part)
    known = pull_rows(histogram, closed, *case.part(slice(None)))
    off = float(np.linalg.norm(into.value - known.value))
    assert off <= into.error + known.error and into.rows == 3000
    assert into.error >= known.error * 0.9 and into.size == pytest.approx(known.size, rel=0.2)


def test_histograms_on_different_grids_are_not_merged() -> None:
    case = Case("plain")
    with pytest.raises(InputError, match="different grids"):
        case.counted().merge(Histogram(case.grid.extent, 2 * BINS, HALF))


def test_scores_that_are_not_finite_are_refused() -> None:
    case = Case("plain")
    case.X[5] = 1e300
    case.w[:] = 1e300
    with pytest.raises(InputError, match="a score is"), np.errstate(over="ignore"):
        case.counted()


def faulty(name: str, loop: Callable[..., Any]) -> Callable[..., Any]:
    """A loop with a fault: see the names."""

    def wrong(*given: Any) -> Any:
        args = list(given)
        if name == "the last row is left out":
            args[0], args[3] = args[0][:-1], args[3][:-1]
        if name == "the rows are not centred":
            args[1] = np.zeros_like(args[1])
        if name == "classes change places":
            args[3] = ~args[3]
        if name == "the grid is moved by a bin":
            args[6] = args[6] + 1.0
        if name == "clipped rows lose what is beyond":
            args[-1] = np.zeros(2)
        return loop(*args)

    return wrong


FAULTS = [
    "the last row is left out",
    "the rows are not centred",
    "classes change places",
    "the grid is moved by a bin",
]


@each("fault", [*FAULTS, "clipped rows lose what is beyond"])
def test_a_fault_in_the_counting_loop_is_seen(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fused.loops, "fill", faulty(fault, rows_compiled.fill))
    with pytest.raises((AssertionError, InputError, ZeroDivisionError, IndexError)):
        check_counts(Case("outliers"))


@each("fault", FAULTS)
def test_a_fault_in_the_pulling_loop_is_seen(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fused.loops, "pull", faulty(fault, rows_compiled.pull))
    with pytest.raises(AssertionError):
        check_pull(Case("plain"))
