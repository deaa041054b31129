"""Evaluations over blocks: the same bits from any number of threads, and nothing taken on trust."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
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
    noting,
)
from aucert.exact.certificate.solution import Status
from aucert.exact.errors import CertificateError, InputError
from aucert.exact.losses.registry import HINGE
from aucert.exact.pairs.all_pairs import AllPairs
from aucert.exact.problem.minorant import Minorant
from aucert.exact.problem.problem import Problem, Ridge, pair_problem
from aucert.exact.solvers.descent import Descent
from aucert.exact.spaces.blocks import StreamedRows
from aucert.exact.spaces.rows import Rows
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


def rows_of(problem: Problem) -> StreamedRows:
    assert isinstance(problem.space, StreamedRows)
    return problem.space


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
    rows = [naive.exact(row) for row in X.astype(float)]
    exact = naive.exact(w)
    scores = [sum((x * a for x, a in zip(row, exact, strict=True)), Fraction(0)) for row in rows]
    positive = problem.pairs.positive.tolist()
    loss = Fraction(0)
    for i, j, share in naive.weighted_pairs(positive, problem.pairs):
        loss += share * max(Fraction(0), 1 - scores[i] + scores[j])
    upper = Fraction(found.loss) + Fraction(found.loss_rounding)
    assert upper >= loss >= Fraction(found.loss) - Fraction(1 / found.bins) - Fraction(1e-9)
    # Weak duality, exactly: total - |pull|^2 / (2 lam) <= F at any point, w among them.
    F = loss + Fraction(LAM) / 2 * sum(a * a for a in exact)
    assert Fraction(found.dual(LAM)) - Fraction(found.dual_rounding(LAM)) <= F


@each("kind", KINDS)
@each("d", [2, 10])
def test_evaluations_are_those_of_every_pair(kind: str, d: int) -> None:
    X, positive = some_rows(kind, 60, d)
    positive[:2] = True, False
    problem = pair_problem(StreamedRows(X, 7), positive, AllPairs(), HINGE, Ridge(LAM))
    w = np.linspace(0.5, 1, d) / d
    by_pairs(problem, X, w, Evaluator(problem).at(w, 32, 2))


def test_float32_is_the_same_as_its_promotion() -> None:
    X, positive = some_rows("float32")
    narrow, wide = (
        pair_problem(StreamedRows(rows, 100), positive, AllPairs(), HINGE, Ridge(LAM))
        for rows in (X, X.astype(float))
    )
    assert rows_of(narrow).narrow(slice(0, 100)).dtype == np.float32
    w = np.array([0.7, 0.4])
    rows_of(narrow).offset = rows_of(wide).offset  # means may round differently
    assert numbers(Evaluator(narrow).at(w, 64, 3)) == numbers(Evaluator(wide).at(w, 64, 3))


def test_a_changed_file_of_float32_is_refused(tmp_path: Path) -> None:
    X, positive = some_rows("float32", 301, 3)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r+")
    problem = pair_problem(StreamedRows(mapped, 100), positive, AllPairs(), HINGE, Ridge(LAM))
    Evaluator(problem).at(np.ones(3), 64, 3)
    mapped[300, 2] += 1
    with pytest.raises(InputError, match="changed while it was read"):
        Evaluator(problem).at(np.ones(3), 64, 3)


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


@pytest.mark.slow
def test_dense_rows_in_memory_are_certified_over_blocks_too() -> None:
    X, positive = some_rows()
    held = pair_problem(Rows(X), positive, AllPairs(), HINGE, Ridge(LAM))
    streamed = held.over(StreamedRows(X, 100))
    w = np.array([0.7, 0.4])
    a, b = binned_at(held, w, 64, 3), binned_at(streamed, w, 64, 3)
    assert a.total == pytest.approx(b.total, rel=1e-3)  # other offsets, other bins
    assert abs(a.loss - b.loss) <= 1 / 64
    by_pairs(held, X, w, a)


@pytest.mark.long_digits
def test_rows_of_which_the_bins_prove_too_little_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Separable rows on a grid: no window of margins is left to smooth over."""
    from aucert.exact.api import solve as solving

    rng = np.random.default_rng(0)
    X = rng.integers(-1, 2, (3000, 2)).astype(float)
    y = X[:, 0] + X[:, 1] > 0
    wanted = solve(X, y, 1e-4)
    assert wanted.status == Status.CERTIFIED
    monkeypatch.setattr(solving, "HELD_ROWS", 1000)
    monkeypatch.setattr(solving, "MOSTLY_DIFFERENT", 0.0)  # ties are not looked for
    found = solve(X, y, 1e-4)
    assert found.status == Status.CERTIFIED
    assert found.certificate.primal == pytest.approx(wanted.certificate.primal, rel=1e-8)
