"""The penalties of the library, and the one that a caller asks for."""

from __future__ import annotations

import numpy as np

from ...errors import InputError
from ...tools.checks import check_number
from .elastic_net import ElasticNet
from .group_lasso import GroupLasso
from .penalty import Penalty
from .ridge import Ridge
from .sign import Sign

OURS = (Ridge, ElasticNet, GroupLasso, Sign)


def penalty_from(
    lam: float, l1: float = 0.0, groups: object = None, sign: object = None
) -> Ridge | ElasticNet | GroupLasso | Sign:
    """Return the penalty of what a caller asks for."""
    l1 = check_number("l1", l1, closed="low")
    if groups is not None and l1 == 0:
        raise InputError("groups need l1 > 0: it is the weight of their norms")
    plain = Ridge(lam) if l1 == 0 else ElasticNet(lam, l1)
    whole = plain if groups is None else GroupLasso(lam, l1, groups)  # type: ignore[arg-type]
    if isinstance(sign, str) and sign != "nonnegative":
        raise InputError(f"sign must be 'nonnegative' or a list of columns, not {sign!r}")
    if sign is None:
        return whole
    return Sign(whole, None if isinstance(sign, str) else np.asarray(sign))


def asked_penalty(
    lam: float | None, l1: float, groups: object, sign: object, penalty: Penalty | None
) -> Penalty:
    """Return the penalty that is given, or the one that the numbers make; not both."""
    if penalty is None:
        if lam is None:
            raise InputError("lam must be a number > 0, or give a penalty of your own")
        return penalty_from(lam, l1, groups, sign)
    if lam is not None or l1 or groups is not None or sign is not None:
        raise InputError("give either a penalty of your own, or lam with l1, groups and sign")
    return penalty
