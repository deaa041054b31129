"""What is added to the risk: Omega(f) = l2/2 |f|^2 + sigma_C(f).

C is a convex set that contains 0, and sigma_C its support function. Then sup_f <g, f> - Omega(f) =
dist(g, C)^2 / (2 l2), attained at f = (g - P_C(g)) / l2: solvers and certificates need only
`residual(g)` = g - P_C(g). C = {0} is the ridge. With l2 = 0 a minorant of pull g is shrunk until
its pull lies in C. See `docs/certificates.md`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError, brief
from ..spaces.rows import Rows, Space
from ..tools.arrays import check_labels, check_number
from ..tools.rounding import Bound, gamma

SMALLEST_LAM = 1e-100  # dividing by less overflows
LARGEST_LAM = 1e100  # above it, underflow in |f|^2 becomes visible in the objective


class Penalty(ABC):
    """l2/2 |f|^2 + sigma_C(f). A penalty of one's own may leave the base out: `adapted` adds it."""

    l2: float

    @abstractmethod
    def value(self, space: Space, w: np.ndarray) -> Bound:
        """Return Omega at the coordinates `w` (dim,); infinite where a constraint is broken."""

    @abstractmethod
    def distance(self, space: Space, c: np.ndarray) -> Bound:
        """Return the distance of pull(c) to C."""

    @abstractmethod
    def residual(self, g: np.ndarray) -> np.ndarray:
        """Return g - P_C(g): (dim,)."""

    def check(self, space: Space) -> None:  # noqa: B027
        """Raise `InputError` for a space that the penalty does not fit."""

    def quick_distance(self, space: Space, c: np.ndarray) -> Bound:
        """Return `distance` with less care and a larger bound."""
        return self.distance(space, c)

    def shrink(self, g: np.ndarray, error: float) -> float:
        """Return an s in [0, 1] with s (g + e) in C for |e| <= error; l2 = 0 needs a good one."""
        return 0.0

    def zeros(self, g: np.ndarray, error: np.ndarray) -> np.ndarray | None:
        """Return where the weight is zero for every pull within `error` (dim,) of g, if known."""
        return None

    def best_scale(self, space: Space, c: np.ndarray, linear: float, square: float) -> float:
        """Return about the best s in [0, 1] of s linear - s^2 square - dist(s g, C)^2 / (2 l2)."""
        if self.l2 == 0:
            return 1.0
        g = space.pull(c)

        def bound(s: float) -> float:
            apart = float(np.linalg.norm(self.residual(s * g)))
            return s * linear - s**2 * square - apart**2 / (2 * self.l2)

        low, high, part = 0.0, 1.0, (np.sqrt(5.0) - 1) / 2
        for _ in range(80):  # steps of the golden section: they reach the spacing of floats
            one, other = high - part * (high - low), low + part * (high - low)
            low, high = (low, other) if bound(one) >= bound(other) else (one, high)
        return float(max((low, high, 1.0), key=bound))


@dataclass(frozen=True)
class Ridge(Penalty):
    """The penalty lam / 2 |f|^2, in any space; lam > 0 is in units of the loss over |f|^2."""

    lam: float

    def __post_init__(self) -> None:
        # A number of a shorter format would shorten every product with it.
        object.__setattr__(self, "lam", _weight("lam", self.lam))

    @property
    def l2(self) -> float:  # type: ignore[override]
        return self.lam

    def value(self, space: Space, w: np.ndarray) -> Bound:
        return Bound(self.l2 / 2 * space.norm2(w), self.l2 / 2 * space.norm2_error(w))

    def quick_distance(self, space: Space, c: np.ndarray) -> Bound:
        if space.held is None:
            return self.distance(space, c)
        norm = float(np.linalg.norm(space.pull(c)))
        return Bound(norm, space.held.pull_error(c) + gamma(space.dim + 8) * norm)

    def distance(self, space: Space, c: np.ndarray) -> Bound:
        found = space.dual_norm2(c)
        norm, top = (float(np.sqrt(x)) for x in (found.value, found.value + found.error))
        return Bound(norm, found.error / (top + norm) * (1 + gamma(8)) if top > 0 else 0.0)

    def residual(self, g: np.ndarray) -> np.ndarray:
        return g

    def support(self, w: np.ndarray) -> float:
        return 0.0

    def best_scale(self, space: Space, c: np.ndarray, linear: float, square: float) -> float:
        """Return the s in [0, 1] with the largest s linear - s^2 (square + |g|^2 / (2 lam))."""
        # Any scale is valid, so rows need not take their careful norm.
        norm2 = space.norm2(space.pull(c)) if space.given is not None else space.dual_norm2(c).value
        curvature = norm2 / self.l2 + 2 * square
        return float(min(max(linear / curvature, 0.0), 1.0)) if curvature > 0 else 1.0


