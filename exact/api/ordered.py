"""Linear problems over ordered pairs: ranking by query and survival."""

from __future__ import annotations

import numpy as np

from ..errors import InputError
from ..losses.loss import Loss
from ..losses.registry import get_loss
from ..pairs.ordered.kinds import query_pairs, survival_pairs
from ..pairs.ordered.ordered_pairs import OrderedPairs
from ..problem.penalties import Ridge
from ..problem.problem import Problem
from ..problem.risk import Mean
from ..spaces.incoming import check_matrix
from ..spaces.rows import Rows
from ..tools.checks import as_numbers


def ordered_problem(
    X: object,
    y: object,
    lam: float,
    *,
    loss: str | Loss = "hinge",
    qid: object = None,
    time: object = None,
    event: object = None,
) -> Problem:
    """Return the linear problem over the ordered pairs of these rows.

    Parameters
    ----------
    X : array or sparse matrix (n, d)
    y : array (n,) or None
        Grades, larger is better, for ranking by query; None for survival.
    lam : float
        > 0.
    loss : str or Loss
    qid : array (n,), optional
        The query of each row: rows above rows of the same query and a smaller grade.
    time, event : arrays (n,), optional
        Times, and whether the event was seen (all were where `event` is None): earlier deaths
        above later ones.

    Raises
    ------
    InputError
        If neither or both of `qid` and `time` are given, or the input cannot be used.
    """
    pairs, rows = ordered_pairs_of(y, qid, time, event), check_matrix(X)
    if rows.shape[0] != pairs.n:
        raise InputError(f"X has {rows.shape[0]} rows, but the pairs are of {pairs.n}")
    return Problem(Rows(rows), Mean(pairs, get_loss(loss)), Ridge(lam))


def ordered_pairs_of(y: object, qid: object, time: object, event: object) -> OrderedPairs:
    """Return the pairs by query or of survival; arguments as in `ordered_problem`."""
    if time is None:
        if event is not None:
            raise InputError("event goes with time: give both")
        if qid is None:
            raise InputError("give qid with grades y, or time and event")
        if y is None:
            raise InputError("ranking by query needs y, the grades")
        return query_pairs(qid, y)
    if qid is not None or y is not None:
        raise InputError("survival takes time and event: leave y and qid None")
    times = as_numbers("time", time)
    return survival_pairs(times, np.ones(times.shape) if event is None else event)
