"""What rows of ordered pairs are described by: groups, keys, weights, shares, as whole numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from ...errors import InputError, NoPairError
from ...sums.tree import Arrangement
from ...tools.checks import as_numbers
from ...tools.lossless import check_labels

BITS = 52  # Row weights are whole numbers of so many bits.


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


def check_weights(name: str, values: object, n: int) -> np.ndarray:
    """Return row weights (n,), finite and >= 0; one each for None."""
    if values is None:
        return np.ones(n)
    weight = as_numbers(name, values)
    if weight.shape != (n,):
        raise InputError(f"{n} rows, but {name} of shape {weight.shape}")
    if not np.isfinite(weight).all() or (weight < 0).any():
        row = int(np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))[0])
        raise InputError(f"{name} of row {row} is {weight[row]}: it must be finite and >= 0")
    return weight


def check_gain(values: object, n: int) -> np.ndarray:
    """Return gains (n,) as whole numbers."""
    gain = check_weights("gain", values, n)
    if not (gain.max() < 2.0**BITS and (gain == np.floor(gain)).all()):
        raise InputError(f"gain must be whole numbers below 2^{BITS}")
    return gain.astype(np.int64)


def whole_weights(weight: np.ndarray, paired: np.ndarray, most: float, rows: int) -> np.ndarray:
    """Return weights (n,) as whole numbers below 2^52 of one unit, exactly.

    Where they are not whole numbers already, rows that are not `paired` weigh nothing. `InputError`
    if there is no unit: `most` and `rows`, the largest weight of both sides and rows of a group,
    decide which factor is advised.
    """
    if weight.max() < 2.0**BITS and (weight == np.floor(weight)).all():
        return weight.astype(np.int64)
    weight = weight * paired
    top = float(weight.max())
    shift = BITS - int(np.frexp(top)[1])
    whole = np.floor(np.ldexp(weight, shift))
    if (np.ldexp(whole, -shift) != weight).any():
        raise InputError(
            "row weights of ordered pairs (by query, time or group) are held exactly, as whole "
            f"numbers below 2^{BITS}, and these are not: multiply them by "
            f"{_factor(weight, most, rows):g} and round them"
        )
    held = whole.astype(np.int64)
    bits = int(np.bitwise_or.reduce(held))
    return held // max(bits & -bits, 1)


def _factor(weight: np.ndarray, most: float, rows: int) -> float:
    """Return the least power of ten that makes weights whole, or else the largest that fits."""
    # Weights of many rows are not split (`merged.weights`): their pairs must stay below 2^40.
    room = 2.0 ** (BITS - 1) if rows <= 4096 else np.sqrt(2.0**39 / rows)
    largest = int(np.floor(np.log10(room) - np.log10(most)))
    for k in range(largest):
        scaled = weight * 10.0**k
        if (np.abs(scaled - np.rint(scaled)) <= 2.0**-50 * scaled).all():
            return 10.0**k
    return 10.0**largest


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
