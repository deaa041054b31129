"""Pairs that are listed: drawn, with their multiplicities, or nearest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..losses.loss import Loss, steepness
from ..losses.registry import HINGE
from ..sums.assembled import PairSums
from ..tools.checks import as_float_scores, as_numbers, check_scores, own, rescale_weights
from ..tools.lossless import in_memory
from ..tools.rounding import gamma, short_chain, short_sum, unit_of
from .labels import Labelled
from .near import Curved, Near, near_of_list


@dataclass(frozen=True, eq=False)
class PairList(Labelled, Curved):
    """A list of pairs, drawn (multiplicities kept) or nearest. [ScalingUp, eq. (6)]

    Parameters
    ----------
    i, j : int arrays (m,)
        Rows of the positive and of the negative partner.
    weight : array (m,), optional
        Pair weights, >= 0; normalised to add up to one.
    labels : bool array (n,), optional
        The positive rows; `on` sets them.
    """

    i: np.ndarray
    j: np.ndarray
    weight: np.ndarray | None = None
    labels: np.ndarray | None = None

    def __post_init__(self) -> None:
        i, j = in_memory(np.asarray(self.i)), in_memory(np.asarray(self.j))
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
        weight = rescale_weights(weight)
        object.__setattr__(self, "i", own(i))
        object.__setattr__(self, "j", own(j))
        object.__setattr__(self, "weight", weight / weight.sum())

    @property
    def c(self) -> np.ndarray:
        """Pair weights, adding up to one: (m,)."""
        assert self.weight is not None
        return self.weight

    def count(self) -> int:
        """Return the length of the list."""
        return int(self.i.size)

    def check(self) -> None:
        """Raise `InputError` unless every i is a positive row and every j a negative one."""
        positive, top = self.positive, self.n
        if min(self.i.min(), self.j.min()) < 0 or max(self.i.max(), self.j.max()) >= top:
            raise InputError(f"the pair list names rows outside 0 .. {top - 1}")
        bad = np.flatnonzero(~positive[self.i] | positive[self.j])
        if bad.size:
            k = int(bad[0])
            raise InputError(
                f"pair {k} = ({self.i[k]}, {self.j[k]}) is not a positive row with a negative row"
            )

    def row_mass(self) -> np.ndarray:
        """Return what the pairs of each row weigh together: (n,)."""
        both = np.concatenate([self.i, self.j])
        return np.bincount(both, weights=np.tile(self.c, 2), minlength=self.n)

    def named(self) -> np.ndarray:
        """Return which rows are in a pair: bool (n,)."""
        found = np.zeros(self.n, dtype=bool)
        found[self.i] = found[self.j] = True
        return found

    def among(self, named: np.ndarray) -> PairList:
        """Return the same pairs, their rows numbered among those of the mask `named` (n,)."""
        place = np.cumsum(named) - 1
        return PairList(place[self.i], place[self.j], self.weight, self.positive[named])

    def margins(self, scores: np.ndarray) -> np.ndarray:
        """Return s_i - s_j for every listed pair: (m,)."""
        return scores[self.i] - scores[self.j]

    def near(
        self, loss: Loss, scores: np.ndarray, width: float, size: int, rng: np.random.Generator
    ) -> Near:
        """See `Curved.near`."""
        return near_of_list(self.i, self.j, self.c, loss, scores, width, size, rng)

    def some(self, size: int, rng: np.random.Generator) -> Near:
        """See `Curved.some`: all of them."""
        return self.i, self.j, self.c

    def sums(self, scores: np.ndarray, loss: Loss, width: float = 0.0) -> PairSums:
        """As `AllPairs.sums`, over the listed pairs."""
        check_scores(scores, self.positive)
        scores = as_float_scores(scores)
        t = self.margins(scores)
        alpha = loss.alpha(t, width)
        values = self.c * loss.value(t)
        c = self.marginals(alpha)
        mass, dual = self.c * np.abs(alpha), self.c * loss.dual(alpha)
        slip = gamma(3, unit_of(scores)) * (1.0 + np.abs(t))
        moved = self.c * slip * steepness(loss, t, slip)
        size = mass if loss == HINGE else mass * (1.0 + np.abs(alpha)) + np.abs(dual)
        value, m = float(short_sum(values)), self.i.size
        chain = gamma(short_chain(m) + 16)
        # Any alpha in its box is feasible, from whatever margins it was made: only sums round.
        return PairSums(
            value,
            c,
            float(short_sum(dual)),
            float(short_sum(self.c * alpha)),
            chain * value + float(short_sum(moved)) * (1 + chain),
            gamma(m + 8) * 2 * float(short_sum(mass)),
            chain * float(short_sum(size)),
        )

    def marginals(self, alpha: np.ndarray) -> np.ndarray:
        """Return the signed marginals of `alpha` (m,): (n,)."""
        n = self.n
        mass = self.c * alpha.astype(float)
        plus = np.bincount(self.i, weights=mass, minlength=n)
        return plus - np.bincount(self.j, weights=mass, minlength=n)

    def incidence(self) -> sp.csr_matrix:
        """Return A (m, n) with +1 at (k, i_k) and -1 at (k, j_k). [Nonlinear, Algorithm 2]"""
        m, n = self.i.size, self.n
        rows = np.repeat(np.arange(m), 2)
        columns = np.stack([self.i, self.j], axis=1).ravel()
        signs = np.tile([1.0, -1.0], m)
        return sp.csr_matrix((signs, (rows, columns)), shape=(m, n))
