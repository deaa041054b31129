"""The certificate refuses: every fault that was planted here must not raise the bound."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from aucert.exact.api.solve import solve
from aucert.exact.certificate.certificate import Certificate, Minorant
from aucert.exact.errors import InputError
from aucert.exact.losses.registry import HINGE, Hinge
from aucert.exact.pairs.all_pairs import AllPairs, PairList
from aucert.exact.pairs.marginals import largest_flow
from aucert.exact.problem.problem import Problem, linear_problem
from aucert.exact.spaces.blocks import StreamedRows
from aucert.exact.spaces.gram import Gram
from forging import forged_as
from loops import each

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(20, 2)), np.arange(20) % 4 == 0
LISTED = PairList(np.array([0, 0, 4, 8, 16]), np.array([1, 1, 2, 3, 5]), np.arange(1.0, 6.0))


def hinge_problem(pairs: AllPairs | PairList | None = None) -> Problem:
    return linear_problem(X, Y, 0.1, "hinge", pairs)


def honest(problem: Problem) -> Minorant:
    return Minorant.from_scores(problem, X @ np.array([1.0, -0.5]), 0.7)


def optimum(problem: Problem) -> float:
    """Return an upper bound of the optimum, tight to about 1e-12."""
    pairs = problem.pairs
    return solve(
        X, Y, problem.lam, loss=problem.loss.name, pairs=pairs, tol=1e-12
    ).certificate.primal


def bound(problem: Problem, witness: Minorant) -> float:
    """Return the lower bound that the certificate makes of the witness."""
    return Certificate.of(problem, np.zeros(2), witness).dual


@each("pairs", [AllPairs(), LISTED], ids=["all", "listed"])
@each(
    "lie",
    [
        {"value": 10.0},
        {"deficiency": -1.0},
        {"c_error": -1.0, "value_error": -1.0},
        {"c": np.zeros(20)},
        {"c": np.where(Y, 1.0, -1.0)},
        {"c": np.full(20, np.nan)},
    ],
    ids=["value", "deficiency", "rounding", "no c", "large c", "nan c"],
)
def test_claims_beside_the_evidence_change_nothing(lie: dict, pairs: AllPairs | PairList) -> None:
    problem = hinge_problem(pairs)
    assert bound(problem, replace(honest(problem), **lie)) == bound(problem, honest(problem))


def test_an_inflated_value_without_evidence_is_computed_again() -> None:
    problem = hinge_problem()
    c = honest(problem).c
    forged, true = Minorant(c, value=10.0), Minorant.from_marginals(problem, c[Y], -c[~Y])
    assert bound(problem, forged) == bound(problem, true)


@each("factor", [1.5, 3.0, 100.0])
def test_marginals_past_the_caps_never_beat_the_optimum(factor: float) -> None:
    problem = hinge_problem()
    c = solve(X, Y, 0.1, tol=1e-12).witness.c
    for forged in (Minorant(factor * c, 10.0), Minorant(np.where(Y, factor * c, c), 10.0)):
        found = Certificate.of(problem, np.zeros(2), forged)
        assert found.dual <= optimum(problem)


def test_weighted_marginals_that_a_sort_by_u_would_accept() -> None:
    """Weights (.8, .2) and (.5, .5); u = (.3, .25) needs more than the second row's cap .2.

    Sorted by u the cuts are .55, .25 + 2 min(.275, .4) = .8, .55: accepted. Sorted by u / a they
    are .55, .3 + 2 min(.275, .1) = .5, .55: only .5 can flow.
    """
    u, v = np.array([0.3, 0.25]), np.array([0.275, 0.275])
    a, b = np.array([0.8, 0.2]), np.array([0.5, 0.5])
    by_u = [u[k:].sum() + np.minimum(v, b * a[:k].sum()).sum() for k in range(3)]
    assert min(by_u) == pytest.approx(0.55)
    assert largest_flow(u, v, a, b) == pytest.approx(0.5)
    features = np.array([[0.0], [0.0], [1.0], [1.0]])
    weight = AllPairs(np.array([8.0, 2.0, 5.0, 5.0]))
    problem = linear_problem(features, [1, 1, 0, 0], 1.0, "hinge", weight)
    witness = Minorant.from_marginals(problem, u, v)
    assert witness.value == pytest.approx(0.5) and witness.deficiency == pytest.approx(0.1)


def test_a_row_of_weight_zero_carries_nothing() -> None:
    weight = np.where(np.arange(20) == 0, 0.0, 1.0)
    problem = hinge_problem(AllPairs(weight))
    u = np.zeros(5)
    u[0] = 0.5  # row 0 weighs nothing
    witness = Minorant.from_marginals(problem, u, np.full(15, 0.5 / 15))
    assert witness.value == pytest.approx(0.0, abs=1e-15)
    assert witness.deficiency == pytest.approx(1.0)


def test_marginals_prove_nothing_for_a_pair_list() -> None:
    problem = hinge_problem(LISTED)
    with pytest.raises(InputError, match="marginals prove a bound only for the hinge over all"):
        Minorant.from_marginals(problem, np.zeros(5), np.zeros(15))
    with pytest.raises(InputError, match="marginals prove a bound only"):
        bound(problem, Minorant(np.zeros(20), 0.0))


@each("loss", ["squared_hinge", "square"])
def test_marginals_prove_nothing_for_another_loss(loss: str) -> None:
    problem = linear_problem(X, Y, 0.1, loss)
    with pytest.raises(InputError, match="marginals prove a bound only for the hinge"):
        Minorant.from_marginals(problem, np.zeros(5), np.zeros(15))
    with pytest.raises(InputError, match="marginals prove a bound only"):
        bound(problem, Minorant(np.zeros(20), 0.0))


def test_marginals_of_the_wrong_sign_are_refused() -> None:
    problem = hinge_problem()
    c = honest(problem).c.copy()
    with pytest.raises(InputError, match=r"marginal u\[0\] is -"):
        bound(problem, Minorant(-c, 1.0))
    c[1] = 0.25
    with pytest.raises(InputError, match=r"marginal v\[0\] is -0.25"):
        bound(problem, Minorant(c, 1.0))


@each("bad", [np.nan, np.inf])
def test_marginals_that_are_not_finite_are_refused(bad: float) -> None:
    problem = hinge_problem()
    c = honest(problem).c.copy()
    c[4] = bad  # the second positive row
    with pytest.raises(InputError, match=r"marginal u\[1\] is"):
        bound(problem, Minorant(c, 1.0))


@each("shape", [(3,), (19,), (21,), (20, 1)])
def test_marginals_of_another_problem_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match="rows"):
        bound(hinge_problem(), Minorant(np.zeros(shape), 0.0))


@each("loss", ["hinge", "squared_hinge", "square"])
@each("outside", [-3.0, 5.0, 1e6])
def test_alpha_outside_its_box_never_beats_the_optimum(outside: float, loss: str) -> None:
    # At a large lam the pull costs little, so that an alpha past its box would pay.
    problem = linear_problem(X, Y, 100.0, loss, LISTED)
    top = optimum(problem)
    found = Certificate.of(problem, np.zeros(2), Minorant.from_alpha(problem, np.full(5, outside)))
    assert found.dual <= top
    forged = forged_as(Minorant.from_alpha(problem, np.ones(5)), alpha=np.full(5, outside))
    assert bound(problem, forged) == found.dual


def test_alpha_is_refused_where_it_is_not_finite_or_not_one_a_pair() -> None:
    problem = hinge_problem(LISTED)
    with pytest.raises(InputError, match="alpha of pair 2 is nan"):
        Minorant.from_alpha(problem, np.array([0, 0, np.nan, 0, 0]))
    with pytest.raises(InputError, match="5 pairs, but alpha of shape"):
        Minorant.from_alpha(problem, np.zeros(4))
    with pytest.raises(InputError, match="alpha belongs to a pair list"):
        Minorant.from_alpha(hinge_problem(), np.zeros(75))


@each("streamed", [False, True])
@each(
    ("lie", "said"),
    [
        ({"scale": 1.02}, "scale must be between 0 and 1"),
        ({"scale": -1.0}, "scale must be between 0 and 1"),
        ({"scale": np.nan}, "scale must be between 0 and 1"),
        ({"half": -5}, "half must be a whole number >= 0"),
        ({"bins": 0}, "bins must be a whole number >= 1"),
        ({"bins": 3}, "bins must be a power of two"),
    ],
)
def test_forged_evidence_of_a_binned_dual_point_is_refused(
    lie: dict, said: str, streamed: bool
) -> None:
    """At a large lam the pull costs little, so that alpha past its box would pay."""
    problem = linear_problem(X, Y, 10.0)
    if streamed:
        problem = problem.over(StreamedRows(X))
    witness = Minorant.from_weights(problem, np.array([0.1, 0.1]), 1 << 14, 1)
    with pytest.raises(InputError, match=said):
        bound(problem, forged_as(witness, **lie))


def test_a_binned_dual_point_proves_nothing_for_another_problem() -> None:
    witness = Minorant.from_weights(hinge_problem(), np.zeros(2), 1 << 10, 1)
    for problem in (hinge_problem(LISTED), linear_problem(X, Y, 0.1, "squared_hinge")):
        with pytest.raises(InputError, match="hinge over all pairs"):
            bound(problem, witness)
    kernel = hinge_problem().over(Gram(X @ X.T))
    with pytest.raises(InputError, match="binned dual points are for rows"):
        Certificate.of(kernel, np.zeros(20), forged_as(witness, w=np.zeros(20)))


@dataclass(frozen=True)
class EarlyHinge:
    """max(0, 1/2 - t): convex, with the four methods, and with the dual part alpha / 2."""

    name: str = "hinge"

    def value(self, t: np.ndarray) -> np.ndarray:
        return np.maximum(0.0, 0.5 - t)

    def alpha(self, t: np.ndarray, width: float = 0.0) -> np.ndarray:
        return (t < 0.5).astype(float)

    def dual(self, alpha: np.ndarray) -> np.ndarray:
        return alpha / 2

    def clip(self, alpha: np.ndarray) -> np.ndarray:
        return np.clip(alpha, 0.0, 1.0)


class HalfHinge(Hinge):
    """The hinge's child, with another value."""

    def value(self, t: np.ndarray) -> np.ndarray:
        return 0.5 * np.maximum(0.0, 1.0 - t)


@each("loss", [EarlyHinge(), EarlyHinge("early"), HalfHinge(), None])
@each("pairs", [LISTED, AllPairs()])
def test_a_problem_takes_no_loss_that_states_less_than_the_contract(loss, pairs) -> None:
    known = hinge_problem(pairs)
    assert known.loss is HINGE
    with pytest.raises(InputError, match=r"it lacks|child of one of ours"):
        known.with_loss(loss)
    with pytest.raises(InputError, match=r"it lacks|child of one of ours"):
        linear_problem(X, Y, 0.1, loss, pairs)
