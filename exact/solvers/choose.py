"""The one list of methods, and which of them suits a problem."""

from __future__ import annotations

from collections.abc import Callable

from ..certificate.solution import Solver
from ..errors import InputError
from ..losses.registry import Hinge, Square, kinked
from ..pairs.all_pairs import AllPairs, PairList
from ..pairs.ordered_pairs import OrderedPairs
from ..problem.penalties import Ridge
from ..problem.problem import Problem
from ..problem.risk import Mean
from ..problem.tail import Tail
from ..tools.arrays import check_choice
from .closed_form import SquaredLossSolver
from .cutting_plane import CuttingPlane
from .descent import Descent
from .proximal import Proximal
from .qp import QP

# Methods of version 0.2, and what they are called today.
OLD = dict.fromkeys(("newton", "quasi-newton", "pair-newton", "tail-newton"), "descent")

METHODS: dict[str, Callable[[float, float | None], Solver]] = {  # from tolerance and seconds
    "closed-form": lambda tol, seconds: SquaredLossSolver(tol),
    "cutting-plane": lambda tol, seconds: CuttingPlane(tol, max_time=seconds),
    "descent": lambda tol, seconds: Descent(tol, max_time=seconds),
    "qp": lambda tol, seconds: QP("teaching", "OSQP", True, tol, max_time=seconds),
    "lifted": lambda tol, seconds: QP("lifted", "CLARABEL", True, tol, max_time=seconds),
    "proximal": lambda tol, seconds: Proximal(tol, max_time=seconds),
}
NAMES = ("auto", *METHODS)  # what a caller may ask for
WITHOUT_CLASSES = ("auto", "descent", "proximal")  # methods that ordered pairs have, too


def check_method(method: object) -> None:
    if isinstance(method, str) and method in OLD:
        raise InputError(f"method {method!r} is now called {OLD[method]!r}")
    check_choice("method", method, NAMES)


def suited(problem: Problem) -> str:
    risk, space = problem.risk, problem.space
    if space.apart is not None:
        return "descent"
    if not isinstance(problem.penalty, Ridge):
        return "proximal"
    if isinstance(risk, Tail):
        return "descent" if space.held is not None else "proximal"
    if not isinstance(risk, Mean):
        return "proximal"
    if isinstance(risk.loss, Square) and isinstance(risk.pairs, AllPairs | PairList):
        return "closed-form"
    ours = space.in_blocks or bool(space.held or space.gram)
    smooth = isinstance(risk.loss, Hinge) or not kinked(risk.loss)  # not a kink of one's own
    return "descent" if ours and smooth else "proximal"


def choose_solver(problem: Problem, method: str, tol: float, max_time: float | None) -> Solver:
    """Return the solver that `method` names; for "auto" the first that suits the problem."""
    check_method(method)
    if method == "auto":
        method = suited(problem)
    ordered = isinstance(problem.risk, Mean) and isinstance(problem.pairs, OrderedPairs)
    if ordered and method not in WITHOUT_CLASSES:
        raise InputError(
            f"method {method!r} is for pairs of two classes: for ordered pairs (qid, time) take "
            f"{' or '.join(WITHOUT_CLASSES)}"
        )
    return METHODS[method](tol, max_time)
