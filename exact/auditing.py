"""`certify`: how far is anybody's model from the optimum of the full pairwise problem?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse.linalg

from .certificate import Certificate, Witness, dual_value
from .errors import InputError
from .formulation import Formulation, formulate
from .pairs import AllPairs, PairList, check_scores
from .problem import Problem
from .solving import check_tolerance, choose_solver
from .spaces import Rows

SPAN_TOLERANCE = 1e-8
"""Largest residual, relative to the spread of the scores, at which they count as linear."""


@dataclass(frozen=True)
class Audit:
    """What is proved about somebody's model.

    Attributes
    ----------
    loss_value : float
        The mean loss over the pairs, without the penalty.
    primal, gap, relative_gap, radius : float or None
        As in `Certificate`; None where the model has no norm in this space.
    dual : float
        A lower bound of the optimum; valid whatever the model is.
    rounding : float
        A bound of the floating-point error in the gap, or in the lower bound alone.
    residual : float or None
        For scores: how far they are from any linear function, relative to their spread.
    statement : str
        What was certified, in one sentence.
    """

    loss_value: float
    primal: float | None
    dual: float
    gap: float | None
    relative_gap: float | None
    radius: float | None
    rounding: float
    residual: float | None
    statement: str


def certify(
    X: object,
    y: object,
    lam: float,
    *,
    w: object = None,
    scores: object = None,
    norm2: float | None = None,
    kernel: str = "linear",
    gamma: float | None = None,
    structure: float = 0.0,
    loss: str = "hinge",
    pairs: AllPairs | PairList | None = None,
    positive: object = None,
    sample_weight: np.ndarray | None = None,
    refine: bool = True,
    tol: float = 1e-9,
    max_time: float | None = None,
) -> Audit:
    """Certify weights or scores that came from anywhere.

    Parameters
    ----------
    X, y, lam, kernel, gamma, structure, loss, pairs, positive, sample_weight
        The problem, as in `solve`.
    w : array (d,) or (d + 1,), optional
        Weights; a last extra one is an intercept and does not matter to pairs. For kernels the
        coefficients (n,) of k(., x_i).
    scores : array (n,), optional
        f(x_i), up to one common constant, instead of weights.
    norm2 : float, optional
        |f|^2, for scores; taken on your word, but refused where it is impossible.
    refine : bool
        Solve the problem for the best lower bound, so that the gap is the true distance to
        `tol`; otherwise take the dual point of the scores themselves, which is cheap and looser.
    tol : float
        Relative accuracy of the lower bound.
    max_time : float, optional
        Seconds for the lower bound.

    Returns
    -------
    Audit

    Raises
    ------
    InputError
        If the input cannot be used, or not exactly one of `w` and `scores` is given.
    """
    check_tolerance(tol, max_time)
    if (w is None) == (scores is None):
        raise InputError("give either weights (w) or scores, one of the two")
    if norm2 is not None and (scores is None or not (np.isfinite(norm2) and norm2 >= 0)):
        raise InputError("norm2 goes with scores, and must be finite and >= 0")
    if sample_weight is not None:
        if pairs is not None:
            raise InputError("give row weights in `pairs` or as `sample_weight`, not both")
        pairs = AllPairs(sample_weight)
    task = formulate(X, y, lam, loss, pairs, positive, kernel, gamma, structure)
    problem = task.meant
    if scores is None:
        weights = _weights(problem, w)
        values, residual = problem.space.scores(weights), None
    else:
        values = np.asarray(scores, dtype=float)
        check_scores(values, problem.positive)
        fitted, residual = linear_fit(task, values)
        weights = task.lift(fitted)
    witness = best_witness(task, values, refine, tol, max_time)
    if residual is not None and residual > SPAN_TOLERANCE:
        return _outside(problem, values, witness, residual)
    return _inside(problem, weights, witness, norm2, residual)


def best_witness(
    task: Formulation,
    scores: np.ndarray,
    refine: bool = True,
    tol: float = 1e-9,
    max_time: float | None = None,
) -> Witness:
    """Return the better of the dual point of `scores` and, if refined, the solver's."""
    problem = task.meant
    own = Witness.from_scores(problem, scores)
    if not refine:
        return own
    solution = choose_solver(task.work, "auto", tol, max_time).solve(task.work)
    return max(own, solution.witness, key=lambda witness: dual_value(problem, witness)[0])