class FeaturePenalty(Penalty):
    """A penalty on the weights of the features themselves. A child states l2, `support(w)` =
    sigma_C(w) and `residual(g)`, right to a few units in the last place. Kernels, structured norms
    and rotated features have other weights and are refused."""

    @abstractmethod
    def support(self, w: np.ndarray) -> float:
        """Return sigma_C(w), the part of the penalty next to l2/2 |w|^2."""

    def check(self, space: Space) -> None:
        self._rows(space)

    def _rows(self, space: Space) -> Rows:
        if space.given is None:
            raise InputError(
                f"{type(self).__name__} acts on the weights of the features: it needs linear rows "
                f"in memory, not {type(space).__name__}; take the ridge for kernels and structures"
            )
        return space.given

    def value(self, space: Space, w: np.ndarray) -> Bound:
        value = self.l2 / 2 * self._rows(space).norm2(w) + float(self.support(w))
        return Bound(value, gamma(2 * w.size + 32) * value if np.isfinite(value) else 0.0)

    def distance(self, space: Space, c: np.ndarray) -> Bound:
        return self._apart(*self._rows(space).careful_pull(c))

    def quick_distance(self, space: Space, c: np.ndarray) -> Bound:
        rows = self._rows(space)
        return self._apart(rows.pull(c), rows.pull_error(c))

    def _apart(self, g: np.ndarray, error: float) -> Bound:
        """Return the distance of g to C, which moves by no more than g does."""
        slip = error + gamma(2 * g.size + 32) * float(np.linalg.norm(g))
        return Bound(float(np.linalg.norm(self.residual(g))), slip * (1 + gamma(8)))


@dataclass(frozen=True)
class ElasticNet(FeaturePenalty):
    """l2/2 |w|^2 + l1 |w|_1, l2 and l1 >= 0 and not both 0; C is the cube of half side l1."""

    l2: float
    l1: float

    def __post_init__(self) -> None:
        _set_weights(self, self.l2, self.l1)

    def support(self, w: np.ndarray) -> float:
        return self.l1 * float(np.abs(w).sum())

    def residual(self, g: np.ndarray) -> np.ndarray:
        return np.sign(g) * np.maximum(np.abs(g) - self.l1, 0.0)

    def zeros(self, g: np.ndarray, error: np.ndarray) -> np.ndarray:
        return (np.abs(g) + error) * (1 + gamma(4)) < self.l1

    def shrink(self, g: np.ndarray, error: float) -> float:
        """Return min(1, l1 / (|g|_inf + error)), rounded down."""
        return _fraction(self.l1, float(np.abs(g).max(initial=0.0)) + error)


@dataclass(frozen=True, eq=False)
class GroupLasso(FeaturePenalty):
    """l2/2 |w|^2 + l1 sum over groups of sqrt(size) |w_group|_2, l2 and l1 >= 0 and not both 0, of
    the `groups` (dim,) of features; C is the product of balls of radius l1 sqrt(size)."""

    l2: float
    l1: float
    groups: np.ndarray

    def __post_init__(self) -> None:
        _set_weights(self, self.l2, self.l1)
        groups = check_labels(self.groups, "groups")
        if groups.ndim != 1 or groups.size == 0:
            raise InputError("groups must name one group per feature")
        if groups.dtype.kind == "f" and not np.isfinite(groups).all():
            feature = int(np.flatnonzero(~np.isfinite(groups))[0])
            raise InputError(f"the group of feature {feature} is {groups[feature]}: name one")
        try:
            number = np.unique(groups, return_inverse=True)[1]
        except TypeError:
            raise InputError("groups are of mixed types: use numbers or words") from None
        object.__setattr__(self, "groups", number)

    @property
    def radii(self) -> np.ndarray:
        return self.l1 * np.sqrt(np.bincount(self.groups))

    def check(self, space: Space) -> None:
        if self._rows(space).dim != self.groups.size:
            raise InputError(f"{space.dim} features, but groups of {self.groups.size}")

    def norms(self, g: np.ndarray) -> np.ndarray:
        unit = float(np.abs(g).max(initial=0.0)) or 1.0  # squares of g could over- or underflow
        return unit * np.sqrt(np.bincount(self.groups, weights=(g / unit) ** 2))

    def support(self, w: np.ndarray) -> float:
        return float(self.radii @ self.norms(w))

    def residual(self, g: np.ndarray) -> np.ndarray:
        """Return max(1 - l1 sqrt(size) / |g_group|, 0) g_group of each group."""
        norms = self.norms(g)
        left = np.maximum(norms - self.radii, 0.0)
        return (left / np.where(norms > 0, norms, 1.0))[self.groups] * g

    def zeros(self, g: np.ndarray, error: np.ndarray) -> np.ndarray:
        most = self.norms(np.abs(g) + error) * (1 + gamma(2 * g.size + 32))
        return (most < self.radii * (1 - gamma(8)))[self.groups]

    def shrink(self, g: np.ndarray, error: float) -> float:
        """Return the least of radius / (|g_group| + error) over the groups, at most 1."""
        found = self.norms(g) * (1 + gamma(g.size + 16)) + error
        pairs = zip(self.radii.tolist(), found.tolist(), strict=True)
        return min(_fraction(radius, size) for radius, size in pairs)


