"""Lower bounds for the best k features that share nothing with `branch_and_bound.py`.

Features are scaled to variance one, M = Sigma + delta delta' = Q + D with a diagonal D > 0 and Q
positive semidefinite, z says which features are in. Then

    phi(z) = min_w  w'Q w - 2 delta'w + sum_j D_j w_j^2 / z_j + 1

is convex on [0, 1]^d and F*(S) where z is the indicator of S. [SHT, eq. (3)] states the problem.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import scipy.linalg
import scipy.optimize

from ...errors import InputError
from ...square_loss.support_loss import SupportLoss
from ...tools.checks import check_choice, check_count, check_number
from ...tools.interrupts import interruptible
from ...tools.rounding import gamma

LEAST = 1e-7
"""An entry of D below this: the features are dependent, and the relaxation says nothing."""


@dataclass(frozen=True, eq=False)
class Relaxation:
    """A lower bound of F over all supports of k features, and what it came from.

    It is of F with the moments that the `SupportLoss` holds: what rounding did to these when they
    were computed is not counted here, so that nothing is called proved by it. `best_subset` does.

    Attributes
    ----------
    lower : float
    upper : float
        F* on `support`; infinity where none was found.
    support : int array
    n_cuts : int
        Cuts made; 0 for the perspective relaxation.
    """

    lower: float
    upper: float
    support: np.ndarray
    n_cuts: int


def outer_approximation(
    loss: SupportLoss,
    k: int,
    *,
    diagonal: str = "sdp",
    tol: float = 1e-6,
    max_time: float | None = None,
    max_cuts: int = 2000,
) -> Relaxation:
    """Minimise phi over the indicators z by cuts: a chain of integer programs for HiGHS.

        phi(z) >= phi(u) + sum_j g_j (z_j - u_j),    g_j = -D_j v_j^2,    (Q diag(u) + D) v = delta

    The lower bound is HiGHS's own, right to its tolerances of about 1e-6, not to rounding.

    Parameters
    ----------
    loss : SupportLoss
    k : int
    diagonal : {"sdp", "eigenvalue"}
        As in `perspective_bound`.
    tol : float
        upper - lower to reach.
    max_time : float, optional
        Seconds.
    max_cuts : int

    Raises
    ------
    InputError
        If the features are dependent: take a penalty.
    """
    k = min(check_count("k", k), loss.dim)
    check_number("tol", tol)
    cuts = _Cuts(loss, k, diagonal)
    end = np.inf if max_time is None else time.perf_counter() + check_number("max_time", max_time)
    for _ in range(40):  # cuts at fractional points are cheap and keep the integer programs few
        lower, z = cuts.minimise(False, end)
        if not cuts.add(z) > lower + 1e-4:
            break
    lower, upper, best = 0.0, np.inf, np.zeros(loss.dim)
    while len(cuts.rows) < max_cuts and time.perf_counter() < end:
        bound, z = cuts.minimise(True, end)
        lower = max(lower, bound)
        if z is None:
            break
        value = cuts.add(np.round(z))
        if value < upper:
            upper, best = value, np.round(z)
        if upper - lower <= tol:
            break
    return Relaxation(min(lower, upper), upper, np.flatnonzero(best), len(cuts.rows))


class _Cuts:
    """The cuts t >= offset + slope'z made so far."""

    def __init__(self, loss: SupportLoss, k: int, diagonal: str):
        self.M, self.delta = _hessian(loss), loss.scaled_delta
        self.D = _diagonal(self.M, diagonal, "CLARABEL")
        self.Q, self.k, self.dim = self.M - np.diag(self.D), k, loss.dim
        self.rows: list[np.ndarray] = []
        self.offsets: list[float] = []
        self.add(np.full(loss.dim, k / loss.dim))

    def add(self, z: np.ndarray | None) -> float:
        """Add the cut at `z` and return phi there."""
        if z is None:
            return -np.inf
        v = np.linalg.solve(self.Q * z + np.diag(self.D), self.delta)
        value = 1 - float(self.delta @ (z * v))
        slope = -self.D * v * v
        self.rows.append(slope)
        self.offsets.append(value - float(slope @ z))
        return value

    def minimise(self, whole: bool, end: float) -> tuple[float, np.ndarray | None]:
        """Return HiGHS's lower bound and minimiser of the cuts' maximum, over whole z or all."""
        d = self.dim
        A = np.vstack([np.append(np.ones(d), 0.0), *(np.append(-g, 1.0) for g in self.rows)])
        low = np.array([-np.inf, *self.offsets])
        high = np.append(float(self.k), np.full(len(self.rows), np.inf))
        options: dict[str, object] = {"mip_rel_gap": 0.0}
        if np.isfinite(end):
            options["time_limit"] = max(end - time.perf_counter(), 0.05)
        found = scipy.optimize.milp(
            np.append(np.zeros(d), 1.0),
            integrality=np.append(np.full(d, int(whole)), 0),
            bounds=scipy.optimize.Bounds(np.zeros(d + 1), np.append(np.ones(d), np.inf)),
            constraints=scipy.optimize.LinearConstraint(A, low, high),
            options=options,
        )
        bound = found.mip_dual_bound if whole else found.fun
        z = None if found.x is None else np.clip(found.x[:d], 0.0, 1.0)
        return (0.0 if bound is None or not np.isfinite(bound) else float(bound)), z


