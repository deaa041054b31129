"""Ordered pairs: rows of a group above rows of the same group with a smaller key."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...errors import InputError
from ...losses.hinge import Hinge
from ...losses.loss import Loss, loss_slip
from ...losses.square import Square
from ...losses.squared_hinge import SquaredHinge
from ...sums.assembled import PairSums
from ...sums.tree import (
    Arrangement,
    PairWeights,
    ordered_hinge,
    ordered_square,
    ordered_squared_hinge,
    partners,
    rows_above,
)
from ...tools.checks import as_float_scores, check_choice, check_scores
from ...tools.rounding import UNIT, above, gamma
from ..near import Curved, Near, near_of_list
from .columns import as_codes, as_ranks, as_shares, check_gain, check_weights, whole_weights
from .draws import Draws
from .listed_sums import enumerated_ordered, listed_pairs
from .staircase import staircase_deficiency

MANY_GROUPS = 200  # Groups from which a part of the pairs consists of whole groups.


FORMS = ("auto", "binned")  # See `OrderedPairs`.


@dataclass(frozen=True, eq=False)
class OrderedPairs(Curved):
    """The pairs (i, j) of one group with key_i > key_j: c_ij = a_i b_j / M, M = sum a_i b_j.

    All pairs of two classes, ranking by query [Joachims, KDD 2002], ordinal regression, survival
    and cross-group AUC are such pairs: `kinds` makes them. Pairs are never materialised.

    Parameters
    ----------
    group : array (n,) or None
        Pairs are within a group; None for one group.
    key : array (n,)
        Whole numbers or floats, finite; the row of the larger key should have the larger score.
    upper, lower : array (n,), optional
        Weights a and b of a row as the upper and as the lower one of a pair, >= 0; one each by
        default. Whole numbers below 2^52, or such multiples of one power of two; rows that are in
        no pair do not count.
    gain : array (n,), optional
        Whole numbers that grow with the key within a group: pairs weigh a_i b_j (gain_i - gain_j).
    share : mapping, array (n,) or "equal", optional
        What each group weighs, >= 0: c_ij = share_g a_i b_j / M_g, for groups that have a pair, the
        shares divided by their sum. An array has the group's share on each of its rows.
    form : {"auto", "binned"}
        "binned" sums the smoothed hinge on a grid no finer than its width asks for, if that is
        quicker: its value then has a larger bound of its rounding.

    Attributes
    ----------
    mass : int
        M, in units of the whole-number weights.

    Raises
    ------
    InputError
        If lengths differ, a number is not finite, a weight is negative, no pair has a weight, or
        weights are not held exactly: the message says the factor that makes them so.
    """

    group: Any
    key: Any
    upper: Any = None
    lower: Any = None
    gain: Any = None
    share: Any = None
    form: str = "auto"
    arrangement: Arrangement = field(init=False, repr=False)
    weights: PairWeights = field(init=False, repr=False)
    a: np.ndarray = field(init=False, repr=False)
    b: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_choice("form", self.form, FORMS)
        key = as_ranks(self.key)
        n = key.size
        group = as_codes(self.group, n)
        a, b = check_weights("upper", self.upper, n), check_weights("lower", self.lower, n)
        at = Arrangement.of(group, key, a > 0)
        a, b = a[at.order], b[at.order]
        above, below = rows_above(at, a > 0), partners(at, b > 0)
        most = float(max((a * (below > 0)).max(), (b * (above > 0)).max()))
        rows = int(np.diff(at.group_ends, prepend=0).max())
        a, b = (
            whole_weights(side, other > 0, most, rows) for side, other in ((a, below), (b, above))
        )
        gain = None if self.gain is None else check_gain(self.gain, n)[at.order]
        if gain is not None:
            _check_gain(at, gain, key[at.order])
        share = None if self.share is None else as_shares(self.share, at)
        weights = PairWeights.of(at, a, b, gain, share)
        made = {"arrangement": at, "weights": weights, "a": a, "b": b}
        for name, value in {**made, "group": group, "key": key}.items():
            object.__setattr__(self, name, value)

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.key.size)

    @property
    def mass(self) -> int:
        """M, what all pairs weigh together, in whole numbers."""
        return self.weights.mass

    @property
    def groups_with_pairs(self) -> int:
        """Number of groups that have a pair of weight."""
        at, low = self.arrangement, (self.b > 0).astype(np.int64)
        return int(np.unique(at.group[(self.a > 0) & (partners(at, low) > 0)]).size)

    def check(self) -> None:
        """Do nothing: ordered pairs are checked where they are made."""

    def count(self) -> int:
        """Return the number of pairs (i, j) of one group with key_i > key_j and a_i b_j > 0."""
        at = self.arrangement
        up, low = (self.a > 0).astype(np.int64), (self.b > 0).astype(np.int64)
        return sum((up * partners(at, low)).tolist())

    def row_mass(self) -> np.ndarray:
        """Return what the pairs of each row weigh together: (n,)."""
        at, mass = self.arrangement, np.zeros(self.n)
        for term in self.weights.terms:
            both = term.a * partners(at, term.b) + term.b * rows_above(at, term.a)
            mass += float(term.coefficient) * both
        out = np.empty(self.n)
        out[at.order] = np.maximum(mass, 0.0) * self.weights.factor[at.group]
        return out

    def sums(self, scores: np.ndarray, loss: Loss, width: float = 0.0) -> PairSums:
        """Return the value, signed marginals and conjugate sum at given scores.

        Parameters
        ----------
        scores : array (n,)
        loss : Loss
        width : float
            Smoothing of the hinge's slope; the value is never smoothed.
        """
        check_scores(scores, self.key)
        given = as_float_scores(scores)
        short = given.astype(float)
        found = self._sums(short, loss, width)
        if given.dtype == float:
            return found
        error = np.abs(given - short).astype(float) * (1 + 4 * UNIT)
        upper = found.value + found.value_rounding
        moved = loss_slip(loss, self.row_mass(), error, upper) * (1 + gamma(2 * self.n + 32))
        return replace(found, value_rounding=above(found.value_rounding + moved))

    def _sums(self, scores: np.ndarray, loss: Loss, width: float) -> PairSums:
        at, weights = self.arrangement, self.weights
        if isinstance(loss, SquaredHinge):
            return ordered_squared_hinge(at, weights, scores)
        if isinstance(loss, Square):
            return ordered_square(at, weights, scores)
        if isinstance(loss, Hinge):
            found = ordered_hinge(at, weights, scores, width, self.form == "binned")
            if found is not None:
                return found
        return enumerated_ordered(at, weights, scores, loss, width)

    @property
    def counted(self) -> bool:
        """Whether the hinge's marginals are whole numbers: long scores gain nothing then."""
        return True

    def part(self, size: int, rng: np.random.Generator) -> tuple[np.ndarray, OrderedPairs] | None:
        """Return about `size` rows and their pairs, or None where these rows have no pair.

        Whole groups are taken where there are many, single rows otherwise.

        Parameters
        ----------
        size : int
        rng : numpy Generator
        """
        groups = self.arrangement.group_ends.size
        codes = np.asarray(self.group)
        if groups >= MANY_GROUPS:
            wanted = max(1, round(groups * size / self.n))
            rows = np.flatnonzero(np.isin(codes, rng.choice(groups, wanted, replace=False)))
        else:
            rows = np.sort(rng.choice(self.n, min(size, self.n), replace=False))
        a, b = np.empty((2, self.n))
        a[self.arrangement.order], b[self.arrangement.order] = self.a, self.b
        gain, share = (None if x is None else np.asarray(x)[rows] for x in self._extra)
        try:
            pairs = OrderedPairs(
                codes[rows], self.key[rows], a[rows], b[rows], gain, share, self.form
            )
        except InputError:
            return None
        return rows, pairs

    def by(self, form: str) -> OrderedPairs:
        """Return the same pairs with another form of their sums; nothing is arranged anew."""
        check_choice("form", form, FORMS)
        same = copy(self)
        object.__setattr__(same, "form", form)
        return same

    def without_gain(self) -> OrderedPairs:
        """Return the same pairs, each weighing a_i b_j."""
        a, b = np.empty((2, self.n))
        a[self.arrangement.order], b[self.arrangement.order] = self.a, self.b
        return OrderedPairs(self.group, self.key, a, b, None, self.share, self.form)

    @property
    def _extra(self) -> tuple[Any, Any]:
        """The gains and the shares of the rows, each (n,) or None."""
        return self.gain, np.ones(self.n) if isinstance(self.share, str) else self.share

    def deficiency(self, u: np.ndarray, v: np.ndarray) -> tuple[float, float, float]:
        """Return the largest mass that marginals u, v (n,) carry, and how far they are from it.

        See `staircase.staircase_deficiency`.
        """
        return staircase_deficiency(self.arrangement, self.weights, u, v)

    def listed(self, most: int | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Return rows i and j and weights of all pairs, or None where they are above `most`."""
        return listed_pairs(self.arrangement, self.weights, most)

    def draw(self, m: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows i and j of `m` pairs, drawn by their weight with replacement.

        Parameters
        ----------
        m : int
        rng : numpy Generator
        """
        return self._draws.pairs(m, rng)

    def some(self, size: int, rng: np.random.Generator) -> Near:
        """See `Curved.some`: all pairs where there are no more."""
        found = self.listed(size)
        return (*self.draw(size, rng), np.full(size, 1 / size)) if found is None else found

    def near(
        self, loss: Loss, scores: np.ndarray, width: float, size: int, rng: np.random.Generator
    ) -> Near:
        """See `Curved.near`: drawn by weight, then those that are curved."""
        return near_of_list(*self.some(size, rng), loss, scores, width, size, rng)

    @cached_property
    def _draws(self) -> Draws:
        return Draws(self.arrangement, self.weights)


def _check_gain(at: Arrangement, gain: np.ndarray, key: np.ndarray) -> None:
    """Raise `InputError` unless gains (n,) by place never grow where the key falls."""
    same = at.group[1:] == at.group[:-1]
    wrong = same & ((gain[1:] > gain[:-1]) | ((key[1:] == key[:-1]) & (gain[1:] != gain[:-1])))
    if wrong.any():
        k = int(np.flatnonzero(wrong)[0])
        rows = f"{at.order[k]} and {at.order[k + 1]}"
        raise InputError(f"gain must grow with the key within a group: see rows {rows}")
