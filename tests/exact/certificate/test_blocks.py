"""Evaluations over blocks: the same bits from any number of threads, and nothing taken on trust."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import naive
from aucert.exact.api.solve import solve
from aucert.exact.certificate import evaluation
from aucert.exact.certificate.certificate import Certificate, evaluated_with
from aucert.exact.certificate.evaluation import (
    Evaluation,
    Evaluator,
    binned_at,
    loss_at,
    note,
    noted,
    noted_sums,
    noting,
    sums_at,
)
from aucert.exact.certificate.solution import Status
from aucert.exact.errors import CertificateError
from aucert.exact.losses.registry import HINGE
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.problem.minorant import Minorant
from aucert.exact.problem.problem import Problem, Ridge, linear_problem, pair_problem
from aucert.exact.solvers.descent import Descent
from aucert.exact.spaces.blocks import StreamedRows
from aucert.exact.tools.threads import at_most
from loops import each

LAM = 1e-2


def some_rows(kind: str = "plain", n: int = 1200, d: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    positive = rng.random(n) < 0.3
    X = rng.normal(size=(n, d)) + 0.6 * positive[:, None]
    if kind == "ties":
        X = np.round(X)
    if kind == "float32":
        X = X.astype(np.float32)
    if kind == "every other row":
        X = np.repeat(X, 2, axis=0)[::2]
    if kind == "by columns":
        X = np.asfortranarray(X)
    if kind == "far":
        X = X + 1e5
    if kind == "tiny class":
        positive[:] = False
        positive[[5, n // 2]] = True
    return X, positive


def some_problem(
    kind: str = "plain", d: int = 2, weight: np.ndarray | None = None, block: int = 100
) -> Problem:
    X, positive = some_rows(kind, d=d)
    return pair_problem(StreamedRows(X, block), positive, AllPairs(weight), HINGE, Ridge(LAM))


def numbers(found: Evaluation) -> tuple[object, ...]:
    loss = found.loss, found.loss_rounding, found.total, found.total_rounding
    return *loss, found.pull.tolist(), found.pull_error, found.bins, found.half


KINDS = ["plain", "ties", "float32", "every other row", "by columns", "tiny class", "far"]


@each("d", [2, 20])
@each("kind", KINDS)
def test_threads_change_no_bit(kind: str, d: int) -> None:
    problem, w = some_problem(kind, d), np.linspace(0.5, 1, d) / d
    found = []
    for jobs in (1, 2, 3, 7):
        with at_most(jobs):
            found.append(numbers(Evaluator(problem).at(w, 64, 3)))
    assert found[1:] == found[:1] * 3


@each("whole", [True, False])
def test_weights_change_no_bit_either(whole: bool) -> None:
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 4, 1200).astype(float) if whole else rng.uniform(0.5, 2, 1200)
    problem, found = some_problem(weight=weight), []
    for jobs in (1, 2, 7):
        with at_most(jobs):
            found.append(numbers(Evaluator(problem).at(np.array([0.7, 0.4]), 64, 3)))
    assert found[1:] == found[:1] * 2


def test_a_solution_is_the_same_for_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    X, positive = some_rows(n=30_000)
    found = [solve(StreamedRows(X, 1000), positive, LAM, tol=1e-6, n_jobs=k) for k in (1, 2, 3)]
    for other in found[1:]:
        assert np.array_equal(other.w, found[0].w)
        assert other.certificate == found[0].certificate


def by_pairs(problem: Problem, X: np.ndarray, w: np.ndarray, found: Evaluation) -> None:
    """The evaluation against every pair, exactly: loss, mass and pull within their bounds."""
    listed = naive.weighted_pairs(problem.pairs.positive.tolist(), problem.pairs)
    F = naive.primal_value(naive.exact(X), listed, "hinge", Fraction(LAM), naive.exact(w))
    loss = F - Fraction(LAM) / 2 * naive.norm2(naive.exact(w))
    upper = Fraction(found.loss) + Fraction(found.loss_rounding)
    assert upper >= loss >= Fraction(found.loss) - Fraction(1 / found.bins) - Fraction(1e-9)
    # Weak duality, exactly: total - |pull|^2 / (2 lam) <= F at any point, w among them.
    assert Fraction(found.dual(LAM)) - Fraction(found.dual_rounding(LAM)) <= F


@each("kind", KINDS)
@each("d", [2, 10])
def test_evaluations_are_those_of_every_pair(kind: str, d: int) -> None:
    X, positive = some_rows(kind, 60, d)
    positive[:2] = True, False
    problem = pair_problem(StreamedRows(X, 7), positive, AllPairs(), HINGE, Ridge(LAM))
    w = np.linspace(0.5, 1, d) / d
    by_pairs(problem, X, w, Evaluator(problem).at(w, 32, 2))


def test_an_evaluation_is_noted_for_its_very_point_only() -> None:
    problem, w = some_problem(), np.array([0.7, 0.4])
    assert noted(problem, w, 64) is None
    with noting():
        found = Evaluator(problem).at(w, 64, 3)
        assert noted(problem, w, 64, 3) is not None and noted(problem, w, 64) is not None
        assert noted(problem, np.nextafter(w, 1), 64) is None
        assert noted(problem, w, 128) is None and noted(problem, w, 64, 2) is None
        assert noted(replace(problem), w, 64) is None  # another object, maybe of other rows
        assert numbers(binned_at(problem, w, 64, 3)) == numbers(found)
        assert loss_at(problem, w, 64).half == 3
    assert noted(problem, w, 64) is None


def test_what_a_solver_does_with_its_evaluation_changes_no_certificate() -> None:
    """A fault in a solver: it writes into what it was handed, and lies about the rest."""
    problem, w = some_problem(), np.array([0.7, 0.4])
    witness = Minorant.from_weights(problem, w, 64, 3)
    with noting():
        Evaluator(problem).at(w, 64, 3)
        honest = evaluated_with(problem, w, witness)[0]
    with noting():
        point = w.copy()
        found = Evaluator(problem).at(point, 64, 3)
        point[:] = 0.0
        found.pull[:] = 0.0
        replace(found, loss=0.0, total=5.0)
        assert evaluated_with(problem, w, witness)[0] == honest
        held = noted(problem, w, 64, 3)
        assert held is not None
        for values in (held.pull, held.w):
            with pytest.raises(ValueError, match="read-only"):
                values[:] = 0.0


def test_a_false_note_would_be_seen() -> None:
    """The notes are what is trusted: were one false, certificates would be, as this shows."""
    problem, w = some_problem(), np.array([0.7, 0.4])
    with noting():
        true = Evaluator(problem).at(w, 64, 3)
    with noting(), pytest.raises(CertificateError):
        note(problem, replace(true, total=5.0))
        Certificate.of(problem, w, Minorant.from_weights(problem, w, 64, 3))


def test_a_solve_is_certified_without_another_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    X, positive = some_rows(n=30_000)
    problem = pair_problem(StreamedRows(X), positive, AllPairs(), HINGE, Ridge(LAM))
    passes = []
    total = StreamedRows.total
    monkeypatch.setattr(
        StreamedRows, "total", lambda self, *work: passes.append(work) or total(self, *work)
    )
    made, of = [], Certificate.with_minorant

    def watched(*args: Any) -> tuple[Certificate, Minorant]:
        before = len(passes)
        found = of(*args)
        made.append(len(passes) - before)
        return found

    monkeypatch.setattr(Certificate, "with_minorant", watched)
    solution = Descent(tol=1e-6).solve(problem)
    assert solution.status == Status.CERTIFIED and made == [0]
    during = len(passes)
    again = Certificate.of(problem, solution.w, solution.witness)
    assert len(passes) > during  # outside of a solve nothing is remembered
    assert again.dual == solution.certificate.dual
    # The loss of a finer grid is nearer to the loss, from above.
    assert again.primal <= solution.certificate.primal
    assert again.primal == pytest.approx(solution.certificate.primal, rel=1e-7)


def test_scores_beyond_the_guess_are_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, w = some_problem(), np.array([0.7, 0.4])
    fresh = Evaluator(problem).at(w, 64, 3)
    monkeypatch.setattr(evaluation, "score_extent", lambda *_: np.array([0.0, 0.1, 0.0, 0.1]))
    found = Evaluator(problem).at(w, 64, 3)
    assert found.loss == pytest.approx(fresh.loss, abs=1e-9) and found.total == fresh.total


def test_the_last_sums_are_noted_as_they_were_made() -> None:
    """Of one problem, one width and the last scores, and for no change that a solver makes."""
    X, positive = some_rows()
    problem, other = (linear_problem(X, positive, LAM, "logistic") for _ in range(2))
    scores = problem.space.scores(np.array([0.5, 0.2]))
    true, mine = problem.risk.sums(scores, 0.1), scores.copy()
    sums_at(problem, scores, 0.1)
    assert noted_sums(problem, scores, 0.1) is None  # outside of a solve nothing is noted
    with noting():
        found = sums_at(problem, mine, 0.1)
        mine[:] = 7.0
        assert noted_sums(problem, mine, 0.1) is None
        assert noted_sums(other, scores, 0.1) is None and noted_sums(problem, scores, 0.2) is None
        held = noted_sums(problem, scores, 0.1)
        assert held is not None and np.array_equal(held.c, true.c)
        assert repr(replace(held, c=None)) == repr(replace(true, c=None))
        for values in (found.c, held.c):
            with pytest.raises(ValueError, match="read-only"):
                values[:] = 0.0
        sums_at(problem, 2 * scores, 0.1)
        assert noted_sums(problem, scores, 0.1) is None
    assert noted_sums(problem, 2 * scores, 0.1) is None
