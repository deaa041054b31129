"""Which pairs count, and how much: all of them, or a list.

Pair weights c_ij always add up to one, so every loss here is a mean over pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..errors import InputError
from ..sums.counted import counted_hinge
from ..sums.grid import COMPILED_FROM, counted_sides, grid_ramps
from ..sums.sorted import (
    PairSums,
    SideSums,
    centred,
    hinge_sides,
    roundings,
    square_sides,
    squared_hinge_sides,
)
from ..tools.checks import as_numbers, check_scores, promoted, tamed
from ..tools.rounding import gamma, unit_of
from .losses import Loss
from .pair_list import PairList

__all__ = ["COMPILED_FROM", "AllPairs", "PairList", "Pairs"]


class Pairs(Protocol):
    """A weighted set of positive-negative pairs of n rows."""

    def count(self, positive: np.ndarray) -> int:
        """Return the number of pairs, as a Python integer."""
        ...

    def sums(
        self, scores: np.ndarray, positive: np.ndarray, loss: Loss, width: float = 0.0
    ) -> PairSums:
        """Return the value, signed marginals and conjugate sum at given scores."""
        ...

    def row_mass(self, positive: np.ndarray) -> np.ndarray:
        """Return what the pairs of each row weigh together: (n,)."""
        ...


@dataclass(frozen=True, eq=False)
class AllPairs:
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
    """

    weight: np.ndarray | None = None
    form: str = "auto"
    bins: int = 1 << 14

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
        object.__setattr__(self, "weight", tamed(weight))

    def check(self, positive: np.ndarray) -> None:
        """Raise `InputError` unless the weights fit the rows and leave both classes some."""
        if self.weight is not None:
            self.sides(positive)

    def count(self, positive: np.ndarray) -> int:
        """Return n_pos times n_neg."""
        n_pos = int(positive.sum())
        return n_pos * (positive.size - n_pos)

    def sides(self, positive: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the weights of the positive and of the negative rows, not normalised."""
        if self.weight is None:
            n_pos = int(positive.sum())
            return np.ones(n_pos), np.ones(positive.size - n_pos)
        if self.weight.size != positive.size:
            raise InputError(f"weight has {self.weight.size} rows, the labels {positive.size}")
        a, b = self.weight[positive], self.weight[~positive]
        if not (a.sum() > 0 and b.sum() > 0):
            raise InputError("each class needs a row of positive weight")
        return a, b

    def normalised(self, positive: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return a (n_pos,) and b (n_neg,), each adding up to one, with c_ij = a_i b_j."""
        a, b = self.sides(positive)
        whole = a.sum(dtype=np.longdouble), b.sum(dtype=np.longdouble)
        return (a / whole[0]).astype(float), (b / whole[1]).astype(float)

    def row_mass(self, positive: np.ndarray) -> np.ndarray:
        """Return what the pairs of each row weigh together: (n,)."""
        if self.weight is None:
            n_pos = int(positive.sum())
            return np.where(positive, 1 / n_pos, 1 / (positive.size - n_pos))
        mass = np.empty(positive.size)
        mass[positive], mass[~positive] = self.normalised(positive)
        return mass

    def sums(
        self, scores: np.ndarray, positive: np.ndarray, loss: Loss, width: float = 0.0
    ) -> PairSums:
        """Return the value, signed marginals and conjugate sum at given scores.

        Parameters
        ----------
        scores : array (n,)
        positive : bool array (n,)
        loss : Loss
        width : float
            Smoothing of the hinge's slope; the value is never smoothed.
        """
        check_scores(scores, positive)
        scores = promoted(scores)
        if self.form == "binned" and loss.name == "hinge":
            from ..sums.pair_sums_binned import binned_hinge

            held = scores.astype(float, copy=False)
            return binned_hinge(held, positive, self.weight, width, self.bins)
        if loss.name == "hinge" and self.weight is None and self._compiled(scores):
            found = counted_hinge(scores, positive, width)
            if found is not None:
                return found
        t, b, size = centred(scores, positive)
        weight_t, weight_b = self.sides(positive)
        if loss.name == "hinge":
            side = self._hinge_sides(t, b, weight_t, weight_b, width)
        elif loss.name == "squared_hinge":
            side = self._squared_hinge_sides(t, b, weight_t, weight_b)
        elif loss.name == "square":
            side = square_sides(t, b, weight_t, weight_b)
        else:
            raise InputError(f"no sums over all pairs are known for the loss {loss.name!r}")
        mass = weight_t.sum(dtype=np.longdouble) * weight_b.sum(dtype=np.longdouble)
        c = np.empty(positive.size)
        c[positive] = side.u / mass
        c[~positive] = -side.v / mass
        value, total = side.value / mass, side.u.sum(dtype=np.longdouble) / mass
        conjugate = float(total if loss.name == "hinge" else total - value)
        value = float(value) if loss.name == "square" else max(float(value), 0.0)
        smoothed = 0.0 if side.exact else width
        value_rounding, rounding = roundings(
            loss.name, positive.size, size, smoothed, unit_of(scores)
        )
        if side.near is not None:
            value_rounding *= min(float(side.near / mass) * (1 + 1e-9), 1.0)
        value_rounding += gamma(4) * abs(value)
        if loss.name == "hinge" and self.weight is None and smoothed == 0:
            rounding = 2 * gamma(8) * float(total)  # counts: only quotients round
        rounding += gamma(4) * float(np.abs(c).sum())
        cast = gamma(4) * (abs(float(total)) + abs(value))
        conjugate_rounding = rounding + cast
        if loss.name != "hinge":
            conjugate_rounding += value_rounding
        return PairSums(value, c, conjugate, value_rounding, rounding, conjugate_rounding)

    def _hinge_sides(
        self,
        t: np.ndarray,
        b: np.ndarray,
        weight_t: np.ndarray,
        weight_b: np.ndarray,
        width: float,
    ) -> SideSums:
        if not self._compiled(t, b):
            side = hinge_sides(t, b, weight_t, weight_b, width)
            if width > 0 and self.weight is None and self.form != "numpy":
                ramps = grid_ramps(t, b, np.argsort(t), np.argsort(b), width)
                return side if ramps is None else SideSums(side.value, *ramps, True, side.near)
            return side
        from ..sums.sorted_compiled import hinge_sides_compiled

        if width > 0 and self.weight is None:
            return counted_sides(t, b, width)
        return hinge_sides_compiled(t, b, weight_t, weight_b, width)

    def _squared_hinge_sides(
        self, t: np.ndarray, b: np.ndarray, weight_t: np.ndarray, weight_b: np.ndarray
    ) -> SideSums:
        if not self._compiled(t, b):
            return squared_hinge_sides(t, b, weight_t, weight_b)
        from ..sums.squared_hinge_compiled import squared_hinge_sides_compiled

        return squared_hinge_sides_compiled(t, b, weight_t, weight_b)

    def _compiled(self, *scores: np.ndarray) -> bool:
        many = self.form == "auto" and sum(part.size for part in scores) >= COMPILED_FROM
        return scores[0].dtype != np.longdouble and (self.form == "compiled" or many)
