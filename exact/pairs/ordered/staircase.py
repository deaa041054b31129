"""Are these numbers the marginals of some alpha over ordered pairs? Gale-Ryser on a staircase.

For weights 0 and 1 a group's pairs have one cap each, the group's factor f. Its blocks are levels
1 .. L, from the top; an upper row of a level can pass mass to the lower rows of the levels below.
With u_i, v_j what rows carry as upper and as lower ones, max-flow/min-cut gives the largest mass

    M = min over k_1 .. k_L of
        sum u - sum_l T_l(k_l) + sum_l sum over the lower rows j of l of min(v_j, f K_l),

T_l(k) the sum of the k largest u of level l and K_l = k_1 + ... + k_(l-1): a cut keeps some upper
rows on its source's side, of each level those of the largest u, and each lower row is on the
cheaper side. The minimum is found level by level, over K: O(n^2) for n upper rows of a group. Two
levels are the theorem of `pairs.marginals`.
"""

from __future__ import annotations

import numpy as np

from ...errors import InputError, TooLargeError
from ...sums.tree import Arrangement, PairWeights
from ...tools.rounding import gamma, running_sum

LARGEST = 20_000  # Upper rows of a group up to which the programme over K is run.


def staircase_flow(levels: list[tuple[np.ndarray, np.ndarray]], cap: float) -> float:
    """Return M, the largest mass of a flow within one cap a pair and the marginals."""
    best = np.zeros(1)  # the least cut so far, less the chosen u, for K = 0, 1, ...
    whole = 0.0
    for u, v in levels:
        chosen = np.arange(best.size) * cap
        ranked = np.sort(v)
        filled = running_sum(ranked).astype(float)
        full = np.searchsorted(ranked, chosen, side="right")
        best = best + filled[full] + (v.size - full) * chosen
        tops = running_sum(-np.sort(-u)).astype(float)
        later = np.full(best.size + u.size, np.inf)
        for k in range(u.size + 1):
            part = later[k : k + best.size]
            np.minimum(part, best - tops[k], out=part)
        best = later
        whole += float(u.sum())
    return whole + float(best.min())


def staircase_deficiency(
    at: Arrangement, weights: PairWeights, u: np.ndarray, v: np.ndarray
) -> tuple[float, float, float]:
    """Return M, eta = sum u + sum v - 2 M, and a bound of the rounding in either.

    Some feasible flow has marginals u' <= u, v' <= v of mass M, so |u' - u|_1 + |v' - v|_1 = eta.
    What rows carry on a side on which they have no weight is part of eta.
    """
    term = weights.whole[0]
    if len(weights.whole) > 1 or max(int(term.a.max()), int(term.b.max())) > 1:
        raise InputError(
            "marginals prove a bound for ordered pairs whose rows weigh 0 or 1: give the scores"
        )
    u, v = u[at.order], v[at.order]
    mass = float(u.sum()) + float(v.sum())
    up, low = term.a > 0, term.b > 0
    flow, start, block = 0.0, 0, 0
    for group, end in enumerate(at.group_ends.tolist()):
        if int(up[start:end].sum()) > LARGEST:
            raise TooLargeError(
                f"a group has more than {LARGEST} upper rows: give the scores, not the marginals"
            )
        levels = []
        while start < end:
            stop = int(at.block_ends[block])
            rows = slice(start, stop)
            levels.append((u[rows][up[rows]], v[rows][low[rows]]))
            start, block = stop, block + 1
        if len(levels) > 1 and weights.factor[group] > 0:
            flow += max(staircase_flow(levels, float(weights.factor[group])), 0.0)
    # Sums of n terms, two more a level, each at most the mass and what u was subtracted from.
    rounding = 4 * gamma(4 * u.size + 64) * mass
    flow = min(flow, mass / 2)
    return flow, max(mass - 2 * flow, 0.0), rounding
