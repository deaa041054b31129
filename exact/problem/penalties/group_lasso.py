"""The group lasso, l2 / 2 |w|^2 + l1 sum over groups of sqrt(size) |w_group|."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import InputError
from ...spaces.rows import Space
from ...tools.lossless import check_labels
from ...tools.rounding import gamma
from .penalty import FeaturePenalty, check_weights, fraction


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
        l2, l1 = check_weights(self.l2, self.l1)
        object.__setattr__(self, "l2", l2)
        object.__setattr__(self, "l1", l1)
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
        return min(fraction(radius, size) for radius, size in pairs)
