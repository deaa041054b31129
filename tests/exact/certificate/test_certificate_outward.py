"""What a certificate states is rounded to the safe side."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from aucert.exact.certificate.certificate import Certificate, Minorant, evaluated_with
from aucert.exact.losses.registry import LOSSES
from aucert.exact.pairs.all_pairs import PairList
from aucert.exact.problem.problem import Ridge, pair_problem
from aucert.exact.spaces.rows import Rows
from aucert.exact.tools.rounding import Bound
from loops import each


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
    space = Moved(np.array([[0.0], [1.0]]))
    pairs = PairList(np.array([0]), np.array([1]))
    problem = pair_problem(space, np.array([True, False]), pairs, LOSSES[loss], Ridge(1.0))
    witness = Minorant.from_scores(problem, np.zeros(2))
    found, _ = evaluated_with(problem, np.zeros(1), witness)[0]
    true = (Fraction(Moved.z) + 2 * Fraction(Moved.e)) ** 2
    assert abs(Fraction(found.value) - true) <= Fraction(found.error)


def test_a_relative_tolerance_that_is_reached_is_so_for_the_true_objective() -> None:
    """(F - p*) / F grows with F, and F is at most the primal value and its rounding."""
    rng = np.random.default_rng(1)
    for _ in range(2000):
        primal, tol = float(rng.uniform(0.1, 1)), float(10.0 ** rng.uniform(-9, -1))
        rounding = primal * tol * float(rng.uniform(0, 1))
        dual = primal - (tol * primal - rounding) * float(rng.uniform(0.99, 1.01))
        found = Certificate.from_bounds(Bound(primal, rounding), Bound(dual, 0.0), 1.0)
        if found.reaches(tol):
            upper = Fraction(primal) + Fraction(rounding)
            assert upper - Fraction(dual) <= Fraction(tol) * upper * (1 + Fraction(1, 2**45))
