"""The strengths of a path whose penalty is not the ridge alone: where the weights leave zero."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..errors import InputError
from ..problem.penalties.elastic_net import ElasticNet
from ..problem.penalties.group_lasso import GroupLasso
from ..problem.penalties.registry import penalty_from
from ..problem.penalties.ridge import Ridge
from ..problem.penalties.sign import Sign
from ..problem.problem import Problem
from ..tools.checks import check_number

# The default grid of a penalty with l1 ends at this share of its largest strength.
LEAST_SHARE = 1e-3

Known = Ridge | ElasticNet | GroupLasso | Sign


def unit_penalty(l1_ratio: float, groups: object = None, sign: object = None) -> Known:
    """Return (1 - l1_ratio)/2 |w|^2 + l1_ratio |w|_1, of groups or signs where these are given."""
    share = check_number("l1_ratio", l1_ratio, 0.0, 1.0, closed="both")
    if groups is not None and share == 0:
        raise InputError("groups need l1_ratio > 0: it is the weight of their norms")
    return penalty_from(1.0 - share, share, groups, sign)


def strengthened(penalty: object, strength: float) -> Known:
    """Return a penalty of ours times `strength` > 0."""
    if isinstance(penalty, Ridge):
        return Ridge(penalty.lam * strength)
    if isinstance(penalty, Sign):
        inner = strengthened(penalty.penalty, strength)
        assert not isinstance(inner, Sign)
        return replace(penalty, penalty=inner)
    if isinstance(penalty, ElasticNet | GroupLasso):
        return replace(penalty, l2=penalty.l2 * strength, l1=penalty.l1 * strength)
    raise InputError(f"a path is for the penalties of this library, not {penalty!r}")


def largest_strength(problem: Problem) -> float | None:
    """Return the strength from which on zero is optimal, or None for a penalty without l1.

    At zero scores the pull g of the dual point is the one subgradient there (no pair of a hinge has
    its margin), and zero is optimal where g lies in strength * C.
    """
    penalty = problem.penalty
    l1 = penalty.penalty if isinstance(penalty, Sign) else penalty
    if not isinstance(l1, ElasticNet | GroupLasso) or l1.l1 == 0:
        return None
    g = problem.space.pull(problem.sums(np.zeros(problem.n)).c)
    g = penalty.cut(g) if isinstance(penalty, Sign) else g
    parts = np.abs(g) / l1.l1 if isinstance(l1, ElasticNet) else l1.norms(g) / l1.radii
    top = float(parts.max(initial=0.0))
    return top if top > 0 else 1.0
