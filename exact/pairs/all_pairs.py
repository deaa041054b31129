"""Which pairs count, and how much: all of them, or a list.

Pair weights c_ij always add up to one, so every loss here is a mean over pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from ..errors import InputError
from ..losses.loss import Loss
from ..sums.assembled import PairSums
from ..sums.swept import COMPILED_FROM
from ..tools.checks import as_float_scores, as_numbers, check_scores, own, rescale_weights
from ..tools.rounding import is_long
from .enumerated import enumerated
from .labels import Labelled
from .near import Curved, Near, drawn, near_of_classes
from .pair_list import PairList

__all__ = ["COMPILED_FROM", "AllPairs", "PairList", "Pairs"]


class Pairs(Protocol):
    """A weighted set of positive-negative pairs of n rows, which owns the rows' labels."""

    @property
    def n(self) -> int:
        """Number of rows."""
        ...

    @property
    def positive(self) -> np.ndarray:
        """The positive rows: bool (n,)."""
        ...

    def count(self) -> int:
        """Return the number of pairs, as a Python integer."""
        ...

    def sums(self, scores: np.ndarray, loss: Loss, width: float = 0.0) -> PairSums:
        """Return the value, signed marginals and conjugate sum at given scores."""
        ...

    def row_mass(self) -> np.ndarray:
        """Return what the pairs of each row weigh together: (n,)."""
        ...


@dataclass(frozen=True, eq=False)
class AllPairs(Labelled, Curved):
    """Every positive row with every negative row: c_ij = a_i b_j, never materialised.

    [ScalingUp, eq. (4)]

    Parameters
    ----------
    weight : array (n,), optional
        Row weights, >= 0; a weight means repetition. Normalised within each class.
    form : {"auto", "numpy", "compiled", "binned"}
        Which form of the sums to use; "auto" takes the compiled one for many rows. "binned"
        needs no sort, for the hinge; its value is an upper bound.
    bins : int
        Bins a unit of score for "binned", a power of two.
    labels : bool array (n,), optional
        The positive rows; `on` sets them.
    """

    weight: np.ndarray | None = None
    form: str = "auto"
    bins: int = 1 << 14
    labels: np.ndarray | None = None

    def __post_init__(self) -> None:
        if self.form not in ("auto", "numpy", "compiled", "binned"):
            raise InputError(f"form must be auto, numpy, compiled or binned, not {self.form!r}")
        if self.weight is None:
            return
        weight = as_numbers("weights", self.weight)
        if weight.ndim != 1:
            raise InputError(f"weight must have one number a row; its shape is {weight.shape}")
        if not np.isfinite(weight).all() or (weight < 0).any():
            row = int(np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))[0])
            raise InputError(f"weight of row {row} is {weight[row]}: weights are finite and >= 0")
        object.__setattr__(self, "weight", own(rescale_weights(weight)))

    def check(self) -> None:
        """Raise `InputError` unless the weights fit the rows and leave both classes some."""
        if self.weight is not None:
            self.sides()

    def count(self) -> int:
        """Return n_pos times n_neg."""
        return self.n_pos * self.n_neg

    def sides(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the weights of the positive and of the negative rows, not normalised."""
        positive = self.positive
        if self.weight is None:
            n_pos = int(positive.sum())
            return np.ones(n_pos), np.ones(positive.size - n_pos)
        if self.weight.size != positive.size:
            raise InputError(f"weight has {self.weight.size} rows, the labels {positive.size}")
        a, b = self.weight[positive], self.weight[~positive]
        if not (a.sum() > 0 and b.sum() > 0):
            raise InputError("each class needs a row of positive weight")
        return a, b

    @property
    def mass(self) -> np.floating:
        """What all pairs weigh together before they are normalised."""
        return self._mass

    @cached_property
    def _mass(self) -> np.floating:
        a, b = self.sides()
        return a.sum(dtype=np.longdouble) * b.sum(dtype=np.longdouble)

    def normalised(self) -> tuple[np.ndarray, np.ndarray]:
        """Return a (n_pos,) and b (n_neg,), each adding up to one, with c_ij = a_i b_j."""
        if self.weight is None:
            sizes = self.n_pos, self.n_neg
            one_each = (np.full(n, float(np.longdouble(1) / n)) for n in sizes)
            return next(one_each), next(one_each)
        a, b = self.sides()
        whole = a.sum(dtype=np.longdouble), b.sum(dtype=np.longdouble)
        return (a / whole[0]).astype(float), (b / whole[1]).astype(float)

    def row_mass(self) -> np.ndarray:
        """Return what the pairs of each row weigh together: (n,)."""
        positive = self.positive
        if self.weight is None:
            n_pos = int(positive.sum())
            return np.where(positive, 1 / n_pos, 1 / (positive.size - n_pos))
        mass = np.empty(positive.size)
        mass[positive], mass[~positive] = self.normalised()
        return mass

    def sums(self, scores: np.ndarray, loss: Loss, width: float = 0.0) -> PairSums:
        """Return the value, signed marginals and conjugate sum at given scores.

        Parameters
        ----------
        scores : array (n,)
        loss : Loss
        width : float
            Smoothing of the hinge's slope; the value is never smoothed.
        """
        check_scores(scores, self.positive)
        scores = as_float_scores(scores)
        own = getattr(loss, "all_pairs", None)
        found = None if own is None else own(self, scores, width)
        return enumerated(self, scores, loss, width) if found is None else found

    def near(
        self, loss: Loss, scores: np.ndarray, width: float, size: int, rng: np.random.Generator
    ) -> Near:
        """See `Curved.near`."""
        even = self.weight is None
        masses = self.normalised()
        return near_of_classes(self.positive, masses, loss, scores, width, size, rng, even)

    def some(self, size: int, rng: np.random.Generator) -> Near:
        """See `Curved.some`."""
        sides = np.flatnonzero(self.positive), np.flatnonzero(~self.positive)
        i, j = (
            rows[drawn(mass, size, rng, self.weight is None)]
            for rows, mass in zip(sides, self.normalised(), strict=True)
        )
        return i, j, np.full(size, 1 / size)

    def compiled(self, *scores: np.ndarray) -> bool:
        """Whether compiled sums are to be used for these scores."""
        many = self.form == "auto" and sum(part.size for part in scores) >= COMPILED_FROM
        return not is_long(scores[0]) and (self.form == "compiled" or many)
