"""The one list of methods, and which of them suits a problem.

A method is one file and one entry here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..certificate.solution import Callback, Solution
from ..errors import InputError
from ..losses.hinge import Hinge
from ..losses.square import Square
from ..losses.squared_hinge import SquaredHinge
from ..pairs.all_pairs import AllPairs, PairList
from ..pairs.ordered.ordered_pairs import OrderedPairs
from ..problem.penalties.ridge import Ridge
from ..problem.problem import Problem
from ..problem.risk import Mean
from ..problem.tail import Tail
from ..spaces.gram import Gram, StreamedGram
from ..spaces.partitions.grouped.grouped_rows import GroupedRows
from ..spaces.partitions.partitioned_rows import PartitionedRows
from ..spaces.rows import Rows
from ..spaces.streamed import StreamedRows
from .closed_form import SquaredLossSolver
from .cutting_plane import CuttingPlane
from .general.grouped_newton import GroupedNewton
from .general.pair_newton import LARGEST_DIM, PairNewton
from .general.partitioned_newton import PartitionedNewton
from .general.proximal import Proximal
from .newton import Newton
from .partial.tail_newton import LARGEST_DIMENSION, TailNewton
from .streamed_newton import StreamedNewton

MANY_COORDINATES = 100
"""Dimension from which `auto` forms no Hessian: drawing one takes forty pairs a coordinate, so its
cost grows as dim^3, and that of a quasi-Newton step as n dim. Measured in `docs/benchmarks.md`."""

MOST_NUMBERS = 10_000_000
"""From this many numbers in dense rows on, `auto` forms a Hessian all the same while dim is below
`LARGEST_HESSIAN`: a Hessian drawn from a part of the rows saves passes over all of them."""

ROWS_A_COORDINATE = 20
"""From this many rows a coordinate on, the sums over their pairs are so smooth that no Hessian is
needed."""

WIDE = 100
"""Problems are wide where dim^2 is more than this many times the number of rows."""

LARGEST_HESSIAN = 500
"""From this dimension on a Hessian is dear, however many rows there are."""


class Solver(Protocol):
    """Parameters and no data; see `certificate.solver` for the skeleton of ours."""

    def solve(
        self, problem: Problem, w0: np.ndarray | None = None, callback: Callback | None = None
    ) -> Solution:
        """Return the solution of `problem`."""
        ...


@dataclass(frozen=True)
class Method:
    """An entry of the list of methods.

    Attributes
    ----------
    make : callable
        Takes the problem, tol and max_time, and returns the solver. The solver itself refuses
        problems that it cannot solve.
    suits : callable
        Whether `auto` takes the method for a problem; the first entry that suits is taken.
    """

    make: Callable[[Problem, float, float | None], Solver]
    suits: Callable[[Problem], bool]


def ridge_mean(problem: Problem, *losses: type) -> bool:
    """Return whether the problem is that of the specialists: a ridge, listed or all pairs."""
    risk = problem.risk
    return (
        isinstance(problem.penalty, Ridge)
        and isinstance(risk, Mean)
        and isinstance(risk.pairs, AllPairs | PairList)
        and isinstance(risk.loss, losses)
    )


def in_partitions(problem: Problem) -> bool:
    """Return whether the rows are in partitions: then Newton's methods alone evaluate it."""
    return isinstance(problem.space, PartitionedRows)


def can_draw_pairs(problem: Problem) -> bool:
    """Return whether Newton steps with drawn pairs suit: ordered pairs, say, with the ridge."""
    held = isinstance(problem.space, Rows) and problem.space.dim <= LARGEST_DIM
    drawn = isinstance(problem.risk, Mean) and hasattr(problem.pairs, "draw")
    return held and drawn and isinstance(problem.penalty, Ridge)


def has_many_coordinates(problem: Problem) -> bool:
    """Return whether a quasi-Newton method is likely faster than one with Hessians."""
    space = problem.space
    if isinstance(space, Gram | StreamedGram):
        return True
    if not isinstance(space, Rows) or space.dim < MANY_COORDINATES:
        return False
    if space.dim >= LARGEST_HESSIAN:
        return True
    smooth = space.n >= ROWS_A_COORDINATE * space.dim
    return smooth and (space.is_sparse or space.n * space.dim <= MOST_NUMBERS)