def perspective_bound(
    loss: SupportLoss, k: int, diagonal: str = "sdp", solver: str = "CLARABEL"
) -> Relaxation:
    """Minimise phi over 0 <= z <= 1, sum z <= k: a convex problem, by CVXPY.

    The bound is recomputed from the returned w, and does not rely on the solver: for any v,

        F(w) >= 1 - v'Q v - the k largest of (delta_j - (Q v)_j)^2 / D_j,   |w|_0 <= k.

    Parameters
    ----------
    loss : SupportLoss
    k : int
    diagonal : {"sdp", "eigenvalue"}
        D of the largest sum, by a semidefinite program; or the least eigenvalue of M throughout.
    solver : str
        The solver that CVXPY calls.

    Raises
    ------
    InputError
        If the features are dependent: take a penalty.
    """
    import cvxpy as cp

    k = min(check_count("k", k), loss.dim)
    M, delta, d = _hessian(loss), loss.scaled_delta, loss.dim
    D = _diagonal(M, diagonal, solver)
    Q = M - np.diag(D)
    root = scipy.linalg.sqrtm(Q + 1e-12 * np.eye(d)).real
    w, z = cp.Variable(d), cp.Variable(d)
    terms = sum(D[j] * cp.quad_over_lin(w[j], z[j]) for j in range(d))
    objective = cp.sum_squares(root @ w) - 2 * (delta @ w) + terms + 1
    limits = cast(list[Any], [z >= 0, z <= 1, cp.sum(z) <= k])
    interruptible(lambda: cp.Problem(cp.Minimize(objective), limits).solve(solver=solver))
    v = np.asarray(w.value)
    support = np.sort(np.argsort(-np.asarray(z.value), kind="stable")[:k])
    upper = loss.optimum(support).value
    return Relaxation(_dual_value(Q, delta, D, v, k), upper, support, 0)


def _dual_value(Q: np.ndarray, delta: np.ndarray, D: np.ndarray, v: np.ndarray, k: int) -> float:
    """Return the bound at v, less its rounding, and not below zero."""
    pulled = Q @ v
    left = np.abs(delta - pulled) + gamma(len(v) + 4) * (np.abs(Q) @ np.abs(v) + np.abs(delta))
    gains = np.sort(np.square(left) / D)[len(v) - k :]
    spread = float(v @ pulled) + gamma(2 * len(v) + 4) * float(np.abs(v) @ np.abs(Q) @ np.abs(v))
    return max(1 - spread - float(gains.sum()) * (1 + gamma(len(v) + 8)) - 1e-15, 0.0)


def split_diagonal(M: np.ndarray, shape: np.ndarray | None = None) -> np.ndarray:
    """Return D > 0, a multiple of `shape` (of ones by default), with M - D positive semidefinite.

    Parameters
    ----------
    M : array (d, d)
    shape : array (d,), optional
        > 0.

    Raises
    ------
    InputError
        If M is singular, or so nearly.
    """
    shape = np.ones(len(M)) if shape is None else shape
    root = np.sqrt(shape)
    least = float(np.linalg.eigvalsh(M / np.outer(root, root))[0])
    # An eigenvalue is off by a few units of the largest times the side.
    least -= 64 * len(M) * np.finfo(float).eps * float(np.abs(M).sum(axis=1).max() / shape.min())
    D = least * shape
    if not D.min() >= LEAST * min(1.0, float(shape.min())):
        raise InputError("the features are linearly dependent: the relaxation needs a penalty")
    return D


def _diagonal(M: np.ndarray, kind: str, solver: str) -> np.ndarray:
    check_choice("diagonal", kind, ("sdp", "eigenvalue"))
    even = split_diagonal(M)
    if kind == "eigenvalue":
        return even
    import cvxpy as cp

    entries, rest = cp.Variable(len(M), nonneg=True), cp.Variable((len(M), len(M)), PSD=True)
    whole = cp.Problem(cp.Maximize(cp.sum(entries)), [rest + cp.diag(entries) == M])
    interruptible(lambda: whole.solve(solver=solver))
    # The solver's own errors are taken off by the scaling.
    return split_diagonal(M, np.maximum(np.asarray(entries.value), 0.01 * even))


def _hessian(loss: SupportLoss) -> np.ndarray:
    """Return half the Hessian of F in scaled features."""
    return loss.scaled_sigma + np.outer(loss.scaled_delta, loss.scaled_delta)
