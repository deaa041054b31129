"""The penalties of the library: ridge, elastic net, group lasso, signs; see `problem.penalty`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from ..spaces.rows import Rows, Space
from ..tools.checks import check_number
from ..tools.lossless import check_labels
from ..tools.rounding import Bound, gamma
from .penalty import FeaturePenalty

SMALLEST_LAM = 1e-100
"""Smallest lam: dividing by less overflows."""

LARGEST_LAM = 1e100
"""Largest lam: above it, underflow in |f|^2 becomes visible in the objective."""


@dataclass(frozen=True)
class Ridge:
    """The penalty lam / 2 |f|^2, in any space.

    Parameters
    ----------
    lam : float
        > 0, in units of the loss over |f|^2.
    """

    lam: float

    def __post_init__(self) -> None:
        check_weight("lam", self.lam)

    @property
    def l2(self) -> float:
        """lam."""
        return float(self.lam)

    def value(self, space: Space, w: np.ndarray) -> Bound:
        """Return lam / 2 |f|^2."""
        return Bound(self.l2 / 2 * space.norm2(w), self.l2 / 2 * space.norm2_error(w))

    def quick_distance(self, space: Space, c: np.ndarray) -> Bound:
        """Return |pull(c)|, of rows in plain floats."""
        if not isinstance(space, Rows):
            return self.distance(space, c)
        norm = float(np.linalg.norm(space.pull(c)))
        return Bound(norm, space.pull_error(c) + gamma(space.dim + 8) * norm)

    def distance(self, space: Space, c: np.ndarray) -> Bound:
        """Return |pull(c)|."""
        norm2, error = space.dual_norm2(c), space.dual_norm2_error(c)
        norm, top = float(np.sqrt(norm2)), float(np.sqrt(norm2 + error))
        return Bound(norm, error / (top + norm) * (1 + gamma(8)) if top > 0 else 0.0)

    def residual(self, g: np.ndarray) -> np.ndarray:
        """Return g."""
        return g

    def support(self, w: np.ndarray) -> float:
        """Return 0: C is the origin."""
        return 0.0

    def best_scale(self, space: Space, c: np.ndarray, linear: float, square: float) -> float:
        """Return the s in [0, 1] with the largest s linear - s^2 (square + |g|^2 / (2 lam))."""
        # Any scale is valid, so rows need not take their careful norm.
        norm2 = space.norm2(space.pull(c)) if type(space) is Rows else space.dual_norm2(c)
        curvature = norm2 / self.l2 + 2 * square
        return float(min(max(linear / curvature, 0.0), 1.0)) if curvature > 0 else 1.0


@dataclass(frozen=True)
class ElasticNet(FeaturePenalty):
    """l2/2 |w|^2 + l1 |w|_1; C is the cube of half side l1.

    Parameters
    ----------
    l2 : float
        >= 0; zero, the lasso, only where l1 > 0.
    l1 : float
        >= 0.
    """

    l2: float
    l1: float

    def __post_init__(self) -> None:
        check_weights(self.l2, self.l1)

    def support(self, w: np.ndarray) -> float:
        """Return l1 |w|_1."""
        return self.l1 * float(np.abs(w).sum())

    def residual(self, g: np.ndarray) -> np.ndarray:
        """Return sign(g_k) max(|g_k| - l1, 0)."""
        return np.sign(g) * np.maximum(np.abs(g) - self.l1, 0.0)

    def zeros(self, g: np.ndarray, error: np.ndarray) -> np.ndarray:
        """Return where the weight is zero for every pull within `error` (dim,) of g: |g_k| < l1."""
        return (np.abs(g) + error) * (1 + gamma(4)) < self.l1

    def shrink(self, g: np.ndarray, error: float) -> float:
        """Return min(1, l1 / (|g|_inf + error)), rounded down."""
        return _fraction(self.l1, float(np.abs(g).max(initial=0.0)) + error)


@dataclass(frozen=True, eq=False)
class GroupLasso(FeaturePenalty):
    """l2/2 |w|^2 + l1 sum over groups of sqrt(size) |w_group|_2.

    C is the product of balls of radius l1 sqrt(size).

    Parameters
    ----------
    l2 : float
        >= 0; zero only where l1 > 0.
    l1 : float
        >= 0.
    groups : int array (dim,)
        The group of each feature.
    """

    l2: float
    l1: float
    groups: np.ndarray

    def __post_init__(self) -> None:
        check_weights(self.l2, self.l1)
        groups = check_labels(self.groups)
        if groups.ndim != 1 or groups.size == 0:
            raise InputError("groups must name one group a feature")
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
        """l1 sqrt(size) of each group."""
        return self.l1 * np.sqrt(np.bincount(self.groups))

    def check(self, space: Space) -> None:
        """As `FeaturePenalty.check`; there must be one group a feature."""
        if self._rows(space).dim != self.groups.size:
            raise InputError(f"{space.dim} features, but groups of {self.groups.size}")

    def norms(self, g: np.ndarray) -> np.ndarray:
        """Return |g_group|_2 of each group."""
        unit = float(np.abs(g).max(initial=0.0)) or 1.0  # lest squares overflow or underflow
        return unit * np.sqrt(np.bincount(self.groups, weights=(g / unit) ** 2))

    def support(self, w: np.ndarray) -> float:
        """Return l1 sum sqrt(size) |w_group|_2."""
        return float(self.radii @ self.norms(w))

    def residual(self, g: np.ndarray) -> np.ndarray:
        """Return max(1 - l1 sqrt(size) / |g_group|, 0) g_group of each group."""
        norms = self.norms(g)
        left = np.maximum(norms - self.radii, 0.0)
        return (left / np.where(norms > 0, norms, 1.0))[self.groups] * g

    def zeros(self, g: np.ndarray, error: np.ndarray) -> np.ndarray:
        """Return the features of the groups whose norm is below their radius whatever the error."""
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
    columns : int array, optional
        The columns with w >= 0; all by default.
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
        """The other's l2."""
        return float(self.penalty.l2)

    def check(self, space: Space) -> None:
        """As `FeaturePenalty.check`; the columns must be among the features."""
        rows = self._rows(space)
        if self.columns is not None and (self.columns >= rows.dim).any():
            raise InputError(f"{rows.dim} features, but a sign on column {self.columns.max()}")
        if not isinstance(self.penalty, Ridge):
            self.penalty.check(space)

    def cut(self, g: np.ndarray) -> np.ndarray:
        """Return g without its negative parts in the columns."""
        cut, held = g.copy(), slice(None) if self.columns is None else self.columns
        cut[held] = np.maximum(cut[held], 0.0)
        return cut

    def support(self, w: np.ndarray) -> float:
        """Return the other's support, or infinity where a sign is wrong."""
        return self.penalty.support(w) if np.array_equal(self.cut(w), w) else np.inf

    def residual(self, g: np.ndarray) -> np.ndarray:
        """Return the other penalty's residual of g without its negative parts there."""
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
        """Return the other penalty's factor for g without its negative parts there."""
        return 0.0 if isinstance(self.penalty, Ridge) else self.penalty.shrink(self.cut(g), error)


