"""Somebody's constant C as our lam: models of other programs are judged in their own units."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..certificate.audit import Rival
from ..errors import InputError
from ..pairs.all_pairs import PairList
from ..pairs.ordered_pairs import OrderedPairs
from ..pairs.partitioned_pairs import pairs_in
from ..problem.scalings import convention_name, lam_from_C, objective_scale
from ..spaces.rows import space_of
from ..tools.checks import check_number
from .request import Request


def in_units_of(
    rival: str, C: float, y: object, request: Request, X: object = None
) -> tuple[Rival, Request]:
    """Return a rival with its scale, and the request at the lam that its constant C means."""
    name = convention_name(rival)
    C = check_number("C", C)
    rows = space_of(X).apart
    if rows is not None and rows.grouped is not None:
        count, share = float(rows.grouped.order.mass), None
    else:
        pairs = request.pairs_on(request.mask(y)) if rows is None else pairs_in(rows.facts)
        count, share = _pair_mass(pairs)
    lam = lam_from_C(C, count, name, share)
    return Rival(name, float(C), objective_scale(C, count, name, share)), request.at(lam)


def _pair_mass(pairs: Any) -> tuple[float, float | None]:
    """Return the number of pairs, weights counted as repetitions, and the positive share.

    Ordered pairs have no positive share.
    """
    if isinstance(pairs, OrderedPairs):
        if pairs.weights.shared:
            raise InputError(
                "groups with a share have no number of pairs to convert C by: give lam"
            )
        return float(pairs.mass), None
    if isinstance(pairs, PairList):
        if float(np.ptp(pairs.c)) > 1e-12 * float(pairs.c.max()):
            raise InputError(
                "a list of pairs with unequal weights has no number of pairs to convert C by: "
                "give lam"
            )
        return pairs.i.size, pairs.n_pos / pairs.n
    a, b = (float(side.sum()) for side in pairs.sides())
    return a * b, a / (a + b)
