"""Ordered pairs: rows of a group above rows of the same group with a smaller key."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import InputError, TooLargeError, brief
from ..losses.registry import Hinge, Loss, Square, SquaredHinge, loss_slip
from ..sums import tree
from ..sums.swept import PairSums
from ..sums.tree import Arrangement, PairWeights, partners, rows_above
from ..tools.arrays import as_float64, as_float_scores, check_choice, check_labels, check_scores
from ..tools.rounding import UNIT, above, gamma, running_sum
from .all_pairs import BLOCK, PairBlock, check_rows, check_weights, one_by_one
from .near import Curved, Near

BITS = 52  # of the whole numbers that hold row weights: floats are exact below 2^53
LISTED = 2_000_000  # pairs up to which they are written out as a list
WEIGHT_UNITS = 16  # largest relative error of a listed pair's weight, in units in the last place
LARGEST_LEVEL = 20_000  # upper rows of a group up to which the programme over K is run: O(n^2)
FORMS = ("auto", "binned")  # see `OrderedPairs`


def one_a_row(queries: np.ndarray, n: int, name: str = "groups") -> np.ndarray:
    """Return the query of each row, or raise `InputError`, with a hint for sizes of groups."""
    if queries.shape == (n,):
        return queries
    sizes = queries.dtype.kind in "iu" and queries.ndim == 1 and int(queries.sum()) == n
    hint = "; of sizes of groups make np.repeat(np.arange(len(sizes)), sizes)" if sizes else ""
    raise InputError(f"{n} rows, but {name} of shape {queries.shape}: give one a row{hint}")


def as_codes(group: object, n: int) -> np.ndarray:
    """Return the group of each row as 0, 1, ...: (n,)."""
    if group is None:
        return np.zeros(n, dtype=np.int64)
    labels = one_a_row(check_labels(group), n)
    if labels.dtype.kind == "f":
        check_rows(np.isfinite(labels), labels, "the group", "groups must have a name")
    try:
        return np.unique(labels, return_inverse=True)[1].astype(np.int64)
    except TypeError:
        raise InputError("the groups are of mixed types: use numbers or strings") from None


def as_gain(values: object, at: Arrangement, key: np.ndarray) -> np.ndarray:
    """Return gains by place (n,): whole numbers that never grow where the key falls."""
    gain = check_weights("gain", values, key.size)
    if not (gain.max() < 2.0**BITS and (gain == np.floor(gain)).all()):
        raise InputError(f"gain must be whole numbers below 2^{BITS}")
    gain, key = gain.astype(np.int64)[at.order], key[at.order]
    same = at.group[1:] == at.group[:-1]
    wrong = same & ((gain[1:] > gain[:-1]) | ((key[1:] == key[:-1]) & (gain[1:] != gain[:-1])))
    if wrong.any():
        k = int(np.flatnonzero(wrong)[0])
        rows = f"{at.order[k]} and {at.order[k + 1]}"
        raise InputError(f"gain must grow with the key within a group: see rows {rows}")
    return gain


def whole_weights(weight: np.ndarray, paired: np.ndarray, most: float, rows: int) -> np.ndarray:
    """Return weights (n,) as whole numbers below 2^52 of one unit, exactly; rows that are not
    `paired` weigh nothing. `most` and `rows`, of a group, are for the advice."""
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
    # Weights of many rows are not split (`sums.tree`): their pairs must stay below 2^40.
    room = 2.0 ** (BITS - 1) if rows <= 4096 else np.sqrt(2.0**39 / rows)
    largest = int(np.floor(np.log10(room) - np.log10(most)))
    for k in range(largest):
        scaled = weight * 10.0**k
        if (np.abs(scaled - np.rint(scaled)) <= 2.0**-50 * scaled).all():
            return 10.0**k
    return 10.0**largest


def as_shares(share: object, at: Arrangement) -> np.ndarray:
    if isinstance(share, str):
        if share != "equal":
            raise InputError(f'share must be "equal" or one number per row, not {brief(share)}')
        return np.ones(at.group_ends.size)
    placed = check_weights("the share", share, at.group.size)[at.order]
    of_group = placed[at.group_ends - 1]
    other = placed != of_group[at.group]
    if other.any():
        row = int(at.order[np.argmax(other)])
        raise InputError(f"the share of row {row} differs from that of other rows of its group")
    return np.ldexp(of_group, -int(np.frexp(of_group.max())[1]))


def staircase_flow(levels: list[tuple[np.ndarray, np.ndarray]], cap: float) -> float:
    """Return M, the largest mass of a flow within one cap f a pair and the marginals.

    For weights 0 and 1 a group's pairs have one cap each, the group's factor f. Its blocks are
    levels 1 .. L, from the top; an upper row can pass mass to the lower rows of the levels below.
    With u_i, v_j what rows carry as upper and as lower ones, max-flow/min-cut gives

        M = min over k_1 .. k_L of
            sum u - sum_l T_l(k_l) + sum_l sum over the lower rows j of l of min(v_j, f K_l),

    T_l(k) the sum of the k largest u of level l and K_l = k_1 + ... + k_(l-1): a cut keeps some
    upper rows on its source's side, of each level those of the largest u, and each lower row is on
    the cheaper side. The minimum is found level by level, over K: O(n^2) for n upper rows of a
    group. Two levels are the theorem of `all_pairs.largest_flow`."""
    best, whole = np.zeros(1), 0.0  # the least cut so far, less the chosen u, for K = 0, 1, ...
    for u, v in levels:
        chosen, ranked = np.arange(best.size) * cap, np.sort(v)
        filled = running_sum(ranked).astype(float)
        full = np.searchsorted(ranked, chosen, side="right")
        best = best + filled[full] + (v.size - full) * chosen
        tops = running_sum(-np.sort(-u)).astype(float)
        later = np.full(best.size + u.size, np.inf)
        for k in range(u.size + 1):
            part = later[k : k + best.size]
            np.minimum(part, best - tops[k], out=part)
        best = later
        whole += float(u.sum())
    return whole + float(best.min())


@dataclass(frozen=True, eq=False)
class OrderedPairs(Curved):
    """The pairs (i, j) of one group with key_i > key_j: c_ij = a_i b_j / M, M = sum a_i b_j.

    All pairs of two classes, ranking by query [Joachims, KDD 2002], ordinal regression, survival
    and cross-group AUC are such pairs: `kinds` makes them. Pairs are never formed. The attribute
    `mass` is M in units of the whole-number weights, an int.

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
        values = as_float64(self.key, "key")
        if values.ndim != 1 or values.size == 0:
            raise InputError(f"key must have one number per row; its shape is {values.shape}")
        check_rows(np.isfinite(values), values, "the key", "keys must be finite")
        key, n = np.unique(values, return_inverse=True)[1].astype(np.int64), values.size
        group = as_codes(self.group, n)
        a, b = check_weights("upper", self.upper, n), check_weights("lower", self.lower, n)
        at = Arrangement.of(group, key, a > 0)
        a, b = a[at.order], b[at.order]
        above, below = rows_above(at, a > 0), partners(at, b > 0)
        most = float(max((a * (below > 0)).max(), (b * (above > 0)).max()))
        rows = int(np.diff(at.group_ends, prepend=0).max())
        a = whole_weights(a, below > 0, most, rows)
        b = whole_weights(b, above > 0, most, rows)
        gain = None if self.gain is None else as_gain(self.gain, at, key)
        share = None if self.share is None else as_shares(self.share, at)
        weights = PairWeights.of(at, a, b, gain, share)
        made = {"arrangement": at, "weights": weights, "a": a, "b": b, "group": group, "key": key}
        for name, value in made.items():
            object.__setattr__(self, name, value)

    @property
    def n(self) -> int:
        return int(self.key.size)

    @property
    def mass(self) -> int:
        return self.weights.mass

    @property
    def groups_with_pairs(self) -> int:
        at, low = self.arrangement, (self.b > 0).astype(np.int64)
        return int(np.unique(at.group[(self.a > 0) & (partners(at, low) > 0)]).size)

    def count(self) -> int:
        up, low = (self.a > 0).astype(np.int64), (self.b > 0).astype(np.int64)
        return sum((up * partners(self.arrangement, low)).tolist())

    def row_mass(self) -> np.ndarray:
        at, mass = self.arrangement, np.zeros(self.n)
        for term in self.weights.terms:
            both = term.a * partners(at, term.b) + term.b * rows_above(at, term.a)
            mass += float(term.coefficient) * both
        out = np.empty(self.n)
        out[at.order] = np.maximum(mass, 0.0) * self.weights.factor[at.group]
        return out

    def by_row(self) -> np.ndarray:
        """Return the whole-number weights of the rows as upper and as lower ones: (2, n)."""
        sides = np.empty((2, self.n), dtype=np.int64)
        sides[:, self.arrangement.order] = self.a, self.b
        return sides

    def sums(self, scores: np.ndarray, loss: Loss, width: float = 0.0) -> PairSums:
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
        if isinstance(loss, SquaredHinge | Square):
            return tree.ordered_quadratic(at, weights, scores, isinstance(loss, Square))
        if isinstance(loss, Hinge):
            found = tree.ordered_hinge(at, weights, scores, width, self.form == "binned")
            if found is not None:
                return found
        # Gains round no more than other weights: both of their products are whole numbers below
        # 2^40 (`tree.LARGEST_MASS`), so that they and their difference are exact.
        count = int((at.end - at.below).sum())
        return one_by_one(self._blocks(), count, at.order, scores, loss, width)

    def _blocks(self) -> Iterator[PairBlock]:
        """Yield all pairs: rows of one group, and those below the first of them."""
        at, weights, start = self.arrangement, self.weights, 0
        while start < self.n:
            first, end = int(at.below[start]), int(at.end[start])
            stop = min(end, start + max(1, BLOCK // max(1, end - first)))
            weight = np.zeros((stop - start, end - first))
            for term in weights.whole:
                a, b = term.a[start:stop].astype(float), term.b[first:end].astype(float)
                weight += term.coefficient * np.multiply.outer(a, b)
            weight *= weights.factor[at.group[start]]
            weight *= np.arange(first, end) >= at.below[start:stop, None]
            yield slice(start, stop), slice(first, end), weight
            start = stop

    def part(self, size: int, rng: np.random.Generator) -> tuple[np.ndarray, OrderedPairs] | None:
        """Return about `size` rows, whole groups of many, and their pairs; None without a pair."""
        groups = self.arrangement.group_ends.size
        if groups >= 200:  # groups from which a part of the pairs consists of whole groups
            wanted = max(1, round(groups * size / self.n))
            rows = np.flatnonzero(np.isin(self.group, rng.choice(groups, wanted, replace=False)))
        else:
            rows = np.sort(rng.choice(self.n, min(size, self.n), replace=False))
        try:
            return rows, self.among(rows)
        except InputError:
            return None

    def among(self, rows: np.ndarray) -> OrderedPairs:
        """Return the pairs of the named rows alone, numbered as they are named."""
        (a, b), share = self.by_row()[:, rows], self.share
        gain = None if self.gain is None else np.asarray(self.gain)[rows]
        if share is not None and not isinstance(share, str):
            share = np.asarray(share)[rows]
        return OrderedPairs(self.group[rows], self.key[rows], a, b, gain, share, self.form)

    def by(self, form: str) -> OrderedPairs:
        """Return the same pairs with another form of their sums; nothing is arranged anew."""
        check_choice("form", form, FORMS)
        same = copy(self)
        object.__setattr__(same, "form", form)
        return same

    def deficiency(self, u: np.ndarray, v: np.ndarray) -> tuple[float, float, float]:
        """Return M, eta and rounding as `all_pairs.deficiency`; sides without weight are in eta."""
        at, weights, term = self.arrangement, self.weights, self.weights.whole[0]
        if len(weights.whole) > 1 or max(int(term.a.max()), int(term.b.max())) > 1:
            raise InputError("marginals prove a bound for rows that weigh 0 or 1: give the scores")
        u, v = u[at.order], v[at.order]
        mass = float(u.sum()) + float(v.sum())
        up, low = term.a > 0, term.b > 0
        flow, start, block = 0.0, 0, 0
        for group, end in enumerate(at.group_ends.tolist()):
            if int(up[start:end].sum()) > LARGEST_LEVEL:
                most = f"more than {LARGEST_LEVEL} upper rows"
                raise TooLargeError(f"a group has {most}: give the scores, not the marginals")
            levels = []
            while start < end:
                rows = slice(start, int(at.block_ends[block]))
                levels.append((u[rows][up[rows]], v[rows][low[rows]]))
                start, block = rows.stop, block + 1
            if len(levels) > 1 and weights.factor[group] > 0:
                flow += max(staircase_flow(levels, float(weights.factor[group])), 0.0)
        # Sums of n terms, two more per level, each at most the mass and what u was subtracted from.
        rounding = 4 * gamma(4 * u.size + 64) * mass
        flow = min(flow, mass / 2)
        return flow, max(mass - 2 * flow, 0.0), rounding

    def listed(self, most: int | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Return rows i and j and weights of all pairs, or None where they are above `most`."""
        at, weights = self.arrangement, self.weights
        lower = at.end - at.below
        if int(lower.sum()) > (LISTED if most is None else most):
            return None
        i = np.repeat(np.arange(at.order.size), lower)
        j = np.arange(i.size) + np.repeat(at.below - (np.cumsum(lower) - lower), lower)
        c = np.zeros(i.size)
        for term in weights.whole:
            c += term.coefficient * (term.a[i].astype(float) * term.b[j].astype(float))
        c *= weights.factor[at.group[i]]
        held = c > 0
        return at.order[i[held]], at.order[j[held]], c[held]

    def draw(self, m: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows i and j of `m` pairs, drawn by weight with replacement: i by what its
        pairs weigh, then j by a search in what they weigh up to a place; in the order of i."""
        at, mass = self.arrangement, self._masses
        upper = np.searchsorted(mass, np.sort(rng.random(m)) * mass[-1], side="right")
        upper = np.minimum(upper, int(np.searchsorted(mass, mass[-1], side="left")))
        wanted = rng.random(m) * self._upto(upper, at.end[upper])
        low, high = at.below[upper], at.end[upper]
        while (high - low > 1).any():  # j is the last place with upto <= wanted
            middle = (low + high) // 2
            less = self._upto(upper, middle) <= wanted
            low, high = np.where(less, middle, low), np.where(less, high, middle)
        return at.order[upper], at.order[low]

    @cached_property
    def _masses(self) -> np.ndarray:
        """The running sums of what the pairs of each upper row weigh, by place."""
        at = self.arrangement
        whole = np.maximum(self._upto(np.arange(self.n), at.end), 0.0)
        return np.cumsum(whole * self.weights.factor[at.group])

    @cached_property
    def _slopes(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Of each term the upper weights by place, and the running sums of the lower ones."""
        return [
            (term.coefficient * term.a.astype(float), running_sum(term.b).astype(float))
            for term in self.weights.whole
        ]

    def _upto(self, place: np.ndarray, end: np.ndarray) -> np.ndarray:
        """Return what the pairs of rows at `place` with those below, before `end`, weigh."""
        first = self.arrangement.below[place]
        return np.add.reduce([a[place] * (b[end] - b[first]) for a, b in self._slopes])

    def some(self, size: int, rng: np.random.Generator) -> Near:
        found = self.listed(size)
        return (*self.draw(size, rng), np.full(size, 1 / size)) if found is None else found
