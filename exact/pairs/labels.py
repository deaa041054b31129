"""The two classes: which rows are positive, and sets of pairs that know it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from typing import Self

import numpy as np

from ..errors import InputError, brief
from ..tools.lossless import as_float64, check_labels, in_memory, why_unsorted

_BLOCK = 1 << 16  # labels that are looked at at a time


class Labelled(ABC):
    """Base of the sets of pairs that own the labels of their rows. A set without labels is a
    description ("all pairs"); `on` turns it into the pairs of given rows."""

    labels: np.ndarray | None

    @property
    def positive(self) -> np.ndarray:
        """The positive rows: bool (n,)."""
        if self.labels is None:
            raise InputError("these pairs have no labels yet: call on(positive) first")
        return self.labels

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.positive.size)

    @property
    def n_pos(self) -> int:
        """Number of positive rows."""
        return int(np.count_nonzero(self.positive))

    @property
    def n_neg(self) -> int:
        """Number of negative rows."""
        return self.n - self.n_pos

    def on(self, positive: np.ndarray) -> Self:
        """Return the same pairs of rows whose positive ones are `positive`."""
        positive = in_memory(np.asarray(positive))
        if positive.dtype != bool or positive.ndim != 1:
            raise InputError("positive must be a boolean array, True on the positive rows")
        if not positive.any() or positive.all():
            present = "positive" if positive.all() else "negative"
            raise InputError(f"all {positive.size} rows are {present}: pairs need both classes")
        labelled = copy(self)  # not `replace`, which would normalise weights once more
        object.__setattr__(labelled, "labels", positive)
        labelled.check()
        return labelled

    @abstractmethod
    def check(self) -> None:
        """Raise `InputError` unless the labels fit the pairs."""


def check_rows(fine: np.ndarray, values: np.ndarray, what: str, rule: str) -> None:
    """Raise `InputError` that names the first row whose value is not fine."""
    if not fine.all():
        row = int(np.argmin(fine))
        raise InputError(f"{what} of row {row} is {values[row]}: {rule}")


def check_weights(name: str, values: object, n: int | None = None) -> np.ndarray:
    """Return row weights (n,), finite and >= 0; one each for None."""
    weight = np.ones(n or 0) if values is None else as_float64(values, name)
    if weight.ndim != 1 or n not in (None, weight.size):
        rows = "" if n is None else f" ({n} rows)"
        raise InputError(f"{name} must have one number per row{rows}, not shape {weight.shape}")
    fine = np.isfinite(weight) & (weight >= 0)
    check_rows(fine, weight, name, "it must be finite and >= 0")
    return weight


def split_labels(y: object, positive: object = None) -> tuple[np.ndarray, object, object]:
    """Return the mask of the positive rows, the positive label and the other one."""
    labels = check_labels(y)
    if labels.ndim != 1:
        found = "it is None" if y is None else f"its shape is {labels.shape}"
        raise InputError(f"y must have one label per row; {found}")
    if labels.dtype.kind == "f":
        rule = "remove the row or set a label"
        check_rows(np.isfinite(labels), labels, "the label", rule)
    try:
        kinds = kinds_of(labels)
    except TypeError:
        raise InputError(why_unsorted(labels)) from None
    if kinds.size != 2:
        shown = ", ".join([repr(kind) for kind in kinds[:6].tolist()] + ["..."] * (kinds.size > 6))
        raise InputError(f"y must have exactly two classes, it has {kinds.size}: {shown}")
    if positive is None:
        chosen = kinds[1]
    else:
        wanted = _plain(positive)  # as numpy compares, 2.0**53 is the label 2**53 + 1
        match = [kind for kind in kinds if _plain(kind) == wanted or str(kind) == str(positive)]
        if not match:
            known = kinds.tolist()
            raise InputError(f"the positive label {brief(positive)} does not occur in y: {known}")
        chosen = match[0]
    other = kinds[0] if chosen == kinds[1] else kinds[1]
    return labels == chosen, _plain(chosen), _plain(other)


def kinds_of(labels: np.ndarray) -> np.ndarray:
    """Return the different labels, ascending: a block at a time, as sorting many takes long."""
    kinds = np.unique(labels[:_BLOCK])
    for start in range(_BLOCK, labels.size, _BLOCK):
        block = labels[start : start + _BLOCK]
        if kinds.size == 2 and bool(((block == kinds[0]) | (block == kinds[1])).all()):
            continue
        kinds = np.unique(np.concatenate([kinds, np.unique(block)]))
        if kinds.size > 6:
            break
    return kinds


def _plain(label: object) -> object:
    """Return a label as a plain Python object."""
    return label.item() if isinstance(label, np.generic) else label
