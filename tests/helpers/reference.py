"""Independent answers: the primal over explicit pair differences in CVXPY, and flows by an LP."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import cvxpy as cp
import numpy as np
import scipy.optimize
import scipy.sparse as sp


def reference_optimum(
    X: np.ndarray, pairs: Sequence[tuple[int, int, float]], lam: float, loss: str
) -> tuple[float, np.ndarray]:
    """Return F and w where CVXPY (Clarabel) ends; F is computed anew from w, so F >= optimum.

    Parameters
    ----------
    X : array (n, d)
    pairs : list of (i, j, c)
        The pairs and their weights, which add up to one.
    lam : float
    loss : {"hinge", "squared_hinge", "square"}
    """
    i, j = np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])
    c = np.array([p[2] for p in pairs])
    differences = np.asarray(X, dtype=float)[i] - np.asarray(X, dtype=float)[j]
    unit = max(float(np.sqrt((differences**2).sum(axis=1).mean())), 1e-12)
    # In the unit of the differences |w| is of order one; the objective is scaled to order one too.
    scaled, scaled_lam = differences / unit, lam / unit**2
    w, top = np.zeros(X.shape[1]), 1.0
    best = _value(scaled, c, scaled_lam, loss, w)
    for _ in range(3):
        found = _solve(scaled, c, scaled_lam, loss, top)
        value = _value(scaled, c, scaled_lam, loss, found)
        if value < best:
            w, best = found, value
        if best > 0.1 * top:
            break
        top = max(best, 1e-13)
    return best, w / unit


def _solve(differences: np.ndarray, c: np.ndarray, lam: float, loss: str, top: float) -> np.ndarray:
    w = cp.Variable(differences.shape[1])
    shortfall = 1 - differences @ w
    if loss == "hinge":
        mean = c @ cp.pos(shortfall)
    else:
        part = cp.pos(shortfall) if loss == "squared_hinge" else shortfall
        mean = cp.sum_squares(cp.multiply(np.sqrt(c), part))
    objective = (mean + lam / 2 * cp.sum_squares(w)) / top
    tight = {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12, "max_threads": 1}
    try:
        with warnings.catch_warnings():  # "may be inaccurate": the value is computed anew anyway
            warnings.simplefilter("ignore", UserWarning)
            cp.Problem(cp.Minimize(objective)).solve(solver=cp.CLARABEL, **tight)
    except cp.SolverError:
        return np.zeros(differences.shape[1])
    return np.zeros(differences.shape[1]) if w.value is None else np.asarray(w.value)


def _value(differences: np.ndarray, c: np.ndarray, lam: float, loss: str, w: np.ndarray) -> float:
    z = 1 - differences @ w
    z = z if loss == "square" else np.maximum(z, 0)
    return float(c @ (z if loss == "hinge" else z**2)) + lam / 2 * float(w @ w)


def largest_flow_lp(u: np.ndarray, v: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    """Return the largest sum of 0 <= flow_ij <= a_i b_j with row sums <= u, column sums <= v."""
    p, q = u.size, v.size
    rows = sp.kron(sp.identity(p), np.ones((1, q)))
    columns = sp.kron(np.ones((1, p)), sp.identity(q))
    caps = np.outer(a, b).ravel()
    answer = scipy.optimize.linprog(
        -np.ones(p * q),
        A_ub=sp.vstack([rows, columns], format="csc"),
        b_ub=np.concatenate([u, v]),
        bounds=np.stack([np.zeros(p * q), caps], axis=1),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert answer.status == 0, answer.message
    return float(-answer.fun)