OURS = (Ridge, ElasticNet, GroupLasso, Sign)


def check_weight(name: str, value: float) -> None:
    """Raise `InputError` unless a penalty's weight is > 0 and within the range of floats."""
    if check_number(name, value) < SMALLEST_LAM:
        raise InputError(f"{name} = {value!r} is below {SMALLEST_LAM:g}: rescale the features")
    if value > LARGEST_LAM:
        raise InputError(f"{name} = {value!r} is above {LARGEST_LAM:g}: rescale the features")


def check_weights(l2: float, l1: float) -> None:
    """Raise `InputError` unless l2 and l1 are >= 0, of possible sizes, and not both zero."""
    for name, value in (("l2", l2), ("l1", l1)):
        if check_number(name, value, closed="low") > 0:
            check_weight(name, value)
    if l2 == 0 and l1 == 0:
        raise InputError("without l2 the weight l1 must be > 0: there is no penalty otherwise")


def penalty_from(
    lam: float, l1: float = 0.0, groups: object = None, sign: object = None
) -> Ridge | ElasticNet | GroupLasso | Sign:
    """Return the penalty of what a caller asks for.

    Parameters
    ----------
    lam : float
        The weight of |w|^2 / 2, > 0; also 0 where l1 > 0.
    l1 : float
        >= 0: the weight of |w|_1 or, with `groups`, of the sum of sqrt(size) |w_group|_2.
    groups : array (dim,), optional
        The group of each feature: numbers or words.
    sign : "nonnegative" or int array, optional
        w >= 0 for all features, or for those columns.

    Raises
    ------
    InputError
        If a number is out of range or the parts do not go together.
    """
    check_number("l1", l1, closed="low")
    if groups is not None and l1 == 0:
        raise InputError("groups need l1 > 0: it is the weight of their norms")
    plain = Ridge(lam) if l1 == 0 else ElasticNet(lam, l1)
    whole = plain if groups is None else GroupLasso(lam, l1, groups)  # type: ignore[arg-type]
    if isinstance(sign, str) and sign != "nonnegative":
        raise InputError(f"sign must be 'nonnegative' or a list of columns, not {sign!r}")
    if sign is None:
        return whole
    return Sign(whole, None if isinstance(sign, str) else np.asarray(sign))


def _fraction(limit: float, size: float) -> float:
    """Return min(1, limit / size), a few units in the last place lower."""
    fits = size * (1 + gamma(8)) <= limit * (1 - gamma(8))
    return 1.0 if fits else max(0.0, limit / size * (1 - gamma(16)))
