"""What the claims of several papers share: rows of breast cancer, pairs, and distances."""

import numpy as np

from ...exact.spaces.kernels import Gaussian, Kernel
from ..data import datasets
from ..data.datasets import Dataset, make_dataset
from .claim import Context


def wdbc_sample(c: Context, n_pos: int | None = None, n_neg: int | None = None) -> Dataset:
    """Return breast cancer rows with columns of mean 0 and variance 1 over all 569. All rows by
    default, else that many of each class, drawn without replacement."""
    whole = datasets.load("wdbc")
    X = (whole.X - whole.X.mean(axis=0)) / whole.X.std(axis=0)
    what = f"{whole.source}; columns scaled to mean 0, variance 1"
    if n_pos is None or n_neg is None:
        return c.use(make_dataset("wdbc, scaled", X, whole.y, source=what))
    rng, sides = c.rng("rows"), (whole.is_positive, ~whole.is_positive)
    drawn = [
        rng.choice(np.flatnonzero(side), size, replace=False)
        for side, size in zip(sides, (n_pos, n_neg), strict=True)
    ]
    rows, name = np.concatenate(drawn), f"wdbc, scaled, {n_pos} + {n_neg} rows"
    what += "; rows drawn by the seed"
    return c.use(make_dataset(name, X[rows], whole.y[rows], source=what))


def bound_data(c: Context, n: int, *kernels: Kernel) -> list[tuple[Dataset, Kernel]]:
    """Return n rows of breast cancer and of the two models of [ScalingUp, Section 4.1], each with
    its kernel: by default Gaussian of gamma 0.02, and 0.5 for the models."""
    sets = [wdbc_sample(c, 2 * n // 5, n - 2 * n // 5)]
    sets += [c.load(f"{name}:{n}", name) for name in ("linear", "radial")]
    kernels = kernels or (Gaussian(0.02), Gaussian(0.5), Gaussian(0.5))
    return [*zip(sets, kernels, strict=True)]


def differences(data: Dataset) -> np.ndarray:
    """Return x_i - x_j of all pairs: (n+ n-, d)."""
    plus, minus = data.X[data.is_positive], data.X[~data.is_positive]
    return (plus[:, None] - minus).reshape(-1, data.X.shape[1])


def apart(found: np.ndarray, right: np.ndarray) -> float:
    """Return the largest difference relative to the largest entry of `right`."""
    return float(np.abs(found - right).max() / np.abs(right).max())


def distance(found: np.ndarray, right: np.ndarray) -> float:
    """Return the Euclidean distance relative to the length of `right`."""
    return float(np.linalg.norm(found - right) / np.linalg.norm(right))
