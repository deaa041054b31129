"""What the claims of [SAUC] share: kernels of small data."""

from __future__ import annotations

import numpy as np

from ....exact.pairs.all_pairs import AllPairs, PairList
from ....exact.solvers.qp import enumerate_pairs
from ....exact.spaces.kernels import Gaussian
from ...data.generators import xor_train_test
from ...data.labelled_data import Dataset
from ..claim import Context

# Width of the Gaussian kernel exp(-d^2 / (2 sigma^2)); the paper does not state its convention.
SIGMA = 1.0

WIDTH = Gaussian(1 / (2 * SIGMA**2))

# Weights of the structure (the paper's lambda): the ends of the paper's grid, and its middle.
STRUCTURES = (1e-3, 1.0, 1e3)


def toy(context: Context, stream: str = "data") -> tuple[Dataset, Dataset]:
    """Return 120 training and 480 test rows of the XOR toy problem. [SAUC, Table 1]"""
    return xor_train_test(context.draw_seed(stream))


def every_pair(positive: np.ndarray) -> PairList:
    """Return all pairs as a list. [SAUC, eq. (10)]"""
    return enumerate_pairs(AllPairs().on(positive))


def apart(found: np.ndarray, right: np.ndarray) -> float:
    """Return the largest difference relative to the largest entry of `right`."""
    return float(np.abs(found - right).max() / np.abs(right).max())
