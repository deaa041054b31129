"""Linear problems over ordered pairs: ranking by query and survival."""

from __future__ import annotations

from ..losses.loss import Loss
from ..losses.registry import get_loss
from ..pairs.ordered.kinds import ordered_pairs_of
from ..problem.penalties.registry import penalty_from
from ..problem.problem import Problem
from ..problem.risk import Mean
from ..spaces.rows import Rows


def ordered_problem(
    X: object,
    y: object,
    lam: float,
    *,
    loss: str | Loss = "hinge",
    qid: object = None,
    time: object = None,
    event: object = None,
    l1: float = 0.0,
    groups: object = None,
    sign: object = None,
) -> Problem:
    """Return the linear problem over the ordered pairs of these rows.

    Parameters
    ----------
    X : array or sparse matrix (n, d)
    y : array (n,) or None
        Grades, larger is better, for ranking by query; None for survival.
    lam : float
        > 0; 0 is allowed where l1 > 0.
    loss : str or Loss
    qid : array (n,), optional
        The query of each row: rows above rows of the same query and a smaller grade.
    time, event : arrays (n,), optional
        Times, and whether the event was seen (all were where `event` is None): earlier deaths
        above later ones.
    l1, groups, sign
        As `penalty_from` takes them.

    Raises
    ------
    InputError
        If neither or both of `qid` and `time` are given, or the input cannot be used.
    """
    pairs = ordered_pairs_of(y, qid, time, event)
    penalty = penalty_from(lam, l1, groups, sign)
    return Problem(Rows(X), Mean(pairs, get_loss(loss)), penalty)
