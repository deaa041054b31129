"""A small convex quadratic program over the simplex, by an active set that is kept between calls.

    minimise  x'H x / 2 - m'x   over  x >= 0, sum x = 1

One cut more changes the optimum little: most weights stay, one or two come or go. So each call
starts from the last answer and needs a few linear systems of the size of its support.

    until no weight outside the support would lower the objective by more than `tol`:
        y = the optimum over the support, the sum alone observed
        if y >= 0: x = y, and the best outside weight enters
        else: go from x towards y until a weight is zero; it leaves
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

# Changes of the support in one call at most; what they leave is still a point of the simplex.
MOST_CHANGES = 300

# Shares of the largest entry that may be added to the diagonal: nearly equal cuts are singular.
RIDGES = (1e-15, 1e-12, 1e-9)


def best_weights(H: np.ndarray, m: np.ndarray, start: np.ndarray, tol: float) -> np.ndarray:
    """Return weights x (k,) of the simplex that minimise x'H x / 2 - m'x, to about `tol`.

    Nothing relies on how good they are: any point of the simplex gives a valid bound.
    """
    x, inside = start.copy(), start > 0
    for _ in range(MOST_CHANGES):
        at = np.flatnonzero(inside)
        y = _on_support(H[np.ix_(at, at)], m[at])
        if y is None:
            break
        if y.min() >= 0:
            x[:] = 0.0
            x[at] = y
            slope = H @ x - m
            enters = int(slope.argmin())
            # Inside the support every slope is x'slope: a weight outside gains what its own slope
            # lies below that.
            if inside[enters] or float(x @ slope) - slope[enters] <= tol:
                break
            inside[enters] = True
            continue
        now, falls = x[at], y < 0
        ways = now[falls] / (now[falls] - y[falls])
        way = float(ways.min())
        leaves = at[falls][ways <= way]
        x[at] = np.maximum(now + way * (y - now), 0.0)
        x[leaves] = 0.0
        inside[leaves] = False
        if way == 0.0 and x[at].sum() > 0 and leaves[-1] == at[-1] == m.size - 1:
            break  # rounding alone lets the newest one in
    return x / x.sum()


def _on_support(H: np.ndarray, m: np.ndarray) -> np.ndarray | None:
    """Return the optimum with sum one and any signs; None where the system is singular."""
    if m.size == 1:
        return np.ones(1)
    top = float(H.diagonal().max())
    if not top > 0:
        return None
    # On the plane sum x = 1 a constant added to all of H changes nothing but its rank.
    right = np.column_stack([np.ones(m.size), m])
    for ridge in RIDGES:
        shifted = H + top
        shifted.flat[:: m.size + 1] += ridge * top
        try:
            factor = scipy.linalg.cho_factor(shifted, lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            continue
        even, found = scipy.linalg.cho_solve(factor, right, check_finite=False).T
        # The part along `even` is free: it makes the sum one.
        y = found + (1 - found.sum()) / even.sum() * even
        return y if np.isfinite(y).all() else None
    return None
