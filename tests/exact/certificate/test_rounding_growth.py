"""Bounds of rounding grow with n as their formulas say, and every term of them is needed.

Where data can be found that round in one direction n times, the error itself is shown to pass what
the bound would be without the term. Where the bound is proved, but its worst case cannot be met
because another term is wider than it need be, the test compares the formula with the analysis.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import naive
from aucert.exact.certificate.evaluation import Evaluator
from aucert.exact.losses.registry import HINGE, LOSSES
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.pairs.marginals import deficiency
from aucert.exact.problem.minorant import Minorant
from aucert.exact.problem.problem import Ridge, linear_problem, pair_problem
from aucert.exact.spaces.gram import Gram, chain_of
from aucert.exact.spaces.rows import Rows
from aucert.exact.square_loss.support import certified_diagonal, cholesky_slip
from aucert.exact.sums.assembled import PairSums
from aucert.exact.sums.binned import Extent, Histogram
from aucert.exact.sums.swept import hinge_roundings, squared_roundings
from aucert.exact.tools.rounding import LONG_UNIT, UNIT, gamma, short_chain, short_sum
from loops import each, seeds

# Added to one, this is lost, in the format whose unit roundoff is the argument.
LOST = {unit: unit * (1 - 2.0**-20) for unit in (UNIT, LONG_UNIT)}


class Counted:
    """Knows how many additions it has been through."""

    def __init__(self, passed: int = 0):
        self.passed = passed

    def __add__(self, other: Counted) -> Counted:
        return Counted(max(self.passed, other.passed) + 1)


def bounds_of(loss: str, n: int, size: float, unit: float = UNIT) -> tuple[float, float]:
    """The bounds of the rounding of sorted sums, of value and marginals, without smoothing."""
    if loss == "hinge":
        return hinge_roundings(n, size, 0.0, unit)
    return squared_roundings(n, size, unit, moments=loss == "square")


@each("n", [1, 2, 31, 32, 33, 63, 64, 1000, 1023, 1024, 1056, 30_000])
def test_no_term_of_a_short_sum_passes_more_additions_than_its_chain(n: int) -> None:
    """Objects are added up one after the other, the worst order that there is."""
    terms = np.empty(n, dtype=object)
    terms[:] = [Counted() for _ in range(n)]
    found: Any = short_sum(terms)
    assert found.passed <= short_chain(n) <= 31 * (1 + np.log(n) / np.log(32)) + 31
    if n <= 32:
        assert short_chain(n) == n - 1


@each("format", [float, np.longdouble])
@each("n", [10, 33, 1000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_a_short_sum_is_within_its_bound(n: int, format: type) -> None:
    unit = UNIT if format is float else LONG_UNIT
    for values in (
        np.append(format(1), np.full(n, LOST[unit], dtype=format)),
        np.random.default_rng(n).normal(size=n).astype(format),
    ):
        exact = [naive.exact(x) for x in (values[:2] if n > 1000 else values)]
        if n > 1000:
            exact = [exact[0], n * exact[1]] if values.size == n + 1 else naive.exact(values)
        slip = abs(naive.exact(short_sum(values)) - sum(exact))
        assert slip <= Fraction(gamma(short_chain(values.size), unit)) * sum(map(abs, exact))


@each("loss", LOSSES)
def test_listed_pairs_are_bounded_in_whatever_order_they_are_added_up(loss: str) -> None:
    """A heavy pair, then many that a plain sum would lose; the bounds are those of the chain."""
    n = 3000
    weight = np.append(1.0, np.full(n, LOST[UNIT]))
    pairs = PairList(np.zeros(n + 1, dtype=int), np.ones(n + 1, dtype=int), weight)
    scores, positive = np.array([0.25, 0.0]), np.array([True, False])
    found = pairs.on(positive).sums(scores, LOSSES[loss])
    total = sum(Fraction(c) * k for c, k in ((pairs.c[0], 1), (pairs.c[1], n)))
    value = total * naive.loss_value(loss, Fraction(1, 4))
    dual = total * naive.loss_dual(loss, naive.loss_alpha(loss, Fraction(1, 4)))
    assert abs(Fraction(found.value) - value) <= found.value_rounding
    assert abs(Fraction(found.conjugate) - dual) <= found.conjugate_rounding
    chain = gamma(short_chain(n + 1), UNIT)
    assert found.value_rounding >= chain * found.value
    assert found.conjugate_rounding >= chain * abs(found.conjugate)
    problem = linear_problem(np.zeros((2, 1)), [1, 0], 1.0, loss, pairs)
    witness = Minorant.from_alpha(problem, LOSSES[loss].alpha(pairs.margins(scores)))
    assert abs(Fraction(witness.value) - dual) <= witness.value_error
    assert witness.value_error >= chain * abs(witness.value)


def test_the_moments_of_the_square_loss_are_charged_with_their_chain() -> None:
    for n in (10, 1000, 10**6):
        plain, _ = squared_roundings(n, 1.0)
        value, marginals = squared_roundings(n, 1.0, moments=True)
        assert value - plain >= 12 * 4 * gamma(short_chain(n), UNIT) * (1 - 1e-9)
        assert marginals >= 32 * gamma(short_chain(n), UNIT)


@pytest.mark.slow
def test_the_norm_of_a_kernel_machine_is_charged_with_both_of_its_sums() -> None:
    space = Gram(np.eye(3000))
    w = np.ones(3000)
    chain = chain_of(3000) + short_chain(3000)
    assert space.norm2_error(w) >= gamma(chain, LONG_UNIT) * 3000


# The six terms.


def dual_sums(total: float, conjugate: float) -> PairSums:
    """Sums without any rounding, of two rows, the mass of alpha being `total`."""
    return PairSums(0.0, np.array([total, -total]), conjugate, total, 0.0, 0.0, 0.0)


@each(
    ("loss", "total", "conjugate"),
    [("hinge", 0.7, 0.7), ("square", 3.9, 0.1), ("square", 1e3, 1e3 - 2.5e5), ("square", 0.3, 0.3)],
)
def test_shrinking_a_dual_point_rounds_by_both_parts_of_its_value(loss, total, conjugate) -> None:
    """s T - s^2 (T - C): with exact T and C, the bound is all there is to hold the error.

    For the hinge T = C, and s T alone rounds; for large alpha T - C is much larger than T.
    """
    problem, worst = linear_problem(np.zeros((2, 1)), [1, 0], 1.0, loss), 0.0
    for scale in np.random.default_rng(0).uniform(size=200).tolist():
        witness = Minorant.of_sums(problem, dual_sums(total, conjugate), np.zeros(2), 0.0, scale)
        s, T, C = Fraction(scale), Fraction(total), Fraction(conjugate)
        error = abs(Fraction(witness.value) - (s * T - s * s * (T - C)))
        assert error <= witness.value_error
        one, other = scale * total, scale**2 * abs(total - conjugate)
        worst = max(worst, float(error) / (one if other == 0 else one / 8))
        assert witness.value_error >= gamma(4) * (one + other)
    if loss == "hinge":
        assert worst > 0  # without s T there would be no bound at all
    if total == 1e3:
        assert worst > 8 * 1.01 * UNIT  # more than gamma(8) s T


def test_the_rounding_of_a_flow_grows_with_its_rows_and_with_its_columns() -> None:
    """One row, and n columns that a running sum loses one after the other; and the other way."""
    n = 400_000
    v = np.append(1.0, np.full(n, LOST[LONG_UNIT]))
    b = np.append(2.0, v[1:])  # the heavy column comes first, and no cap matters
    exact, without = (
        1 + n * Fraction(v[1]),
        5.1 * (4 * (gamma(2, LONG_UNIT) + 2 * UNIT) + gamma(16)),
    )
    for sides in ((np.array([4.0]), v, np.ones(1), b), (v, np.array([4.0]), b, np.ones(1))):
        flow, _, rounding = deficiency(*sides)
        error = abs(Fraction(flow) - exact)
        assert error <= rounding
        assert error > without


@each("form", ["numpy", "auto"])
@each("loss", ["hinge", "squared_hinge"])
def test_running_sums_keep_light_rows_behind_a_heavy_one(loss: str, form: str) -> None:
    """One positive row, a heavy negative row, and n light ones that a plain running sum loses.

    The hinge's sums begin with the largest score, the squared hinge's with the smallest. The
    scores are in the long format, whose own roundoff is as small as that of the sums.
    """
    n = 200_000
    weight = np.concatenate([[1.0, 1.0], np.full(n, LOST[LONG_UNIT])])
    scores = np.zeros(n + 2, dtype=np.longdouble)
    scores[1] = 0.5 if loss == "hinge" else -0.5
    positive = np.arange(n + 2) == 0
    found = AllPairs(weight, form=form).on(positive).sums(scores, LOSSES[loss])
    light = n * Fraction(weight[2])
    heavy = naive.loss_value(loss, -Fraction(float(scores[1])))
    value = (heavy + light * naive.loss_value(loss, Fraction(0))) / (1 + light)
    error = abs(Fraction(found.value) - value)
    assert error <= found.value_rounding


def test_the_running_sums_of_all_pairs_are_two_chains_of_n() -> None:
    """Sums over one class are added up over the other one: 2 n terms, in the long format."""
    for loss, parts in (("hinge", 4 * 2), ("squared_hinge", 12 * 4), ("square", 12 * 4)):
        for n in (10, 10**4, 10**7):
            value, marginals = bounds_of(loss, n, 1.0)
            assert value >= parts * gamma(2 * n, LONG_UNIT)
            assert marginals >= 4 * gamma(2 * n, LONG_UNIT)


def binned_parts(scores: np.ndarray, positive: np.ndarray, bins: int):
    extent = Extent()
    extent.add(scores, positive)
    histogram = Histogram(extent.ends, bins)
    histogram.add(scores, positive)
    return histogram.close(0, True), float(np.abs(extent.ends).max())


@each("far", [1e-6, 1.0, 1e4, 1e8])
def test_the_value_from_bins_is_charged_with_its_quotient_and_with_clipped_rows(far) -> None:
    """value / mass: product, quotient, and the sum; a clipped row's residual, a unit of 2 size.

    An example cannot show these to be needed: `Histogram.close` charges sums of residuals with
    more units than they use. So the formula is held to the analysis, for rows near and far.
    """
    rng = np.random.default_rng(1)
    scores, positive = rng.normal(size=400) * min(far, 1.0), np.arange(400) % 3 == 0
    scores[:2] = far, -far
    closed, size = binned_parts(scores, positive, 1 << 10)
    found = AllPairs(form="binned", bins=1 << 10).on(positive).sums(scores, HINGE)
    sums = closed.value_rounding / closed.mass
    assert found.value_rounding >= sums + gamma(3) * found.value + 2 * UNIT * size
    assert found.value_rounding - sums - gamma(3) * found.value <= 8 * UNIT * (size + found.value)
    assert sums + 2 * UNIT * size < sums + gamma(3) * found.value + 2 * UNIT * size


def test_what_marginals_have_lost_is_in_the_error_of_their_pull() -> None:
    """A heavy row, and n light ones in its bin that a plain sum loses: c is off by n units."""
    n = 20_000
    X = np.zeros((n + 2, 1))
    X[1] = 1.0
    weight = np.concatenate([[1.0, 1.0], np.full(n, LOST[UNIT])])
    positive = np.arange(n + 2) == 0
    problem = pair_problem(Rows(X), positive, AllPairs(weight), HINGE, Ridge(1.0))
    found = Evaluator(problem).at(np.zeros(1), 16)
    true = -1 / (1 + n * Fraction(weight[2]))  # all pairs are active
    error = abs(Fraction(float(found.pull[0])) - true)
    assert error <= found.pull_error
    c = AllPairs(weight, form="binned", bins=16).on(positive).sums(np.zeros(n + 2), HINGE).c
    assert isinstance(problem.space, Rows)
    assert error > problem.space.pull_error(c)


@each("n", [100, 10_000])
def test_the_sum_of_a_pull_is_in_its_error(n: int) -> None:
    """An example cannot show it: the other term is wider than it need be, for exact counts."""
    rng = np.random.default_rng(n)
    X, positive = rng.normal(size=(n, 3)), np.arange(n) % 2 == 0
    problem = linear_problem(X, positive, 1.0)
    found, sums = Evaluator(problem).at(np.zeros(3), 1 << 10), problem.sums(np.zeros(n))
    space = problem.space
    assert isinstance(space, Rows)
    parts = space.pull_error(sums.c), gamma(4) * float(np.abs(sums.c) @ space.norms)
    assert found.pull_error >= sum(parts) * (1 - 1e-9)
    assert min(parts) > 0
    block = max(64, int(np.sqrt(n)))
    assert parts[0] >= gamma(block + n // block) * float(np.abs(sums.c) @ space.norms)


@each("side", [1, 2, 10, 300])
def test_what_a_cholesky_factorisation_proves_is_charged_by_its_side_and_trace(side: int) -> None:
    """Above -gamma_{s+1} / (1 - gamma_{s+1}) times the trace [Rump 2006, Corollary 2.4].

    That worst case is not attained, for errors of the factorisation cancel. So the formula is held
    to the theorem: for the trace of what is factored, and for the roundings of both differences.
    """
    rest, tried = np.eye(side) * 3.0, np.full(side, 1e-3)
    theorem = gamma(side + 1) / (1 - gamma(side + 1)) * 3 * side
    assert cholesky_slip(rest, tried) >= theorem + UNIT * 3
    assert cholesky_slip(rest, np.full(side, 1e6)) >= theorem + UNIT * (3 + 1e6)
    assert cholesky_slip(0 * rest, tried) >= UNIT * 1e-3
    assert cholesky_slip(rest, tried) <= 3 * (theorem + UNIT * 3 * side + UNIT * 1e-3)


def test_a_factorisation_that_runs_to_its_end_need_not_be_of_a_semidefinite_matrix() -> None:
    """So something has to be taken off: here is one, with a determinant below zero."""
    rng = np.random.default_rng(0)
    for _ in range(2000):
        a, b = rng.uniform(0.5, 2, size=2)
        rest = np.array([[a, b], [b, b * b / a]])
        below = -(Fraction(a) * Fraction(rest[1, 1]) - Fraction(b) ** 2)
        try:
            np.linalg.cholesky(rest)
        except np.linalg.LinAlgError:
            continue
        if below > 0:
            trace = Fraction(rest[0, 0]) + Fraction(rest[1, 1])
            assert below / trace <= Fraction(cholesky_slip(rest, np.zeros(2) + 1e-9))
            return
    pytest.fail("none found")


@each("seed", seeds(5))
def test_the_diagonal_is_below_the_matrix_in_exact_arithmetic(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(9, 4))
    A[:, 0] = A[:, 1] + 10.0 ** -rng.integers(1, 4) * A[:, 0]
    sigma = np.asarray(np.corrcoef(A.T))
    sigma = (sigma + sigma.T) / 2
    found = certified_diagonal(sigma)
    assert found is not None
    rows = [[Fraction(x) for x in row] for row in sigma.tolist()]
    for j in range(4):
        rows[j][j] -= Fraction(found.entries[j])
    for p in range(4):  # positive pivots, without rounding
        assert rows[p][p] > 0
        for i in range(p + 1, 4):
            factor = rows[i][p] / rows[p][p]
            rows[i] = [x - factor * y for x, y in zip(rows[i], rows[p], strict=True)]
