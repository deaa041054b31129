"""What a certificate and a solution say is true, of hard arithmetic too."""

from __future__ import annotations

import time
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from aucert.exact.api.solve import solve
from aucert.exact.certificate.certificate import Certificate, Minorant, evaluated_with
from aucert.exact.certificate.solution import Recorder, Status
from aucert.exact.errors import CertificateError, InputError
from aucert.exact.losses.registry import LOSSES
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.problem.problem import Ridge, linear_problem, pair_problem
from aucert.exact.spaces.rows import Rows
from aucert.exact.tools.rounding import Bound
from loops import each, first_fast
from naive import exact, primal_value, weighted_pairs
from own_parts import GradientDescent

RNG = np.random.default_rng(5)
X = RNG.normal(size=(30, 3))
Y = X[:, 0] + RNG.normal(size=30) > 0
PROBLEM = linear_problem(X, Y, 0.1, "square")


@each("loss", LOSSES)
@each("n", [10, 1000])
@pytest.mark.long_digits
def test_rounding_is_small_on_ordinary_data(n: int, loss: str) -> None:
    rng = np.random.default_rng(1)
    problem = linear_problem(rng.normal(size=(n, 3)), np.arange(n) % 3 == 0, 0.1, loss)
    witness = Minorant.from_scores(problem, rng.normal(size=n))
    assert Certificate.of(problem, rng.normal(size=3), witness).rounding < 1e-10


@each("loss", ["squared_hinge", "square"])
def test_at_its_own_slope_the_gap_is_the_squared_gradient(loss: str) -> None:
    """F(w) - D(alpha(w)) = |lam w - pull(c)|^2 / (2 lam): Fenchel holds with equality there."""
    problem, w = linear_problem(X, Y, 0.3, loss), RNG.normal(size=3)
    scores = problem.space.scores(w)
    own = Minorant.from_scores(problem, scores, scale=1.0)
    primal, dual = evaluated_with(problem, w, own)[0]
    gradient = 0.3 * w - problem.space.pull(problem.sums(scores).c)
    assert primal.value - dual.value == pytest.approx(float(gradient @ gradient) / 0.6, rel=1e-10)


@each(
    ("primal", "dual", "reached", "missed", "relative"),
    [
        (Bound(1e-20, 1e-15), Bound(0.0, 0.0), 1.0, 1e-6, 1.0),  # lost in rounding
        (Bound(0.0, 0.0), Bound(0.0, 0.0), 0.0, -1.0, None),  # nothing: any share of it is reached
        (Bound(1.0, 1e-6), Bound(1.0 - 1e-12, 0.0), 1e-5, 1e-9, 1e-6),
        (Bound(1.0, 2e-9), Bound(1.0 - 1.8e-10, 0.0), 3e-9, 1e-9, 2.18e-9),
        (Bound(np.inf, 0.0), Bound(0.25, 0.0), np.nan, 1.0, None),  # a constraint is broken
    ],
)
def test_a_tolerance_is_reached_with_the_rounding_included(
    primal: Bound, dual: Bound, reached: float, missed: float, relative: float | None
) -> None:
    found = Certificate.from_bounds(primal, dual, 1.0)
    assert found.relative_gap == (relative and pytest.approx(relative, rel=1e-5))
    assert np.isnan(reached) or found.reaches(reached)
    assert missed < 0 or not found.reaches(missed)


def test_numbers_in_the_statement_are_rounded_to_the_side_on_which_they_hold() -> None:
    held = Certificate.from_bounds(Bound(1 / 3, 1e-9), Bound(1 / 4, 0.0), 0.1)
    words = held.statement.replace(",", "").split()
    assert {"0.333334", "0.25", "0.084", "(26"} <= set(words)


@each(("primal", "dual", "rounding"), [(1.0, 1.5, 0.1), (np.nan, 0.0, 1.0), (1.0, 0.0, np.nan)])
def test_a_gap_below_its_rounding_is_an_error(primal: float, dual: float, rounding: float) -> None:
    with pytest.raises(CertificateError, match="false"):
        Certificate.from_bounds(Bound(primal, rounding), Bound(dual, 0.0), 1.0)


def test_the_radius_is_never_less_than_the_bounds_prove() -> None:
    """In fractions: lam/2 radius^2 >= primal - dual, and no number is inside the raw ones."""
    rng = np.random.default_rng(0)
    for _ in range(4000):
        primal = float(10.0 ** rng.uniform(-12, 3))
        dual = primal * float(1 - 10.0 ** rng.uniform(-16, 0))
        rounding, lam = float(10.0 ** rng.uniform(-20, -3)), float(10.0 ** rng.uniform(-9, 3))
        found = Certificate.from_bounds(Bound(primal, rounding), Bound(dual, 0.0), lam)
        proved = Fraction(primal) - Fraction(dual) + Fraction(rounding)
        assert Fraction(lam) / 2 * Fraction(found.radius) ** 2 >= proved
        assert Fraction(found.primal) >= Fraction(primal) + Fraction(rounding)
        assert Fraction(found.gap) >= Fraction(found.primal) - Fraction(found.dual) >= proved
        assert found.radius <= float(np.sqrt(2 * found.gap / lam)) * (1 + 1e-15)


