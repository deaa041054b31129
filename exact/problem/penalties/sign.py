"""Weights that may not be negative, next to another penalty."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import InputError
from ...spaces.rows import Space
from ...tools.rounding import gamma
from .elastic_net import ElasticNet
from .group_lasso import GroupLasso
from .penalty import FeaturePenalty
from .ridge import Ridge


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
