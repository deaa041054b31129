"""`check_solver` tells right solvers from wrong ones, and says how they are wrong."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import warnings
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from aucert.exact import certify, solve
from aucert.exact.errors import CertificateError, InputError
from aucert.validation.checking.check_solver import check_solver, judged
from aucert.validation.reference.problems import ReferenceProblem, reference_problems
from loops import each, first_fast

PLAIN = ["overlap", "noise", "ties", "integers", "one-feature", "duplicates", "one-positive"]
"""Features of order one, lam not tiny: a fair first test of any solver."""


def exact(X, y, lam, *, sample_weight=None):
    return solve(X, y, lam, tol=1e-6, sample_weight=sample_weight).w


def descent(X, y, lam, *, share=1.0, max_iter=15_000):
    """A quasi-Newton method for the squared hinge; `share` of the negative rows' gradient."""
    plus, minus = X[y == 1], X[y == 0]

    def value_and_slope(w):
        z = np.maximum(0.0, 1 - (plus @ w)[:, None] + minus @ w)
        slope = -2 / z.size * (plus.T @ z.sum(axis=1) - share * minus.T @ z.sum(axis=0))
        return lam / 2 * w @ w + (z**2).mean(), lam * w + slope

    options = {"maxiter": max_iter, "ftol": 1e-15, "gtol": 1e-12}
    start = np.zeros(X.shape[1])
    return minimize(value_and_slope, start, jac=True, method="L-BFGS-B", options=options).x


def pair_differences(X, y, lam):
    """Liblinear on all differences, half of them turned around; its C is 1 / (lam N)."""
    differences = (X[y == 1][:, None] - X[y == 0]).reshape(-1, X.shape[1])
    signs = np.where(np.arange(len(differences)) % 2 == 0, 1, -1)
    C = 1 / (lam * len(differences))
    svc = LinearSVC(loss="hinge", fit_intercept=False, C=C, tol=1e-8, max_iter=20_000)
    with warnings.catch_warnings():  # what it reaches counts, not what it thinks of it
        warnings.simplefilter("ignore", ConvergenceWarning)
        return svc.fit(differences * signs[:, None], signs)


def unweighted(X, y, lam):
    return exact(X, y, lam)


def verdicts(report) -> set[str]:
    return {row.verdict for row in report.rows}


@each("loss", ["hinge", "squared_hinge", "square"])
def test_our_own_solvers_pass_every_problem(loss: str) -> None:
    def fit(X, y, lam, sample_weight=None):
        return solve(X, y, lam, loss=loss, tol=1e-6, sample_weight=sample_weight)

    report = check_solver(fit, loss=loss)
    assert report.passed and report.counts == {"pass": len(reference_problems())}
    assert report.diagnosis == ()


@pytest.mark.slow
def test_independent_solvers_pass_the_plain_problems_and_a_wrong_gradient_none() -> None:
    for fit, loss in ((pair_differences, "hinge"), (descent, "squared_hinge")):
        report = check_solver(fit, loss=loss, only=PLAIN)
        assert report.passed, report.table
    wrong = check_solver(lambda *a: descent(*a, share=0.5), loss="squared_hinge", only=PLAIN)
    assert verdicts(wrong) == {"fail"}


def test_stopping_too_early_is_caught_and_named() -> None:
    def fit(X, y, lam):
        return descent(X, y, lam, max_iter=3)

    report = check_solver(fit, loss="squared_hinge", only=["overlap", "noise", "ties"])
    assert not report.passed and "stop too early" in report.diagnosis[0]
    assert check_solver(fit, loss="squared_hinge", only="overlap", tol=0.1).passed


def n_pairs(y) -> int:
    return int(y.sum() * (1 - y).sum())


def distinct(X, y, lam):
    sides = [np.unique(X[y == side], axis=0) for side in (0, 1)]
    return exact(np.vstack(sides), np.repeat([0, 1], [len(side) for side in sides]), lam)


BASIC = ["overlap", "noise", "integers"]
CAUSES: dict[str, tuple[Any, list[str]]] = {
    "ignores lam": (lambda X, y, lam: exact(X, y, 0.01), BASIC),
    "returns zero": (lambda X, y, lam: np.zeros(X.shape[1]), BASIC),
    "sign is wrong": (lambda X, y, lam: -exact(X, y, lam), BASIC),
    "in place of the mean": (lambda X, y, lam: exact(X, y, lam / n_pairs(y)), BASIC),
    "optimal for 2 lam": (lambda X, y, lam: exact(X, y, 2 * lam), BASIC),
    "the constant C of the mean": (lambda X, y, lam: exact(X, y, 1 / lam), BASIC),
    "divided by the pairs": (lambda X, y, lam: exact(X, y, lam * n_pairs(y)), BASIC),
    "optimal for about 7": (lambda X, y, lam: exact(X, y, 7 * lam), BASIC),
    "minimises the square loss": (lambda X, y, lam: solve(X, y, lam, loss="square"), BASIC),
    "equal rows in a class": (distinct, ["overlap:0.1", "integers:0.1", "binary", "duplicates"]),
    "not of order one": (
        lambda X, y, lam: exact(X, y, lam) * (1.0 if np.abs(X).max() < 10 else 0.5),
        ["overlap", "ties", "large-units", "outlier"],
    ),
}


@each("cause", first_fast(CAUSES, 3))
def test_a_likely_cause_is_named(cause: str) -> None:
    fit, names = CAUSES[cause]
    report = check_solver(fit, only=names)
    assert not report.passed
    assert [cause in sentence for sentence in report.diagnosis] == [True], report.table