def linear_fit(task: Formulation, scores: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the least-norm coordinates of `task.work` whose scores come nearest, and the residual.

    The structure depends on the scores alone, so the least norm is least in its norm too. The
    residual is the largest difference, after a common constant, over the largest deviation of
    the scores from their mean.
    """
    space = task.work.space
    assert isinstance(space, Rows)
    wanted = scores - scores.mean()
    spread = float(np.abs(wanted).max())
    if spread == 0.0:
        return np.zeros(space.dim), 0.0
    if isinstance(space.X, np.ndarray):
        w = np.linalg.lstsq(space.X, wanted, rcond=None)[0]
    else:
        centred = scipy.sparse.linalg.LinearOperator(
            (space.n, space.dim),
            matvec=lambda v: space.scores(np.ravel(v)),
            rmatvec=lambda c: space.pull(np.ravel(c)),
        )
        w = scipy.sparse.linalg.lsqr(centred, wanted, atol=1e-15, btol=1e-15, iter_lim=5000)[0]
    reached = space.scores(w)
    difference = (reached - reached.mean()) - wanted
    return w, float(np.abs(difference).max()) / spread


def _weights(problem: Problem, w: object) -> np.ndarray:
    try:
        vector = np.ravel(np.asarray(w, dtype=float))
    except (TypeError, ValueError):
        raise InputError("the weights must be numbers") from None
    if vector.size == problem.space.dim + 1:
        vector = vector[:-1]
    return problem.check_weights(vector)


def _outside(problem: Problem, scores: np.ndarray, witness: Witness, residual: float) -> Audit:
    """Return the audit of scores that no linear function has."""
    value = problem.sums(scores).value
    dual, rounding = dual_value(problem, witness.renewed(problem))
    if dual - rounding < 0:
        dual, rounding = 0.0, 0.0
    statement = (
        f"Not in this model class: no gap. No function of it comes nearer to the scores than "
        f"{residual:.2g} of their spread, so they have no norm here; the optimum is at "
        f"least {dual:.10g}, and the scores' own mean loss is {value:.10g}."
    )
    return Audit(value, None, dual, None, None, None, rounding, residual, statement)


def _inside(
    problem: Problem,
    w: np.ndarray,
    witness: Witness,
    norm2: float | None,
    residual: float | None,
) -> Audit:
    """Return the audit of a linear function, with its own norm or one given."""
    space, lam = problem.space, problem.lam
    value = problem.sums(space.scores(w)).value
    certificate = Certificate.of(problem, w, witness)
    least = space.norm2(w)
    if norm2 is not None:
        if norm2 < least * (1 - 1e-6):
            raise InputError(
                f"norm2 = {norm2:g} is impossible: the least |f|^2 with these scores is {least:g}"
            )
        extra = max(norm2 - least, 0.0) * lam / 2
        certificate = Certificate.from_bounds(
            certificate.primal + extra, certificate.dual, certificate.rounding, lam
        )
    what = "weights" if residual is None else "scores"
    relative = certificate.relative_gap
    share = "" if relative is None else f" ({relative:.3g} of it)"
    statement = (
        f"The {what} have objective {certificate.primal:.10g} over {problem.n_pairs} pairs, and "
        f"no weights have less than {certificate.dual:.10g}: they are at most "
        f"{certificate.gap:.3g}{share} from the optimum."
    )
    return Audit(
        value,
        certificate.primal,
        certificate.dual,
        certificate.gap,
        relative,
        certificate.radius,
        certificate.rounding,
        residual,
        statement,
    )
