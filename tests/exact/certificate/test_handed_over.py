"""What a solver hands over proves what it proves, for anything the solver says of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from aucert.exact import AllPairs, InputError, solve
from aucert.exact.certificate.exact_certificate import ExactCertificate
from aucert.exact.certificate.solution import Recorder, Solver
from aucert.exact.problem.minorant import Marginals, Minorant, Mix, Scores, Weights
from aucert.exact.problem.problem import Problem, linear_problem
from loops import each

RNG = np.random.default_rng(4)
N, LAM = 24, 0.05
Y = np.arange(N) % 3 == 0
X = RNG.normal(size=(N, 2)) + Y[:, None]
WEIGHT = RNG.uniform(0.1, 5, N)
POINT = np.array([0.7, 0.3])
LOSSES = ("hinge", "squared_hinge", "square")


@dataclass(frozen=True)
class Hostile(Solver):
    """Hands over one point and one evidence, and says that both are the best there are."""

    proof: Any
    tol: float = 1e-6

    def check(self, problem: Problem) -> None:
        """Take any problem."""

    def run(self, problem: Problem, recorder: Recorder) -> None:
        recorder.offer(POINT, -1e9, self.proof, 1e9)


def problem_of(loss: str) -> Problem:
    return linear_problem(X, Y, LAM, loss, AllPairs(WEIGHT), positive=True)


def scores() -> np.ndarray:
    return problem_of("hinge").space.scores(POINT)


@cache
def top_of(loss: str) -> Fraction:
    """An upper bound of the optimum: F at a strong point, exactly."""
    problem = problem_of(loss)
    best = solve(X, Y, LAM, loss=loss, pairs=AllPairs(WEIGHT), positive=True, tol=1e-9)
    return ExactCertificate.of(problem, best.w, best.witness).primal


TRUE: dict[str, Any] = {
    "its own scores": lambda: Scores(scores()),
    "smoothed ones": lambda: Scores(scores(), 0.5),
    "smoothed over far more than all": lambda: Scores(scores(), 1e150),
    "others": lambda: Scores(RNG.normal(size=N) * 30, 0.0, 0.4),
    "signs": lambda: Scores(scores() > 0),
    "in single precision": lambda: Scores(scores().astype(np.float32), 0.3),
    "a mixture": lambda: Mix(((0.3, Scores(scores())), (0.6, Scores(-scores())))),
    "a function that makes them": lambda: lambda: Scores(scores()),
}


@each("loss", LOSSES)
@each("name", TRUE)
def test_evidence_proves_no_more_than_is_true(name: str, loss: str) -> None:
    problem = problem_of(loss)
    found = Hostile(TRUE[name]()).solve(problem)
    held = found.certificate
    value = ExactCertificate.of(problem, POINT, found.witness).primal
    assert Fraction(held.dual) <= top_of(loss)
    assert abs(value - Fraction(held.primal)) <= Fraction(held.rounding)


@pytest.mark.slow
def test_bins_and_marginals_prove_no_more_than_is_true() -> None:
    problem = problem_of("hinge")
    shares = np.abs(RNG.normal(size=N)) / N
    evidence: list[Any] = [Marginals(shares[Y], shares[~Y])]
    evidence += [Weights(w, 1 << k, h) for w in (POINT, -POINT) for k in (0, 40) for h in (0, 9)]
    top = top_of("hinge")
    for one in evidence:
        held = Hostile(one).solve(problem).certificate
        assert Fraction(held.dual) <= top


FALSE: dict[str, tuple[Any, str]] = {
    "a row too many": (lambda: Scores(np.zeros(N + 1)), "rows, but scores"),
    "one number": (lambda: Scores(np.float64(1.0)), "rows, but scores"),  # type: ignore[arg-type]
    "a score that is none": (lambda: Scores(np.full(N, np.nan)), "score"),
    "an infinite score": (lambda: Scores(np.where(Y, np.inf, 0.0)), "score"),
    "a scale above one": (lambda: Scores(scores(), 0.0, 1 + 2.0**-52), "scale"),
    "no scale": (lambda: Scores(scores(), 0.0, np.nan), "scale"),
    "a scale a row": (lambda: Scores(scores(), 0.0, np.ones(N)), "scale"),  # type: ignore[arg-type]
    "a width below zero": (lambda: Scores(scores(), -1e-9), "width"),
    "a width without an end": (lambda: Scores(scores(), np.inf), "width"),
    "shares above one": (lambda: Mix(((0.6, Scores(scores())), (0.5, Scores(scores())))), "shares"),
    "no evidence at all": (object, "no minorant of a object"),
}


@each("loss", LOSSES)
@each("name", FALSE)
def test_evidence_that_is_none_is_refused(name: str, loss: str) -> None:
    made, said = FALSE[name]
    with pytest.raises(InputError, match=said):
        Hostile(made()).solve(problem_of(loss))


@each("bins", [0, -4, 3, 1 << 70])
def test_bins_that_are_none_are_refused(bins: int) -> None:
    with pytest.raises(InputError, match="bins must be"):
        Hostile(Weights(POINT, bins, 1)).solve(problem_of("hinge"))


def test_what_is_written_after_the_offer_is_what_is_judged() -> None:
    problem, handed = problem_of("hinge"), scores().copy()

    @dataclass(frozen=True)
    class Late(Hostile):
        def run(self, problem: Problem, recorder: Recorder) -> None:
            super().run(problem, recorder)
            handed[:] = 100.0 * np.where(Y, -1, 1)

    held = Late(Scores(handed)).solve(problem).certificate
    assert Fraction(held.dual) <= top_of("hinge")
    assert held.dual == Hostile(Scores(handed)).solve(problem).certificate.dual


def test_numbers_that_a_solver_writes_into_a_minorant_leave_no_trace() -> None:
    problem = problem_of("hinge")
    honest = problem.risk.minorant(Scores(scores(), 0.1))
    forged = replace(honest, value=1e9, c=np.zeros(N), value_error=0.0, c_error=0.0)
    found = Hostile(forged).solve(problem)
    assert isinstance(found.witness, Minorant)
    assert found.witness.value == pytest.approx(honest.value, rel=1e-14)
    np.testing.assert_allclose(found.witness.c, honest.c, rtol=1e-12)
    assert found.certificate.dual == Hostile(honest).solve(problem).certificate.dual
