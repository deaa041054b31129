"""What is proved about somebody's model: the numbers, and one sentence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .certificate import Certificate, dual_value
from .certified_order import CertifiedOrder, certified_order
from .errors import InputError
from .problem import Problem
from .streamed import StreamedRows
from .witness import Witness


@dataclass(frozen=True)
class Rival:
    """Whose units a model is judged in.

    Attributes
    ----------
    name : str
        A convention of `aucert.exact.scalings`.
    C : float
        In its units.
    scale : float
        Its objective is this times ours.
    """

    name: str
    C: float
    scale: float


@dataclass(frozen=True)
class Audit:
    """What is proved about somebody's model.

    Attributes
    ----------
    lam, loss : float, str
        The problem that it was judged by.
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
    n_pairs : int
    n_right, n_wrong : int or None
        Pairs that the optimum is sure to order as the model does: with the positive row above
        the negative one, and below it.
    rival_primal, rival_gap : float or None
        `primal` and `gap` in the units of the rival's own objective.
    statement : str
        What was certified, in one sentence.
    """

    lam: float
    loss: str
    loss_value: float
    primal: float | None
    dual: float
    gap: float | None
    relative_gap: float | None
    radius: float | None
    rounding: float
    residual: float | None
    n_pairs: int
    n_right: int | None
    n_wrong: int | None
    rival_primal: float | None
    rival_gap: float | None
    statement: str


def audit_outside(problem: Problem, scores: np.ndarray, witness: Witness, residual: float) -> Audit:
    """Return the audit of scores that no function of the space has."""
    value = problem.sums(scores).value
    dual, rounding = dual_value(problem, witness.renewed(problem))
    if dual - rounding < 0:
        dual, rounding = 0.0, 0.0
    statement = (
        f"Not in this model class: no gap. No function of it comes nearer to the scores than "
        f"{residual:.2g} of their spread, so they have no norm here; the optimum is at "
        f"least {dual:.10g}, and the scores' own mean loss is {value:.10g}."
    )
    return Audit(
        lam=problem.lam,
        loss=problem.loss.name,
        loss_value=value,
        primal=None,
        dual=dual,
        gap=None,
        relative_gap=None,
        radius=None,
        rounding=rounding,
        residual=residual,
        n_pairs=problem.n_pairs,
        n_right=None,
        n_wrong=None,
        rival_primal=None,
        rival_gap=None,
        statement=statement,
    )


def audit_inside(
    problem: Problem,
    w: np.ndarray,
    witness: Witness,
    norm2: float | None = None,
    residual: float | None = None,
    rival: Rival | None = None,
    slip: float = 0.0,
) -> Audit:
    """Return the audit of a function of the space, with its own norm or one given.

    `slip` bounds how far the scores that were given are from those of `w`.
    """
    certificate = _with_norm(problem, w, Certificate.of(problem, w, witness), norm2)
    order = certified_order(problem, w, certificate.radius, slip)
    relative = certificate.relative_gap
    share = "" if relative is None else f" ({100 * relative:.3g} % of the objective)"
    units = ""
    if rival is not None:
        units = (
            f" ({certificate.primal * rival.scale:.10g} in the units of {rival.name} at "
            f"C = {rival.C:g})"
        )
    statement = (
        f"The {'weights' if residual is None else 'scores'} have objective "
        f"{certificate.primal:.10g}{units} over {problem.n_pairs} pairs, and no weights have less "
        f"than {certificate.dual:.10g}: they are at most {certificate.gap:.3g}{share} above the "
        f"optimum, which {_order_in_words(order)}."
    )
    return Audit(
        lam=problem.lam,
        loss=problem.loss.name,
        loss_value=_mean_loss(problem, w, certificate),
        primal=certificate.primal,
        dual=certificate.dual,
        gap=certificate.gap,
        relative_gap=relative,
        radius=certificate.radius,
        rounding=certificate.rounding,
        residual=residual,
        n_pairs=order.n_pairs,
        n_right=order.n_right,
        n_wrong=order.n_wrong,
        rival_primal=None if rival is None else certificate.primal * rival.scale,
        rival_gap=None if rival is None else certificate.gap * rival.scale,
        statement=statement,
    )


def _order_in_words(order: CertifiedOrder) -> str:
    """Return what the optimum is sure to do with the pairs, for "the optimum, which …"."""
    if not order.n_certified:
        return "is too far away for the order of any pair to be certain"
    return (
        f"is sure to order {order.n_certified} of the pairs as they do, {order.n_right} with the "
        f"positive row above and {order.n_wrong} with it below"
    )


def _mean_loss(problem: Problem, w: np.ndarray, certificate: Certificate) -> float:
    """Return the mean loss over the pairs, from the objective where rows are read in blocks."""
    if isinstance(problem.space, StreamedRows):
        return max(certificate.primal - problem.lam / 2 * problem.space.norm2(w), 0.0)
    return problem.sums(problem.space.scores(w)).value


def _with_norm(
    problem: Problem, w: np.ndarray, certificate: Certificate, norm2: float | None
) -> Certificate:
    """Return the certificate with a norm that somebody gives for the scores of `w`."""
    if norm2 is None:
        return certificate
    least = problem.space.norm2(w)
    if norm2 < least * (1 - 1e-6):
        raise InputError(
            f"norm2 = {norm2:g} is impossible: the least |f|^2 with these scores is {least:g}"
        )
    extra = max(norm2 - least, 0.0) * problem.lam / 2
    return Certificate.from_bounds(
        certificate.primal + extra, certificate.dual, certificate.rounding, problem.lam
    )
