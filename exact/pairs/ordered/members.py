"""Pairs within groups of rows: those of each group alone, or of all groups together."""

from __future__ import annotations

import numpy as np

from ...errors import InputError, NoPairError
from ...tools.lossless import check_labels
from ..all_pairs import AllPairs
from .ordered_pairs import OrderedPairs


def as_member(member: object) -> np.ndarray:
    """Return the group of each row as it was given: (n,).

    Raises
    ------
    InputError
        If a value is missing, or the array has not one entry a row.
    """
    groups = check_labels(member)
    if groups.ndim != 1:
        raise InputError(f"worst_of must name one group a row, not have shape {groups.shape}")
    return groups


def pairs_of_members(pairs: AllPairs | OrderedPairs, member: np.ndarray) -> list[OrderedPairs]:
    """Return the pairs within each group, in the order of the groups' names.

    Parameters
    ----------
    pairs : AllPairs or OrderedPairs
        Bound to its rows.
    member : array (n,)
        The group of each row.

    Raises
    ------
    InputError
        If the lengths differ, or a group has no pair: its mean is not defined.
    """
    whole = _ordered(pairs, member)
    found = []
    for name in np.unique(member):
        inside = member == name
        try:
            found.append(_restricted(whole, inside, np.asarray(whole.group)))
        except NoPairError:
            raise NoPairError(
                f"worst_of: no two rows of group {name.item()!r} make a pair, so that it has no "
                "mean: leave its rows out, or join it with another group"
            ) from None
    return found


def pairs_within(pairs: AllPairs | OrderedPairs, member: np.ndarray) -> OrderedPairs:
    """Return the pairs within any of the groups, together; arguments as above."""
    whole = _ordered(pairs, member)
    codes = np.unique(member, return_inverse=True)[1]
    both = np.stack([np.asarray(whole.group, dtype=np.int64), codes])
    joined = np.unique(both, axis=1, return_inverse=True)[1].ravel()
    return _restricted(whole, np.ones(whole.n, dtype=bool), joined)


def _ordered(pairs: AllPairs | OrderedPairs, member: np.ndarray) -> OrderedPairs:
    """Return all pairs of two classes as ordered ones, and ordered ones as they are."""
    if pairs.n != member.size:
        raise InputError(f"{pairs.n} rows, but worst_of of shape {member.shape}")
    if isinstance(pairs, OrderedPairs):
        return pairs
    positive = pairs.positive
    weight = np.ones(pairs.n) if pairs.weight is None else pairs.weight
    return OrderedPairs(None, positive, weight * positive, weight * ~positive)


def _restricted(pairs: OrderedPairs, inside: np.ndarray, group: np.ndarray) -> OrderedPairs:
    """Return the pairs of the rows `inside`, with other groups."""
    given = (np.ones(pairs.n) if x is None else x for x in (pairs.upper, pairs.lower))
    sides = (np.asarray(x) * inside for x in given)  # each group has a unit of its own
    return OrderedPairs(group, pairs.key, *sides, gain=pairs.gain, form=pairs.form)
