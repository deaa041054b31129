"""Problems over rows in partitions, from whatever holds them."""

from __future__ import annotations

from ..errors import InputError
from ..pairs.partitioned_pairs import pairs_in
from ..problem.problem import Problem
from ..problem.risk import Mean
from ..spaces.partitions.partitioned_rows import PartitionedRows
from .request import Request


def partitioned_problem(X: object, y: object, request: Request) -> Problem | None:
    """Return the problem over rows in partitions, or None if `X` is anything else.

    Raises
    ------
    InputError
        If the problem is not the hinge over all pairs with the ridge, or labels, weights or a
        positive class are given beside those of the partitions.
    """
    if not isinstance(X, PartitionedRows):
        return None
    if not request.is_linear_hinge:
        raise InputError(
            "rows in partitions are for the linear hinge problem over all pairs with the ridge: "
            "take a sample of the rows for anything else"
        )
    if y is not None or request.positive is not None or request.pairs.weight is not None:
        raise InputError(
            "labels and weights lie with the rows in their partitions: leave y, positive and "
            "sample_weight out"
        )
    return Problem(X, Mean(pairs_in(X.facts), request.loss), request.penalty)
