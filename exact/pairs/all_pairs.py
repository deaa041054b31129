"""Which pairs count, and how much: all of them, or a list.

Pair weights c_ij always add up to one, so every loss here is a mean over pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from ..errors import InputError, TooLargeError
from ..losses.loss import Loss, steepness
from ..losses.registry import HINGE
from ..sums.assembled import PairSums
from ..tools.checks import as_float_scores, check_choice, check_scores, own, rescale_weights
from ..tools.lossless import as_float64, in_memory
from ..tools.rounding import gamma, short_chain, short_sum, unit_of
from .labels import Labelled, check_weights
from .near import Curved, Near, drawn, near_of_classes, near_of_list

LARGEST = 400_000_000  # most pairs to sum one by one: about ten seconds
BLOCK = 1 << 14  # pairs that are summed at a time: what is made of them stays in the cache


@dataclass(frozen=True, eq=False)
class AllPairs(Labelled, Curved):
    """Every positive row with every negative row: c_ij = a_i b_j, never materialised.

    [ScalingUp, eq. (4)]

    Parameters
    ----------
    weight : array (n,), optional
        Row weights, >= 0; a weight means repetition. Normalised within each class.
    form : {"auto", "binned"}
        "binned" needs no sort, for the hinge; its value is an upper bound.
    bins : int
        Bins per unit of score for "binned", a power of two.
    labels : bool array (n,), optional
        The positive rows; `on` sets them.
    """

    weight: np.ndarray | None = None
    form: str = "auto"
    bins: int = 1 << 14
    labels: np.ndarray | None = None

    def __post_init__(self) -> None:
        check_choice("form", self.form, ("auto", "binned"))
        if self.weight is None:
            return
        weight = check_weights("weight", self.weight)
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
        if self.weight is None:
            return np.ones(self.n_pos), np.ones(self.n_neg)
        positive = self.positive
        if self.weight.size != positive.size:
            raise InputError(f"weight has {self.weight.size} rows, the labels {positive.size}")
        a, b = self.weight[positive], self.weight[~positive]
        if not (a.sum() > 0 and b.sum() > 0):
            raise InputError("each class needs a row of positive weight")
        return a, b

    @cached_property
    def mass(self) -> np.floating:
        """What all pairs weigh together before they are normalised."""
        a, b = self.sides()
        return a.sum(dtype=np.longdouble) * b.sum(dtype=np.longdouble)

    def normalised(self) -> tuple[np.ndarray, np.ndarray]:
        """Return a (n_pos,) and b (n_neg,), each adding up to one, with c_ij = a_i b_j."""
        a, b = self.sides()
        return a / float(a.sum(dtype=np.longdouble)), b / float(b.sum(dtype=np.longdouble))

    def row_mass(self) -> np.ndarray:
        """Return what the pairs of each row weigh together: (n,)."""
        positive = self.positive
        mass = np.empty(positive.size)
        mass[positive], mass[~positive] = self.normalised()
        return mass

    def sums(self, scores: np.ndarray, loss: Loss, width: float = 0.0) -> PairSums:
        """Return the value, signed marginals and conjugate sum at `scores` (n,). `width` smooths
        the hinge's slope; the value is never smoothed."""
        check_scores(scores, self.positive)
        scores = as_float_scores(scores)
        own = getattr(loss, "all_pairs", None)
        found = None if own is None else own(self, scores, width)
        return enumerated(self, scores, loss, width) if found is None else found

    def near(
        self, loss: Loss, scores: np.ndarray, width: float, size: int, rng: np.random.Generator
    ) -> Near:
        return near_of_classes(self, loss, scores, width, size, rng)

    def some(self, size: int, rng: np.random.Generator) -> Near:
        sides = np.flatnonzero(self.positive), np.flatnonzero(~self.positive)
        i, j = (
            rows[drawn(mass, size, rng, self.weight is None)]
            for rows, mass in zip(sides, self.normalised(), strict=True)
        )
        return i, j, np.full(size, 1 / size)


