"""The two classes, and how much their pairs count: all of them, or a list. The pair weights c_ij
add up to one, so every loss here is a mean over pairs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import scipy.sparse as sp

from ..errors import InputError, TooLargeError, brief
from ..losses.registry import HINGE, Loss, steepness
from ..sums.swept import LOOKED_AT, PairSums, SortedRows
from ..tools import arrays, rounding
from ..tools.arrays import as_float64, as_float_scores, check_scores, in_memory, own
from ..tools.rounding import gamma, remaining_sum, running_sum, short_chain, short_sum, unit_of
from .near import ENOUGH, MARGINS, WIDER, Curved, Near, bend, draw_from_ranges, drawn, near_of_list

LARGEST = 400_000_000  # most pairs to sum one by one: about ten seconds
LABELS = 1 << 16  # labels that are looked at at a time
BLOCK = 1 << 14  # pairs that are summed at a time: what is made of them stays in the cache
PairBlock = tuple[slice, slice, np.ndarray]  # rows and partners in an order, and pairs' weights


class Labelled(ABC):
    """Base of the sets of pairs that own the labels of their rows; `on` gives a set labels."""

    labels: np.ndarray | None

    @property
    def positive(self) -> np.ndarray:
        """The positive rows: bool (n,)."""
        if self.labels is None:
            raise InputError("these pairs have no labels yet: call on(positive) first")
        return self.labels

    @property
    def n(self) -> int:
        return int(self.positive.size)

    @cached_property
    def n_pos(self) -> int:
        return int(np.count_nonzero(self.positive))

    @property
    def n_neg(self) -> int:
        return self.n - self.n_pos

    @cached_property
    def places(self) -> tuple[np.ndarray, np.ndarray]:
        """The positive rows (n_pos,) and the negative rows, ascending."""
        return np.flatnonzero(self.positive), np.flatnonzero(~self.positive)

    def on(self, positive: np.ndarray) -> Self:
        """Return the same pairs of rows whose positive ones are `positive`."""
        positive = in_memory(np.asarray(positive))
        if positive.dtype != bool or positive.ndim != 1:
            raise InputError("positive must be a boolean array, True on the positive rows")
        if not positive.any() or positive.all():
            present = "positive" if positive.all() else "negative"
            raise InputError(f"all {positive.size} rows are {present}: pairs need both classes")
        labelled = copy(self)  # not `replace`, which would normalise weights once more
        for known in ("n_pos", "places", "sides", "mass"):  # of other labels
            vars(labelled).pop(known, None)
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
    labels = arrays.check_labels(y)
    if labels.ndim != 1:
        found = "it is None" if y is None else f"its shape is {labels.shape}"
        raise InputError(f"y must have one label per row; {found}")
    if labels.dtype.kind == "f":
        check_rows(np.isfinite(labels), labels, "the label", "remove the row or set a label")
    try:
        kinds = kinds_of(labels)
    except TypeError:
        raise InputError(arrays.why_unsorted(labels)) from None
    if kinds.size != 2:
        shown = ", ".join([repr(kind) for kind in kinds[:6].tolist()] + ["..."] * (kinds.size > 6))
        shown = f": {shown}" if shown else ""
        many = "more than 6" if kinds.size > 6 else kinds.size  # no more are counted
        raise InputError(f"y must have exactly two classes, it has {many}{shown}")
    chosen = kinds[1]
    if positive is not None:
        wanted = _plain(positive)  # as numpy compares, 2.0**53 is the label 2**53 + 1
        match = [kind for kind in kinds if _plain(kind) == wanted or str(kind) == str(positive)]
        if not match:
            known = kinds.tolist()
            raise InputError(f"the positive label {brief(positive)} does not occur in y: {known}")
        chosen = match[0]
    other = kinds[0] if chosen == kinds[1] else kinds[1]
    return labels == chosen, _plain(chosen), _plain(other)


def kinds_of(labels: np.ndarray) -> np.ndarray:
    """Return the different labels, ascending, at most some above six: a block at a time."""
    kinds = np.unique(labels[:LABELS])
    for start in range(LABELS, labels.size, LABELS):
        block = labels[start : start + LABELS]
        if kinds.size == 2 and bool(((block == kinds[0]) | (block == kinds[1])).all()):
            continue
        kinds = np.unique(np.concatenate([kinds, np.unique(block)]))
        if kinds.size > 6:
            break
    return kinds


def _plain(label: object) -> object:
    return label.item() if isinstance(label, np.generic) else label


@dataclass(frozen=True, eq=False)
class AllPairs(Labelled, Curved):
    """Every positive with every negative row: c_ij = a_i b_j, never formed. [ScalingUp, eq. (4)]

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
        arrays.check_choice("form", self.form, ("auto", "binned"))
        if self.weight is not None:
            weight = arrays.rescale_weights(check_weights("weight", self.weight))
            object.__setattr__(self, "weight", own(weight))

    def check(self) -> None:
        if self.weight is not None:
            _ = self.sides  # which are checked where they are made

    def count(self) -> int:
        if self.weight is None:
            return self.n_pos * self.n_neg
        a, b = self.sides
        return int(np.count_nonzero(a)) * int(np.count_nonzero(b))

    @cached_property
    def sides(self) -> tuple[np.ndarray, np.ndarray]:
        """The weights of the positive and of the negative rows, not normalised."""
        if self.weight is None:
            return np.ones(self.n_pos), np.ones(self.n_neg)
        if self.weight.size != self.n:
            raise InputError(f"weight has {self.weight.size} rows, the labels {self.n}")
        a, b = self.weight[self.positive], self.weight[~self.positive]
        if not (a.sum() > 0 and b.sum() > 0):
            raise InputError("each class needs a row of positive weight")
        return a, b

    @cached_property
    def mass(self) -> np.floating:
        """What all pairs weigh together before they are normalised."""
        a, b = self.sides
        return a.sum(dtype=np.longdouble) * b.sum(dtype=np.longdouble)

    def normalised(self) -> tuple[np.ndarray, np.ndarray]:
        """Return a (n_pos,) and b (n_neg,), each adding up to one, with c_ij = a_i b_j."""
        a, b = self.sides
        return a / float(a.sum(dtype=np.longdouble)), b / float(b.sum(dtype=np.longdouble))

    def row_mass(self) -> np.ndarray:
        """Return what the pairs of each row weigh together: (n,)."""
        if self.weight is None:
            return np.where(self.positive, 1 / self.n_pos, 1 / self.n_neg)
        mass, (plus, minus) = np.empty(self.n), self.places
        mass[plus], mass[minus] = self.normalised()
        return mass

    def sums(self, scores: np.ndarray, loss: Loss, width: float = 0.0) -> PairSums:
        """Return the sums at `scores` (n,); `width` smooths the hinge's slope, never the value."""
        check_scores(scores, self.positive)
        scores = as_float_scores(scores)
        quick = getattr(loss, "all_pairs", None)
        found = None if quick is None else quick(self, scores, width)
        return enumerated(self, scores, loss, width) if found is None else found

    def near(
        self, loss: Loss, scores: np.ndarray, width: float, size: int, rng: np.random.Generator
    ) -> Near:
        plus, minus = self.places
        low, high = -np.inf, np.inf  # the margins between which the loss is curved
        if loss != HINGE:
            # 20: up to so many times the wanted pairs, all pairs are looked at
            if plus.size * minus.size <= 20 * size:
                # Near separation hardly any pair is curved, and draws by weight find none.
                i, j = np.repeat(plus, minus.size), np.tile(minus, plus.size)
                c = np.outer(*self.normalised()).ravel()
                return near_of_list(i, j, c, loss, scores, width, size, rng)
            curved = np.flatnonzero(bend(loss, MARGINS, width) > 0)
            if curved.size:
                ends = np.concatenate([[low], MARGINS, [high]])
                low, high = ends[curved[0]], ends[curved[-1] + 2]
            if low == -np.inf and high == np.inf:
                i, j, share = self.some(size, rng)
                return i, j, bend(loss, scores[i] - scores[j], width) * share
        # No margin is larger than the range of the scores, and a window has two sides.
        top = 2.02 * (float(np.ptp(scores)) + 1.0)
        enough = min(size, plus.size * minus.size) // ENOUGH
        order = SortedRows.of(scores, self.positive, top) if loss == HINGE else None
        mass, rows, others = self.row_mass(), plus[:: -(-plus.size // LOOKED_AT)], minus
        if order is None:
            others = minus[np.argsort(scores[minus])]
        while True:
            if order is not None:
                rows, others, first, counts = order.windows(width)
            else:
                if loss == HINGE:
                    low, high = 1.0 - width / 2, 1.0 + width / 2
                t, below = scores[rows], scores[others]
                first = np.searchsorted(below, t - high, side="right")
                counts = np.maximum(np.searchsorted(below, t - low, side="left") - first, 0)
            row, place, stands = draw_from_ranges(counts, size, rng)
            i, j = rows[row], others[first[row] + place]
            share = mass[i] * mass[j] * stands * (plus.size / rows.size)
            if i.size >= enough or width >= top or loss != HINGE:
                break
            width = min(WIDER * width, top)
        # Inside the window the slope of a kinked loss is a ramp of steepness 1 / width.
        curvature = 1 / width if loss == HINGE else bend(loss, scores[i] - scores[j], width)
        return i, j, share * curvature

    def some(self, size: int, rng: np.random.Generator) -> Near:
        (plus, minus), (a, b), even = self.places, self.normalised(), self.weight is None
        i, j = plus[drawn(a, size, rng, even)], minus[drawn(b, size, rng, even)]
        return i, j, np.full(size, 1 / size)


def enumerated(pairs: AllPairs, scores: np.ndarray, loss: Loss, width: float) -> PairSums:
    """Return the sums pair by pair, for a loss that has no quicker way: O(n_pos n_neg) time."""
    a, b = (side / side.sum() for side in pairs.sides)

    def blocks() -> Iterator[PairBlock]:
        step = max(1, BLOCK // b.size)
        for start in range(0, a.size, step):
            some = slice(start, min(start + step, a.size))
            yield some, slice(a.size, None), np.multiply.outer(a[some], b)

    order = np.concatenate(pairs.places)
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


def largest_flow(u: np.ndarray, v: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    """Return M, the largest mass of a flow within the caps a_i b_j and the marginals u, v: what the
    pairs of a positive and of a negative row carry, all that matters of the hinge's dual point.

        M = min_k [ sum u - (u of the first k rows) + sum_j min(v_j, b_j A_k) ],

    rows sorted by u_i / a_i descending (sorting by u accepts infeasible points), A_k the sum of the
    first k of the a: Gale-Ryser with row weights, proved in `docs/certificates.md`."""
    with np.errstate(divide="ignore", invalid="ignore"):
        row_ratio = np.where(a > 0, u / a, np.where(u > 0, np.inf, 0.0))
        column_ratio = np.where(b > 0, v / b, np.where(v > 0, np.inf, 0.0))
    order = np.argsort(-row_ratio, kind="stable")
    left_u, chosen_a = remaining_sum(u[order]), running_sum(a[order])
    by_ratio = np.argsort(column_ratio, kind="stable")
    filled, open_caps = running_sum(v[by_ratio]), remaining_sum(b[by_ratio])
    # Columns with v_j <= b_j A_k give v_j, the others b_j A_k.
    full = np.searchsorted(column_ratio[by_ratio], chosen_a.astype(float), side="right")
    through = filled[full] + open_caps[full] * chosen_a
    return float((left_u + through).min())


def deficiency(
    u: np.ndarray, v: np.ndarray, a: np.ndarray, b: np.ndarray
) -> tuple[float, float, float]:
    """Return M, eta = sum u + sum v - 2 M, and a bound of the rounding in either. Some feasible
    flow of mass M has marginals u' <= u, v' <= v, so that eta = |u' - u|_1 + |v' - v|_1."""
    mass = float(u.sum(dtype=np.longdouble)) + float(v.sum(dtype=np.longdouble))
    flow = largest_flow(u, v, a, b)
    slip = (4 * rounding.gamma_sum(u.size + v.size) + gamma(16)) * mass
    return flow, max(mass - 2 * flow, 0.0), slip


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
        weight = arrays.rescale_weights(weight)
        for name, held in (("i", own(i)), ("j", own(j)), ("weight", weight / weight.sum())):
            object.__setattr__(self, name, held)

    @property
    def c(self) -> np.ndarray:
        """Pair weights, adding up to one: (m,)."""
        assert self.weight is not None
        return self.weight

    def count(self) -> int:
        return int(np.count_nonzero(self.c))

    def check(self) -> None:
        if min(self.i.min(), self.j.min()) < 0 or max(self.i.max(), self.j.max()) >= self.n:
            raise InputError(f"the pair list names rows outside 0 .. {self.n - 1}")
        bad = np.flatnonzero(~self.positive[self.i] | self.positive[self.j])
        if bad.size:
            k = int(bad[0])
            pair = f"pair {k} = ({self.i[k]}, {self.j[k]})"
            raise InputError(f"{pair} is not a positive row with a negative row")

    def row_mass(self) -> np.ndarray:
        """Return what the pairs of each row weigh together: (n,)."""
        both = np.concatenate([self.i, self.j])
        return np.bincount(both, weights=np.tile(self.c, 2), minlength=self.n)

    def among(self, named: np.ndarray) -> PairList:
        """Return the same pairs, their rows numbered among those of the mask `named` (n,)."""
        place = np.cumsum(named) - 1
        return PairList(place[self.i], place[self.j], self.weight, self.positive[named])

    def margins(self, scores: np.ndarray) -> np.ndarray:
        return scores[self.i] - scores[self.j]

    def some(self, size: int, rng: np.random.Generator) -> Near:
        return self.i, self.j, self.c

    def sums(self, scores: np.ndarray, loss: Loss, width: float = 0.0) -> PairSums:
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
        mass, n = self.c * alpha.astype(float), self.n
        return np.bincount(self.i, mass, minlength=n) - np.bincount(self.j, mass, minlength=n)

    def incidence(self) -> sp.csr_matrix:
        """Return A (m, n) with +1 at (k, i_k) and -1 at (k, j_k). [Nonlinear, Algorithm 2]"""
        m, columns = self.i.size, np.stack([self.i, self.j], axis=1).ravel()
        rows, signs = np.repeat(np.arange(m), 2), np.tile([1.0, -1.0], m)
        return sp.csr_matrix((signs, (rows, columns)), shape=(m, self.n))
