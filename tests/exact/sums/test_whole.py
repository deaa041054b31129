"""Sums by bin in whole numbers: against fractions, and the same for whoever holds what."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from aucert.exact.sums.gathered.gathered import Gathered
from aucert.exact.sums.gathered.whole import WholePull, WholeSums, exponents_of
from loops import each

BINS = 5


class Rows:
    """Rows x - offset, masses, bins of both classes, partitions; and a table of marginals."""

    def __init__(self, seed: int, parts: int = 6, scale: float = 1.0, spread: float = 0.0):
        rng = np.random.default_rng(seed)
        n, d = 40, 3
        self.x = scale * rng.normal(size=(n, d)) * 10.0 ** (spread * rng.normal(size=(n, d)))
        self.x[:, 1] = 0.0 if seed == 1 else self.x[:, 1] * 1e-9
        self.mass = rng.integers(0, 4, n).astype(float)
        self.place = rng.integers(0, 2 * BINS, n)
        self.part = rng.integers(0, parts, n)
        self.table = rng.normal(size=(2, BINS)) * (rng.random((2, BINS)) < 0.8)
        self.parts = parts
        ends, lengths = np.abs(self.x).max(axis=0), np.linalg.norm(self.x, axis=1)
        self.exponents = exponents_of(self.mass.sum() * np.append(ends, lengths.max()))

    def gathered(self, part: int) -> Gathered:
        """Return the sums of one partition, added up row by row."""
        sums = np.zeros((2 * BINS, self.x.shape[1] + 1))
        for i in np.flatnonzero(self.part == part):
            sums[self.place[i], :-1] += self.mass[i] * self.x[i]
            sums[self.place[i], -1] += self.mass[i] * np.linalg.norm(self.x[i])
        shape = 2, BINS, sums.shape[1]
        return Gathered(np.zeros((2, BINS, 2)), np.zeros(4), 0, sums.reshape(shape))

    def pull(self, stretches: list[list[int]]) -> WholePull:
        """Return the pull, each stretch of partitions added up by somebody else."""
        found: WholePull | None = None
        for stretch in stretches:
            sums = WholeSums(self.exponents)
            for part in stretch:
                held = self.gathered(part)
                sums.take(held)
                assert not held.sums.any()
            one = sums.weighed(self.table, float(self.mass.size))
            found = one if found is None else found.merge(one)
        assert found is not None
        return found.merge(found.nothing())

    def by_hand(self) -> tuple[list[Fraction], float]:
        """Return the pull of the rows in fractions, and the sum of |c_i| |x_i - offset|."""
        marginals = self.table.reshape(-1)[self.place]
        total = [Fraction(0)] * self.x.shape[1]
        for c, mass, row in zip(
            marginals.tolist(), self.mass.tolist(), self.x.tolist(), strict=True
        ):
            for k, x in enumerate(row):
                total[k] += Fraction(c) * Fraction(mass) * Fraction(x)
        return total, float(np.abs(marginals * self.mass) @ np.linalg.norm(self.x, axis=1))


def cases() -> list[Rows]:
    scales = [1.0, 1e-130, 1e99, 1.0]
    return [Rows(seed, scale=scale) for seed, scale in enumerate(scales)] + [Rows(7, spread=6.0)]


@each("case", range(5))
def test_the_pull_is_that_of_the_rows_within_its_bound(case: int) -> None:
    rows = cases()[case]
    found = rows.pull([[0, 1, 2], [3, 4, 5]])
    exact, size = rows.by_hand()
    slip = [Fraction(a) - b for a, b in zip(found.value.tolist(), exact, strict=True)]
    assert sum(s * s for s in slip) <= Fraction(found.bound()) ** 2
    assert size <= found.size * (1 + 1e-12)
    assert found.size <= size * (1 + 1e-9)
    assert found.bound() <= 1e-13 * size + 1e-15 * found.parts * rows.mass.sum() * size


@each("case", range(5))
def test_whoever_holds_what_it_is_the_same_bits(case: int) -> None:
    rows = cases()[case]
    usual = rows.pull([list(range(6))])
    for stretches in ([[k] for k in range(6)], [[5, 0, 3], [1, 4, 2]], [[0], [1, 2, 3, 4, 5]]):
        found = rows.pull(stretches)
        assert (found.total, found.parts) == (usual.total, usual.parts)
        np.testing.assert_array_equal(found.value, usual.value)
        assert (found.size, found.bound()) == (usual.size, usual.bound())


def test_rounding_to_units_is_in_the_bound() -> None:
    """Rows far smaller than their column's unit vanish; nothing but the bound says so."""
    rows = Rows(0)
    rows.x[:, :] = 2.0**-63 * rows.mass.sum()  # less than half a unit of the columns below
    rows.exponents = exponents_of(rows.mass.sum() * np.ones(4))
    found = rows.pull([list(range(6))])
    exact, _ = rows.by_hand()
    slip = sum((Fraction(a) - b) ** 2 for a, b in zip(found.value.tolist(), exact, strict=True))
    assert 0 < slip <= Fraction(found.bound()) ** 2


def test_no_marginals_pull_nothing() -> None:
    rows = Rows(0)
    rows.table[:] = 0.0
    found = rows.pull([list(range(6))])
    np.testing.assert_array_equal(found.value, np.zeros(3))
    assert found.bound() == pytest.approx(0.0, abs=1e-12)
