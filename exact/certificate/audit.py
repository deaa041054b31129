"""What is proved about a user's model: the numbers, and one sentence."""

from __future__ import annotations

from dataclasses import astuple, dataclass

import numpy as np

from ..errors import Advised
from ..pairs.ordered_pairs import OrderedPairs
from ..pairs.partitioned_pairs import PartitionedOrder
from ..problem.problem import Problem
from ..problem.risk import Minorant
from ..problem.tail import Tail, Worst
from ..tools.rounding import above, at_least, at_most
from .certificate import Certificate
from .order import CertifiedOrder, certified_order


class AuditStatus(Advised):
    CERTIFIED = "certified", "The model is optimal to the tolerance: the relative gap is within it."
    ABOVE_TOLERANCE = (
        "above_tolerance",
        "The gap is valid, and relative to the objective it is above the tolerance: the model is "
        "not shown to be optimal.",
    )
    NO_GAP = (
        "no_gap",
        "There is a lower bound of the optimum, and no objective of the model to compare with it.",
    )


@dataclass(frozen=True)
class Rival:
    """The convention in whose units a model is judged."""

    name: str
    C: float
    scale: float


@dataclass(frozen=True, kw_only=True, repr=False)
class Audit:
    """What is proved about somebody's model.

    Weights define one model. Scores belong to many: the functions meant are all those of least norm
    for their own scores whose scores differ from the given ones, but for one common constant, by at
    most the number that `statement` names; or, where a norm was given, those of that norm.

    Attributes
    ----------
    lam, loss : float, str, of the problem that it was judged by
    loss_value : float, the mean loss over the pairs, to within `rounding`; of scores as given
    primal, gap, relative_gap, radius : float or None
        As in `Certificate`, for every function meant. None where the model has no norm in this
        space, or the norm cannot be distinguished from the scores.
    dual : float, a lower bound of the optimum, valid for any model
    rounding : float
        How much of the gap, or of the lower bound alone, may be floating point, bins, and all
        that separates the scores from those of the functions meant. It is in the bounds already.
    residual : float or None
        For scores: the root mean square of what least squares in this space leave of them, over
        their standard deviation. Between 0 and 1.
    n_pairs : int, the pairs of positive weight, each counted once; so are those below
    n_sure_right, n_sure_wrong : int or None
        Pairs that the optimum is sure to order as the model does: with the positive row above
        the negative one, and below it.
    rival_primal, rival_gap : float or None, in the units of the rival's own objective, rounded up
    statement : str, what was certified; bounds are rounded to the side on which they hold
    status : AuditStatus
        "certified" where the relative gap is within the tolerance, else "above_tolerance"; "no_gap"
        without a primal.
    """

    lam: float
    loss: str
    loss_value: float
    primal: float | None = None
    dual: float
    gap: float | None = None
    relative_gap: float | None = None
    radius: float | None = None
    rounding: float
    residual: float | None
    n_pairs: int
    n_sure_right: int | None = None
    n_sure_wrong: int | None = None
    rival_primal: float | None = None
    rival_gap: float | None = None
    statement: str
    status: AuditStatus

    def __repr__(self) -> str:
        return f"Audit({self.status}: {self.statement})"


def audit_weights(
    problem: Problem, w: np.ndarray, witness: Minorant, tol: float, rival: Rival | None = None
) -> Audit:
    certificate, risk = Certificate.of(problem, w, witness), problem.risk
    parts, meant, radius = [problem], "", certificate.radius
    if isinstance(risk, Tail | Worst):
        meant = f" The objective is that of {risk!r}."
        # The order of all pairs follows from the radius alone.
        means = (risk.mean,) if isinstance(risk, Tail) else risk.means
        parts = [Problem(problem.space, mean, problem.penalty) for mean in means]
    counts = [
        (part.n_pairs, 0, 0) if radius is None else astuple(certified_order(part, w, radius))
        for part in parts
    ]
    if problem.space.in_blocks:  # the objective says it without another pass
        value = max(certificate.primal - problem.lam / 2 * problem.space.norm2(w), 0.0)
    else:
        value = problem.sums(problem.space.scores(w)).value
    order = CertifiedOrder(*map(sum, zip(*counts, strict=True)))
    return audit_of(parts[0], certificate, value, order, tol, rival, meant=meant)


def audit_of(
    problem: Problem, held: Certificate, loss_value: float, order: CertifiedOrder, tol: float,
    rival: Rival | None = None, residual: float | None = None, meant: str = "",
) -> Audit:  # fmt: skip
    """Return the audit of a certificate and a count of pairs; words are rounded outward."""
    ordered = isinstance(problem.pairs, OrderedPairs | PartitionedOrder)
    upper, share, units = "upper" if ordered else "positive", "", ""
    if held.relative_gap is not None:
        share = f" ({at_most(min(above(100 * held.relative_gap), 100.0))} % of the objective)"
    if rival is not None:
        own = at_most(above(held.primal * rival.scale), 10)
        units = f" ({own} in the units of {rival.name} at C = {rival.C:g})"
    what, others = "weights", "weights have"
    if residual is not None:
        what, others = "scores", "function of this class has"
    sure = "is too large to prove how the optimum orders any pair"
    if order.n_certified:
        sure = (
            f"proves that the optimum orders {order.n_certified} of the pairs as they do: "
            f"{order.n_sure_right} with the {upper} row above and {order.n_sure_wrong} with it "
            "below"
        )
    names = ("primal", "dual", "gap", "relative_gap", "radius", "rounding")
    return Audit(
        lam=problem.penalty.l2,
        loss=problem.loss.name,
        **{name: getattr(held, name) for name in names},
        **vars(order),
        loss_value=loss_value,
        residual=residual,
        rival_primal=None if rival is None else above(held.primal * rival.scale),
        rival_gap=None if rival is None else above(held.gap * rival.scale),
        statement=f"The {what} have an objective of at most {at_most(held.primal, 10)}{units} over "
        f"{order.n_pairs} pairs, and no {others} one below {at_least(held.dual)}. The gap, at most "
        f"{at_most(held.gap)}{share}, {sure}.{meant}",
        status=AuditStatus.CERTIFIED if held.reaches(tol) else AuditStatus.ABOVE_TOLERANCE,
    )