@dataclass(frozen=True, eq=False)
class Sign(FeaturePenalty):
    """Another penalty of ours with w >= 0 on some columns: infinite where one is below zero.

    C is the other's and the cone of what is <= 0 there, added up. The others depend on |w_k| alone,
    so that the residual is the other's residual of g with its negative parts there cut off.

    Parameters
    ----------
    penalty : Ridge, ElasticNet or GroupLasso
    columns : int array of those with w >= 0, by default all
    """

    penalty: Ridge | ElasticNet | GroupLasso
    columns: np.ndarray | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.penalty, Ridge | ElasticNet | GroupLasso):
            raise InputError("a sign goes with Ridge, ElasticNet or GroupLasso")
        if self.columns is None:
            return
        columns = np.asarray(self.columns)
        whole = columns.size == 0 or np.issubdtype(columns.dtype, np.integer)
        if columns.ndim != 1 or not whole or (columns < 0).any():
            raise InputError(
                "columns of a sign must be whole numbers >= 0, each the place of a column: "
                "np.flatnonzero(mask) has those of a mask"
            )
        if np.unique(columns).size < columns.size:
            raise InputError("a column of a sign is named twice: give the places of columns")
        object.__setattr__(self, "columns", columns.astype(np.int64))

    @property
    def l2(self) -> float:  # type: ignore[override]
        return float(self.penalty.l2)

    def check(self, space: Space) -> None:
        rows = self._rows(space)
        if self.columns is not None and (self.columns >= rows.dim).any():
            raise InputError(f"{rows.dim} features, but a sign on column {self.columns.max()}")
        self.penalty.check(space)

    def cut(self, g: np.ndarray) -> np.ndarray:
        """Return g without its negative parts in the columns."""
        cut, held = g.copy(), slice(None) if self.columns is None else self.columns
        cut[held] = np.maximum(cut[held], 0.0)
        return cut

    def support(self, w: np.ndarray) -> float:
        return self.penalty.support(w) if np.array_equal(self.cut(w), w) else np.inf

    def residual(self, g: np.ndarray) -> np.ndarray:
        return self.penalty.residual(self.cut(g))

    def zeros(self, g: np.ndarray, error: np.ndarray) -> np.ndarray:
        """Return where the other penalty makes zeros, and the columns where g is surely below 0."""
        above, ours = g + error * (1 + gamma(4)), np.zeros(g.size, dtype=bool)
        ours[slice(None) if self.columns is None else self.columns] = True
        if isinstance(self.penalty, Ridge):
            return ours & (above < 0)
        pull, off = np.where(ours, 0.0, g), np.where(ours, np.maximum(above, 0.0), error)
        return (ours & (above < 0)) | self.penalty.zeros(pull, off)

    def shrink(self, g: np.ndarray, error: float) -> float:
        return self.penalty.shrink(self.cut(g), error)


OURS = (Ridge, ElasticNet, GroupLasso, Sign)


def penalty_from(
    lam: float | None, l1: float = 0.0, groups: Any = None, sign: object = None,
    penalty: Penalty | None = None,
) -> Penalty:  # fmt: skip
    """Return the penalty that is given, or the one that the numbers make; not both."""
    if penalty is not None:
        if lam is not None or l1 or groups is not None or sign is not None:
            raise InputError("give either a penalty of your own, or lam with l1, groups and sign")
        return penalty
    if lam is None:
        raise InputError("lam must be a number > 0, or give a penalty of your own")
    l1 = check_number("l1", l1, closed="low")
    if groups is not None and l1 == 0:
        raise InputError("groups need l1 > 0: it is the weight of their norms")
    plain = Ridge(lam) if l1 == 0 else ElasticNet(lam, l1)
    whole = plain if groups is None else GroupLasso(lam, l1, groups)
    if isinstance(sign, str) and sign != "nonnegative":
        raise InputError(f"sign must be 'nonnegative' or a list of columns, not {brief(sign)}")
    if sign is None:
        return whole
    return Sign(whole, None if isinstance(sign, str) else np.asarray(sign))


