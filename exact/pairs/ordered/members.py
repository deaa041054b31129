"""Pairs within groups of rows: those of each group alone, or of all groups together."""

from __future__ import annotations

import numpy as np

from ...errors import InputError, NoPairError
from ...tools.lossless import check_labels
from ..all_pairs import AllPairs
from .ordered_pairs import OrderedPairs


def as_member(member: object) -> np.ndarray:
    """Return the group of each row as it was given: (n,)."""
    groups = check_labels(member)
    if groups.ndim != 1:
        raise InputError(f"worst_of must name one group a row, not have shape {groups.shape}")
    return groups


def pairs_of_members(pairs: AllPairs | OrderedPairs, member: np.ndarray) -> list[OrderedPairs]:
    """Return the pairs within each group, in the order of the groups' names."""
    found: list[OrderedPairs] = []
    whole = None
    for name in np.unique(member):
        try:
            whole = pairs_within(pairs, member) if whole is None else whole
            a, b = np.empty((2, whole.n))
            a[whole.arrangement.order], b[whole.arrangement.order] = whole.a, whole.b
            sides = (side * (member == name) for side in (a, b))
            found.append(
                OrderedPairs(whole.group, whole.key, *sides, gain=whole.gain, form=whole.form)
            )
        except NoPairError:
            raise NoPairError(
                f"worst_of: no two rows of group {name.item()!r} make a pair, so that it has no "
                "mean: leave its rows out, or join it with another group"
            ) from None
    return found


def pairs_within(pairs: AllPairs | OrderedPairs, member: np.ndarray) -> OrderedPairs:
    """Return the pairs within any of the groups, together; arguments as above."""
    if pairs.n != member.size:
        raise InputError(f"{pairs.n} rows, but worst_of of shape {member.shape}")
    codes = np.unique(member, return_inverse=True)[1]
    if isinstance(pairs, OrderedPairs):
        both = np.stack([np.asarray(pairs.group, dtype=np.int64), codes])
        group = np.unique(both, axis=1, return_inverse=True)[1].ravel()
        sides, gain = (pairs.upper, pairs.lower), pairs.gain
        return OrderedPairs(group, pairs.key, *sides, gain=gain, form=pairs.form)
    positive = pairs.positive
    weight = np.ones(pairs.n) if pairs.weight is None else pairs.weight
    return OrderedPairs(codes, positive, weight * positive, weight * ~positive)
