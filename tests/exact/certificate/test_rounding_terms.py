"""Terms of the bounds of a dual point, each shown to be needed: see `test_rounding_growth.py`."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import naive
from aucert.exact.losses.registry import HINGE
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.problem.minorant import Alpha, Minorant
from aucert.exact.problem.problem import linear_problem
from aucert.exact.sums.assembled import PairSums
from aucert.exact.sums.binned import Extent, Histogram
from aucert.exact.tools.rounding import UNIT, gamma, short_chain
from loops import each

LIGHT = UNIT * (1 - 2.0**-20)
"""Added to one, this is lost."""


@each("scale", [0.3, 0.999])
def test_shrinking_a_dual_point_passes_on_the_rounding_of_its_sums(scale: float) -> None:
    """s T - s^2 (T - C) with T off by e and C by e': s e + s^2 (e + e'); c by s e and a unit."""
    problem = linear_problem(np.zeros((2, 1)), [1, 0], 1.0, "square")
    for of_c, of_conjugate in ((1e-9, 0.0), (0.0, 1e-9), (1e-9, 1e-9), (0.0, 0.0)):
        sums = PairSums(0.0, np.array([0.7, -0.7]), 0.5, 0.7, 0.0, of_c, of_conjugate)
        witness = Minorant.of_sums(problem, sums, np.zeros(2), 0.0, scale)
        assert witness.value_error > scale * of_c + scale**2 * (of_c + of_conjugate)
        assert witness.c_error > scale * of_c + 0.99 * UNIT * scale * 1.4


def test_marginals_of_listed_alpha_round_with_the_number_of_pairs() -> None:
    """They are added up one after the other: a heavy pair first, then many that it loses."""
    n = 20_000
    weight = np.append(1.0, np.full(n, LIGHT))
    pairs = PairList(np.zeros(n + 1, dtype=int), np.ones(n + 1, dtype=int), weight)
    problem = linear_problem(np.zeros((2, 1)), [1, 0], 1.0, "hinge", pairs)
    witness = Minorant.from_alpha(problem, np.ones(n + 1))
    true = Fraction(pairs.c[0]) + n * Fraction(pairs.c[1])
    error = sum(abs(abs(Fraction(c)) - true) for c in witness.c.tolist())
    assert error <= witness.c_error
    assert error > 2 * gamma(8)


@each("loss", ["squared_hinge", "square"])
def test_a_large_alpha_rounds_by_its_square(loss: str) -> None:
    rng, m = np.random.default_rng(0), 50
    pairs = PairList(np.zeros(m, dtype=int), np.ones(m, dtype=int))
    problem = linear_problem(np.zeros((2, 1)), [1, 0], 1.0, loss, pairs)
    alpha, worst = 1e12 * rng.uniform(1, 2, m), 0.0
    for some in np.array_split(alpha, 10):
        witness = Minorant.from_alpha(problem, np.repeat(some, 10)[:m])
        assert isinstance(witness.evidence, Alpha)
        c, given = Fraction(pairs.c[0]), witness.evidence.alpha
        dual = sum(c * naive.loss_dual(loss, Fraction(a)) for a in given.tolist())
        error = abs(Fraction(witness.value) - dual)
        assert error <= witness.value_error
        worst = max(worst, float(error) / float(np.abs(given).mean()))
    assert worst > gamma(short_chain(m) + 16)  # more than the mass of alpha would pay for


def test_the_mass_from_bins_is_charged_with_its_quotient() -> None:
    rng = np.random.default_rng(2)
    scores, positive = rng.normal(size=400), np.arange(400) % 3 == 0
    extent = Extent()
    extent.add(scores, positive)
    histogram = Histogram(extent.ends, 1 << 10)
    histogram.add(scores, positive)
    closed = histogram.close(0, True)
    found = AllPairs(form="binned", bins=1 << 10).on(positive).sums(scores, HINGE)
    assert found.conjugate_rounding >= (closed.slip + gamma(3)) * found.conjugate
