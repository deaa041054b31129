"""The error budget of a fitted model: what its approximations cost, one by one.

Between the model f and the optimum f^ of the full problem lie the optimum f~_B of the problem that
f was fitted to (drawn pairs, approximate kernel) and f^_P (all pairs, approximate kernel). With F
the full objective, lam/2 |f|^2 + mean loss over all pairs,

    F(f) - F(f^)  =  F(f) - F(f~_B)   +  F(f~_B) - F(f^_P)   +  F(f^_P) - F(f^),
                     optimisation        pair sampling          kernel approximation

each optimum solved with proof. The last two are >= 0; stopping early can help, so the first can be
negative. Beside the terms stands what Theorem 4' (I), which bounds F(f~) - p*, allows them; and
what a finite test set leaves open. [ScalingUp, Theorem 4; Section 3.2]
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...exact.api.solve import choose_solver
from ...exact.certificate.solution import Solution, Status
from ...exact.errors import InputError
from ...exact.formulation.formulation import formulate
from ...exact.formulation.request import Request
from ...exact.losses.registry import HINGE
from ...exact.pairs.all_pairs import AllPairs
from ...exact.problem.problem import Problem, Ridge, pair_problem, split_labels
from ...exact.spaces.factor import DENSE_LIMIT
from ...exact.spaces.gram import Gram
from ...exact.spaces.kernels import Linear
from ...exact.spaces.rows import Rows
from ...exact.tools.checks import check_number
from ..bounds.kernel import Approximation
from ..bounds.prime import Projected, theorem4_prime
from ..bounds.printed import Bound
from .fitted import FittedModel, read_model
from .rows import BOUND_TERMS, KERNEL, OPTIMISATION, SAMPLING, ErrorBudget, FiniteTest, Term
from .sampling_error import PairMean, loss_mean, order_mean


def error_budget(
    model: object,
    X: object,
    y: object,
    X_test: object = None,
    y_test: object = None,
    *,
    tol: float = 1e-9,
    delta: float = 0.05,
    max_time: float | None = None,
) -> ErrorBudget:
    """Return what each approximation behind a fitted model costs, beside Theorem 4'.

    Parameters
    ----------
    model : estimator
        `RankSVM`, `NBAUC`, `NSAUC`, `IncompleteROCSVM` and their like, alone or in a pipeline
        behind scalers and `Nystrom`. `IncompleteROCSVM` needs a number as `random_state`.
    X, y : array (n, d), array (n,)
        The rows that it was fitted to, all with the same weight; a few thousand at most where
        there is a kernel.
    X_test, y_test : arrays, optional
        Other rows; without them the budget has no test part.
    tol : float
        Relative gap to which the optima between are solved.
    delta : float in (0, 1)
        The bound fails with this probability, over the draw of the pairs.
    max_time : float, optional
        Seconds for each of the optima.

    Returns
    -------
    ErrorBudget

    Raises
    ------
    InputError
        If the model cannot be read, the rows are not those of its fit or are too many for its
        kernel, or the fit had row weights or a structure.
    RuntimeError
        If an optimum is not certified to `tol`: no term would be known.
    """
    check_number("tol", tol)
    check_number("delta", delta, 0.0, 1.0)
    positive, _, _ = split_labels(y)
    fitted = read_model(model, positive)
    solver = _Solver(tol, max_time)
    rows = Rows(fitted.features(X))
    if rows.dim != fitted.w.size or rows.n != positive.size:
        raise InputError(f"the model has {fitted.w.size} weights, the rows {rows.dim} features")
    full = pair_problem(rows, positive, AllPairs(), fitted.loss, Ridge(fitted.lam))
    fitted.check_objective(full.objective(fitted.w))
    f_P = solver(full)
    own, f_B = full, f_P
    if fitted.pairs is not None:
        own = full.with_pairs(fitted.pairs)
        f_B = solver(own)
    truth = _true_optimum(fitted, X, full, solver)
    values = [full.objective(w) for w in (fitted.w, f_B.w, f_P.w)]
    best = f_P if truth is None else truth.solution
    values.append(values[2] if truth is None else best.certificate.primal)
    bound = _bound(fitted, truth, full, f_P, delta)
    tested = None
    if X_test is not None:
        tested = _tested(fitted, truth, X_test, y_test, (fitted.w, f_B.w, f_P.w))
    gaps = [s.certificate.gap for s in (f_B, f_P, best)]
    return ErrorBudget(
        _terms(values, bound, fitted, tested),
        values[0],
        values[3],
        max(gaps),
        max(own.objective(fitted.w) - f_B.certificate.primal, 0.0),
        bound,
        None if tested is None else _finite(tested),
        {"f~_B": f_B, "f^_P": f_P, "f^": best},
    )


@dataclass(frozen=True)
class _Solver:
    tol: float
    max_time: float | None

    def __call__(self, problem: Problem) -> Solution:
        method = "auto"
        return self.checked(choose_solver(problem, method, self.tol, self.max_time).solve(problem))

    def checked(self, solution: Solution) -> Solution:
        if solution.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        if not solution.certificate.reaches(max(self.tol, 1e-6)):
            raise RuntimeError(f"an optimum is not certified: {solution.status.advice}")
        return solution


@dataclass(frozen=True, eq=False)
class _Truth:
    """The full problem with the kernel itself, solved."""

    gram: Gram
    inputs: Any
    solution: Solution
    evaluate: Any


def _true_optimum(fitted: FittedModel, X: object, full: Problem, solver: _Solver) -> _Truth | None:
    """Return the optimum over the kernel's whole space; None where the features are that space."""
    if fitted.kernel is None:
        return None
    inputs = fitted.inputs(X)
    if full.n > DENSE_LIMIT:
        raise InputError(f"the kernel problem of {full.n} rows is too large: take {DENSE_LIMIT}")
    gram = Gram.of_kernel(fitted.kernel, inputs)
    labels = full.pairs.positive.astype(int)
    task = formulate(gram.K, labels, Request.of(fitted.lam, fitted.loss, kernel="precomputed"))
    # Its values as stored serve the solver; judged is what the formula gives at the rows.
    task = replace(task, meant=task.meant.over(gram))
    solution = choose_solver(task.work, "auto", solver.tol, solver.max_time).solve(task.work)
    assert isinstance(task.meant.space, Gram)
    judged = solver.checked(task.judge(solution, solver.tol))
    return _Truth(task.meant.space, inputs, judged, task.evaluate)