class Moved(Rows):
    """One pair whose margin seems to be 1 and is 1 - z, with scores that may be off by e."""

    z, e = 2.0**-66, 1e-9

    def careful_scores(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.array([1.0, self.z], dtype=np.longdouble), np.full(2, self.e)

    def norm2(self, w: np.ndarray) -> float:
        return 0.0


@each("loss", ["square", "squared_hinge"])
def test_errors_of_scores_act_on_the_loss_as_it_is_and_not_as_it_is_computed(loss: str) -> None:
    """The computed loss is 0, the true one (z + 2e)^2: 4 z e of that the loss at 0 cannot see."""
    space, pairs = Moved(np.array([[0.0], [1.0]])), PairList(np.array([0]), np.array([1]))
    problem = pair_problem(space, np.array([True, False]), pairs, LOSSES[loss], Ridge(1.0))
    witness = Minorant.from_scores(problem, np.zeros(2))
    found, _ = evaluated_with(problem, np.zeros(1), witness)[0]
    true = (Fraction(Moved.z) + 2 * Fraction(Moved.e)) ** 2
    assert abs(Fraction(found.value) - true) <= Fraction(found.error)


@pytest.mark.slow
@each("offset", first_fast([1e10, 1e8]))
@each("seed", first_fast(range(6)))
def test_certified_is_true_on_sparse_rows_far_from_the_origin(seed: int, offset: float) -> None:
    """Sparse rows are centred only implicitly, so that their scores lose digits.

    The dense form of the same rows gives a lower bound that is good to 1e-12.
    """
    Z, y = np.random.default_rng(seed).normal(size=(20, 3)) + offset, np.arange(20) % 3 == 0
    solution = solve(sp.csr_matrix(Z), y, 1e-2, tol=1e-9, max_time=5)
    pairs = weighted_pairs(y.tolist(), AllPairs())
    value = primal_value(exact(Z), pairs, "hinge", Fraction(1e-2), exact(solution.w))
    short = float(value) - solve(Z, y, 1e-2, tol=1e-11).certificate.primal
    assert solution.certificate.gap >= short
    assert solution.status != Status.CERTIFIED or short <= 1e-9 * float(value)


def test_underflow_of_the_penalty_makes_no_bound() -> None:
    """w'w is zero in floating point, lam / 2 w'w is 1.1e-13 at lam = 1e308: that is refused."""
    Z, w, lam = np.zeros((2, 1000)), np.full(1000, 1.5e-162), 1e100
    Z[0] = 1.0
    problem = linear_problem(Z, [True, False], lam)
    found = Certificate.of(problem, w, Minorant.from_scores(problem, problem.space.scores(w)))
    value = 1 - sum(exact(w)) + Fraction(lam) / 2 * sum(x**2 for x in exact(w))
    assert value <= Fraction(found.primal)
    for wrong in (1e308, 1e-323):
        with pytest.raises(InputError, match="lam"):
            linear_problem(Z, [True, False], wrong)


# The skeleton that all solvers share, shown on a solver of a few lines.


@each(
    ("given", "status"),
    [
        ({}, Status.CERTIFIED),
        ({"max_iter": 1}, Status.STALLED),
        ({"word": Status.STALLED}, Status.CERTIFIED),  # a reason stands where the gap is open
        ({"max_iter": 1, "word": Status.ITERATION_LIMIT}, Status.ITERATION_LIMIT),
        ({"max_time": 1e-9}, Status.TIME_LIMIT),
    ],
)
def test_the_certificate_decides_the_status(given: dict[str, Any], status: Status) -> None:
    found = GradientDescent(**given).solve(PROBLEM)
    assert (found.status, found.method) == (status, "gradient descent")


def test_problems_and_parameters_are_checked_before_the_run() -> None:
    with pytest.raises(InputError, match="smooth loss only"):
        GradientDescent().solve(linear_problem(X, Y, 0.1, "hinge"))
    bad: list[dict[str, Any]] = [{"tol": -1.0}, {"tol": np.nan}, {"max_iter": 0}, {"max_time": 0.0}]
    for wrong in bad:
        with pytest.raises(InputError, match=next(iter(wrong))):
            GradientDescent(**wrong)


def test_a_deadline_holds_for_the_parts_too() -> None:
    assert Recorder().time_left is None and Recorder().part().max_time is None
    recorder = Recorder(10.0)
    time.sleep(0.01)
    left = recorder.part().max_time
    assert left is not None and 5 < left <= 9.99
    assert Recorder(1e-9).time_left == 1e-3
