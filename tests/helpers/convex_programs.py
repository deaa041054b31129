"""Independent answers: any loss and penalty over listed pairs by Clarabel."""

import warnings
from typing import Any

import cvxpy as cp
import numpy as np

from aucert.exact.problem.penalties import ElasticNet, GroupLasso, Ridge, Sign
from own_parts import Box, WeightedL1


def losses(name: str, margins: Any) -> Any:
    z = 1 - margins
    half: Any = 0.5
    whole = {
        "hinge": lambda: cp.pos(z),
        "squared_hinge": lambda: cp.square(cp.pos(z)),
        "square": lambda: cp.square(z),
        "logistic": lambda: cp.logistic(-margins),
        "exponential": lambda: cp.exp(-margins),
        "smooth_hinge": lambda: cp.huber(cp.pos(z), 1) / 2,  # z^2 / 2 below one, then z - 1/2
        "rounded hinge": lambda: cp.huber(cp.pos(z), half),  # the same with a corner of a half
    }
    return whole[name]()


def penalty_value(penalty: Any, w: Any) -> tuple[Any, list[Any]]:
    square = penalty.l2 / 2 * cp.sum_squares(w)
    if isinstance(penalty, Ridge):
        return square, []
    if isinstance(penalty, ElasticNet):
        return square + penalty.l1 * cp.norm1(w), []
    if isinstance(penalty, GroupLasso):
        groups = [np.flatnonzero(penalty.groups == k) for k in range(penalty.radii.size)]
        norms = [r * cp.norm(w[list(g)]) for r, g in zip(penalty.radii, groups, strict=True)]
        return square + sum(norms), []
    if isinstance(penalty, Sign):
        rest, _ = penalty_value(penalty.penalty, w)
        chosen = range(w.shape[0]) if penalty.columns is None else penalty.columns.tolist()
        return rest, [w[k] >= 0 for k in chosen]
    if isinstance(penalty, Box):
        return square + cp.sum(cp.maximum(penalty.low * w, penalty.high * w)), []
    assert isinstance(penalty, WeightedL1)
    return square + penalty.t @ cp.abs(w), []


def reference(X: np.ndarray, pairs: Any, loss: str, penalty: Any) -> Any:
    return worst_reference(X, [pairs], loss, penalty)


def worst_reference(X: np.ndarray, lists: Any, loss: str, penalty: Any) -> Any:
    """Return Clarabel's optimum and weights where the worst of several lists of pairs counts."""
    w = cp.Variable(X.shape[1])
    value, constraints = penalty_value(penalty, w)
    kinds = sorted({(i, j) for pairs in lists for i, j, _ in pairs})
    place = {pair: k for k, pair in enumerate(kinds)}
    C = np.zeros((len(lists), len(kinds)))
    for row, pairs in zip(C, lists, strict=True):
        for i, j, c in pairs:
            row[place[i, j]] += c
    i, j = np.array(kinds).T
    margins = (X[i] - X[j]) @ w
    values = losses(loss, margins)
    if len(lists) > 1:
        each = cp.Variable(len(kinds))
        constraints, values = [*constraints, each >= values], each
    mean = cp.max(C @ values)
    program = cp.Problem(cp.Minimize(mean + value), constraints)
    tight = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11, "max_threads": 1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        program.solve(solver=cp.CLARABEL, **tight)
    best: Any = program.value
    return float(best), np.asarray(w.value)
