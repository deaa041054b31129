"""Pairs within groups of rows: those of each group alone, or of all groups together."""

from __future__ import annotations

from typing import NamedTuple

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
    whole = _Sides.of(pairs, member)
    found = []
    for name in np.unique(member):
        try:
            found.append(whole.within(whole.group, member == name))
        except NoPairError:
            raise NoPairError(
                f"worst_of: no two rows of group {name.item()!r} make a pair, so that it has no "
                "mean: leave its rows out, or join it with another group"
            ) from None
    return found


def pairs_within(pairs: AllPairs | OrderedPairs, member: np.ndarray) -> OrderedPairs:
    """Return the pairs within any of the groups, together; arguments as above."""
    whole = _Sides.of(pairs, member)
    codes = np.unique(member, return_inverse=True)[1]
    both = np.stack([whole.group, codes])
    return whole.within(np.unique(both, axis=1, return_inverse=True)[1].ravel())


class _Sides(NamedTuple):
    """What ordered pairs are made of, by row; all pairs of two classes are such."""

    group: np.ndarray
    key: np.ndarray
    upper: np.ndarray
    lower: np.ndarray
    gain: np.ndarray | None
    form: str

    @classmethod
    def of(cls, pairs: AllPairs | OrderedPairs, member: np.ndarray) -> _Sides:
        if pairs.n != member.size:
            raise InputError(f"{pairs.n} rows, but worst_of of shape {member.shape}")
        one = np.ones(pairs.n)
        if isinstance(pairs, OrderedPairs):
            upper, lower = (one if x is None else np.asarray(x) for x in (pairs.upper, pairs.lower))
            group = np.asarray(pairs.group, dtype=np.int64)
            return cls(group, pairs.key, upper, lower, pairs.gain, pairs.form)
        positive = pairs.positive
        weight = one if pairs.weight is None else pairs.weight
        group = np.zeros(pairs.n, dtype=np.int64)
        return cls(group, positive, weight * positive, weight * ~positive, None, "auto")

    def within(self, group: np.ndarray, inside: np.ndarray | None = None) -> OrderedPairs:
        """Return the pairs of the rows `inside`, with other groups; each has a unit of its own."""
        sides = (x if inside is None else x * inside for x in (self.upper, self.lower))
        return OrderedPairs(group, self.key, *sides, gain=self.gain, form=self.form)