def _weight(name: str, value: float) -> float:
    number = check_number(name, value)
    if number < SMALLEST_LAM:
        raise InputError(f"{name} = {brief(value)} is below {SMALLEST_LAM:g}: rescale the features")
    if number > LARGEST_LAM:
        raise InputError(f"{name} = {brief(value)} is above {LARGEST_LAM:g}: rescale the features")
    return number


def _set_weights(penalty: FeaturePenalty, l2: float, l1: float) -> None:
    for name, value in (("l2", l2), ("l1", l1)):
        zero = check_number(name, value, closed="low") == 0
        object.__setattr__(penalty, name, 0.0 if zero else _weight(name, value))
    if l2 == l1 == 0:
        raise InputError("without l2 the weight l1 must be > 0: otherwise nothing is penalised")


def _fraction(limit: float, size: float) -> float:
    """Return min(1, limit / size), a few units in the last place lower."""
    fits = size * (1 + gamma(8)) <= limit * (1 - gamma(8))
    return 1.0 if fits else max(0.0, limit / size * (1 - gamma(16)))


def check_penalty(penalty: Penalty, space: Space) -> None:
    """Raise `InputError` if a penalty does not fit the space or breaks its contract at a few
    points: value >= l2/2 |w|^2, p = g - residual(g) in C (sigma(w) >= <p, w>) with residual(g)
    orthogonal to C there, and what the other methods state of these."""
    said, l2 = f"the penalty {type(penalty).__name__}", penalty.l2

    def need(condition: object, otherwise: str) -> None:
        if not condition:
            raise InputError(f"{said}{otherwise}")

    need(np.isfinite(l2) and l2 >= 0, f" has l2 = {l2!r}: it must be finite and >= 0")
    shrinks = l2 > 0
    rng = np.random.default_rng(0)

    def support(w: np.ndarray) -> float:
        found = penalty.value(space, w)
        need(found.error >= 0, f": the error of its value is {found.error!r}, not a bound >= 0")
        return found.value - l2 / 2 * space.norm2(w)

    def residual(g: np.ndarray) -> np.ndarray:
        return np.asarray(penalty.residual(g))

    for size in np.repeat([1e-3, 1.0, 1e3], 8):
        g, w = size * rng.normal(size=space.dim), rng.normal(size=space.dim)
        left = residual(g)
        fine = left.shape == g.shape and np.isfinite(left).all()
        need(fine, f": its residual must be {space.dim} finite numbers")
        inside, room = g - left, 1e-9 * (1 + float(np.abs(g).sum()))
        for v in (w, -w, np.abs(w), left):
            scale = room * (1 + float(np.abs(v).sum()))
            outside = ": g - residual(g) is outside the set of its own value"
            need(support(v) >= max(float(inside @ v), 0.0) - scale, outside)
        apart = abs(support(left) - float(inside @ left))
        far = ": g - residual(g) is not the nearest point of its own set"
        need(apart <= room * (1 + float(np.abs(left).sum())), far)
        if g.size:  # for an e of a tenth of |g|
            norm = float(np.linalg.norm(g))
            s = penalty.shrink(g, 0.1 * norm)
            shrinks |= s > 0
            need(0 <= s <= 1, f": it shrinks by {s!r}, which is not between 0 and 1")
            unit = w / float(np.linalg.norm(w))
            for e in (unit, -unit, g / norm):
                most = float(np.abs(residual(s * (g + 0.1 * norm * e))).max())
                shrunk = most <= 1e-9 * s * float(np.abs(g).max())
                need(shrunk, ": what it shrinks is outside its own set")
        for error in (share * np.abs(g) for share in (0.0, 0.1, 0.9)):
            there = penalty.zeros(g, error)
            for e in (error, -error, np.sign(g) * error) if there is not None else ():
                zero = np.abs(residual(g + e)[there]).max(initial=0.0) == 0
                need(zero, ": it proves zeros where its residual is not zero")
    need(shrinks, " has l2 = 0, so it needs a method shrink(g, error)")
    c = np.zeros(space.n)
    for size in (1e-3, 1.0, 1e3):
        c[0], c[-1] = size, -size
        g = space.pull(c)
        true = float(np.linalg.norm(residual(g)))
        room = gamma(4 * g.size + 64) * (float(np.linalg.norm(g)) + 2 * size * space.reach)
        for distance in (penalty.distance, penalty.quick_distance):
            found, name = distance(space, c), distance.__name__
            need(found.error >= 0, f": the error of its {name} is {found.error!r}, not >= 0")
            fits = abs(found.value - true) <= found.error + room
            need(fits, f": its {name} is not the norm of its residual")
