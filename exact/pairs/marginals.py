"""Are these numbers the marginals of some alpha? Gale-Ryser with row weights.

For the hinge over all pairs a dual point matters only through its marginals: u_i, what the pairs
of a positive row carry together, and v_j. With caps c_ij = a_i b_j the largest mass that any
0 <= flow_ij <= c_ij can carry with row sums <= u and column sums <= v is, by max-flow/min-cut,

    M = min_k [ sum u - (u of the first k rows) + sum_j min(v_j, b_j A_k) ],

rows sorted by u_i / a_i descending, A_k the sum of the first k of the a. The ratio matters:
sorting by u itself accepts infeasible points. See `docs/certificates.md` for the proof.
"""

from __future__ import annotations

import numpy as np

from ..tools.rounding import gamma, gamma_sum, remaining_sum, running_sum


def largest_flow(u: np.ndarray, v: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    """Return M, the largest mass of a flow within the caps a_i b_j and the marginals u, v."""
    with np.errstate(divide="ignore", invalid="ignore"):
        row_ratio = np.where(a > 0, u / a, np.where(u > 0, np.inf, 0.0))
        column_ratio = np.where(b > 0, v / b, np.where(v > 0, np.inf, 0.0))
    order = np.argsort(-row_ratio, kind="stable")
    left_u, chosen_a = remaining_sum(u[order]), running_sum(a[order])
    by_ratio = np.argsort(column_ratio, kind="stable")
    filled, open_caps = running_sum(v[by_ratio]), remaining_sum(b[by_ratio])
    # Columns with v_j <= b_j A_k give v_j, the others b_j A_k.
    full = np.searchsorted(column_ratio[by_ratio], chosen_a.astype(float), side="right")
    through = filled[full] + open_caps[full] * chosen_a
    return float((left_u + through).min())


def deficiency(
    u: np.ndarray, v: np.ndarray, a: np.ndarray, b: np.ndarray
) -> tuple[float, float, float]:
    """Return M, eta = sum u + sum v - 2 M, and a bound of the rounding in either. Some feasible
    flow has marginals u' <= u, v' <= v of mass M, so |u' - u|_1 + |v' - v|_1 = eta: zero exactly if
    (u, v) are marginals themselves."""
    mass = float(u.sum(dtype=np.longdouble)) + float(v.sum(dtype=np.longdouble))
    flow = largest_flow(u, v, a, b)
    rounding = (4 * gamma_sum(u.size + v.size) + gamma(16)) * mass
    return flow, max(mass - 2 * flow, 0.0), rounding
