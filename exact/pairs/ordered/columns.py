"""What rows of ordered pairs are described by: groups, keys, weights, shares, as whole numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from ...errors import InputError, NoPairError
from ...sums.merged.arrangement import Arrangement
from ...tools.checks import as_numbers
from ...tools.lossless import check_labels

BITS = 52
"""Weights that are no whole numbers are held in so many bits."""


@contextmanager
def no_pair_means(reason: str) -> Iterator[None]:
    """Say why there is no pair in the words of the caller's problem."""
    try:
        yield
    except NoPairError:
        raise NoPairError(f"no pair is ordered: {reason}") from None


def as_grades(grade: object) -> np.ndarray:
    """Return grades as finite numbers (n,)."""
    grades = as_numbers("grade", grade)
    if not np.isfinite(grades).all():
        row = int(np.flatnonzero(~np.isfinite(grades).reshape(grades.shape[0], -1).all(axis=1))[0])
        raise InputError(f"the grade of row {row} is {grades[row]}: grades must be finite")
    return grades


def as_ranks(key: object) -> np.ndarray:
    """Return whole numbers (n,) in the order of `key`, equal where it is equal."""
    values = as_numbers("key", key)
    if values.ndim != 1 or values.size == 0:
        raise InputError(f"key must have one number a row; its shape is {values.shape}")
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values))[0])
        raise InputError(f"the key of row {row} is {values[row]}: keys must be finite")
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def as_codes(group: object, n: int) -> np.ndarray:
    """Return the group of each row as 0, 1, ..., without gaps: (n,)."""
    if group is None:
        return np.zeros(n, dtype=np.int64)
    labels = check_labels(group)
    if labels.shape != (n,):
        raise InputError(f"{n} rows, but groups of shape {labels.shape}")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        row = int(np.flatnonzero(~np.isfinite(labels))[0])
        raise InputError(f"the group of row {row} is {labels[row]}: groups must have a name")
    try:
        return np.unique(labels, return_inverse=True)[1].astype(np.int64)
    except TypeError:
        raise InputError("the groups are of mixed types: use numbers or strings") from None


def as_whole_weights(name: str, values: object, n: int) -> np.ndarray:
    """Return row weights (n,) as whole numbers below 2^52 of one unit; one each for None.

    Weights that are not whole are rounded to multiples of 2^-52 of the power of two above the
    largest: that is what they are from then on.
    """
    if values is None:
        return np.ones(n, dtype=np.int64)
    weight = as_numbers(name, values)
    if weight.shape != (n,):
        raise InputError(f"{n} rows, but {name} of shape {weight.shape}")
    if not np.isfinite(weight).all() or (weight < 0).any():
        row = int(np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))[0])
        raise InputError(f"{name} of row {row} is {weight[row]}: it must be finite and >= 0")
    top = float(weight.max())
    if top < 2.0**BITS and bool((weight == np.floor(weight)).all()):
        return weight.astype(np.int64)
    if name == "gain":
        raise InputError("gain must be whole numbers below 2^52")
    return np.minimum(np.rint(scaled_weights(weight)), 2.0**BITS - 1).astype(np.int64)


def scaled_weights(weight: np.ndarray) -> np.ndarray:
    """Return weights (n,) in units of 2^-52 of the power of two above the largest."""
    return np.ldexp(weight, BITS - int(np.frexp(float(weight.max()))[1]))


def as_shares(share: object, at: Arrangement) -> np.ndarray:
    """Return what each group weighs: (groups,)."""
    if isinstance(share, str):
        if share != "equal":
            raise InputError(f'share must be "equal" or one number a row, not {share!r}')
        return np.ones(at.group_ends.size)
    values = as_numbers("share", share)
    if values.shape != at.group.shape:
        raise InputError(f"{at.group.size} rows, but shares of shape {values.shape}")
    if not np.isfinite(values).all() or (values < 0).any():
        row = int(np.flatnonzero(~(np.isfinite(values) & (values >= 0)))[0])
        raise InputError(f"the share of row {row} is {values[row]}: shares are finite and >= 0")
    placed = values[at.order]
    of_group = placed[at.group_ends - 1]
    if (placed != of_group[at.group]).any():
        row = int(at.order[np.flatnonzero(placed != of_group[at.group])[0]])
        raise InputError(f"the share of row {row} differs from that of other rows of its group")
    top = float(of_group.max())
    return of_group if top == 0 else np.ldexp(of_group, -int(np.frexp(top)[1]))
