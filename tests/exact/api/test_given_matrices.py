"""What is said about a kernel matrix that was given: which matrix the numbers are about."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from aucert.exact import certify, solve
from aucert.exact.spaces.gram import AS_STORED, Gram
from aucert.validation.cli import main


def below_zero() -> tuple[np.ndarray, np.ndarray]:
    """Return a matrix of rank three, an eigenvalue of -6e-14 and labels: F has no minimum on it."""
    F = np.random.default_rng(0).normal(size=(12, 3))
    return F @ F.T - 6e-14 * np.eye(12), np.arange(12) % 2


def test_an_audit_over_a_given_matrix_says_which_matrix_is_meant() -> None:
    K, y = below_zero()
    assert np.linalg.eigvalsh(K)[0] < -5e-14 and Gram(K).shift > 5e-14
    w = solve(K, y, 0.1, kernel="precomputed").w
    of_weights = certify(K, y, 0.1, kernel="precomputed", w=w)
    for audit in (of_weights, certify(K, y, 0.1, kernel="precomputed", scores=K @ w)):
        assert audit.statement.endswith(AS_STORED)
    plain = certify(K, y, 0.1, w=np.zeros(12), kernel="linear")
    assert AS_STORED not in plain.statement


def test_solve_over_a_given_matrix_says_which_matrix_is_meant(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    K, y = below_zero()
    np.savez(tmp_path / "K.npz", X=K, y=y)
    for kernel in ("precomputed", "linear"):
        given = [str(tmp_path / "K.npz"), "--lam", "0.1", "--kernel", kernel, "--json"]
        main(["solve", *given])
        document = json.loads(capsys.readouterr().out)
        assert (AS_STORED in document["statement"]) == (kernel == "precomputed")


def test_an_objective_that_rounding_hides_is_said_with_its_rounding() -> None:
    """Rows a hundred million from the origin, and long weights: eight digits are gone."""
    rng, y = np.random.default_rng(1), np.arange(20) % 2
    X = rng.normal(size=(20, 2))
    X[0] = 1e15
    audit = certify(X, y, 1e-3, w=np.array([1e3, -1e3]), refine=False)
    assert audit.primal is not None and audit.rounding > 1e-10 * audit.primal
    w = [Fraction(1000), Fraction(-1000)]
    scores = [sum(Fraction(float(v)) * c for v, c in zip(x, w, strict=True)) for x in X]
    pairs = [(i, j) for i in np.flatnonzero(y == 1) for j in np.flatnonzero(y == 0)]
    loss = sum(max(Fraction(0), 1 - scores[i] + scores[j]) for i, j in pairs) / len(pairs)
    true = loss + Fraction(1e-3) / 2 * sum(c * c for c in w)
    assert audit.primal >= true >= Fraction(audit.primal) - Fraction(audit.rounding)
