"""The counted form of the pair sums against every pair, in exact arithmetic."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from aucert.exact.api.solve import solve
from aucert.exact.certificate.certificate import Certificate
from aucert.exact.errors import InputError
from aucert.exact.losses.registry import HINGE
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.problem.minorant import Minorant
from aucert.exact.problem.problem import Problem, linear_problem
from aucert.exact.proof import check_proof
from aucert.exact.proof.write import write_proof
from aucert.exact.sums.counted import SortedRows, counted_hinge
from aucert.exact.sums.swept import COMPILED_FROM
from forging import forged_as
from loops import each, seeds

KINDS = ("plain", "tenths", "far", "wide", "one positive", "equal", "crowded", "nearly tied")


def some_scores(kind: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores and classes of a few rows."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    scores, positive = rng.normal(size=n) * 2, np.arange(n) < rng.integers(1, n)
    rng.shuffle(positive)
    if kind == "tenths":
        scores = np.round(scores, 1)
    elif kind == "far":
        scores += 1e5
    elif kind == "wide":
        scores[0] = 1e6
    elif kind == "one positive":
        positive = np.arange(n) == 0
    elif kind == "equal":
        scores[:] = 0.1
    elif kind == "crowded":
        scores[1:] = 0.3 + 1e-9 * scores[1:]
    elif kind == "nearly tied":
        scores = np.where(positive, 1.0, 0.0) + 1e-15 * rng.integers(-9, 9, n)
    return scores, positive


def every_place(order: SortedRows, scores: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """T of positive rows and B of negative ones, up to one offset, as exact whole numbers."""
    steps = Fraction(2) ** order.k
    whole = [int(Fraction(float(s)) * steps // 1) for s in scores]
    margin = int(steps)
    return np.array([p + margin * (not y) for p, y in zip(whole, positive, strict=True)], object)


@each("kind", KINDS)
@each("seed", seeds(6))
@each("width", [0.0, 1e-6, 0.3, 5.0])
def test_marginals_are_those_of_an_alpha_in_the_box(kind: str, seed: int, width: float) -> None:
    scores, positive = some_scores(kind, seed)
    order = SortedRows.of(scores, positive, width)
    assert order is not None
    found = order.sums(scores, width)
    if found is None:
        assert kind in ("tenths", "nearly tied", "crowded", "wide")
        return
    place, half = every_place(order, scores, positive), order.half(width)
    m = place[None, ~positive] - place[positive][:, None]
    top = 2 * half if half else 1
    alpha = [[min(max(x + half, 0), top) if half else int(x >= 1) for x in row] for row in m]
    unit = top * m.size
    u = [float(Fraction(sum(row), unit)) for row in alpha]
    v = [float(Fraction(sum(column), unit)) for column in zip(*alpha, strict=True)]
    assert found.c[positive] == pytest.approx(u, rel=1e-15, abs=0)
    assert -found.c[~positive] == pytest.approx(v, rel=1e-15, abs=0)
    total = Fraction(sum(sum(row) for row in alpha), unit)
    assert abs(Fraction(found.conjugate) - total) <= Fraction(found.conjugate_rounding)


@each("kind", KINDS)
@each("seed", seeds(12))
def test_the_value_is_the_mean_hinge_within_its_rounding(kind: str, seed: int) -> None:
    scores, positive = some_scores(kind, seed)
    exact = [Fraction(float(s)) for s in scores]
    losses = [
        max(1 - exact[i] + exact[j], Fraction(0))
        for i in np.flatnonzero(positive)
        for j in np.flatnonzero(~positive)
    ]
    mean = sum(losses, Fraction(0)) / len(losses)
    for width in (0.0, 1e-3):
        found = AllPairs(form="compiled").on(positive).sums(scores, HINGE, width)
        assert abs(Fraction(found.value) - mean) <= Fraction(found.value_rounding)
        size = float(np.ptp(scores)) + 1
        assert found.value_rounding <= 1e-13 * size


def test_a_loss_too_small_for_the_grid_is_in_the_rounding() -> None:
    """The only active pair has m = 0: its loss of 2^-52 is missing in the value."""
    scores, positive = np.array([1.0, 2.0**-52, -3.0, -3.0]), np.arange(4) == 0
    found = counted_hinge(scores, positive, 0.1)
    assert found is not None and found.value == 0
    assert Fraction(2) ** -52 / 3 <= Fraction(found.value_rounding) <= Fraction(1e-15)


def test_pairs_nearly_at_the_margin_are_left_to_the_other_forms() -> None:
    scores, positive = np.array([1.0, 0.0, 2.0**-45, -3.0]), np.array([True, False, False, False])
    order = SortedRows.of(scores, positive, 2.0**20)
    assert order is not None and order.k < 45
    assert order.sums(scores, 0.0) is None  # too much doubt: left to the other forms
    found = AllPairs(form="compiled").on(positive).sums(scores, HINGE)
    assert abs(found.value - 2.0**-45 / 3) <= found.value_rounding


def test_rows_out_of_range_are_left_to_the_other_forms() -> None:
    positive = np.array([True, False, False])
    for far in (1e13, 1e300):
        assert counted_hinge(np.array([0.0, far, -far]), positive, 0.1) is None
    assert counted_hinge(np.array([0.0, 1.0, 2.0]), positive, 1e-17) is None
    found = AllPairs(form="compiled").on(positive).sums(np.array([0.0, 1e13, -1e13]), HINGE)
    assert found.value == pytest.approx(5e12)


@each("half_width", [0.0, 0.02, 0.7])
def test_windows_hold_the_pairs_near_the_margin(half_width: float) -> None:
    rng = np.random.default_rng(3)
    scores, positive = rng.normal(size=500), rng.random(500) < 0.3
    order = SortedRows.of(scores, positive, 2.0)
    assert order is not None
    margins = scores[positive][:, None] - scores[~positive][None, :]
    plus, minus, first, counts = order.windows(2 * half_width)
    i = np.repeat(plus, counts)
    j = np.concatenate([minus[f : f + k] for f, k in zip(first, counts, strict=True)])
    assert np.unique(i * 500 + j).size == (np.abs(1 - margins) < half_width).sum()
    assert positive[plus].all() and not positive[minus].any()
    assert (np.abs(1 - scores[i] + scores[j]) < half_width).all()


def counted_problem(seed: int, n: int = 60) -> Problem:
    rng = np.random.default_rng(seed)
    positive = np.arange(n) % 3 == 0
    X = rng.normal(size=(n, 2)) + positive[:, None]
    return linear_problem(X, positive, 0.1, pairs=AllPairs(form="compiled"))


def test_another_point_than_the_witness_gets_its_own_sums() -> None:
    problem = counted_problem(9)
    w = np.array([0.5, 0.4])
    near = Minorant.from_scores(problem, problem.space.scores(w) * (1 + 1e-15), 0.1)
    far = Minorant.from_scores(problem, problem.space.scores(-3 * w), 0.1)
    primal = problem.objective(w)
    for witness in (near, far):
        found = Certificate.of(problem, w, witness)
        assert abs(found.primal - primal) <= found.rounding
    assert Certificate.of(problem, w, far).dual < 0.5 * Certificate.of(problem, w, near).dual


def test_claims_in_a_witness_are_not_believed_when_sums_are_shared() -> None:
    problem = counted_problem(4)
    w = np.array([0.5, 0.4])
    scores = problem.space.scores(w)
    honest = Minorant.from_scores(problem, scores, 0.1)
    boast = replace(honest, value=honest.value + 1, c=0 * honest.c, value_error=0.0)
    assert Certificate.of(problem, w, boast) == Certificate.of(problem, w, honest)
    for width in (np.nan, -1.0, np.inf):
        with pytest.raises(InputError, match="width"):
            Certificate.of(problem, w, forged_as(honest, width=width))
    with pytest.raises(InputError, match="scale"):
        Certificate.of(problem, w, forged_as(honest, scale=1.5))


@each("kind", ["plain", "rounded", "one positive", "large", "heavy tails"])
def test_solutions_by_counting_pass_the_checker_in_exact_integers(
    kind: str, tmp_path: Path
) -> None:
    rng = np.random.default_rng(11)
    n, lam = COMPILED_FROM + 500, 1e-2
    X, positive = rng.normal(size=(n, 2)), rng.random(n) < 0.3
    X[positive] += 0.7
    if kind == "rounded":
        X = np.round(X, 2)
    elif kind == "one positive":
        positive = np.arange(n) == 77
    elif kind == "large":
        X, lam = 1e4 * X + 1e6, 1e6
    elif kind == "heavy tails":
        X = X * np.exp(2 * rng.normal(size=(n, 1)))
    solution = solve(X, positive, lam)
    assert solution.status == "certified"
    write_proof(tmp_path / "proof.npz", X, positive, lam, solution)
    proof = dict(np.load(tmp_path / "proof.npz"))
    assert "verified" in check_proof.check(proof, X, positive, np.ones(n))
    # The exact F(w), in integers, is below the primal and its rounding.
    upper, lower, _ = check_proof.bounds(proof, X, positive, np.ones(n))
    found = solution.certificate
    assert lower <= found.primal
    assert upper <= Fraction(found.primal) + Fraction(1e-11 * found.primal)


@each("seed", seeds(8))
@each("width", [0.0, 0.25])
def test_scores_on_the_grid_are_counted_with_their_ties(seed: int, width: float) -> None:
    rng = np.random.default_rng(seed)
    scores, positive = rng.integers(-9, 9, 40) / 8, rng.random(40) < 0.4
    positive[:2] = True, False
    margins = scores[positive][:, None] - scores[~positive][None, :]
    assert (margins == 1).any()
    found = counted_hinge(scores, positive, width)
    assert found is not None
    mean = Fraction(float(np.maximum(0, 1 - margins).sum())) / margins.size
    assert abs(Fraction(found.value) - mean) <= Fraction(found.value_rounding) <= Fraction(1e-14)


def test_ties_off_the_grid_are_not_taken_for_ones_on_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plant a fault: all scores are said to lie on the grid."""
    scores, positive = np.array([1.0, 0.0, 2.0**-45, -3.0]), np.array([True, False, False, False])
    order = SortedRows.of(scores, positive, 2.0**20)
    assert order is not None and not order.holds(scores)
    monkeypatch.setattr(SortedRows, "holds", lambda self, scores: True)
    found = order.sums(scores, 0.0)
    assert found is not None and abs(found.value - 2.0**-45 / 3) > found.value_rounding