def _bound(
    fitted: FittedModel, truth: _Truth | None, full: Problem, f_P: Solution, delta: float
) -> Bound | None:
    """Return Theorem 4', a posteriori, where it applies."""
    if fitted.loss != HINGE or full.n > DENSE_LIMIT or not fitted.replaced:
        return None
    rows = full.space
    assert isinstance(rows, Rows)
    features = rows.dense()
    gram = Gram.of_kernel(Linear(), features) if truth is None else truth.gram
    approximation = Approximation(gram, features, full.pairs.positive)
    projected = Projected(f_P.witness.c, f_P.certificate.gap)
    if fitted.pairs is None:
        return theorem4_prime(approximation, fitted.lam, part="A", projected=projected)
    return theorem4_prime(
        approximation,
        fitted.lam,
        fitted.pairs.on(full.pairs.positive).count(),
        part="I",
        delta=delta,
        projected=projected,
        eps=fitted.stopped_at or 0.0,
    )


Tested = list[tuple[PairMean, PairMean]]  # AUC and mean loss of f, f~_B, f^_P, f^ on the test rows.


def _tested(
    fitted: FittedModel, truth: _Truth | None, X: object, y: object, weights: tuple
) -> Tested:
    if y is None:
        raise InputError("test rows need their labels, y_test")
    positive, _, _ = split_labels(y)
    features = fitted.features(X)
    scores = [np.asarray(features @ w).ravel() for w in weights]
    if truth is None:
        scores.append(scores[-1])
    else:
        assert fitted.kernel is not None
        K = fitted.kernel(fitted.inputs(X), truth.inputs)
        scores.append(truth.evaluate(truth.solution.w, K))
    return [(order_mean(s, positive), loss_mean(s, positive, fitted.loss)) for s in scores]


def _finite(tested: Tested) -> FiniteTest:
    auc, loss = tested[0]
    lost = tested[-1][0] - auc
    return FiniteTest(auc.value, auc.error, loss.value, loss.error, lost.value, lost.error)


def _terms(
    values: list[float], bound: Bound | None, fitted: FittedModel, tested: Tested | None
) -> tuple[Term, ...]:
    terms = []
    for k, name in enumerate((OPTIMISATION, SAMPLING, KERNEL)):
        allowed = None if bound is None else bound.terms.get(BOUND_TERMS[name])
        if name == OPTIMISATION and (fitted.stopped_at is None or fitted.pairs is None):
            allowed = None  # the theorem asks for an eps that was fixed before the draw
        if name == KERNEL and fitted.kernel is None:
            allowed = None
        lost = None if tested is None else tested[k + 1][0] - tested[k][0]
        terms.append(
            Term(
                name,
                values[k] - values[k + 1],
                allowed,
                None if lost is None else lost.value,
                None if lost is None else lost.error,
            )
        )
    return tuple(terms)