def is_wide(problem: Problem) -> bool:
    """Return whether there are so many coordinates for the rows that cutting planes are quicker.

    With as many coordinates as rows they begin at the hard-margin point, which may be the optimum.
    """
    space = problem.space
    return isinstance(space, Rows) and space.dim**2 > WIDE * space.n


def _newton(problem: Problem, tol: float, max_time: float | None) -> Solver:
    if isinstance(problem.space, GroupedRows):
        return GroupedNewton(tol, max_time=max_time)
    if not (isinstance(problem.risk, Mean) and isinstance(problem.loss, Hinge)):
        if isinstance(problem.space, StreamedRows):
            return StreamedNewton(tol, max_time=max_time)
        if isinstance(problem.space, PartitionedRows):
            return PartitionedNewton(tol, max_time=max_time)
        return Newton(tol, max_time=max_time)
    from .smoothed_newton import SmoothedNewton

    return SmoothedNewton(tol, max_time=max_time)


def _quasi_newton(problem: Problem, tol: float, max_time: float | None) -> Solver:
    from .smoothing.quasi_newton import QuasiNewton

    return QuasiNewton(tol, max_time=max_time)


def _has_tail(problem: Problem) -> bool:
    """Return whether the problem is partial AUC with the ridge over rows, of few coordinates."""
    space = problem.space
    ours = isinstance(problem.risk, Tail) and isinstance(problem.penalty, Ridge)
    return ours and isinstance(space, Rows) and space.dim <= LARGEST_DIMENSION


def _qp(problem: Problem, tol: float, max_time: float | None) -> Solver:
    from .qp import QP

    return QP("teaching", "cvxpy", "OSQP", finish=True, tol=tol, max_time=max_time)


def _lifted(problem: Problem, tol: float, max_time: float | None) -> Solver:
    from .qp import QP

    return QP("lifted", "direct", "CLARABEL", finish=True, tol=tol, max_time=max_time)


METHODS: dict[str, Method] = {
    "closed-form": Method(
        lambda problem, tol, max_time: SquaredLossSolver(tol),
        lambda problem: ridge_mean(problem, Square) and not in_partitions(problem),
    ),
    "quasi-newton": Method(
        _quasi_newton, lambda problem: ridge_mean(problem, Hinge) and has_many_coordinates(problem)
    ),
    "cutting-plane": Method(
        lambda problem, tol, max_time: CuttingPlane(tol, max_time=max_time),
        lambda problem: ridge_mean(problem, Hinge) and is_wide(problem),
    ),
    "newton": Method(
        _newton,
        lambda problem: ridge_mean(problem, Hinge, SquaredHinge) or in_partitions(problem),
    ),
    "qp": Method(_qp, lambda problem: False),
    "lifted": Method(_lifted, lambda problem: False),
    "pair-newton": Method(
        lambda problem, tol, max_time: PairNewton(tol, max_time=max_time), can_draw_pairs
    ),
    "tail-newton": Method(
        lambda problem, tol, max_time: TailNewton(tol, max_time=max_time), _has_tail
    ),
    "proximal": Method(
        lambda problem, tol, max_time: Proximal(tol, max_time=max_time), lambda problem: True
    ),
}

NAMES = ("auto", *METHODS)
"""What a caller may ask for."""


WITHOUT_CLASSES = ("auto", "pair-newton", "proximal")
"""Methods that ordered pairs have, too."""


def choose_solver(problem: Problem, method: str, tol: float, max_time: float | None) -> Solver:
    """Return the solver that `method` names; for "auto" the first that suits the problem.

    Raises
    ------
    InputError
        If the method is unknown, or needs two classes where pairs are ordered.
    """
    if method not in NAMES:
        raise InputError(f"unknown method {method!r}: choose one of {', '.join(NAMES)}")
    if method == "auto":
        method = next(name for name, entry in METHODS.items() if entry.suits(problem))
    ordered = isinstance(getattr(problem.risk, "pairs", None), OrderedPairs)
    if ordered and method not in WITHOUT_CLASSES:
        raise InputError(
            f"method {method!r} is for pairs of two classes: for ordered pairs (qid, time) take "
            f"{' or '.join(WITHOUT_CLASSES)}"
        )
    return METHODS[method].make(problem, tol, max_time)
