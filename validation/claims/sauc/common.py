"""What the claims of [SAUC] share: kernels of small data, and means of paired differences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from ....exact.pairs.all_pairs import AllPairs, PairList
from ....exact.solvers.qp import enumerate_pairs
from ....exact.spaces.kernels import Gaussian
from ...data.generators import xor_train_test
from ...data.labelled_data import Dataset
from ..claim import Context

PAPER = "SAUC"

SIGMA = 1.0
"""Width of the Gaussian kernel exp(-d^2 / (2 sigma^2)); the paper does not state its convention."""

WIDTH = Gaussian(1 / (2 * SIGMA**2))

STRUCTURES = (1e-3, 1.0, 1e3)
"""Weights of the structure (the paper's lambda): the ends of the paper's grid, and its middle."""

LEVEL = 0.01
"""Probability that one end of an interval of `Paired` is on the wrong side of the true mean."""


def toy(context: Context, stream: str = "data") -> tuple[Dataset, Dataset]:
    """Return 120 training and 480 test rows of the XOR toy problem. [SAUC, Table 1]"""
    return xor_train_test(context.draw_seed(stream))


def every_pair(positive: np.ndarray) -> PairList:
    """Return all pairs as a list. [SAUC, eq. (10)]"""
    return enumerate_pairs(AllPairs().on(positive))


def apart(found: np.ndarray, right: np.ndarray) -> float:
    """Return the largest difference relative to the largest entry of `right`."""
    return float(np.abs(found - right).max() / np.abs(right).max())


@dataclass(frozen=True)
class Paired:
    """The mean of differences, one from each draw, with Student's interval at `LEVEL` a side.

    Differences that are all the same are of one draw made several times: they decide nothing.
    """

    mean: float
    half_width: float
    above: int
    draws: int
    distinct: bool = True

    @classmethod
    def of(cls, first: np.ndarray, second: np.ndarray) -> Paired:
        """Return that of first - second."""
        x = np.asarray(first, dtype=float) - np.asarray(second, dtype=float)
        half = stats.t.isf(LEVEL, x.size - 1) * x.std(ddof=1) / np.sqrt(x.size)
        counts = int((x > 0).sum()), int(x.size)
        return cls(float(x.mean()), float(half), *counts, bool(np.unique(x).size > 1))

    @property
    def positive(self) -> bool:
        """Whether the whole interval is above zero."""
        return self.distinct and self.mean - self.half_width > 0

    @property
    def negative(self) -> bool:
        """Whether the whole interval is below zero."""
        return self.distinct and self.mean + self.half_width < 0

    def __str__(self) -> str:
        return f"{self.mean:+.4f} +- {self.half_width:.4f}, > 0 in {self.above} of {self.draws}"