# Rows and partners, as slices of an order of the rows, and what each pair of them weighs.
PairBlock = tuple[slice, slice, np.ndarray]


def enumerated(pairs: AllPairs, scores: np.ndarray, loss: Loss, width: float) -> PairSums:
    """Return the sums pair by pair, for a loss that has no quicker way: O(n_pos n_neg) time."""
    positive = pairs.positive
    a, b = (side / side.sum() for side in pairs.sides())

    def blocks() -> Iterator[PairBlock]:
        step = max(1, BLOCK // b.size)
        for start in range(0, a.size, step):
            some = slice(start, min(start + step, a.size))
            yield some, slice(a.size, None), np.multiply.outer(a[some], b)

    order = np.concatenate([np.flatnonzero(positive), np.flatnonzero(~positive)])
    return one_by_one(blocks(), a.size * b.size, order, scores, loss, width)


def one_by_one(
    blocks: Iterator[PairBlock], count: int, order: np.ndarray, scores: np.ndarray, loss: Loss,
    width: float,
) -> PairSums:  # fmt: skip
    """Return the sums over blocks of so many pairs. Weights round some ten times each."""
    if count > LARGEST:
        raise TooLargeError(
            f"the loss {loss.name!r} is summed pair by pair here, and {count} pairs are more than "
            f"{LARGEST}: take the hinge, its square or the square, give the loss an `all_pairs` "
            "method, or draw pairs"
        )
    s, net, sums, n = scores[order], np.zeros(order.size), np.zeros(5), order.size
    for rows, partners, weight in blocks:
        t = np.subtract.outer(s[rows], s[partners])
        t[weight == 0] = 0.0  # the loss of pairs without weight might overflow
        alpha = np.asarray(loss.clip(loss.alpha(t, width)), dtype=float)
        losses, slip = loss.value(t), gamma(3, unit_of(s)) * (1.0 + np.abs(t))
        moved, size = slip * steepness(loss, t, slip), np.abs(alpha) * (1.0 + np.abs(t)) + losses
        mass = weight * alpha
        net[rows] += mass.sum(axis=1)
        net[partners] -= mass.sum(axis=0)
        parts = weight * losses, weight * loss.dual(alpha), mass, weight * moved, weight * size
        sums += [float(part.sum()) for part in parts]
    c = np.empty(n)
    c[order] = net
    value, conjugate, total, moved, size = sums.tolist()
    chain = gamma(2 * n + 64)
    error = chain * size + moved
    return PairSums(value, c, conjugate, total, error, chain * 2 * size, error)


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
        weight = np.ones(i.size) if self.weight is None else as_float64(self.weight, "weights")
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
        return near_of_list(self.i, self.j, self.c, loss, scores, width, size, rng)

    def some(self, size: int, rng: np.random.Generator) -> Near:
        return self.i, self.j, self.c

    def sums(self, scores: np.ndarray, loss: Loss, width: float = 0.0) -> PairSums:
        """As `AllPairs.sums`, over the listed pairs."""
        check_scores(scores, self.positive)
        scores = as_float_scores(scores)
        t = self.margins(scores)
        alpha = loss.alpha(t, width)
        mass, dual = self.c * np.abs(alpha), self.c * loss.dual(alpha)
        slip = gamma(3, unit_of(scores)) * (1.0 + np.abs(t))
        moved = self.c * slip * steepness(loss, t, slip)
        size = mass if loss == HINGE else mass * (1.0 + np.abs(alpha)) + np.abs(dual)
        terms = self.c * loss.value(t), dual, self.c * alpha, moved, mass, size
        value, conjugate, total, moved, mass, size = (float(short_sum(x)) for x in terms)
        m, chain = self.i.size, gamma(short_chain(self.i.size) + 16)
        # Any alpha in its box is feasible, for any margins: only sums round.
        roundings = chain * value + moved * (1 + chain), gamma(m + 8) * 2 * mass, chain * size
        return PairSums(value, self.marginals(alpha), conjugate, total, *roundings)

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
