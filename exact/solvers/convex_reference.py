"""The optimum of a convex problem with the square loss, by scikit-learn and scipy, with its gap.

The reference for SPAM, SOLAM and FSAUC, from the moments; `ConvexSquare`, which judges it, shares
nothing with it.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.optimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import enet_path, lars_path_gram

from ..errors import TooLargeError
from ..square_loss.convex_square import ConvexSquare
from ..square_loss.row_average import row_moments


class ConvexReference(NamedTuple):
    """The optimum `w` (d,), its `objective`, and the proved `gap` of that."""

    w: np.ndarray
    objective: float
    gap: float


def convex_reference(
    problem: ConvexSquare, tol: float = 1e-12, max_iter: int = 100_000
) -> ConvexReference:
    """Return the optimum with its proved gap.

    Penalties: scikit-learn's coordinate descent; the l1 ball: its path of the lasso by least
    angles, read off where |w|_1 is the radius; no penalty or the l2 ball: the eigenvalues of M.

    Parameters
    ----------
    problem : ConvexSquare
    tol : float
        Of coordinate descent.
    max_iter : int
        Passes of coordinate descent, at most.

    Raises
    ------
    TooLargeError
        With more than 5000 features, as M is formed.
    """
    if problem.loss.dim > 5000:
        raise TooLargeError(f"{problem.loss.dim} features, more than 5000: take an online method")
    M, delta = row_moments(problem.loss).M, problem.loss.delta
    if problem.ball == "l1":
        w = _l1_ball(M, delta, problem.radius)
    elif problem.ball == "l2" or problem.l1 == 0:
        w = _l2(M, delta, problem.loss.lam, problem.radius)
    else:
        w = _elastic(M, delta, problem, tol=tol, max_iter=max_iter)
    return ConvexReference(w, problem.value(w), problem.gap(w))


def _elastic(M: np.ndarray, delta: np.ndarray, problem: ConvexSquare, **stop: Any) -> np.ndarray:
    """Coordinate descent on (1/2) w'M w - delta'w + l1/2 |w|_1 + l2/4 |w|^2, half the problem."""
    total = problem.l1 + problem.loss.lam
    # A factor of M with as many rows as columns: the path takes a design matrix next to its Gram.
    size, basis = scipy.linalg.eigh(M)
    root = np.sqrt(np.maximum(size, 0.0))
    design = np.asfortranarray(root[:, None] * basis.T)
    kept = root > 1e-9 * root.max(initial=1e-300)
    target = np.where(kept, (basis.T @ delta) / np.where(kept, root, 1.0), 0.0)
    scale = np.sqrt(float(len(M)))  # the path divides the squares by the number of rows
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the gap says it better
        _, path, *_ = enet_path(
            design * scale, target * scale, l1_ratio=problem.l1 / total, alphas=[total / 2], **stop
        )
    return np.asarray(path)[:, 0]


def _l1_ball(M: np.ndarray, delta: np.ndarray, radius: float) -> np.ndarray:
    _, _, path = lars_path_gram(delta, M, n_samples=1, method="lasso", max_iter=8 * len(M))
    sizes = np.abs(path).sum(axis=0)
    past = np.flatnonzero(sizes > radius)
    if past.size == 0:
        return path[:, -1]
    low, high = path[:, past[0] - 1], path[:, past[0]]
    below, above = sizes[past[0] - 1], sizes[past[0]]
    return low + (radius - below) / (above - below) * (high - low)


def _l2(M: np.ndarray, delta: np.ndarray, lam: float, radius: float) -> np.ndarray:
    """Solve (2 M + lam I) w = 2 delta, with lam raised until |w| <= radius."""
    size, basis = scipy.linalg.eigh(M)
    size, along = np.maximum(2 * size, 0.0), 2 * (basis.T @ delta)
    floor = 1e-14 * max(float(size.max(initial=0.0)), 1e-300)

    def coordinates(raised: float) -> np.ndarray:
        whole = size + raised
        return np.where(whole > floor, along / np.maximum(whole, floor), 0.0)

    w = coordinates(lam)
    if np.linalg.norm(w) > radius:
        top = 2 * float(np.linalg.norm(along)) / radius  # where w is within the ball for sure
        raised = scipy.optimize.brentq(
            lambda x: 1 / np.linalg.norm(coordinates(x)) - 1 / radius, 0.0, top, xtol=1e-300
        )
        w = coordinates(float(raised))
        w *= min(1.0, radius / float(np.linalg.norm(w)))
    return basis @ w
