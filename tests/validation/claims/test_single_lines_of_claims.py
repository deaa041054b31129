"""Lines of claims on which a verdict or a printed number hangs, each turned by itself."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pytest

from aucert.approx.nystrom.nystrom import nystrom_map
from aucert.exact.solvers.qp import QP
from aucert.exact.spaces.kernels import Gaussian, Linear
from aucert.validation.claims.claim import REGISTRY, Context, Outcome, Verdict
from aucert.validation.claims.scaling_up import exact
from aucert.validation.claims.sht import sparsity


def run(name: str) -> Outcome:
    return REGISTRY[name].run(Context(name, 0))


def test_eleven_of_the_28_printed_jaccard_indices_are_too_small() -> None:
    """In decimals, from the table: index < F1 / (2 - F1) whatever both were rounded from."""
    half, small = Decimal("0.0005"), set()
    for name, scores in sparsity.F1.items():
        for k_star, score, index in zip(
            (20, 40, 60, 80), scores, sparsity.JACCARD[name], strict=True
        ):
            f1, printed = Decimal(str(score)) - half, Decimal(str(index)) + half
            if printed * (2 - f1) < f1:
                small.add(f"{name}, k* = {k_star}: printed, least possible")
    outcome = run("sht-jaccard-column")
    assert len(small) == 11 and set(outcome.details) == small
    assert outcome.measured == "11 of 28 are too small" and outcome.verdict == Verdict.FAILS


def test_a_jaccard_index_that_rounding_explains_is_not_too_small(monkeypatch) -> None:
    """At F1 = 0.5 the least index is 1/3: 0.333 may be one of 0.3335, 0.332 may not."""
    monkeypatch.setattr(sparsity, "F1", {"A": (0.5, 0.5, 0.5, 0.5)})
    monkeypatch.setattr(sparsity, "JACCARD", {"A": (0.333, 0.3335, 0.332, 0.9)})
    outcome = run("sht-jaccard-column")
    assert set(outcome.details) == {"A, k* = 60: printed, least possible"}
    monkeypatch.setattr(sparsity, "JACCARD", {"A": (0.333, 0.4, 0.5, 0.9)})
    assert run("sht-jaccard-column").verdict == Verdict.HOLDS


@dataclass
class Answers:
    """Solutions of QP solvers whose gaps are given, one a tolerance; all others are as they are."""

    gaps: dict[float, float]
    right = staticmethod(exact.solved)

    def __call__(self, solver, problem):
        solution = self.right(solver, problem)
        if not isinstance(solver, QP) or solver.backend != "OSQP":
            return solution
        gap = self.gaps.get(solver.solver_tol, 0.0) * solution.certificate.dual
        bounds = {name: getattr(solution.certificate, name) for name in ("primal", "dual")}
        numbers = bounds | {"gap": gap, "rounding": 1e-6}
        return SimpleNamespace(certificate=SimpleNamespace(**numbers), seconds=1.0)


@pytest.mark.parametrize(
    ("gaps", "verdict"),
    [
        pytest.param({1e-1: 0.5, 1e-2: 0.5}, Verdict.HOLDS, marks=pytest.mark.slow),
        ({1e-6: 2 * exact.QP_TOL}, Verdict.FAILS),
        pytest.param({1e-6: 0.5 * exact.QP_TOL}, Verdict.HOLDS, marks=pytest.mark.slow),
    ],
)
def test_the_last_and_most_accurate_qp_is_judged_by_its_relative_gap(
    gaps: dict[float, float], verdict: Verdict, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exact, "solved", Answers(gaps))
    monkeypatch.setattr(exact, "_gap_figure", lambda problem, curves: None)
    monkeypatch.setattr(exact, "_adamax_points", lambda problem, context: points(problem))
    outcome = run("no-solver-passes-the-lower-bound")
    assert outcome.verdict == verdict
    assert outcome.details["relative gap, OSQP"] == pytest.approx(gaps.get(1e-6, 0.0), rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize(("raised", "verdict"), [(0.0, Verdict.HOLDS), (1e-3, Verdict.FAILS)])
def test_a_lower_bound_above_somebody_s_objective_fails_the_claim(
    raised: float, verdict: Verdict, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bound of one QP is put above the primal of all the others."""
    honest = exact.solved

    def solved(solver, problem):
        solution = honest(solver, problem)
        if not isinstance(solver, QP) or solver.backend != "OSQP":
            return solution
        of = solution.certificate
        dual = of.dual + raised * (solver.solver_tol == 1e-6)
        numbers = {"primal": of.primal, "dual": dual, "gap": 0.0, "rounding": of.rounding}
        return SimpleNamespace(certificate=SimpleNamespace(**numbers), seconds=1.0)

    monkeypatch.setattr(exact, "solved", solved)
    monkeypatch.setattr(exact, "_gap_figure", lambda problem, curves: None)
    monkeypatch.setattr(exact, "_adamax_points", lambda problem, context: points(problem))
    assert run("no-solver-passes-the-lower-bound").verdict == verdict


def points(problem) -> dict[int, tuple[np.ndarray, float]]:
    return {10: (np.zeros(problem.space.dim), 1.0)}


def test_nystrom_rows_leave_out_what_is_zero_to_rounding() -> None:
    """With a landmark twice the matrix of the landmarks has an eigenvalue of zero."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 3))
    X[5] = X[2]
    kernel = Gaussian(0.25)
    K, single, double = kernel(X, X), np.array([0, 2, 7]), np.array([0, 2, 5, 7])
    rows = nystrom_map(kernel, X[double]).transform(X)
    assert rows.shape == (12, 3)
    K_l = K[:, single]
    meant = K_l @ np.linalg.solve(K[np.ix_(single, single)], K_l.T)
    np.testing.assert_allclose(rows @ rows.T, meant, atol=1e-12)
    np.testing.assert_allclose((rows @ rows.T)[np.ix_(single, single)], K_l[single], atol=1e-12)


def test_nystrom_rows_keep_every_eigenvalue_above_rounding() -> None:
    values = np.array([1.0, 1e-6, 1e-11, 1e-13])
    rotation = np.linalg.qr(np.random.default_rng(1).normal(size=(4, 4)))[0]
    X = rotation * np.sqrt(values)
    assert nystrom_map(Linear(), X).transform(X).shape == (4, 3)
