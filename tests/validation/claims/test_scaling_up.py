"""The claims of [ScalingUp]: their verdicts, their closed forms, and that they notice a mistake."""

from __future__ import annotations

import numpy as np
import pytest

from aucert.exact.certificate.solution import Solution, Status
from aucert.exact.pairs.all_pairs import PairList
from aucert.exact.problem.problem import Problem
from aucert.exact.solvers.qp import QP
from aucert.exact.spaces.factor import factor_gram
from aucert.validation import suite
from aucert.validation.bounds import exact_answers
from aucert.validation.bounds.printed import PRINTED, REPAIRED, Theorem4
from aucert.validation.claims import scaling_up, theorem_4
from aucert.validation.claims.claim import Verdict
from aucert.validation.claims.theorem_4 import two_atoms
from aucert.validation.report.row import Row
from loops import each


def run(name: str, seed: int = 0) -> Row:
    return suite.run([name], seed=seed).rows[0]


# Planted mistakes: each must turn the verdict round.


def test_a_population_auc_printed_right_would_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(scaling_up.PRINTED, "radial", 96.471)
    assert run("population-auc-of-the-radial-model").verdict == "holds"


def test_a_population_auc_of_many_positives_is_not_that_of_approximately_a_fifth(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(scaling_up.PRINTED, "linear", 89.9)  # 29 % positives
    assert run("population-auc-of-the-linear-model").verdict == "fails"


def test_a_wrong_quadrature_is_noticed_by_monte_carlo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaling_up, "population_auc", lambda model: 0.90377)
    assert run("population-auc-by-monte-carlo").verdict == "fails"


def test_biased_draws_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def biased(positive: np.ndarray, n_pairs: int, seed: object, *rest: object) -> PairList:
        rng = np.random.default_rng(seed)  # type: ignore[arg-type]
        i, j = np.flatnonzero(positive)[:-4], np.flatnonzero(~positive)
        return PairList(rng.choice(i, n_pairs), rng.choice(j, n_pairs))

    monkeypatch.setattr(scaling_up, "draw_pairs", biased)
    assert run("incomplete-u-is-unbiased").verdict == "fails"


@pytest.mark.slow
@each("replace", [False, True])
def test_the_wrong_kind_of_draw_is_noticed(monkeypatch: pytest.MonkeyPatch, replace: bool) -> None:
    genuine = scaling_up.draw_pairs

    def swapped(positive: np.ndarray, n_pairs: int, seed: object, replace: bool) -> PairList:
        return genuine(positive, n_pairs, seed, not replace)  # type: ignore[arg-type]

    monkeypatch.setattr(scaling_up, "draw_pairs", swapped)
    kind = "with" if replace else "without"
    assert run(f"incomplete-u-variance-{kind}-replacement").verdict == "fails"


def test_a_qp_answer_that_is_not_optimal_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Coarse(QP):
        def solve(self, problem: Problem, *rest: object) -> Solution:
            return QP("lifted", "CLARABEL", solver_tol=0.3).solve(problem)

    monkeypatch.setattr(scaling_up, "QP", Coarse)
    assert run("dual-qp-by-clarabel").verdict == "fails"


def test_a_factor_of_another_kernel_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaling_up, "factor_gram", lambda K: factor_gram(1.001 * K))
    assert run("factor-and-kernel-agree").verdict == "fails"


def test_an_exponent_that_needs_no_repair_would_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Theorem4.bound, "__defaults__", (REPAIRED, 0.5))
    assert run("theorem-4-as-printed").verdict == "holds"


def test_the_printed_exponent_would_make_the_repaired_bound_fail(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(theorem_4, "FIVE_HALVES", PRINTED)
    assert run("theorem-4-with-exponent-five-halves").verdict == "fails"


@pytest.mark.slow
def test_a_first_term_twice_as_large_would_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    def doubled(*arguments: object) -> tuple[np.ndarray, np.ndarray]:
        left, constant = two_atoms(*arguments)  # type: ignore[arg-type]
        return left, 2 * constant

    monkeypatch.setattr(theorem_4, "two_atoms", doubled)
    assert run("theorem-4-first-term").verdict == "holds"


def test_a_run_that_is_interrupted_inside_a_solver_stops_the_suite(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Interrupted(exact_answers.CuttingPlane):
        def run(self, problem: Problem, recorder: object) -> Status:
            raise KeyboardInterrupt

    monkeypatch.setattr(exact_answers, "CuttingPlane", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        run("norm-of-the-minimiser")


def test_a_problem_that_is_not_solved_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    def one_step(tol: float) -> object:
        return type(optimum_solver)(tol=tol, max_iter=1, finish_from=0.0)

    optimum_solver = exact_answers.CuttingPlane()
    monkeypatch.setattr(exact_answers, "CuttingPlane", one_step)
    row = run("norm-of-the-minimiser")
    assert row.verdict == "error" and str(row.measured).startswith("RuntimeError: not solved")


def test_a_claim_expected_to_fail_is_judged_as_printed() -> None:
    for entry in suite.claims():
        assert entry.kind == "theorem" or entry.expected_verdict is not Verdict.FAILS
