"""The lam of a path: from where the order of rows is fixed, or the weights leave zero, down."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import InputError, brief
from ..losses.registry import HINGE
from ..pairs.ordered_pairs import OrderedPairs
from ..problem.penalties import ElasticNet, GroupLasso, Penalty, Sign, penalty_from
from ..problem.problem import Problem, Ridge
from ..problem.risk import least_margin
from ..problem.tail import Tail
from ..tools.arrays import as_float64, check_count, check_number


def unit_penalty(l1_ratio: float, groups: object = None, sign: object = None) -> Penalty:
    """Return (1 - l1_ratio)/2 |w|^2 + l1_ratio |w|_1, of groups or signs where these are given."""
    share = check_number("l1_ratio", l1_ratio, 0.0, 1.0, closed="both")
    if groups is not None and share == 0:
        raise InputError("groups need l1_ratio > 0: it is the weight of their norms")
    return penalty_from(1.0 - share, share, groups, sign)


def strengthened(penalty: object, strength: float) -> Penalty:
    if isinstance(penalty, Ridge):
        return Ridge(penalty.lam * strength)
    if isinstance(penalty, Sign):
        inner: Any = strengthened(penalty.penalty, strength)
        return replace(penalty, penalty=inner)
    if isinstance(penalty, ElasticNet | GroupLasso):
        return replace(penalty, l2=penalty.l2 * strength, l1=penalty.l1 * strength)
    raise InputError(f"a path is for the penalties of this library, not {brief(penalty)}")


def lam_grid(problem: Problem, n_lams: int) -> np.ndarray:
    """Return falling lam, evenly spaced in their logarithm. A penalty with l1 begins where zero
    becomes optimal: where the pull g at zero scores, the one subgradient there, lies in lam C."""
    penalty = problem.penalty
    l1 = penalty.penalty if isinstance(penalty, Sign) else penalty
    if not isinstance(l1, ElasticNet | GroupLasso) or l1.l1 == 0:
        return spaced(largest_lam(problem), n_lams)
    g = problem.space.pull(problem.sums(np.zeros(problem.n)).c)
    g = penalty.cut(g) if isinstance(penalty, Sign) else g
    parts = np.abs(g) / l1.l1 if isinstance(l1, ElasticNet) else l1.norms(g) / l1.radii
    return spaced(float(parts.max(initial=0.0)) or 1.0, n_lams, 1e-3)


def spaced(top: float, n_lams: int, share: float = 1e-5) -> np.ndarray:
    """Return the default grid, from its largest lam down to this share of it."""
    return np.geomspace(1.0, share, check_count("n_lams", n_lams)) * top


def largest_lam(problem: Problem) -> float:
    """Return the lam from which on the hinge's optimum only shrinks: max_ij delta'(x_i - x_j),
    delta the mean difference over the pairs, is the least lam at which no pair exceeds its margin
    at delta / lam. For the other losses it is a scale."""
    space, pairs = problem.space, all_the_pairs(problem)
    mass = pairs.row_mass()
    if isinstance(pairs, OrderedPairs):  # no pair has its margin where all scores are zero
        scores = space.scores(space.pull(pairs.sums(np.zeros(pairs.n), HINGE).c))
        widest = float(np.ptp(scores[mass > 0]))
    else:
        scores = space.scores(space.pull(np.where(pairs.positive, mass, -mass)))
        widest = -least_margin(pairs, -scores, -scores)
    return lam_below(widest, space.reach)


def lam_below(widest: float, reach: float) -> float:
    if widest > 1e-14 * reach**2:
        return widest
    return reach**2 if reach > 0 else 1.0


def check_lams(lams: object) -> np.ndarray:
    values = as_float64(lams, "lams").ravel()
    if values.size == 0:
        raise InputError("lams is empty: give at least one lam")
    for lam in values:
        Ridge(float(lam))
    return np.unique(values)[::-1]


def all_the_pairs(problem: Problem) -> Any:
    """Return the pairs of a mean, and for partial AUC all pairs."""
    return problem.risk.mean.pairs if isinstance(problem.risk, Tail) else problem.pairs
