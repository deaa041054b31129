"""Which pairs count, and how much: all of them, or a list.

Pair weights c_ij always add up to one, so every loss here is a mean over pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from .errors import InputError
from .losses import Loss
from .pair_sums import (
    PairSums,
    SideSums,
    centred,
    hinge_sides,
    roundings,
    square_sides,
    squared_hinge_sides,
)
from .pair_sums_grid import COMPILED_FROM, counted_sides, grid_ramps
from .parameters import as_numbers, check_scores, tamed
from .rounding import gamma, unit_of


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
        if self.form == "binned" and loss.name == "hinge":
            from .pair_sums_binned import binned_hinge

            return binned_hinge(scores.astype(float), positive, self.weight, width, self.bins)
        t, b, size = centred(scores, positive)
        weight_t, weight_b = self.sides(positive)
        if loss.name == "hinge":
            side = self._hinge_sides(t, b, weight_t, weight_b, width)
        elif loss.name == "squared_hinge":
            side = squared_hinge_sides(t, b, weight_t, weight_b)
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
        many = self.form == "auto" and t.size + b.size >= COMPILED_FROM
        fast = t.dtype != np.longdouble and (self.form == "compiled" or many)
        if not fast:
            side = hinge_sides(t, b, weight_t, weight_b, width)
            if width > 0 and self.weight is None and self.form != "numpy":
                ramps = grid_ramps(t, b, np.argsort(t), np.argsort(b), width)
                return side if ramps is None else SideSums(side.value, *ramps, True, side.near)
            return side
        from .pair_sums_compiled import hinge_sides_compiled

        if width > 0 and self.weight is None:
            return counted_sides(t, b, width)
        return hinge_sides_compiled(t, b, weight_t, weight_b, width)


@dataclass(frozen=True, eq=False)
class PairList:
    """A list of pairs, drawn (multiplicities kept) or nearest. [ScalingUp, eq. (6)]

    Parameters
    ----------
    i, j : int arrays (m,)
        Rows of the positive and of the negative partner.
    weight : array (m,), optional
        Pair weights, >= 0; normalised to add up to one.
    """

    i: np.ndarray
    j: np.ndarray
    weight: np.ndarray | None = None

    def __post_init__(self) -> None:
        i, j = np.asarray(self.i), np.asarray(self.j)
        if i.ndim != 1 or i.shape != j.shape or i.size == 0:
            shapes = f"{i.shape} and {j.shape}"
            raise InputError(f"a pair list needs two index arrays of one length > 0, not {shapes}")
        if not (np.issubdtype(i.dtype, np.integer) and np.issubdtype(j.dtype, np.integer)):
            raise InputError("the indices of a pair list must be whole numbers")
        weight = np.ones(i.size) if self.weight is None else as_numbers("weights", self.weight)
        if weight.shape != i.shape:
            raise InputError(f"{i.size} pairs, but weights of shape {weight.shape}")
        if not np.isfinite(weight).all() or (weight < 0).any() or not weight.max() > 0:
            raise InputError("pair weights must be finite, >= 0 and not all zero")
        weight = tamed(weight)
        object.__setattr__(self, "i", i)
        object.__setattr__(self, "j", j)
        object.__setattr__(self, "weight", weight / weight.sum())

    @property
    def c(self) -> np.ndarray:
        """Pair weights, adding up to one: (m,)."""
        assert self.weight is not None
        return self.weight

    def count(self, positive: np.ndarray) -> int:
        """Return the length of the list."""
        return int(self.i.size)

    def check(self, positive: np.ndarray) -> None:
        """Raise `InputError` unless every i is a positive row and every j a negative one."""
        top = positive.size
        if min(self.i.min(), self.j.min()) < 0 or max(self.i.max(), self.j.max()) >= top:
            raise InputError(f"the pair list names rows outside 0 .. {top - 1}")
        bad = np.flatnonzero(~positive[self.i] | positive[self.j])
        if bad.size:
            k = int(bad[0])
            raise InputError(
                f"pair {k} = ({self.i[k]}, {self.j[k]}) is not a positive row with a negative row"
            )

    def row_mass(self, positive: np.ndarray) -> np.ndarray:
        """Return what the pairs of each row weigh together: (n,)."""
        both = np.concatenate([self.i, self.j])
        return np.bincount(both, weights=np.tile(self.c, 2), minlength=positive.size)

    def margins(self, scores: np.ndarray) -> np.ndarray:
        """Return s_i - s_j for every listed pair: (m,)."""
        return scores[self.i] - scores[self.j]

    def sums(
        self, scores: np.ndarray, positive: np.ndarray, loss: Loss, width: float = 0.0
    ) -> PairSums:
        """As `AllPairs.sums`, over the listed pairs."""
        check_scores(scores, positive)
        t = self.margins(scores)
        alpha = loss.alpha(t, width)
        values = self.c * loss.value(t)
        c = self.marginals(alpha, positive.size)
        mass, dual = self.c * np.abs(alpha), self.c * loss.dual(alpha)
        slip = gamma(3, unit_of(scores)) * (1.0 + np.abs(t))
        if loss.name == "hinge":
            moved, size = float((self.c * slip).sum()), float(mass.sum())
        else:
            moved = float((self.c * slip * (np.abs(alpha) + slip)).sum())
            size = float((mass * (1.0 + np.abs(alpha))).sum())
        # Any alpha in its box is feasible, from whatever margins it was made: only sums round.
        return PairSums(
            float(values.sum()),
            c,
            float(dual.sum()),
            gamma(96) * float(values.sum()) + moved,
            gamma(self.i.size + 8) * 2 * float(mass.sum()),
            gamma(96) * size,
        )

    def marginals(self, alpha: np.ndarray, n: int) -> np.ndarray:
        """Return the signed marginals of `alpha` (m,): (n,)."""
        mass = self.c * alpha.astype(float)
        plus = np.bincount(self.i, weights=mass, minlength=n)
        return plus - np.bincount(self.j, weights=mass, minlength=n)

    def incidence(self, n: int) -> sp.csr_matrix:
        """Return A (m, n) with +1 at (k, i_k) and -1 at (k, j_k). [Nonlinear, Algorithm 2]"""
        m = self.i.size
        rows = np.repeat(np.arange(m), 2)
        columns = np.stack([self.i, self.j], axis=1).ravel()
        signs = np.tile([1.0, -1.0], m)
        return sp.csr_matrix((signs, (rows, columns)), shape=(m, n))
