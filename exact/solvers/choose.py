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
from ..losses.loss import kinked
from ..losses.registry import Hinge, Square
from ..pairs.all_pairs import AllPairs, PairList
from ..pairs.ordered.ordered_pairs import OrderedPairs
from ..problem.penalties.ridge import Ridge
from ..problem.problem import Problem
from ..problem.risk import Mean
from ..problem.tail import Tail
from ..spaces.blocks import StreamedRows
from ..spaces.gram import Gram, StreamedGram
from ..spaces.partitions import PartitionedRows
from ..spaces.rows import Rows
from .closed_form import SquaredLossSolver
from .cutting_plane import CuttingPlane
from .descent import Descent
from .general.proximal import Proximal

NOW = "descent"
# Methods of version 0.2, and the name that says today what each did.
OLD = {"newton": NOW, "quasi-newton": NOW, "pair-newton": NOW, "tail-newton": NOW}


class Solver(Protocol):
    """Parameters and no data; see `certificate.solver` for the skeleton of ours."""

    def solve(
        self, problem: Problem, w0: np.ndarray | None = None, callback: Callback | None = None
    ) -> Solution:
        """Return the solution of `problem`."""
        ...


@dataclass(frozen=True)
class Method:
    """An entry of the list of methods."""

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


def _descends(problem: Problem) -> bool:
    """Return whether `auto` descends: a mean or a tail with the ridge, but for kinks of one's
    own."""
    if isinstance(problem.space, PartitionedRows):
        return True
    if isinstance(problem.risk, Tail):
        return isinstance(problem.penalty, Ridge) and isinstance(problem.space, Rows)
    ours = isinstance(problem.risk, Mean) and isinstance(problem.penalty, Ridge)
    if not ours or not isinstance(problem.space, Rows | StreamedRows | Gram | StreamedGram):
        return False
    return isinstance(problem.loss, Hinge) or not kinked(problem.loss)


def _qp(problem: Problem, tol: float, max_time: float | None) -> Solver:
    from .qp import QP

    return QP("teaching", "OSQP", finish=True, tol=tol, max_time=max_time)


def _lifted(problem: Problem, tol: float, max_time: float | None) -> Solver:
    from .qp import QP

    return QP("lifted", "CLARABEL", finish=True, tol=tol, max_time=max_time)


METHODS: dict[str, Method] = {
    "closed-form": Method(
        lambda problem, tol, max_time: SquaredLossSolver(tol),
        lambda problem: (
            ridge_mean(problem, Square) and not isinstance(problem.space, PartitionedRows)
        ),
    ),
    "cutting-plane": Method(
        lambda problem, tol, max_time: CuttingPlane(tol, max_time=max_time),
        lambda problem: False,
    ),
    "descent": Method(lambda problem, tol, max_time: Descent(tol, max_time=max_time), _descends),
    "qp": Method(_qp, lambda problem: False),
    "lifted": Method(_lifted, lambda problem: False),
    "proximal": Method(
        lambda problem, tol, max_time: Proximal(tol, max_time=max_time), lambda problem: True
    ),
}

NAMES = ("auto", *METHODS)  # What a caller may ask for.


WITHOUT_CLASSES = ("auto", "descent", "proximal")  # Methods that ordered pairs have, too.


def choose_solver(problem: Problem, method: str, tol: float, max_time: float | None) -> Solver:
    """Return the solver that `method` names; for "auto" the first that suits the problem."""
    if method in OLD:
        raise InputError(f"method {method!r} is now called {OLD[method]!r}")
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