def test_a_step_that_hardly_leaves_zero_is_not_another_scaling() -> None:
    report = check_solver(lambda X, y, lam: 1e-6 * X[0] / lam, only=BASIC)
    assert not any("scaling" in sentence for sentence in report.diagnosis), report.diagnosis


def test_row_weights_are_skipped_without_the_argument_and_checked_with_it() -> None:
    names = ["overlap", "weights", "zero-weights", "weights-for-rows"]
    without = check_solver(unweighted, only=names)
    assert without.passed and without.counts == {"pass": 5, "skipped": 3}
    assert "3 skipped" in without.summary
    ignoring = check_solver(lambda X, y, lam, sample_weight=None: exact(X, y, lam), only=names)
    assert ignoring.counts == {"pass": 5, "fail": 3}
    assert "sample_weight" in ignoring.diagnosis[0]
    assert not check_solver(unweighted, only="weights").passed  # nothing was run


def endless(X, y, lam):
    while True:
        pass


def raising(X, y, lam):
    raise RuntimeError(f"bad lam:\n{lam:g}")


BAD = [
    ("not finite", lambda X, y, lam: np.full(X.shape[1], np.nan), "weight 0 is nan"),
    ("error", raising, r"RuntimeError: bad lam: 0.1 \(test_check_solver.py, line \d+\)"),
    ("error", lambda X, y, lam: sys.exit(3), "SystemExit"),
    ("error", lambda X, y, lam: input(), "EOFError"),
    ("error", lambda X, y, lam: "words", "str"),
    ("error", lambda X, y, lam: [[1.0, 2.0], [3.0]], "list"),
    ("error", lambda X, y, lam: object(), "object"),
    ("wrong shape", lambda X, y, lam: None, "return w"),
    ("wrong shape", lambda X, y, lam: np.zeros(4), r"shape \(4,\).*intercept"),
    ("crash", lambda X, y, lam: os.kill(os.getpid(), signal.SIGSEGV), "SIGSEGV"),
    ("timeout", endless, "stopped after 0.5 s"),
    ("fail", lambda X, y, lam: np.full(X.shape[1], 1e300), "overflows"),
]


@each("bad", BAD, ids=lambda bad: bad[2])
def test_what_is_not_an_answer_gets_its_own_verdict(bad: tuple[str, Any, str]) -> None:
    verdict, fit, message = bad
    report = check_solver(fit, only=["overlap:0.1", "ties"], max_time=0.5)
    assert verdicts(report) == {verdict}
    row = report.rows[0]
    assert row.excess is None and re.search(message, row.message), row.message
    assert verdict.upper() in report.table
    assert json.loads(report.to_json())["counts"] == {verdict: 2}


def test_objects_and_row_vectors_are_read() -> None:
    class Model:
        def __init__(self, w):
            self.coef_ = w[None, :]

    assert check_solver(lambda X, y, lam: Model(exact(X, y, lam)), only="ties").passed
    assert check_solver(lambda X, y, lam: list(exact(X, y, lam)), only="ties").passed


@pytest.mark.slow
def test_the_gap_is_that_of_certify_but_never_smaller() -> None:
    report = check_solver(
        lambda X, y, lam: 0.9 * exact(X, y, lam), only=["overlap:0.1", "imbalance", "ties"]
    )
    for row in report.rows:
        audit = certify(row.problem.X, row.problem.y, row.problem.lam, w=row.w)
        assert row.gap is not None and row.objective is not None
        assert row.objective == audit.primal
        assert row.gap == pytest.approx(audit.gap, rel=1e-6)
        assert row.gap >= row.objective - row.upper


def small_problem(optimum: tuple[float, float]) -> ReferenceProblem:
    X, y = np.array([[1.0], [0.0]]), np.array([1, 0])
    return ReferenceProblem("one", "one", "", X, y, None, 1e-8, {"hinge": optimum}, {})


def test_below_1e6_the_optimum_is_no_scale_and_below_a_bound_is_our_defect() -> None:
    problem = small_problem((5e-9, 5e-9))  # w = 1
    for w, verdict in ((1.0, "pass"), (1 - 9e-5, "pass"), (1 - 1.1e-4, "fail")):
        answer = {"kind": "w", "w": [w], "seconds": 0.0}
        assert judged(problem, "hinge", 1e-3, answer).verdict == verdict
    with pytest.raises(CertificateError):
        judged(small_problem((0.5, 0.5)), "hinge", 1e-3, {"kind": "w", "w": [1.0], "seconds": 0.0})


@each(
    ("change", "words"),
    [
        ({"tol": 0.0}, "tol must be > 0"),
        ({"max_time": -1.0}, "max_time must be > 0"),
        ({"loss": "logistic"}, "loss must be one of"),
        ({"seed": -1}, "seed must be"),
        ({"only": "overlapping"}, "no reference problem"),
        ({"fit": 3}, "fit must be a function"),
        ({"fit": "no_such_module:fit"}, "cannot import no_such_module"),
        ({"fit": "json:no_such_function"}, "json has no no_such_function"),
    ],
)
def test_bad_arguments_are_refused_in_one_sentence(change, words) -> None:
    arguments = {"fit": exact, "only": "ties"} | change
    with pytest.raises(InputError, match=words):
        check_solver(arguments.pop("fit"), **arguments)
